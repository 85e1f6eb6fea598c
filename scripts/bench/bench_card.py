#!/usr/bin/python3 -Es
"""One row for the table of machines in docs/performance-tables.md, of what `bench.sh --card` has measured.

    bench_card.py card.json tls.json

Times are medians, of the built-in generator and of drng, each for one request of RAND_bytes by one thread; the last of
them is drng's for a request that takes in a fresh word. A seed has 384 bits. The share is that of the generator in the
CPU time of a handshake: nginx, TLS 1.3, ECDSA.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_report import BASE, Key, Report, cpu_model, markdown, ns_text, report_of, request_key, size_text

SIZES = (16, 1024, 65536)
HEADER = (
    "date",
    "CPU",
    "kernel",
    "libcrypto",
    *(f"{size_text(size)}: built-in, drng" for size in SIZES),
    "16 B, mixed",
    "seeds a second",
    "share of a handshake: built-in, drng",
    "load before",
)


def pair(report: Report, size: int) -> str:
    return ", ".join(ns_text(report.cpu[request_key(way, size)].median) for way in (BASE, "drng"))


def seeds(report: Report) -> str:
    """Of each instruction, as drng makes them one after the other."""
    keys = sorted(key.way for key in report.cpu if key.group == "seed" and key.what == "drng")
    rates = [f"{1e9 / report.cpu[Key('seed', way, 'drng')].median:.0f} of {way}" for way in keys]
    return ", ".join(rates) or "none"


def share(tls: Mapping[str, Any]) -> str:
    for result in tls["results"]:
        if result["workload"] == "TLS 1.3, ECDSA" and result["kind"] == "connections":
            return ", ".join(f"{result['share'][side]:.1%}" for side in ("built-in", "drng"))
    return "not measured"


def row(report: Report, tls: Mapping[str, Any], date: str, kernel: str) -> tuple[str, ...]:
    context = report.context
    load = f"{context['load_avg'][0]:.1f}" if context.get("load_avg") else "unknown"
    cpu = context["cpu"] if context["cpu"] != "unknown" else cpu_model()
    mixed = report.cpu.get(request_key("drng-mixing", SIZES[0]))
    return (
        date,
        f"{cpu}, {context['num_cpus']} CPUs; {context['aes']}",
        kernel,
        " ".join(context["openssl"].split()[:2]),
        *(pair(report, size) for size in SIZES),
        ns_text(mixed.median) if mixed else "not measured",
        seeds(report),
        share(tls),
        load,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=Path, help="what bench.sh --card left in build/bench")
    parser.add_argument("tls", type=Path, help="what bench-tls.sh left beside it")
    arguments = parser.parse_args()
    report = report_of(json.loads(arguments.json.read_text()))
    tls = json.loads(arguments.tls.read_text())
    print(markdown(HEADER, [row(report, tls, time.strftime("%Y-%m-%d", time.gmtime()), platform.release())]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
