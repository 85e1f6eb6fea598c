# SPDX-License-Identifier: Apache-2.0
"""Processes that should be restarted, in every output of drng-status; and lines of --check that have an end."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import procfs, systemd
from scripts.drng.enable import restart
from scripts.drng.status import command, look, output, services, verdict, who
from scripts.drng.status.sources import Source, changed
from tests.support.builds import CONF, ROOT, need
from tests.support.stats import COUNTERS, forged, made_up, without_drng
from tests.support.targets import PINNED, as_json, build_module, holding, status, target

# ---- A module that is no longer the one that is installed ----


def told(pid: int, reason: str, words: str) -> None:
    """That it needs a restart, in every form that there is."""
    shown = as_json("--pid", str(pid))["processes"][0]
    assert shown["restart"] == reason
    assert words in shown["message"]
    counted = status("--prometheus", "--pid", str(pid)).stdout
    assert re.search(rf'^drng_restart_needed_processes\{{.*reason="{reason}"\}} 1$', counted, flags=re.M)
    listed = status("--needs-restart")
    assert listed.returncode == 1
    assert f"process {pid} (python3)" in listed.stderr and words in listed.stderr
    assert all(line.endswith(".service") for line in listed.stdout.splitlines())
    check = status("--check", "--pid", str(pid))
    assert words in check.stdout
    assert check.returncode in (1, 2, 3)


def test_a_module_that_has_been_replaced(tmp_path: Path) -> None:
    module = build_module(tmp_path, forged())
    with holding(module) as pid:
        assert as_json("--pid", str(pid))["processes"][0]["state"] == "served"
        assert status("--check", "--pid", str(pid)).returncode == 0
        (tmp_path / "new").write_bytes(module.read_bytes())
        (tmp_path / "new").rename(module)
        told(pid, verdict.REPLACED, "has been replaced or removed: restart it")
        assert status("--check", "--pid", str(pid)).returncode == 1
        assert status("--check", "--all").returncode != 0


# ---- An openssl.cnf that names drng since ----


def wait_for_a_tick() -> None:
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    while time.clock_gettime(time.CLOCK_BOOTTIME) - before < 3 / os.sysconf("SC_CLK_TCK"):
        pass


def as_written(path: Path, text: str) -> None:
    """In one step, as drng-enable does it, and some ticks of the clock later than what has been started before."""
    wait_for_a_tick()
    path.with_name("new").write_text(text)
    path.with_name("new").rename(path)


@pytest.fixture
def without(tmp_path: Path) -> Path:
    path = tmp_path / "openssl.cnf"
    path.write_text("# nothing\n")
    return path


def seen(pid: int) -> dict[str, Any]:
    return as_json("--pid", str(pid))["processes"][0]


def test_a_process_that_is_older_than_the_configuration_and_the_restarted_one(without: Path) -> None:
    with target({"OPENSSL_CONF": str(without)}) as process:
        process.do("draw 1 16")
        assert seen(process.pid)["reason"] == "not-named"
        as_written(without, (CONF / "drng.cnf").read_text())
        told(process.pid, verdict.CONFIGURATION, "it started before openssl.cnf named drng")
        process.do("fork 1")
        for shown in as_json("--pid", str(process.pid))["processes"]:
            assert (shown["reason"], shown["state"]) == ("started-before", "without")
        everybody = status("--check", "--all")
        assert everybody.returncode == 2 and "it started before openssl.cnf named drng" in everybody.stdout
    with target({"OPENSSL_CONF": str(without)}) as process:
        process.do("draw 1 16")
        assert seen(process.pid)["state"] in ("served", "fallback")


def test_when_a_file_came_to_be_what_is_there(tmp_path: Path) -> None:
    """By its own time, and by a link's; not by a new mode, and not by what is made beside it."""
    path = tmp_path / "openssl.cnf"
    path.write_text("# nothing\n")

    def changes(by: Any) -> bool:
        before = changed([str(path)])
        wait_for_a_tick()
        by()
        return changed([str(path)]) > before

    assert changes(lambda: path.write_text("# more\n"))
    assert not changes(lambda: path.chmod(0o600))
    assert not changes(lambda: (tmp_path / "neighbour").write_text(""))

    def link() -> None:
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")

    assert changes(link)
    assert changed(["", str(tmp_path / "none")]) == 0.0


@pytest.mark.parametrize(
    ("pid", "unit", "expected"),
    [
        (1, "x.service", verdict.REBOOT),
        (7, "init.scope", verdict.REBOOT),
        (7, "systemd-journald.service", verdict.REBOOT),
        (7, "systemd-logind.service", verdict.REBOOT),
        (7, "systemd-resolved.service", verdict.REPLACED),
        (7, "x.service", verdict.REPLACED),
    ],
)
def test_who_is_started_with_the_machine_waits_for_its_next_start(pid: int, unit: str, expected: str) -> None:
    process = who.judged(look.Look(pid, "x", unit, counters=COUNTERS, is_replaced=True))
    assert process.restart == expected
    assert (process.cure == "needs a reboot") == (expected == verdict.REBOOT)


@pytest.mark.parametrize("unit", ["user@1000.service", "session-3.scope", "none"])
def test_what_a_user_has_begun_is_no_service_to_switch_on_or_restart(unit: str) -> None:
    """`drng-enable on user@1000` would change nothing there, and a restart of that would end the user's session."""
    assert without_drng(unit=unit).cure == "drng-enable on --system"
    late = without_drng(unit=unit, source=Source("/x.cnf", True, names_drng=True, changed=2.0))
    assert (late.reason, late.cure) == ("started-before", "restart it")


def test_the_settings_of_services_are_asked_of_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unit").write_text("")
    program = tmp_path / "systemctl"
    program.write_text(
        "#!/bin/sh\nprintf 'Id=a.service\\nEnvironment=A=b OPENSSL_CONF=/x.cnf\\nDropInPaths=/nowhere %s\\n\\n' "
        f"{tmp_path}/unit\nprintf 'Id=b.service\\nEnvironment=\\n\\n'\n"
        "printf 'Id=c.service\\nEnvironment=\"OPENSSL_CONF=\\n\\n'\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(systemd, "PATH", f"{tmp_path}:{systemd.PATH}")
    monkeypatch.setattr(systemd, "SYSTEMD", tmp_path)
    (setting,) = services.settings().items()
    assert (setting[0], setting[1].path) == ("a.service", "/x.cnf")
    assert abs(setting[1].changed - (tmp_path / "unit").stat().st_mtime) < 1
    program.write_text("#!/bin/sh\nexit 1\n")
    assert services.settings() == {}


def test_the_start_of_a_process() -> None:
    before = time.time()
    with subprocess.Popen(["sleep", "60"]) as process:
        found = look.inspect(process.pid)
        process.kill()
    assert abs(procfs.started_at(found.ticks) - before) < 5
    assert found.owner == procfs.owner_name(os.geteuid())


def test_the_journal_is_asked_for_all_since_the_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded up, the time was later than what the unit had said."""
    asked: list[str] = []

    def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
        asked.extend(words)
        return subprocess.CompletedProcess([name], 0, "its own words\n")

    monkeypatch.setattr(systemd, "run", run)
    monkeypatch.setattr(restart, "state", lambda _: {})
    assert restart._reason("t.service", 1000.7) == "its own words"
    assert [word for word in asked if word.startswith("--since=")] == ["--since=@1000.700"]


# ---- The line has an end ----


@pytest.mark.parametrize("arguments", [(), ("--all",), ("a|b",)], ids=" ".join)
def test_a_bar_in_a_name_is_no_performance_data(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Neither of a process, nor of openssl.cnf, nor in an error. With --all, the line may name others."""
    with target(PINNED) as process:
        process.do("rename a|b=1")
        result = status("--check", *arguments, env={"OPENSSL_CONF": str(tmp_path / "a|b.cnf")})
    assert arguments == ("--all",) or "\\x7cb" in result.stdout
    assert "|" not in result.stdout


def test_the_line_has_an_end_and_so_has_the_work() -> None:
    """Each process has reasons of its own."""
    said = {"active_source": "fallback", "seeds_rdseed": 0, "seeds_fallback": 1, "clone_protection": "none"}
    found = [
        made_up(i, is_replaced=True, disabled_reason=f"{i} " * 50, clone_reason=f"r{i}", **said) for i in range(3000)
    ]
    result, line = output.Group("x", found).checked()
    assert (result, len(line) < 8192) == (1, True)
    assert line.endswith(" more")


# ---- 3 for all that is uncertain, and no traceback ----


def test_systemctl_that_lies_or_hangs_is_no_reason_for_a_traceback(tmp_path: Path) -> None:
    """What it prints is not believed, and does not decide whether processes are told of."""
    script = (
        "import sys; sys.argv = ['drng-status', '--needs-restart']; sys.path.insert(0, sys.orig_argv[-1]);"
        "from scripts.drng import systemd; from scripts.drng.status import services; from pathlib import Path;"
        f"systemd.PATH = {str(tmp_path)!r}; systemd.SYSTEMD = Path('/'); print(services.settings())"
    )
    program = tmp_path / "systemctl"
    program.write_bytes(b"#!/bin/sh\nprintf 'Id\\n=\\n\\377\\0Environment=OPENSSL_CONF=\"x\\n\\n\\n=Id==\\n'\n")
    program.chmod(0o755)
    command = [need("python3"), "-c", script, str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "{}\n", "")


@pytest.mark.parametrize(("user", "missed", "expected"), [(0, False, 0), (0, True, 3), (1000, False, 3)])
def test_what_root_may_not_look_at_is_named_and_no_unknown_for_ever(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], user: int, missed: bool, expected: int
) -> None:
    look_at_it = look.Look(4711, "shy", problem="its file system is away", missed=missed)
    hidden = verdict.judge(look_at_it, None, Source(), 0.0)
    monkeypatch.setattr(command, "look_for", lambda _: ([output.Group("x", [hidden])], []))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(sys, "argv", ["drng-status", "--needs-restart"])
    assert command.show_processes(command.parse()) == expected
    said = capfd.readouterr()
    assert said.out == ""
    assert "not looked at: 1 process (shy, PID 4711): its file system is away" in said.err
