# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/servers.md, typed as they stand on a copy of this machine that is thrown away afterwards."""

import re
from pathlib import Path

from tests.support import typed
from tests.support.builds import ROOT
from tests.support.servers import PAGE
from tests.support.typed import type_in

GUIDE = ROOT / "docs" / "servers.md"


def commands(heading: str) -> list[str]:
    return typed.commands(GUIDE, heading)


CERTIFICATE = [line for line in commands("nginx") if line.startswith("openssl req")]


def test_nginx_there_and_back(tmp_path: Path) -> None:
    said = type_in(commands("nginx") + commands("See that it works") + commands("Go back"), tmp_path)
    assert PAGE in said
    assert re.search(r"^pid +\d+\nname +nginx\nunit +.*\nowner +.*\nserved-by +drng$", said, flags=re.MULTILINE)
    assert re.search(r"^config +/etc/ssl/drng/drng.cnf$", said, flags=re.MULTILINE)


def test_apache(tmp_path: Path) -> None:
    said = type_in(CERTIFICATE + commands("Apache"), tmp_path)
    assert "</html>" in said


def test_haproxy(tmp_path: Path) -> None:
    said = type_in(CERTIFICATE + commands("HAProxy"), tmp_path)
    assert PAGE in said
