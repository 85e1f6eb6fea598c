"""drng-enable, as installed: what it turns on, what it gives back, and what it refuses.

Most tests run it live: in a mount namespace in which the image's folders stand in the place of the machine's. With
--root the same image is changed from outside, where nothing of it may be loaded or run.
"""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.drng.enable import verify
from scripts.drng.files import Tree
from tests.support.builds import RELEASE, ROOT, has_random_provider
from tests.support.image import NOBODY, STOCK, Image

# Ubuntu's and Fedora's way: providers named, and a policy for every TLS program.
POLICY = """\
openssl_conf = openssl_init
[openssl_init]
providers = provider_sect
ssl_conf = ssl_sect
[provider_sect]
default = default_sect
legacy = legacy_sect
[default_sect]
activate = 1
[legacy_sect]
activate = 1
[ssl_sect]
system_default = system_default_sect
[system_default_sect]
MinProtocol = TLSv1.3
CipherString = DEFAULT:@SECLEVEL=2
"""

# No name as in the profiles, and keys in another order.
OWN_NAMES = """\
HOME = .
openssl_conf = my_init
[ my_init ]
ssl_conf = my_ssl
providers = my_providers
[my_providers]
1.legacy = my_legacy
2.default = my_default
[my_legacy]
activate = 1
[my_default]
activate = 1
[my_ssl]
system_default = my_system
[my_system]
CipherString = AES256-GCM-SHA384
"""

NO_INIT = "HOME = .\n[req]\ndistinguished_name = dn\n[dn]\n"

# The default provider in the file, but for its activation; OpenSSL loads it by itself then.
NOT_ACTIVATED = """\
openssl_conf = openssl_init
[openssl_init]
providers = provider_sect
[provider_sect]
default = default_sect
[default_sect]
"""

OWN_RANDOM = "openssl_conf = openssl_init\n[openssl_init]\nrandom = mine\n[mine]\ncipher = AES-128-CTR\n"

FILES = {
    "stock": None,
    "policy": POLICY,
    "own-names": OWN_NAMES,
    "no-init": NO_INIT,
    "not-activated": NOT_ACTIVATED,
    "own-random": OWN_RANDOM,
    "empty": "",
    "no-newline": POLICY.rstrip("\n"),
    "default-own-section": POLICY.replace("default_sect", "plain"),
}


@pytest.fixture
def offline(image: Image) -> Image:
    image.offline = True
    return image


@pytest.fixture(params=["live", "offline"])
def either(image: Image, request: pytest.FixtureRequest) -> Image:
    image.offline = request.param == "offline"
    return image


@pytest.fixture(autouse=True)
def the_machine_is_left_alone() -> Iterator[None]:
    before = STOCK.read_bytes()
    yield
    assert STOCK.read_bytes() == before


# ---- The system's openssl.cnf ----


@pytest.mark.parametrize("name", FILES)
def test_on_and_off(either: Image, name: str) -> None:
    image = either
    if (text := FILES[name]) is not None:
        image.conf.write_text(text)
    original = image.files()
    providers, ciphers = image.providers(image.conf), image.ciphers(image.conf)
    assert not image.served(image.conf)

    said = image.ok("on", "--system")
    assert "strict is on" in said
    assert ("random = mine has no effect" in said) == (name == "own-random")
    assert image.served(image.conf)
    assert image.providers(image.conf) == providers | {"drng"}
    assert image.ciphers(image.conf) == ciphers
    assert image.conf.read_bytes().startswith(original[str(image.conf)]), "nothing but an addition"
    assert image.backup.read_bytes() == original[str(image.conf)]

    assert "drng is off" in image.ok("off", "--system")
    assert image.files() == original, "byte for byte, and nothing left behind"
    assert not image.served(image.conf)


def test_a_policy_is_seen_by_the_test_above(image: Image) -> None:
    """Its failing twin: the ciphers differ between these files, so a lost policy would have shown."""
    stock = image.ciphers(image.conf)
    image.conf.write_text(OWN_NAMES)
    own = image.ciphers(image.conf)
    assert own != stock
    image.conf.write_text(OWN_NAMES + ".include /etc/ssl/drng/drng.cnf\n")
    assert image.ciphers(image.conf) == stock


def test_a_plain_include_keeps_what_the_stock_file_says(image: Image) -> None:
    """What the profiles' heads promise, at the end of the file and at its head."""
    for text in (image.conf.read_text(), POLICY):
        for profile in ("drng", "drng-permissive"):
            line = f".include /etc/ssl/drng/{profile}.cnf\n"
            image.conf.write_text(text)
            providers, ciphers = image.providers(image.conf), image.ciphers(image.conf)
            for with_drng in (text + line, line + text):
                image.conf.write_text(with_drng)
                assert image.served(image.conf)
                assert image.providers(image.conf) == providers | {"drng"}
                assert image.ciphers(image.conf) == ciphers


def test_a_plain_include_is_not_enough_for_other_names(image: Image) -> None:
    """As they say, too: at the end of the file the profile's sections put themselves in the place of the file's."""
    image.conf.write_text(OWN_NAMES + ".include /etc/ssl/drng/drng.cnf\n")
    assert "legacy" not in image.providers(image.conf)


def test_on_twice_changes_nothing(either: Image) -> None:
    image = either
    image.ok("on", "--system")
    files, status = image.files(), image.conf.stat()
    assert "on already" in image.ok("on", "--system")
    assert image.files() == files
    assert (image.conf.stat().st_ino, image.conf.stat().st_mtime_ns) == (status.st_ino, status.st_mtime_ns)


def test_off_where_it_is_off(either: Image) -> None:
    image = either
    files = image.files()
    assert "drng is off already" in image.ok("off", "--system")
    assert "drng is off already" in image.ok("off", "--service", "nginx")
    assert image.files() == files


def test_off_where_drng_serves_by_lines_of_somebody_s(either: Image) -> None:
    """To be told that it is off would be wrong."""
    image = either
    image.conf.write_text(image.conf.read_text() + (ROOT / "conf/drng.cnf").read_text())
    files = image.files()
    said = image.ok("off", "--system")
    assert "drng is off already" in said
    assert re.search(r"drng still serves, by lines of \S*/etc/ssl/openssl.cnf that drng-enable did not write", said)
    assert re.search(r"still serves nginx.service, by \S*/etc/ssl/openssl.cnf", image.ok("off", "--service", "nginx"))
    assert image.files() == files


def test_from_one_profile_to_another(image: Image) -> None:
    original = image.files()
    image.ok("on", "--system")
    image.ok("on", "--system", "--profile", "permissive")
    text = image.conf.read_text()
    assert "[drng_permissive]\n" in text
    assert "[drng_strict]" not in text
    assert "\n.include" not in text, "the profile itself: an include that leads nowhere would be passed over"
    assert image.backup.read_bytes() == original[str(image.conf)], "of the file without drng"
    assert "permissive is on" in image.ok("status", "--system")
    assert image.served(image.conf)
    image.ok("off", "--system")
    assert image.files() == original


def test_random_provider_takes_openssl_3_5(image: Image) -> None:
    if has_random_provider():
        image.ok("on", "--system", "--profile", "random-provider")
        assert image.served(image.conf)
    else:
        assert "needs OpenSSL 3.5" in image.refused("on", "--system", "--profile", "random-provider")


def test_an_engine_that_outranks_drng_is_refused(image: Image) -> None:
    engine = RELEASE.program("rand_engine.so")
    image.conf.write_text(
        "openssl_conf = i\n[i]\nengines = e\n[e]\nrand_engine = r\n"
        f"[r]\ndynamic_path = {engine}\ndefault_algorithms = RAND\n"
    )
    said = image.refused("on", "--system")
    assert "RAND_bytes: ENGINE rand_engine outranks every generator" in said
    assert "random numbers would not come from drng" in said


def test_what_the_operator_changes_meanwhile_is_kept(image: Image) -> None:
    original = image.conf.read_text()
    image.ok("on", "--system")
    image.conf.write_text("# mine\n" + image.conf.read_text() + "[mine]\na = b")
    assert "is left" in image.ok("off", "--system")
    assert image.conf.read_text() == "# mine\n" + original + "[mine]\na = b"
    assert image.backup.read_text() == original


@pytest.mark.parametrize("whose", ["ours", "somebody's"])
def test_a_backup_that_is_there_is_kept(either: Image, whose: str) -> None:
    """It is the file before it was changed for the first time."""
    image = either
    kept = image.conf.read_bytes()
    if whose == "ours":
        image.ok("on", "--system")
        image.conf.write_text("# mine\n" + image.conf.read_text())
        image.ok("off", "--system")
    else:
        kept = b"a = b\n"
        image.backup.write_bytes(kept)
    assert "before-drng exists already" in image.ok("on", "--system")
    assert image.backup.read_bytes() == kept
    image.ok("off", "--system")
    assert image.backup.read_bytes() == kept


def test_a_backup_that_has_become_a_link_stays(image: Image) -> None:
    """By then openssl.cnf is the old one again, so nobody is told that nothing has been changed."""
    original = image.conf.read_bytes()
    image.ok("on", "--system")
    image.backup.unlink()
    image.backup.symlink_to("/etc/victim")
    said = image.ok("off", "--system")
    assert "before-drng is a link, which drng-enable did not make" in said
    assert "nothing has been changed" not in said
    assert image.conf.read_bytes() == original and image.backup.is_symlink()
    assert "drng is off already" in image.ok("off", "--system")


def test_the_file_keeps_its_attributes(image: Image) -> None:
    image.conf.chmod(0o640)
    image.ok("on", "--system")
    assert image.conf.stat().st_mode & 0o7777 == 0o640
    image.ok("off", "--system")
    assert image.conf.stat().st_mode & 0o7777 == 0o640


def test_the_owner_of_the_file_has_its_backup(either: Image) -> None:
    """As in an image that a user has built."""
    if os.geteuid() != 0:
        pytest.skip("files of another user take root")
    os.chown(either.conf, NOBODY, NOBODY)
    for _ in range(2):
        either.ok("on", "--system")
        assert [path.stat().st_uid for path in (either.conf, either.backup)] == [NOBODY, NOBODY]
        assert "warning" not in either.ok("off", "--system")
        assert not either.backup.exists()


def test_a_link_is_followed_inside_the_image(image: Image) -> None:
    link = image.root / "usr/lib/ssl/openssl.cnf"
    image.ok("on", "--system")
    assert link.is_symlink(), "openssl looks here, and it still leads to the file"
    assert b"drng-enable" in image.conf.read_bytes()
    (image.root / "way-out").symlink_to(image.root.parent)
    shutil.copy(STOCK, image.root.parent / "openssl.cnf")
    image.offline = True
    assert "leads out of" in image.refused("on", "--system", "--conf", "/way-out/openssl.cnf")
    assert (image.root.parent / "openssl.cnf").read_bytes() == STOCK.read_bytes()


def test_another_file(image: Image) -> None:
    other = image.root / "etc/other.cnf"
    other.write_text(POLICY)
    original = image.conf.read_bytes()
    image.ok("on", "--system", "--conf", "/etc/other.cnf")
    assert image.served(other)
    assert image.conf.read_bytes() == original
    assert "no such file" in image.refused("on", "--system", "--conf", "/etc/none.cnf")


@pytest.mark.parametrize("verb", ["on", "off"])
def test_a_dry_run_shows_and_writes_nothing(image: Image, verb: str) -> None:
    if verb == "off":
        image.ok("on", "--system")
    files = image.files()
    said = image.ok(verb, "--system", "--dry-run")
    sign = {"on": "+", "off": "-"}[verb]
    assert f"\n{sign}properties = provider=drng\n" in said
    assert image.files() == files


def test_status(image: Image) -> None:
    result = image.run("status", "--system")
    assert result.returncode == 1
    assert "is off" in result.stdout
    assert "CTR-DRBG of provider default" in result.stdout
    image.ok("on", "--system")
    said = image.ok("status", "--system")
    assert "strict is on" in said
    assert "CTR-DRBG of provider drng" in said
    assert "seeds: " in said


def test_status_where_the_module_has_gone(image: Image) -> None:
    image.ok("on", "--system")
    (image.modules / "drng.so").unlink()
    result = image.run("status", "--system")
    assert result.returncode == 1
    assert "strict is on" in result.stdout
    assert "no generator" in result.stdout
    assert "drng is off" in image.ok("off", "--system"), "the way back does not need the module"


# ---- What is refused, and leaves every file as it was ----


def test_a_missing_module(image: Image) -> None:
    (image.modules / "drng.so").unlink()
    for scope in (["--system"], ["--service", "nginx"]):
        said = image.refused("on", *scope)
        assert "could not load the shared library" in said
        assert "nothing has been changed" in said


def test_a_missing_module_even_for_the_permissive_profile(image: Image) -> None:
    (image.modules / "drng.so").unlink()
    assert "nothing has been changed" in image.refused("on", "--system", "--profile", "permissive")


def test_a_missing_profile(either: Image) -> None:
    image = either
    (image.root / "etc/ssl/drng/drng.cnf").unlink()
    assert "not installed" in image.refused("on", "--system")


def set_key(image: Image, line: str, profile_file: str = "drng.cnf") -> None:
    profile = image.root / "etc/ssl/drng" / profile_file
    text = profile.read_text()
    assert text.count("[drng_sect]\n") == 1
    profile.write_text(text.replace("[drng_sect]\n", f"[drng_sect]\n{line}\n"))


def test_a_mistyped_value(either: Image) -> None:
    image = either
    set_key(image, "fallback = maybe")
    said = image.refused("on", "--system")
    assert "fallback = maybe" in said
    assert "write one of yes, no" in said


def test_a_mistyped_key_is_warned_of(image: Image) -> None:
    set_key(image, "falback = no")
    said = image.ok("on", "--system")
    assert (
        "[drng_sect] falback = no: neither OpenSSL nor drng knows this key, and it is ignored; did you mean fallback?"
        in said
    )
    assert image.served(image.conf)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("this is no openssl.cnf\n", "missing equal sign"),
        ("openssl_conf = x\nconfig_diagnostics = 1\n[x]\nno_such_module = y\n", "does not load as it is"),
        (
            POLICY.replace("legacy = legacy_sect\n", "").replace("default = default_sect", "base = default_sect"),
            "does not activate the default provider",
        ),
        (
            POLICY.replace(
                "[ssl_sect]", "[openssl_init]\nalg_section = e\n[e]\ndefault_properties = fips=yes\n[ssl_sect]"
            ),
            "random numbers would not come from drng",
        ),
        (POLICY.replace("legacy = legacy_sect", "drng = legacy_sect"), "by lines that drng-enable did not write"),
        (POLICY + "# >>> drng-enable: strict\n", f"by hand: line {POLICY.count(chr(10)) + 1} # >>> drng-enable"),
        (POLICY + "# <<< drng-enable\n# >>> drng-enable: strict\n# <<< drng-enable\n", "out of order"),
        # A section left over and never named: it must not come alive because the profile uses its name.
        ("openssl_conf = x\n[x]\n[provider_sect]\nlegacy = l\n[l]\nactivate = 1\n", "not default drng"),
    ],
    ids=["no-conf", "broken", "no-default", "fips-properties", "own-drng", "half", "turned", "left-over"],
)
def test_files_that_are_refused(image: Image, text: str, reason: str) -> None:
    image.conf.write_text(text)
    said = image.refused("on", "--system")
    assert reason in said


def test_off_does_not_leave_a_file_that_does_not_load(image: Image) -> None:
    """It loads only for what somebody wrote between our marks."""
    image.conf.write_text(POLICY)
    image.ok("on", "--system")
    text = image.conf.read_text().replace("# <<<", "[default]\nconfig_diagnostics = 0\n# <<<")
    broken = "[default]\nconfig_diagnostics = 1\n[openssl_init]\nno_such_module = y\n"
    image.conf.write_text(text.replace("# >>>", broken + "# >>>"))
    assert "would not load without drng's lines" in image.refused("off", "--system")


def test_a_file_that_cannot_be_written(installed: Path) -> None:
    """By somebody else than root, whom permissions do not stop; a dry run needs none."""
    user = NOBODY if os.geteuid() == 0 else None
    # Not tmp_path, whose parents are closed to others.
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        image = Image(Path(directory) / "root")
        shutil.copytree(installed, image.root, symlinks=True)
        image.root.chmod(0o755)
        for path in (image.root / "etc").rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o555)
        for scope in (["--system"], ["--service", "nginx"]):
            assert "nothing has been changed" in image.refused("on", *scope, user=user)
        dry = image.run("on", "--system", "--dry-run", user=user)
        assert dry.returncode == 0, dry.stderr
        assert "+properties = provider=drng\n" in dry.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["on"],
        ["--system"],
        ["on", "off", "--system"],
        ["enable", "--system"],
        ["on", "--system", "--service", "nginx"],
        ["on", "--service"],
        ["on", "--service", ""],
        ["on", "--service", "../nginx"],
        ["on", "--service", "no-such-unit"],
        ["on", "--system", "--profile", "lax"],
        ["off", "--system", "--profile", "strict"],
        ["on", "--system", "--conf", "/etc/a b"],
        ["on", "--system", "--loud"],
        ["on", "--system", "--conf", ""],
        ["on", "--system", "--profiles", ""],
        ["on", "--system", "--root", ""],
    ],
    ids=" ".join,
)
def test_arguments_that_are_refused(image: Image, arguments: list[str]) -> None:
    before, result = image.files(), image.run(*arguments)
    # What is not there is no mistake in the arguments.
    assert result.returncode == (1 if "no-such-unit" in arguments else 64)
    assert image.files() == before
    said = result.stderr
    assert said.startswith("drng-enable: ") and "end-trial" not in said
    if arguments[-2:-1] and arguments[-2] in ("--conf", "--profiles", "--root") and arguments[-1] == "":
        assert f"{arguments[-2]} is empty" in said


# ---- One service ----


def openssl_conf_of(image: Image, drop_in: Path) -> Path:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read(drop_in)
    key, _, value = parser["Service"]["Environment"].partition("=")
    assert key == "OPENSSL_CONF"
    return image.root / value.lstrip("/")


@pytest.mark.parametrize("name", ["stock", "policy", "own-names"])
def test_a_service_on_and_off(either: Image, name: str) -> None:
    image = either
    if (text := FILES[name]) is not None:
        image.conf.write_text(text)
    original = image.files()
    providers, ciphers = image.providers(image.conf), image.ciphers(image.conf)

    said = image.ok("on", "--service", "nginx.service")
    assert "nginx.service: strict is on" in said
    assert "systemd does not run here" in said
    conf = openssl_conf_of(image, image.drop_in)
    assert image.served(conf)
    assert image.providers(conf) == providers | {"drng"}, "the service keeps what the system's file says"
    assert image.ciphers(conf) == ciphers
    assert not image.served(image.conf), "and the system is as it was"
    assert set(image.files()) - set(original) == {str(image.drop_in), str(conf)}

    files = image.files()
    assert "on already" in image.ok("on", "--service", "nginx")
    assert image.files() == files
    assert "strict is on" in image.ok("status", "--service", "nginx")

    assert "drng is off" in image.ok("off", "--service", "nginx")
    assert image.files() == original
    assert not image.drop_in.parent.exists()
    assert image.run("status", "--service", "nginx").returncode == 1


def test_a_service_beside_the_system(image: Image) -> None:
    original = image.files()
    image.ok("on", "--system", "--profile", "permissive")
    image.ok("on", "--service", "nginx", "--profile", "strict")
    conf = openssl_conf_of(image, image.drop_in)
    assert image.served(conf)
    (image.modules / "drng.so").unlink()
    assert RELEASE.probe(None, image.env(image.conf))["rand_bytes"] == 1, "permissive"
    assert RELEASE.probe(None, image.env(conf))["rand_bytes"] != 1, "strict"
    image.ok("off", "--service", "nginx")
    image.ok("off", "--system")
    assert {k: v for k, v in image.files().items() if not k.endswith(".so")} == original


def test_an_instance_of_a_template(either: Image) -> None:
    image = either
    image.ok("on", "--service", "stunnel@web")
    assert (image.root / "etc/systemd/system/stunnel@web.service.d/drng.conf").is_file()


def test_a_dry_run_for_a_service(image: Image) -> None:
    files = image.files()
    said = image.ok("on", "--service", "nginx", "--dry-run")
    assert "+Environment=OPENSSL_CONF=/etc/ssl/drng/service/nginx.cnf" in said
    assert "+.include /etc/ssl/openssl.cnf" in said
    assert image.files() == files
    image.ok("on", "--service", "nginx")
    files = image.files()
    assert "-Environment=OPENSSL_CONF=/etc/ssl/drng/service/nginx.cnf" in image.ok(
        "off", "--service", "nginx", "--dry-run"
    )
    assert image.files() == files


@pytest.mark.parametrize("place", ["drop-in", "unit", "environment-file", "unset"])
def test_another_openssl_conf_is_not_fought(either: Image, place: str) -> None:
    image = either
    line = "Environment=OPENSSL_CONF=/etc/mine.cnf\n"
    unit = image.root / "usr/lib/systemd/system/nginx.service"
    if place == "drop-in":
        image.drop_in.parent.mkdir(parents=True)
        (image.drop_in.parent / "override.conf").write_text("[Service]\n" + line)
    elif place == "unit":
        unit.write_text(unit.read_text() + line)
    elif place == "unset":
        unit.write_text(unit.read_text() + "UnsetEnvironment=OPENSSL_CONF\n")
    else:
        unit.write_text(unit.read_text() + "EnvironmentFile=-/etc/default/nginx\n")
        (image.root / "etc/default").mkdir()
        (image.root / "etc/default/nginx").write_text("OPENSSL_CONF=/etc/mine.cnf\n")
    assert "mentions OPENSSL_CONF already" in image.refused("on", "--service", "nginx")


@pytest.mark.parametrize(("service", "directory"), [("apache2", "apache2"), ("apache2@web", "apache2-web")])
def test_apache_s_envvars_are_not_fought(image: Image, service: str, directory: str) -> None:
    """apachectl sets what they say after systemd has set what the drop-in says."""
    units = image.root / "usr/lib/systemd/system"
    for name in ("apache2.service", "apache2@.service"):
        (units / name).write_text("[Service]\nExecStart=/usr/sbin/apachectl start\n")
    envvars = image.root / "etc" / directory / "envvars"
    envvars.parent.mkdir()
    shutil.copy(ROOT / "conf/apache/envvars", envvars)
    assert "mentions OPENSSL_CONF already" in image.refused("on", "--service", service)
    envvars.write_text("export OPENSSL_CONF_INCLUDE=/etc\n")
    assert "mentions OPENSSL_CONF_INCLUDE already" in image.refused("on", "--service", service)
    envvars.write_text("export OPENSSL_\\\nCONF=/etc/mine.cnf\n")
    assert "mentions OPENSSL_CONF already" in image.refused("on", "--service", service)
    envvars.write_text("# export OPENSSL_CONF=/etc/mine.cnf\nexport MY_OPENSSL_CONF=/etc\n")
    image.ok("on", "--service", service)


def test_a_drop_in_by_somebody_else_is_left_alone(either: Image) -> None:
    image = either
    image.drop_in.parent.mkdir(parents=True)
    shutil.copy(ROOT / "conf/systemd/nginx.service.d/drng.conf", image.drop_in)
    assert "drng-enable did not make it" in image.refused("on", "--service", "nginx")
    assert "drng-enable did not make it" in image.refused("off", "--service", "nginx")


# ---- What drng 0.1.0 wrote for a service ----

OLD_OWN = """\
# made by drng-enable for nginx.service: what the system's openssl.cnf says, then drng.
.include /etc/ssl/openssl.cnf
# >>> drng-enable: strict
# drng-enable off takes these lines away, and on writes them anew; settings of drng's go into the file named here.
.include /etc/ssl/drng/drng.cnf
# <<< drng-enable
"""
OLD_DROP_IN = """\
# made by drng-enable
[Service]
Environment=OPENSSL_CONF=/etc/ssl/drng/service/nginx.cnf
"""


def by_0_1_0(image: Image, own: str = OLD_OWN, drop_in: str = OLD_DROP_IN) -> Path:
    """The service's file of an image on which 0.1.0 has switched it on."""
    path = image.root / "etc/ssl/drng/service/nginx.cnf"
    for file, text in ((path, own), (image.drop_in, drop_in)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return path


def test_what_0_1_0_switched_on_is_on_and_lacks_the_check(either: Image) -> None:
    by_0_1_0(either)
    said = either.ok("status", "--service", "nginx")
    assert "nginx.service: strict is on" in said
    assert "is of drng 0.1.0 and has no check before the start: run drng-enable on --service nginx" in said
    assert "did not write" not in said
    assert "not in effect" not in said


def test_what_0_1_0_switched_on_is_switched_off(either: Image) -> None:
    """The package's removal does so: it would fail otherwise."""
    before = either.files()
    by_0_1_0(either)
    either.ok("off", "--service", "nginx")
    assert either.files() == before


def test_what_0_1_0_switched_on_is_written_anew(either: Image) -> None:
    path = by_0_1_0(either)
    either.ok("on", "--service", "nginx")
    assert "ExecStartPre=" in either.drop_in.read_text()
    assert ".include /etc/ssl/drng/drng.cnf" not in path.read_text()
    assert "drng 0.1.0" not in either.ok("status", "--service", "nginx")


@pytest.mark.parametrize(
    "files",
    [(OLD_OWN + "# mine\n", OLD_DROP_IN), (OLD_OWN, OLD_DROP_IN + "Environment=MINE=1\n")],
    ids=["own", "drop-in"],
)
def test_what_somebody_has_added_to_0_1_0_s_files_is_not_lost(either: Image, files: tuple[str, str]) -> None:
    """The failing twin."""
    by_0_1_0(either, *files)
    assert "has lines that drng-enable did not write" in either.refused("off", "--service", "nginx")


@pytest.mark.parametrize("which", ["drop-in", "own"])
def test_what_somebody_adds_to_a_service_s_files_is_not_lost(either: Image, which: str) -> None:
    image = either
    image.ok("on", "--service", "nginx")
    path = image.drop_in if which == "drop-in" else openssl_conf_of(image, image.drop_in)
    text = path.read_text()
    line = "LimitNOFILE=4096" if which == "drop-in" else "[somebody_s]\nMinProtocol = TLSv1.3"
    path.write_text(f"{text}{line}\n")
    for verb in ("on", "off"):
        said = image.refused(verb, "--service", "nginx")
        shown = path.relative_to(image.root)
        assert f"/{shown} has lines that drng-enable did not write: '{line.splitlines()[0]}'" in said
        assert "nothing has been changed" in said
        assert "properties" not in said, "of ours none is called theirs"
    assert f"'{line.splitlines()[-1]}'; on and off refuse" in image.run("status", "--service", "nginx").stdout
    path.write_text(text.replace("\n", "\n\n", 1))
    assert "lines of it are missing or in another order" in image.refused("off", "--service", "nginx")
    path.write_text(text)
    assert "on and off refuse" not in image.ok("status", "--service", "nginx")
    image.ok("off", "--service", "nginx")


SAYINGS = {
    "wildcard": ("EnvironmentFile=/etc/def*/*.env", "/etc/default/a.env mentions OPENSSL_CONF"),
    "specifier": ("EnvironmentFile=-%E/default/%p-%i.env", "/etc/default/stunnel-web.env mentions OPENSSL_CONF"),
    "unknown": ("EnvironmentFile=/etc/default/%H.env", "what %H stands for is not known"),
    "unknown name": ("Environment=%I=/x", "the name of the variable is not known"),
    "modules": ("Environment=OPENSSL_MODULES=/tmp", "mentions OPENSSL_MODULES"),
    "after a sign": ("Environment=A=# OPENSSL_CONF=/x", "mentions OPENSSL_CONF"),
    "escaped": ("Environment=OPENSSL\\x5fCONF=/x", "mentions OPENSSL_CONF"),
}


@pytest.mark.parametrize("how", SAYINGS)
def test_what_has_a_say_by_another_way(either: Image, how: str) -> None:
    image = either
    line, reason = SAYINGS[how]
    (image.root / "etc/default").mkdir()
    for name in ("a", "stunnel-web"):
        (image.root / f"etc/default/{name}.env").write_text("OPENSSL_CONF=/etc/mine.cnf\n")
    unit = image.root / "usr/lib/systemd/system/stunnel@.service"
    unit.write_text(f"{unit.read_text()}{line}\n")
    said = image.refused("on", "--service", "stunnel@web")
    assert reason in said
    assert said.endswith("; nothing has been changed\n")


def test_a_file_of_a_service_that_has_gone_is_said(either: Image) -> None:
    """The service would not start, or be served by OpenSSL's own generator."""
    image = either
    image.ok("on", "--service", "nginx")
    own = openssl_conf_of(image, image.drop_in)
    own.unlink()
    status = image.run("status", "--service", "nginx")
    assert status.returncode == 1
    assert (
        f"/{own.relative_to(image.root)}, which is not there: on and off --service nginx both mend that; "
        "until then it does not start\n" in status.stdout
    )
    image.ok("on", "--service", "nginx")
    assert own.is_file()
    image.drop_in.unlink()
    assert image.run("status", "--service", "nginx").stdout.endswith("nginx.service: drng is off\n")
    wrong = image.run("on", "nginx")
    assert (wrong.returncode, "a service is named by --service nginx" in wrong.stderr) == (64, True)


def test_a_file_that_is_too_long_is_not_taken_for_an_empty_one(either: Image) -> None:
    """systemd reads all of it."""
    image = either
    drop_in = image.root / "etc/systemd/system/nginx.service.d/more.conf"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text("[Service]\n" + "# all of this is a comment\n" * (1 << 18) + "Environment=OPENSSL_CONF=/x\n")
    assert "more.conf is longer than 4194304 bytes; nothing has been changed" in image.refused(
        "on", "--service", "nginx"
    )


def test_a_masked_unit_is_said(either: Image) -> None:
    (either.root / "etc/systemd/system").mkdir(parents=True, exist_ok=True)
    (either.root / "etc/systemd/system/nginx.service").symlink_to("/dev/null")
    assert "nginx.service is masked" in either.refused("on", "--service", "nginx")


def test_a_name_by_systemd_escape(either: Image) -> None:
    image = either
    image.ok("on", "--service", "stunnel@a\\x2db")
    drop_in = image.root / "etc/systemd/system/stunnel@a\\x2db.service.d/drng.conf"
    assert "Environment=OPENSSL_CONF=/etc/ssl/drng/service/stunnel@a\\\\x2db.cnf\n" in drop_in.read_text()
    assert (image.root / "etc/ssl/drng/service/stunnel@a\\x2db.cnf").is_file()
    assert "strict is on" in image.ok("status", "--service", "stunnel@a\\x2db")
    image.ok("off", "--service", "stunnel@a\\x2db")
    assert not drop_in.exists()


OVERRULING = {
    "type.d": ("etc/systemd/system/service.d/zz.conf", "Environment=OPENSSL_CONF=/etc/mine.cnf"),
    "type.d, before ours": ("usr/lib/systemd/system/service.d/a.conf", "Environment=A=b OPENSSL_CONF=/etc/mine.cnf"),
    "later, and emptied": ("usr/lib/systemd/system/nginx.service.d/zz.conf", "Environment="),
    "check emptied": ("usr/lib/systemd/system/nginx.service.d/zz.conf", "ExecStartPre="),
    "our name, above ours": ("etc/systemd/system.control/nginx.service.d/drng.conf", "Environment=A=b"),
    "prefix": ("etc/systemd/system/web-.service.d/zz.conf", "Environment=OPENSSL_CONF=/etc/mine.cnf"),
    "template": ("etc/systemd/system/web-front@.service.d/zz.conf", "Environment=OPENSSL_CONF=/etc/mine.cnf"),
    "alias": ("etc/systemd/system/nginx.service.d/zz.conf", "Environment=OPENSSL_CONF=/etc/mine.cnf"),
    "continued": ("etc/systemd/system/nginx.service.d/zz.conf", "Environment=A=b \\\n  OPENSSL_CONF=/etc/mine.cnf"),
}


@pytest.mark.parametrize("how", OVERRULING)
def test_what_overrules_a_drop_in_by_systemd_s_rules(either: Image, how: str) -> None:
    file, line = OVERRULING[how]
    image = either
    units = image.root / "usr/lib/systemd/system"
    (units / "web-front@.service").write_text("[Service]\nExecStart=/bin/true\n")
    (units / "other.service").symlink_to("nginx.service")
    service = {"prefix": "web-front@a", "template": "web-front@a", "alias": "other"}.get(how, "nginx")
    (image.root / file).parent.mkdir(parents=True, exist_ok=True)
    (image.root / file).write_text(f"[Service]\n{line}\n")
    said = image.refused("on", "--service", service)
    assert f"/{file}" in said
    assert "nothing has been changed" in said
    (image.root / file).unlink()
    image.ok("on", "--service", service)
    (image.root / file).write_text(f"[Service]\n{line}\n")
    result = image.run("status", "--service", service)
    assert result.returncode == 1
    assert "but it is not in effect: " in result.stdout


def test_a_drop_in_that_is_masked_has_no_say(either: Image) -> None:
    """By one of its name in a directory before it, or by a link to /dev/null."""
    image = either
    below = image.root / "usr/lib/systemd/system/nginx.service.d"
    below.mkdir()
    for name in ("a.conf", "b.conf"):
        (below / name).write_text("[Service]\nEnvironment=OPENSSL_CONF=/etc/mine.cnf\n")
    image.drop_in.parent.mkdir(parents=True)
    (image.drop_in.parent / "a.conf").symlink_to("/dev/null")
    (image.drop_in.parent / "b.conf").write_text("[Service]\nNice=1\n")
    image.ok("on", "--service", "nginx")


# ---- The profile's text ----


@pytest.mark.parametrize("scope", [("--system",), ("--service", "nginx")], ids=" ".join)
def test_a_profile_that_has_gone_changes_nothing(either: Image, scope: tuple[str, ...]) -> None:
    """It is in the file, where an include that leads nowhere would be passed over in silence."""
    image = either
    image.ok("on", *scope)
    conf = image.conf if scope == ("--system",) else openssl_conf_of(image, image.drop_in)
    for profile in (image.root / "etc/ssl/drng").glob("*.cnf"):
        profile.unlink()
    assert image.served(conf)
    (image.modules / "drng.so").rename(image.root / "drng.so")
    assert RELEASE.probe(None, image.env(conf))["rand_bytes"] != 1
    (image.root / "drng.so").rename(image.modules / "drng.so")
    said = image.ok("status", *scope)
    assert "drng.cnf is not installed" in said
    image.ok("off", *scope)


@pytest.mark.parametrize("scope", [("--system",), ("--service", "nginx")], ids=" ".join)
def test_a_profile_that_has_changed_is_told_and_taken_up(either: Image, scope: tuple[str, ...]) -> None:
    image = either
    image.ok("on", *scope)
    assert "is not what these lines say" not in image.ok("status", *scope)
    set_key(image, "fallback = no")
    assert "differs from the lines in effect: run drng-enable on" in image.ok("status", *scope)
    conf = image.conf if scope == ("--system",) else openssl_conf_of(image, image.drop_in)
    assert "fallback = no" not in conf.read_text()
    image.ok("on", *scope)
    assert "\nfallback = no\n" in conf.read_text()
    assert "is not what these lines say" not in image.ok("status", *scope)


@pytest.mark.parametrize("scope", [("--system",), ("--service", "nginx")], ids=" ".join)
def test_the_profile_that_is_on_stays_where_none_is_named(either: Image, scope: tuple[str, ...]) -> None:
    """Whoever follows the advice of status, to run `on` again, would have been given another one."""
    image = either
    image.ok("on", *scope, "--profile", "permissive")
    set_key(image, "fallback = no", "drng-permissive.cnf")
    assert "differs from the lines in effect: run drng-enable on" in image.ok("status", *scope)
    assert "permissive is on" in image.ok("on", *scope)
    assert "permissive is on already" in image.ok("on", *scope)
    assert "strict is on" in image.ok("on", *scope, "--profile", "strict")


def test_who_serves_a_service_that_drng_enable_has_not_touched(either: Image) -> None:
    """By the system's openssl.cnf, or by a file that its unit names; the exit status is that of who serves."""
    image = either
    serving = "names drng for every generator" if image.offline else "public: CTR-DRBG of provider drng"
    nothing = "nginx.service: drng-enable has written nothing for it"
    off = image.run("status", "--service", "nginx")
    assert (off.returncode, off.stdout.endswith("nginx.service: drng is off\n")) == (1, True)
    image.ok("on", "--system")
    said = image.ok("status", "--service", "nginx")
    assert nothing in said and "it would get, by /" in said and serving in said
    image.ok("off", "--system")
    image.drop_in.parent.mkdir(parents=True)
    other = image.drop_in.with_name("other.conf")
    other.write_text("[Service]\nEnvironment=OPENSSL_CONF=/etc/ssl/drng/drng-permissive.cnf\n")
    said = image.ok("status", "--service", "nginx")
    assert nothing in said and "/etc/ssl/drng/drng-permissive.cnf:\n" in said and serving in said


def test_a_file_that_does_not_parse_is_said_to_serve_nobody(either: Image) -> None:
    image = either
    image.ok("on", "--system")
    image.conf.write_text(image.conf.read_text().replace("[drng_sect]", "[drng_sect"))
    result = image.run("status", "--system")
    assert result.returncode == 1
    assert "no generator of drng's, since OpenSSL cannot read it: " in result.stdout
    assert "missing close square bracket" in result.stdout and "nothing has been changed" not in result.stderr


def test_a_strict_service_that_would_not_start_is_said_so(image: Image) -> None:
    image.ok("on", "--service", "nginx")
    own = openssl_conf_of(image, image.drop_in)
    own.write_text(own.read_text().replace("providers = ", "provider_s = "))
    result = image.run("status", "--service", "nginx")
    assert result.returncode == 1
    assert result.stdout.endswith("it would not start: the check before its start finds no drng\n")


@pytest.mark.parametrize("scope", [("--system",), ("--service", "nginx")], ids=" ".join)
def test_a_hand_edit_is_not_taken_for_a_changed_profile(either: Image, scope: tuple[str, ...]) -> None:
    image = either
    image.ok("on", *scope)
    conf = image.conf if scope == ("--system",) else openssl_conf_of(image, image.drop_in)
    conf.write_text(conf.read_text().replace("[drng_sect]\n", "[drng_sect]\nconditioner = hmac-sha256\n"))
    said = image.ok("status", *scope)
    assert "differs from the lines in effect" not in said
    assert ("somebody has changed the lines" if scope == ("--system",) else "has lines that drng-enable did") in said
    if scope == ("--system",):
        image.ok("on", *scope)
        assert "somebody has changed" not in image.ok("status", *scope)
        image.ok("off", *scope)


def test_paths_of_an_image_are_those_that_the_operator_can_type(offline: Image) -> None:
    named: list[str] = []
    for words in (("on", "--system"), ("status", "--system"), ("off", "--system"), ("on", "--service", "nginx")):
        for extra in (("--dry-run",), ()) if words[0] != "status" else ((),):
            result = offline.run(*words, *extra)
            assert result.returncode == 0, result.stderr
            lines = [line for line in result.stdout.splitlines() if line.startswith(("drng-enable: ", "--- ", "+++ "))]
            named += re.findall(r"(?<!\S)/\S+", "\n".join(lines))
    named = [path for path in named if not path.startswith("/dev/null")]
    assert len(named) > 7
    assert all(path.startswith(str(offline.root)) for path in named), named


@pytest.mark.parametrize(("profile", "checked"), [("strict", True), ("permissive", False)])
def test_a_strict_service_is_checked_before_it_starts(either: Image, profile: str, checked: bool) -> None:
    either.ok("on", "--service", "nginx", "--profile", profile)
    assert ("ExecStartPre=" in either.drop_in.read_text()) == checked


def guard_of(image: Image) -> str:
    """The command as systemd hands it to the shell."""
    text = image.drop_in.read_text().replace("\\\n", " ")
    found = re.search(r"^ExecStartPre=/bin/sh -c '(.*)'$", text, flags=re.M)
    assert found is not None
    return found[1].replace("$$", "$")


def test_the_check_before_the_start_says_why(image: Image) -> None:
    """What openssl says of a module that it does not load, and of a file that it does not read."""
    image.ok("on", "--service", "nginx")
    conf, command = openssl_conf_of(image, image.drop_in), ["/bin/sh", "-c", guard_of(image)]

    def start(**env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env={**image.env(conf), **env}, capture_output=True, text=True, check=False)

    assert (start().returncode, start().stderr) == (0, "")
    gone = start(OPENSSL_MODULES="/nowhere")
    assert gone.returncode == 1
    assert "drng is not loaded under OPENSSL_CONF" in gone.stderr
    assert "/nowhere/drng.so: cannot open shared object file" in gone.stderr
    hidden = start(OPENSSL_CONF="/nowhere/x.cnf")
    assert hidden.returncode == 1
    assert "the file that OPENSSL_CONF names cannot be read" in hidden.stderr


SANDBOXES = {
    "InaccessiblePaths=/etc/ssl/drng": "InaccessiblePaths=/etc/ssl/drng hides /etc/ssl/drng/service/nginx.cnf",
    "InaccessiblePaths=-/usr/lib": "InaccessiblePaths=/usr/lib hides /usr/lib",
    "TemporaryFileSystem=/etc:ro": "TemporaryFileSystem=/etc hides /etc/ssl/drng/service/nginx.cnf",
    "NoExecPaths=/\nExecPaths=/usr/sbin": "NoExecPaths=/ does not let it execute /usr/bin/openssl",
    "RootDirectory=/srv/x": "RootDirectory=/srv/x has its own files in place of /etc/ssl/drng/service/nginx.cnf",
    "RootImage=/srv/x.raw": "RootImage=/srv/x.raw has its own files",
    "InaccessiblePaths=/home /etc/sslx\nTemporaryFileSystem=/var": "",
    "InaccessiblePaths=/etc\nInaccessiblePaths=": "",
    "TemporaryFileSystem=/etc\nBindReadOnlyPaths=/etc/ssl": "",
    "NoExecPaths=/\nExecPaths=/usr /bin /lib": "",
    "RootDirectory=/": "",
}


@pytest.mark.parametrize("setting", SANDBOXES)
def test_a_sandbox_that_hides_what_is_needed_is_warned_of(either: Image, setting: str) -> None:
    unit = either.root / "usr/lib/systemd/system/nginx.service"
    unit.write_text(f"[Service]\nExecStart=/usr/sbin/nginx\n{setting}\n")
    for verb in ("on", "status"):
        said = either.ok(verb, "--service", "nginx")
        assert (SANDBOXES[setting] in said) if SANDBOXES[setting] else "unless what is there" not in said
    if SANDBOXES[setting]:
        assert "it would not start" in said
        assert "OpenSSL's own generator would serve" in either.ok("on", "--service", "nginx", "--profile", "permissive")


@pytest.mark.parametrize(
    ("service", "file"),
    [("dovecot", "dovecot/dovecot.conf"), ("postfix", "postfix/main.cf"), ("postfix@-", "postfix/main.cf")],
)
def test_a_server_that_keeps_the_variable_from_its_programs_is_warned_of(
    either: Image, service: str, file: str
) -> None:
    """Postfix and Dovecot hand on what import_environment names: a strict profile would be in force nowhere."""
    unit, own = either.root / f"usr/lib/systemd/system/{service}.service", either.root / "etc" / file
    unit.write_text("[Service]\nExecStart=/bin/true\n")
    own.parent.mkdir()
    for text, warned in {"": 1, "# OPENSSL_CONF\n": 1, "import_environment = TZ\n  OPENSSL_CONF\n": 0}.items():
        own.write_text(text)
        for verb in ("on", "status"):
            said = either.ok(verb, "--service", service)
            assert len(re.findall(f"add OPENSSL_CONF to import_environment in .*/{file}\n", said)) == warned


def test_a_template_takes_an_instance(either: Image) -> None:
    assert "name an instance of it, stunnel@NAME" in either.refused("on", "--service", "stunnel@")


def test_a_service_that_is_not_there_is_not_off_already(either: Image) -> None:
    for verb in ("off", "status", "on"):
        assert "there is no unit ngnix.service" in either.refused(verb, "--service", "ngnix")


def test_what_has_gone_since_can_be_switched_off(either: Image) -> None:
    """The service's own unit, and the system's openssl.cnf."""
    before = either.files()
    either.ok("on", "--service", "nginx")
    (either.root / "usr/lib/systemd/system/nginx.service").unlink()
    either.conf.unlink()
    assert "drng is off" in either.ok("off", "--service", "nginx")
    del before[str(either.conf)]
    assert either.files() == before


def test_what_is_written_behind_the_lines_is_no_other_profile(either: Image) -> None:
    either.ok("on", "--system")
    either.conf.write_text(either.conf.read_text() + "[mine]\na = b\n")
    assert "differs from the lines in effect" not in either.ok("status", "--system")
    set_key(either, "fallback = no")
    assert "differs from the lines in effect" in either.ok("status", "--system")


def test_fips_says_what_is_active_only_as_long_as_nothing_else_is(capfd: pytest.CaptureFixture[str]) -> None:
    check = verify.Check(Tree("/"), "/etc/ssl/openssl.cnf")
    assert check._wanted_providers({"default"}, NO_INIT, "fips") == {"base", "fips", "drng"}
    assert "does not activate the default provider" in capfd.readouterr().err
    assert "default" in check._wanted_providers({"default", "legacy"}, POLICY, "fips")
    assert capfd.readouterr().err == ""


# Takes the file and the command; what it does is undone with its namespace.
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
MOUNTED = 'mount --bind "$1" "$1" && shift && exec "$@"'
UNWRITABLE = {
    "a file with something mounted on it": (MOUNTED, False, "something is mounted on it"),
    "a file system that is read-only": (READ_ONLY, True, "its file system is read-only"),
}


@pytest.mark.parametrize("how", UNWRITABLE)
@pytest.mark.parametrize("scope", [("--system",), ("--service", "nginx")], ids=" ".join)
def test_a_dry_run_finds_what_could_not_be_written(offline: Image, how: str, scope: tuple[str, ...]) -> None:
    """With its path and what to do; and so does the change itself."""
    script, is_folder, hint = UNWRITABLE[how]
    offline.ok("on", *scope)
    file = offline.conf if scope == ("--system",) else offline.drop_in
    before = offline.files()
    for verb in ("off", "on"):
        for dry in (["--dry-run"], []):
            extra = ["--profile", "permissive"] if verb == "on" else []
            words = [*offline.command, verb, *scope, *extra, *dry, "--root", str(offline.root)]
            place = str(file.parent if is_folder else file)
            found = subprocess.run(
                ["unshare", "--mount", "sh", "-c", script, "sh", place, *words],
                capture_output=True,
                text=True,
                check=False,
            )
            assert found.returncode == 1, found.stdout
            assert hint in found.stderr and str(file).removeprefix(str(offline.root)) in found.stderr
            if dry or verb == "off":
                assert offline.files() == before
                assert "nothing has been changed" in found.stderr
        offline.ok("on", *scope)


def test_a_file_that_is_immutable(offline: Image) -> None:
    offline.ok("on", "--service", "nginx")
    if subprocess.run(["chattr", "+i", offline.drop_in], capture_output=True, check=False).returncode != 0:
        pytest.skip("chattr +i is refused here: it takes CAP_LINUX_IMMUTABLE and a file system that has it")
    try:
        for words in (["off"], ["off", "--dry-run"], ["on", "--profile", "permissive", "--dry-run"]):
            said = offline.refused(*words, "--service", "nginx")
            assert "nginx.service.d/drng.conf" in said and "chattr -i" in said
    finally:
        subprocess.run(["chattr", "-i", offline.drop_in], check=True)


def test_an_image_s_missing_module_is_found_without_loading_it(offline: Image) -> None:
    (offline.modules / "drng.so").unlink()
    for scope in (["--system"], ["--service", "nginx"]):
        said = offline.refused("on", *scope)
        assert "drng.so is not among the image's OpenSSL modules" in said
        assert "nothing has been changed" in said


@pytest.mark.parametrize("verb", ["on", "off"])
def test_an_error_names_the_file_and_no_copy_of_it(either: Image, verb: str) -> None:
    either.conf.write_text("a = b\nthis is no openssl.cnf\n")
    result = either.run(verb, "--system")
    if verb == "on":
        assert "/etc/ssl/openssl.cnf:2: missing equal sign" in result.stderr
    assert not re.search(r"/tmp/|/proc/|/dev/fd", (result.stdout + result.stderr).replace(str(either.root), ""))
