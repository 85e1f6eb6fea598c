# SPDX-License-Identifier: Apache-2.0
"""Draws bytes and makes keys by one libcrypto, and says what drng and its seed source counted after each step.

Takes the name of the libcrypto, and the steps: bytes, private, primary, seed, add, key. Of a key it says which provider
made it.
"""

import ctypes
import json
import sys

PROVIDERS = ("default", "base", "fips", "drng")
SEEDS = ("seeds-rdseed", "seeds-rdrand", "seeds-fallback")
UNSIGNED = 2  # OSSL_PARAM_UNSIGNED_INTEGER
LOAD_CONFIG = 0x40  # OPENSSL_INIT_LOAD_CONFIG


class Param(ctypes.Structure):
    """OSSL_PARAM."""

    _fields_ = [
        ("key", ctypes.c_char_p),
        ("data_type", ctypes.c_uint),
        ("data", ctypes.c_void_p),
        ("data_size", ctypes.c_size_t),
        ("return_size", ctypes.c_size_t),
    ]


def is_active(lib: ctypes.CDLL, provider: str) -> bool:
    return lib.OSSL_PROVIDER_available(None, provider.encode()) == 1


def counter(lib: ctypes.CDLL, name: str) -> int:
    """Of drng; 0 where it is not loaded."""
    if not is_active(lib, "drng"):
        return 0
    number = ctypes.c_uint64()
    address = ctypes.cast(ctypes.byref(number), ctypes.c_void_p)
    params = (Param * 2)(Param(name.encode(), UNSIGNED, address, 8, ctypes.c_size_t(-1).value))
    provider = ctypes.c_void_p(lib.OSSL_PROVIDER_load(None, b"drng"))
    assert lib.OSSL_PROVIDER_get_params(provider, params) == 1
    lib.OSSL_PROVIDER_unload(provider)
    return number.value


def make_key(lib: ctypes.CDLL) -> str:
    """The provider that made it; empty where none did."""
    key = ctypes.c_void_p(lib.EVP_PKEY_Q_keygen(None, None, b"EC", ctypes.c_char_p(b"P-256")))
    if not key:
        return ""
    provider = ctypes.c_void_p(lib.EVP_PKEY_get0_provider(key))
    return lib.OSSL_PROVIDER_get0_name(provider).decode()


def take(lib: ctypes.CDLL, step: str) -> bool | str:
    buffer = ctypes.create_string_buffer(32)
    if step == "bytes":
        return lib.RAND_bytes(buffer, 32) == 1
    if step == "private":
        return lib.RAND_priv_bytes(buffer, 32) == 1
    if step == "primary":
        return lib.RAND_status() == 1
    if step == "seed":
        lib.RAND_seed(buffer, 32)
        return True
    if step == "add":
        lib.RAND_add(buffer, 32, ctypes.c_double(32))
        return True
    return make_key(lib)


def main() -> None:
    lib = ctypes.CDLL(sys.argv[1])
    lib.OSSL_PROVIDER_load.restype = ctypes.c_void_p
    lib.EVP_PKEY_Q_keygen.restype = ctypes.c_void_p
    lib.EVP_PKEY_get0_provider.restype = ctypes.c_void_p
    lib.OSSL_PROVIDER_get0_name.restype = ctypes.c_char_p
    lib.OPENSSL_init_crypto(ctypes.c_uint64(LOAD_CONFIG), None)
    answers = []
    for step in sys.argv[2:]:
        works = take(lib, step)
        seeds = sum(counter(lib, name) for name in SEEDS)
        answers.append({"works": works, "seeds": seeds, "requests": counter(lib, "requests")})
    active = [provider for provider in PROVIDERS if is_active(lib, provider)]
    print(json.dumps({"steps": answers, "active": active}))


main()
