# SPDX-License-Identifier: Apache-2.0
"""drng-enable where openssl.cnf includes /etc/pki/tls/openssl.d, as that of Fedora and RHEL does: a file of its own."""

import shutil
from pathlib import Path

import pytest

from tests.support.builds import CONF
from tests.support.image import Image

FOLDER = "etc/pki/tls/openssl.d"
SHIPPED = (CONF / "openssl.d/drng.conf").read_text()

# The sections, and the order of lines, of RHEL 9's; the folder's own files come in the middle.
STOCK = """\
openssl_conf = openssl_init
config_diagnostics = 1

[openssl_init]
providers = provider_sect
ssl_conf = ssl_module
alg_section = evp_properties

[ evp_properties ]

[provider_sect]
default = default_sect
##legacy = legacy_sect
##
[default_sect]
activate = 1

#Place the third party provider configuration files into this folder
.include /etc/pki/tls/openssl.d

[ ssl_module ]

system_default = crypto_policy

[ crypto_policy ]

CipherString = @SECLEVEL=2:ECDHE-ECDSA-AES256-GCM-SHA384
"""
LEGACY = "[provider_sect]\nlegacy = legacy_sect\n[legacy_sect]\nactivate = 1\n"
OVERRULES = "[openssl_init]\nrandom = mine\n[mine]\ncipher = AES-128-CTR\n"


@pytest.fixture
def fedora(image: Image) -> Image:
    image.conf.write_text(STOCK)
    folder(image).mkdir(parents=True)
    (folder(image) / "drng.conf").write_text(SHIPPED)
    return image


def folder(image: Image) -> Path:
    return image.root / FOLDER


def drop_in(image: Image) -> Path:
    return folder(image) / "drng-enable.conf"


SHOWN = f"/{FOLDER}/drng-enable.conf"
ON = ("on", "--system", "--profile", "strict")


# What is in the folder; None for what is not.
CASES: dict[str, dict[str, str | None]] = {
    "as installed": {},
    "empty": {"drng.conf": None},
    "our own file, with a comment": {"drng-enable.conf": "# mine"},
    "others": {"a.conf": LEGACY, "z odd'$name.cnf": "[evp_properties]\n", "no.rpmnew": OVERRULES},
}


@pytest.mark.parametrize("name", CASES)
def test_on_and_off(fedora: Image, name: str) -> None:
    image = fedora
    for file, text in CASES[name].items():
        (folder(image) / file).unlink(missing_ok=True)
        if text is not None:
            (folder(image) / file).write_text(text)
    original = image.files()
    providers, ciphers = image.providers(image.conf), image.ciphers(image.conf)
    assert not image.served(image.conf)
    assert (image.about()["file"], image.about()["on"]) == (SHOWN, False)

    assert image.answer(*ON)["targets"][0]["file"] == SHOWN
    assert image.served(image.conf)
    assert image.providers(image.conf) == providers | {"drng"} and image.ciphers(image.conf) == ciphers
    changed = {path for path, data in image.files().items() if original.get(path) != data}
    assert changed == {str(drop_in(image)), str(image.system)}
    assert image.files().keys() - original.keys() <= changed
    on = image.files()
    assert not image.answer(*ON)["changed"]
    assert image.about()["served"]
    assert image.files() == on

    image.ok("on", "--system", "--profile", "permissive")
    assert image.served(image.conf) and image.about()["profile"] == "permissive"
    image.ok("off", "--system")
    assert image.files() == original, "byte for byte, and nothing left behind"


@pytest.mark.parametrize("how", ["no include", "no folder", "commented"])
def test_openssl_cnf_gets_the_line_where_it_does_not_include_the_folder(fedora: Image, how: str) -> None:
    image, include = fedora, ".include /etc/pki/tls/openssl.d\n"
    if how == "no folder":
        shutil.rmtree(folder(image))
    else:
        image.conf.write_text(STOCK.replace(include, f"# {include}" if how == "commented" else ""))
    original = image.files()
    assert image.answer(*ON)["targets"][0]["file"] == "/etc/ssl/openssl.cnf"
    assert image.served(image.conf)
    assert not drop_in(image).exists()
    image.ok("off", "--system")
    assert image.files() == original


@pytest.mark.parametrize("how", ["another file", "openssl.cnf behind it", "taken for another section"])
def test_what_overrules_a_file_there_is_refused(fedora: Image, how: str) -> None:
    image, include = fedora, ".include /etc/pki/tls/openssl.d\n"
    if how == "another file":
        (folder(image) / "zz.conf").write_text(OVERRULES)
    elif how == "openssl.cnf behind it":
        image.conf.write_text(STOCK + OVERRULES)
    else:
        # Up to the next section, lines belong to the last one of what is included, whichever file comes last.
        (folder(image) / "a.conf").write_text(LEGACY)
        image.conf.write_text(STOCK.replace(include, f"{include}soft_load = 1\n"))
    said = image.refused(*ON)
    assert ("overrules it" in said) == (how != "taken for another section")


def test_what_is_on_in_openssl_cnf_stays_there_until_it_is_off(fedora: Image) -> None:
    image, include = fedora, ".include /etc/pki/tls/openssl.d\n"
    image.conf.write_text(STOCK.replace(include, ""))
    image.ok(*ON)
    image.conf.write_text(image.conf.read_text().replace("\n[ ssl_module ]", f"{include}\n[ ssl_module ]"))
    image.ok("on", "--system", "--profile", "permissive")
    assert not drop_in(image).exists() and image.about()["profile"] == "permissive"
    image.ok("off", "--system")
    assert image.conf.read_text() == STOCK


def test_a_file_that_somebody_has_edited_is_refused(fedora: Image) -> None:
    image = fedora
    drop_in(image).write_text(LEGACY)
    assert f"{SHOWN} has lines that drng-enable did not write" in image.refused(*ON)
    drop_in(image).unlink()
    image.ok(*ON)
    drop_in(image).write_text(drop_in(image).read_text() + LEGACY)
    assert f"{SHOWN} has lines that drng-enable did not write" in image.refused(*ON)
    image.ok("off", "--system")
    assert drop_in(image).read_text() == LEGACY


def test_the_line_by_hand_serves_and_status_says_so(fedora: Image) -> None:
    """What the package's file promises."""
    image = fedora
    (image.root / "etc/ssl/drng/drng.cnf").unlink()
    shutil.copy(CONF / "drng.cnf", image.root / "etc/ssl/drng")
    (folder(image) / "drng.conf").write_text(SHIPPED.replace("## .include", ".include"))
    said = image.refused(*ON)
    assert "/etc/ssl/openssl.cnf, or a file that it includes, activates drng already" in said
    assert any("drng serves, by lines of" in said for said in image.about()["said"])


def test_status_goes_by_the_order_in_which_libcrypto_reads(fedora: Image) -> None:
    """A file that comes behind ours overrules it; which one that is, the file system decides."""
    image = fedora
    image.ok(*ON)
    for number in range(50):
        other = folder(image) / f"{number}.conf"
        other.write_text(OVERRULES)
        if not image.served(image.conf):
            assert image.answer(status=3)["targets"][0]["served"] is False
            return
        other.unlink()
        assert image.about()["served"]
    pytest.skip("this file system puts drng-enable.conf last")


def test_a_link_is_not_followed(fedora: Image) -> None:
    image = fedora
    (folder(image).parent / "elsewhere").write_text("")
    drop_in(image).symlink_to("../elsewhere")
    assert "is no regular file" in image.refused(*ON)
