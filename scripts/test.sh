#!/bin/sh
# test.sh - builds drng in every way that is tested and runs every test; arguments go to pytest.
#
# Installs what it needs from Debian's packages (root). Ends with pytest's summary.

set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

build="gcc g++ libc6-dev clang libclang-rt-14-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev libbenchmark-dev
    musl-tools systemtap-sdt-dev"
checks="clang-format clang-tidy shellcheck valgrind qemu-user binutils man-db groff mandoc python3 python3-pytest
    python3-hypothesis python3-matplotlib python3-numpy python3-venv git rng-tools5 ent dieharder musl-tools rustc"
servers="openssl nginx-light apache2 apache2-utils haproxy stunnel4 curl procps"
packages="apparmor cpio crun disorderfs dpkg-dev faketime file golang-github-containers-common lintian podman rpm rpmlint"
fleet="prometheus prometheus-node-exporter needrestart bash-completion zsh fish"
# shellcheck disable=SC2086 # lists of names
need_packages $build $checks $servers $packages $fleet

# These are not in Debian; without them their tests are skipped.
if [ ! -x build/venv/bin/ruff ] || [ ! -x build/venv/bin/pyspdxtools ]; then
    echo "Installing: ruff and spdx-tools into build/venv"
    { /usr/bin/python3 -m venv build/venv && build/venv/bin/pip install -q ruff spdx-tools; } ||
        echo "ruff and spdx-tools could not be installed"
fi

for preset in release bench dev dev-clang asan-ubsan tsan fuzz; do
    echo "Building: $preset"
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset" >"build/$preset/build.log" || { tail -n 40 "build/$preset/build.log" >&2; exit 1; }
    tail -n 1 "build/$preset/build.log"
done

# Where its packages cannot be had (77) its tests are skipped.
scripts/ci/cross.sh || [ $? = 77 ]
scripts/ci/hosts.sh || [ $? = 77 ]
scripts/ci/guests.sh || [ $? = 77 ]

# Not the first python3 in PATH, which need not have Debian's pytest.
exec /usr/bin/python3 -m pytest "$@"
