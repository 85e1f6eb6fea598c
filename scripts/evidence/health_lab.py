# SPDX-License-Identifier: Apache-2.0
"""What the log of scripts/evidence/health-lab says, scene by scene; and its summary for docs/develop/tables."""

import re
from dataclasses import dataclass, field

import faults
from markdown_table import table


@dataclass(frozen=True)
class Event:
    microseconds: float
    instruction: str  # "-": none
    words: int
    name: str
    detail: str


@dataclass
class Scene:
    """One failure of one instruction."""

    instruction: str
    failure: str
    lane: int | None
    late: bool
    events: list[Event] = field(default_factory=list)

    def of(self, name: str, instruction: str | None = None) -> list[Event]:
        return [e for e in self.events if e.name == name and instruction in (None, e.instruction)]

    @property
    def begins(self) -> int | None:
        """How many words were given before the failure; None: nothing fails."""
        begun = self.of("failure begins")
        return begun[0].words if begun else None

    @property
    def found_after(self) -> int | None:
        """With which word of the failure a test failed; None: with none."""
        found = self.of("health test failed")
        return found[0].words - (self.begins or 0) if found else None

    @property
    def tests(self) -> list[str]:
        return [e.detail.partition(",")[0].removesuffix(" test") for e in self.of("health test failed")]

    @property
    def disabled(self) -> bool:
        return bool(self.of("disabled", self.instruction))

    @property
    def seeds_meanwhile(self) -> int:
        """Seeds with words of the failing instruction, after the failure began and before a test failed."""
        begun = self.of("failure begins")
        if not begun:
            return 0
        since = self.events[self.events.index(begun[0]) :]
        names = [e.name for e in since]
        until = names.index("health test failed") if "health test failed" in names else len(names)
        return sum(e.name == "seed" and e.instruction == self.instruction for e in since[:until])

    @property
    def outcome(self) -> str:
        served = [e.instruction for e in self.of("seed")]
        if self.events[-2].name == "request refused":
            return "refused"
        healthy = not self.disabled and "health-failures 0" in self.events[-1].detail
        return "goes on" if healthy and served[-1] == self.instruction else f"{served[-1]} serves"


def scenes(log: str) -> list[Scene]:
    found: list[Scene] = []
    for line in log.splitlines():
        if not line or line.startswith("#"):
            continue
        title = re.fullmatch(r"scene \d+: (RD\w+), (.*?)(?:, lane (\d))?, (from the first word on|in use)", line)
        if title:
            lane = int(title[3]) if title[3] else None
            found.append(Scene(title[1], title[2], lane, title[4] == "in use"))
            continue
        time, instruction, words, name, detail = re.split(r"\s{2,}", line.strip(), maxsplit=4)
        found[-1].events.append(Event(float(time), instruction, int(words), name, detail))
    return found


def spread(values: list[int]) -> str:
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)} to {max(values)}"


def listed(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def cells(lanes: list[Scene]) -> list[str]:
    """What one instruction did about one failure, all lanes of it together."""
    found = [s.found_after for s in lanes if s.found_after is not None]
    if len(found) not in (0, len(lanes)):
        raise RuntimeError(f"{lanes[0].failure}: found in some lanes only")
    tests = listed([test for s in lanes for test in s.tests]) or "none"
    after = spread(found) if found else "-"
    return [tests, after, spread([s.seeds_meanwhile for s in lanes])]


def summary() -> str:
    """Of each failure: the tests that found it, with which of its words, and what was made of such words before."""
    groups: dict[tuple[str, bool], dict[str, list[Scene]]] = {}
    for scene in scenes(faults.run("health_lab")):
        groups.setdefault((scene.failure, scene.late), {}).setdefault(scene.instruction, []).append(scene)
    head = ["failure"]
    for name in ("RDSEED", "RDRAND"):
        head += [f"{name}: found by", "at word", "seeds before"]
    rows: dict[tuple[str, ...], list[str]] = {}
    for (failure, late), instructions in groups.items():
        row = tuple(cell for name in ("RDSEED", "RDRAND") for cell in cells(instructions[name]))
        rows.setdefault(row, []).append(f"{failure}, in use" if late else failure)
    return table(head, [("; ".join(failures), *row) for row, failures in rows.items()])


TABLES = {"health-lab": summary}
