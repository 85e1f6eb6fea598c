#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""Changes every AES, XOR, 64-bit addition and shuffle of the built drng.so, one at a time, and loads it.

AESENC becomes AESENCLAST and the other way round, PXOR becomes POR, PADDQ PSUBQ, PSHUFB PMULHRSW, and PSHUFD and
AESKEYGENASSIST take another immediate; so do their forms of AVX. A changed module must not load, or must choose another
implementation of AES, or give what it gave before: none may survive. tests/programs/opcodes.c makes the trials, with
each implementation that this CPU has. Prints a table, and names the survivors; the exit status is 1 where one has
survived, 77 where none has and the CPU lacks an implementation, which standard error names.
"""

import re
import subprocess
import sys
from collections import Counter

from common import ROOT, run, table

MODULE = ROOT / "build" / "dev" / "drng.so"
PROGRAM = ROOT / "build" / "dev" / "tests" / "opcodes"
SYMBOLS = (
    *("drng_aes_ni", "drng_aes_avx", "drng_aes_vaes256", "drng_aes_vaes512"),
    *("drng_fused_mac", "OSSL_provider_init"),
)

# The opcode, and what it becomes. All of these exist with legacy, VEX and EVEX prefixes.
OPCODES = {
    "aesenc": (0xDC, 0xDD),
    "aesenclast": (0xDD, 0xDC),
    "pxor": (0xEF, 0xEB),
    "paddq": (0xD4, 0xFB),
    "pshufb": (0x00, 0x0B),
}
# Those whose last byte is an immediate that says what goes where.
IMMEDIATE = ("pshufd", "aeskeygenassist")
LINE = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(\S+)")


def opcode_at(code: bytes) -> int:
    """Where the opcode stands: behind the prefixes and the map."""
    at = 0
    if code[0] == 0x62:
        return 4
    if code[0] == 0xC4:
        return 3
    if code[0] == 0xC5:
        return 2
    while code[at] in (0x66, 0xF2, 0xF3) or 0x40 <= code[at] <= 0x4F:
        at += 1
    if code[at] != 0x0F:
        raise ValueError(code.hex())
    return at + (2 if code[at + 1] in (0x38, 0x3A) else 1)


def changes() -> list[tuple[int, int, str, str]]:
    """The offset of a byte, what it becomes, the instruction and its function."""
    found = []
    function = ""
    for line in run("objdump", "-d", "-w", "--show-raw-insn", MODULE).splitlines():
        if head := re.match(r"^[0-9a-f]+ <([^>]+)>:$", line):
            function = head[1]
        match = LINE.match(line)
        if match is None:
            continue
        name = re.sub(r"^(pxor|por)[dq]$", r"\1", match[3].removeprefix("v"))
        code = bytes.fromhex(match[2])
        if name in OPCODES:
            at, (old, new) = opcode_at(code), OPCODES[name]
            if code[at] != old:
                raise ValueError(line)
            found.append((int(match[1], 16) + at, new, name, function))
        elif name in IMMEDIATE:
            found.append((int(match[1], 16) + len(code) - 1, code[-1] ^ 1, name, function))
    return found


def main() -> int:
    symbols = {words[2]: words[0] for words in map(str.split, run("nm", MODULE).splitlines()) if len(words) == 3}
    all_of_them = changes()
    trials = subprocess.run(
        [str(PROGRAM), str(MODULE), *(symbols[name] for name in SYMBOLS)],
        input="".join(f"{offset:x} {byte:x}\n" for offset, byte, *_ in all_of_them),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if trials.returncode not in (0, 77):
        return trials.returncode
    what = {offset: (name, function) for offset, _, name, function in all_of_them}
    results: dict[int, set[str]] = {}
    for line in trials.stdout.splitlines():
        offset, implementation, result = line.split()
        results.setdefault(int(offset, 16), set()).add(result)
        if result == "survives":
            name, function = what[int(offset, 16)]
            print(f"{offset} {name} in {function}: {implementation}", file=sys.stderr)
    sums = {name: Counter() for name in (*OPCODES, *IMMEDIATE)}
    for offset, outcome in results.items():
        worst = "survives" if "survives" in outcome else "found" if "found" in outcome else "harmless"
        sums[what[offset][0]][worst] += 1
    rows = [
        (name.upper(), str(count.total()), str(count["found"]), str(count["harmless"]), str(count["survives"]))
        for name, count in sums.items()
        if count.total()
    ]
    print(table(("changed", "places", "found at the load", "changes no output", "survives"), rows))
    return 1 if any(count["survives"] for count in sums.values()) else trials.returncode


if __name__ == "__main__":
    sys.exit(main())
