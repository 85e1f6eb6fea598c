#!/bin/sh
# life.sh - what test-package.sh does in the chroot, where /drng.deb is the package.

set -eu

conf=/etc/ssl/openssl.cnf
work=$(mktemp -d)
cp $conf "$work/openssl.cnf"

step()
{
    printf '\n== %s\n' "$*"
}

fail()
{
    echo "test-package: $*" >&2
    exit 1
}

# Every file but what dpkg and the programs of this test keep for themselves.
files()
{
    find / -xdev \( -path /proc -o -path /var/lib/dpkg -o -path /var/lib/nginx -o -path /var/log -o -path /var/cache \
        -o -path /tmp \) -prune -o -print | sort
}

untouched()
{
    cmp $conf "$work/openssl.cnf" || fail "openssl.cnf is not byte for byte what it was"
    openssl rand -hex 8 >/dev/null || fail "openssl does not work"
    served_by default
}

# Who serves every program that starts now.
served_by()
{
    served=$(/usr/bin/python3 -I - <<'END'
import ctypes

crypto = ctypes.CDLL("libcrypto.so.3")
for name in ("RAND_get0_public", "EVP_RAND_CTX_get0_rand", "EVP_RAND_get0_provider"):
    getattr(crypto, name).restype = ctypes.c_void_p
crypto.OSSL_PROVIDER_get0_name.restype = ctypes.c_char_p
rand = crypto.EVP_RAND_CTX_get0_rand(ctypes.c_void_p(crypto.RAND_get0_public(None)))
provider = crypto.EVP_RAND_get0_provider(ctypes.c_void_p(rand))
print(crypto.OSSL_PROVIDER_get0_name(ctypes.c_void_p(provider)).decode())
END
    )
    [ "$served" = "$1" ] || fail "random numbers come from $served, not from $1"
    echo "served by $served"
}

# ---- A server: the example's, with a certificate and a port of its own ----

port=$(/usr/bin/python3 -I -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null

# Starts nginx, fetches a page, and says how many of its processes map the module.
serve()
{
    sed -e "s,/run/nginx-drng.pid,$work/nginx.pid," -e "s,/var/log/nginx/drng-error.log,$work/error.log," \
        -e "s,/etc/ssl/certs/drng.pem,$work/cert.pem," -e "s,/etc/ssl/private/drng.key,$work/key.pem," \
        -e "s,worker_processes auto,worker_processes 2," -e "s,127.0.0.1:8443,127.0.0.1:$port," \
        /usr/share/doc/drng/examples/nginx/nginx.conf >"$work/nginx.conf"
    # In the background by itself, once it listens.
    nginx -c "$work/nginx.conf" || fail "nginx does not start: $(cat "$work/error.log")"
    pid=$(cat "$work/nginx.pid")
    curl --silent --show-error --cacert "$work/cert.pem" "https://127.0.0.1:$port/" >"$work/page" || fail "no page"
    grep -q drng "$work/page" || fail "not the example's page"
    mapped=0
    for process in "$pid" $(cat "/proc/$pid/task/$pid/children"); do
        ! grep -q 'ossl-modules/drng\.so' "/proc/$process/maps" || mapped=$((mapped + 1))
    done
    nginx -c "$work/nginx.conf" -s quit
    while [ -e "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status"; do
        sleep 0.1
    done
    echo "$mapped processes of nginx map drng.so"
    [ "$mapped" = "$1" ] || fail "not $1"
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
