# SPDX-License-Identifier: Apache-2.0
"""The benchmark: what its scripts make of figures, and that its programs run.

What they measure here means nothing: a test machine is a busy one, and the runs are as short as can be.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import bench_report as report
import bench_versions as versions
import tables
from tests.support.builds import BUILD

PROGRAMS = BUILD / "bench" / "tests" / "bench"


# ---- bench_report.py: arithmetic ----


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        ("processor\t: 0\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor\n", "Intel(R) Xeon(R) Processor"),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
        ("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n", "m, implementer 0x41, part 0xd40"),
        ("vendor_id       : IBM/S390\n", "unknown CPU (m)"),
    ],
)
def test_the_cpu_is_named_as_the_kernel_names_it(cpuinfo: str, model: str) -> None:
    assert report.cpu_model(cpuinfo, "m") == model


def row(name: str, cpu: float, real: float, threads: int = 1, **more: Any) -> dict[str, Any]:
    """As Google Benchmark writes it."""
    head = {"name": name, "run_name": name, "run_type": "iteration", "threads": threads, "time_unit": "ns"}
    return {**head, "cpu_time": cpu, "real_time": real, **more}


def report_of(*rows: dict[str, Any]) -> Any:
    context = {"cpu": "a CPU", "num_cpus": 2, "openssl": "OpenSSL 3.0.0 1 Jan 2000", "aes": "AES-NI"}
    return report.report_of({"context": context, "benchmarks": list(rows)})


def test_a_figure_is_the_median_and_the_quartiles() -> None:
    assert report.figure([5, 1, 4, 2, 3]) == report.Figure(3, 2, 4)
    assert report.figure([7]) == report.Figure(7, 7, 7)


def test_one_outlier_moves_no_median() -> None:
    assert report.figure([10, 10, 10, 10, 1e9]).median == 10


def test_a_ratio_spreads_over_both_quartiles() -> None:
    ratio = report.ratio(report.Figure(10, 8, 12), report.Figure(40, 32, 48))
    assert ratio == report.Ratio(0.25, 8 / 48, 12 / 32)
    assert str(ratio) == "0.25 ±0.10"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("bytes/drng-mixing/65536/real_time/threads:2", ("bytes", "drng-mixing", "65536")),
        ("seed/rdrand/back-to-back", ("seed", "rdrand", "back-to-back")),
        ("thread/drng/first-byte/manual_time", ("thread", "drng", "first-byte")),
        ("process/drng/iterations:20/real_time", ("process", "drng", "")),
    ],
)
def test_names_are_taken_apart(name: str, key: tuple[str, str, str]) -> None:
    assert report.key_of(name, 2) == report.Key(*key, 2)


def test_units_are_ns_and_aggregates_are_left_aside() -> None:
    found = report_of(
        row("seed/rdrand/drng", 2, 3, time_unit="us"), row("seed/rdrand/drng", 9, 9, run_type="aggregate")
    )
    assert found.cpu == {report.Key("seed", "rdrand", "drng"): report.Figure(2000, 2000, 2000)}
    assert found.wall == {report.Key("seed", "rdrand", "drng"): report.Figure(3000, 3000, 3000)}


def test_a_benchmark_that_failed_is_no_figure() -> None:
    with pytest.raises(ValueError, match="no byte"):
        report_of(row("thread/drng/first-byte", 0, 0, error_occurred=True, error_message="no byte"))


def cells(table: str, head: str) -> list[str]:
    """The cells of the row that begins like this."""
    line = next(line for line in table.splitlines() if line.startswith(f"| {head} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_requests_are_compared_by_cpu_time_and_threads_by_wall_time() -> None:
    found = report_of(
        row("bytes/CTR-DRBG/32/real_time/threads:1", 400, 800),
        row("bytes/drng/32/real_time/threads:1", 100, 600),
        row("bytes/drng/32/real_time/threads:2", 100, 300, threads=2),
    )
    assert cells(report.request_table(found), "CTR-DRBG") == ["CTR-DRBG", "400 ns"]
    assert cells(report.request_table(found), "drng") == ["drng", "100 ns, 0.25 ±0.00"]
    assert cells(report.thread_table(found), "drng")[:2] == ["drng", "2.00 ±0.00"]


def test_what_was_not_measured_is_an_empty_cell() -> None:
    found = report_of(
        row("bytes/CTR-DRBG/16/real_time/threads:1", 4, 4), row("bytes/drng/32/real_time/threads:1", 1, 1)
    )
    assert cells(report.request_table(found), "CTR-DRBG") == ["CTR-DRBG", "4 ns", ""]
    assert cells(report.request_table(found), "drng") == ["drng", "", "1 ns"]


def test_seeds_threads_and_processes_have_their_own_bases() -> None:
    found = report_of(
        row("seed/rdrand/back-to-back", 100, 1),
        row("seed/rdrand/drng", 105, 1),
        row("thread/CTR-DRBG/first-byte/manual_time", 1, 200),
        row("thread/drng/first-byte/manual_time", 1, 100),
        row("process/CTR-DRBG/real_time", 1, 4e6),
        row("process/drng/real_time", 1, 5e6),
    )
    table = report.other_table(found)
    assert cells(table, "seed rdrand drng")[1:] == ["105 ns", "100 ns (back-to-back)", "1.05 ±0.00"]
    assert cells(table, "thread drng first-byte")[1:] == ["100 ns", "200 ns (CTR-DRBG)", "0.50 ±0.00"]
    assert cells(table, "process drng")[1:] == ["5.00 ms", "4.00 ms (CTR-DRBG)", "1.25 ±0.00"]


def test_a_table_says_its_cpu_and_its_version_and_that_of_another_cpu_stays() -> None:
    assert re.fullmatch(
        r"Big CPU: drng \d+\.\d+\.\d+( before its release)?, \d\d \w+ \d{4}", report.measured_with("Big CPU")
    )
    old = "Big CPU: drng 1.0, then; x.\n\n| a |\n\nBig CPU 2: drng 1.0, then; y.\n\n| b |"
    new = "Big CPU: drng 2.0, now; z.\n\n| c |"
    assert tables.beside_other_cpus(old, new) == f"Big CPU 2: drng 1.0, then; y.\n\n| b |\n\n{new}"
    assert tables.beside_other_cpus(old, "| no CPU |") == "| no CPU |"


# ---- bench_versions.py: arithmetic ----


def test_the_wall_time_begins_before_the_process() -> None:
    assert versions.parse("1500 300 40.5 50\n", begun=1000) == versions.Run(500, 300, (40.5, 50))


def test_random_provider_is_measured_where_openssl_has_it() -> None:
    had = {
        v: versions.Libcrypto(v, "", ()).has("random_provider") for v in ("3.0.19", "3.4.1", "3.5.0", "3.10.0", "4.0.2")
    }
    assert had == {"3.0.19": False, "3.4.1": False, "3.5.0": True, "3.10.0": True, "4.0.2": True}
    assert versions.Libcrypto("3.0.19", "", ()).has("drng, mixing")


def test_a_version_is_compared_with_the_built_in_generator_of_its_own_rounds() -> None:
    built_in = [versions.Run(2000, 1000, (100.0,)), versions.Run(4000, 2000, (400.0,))]
    ours = [versions.Run(1000, 500, (50.0,)), versions.Run(2000, 1000, (200.0,))]
    found = {"built-in": built_in, "drng": ours}
    assert versions.request_rows("3.0", found) == [
        ["3.0", "built-in", "250 ns"],
        ["3.0", "drng", "125 ns, 0.50 ±0.00"],
    ]
    assert versions.first_rows("3.0", found)[1] == ["3.0", "drng", "750 ns, 0.50 ±0.00", "1500 ns, 0.50 ±0.00"]


def test_a_library_s_version_is_read_out_of_it(tmp_path: Path) -> None:
    library = tmp_path / "libcrypto.so.3"
    library.write_bytes(b"\x7fELF\0OpenSSL 3.5.7 9 Jun 2026\0OpenSSL default\0")
    assert versions.version_of(library) == "3.5.7"
    library.write_bytes(b"\x7fELF\0")
    with pytest.raises(ValueError, match="no version"):
        versions.version_of(library)


# ---- The programs ----


def test_the_driver_knows_every_way_and_size() -> None:
    program = PROGRAMS / "bench"
    assert program.exists(), "scripts/test.sh builds it"
    listing = subprocess.run([program, "--benchmark_list_tests"], capture_output=True, text=True, check=True).stdout
    for way in ("CTR-DRBG", "HASH-DRBG", "HMAC-DRBG", "drng", "drng-mixing", "floor", "getrandom", "AES-256-CTR"):
        for size in (16, 32, 64, 256, 1 << 10, 1 << 14, 1 << 16, 1 << 20):
            assert f"bytes/{way}/{size}/real_time/threads:1\n" in listing
    assert "thread/drng/first-byte" in listing
    assert "process/drng/" in listing


def test_the_driver_measures(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    filters = "^bytes/(CTR-DRBG|drng|floor)/16/real_time/threads:1$|^thread/drng/first|^seed/"
    command = [
        PROGRAMS / "bench",
        f"--benchmark_out={out}",
        "--benchmark_out_format=json",
        "--benchmark_min_time=0.001",
    ]
    options = [f"--benchmark_filter={filters}", "--benchmark_repetitions=3"]
    options.append("--benchmark_enable_random_interleaving=true")
    result = subprocess.run([*command, *options], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    found = report.report_of(json.loads(out.read_text()))
    for way in ("CTR-DRBG", "drng", "floor"):
        assert found.cpu[report.request_key(way, 16)].median > 0
    assert found.wall[report.Key("thread", "drng", "first-byte")].median > 0
    assert "drng" in report.tables(found)


@pytest.mark.parametrize("way", ["built-in", "drng", "drng, mixing"])
def test_each_way_to_measure_a_version_runs(way: str) -> None:
    here = versions.libcrypto_in(None)
    run = versions.run(here, versions.WAYS[way], 10, (16, 1024))
    assert run.first_wall > 0 and run.first_cpu > 0 and len(run.requests) == 2 and min(run.requests) > 0
