#!/bin/sh
# test.sh - builds drng and runs its tests, several at a time.
#
#     test.sh                   a push's form: of what takes long a part, and a list of what is left to the night
#     test.sh --all             all of it, each night
#     test.sh ARGUMENT...       builds everything; the arguments go to pytest: tests/system/test_config.py -k masked
#
# Installs what it needs from Debian's packages (root). Where some of them cannot be had it says so, and their tests are
# skipped. Ends with where the time went, and pytest's summary.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

all=$*
[ "$all" != --all ] || shift

build="gcc g++ libc6-dev clang cmake ninja-build pkg-config libssl-dev libcunit1-dev openssl git python3 python3-pytest
    python3-hypothesis"
checks="clang-format clang-tidy shellcheck valgrind qemu-user binutils man-db groff mandoc python3-matplotlib
    python3-pytest-xdist python3-venv rng-tools5 ent rustc"
servers="nginx-light apache2 apache2-utils haproxy stunnel4 curl procps"
packages="apparmor build-essential cpio debhelper dpkg-dev file lintian rpm rpmlint systemd"
fleet="prometheus prometheus-node-exporter needrestart"
night="crun disorderfs faketime golang-github-containers-common libarchive-tools libbenchmark-dev libclang-rt-14-dev makepkg
    musl-tools podman"
# shellcheck disable=SC2086 # a list of names
need_packages $build || {
    echo "test.sh: nothing is built or tested without these" >&2
    exit 1
}
for group in "$checks" "$servers" "$packages" "$fleet" ${all:+"$night"}; do
    # shellcheck disable=SC2086
    need_packages $group || {
        DRNG_NOT_INSTALLED="${DRNG_NOT_INSTALLED-}$(missing_packages $group)"
        export DRNG_NOT_INSTALLED
        echo "The tests that need these are skipped:$DRNG_NOT_INSTALLED"
    }
done

# These are not in Debian; without them their tests are skipped.
if ! cmp -s scripts/ci/requirements.txt build/venv/installed; then
    echo "Installing: ruff, mypy, spdx-tools and zizmor into build/venv"
    { /usr/bin/python3 -m venv build/venv && build/venv/bin/pip install -q -r scripts/ci/requirements.txt &&
        cp scripts/ci/requirements.txt build/venv/installed; } || echo "some of them could not be installed"
fi

for preset in release dev asan-ubsan ${all:+bench dev-clang fuzz}; do
    echo "Building: $preset"
    build_preset "$preset"
done
echo "Building: tsan"
build_preset tsan thread_tests

# Where its packages cannot be had (77) its tests are skipped.
for script in ${all:+cross hosts guests}; do
    "scripts/ci/$script.sh" || [ $? = 77 ]
done

# Some tests wait, for packages that another one builds or for a server: two more at a time than there are processors.
if [ $# = 0 ] && /usr/bin/python3 -c 'import xdist' 2>/dev/null; then
    set -- -n "$(($(nproc) + 2))"
fi
[ -n "$all" ] || set -- -m "not nightly" "$@"
# Not the first python3 in PATH, which need not have Debian's pytest.
exec /usr/bin/python3 -m pytest --durations=25 "$@"
