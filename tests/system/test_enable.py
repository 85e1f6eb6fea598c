# SPDX-License-Identifier: Apache-2.0
"""drng-enable, as installed: what it turns on, what it gives back, and what it refuses.

It runs in a mount namespace in which an image's folders stand in the place of the machine's. No systemd runs there:
test_systemd.py and test_services.py have what it takes one for.
"""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.drng import systemd
from tests.support.builds import RELEASE, ROOT, has_random_provider, openssl_version
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
    "bom": "\ufeff" + POLICY,
    "crlf": POLICY.replace("\n", "\r\n"),
}


SYSTEM = ("--system", "--profile", "strict")
SCOPES = (SYSTEM, ("nginx",))
TYPED = {SYSTEM: "--system", ("nginx",): "nginx"}


@pytest.fixture(autouse=True)
def the_machine_is_left_alone() -> Iterator[None]:
    before = STOCK.read_bytes()
    yield
    assert STOCK.read_bytes() == before


def written(image: Image, scope: tuple[str, ...]) -> Path:
    return image.system if scope == SYSTEM else image.own


# ---- The system's openssl.cnf ----


@pytest.mark.parametrize("name", FILES)
def test_on_and_off(image: Image, name: str) -> None:
    if (text := FILES[name]) is not None:
        image.conf.write_bytes(text.encode())
    original = image.files()
    providers, ciphers = image.providers(image.conf), image.ciphers(image.conf)
    assert not image.served(image.conf)
    assert image.about() == {**image.about(), "on": False}

    image.ok("on", *SYSTEM)
    assert image.served(image.conf)
    assert image.providers(image.conf) == providers | {"drng"}
    assert image.ciphers(image.conf) == ciphers
    before = original[str(image.conf)].decode()
    end = "" if not before or before.endswith("\n") else "\n"
    added = image.conf.read_bytes().decode().removeprefix(before + end)
    assert re.fullmatch(r"\.include /etc/ssl/drng/system\.cnf( #.*)?\n", added), "one line, at the end"
    assert image.files().keys() - original.keys() == {str(image.system)}
    about = image.about()
    assert (about["on"], about["profile"], about["served"]) == (True, "strict", True)

    assert image.answer("off", "--system")["changed"]
    assert image.files() == original, "byte for byte, and nothing left behind"
    assert not image.served(image.conf)


def test_comments_that_a_template_strips_hide_nothing(image: Image) -> None:
    """In 1.0.0 drng was then said to be off while it served, and the only backup was deleted."""
    for name in ("stock", "no-newline"):
        if (text := FILES[name]) is not None:
            image.conf.write_text(text)
        image.ok("on", *SYSTEM)
        stripped = "".join(line.split("#")[0] + "\n" for line in image.conf.read_text().splitlines())
        image.conf.write_text(stripped)
        assert image.about()["on"] and image.about()["served"]
        image.ok("off", "--system")
        assert image.conf.read_text() == re.sub(r"\.include .*\n", "", stripped)
        assert not image.served(image.conf)


def test_what_stands_around_the_line_stays(image: Image) -> None:
    original = image.conf.read_text()
    image.ok("on", *SYSTEM)
    image.conf.write_text("# mine\n" + image.conf.read_text() + "[mine]\na = b")
    image.ok("off", "--system")
    assert image.conf.read_text() == "# mine\n" + original + "[mine]\na = b"


def test_a_policy_is_seen_by_the_test_above(image: Image) -> None:
    """Its failing twin: the ciphers differ between these files, so a lost policy would have shown."""
    stock = image.ciphers(image.conf)
    image.conf.write_text(OWN_NAMES)
    own = image.ciphers(image.conf)
    assert own != stock
    image.conf.write_text(OWN_NAMES + (ROOT / "conf/drng.cnf").read_text())
    assert image.ciphers(image.conf) == stock
    assert "legacy" not in image.providers(image.conf), "a plain include is not enough for other names"


def test_a_plain_include_keeps_what_the_stock_file_says(image: Image) -> None:
    """What the profiles' heads promise, at the end of the file and at its head."""
    for text in (image.conf.read_text(), POLICY):
        for profile in ("drng", "drng-permissive"):
            shutil.copy(ROOT / f"conf/{profile}.cnf", image.root / "etc")
            line = f".include /etc/{profile}.cnf\n"
            image.conf.write_text(text)
            providers, ciphers = image.providers(image.conf), image.ciphers(image.conf)
            for with_drng in (text + line, line + text):
                image.conf.write_text(with_drng)
                assert image.served(image.conf)
                assert image.providers(image.conf) == providers | {"drng"}
                assert image.ciphers(image.conf) == ciphers


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_twice_changes_nothing_and_is_told_from_once(image: Image, scope: tuple[str, ...]) -> None:
    """As Ansible asks."""
    typed = TYPED[scope]
    assert image.answer("on", *scope)["changed"]
    path = written(image, scope)
    files, status = image.files(), path.stat()
    again = image.answer("on", *scope)
    assert (again["changed"], again["status"]) == (False, 0)
    assert image.files() == files
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (status.st_ino, status.st_mtime_ns)
    assert [image.answer("off", typed)["changed"] for _ in range(2)] == [True, False]


def test_the_system_wants_its_profile_named(image: Image) -> None:
    """Strict locks people out where drng does not load, and permissive is silent; what is on stays without a name."""
    files = image.files()
    result = image.run("on", "--system")
    assert (result.returncode, image.files()) == (64, files)
    assert "strict (" in result.stderr and "permissive (" in result.stderr
    image.ok("on", "--system", "--profile", "permissive")
    assert not image.answer("on", "--system")["changed"]
    assert image.about()["profile"] == "permissive"


def test_where_drng_serves_by_lines_of_somebody_s_it_is_said(image: Image) -> None:
    image.conf.write_text(image.conf.read_text() + (ROOT / "conf/drng.cnf").read_text())
    about = image.about()
    assert (about["on"], about["said"]) == (False, ["drng serves, by lines of /etc/ssl/openssl.cnf"])


def test_the_file_keeps_its_owner_and_mode(image: Image) -> None:
    image.conf.chmod(0o640)
    os.chown(image.conf, 0, NOBODY)
    for _ in range(2):
        image.ok("on", *SYSTEM)
        assert (image.conf.stat().st_gid, image.conf.stat().st_mode & 0o7777) == (NOBODY, 0o640)
        assert (image.system.stat().st_gid, image.system.stat().st_mode & 0o7777) == (0, 0o644)
        image.ok("off", "--system")
        assert (image.conf.stat().st_gid, image.conf.stat().st_mode & 0o7777) == (NOBODY, 0o640)


OTHERS = {
    "its group": ("openssl.cnf", 0o664, 0),
    "all": ("openssl.cnf", 0o646, 0),
    "its owner": ("openssl.cnf", 0o644, NOBODY),
    "its folder": (".", 0o777, 0),
}


@pytest.mark.parametrize("who", OTHERS)
def test_an_openssl_cnf_that_others_can_change_is_left_alone(image: Image, who: str) -> None:
    """Root opens none; what drng has put beside it goes all the same."""
    name, mode, owner = OTHERS[who]
    path, original = image.conf.parent / name, image.files()
    kept = path.stat().st_mode & 0o7777
    image.ok("on", *SYSTEM)
    path.chmod(mode)
    os.chown(path, owner, 0)
    for words in (("on", "--system"), ("on", "nginx")):
        assert "root does not open what others can change" in image.refused(*words)
    assert "chown root and chmod go-w" in image.answer(status=3)["targets"][0]["said"][0]
    image.ok("off", "--system")
    assert not image.system.exists()
    path.chmod(kept)
    os.chown(path, 0, 0)
    assert not image.served(image.conf)
    image.ok("off", "--system")
    assert image.files() == original


@pytest.mark.parametrize("verb", ["on", "off"])
@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_a_dry_run_shows_and_writes_nothing(image: Image, verb: str, scope: tuple[str, ...]) -> None:
    if verb == "off":
        image.ok("on", *scope)
    files = image.files()
    answer = image.answer(verb, *(scope if verb == "on" else [TYPED[scope]]), "--dry-run")
    sign = {"on": "+", "off": "-"}[verb]
    assert f"\n{sign}properties = provider=drng,-fips\n" in answer["difference"]
    assert (f"\n{sign}Environment=OPENSSL_CONF=/etc/ssl/drng/nginx.cnf" in answer["difference"]) == (scope != SYSTEM)
    assert image.files() == files and not answer["changed"]


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_where_the_module_has_gone(image: Image, scope: tuple[str, ...]) -> None:
    image.ok("on", *scope)
    (image.modules / "drng.so").unlink()
    if scope == SYSTEM:
        found = image.answer(status=3)["targets"][0]
        assert (found["on"], found["served"]) == (True, False)
    assert image.answer("off", TYPED[scope])["changed"], "the way back does not need the module"


def test_a_file_that_was_replaced_by_an_upgrade_is_told(image: Image) -> None:
    """Debian's openssl.cnf is a conffile: its new version takes our line away in silence."""
    stock = image.conf.read_bytes()
    image.ok("on", "--system", "--profile", "permissive", "--set", "fallback=no")
    assert len(image.about()["said"]) == 1
    image.conf.write_bytes(stock + b"# of the new version\n")
    about = image.about()
    assert not about["on"]
    command = "drng-enable on --system --profile permissive --set fallback=no"
    assert any(f"`{command}` brings it back" in said for said in about["said"])
    image.ok(*command.split()[1:])
    assert (image.about()["profile"], image.about()["settings"]) == ("permissive", {"fallback": "no"})


# ---- Settings ----


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_settings_are_kept_where_they_were_set(image: Image, scope: tuple[str, ...]) -> None:
    name, typed = {SYSTEM: ("system", "--system"), ("nginx",): ("nginx", "nginx")}[scope]
    before = image.files()
    image.ok("on", *scope, "--set", "conditioner=hmac-sha256", "--set", "fallback=no")
    lines = written(image, scope).read_text()
    assert "\n[drng_sect]\nconditioner = hmac-sha256\nfallback = no\n[default]\n" in lines
    assert image.served(image.conf if scope == SYSTEM else image.own)
    assert image.about(name)["settings"] == {"conditioner": "hmac-sha256", "fallback": "no"}
    assert not image.answer("on", typed)["changed"], "without a word of them, they stay"
    image.ok("on", typed, "--profile", "permissive")
    image.ok("on", typed, "--set", "fallback=")
    assert (image.about(name)["profile"], image.about(name)["settings"]) == (
        "permissive",
        {"conditioner": "hmac-sha256"},
    )
    image.ok("off", typed)
    assert image.files() == before


# ---- What is refused, and leaves every file as it was ----

ENGINE = (
    "openssl_conf = i\n[i]\nengines = e\n[e]\nrand_engine = r\n"
    f"[r]\ndynamic_path = {RELEASE.program('rand_engine.so')}\ndefault_algorithms = RAND\n"
)
GOES_ON = f"{POLICY}\n[x]\nx = y \\"  # `on` said that it was done, and the include was the end of this line
NO_MODULE = r"drng.so is not in \S*/ossl-modules: install openssl-provider-drng; nothing has been changed"
# The text of openssl.cnf, or a file of the image that is missing; what is typed, and what is said.
REFUSED = {
    "no-conf": ("this is no openssl.cnf\n", ("on", *SYSTEM), "/etc/ssl/openssl.cnf:1: missing equal sign"),
    "broken": (
        "openssl_conf = x\nconfig_diagnostics = 1\n[x]\nno_such_module = y\n",
        ("on", *SYSTEM),
        "does not load as it is",
    ),
    "own-drng": (
        POLICY.replace("legacy = legacy_sect", "drng = legacy_sect"),
        ("on", *SYSTEM),
        "by lines that drng-enable did not write",
    ),
    "goes-on": (GOES_ON, ("on", *SYSTEM), "ends with a backslash"),
    "goes-on-behind-its-end": (f"{GOES_ON}\n", ("on", *SYSTEM), "ends with a backslash"),
    "engine": (ENGINE, ("on", *SYSTEM), "an ENGINE or RAND_METHOD outranks every generator"),
    "no-profile": ("usr/share/drng/profiles/drng.cnf", ("on", *SYSTEM), "install drng again"),
    "no-module-permissive": ("drng.so", ("on", "--system", "--profile", "permissive"), NO_MODULE),
    "no-module": ("drng.so", ("on", *SYSTEM), NO_MODULE),
    "no-module-service": ("drng.so", ("on", "nginx"), NO_MODULE),
}


@pytest.mark.parametrize("how", REFUSED)
def test_what_is_refused(image: Image, how: str) -> None:
    text, words, reason = REFUSED[how]
    if how == "engine" and openssl_version() >= (4, 0):
        pytest.skip("OpenSSL 4 has no ENGINE")
    if text == "drng.so":
        (image.modules / text).unlink()
    elif how == "no-profile":
        (image.root / text).unlink()
    else:
        image.conf.write_text(text)
    said = image.refused(*words)
    assert re.search(reason, said), said
    assert how == "no-profile" or not re.search(r"/tmp/|/proc/|/dev/fd", said), "the file, and no copy of it"


def test_random_provider_takes_openssl_3_5(image: Image) -> None:
    words = ("on", "--system", "--profile", "random-provider")
    if has_random_provider():
        image.ok(*words)
        assert image.served(image.conf)
    else:
        assert "with random-provider: unknown name" in image.refused(*words)


def test_a_file_that_cannot_be_written(installed: Path) -> None:
    """By somebody else than root, whom permissions do not stop; a dry run needs none."""
    # Not tmp_path, whose parents are closed to others.
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        image = Image(Path(directory) / "root")
        shutil.copytree(installed, image.root, symlinks=True)
        image.root.chmod(0o755)
        for path in (image.root / "etc").rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o555)
        for scope in SCOPES:
            assert "nothing has been changed" in image.refused("on", *scope, user=NOBODY)
        dry = image.run("on", *SYSTEM, "--dry-run", user=NOBODY)
        assert dry.returncode == 0, dry.stderr
        assert "+properties = provider=drng,-fips\n" in dry.stdout


@pytest.mark.parametrize("arguments", [["on", "nginx"], ["on", *SYSTEM], ["off", "--all"]], ids=" ".join)
def test_where_systemd_does_not_run_it_is_said_that_nothing_is_restarted(image: Image, arguments: list[str]) -> None:
    result = image.run(*arguments, "--restart")
    assert result.returncode == 0, result.stderr
    assert "nothing is restarted" in result.stdout.splitlines()[-1]


def test_a_libcrypto_that_looks_for_modules_elsewhere_finds_drng(image: Image) -> None:
    """As one that a Python wheel brings with it: the profile names the module by its path, in which glibc puts the
    library directory of the program's own word size."""
    image.ok("on", *SYSTEM)
    assert "\nmodule = /usr/\\$LIB/ossl-modules/drng.so\n" in image.system.read_text()
    script = "OPENSSL_MODULES=/nowhere /usr/bin/openssl rand -hex 8"
    assert image.run(script=script).returncode == 0
    image.system.write_text(re.sub("^module = .*\n", "", image.system.read_text(), flags=re.MULTILINE))
    assert image.run(script=script).returncode != 0, "the failing twin"


# ---- One service ----


def openssl_conf_of(image: Image, drop_in: Path) -> Path:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read(drop_in)
    key, _, value = parser["Service"]["Environment"].partition("=")
    assert key == "OPENSSL_CONF"
    return image.root / value.lstrip("/")


@pytest.mark.parametrize("name", ["stock", "policy", "own-names"])
def test_a_service_on_and_off(image: Image, name: str) -> None:
    if (text := FILES[name]) is not None:
        image.conf.write_text(text)
    original = image.files()
    providers, ciphers = image.providers(image.conf), image.ciphers(image.conf)

    (said,) = image.answer("on", "nginx.service")["targets"]
    assert (said["name"], said["profile"], said["file"]) == ("nginx", "strict", "/etc/ssl/drng/nginx.cnf")
    assert any("systemd does not run here" in line for line in said["said"])
    conf = openssl_conf_of(image, image.drop_in)
    assert conf == image.own
    assert image.served(conf)
    assert image.providers(conf) == providers | {"drng"}, "the service keeps what the system's file says"
    assert image.ciphers(conf) == ciphers
    assert not image.served(image.conf), "and the system is as it was"
    assert set(image.files()) - set(original) == {str(image.drop_in), str(conf)}
    image.ok("off", "nginx")
    assert image.files() == original
    assert not image.drop_in.parent.exists()


def test_several_services_beside_the_system(image: Image) -> None:
    """Each is done, and each is told of; all are taken back by one word."""
    original = image.files()
    image.ok("on", "--system", "--profile", "permissive")
    answer = image.answer("on", "nginx", "apache2", "stunnel@a\\x2db")
    assert [entry["name"] for entry in answer["targets"]] == ["nginx", "apache2", "stunnel@a\\x2db"]
    assert shlex.split(answer["undo"]) == ["drng-enable", "off", "nginx", "apache2", "stunnel@a\\x2db"]
    assert image.answer("on", "nginx", "--set", "fallback=no")["undo"] == "", "off would do more than undo that"
    drop_in = image.root / "etc/systemd/system/stunnel@a\\x2db.service.d/drng.conf"
    assert "Environment=OPENSSL_CONF=/etc/ssl/drng/stunnel@a\\\\x2db.cnf\n" in drop_in.read_text()
    assert {entry["name"] for entry in image.answer()["targets"]} == {"system", *(e["name"] for e in answer["targets"])}
    kept = image.modules / "kept"
    (image.modules / "drng.so").rename(kept)
    assert image.probe(image.conf)["rand_bytes"] == 1, "permissive"
    assert image.probe(image.own)["rand_bytes"] != 1, "strict"
    kept.rename(image.modules / "drng.so")
    assert image.answer("off", "--all")["changed"]
    assert image.files() == original
    assert not image.answer("off", "--all")["changed"]


def test_one_of_several_that_is_refused_keeps_all_as_they_were(image: Image) -> None:
    drop_in = image.root / "etc/systemd/system/apache2.service.d/drng.conf"
    drop_in.parent.mkdir(parents=True)
    shutil.copy(ROOT / "conf/systemd/apache2.service.d/drng.conf", drop_in)
    for verb in ("on", "off"):
        assert "apache2.service.d/drng.conf exists" in image.refused(verb, "nginx", "apache2")


@pytest.mark.parametrize("which", ["drop-in", "own", "system"])
def test_what_somebody_adds_to_our_files_is_not_lost(image: Image, which: str) -> None:
    typed = "--system" if which == "system" else "nginx"
    image.ok("on", *(SYSTEM if which == "system" else ["nginx"]))
    path = {"drop-in": image.drop_in, "own": image.own, "system": image.system}[which]
    text = path.read_text()
    path.write_text(f"{text}LimitNOFILE=4096\n" if which == "drop-in" else f"{text}[somebody_s]\na = b\n")
    for verb in ("on", "off"):
        assert f"/{path.relative_to(image.root)} exists, and is not as drng-enable writes it" in image.refused(
            verb, typed
        )
    path.write_text(text)
    image.ok("off", typed)


def test_a_file_of_a_service_that_has_gone_is_written_again(image: Image) -> None:
    image.ok("on", "nginx")
    files = image.files()
    for path in (image.own, image.drop_in):
        path.unlink()
        assert image.answer("on", "nginx")["changed"]
        assert image.files() == files


NAMES_IT = "openssl_conf = x\n[x]\nproviders = y\n[y]\nz = z\n[z]\nmodule = /etc/ends.so\nactivate = 1\n"


def test_what_libcrypto_cannot_be_asked_of_is_told_and_switched_off(image: Image) -> None:
    """Here openssl.cnf names a module that ends whoever loads it."""
    # Cut off: where its data should be, the kernel ends whoever loads it.
    module = (image.modules / "drng.so").read_bytes()
    (image.root / "etc/ends.so").write_bytes(module[: len(module) // 4])
    image.ok("on", "nginx")
    image.ok("on", *SYSTEM)
    image.conf.write_text(NAMES_IT + image.conf.read_text())
    nginx, system = sorted(image.answer(status=3)["targets"], key=lambda entry: str(entry["name"]))
    assert nginx["on"] and system["on"] and not system["served"]
    image.ok("off", "nginx")
    image.ok("off", "--all")
    assert not image.drop_in.exists() and "drng" not in image.conf.read_text()


LINK = "foo.service.d/drng.conf", "/dev/null"
FOLDER = "foo.service.d", "nginx.service.d"


@pytest.mark.parametrize(("path", "target"), [LINK, FOLDER], ids=["link to /dev/null", "linked folder"])
def test_a_drop_in_that_cannot_be_ours_keeps_nobody_from_the_others(image: Image, path: str, target: str) -> None:
    """By a link to /dev/null an administrator masks one that a package has brought."""
    before = image.files()
    image.ok("on", "nginx")
    link = image.root / "etc/systemd/system" / path
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)
    assert [entry["name"] for entry in image.answer()["targets"] if entry["on"]] == ["nginx"]
    image.ok("off", "--all")
    link.unlink()
    assert image.files() == before


def test_what_has_gone_since_can_be_switched_off(image: Image) -> None:
    before = image.files()
    image.ok("on", "nginx")
    image.conf.unlink()
    image.ok("off", "nginx")
    del before[str(image.conf)]
    assert image.files() == before


# ---- The profile's text ----


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_a_profile_that_has_gone_or_changed(image: Image, scope: tuple[str, ...]) -> None:
    """It is in the file, where an include that leads nowhere would be passed over in silence. `on` takes a new one."""
    image.ok("on", *scope)
    name, typed = ("system", "--system") if scope == SYSTEM else ("nginx", "nginx")
    assert len(image.about(name)["said"]) == 1
    profile = image.root / "usr/share/drng/profiles/drng.cnf"
    text = profile.read_text()
    profile.unlink()
    assert image.served(image.conf if scope == SYSTEM else image.own)
    assert len(image.about(name)["said"]) == 1
    profile.write_text(text.replace("[drng_sect]\n", "[drng_sect]\nfallback = no\n"))
    image.ok("on", typed)
    assert "\nfallback = no\n" in written(image, scope).read_text()


def test_a_file_that_does_not_parse_serves_nobody(image: Image) -> None:
    image.ok("on", *SYSTEM)
    image.conf.write_text("[broken\n" + image.conf.read_text())
    assert image.answer(status=3)["targets"][0]["served"] is False


# ---- Where something is missing; what is left alone ----


def test_an_image_without_proc(image: Image) -> None:
    """1.0.0 said of every file that it includes itself, or is a FIFO."""
    before = image.files()
    for words in (["on", *SYSTEM], ["off", "--system"]):
        result = image.run(*words, script='mount -t tmpfs none /proc && exec "$@"')
        assert result.returncode == 0, result.stderr
        assert image.served(image.conf) == (words[0] == "on")
    assert image.files() == before


LEFT = "NetworkManager ModemManager wpa_supplicant networking openvpn@x frr bird docker libvirtd lxc-net greetd xrdp "
LEFT += "apt-daily unattended-upgrades dbus systemd-journald systemd-udevd systemd-networkd systemd-logind getty@tty1"
RESTARTED = "nginx apache2 redis-server ssh systemd-resolved netdata"


def test_what_is_left_to_the_next_start_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own list and needrestart's; and what an administrator has added to that."""
    units = {f"{name}.service": True for name in LEFT.split()} | {
        f"{name}.service": False for name in RESTARTED.split()
    }
    systemd.kept_by_needrestart.cache_clear()
    assert {unit: systemd.waits_for_reboot(unit) for unit in units} == units
    (tmp_path / "mine.conf").write_text(
        "# $nrconf{override_rc}{qr(^nginx)} = 0;\n$nrconf{override_rc}{qr(^redis)} = 0;\n"
    )
    monkeypatch.setattr(systemd, "NEEDRESTART", (str(tmp_path / "mine.conf"),))
    systemd.kept_by_needrestart.cache_clear()
    assert systemd.waits_for_reboot("redis-server.service") and not systemd.waits_for_reboot("nginx.service")
    systemd.kept_by_needrestart.cache_clear()


# ---- Files that cannot be written ----


READ_ONLY = 'mount --bind "$2/etc/ssl" "$2/etc/ssl" && mount -o remount,bind,ro "$2/etc/ssl"'


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_a_file_system_that_is_read_only(image: Image, scope: tuple[str, ...]) -> None:
    """Its path is said, and what to do; test_hostile.py has a file with something mounted on it."""
    image.ok("on", *scope)
    before = image.files()
    for words in (["off", TYPED[scope]], ["on", TYPED[scope], "--profile", "permissive"]):
        found = image.run(*words, before=READ_ONLY)
        assert (found.returncode, image.files()) == (1, before), found.stdout
        assert re.search("/etc/.*its file system is read-only.*nothing has been changed", found.stderr)


def test_a_file_that_is_immutable(image: Image) -> None:
    image.ok("on", "nginx")
    if subprocess.run(["chattr", "+i", image.drop_in], capture_output=True, check=False).returncode != 0:
        pytest.skip("chattr +i is refused here: it takes CAP_LINUX_IMMUTABLE and a file system that has it")
    try:
        for words in (["off"], ["on", "--profile", "permissive"]):
            said = image.refused(words[0], "nginx", *words[1:])
            assert "nginx.service.d/drng.conf" in said and "chattr -i" in said
    finally:
        subprocess.run(["chattr", "-i", image.drop_in], check=True)
