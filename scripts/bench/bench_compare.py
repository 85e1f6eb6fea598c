#!/usr/bin/python3 -Es
"""What requests take with this tree's module, beside another build of it.

    bench_compare.py OTHER    OTHER: the folder of another drng.so

Prints a table, and leaves it in build/bench/bench-compare.md: the median time of the other build, and the ratio of this
one's to it. Both run in one process, in turns, so that a change of the CPU's clock or of the load affects both alike.
The ratio's spread is that between the quartiles of its runs. Request mixing is off.
"""

from __future__ import annotations

import datetime
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench_report import cpu_model, markdown, ns_text, size_text

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
PROGRAM = BUILD / "tests" / "bench" / "compare"

CONFIG = """openssl_conf = init
[init]
providers = providers
[providers]
default = default_section
drng = drng_section
[default_section]
activate = 1
[drng_section]
module = {}/drng.so
activate = 1
request_mixing = no
"""
Runs = dict[str, list[tuple[float, float]]]


def read(lines: Iterable[str]) -> Runs:
    """The runs of each kind of request, (other, this) each."""
    runs: Runs = {}
    for line in lines:
        name, other, this = line.split()
        runs.setdefault(name, []).append((float(other), float(this)))
    return runs


def request_text(name: str) -> str:
    key_len, input_len, size = map(int, name.split("/"))
    if key_len == 0:
        return f"random_bytes, {size_text(size)}"
    additional = f", {input_len} B of additional input" if input_len else ""
    return f"EVP_RAND, AES-{8 * key_len}, {size_text(size)}{additional}"


def cells(name: str, runs: list[tuple[float, float]]) -> list[str]:
    low, middle, high = statistics.quantiles((this / other for other, this in runs), n=4)
    before = statistics.median(other for other, _ in runs)
    return [request_text(name), ns_text(before), f"{middle:.2f} ±{(high - low) / 2:.2f}"]


def measure(other: Path) -> Runs:
    with tempfile.TemporaryDirectory() as folder:
        configs = [Path(folder) / "other.cnf", Path(folder) / "this.cnf"]
        for config, module in zip(configs, (other, BUILD), strict=True):
            config.write_text(CONFIG.format(module))
        result = subprocess.run([PROGRAM, *configs], capture_output=True, text=True, check=True)
    return read(result.stdout.splitlines())


def main() -> int:
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "drng.so").is_file():
        print("usage: bench_compare.py OTHER, a folder with a drng.so", file=sys.stderr)
        return 64
    subprocess.run([ROOT / "scripts" / "bench.sh", "--build"], check=True)
    runs = measure(Path(sys.argv[1]).resolve())
    table = markdown(("request", "before", "now / before"), (cells(*item) for item in runs.items()))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    text = f"{cpu_model()}, {os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f}, {today}.\n\n{table}\n"
    print(text)
    (BUILD / "bench-compare.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
