#!/bin/sh
# test-machines.sh - the tests that have to do with the processor, on machines that this one is not.
#
#     test-machines.sh [--short] [MACHINE...]    all machines where none is named; --short: a few tests of each file
#     test-machines.sh --list                    the machines, a line each
#
# A machine is another /proc/cpuinfo, in a mount namespace of its own: drng believes the kernel when it says there that an
# instruction is not to be used. Under each, tests/system/test_qemu.py runs drng on the models of QEMU's user mode, with and
# without RDRAND and AES-NI, by Intel and by AMD, and all without AVX-512: what CPUID says cannot be changed without it.
#
# Uses the builds of scripts/test.sh as they are. Takes root. Exit status 77: it cannot be done here; the last line says why.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

# machines - the name of each, what it is, and what sed makes it with, of this machine's /proc/cpuinfo.
machines()
{
    cat <<'END'
as-it-is|this machine|b
no-rdseed|the kernel has switched RDSEED off: AMD's Zen 5|/^flags/s/ rdseed\b//
no-rdrand|the kernel has switched RDRAND off|/^flags/s/ rdrand\b//
neither|the kernel has switched both off|/^flags/s/ rdseed\b//;/^flags/s/ rdrand\b//
both|the kernel allows both, also where CPUID has none|/^flags/s/ rdseed\b//;/^flags/s/ rdrand\b//;/^flags/s/$/ rdrand rdseed/
no-flags|a kernel that has no line of flags|/^flags/d
intel|by Intel, by its name|s/^\(vendor_id.*: \).*/\1GenuineIntel/;s/^\(model name.*: \).*/\1Intel(R) Xeon(R)/
amd|by AMD, by its name|s/^\(vendor_id.*: \).*/\1AuthenticAMD/;s/^\(model name.*: \).*/\1AMD EPYC/
END
}

# What asks about instructions. The short form takes some of what a machine has already made fail, and what is quick.
whole="tests/system/test_collect_raw.py tests/system/test_command_line.py tests/system/test_config.py tests/system/test_containers.py
    tests/system/test_fips.py tests/system/test_health_lab.py tests/system/test_hosts.py tests/system/test_ia32cap.py
    tests/system/test_known_answers.py tests/system/test_library.py tests/system/test_metrics.py tests/system/test_migrate.py
    tests/system/test_profiles.py tests/system/test_qemu.py tests/system/test_random_provider.py
    tests/system/test_restart.py tests/system/test_servers.py tests/system/test_status.py tests/system/test_systemd.py
    tests/system/test_unit.py"
short="tests/system/test_config.py tests/system/test_containers.py tests/system/test_qemu.py tests/system/test_status.py"
# Of the short form: each of these words is a part of a test's name.
some="instruction_serves or before_openssl_cnf or such_a_program or seen_from_outside or (lead_astray and device) or
    environment_as_it_is or check_hardware or table_and_colours or masks_are_told or
    (what_serves and (Nehalem or Haswell or 127))"

# In the namespace. A second /proc, with nothing mounted in it: else no user namespace may mount one.
if [ "${1-}" = inside ]; then
    work=$2
    shift 2
    mkdir "$work/proc"
    mount -t proc proc "$work/proc"
    mount --bind "$work/cpuinfo" /proc/cpuinfo
    exec "$@"
fi

if [ "${1-}" = --list ]; then
    machines | cut -d '|' -f 1,2 | tr '|' '\t'
    exit
fi
is_short=
if [ "${1-}" = --short ]; then
    is_short=yes
    shift
fi
# shellcheck disable=SC2046 # names
[ $# -gt 0 ] || set -- $(machines | cut -d '|' -f 1)
[ "$(uname -sm)" = "Linux x86_64" ] || cannot "/proc/cpuinfo and the names in it are those of Linux on x86-64"
unshare --mount --propagation private true 2>/dev/null || cannot "a mount namespace takes root"

work=
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=
for machine; do
    line=$(machines | grep "^$machine|") || {
        echo "test-machines.sh: no machine \"$machine\": --list names them" >&2
        exit 64
    }
    rm -rf "$work"
    work=$(mktemp -d)
    sed "$(printf '%s\n' "$line" | cut -d '|' -f 3)" /proc/cpuinfo >"$work/cpuinfo"
    echo "== $(printf '%s\n' "$line" | cut -d '|' -f 1,2 | sed 's/|/: /')"
    if [ -n "$is_short" ]; then
        # shellcheck disable=SC2086 # names of files
        set -- $short -k "$(echo "$some" | tr "\n" " ")"
    else
        # shellcheck disable=SC2086
        set -- $whole
    fi
    # Under its own plan, also where it is called by a test that runs beside others.
    unshare --mount --propagation private "$0" inside "$work" \
        env -u PYTEST_XDIST_WORKER -u PYTEST_XDIST_WORKER_COUNT -u PYTEST_CURRENT_TEST -u PYTEST_ADDOPTS \
        DRNG_NESTED=yes OPENSSL_CONF=conf/drng.cnf OPENSSL_MODULES="$PWD/build/release" \
        sh -c 'scripts/drng-status | grep ^active-source
            unset OPENSSL_CONF OPENSSL_MODULES
            exec /usr/bin/python3 -m pytest -q -r fE -p no:cacheprovider -W ignore::pytest.PytestConfigWarning "$@"' sh "$@" || failed="$failed $machine"
done
[ -z "$failed" ] || fail "tests fail on:$failed"
