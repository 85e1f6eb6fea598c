"""Starts a real server on 127.0.0.1, waits until it listens, and ends it by its process id."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

STARTUP_SECONDS = 30


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def make_certificate(directory: Path, algorithm: str = "ec") -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1 and its key."""
    options = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}[algorithm]
    cert, key = directory / f"{algorithm}-cert.pem", directory / f"{algorithm}-key.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            *options,
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            str(key),
            "-out",
            str(cert),
        ],
        check=True,
        capture_output=True,
    )
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


@contextlib.contextmanager
def server(command: Sequence[str], env: Mapping[str, str], port: int) -> Iterator[subprocess.Popen[str]]:
    """A server in the foreground, from when it listens until the end of the block."""
    process = subprocess.Popen(
        list(command), env=dict(env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        wait_for(lambda: listens(port) or process.poll() is not None, f"{command[0]} to listen")
        assert process.poll() is None, process.communicate()[0]
        yield process
    finally:
        process.terminate()
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def descendants(pid: int) -> list[int]:
    """A process and all its living descendants."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += descendants(int(child))
    return found


def maps(pid: int, path: Path) -> bool:
    return str(path) in Path(f"/proc/{pid}/maps").read_text()
