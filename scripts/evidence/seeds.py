"""What people used before: every capability of the documents that drng started from, where it is in drng, or why not.

Each row names files, and a text that stands in each of them: a row whose text is gone is an error, and no table is
made. For tables.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Row:
    what: str  # the capability
    answer: str  # what does it in drng, or "not: " and why
    places: tuple[tuple[str, str], ...] = ()  # files, and what stands there


def row(what: str, answer: str, *places: str) -> Row:
    """places: "file" or "file: text"."""
    return Row(what, answer, tuple((p.partition(": ")[0], p.partition(": ")[2]) for p in places))


WORDS, HEADER = "mixing/library/words.c", "mixing/library/drng.h"

LIBRARY = (
    row(
        "`rdrand_16`, `rdrand_32`, `rdrand_64`",
        "`drng_random16`, `drng_random32`, `drng_random64`",
        f"{WORDS}: int drng_random16(",
        f"{HEADER}: int drng_random64(",
    ),
    row(
        "`rdseed_16`, `rdseed_32`, `rdseed_64`",
        "`drng_seed16`, `drng_seed32`, `drng_seed64`, also for RNDRRS, DARN and TRNG",
        f"{WORDS}: int drng_seed16(",
        f"{HEADER}: int drng_seed64(",
    ),
    row(
        "`rdrand_get_n_64`, `rdseed_get_n_64`",
        "`drng_random_words`, `drng_seed_words`",
        f"{WORDS}: int drng_random_words(",
        f"{WORDS}: int drng_seed_words(",
    ),
    row(
        "`rdrand_get_n_32`, `rdseed_get_n_32`",
        "`drng_random_bytes`, `drng_seed_bytes` with four bytes a number: a number of 32 bits is half of a word",
        f"{WORDS}: int drng_random_bytes(",
    ),
    row(
        "`rdrand_get_bytes`, `rdseed_get_bytes`",
        "`drng_random_bytes`, `drng_seed_bytes`",
        f"{WORDS}: int drng_seed_bytes(",
    ),
    row(
        "`retry`, `retry_count`, `max_retries`",
        "`retries`; `DRNG_RETRIES` is 10, `DRNG_SEED_RETRIES` is 100",
        f"{HEADER}: DRNG_RETRIES = 10, DRNG_SEED_RETRIES = 100",
        "tests/unit/test_library_words.c: executed once, and retries times more",
    ),
    row(
        "`skip`: words that are read and dropped first",
        "not: a caller can read more and drop it; the start-up tests drop 128 words in each process anyway",
        "mixing/entropy/health.h: DRNG_STARTUP_WORDS = 128",
    ),
    row(
        "`RdRand_isSupported`, `RdSeed_isSupported`",
        "`drng_random_supported`, `drng_seed_supported`, which say why not",
        f"{WORDS}: int drng_random_supported(",
        f"{WORDS}: int drng_seed_supported(",
    ),
    row(
        "the answer of CPUID is kept, for all threads",
        "asked once in a process, under a lock",
        "mixing/library/machine.c: open_locked",
    ),
    row(
        "results: success, not ready, not supported",
        "`enum drng_error`, with a sentence for each",
        f"{HEADER}: DRNG_E_NOT_READY",
        "mixing/library/errors.c: drng_strerror",
    ),
    row(
        "a static library, made for Linux",
        "`libdrng.a`, in the package libdrng-dev",
        "mixing/library/library.cmake: libdrng.a",
        "scripts/packaging/library.cmake: libdrng-dev",
    ),
    row(
        "dynamic versions, for whoever builds them",
        "`libdrng.so.0`, in the package libdrng0",
        "mixing/library/library.cmake: SOVERSION 0",
    ),
    row(
        "a test program",
        "four examples that the tests build and run",
        "docs/library/fill.c",
        "tests/system/test_library.py: docs",
    ),
    row(
        "Windows, Visual Studio, OS X",
        "not: what a fork and a thread do to memory is known for Linux, and tested there",
        "README.md: other kernels are not supported",
    ),
    row(
        "32-bit programs",
        "not: the narrow forms of the instruction are broken on some CPUs; the kernel serves such programs",
        "mixing/machine/rows.h: __LP64__",
        "mixing/machine/cpu.h: CVE-2025-62626",
    ),
)

CRYPTORANDOM = (
    row("`random_open`", "`drng_open`", f"{HEADER}: int drng_open("),
    row("`random_close`", "`drng_close`", f"{HEADER}: void drng_close("),
    row(
        "`random_read`",
        "`drng_read`: the whole buffer or none of it, where `random_read` returns a count",
        f"{HEADER}: int drng_read(",
    ),
    row("`random_reseed`", "`drng_reseed`", f"{HEADER}: int drng_reseed("),
    row(
        "`random_info`, of one provider and of all",
        "`drng_info`: who served, its grade, and why better sources did not",
        f"{HEADER}: struct drng_info {{",
        "mixing/library/source.c: drng_source_reasons",
    ),
    row("`random_strerror`", "`drng_strerror`", f"{HEADER}: drng_strerror("),
    row("`flags`: the grade that is asked for", "`enum drng_choice`", f"{HEADER}: enum drng_choice {{"),
    row(
        "the best provider that satisfies the request",
        "the order of the sources, in one function",
        "mixing/entropy/seed.c: drng_seed_get",
    ),
    row(
        "the provider OS: /dev/random and /dev/urandom",
        "`DRNG_ANY`, by getrandom(), which needs no file and never waits here",
        "mixing/machine/os_linux.c: GRND_NONBLOCK",
    ),
    row(
        "the provider DRNG: RDRAND and RDSEED",
        "`DRNG_HARDWARE_ONLY`, `DRNG_SEED_GRADE_ONLY`",
        f"{HEADER}: DRNG_SEED_GRADE_ONLY",
    ),
    row("CryptGenRandom() of Windows, OS X", "not: as above", "README.md: other kernels are not supported"),
    row(
        "Gnu Autotools, a shared library",
        "CMake, pkg-config, a CMake package",
        "mixing/library/drng.pc.in",
        "mixing/library/drng-config.cmake.in",
    ),
)

GUIDE = (
    row(
        "4.1: CPUID says whether an instruction is there",
        "the same bits, and the kernel's verdict and a list of broken CPU models",
        "mixing/machine/cpu_x86.c: LEAF7_EBX_RDSEED",
        "mixing/machine/eligibility.c: is_known_broken",
    ),
    row(
        "4.1: only Intel's CPUs are asked",
        "not: AMD's and others' have the instructions; those that are broken are listed",
        "mixing/machine/words_x86.c: AuthenticAMD",
    ),
    row(
        "4.2.2, 4.3.2: 16, 32 and 64 bits by the instruction of that width",
        "not: only the 64-bit forms are executed, and shorter numbers are parts of such words",
        "mixing/machine/cpu.h: Only the 64-bit forms are used",
    ),
    row(
        '"Do I need to check the carry flag, or can I just check for zero?"',
        "the flag decides, and 0 is a number",
        "mixing/machine/instruction.h: 0 is a legitimate word",
        "tests/unit/test_library_words.c: zero_is_a_number",
    ),
    row(
        "4.2.1: ten retries",
        "ten executions for a seed, and a number to choose in libdrng",
        "mixing/machine/instruction.h: DRNG_RDRAND_TRIES = 10",
    ),
    row("4.2.3: retry loops", "`retries`", f"{WORDS}: retries + 1"),
    row(
        "4.2.4: arrays and buffers of any size; the result is how many were filled",
        "`drng_random_words`, `drng_random_bytes`; what is not whole is set to zero, and no count is returned",
        f"{WORDS}: read_or_wipe",
        "docs/library/fill.c",
    ),
    row(
        "4.2.5: more than 1,022 words, so that the generator has reseeded",
        "2,052 words, which span two reseeds of Intel's and of AMD's generator",
        "mixing/machine/instruction.h: DRNG_RDRAND_WORDS = 2052",
    ),
    row(
        "4.2.5: 32 words with a pause of 10 microseconds after each",
        "not: no maker says when an idle generator reseeds, and no program can see that it has",
        "mixing/machine/instruction.h: Intel's generator reseeds",
    ),
    row(
        "4.2.6: the 512:1 reduction by AES in CBC-MAC mode, under a random key",
        "the same with twice as many words; the initial value is zero, as SP 800-90B has it",
        "mixing/entropy/cbc_mac.h: AES-128-CBC-MAC with a zero IV",
        "mixing/entropy/seed.c: draw_key",
    ),
    row(
        "4.2.6: libgcrypt does the encryption; it overwrites the raw words",
        "drng's own AES; the loop for RDRAND keeps words in registers, and no buffer holds them",
        "mixing/entropy/fused_mac_x86.c",
    ),
    row(
        "4.3.1.1: RDSEED is tried again without an end, with PAUSE",
        "tried again with PAUSE for about two milliseconds, then the next source is asked: a loop without an end hangs "
        "on machines where the instruction is silent",
        "mixing/entropy/budget.h: DRNG_SEED_BUDGET_NS = 2000000",
        "mixing/machine/instruction.h: drng_pause",
    ),
    row(
        "4.3.1.1: sleep between tries", "not: a seed waits for nobody; the caller may", "docs/drng.3: DRNG_E_NOT_READY"
    ),
    row("4.3.1.1: else seeds from RDRAND", "the next source of a seed", "mixing/entropy/seed.c: from_instruction"),
    row("4.3.1.2: give up after 1 to 100 tries", "`retries`", f"{HEADER}: 1 to 100 for RDSEED (4.3.1.2)"),
    row(
        "4.3.1.2: RDSEED and RDRAND by turns, each filling its own buffer",
        "not: a block that RDSEED has begun and cannot end is dropped, so that no block mixes two reduction ratios",
        "mixing/entropy/seed.c: If the window cannot be filled, all of its words are discarded",
    ),
    row(
        "2.6: seeds for generators of any width", "`drng_conditioned_seed`", "docs/library/own_generator.c: xoshiro256"
    ),
    row(
        '"To concatenate or not": what may be put side by side',
        "a page of the manual, call by call",
        "docs/drng.3: .SS To concatenate or not",
    ),
    row(
        '"To concatenate or not": HMAC-SHA-256 in place of CBC-MAC',
        "`DRNG_BY_HMAC_SHA256`, and `conditioner = hmac-sha256`",
        "mixing/entropy/hmac.h: HMAC-SHA-256",
        "provider/config.c: hmac-sha256",
    ),
    row(
        "XOR of two words, since the first CPUs never return 0",
        "not: 1 value of 2^64 is missing there, which no use can tell; bytes of drng_read() and seeds are not words",
        f"{HEADER}: none returns a 64-bit 0",
    ),
    row(
        "3.2.6: health tests, in hardware",
        "drng tests the words itself, too",
        "mixing/entropy/health.h: SP 800-90B, 4.4.1",
    ),
    row(
        "3.2.7: self-tests at start, in hardware",
        "known answers for drng's own algorithms",
        "mixing/drbg/self_test.h: known-answer tests",
    ),
)

OPENSSL = (
    row(
        "the rdrand ENGINE, loaded and made the default",
        "a profile in openssl.cnf, without code",
        "docs/migrate.md: ## openssl -engine rdrand",
    ),
    row(
        "RDRAND as the sole generator of RAND_bytes()",
        "`random = RDRAND`",
        "provider/rand/rdrand.c: drng_rdrand_functions",
        "docs/EVP_RAND-DRNG.7: RDRAND",
    ),
    row("ENGINE_by_id(): is it there?", "`drng-status`", "scripts/drng-status"),
    row(
        "1.0.2: the software generator mixes in RDRAND",
        "`request_mixing`",
        "mixing/drbg/request_entropy.h: request mixing",
    ),
    row(
        "Apache: SSLCryptoDevice rdrand",
        "`drng-enable on --service apache2`",
        "docs/migrate.md: SSLCryptoDevice rdrand",
    ),
    row("Apache: SSLRandomSeed ... builtin", "nothing to write: drng seeds itself", "docs/migrate.md: SSLRandomSeed"),
    row("nginx: no way to choose an ENGINE", "`drng-enable on --service nginx`", "docs/servers.md: ## nginx"),
    row(
        "an engine inside of OpenSSL that is used wherever the CPU can (SPARC T4)",
        "`auto`: an instruction that is there is used; SPARC has no rows, and the fallback serves there",
        "mixing/machine/rows_none.h",
        "conf/drng.cnf",
    ),
    row(
        "before and after, in megabytes a second by size (SPARC T4, Octeon)",
        "`scripts/bench.sh --card`, one row for each machine",
        "scripts/bench/bench_card.py",
        "docs/performance-tables.md: ## Machines",
    ),
    row(
        "TLS in a library that is not OpenSSL (wolfSSL on Galileo and Octeon)",
        "libdrng, for whatever asks for random bytes there; it may be linked, or loaded by dlopen()",
        HEADER,
        "tests/process/test_library.c: dlopen(DRNG_LIBRARY",
    ),
)

MACHINES = (
    row(
        "60 virtual machines draw at once",
        "processes, and guests with `--guests N`",
        "scripts/bench/bench_scaling.py: --guests",
        "docs/performance-tables.md: ## Many virtual machines at once",
    ),
    row(
        "the expected rate: min(single, total / N)",
        "the same model",
        "scripts/bench/bench_scaling.py: min(single, total / N)",
    ),
    row(
        "rngtest: FIPS 140-2 statistics of each guest",
        "the same, of each process and each guest",
        "scripts/bench/bench_scaling.py: parse_rngtest",
    ),
    row(
        "rngd hands seeds to the kernel of each guest",
        "not: the kernel reads the instructions itself since 5.18",
        "docs/migrate.md: Why drng does not feed /dev/random",
    ),
    row(
        "clones of one image",
        "what two clones draw alike, with real snapshots",
        "docs/clones.md",
        "scripts/ci/test-clones.sh",
    ),
)

SERVERS = (
    row(
        "connections a second of HAProxy, nginx and Apache, with latencies under two seconds",
        "the same method on one machine",
        "scripts/bench/bench-tls.sh",
        "tests/bench/tls/figures.py: LIMIT_MS = 2000",
    ),
    row(
        "downloads with AES-GCM and AES-CBC",
        "the same ciphers, and what their records draw",
        "tests/bench/tls/workloads.py: AES128-SHA",
        "tests/bench/tls/records.py: What a TLS record draws",
    ),
    row(
        "multibuffer: many records at once, each with a random IV",
        "not: libssl's own part; each IV is a request of 16 bytes, whoever makes the record",
        "tests/system/test_ktls.py: test_a_record_of_cbc_draws_its_iv",
    ),
    row("perf says which code serves", "probes, and `drng-status --pid`", "docs/tracing.md: perf record"),
    row(
        "TLS in the network card or the kernel",
        "drng serves the handshake alike; the records of an AEAD draw nothing",
        "tests/bench/tls/records.py: ssl_conf_command Options KTLS",
        "tests/system/test_ktls.py",
    ),
    row(
        "MULX, ADCX, ADOX, AES-NI and PCLMULQDQ in libcrypto; SPARC T4's and Octeon's ciphers",
        "not: they make ciphers and signatures faster, and nothing is drawn there",
    ),
)


def check(entry: Row) -> None:
    for file, text in entry.places:
        path = ROOT / file
        if not path.exists() or (path.is_file() and text not in path.read_text(encoding="utf-8")):
            raise RuntimeError(f'"{entry.what}" names {file}, which has no "{text}"')


def table(rows: Sequence[Row]) -> str:
    lines = ["| capability | in drng | where |", "| --- | --- | --- |"]
    for entry in rows:
        check(entry)
        files = ", ".join(f"`{file}`" for file in dict.fromkeys(file for file, _ in entry.places)) or "-"
        lines.append(f"| {entry.what} | {entry.answer} | {files} |")
    return "\n".join(lines)


ROWS: dict[str, Sequence[Row]] = {
    "seeds-library": LIBRARY,
    "seeds-cryptorandom": CRYPTORANDOM,
    "seeds-guide": GUIDE,
    "seeds-openssl": OPENSSL,
    "seeds-machines": MACHINES,
    "seeds-servers": SERVERS,
}
TABLES: dict[str, Callable[[], str]] = {name: partial(table, rows) for name, rows in ROWS.items()}
