# SPDX-License-Identifier: Apache-2.0
"""drng-enable on real services, in a Debian that is booted: who serves each of their processes, and why not."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.booted import Machine, booted
from tests.support.packages import CHROOTS, in_chroot

pytestmark = pytest.mark.nightly("services of the tests' own, in test_systemd")

SERVICES = CHROOTS / "services"
PACKAGES = """apache2 ca-certificates curl dbus haproxy nginx-light openssl postgresql procps python3 redis-server
    squid-openssl systemd systemd-sysv util-linux"""
PREPARE = """
sed -i 's/\\b80\\b/8080/' etc/nginx/sites-enabled/default
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    in_chroot(SERVICES, "scripts/ci/chroot.sh", "make", "bookworm", SERVICES, *PACKAGES.split())
    with booted(tmp_path_factory.mktemp("booted"), PREPARE, str(SERVICES)) as machine:
        machine.run("systemctl", "start", "systemd-journald")
        yield machine


@pytest.fixture(autouse=True)
def off_and_running(machine: Machine) -> Iterator[None]:
    machine.run("systemctl", "start", "nginx", "apache2", "haproxy", "redis-server", "squid", "postgresql")
    yield
    machine.run("drng-enable", "off", "--all")


def served_by(target: dict[str, Any]) -> dict[str, int]:
    """How many processes each serves; those without libcrypto are nobody's."""
    names = [process["served-by"] for process in target["processes"] if process["served-by"] != "-"]
    return {name: names.count(name) for name in names}


def test_several_at_once_and_each_is_told_of(machine: Machine) -> None:
    machine.run("a2enmod", "ssl")
    nginx, apache = machine.enable("on", "nginx", "apache2", "--restart")["targets"]
    assert served_by(nginx) == {"drng": len(nginx["processes"])}
    assert set(served_by(apache)) == {"drng"}
    assert {entry["name"] for entry in machine.enable()["targets"] if entry["on"]} == {"nginx", "apache2"}


def test_squid_s_workers_ignore_the_variable(machine: Machine) -> None:
    """They run with another real than effective user; the system's file they read."""
    (squid,) = machine.enable("on", "squid", "--restart", status=3)["targets"]
    secure = [process for process in squid["processes"] if process["reason"] == "at-secure"]
    assert secure and all(process["cure"] == "drng-enable on --system" for process in secure)
    assert served_by(squid)["OpenSSL"] == len(secure)
    machine.enable("off", "squid")
    (system,) = machine.enable("on", "--system", "--profile", "strict", "--restart")["targets"]
    served = [process for process in system["processes"] if process["unit"] == "squid.service"]
    assert {process["served-by"] for process in served} - {"-"} == {"drng"}


def test_postgresql_s_cluster_drops_the_variable(machine: Machine) -> None:
    """Its start script gives it the environment of a file of its own."""
    name = machine.run("sh", "-c", "pg_lsclusters -h | { read v c _; echo postgresql@$v-$c; }").stdout.strip()
    (cluster,) = machine.enable("on", name, "--restart", status=3)["targets"]
    assert {process["reason"] for process in cluster["processes"]} - {""} == {"no-variable"}
    assert "environment" in cluster["processes"][0]["cure"]
    (umbrella,) = machine.enable("on", "postgresql", "--restart")["targets"]
    assert any(name in said for said in umbrella["said"]), "the unit that does the work is named"


def test_redis_may_execute_nothing_but_itself(machine: Machine) -> None:
    """NoExecPaths=/, and a user of its own: systemd carries the text."""
    assert "NoExecPaths=/" in machine.run("systemctl", "cat", "redis-server").stdout
    (redis,) = machine.enable("on", "redis", "--restart")["targets"]
    assert redis["name"] == "redis-server", "the alias is its unit"
    assert served_by(redis) == {"drng": 1}
    assert redis["file"] == "/etc/systemd/system/redis-server.service.d/drng.conf"
    nobody = machine.run(
        "setpriv", "--reuid=65534", "cat", "/run/credentials/redis-server.service/drng.cnf", check=False
    )
    assert nobody.returncode != 0, "nobody else reads it"


def test_on_for_the_whole_machine_and_off_restart_only_what_has_changed(machine: Machine) -> None:
    """haproxy, which nobody has named and which runs with an openssl.cnf of its own, is left alone the second time."""

    def started() -> dict[str, str]:
        units = ["nginx", "apache2", "haproxy", "redis-server"]
        return {unit: machine.run("systemctl", "show", "--value", "-p", "InvocationID", unit).stdout for unit in units}

    machine.run("systemctl", "stop", "apache2")
    machine.run("drng-enable", "on", "--system", "--profile", "strict", "--restart", check=False)
    before = started()
    machine.run("drng-enable", "on", "--system", "--restart", check=False)
    assert started() == before
    machine.enable("off", "--all", "--restart")
    assert machine.run("systemctl", "is-active", "apache2", check=False).stdout.strip() == "inactive"
    before = started()
    machine.enable("off", "--all", "--restart")
    assert started() == before


def test_a_trial_of_the_whole_machine_and_of_its_end(machine: Machine) -> None:
    def mapping() -> bool:
        return (
            "nginx"
            in machine.run(
                "sh",
                "-c",
                "grep -ls ossl-modules/drng.so /proc/[0-9]*/maps | "
                "while IFS=/ read -r _ _ pid _; do cat /proc/$pid/comm; done",
            ).stdout
        )

    stock = machine.read("/etc/ssl/openssl.cnf")
    machine.run("drng-enable", "on", "--system", "--profile", "strict", "--restart", "--try", "1h", check=False)
    assert mapping()
    # What its timer does.
    machine.run("systemctl", "start", "drng-trial.service")
    assert machine.read("/etc/ssl/openssl.cnf") == stock and not mapping()
