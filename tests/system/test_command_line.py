# SPDX-License-Identifier: Apache-2.0
"""The openssl command with nothing configured but the module's path."""

import re

import pytest

from tests.support.builds import MASKED, NO_AES, ConfigWriter, Flavour, need, openssl_version

RAND = ["openssl", "rand", "-provider", "drng"]
LIST = ["openssl", "list", "-provider", "drng"]


def test_rand_with_no_other_provider(flavour: Flavour) -> None:
    first, second = (flavour.says([*RAND, "-hex", "32"]) for _ in range(2))
    assert re.fullmatch(r"([0-9a-f]{64}\n){2}", first + second)
    assert first != second


def test_the_provider_lists_itself(flavour: Flavour) -> None:
    said = flavour.says([*LIST, "-providers", "-verbose"])
    assert "status: active" in said
    assert "default" not in said
    assert "active-source" in said


def test_it_offers_its_generators_by_their_names(flavour: Flavour) -> None:
    said = flavour.says([*LIST, "-random-generators"])
    offered = {line.split()[0] for line in said.splitlines() if line.endswith("@ drng")}
    assert offered == {"CTR-DRBG", "DRNG-CTR-DRBG", "SEED-SRC", "DRNG-SEED", "RDRAND"}


def test_large_output(flavour: Flavour) -> None:
    assert len(flavour.says([*RAND, "-hex", "1000003"]).strip()) == 2 * 1000003


@pytest.mark.parametrize("mask", [MASKED, NO_AES], ids=["the fallback", "AES in plain C"])
def test_what_serves_without_instructions(flavour: Flavour, mask: str) -> None:
    """The program has loaded no other provider, which might have AES."""
    assert re.fullmatch(r"[0-9a-f]{64}\n", flavour.says([*RAND, "-hex", "32"], {"OPENSSL_ia32cap": mask}))


def test_keys_can_be_made(flavour: Flavour, config: ConfigWriter) -> None:
    env = {"OPENSSL_CONF": str(config())}
    for arguments in (["-algorithm", "EC", "-pkeyopt", "group:P-256"], ["-algorithm", "ED25519"]):
        assert "PRIVATE KEY" in flavour.says(["openssl", "genpkey", *arguments], env)


def test_valgrind_finds_no_leak_at_the_end(release: Flavour, config: ConfigWriter) -> None:
    """What other threads may still use stays where it is, and a pointer to it is kept."""
    check = [need("valgrind"), "--quiet", "--leak-check=full", "--error-exitcode=9"]
    assert release.says([*check, "openssl", "rand", "-hex", "8"], {"OPENSSL_CONF": str(config())})


def test_a_parameter_of_the_command_line_comes_too_late(release: Flavour) -> None:
    """As docs/servers.md says: -provparam is handed over after the provider has read its configuration."""
    if openssl_version() < (3, 5):
        pytest.skip("OpenSSL before 3.5 has no -provparam")
    for parameter in ("fallback=no", "source=bogus"):
        command = [*RAND, "-provparam", f"drng:{parameter}", "-hex", "8"]
        assert re.fullmatch(r"[0-9a-f]{16}\n", release.says(command, {"OPENSSL_ia32cap": MASKED}))
