#!/bin/sh
# test-fleet.sh - all that is tested of the collector, of trials, restarts, real services, metrics and completions, with
# the cases that scripts/test.sh leaves out. SUITE is the Debian whose services are booted, bookworm where it is not set.
# Arguments go to pytest.
#
# Needs root and the builds of scripts/test.sh, presets release and dev.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

need_packages needrestart prometheus prometheus-node-exporter python3-pytest

services=$PWD/build/fleet/${SUITE:-bookworm}
scripts/ci/chroot.sh make "${SUITE:-bookworm}" "$services" apache2 ca-certificates curl dbus haproxy nginx-light openssl \
    postgresql procps python3 redis-server squid-openssl systemd systemd-sysv util-linux

cd tests/system
DRNG_FLEET=1 DRNG_SERVICES=$services exec /usr/bin/python3 -m pytest \
    test_collector.py test_completions.py test_metrics.py test_restart.py test_services.py test_systemd.py test_trial.py \
    "$@"
