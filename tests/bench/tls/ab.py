# SPDX-License-Identifier: Apache-2.0
"""Load from ApacheBench: a new connection for every request, one process of it for each CPU that is left to clients."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from .workloads import Workload

ENOUGH = 1_000_000  # requests: more than any run makes; ab has a place in memory for each
PATIENCE = 120  # seconds beyond a run's own


class AbError(Exception):
    """ab could not run, or said something else than expected."""


@dataclass(frozen=True)
class Load:
    """What clients saw in one run."""

    requests: int
    failed: int
    seconds: float
    transferred: int  # bytes, without TLS's own
    longest_ms: float  # of a connection with its handshake and request

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def throughput(self) -> float:
        """MB a second."""
        return self.transferred / self.seconds / 1e6


def _number(pattern: str, text: str, default: str | None = None) -> float:
    found = re.search(pattern, text, flags=re.MULTILINE)
    if found is None and default is None:
        raise AbError(f"ab's output has no line {pattern!r}:\n{text}")
    return float(found[1] if found else default or 0)


def parse(text: str) -> Load:
    """The output of one ab."""
    requests = int(_number(r"^Complete requests: +(\d+)$", text))
    refused = int(_number(r"^Non-2xx responses: +(\d+)$", text, "0"))
    return Load(
        requests,
        int(_number(r"^Failed requests: +(\d+)$", text)) + refused,
        _number(r"^Time taken for tests: +([\d.]+) seconds$", text),
        int(_number(r"^HTML transferred: +(\d+) bytes$", text)),
        # Not printed where nothing was completed.
        _number(r"^Total: +\d+ +\d+ +[\d.]+ +\d+ +(\d+)$", text, None if requests else "inf"),
    )


def combine(loads: Sequence[Load]) -> Load:
    """Of clients that ran at the same time."""
    return Load(
        sum(load.requests for load in loads),
        sum(load.failed for load in loads),
        max(load.seconds for load in loads),
        sum(load.transferred for load in loads),
        max(load.longest_ms for load in loads),
    )


def command(url: str, workload: Workload, limits: Sequence[str], concurrency: int) -> list[str]:
    return ["ab", "-q", "-r", *limits, "-c", str(concurrency), "-f", workload.protocol, "-Z", workload.cipher, url]


def _environment() -> dict[str, str]:
    """The same clients whatever the server runs on."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OPENSSL_", "LD_"))}
    return {**env, "OPENSSL_CONF": "/dev/null", "LC_ALL": "C"}


def _start(arguments: Sequence[str], cpu: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["taskset", "-c", str(cpu), *arguments],
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _finish(process: subprocess.Popen[str], seconds: float) -> Load:
    try:
        text, _ = process.communicate(timeout=seconds + PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AbError("ab did not end") from None
    if process.returncode != 0:
        raise AbError(text)
    return parse(text)


def run_for(seconds: int, url: str, workload: Workload, concurrency: int, cpus: Sequence[int]) -> Load:
    """So many connections at once, shared out among the CPUs."""
    each = max(1, concurrency // len(cpus))
    arguments = command(url, workload, ["-t", str(seconds), "-n", str(ENOUGH)], each)
    processes = [_start(arguments, cpu) for cpu in cpus]
    try:
        return combine([_finish(process, seconds) for process in processes])
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()


def run_count(requests: int, url: str, workload: Workload, cpu: int) -> Load:
    """So many requests, one after the other."""
    return _finish(_start(command(url, workload, ["-n", str(requests)], 1), cpu), 0)
