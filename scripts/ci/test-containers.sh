#!/bin/sh
# test-containers.sh - drng in containers, by podman: as a layer that conf/containers/Containerfile adds, and as files of
# the host that are mounted. nginx runs in each without capabilities, with a read-only root, as www-data and under podman's
# default filter of system calls; it serves a TLS page, and drng-status sees it from outside.
#
#     test-containers.sh DEB [SUITE...]     bookworm and trixie, where none is named
#
# The images are made from chroots of Debian; no registry is asked. They are kept in /var/cache/drng-packages/containers.
# Containers have no network but their own 127.0.0.1. Exits with 77 where no container can be run. Takes root.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

[ $# -gt 0 ] || fail "name the .deb"
store=/var/cache/drng-packages/containers

# ---- The machine: podman's own files in a folder of the test, and the one kind of control groups that crun knows ----

if [ "${DRNG_CONTAINERS:-}" != inside ]; then
    scripts/ci/chroot.sh check || exit $?
    # seccomp.json, the filter of system calls, is in golang-github-containers-common.
    need_packages podman crun golang-github-containers-common || cannot "podman cannot be installed"
    mkdir -p $store
    exec 8>$store.lock
    flock --timeout 300 8 || fail "another test of containers does not end"
    work_in drng-containers
    deb=$(realpath "$1")
    shift
    # A process namespace, so that no container outlives this script, however it ends.
    # shellcheck disable=SC2016 # the inner shell's
    DRNG_CONTAINERS=inside unshare --mount --propagation private --pid --fork --kill-child --mount-proc sh -ec '
        umount -R /sys/fs/cgroup 2>/dev/null || true
        mount -t cgroup2 none /sys/fs/cgroup
        exec "$@"' sh "$PWD/scripts/ci/test-containers.sh" "$work" "$deb" "${@:-}" 8>&-
    exit
fi
work=$1 deb=$2
shift 2
[ -n "${1-}" ] || set -- bookworm trixie

cat >"$work/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$store/images"
runroot = "$work/run"
END
# Limits that podman would raise are left alone, and so are control groups.
cat >"$work/containers.conf" <<'END'
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
END
CONTAINERS_STORAGE_CONF=$work/storage.conf CONTAINERS_CONF=$work/containers.conf
export CONTAINERS_STORAGE_CONF CONTAINERS_CONF

# ---- Images ----

# base_image SUITE - localhost/drng-base:SUITE, made anew when the chroot has changed.
base_image()
{
    serving_chroot "$1" >&2
    stamp=$(stat -c %Y "$bare.packages")
    image=localhost/drng-base:$1
    [ "$(podman image inspect --format '{{.Labels.stamp}}' "$image" 2>/dev/null)" != "$stamp" ] || return 0
    echo "$1: making an image of the chroot"
    tar -C "$bare" --exclude=./var/lib/apt/lists --exclude=./var/cache/apt --create . |
        podman import --quiet --change "LABEL stamp=$stamp" - "$image" >/dev/null
}

# layered SUITE - localhost/drng-nginx:SUITE, by the Containerfile as it stands.
layered()
{
    rm -rf "$work/context"
    mkdir "$work/context"
    cp conf/containers/Containerfile "$deb" "$work/context"
    podman build --quiet --isolation chroot --build-arg "BASE=localhost/drng-base:$1" \
        --tag "localhost/drng-nginx:$1" "$work/context" >"$work/build.log" 2>&1 || fail "no image: $(cat "$work/build.log")"
}

# ---- Containers ----

# start IMAGE [OPTION...] - runs nginx as conf/containers/nginx.conf says.
start()
{
    image=$1
    shift
    container=$(podman run --detach --network none --read-only --cap-drop all --user www-data "$@" \
        --volume "$PWD/conf/containers/nginx.conf:/etc/nginx/nginx.conf:ro" --volume "$work/tls:/tls:ro" \
        "$image" nginx -g 'daemon off;')
}

stop()
{
    podman rm --force --time 10 "$container" >/dev/null
}

# Nothing here waits longer than this for a container that neither starts nor ends.
patiently()
{
    timeout 60 "$@"
}

fetch()
{
    patiently podman exec "$container" curl --silent --show-error --retry 50 --retry-connrefused --retry-delay 0 \
        --retry-max-time 30 --cacert /tls/cert.pem https://127.0.0.1:8443/ >"$work/page" ||
        fail "no page: $(podman logs "$container" 2>&1)"
    grep -q drng "$work/page" || fail "not the example's page"
}

# What the options promise, read from the process itself.
confined()
{
    process=$1
    status=$(cat "/proc/$process/status")
    for promise in '^CapEff:[[:space:]]0000000000000000$' '^CapBnd:[[:space:]]0000000000000000$' '^Seccomp:[[:space:]]2$'; do
        echo "$status" | grep -q "$promise" || fail "the process is not confined: no $promise"
    done
    ! touch "/proc/$process/root/etc/drng-was-here" 2>/dev/null || fail "the root is not read-only"
    [ "$(echo "$status" | awk '/^NSpid:/ { print $NF }')" = 1 ] || fail "it has no processes of its own"
}

# drng-status of the host: the container needs nothing for it.
seen()
{
    process=$(podman inspect --format '{{.State.Pid}}' "$container")
    confined "$process"
    scripts/drng-status --pid "$process" --json >"$work/status.json" || fail "drng-status fails"
    /usr/bin/python3 - "$work/status.json" "$1" <<'END' || fail "$(cat "$work/status.json")"
import json, sys
rows = json.load(open(sys.argv[1]))["processes"]
uses = [row["uses"] for row in rows]
assert uses == ["drng"] * 3, uses
assert sum(row["requests"] for row in rows) > 0
assert all(row["active-source"] != "none" for row in rows)
# Where this machine has no instruction, the fallback serves.
reasons = {row["reason"] for row in rows}
assert reasons <= {"", "fallback"}, reasons
print(f"{sys.argv[2]}: seen from outside: {len(rows)} processes, {rows[0]['active-source']}")
END
}

serves()
{
    fetch
    seen "$1"
    stop
}

# ---- The cases ----

# Where the module is missing a strict profile keeps the server from starting: what serves in the others is drng. nginx
# 1.26 does not say why.
without_the_module()
{
    start "$1" --env OPENSSL_CONF=/etc/ssl/drng/drng.cnf --env OPENSSL_MODULES=/nowhere
    [ "$(patiently podman wait "$container")" != 0 ] || fail "nginx has started without drng"
    stop
    echo "$2: nginx does not start without the module"
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
install -d "$work/tls"
install -o www-data -m 400 "$work/key.pem" "$work/tls/key.pem"
install -m 444 "$work/cert.pem" "$work/tls/cert.pem"
dpkg-deb --extract "$deb" "$work/host"
module=$(find "$work/host/usr/lib" -name drng.so)
modules=$(dirname "${module#"$work/host"}")

for suite; do
    base_image "$suite"
    step "$suite: as a layer"
    layered "$suite"
    start "localhost/drng-nginx:$suite"
    serves "$suite, layer"
    without_the_module "localhost/drng-nginx:$suite" "$suite, layer"

    step "$suite: as files of the host"
    start "localhost/drng-base:$suite" --env OPENSSL_CONF=/etc/ssl/drng/drng.cnf \
        --volume "$module:$modules/drng.so:ro" --volume "$work/host/usr/share/drng/profiles/drng.cnf:/etc/ssl/drng/drng.cnf:ro"
    serves "$suite, mounted"
done
step "drng serves in containers"
