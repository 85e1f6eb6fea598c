# SPDX-License-Identifier: Apache-2.0
"""drng-status in a hostile world: whatever names, maps, counters, files, environments and directories others make."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import aside, procfs, terminal
from scripts.drng.status import look, output, services, who
from tests.hostile import fuzz_status
from tests.hostile.fake_proc import BASE, FakeProcess, FileMemory, module, module_maps, replaced_proc, write
from tests.support.builds import CONF, RELEASE, ROOT, SKIPPED, said_by
from tests.support.servers import wait_for
from tests.support.stats import forged

STATUS = ROOT / "scripts" / "drng-status"
PINNED = {"OPENSSL_CONF": str(CONF / "drng.cnf")}
PID = 7

Result = subprocess.CompletedProcess[str]


def status(*arguments: str, **kwargs: object) -> Result:
    env = RELEASE.environment(kwargs.pop("env", PINNED))  # type: ignore[arg-type]
    return subprocess.run(
        [str(STATUS), *arguments], env=env, capture_output=True, text=True, timeout=100, check=False, **kwargs
    )


@pytest.fixture
def proc(tmp_path: Path) -> Iterator[Path]:
    with replaced_proc(tmp_path) as folder:
        yield folder


@contextlib.contextmanager
def program(code: str, *arguments: object, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """One that has printed a line, and lives until its input ends."""
    command = ["/usr/bin/python3", "-I", "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


# ---- Streams ----


def shell(line: str) -> Result:
    return subprocess.run(
        ["/bin/sh", "-c", line, "sh", str(STATUS)],
        env=RELEASE.environment(PINNED),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_end_of_a_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [str(STATUS), "--json"], stdout=writer, stderr=subprocess.PIPE, env=RELEASE.environment(PINNED), check=False
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (-signal.SIGPIPE, b"")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """drng-status and what it is made of, in a directory of the test's."""
    folder = tmp_path / "copy"
    folder.mkdir()
    shutil.copy(STATUS, folder)
    shutil.copytree(ROOT / "scripts" / "drng", folder / "drng", ignore=shutil.ignore_patterns("*.pyc"))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.name == "drng-status" else 0o644)
    return folder


def run_copy(copy: Path) -> Result:
    return subprocess.run(
        [str(copy / "drng-status"), "--json"],
        env=RELEASE.environment(PINNED),
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_error_of_its_own_is_one_line_and_3(copy: Path) -> None:
    (copy / "drng" / "status" / "output.py").write_text("raise RuntimeError('first\\n\\x1bsecond')\n")
    result = run_copy(copy)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (3, "", 1)
    assert "an error of drng-status itself, please report it: RuntimeError: first\\n\\x1bsecond" in result.stderr


INTERRUPT = """
import builtins, os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
real = builtins.__import__
def importing(name, *rest):
    if name == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest)
builtins.__import__ = importing
sys.argv[1:], path = [sys.argv[1]], sys.argv[2]
runpy.run_path(path, run_name="__main__")
"""


@pytest.mark.parametrize("module", ("pathlib", "argparse"))
def test_an_interruption_is_quiet(module: str) -> None:
    command = ["/usr/bin/python3", "-I", "-c", INTERRUPT, module, str(STATUS)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (-signal.SIGINT, "", "")


# ---- Names ----

UGLY = "\x1b]0;owned\x07\x9b31m\u202e\u2066\xff\x7f\r\n\t"


@pytest.mark.parametrize("arguments", ((f"--pid={UGLY}",), (UGLY,)), ids=ascii)
def test_arguments_come_back_escaped(arguments: tuple[str, ...]) -> None:
    for form in ((), ("--check",)):
        result = status(*arguments, *form)
        # What is no name of a service is a service that is not there.
        assert result.returncode == (64 if "--pid" in arguments[0] else 3)
        said = result.stdout + result.stderr
        assert all(letter == "\n" or " " <= letter <= "~" for letter in said), ascii(said)


def test_the_environment_comes_back_escaped(tmp_path: Path) -> None:
    folder = tmp_path / UGLY
    folder.mkdir()
    config = folder / "openssl.cnf"
    config.write_text(f".include {UGLY}/none.cnf\n[a\x1b[2J\nx")
    for path in (config, folder / "none.cnf", folder):
        for form in ((), ("--json",), ("--check",)):
            result = status(*form, env={"OPENSSL_CONF": str(path), "OPENSSL_ia32cap": UGLY})
            said = result.stdout + result.stderr
            assert all(letter == "\n" or " " <= letter <= "~" for letter in said), ascii(said)


def test_a_process_with_an_ugly_name_is_a_row(tmp_path: Path) -> None:
    folder = tmp_path / "a\x0cb\x1c\x85 \x1b[2J\nc"
    folder.mkdir()
    (folder / "data").write_bytes(b"x" * 4096)
    code = (
        "import mmap, sys, os; f = open(sys.argv[1], 'rb'); m = mmap.mmap(f.fileno(), 0, prot=1);"
        "open('/proc/self/comm', 'wb').write(b'\\x1b[2J\\xff\\n) R 1'); print(flush=True); sys.stdin.read()"
    )
    with program(code, folder / "data") as process:
        for form in ("--json", "--prometheus", "--check", "--long"):
            result = status("--all", form)
            assert (result.returncode in (0, 1, 2, 3), "Traceback" in result.stderr) == (True, False), form
        one = status("--json", "--pid", str(process.pid))
    assert json.loads(one.stdout)["processes"][0]["name"] == "\\x1b[2J\\xff\\x0a) R 1"
    assert one.returncode == 0, one.stderr


def test_printable() -> None:
    for code in [*range(0, 0x2100), 0x202E, 0x2066, 0xFEFF, 0xDC80, 0xE0001, 0x10FFFF]:
        shown = terminal.printable(f"a{chr(code)}b")
        assert shown.isascii()
        assert shown.isprintable()
        assert (shown == f"a{chr(code)}b") == (32 <= code < 127 and chr(code) != "\\")
    # What stands for another character, to a shell's echo, say, stands for itself.
    assert terminal.printable("\\0033[2J") == terminal.printable(b"\\0033[2J") == "\\x5c0033[2J"
    assert terminal.printable(b"\xff\x1b") == "\\xff\\x1b"
    assert terminal.printable(os.fsdecode(b"\xff")) == "\\xff"
    assert len(terminal.printable("x" * 100000)) < 2000


# ---- Pages and modules ----


def seen(proc: Path, process: FakeProcess) -> look.Look:
    write(proc, PID, process)
    return look.inspect(PID)


def counted(found: look.Look) -> int | None:
    return found.counters.get("requests")


LIES: dict[str, dict[str, int]] = {
    "headers without number": {"phnum": 0xFFFF},
    "headers far away": {"phoff": (1 << 64) - 1},
    "headers of another size": {"phentsize": 1},
    "data as large as memory": {"data_memsz": (1 << 64) - 1},
    "data far away": {"data_vaddr": 1 << 62},
    "data before the module": {"data_vaddr": (1 << 64) - 4096},
    "data that are more in the file than in memory": {"data_filesz": 1 << 40},
    "data that nobody may write": {"data_flags": 4},
    "nothing loaded": {"load_vaddr": 1 << 63},
}


@pytest.mark.parametrize("changes", LIES.values(), ids=LIES.keys())
def test_a_module_that_lies_is_a_row(proc: Path, changes: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    # It fails where more is asked for than a module can need.
    monkeypatch.setattr(look, "Memory", fuzz_status.Counting)
    image = module(forged(), **changes)
    found = seen(proc, FakeProcess(maps=module_maps(len(image)), image=image))
    assert found.uncounted and not found.counters


@pytest.mark.parametrize("name", (b"drng-0.1.0.so", b"drng.so.1", b"drng.so (deleted)"))
def test_a_module_of_another_name_is_read(proc: Path, name: bytes) -> None:
    """As "module = /opt/d/drng-0.1.0.so" has it."""
    image = module(forged())
    found = seen(proc, FakeProcess(maps=module_maps(len(image), b"/opt/d/" + name), image=image))
    assert counted(found) == 3
    other = seen(proc, FakeProcess(maps=module_maps(len(image), b"/opt/drng.so/libx.so"), image=image))
    assert not other.counters and not other.uncounted


def test_numbers_at_their_ends_are_printed(proc: Path) -> None:
    last = (1 << 64) - 1
    numbers = dict.fromkeys(("rdseed", "rdrand", "failures", "rdseed_health", "rdrand_health", "last_seed"), last)
    image = module(forged(loaded=last, forks=last, healthy=last, requests=last, served=last, begun=0, **numbers))
    found = seen(proc, FakeProcess(maps=module_maps(len(image)), image=image))
    assert f'"requests": {last}' in fuzz_status.everything([fuzz_status.judged(found)])


def test_counters_that_change_while_they_are_read(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other bytes at each look: there is an end, and what is checked is what is used."""
    image = bytearray(module(forged()))
    looks = []

    class Changing(FileMemory):
        def read(self, address: int, length: int) -> bytes:
            looks.append(address)
            image[0x400 + 40] = len(looks) & 0xFF
            return bytes(image[address - BASE : address - BASE + length])

    monkeypatch.setattr(look, "Memory", Changing)
    found = seen(proc, FakeProcess(maps=module_maps(len(image)), image=bytes(image)))
    assert (found.counters or found.uncounted) and len(looks) < 60


def test_memory_that_comes_in_part_or_not_at_all(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = module(forged())
    process = FakeProcess(maps=module_maps(len(image)), image=image)
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, length, offset: pread(fd, min(length, 7), offset))
    assert seen(proc, process).uncounted == "its memory cannot be read: it is not there any more"

    def fails(fd: int, length: int, offset: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pread", fails)
    found = seen(proc, process)
    assert found.uncounted == "its memory cannot be read: Input/output error"


@pytest.mark.parametrize("content", (b"", b"7 (x", b"7 (x) S", b"7 (x) S y", b"\xff" * 100))
def test_a_stat_that_makes_no_sense_is_a_row(proc: Path, content: bytes) -> None:
    assert seen(proc, FakeProcess(stat=content)).problem


def test_everything_at_once() -> None:
    fuzz_status.run(300, seed=12)


# ---- Processes that come, go, and hang ----


def test_a_number_that_is_used_anew_is_not_mistaken(proc: Path) -> None:
    """All is read through one descriptor of /proc/PID, which stands for the process and not for its number."""
    image = module(forged())
    write(proc, PID, FakeProcess(maps=module_maps(len(image)), image=image))
    entry = os.open(proc / str(PID), procfs.O_FOLDER)
    shutil.move(proc / str(PID), proc / "gone")
    write(proc, PID, FakeProcess(comm=b"another\n"))
    found = look.look_at(look.identify(PID, entry), entry, {})
    os.close(entry)
    assert (found.name, counted(found)) == ("server", 3)


def test_a_zombie_is_named_and_left_out() -> None:
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        result = status("--pid", str(process.pid))
        family = status("--json", "--pid", str(os.getpid()))
        process.wait()
    assert result.returncode == 3
    assert f"process {process.pid}: it has ended" in result.stderr
    assert process.pid not in [p["pid"] for p in json.loads(family.stdout)["processes"]]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may go to; pytest's own are its user's alone."""
    with tempfile.TemporaryDirectory(prefix="drng-open-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextlib.contextmanager
def unanswering(folder: Path, *arguments: str, user: int | None = None) -> Iterator[int]:
    """A process whose memory is a file that nobody serves."""
    script = (ROOT / "tests" / "hostile" / "unanswering.py").read_text()
    folder.mkdir()
    if user is not None:
        os.chown(folder, user, user)
    # The user need not be one who may read the script.
    command = ["/usr/bin/python3", "-I", "-c", script, str(folder), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, user=user, group=user
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        if not said.isdigit():
            assert process.wait(10) == SKIPPED, said
            pytest.skip(said)
        try:
            yield int(said)
        finally:
            # A child that cannot be ended has a copy of its standard input.
            process.kill()


def children() -> list[str]:
    return [pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every drng-status on this machine waits for such a process while it lives: not for long, then."""
    monkeypatch.setattr(aside, "each", partial(aside.each, seconds=2.0))


@pytest.mark.alone
def test_memory_that_nobody_serves_holds_up_nobody(tmp_path: Path, impatient: None) -> None:
    """Whoever looks is killed and gone; and who wants to see the process still can."""
    with unanswering(tmp_path / "fuse") as victim:
        before = children()
        (found, *_) = who.of_processes([victim])
        assert found.problem == "it cannot be looked at: no answer within 2 seconds"
        assert children() == before
        command = ["cat", f"/proc/{victim}/cmdline"]
        shown = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
        assert b"unanswering.py" in shown


@pytest.mark.alone
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_who_holds_the_lock_of_its_mappings_costs_its_own_line(open_folder: Path, impatient: None) -> None:
    """No signal ends who waits for that lock to read memory; who reads the environment before is killed, and gone."""
    device, user = open_folder / "device", 65534
    os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(10, 229))
    os.chown(device, user, user)
    with unanswering(open_folder / "fuse", "--hold", str(device), user=user) as victim:
        before = children()
        found = {process.pid: process for process in who.of_processes([victim, os.getpid()])}
        assert children() == before
        result = status("--all", "--check")
    assert found[victim].problem == "it cannot be looked at: no answer within 2 seconds"
    assert not found[os.getpid()].problem
    assert "not looked at: " in result.stdout and "not tried" not in result.stdout


@pytest.mark.alone
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_one_child_that_cannot_be_ended_is_left_behind_by_all_runs(
    open_folder: Path, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by who takes the lock when its environment has been read: no other is looked at until it lets go."""
    monkeypatch.setattr(look, "_conf", lambda entry: "")
    device, user = open_folder / "device", 65534
    os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(10, 229))
    os.chown(device, user, user)
    before = children()
    with unanswering(open_folder / "fuse", "--hold", str(device), user=user) as victim:
        server = children()
        runs = []
        for _ in range(2):
            found = {process.pid: process for process in who.of_processes([victim, os.getpid()])}
            runs.append((found[victim].missed, found[os.getpid()].problem, len(children()) - len(server)))
        left = set(children()) - set(server)
    for pid in left:
        os.waitpid(int(pid), 0)
    assert children() == before
    assert runs == [(False, "", 1), (True, "", 1)]


def test_only_children_of_this_control_group_hold_up_their_unit(proc: Path) -> None:
    """Others may have such a name, too: whoever chose it would hide a unit from drng-status."""
    states = [(b"D", b"/ours"), (b"S", b"/ours"), (b"D", b"/theirs")]
    for pid, (state, group) in enumerate(states, 2):
        extra = {"cgroup": b"0::" + group}
        write(proc, pid, FakeProcess(b"look %d\n" % pid, b"%d (x) %b 1" % (pid, state) + b" 0" * 48, extra=extra))
    (proc / "self" / "cgroup").write_bytes(b"0::/ours")
    assert who.unended() == {"look 2"}


def test_a_user_has_one_payer_for_all_sessions(proc: Path) -> None:
    for pid, below in enumerate((b"session-3.scope", b"session-4.scope", b"user@7.service/user-0.slice/x.service"), 2):
        write(proc, pid, FakeProcess(extra={"cgroup": b"0::/user.slice/user-7.slice/" + below}))
    write(proc, 5, FakeProcess(extra={"cgroup": b"0::/system.slice/nginx.service/user.slice/user-7.slice/x"}))
    assert [who.identified(pid).payer for pid in range(2, 6)] == ["user-7.slice"] * 3 + ["nginx.service"]


def test_what_hangs_or_ends_costs_its_own_line() -> None:
    def work(item: int) -> int:
        if item == 2:
            signal.pause()
        if item == 5:
            raise ValueError("no")
        if item == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    late, crashed = aside.Missed("no answer within 0.5 seconds"), aside.Missed("looking at it ended with signal 9")
    answers = dict(aside.each([1, 2, 4, 5, 6, 7], work, seconds=0.5))
    assert answers == {1: 1, 2: late, 4: 4, 5: aside.Missed("ValueError: no"), 6: crashed, 7: 7}


def test_a_child_that_cannot_be_ended_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each unit, and a new one goes on with the others."""
    left: list[int] = []

    def end(child: aside._Child) -> None:
        left.append(child.pid)

    monkeypatch.setattr(aside._Child, "end", end)

    def work(item: int) -> int:
        if item < 10:
            signal.pause()
        return item

    items = [1, 2, 11, 12, 13]
    answers = dict(aside.each(items, work, seconds=0.1, altogether=60, unit_of=lambda item: item // 10))
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    over = aside.Missed(aside.OUT_OF_TIME)
    assert answers == {1: aside.Missed("no answer within 0.1 seconds"), 2: over, 11: 11, 12: 12, 13: 13}
    assert len(left) == 2, "and the last, which is there still"


# A command whose child hangs; Ctrl-C ends it as it ends every program.
WAITS = """
import os, signal, sys
from scripts.drng import aside
signal.signal(signal.SIGINT, signal.SIG_DFL)
def work():
    with open(sys.argv[1], "w") as file:
        file.write(f"{os.getpid()} ")
    signal.pause()
aside.once(work, 1000)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_child_that_hangs_ends_with_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    """Its session is its own, and no Ctrl-C reaches it there: a module that hangs went on for ever, as root."""
    file = tmp_path / "pid"
    with subprocess.Popen(["/usr/bin/python3", "-c", WAITS, str(file)], cwd=ROOT) as parent:
        wait_for(lambda: file.exists() and file.read_text().endswith(" "), "the child")
        with procfs.closing(os.pidfd_open(int(file.read_text()))) as child:
            parent.send_signal(number)
            assert parent.wait() == -number
            has_ended = bool(select.select([child], [], [], 5)[0])
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(child, signal.SIGKILL)
    assert has_ended


def test_the_time_is_divided_by_units() -> None:
    """70 items of one unit that take long blind nobody: those of the others are all looked at, wherever they stand."""

    def work(item: int) -> int:
        if item < 70:
            end = time.monotonic() + 0.2
            while time.monotonic() < end:
                pass
        return item

    items = [*range(70), *range(100, 130)]
    answers = dict(aside.each(items, work, altogether=3, unit_of=lambda item: 1 if item < 70 else item % 7 + 2))
    assert [answers[item] for item in range(100, 130)] == [*range(100, 130)]
    assert answers[0] == 0 and answers[69] == aside.Missed(aside.OUT_OF_TIME)


def test_processes_for_which_there_was_no_time_are_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "ALTOGETHER", 0.0)
    (found,) = who.of_processes([os.getpid()])
    assert (found.served_by, found.missed) == ("unknown", True) and aside.OUT_OF_TIME in found.why
    assert output.check_all([found])[-1] == (3, "not looked at: 1 process, 1 of them not tried: none")
    # Whose it is, no process can keep to itself.
    assert (found.name, found.owner) == (Path("/proc/self/comm").read_text().strip(), procfs.owner_name(os.getuid()))


def test_one_that_hangs_uses_the_time_of_its_unit() -> None:
    """Without units, of its user: it does not choose whose."""
    units = [look.Look(1, "x", unit=unit, user=user).payer for unit in ("a.service", "none") for user in (0, 33)]
    assert units == ["a.service", "a.service", "0", "33"]


def test_whoever_waits_for_the_output_does_not_wait_for_a_child_that_hangs() -> None:
    """The child has none of the streams of the command."""
    code = (
        "from scripts.drng import aside; import os, signal;"
        "show = lambda _: [os.readlink(f'/proc/self/fd/{n}') for n in (0, 1, 2)];"
        "print(dict(aside.each([1], show))[1])"
    )
    result = subprocess.run(["/usr/bin/python3", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "['/dev/null', '/dev/null', '/dev/null']\n"


# ---- /proc itself ----


def test_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procfs, "PROC", tmp_path / "proc")
    for ask in (procfs.numbers, lambda: procfs.family(1)):
        with pytest.raises(procfs.TargetError, match="is not mounted here"):
            ask()


def test_numbers_that_go_in_circles(proc: Path) -> None:
    for pid, parent in ((1, 3), (2, 1), (3, 2)):
        write(proc, pid, FakeProcess(stat=b"%d (x) S %d" % (pid, parent) + b" 0" * 48))
    assert procfs.family(1) == [1, 2, 3]


# ---- One among others ----


# What it says its environment is (prctl(2), PR_SET_MM_MAP) has four gigabytes.
LONG_ENVIRONMENT = """
import ctypes, struct, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = libc.sbrk.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
zeros = libc.mmap(None, 4 << 30, 1, 0x4022, -1, 0)  # PROT_READ; MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
field = open("/proc/self/stat").read().rpartition(")")[2].split()
code, stack, data, start_brk, arguments = field[23:25], field[25], field[42:44], field[44], field[45:47]
places = [*code, *data, start_brk, libc.sbrk(0), stack, *arguments, zeros, zeros + (4 << 30), 0]
room = ctypes.create_string_buffer(struct.pack("12Q2I", *map(int, places), 0, 0xFFFFFFFF))
print(libc.prctl(35, 14, room, len(room) - 1, 0), flush=True)
sys.stdin.read()
"""


def test_what_one_process_has_made_takes_less_memory_than_the_collector_has() -> None:
    """All of it would be ended by the kernel, and nobody's processes would be looked at."""
    unit = (CONF / "systemd" / "drng-status-collector.service").read_text()
    most = int(re.search(r"^MemoryMax=(\d+)M$", unit, re.MULTILINE)[1])  # type: ignore[index]
    run = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
    run += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)"
    with program(LONG_ENVIRONMENT) as hostile:
        with open(f"/proc/{hostile.pid}/environ", "rb") as environ:
            is_long = len(environ.read(8 << 20)) == 8 << 20
        if not is_long:
            pytest.skip("this kernel lets no process name its environment anew")
        command = ["/usr/bin/python3", "-c", run, str(STATUS), "--json", "--pid", str(hostile.pid)]
        took = said_by(*command, timeout=100)
    assert int(took) < most / 2


def test_a_child_takes_no_more_memory_than_it_may() -> None:
    """What a process has made to be looked at costs that process's row, and not the machine's memory."""

    def work(item: int) -> int:
        return len(bytes(item))

    found = dict(aside.each([1 << 20, 2 << 30, 2 << 20], work, room=1 << 30))
    assert found == {1 << 20: 1 << 20, 2 << 20: 2 << 20, 2 << 30: aside.Missed("MemoryError: ")}


def test_the_environment_of_a_service_is_understood() -> None:
    assert services.openssl_conf('A=b "OPENSSL_CONF=/a b/c.cnf" C=d', "x") == "/a b/c.cnf"
    assert services.openssl_conf("OPENSSL_CONF=%d/c.cnf", "x.service") == "/run/credentials/x.service/c.cnf"
    assert services.openssl_conf("A=b", "x") is None
    assert services.openssl_conf('A="b', "x") is None
