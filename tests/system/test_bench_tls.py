# SPDX-License-Identifier: Apache-2.0
"""scripts/bench/bench-tls.sh: what it reads out of ab's output, its arithmetic, and one short run on one server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.bench.tls import ab, report, run
from tests.bench.tls import servers as loaded
from tests.bench.tls.counters import LAYOUT, Counters, Drawn
from tests.bench.tls.figures import Spread, Step, highest, ratios, spread
from tests.bench.tls.workloads import HANDSHAKES, downloads
from tests.support.builds import BUILD, ROOT

MAX_PICTURE = 150_000

# ---- ab ----

# Of ab 2.3, shortened by what is not read.
SAID = """\
Benchmarking 127.0.0.1 (be patient).....done

SSL/TLS Protocol:       TLSv1.2,ECDHE-RSA-AES128-GCM-SHA256,2048,128
Document Path:          /page
Document Length:        6 bytes

Concurrency Level:      8
Time taken for tests:   2.500 seconds
Complete requests:      1500
Failed requests:        3
   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)
Non-2xx responses:      2
Total transferred:      351000 bytes
HTML transferred:       9000 bytes
Requests per second:    600.00 [#/sec] (mean)

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        2    5   3.8      5     151
Processing:     0    6   1.7      7      33
Waiting:        0    5   1.5      6      32
Total:          5   12   4.4     12     174
"""

NONE_SERVED = """\
Time taken for tests:   30.000 seconds
Complete requests:      0
Failed requests:        0
Total transferred:      0 bytes
HTML transferred:       0 bytes
"""


def test_what_ab_says() -> None:
    load = ab.parse(SAID)
    assert load == ab.Load(requests=1500, failed=5, seconds=2.5, transferred=9000, longest_ms=174)
    assert load.rate == 600
    assert load.throughput == 0.0036


def test_nothing_served_keeps_no_limit() -> None:
    load = ab.parse(NONE_SERVED)
    assert load.rate == 0
    assert not Step(1, load.rate, load.longest_ms, load.failed, 0).keeps_the_limit


def test_something_else_than_a_report_is_an_error() -> None:
    for text in ("", "apr_socket_connect(): Connection refused (111)", SAID.replace("Total: ", "All: ")):
        with pytest.raises(ab.AbError):
            ab.parse(text)


def test_clients_at_the_same_time() -> None:
    both = ab.combine([ab.Load(100, 1, 2.0, 500, 30), ab.Load(300, 0, 2.5, 700, 20)])
    assert both == ab.Load(400, 1, 2.5, 1200, 30)


def test_the_client_chooses_the_cipher() -> None:
    command = ab.command("https://127.0.0.1:1/page", HANDSHAKES[0], ["-n", "5"], 4)
    assert command[command.index("-Z") + 1] == "ECDHE-RSA-AES128-GCM-SHA256"
    assert command[command.index("-f") + 1] == "TLS1.2"
    assert "-k" not in command, "a new connection for every request"


# ---- The highest rate ----


def climb(*steps: tuple[float, float, int]) -> tuple[Step | None, int]:
    """The best of these rates, latencies and failures, and how many were tried."""
    tried = []

    def run_step(number: int) -> Step:
        tried.append(number)
        return Step(number, *steps[number], cpu_us=1)

    return highest(range(len(steps)), run_step), len(tried)


def test_the_highest_rate_that_keeps_the_limit() -> None:
    best, tried = climb((100, 50, 0), (200, 1999, 0), (300, 2000, 0), (400, 10, 0))
    assert best is not None
    assert (best.rate, tried) == (200, 3), "what comes after the limit is broken is not tried"


def test_a_failed_request_breaks_the_limit() -> None:
    best, _ = climb((100, 50, 0), (200, 50, 1))
    assert best is not None
    assert best.rate == 100


def test_it_stops_when_the_rate_falls_twice() -> None:
    best, tried = climb((100, 5, 0), (90, 5, 0), (110, 5, 0), (109, 5, 0), (108, 5, 0), (500, 5, 0))
    assert best is not None
    assert (best.rate, tried) == (110, 5)


def test_no_rate_keeps_the_limit() -> None:
    assert climb((100, 2500, 0), (200, 10, 0)) == (None, 1)


def test_a_repeat_that_one_side_lost_is_no_pair() -> None:
    """What is left are pairs of neighbours; where nothing is left, there is no result, and the report says so."""
    step, drawn = Step(8, 100, 100, 0, 400), {side: Drawn(5, 152, 20) for side in run.SIDES}
    pairs = {"built-in": [None, step, step], "drng": [step, None, step]}
    result = run.result("nginx", HANDSHAKES[0], pairs, drawn)
    assert result is not None
    assert [len(result["steps"][side]) for side in run.SIDES] == [1, 1]
    assert run.result("nginx", HANDSHAKES[0], {"built-in": [None], "drng": [step]}, drawn) is None


# ---- Ratios ----


def test_spread() -> None:
    assert spread([3, 1, 10]) == Spread(3, 1, 10)
    assert Spread(1, 0.987, 1.5).text() == "1.00 (0.99..1.50)"


def test_ratios_are_those_of_neighbours() -> None:
    """A machine that slows down for both in one repeat does not show."""
    assert ratios([100, 50, 210], [100, 50, 100]) == Spread(1, 1, 2.1)
    with pytest.raises(ValueError, match="zip"):
        ratios([1], [1, 2])


def test_draws_of_one_request(tmp_path: Path) -> None:
    file = tmp_path / "counters"
    counters = Counters(Path("library.so"), file)
    assert counters.read() == (0, 0, 0)
    file.write_bytes(LAYOUT.pack(60, 1700, 90000))
    assert counters.since((10, 700, 30000), 10) == Drawn(calls=5, bytes=100, us=6)


def steps(rates: list[float], cpu_us: list[float]) -> list[Step | None]:
    return [Step(8, rate, 100, 0, cpu) for rate, cpu in zip(rates, cpu_us, strict=True)]


def test_a_result_and_its_tables() -> None:
    result = run.result(
        "nginx",
        HANDSHAKES[1],
        {"built-in": steps([1000, 1000, 1000], [400, 400, 400]), "drng": steps([990, 1010, 1020], [400, 392, 396])},
        {"built-in": Drawn(5, 152, 20), "drng": Drawn(5, 152, 4)},
    )
    assert result["rate_ratio"] == {"median": 1.01, "low": 0.99, "high": 1.02}
    assert result["cpu_ratio"] == {"median": 0.99, "low": 0.98, "high": 1.0}
    assert result["share"] == {"built-in": 0.05, "drng": 4 / 396}
    machine = {"cpu": "X", "cpus": 4, "virtual": True, "load_before": 0.5, "openssl": "OpenSSL 3", "versions": ["n"]}
    text = report.markdown(
        {"machine": machine, "settings": {"repeats": 3, "seconds": 2}, "results": [result], "lost": []}
    )
    assert "| nginx | ECDHE-ECDSA | 1000 | 1010 | 1.01 (0.99..1.02) | 400 | 0.99 (0.98..1.00) |" in text
    assert "| nginx | ECDHE-ECDSA | 5.0 | 152 | 20.0 | 4.0 | 5.00% | 1.01% |" in text
    assert "MB/s" not in text, "no table without a line"


def test_downloads_of_each_size() -> None:
    workloads = downloads((1, 4))
    assert [w.title for w in workloads] == [
        "AES128-GCM-SHA256, 1 MB",
        "AES128-GCM-SHA256, 4 MB",
        "AES128-SHA, 1 MB",
        "AES128-SHA, 4 MB",
    ]
    assert workloads[1].path == "/4m"


# ---- A short run ----


@pytest.mark.parametrize("side", run.SIDES)
def test_a_server_on_the_wrong_generator_ends_it(monkeypatch: pytest.MonkeyPatch, side: str) -> None:
    module = BUILD / "release" / "drng.so"
    right, wrong = (module, None) if side == "drng" else (None, module)
    env = loaded.environment(wrong)
    monkeypatch.setattr(loaded, "environment", lambda _: env)
    cpus = sorted(os.sched_getaffinity(0))
    with (
        loaded.new_site((), cpus) as site,
        pytest.raises(loaded.WrongGeneratorError),
        loaded.running("nginx", side, site, cpus[0], right, {}),
    ):
        pass


def pictures_of(said: str) -> bool:
    """Whether there are pictures; a machine whose matplotlib does not load has none, and is told so."""
    probe = subprocess.run(["/usr/bin/python3", "-c", "import matplotlib.pyplot"], capture_output=True, check=False)
    assert ("No pictures: " in said) == (probe.returncode != 0)
    return probe.returncode == 0


def test_a_short_run(tmp_path: Path) -> None:
    command = [str(ROOT / "scripts" / "bench" / "bench-tls.sh"), "--quick", "--server", "nginx", "--repeats", "1"]
    result = subprocess.run(
        [*command, "--output", str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    found = json.loads((tmp_path / "tls.json").read_text())["results"]
    assert [r["workload"] for r in found] == [w.title for w in run.QUICK.workloads]
    for r in found:
        for side in run.SIDES:
            assert r["rate"][side]["median"] > 0
            assert r["drawn"][side]["calls"] > 1, "a random of the server's and a key at least"
            assert r["share"][side] > 0
    of = {r["workload"]: r["drawn"]["drng"] for r in found}
    assert of["AES128-SHA, 1 MB"]["calls"] > of["AES128-GCM-SHA256, 1 MB"]["calls"] + 50, "an IV for each record"
    assert (tmp_path / "tls.md").read_text() in result.stdout
    for name in ("tls-ratios", "tls-shares") if pictures_of(result.stdout) else ():
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        for suffix in ("png", "svg"):
            assert (tmp_path / f"{name}.{suffix}").stat().st_size < MAX_PICTURE
