#!/bin/sh
# build.sh - builds the targets of tests/fuzz for OSS-Fuzz, in the sources, by the compiler, the flags and the engine that its
# environment names. The libraries that they need go with them, since they run where these are not installed.

# SPDX-License-Identifier: Apache-2.0
set -eu
cmake -S . -B "$WORK/drng" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DDRNG_FUZZ=ON "-DDRNG_FUZZ_ENGINE=$LIB_FUZZING_ENGINE" \
    "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-rpath,'\$ORIGIN/lib'"
mkdir -p "$OUT/lib"
for corpus in tests/fuzz/corpus/*/; do
    target=fuzz_$(basename "$corpus")
    cmake --build "$WORK/drng" --target "$target"
    cp "$WORK/drng/tests/fuzz/$target" "$OUT"
    (cd "$corpus" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" ./*)
    ldd "$WORK/drng/tests/fuzz/$target" | awk '/libcrypto\.so/ { print $3 }' | xargs -r cp -L -t "$OUT/lib"
done
