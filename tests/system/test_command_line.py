# SPDX-License-Identifier: Apache-2.0
"""The openssl command with nothing configured but the module's path."""

from __future__ import annotations

import re

import pytest

from tests.support.builds import MASKED, NO_AES, ConfigWriter, Flavour, openssl_version


def test_rand_with_no_other_provider(flavour: Flavour) -> None:
    first = flavour.run(["openssl", "rand", "-provider", "drng", "-hex", "32"])
    second = flavour.run(["openssl", "rand", "-provider", "drng", "-hex", "32"])
    for result in (first, second):
        assert result.returncode == 0, result.stderr
        assert re.fullmatch(r"[0-9a-f]{64}\n", result.stdout)
    assert first.stdout != second.stdout


def test_the_provider_lists_itself(flavour: Flavour) -> None:
    result = flavour.run(["openssl", "list", "-provider", "drng", "-providers", "-verbose"])
    assert result.returncode == 0, result.stderr
    assert "status: active" in result.stdout
    assert "default" not in result.stdout
    assert "active-source" in result.stdout


def test_it_offers_its_generators_by_their_names(flavour: Flavour) -> None:
    result = flavour.run(["openssl", "list", "-provider", "drng", "-random-generators"])
    assert result.returncode == 0, result.stderr
    offered = {line.split()[0] for line in result.stdout.splitlines() if line.endswith("@ drng")}
    assert offered == {"CTR-DRBG", "DRNG-CTR-DRBG", "SEED-SRC", "DRNG-SEED", "RDRAND"}


def test_large_output(flavour: Flavour) -> None:
    result = flavour.run(["openssl", "rand", "-provider", "drng", "-hex", "1000003"])
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.strip()) == 2 * 1000003


def test_without_the_instructions_the_fallback_serves(flavour: Flavour) -> None:
    result = flavour.run(["openssl", "rand", "-provider", "drng", "-hex", "32"], {"OPENSSL_ia32cap": MASKED})
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"[0-9a-f]{64}\n", result.stdout)


def test_without_aes_instructions_plain_c_serves(flavour: Flavour) -> None:
    """The program has loaded no other provider that has AES."""
    result = flavour.run(["openssl", "rand", "-provider", "drng", "-hex", "32"], {"OPENSSL_ia32cap": NO_AES})
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"[0-9a-f]{64}\n", result.stdout)


def test_keys_can_be_made(flavour: Flavour, config: ConfigWriter) -> None:
    env = {"OPENSSL_CONF": str(config())}
    for arguments in (["-algorithm", "EC", "-pkeyopt", "group:P-256"], ["-algorithm", "ED25519"]):
        result = flavour.run(["openssl", "genpkey", *arguments], env)
        assert result.returncode == 0, result.stderr
        assert "PRIVATE KEY" in result.stdout


def test_a_parameter_of_the_command_line_comes_too_late(release: Flavour) -> None:
    """As docs/servers.md says: -provparam is handed over after the provider has read its configuration."""
    if openssl_version() < (3, 5):
        pytest.skip("OpenSSL before 3.5 has no -provparam")
    for parameter in ("fallback=no", "source=bogus"):
        result = release.run(
            ["openssl", "rand", "-provider", "drng", "-provparam", f"drng:{parameter}", "-hex", "8"],
            {"OPENSSL_ia32cap": MASKED},
        )
        assert result.returncode == 0, result.stderr
        assert re.fullmatch(r"[0-9a-f]{16}\n", result.stdout)
