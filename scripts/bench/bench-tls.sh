#!/bin/sh
# bench-tls.sh - TLS servers on drng and on OpenSSL's own generator, by tests/bench/tls: --help has its options.
#
# About half an hour; --quick takes about a minute. Installs what it needs from Debian's packages (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=scripts/ci/packages.sh
. "$root/scripts/ci/packages.sh"

need_packages gcc libc6-dev libssl-dev openssl nginx-light apache2-bin haproxy apache2-utils util-linux \
    python3-matplotlib

# Not the folder that the caller is in (-P): its own `tests` would be taken.
PYTHONPATH=$root exec /usr/bin/python3 -sP -m tests.bench.tls "$@"
