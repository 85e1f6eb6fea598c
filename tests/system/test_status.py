"""drng-status on living processes and on this environment: what it says, exits with, and does not believe."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import pty
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import aside, procfs, systemd
from scripts.drng.status import inspection, output, parts, processes, services, states, stats
from tests.support.builds import BUILD, CONF, MASKED, RELEASE, ROOT, ConfigWriter, need
from tests.support.machine import Machine, kernel_says
from tests.support.servers import (
    NGINX,
    PROGRAMS,
    SYSTEM_PYTHON,
    free_ports,
    make_certificate,
    new_site,
    running,
    wait_for,
)
from tests.support.stats import LIVE_OFFSET, forged
from tests.support.targets import (
    NOBODY,
    PINNED,
    STATUS,
    WITHOUT_DRNG,
    Result,
    Target,
    as_json,
    build_module,
    holding,
    status,
    target,
)

# ---- Living processes ----


def test_what_a_process_draws_is_counted() -> None:
    with target(PINNED) as process:
        process.do("draw 1 1")
        before = process.counters()
        process.do("draw 1000 16")
        after = process.counters()
    assert after["uses"] == "drng"
    # At 256 requests a public generator of libcrypto's is not due, so nothing else was drawn.
    assert after["requests"] - before["requests"] == 1000
    assert after["bytes"] - before["bytes"] == 16000
    assert after["seeds-rdseed"] + after["seeds-rdrand"] + after["seeds-fallback"] == 1
    assert time.time() - 60 < after["last-seed"] <= time.time()
    assert before["last-seed"] == after["last-seed"]
    assert after["libcrypto"].startswith("OpenSSL 3")


def test_threads_that_have_ended_are_still_counted() -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        before = process.counters()
        process.do("threads 20 500")
        after = process.counters()
    # Each thread's generator takes a seed of the primary's; with every 256th of them the primary is due itself.
    seeds = after["requests"] - before["requests"] - 20 * 500
    assert 20 <= seeds <= 30
    assert after["bytes"] - before["bytes"] > 20 * 500 * 16


def test_children_count_for_themselves() -> None:
    with target(PINNED) as process:
        process.do("draw 100 16")
        drawn, idle = int(process.do("fork 3")), int(process.do("fork 0"))
        family = {p["pid"]: p for p in as_json("--pid", str(process.pid))["processes"]}
    assert list(family) == [process.pid, drawn, idle]
    assert family[process.pid]["forks"] == 0
    assert family[process.pid]["requests"] >= 100
    # The primary's seed for the public generator, and three draws.
    assert family[drawn]["requests"] == 4
    assert family[drawn]["fork-reseeds"] == 2
    assert family[drawn]["forks"] == 1
    assert family[idle]["requests"] == 0
    assert family[idle]["message"] == "it was forked and has drawn nothing yet"
    assert family[idle]["active-source"] == family[process.pid]["active-source"]


def assert_nothing_serves(pid: int) -> None:
    (process,) = as_json("--pid", str(pid))["processes"]
    assert process["uses"] == states.USES_LIBCRYPTO
    assert process["message"].startswith("it has loaded drng.so, which serves nothing: drng refused to load")
    assert status("--check", "--pid", str(pid)).returncode == 2


def test_a_module_that_has_been_unloaded_serves_nothing() -> None:
    """It stays in memory."""
    with target(WITHOUT_DRNG) as process:
        process.do("draw 1 16")
        assert process.do("load_and_unload") == "unloaded"
        assert_nothing_serves(process.pid)


def test_a_module_that_refuses_its_configuration_serves_nothing(tmp_path: Path) -> None:
    config = tmp_path / "openssl.cnf"
    config.write_text((CONF / "drng-permissive.cnf").read_text() + "\n[drng_sect]\nfallback = perhaps\n")
    with target({"OPENSSL_CONF": str(config)}) as process:
        process.do("draw 1 16")
        assert_nothing_serves(process.pid)


def test_a_module_that_is_being_loaded_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real = inspection.first_counters
    looks = []

    def loading_at_first(*arguments: Any) -> tuple[dict[str, Any], str]:
        looks.append(arguments)
        if len(looks) == 1:
            raise stats.NotOpenError("it serves nothing")
        return real(*arguments)

    monkeypatch.setattr(inspection, "first_counters", loading_at_first)
    with target(PINNED) as process:
        process.do("draw 1 16")
        assert inspection.inspect(process.pid).uses == states.USES_DRNG
    assert len(looks) == 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_copies_the_open_one_is_told_of(monkeypatch: pytest.MonkeyPatch, order: tuple[int, int]) -> None:
    errors = [stats.NotOpenError("it serves nothing"), stats.StatsError("its counters make no sense")]

    def read(_: Any, base: int) -> None:
        raise errors[base]

    monkeypatch.setattr(inspection, "read_counters", read)
    with pytest.raises(stats.StatsError, match="make no sense"):
        inspection.first_counters(None, list(order))


def test_a_restart_that_is_due_keeps_its_reason() -> None:
    """A module that has been replaced on disk, and serves nothing."""
    found = states.Process(2, "x", states.USES_LIBCRYPTO, ticks=1, drng_since=time.time() + 60)
    found.restart = states.REPLACED
    processes.mark_restarts([found], services.Configuration())
    assert found.restart == states.REPLACED


def test_the_fallback_and_its_reason_are_seen() -> None:
    with target({**PINNED, "OPENSSL_ia32cap": MASKED}) as process:
        process.do("draw 1 16")
        counters = process.counters()
    assert counters["active-source"] == "fallback"
    assert counters["seeds-fallback"] == 1
    assert counters["message"].count("masked by OPENSSL_ia32cap") == 2 or "not in this CPU" in counters["message"]


def test_a_filter_of_system_calls_is_seen_and_what_it_costs() -> None:
    """What is counted is found all the same: nothing that a filter may forbid is needed for it."""
    with target(PINNED, "filtered") as process:
        process.do("draw 3 16")
        process.do("fork 1")
        parent, child = as_json("--pid", str(process.pid))["processes"]
    assert parent["requests"] > 3
    assert parent["system-call-filter"] == child["system-call-filter"] == "on when drng was loaded"
    # A mapping is locked as it is made; a child would have to lock it anew, by a call that a filter may kill for.
    assert child["memory"] == "not locked: forked under a filter of system calls, and a child does not inherit the lock"


@pytest.mark.usefixtures("hardware")
def test_generators_with_the_seeds_of_others_are_not_called_hardware() -> None:
    """The instruction is there, and nobody has asked drng for a seed."""
    with target(PINNED) as process:
        process.do("draw_under_others 16")
        counters = process.counters()
        check = status("--check", "--pid", str(process.pid))
    assert (counters["requests"] > 0, counters["seeds-rdseed"] + counters["seeds-rdrand"]) == (True, 0)
    assert counters["message"].startswith(states.SEEDED_BY_OTHERS)
    assert (check.returncode, states.SEEDED_BY_OTHERS in check.stdout) == (1, True)
    environment = as_json()
    environment["drng"] |= {"requests": 1, "seeds-rdseed": 0, "seeds-rdrand": 0}
    assert output.check_environment(environment) == (1, states.SEEDED_BY_OTHERS)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another architecture has another name for it")
@pytest.mark.usefixtures("hardware")
def test_rdrand_that_is_to_serve_alone_is_no_alarm(tmp_path: Path) -> None:
    """It takes no seed, since openssl.cnf says so: nothing fell back."""
    config = tmp_path / "rdrand-alone.cnf"
    config.write_text((CONF / "drng.cnf").read_text().replace("\nrandom = CTR-DRBG", "\nrandom = RDRAND"))
    env = {"OPENSSL_CONF": str(config)}
    with target(env) as process:
        process.do("draw 3 16")
        shown = as_json("--pid", str(process.pid))["processes"][0]
        check = status("--check", "--pid", str(process.pid))
    assert (shown["state"], shown["active-source"]) == ("served", "rdrand")
    assert "RDRAND serves, by configuration" in shown["message"]
    assert (check.returncode, "; RDRAND serves, by configuration" in check.stdout) == (0, True)
    new = status("--check", env=env)
    assert new.returncode == 0, new.stdout
    assert new.stdout.startswith("new programs: RDRAND serves, by configuration")


@pytest.mark.usefixtures("hardware")
def test_openssls_seed_source_does_not_seed_alone(tmp_path: Path) -> None:
    text = (CONF / "drng.cnf").read_text()
    ours = "seed = DRNG-SEED\nseed_properties = provider=drng\n"
    assert text.count(ours) == 1
    profile = tmp_path / "openssls.cnf"
    profile.write_text(text.replace(ours, "seed = SEED-SRC\nseed_properties = provider=default\n"))
    env = {"OPENSSL_CONF": str(profile)}
    with target(env) as process:
        process.do("draw 1 16")
        counters = process.counters()
    assert counters["seeds-rdseed"] + counters["seeds-rdrand"] == 1
    assert status("--check", env=env).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its root directory")
def test_a_server_in_a_chroot_is_read_and_not_blamed_for_what_is_not_there() -> None:
    """Neither the module nor the configuration is to be seen where it is now."""
    with target(PINNED) as process:
        process.do("draw 3 16")
        before = process.counters()
        assert process.do("change_root 1") == "changed"
        after = process.counters()
    assert after["requests"] == before["requests"] > 3
    assert after["message"] == before["message"]


def test_the_provider_and_the_counters_say_the_same() -> None:
    """The environment's own process, seen through libcrypto, has the same words for the same things."""
    with target(PINNED) as process:
        process.do("draw 1 16")
        counters = process.counters()
    drng = as_json()["drng"]
    assert set(drng) - set(counters) == {"buildinfo", "batch", "batch-off-reason"}
    for name in ("version", "aes-implementation", "active-source", "disabled-reason", "status", "reseeds", "forks"):
        assert counters[name] == drng[name], name


def test_a_real_server_and_its_workers() -> None:
    with new_site() as site, running(NGINX, site, RELEASE.environment(PINNED)) as server:
        for _ in range(3):
            fetched = subprocess.run(
                [need("curl"), "-sk", f"https://127.0.0.1:{site.ports['ec']}/"], capture_output=True, check=False
            )
            assert fetched.returncode == 0
        family = as_json("--pid", str(server.process.pid))["processes"]
    assert len(family) >= 2
    assert {p["uses"] for p in family} == {"drng"}
    master, *workers = family
    assert master["forks"] == 0
    assert any(worker["requests"] > 0 and worker["fork-reseeds"] > 0 for worker in workers)


@contextlib.contextmanager
def haproxy(directory: Path, env: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """The complete example that loads drng by itself, on a port of its own; its master, and its URL."""
    certificate, key = make_certificate(directory)
    (directory / "both.pem").write_text(key.read_text() + certificate.read_text())
    (port,) = free_ports(1)
    text = (CONF / "haproxy" / "ssl-provider.cfg").read_text()
    for old, new in (
        ("/run/haproxy-drng.sock", f"{directory}/sock"),
        ("/etc/ssl/private/drng-haproxy.pem", f"{directory}/both.pem"),
        ("127.0.0.1:8445", f"127.0.0.1:{port}"),
    ):
        assert old in text
        text = text.replace(old, new)
    (directory / "haproxy.cfg").write_text(text)
    command = [need("haproxy"), "-W", "-f", str(directory / "haproxy.cfg")]
    with subprocess.Popen(command, env=RELEASE.environment(env), stderr=subprocess.DEVNULL) as master:
        url = f"https://127.0.0.1:{port}/"
        wait_for(lambda: subprocess.run([need("curl"), "-skf", "-o", "/dev/null", url]).returncode == 0, "HAProxy")
        yield master.pid, url
        master.terminate()


@pytest.mark.skipif(os.geteuid() != 0, reason="the example changes its root and its user")
def test_haproxys_master_leaves_drng_to_its_workers(tmp_path: Path, hardware: str) -> None:
    with haproxy(tmp_path, {}) as (master, _):
        family = as_json("--pid", str(master))["processes"]
        check = status("--check", "--pid", str(master))
    assert [p["uses"] for p in family] == [states.SUPERVISES, "drng"]
    assert family[1]["requests"] > 0
    assert check.returncode == 0, check.stdout
    assert check.stdout.startswith(f"process {master}: hardware serves: {hardware} in 1 of 1 (")
    assert check.stdout.endswith(f"; left out, since its children serve: {master} haproxy\n")


def test_no_other_parent_is_excused() -> None:
    def supervised(name: str) -> str:
        master = states.Process(1, name, states.USES_LIBCRYPTO, program="1:2", program_name=name, config="")
        worker = states.Process(2, name, states.USES_DRNG, parent=1, program="1:2", program_name=name)
        processes.mark_supervisors([master, worker])
        return master.uses

    assert supervised("haproxy") == states.SUPERVISES
    assert supervised("python3.11") == supervised("") == states.USES_LIBCRYPTO


@pytest.mark.skipif(os.geteuid() != 0, reason="the example changes its root and its user")
def test_a_master_that_an_openssl_cnf_should_have_given_drng_is_not_excused(tmp_path: Path) -> None:
    with haproxy(tmp_path, {"OPENSSL_CONF": str(tmp_path / "none.cnf")}) as (master, _):
        check = status("--check", "--pid", str(master))
    assert check.returncode == 2
    assert "none.cnf: there is no such file" in check.stdout


# ---- The openssl that PATH names ----


def build_openssl(directory: Path, *flags: str) -> Path:
    """A command of that name, in a folder of its own, with a copy of libcrypto beside it."""
    commands, library = directory / "bin", directory / "libcrypto.so.3"
    commands.mkdir(parents=True)
    command = [need("gcc"), "-x", "c", "-", "-o", str(commands / "openssl"), *flags]
    subprocess.run(command, input="int main(void) { return 0; }", text=True, check=True)
    maps = subprocess.run(
        [SYSTEM_PYTHON, "-c", "import ssl; print(open('/proc/self/maps').read())"], capture_output=True, text=True
    ).stdout
    shutil.copy(re.findall(r"/\S*/libcrypto\.so\.3", maps)[0], library)
    return commands


def examined(commands: Path) -> tuple[str, str]:
    """The library, and what was said to standard error."""
    result = status("--json", env={**PINNED, "PATH": f"{commands}:/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["library"], result.stderr


NEEDS_LIBCRYPTO = ("-Wl,--no-as-needed", "-lcrypto")


def test_the_libcrypto_of_the_openssl_in_path_is_examined(tmp_path: Path) -> None:
    commands = build_openssl(tmp_path, *NEEDS_LIBCRYPTO, "-Wl,-rpath,$ORIGIN/..")
    library, said = examined(commands)
    assert (Path(library).resolve(), said) == ((tmp_path / "libcrypto.so.3").resolve(), "")


def test_a_libcrypto_that_others_may_change_is_not_loaded(tmp_path: Path) -> None:
    commands = build_openssl(tmp_path, *NEEDS_LIBCRYPTO, "-Wl,-rpath,$ORIGIN/..")
    (tmp_path / "libcrypto.so.3").chmod(0o666)
    assert "/" not in examined(commands)[0]
    (tmp_path / "libcrypto.so.3").chmod(0o644)
    tmp_path.chmod(0o777)
    assert "/" not in examined(commands)[0]


@pytest.mark.parametrize("program", ["a script", "without libcrypto"])
def test_an_openssl_without_a_shared_libcrypto_is_told_of(program: str, tmp_path: Path) -> None:
    commands = build_openssl(tmp_path)
    if program == "a script":
        (commands / "openssl").write_text("#!/bin/sh\n")
    library, said = examined(commands)
    assert said == (f"drng-status: {commands}/openssl has no shared libcrypto; {library} was examined in its place\n")


# ---- Processes without drng, and none ----


def test_a_process_without_drng_is_said_to_be_one() -> None:
    with target(WITHOUT_DRNG) as process:
        process.do("draw 1 16")
        result = status("--pid", str(process.pid))
        check = status("--check", "--pid", str(process.pid))
    assert result.returncode == 0
    assert "it uses libcrypto without drng" in result.stdout
    assert (check.returncode, check.stdout.count("\n")) == (2, 1)
    assert "drng is not in use" in check.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program of another user's")
@pytest.mark.parametrize("mode", [0o755, 0o2755, 0o4755])
def test_a_program_that_may_not_trust_its_environment_is_explained(mode: int, tmp_path: Path) -> None:
    """libcrypto does not see OPENSSL_CONF there, and serves by itself under every profile."""
    program = Path(shutil.copy("/usr/bin/openssl", tmp_path))
    os.chown(program, NOBODY, NOBODY)
    program.chmod(mode)
    with subprocess.Popen([program, "dgst"], env=RELEASE.environment(PINNED), stdin=subprocess.PIPE) as process:
        wait_for(lambda: "drng" in status("--pid", str(process.pid)).stdout, "libcrypto to be loaded")
        said = status("--pid", str(process.pid)).stdout
    ignored = f"OPENSSL_CONF names {PINNED['OPENSSL_CONF']}, which libcrypto ignores in a program with capabilities"
    assert (ignored in said) == (mode != 0o755)


def test_a_process_without_libcrypto_is_said_to_be_one() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        result = status("--pid", str(process.pid))
        check = status("--check", "--pid", str(process.pid))
    assert "it has not loaded libcrypto" in result.stdout
    assert check.returncode == 2


def test_helpers_without_libcrypto_are_left_out() -> None:
    with subprocess.Popen(["sh", "-c", "cat; true"], stdin=subprocess.PIPE) as process:
        wait_for(lambda: len(procfs.family(process.pid)) == 2, "the shell to start its child")
        family = as_json("--pid", str(process.pid))["processes"]
    assert [(p["pid"], p["uses"]) for p in family] == [(process.pid, "no libcrypto")]


def test_a_process_that_is_not_there() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    result = status("--pid", str(process.pid))
    assert result.returncode == 3
    assert result.stderr == f"drng-status: there is no process {process.pid}\n"
    check = status("--check", "--pid", str(process.pid))
    assert (check.returncode, check.stdout) == (
        3,
        f"process {process.pid}: cannot tell: there is no process {process.pid}\n",
    )


# ---- Permissions ----


@pytest.fixture
def public_copy() -> Iterator[Path]:
    """drng-status where everybody may run it, whatever the rights on this clone."""
    directory = Path(tempfile.mkdtemp(prefix="drng-status-"))
    shutil.copy(STATUS, directory)
    shutil.copytree(ROOT / "scripts" / "drng", directory / "drng")
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o755)
    yield directory / "drng-status"
    shutil.rmtree(directory)


def as_nobody(copy: Path, *arguments: str) -> Result:
    return subprocess.run(
        [str(copy), *arguments],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@needs_root
def test_the_missing_permission_is_named(public_copy: Path) -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        result = as_nobody(public_copy, "--pid", str(process.pid))
        check = as_nobody(public_copy, "--check", "--pid", str(process.pid))
        everybody = as_nobody(public_copy, "--all")
        # Not even its own user may look at what has given up privileges.
        process.do(f"change_user {NOBODY}")
        dropped = as_nobody(public_copy, "--pid", str(process.pid))
    assert result.returncode == 3
    assert "it belongs to root, so only root (CAP_SYS_PTRACE) may read its memory" in result.stderr
    assert check.returncode == 3
    assert "it belongs to root" in check.stdout
    assert everybody.returncode == 0
    # By their numbers, with the reason, and not with advice that root would have, too.
    unseen = (
        r"processes that could not be looked at: \d+ \(\d+ .*\): it belongs to root, so only root \(CAP_SYS_PTRACE\)"
    )
    assert re.search(unseen, everybody.stderr)
    assert "run drng-status as root" not in everybody.stderr
    assert dropped.returncode == 3
    assert "given up privileges" in dropped.stderr


@needs_root
def test_ones_own_processes_need_no_permission(public_copy: Path) -> None:
    command = [SYSTEM_PYTHON, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/") as process:
        wait_for(lambda: Path(f"/proc/{process.pid}/comm").read_text().startswith("python"), "the program to start")
        result = as_nobody(public_copy, "--pid", str(process.pid))
        process.kill()
    assert result.returncode == 0, result.stderr


# ---- What is not believed ----


def test_forged_counters_that_are_right_are_read(tmp_path: Path) -> None:
    """The control of those below."""
    with holding(build_module(tmp_path, forged())) as pid:
        process = as_json("--pid", str(pid))["processes"][0]
    assert (process["active-source"], process["requests"], process["bytes"]) == ("rdseed", 3, 48)


LINKED = {
    "by GNU's hash": ["-Wl,--hash-style=gnu"],
    "by System V's hash": ["-Wl,--hash-style=sysv"],
    "by both": ["-Wl,--hash-style=both"],
    "in one segment with the code": ["-Wl,-z,noseparate-code"],
    "with its dynamic section far away": ["-Wl,-z,norelro"],
    "stripped": ["-s"],
}


@pytest.mark.parametrize("flags", LINKED.values(), ids=LINKED.keys())
def test_the_counters_are_found_however_the_module_is_linked(tmp_path: Path, flags: list[str]) -> None:
    with holding(build_module(tmp_path, forged(), *flags)) as pid:
        process = as_json("--pid", str(pid))["processes"][0]
    assert (process["uses"], process["requests"], process["message"]) == ("drng", 3, "")


def test_a_module_that_has_been_removed_is_read(tmp_path: Path) -> None:
    module = build_module(tmp_path, forged())
    with holding(module) as pid:
        module.unlink()
        process = as_json("--pid", str(pid))["processes"][0]
    assert (process["uses"], process["requests"]) == ("drng", 3)


def test_of_several_modules_the_first_that_can_be_read_counts(tmp_path: Path) -> None:
    modules = [build_module(tmp_path / str(i), content) for i, content in enumerate((bytes(512), forged(), forged()))]
    with holding(*modules) as pid:
        process = as_json("--pid", str(pid))["processes"][0]
    assert (process["uses"], process["requests"]) == ("drng", 3)
    assert process["message"] == "it has loaded drng 3 times; these are the counters of one"


def test_a_file_of_that_name_that_is_only_read_is_no_module(tmp_path: Path) -> None:
    """What a backup or a debugger does."""
    module = build_module(tmp_path, forged())
    code = "import mmap, sys; f = open(sys.argv[1], 'rb'); m = mmap.mmap(f.fileno(), 0, prot=1)"
    code += "; print('held', flush=True); input()"
    with subprocess.Popen(
        [SYSTEM_PYTHON, "-c", code, str(module)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        seen = inspection.inspect(process.pid)
    assert seen.uses in (states.USES_NEITHER, states.USES_LIBCRYPTO)


def test_an_older_drng_is_named(tmp_path: Path) -> None:
    """The counters of 0.1.0 were in memory of this name, and its module exported none."""
    older = tmp_path / "drng.so"
    (tmp_path / "empty.c").write_text("int nothing(void) { return 0; }\n")
    subprocess.run([need("gcc"), "-shared", "-fPIC", "-o", str(older), str(tmp_path / "empty.c")], check=True)
    code = f"import ctypes, mmap, os; ctypes.CDLL({str(older)!r}); fd = os.memfd_create('drng-counters')"
    code += "; os.ftruncate(fd, 4096); m = mmap.mmap(fd, 4096); print('held', flush=True); input()"
    with subprocess.Popen([SYSTEM_PYTHON, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        result = status("--pid", str(process.pid))
    assert result.returncode == 3
    assert "it runs an older drng, whose counters this drng-status does not read: restart it" in result.stderr


MEMORY = {
    0: "not locked: forked under a filter of system calls, and a child does not inherit the lock",
    1: "locked",
    2: "not locked, or only in part: the limit RLIMIT_MEMLOCK is too low",
}


@pytest.mark.parametrize("number", MEMORY)
def test_the_memory_for_secrets_and_why_it_is_not_locked(number: int, tmp_path: Path) -> None:
    with holding(build_module(tmp_path, forged(memory=number))) as pid:
        text = status("--pid", str(pid)).stdout
        process = as_json("--pid", str(pid))["processes"][0]
    assert f"\nmemory                  {MEMORY[number]}\n" in text
    assert process["memory"] == MEMORY[number]


# In a virtual machine of which nobody is told when it is copied.
UNPROTECTED = {"virtual_machine": 1, "clone_protection": 0}

GARBAGE = {
    "zeros": bytes(8192),
    "ones": b"\xff" * 256,
    "noise": struct.pack("=4096H", *((i * 40503) & 0xFFFF for i in range(4096))),
    "an older layout": forged(layout=1),
    "a newer layout": forged(layout=stats.LAYOUT + 1),
    "counters that are not filled in yet": forged(layout=0),
    "no instruction": forged(instruction_count=0),
    "instructions without end": forged(instruction_count=0xFFFFFFFF),
    "an instruction without a name": forged(names=(b"rdseed", b"")),
    "two instructions of one name": forged(names=(b"rdseed", b"rdseed")),
    "an instruction named to do harm": forged(names=(b"rdseed", b"a\nb 1")),
    "an instruction that nobody knows": forged(names=(b"rdseed", b"x")),
    "an instruction that is named like its counter": forged(names=(b"rdseed", b"x-retries")),
    "an instruction that is named like all counters": forged(names=(b"retries", b"rdseed")),
    "a live part far away": forged(live_offset=0xFFFFFFFF),
    "a live part behind the end": forged(live_offset=1 << 19),
    "a live part in the head": forged(live_offset=64),
    "request counts without end": forged(request_counts_number=0xFFFFFFFF, request_counts_size=0xFFFFFFFF),
    "more request counts than there is memory": forged(request_counts_number=16000),
    "request counts that overlap the numbers": forged(request_counts_offset=8),
    "request counts of no size": forged(request_counts_size=0),
    "a source that does not exist": forged(source=77),
    "a first source that does not exist": forged(source=0, first_source=77),
    "memory of a kind that does not exist": forged(memory=4),
    "a protection from clones that does not exist": forged(clone_protection=4),
    "a head alone": forged()[:LIVE_OFFSET],
    "half a head": forged()[:100],
}


@pytest.mark.parametrize("content", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_is_not_believed(content: bytes, tmp_path: Path) -> None:
    with holding(build_module(tmp_path, content)) as pid:
        forms = [status(*form, "--pid", str(pid)) for form in ((), ("--json",), ("--prometheus",))]
        check = status("--check", "--pid", str(pid))
    for result in forms:
        assert result.returncode == 3
        assert result.stderr.startswith(f"drng-status: process {pid} (python3")
        assert "Traceback" not in result.stderr
    counts = parse_metrics(forms[2].stdout)
    assert sum(counts["drng_processes"].values()) == 1
    assert not any(counts["drng_memory_processes"].values()), "no number of what cannot be read"
    assert not any(counts["drng_unprotected_processes"].values())
    assert check.returncode == 3
    assert check.stdout.startswith(f"process {pid}: cannot tell in ")


def test_another_version_is_named(tmp_path: Path) -> None:
    with holding(build_module(tmp_path, forged(layout=stats.LAYOUT + 1))) as pid:
        result = status("--pid", str(pid))
    assert f"its counters have layout {stats.LAYOUT + 1}, of another version of drng" in result.stderr


def test_a_text_cannot_command_the_terminal(tmp_path: Path) -> None:
    content = forged(reason=b"\x1b]0;title\x07\x1b[2J", version=b"\xff\x9b31m", clone_reason=b"\x1b[2J", **UNPROTECTED)
    with holding(build_module(tmp_path, content)) as pid:
        result = status("--pid", str(pid))
    assert result.returncode == 0
    assert all(character == "\n" or 32 <= ord(character) < 127 for character in result.stdout)
    assert "\\x1b]0;title\\x07" in result.stdout


def test_times_that_no_calendar_has(tmp_path: Path) -> None:
    last = (1 << 64) - 1
    with holding(build_module(tmp_path, forged(loaded=last, last_seed=1 << 40))) as pid:
        result = status("--pid", str(pid))
    assert result.returncode == 0, result.stderr
    assert f"loaded                  {last} s after 1970, which is no date\n" in result.stdout
    assert f"last-seed               {1 << 40} s after 1970, which is no date\n" in result.stdout
    assert output.ago(last) == output.ago(int(time.time()) + 3600) == "in the future"


def test_an_unknown_protection_from_clones_is_named(tmp_path: Path) -> None:
    with holding(build_module(tmp_path, forged(clone_protection=4))) as pid:
        result = status("--pid", str(pid))
    assert (result.returncode, "clone-protection" in result.stdout) == (3, False)
    assert "its counters hold an unknown protection from clones" in result.stderr


# ---- Clones of the machine ----

WHAT_TO_DO = "; let the process read /dev/vmclock0, or set request_mixing = auto"


@pytest.mark.parametrize(("number", "name"), enumerate(("none", "kernel", "instruction", "counter")))
@pytest.mark.parametrize("virtual", [0, 1])
def test_what_keeps_clones_apart_is_in_every_form(number: int, name: str, virtual: int, tmp_path: Path) -> None:
    content = forged(clone_protection=number, virtual_machine=virtual, clone_reason=b"because", clone_reseeds=5)
    with holding(build_module(tmp_path, content)) as pid:
        text = status("--pid", str(pid)).stdout
        counts = parse_metrics(status("--prometheus", "--pid", str(pid)).stdout)
        process = as_json("--pid", str(pid))["processes"][0]
        everybody = {found["pid"]: found for found in as_json("--all")["processes"]}
        check = status("--check", "--pid", str(pid))
    assert f"\nclone-protection        {name}: because\n" in text
    assert f"\nvirtual-machine         {'yes' if virtual else 'no'}\n" in text
    assert "\nfork-reseeds            0\nclone-reseeds           5\n" in text
    assert (process["clone-protection"], process["clone-reason"], process["clone-reseeds"]) == (name, "because", 5)
    assert process["virtual-machine"] is bool(virtual)
    assert everybody[pid] == process
    alike = "copies of this machine may draw the same bytes: because" + WHAT_TO_DO
    warned = virtual == 1 and name == "none"
    assert list(counts["drng_unprotected_processes"].values()) == [int(warned)]
    assert process["message"] == (alike if warned else "")
    assert (f"\nmessage                 {alike}\n" in text) == warned
    assert check.returncode == int(warned)
    assert check.stdout == f"process {pid}: hardware serves: rdseed in 1 of 1 ({pid} python3)" + (
        f"; {pid} python3: {alike}\n" if warned else "\n"
    )


def made_up(pid: int, source: str = "rdseed", protection: str = "instruction", drawn: int = 1) -> states.Process:
    """A process in a virtual machine."""
    counters: dict[str, Any] = {
        "active-source": source,
        "begun": True,
        "requests": drawn,
        "disabled-reason": "",
        "seeds-rdseed": drawn,
        "seeds-fallback": 0,
        "rdseed-retries": 0,
        "virtual-machine": True,
        "clone-protection": protection,
        "clone-reason": "because",
    }
    return states.Process(pid, "x", states.USES_DRNG, counters=counters)


def test_one_unprotected_process_among_others_is_a_warning_and_hides_nothing_worse() -> None:
    apart, alike = made_up(1), made_up(2, protection="none")
    warning = f"; 2 x: copies of this machine may draw the same bytes: because{WHAT_TO_DO}"
    hidden = states.Process(9, "?", states.UNKNOWN, "why", hidden=True)
    assert output.check_processes([apart, apart])[0] == 0
    for check in (output.check_processes, output.check_all):
        assert check([apart, alike]) == (1, f"hardware serves: rdseed in 2 of 2 (1 x, 2 x){warning}")
    result, line = output.check_all([apart, alike, hidden])
    assert (result, warning in line) == (1, True)
    for other, status_of_it in (
        (made_up(3, source="fallback"), 1),
        (made_up(3, source="none"), 2),
        (states.Process(3, "y", states.USES_LIBCRYPTO), 2),
        (states.Process(3, "y", states.UNKNOWN), 3),
        (made_up(3, drawn=0), 1),
    ):
        result, line = output.check_processes([alike, other])
        assert (result, line.endswith(warning)) == (status_of_it, True), line
    # It will draw, and alone nothing is known of who serves it.
    idle = made_up(2, protection="none", drawn=0)
    assert output.check_processes([apart, idle]) == (
        1,
        f"hardware serves: rdseed in 1 of 2 (1 x); 1 of them drew nothing so far{warning}",
    )
    result, line = output.check_processes([idle])
    assert (result, line.endswith(warning)) == (3, True)


def test_the_environment_is_warned_of_clones(config: ConfigWriter) -> None:
    """Where this is a virtual machine; without the words in each request, and without vmclock, nothing is left."""
    env = {"OPENSSL_CONF": str(config(request_mixing="no"))}
    answer, text = as_json(env=env), status(env=env)
    drng = answer["drng"]
    if drng["clone-protection"] == "counter":
        pytest.skip("this machine has a vmclock")
    assert drng["clone-protection"] == "none"
    assert f"\nclone-protection    none: {drng['clone-reason']}\n" in text.stdout
    assert f"\nvirtual-machine     {'yes' if drng['virtual-machine'] else 'no'}\n" in text.stdout
    with target(env) as process:
        process.do("draw 1 16")
        counters = process.counters()
    assert [drng[key] for key in CLONE_KEYS] == [counters[key] for key in CLONE_KEYS]
    check = status("--check", env=env)
    alike = f"copies of this machine may draw the same bytes: {drng['clone-reason']}{WHAT_TO_DO}"
    assert (alike in text.stderr) == (alike in answer["warnings"]) == (alike in check.stdout) == drng["virtual-machine"]


# As Linux writes it of two processors; the second is there to be read by mistake.
ZEN_5 = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 26
model\t\t: 2
model name\t: AMD EPYC 9755 128-Core Processor
stepping\t: 1
microcode\t: 0xb002147
cpu MHz\t\t: 2700.000
flags\t\t: fpu rdrand
bugs\t\t: sysret_ss_attrs spectre_v1
power management: ts ttp tm hwpstate cpb

processor\t: 1
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 255
stepping\t: 255
microcode\t: 0xffffffff
flags\t\t: fpu rdrand rdseed hypervisor

"""


def cpuinfo_file(path: Path, changes: Mapping[str, str]) -> Path:
    """ZEN_5 with these values of its first processor."""
    text = ZEN_5
    for key, value in changes.items():
        text, found = re.subn(rf"(?m)^({key}\t+: ).*$", rf"\g<1>{value}", text, count=1)
        assert found, key
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("changes", "in_cpu", "said"),
    [
        ({}, True, "Microcode 0xb002147; 0xb00215a or later mends it"),
        ({}, False, "0xb00215a or later mends it"),
        ({"flags": "fpu rdrand hypervisor"}, True, "0xb002147, a number of the hypervisor's choice; 0xb00215a or"),
        ({"microcode": "0xb00215a"}, True, "0xb00215a mends it, and the kernel or the hypervisor hides RDSEED"),
        ({"model": "8"}, True, "0xb008121 or later"),
        ({"model": "17", "stepping": "0"}, True, "0xb101054 or later"),
        ({"model": "36", "stepping": "0"}, True, "0xb204037 or later"),
        ({"model": "68", "stepping": "0"}, True, "0xb404035 or later"),
        ({"model": "68"}, True, "0xb404108 or later"),
        ({"model": "96", "stepping": "0"}, True, "0xb600037 or later"),
        ({"model": "104", "stepping": "0"}, True, "0xb608038 or later"),
        ({"model": "112", "stepping": "0"}, True, "0xb700037 or later"),
        ({"model": "208"}, True, "none that mends this stepping is known here"),
        ({"microcode": ""}, True, "Microcode unknown; "),
        ({"flags": "fpu rdrand rdseed"}, True, ""),
        ({"flags": "fpu rdrand rdseed"}, None, ""),
        ({"flags": "fpu rdrand rdseed"}, False, "0xb00215a or later mends it"),
        ({"model": "48"}, True, ""),
        ({"model": "80"}, True, ""),
        ({"cpu family": "25"}, True, ""),
        ({"vendor_id": "GenuineIntel"}, True, ""),
    ],
)
def test_zen_5_without_rdseed(
    changes: dict[str, str], in_cpu: bool | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(procfs, "CPUINFO", cpuinfo_file(tmp_path / "cpuinfo", changes))
    found = parts.zen_5(procfs.cpuinfo(), in_cpu)
    assert (said in found) if said else found == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [("Not affected\n", ""), ("Mitigation: Microcode\n", "Mitigation: Microcode"), (None, "")],
)
def test_srbds(text: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SRBDS", tmp_path / "srbds")
    if text is not None:
        (tmp_path / "srbds").write_text(text)
    assert parts.srbds() == said


IN_THEIR_PLACE = 'mount --bind "$1" /proc/cpuinfo && mount --bind "$2" "$3" && shift 3 && exec "$@"'


def test_a_part_that_is_known_has_a_row(tmp_path: Path) -> None:
    """The command, where the kernel's files say so."""
    srbds = tmp_path / "srbds"
    start = ["unshare", "--mount", "sh", "-c", IN_THEIR_PLACE, "sh"]

    def rows(changes: Mapping[str, str], said: str) -> dict[str, str]:
        srbds.write_text(said)
        mounts = [str(cpuinfo_file(tmp_path / "cpuinfo", changes)), str(srbds), str(parts.SRBDS)]
        if subprocess.run([*start, *mounts, "true"], capture_output=True, check=False).returncode != 0:
            pytest.skip("other files cannot be mounted over the kernel's here: it takes root, and sysfs")
        told = RELEASE.run([*start, *mounts, str(STATUS)], PINNED).stdout
        return dict(re.findall(r"^(amd-sb-7055|srbds) +(.+)$", told, re.MULTILINE))

    both = rows({}, "Vulnerable: No microcode\n")
    assert "Microcode 0xb002147; 0xb00215a or later mends it" in both["amd-sb-7055"]
    assert both["srbds"] == "Vulnerable: No microcode"
    assert rows({"cpu family": "25"}, "Not affected\n") == {}


CLONE_KEYS = ("virtual-machine", "clone-protection", "clone-reason", "clone-reseeds")


def environment_like(**changes: Any) -> dict[str, Any]:
    """What is found in an environment in which all is well, but for changes in what drng says."""
    drng = {"provider": "drng", "name": "CTR-DRBG"}
    return {
        "rand-bytes": True,
        "override": None,
        "config-problem": "",
        **dict.fromkeys(("primary", "public", "private"), drng),
        "drng": {**made_up(1).counters, **changes},
        "cpu": {"verdict-problem": ""},
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 0),
        ({"clone-protection": "none"}, 1),
        ({"clone-protection": "none", "virtual-machine": None}, 1),
        ({"clone-protection": "none", "virtual-machine": False}, 0),
        ({"clone-protection": "kernel"}, 0),
        ({"clone-protection": "none", "active-source": "fallback"}, 1),
        ({"clone-protection": "none", "active-source": "none"}, 2),
        ({"clone-protection": "none", "seeds-rdseed": 0}, 1),
    ],
    ids=str,
)
def test_check_of_an_environment_in_a_virtual_machine(changes: dict[str, Any], expected: int) -> None:
    result, line = output.check_environment(environment_like(**changes))
    assert result == expected
    unprotected = changes.get("clone-protection") == "none" and changes.get("virtual-machine") is not False
    assert line.endswith(WHAT_TO_DO) == unprotected, line


def test_an_older_module_has_no_word_on_clones() -> None:
    """Its parameters are fewer, and what is not said is not warned of."""
    older = environment_like()
    del older["drng"]["clone-protection"], older["drng"]["clone-reason"]
    assert output.check_environment(older) == (0, "hardware serves: rdseed")


# ---- --check ----


def test_check_hardware(hardware: str) -> None:
    result = status("--check")
    assert (result.returncode, result.stdout.splitlines()[0].split(";")[0]) == (
        0,
        f"new programs: hardware serves: {hardware}",
    )
    with target(PINNED) as process:
        process.do("draw 1 16")
        process.do("fork 1")
        check = status("--check", "--pid", str(process.pid))
    assert check.returncode == 0
    assert check.stdout.startswith(f"process {process.pid}: hardware serves: {hardware} in 2 of 2 (")


def test_drng_that_is_loaded_and_never_drawn_from_is_not_said_to_serve(tmp_path: Path, hardware: str) -> None:
    """The configuration activates drng and has no line "random =", so OpenSSL's own generator serves."""
    config = tmp_path / "openssl.cnf"
    config.write_text(
        "openssl_conf = init\n[init]\nproviders = p\n[p]\ndefault = d\ndrng = e\n[d]\nactivate = 1\n[e]\nactivate = 1\n"
    )
    with target({"OPENSSL_CONF": str(config)}) as process:
        process.do("draw 1 16")
        counters = process.counters()
        check = status("--check", "--pid", str(process.pid))
    assert (counters["uses"], counters["requests"]) == ("drng", 0)
    assert counters["message"].startswith("drng is loaded and has served nothing yet")
    assert check.returncode == 3
    assert check.stdout.startswith(f"process {process.pid}: drng is loaded and has served nothing yet: {process.pid} ")


def test_a_child_that_has_drawn_nothing_beside_one_that_has_is_counted(hardware: str) -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        process.do("fork 0")
        check = status("--check", "--pid", str(process.pid))
    assert check.returncode == 0
    assert check.stdout.startswith(f"process {process.pid}: hardware serves: {hardware} in 1 of 2 ({process.pid} ")
    assert check.stdout.endswith("; 1 of them drew nothing so far\n")


def test_check_fallback() -> None:
    env = {**PINNED, "OPENSSL_ia32cap": MASKED}
    result = status("--check", env=env)
    assert (result.returncode, result.stdout.count("\n")) == (1, 1)
    assert result.stdout.startswith("new programs: the fallback serves; ")
    with target(env) as process:
        process.do("draw 1 16")
        check = status("--check", "--pid", str(process.pid))
    assert check.returncode == 1
    assert check.stdout.startswith(f"process {process.pid}: the fallback serves in ")


def test_check_not_in_use() -> None:
    result = status("--check", env=WITHOUT_DRNG)
    assert (result.returncode, result.stdout.count("\n")) == (2, 1)
    assert result.stdout.startswith("new programs: drng is not in use: primary, public, private")


def test_check_nothing_serves(config: ConfigWriter) -> None:
    env = {"OPENSSL_CONF": str(config(fallback="no")), "OPENSSL_ia32cap": MASKED}
    result = status("--check", env=env)
    assert (result.returncode, result.stdout.count("\n")) == (2, 1)
    assert result.stdout.startswith("new programs: RAND_bytes fails: ")
    with target(env) as process:
        assert process.do("draw 1 16") == "failed"
        check = status("--check", "--pid", str(process.pid))
    assert check.returncode == 2


def test_the_worst_of_a_family_decides() -> None:
    def judged(*uses: str) -> int:
        sources = {"hardware": "rdseed", "fallback": "fallback", "none": "none", "idle": "rdseed"}
        no_seeds = dict.fromkeys(("seeds-rdrand", "seeds-fallback"), 0)
        family = [
            states.Process(
                i,
                "x",
                states.USES_DRNG,
                counters={
                    "active-source": sources[u],
                    "begun": True,
                    "requests": int(u != "idle"),
                    "disabled-reason": "",
                    "seeds-rdseed": int(u != "idle"),
                    "rdseed-retries": 0,
                    **no_seeds,
                },
            )
            if u in sources
            else states.Process(i, "x", u)
            for i, u in enumerate(uses)
        ]
        return output.check_processes(family)[0]

    assert judged("hardware", states.USES_NEITHER) == 0
    assert judged("hardware", "fallback", "hardware") == 1
    assert judged("fallback", states.UNKNOWN) == 3
    assert judged("hardware", states.USES_LIBCRYPTO, states.UNKNOWN) == 2
    assert judged("hardware", "none") == 2
    assert judged(states.USES_NEITHER) == 2
    assert judged("idle") == judged("idle", "idle", states.USES_NEITHER) == 3
    assert judged("idle", "hardware") == 0
    assert judged("idle", "fallback") == 1
    assert judged("idle", states.USES_LIBCRYPTO) == judged("idle", "none") == 2


# ---- Services ----


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Answers as systemctl would: for each service the lines in a file of its name."""
    program = tmp_path / "systemctl"
    program.write_text('#!/bin/sh\nfor name; do :; done\ncat "$(dirname "$0")/$name"\n')
    program.chmod(0o755)
    monkeypatch.setattr(systemd, "PATH", f"{tmp_path}:{systemd.PATH}")
    monkeypatch.setattr(systemd, "SYSTEMD", tmp_path)
    monkeypatch.setattr(services, "CGROUPS", (tmp_path / "cgroup",))
    return tmp_path


def test_a_service_is_its_control_group(systemctl: Path) -> None:
    group = systemctl / "cgroup/system.slice/web.service"
    (group / "inner").mkdir(parents=True)
    (group / "cgroup.procs").write_text("12\n11\n")
    (group / "inner/cgroup.procs").write_text("13\n")
    (systemctl / "web").write_text("MainPID=11\nLoadState=loaded\nControlGroup=/system.slice/web.service\n")
    assert services.members_and_config("web")[0] == [11, 12, 13]


def test_more_control_groups_than_anybody_can_go_through(systemctl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (systemctl / "web").write_text("MainPID=11\nLoadState=loaded\nControlGroup=/web.service\n")
    monkeypatch.setattr(services, "cgroup_members", lambda _: time.sleep(5))
    monkeypatch.setattr(aside, "SECONDS", 0.1)
    with pytest.raises(procfs.TargetError, match="web cannot be gone through: no answer within"):
        services.members_and_config("web")


def test_a_service_without_a_control_group_is_its_main_process_and_its_children(systemctl: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        (systemctl / "web").write_text(f"MainPID={os.getpid()}\nLoadState=loaded\nControlGroup=\n")
        assert {os.getpid(), child.pid} <= set(services.members_and_config("web")[0])


def test_what_a_service_is_configured_with_is_known(systemctl: Path) -> None:
    running = f"LoadState=loaded\nMainPID={os.getpid()}\nControlGroup=\n"
    (systemctl / "web").write_text(f"{running}Environment=A=b OPENSSL_CONF=/x.cnf\n")
    (systemctl / "bare").write_text(f"{running}Environment=\n")
    assert services.members_and_config("web")[1] == "/x.cnf"
    assert services.members_and_config("bare")[1] is None


@pytest.mark.parametrize("name", ("", "-H", "nginx*", "a b", "../a", "a\n", "a\x1b", "x" * 256))
def test_what_is_no_name_of_a_service_is_not_asked_about(systemctl: Path, name: str) -> None:
    with pytest.raises(procfs.TargetError, match="is not the name of a service"):
        services.members_and_config(name)


def test_a_service_that_is_unknown_or_not_running(systemctl: Path) -> None:
    (systemctl / "unknown").write_text("MainPID=0\nLoadState=not-found\nControlGroup=\n")
    (systemctl / "stopped").write_text("MainPID=0\nLoadState=loaded\nControlGroup=\n")
    with pytest.raises(procfs.TargetError, match="systemd knows no service unknown"):
        services.members_and_config("unknown")
    with pytest.raises(procfs.TargetError, match="service stopped is not running"):
        services.members_and_config("stopped")
    with pytest.raises(procfs.TargetError, match="systemctl gives no answer about missing"):
        services.members_and_config("missing")


def test_without_systemd_services_have_no_names() -> None:
    if systemd.SYSTEMD.is_dir():
        pytest.skip("systemd runs here")
    result = status("--service", "nginx")
    assert (result.returncode, result.stderr) == (
        3,
        "drng-status: systemd does not run here, so services have no names: use --pid\n",
    )


# ---- The environment ----


WITHOUT_CPUINFO = 'mount -t proc -o subset=pid proc /proc && exec "$@"'


def without_cpuinfo(*command: str) -> list[str]:
    """As systemd starts a service with ProcSubset=pid."""
    start = ["unshare", "--mount", "sh", "-c", WITHOUT_CPUINFO, "sh"]
    if subprocess.run([*start, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a /proc of processes alone cannot be mounted here: it takes root, and Linux 5.8")
    return [*start, *command]


def test_who_cannot_know_the_kernel_s_verdict_is_named() -> None:
    """In every form for people; the status is who serves, as ever."""
    words = "the kernel's verdict on the instructions is not known"
    command = without_cpuinfo(SYSTEM_PYTHON, str(PROGRAMS / "status_target.py"))
    env = RELEASE.environment(PINNED)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=env, **pipes) as process, target(PINNED) as other:  # type: ignore[call-overload]
        blind = Target(process)
        for each in (blind, other):
            each.do("draw 1 16")
        for each in (blind, other):
            pid = str(each.pid)
            assert (words in status("--pid", pid).stdout) == (each is blind)
            assert (words in as_json("--pid", pid)["processes"][0]["message"]) == (each is blind)
            check = status("--check", "--pid", pid)
            assert (f"{pid} python3: {words}" in check.stdout) == (each is blind)
            source = as_json("--pid", pid)["processes"][0]["active-source"]
            assert check.returncode == (1 if source == "fallback" else 0)


@pytest.mark.parametrize("profile", ["drng.cnf", "drng-permissive.cnf"])
def test_a_module_that_does_not_load_is_named(profile: str, tmp_path: Path) -> None:
    """Nobody else does: libcrypto drops the error."""
    env = {"OPENSSL_CONF": str(ROOT / "conf" / profile), "OPENSSL_MODULES": str(tmp_path)}
    check = status("--check", env=env)
    assert check.returncode == 2
    assert f"which does not load: could not load the shared library: {tmp_path}/drng.so: " in check.stdout
    (tmp_path / "openssl.cnf").write_text((ROOT / "conf" / profile).read_text() + "[drng_sect]\nfallback = maybe\n")
    check = status("--check", env={"OPENSSL_CONF": str(tmp_path / "openssl.cnf")})
    assert check.returncode == 2
    assert "[drng_sect] fallback = maybe: the provider does not load; write one of yes, no" in check.stdout


def test_a_configuration_that_does_not_parse_is_the_problem(tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    path.write_text((ROOT / "conf" / "drng.cnf").read_text().replace("[drng_sect]", "[drng_sect"))
    found = as_json(env={"OPENSSL_CONF": str(path)})
    assert "missing close square bracket" in found["config-problem"]
    check = status("--check", env={"OPENSSL_CONF": str(path)})
    assert (check.returncode, found["config-problem"] in check.stdout) == (2, True)


def test_a_working_directory_that_may_not_be_entered(tmp_path: Path) -> None:
    """As root's own, for `sudo -u nagios drng-status --check` typed there."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    env = RELEASE.environment(PINNED)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    result = subprocess.run([STATUS, "--json"], env=env, cwd=closed, capture_output=True, text=True, check=False, **who)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["config"] == str(CONF / "drng.cnf")


def test_an_environment_without_the_kernel_s_verdict() -> None:
    words = "the kernel's verdict on the instructions is not known: /proc/cpuinfo cannot be read"
    for arguments in ((), ("--check",)):
        assert words not in status(*arguments).stdout
        blind = RELEASE.run(without_cpuinfo(str(STATUS), *arguments), PINNED)
        assert words in blind.stdout, blind.stderr
        seen = json.loads(RELEASE.run(without_cpuinfo(str(STATUS), "--json"), PINNED).stdout)
        assert blind.returncode == (1 if arguments and seen["drng"]["active-source"] == "fallback" else 0)
    # Others have their CPU's word alone, on machines of which Linux has no such verdict.
    rows = output.environment_rows({**as_json(), "cpu": {**as_json()["cpu"], "verdict-problem": ""}})
    assert "verdict-problem" not in dict(rows)


def test_the_environment_as_it_is(hardware: str) -> None:
    answer = as_json()
    assert answer["config"] == PINNED["OPENSSL_CONF"]
    assert answer["seed"] == {"name": "DRNG-SEED", "provider": "drng"}
    for role in ("primary", "public", "private"):
        assert answer[role] == {"name": "CTR-DRBG", "provider": "drng"}
    assert answer["override"] is None
    assert answer["random-provider"] is None
    assert answer["warnings"] == []
    assert answer["cpu"][hardware] == {
        "in-cpu": True,
        "masked": False,
        "kernel": kernel_says(hardware),
        "drng": "may serve",
    }
    assert answer["drng"]["requests"] > 0


def test_masks_are_told_from_what_the_cpu_lacks(hardware: str) -> None:
    facts = as_json(env={**PINNED, "OPENSSL_ia32cap": MASKED})["cpu"]
    assert facts["mask"] == MASKED
    assert facts[hardware] == {
        "in-cpu": True,
        "masked": True,
        "kernel": kernel_says(hardware),
        "drng": "masked by OPENSSL_ia32cap",
    }


def test_an_unknown_key_is_warned_about(config: ConfigWriter) -> None:
    result = status(env={"OPENSSL_CONF": str(config(fallbak="no"))})
    assert result.returncode == 0
    assert (
        "fallbak = no: neither OpenSSL nor drng knows this key, and it is ignored; did you mean fallback?"
        in result.stderr
    )


def test_a_file_that_is_not_there_is_warned_about(tmp_path: Path) -> None:
    result = status(env={"OPENSSL_CONF": str(tmp_path / "none.cnf")})
    assert f"{tmp_path}/none.cnf: there is no such file" in result.stderr
    assert "drng            not loaded" in result.stdout


def test_an_engine_outranks_the_provider(tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    text = (CONF / "drng.cnf").read_text()
    assert text.count("[openssl_init]\n") == 1
    path.write_text(
        text.replace("[openssl_init]\n", "[openssl_init]\nengines = engine_sect\n")
        + "\n[engine_sect]\nrand_engine = rand_engine_sect\n[rand_engine_sect]\n"
        + f"dynamic_path = {RELEASE.program('rand_engine.so')}\ndefault_algorithms = RAND\n"
    )
    env = {"OPENSSL_CONF": str(path)}
    assert as_json(env=env)["override"] == "ENGINE rand_engine"
    check = status("--check", env=env)
    assert (check.returncode, check.stdout) == (2, "new programs: ENGINE rand_engine outranks every provider\n")


# ---- --prometheus ----

SAMPLE = re.compile(r'(?P<name>[a-z_]+)(?:\{(?P<labels>(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (?P<value>[0-9]+)')


def parse_metrics(text: str) -> dict[str, dict[str, int]]:
    """Name to labels to value; fails at whatever node_exporter would refuse."""
    assert text.endswith("\n")
    metrics: dict[str, dict[str, int]] = {}
    helped: list[str] = []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped.append(line.split(" ", 3)[2])
            continue
        if line.startswith("# TYPE "):
            name, kind = line.split(" ")[2:]
            assert name == helped[-1], "TYPE follows HELP"
            assert name not in metrics, "each metric once, in one piece"
            assert kind in ("counter", "gauge")
            assert (kind == "counter") == name.endswith("_total")
            metrics[name] = {}
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample is not None, line
        assert sample["name"] == helped[-1], "samples follow their TYPE"
        labels = sample["labels"] or ""
        assert labels not in metrics[sample["name"]], "a sample twice"
        metrics[sample["name"]][labels] = int(sample["value"])
    return metrics


def test_prometheus() -> None:
    with target(PINNED) as process:
        process.do("draw 10 16")
        process.do("fork 1")
        one = parse_metrics(status("--prometheus", "--pid", str(process.pid)).stdout)
        everybody = parse_metrics(status("--prometheus").stdout)
    assert sum(one["drng_processes"].values()) == 2
    assert one["drng_processes"].keys() <= everybody["drng_processes"].keys()


# ---- Terminals, and --watch ----


def on_terminal(*arguments: str, env: Mapping[str, str] | None = None) -> str:
    """What it writes to a terminal."""
    here, there = pty.openpty()
    environment = RELEASE.environment({**PINNED, "TERM": "xterm", **(env or {})})
    with subprocess.Popen([str(STATUS), *arguments], stdout=there, env=environment) as process:
        os.close(there)
        text = b""
        with contextlib.suppress(OSError):  # what Linux ends a terminal with
            while part := os.read(here, 4096):
                text += part
        assert process.wait() == 0
    os.close(here)
    return text.decode()


def test_a_table_and_colours_on_a_terminal_alone(machine: Machine) -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        process.do("fork 1")
        table = on_terminal("--pid", str(process.pid))
        colourless = on_terminal("--pid", str(process.pid), env={"NO_COLOR": "1"})
        plain = status("--pid", str(process.pid)).stdout
    assert table.startswith("\x1b[1mPID ")
    heads, *lines = table.splitlines()
    assert heads.endswith("LAST SEED\x1b[0m")
    # A line for each of the two processes, and then what there is to say of them.
    assert [line.count("  ") > 8 for line in lines] == [True, True] + 2 * [False] * bool(machine.remarks)
    assert colourless.startswith("PID ")
    assert "\x1b" not in colourless + plain
    assert plain.startswith(f"pid                     {process.pid}\n")


def test_long_gives_rows_on_a_terminal_too() -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        process.do("fork 1")
        shown = on_terminal("--long", "--pid", str(process.pid), env={"NO_COLOR": "1"}).replace("\r\n", "\n")
        plain = status("--long", "--pid", str(process.pid)).stdout
    rows = [[line.split("  ")[0] for line in text.splitlines()] for text in (shown, plain)]
    assert rows[0] == rows[1]
    assert rows[0].count("pid") == rows[0].count("clone-protection") == 2


def coloured(key: str, text: str) -> str | None:
    """The colour of the value behind this key, if it has one."""
    found = re.search(rf"^{key} +\x1b\[(\d+)m", text, flags=re.M)
    return found and found[1]


def test_colours_are_for_what_serves_and_what_fails(config: ConfigWriter, machine: Machine) -> None:
    """The unit "none" is no bad news."""
    with target(PINNED) as process:
        process.do("draw 1 16")
        good = on_terminal("--pid", str(process.pid))
    assert re.search(r"^unit +none\r$", good, flags=re.M)
    assert coloured("active-source", good) == coloured("state", good) == ("32" if machine.has_instruction else "33")
    with target({"OPENSSL_CONF": str(config(fallback="no")), "OPENSSL_ia32cap": MASKED}) as process:
        assert process.do("draw 1 16") == "failed"
        bad = on_terminal("--pid", str(process.pid))
    assert coloured("active-source", bad) == coloured("state", bad) == coloured("seed-failures", bad) == "31"
    # What a process uses in place of drng has the colour of its state.
    assert (output.colour_of("SOURCE", "none"), output.colour_of("SOURCE", states.USES_NEITHER)) == ("31", None)
    nothing = on_terminal(env=WITHOUT_DRNG)
    assert (coloured("drng", nothing), coloured("mask", nothing)) == ("31", None)


def test_facts_are_told_alike_of_this_environment_and_of_a_process() -> None:
    date = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\d+ s ago\)"
    with target(PINNED) as process:
        process.do("draw 1 16")
        for text in (status().stdout, status("--pid", str(process.pid)).stdout):
            assert re.search(rf"^last-seed +{date}$", text, flags=re.M)
            assert re.search(r"^status +healthy$", text, flags=re.M)


def schema(of: str) -> set[str]:
    """The keys that the manual has for this object."""
    text = (BUILD / "release" / "docs" / "drng-status.1").read_text().replace("\\-", "-")
    part = text.partition(f'.SS "JSON: {of}"\n')[2].partition("\n.S")[0]
    return {key for line in re.findall(r"^\.TP\n\.BR? (.*)$", part, flags=re.M) for key in re.findall(r"[\w-]+", line)}


def generic(keys: Iterable[str]) -> set[str]:
    """With INSTRUCTION in the place of those of this machine."""
    names = "|".join(stats.KNOWN)
    pattern = rf"^(seeds-)?({names})(?=$|-)"
    return {re.sub(pattern, r"\1INSTRUCTION", key) for key in keys}


def test_the_manual_has_every_key_of_json() -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        (answer,) = as_json("--pid", str(process.pid))["processes"]
    assert generic(answer) == schema("a process")
    environment = as_json()
    assert set(environment) == schema("this environment")
    assert generic(environment["cpu"]) == schema("cpu")
    assert answer["status"] == environment["drng"]["status"] == "healthy"
    # What the provider says of itself is in its own manual.
    assert all(re.fullmatch(r"[a-z][a-zA-Z0-9]*(-[a-z0-9]+)*", key) for key in (*answer, *environment))


def names_of_rows(text: str) -> set[str]:
    return {line.split("  ")[0] for line in text.splitlines()}


@pytest.mark.parametrize("profile", ["drng.cnf", "drng-random-provider.cnf", "none.cnf"])
def test_a_row_has_the_name_of_its_key(profile: str) -> None:
    """Under a profile that OpenSSL before 3.5 does not understand, too, and without any."""
    env = {"OPENSSL_CONF": str(CONF / profile)}
    answer, rows = as_json(env=env), names_of_rows(status(env=env).stdout)
    assert rows <= {*answer, *answer["cpu"], *(answer["drng"] or {})}, rows
    assert rows >= {"openssl", "config", "rand-bytes", "model", "mask"}
    assert ("random-provider" in rows) == (profile == "drng-random-provider.cnf")
    with target(env) as process:
        process.do("draw 1 16")
        assert names_of_rows(status("--pid", str(process.pid)).stdout) <= {*process.counters()}


def test_watch_prints_an_object_a_line() -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        command = [str(STATUS), "--watch", "0.05", "--json", "--pid", str(process.pid)]
        with subprocess.Popen(command, env=RELEASE.environment(PINNED), stdout=subprocess.PIPE, text=True) as watch:
            assert watch.stdout is not None
            looks = [json.loads(watch.stdout.readline()) for _ in range(3)]
            watch.kill()
    assert [look["processes"][0]["pid"] for look in looks] == [process.pid] * 3


def test_watch_goes_on_until_it_is_interrupted_or_the_process_ends() -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        command = [str(STATUS), "--watch", "0.05", "--pid", str(process.pid)]

        def watching() -> subprocess.Popen[str]:
            # Python inherits a SIGINT that is ignored, as it is below a shell's "&".
            return subprocess.Popen(
                command,
                env=RELEASE.environment(PINNED),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

        def requests(watch: subprocess.Popen[str]) -> int:
            assert watch.stdout is not None
            return int(next(line for line in watch.stdout if line.startswith("requests ")).split()[1])

        with watching() as watch:
            before = requests(watch)
            process.do("draw 5 16")
            while requests(watch) != before + 5:
                pass
            watch.send_signal(signal.SIGINT)
            watch.communicate(timeout=30)
            assert watch.returncode == 0
        watch = watching()
        requests(watch)
    _, errors = watch.communicate(timeout=30)
    assert watch.returncode == 3
    assert "drng-status: " in errors


def test_arguments_that_do_not_go_together() -> None:
    for arguments in (("--check", "--watch"), ("--json", "--check"), ("--pid", "1", "--all"), ("--watch", "0")):
        assert status(*arguments).returncode == 64, arguments
