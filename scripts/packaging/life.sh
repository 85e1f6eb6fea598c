#!/bin/sh
# life.sh - what test-package.sh does in the chroot, where /debs has the packages.

# SPDX-License-Identifier: Apache-2.0
set -eu
# shellcheck source=scripts/packaging/living.sh
. /living.sh

conf=/etc/ssl/openssl.cnf
cp $conf "$work/openssl.cnf"

# The one line that drng-enable has written into another package's file, and that the removal leaves there.
take_out_the_line()
{
    openssl rand -hex 8 >/dev/null || fail "openssl does not work"
    served_by default
    [ "$(grep -c drng $conf)" = 1 ] || fail "openssl.cnf has more of drng than its line"
    sed -i /drng/d $conf
}

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
drng-enable on nginx
cp $conf "$work/enabled.cnf"
cp /etc/ssl/drng/system.cnf "$work/system.cnf"
start_nginx
fetch_page
install_all /debs >"$work/upgrade"
cat "$work/upgrade"
grep -q "process $pid (nginx) of root" "$work/upgrade" || fail "the upgrade does not name the server that runs on the earlier module"
[ "$(drng-status --needs-restart 2>&1 | grep -c nginx)" = 3 ] || fail "not all processes of nginx need a restart"
stop_nginx
cmp $conf "$work/enabled.cnf" || fail "the upgrade has changed openssl.cnf"
cmp /etc/ssl/drng/system.cnf "$work/system.cnf" || fail "the upgrade has changed what drng-enable wrote"
served_by drng
drng-enable status nginx
serve 3

step "The collector writes, once it is on"
mkdir -p /var/lib/prometheus/node-exporter
drng-status --prometheus --output /var/lib/prometheus/node-exporter/drng.prom
grep -q '^drng_build_info{version=' /var/lib/prometheus/node-exporter/drng.prom || fail "no metrics"
mkdir -p /etc/systemd/system/timers.target.wants
ln -s /lib/systemd/system/drng-status-collector.timer /etc/systemd/system/timers.target.wants/

step "Removed while it is on: its line in openssl.cnf does nothing"
remove_all -r >"$work/removal"
cat "$work/removal"
grep -q "keeps the line" "$work/removal" || fail "the removal does not say what it leaves"
take_out_the_line
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
take_out_the_line
untouched
nothing_left

step "Removed while openssl.cnf includes a profile by hand, as drng.cnf(5) has it: nothing stops half-way"
install_all /debs
echo ".include /etc/ssl/drng/drng.cnf" >>$conf
served_by drng
remove_all -r
take_out_the_line
untouched

step "The package lives and goes as it should"
