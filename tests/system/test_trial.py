# SPDX-License-Identifier: Apache-2.0
"""drng-enable on --try: it is switched off again unless somebody confirms it, whatever happens in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.booted import Machine, booted, thorough
from tests.support.builds import ROOT
from tests.support.image import Image
from tests.support.servers import wait_for

CONF = "/etc/ssl/openssl.cnf"
RECORD = "/etc/systemd/system/drng-enable-trial.service"
LINK = "/etc/systemd/system/sysinit.target.wants/drng-enable-trial.service"
END = "drng-enable-trial-end"
SYSTEM = ("on", "--system", "--profile", "strict")
LONG = ("--try", "9m")


@pytest.fixture(scope="module")
def booted_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("booted")) as machine:
        yield machine


def enable(machine: Machine, *words: str, status: int = 0) -> dict[str, Any]:
    result = machine.run("drng-enable", *words, "--json", check=False)
    assert result.returncode == status, result.stdout + result.stderr
    return json.loads(result.stdout)


def refused(machine: Machine, *words: str) -> str:
    before = machine.read(CONF)
    error = enable(machine, *words, status=1)["error"]
    assert machine.read(CONF) == before
    return error


def is_on(machine: Machine) -> bool:
    return "# >>> drng-enable" in machine.read(CONF)


def state(machine: Machine, unit: str) -> str:
    return machine.run("systemctl", "is-active", unit, check=False).stdout.strip()


def is_left(machine: Machine) -> list[str]:
    """Of a trial: its timer, its record, and the link that has systemd read that."""
    found = [path for path in (RECORD, LINK) if machine.run("sh", "-c", f"ls -d {path}", check=False).returncode == 0]
    return found + [END] * (state(machine, f"{END}.timer") == "active")


@pytest.fixture
def machine(booted_machine: Machine) -> Iterator[Machine]:
    """As it was installed, and as it was again."""
    before = booted_machine.read(CONF)
    yield booted_machine
    booted_machine.run("drng-enable", "off", "--all", check=False)
    booted_machine.write(CONF, before)
    assert is_left(booted_machine) == []


def test_it_ends_by_itself(machine: Machine) -> None:
    stock = machine.read(CONF)
    assert enable(machine, *SYSTEM, "--try", "3s")["until"]
    assert is_on(machine)
    wait_for(lambda: not is_on(machine), "the trial to end")
    wait_for(lambda: is_left(machine) == [], "the timer to be gone")
    assert machine.read(CONF) == stock
    assert "nothing is on trial" in refused(machine, "confirm")


def test_confirmed_it_stays(machine: Machine) -> None:
    enable(machine, *SYSTEM, *LONG)
    assert is_left(machine) == [RECORD, LINK, END]
    assert any("on trial until" in said for said in enable(machine)["targets"][0]["said"])
    assert enable(machine, "confirm")["changed"]
    assert is_on(machine) and is_left(machine) == []
    assert "on already, and not on trial" in refused(machine, *SYSTEM, *LONG)


def test_a_service_may_be_tried_and_other_units_do_not_end_it(machine: Machine) -> None:
    """systemd may start what belongs to sysinit.target with any of them."""
    machine.unit("t.service", "[Service]\nType=exec\nExecStart=/bin/sleep 1000\n")
    machine.unit("sysinit.target", "[Unit]\nDescription=one\n")
    machine.run("systemctl", "start", "sysinit.target", "t")
    enable(machine, "on", "t", *LONG)
    machine.run("systemctl", "restart", "t")
    machine.run("systemctl", "start", "drng-enable-trial.service")
    assert is_left(machine) == [RECORD, LINK, END]
    assert machine.run("systemctl", "show", "--value", "-p", "Environment", "t").stdout.strip()
    enable(machine, "off", "t")
    machine.run("systemctl", "stop", "t")


@thorough
def test_a_second_trial_takes_the_place_of_the_first(machine: Machine) -> None:
    enable(machine, *SYSTEM, "--try", "4s")
    enable(machine, "on", "--system", *LONG, "--profile", "permissive")
    machine.run("sleep", "5")
    assert "# >>> drng-enable: permissive" in machine.read(CONF)
    assert is_left(machine) == [RECORD, LINK, END]
    assert "on trial" in refused(machine, "on", "t", *LONG)


def test_plain_on_does_not_confirm(machine: Machine) -> None:
    enable(machine, *SYSTEM, *LONG)
    assert "drng-enable confirm" in refused(machine, *SYSTEM)
    assert is_left(machine) == [RECORD, LINK, END]


def test_a_trial_whose_lines_have_gone_does_not_end_what_is_switched_on_later(machine: Machine) -> None:
    stock = machine.read(CONF)
    enable(machine, *SYSTEM, *LONG)
    machine.write(CONF, stock)
    enable(machine, *SYSTEM)
    assert is_left(machine) == [] and is_on(machine)


def test_off_ends_it_and_what_an_administrator_has_written_meanwhile_stays(machine: Machine) -> None:
    stock = machine.read(CONF)
    enable(machine, *SYSTEM, *LONG)
    machine.write(CONF, "# above\n" + machine.read(CONF) + "# below\n[mine]\nkey = value\n")
    enable(machine, "off", "--system")
    assert machine.read(CONF) == f"# above\n{stock}# below\n[mine]\nkey = value\n"
    assert is_left(machine) == []


def test_what_cannot_be_switched_off_is_tried_again_but_not_without_the_package(machine: Machine) -> None:
    """The service of a trial that could not be ended waits for its next try; what it would run is going."""
    stock = machine.read(CONF)
    enable(machine, *SYSTEM, "--try", "3s")
    switched_on = machine.read(CONF)
    machine.write(CONF, switched_on.replace("# <<< drng-enable", "# gone"))
    wait_for(lambda: state(machine, f"{END}.service") == "activating", "another try")
    machine.write(CONF, switched_on)
    machine.run("sh", f"{ROOT}/debian/drng-tools.prerm", "remove")
    assert is_left(machine) == [] and state(machine, f"{END}.service") == "inactive"
    assert machine.read(CONF) == stock


def test_a_restart_of_the_machine_ends_it(machine: Machine, tmp_path: Path) -> None:
    """A machine that boots with what the first one had on its disk."""
    stock = machine.read(CONF)
    enable(machine, *SYSTEM, *LONG)
    (tmp_path / "conf").write_text(machine.read(CONF))
    (tmp_path / "record").write_text(machine.read(RECORD))
    before = f"""
        cp {tmp_path}/conf .{CONF}
        mkdir -p etc/systemd/system/sysinit.target.wants
        cp {tmp_path}/record .{RECORD}
        ln -s {machine.run("readlink", LINK).stdout.strip()} .{LINK}
        rm -rf usr/lib/systemd/system/sysinit.target.wants
        printf '[Unit]\\nRequires=sysinit.target\\nAfter=sysinit.target\\n' >etc/systemd/system/nothing.target
    """
    (tmp_path / "again").mkdir()
    with booted(tmp_path / "again", before) as again:
        # systemd is running, so all that comes before the services is done.
        assert again.read(CONF) == stock
        assert is_left(again) == []


def test_without_a_timer_nothing_is_changed(machine: Machine) -> None:
    machine.run("mv", "/usr/bin/systemd-run", "/usr/bin/systemd-run.real")
    try:
        assert "systemd-run is not installed" in refused(machine, *SYSTEM, *LONG)
        machine.write("/usr/bin/systemd-run", "#!/bin/sh\nexit 0\n")
        machine.run("chmod", "+x", "/usr/bin/systemd-run")
        assert "no timer can be started" in refused(machine, *SYSTEM, *LONG)
    finally:
        machine.run("mv", "/usr/bin/systemd-run.real", "/usr/bin/systemd-run")
    assert not is_on(machine) and is_left(machine) == []


@thorough
def test_what_cannot_be_switched_on_is_not_on_trial(machine: Machine) -> None:
    machine.run("ln", "-s", "/nowhere", f"{CONF}.before-drng")
    refused(machine, *SYSTEM, *LONG)
    assert is_left(machine) == []
    machine.run("rm", f"{CONF}.before-drng")
    enable(machine, *SYSTEM, *LONG, "--dry-run")
    assert not is_on(machine) and is_left(machine) == []


@thorough
def test_systemd_finds_nothing_wrong_with_the_record(machine: Machine) -> None:
    enable(machine, *SYSTEM, *LONG)
    result = machine.run("systemd-analyze", "verify", RECORD, check=False)
    assert (result.returncode, [line for line in result.stderr.splitlines() if "trial" in line]) == (0, [])


def test_without_systemd_it_says_that_it_cannot(image: Image) -> None:
    said = image.refused(*SYSTEM, "--try", "10m")
    assert "--try needs a systemd that runs" in said and "nothing has been changed" in said
    assert "nothing is on trial" in image.refused("confirm")
