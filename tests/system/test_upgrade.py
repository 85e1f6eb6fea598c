# SPDX-License-Identifier: Apache-2.0
"""The upgrade from drng 0.2.0, one package, to those of today: test-package.sh and test-rpm.sh with --upgrade, and on a
Debian that is booted."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.served import __main__ as served
from tests.support.booted import SERVICES, Machine, booted, with_services
from tests.support.packages import CHROOTS, in_chroot

PORTS = {"nginx": 8443, "apache2": 8444, "haproxy": 8445}
# The default of nginx's is a link, and would lead out of here.
PREPARE = f"""
{served.PREPARE}
mkdir visits debs
rm etc/nginx/sites-enabled/default
cat >etc/nginx/sites-enabled/default <<'END'
server {{
    listen 8443 ssl;
    ssl_certificate /etc/tls/cert.pem;
    ssl_certificate_key /etc/tls/key.pem;
    location / {{ return 200 "nginx"; }}
}}
END
echo 'Listen 8444' >etc/apache2/ports.conf
cat >etc/apache2/sites-enabled/000-default.conf <<'END'
<VirtualHost *:8444>
    SSLEngine on
    SSLCertificateFile /etc/tls/cert.pem
    SSLCertificateKeyFile /etc/tls/key.pem
</VirtualHost>
END
chroot . a2enmod -q ssl
cat >>etc/haproxy/haproxy.cfg <<'END'

frontend pages
    bind 127.0.0.1:8445 ssl crt /etc/tls/both.pem
    http-request return status 200 content-type text/plain string haproxy
END
cat >visit <<'END'
while :; do
    curl -kfsS -o /dev/null https://127.0.0.1:$1/ 2>>/visits/failed && echo >>/visits/$1
done
END
"""


def last_release() -> Path:
    """Its .deb."""
    found = list(CHROOTS.glob("drng_0.2.0-*.deb"))
    if not found:
        pytest.skip("0.2.0 is not built: scripts/ci/test-package.sh --upgrade builds it, as does DRNG_PACKAGE_CHROOT=1")
    return found[0]


def upgraded(script: str, *packages: Path) -> str:
    if "DRNG_PACKAGE_CHROOT" not in os.environ:
        last_release()
    said = in_chroot(script, "--upgrade", *packages)
    assert "The upgrade goes as it should" in said
    return said


def test_the_debs_under_a_running_nginx(packages: Path) -> None:
    said = upgraded("scripts/ci/test-package.sh", packages)
    assert "pages, and none has failed" in said
    assert "restart these to use the installed drng:" in said


def test_the_rpms(packages: Path) -> None:
    """drng and drng-tools come first."""
    said = upgraded("scripts/ci/test-rpm.sh", *sorted(packages.glob("*drng*.rpm"))[:2])
    assert "drng-tools-1.0" in said
    assert "scriptlet failed" not in said


class Visitors:
    """Clients that come again and again, with a new connection each time, to each of the servers."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        for port in PORTS.values():
            machine.run("systemd-run", f"--unit=visitor-{port}", "bash", "/visit", str(port))

    def come(self) -> None:
        """Twenty more to each."""
        before = self.counts()
        end = time.monotonic() + 60
        while any(after - count < 20 for after, count in zip(self.counts(), before, strict=True)):
            assert not self.machine.run("cat", "/visits/failed").stdout
            assert time.monotonic() < end, f"the visitors no longer come: {self.counts()}"
            time.sleep(0.1)

    def counts(self) -> list[int]:
        counted = [self.machine.run("sh", "-c", f"wc -l </visits/{port}", check=False) for port in PORTS.values()]
        return [int(result.stdout or 0) for result in counted]

    def go(self) -> None:
        self.machine.run("systemctl", "stop", *(f"visitor-{port}" for port in PORTS.values()))
        assert not self.machine.run("cat", "/visits/failed").stdout


@with_services
def test_three_servers_under_systemd(packages: Path, tmp_path: Path) -> None:
    """No connection fails, what was on is on, what was set in a profile is set, and nobody is asked anything."""
    copy = f"cp {last_release()} old.deb; cp {packages}/*drng*.deb debs; rm -f debs/*-dbgsym_*\n"
    with booted(tmp_path, PREPARE + copy, SERVICES, install="") as machine:
        machine.run("dpkg", "-i", "/old.deb")
        machine.run("sed", "-i", "s/^# fallback = yes$/fallback = no/", "/etc/ssl/drng/drng.cnf")
        machine.run("drng-enable", "on", "--system", "--profile", "strict")
        for name in PORTS:
            machine.run("drng-enable", "on", "--service", name)
        machine.run("systemctl", "restart", *PORTS)
        visitors = Visitors(machine)
        visitors.come()
        install = "DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-remove /debs/*.deb"
        said = machine.run("sh", "-c", install).stdout
        visitors.come()
        answer = json.loads(machine.run("drng-enable", "--json", check=False).stdout)
        on = {target["name"]: target for target in answer["targets"]}
        assert set(on) == {"system", *PORTS}
        for target in on.values():
            assert target["on"] and target["profile"] == "strict" and target["settings"] == {"fallback": "no"}
        for name in PORTS:
            assert f"  {name}.service" in said, "those that run the old module are named"
        machine.run("systemctl", "reload", *PORTS)
        visitors.come()
        visitors.go()
        machine.run("systemctl", "restart", *PORTS)
        looked_at = json.loads(machine.run("drng-status", *PORTS, "--json", check=False).stdout)
        served = {process["unit"] for process in looked_at["processes"] if process["served-by"] == "drng"}
        assert served == {f"{name}.service" for name in PORTS}
        assert {process["reason"] for process in looked_at["processes"]} == {""}
        assert machine.run("drng-status", "--needs-restart", check=False).returncode == 0
