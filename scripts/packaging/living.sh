# living.sh - what the lives of packages share, in the chroot: who serves, and a server; to be sourced.
#
# work is a folder for what goes away with the test.

# SPDX-License-Identifier: Apache-2.0
work=$(mktemp -d)

step()
{
    printf '\n== %s\n' "$*"
}

fail()
{
    printf '%s\n' "${0##*/}: $*" >&2
    exit 1
}

# install_all FOLDER - its packages, as README says it: apt-get finds their order, and takes away nothing for them.
install_all()
{
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends --reinstall --no-remove \
        -o DPkg::Options::=--force-confold "$1"/*.deb
}

remove_all()
{
    dpkg "$1" drng-tools openssl-provider-drng libdrng-dev libdrng0
}

# Every file but what dpkg and the programs of this test keep for themselves.
files()
{
    find / -xdev \( -path /proc -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/lib/nginx -o -path /var/log -o -path /var/cache \
        -o -path /tmp \) -prune -o -print | sort
}

# As before, when `files` was written to $work/before.
nothing_left()
{
    files | diff "$work/before" - || fail "these files were not there before, or are no longer there"
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
    printf '%s\n' "served by $served"
}

# OPENSSL_CONF=FILE, as nginx's drop-in has it.
nginx_variable()
{
    sed -n 's/^Environment="*\(OPENSSL_CONF=[^"]*\).*/\1/p' /etc/systemd/system/nginx.service.d/drng.conf
}

# wait_until COMMAND... - what does not come about within a minute never does.
wait_until()
{
    for _ in $(seq 1200); do
        ! "$@" || return 0
        sleep 0.05
    done
    fail "this has not come about: $*"
}

# ---- A server: the example's, with a certificate and a port of its own ----

port=$(/usr/bin/python3 -I -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null

# In the background by itself, once it listens.
start_nginx()
{
    sed -e "s,/run/nginx-drng.pid,$work/nginx.pid," -e "s,/var/log/nginx/drng-error.log,$work/error.log," \
        -e "s,/etc/ssl/certs/drng.pem,$work/cert.pem," -e "s,/etc/ssl/private/drng.key,$work/key.pem," \
        -e "s,worker_processes auto,worker_processes 2," -e "s,127.0.0.1:8443,127.0.0.1:$port," \
        /usr/share/doc/drng/examples/nginx/nginx.conf >"$work/nginx.conf"
    # By its path: it executes itself again by the name that it was started with.
    /usr/sbin/nginx -c "$work/nginx.conf" || fail "nginx does not start: $(cat "$work/error.log")"
    pid=$(cat "$work/nginx.pid")
}

fetch_page()
{
    curl --silent --show-error --cacert "$work/cert.pem" "https://127.0.0.1:$port/" >"$work/page" || fail "no page"
    grep -q drng "$work/page" || fail "not the example's page"
}

# mapping PATTERN - how many of nginx's processes map a file of this name.
mapping()
{
    mapped=0
    for process in "$pid" $(cat "/proc/$pid/task/$pid/children"); do
        ! grep -q "$1" "/proc/$process/maps" || mapped=$((mapped + 1))
    done
    printf '%s\n' "$mapped"
}

gone()
{
    [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

stop_nginx()
{
    nginx -c "$work/nginx.conf" -s quit
    wait_until gone "$pid"
}

# Starts nginx, fetches a page, and says how many of its processes map the module.
serve()
{
    start_nginx
    fetch_page
    mapped=$(mapping 'ossl-modules/drng\.so')
    stop_nginx
    printf '%s\n' "$mapped processes of nginx map drng.so"
    [ "$mapped" = "$1" ] || fail "not $1"
}
