#!/bin/sh
# test-fleet.sh - all that is tested of the collector, of trials, restarts, metrics and completions, with the cases that
# scripts/test.sh leaves out: some two minutes. Arguments go to pytest.
#
# Needs root and the builds of scripts/test.sh, presets release and dev.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

need_packages bash-completion fish needrestart prometheus prometheus-node-exporter python3-pytest zsh

cd tests/system
DRNG_FLEET=1 exec /usr/bin/python3 -m pytest \
    test_collector.py test_completions.py test_metrics.py test_restart.py test_trial.py "$@"
