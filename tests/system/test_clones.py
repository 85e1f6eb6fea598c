# SPDX-License-Identifier: Apache-2.0
"""Clones of virtual machines: a few of the cases that scripts/ci/test-clones.sh runs, and what makes the rig say no.

A guest is a Linux under QEMU's own CPU, so each takes some seconds. docs/clones.md has the table of all cases.
"""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from tests.support import clones
from tests.support.builds import BUILD, ROOT
from tests.support.clone_cases import BOTH, CASES, DIFFERS, NONE, REPEATS, VMCLOCK, Case, Expected
from tests.support.clones import KERNEL, OF_DRNG, Result
from tests.support.guests import GuestError, cpio, libraries, why_not

BY_NAME = {case.name: case for case in CASES}


@pytest.fixture(scope="module")
def guests() -> None:
    if platform.machine() != "x86_64":
        pytest.skip("QEMU and kernels are fetched for x86-64 only")
    if missing := why_not():
        pytest.skip(missing)


@pytest.mark.nightly("clones of processes, in provider_clones and process_clone")
@pytest.mark.parametrize("name", ["rdrand", "none", "vmclock-both", "aarch64-vmclock-vmgenid-none"])
def test_two_clones(guests: None, name: str) -> None:
    """The control is in each: OpenSSL's own generator, which must repeat every draw, or the rig is broken."""
    if missing := why_not(BY_NAME[name].cpu.architecture):
        pytest.skip(missing)
    result = clones.run(BY_NAME[name])
    assert not result.wrong()
    assert result.drng.all == 3 * result.control.all > 0


# ---- What is made of draws ----


def line(kind: str, ends: str, when: str = "whole", worker: int = 0) -> str:
    return f"@ {worker} 1000 {kind} {when} {ends} -"


def result_of(case: Case, *machines: list[str]) -> Result:
    draws = [draw for number, lines in enumerate(machines) for draw in clones.draws_of(number, lines)]
    return Result(case, draws)


def test_one_end_in_common_is_a_repeat() -> None:
    result = result_of(BY_NAME["both"], [line("RAND_bytes", "aabb")], [line("EVP_RAND", "ccaa")])
    assert result.drng.repeated == result.drng.all == 2
    assert result.wrong() == ["2 of 2 draws repeat, and it was expected that nothing repeats"]


def test_one_machine_may_draw_the_same_twice() -> None:
    """A generator that is stuck is another test's matter, and would be found in the other clone anyway."""
    lines = [line("RAND_bytes", "aabb"), line("RAND_bytes", "aabb")]
    assert result_of(BY_NAME["both"], lines, [line("RAND_bytes", "ccdd")]).drng.repeated == 0


@pytest.mark.parametrize("expected", [DIFFERS, REPEATS])
def test_some_repeats_are_neither(expected: Expected) -> None:
    first = [line("RAND_bytes", "aabb"), line("RAND_bytes", "ccdd")]
    second = [line("RAND_bytes", "aabb"), line("RAND_bytes", "eeff")]
    wrong = result_of(Case("some", NONE, expected), first, second).wrong()
    assert wrong == [f"2 of 4 draws repeat, and it was expected that {expected.value}"]


def test_what_is_under_way_counts_where_the_case_says_so() -> None:
    lines = [line("RAND_bytes", "aabb", "across")]
    case = Case("across", BOTH, DIFFERS, arguments=("busy",))
    assert result_of(case, lines, lines).wrong() == []
    case = Case("across", BOTH, DIFFERS, arguments=("busy",), across=True)
    assert result_of(case, lines, lines).wrong() == ["2 of 2 draws repeat that were under way at the snapshot"]


def test_a_draw_that_failed_is_no_draw_that_differs() -> None:
    wrong = result_of(BY_NAME["both"], [line("RAND_bytes", "failed")], [line("RAND_bytes", "failed")]).wrong()
    assert wrong == ["drng failed to serve"]


@pytest.mark.parametrize("other", ["ccdd", "failed"])
def test_a_control_that_does_not_repeat_is_a_broken_rig(other: str) -> None:
    first = [line("built-in", "aabb"), *(line(kind, "0011") for kind in OF_DRNG)]
    clones.check_the_control(result_of(BY_NAME["both"], first, first))
    with pytest.raises(GuestError, match="the rig is broken, OpenSSL's own generator repeats 0 of 2 draws"):
        clones.check_the_control(result_of(BY_NAME["both"], first, [line("built-in", other)]))
    with pytest.raises(GuestError, match="repeats 0 of 0 draws"):
        clones.check_the_control(result_of(BY_NAME["both"], [line(KERNEL, "aabb")], [line(KERNEL, "aabb")]))


def test_a_snapshot_that_fell_into_no_request_shows_nothing() -> None:
    lines = [line("built-in", "aabb")]
    with pytest.raises(GuestError, match="the snapshot fell into no request"):
        clones.check_the_control(result_of(BY_NAME["in-request-both"], lines, lines))


@pytest.mark.parametrize("after", [["1", "1"], ["2", "3"], ["2", None], [None, None]], ids=str)
def test_a_vmclock_that_does_not_tell_is_a_broken_rig(after: list[str | None]) -> None:
    case = Case("vmclock", BOTH, DIFFERS, (VMCLOCK,))
    clones.check_the_vmclock(case, "1", ["2", "2"])
    with pytest.raises(GuestError, match="vmclock says 1 before"):
        clones.check_the_vmclock(case, "1", after)


def test_another_cpu_than_the_case_is_about_is_a_broken_rig() -> None:
    case = Case("none", NONE, REPEATS)
    clones.check_the_cpu(case, {"disabled-reason": NONE.disabled})
    with pytest.raises(GuestError, match="this was to be another CPU"):
        clones.check_the_cpu(case, {"disabled-reason": ""})


def test_the_table_has_a_row_for_each_protection() -> None:
    def result(kind: str, last: str) -> Result:
        first = [line("RAND_bytes", "aabb").removesuffix("-") + kind, line("getrandom", "ccdd")]
        return result_of(BY_NAME["both"], first, [line("getrandom", last)])

    results = [result("instruction", "ccdd"), result("counter", "ffff"), result("instruction", "ccdd")]
    assert clones.table(results).splitlines()[2:] == [
        "| `counter` | 1 | none of 1 | - | - |",
        "| `instruction` | 2 | none of 2 | - | 1 ms |",
    ]


# ---- What is made for guests ----


def test_an_initramfs_is_an_archive_that_cpio_reads(tmp_path: Path) -> None:
    """Names, sizes and contents stand where the format has them, and each folder before what is in it."""
    data = cpio({"init": b"12345", "a/b/c": b""})
    found, at = {}, 0
    while True:
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        size, length = fields[6], fields[11]
        name = data[at + 110 : at + 110 + length - 1].decode()
        at += (110 + length + 3) // 4 * 4
        if name == "TRAILER!!!":
            break
        found[name] = data[at : at + size]
        at += (size + 3) // 4 * 4
    assert found == {"a": b"", "a/b": b"", "init": b"12345", "a/b/c": b""}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the guests' program is built for x86-64 only")
def test_a_guest_has_every_library_that_its_program_needs() -> None:
    names = {Path(path).name for path in libraries(BUILD / "dev" / "tests" / "clone_guest")}
    assert {"libcrypto.so.3", "libc.so.6", "ld-linux-x86-64.so.2"} <= names


def test_the_script_names_the_cases_and_refuses_others() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["/usr/bin/python3", "-m", "tests.support.clones", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert run("--list").stdout.split() == [case.name for case in CASES]
    assert len(BY_NAME) == len(CASES)
    refused = run("no-such-case")
    assert refused.returncode == 2
    assert "no such case: no-such-case; --list names them" in refused.stderr


def test_what_can_be_fetched_is_named() -> None:
    script = str(ROOT / "scripts" / "ci" / "guests.sh")
    result = subprocess.run([script, "sparc"], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "usage: guests.sh [x86_64|aarch64]" in result.stderr
