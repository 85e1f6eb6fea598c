#!/bin/sh
# test-matrix.sh - one drng.so, built with the headers of OpenSSL 3.0, tested on every OpenSSL that Debian has.
#
# usage: test-matrix.sh [--short] [RELEASE...]
#
# RELEASE: bookworm, trixie and sid if none is given, that is OpenSSL 3.0, 3.5 and the latest.
# --short: a minute's choice of the tests, without the many handshakes of test_servers.
#
# Each release is a chroot with its own openssl, nginx, Apache, HAProxy, stunnel, curl and Python, in which a part of
# the tests runs. The chroots stay in DRNG_MATRIX_CACHE (default /var/cache/drng-matrix), about 500 MB each, and are
# brought up to date when a day old. Takes root. Status 0: all passed; 1: a test failed; 77: a release was not tested,
# because its chroot cannot be made here.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

cache=${DRNG_MATRIX_CACHE:-/var/cache/drng-matrix}
skip=77

# What depends on libcrypto or on the servers; the arithmetic of mixing/ does not change with either.
tests="test_command_line test_config test_enable test_examples test_profiles test_random_provider test_servers test_unit"
if [ "${1-}" = --short ]; then
    tests="test_command_line test_config test_profiles test_random_provider"
    shift
fi
releases=${*:-bookworm trixie sid}

packages="ca-certificates openssl nginx-light apache2-bin haproxy stunnel4 curl python3 python3-pytest"
packages="$packages cmake pkgconf libssl-dev libcunit1"
builders=

skipped()
{
    echo "skipped: $*"
    exit $skip
}

[ "$(id -u)" = 0 ] || skipped "chroots take root"
need_packages debootstrap util-linux || skipped "debootstrap cannot be installed"
unshare --mount --pid --fork true 2>/dev/null || skipped "no namespaces here, and chroots are mounted in one of their own"

mkdir -p "$cache"
exec 9>"$cache/lock"
flock -n 9 || { echo "waiting for another run on $cache"; flock 9; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# Servers give up their privileges and read below it.
chmod 755 "$work"

# ---- Chroots ----

# Nothing of this machine's environment but its way to the mirror; neither the lock nor the terminal.
in_chroot()
{
    env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${http_proxy:+"http_proxy=$http_proxy"} scripts/ci/chroot-run.sh "$@" </dev/null 9>&-
}

packages_of()
{
    case $1 in
    bookworm) echo "$packages $builders" ;;
    *) echo "$packages openssl-provider-legacy" ;; # a package of its own from trixie on
    esac
}

# The file that says when and with which packages a chroot was brought up to date.
is_fresh()
{
    stamp=$cache/$1.packages
    [ -n "$(find "$stamp" -mmin -1440 2>/dev/null)" ] && [ "$(cat "$stamp")" = "$(packages_of "$1")" ]
}

make_chroot()
{
    [ -d "$cache/$1" ] && return 0
    echo "$1: making a chroot in $cache/$1"
    rm -rf "$cache/$1.new"
    if ! debootstrap --variant=minbase "$1" "$cache/$1.new" >"$work/log" 2>&1 9>&-; then
        tail -n 3 "$work/log"
        return 1
    fi
    # No service is started inside: the tests start what they need.
    printf '#!/bin/sh\nexit 101\n' >"$cache/$1.new/usr/sbin/policy-rc.d"
    chmod 755 "$cache/$1.new/usr/sbin/policy-rc.d"
    mv "$cache/$1.new" "$cache/$1"
}

update_chroot()
{
    is_fresh "$1" && return 0
    echo "$1: bringing its packages up to date"
    cp /etc/resolv.conf "$cache/$1/etc/resolv.conf"
    list=$(packages_of "$1")
    # shellcheck disable=SC2016,SC2086 # the inner shell's; a list of names
    if in_chroot "$cache/$1" env DEBIAN_FRONTEND=noninteractive sh -ec '
        apt-get update -qq -o Acquire::Check-Valid-Until=false # a mirror may lag; who signed it is still checked
        apt-get dist-upgrade -y -qq
        apt-get install -y -qq --no-install-recommends "$@"
        apt-get clean' sh $list >"$work/log" 2>&1; then
        echo "$list" >"$cache/$1.packages"
        return 0
    fi
    tail -n 3 "$work/log"
    # A day-old chroot is a good one; one that lacks packages is not.
    [ "$(cat "$cache/$1.packages" 2>/dev/null)" = "$list" ] && echo "$1: tested as it was"
}

# ---- One binary ----

# The sources and the builds, as they are seen inside: at the same path, since builds remember theirs.
tree=$work/tree
mkdir "$tree"

copy()
{
    tar -c "$@" | tar -x -C "$tree"
}

build_here()
{
    for preset in release dev; do
        cmake --preset $preset >/dev/null
        cmake --build --preset $preset -- --quiet
    done
    copy build/release build/dev
}

build_in_bookworm()
{
    builders="gcc libc6-dev ninja-build libcunit1-dev"
    { make_chroot bookworm && update_chroot bookworm; } || skipped "there is no chroot with OpenSSL 3.0 to build in"
    # shellcheck disable=SC2016 # the inner shell's
    in_chroot --bind "$tree" "$PWD" "$cache/bookworm" sh -ec '
        cd "$1"
        for preset in release dev; do
            cmake --preset $preset >/dev/null
            cmake --build --preset $preset -- --quiet
        done' sh "$PWD"
}

copy --exclude=./.git --exclude=./build .
case $(pkg-config --modversion libcrypto 2>/dev/null) in
3.0.*)
    echo "Building here, with OpenSSL $(pkg-config --modversion libcrypto)"
    need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev
    build_here
    ;;
*)
    echo "Building in bookworm: OpenSSL 3.0 is not the one here"
    build_in_bookworm
    ;;
esac
echo "drng.so: SHA-256 $(sha256sum <"$tree/build/release/drng.so" | cut -c1-16)..."

# ---- Tests ----

# Sanitizers and valgrind have had their turn in test.sh.
run_tests()
{
    in_chroot --bind "$tree" "$PWD" "$cache/$1" \
        /usr/bin/python3 -m pytest -q --tb=short -o cache_dir=/tmp/pytest_cache --rootdir "$PWD" \
        -k 'not asan and not valgrind and not helgrind and not every_preset' "$PWD/tests/system/$2.py"
}

# "passed 12, skipped 1" of pytest's last line, which also counts what -k has left out.
summary()
{
    tail -n 1 "$1" | sed -e 's/=//g' -e 's/ in [0-9.]*s.*//' -e 's/, [0-9]* deselected//' -e 's/^ *//' -e 's/ *$//'
}

test_release()
{
    results=$work/$1
    mkdir "$results"
    in_chroot "$cache/$1" openssl version | cut -d' ' -f2 >"$results/version"
    echo "$1: OpenSSL $(cat "$results/version")"
    for test in $tests; do
        [ -e "tests/system/$test.py" ] || continue
        if run_tests "$1" "$test" >"$work/log" 2>&1; then
            summary "$work/log" >"$results/$test"
        else
            tail -n 60 "$work/log"
            echo "FAILED: $(summary "$work/log")" >"$results/$test"
            status=1
        fi
        printf '  %-22s %s\n' "$test" "$(cat "$results/$test")"
    done
}

print_table()
{
    printf '\n%-22s' ""
    for release in $releases; do
        version=$(cat "$work/$release/version" 2>/dev/null) || version=
        printf '  %-32s' "$release ${version:-(not tested)}"
    done
    echo
    for test in $tests; do
        [ -e "tests/system/$test.py" ] || continue
        printf '%-22s' "$test"
        for release in $releases; do
            result=$(cat "$work/$release/$test" 2>/dev/null) || result=-
            printf '  %-32s' "$result"
        done
        echo
    done
}

status=0
missing=0
for release in $releases; do
    if make_chroot "$release" && update_chroot "$release"; then
        test_release "$release"
    else
        echo "$release: not tested, its chroot cannot be made"
        missing=$skip
    fi
done
print_table
[ $status = 0 ] || exit $status
exit $missing
