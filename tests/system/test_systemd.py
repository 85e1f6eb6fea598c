# SPDX-License-Identifier: Apache-2.0
"""drng-enable where systemd runs: what is on is in effect by systemd's own word, in every sandbox, nothing of a
service's runs as root, and --restart proves who serves, or puts all back.
"""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.booted import Machine, booted
from tests.support.builds import need
from tests.support.servers import wait_for

SYSTEM = ("on", "--system", "--profile", "strict")
OWN, CREDENTIAL = "/etc/ssl/drng/t.cnf", "/run/credentials/t.service/drng.cnf"
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
    machine.run("sh", "-c", f"rm -rf /etc/systemd/system/t.* /etc/systemd/system/service.d {OWN} /srv; mkdir /srv")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "stop", "t*.service", check=False)


def server(machine: Machine, more: str = "", program: str = "/usr/bin/python3") -> Machine:
    machine.unit("t.service", SERVER.format(more=more, program=program))
    return machine


def starts(machine: Machine) -> bool:
    machine.run("systemctl", "reset-failed", "t", check=False)
    return machine.run("systemctl", "start", "t", check=False).returncode == 0


def show(machine: Machine, name: str) -> str:
    return machine.run("systemctl", "show", "--value", "-p", name, "t").stdout.strip()


def uses_libcrypto(machine: Machine, unit: str = "t") -> bool:
    pid = machine.run("systemctl", "show", "--value", "-p", "MainPID", unit).stdout.strip()
    return "libcrypto" in machine.run("cat", f"/proc/{pid}/maps", check=False).stdout


def nothing_is_left(machine: Machine) -> None:
    assert machine.run("sh", "-c", f"ls -d {OWN} {DROP_IN} /etc/systemd/system/t.service.d", check=False).stdout == ""
    assert show(machine, "Environment") == ""


def test_on_is_in_effect_and_off_again(service: Machine) -> None:
    assert service.enable("on", "t")["changed"]
    assert show(service, "Environment") == f"OPENSSL_CONF={CREDENTIAL}"
    assert starts(service)
    assert not service.enable("on", "t")["changed"]
    service.enable("off", "t")
    nothing_is_left(service)
    assert starts(service)


def test_off_is_repeated_until_systemd_has_read_it(service: Machine) -> None:
    """Before that, a service that has been started would not start again: its file has gone, and the check has not."""
    service.unit("t.service", UNIT.format(more="RemainAfterExit=yes"))
    service.enable("on", "t")
    fails = '#!/bin/sh\n[ "$1" != daemon-reload ] || { echo timed out >&2; exit 1; }\nexec /usr/bin/systemctl "$@"\n'
    service.write("/usr/sbin/systemctl", fails)
    service.run("chmod", "755", "/usr/sbin/systemctl")
    assert "timed out" in service.enable("off", "t", status=1)["error"]
    service.run("rm", "/usr/sbin/systemctl")
    service.enable("off", "t")
    assert starts(service)
    nothing_is_left(service)


# ---- Whoever the service is, and wherever ----

TREE = "mkdir -p /srv/t/{usr,lib,lib64,proc,dev,etc,tmp}"
OWN_ROOT = "RootDirectory=/srv/t\nMountAPIVFS=yes\nBindReadOnlyPaths=/usr /lib /lib64"
SANDBOXES = {
    "root": "",
    "user": "User=nobody",
    "numeric user": "User=65534",
    "dynamic user": "DynamicUser=yes",
    "private users": "User=nobody\nPrivateUsers=yes",
    "no /etc": "User=nobody\nTemporaryFileSystem=/etc",
    "no root": "User=nobody\nTemporaryFileSystem=/\nBindReadOnlyPaths=/usr /lib /lib64",
    "no root, as root": "TemporaryFileSystem=/\nBindReadOnlyPaths=/usr /lib /lib64",
    "root of its own": f"User=nobody\n{OWN_ROOT}",
    "root of its own, as root": OWN_ROOT,
    "inaccessible": "User=nobody\nInaccessiblePaths=/etc/ssl",
    "a shell may not run": "DynamicUser=yes\nNoExecPaths=/\nExecPaths=/usr/bin/python3.11 /usr/lib /lib /lib64",
    "all of it": "User=nobody\nProtectSystem=strict\nPrivateTmp=yes\nNoNewPrivileges=yes\nProtectHome=yes\n"
    "SystemCallFilter=@system-service\nRestrictAddressFamilies=AF_UNIX\nReadOnlyPaths=/",
}


@pytest.mark.parametrize("how", SANDBOXES)
def test_drng_serves_in_any_sandbox(service: Machine, how: str) -> None:
    """In 1.0.0 those with a root of their own were skipped, and looked as if they had been stopped on purpose."""
    service.run("bash", "-c", TREE)
    server(service, SANDBOXES[how])
    assert starts(service), "as it would without us"
    done = service.enable("on", "t", "--restart")
    assert [process["served-by"] for process in done["targets"][0]["processes"]] == ["drng"]
    service.enable("off", "t", "--restart")
    nothing_is_left(service)
    assert show(service, "ActiveState") == "active"


# What a service's own user may write: its environment file, and the root in which it lives.
ATTACKS = {
    "LD_PRELOAD": ("User=nobody\nEnvironmentFile=/srv/.env", "LD_PRELOAD=/srv/evil.so\n"),
    "OPENSSL_CONF": ("User=nobody\nEnvironmentFile=/srv/.env", "USER=root\nLD_PRELOAD=/srv/evil.so\n"),
    "shell": (f"User=nobody\n{OWN_ROOT}\nEnvironmentFile=/srv/.env", "A=b\n"),
}
EVIL = """#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void run(void)
{
    char name[64];
    snprintf(name, sizeof(name), "/srv/ran/%u", (unsigned)geteuid());
    close(open(name, O_CREAT | O_WRONLY, 0644));
}
"""


@pytest.mark.parametrize("how", ATTACKS)
def test_nothing_of_a_service_s_runs_as_root(service: Machine, how: str) -> None:
    """In 1.0.0 root ran a shell before each start, in the environment and in the root of the service."""
    need("gcc")
    more, environment = ATTACKS[how]
    service.run("bash", "-c", f"{TREE}; mkdir -p /srv/ran; chmod 1777 /srv/ran")
    service.write("/srv/evil.c", EVIL)
    service.run("gcc", "-shared", "-fPIC", "-o", "/srv/evil.so", "/srv/evil.c")
    server(service, more)
    service.write("/srv/.env", "A=b\n")
    assert starts(service)
    service.enable("on", "t")
    # And now as its user, before a restart that comes by itself.
    service.write("/srv/.env", environment)
    service.write("/srv/t/bin/sh", "#!/usr/bin/python3\nopen('/tmp/ran', 'w')\n")
    service.run("chmod", "755", "/srv/t/bin/sh")
    service.run("systemctl", "restart", "t", check=False)
    if how != "shell":
        wait_for(lambda: "65534" in service.run("ls", "/srv/ran").stdout.split(), "the control: its user's runs")
    ran = service.run("sh", "-c", "ls /srv/ran /srv/t/tmp").stdout.split()
    assert "0" not in ran and "ran" not in ran


def test_a_service_that_begins_as_root_fails_without_its_file(service: Machine) -> None:
    """And is not passed over: libcrypto would serve by itself."""
    server(service)
    service.enable("on", "t")
    assert starts(service)
    service.run("rm", OWN)
    service.run("systemctl", "stop", "t")
    assert not starts(service)
    assert (show(service, "ActiveState"), show(service, "ExecMainStatus")) == ("failed", "243")
    service.enable("on", "t", "--profile", "permissive")
    service.run("rm", OWN)
    assert starts(service), "the failing twin: permissive has no check"


def test_strict_does_not_start_without_the_module(service: Machine) -> None:
    module = service.run("sh", "-c", "echo $(openssl version -m | cut -d'\"' -f2)/drng.so").stdout.strip()
    service.enable("on", "t")
    service.run("mv", module, "/root/drng.so")
    try:
        assert not starts(service)
        (found,) = [entry for entry in service.enable(status=3)["targets"] if entry["name"] == "t"]
        assert (found["served"], "failed: " in found["said"][0]) == (False, True)
    finally:
        service.run("mv", "/root/drng.so", module)
    assert starts(service)


def test_a_template_has_it_for_all_of_its_instances(service: Machine) -> None:
    """As sockets with Accept=yes start, by names that nobody knows before."""
    service.unit("t.many@.service", SERVER.format(program="/usr/bin/python3", more="User=nobody"))
    (found,) = service.enable("on", "t.many@", "--restart")["targets"]
    assert any("instances that start from now on" in said for said in found["said"])
    service.run("systemctl", "start", "t.many@7-127.0.0.1:9090")
    served = service.run("drng-status", "--check", "t.many@7-127.0.0.1:9090", check=False)
    assert served.returncode == 0, served.stdout
    (found,) = [entry for entry in service.enable()["targets"] if entry["name"] == "t.many@"]
    assert "drng serves 1 of 1" in found["said"][0]


@pytest.mark.parametrize("user", ["", "User=nobody"])
def test_an_instance_of_a_template_that_is_on(service: Machine, user: str) -> None:
    """It may have its own, and when that goes, has the template's again."""
    service.unit("t.many@.service", SERVER.format(program="/usr/bin/python3", more=user))
    service.enable("on", "t.many@")
    service.run("systemctl", "start", "t.many@1")
    (own,) = service.enable("on", "t.many@1", "--profile", "permissive", "--restart")["targets"]
    assert (own["profile"], own["processes"][0]["served-by"]) == ("permissive", "drng")
    service.enable("off", "t.many@1", "--restart")
    assert [entry["name"] for entry in service.enable()["targets"] if entry["on"]] == ["t.many@"]
    service.enable("off", "t.many@")
    (own,) = service.enable("off", "t.many@1")["targets"]
    assert own["said"] == ["off, as before"]


# Says whether a file is opened while the command runs.
WATCH = """
import ctypes, os, select, subprocess, sys
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(os.O_CLOEXEC)
assert libc.inotify_add_watch(watch, sys.argv[1].encode(), 0x20) > 0
status = subprocess.run(sys.argv[2:]).returncode
sys.exit(100 if select.select([watch], [], [], 0)[0] else status)
"""


def test_an_environment_file_is_not_opened(service: Machine) -> None:
    """It may be a FIFO, or lie on a file system of the service's user that never answers. What it sets is seen in the
    process."""
    service.write("/srv/.env", "OPENSSL_CONF=/srv/mine.cnf\n")
    server(service, "EnvironmentFile=/srv/.env")
    assert starts(service)
    watched = ["python3", "-c", WATCH, "/srv/.env"]
    assert service.run(*watched, "cat", "/srv/.env", check=False).returncode == 100, "the control"
    assert service.run(*watched, "drng-enable", "on", "t", check=False).returncode == 0
    (process,) = service.enable("on", "t", "--restart", status=3)["targets"][0]["processes"]
    assert (process["reason"], "OPENSSL_CONF=/srv/mine.cnf" in process["message"]) == ("no-variable", True)


OVERRULED = {
    "type": ("service.d/zz.conf", "Environment=OPENSSL_CONF=/etc/mine.cnf"),
    "reset by a later one": ("t.service.d/zz.conf", "Environment="),
    "unset": ("t.service.d/a.conf", "UnsetEnvironment=OPENSSL_CONF"),
    "another variable": ("t.service.d/a.conf", "Environment=OPENSSL_MODULES=/tmp"),
}


@pytest.mark.parametrize("how", OVERRULED)
def test_what_would_overrule_it_is_found_and_all_is_put_back(service: Machine, how: str) -> None:
    file, line = OVERRULED[how]
    service.unit(file, f"[Service]\n{line}\n")
    assert "nothing has been changed" in service.enable("on", "t", status=1)["error"]
    assert service.run("sh", "-c", f"ls {OWN} {DROP_IN}", check=False).stdout == ""
    # What comes later is told by status.
    service.run("rm", f"/etc/systemd/system/{file}")
    service.enable("on", "t")
    service.unit(file, f"[Service]\n{line}\n")
    (found,) = [entry for entry in service.enable(status=3)["targets"] if entry["name"] == "t"]
    assert found["served"] is False and "not in effect" in found["said"][0]


def test_units_that_are_not_there_masked_or_templates(service: Machine) -> None:
    service.run("ln", "-s", "/dev/null", "/etc/systemd/system/t.masked.service")
    for name, said in (
        ("ngnix", "there is no unit ngnix.service"),
        ("t.masked", "t.masked.service is masked"),
    ):
        assert said in service.enable("on", name, status=1)["error"]
    for verb in ("off", "status"):
        assert "there is no unit" in service.enable(verb, "ngnix", status=1)["error"]


def test_an_alias_is_the_unit_that_it_leads_to(service: Machine) -> None:
    """A drop-in of the alias's own would hold under no other name."""
    service.run("ln", "-s", "t.service", "/etc/systemd/system/t.other.service")
    service.run("systemctl", "daemon-reload")
    (found,) = service.enable("on", "t.other")["targets"]
    assert found["name"] == "t"
    assert show(service, "Environment") == f"OPENSSL_CONF={CREDENTIAL}"
    assert len(service.enable("off", "t.other", "t")["targets"]) == 1


def test_an_openssl_cnf_that_never_answers_keeps_nothing_on(service: Machine) -> None:
    """The processes are looked at all the same."""
    server(service, "User=nobody")
    assert starts(service)
    service.enable("on", "t", "--restart")
    conf = "/etc/ssl/openssl.cnf"
    service.run("sh", "-c", f"mv {conf} /root/kept; mkfifo {conf}")
    try:
        found = {entry["name"]: entry for entry in service.enable(status=3)["targets"]}
        assert found["t"]["served"] and "1 of 1" in found["t"]["said"][0]
        assert found["system"]["served"] is False and "is no regular file: " in found["system"]["said"][0]
        service.enable("off", "--all")
        nothing_is_left(service)
    finally:
        service.run("mv", "/root/kept", conf)


# ---- The proof ----

# It goes on without a byte. What comes before it may change its environment.
PATIENT = """\
[Unit]
DefaultDependencies=no
[Service]
Type=exec
ExecStart={before} /usr/bin/python3 -I /srv/t.py
User={user}
"""
LOADS = 'import ctypes, time\nlibcrypto = ctypes.CDLL("libcrypto.so.3")\n{then}\ntime.sleep(3600)\n'
DRAWS = "libcrypto.RAND_bytes(ctypes.create_string_buffer(8), 8)"


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_a_module_that_is_gone_leaves_nobody(service: Machine, user: str) -> None:
    """systemd writes the credential of a service with a user after its process has begun, and gives it to that user."""
    module = "/usr/lib/x86_64-linux-gnu/ossl-modules/drng.so"
    service.write("/srv/t.py", LOADS.format(then=DRAWS))
    service.unit("t.service", PATIENT.format(before="", user=user))
    assert starts(service)
    service.enable("on", "t", "--restart")
    service.run("mv", module, "/root/kept")
    try:
        service.run("systemctl", "restart", "t")
        check = ("drng-status", "t", "--check")
        wait_for(lambda: "nothing serves 1 of 1" in service.run(*check, check=False).stdout, "nobody")
        (found,) = json.loads(service.run("drng-status", "t", "--json").stdout)["processes"]
        assert (found["served-by"], found["reason"], found["restart"]) == ("nobody", "module", "")
        assert service.run("drng-status", "--all", "--check", check=False).returncode == 2
        assert "t.service" not in service.run("drng-status", "--needs-restart", check=False).stdout
    finally:
        service.run("mv", "/root/kept", module)


def test_who_has_another_variable_is_not_only_idle(service: Machine) -> None:
    service.write("/srv/t.py", LOADS.format(then=""))
    service.unit("t.service", PATIENT.format(before="/usr/bin/env -u OPENSSL_CONF", user="nobody"))
    assert starts(service)
    (target,) = service.enable("on", "t", "--restart", status=3)["targets"]
    assert [process["reason"] for process in target["processes"]] == ["no-variable"]
    assert service.run("drng-status", "t", "--check", check=False).returncode == 3


def test_restart_says_who_serves(service: Machine) -> None:
    server(service)
    assert starts(service)
    done = service.enable("on", "t", "--restart")
    (target,) = done["targets"]
    assert done["changed"] and {process["served-by"] for process in target["processes"]} <= {"drng", "fallback"}
    (found,) = [entry for entry in service.enable()["targets"] if entry["name"] == "t"]
    assert found["served"] and "1 of 1" in found["said"][0]
    service.enable("on", "--system", "--profile", "strict")
    done = service.enable("off", "--all", "--restart")
    said = [line for target in done["targets"] for line in target["said"] if "restarted" in line]
    assert len(said) == 1, "by its own name, and not for the system once more"
    assert not [line for target in done["targets"] for line in target["said"] if "drng-enable on" in line]
    nothing_is_left(service)
    assert show(service, "ActiveState") == "active"


def invocation(machine: Machine, unit: str = "t") -> str:
    return machine.run("systemctl", "show", "--value", "-p", "InvocationID", unit).stdout.strip()


def said_of(done: dict[str, Any]) -> list[str]:
    return [said for target in done["targets"] for said in target["said"]]


def test_only_what_has_changed_is_restarted(service: Machine) -> None:
    """In 1.0.0 every unit with libcrypto was, each time, also by `off --all` where it never had drng."""
    server(service)
    given = "Environment=OPENSSL_CONF=/etc/ssl/drng/drng.cnf"
    service.unit("t.given.service", SERVER.format(program="/usr/bin/python3", more=given))
    service.unit(
        "t.own.service", SERVER.format(program="/usr/bin/env OPENSSL_CONF=/dev/null /usr/bin/python3", more="")
    )
    service.run("systemctl", "start", "t", "t.own", "t.given")
    wait_for(
        lambda: all(uses_libcrypto(service, unit) for unit in ("t", "t.own", "t.given")), "their processes to draw"
    )
    before, as_given = invocation(service), invocation(service, "t.given")
    service.enable("on", "--system", "--profile", "strict", "--restart", status=3)
    assert invocation(service) != before
    before = invocation(service), invocation(service, "t.own")
    again = service.enable("on", "--system", "--restart")
    assert not again["changed"] and (invocation(service), invocation(service, "t.own")) == before
    assert service.enable("off", "--all", "--restart")["changed"]
    assert invocation(service) != before[0], "drng served it"
    assert invocation(service, "t.own") == before[1], "and not this one"
    service.enable("off", "t.given", "--restart")
    assert invocation(service, "t.given") == as_given, "nor what an administrator has given drng"


def test_a_line_that_is_younger_than_what_runs(service: Machine) -> None:
    """An upgrade has replaced openssl.cnf, and restarted t: `on` brings back the line, and the files that it leads to
    are as old as they were. t was left as it was, with 0."""
    stock = service.read("/etc/ssl/openssl.cnf")
    service.enable(*SYSTEM)
    service.write("/etc/ssl/openssl.cnf", stock)
    server(service)
    assert starts(service)
    wait_for(lambda: uses_libcrypto(service), "its process to draw")
    before = invocation(service)
    service.enable(*SYSTEM, "--restart")
    assert invocation(service) != before
    before = invocation(service)
    service.enable(*SYSTEM, "--restart")
    assert invocation(service) == before


def test_off_restarts_what_has_its_own_file_where_the_system_is_on(service: Machine) -> None:
    """And that alone: it was restarted each time."""
    server(service)
    service.enable(*SYSTEM)
    service.enable("on", "t", "--profile", "permissive")
    assert starts(service)
    wait_for(lambda: uses_libcrypto(service), "its process to draw")
    for changes in (lambda: service.enable("off", "t", "--restart"), lambda: service.enable("on", "t", "--restart")):
        before = invocation(service)
        changes()
        assert invocation(service) != before
    before = invocation(service)
    service.enable("off", "t")
    service.enable("off", "t", "--restart")
    assert invocation(service) != before, "it had been switched off, and not restarted"
    before = invocation(service)
    assert not service.enable("off", "t", "--restart")["changed"]
    assert invocation(service) == before


def test_what_has_read_a_file_that_goes_is_restarted(service: Machine) -> None:
    """Whoever serves it: it would name a file that is gone."""
    server(service, program="/usr/bin/env OPENSSL_CONF=/dev/null /usr/bin/python3")
    service.run("systemctl", "start", "t")
    service.enable("on", "t", "--restart", status=3)
    before = invocation(service)
    service.enable("off", "t", "--restart")
    assert invocation(service) != before


@pytest.mark.parametrize("scope", ["t", "--system"])
def test_what_does_not_run_or_does_not_run_yet_is_left_and_listed(service: Machine, scope: str) -> None:
    """In 1.0.0 a stopped one was started, and one that was activating kept the whole machine off drng."""
    words = ["on", scope, "--profile", "strict", "--restart"]
    server(service)
    service.enable(*words)
    assert show(service, "ActiveState") == "inactive"
    service.enable("off", scope, "--restart")
    assert show(service, "ActiveState") == "inactive"
    waits = "Type=notify\nNotifyAccess=all\nTimeoutStartSec=1h"
    service.unit("t.service", SERVER.format(program="/usr/bin/python3", more=waits))
    service.run("systemctl", "start", "--no-block", "t")
    wait_for(lambda: uses_libcrypto(service), "its process to draw")
    before = invocation(service)
    done = service.enable(*words, status=3 if scope == "t" else 0)
    assert invocation(service) == before and any("activating: " in said for said in said_of(done))
    service.enable("off", scope, "--restart")


@pytest.mark.parametrize(
    ("more", "left"),
    [("Type=oneshot\nRemainAfterExit=yes", "runs once: "), ("RefuseManualStop=yes", "needs a reboot")],
)
def test_what_is_no_good_to_restart_is_left_and_listed(service: Machine, more: str, left: str) -> None:
    service.unit(
        "t.service",
        UNIT.format(more=more).replace("Type=oneshot\nUser", "User")
        if "oneshot" in more
        else (f"[Unit]\nDefaultDependencies=no\n{more}\n[Service]\nExecStart=/bin/sleep 1000\n"),
    )
    assert starts(service)
    before = invocation(service)
    assert any(left in said for said in said_of(service.enable("on", "t", "--restart")))
    assert invocation(service) == before


@pytest.mark.parametrize("how", ["ln -sf /dev/null", "rm"])
def test_what_runs_though_its_unit_is_masked_or_gone_is_left_and_listed(service: Machine, how: str) -> None:
    """systemd says of a masked one that it has been restarted, and refuses the other one, which would undo all."""
    server(service, "User=nobody")
    assert starts(service)
    service.enable("on", "t", "--restart")
    before = invocation(service)
    service.run("sh", "-c", f"{how} /etc/systemd/system/t.service; systemctl daemon-reload")
    found = service.run("drng-enable", check=False).stdout
    assert "`drng-enable on t`" not in found and "drop-in" not in found, "neither would mend it"
    service.enable("on", "--system", "--profile", "strict", "--restart")
    done = service.enable("off", "--all", "--restart")
    assert any("not restarted" in said for said in said_of(done))
    assert (invocation(service), show(service, "ActiveState")) == (before, "active")


def test_what_runs_on_without_drng_is_no_success(service: Machine) -> None:
    server(service, "[Unit]\nRefuseManualStop=yes")
    assert starts(service)
    wait_for(lambda: uses_libcrypto(service), "its process to draw")
    before = invocation(service)
    service.enable("on", "t", "--restart", status=3)
    assert invocation(service) == before


def test_without_a_restart_the_command_that_proves_it_is_said(service: Machine) -> None:
    server(service)
    assert starts(service)
    wait_for(lambda: uses_libcrypto(service), "its process to draw")
    said = service.run("drng-enable", "on", "t").stdout
    assert "--restart does that" in said.splitlines()[-1]
    (found,) = [entry for entry in service.enable(status=3)["targets"] if entry["name"] == "t"]
    assert {process["reason"] for process in found["processes"]} == {"started-before"}
    assert service.enable("on", "t", "--restart")["targets"][0]["processes"]


def test_a_process_that_ignores_the_variable_is_told_with_its_cure(service: Machine) -> None:
    """As squid's workers: the kernel has told libcrypto not to trust the environment."""
    service.run(
        "sh",
        "-c",
        "cp /usr/bin/python3 /usr/bin/t-secure && chgrp nogroup /usr/bin/t-secure && chmod g+s /usr/bin/t-secure",
    )
    server(service, "User=nobody\nGroup=daemon", "/usr/bin/t-secure")
    assert starts(service)
    done = service.enable("on", "t", "--restart", status=3)
    (process,) = done["targets"][0]["processes"]
    assert (process["served-by"], process["reason"]) == ("OpenSSL", "at-secure")
    assert "drng-enable on --system" in process["cure"]
    assert any("AT_SECURE" in said for said in done["targets"][0]["said"])
    done = service.enable("off", "t")
    service.enable("on", "--system", "--profile", "strict", "--restart")
    service.run("systemctl", "restart", "t")
    status = service.run("drng-status", "--check", "t", check=False)
    assert status.returncode == 0, status.stdout


def test_a_process_whose_start_script_drops_the_variable_is_told(service: Machine) -> None:
    server(service, program="/usr/bin/env -u OPENSSL_CONF /usr/bin/python3")
    assert starts(service)
    done = service.enable("on", "t", "--restart", status=3)
    assert [process["reason"] for process in done["targets"][0]["processes"]] == ["no-variable"]
    assert service.enable("on", "t", "--restart", status=3)["changed"] is False, "nor is it a success the second time"


def test_a_service_that_does_not_come_up_is_put_back_and_runs(service: Machine) -> None:
    """With its own reason; journald does not run here."""
    refuses = "ExecStartPre=/bin/sh -c 'test -z \"$OPENSSL_CONF\" || { echo no such luck; exit 7; }'"
    server(service, refuses)
    assert starts(service)
    error = service.enable("on", "t", "--restart", status=1)["error"]
    assert "t.service does not come up" in error and "put back" in error
    nothing_is_left(service)
    assert show(service, "ActiveState") == "active"


@pytest.mark.parametrize("signals", [["INT"], ["TERM", "INT", "HUP"]], ids=" ".join)
def test_a_signal_while_it_restarts_puts_all_back_and_says_so(service: Machine, signals: list[str]) -> None:
    """More of them change nothing of that."""
    server(service, "ExecStartPre=/bin/sh -c 'test -z \"$OPENSSL_CONF\" || sleep 1000'")
    assert starts(service)
    command = service.inside("drng-enable", "on", "t", "--restart")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd="/") as process:
        wait_for(lambda: show(service, "ActiveState") == "activating", "the restart")
        for name in signals:
            service.run("sh", "-c", f"kill -{name} $(fuser /run/drng-enable.lock)", check=False)
        _, said = process.communicate(timeout=60)
    assert said == f"drng-enable: ended by SIG{signals[0]}; all files are put back; nothing has been changed\n"
    assert process.returncode == 1
    nothing_is_left(service)
    assert show(service, "ActiveState") == "active"
