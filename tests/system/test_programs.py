# SPDX-License-Identifier: Apache-2.0
"""Some of the programs of tests/served/table.toml, of different kinds, on this machine's Debian: the short form of
scripts/ci/test-programs.sh, which tries all of them on two."""

import platform
import subprocess
import tomllib

import pytest

from tests.served import __main__ as served
from tests.support.builds import BUILD

SHORT = (
    "nginx",
    "Apache, event",
    "haproxy",
    "stunnel",
    "openssl",
    "curl",
    "git",
    "wget",
    "apt",
    "Python",
    "Perl, Net::SSLeay",
    "OpenSSH, ssh-keygen",
    "a program with libcrypto linked into it",
    "a chroot without /etc/ssl",
)
TABLE = {program["name"]: program for program in tomllib.loads(served.TABLE.read_text())["program"]}


def missing(package: str) -> bool:
    said = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], capture_output=True, check=False)
    return said.stdout != b"installed"


@pytest.mark.parametrize("name", SHORT)
def test_who_serves_it_is_as_the_table_says(name: str) -> None:
    program = TABLE[name]
    if lacking := list(filter(missing, program.get("packages", []))):
        pytest.skip(f"needs {' '.join(lacking)}")
    (BUILD / "served").mkdir(exist_ok=True)
    program = program | {"packages": []}
    result = served.tried(program, platform.freedesktop_os_release()["VERSION_CODENAME"], "/")
    assert "failed" not in result, result["failed"]
    assert served.is_expected(program, result), result
