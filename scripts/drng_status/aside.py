"""Work that may hang or crash, done in child processes.

A process's memory and files may lie on a file system that never answers: then nothing but SIGKILL ends who reads them,
if that does. A hostile module may end whoever loads it. So the parent only ever waits for a pipe, and not for long.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

SECONDS = 5.0

# For all items together: hundreds that are slow, or that hang, would add up to minutes.
ALTOGETHER = 30.0
OUT_OF_TIME = "not looked at: out of time"

# Whoever makes many that hang shall not stop the rest from being looked at.
PATIENCE, HURRIED = 4, 0.1

MOST_ANSWER = 1 << 22

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Failure:
    """No answer, and why."""

    reason: str


def _serve(pipe: int, items: Sequence[Any], work: Work) -> None:
    """The child: an answer a line. Its standard streams are nobody's, so that who waits for their end need not wait."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    for item in items:
        try:
            answer = {"answer": work(item)}
        except Exception as error:
            answer = {"failure": f"{type(error).__name__}: {error}"}
        line = json.dumps(answer).encode() + b"\n"
        while line:
            line = line[os.write(pipe, line) :]


def _start(items: Sequence[Any], work: Work) -> tuple[int, int]:
    """The child, and the pipe that it answers through."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(ours)
            _serve(theirs, items, work)
        finally:
            os._exit(0)
    os.close(theirs)
    return pid, ours


class _Child:
    def __init__(self, items: Sequence[Any], work: Work) -> None:
        self.pid, self.pipe = _start(items, work)
        self.unread = b""

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

    def end(self) -> str:
        """How it ended; it is killed if it has not, and not waited for, since the kernel may not let it go."""
        os.close(self.pipe)
        os.kill(self.pid, signal.SIGKILL)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no answer"
            time.sleep(0.001)
        return "no answer"


def each(
    items: Sequence[Any], work: Work, seconds: float = SECONDS, altogether: float = math.inf
) -> Iterator[tuple[Any, Any]]:
    """Each item with the answer of work(item), which JSON can carry, or with a Failure."""
    todo, late, end = list(items), 0, time.monotonic() + altogether
    while todo and time.monotonic() < end:
        child = _Child(todo, work)
        try:
            while todo and time.monotonic() < end:
                wait = seconds if late < PATIENCE else min(seconds, HURRIED)
                line = child.line(min(wait, max(0.0, end - time.monotonic())))
                if not line:
                    late += line is None
                    break
                answer = json.loads(line)
                item = todo.pop(0)
                yield item, answer["answer"] if "answer" in answer else Failure(answer["failure"])
        finally:
            how = child.end()
        if todo and time.monotonic() < end:
            reason = f"no answer within {seconds:g} seconds" if line is None else f"looking at it ended with {how}"
            yield todo.pop(0), Failure(reason)
    yield from ((item, Failure(OUT_OF_TIME)) for item in todo)


def once(work: Callable[[], Any], seconds: float) -> Any:
    """The answer of work(), or a Failure."""
    ((_, answer),) = each([None], lambda _: work(), seconds)
    return answer
