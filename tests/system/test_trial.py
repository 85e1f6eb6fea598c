# SPDX-License-Identifier: Apache-2.0
"""drng-enable on --try: it is switched off again unless somebody confirms it, whatever happens in between."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.booted import Machine, booted, thorough
from tests.support.builds import ROOT
from tests.support.forking import DIES
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
    assert any("on trial" in said for said in machine.enable()["targets"][0]["said"])
    assert machine.enable("confirm")["changed"]
    assert is_on(machine) and below_run(machine) == [] and state(machine, f"{END}.timer") == "inactive"
    assert "on already, and not on trial" in refused(machine, *SYSTEM, *LONG)


@pytest.mark.parametrize("user", ["", "User=nobody"], ids=["root", "user"])
def test_a_service_is_tried_and_confirmed(machine: Machine, user: str) -> None:
    machine.unit("t.service", SERVER.format(more=user))
    machine.run("systemctl", "start", "t")
    (found,) = machine.enable("on", "t", *LONG, "--restart")["targets"]
    assert {process["served-by"] for process in found["processes"]} == {"drng"}
    assert found["file"].startswith("/run/")
    assert machine.run("sh", "-c", "ls -d /etc/systemd/system/t.service.d /etc/ssl/drng/t.*", check=False).stdout == ""
    assert "drng-enable confirm" in refused(machine, "on", "t")
    machine.enable("confirm")
    machine.run("systemctl", "restart", "t")
    found = next(entry for entry in machine.enable()["targets"] if entry["name"] == "t")
    assert found["on"] and found["served"] and found["file"].startswith("/etc/")
    machine.enable("off", "t", "--restart")


def test_confirm_checks_what_it_writes(machine: Machine) -> None:
    """drng's file was made anew for an openssl.cnf that somebody's edit had broken: its policy was lost once that was
    mended."""
    policy = "openssl_conf = mine\n[mine]\nssl_conf = tls\n[tls]\nsystem_default = all\n[all]\nMinProtocol = TLSv1.3\n"
    machine.write(CONF, policy)
    machine.enable(*SYSTEM, *LONG)
    whole, tried = machine.read(CONF), machine.read("/run/drng/system.cnf")
    machine.write(CONF, f"{whole}[broken\n")
    assert "does not load as it is" in refused(machine, "confirm")
    assert below_run(machine) == TRIED
    machine.write(CONF, whole)
    machine.enable("confirm")
    assert machine.read(OWN) == tried


def test_there_is_one_trial_at_a_time(machine: Machine) -> None:
    machine.enable("on", "t", *LONG)
    assert "t: on trial" in refused(machine, *SYSTEM, *LONG)
    assert "t: on trial" in refused(machine, "on", "t")


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
    machine.enable(*SYSTEM, "t", *LONG, "--restart")
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


# ---- Killed, and a disk that is full ----


def reboots(machine: Machine) -> None:
    """What a restart of the machine takes away."""
    machine.run("systemctl", "stop", f"{END}.timer", f"{END}.service", check=False)
    machine.run("sh", "-c", f"rm -rf /run/drng {' '.join(TIMER)} /run/systemd/system/*/drngz* /run/drng-enable.lock")
    machine.run("systemctl", "daemon-reload")


def times_out(machine: Machine) -> None:
    """What its timer does; if that still waits."""
    machine.run("systemctl", "start", f"{END}.service", check=False)


def is_done_again(machine: Machine) -> None:
    return None


FIRST = {"on": [], "confirm": [["on", "--system", "t", "--profile", "strict", *LONG]]}
FIRST["off"] = FIRST["confirm"]
KILLED = {"on": FIRST["off"][0], "confirm": ["confirm"], "off": ["off", "--system", "t"]}


@pytest.mark.parametrize("then", [reboots, times_out, is_done_again], ids=lambda each: each.__name__)
@pytest.mark.parametrize("verb", KILLED)
@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.nightly("each ninth step"))])
def test_killed_at_any_moment_of_a_trial(
    machine: Machine, verb: str, then: Callable[[Machine], None], stride: int
) -> None:
    """Whatever then comes first, nothing is half done for ever: it is off, or confirmed, and `off` takes that back."""
    stock, drop_in = machine.read(CONF), "/etc/systemd/system/t.service.d/drng.conf"
    machine.write("/srv/dies.py", DIES)
    status, step = -1, 1 + stride // 2
    while status != 0:
        for words in FIRST[verb]:
            machine.enable(*words)
        killed = ["python3", "-I", "/srv/dies.py", str(step), "/usr/sbin/drng-enable", *KILLED[verb]]
        status = machine.run(*killed, check=False).returncode
        assert status in (0, 137, -9)
        if status != 0 and then is is_done_again:
            again = machine.run("drng-enable", *KILLED[verb], check=False)
            assert again.returncode == 0 or "nothing is on trial" in again.stderr or "on trial" in again.stderr
        elif status != 0:
            then(machine)
            assert state(machine, f"{END}.timer") != "active"
            # What is in effect is what is said, and is no trial.
            found = {
                entry["name"]: entry
                for entry in json.loads(machine.run("drng-enable", "--json", check=False).stdout)["targets"]
            }
            assert found["system"]["on"] == is_on(machine)
            assert not any("on trial" in said for entry in found.values() for said in entry["said"])
            assert verb == "confirm" or not found["system"]["on"]
            variable = machine.run("systemctl", "show", "--value", "--property=Environment", "t").stdout.strip()
            assert bool(variable) == (machine.run("test", "-e", drop_in, check=False).returncode == 0)
        machine.enable("off", "--all")
        assert machine.read(CONF) == stock and below_run(machine) == []
        assert machine.run("sh", "-c", f"ls -d {OWN} /etc/ssl/drng/t.cnf {drop_in}", check=False).stdout == ""
        assert machine.run("find", "/etc", "/run", "-name", ".drng-enable-*").stdout == ""
        machine.run("systemctl", "restart", "t")
        step += stride


@pytest.mark.parametrize("folder", ["/run/drng", "/run/systemd/system/t.service.d", "/etc/ssl/drng"])
def test_a_disk_that_is_full_changes_nothing(machine: Machine, folder: str) -> None:
    stock = machine.read(CONF)
    full = f"mkdir -p {folder}; mount -t tmpfs -o size=4k,mode=755 none {folder}; echo >{folder}/full"
    machine.run("sh", "-c", full)
    try:
        words = ["--profile", "strict", *([] if folder.startswith("/etc") else LONG)]
        error = refused(machine, "on", "t", "--system", *words)
        assert f"{folder}/" in error and error.endswith("No space left on device; nothing has been changed")
        assert machine.read(CONF) == stock and not [path for path in below_run(machine) if folder not in path]
        assert not is_on(machine)
    finally:
        machine.run("umount", folder)
        machine.run("sh", "-c", f"rmdir {folder} 2>/dev/null || ls {folder}")
