# SPDX-License-Identifier: Apache-2.0
"""Why drng does not serve a process: each libcrypto of real programs, each known reason, and what root leaves alone."""

import contextlib
import json
import os
import resource
import shlex
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import CONF_DIR, OWN, TRIED, procfs, systemd
from scripts.drng.conf import probe
from scripts.drng.enable import changes, service
from scripts.drng.paths import read_once
from scripts.drng.status import libraries, look, memory, services, sources, verdict, who
from tests.support.builds import CONF, RELEASE, need, said_by
from tests.support.servers import SYSTEM_PYTHON, wait_for
from tests.support.stats import COUNTERS, LIBRARY, made_up, without_drng
from tests.support.targets import NOBODY, PINNED, as_json, status, target

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

AS_NOBODY: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
NO_LOAD_CONFIG = 0x80  # OPENSSL_INIT_NO_LOAD_CONFIG

# Loads a libcrypto by its name or path, as it is told to, draws, and lives until its input ends.
DRAWER = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.OPENSSL_init_crypto(ctypes.c_uint64(int(sys.argv[2])), None)
buffer = ctypes.create_string_buffer(16)
exec(sys.argv[3])
print(lib.RAND_bytes(buffer, 16), flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def running(command: list[str], env: dict[str, str], **how: Any) -> Iterator[int]:
    """A program that has drawn, or could not."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": RELEASE.environment(env)}
    with subprocess.Popen(command, **pipes, **how) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() in (b"1\n", b"0\n")
        yield process.pid
        process.kill()


def drawer(library: str = "libcrypto.so.3", flags: int = 0, first: str = "") -> list[str]:
    return [SYSTEM_PYTHON, "-c", DRAWER, library, str(flags), first]


def found(pid: int) -> dict[str, Any]:
    return as_json("--pid", str(pid))["processes"][0]


def reason(command: list[str], env: dict[str, str], **how: Any) -> tuple[str, str]:
    """And who serves."""
    with running(command, env, **how) as pid:
        shown = found(pid)
        assert shown["message"]
        return shown["reason"], shown["served-by"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """That everybody may enter."""
    made = Path(tempfile.mkdtemp(prefix="drng-who-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def strict(folder: Path) -> Path:
    return Path(shutil.copy(CONF / "drng.cnf", folder / "strict.cnf"))


def libcrypto() -> str:
    code = "import ssl; print(next(line.split()[-1] for line in open('/proc/self/maps') if 'libcrypto.so' in line))"
    return said_by(SYSTEM_PYTHON, "-c", code).strip()


# ---- Each libcrypto ----


def test_a_libcrypto_that_nobody_has_used_is_idle() -> None:
    """As in zabbix-agent or gunicorn's master; it used to be an alarm for ever."""
    code = "import ctypes, sys; ctypes.CDLL('libcrypto.so.3'); print(1, flush=True); sys.stdin.read()"
    with running([SYSTEM_PYTHON, "-c", code], {"OPENSSL_CONF": "/dev/null"}) as pid:
        shown = found(pid)
        check = status("--check", "--pid", str(pid))
    (library,) = shown["libcryptos"]
    assert (library["used"], library["version"].startswith("OpenSSL 3")) == (False, True)
    assert (shown["state"], shown["served-by"], shown["reason"], check.returncode) == ("idle", "-", "", 0)


@pytest.mark.parametrize("first", ["", "lib.SHA256(b'', ctypes.c_size_t(0), buffer)", "lib.ERR_clear_error()"])
@pytest.mark.parametrize("flags", [0, NO_LOAD_CONFIG, NO_LOAD_CONFIG | 1 | 8])
def test_a_libcrypto_that_has_drawn_is_used(flags: int, first: str) -> None:
    """Without openssl.cnf and without its texts of errors, too."""
    with running(drawer(flags=flags, first=first), {"OPENSSL_CONF": "/dev/null"}) as pid:
        assert [library["used"] for library in found(pid)["libcryptos"]] == [True]


# The wheel has an OpenSSL of its own, linked into a module, which is used as soon as that is imported.
WHEEL = """
import ssl, sys, os
ssl.RAND_bytes(16)
os.environ.pop("OPENSSL_CONF", None)
os.environ.update(OPENSSL_CONF=sys.argv[1])
import cryptography.hazmat.bindings._rust
print(1, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def with_wheel(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with the wheel of cryptography."""
    place = tmp_path_factory.mktemp("wheel")
    made = subprocess.run([SYSTEM_PYTHON, "-m", "venv", str(place)], check=False, capture_output=True).returncode == 0
    pip = [str(place / "bin/pip"), "install", "-q", "--only-binary", ":all:", "cryptography"]
    if not made or subprocess.run(pip, check=False, capture_output=True).returncode != 0:
        pytest.skip("the wheel cannot be installed here")
    return str(place / "bin" / "python")


@pytest.mark.parametrize("second", ["/dev/null", PINNED["OPENSSL_CONF"]])
def test_a_wheel_with_an_openssl_of_its_own(with_wheel: str, second: str) -> None:
    """drng serves one of the two: 1,000 keys came from the other, and "drng serves 1 of 1" was said."""
    with running([with_wheel, "-c", WHEEL, second], PINNED) as pid:
        shown = found(pid)
        check = status("--check", "--pid", str(pid))
        (served,) = who.of_processes([pid])
    assert sorted(library["shared"] for library in shown["libcryptos"]) == [False, True]
    assert all(library["used"] for library in shown["libcryptos"])
    if second == "/dev/null":
        assert (shown["served-by"], shown["state"], check.returncode) == ("partly", "partly", 3)
        assert "_rust" in shown["message"] and not who.is_served([served])
    else:
        # It has found drng, too.
        assert shown["served-by"] in ("drng", "fallback")


FAKE_OLD = """
#include <string.h>
const char OpenSSL_version_text[] = "OpenSSL 1.1.1w  11 Sep 2023";
static char state[4096];
void use(void) { memset(state, 1, sizeof(state)); }
"""


def test_openssl_1_1_1_cannot_be_served(folder: Path) -> None:
    """It has no providers: no `module =` helps."""
    library = folder / "libcrypto.so.1.1"
    flags = ["-x", "c", "-", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([need("gcc"), *flags], input=FAKE_OLD, text=True, check=True)
    code = f"import ctypes, sys; ctypes.CDLL({str(library)!r}).use(); print(1, flush=True); sys.stdin.read()"
    with running([SYSTEM_PYTHON, "-c", code], PINNED) as pid:
        shown = found(pid)
        check = status("--check", "--pid", str(pid))
    assert [each["version"] for each in shown["libcryptos"]] == ["OpenSSL 1.1.1w"]
    assert (shown["reason"], shown["served-by"], check.returncode) == ("no-providers", "OpenSSL", 2)
    assert "module =" not in shown["cure"]


def library(version: str, *, used: bool = True, systems: bool = False) -> libraries.Library:
    return libraries.Library(f"/{version}", version, True, systems, used)


def test_who_of_several_is_not_served() -> None:
    """drng knows by their versions who has loaded it."""
    three, four, unknown = library("OpenSSL 3.0.19", systems=True), library("OpenSSL 4.0.3"), library("")
    one, both = {"libcrypto": "OpenSSL 3.0.19"}, {"libcrypto": "OpenSSL 3.0.19, 4.0.3"}
    assert verdict.unserved([three, four], one) == [four]
    assert verdict.unserved([three, four], both) == []
    assert verdict.unserved([three, replace(four, used=False)], one) == []
    assert verdict.unserved([unknown, three], one) == [unknown]
    assert verdict.unserved([unknown, three], both) == []
    assert verdict.unserved([three, replace(three, path="/x", is_systems=False)], one) == [
        replace(three, path="/x", is_systems=False)
    ]
    assert verdict.unserved([four], {"libcrypto": "unknown"}) == []


@pytest.mark.parametrize("profile", ["drng.cnf", "drng-permissive.cnf"])
def test_a_program_that_turns_fips_on_itself_is_served(profile: str) -> None:
    """As Node.js with --enable-fips: it had no random numbers, and was "idle"."""
    first = "assert lib.EVP_default_properties_enable_fips(None, 1) == 1"
    with running(drawer(first=first), {"OPENSSL_CONF": str(CONF / profile)}) as pid:
        shown = found(pid)
    assert (shown["served-by"] in ("drng", "fallback"), shown.get("requests", 0) > 0) == (True, True)


# ---- The reasons ----


def includes(*paths: str) -> Callable[[Path], dict[str, str]]:
    def named(folder: Path) -> dict[str, str]:
        (folder / "includes.cnf").write_text("".join(f".include {path}\n" for path in paths))
        return {"OPENSSL_CONF": str(folder / "includes.cnf")}

    return named


def fifo(folder: Path) -> dict[str, str]:
    os.mkfifo(folder / "fifo")
    (folder / "openssl.cnf").write_text(f".include {folder}/fifo\n")
    return {"OPENSSL_CONF": str(folder / "openssl.cnf")}


def no_module(profile: str, name: str) -> Callable[[Path], dict[str, str]]:
    def named(folder: Path) -> dict[str, str]:
        text = (CONF / profile).read_text()
        (folder / profile).write_text(text.replace("# module = ", f"module = {folder}/{name}\n# "))
        return {"OPENSSL_CONF": str(folder / profile)}

    return named


WHY: dict[str, tuple[int, Callable[[Path], dict[str, str]], tuple[str, str]]] = {
    "no file names drng": (0, lambda _: {"OPENSSL_CONF": "/dev/null"}, ("not-named", "OpenSSL")),
    "it reads no file": (NO_LOAD_CONFIG, lambda _: PINNED, ("own-context", "OpenSSL")),
    # Under a strict profile nothing serves.
    "no module": (0, no_module("drng.cnf", "no"), ("module", "nobody")),
    "nor here": (0, no_module("drng-permissive.cnf", "no"), ("module", "OpenSSL")),
    # As packages have it, for the folders of any distribution.
    "nor where the linker looks": (0, no_module("drng.cnf", "\\$LIB/no"), ("module", "nobody")),
    "no file": (0, lambda folder: {"OPENSSL_CONF": str(folder / "none.cnf")}, ("not-readable", "OpenSSL")),
    "no included file": (0, includes("/nowhere/x.cnf"), ("not-readable", "OpenSSL")),
    "nor a profile": (0, includes(f"{CONF_DIR}/gone.cnf"), ("not-readable", "OpenSSL")),
    "a trial that is over": (0, includes(OWN, TRIED), ("not-named", "OpenSSL")),
    # One line, and no time.
    "a FIFO": (NO_LOAD_CONFIG, fifo, ("not-readable", "OpenSSL")),
}


@pytest.mark.parametrize(("flags", "env", "expected"), WHY.values(), ids=WHY.keys())
def test_the_reason_and_who_serves(
    flags: int, env: Callable[[Path], dict[str, str]], expected: tuple[str, str], folder: Path
) -> None:
    assert reason(drawer(flags=flags), env(folder)) == expected


def test_a_file_that_ends_whoever_parses_it_costs_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_asked", lambda *_: os._exit(1))
    sources.read.cache_clear()
    assert "looking at it ended with no answer" in sources.read("/dev/null").elsewhere
    sources.read.cache_clear()


def test_it_started_before_the_file_named_drng(folder: Path) -> None:
    path = folder / "openssl.cnf"
    path.write_text("# nothing\n")
    with running(drawer(), {"OPENSSL_CONF": str(path)}) as pid:
        time.sleep(0.05)
        shutil.copyfile(CONF / "drng.cnf", path)
        assert found(pid)["reason"] == "started-before"


def test_a_mode_and_a_neighbour_are_no_change(folder: Path, strict: Path) -> None:
    """chmod of openssl.cnf, and any new file beside it, used to be "started before"."""
    with running(drawer(flags=NO_LOAD_CONFIG), {"OPENSSL_CONF": str(strict)}) as pid:
        time.sleep(0.05)
        strict.chmod(0o640)
        strict.chmod(0o644)
        (folder / "neighbour").write_text("")
        assert found(pid)["reason"] == "own-context"


@needs_root
@pytest.mark.parametrize("mode", [0o755, 0o2755, 0o4755])
def test_its_environment_is_not_trusted(mode: int, folder: Path) -> None:
    """AT_SECURE, in the process itself: libcrypto does not see OPENSSL_CONF there, and serves by itself."""
    program = Path(shutil.copy("/usr/bin/openssl", folder))
    os.chown(program, NOBODY, NOBODY)
    program.chmod(mode)
    with subprocess.Popen([program, "dgst"], env=RELEASE.environment(PINNED), stdin=subprocess.PIPE) as process:
        wait_for(lambda: any(each["used"] for each in found(process.pid)["libcryptos"]), "libcrypto to be used")
        shown = found(process.pid)
    if mode == 0o755:
        assert shown["reason"] != "at-secure"
    else:
        assert (shown["reason"], shown["cure"]) == ("at-secure", "drng-enable on --system")


def judged(pid: int, setting: services.Setting | None, source: sources.Source, **changes: Any) -> verdict.Process:
    seen = look.inspect(pid)
    return verdict.judge(replace(seen, **changes), setting, source, 0.0)


def test_the_unit_sets_the_variable_and_the_process_has_it_not(strict: Path) -> None:
    setting, source = services.Setting(str(strict), 1.0, None), sources.Source(str(strict), True, names_drng=True)
    with running(drawer(), {}) as pid:
        cures = [
            (process.reason, process.cure)
            for unit, changes in (
                ("x.service", {}),
                ("postgresql@17-main.service", {}),
                # Dovecot's processes write titles over it.
                ("dovecot.service", {"conf": None}),
            )
            for process in [judged(pid, setting, source, unit=unit, **changes)]
        ]
        gone = replace(source, not_loaded="/x is not there")
        hidden = judged(pid, setting, gone, unit="nginx.service", conf=None)
    assert cures == [("no-variable", verdict.CLEARED)] * 3
    assert hidden.reason == "module", "what is known comes first"


def test_the_text_of_a_drop_in_is_read_as_it_was_written(tmp_path: Path) -> None:
    """systemd makes the credential of it; drng-status reads the drop-in, the last that has one."""
    text = "a = C:\\new\\x25 100% \\\\\n.include /x\n"
    for name, written in (("a.conf", "b = c\n"), ("b.conf", text), ("c.conf", "")):
        line = f"SetCredential=drng.cnf:{systemd.quoted(written)}\n" * bool(written)
        (tmp_path / name).write_text(f"[Service]\n{line}")
    files = [str(tmp_path / name) for name in ("a.conf", "b.conf", "c.conf", "gone.conf")]
    assert services.credential(files) == text.encode()
    assert services.credential(files[2:]) is None


def test_what_systemd_would_give_counts_from_its_own_change(strict: Path) -> None:
    """The file has named drng for long, and the unit only now. Both are known of a process in another root, too."""
    known = sources.Source(str(strict), True, names_drng=True, changed=1.0)
    elsewhere = sources.Source(str(strict), elsewhere="another root")
    with running(drawer(), {}) as pid:
        seen = look.inspect(pid)
    seen = replace(seen, unit="x.service")
    for source in (known, elsewhere):
        late = verdict.judge(seen, services.Setting(str(strict), 100.0, None), source, 50.0)
        assert (late.reason, late.cure, late.restart) == ("started-before", "systemctl restart x", "configuration")
        assert verdict.judge(seen, services.Setting(str(strict), 10.0, None), source, 50.0).reason == "no-variable"
    assert verdict.judge(seen, None, elsewhere, 50.0).reason == "elsewhere"


def test_a_variable_that_is_empty_is_no_file() -> None:
    """It was taken for none, and the system's file, which libcrypto then does not read, for what it reads."""
    with running(drawer(), {"OPENSSL_CONF": ""}) as pid:
        assert look.inspect(pid).conf == services.openssl_conf("OPENSSL_CONF=", "x.service") == os.devnull


def test_an_environment_that_is_a_title_is_none() -> None:
    environment = look.environment_of
    assert environment(b"A=b\0OPENSSL_CONF=/x\0OPENSSL_CONF=/y\0") == {b"A": b"b", b"OPENSSL_CONF": b"/x"}
    assert environment(b"master process /usr/sbin/nginx -g daemon=on\0\0\0") is None
    assert environment(b"") == {}


def test_it_has_a_libcrypto_of_its_own(folder: Path) -> None:
    own = shutil.copy(libcrypto(), folder)
    env = {**PINNED, "OPENSSL_MODULES": str(folder)}
    assert reason(drawer(str(own)), env) == ("own-libcrypto", "nobody")
    # One that finds the module is served.
    with running(drawer(str(own)), PINNED) as pid:
        assert found(pid)["served-by"] in ("drng", "fallback")


STATIC = """
#include <openssl/rand.h>
#include <unistd.h>
int main(void)
{
    unsigned char byte;
    (void)!write(1, RAND_bytes(&byte, 1) == 1 ? "1\\n" : "0\\n", 2);
    return (int)read(0, &byte, 1);
}
"""


WHEELS = libraries.Library("/w/_rust.abi3.so", "OpenSSL 3.5.1", False, False, True)


@pytest.mark.parametrize(
    ("changes", "cure"),
    [
        ({}, "drng-enable on a"),
        ({"conf": "/x.cnf"}, ""),
        ({"conf": None}, ""),
        ({"is_secure": True}, ""),
        ({"unit": "session-1.scope"}, ""),
        ({"libraries": (LIBRARY,)}, ""),
    ],
)
def test_a_libcrypto_that_looks_for_openssl_cnf_elsewhere_is_led_to_it(changes: dict[str, Any], cure: str) -> None:
    """As that of a wheel: the system's file, which was advised, it never reads. A service's own, by OPENSSL_CONF, it
    does, but not if it ignores that variable, or has it already."""
    source = sources.Source("/etc/ssl/openssl.cnf", True, names_drng=True, module="/m/drng.so")
    alone = without_drng(source=source, **{"conf": "", "libraries": (WHEELS,), **changes})
    assert (alone.reason, alone.cure) == ("own-context", cure)
    if "libraries" not in changes:
        both = replace(alone, libraries=(LIBRARY, WHEELS), counters=COUNTERS)
        found = verdict.judge(
            look.Look(**{each.name: getattr(both, each.name) for each in fields(look.Look)}), None, source, 1.0
        )
        assert (found.served_by, found.reason, found.cure) == ("partly", "other-libcrypto", cure)


def test_who_ignores_the_variable_is_led_to_the_system_at_once() -> None:
    """As squid's workers: `drng-enable on squid` was advised, and then the system."""
    found = without_drng(unit="squid.service", is_secure=True, conf="")
    assert (found.reason, found.cure) == ("not-named", "drng-enable on --system")


def test_libcrypto_is_linked_into_it(folder: Path) -> None:
    program = str(folder / "static")
    flags = ["-x", "c", "-", "-l:libcrypto.a", "-ldl", "-lpthread", "-o", program]
    if subprocess.run([need("gcc"), *flags], input=STATIC, text=True, capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no static libcrypto here")
    assert reason([program], {**PINNED, "OPENSSL_MODULES": str(folder)}) == ("own-libcrypto", "OpenSSL")
    with running([program], PINNED) as pid:
        assert found(pid)["served-by"] in ("drng", "fallback")


def test_a_program_of_another_architecture_is_not_known() -> None:
    """Its head says so, in its memory: no file is opened."""

    class Head(memory.Memory):
        def read(self, address: int, length: int) -> bytes:
            return (b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HH", 2, 3)).ljust(length, b"\0")

    mapped = memory.Mapped(b"/lib/libcrypto.so.3", b"", 0, 4 << 20)
    with pytest.raises(procfs.UnreadableError, match="no shared object for this machine"):
        libraries.libraries_of(Head(1, 0), [mapped], 0, {})


def test_every_reason_has_its_words_and_nobody_s_else() -> None:
    said = [words for words, _ in verdict.REASONS.values() if words != "{}"]
    assert len(set(said)) == len(said)


def test_a_thread_of_the_kernel_s_has_no_libcrypto() -> None:
    """Linux 6.16 and later have no auxiliary vector to read there."""
    if Path("/proc/2/comm").read_text() != "kthreadd\n":
        pytest.skip("the kernel's threads are not seen here")
    found = look.inspect(2)
    assert (found.problem, found.libraries) == ("", ())


# ---- What drng-enable asks ----


def test_what_drng_enable_is_told() -> None:
    with target(PINNED) as good, target({"OPENSSL_CONF": "/dev/null"}) as bad:
        good.do("draw 1 16")
        bad.do("draw 1 16")
        served = who.of_processes([good.pid, bad.pid])
    assert [(each.pid, each.reason) for each in served][1] == (bad.pid, "not-named")
    assert who.is_served(served[:1]) == (served[0].served_by == "drng")
    assert not who.is_served(served)
    lines = who.lines(served)
    assert lines[0].startswith("drng serves 1 of 2 processes") or served[0].served_by == "fallback"
    assert f"PID {bad.pid}" in lines[1] and "drng-enable on" in lines[1]
    assert who.is_served([]) and who.lines([]) == ["stopped"]


def test_of_many_reasons_the_first_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not how many more there are."""
    files = [sources.Source(f"/{i}.cnf", True, problem=f"/{i}.cnf: Permission denied") for i in range(7)]
    found = [made_up(9), *(without_drng(i, source=files[i]) for i in range(7))]
    seen = service.Service("t")
    monkeypatch.setattr(systemd, "is_running", lambda: True)
    monkeypatch.setattr(services, "members_of", lambda _: [])
    monkeypatch.setattr(who, "of_processes", lambda _: found)
    assert seen.look().endswith("it cannot read its openssl.cnf: /0.cnf: Permission denied")


# ---- What root leaves alone ----


@needs_root
def test_a_file_that_its_user_can_change_is_not_opened(folder: Path) -> None:
    """Nor does anybody become its user: the answer is what to type as that user."""
    mine = folder / "mine"
    mine.mkdir()
    os.chown(mine, NOBODY, NOBODY)
    path = Path(shutil.copy(CONF / "drng.cnf", mine))
    with running(drawer(flags=NO_LOAD_CONFIG), {"OPENSSL_CONF": str(path)}, **AS_NOBODY) as pid:
        before = os.stat(path).st_atime_ns
        os.utime(path, (1, 1))
        shown = found(pid)
        assert os.stat(path).st_atime == 1, before
    assert (shown["reason"], shown["served-by"]) == ("elsewhere", "OpenSSL")
    assert shown["cure"].startswith("runuser --pty -u nobody -- drng-conf ")


@needs_root
def test_a_file_in_a_mount_of_its_own_is_not_looked_for(folder: Path) -> None:
    """A private /tmp alone does not hide the system's files."""
    (folder / "only.cnf").write_text("# nothing\n")
    shutil.copy(CONF / "drng.cnf", folder / "same.cnf")
    other = folder / "other"
    other.mkdir()
    mount = 'mount -t tmpfs none "$0" && cp "$1" "$0/only.cnf" && sleep 0.05 && shift && exec "$@"'
    start = ["unshare", "--mount", "sh", "-c", mount, str(other), str(CONF / "drng.cnf")]
    if subprocess.run([*start, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    inside = [*start, *drawer(flags=NO_LOAD_CONFIG)]
    with running(inside, {"OPENSSL_CONF": str(other / "only.cnf")}) as pid:
        shown = found(pid)
    assert (shown["reason"], shown["served-by"]) == ("elsewhere", "OpenSSL")
    # Entered with nsenter, root would run the drng-conf that its user has put there.
    assert shown["cure"] == f"as its user, where it runs: drng-conf {other}/only.cnf"
    assert reason(inside, {"OPENSSL_CONF": str(folder / "same.cnf")}) == ("own-context", "OpenSSL")


@needs_root
def test_a_server_that_has_changed_its_root_has_read_ours(strict: Path) -> None:
    leave = "import os; os.chroot('/proc/self/fdinfo')"
    env = {"OPENSSL_CONF": str(strict)}
    assert reason(drawer(flags=NO_LOAD_CONFIG, first=leave), env) == ("own-context", "OpenSSL")


@needs_root
@pytest.mark.parametrize(
    ("master", "fork"), [([], "os.fork() and os.wait(); "), (["sh", "-c", '"$@"; true', "sh"], "")]
)
def test_a_worker_in_another_root_has_what_its_server_has_read(strict: Path, master: list[str], fork: str) -> None:
    """As HAProxy forks its own, and dovecot's master executes it, in mounts of their own: those that the kernel lists
    for the worker have no openssl.cnf."""
    start = ["unshare", "--mount"]
    if subprocess.run([*start, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    worker = drawer(flags=NO_LOAD_CONFIG, first=f"import os; {fork}os.chroot('/proc/self/fdinfo')")
    with running([*start, *master, *worker], {"OPENSSL_CONF": str(strict)}) as pid:
        shown = as_json("--pid", str(pid))["processes"]
    assert [each["reason"] for each in shown if each["served-by"] == "OpenSSL"] == ["own-context"]


@needs_root
def test_what_a_process_may_perhaps_not_read_is_for_its_user_to_say(strict: Path) -> None:
    strict.chmod(0o600)
    env = {"OPENSSL_CONF": str(strict)}
    assert reason(drawer(flags=NO_LOAD_CONFIG), env, **AS_NOBODY) == ("elsewhere", "OpenSSL")
    strict.chmod(0o644)
    assert reason(drawer(flags=NO_LOAD_CONFIG), env, **AS_NOBODY) == ("own-context", "OpenSSL")


@needs_root
@pytest.mark.parametrize("name", ["a.cnf; type: drng-enable off --all; #", "$(id) `id` 'id' \\"])
def test_what_root_is_to_type_is_one_word_to_a_shell(folder: Path, name: str) -> None:
    os.chown(folder, NOBODY, NOBODY)
    for path in (f"{folder}/{name}", name):
        with running(drawer(), {"OPENSSL_CONF": path}, **AS_NOBODY) as pid:
            shown = found(pid)
        assert shown["reason"] == "elsewhere"
        *before, last = shlex.split(shown["cure"])
        assert last.replace("x5c", "") == path
        # Of two processes of one user one may type into the terminal of the other.
        assert not os.path.isabs(path) or before == ["runuser", "--pty", "-u", "nobody", "--", "drng-conf"]


@needs_root
def test_nothing_is_said_of_the_lines_of_a_file_that_not_everybody_may_read(strict: Path) -> None:
    strict.write_text("a password\n")
    strict.chmod(0o600)
    with running(drawer(), {"OPENSSL_CONF": str(strict)}, **AS_NOBODY) as pid:
        assert "password" not in json.dumps(found(pid))
        assert "password" not in status("--pid", str(pid), "--check").stdout


def test_what_the_kernel_makes_up_is_not_read() -> None:
    """/proc/kmsg is gone for others once it is read, and a process may make its /proc/PID/cmdline never answer."""
    assert Path("/proc/version").read_bytes()
    assert read_once("/proc/version") == b""
    assert changes.read("/proc/version") == b""


def test_a_file_is_read_once_for_all_who_see_it(strict: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = strict.with_name("asked")

    def counting(path: str) -> bytes:
        with asked.open("a") as file:
            file.write(f"{path}\n")
        return read_once(path)

    monkeypatch.setattr(sources, "read_once", counting)
    with contextlib.ExitStack() as stack:
        env = {"OPENSSL_CONF": str(strict)}
        pids = [stack.enter_context(running(drawer(flags=NO_LOAD_CONFIG), env)) for _ in range(3)]
        served = who.of_processes(pids)
    assert asked.read_text() == f"{strict}\n" and len({each.reason for each in served}) == 1


def test_a_process_that_ends_is_gone(monkeypatch: pytest.MonkeyPatch, strict: Path) -> None:
    """Between the look and the reading: it was "served by OpenSSL", critical, with a Python name in the line."""
    with running(drawer(flags=NO_LOAD_CONFIG), {"OPENSSL_CONF": str(strict)}) as pid:
        seen = look.inspect(pid)
    monkeypatch.setattr(who, "inspect", lambda *_: seen)
    assert who.of_processes([pid]) == []


def test_a_program_that_another_of_its_kind_has_started_is_no_forked_child(folder: Path) -> None:
    """A supervisor in Python that is older than the file, and its worker in Python, which has read it."""
    path = folder / "openssl.cnf"
    begin = f"import shutil, subprocess, sys, time; time.sleep(0.1); shutil.copyfile('{CONF}/drng.cnf', '{path}'); "
    start = [SYSTEM_PYTHON, "-c", begin + "time.sleep(0.05); subprocess.run(sys.argv[1:])"]
    with running([*start, *drawer(flags=NO_LOAD_CONFIG)], {"OPENSSL_CONF": str(path)}) as pid:
        worker = as_json("--pid", str(pid))["processes"][-1]
    assert (worker["pid"] != pid, worker["reason"]) == (True, "own-context")


# ---- What it costs ----

MANY = 400


def test_two_thousand_processes_take_less_than_ten_seconds() -> None:
    """By as many children of one process, whose maps are as long as theirs."""
    with target({"OPENSSL_CONF": "/dev/null"}) as process:
        process.do("draw 1 16")
        for _ in range(MANY):
            process.do("fork 0")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = status("--all")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.returncode == 0
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < 10 * MANY / 2000 + 0.5, used
