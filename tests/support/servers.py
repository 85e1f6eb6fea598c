# SPDX-License-Identifier: Apache-2.0
"""Starts real servers on 127.0.0.1, waits until they listen, and ends them by their process ids.

A Kind knows how one sort of server is configured and reloaded; a Site is what it serves: two ports, one with an RSA
certificate, one with an ECDSA certificate. `running` starts a Kind on a Site.
"""

import contextlib
import functools
import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

STARTUP_SECONDS = 30
PAGE = "served with random numbers from drng"
PORTS = ("rsa", "ec")
PROGRAMS = Path(__file__).resolve().parents[1] / "programs"

# Debian's python3 with Debian's libcrypto, whatever comes first in PATH.
SYSTEM_PYTHON = "/usr/bin/python3"


# ---- Ports, certificates, processes ----


FIRST_PORT = 10000


def is_free(port: int) -> bool:
    with socket.socket() as s, contextlib.suppress(OSError):
        s.bind(("127.0.0.1", port))
        return True
    return False


def free_ports(count: int) -> list[int]:
    """Different ones, below those that clients are given: a server that reloads may close its port for a moment."""
    first_of_clients = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports = range(FIRST_PORT, max(first_of_clients, FIRST_PORT + 1000))
    return list(itertools.islice(filter(is_free, random.sample(ports, len(ports))), count))


def make_certificate(directory: Path, algorithm: str = "ec") -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1 and its key."""
    options = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}[algorithm]
    cert, key = directory / f"{algorithm}-cert.pem", directory / f"{algorithm}-key.pem"
    command = ["openssl", "req", "-x509", "-newkey", *options, "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


def listens(port: int) -> bool:
    with socket.socket() as s:
        s.settimeout(1)
        return s.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition: Callable[[], bool], what: str, seconds: float = STARTUP_SECONDS) -> None:
    """Polls a state of another process for which there is no event to wait for."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def descendants(pid: int) -> list[int]:
    """A process and all its living descendants; one that ends meanwhile is left out."""
    found = [pid]
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += descendants(int(child))
    return found


def mappings(pid: int) -> list[str]:
    """What a process has in its memory; nothing where it is gone or about to."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/maps").read_text().splitlines()
    return []


def maps(pid: int, path: Path) -> bool:
    return any(line.endswith(f" {path}") for line in mappings(pid))


def lacks(pid: int, path: Path) -> bool:
    """Whether a process that is there does not map a file."""
    lines = mappings(pid)
    return bool(lines) and not any(line.endswith(f" {path}") for line in lines)


def alive(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def end(process: subprocess.Popen[str]) -> None:
    """Asks once, then insists, until the process and its descendants are gone."""
    family = descendants(process.pid)
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in family):
        if time.monotonic() > deadline:
            for pid in family:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


@contextlib.contextmanager
def server(command: Sequence[str], env: Mapping[str, str], port: int) -> Iterator[subprocess.Popen[str]]:
    """A server in the foreground, from when it listens until the end of the block."""
    with tempfile.TemporaryFile("w+") as log:
        # A process group of its own: Apache's prefork ends all of the one that it finds itself in.
        process = subprocess.Popen(
            list(command), env=dict(env), stdout=log, stderr=subprocess.STDOUT, text=True, process_group=0
        )
        try:
            wait_for(lambda: listens(port) or process.poll() is not None, f"{command[0]} to listen")
            if process.poll() is not None:
                log.seek(0)
                raise AssertionError(log.read())
            yield process
        finally:
            end(process)


# ---- Sites ----


WORKERS, CONNECTIONS = 2, 1024


@dataclass(frozen=True)
class Site:
    """What a server serves. Its directory can be read by workers that have dropped their privileges."""

    directory: Path
    ports: Mapping[str, int]
    backend: int  # of those that only hand on what they have decrypted

    def file(self, suffix: str) -> Path:
        return self.directory / f"server.{suffix}"

    def cert(self, port: str) -> Path:
        """The certificate of a port, which is its own authority."""
        return self.directory / f"{port}-cert.pem"

    def key(self, port: str) -> Path:
        return self.directory / f"{port}-key.pem"

    @property
    def log(self) -> Path:
        return self.file("log")


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@functools.cache
def _certificates() -> tempfile.TemporaryDirectory[str]:
    """Those of every site: an RSA key takes its time."""
    result = tempfile.TemporaryDirectory()
    make_certificate(Path(result.name), "rsa")
    make_certificate(Path(result.name), "ec")
    return result


@contextlib.contextmanager
def new_site() -> Iterator[Site]:
    # Not pytest's directory, whose parents are closed to other users.
    with tempfile.TemporaryDirectory() as name, ThreadingHTTPServer(("127.0.0.1", 0), _Page) as backend:
        directory = Path(name)
        shutil.copytree(_certificates().name, directory, dirs_exist_ok=True)
        directory.chmod(0o755)
        (directory / "index.html").write_text(PAGE)
        thread = threading.Thread(target=backend.serve_forever, daemon=True)
        thread.start()
        yield Site(directory, dict(zip(PORTS, free_ports(len(PORTS)), strict=True)), backend.server_address[1])
        backend.shutdown()
        thread.join()


# ---- Kinds ----


class Kind:
    """A sort of server. `configure` writes what it needs and says how it is started in the foreground."""

    name: str
    # None where another configuration takes another process.
    reload_signal: signal.Signals | None = signal.SIGHUP
    has_workers = True
    # Whether connections that arrive during a reload are all answered.
    seamless = True
    # What its log says whenever it has taken up its configuration; "" where there is no such line.
    says_started = ""

    def configure(self, site: Site) -> list[str]:
        raise NotImplementedError

    def settled(self, site: Site) -> bool:
        """Whether a server that listens and has its workers is ready to be reloaded."""
        return True

    def __str__(self) -> str:
        return self.name


class Nginx(Kind):
    name = "nginx"

    def configure(self, site: Site) -> list[str]:
        servers = ""
        for port, number in site.ports.items():
            servers += f"""
    server {{
        listen 127.0.0.1:{number} ssl backlog=4096;
        ssl_certificate {site.cert(port)};
        ssl_certificate_key {site.key(port)};
    }}"""
        path = site.file("conf")
        path.write_text(f"""\
worker_processes {WORKERS};
pid {site.file("pid")};
error_log {site.log} crit;
events {{ worker_connections {CONNECTIONS}; }}
http {{
    access_log off;
    sendfile on;
    root {site.directory};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:drng:1m;
{servers}
}}
""")
        return ["/usr/sbin/nginx", "-c", str(path), "-g", "daemon off;"]


class Apache(Kind):
    reload_signal = signal.SIGUSR1
    says_started = "resuming normal operations"

    def __init__(self, mpm: str) -> None:
        self.mpm = mpm
        # In a graceful restart event resets a connection now and then, whosever the random numbers are.
        self.seamless = mpm == "prefork"
        self.name = f"apache-{mpm}"

    def configure(self, site: Site) -> list[str]:
        modules = Path("/usr/lib/apache2/modules")
        names = [f"mpm_{self.mpm}", "authz_core", "dir", "socache_shmcb", "ssl"]
        hosts = ""
        for port, number in site.ports.items():
            hosts += f"""
Listen 127.0.0.1:{number}
<VirtualHost 127.0.0.1:{number}>
SSLEngine on
SSLCertificateFile {site.cert(port)}
SSLCertificateKeyFile {site.key(port)}
</VirtualHost>"""
        path = site.file("conf")
        path.write_text(f"""\
ServerRoot {site.directory}
ServerName localhost
PidFile {site.file("pid")}
DefaultRuntimeDir {site.directory}
ErrorLog {site.log}
LogLevel crit
User www-data
Group www-data
{"".join(f"LoadModule {n}_module {modules}/mod_{n}.so{chr(10)}" for n in names)}
StartServers {WORKERS}
ListenBacklog 4096
SSLProtocol -all +TLSv1.2 +TLSv1.3
SSLSessionCache shmcb:{site.file("sessions")}(512000)
DocumentRoot {site.directory}
<Directory {site.directory}>
Require all granted
</Directory>
{hosts}
""")
        return ["/usr/sbin/apache2", "-f", str(path), "-DFOREGROUND"]


class HAProxy(Kind):
    """One process with threads, or a master and such a worker, which a reload replaces.

    Several workers at once are gone from HAProxy since 2.5: old and new beside each other are what is left of them.
    """

    def __init__(self, mode: str) -> None:
        self.name = f"haproxy-{mode}"
        self.option = {"threads": "-db", "master": "-W"}[mode]
        self.has_workers = mode == "master"
        self.reload_signal = {"threads": None, "master": signal.SIGUSR2}[mode]

    def configure(self, site: Site) -> list[str]:
        frontends = ""
        for port, number in site.ports.items():
            pem = site.file(f"{port}.pem")
            pem.write_text(site.key(port).read_text() + site.cert(port).read_text())
            frontends += f"""
frontend {port}
    bind 127.0.0.1:{number} ssl crt {pem} backlog 4096
    http-request return status 200 content-type text/plain string "{PAGE}" if {{ path / /index.html }}
    default_backend files
"""
        path = site.file("cfg")
        path.write_text(f"""\
global
    nbthread {WORKERS}
    maxconn {CONNECTIONS}
    stats socket {site.file("sock")} mode 600 level admin expose-fd listeners
    ssl-default-bind-options ssl-min-ver TLSv1.2
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
{frontends}
backend files
    server files 127.0.0.1:{site.backend}
""")
        master_cli = ["-S", str(self._master_cli(site))] if self.has_workers else []
        return ["/usr/sbin/haproxy", self.option, "-f", str(path), *master_cli]

    def _master_cli(self, site: Site) -> Path:
        return site.file("master.sock")

    def settled(self, site: Site) -> bool:
        """The master executes itself anew after every start of a worker, and hears no signal until it answers here."""
        if not self.has_workers:
            return True
        with socket.socket(socket.AF_UNIX) as s, contextlib.suppress(OSError):
            s.settimeout(1)
            s.connect(str(self._master_cli(site)))
            s.sendall(b"show proc\n")
            return b"master" in s.recv(4096)
        return False


class Python(Kind):
    """tests/programs/tls_server.py: a process for each connection."""

    name = "python-fork"
    reload_signal = None

    def configure(self, site: Site) -> list[str]:
        services = (word for port, number in site.ports.items() for word in (number, site.cert(port), site.key(port)))
        return [SYSTEM_PYTHON, str(PROGRAMS / "tls_server.py"), PAGE, *map(str, services)]


NGINX = Nginx()
APACHE_EVENT = Apache("event")
APACHE_PREFORK = Apache("prefork")
HAPROXY_THREADS = HAProxy("threads")
HAPROXY_MASTER = HAProxy("master")
PYTHON_FORK = Python()
KINDS: tuple[Kind, ...] = (
    NGINX,
    APACHE_EVENT,
    APACHE_PREFORK,
    HAPROXY_THREADS,
    HAPROXY_MASTER,
    PYTHON_FORK,
)


# ---- Running ----


@dataclass(frozen=True)
class Running:
    """A server that listens on its site's ports."""

    kind: Kind
    site: Site
    process: subprocess.Popen[str]

    def processes(self) -> list[int]:
        """The first one, and its living descendants."""
        return descendants(self.process.pid)

    def without(self, module: Path) -> list[int]:
        """Those of its processes that do not map the module. Looks twice: one that ends may be read in half."""
        return [pid for pid in self.processes() if lacks(pid, module) and lacks(pid, module)]

    def workers(self) -> set[int]:
        return set(self.processes()) - {self.process.pid}

    def starts(self) -> int:
        """How often it has said in its log, if there is one yet, that it has taken up its configuration."""
        with contextlib.suppress(FileNotFoundError):
            return self.site.log.read_text().count(self.kind.says_started)
        return 0

    def reload(self) -> None:
        """Reads its configuration again, and returns when the old workers are gone and new ones are there."""
        assert self.kind.reload_signal is not None
        old, before = self.workers(), self.starts() if self.kind.says_started else 0
        self.process.send_signal(self.kind.reload_signal)
        if self.kind.says_started:
            wait_for(lambda: self.starts() > before, f"{self.kind} to read its configuration")
        wait_for(lambda: not any(alive(pid) for pid in old), f"the old workers of {self.kind} to end")
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        for port in self.site.ports.values():
            wait_for(lambda port=port: listens(port), f"{self.kind} to listen on {port}")  # type: ignore[misc]
        if self.kind.has_workers:
            wait_for(lambda: bool(self.workers()), f"{self.kind} to have workers")
        wait_for(lambda: self.kind.settled(self.site), f"{self.kind} to settle")


def refusal(kind: Kind, site: Site, env: Mapping[str, str]) -> str:
    """What a server says that does not start; fails where it does."""
    result = subprocess.run(
        kind.configure(site),
        env=dict(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=STARTUP_SECONDS,
        process_group=0,
        check=False,
    )
    assert result.returncode != 0, f"{kind}: {result.stdout}"
    return result.stdout + (site.log.read_text() if site.log.exists() else "")


@contextlib.contextmanager
def running(kind: Kind, site: Site, env: Mapping[str, str]) -> Iterator[Running]:
    with server(kind.configure(site), env, next(iter(site.ports.values()))) as process:
        result = Running(kind, site, process)
        if kind.says_started:
            wait_for(lambda: result.starts() > 0, f"{kind} to read its configuration")
        result.wait_until_ready()
        yield result
