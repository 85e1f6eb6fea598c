# SPDX-License-Identifier: Apache-2.0
"""What costs.py measured: a table and two pictures for each server."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import pictures
from .costs import BASE, SIDES
from .interval import Interval

OURS = tuple(side for side in SIDES if side != BASE)
COLOURS = {BASE: "#8a8f98", "drng": "#1f6fb4", "mixing": "#c0622d", "batch": "#3c8d40"}


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(head: tuple[str, ...], rows: Iterable[Iterable[str]]) -> list[str]:
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return [_row(head), _row(rule), *map(_row, rows)]


def servers_of(report: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(r["server"] for r in report["results"]))


def _ratio(r: dict[str, Any], side: str) -> str:
    text = Interval(**r["ratio"][side]).text()
    counted = r["instruction_ratio"].get(side)
    return text if counted is None else f"{text}; {Interval(**counted).text()}"


def _result(r: dict[str, Any]) -> list[str]:
    said = "" if r["precise"] else "no"
    noise = f"{r['noise']:.0%}"
    cpu = f"{r['cpu_us'][BASE]:.0f}"
    return [r["row"], str(r["workers"]), cpu, *(_ratio(r, side) for side in OURS), str(r["rounds"]), noise, said]


def server_table(report: dict[str, Any], server: str) -> list[str]:
    head = (server, "workers", f"{BASE}, µs", *OURS, "rounds", "others", "precise")
    return _table(head, (_result(r) for r in report["results"] if r["server"] == server))


def markdown(report: dict[str, Any]) -> str:
    m, s = report["machine"], report["settings"]
    results = report["results"]
    loud = max((r["load"] for r in results), default=0)
    imprecise = sum(not r["precise"] for r in results)
    counted = any(r["instruction_ratio"] for r in results)
    unit = "; then that of instructions" if counted else "; instructions cannot be counted here"
    lines = [
        f"{m['cpu']}, {m['cpus']} CPUs{', a virtual machine' if m['virtual'] else ''}; {m['openssl']};"
        f" {'; '.join(m['versions'])}. {s['seconds']} s for each server in a round, {s['minutes']:.0f} minutes in all.",
        "",
        "CPU time of a request with OpenSSL's own generator, and the ratio to it with the 95% interval of its mean"
        f"{unit}."
        ' "none": no difference beyond the interval. others: the most that other work and the host took of all CPU time'
        f" before a round; the load average was {loud:.1f} at the most. The interval of {imprecise} of {len(results)}"
        f" rows did not come within ±{s['precision']:.2f}.",
    ]
    for server in servers_of(report):
        lines += ["", *server_table(report, server)]
    if report["failed"]:
        lines += ["", f"Not measured: {'; '.join(report['failed'])}."]
    return "\n".join(lines) + "\n"


# ---- Pictures ----


def _labels(results: list[dict[str, Any]]) -> list[str]:
    return [f"{r['row']}, {r['workers']} w." for r in results]


def draw_ratios(server: str, results: list[dict[str, Any]], output: Path) -> list[Path]:
    figure, axes = pictures.axes(_labels(results))
    for number, side in enumerate(OURS):
        found = [Interval(**r["ratio"][side]) for r in results]
        places = [i + (number - 1) * 0.22 for i in range(len(results))]
        halves = [0 if i.half == float("inf") else i.half for i in found]
        axes.errorbar(
            [i.mean for i in found],
            places,
            xerr=halves,
            fmt="o",
            markersize=3,
            capsize=2,
            label=side,
            color=COLOURS[side],
        )
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel(f"{server}: CPU time of a request, over that with OpenSSL's own generator; 95% confidence")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    return pictures.save(figure, output, f"tls-costs-{server.lower()}-ratios")


def draw_times(server: str, results: list[dict[str, Any]], output: Path) -> list[Path]:
    figure, axes = pictures.axes(_labels(results))
    for number, side in enumerate(SIDES):
        places = [i + (number - 1.5) * 0.2 for i in range(len(results))]
        axes.barh(places, [r["cpu_us"][side] for r in results], height=0.18, color=COLOURS[side], label=side)
    axes.set_xscale("log")
    axes.set_xlabel(f"{server}: CPU time of a request, µs")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)
    return pictures.save(figure, output, f"tls-costs-{server.lower()}-times")


def draw(report: dict[str, Any], output: Path) -> list[Path]:
    paths: list[Path] = []
    for server in servers_of(report):
        results = [r for r in report["results"] if r["server"] == server]
        paths += draw_ratios(server, results, output) + draw_times(server, results, output)
    return paths
