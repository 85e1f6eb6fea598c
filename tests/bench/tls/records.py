# SPDX-License-Identifier: Apache-2.0
"""What a TLS record draws: drng's own counters, before and after downloads of few records and of many.

nginx on drng, with the kernel's TLS asked for and not, for an AEAD and for CBC. What a connection draws is in both
downloads; what is left of the difference belongs to the records.
"""

from __future__ import annotations

import dataclasses
import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.builds import ROOT
from tests.support.servers import Nginx, Running, Setting, Site, new_site, running

RECORD = 16384  # bytes: nginx's ssl_buffer_size, and the most that a record holds
FEW, MANY = 1, 101
TCP_ULP = 31
TLS_STAT = Path("/proc/net/tls_stat")


@dataclass(frozen=True)
class Suite:
    title: str
    options: tuple[str, ...]  # of openssl s_client


SUITES = (
    Suite("TLS 1.3, AES-128-GCM", ("-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256")),
    Suite("TLS 1.2, AES-128-GCM", ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256")),
    Suite("TLS 1.2, AES-128-CBC", ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA")),
)


@dataclass(frozen=True)
class Drawn:
    """By one record, and by the connection without its records."""

    requests: float
    bytes: float
    connection: float
    kernel: bool  # the kernel made the records


class KernelNginx(Nginx):
    """nginx that asks libssl for the kernel's TLS."""

    def configure(self, site: Site) -> list[str]:
        command = super().configure(site)
        path = site.file("conf")
        path.write_text(path.read_text().replace("http {\n", "http {\n    ssl_conf_command Options KTLS;\n"))
        return command


def why_no_kernel_tls() -> str | None:
    """None: the kernel has it, and this libssl can ask for it."""
    options = subprocess.run(["openssl", "s_server", "-help"], capture_output=True, text=True, check=False)
    if "-ktls" not in options.stdout + options.stderr:
        return "this libssl was built without kTLS"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        try:
            client.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
        except OSError as error:
            return f"this kernel has no TLS (CONFIG_TLS): {error.strerror}"
    return None


def kernel_connections() -> int:
    """How many connections the kernel has sent the records of, so far."""
    lines = TLS_STAT.read_text().splitlines() if TLS_STAT.exists() else []
    counters = dict(line.split() for line in lines)
    return int(counters.get("TlsTxSw", 0)) + int(counters.get("TlsTxDevice", 0))


def counters_of(server: Running) -> tuple[int, int]:
    """Requests and bytes of all processes of the server."""
    command = [sys.executable, str(ROOT / "scripts" / "drng-status"), "--json", "--pid", str(server.process.pid)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    processes = json.loads(said.stdout)["processes"]
    return sum(p["requests"] for p in processes), sum(p["bytes"] for p in processes)


def download(site: Site, name: str, suite: Suite, env: Mapping[str, str]) -> None:
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{site.ports['ec']}", "-quiet", "-CAfile"]
    command += [str(site.cert("ec")), "-verify_return_error", *suite.options]
    request = f"GET /{name} HTTP/1.0\r\n\r\n".encode()
    got = subprocess.run([*command, "-ign_eof"], env=dict(env), input=request, capture_output=True, check=True)
    body = got.stdout.partition(b"\r\n\r\n")[2]
    if len(body) != (site.directory / name).stat().st_size:
        raise RuntimeError(f"{name} over {suite.title}: {len(body)} bytes came\n{got.stderr.decode()}")


def drawn_by(server: Running, name: str, suite: Suite, env: Mapping[str, str]) -> tuple[int, int]:
    requests, size = counters_of(server)
    download(server.site, name, suite, env)
    after, size_after = counters_of(server)
    return after - requests, size_after - size


def measure_suite(server: Running, suite: Suite, env: Mapping[str, str]) -> Drawn:
    """The first connection of a process draws more, since it makes the process's generators."""
    download(server.site, "few", suite, env)
    before = kernel_connections()
    few, few_bytes = drawn_by(server, "few", suite, env)
    many, many_bytes = drawn_by(server, "many", suite, env)
    records = MANY - FEW
    a_record = (many - few) / records
    in_kernel = kernel_connections() > before
    return Drawn(a_record, (many_bytes - few_bytes) / records, few - FEW * a_record, in_kernel)


def measure(kernel: bool, env: Mapping[str, str]) -> dict[str, Drawn]:
    """By the titles of the suites. env: with an openssl.cnf under which drng serves."""
    setting = Setting(workers=1, keeps_sessions=False, ciphers="ALL")
    with new_site() as plain:
        site = dataclasses.replace(plain, setting=setting)
        for name, records in (("few", FEW), ("many", MANY)):
            (site.directory / name).write_bytes(bytes(records * RECORD))
        with running(KernelNginx() if kernel else Nginx(), site, env) as server:
            return {suite.title: measure_suite(server, suite, env) for suite in SUITES}


def rows(title: str, drawn: Mapping[str, Drawn]) -> list[str]:
    return [
        f"| {suite} | {title}{'' if d.kernel or 'without' in title else ', which did not make the records'} "
        f"| {d.requests:.2f} | {d.bytes:.1f} | {d.connection:.0f} |"
        for suite, d in drawn.items()
    ]


def markdown(env: Mapping[str, str]) -> str:
    lines = ["| suite | records made | draws a record | bytes a record | draws of the connection |"]
    lines += ["| --- | --- | --- | --- | --- |", *rows("without the kernel", measure(False, env))]
    missing = why_no_kernel_tls()
    if missing is None:
        lines += rows("by the kernel", measure(True, env))
    note = f"By the kernel: not measured on this machine, since {missing}." if missing else ""
    return "\n".join([*lines, "", note]).rstrip() + "\n"
