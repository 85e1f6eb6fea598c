# SPDX-License-Identifier: Apache-2.0
"""What libcrypto makes of an openssl.cnf that has been read: who serves, what is in effect, and what does not load.

libcrypto gets the text from memory, in a child. What the file names may hang it, or end it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .. import aside
from ..paths import FileError, by_the_linker, read_once, who_else
from ..terminal import Failure
from .libcrypto import Libcrypto
from .meaning import MOST, generators_of, in_effect, is_active, providers_of, undotted
from .reading import Read, Section, Whole

# A program that has not started by then does not count as one that works; and its address space.
SECONDS, ROOM = 20.0, 2 << 30

GENERATORS = ("primary", "public", "private")


@dataclass(frozen=True)
class Probe(Read):
    """Where `problem` says why libcrypto ignores the file, it is of an empty one."""

    problem: str = ""
    own: dict[str, Section] = field(default_factory=dict)  # the sections of the file without its includes
    files: list[str] = field(default_factory=list)  # that it includes
    modules: str = ""  # the folder of providers that have no path
    stopped: str = ""  # why libcrypto reads the file no further
    rand_bytes: bool = False
    errors: list[str] = field(default_factory=list)  # of the first draw
    generators: dict[str, dict[str, str] | None] = field(default_factory=dict)  # of each role the name and the provider
    override: str = ""  # who serves RAND_bytes in the place of the generators
    providers: list[str] = field(default_factory=list)  # that are active
    not_loaded: dict[str, str] = field(default_factory=dict)  # that should be, and why they are not
    ciphers: bool = False
    drng: dict[str, Any] = field(default_factory=dict)  # what it counts

    @property
    def module(self) -> str:
        return f"{self.modules}/drng.so"

    def provider(self, role: str) -> str:
        return (self.generators.get(role) or {}).get("provider", "")

    @property
    def served_by_drng(self) -> bool:
        return self.rand_bytes and not self.override and all(self.provider(role) == "drng" for role in GENERATORS)


# ---- In the child ----


def _refused(read: Read, folders: Sequence[str]) -> str:
    """Why root loads nothing of what the file names: by its path, or by a name in a folder of libcrypto's."""
    lines = in_effect(read)
    if len(lines) >= MOST:
        return f"{read.path}: not loaded, since openssl_conf leads to more than {MOST} lines"
    # Any value may be one: engines and providers have keys of their own for what they load.
    named = {
        name for way, (_, key, value) in lines if way[0] != "ssl_conf" for name in (key, key.split(".", 1)[-1], value)
    }
    # An engine looks for its module there, too.
    folders = ["", *folders, *(value for _, (_, key, value) in lines if key.split(".")[-1] == "DIR_ADD")]
    places = (os.path.join("/", folder, name) for name in {"", *named} for folder in folders if folder or "/" in name)
    for file in (file for place in places for end in ("", ".so") for file in by_the_linker(place + end)):
        if "$" in file:
            return f"{file}: not loaded, since only the dynamic linker knows what that is: write a path without $"
        if why := who_else(file, read.path):
            return why
    return ""


def _asked(whole: Whole, path: str, load: bool) -> dict[str, Any]:
    """In the process that this is; a part of a Probe."""
    if os.geteuid() == 0:
        os.chdir("/")  # root may be in a folder of somebody's, and a path may be a relative one
    crypto = Libcrypto()
    known: dict[str, Any] = {"modules": crypto.folders()[0]}
    conf, line, why = crypto.read(bytes(whole.text))
    known["problem"] = f"{whole.where(line)}: {why}; OpenSSL ignores it" if why else ""
    known["sections"] = crypto.sections(conf)
    if not load:
        return known
    known["own"] = crypto.sections(crypto.read(bytes(whole.own))[0]) if whole.files else {}
    read = Read(path, known["sections"])
    if os.geteuid() == 0 and (refused := _refused(read, crypto.folders())):
        return {"refused": refused}
    known["stopped"] = "; ".join(crypto.load(conf))
    known |= {"rand_bytes": crypto.draw(), "errors": crypto.errors(), "override": crypto.override()}
    random, listed = generators_of(read), providers_of(read)
    roles = {role: crypto.generator(role) for role in GENERATORS}
    if not known["override"] and (roles["public"] or {}).get("provider") == "drng":
        known["override"] = crypto.passed_by()
    known["drng"] = crypto.counters() if crypto.is_active("drng") else {}
    roles["seed"] = crypto.seed_source(random.get("seed", "SEED-SRC"), random.get("seed_properties", ""))
    active = [name for name in dict.fromkeys(("default", *listed)) if crypto.is_active(name)]
    known |= {"generators": roles, "providers": active}
    known["ciphers"] = bool(crypto.lib.EVP_CIPHER_fetch(None, b"AES-128-CTR", None))
    # By the file's name for the module: what the section has else is not asked then.
    known["not_loaded"] = {
        name: crypto.why_not_loaded(undotted(read.section(section)).get("module", "").removesuffix(".so") or name)
        for name, section in listed.items()
        if name not in active and is_active(read, section)
    }
    return known


# ---- In the process that asks ----


def default_file(*, own: bool = True) -> str:
    """The openssl.cnf that libcrypto was built to read; with `own`, that this environment names instead."""

    def ask() -> str:
        if not own:
            os.environ.pop("OPENSSL_CONF", None)
        return os.fsdecode(Libcrypto().lib.CONF_get1_default_config_file() or b"")

    return str(aside.once(ask, aside.SECONDS))


def probe(text: bytes, path: str, *, load: bool = True) -> Probe:
    """Of this text, which is named `path` in what is said; without `load` only what it says. A Failure where libcrypto
    gives no answer."""
    whole, problem = Whole(), {}
    try:
        whole.add(text, (path,))
    except FileError as error:
        if not load:
            raise
        whole, problem = Whole(), {"problem": str(error)}
    try:
        known = aside.once(lambda: _asked(whole, path, load), SECONDS, ROOM)
    except Failure as error:
        limit = "a limit on memory (ulimit -v) is too low: " if "MemoryError" in str(error) else ""
        raise Failure(f"{path}: libcrypto gives no answer: {limit}{error}") from None
    if "refused" in known:
        raise Failure(known["refused"])
    return Probe(path, **{**known, **problem}, passed_over=whole.passed_over, files=whole.files)


def probe_file(path: str) -> Probe:
    try:
        return probe(b"" if path in ("", os.devnull) else read_once(path), path)
    except OSError as error:
        return replace(probe(b"", path), problem=f"{path}: {error.strerror}; OpenSSL ignores it")
