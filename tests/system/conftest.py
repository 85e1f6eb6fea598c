# SPDX-License-Identifier: Apache-2.0
"""Fixtures of these tests, and the names that their assertions are spelt out for."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from tests.support.builds import CONF, FLAVOURS, RELEASE, ROOT, ConfigWriter, Flavour, said_by
from tests.support.image import Image, install
from tests.support.machine import Machine, here


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> Flavour:
    return FLAVOURS[request.param]()


@pytest.fixture
def release() -> Flavour:
    return RELEASE


@pytest.fixture(scope="session")
def machine() -> Machine:
    """What drng says of the instructions here."""
    return here()


@pytest.fixture(scope="session")
def hardware(machine: Machine) -> str:
    """The instruction that gives seeds here; without one, what is tested cannot be seen."""
    return machine.need_instruction()


@pytest.fixture
def config(tmp_path: Path) -> ConfigWriter:
    """Writes an openssl.cnf like conf/drng.cnf, with these keys in the provider's own section."""

    def write(**keys: str) -> Path:
        text = (CONF / "drng.cnf").read_text()
        section = "[drng_sect]\n"
        assert text.count(section) == 1
        path = tmp_path / "openssl.cnf"
        path.write_text(text.replace(section, section + "".join(f"{k} = {v}\n" for k, v in keys.items())))
        return path

    return write


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; each test works on a copy."""
    root = tmp_path_factory.mktemp("installed")
    install(root)
    return root


@pytest.fixture
def image(installed: Path, tmp_path: Path) -> Image:
    root = tmp_path / "root"
    shutil.copytree(installed, root, symlinks=True)
    return Image(root)


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with .debs and .rpms, made once."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # of all workers
    folder = base / "all packages"  # with a blank
    with (base / "packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (base / "packages.made").exists():
            folder.mkdir(exist_ok=True)
            # Named as the caller sees it, not as the sources do.
            said_by("env", "-C", base, ROOT / "scripts/packaging/package.sh", folder.name)
            (base / "packages.made").touch()
    return folder
