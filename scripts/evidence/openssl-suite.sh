#!/bin/sh
# openssl-suite.sh - OpenSSL's own tests with drng as the generator, and what fails only then.
#
#     openssl-suite.sh [RELEASE...]     bookworm, trixie and experimental, where none is named
#
# Each has a chroot in /var/cache/drng-suite, about 2 GB, in which OpenSSL is built from the release's source. Its tests
# then run there:
#     plain     without drng
#     drng      under conf/drng.cnf
#     dry       the same where drng has no instruction and may not use the fallback: what passes has not drawn from drng
#     pinned    what failed only with drng, with OpenSSL's own generator pinned by the same lines of openssl.cnf
#     evp       evp_test on evprand.txt, known answers for CTR-DRBG, counted by gdb as drng's generator gives them
# Says what they came to, for docs/develop/openssl-suite.txt. The logs are left in build/openssl-suite/RELEASE; a log that
# is there is not made again. Half an hour to an hour a release. Takes root. Exit status 0: nothing fails only with drng but
# what docs/develop/openssl-suite.txt names; 1: something does; 77: it cannot be done here.

# SPDX-License-Identifier: Apache-2.0
set -eu

# ---- In the chroot: openssl-suite.sh --inside PART, with what it needs, and its results, in /drng ----

suite=/suite
# The configurations under which the tests draw by what the configuration says.
configured="apps/openssl.cnf test/default.cnf test/default-and-legacy.cnf"

# A mirror may not have the source of the newest version, but an older one of the series.
fetch()
{
    cat /etc/apt/sources.list /etc/apt/sources.list.d/experimental.list 2>/dev/null |
        sed -n 's/^deb /deb-src /p' >/etc/apt/sources.list.d/sources.list
    apt-get update -qq --error-on=any -o Acquire::Check-Valid-Until=false
    rm -rf "${suite:?}"/*
    mkdir -p $suite
    cd $suite
    series=$(echo "$1" | cut -d. -f1,2)
    for source in "$1" $(apt-cache showsrc openssl | sed -n "s/^Version: \($series\..*\)/\1/p" | sort -urV); do
        if apt-get source -qq -o APT::Sandbox::User=root "openssl=$source" >$suite/source.log 2>&1; then
            mv openssl-*/ src
            echo "$source" >$suite/source
            return
        fi
    done
    tail -n 1 $suite/source.log >&2
    return 1
}

build()
{
    version=$(dpkg-query -W -f '${Version}' openssl)
    if [ "$(cat $suite/built 2>/dev/null)" != "$version" ]; then
        fetch "$version"
        cd $suite/src
        ./Configure >$suite/build.log
        make -s -j"$(nproc)" build_sw >>$suite/build.log 2>&1 || { tail -n 20 $suite/build.log >&2 && exit 1; }
        for file in $configured; do
            cp "$file" "$file.plain"
        done
        echo "$version" >$suite/built
    fi
    cp $suite/source /drng/results/version
}

# run_tests NAME [VARIABLE=VALUE...] - under NAME.cnf, if there is one. A failure of tests is a result.
run_tests()
{
    name=$1
    shift
    for file in $configured; do
        cp "$file.plain" "$file"
        [ ! -e "/drng/$name.cnf" ] || printf '\n.include /drng/%s.cnf\n' "$name" >>"$file"
    done
    # In test/ too: tests with modules of their own look for all modules there.
    cp /drng/drng.so providers/
    cp /drng/drng.so test/
    env NO_FIPS=1 HARNESS_JOBS="$(nproc)" "$@" timeout -k 60 5400 make test >"/drng/results/$name.log" 2>&1 || true
}

# gdb stops the program at its first byte and at its end; what comes between is counted.
run_evp_test()
{
    printf '%s\n' "set breakpoint pending on" "break drng_generator_generate" "ignore 1 100000000" run "info breakpoints" \
        >$suite/gdb
    LD_LIBRARY_PATH=$PWD OPENSSL_MODULES=$PWD/providers gdb -batch -x $suite/gdb --args test/evp_test \
        -config /drng/evp.cnf test/recipes/30-test_evp_data/evprand.txt >/drng/results/evp.log 2>&1 || true
}

if [ "${1-}" = --inside ]; then
    part=$2
    [ "$part" = build ] || cd $suite/src
    case $part in
    build) build ;;
    evp) run_evp_test ;;
    # The tests that are left out end the whole run where they have no key: test_req of 3.5, and s_client's of 4.0.
    dry) run_tests dry TESTS="-test_req -test_app_s_client" OPENSSL_ia32cap=~0x4000000000000000:~0x40000 ;;
    pinned) run_tests pinned TESTS="$(sed 's/^...//' /drng/only)" ;;
    *) run_tests "$part" ;;
    esac
    exit
fi

# ---- Outside ----

[ $# -gt 0 ] || set -- bookworm trixie experimental
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh
need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev
build_preset release
work_in drng-suite
cp build/release/drng.so scripts/evidence/openssl-suite.sh conf/drng.cnf "$work/"

# after SECTION LINE - puts LINE behind the section's name in the strict profile
after()
{
    sed "s/^\[$1\]\$/&\n$2/" conf/drng.cnf
}
after drng_sect 'fallback = no' >"$work/dry.cnf"
# evp_test fetches what its file names, from drng where drng has it; TEST-RAND is the default provider's.
after openssl_init 'alg_section = algorithm_sect' >"$work/evp.cnf"
printf '\n[algorithm_sect]\ndefault_properties = ?provider=drng\n' >>"$work/evp.cnf"
sed '/^seed/d; /^drng = /d; /^\[drng_sect\]/,$d; s/^properties = .*/properties = provider=default/' conf/drng.cnf \
    >"$work/pinned.cnf"

# failing LOG - "RECIPE TEST" a line, sorted; "RECIPE -" where it ended without saying which.
failing()
{
    tail -n 10 "$1" | grep -q '^Result: ' || fail "$1: make test did not come to its end: $(tail -n 1 "$1")"
    sed -E 's#^\S*/([0-9]{2}-test_)#\1#' "$1" | awk '
        function all(list,   n, i, ends) {
            n = split(list, parts, /[ ,]+/)
            for (i = 1; i <= n; i++) {
                if (parts[i] == "") continue
                split(parts[i] "-" parts[i], ends, "-")
                for (test = ends[1]; test <= ends[2]; test++) print recipe, test + 0
            }
        }
        /^[0-9][0-9]-test_[a-z0-9_]+\.t +\(Wstat: / { recipe = $1; sub(/\.t$/, "", recipe); print recipe, "-"; next }
        recipe != "" && /^  Failed tests?:/ { sub(/^  Failed tests?:/, ""); all($0); listed = 1; next }
        listed && /^ +[0-9]/ { all($0); next }
        { listed = 0 }' | sort -u
}

# beyond FIRST SECOND - the recipes of which more fails in the first run
beyond()
{
    comm -23 "$logs/$1" "$logs/$2" | cut -d' ' -f1 | uniq
}

# run PART - unless its log is there
run()
{
    [ -e "$logs/$1.log" ] || {
        echo "$release: $1 ($(date +%H:%M))"
        nice -n 15 scripts/ci/chroot.sh enter --bind "$work" /drng "$cache/$release" \
            /drng/openssl-suite.sh --inside "$1"
        cp "$work/results"/* "$logs/"
    }
    [ "$1" = build ] || [ "$1" = evp ] || failing "$logs/$1.log" >"$logs/$1"
}

report()
{
    evp=$(sed -n 's/.*Completed \([0-9]*\) tests with \([0-9]*\) errors.*/\1 groups, \2 errors/p' "$logs/evp.log")
    calls=$(sed -n 's/.*breakpoint already hit \([0-9]*\) time.*/\1/p' "$logs/evp.log")
    echo "$release, OpenSSL $(cat "$logs/version"): evp_test: ${evp:-no result}, ${calls:-0} calls of drng's generate"
    case $evp,$calls in *" 0 errors,"[1-9]*) ;; *) status=1 ;; esac
    echo "recipes that draw from drng: $(beyond dry drng | wc -l); that fail without drng: $(cut -d' ' -f1 "$logs/plain" | uniq | wc -l)"
    while read -r recipe; do
        alike=yes
        beyond drng pinned | grep -qx "$recipe" && alike="no, or in part"
        echo "fails only with drng: $recipe; with OpenSSL's own pinned: $alike"
        grep -q "^| \`$recipe\` |" docs/develop/openssl-suite.txt || { echo "    no reason is known" && status=1; }
    done <"$work/only"
}

cache=/var/cache/drng-suite status=0
mkdir -p "$cache"
for release; do
    logs=$PWD/build/openssl-suite/$release
    exec 9>"$cache/$release.suite-lock"
    flock 9
    scripts/ci/chroot.sh make "$release" "$cache/$release" ca-certificates openssl dpkg-dev gcc libc6-dev make perl gdb
    rm -rf "$work/results"
    mkdir -p "$logs" "$work/results"
    run build
    run plain
    run drng
    run dry
    beyond drng plain >"$work/only"
    : >"$logs/pinned"
    [ ! -s "$work/only" ] || run pinned
    run evp
    report
done
exit $status
