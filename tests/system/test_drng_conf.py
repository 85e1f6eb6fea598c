# SPDX-License-Identifier: Apache-2.0
"""What drng-conf says of a file: what libcrypto makes of it, in libcrypto's words, and which keys nobody asks for."""

import contextlib
import ctypes
import json
import os
import pty
import re
import select
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.drng import aside
from scripts.drng.conf import libcrypto, meaning, probe
from tests.support.builds import CONF, RELEASE, ROOT, has_random_provider, served_by_drng
from tests.support.image import NOBODY
from tests.support.keys import keys_of_drng_conf, keys_of_the_provider
from tests.support.servers import SYSTEM_PYTHON

SECTIONS = ("default", "openssl_init", "drng_strict", "drng_permissive", "provider_sect", "default_sect", "drng_sect")
STRICT = (CONF / "drng.cnf").read_text()


def drng_conf(path: Path | str, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return RELEASE.run([str(ROOT / "scripts/drng-conf"), *options, str(path)], env, timeout=60)


def changed(folder: Path, old: str, new: str, text: str = STRICT) -> Path:
    assert old in text
    path = folder / "openssl.cnf"
    path.write_text(text.replace(old, new, 1))
    return path


def test_it_knows_the_provider_s_keys() -> None:
    """Its table is that of provider/config.c."""
    keys = keys_of_the_provider()
    assert len(keys) >= 5
    assert keys_of_drng_conf() == keys


@pytest.mark.parametrize("profile", ["drng", "drng-permissive", "drng-random-provider"])
def test_it_finds_nothing_in_the_profiles(profile: str) -> None:
    result = drng_conf(CONF / f"{profile}.cnf")
    assert "drng       [drng_sect]" in result.stdout
    if profile == "drng-random-provider" and not has_random_provider():
        assert (result.returncode, "unknown name in random section" in result.stderr) == (1, True)
    else:
        assert (result.returncode, result.stderr) == (0, "")
        assert "serves     CTR-DRBG of provider drng" in result.stdout


# ---- What libcrypto makes of it, and what it never asked for ----

MISTAKES = [
    # libcrypto's own words, of what it is silent about in a program.
    ("\nrandom = CTR-DRBG", "\nrandom = CTR_DRBG", "Algorithm (CTR_DRBG"),
    ("\nproperties =", "\ncipher = AES-512-CTR\nproperties =", "cipher not supported"),
    ("\nproperties =", "\npropertes =", "unknown name in random section: name=propertes"),
    ("\nrandom = drng_strict", "\nrndom = drng_strict", "unknown module name: module=rndom"),
    (
        "[drng_sect]\n",
        "[drng_sect]\nsource = rdrnd\n",
        "drng did not load: [drng_sect] source = rdrnd: write one of",
    ),
    (
        "[drng_sect]\n",
        "[drng_sect]\nmodule = /nowhere/drng.so\n",
        "drng did not load: could not load the shared library",
    ),
    # Keys and sections that nobody asks for, with the likely spelling.
    ("[drng_sect]\n", "[drng_sect]\nsorce = auto\n", "sorce = auto: neither OpenSSL nor drng knows this key"),
    ("[drng_sect]\n", "[drng_sect]\nfalback = no\n", "did you mean fallback?"),
    ("drng = drng_sect", "drng = drng_sec", "drng = drng_sec: there is no such section; did you mean drng_sect?"),
    ("drng = drng_sect", "drgn = drng_sect", "drgn did not load"),
    ("\nopenssl_conf =", "\nopenssl_con =", "did you mean openssl_conf?"),
    ("\nopenssl_conf =", "\nelsewhere =", "drng = drng_sect: no openssl_conf leads to this line"),
    ("\nrandom = drng_strict", "\nrandom = drng_strct", "random = drng_strct: there is no such section"),
    ("[openssl_init]", ".include /nowhere/x.cnf\n[openssl_init]", "names a file that cannot be read"),
    # What is loaded and does not serve.
    ("\nrandom = drng_strict", "", "name a section with `properties = provider=drng` as `random`"),
    ("[drng_sect]\nactivate = 1", "[drng_sect]\n", "`activate = 1`"),
    ("[default_sect]\nactivate = 1", "[default_sect]\n", "programs have no ciphers"),
    ("seed = DRNG-SEED", "seed = DRNG-SEDD", "seed = DRNG-SEDD: drng has no seed source"),
]


@pytest.mark.parametrize(("old", "new", "words"), MISTAKES, ids=[new for _, new, _ in MISTAKES])
def test_a_mistake_is_said_and_the_status_is_one(tmp_path: Path, old: str, new: str, words: str) -> None:
    result = drng_conf(changed(tmp_path, old, new))
    assert (result.returncode, words in result.stderr) == (1, True), result.stderr


@pytest.mark.parametrize(
    ("value", "is_good"),
    [
        ("0", True),
        ("1024", True),
        ("0" * 5000 + "1024", True),
        ("9" * 5000, False),
        ("1023", False),
        ("\u0661024", False),
    ],
    ids=lambda value: str(value)[:4],
)
def test_a_number_may_have_as_many_digits_as_it_likes(value: str, is_good: bool) -> None:
    """int() takes 4,300: "an error of drng-conf itself" was said. Zeros in front count for the provider, too."""
    assert meaning.allows("reseed_bytes", value) == is_good


def test_a_mark_of_utf_8_before_an_include_is_passed_over(tmp_path: Path) -> None:
    """As libcrypto does it, in the first line of the first file."""
    path = tmp_path / "openssl.cnf"
    path.write_bytes(b"\xef\xbb\xbf.include " + str(CONF / "drng.cnf").encode() + b"\n")
    found = probe.probe(path.read_bytes(), str(path), load=False)
    assert (found.problem, found.files) == ("", [str(CONF / "drng.cnf")])
    assert meaning.named_sections(found).drng


def test_an_abbreviated_key_is_no_mistake(tmp_path: Path) -> None:
    path = changed(tmp_path, "\nproviders = ", "\nprovider = ")
    result = drng_conf(path)
    assert (result.returncode, result.stderr) == (0, "")
    assert served_by_drng(RELEASE.probe(path))


def test_a_second_section_for_the_generators_counts(tmp_path: Path) -> None:
    """OpenSSL goes through both, and reads no further than the key of either that it does not know."""
    path = changed(tmp_path, "[openssl_init]\n", "[openssl_init]\nrandom.too = more\n")
    text = path.read_text()
    for line, known in (("cipher = AES-256-CTR", True), ("cypher = AES-256-CTR", False)):
        path.write_text(f"{text}[more]\n{line}\n")
        assert drng_conf(path).returncode == int(not known)
        assert served_by_drng(RELEASE.probe(path)) == known


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "not parsed", "empty name"])
def test_what_cannot_be_used_is_two(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "openssl.cnf"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "not parsed":
        path.write_text("a = b\nc\n")
    result = drng_conf("" if kind == "empty name" else path)
    assert (result.returncode, result.stdout) == (64 if kind == "empty name" else 2, "")
    assert kind != "not parsed" or "openssl.cnf:2: missing equal sign" in result.stderr


def test_without_a_name_it_is_the_file_that_libcrypto_reads(tmp_path: Path) -> None:
    path = changed(tmp_path, "[drng_sect]\n", "[drng_sect]\nfalback = no\n")
    result = RELEASE.run([str(ROOT / "scripts/drng-conf")], {"OPENSSL_CONF": str(path)})
    assert (result.returncode, "falback" in result.stderr) == (1, True)


@pytest.mark.parametrize("ends", [False, True])
def test_sections_that_lead_on_and_on_are_gone_through_once(tmp_path: Path, ends: bool) -> None:
    """By 2^2000 ways, each of 2,000 sections: to an end, or back to where they began. libcrypto goes all of them."""
    path = tmp_path / "openssl.cnf"
    ladder = [f"[s{number}]\none = s{number + 1}\ntwo = s{number + 1}\n" for number in range(2000)]
    text = f"{STRICT}[s2000]\n{'' if ends else 'one = default_sect'}\n"
    path.write_text(text.replace("[default_sect]\n", "[default_sect]\nfirst = s0\n") + "".join(ladder))
    result = drng_conf(path)
    assert (result.returncode in (1, 2), "Traceback" in result.stderr) == (True, False)


# ---- What an include takes away, and what does not load ----

TLS = """openssl_conf = default_conf
[default_conf]
ssl_conf = ssl_sect
[ssl_sect]
system_default = tls
[tls]
MinProtocol = TLSv1.3
CipherString = DEFAULT:@SECLEVEL=3
"""


# What libssl does of its own accord: the lowest protocol, and the security level.
LIBSSL = """
import ctypes, contextlib
for name in ("libssl.so.3", "libssl.so.4"):
    with contextlib.suppress(OSError):
        ssl = ctypes.CDLL(name)
ssl.TLS_client_method.restype = ssl.SSL_CTX_new.restype = ctypes.c_void_p
context = ctypes.c_void_p(ssl.SSL_CTX_new(ctypes.c_void_p(ssl.TLS_client_method())))
print(hex(ssl.SSL_CTX_ctrl(context, 130, 0, None)), ssl.SSL_CTX_get_security_level(context))
"""


def test_what_an_include_has_replaced_is_said_with_the_line_that_cures_it(tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    path.write_text(f"{TLS}.include {CONF}/drng.cnf\n")
    result = drng_conf(path)
    assert result.returncode == 1
    assert "[tls] MinProtocol = TLSv1.3" in result.stderr and "SECLEVEL=3" in result.stderr
    cure = re.search(r"(\[openssl_init\]) (.*)\n", result.stderr)
    lines = cure[2].replace("; ", "\n")
    path.write_text(f"{path.read_text()}{cure[1]}\n{lines}\n")
    assert RELEASE.run([SYSTEM_PYTHON, "-c", LIBSSL], {"OPENSSL_CONF": str(path)}).stdout == "0x304 3\n"
    assert "not in effect" not in drng_conf(path).stderr
    path.write_text(f"{TLS.replace('default_conf', 'openssl_init')}.include {CONF}/drng.cnf\n")
    assert (drng_conf(path).returncode, drng_conf(path).stderr) == (0, "")


@pytest.mark.parametrize("first", ["openssl_conf = nowhere\n", "openssl_conf = i\n[i]\nrandom = drng_strict\n"])
def test_an_include_that_takes_nothing_away(tmp_path: Path, first: str) -> None:
    path = tmp_path / "openssl.cnf"
    path.write_text(f"{first}.include {CONF}/drng.cnf\n")
    result = drng_conf(path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("line", ["", "module = /nowhere/x.so\n"])
def test_a_listed_provider_that_does_not_load_is_a_mistake(tmp_path: Path, line: str) -> None:
    path = changed(tmp_path, "[provider_sect]\n", f"[x]\nactivate = 1\n{line}[provider_sect]\nnowhere = x\n")
    result = drng_conf(path)
    assert (result.returncode, "nowhere did not load: " in result.stderr) == (1, True)
    path.write_text(path.read_text().replace("[x]\nactivate = 1\n", "[x]\n"))
    assert drng_conf(path).returncode == 0


def test_the_fips_provider_s_file_is_named_with_what_writes_it(tmp_path: Path) -> None:
    lines = f".include {tmp_path}/fipsmodule.cnf\n[provider_sect]\nfips = fips_sect\n"
    result = drng_conf(changed(tmp_path, "[drng_sect]\n", f"{lines}[drng_sect]\n"))
    written = f"openssl fipsinstall -module {RELEASE.modules}/fips.so -out {tmp_path}/fipsmodule.cnf"
    assert (result.returncode, written in result.stderr) == (1, True)


def test_an_error_in_an_include_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "inner.cnf").write_text("a = b\n\\\n\nnothing\n")
    path = tmp_path / "openssl.cnf"
    path.write_text(f"x = y\n.include {tmp_path}/inner.cnf\nz = z\n")
    result = drng_conf(path)
    assert (result.returncode, f"{tmp_path}/inner.cnf:4: " in result.stderr) == (2, True), result.stderr


def test_a_machine_without_proc(tmp_path: Path) -> None:
    """As an image is, while it is made."""
    hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /proc && exec "$@"', "sh"]
    if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespaces here")
    result = RELEASE.run([*hidden, str(ROOT / "scripts/drng-conf"), str(CONF / "drng.cnf")])
    assert (result.returncode, result.stderr) == (0, "")


# ---- Whose file it is, and whose terminal ----

# Says that it has been loaded, and types into the terminal that it finds.
MODULE = """
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
__attribute__((constructor)) static void run(void)
{
    int mark = open(MARK, O_CREAT | O_WRONLY, 0666);
    close(mark);
    int terminal = open("/dev/tty", O_RDWR);
    if (terminal >= 0) {
        ioctl(terminal, TIOCSTI, "x");
        ioctl(terminal, TIOCSTI, "\\n");
    }
}
int OSSL_provider_init(void *a, void *b, void **c, void **d) { return 0; }
"""


@pytest.fixture
def theirs() -> Iterator[Path]:
    """A folder of another user's, in one that everybody may enter, with an openssl.cnf and the module that it names."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as base:
        os.chmod(base, 0o755)
        folder = Path(base) / "theirs"
        folder.mkdir()
        plant(folder)
        yield folder


def plant(folder: Path) -> None:
    (folder / "module.c").write_text(MODULE)
    build = ["gcc", "-w", "-shared", "-fPIC", f'-DMARK="{folder}/mark"', "-o", folder / "evil.so", folder / "module.c"]
    subprocess.run(build, check=True)
    section = f"[e]\nactivate = 1\nmodule = {folder}/evil.so\n[provider_sect]\nevil = e\n"
    (folder / "openssl.cnf").write_text(f"{STRICT}{section}")
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)


def test_root_leaves_alone_what_others_can_change(theirs: Path) -> None:
    """Their file, an include of it, a module, and a link to a file of root's own."""
    own = theirs.parent / "openssl.cnf"
    module = f"[e]\nactivate = 1\nmodule = {theirs}/evil.so\n[provider_sect]\nevil = e\n"
    # OpenSSL goes through both sections of providers, of which the second has the last word here.
    twice = "[openssl_init]\nproviders.too = p\n[p]\nevil = quiet\n[quiet]\nmodule = quiet.so\n"
    for text in (f"{STRICT}.include {theirs}/openssl.cnf\n", f"{STRICT}{module}", f"{STRICT}{module}{twice}"):
        own.write_text(text)
        result = drng_conf(own)
        assert result.returncode == 2 and f"runuser --pty -u nobody -- drng-conf {own}" in result.stderr
    own.write_text(STRICT)
    (theirs / "link").symlink_to(own)
    for path in (theirs / "openssl.cnf", theirs / "link"):
        result = drng_conf(path)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"runuser --pty -u nobody -- drng-conf {path}" in result.stderr
    assert not (theirs / "mark").exists()


def test_root_loads_no_module_that_others_may_put_there(theirs: Path) -> None:
    """In a folder like /tmp it came between the look and the loading: 4 of 15 runs had it run as root."""
    os.chown(theirs, 0, 0)
    path = theirs.parent / "openssl.cnf"
    for mode, status in ((0o1777, 2), (0o755, 1)):
        theirs.chmod(mode)
        for name in ("none.so", "folder/none.so"):
            path.write_text(f"{STRICT}[e]\nactivate = 1\nmodule = {theirs}/{name}\n[provider_sect]\nevil = e\n")
            result = drng_conf(path)
            assert result.returncode == status, result.stderr
            assert (f"others may make files in {theirs}" in result.stderr) == (status == 2)


ENGINES = {
    "folder": "engine_id = dynamic\nSO_PATH = evil.so\nDIR_ADD = {}\nDIR_LOAD = 2\nLOAD = EMPTY",
    "relative": "engine_id = dynamic\nSO_PATH = ./evil.so\nLOAD = EMPTY",
    "by its name": "engine_id = ../../../../../..{}/evil.so\ninit = 0",
    "by a key of the engine's own": "engine_id = dynamic\nMODULE_PATH = {}/evil.so",
    "by another name": "engine_id = dynamic\nID = {}/evil.so\nDIR_ADD = /\nDIR_LOAD = 2\nLOAD = EMPTY",
}


@pytest.mark.parametrize("how", ENGINES)
def test_root_loads_no_engine_of_others(theirs: Path, how: str) -> None:
    """Its folder is named apart from it, or is the one in which root happens to be."""
    engine = f"[openssl_init]\nengines = e\n[e]\nx = y\n[y]\n{ENGINES[how].format(theirs)}\n"
    path = theirs.parent / "openssl.cnf"
    path.write_text(f"{STRICT}{engine}")
    result = subprocess.run(
        [str(ROOT / "scripts/drng-conf"), str(path)],
        env=RELEASE.environment(),
        cwd=theirs if how == "relative" else "/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (theirs / "mark").exists()
    # What is no whole path is one from /, where nothing is.
    found = (1, False) if how == "relative" else (2, True)
    assert (result.returncode, f"{theirs} belongs to nobody" in result.stderr) == found, result.stderr
    path.write_text(STRICT)
    command = ["env", "-C", str(theirs), str(ROOT / "scripts/drng-conf"), str(path)]
    assert RELEASE.run(command).returncode == 0, "a folder in which root only happens to be is no reason"


def test_the_command_for_an_account_without_a_name_works(theirs: Path) -> None:
    for path in (theirs, *theirs.iterdir()):
        os.chown(path, 54321, 54321)
    said = drng_conf(theirs / "openssl.cnf")
    command = said.stderr.rpartition("; type: ")[2]
    assert command.split()[:5] == ["setsid", "--wait", "setpriv", "--reuid", "54321"], said.stderr
    env = RELEASE.environment()
    env["PATH"] = f"{ROOT / 'scripts'}:{env['PATH']}"
    result = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, check=False)
    assert (theirs / "mark").stat().st_uid == 54321, result.stderr


def test_for_whoever_owns_them_it_loads_them(theirs: Path) -> None:
    """The twin: the module runs where its owner asks."""
    result = subprocess.run(
        [str(ROOT / "scripts/drng-conf"), str(theirs / "openssl.cnf")],
        env=RELEASE.environment(),
        user=NOBODY,
        group=NOBODY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (theirs / "mark").exists(), result.stderr


def test_libcrypto_opens_no_file_by_itself(tmp_path: Path) -> None:
    """Whatever it takes for an include, and we do not: it would wait for this one."""
    os.mkfifo(tmp_path / "fifo")
    text = f"a = b\n.include {tmp_path}/fifo\n".encode()

    def work() -> dict[str, dict[str, str]]:
        crypto = libcrypto.Libcrypto()
        return crypto.sections(crypto.read(text)[0])

    assert aside.once(work, 10) == {"default": {"a": "b"}}


def test_the_child_has_nothing_that_its_parent_has_open() -> None:
    def work() -> list[bool]:
        with contextlib.suppress(OSError):
            os.fstat(secret)
            return [True, False]
        return [False, os.getsid(0) == os.getpid()]

    secret = os.memfd_create("secret", 0)
    os.set_inheritable(secret, True)
    try:
        assert aside.once(work, 30) == [False, True]
    finally:
        os.close(secret)


IN_OPEN = 0x20


@pytest.mark.parametrize("count", range(1, 7))
def test_a_link_that_leads_elsewhere_when_it_is_named_again(theirs: Path, count: int) -> None:
    """Their link leads to a file of root's own, and to theirs as soon as that has been opened so many times."""
    own, link, other = theirs.parent / "openssl.cnf", theirs / "link", theirs / "other"
    own.write_text(STRICT)
    link.symlink_to(own)
    other.symlink_to(theirs / "openssl.cnf")
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    libc.inotify_add_watch(watch, os.fsencode(own), IN_OPEN)
    with subprocess.Popen(
        [str(ROOT / "scripts/drng-conf"), str(link)], env=RELEASE.environment(), stdout=subprocess.DEVNULL
    ) as process:
        opened = 0
        while process.poll() is None and opened < count:
            # An event of a file has 16 bytes.
            if select.select([watch], [], [], 0.02)[0]:
                opened += len(os.read(watch, 1 << 12)) // 16
        if opened >= count:
            other.rename(link)
    os.close(watch)
    assert not (theirs / "mark").exists()


def test_a_module_finds_no_terminal(theirs: Path) -> None:
    """Whoever runs drng-conf in a terminal of root's, by su, would type for root."""
    master, terminal = pty.openpty()
    command = ["setsid", "--ctty", "--wait", str(ROOT / "scripts/drng-conf"), str(theirs / "openssl.cnf")]
    for path in (theirs, *theirs.iterdir()):
        os.chown(path, 0, 0)
    subprocess.run(command, env=RELEASE.environment(), stdin=terminal, stdout=terminal, stderr=terminal, check=False)
    assert (theirs / "mark").exists()
    typed = select.select([terminal], [], [], 0)[0]
    os.close(master)
    os.close(terminal)
    assert not typed


# ---- Whatever is mistyped: drng serves, or something is said ----

# Says of each path on its standard input what there is to say; a new process, in which nothing has loaded libcrypto.
SAYER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from scripts.drng.conf import command, probe
from scripts.drng.paths import read_once
for path in map(str.strip, sys.stdin):
    found = probe.probe(read_once(path), path)
    said = command.mistakes(found)
    print(json.dumps([*said, *filter(None, [found.problem])]), flush=True)
"""


def variants(word: str) -> Iterator[str]:
    """Abbreviated, mistyped, in other letters, with a dot, as OpenSSL has it for keys that come twice, doubled, quoted,
    with what ends or spoils a line, and another word that is there."""
    half = len(word) // 2
    yield from (word[:-1], word[: half + 1], word[:1], word[:half] + word[half + 1 :], word[:half] + word[half:] * 2)
    yield from (f"{word}s", word.capitalize(), word.upper(), f"{word}.1", f"1.{word}", f"{word} {word}", f"{word}::x")
    yield from (f"{word[:half]} {word[half:]}", f"{word} # so", f"{word}#", f"{word};", f'"{word}"')
    yield from (
        f"'{word}",
        f"[{word}]",
        f"{word}]",
        f"[{word}",
        f"\\{word}",
        f"{word}\\",
        f"${word}",
        "nowhere",
        *SECTIONS,
    )


def changed_lines(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """One line has gone or is there twice, or a word of it is another, there or everywhere; what was done, and all."""
    for number, line in enumerate(lines):
        before, after = lines[:number], lines[number + 1 :]
        yield f"{line}, left out", before + after
        yield f"{line}, twice", [*before, line, *lines[number:]]
        for word in dict.fromkeys(re.findall(r"\w{3,}", line)):
            for other in variants(word):
                one, all_of_them = (
                    [re.sub(rf"\b{word}\b", lambda _, o=other: o, each) for each in part] for part in ([line], lines)
                )
                yield f"{line}: {word} -> {other}", [*before, *one, *after]
                yield f"{word} -> {other} everywhere", all_of_them


def test_whatever_is_mistyped_drng_serves_or_something_is_said(tmp_path: Path) -> None:
    lines = [line for line in STRICT.splitlines() if line and line[0] != "#"]
    changes = [*changed_lines(lines)][::5]
    command = [SYSTEM_PYTHON, "-I", "-c", SAYER, str(ROOT)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    wrong, served = [], 0
    with subprocess.Popen(command, env=RELEASE.environment(), **pipes) as sayer:  # type: ignore[call-overload]
        for number, (what, text) in enumerate(changes):
            path = tmp_path / f"{number}.cnf"
            path.write_text("\n".join([*text, ""]))
            answer = RELEASE.probe(path)
            serves = answer["rand_bytes"] == 1 and served_by_drng(answer)
            print(path, file=sayer.stdin, flush=True)
            said = json.loads(sayer.stdout.readline())
            served += serves
            wrong += [f"{what}: drng does not serve, and nothing is said"] if not serves and not said else []
        sayer.stdin.close()
    assert not wrong, "\n".join(wrong)
    assert 0 < served < len(changes) and len(changes) > 100
