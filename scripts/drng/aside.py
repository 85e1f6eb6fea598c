# SPDX-License-Identifier: Apache-2.0
"""Work that may hang or crash, done in child processes.

A process's memory and files may lie on a file system that never answers: then nothing but SIGKILL ends who reads them,
if that does. A hostile module may end whoever loads it. So the parent only ever waits for a pipe, and not for long. Of
an owner whose item has hung or crashed, no other item is tried: an owner costs one child and one deadline.
"""

from __future__ import annotations

import contextlib
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
OUT_OF_TIME = "not looked at: out of time"
GIVEN_UP = "not looked at: another process of this user does not let itself be looked at"
UNENDED = (
    "not looked at: a child that looks at this user's processes waits for a file system that does not answer, as FUSE "
    "may, and cannot be ended; end this user's processes, or unmount that file system (umount -f)"
)

MOST_ANSWER = 1 << 22

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Missed:
    """No answer, and why."""

    reason: str


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _apart(kept: Sequence[int], room: int) -> None:
    """A session of its own: whoever's code runs here finds no terminal that it could type into, and nothing that the
    parent has open. What needs more memory than `room` is a MemoryError, and an answer."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    last = 2
    for descriptor in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        os.closerange(last + 1, descriptor)
        last = descriptor
    _limit(resource.RLIMIT_CORE, 0)
    if room:
        _limit(resource.RLIMIT_AS, room)


def _serve(orders: int, answers: int, items: Sequence[Any], work: Work) -> None:
    """The child: an answer a line, to each number of an item."""
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
        os.close(os.open(os.devnull, os.O_RDWR))
        # With both ends open here, an order to a child that has ended is no SIGPIPE.
        self.orders = os.pipe()
        self.pipe, answers = os.pipe()
        self.unread = b""
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _apart((self.orders[0], answers), room)
                _serve(self.orders[0], answers, items, work)
            finally:
                os._exit(0)
        os.close(answers)

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
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no answer"
            time.sleep(0.001)
        return None


def _answer(line: bytes) -> Any:
    """Of a child, which may have become its item's user's: what is no answer is Missed."""
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
    owner_of: Callable[[Any], Any] = lambda _: None,
    room: int = 0,
    unended: Sequence[Any] = (),
) -> Iterator[tuple[Any, Any]]:
    """
    Each item with the answer of work(item), which JSON can carry, or with a Missed. The owner that has had the least
    time comes next, so no owner's items use up the time of others'. One that is not None is given up with the first
    item that hangs or crashes. `unended` are owners of whom a child of an earlier run cannot be ended. A child may take
    `room` bytes of memory, or any with 0.
    """
    end = time.monotonic() + altogether
    given_up = dict.fromkeys(unended, UNENDED)
    child: _Child | None = None
    waiting: dict[Any, list[int]] = {}
    for number, item in reversed([*enumerate(items)]):
        waiting.setdefault(owner_of(item), []).append(number)
    spent = dict.fromkeys(reversed([*waiting]), 0.0)
    try:
        while spent:
            owner = min(spent, key=lambda each: spent[each])
            item, began = waiting[owner].pop(), time.monotonic()
            left = end - began
            if left <= 0 or owner in given_up:
                answer = Missed(given_up.get(owner, OUT_OF_TIME))
            else:
                child = child or _Child(items, work, room)
                child.ask(item)
                line = child.line(min(seconds, left))
                if line:
                    answer = _answer(line)
                else:
                    ended, child = child, None
                    how = ended.end()
                    late = OUT_OF_TIME if left < seconds else f"no answer within {seconds:g} seconds"
                    answer = Missed(late if line is None else f"looking at it ended with {how or 'no answer'}")
                    # Where the time for all is over, it tells nothing of the owner.
                    if owner is not None and left >= seconds:
                        given_up[owner] = GIVEN_UP if how else UNENDED
            spent[owner] += time.monotonic() - began
            if not waiting[owner]:
                del spent[owner]
            yield items[item], answer
    finally:
        if child is not None:
            child.end()


def once(work: Callable[[], Any], seconds: float, room: int = 0) -> Any:
    """The answer of work(); a Failure where there is none."""
    ((_, answer),) = each([None], lambda _: work(), seconds=seconds, room=room)
    if isinstance(answer, Missed):
        raise Failure(answer.reason)
    return answer
