"""The benchmark: what its scripts make of figures, and that its programs run.

What they measure here means nothing: a test machine is a busy one, and the runs are as short as can be.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

import bench_card as card
import bench_contexts as contexts
import bench_profile as profile
import bench_report as report
import bench_scaling as scaling
import bench_threads as threads
import bench_versions as versions
from tests.bench import guests as rig
from tests.support.builds import BUILD, ROOT, need

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
    assert cells(report.ratio_table(found), "drng") == ["drng", "0.25 ±0.00"]
    assert cells(report.time_table(found), "drng") == ["drng", "100 ns"]
    assert cells(report.thread_table(found), "drng")[:2] == ["drng", "2.00 ±0.00"]


def test_what_was_not_measured_is_an_empty_cell() -> None:
    found = report_of(
        row("bytes/CTR-DRBG/16/real_time/threads:1", 4, 4), row("bytes/drng/32/real_time/threads:1", 1, 1)
    )
    assert cells(report.ratio_table(found), "drng") == ["drng", "", ""]


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


# ---- bench_scaling.py: arithmetic ----


def share(rate: float, failed: int = 0) -> Any:
    """A process that got so many Kibit/s for two seconds."""
    return scaling.Share(
        bytes=int(rate * 1024 / 8 * 2), seconds=2, cpu_seconds=1, missed=0, fips_passed=10, fips_failed=failed
    )


RUNS = {1: [share(100)], 2: [share(90), share(110)], 4: [share(75), share(50), share(60), share(65)]}


def test_rates_are_kibibits_a_second() -> None:
    assert share(64).rate == 64
    assert scaling.mean_rate(RUNS[2]) == 100
    assert scaling.total_rate(RUNS[4]) == 250


def test_a_second_of_cpu_time_is_not_a_second() -> None:
    assert scaling.cpu_rate(RUNS[2]) == 200
    assert scaling.cpu_rate([]) == 0


def test_the_model_is_flat_until_the_total_is_reached() -> None:
    assert [scaling.model(RUNS, n) for n in (1, 2, 4, 10)] == [100, 100, 62.5, 25]


def test_fairness_is_the_slowest_over_the_fastest() -> None:
    assert scaling.fairness(RUNS[1]) == 1
    assert scaling.fairness(RUNS[4]) == 50 / 75
    assert scaling.fairness([share(0), share(0)]) == 0


def test_runs_survive_json() -> None:
    assert scaling.from_json(json.loads(json.dumps(scaling.to_json({"seeds": RUNS}, 2, 0.5)))) == {"seeds": RUNS}


def test_failed_blocks_are_counted() -> None:
    runs = {1: [share(100, failed=1)], 2: [share(50, failed=3), share(50)]}
    assert cells("\n".join("| " + " | ".join(r) + " |" for r in scaling.rows("seeds", runs)), "seeds")[7] == "1 of 11"
    assert "4 of 34 blocks failed" in scaling.fips_text({"seeds": runs})


def test_the_tables_tell_the_machine_and_its_load() -> None:
    text = scaling.tables({"seeds": RUNS}, {"cpu": "a CPU", "num_cpus": 2, "load": 0.25, "seconds": 1})
    assert text.startswith("a CPU, 2 CPUs, load average 0.2 before; 1 s each.\n")
    assert "| seeds  | 4 " in text


def test_rngtest_is_understood() -> None:
    text = "rngtest: FIPS 140-2 successes: 1196\nrngtest: FIPS 140-2 failures: 3\n"
    assert scaling.parse_rngtest(text) == (1196, 3)
    with pytest.raises(ValueError, match="no summary"):
        scaling.parse_rngtest("rngtest: starting FIPS tests...\n")


# ---- bench_profile.py: arithmetic ----

CALLGRIND = """\
version: 1
positions: line
events: Ir

ob=/usr/lib/libcrypto.so.3
fl=???
fn=0x00001234
0 30

ob=/build/drng.so
fl=drbg.c
fn=generate
7 100
cob=/usr/lib/libcrypto.so.3
cfn=0x00001234
calls=2 0
8 5000
9 11
fn=recurse'2
1 4
"""


def test_a_function_costs_what_its_own_lines_do() -> None:
    """And not what those cost that it calls."""
    assert profile.self_costs(CALLGRIND.splitlines()) == {
        profile.Function("libcrypto.so.3", ""): 30,
        profile.Function("drng.so", "generate"): 111,
        profile.Function("drng.so", "recurse"): 4,
    }


def test_the_profile_is_dearest_first() -> None:
    one = {profile.Function("drng.so", "a"): 5.0, profile.Function("libc.so.6", "b"): 0.4}
    two = {profile.Function("drng.so", "a"): 6.0, profile.Function("libc.so.6", "b"): 20.0}
    lines = profile.table({"one": one, "two": two}).splitlines()
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]] == [
        ["libc.so.6", "b", "", "20"],
        ["drng.so", "a", "5", "6"],
        ["all", "", "5", "26"],
    ]
    assert profile.by_file({**two, profile.Function("libc.so.6", "c"): 1.0}) == {
        profile.Function("drng.so", "a"): 6,
        profile.Function("libc.so.6", ""): 21,
    }


# ---- bench_versions.py, bench_contexts.py, bench_threads.py: arithmetic ----


def test_the_wall_time_begins_before_the_process() -> None:
    assert versions.parse("1500 300 40.5 50\n", begun=1000) == versions.Run(500, 300, (40.5, 50))


def test_random_provider_is_measured_where_openssl_has_it() -> None:
    had = {
        v: versions.Libcrypto(v, "", ()).has("random_provider") for v in ("3.0.19", "3.4.1", "3.5.0", "3.10.0", "4.0.2")
    }
    assert had == {"3.0.19": False, "3.4.1": False, "3.5.0": True, "3.10.0": True, "4.0.2": True}
    assert versions.Libcrypto("3.0.19", "", ()).has("drng, batch")


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


def test_few_contexts_or_threads_show_no_memory() -> None:
    runs = [[100.0, 10.0, 5.0, 900.0, 300.0], [300.0, 30.0, 7.0, 1100.0, 500.0], [200.0, 20.0, 6.0, 1000.0, 400.0]]
    assert contexts.row("drng", 1000, runs) == ["1,000", "drng", "200 ns", "20 ns", "6 ns", "1000", "400"]
    assert contexts.row("drng", 10, runs)[5:] == ["", ""]
    assert threads.row(100, runs) == ["100", "200 ns", "20 ns", "6 ns", "1000 ns", "400"]
    assert threads.row(10, runs)[-1] == ""


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


@pytest.mark.parametrize("way", ["built-in", "drng", "drng, batch"])
def test_each_way_to_measure_a_version_and_contexts_runs(way: str) -> None:
    here = versions.libcrypto_in(None)
    run = versions.run(here, versions.WAYS[way], 10, (16, 1024))
    assert run.first_wall > 0 and run.first_cpu > 0 and len(run.requests) == 2 and min(run.requests) > 0
    made, drawn, freed, _, _ = contexts.measure(way, 20)
    assert min(made, drawn, freed) > 0


def test_threads_are_measured() -> None:
    assert len(threads.measure(2)) == 5


def test_processes_draw_at_once(tmp_path: Path) -> None:
    """From the default source, which every machine has."""
    source = scaling.Source("seeds", "DRNG-SEED", 48, "")
    shares = scaling.measure(source, scaling.write_config(source, tmp_path / "openssl.cnf"), 2, 0.05, 1)
    assert len(shares) == 2
    for got in shares:
        assert got.bytes > 0
        assert got.seconds >= 0.05
        assert got.cpu_seconds > 0
        assert got.fips_passed + got.fips_failed == (1 if got.bytes >= scaling.FIRST + scaling.BLOCK else 0)


def test_a_generator_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    source = scaling.Source("none", "NO-SUCH-RAND", 48, "")
    with pytest.raises(RuntimeError, match=r"unsupported|fetch"):
        scaling.measure(source, scaling.write_config(source, tmp_path / "openssl.cnf"), 1, 0.05, 1)


def test_pictures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="python3-matplotlib is not installed; scripts/bench.sh installs it")
    names = [("CTR-DRBG", 4), ("drng", 1), ("AES-256-CTR", 1)]
    found = report_of(*(row(f"bytes/{way}/{s}/real_time/threads:1", t * s, t) for way, t in names for s in (16, 1024)))
    prefix = str(tmp_path / "picture")
    runs = {"seeds": RUNS}
    paths = [*report.draw_requests(found, prefix), *report.draw_ratios(found, prefix)]
    paths += [*scaling.draw_means(runs, prefix), *scaling.draw_shares(runs, prefix)]
    assert len(paths) == 8
    for path in paths:
        assert path.read_bytes().startswith((b"\x89PNG", b"<?xml")), path


# ---- bench_card.py ----


def card_report() -> Any:
    times = {"CTR-DRBG": 800.0, "drng": 200.0}
    rows = [row(f"bytes/{way}/{size}/real_time", ns * size, 1) for way, ns in times.items() for size in card.SIZES]
    rows += [row("bytes/drng-mixing/16/real_time", 300, 1), row("seed/rdseed/drng", 20000, 1)]
    return report_of(*rows, row("seed/rdseed/back-to-back", 10000, 1))


def test_a_card_is_one_row_with_every_figure() -> None:
    tls = {
        "results": [{"kind": "connections", "workload": "TLS 1.3, ECDSA", "share": {"built-in": 0.04, "drng": 0.01}}]
    }
    cells = card.row(card_report(), tls, "2000-01-02", "6.1.0")
    assert len(cells) == len(card.HEADER)
    assert cells[:4] == ("2000-01-02", "a CPU, 2 CPUs; AES-NI", "6.1.0", "OpenSSL 3.0.0")
    assert cells[4:7] == ("12.8 us, 3200 ns", "819.2 us, 204.8 us", "52.43 ms, 13.11 ms")
    assert cells[7:] == ("300 ns", "50000 of rdseed", "4.0%, 1.0%", "unknown")


def test_a_card_says_what_was_not_measured() -> None:
    assert card.row(card_report(), {"results": []}, "", "")[9] == "not measured"
    bare = report_of(*(row(f"bytes/{w}/{s}/real_time", 1, 1) for w in ("CTR-DRBG", "drng") for s in card.SIZES))
    assert card.row(bare, {"results": []}, "", "")[7:9] == ("not measured", "none")


def test_the_table_of_machines_has_the_rows_that_the_script_prints() -> None:
    section = (
        (ROOT / "docs" / "performance-tables.md").read_text().partition("\n## Machines\n")[2].partition("\n## ")[0]
    )
    head, _, *rows = [line for line in section.splitlines() if line.startswith("|")]
    assert tuple(cell.strip() for cell in head.strip("|").split("|")) == card.HEADER
    assert rows
    for line in rows:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == len(card.HEADER)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", cells[0])


# ---- bench_scaling.py --guests ----


def test_what_guests_say_becomes_shares_beside_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "judge", lambda sample: (len(sample), 0))
    drawn = {"bytes": 2048, "seconds": 2.0, "cpu_seconds": 1.0, "missed": 1, "sample": "00ff00"}
    runs = scaling.guest_runs({"accelerator": "tcg", "sources": {"rdseed": {"1": [drawn], "2": [drawn, drawn]}}})
    ((name, by_count),) = runs.items()
    assert name == "seeds from RDSEED, TCG, QEMU's own CPU", "TCG is named as such"
    assert {count: len(shares) for count, shares in by_count.items()} == {1: 1, 2: 2}
    assert by_count[2][1] == scaling.Share(2048, 2.0, 1.0, 1, 3, 0)
    text = scaling.tables(runs, {"cpu": "c", "num_cpus": 2, "load": 1.0, "seconds": 2.0})
    assert "| seeds from RDSEED, TCG, QEMU's own CPU | 2 |" in text


def test_a_sample_of_a_guest_is_judged_by_rngtest() -> None:
    need("rngtest")
    assert scaling.judge(bytes(scaling.FIRST + 2 * scaling.BLOCK)) == (0, 2)
    assert scaling.judge(b"") == (0, 0)


class Saying:
    """Stands for QEMU: says these bytes on the guest's serial port."""

    def __init__(self, said: bytes) -> None:
        read, write = os.pipe()
        os.write(write, said)
        os.close(write)
        self.stdout, self.stdin = os.fdopen(read, "rb"), io.BytesIO()


def test_a_guest_is_read_past_what_its_kernel_says() -> None:
    said = b"[    0.1] booting\r\nready\r\n\r\n[    2.0] clock\r\n96 1000000000 500000000 1\r\nab\r\ncdef\r\n"
    guest = rig.Guest(Saying(said))  # type: ignore[arg-type]
    guest.wait_for("ready", 5)
    assert guest.drawn(0, 3) == {"bytes": 96, "seconds": 1.0, "cpu_seconds": 0.5, "missed": 1, "sample": ""}
    assert guest.take_sample(3) == "abcdef"
    with pytest.raises(rig.GuestError, match="ended before"):
        guest.wait_for("more", 5)


def test_two_guests_draw_at_once() -> None:
    """On whatever accelerator there is."""
    if not (BUILD / "guests" / "fetched-x86_64").exists():
        pytest.skip("QEMU and kernels are not there: scripts/ci/guests.sh fetches them")
    with tempfile.TemporaryDirectory() as directory:
        initrd = Path(directory) / "initrd"
        initrd.write_bytes(rig.initramfs("rdseed"))
        shares = rig.measure(2, "tcg", initrd, 0.2, 96)
    assert len(shares) == 2
    assert all(share["bytes"] > 0 and share["bytes"] % rig.REQUEST == 0 for share in shares)
    assert len({share["sample"] for share in shares}) == 2, "each has bytes of its own"
