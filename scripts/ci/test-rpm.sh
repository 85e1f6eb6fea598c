#!/bin/sh
# test-rpm.sh - the whole life of the .rpms in a tree of its own: installed by `rpm --root`, verified, enabled, serving TLS,
# upgraded and removed, with their scripts run. Takes those of drng and drng-tools, or builds them.
#
#     test-rpm.sh [RPM...]
#
# The tree is a copy of test-package.sh's chroot, that is Debian's programs, with libcrypto's files in the places of Fedora
# and RHEL: modules in /usr/lib64/ossl-modules, openssl.cnf in /etc/pki/tls, with what crypto-policies adds. Fedora's own
# programs are not in it, nor is SELinux. Exits with 77 where it cannot be made. Listens on 127.0.0.1 only.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

if [ "${1-}" != --in ]; then
    bare=/var/cache/drng-packages/bookworm
    scripts/ci/chroot.sh make bookworm $bare ca-certificates curl nginx-light openssl python3 >&2
    need_packages rpm
    work_in drng-rpm
    if [ $# = 0 ]; then
        scripts/packaging/package.sh "$work/packages"
        set -- "$work"/packages/drng-*.rpm
    fi
    mkdir "$work/root"
    scripts/ci/chroot.sh copy $bare "$work/root" "$PWD/scripts/ci/test-rpm.sh" --in "$work" "$@"
    exit
fi
work=$2 root=$2/root
shift 2

# ---- The tree ----

# Where Fedora's and RHEL's libcrypto look; what theirs is built with, links say to Debian's.
lay_out()
{
    triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    mkdir -p "$root/usr/lib64" "$root/etc/pki/tls/openssl.d" "$root/etc/crypto-policies/back-ends" "$root/usr/share/licenses"
    mv "$root/usr/lib/$triplet/ossl-modules" "$root/usr/lib64/ossl-modules"
    ln -s ../../lib64/ossl-modules "$root/usr/lib/$triplet/ossl-modules"
    ln -sfn /etc/pki/tls/openssl.cnf "$root/usr/lib/ssl/openssl.cnf"
    rm "$root/etc/ssl/openssl.cnf"
    # The sections and the names of RHEL 9's, and its ways to include the policy and other packages' files.
    cat >"$root/etc/pki/tls/openssl.cnf" <<'END'
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

.include /etc/pki/tls/openssl.d

[ ssl_module ]
system_default = crypto_policy

[ crypto_policy ]
.include = /etc/crypto-policies/back-ends/opensslcnf.config
END
    # A policy that shows: one cipher of TLS 1.2.
    cat >"$root/etc/crypto-policies/back-ends/opensslcnf.config" <<'END'
CipherString = @SECLEVEL=2:ECDHE-ECDSA-AES256-GCM-SHA384
TLS.MinProtocol = TLSv1.2
END
}

# rpm's own dependencies are not those of a Debian: what the package requires is looked at by itself.
rpms()
{
    rpm --root "$root" --define '_pkgverify_level none' "$@"
}

# inside STEP - one step of rpm-life.sh in the tree.
inside()
{
    scripts/ci/chroot.sh enter "$root" /bin/sh /rpm-life.sh "$@"
}

# Every name, and what is in /etc; but for rpm's own database and what programs leave.
snapshot()
{
    (
        cd "$root"
        find . \( -path ./var/lib/rpm -o -path ./var/lib/nginx -o -path ./var/log -o -path ./var/cache -o -path ./tmp \) \
            -prune -o -print | sort
        find etc -type f -exec sha256sum {} + | sort
    ) >"$1"
}

verified()
{
    said=$(rpms --verify --nodeps drng drng-tools) || true
    [ "$said" = "$1" ] || fail "rpm --verify says \"$said\", not \"$1\""
    echo "rpm --verify: ${said:-nothing has changed}"
}

enabled=/etc/pki/tls/openssl.d/drng-enable.conf
same_openssl_cnf()
{
    cmp "$root/etc/pki/tls/openssl.cnf" "$work/openssl.cnf" || fail "openssl.cnf has changed"
}

cp scripts/packaging/rpm-life.sh scripts/packaging/living.sh "$root"
lay_out
cp "$root/etc/pki/tls/openssl.cnf" "$work/openssl.cnf"
rpms --initdb
snapshot "$work/before"

as_before()
{
    snapshot "$work/after"
    diff "$work/before" "$work/after" || fail "these files are not as before"
}

# ---- The life ----

step "Installed: nothing is activated, and every file is as the packages say"
rpms --install --nodeps "$@"
verified ""
inside untouched
[ -f "$root/usr/lib64/ossl-modules/drng.so" ] || fail "the module is not where Fedora's libcrypto looks"

step "Enabled: drng serves, and the system's crypto policy holds as before"
inside on

same_openssl_cnf
verified ""

step "Upgraded while it is on: it stays on"
cp "$root$enabled" "$work/enabled.conf"
rpms --upgrade --force --nodeps "$@"
cmp "$root$enabled" "$work/enabled.conf" || fail "the upgrade has changed $enabled"
same_openssl_cnf
verified ""
inside still-on

step "Removed while it is on: all is as before, and nothing is left"
rpms --erase drng drng-tools
inside untouched
as_before

step "Where openssl.cnf does not include the folder it gets a line, which stays and does nothing"
rpms --install --nodeps "$@"
sed -i /openssl.d/d "$root/etc/pki/tls/openssl.cnf"
cp "$root/etc/pki/tls/openssl.cnf" "$work/stock.cnf"
inside on
verified ""
for folder in etc/pki/tls etc/pki/tls/openssl.d etc/ssl etc/ssl/drng; do
    echo half >"$root/$folder/.drng-enable-0123456789abcdef.tmp"
done
rpms --erase drng drng-tools
inside untouched
[ "$(tail -n 1 "$root/etc/pki/tls/openssl.cnf")" = ".include /etc/ssl/drng/system.cnf" ] || fail "the line has been taken out of another package's file"
sed -i '$d' "$root/etc/pki/tls/openssl.cnf"
cmp "$root/etc/pki/tls/openssl.cnf" "$work/stock.cnf" || fail "openssl.cnf is not as before"
cp "$work/openssl.cnf" "$root/etc/pki/tls/openssl.cnf"
as_before

step "Removed while openssl.cnf, or a file that it includes, includes a profile by hand"
rpms --install --nodeps "$@"
echo ".include /etc/ssl/drng/drng.cnf" >>"$root/etc/pki/tls/openssl.cnf"
inside served drng
rpms --erase drng drng-tools
inside untouched
cp "$work/openssl.cnf" "$root/etc/pki/tls/openssl.cnf"
as_before

step "The .rpms live and go as they should"
