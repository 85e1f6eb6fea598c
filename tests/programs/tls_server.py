#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A TLS server on Python's ssl module that forks, for the tests. Takes the path of a JSON file that says what to serve.

Mode "threads": workers forked ahead, in each a thread for every connection. Mode "fork": a process for each.
In both the parent has drawn random bytes before it forks, so that all are born with the same generator.
SIGHUP replaces the workers, SIGTERM ends everything.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import ssl
import sys
import threading
from dataclasses import dataclass
from typing import Any

SECONDS = 10


@dataclass
class Service:
    socket: socket.socket
    context: ssl.SSLContext


def open_service(options: dict[str, Any]) -> Service:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(options["cert"], options["key"])
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options["port"]))
    listener.listen(4096)
    listener.setblocking(False)
    return Service(listener, context)


def answer(connection: socket.socket, context: ssl.SSLContext, page: bytes) -> None:
    """A client that leaves in the middle is no news."""
    connection.settimeout(SECONDS)
    with connection, contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as tls:
        request = b""
        while b"\r\n\r\n" not in request and (part := tls.recv(4096)):
            request += part
        tls.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page))
        tls.unwrap()


def accept_each(services: list[Service], stop: int, handle: Any) -> None:
    """Hands each connection to `handle` until there is something to read from `stop`."""
    with selectors.DefaultSelector() as selector:
        selector.register(stop, selectors.EVENT_READ)
        for service in services:
            selector.register(service.socket, selectors.EVENT_READ, service)
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    return
                # Another worker may have been quicker.
                with contextlib.suppress(BlockingIOError):
                    connection, _ = key.data.socket.accept()
                    handle(connection, key.data.context)


def serve_with_threads(services: list[Service], page: bytes, stop: int) -> None:
    threads: list[threading.Thread] = []

    def handle(connection: socket.socket, context: ssl.SSLContext) -> None:
        threads[:] = [t for t in threads if t.is_alive()]
        threads.append(threading.Thread(target=answer, args=(connection, context, page)))
        threads[-1].start()

    accept_each(services, stop, handle)
    for thread in threads:
        thread.join()


def serve_with_processes(services: list[Service], page: bytes, stop: int) -> None:
    def handle(connection: socket.socket, context: ssl.SSLContext) -> None:
        if os.fork() == 0:
            answer(connection, context, page)
            os._exit(0)
        connection.close()

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    accept_each(services, stop, handle)


def start_worker(serve: Any, services: list[Service], page: bytes) -> tuple[int, int]:
    """Its process id, and what to close when it is to end."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        serve(services, page, read)
        os._exit(0)
    os.close(read)
    os.set_inheritable(write, False)
    return pid, write


def end_workers(workers: list[tuple[int, int]]) -> None:
    for _, write in workers:
        os.close(write)
    for pid, _ in workers:
        os.waitpid(pid, 0)


def main() -> int:
    with open(sys.argv[1]) as file:
        options = json.load(file)
    serve = {"threads": serve_with_threads, "fork": serve_with_processes}[options["mode"]]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP, signal.SIGTERM])
    services = [open_service(s) for s in options["services"]]
    ssl.RAND_bytes(16)
    while True:
        workers = [start_worker(serve, services, options["page"].encode()) for _ in range(options["workers"])]
        number = signal.sigwait([signal.SIGHUP, signal.SIGTERM])
        end_workers(workers)
        if number == signal.SIGTERM:
            return 0


if __name__ == "__main__":
    sys.exit(main())
