# SPDX-License-Identifier: Apache-2.0
"""The complete examples of conf/ start as they stand, but for paths and ports, and are served by drng."""

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support import clients
from tests.support.builds import CONF, RELEASE
from tests.support.servers import Kind, Site, maps, new_site, refusal, running, wait_for

MODULE = RELEASE.modules / "drng.so"


class Example(Kind):
    """A file of conf/; in `places`, what its own places are called in a Site's directory."""

    def __init__(self, file: str, command: list[str], places: Mapping[str, str]) -> None:
        self.name, self.command, self.places = file, command, places
        # A provider that HAProxy loads by itself is not for its master, which serves nobody.
        self.master_maps = not file.endswith("ssl-provider.cfg")
        self.openssl_conf = str(CONF / "drng.cnf") if self.master_maps else "/dev/null"

    def configure(self, site: Site) -> list[str]:
        text = (CONF / self.name).read_text()
        pem = site.directory / "haproxy.pem"
        pem.write_text(site.key("ec").read_text() + site.cert("ec").read_text())
        for old, new in self.places.items():
            assert old in text, f"the example has changed: {old}"
            text = text.replace(old, new.format(dir=site.directory, port=site.ports["ec"]))
        path = site.directory / "example.conf"
        path.write_text(text)
        return [argument.format(path=path) for argument in self.command]


CERTIFICATE = {"/etc/ssl/certs/drng.pem": "{dir}/ec-cert.pem", "/etc/ssl/private/drng.key": "{dir}/ec-key.pem"}
HAPROXY = {
    "/run/haproxy-drng.sock": "{dir}/haproxy.sock",
    "127.0.0.1:8445": "127.0.0.1:{port}",
    "/etc/ssl/private/drng-haproxy.pem": "{dir}/haproxy.pem",
}
EXAMPLES = [
    Example(
        "nginx/nginx.conf",
        ["/usr/sbin/nginx", "-c", "{path}", "-g", "daemon off;"],
        CERTIFICATE
        | {
            "/run/nginx-drng.pid": "{dir}/nginx.pid",
            "/var/log/nginx/drng-error.log": "{dir}/server.log",
            "127.0.0.1:8443": "127.0.0.1:{port}",
        },
    ),
    Example(
        "apache/apache2.conf",
        ["/usr/sbin/apache2", "-f", "{path}", "-DFOREGROUND"],
        CERTIFICATE
        | {
            "ServerRoot /etc/apache2": "ServerRoot {dir}",
            "/run/apache2-drng": "{dir}/apache2",
            "DefaultRuntimeDir /run": "DefaultRuntimeDir {dir}",
            "/var/log/apache2/drng-error.log": "{dir}/server.log",
            "127.0.0.1:8444": "127.0.0.1:{port}",
            "/var/www/html": "{dir}",
        },
    ),
    Example("haproxy/haproxy.cfg", ["/usr/sbin/haproxy", "-W", "-f", "{path}"], HAPROXY),
    Example("haproxy/ssl-provider.cfg", ["/usr/sbin/haproxy", "-W", "-f", "{path}"], HAPROXY),
]


@pytest.fixture
def site() -> Iterator[Site]:
    with new_site() as result:
        yield dataclasses.replace(result, ports={"ec": result.ports["ec"]})


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_it_serves_with_drng(example: Example, site: Site) -> None:
    env = RELEASE.environment({"OPENSSL_CONF": example.openssl_conf})
    with running(example, site, env) as server:
        for version in clients.VERSIONS:
            outcome = clients.curl(clients.Visit(site, version=version), RELEASE.environment())
            assert outcome.page, outcome.said
            assert outcome.version == version
        # HAProxy's master executes itself anew when the worker has started.
        if example.master_maps:
            wait_for(lambda: not server.without(MODULE), "every process to map the module")
        assert all(maps(pid, MODULE) for pid in server.workers())


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_without_the_module_it_does_not_start(example: Example, site: Site, tmp_path: Path) -> None:
    env = {"OPENSSL_CONF": example.openssl_conf, "OPENSSL_MODULES": str(tmp_path)}
    refusal(example, site, RELEASE.environment(env))
