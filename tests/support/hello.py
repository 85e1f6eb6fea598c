# SPDX-License-Identifier: Apache-2.0
"""Asks a TLS server for its ServerHello, thousands of times, and keeps what it made up: random, session id, key share.

The handshake is not finished: a ClientHello, the same every time, goes out, and the first record of the answer is read.
So all that differs between two answers is the server's doing.
"""

import collections
import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
HANDSHAKE, SERVER_HELLO = 22, 2
IN_FLIGHT = 32
SECONDS = 60


class HelloError(Exception):
    """The server answered with something else than its first flight."""


@dataclass(frozen=True)
class Hello:
    """What the server made up. A session id of its own has TLS 1.2 alone, a key share in this record TLS 1.3."""

    random: bytes
    session_id: bytes
    key_share: bytes


@dataclass
class Answers:
    """Of one run. Connections that failed are counted, not hidden."""

    hellos: list[Hello] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def client_hello(version: ssl.TLSVersion) -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.options |= ssl.OP_NO_TICKET  # or there is no session id
    context.minimum_version = context.maximum_version = version
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    return sent.read()


def exchange(port: int, sent: bytes, version: ssl.TLSVersion) -> Hello:
    """OpenSSL ends the ServerHello of TLS 1.3 with the key share."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        # Closed with a reset, so that tens of thousands do not use up the ports.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(sent)
        data = b""
        while len(data) < 5 or len(data) < 5 + int.from_bytes(data[3:5], "big"):
            part = connection.recv(16384)
            if not part:
                raise HelloError("closed by the server")
            data += part
    record = data[5 : 5 + int.from_bytes(data[3:5], "big")]
    if data[0] != HANDSHAKE or record[0] != SERVER_HELLO:
        raise HelloError(f"no ServerHello: {data[:16].hex()}")
    hello = record[4 : 4 + int.from_bytes(record[1:4], "big")]
    if version is ssl.TLSVersion.TLSv1_3:
        return Hello(hello[2:34], b"", hello[-32:])
    return Hello(hello[2:34], hello[35 : 35 + hello[34]], b"")


def ask(
    port: int,
    version: ssl.TLSVersion,
    count: int,
    until: threading.Event | None = None,
    answers: Answers | None = None,
) -> Answers:
    """The answers to `count` connections, or to as many as there are until the event is set; 32 are always open.

    answers: where they go, for a caller who looks at them while they come.
    """
    found, sent, numbers = answers or Answers(), client_hello(version), iter(range(count))

    def ask_again_and_again() -> None:
        while not (until and until.is_set()) and next(numbers, None) is not None:
            try:
                found.hellos.append(exchange(port, sent, version))
            except (OSError, HelloError) as error:
                found.failures.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=ask_again_and_again) for _ in range(IN_FLIGHT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def duplicates(values: Iterable[Hashable]) -> list[Hashable]:
    """Those that occur more than once."""
    return [value for value, times in collections.Counter(values).items() if times > 1]
