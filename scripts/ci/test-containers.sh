#!/bin/sh
# test-containers.sh - drng in containers, by podman: as a layer that conf/containers/Containerfile adds, and as files of
# the host that are mounted. nginx runs in each without capabilities, with a read-only root, as www-data and under podman's
# default filter of system calls; it serves a TLS page, and drng-status sees it from outside.
#
#     test-containers.sh DEB SUITE
#
# The image is made from a chroot of Debian, which is kept in /var/cache/drng-packages; no registry is asked. Containers
# have no network but their own 127.0.0.1. Exits with 77 where no container can be run. Takes root.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

[ $# -ge 2 ] || fail "name the .deb and the suite"
deb=$(realpath "$1") suite=$2

# ---- The machine: podman's own files in a folder of the test, and the one kind of control groups that crun knows ----

if [ $# = 2 ]; then
    # seccomp.json, the filter of system calls, is in golang-github-containers-common.
    need_packages podman crun golang-github-containers-common || cannot "podman cannot be installed"
    bare=/var/cache/drng-packages/$suite
    scripts/ci/chroot.sh make "$suite" "$bare" ca-certificates curl nginx-light openssl python3
    work_in drng-containers
    # A process namespace, so that no container outlives this script, however it ends.
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount --propagation private --pid --fork --kill-child --mount-proc sh -ec '
        umount -R /sys/fs/cgroup 2>/dev/null || true
        mount -t cgroup2 none /sys/fs/cgroup
        exec "$@"' sh "$PWD/scripts/ci/test-containers.sh" "$deb" "$suite" "$bare" "$work"
    exit
fi
bare=$3 work=$4

cat >"$work/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$work/images"
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

# What the options promise, read from the process itself.
confined()
{
    for promise in '^CapEff:[[:space:]]0000000000000000$' '^CapBnd:[[:space:]]0000000000000000$' '^Seccomp:[[:space:]]2$' \
        '^NSpid:.*[[:space:]]1$'; do
        grep -q "$promise" "/proc/$1/status" || fail "the process is not confined: no $promise"
    done
    ! touch "/proc/$1/root/etc/drng-was-here" 2>/dev/null || fail "the root is not read-only"
}

# serves NAME - a page, and drng-status of the host sees who has drawn for it: the container needs nothing for that.
serves()
{
    timeout 60 podman exec "$container" curl --silent --show-error --retry 50 --retry-connrefused --retry-delay 0 \
        --retry-max-time 30 --cacert /tls/cert.pem https://127.0.0.1:8443/ >"$work/page" ||
        fail "no page: $(podman logs "$container" 2>&1)"
    grep -q drng "$work/page" || fail "not the example's page"
    process=$(podman inspect --format '{{.State.Pid}}' "$container")
    confined "$process"
    scripts/drng-status --pid "$process" --json >"$work/status.json" || fail "drng-status fails"
    /usr/bin/python3 - "$work/status.json" "$1" <<'END' || fail "$(cat "$work/status.json")"
import json, sys
rows = json.load(open(sys.argv[1]))["processes"]
assert len(rows) == 3, rows
assert sum(row["requests"] for row in rows) > 0
assert all(row["active-source"] != "none" for row in rows)
# Where this machine has no instruction, the fallback serves.
reasons = {row["reason"] for row in rows}
assert reasons <= {"", "fallback"}, reasons
print(f"{sys.argv[2]}: seen from outside: {len(rows)} processes, {rows[0]['active-source']}")
END
    stop
}

# ---- The cases ----

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
install -d "$work/tls" "$work/context"
install -o www-data -m 400 "$work/key.pem" "$work/tls/key.pem"
install -m 444 "$work/cert.pem" "$work/tls/cert.pem"
dpkg-deb --extract "$deb" "$work/host"
module=/$(cd "$work/host" && find usr/lib -name drng.so)
tar -C "$bare" --exclude=./var/lib/apt/lists --exclude=./var/cache/apt --create . | podman import --quiet - base >/dev/null

step "$suite: as a layer, by the Containerfile as it stands"
cp conf/containers/Containerfile "$deb" "$work/context"
logged "$work/log" podman build --isolation chroot --build-arg BASE=localhost/base --tag localhost/layer "$work/context"
start localhost/layer
serves "$suite, layer"

# With a strict profile nginx does not start: what serves in the others is drng. nginx 1.26 does not say why.
start localhost/layer --volume "/dev/null:$module:ro"
status=$(timeout 20 podman wait "$container") || fail "nginx runs without drng"
[ "$status" != 0 ] || fail "nginx has ended without a failure"
stop
echo "$suite, layer: nginx does not start without the module"

step "$suite: as files of the host"
start localhost/base --env OPENSSL_CONF=/etc/ssl/drng/drng.cnf --volume "$work/host$module:$module:ro" \
    --volume "$work/host/usr/share/drng/profiles/drng.cnf:/etc/ssl/drng/drng.cnf:ro"
serves "$suite, mounted"
