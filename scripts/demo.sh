#!/bin/sh
# demo.sh - builds drng, draws random bytes through it, says who served, and serves one TLS page with nginx on it.
#
# Installs what it needs from Debian's packages (root), listens on 127.0.0.1 only, and stops what it started.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

step "What the build and the demonstration need"
need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev openssl nginx-light curl python3
echo "all installed"

step "Building the module"
build_preset release
module=$PWD/build/release/drng.so
printf '%s\n' "$module"

export OPENSSL_MODULES="$PWD/build/release"

step "32 random bytes, with no other provider loaded: openssl rand -provider drng -hex 32"
openssl rand -provider drng -hex 32

step "Who serves under conf/drng.cnf"
OPENSSL_CONF=$PWD/conf/drng.cnf scripts/drng-status

work=$(mktemp -d)
pid=
stop()
{
    [ -z "$pid" ] || kill "$pid"
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

step "One TLS page from nginx on drng"
export OPENSSL_CONF="$PWD/conf/drng.cnf"
example_nginx conf/nginx/nginx.conf
for process in "$pid" $(cat "/proc/$pid/task/$pid/children"); do
    grep -q "$module" "/proc/$process/maps" || fail "process $process of nginx does not map drng.so"
    printf '%s\n' "process $process of nginx maps drng.so"
done
