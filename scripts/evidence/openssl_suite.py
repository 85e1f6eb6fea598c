#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""OpenSSL's own tests with drng as the generator: what fails only then, from the logs that openssl-suite.sh leaves.

    openssl_suite.py configure FOLDER       writes the openssl.cnf of each run into FOLDER
    openssl_suite.py failures LOGS          the recipes that fail only with drng, as `make test TESTS=...` takes them
    openssl_suite.py report KEPT RELEASE    the same with the reasons; and all releases, as tables, into KEPT/suite.md

LOGS is the folder of one release in KEPT. Exit status 1: something fails only with drng, and no reason is known.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from markdown_table import table

PROFILE = Path(__file__).resolve().parents[2] / "conf" / "drng.cnf"
RELEASES = ("bookworm", "trixie", "sid", "experimental")

# docs/develop/openssl-suites.md says more of each.
FAKE = "a generator of the test's own"
CHOSEN = "a generator that the test chooses"
ACTIVE = "the default provider is active"
PRIVATE = "the insides of a context"
STATIC = "two libcryptos at exit"

# What fails only with drng, and why.
KNOWN: dict[str, str] = {
    "03-test_evp_extra_ml_kem": CHOSEN,
    "03-test_internal_ml_kem": CHOSEN,
    "03-test_internal_sm2": FAKE,
    "04-test_encoder_decoder": STATIC,
    "05-test_rand": f"{FAKE}; {PRIVATE}",
    "15-test_ecdsa": FAKE,
    "30-test_evp_extra": ACTIVE,
    "30-test_ml_dsa": ACTIVE,
    "70-test_tls13kexmodes": CHOSEN,
    "70-test_tls13messages": CHOSEN,
    "70-test_tls13psk": CHOSEN,
    "75-test_quicapi": ACTIVE,
    "80-test_pkcs12": ACTIVE,
    "90-test_sslapi": ACTIVE,
}


# ---- Configurations ----


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        if text.count(old) != 1:
            sys.exit(f"openssl_suite.py: {PROFILE} has {text.count(old)} times {old!r}, not once")
        text = text.replace(old, new)
    return text


def configurations(strict: str) -> dict[str, str]:
    """What the tests read, made from the strict profile."""
    head, drngs = strict.split("\n[drng_sect]\n")
    pinned = changed(
        head,
        ("\nproperties = provider=drng,-fips\n", "\nproperties = provider=default\n"),
        ("\nseed = DRNG-SEED\nseed_properties = provider=drng,-fips\n", "\n"),
        ("\ndrng = drng_sect\n", "\n"),
    )
    # evp_test fetches what its file names, from drng where drng has it; TEST-RAND is the default provider's.
    evp = changed(
        strict,
        ("\n[openssl_init]\n", "\n[openssl_init]\nalg_section = algorithm_sect\n"),
        ("\n[drng_sect]\n", "\n[algorithm_sect]\ndefault_properties = ?provider=drng\n\n[drng_sect]\n"),
    )
    dry = changed(f"\n[drng_sect]\n{drngs}", ("\nactivate = 1\n", "\nactivate = 1\nfallback = no\n"))
    return {"drng": strict, "dry": head + dry, "pinned": pinned, "evp": evp}


def configure(folder: Path) -> None:
    for name, text in configurations(PROFILE.read_text(encoding="utf-8")).items():
        (folder / f"{name}.cnf").write_text(text, encoding="utf-8")


# ---- Logs ----

RAN = re.compile(r"(\d\d-test_\w+)\.t \.+ ?(skipped)?")
# A recipe, and the numbers of its tests: "1-3, 7", perhaps on several lines; none where it ended without saying.
FAILED = re.compile(
    r"^(?:\S*/)?(\d\d-test_\w+)\.t +\(Wstat: (\d+).* Failed: (\d+)\)(?:\n  Failed tests?:((?:[ \d,-]|\n +(?=\d))*))?",
    re.MULTILINE,
)
END = re.compile(r"^Result: (?:PASS|FAIL|NOTESTS)$", re.MULTILINE)
STOPPED = "FAILED--Further testing stopped"  # a recipe has ended the whole run
GROUPS = re.compile(r"# Completed (\d+) tests with (\d+) errors")
COUNTED = re.compile(r"breakpoint already hit (\d+) times?")

# The tests of each recipe that fails.
Failures = dict[str, frozenset[int]]


class LogError(Exception):
    """A log that is not there, or not whole."""


@dataclass(frozen=True)
class Run:
    """One `make test`."""

    ran: frozenset[str]
    skipped: frozenset[str]
    failed: Failures


def text_of(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise LogError(f"{log} is not there: openssl-suite.sh has not done this part") from None


def numbers(ranges: str) -> frozenset[int]:
    found: set[int] = set()
    for part in filter(None, re.split(r"[,\s]+", ranges)):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def read_run(log: Path) -> Run:
    text = text_of(log)
    recipes = list(RAN.finditer(text))
    # What make test does before the recipes has a result of its own.
    if not recipes or STOPPED in text or not END.search(text, recipes[-1].end()):
        raise LogError(f"{log} has no result: make test did not come to its end")
    seen = {found[1]: found[2] for found in recipes}
    failed = {name: numbers(tests) for name, status, count, tests in FAILED.findall(text) if int(status) or int(count)}
    if strange := failed.keys() - seen.keys():
        raise LogError(f"{log}: these fail and did not run: {', '.join(sorted(strange))}")
    skipped = {name for name in seen if seen[name]} - failed.keys()
    return Run(frozenset(seen.keys() - skipped), frozenset(skipped), failed)


def beyond(failures: Failures, others: Failures) -> Failures:
    """What fails in the first and not in the others."""
    left = {recipe: tests - others.get(recipe, frozenset()) for recipe, tests in failures.items()}
    return {recipe: tests for recipe, tests in left.items() if tests or recipe not in others}


@dataclass(frozen=True)
class Release:
    """What all runs on one release have shown."""

    name: str
    version: str
    plain: Run
    drng: Run
    dry: Run | None  # None: not done
    pinned: Run | None  # None: nothing fails only with drng
    groups: int
    errors: int
    generates: int

    @property
    def only(self) -> Failures:
        return beyond(self.drng.failed, self.plain.failed)

    @property
    def drawing(self) -> str:
        """How many recipes have a test that passes with drng, and not where drng has no seed."""
        if self.dry is None:
            return "not tried"
        return str(len(self.drng.ran & beyond(self.dry.failed, self.drng.failed).keys()))

    def pinned_alike(self, recipe: str) -> str:
        """Whether the same tests of it fail with OpenSSL's own generator: all of them, some or none."""
        mine = {recipe: self.only[recipe]}
        left = beyond(mine, self.pinned.failed if self.pinned is not None else {})
        return "in part" if left and left != mine else "no" if left else "yes"


def only_with_drng(logs: Path) -> Failures:
    plain, drng = read_run(logs / "plain.log"), read_run(logs / "drng.log")
    if missing := (plain.ran | plain.skipped) - (drng.ran | drng.skipped):
        raise LogError(f"{logs}: these did not run with drng: {', '.join(sorted(missing))}")
    return beyond(drng.failed, plain.failed)


def read_release(kept: Path, name: str) -> Release:
    logs = kept / name
    evp = text_of(logs / "evp.log")
    groups, counted = GROUPS.search(evp), COUNTED.search(evp)
    if groups is None:
        raise LogError(f"{logs / 'evp.log'} has no result: evp_test did not come to its end")
    return Release(
        name,
        text_of(logs / "version").strip().partition("-")[0],
        read_run(logs / "plain.log"),
        read_run(logs / "drng.log"),
        read_run(logs / "dry.log") if (logs / "dry.log").exists() else None,
        read_run(logs / "pinned.log") if only_with_drng(logs) else None,
        int(groups[1]),
        int(groups[2]),
        int(counted[1]) if counted else 0,
    )


# ---- Tables ----


def short(recipe: str) -> str:
    """As TESTS= wants it."""
    return recipe.split("-", 1)[1]


def counts_table(releases: list[Release]) -> str:
    head = ("", *(f"{release.name}, OpenSSL {release.version}" for release in releases))
    rows: list[tuple[str, ...]] = [
        ("`evp_test`: groups of `evprand.txt`", *(str(r.groups) for r in releases)),
        ("`evp_test`: errors", *(str(r.errors) for r in releases)),
        ("`evp_test`: calls of drng's generate", *(f"{r.generates:,}" for r in releases)),
        ("`make test`: recipes that ran", *(str(len(r.drng.ran)) for r in releases)),
        ("draw from drng: a test fails where drng has no seed", *(r.drawing for r in releases)),
        ("fail without drng", *(str(len(r.plain.failed)) for r in releases)),
        ("fail only with drng", *(str(len(r.only)) for r in releases)),
        (
            "... and with OpenSSL's own pinned",
            *(str([r.pinned_alike(recipe) for recipe in r.only].count("yes")) for r in releases),
        ),
    ]
    return table(head, rows)


def reasons_table(releases: list[Release]) -> str:
    rows: list[tuple[str, ...]] = []
    for recipe in sorted({recipe for release in releases for recipe in release.only}):
        where = [release for release in releases if recipe in release.only]
        alike = sorted({release.pinned_alike(recipe) for release in where}, reverse=True)
        rows.append(
            (f"`{recipe}`", ", ".join(r.version for r in where), " or ".join(alike), KNOWN.get(recipe, "not known"))
        )
    return table(("recipe", "OpenSSL", "OpenSSL's own pinned fails alike", "reason"), rows)


def all_tables(kept: Path) -> str:
    releases = [read_release(kept, name) for name in RELEASES if (kept / name / "pinned.log").exists()]
    return f"{counts_table(releases)}\n\n{reasons_table(releases)}\n"


# ---- Commands ----


def report(kept: Path, name: str) -> int:
    release = read_release(kept, name)
    print(counts_table([release]), reasons_table([release]), sep="\n\n")
    (kept / "suite.md").write_text(all_tables(kept), encoding="utf-8")
    wrong = [f"no reason is known for: {recipe}" for recipe in sorted(release.only) if recipe not in KNOWN]
    if release.errors or not release.generates:
        wrong.append(f"evp_test: {release.errors} errors, {release.generates} generates by drng")
    for line in wrong:
        print(f"{name}: {line}", file=sys.stderr)
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("configure").add_argument("folder", type=Path)
    commands.add_parser("failures").add_argument("logs", type=Path)
    of_report = commands.add_parser("report")
    of_report.add_argument("kept", type=Path)
    of_report.add_argument("release", choices=RELEASES)
    args = parser.parse_args()
    try:
        if args.command == "report":
            return report(args.kept, args.release)
        if args.command == "configure":
            configure(args.folder)
        else:
            print(" ".join(map(short, sorted(only_with_drng(args.logs)))))
    except LogError as wrong:
        sys.exit(f"openssl_suite.py: {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
