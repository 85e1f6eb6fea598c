# SPDX-License-Identifier: Apache-2.0
"""The proof: a service is restarted, and its processes are looked at. What does not come up says why by itself."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .. import procfs, systemd
from ..status import who
from ..terminal import Failure

# A unit is up when it has been so for a while, as the same invocation.
WHILE, DEADLINE, STEP = 1.0, 30.0, 0.1
RESTARTING = 300

LINES = 8  # of the journal


def _state(unit: str) -> dict[str, str]:
    names = "ActiveState,SubState,Type,Result,InvocationID,NRestarts,ExecMainStatus"
    return dict(systemd.properties(systemd.systemctl("show", f"--property={names}", "--", unit)))


def is_active(unit: str) -> bool:
    return _state(unit).get("ActiveState") in ("active", "reloading", "activating")


def _comes_up(unit: str) -> bool:
    end, since, before = time.monotonic() + DEADLINE, time.monotonic(), ("", "")
    while time.monotonic() < end:
        state = _state(unit)
        active, now = state.get("ActiveState"), (state.get("InvocationID", ""), state.get("NRestarts", ""))
        if active == "failed" or state.get("SubState") == "auto-restart":
            return False
        if active == "inactive":
            return state.get("Type") == "oneshot" and state.get("Result") == "success"
        if active != "active" or now != before:
            since, before = time.monotonic(), now
        elif time.monotonic() - since >= WHILE:
            return True
        time.sleep(STEP)
    return False


def _reason(unit: str, since: float) -> str:
    """The unit's own: what it has said, or what systemd knows."""
    words = ["--output=cat", "--no-pager", "--quiet", f"--lines={LINES}", f"--since=@{since:.0f}", f"--unit={unit}"]
    said = [line for line in systemd.run("journalctl", *words).stdout.splitlines() if line.strip()]
    state = _state(unit)
    return "\n".join(said or [f"Result={state.get('Result')}, status {state.get('ExecMainStatus')}"])


def restart(unit: str) -> None:
    """Fails with the unit's own reason where it does not come up."""
    since = time.time()
    systemd.run("systemctl", "reset-failed", "--", unit)
    result = systemd.run("systemctl", "restart", "--", unit, seconds=RESTARTING)
    if result.returncode != 0 or not _comes_up(unit):
        raise Failure(f"{unit} does not come up: {_reason(unit, since)}")


def looked_at(unit: str) -> list[who.Process]:
    """Its processes; none where it does not run."""
    try:
        return who.of_unit(unit)
    except procfs.TargetError:
        return []


def uses_libcrypto(served: Sequence[who.Process]) -> list[who.Process]:
    return [each for each in served if each.served_by != "-" or each.idle]


def units_with_libcrypto() -> list[str]:
    """Of the services that run, those which a change of the system's openssl.cnf reaches by a restart."""
    units = {each.unit for each in uses_libcrypto(who.of_processes(procfs.numbers()))}
    return sorted(u for u in units if systemd.can_be_restarted(u) and not systemd.waits_for_reboot(u))
