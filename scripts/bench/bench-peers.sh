#!/bin/sh
# bench-peers.sh - builds generators of other languages and libraries, as rows for bench.sh: AWS-LC, libsodium and rand
# (crates), and Go's crypto/rand.
#
# Leaves libpeers.so and go in build/bench/crates/release, which bench.sh runs if they are there. Takes some minutes,
# cargo and rustc 1.88, Go 1.24, each of them or later (Debian 12 has older ones), a C compiler, cmake and make. The
# crates' versions are those of tests/bench/crates/Cargo.lock.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."

# By itself libsodium's build makes an archive for programs only, and a shared library is made of it here.
export CFLAGS=-fPIC SODIUM_DISABLE_PIE=1
cargo build --release --locked --manifest-path tests/bench/crates/Cargo.toml --target-dir build/bench/crates
exec go build -o build/bench/crates/release/go tests/bench/peers.go
