#!/usr/bin/python3 -Es
"""OpenSSL's own tests with drng as the generator: what fails only then, from the logs that openssl-suite.sh leaves.

    openssl_suite.py failures LOGS          the recipes that fail only with drng, as `make test TESTS=...` takes them
    openssl_suite.py report KEPT RELEASE    the same with the reasons; and all releases, as tables, into KEPT/suite.md

LOGS is the folder of one release in KEPT. Exit status 1: something fails only with drng, and no reason is known.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

RELEASES = ("bookworm", "trixie", "sid", "experimental")

RAN = re.compile(r"(\d\d-test_\w+)\.t \.+ ?(skipped)?")
FAILED = re.compile(r"^(?:\S*/)?(\d\d-test_\w+)\.t +\(Wstat: (\d+).* Failed: (\d+)\)", re.MULTILINE)
END = re.compile(r"^Result: (?:PASS|FAIL|NOTESTS)$", re.MULTILINE)
GROUPS = re.compile(r"# Completed (\d+) tests with (\d+) errors")
COUNTED = re.compile(r"breakpoint already hit (\d+) times?")


class LogError(Exception):
    """A log that is not there, or not whole."""


FAKE = "the test puts a generator of its own in place; whatever openssl.cnf names in its random section overrides it"
ACTIVE = "the test wants the default provider to be inactive at first, and the profile activates it"

# What fails only with drng, and why.
KNOWN: dict[str, str] = {
    "03-test_internal_sm2": FAKE,
    "15-test_ecdsa": FAKE,
}


@dataclass(frozen=True)
class Run:
    """One `make test`."""

    ran: frozenset[str]
    skipped: frozenset[str]
    failed: frozenset[str]


def text_of(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise LogError(f"{log} is not there: openssl-suite.sh has not done this part") from None


def read_run(log: Path) -> Run:
    text = text_of(log)
    if not END.search(text):
        raise LogError(f"{log} has no result: make test did not come to its end")
    seen = {name: skipped for name, skipped in RAN.findall(text)}
    failed = {name for name, status, failures in FAILED.findall(text) if int(status) or int(failures)}
    if not failed <= seen.keys():
        raise LogError(f"{log}: these fail and did not run: {', '.join(sorted(failed - seen.keys()))}")
    skipped = {name for name in seen if seen[name]} - failed
    return Run(frozenset(seen.keys() - skipped), frozenset(skipped), frozenset(failed))


def only_with_drng(logs: Path) -> list[str]:
    plain, drng = read_run(logs / "plain.log"), read_run(logs / "drng.log")
    if missing := (plain.ran | plain.skipped) - (drng.ran | drng.skipped):
        raise LogError(f"{logs}: these did not run with drng: {', '.join(sorted(missing))}")
    return sorted(drng.failed - plain.failed)


def short(recipe: str) -> str:
    """As TESTS= wants it."""
    return recipe.split("-", 1)[1]


@dataclass(frozen=True)
class Release:
    """What all runs on one release have shown."""

    name: str
    version: str
    plain: Run
    drng: Run
    dry: Run
    pinned: Run | None  # None: nothing fails only with drng
    groups: int
    errors: int
    generates: int

    @property
    def only(self) -> list[str]:
        return sorted(self.drng.failed - self.plain.failed)

    @property
    def drawn(self) -> frozenset[str]:
        """The recipes that pass with drng, and not without a seed of drng's."""
        return (self.drng.ran - self.drng.failed) & self.dry.failed

    def fails_pinned(self, recipe: str) -> bool:
        return self.pinned is not None and recipe in self.pinned.failed


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
        read_run(logs / "dry.log"),
        read_run(logs / "pinned.log") if only_with_drng(logs) else None,
        int(groups[1]),
        int(groups[2]),
        int(counted[1]) if counted else 0,
    )


def unexplained(release: Release) -> list[str]:
    """What fails only with drng, and neither in the list nor with OpenSSL's own generator."""
    return [recipe for recipe in release.only if recipe not in KNOWN]


# ---- Tables ----


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def counts_table(releases: list[Release]) -> str:
    head = ("", *(f"{release.name}, OpenSSL {release.version}" for release in releases))
    rows: list[tuple[str, ...]] = [
        ("evp_test: groups in `evprand.txt`", *(str(r.groups) for r in releases)),
        ("evp_test: errors", *(str(r.errors) for r in releases)),
        ("evp_test: generates by drng", *(f"{r.generates:,}" for r in releases)),
        ("`make test`: recipes", *(str(len(r.drng.ran)) for r in releases)),
        ("pass with drng, and fail where drng has no seed", *(str(len(r.drawn)) for r in releases)),
        ("fail without drng", *(str(len(r.plain.failed)) for r in releases)),
        ("fail only with drng", *(str(len(r.only)) for r in releases)),
        (
            "of them, fail with OpenSSL's own generator pinned",
            *(str(sum(map(r.fails_pinned, r.only))) for r in releases),
        ),
    ]
    return table(head, rows)


def reasons_table(releases: list[Release]) -> str:
    rows: list[tuple[str, ...]] = []
    for recipe in sorted({recipe for release in releases for recipe in release.only}):
        where = [release for release in releases if recipe in release.only]
        pinned = [release.fails_pinned(recipe) for release in where]
        same = "yes" if all(pinned) else "no" if not any(pinned) else "in part"
        rows.append((f"`{recipe}`", ", ".join(r.version for r in where), same, KNOWN.get(recipe, "not known")))
    return table(("recipe", "fails with OpenSSL", "with OpenSSL's own pinned, too", "reason"), rows)


def all_tables(kept: Path) -> str:
    releases = [read_release(kept, name) for name in RELEASES if (kept / name / "pinned.log").exists()]
    return f"{counts_table(releases)}\n\n{reasons_table(releases)}\n"


# ---- Commands ----


def report(kept: Path, name: str) -> int:
    release = read_release(kept, name)
    print(counts_table([release]), reasons_table([release]), sep="\n\n")
    (kept / "suite.md").write_text(all_tables(kept), encoding="utf-8")
    strange = unexplained(release)
    if strange:
        print(f"{name}: no reason is known for: {', '.join(strange)}", file=sys.stderr)
    if release.errors or not release.generates:
        print(f"{name}: evp_test: {release.errors} errors, {release.generates} generates by drng", file=sys.stderr)
    return 1 if strange or release.errors or not release.generates else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("failures").add_argument("logs", type=Path)
    of_report = commands.add_parser("report")
    of_report.add_argument("kept", type=Path)
    of_report.add_argument("release", choices=RELEASES)
    args = parser.parse_args()
    try:
        if args.command == "report":
            return report(args.kept, args.release)
        print(" ".join(map(short, only_with_drng(args.logs))))
    except LogError as wrong:
        sys.exit(f"openssl_suite.py: {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
