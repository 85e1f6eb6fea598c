#!/usr/bin/python3 -I
"""Computes mixing/drbg/df_constants.h: what of Block_Cipher_df depends on no input (SP 800-90A, 10.3.2).

    df_constants.py            prints the file
    df_constants.py --check    compares it with the file in the tree; the exit status is 1 if it differs
    df_constants.py --write    writes that file

The key of step 8 is 00 01 02 ..., and so are its round keys constant, and what each chain of BCC makes of its first
block, the IV of step 9.1. AES is done here as FIPS 197 writes it down, byte by byte.
"""

import argparse
import sys
from pathlib import Path

HEADER = Path(__file__).resolve().parents[2] / "mixing" / "drbg" / "df_constants.h"

BLOCK = 16
CHAINS = 3
KEY_LENS = (16, 24, 32)

TOP = """/*
 * df_constants.h - what of Block_Cipher_df depends on no input. Made by scripts/evidence/df_constants.py; the tests
 * compare.
 */

#ifndef DRNG_DF_CONSTANTS_H
#define DRNG_DF_CONSTANTS_H

#include "mixing/aes/aes.h"

struct drng_df_constants {
    struct drng_aes_schedule schedule;              /* of the key of 10.3.2, step 8 */
    uint8_t chain[DRNG_AES_CHAINS][DRNG_AES_BLOCK]; /* chaining_value after the IV of step 9.1, for i = 0, 1, 2 */
};

/* For keys of 16, 24 and 32 bytes. */
static const struct drng_df_constants drng_df_constants[] = {
"""
BOTTOM = """};

#endif
"""


def double(value: int) -> int:
    """FIPS 197, 4.2.1: xtime()."""
    return value << 1 ^ (0x11B if value & 0x80 else 0)


def multiply(a: int, b: int) -> int:
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = double(a), b >> 1
    return product


def sub(value: int) -> int:
    """FIPS 197, 5.1.1: the inverse, and the affine map."""
    inverse = next((x for x in range(1, 256) if multiply(x, value) == 1), 0)
    turned = inverse | inverse << 8
    return (inverse ^ turned >> 7 ^ turned >> 6 ^ turned >> 5 ^ turned >> 4 ^ 0x63) & 0xFF


SBOX = [sub(value) for value in range(256)]


def add(a: list[int], b: list[int]) -> list[int]:
    return [x ^ y for x, y in zip(a, b, strict=True)]


def expand(key: list[int]) -> list[list[int]]:
    """FIPS 197, 5.2: the round keys."""
    nk = len(key) // 4
    words = [key[4 * i : 4 * i + 4] for i in range(nk)]
    rcon = 1
    for i in range(nk, 4 * (nk + 7)):
        word = words[i - 1]
        if i % nk == 0:
            word = add([SBOX[x] for x in word[1:] + word[:1]], [rcon, 0, 0, 0])
            rcon = double(rcon)
        elif nk > 6 and i % nk == 4:
            word = [SBOX[x] for x in word]
        words.append(add(words[i - nk], word))
    return [[byte for word in words[i : i + 4] for byte in word] for i in range(0, len(words), 4)]


def mix(column: list[int]) -> list[int]:
    """FIPS 197, 5.1.3."""
    factors = ((2, 3, 1, 1), (1, 2, 3, 1), (1, 1, 2, 3), (3, 1, 1, 2))
    mixed = []
    for row in factors:
        value = 0
        for factor, byte in zip(row, column, strict=True):
            value ^= multiply(byte, factor)
        mixed.append(value)
    return mixed


def encrypt(round_keys: list[list[int]], block: list[int]) -> list[int]:
    """FIPS 197, 5.1."""
    block = add(block, round_keys[0])
    for round_key in round_keys[1:]:
        block = [SBOX[block[(i + 4 * (i % 4)) % BLOCK]] for i in range(BLOCK)]
        if round_key is not round_keys[-1]:
            block = [byte for i in range(0, BLOCK, 4) for byte in mix(block[i : i + 4])]
        block = add(block, round_key)
    return block


def rows(blocks: list[list[int]]) -> str:
    """As clang-format puts them."""
    return (",\n" + 15 * " ").join("{" + ", ".join(f"0x{byte:02x}" for byte in block) + "}" for block in blocks)


def constants(key_len: int) -> str:
    round_keys = expand(list(range(key_len)))
    chains = [encrypt(round_keys, [0, 0, 0, i] + [0] * (BLOCK - 4)) for i in range(CHAINS)]
    return (
        "    {.schedule =\n"
        "         {.round_key =\n"
        f"              {{{rows(round_keys)}}},\n"
        f"          .rounds = {len(round_keys) - 1}}},\n"
        f"     .chain = {{{rows(chains)}}}}},\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--check", action="store_true")
    group.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = TOP + "".join(constants(key_len) for key_len in KEY_LENS) + BOTTOM
    if arguments.check:
        if HEADER.read_text() != text:
            print(f"{HEADER.name} is not what df_constants.py makes", file=sys.stderr)
            return 1
    elif arguments.write:
        HEADER.write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
