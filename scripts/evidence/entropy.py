# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/entropy.md: what is claimed for a raw word, and what a conditioner makes of it; and for
docs/reliability.md, how long a seed may take.

Output_Entropy() is that of SP 800-90B, 3.1.5.1.2; the sizes are read from the sources. tables.py puts the tables into
the document, and compares them.
"""

import math
import re
from decimal import Decimal, localcontext

import cutoffs
from common import ROOT, table

SOURCES = [
    *sorted((ROOT / "mixing").rglob("*.h")),
    ROOT / "provider" / "rand" / "drbg.c",
    ROOT / "provider" / "rand" / "random_bytes.c",
]

BLOCK_BITS = 128  # n_out and nw of AES-CBC-MAC; n_out of HMAC-SHA-256 as it is cut here
HMAC_WIDTH = 256  # nw of HMAC-SHA-256: its hash's output
RDRAND_RESEED_BITS = 128  # what one reseed of the generator behind RDRAND is good for
RDRAND_RUN_WORDS = 1024  # between two of its reseeds at most: AMD's; Intel's 1022
FULL_MARGIN_BITS = 64  # SP 800-90C: full entropy wants that much more than n_out


# ---- SP 800-90B ----


def deficit(n_in: int, n_out: int, width: int, h_in: int) -> Decimal:
    """n - Output_Entropy(n_in, n_out, nw, h_in), n being the narrower of n_out and nw: too small for a float."""
    n = min(n_out, width)
    two = Decimal(2)
    p_high = two**-h_in
    # P_low * 2^n_in; all below is multiplied with 2^n, so that its logarithm is the deficit.
    p_low = (1 - p_high) / (1 - two**-n_in)
    psi = p_low + p_high * two**n
    omega = p_low * (1 + (2 * n * two.ln() / two ** (n_in - n)).sqrt())
    return max(psi, omega).ln() / two.ln()


def rdrand_entropy(words: int) -> int:
    """h_in of a window of RDRAND. One that begins just after a reseed sees the rest of a run of which nothing is
    counted; then each reseed counts if the two words, 128 bits, that follow it are of the window."""
    return RDRAND_RESEED_BITS * ((words - RDRAND_RESEED_BITS // 64) // RDRAND_RUN_WORDS)


def describe_output(n_in: int, width: int, h_in: int) -> str:
    """The output entropy as a reader can take it in."""
    with localcontext() as context:
        context.prec = 400
        lost = deficit(n_in, BLOCK_BITS, width, h_in)
        if lost < Decimal(2) ** -40:
            exponent = math.floor(-(lost / BLOCK_BITS).ln() / Decimal(2).ln())
            return f"{BLOCK_BITS}(1 - 2^-{exponent})"
        return f"{BLOCK_BITS - lost:.1f}"


# ---- The sources ----


def constants() -> dict[str, int]:
    """The constants of the enums, those that are products of two numbers or shifts too."""
    found: dict[str, int] = {}
    for path in SOURCES:
        for name, text in re.findall(
            r"\b([A-Z][A-Z0-9_]+) = ([0-9]+(?: (?:\*|<<) [0-9]+)*)(?=,| }|\n)", path.read_text(encoding="utf-8")
        ):
            factors = [int(f) for f in re.split(r"\*|<<", text)]
            found[name] = factors[0] << factors[1] if "<<" in text else math.prod(factors)
    return found


def conditioning_table() -> str:
    known = constants()
    claimed = next(s.entropy for s in cutoffs.SAMPLES if s.name == "WORD")
    rdseed, rdrand = known["DRNG_RDSEED_WORDS"], known["DRNG_RDRAND_WORDS"]
    windows = [("RDSEED", rdseed, claimed * rdseed), ("RDRAND", rdrand, rdrand_entropy(rdrand))]
    rows = []
    for name, words, h_in in windows:
        n_in = 64 * words
        for conditioner, width in (("AES-128-CBC-MAC", BLOCK_BITS), ("HMAC-SHA-256", HMAC_WIDTH)):
            full = "by the assumed 32 bits a word" if h_in >= BLOCK_BITS + FULL_MARGIN_BITS else "no"
            full = "no: its source is a DRBG" if name == "RDRAND" else full
            sizes = (f"{words:,}", f"{n_in:,}", str(h_in), str(BLOCK_BITS), str(width))
            rows.append((name, conditioner, *sizes, describe_output(n_in, width, h_in), full))
    head = ("source", "conditioner", "words", "n_in", "h_in", "n_out", "nw", "h_out", "full entropy")
    return table(head, rows)


def rare(chance_bits: int, window: int, cutoff: int) -> str:
    rates = (f(chance_bits, window, cutoff) for f in (cutoffs.rare_alarm, cutoffs.opened_alarm))
    whole, opened = (cutoffs.power(round(rate, 1)) for rate in rates)
    return f"{whole} in {window:,} words, {opened} once one has come"


def tests_table() -> str:
    """The health tests, and how often each of them is wrong about words that hold what is claimed."""
    known = constants()
    word, byte = (next(s for s in cutoffs.SAMPLES if s.name == name) for name in ("WORD", "BYTE"))
    continuous = "every word"
    startup = f"start-up: {8 * known['DRNG_STARTUP_WORDS']:,} bytes"
    lane = f"start-up: {known['DRNG_STARTUP_WORDS']} bytes of each lane"
    rows = []
    for when, sample in ((continuous, word), (startup, byte)):
        what = f"{sample.name.lower()}, {sample.entropy} of {sample.bits} bits"
        claimed = (sample.entropy, sample.alpha)
        rct, apt = cutoffs.rct_cutoff(*claimed), cutoffs.apt_cutoff(*claimed)
        alarm = cutoffs.power(cutoffs.rct_alarm(*claimed))
        rows.append(("repetition count", when, what, f"{rct} in a row", f"{alarm} a sample"))
        alarm = cutoffs.power(cutoffs.apt_alarm(*claimed))
        rows.append(("adaptive proportion", when, what, f"{apt} in {cutoffs.WINDOW}", f"{alarm} a window"))
    stuck = known["DRNG_STUCK_CUTOFF"]
    window = known["DRNG_STUCK_WINDOW"]
    alarm = rare(word.entropy - 1, window, stuck)
    what = f"{stuck} in {window:,}, all zeros or all ones"
    rows.append(("stuck value", continuous, "the same", what, alarm))
    rows.append(("recurrence", continuous, "the same", "1 equal to the suspect", f"2^-{word.entropy} a sample"))
    cutoff, window = known["DRNG_PRINT_CUTOFF"], known["DRNG_PRINT_WINDOW"]
    alarm = rare(cutoffs.PRINT_BITS, window, cutoff)
    what = f"print, {cutoffs.PRINT_BITS} of {cutoffs.PRINT_BITS} bits"
    rows.append(("recurrence", continuous, what, f"{cutoff} found in {window:,}", alarm))
    alarm = f"{cutoffs.power(cutoffs.bits_alarm())} a window"
    what = f"one unchanged in {cutoffs.BITS_WINDOW} words"
    rows.append(("unchanging bits", continuous, "bit, 1 of 1", what, alarm))
    cutoff = known["DRNG_LANE_APT_CUTOFF"]
    alarm = cutoffs.power(cutoffs.lanes_alarm())
    what = f"{byte.name.lower()}, {byte.entropy} of {byte.bits} bits"
    rows.append(("byte lanes", lane, what, f"{cutoff} in {cutoffs.STARTUP_WORDS}", f"{alarm} a start-up"))
    head = ("test", "runs over", "sample, its entropy as claimed", "fails at", "false alarms at that entropy")
    return table(head, rows)


STRENGTH = 256  # bits, of AES-256
RBG2_LIMIT_BITS = 2**17  # after which an RBG2 reseeds


def limits_table() -> str:
    known = constants()

    def milliseconds(name: str) -> str:
        return f"{known[name] / 1e6:g} ms"

    seeds = known["DEFAULT_RESEED_REQUESTS"] * 3 * STRENGTH // 2
    if not seeds < RBG2_LIMIT_BITS:
        raise RuntimeError(f"the primary puts out {seeds} bits of seeds between two of its own")
    one_run = RDRAND_RUN_WORDS + 4
    word = cutoffs.SAMPLES[0].entropy
    told = cutoffs.PRINT_BITS + known["DRNG_PRINTS"].bit_length() - 1
    left = known["DRNG_RDSEED_WORDS"] * (word - told)
    rows = [
        ("alpha in the formulas of 4.4.1 and 4.4.2", f"2^-{cutoffs.ALPHA_BITS}"),
        ("the same for start-ups", f"2^-{cutoffs.STARTUP_ALPHA_BITS}"),
        ("a stuck bit is found", f"with its word {cutoffs.bits_delay()} at the latest"),
        ("places of prints", str(known["DRNG_PRINTS"])),
        ("bits of a word that its print tells", str(told)),
        (
            "entropy of a window of RDSEED that prints do not tell",
            f"{left} bits; {left - word + told}, if one of its words is kept whole",
        ),
        ("words of RDRAND between two reseeds of the CPU's DRBG", f"{RDRAND_RUN_WORDS:,} at most"),
        (
            "h_out of a window that spans one such reseed",
            describe_output(64 * one_run, BLOCK_BITS, rdrand_entropy(one_run)),
        ),
        ("start-up of a reader", f"{known['DRNG_STARTUP_WORDS']} words"),
        ("tries of RDRAND for a word", str(known["DRNG_RDRAND_TRIES"])),
        ("one request", f"{known['DRNG_DRBG_MAX_REQUEST']:,} bytes"),
        ("seeds for others from one seed of the primary", f"{seeds:,} bits at most"),
        ("fresh words in a mixed request", f"{8 * known['DRNG_REQUEST_ENTROPY_LEN']} bits"),
        ("time for the kernel to reseed after a copy", milliseconds("DRNG_CLONE_KERNEL_NS")),
    ]
    return table(("what", "how much"), rows)


# The constants of mixing/entropy/noise.h, and what they are.
BUDGETS = {
    "DRNG_SEED_BUDGET_NS": "one instruction, one seed, while another source is next in line",
    "DRNG_LAST_BUDGET_NS": "the same for the last in line",
    "DRNG_STEADY_BUDGET_NS": "the same for RDRAND, in any place",
    "DRNG_STARTUP_BUDGET_NS": "on top, while a reader's start-up tests of RDSEED are not done",
}


def budgets_table() -> str:
    known = constants()
    return table(("what may take", "ms"), [(what, f"{known[name] / 1e6:g}") for name, what in BUDGETS.items()])


TABLES = {
    "budgets": budgets_table,
    "health-tests": tests_table,
    "conditioning": conditioning_table,
    "bounds": limits_table,
}
