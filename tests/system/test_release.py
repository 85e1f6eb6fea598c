# SPDX-License-Identifier: Apache-2.0
"""scripts/release.sh in a clone: what it refuses, and what it says of what it has made.

The clone's package.sh and reproducible.sh are stand-ins; test_package.py runs the real ones.
"""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT, said_by

VERSION = "9.8.7"
# A package, and what dpkg-buildpackage leaves of it.
PACKAGE = r"""#!/bin/sh
mkdir -p build/package
echo package >"$1/drng_9.8.7-1_all.deb"
printf 'Format: 1.0\nInstalled-Build-Depends:\n gcc (= 4:12.2.0-3),\n libc6:amd64 (= 2.36-9+deb12u7)\nX:\n A="b"\n' \
    >build/package/drng.buildinfo
"""
# What sed looks for has backslashes, and stays.
OWNER = (ROOT / "OWNER").read_text().replace("drng.invalid", "example.org").replace("0000.invalid", "0123 4567")
URL = OWNER.partition("\ns|https://drng\\.invalid|")[2].partition("|")[0]
EDITS = {
    "CMakeLists.txt": (r"(?s)(project\(drng VERSION )\S+(.*?\$\{PROJECT_VERSION\})[^\"]*", rf"\g<1>{VERSION}\g<2>"),
    "scripts/drng/__init__.py": (r'(?m)^VERSION = ".*"', f'VERSION = "{VERSION}"'),
    "CHANGELOG.md": (r"(?m)\A# Changelog\n\n## .*$", f"# Changelog\n\n## {VERSION} - 2026-11-23"),
    "scripts/packaging/drng.spec": (r"(?m)^(Version: +).*", rf"\g<1>{VERSION}"),
    "debian/changelog": (r"\Adrng \(\S+\)", f"drng ({VERSION}-1)"),
}


def git(clone: Path, *arguments: str) -> str:
    return said_by("git", "-C", clone, "-c", "user.name=x", "-c", "user.email=x@drng.invalid", *arguments)


def fill_in(clone: Path) -> None:
    """By the command that OWNER has."""
    (clone / "OWNER").write_text(OWNER)
    said_by("sh", "-ec", OWNER.partition("\n#     ")[2].partition("\n")[0], cwd=clone)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Ready for the release of VERSION."""
    path = tmp_path / "clone"
    path.mkdir()
    names = said_by("git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard").split("\n")
    (tmp_path / "names").write_text("".join(f"{name}\n" for name in names if (ROOT / name).is_file()))
    said_by("sh", "-ec", 'tar -C "$1" -c -T "$2" | tar -C "$3" -x', "sh", ROOT, tmp_path / "names", path)
    for name, (old, new) in EDITS.items():
        text, count = re.subn(old, new, (path / name).read_text(), count=1)
        assert count == 1, name
        (path / name).write_text(text)
    (path / "scripts/packaging/package.sh").write_text(PACKAGE)
    (path / "scripts/ci/reproducible.sh").write_text('#!/bin/sh\n[ -d "$1" ] && ! [ -e "$1/../other" ]\n')
    git(path, "init", "-q")
    git(path, "add", "-A")
    fill_in(path)
    git(path, "commit", "-q", "-a", "-m", "x")
    return path


def release(clone: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [clone / "scripts/release.sh", *arguments]
    return subprocess.run(command, cwd=clone.parent, capture_output=True, text=True, check=False)


def test_it_makes_nothing_unless_told_where(clone: Path) -> None:
    result = release(clone, VERSION)
    assert (result.returncode, result.stderr) == (0, "")
    assert "can be released" in result.stdout
    assert sorted(path.name for path in clone.parent.iterdir()) == ["clone", "names"]
    assert not git(clone, "status", "--porcelain") and not git(clone, "tag", "--list")


def test_what_owner_says_reaches_every_file(clone: Path) -> None:
    files = [name for name in git(clone, "ls-files").splitlines() if not name.startswith(("OWNER", "tests/system/"))]
    assert not [name for name in files if re.search(rb"(drng|0000)\.invalid", (clone / name).read_bytes())]


@pytest.mark.parametrize("name", [*EDITS, "OWNER", "not committed", "tag"])
def test_it_refuses_what_is_not_ready(clone: Path, name: str) -> None:
    if name == "tag":
        git(clone, "tag", f"v{VERSION}")
    elif name == "not committed":
        (clone / "more").touch()
    elif name == "OWNER":
        (clone / "SECURITY.md").write_text("write to <security@drng.invalid>\n")
        git(clone, "commit", "-q", "-a", "-m", "x")
    else:
        text = (ROOT / name).read_text()
        assert text != (clone / name).read_text()
        (clone / name).write_text(text)
        fill_in(clone)
        git(clone, "commit", "-q", "-a", "-m", "x")
    result = release(clone, VERSION, "out")
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1 and result.stderr.startswith(
        f"wrong: {'what is ' * (name[:3] == 'not')}"
    )
    assert name in result.stderr
    assert not (clone.parent / "out").exists()


def test_what_it_makes_is_told_of(clone: Path) -> None:
    """Sums of all, where it comes from, an SBOM; and none of what only a person may do."""
    result = release(clone, VERSION, "out")
    assert result.returncode == 0, result.stdout + result.stderr
    out = clone.parent / "out"
    sums = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir() if path.name != "SHA256SUMS"
    }
    said = f"drng-{VERSION}.intoto.json"
    source = {f"drng_{VERSION}{end}" for end in (".orig.tar.gz", "-1.debian.tar.xz", "-1.dsc")}
    source.add(f"drng-{VERSION}.tar.gz")
    assert set(sums) == {f"drng_{VERSION}-1_all.deb", said, f"drng-{VERSION}.spdx.json", *source}
    lines = (line.split("  ") for line in (out / "SHA256SUMS").read_text().splitlines())
    assert {name: digest for digest, name in lines} == sums

    statement = json.loads((out / said).read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    del sums[said]
    assert {entry["name"]: entry["digest"]["sha256"] for entry in statement["subject"]} == sums
    definition = statement["predicate"]["buildDefinition"]
    assert definition["buildType"].startswith(URL)
    assert statement["predicate"]["runDetails"] == {"builder": {"id": f"{URL}/builder"}}
    commit = git(clone, "rev-parse", "HEAD").strip()
    assert definition["externalParameters"] == {"version": VERSION, "commit": commit}
    assert definition["resolvedDependencies"] == [
        {"name": "drng", "digest": {"gitCommit": commit}},
        {"uri": "pkg:deb/debian/gcc@4%3A12.2.0-3"},
        {"uri": "pkg:deb/debian/libc6@2.36-9%2Bdeb12u7"},
    ]
    own, *others = json.loads((out / f"drng-{VERSION}.spdx.json").read_text())["packages"]
    assert re.fullmatch(rf"git\+https://\S+@v{VERSION}", own["downloadLocation"])
    del sums[f"drng-{VERSION}.spdx.json"]
    assert {other["name"]: other.get("checksums", [{}])[0].get("checksumValue") for other in others} == {
        **sums,
        **dict.fromkeys(("gcc", "libc6")),
    }
    tool = BUILD / "venv/bin/pyspdxtools"
    if tool.exists():
        said_by(tool, "--infile", out / f"drng-{VERSION}.spdx.json")
    for left in ("git tag --sign", "gpg --armor --detach-sign", "upload"):
        assert left in result.stdout
    assert not git(clone, "tag", "--list")
