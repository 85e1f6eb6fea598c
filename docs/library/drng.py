#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""libdrng from Python: random bytes, a seed, and what the CPU has. Needs nothing but ctypes.

python3 drng.py
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

ANY, HARDWARE_ONLY, SEED_GRADE_ONLY = 1, 2, 3
BY_CBC_MAC, BY_HMAC_SHA256 = 1, 2


class SeedInfo(ctypes.Structure):
    _fields_ = (
        ("source", c_char_p),
        ("conditioner", c_char_p),
        ("grade", c_int),
        ("raw_words", c_uint),
        ("claimed_bits", c_uint),
        ("reserved", c_uint64 * 4),
    )


# DRNG_LIBRARY names another path.
library = ctypes.CDLL(os.environ.get("DRNG_LIBRARY", "libdrng.so.0"))
library.drng_strerror.restype = c_char_p
library.drng_open.argtypes = (POINTER(c_void_p), c_int)
library.drng_read.argtypes = (c_void_p, c_void_p, c_size_t)
library.drng_close.argtypes = (c_void_p,)
library.drng_close.restype = None
library.drng_conditioned_seed.argtypes = (c_void_p, c_size_t, c_int, c_int, POINTER(SeedInfo))
library.drng_random_supported.argtypes = (POINTER(c_char_p),)


class DrngError(Exception):
    """What libdrng says of a call that failed."""


def check(error: int) -> None:
    if error:
        raise DrngError(library.drng_strerror(error).decode())


class Generator:
    """Closed at the end of a `with`; any thread may read from it."""

    def __init__(self, choice: int = ANY) -> None:
        self._handle = c_void_p()
        check(library.drng_open(byref(self._handle), choice))

    def read(self, count: int) -> bytes:
        if not self._handle:
            raise DrngError("the generator has been closed")
        buffer = ctypes.create_string_buffer(count)
        check(library.drng_read(self._handle, buffer, count))
        return buffer.raw

    def __enter__(self) -> Generator:
        return self

    def __exit__(self, *_: object) -> None:
        library.drng_close(self._handle)
        self._handle = c_void_p()


def seed(count: int, choice: int = ANY, conditioning: int = BY_CBC_MAC) -> tuple[bytes, str]:
    """Conditioned bytes, and the source that they come from."""
    buffer = ctypes.create_string_buffer(count)
    info = SeedInfo()
    check(library.drng_conditioned_seed(buffer, count, choice, conditioning, byref(info)))
    return buffer.raw, info.source.decode()


def supported() -> tuple[bool, str]:
    """Whether there is a generator's instruction: its name, or why it may not be used."""
    text = c_char_p()
    found = library.drng_random_supported(byref(text))
    return bool(found), (text.value or b"").decode()


if __name__ == "__main__":
    print(*supported())
    with Generator() as generator:
        print(generator.read(32).hex())
    material, source = seed(32)
    print(f"{material.hex()} from {source}")
