# SPDX-License-Identifier: Apache-2.0
"""The udev rule among the examples: each of its fields, and what it says of a service with a /dev of its own."""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.booted import Machine, booted
from tests.support.builds import CONF, ROOT

RULES = CONF / "udev" / "60-drng-vmclock.rules"
DEVICE = "/dev/vmclock0"

# Of udev(7), as far as a rule for a device's rights needs them.
OPERATORS = {"SUBSYSTEM": "==", "KERNEL": "==", "MODE": "="}
FIELD = re.compile(r'([A-Z]+)(==|=)"([^"\\]*)"')


class RuleError(Exception):
    """udev would not do what is meant."""


def rules_of(text: str) -> list[dict[str, str]]:
    """Each rule's values by their keys, of a file without lines that go on in the next."""
    rules = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        fields = [FIELD.fullmatch(part) for part in line.split(", ")]
        if not all(field and OPERATORS.get(field[1]) == field[2] for field in fields):
            raise RuleError(line)
        rule = {field[1]: field[3] for field in fields if field}
        if len(rule) < len(fields) or rule.keys() != OPERATORS.keys():
            raise RuleError(line)
        rules.append(rule)
    return rules


def check(text: str) -> None:
    """One rule; it is of vmclock's devices alone, lets everybody read them, and lets nobody write."""
    rules = rules_of(text)
    if len(rules) != 1:
        raise RuleError("one rule is wanted")
    rule = rules[0]
    if rule["SUBSYSTEM"] != "misc":
        raise RuleError("the driver's device is a misc device")
    for name, wanted in (("vmclock0", True), ("vmclock12", True), ("vmci", False), ("null", False), ("kvm", False)):
        if fnmatch.fnmatchcase(name, rule["KERNEL"]) != wanted:
            raise RuleError(f"{name}: wrong")
    if not re.fullmatch("0[0-7]{3}", rule["MODE"]) or int(rule["MODE"], 8) != 0o444:
        raise RuleError("everybody reads and nobody writes")


def test_the_rule_is_right() -> None:
    check(RULES.read_text())
    assert re.fullmatch(r"\d\d-[a-z-]+\.rules", RULES.name), "udev goes by the names"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('MODE="0444"', 'MODE="0666"'),
        ('MODE="0444"', 'MODE="0440"'),
        ('MODE="0444"', 'MODE=="0444"'),
        ('MODE="0444"', 'MOD="0444"'),
        ('MODE="0444"', "MODE=0444"),
        (', MODE="0444"', ""),
        (', MODE="0444"', ' MODE="0444"'),
        ('KERNEL=="vmclock*"', 'KERNEL="vmclock*"'),
        ('KERNEL=="vmclock*"', 'KERNEL=="*"'),
        ('KERNEL=="vmclock*"', 'KERNEL=="vmclock"'),
        ('KERNEL=="vmclock*", ', ""),
        ('SUBSYSTEM=="misc"', 'SUBSYSTEM=="ptp"'),
        ('SUBSYSTEM=="misc", ', 'SUBSYSTEM=="misc", SUBSYSTEM=="misc", '),
        ("\nSUBSYSTEM", "\n# SUBSYSTEM"),
    ],
)
def test_a_rule_that_is_wrong_is_found(old: str, new: str) -> None:
    text = RULES.read_text()
    assert text.count(old) == 1
    with pytest.raises(RuleError):
        check(text.replace(old, new))


def test_udev_itself_takes_it() -> None:
    """systemd 254 and later can say so."""
    udevadm = shutil.which("udevadm")
    if udevadm is None or " verify" not in subprocess.run([udevadm, "--help"], capture_output=True, text=True).stdout:
        pytest.skip("this udev has no udevadm verify, or there is none")
    result = subprocess.run([udevadm, "verify", str(RULES)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


# ---- What it says ----


def commented(pattern: str) -> list[str]:
    """Indented lines of its comments."""
    return re.findall(rf"^#     ({pattern})$", RULES.read_text(), flags=re.M)


def test_it_is_installed_where_udev_looks_and_the_page_on_clones_says_the_same() -> None:
    (install,) = commented("install .*")
    assert install == f"install -D -m 644 {RULES.name} /etc/udev/rules.d/{RULES.name}"
    page = (ROOT / "docs" / "clones.md").read_text()
    assert f"/usr/share/doc/drng/examples/udev/{RULES.name}" in page
    settings = commented(r"[A-Z][A-Za-z]+=.*")
    assert len(settings) == 2
    for line in (*settings, *commented("udevadm .*")):
        assert line in page, line


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
    settings = commented(r"[A-Z][A-Za-z]+=.*")
    assert not sees_the_device(machine, "PrivateDevices=yes", *settings), "there is no device yet"
    result = machine.run("systemctl", "show", "-p", "ExecMainStatus", "t")
    assert result.stdout.strip() == "ExecMainStatus=1", "the service was started all the same"
    machine.run("mknod", "-m", "600", DEVICE, "c", "1", "5")
    assert not sees_the_device(machine)
    machine.run("chmod", rules_of(RULES.read_text())[0]["MODE"], DEVICE)
    assert sees_the_device(machine)
    assert not sees_the_device(machine, "PrivateDevices=yes")
    assert sees_the_device(machine, "PrivateDevices=yes", *settings)
