# SPDX-License-Identifier: Apache-2.0
"""The tree and what is said of it.

No circle of files; docs/develop/architecture.md, tests/README.md and scripts/README.md name what
there is; tests and scripts begin with what they do.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT, said_by

PARTS = ("mixing", "provider", "library")
OBJECTS = BUILD / "dev" / "CMakeFiles"

Arrows = dict[str, dict[str, str]]  # from a file to another, and what makes the arrow


def module_of(path: Path) -> str:
    """A .c file and its header are one."""
    return str(path.relative_to(ROOT).with_suffix(""))


def includes() -> Arrows:
    arrows: Arrows = {}
    for part in PARTS:
        for file in sorted((ROOT / part).rglob("*.[chS]")):
            found = arrows.setdefault(module_of(file), {})
            for name in re.findall(r'#include "([^"]+)\.h"', file.read_text()):
                found[name] = f"{file.name} includes {name}.h"
    return arrows


def symbols(object_file: Path) -> tuple[set[str], set[str]]:
    """Those that it defines, and those that it wants."""
    output = said_by("nm", object_file)
    fields = [line.split() for line in output.splitlines()]
    return {f[-1] for f in fields if f[-2] in "TDBRV"}, {f[-1] for f in fields if f[-2] == "U"}


def calls() -> Arrows:
    defined: dict[str, str] = {}
    wanted: dict[str, set[str]] = {}
    for file in sorted(OBJECTS.glob("*.dir/*/**/*.o")):
        name = str(Path(*file.relative_to(OBJECTS).parts[1:])).removesuffix(".o")
        module = str(Path(name).with_suffix(""))
        if module.startswith(PARTS) and (ROOT / name).exists():  # a build may have objects of files that are gone
            own, wanted[module] = symbols(file)
            defined |= dict.fromkeys(own, module)
    return {
        module: {defined[s]: f"{module} uses {s}()" for s in sorted(names) if defined.get(s, module) != module}
        for module, names in wanted.items()
    }


def circle_in(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """The files of one circle, or none: takes away, again and again, what nothing leads away from."""
    left = {module: {to for to in targets if to in arrows and to != module} for module, targets in arrows.items()}
    while True:
        ends = {module for module, targets in left.items() if not targets}
        if not ends:
            return sorted(left)
        left = {module: targets - ends for module, targets in left.items() if module not in ends}


def all_arrows() -> Arrows:
    arrows = includes()
    for module, targets in calls().items():
        arrows.setdefault(module, {}).update(targets)
    return arrows


def test_no_files_depend_on_each_other_in_a_circle() -> None:
    arrows = all_arrows()
    assert len(arrows) > 50
    assert (
        "mixing/entropy/noise" in arrows["mixing/entropy/seed"]
        and "mixing/drbg/generator" in arrows["provider/rand/drbg"]
    )
    circle = circle_in(arrows)
    assert not circle, [why for module in circle for to, why in arrows[module].items() if to in circle]


def test_mixing_knows_nothing_of_the_provider() -> None:
    up = [why for module, to in all_arrows().items() for why in to.values() if module.startswith("mixing/")]
    assert up
    assert not [why for why in up if "provider" in why]


# Lowest first.
FLOORS = ("machine", "state", "aes", "entropy", "drbg")


def floor_of(module: str) -> int:
    """Of a file in mixing/; what all of them include, mixing/result.h, is below the first."""
    return 1 + FLOORS.index(module.split("/")[1]) if module.count("/") == 2 else 0


def test_a_floor_of_mixing_stands_on_those_below_it() -> None:
    assert {path.name for path in (ROOT / "mixing").iterdir() if path.is_dir()} == set(FLOORS)
    arrows = {module: to for module, to in all_arrows().items() if module.startswith("mixing/")}
    down = {(floor_of(module), floor_of(below)) for module, to in arrows.items() for below in to}
    assert {(5, 4), (4, 3), (4, 2), (2, 1)} <= down
    assert not [why for module, to in arrows.items() for up, why in to.items() if floor_of(up) > floor_of(module)]


def listed_symbols(*arguments: str) -> set[str]:
    """What nm prints, without the versions and the names of an archive's members."""
    lines = said_by("nm", *arguments).splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines if line and not line.endswith(":")}


def libcryptos_symbols() -> set[str]:
    libdir = said_by("pkg-config", "--variable=libdir", "libcrypto").strip()
    return listed_symbols("-D", "--defined-only", f"{libdir}/libcrypto.so")


def test_mixing_uses_no_libcrypto() -> None:
    """Locks and memory of another library are no part of what a fork or a signal may come between."""
    files = sorted((ROOT / "mixing").rglob("*.[chS]"))
    assert len(files) > 50
    assert not [file.name for file in files if re.search(r"openssl/", file.read_text())]
    theirs = libcryptos_symbols()
    assert "EVP_EncryptInit_ex" in theirs and "memcpy" not in theirs
    wanted = listed_symbols("--undefined-only", str(BUILD / "dev" / "libmixing.a"))
    assert "memcpy" in wanted
    assert not wanted & theirs


# ---- What the documents name ----


def names_in(document: Path) -> set[str]:
    """Paths between backquotes."""
    return set(re.findall(r"`([\w./-]+(?:/|\.(?:[chS]|cc|py|sh|cnf|conf|md|toml|txt|[1-8])))`", document.read_text()))


def test_the_way_of_a_byte_names_files_that_exist() -> None:
    page = (ROOT / "docs" / "develop" / "architecture.md").read_text()
    drawn = re.findall(r"(?<![\w/])((?:provider|mixing|library)/[\w/]+\.[ch])\b", page)
    assert not [name for name in drawn if not (ROOT / name).exists()]


TESTS, SCRIPTS = ROOT / "tests", ROOT / "scripts"


def rows_of(document: Path) -> set[str]:
    """What the tables have a row for."""
    cells = re.findall(r"^\| (`.+?) \|", document.read_text(), flags=re.M)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def folders_in(folder: Path) -> set[str]:
    return {f"{path.name}/" for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}


@pytest.mark.parametrize("folder", [TESTS, SCRIPTS], ids=lambda path: path.name)
def test_each_folder_is_named_and_what_is_named_exists(folder: Path) -> None:
    page = folder / "README.md"
    rows = rows_of(page)
    assert not [name for name in rows if not (folder / name).exists()]
    elsewhere = {name for name in names_in(page) if name.startswith(("mixing/", "library/", "scripts/", "tests/"))}
    assert not [name for name in elsewhere if not (ROOT / name).exists()]
    assert not folders_in(folder) - rows


def test_each_file_names_its_license() -> None:
    """REUSE.toml has the others', and whose they are."""
    listed = said_by("git", "ls-files", "-z", cwd=ROOT)
    paths = [ROOT / name for name in listed.split("\0") if name.endswith((".c", ".h", ".S", ".py", ".sh", ".cmake"))]
    files = [path for path in paths if path.is_file() and "/vectors/" not in str(path)]
    assert len(files) > 300
    # Written so that reuse does not take it for this file's own.
    line = re.compile(r"SPDX-License[-]Identifier: Apache-2\.0( \*/)?\n")
    assert not [path for path in files if not line.search(path.read_text()[:6000])]


def first_sentence(text: str) -> str:
    """Of a file's first comment or docstring; a script's after its name."""
    text = re.sub(r"(?m)^(?:# |/\* )SPDX-License-Identifier[:] .*\n\n?", "", text, count=1)
    begin = re.match(r"(?:#!.*\n)?(?:#\s*[\w.-]+ - |/\*[\s*]*|\"\"\")(.+)", text)
    return begin[1] if begin else ""


def test_each_test_and_each_script_says_what_it_does() -> None:
    """In the first lines, so that no page has to."""
    files = {path for path in TESTS.rglob("test_*.*") if path.suffix in (".c", ".py")}
    files |= {path for path in SCRIPTS.rglob("*") if path.is_file() and os.access(path, os.X_OK)}
    assert len(files) > 150
    assert not [str(path) for path in files if len(first_sentence(path.read_text()).split()) < 2]
