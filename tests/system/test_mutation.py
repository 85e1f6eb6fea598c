# SPDX-License-Identifier: Apache-2.0
"""scripts/mutate/mutate.py on a few of its mutations; all of them by hand, with tests/mutations/mutate.py."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from scripts.mutate import source
from tests.support.builds import ROOT

SCRIPT = ROOT / "scripts" / "mutate" / "mutate.py"

# One that does not compile, one that is seen, and one that takes nothing away.
TABLE = """
"no code" = ["drng_rct_passes", "health", "return rct->run < cutoff;", "return"]
"repetition count test" = ["drng_rct_passes", "health",
    "return rct->run < cutoff;", "return rct->run < cutoff || true;"]
"a comment" = ["DRNG_APT_WINDOW in entropy/health.h", "health",
    "DRNG_APT_WINDOW", "/* nothing */ DRNG_APT_WINDOW"]
"""

ONE = "'one' = ['{}', 'health', '{}', '']\n"


def mutate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/usr/bin/python3", str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_every_mutation_applies() -> None:
    result = mutate("--check")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("inside", "old", "message"),
    [
        (
            "drng_rct_passes",
            "return rct->run > cutoff;",
            "drng_rct_passes (mixing/entropy/health.h): its text is there 0",
        ),
        ("drng_rct_passes", "rct", "drng_rct_passes (mixing/entropy/health.h): its text is there"),
        ("no_such_function", "return", "no_such_function (mixing/, provider/, library/): it is defined nowhere"),
        ("DRNG_WORD_RCT_CUTOFF", "= 1000", "DRNG_WORD_RCT_CUTOFF (mixing/entropy/health.h): its text is there 0 times"),
    ],
)
def test_a_mutation_that_no_longer_applies_is_an_error(tmp_path: Path, inside: str, old: str, message: str) -> None:
    table = tmp_path / "table.toml"
    table.write_text(ONE.format(inside, old))
    result = mutate("--check", "--table", str(table))
    assert result.returncode == 2
    assert f"'one' does not apply to {message}" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE + ONE, "Cannot overwrite a value"),
        ("'one' = ['inside', 'health', 'old']\n", "'one' is not four texts"),
        ("'one' = ['inside', ['health'], 'old', '']\n", "'one' is not four texts"),
        ("['one']\nold = ''\n", "'one' is not four texts"),
    ],
)
def test_a_table_that_is_wrong_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "table.toml"
    table.write_text(text)
    result = mutate("--check", "--table", str(table))
    assert result.returncode == 2
    assert message in result.stderr


# ---- Where the text is looked for: a name, no file, no line ----

CODE = """
int other(int a) { return a + 1; }
static int
work(int a)
{
    /* work( */
    const char *brace = "}"; char c = '{';
    return /* why { */ a
        + 1;  // and }
}
enum { LIMIT = 1, MORE = other(1, 2) };
static const int table[2] = {1, 2};
int same(int a) { int same = a + 1; return same; }
int work(int a);
int x = work(1) + work(2);
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in (("mixing/a/code.c", CODE), ("provider/b.h", "int twin(void) { return 1; }\n")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "provider/macros.S").write_text(".macro wipe bytes\n    ret /* here */\n.endm\n ret\n")
    return tmp_path


@pytest.mark.parametrize(
    ("inside", "old", "found"),
    [
        ("work", "return a + 1;", "return /* why { */ a\n        + 1;"),
        ("work", "return  a+1 ;", "return /* why { */ a\n        + 1;"),
        ("other", "a + 1", "a + 1"),
        ("LIMIT", "LIMIT = 1", "LIMIT = 1"),
        ("MORE", "1, 2", "1, 2"),
        ("table", "1, 2", "1, 2"),
        ("wipe", "ret", "ret"),
        ("same", "a + 1", "a + 1"),
    ],
)
def test_a_text_is_found_by_the_name_of_what_has_it(tree: Path, inside: str, old: str, found: str) -> None:
    _, places = source.places(tree, inside, old)
    assert [place.path.read_text()[place.start : place.end] for place in places] == [found]


def test_a_file_tells_namesakes_apart(tree: Path) -> None:
    (tree / "mixing/b.h").write_text("int twin(void) { return 1; }\n")
    assert len(source.places(tree, "twin", "return 1;")[1]) == 2
    for file in ("mixing/b.h", "provider/b.h"):
        assert source.places(tree, "twin", "return 1;", file)[0] == {tree / file}
    assert source.places(tree, "twin", "return 1;", "xing/b.h") == (set(), set())


# ---- A run ----


@pytest.mark.nightly("each mutation's place in the code")
def test_what_is_seen_and_what_is_not(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text(TABLE)
    result = mutate("--table", str(table), "--keep", str(tmp_path / "copy"), "--json", str(tmp_path / "result.json"))
    assert result.returncode == 1, result.stderr
    assert "3 taken out, 1 seen, 2 not" in result.stdout
    results = {r["name"]: r["killed_by"] for r in json.loads((tmp_path / "result.json").read_text())}
    assert results == {"no code": "", "repetition count test": "health", "a comment": ""}
