# SPDX-License-Identifier: Apache-2.0
"""A server under AppArmor: who serves where its profile does not name drng's files, and what conf/apparmor adds to it.

This kernel need not have AppArmor: its parser compiles the abstraction, and Landlock denies what the abstraction does
not name. What AppArmor itself would do is not tried here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.builds import CONF, RELEASE, ROOT, SKIPPED, has_random_provider, need, said_by, served_by_drng
from tests.support.guide import DRNG, NOBODY, OPENSSL, PROFILES, table
from tests.support.servers import make_certificate

RANDOM_PROVIDER = "drng-random-provider.cnf"
ABSTRACTION = CONF / "apparmor/abstractions/drng"
CONFINED = ROOT / "tests/support/confined.py"

# What abstractions/base and the program's own profile let it read, in short.
USUAL = ("/bin", "/lib", "/lib64", "/usr", "/proc", "/dev", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/passwd")
USUAL += ("/etc/group", "/etc/nginx", "/etc/nsswitch.conf", "/etc/localtime")


@dataclass
class System:
    """drng's files below a folder, where no usual path leads, as `folder`/etc/ssl/drng and `folder`/usr/lib."""

    folder: Path

    @property
    def modules(self) -> Path:
        return self.folder / "usr/lib/ossl-modules"

    @property
    def profiles(self) -> Path:
        return self.folder / "etc/ssl/drng"

    def environment(self, profile: str) -> dict[str, str]:
        names = {"OPENSSL_CONF": str(self.profiles / profile), "OPENSSL_MODULES": str(self.modules)}
        return RELEASE.environment(names)

    def run(self, allowed: list[str], profile: str, *command: str) -> subprocess.CompletedProcess[str]:
        program = os.path.dirname(RELEASE.program("probe"))
        confined = [sys.executable, str(CONFINED), *USUAL, program, str(self.folder / "site"), *allowed, "--", *command]
        env = self.environment(profile)
        result = subprocess.run(confined, env=env, capture_output=True, text=True, check=False, timeout=60)
        if result.returncode == SKIPPED:
            pytest.skip(result.stderr.strip())
        return result


@pytest.fixture
def system(tmp_path: Path) -> System:
    # Another name than /tmp/...: rules of the abstraction are for the root of a system.
    made = System(tmp_path)
    made.modules.mkdir(parents=True)
    shutil.copy(RELEASE.modules / "drng.so", made.modules)
    made.profiles.mkdir(parents=True)
    for profile in CONF.glob("*.cnf"):
        shutil.copy(profile, made.profiles)
    return made


# ---- The abstraction ----


def alternatives(pattern: str) -> list[str]:
    """`a{b,c}` is ab and ac, as AppArmor reads it."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        return [pattern]
    return [
        path
        for choice in found[1].split(",")
        for path in alternatives(pattern[: found.start()] + choice + pattern[found.end() :])
    ]


def named(root: Path) -> list[str]:
    """Files below the root that the abstraction's rules name."""
    text = ABSTRACTION.read_text()
    triplet = said_by("gcc", "-print-multiarch").strip()
    for variable, value in (
        ("@{PROC}", "/proc"),
        ("@{pid}", "[0-9]*"),
        ("@{tid}", "[0-9]*"),
        ("@{multiarch}", triplet),
    ):
        text = text.replace(variable, value)
    rules = re.findall(r"^ +(/\S+) +m?r,$", text, flags=re.M)
    assert len(rules) >= 6
    paths = [path for rule in rules for path in alternatives(rule)]
    return [str(file) for path in paths for file in root.glob(path.lstrip("/")) if file.is_file()]


def test_the_abstraction_compiles(tmp_path: Path) -> None:
    """With AppArmor's own parser, in a profile as docs/apparmor.md shows it."""
    parser = shutil.which("apparmor_parser", path="/usr/sbin:/sbin")
    if parser is None:
        pytest.skip("apparmor_parser is not installed")
    policy = tmp_path / "apparmor.d"
    shutil.copytree("/etc/apparmor.d", policy, symlinks=True)
    shutil.copy(ABSTRACTION, policy / "abstractions/drng")
    profile = tmp_path / "profile"
    lines = "".join(f"  include <abstractions/{name}>\n" for name in ("base", "openssl", "drng"))
    profile.write_text(f"abi <abi/3.0>,\ninclude <tunables/global>\nprofile t /usr/sbin/t {{\n{lines}}}\n")
    command = [parser, "--base", str(policy), "--skip-kernel-load", "--skip-cache", "--warn=all", str(profile)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert str(ABSTRACTION.name) not in result.stderr, "a warning of this file"
    (policy / "abstractions/drng").write_text(ABSTRACTION.read_text().replace(" r,", " ro,", 1))
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode != 0, "the failing twin"


def test_what_it_names_is_all_that_drng_needs(system: System) -> None:
    """The real files, of the root that a system has: here of the folder."""
    allowed = named(system.folder)
    assert str(system.modules / "drng.so") in allowed
    assert {str(system.profiles / path.name) for path in CONF.glob("*.cnf")} <= set(allowed)
    answer = system.run(allowed, "drng.cnf", RELEASE.program("probe"))
    assert served_by_drng(json.loads(answer.stdout))


def test_it_names_what_systemd_carries_to_a_service(system: System) -> None:
    """Which is all that a service with a user has of drng-enable's: nothing of /etc/ssl/drng."""
    credential = system.folder / "run/credentials/t.service/drng.cnf"
    credential.parent.mkdir(parents=True)
    shutil.copy(CONF / "drng.cnf", credential)
    allowed = [path for path in named(system.folder) if not path.startswith(str(system.profiles))]
    answer = system.run(allowed, str(credential), RELEASE.program("probe"))
    assert served_by_drng(json.loads(answer.stdout))
    assert not served_by_drng(json.loads(system.run(allowed, "drng.cnf", RELEASE.program("probe")).stdout))


# ---- Who serves ----

DENIED = ("nothing", "the module", "the file of drng's profile")
TABLE = table("what the confinement denies", ROOT / "docs" / "apparmor.md")


def allowed_but(denied: str, system: System) -> list[str]:
    paths = {"the module": str(system.modules), "the file of drng's profile": str(system.profiles)}
    return [path for path in named(system.folder) if not path.startswith(paths.get(denied, "none"))]


def nginx_conf(system: System) -> str:
    """With a certificate; `nginx -t` makes a context of TLS, which draws."""
    site = system.folder / "site"
    site.mkdir()
    cert, key = make_certificate(site)
    conf = site / "nginx.conf"
    server = f"server {{ listen 127.0.0.1:1 ssl; ssl_certificate {cert}; ssl_certificate_key {key}; }}"
    conf.write_text(f"pid {site}/pid; error_log stderr; events {{}} http {{ access_log off; {server} }}\n")
    return str(conf)


def in_words(system: System, denied: str, profile: str) -> str:
    """The cell; RAND_bytes and nginx are of one mind."""
    allowed = allowed_but(denied, system)
    answer = json.loads(system.run(allowed, profile, RELEASE.program("probe")).stdout)
    nginx = system.run(allowed, profile, need("nginx"), "-t", "-c", nginx_conf(system))
    assert (nginx.returncode == 0) == (answer["rand_bytes"] == 1), nginx.stderr
    if answer["rand_bytes"] != 1:
        assert "cannot load certificate" not in nginx.stderr
        return NOBODY
    return DRNG if served_by_drng(answer) else OPENSSL


def test_the_table_is_whole() -> None:
    assert list(TABLE) == list(DENIED)
    assert all(set(row) == set(PROFILES) for row in TABLE.values())


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("denied", DENIED)
def test_who_serves(system: System, denied: str, profile: str) -> None:
    if profile == RANDOM_PROVIDER and not has_random_provider():
        pytest.skip("OpenSSL before 3.5 does not know this profile")
    assert in_words(system, denied, profile) == TABLE[denied][profile]
