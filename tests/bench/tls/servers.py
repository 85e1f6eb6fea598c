# SPDX-License-Identifier: Apache-2.0
"""The servers under load: one worker each, the same page and the same files, on what openssl.cnf says."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.support import servers
from tests.support.builds import BUILD, CONF
from tests.support.servers import Kind, Running, Setting, Site, free_ports

from .workloads import CIPHERS, Workload

TICKS = os.sysconf("SC_CLK_TCK")
CLIENTS = 1024  # at once
SETTING = Setting(workers=1, connections=2 * CLIENTS, ciphers=CIPHERS, keeps_sessions=False)
ONE_PROCESS = f"""\
ServerLimit 1
ThreadLimit {CLIENTS}
ThreadsPerChild {CLIENTS}
MaxRequestWorkers {CLIENTS}
MinSpareThreads 1
MaxSpareThreads {CLIENTS}"""

KINDS: dict[str, Kind] = {
    "nginx": servers.NGINX,
    "Apache": servers.Apache("event", ONE_PROCESS),
    "HAProxy": servers.HAPROXY_THREADS,
}


def _on(cpus: Sequence[int]) -> list[str]:
    return ["taskset", "-c", ",".join(map(str, cpus))]


@contextlib.contextmanager
def new_site(sizes: Sequence[int], cpus: Sequence[int]) -> Iterator[Site]:
    """With a file for each size; its backend is a plain nginx with the same files."""
    with servers.new_site() as site:
        for megabytes in sizes:
            (site.directory / f"{megabytes}m").write_bytes(bytes(megabytes << 20))
        (port,) = free_ports(1)
        backend = dataclasses.replace(site, setting=SETTING, name="backend", ports={"plain": port})
        with servers.running(servers.NGINX, backend, environment(None), _on(cpus)):
            yield dataclasses.replace(site, setting=SETTING, backend=port)


def cpu_seconds(server: Running) -> float:
    """Of all its processes, in user and kernel mode."""
    total = 0
    for pid in server.processes():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def url(server: Running, workload: Workload) -> str:
    return f"https://127.0.0.1:{server.site.ports[workload.port]}{workload.path}"


class WrongGeneratorError(Exception):
    """A server has drng where it should not, or lacks it where it should."""


def environment(module: Path | None) -> dict[str, str]:
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "OPENSSL_CONF": "/dev/null"}
    if module is not None:
        env |= {"OPENSSL_CONF": str(CONF / "drng.cnf"), "OPENSSL_MODULES": str(module.parent)}
    return env


@contextlib.contextmanager
def running(
    kind: str, name: str, site: Site, cpu: int, module: Path | None, extra: Mapping[str, str]
) -> Iterator[Running]:
    """On the strict profile with this module, or with None on nothing but OpenSSL's own generator."""
    own = dataclasses.replace(site, name=name, ports=dict(zip(("rsa", "ec"), free_ports(2), strict=True)))
    with servers.running(KINDS[kind], own, {**environment(module), **extra}, _on([cpu])) as server:
        if servers.maps(server.process.pid, BUILD / "release" / "drng.so") != (module is not None):
            raise WrongGeneratorError(f"{kind}, {name}")
        yield server
