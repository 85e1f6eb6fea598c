"""The servers under load: one worker each, the same page and the same files, on what openssl.cnf says.

They are started, watched and ended as the tests do it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .workloads import CIPHERS, Workload

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from servers import descendants, free_ports, make_certificate, maps, server  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = "served"
CLIENTS = 1024  # at once


@dataclass(frozen=True)
class Site:
    """Certificates, the page, and a file for each size."""

    directory: Path
    backend: int  # the port of a plain server with the same files, for those that only hand on

    def pem(self, port: str) -> Path:
        return self.directory / f"{port}.pem"


@contextlib.contextmanager
def new_site(sizes: Sequence[int], cpus: Sequence[int]) -> Iterator[Site]:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        (directory / "page").write_text(PAGE)
        for megabytes in sizes:
            (directory / f"{megabytes}m").write_bytes(bytes(megabytes << 20))
        site = Site(directory, *free_ports(1))
        for port in ("rsa", "ec"):
            cert, key = make_certificate(directory, port)
            site.pem(port).write_text(key.read_text() + cert.read_text())
        with server(_on(cpus, _plain_nginx(site)), {"PATH": os.environ["PATH"]}, site.backend):
            yield site


# ---- One worker of each ----


def _nginx(directory: Path, name: str, blocks: str) -> list[str]:
    path = directory / f"{name}.conf"
    path.write_text(f"""\
worker_processes 1;
pid {directory}/{name}.pid;
error_log {directory}/{name}.log crit;
events {{ worker_connections {2 * CLIENTS}; }}
http {{
    access_log off;
    sendfile on;
    root {directory};
{blocks}
}}
""")
    return ["nginx", "-c", str(path), "-g", "daemon off;"]


def _plain_nginx(site: Site) -> list[str]:
    return _nginx(site.directory, "backend", f"    server {{ listen 127.0.0.1:{site.backend} backlog=4096; }}")


def nginx(site: Site, name: str, ports: Mapping[str, int]) -> list[str]:
    blocks = "".join(
        f"""
    server {{
        listen 127.0.0.1:{number} ssl backlog=4096;
        ssl_certificate {site.pem(port)};
        ssl_certificate_key {site.pem(port)};
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_ciphers {CIPHERS};
    }}"""
        for port, number in ports.items()
    )
    return _nginx(site.directory, name, blocks)


def apache(site: Site, name: str, ports: Mapping[str, int]) -> list[str]:
    modules = "".join(
        f"LoadModule {m}_module /usr/lib/apache2/modules/mod_{m}.so\n" for m in ("mpm_event", "authz_core", "ssl")
    )
    hosts = "".join(
        f"""
Listen 127.0.0.1:{number}
<VirtualHost 127.0.0.1:{number}>
SSLEngine on
SSLCertificateFile {site.pem(port)}
</VirtualHost>"""
        for port, number in ports.items()
    )
    path = site.directory / f"{name}.conf"
    path.write_text(f"""\
{modules}
ServerRoot {site.directory}
ServerName localhost
PidFile {site.directory}/{name}.pid
DefaultRuntimeDir {site.directory}
ErrorLog {site.directory}/{name}.log
LogLevel crit
User www-data
Group www-data
StartServers 1
ServerLimit 1
ThreadLimit {CLIENTS}
ThreadsPerChild {CLIENTS}
MaxRequestWorkers {CLIENTS}
MinSpareThreads 1
MaxSpareThreads {CLIENTS}
ListenBacklog 4096
SSLProtocol -all +TLSv1.2 +TLSv1.3
SSLCipherSuite {CIPHERS}
SSLSessionCache none
DocumentRoot {site.directory}
<Directory {site.directory}>
Require all granted
</Directory>
{hosts}
""")
    return ["apache2", "-f", str(path), "-DFOREGROUND"]


def haproxy(site: Site, name: str, ports: Mapping[str, int]) -> list[str]:
    frontends = "".join(
        f"""
frontend {port}
    bind 127.0.0.1:{number} ssl crt {site.pem(port)} backlog 4096
    http-request return status 200 content-type text/plain string "{PAGE}" if {{ path /page }}
    default_backend files
"""
        for port, number in ports.items()
    )
    path = site.directory / f"{name}.cfg"
    path.write_text(f"""\
global
    nbthread 1
    maxconn {2 * CLIENTS}
    ssl-default-bind-options ssl-min-ver TLSv1.2
    ssl-default-bind-ciphers {CIPHERS}
defaults
    mode http
    timeout connect 10s
    timeout client 30s
    timeout server 30s
{frontends}
backend files
    server files 127.0.0.1:{site.backend}
""")
    return ["haproxy", "-db", "-f", str(path)]


KINDS: dict[str, Callable[[Site, str, Mapping[str, int]], list[str]]] = {
    "nginx": nginx,
    "Apache": apache,
    "HAProxy": haproxy,
}

# ---- Running ----


def _on(cpus: Sequence[int], command: Sequence[str]) -> list[str]:
    return ["taskset", "-c", ",".join(map(str, cpus)), *command]


def cpu_seconds(pid: int) -> float:
    """Of a process and its descendants, in user and kernel mode."""
    total = 0
    for member in descendants(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


@dataclass(frozen=True)
class Instance:
    pid: int
    ports: Mapping[str, int]

    def url(self, workload: Workload) -> str:
        return f"https://127.0.0.1:{self.ports[workload.port]}{workload.path}"


class WrongGeneratorError(Exception):
    """A server has drng where it should not, or lacks it where it should."""


def environment(module: Path | None) -> dict[str, str]:
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "OPENSSL_CONF": "/dev/null"}
    if module is not None:
        env |= {"OPENSSL_CONF": str(ROOT / "conf" / "drng.cnf"), "OPENSSL_MODULES": str(module.parent)}
    return env


@contextlib.contextmanager
def running(
    kind: str, name: str, site: Site, cpu: int, module: Path | None, extra: Mapping[str, str]
) -> Iterator[Instance]:
    """On the strict profile with this module, or with None on nothing but OpenSSL's own generator."""
    ports = dict(zip(("rsa", "ec"), free_ports(2), strict=True))
    env = {**environment(module), **extra}
    with server(_on([cpu], KINDS[kind](site, name, ports)), env, ports["ec"]) as process:
        if maps(process.pid, ROOT / "build" / "release" / "drng.so") != (module is not None):
            raise WrongGeneratorError(f"{kind}, {name}")
        yield Instance(process.pid, ports)
