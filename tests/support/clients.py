# SPDX-License-Identifier: Apache-2.0
"""Clients of a Site: openssl s_client, curl and Python's ssl module, each sent for its page."""

import re
import socket
import ssl
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.support.servers import PAGE, Site

SECONDS = 60
REQUEST = b"GET / HTTP/1.0\r\n\r\n"
VERSIONS = ("TLSv1.2", "TLSv1.3")


@dataclass(frozen=True)
class Visit:
    """Who was sent, to which port, and how."""

    site: Site
    port: str = "ec"
    version: str = "TLSv1.3"


@dataclass(frozen=True)
class Outcome:
    """Whether the page came, over which version of TLS, and all that was said about it."""

    page: bool
    version: str
    said: str


Client = Callable[[Visit, Mapping[str, str]], Outcome]


def _run(command: Sequence[str], env: Mapping[str, str], version: str) -> Outcome:
    result = subprocess.run(
        list(command), env=dict(env), input=REQUEST, capture_output=True, timeout=SECONDS, check=False
    )
    said = (result.stdout + result.stderr).decode(errors="replace")
    found = re.search(version, said, flags=re.MULTILINE)
    return Outcome(PAGE in said, found[1] if found else "", said)


def openssl(visit: Visit, env: Mapping[str, str]) -> Outcome:
    site = visit.site
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{site.ports[visit.port]}", "-ign_eof"]
    command += ["-CAfile", str(site.cert(visit.port)), "-verify_return_error"]
    command += ["-" + visit.version.lower().replace("v", "").replace(".", "_")]
    return _run(command, env, r"^(?:New|Reused), (TLSv1\.[23]), ")


def curl(visit: Visit, env: Mapping[str, str]) -> Outcome:
    site, number = visit.site, visit.version.removeprefix("TLSv")
    command = ["curl", "--silent", "--show-error", "--verbose", "--cacert", str(site.cert(visit.port))]
    command += [f"--tlsv{number}", "--tls-max", number, f"https://127.0.0.1:{site.ports[visit.port]}/"]
    return _run(command, env, r"SSL connection using (TLSv1\.[23]) ")


def python(visit: Visit, env: Mapping[str, str] | None = None) -> Outcome:
    """In this process, with the random numbers that it has."""
    site = visit.site
    context = ssl.create_default_context(cafile=str(site.cert(visit.port)))
    context.minimum_version = context.maximum_version = ssl.TLSVersion[visit.version.replace(".", "_")]
    page, version = b"", ""
    try:
        with (
            socket.create_connection(("127.0.0.1", site.ports[visit.port]), timeout=SECONDS) as connection,
            context.wrap_socket(connection, server_hostname="127.0.0.1") as tls,
        ):
            version = tls.version() or ""
            tls.sendall(REQUEST)
            while part := tls.recv(4096):
                page += part
    except OSError as error:
        return Outcome(False, version, f"{type(error).__name__}: {error}")
    return Outcome(PAGE in page.decode(), version, page.decode())


CLIENTS: dict[str, Client] = {"openssl": openssl, "curl": curl, "python": python}
