# SPDX-License-Identifier: Apache-2.0
"""The table of docs/programs.md, of what runs have left: scripts/evidence/tables.py --write programs puts it there."""

import json
import tomllib
from pathlib import Path
from typing import Any

RELEASES = {"bookworm": "12", "trixie": "13", "sid": "sid"}
HEAD = ("program", "for its service", "for the system", "what to do, or to know")
HOWS = ("service", "system")

# What a user reads of each reason of drng-status.
REASONS = {
    "at-secure": "ignores OPENSSL_CONF",
    "no-variable": "drops OPENSSL_CONF",
    "own-libcrypto": "a libcrypto of its own",
    "own-context": "ignores openssl.cnf",
    "no-providers": "no providers",
    "other-libcrypto": "another libcrypto, too",
}


def short(result: dict[str, Any], how: str) -> str:
    """In a cell."""
    if failed := result.get("failed", ""):
        for begin in ("cannot be had", "does not start here", "does not work here"):
            if failed.startswith(begin):
                return begin
        return failed
    said = result.get(how, "")
    for reason, words in REASONS.items():
        said = said.replace(reason, words)
    return said.replace("loaded, and draws elsewhere", "loaded; draws elsewhere")


def by_release(found: dict[str, str]) -> str:
    """Once where it is the same on all, else by release."""
    if len(set(found.values())) < 2:
        return next(iter(found.values()), "")
    return "; ".join(f"{RELEASES.get(suite, suite)}: {text}" for suite, text in found.items())


def row(program: dict[str, Any], results: dict[str, dict[str, Any]]) -> tuple[str, str, str, str]:
    found = (by_release({suite: short(result, how) for suite, result in results.items()}) for how in HOWS)
    service, system = (program.get("shown", cell) for cell in found)
    return program["name"], service, system, program.get("note", "")


def table(folder: Path) -> str:
    """Those that drng serves in part, or on one release, then names: served, idle, or never concerned."""
    programs = tomllib.loads((Path(__file__).parent / "table.toml").read_text())["program"]
    suites = {}
    for path in sorted(folder.glob("*.json")):
        suites[path.stem] = {result["name"]: result for result in map(json.loads, path.read_text().splitlines())}
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    alike: dict[str, list[str]] = {"served": [], "idle": [], "no libcrypto": []}
    for program in programs:
        results = {suite: found[program["name"]] for suite, found in suites.items() if program["name"] in found}
        results = {suite: result for suite, result in results.items() if short(result, "service") != "cannot be had"}
        if not results:
            continue
        name, service, system, note = row(program, results)
        if service == system and service in alike:
            alike[service].append(f"{name} ({note})" if note else name)
        else:
            lines.append(f"| {name} | {service} | {system if system != service else 'the same'} | {note} |")
    return "\n".join(
        [
            *lines,
            f"\n**Served**, for their service and for the system: {'; '.join(alike['served'])}.",
            f"\n**Idle**: {'; '.join(alike['idle'])}.",
            f"\n**Without libcrypto**, so drng does not concern them: {'; '.join(alike['no libcrypto'])}.\n",
        ]
    )
