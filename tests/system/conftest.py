"""Fixtures of these tests, and the names that their assertions are spelt out for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.support")

from tests.support.builds import CONF, FLAVOURS, RELEASE, ROOT, ConfigWriter, Flavour  # noqa: E402
from tests.support.image import Image, install  # noqa: E402
from tests.support.packages import output  # noqa: E402


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> Flavour:
    return FLAVOURS[request.param]()


@pytest.fixture
def release() -> Flavour:
    return RELEASE


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
    """The folder with a .deb, an .rpm and a .tar.gz; tests of their own look at them with lintian and rpmlint."""
    folder = tmp_path_factory.mktemp("packages")
    output("env", "DRNG_LINT=no", ROOT / "scripts/packaging/package.sh", folder)
    return folder
