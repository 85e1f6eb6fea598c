# SPDX-License-Identifier: Apache-2.0
"""The measurement: drng and the built-in generator in turn, on servers that are up at the same time."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.support.servers import Running, Site

from . import ab, counters, servers
from .figures import Step, highest, ratios, spread
from .workloads import DOWNLOADS, HANDSHAKES, Workload, downloads

SIDES = ("built-in", "drng")
BATCHES = 10


@dataclass(frozen=True)
class Settings:
    kinds: tuple[str, ...] = ("nginx", "Apache", "HAProxy")
    repeats: int = 5
    seconds: int = 2
    connections: tuple[int, ...] = (12, 24, 48, 96, 192)
    downloads: tuple[int, ...] = (3, 6, 12)
    sizes: tuple[int, ...] = (1, 4, 16)
    counted_handshakes: int = 40
    counted_downloads: int = 5

    @property
    def workloads(self) -> tuple[Workload, ...]:
        return (*HANDSHAKES, *downloads(self.sizes))

    def ladder(self, workload: Workload) -> tuple[int, ...]:
        return self.downloads if workload.kind == DOWNLOADS else self.connections

    def counted(self, workload: Workload) -> int:
        return self.counted_downloads if workload.kind == DOWNLOADS else self.counted_handshakes


QUICK = Settings(
    repeats=2, seconds=1, connections=(24,), downloads=(6,), sizes=(1,), counted_handshakes=10, counted_downloads=3
)

Progress = Callable[[str], None]

# For each side a step a repeat; None where no step kept the limit.
Steps = dict[str, list[Step | None]]


class Bench:
    """The server has the first CPU for itself, the clients have the others."""

    def __init__(self, settings: Settings, module: Path, output: Path, progress: Progress) -> None:
        self.settings, self.module, self.output, self.progress = settings, module, output, progress
        cpus = sorted(os.sched_getaffinity(0))
        self.server_cpu, self.client_cpus = cpus[0], cpus[1:] or cpus

    # ---- Rates ----

    def _step(self, instance: Running, workload: Workload, concurrency: int) -> Step:
        before = servers.cpu_seconds(instance)
        load = ab.run_for(
            self.settings.seconds, servers.url(instance, workload), workload, concurrency, self.client_cpus
        )
        spent = servers.cpu_seconds(instance) - before
        rate = load.throughput if workload.kind == DOWNLOADS else load.rate
        return Step(concurrency, rate, load.longest_ms, load.failed, spent * 1e6 / max(load.requests, 1))

    def _highest(self, instance: Running, workload: Workload) -> Step | None:
        return highest(self.settings.ladder(workload), lambda concurrency: self._step(instance, workload, concurrency))

    def _rates(self, instances: dict[str, Running], kind: str, workload: Workload) -> Steps:
        steps: Steps = {side: [] for side in SIDES}
        for repeat in range(self.settings.repeats):
            # Each goes first as often as the other.
            for side in SIDES if repeat % 2 == 0 else reversed(SIDES):
                self.progress(f"{kind}, {workload.title}: repeat {repeat + 1} of {self.settings.repeats}, {side}")
                steps[side].append(self._highest(instances[side], workload))
        return steps

    # ---- Draws ----

    def _count(self, kind: str, side: str, site: Site, library: Path) -> dict[str, counters.Drawn]:
        """What one request of each workload draws, one after the other."""
        file = counters.Counters(library, site.directory / f"{side}.counters")
        drawn = {}
        with servers.running(
            kind, f"{side}-counted", site, self.server_cpu, self._module(side), file.environment()
        ) as instance:
            for workload in self.settings.workloads:
                self.progress(f"{kind}, {workload.title}: counting draws, {side}")
                drawn[workload.title] = self._count_one(instance, workload, file)
        return drawn

    def _count_one(self, instance: Running, workload: Workload, file: counters.Counters) -> counters.Drawn:
        """The quickest of some batches, after one to warm up: what is added to its time is what others took."""
        batches = []
        for _ in range(1 + BATCHES):
            before = file.read()
            requests = self.settings.counted(workload)
            load = ab.run_count(requests, servers.url(instance, workload), workload, self.client_cpus[0])
            batches.append(file.since(before, load.requests))
        return min(batches[1:], key=lambda drawn: drawn.us)

    # ---- All of it ----

    def _module(self, side: str) -> Path | None:
        return self.module if side == "drng" else None

    def _server(self, kind: str, site: Site, library: Path) -> dict[str, dict[str, Any] | None]:
        """By their titles the results of the workloads; None for one in which no repeat kept the limit."""
        with contextlib.ExitStack() as stack:
            instances = {
                side: stack.enter_context(servers.running(kind, side, site, self.server_cpu, self._module(side), {}))
                for side in SIDES
            }
            rates = {w.title: self._rates(instances, kind, w) for w in self.settings.workloads}
        drawn = {side: self._count(kind, side, site, library) for side in SIDES}
        return {
            w.title: result(kind, w, rates[w.title], {side: drawn[side][w.title] for side in SIDES})
            for w in self.settings.workloads
        }

    def measure(self) -> dict[str, Any]:
        self.output.mkdir(parents=True, exist_ok=True)
        library = counters.build(self.output)
        report: dict[str, Any] = {
            "machine": machine(),
            "settings": asdict(self.settings),
            "results": [],
            "lost": [],
        }
        with servers.new_site(self.settings.sizes, self.client_cpus) as site:
            for kind in self.settings.kinds:
                found = self._server(kind, site, library)
                report["results"] += [r for r in found.values() if r is not None]
                report["lost"] += [f"{kind}, {title}" for title, r in found.items() if r is None]
                # What has been measured is not lost to an error in what comes next.
                (self.output / "tls.json").write_text(json.dumps(report, indent=1) + "\n")
        return report


def result(kind: str, workload: Workload, steps: Steps, drawn: dict[str, counters.Drawn]) -> dict[str, Any] | None:
    """One line of the tables, from the repeats in which both sides kept the limit; None: there is none."""
    pairs = [pair for pair in zip(*(steps[side] for side in SIDES), strict=True) if None not in pair]
    if not pairs:
        return None
    kept = dict(zip(SIDES, zip(*pairs, strict=True), strict=True))
    rates = {side: [step.rate for step in kept[side]] for side in SIDES}
    cpu = {side: [step.cpu_us for step in kept[side]] for side in SIDES}
    return {
        "server": kind,
        "kind": workload.kind,
        "workload": workload.title,
        "steps": {side: [asdict(step) for step in kept[side]] for side in SIDES},
        "rate": {side: spread(rates[side]).as_dict() for side in SIDES},
        "rate_ratio": ratios(rates["drng"], rates["built-in"]).as_dict(),
        "cpu_us": {side: spread(cpu[side]).as_dict() for side in SIDES},
        "cpu_ratio": ratios(cpu["drng"], cpu["built-in"]).as_dict(),
        "drawn": {side: asdict(drawn[side]) for side in SIDES},
        "share": {side: drawn[side].us / spread(cpu[side]).median for side in SIDES},
    }


def said(command: Sequence[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return next(iter((result.stdout or result.stderr).splitlines()), "").strip()


def machine() -> dict[str, Any]:
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name")), platform.machine())
    return {
        "cpu": model,
        "cpus": len(os.sched_getaffinity(0)),
        "virtual": any(line.startswith("flags") and " hypervisor" in line for line in cpuinfo),
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
        "openssl": said(["openssl", "version"]).split(" (")[0],
        "versions": [said(["nginx", "-v"]), said(["apache2", "-v"]), said(["haproxy", "-v"])],
    }
