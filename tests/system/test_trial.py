"""drng-enable on --system --try: it is switched off again unless somebody confirms it, whatever happens in between."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.drng import files, terminal
from scripts.drng.enable import arguments, trial
from tests.support.booted import Machine, booted, thorough
from tests.support.builds import ROOT
from tests.support.image import Image
from tests.support.servers import wait_for

CONF = "/etc/ssl/openssl.cnf"
RECORD = "/etc/systemd/system/drng-enable-trial.service"
LINK = "/etc/systemd/system/sysinit.target.wants/drng-enable-trial.service"
LONG = "9m"


@pytest.fixture(scope="module")
def booted_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("booted")) as machine:
        yield machine


def enable(machine: Machine, *arguments: str) -> str:
    return machine.run("drng-enable", *arguments).stdout


def refused(machine: Machine, *arguments: str) -> str:
    before = machine.read(CONF)
    result = machine.run("drng-enable", *arguments, check=False)
    assert result.returncode == 1, result.stdout
    assert machine.read(CONF) == before
    return result.stderr


def is_on(machine: Machine) -> bool:
    return "# >>> drng-enable" in machine.read(CONF)


def timers(machine: Machine) -> list[str]:
    said = machine.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "drng-enable-trial-*.timer").stdout
    return re.findall(r"drng-enable-trial-\w+\.timer", said)


def exists(machine: Machine, path: str) -> bool:
    return machine.run("test", "-L", path, check=False).returncode == 0 or (
        machine.run("test", "-e", path, check=False).returncode == 0
    )


def assert_nothing_is_left(machine: Machine) -> None:
    assert timers(machine) == []
    assert not exists(machine, RECORD) and not exists(machine, LINK)
    assert not exists(machine, str(Path(LINK).parent))


def assert_on_trial(machine: Machine) -> None:
    assert is_on(machine)
    assert len(timers(machine)) == 1
    assert exists(machine, RECORD) and exists(machine, LINK)


@pytest.fixture
def machine(booted_machine: Machine) -> Iterator[Machine]:
    """As it was installed, and as it was again."""
    before = booted_machine.read(CONF)
    yield booted_machine
    if booted_machine.read(CONF) != before or exists(booted_machine, RECORD):
        booted_machine.run("drng-enable", "off", "--system")
        booted_machine.write(CONF, before)
    assert_nothing_is_left(booted_machine)


def test_it_ends_by_itself(machine: Machine) -> None:
    stock = machine.read(CONF)
    said = enable(machine, "on", "--system", "--try", "2s")
    assert "strict is on" in said
    assert re.search(
        r"drng is on trial, and is switched off at \d\d:\d\d:\d\d unless you say: drng-enable confirm", said
    )
    wait_for(lambda: not is_on(machine), "the trial to end")
    wait_for(lambda: not timers(machine), "the timer to be gone")
    assert machine.read(CONF) == stock
    assert_nothing_is_left(machine)
    assert "nothing is on trial" in refused(machine, "confirm")


@thorough
def test_status_says_that_it_is_a_trial(machine: Machine) -> None:
    enable(machine, "on", "--system", "--try", LONG)
    assert_on_trial(machine)
    assert "drng is on trial, and is switched off at" in enable(machine, "status", "--system")


def test_confirmed_it_stays(machine: Machine) -> None:
    enable(machine, "on", "--system", "--try", LONG)
    assert "the trial is confirmed, and drng stays on" in enable(machine, "confirm")
    assert is_on(machine)
    assert_nothing_is_left(machine)
    assert "nothing is on trial" in enable(machine, "end-trial")
    assert is_on(machine)
    assert "drng is on already, and not on trial" in refused(machine, "on", "--system", "--try", LONG)


@thorough
def test_a_second_trial_takes_the_place_of_the_first(machine: Machine) -> None:
    enable(machine, "on", "--system", "--try", LONG)
    (first,) = timers(machine)
    enable(machine, "on", "--system", "--try", "8m", "--profile", "permissive")
    (second,) = timers(machine)
    assert first != second
    assert "# >>> drng-enable: permissive" in machine.read(CONF)
    assert f"Timer={second.removesuffix('.timer')}\n" in machine.read(RECORD)
    assert_on_trial(machine)


def test_the_timer_of_an_earlier_trial_ends_no_later_one(machine: Machine) -> None:
    """It may wait for the lock while the second one begins."""
    enable(machine, "on", "--system", "--try", LONG)
    assert "drng is on trial" in enable(machine, "end-trial")
    assert_on_trial(machine)


def test_plain_on_does_not_confirm(machine: Machine) -> None:
    enable(machine, "on", "--system", "--try", LONG)
    assert "drng-enable confirm" in refused(machine, "on", "--system")
    assert_on_trial(machine)


def test_a_trial_whose_lines_have_gone_does_not_end_what_is_switched_on_later(machine: Machine) -> None:
    stock = machine.read(CONF)
    enable(machine, "on", "--system", "--try", LONG)
    machine.write(CONF, stock)
    assert "on trial" not in enable(machine, "on", "--system")
    assert_nothing_is_left(machine)
    assert is_on(machine)
    enable(machine, "off", "--system")


def test_off_ends_it(machine: Machine) -> None:
    stock = machine.read(CONF)
    enable(machine, "on", "--system", "--try", LONG)
    enable(machine, "off", "--system")
    assert machine.read(CONF) == stock
    assert_nothing_is_left(machine)


def overdue(machine: Machine) -> None:
    """As if its time were over, without the wait."""
    machine.run("sed", "-i", "s/^Until=.*/Until=0/", RECORD)


def test_what_an_administrator_has_written_meanwhile_stays(machine: Machine) -> None:
    stock = machine.read(CONF)
    enable(machine, "on", "--system", "--try", LONG)
    machine.write(CONF, "# above\n" + machine.read(CONF) + "# below\n[mine]\nkey = value\n")
    overdue(machine)
    enable(machine, "end-trial")
    assert machine.read(CONF) == f"# above\n{stock}# below\n[mine]\nkey = value\n"
    assert_nothing_is_left(machine)


@thorough
def test_an_administrator_who_has_put_the_file_back_is_left_alone(machine: Machine) -> None:
    stock = machine.read(CONF)
    enable(machine, "on", "--system", "--try", LONG)
    machine.write(CONF, stock + "# mine\n")
    assert "drng is off, so there is nothing to confirm" in refused(machine, "confirm")
    assert_nothing_is_left(machine)
    enable(machine, "on", "--system", "--try", LONG)
    machine.write(CONF, stock + "# mine\n")
    overdue(machine)
    enable(machine, "end-trial")
    assert machine.read(CONF) == stock + "# mine\n"
    assert_nothing_is_left(machine)


@thorough
def test_lines_that_cannot_be_told_apart_are_left_and_the_trial_goes_on(machine: Machine) -> None:
    """What it could not do, systemd tries again."""
    stock = machine.read(CONF)
    enable(machine, "on", "--system", "--try", LONG)
    spoilt = machine.read(CONF).replace("# <<< drng-enable", "# gone")
    machine.write(CONF, spoilt)
    overdue(machine)
    assert "out of order" in refused(machine, "end-trial")
    assert exists(machine, RECORD) and len(timers(machine)) == 1
    machine.write(CONF, stock)


def test_what_tries_again_does_not_outlive_the_package(machine: Machine) -> None:
    """The service of a trial that could not be ended waits for its next try; what it would run is going."""

    def services() -> list[str]:
        said = machine.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "drng-enable-trial-*.service")
        return re.findall(r"drng-enable-trial-\w{8}\.service +\w+ +\w+ +([a-z-]+)", said.stdout)

    stock = machine.read(CONF)
    enable(machine, "on", "--system", "--try", "2s")
    switched_on = machine.read(CONF)
    machine.write(CONF, switched_on.replace("# <<< drng-enable", "# gone"))
    wait_for(lambda: services() == ["auto-restart"], "the service that ends the trial to wait for another try")
    machine.write(CONF, switched_on)
    machine.run("sh", f"{ROOT}/debian/drng-tools.prerm", "remove")
    assert services() == [] and timers(machine) == []
    assert machine.read(CONF) == stock


def test_a_restart_of_the_machine_ends_it(machine: Machine, tmp_path: Path) -> None:
    """A machine that boots with what the first one had on its disk."""
    stock = machine.read(CONF)
    enable(machine, "on", "--system", "--try", LONG)
    (tmp_path / "conf").write_text(machine.read(CONF))
    # The machines share a kernel, and with it the number of the boot.
    (tmp_path / "record").write_text(re.sub(r"^Boot=.*$", "Boot=earlier", machine.read(RECORD), flags=re.M))
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
        assert_nothing_is_left(again)


def test_without_a_timer_nothing_is_changed(machine: Machine) -> None:
    machine.run("mv", "/usr/bin/systemd-run", "/usr/bin/systemd-run.real")
    try:
        assert "systemd-run is not installed" in refused(machine, "on", "--system", "--try", LONG)
        machine.write("/usr/bin/systemd-run", "#!/bin/sh\nexit 0\n")
        machine.run("chmod", "+x", "/usr/bin/systemd-run")
        assert "no timer can be started" in refused(machine, "on", "--system", "--try", LONG)
    finally:
        machine.run("mv", "/usr/bin/systemd-run.real", "/usr/bin/systemd-run")
    assert not is_on(machine)
    assert_nothing_is_left(machine)


@thorough
def test_what_cannot_be_switched_on_is_not_on_trial(machine: Machine) -> None:
    machine.run("ln", "-s", "/nowhere", f"{CONF}.before-drng")
    assert "which drng-enable did not make" in refused(machine, "on", "--system", "--try", LONG)
    assert_nothing_is_left(machine)
    machine.run("rm", f"{CONF}.before-drng")
    machine.write(CONF, "garbage")
    refused(machine, "on", "--system", "--try", LONG)
    assert_nothing_is_left(machine)


@thorough
def test_a_dry_run_starts_nothing(machine: Machine) -> None:
    assert "+openssl_conf" in enable(machine, "on", "--system", "--try", LONG, "--dry-run")
    assert not is_on(machine)
    assert_nothing_is_left(machine)


@thorough
def test_systemd_finds_nothing_wrong_with_the_record(machine: Machine) -> None:
    enable(machine, "on", "--system", "--try", LONG)
    result = machine.run("systemd-analyze", "verify", RECORD, check=False)
    assert (result.returncode, [line for line in result.stderr.splitlines() if "trial" in line]) == (0, [])


# ---- Where no systemd runs ----


def test_without_systemd_it_says_that_it_cannot(image: Image) -> None:
    said = image.refused("on", "--system", "--try", "10m")
    assert "--try needs a systemd that runs" in said and "nothing has been changed" in said
    assert "nothing is on trial" in image.refused("confirm")


def test_an_image_is_not_tried(image: Image) -> None:
    image.offline = True
    assert "--try needs a systemd that runs" in image.refused("on", "--system", "--try", "10m")


def put_foreign(kind: str, path: Path) -> None:
    path.parent.mkdir(parents=True)
    if kind == "file":
        path.write_text("mine")
    elif kind == "link":
        path.symlink_to("/etc/systemd/system/mine.service")
    else:
        path.mkdir()


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_a_foreign_file_is_not_taken_for_the_link_and_not_removed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / LINK[1:]
    put_foreign(kind, path)
    system = files.Tree(str(tmp_path))
    before = path.lstat().st_ino
    with pytest.raises(terminal.Failure, match="is not the link that drng-enable makes"):
        trial._link(system)
    trial.forget(system)
    assert path.lstat().st_ino == before


def test_its_own_link_is_made_once_and_taken_away(tmp_path: Path) -> None:
    system = files.Tree(str(tmp_path))
    (tmp_path / RECORD[1:]).parent.mkdir(parents=True)
    for _ in range(2):
        trial._link(system)
        assert os.readlink(tmp_path / LINK[1:]) == RECORD
    trial.forget(system)
    assert not (tmp_path / LINK[1:]).parent.exists()


def test_a_trial_is_not_forgotten_while_its_file_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    under_way = trial.Trial("/etc/openssl.cnf", "b", 1.0, "drng-enable-trial-01234567")
    monkeypatch.setattr(trial.Trial, "find", classmethod(lambda *_: under_way))
    monkeypatch.setattr(trial, "end", lambda *arguments: ended.append(arguments))
    with pytest.raises(terminal.Failure, match=r"/etc/openssl\.cnf is not there, .* the trial goes on; put"):
        trial.confirm(files.Tree(str(tmp_path)))
    assert not ended
    # There, and without drng: it is over.
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/openssl.cnf").touch()
    with pytest.raises(terminal.Failure, match="drng is off"):
        trial.confirm(files.Tree(str(tmp_path)))
    assert ended


@pytest.mark.parametrize(
    "words",
    [
        *(("on", "--system", "--try", time) for time in ("", "0m", "10", "m", "1d", "-1m", "1.5h", "9999999s", "999h")),
        ("off", "--system", "--try", "1m"),
        ("status", "--system", "--try", "1m"),
        ("on", "--service", "nginx", "--try", "1m"),
        ("confirm", "--service", "nginx"),
        ("confirm", "--dry-run"),
        ("confirm", "--root", "/x"),
        ("end-trial", "--service", "nginx"),
        ("on",),
        ("off",),
        ("status",),
    ],
    ids=" ".join,
)
def test_arguments_that_do_not_go_together(words: tuple[str, ...]) -> None:
    with pytest.raises(terminal.Failure):
        arguments.parse([*words])
