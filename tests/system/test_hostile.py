# SPDX-License-Identifier: Apache-2.0
"""drng-conf and drng-enable in a hostile world: each command over each configuration, environment, folder, tree and
disk that somebody else may have prepared for root.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import CONF, ROOT
from tests.support.forking import DIES, Forking
from tests.support.image import NOBODY, Image

DRNG_CONF, STATUS = (str(ROOT / "scripts" / name) for name in ("drng-conf", "drng-status"))
SECONDS = 60
SYSTEM = ("on", "--system", "--profile", "strict")
ON = {"--system": SYSTEM, "nginx": ("on", "nginx")}
COMMANDS = [
    words for name, on in ON.items() for words in (on, (*on, "--dry-run"), ("off", name), ("status", name), ("--json",))
]


def decent(result: subprocess.CompletedProcess[Any]) -> None:
    """Ended by itself, without a traceback, with a code that is in the manual, and with nothing for a terminal."""
    said = result.stdout + result.stderr
    if isinstance(said, bytes):
        said = said.decode(errors="surrogateescape")
    assert "Traceback" not in said, said
    assert result.returncode in (0, 1, 2, 3), said
    assert not [c for c in said if c != "\n" and not c.isprintable()], repr(said)


# ---- The folder that one is in, and the environment ----


def plant(folder: Path) -> Path:
    """Files that leave a mark when they are run or imported."""
    folder.mkdir()
    mark = folder.parent / "mark"
    python = f"open({str(mark)!r}, 'a').write(__file__)\n"
    for name in (
        "json",
        "ctypes",
        "re",
        "os",
        "argparse",
        "sitecustomize",
        "usercustomize",
        "drng",
        "encodings",
    ):
        (folder / f"{name}.py").write_text(python)
    for name in (
        "python3",
        "openssl",
        "sh",
        "gcc",
        "ldconfig",
        "systemctl",
        "drng-conf",
        "drng-status",
        "sed",
        "mktemp",
    ):
        (folder / name).write_text(f"#!/bin/sh\necho {name} >>{mark}\n")
        (folder / name).chmod(0o755)
    source = folder / "module.c"
    source.write_text(
        "#include <fcntl.h>\n#include <unistd.h>\n"
        f'__attribute__((constructor)) static void run(void) {{ close(creat("{mark}", 0666)); }}\n'
        "int OSSL_provider_init(void *a, void *b, void **c, void **d) { return 0; }\n"
    )
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-o", folder / "evil.so", source], check=True)
    (folder / "openssl.cnf").write_text(
        f"openssl_conf = i\n[i]\nproviders = p\n[p]\nevil = e\n[e]\nactivate = 1\nmodule = {folder}/evil.so\n"
    )
    (folder / "env.sh").write_text(f"echo env >>{mark}\n")
    return mark


def hostile_environment(folder: Path) -> dict[str, str]:
    inside = str(folder)
    return {
        "PATH": f"{inside}::/usr/bin:/bin",
        "PYTHONPATH": inside,
        "PYTHONHOME": inside,
        "PYTHONSTARTUP": f"{inside}/json.py",
        "PYTHONINSPECT": "1",
        "PYTHONUSERBASE": inside,
        "OPENSSL_CONF": f"{inside}/openssl.cnf",
        "OPENSSL_MODULES": inside,
        "OPENSSL_ENGINES": inside,
        "OPENSSL_CONF_INCLUDE": inside,
        "OPENSSL_ia32cap": "~0x4000000000000000:~0x40000",
        "BASH_ENV": f"{inside}/env.sh",
        "ENV": f"{inside}/env.sh",
        "IFS": "/",
        "TMPDIR": "/nowhere",
        "HOME": inside,
        "LC_ALL": "xx_YY.nothing",
    }


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_drng_enable_runs_nothing_of_the_caller_s(image: Image, tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "planted"
    mark = plant(folder)
    if command[0] != "on":
        image.ok(*ON.get(command[-1], SYSTEM))
    result = image.run(*command, env=hostile_environment(folder), cwd=str(folder))
    assert result.returncode == 0, result.stderr
    assert not mark.exists(), mark.read_text()


def test_the_planted_files_would_run(tmp_path: Path) -> None:
    """Their failing twin."""
    folder = tmp_path / "planted"
    mark = plant(folder)
    for command, extra in (
        (["/usr/bin/python3", "-c", "import json"], {}),
        (["python3"], {"PATH": str(folder)}),
        (["/usr/bin/openssl", "version"], {"OPENSSL_CONF": f"{folder}/openssl.cnf"}),
    ):
        subprocess.run(command, cwd=folder, env={"LC_ALL": "C", **extra}, check=False, capture_output=True)
        assert mark.exists(), command
        mark.unlink()


READ = [[DRNG_CONF, str(CONF / "drng.cnf")], [DRNG_CONF, "openssl.cnf"], [DRNG_CONF]]
READ += [
    [STATUS, *words.split()] for words in ("--check", "--json", "", "--all --check", "--all --prometheus", "nginx")
]


@pytest.mark.parametrize("words", READ, ids=lambda words: " ".join(Path(word).name for word in words))
def test_who_only_reads_runs_nothing_of_the_caller_s(tmp_path: Path, words: list[str]) -> None:
    folder = tmp_path / "planted"
    mark = plant(folder)
    if os.geteuid() == 0:
        # Of another user's: root loads no module that such a file names.
        for path in (folder, *folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    elif words != READ[0]:
        pytest.skip("whoever is no root loads what the file names")
    how = {"cwd": folder, "env": hostile_environment(folder), "capture_output": True, "check": False}
    decent(subprocess.run(words, **how))  # type: ignore[call-overload]
    assert not mark.exists(), mark.read_text()


# ---- Configurations ----


def fifo(path: Path) -> None:
    os.mkfifo(path)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        directory = os.open(path.parent, os.O_PATH)
        made.bind(f"/proc/self/fd/{directory}/{path.name}")
        os.close(directory)


NOT_FILES: dict[str, Callable[[Path], None]] = {
    "directory": lambda path: path.mkdir(),
    "fifo": fifo,
    "socket": bound_socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "circle": lambda path: path.symlink_to(path),
    "dangling": lambda path: path.symlink_to("/nowhere"),
    "nothing": lambda path: None,
}


def drng_conf(path: Path | str, program: str | Path = DRNG_CONF) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program, str(path)], capture_output=True, timeout=SECONDS, check=False)


HOSTILE_TEXTS = {
    "escapes": b"openssl_conf = i\n[i]\nrandom = \x1b]0;x\x07\nproviders = p\n[p]\ndrng = d\n[d]\nsorce = \x1b[31m\n",
    "escapes in a section": b"openssl_conf = i\n[i]\nproviders = p\x1b[2J\n[p\x1b[2J]\ndrng = d\n",
    "c1": "openssl_conf = i\n[i]\nproviders = p\n[p]\ndrng = d\n[d]\nsorce = \u009b31m\u202e\n".encode(),
    "no utf-8": b"openssl_conf = \xff\n[\xff]\nproviders = \xfe\n[\xfe]\ndrng = \x80\n[\x80]\nsorce = \xc3\n",
    "nul": b"openssl_conf = i\x00j\n[i]\n\x00 = 1\n",
    "long line": b"a = " + b"x" * 3_000_000 + b"\n",
    "too long": b"# comment\n" * 1_000_000,
    "deep sections": b"".join(b"[s%d]\na = b\n" % i for i in range(20_000)),
    "includes itself": b".include @SELF@\n",
    "twice": b".include @SELF@\n.include @SELF@\n",
    "escape in an include": b".include /nowhere/\x1b[31m\n",
    "no end": b"openssl_conf = ${",
    "variable circle": b"a = $b\nb = $a\n",
    "growing": b"a0 = xxxxxxxxxx\n" + b"".join(b"a%d = %s\n" % (i + 1, b"$a%d" % i * 10) for i in range(8)),
}


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, path
    path.write_text(text.replace(old, new))


@pytest.fixture
def impatient(image: Image) -> Image:
    """Its commands wait for libcrypto a tenth of the time: some of these files keep it busy for minutes."""
    change(image.root / "usr/share/drng/conf/probe.py", "SECONDS, ROOM = 20.0,", "SECONDS, ROOM = 2.0,")
    change(image.root / "usr/share/drng/aside.py", "SECONDS = 5.0", "SECONDS = 0.5")
    return image


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_hostile_configurations(impatient: Image, tmp_path: Path, name: str) -> None:
    image, path = impatient, tmp_path / "openssl.cnf"
    path.write_bytes(HOSTILE_TEXTS[name].replace(b"@SELF@", str(path).encode()))
    decent(drng_conf(path, image.root / "usr/bin/drng-conf"))
    image.conf.write_bytes(HOSTILE_TEXTS[name].replace(b"@SELF@", b"/etc/ssl/openssl.cnf"))
    before = image.files()
    for command in (SYSTEM, ("on", "nginx"), (), ("off", "--all")):
        decent(image.run(*command))
        assert not [n for n in image.files() if n.endswith(".tmp")]
    assert image.files()[str(image.conf)] == before[str(image.conf)]


@pytest.mark.parametrize("line", [".include /etc/fifo", "x::.include /etc/fifo", "x = /etc/fifo\n.include $x"])
def test_an_include_that_never_answers(image: Image, line: str) -> None:
    """However it is written: root's libcrypto would wait there for ever."""
    os.mkfifo(image.root / "etc/fifo")
    image.conf.write_text(f"{image.conf.read_text()}{line}\n")
    for command in (SYSTEM, ("on", "nginx")):
        image.refused(*command)
    decent(image.run())


def test_a_name_that_is_hostile_itself(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[2J\n\udc9b.cnf"
    decent(drng_conf(path))
    assert b"\\x1b[2J\\n" in drng_conf(path).stderr
    path.write_text("a = b\nthis is none\n")
    decent(drng_conf(path))
    assert b"\\x1b[2J\\n" in drng_conf(path).stderr
    result = drng_conf("--\x1b[2J")
    assert result.returncode == 64
    assert b"\x1b" not in result.stderr


# ---- Files of drng-enable's own that are something else ----

PARTS = ("ssl/openssl.cnf", "ssl/drng/system.cnf", "ssl/drng", "ssl/drng/nginx.cnf")
PARTS += ("systemd/system/nginx.service.d", "systemd/system/nginx.service.d/drng.conf")


@pytest.mark.parametrize("kind", ["directory", "fifo", "socket", "device", "circle", "dangling"])
@pytest.mark.parametrize("part", PARTS)
def test_what_is_no_file_or_no_folder(image: Image, part: str, kind: str) -> None:
    path = image.root / "etc" / part
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.rename(image.root / "aside")
    NOT_FILES[kind](path)
    found = path.lstat().st_ino
    for command in (
        (SYSTEM, ("off", "--system"))
        if part.endswith(("openssl.cnf", "system.cnf"))
        else (ON["nginx"], ("off", "nginx"), ())
    ):
        decent(image.run(*command))
        # A folder where one was is as good as the one before.
        assert kind == "directory" or path.lstat().st_ino == found
    assert not list(image.root.rglob("*.tmp"))


UNREADABLE: dict[str, Callable[[Path, str], None]] = {
    "folder": lambda path, _: path.mkdir(),
    "fifo": lambda path, _: fifo(path),
    "too long": lambda path, text: (path.write_text(text + "# comment\n" * 500_000), None)[1],
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_openssl_cnf_that_cannot_be_read_keeps_nothing_on(image: Image, kind: str) -> None:
    """The services are told of, and all of drng's own files go."""
    image.ok("on", "nginx")
    image.ok(*SYSTEM)
    text = image.conf.read_text()
    image.conf.unlink()
    UNREADABLE[kind](image.conf, text)
    found = image.run()
    decent(found)
    assert found.returncode == 3
    assert re.search("^nginx +on, strict", found.stdout, re.M)
    assert re.search("^system +not known +/etc/ssl/openssl.cnf is .*: put a file of less than", found.stdout, re.M)
    for words in (SYSTEM, ("on", "nginx")):
        assert "put a file of less than" in image.refused(*words)
    left = image.conf.lstat()
    said = image.ok("off", "--all")
    assert "/etc/ssl/openssl.cnf is " in said and "remove the line `.include /etc/ssl/drng/system.cnf`" in said
    assert not (image.system.exists() or image.own.exists() or image.drop_in.exists())
    assert image.conf.lstat() == left
    image.ok("off", "--system")


def test_what_a_killed_run_has_left_goes_with_the_next(image: Image) -> None:
    """Also of another service's, whose folder then goes, too."""
    before = image.files()
    for folder in (image.drop_in.parent, image.system.parent, image.conf.parent):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".drng-enable-0123456789abcdef.tmp").write_text("half")
    image.ok("off", "apache2")
    assert image.files() == before
    assert not image.drop_in.parent.exists()


@pytest.mark.parametrize("planted", ["hard link", "user's file"])
def test_a_planted_file_is_not_written_to(image: Image, planted: str) -> None:
    victim = image.root / "etc/victim"
    victim.write_text("precious\n")
    if planted == "hard link":
        os.link(victim, image.system)
    else:
        image.system.write_text("mine\n")
        os.chown(image.system, NOBODY, NOBODY)
    assert "nothing has been changed" in image.refused(*SYSTEM)
    assert victim.read_text() == "precious\n"


# ---- Killed, a full disk, two at once, nobody who listens ----


def put(kept: Path, etc: Path) -> None:
    """Not the folder itself, on which something is mounted."""
    for path in etc.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    shutil.copytree(kept, etc, symlinks=True, dirs_exist_ok=True)


@pytest.mark.parametrize("name", ON)
@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.nightly("each fifth step"))])
def test_killed_at_every_step(image: Image, tmp_path: Path, name: str, stride: int) -> None:
    """What is there is the old or the new, each whole; the next run leaves nothing of the killed one."""
    dies, etc, kept = tmp_path / "dies.py", image.root / "etc", image.root / "kept"
    dies.write_text(DIES)
    original = image.files()
    image.ok(*ON[name])
    wanted = image.files()
    image.ok("off", name)
    whole = set(original.values()) | set(wanted.values())
    with Forking(tmp_path, image.enter()) as python:
        for words, result in ((ON[name], wanted), (("off", name), original)):
            step = 1
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(etc, kept, symlinks=True)
            while python.run(str(dies), str(step), *image.command, *words).returncode == -signal.SIGKILL:
                found = {n: d for n, d in image.files().items() if not n.endswith(".tmp")}
                assert set(found.values()) <= whole, step
                assert set(found) <= set(original) | set(wanted)
                again = python.run(*image.command, *words)
                assert again.returncode == 0, again.stderr
                assert image.files() == result, step
                put(kept, etc)
                step += stride
            assert step > 3
            assert image.files() == result


FULL = """
mount -t tmpfs -o size={size}k,mode=755 none "$2/etc"
cp -a "$2/kept/." "$2/etc/"
"""
AFTER = '"$@" && result=0 || result=$?; rm -rf {after}; cp -a /etc {after}; exit $result'


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


@pytest.mark.parametrize("name", ON)
def test_a_full_disk_changes_nothing(image: Image, name: str) -> None:
    """On a disk of every size from where the files just fit to where it works."""
    kept, after = image.root / "kept", image.root / "after"
    (image.root / "etc").rename(kept)
    (image.root / "etc").mkdir()
    used = sum(-(-p.stat().st_size // 4096) * 4 for p in kept.rglob("*") if p.is_file())
    refused = 0
    for size in range(used, used + 400, 4):
        result = image.run(*ON[name], before=FULL.format(size=size), script=AFTER.format(after=after))
        if result.returncode == 0:
            break
        if "cp: " in result.stderr:
            continue
        decent(result)
        assert re.search(r"No space left on device.*; nothing has been changed", result.stderr)
        refused += 1
        assert contents(after) == contents(kept)
    assert result.returncode == 0
    assert refused > 0


# Gets a signal when it makes the file for libcrypto's first look, or where it begins to import its own modules.
SIGNALLED = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell runs the tests in the background
where = sys.argv.pop(1)
class Finder:
    def find_spec(self, name, *rest):
        if where == "import" and name == "drng.enable":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
fork = os.fork
def signalled():
    global where
    if where == "trial":
        where = ""
        os.kill(os.getpid(), signal.SIGTERM)
    return fork()
os.fork = signalled
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Signalled(Image):
    where = ""

    @property
    def command(self) -> list[str]:
        return ["/usr/bin/python3", "-I", "-c", SIGNALLED, self.where, *super().command]


@pytest.mark.parametrize("words", [SYSTEM, ("off", "--system")], ids=" ".join)
def test_a_signal_in_the_check_ends_it(image: Image, words: tuple[str, ...]) -> None:
    """It was once taken for a file that does not load, and what was to be tried was then done."""
    if words[0] == "off":
        image.ok(*SYSTEM)
    signalled = Signalled(image.root)
    signalled.where = "trial"
    assert signalled.refused(*words) == "drng-enable: ended by SIGTERM; nothing has been changed\n"


def test_a_signal_at_the_very_start(image: Image) -> None:
    signalled = Signalled(image.root)
    signalled.where = "import"
    result = signalled.run("status")
    assert (result.returncode, result.stderr) == (-signal.SIGINT, "")


class Patched(Image):
    patch = ""

    @property
    def command(self) -> list[str]:
        return ["/usr/bin/python3", "-I", "-c", self.patch, *super().command]


# As a kernel may: a part of what it is given.
WRITES_LITTLE = """
import os, runpy, sys
write = os.write
os.write = lambda fd, data: write(fd, bytes(data)[:100])
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_write_in_parts(image: Image) -> None:
    image.ok(*SYSTEM)
    wanted = image.files()
    image.ok("off", "--system")
    patched = Patched(image.root)
    patched.patch = WRITES_LITTLE
    patched.ok(*SYSTEM)
    assert image.files() == wanted


# As a full disk may, which still has room for the file itself.
NO_ROOM = """
import errno, os, runpy, sys
os.listxattr = lambda fd: ["user.x"]
os.getxattr = lambda fd, name: b"1"
def setxattr(fd, name, value):
    raise OSError(errno.ENOSPC, "No space left on device")
os.setxattr = setxattr
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_an_attribute_for_which_there_is_no_room_is_not_lost(image: Image) -> None:
    """It may be the ACL by which a service reads the file."""
    patched = Patched(image.root)
    patched.patch = NO_ROOM
    assert "No space left on device; nothing has been changed" in patched.refused(*SYSTEM)


@pytest.mark.parametrize("name", ON)
def test_a_second_step_that_fails_takes_the_first_back(image: Image, name: str) -> None:
    """The file cannot be replaced: something is mounted on it, as container runtimes do."""
    busy = image.conf
    if name == "nginx":
        image.ok(*ON[name])
        busy = image.drop_in
    mount = f'mount --bind "{busy}" "{busy}"'
    before = image.files()
    words = [*ON[name][:2], "--profile", "permissive"]
    found = image.run(*words, before=mount)
    assert found.returncode == 1
    assert "(something is mounted on it" in found.stderr
    assert found.stderr.endswith("; nothing has been changed\n")
    assert image.files() == before


def test_it_waits_for_another(image: Image) -> None:
    holder = ": >held; until grep -qs another said; do sleep 0.1; done; ls /etc/ssl/drng/system.cnf"
    script = (
        f"cd $(mktemp -d); mkfifo held; timeout 60 flock /run/drng-enable.lock sh -c '{holder}' & : <held; "
        '"$@" 2>said; wait; cat said >&2; rm held said'
    )
    result = image.run(*SYSTEM, script=script)
    assert "waiting for another" in result.stderr and "cannot access '/etc/ssl/drng/system.cnf'" in result.stderr
    assert image.system.exists()


# ---- A machine without what every machine has ----
