#!/bin/sh
# coverage.sh - which lines of the product the CUnit programs run, by gcov: a table, and build/coverage/html/index.html.
#
# Fails where a file has lines that did not run and docs/develop/coverage.txt does not say why.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev gcovr

build=build/coverage
build_preset coverage
find $build -name '*.gcda' -delete
ctest --test-dir $build --output-on-failure -j 2 | tail -n 5

mkdir -p $build/html
gcovr --root . --filter mixing/ --filter provider/ --filter library/ --html-details $build/html/index.html --txt $build/coverage.txt $build
cat $build/coverage.txt

# Files that have a fifth column, the lines that did not run; long ones go on in lines that begin with a number.
unnamed=
awk '/^(mixing|provider|library)\// && NF >= 5 { print $1 }' $build/coverage.txt >$build/incomplete.txt
while read -r file; do
    grep -q "\`$file\`" docs/develop/coverage.txt || unnamed="$unnamed $file"
done <$build/incomplete.txt
if [ -n "$unnamed" ]; then
    echo "docs/develop/coverage.txt does not say why these have lines that did not run:$unnamed" >&2
    exit 1
fi
