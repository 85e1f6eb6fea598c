# SPDX-License-Identifier: Apache-2.0
"""drng-status on living processes and on this environment: what it says, exits with, and does not believe."""

import contextlib
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import procfs, systemd
from scripts.drng.status import command, look, metrics, output, services, stats, verdict
from scripts.drng.status.sources import Source
from scripts.drng.terminal import Failure
from tests.hostile.fake_proc import FakeProcess, module, module_maps, replaced_proc, write
from tests.support.builds import BUILD, CONF, MASKED, RELEASE, ROOT, ConfigWriter, need, said_by
from tests.support.servers import (
    NGINX,
    SYSTEM_PYTHON,
    free_ports,
    make_certificate,
    new_site,
    running,
    wait_for,
)
from tests.support.stats import LIVE_OFFSET, forged, made_up, without_drng
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

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user, or change its root")
x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="of the instructions and masks of x86-64")

EMPTY = "openssl_conf = init\n[init]\nproviders = p\n[p]\ndefault = d\ndrng = e\n[d]\nactivate = 1\n[e]\nactivate = 1\n"


@contextlib.contextmanager
def drawing(env: Mapping[str, str] = PINNED, order: str = "draw 1 16") -> Iterator[Target]:
    with target(env) as process:
        process.do(order)
        yield process


def seen(pid: int) -> dict[str, Any]:
    return as_json("--pid", str(pid))["processes"][0]


def check(pid: int) -> tuple[int, str]:
    result = status("--check", "--pid", str(pid))
    return result.returncode, result.stdout


# ---- Living processes ----


def test_what_a_process_draws_is_counted() -> None:
    with drawing() as process:
        before = process.counters()
        process.do("draw 1000 16")
        after = process.counters()
        process.do("threads 20 500")
        threads = process.counters()
    # At 256 requests a public generator of libcrypto's is not due, so nothing else was drawn.
    assert after["requests"] - before["requests"] == 1000
    assert after["bytes"] - before["bytes"] == 16000
    assert after["seeds-rdseed"] + after["seeds-rdrand"] + after["seeds-fallback"] == 1
    assert time.time() - 60 < after["last-seed"] <= time.time()
    assert before["last-seed"] == after["last-seed"]
    assert after["libcrypto"].startswith("OpenSSL 3")
    # Threads that have ended are still counted. Each one's generator takes a seed of the primary's; with every 256th of
    # them the primary is due itself.
    assert 20 <= threads["requests"] - after["requests"] - 20 * 500 <= 30
    assert threads["bytes"] - after["bytes"] > 20 * 500 * 16


def test_children_count_for_themselves() -> None:
    with drawing(order="draw 100 16") as process:
        drawn, idle = int(process.do("fork 3")), int(process.do("fork 0"))
        family = {p["pid"]: p for p in as_json("--pid", str(process.pid))["processes"]}
        long = status("--long", "--pid", str(process.pid)).stdout
        both = as_json("--pid", str(process.pid), str(drawn))["processes"]
    assert list(family) == [process.pid, drawn, idle]
    assert [each["pid"] for each in both] == [*family], "and once, by whatever number it is asked for"
    assert family[process.pid]["requests"] >= 100
    # The primary's seed for the public generator, and three draws.
    assert [family[drawn][key] for key in ("requests", "fork-reseeds")] == [4, 2]
    assert [family[idle][key] for key in ("requests", "state")] == [0, "idle"]
    assert family[idle]["active-source"] == family[process.pid]["active-source"]
    assert [text.split("  ")[0] for text in long.splitlines()].count("pid") == 3


@pytest.mark.parametrize("how", ["unloaded", "refused"])
def test_a_module_that_stays_in_memory_and_serves_nothing(how: str, tmp_path: Path) -> None:
    """It has been unloaded, or has refused its configuration."""
    config = tmp_path / "openssl.cnf"
    config.write_text((CONF / "drng-permissive.cnf").read_text() + "\n[drng_sect]\nfallback = perhaps\n")
    with drawing(WITHOUT_DRNG if how == "unloaded" else {"OPENSSL_CONF": str(config)}) as process:
        assert how == "refused" or process.do("load_and_unload") == "unloaded"
        shown, (result, _) = seen(process.pid), check(process.pid)
    assert (shown["served-by"] != "drng", shown["reason"], result) == (True, "module", 2)
    assert "drng refused to load" in shown["message"]


def test_the_fallback_and_its_reason_are_seen() -> None:
    with drawing({**PINNED, "OPENSSL_ia32cap": MASKED}) as process:
        counters = process.counters()
    assert (counters["active-source"], counters["seeds-fallback"]) == ("fallback", 1)
    assert counters["served-by"] == counters["reason"] == "fallback"
    assert counters["message"].count("masked by OPENSSL_ia32cap") == 2 or "not in this CPU" in counters["message"]


@pytest.mark.usefixtures("hardware")
def test_generators_with_the_seeds_of_others_are_not_called_hardware() -> None:
    """The instruction is there, and nobody has asked drng for a seed."""
    with drawing(order="draw_under_others 16") as process:
        counters, (result, _) = process.counters(), check(process.pid)
    assert (counters["requests"] > 0, counters["seeds-rdseed"] + counters["seeds-rdrand"]) == (True, 0)
    assert (counters["served-by"], result) == ("fallback", 1)


@x86_64
@pytest.mark.usefixtures("hardware")
def test_rdrand_that_is_to_serve_alone_is_no_alarm(tmp_path: Path) -> None:
    """It takes no seed, since openssl.cnf says so: nothing fell back."""
    config = tmp_path / "rdrand-alone.cnf"
    config.write_text((CONF / "drng.cnf").read_text().replace("\nrandom = CTR-DRBG", "\nrandom = RDRAND"))
    with drawing({"OPENSSL_CONF": str(config)}, "draw 3 16") as process:
        shown, (result, said) = seen(process.pid), check(process.pid)
    assert (shown["state"], shown["active-source"], result) == ("served", "rdrand", 0)
    new = status("--check", env={"OPENSSL_CONF": str(config)})
    assert new.returncode == 0
    assert all("RDRAND serves, by configuration" in words for words in (said, new.stdout))


@needs_root
def test_a_server_in_a_chroot_is_read_and_not_blamed_for_what_is_not_there() -> None:
    """Neither the module nor the configuration is to be seen where it is now."""
    with drawing(order="draw 3 16") as process:
        before = process.counters()
        assert process.do("change_root 1") == "changed"
        after = process.counters()
    assert after["requests"] == before["requests"] > 3
    assert after["message"] == before["message"]


def test_the_provider_and_the_counters_say_the_same() -> None:
    """A process, and one that asks libcrypto for the provider's parameters, have the same words for the same things."""
    with drawing() as process:
        counters = process.counters()
    drng = RELEASE.probe(CONF / "drng.cnf")["drng"]
    assert set(drng) - set(counters) == {"asked", "buildinfo", "forks", "last-self-test", "status"}
    for name in ("version", "aes-implementation", "active-source", "disabled-reason", "reseeds"):
        assert counters[name] == drng[name], name


def test_a_real_server_and_its_workers() -> None:
    with new_site() as site, running(NGINX, site, RELEASE.environment(PINNED)) as server:
        for _ in range(3):
            url = f"https://127.0.0.1:{site.ports['ec']}/"
            assert subprocess.run([need("curl"), "-sk", url], capture_output=True, check=False).returncode == 0
        master, *workers = as_json("--pid", str(server.process.pid))["processes"]
    assert "requests" in master
    assert any(worker["requests"] > 0 and worker["fork-reseeds"] > 0 for worker in workers)


@needs_root
def test_a_haproxy_that_loads_drng_by_itself(tmp_path: Path) -> None:
    """Its workers have drng, and its master, which has used libcrypto and reads no file that names drng, has not."""
    certificate, key = make_certificate(tmp_path)
    (tmp_path / "both.pem").write_text(key.read_text() + certificate.read_text())
    (port,) = free_ports(1)
    text = (CONF / "haproxy" / "ssl-provider.cfg").read_text()
    for old, new in (
        ("/run/haproxy-drng.sock", f"{tmp_path}/sock"),
        ("/etc/ssl/private/drng-haproxy.pem", f"{tmp_path}/both.pem"),
        ("127.0.0.1:8445", f"127.0.0.1:{port}"),
    ):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "haproxy.cfg").write_text(text)
    command = [need("haproxy"), "-W", "-f", str(tmp_path / "haproxy.cfg")]
    with subprocess.Popen(command, env=RELEASE.environment({}), stderr=subprocess.DEVNULL) as master:
        fetch = [need("curl"), "-skf", "-o", "/dev/null", f"https://127.0.0.1:{port}/"]
        wait_for(lambda: subprocess.run(fetch).returncode == 0, "HAProxy")
        family = as_json("--pid", str(master.pid))["processes"]
        master.terminate()
    assert [("requests" in p, p["reason"]) for p in family] == [(False, "not-named"), (True, "")]
    assert family[1]["requests"] > 0


def test_several_are_asked_for_at_once() -> None:
    """Each has its line and its status, the worst first: the last one alone was a hole in monitoring."""
    with drawing() as good, drawing(WITHOUT_DRNG) as bad:
        for pids in ((good.pid, bad.pid), (bad.pid, good.pid)):
            result = status("--check", "--pid", *map(str, pids))
            labels = [line.split(":")[0] for line in result.stdout.splitlines()]
            assert (result.returncode, labels) == (2, [f"process {bad.pid}", f"process {good.pid}"])
        shown = status("--pid", str(good.pid), "--pid", str(bad.pid)).stdout
        gone = status("--check", "--pid", str(good.pid), "2147483647")
    assert sorted(shown.splitlines()) == sorted(result.stdout.splitlines())
    assert [line.split(":")[0] for line in shown.splitlines()] == [f"process {good.pid}", f"process {bad.pid}"]
    assert (gone.returncode, gone.stdout.count("\n")) == (3, 2)


def test_all_units_are_shown_and_those_that_name_drng_are_checked() -> None:
    processes = [made_up(1), made_up(2, unit="b.service"), without_drng(3, unit="c.service")]
    lines = [group.checked()[1] for group in output.by_unit(processes)]
    served = "drng serves 1 of 1 processes, rdseed"
    assert lines[:2] == [f"a: {served}", f"b: {served}"]
    assert lines[2].startswith("c: OpenSSL serves 1 of 1 processes: no openssl.cnf")
    assert lines[2].endswith("names drng; use `drng-enable on c`")
    unknown = replace(without_drng(4, unit="d.service"), reason="elsewhere")
    assert [line.split(":")[0] for _, line in output.check_all([*processes, unknown])] == ["a", "b"]


# ---- Processes without drng, and none ----


def test_processes_without_libcrypto() -> None:
    """The one that was asked for is shown; its helpers, as munin-node's that loads libcrypto in a child, are left out,
    and none is an alarm."""
    with subprocess.Popen(["sh", "-c", "cat; true"], stdin=subprocess.PIPE) as process:
        wait_for(lambda: len(procfs.family(process.pid)) == 2, "the shell to start its child")
        found, (result, said) = as_json("--pid", str(process.pid)), check(process.pid)
    (shown,) = found["processes"]
    assert (shown["pid"], shown["libcryptos"], shown["served-by"]) == (process.pid, [], "-")
    assert (result, "no libcrypto in any process now" in said) == (0, True)


def test_a_process_that_is_not_there() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    result = status("--pid", str(process.pid))
    assert (result.returncode, f"process {process.pid}: it has ended" in result.stderr) == (3, True)
    assert check(process.pid)[0] == 3


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


AS_NOBODY: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def as_nobody(copy: Path, *arguments: str) -> Result:
    command = [str(copy), *arguments]
    return subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, timeout=60, **AS_NOBODY)


@needs_root
def test_the_missing_permission_is_named(public_copy: Path) -> None:
    with drawing() as process:
        forms = ["--pid", str(process.pid)], ["--check", "--pid", str(process.pid)], ["--all"]
        result, checked, everybody = (as_nobody(public_copy, *arguments) for arguments in forms)
        # Not even its own user may look at what has given up privileges.
        process.do(f"change_user {NOBODY}")
        dropped = as_nobody(public_copy, "--pid", str(process.pid))
    assert [each.returncode for each in (result, checked, everybody, dropped)] == [3, 3, 0, 3]
    assert "it belongs to root, so only root (CAP_SYS_PTRACE) may read its memory" in result.stderr
    assert re.search(r"not looked at: \d+ process(es)? \(.*\): it belongs to root", everybody.stderr)
    assert "so only root (CAP_SYS_PTRACE) may read its memory" in dropped.stderr


@needs_root
def test_ones_own_processes_need_no_permission(public_copy: Path) -> None:
    with subprocess.Popen([SYSTEM_PYTHON, "-c", "import time; time.sleep(60)"], cwd="/", **AS_NOBODY) as process:
        wait_for(lambda: Path(f"/proc/{process.pid}/comm").read_text().startswith("python"), "the program to start")
        result = as_nobody(public_copy, "--pid", str(process.pid))
        process.kill()
    assert result.returncode == 0, result.stderr


# ---- Modules ----

LINKED = {
    "as it is": [],
    "in one segment with the code": ["-Wl,-z,noseparate-code"],
    "with its dynamic section far away": ["-Wl,-z,norelro"],
    "stripped": ["-s"],
}


@pytest.mark.parametrize("flags", LINKED.values(), ids=LINKED.keys())
def test_the_counters_are_found_however_the_module_is_linked(tmp_path: Path, flags: list[str]) -> None:
    """In one that has been removed, too."""
    module = build_module(tmp_path, forged(), *flags)
    with holding(module) as pid:
        shown = seen(pid)
        module.unlink()
        removed = seen(pid)
    assert (shown["active-source"], shown["message"]) == ("rdseed", "")
    assert (shown["requests"], shown["bytes"], removed["requests"]) == (3, 48, 3)


def test_of_several_modules_the_first_that_can_be_read_counts(tmp_path: Path) -> None:
    modules = [build_module(tmp_path / str(i), content) for i, content in enumerate((bytes(512), forged(), forged()))]
    with holding(*modules) as pid:
        shown = seen(pid)
    assert shown["requests"] == 3


def test_a_file_of_that_name_that_is_only_read_is_no_module(tmp_path: Path) -> None:
    """What a backup or a debugger does."""
    module = build_module(tmp_path, forged())
    code = "import mmap, sys; f = open(sys.argv[1], 'rb'); m = mmap.mmap(f.fileno(), 0, prot=1)"
    command = [SYSTEM_PYTHON, "-c", code + "; print('held', flush=True); input()", str(module)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        found = look.inspect(process.pid)
    assert not found.counters and not found.uncounted


# ---- Counters, of a process in a /proc of the test's own ----

Counting = Callable[..., verdict.Process]


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[Counting]:
    """A process whose drng.so has these counters, or this in their place, as it is judged."""
    with replaced_proc(tmp_path) as proc:

        def judged(content: bytes | None = None, **changes: Any) -> verdict.Process:
            image = module(forged(**changes) if content is None else content)
            write(proc, 7, FakeProcess(maps=module_maps(len(image)), image=image))
            return verdict.judge(look.inspect(7), None, Source("/x", True), 0.0)

        yield judged


def counts(process: verdict.Process) -> dict[str, int]:
    """The sums of the metrics, by their names and the labels that are not 0."""
    found: dict[str, int] = {}
    for name, _, value in (
        line.rpartition(" ") for line in metrics.metrics_of([process]).splitlines() if line[0] != "#"
    ):
        found[name.partition("{")[0]] = found.get(name.partition("{")[0], 0) + int(value)
    return found


GARBAGE = {
    "zeros": bytes(8192),
    "ones": b"\xff" * 256,
    "noise": struct.pack("=4096H", *((i * 40503) & 0xFFFF for i in range(4096))),
    "an older layout": forged(layout=1),
    "a newer layout": forged(layout=stats.LAYOUT + 1),
    "counters that are not filled in yet": forged(layout=0),
    "no instruction": forged(instruction_count=0),
    "two instructions of one name": forged(names=(b"rdseed", b"rdseed")),
    "an instruction named to do harm": forged(names=(b"rdseed", b"a\nb 1")),
    "an instruction named as another counter": forged(names=(b"fallback", b"rdseed")),
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
def test_garbage_is_not_believed(content: bytes, counting: Counting) -> None:
    process = counting(content)
    assert (process.served_by, process.counters, bool(process.why)) == (verdict.NOT_KNOWN, {}, True)
    result, line = output.Group("x", [process]).checked()
    assert (result, line[:21]) == (3, "x: not known who serv")
    found = counts(process)
    assert found["drng_processes"] == 1
    assert not found["drng_memory_processes"], "no number of what cannot be read"


def test_what_cannot_be_read_is_3_in_every_form(tmp_path: Path) -> None:
    with holding(build_module(tmp_path, forged(layout=1))) as pid:
        for form in ("--json", "--prometheus", "--long"):
            result = status(form, "--pid", str(pid))
            assert (result.returncode, f"process {pid} (python3" in result.stderr) == (3, True)
        assert check(pid)[0] == 3


def test_the_counters_have_the_names_and_the_order_of_the_module_s() -> None:
    code = (ROOT / "mixing/machine/counters.h").read_text()
    lists = re.findall(r"#define DRNG_(\w+)_COUNTERS\(COUNTER\)((?:.*\\\n)+.*)", code)
    names = {which: tuple(re.findall(r'COUNTER\(\w+, "([\w-]+)"\)', rows)) for which, rows in lists}
    kinds = (("INSTRUCTION", stats.OF_INSTRUCTION), ("SEED", stats.OF_SEEDS), ("FAMILY", stats.OF_FAMILY))
    assert names == {**dict(kinds), "OTHER": stats.OF_ALL}


# What is in the counters, the answer of --check, and what it says.
KNOWN = [
    ({"source": 3, "fallback": 1, "rdseed": 0, "rdrand_last": 2, "rdrand_words": 4100}, 1, "RDRAND: too slow (4,100"),
    ({"source": 3, "fallback": 1, "rdseed": 0, "rdseed_last": 3, "rdseed_words": 7}, 1, "RDSEED: dry (7 words"),
    ({"self_tests_failed": 1, "self_test_failed": b"VAES-512"}, 1, "VAES-512 gave a wrong answer"),
    ({"seeds_without_kernel": 2}, 1, "2 seeds without bytes of the kernel"),
    ({"refused_calls": 3}, 1, "3 draws were refused"),
    ({"rdseed_last": 1, "rdseed_words": 8}, 0, "drng serves"),
    # Another instruction serves; a forked child has found it, and ended.
    ({"rdseed_last": 4, "source": 2}, 1, "RDSEED has failed its health tests"),
    ({"family": (3, 2, 0, 0, 0, 0, 0, 0)}, 1, "RDSEED has failed its health tests in this family"),
    ({"family": (3, 0, 1, 9, 0, 0, 0, 0)}, 0, "drng serves"),
]


@x86_64
@pytest.mark.parametrize(("changes", "expected", "words"), KNOWN, ids=str)
def test_what_the_module_knows_reaches_monitoring(
    changes: dict[str, Any], expected: int, words: str, counting: Counting
) -> None:
    process = counting(**changes)
    result, line = output.Group("x", [process]).checked()
    assert (result, words in line) == (expected, True), line
    text, found = metrics.metrics_of([process]), counts(process)
    assert bool(re.search(r"disabled_processes\{.*\} 1", text)) == ("health tests" in words)
    assert found["drng_seeds_without_kernel_bytes"] == changes.get("seeds_without_kernel", 0)
    assert found["drng_self_test_failed_processes"] == changes.get("self_tests_failed", 0)
    shown = output.process_json(process)
    last = stats.LAST_RESULTS[changes.get("rdrand_last", 0)]
    assert (shown["rdrand-last-result"], shown["rdrand-last-words"]) == (last, changes.get("rdrand_words", 0))


def test_the_memory_for_secrets_and_why_it_is_not_locked(counting: Counting) -> None:
    said = [counting(memory=number).counters["memory"] for number in range(3)]
    assert said[1] == "locked"
    assert [said[0][:28], said[2][:33]] == ["not locked: a child does not", "not locked: the limit RLIMIT_MEML"]


@pytest.mark.parametrize(("number", "name"), enumerate(("none", "kernel", "instruction", "counter")))
@pytest.mark.parametrize("virtual", [0, 1])
def test_what_keeps_clones_apart(number: int, name: str, virtual: int, counting: Counting) -> None:
    process = counting(clone_protection=number, virtual_machine=virtual, clone_reason=b"because", clone_reseeds=5)
    shown = output.process_json(process)
    assert (shown["clone-protection"], shown["clone-reason"], shown["clone-reseeds"]) == (name, "because", 5)
    assert shown["virtual-machine"] is bool(virtual)
    warned = virtual == 1 and name == "none"
    result, line = output.Group("x", [process]).checked()
    assert (result, counts(process)["drng_unprotected_processes"]) == (warned, warned)
    for said in (shown["message"], line):
        assert ("copies of this machine may draw the same bytes: because" in said) == warned


def test_the_environment_is_warned_of_clones(config: ConfigWriter) -> None:
    """Where this is a virtual machine; without the words in each request, and without vmclock, nothing is left."""
    env = {"OPENSSL_CONF": str(config(request_mixing="no"))}
    answer = as_json(env=env)
    if answer["clone-protection"] == "counter":
        pytest.skip("this machine has a vmclock")
    with drawing(env) as process:
        counters = process.counters()
    keys = ("virtual-machine", "clone-protection", "clone-reseeds")
    assert [answer[key] for key in keys] == [counters[key] for key in keys]
    alike = "copies of this machine may draw the same bytes"
    for said in (answer["message"], status("--check", env=env).stdout):
        assert (alike in said) == answer["virtual-machine"]


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
        with drawing(env) as process:
            if "nothing" not in words:
                process.do("fork 1")
            result, said = check(process.pid)
        assert (result, said.startswith(f"process {process.pid}: {words}")) == (expected, True), said


def test_a_healthy_idle_server_is_green_and_says_so() -> None:
    with drawing(order="fork 0") as process:
        result, said = check(process.pid)
    assert (result, said.startswith(f"process {process.pid}: idle: no request yet")) == (0, True), said


def test_drng_that_is_loaded_and_never_drawn_from_is_not_said_to_serve(tmp_path: Path) -> None:
    """The configuration activates drng and has no line "random =", so OpenSSL's own generator serves."""
    (tmp_path / "openssl.cnf").write_text(EMPTY)
    with drawing({"OPENSSL_CONF": str(tmp_path / "openssl.cnf")}) as process:
        counters, (result, _) = process.counters(), check(process.pid)
    assert (counters["requests"], counters["reason"], result) == (0, "not-asked", 3)


# ---- Services ----


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Answers as systemctl would: for each service the lines in a file of its name."""
    program = tmp_path / "systemctl"
    program.write_text('#!/bin/sh\nfor name; do :; done\ncat "$(dirname "$0")/$name"\n')
    program.chmod(0o755)
    monkeypatch.setattr(systemd, "PATH", f"{tmp_path}:{systemd.PATH}")
    monkeypatch.setattr(systemd, "SYSTEMD", tmp_path)
    with replaced_proc(tmp_path):
        yield tmp_path


def unit(folder: Path, name: str, unit: str = "", load: str = "loaded", active: str = "active") -> None:
    lines = (f"LoadState={load}", f"ActiveState={active}", f"Id={unit or name}.service")
    (folder / name).write_text("\n".join(lines))


def test_a_service_is_its_control_group(systemctl: Path) -> None:
    """And what is below: its users may make groups there."""
    for pid, group in ((11, b"/web.service"), (12, b"/web.service/a/b"), (13, b"/web.services"), (14, b"/x")):
        write(systemctl / "proc", pid, FakeProcess(extra={"cgroup": b"3:cpu:/\n0::/system.slice" + group + b"\n"}))
    unit(systemctl, "web")
    unit(systemctl, "alias", "web")
    assert services.members_of("web") == services.members_of("alias") == [11, 12]


@pytest.mark.parametrize("name", ("", "-H", "nginx*", "a b", "../a", "a\n", "a\x1b", "x" * 256))
def test_what_is_no_name_of_a_service_is_not_asked_about(systemctl: Path, name: str) -> None:
    with pytest.raises(procfs.TargetError, match="is not the name of a service"):
        services.members_of(name)


def test_a_service_that_is_unknown_or_not_running(systemctl: Path) -> None:
    """One that has failed, or waits to be started again after that, is not stopped: monitoring is told."""
    write(systemctl / "proc", 11, FakeProcess())
    write(systemctl / "proc", 12, FakeProcess(extra={"cgroup": b"0::/system.slice/begins.service\n"}))
    unit(systemctl, "unknown", load="not-found")
    unit(systemctl, "stopped", active="inactive")
    unit(systemctl, "failed", active="failed")
    unit(systemctl, "again", active="activating")
    unit(systemctl, "begins", active="activating")
    for name in ("x.socket", "x.target", "x.slice", "x.device"):
        (systemctl / name).write_text(f"LoadState=loaded\nActiveState=active\nId={name}")
    assert services.members_of("stopped") == []
    assert services.members_of("begins") == [12]
    for name, words in (
        ("unknown", "systemd knows no service unknown"),
        ("failed", "failed: `systemctl status failed` says why"),
        ("again", "activating: `systemctl status again` says why"),
        ("missing", "systemctl show: "),
        *((f"x.{kind}", "this is no service") for kind in ("socket", "target", "slice", "device")),
    ):
        with pytest.raises(Failure, match=words):
            services.members_of(name)


# ---- The environment ----


@pytest.mark.parametrize("profile", ["drng.cnf", "drng-permissive.cnf"])
def test_a_module_that_does_not_load_is_named(profile: str, tmp_path: Path) -> None:
    """Nobody else does: libcrypto drops the error."""
    env = {"OPENSSL_CONF": str(CONF / profile), "OPENSSL_MODULES": "/nowhere"}
    result = status("--check", env=env)
    assert result.returncode == 2
    assert "drng did not load: could not load the shared library: /nowhere/drng.so: " in result.stdout
    (tmp_path / "openssl.cnf").write_text((CONF / profile).read_text() + "[drng_sect]\nfallback = maybe\n")
    result = status("--check", env={"OPENSSL_CONF": str(tmp_path / "openssl.cnf")})
    assert (result.returncode, "fallback = maybe" in result.stdout) == (2, True)


def test_a_configuration_that_does_not_parse_is_the_problem(tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    path.write_text((CONF / "drng.cnf").read_text().replace("[drng_sect]", "[drng_sect"))
    result = status("--check", env={"OPENSSL_CONF": str(path)})
    assert (result.returncode, "missing close square bracket" in result.stdout) == (2, True)


def test_a_working_directory_that_may_not_be_entered(tmp_path: Path) -> None:
    """As root's own, for `sudo -u nagios drng-status --check` typed there."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    how = {"env": RELEASE.environment(PINNED), "cwd": closed, **AS_NOBODY}
    assert json.loads(said_by(STATUS, "--json", **how))["config"] == str(CONF / "drng.cnf")


def test_the_environment_as_it_is(hardware: str) -> None:
    """A program that starts now is judged, and shown, as one that runs."""
    answer, masked, without = (
        as_json(env=env) for env in (PINNED, {**PINNED, "OPENSSL_ia32cap": MASKED}, WITHOUT_DRNG)
    )
    assert (answer["config"], answer["served-by"]) == (PINNED["OPENSSL_CONF"], "drng")
    assert (answer["active-source"], answer["requests"] > 0) == (hardware, True)
    assert f"{hardware.upper()}: masked by OPENSSL_ia32cap" in masked["message"]
    assert (without["reason"], without["cure"]) == ("not-named", "drng-enable on --system")
    rows = names_of_rows(status().stdout)
    assert {"served-by", "active-source", "config"} <= rows <= set(command.FEW)


def test_what_is_wrong_with_the_file_is_warned_of(config: ConfigWriter, tmp_path: Path) -> None:
    """And drng-conf says more."""
    said = status(env={"OPENSSL_CONF": str(config(fallbak="no"))}).stdout
    assert "did you mean fallback?" in said and "use `drng-conf " in said
    result = status(env={"OPENSSL_CONF": str(tmp_path / "none.cnf")})
    assert f"{tmp_path}/none.cnf: No such file" in result.stdout


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


@x86_64
@pytest.mark.parametrize("names", MASKS)
def test_a_mask_that_is_advised_hides_what_it_names_and_nothing_else(names: str) -> None:
    """Without the second word libcrypto had lost SHA, AVX2 and RDSEED; without the last three, AVX-512."""
    assert announced(MASKS[names]) == announced(None) - BITS[names]
    denied = as_json(env={**PINNED, "OPENSSL_ia32cap": MASKS[names]})["disabled-reason"]
    for name in ("RDSEED", "RDRAND"):
        assert (f"{name}: masked" in denied) == (names in (name, "both") and f"{name}: not in this CPU" not in denied)


def test_the_pages_advise_the_same_masks() -> None:
    said = {
        mask for page in (ROOT / "docs").glob("*.md") for mask in re.findall(r"ia32cap='([^']+)'", page.read_text())
    }
    assert said == set(MASKS.values()) and MASKS.keys() == BITS.keys()


def test_an_engine_outranks_the_provider(tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    text = (CONF / "drng.cnf").read_text()
    assert text.count("[openssl_init]\n") == 1
    path.write_text(
        text.replace("[openssl_init]\n", "[openssl_init]\nengines = engine_sect\n")
        + "\n[engine_sect]\nrand_engine = rand_engine_sect\n[rand_engine_sect]\n"
        + f"dynamic_path = {RELEASE.program('rand_engine.so')}\ndefault_algorithms = RAND\n"
    )
    result = status("--check", env={"OPENSSL_CONF": str(path)})
    assert (result.returncode, "an ENGINE or RAND_METHOD serves, and not drng" in result.stdout) == (2, True)


# ---- Names, in the manual and in rows ----


def schema(of: str) -> set[str]:
    """The keys that the manual has for this object."""
    text = (BUILD / "release" / "docs" / "drng-status-json.5").read_text().replace("\\-", "-")
    part = text.partition(f".SS {of.capitalize()}\n")[2].partition("\n.S")[0]
    return {key for line in re.findall(r"^\.TP\n\.BR? (.*)$", part, flags=re.M) for key in re.findall(r"[\w-]+", line)}


def generic(keys: Iterable[str]) -> set[str]:
    """With INSTRUCTION in the place of those of this machine."""
    names = "|".join(stats.KNOWN)
    return {re.sub(rf"^(seeds-)?({names})(?=$|-)", r"\1INSTRUCTION", key) for key in keys}


def test_the_manual_has_every_key_of_json() -> None:
    with drawing() as process:
        found = as_json("--pid", str(process.pid))
    (answer,) = found["processes"]
    assert generic(answer) <= schema("a process")
    assert generic(as_json()) == generic({*answer, "config"})
    assert all(re.fullmatch(r"[a-z][a-zA-Z0-9]*(-[a-z0-9]+)*", key) for key in answer)


def names_of_rows(text: str) -> set[str]:
    return {line.split("  ")[0] for line in text.splitlines()}


@pytest.mark.parametrize("profile", ["drng.cnf", "drng-random-provider.cnf", "none.cnf"])
def test_a_row_has_the_name_of_its_key(profile: str) -> None:
    """Under a profile that OpenSSL before 3.5 does not understand, too, and without any."""
    env = {"OPENSSL_CONF": str(CONF / profile)}
    assert {"config", "served-by"} <= names_of_rows(status("--long", env=env).stdout) <= {*as_json(env=env)}
    with drawing(env) as process:
        assert names_of_rows(status("--long", "--pid", str(process.pid)).stdout) <= {*process.counters()}
