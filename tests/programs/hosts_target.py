# SPDX-License-Identifier: Apache-2.0
"""A process with several libcryptos, to look at: does what the lines on its standard input say, one answer each.

ssl has the system's libcrypto, cryptography one inside its extension, psycopg one that it brings.
"""

import sys
import threading
from collections.abc import Callable


def ssl(times: int) -> str:
    import ssl

    for _ in range(times):
        ssl.RAND_bytes(16)
    return ssl.OPENSSL_VERSION


def cryptography(times: int) -> str:
    from cryptography.hazmat.backends.openssl import backend
    from cryptography.hazmat.primitives.asymmetric import ec

    for _ in range(times):
        ec.generate_private_key(ec.SECP256R1())
    return backend.openssl_version_text()


def psycopg(times: int) -> str:
    """A password's salt takes no server."""
    from psycopg import pq

    connection = pq.PGconn.connect_start(b"host=127.0.0.1 port=1")
    for _ in range(times):
        connection.encrypt_password(b"secret", b"somebody", b"scram-sha-256")
    return f"psycopg {pq.__impl__}"


WAYS: dict[str, Callable[[int], str]] = {"ssl": ssl, "cryptography": cryptography, "psycopg": psycopg}


def all_at_once(times: int) -> str:
    """A thread for each."""
    threads = [threading.Thread(target=way, args=(times,)) for way in WAYS.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "done"


for line in sys.stdin:
    name, number = line.split()
    print({**WAYS, "all": all_at_once}[name](int(number)), flush=True)
