# SPDX-License-Identifier: Apache-2.0
"""Real servers with their random numbers from drng: handshakes, reloads, and nothing drawn twice."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support import clients, hello
from tests.support.builds import CONF, MASKED, RELEASE, ConfigWriter
from tests.support.machine import here
from tests.support.servers import (
    KINDS,
    PYTHON_FORK,
    Kind,
    Running,
    Site,
    maps,
    new_site,
    refusal,
    running,
    wait_for,
)

MODULE = RELEASE.modules / "drng.so"

# First flights asked of each kind: as many as take it a second or three.
HELLOS = dict.fromkeys(KINDS, 3600) | {PYTHON_FORK: 2000}
ALL_HELLOS = 20_000


def strict_config(directory: Path) -> Path:
    """conf/drng.cnf, where this CPU has an instruction without the fallback.

    And without fresh words in every request, which would hide a child that draws what its parent draws.
    """
    fallback = "no" if here().has_instruction else "yes"
    section = "[drng_sect]\n"
    text = (CONF / "drng.cnf").read_text()
    assert text.count(section) == 1
    path = directory / "drng.cnf"
    path.write_text(text.replace(section, f"{section}fallback = {fallback}\nrequest_mixing = no\n"))
    return path


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return RELEASE.environment({"OPENSSL_CONF": str(strict_config(tmp_path_factory.mktemp("conf")))})


@pytest.fixture
def site() -> Iterator[Site]:
    with new_site() as result:
        yield result


@pytest.fixture(scope="module", params=KINDS, ids=str)
def served(request: pytest.FixtureRequest, env: dict[str, str]) -> Iterator[Running]:
    """A server of each kind, for all the tests that leave it as it is."""
    with new_site() as site, running(request.param, site, env) as result:
        yield result


# ---- One server of each kind ----


def test_master_and_workers_map_the_module(served: Running) -> None:
    assert served.without(MODULE) == []
    assert bool(served.workers()) == served.kind.has_workers


@pytest.mark.parametrize("port", ["rsa", "ec"])
@pytest.mark.parametrize("version", clients.VERSIONS)
@pytest.mark.parametrize("client", clients.CLIENTS)
def test_handshakes(served: Running, env: dict[str, str], client: str, version: str, port: str) -> None:
    """The client trusts the one certificate of that port, so it can have been no other."""
    outcome = clients.CLIENTS[client](clients.Visit(served.site, port, version), env)
    assert outcome.page, outcome.said
    assert outcome.version == version


# ---- Who serves ----


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_without_drng_it_does_not_start(
    kind: Kind, site: Site, env: dict[str, str], tmp_path: Path, config: ConfigWriter
) -> None:
    """Neither without the module nor without a seed from it; so where it starts, drng serves."""
    refusal(kind, site, env | {"OPENSSL_MODULES": str(tmp_path)})
    refusal(kind, site, env | {"OPENSSL_CONF": str(config(fallback="no")), "OPENSSL_ia32cap": MASKED})
    with running(kind, site, env) as server:
        assert server.without(MODULE) == [], "and it does with both"


# ---- Reloads ----


@dataclass
class Load:
    """What became of connections while something else went on."""

    answers: hello.Answers = field(default_factory=hello.Answers)
    visits: int = 0
    failures: list[str] = field(default_factory=list)

    def wait_for_more(self) -> None:
        """A server that cuts connections off while it reloads may have answered none until now."""
        hellos, visits = len(self.answers.hellos), self.visits
        wait_for(lambda: len(self.answers.hellos) > hellos, "a first flight")
        wait_for(lambda: self.visits > visits, "a visit")


@contextlib.contextmanager
def load(site: Site) -> Iterator[Load]:
    """Until the end of the block: first flights as fast as they come, 32 at a time, and whole visits one by one."""
    result, stop = Load(), threading.Event()

    def ask() -> None:
        hello.ask(site.ports["ec"], hello.VERSIONS[0], 10**9, until=stop, answers=result.answers)

    def visit() -> None:
        while not stop.is_set():
            outcome = clients.python(clients.Visit(site, "ec"))
            result.visits += 1
            if not outcome.page:
                result.failures.append(outcome.said)

    threads = [threading.Thread(target=target) for target in (ask, visit)]
    for thread in threads:
        thread.start()
    try:
        yield result
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        result.failures += result.answers.failures


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.reload_signal], ids=str)
def test_reload_under_load(kind: Kind, site: Site, env: dict[str, str]) -> None:
    with running(kind, site, env) as server:
        with load(site) as connections:
            for _ in range(3):
                server.reload()
                assert server.without(MODULE) == [], "old or new"
                connections.wait_for_more()
        if kind.seamless:
            assert connections.failures == []
        assert clients.python(clients.Visit(site)).page


# ---- Nothing comes twice ----


def harvest(server: Running, count: int) -> list[hello.Hello]:
    """First flights in both versions and with both certificates, half of them after a reload."""
    hellos = []
    for again in (False, True):
        if again and server.kind.reload_signal:
            server.reload()
        for version in hello.VERSIONS:
            for port in ("rsa", "ec"):
                answers = hello.ask(server.site.ports[port], version, count // 8)
                assert answers.failures == []
                hellos += answers.hellos
    return hellos


def repeated(hellos: list[hello.Hello]) -> dict[str, int]:
    """How many values of each sort came more than once."""
    return {
        "randoms": len(hello.duplicates(h.random for h in hellos)),
        "session ids": len(hello.duplicates(h.session_id for h in hellos if h.session_id)),
        "key shares": len(hello.duplicates(h.key_share for h in hellos if h.key_share)),
    }


NOTHING = {"randoms": 0, "session ids": 0, "key shares": 0}


def test_nothing_comes_twice(env: dict[str, str]) -> None:
    """Not from one worker, not from two, not before and after a reload, not from two servers."""
    hellos = []
    for kind in KINDS:
        with new_site() as site, running(kind, site, env) as server:
            hellos += harvest(server, HELLOS[kind])
    assert len(hellos) >= ALL_HELLOS
    assert sum(1 for h in hellos if h.session_id) == sum(1 for h in hellos if h.key_share) >= ALL_HELLOS / 2
    assert repeated(hellos) == NOTHING


def test_what_comes_twice_is_noticed(site: Site, env: dict[str, str]) -> None:
    """Its failing twin: a module that does not notice forks, in a server that forks for every connection."""
    forgetful = Path(RELEASE.program("forgetful"))
    with running(PYTHON_FORK, site, env | {"OPENSSL_MODULES": str(forgetful)}) as server:
        assert maps(server.process.pid, forgetful / "drng.so")
        found = repeated(harvest(server, 80))
    assert all(count > 0 for count in found.values()), found
