# SPDX-License-Identifier: Apache-2.0
"""The collector's files: what an auditor's tools read."""

import subprocess
from pathlib import Path

from tests.support.builds import BUILD, ROOT, said_by

COLLECTOR = BUILD / "dev" / "tests" / "collect_raw"
SCRIPTED = BUILD / "dev" / "tests" / "collect_raw_scripted"


def collect(program: Path, cpu: str, stage: str, count: int) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([str(program), cpu, stage, str(count)], capture_output=True, check=False)


def stages_of_this_cpu() -> list[str]:
    return [s for s in ("rdseed", "rdrand", "drbg") if collect(COLLECTOR, "hardware", s, 8).returncode == 0]


def test_files_for_nists_tool(tmp_path: Path) -> None:
    said_by(ROOT / "scripts" / "evidence" / "collect-raw", tmp_path, "5000", "20")
    for stage in stages_of_this_cpu():
        samples = (tmp_path / f"{stage}.bin").read_bytes()
        assert len(samples) == 5000
        assert len(set(samples)) == 256
        assert (tmp_path / f"{stage}.bin").stat().st_mode & 0o077 == 0
        if stage != "drbg":
            restarts = (tmp_path / f"{stage}.restarts.bin").read_bytes()
            assert len(restarts) == 400
            assert len({restarts[i : i + 20] for i in range(0, 400, 20)}) == 20, "two restarts gave the same"


def test_a_cpu_without_the_instruction_is_said_to_be() -> None:
    for stage in {"rdseed", "rdrand"} - set(stages_of_this_cpu()):
        assert b"has no instruction" in collect(COLLECTOR, "hardware", stage, 8).stderr
    assert collect(COLLECTOR, "good", "rdseed", 8).returncode == 2
    assert collect(SCRIPTED, "hardware", "rdseed", 8).returncode == 2


def test_health_tests_stop_what_counts_and_not_what_is_biased() -> None:
    """Why raw words are assessed: conditioned, the biased ones pass."""
    stopped = collect(SCRIPTED, "counting", "seed-rdrand", 1000)
    assert stopped.returncode == 1
    assert b"failed the repetition count test" in stopped.stderr
    assert stopped.stdout == b""
    assert len(collect(SCRIPTED, "biased", "seed-rdrand", 1000).stdout) == 1000
