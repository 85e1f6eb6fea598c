# SPDX-License-Identifier: Apache-2.0
"""Work that may hang or crash, done in child processes.

A process's memory and files may lie on a file system that never answers: then nothing but SIGKILL ends who reads them,
if that does. A hostile module may end whoever loads it. So the parent only ever waits for a pipe, and not for long. The
time is divided by units: an item that hangs uses up its own unit's.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .terminal import Failure

SECONDS = 5.0

# For all items together.
ALTOGETHER = 30.0
OUT_OF_TIME = "the time for its unit is over"

MOST_ANSWER = 1 << 22

PR_SET_PDEATHSIG = 1

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Missed:
    """No answer, and why."""

    reason: str


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _apart(kept: int, room: int) -> None:
    """A session of its own: whoever's code runs here finds no terminal that it could type into, and nothing that the
    parent has open. What needs more memory than `room` is a MemoryError, and an answer."""
    os.setsid()
    # Whoever types Ctrl-C does not reach that session: it ends with its parent, however that ends.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    _limit(resource.RLIMIT_CORE, 0)
    if room:
        _limit(resource.RLIMIT_AS, room)


class _Child:
    """Does the work of each item in turn, and answers by a pipe, a line for each."""

    def __init__(self, items: Sequence[Any], work: Work, room: int) -> None:
        # What cannot be opened raises here: of a child that ends for it, nobody would learn why.
        os.close(os.open(os.devnull, os.O_RDWR))
        self.pipe, answers = os.pipe()
        self.unread = b""
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _apart(answers, room)
                for item in items:
                    try:
                        answer = {"answer": work(item)}
                    except Exception as error:
                        answer = {"failure": f"{type(error).__name__}: {error}"}
                    line = json.dumps(answer).encode() + b"\n"
                    while line:
                        line = line[os.write(answers, line) :]
            finally:
                os._exit(0)
        os.close(answers)

    def line(self, seconds: float) -> bytes | None:
        """The next answer; b"" where the child has ended, None where it takes too long."""
        end = time.monotonic() + seconds
        while b"\n" not in self.unread:
            ready, _, _ = select.select([self.pipe], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            part = os.read(self.pipe, 1 << 16)
            if not part or len(self.unread) > MOST_ANSWER:
                return b""
            self.unread += part
        line, _, self.unread = self.unread.partition(b"\n")
        return line

    def end(self) -> str | None:
        """How it ended, None where it has not: it is killed, and not waited for, since the kernel may not let it go."""
        os.close(self.pipe)
        os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no answer"
            time.sleep(0.001)
        return None


def _answer(line: bytes) -> Any:
    """Of a child, in which somebody's module may have run: what is no answer is Missed."""
    try:
        answer = json.loads(line)
        return answer["answer"] if "answer" in answer else Missed(str(answer["failure"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return Missed("looking at it gave no answer")


def each(
    items: Sequence[Any],
    work: Work,
    seconds: float = SECONDS,
    altogether: float = math.inf,
    unit_of: Callable[[Any], Any] = lambda _: None,
    room: int = 0,
) -> Iterator[tuple[Any, Any]]:
    """
    Each item with the answer of work(item), which JSON can carry, or with a Missed. Those of the unit that has fewest
    come first, and it has an equal part of the time that is left: it uses up no other's. An item has `seconds` at most.
    A child may take `room` bytes of memory, or any with 0.
    """
    end = time.monotonic() + altogether
    by_unit: dict[Any, list[Any]] = {}
    for item in items:
        by_unit.setdefault(unit_of(item), []).append(item)
    groups = sorted(by_unit.values(), key=len)
    to_do = [item for group in groups for item in group]
    child: _Child | None = None
    try:
        for number, group in enumerate(groups):
            until = time.monotonic() + (end - time.monotonic()) / (len(groups) - number)
            for item in group:
                had, line, missed = min(seconds, until - time.monotonic()), None, OUT_OF_TIME
                if had > 0:
                    child = child or _Child(to_do, work, room)
                    line = child.line(had)
                to_do = to_do[1:]
                # It is at this item still, or would go on with it.
                if child is not None and not line:
                    how, child = child.end(), None
                    if had > 0:
                        late = f"no answer within {round(had, 1):g} seconds"
                        missed = late if line is None else f"looking at it ended with {how or 'no answer'}"
                    # Each of its others might leave one more child that cannot be ended.
                    until = until if how else 0.0
                yield item, _answer(line) if line else Missed(missed)
    finally:
        if child is not None:
            child.end()


def once(work: Callable[[], Any], seconds: float, room: int = 0) -> Any:
    """The answer of work(); a Failure where there is none."""
    ((_, answer),) = each([None], lambda _: work(), seconds=seconds, room=room)
    if isinstance(answer, Missed):
        raise Failure(answer.reason)
    return answer
