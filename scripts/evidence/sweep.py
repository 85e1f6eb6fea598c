# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/develop/tables about refused system calls, filters and limits, by trying each.

sweep_guest of the dev build goes through the phases of a program's life with drng, on libcrypto's own generator for
comparison, under sweep_tracer, which knows the calls that come from drng. Each result must keep to the rules that are
written here, whatever the page says. tables.py puts the tables there.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from unittest import SkipTest

from markdown_table import table

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "dev"
PROGRAMS = BUILD / "tests"

PHASES = ("load", "first-draw", "draw", "reseed", "fork", "clone", "contexts", "threads", "unload")
TIMEOUT = 60
SIGABRT = 6

# What drng cannot do without: memory, and its protection in a child.
ESSENTIAL = {"mmap", "madvise", "mprotect", "munmap"}
# malloc()'s own, made or not as the heap happens to lie; it has no errors that could be given.
MALLOC = {"brk"}
# Those of fork() and pthread_create(): their frames may hold a return address that an earlier call has left there.
STALE = {"clone", "set_robust_list", "rt_sigaction", "rt_sigprocmask"}
# glibc makes these for its own locks, and ends the process where the kernel has no futex(2).
LIBC = {"futex"}
# Calls that the kernel may end with EINTR.
INTERRUPTED = {"openat", "read", "close", "getrandom", "futex", "sendto", "connect", "socket", "write"}

KiB = 1024
MiB = 1024 * KiB


@dataclass
class Result:
    """What a run of the guest came to."""

    phases: dict[str, str] = field(default_factory=dict)
    calls: dict[str, list[str]] = field(default_factory=dict)  # name: phases it was made in
    signal: int = 0
    hung: bool = False

    def short(self) -> str:
        """One cell of a table."""
        served = {v for k, v in self.phases.items() if k not in ("load", "unload")}
        odd = [f"{k} {v}" for k, v in self.phases.items() if v.startswith("refused")]
        if self.hung:
            return f"**hangs** after {list(self.phases)[-1] if self.phases else 'start'}"
        if self.signal:
            done = [p for p in PHASES if p in self.phases]
            here = PHASES[len(done)] if len(done) < len(PHASES) else "exit"
            return f"killed by signal {self.signal} in {here}"
        if odd:
            return "; ".join(odd)
        if not self.phases:
            return "does not start"
        return " and ".join(sorted(served))

    @property
    def whole(self) -> bool:
        return not self.signal and not self.hung and set(self.phases) == set(PHASES)

    @property
    def served(self) -> bool:
        return self.whole and not any(v.startswith("refused") for v in self.phases.values())


def run(command: list[str], limit: Callable[[], None] | None = None, **env: str) -> Result:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENSSL_", "LD_"))}
    clean |= {"OPENSSL_MODULES": str(BUILD), "OPENSSL_CONF": "/dev/null", "LC_ALL": "C", **env}
    result = Result()
    with subprocess.Popen(
        command, env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=limit, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output, errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            result.hung = True
    if process.returncode == 2 or "no such" in errors:
        sys.exit(f"{' '.join(command)}: {output}{errors}")
    result.signal = -process.returncode if process.returncode < 0 and not result.hung else 0
    child = ""
    for line in output.splitlines():
        key, _, value = line.partition(": ")
        if key in PHASES:
            result.phases[key] = value if not child else f"refused: {child}"
            child = ""
        elif key == "call":
            phase, name, _ = value.split()
            result.calls.setdefault(name, []).append(phase)
        elif key == "killed":
            result.signal = int(value)
        elif key in ("child", "refused"):
            child = f"the child, {value}" if key == "child" else value
    return result


GUEST = str(PROGRAMS / "sweep_guest")
TRACER = str(PROGRAMS / "sweep_tracer")


def listed(provider: str = "drng") -> Result:
    return run([TRACER, "list", GUEST, provider])


def failed(name: str, error: str) -> Result:
    return run([TRACER, "fail", name, error, GUEST, "drng"])


def filtered(action: str, names: str, provider: str) -> Result:
    return run([TRACER, "filter", action, names, GUEST, provider])


broken: list[str] = []


def rule(holds: bool, what: str) -> None:
    if not holds:
        broken.append(what)


def says_why(result: Result) -> bool:
    return not any(v in ("refused", "refused: ") or v.endswith("no error") for v in result.phases.values())


def every(work: Callable[..., Result], cases: list[tuple[str, ...]]) -> list[Result]:
    """All at once, as far as there are processors."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(lambda case: work(*case), cases))


def grouped(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One row for all that came to the same: the first cell of each, and the cells that they share."""
    found: dict[tuple[str, ...], list[str]] = {}
    for first, *cells in rows:
        found.setdefault(tuple(cells), []).append(first)
    return [("; ".join(firsts), *cells) for cells, firsts in found.items()]


# ---- Every call ----


def calls() -> str:
    names = sorted(set(listed().calls) - MALLOC - STALE)
    cases = [(n, e) for n in names for e in ("EPERM", "ENOSYS", "EINTR") if e != "EINTR" or n in INTERRUPTED]
    results = dict(zip(cases, every(failed, cases), strict=True))
    rows = []
    for name in names:
        cells = []
        for error in ("EPERM", "ENOSYS", "EINTR"):
            result = results.get((name, error))
            cells.append(result.short() if result else "-")
            if result:
                by_libc = name in LIBC and result.signal == SIGABRT
                rule(by_libc or not (result.signal or result.hung), f"{name} {error}: {result.short()}")
                rule(says_why(result), f"{name} {error}: refused, and nothing says why: {result.short()}")
                rule(by_libc or result.served or name in ESSENTIAL, f"{name} {error}: {result.short()}")
        rows.append((f"`{name}`", *(cell.partition(": look")[0] for cell in cells)))
    return table(("call", "EPERM", "ENOSYS", "EINTR"), grouped(rows))


# ---- Filters ----

# systemd's group, and what a program may be forbidden that has no business with it.
FILTERS = (
    ("`~@memlock`", "mlock,mlock2,mlockall,munlock,munlockall"),
    ("no `memfd_create`", "memfd_create,ftruncate"),
    ("no `prctl`", "prctl"),
    ("no `socket`, `connect`, `sendto`", "socket,connect,sendto"),
    ("these four", "mlock,mlock2,mlockall,munlock,munlockall,memfd_create,ftruncate,prctl,socket,connect,sendto"),
    ("no `getpid`, `getppid`, `gettid`", "getpid,getppid,gettid"),
    ("no `clock_gettime`, `time`, `gettimeofday`", "clock_gettime,time,gettimeofday"),
    ("no `madvise`", "madvise"),
    ("no `getrandom`", "getrandom"),
)
AFTER = "openat,open,socket,connect,sendto,mlock,mlock2,mlockall,memfd_create,ftruncate,ioctl"


def filters() -> str:
    rows = []
    cases = [(a, n, p) for _, n in FILTERS for a in ("kill", "EPERM", "ENOSYS") for p in ("drng", "builtin")]
    results = dict(zip(cases, every(filtered, cases), strict=True))
    for text, names in FILTERS:
        cells = []
        for action in ("kill", "EPERM", "ENOSYS"):
            ours, theirs = (results[(action, names, p)] for p in ("drng", "builtin"))
            cells.append(ours.short())
            essential = bool(ESSENTIAL & set(names.split(",")))
            rule(ours.served or essential or not theirs.served, f"filter {action} {names}: {ours.short()}")
            rule(not ours.hung and says_why(ours), f"filter {action} {names}: {ours.short()}")
        rows.append((text, *cells, results[("kill", names, "builtin")].short()))
    for phase in ("load", "first-draw"):
        results_after = [run([GUEST, p, f"phase={phase},{AFTER}"]) for p in ("drng", "builtin")]
        ours, theirs = results_after
        rule(ours.served or not theirs.served, f"filter after {phase}: {ours.short()}")
        names = f"no files, sockets, locks after {phase}, by the program itself"
        rows.append((names, ours.short(), "-", "-", theirs.short()))
    head = ("filter", "kills", "EPERM", "ENOSYS", "libcrypto's own generator, where it kills")
    return table(head, grouped(rows))


# ---- Limits ----

SINGLE = (
    ("FSIZE", resource.RLIMIT_FSIZE, 0),
    ("FSIZE", resource.RLIMIT_FSIZE, 3 * KiB),
    ("NOFILE", resource.RLIMIT_NOFILE, 4),
    ("MEMLOCK", resource.RLIMIT_MEMLOCK, 0),
    ("MEMLOCK", resource.RLIMIT_MEMLOCK, 4 * KiB),
)
# From where no program starts to where all is well: memory may give out anywhere.
RANGES = (
    ("AS", resource.RLIMIT_AS, range(4 * MiB, 20 * MiB, 128 * KiB)),
    ("DATA", resource.RLIMIT_DATA, range(0, 4 * MiB, 32 * KiB)),
    ("STACK", resource.RLIMIT_STACK, range(16 * KiB, 144 * KiB, 8 * KiB)),
)


def in_units(value: int) -> str:
    if value >= MiB:
        return f"{value / MiB:g} MiB"
    return f"{value // KiB} KiB" if value >= KiB else str(value)


def limited(kind: int, value: int, provider: str) -> Result:
    def limit() -> None:
        resource.setrlimit(kind, (value, value))

    return run([GUEST, provider], limit)


def category(result: Result) -> str:
    if result.hung:
        return "hangs"
    if result.signal:
        return f"killed by signal {result.signal}"
    if not result.phases:
        return "no room for libcrypto"
    return "all served" if result.served else "refused"


def no_worse(ours: Result, theirs: Result, what: str) -> None:
    rule(not ours.hung and (not ours.signal or bool(theirs.signal)), f"{what}: {ours.short()}")
    # Later there may be no room for an error queue.
    rule(ours.phases.get("load") != "refused: ", f"{what}: nothing says why: {ours.short()}")


def ranges() -> list[tuple[str, ...]]:
    rows = []
    for name, kind, values in RANGES:
        cases = [(kind, v, p) for v in values for p in ("drng", "builtin")]
        results = dict(zip(cases, every(limited, cases), strict=True))
        for value in values:
            no_worse(results[(kind, value, "drng")], results[(kind, value, "builtin")], f"RLIMIT_{name} {value}")
        rule(results[(kind, values[-1], "drng")].served, f"RLIMIT_{name} {values[-1]} is no room for drng")
        cells = [
            ", ".join(sorted({category(results[(kind, v, p)]) for v in values})) for p in ("drng", "builtin")
        ]  # fmt: skip
        rows.append((f"`RLIMIT_{name}` {in_units(values[0])} to {in_units(values[-1])}", *cells))
    return rows


def limits() -> str:
    rows: list[tuple[str, ...]] = []
    for name, kind, value in SINGLE:
        ours, theirs = (limited(kind, value, p) for p in ("drng", "builtin"))
        rule(ours.served, f"RLIMIT_{name} {value}: {ours.short()}")
        rows.append((f"`RLIMIT_{name}` {in_units(value)}", ours.short(), theirs.short()))
    ours, theirs = (run([GUEST, p], SWEEP_NO_FILES="1") for p in ("drng", "builtin"))
    rule(ours.served, f"no file descriptors left: {ours.short()}")
    rows.append(("`RLIMIT_NOFILE` 0 once loaded", ours.short(), theirs.short()))
    for size in (16 * KiB, 32 * KiB, 64 * KiB):
        ours, theirs = (run([GUEST, p], SWEEP_STACK=str(size)) for p in ("drng", "builtin"))
        rule(ours.served or not theirs.served, f"threads with stacks of {size} bytes: {ours.short()}")
        rows.append((f"a thread's stack {in_units(size)}", ours.short(), theirs.short()))
    return table(("limit", "with drng", "libcrypto's own generator"), grouped(rows + ranges()))


# ---- The page ----


def check_possible() -> None:
    for path in (GUEST, TRACER):
        if not Path(path).exists():
            sys.exit(f"{path} is not there: cmake --preset dev && cmake --build --preset dev")
    result = listed()
    if result.phases.get("draw") != "hardware":
        raise SkipTest(f"no hardware serves here: {result.short()}")
    if not result.calls:
        raise SkipTest("this process may not trace its children")


def by_the_rules(make: Callable[[], str]) -> Callable[[], str]:
    def made() -> str:
        check_possible()
        broken.clear()
        text = make()
        if broken:
            raise RuntimeError("\n".join(f"against the rules: {what}" for what in broken))
        return text

    return made


TABLES = {"calls": by_the_rules(calls), "filters": by_the_rules(filters), "limits": by_the_rules(limits)}
