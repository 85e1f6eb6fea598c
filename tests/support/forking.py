# SPDX-License-Identifier: Apache-2.0
"""A Python that forks for each program that it runs: to start one takes longer than what drng-enable does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

SECONDS = 60

# Imports what drng-enable imports of Python's own, and then runs one program a line: its words, and the files for what
# it says. The program is imported anew each time, from wherever it is.
SERVER = f"""
import argparse, contextlib, ctypes, dataclasses, difflib, fcntl, fnmatch, importlib.util, json, os, pathlib, re, runpy
import shutil, signal, stat, subprocess, sys, tempfile, types, typing
while line := sys.stdin.readline():
    words, *files = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.alarm({SECONDS})
        for fd, name in enumerate(["/dev/null", *files]):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), fd)
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forking:
    """Runs Python programs as subprocess.run() does, without the caller's environment."""

    def __init__(self, folder: Path, enter: Sequence[str] = ()) -> None:
        """`enter` is what runs it elsewhere, as in an image."""
        self._files = [str(folder / "out"), str(folder / "err")]
        # As Image has it: with this environment, nothing would load.
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OPENSSL_CONF": "/nowhere", "OPENSSL_MODULES": "/nowhere"}
        self._server = subprocess.Popen(
            [*enter, "/usr/bin/python3", "-I", "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env=env,
        )

    def __enter__(self) -> Forking:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.communicate()

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([command, *self._files]) + "\n")
        self._server.stdin.flush()
        status = int(self._server.stdout.readline())
        said = [Path(name).read_text(errors="surrogateescape") for name in self._files]
        return subprocess.CompletedProcess(command, status, *said)


# Counts the calls that change something, and dies before one of them.
DIES = """
import os, runpy, signal, sys
left = int(sys.argv.pop(1))
def deadly(name):
    call = getattr(os, name)
    def die(*arguments, **named):
        global left
        if name != "open" or arguments[1] & os.O_CREAT:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)
    setattr(os, name, die)
for name in ("open", "write", "fchmod", "fsync", "rename", "unlink", "mkdir", "rmdir"):
    deadly(name)
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
