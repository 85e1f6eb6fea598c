# SPDX-License-Identifier: Apache-2.0
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

# For the reading of one file, which may include a FIFO.
SECONDS = 20


def companion(name: str) -> str:
    """What comes with this program, and this program itself."""
    for folder in (HERE, HERE.parent / "bin", HERE.parent / "sbin"):
        if (folder / name).is_file():
            return str(folder / name)
    raise Failure(f"{name} is not installed beside drng-enable")


# ---- A text as a file ----


@contextlib.contextmanager
def as_file(text: str) -> Iterator[tuple[str, int]]:
    """For programs that take a name: a file in memory, of which nothing is left however we end, and its descriptor, by
    which another user's program may read it; or -1."""
    if not os.path.exists("/proc/self/fd"):
        with tempfile.NamedTemporaryFile("w", dir="/tmp", prefix="drng-enable-", errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            yield file.name, -1
        return
    with closing(os.memfd_create("openssl.cnf")) as fd:
        rest = memoryview(text.encode(errors="surrogateescape"))
        while rest:
            rest = rest[os.write(fd, rest) :]
        yield f"/proc/{os.getpid()}/fd/{fd}", fd


# ---- openssl, and drng's own ----


def as_user(user: str) -> list[str]:
    """What runs a command with this user's rights."""
    return ["setpriv", f"--reuid={user}", f"--regid={group_of(user)}", "--init-groups"] if user else []


def group_of(user: str) -> str:
    return systemd.run("id", "-g", user).stdout.strip() or user


def run(text: str, *command: str, user: str = "") -> systemd.Result:
    """A program under this text as its openssl.cnf."""
    with as_file(text) as (name, fd):
        name = f"/proc/self/fd/{fd}" if user and fd >= 0 else name
        passed = (fd,) if fd >= 0 else ()
        result = systemd.run(*as_user(user), *command, seconds=SECONDS, descriptors=passed, OPENSSL_CONF=name)
        result.stderr = result.stderr.replace(name, "openssl.cnf")
        return result


def openssl(*arguments: str, text: str = "", user: str = "") -> systemd.Result:
    return run(text, "openssl", *arguments, user=user)


def openssl_directory(option: str) -> str:
    """What `openssl version` says of itself: -d where openssl.cnf is, -m where modules are."""
    found = re.search(r'"([^"]*)"', openssl("version", option).stdout)
    if found is None:
        raise Failure(f"the output of openssl version {option} cannot be understood")
    return found[1]


def drng_status(text: str, user: str = "") -> dict[str, Any]:
    """Who serves a program that starts under this text."""
    result = run(text, "python3", "-IS", companion("drng-status"), "--json", user=user)
    try:
        return json.loads(result.stdout)
    except ValueError:
        raise Failure(f"drng-status gives no answer: {result.stderr.strip() or result.returncode}") from None
