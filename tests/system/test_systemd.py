"""drng-enable where systemd runs: what is on is in effect by systemd's own word, and a strict service does not start
without drng, whatever keeps its file from it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.booted import Machine, booted
from tests.support.builds import ROOT

OWN = "/etc/ssl/drng/service/t.cnf"
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


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("booted")) as machine:
        yield machine


@pytest.fixture
def service(machine: Machine) -> Iterator[Machine]:
    machine.unit("t.service", UNIT.format(more=""))
    yield machine
    machine.run("sh", "-c", "rm -rf /etc/systemd/system/t* /etc/systemd/system/service.d /etc/ssl/drng/service")
    machine.run("systemctl", "daemon-reload")


def starts(machine: Machine) -> bool:
    machine.run("systemctl", "reset-failed", "t", check=False)
    return machine.run("systemctl", "start", "t", check=False).returncode == 0


def on(machine: Machine, *options: str) -> None:
    said = machine.run("drng-enable", "on", "--service", "t", *options).stdout
    assert "is on, by" in said
    assert "now: systemctl restart t" in said


def test_on_is_in_effect_and_off_again(service: Machine) -> None:
    on(service)
    shown = service.run("systemctl", "show", "-p", "Environment", "t").stdout
    assert shown.strip() == f"Environment=OPENSSL_CONF={OWN}"
    assert starts(service)
    assert service.run("drng-enable", "status", "--service", "t").returncode == 0
    assert "on already" in service.run("drng-enable", "on", "--service", "t").stdout
    service.run("drng-enable", "off", "--service", "t")
    assert service.run("systemctl", "show", "-p", "Environment", "t").stdout.strip() == "Environment="
    assert starts(service)


def test_off_is_repeated_until_systemd_has_read_it(service: Machine) -> None:
    """Before that, a service that has been started would not start again: its file has gone, and the check has not."""
    service.unit("t.service", UNIT.format(more="RemainAfterExit=yes"))
    on(service)
    assert starts(service)
    fails = '#!/bin/sh\n[ "$1" != daemon-reload ] || { echo timed out >&2; exit 1; }\nexec /usr/bin/systemctl "$@"\n'
    service.write("/usr/sbin/systemctl", fails)
    service.run("chmod", "755", "/usr/sbin/systemctl")
    failed = service.run("drng-enable", "off", "--service", "t", check=False)
    service.run("rm", "/usr/sbin/systemctl")
    assert failed.returncode == 1
    assert "timed out: t.service may not start" in failed.stderr
    assert service.run("systemctl", "restart", "t", check=False).returncode != 0
    assert "off already" in service.run("drng-enable", "off", "--service", "t").stdout
    assert starts(service)
    service.run("systemctl", "stop", "t")


HIDDEN = {
    "missing": f"rm {OWN}",
    "unreadable": f"chmod 600 {OWN}",
    "directory unreadable": "chmod 700 /etc/ssl/drng/service",
    "does not parse": f"sed -i '1i this is no openssl.cnf' {OWN}",
    "system's file does not parse": "cp /etc/ssl/openssl.cnf /root/kept && echo garbage >>/etc/ssl/openssl.cnf",
    "mistyped elsewhere": f"sed -i s/^properties/propertes/ {OWN}",
    "a directory": f"rm {OWN} && mkdir {OWN}",
    "empty": f": >{OWN}",
}


@pytest.mark.parametrize("how", HIDDEN)
def test_strict_does_not_start_without_its_file(service: Machine, how: str) -> None:
    on(service)
    assert starts(service)
    service.run("sh", "-c", HIDDEN[how])
    try:
        assert not starts(service)
        assert service.run("systemctl", "show", "-p", "Result", "t").stdout.strip() == "Result=exit-code"
        # The failing twin: without the check before the start it would draw, from OpenSSL's own generator.
        service.run("sh", "-c", f"sed -i '/^ExecStartPre=/,$d' {DROP_IN}; systemctl daemon-reload")
        assert starts(service) == (how != "mistyped elsewhere"), "config_diagnostics tells openssl, and openssl alone"
    finally:
        service.run("sh", "-c", "[ ! -e /root/kept ] || mv /root/kept /etc/ssl/openssl.cnf")


@pytest.mark.parametrize(
    "more",
    [
        "DynamicUser=yes",
        "ProtectSystem=strict\nPrivateTmp=yes\nNoNewPrivileges=yes\nMemoryDenyWriteExecute=yes\nProtectHome=yes",
        "SystemCallFilter=@system-service\nRestrictAddressFamilies=AF_UNIX",
        "ReadOnlyPaths=/\nLimitNOFILE=64",
        "InaccessiblePaths=/etc/ssl/drng",
    ],
)
def test_the_check_runs_as_the_service_does(service: Machine, more: str) -> None:
    """In its sandbox: it starts where drng can serve it there, and only there."""
    service.unit("t.service", UNIT.format(more=more))
    assert starts(service), "as it would without us"
    on(service)
    assert starts(service) == ("Inaccessible" not in more)


def test_permissive_starts_without_its_file(service: Machine) -> None:
    on(service, "--profile", "permissive")
    service.run("rm", OWN)
    assert starts(service)


OVERRULED = {
    "type": ("service.d/zz.conf", "Environment=OPENSSL_CONF=/etc/mine.cnf"),
    "reset by a later one": ("t.service.d/zz.conf", "Environment="),
    "check taken away": ("t.service.d/zz.conf", "ExecStartPre="),
    "unset": ("t.service.d/a.conf", "UnsetEnvironment=OPENSSL_CONF"),
    "environment file": ("t.service.d/a.conf", "EnvironmentFile=/etc/default/t"),
}


@pytest.mark.parametrize("how", OVERRULED)
def test_what_would_overrule_it_is_found_and_nothing_is_written(service: Machine, how: str) -> None:
    file, line = OVERRULED[how]
    service.write("/etc/default/t", "OPENSSL_CONF=/etc/mine.cnf\n")
    service.unit(file, f"[Service]\n{line}\n")
    result = service.run("drng-enable", "on", "--service", "t", check=False)
    assert result.returncode == 1
    assert "nothing has been changed" in result.stderr
    assert service.run("test", "-e", OWN, check=False).returncode == 1
    assert service.run("test", "-e", DROP_IN, check=False).returncode == 1
    # What comes later is told by status.
    service.run("rm", f"/etc/systemd/system/{file}")
    on(service)
    service.unit(file, f"[Service]\n{line}\n")
    result = service.run("drng-enable", "status", "--service", "t", check=False)
    assert result.returncode == 1
    assert "not in effect" in result.stdout


def test_by_systemd_s_own_word(service: Machine) -> None:
    """A set-property, or whatever else the rules that we know do not see: here systemd is asked under another name."""
    service.write(
        "/usr/local/sbin/fake",
        '#!/bin/sh\ncase $1 in show) exec systemctl "$@" | sed s,^Environment=.*,Environment=OPENSSL_CONF=/other, ;;\n'
        '*) exec systemctl "$@" ;; esac\n',
    )
    service.run(
        "sh",
        "-c",
        "mv /usr/bin/systemctl /usr/bin/systemctl.real; sed s,systemctl,/usr/bin/systemctl.real, "
        "/usr/local/sbin/fake >/usr/bin/systemctl; chmod +x /usr/bin/systemctl",
    )
    try:
        result = service.run("drng-enable", "on", "--service", "t", check=False)
    finally:
        service.run("mv", "/usr/bin/systemctl.real", "/usr/bin/systemctl")
    assert result.returncode == 1
    assert "OPENSSL_CONF would be /other" in result.stderr
    assert "nothing has been changed" in result.stderr
    assert service.run("sh", "-c", f"ls -d {OWN} {DROP_IN} /etc/systemd/system/t.service.d", check=False).stdout == ""
    assert service.run("systemctl", "show", "-p", "Environment", "t").stdout.strip() == "Environment="


# Names that prefixes and templates share, in every directory, and some of the same name.
RULES = """
import itertools, os, subprocess
from scripts.drng.enable.units import DIRECTORIES, Unit
from scripts.drng.files import Tree
stems = ["a-b-c@x", "a-b-c@", "a-b-@x", "a-b-@", "a-@x", "a-@", "a-b-", "a-", "a-b-c", "a", ""]
directories = [d for d in DIRECTORIES if not d.startswith("/lib/")]
for number, (directory, stem) in enumerate(itertools.product(directories, stems)):
    folder = f"{directory}/{stem}.service.d" if stem else f"{directory}/service.d"
    os.makedirs(folder, exist_ok=True)
    for name in (f"{number:03}.conf", "same.conf", f"of-{stem}.conf", "zz-" + directory.replace("/", "-") + ".conf"):
        with open(f"{folder}/{name}", "w") as file:
            file.write("[Unit]\\n")
with open("/etc/systemd/system/a-b-c@.service", "w") as file:
    file.write("[Service]\\nExecStart=/bin/true\\n")
subprocess.run(["systemctl", "daemon-reload"], check=True)
ours = "/etc/systemd/system/a-b-c@x.service.d/zzz-drng.conf"
open(ours, "w").close()
subprocess.run(["systemctl", "daemon-reload"], check=True)
show = ["systemctl", "show", "-p", "DropInPaths", "--value", "a-b-c@x.service"]
said = subprocess.run(show, capture_output=True, text=True)
found = Unit(Tree("/"), "a-b-c@x").drop_ins(ours)
for wanted, got in itertools.zip_longest(said.stdout.split(), found):
    if wanted != got:
        print(wanted, got)
print(len(found))
for directory, stem in itertools.product(directories, stems):
    subprocess.run(["rm", "-rf", f"{directory}/{stem}.service.d" if stem else f"{directory}/service.d"])
"""


def test_the_rules_are_systemd_s(machine: Machine) -> None:
    """The order of drop-ins that an image is judged by, beside the one that systemd says."""
    said = machine.run("/usr/bin/env", f"PYTHONPATH={ROOT}", "/usr/bin/python3", "-c", RULES).stdout
    assert said.strip().isdigit(), said
    assert int(said) > 100
