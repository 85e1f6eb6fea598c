"""What OpenSSL's random numbers resolve to under this environment's openssl.cnf.

A child process loads libcrypto, draws from it as any program does, and asks it who served: the same libcrypto, the same
openssl.cnf and the same environment variables give the same answer to the program they are meant for. What openssl.cnf
names may hang or crash whoever loads it, so it is a child of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
from collections.abc import Callable
from typing import Any

from .. import aside, procfs
from ..conf import meaning, reading
from ..instructions import HAS_VERDICT, INSTRUCTIONS, NO_VERDICT, WORDS
from ..terminal import Failure
from ..text import printable, printable_all
from . import config_file, inspection, needed, parts, states, stats

# A program that has not started by then does not count as one that works.
SECONDS = 60.0

# Those that have providers, and one to say that it has none. By name: ctypes.util would ask gcc where they are.
LIBRARIES = ("libcrypto.so.3", "libcrypto.so.4", "libcrypto.so", "libcrypto.so.1.1")

# OSSL_PARAM types, from openssl/core.h; OPENSSL_INFO_CPU_SETTINGS, from openssl/crypto.h.
UTF8_PTR = 6
CPU_SETTINGS = 1008

# From openssl/crypto.h.
INIT_LOAD_CONFIG = 0x40

# Bytes that no generator has ready from an earlier request.
MORE_THAN_ANYONE_KEEPS = 1 << 16

# The provider's words, in "disabled-reason".
ABSENT = "not in this CPU"


class Param(ctypes.Structure):
    """OSSL_PARAM."""

    _fields_ = [
        ("key", ctypes.c_char_p),
        ("data_type", ctypes.c_uint),
        ("data", ctypes.c_void_p),
        ("data_size", ctypes.c_size_t),
        ("return_size", ctypes.c_size_t),
    ]


def openssl_in_path() -> str | None:
    """The command that PATH names; PATH's relative folders are the caller's, and not looked into."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(":") if os.path.isabs(folder)]
    return shutil.which("openssl", path=":".join(folders)) if folders else None


class Libcrypto:
    """The few functions of libcrypto that are needed here."""

    def __init__(self) -> None:
        self.lib, self.warning = self._load()
        if not hasattr(self.lib, "OSSL_PROVIDER_load"):
            raise OSError(f"{self.lib._name} is older than OpenSSL 3.0 and has no providers")
        for result, functions in {
            ctypes.c_char_p: "OpenSSL_version OPENSSL_info EVP_RAND_get0_name OSSL_PROVIDER_get0_name",
            ctypes.c_void_p: "RAND_get0_primary RAND_get0_public RAND_get0_private "
            "EVP_RAND_fetch EVP_RAND_CTX_get0_rand EVP_RAND_get0_provider OSSL_PROVIDER_load",
            ctypes.POINTER(Param): "OSSL_PROVIDER_gettable_params",
            ctypes.c_ulong: "ERR_get_error_all",
        }.items():
            for function in functions.split():
                getattr(self.lib, function).restype = result

    @staticmethod
    def _load() -> tuple[ctypes.CDLL, str]:
        """That of the openssl in PATH, or else the first that is installed, with a warning that it may be another."""
        program = openssl_in_path()
        own = needed.libcrypto_of(program) if program else None
        missing = f"{own} of {program} cannot be loaded" if own else f"{program} has no shared libcrypto"
        for name in filter(None, (own, *LIBRARIES)):
            with contextlib.suppress(OSError):
                is_meant = program is None or name == own
                return ctypes.CDLL(name), "" if is_meant else f"{missing}; {name} was examined in its place"
        raise OSError("libcrypto is not installed")

    def version(self) -> str:
        return os.fsdecode(self.lib.OpenSSL_version(0))

    def settings(self) -> str:
        """What it says of the CPU, under the mask that it has read when it was loaded."""
        return os.fsdecode(self.lib.OPENSSL_info(CPU_SETTINGS) or b"")

    def draw(self) -> bool:
        """What every program with TLS does first: loads openssl.cnf, and makes the generators."""
        self.lib.OPENSSL_init_crypto(ctypes.c_uint64(INIT_LOAD_CONFIG), None)
        self.errors()
        buffer = ctypes.create_string_buffer(16)
        return self.lib.RAND_bytes(buffer, len(buffer)) == 1

    def errors(self) -> list[str]:
        """Each with its data, which say what to do."""
        lines = []
        buffer, data, flags = ctypes.create_string_buffer(512), ctypes.c_char_p(), ctypes.c_int()
        while error := self.lib.ERR_get_error_all(None, None, None, ctypes.byref(data), ctypes.byref(flags)):
            self.lib.ERR_error_string_n(ctypes.c_ulong(error), buffer, ctypes.c_size_t(len(buffer)))
            said = data.value if flags.value & reading.ERR_TXT_STRING and data.value else b""
            lines.append(": ".join(os.fsdecode(part) for part in (buffer.value, said) if part))
        return list(dict.fromkeys(lines))

    def why_not_loaded(self, warnings: list[str]) -> list[str]:
        """libcrypto drops the errors of what openssl.cnf activates, and not those of what is asked for by name. Where
        drng loads then, it is the file that there are warnings of."""
        self.errors()
        provider = ctypes.c_void_p(self.lib.OSSL_PROVIDER_load(None, b"drng"))
        if provider:
            self.lib.OSSL_PROVIDER_unload(provider)
            return warnings or ["openssl.cnf names drng, and OpenSSL does not come to load it"]
        # "error:CODE:LIBRARY:FUNCTION:REASON: DATA", where the data of a module that is not there begin with its name.
        reason = re.sub(r"filename[(].*?[)]: ", "", self.errors()[0].split(":", 4)[-1])
        return [f"openssl.cnf activates drng, which does not load: {reason}"]

    def _algorithm(self, algorithm: ctypes.c_void_p) -> dict[str, str]:
        provider = ctypes.c_void_p(self.lib.EVP_RAND_get0_provider(algorithm))
        return {
            "name": os.fsdecode(self.lib.EVP_RAND_get0_name(algorithm)),
            "provider": os.fsdecode(self.lib.OSSL_PROVIDER_get0_name(provider)),
        }

    def generator(self, role: str) -> dict[str, str] | None:
        """Name and provider of libcrypto's primary, public or private generator."""
        context = getattr(self.lib, f"RAND_get0_{role}")(None)
        if not context:
            return None
        return self._algorithm(ctypes.c_void_p(self.lib.EVP_RAND_CTX_get0_rand(ctypes.c_void_p(context))))

    def seed_source(self, name: str, query: str) -> dict[str, str] | None:
        """What libcrypto finds when it looks for the seed source; None: it reads the system's bytes itself."""
        algorithm = ctypes.c_void_p(self.lib.EVP_RAND_fetch(None, os.fsencode(name), os.fsencode(query) or None))
        if not algorithm:
            self.errors()
            return None
        found = self._algorithm(algorithm)
        self.lib.EVP_RAND_free(algorithm)
        return found

    def override(self) -> str | None:
        """An ENGINE or a RAND_METHOD outranks every provider."""
        if not hasattr(self.lib, "RAND_get_rand_method"):
            return None
        if hasattr(self.lib, "ENGINE_get_default_RAND"):
            self.lib.ENGINE_get_default_RAND.restype = ctypes.c_void_p
            self.lib.ENGINE_get_id.restype = ctypes.c_char_p
            engine = ctypes.c_void_p(self.lib.ENGINE_get_default_RAND())
            if engine:
                return f"ENGINE {os.fsdecode(self.lib.ENGINE_get_id(engine))}"
        self.lib.RAND_get_rand_method.restype = ctypes.c_void_p
        self.lib.RAND_OpenSSL.restype = ctypes.c_void_p
        return None if self.lib.RAND_get_rand_method() == self.lib.RAND_OpenSSL() else "RAND_METHOD"

    def passed_by(self) -> str | None:
        """Who serves RAND_bytes where drng, though it is loaded, does not count the request.

        OpenSSL 3.5 and later hand it to a provider of the name "fips", whatever the generators are.
        """
        before = self.provider_params("drng")
        buffer = ctypes.create_string_buffer(MORE_THAN_ANYONE_KEEPS)
        drawn = before is not None and self.lib.RAND_bytes(buffer, len(buffer)) == 1
        if not drawn or self.provider_params("drng") != before:
            return None
        return "the fips provider" if self.lib.OSSL_PROVIDER_available(None, b"fips") == 1 else "another provider"

    def provider_params(self, name: str) -> dict[str, Any] | None:
        """Every parameter that an active provider answers, or None where it is not active."""
        if self.lib.OSSL_PROVIDER_available(None, os.fsencode(name)) != 1:
            return None
        provider = ctypes.c_void_p(self.lib.OSSL_PROVIDER_load(None, os.fsencode(name)))
        known = self.lib.OSSL_PROVIDER_gettable_params(provider)
        answer: dict[str, Any] = {}
        index = 0
        while known and known[index].key:
            value = self._param(provider, known[index])
            if value is not None:
                answer[os.fsdecode(known[index].key)] = value
            index += 1
        self.lib.OSSL_PROVIDER_unload(provider)
        return answer

    def _param(self, provider: ctypes.c_void_p, known: Param) -> str | int | None:
        is_text = known.data_type == UTF8_PTR
        value = ctypes.c_char_p() if is_text else ctypes.c_uint32() if known.data_size == 4 else ctypes.c_uint64()
        size = 0 if is_text else ctypes.sizeof(value)
        params = (Param * 2)((known.key, known.data_type, ctypes.addressof(value), size, ctypes.c_size_t(-1).value))
        if self.lib.OSSL_PROVIDER_get_params(provider, params) != 1 or value.value is None:
            return None
        return os.fsdecode(value.value) if is_text else value.value


# ---- The CPU ----


def asked_without(variable: str, question: Callable[[], str]) -> str:
    """The answer in an environment without a variable that libcrypto reads; "" where there is none."""

    def ask() -> str:
        os.environ.pop(variable, None)
        return question()

    answer = aside.once(ask, SECONDS)
    return "" if isinstance(answer, aside.Failure) else str(answer)


def default_config() -> str:
    """The openssl.cnf that libcrypto was built to read."""
    return asked_without("OPENSSL_CONF", lambda: reading.default_file(Libcrypto().lib))


def verdict(instruction: str, drng: dict[str, Any] | None) -> str:
    """drng's own words: they include its list of broken parts."""
    if drng is None:
        return "not loaded, so its verdict is not known"
    prefix = f"{instruction.upper()}: "
    reasons = [part for part in str(drng.get("disabled-reason", "")).split("; ") if part.startswith(prefix)]
    return reasons[0].removeprefix(prefix) if reasons else "may serve"


def bit_of(settings: str, place: tuple[int, int]) -> bool | None:
    """Of the first two words of "OPENSSL_ia32cap=0x...:0x...", None where these are not known."""
    words = re.match(r"OPENSSL_ia32cap=(0x[0-9a-f]+):(0x[0-9a-f]+)", settings)
    word, bit = place
    return None if words is None else bool(int(words[1 + word], 16) >> bit & 1)


def cpu(drng: dict[str, Any] | None, masked: str, unmasked: str) -> dict[str, Any]:
    info = procfs.cpuinfo()
    flags = info.get("flags", "").split()
    mask = os.environ.get("OPENSSL_ia32cap")  # noqa: SIM112
    model = info.get("model name") or info.get("cpu") or "unknown"
    verdict_problem = "" if info or not HAS_VERDICT else NO_VERDICT
    answer: dict[str, Any] = {"model": model, "mask": mask, "verdict-problem": verdict_problem}
    for name, place in INSTRUCTIONS.items():
        said = verdict(name, drng)
        in_cpu = bit_of(unmasked, place) if place else None if drng is None else said != ABSENT
        answer[name] = {
            "in-cpu": in_cpu,
            "masked": bool(in_cpu and place and bit_of(masked, place) is False),
            "kernel": name in flags if flags and place else None,
            "drng": said,
        }
    answer["amd-sb-7055"] = parts.zen_5(info, answer["rdseed"]["in-cpu"]) if "rdseed" in INSTRUCTIONS else ""
    answer["srbds"] = parts.srbds()
    return answer


# ---- The configuration ----


def configuration(path: str) -> dict[str, Any]:
    """The file, the keys of its section for the generators, and what there is to warn of."""
    with config_file.own_view() as view:
        problem = config_file.read(view, path).problem
    answer: dict[str, Any] = {"file": path, "problem": problem, "random": {}, "warnings": [], "names-drng": False}
    if os.path.isfile(path):
        try:
            conf = reading.Conf(path)
            found = meaning.understand(conf)
            answer["random"], answer["warnings"] = meaning.generators_of(conf, found.init), found.warnings
            answer["names-drng"] = bool(found.drng)
        except reading.ConfError as error:
            answer["problem"], answer["warnings"] = str(error), [f"{error}; OpenSSL goes on without the file"]
    elif problem:
        answer["warnings"] = [f"{problem}; OpenSSL goes on without it"]
    return answer


def what_the_counters_add() -> dict[str, Any]:
    """To the provider's parameters, of the process that this is."""
    counters = inspection.own_counters()
    return {"virtual-machine": counters.get("virtual-machine"), "clone-reason": counters.get("clone-reason", "")}


def look(unmasked: str) -> dict[str, Any]:
    """In the process that this is."""
    crypto = Libcrypto()
    drawn = crypto.draw()
    errors = crypto.errors()
    conf = configuration(reading.default_file(crypto.lib))
    random = conf["random"]
    generators = {role: crypto.generator(role) for role in ("primary", "public", "private")}
    drng = crypto.provider_params("drng")
    if drng is None and conf["names-drng"]:
        errors[:0] = crypto.why_not_loaded(conf["warnings"])
    # Where another provider's generator is in use, the roles say so.
    passed_by = crypto.passed_by() if (generators["public"] or {}).get("provider") == "drng" else None
    facts = None
    if drng is not None:
        facts = {**drng, "status": stats.STATUS[drng["status"] != 0], **what_the_counters_add()}
    if facts is not None and (generators["public"] or {}).get("name") == WORDS:
        facts["active-source"] = WORDS.lower()
    alike = states.clone_warning(facts or {})
    answer = {
        "openssl": crypto.version(),
        "library": crypto.lib._name,
        "config": conf["file"],
        "config-problem": conf["problem"],
        "warnings": [*filter(None, [crypto.warning]), *conf["warnings"], *filter(None, [alike])],
        "rand-bytes": drawn,
        "errors": errors,
        "override": crypto.override() or passed_by,
        "random-provider": random.get("random_provider"),
        "seed": crypto.seed_source(random.get("seed", "SEED-SRC"), random.get("seed_properties", "")),
        **generators,
        "cpu": cpu(drng, crypto.settings(), unmasked),
        "drng": facts,
    }
    return printable_all(answer)


def collect() -> dict[str, Any]:
    unmasked = asked_without("OPENSSL_ia32cap", lambda: Libcrypto().settings())
    answer = aside.once(lambda: look(unmasked), SECONDS)
    if isinstance(answer, aside.Failure):
        raise Failure(printable(answer.reason))
    return answer
