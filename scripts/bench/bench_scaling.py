#!/usr/bin/python3 -Es
"""Intel's virtual-machine experiment, with processes: how many can draw seed-grade bytes at once, and how fast.

    bench_scaling.py            1 to 60 processes, some minutes
    bench_scaling.py --quick    up to 16, under a minute
    bench_scaling.py --from scaling.json    no measurement: the tables again
    bench_scaling.py --guests N             instead: one virtual machine alone, then N at once, some minutes

With --guests it is as in the article: QEMU boots the guests from one small initramfs, on KVM where that works, else on
QEMU's own CPU (TCG). Under TCG the words come from the host's kernel at the emulator's speed, so that the figures show
how fairly the machines are served and what their bytes are like, and not how fast an instruction is.

N processes draw from one generator of drng's at the same time. The first bytes of each go through the FIPS 140-2
statistics of rngtest (rng-tools5) once all have finished, so that the tests take nothing from those that draw. The
model is the article's: rate = min(single, total / N), where `single` is what one process gets when it is alone, and
`total` the most that all together got at any N.

Prints a table; leaves it as scaling.md, scaling.json and pictures in build/bench. Installs what it needs from Debian's
packages (root).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench_report import cpu_model, markdown, pyplot, save

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"

# rngtest takes blocks of 20,000 bits, after 32 bits that start its continuous run test.
BLOCK = 2500
FIRST = 4


# ---- What is drawn ----


@dataclass(frozen=True)
class Source:
    """A generator, and what the provider's section of openssl.cnf says for it."""

    name: str
    generator: str
    request: int
    keys: str


# A request of 48 bytes is a seed of 384 bits: what a CTR-DRBG with AES-256 asks for.
SOURCES = (
    Source("seeds from RDRAND", "DRNG-SEED", 48, "source = rdrand\nfallback = no\n"),
    Source("seeds from RDSEED", "DRNG-SEED", 48, "source = rdseed\nfallback = no\n"),
    Source("words of RDRAND", "RDRAND", 1024, ""),
)


@dataclass(frozen=True)
class Share:
    """What one process got."""

    bytes: int
    seconds: float
    cpu_seconds: float
    missed: int  # requests that failed
    fips_passed: int  # blocks
    fips_failed: int

    @property
    def rate(self) -> float:
        """Kibit/s, rngtest's and the article's unit."""
        return self.bytes * 8 / 1024 / self.seconds


# ---- Figures ----


def mean_rate(shares: Sequence[Share]) -> float:
    return statistics.fmean(share.rate for share in shares)


def cpu_rate(shares: Sequence[Share]) -> float:
    """Kibit a second of CPU time: what the instructions give, however the scheduler shares out the CPUs."""
    seconds = sum(share.cpu_seconds for share in shares)
    return sum(share.bytes for share in shares) * 8 / 1024 / seconds if seconds > 0 else 0


def total_rate(shares: Sequence[Share]) -> float:
    return sum(share.rate for share in shares)


def fairness(shares: Sequence[Share]) -> float:
    """The slowest process over the fastest: 1 is fair."""
    rates = [share.rate for share in shares]
    return min(rates) / max(rates) if max(rates) > 0 else 0


Runs = dict[int, list[Share]]


def model(runs: Runs, count: int) -> float:
    single = mean_rate(runs[1])
    total = max(total_rate(shares) for shares in runs.values())
    return min(single, total / count)


def parse_rngtest(text: str) -> tuple[int, int]:
    """Blocks that passed and blocks that failed."""
    found = [re.search(rf"FIPS 140-2 {word}: (\d+)", text) for word in ("successes", "failures")]
    if None in found:
        raise ValueError(f"this is no summary of rngtest's:\n{text}")
    return int(found[0][1]), int(found[1][1])  # type: ignore[index]


# ---- Measurement ----


class Drawer:
    """A process that draws, and rngtest at the end of its output."""

    def __init__(self, source: Source, config: Path, seconds: float, blocks: int) -> None:
        environment = {**os.environ, "OPENSSL_CONF": str(config), "OPENSSL_MODULES": str(BUILD)}
        sample = FIRST + blocks * BLOCK
        command = [BUILD / "tests" / "bench" / "draw", source.generator, source.request, seconds, sample]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [str(word) for word in command], env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        self.rngtest = subprocess.Popen(
            ["rngtest"], stdin=self.process.stdout, stdout=subprocess.DEVNULL, stderr=pipe, text=True
        )
        self.process.stdout.close()
        line = self.process.stderr.readline()
        if line != "ready\n":
            raise RuntimeError(line + self.process.stderr.read())

    def start(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def result(self) -> tuple[int, float, float, int]:
        """Bytes, seconds, seconds of CPU time, and requests that failed."""
        drawn, ns, cpu_ns, missed = (int(word) for word in self.process.stderr.readline().split())
        return drawn, ns / 1e9, cpu_ns / 1e9, missed

    def judge(self) -> tuple[int, int]:
        self.process.stdin.close()
        passed_and_failed = parse_rngtest(self.rngtest.stderr.read())
        self.rngtest.wait()
        if self.process.wait() != 0:
            raise RuntimeError(self.process.stderr.read())
        return passed_and_failed

    def end(self) -> None:
        for process in (self.process, self.rngtest):
            if process.poll() is None:
                process.kill()
                process.wait()


def measure(source: Source, config: Path, count: int, seconds: float, blocks: int) -> list[Share]:
    drawers: list[Drawer] = []
    try:
        for _ in range(count):
            drawers.append(Drawer(source, config, seconds, blocks))
        for drawer in drawers:
            drawer.start()
        results = [drawer.result() for drawer in drawers]
        return [Share(*result, *drawer.judge()) for result, drawer in zip(results, drawers, strict=True)]
    finally:
        for drawer in drawers:
            drawer.end()


def write_config(source: Source, path: Path) -> Path:
    path.write_text(f".include {ROOT}/conf/drng.cnf\n[drng_sect]\n{source.keys}")
    return path


def serves(source: Source, config: Path) -> bool:
    """Not every CPU has both instructions."""
    got = measure(source, write_config(source, config), 1, 0.05, 0)[0].bytes > 0
    if not got:
        print(f"There are no {source.name} on this machine.", file=sys.stderr)
    return got


class Progress:
    """One line on a terminal, and nothing elsewhere."""

    def __init__(self, steps: int) -> None:
        self.steps, self.done, self.begin = steps, 0, time.monotonic()

    def show(self, text: str) -> None:
        if sys.stderr.isatty():
            elapsed = time.monotonic() - self.begin
            left = f", {elapsed / self.done * (self.steps - self.done):.0f} s left" if self.done else ""
            print(f"\r\033[K{self.done}/{self.steps} {text}{left}", end="", file=sys.stderr, flush=True)

    def step(self) -> None:
        self.done += 1
        if self.done == self.steps and sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)


def measure_all(counts: Sequence[int], seconds: float, blocks: int) -> dict[str, Runs]:
    """The sources in turn at each N, so that what else the machine does meets all of them."""
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "openssl.cnf"
        sources = [source for source in SOURCES if serves(source, config)]
        found: dict[str, Runs] = {source.name: {} for source in sources}
        progress = Progress(len(counts) * len(sources))
        for count in counts:
            for source in sources:
                progress.show(f"{count} processes, {source.name}")
                found[source.name][count] = measure(source, write_config(source, config), count, seconds, blocks)
                progress.step()
    return found


# ---- Virtual machines ----

ACCELERATORS = {"kvm": "KVM", "tcg": "TCG, QEMU's own CPU"}


def judge(sample: bytes) -> tuple[int, int]:
    """Blocks that passed rngtest, and blocks that failed. Of less than one block rngtest says nothing."""
    if len(sample) < FIRST + BLOCK:
        return 0, 0
    said = subprocess.run(["rngtest"], input=sample, capture_output=True, check=False)
    return parse_rngtest(said.stderr.decode())


def share_of_guest(drawn: dict[str, Any]) -> Share:
    passed, failed = judge(bytes.fromhex(drawn["sample"]))
    return Share(drawn["bytes"], drawn["seconds"], drawn["cpu_seconds"], drawn["missed"], passed, failed)


def guest_runs(said: dict[str, Any]) -> dict[str, Runs]:
    """What the rig has printed, by source and number of guests."""
    how = ACCELERATORS[said["accelerator"]]
    return {
        f"seeds from {source.upper()}, {how}": {
            int(count): [share_of_guest(drawn) for drawn in shares] for count, shares in runs.items()
        }
        for source, runs in said["sources"].items()
    }


def measure_guests(count: int, seconds: float, blocks: int) -> dict[str, Runs]:
    """The rig is the tests', and is started: scripts import nothing from there."""
    fetched = subprocess.run([ROOT / "scripts" / "ci" / "guests.sh"], check=False, stdout=sys.stderr)
    if fetched.returncode != 0:
        sys.exit(fetched.returncode)
    command = [
        "/usr/bin/python3",
        "-sP",
        "-m",
        "tests.bench.guests",
        str(count),
        str(seconds),
        str(FIRST + blocks * BLOCK),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    return guest_runs(json.loads(said))


# ---- JSON ----


def to_json(found: dict[str, Runs], seconds: float, load: float) -> dict[str, Any]:
    return {
        "context": {"cpu": cpu_model(), "num_cpus": os.cpu_count(), "load": load, "seconds": seconds},
        "sources": {
            name: {str(count): [asdict(share) for share in shares] for count, shares in runs.items()}
            for name, runs in found.items()
        },
    }


def from_json(data: dict[str, Any]) -> dict[str, Runs]:
    return {
        name: {int(count): [Share(**share) for share in shares] for count, shares in runs.items()}
        for name, runs in data["sources"].items()
    }


# ---- Tables ----


def counts_shown(runs: Runs) -> list[int]:
    """Few enough for a table: 1, 2, 4 ... and the last."""
    return [count for count in runs if count & (count - 1) == 0 or count == max(runs)]


def rows(name: str, runs: Runs) -> list[list[str]]:
    table = []
    for count in counts_shown(runs):
        shares = runs[count]
        expected, mean = model(runs, count), mean_rate(shares)
        failed = sum(share.fips_failed for share in shares)
        blocks = failed + sum(share.fips_passed for share in shares)
        missed = sum(share.missed for share in shares)
        figures = [f"{expected:.0f}", f"{mean:.0f}", f"{mean / expected:.2f}", f"{fairness(shares):.2f}"]
        figures.append(f"{cpu_rate(shares):.0f}")
        table.append([name, str(count), *figures, f"{failed} of {blocks}", str(missed)])
    return table


def fips_text(found: dict[str, Runs]) -> str:
    """All blocks together."""
    shares = [share for runs in found.values() for of_count in runs.values() for share in of_count]
    failed = sum(share.fips_failed for share in shares)
    blocks = failed + sum(share.fips_passed for share in shares)
    return f"FIPS 140-2: {failed} of {blocks} blocks failed, {1000 * failed / max(blocks, 1):.2f} in a thousand."


def tables(found: dict[str, Runs], context: dict[str, Any]) -> str:
    header = ["source", "N", "model, Kibit/s", "mean, Kibit/s", "mean / model", "slowest / fastest"]
    header += ["Kibit a CPU second", "FIPS failures", "missed"]
    table = markdown(header, [row for name, runs in found.items() for row in rows(name, runs)])
    machine = f"{context['cpu']}, {context['num_cpus']} CPUs, load average {context['load']:.1f} before"
    return f"{machine}; {context['seconds']} s each.\n\n{table}\n\n{fips_text(found)}\n"


# ---- Pictures ----


def draw_means(found: dict[str, Runs], prefix: str) -> list[Path]:
    """The article's figure 1: expected and measured rate of a process."""
    plot, all_axes = pyplot().subplots(1, len(found), figsize=(11, 3.8), squeeze=False)
    for axes, (name, runs) in zip(all_axes[0], found.items(), strict=True):
        axes.plot(list(runs), [model(runs, n) for n in runs], color="grey", label="min(single, total / N)")
        axes.plot(list(runs), [mean_rate(shares) for shares in runs.values()], ".", markersize=4, label="measured mean")
        axes.plot(list(runs), [cpu_rate(shares) for shares in runs.values()], linewidth=0.8, label="in a CPU second")
        axes.set(title=name, xlabel="processes", ylabel="Kibit/s each", yscale="log")
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=8)
    return save(plot, f"{prefix}-means")


def draw_shares(found: dict[str, Runs], prefix: str) -> list[Path]:
    """The article's figure 2: what each process got, and below it how fair that was."""
    plot, all_axes = pyplot().subplots(
        2, len(found), figsize=(11, 5.5), sharex=True, height_ratios=(3, 1), squeeze=False
    )
    for column, (name, runs) in enumerate(found.items()):
        rates, fair = all_axes[0][column], all_axes[1][column]
        points = [(count, share.rate) for count, shares in runs.items() for share in shares]
        rates.plot([n for n, _ in points], [rate for _, rate in points], ".", markersize=2)
        rates.set(title=name, ylabel="Kibit/s, each process", yscale="log")
        fair.plot(list(runs), [fairness(shares) for shares in runs.values()], ".-", markersize=3, linewidth=0.8)
        fair.set(xlabel="processes", ylabel="slowest / fastest", ylim=(0, 1.05))
        for axes in (rates, fair):
            axes.grid(True, alpha=0.3)
    return save(plot, f"{prefix}-shares")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="up to 16 processes, under a minute")
    parser.add_argument("--guests", type=int, metavar="N", help="virtual machines, in place of processes")
    parser.add_argument("--from", dest="json", type=Path, help="take the figures from this file, measure nothing")
    parser.add_argument("--pictures", metavar="PREFIX", default=str(BUILD / "scaling"))
    arguments = parser.parse_args()

    name = "scaling-guests" if arguments.guests else "scaling"
    if arguments.json:
        data = json.loads(arguments.json.read_text())
    else:
        subprocess.run([ROOT / "scripts" / "bench.sh", "--build"], check=True)
        load = os.getloadavg()[0]
        if arguments.guests:
            seconds, blocks = (2.0, 4) if arguments.quick else (10.0, 20)
            found = measure_guests(arguments.guests, seconds, blocks)
        else:
            counts = (1, 2, 3, 4, 8, 16) if arguments.quick else range(1, 61)
            seconds, blocks = (0.5, 20) if arguments.quick else (1.0, 100)
            found = measure_all(counts, seconds, blocks)
        data = to_json(found, seconds, load)
        (BUILD / f"{name}.json").write_text(json.dumps(data))
    found = from_json(data)
    text = tables(found, data["context"])
    print(text)
    (BUILD / f"{name}.md").write_text(text)
    if arguments.guests:
        return 0
    for path in (*draw_means(found, arguments.pictures), *draw_shares(found, arguments.pictures)):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
