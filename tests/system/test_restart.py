"""Processes that should be restarted, in every output of drng-status; and --check as monitoring plugins have it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import procfs, systemd
from scripts.drng.status import (
    command,
    config_file,
    inspection,
    metrics,
    output,
    plugin,
    processes,
    services,
    states,
)
from tests.support.builds import CONF, RELEASE, ROOT, need
from tests.support.stats import forged
from tests.support.targets import PINNED, STATUS, as_json, build_module, holding, status, target

# ---- A module that is no longer the one that is installed ----


def told(pid: int, reason: str, words: str) -> None:
    """That it needs a restart, in every form that there is."""
    shown = as_json("--pid", str(pid))["processes"][0]
    assert (shown["state"], shown["restart"]) == (states.NEEDS_RESTART, reason)
    assert words in shown["message"]
    assert re.search(r"^state +restart$", status("--pid", str(pid)).stdout, flags=re.M)
    counted = status("--prometheus", "--pid", str(pid)).stdout
    assert re.search(rf'^drng_restart_needed_processes\{{.*reason="{reason}"\}} 1$', counted, flags=re.M)
    assert re.search(r'^drng_processes\{.*state="restart"\} 1$', counted, flags=re.M)
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
        assert as_json("--pid", str(pid))["processes"][0]["state"] == states.SERVED
        assert status("--check", "--pid", str(pid)).returncode == 0
        (tmp_path / "new").write_bytes(module.read_bytes())
        (tmp_path / "new").rename(module)
        told(pid, states.REPLACED, "has been replaced or removed: restart it")
        assert status("--check", "--pid", str(pid)).returncode == 1
        assert status("--check", "--all").returncode != 0


def test_an_older_module_is_told_by_its_version(tmp_path: Path) -> None:
    with holding(build_module(tmp_path, forged(version=b"0.0.9"))) as pid:
        told(pid, states.OLDER, "it has loaded an older drng than")


@pytest.mark.parametrize("layout", [1, 3])
def test_an_older_module_is_told_by_its_counters(tmp_path: Path, layout: int) -> None:
    with holding(build_module(tmp_path, forged(layout=layout))) as pid:
        shown = inspection.inspect(pid)
        assert status("--check", "--pid", str(pid)).returncode == 3
    assert (shown.uses, shown.restart) == (states.UNKNOWN, states.OLDER)
    assert states.state_of(shown) == states.NEEDS_RESTART


@pytest.mark.parametrize(
    ("version", "older"),
    [("0.0.9", True), ("0.1", True), ("0.1.0", False), ("0.1.1", False), ("0.10.0", False), ("1", False)]
    + [(text, False) for text in ("", "x", "0.0.9x", "0..1", "-1", "0.0.", "\x1b")],
)
def test_versions(version: str, older: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "VERSION", "0.1.0")
    assert inspection.is_older(version) == older


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


def later(change: Callable[[], object]) -> None:
    """The clock of the file system goes by ticks, too."""
    wait_for_a_tick()
    change()


def seen_since(path: Path) -> float:
    with config_file.own_view() as view:
        return config_file.read(view, str(path)).drng_since


@pytest.fixture
def without(tmp_path: Path) -> Path:
    path = tmp_path / "openssl.cnf"
    path.write_text("# nothing\n")
    return path


def seen(pid: int) -> dict[str, Any]:
    return as_json("--pid", str(pid))["processes"][0]


def test_a_process_that_is_older_than_the_configuration(without: Path) -> None:
    with target({"OPENSSL_CONF": str(without)}) as process:
        process.do("draw 1 16")
        assert seen(process.pid)["state"] == states.WITHOUT
        as_written(without, (CONF / "drng.cnf").read_text())
        told(process.pid, states.CONFIGURATION, "its openssl.cnf names drng, but did not when it started: restart it")
        assert status("--check", "--pid", str(process.pid)).returncode == 2
        # A child has the libcrypto of its parent, whenever it was forked.
        child = int(process.do("fork 1"))
        family = {each["pid"]: each for each in as_json("--pid", str(process.pid))["processes"]}
        assert family[child]["state"] == states.NEEDS_RESTART
        as_written(without, "# nothing again\n")
        assert seen(process.pid)["state"] == states.WITHOUT


def test_a_process_that_is_younger_than_the_configuration(without: Path) -> None:
    """It has not loaded drng for another reason, which a restart does not mend."""
    as_written(without, (CONF / "drng.cnf").read_text())
    with target({"OPENSSL_CONF": str(without), "OPENSSL_MODULES": "/nowhere"}) as process:
        process.do("draw 1 16")
        assert seen(process.pid)["state"] == states.WITHOUT


def test_the_restarted_process_is_served(without: Path) -> None:
    as_written(without, (CONF / "drng.cnf").read_text())
    with target({"OPENSSL_CONF": str(without)}) as process:
        process.do("draw 1 16")
        assert seen(process.pid)["state"] in (states.SERVED, states.IN_FALLBACK)


def test_among_all_it_is_a_warning_and_beside_others_too(without: Path) -> None:
    user = made_up(1)
    late = states.Process(2, "y", states.USES_LIBCRYPTO, "why", restart=states.CONFIGURATION)
    assert output.check_all([user])[0] == 0
    result, line = output.check_all([user, late])
    assert (result, line) == (1, f"hardware serves: rdseed in 1 of 1 (1 x); 2 y: {states.RESTART['configuration']}")
    assert output.check_processes([user, late])[0] == 2
    assert output.check_all([late])[0] == 2


def test_who_is_started_with_the_machine_waits_for_its_next_start() -> None:
    """A group of its own, which is no warning: nobody can restart process 1, or what systemd refuses to stop."""
    user, late = made_up(1, unit="init.scope"), states.Process(7, "y", states.USES_LIBCRYPTO, unit="a.service")
    late.drng_since, late.ticks = time.time() + 60, 1
    user.restart = states.REPLACED
    other = states.Process(8, "z", states.USES_LIBCRYPTO, unit="b.service", drng_since=late.drng_since, ticks=1)
    processes.mark_restarts([user, late, other], services.Configuration(fixed=frozenset({"a.service"})))
    assert [p.restart for p in (user, late, other)] == [states.REBOOT, states.REBOOT, states.CONFIGURATION]
    assert states.state_of(user) == states.state_of(late) == states.AT_REBOOT
    result, line = output.check_all([user, late])
    assert (result, line) == (0, "hardware serves: rdseed in 1 of 1 (1 x); at the next reboot: 1 x, 7 y")
    assert output.check_all([user, other])[0] == 1
    counted = metrics.per_unit([user, late])
    assert 'drng_processes{unit="a.service",owner="unknown",state="reboot"} 1' in counted
    assert 'drng_processes{unit="a.service",owner="unknown",state="restart"} 0' in counted


def test_a_file_that_is_given_the_mode_that_it_has_is_no_change(without: Path) -> None:
    """Nor is one whose owner is changed: what counts is what is in it, or that another has taken its place."""
    without.write_text((CONF / "drng.cnf").read_text())
    before = seen_since(without)
    later(lambda: without.chmod(0o644))
    assert seen_since(without) == before
    later(lambda: os.chown(without, os.getuid(), os.getgid()))
    assert seen_since(without) == before
    # A file with an old date, as from a package, that takes its place.
    old = without.with_name("old")
    old.write_text((CONF / "drng.cnf").read_text())
    os.utime(old, (1, 1))
    later(lambda: old.rename(without))
    moved = seen_since(without)
    assert moved > before
    later(lambda: without.write_text((CONF / "drng.cnf").read_text() + "\n"))
    written = seen_since(without)
    assert written > moved
    # Or a link that leads elsewhere now.
    without.rename(old)
    later(lambda: without.symlink_to(old))
    assert seen_since(without) > written


def test_what_systemd_would_give_counts_from_its_own_change(tmp_path: Path) -> None:
    """A drop-in that was added later than the profile was written."""
    path = tmp_path / "drng.cnf"
    path.write_text((CONF / "drng.cnf").read_text())
    with target({"OPENSSL_CONF": "/dev/null"}) as process:
        process.do("draw 1 16")
        now = services.Configuration("", {"none": services.Setting(str(path), time.time() + 1)})
        assert [p.restart for p in processes.inspect_family(process.pid, now)] == [states.CONFIGURATION]
        now = services.Configuration("", {"none": services.Setting(str(path), 0.0)})
        assert [p.restart for p in processes.inspect_family(process.pid, now)] == [""]


def test_the_settings_of_services_are_asked_of_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unit").write_text("")
    program = tmp_path / "systemctl"
    program.write_text(
        "#!/bin/sh\nprintf 'Id=a.service\\nEnvironment=A=b OPENSSL_CONF=/x.cnf\\nDropInPaths=/nowhere %s\\n\\n' "
        f"{tmp_path}/unit\nprintf 'Id=b.service\\nRefuseManualStop=yes\\nEnvironment=\\n\\n'\n"
        "printf 'Id=c.service\\nEnvironment=\"OPENSSL_CONF=\\n\\n'\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(systemd, "PATH", f"{tmp_path}:{systemd.PATH}")
    monkeypatch.setattr(systemd, "SYSTEMD", tmp_path)
    (setting,) = services.configuration("/d.cnf").units.items()
    assert (setting[0], setting[1].path) == ("a.service", "/x.cnf")
    assert abs(setting[1].changed - (tmp_path / "unit").stat().st_mtime) < 1
    assert services.configuration("/d.cnf").fixed == frozenset({"b.service"})
    program.write_text("#!/bin/sh\nexit 1\n")
    assert services.configuration("/d.cnf") == services.Configuration("/d.cnf")


# ---- Which openssl.cnf loads drng ----


def loads(path: Path) -> bool:
    with config_file.own_view() as view:
        return config_file.read(view, str(path)).drng_since > 0


PLAIN = "openssl_conf = i\n[i]\nproviders = p\n[p]\ndrng = d\n[d]\nactivate = 1\n"
FILES = {
    "plain": (PLAIN, True),
    "quoted, and commented": (PLAIN.replace("drng = d", 'drng = "d" # so'), True),
    "with its number": (PLAIN.replace("drng = d", "7.drng = d"), True),
    "in one place by its section's name": (PLAIN.replace("[d]\nactivate = 1", "d::activate = 1"), True),
    "over two lines": (PLAIN.replace("drng = d", "drng = \\\nd"), True),
    "the later value counts": (PLAIN + "[i]\nproviders = none\n", False),
    "not activated": (PLAIN.replace("activate = 1", "identity = drng"), False),
    "activated with no": (PLAIN.replace("activate = 1", "activate = no"), False),
    "another provider": (PLAIN.replace("drng = d", "legacy = d"), False),
    "another openssl_conf": (PLAIN.replace("openssl_conf", "nodejs_conf"), False),
    "by a section without a name": (PLAIN.replace("openssl_conf = i\n[i]", "[]"), False),
    "in a comment": (PLAIN.replace("drng = d", "# drng = d"), False),
    "by a variable": (PLAIN.replace("drng = d", "drng = $d"), False),
    "circles": (PLAIN.replace("providers = p", "providers = i"), False),
    "empty": ("", False),
    "garbage": ("\x00\xff[[[]=\n=\n[\n]", False),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_loads_drng_is_known(name: str, tmp_path: Path) -> None:
    text, expected = FILES[name]
    path = tmp_path / "openssl.cnf"
    path.write_text(text, encoding="latin-1")
    assert loads(path) == expected
    if "\x00" in text:
        return
    listed = RELEASE.run(["openssl", "list", "-providers"], {"OPENSSL_CONF": str(path)}).stdout
    # Where the last one matters, OpenSSL 3.0 and 3.3 differ.
    assert ("  drng\n" in listed) == expected or name in ("activated with no", "by a variable")


@pytest.mark.parametrize("profile", sorted(path.name for path in CONF.glob("*.cnf")))
def test_every_profile_loads_drng(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    text = re.sub(r"^\.include.*fips.*$", "", (CONF / profile).read_text(), flags=re.M)
    path.write_text(f".include {tmp_path}/profile.cnf\n")
    (tmp_path / "profile.cnf").write_text(text)
    assert loads(path)
    (tmp_path / "profile.cnf").unlink()
    assert not loads(path)


def test_a_missing_include_does_not_end_the_reading(tmp_path: Path) -> None:
    """libcrypto goes on without it, too."""
    path = tmp_path / "openssl.cnf"
    path.write_text(f".include {tmp_path}/none.cnf\n{PLAIN}")
    assert loads(path)
    assert not loads(tmp_path / "none.cnf")


def test_the_start_of_a_process() -> None:
    before = time.time()
    with subprocess.Popen(["sleep", "60"]) as process:
        found = inspection.inspect(process.pid)
        process.kill()
    assert abs(procfs.started_at(found.ticks) - before) < 5
    assert found.owner == procfs.owner_name(os.geteuid())


# ---- Thresholds and performance data ----


def made_up(pid: int, unit: str = "a.service", fallback: int = 0, failures: int = 0) -> states.Process:
    counters = {
        "active-source": "rdseed",
        "begun": True,
        "requests": 9,
        "seeds-rdseed": 2,
        "seeds-fallback": fallback,
        "rdseed-retries": 0,
        "seed-failures": failures,
        "health-failures": 0,
        "disabled-reason": "",
    }
    return states.Process(pid, "x", states.USES_DRNG, unit=unit, owner="o", counters=counters)


@pytest.mark.parametrize(
    ("warning", "critical", "expected"),
    [
        ({}, {}, (0, "")),
        ({"failures": 5}, {}, (0, "")),
        ({"failures": 4}, {}, (1, "; b.service: 5 failures, above 4")),
        ({"failures": 4}, {"failures": 4}, (2, "; b.service: 5 failures, above 4")),
        ({"fallback-seeds": 2}, {"failures": 5}, (1, "; a.service: 3 seeds from the fallback, above 2")),
        (
            {"fallback-seeds": 2},
            {"failures": 0},
            (2, "; a.service: 3 seeds from the fallback, above 2; b.service: 5 failures, above 0"),
        ),
    ],
)
def test_thresholds_are_of_each_unit(warning: dict, critical: dict, expected: tuple[int, str]) -> None:
    found = [made_up(1, fallback=1), made_up(2, fallback=2), made_up(3, "b.service", failures=5)]
    assert plugin.exceeded(found, warning, critical) == expected


def test_a_threshold_makes_nothing_better() -> None:
    order = (0, 1, 3, 2)
    for result in order:
        for over in (0, 1, 2):
            assert order.index(states.worse(result, over)) == max(order.index(result), order.index(over))


DATUM = re.compile(r"'([^'=|]+)'=([0-9]+);([0-9]*);([0-9]*);0")


def data_of(line: str) -> dict[str, tuple[str, str, str]]:
    """As the guidelines for monitoring plugins have it: one bar, then 'label'=value;warning;critical;minimum."""
    assert line.count("|") == 1
    items = re.findall(r"'[^']*'=\S+", line.partition("|")[2])
    assert " ".join(items) == line.partition("| ")[2].strip()
    found = [DATUM.fullmatch(item) for item in items]
    assert all(found)
    return {match[1]: (match[2], match[3], match[4]) for match in found if match}


def test_performance_data_of_one_unit_and_of_several() -> None:
    one = data_of("x" + plugin.performance([made_up(1), made_up(2)], {"failures": 1}, {"failures": 2}))
    assert one["served"] == ("2", "", "")
    assert one["failures"] == ("0", "1", "2")
    assert one["requests"] == ("18", "", "")
    assert set(states.STATES) <= set(one)
    two = data_of("x" + plugin.performance([made_up(1), made_up(2, "b'=|.service")], {}, {}))
    assert {"a.service served", "b___.service served"} <= set(two)


def test_check_with_thresholds_on_a_real_process() -> None:
    with target(PINNED) as process:
        process.do("rename a|b'c")
        process.do("draw 10 16")
        pid = ("--check", "--perfdata", "--pid", str(process.pid))
        fine = status(*pid, "--warning", "fallback-seeds=1000000,failures=1000000")
        plain = status("--check", "--pid", str(process.pid))
    assert fine.returncode == plain.returncode
    assert "a\\x7cb'c" in fine.stdout and "a\\x7cb'c" in plain.stdout and "|" not in plain.stdout
    data = data_of(fine.stdout.strip())
    assert int(data["requests"][0]) >= 10
    assert data["failures"][1:] == ("1000000", "")


def test_check_with_thresholds_on_the_fallback() -> None:
    from_the_system = {**PINNED, "OPENSSL_ia32cap": "~0x4000000000000000:~0x40000"}
    with target(from_the_system) as process:
        process.do("draw 1 16")
        pid = ("--check", "--pid", str(process.pid))
        assert status(*pid).returncode == 1
        check = status(*pid, "--critical", "fallback-seeds=0")
    assert check.returncode == 2
    assert check.stdout.endswith("; none: 1 seeds from the fallback, above 0\n")


@pytest.mark.parametrize(
    "arguments",
    [(), ("--all",), ("--service", "a|b"), ("--service", "a|b", "--perfdata")],
    ids=" ".join,
)
def test_a_bar_in_a_name_is_no_performance_data(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Neither of a process, nor of openssl.cnf, nor in an error. With --all, the line may name others."""
    with target(PINNED) as process:
        process.do("rename a|b=1")
        result = status("--check", *arguments, env={"OPENSSL_CONF": str(tmp_path / "a|b.cnf")})
    assert arguments == ("--all",) or "\\x7cb" in result.stdout
    assert "|" not in result.stdout and result.stdout.count("\n") == 1


def test_the_line_has_an_end_and_so_has_the_work() -> None:
    """Each process has reasons of its own, in a unit of its own."""
    found = [made_up(i, f"u{i:05}.service", fallback=1) for i in range(3000)]
    for process in found:
        process.restart = states.OLDER
        process.counters |= {"active-source": "fallback", "disabled-reason": f"{process.pid} " * 50}
        process.counters |= {"virtual-machine": True, "clone-protection": "none", "clone-reason": f"r{process.pid}"}
    evaluated = []

    def reason(process: states.Process) -> str:
        evaluated.append(process.pid)
        return f"reason {process.pid:05}"

    said = output.each_with_its_processes(found, reason)
    assert len(evaluated) == len(found)
    assert said.count("reason") == 5 and said.endswith("; 4 x: reason 00004; and 2995 more")
    code, line = output.check_all(found)
    over, more = plugin.exceeded(found, {"fallback-seeds": 0}, {})
    assert (code, over) == (1, 1)
    assert line.count("; and 2995 more") == 2 and more.endswith("; and 2995 more")
    assert len(line + more) < 8192


# ---- 3 for all that is uncertain, and no traceback ----


@pytest.mark.parametrize(
    "arguments",
    [("--prometheus",), ("--check", "--all", "--perfdata"), ("--version",)],
    ids=lambda arguments: " ".join(arguments),
)
@pytest.mark.parametrize("stdout", ["closed", "/dev/full"])
def test_nowhere_to_write_to(arguments: tuple[str, ...], stdout: str, tmp_path: Path) -> None:
    with holding(build_module(tmp_path, forged(version=b"0.0.1"))):
        redirect = ">&-" if stdout == "closed" else ">/dev/full"
        command = ["sh", "-c", f'exec "$0" "$@" {redirect}', str(STATUS), *arguments]
        result = RELEASE.run(command, PINNED)
    assert result.returncode == 3
    said = result.stderr.splitlines()
    assert said and all(line.startswith("drng-status: ") for line in said)


def test_systemctl_that_lies_or_hangs_is_no_reason_for_a_traceback(tmp_path: Path) -> None:
    """What it prints is not believed, and does not decide whether processes are told of."""
    script = (
        "import sys; sys.argv = ['drng-status', '--needs-restart']; sys.path.insert(0, sys.orig_argv[-1]);"
        "from scripts.drng import systemd; from scripts.drng.status import services; from pathlib import Path;"
        f"systemd.PATH = {str(tmp_path)!r}; systemd.SYSTEMD = Path('/'); print(services.configuration('').units)"
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
    hidden = states.Process(4711, "shy", states.UNKNOWN, "its file system is away", hidden=True, missed=missed)
    monkeypatch.setattr(command, "look_for", lambda _: [hidden])
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(sys, "argv", ["drng-status", "--needs-restart"])
    assert command.show_processes(command.parse()) == expected
    said = capfd.readouterr()
    assert said.out == ""
    assert "processes that could not be looked at: 1 (4711 shy): its file system is away" in said.err
