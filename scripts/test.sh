#!/bin/sh
# test.sh - builds drng in every way that is tested and runs every test; arguments go to pytest.
#
# Installs what it needs from Debian's packages (root). Ends with pytest's summary.

set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh

need_packages gcc libc6-dev clang clang-format clang-tidy cmake ninja-build pkg-config libssl-dev openssl libcunit1-dev \
    libclang-rt-14-dev valgrind qemu-user python3 python3-pytest python3-venv nginx-light curl binutils man-db groff \
    apache2 haproxy stunnel4 procps

# ruff is not in Debian; without it its test is skipped.
if [ ! -x build/venv/bin/ruff ]; then
    echo "Installing: ruff into build/venv"
    { /usr/bin/python3 -m venv build/venv && build/venv/bin/pip install -q ruff; } || echo "ruff could not be installed"
fi

for preset in release dev dev-clang asan-ubsan tsan; do
    echo "Building: $preset"
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset" | tail -n 1
done

# Not the first python3 in PATH, which need not have Debian's pytest.
exec /usr/bin/python3 -m pytest "$@"
