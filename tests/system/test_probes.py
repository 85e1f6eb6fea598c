# SPDX-License-Identifier: Apache-2.0
"""The probes fire, with the arguments that docs/tracing.md gives them: seen by bpftrace in test programs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT

PROGRAMS = BUILD / "dev" / "tests"
ONE_LINER = re.compile(r"^    bpftrace -e '(usdt:\S+:drng:([a-z_]+) .*)'$", re.MULTILINE)


def one_liners() -> dict[str, str]:
    """From the documentation: what its reader types, by probe."""
    return {name: script for script, name in ONE_LINER.findall((ROOT / "docs" / "tracing.md").read_text())}


def test_each_probe_has_a_one_liner() -> None:
    assert set(one_liners()) == {"seed", "reseed", "fallback", "health_failure", "fork"}


def usable(program: Path) -> None:
    if shutil.which("bpftrace") is None:
        pytest.skip("bpftrace is not installed; the notes in the module are tested all the same")
    if os.geteuid() != 0:
        pytest.skip("tracing takes root")
    if ".note.stapsdt" not in subprocess.run(["readelf", "-S", "-W", program], capture_output=True, text=True).stdout:
        pytest.skip("built without sys/sdt.h")


@contextlib.contextmanager
def tracing(program: Path) -> Iterator[list[str]]:
    """All one-liners on this program; the list has what they printed once the block has ended."""
    scripts = [re.sub(r"usdt:[^:]+:", f"usdt:{program}:", script) for script in one_liners().values()]
    script = 'BEGIN { printf("attached\\n"); } ' + " ".join(scripts)
    printed: list[str] = []
    with subprocess.Popen(
        ["bpftrace", "-B", "line", "-e", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        started = ""
        for line in process.stdout:
            started += line
            if line == "attached\n":
                break
        else:
            assert process.stderr is not None
            pytest.skip(f"bpftrace cannot trace here: {(process.stderr.read() or started).strip()}")
        yield printed
        process.send_signal(signal.SIGINT)
        printed += process.communicate(timeout=60)[0].splitlines()


def test_seeds_fallback_and_health_failures_are_traced() -> None:
    program = PROGRAMS / "provider_failing_cpu"
    usable(program)
    with tracing(program) as lines:
        subprocess.run([program], cwd=ROOT / "tests", capture_output=True, check=True)
    text = "\n".join(lines)
    assert re.search(r"^provider_failin [0-9]+: [0-9]+ bytes of seed from source 1$", text, re.MULTILINE)
    assert re.search(r"^provider_failin [0-9]+: [0-9]+ bytes of seed from the fallback$", text, re.MULTILINE)
    assert re.search(r"^provider_failin [0-9]+: RDSEED failed the repetition count test$", text, re.MULTILINE)


def test_reseeds_and_forks_are_traced() -> None:
    program = PROGRAMS / "provider_stats"
    usable(program)
    with tracing(program) as lines:
        subprocess.run([program], cwd=ROOT / "tests", capture_output=True, check=True)
    assert any(re.fullmatch(r"provider_stats [0-9]+: generator of 256 bits reseeded", line) for line in lines)
    forks = [line for line in lines if re.fullmatch(r"provider_stats [0-9]+: drawing after fork 1", line)]
    # By fork() and by clone(), on this kernel and on an old one.
    assert len(forks) == 4
    assert len(set(forks)) == 4
