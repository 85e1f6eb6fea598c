"""Work that may hang or crash, done in child processes.

A process's memory and files may lie on a file system that never answers: then nothing but SIGKILL ends who reads them,
if that does. A hostile module may end whoever loads it. So the parent only ever waits for a pipe, and not for long.
"""

from __future__ import annotations

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

SECONDS = 5.0

# For all items together: hundreds that are slow, or that hang, would add up to minutes.
ALTOGETHER = 30.0
OUT_OF_TIME = "not looked at: out of time"

# Whoever makes many that hang shall not stop the rest from being looked at.
PATIENCE, HURRIED = 4, 0.1

MOST_ANSWER = 1 << 22

# Whoever cannot be ended stays until what it waits for answers: there are to be no more of these for an owner's items.
MOST_UNENDED = 2
GIVEN_UP = (
    "not looked at: children that look at this user's processes wait for a file system that does not answer, as FUSE "
    "may, and cannot be ended; end this user's processes, or unmount that file system (umount -f)"
)

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Failure:
    """No answer, and why."""

    reason: str


def _limit(room: int) -> None:
    """No more memory than that in addition to what there is; what needs more is a MemoryError, and an answer."""
    with open("/proc/self/statm", encoding="ascii") as file:
        most = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + room
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


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


class _Child:
    """It is told the numbers of items by one pipe, and answers by another."""

    def __init__(self, items: Sequence[Any], work: Work, room: int) -> None:
        # What cannot be opened raises here: of a child that ends for it, nobody would learn why.
        null = os.open(os.devnull, os.O_RDWR)
        # With both ends open here, an order to a child that has ended is no SIGPIPE.
        self.orders = os.pipe()
        self.pipe, answers = os.pipe()
        self.unread = b""
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.close(self.orders[1])
                os.close(self.pipe)
                if room:
                    _limit(room)
                _serve(self.orders[0], answers, items, work, null)
            finally:
                os._exit(0)
        os.close(answers)
        os.close(null)

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

    def end(self) -> str | None:
        """How it ended, None where it has not: it is killed, and not waited for, since the kernel may not let it go."""
        for descriptor in (*self.orders, self.pipe):
            os.close(descriptor)
        os.kill(self.pid, signal.SIGKILL)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no answer"
            time.sleep(0.001)
        return None


@dataclass
class _Share:
    """What one owner has of the time."""

    todo: list[int]  # numbers of its items, the next one first
    used: float = 0.0
    late: int = 0
    unended: int = 0

    def wait(self, seconds: float) -> float:
        return seconds if self.late < PATIENCE else min(seconds, HURRIED)


def _shares(items: Sequence[Any], owner_of: Callable[[Any], Any], unended: Sequence[Any]) -> list[_Share]:
    shares: dict[Any, _Share] = {}
    for number, item in enumerate(items):
        shares.setdefault(owner_of(item), _Share([])).todo.append(number)
    for owner, share in shares.items():
        share.todo.reverse()
        share.unended = unended.count(owner)
    return list(shares.values())


def each(
    items: Sequence[Any],
    work: Work,
    seconds: float = SECONDS,
    altogether: float = math.inf,
    owner_of: Callable[[Any], Any] = lambda _: None,
    room: int = 0,
    unended: Sequence[Any] = (),
) -> Iterator[tuple[Any, Any]]:
    """
    Each item with the answer of work(item), which JSON can carry, or with a Failure. The first item comes first. After
    that it is always the turn of the owner whose items have taken the least time: the others wait for one item of
    somebody's whose items take long, and not for all of them. A child may take `room` bytes of memory, or any with 0.
    `unended` are the owners of what children of earlier runs look at that cannot be ended: an owner who has too many of
    these, with those of this run, is given up.
    """
    shares, end = _shares(items, owner_of, unended), time.monotonic() + altogether
    child: _Child | None = None
    try:
        while (waiting := [share for share in shares if share.todo]) and (now := time.monotonic()) < end:
            # Of two that have used the same, the one whose item stands before the other's.
            share = min(waiting, key=lambda share: (share.used, share.todo[-1]))
            if share.unended >= MOST_UNENDED:
                yield items[share.todo.pop()], Failure(GIVEN_UP)
                continue
            child = child or _Child(items, work, room)
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
                share.unended += how is None
                if line is None and time.monotonic() >= end:
                    break
                share.late += line is None
                late = f"no answer within {seconds:g} seconds"
                result = Failure(late if line is None else f"looking at it ended with {how or 'no answer'}")
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
