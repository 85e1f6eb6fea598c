# SPDX-License-Identifier: Apache-2.0
"""The commands of a document, typed as they stand on a copy of this machine that is thrown away afterwards.

The copy is an overlay in namespaces of its own, in which systemd does not run: `systemctl` does nothing there.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT

NOT_HERE = 77
SECONDS = 120

# Takes an empty directory, and the script from its standard input.
COPY = f"""
mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" "$1/root" &&
    mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root" &&
    mount -t proc proc "$1/root/proc" && mount --bind /proc/cpuinfo "$1/root/proc/cpuinfo" &&
    mount --rbind /dev "$1/root/dev" &&
    mkdir -p "$1/root{ROOT}" && mount --bind "{ROOT}" "$1/root{ROOT}" || exit {NOT_HERE}
exec chroot "$1/root" /bin/sh -eux
"""

# The loopback interface is brought up without iproute2, which need not be there.
PREPARE = f"""
cd /
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec 2>&1
cmake --install {BUILD}/release --prefix /usr >/dev/null
printf '#!/bin/sh\\n' >/usr/local/sbin/systemctl
chmod +x /usr/local/sbin/systemctl
/usr/bin/python3 -c '
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 1))
'
"""


def section(document: Path, heading: str) -> str:
    """What stands between a heading of the second level and the next."""
    _, found, rest = document.read_text().partition(f"\n## {heading}\n")
    assert found, f"{document.name}: no heading {heading}"
    return rest.partition("\n## ")[0]


def commands(document: Path, heading: str) -> list[str]:
    """What stands indented under a heading, with continued lines in one. What is fenced is no command."""
    unfenced = re.sub(r"^```.*?^```$", "", section(document, heading), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^    ((?:.*\\\n)*.*)$", unfenced, flags=re.MULTILINE)
    assert found, heading
    return found


# Where Debian's services write the number of their first process.
PID_FILES = {"nginx": "/run/nginx.pid", "apache2": "/run/apache2/apache2.pid", "haproxy": "/run/haproxy.pid"}


def as_typed(command: str) -> str:
    """One without a module is to fail. Where systemd does not run, services have no names, and none is restarted:
    a test may have a systemctl of its own."""
    for service, file in PID_FILES.items():
        command = re.sub(rf"drng-status {service}\b", f'drng-status --pid "$(cat {file})"', command)
    if found := re.fullmatch(r"drng-enable (?:on|off) (\w+)\b.* --restart", command):
        command += f"\nsystemctl restart {found[1]}"
    return f"if {command}; then exit 1; fi" if "/nowhere" in command else command


def type_in(lines: list[str], directory: Path) -> str:
    script = PREPARE + "\n".join(as_typed(line) for line in lines) + "\necho all typed\n"
    result = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", COPY, "sh", str(directory)],
        input=script,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if result.returncode == NOT_HERE or result.stderr.startswith("unshare: "):
        pytest.skip(f"no copy of the machine can be made here: {result.stderr}")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith("\nall typed\n")
    return result.stdout
