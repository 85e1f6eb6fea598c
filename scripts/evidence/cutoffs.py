# SPDX-License-Identifier: Apache-2.0
"""Derives the cutoffs of mixing/entropy/health.h from SP 800-90B, 4.4.1 and 4.4.2.

Integers throughout: 1 - 2^-30 is near enough to 1 for a sum of floating-point numbers to lose the answer. The tables of
docs/entropy.md are made of them by entropy.py; a test compares them with the header.
"""

import math
from dataclasses import dataclass

# alpha = 2^-30 in the formulas of 4.4.1 and 4.4.2, for words in use. The rates that their cutoffs come to are those of
# rct_alarm() and apt_alarm(): CRITBINOM asks how often a value comes in a window, and the test asks it of one that is
# there already.
ALPHA_BITS = 30
# The same for a start-up, which each fresh reader makes: a server that forks for each connection makes millions.
STARTUP_ALPHA_BITS = 40
# 4.4.2: the window for samples that are not binary.
WINDOW = 512
# The start-up, in words: the window of the test that looks at each byte lane by itself.
STARTUP_WORDS = 128
# The window of the test of unchanging bits, in words.
BITS_WINDOW = 64
WORD_BITS = 64
LANES = 8
# The test of recurrence, for words: a print has so many bits, and so many of them are kept. Its window, in words.
PRINT_BITS = 16
PRINTS = 128
PRINT_WINDOW = 4096
# Zeros and ones: two words, of which either has the chance that is claimed for any.
STUCK_CHOICES = 2


@dataclass(frozen=True)
class Sample:
    """One kind of sample and the entropy claimed for it, in bits."""

    name: str
    bits: int
    entropy: int
    alpha: int  # in bits


SAMPLES = (Sample("WORD", 64, 32, ALPHA_BITS), Sample("BYTE", 8, 8, STARTUP_ALPHA_BITS))


def rct_cutoff(entropy: int, a: int = ALPHA_BITS) -> int:
    """4.4.1: C = 1 + ceil(a / H)."""
    return 1 + -(-a // entropy)


def critbinom(n: int, entropy: int, a: int) -> int:
    """The least k for which at most k successes in n trials, each of chance 2^-entropy, have chance 1 - 2^-a."""
    choices = 2**entropy
    below = 0
    for k in range(n + 1):
        # Of the choices^n outcomes, those with exactly k successes.
        below += math.comb(n, k) * (choices - 1) ** (n - k)
        if below * 2**a >= choices**n * (2**a - 1):
            return k
    raise AssertionError("n successes in n trials are certain")


def apt_cutoff(entropy: int, a: int = ALPHA_BITS, window: int = WINDOW) -> int:
    """4.4.2: C = 1 + CRITBINOM(W, 2^-H, 1 - 2^-a); below 2 the window's own first sample would fail."""
    return max(2, 1 + critbinom(window, entropy, a))


def rct_alarm(entropy: int, a: int = ALPHA_BITS) -> float:
    """log2 of the chance of an alarm at one sample, where the samples hold just what is claimed."""
    return -entropy * (rct_cutoff(entropy, a) - 1.0)


def apt_alarm(entropy: int, a: int = ALPHA_BITS, window: int = WINDOW) -> float:
    """The same for one window: its first sample comes at least cutoff - 1 times again in the rest of it."""
    n, again = window - 1, apt_cutoff(entropy, a, window) - 1
    outcomes = sum(math.comb(n, k) * (2**entropy - 1) ** (n - k) for k in range(again, n + 1))
    return math.log2(outcomes) - n * entropy


def opened_alarm(chance_bits: int, window: int, cutoff: int) -> float:
    """The same for a window that the first of these rare words has opened, by how many more of them are expected: log2
    of the chance that at least cutoff - 1 come in the rest of it."""
    expected = (window - 1) / 2.0**chance_bits
    tail = sum(expected**k / math.factorial(k) for k in range(cutoff - 1, cutoff + 20)) * math.exp(-expected)
    return math.log2(tail)


def rare_alarm(chance_bits: int, window: int, cutoff: int) -> float:
    """The same for as many words as a window has, one of which may open it."""
    return math.log2(window) - chance_bits + opened_alarm(chance_bits, window, cutoff)


def stuck_window() -> int:
    """The longest power of two in which two words of zeros or ones are no more likely than alpha."""
    bits = SAMPLES[0].entropy - int(math.log2(STUCK_CHOICES))
    return max(2**n for n in range(1, bits) if rare_alarm(bits, 2**n, 2) <= -ALPHA_BITS)


def print_cutoff() -> int:
    """The least number of prints that are found in an opened window with a chance of alpha or less: good words open
    some, too."""
    return next(c for c in range(2, 100) if opened_alarm(PRINT_BITS, PRINT_WINDOW, c) <= -ALPHA_BITS)


def lanes_alarm() -> float:
    """The same for the start-up of a reader: any of the lanes."""
    return apt_alarm(8, STARTUP_ALPHA_BITS, STARTUP_WORDS) + math.log2(LANES)


def bits_alarm(words: int = BITS_WINDOW) -> float:
    """The same for one window of the test of unchanging bits, of bits that are as good as a coin: any of them is in
    all words what it is in the first."""
    return math.log2(WORD_BITS) - (words - 1)


def bits_delay() -> int:
    """With which word at the latest a stuck bit is found. The second word of a window may have changed the bit to what
    it sticks at; then it is the next window that sees nothing but the fault."""
    return 2 * BITS_WINDOW - 1


def derived() -> dict[str, int]:
    """What the header's enums have to say."""
    values = {
        "DRNG_APT_WINDOW": WINDOW,
        "DRNG_STARTUP_WORDS": STARTUP_WORDS,
        "DRNG_BITS_WINDOW": BITS_WINDOW,
        "DRNG_LANE_APT_CUTOFF": apt_cutoff(8, STARTUP_ALPHA_BITS, STARTUP_WORDS),
        "DRNG_STUCK_CUTOFF": 2,
        "DRNG_STUCK_WINDOW": stuck_window(),
        "DRNG_PRINT_BITS": PRINT_BITS,
        "DRNG_PRINTS": PRINTS,
        "DRNG_PRINT_WINDOW": PRINT_WINDOW,
        "DRNG_PRINT_CUTOFF": print_cutoff(),
    }
    for sample in SAMPLES:
        values[f"DRNG_{sample.name}_RCT_CUTOFF"] = rct_cutoff(sample.entropy, sample.alpha)
        values[f"DRNG_{sample.name}_APT_CUTOFF"] = apt_cutoff(sample.entropy, sample.alpha)
    return values


def power(log2: float) -> str:
    """As a power of two that a reader can take in."""
    return f"2^{log2:g}" if log2 == int(log2) else f"2^{log2:.1f}"
