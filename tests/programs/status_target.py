#!/usr/bin/python3
"""A process to look at, for the tests of drng-status: does what the lines on its standard input say, one answer each.

Lives until its input ends, and its children with it.
"""

from __future__ import annotations

import os
import signal
import ssl
import sys
import threading

ENDED, ENDS = os.pipe()


def draw(times: int, length: int) -> str:
    for _ in range(times):
        ssl.RAND_bytes(length)
    return "drawn"


def fork(times: int) -> str:
    """A child that draws so many times and then waits; its number."""
    done, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ENDS)
        draw(times, 16)
        os.write(ready, b".")
        os.read(ENDED, 1)
        os._exit(0)
    os.read(done, 1)
    return str(pid)


def threads(count: int, times: int) -> str:
    """So many threads, each of which draws so many times; all have ended by the answer."""
    started = [threading.Thread(target=draw, args=(times, 16)) for _ in range(count)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return "drawn"


def change_user(uid: int) -> str:
    """What servers do when they have bound their ports."""
    os.setresuid(uid, uid, uid)
    return "changed"


def rename(letters: str) -> str:
    with open("/proc/self/comm", "w") as comm:
        comm.write(letters)
    return "renamed"


def main() -> None:
    # The test waits for its children, init does not.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        word, *arguments = line.rstrip("\n").split(" ", 1)
        numbers = [int(number) for number in arguments[0].split()] if arguments and word != "rename" else []
        try:
            if word == "rename":
                answer = rename(arguments[0])
            else:
                answer = {"draw": draw, "fork": fork, "threads": threads, "change_user": change_user}[word](*numbers)
        except ssl.SSLError:
            answer = "failed"
        print(answer, flush=True)


main()
