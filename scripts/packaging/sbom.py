#!/usr/bin/python3 -I
# SPDX-License-Identifier: Apache-2.0
"""Writes the SBOM of a tree that is about to become a package: SPDX 2.3 as JSON, every file with its sums.

    sbom.py --name NAME --version VERSION [--tool NAME=VERSION]... [--library NAME=VERSION]... [--needs NAME]...
            TREE FILE

FILE is written below TREE and leaves itself out. --tool has made the files, --library gave its headers to them, --needs
names what must be there when they run. SOURCE_DATE_EPOCH is the date, so that the same tree gives the same FILE.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

LICENSE = "Apache-2.0"
COPYRIGHT = "Copyright 2026 the drng authors"

Entry = dict[str, Any]


def identifier(*parts: str) -> str:
    """SPDX allows letters, digits, dots and hyphens."""
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.-]", "-", part) for part in filter(None, parts))


# ---- Files ----


def file_entry(tree: Path, path: Path) -> Entry:
    content, name = path.read_bytes(), f"./{path.relative_to(tree)}"
    return {
        # Two names may be the same but for a character that SPDX does not allow.
        "SPDXID": identifier("File", hashlib.sha256(name.encode()).hexdigest()[:16]),
        "fileName": name,
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": hashlib.sha1(content, usedforsecurity=False).hexdigest()},
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()},
        ],
        "fileTypes": ["BINARY" if b"\0" in content else "TEXT"],
        "licenseConcluded": LICENSE,
        "licenseInfoInFiles": ["NOASSERTION"],
        "copyrightText": COPYRIGHT,
    }


def files(tree: Path, itself: Path) -> list[Entry]:
    """By name, whatever order the folder has. DEBIAN has what is for dpkg, and is not installed."""
    held = (path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and path != itself)
    paths = sorted(path for path in held if path.relative_to(tree).parts[0] != "DEBIAN")
    return [file_entry(tree, path) for path in paths]


def verification_code(entries: list[Entry]) -> str:
    """SPDX 2.3, 7.9: the SHA-1 of all SHA-1s, in their order."""
    sums = sorted(entry["checksums"][0]["checksumValue"] for entry in entries)
    return hashlib.sha1("".join(sums).encode(), usedforsecurity=False).hexdigest()


# ---- Packages ----


def other_package(name: str, version: str = "") -> Entry:
    """What is not in the tree: only its name, and its version where that is one."""
    entry = {
        "SPDXID": identifier("Package", name, version),
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }
    return {**entry, "versionInfo": version} if version else entry


def repository() -> str:
    command = [Path(__file__).with_name("owner.py"), "REPOSITORY"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def own_package(name: str, version: str, entries: list[Entry], itself: str) -> Entry:
    source = f"git+{repository()}"
    purl = f"pkg:generic/{name}@{version}?vcs_url={quote(source, safe='')}"
    return {
        "SPDXID": identifier("Package", name),
        "name": name,
        "versionInfo": version,
        "supplier": "Organization: the drng authors",
        # A host that is not known yet is no location.
        "downloadLocation": "NOASSERTION" if ".invalid" in source else f"{source}@v{version}",
        "filesAnalyzed": True,
        "packageVerificationCode": {
            "packageVerificationCodeValue": verification_code(entries),
            "packageVerificationCodeExcludedFiles": [itself],
        },
        "licenseConcluded": LICENSE,
        "licenseDeclared": LICENSE,
        "licenseInfoFromFiles": ["NOASSERTION"],
        "copyrightText": COPYRIGHT,
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
    }


# What an argument's packages are to the package that is described.
RELATIONS = {"tool": "BUILD_TOOL_OF", "library": "BUILD_DEPENDENCY_OF", "needs": "RUNTIME_DEPENDENCY_OF"}


def others(arguments: argparse.Namespace) -> tuple[list[Entry], list[tuple[str, str]]]:
    """Each package once, and their relations: what has given its headers may be needed at run time, too."""
    packages: dict[str, Entry] = {}
    relations = []
    for kind, relation in RELATIONS.items():
        for item in getattr(arguments, kind):
            name, _, version = item.partition("=")
            package = packages.setdefault(name, other_package(name, version))
            relations.append((package["SPDXID"], relation))
    return list(packages.values()), relations


# ---- The document ----


def relationship(element: str, kind: str, related: str) -> Entry:
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": related}


def document(arguments: argparse.Namespace) -> Entry:
    entries = files(arguments.tree, arguments.file)
    itself = f"./{arguments.file.relative_to(arguments.tree)}"
    own = own_package(arguments.name, arguments.version, entries, itself)
    known, relations = others(arguments)
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    answer = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{arguments.name}-{arguments.version}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: the drng authors", f"Tool: sbom.py-{arguments.version}"],
        },
        "packages": [own, *known],
        "files": entries,
        "relationships": [
            relationship("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"]),
            *(relationship(own["SPDXID"], "CONTAINS", entry["SPDXID"]) for entry in entries),
            *(relationship(package, relation, own["SPDXID"]) for package, relation in relations),
        ],
    }
    # A name that no other document has, and that the same tree has again.
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(answer, sort_keys=True))
    return {**answer, "documentNamespace": f"https://spdx.org/spdxdocs/{answer['name']}-{unique}"}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sbom.py", description=__doc__.split("\n")[0])
    parser.add_argument("--name", required=True)
    parser.add_argument("--version", required=True)
    for kind in RELATIONS:
        parser.add_argument(f"--{kind}", action="append", default=[])
    parser.add_argument("tree", type=Path)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    if not os.environ.get("SOURCE_DATE_EPOCH", "").isdigit():
        parser.error("set SOURCE_DATE_EPOCH, the date of the sources in seconds since 1970")
    if not arguments.file.is_relative_to(arguments.tree):
        parser.error(f"{arguments.file} is not below {arguments.tree}")
    return arguments


def main() -> int:
    arguments = parse()
    arguments.file.write_text(json.dumps(document(arguments), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
