# SPDX-License-Identifier: Apache-2.0
"""scripts/evidence/openssl-suite.sh: what it makes of the logs of OpenSSL's own tests, and of its arguments.

The tests themselves take the script an hour; here the logs are made up.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import openssl_suite
from tests.support.builds import CONF, MASKED, ROOT, Flavour, served_by_drng

SCRIPT = ROOT / "scripts" / "evidence" / "openssl-suite.sh"
PYTHON = ("/usr/bin/python3", "-Es", str(SCRIPT.with_name("openssl_suite.py")))

PASSED = ("03-test_exdata", "05-test_rand", "15-test_ecdsa", "80-test_ca", "80-test_cms")
KNOWN = "15-test_ecdsa"
assert KNOWN in openssl_suite.KNOWN


def log_of(*failed: str, ran: tuple[str, ...] = PASSED) -> str:
    """As prove prints it, two recipes at a time."""
    lines = ["00-prep_fipsmodule_cnf.t .. ok", "All tests successful.", "Files=1, Tests=1,  0 wallclock secs"]
    lines += ["Result: PASS", "make[2]: Entering directory '/suite/src'"]
    lines += [
        f"# Looks like you failed 1 test of 7.{r}.t ..... " if r in failed else f"{r}.t ................. ok"
        for r in ran
    ]
    lines += ["04-test_async.t ............... skipped: none here", "Test Summary Report", "-------------------"]
    lines += [f"{r}.t               (Wstat: 256 (exited 1) Tests: 7 Failed: 1)\n  Failed test:  6" for r in failed]
    return "\n".join(
        [*lines, f"Files={len(ran)}, Tests=9, 12 wallclock secs", f"Result: {'FAIL' if failed else 'PASS'}\n"]
    )


EVP = """\
    # Completed 961 tests with 0 errors and 0 skipped
Num     Type           Disp Enb Address            What
1       breakpoint     keep y   <PENDING>          drng_generator_generate
\tbreakpoint already hit 8642 times
"""


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """What a run leaves in which nothing fails but what is known."""
    logs = tmp_path / "bookworm"
    logs.mkdir()
    (logs / "version").write_text("3.0.20-1~deb12u2\n")
    (logs / "plain.log").write_text(log_of("80-test_cms"))
    (logs / "drng.log").write_text(log_of("80-test_cms", KNOWN))
    (logs / "pinned.log").write_text(log_of(KNOWN, ran=(KNOWN,)))
    (logs / "dry.log").write_text(log_of("80-test_cms", KNOWN, "80-test_ca"))
    (logs / "evp.log").write_text(EVP)
    return tmp_path


def failures(kept: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PYTHON, "failures", str(kept / "bookworm")], capture_output=True, text=True, check=False)


def report(kept: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PYTHON, "report", str(kept), "bookworm"], capture_output=True, text=True, check=False)


def test_what_fails_without_drng_is_not_said_of_drng(kept: Path) -> None:
    assert failures(kept).stdout == "test_ecdsa\n"
    (kept / "bookworm" / "drng.log").write_text(log_of())
    assert failures(kept).stdout.strip() == ""


def test_the_report_of_a_known_difference(kept: Path) -> None:
    said = report(kept)
    assert (said.returncode, said.stderr) == (0, "")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in said.stdout.splitlines() if line]
    assert [row[1] for row in rows[2:10]] == ["961", "0", "8,642", "5", "1", "1", "1", "1"]
    assert rows[-1] == [f"`{KNOWN}`", "3.0.20", "yes", openssl_suite.KNOWN[KNOWN]]
    assert (kept / "suite.md").read_text().strip() == said.stdout.strip()


def test_an_unknown_difference_is_an_error(kept: Path) -> None:
    """Even where OpenSSL's own generator fails when it is pinned: somebody has to look."""
    for name, failed in (("drng", (KNOWN, "80-test_cms", "80-test_ca")), ("pinned", (KNOWN, "80-test_ca"))):
        (kept / "bookworm" / f"{name}.log").write_text(log_of(*failed))
    said = report(kept)
    assert said.returncode == 1
    assert "no reason is known for: 80-test_ca\n" in said.stderr
    assert "| `80-test_ca` | 3.0.20 | yes | not known |" in said.stdout


def test_a_difference_of_drngs_own_is_told_from_one_of_pinning(kept: Path) -> None:
    pinned, drng = (kept / "bookworm" / f"{name}.log" for name in ("pinned", "drng"))
    pinned.write_text(log_of(ran=(KNOWN,)))
    assert f"| `{KNOWN}` | 3.0.20 | no |" in report(kept).stdout
    drng.write_text(drng.read_text().replace("Failed test:  6", "Failed tests:  5-6"))
    pinned.write_text(log_of(KNOWN, ran=(KNOWN,)))
    assert f"| `{KNOWN}` | 3.0.20 | in part |" in report(kept).stdout


def test_other_tests_of_the_same_recipe_are_a_difference(kept: Path) -> None:
    """Which fails without drng, too, but elsewhere."""
    log = kept / "bookworm" / "drng.log"
    log.write_text(log.read_text().replace("Failed test:  6", "Failed tests:  2-4, 6,\n                9"))
    assert failures(kept).stdout == "test_ecdsa test_cms\n"
    found = openssl_suite.read_run(log).failed
    assert found == {KNOWN: {2, 3, 4, 6, 9}, "80-test_cms": {2, 3, 4, 6, 9}}
    assert openssl_suite.only_with_drng(kept / "bookworm")["80-test_cms"] == {2, 3, 4, 9}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("with 0 errors", "with 2 errors", "evp_test: 2 errors"),
        ("already hit 8642 times", "never hit", "0 generates by drng"),
        ("Completed", "Aborted", "evp_test did not come to its end"),
    ],
)
def test_known_answers_that_do_not_come_from_drng_are_an_error(kept: Path, old: str, new: str, said: str) -> None:
    (kept / "bookworm" / "evp.log").write_text(EVP.replace(old, new))
    result = report(kept)
    assert result.returncode == 1
    assert said in result.stderr


def test_a_run_without_seeds_that_was_not_done_is_said(kept: Path) -> None:
    (kept / "bookworm" / "dry.log").unlink()
    assert "where drng has no seed | not tried |" in report(kept).stdout


@pytest.mark.parametrize("name", ["plain", "drng", "pinned", "evp"])
def test_a_part_that_was_not_done_is_missed(kept: Path, name: str) -> None:
    (kept / "bookworm" / f"{name}.log").unlink()
    result = subprocess.run([*PYTHON, "report", str(kept), "bookworm"], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert f"{name}.log is not there" in result.stderr


@pytest.mark.parametrize("name", ["plain", "drng"])
def test_a_run_that_was_cut_short_is_no_result(kept: Path, name: str) -> None:
    log = kept / "bookworm" / f"{name}.log"
    log.write_text(log.read_text().rpartition("Result:")[0])
    result = failures(kept)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"{name}.log has no result" in result.stderr


def test_a_run_that_a_recipe_has_stopped_is_no_result(kept: Path) -> None:
    with (kept / "bookworm" / "dry.log").open("a") as log:
        log.write("FAILED--Further testing stopped: Could not open key file\n")
    said = report(kept)
    assert (said.returncode, said.stdout) == (1, "")
    assert "dry.log has no result" in said.stderr


def test_a_recipe_that_did_not_run_with_drng_is_missed(kept: Path) -> None:
    (kept / "bookworm" / "drng.log").write_text(log_of(ran=PASSED[1:]))
    assert f"did not run with drng: {PASSED[0]}" in failures(kept).stderr


def test_a_recipe_that_fails_and_is_not_in_the_list_is_missed(kept: Path) -> None:
    (kept / "bookworm" / "drng.log").write_text(log_of(PASSED[0], ran=PASSED[1:]))
    assert f"fail and did not run: {PASSED[0]}" in failures(kept).stderr


# ---- The configurations ----


@pytest.fixture
def written(tmp_path: Path) -> Path:
    subprocess.run([*PYTHON, "configure", str(tmp_path)], check=True)
    return tmp_path


def test_drng_is_tested_under_the_strict_profile_as_it_is_shipped(written: Path) -> None:
    assert (written / "drng.cnf").read_text() == (CONF / "drng.cnf").read_text()


def test_pinned_is_openssls_own(release: Flavour, written: Path) -> None:
    answer = release.probe(written / "pinned.cnf")
    assert (answer["rand_bytes"], answer["public"]["provider"], answer["loaded"]) == (1, "default", 0)


def test_dry_gives_nothing_without_an_instruction(release: Flavour, written: Path) -> None:
    assert release.probe(written / "dry.cnf", {"OPENSSL_ia32cap": MASKED})["rand_bytes"] != 1
    assert release.probe(written / "drng.cnf", {"OPENSSL_ia32cap": MASKED})["rand_bytes"] == 1


def test_evp_finds_drngs_generator_without_its_name(release: Flavour, written: Path) -> None:
    assert served_by_drng(release.probe(written / "evp.cnf"))
    command = ["openssl", "list", "-random-generators", "-provider", "drng", "-provider", "default"]
    assert "CTR-DRBG @ drng" in release.run(command, {"OPENSSL_CONF": str(written / "evp.cnf")}).stdout


# ---- The script ----


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "usage: openssl-suite.sh"),
        (("1.1",), "1.1: no release of Debian, or version of OpenSSL"),
        (("3.0", "buster"), "buster: no release"),
        (("--only",), "--only takes one of: build evp"),
        (("--only", "everything", "3.0"), "--only takes one of: build evp"),
        (("--only", "build"), "usage: openssl-suite.sh"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], said: str) -> None:
    result = subprocess.run([str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert "PART" in result.stderr, "the usage"
