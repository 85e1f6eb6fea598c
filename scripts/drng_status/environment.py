"""What OpenSSL's random numbers resolve to under this environment's openssl.cnf.

Loads libcrypto into this process, draws from it as any program does, and asks it who served: the same libcrypto,
the same openssl.cnf and the same environment variables give the same answer to the program they are meant for.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

# OSSL_PARAM types, from openssl/core.h; OPENSSL_INFO_CPU_SETTINGS, from openssl/crypto.h.
UTF8_PTR = 6
CPU_SETTINGS = 1008

# Bits of libcrypto's two words, OPENSSL_ia32cap(3).
INSTRUCTIONS = {"rdseed": (1, 18), "rdrand": (0, 62)}


class Param(ctypes.Structure):
    """OSSL_PARAM."""

    _fields_ = [
        ("key", ctypes.c_char_p),
        ("data_type", ctypes.c_uint),
        ("data", ctypes.c_void_p),
        ("data_size", ctypes.c_size_t),
        ("return_size", ctypes.c_size_t),
    ]


class Libcrypto:
    """The few functions of libcrypto that are needed here."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("crypto")
        if name is None:
            raise OSError("libcrypto is not installed")
        self.name = name
        self.lib = ctypes.CDLL(name)
        if not hasattr(self.lib, "OSSL_PROVIDER_load"):
            raise OSError(f"{name} is older than OpenSSL 3.0 and has no providers")
        for function, result in {
            "OpenSSL_version": ctypes.c_char_p,
            "OPENSSL_info": ctypes.c_char_p,
            "CONF_get1_default_config_file": ctypes.c_void_p,
            "RAND_get0_primary": ctypes.c_void_p,
            "RAND_get0_public": ctypes.c_void_p,
            "RAND_get0_private": ctypes.c_void_p,
            "EVP_RAND_CTX_get0_rand": ctypes.c_void_p,
            "EVP_RAND_fetch": ctypes.c_void_p,
            "EVP_RAND_get0_name": ctypes.c_char_p,
            "EVP_RAND_get0_provider": ctypes.c_void_p,
            "OSSL_PROVIDER_get0_name": ctypes.c_char_p,
            "OSSL_PROVIDER_load": ctypes.c_void_p,
            "OSSL_PROVIDER_gettable_params": ctypes.POINTER(Param),
            "ERR_get_error": ctypes.c_ulong,
        }.items():
            getattr(self.lib, function).restype = result

    def version(self) -> str:
        return self.lib.OpenSSL_version(0).decode()

    def config_file(self) -> str:
        raw = ctypes.c_void_p(self.lib.CONF_get1_default_config_file())
        path = ctypes.cast(raw, ctypes.c_char_p).value or b""
        self.lib.CRYPTO_free(raw, b"", 0)
        return path.decode(errors="replace")

    def draw(self) -> bool:
        """What every program does first; loads openssl.cnf and makes the generators."""
        buffer = ctypes.create_string_buffer(16)
        return self.lib.RAND_bytes(buffer, len(buffer)) == 1

    def errors(self) -> list[str]:
        lines = []
        buffer = ctypes.create_string_buffer(512)
        while error := self.lib.ERR_get_error():
            self.lib.ERR_error_string_n(ctypes.c_ulong(error), buffer, ctypes.c_size_t(len(buffer)))
            lines.append(buffer.value.decode(errors="replace"))
        return lines

    def _algorithm(self, algorithm: ctypes.c_void_p) -> dict[str, str]:
        provider = ctypes.c_void_p(self.lib.EVP_RAND_get0_provider(algorithm))
        return {
            "name": self.lib.EVP_RAND_get0_name(algorithm).decode(),
            "provider": self.lib.OSSL_PROVIDER_get0_name(provider).decode(),
        }

    def generator(self, role: str) -> dict[str, str] | None:
        """Name and provider of libcrypto's primary, public or private generator."""
        context = getattr(self.lib, f"RAND_get0_{role}")(None)
        if not context:
            return None
        return self._algorithm(ctypes.c_void_p(self.lib.EVP_RAND_CTX_get0_rand(ctypes.c_void_p(context))))

    def seed_source(self, name: str, query: str) -> dict[str, str] | None:
        """What libcrypto finds when it looks for the seed source; None: it reads the system's bytes itself."""
        algorithm = ctypes.c_void_p(self.lib.EVP_RAND_fetch(None, name.encode(), query.encode() or None))
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
                return f"ENGINE {self.lib.ENGINE_get_id(engine).decode()}"
        self.lib.RAND_get_rand_method.restype = ctypes.c_void_p
        self.lib.RAND_OpenSSL.restype = ctypes.c_void_p
        return None if self.lib.RAND_get_rand_method() == self.lib.RAND_OpenSSL() else "RAND_METHOD"

    def provider_params(self, name: str) -> dict[str, Any] | None:
        """Every parameter that an active provider answers, or None where it is not active."""
        if self.lib.OSSL_PROVIDER_available(None, name.encode()) != 1:
            return None
        provider = ctypes.c_void_p(self.lib.OSSL_PROVIDER_load(None, name.encode()))
        known = self.lib.OSSL_PROVIDER_gettable_params(provider)
        answer: dict[str, Any] = {}
        index = 0
        while known and known[index].key:
            value = self._param(provider, known[index])
            if value is not None:
                answer[known[index].key.decode()] = value
            index += 1
        self.lib.OSSL_PROVIDER_unload(provider)
        return answer

    def _param(self, provider: ctypes.c_void_p, known: Param) -> str | int | None:
        text = ctypes.c_char_p()
        number = ctypes.c_uint64() if known.data_size != 4 else ctypes.c_uint32()
        target = text if known.data_type == UTF8_PTR else number
        params = (Param * 2)()
        params[0] = Param(
            known.key,
            known.data_type,
            ctypes.cast(ctypes.byref(target), ctypes.c_void_p),
            0 if target is text else ctypes.sizeof(number),
            ctypes.c_size_t(-1).value,
        )
        if self.lib.OSSL_PROVIDER_get_params(provider, params) != 1:
            return None
        if known.data_type == UTF8_PTR:
            return text.value.decode() if text.value is not None else None
        return number.value


# ---- The CPU ----


def capabilities(settings: str | None) -> list[int] | None:
    """The first two words of "OPENSSL_ia32cap=0x...:0x..."."""
    if not settings or not settings.startswith("OPENSSL_ia32cap="):
        return None
    words = settings.removeprefix("OPENSSL_ia32cap=").split()[0].split(":")
    return [int(word, 16) for word in words[:2]] if len(words) >= 2 else None


def unmasked_settings(library: str) -> str | None:
    """What libcrypto says of the CPU in an environment without its mask, which it reads when it is loaded."""
    code = (
        "import ctypes, sys; info = ctypes.CDLL(sys.argv[1]).OPENSSL_info; info.restype = ctypes.c_char_p; "
        f"print((info({CPU_SETTINGS}) or b'').decode())"
    )
    env = {key: value for key, value in os.environ.items() if key != "OPENSSL_ia32cap"}
    command = [sys.executable, "-c", code, library]
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else None


def cpuinfo() -> dict[str, str]:
    """Of the first processor."""
    try:
        text = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def verdict(instruction: str, drng: dict[str, Any] | None) -> str:
    """drng's own words: they include its list of broken parts."""
    if drng is None:
        return "not loaded, and cannot say"
    prefix = f"{instruction.upper()}: "
    reasons = [part for part in str(drng.get("disabled-reason", "")).split("; ") if part.startswith(prefix)]
    return reasons[0].removeprefix(prefix) if reasons else "may serve"


def cpu(crypto: Libcrypto, drng: dict[str, Any] | None) -> dict[str, Any]:
    info = cpuinfo()
    flags = info.get("flags", "").split()
    masked = capabilities((crypto.lib.OPENSSL_info(CPU_SETTINGS) or b"").decode())
    whole = capabilities(unmasked_settings(crypto.name))
    mask = os.environ.get("OPENSSL_ia32cap")  # noqa: SIM112
    answer: dict[str, Any] = {"model": info.get("model name", "unknown"), "mask": mask}
    for name, (word, bit) in INSTRUCTIONS.items():
        in_cpu = None if whole is None else bool(whole[word] >> bit & 1)
        answer[name] = {
            "in-cpu": in_cpu,
            "masked": bool(in_cpu and masked is not None and not masked[word] >> bit & 1),
            "kernel": name in flags if flags else None,
            "drng": verdict(name, drng),
        }
    return answer


# ---- The configuration ----


def drng_conf() -> ModuleType | None:
    """drng-conf, which stands beside drng-status and knows what an openssl.cnf means."""
    path = Path(sys.argv[0]).resolve().parent / "drng-conf"
    if not path.exists():
        return None
    loader = importlib.machinery.SourceFileLoader("drng_conf", str(path))
    spec = importlib.util.spec_from_loader("drng_conf", loader)
    if spec is None:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules["drng_conf"] = module
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def configuration(path: str) -> dict[str, Any]:
    """The file, what it says of generators, and what there is to warn of."""
    answer: dict[str, Any] = {"file": path, "random": {}, "warnings": []}
    module = drng_conf()
    if module is None:
        answer["warnings"] = ["drng-conf is not beside drng-status, so the file is not looked into"]
        return answer
    if not Path(path).exists():
        answer["warnings"] = [f"{path}: there is no such file, and OpenSSL goes on without"]
        return answer
    try:
        conf = module.Conf(path)
        meaning = module.understand(conf)
        answer["random"] = conf.section(meaning.random) or {}
        answer["warnings"] = meaning.warnings
    except module.ConfError as error:
        answer["warnings"] = [str(error)]
    return answer


def collect() -> dict[str, Any]:
    crypto = Libcrypto()
    drawn = crypto.draw()
    errors = crypto.errors()
    conf = configuration(crypto.config_file())
    random = conf["random"]
    generators = {role: crypto.generator(role) for role in ("primary", "public", "private")}
    drng = crypto.provider_params("drng")
    return {
        "openssl": crypto.version(),
        "config": conf["file"],
        "warnings": conf["warnings"],
        "rand_bytes": drawn,
        "errors": errors,
        "override": crypto.override(),
        "random_provider": random.get("random_provider"),
        "seed": crypto.seed_source(random.get("seed", "SEED-SRC"), random.get("seed_properties", "")),
        **generators,
        "cpu": cpu(crypto, drng),
        "drng": drng,
    }
