#!/bin/sh
# life.sh - what test-package.sh does in the chroot, where /debs has the packages.

# SPDX-License-Identifier: Apache-2.0
set -eu
# shellcheck source=scripts/packaging/living.sh
. /living.sh

conf=/etc/ssl/openssl.cnf
cp $conf "$work/openssl.cnf"

untouched()
{
    cmp $conf "$work/openssl.cnf" || fail "openssl.cnf is not byte for byte what it was"
    openssl rand -hex 8 >/dev/null || fail "openssl does not work"
    served_by default
}

# ---- The life ----

files >"$work/before"

step "Installed: nothing is activated"
install_all /debs
untouched
[ -z "$(find /etc/systemd -name 'drng*')" ] || fail "a drop-in or a timer has come by itself"

step "Enabled: every program, and nginx as the master and two workers"
drng-enable on --system --profile strict
served_by drng
serve 3

step "Disabled: all is as before"
drng-enable off --system
untouched
serve 0

step "Upgraded while it is on: it stays on"
drng-enable on --system --profile strict
drng-enable on --service nginx
cp $conf "$work/enabled.cnf"
start_nginx
fetch_page
install_all /debs >"$work/upgrade"
cat "$work/upgrade"
grep -q "process $pid (nginx) of root" "$work/upgrade" || fail "the upgrade does not name the server that runs on the earlier module"
[ "$(drng-status --needs-restart 2>&1 | grep -c nginx)" = 3 ] || fail "not all processes of nginx need a restart"
stop_nginx
cmp $conf "$work/enabled.cnf" || fail "the upgrade has changed openssl.cnf"
served_by drng
drng-enable status --service nginx
serve 3

step "The collector writes, once it is on"
mkdir -p /var/lib/prometheus/node-exporter
drng-status --prometheus --output /var/lib/prometheus/node-exporter/drng.prom
grep -q '^drng_build_info{version=' /var/lib/prometheus/node-exporter/drng.prom || fail "no metrics"
mkdir -p /etc/systemd/system/timers.target.wants
ln -s /lib/systemd/system/drng-status-collector.timer /etc/systemd/system/timers.target.wants/

step "Removed while it is on: all is as before"
remove_all -r
untouched
[ -z "$(find /etc/systemd -name 'drng*')" ] || fail "the service's drop-in is left"
[ -z "$(find / -xdev -name drng.so)" ] || fail "the module is left"
[ -z "$(find /etc /var/lib/prometheus -name 'drng*collector*' -o -name drng.prom)" ] || fail "the collector is left on"
rm -rf /var/lib/prometheus
rmdir -p --ignore-fail-on-non-empty /etc/systemd/system/timers.target.wants

step "Purged: nothing is left"
remove_all -P
nothing_left

step "Purged while it is on, and openssl.cnf has changed: the change is kept, nothing is left"
install_all /debs
drng-enable on --system --profile strict
echo "# mine" >>$conf
echo "# mine" >>"$work/openssl.cnf"
remove_all -P
untouched
nothing_left

step "Not removed while openssl.cnf names it by lines of somebody's own"
install_all /debs
echo ".include /etc/ssl/drng/drng.cnf" >>$conf
! remove_all -r || fail "removed: openssl.cnf does not work without it"
served_by drng
cat "$work/openssl.cnf" >$conf
remove_all -r
untouched

step "The package lives and goes as it should"
