"""How likely the health tests are to find a fault, by fault and by lane: computed, and tried; for tables.py.

What is computed follows from the cutoffs and from what the words are like; it takes the tests as independent of each
other. tests/programs/health_detection.c tries the same on the tests of the product. Where the two do not agree, no
table is made.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cutoffs
import entropy
import faults
import markdown_table

TRIALS = 1024  # a multiple of the longest window, so that a fault begins at each place in it equally often
SAMPLES = 1024  # words in use
SIGMAS = 5
GOOD = [2**-8] * 256
LANES = cutoffs.LANES

Distribution = Sequence[float]  # of a byte


# ---- Chances ----


def tail(counts: Distribution, least: int) -> float:
    """Of a sum whose chances below `least` are given: that it is at least that."""
    return max(0.0, 1 - math.fsum(counts[:least]))


def add_trials(counts: list[float], trials: int, chance: float) -> list[float]:
    """So many more trials; only as many successes are told apart as counts has places."""
    size = len(counts)
    more = [math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(min(size, trials + 1))]
    return [math.fsum(counts[i] * more[k - i] for i in range(k + 1) if k - i < len(more)) for k in range(size)]


def again(chances: Sequence[tuple[int, float]], least: int) -> float:
    """Of trials in groups, each with a chance of its own, at least so many succeed."""
    counts = [1.0, *[0.0] * (least - 1)]
    for trials, chance in chances:
        counts = add_trials(counts, trials, chance)
    return tail(counts, least)


def any_of(chances: Sequence[float]) -> float:
    return 1 - math.prod(1 - min(1.0, c) for c in chances)


# ---- Start-up: the bytes of 128 words ----


def lane(d: Distribution) -> float:
    """The byte lanes test of one lane."""
    words, cutoff = cutoffs.STARTUP_WORDS, cutoffs.apt_cutoff(8, window=cutoffs.STARTUP_WORDS)
    return math.fsum(list(d).count(p) * p * again([(words - 1, p)], cutoff - 1) for p in set(d) if p)


def sequence(lanes: Sequence[Distribution]) -> float:
    """The adaptive proportion test of the bytes in a row: two windows, each of which a byte of lane 0 begins."""
    words = cutoffs.WINDOW // LANES
    kinds: dict[tuple[float, ...], int] = {}
    for value in range(256):
        kind = tuple(d[value] for d in lanes)
        kinds[kind] = kinds.get(kind, 0) + 1
    window = math.fsum(
        count * kind[0] * again([(words - (i == 0), p) for i, p in enumerate(kind)], cutoffs.apt_cutoff(8) - 1)
        for kind, count in kinds.items()
        if kind[0]
    )
    return any_of([window] * (cutoffs.STARTUP_WORDS // words))


def runs(lanes: Sequence[Distribution]) -> float:
    """The repetition count test of the bytes in a row: a run that is long enough, begun at any place."""
    length = cutoffs.rct_cutoff(8)
    chances = []
    for place in range(LANES):
        row = [lanes[(place + i) % LANES] for i in range(length)]
        before = lanes[place - 1]
        chances.append(math.fsum((1 - before[v]) * math.prod(d[v] for d in row) for v in range(256)))
    return any_of(chances * cutoffs.STARTUP_WORDS)


def at_startup(lanes: Sequence[Distribution], ones: Sequence[float]) -> float:
    """All tests that look at such words; `ones` is the chance of each bit of a word to be set."""
    return any_of([*[lane(d) for d in lanes], sequence(lanes), runs(lanes), in_use(ones, cutoffs.STARTUP_WORDS)])


# ---- In use: the words, one by one ----


def unchanging(ones: Sequence[float]) -> float:
    """A window of the test of unchanging bits."""
    return any_of([p**cutoffs.BITS_WINDOW + (1 - p) ** cutoffs.BITS_WINDOW for p in ones])


def compared(words: int) -> float:
    """How many words, on average, the adaptive proportion test compares with one of the fault that began its window."""
    window = cutoffs.WINDOW
    return sum(max(0, words - (window - place) % window - 1) for place in range(window)) / window


def in_use(ones: Sequence[float], words: int) -> float:
    """Tests of words whose bits are independent: whole windows of unchanging bits, and a word that comes twice."""
    same = math.prod(p * p + (1 - p) ** 2 for p in ones)
    windows = words // cutoffs.BITS_WINDOW
    return any_of([*[unchanging(ones)] * windows, 1 - (1 - same) ** (words - 1), 1 - (1 - same) ** compared(words)])


def stuck(bits: int, words: int) -> float:
    """Bits that stick in use, at any place of a window. What came before in it may have been the same by chance."""
    window = cutoffs.BITS_WINDOW
    chance = 0.0
    for place in range(window):
        ends = window - place  # words to the end of the window in which the fault begins
        if words >= ends + window:
            chance += 1
        elif words >= ends:
            chance += any_of([2.0**-place] * bits)
    return chance / window


def returning(period: int, words: int) -> float:
    """So many words in turn: found when a window of the adaptive proportion test begins, and then that word returns."""
    window = cutoffs.WINDOW
    return sum(words >= (window - place) % window + period + 1 for place in range(window)) / window


# ---- Faults ----


@dataclass(frozen=True)
class Fault:
    name: str  # the first words of a line of health_detection
    text: str
    left: float  # min-entropy of a word, in bits
    startup: Callable[[int], float]  # by lane
    use: Callable[[int], float]  # by words


def sure(_: int) -> float:
    return 1.0


def never(_: int) -> float:
    return 0.0


def few_values(bits: int) -> Distribution:
    """Of a byte that has so many bits of entropy, and of whose bits each changes; see health_detection.c."""
    values = {sum(i << k for k in range(0, 8, bits)) & 0xFF for i in range(2**bits)}
    return [1 / len(values) if v in values else 0.0 for v in range(256)]


def weak_byte(bits: int, number: int) -> float:
    lanes = [few_values(bits) if i == number else GOOD for i in range(LANES)]
    return at_startup(lanes, [0.5] * cutoffs.WORD_BITS)


def biased(strength: int) -> list[float]:
    return [1 - 2.0**-strength] * cutoffs.WORD_BITS


def biased_byte(strength: int) -> Distribution:
    p = biased(strength)[0]
    return [p ** v.bit_count() * (1 - p) ** (8 - v.bit_count()) for v in range(256)]


def pair(words: int) -> float:
    return float(words >= cutoffs.rct_cutoff(32))


FAULTS = (
    Fault("none 0", "none", 64, never, never),
    Fault("zeros 0", "all zeros", 0, sure, pair),
    Fault("ones 0", "all ones", 0, sure, pair),
    Fault("constant 0", "one word for ever", 0, sure, pair),
    Fault("alternating 0", "two words in turn", 0, sure, lambda n: returning(2, n)),
    Fault("period 0", "64 words in turn", 0, sure, lambda n: returning(64, n)),
    Fault("counting 0", "counting", 0, sure, lambda n: stuck(32, n)),
    *(
        Fault(
            f"bias {k}",
            f"each bit set in {2**k - 1} of {2**k} words",
            -cutoffs.WORD_BITS * math.log2(1 - 2.0**-k),
            lambda _, k=k: at_startup([biased_byte(k)] * LANES, biased(k)),  # type: ignore[misc]
            lambda n, k=k: in_use(biased(k), n),  # type: ignore[misc]
        )
        for k in (2, 3, 4)
    ),
    Fault("bit 0", "a bit stuck", 63, sure, lambda n: stuck(1, n)),
    Fault("byte 0", "a byte stuck", 56, sure, lambda n: stuck(8, n)),
    *(
        Fault(
            f"byte {k}",
            f"a byte of {2**k} values",
            cutoffs.WORD_BITS - 8 + k,
            lambda number, k=k: weak_byte(k, number),  # type: ignore[misc]
            never,
        )
        for k in (1, 2, 3, 4, 5)
    ),
)


# ---- Against what was tried ----


def hours() -> dict[str, int]:
    """Words that an idle process reads in an hour of reseeds of its primary."""
    known = entropy.constants()
    reseeds = 3600 // known["DEFAULT_RESEED_INTERVAL"]
    blocks = 256 // entropy.BLOCK_BITS  # a reseed of AES-256 with derivation function
    return {name: reseeds * blocks * known[f"DRNG_{name}_WORDS"] for name in ("RDSEED", "RDRAND")}


def periods() -> list[int]:
    return [hours()["RDSEED"], SAMPLES, hours()["RDRAND"]]


def tried() -> dict[str, list[list[int]]]:
    """By fault, for each lane: found at start-up, then in each of the periods."""
    found: dict[str, list[list[int]]] = {}
    for line in faults.run("health_detection", [str(TRIALS), *map(str, periods())]).splitlines():
        name, strength, _, *counts = line.split()
        found.setdefault(f"{name} {strength}", []).append([int(c) for c in counts])
    return found


def compare(fault: Fault, what: str, computed: float, count: int, trials: int) -> None:
    """What is sure must come each time, and what is not, about as often as it should."""
    sure_of_it = computed in (0.0, 1.0)
    sigma = 0.0 if sure_of_it else math.sqrt(max(computed * (1 - computed), 1 / trials) / trials)
    if abs(count / trials - computed) > SIGMAS * sigma:
        raise RuntimeError(f"{fault.text}, {what}: computed {computed:.4f}, found in {count} of {trials} trials")


def shown(chance: float) -> str:
    """With three places; 0 and 1 only where nothing is missing."""
    if chance in (0.0, 1.0):
        return f"{chance:.0f}"
    if chance < 0.0005:
        return f"2^{math.log2(chance):.0f}"
    return "> 0.999" if chance > 0.9995 else f"{chance:.3f}"


def cell(chance: float, counts: Sequence[int]) -> str:
    return f"{shown(chance)} ({sum(counts) / len(counts) / TRIALS:.3f})"


def rows(fault: Fault, counts: Sequence[Sequence[int]]) -> list[list[str]]:
    """One, or one for each group of lanes for which the tests differ."""
    for number, found in enumerate(counts):
        compare(fault, f"lane {number}, start-up", fault.startup(number), found[0], TRIALS)
        for words, count in zip(periods(), found[1:], strict=True):
            compare(fault, f"lane {number}, {words} words", fault.use(words), count, TRIALS)
    groups = {"-": [0]} if len(counts) == 1 else {"0": [0], f"1 to {LANES - 1}": [*range(1, LANES)]}
    if len(counts) > 1 and shown(fault.startup(0)) == shown(fault.startup(1)):
        groups = {"each": [*range(LANES)]}
    lines = []
    for name, numbers in groups.items():
        cells = [cell(fault.startup(numbers[0]), [counts[n][0] for n in numbers])]
        cells += [cell(fault.use(w), [counts[n][i + 1] for n in numbers]) for i, w in enumerate(periods())]
        left = f"{fault.left:.1f}".removesuffix(".0")
        lines.append([fault.text, left, name, *cells])
    return lines


def table() -> str:
    found = tried()
    if found.keys() != {f.name for f in FAULTS}:
        raise RuntimeError(f"faults that only one of both knows: {found.keys() ^ {f.name for f in FAULTS}}")
    rdseed, samples, rdrand = (entropy.thousands(n) for n in periods())
    head = [
        "fault",
        "bits left in a word",
        "lane",
        f"from the first word on: start-up, {entropy.thousands(LANES * cutoffs.STARTUP_WORDS)} bytes",
        f"in use: an hour of RDSEED, {rdseed} words",
        f"{samples} words",
        f"an hour of RDRAND, {rdrand} words",
    ]
    return markdown_table.table(head, [row for fault in FAULTS for row in rows(fault, found[fault.name])])


TABLES = {"detection": table}
