# SPDX-License-Identifier: Apache-2.0
"""Why drng does not serve a process: each known reason in a real program, and what it costs to ask."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import aside, procfs
from scripts.drng.status import config, look, reasons, services, states, who
from tests.support.builds import CONF, RELEASE, ROOT, need
from tests.support.servers import SYSTEM_PYTHON, wait_for
from tests.support.targets import NOBODY, PINNED, as_json, status, target

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

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
    return subprocess.run([SYSTEM_PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


# ---- The reasons ----


def test_no_file_names_drng() -> None:
    assert reason(drawer(), {"OPENSSL_CONF": "/dev/null"}) == ("not-named", "OpenSSL")


def test_it_reads_no_file() -> None:
    assert reason(drawer(flags=NO_LOAD_CONFIG), PINNED) == ("own-context", "OpenSSL")


def test_it_started_before_the_file_named_drng(folder: Path) -> None:
    path = folder / "openssl.cnf"
    path.write_text("# nothing\n")
    with running(drawer(), {"OPENSSL_CONF": str(path)}) as pid:
        time.sleep(0.05)
        shutil.copyfile(CONF / "drng.cnf", path)
        assert found(pid)["reason"] == "started-before"


@needs_root
@pytest.mark.parametrize("mode", [0o755, 0o2755, 0o4755])
def test_its_environment_is_not_trusted(mode: int, folder: Path) -> None:
    """AT_SECURE, in the process itself: libcrypto does not see OPENSSL_CONF there, and serves by itself."""
    program = Path(shutil.copy("/usr/bin/openssl", folder))
    os.chown(program, NOBODY, NOBODY)
    program.chmod(mode)
    with subprocess.Popen([program, "dgst"], env=RELEASE.environment(PINNED), stdin=subprocess.PIPE) as process:
        wait_for(lambda: found(process.pid)["uses"] != states.USES_NEITHER, "libcrypto to be loaded")
        shown = found(process.pid)
    if mode == 0o755:
        assert shown["reason"] != "at-secure"
    else:
        assert (shown["reason"], shown["cure"]) == ("at-secure", "drng-enable on --system")


def test_the_unit_sets_the_variable_and_the_process_has_it_not(strict: Path) -> None:
    known = services.Configuration(units={"x.service": services.Setting(str(strict), 1.0)}, default="/dev/null")
    with running(drawer(), {}) as pid:
        process = look.inspect(pid, closely=True)
        for unit, cure in (("x.service", "start script"), ("postgresql@17-main.service", "`environment`")):
            process.unit, process.reason = unit, ""
            settings = {unit: known.units["x.service"]}
            who.explain([process], services.Configuration(known.default, settings))
            assert process.reason == "no-variable" and cure in process.cure
        # Dovecot's processes write titles over it.
        process.unit, process.reason, process.variables = "dovecot.service", "", None
        who.explain([process], services.Configuration(known.default, {process.unit: known.units["x.service"]}))
        assert process.reason == "no-variable" and "import_environment" in process.cure


def test_the_environment_of_a_worker_is_its_first_one_s(strict: Path) -> None:
    """nginx and PostgreSQL write a title over it: the one that was started knows."""
    known = services.Configuration("/dev/null", {"x.service": services.Setting(str(strict), 1.0)})
    first, worker = (states.Process(n, "x", states.USES_LIBCRYPTO, unit="x.service", program="1:2") for n in (1, 2))
    first.variables, worker.parent = {"OPENSSL_CONF": ""}, 1
    who.explain([first, worker], known)
    assert worker.variables == {"OPENSSL_CONF": ""}


def test_an_environment_that_is_a_title_is_none(tmp_path: Path) -> None:
    def environment(raw: bytes) -> dict[bytes, bytes] | None:
        (tmp_path / "environ").write_bytes(raw)
        with procfs.closing(os.open(tmp_path, os.O_RDONLY)) as entry:
            return procfs.environment_of(entry)

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


def test_libcrypto_is_linked_into_it(folder: Path) -> None:
    program = str(folder / "static")
    flags = ["-x", "c", "-", "-l:libcrypto.a", "-ldl", "-lpthread", "-o", program]
    if subprocess.run([need("gcc"), *flags], input=STATIC, text=True, capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no static libcrypto here")
    assert reason([program], {**PINNED, "OPENSSL_MODULES": str(folder)}) == ("static-libcrypto", "nobody")
    with running([program], PINNED) as pid:
        assert found(pid)["served-by"] in ("drng", "fallback")


def test_the_module_is_not_there(folder: Path) -> None:
    """Under a strict profile nothing serves, and under the other one OpenSSL."""
    env = {**PINNED, "OPENSSL_MODULES": str(folder)}
    assert reason(drawer(), env) == ("module", "nobody")
    assert reason(drawer(), {**env, "OPENSSL_CONF": str(CONF / "drng-permissive.cnf")}) == ("module", "OpenSSL")


@needs_root
def test_the_module_may_not_be_read(folder: Path) -> None:
    module = Path(shutil.copy(RELEASE.modules / "drng.so", folder))
    module.chmod(0o600)
    shutil.copy(CONF / "drng.cnf", folder)
    env = {"OPENSSL_CONF": str(folder / "drng.cnf"), "OPENSSL_MODULES": str(folder)}
    with running(drawer(), env, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/") as pid:
        shown = found(pid)
    assert (shown["reason"], "may not be read" in shown["message"]) == ("module", True)


def test_the_file_is_not_there_or_includes_what_is_not(folder: Path) -> None:
    path = folder / "includes.cnf"
    path.write_text(".include /nowhere/x.cnf\n")
    for name in ("none.cnf", path.name):
        assert reason(drawer(), {"OPENSSL_CONF": str(folder / name)}) == ("not-readable", "OpenSSL")


def test_a_program_of_another_architecture(folder: Path) -> None:
    program = folder / "program"
    program.write_bytes(b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HH", 2, 3))
    with open(program, "rb") as file:
        assert look.architecture_of(file.fileno()) != look.own_architecture()
    process = states.Process(1, "x", states.USES_LIBCRYPTO, is_foreign=True)
    reasons.explain(process, None, "/x", config.Answer(known=True, names_drng=True), 0.0)
    assert process.reason == "architecture"


def test_every_reason_has_its_words_and_nobody_s_else() -> None:
    assert set(reasons.REASONS) >= {
        *("started-before", "at-secure", "no-variable", "own-libcrypto", "static-libcrypto", "own-context"),
        *("architecture", "not-readable", "module", "not-named", "not-asked", "fallback", "nothing", "unknown"),
    }
    said = [words for of_one in reasons.REASONS.values() for words in of_one[:1]]
    assert len(set(said)) == len(said)


# ---- What drng-enable asks ----


def test_what_drng_enable_is_told() -> None:
    with target(PINNED) as good, target({"OPENSSL_CONF": "/dev/null"}) as bad:
        good.do("draw 1 16")
        bad.do("draw 1 16")
        served = who.of_processes([good.pid, bad.pid])
    assert [(each.pid, each.reason) for each in served][1] == (bad.pid, "not-named")
    assert json.loads(json.dumps([vars(each) for each in served]))[0]["unit"] == served[0].unit
    assert who.is_served(served[:1]) == (served[0].served_by == "drng")
    assert not who.is_served(served)
    lines = who.lines(served)
    assert lines[0].startswith("drng serves 1 of 2 processes") or served[0].served_by == "fallback"
    assert f"PID {bad.pid}" in lines[1] and "drng-enable on" in lines[2]


# ---- openssl.cnf is read as the process would read it ----


@needs_root
def test_it_is_read_with_the_rights_of_the_process(folder: Path, strict: Path) -> None:
    """Its user may name a file that only root may read; and a file of its own that root may not."""
    strict.chmod(0o600)
    env = {"OPENSSL_CONF": str(strict)}
    nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
    assert reason(drawer(flags=NO_LOAD_CONFIG), env, **nobody) == ("not-readable", "OpenSSL")
    assert reason(drawer(flags=NO_LOAD_CONFIG), env, **nobody | {"extra_groups": [0]}) == ("not-readable", "OpenSSL")
    strict.chmod(0o640)
    assert reason(drawer(flags=NO_LOAD_CONFIG), env, **nobody | {"extra_groups": [0]}) == ("own-context", "OpenSSL")
    # Of root without the right to read everything.
    os.chown(strict, NOBODY, NOBODY)
    strict.chmod(0o600)
    command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *drawer(flags=NO_LOAD_CONFIG)]
    assert reason(command, env) == ("not-readable", "OpenSSL")
    assert reason(drawer(flags=NO_LOAD_CONFIG), env) == ("own-context", "OpenSSL")


@needs_root
def test_it_is_read_from_the_root_of_the_process(folder: Path, strict: Path) -> None:
    """A file in a mount namespace of its own, and one that a server read before it changed its root."""
    mount = f'mount -t tmpfs none "{folder}" && printf "%s" "$0" >"{folder}/only.cnf" && sleep 0.05 && exec "$@"'
    text = (CONF / "drng.cnf").read_text()
    start = ["unshare", "--mount", "sh", "-c", mount]
    if subprocess.run([*start, text, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    env = {"OPENSSL_CONF": str(folder / "only.cnf")}
    inside = [*start, text, *drawer(flags=NO_LOAD_CONFIG)]
    assert reason(inside, env)[0] in ("own-context", "started-before")
    assert reason(drawer(), env) == ("not-readable", "OpenSSL")
    leave = "import os; os.chroot('/proc/self/fdinfo')"
    assert reason(drawer(flags=NO_LOAD_CONFIG, first=leave), {"OPENSSL_CONF": str(strict)}) == (
        "own-context",
        "OpenSSL",
    )


@needs_root
def test_a_device_in_a_container_is_not_opened(folder: Path) -> None:
    """Some act on that. The container's own device cgroup keeps its root from it, and would not keep ours."""
    make = f'mknod -m 666 "{folder}/zero" c 1 5 && echo .include {folder}/zero >"{folder}/x.cnf"'
    script = f'mount -t tmpfs none "{folder}" && {make} && sleep 0.05 && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no device can be made here")
    inside = [*command, *drawer(flags=NO_LOAD_CONFIG)]
    with running(inside, {"OPENSSL_CONF": str(folder / "x.cnf")}) as pid:
        began = time.monotonic()
        shown = found(pid)
    # It has no end: whoever reads it learns of that, or runs out of memory.
    assert (shown["reason"], "Permission denied" in shown["message"]) == ("not-readable", True)
    assert time.monotonic() - began < 5


ASK = """
import sys
sys.path.insert(0, sys.argv[1])
from scripts.drng.status import services, who
print(*(each.reason for each in who.those([int(n) for n in sys.argv[3:]], services.Configuration(sys.argv[2]))))
"""


@needs_root
def test_who_may_become_nobody_reads_what_the_system_names(strict: Path) -> None:
    """The collector has two capabilities; what a process itself names is not for it to read."""
    drawing = drawer(flags=NO_LOAD_CONFIG)
    with running(drawing, {"OPENSSL_CONF": ""}) as one, running(drawing, {"OPENSSL_CONF": str(strict)}) as other:
        few = "--bounding-set=-all,+sys_ptrace,+dac_read_search"
        command = ["setpriv", few, SYSTEM_PYTHON, "-c", ASK, str(ROOT), str(strict), str(one), str(other)]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "own-context unknown\n"


def test_a_file_that_never_answers_costs_one_deadline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "fifo")
    path = folder / "openssl.cnf"
    path.write_text(f".include {folder}/fifo\n")
    monkeypatch.setattr(config.reading, "SECONDS", 0.5)
    with contextlib.ExitStack() as stack:
        # Before libcrypto reads it, which would wait, too.
        env = {"OPENSSL_CONF": str(path)}
        pids = [stack.enter_context(running(drawer(flags=NO_LOAD_CONFIG), env)) for _ in range(3)]
        began = time.monotonic()
        served = who.of_processes(pids)
        assert time.monotonic() - began < 5
    assert {(each.reason, each.served_by) for each in served} == {("unknown", "OpenSSL")}
    assert "no answer within 0.5 seconds" in served[0].why


def test_a_child_that_is_killed_or_lies_is_no_answer() -> None:
    """While it reads, it is its process's user's."""
    for answer in (aside.Failure("x"), None, [], {"known": 1}, {"nonsense": 1}, {"known": True, "changed": "now"}):
        assert not config.checked(answer).known
    good = config.checked({"known": True, "problem": "\x1b[2J"})
    assert (good.known, good.problem) == (True, "\\x1b[2J")
    shown = dict(aside.each([1, 2], lambda _: os.kill(os.getpid(), signal.SIGKILL), owner_of=lambda _: 7, anew=True))
    assert shown == {1: aside.Failure("looking at it ended with signal 9"), 2: aside.Failure(aside.GIVEN_UP)}


def test_it_is_read_once_for_all_who_see_the_same(strict: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = config.read_each

    def counting(questions: Any) -> Any:
        questions = [*questions]
        answers = real(questions)
        asked.append((len(questions), len(answers)))
        return answers

    monkeypatch.setattr(config, "read_each", counting)
    with contextlib.ExitStack() as stack:
        env = {"OPENSSL_CONF": str(strict)}
        pids = [stack.enter_context(running(drawer(flags=NO_LOAD_CONFIG), env)) for _ in range(4)]
        served = who.of_processes(pids)
    assert asked == [(4, 1)] and {each.reason for each in served} == {"own-context"}


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
