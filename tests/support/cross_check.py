# SPDX-License-Identifier: Apache-2.0
"""Random scripts of calls for tests/programs/cross_check.c: drng's CTR-DRBG and libcrypto's own, side by side.

Hypothesis makes the scripts and shrinks one on which they differ.
"""

from __future__ import annotations

import collections
import subprocess
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st

# Lengths at which something may change: blocks, seedlen of each cipher, the widest registers, one request.
EDGES = (1, 15, 16, 17, 24, 31, 32, 33, 39, 40, 41, 47, 48, 49, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025)
# EVP_RAND_generate() makes two requests of what is longer than one may be.
BEYOND_ONE_REQUEST = (65537, 131072)

# The tables that a byte picks from: the plainest first, and seldom what must be refused.
CALLS = "gggggggrrreeliu"
REQUESTS = (1, 0, *range(2, 81), *EDGES, 4095, 4096, 4097, 65519, 65520, 65521, 65535, 65536, *BEYOND_ONE_REQUEST)
STRENGTHS = (0,) * 16 + (112, 128, 192, 256, 257)
PREDICTION_RESISTANCE = (0, 0, 0, 1)
PARENT_STRENGTHS = (256,) * 12 + (1024, 128)
LIMITS = (0, 1, 2, 3, 4)


def inputs(key_len: int, df: int) -> tuple[int, ...]:
    """Lengths of a personalization string or an additional input."""
    seedlen = key_len + 16
    if df:
        return (-1, 0, *range(1, 65), *EDGES, 4096, 65536, 65537)
    return (-1, 0, *range(1, seedlen + 1), seedlen + 1, seedlen + 16)


def entropies(key_len: int, df: int) -> tuple[int, ...]:
    """Lengths of entropy input: with df at least key_len, without it seedlen."""
    right = tuple(range(key_len, 2 * key_len)) if df else (key_len + 16,) * 16
    return right * 2 + (0, key_len - 1, key_len + 15, key_len + 17)


def nonces(key_len: int, df: int) -> tuple[int, ...]:
    """Lengths of a parent's nonce: with df drng refuses less than half of key_len; without it none is asked for."""
    right = tuple(range(key_len // 2, 65))
    return right * 2 + (0, 1, key_len // 2 - 1) if df else (key_len // 2, *range(65))


def parent(key_len: int, df: int, field: Callable[[Sequence[int]], int]) -> str:
    return f"e {field(PARENT_STRENGTHS)} {field(entropies(key_len, df))} {field(nonces(key_len, df))}"


def call(key_len: int, df: int, data: bytes) -> str:
    """The call that these bytes stand for; a zero is always the plainest."""
    rest = iter(data[1:])

    def field(table: Sequence[int]) -> int:
        return table[next(rest) % len(table)]

    kind = CALLS[data[0] % len(CALLS)]
    adds = inputs(key_len, df)
    if kind == "g":
        return f"g {field(REQUESTS)} {field(STRENGTHS)} {field(PREDICTION_RESISTANCE)} {field(adds)}"
    if kind == "r":
        entropy = field((-1,) * 40 + entropies(key_len, df))
        return f"r {field(PREDICTION_RESISTANCE)} {entropy} {field(adds)}"
    if kind == "e":
        return parent(key_len, df, field)
    if kind == "l":
        return f"l {field(LIMITS)}"
    if kind == "i":
        return f"i {field(STRENGTHS)} {field(PREDICTION_RESISTANCE)} {field(adds)}"
    return "u"


CALL_LEN = 5  # a byte for the kind, one for each number


def script(seed: int, mechanism: int, first: bytes, later: Sequence[bytes]) -> str:
    """A generator is made and instantiated, and what comes then may be anything."""
    bits, df = (256, 192, 128)[mechanism % 3], mechanism // 3
    rest = iter(first)
    start = parent(bits // 8, df, lambda table: table[next(rest) % len(table)])
    personalization = inputs(bits // 8, df)
    begin = [f"s {seed}", f"m {bits} {df}", start, f"i 0 0 {personalization[next(rest) % len(personalization)]}"]
    return ";".join(begin + [call(bits // 8, df, data) for data in later])


# Strings of bytes, since of all that Hypothesis makes they are the quickest by far.
scripts = st.builds(
    script,
    st.integers(0, 2**32 - 1),
    st.integers(0, 5),
    st.binary(min_size=4, max_size=4),
    st.lists(st.binary(min_size=CALL_LEN, max_size=CALL_LEN), max_size=12),
)


class Program:
    """The program, waiting for scripts."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self.command = command
        self.env = env
        self.scripts = 0
        self.compared = 0
        self.results: collections.Counter[str] = collections.Counter()

    def __enter__(self) -> Program:
        self.process = subprocess.Popen(
            self.command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.communicate(timeout=60)

    def run(self, script: str) -> None:
        """Fails where the two differ."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(script + "\n")
        answer = self.process.stdout.readline().split()
        assert answer and answer[0] == "same", f"{' '.join(answer) or 'the program ended'}, of the script\n{script}"
        self.scripts += 1
        self.compared += int(answer[2])
        for call, result in zip(script.split(";"), answer[1], strict=True):
            self.results[f"{call[0]}{result}"] += 1


def check(program: Program, count: int, seed: int) -> None:
    """Runs `count` scripts; raises AssertionError with the shortest script found on which the two differ."""

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
    @given(scripts)
    def agree(calls: str) -> None:
        program.run(calls)

    agree()
