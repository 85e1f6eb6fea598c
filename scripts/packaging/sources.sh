# sources.sh - the sources as they are here, and how old they are; to be sourced where they are the working directory.

# SPDX-License-Identifier: Apache-2.0
# Whether this is a checkout. It may belong to another user, whose hooks and settings are not run for what is asked here.
is_checkout()
{
    [ "$(git -c safe.directory="$PWD" rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]
}

# When they were last changed: by the commit or, where they are no checkout, by the version's date.
source_date()
{
    if is_checkout; then
        git -c safe.directory="$PWD" log -1 --format=%ct
    else
        date --utc --date "$(sed -n '/^## [0-9].* - /{s/.* - //p;q}' CHANGELOG.md)" +%s
    fi
}

# copy_sources FOLDER - committed or not, but without what git ignores, and as old as the copy: under a faked clock it would
# be younger. A file that is deleted here is still in the index.
copy_sources()
{
    mkdir "$1"
    if is_checkout; then
        git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard |
            tar --create --null --files-from - --ignore-failed-read 2>/dev/null
    else
        tar --create --exclude=./build .
    fi | tar -C "$1" --extract --no-same-owner --touch
    chmod -R u=rwX,go=rX "$1" # whatever the umask
}

# source_package FOLDER - drng-VERSION.tar.gz, which is the sources as they are and what the .rpms are built from; the same
# as drng_VERSION.orig.tar.gz, debian.tar.xz and the .dsc. Takes dpkg-dev, and SOURCE_DATE_EPOCH.
source_package()
{
    mkdir -p "$1"
    copy_sources "$1/drng"
    upstream=$(dpkg-parsechangelog -l debian/changelog -S Version | sed 's/-[^-]*$//')
    tar --create --transform "s,^\.,drng-$upstream,S" --sort=name --format=gnu --owner=root:0 --group=root:0 \
        --mtime="@$SOURCE_DATE_EPOCH" --directory "$1/drng" . | gzip -9 --no-name >"$1/drng-$upstream.tar.gz"
    cp "$1/drng-$upstream.tar.gz" "$1/drng_$upstream.orig.tar.gz"
    (cd "$1" && dpkg-source --build drng) >"$1/log" 2>&1 || {
        cat "$1/log" >&2
        return 1
    }
    rm -r "$1/drng" "$1/log"
}
