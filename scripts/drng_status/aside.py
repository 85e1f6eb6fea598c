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


def _serve(orders: int, answers: int, items: Sequence[Any], work: Work, null: int) -> None:
    """The child: an answer a line, to each number of an item. Its standard streams are nobody's, so that who waits for
    their end need not wait."""
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    with os.fdopen(orders, "rb", buffering=0) as stream:
        for order in stream:
            try:
                answer = {"answer": work(items[int(order)])}
            except Exception as error:
                answer = {"failure": f"{type(error).__name__}: {error}"}
            line = json.dumps(answer).encode() + b"\n"
            while line:
                line = line[os.write(answers, line) :]


def _start(items: Sequence[Any], work: Work) -> tuple[int, tuple[int, int], int]:
    """The child, both ends of the pipe that it is told through, and the pipe that it answers through. With both ends
    open in the parent, an order to a child that has ended is no SIGPIPE. What cannot be opened raises here: of a child
    that ends for it, nobody would learn why."""
    null = os.open(os.devnull, os.O_RDWR)
    orders, tell = os.pipe()
    listen, answers = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(tell)
            os.close(listen)
            _serve(orders, answers, items, work, null)
        finally:
            os._exit(0)
    os.close(answers)
    os.close(null)
    return pid, (orders, tell), listen


class _Child:
    def __init__(self, items: Sequence[Any], work: Work) -> None:
        self.pid, self.orders, self.pipe = _start(items, work)
        self.unread = b""

    def ask(self, number: int) -> None:
        """For the answer to the item of that number; line() tells if the child has ended."""
        os.write(self.orders[1], b"%d\n" % number)

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
        for descriptor in (*self.orders, self.pipe):
            os.close(descriptor)
        os.kill(self.pid, signal.SIGKILL)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no answer"
            time.sleep(0.001)
        return "no answer"


@dataclass
class _Share:
    """What one owner has of the time."""

    todo: list[int]  # numbers of its items, the next one first
    used: float = 0.0
    late: int = 0

    def wait(self, seconds: float) -> float:
        return seconds if self.late < PATIENCE else min(seconds, HURRIED)


def _shares(items: Sequence[Any], owner_of: Callable[[Any], Any]) -> list[_Share]:
    shares: dict[Any, _Share] = {}
    for number, item in enumerate(items):
        shares.setdefault(owner_of(item), _Share([])).todo.append(number)
    for share in shares.values():
        share.todo.reverse()
    return list(shares.values())


def each(
    items: Sequence[Any],
    work: Work,
    seconds: float = SECONDS,
    altogether: float = math.inf,
    owner_of: Callable[[Any], Any] = lambda _: None,
) -> Iterator[tuple[Any, Any]]:
    """
    Each item with the answer of work(item), which JSON can carry, or with a Failure. The first item comes first. After
    that it is always the turn of the owner whose items have taken the least time: the others wait for one item of
    somebody's whose items take long, and not for all of them.
    """
    shares, end = _shares(items, owner_of), time.monotonic() + altogether
    child: _Child | None = None
    try:
        while (waiting := [share for share in shares if share.todo]) and (now := time.monotonic()) < end:
            # Of two that have used the same, the one whose item stands before the other's.
            share = min(waiting, key=lambda share: (share.used, share.todo[-1]))
            child = child or _Child(items, work)
            number, wait = share.todo[-1], share.wait(seconds)
            child.ask(number)
            line = child.line(min(wait, end - now))
            share.used += time.monotonic() - now
            if line:
                answer = json.loads(line)
                result = answer["answer"] if "answer" in answer else Failure(answer["failure"])
            else:
                ended, child = child, None
                how = ended.end()
                if line is None and time.monotonic() >= end:
                    break
                share.late += line is None
                late = f"no answer within {seconds:g} seconds"
                result = Failure(late if line is None else f"looking at it ended with {how}")
            share.todo.pop()
            yield items[number], result
    finally:
        if child is not None:
            child.end()
    left = sorted(number for share in shares for number in share.todo)
    yield from ((items[number], Failure(OUT_OF_TIME)) for number in left)


def once(work: Callable[[], Any], seconds: float) -> Any:
    """The answer of work(), or a Failure."""
    ((_, answer),) = each([None], lambda _: work(), seconds)
    return answer
