#!/bin/sh
# life.sh - the whole life of drng's packages: installed, on, serving TLS, off, upgraded while it is on, removed and purged.
#
#     life.sh deb FOLDER    of the .debs in FOLDER
#     life.sh rpm FOLDER    of the .rpms, on a Debian whose libcrypto then has its files where Fedora's and RHEL's has them
#     life.sh installed     of the .debs that are installed already, without the upgrade: debian/tests/serves
#
# It works on the system that it runs on: a copy of this machine (tests/system/test_package.py), the copy of a chroot
# (scripts/ci/test-debian.sh), or the testbed of autopkgtest. Listens on 127.0.0.1 only.

# SPDX-License-Identifier: Apache-2.0
set -eu
PATH=/usr/sbin:/sbin:$PATH
# shellcheck source=scripts/ci/packages.sh
. "$(dirname "$0")/../ci/packages.sh"

kind=$1 folder=${2-}
work_in drng-life
conf=/etc/ssl/openssl.cnf
included=/etc/pki/tls/openssl.d

# ---- What the two package managers do ----

case $kind in
rpm)
    conf=/etc/pki/tls/openssl.cnf
    # rpm's own dependencies are not those of a Debian: what the package requires is looked at by itself.
    install()
    {
        rpm --upgrade --force --nodeps --define '_pkgverify_level none' "$folder"/drng-*.rpm
    }
    altered()
    {
        rpm --verify --nodeps drng drng-tools
    }
    remove()
    {
        rpm --erase drng drng-tools
    }
    purge()
    {
        ! rpm --query drng >/dev/null
    }
    ;;
*)
    packages="drng-tools openssl-provider-drng"
    [ "$kind" = installed ] || packages="$packages libdrng-dev libdrng0"
    # As README says it: apt-get finds their order, and takes away nothing for them.
    install()
    {
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends --reinstall --no-remove \
            -o DPkg::Options::=--force-confold "$folder"/*.deb
    }
    # shellcheck disable=SC2086 # lists of names
    altered()
    {
        dpkg --verify $packages
    }
    # shellcheck disable=SC2086
    remove()
    {
        dpkg --remove $packages
    }
    # shellcheck disable=SC2086
    purge()
    {
        dpkg --purge $packages
    }
    ;;
esac

# Where Fedora's and RHEL's libcrypto look; what theirs is built with, links say to Debian's.
lay_out()
{
    modules=$(echo /usr/lib/*/ossl-modules)
    mkdir -p /usr/lib64 $included /etc/crypto-policies/back-ends /usr/share/licenses
    mv "$modules" /usr/lib64/ossl-modules
    ln -s /usr/lib64/ossl-modules "$modules"
    ln -sfn $conf /usr/lib/ssl/openssl.cnf
    rm /etc/ssl/openssl.cnf
    # The sections and the names of RHEL 9's, and its ways to include the policy and other packages' files.
    cat >$conf <<END
openssl_conf = openssl_init
config_diagnostics = 1

[ openssl_init ]
providers = provider_sect
ssl_conf = ssl_module
alg_section = evp_properties

[ evp_properties ]

[ provider_sect ]
default = default_sect

[ default_sect ]
activate = 1

.include $included

[ ssl_module ]
system_default = crypto_policy

[ crypto_policy ]
.include = /etc/crypto-policies/back-ends/opensslcnf.config
END
    # A policy that shows: one cipher of TLS 1.2.
    cat >/etc/crypto-policies/back-ends/opensslcnf.config <<'END'
CipherString = @SECLEVEL=2:ECDHE-ECDSA-AES256-GCM-SHA384
TLS.MinProtocol = TLSv1.2
END
    rpm --initdb
}

# ---- What is looked at ----

# Every name where packages put theirs, and what is in /etc; but for what dpkg, rpm and the programs of this test keep for
# themselves.
snapshot()
{
    find /etc /usr /var -xdev \( -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/lib/rpm -o -path /var/lib/nginx \
        -o -path /var/lib/prometheus -o -path /var/log -o -path /var/cache -o -path /var/tmp \) -prune -o -print | sort
    find /etc -type f -exec sha256sum {} + | sort
}

# as_in FILE - which a snapshot was written to
as_in()
{
    snapshot | diff "$1" - || fail "this is not as it was"
}

as_packaged()
{
    said=$(altered) || true
    [ -z "$said" ] || fail "files are not as the packages say: $said"
}

# has_policy COMMAND... - whether openssl has the policy's one cipher of TLS 1.2, and no other.
has_policy()
{
    [ "$("$@" openssl ciphers -s -tls1_2)" = ECDHE-ECDSA-AES256-GCM-SHA384 ]
}

# served_by PROVIDER - every program that starts now; and the system's crypto policy is in force.
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
    openssl rand -hex 8 >/dev/null || fail "openssl does not work"
    [ "$kind" != rpm ] || has_policy env || fail "the crypto policy is not in force"
    printf '%s\n' "served by $served"
}

untouched()
{
    cmp $conf "$work/openssl.cnf" || fail "openssl.cnf is not byte for byte what it was"
    served_by default
}

# ---- A server ----

# What does not come about within a minute never does.
stop_nginx()
{
    nginx -c "$work/nginx.conf" -s quit
    for _ in $(seq 1200); do
        [ -e "/proc/$pid" ] && ! grep -qs '^State:.Z' "/proc/$pid/status" || return 0
        sleep 0.05
    done
    fail "nginx does not end"
}

# serve COUNT - so many of nginx's processes map the module while it serves.
serve()
{
    example_nginx /usr/share/doc/drng/examples/nginx/nginx.conf
    mapped=0
    for process in "$pid" $(cat "/proc/$pid/task/$pid/children"); do
        ! grep -q 'ossl-modules/drng\.so' "/proc/$process/maps" || mapped=$((mapped + 1))
    done
    stop_nginx
    [ "$mapped" = "$1" ] || fail "$mapped processes of nginx map drng.so, not $1"
    printf '%s\n' "$mapped processes of nginx map drng.so"
}

# ---- The life ----

switched_on_and_off()
{
    step "Installed: nothing is activated, and every file is as the packages say"
    as_packaged
    untouched
    [ -z "$(find /etc/systemd -name 'drng*')" ] || fail "a drop-in or a timer has come by itself"

    step "Enabled: every program, and nginx as the master and two workers, each by the strict profile"
    drng-enable on --system --profile strict
    served_by drng
    as_packaged
    serve 3

    step "Disabled: all is as before"
    drng-enable off --system
    untouched
    serve 0
}

upgraded()
{
    step "Upgraded while it is on: it stays on"
    drng-enable on --system --profile strict
    drng-enable on nginx
    snapshot >"$work/enabled"
    example_nginx /usr/share/doc/drng/examples/nginx/nginx.conf
    install >"$work/said" 2>&1 || fail "$(cat "$work/said")"
    grep "process $pid (nginx) of root" "$work/said" || fail "the upgrade does not name the server on the earlier module: $(cat "$work/said")"
    [ "$(drng-status --needs-restart 2>&1 | grep -c nginx)" = 3 ] || fail "not all processes of nginx need a restart"
    stop_nginx
    as_in "$work/enabled"
    as_packaged
    served_by drng
    drng-enable status nginx
    serve 3
    [ "$kind" = rpm ] || return 0
    has_policy env "$(sed -n 's/^Environment="*\(OPENSSL_CONF=[^"]*\).*/\1/p' /etc/systemd/system/nginx.service.d/drng.conf)" ||
        fail "nginx is without the crypto policy"
    # By the profile alone there is no policy, since it takes the place of the system's openssl.cnf.
    ! has_policy env OPENSSL_CONF=/etc/ssl/drng/drng.cnf ||
        fail "a profile alone has the policy, too: docs/platforms.md says that it does not"
}

collects()
{
    step "The collector writes, once it is on"
    mkdir -p /var/lib/prometheus/node-exporter /etc/systemd/system/timers.target.wants
    drng-status --prometheus --output /var/lib/prometheus/node-exporter/drng.prom
    grep -q '^drng_build_info{version=' /var/lib/prometheus/node-exporter/drng.prom || fail "no metrics"
    ln -s /lib/systemd/system/drng-status-collector.timer /etc/systemd/system/timers.target.wants/
}

# What is left of it in openssl.cnf does nothing, and is taken out here; all that it has made elsewhere has gone.
switched_off()
{
    served_by default
    [ "$(grep -c drng $conf)" = "$1" ] || fail "openssl.cnf has not $1 lines of drng"
    sed -i /drng/d $conf
    untouched
    [ -z "$(find /usr -name drng.so)" ] || fail "the module is left"
    [ -z "$(find /etc/systemd /var/lib -name 'drng*.conf' -o -name 'drng*.timer' -o -name drng.prom)" ] ||
        fail "a drop-in, the timer or what the collector has written is left"
}

# lives LINES - so many lines of openssl.cnf switch it on: none where that includes a folder for it.
lives()
{
    snapshot >"$work/before"
    cp $conf "$work/stock.cnf"
    cp $conf "$work/openssl.cnf"
    install
    switched_on_and_off
    upgraded
    collects

    step "Removed while it is on, and openssl.cnf has changed: the change is kept, and a line that does nothing"
    echo "# mine" | tee -a $conf >>"$work/openssl.cnf"
    echo "# edited" >>/etc/systemd/system/nginx.service.d/drng.conf
    for place in "${conf%/*}" $included /etc/ssl /etc/ssl/drng; do
        [ ! -d "$place" ] || echo half >"$place/.drng-enable-0123456789abcdef.tmp"
    done
    remove >"$work/said"
    cat "$work/said"
    [ "$1" = 0 ] || grep -q "keeps the line" "$work/said" || fail "the removal does not say what it leaves"
    switched_off "$1"

    step "Purged: nothing is left"
    purge
    rmdir -p --ignore-fail-on-non-empty /etc/systemd/system/timers.target.wants
    cp "$work/stock.cnf" $conf
    as_in "$work/before"

    step "Removed while openssl.cnf includes a profile by hand, as drng.cnf(5) has it: nothing stops half-way"
    cp $conf "$work/openssl.cnf"
    install
    echo ".include /etc/ssl/drng/drng.cnf" >>$conf
    served_by drng
    remove
    switched_off 1
    purge
    as_in "$work/before"
}

case $kind in
deb) lives 1 ;;
rpm)
    lay_out
    lives 0
    step "Where openssl.cnf does not include the folder: a line of it"
    sed -i /openssl.d/d $conf
    lives 1
    ;;
installed)
    cp $conf "$work/openssl.cnf"
    switched_on_and_off
    step "Purged while it is on"
    drng-enable on --system --profile strict
    drng-enable on nginx
    purge
    switched_off 1
    ;;
esac
step "The packages live and go as they should"
