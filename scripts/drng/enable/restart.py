# SPDX-License-Identifier: Apache-2.0
"""The proof: what runs is restarted, one unit after another, and its processes are looked at. What does not come up
says why by itself."""

import time

from .. import procfs, systemd
from ..status import services, who
from ..terminal import Failure

# A unit is up when it has been so for a while, as the same invocation.
WHILE, DEADLINE, STEP = 1.0, 30.0, 0.1
RESTARTING = 300

LINES = 8  # of the journal

PROPERTIES = "LoadState,ActiveState,SubState,Type,Result,InvocationID,NRestarts,ExecMainStatus,RefuseManualStop,"
PROPERTIES += "ConsistsOf,ActiveEnterTimestampMonotonic"


def state(unit: str) -> dict[str, str]:
    return systemd.show(unit, PROPERTIES)


def started(known: dict[str, str]) -> float:
    """As a time of the calendar."""
    return time.time() - time.monotonic() + int(known.get("ActiveEnterTimestampMonotonic") or 0) / 1e6


def why_left(unit: str, known: dict[str, str]) -> str:
    """Why it is not restarted; empty where it is."""
    active = known.get("ActiveState", "")
    if active in ("inactive", "failed"):
        return f"{'has failed' if active == 'failed' else 'not running'}: its next start has the change"
    if known.get("Type") == "oneshot":
        others = known.get("ConsistsOf")
        return f"other units do its work: name these: {others}" if others else "runs once: its next run has the change"
    if known.get("RefuseManualStop") == "yes" or systemd.waits_for_reboot(unit):
        return "not restarted: needs a reboot"
    # systemd leaves both as they are: it says of a masked one that it is done, and refuses one whose file has gone.
    if (load := known.get("LoadState", "loaded")) != "loaded":
        return f"{load}, so it is not restarted: `systemctl status {unit}` says more"
    return "" if active in ("active", "reloading") else f"{active}: not restarted: do that when it is up"


def _comes_up(unit: str) -> bool:
    end, since, before = time.monotonic() + DEADLINE, time.monotonic(), ("", "")
    while time.monotonic() < end:
        known = state(unit)
        active, now = known.get("ActiveState"), (known.get("InvocationID", ""), known.get("NRestarts", ""))
        if active in ("failed", "inactive") or known.get("SubState") == "auto-restart":
            return False
        if active != "active" or now != before:
            since, before = time.monotonic(), now
        elif time.monotonic() - since >= WHILE:
            return True
        time.sleep(STEP)
    return False


def _reason(unit: str, since: float) -> str:
    """The unit's own: what it has said, or what systemd knows."""
    words = ["--output=cat", "--no-pager", "--quiet", f"--lines={LINES}", f"--since=@{since:.3f}", f"--unit={unit}"]
    said = [line for line in systemd.run("journalctl", *words).stdout.splitlines() if line.strip()]
    known = state(unit)
    return "\n".join(said or [f"Result={known.get('Result')}, status {known.get('ExecMainStatus')}"])


def restart(unit: str, verb: str = "try-restart") -> None:
    """Fails with the unit's own reason where it does not come up. `restart` begins what has failed, too."""
    since = time.time()
    if verb == "restart":
        systemd.run("systemctl", "reset-failed", "--", unit)
    result = systemd.run("systemctl", verb, "--", unit, seconds=RESTARTING)
    if result.returncode != 0 or not _comes_up(unit):
        raise Failure(f"{unit} does not come up: {_reason(unit, since)}")


def looked_at(unit: str) -> list[who.Process]:
    """Its processes; none where it does not run."""
    try:
        return who.of_processes(services.members_of(unit))
    except Failure:
        return []


def by_unit() -> dict[str, list[who.Process]]:
    """The services that run and have libcrypto, each with those processes: one that is unused may have read
    openssl.cnf."""
    found = who.grouped(who.counted(who.of_processes(procfs.numbers())), lambda each: [each.unit])
    return {unit: found[unit] for unit in sorted(found) if systemd.can_be_restarted(unit)}
