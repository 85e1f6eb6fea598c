# packages.sh - installs Debian packages that are missing; to be sourced.

# need_packages PACKAGE... - says what it installs, asks nothing, and does nothing where all are there.
need_packages()
{
    missing=
    for package; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -z "$missing" ] && return 0
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
    status=0
    # shellcheck disable=SC2086 # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 || {
        apt-get update -qq >/dev/null
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null || status=1
    }
    [ -n "$made_policy" ] && rm -f $policy
    return $status
}
