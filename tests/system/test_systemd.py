# SPDX-License-Identifier: Apache-2.0
"""drng-enable where systemd runs: what is on is in effect by systemd's own word, a strict service does not start
without drng, and --restart proves who serves, or puts all back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.booted import Machine, booted

OWN = "/etc/ssl/drng/t.cnf"
DROP_IN = "/etc/systemd/system/t.service.d/drng.conf"

# Its start is over when it has drawn, as an ordinary user.
UNIT = """\
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
User=nobody
ExecStart=/usr/bin/openssl rand -hex 16
{more}
"""

# It draws, and stays; PROGRAM may be another than python3, which has libcrypto by its hashlib.
SERVER = """\
[Unit]
DefaultDependencies=no
[Service]
Type=exec
ExecStart={program} -I -c 'import hashlib, ssl, time; ssl.RAND_bytes(8); time.sleep(3600)'
{more}
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("booted")) as machine:
        yield machine


@pytest.fixture
def service(machine: Machine) -> Iterator[Machine]:
    machine.unit("t.service", UNIT.format(more=""))
    yield machine
    machine.run("drng-enable", "off", "--all", check=False)
    machine.run("systemctl", "stop", "t.service", check=False)
    machine.run("sh", "-c", f"rm -rf /etc/systemd/system/t.* /etc/systemd/system/service.d {OWN}")
    machine.run("systemctl", "daemon-reload")


def server(machine: Machine, more: str = "", program: str = "/usr/bin/python3") -> Machine:
    machine.unit("t.service", SERVER.format(more=more, program=program))
    return machine


def starts(machine: Machine) -> bool:
    machine.run("systemctl", "reset-failed", "t", check=False)
    return machine.run("systemctl", "start", "t", check=False).returncode == 0


def answer(machine: Machine, *words: str, status: int = 0) -> dict[str, Any]:
    result = machine.run("drng-enable", *words, "--json", check=False)
    assert result.returncode == status, result.stdout + result.stderr
    return json.loads(result.stdout)


def show(machine: Machine, name: str) -> str:
    return machine.run("systemctl", "show", "--value", "-p", name, "t").stdout.strip()


def nothing_is_left(machine: Machine) -> None:
    assert machine.run("sh", "-c", f"ls -d {OWN} {DROP_IN} /etc/systemd/system/t.service.d", check=False).stdout == ""
    assert show(machine, "Environment") == ""


def test_on_is_in_effect_and_off_again(service: Machine) -> None:
    assert answer(service, "on", "t")["changed"]
    assert show(service, "Environment") == f"OPENSSL_CONF={OWN}"
    assert starts(service)
    assert not answer(service, "on", "t")["changed"]
    answer(service, "off", "t")
    nothing_is_left(service)
    assert starts(service)


def test_off_is_repeated_until_systemd_has_read_it(service: Machine) -> None:
    """Before that, a service that has been started would not start again: its file has gone, and the check has not."""
    service.unit("t.service", UNIT.format(more="RemainAfterExit=yes"))
    answer(service, "on", "t")
    fails = '#!/bin/sh\n[ "$1" != daemon-reload ] || { echo timed out >&2; exit 1; }\nexec /usr/bin/systemctl "$@"\n'
    service.write("/usr/sbin/systemctl", fails)
    service.run("chmod", "755", "/usr/sbin/systemctl")
    assert "timed out" in answer(service, "off", "t", status=1)["error"]
    service.run("rm", "/usr/sbin/systemctl")
    answer(service, "off", "t")
    assert starts(service)
    nothing_is_left(service)


HIDDEN = {
    "missing": f"rm {OWN}",
    "unreadable": f"chmod 600 {OWN}",
    "directory unreadable": "chmod 700 /etc/ssl/drng",
    "does not parse": f"sed -i '1i this is no openssl.cnf' {OWN}",
    "system's file does not parse": "cp /etc/ssl/openssl.cnf /root/kept && echo garbage >>/etc/ssl/openssl.cnf",
    "mistyped elsewhere": f"sed -i s/^properties/propertes/ {OWN}",
    "a directory": f"rm {OWN} && mkdir {OWN}",
    "empty": f": >{OWN}",
    "no module": "mv $(openssl version -m | cut -d'\"' -f2)/drng.so /root/drng.so",
}


@pytest.mark.parametrize("how", HIDDEN)
def test_strict_does_not_start_without_its_file(service: Machine, how: str) -> None:
    answer(service, "on", "t")
    assert starts(service)
    service.run("sh", "-c", HIDDEN[how])
    try:
        assert not starts(service)
        assert show(service, "Result") == "exec-condition" or show(service, "Result") == "exit-code"
        assert show(service, "ActiveState") == "failed", "and is not passed over"
        # The failing twin: without the check before the start it would draw, from OpenSSL's own generator.
        service.run("sh", "-c", f"sed -i '/^ExecCondition=/,$d' {DROP_IN}; systemctl daemon-reload")
        # config_diagnostics tells openssl, and openssl alone; and without its module a strict profile gives nothing.
        assert starts(service) == (how not in ("mistyped elsewhere", "no module"))
    finally:
        service.run("sh", "-c", "[ ! -e /root/kept ] || mv /root/kept /etc/ssl/openssl.cnf; chmod 755 /etc/ssl/drng")
        service.run("sh", "-c", "[ ! -e /root/drng.so ] || mv /root/drng.so $(openssl version -m | cut -d'\"' -f2)")
        service.run("sh", "-c", f"rm -rf {OWN} {DROP_IN}")


@pytest.mark.parametrize(
    "more",
    [
        "DynamicUser=yes",
        "ProtectSystem=strict\nPrivateTmp=yes\nNoNewPrivileges=yes\nMemoryDenyWriteExecute=yes\nProtectHome=yes",
        "SystemCallFilter=@system-service\nRestrictAddressFamilies=AF_UNIX",
        "ReadOnlyPaths=/\nLimitNOFILE=64",
        "NoExecPaths=/\nExecPaths=/usr/bin/openssl /usr/lib /lib /lib64",
    ],
)
def test_the_check_runs_in_any_sandbox(service: Machine, more: str) -> None:
    """Where nothing but the service itself may be executed, too."""
    service.unit("t.service", UNIT.format(more=more))
    assert starts(service), "as it would without us"
    answer(service, "on", "t")
    assert starts(service)


def test_permissive_starts_without_its_file(service: Machine) -> None:
    answer(service, "on", "t", "--profile", "permissive")
    service.run("rm", OWN)
    assert starts(service)


OVERRULED = {
    "type": ("service.d/zz.conf", "Environment=OPENSSL_CONF=/etc/mine.cnf"),
    "reset by a later one": ("t.service.d/zz.conf", "Environment="),
    "check taken away": ("t.service.d/zz.conf", "ExecCondition="),
    "unset": ("t.service.d/a.conf", "UnsetEnvironment=OPENSSL_CONF"),
    "another variable": ("t.service.d/a.conf", "Environment=OPENSSL_MODULES=/tmp"),
    "environment file": ("t.service.d/a.conf", "EnvironmentFile=/etc/default/t"),
    "environment files": ("t.service.d/a.conf", "EnvironmentFile=-%E/def*/%p"),
}


@pytest.mark.parametrize("how", OVERRULED)
def test_what_would_overrule_it_is_found_and_all_is_put_back(service: Machine, how: str) -> None:
    file, line = OVERRULED[how]
    service.write("/etc/default/t", "A=b\nOPENSSL_CONF=/etc/mine.cnf\n")
    service.unit(file, f"[Service]\n{line}\n")
    assert "nothing has been changed" in answer(service, "on", "t", status=1)["error"]
    assert service.run("sh", "-c", f"ls {OWN} {DROP_IN}", check=False).stdout == ""
    # What comes later is told by status.
    service.run("rm", f"/etc/systemd/system/{file}")
    answer(service, "on", "t")
    service.unit(file, f"[Service]\n{line}\n")
    (found,) = [entry for entry in answer(service, status=3)["targets"] if entry["name"] == "t"]
    assert found["served"] is False and "not in effect" in found["said"][0]


def test_units_that_are_not_there_masked_or_templates(service: Machine) -> None:
    service.run("ln", "-s", "/dev/null", "/etc/systemd/system/t.masked.service")
    service.unit("t.template@.service", UNIT.format(more=""))
    for name, said in (
        ("ngnix", "there is no unit ngnix.service"),
        ("t.masked", "t.masked.service is masked"),
        ("t.template@", "name an instance of it"),
    ):
        assert said in answer(service, "on", name, status=1)["error"]
    assert "there is no unit" in answer(service, "off", "ngnix", status=1)["error"]
    answer(service, "on", "t.template@a")
    answer(service, "off", "t.template@a")


def test_an_alias_is_the_unit_that_it_leads_to(service: Machine) -> None:
    """A drop-in of the alias's own would hold under no other name."""
    service.run("ln", "-s", "t.service", "/etc/systemd/system/t.other.service")
    service.run("systemctl", "daemon-reload")
    (found,) = answer(service, "on", "t.other")["targets"]
    assert found["name"] == "t"
    assert show(service, "Environment") == f"OPENSSL_CONF={OWN}"


def test_a_unit_whose_user_may_not_read_the_module_is_refused(service: Machine) -> None:
    """For root, who asks, drng would serve; the service would have no random numbers."""
    module = service.run("sh", "-c", "echo $(openssl version -m | cut -d'\"' -f2)/drng.so").stdout.strip()
    service.run("chmod", "700", module)
    try:
        said = answer(service, "on", "t", status=1)["error"]
        assert "for user nobody, as whom t.service runs, drng would not serve" in said
        nothing_is_left(service)
    finally:
        service.run("chmod", "755", module)


# ---- The proof ----


def test_restart_says_who_serves(service: Machine) -> None:
    server(service)
    assert starts(service)
    done = answer(service, "on", "t", "--restart")
    (target,) = done["targets"]
    assert done["changed"] and {process["served_by"] for process in target["processes"]} <= {"drng", "fallback"}
    (found,) = [entry for entry in answer(service)["targets"] if entry["name"] == "t"]
    assert found["served"] and "1 of 1" in found["said"][0]
    answer(service, "on", "--system", "--profile", "strict")
    done = answer(service, "off", "--all", "--restart")
    said = [line for target in done["targets"] for line in target["said"] if "restarted" in line]
    assert len(said) == 1, "by its own name, and not for the system once more"
    assert not [line for target in done["targets"] for line in target["said"] if "drng-enable on" in line]
    nothing_is_left(service)
    assert show(service, "ActiveState") == "active"


def test_without_a_restart_the_command_that_proves_it_is_said(service: Machine) -> None:
    server(service)
    assert starts(service)
    said = service.run("drng-enable", "on", "t").stdout
    assert said.splitlines()[-1].endswith("drng-enable on t --restart")
    (found,) = [entry for entry in answer(service, status=3)["targets"] if entry["name"] == "t"]
    assert {process["reason"] for process in found["processes"]} == {"started-before"}
    assert answer(service, "on", "t", "--restart")["targets"][0]["processes"]


def test_a_process_that_ignores_the_variable_is_told_with_its_cure(service: Machine) -> None:
    """As squid's workers: the kernel has told libcrypto not to trust the environment."""
    service.run(
        "sh",
        "-c",
        "cp /usr/bin/python3 /usr/bin/t-secure && chgrp nogroup /usr/bin/t-secure && chmod g+s /usr/bin/t-secure",
    )
    server(service, "User=nobody\nGroup=daemon", "/usr/bin/t-secure")
    done = answer(service, "on", "t", "--restart", status=3)
    (process,) = done["targets"][0]["processes"]
    assert (process["served_by"], process["reason"]) == ("OpenSSL", "at-secure")
    assert "drng-enable on --system" in process["cure"]
    assert any("AT_SECURE" in said for said in done["targets"][0]["said"])
    done = answer(service, "off", "t")
    answer(service, "on", "--system", "--profile", "strict", "--restart")
    service.run("systemctl", "restart", "t")
    status = service.run("drng-status", "--check", "--service", "t", check=False)
    assert status.returncode == 0, status.stdout


def test_a_process_whose_start_script_drops_the_variable_is_told(service: Machine) -> None:
    server(service, program="/usr/bin/env -u OPENSSL_CONF /usr/bin/python3")
    done = answer(service, "on", "t", "--restart", status=3)
    assert [process["reason"] for process in done["targets"][0]["processes"]] == ["no-variable"]


def test_a_service_that_does_not_come_up_is_put_back_and_runs(service: Machine) -> None:
    """With its own reason; journald does not run here."""
    refuses = "ExecStartPre=/bin/sh -c 'test -z \"$OPENSSL_CONF\" || { echo no such luck; exit 7; }'"
    server(service, refuses)
    assert starts(service)
    error = answer(service, "on", "t", "--restart", status=1)["error"]
    assert "t.service does not come up" in error and "all is put back" in error
    nothing_is_left(service)
    assert show(service, "ActiveState") == "active"


def test_off_says_that_the_system_still_serves(service: Machine) -> None:
    answer(service, "on", "--system", "--profile", "strict")
    answer(service, "on", "t")
    (found,) = answer(service, "off", "t")["targets"]
    assert any("drng still serves t, by /etc/ssl/openssl.cnf" in said for said in found["said"])
