"""The programs that drng-enable asks: by fixed paths, in its own environment, which holds nothing of the caller's."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import systemd
from ..procfs import closing
from ..terminal import Failure

# In the sources, below the programs; installed, in share, beside bin and sbin.
HERE = Path(__file__).resolve().parent.parent.parent


def companion(name: str) -> str:
    """What comes with this program, and this program itself."""
    for folder in (HERE, HERE.parent / "bin", HERE.parent / "sbin"):
        if (folder / name).is_file():
            return str(folder / name)
    raise Failure(f"{name} is not installed beside drng-enable")


# ---- A text as a file ----


@contextlib.contextmanager
def as_file(text: str) -> Iterator[str]:
    """For programs that take a name: a file in memory, of which nothing is left however we end."""
    with closing(os.memfd_create("openssl.cnf", os.MFD_CLOEXEC)) as fd:
        rest = memoryview(text.encode(errors="surrogateescape"))
        while rest:
            rest = rest[os.write(fd, rest) :]
        path = f"/proc/{os.getpid()}/fd/{fd}"
        if os.path.exists(path):
            yield path
            return
    with tempfile.NamedTemporaryFile("w", dir="/tmp", prefix="drng-enable-", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        yield file.name


# ---- openssl ----


def openssl(*arguments: str, conf: str = "/dev/null") -> systemd.Result:
    return systemd.run("openssl", *arguments, OPENSSL_CONF=conf)


def openssl_directory(option: str) -> str:
    """What `openssl version` says of itself: -d where openssl.cnf is, -m where modules are."""
    found = re.search(r'"([^"]*)"', openssl("version", option).stdout)
    if found is None:
        raise Failure(f"the output of openssl version {option} cannot be understood")
    return found[1]


# ---- drng's own ----


def drng_status(conf: str) -> dict[str, Any]:
    """Who serves a program under this file."""
    result = systemd.run("/usr/bin/python3", "-I", companion("drng-status"), "--json", OPENSSL_CONF=conf)
    try:
        return json.loads(result.stdout)
    except ValueError:
        raise Failure(f"drng-status gives no answer: {result.stderr.strip() or result.returncode}") from None
