# SPDX-License-Identifier: Apache-2.0
"""What drng itself says of the instructions on this machine: a test that depends on them asks here."""

import functools
from dataclasses import dataclass

import pytest

from tests.support.targets import PINNED, as_json, target

# drng's own list of parts, which neither the CPU nor the kernel knows.
BROKEN = "known to be broken on this CPU model"
MAY_BE_BROKEN = "broken on some CPUs of this model"  # where the kernel's verdict is not known


@dataclass(frozen=True)
class Machine:
    """This machine under conf/drng.cnf."""

    source: str  # drng's active-source
    reason: str  # drng's disabled-reason
    virtual: bool
    usable: dict[str, bool]  # whether each instruction is in the CPU; RDSEED first
    remarks: tuple[str, ...]  # what drng-status says of each process that drng serves here

    @property
    def has_instruction(self) -> bool:
        """Whether an instruction gives seeds."""
        return self.source not in ("fallback", "none")

    def may_serve(self, instruction: str) -> bool:
        return f"{instruction.upper()}: " not in self.reason

    def is_listed(self, instruction: str) -> bool:
        """Whether drng's own list is why it does not serve."""
        return any(f"{instruction.upper()}: {why}" in self.reason for why in (BROKEN, MAY_BE_BROKEN))

    def need_instruction(self) -> str:
        """The one that gives seeds."""
        if not self.has_instruction:
            pytest.skip(f"needs a CPU with an instruction that drng may seed from; here: {self.reason}")
        return self.source

    def beside_remarks(self, message: str) -> str:
        """What drng-status's message on a process says beside what it says of every process here."""
        parts = message.split("; ") if message else []
        assert [part for part in parts if part in self.remarks] == [*self.remarks], message
        return "; ".join(part for part in parts if part not in self.remarks)


@functools.cache
def here() -> Machine:
    drng = as_json()
    with target(PINNED) as process:
        assert process.do("draw 1 16") == "drawn"
        message = process.counters()["message"]
    return Machine(
        source=drng["active-source"],
        reason=drng["disabled-reason"],
        virtual=drng["virtual-machine"],
        usable={
            name: f"{name.upper()}: not in this CPU" not in drng["disabled-reason"] for name in ("rdseed", "rdrand")
        },
        remarks=tuple(message.split("; ")) if message else (),
    )
