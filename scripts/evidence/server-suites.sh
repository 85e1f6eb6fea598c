#!/bin/sh
# server-suites.sh - the own tests of nginx, Apache or HAProxy, without drng and with it: which fail with drng only.
#
# usage: server-suites.sh nginx|httpd|haproxy SOURCES [TEST...]
#
# SOURCES: a checkout of nginx-tests, of httpd's framework (httpd-tests), or of HAProxy, near the server's version.
# TEST: paths in SOURCES; all tests where none is named.
#
# The server is Debian's, and so is what the tests need: HAProxy's run by Varnish's varnishtest, if VTEST_PROGRAM does not
# name VTest. They run three times, as the user nobody: without drng (plain), under conf/drng.cnf (strict), and
# under conf/drng.cnf without the module (dry). What fails in the dry run alone draws from
# drng: if nothing does, the others prove nothing. What fails with drng only runs again, plain and with drng, since such
# tests fail by chance, too. The logs stay in build/server-suites. DRNG_SUITE_JOBS (default 2) tests run at a time.
# Takes root. Exit status 0: nothing fails with drng only; 1: something does, or no test draws; 2: arguments; 77: not here.

# SPDX-License-Identifier: Apache-2.0
set -eu

# end STATUS WHY
end()
{
    echo "server-suites.sh: $2" >&2
    exit "$1"
}

server=${1-}
case $server in
nginx) packages="nginx-full libnginx-mod-http-geoip libnginx-mod-http-image-filter libnginx-mod-http-perl libnginx-mod-mail
    libnginx-mod-http-xslt-filter libnginx-mod-stream-geoip libnet-ssleay-perl libio-socket-ssl-perl" ;;
httpd) packages="apache2 apache2-dev libapache2-mod-perl2 libwww-perl liblwp-protocol-https-perl" ;;
haproxy) packages="haproxy varnish socat" ;;
*) end 2 "$(sed -n 's/^# usage/usage/p' "$0")" ;;
esac
sources=$(cd "${2:-/nowhere}" 2>/dev/null && pwd) || end 2 "${2:-SOURCES}: no such folder"
shift 2
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || end 77 "it takes root"
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh
# shellcheck disable=SC2086 # a list of names
need_packages openssl perl gcc libc6-dev make cmake ninja-build pkg-config libssl-dev $packages || exit 77
build_preset release drng

jobs=${DRNG_SUITE_JOBS:-2} logs=$PWD/build/server-suites/$server
work_in drng-suites
mkdir -p "$logs" "$work/modules" "$work/without" "$work/tmp"
cp -r "$sources" "$work/sources"
cp "$(openssl version -m | cut -d'"' -f2)"/*.so "$work/without/"
rm -f "$work/without/drng.so"
cp "$work/without"/*.so build/release/drng.so "$work/modules/"
cp conf/drng.cnf "$work/strict.cnf"
chown -R nobody:nogroup "$work"

# as_nobody NAME=VALUE... COMMAND...
as_nobody()
{
    (cd "$work/sources" && exec setpriv --reuid=nobody --regid=nogroup --clear-groups \
        env HOME="$work/tmp" TMPDIR="$work/tmp" OPENSSL_CONF="$conf" OPENSSL_MODULES="$work/$modules" "$@")
}

suite()
{
    case $server in
    nginx) as_nobody TEST_NGINX_BINARY=/usr/sbin/nginx TEST_NGINX_MODULES=/usr/lib/nginx/modules prove -j "$jobs" "${@:-.}" ;;
    httpd) as_nobody perl t/TEST "$@" ;;
    haproxy) as_nobody HAPROXY_PROGRAM=/usr/sbin/haproxy VTEST_PROGRAM="${VTEST_PROGRAM:-varnishtest}" \
        sh scripts/run-regtests.sh --j "$jobs" "$@" ;;
    esac
}

# run NAME CONF MODULES TEST... - leaves a log, and what fails, sorted: files, and in Perl's the numbers of tests.
run()
{
    name=$1 conf=$2 modules=$3 log=$logs/$1.log failed=$logs/$1
    shift 3
    suite "$@" >"$log" 2>&1 || true # what fails is in the log
    summary=$(grep -E '^Files=|tests passed' "$log") || [ "$name" = dry ] || fail "no test ran: $log"
    awk '/\.t +\(Wstat:/ { print file = $1 }
        /^  Failed tests?:/ { print file, $0 }
        /TEST .*\.vtc (FAILED|TIMED OUT)/ { sub(/.*TEST /, ""); print $1 }' "$log" | sort -u >"$failed"
    # Without the module Apache does not start at all.
    [ -n "$summary" ] || sed -n 's/^\([^ ]*\.t\) \..*/\1/p' "$logs/plain.log" | sort -u >"$failed"
    echo "$name: ${summary:-the server does not start}; $(cut -d' ' -f1 "$failed" | uniq | wc -l) files fail"
}

# more THAN NAME - the files of which more fails in the second run
more()
{
    comm -13 "$logs/$1" "$logs/$2" | cut -d' ' -f1 | uniq
}

if [ "$server" = httpd ]; then # its own modules want nearly all of Debian's, those first that others need
    (cd /etc/apache2/mods-available && cat session.load proxy.load dav.load cache.load dbd.load ldap.load slotmem_shm.load \
        socache_shmcb.load authn_core.load authz_core.load proxy_balancer.load ./*.load) |
        awk '!/^#|mpm_(prefork|worker)|mod_(authn_dbd|dumpio|log_forensic|md|perl|php|proxy_html|suexec|tls)/ && !seen[$0]++' \
            >"$work/modules.conf"
    conf=/dev/null modules=without
    { as_nobody perl Makefile.PL -apxs /usr/bin/apxs && as_nobody perl t/TEST -configure -httpd_conf "$work/modules.conf"; } \
        >"$logs/configure.log" 2>&1 || fail "no configuration: $logs/configure.log"
fi
run plain /dev/null without "$@"
run strict "$work/strict.cnf" modules "$@"
run dry "$work/strict.cnf" without "$@"
echo "$(more plain dry | wc -l) files draw from drng: they fail without the module"
[ -n "$(more plain dry)" ] || exit 1
status=0
for with in strict batch; do
    again=$(more plain $with)
    [ -n "$again" ] || continue
    # shellcheck disable=SC2086 # a list of names
    { run plain-again /dev/null without $again && run $with-again "$work/$with.cnf" modules $again; }
    ! more plain-again $with-again | sed "s/^/$with: fails with drng only: /" | grep . || status=1
done
[ $status != 0 ] || echo "nothing fails with drng only"
exit $status
