# SPDX-License-Identifier: Apache-2.0
"""The same sources give the same packages; an SBOM with the sums of its files is in each but the .rpms."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.support.builds import BUILD, ROOT
from tests.support.packages import output

SBOM = ROOT / "scripts/packaging/sbom.py"


@pytest.mark.nightly("one build of the packages, and what their SBOM says")
def test_the_same_sources_give_the_same_packages(packages: Path) -> None:
    """Elsewhere, a year later, by another user, in another order; reproducible.sh by itself varies more."""
    said = output(ROOT / "scripts/ci/reproducible.sh", "--quick", packages)
    assert len(re.findall(r"^[0-9a-f]{64}  ", said, flags=re.M)) == 9


def test_other_sources_give_other_packages(packages: Path, tmp_path: Path) -> None:
    """The failing twin: the comparison compares."""
    for package in packages.glob("*drng*.*"):
        (tmp_path / package.name).write_bytes(package.read_bytes() + b"more")
    result = subprocess.run(
        [ROOT / "scripts/ci/reproducible.sh", "--compare", packages, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "is another one when it is built elsewhere" in result.stderr


# ---- The SBOM in each package ----


@pytest.fixture(scope="module")
def tree(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a package installs."""
    folder = tmp_path_factory.mktemp("tree")
    output("dpkg-deb", "-x", next(packages.glob("openssl-provider-drng_*.deb")), folder)
    return folder


def sbom(tree: Path) -> Path:
    (found,) = tree.glob("usr/share/doc/*/*.spdx.json")
    return found


def document(tree: Path) -> dict[str, Any]:
    return json.loads(sbom(tree).read_text())


def test_every_file_is_listed_with_its_sums(tree: Path) -> None:
    found = {
        f"./{path.relative_to(tree)}": {
            "SHA1": hashlib.sha1(path.read_bytes()).hexdigest(),
            "SHA256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in tree.rglob("*")
        if path.is_file() and path != sbom(tree)
    }
    assert any(name.endswith("/drng.so") for name in found)
    listed = {
        entry["fileName"]: {entry["algorithm"]: entry["checksumValue"] for entry in entry["checksums"]}
        for entry in document(tree)["files"]
    }
    assert listed == found


def test_its_verification_code_is_that_of_the_standard(tree: Path) -> None:
    """SPDX 2.3, 7.9."""
    sums = sorted(entry["checksums"][0]["checksumValue"] for entry in document(tree)["files"])
    package = document(tree)["packages"][0]
    code = package["packageVerificationCode"]
    assert code["packageVerificationCodeValue"] == hashlib.sha1("".join(sums).encode()).hexdigest()
    assert code["packageVerificationCodeExcludedFiles"] == [f"./{sbom(tree).relative_to(tree)}"]


def test_it_names_the_version_what_built_it_and_what_it_needs(tree: Path) -> None:
    said = document(tree)
    own, *others = said["packages"]
    debian = re.match(r"drng \((\S+)-\d+\)", (ROOT / "debian/changelog").read_text())
    assert debian
    needs = ["libc6"]
    assert (own["name"], own["versionInfo"]) == ("openssl-provider-drng", debian[1])
    repository = re.search(r"(?m)^REPOSITORY=(.*)$", (ROOT / "OWNER").read_text())
    assert repository
    known = ".invalid" not in repository[1]
    assert own["downloadLocation"] == (f"git+{repository[1]}@v{own['versionInfo']}" if known else "NOASSERTION")
    (reference,) = own["externalRefs"]
    assert unquote(reference["referenceLocator"]).endswith(f"?vcs_url=git+{repository[1]}")
    related = {(r["spdxElementId"], r["relationshipType"]) for r in said["relationships"]}
    for kind, names in (
        ("BUILD_TOOL_OF", ["gcc"]),
        ("BUILD_DEPENDENCY_OF", ["openssl"]),
        ("RUNTIME_DEPENDENCY_OF", needs),
    ):
        for name in names:
            assert [other for other in others if other["name"] == name and (other["SPDXID"], kind) in related], name
    assert {other["name"] for other in others} == {"gcc", "openssl", *needs}


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("drng-tools", {"openssl", "openssl-provider-drng", "python3"}),
        ("libdrng0", {"libc6"}),
        ("libdrng-dev", {"libdrng0"}),
    ],
)
def test_the_other_packages_name_what_they_need(packages: Path, tmp_path: Path, name: str, needs: set[str]) -> None:
    output("dpkg-deb", "-x", next(packages.glob(f"{name}_*.deb")), tmp_path)
    said = document(tmp_path)
    own, *others = said["packages"]
    assert own["name"] == name
    assert {other["name"] for other in others} == {"gcc", *needs}


def test_spdxs_own_tool_finds_it_valid(tree: Path) -> None:
    tool = BUILD / "venv/bin/pyspdxtools"
    if not tool.exists():
        pytest.skip("spdx-tools is not installed: scripts/test.sh installs it")
    output(tool, "--infile", sbom(tree))


def test_spdxs_own_tool_finds_faults(tree: Path, tmp_path: Path) -> None:
    """The failing twin."""
    tool = BUILD / "venv/bin/pyspdxtools"
    if not tool.exists():
        pytest.skip("spdx-tools is not installed: scripts/test.sh installs it")
    wrong = document(tree)
    wrong["files"][0]["checksums"].pop(0)
    (tmp_path / "wrong.spdx.json").write_text(json.dumps(wrong))
    result = subprocess.run(
        [tool, "--infile", tmp_path / "wrong.spdx.json"], capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert "SHA1" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("date", "file", "said"),
    [(None, "tree/sbom.json", "set SOURCE_DATE_EPOCH"), ("0", "elsewhere.json", "is not below")],
    ids=["no-date", "outside"],
)
def test_what_it_refuses(tmp_path: Path, date: str | None, file: str, said: str) -> None:
    (tmp_path / "tree").mkdir()
    command = [sys.executable, "-I", SBOM, "--name=x", "--version=1", tmp_path / "tree", tmp_path / file]
    env = {} if date is None else {"SOURCE_DATE_EPOCH": date}
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert said in result.stderr
    assert not (tmp_path / file).exists()
