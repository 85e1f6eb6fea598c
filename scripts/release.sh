#!/bin/sh
# release.sh - makes what a release hands out, twice, and says what is left to the owner. It tags, signs and uploads nothing.
#
#     release.sh VERSION            looks whether VERSION can be released, and makes nothing
#     release.sh VERSION FOLDER     makes it in FOLDER, which is new: the source package, all packages, their SBOM, the
#                                   provenance of all of it and SHA256SUMS
#
# All is built a second time, as another user and elsewhere (scripts/ci/reproducible.sh), and has to be the same. Takes root,
# as that does.

# SPDX-License-Identifier: Apache-2.0
set -eu
folder=${2:+$(realpath --canonicalize-missing "$2")}
cd "$(dirname "$0")/.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
# shellcheck source=scripts/packaging/sources.sh
. scripts/packaging/sources.sh

case ${1:-} in
[0-9]*.[0-9]*.[0-9]*) version=$1 ;;
*)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 64
    ;;
esac

# ---- Can it be released? ----

wrong=0
# is WHAT FOUND WANTED
is()
{
    if [ "$2" = "$3" ]; then
        printf '%s\n' "ok: $1"
    else
        printf '%s\n' "wrong: $1: \"$2\", and not \"$3\"" >&2
        wrong=1
    fi
}

# shellcheck disable=SC2016 # the name is CMake's
is "CMakeLists.txt" "$(sed -n 's/^project(drng VERSION \([^ ]*\).*/\1/p;s/^set(DRNG_VERSION "${PROJECT_VERSION}\(.*\)")/\1/p' \
    CMakeLists.txt | tr -d '\n')" "$version"
is "scripts/drng/__init__.py" "$(sed -n 's/^VERSION = "\(.*\)"/\1/p' scripts/drng/__init__.py)" "$version"
is "CHANGELOG.md, its first heading" "$(sed -n '/^## /{s/ - 20[0-9-]*$/ - a date/p;q}' CHANGELOG.md)" "## $version - a date"
is "debian/changelog" "$(sed -n '1s/ [a-z]*;.*//p' debian/changelog)" "drng ($version-1)"
is "scripts/packaging/drng.spec" "$(sed -n 's/^Version: *//p' scripts/packaging/drng.spec)" "$version"
is "OWNER, what waits for it" "$(git grep -l '\(drng\|0000\)\.invalid' -- . ':!OWNER' ':!tests/system' | head -n 1)" ""
is "what is not committed" "$(git status --porcelain | head -n 1)" ""
is "a tag of this version" "$(git tag --list "v$version")" ""
[ $wrong = 0 ] || exit 1
if [ -z "$folder" ]; then
    printf '%s\n' "$version can be released: release.sh $version FOLDER makes it"
    exit
fi

# ---- Built, and built again ----

mkdir "$folder"
work_in drng-release
SOURCE_DATE_EPOCH=$(source_date)
export SOURCE_DATE_EPOCH

scripts/packaging/package.sh "$folder"
scripts/ci/reproducible.sh "$folder"
source_package "$folder"
(umask 077 && source_package "$work/again")
for file in "$work/again"/*; do
    cmp "$file" "$folder/${file##*/}"
done

# ---- What is said of it ----

scripts/packaging/statements.py "$version" "$(git rev-parse HEAD)" build/package/*.buildinfo "$folder"
(cd "$folder" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
chmod a+r "$folder"/*
cat <<END
$version is in $folder. Left to the owner, once scripts/test.sh --all has passed on this commit:
  git tag --sign v$version --message "drng $version" $(git rev-parse HEAD) && git push origin v$version
  gpg --armor --detach-sign $folder/SHA256SUMS
  sign drng-$version.intoto.json, as with cosign attest-blob, and upload the folder with both signatures
  begin the next section of CHANGELOG.md
END
