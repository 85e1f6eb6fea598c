# SPDX-License-Identifier: Apache-2.0
"""OpenSSL 3.5's random_provider: RAND_bytes goes straight to drng's own generators, one pair a thread.

scripts/ci/test-matrix.sh runs this on the releases that have it; test_profiles.py has what is missing or masked.
"""

from pathlib import Path

import pytest

from tests.support.builds import CONF, RELEASE, Flavour, has_random_provider, need
from tests.support.draws import check_draws
from tests.support.machine import here

PROFILE = CONF / "drng-random-provider.cnf"

# The key alone. EVP_RAND's own chain stays with OpenSSL, so what drng counts comes from RAND_bytes and nothing else.
ALONE = """\
openssl_conf = init
[init]
random = random_sect
providers = provider_sect
[random_sect]
{key}
[provider_sect]
default = default_sect
drng = drng_sect
[default_sect]
activate = 1
[drng_sect]
activate = 1
fallback = no
"""
KEY = "random_provider = drng"

BATCHES = 1000
THREADS_A_BATCH = 8
GROWTH_KIB = 1024


@pytest.fixture
def since_3_5() -> None:
    if not has_random_provider():
        pytest.skip("OpenSSL before 3.5 has no random_provider; scripts/ci/test-matrix.sh tests later ones")


def write(directory: Path, key: str) -> Path:
    path = directory / "openssl.cnf"
    path.write_text(ALONE.format(key=key))
    return path


def seeds(answer: dict) -> int:
    return sum(answer["drng"][f"seeds-{way}"] for way in ("rdseed", "rdrand", "fallback"))


# ---- Who serves ----


@pytest.mark.usefixtures("since_3_5")
def test_the_profile_is_served_by_drng() -> None:
    answer = RELEASE.probe(PROFILE)
    assert answer["rand_bytes"] == 1
    assert answer["rand_priv_bytes"] == 1
    assert answer["rand_status"] == 1
    for role in ("primary", "public", "private"):
        assert answer[role]["provider"] == "drng", "for those who ask for a generator by hand"
    assert seeds(answer) == 2, "the primary of RAND_bytes, and the one that was asked for by hand"


@pytest.mark.usefixtures("since_3_5")
def test_the_generators_of_rand_bytes_are_drngs_own(tmp_path: Path) -> None:
    """A seed was drawn although every generator of libcrypto's is another provider's."""
    here().need_instruction()
    answer = RELEASE.probe(write(tmp_path, KEY))
    assert answer["rand_bytes"] == 1
    assert answer["rand_priv_bytes"] == 1
    assert answer["public"]["provider"] == "default"
    assert seeds(answer) == 1


@pytest.mark.usefixtures("since_3_5")
def test_without_the_key_they_are_not(tmp_path: Path) -> None:
    """The control of the test above."""
    answer = RELEASE.probe(write(tmp_path, ""))
    assert answer["rand_bytes"] == 1
    assert seeds(answer) == 0


# ---- Programs that read openssl.cnf twice ----


@pytest.mark.usefixtures("since_3_5")
@pytest.mark.parametrize("way", ["again", "twice"])
def test_a_second_reading_leaves_drng_in_place(way: str) -> None:
    """At which OpenSSL deactivates the provider that random_provider names, and never activates it again."""
    answer = RELEASE.probe(PROFILE, None, way)
    assert answer["rand_bytes"] == 1, answer["errors"]
    assert answer["rand_priv_bytes"] == 1
    assert answer["loaded"] == 1
    for role in ("primary", "public", "private"):
        assert answer[role]["provider"] == "drng"


@pytest.mark.usefixtures("since_3_5")
def test_a_name_of_its_own_is_what_it_takes(tmp_path: Path) -> None:
    """The control of the test above: the profile as it was up to 0.2.0."""
    text = PROFILE.read_text()
    assert text.count("drng-random = drng_sect\n") == 1
    path = tmp_path / "openssl.cnf"
    path.write_text(text.replace("drng-random = drng_sect\n", "").replace("= drng-random\n", "= drng\n"))
    assert RELEASE.probe(path)["rand_bytes"] == 1
    assert RELEASE.probe(path, None, "again")["rand_bytes"] == 0


@pytest.mark.usefixtures("since_3_5")
def test_openssl_reads_the_file_that_is_in_effect(release: Flavour, tmp_path: Path) -> None:
    """`openssl req -config FILE` does, with the file that OPENSSL_CONF names."""
    path = tmp_path / "openssl.cnf"
    path.write_text(PROFILE.read_text() + "[req]\ndistinguished_name = name\n[name]\n")
    command = [need("openssl"), "req", "-config", str(path), "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=x"]
    said = release.says([*command, "-keyout", str(tmp_path / "key")], {"OPENSSL_CONF": str(path)})
    assert "BEGIN CERTIFICATE" in said


# ---- Forks and threads ----


@pytest.mark.usefixtures("since_3_5")
@pytest.mark.parametrize("way", ["fork", "clone"])
def test_no_draw_comes_twice_after_a_fork(release: Flavour, way: str) -> None:
    check_draws(release, way, PROFILE)


@pytest.mark.usefixtures("since_3_5")
def test_threads_that_end_leave_nothing_behind(release: Flavour, tmp_path: Path) -> None:
    """Each has its own generators, which are freed with it."""
    command = [release.program("short_threads"), str(BATCHES)]
    *draws, memory = release.says(command, {"OPENSSL_CONF": str(write(tmp_path, KEY))}).splitlines()
    assert len(draws) == len(set(draws)) == BATCHES * THREADS_A_BATCH * 2
    word, before, after = memory.split()
    assert word == "memory"
    assert int(before) > 0
    assert int(after) - int(before) < GROWTH_KIB, "slots of generators alone would be 4000 KiB"
