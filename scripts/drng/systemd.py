# SPDX-License-Identifier: Apache-2.0
"""systemd: its own word, by systemctl, and what its units are called."""

import contextlib
import functools
import glob
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from .terminal import Failure

SYSTEMD = Path("/run/systemd/system")

# For programs that are started: nothing of the caller's environment.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def quoted(text: str) -> str:
    """A credential's text as a unit file has it, in one line. Some versions expand a % there, and others do not."""
    return text.replace("\\", "\\\\").replace("%", "\\x25").replace("\n", "\\n")


def unquoted(line: bytes) -> bytes:
    """What quoted() has made a line of."""
    letters = {b"n": b"\n", b"x25": b"%"}
    return re.sub(rb"\\(x25|.)", lambda found: letters.get(found[1], found[1]), line)


def is_running() -> bool:
    return SYSTEMD.is_dir()


def run(name: str, *arguments: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """A program of the system, from its own directories alone and without a terminal; its result, whatever that is."""
    program = shutil.which(name, path=PATH)
    if program is None:
        raise Failure(f"{name} is not installed")
    try:
        return subprocess.run(
            [program, *arguments],
            env={"PATH": PATH, "LC_ALL": "C.UTF-8"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
            timeout=seconds,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise Failure(f"{name} has not ended in {seconds:g} seconds") from None


def systemctl(*arguments: str, seconds: float = 120) -> str:
    """What it prints."""
    result = run("systemctl", *arguments, seconds=seconds)
    if result.returncode != 0:
        raise Failure(f"systemctl {arguments[0]}: {result.stderr.strip() or result.returncode}")
    return result.stdout


@functools.cache
def version() -> int:
    """Of the systemd that runs; 0 where that is not known."""
    found = re.match(r"Version=(\d+)", run("systemctl", "show", "--property=Version").stdout)
    return int(found[1]) if found else 0


def properties(text: str) -> list[tuple[str, str]]:
    """Of systemctl show; a name may come more than once."""
    return [(key, value) for key, equals, value in (line.partition("=") for line in text.splitlines()) if equals]


def show(unit: str, names: str, seconds: float = 120) -> dict[str, str]:
    return dict(properties(systemctl("show", f"--property={names}", "--", unit, seconds=seconds)))


def words(value: str) -> list[str]:
    """Of a list as systemd prints and reads it."""
    try:
        return shlex.split(value)
    except ValueError:
        return value.split()


# ---- Names of units ----

# Of a process that is in no service and no scope.
NONE = "none"

# Of services and scopes, with what systemd puts in the place of other characters; and what may stand above them, ".."
# where this process is in a group of its own.
NAME = re.compile(rb"(?:[A-Za-z0-9:_.@-]|\\x[0-9a-f]{2}){1,248}\.(?:service|scope)")
ABOVE = re.compile(rb"|\.\.|.*\.slice")

# Of all that a user has begun, by however many sessions and whatever numbers of users he may give away.
USERS_SLICE = re.compile(rb"^\d+:(?:name=systemd)?:/user\.slice/(user-\d+\.slice)/", re.M)

# Names that systemd or a container's manager makes up anew for each connection, session or container. As labels they
# would be without bound.
MADE_UP = (
    (re.compile(r"@\d+-[^@]*(?=\.service$)"), "@*"),
    (re.compile(r"^user@\d+(?=\.service$)"), "user@*"),
    (re.compile(r"^(session|run)-[a-z]*\d+(-i\d+)?(?=\.)"), r"\1-*"),
    (re.compile(r"[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{12,}"), "*"),
)


def of_cgroup(text: bytes) -> str:
    """
    The first service or scope on the way to the process: what is below belongs to whoever manages that unit. What is
    below a group that systemd has not made, a container's perhaps, is no unit of this machine.
    """
    for line in text.splitlines():
        fields = line.split(b":", 2)
        if len(fields) == 3 and fields[1] in (b"", b"name=systemd"):
            below = next((part for part in fields[2].split(b"/") if not ABOVE.fullmatch(part)), b"")
            if NAME.fullmatch(below):
                return below.decode("ascii")
    return NONE


def can_be_restarted(unit: str) -> bool:
    """By its name; a user's own systemd has what that user has started."""
    return unit.endswith(".service") and not re.fullmatch(r"user@\d+\.service", unit)


# Without these nobody can log in, or their restart ends sessions, cuts the network, or stops machines, containers or
# upgrades: our own list, with that of needrestart ($nrconf{override_rc}).
NEXT_START = re.compile(
    r"init\.scope|(systemd-(journald|logind|networkd|udevd)|dbus|elogind|user@|getty@|serial-getty@|display-manager|"
    r"gdm|kdm|nodm|sddm|wdm|xdm|lightdm|slim|lxdm|greetd|xrdp|bird|network|NetworkManager|ModemManager|wpa_supplicant|"
    r"iwd|openvpn|quagga|frr|tinc|(open|free|libre|strong)swan|bluetooth|zfs-fuse|mythtv-backend|xendomains|lxc|incus|"
    r"libvirt|virtlogd|virtlockd|docker|containerd|podman|emergency|rescue|rc-local|apt-daily|unattended-upgrades|"
    r"cron-).*\.service|cron\.service"
)
NEEDRESTART = ("/etc/needrestart/needrestart.conf", *sorted(glob.glob("/etc/needrestart/conf.d/*.conf")))


@functools.cache
def kept_by_needrestart() -> tuple[str, ...]:
    """What else an administrator has told it to leave alone, by the beginnings of names."""
    found = []
    for path in NEEDRESTART:
        with contextlib.suppress(OSError):
            text = Path(path).read_text("utf-8", "replace")
            found += re.findall(r"^[^#\n]*qr?\(\^([\w@-]+)[^\n]*?(?:=>|=)\s*0", text, re.M)
    return tuple(found)


def waits_for_reboot(unit: str) -> bool:
    """Whether its programs get what is new with the machine's next start."""
    return NEXT_START.fullmatch(unit) is not None or unit.startswith(kept_by_needrestart())


def label(unit: str) -> str:
    """The unit's name, and one name for all of those that are made up for the occasion."""
    for pattern, name in MADE_UP:
        unit = pattern.sub(name, unit)
    return unit
