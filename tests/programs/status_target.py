#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A process to look at, for the tests of drng-status: does what the lines on its standard input say, one answer each.

Lives until its input ends, and its children with it.
"""

import _ssl  # which loads libcrypto, and that openssl.cnf
import ctypes
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


class Param(ctypes.Structure):
    """OSSL_PARAM."""

    _fields_ = [
        ("key", ctypes.c_char_p),
        ("data_type", ctypes.c_uint),
        ("data", ctypes.c_char_p),
        ("data_size", ctypes.c_size_t),
        ("return_size", ctypes.c_size_t),
    ]


def generator(lib: ctypes.CDLL, provider: bytes, parent: ctypes.c_void_p | None) -> ctypes.c_void_p:
    utf8_string, cipher = 4, b"AES-256-CTR"
    params = (Param * 2)(Param(b"cipher", utf8_string, cipher, len(cipher), 0))
    algorithm = ctypes.c_void_p(lib.EVP_RAND_fetch(None, b"CTR-DRBG", b"provider=" + provider))
    made = ctypes.c_void_p(lib.EVP_RAND_CTX_new(algorithm, parent))
    return made if lib.EVP_RAND_instantiate(made, 0, 0, None, ctypes.c_size_t(0), params) == 1 else ctypes.c_void_p()


def draw_under_others(length: int) -> str:
    """From a generator of drng's under one of OpenSSL's own, whose seeds are not drng's."""
    lib = ctypes.CDLL(_ssl.__file__)
    lib.EVP_RAND_fetch.restype = lib.EVP_RAND_CTX_new.restype = ctypes.c_void_p
    drng = generator(lib, b"drng", generator(lib, b"default", None))
    buffer = ctypes.create_string_buffer(length)
    drawn = lib.EVP_RAND_generate(drng, buffer, ctypes.c_size_t(length), 0, 0, None, ctypes.c_size_t(0))
    return "drawn" if drawn == 1 else "failed"


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


def change_root(_: int) -> str:
    """To a directory without anything, as servers do that want nothing any more."""
    os.chroot("/proc/self/fdinfo")
    return "changed"


def load_and_unload() -> str:
    """The provider, in a library context of its own."""
    lib = ctypes.CDLL(_ssl.__file__)
    lib.OSSL_LIB_CTX_new.restype = lib.OSSL_PROVIDER_load.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.OSSL_LIB_CTX_new())
    provider = ctypes.c_void_p(lib.OSSL_PROVIDER_load(context, b"drng"))
    unloaded = provider.value is not None and lib.OSSL_PROVIDER_unload(provider) == 1
    lib.OSSL_LIB_CTX_free(context)
    return "unloaded" if unloaded else "failed"


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
                commands = {"draw": draw, "fork": fork, "threads": threads, "change_user": change_user}
                commands |= {"change_root": change_root, "draw_under_others": draw_under_others}
                commands |= {"load_and_unload": load_and_unload}
                answer = commands[word](*numbers)
        except ssl.SSLError:
            answer = "failed"
        print(answer, flush=True)


main()
