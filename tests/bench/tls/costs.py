# SPDX-License-Identifier: Apache-2.0
"""What a connection or a download costs a server, on OpenSSL's own generator and on drng: the rows of Intel's studies.

For each server, number of workers and workload, four servers stand side by side: on OpenSSL's own generator, on drng,
on drng with request mixing, and on drng with batches. They get the same requests in turn, round by round, and the CPU
time and the instructions of all their threads are divided by the number of requests. The ratio of a round is one
server's over that of the first. Rounds go on until the 95% confidence interval of each ratio is within the precision
that is asked for, or until the time is up; then the report says so.

Before each round the machine is looked at: while others take more of its CPUs than the limit, the round waits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.support import servers as support
from tests.support.builds import CONF
from tests.support.servers import Kind, Running, Setting, Site, free_ports, make_certificate

from . import ab, quiet, run, servers, spent
from .interval import Interval, interval
from .workloads import CONNECTIONS, DOWNLOADS, Workload

BASE = "built-in"
# The lines of the provider's section; None: without drng.
SIDES: dict[str, str | None] = {
    BASE: None,
    "drng": "request_mixing = no\n",
    "mixing": "request_mixing = yes\n",
    "batch": "request_mixing = no\nbatch = yes\n",
}
FEWEST_ROUNDS = 3

# Without encrypt-then-MAC, as in the studies: with it, OpenSSL has neither AES and SHA in one loop nor multi-block.
TLS_OPTIONS = """
[openssl_init]
ssl_conf = bench_ssl
[bench_ssl]
system_default = bench_tls
[bench_tls]
Options = -EncryptThenMac
"""

CIPHERS = (
    "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:"
    "AES128-GCM-SHA256:AES128-SHA256:AES128-SHA:@SECLEVEL=0"
)
BULK = ("AES128-GCM-SHA256", "AES128-SHA", "AES128-SHA256")
LONGEST_RECORDS = "16k"
# So much in one call lets OpenSSL encrypt four or eight records of AES-CBC at once: pipelined multi-block.
MULTI_BLOCK = "128k"
BUFFERS = ("4k", "8k", LONGEST_RECORDS, MULTI_BLOCK)


@dataclass(frozen=True)
class Row:
    """A workload on a server that is configured for it. An empty buffer leaves the server's own."""

    workload: Workload
    buffer: str = ""  # nginx's ssl_buffer_size

    @property
    def title(self) -> str:
        if not self.buffer:
            return self.workload.title
        return f"{self.workload.title}, {self.buffer}{' (multi-block)' if self.buffer == MULTI_BLOCK else ''}"


def handshakes() -> list[Row]:
    def tls12(name: str, port: str, cipher: str) -> Row:
        return Row(Workload(CONNECTIONS, name, port, "TLS1.2", f"{cipher}:@SECLEVEL=0"))

    return [
        tls12("RSA 2048", "rsa", "AES128-GCM-SHA256"),
        tls12("RSA 4096", "rsa4096", "AES128-GCM-SHA256"),
        tls12("DHE-RSA", "rsa", "DHE-RSA-AES128-GCM-SHA256"),
        tls12("ECDHE-RSA", "rsa", "ECDHE-RSA-AES128-GCM-SHA256"),
        tls12("ECDHE-ECDSA", "ec", "ECDHE-ECDSA-AES128-GCM-SHA256"),
        Row(Workload(CONNECTIONS, "TLS 1.3, ECDSA", "ec", "TLS1.3", "TLS_AES_128_GCM_SHA256")),
    ]


def bulk(sizes: Sequence[int], buffers: Sequence[str]) -> list[Row]:
    return [
        Row(Workload(DOWNLOADS, cipher, "rsa", "TLS1.2", f"{cipher}:@SECLEVEL=0", megabytes), buffer)
        for cipher in BULK
        for buffer in buffers
        for megabytes in sizes
    ]


@dataclass(frozen=True)
class Settings:
    kinds: tuple[str, ...] = ("nginx", "Apache", "HAProxy")
    workers: tuple[int, ...] = (1, 2)
    sizes: tuple[int, ...] = (1, 4, 16, 64)
    buffers: tuple[str, ...] = BUFFERS
    precision: float = 0.01
    seconds: float = 1.0  # of one server's requests in a round
    most_rounds: int = 60
    minutes: float = 360.0
    limit: float = 0.05  # of all CPU time, for others
    patience: float = 60.0  # seconds that a round waits for quiet
    only: str = ""  # rows whose title has this text

    def rows(self, kind: str) -> list[Row]:
        rows = [*handshakes(), *bulk(self.sizes, self.buffers if kind == "nginx" else ("",))]
        return [row for row in rows if self.only in row.title]


QUICK = Settings(
    workers=(1,), sizes=(1,), buffers=(LONGEST_RECORDS,), seconds=0.2, most_rounds=FEWEST_ROUNDS, minutes=1, patience=0
)


# ---- Servers ----


def kind_of(name: str, workers: int) -> Kind:
    if name == "Apache":
        limits = servers.ONE_PROCESS.replace("ServerLimit 1", f"ServerLimit {workers}")
        return support.Apache(
            "event", limits.replace(f"Workers {servers.CLIENTS}", f"Workers {workers * servers.CLIENTS}")
        )
    return servers.KINDS[name]


def write_config(side: str, directory: Path) -> Path:
    path = directory / f"{side}.cnf"
    keys = SIDES[side]
    head = "openssl_conf = openssl_init\n" if keys is None else f".include {CONF}/drng.cnf\n[drng_sect]\n{keys}"
    path.write_text(head + TLS_OPTIONS)
    return path


def lines_of(kind: str, row: Row, directory: Path) -> str:
    """What the server's configuration says besides; Apache has parameters for DHE of its own."""
    dh = directory / "dh.pem"
    buffer = f"ssl_buffer_size {row.buffer};" if row.buffer else ""
    return {"nginx": f"ssl_dhparam {dh}; {buffer}", "HAProxy": "tune.ssl.default-dh-param 2048"}.get(kind, "")


@contextlib.contextmanager
def new_site(sizes: Sequence[int], rows: Iterable[Row], cpus: Sequence[int]) -> Iterator[Site]:
    with servers.new_site(sizes, cpus) as site:
        if any(row.workload.port == "rsa4096" for row in rows):
            make_certificate(site.directory, "rsa4096")
        run.said(["openssl", "dhparam", "-dsaparam", "-out", str(site.directory / "dh.pem"), "2048"])
        yield site


@contextlib.contextmanager
def running(
    name: str, workers: int, row: Row, side: str, site: Site, module: Path, cpus: Sequence[int]
) -> Iterator[Running]:
    setting = Setting(
        workers=workers,
        connections=2 * servers.CLIENTS,
        ciphers=CIPHERS,
        keeps_sessions=False,
        lines=lines_of(name, row, site.directory),
    )
    ports = {row.workload.port: free_ports(1)[0]}
    own = dataclasses.replace(site, name=f"{side}-costs", ports=ports, setting=setting)
    env = {**servers.environment(None), "OPENSSL_CONF": str(write_config(side, site.directory))}
    env |= {"OPENSSL_MODULES": str(module.parent)}
    prefix = ["taskset", "-c", ",".join(map(str, cpus))]
    with support.running(kind_of(name, workers), own, env, prefix) as server:
        if support.maps(server.process.pid, module) != (SIDES[side] is not None):
            raise servers.WrongGeneratorError(f"{name}, {side}")
        yield server


# ---- One round ----


@dataclass(frozen=True)
class Cost:
    """Of one request."""

    cpu_us: float
    instructions: float | None


class Meter:
    """One of the servers that are compared, and what it spends."""

    def __init__(self, server: Running, workload: Workload, cpu: int) -> None:
        self.server, self.workload, self.cpu = server, workload, cpu
        self.least = (workload.megabytes << 20) or 1  # bytes of an answer
        self.instructions = spent.Instructions(server.processes())

    def request(self, count: int) -> Cost:
        pids = self.server.processes()
        cpu, instructions = spent.cpu_ns(pids), self.instructions.read()
        load = ab.run_count(count, servers.url(self.server, self.workload), self.workload, self.cpu)
        # ab does not count a handshake that fails as a failed request.
        if load.failed or load.requests != count or load.transferred < count * self.least:
            raise ab.AbError(f"not all of {count} requests were served: {self.workload.title}")
        later = self.instructions.read()
        counted = None if later is None or instructions is None else (later - instructions) / count
        return Cost((spent.cpu_ns(pids) - cpu) / 1000 / count, counted)

    def requests_in(self, seconds: float) -> int:
        """How many take about so long."""
        tries = 2 if self.workload.kind == DOWNLOADS else 20
        self.request(1)
        begun = time.monotonic()
        self.request(tries)
        return max(tries, int(seconds * tries / max(time.monotonic() - begun, 1e-6)))


@dataclass(frozen=True)
class Round:
    costs: dict[str, Cost]
    noise: quiet.Noise


def order(number: int) -> list[str]:
    """Each side comes first as often as the others."""
    sides = list(SIDES)
    return sides[number % len(sides) :] + sides[: number % len(sides)]


def ratios(rounds: Sequence[Round], side: str) -> Interval:
    return interval([r.costs[side].cpu_us / r.costs[BASE].cpu_us for r in rounds])


def instruction_ratios(rounds: Sequence[Round], side: str) -> Interval | None:
    pairs = [(r.costs[side].instructions, r.costs[BASE].instructions) for r in rounds]
    return (
        interval([ours / base for ours, base in pairs if ours is not None and base])
        if all(all(p) for p in pairs)
        else None
    )


def is_precise(rounds: Sequence[Round], precision: float) -> bool:
    return len(rounds) >= FEWEST_ROUNDS and all(
        ratios(rounds, side).half <= precision for side in SIDES if side != BASE
    )


# ---- All of it ----


class Costs:
    def __init__(self, settings: Settings, module: Path, output: Path, progress: Callable[[str], None]) -> None:
        self.settings, self.module, self.output, self.progress = settings, module, output, progress
        self.cpus = sorted(os.sched_getaffinity(0))
        self.end = 0.0

    def _rounds(self, meters: dict[str, Meter], title: str, seconds: float) -> list[Round]:
        settings = self.settings
        count = min(meter.requests_in(settings.seconds) for meter in meters.values())
        end = time.monotonic() + seconds
        rounds: list[Round] = []
        while not is_precise(rounds, settings.precision) and len(rounds) < settings.most_rounds:
            if len(rounds) >= FEWEST_ROUNDS and time.monotonic() > end:
                break
            noise = quiet.wait(settings.limit, settings.patience)
            self.progress(f"{title}: round {len(rounds) + 1}, others {noise.most:.0%}")
            rounds.append(Round({side: meters[side].request(count) for side in order(len(rounds))}, noise))
        return rounds

    def _measure(self, kind: str, workers: int, row: Row, site: Site, seconds: float) -> dict[str, Any]:
        own, others = self.cpus[:workers], self.cpus[workers:] or self.cpus
        with contextlib.ExitStack() as stack:
            meters = {}
            for side in SIDES:
                server = stack.enter_context(running(kind, workers, row, side, site, self.module, own))
                meters[side] = Meter(server, row.workload, others[-1])
                stack.callback(meters[side].instructions.close)
            rounds = self._rounds(meters, f"{kind}, {row.title}, {workers} workers", seconds)
        return result(kind, workers, row, rounds, self.settings)

    def measure(self) -> dict[str, Any]:
        settings = self.settings
        self.output.mkdir(parents=True, exist_ok=True)
        report = {"machine": run.machine(), "settings": asdict(settings), "results": [], "failed": []}
        plan = [(k, w, row) for k in settings.kinds for w in settings.workers for row in settings.rows(k)]
        end = time.monotonic() + 60 * settings.minutes
        with new_site(settings.sizes, [row for _, _, row in plan], self.cpus) as site:
            for number, (kind, workers, row) in enumerate(plan):
                seconds = (end - time.monotonic()) / (len(plan) - number)
                try:
                    report["results"].append(self._measure(kind, workers, row, site, seconds))
                except ab.AbError as error:
                    report["failed"].append(f"{kind}, {row.title}: {str(error).splitlines()[0]}")
                # What has been measured is not lost to an error in what comes next.
                (self.output / "costs.json").write_text(json.dumps(report, indent=1) + "\n")
        return report


def result(kind: str, workers: int, row: Row, rounds: Sequence[Round], settings: Settings) -> dict[str, Any]:
    counted = {side: instruction_ratios(rounds, side) for side in SIDES if side != BASE}
    return {
        "server": kind,
        "workers": workers,
        "kind": row.workload.kind,
        "row": row.title,
        "rounds": len(rounds),
        "cpu_us": {side: interval([r.costs[side].cpu_us for r in rounds]).mean for side in SIDES},
        "ratio": {side: asdict(ratios(rounds, side)) for side in SIDES if side != BASE},
        "instruction_ratio": {side: asdict(found) for side, found in counted.items() if found is not None},
        "precise": is_precise(rounds, settings.precision),
        "noise": max(r.noise.most for r in rounds),
        "load": max(r.noise.load for r in rounds),
        "disturbed": sum(r.noise.most > settings.limit for r in rounds),
    }
