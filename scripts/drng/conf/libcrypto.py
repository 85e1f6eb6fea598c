# SPDX-License-Identifier: Apache-2.0
"""libcrypto, asked in the process that this is: what openssl.cnf makes of it, and who serves.

What openssl.cnf names may hang or crash whoever loads it, so this is done in a child: see aside.py.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
from typing import Any

from ..status.look import inspect
from ..terminal import Failure

# By their names: ctypes.util would ask the compiler in PATH where they are.
LIBRARIES = ("libcrypto.so.3", "libcrypto.so.4")

ERR_TXT_STRING = 2  # openssl/err.h
INIT_NO_LOAD_CONFIG = 0x80  # openssl/crypto.h
ENGINES_DIRECTORY, MODULES_DIRECTORY = 1002, 1003

# Bytes that no generator has ready from an earlier request.
MORE_THAN_ANYONE_KEEPS = 1 << 16


class Value(ctypes.Structure):
    """CONF_VALUE."""

    _fields_ = [("section", ctypes.c_char_p), ("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


def decoded(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="backslashreplace")


class Libcrypto:
    """The few functions that are needed here."""

    def __init__(self) -> None:
        for name in LIBRARIES:
            with contextlib.suppress(OSError):
                self.lib = ctypes.CDLL(name)
                break
        else:
            raise OSError("no libcrypto that has providers (OpenSSL 3.0 or later) is installed")
        for result, functions in {
            ctypes.c_char_p: "OPENSSL_info ERR_reason_error_string EVP_RAND_get0_name "
            "OSSL_PROVIDER_get0_name CONF_get1_default_config_file",
            ctypes.c_void_p: "RAND_get0_primary RAND_get0_public RAND_get0_private "
            "EVP_RAND_fetch EVP_RAND_CTX_get0_rand EVP_RAND_get0_provider OSSL_PROVIDER_load NCONF_new BIO_new_mem_buf "
            "NCONF_get_section NCONF_get_section_names OPENSSL_sk_value EVP_CIPHER_fetch",
            ctypes.c_ulong: "ERR_get_error_all",
        }.items():
            for function in functions.split():
                getattr(self.lib, function).restype = result

    def errors(self) -> list[str]:
        """libcrypto's reasons with what it says about them, oldest first; its queue is empty afterwards."""
        data, flags, lines = ctypes.c_char_p(), ctypes.c_int(), []
        while error := self.lib.ERR_get_error_all(None, None, None, ctypes.byref(data), ctypes.byref(flags)):
            # The system's own errors have a bit of their own, and libc knows their names.
            reason = os.fsdecode(self.lib.ERR_reason_error_string(ctypes.c_ulong(error)) or b"")
            words = os.strerror(error & 0x7FFFFFFF) if error >> 31 & 1 else reason or f"error {error & 0xFFFF:d}"
            said = os.fsdecode(data.value) if flags.value & ERR_TXT_STRING and data.value else ""
            lines.append(f"{words}: {said}".rstrip(": "))
        return list(dict.fromkeys(lines))

    def why(self) -> list[str]:
        """Of what has failed."""
        return self.errors() or ["libcrypto does not say why"]

    def folders(self) -> list[str]:
        """In which it looks for providers and engines that have no path."""
        own = (os.fsdecode(self.lib.OPENSSL_info(number) or b"") for number in (MODULES_DIRECTORY, ENGINES_DIRECTORY))
        return [os.environ.get(name) or folder for name, folder in zip(("OPENSSL_MODULES", "OPENSSL_ENGINES"), own)]

    def read(self, text: bytes) -> tuple[ctypes.c_void_p, int, str]:
        """The text as an openssl.cnf, in the place of any other; or an empty one, the line in which it is none, and
        why."""
        self.lib.OPENSSL_init_crypto(ctypes.c_uint64(INIT_NO_LOAD_CONFIG), None)
        conf, line = ctypes.c_void_p(self.lib.NCONF_new(None)), ctypes.c_long(-1)
        memory = ctypes.c_void_p(self.lib.BIO_new_mem_buf(text, len(text)))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Nothing is opened, whatever else than we it takes for an include.
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
        loaded = self.lib.NCONF_load_bio(conf, memory, ctypes.byref(line)) > 0
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        why = "" if loaded else "; ".join(self.why())
        return (conf, 0, "") if loaded else (self.read(b"")[0], line.value, why)

    def _items(self, stack: int | None, kind: Any) -> list[Any]:
        count = self.lib.OPENSSL_sk_num(ctypes.c_void_p(stack))
        values = (self.lib.OPENSSL_sk_value(ctypes.c_void_p(stack), i) for i in range(max(0, count)))
        return [ctypes.cast(value, kind) for value in values]

    def sections(self, conf: ctypes.c_void_p) -> dict[str, dict[str, str]]:
        found = {}
        for name in self._items(self.lib.NCONF_get_section_names(conf), ctypes.c_char_p):
            values = self._items(self.lib.NCONF_get_section(conf, name), ctypes.POINTER(Value))
            found[decoded(name.value)] = {decoded(v.contents.name): decoded(v.contents.value) for v in values}
        return found

    def load(self, conf: ctypes.c_void_p) -> list[str]:
        """Why libcrypto, which keeps that to itself, goes on without the rest of it."""
        self.errors()
        return [] if self.lib.CONF_modules_load(conf, None, ctypes.c_ulong(0)) > 0 else self.why()

    def draw(self, length: int = 16) -> bool:
        """What every program with TLS does first: it makes the generators."""
        self.errors()
        return bool(self.lib.RAND_bytes(ctypes.create_string_buffer(length), length) == 1)

    def why_not_loaded(self, name: str) -> str:
        """libcrypto drops the errors of what openssl.cnf activates, and not those of what is asked for by name."""
        self.errors()
        provider = ctypes.c_void_p(self.lib.OSSL_PROVIDER_load(None, os.fsencode(name)))
        if provider:
            self.lib.OSSL_PROVIDER_unload(provider)
            return ""
        # The data of a module that is not there begin with its name.
        return re.sub(r"filename[(].*?[)]: ", "", self.why()[0])

    def is_active(self, name: str) -> bool:
        return bool(self.lib.OSSL_PROVIDER_available(None, os.fsencode(name)) == 1)

    def _algorithm(self, algorithm: ctypes.c_void_p) -> dict[str, str]:
        provider = ctypes.c_void_p(self.lib.EVP_RAND_get0_provider(algorithm))
        return {
            "name": os.fsdecode(self.lib.EVP_RAND_get0_name(algorithm)),
            "provider": os.fsdecode(self.lib.OSSL_PROVIDER_get0_name(provider)),
        }

    def generator(self, role: str) -> dict[str, str] | None:
        """Name and provider of libcrypto's primary, public or private generator."""
        context = getattr(self.lib, f"RAND_get0_{role}")(None)
        algorithm = context and self.lib.EVP_RAND_CTX_get0_rand(ctypes.c_void_p(context))
        return self._algorithm(ctypes.c_void_p(algorithm)) if algorithm else None

    def seed_source(self, name: str, query: str) -> dict[str, str] | None:
        """What libcrypto finds when it looks for the seed source; None: it reads the system's bytes itself."""
        algorithm = ctypes.c_void_p(self.lib.EVP_RAND_fetch(None, os.fsencode(name), os.fsencode(query) or None))
        if not algorithm:
            self.errors()
            return None
        found = self._algorithm(algorithm)
        self.lib.EVP_RAND_free(algorithm)
        return found

    def override(self) -> str:
        """An ENGINE, which has one of these, or a RAND_METHOD outranks every provider."""
        if not hasattr(self.lib, "RAND_get_rand_method"):
            return ""
        self.lib.RAND_get_rand_method.restype = self.lib.RAND_OpenSSL.restype = ctypes.c_void_p
        return "" if self.lib.RAND_get_rand_method() == self.lib.RAND_OpenSSL() else "an ENGINE or RAND_METHOD"

    def counters(self) -> dict[str, Any]:
        """What drng counts in this process, read as in any other; nothing where that cannot be read."""
        with contextlib.suppress(Failure, OSError):
            return inspect(os.getpid()).counters
        return {}

    def passed_by(self) -> str:
        """Who serves RAND_bytes where drng, though it is loaded, does not count the request: OpenSSL 3.5 and later hand
        it to a provider of the name "fips", whatever the generators are."""
        before = self.counters().get("requests")
        drawn = before is not None and self.draw(MORE_THAN_ANYONE_KEEPS)
        if not drawn or self.counters().get("requests") != before:
            return ""
        return "the fips provider" if self.is_active("fips") else "another provider"
