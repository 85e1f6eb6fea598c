#!/bin/sh
# upgrade-life.sh - what test-package.sh --upgrade does in the chroot, where /old.deb is drng 0.2.0, one package, and /debs
# has those of today.

# SPDX-License-Identifier: Apache-2.0
set -eu
# shellcheck source=scripts/packaging/living.sh
. /living.sh

conf=/etc/ssl/openssl.cnf
cp $conf "$work/openssl.cnf"
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# A client that comes again and again, with a new connection each time, until it is told to stop.
visit()
{
    : >"$work/failed"
    while [ ! -e "$work/enough" ]; do
        if (fetch_page) >>"$work/failed" 2>&1; then
            echo >>"$work/visits"
        fi
    done
}

visits()
{
    wc -l <"$work/visits"
}

# So many more pages.
wait_for_visits()
{
    until=$(($(visits) + $1))
    wait_until visited "$until"
}

visited()
{
    [ ! -s "$work/failed" ] || fail "a page has failed: $(cat "$work/failed")"
    [ "$(visits)" -ge "$1" ]
}

# Whether nginx's first process is another one than it was.
replaced()
{
    [ -s "$work/nginx.pid" ] && [ "$(cat "$work/nginx.pid")" != "$pid" ]
}

says()
{
    # It exits with 3 where it cannot read a process; what it says counts.
    drng-status --pid "$pid" --json >"$work/status" || true
    grep -q "$1" "$work/status" || fail "drng-status does not say \"$1\": $(cat "$work/status")"
    printf '%s\n' "drng-status says: $1"
}

files >"$work/before"

step "0.2.0 serves nginx, and every program"
dpkg -i /old.deb
drng-enable on --system --profile strict
drng-enable on --service nginx
served_by drng
export "$(nginx_variable)"
[ -f "$OPENSSL_CONF" ] || fail "0.2.0's drop-in names $OPENSSL_CONF"
start_nginx
fetch_page
[ "$(mapping 'ossl-modules/drng\.so$')" = 3 ] || fail "nginx is not on drng"
: >"$work/visits"
visit &
visitor=$!
wait_for_visits 20

step "Upgraded while nginx serves: no connection fails, and the running processes keep the module that they have"
cp $conf "$work/enabled.cnf"
cp "$OPENSSL_CONF" "$work/service.cnf"
install_all /debs
wait_for_visits 20
[ "$(mapping 'ossl-modules/drng\.so.*(deleted)$')" = 3 ] || fail "nginx no longer has its module"
[ "$(mapping 'ossl-modules/drng\.so$')" = 0 ] || fail "two modules in one process"
cmp $conf "$work/enabled.cnf" || fail "the upgrade has changed openssl.cnf"
cmp "$OPENSSL_CONF" "$work/service.cnf" || fail "the upgrade has changed the service's file"
says "its counters have layout 5, of another version of drng"
served_by drng
drng-enable status --system
drng-enable status --service nginx || fail "what 0.2.0 has switched on is not known as on"

step "Reloaded: new workers, with the master's module"
workers=$(cat "/proc/$pid/task/$pid/children")
nginx -c "$work/nginx.conf" -s reload
for worker in $workers; do
    wait_until gone "$worker"
done
wait_for_visits 20
[ "$(mapping 'ossl-modules/drng\.so.*(deleted)$')" = 3 ] || fail "the new workers are without drng"

step "Its program replaced without an end of service (USR2): the new processes have the new module"
kill -USR2 "$pid"
wait_until replaced
kill -QUIT "$pid"
wait_until gone "$pid"
pid=$(cat "$work/nginx.pid")
wait_for_visits 20
[ "$(mapping 'ossl-modules/drng\.so$')" = 3 ] || fail "not the new module"
says '"uses": "drng"'
touch "$work/enough"
wait $visitor
[ ! -s "$work/failed" ] || fail "a page has failed: $(cat "$work/failed")"
printf '%s\n' "$(visits) pages, and none has failed"
stop_nginx

step "What was switched on by 0.2.0 is switched off, and nothing is left"
unset OPENSSL_CONF
remove_all -P
cmp $conf "$work/openssl.cnf" || fail "openssl.cnf is not byte for byte what it was"
served_by default
nothing_left

step "What an operator has set in a profile stays in effect, and stays when the new profile comes"
dpkg -i /old.deb
sed -i 's/^# fallback = yes$/fallback = no/' /etc/ssl/drng/drng.cnf
drng-enable on --system --profile strict
drng-enable on --service nginx
install_all /debs
changed()
{
    grep -q '^fallback = no' /etc/ssl/drng/drng.cnf.dpkg-old || fail "the change is lost"
    [ -L /etc/ssl/drng/drng.cnf ] || fail "no link to the profile"
    [ "$(drng-enable status --json | grep -o '"settings": {"fallback": "no"}' | wc -l)" = 2 ] ||
        fail "it is not set: $(drng-enable status --json)"
    grep -q '^fallback = no' $conf || fail "it is not in openssl.cnf"
    served_by drng
}
changed
drng-enable on --system
drng-enable on nginx
changed
dpkg -P drng
changed
rm /etc/ssl/drng/drng.cnf.dpkg-old
remove_all -P
nothing_left

step "The upgrade goes as it should"
