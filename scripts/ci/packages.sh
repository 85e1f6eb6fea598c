# packages.sh - what scripts share: installs Debian packages that are missing, says how a script ends, and makes a folder
# that goes with it; to be sourced.

# SPDX-License-Identifier: Apache-2.0
step()
{
    printf '\n== %s\n' "$*"
}

fail()
{
    echo "${0##*/}: $*" >&2
    exit 1
}

# logged FILE COMMAND... - all that it says goes to FILE; the end of it is shown where it fails.
logged()
{
    log=$1
    shift
    "$@" >"$log" 2>&1 || {
        tail -n 60 "$log" >&2
        fail "$1 fails: all that it has said is in $log"
    }
}

# work_in NAME - in $work
work_in()
{
    work=$(mktemp -d "/var/tmp/$1.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
}

# example_nginx FILE - starts the nginx of this example, with a certificate and a port of its own, in $work, and has a page
# of it. $pid is its master's; it is not a child of this shell.
example_nginx()
{
    port=$(/usr/bin/python3 -I -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    env -u OPENSSL_CONF openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
    sed -e "s,/run/nginx-drng.pid,$work/nginx.pid," -e "s,/var/log/nginx/drng-error.log,$work/error.log," \
        -e "s,/etc/ssl/certs/drng.pem,$work/cert.pem," -e "s,/etc/ssl/private/drng.key,$work/key.pem," \
        -e "s,worker_processes auto,worker_processes 2," -e "s,127.0.0.1:8443,127.0.0.1:$port," "$1" >"$work/nginx.conf"
    # By its path: it executes itself again by the name that it was started with. It returns once it listens.
    /usr/sbin/nginx -c "$work/nginx.conf" || fail "nginx does not start: $(cat "$work/error.log")"
    # shellcheck disable=SC2034 # it is for whoever has called this
    pid=$(cat "$work/nginx.pid")
    curl --silent --show-error --cacert "$work/cert.pem" "https://127.0.0.1:$port/" >"$work/page" || fail "no page"
    grep drng "$work/page" || fail "not the example's page"
}

# cannot WHY - what a test takes for skipped.
cannot()
{
    echo "skipped: $*"
    exit 77
}

# missing_packages PACKAGE... - prints those that are not installed.
missing_packages()
{
    for package; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) printf ' %s' "$package" ;;
        esac
    done
}

# run_apt COMMAND... - shows what it does: a first time takes minutes.
run_apt()
{
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@"
}

# need_packages PACKAGE... - says what it installs, asks nothing, and does nothing where all are there. False: they could
# not be had, and apt has said why.
need_packages()
{
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    echo "Installing:$missing"
    [ "$(id -u)" = 0 ] || { echo "that takes root" >&2 && return 1; }
    # Services that a package brings are not started: the scripts start what they need themselves.
    policy=/usr/sbin/policy-rc.d
    made_policy=
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
        made_policy=yes
    fi
    had=yes
    # With what is known of packages here, or else with new lists of them.
    # shellcheck disable=SC2086 # a list of names
    run_apt install -y --no-install-recommends $missing ||
        { run_apt update && run_apt install -y --no-install-recommends $missing; } || had=
    [ -z "$made_policy" ] || rm -f $policy
    [ -n "$had" ]
}

# Where this machine has its own packages from, if those are Debian's.
debian_mirror()
{
    # shellcheck disable=SC2016 # the names are apt's
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1
}

# debian VARIANT SUITE FOLDER [OPTION...] - mmdebstrap's: a whole Debian, or packages unpacked with all that they need, of
# which the machine's own package database does not hear. In FOLDER whole, or not there. A mirror may lag; who signed it is
# still checked.
debian()
{
    variant=$1 suite=$2 folder=$3
    shift 3
    rm -rf "$folder.new"
    mkdir -p "${folder%/*}"
    mmdebstrap --quiet --variant="$variant" --aptopt='Acquire::Check-Valid-Until "false"' \
        --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr "$@" "$suite" "$folder.new" "$(debian_mirror)" || return 1
    rm -rf "$folder"
    mv "$folder.new" "$folder"
}
