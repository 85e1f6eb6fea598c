#!/usr/bin/python3 -Es
"""Runs statistical batteries on what each stage of drng puts out, and on CPUs that are scripted to be bad.

Called by assess.sh, which installs and builds what this needs. A good source passes where no battery finds
anything; a bad one must be found, or passing means nothing. Writes what was found to report.json, and each battery's
own words to report.txt. The exit status is 1 where a source is not what it should be.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Of the arithmetic under numpy: threads wait for each other on a busy machine. Before it is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from assess_statistics import measure, two_sided

ROOT = Path(__file__).resolve().parents[2]
CPU = ROOT / "build" / "dev" / "tests" / "collect_raw"
SCRIPTED = ROOT / "build" / "dev" / "tests" / "collect_raw_scripted"

# A good source is found fault with once in so many tests.
THRESHOLD = 1e-6
# FIPS 140-2 refuses a random block of 20,000 bits this often: the sum of its four tests and the repeated word.
FIPS_FAILURE = 8e-4
SECONDS = 6 * 3600


@dataclass(frozen=True)
class Source:
    name: str
    command: Callable[[int], list[str]]  # what writes so many bytes; 0: as many as are read
    megabytes: int  # in the long form
    good: bool
    about: str
    rdrand_config: bool = False

    def run(self, count: int) -> bytes:
        result = subprocess.run(self.command(count), env=self.environment(), capture_output=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(result.stderr.decode().strip())
        return result.stdout

    def environment(self) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("OPENSSL_")}
        config = "assess-rdrand.cnf" if self.rdrand_config else "assess-drbg.cnf"
        return {**env, "OPENSSL_MODULES": str(ROOT / "build" / "release"), "OPENSSL_CONF": str(ROOT / "build" / config)}


def collector(program: Path, cpu: str, stage: str) -> Callable[[int], list[str]]:
    return lambda count: [str(program), cpu, stage, str(count)]


def openssl_rand(count: int) -> list[str]:
    return ["openssl", "rand", str(count or 2**31 - 1)]


SOURCES = (
    Source("rdseed", collector(CPU, "hardware", "rdseed"), 8, True, "raw words of RDSEED"),
    Source("rdrand", collector(CPU, "hardware", "rdrand"), 64, True, "raw words of RDRAND"),
    Source("seed-rdseed", collector(CPU, "hardware", "seed-rdseed"), 2, True, "seeds from RDSEED, CBC-MAC"),
    Source("seed-rdrand", collector(CPU, "hardware", "seed-rdrand"), 4, True, "seeds from RDRAND, CBC-MAC"),
    Source("drbg", openssl_rand, 64, True, "RAND_bytes of the module, by openssl rand"),
    Source("rdrand-generator", openssl_rand, 64, True, "the module's RDRAND as the sole generator", True),
    Source("scripted-good", collector(SCRIPTED, "good", "rdrand"), 64, True, "a scripted CPU that is sound"),
    Source("biased", collector(SCRIPTED, "biased", "rdrand"), 64, False, "a scripted CPU whose bits are too often set"),
    Source("counting", collector(SCRIPTED, "counting", "rdrand"), 64, False, "a scripted CPU that counts"),
    Source("repeating", collector(SCRIPTED, "repeating", "rdrand"), 64, False, "a scripted CPU of 1,000 words in turn"),
)


@dataclass
class Finding:
    """What one battery says: what it found fault with, and its own words."""

    battery: str
    faults: list[str]
    text: str


# ---- Batteries ----


def own_statistics(data: bytes) -> Finding:
    found = measure(data)
    faults = [name for name, p in found.items() if p < THRESHOLD]
    text = ", ".join(f"{name} {p:.3g}" for name, p in found.items())
    return Finding("statistics", faults, text)


def ent(data: bytes) -> Finding:
    """Its chi-square value of the bytes, made a p-value; its other figures have none."""
    output = subprocess.run(["ent", "-t"], input=data, capture_output=True, check=True).stdout.decode()
    _, size, entropy, square, mean, pi, serial = output.splitlines()[1].split(",")
    scale = 2 / (9 * 255)
    p = math.erfc(((float(square) / 255) ** (1 / 3) - (1 - scale)) / math.sqrt(2 * scale)) / 2
    z_mean = (float(mean) - 127.5) / math.sqrt((256**2 - 1) / 12 / int(size))
    z_serial = float(serial) * math.sqrt(int(size))
    values = {"chi-square": p, "mean": two_sided(z_mean), "serial correlation": two_sided(z_serial)}
    text = f"entropy {entropy} bits a byte, chi-square {square}, mean {mean}, pi {pi}, serial correlation {serial}"
    return Finding("ent", [n for n, v in values.items() if v < THRESHOLD], text)


def rngtest(data: bytes) -> Finding:
    """FIPS 140-2 on blocks of 20,000 bits: more failures than a random source has in this many blocks."""
    result = subprocess.run(["rngtest"], input=data, capture_output=True, check=False)
    output = result.stderr.decode()
    counts = {name: int(n) for name, n in re.findall(r"FIPS 140-2[^:]*?(successes|failures): (\d+)", output)}
    blocks = counts["successes"] + counts["failures"]
    mean = blocks * FIPS_FAILURE
    # Poisson: the chance of as many failures or more.
    below = sum(math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(counts["failures"]))
    p = max(0.0, 1 - below)
    faults = ["FIPS 140-2"] if p < THRESHOLD else []
    return Finding("rngtest", faults, f"{counts['failures']} of {blocks} blocks failed")


def dieharder(source: Source, tests: Sequence[str]) -> Finding:
    """From a pipe without end, since a file that is read again is no longer random."""
    faults, done = [], 0
    with subprocess.Popen(
        source.command(0), env=source.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as feeder:
        for test in tests:
            command = ["dieharder", "-g", "200", *test.split(), "-c", " ", "-D", "test_name", "-D", "pvalues"]
            result = subprocess.run(
                command, stdin=feeder.stdout, capture_output=True, text=True, timeout=SECONDS, check=True
            )
            for name, p in re.findall(r"^\s*([a-z]\w+)\s+([01]\.\d+)\s*$", result.stdout, re.MULTILINE):
                done += 1
                # The upper end is left alone: of few samples dieharder makes ones where nothing is too good.
                if float(p) < THRESHOLD:
                    faults.append(name)
        assert feeder.stdout is not None
        feeder.stdout.close()
        feeder.terminate()
    assert done > 0, "dieharder gave no p-value"
    return Finding("dieharder", sorted(set(faults)), f"{done} p-values, {len(faults)} below {THRESHOLD:g}")


SMALL = ("-d 100 -p 4", "-d 101 -p 4")
QUICK = ("-d 100", "-d 101", "-d 15", "-d 102 -p 10")
ALL = ("-a",)
# In the quick form and in the long one: RDSEED gives too little for more, and the seeds less.
DIEHARDER_TESTS = {"rdseed": (SMALL, QUICK), "seed-rdseed": (SMALL, SMALL), "seed-rdrand": (SMALL, QUICK)}


# ---- A run ----


@dataclass
class Assessment:
    source: Source
    size: int
    findings: list[Finding]

    @property
    def found(self) -> bool:
        return any(f.faults for f in self.findings)

    @property
    def right(self) -> bool:
        return self.found != self.source.good


def assess(source: Source, quick: bool, batteries: Sequence[str]) -> Assessment:
    data = source.run((1 if quick else source.megabytes) * 1_000_000)
    findings = []
    for battery in batteries:
        began = time.monotonic()
        if battery == "statistics":
            finding = own_statistics(data)
        elif battery == "ent":
            finding = ent(data)
        elif battery == "rngtest":
            finding = rngtest(data)
        else:
            finding = dieharder(source, DIEHARDER_TESTS.get(source.name, (QUICK, ALL))[0 if quick else 1])
        findings.append(finding)
        seen = f"found {', '.join(finding.faults)}" if finding.faults else "found nothing"
        print(f"    {battery}: {seen} ({time.monotonic() - began:.1f} s)", flush=True)
    return Assessment(source, len(data), findings)


def verdict(a: Assessment) -> str:
    text = "found to be bad" if a.found else "nothing found"
    return text if a.right else f"{text}, and should not be" if a.found else f"{text}, and something should be"


def report(assessments: Sequence[Assessment], skipped: Sequence[tuple[Source, str]]) -> str:
    lines = [
        f"A test finds fault where a random source would give such a result once in {1 / THRESHOLD:,.0f} times or less",
        "often; what is scripted to be bad must be found. Statistics prove nothing: any good cipher passes, fed with",
        "zeros. What counts is the raw words; see docs/entropy.md.",
    ]
    for a in assessments:
        lines += ["", f"{a.source.name}: {a.source.about}; {a.size:,} bytes; {verdict(a)}"]
        for f in a.findings:
            lines.append(f"    {f.battery}: {', '.join(sorted(set(f.faults))) or 'nothing'}; {f.text}")
    lines += [f"\n{source.name}: {source.about}; not assessed: {why}" for source, why in skipped]
    return "\n".join(lines) + "\n"


def write_configs() -> None:
    """The strict profile, and the same with RDRAND as the generator."""
    text = (ROOT / "conf" / "drng.cnf").read_text(encoding="utf-8")
    generator = "random = CTR-DRBG\n"
    assert text.count(generator) == 1
    (ROOT / "build" / "assess-drbg.cnf").write_text(text, encoding="utf-8")
    (ROOT / "build" / "assess-rdrand.cnf").write_text(text.replace(generator, "random = RDRAND\n"), encoding="utf-8")


BATTERIES = ("statistics", "ent", "rngtest", "dieharder")


def main() -> int:
    parser = argparse.ArgumentParser(description="Statistical batteries on what each stage puts out.")
    parser.add_argument("--quick", action="store_true", help="a megabyte of each source, and few tests of dieharder")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "assess", help="where the report goes")
    parser.add_argument("--only", nargs="+", choices=[s.name for s in SOURCES], metavar="SOURCE")
    parser.add_argument("--batteries", nargs="+", choices=BATTERIES, default=BATTERIES)
    args = parser.parse_args()
    write_configs()
    args.out.mkdir(parents=True, exist_ok=True)
    sources = [s for s in SOURCES if not args.only or s.name in args.only]
    assessments: list[Assessment] = []
    skipped = []
    for number, source in enumerate(sources, 1):
        print(f"[{number}/{len(sources)}] {source.name}: {source.about}", flush=True)
        try:
            assessments.append(assess(source, args.quick, args.batteries))
        except RuntimeError as problem:
            print(f"    not assessed: {problem}", flush=True)
            skipped.append((source, str(problem)))
    (args.out / "report.txt").write_text(report(assessments, skipped), encoding="utf-8")
    results = {
        a.source.name: {
            "good": a.source.good,
            "right": a.right,
            "bytes": a.size,
            "found": {f.battery: f.faults for f in a.findings},
        }
        for a in assessments
    }
    (args.out / "report.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    wrong = [a.source.name for a in assessments if not a.right]
    print(f"{len(assessments)} assessed, {len(skipped)} not, {len(wrong)} not as they should be: {args.out}/report.txt")
    return 1 if wrong or not assessments else 0


if __name__ == "__main__":
    sys.exit(main())
