"""The programs that drng-enable asks: by fixed paths, in its own environment, which holds nothing of the caller's."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from .output import Failure

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
HERE = Path(__file__).resolve().parent.parent
SECONDS = 120


def run(*command: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Its result, whatever that is; fails where the program is not there or does not end."""
    try:
        return subprocess.run(
            command,
            env={**os.environ, **(env or {})},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise Failure(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Failure(f"{command[0]} has not ended in {SECONDS} seconds") from None


def _installed(name: str) -> str:
    """A program of the system, from its own directories alone."""
    for directory in PATH.split(":"):
        if os.access(f"{directory}/{name}", os.X_OK):
            return f"{directory}/{name}"
    raise Failure(f"{name} is not installed")


def _companion(name: str) -> Path:
    """What comes with this program: beside it in the sources, in bin beside share/drng where it is installed."""
    for directory in (HERE, HERE.parent.parent / "bin"):
        if (directory / name).is_file():
            return directory / name
    raise Failure(f"{name} is not installed beside drng-enable")


# ---- A text as a file ----


@contextlib.contextmanager
def as_file(text: str) -> Iterator[str]:
    """For programs that take a name: a file in memory, of which nothing is left however we end."""
    fd = os.memfd_create("openssl.cnf", os.MFD_CLOEXEC)
    try:
        rest = memoryview(text.encode(errors="surrogateescape"))
        while rest:
            rest = rest[os.write(fd, rest) :]
        path = f"/proc/{os.getpid()}/fd/{fd}"
        if os.path.exists(path):
            yield path
            return
    finally:
        os.close(fd)
    with tempfile.NamedTemporaryFile("w", dir="/tmp", prefix="drng-enable-", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        yield file.name


# ---- openssl ----


def openssl(*arguments: str, conf: str = "/dev/null") -> subprocess.CompletedProcess[str]:
    return run(_installed("openssl"), *arguments, env={"OPENSSL_CONF": conf})


def openssl_directory(option: str) -> str:
    """What `openssl version` says of itself: -d where openssl.cnf is, -m where modules are."""
    found = re.search(r'"([^"]*)"', openssl("version", option).stdout)
    if found is None:
        raise Failure(f"the output of openssl version {option} cannot be understood")
    return found[1]


def openssl_version() -> tuple[int, ...]:
    found = re.search(r"OpenSSL (\d+)\.(\d+)", openssl("version").stdout)
    return tuple(map(int, found.groups())) if found else ()


# ---- systemd-run ----


def systemd_run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run(_installed("systemd-run"), "--quiet", "--no-ask-password", *arguments)


# ---- drng's own ----


def own_path() -> str:
    """Of drng-enable itself, for a unit of systemd's."""
    for directory in (HERE, HERE.parent.parent / "sbin"):
        if (directory / "drng-enable").is_file():
            return str(directory / "drng-enable")
    raise Failure("drng-enable itself cannot be found")


def drng_conf() -> ModuleType:
    """It reads a file and runs nothing, so it does so in this process."""
    path = _companion("drng-conf")
    loader = importlib.machinery.SourceFileLoader("drng_conf", str(path))
    spec = importlib.util.spec_from_loader("drng_conf", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["drng_conf"] = module
    loader.exec_module(module)
    return module


def drng_status(conf: str) -> dict[str, Any]:
    """Who serves a program under this file."""
    path = _companion("drng-status")
    result = run("/usr/bin/python3", "-I", str(path), "--json", env={"OPENSSL_CONF": conf})
    try:
        return json.loads(result.stdout)
    except ValueError:
        raise Failure(f"drng-status gives no answer: {result.stderr.strip() or result.returncode}") from None
