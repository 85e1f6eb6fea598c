#!/usr/bin/python3 -I
# SPDX-License-Identifier: Apache-2.0
"""Puts what the file OWNER says where it has to stand, or says where something else does.

owner.py --write         into the files below
owner.py --check         exit status 1 where one of them has another value
owner.py --unknown       the names whose values are not known yet; exit status 1 where there are any
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Each pattern has one group for each of the names.
PLACES = (
    (".github/CODEOWNERS", r"(?m)^\* (\S+)$", "CONTACT"),
    ("AUTHORS", r"<(\S+)>", "CONTACT"),
    ("CMakeLists.txt", r'HOMEPAGE_URL "(.*)"', "URL"),
    ("SECURITY.md", r"write to <(\S+)>", "SECURITY"),
    ("SECURITY.md", r"fingerprint is `([0-9A-Fa-f]{4}[^`]*)`", "FINGERPRINT"),
    ("debian/changelog", r"\A[^<]*<(\S+)>", "CONTACT"),
    ("debian/control", r"(?m)^Maintainer: [^<]*<(\S+)>$", "CONTACT"),
    ("debian/control", r"(?m)^Homepage: (\S+)$", "URL"),
    ("debian/control", r"(?m)^Vcs-Browser: (\S+)$", "URL"),
    ("debian/control", r"(?m)^Vcs-Git: (\S+)$", "REPOSITORY"),
    ("debian/copyright", r"(?m)^Upstream-Contact: (\S+)$", "CONTACT"),
    ("debian/copyright", r"(?m)^Source: (\S+)$", "URL"),
    ("debian/upstream/metadata", r"(?m)^Repository: (\S+)$", "REPOSITORY"),
    ("debian/upstream/metadata", r"(?m)^Security-Contact: (\S+)$", "SECURITY"),
    ("debian/watch", r"(?m)^ (\S+) refs/tags/", "REPOSITORY"),
    ("scripts/packaging/drng.spec", r"(?m)^URL: +(\S+)$", "URL"),
    ("scripts/packaging/drng.spec", r"(?m)^%changelog\n\*[^<]*<(\S+)>", "CONTACT"),
    ("tests/fuzz/oss-fuzz/project.yaml", r'(?m)^homepage: "(.*)"$', "URL"),
    ("tests/fuzz/oss-fuzz/project.yaml", r'(?m)^primary_contact: "(.*)"$', "CONTACT"),
    ("tests/fuzz/oss-fuzz/project.yaml", r'(?m)^main_repo: "(.*)"$', "REPOSITORY"),
    ("tests/fuzz/oss-fuzz/Dockerfile", r"(?m)^RUN git clone --depth 1 (\S+) drng$", "REPOSITORY"),
)


def values() -> dict[str, str]:
    lines = (ROOT / "OWNER").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def replaced(name: str, owner: dict[str, str]) -> str:
    """The file's text, with the values of OWNER."""
    text = (ROOT / name).read_text()
    for file, pattern, key in PLACES:
        if file == name:
            match = re.search(pattern, text)
            if match is None:
                raise SystemExit(f"owner.py: {name} has no place for {key}: {pattern}")
            text = text[: match.start(1)] + owner[key] + text[match.end(1) :]
    return text


def main() -> int:
    owner = values()
    match sys.argv[1:]:
        case ["--write" | "--check" as action]:
            other = [name for name in dict.fromkeys(file for file, *_ in PLACES)]
            other = [name for name in other if replaced(name, owner) != (ROOT / name).read_text()]
            for name in other:
                if action == "--write":
                    (ROOT / name).write_text(replaced(name, owner))
                else:
                    print(f"{name} has not what OWNER says: scripts/packaging/owner.py --write", file=sys.stderr)
            return int(bool(other) and action == "--check")
        case ["--unknown"]:
            unknown = [name for name, value in owner.items() if ".invalid" in value]
            print(" ".join(unknown))
            return int(bool(unknown))
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main())
