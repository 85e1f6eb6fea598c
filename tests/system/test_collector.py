# SPDX-License-Identifier: Apache-2.0
"""drng-status-collector where systemd runs: off by default, on by one command, in a sandbox; and needrestart."""

import re
import subprocess
import urllib.request
from collections.abc import Iterator

import pytest

from scripts.drng.status import states
from tests.support.booted import Machine, booted, thorough
from tests.support.builds import CONF, ROOT, need
from tests.support.servers import free_ports, wait_for

FOLDER = "/var/lib/prometheus/node-exporter"
FILE = f"{FOLDER}/drng.prom"
UNIT = "drng-status-collector"
DROP_IN = f"/etc/systemd/system/{UNIT}.service.d/test.conf"

# Draws as an ordinary user, says so, and stays.
DRAWS = """\
[Unit]
DefaultDependencies=no
[Service]
Type=notify
User=nobody
ExecStart=/usr/bin/python3 -c 'import os, socket, ssl, time; ssl.RAND_bytes(1000); \
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(os.environ["NOTIFY_SOCKET"]); s.send(b"READY=1"); \
time.sleep(1000)'
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """With a service on drng."""
    with booted(tmp_path_factory.mktemp("booted")) as machine:
        machine.run("mkdir", "-p", FOLDER)
        machine.unit("t.service", DRAWS)
        machine.run("drng-enable", "on", "t")
        machine.run("systemctl", "start", "t")
        yield machine


@pytest.fixture
def anew(machine: Machine) -> Iterator[Machine]:
    yield machine
    machine.run("rm", "-rf", DROP_IN, "/var/lib/drng-status", FOLDER)
    machine.run("mkdir", "-p", FOLDER)
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "reset-failed")


def collect(machine: Machine) -> str:
    machine.run("systemctl", "start", UNIT)
    return machine.read(FILE)


def sample(text: str, name: str, **labels: str) -> int:
    who = ",".join(f'{key}="{value}"' for key, value in labels.items())
    found = re.findall(rf"^{name}\{{{re.escape(who)}\}} (\d+)$", text, flags=re.M)
    assert len(found) == 1, f"{name} {who}"
    return int(found[0])


T = {"unit": "t.service"}


def test_it_is_off_until_one_command_turns_it_on(anew: Machine) -> None:
    assert anew.run("systemctl", "is-enabled", f"{UNIT}.timer", check=False).stdout.strip() == "disabled"
    anew.run("systemctl", "enable", "--now", f"{UNIT}.timer")
    assert anew.run("systemctl", "is-active", f"{UNIT}.timer").stdout.strip() == "active"
    waits = anew.run("systemctl", "list-timers", "--no-legend", f"{UNIT}.timer").stdout
    assert f"{UNIT}.service" in waits
    anew.run("systemctl", "disable", "--now", f"{UNIT}.timer")


@thorough
def test_the_timer_starts_it(anew: Machine) -> None:
    """One that does not wait a minute."""
    anew.unit(
        f"{UNIT}.timer.d/test.conf", "[Timer]\nOnBootSec=\nOnActiveSec=1ms\nAccuracySec=1ms\nRandomizedDelaySec=0\n"
    )
    anew.run("systemctl", "start", f"{UNIT}.timer")
    wait_for(lambda: anew.run("test", "-s", FILE, check=False).returncode == 0, "the timer to start the collector")
    anew.run("systemctl", "stop", f"{UNIT}.timer")
    anew.run("rm", "-r", f"/etc/systemd/system/{UNIT}.timer.d")


def test_systemd_finds_nothing_wrong_and_little_exposed(anew: Machine) -> None:
    paths = [f"/lib/systemd/system/{UNIT}.{kind}" for kind in ("service", "timer")]
    verified = anew.run("systemd-analyze", "verify", *paths, check=False)
    assert (verified.returncode, verified.stdout) == (0, "")
    assert UNIT not in verified.stderr
    said = anew.run("systemd-analyze", "security", "--no-pager", f"{UNIT}.service").stdout
    level = re.search(r"Overall exposure level for \S+: ([\d.]+) OK", said)
    assert level and float(level[1]) <= 1.5


def test_it_counts_what_other_users_draw(anew: Machine) -> None:
    for _ in range(2):
        text = collect(anew)
        assert sample(text, "drng_processes", **T, state="served") == 1
        assert sample(text, "drng_processes", **T, state="without") == 0
        assert sample(text, "drng_bytes", **T) >= 1000
        anew.run("systemctl", "restart", "t")


@thorough
def test_its_capability_is_needed_and_no_other(anew: Machine) -> None:
    text = (CONF / "systemd" / f"{UNIT}.service").read_text()
    assert re.findall("^CapabilityBoundingSet=(.*)$", text, flags=re.M) == ["CAP_SYS_PTRACE"]
    anew.unit(f"{UNIT}.service.d/test.conf", "[Service]\nCapabilityBoundingSet=\n")
    text = collect(anew)
    assert sample(text, "drng_processes", **T, state="served") == 0
    assert sample(text, "drng_processes", **T, state="unknown") == 1


ATTEMPTS = (
    "touch /etc/x",
    "touch /usr/x",
    "touch /root/x",
    "cat /root/secret",
    "kill -0 $(systemctl show -P MainPID t)",
    "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM)'",
    "unshare --uts true",
    "mount -t tmpfs x /mnt",
    "chown nobody /var/lib/prometheus",
)


def test_its_sandbox_leaves_it_nothing_else(anew: Machine) -> None:
    """Each line that is printed has been done, as it is outside of the sandbox."""
    anew.write("/root/secret", "x")
    tries = "".join(f"({attempt}) >/dev/null 2>&1 && echo {number}\n" for number, attempt in enumerate(ATTEMPTS))
    anew.write("/usr/local/bin/tries", f"#!/bin/sh\n({tries}echo end) >$1/tried\n")
    anew.run("chmod", "+x", "/usr/local/bin/tries")
    anew.run("/usr/local/bin/tries", "/tmp")
    assert anew.read("/tmp/tried").split() == [*map(str, range(len(ATTEMPTS))), "end"]
    anew.unit(
        f"{UNIT}.service.d/test.conf",
        "[Service]\nStateDirectory=drng-status\nExecStart=\nExecStart=/usr/local/bin/tries ${STATE_DIRECTORY}\n",
    )
    anew.run("systemctl", "start", UNIT)
    assert anew.read("/var/lib/drng-status/tried").split() == ["end"]


@thorough
def test_a_folder_that_is_a_link_is_refused(anew: Machine) -> None:
    """Its parent belongs to the user of Prometheus."""
    anew.run("sh", "-c", f"cd /; rmdir {FOLDER}; mkdir -p /root/theirs; ln -s /root/theirs {FOLDER}")
    assert anew.run("systemctl", "start", UNIT, check=False).returncode == 1
    assert anew.run("ls", "-A", "/root/theirs").stdout == ""
    result = anew.run("drng-status", "--prometheus", "--output", FILE, check=False)
    assert (result.returncode, anew.run("ls", "-A", "/root/theirs").stdout) == (3, "")


def test_node_exporter_reads_it(anew: Machine) -> None:
    text = collect(anew)
    (port,) = free_ports(1)
    program = need("prometheus-node-exporter")
    folder = f"/proc/{anew.pid}/root{FOLDER}"
    options = ["--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={folder}"]
    with subprocess.Popen(
        [program, *options, f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL
    ) as run:
        try:
            url = f"http://127.0.0.1:{port}/metrics"
            wait_for(lambda: scraped(url) != "", "node_exporter")
            served = scraped(url)
        finally:
            run.terminate()
    assert "node_textfile_scrape_error 0\n" in served
    # Other processes of this machine come and go; the service stays.
    ours = [line for line in text.splitlines() if 'unit="t.service"' in line]
    assert len(ours) > 20
    served = re.sub(r"\{(.*)\}", lambda found: "{" + ",".join(sorted(found[1].split(","))) + "}", served)
    for line in ours:
        name, labels, value = re.fullmatch(r"(\w+)\{(.*)\} (\d+)", line).groups()  # type: ignore[union-attr]
        found = re.search(rf"^{name}\{{{re.escape(','.join(sorted(labels.split(','))))}\}} (\S+)$", served, flags=re.M)
        assert found and float(found[1]) == float(value), line


def scraped(url: str) -> str:
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.read().decode()
    except OSError:
        return ""


@thorough
def test_the_commands_of_the_guide_work_as_they_stand(anew: Machine) -> None:
    lines = re.findall(r"^    ((?:drng-|systemctl ).*)$", (ROOT / "docs" / "fleet.md").read_text(), flags=re.M)
    assert len(lines) >= 5
    for line in lines:
        # A unit of this machine; and a status that says what is so, which need not be good.
        result = anew.run("sh", "-c", line.replace("nginx", "t"), check=False)
        known = (0, 1, 3) if "--check" in line or "--needs-restart" in line else (0,)
        assert result.returncode in known, f"{line}: {result.stdout}{result.stderr}"
        assert "Traceback" not in result.stderr and "usage" not in result.stderr
    assert sample(anew.read(FILE), "drng_processes", **T, state="served") == 1
    anew.run("systemctl", "disable", "--now", f"{UNIT}.timer")


def test_the_guide_names_every_alert_and_every_state() -> None:
    guide = (ROOT / "docs" / "fleet.md").read_text()
    alerts = re.findall(r"- alert: (\w+)", (CONF / "prometheus" / "drng.rules.yml").read_text())
    assert re.findall(r"^\| `(Drng\w+)` \|", guide, flags=re.M) == alerts
    states_page = (ROOT / "docs" / "drng-status-json.5").read_text().partition(".SH STATES")[2]
    assert all(state in states_page for state in states.STATES)


# ---- Restarts ----


def needing(machine: Machine) -> list[str]:
    return machine.run("drng-status", "--needs-restart", check=False).stdout.splitlines()


def test_needrestart_and_drng_status_name_the_service_of_a_replaced_module(anew: Machine) -> None:
    def found() -> bool:
        said = anew.run("needrestart", "-b", "-l", "-r", "l", check=False).stdout
        assert "NEEDRESTART-VER" in said
        return "NEEDRESTART-SVC: t.service" in said

    assert (found(), "t.service" in needing(anew)) == (False, False)
    modules = anew.run("sh", "-c", "ls -d /usr/lib/*/ossl-modules").stdout.strip()
    anew.run("sh", "-c", f"cp {modules}/drng.so {modules}/new && mv {modules}/new {modules}/drng.so")
    assert (found(), "t.service" in needing(anew)) == (True, True)
    text = collect(anew)
    assert sample(text, "drng_restart_needed_processes", **T, reason="replaced") == 1
    check = anew.run("drng-status", "--check", "t", check=False)
    assert (check.returncode, "restart it" in check.stdout) == (1, True)
    anew.run("systemctl", "restart", "t")
    assert (found(), "t.service" in needing(anew)) == (False, False)


def test_a_service_that_was_switched_on_and_not_restarted_is_named(anew: Machine) -> None:
    """needrestart does not see this: no file that is in use has been replaced."""
    anew.unit("u.service", DRAWS)
    anew.run("systemctl", "start", "u")
    assert "u.service" not in needing(anew)
    anew.run("drng-enable", "on", "u")
    assert "u.service" in needing(anew)
    assert "it started before openssl.cnf named drng; use `systemctl restart u`" in anew.run("drng-status", "u").stdout
    # In its sandbox the collector reaches systemd and openssl.cnf, too.
    counted = collect(anew)
    assert sample(counted, "drng_restart_needed_processes", unit="u.service", reason="configuration") == 1
    anew.run("systemctl", "restart", "u")
    assert "u.service" not in needing(anew)
    # A drop-in of somebody's own, which names a file that was there before.
    anew.run("drng-enable", "off", "u")
    anew.run("systemctl", "restart", "u")
    anew.unit("u.service.d/mine.conf", "[Service]\nEnvironment=OPENSSL_CONF=/etc/ssl/drng/drng.cnf\n")
    assert "u.service" in needing(anew)
    anew.run("systemctl", "restart", "u")
    assert "u.service" not in needing(anew)
    anew.run("systemctl", "stop", "u")
