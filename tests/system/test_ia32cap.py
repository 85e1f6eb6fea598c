# SPDX-License-Identifier: Apache-2.0
"""OPENSSL_ia32cap as drng reads it, beside what libcrypto itself makes of the same value."""

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import BUILD

PROGRAM = BUILD / "dev" / "tests" / "ia32cap"
VARIABLE = "OPENSSL_ia32cap"

# The bits of the two words that each needs; OPENSSL_ia32cap(3).
INSTRUCTIONS = {
    "rdrand": (1 << 62, 0),
    "rdseed": (0, 1 << 18),
    "aes": (1 << 57 | 1 << 41, 0),
    "avx": (1 << 57 | 1 << 41 | 1 << 60, 0),
    "vaes256": (1 << 57 | 1 << 41, 1 << 41 | 1 << 5),
    "vaes512": (1 << 57 | 1 << 41, 1 << 41 | 1 << 5 | 3 << 16 | 3 << 30),
}
BITS = (62, 60, 57, 41, 31, 30, 24, 18, 17, 16, 5, 0)

WRITTEN = (
    # Nothing, and no numbers; a space stands for itself where it is quoted.
    *("", " 1", "1 ", "\t0x1", "0x1\n", "~ 0x40", ": ~0", "~0x1000000 :~0x40000", "\xff", "~\xff:~\xff"),
    *(":", "::", ":::::", "~", "~:~", ":~", "~:", "~~1", "x", "yes"),
    *("0x", "0X", "0xg", "08", "-1", "+1", "~-1", ":-1", "1e9"),
    # One word, two, and up to the five of OpenSSL 3.5; too many.
    *("0", "~0", "~0x4000000000000000", "0xffffffffffffffff", ":0", ":~0", ":~0x40000", ":0xffffffffffffffff"),
    *("~0x4000000000000000:~0x40000", "~0x200000000000000", ":~0x20000000000"),
    *(":~0x10000", ":~0x20", "~0x20000000000"),
    *(":~0x40000000", ":~0x80000000", ":~0x20000"),
    *("0xffffffffffffffff:0xffffffffffffffff", "0xffffffffffffffff:~0"),
    *("0xffffffffffffffff:", "0xffffffffffffffff::", "0:0:0:0:0"),
    *("~0:~0:~0:~0:~0", "~0:~0:~0:~0:~0:~0:~0:~0", "::0", "::~0"),
    *(":::::~0x40000", "~0:~0x40000:0:0:0", "~0x1000000", "~0x1000000:~0", "~0x1000000:~0x40000:~0"),
    "0xfffffffffeffffff:0xffffffffffffffff",
    # Bases and case.
    *("~4611686018427387904", "~0400000000000000000000", "~0X4000000000000000:~0X40000", ":~262144", ":~01000000"),
    *("~0x4000000000000000:~0x4000G", "~0xABCDEFabcdef", ":~0x0004000000040000"),
    *("~00x40", ":~00000000000000000000040000"),
    # Past 64 bits.
    *("~0x14000000000000000:~0x10000000000040000", "~99999999999999999999999:~18446744073709813760", "0x" + "f" * 200),
    *("~0x" + "0" * 300 + "4000000000000000", "1" * 5000, "~" * 5000, ":" * 5000),
)


def random_word(pick: random.Random) -> str:
    number = sum(1 << bit for bit in pick.sample(BITS, pick.randrange(4))) ^ (
        pick.getrandbits(64) if pick.random() < 0.3 else 0
    )
    text = pick.choice((f"{number:#x}", f"{number:#X}", f"{number}", f"0{number:o}"))
    return pick.choice(("", "~", "~", "~", " ", "-")) + text + pick.choice(("", "", "", "g", " ", "~", "."))


def random_values(count: int) -> list[str]:
    pick = random.Random(14)
    values = []
    for number in range(count):
        if number % 5 == 0:
            values.append("".join(pick.choice("0123456789abcdefxX~:: -g") for _ in range(pick.randrange(40))))
        else:
            values.append(":".join(pick.choice((random_word(pick), "")) for _ in range(pick.randint(1, 6))))
    return values


def look(value: str | None, program: Path = PROGRAM) -> dict[str, Any]:
    env = {"LC_ALL": "C", **({} if value is None else {VARIABLE: value})}
    answer = subprocess.run(
        [str(program)],
        env={os.fsencode(k): v.encode("latin-1") for k, v in env.items()},
        capture_output=True,
        check=True,
    )
    return json.loads(answer.stdout)


def words(answer: dict[str, Any]) -> tuple[int, int]:
    settings = answer["words"]
    if not settings.startswith(f"{VARIABLE}="):
        pytest.skip(f"this libcrypto has no such words: {settings}")
    first, second = settings.removeprefix(f"{VARIABLE}=").split(":")[:2]
    return int(first, 16), int(second, 16)


def has(found: tuple[int, int], instruction: str) -> bool:
    return all(word & bits == bits for word, bits in zip(found, INSTRUCTIONS[instruction], strict=True))


def test_drng_reads_what_libcrypto_reads() -> None:
    """Of each instruction that this CPU has: what libcrypto has left of it, drng has, and no more."""
    whole = words(look(None))
    known = [name for name in INSTRUCTIONS if has(whole, name)]
    differing, masked, left = [], set(), set()
    for value in (*WRITTEN, *random_values(400)):
        answer = look(value)
        found = words(answer)
        for name in known:
            (left if answer[name] else masked).add(name)
            if bool(answer[name]) != has(found, name):
                differing.append((value, name, answer))
    assert differing == []
    assert masked == left == set(known), "each was masked by some value, and left by another"


def test_without_the_variable_nothing_is_masked() -> None:
    answer = look(None)
    assert all(answer[name] == 1 for name in INSTRUCTIONS)


def test_a_set_user_id_program_ignores_it(tmp_path: Path) -> None:
    """Who starts one does not choose what it draws from. libcrypto itself obeys."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a program another user's")
    copy = tmp_path / "ia32cap"
    shutil.copy(PROGRAM, copy)
    assert look("~0x4000000000000000:~0x40000", copy)["rdrand"] == 0
    os.chown(copy, 65534, 65534)
    copy.chmod(0o4755)
    if os.statvfs(copy).f_flag & os.ST_NOSUID:
        pytest.skip("no program is set-user-ID in this file system")
    answer = look("~0x4000000000000000:~0x40000", copy)
    assert all(answer[name] == 1 for name in INSTRUCTIONS)
