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

# run_apt COMMAND... - shows what it does: a first time takes minutes. $apt_log has what it has said of errors.
run_apt()
{
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@" 2>>"$apt_log"
}

# need_packages PACKAGE... - says what it installs, asks nothing, and does nothing where all are there. False, with what
# apt said: they could not be had.
need_packages()
{
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ]; then
        echo "These packages are missing, and installing them takes root:$missing" >&2
        return 1
    fi
    echo "Installing:$missing"
    # Services that a package brings are not started: the scripts start what they need themselves.
    policy=/usr/sbin/policy-rc.d
    made_policy=
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
        made_policy=yes
    fi
    apt_log=$(mktemp)
    status=0
    # shellcheck disable=SC2086 # a list of names
    run_apt install -y --no-install-recommends $missing || {
        echo "  again, with new lists of packages"
        : >"$apt_log"
        run_apt update && run_apt install -y --no-install-recommends $missing || status=1
    }
    [ -n "$made_policy" ] && rm -f $policy
    if [ $status != 0 ]; then
        echo "apt could not install:$(missing_packages "$@")" >&2
        tail -n 5 "$apt_log" >&2
    fi
    rm -f "$apt_log"
    return $status
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
