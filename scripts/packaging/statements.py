#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""Says of a release what is in it, and where it comes from: an SBOM (SPDX 2.3) and an in-toto statement with SLSA 1.0's
provenance, unsigned.

    statements.py VERSION COMMIT BUILDINFO FOLDER

BUILDINFO is what dpkg-buildpackage leaves: Debian's packages that the release was built with. Writes both into FOLDER,
of whose other files they tell. SOURCE_DATE_EPOCH is the date: the same release has the same statements.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

Entry = dict[str, Any]

# OWNER says what becomes of them.
URL = "https://drng.invalid"
REPOSITORY = "https://drng.invalid/drng.git"

# What those of Debian's packages are to drng that matter when it runs, or that leave something in it.
RELATIONS = {
    "gcc": "BUILD_TOOL_OF",
    "libssl-dev": "BUILD_DEPENDENCY_OF",
    "libc6": "RUNTIME_DEPENDENCY_OF",
    "openssl": "RUNTIME_DEPENDENCY_OF",
    "python3": "RUNTIME_DEPENDENCY_OF",
}


def built_with(buildinfo: str) -> dict[str, str]:
    """Names and versions of Installed-Build-Depends, whose lines are " gcc-12 (= 12.2.0-14),"."""
    block = re.search(r"^Installed-Build-Depends:\n((?: .*\n)+)", buildinfo, flags=re.M)
    if not block:
        raise SystemExit("statements.py: the buildinfo has no Installed-Build-Depends")
    return dict(re.findall(r"^ ([a-z0-9.+-]+)(?::\w+)? \(= ([^)]+)\),?$", block[1], flags=re.M))


def purl(name: str, version: str) -> str:
    return f"pkg:deb/debian/{quote(name, safe='')}@{quote(version, safe='')}"


# ---- The SBOM ----


def package(name: str, version: str, reference: str, **more: Any) -> Entry:
    return {
        # SPDX allows letters, digits, dots and hyphens.
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}
        ],
        **more,
    }


def sbom(version: str, digests: dict[str, str], tools: dict[str, str]) -> Entry:
    """drng, the files of the release, and what Debian has given to it or must give when it runs."""
    source = f"git+{REPOSITORY}@v{version}"
    known = {"licenseDeclared": "Apache-2.0", "supplier": "Organization: the drng authors"}
    generic = f"pkg:generic/drng@{version}?vcs_url={quote(source, safe='')}"
    own = package("drng", version, generic, downloadLocation=source, **known)
    files = [
        package(name, version, generic, checksums=[{"algorithm": "SHA256", "checksumValue": digest}], **known)
        for name, digest in digests.items()
    ]
    others = {name: package(name, tools[name], purl(name, tools[name])) for name in RELATIONS if name in tools}
    related = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    related += [(own["SPDXID"], "CONTAINS", file["SPDXID"]) for file in files]
    related += [(other["SPDXID"], RELATIONS[name], own["SPDXID"]) for name, other in others.items()]
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    answer = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"drng-{version}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: the drng authors", f"Tool: statements.py-{version}"],
        },
        "packages": [own, *files, *others.values()],
        "relationships": [
            {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": other}
            for element, kind, other in related
        ],
    }
    # A name that no other document has, and that the same release has again.
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(answer, sort_keys=True))
    return {**answer, "documentNamespace": f"https://spdx.org/spdxdocs/{answer['name']}-{unique}"}


# ---- The provenance ----


def provenance(version: str, commit: str, digests: dict[str, str], tools: dict[str, str]) -> Entry:
    source = {"name": "drng", "digest": {"gitCommit": commit}}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                # What externalParameters mean: scripts/release.sh, run with that version on that commit.
                "buildType": f"{URL}/release.sh/v1",
                "externalParameters": {"version": version, "commit": commit},
                "resolvedDependencies": [source, *({"uri": purl(*tool)} for tool in tools.items())],
            },
            "runDetails": {"builder": {"id": f"{URL}/builder"}},
        },
    }


def main(version: str, commit: str, buildinfo: str, folder: str) -> None:
    paths = sorted(path for path in Path(folder).iterdir() if path.is_file())
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    tools = built_with(Path(buildinfo).read_text())
    parts = Path(folder, f"drng-{version}.spdx.json")
    parts.write_text(json.dumps(sbom(version, digests, tools), indent=1) + "\n")
    digests[parts.name] = hashlib.sha256(parts.read_bytes()).hexdigest()
    said = provenance(version, commit, digests, tools)
    Path(folder, f"drng-{version}.intoto.json").write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
