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
scripted=build/dev/tests/collect_raw_scripted

scripts/ci/chroot.sh make trixie "$chroot" sp800-90b-entropy-assessment
need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev python3
build_preset dev collect_raw_scripted

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
        "$scripted" "$1" rdrand $restarts
        row=$((row + 1))
    done
}

# In the chroot, with no more of the machine than is left over.
tool()
{
    nice -n 19 scripts/ci/chroot.sh enter --bind "$directory" /samples "$chroot" sh -c 'cd /samples && exec "$@"' sh "$@"
}

# A matrix that fails its sanity check ends the tool with this status.
restart()
{
    tool ea_restart "$1" 8 "$2" || [ $? = 255 ]
}

# The one number that the tool's output has after a name; anything else is an error, and never an empty cell.
value()
{
    awk -v name="$2: " 'index($0, name) == 1 { count++; number = substr($0, length(name) + 1) }
        END { if (count != 1 || number !~ /^[0-9]+(\.[0-9]+)?$/) exit 1; print number }' "$directory/$1" ||
        fail "$directory/$1 has not one line of $2"
}

# What ea_restart says: the smaller of its estimates, or why there is none.
restarts_say()
{
    if grep -q 'Restart Sanity Check Failed' "$directory/$1"; then
        most=$(value "$1" X_max)
        echo "fails the sanity check: a byte $most times"
    elif grep -q '^Validation Test Passed' "$directory/$1"; then
        value "$1" "min(H_r, H_c, H_I)"
    else
        echo "fails the validation test"
    fi
}

assess()
{
    echo "$1: ea_non_iid, ea_restart, ea_iid" >&2
    keep "$1.non-iid.txt" tool ea_non_iid "$1.bin" 8
    initial=$(value "$1.non-iid.txt" "min(H_original, 8 X H_bitstring)")
    keep "$1.restart.txt" restart "$1.restarts.bin" "$initial"
    keep "$1.iid.txt" tool ea_iid "$1.bin" 8
    independent=$(value "$1.iid.txt" "min(H_original, 8 X H_bitstring)")
    ! grep '^\*\* Failed' "$directory/$1.iid.txt" >&2 || independent="not independent"
    validated=$(restarts_say "$1.restart.txt")
    echo "| $2 | $initial | $independent | $validated |"
}

if [ ! -e "$directory/collected" ]; then
    scripts/evidence/collect-raw "$directory" $samples $restarts
    : >"$directory/collected"
fi
for cpu in biased good; do
    keep $cpu.bin "$scripted" $cpu rdrand $samples
    keep $cpu.restarts.bin restart_again_and_again $cpu
done
# shellcheck disable=SC2016 # dpkg-query's fields
keep version.txt tool dpkg-query -W -f '${Package} ${Version}' sp800-90b-entropy-assessment
{
    echo "| source | ea_non_iid: H_I | ea_iid: H_I | ea_restart |"
    echo "| --- | --- | --- | --- |"
    [ ! -e "$directory/rdseed.bin" ] || assess rdseed "RDSEED of this CPU"
    [ ! -e "$directory/rdrand.bin" ] || assess rdrand "RDRAND of this CPU"
    assess biased "scripted: each bit is set with a chance of 9/16"
    assess good "scripted: a good generator that starts with the same state each time"
    echo
    echo "$(cat "$directory/version.txt"), $(lscpu | sed -n 's/^Model name: *//p'), $(date -u +%Y-%m-%d). Bits in a byte."
} >"$directory/nist-90b.new"
mv "$directory/nist-90b.new" "$directory/nist-90b.md"
cat "$directory/nist-90b.md"
