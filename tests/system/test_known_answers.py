# SPDX-License-Identifier: Apache-2.0
"""Seeds recomputed from the words that they are made of, with other people's AES and HMAC.

The scripted CPU gives words of SplitMix64, which this computes too; what is drawn from them first, and how many there
are to a block, is as docs/entropy.md says.
"""

import hashlib
import hmac
import struct
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.builds import BUILD, need

BLOCKS = 10
STARTUP_WORDS = 128
KEY_WORDS = 2
# The states that tests/scripted/cpu.c begins with, and the words to a block.
INSTRUCTIONS = {"rdseed": (1, 8), "rdrand": (2, 2052)}


def splitmix64(state: int) -> Iterator[int]:
    mask = 2**64 - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        yield z ^ z >> 31


def take(words: Iterator[int], count: int) -> bytes:
    return b"".join(struct.pack("<Q", next(words)) for _ in range(count))


def cbc_mac(key: bytes, message: bytes) -> bytes:
    command = [need("openssl"), "enc", "-aes-128-cbc", "-nopad", "-K", key.hex(), "-iv", "0" * 32]
    return subprocess.run(command, input=message, capture_output=True, check=True).stdout[-16:]


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()[:16]


CONDITIONERS = {"seed": cbc_mac, "hmac": hmac_sha256}


def test_openssl_enc_agrees_with_sp_800_38a() -> None:
    """F.2.1, its IV moved into the first block."""
    message = bytes.fromhex(
        "6bc0bce12a459991e134741a7f9e1925ae2d8a571e03ac9c9eb76fac45af8e51"
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    assert cbc_mac(key, message).hex() == "3ff1caa1681fac09120eca307586e1a7"


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
@pytest.mark.parametrize("conditioner", CONDITIONERS)
@pytest.mark.parametrize("preset", ["dev", "asan-ubsan"])
def test_seeds_are_those_of_their_words(instruction: str, conditioner: str, preset: str) -> None:
    state, window = INSTRUCTIONS[instruction]
    words = splitmix64(state)
    take(words, STARTUP_WORDS)
    key = take(words, KEY_WORDS)
    expected = b"".join(CONDITIONERS[conditioner](key, take(words, window)) for _ in range(BLOCKS))

    program = BUILD / preset / "tests" / "collect_raw_scripted"
    command = [str(program), "good", f"{conditioner}-{instruction}", str(len(expected))]
    assert subprocess.run(command, capture_output=True, check=True).stdout == expected
