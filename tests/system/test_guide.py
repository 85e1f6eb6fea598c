"""The commands of docs/servers.md, typed as they stand on a copy of this machine that is thrown away afterwards.

The copy is an overlay in namespaces of its own, in which systemd does not run: `systemctl` does nothing there.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT
from tests.support.servers import PAGE

GUIDE = ROOT / "docs" / "servers.md"
NOT_HERE = 77
SECONDS = 120

# Takes an empty directory, and the script from its standard input.
COPY = f"""
mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" "$1/root" &&
    mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root" &&
    mount -t proc proc "$1/root/proc" && mount --rbind /dev "$1/root/dev" &&
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


def commands(section: str) -> list[str]:
    """What stands indented under a heading, with continued lines in one."""
    _, _, rest = GUIDE.read_text().partition(f"\n## {section}\n")
    text = rest.partition("\n## ")[0]
    found = re.findall(r"^    ((?:.*\\\n)*.*)$", text, flags=re.MULTILINE)
    assert found, section
    return found


def as_typed(command: str) -> str:
    """One without a module is to fail. Services have no names here, where systemd does not run."""
    command = command.replace("drng-status --service nginx", 'drng-status --pid "$(cat /run/nginx.pid)"')
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


CERTIFICATE = [line for line in commands("nginx") if line.startswith("openssl req")]


def test_nginx_there_and_back(tmp_path: Path) -> None:
    said = type_in(commands("nginx") + commands("See that it works") + commands("Go back"), tmp_path)
    assert "nginx.service: strict is on" in said
    assert PAGE in said
    assert re.search(r"^process +\d+ nginx\nuses +drng$", said, flags=re.MULTILINE)
    assert re.search(r"^public +CTR-DRBG of provider drng$", said, flags=re.MULTILINE)
    assert "test failed" in said
    assert "nginx.service: drng is off" in said


def test_apache(tmp_path: Path) -> None:
    said = type_in(CERTIFICATE + commands("Apache"), tmp_path)
    assert "apache2.service: strict is on" in said
    assert "</html>" in said


def test_haproxy(tmp_path: Path) -> None:
    said = type_in(CERTIFICATE + commands("HAProxy"), tmp_path)
    assert "haproxy.service: strict is on" in said
    assert PAGE in said
