# SPDX-License-Identifier: Apache-2.0
"""The cases of clones.py: which guest is cloned, and what is expected of what drng draws in its clones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from tests.support.builds import MASKED
from tests.support.guests import AARCH64, X86_64, Architecture, Hardware


class Expected(Enum):
    """Of what drng draws after the machine was cloned."""

    DIFFERS = "nothing repeats"
    REPEATS = "every draw repeats"


@dataclass(frozen=True)
class Cpu:
    name: str
    model: str  # QEMU's name for it
    disabled: str  # drng's `disabled-reason` there
    environment: Mapping[str, str] = field(default_factory=dict)
    architecture: Architecture = X86_64


NOT_THERE = "RDSEED: not in this CPU; RDRAND: not in this CPU"
HIDDEN = "RDSEED: masked by OPENSSL_ia32cap; RDRAND: masked by OPENSSL_ia32cap"
BOTH = Cpu("RDSEED, RDRAND", "Broadwell-noTSX", "")
RDRAND = Cpu("RDRAND", "Haswell-noTSX", "RDSEED: not in this CPU")
NONE = Cpu("none", "Westmere", NOT_THERE)
MASK = Cpu("both masked", "Broadwell-noTSX", HIDDEN, {"OPENSSL_ia32cap": MASKED})

RNDR = Cpu("RNDRRS, RNDR", "neoverse-v1", "", architecture=AARCH64)
ARM_NONE = Cpu("none (aarch64)", "cortex-a72", "RNDRRS: not in this CPU; RNDR: not in this CPU", architecture=AARCH64)

VMGENID = "vmgenid,guid=auto"
VMCLOCK = "vmclock"
KERNEL_HAS_HEARD = b"crng reseeded due to virtual machine fork"


@dataclass(frozen=True)
class Case:
    name: str
    cpu: Cpu
    expected: Expected  # what holds today; to be changed together with what drng protects from
    devices: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)  # of drng's section in openssl.cnf
    arguments: tuple[str, ...] = ()  # of the guest's program
    kernel: str = "backports"
    generations: int = 1  # 2: a clone is cloned
    across: bool = False  # what was under way at the snapshot must not repeat either

    def hardware(self) -> Hardware:
        return Hardware(
            self.cpu.model, self.cpu.architecture, self.kernel, self.devices, self.arguments, self.cpu.environment
        )


NO_MIXING = {"request_mixing": "no"}
LARGE = ("threads=4", "size=65536", "busy")
# As nginx: root forks, and its workers belong to another user, who may not open /dev/vmclock0.
SERVER = ("processes=8", "user=65534")
DIFFERS, REPEATS = Expected.DIFFERS, Expected.REPEATS

CASES = [
    Case("both", BOTH, DIFFERS),
    Case("rdrand", RDRAND, DIFFERS),
    Case("none", NONE, DIFFERS),
    Case("masked", MASK, DIFFERS),
    Case("unmixed", BOTH, REPEATS, keys=NO_MIXING),
    Case("vmgenid-rdrand", RDRAND, DIFFERS, (VMGENID,)),
    Case("vmgenid-none", NONE, DIFFERS, (VMGENID,)),
    Case("vmgenid-masked", MASK, DIFFERS, (VMGENID,)),
    Case("vmgenid-debian12", NONE, DIFFERS, (VMGENID,), kernel="debian12"),
    Case("vmclock-both", BOTH, DIFFERS, (VMCLOCK,)),
    Case("vmclock-rdrand", RDRAND, DIFFERS, (VMCLOCK,)),
    Case("vmclock-unmixed", BOTH, DIFFERS, (VMCLOCK,), keys=NO_MIXING),
    Case("vmclock-no-fallback", BOTH, DIFFERS, (VMCLOCK,), keys={"fallback": "no"}),
    Case("vmclock-none", NONE, DIFFERS, (VMCLOCK,)),
    Case("vmclock-vmgenid-none", NONE, DIFFERS, (VMCLOCK, VMGENID)),
    Case("vmclock-vmgenid-masked", MASK, DIFFERS, (VMCLOCK, VMGENID)),
    Case("clone-of-clone-rdrand", RDRAND, DIFFERS, generations=2),
    Case("clone-of-clone-none", NONE, DIFFERS, generations=2),
    Case("clone-of-clone-vmclock", BOTH, DIFFERS, (VMCLOCK,), generations=2),
    Case("in-request-both", BOTH, DIFFERS, arguments=LARGE),
    Case("in-request-none", NONE, DIFFERS, arguments=LARGE),
    Case("in-request-vmclock", BOTH, DIFFERS, (VMCLOCK,), arguments=LARGE),
    Case("in-request-vmclock-unmixed", BOTH, DIFFERS, (VMCLOCK,), keys=NO_MIXING, arguments=LARGE),
    Case("threads-rdrand", RDRAND, DIFFERS, arguments=("threads=64",)),
    Case("threads-none", NONE, DIFFERS, arguments=("threads=64",)),
    Case("workers-rdrand", RDRAND, DIFFERS, arguments=("processes=8", "threads=2")),
    Case("workers-none", NONE, DIFFERS, arguments=("processes=8", "threads=2")),
    Case("workers-vmclock", BOTH, DIFFERS, (VMCLOCK,), arguments=("processes=8", "threads=2")),
    Case("workers-vmclock-unmixed", BOTH, DIFFERS, (VMCLOCK,), keys=NO_MIXING, arguments=SERVER),
    Case("aarch64-rndr", RNDR, DIFFERS, kernel="arm64"),
    Case("aarch64-none", ARM_NONE, DIFFERS, kernel="arm64"),
    Case("aarch64-vmgenid-none", ARM_NONE, DIFFERS, (VMGENID,), kernel="arm64"),
    Case("aarch64-vmclock-rndr", RNDR, DIFFERS, (VMCLOCK,), kernel="arm64"),
    Case("aarch64-vmclock-unmixed", RNDR, DIFFERS, (VMCLOCK,), keys=NO_MIXING, kernel="arm64"),
    Case("aarch64-vmclock-vmgenid-none", ARM_NONE, DIFFERS, (VMCLOCK, VMGENID), kernel="arm64"),
]
