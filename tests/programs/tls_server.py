#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A TLS server on Python's ssl module that forks for each connection: tls_server.py PAGE (PORT CERTIFICATE KEY)...

A process for each port, and from it one for each connection. The first has drawn random bytes before it forks, so that
all are born with the same generator. SIGTERM ends everything.
"""

import contextlib
import os
import signal
import socketserver
import ssl
import sys

SECONDS = 10


class Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        """A client that leaves in the middle is no news."""
        self.request.settimeout(SECONDS)
        with contextlib.suppress(OSError), self.server.context.wrap_socket(self.request, server_side=True) as tls:
            request = b""
            while b"\r\n\r\n" not in request and (part := tls.recv(4096)):
                request += part
            tls.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(self.server.page), self.server.page))
            tls.unwrap()


class Server(socketserver.ForkingTCPServer):
    allow_reuse_address = True
    request_queue_size = 4096
    max_children = 100

    def __init__(self, page: str, port: str, certificate: str, key: str) -> None:
        super().__init__(("127.0.0.1", int(port)), Handler)
        self.page = page.encode()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.load_cert_chain(certificate, key)


def main() -> None:
    page, *services = sys.argv[1:]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    servers = [Server(page, *services[at : at + 3]) for at in range(0, len(services), 3)]
    ssl.RAND_bytes(16)
    workers = []
    for server in servers:
        workers.append(os.fork())
        if workers[-1] == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
            server.serve_forever()
    signal.sigwait([signal.SIGTERM])
    for pid in workers:
        os.kill(pid, signal.SIGTERM)


if __name__ == "__main__":
    main()
