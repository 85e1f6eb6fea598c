# SPDX-License-Identifier: Apache-2.0
"""What was skipped, by what would unlock it: the end of pytest's summary, and scripts/test.sh --list-skips."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

# The first pattern that is found in a reason says what to do; a reason that has none here stands for itself.
UNLOCKED_BY = (
    (r"test-fleet\.sh", "scripts/ci/test-fleet.sh, on a machine where systemd runs"),
    (r"DRNG_MATRIX", "scripts/ci/test-matrix.sh, or DRNG_MATRIX=1: chroots with other versions of OpenSSL"),
    (r"DRNG_PACKAGE_CHROOT", "DRNG_PACKAGE_CHROOT=1: chroots in which packages are installed"),
    (r"cross\.sh", "scripts/ci/cross.sh, which takes Debian's packages for other architectures"),
    (r"guests\.sh", "scripts/ci/guests.sh, which takes QEMU, kernels and CRIU from Debian 13"),
    (r"hosts\.sh|npm|pip cannot|node is not|no venv", "scripts/ci/hosts.sh, which takes npm and PyPI"),
    (r"musl\.sh", "scripts/ci/musl.sh"),
    (
        r"OpenSSL (before )?(3\.5|4\.1)|has random_provider|fips\.so",
        "another OpenSSL: scripts/ci/test-matrix.sh",
    ),
    (
        r"sanitizers|tools' own|valgrind|under QEMU|QEMU passes on|emulat|arithmetic that the CPU",
        "nothing: another build runs it",
    ),
    (r"is not installed|are not installed|could not fetch|scripts/test\.sh installs", "packages that could not be had"),
    (r"root|namespace|become another user|CAP_", "root, in namespaces and with mounts: a privileged container"),
    (r"systemd|udev", "a machine where systemd runs, or does not"),
    (
        r"this CPU|an instruction|AES|AVX|RDRAND off|for x86",
        "another CPU",
    ),
    (r"this kernel|vmclock|no single steps|CRIU does not", "another kernel"),
)


def unlocked_by(reason: str) -> str:
    return next((what for pattern, what in UNLOCKED_BY if re.search(pattern, reason)), reason)


def grouped(reasons: Iterable[str]) -> list[str]:
    """A line for each thing that would unlock some, those that unlock most first."""
    counts = Counter(unlocked_by(reason.removeprefix("Skipped: ").removeprefix("skipped: ")) for reason in reasons)
    return [f"{count:4}  {what}" for what, count in counts.most_common()]
