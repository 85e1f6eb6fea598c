#!/usr/bin/python3 -I
# SPDX-License-Identifier: Apache-2.0
"""Says where the files of a release come from: an in-toto statement with the predicate of SLSA 1.0, unsigned, as JSON.

    provenance.py --version VERSION --commit COMMIT --buildinfo FILE --url URL --builder URI FOLDER

The subjects are the files in FOLDER. FILE is what dpkg-buildpackage leaves: Debian's packages that it was built with.
There is no time in the statement: the same release has the same one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

Entry = dict[str, Any]


def described(path: Path) -> Entry:
    return {"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}


def tools(buildinfo: str) -> list[Entry]:
    """Installed-Build-Depends, whose lines are " gcc-12 (= 12.2.0-14),"; as package URLs."""
    _, found, rest = buildinfo.partition("\nInstalled-Build-Depends:\n")
    block = re.match(r"(?: .*\n)+", rest)
    if not found or not block:
        raise SystemExit("provenance.py: the buildinfo has no Installed-Build-Depends")
    packages = re.findall(r"^ ([a-z0-9.+-]+)(?::\w+)? \(= ([^)]+)\),?$", block[0], flags=re.M)
    return [{"uri": f"pkg:deb/debian/{quote(name, safe='')}@{quote(version, safe='')}"} for name, version in packages]


def statement(arguments: argparse.Namespace) -> Entry:
    paths = sorted(path for path in arguments.folder.iterdir() if path.is_file())
    if not paths:
        raise SystemExit(f"provenance.py: {arguments.folder} is empty")
    source = {"name": "drng", "digest": {"gitCommit": arguments.commit}}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [described(path) for path in paths],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                # What externalParameters mean: scripts/release.sh, run with that version on that commit.
                "buildType": f"{arguments.url}/release.sh/v1",
                "externalParameters": {"version": arguments.version, "commit": arguments.commit},
                "resolvedDependencies": [source, *tools(arguments.buildinfo.read_text())],
            },
            "runDetails": {"builder": {"id": arguments.builder}},
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="provenance.py", description=__doc__.split("\n")[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--buildinfo", required=True, type=Path)
    parser.add_argument("--url", required=True, help="of the project")
    parser.add_argument("--builder", required=True, help="who names the machine that has made it")
    parser.add_argument("folder", type=Path)
    print(json.dumps(statement(parser.parse_args()), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
