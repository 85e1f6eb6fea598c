#!/bin/sh
# nist-90b.sh - NIST's own tool for SP 800-90B on the raw words of this CPU, and on CPUs that are scripted to be bad.
#
#     scripts/evidence/nist-90b.sh [DIRECTORY]
#
# For each source, 1,000,000 samples of a byte go to ea_non_iid and ea_iid, and 1,000 restarts of 1,000 samples to
# ea_restart. The tool comes from Debian's package, in a chroot that stays in DRNG_EVIDENCE_CACHE (default
# /var/cache/drng-evidence). All that is made stays in DIRECTORY (default build/nist-90b), and what is there is not made
# again: a run that was ended goes on where it was. The samples are owner-only; they are never to be used as random bytes.
#
# Ends with DIRECTORY/nist-90b.md; scripts/evidence/tables.py --write nist-90b puts the table into
# docs/develop/tables. Takes root, and half an hour of a core.
# Status 77: the chroot cannot be made here.

# SPDX-License-Identifier: Apache-2.0
set -eu
umask 077
case ${1-} in
-*)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
mkdir -p "${1:-$(dirname "$0")/../../build/nist-90b}"
directory=$(cd "${1:-$(dirname "$0")/../../build/nist-90b}" && pwd)
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

samples=1000000
restarts=1000
chroot=${DRNG_EVIDENCE_CACHE:-/var/cache/drng-evidence}/trixie
hardware=build/dev/tests/collect_raw
scripted=build/dev/tests/collect_raw_scripted

scripts/ci/chroot.sh make trixie "$chroot" sp800-90b-entropy-assessment
need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev python3
build_preset dev collect_raw collect_raw_scripted

# Runs a command whose output becomes a file, unless the file is there; a command that fails leaves none.
keep()
{
    file=$directory/$1
    shift
    [ ! -e "$file" ] || return 0
    "$@" >"$file.new"
    mv "$file.new" "$file"
}

restart_again_and_again()
{
    row=0
    while [ $row -lt $restarts ]; do
        "$@" $restarts
        row=$((row + 1))
    done
}

# NAME COLLECTOR CPU STAGE
collect()
{
    name=$1
    shift
    keep "$name.bin" "$@" $samples
    keep "$name.restarts.bin" restart_again_and_again "$@"
}

# In the chroot, with no more of the machine than is left over.
tool()
{
    nice -n 19 scripts/ci/chroot.sh enter --bind "$directory" /samples "$chroot" sh -c 'cd /samples && exec "$@"' sh "$@"
}

# A matrix that fails its sanity check ends the tool with this status; nist_90b.py reads why.
restart()
{
    tool ea_restart "$1" 8 "$2" || [ $? = 255 ]
}

assess()
{
    echo "$1: ea_non_iid"
    keep "$1.non-iid.txt" tool ea_non_iid "$1.bin" 8
    echo "$1: ea_restart"
    keep "$1.restart.txt" restart "$1.restarts.bin" \
        "$(/usr/bin/python3 scripts/evidence/nist_90b.py --initial "$directory/$1.non-iid.txt")"
    echo "$1: ea_iid"
    keep "$1.iid.txt" tool ea_iid "$1.bin" 8
}

names=
for stage in rdseed rdrand; do
    # A line that says so, where the CPU has no such instruction.
    "$hardware" hardware $stage 8 >/dev/null || continue
    collect $stage "$hardware" hardware $stage
    keep $stage.retries.bin "$hardware" hardware $stage-retries 8000000 # of a million words
    names="$names $stage"
done
collect biased "$scripted" biased rdrand
collect same-start "$scripted" good rdrand
# shellcheck disable=SC2016 # dpkg-query's fields, and awk's
keep version.txt tool dpkg-query -W -f '${Package} ${Version}\n' sp800-90b-entropy-assessment
# shellcheck disable=SC2016
keep cpu.txt awk -F '[ \t]*: ' '/^$/ { exit } { field[$1] = $2 } END {
    print field["model name"] " (family " field["cpu family"] ", model " field["model"] ", stepping " field["stepping"] ")"
}' /proc/cpuinfo
keep date.txt date -u +%Y-%m-%d

for name in $names biased same-start; do
    assess "$name"
done
exec /usr/bin/python3 scripts/evidence/nist_90b.py "$directory"
