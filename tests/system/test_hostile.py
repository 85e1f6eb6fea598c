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
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import CONF, ROOT
from tests.support.forking import Forking
from tests.support.image import NOBODY, Image

DRNG_CONF = str(ROOT / "scripts/drng-conf")
SECONDS = 60
VERBS = (("on",), ("on", "--dry-run"), ("off",), ("status",))
SCOPES = (("--system",), ("--service", "nginx"))
COMMANDS = [(verb[0], *scope, *verb[1:]) for verb in VERBS for scope in SCOPES]


def decent(result: subprocess.CompletedProcess[Any]) -> None:
    """Ended by itself, without a traceback, with a code that is in the manual, and with nothing for a terminal."""
    said = result.stdout + result.stderr
    if isinstance(said, bytes):
        said = said.decode(errors="surrogateescape")
    assert "Traceback" not in said, said
    assert result.returncode in (0, 1, 2), said
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
    if command[0] in ("off", "status"):
        image.ok("on", *command[1:3])
    result = image.run(*command, env=hostile_environment(folder), cwd=str(folder))
    assert result.returncode == 0, result.stderr
    assert not mark.exists(), mark.read_text()
    image.offline = True
    decent(image.run(*command, env=hostile_environment(folder), cwd=str(folder)))
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


def test_drng_conf_runs_nothing_of_the_caller_s(tmp_path: Path) -> None:
    folder = tmp_path / "planted"
    mark = plant(folder)
    if os.geteuid() == 0:
        # Of another user's: root loads no module that such a file names.
        for path in (folder, *folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    for arguments in ([str(CONF / "drng.cnf")], ["openssl.cnf"], []):
        if os.geteuid() == 0 or arguments[:1] == [str(CONF / "drng.cnf")]:
            how = {"cwd": folder, "env": hostile_environment(folder), "capture_output": True, "check": False}
            decent(subprocess.run([DRNG_CONF, *arguments], **how))  # type: ignore[call-overload]
        assert not mark.exists(), mark.read_text()


def test_an_image_s_module_is_not_loaded(image: Image, tmp_path: Path) -> None:
    """Nor its openssl run: what cannot be known so is said."""
    mark = plant(tmp_path / "planted")
    (tmp_path / "planted/evil.so").rename(image.modules / "drng.so")
    for program in ("openssl", "python3", "systemctl"):
        (image.root / "usr/bin" / program).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (image.root / "usr/bin" / program).chmod(0o755)
    image.offline = True
    for scope in SCOPES:
        said = image.ok("on", *scope)
        assert "not tried: nothing in an image is loaded" in said
        image.ok("status", *scope)
        image.ok("off", *scope)
    assert not mark.exists()


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


def drng_conf(path: Path | str, *options: str, **kwargs: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([DRNG_CONF, *options, str(path)], capture_output=True, timeout=SECONDS, check=False, **kwargs)


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


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_hostile_configurations(image: Image, tmp_path: Path, name: str) -> None:
    path = tmp_path / "openssl.cnf"
    path.write_bytes(HOSTILE_TEXTS[name].replace(b"@SELF@", str(path).encode()))
    decent(drng_conf(path))
    image.conf.write_bytes(HOSTILE_TEXTS[name].replace(b"@SELF@", b"/etc/ssl/openssl.cnf"))
    before = image.files()
    for image.offline in (False, True):
        for command in (("on", "--system"), ("on", "--service", "nginx"), ("status", "--system"), ("off", "--system")):
            decent(image.run(*command))
            assert not [n for n in image.files() if n.endswith(".tmp")]
    assert image.files()[str(image.conf)] == before[str(image.conf)]


@pytest.mark.parametrize("line", ["x::.include {}", ".includes {}", "x = y\r.include {}", "x = {}\n.include $x"])
def test_no_include_leads_out_of_an_image(image: Image, tmp_path: Path, line: str) -> None:
    """However it is written: root's libcrypto would wait there for ever, or print what only root may read."""
    os.mkfifo(tmp_path / "fifo")
    image.offline = True
    image.conf.write_text(image.conf.read_text() + line.format(tmp_path / "fifo") + "\n")
    image.run("on", "--system", timeout=30)
    secret = tmp_path / "secret"
    secret.write_text("root:precious\n")
    image.conf.write_text(line.format(secret) + "\n")
    assert "precious" not in image.run("on", "--system", timeout=30).stderr


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


# ---- Trees ----


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forking]:
    with Forking(tmp_path_factory.mktemp("python")) as forking:
        yield forking


def test_a_program_that_is_forked_says_what_it_says_by_itself(image: Image, python: Forking, tmp_path: Path) -> None:
    image.offline = True
    for words in (("status", "--system"), ("off", "--system"), ("on", "--system", "--dry-run"), ("on", "--nothing")):
        alone = image.run(*words)
        forked = python.run(*image.command, *words, "--root", str(image.root))
        assert (forked.returncode, forked.stdout, forked.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    broken = tmp_path / "broken.py"
    broken.write_text("raise OSError\n")
    with pytest.raises(AssertionError, match="Traceback"):
        decent(python.run(str(broken)))
    broken.write_text("import os\nos.abort()\n")
    with pytest.raises(AssertionError):
        decent(python.run(str(broken)))


def snapshot(folder: Path) -> dict[str, Any]:
    return {
        str(p): (p.lstat().st_mode, p.lstat().st_mtime_ns, p.read_bytes() if p.is_file() else None)
        for p in sorted(folder.rglob("*"))
    }


PARTS = [
    "etc",
    "etc/ssl",
    "etc/ssl/openssl.cnf",
    "etc/ssl/openssl.cnf.before-drng",
    "etc/ssl/drng",
    "etc/ssl/drng/drng.cnf",
    "etc/ssl/drng/service",
    "etc/ssl/drng/service/nginx.cnf",
    "etc/systemd",
    "etc/systemd/system",
    "etc/systemd/system/nginx.service.d",
    "etc/systemd/system/nginx.service.d/drng.conf",
    "usr/lib/systemd/system/nginx.service",
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_no_link_leads_out_of_an_image(
    image: Image, python: Forking, tmp_path: Path, part: str, relative: bool
) -> None:
    """What it leads to is a copy of what was there, so that nothing else gives reason to stop."""
    outside = tmp_path / "outside"
    outside.mkdir()
    path = image.root / part
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.rename(outside / path.name)
    elif path.suffix in (".cnf", ".conf", ".before-drng"):
        (outside / path.name).write_bytes(image.conf.read_bytes())
    else:
        (outside / path.name).mkdir()
    target = outside / path.name
    path.symlink_to("../" * 40 + str(target)[1:] if relative else target)
    before = snapshot(outside)
    for command in COMMANDS:
        decent(python.run(*image.command, *command, "--root", str(image.root)))
        assert snapshot(outside) == before
        assert path.is_symlink()


@pytest.mark.parametrize("kind", ["directory", "fifo", "socket", "device", "circle", "dangling"])
@pytest.mark.parametrize("part", PARTS)
def test_what_is_no_file_or_no_folder(image: Image, python: Forking, part: str, kind: str) -> None:
    path = image.root / part
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.rename(image.root / "aside")
    NOT_FILES[kind](path)
    found = path.lstat().st_ino
    for command in COMMANDS:
        decent(python.run(*image.command, *command, "--root", str(image.root)))
        # A folder where one was is as good as the one before.
        assert kind == "directory" or path.lstat().st_ino == found
    assert not list(image.root.rglob("*.tmp"))


def test_a_folder_with_a_hostile_name(image: Image, tmp_path: Path) -> None:
    image.root.rename(tmp_path / "a\n\x1b[2J\udc9bb")
    image = Image(tmp_path / "a\n\x1b[2J\udc9bb", offline=True)
    drop_ins = image.root / "usr/lib/systemd/system/nginx.service.d"
    drop_ins.mkdir()
    for name in ("\x1b[31m.conf", "a\nb.conf"):
        (drop_ins / name).write_text("[Service]\nEnvironment=A=b\n")
    for command in COMMANDS:
        result = image.run(*command)
        decent(result)
        # The last two look at what has been turned off.
        assert result.returncode == (1 if command[0] == "status" else 0), result.stderr
    (drop_ins / "\x1b[31m.conf").write_text("[Service]\nEnvironment=OPENSSL_CONF=/\n")
    result = image.run("on", "--service", "nginx")
    decent(result)
    assert "\\x1b[31m.conf mentions" in result.stderr


@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("planted", ["link", "hard link", "user's file"])
def test_a_planted_backup_is_not_written_to(image: Image, live: bool, planted: str) -> None:
    """In a folder of somebody's, where root is asked to work by --conf."""
    if os.geteuid() != 0:
        pytest.skip("files of another user take root")
    image.offline = not live
    folder = image.root / "etc/share"
    folder.mkdir()
    (folder / "openssl.cnf").write_text("a = b\n")
    victim = image.root / "etc/victim"
    victim.write_text("precious\n")
    backup = folder / "openssl.cnf.before-drng"
    if planted == "link":
        backup.symlink_to("/etc/victim")
    elif planted == "hard link":
        os.link(victim, backup)
    else:
        backup.write_text("mine\n")
        os.chown(backup, NOBODY, NOBODY)
    result = image.run("on", "--system", "--conf", "/etc/share/openssl.cnf")
    decent(result)
    assert victim.read_text() == "precious\n"
    if planted != "hard link":
        assert result.returncode == 1
        assert "did not make; nothing has been changed" in result.stderr
        assert (folder / "openssl.cnf").read_text() == "a = b\n"


@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
def test_a_user_s_link_is_not_followed_where_root_writes(image: Image, live: bool) -> None:
    image.offline = not live
    if os.geteuid() != 0:
        pytest.skip("files of another user take root")
    folder = image.root / "etc/share"
    folder.mkdir()
    (folder / "openssl.cnf").symlink_to("/etc/victim")
    os.lchown(folder / "openssl.cnf", NOBODY, NOBODY)
    (image.root / "etc/victim").write_text("a = b\n")
    said = image.refused("on", "--system", "--conf", "/etc/share/openssl.cnf")
    assert f"user {NOBODY} made, and it is not followed" in said
    os.chown(image.root, NOBODY, NOBODY)
    image.offline = True
    image.ok("on", "--system", "--conf", "/etc/share/openssl.cnf")


# ---- Killed, a full disk, two at once, nobody who listens ----

# Counts the calls that change something, and dies before one of them.
DIES = """
import os, runpy, signal, sys
left = int(sys.argv.pop(1))
def deadly(name):
    call = getattr(os, name)
    def die(*arguments, **named):
        global left
        if name != "open" or arguments[1] & os.O_CREAT:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)
    setattr(os, name, die)
for name in ("open", "write", "fchmod", "fsync", "rename", "unlink", "mkdir", "rmdir"):
    deadly(name)
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def killed_at(image: Image, python: Forking, dies: Path, step: int, *command: str) -> bool:
    """Whether it came that far."""
    result = python.run(str(dies), str(step), *image.command, *command, "--root", str(image.root))
    assert result.returncode in (0, -signal.SIGKILL), result.stderr
    return result.returncode != 0


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_killed_at_every_step(image: Image, python: Forking, tmp_path: Path, scope: tuple[str, ...]) -> None:
    """What is there is the old or the new, each whole; the next run leaves nothing of the killed one."""
    dies = tmp_path / "dies.py"
    dies.write_text(DIES)
    image.offline = True
    original = image.files()
    image.ok("on", *scope)
    wanted = image.files()
    image.ok("off", *scope)
    whole = set(original.values()) | set(wanted.values())
    kept = image.root / "kept"
    for verb, result in (("on", wanted), ("off", original)):
        step = 1
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(image.root / "etc", kept, symlinks=True)
        while killed_at(image, python, dies, step, verb, *scope):
            found = {n: d for n, d in image.files().items() if not n.endswith(".tmp")}
            assert set(found.values()) <= whole, step
            assert set(found) <= set(original) | set(wanted)
            again = python.run(*image.command, verb, *scope, "--root", str(image.root))
            assert again.returncode == 0, again.stderr
            assert image.files() == result, step
            shutil.rmtree(image.root / "etc")
            shutil.copytree(kept, image.root / "etc", symlinks=True)
            step += 1
        assert step > 3
        assert image.files() == result


FULL = """
set -e
mount -t tmpfs -o size=$2k,mode=755 none "$1/etc"
cp -a "$1/kept/." "$1/etc/"
shift 2
"$@" && result=0 || result=$?
root=$(dirname "$(dirname "$(dirname "$1")")")
rm -rf "$root/after" && cp -a "$root/etc" "$root/after"
exit $result
"""


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_a_full_disk_changes_nothing(image: Image, scope: tuple[str, ...]) -> None:
    """On a disk of every size from where the files just fit to where it works."""
    (image.root / "etc").rename(image.root / "kept")
    (image.root / "etc").mkdir()
    used = sum(-(-p.stat().st_size // 4096) * 4 for p in (image.root / "kept").rglob("*") if p.is_file())
    refused = 0
    for size in range(used, used + 400, 4):
        command = [*image.command, "on", *scope, "--root", str(image.root)]
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c", FULL, "sh", str(image.root), str(size), *command],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        if result.returncode == 0:
            break
        if "cp: " in result.stderr:
            continue
        decent(result)
        assert "No space left on device; nothing has been changed" in result.stderr
        refused += 1
        before, after = (
            {
                str(p.relative_to(image.root / top)): p.read_bytes() if p.is_file() else None
                for p in (image.root / top).rglob("*")
            }
            for top in ("kept", "after")
        )
        assert after == before
    assert result.returncode == 0
    assert refused > 0


# Gets a signal when it runs `openssl list` for the first time, or where it begins to import its own modules.
SIGNALLED = """
import os, runpy, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell runs the tests in the background
where = sys.argv.pop(1)
class Finder:
    def find_spec(self, name, *rest):
        if where == "import" and name == "drng.enable":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
run = subprocess.run
def signalled(command, **named):
    global where
    if where == "trial" and "list" in command:
        where = ""
        os.kill(os.getpid(), signal.SIGTERM)
    return run(command, **named)
subprocess.run = signalled
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Signalled(Image):
    where = ""

    @property
    def command(self) -> list[str]:
        return ["/usr/bin/python3", "-I", "-c", SIGNALLED, self.where, *super().command]


@pytest.mark.parametrize("verb", ["on", "off"])
def test_a_signal_in_the_trial_ends_it(image: Image, verb: str) -> None:
    """It was once taken for a file that does not load, and what was to be tried was then done."""
    if verb == "off":
        image.ok("on", "--system")
    signalled = Signalled(image.root)
    signalled.where = "trial"
    assert signalled.refused(verb, "--system") == "drng-enable: ended by SIGTERM\n"


def test_a_signal_at_the_very_start(image: Image) -> None:
    signalled = Signalled(image.root)
    signalled.where = "import"
    words = [*signalled.command, "status", "--system", "--root", str(image.root)]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (-signal.SIGINT, "")


# As a kernel may: a part of what it is given.
WRITES_LITTLE = """
import os, runpy, sys
write = os.write
os.write = lambda fd, data: write(fd, bytes(data)[:100])
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_write_in_parts(image: Image) -> None:
    image.offline = True
    image.ok("on", "--system")
    wanted = image.files()
    image.ok("off", "--system")
    words = [*image.command, "on", "--system", "--root", str(image.root)]
    result = subprocess.run(
        ["/usr/bin/python3", "-I", "-c", WRITES_LITTLE, *words], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
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
    before = image.files()
    words = [*image.command, "on", "--system", "--root", str(image.root)]
    result = subprocess.run(
        ["/usr/bin/python3", "-I", "-c", NO_ROOM, *words], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "No space left on device; nothing has been changed" in result.stderr
    assert image.files() == before


BUSY = 'mount --bind "$1" "$1" && shift && exec "$@"'


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_a_second_step_that_fails_takes_the_first_back(image: Image, scope: tuple[str, ...]) -> None:
    """The file cannot be replaced: something is mounted on it, as container runtimes do."""
    image.offline = True
    busy = image.conf
    if "--service" in scope:
        image.ok("on", *scope)
        busy = image.drop_in
        (image.root / "etc/ssl/drng/service/nginx.cnf").unlink()
    before = image.files()
    for profile in ("strict", "permissive"):
        words = [*image.command, "on", *scope, "--profile", profile, "--root", str(image.root)]
        command = ["unshare", "--mount", "sh", "-c", BUSY, "sh", str(busy), *words]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        assert found.returncode == 1
        assert "Device or resource busy (something is mounted on it" in found.stderr
        assert found.stderr.endswith("; nothing has been changed\n")
        assert image.files() == before


def test_a_second_step_that_fails_says_what_has_changed(image: Image) -> None:
    image.offline = True
    image.ok("on", "--service", "nginx")
    words = [*image.command, "on", "--service", "nginx", "--profile", "permissive", "--root", str(image.root)]
    command = ["unshare", "--mount", "sh", "-c", BUSY, "sh", str(image.drop_in), *words]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert re.search(r"where it comes from\); \S*/etc/ssl/drng/service/nginx.cnf is the new one", found.stderr)
    assert "nothing has been changed" not in found.stderr


def test_one_at_a_time(image: Image) -> None:
    """They take turns, whatever they do: at the end nothing is there but one of the two states."""
    image.offline = True
    original = image.files()
    image.ok("on", "--system")
    on = image.files()
    image.ok("off", "--system")
    results: list[subprocess.CompletedProcess[str]] = []
    threads = [
        threading.Thread(target=lambda v=verb: results.append(image.run(v, "--system")))
        for verb in ("on", "off", "on", "off", "on", "off")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [r.returncode for r in results] == [0] * len(threads), results
    assert image.files() in (original, on)
    assert not Path("/run/drng-enable.lock").exists() or os.geteuid() != 0


def test_it_waits_for_another(image: Image) -> None:
    if os.geteuid() != 0:
        pytest.skip("the lock of others than root is another one")
    image.offline = True
    holder = (
        "import sys\n"
        "from scripts.drng.enable.lock import locked\n"
        "with locked():\n    print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "held\n"
        with subprocess.Popen(
            [*image.command, "on", "--system", "--root", str(image.root)], stdout=subprocess.PIPE, text=True, cwd="/"
        ) as waiting:
            assert waiting.stdout is not None
            assert "waiting for another" in waiting.stdout.readline()
            assert not image.backup.exists()
            other.stdin.close()
            assert "strict is on" in waiting.stdout.read()
        assert waiting.returncode == 0


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("way", [">/dev/full", ">&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full >/dev/full"])
def test_nobody_listens(image: Image, command: tuple[str, ...], way: str) -> None:
    """It is done all the same, and its code says that not all could be said."""
    image.offline = True
    if command[0] in ("off", "status"):
        image.ok("on", *command[1:3])
    words = [*image.command, *command, "--root", str(image.root)]
    result = subprocess.run(["sh", "-c", f'"$@" {way}', "sh", *words], capture_output=True, check=False, cwd="/")
    assert result.returncode == 2, result.stderr
    assert b"Traceback" not in result.stderr
    if command[1] == "--system" and command[-1] != "--dry-run" and command[0] != "status":
        assert (b"drng-enable" in image.conf.read_bytes()) == (command[0] == "on")


@pytest.mark.parametrize("way", [">/dev/full", ">&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full >/dev/full"])
def test_nobody_listens_to_drng_conf(way: str) -> None:
    words = [DRNG_CONF, str(CONF / "drng.cnf")]
    result = subprocess.run(["sh", "-c", f'"$@" {way}', "sh", *words], capture_output=True, check=False)
    assert result.returncode == 74
    assert b"Traceback" not in result.stderr


# ---- Files that only root may read ----


def test_what_other_users_may_not_read_is_warned_of(image: Image) -> None:
    """They get another generator than root, to whom all seems well; or, without the module, none."""
    image.conf.chmod(0o640)
    assert "not every user may read /etc/ssl/openssl.cnf: programs of those who may not get" in image.ok(
        "on", "--system"
    )
    assert "not every user may read" in image.ok("status", "--system")
    image.ok("off", "--system")
    image.conf.chmod(0o644)
    assert "not every user" not in image.ok("on", "--system")
    image.ok("off", "--system")
    (image.root / "etc/ssl").chmod(0o750)
    assert "not every user may read /etc/ssl: " in image.ok("on", "--system")
    (image.root / "etc/ssl").chmod(0o755)
    image.ok("off", "--system")
    (image.root / "etc/ssl/drng").chmod(0o700)
    for verb in ("on", "status"):
        assert "not every user may read /etc/ssl/drng: " in image.ok(verb, "--service", "nginx")


@pytest.mark.parametrize(("profile", "served"), [("strict", "no random"), ("permissive", "OpenSSL's own")])
def test_a_module_that_other_users_may_not_read_is_warned_of(image: Image, profile: str, served: str) -> None:
    (image.modules / "drng.so").chmod(0o700)
    said = image.ok("on", "--system", "--profile", profile)
    assert re.search(rf"not every user may read \S*/drng.so: .* get {served}", said)


# ---- A machine without what every machine has ----

READERS = ("drng-enable status --system", f"drng-conf {CONF}/drng.cnf", "drng-status --check", "drng-status --all")


def one_line(result: subprocess.CompletedProcess[str]) -> None:
    """What has failed says so in one line, whose subject is the program."""
    said = (result.stdout + result.stderr).strip()
    assert "Traceback" not in said, said
    assert "please report it" not in said, said
    assert len(said.splitlines()) == 1, said
    assert said.startswith("drng"), said


# What each program does early, and what Python raises there under a limit (ulimit -v, -u).
LIMITS = (
    ("drng-enable status --system", "subprocess.run", "MemoryError()", 1),
    (f"drng-conf {CONF}/drng.cnf", "ctypes.CDLL", "MemoryError()", 2),
    (f"drng-conf {CONF}/drng.cnf", "dataclasses.dataclass", "MemoryError()", 2),
    ("drng-status --check", "os.fork", "MemoryError()", 3),
    ("drng-status --all", "os.fork", "MemoryError()", 3),
)


@pytest.mark.parametrize(("command", "function", "error", "status"), LIMITS)
def test_a_limit_on_memory_or_threads(command: str, function: str, error: str, status: int) -> None:
    program, *arguments = command.split()
    script = str(ROOT / "scripts" / program)
    module = function.partition(".")[0]
    code = (
        f"import runpy, sys, {module}\n"
        f"def refuse(*_, **__): raise {error}\n"
        f"{function} = refuse\n"
        f"sys.argv = {[script, *arguments]}\n"
        f"runpy.run_path({script!r}, run_name='__main__')\n"
    )
    words = ["/usr/bin/python3", "-I", "-c", code]
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    one_line(result)
    assert "ulimit -v" in result.stderr
    assert result.returncode == status


@pytest.mark.parametrize("command", READERS)
def test_no_dev_null(command: str) -> None:
    """As in a folder that somebody unpacks a system into. What needs the device names it."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespaces here")
    program, *arguments = command.split()
    hidden = 'mount -t tmpfs tmpfs /dev && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", hidden, "sh", str(ROOT / "scripts" / program), *arguments]
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    one_line(result)
    assert result.returncode == {"drng-enable": 1, "drng-conf": 74}.get(program, 3)
    assert "/dev/null" in result.stderr


# ---- An image's openssl.cnf that is to cost time or memory ----


def test_a_long_include_line_of_an_image(image: Image) -> None:
    """Its path was once looked for in a time that grows with the square of the line's length."""
    image.offline = True
    for spaces, reason in ((60_000, "only paths that begin with /"), (300_000, "a line is longer than")):
        image.conf.write_text(f".include x{' ' * spaces}y\n")
        assert reason in image.refused("on", "--system")


def few_descriptors(image: Image, *command: str) -> subprocess.CompletedProcess[str]:
    words = [*image.command, *command, "--root", str(image.root)]
    return subprocess.run(["prlimit", "--nofile=64", *words], capture_output=True, text=True, check=False)


def test_many_includes_of_an_image(image: Image) -> None:
    """No descriptor is left behind by any of them, and there is an end to them."""
    stock = image.conf.read_text()
    image.offline = True
    (image.root / "etc/one.cnf").write_text("a = b\n")
    image.conf.write_text(stock + ".include /etc/one.cnf\n" * 900)
    result = few_descriptors(image, "on", "--system")
    assert result.returncode == 0, result.stderr
    image.conf.write_text(stock + ".include /etc/one.cnf\n" * 1001)
    assert "more than 1000 files" in image.refused("on", "--system")


def test_includes_of_an_image_that_multiply(image: Image) -> None:
    image.offline = True
    for level in range(8):
        (image.root / f"etc/{level}.cnf").write_text(f".include /etc/{level + 1}.cnf\n" * 10)
    (image.root / "etc/8.cnf").write_text("a = b\n")
    image.conf.write_text(".include /etc/0.cnf\n")
    assert "more than 1000 files" in image.refused("on", "--system")
    (image.root / "etc/large.cnf").write_text("# large\n" * 100_000)
    image.conf.write_text(".include /etc/large.cnf\n" * 10)
    assert "more than 4194304 bytes" in image.refused("on", "--system")


@pytest.mark.parametrize("folder", ["etc/systemd/system", "etc/included"])
def test_a_folder_of_an_image_with_more_names_than_any(image: Image, folder: str) -> None:
    """Who builds it may put millions there, which are not all to be read into memory."""
    image.offline = True
    with image.conf.open("a") as file:
        file.write(".include /etc/included\n")
    (image.root / folder).mkdir(parents=True, exist_ok=True)
    for number in range((1 << 16) + 1):
        os.close(os.open(f"{image.root}/{folder}/{number}", os.O_WRONLY | os.O_CREAT, 0o644))
    assert "has more than 65536 names" in image.refused("on", "--service", "nginx")
