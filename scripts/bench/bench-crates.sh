#!/bin/sh
# bench-crates.sh - builds AWS-LC and libsodium (the crates aws-lc-sys and libsodium-sys-stable), as rows for bench.sh.
#
# Leaves build/bench/crates/release/libpeers.so, which the benchmark loads if it is there. Takes some minutes, cargo and
# rustc 1.85 or later (Debian 12 has older ones), a C compiler, cmake and make. The crates' versions are those of
# tests/bench/crates/Cargo.lock.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."

command -v cargo >/dev/null || {
    echo "bench-crates.sh: cargo is not installed; it needs cargo and rustc 1.85 or later" >&2
    exit 1
}
# By itself libsodium's build makes an archive for programs only, and a shared library is made of it here.
export CFLAGS=-fPIC SODIUM_DISABLE_PIE=1
exec cargo build --release --locked --manifest-path tests/bench/crates/Cargo.toml --target-dir build/bench/crates
