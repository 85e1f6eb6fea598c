#!/bin/sh
# life.sh - what test-package.sh does in the chroot, where /drng.deb is the package.

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
dpkg -i /drng.deb
untouched
[ -z "$(find /etc/systemd /lib/systemd -name 'drng*')" ] || fail "a drop-in has come by itself"

step "Enabled: every program, and nginx as the master and two workers"
drng-enable on --system
served_by drng
serve 3

step "Disabled: all is as before"
drng-enable off --system
untouched
serve 0

step "Upgraded while it is on: it stays on"
drng-enable on --system
drng-enable on --service nginx
cp $conf "$work/enabled.cnf"
dpkg -i /drng.deb
cmp $conf "$work/enabled.cnf" || fail "the upgrade has changed openssl.cnf"
served_by drng
drng-enable status --service nginx
serve 3

step "Removed while it is on: all is as before"
dpkg -r drng
untouched
[ -z "$(find /etc/systemd -name 'drng*')" ] || fail "the service's drop-in is left"
[ -z "$(find / -xdev -name drng.so)" ] || fail "the module is left"

step "Purged: nothing is left"
dpkg -P drng
files >"$work/after"
diff "$work/before" "$work/after" || fail "these files were not there before, or are no longer there"

step "Purged while it is on, and openssl.cnf has changed: the change is kept, nothing is left"
dpkg -i /drng.deb
drng-enable on --system
echo "# mine" >>$conf
echo "# mine" >>"$work/openssl.cnf"
dpkg -P drng
untouched
files >"$work/after"
diff "$work/before" "$work/after" || fail "these files were not there before, or are no longer there"

step "Not removed while openssl.cnf names it by lines of somebody's own"
dpkg -i /drng.deb
echo ".include /etc/ssl/drng/drng.cnf" >>$conf
! dpkg -r drng || fail "removed: openssl.cnf does not work without it"
served_by drng
cat "$work/openssl.cnf" >$conf
dpkg -r drng
untouched

step "The package lives and goes as it should"
