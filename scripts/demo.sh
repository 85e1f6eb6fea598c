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
port=$(/usr/bin/python3 -I -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
sed -e "s,/run/nginx-drng.pid,$work/nginx.pid," \
    -e "s,/var/log/nginx/drng-error.log,$work/error.log," \
    -e "s,/etc/ssl/certs/drng.pem,$work/cert.pem," \
    -e "s,/etc/ssl/private/drng.key,$work/key.pem," \
    -e "s,127.0.0.1:8443,127.0.0.1:$port," conf/nginx/nginx.conf >"$work/nginx.conf"

# It returns once nginx listens, and has written the pid.
OPENSSL_CONF=$PWD/conf/drng.cnf nginx -c "$work/nginx.conf" || {
    cat "$work/error.log" >&2
    exit 1
}
pid=$(cat "$work/nginx.pid")
curl --silent --show-error --cacert "$work/cert.pem" "https://127.0.0.1:$port/"
for process in "$pid" $(cat "/proc/$pid/task/$pid/children"); do
    grep -q "$module" "/proc/$process/maps" || fail "process $process of nginx does not map drng.so"
    printf '%s\n' "process $process of nginx maps drng.so"
done

step "What comes next"
cat <<'NEXT'
scripts/packaging/package.sh                  # makes packages in build/packages
apt-get install ./build/packages/*.deb        # installs drng, and switches nothing on
drng-enable on nginx                # switches it on for one service; its undo: drng-enable off nginx
NEXT
