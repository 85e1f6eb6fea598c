# SPDX-License-Identifier: Apache-2.0
"""Asks a TLS server for its first flight, thousands of times, and keeps what it made up: random, session id, key share.

The handshake is not finished: a ClientHello, the same every time, goes out, and what comes back in the clear is read.
So all that differs between two answers is the server's doing.
"""

from __future__ import annotations

import collections
import selectors
import socket
import struct
import threading
import time
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

TLS12, TLS13 = 0x0303, 0x0304
VERSIONS = {"TLSv1.2": TLS12, "TLSv1.3": TLS13}

ALERT, HANDSHAKE = 21, 22
SERVER_HELLO, SERVER_KEY_EXCHANGE = 2, 12
KEY_SHARE, SUPPORTED_VERSIONS = 51, 43
X25519 = 29
# RFC 8446, 4.1.3: the random of a HelloRetryRequest is this constant.
RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")

IN_FLIGHT = 32
SECONDS = 60


class HelloError(Exception):
    """The server answered with something else than its first flight."""


@dataclass(frozen=True)
class Hello:
    """What the server made up. In TLS 1.3 there is no session id of its own."""

    random: bytes
    session_id: bytes
    key_share: bytes


# ---- The ClientHello ----


def _with_length(size: int, body: bytes) -> bytes:
    return len(body).to_bytes(size, "big") + body


def _extension(number: int, body: bytes) -> bytes:
    return struct.pack("!H", number) + _with_length(2, body)


def client_hello(version: int) -> bytes:
    """One record. The client's key share is the base point of X25519 itself: valid, and no work."""
    extensions = (
        _extension(10, _with_length(2, struct.pack("!HH", X25519, 23)))  # supported_groups: X25519, P-256
        + _extension(11, _with_length(1, b"\0"))  # ec_point_formats: uncompressed
        # signature_algorithms: ECDSA with P-256, RSA-PSS and RSA of PKCS#1, all with SHA-256
        + _extension(13, _with_length(2, struct.pack("!HHH", 0x0403, 0x0804, 0x0401)))
    )
    if version == TLS13:
        share = struct.pack("!H", X25519) + _with_length(2, b"\x09" + bytes(31))
        extensions += _extension(SUPPORTED_VERSIONS, _with_length(1, struct.pack("!H", TLS13)))
        extensions += _extension(KEY_SHARE, _with_length(2, share))
        ciphers = struct.pack("!H", 0x1301)
    else:
        # ECDHE-ECDSA and ECDHE-RSA with AES-128-GCM; the last says that renegotiation is understood (RFC 5746).
        ciphers = struct.pack("!HHH", 0xC02B, 0xC02F, 0x00FF)
    body = struct.pack("!H", TLS12) + bytes(32) + b"\0" + _with_length(2, ciphers) + b"\1\0"
    body += _with_length(2, extensions)
    return struct.pack("!BH", HANDSHAKE, 0x0301) + _with_length(2, b"\1" + _with_length(3, body))


# ---- The server's first flight ----


def _handshake_messages(data: bytes) -> Iterable[tuple[int, bytes]]:
    """Those that are complete, from the records that are."""
    stream = bytearray()
    while len(data) >= 5:
        kind, _, length = struct.unpack("!BHH", data[:5])
        if len(data) < 5 + length:
            break
        if kind == ALERT:
            raise HelloError(f"alert {data[5:7].hex()}")
        # In TLS 1.3 everything after the ServerHello is encrypted, in records of another type.
        if kind != HANDSHAKE:
            break
        stream += data[5 : 5 + length]
        data = data[5 + length :]
    while len(stream) >= 4 and len(stream) >= (end := 4 + int.from_bytes(stream[1:4], "big")):
        yield stream[0], bytes(stream[4:end])
        del stream[:end]


def _extensions(body: bytes) -> dict[int, bytes]:
    found = {}
    while body:
        number, length = struct.unpack("!HH", body[:4])
        found[number] = body[4 : 4 + length]
        body = body[4 + length :]
    return found


def parse(data: bytes, version: int) -> Hello | None:
    """The answer, or None where more has to come."""
    messages = dict(_handshake_messages(data))
    hello = messages.get(SERVER_HELLO)
    if hello is None:
        return None
    random, id_length = hello[2:34], hello[34]
    session_id, rest = hello[35 : 35 + id_length], hello[35 + id_length :]
    extensions = _extensions(rest[5:])
    chosen = int.from_bytes(extensions.get(SUPPORTED_VERSIONS, hello[:2]), "big")
    if chosen != version or random == RETRY:
        raise HelloError(f"version {chosen:#06x}, random {random.hex()}")
    if version == TLS13:
        return Hello(random, session_id, extensions[KEY_SHARE][4:])
    exchange = messages.get(SERVER_KEY_EXCHANGE)
    if exchange is None:
        return None
    return Hello(random, session_id, exchange[4 : 4 + exchange[3]])


# ---- Many of them ----


@dataclass
class Answers:
    """Of one run. Connections that failed are counted, not hidden."""

    hellos: list[Hello] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class _Connection:
    def __init__(self, port: int, version: int) -> None:
        self.version = version
        self.data = b""
        self.sent = False
        self.socket = socket.socket()
        self.socket.setblocking(False)
        # Closed with a reset, so that tens of thousands do not use up the ports.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.connect_ex(("127.0.0.1", port))

    def advance(self) -> Hello | None:
        """To be called when the socket is ready: for writing before the ClientHello is sent, then for reading."""
        if not self.sent:
            self.socket.send(client_hello(self.version))
            self.sent = True
            return None
        part = self.socket.recv(16384)
        if not part:
            raise HelloError("closed by the server")
        self.data += part
        return parse(self.data, self.version)


def ask(
    port: int, version: int, count: int, until: threading.Event | None = None, answers: Answers | None = None
) -> Answers:
    """The answers to `count` connections, or to as many as there are until the event is set; 32 are always open.

    answers: where they go, for a caller who looks at them while they come.
    """
    answers = answers or Answers()
    deadline = time.monotonic() + SECONDS
    with selectors.DefaultSelector() as selector:
        started = 0

        def start() -> None:
            nonlocal started
            started += 1
            connection = _Connection(port, version)
            selector.register(connection.socket, selectors.EVENT_WRITE, connection)

        def finish(connection: _Connection) -> None:
            selector.unregister(connection.socket)
            connection.socket.close()
            if started < count and not (until and until.is_set()):
                start()

        for _ in range(min(IN_FLIGHT, count)):
            start()
        while selector.get_map():
            ready = selector.select(timeout=SECONDS)
            if not ready or (until is None and time.monotonic() > deadline + count / 100):
                raise TimeoutError(f"{len(answers.hellos)} of {count} answers")
            for key, _ in ready:
                connection = key.data
                try:
                    was_sent = connection.sent
                    hello = connection.advance()
                except (OSError, HelloError) as error:
                    answers.failures.append(f"{type(error).__name__}: {error}")
                    finish(connection)
                    continue
                if not was_sent:
                    selector.modify(connection.socket, selectors.EVENT_READ, connection)
                elif hello is not None:
                    answers.hellos.append(hello)
                    finish(connection)
    return answers


def duplicates(values: Iterable[Hashable]) -> list[Hashable]:
    """Those that occur more than once."""
    return [value for value, times in collections.Counter(values).items() if times > 1]
