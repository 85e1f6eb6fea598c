"""What can be said of one process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .. import VERSION, systemd

# What it uses.
USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, UNKNOWN = "drng", "libcrypto without drng", "no libcrypto", "unknown"
SUPERVISES = "libcrypto without drng, its children use drng"

# Why it should be restarted.
REPLACED, OLDER, CONFIGURATION, REBOOT = "replaced", "older", "configuration", "reboot"
RESTART = {
    REPLACED: "the drng.so that it has loaded has been replaced or removed: restart it",
    OLDER: f"it has loaded an older drng than {VERSION}: restart it",
    CONFIGURATION: "its openssl.cnf names drng, but did not when it started: restart it",
    REBOOT: "it gets the drng, or the openssl.cnf, that is there now when the machine is started again",
}


@dataclass
class Process:
    """One process; `counters` are there where it uses drng, `message` where there is more to say."""

    pid: int
    name: str
    uses: str
    message: str = ""
    hidden: bool = False  # nothing can be told, not even whether it uses drng
    missed: bool = False  # it was not looked at, since the time for all of them was over
    counters: dict[str, Any] = field(default_factory=dict)
    parent: int = 0
    program: str = ""  # device and inode of what it executes
    program_name: str = ""  # the last component of its path
    config: str | None = None  # OPENSSL_CONF in its environment, None where that cannot be read
    config_problem: str = ""
    unit: str = systemd.NONE
    owner: str = ""
    ticks: int = 0  # since the machine's start, when it was started; 0 where that is not known
    drng_since: float = 0.0  # when the openssl.cnf that it would read now was changed to load drng, 0 for never
    restart: str = ""  # a key of RESTART
    words_alone: bool = False  # its openssl.cnf names the generator that takes no seed, instructions.WORDS
    no_verdict: bool = False  # its drng cannot know which instructions the kernel has switched off
