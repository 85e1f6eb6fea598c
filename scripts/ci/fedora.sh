#!/bin/sh
# fedora.sh - builds the .rpms on Fedora or RHEL, with that distribution's own macros, installs them, and draws.
#
# Installs what the spec names (root). Not for Debian: tests/system/test_package.py tries the .rpms there.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
dnf install -y -q rpm-build tar gzip 'dnf-command(builddep)'
dnf builddep -y -q scripts/packaging/drng.spec
top=$PWD/build/fedora
mkdir -p "$top/SOURCES"
version=$(sed -n 's/^Version: *//p' scripts/packaging/drng.spec)
git archive --format=tar.gz --prefix="drng-$version/" --output="$top/SOURCES/drng-$version.tar.gz" HEAD
rpmbuild -ba --define "_topdir $top" scripts/packaging/drng.spec
dnf install -y -q "$top"/RPMS/*/*.rpm
OPENSSL_CONF=/etc/ssl/drng/drng.cnf drng-status
OPENSSL_CONF=/etc/ssl/drng/drng.cnf openssl rand -hex 16
