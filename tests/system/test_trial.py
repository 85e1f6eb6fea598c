# SPDX-License-Identifier: Apache-2.0
"""drng-enable on --try: it is switched off again unless somebody confirms it, whatever happens in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.booted import Machine, booted, thorough
from tests.support.builds import ROOT
from tests.support.image import Image
from tests.support.servers import wait_for

CONF, OWN = "/etc/ssl/openssl.cnf", "/etc/ssl/drng/system.cnf"
END = "drng-trial"
TIMER = [f"/run/systemd/transient/{END}.service", f"/run/systemd/transient/{END}.timer"]
TRIED = ["/run/drng", "/run/drng/system.cnf", *TIMER]
SYSTEM = ("on", "--system", "--profile", "strict")
LONG = ("--try", "9m")
SERVER = """\
[Unit]
DefaultDependencies=no
[Service]
Type=exec
{more}
ExecStart=/usr/bin/python3 -I -c 'import ssl, time; ssl.RAND_bytes(8); time.sleep(1000)'
"""


@pytest.fixture(scope="module")
def booted_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("booted")) as machine:
        yield machine


def refused(machine: Machine, *words: str) -> str:
    before = machine.read(CONF)
    error = machine.enable(*words, status=1)["error"]
    assert machine.read(CONF) == before
    return error


def is_on(machine: Machine) -> bool:
    """By what a program that starts now loads."""
    return "\n  drng\n" in machine.run("openssl", "list", "-providers").stdout


def state(machine: Machine, unit: str) -> str:
    return machine.run("systemctl", "is-active", unit, check=False).stdout.strip()


def below_run(machine: Machine) -> list[str]:
    """What a trial has there: all of it."""
    said = machine.run("sh", "-c", "find /run/drng /run/systemd/*/ -path '*drng*'", check=False)
    return sorted(said.stdout.split())


@pytest.fixture
def machine(booted_machine: Machine) -> Iterator[Machine]:
    """As it was installed, and as it was again."""
    before = booted_machine.read(CONF)
    booted_machine.unit("t.service", SERVER.format(more=""))
    yield booted_machine
    booted_machine.run("rm", "-f", "/usr/sbin/systemd-run")
    booted_machine.run("drng-enable", "off", "--all", check=False)
    booted_machine.write(CONF, before)
    booted_machine.run("rm", "-f", OWN)
    booted_machine.run("systemctl", "stop", "t")
    assert below_run(booted_machine) == []


def test_it_ends_by_itself(machine: Machine) -> None:
    stock = machine.read(CONF)
    assert machine.enable(*SYSTEM, "--try", "3s")["until"]
    assert is_on(machine)
    wait_for(lambda: below_run(machine) == [], "the trial to end")
    assert not is_on(machine) and machine.read(CONF) == stock
    assert state(machine, f"{END}.timer") == "inactive"
    assert "nothing is on trial" in refused(machine, "confirm")


def test_confirmed_it_stays(machine: Machine) -> None:
    machine.enable(*SYSTEM, *LONG)
    assert below_run(machine) == TRIED and state(machine, f"{END}.timer") == "active"
    assert any("on trial until" in said for said in machine.enable()["targets"][0]["said"])
    assert machine.enable("confirm")["changed"]
    assert is_on(machine) and below_run(machine) == [] and state(machine, f"{END}.timer") == "inactive"
    assert "on already, and not on trial" in refused(machine, *SYSTEM, *LONG)


@pytest.mark.parametrize("user", ["", "User=nobody"], ids=["root", "user"])
def test_a_service_is_tried_and_confirmed(machine: Machine, user: str) -> None:
    machine.unit("t.service", SERVER.format(more=user))
    machine.run("systemctl", "start", "t")
    (found,) = machine.enable("on", "t", *LONG, "--restart")["targets"]
    assert {process["served_by"] for process in found["processes"]} == {"drng"}
    assert found["file"].startswith("/run/")
    assert machine.run("sh", "-c", "ls -d /etc/systemd/system/t.service.d /etc/ssl/drng/t.*", check=False).stdout == ""
    assert "drng-enable confirm" in refused(machine, "on", "t")
    machine.enable("confirm")
    machine.run("systemctl", "restart", "t")
    found = next(entry for entry in machine.enable()["targets"] if entry["name"] == "t")
    assert found["on"] and found["served"] and found["file"].startswith("/etc/")
    machine.enable("off", "t", "--restart")


def test_a_second_trial_begins_it_anew_with_both(machine: Machine) -> None:
    machine.enable(*SYSTEM, *LONG)
    machine.enable("on", "t", "--try", "3s")
    wait_for(lambda: below_run(machine) == [], "both to end")
    assert not is_on(machine)


def test_what_an_earlier_trial_has_restarted_the_next_one_restarts_again(machine: Machine) -> None:
    machine.enable("on", "t", *LONG, "--restart")
    machine.enable(*SYSTEM, *LONG)
    end = machine.run("systemctl", "show", "--property=ExecStart", f"{END}.service").stdout
    assert "--restart" in end.split()


def test_a_unit_that_has_gone_meanwhile_keeps_none_of_the_others_on(machine: Machine) -> None:
    machine.unit("t.gone.service", SERVER.format(more=""))
    machine.enable("on", "t", "t.gone", "--try", "4s")
    machine.enable("off", "t.gone")
    machine.run("sh", "-c", "rm /etc/systemd/system/t.gone.service; systemctl daemon-reload")
    wait_for(lambda: below_run(machine) == [], "the trial to end")


def test_off_ends_it_and_what_an_administrator_has_written_meanwhile_stays(machine: Machine) -> None:
    stock = machine.read(CONF)
    machine.enable(*SYSTEM, *LONG)
    machine.write(CONF, "# above\n" + machine.read(CONF) + "# below\n[mine]\nkey = value\n")
    machine.enable("off", "--system")
    assert machine.read(CONF) == f"# above\n{stock}# below\n[mine]\nkey = value\n"
    assert below_run(machine) == []


def test_what_cannot_be_switched_off_is_tried_again_but_not_without_the_package(machine: Machine) -> None:
    """The service of a trial that could not be ended waits for its next try; what it would run is going."""
    machine.enable(*SYSTEM, "--try", "3s")
    machine.write(OWN, "# mine\n")
    wait_for(lambda: state(machine, f"{END}.service") == "activating", "another try")
    machine.run("sh", f"{ROOT}/debian/drng-tools.prerm", "remove")
    assert below_run(machine) == [] and not is_on(machine)
    assert state(machine, f"{END}.service") != "activating"


def test_a_restart_of_the_machine_ends_it_with_no_unit_at_all(machine: Machine, tmp_path: Path) -> None:
    """A machine that boots with what the first one had on its disk; in 1.0.0 that hung for five minutes."""
    machine.run("systemctl", "start", "t")
    machine.enable("on", "t", *LONG, "--restart")
    machine.enable(*SYSTEM, *LONG)
    for name, path in (("conf", CONF), ("own", OWN), ("unit", "/etc/systemd/system/t.service")):
        (tmp_path / name).write_text(machine.read(path))
    before = f"""
        cp {tmp_path}/conf .{CONF}
        cp {tmp_path}/own .{OWN}
        cp {tmp_path}/unit etc/systemd/system/t.service
        printf '[Unit]\\nWants=t.service\\n' >etc/systemd/system/nothing.target
    """
    (tmp_path / "again").mkdir()
    with booted(tmp_path / "again", before) as again:
        assert state(again, "t") == "active"
        assert not is_on(again) and below_run(again) == []
        (system,) = again.enable()["targets"]
        assert not system["on"] and any("a restart has ended the trial" in said for said in system["said"])
        again.enable("off", "--system")
        assert OWN not in again.read(CONF)


def test_without_a_timer_nothing_is_changed(machine: Machine) -> None:
    machine.write("/usr/sbin/systemd-run", "#!/bin/sh\nexit 1\n")
    machine.run("chmod", "755", "/usr/sbin/systemd-run")
    assert "no timer can be started" in refused(machine, *SYSTEM, *LONG)
    assert not is_on(machine) and below_run(machine) == []


@thorough
def test_what_cannot_be_switched_on_is_not_on_trial(machine: Machine) -> None:
    machine.write(OWN, "# mine\n")
    refused(machine, *SYSTEM, *LONG)
    assert below_run(machine) == []
    machine.run("rm", OWN)
    machine.enable(*SYSTEM, *LONG, "--dry-run")
    assert not is_on(machine) and below_run(machine) == []


def test_without_systemd_it_says_that_it_cannot(image: Image) -> None:
    said = image.refused(*SYSTEM, "--try", "10m")
    assert "--try needs a systemd that runs" in said and "nothing has been changed" in said
    assert "nothing is on trial" in image.refused("confirm")
