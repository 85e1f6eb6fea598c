#!/bin/sh
# test-rpm.sh - the whole life of the .rpm in a tree of its own: installed by `rpm --root`, verified, enabled, serving TLS,
# upgraded and removed, with its scripts run. Takes an .rpm, or builds one.
#
# The tree is a copy of test-package.sh's chroot, that is Debian's programs, with libcrypto's files in the places of Fedora
# and RHEL: modules in /usr/lib64/ossl-modules, openssl.cnf in /etc/pki/tls, with what crypto-policies adds. Fedora's own
# programs are not in it, nor is SELinux. Exits with 77 where it cannot be made. Listens on 127.0.0.1 only.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

if [ "${1-}" != --in ]; then
    bare=/var/cache/drng-packages/bookworm
    scripts/ci/chroot.sh make bookworm $bare ca-certificates curl nginx-light openssl python3 >&2
    need_packages rpm
    work=$(mktemp -d /var/tmp/drng-rpm.XXXXXX)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    if [ $# = 0 ]; then
        scripts/packaging/package.sh "$work/packages" -G RPM
        set -- "$work"/packages/drng-*.rpm
    fi
    mkdir "$work/root"
    scripts/ci/chroot.sh copy $bare "$work/root" "$PWD/scripts/ci/test-rpm.sh" --in "$work" "$(realpath "$1")"
    exit
fi
work=$2 root=$2/root rpm=$3

step()
{
    printf '\n== %s\n' "$*"
}

fail()
{
    echo "test-rpm.sh: $*" >&2
    exit 1
}

# ---- The tree ----

# Where Fedora's and RHEL's libcrypto look; what theirs is built with, links say to Debian's.
lay_out()
{
    triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    mkdir -p "$root/usr/lib64" "$root/etc/pki/tls" "$root/etc/crypto-policies/back-ends"
    mv "$root/usr/lib/$triplet/ossl-modules" "$root/usr/lib64/ossl-modules"
    ln -s ../../lib64/ossl-modules "$root/usr/lib/$triplet/ossl-modules"
    ln -sfn /etc/pki/tls/openssl.cnf "$root/usr/lib/ssl/openssl.cnf"
    rm "$root/etc/ssl/openssl.cnf"
    # The sections and the names of RHEL 9's, and its way to include the policy.
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
    said=$(rpms --verify --nodeps drng) || true
    [ "$said" = "$1" ] || fail "rpm --verify says \"$said\", not \"$1\""
    echo "rpm --verify: ${said:-nothing has changed}"
}

cp scripts/packaging/rpm-life.sh scripts/packaging/living.sh "$root"
lay_out
rpms --initdb
snapshot "$work/before"

# ---- The life ----

step "Installed: nothing is activated, and every file is as the package says"
rpms --install --nodeps "$rpm"
verified ""
inside untouched
[ -f "$root/usr/lib64/ossl-modules/drng.so" ] || fail "the module is not where Fedora's libcrypto looks"

step "Enabled: drng serves, and the system's crypto policy holds as before"
inside on

step "Upgraded while it is on: it stays on"
echo "# mine" >>"$root/etc/ssl/drng/drng.cnf"
cp "$root/etc/pki/tls/openssl.cnf" "$work/enabled.cnf"
rpms --upgrade --force --nodeps "$rpm"
cmp "$root/etc/pki/tls/openssl.cnf" "$work/enabled.cnf" || fail "the upgrade has changed openssl.cnf"
tail -n 1 "$root/etc/ssl/drng/drng.cnf" | grep -qx '# mine' || fail "the upgrade has put away what an operator wrote"
verified "S.5....T.  c /etc/ssl/drng/drng.cnf"
sed -i '$d' "$root/etc/ssl/drng/drng.cnf"
inside still-on

step "Removed while it is on: all is as before, and nothing is left"
rpms --erase drng
inside untouched
snapshot "$work/after"
diff "$work/before" "$work/after" || fail "these files are not as before"

step "Removed while it is on, and openssl.cnf has changed: the change is kept, and the backup is all that is left"
rpms --install --nodeps "$rpm"
inside on
echo "# mine" >>"$root/etc/pki/tls/openssl.cnf"
for folder in etc/pki/tls etc/ssl etc/ssl/drng etc/ssl/drng/service; do
    echo half >"$root/$folder/.drng-enable-0123456789abcdef.tmp"
done
rpms --erase drng
tail -n 1 "$root/etc/pki/tls/openssl.cnf" | grep -qx '# mine' || fail "the change is lost"
sed -i '$d' "$root/etc/pki/tls/openssl.cnf"
cmp "$root/etc/pki/tls/openssl.cnf" "$root/etc/pki/tls/openssl.cnf.before-drng" || fail "openssl.cnf is not as before"
rm "$root/etc/pki/tls/openssl.cnf.before-drng"
snapshot "$work/after"
diff "$work/before" "$work/after" || fail "these files are not as before"

step "Not removed while openssl.cnf names it by lines of somebody's own"
rpms --install --nodeps "$rpm"
cp "$root/etc/pki/tls/openssl.cnf" "$work/openssl.cnf"
echo ".include /etc/ssl/drng/drng.cnf" >>"$root/etc/pki/tls/openssl.cnf"
! rpms --erase drng || fail "removed: openssl.cnf does not work without it"
inside served drng
cp "$work/openssl.cnf" "$root/etc/pki/tls/openssl.cnf"
rpms --erase drng
snapshot "$work/after"
diff "$work/before" "$work/after" || fail "these files are not as before"

step "The .rpm lives and goes as it should"
