# SPDX-License-Identifier: Apache-2.0
"""openssl.cnf: who serves under the pinned profile, and what happens where something is wrong."""

import re
from pathlib import Path

import pytest

from tests.support.builds import CONF, MASKED, ROOT, ConfigWriter, Flavour, served_by_drng
from tests.support.machine import Machine
from tests.support.servers import SYSTEM_PYTHON


def test_the_strict_profile_is_served_by_drng(flavour: Flavour) -> None:
    answer = flavour.probe(CONF / "drng.cnf")
    assert answer["rand_bytes"] == 1
    assert answer["rand_priv_bytes"] == 1
    assert answer["rand_status"] == 1
    assert served_by_drng(answer)
    drng = answer["drng"]
    assert drng["status"] == 1
    assert drng["name"] == "drng"
    seeds = {k: drng[f"seeds-{k}"] for k in ("rdseed", "rdrand", "fallback")}
    assert sum(seeds.values()) == 1, "the primary is seeded once, and its children from it"
    assert seeds[drng["active-source"]] == 1
    assert drng["seed-failures"] == 0
    assert drng["fork-reseeds"] == 0


# Before OpenSSL reads openssl.cnf it makes its own seed source the parent: 4.0 in both, 3.0 to 3.6 in the second.
FIRST_CALLS = ("bytes", "primary")


@pytest.mark.parametrize("first", FIRST_CALLS)
@pytest.mark.parametrize("profile", ["drng.cnf", "drng-permissive.cnf"])
def test_a_program_that_draws_before_openssl_cnf_is_read(release: Flavour, profile: str, first: str) -> None:
    answer = release.probe(CONF / profile, None, first)
    assert served_by_drng(answer)
    assert sum(answer["drng"][f"seeds-{k}"] for k in ("rdseed", "rdrand", "fallback")) == 1


@pytest.mark.parametrize("first", FIRST_CALLS)
def test_such_a_program_without_a_fallback(
    release: Flavour, config: ConfigWriter, machine: Machine, first: str
) -> None:
    """The parent's bytes are no seed, however good they are."""
    masked = release.probe(config(fallback="no"), {"OPENSSL_ia32cap": MASKED}, first)
    assert masked["rand_bytes"] != 1 and masked["rand_priv_bytes"] != 1
    machine.need_instruction()
    answer = release.probe(config(fallback="no"), None, first)
    assert served_by_drng(answer)
    assert answer["drng"]["seeds-rdseed"] + answer["drng"]["seeds-rdrand"] == 1


def test_an_instruction_serves_where_there_is_one(release: Flavour, machine: Machine) -> None:
    """By the word of libcrypto, which asks the CPU, and of the kernel; a broken one is on drng's own list."""
    usable = [i for i, may in machine.usable.items() if may and not machine.is_listed(i)]
    answer = release.probe(CONF / "drng.cnf")
    assert answer["drng"]["active-source"] == (usable or ["fallback"])[0]
    for instruction in machine.usable:
        assert machine.may_serve(instruction) == (instruction in usable)


def test_the_built_in_serves_without_the_profile(release: Flavour) -> None:
    """The control: the probe can tell the two apart."""
    answer = release.probe(None)
    assert answer["public"]["provider"] == "default"
    assert answer["loaded"] == 0


@pytest.mark.parametrize("source", ["rdrand", "rdseed"])
def test_the_operator_chooses_the_instruction(release: Flavour, config: ConfigWriter, source: str) -> None:
    """With the other one left out: the fallback steps in where the CPU lacks the chosen one."""
    answer = release.probe(config(source=source))
    other = {"rdrand": "rdseed", "rdseed": "rdrand"}[source]
    assert answer["drng"][f"seeds-{other}"] == 0
    assert f"{other.upper()}: not chosen" in answer["drng"]["disabled-reason"]


def test_masked_with_fallback(flavour: Flavour, config: ConfigWriter) -> None:
    answer = flavour.probe(config(fallback="yes"), {"OPENSSL_ia32cap": MASKED})
    assert answer["rand_bytes"] == 1
    assert served_by_drng(answer)
    assert answer["drng"]["active-source"] == "fallback"
    assert answer["drng"]["seeds-fallback"] == 1
    assert answer["drng"]["seeds-rdseed"] + answer["drng"]["seeds-rdrand"] == 0


def test_masked_without_fallback(flavour: Flavour, config: ConfigWriter) -> None:
    answer = flavour.probe(config(fallback="no"), {"OPENSSL_ia32cap": MASKED})
    assert answer["rand_bytes"] != 1
    assert answer["rand_priv_bytes"] != 1
    assert answer["rand_status"] == 0
    assert answer["primary"] is None
    reasons = "\n".join(answer["errors"])
    assert "no instruction can seed and fallback = no" in reasons
    assert "masked by OPENSSL_ia32cap" in reasons
    assert "fallback = yes" in reasons, "the error says what to do"
    assert answer["drng"]["active-source"] == "none"
    assert answer["drng"]["seed-failures"] > 0


BAD_VALUES = [
    ("fallback", "maybe", "yes or no"),
    ("source", "tpm", "auto, rdseed or rdrand"),
    ("os_mixing", "true", "yes or no"),
    ("request_mixing", "sometimes", "auto, yes or no"),
    ("conditioner", "sha1", "cbc-mac or hmac-sha256"),
    ("reseed_bytes", "16k", "0 or a number from 1024 to 4294967295"),
    ("rdseed_words", "781", "8 or an even number from 8 to 2048"),
]


@pytest.mark.parametrize(("key", "value", "allowed"), BAD_VALUES)
def test_a_bad_value_does_not_load(flavour: Flavour, tmp_path: Path, key: str, value: str, allowed: str) -> None:
    """Loaded by name, so that the core reports what the provider said; from [init] it hides it."""
    path = tmp_path / "bad.cnf"
    path.write_text(
        "openssl_conf = init\n[init]\nproviders = p\n[p]\ndefault = d\ndrng = x\n[d]\nactivate = 1\n"
        f"[x]\n{key} = {value}\n"
    )
    result = flavour.run(["openssl", "rand", "-provider", "drng", "-hex", "8"], {"OPENSSL_CONF": str(path)})
    assert result.returncode == 1
    assert result.stdout == ""
    assert f"{key} = {value}" in result.stderr
    assert allowed in result.stderr
    assert "configuration value not allowed" in result.stderr or "reason(1)" in result.stderr


def test_a_bad_value_in_the_strict_profile_fails_closed(release: Flavour, config: ConfigWriter) -> None:
    answer = release.probe(config(fallback="maybe"))
    assert answer["loaded"] == 0
    assert answer["rand_bytes"] != 1
    assert answer["public"] is None


@pytest.mark.parametrize("diagnostics", ["0", "1"])
@pytest.mark.parametrize(
    "command",
    [["openssl", "rand", "-hex", "4"], [SYSTEM_PYTHON, "-c", "import ssl; ssl.RAND_bytes(4)"]],
    ids=["openssl", "python"],
)
def test_a_bad_value_is_named_by_drng_conf_and_by_no_program(
    release: Flavour, config: ConfigWriter, command: list[str], diagnostics: str
) -> None:
    """What provider-drng(7) says. A libcrypto that keeps the error would make this fail: then say so there."""
    path = config(source="rdrnd")
    path.write_text(f"{path.read_text()}\n[default]\nconfig_diagnostics = {diagnostics}\n")
    result = release.run(command, {"OPENSSL_CONF": str(path)})
    assert result.returncode != 0
    assert re.search("unsupported|unable to fetch drbg", result.stderr)
    assert "rdrnd" not in result.stderr
    named = release.run([str(ROOT / "scripts/drng-conf"), str(path)])
    assert named.returncode == 1
    assert "drng did not load: [drng_sect] source = rdrnd: write one of auto, rdseed, rdrand" in named.stderr


def test_every_good_value_serves(release: Flavour, config: ConfigWriter) -> None:
    for keys in (
        {"os_mixing": "no"},
        {"request_mixing": "yes"},
        {"request_mixing": "no"},
        {"conditioner": "hmac-sha256"},
        {"conditioner": "hmac-sha256", "source": "rdrand"},
        {"reseed_bytes": "16384"},
        {"rdseed_words": "780"},
        {"no_such_key": "at all"},
    ):
        answer = release.probe(config(**keys))
        assert answer["rand_bytes"] == 1, keys
        assert served_by_drng(answer), keys


def test_a_child_process_is_served_too(release: Flavour, config: ConfigWriter) -> None:
    """OPENSSL_CONF is all that a service needs."""
    command = ["sh", "-c", "openssl rand -hex 16; openssl rand -hex 16"]
    lines = release.says(command, {"OPENSSL_CONF": str(config())}).split()
    assert len(lines) == 2
    assert lines[0] != lines[1]
