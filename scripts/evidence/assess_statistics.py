"""Statistics of scripts/evidence/assess.py: how likely a random source is to look like these bytes, or worse.

Each gives a p-value.
"""

import math

import numpy as np

BIT_LAGS = 256
LONGEST_RUN = 16
BLOCK_BYTES = 1000
WORD_BITS = 64


def two_sided(z: float) -> float:
    """Of a standard normal deviate."""
    return math.erfc(abs(z) / math.sqrt(2))


def chi_square(observed: np.ndarray, expected: np.ndarray) -> float:
    """Upper tail, by the approximation of Wilson and Hilferty."""
    freedom = len(observed) - 1
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    scale = 2 / (9 * freedom)
    return math.erfc(((statistic / freedom) ** (1 / 3) - (1 - scale)) / math.sqrt(2 * scale)) / 2


def worst_of(z: np.ndarray) -> float:
    """Of so many deviates, the one furthest off, corrected for having been picked."""
    return min(1.0, len(z) * two_sided(float(np.max(np.abs(z)))))


def autocorrelation(signal: np.ndarray) -> np.ndarray:
    """At lags from 1 to half the length, each as a deviate: n terms of variance 1 give a sum of variance n."""
    n = len(signal)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(signal, size)
    sums = np.fft.irfft(spectrum * np.conj(spectrum), size)[1 : n // 2]
    return sums / np.sqrt(n - np.arange(1, n // 2))


def run_lengths(bits: np.ndarray) -> np.ndarray:
    """How many runs of 1, 2, ... bits there are; the last is of LONGEST_RUN and more."""
    edges = np.flatnonzero(np.diff(bits)) + 1
    lengths = np.diff(np.concatenate(([0], edges, [len(bits)])))
    return np.bincount(np.minimum(lengths, LONGEST_RUN), minlength=LONGEST_RUN + 1)[1:]


def repeated_words(data: bytes) -> float:
    """The chance of as many equal pairs of 64-bit words, by Markov's inequality."""
    words = np.frombuffer(data[: len(data) // 8 * 8], dtype=np.uint64)
    repeats = len(words) - len(np.unique(words))
    expected = len(words) ** 2 / 2**65
    return min(1.0, expected / repeats) if repeats else 1.0


def uniformity(p_values: np.ndarray) -> float:
    """Kolmogorov and Smirnov: whether p-values are spread as they should be."""
    n = len(p_values)
    ordered = np.sort(p_values)
    grid = np.arange(n + 1) / n
    distance = max(float(np.max(grid[1:] - ordered)), float(np.max(ordered - grid[:-1])))
    x = (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n)) * distance
    return min(1.0, max(0.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * x * x) for k in range(1, 101))))


def measure(data: bytes) -> dict[str, float]:
    p = {}
    raw = np.frombuffer(data, dtype=np.uint8)
    bits = np.unpackbits(raw, bitorder="little")
    signs = 2.0 * bits - 1

    p["ones"] = two_sided(float(signs.sum()) / math.sqrt(len(signs)))

    byte_counts = np.bincount(raw, minlength=256)
    p["bytes"] = chi_square(byte_counts, np.full(256, len(raw) / 256))

    rows = bits[: len(bits) // WORD_BITS * WORD_BITS].reshape(-1, WORD_BITS)
    ones_by_position = rows.mean(axis=0)
    p["bit positions"] = worst_of((ones_by_position - 0.5) * 2 * math.sqrt(len(rows)))

    # Bits at short distances, bytes at long ones: a period shows in the latter.
    some = signs[: 1 << 20]
    correlation = np.array(
        [float(some[:-lag] @ some[lag:]) / math.sqrt(len(some) - lag) for lag in range(1, BIT_LAGS + 1)]
    )
    p["correlation of bits"] = worst_of(correlation)
    centred = (raw[: 1 << 20] - 127.5) / math.sqrt((256**2 - 1) / 12)
    p["correlation of bytes"] = worst_of(autocorrelation(centred))

    runs = run_lengths(bits)
    chances = np.array([0.5**k for k in range(1, LONGEST_RUN)] + [0.5 ** (LONGEST_RUN - 1)])
    expected_runs = runs.sum() * chances
    p["runs"] = chi_square(runs, expected_runs)
    # Each bit but the first begins a run with a chance of a half.
    p["number of runs"] = two_sided((int(runs.sum()) - 1 - (len(bits) - 1) / 2) / (math.sqrt(len(bits) - 1) / 2))

    blocks = signs[: len(signs) // (8 * BLOCK_BYTES) * 8 * BLOCK_BYTES].reshape(-1, 8 * BLOCK_BYTES).sum(axis=1)
    # The sums are whole and even: spread over their step, or their p-values would come in lumps.
    spread = blocks + np.random.default_rng(1).uniform(-1, 1, len(blocks))
    block_p = np.array([math.erfc(z / math.sqrt(2)) / 2 for z in spread / math.sqrt(8 * BLOCK_BYTES)])
    p["spread of blocks"] = uniformity(block_p)

    p["repeated words"] = repeated_words(data)
    return p
