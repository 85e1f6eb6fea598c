# SPDX-License-Identifier: Apache-2.0
"""The table of docs/programs.md, of what runs have left: scripts/evidence/tables.py --write programs puts it there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

RELEASES = {"bookworm": "12", "trixie": "13", "sid": "sid"}
HEAD = ("program", "version", "library", "for its service", "for the system", "what to do, or to know")

# What a user reads of each reason of drng-status.
REASONS = {
    "at-secure": "ignores OPENSSL_CONF",
    "no-variable": "drops OPENSSL_CONF",
    "static-libcrypto": "libcrypto is linked into it",
    "own-libcrypto": "a libcrypto of its own",
    "own-context": "reads no openssl.cnf",
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


def cell(found: dict[str, str]) -> str:
    """Once where it is the same on all, else by release."""
    found = {suite: text for suite, text in found.items() if text}
    if len(set(found.values())) < 2:
        return next(iter(found.values()), "")
    return "; ".join(f"{RELEASES.get(suite, suite)}: {text}" for suite, text in found.items())


def row(program: dict[str, Any], results: dict[str, dict[str, Any]]) -> list[str]:
    columns = [
        program["name"],
        cell({suite: result.get("version", "") for suite, result in results.items()}),
        cell({suite: result.get("library", "") for suite, result in results.items()}),
        cell({suite: short(result, "service") for suite, result in results.items()}),
        cell({suite: short(result, "system") for suite, result in results.items()}),
        program.get("note", ""),
    ]
    if "unit" not in program and not columns[3].startswith("cannot"):
        columns[3] += " (OPENSSL_CONF)"
    return columns


def table(folder: Path) -> str:
    programs = tomllib.loads((Path(__file__).parent / "table.toml").read_text())["program"]
    suites = {}
    for path in sorted(folder.glob("*.json")):
        suites[path.stem] = {result["name"]: result for result in map(json.loads, path.read_text().splitlines())}
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    for program in programs:
        results = {suite: found[program["name"]] for suite, found in suites.items() if program["name"] in found}
        if results:
            lines.append(f"| {' | '.join(row(program, results))} |")
    return "\n".join(lines) + "\n"
