# SPDX-License-Identifier: Apache-2.0
"""The udev rule among the examples, and what it says of a service with a /dev of its own."""

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.booted import Machine, booted
from tests.support.builds import CONF, ROOT, said_by

RULES = CONF / "udev" / "60-drng-vmclock.rules"
DEVICE = "/dev/vmclock0"


def test_udev_itself_takes_it() -> None:
    """systemd 254 and later can say so."""
    udevadm = shutil.which("udevadm")
    if udevadm is None or " verify" not in subprocess.run([udevadm, "--help"], capture_output=True, text=True).stdout:
        pytest.skip("this udev has no udevadm verify, or there is none")
    said_by(udevadm, "verify", RULES)


# ---- What it says ----


PAGE = (ROOT / "docs" / "clones.md").read_text()
SETTINGS = re.findall(r"^[A-Z][A-Za-z]+=.*$", PAGE, flags=re.M)


def test_the_page_on_clones_has_it_installed_where_udev_looks() -> None:
    (install,) = re.findall(r"^    (cp .*)$", PAGE, flags=re.M)
    assert install == f"cp /usr/share/doc/drng/examples/udev/{RULES.name} /etc/udev/rules.d/"
    assert len(SETTINGS) == 2


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("booted")) as machine:
        yield machine


def sees_the_device(machine: Machine, *settings: str) -> bool:
    """A service of an ordinary user."""
    lines = ["[Unit]", "DefaultDependencies=no", "[Service]", "Type=oneshot", "User=nobody", *settings]
    machine.unit("t.service", "\n".join([*lines, f"ExecStart=/usr/bin/head -c 1 {DEVICE}", ""]))
    machine.run("systemctl", "reset-failed", "t", check=False)
    return machine.run("systemctl", "start", "t", check=False).returncode == 0


def test_a_service_with_a_dev_of_its_own_sees_it_by_the_two_lines_alone(machine: Machine) -> None:
    """Here /dev/vmclock0 is a device of zeros, and the machine has no control group that could forbid devices."""
    assert not sees_the_device(machine, "PrivateDevices=yes", *SETTINGS), "there is no device yet"
    result = machine.run("systemctl", "show", "-p", "ExecMainStatus", "t")
    assert result.stdout.strip() == "ExecMainStatus=1", "the service was started all the same"
    machine.run("mknod", "-m", "600", DEVICE, "c", "1", "5")
    assert not sees_the_device(machine)
    machine.run("chmod", "0444", DEVICE)
    assert sees_the_device(machine)
    assert not sees_the_device(machine, "PrivateDevices=yes")
    assert sees_the_device(machine, "PrivateDevices=yes", *SETTINGS)
