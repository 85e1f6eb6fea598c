# SPDX-License-Identifier: Apache-2.0
"""drng-status on living processes and on this environment: what it says, exits with, and does not believe."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import aside, procfs, systemd
from scripts.drng.instructions import INSTRUCTIONS
from scripts.drng.status import environment, look, output, services, stats, verdict
from tests.support.builds import BUILD, CONF, MASKED, RELEASE, ROOT, ConfigWriter, need
from tests.support.machine import kernel_says
from tests.support.servers import (
    NGINX,
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
    assert (family[idle]["state"], family[idle]["begun"]) == ("idle", False)
    assert family[idle]["active-source"] == family[process.pid]["active-source"]


def assert_nothing_serves(pid: int) -> None:
    (process,) = as_json("--pid", str(pid))["processes"]
    assert (process["uses"], process["reason"]) == (verdict.USES_LIBCRYPTO, "module")
    assert "drng refused to load" in process["message"]
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


def test_the_fallback_and_its_reason_are_seen() -> None:
    with target({**PINNED, "OPENSSL_ia32cap": MASKED}) as process:
        process.do("draw 1 16")
        counters = process.counters()
    assert counters["active-source"] == "fallback"
    assert counters["seeds-fallback"] == 1
    assert counters["served-by"] == counters["reason"] == "fallback"
    assert counters["message"].count("masked by OPENSSL_ia32cap") == 2 or "not in this CPU" in counters["message"]


@pytest.mark.usefixtures("hardware")
def test_generators_with_the_seeds_of_others_are_not_called_hardware() -> None:
    """The instruction is there, and nobody has asked drng for a seed."""
    with target(PINNED) as process:
        process.do("draw_under_others 16")
        counters = process.counters()
        check = status("--check", "--pid", str(process.pid))
    assert (counters["requests"] > 0, counters["seeds-rdseed"] + counters["seeds-rdrand"]) == (True, 0)
    assert (counters["served-by"], check.returncode) == ("fallback", 1)
    found = as_json()
    found["drng"] |= {"requests": 1, "seeds-rdseed": 0, "seeds-rdrand": 0}
    assert environment.check_environment(found)[0] == 1


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
    assert (shown["state"], shown["active-source"], check.returncode) == ("served", "rdrand", 0)
    assert "RDRAND serves, by configuration" in check.stdout
    new = status("--check", env=env)
    assert (new.returncode, "RDRAND serves, by configuration" in new.stdout) == (0, True)


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
    assert set(drng) - set(counters) == {"buildinfo"}
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
    assert [(p["uses"], p["state"]) for p in family] == [(verdict.USES_LIBCRYPTO, "idle"), ("drng", "served")]
    assert family[1]["requests"] > 0
    assert (check.returncode, f"drng serves 2 of 2 processes, {hardware}, 1 of them idle" in check.stdout) == (0, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="the example changes its root and its user")
def test_a_master_that_an_openssl_cnf_should_have_given_drng_is_not_excused(tmp_path: Path) -> None:
    with haproxy(tmp_path, {"OPENSSL_CONF": str(tmp_path / "none.cnf")}) as (master, _):
        first, *_ = as_json("--pid", str(master))["processes"]
    assert (first["served-by"], first["reason"]) == ("OpenSSL", "not-readable")


def test_several_are_asked_for_at_once() -> None:
    """Each has its line and its status, the worst first: the last one alone was a hole in monitoring."""
    with target(PINNED) as good, target(WITHOUT_DRNG) as bad:
        good.do("draw 1 16")
        bad.do("draw 1 16")
        for pids in ((good.pid, bad.pid), (bad.pid, good.pid)):
            check = status("--check", "--pid", *map(str, pids))
            lines = check.stdout.splitlines()
            assert (check.returncode, len(lines)) == (2, 2)
            assert [line.split(":")[0] for line in lines] == [f"process {bad.pid}", f"process {good.pid}"]
        units = as_json("--pid", str(good.pid), "--pid", str(bad.pid))["units"]
        gone = status("--check", "--pid", str(good.pid), "2147483647")
    assert [(unit["unit"], unit["status"]) for unit in units] == [(f"process {good.pid}", 0), (f"process {bad.pid}", 2)]
    assert (gone.returncode, gone.stdout.count("\n")) == (3, 2)


def test_one_line_for_each_on_a_terminal_and_in_a_pipe_alike() -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        process.do("fork 1")
        plain = status("--pid", str(process.pid)).stdout
        shown = on_terminal("--pid", str(process.pid)).replace("\r\n", "\n")
        long = status("--long", "--pid", str(process.pid)).stdout
    head, line = plain.splitlines()
    assert re.split(" {2,}", head) == list(output.COLUMNS)
    assert re.split(" {2,}", line)[:3] == [f"process {process.pid}", "2", "drng"] or "fallback" in line
    assert shown == plain
    assert [text.split("  ")[0] for text in long.splitlines()].count("pid") == 2


# ---- Processes without drng, and none ----


def test_a_process_without_libcrypto_is_said_to_be_one() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        (found,) = as_json("--pid", str(process.pid))["processes"]
        check = status("--check", "--pid", str(process.pid))
    assert (found["uses"], found["served-by"], check.returncode) == (verdict.USES_NEITHER, "-", 0)


def test_helpers_without_libcrypto_are_left_out() -> None:
    with subprocess.Popen(["sh", "-c", "cat; true"], stdin=subprocess.PIPE) as process:
        wait_for(lambda: len(procfs.family(process.pid)) == 2, "the shell to start its child")
        family = as_json("--pid", str(process.pid))["processes"]
    assert [(p["pid"], p["uses"]) for p in family] == [(process.pid, "no libcrypto")]


def test_a_process_that_is_not_there() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    result = status("--pid", str(process.pid))
    assert (result.returncode, f"there is no process {process.pid}" in result.stderr) == (3, True)
    check = status("--check", "--pid", str(process.pid))
    assert (check.returncode, "cannot tell" in check.stdout) == (3, True)


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
    assert (result.returncode, check.returncode, everybody.returncode, dropped.returncode) == (3, 3, 0, 3)
    assert "it belongs to root, so only root (CAP_SYS_PTRACE) may read its memory" in result.stderr
    assert re.search(r"not looked at: \d+ process(es)? \(.*\): it belongs to root", everybody.stderr)
    assert "so only root (CAP_SYS_PTRACE) may read its memory" in dropped.stderr


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
        seen = look.inspect(process.pid)
    assert seen.module is None


MEMORY = {
    0: "not locked: a child does not inherit the lock",
    1: "locked",
    2: "not locked: the limit RLIMIT_MEMLOCK is too low",
}


@pytest.mark.parametrize("number", MEMORY)
def test_the_memory_for_secrets_and_why_it_is_not_locked(number: int, tmp_path: Path) -> None:
    with holding(build_module(tmp_path, forged(memory=number))) as pid:
        assert as_json("--pid", str(pid))["processes"][0]["memory"] == MEMORY[number]


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
        forms = [status(*form, "--pid", str(pid)) for form in (("--json",), ("--prometheus",))]
        check = status("--check", "--pid", str(pid))
    for result in forms:
        assert (result.returncode, "Traceback" in result.stderr) == (3, False)
        assert f"process {pid} (python3" in result.stderr
    counts = parse_metrics(forms[1].stdout)
    assert sum(counts["drng_processes"].values()) == 1
    assert not any(counts["drng_memory_processes"].values()), "no number of what cannot be read"
    assert (check.returncode, check.stdout.startswith(f"process {pid}: not known")) == (3, True)


def test_the_counters_have_the_names_and_the_order_of_the_module_s() -> None:
    code = (ROOT / "mixing/machine/counters.h").read_text()
    lists = re.findall(r"#define DRNG_(\w+)_COUNTERS\(COUNTER\)((?:.*\\\n)+.*)", code)
    names = {which: tuple(re.findall(r'COUNTER\(\w+, "([\w-]+)"\)', rows)) for which, rows in lists}
    kinds = (("INSTRUCTION", stats.OF_INSTRUCTION), ("SEED", stats.OF_SEEDS), ("FAMILY", stats.OF_FAMILY))
    assert names == {**dict(kinds), "OTHER": stats.OF_ALL}


# The last result of each instruction, the answer of --check, and what it says.
LAST = [
    ({"source": 3, "fallback": 1, "rdseed": 0, "rdrand_last": 2, "rdrand_words": 4100}, 1, "RDRAND: too slow (4,100"),
    ({"source": 3, "fallback": 1, "rdseed": 0, "rdseed_last": 3, "rdseed_words": 7}, 1, "RDSEED: dry (7 words"),
    ({"self_tests_failed": 1, "self_test_failed": b"VAES-512"}, 1, "VAES-512 gave a wrong answer"),
    ({"seeds_without_kernel": 2}, 1, "2 seeds without bytes of the kernel"),
    ({"refused_calls": 3}, 1, "3 draws were refused"),
    ({"rdseed_last": 1, "rdseed_words": 8}, 0, "drng serves"),
    # Another instruction serves; a forked child has found it, and ended.
    ({"reason": b"RDSEED: disabled after failed health tests", "source": 2}, 1, "RDSEED has failed its health tests"),
    ({"family": (3, 2, 0, 0, 0, 0, 0, 0)}, 1, "RDSEED has failed its health tests in a process of this family"),
    ({"family": (3, 0, 1, 9, 0, 0, 0, 0)}, 0, "drng serves"),
]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="of the instructions of x86-64")
@pytest.mark.parametrize(("changes", "expected", "words"), LAST, ids=str)
def test_what_the_module_knows_of_an_instruction_reaches_monitoring(
    changes: dict[str, Any], expected: int, words: str, tmp_path: Path
) -> None:
    with holding(build_module(tmp_path, forged(layout=stats.LAYOUT, **changes))) as pid:
        check = status("--check", "--pid", str(pid))
        process = as_json("--pid", str(pid))["processes"][0]
        counts = parse_metrics(status("--prometheus", "--pid", str(pid)).stdout)
    assert (check.returncode, words in check.stdout) == (expected, True), check.stdout
    failed = [labels for labels, count in counts["drng_instruction_denied_processes"].items() if count]
    assert any('reason="health"' in labels for labels in failed) == ("health tests" in words)
    assert sum(counts["drng_seeds_without_kernel_bytes_total"].values()) == changes.get("seeds_without_kernel", 0)
    assert sum(counts["drng_self_test_failed_processes"].values()) == changes.get("self_tests_failed", 0)
    last = stats.LAST_RESULTS[changes.get("rdrand_last", 0)]
    assert (process["rdrand-last-result"], process["rdrand-last-words"]) == (last, changes.get("rdrand_words", 0))


def test_a_text_cannot_command_the_terminal(tmp_path: Path) -> None:
    content = forged(reason=b"\x1b]0;title\x07\x1b[2J", version=b"\xff\x9b31m", clone_reason=b"\x1b[2J", **UNPROTECTED)
    with holding(build_module(tmp_path, content)) as pid:
        result = status("--long", "--pid", str(pid))
    assert result.returncode == 0
    assert all(character == "\n" or 32 <= ord(character) < 127 for character in result.stdout)
    assert "\\x1b]0;title\\x07" in result.stdout


def test_times_that_no_calendar_has(tmp_path: Path) -> None:
    last = (1 << 64) - 1
    with holding(build_module(tmp_path, forged(loaded=last, last_seed=1 << 40))) as pid:
        result = status("--long", "--pid", str(pid))
    assert (result.returncode, result.stdout.count("which is no date")) == (0, 2), result.stderr


# ---- Clones of the machine ----


@pytest.mark.parametrize(("number", "name"), enumerate(("none", "kernel", "instruction", "counter")))
@pytest.mark.parametrize("virtual", [0, 1])
def test_what_keeps_clones_apart_is_in_every_form(number: int, name: str, virtual: int, tmp_path: Path) -> None:
    content = forged(clone_protection=number, virtual_machine=virtual, clone_reason=b"because", clone_reseeds=5)
    with holding(build_module(tmp_path, content)) as pid:
        text = status("--long", "--pid", str(pid)).stdout
        counts = parse_metrics(status("--prometheus", "--pid", str(pid)).stdout)
        process = as_json("--pid", str(pid))["processes"][0]
        check = status("--check", "--pid", str(pid))
    assert re.search(rf"^clone-protection +{name}: because$", text, flags=re.M)
    assert (process["clone-protection"], process["clone-reason"], process["clone-reseeds"]) == (name, "because", 5)
    assert process["virtual-machine"] is bool(virtual)
    warned = virtual == 1 and name == "none"
    assert list(counts["drng_unprotected_processes"].values()) == [int(warned)]
    for said in (process["message"], check.stdout):
        assert ("copies of this machine may draw the same bytes: because" in said) == warned
    assert check.returncode == int(warned)


def test_the_environment_is_warned_of_clones(config: ConfigWriter) -> None:
    """Where this is a virtual machine; without the words in each request, and without vmclock, nothing is left."""
    env = {"OPENSSL_CONF": str(config(request_mixing="no"))}
    answer = as_json(env=env)
    drng = answer["drng"]
    if drng["clone-protection"] == "counter":
        pytest.skip("this machine has a vmclock")
    with target(env) as process:
        process.do("draw 1 16")
        counters = process.counters()
    keys = ("virtual-machine", "clone-protection", "clone-reseeds")
    assert [drng[key] for key in keys] == [counters[key] for key in keys]
    alike = "copies of this machine may draw the same bytes"
    for said in ("; ".join(answer["warnings"]), status("--check", env=env).stdout):
        assert (alike in said) == drng["virtual-machine"]


# ---- --check ----


def test_check_of_who_serves(hardware: str, config: ConfigWriter) -> None:
    """New programs and a process with a child, in each of the ways."""
    masked, nothing = {**PINNED, "OPENSSL_ia32cap": MASKED}, {"OPENSSL_CONF": str(config(fallback="no"))}
    for env, expected, words in (
        (PINNED, 0, f"drng serves 2 of 2 processes, {hardware}"),
        (masked, 1, "the fallback serves 2 of 2 processes: "),
        (WITHOUT_DRNG, 2, "OpenSSL serves 2 of 2 processes: "),
        ({**nothing, "OPENSSL_ia32cap": MASKED}, 2, "nothing serves "),
    ):
        new = status("--check", env=env)
        assert (new.returncode, new.stdout.count("\n")) == (expected, 1), new.stdout
        assert new.stdout.startswith("new programs: ")
        with target(env) as process:
            process.do("draw 1 16")
            if "nothing" not in words:
                process.do("fork 1")
            check = status("--check", "--pid", str(process.pid))
        assert check.returncode == expected
        assert check.stdout.startswith(f"process {process.pid}: {words}"), check.stdout


def test_a_healthy_idle_server_is_green_and_says_so() -> None:
    with target(PINNED) as process:
        process.do("fork 0")
        check = status("--check", "--pid", str(process.pid))
        units = as_json("--pid", str(process.pid))["units"]
    assert check.returncode == 0, check.stdout
    assert check.stdout.startswith(f"process {process.pid}: idle: no request yet")
    assert units[0]["note"].split("; ")[0] == "idle: no request yet"


def test_drng_that_is_loaded_and_never_drawn_from_is_not_said_to_serve(tmp_path: Path) -> None:
    """The configuration activates drng and has no line "random =", so OpenSSL's own generator serves."""
    config = tmp_path / "openssl.cnf"
    config.write_text(
        "openssl_conf = init\n[init]\nproviders = p\n[p]\ndefault = d\ndrng = e\n[d]\nactivate = 1\n[e]\nactivate = 1\n"
    )
    with target({"OPENSSL_CONF": str(config)}) as process:
        process.do("draw 1 16")
        counters = process.counters()
        check = status("--check", "--pid", str(process.pid))
    assert (counters["requests"], counters["reason"], check.returncode) == (0, "not-asked", 3)


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
    assert services.members_of("web") == [11, 12, 13]


def test_more_control_groups_than_anybody_can_go_through(systemctl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (systemctl / "web").write_text("MainPID=11\nLoadState=loaded\nControlGroup=/web.service\n")
    monkeypatch.setattr(services, "cgroup_members", lambda _: time.sleep(5))
    monkeypatch.setattr(aside, "SECONDS", 0.1)
    with pytest.raises(procfs.TargetError, match="web cannot be gone through: no answer within"):
        services.members_of("web")


def test_a_service_without_a_control_group_is_its_main_process_and_its_children(systemctl: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        (systemctl / "web").write_text(f"MainPID={os.getpid()}\nLoadState=loaded\nControlGroup=\n")
        assert {os.getpid(), child.pid} <= set(services.members_of("web"))


@pytest.mark.parametrize("name", ("", "-H", "nginx*", "a b", "../a", "a\n", "a\x1b", "x" * 256))
def test_what_is_no_name_of_a_service_is_not_asked_about(systemctl: Path, name: str) -> None:
    with pytest.raises(procfs.TargetError, match="is not the name of a service"):
        services.members_of(name)


def test_a_service_that_is_unknown_or_not_running(systemctl: Path) -> None:
    (systemctl / "unknown").write_text("MainPID=0\nLoadState=not-found\nControlGroup=\n")
    (systemctl / "stopped").write_text("MainPID=0\nLoadState=loaded\nControlGroup=\n")
    with pytest.raises(procfs.TargetError, match="systemd knows no service unknown"):
        services.members_of("unknown")
    assert services.members_of("stopped") == []
    with pytest.raises(procfs.TargetError, match="systemctl gives no answer about missing"):
        services.members_of("missing")


# ---- The environment ----


@pytest.mark.parametrize("profile", ["drng.cnf", "drng-permissive.cnf"])
def test_a_module_that_does_not_load_is_named(profile: str, tmp_path: Path) -> None:
    """Nobody else does: libcrypto drops the error."""
    env = {"OPENSSL_CONF": str(ROOT / "conf" / profile), "OPENSSL_MODULES": str(tmp_path)}
    check = status("--check", env=env)
    assert check.returncode == 2
    assert f"drng did not load: could not load the shared library: {tmp_path}/drng.so: " in check.stdout
    (tmp_path / "openssl.cnf").write_text((ROOT / "conf" / profile).read_text() + "[drng_sect]\nfallback = maybe\n")
    check = status("--check", env={"OPENSSL_CONF": str(tmp_path / "openssl.cnf")})
    assert (check.returncode, "fallback = maybe" in check.stdout) == (2, True)


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


def test_the_environment_as_it_is(hardware: str) -> None:
    answer = as_json()
    assert (answer["config"], answer["served-by"]) == (PINNED["OPENSSL_CONF"], "drng")
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


def test_what_is_wrong_with_the_file_is_warned_of(config: ConfigWriter, tmp_path: Path) -> None:
    assert "did you mean fallback?" in status(env={"OPENSSL_CONF": str(config(fallbak="no"))}).stderr
    result = status(env={"OPENSSL_CONF": str(tmp_path / "none.cnf")})
    assert f"{tmp_path}/none.cnf: No such file" in result.stderr
    assert "drng            not loaded" in result.stdout


# ---- Advice is followed ----

BITS = {"RDRAND": {62}, "RDSEED": {64 + 18}, "both": {62, 64 + 18}}
MASKS = {
    names: mask
    for mask, names in re.findall(
        r"^\| `OPENSSL_ia32cap='([^']+)'` \| (\w+) \|", (ROOT / "docs/platforms.md").read_text(), flags=re.M
    )
}


SETTINGS = """
import ctypes
lib = ctypes.CDLL("libcrypto.so.3")
lib.OPENSSL_info.restype = ctypes.c_char_p
print(lib.OPENSSL_info(1008).decode())
"""


def announced(mask: str | None) -> set[int]:
    """The bits of all words that libcrypto takes for true under this mask; it has two, and five since 3.4."""
    env = {"OPENSSL_ia32cap": mask} if mask else {}
    result = subprocess.run([SYSTEM_PYTHON, "-c", SETTINGS], env=env, capture_output=True, text=True, check=True)
    words = result.stdout.partition("=")[2].split()[0].split(":")
    return {64 * i + bit for i, word in enumerate(words) for bit in range(64) if int(word, 16) >> bit & 1}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a mask of x86-64")
@pytest.mark.parametrize("names", MASKS)
def test_a_mask_that_is_advised_hides_what_it_names_and_nothing_else(names: str) -> None:
    """Without the second word libcrypto had lost SHA, AVX2 and RDSEED; without the last three, AVX-512."""
    assert announced(MASKS[names]) == announced(None) - BITS[names]
    answer = as_json(env={**PINNED, "OPENSSL_ia32cap": MASKS[names]})
    for name in ("rdseed", "rdrand"):
        is_named = names in (name.upper(), "both")
        assert answer["cpu"][name]["masked"] == (is_named and answer["cpu"][name]["in-cpu"])
    assert answer["rand-bytes"]


@pytest.mark.usefixtures("hardware")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="a mask of x86-64")
def test_rdseed_serves_where_rdrand_is_masked_as_advised() -> None:
    answer = as_json(env={**PINNED, "OPENSSL_ia32cap": MASKS["RDRAND"]})
    if answer["cpu"]["rdseed"]["drng"] != "may serve":
        pytest.skip("this CPU has no RDSEED that may serve")
    assert answer["drng"]["active-source"] == "rdseed"


def test_the_pages_advise_the_same_masks() -> None:
    said = {
        mask for page in (ROOT / "docs").glob("*.md") for mask in re.findall(r"ia32cap='([^']+)'", page.read_text())
    }
    assert said == set(MASKS.values()) and MASKS.keys() == BITS.keys()


def test_an_instruction_that_the_kernel_has_switched_off_is_named_with_the_key() -> None:
    """drng reads /proc/cpuinfo for listed parts alone."""
    cpu = {name: {"in-cpu": True, "kernel": True, "drng": "may serve"} for name in INSTRUCTIONS}
    assert environment.against_the_kernel(cpu) == []
    first, *_ = cpu
    cpu[first]["kernel"] = False
    (said,) = environment.against_the_kernel(cpu)
    (other,) = set(cpu) - {first}
    assert f"source = {other}" in said
    assert environment.against_the_kernel({**cpu, first: {**cpu[first], "drng": "switched off by the kernel"}}) == []


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
    assert (check.returncode, check.stdout) == (
        2,
        "new programs: drng is not in use: ENGINE rand_engine outranks every provider\n",
    )


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


# ---- Terminals ----


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


def schema(of: str) -> set[str]:
    """The keys that the manual has for this object."""
    text = (BUILD / "release" / "docs" / "drng-status-json.5").read_text().replace("\\-", "-")
    part = text.partition(f".SS {of.capitalize()}\n")[2].partition("\n.S")[0]
    return {key for line in re.findall(r"^\.TP\n\.BR? (.*)$", part, flags=re.M) for key in re.findall(r"[\w-]+", line)}


def generic(keys: Iterable[str]) -> set[str]:
    """With INSTRUCTION in the place of those of this machine."""
    names = "|".join(stats.KNOWN)
    pattern = rf"^(seeds-)?({names})(?=$|-)"
    return {re.sub(pattern, r"\1INSTRUCTION", key) for key in keys}


def test_the_manual_has_every_key_of_json() -> None:
    with target(PINNED) as process:
        process.do("draw 1 16")
        found = as_json("--pid", str(process.pid))
    (answer,), (unit,) = found["processes"], found["units"]
    assert set(unit) == schema("a unit")
    assert generic(answer) <= schema("a process")
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
    with target(env) as process:
        process.do("draw 1 16")
        assert names_of_rows(status("--long", "--pid", str(process.pid)).stdout) <= {*process.counters()}
