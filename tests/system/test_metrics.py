# SPDX-License-Identifier: Apache-2.0
"""What drng-status says to Prometheus: counts, counters of processes, the file, rules, a dashboard."""

import json
import os
import re
import socket
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts.drng import files, systemd
from scripts.drng.status import metrics, states, stats, verdict
from scripts.drng.status.libraries import Library
from tests.support.builds import BUILD, CONF, ROOT, need
from tests.support.stats import LIBRARY, forged, made_up, without_drng
from tests.support.targets import PINNED, build_module, holding, status, target

RULES = CONF / "prometheus" / "drng.rules.yml"
RULE_TESTS = CONF / "prometheus" / "drng.rules.test.yml"
DASHBOARD = CONF / "prometheus" / "drng-dashboard.json"

Samples = dict[str, int]


def samples(text: str) -> Samples:
    """Each line that is no comment: its name with labels, and its value."""
    found = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    assert len({name for name, _, _ in found}) == len(found), "a sample twice"
    return {name: int(value) for name, _, value in found}


def promtool(*arguments: str, text: str | None = None, cwd: Path = ROOT) -> None:
    result = subprocess.run(
        [need("promtool"), *arguments], input=text, capture_output=True, text=True, check=False, cwd=cwd
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "lint" not in result.stdout + result.stderr


def emitted() -> set[str]:
    """The names of all metrics that the collector writes."""
    return set(re.findall(r"^# TYPE (\w+) gauge$", metrics.metrics_of([made_up()]), flags=re.M))


# ---- Units ----


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (b"0::/system.slice/nginx.service\n", "nginx.service"),
        (b"12:cpu:/\n1:name=systemd:/system.slice/nginx.service\n0::/\n", "nginx.service"),
        (b"0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n", "user@1000.service"),
        (b"0::/../../system.slice/a.service\n", "a.service"),
        (b"5:cpu:/system.slice/other.service\n0::/\n", "none"),
        (b"0::/\n", "none"),
        (b"", "none"),
        (b"\xff\x00garbage", "none"),
        (b"0::/a\x1b[2J\xff.service\n", "none"),
        (b"0::/a\\x2db.service\n", "a\\x2db.service"),
        (b"0::/init.scope\n", "init.scope"),
        # In a container that has a systemd, and in what somebody has made beside systemd.
        (b"0::/docker/0123456789ab/system.slice/nginx.service\n", "none"),
        (b"0::/lxc.payload.web/init.scope\n", "none"),
        (b"0::/machine.slice/machine-web.scope/payload/system.slice/nginx.service\n", "machine-web.scope"),
    ],
)
def test_the_unit_of_a_process(text: bytes, unit: str) -> None:
    assert systemd.of_cgroup(text) == unit


@pytest.mark.parametrize(
    ("unit", "label"),
    [
        ("nginx.service", "nginx.service"),
        ("stunnel@mail.service", "stunnel@mail.service"),
        ("sshd@17-10.0.0.1:22-10.0.0.2:51234.service", "sshd@*.service"),
        ("user@1000.service", "user@*.service"),
        ("session-3.scope", "session-*.scope"),
        ("session-c12.scope", "session-*.scope"),
        ("run-u311.service", "run-*.service"),
        ("run-p7-i8.service", "run-*.service"),
        ("docker-" + "0a" * 32 + ".scope", "docker-*.scope"),
        ("run-r" + "0a" * 16 + ".service", "run-r*.service"),
        ("vm-6ba7b810-9dad-11d1-80b4-00c04fd430c8.scope", "vm-*.scope"),
    ],
)
def test_names_that_are_made_up_have_one_label(unit: str, label: str) -> None:
    assert systemd.label(unit) == label


# ---- Units ----


def test_the_sums_of_a_unit() -> None:
    """No line for each process, and no counters, which would become less with each process that ends."""
    three = [made_up(1, requests=5, last_seed=9), made_up(2, requests=6), without_drng(3)]
    text = metrics.metrics_of(three)
    found = samples(text)
    who = 'unit="a.service"'
    assert "pid=" not in text and " counter" not in text
    assert (found[f"drng_requests{{{who}}}"], found[f"drng_last_seed_timestamp_seconds{{{who}}}"]) == (11, 9)
    assert len(metrics.metrics_of([made_up(i) for i in range(1000)])) < 16384


# ---- What is printed ----


def test_every_count_is_there_with_all_its_values() -> None:
    """Of a unit in which nothing is wrong."""
    found = samples(metrics.metrics_of([made_up(1)]))
    who = 'unit="a.service"'
    for state in states.STATES:
        assert found[f'drng_processes{{{who},state="{state}"}}'] == int(state == "served")
    for reason in verdict.RESTART:
        assert found[f'drng_restart_needed_processes{{{who},reason="{reason}"}}'] == 0
    assert found[f'drng_seeds{{{who},source="fallback"}}'] == 0
    assert time.time() - 60 < found["drng_collector_timestamp_seconds"] <= time.time()


UNUSED = replace(LIBRARY, used=False)
WHEEL = Library("/x/_rust.so", "OpenSSL 4.0.3", False, False, True)
STATES = [
    (made_up(), "served"),
    (made_up(active_source="fallback"), "fallback"),
    (made_up(seeds_rdseed=0), "fallback"),
    (made_up(active_source="none"), "failed"),
    (made_up(requests=0, seeds_rdseed=0), "idle"),
    (made_up(libraries=(LIBRARY, WHEEL)), "partly"),
    (made_up(libraries=(LIBRARY, replace(WHEEL, used=False))), "served"),
    (without_drng(), "without"),
    (without_drng(libraries=(UNUSED,)), "idle"),
    (without_drng(problem="why"), "unknown"),
    (without_drng(libraries=()), ""),
]


@pytest.mark.parametrize(("process", "state"), STATES, ids=str)
def test_each_process_is_in_one_state(process: verdict.Process, state: str) -> None:
    assert states.state_of(process) == state
    counted = samples(metrics.metrics_of([process]))
    assert sum(value for name, value in counted.items() if name.startswith("drng_processes")) == int(state != "")


@pytest.mark.parametrize("last", [*stats.LAST_RESULTS, *stats.DENIALS[1:]])
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="of the instructions of x86-64")
def test_an_instruction_that_has_failed_is_counted(last: str) -> None:
    found = samples(metrics.metrics_of([made_up(1, rdseed_last_result=last)]))
    counts = {name: value for name, value in found.items() if name.startswith("drng_instruction_disabled_processes")}
    who = 'drng_instruction_disabled_processes{unit="a.service",instruction'
    assert counts == {f'{who}="rdseed"}}': int(last in stats.FAILED), f'{who}="rdrand"}}': 0}


def test_nothing_that_a_process_says_becomes_a_label(tmp_path: Path) -> None:
    module = build_module(
        tmp_path, forged(version=b"evil", libcrypto=b"evil", names=(b"rndrrs", b"rndr"), reason=b"evil")
    )
    with holding(module) as pid:
        text = status("--prometheus", "--pid", str(pid)).stdout
    # An instruction of another machine is none that serves.
    assert "evil" not in text and "rndrrs" not in text and 'state="failed"} 1' in text


def test_real_processes_are_counted_as_prometheus_reads_it() -> None:
    with target(PINNED) as process:
        process.do("draw 100 1000")
        result = status("--prometheus")
    promtool("check", "metrics", text=result.stdout)
    assert sum(int(drawn) for drawn in re.findall(r"^drng_bytes{.*} (\d+)$", result.stdout, flags=re.M)) >= 100000


# ---- The file ----


def write(path: Path, data: bytes) -> None:
    files.write(str(path), data)


def test_the_file_is_replaced_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "drng.prom"
    path.write_text("old")
    before = path.stat().st_ino
    result = status("--prometheus", "--output", str(path))
    assert (result.returncode, result.stdout) == (0, "")
    assert path.stat().st_ino != before
    assert path.stat().st_mode & 0o777 == 0o644
    promtool("check", "metrics", text=path.read_text())
    assert os.listdir(tmp_path) == ["drng.prom"]


FULL = """
set -e
mount -t tmpfs -o size=8k full "$1"
echo old >"$1/drng.prom"
dd if=/dev/zero of="$1/filler" bs=4k count=1 2>/dev/null
"$2" --prometheus --output "$1/drng.prom" || echo "status $?"
cat "$1/drng.prom"
ls -A "$1"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    program = str(ROOT / "scripts" / "drng-status")
    with target(PINNED) as process:
        process.do("draw 1 16")
        command = ["unshare", "--mount", "sh", "-c", FULL, "sh", str(tmp_path / "full"), program]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "status 3\nold\ndrng.prom\nfiller\n"
    assert "drng.prom cannot be written: No space left on device" in result.stderr


def put(kind: str, path: Path) -> None:
    """Something that is no regular file."""
    if kind == "link":
        (path.parent / "victim").write_text("untouched")
        path.symlink_to(path.parent / "victim")
    elif kind == "link to nothing":
        path.symlink_to(path.parent / "nothing")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    else:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))


KINDS = ["link", "link to nothing", "fifo", "folder", "socket"] + ["device"] * (os.geteuid() == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_neither_followed_nor_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    put(kind, path)
    before, names = path.lstat(), sorted(os.listdir(tmp_path))
    result = status("--prometheus", "--output", str(path))
    assert (result.returncode, result.stdout) == (3, "")
    assert "is no regular file, and is not replaced" in result.stderr
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert sorted(os.listdir(tmp_path)) == names
    if kind == "link":
        assert (tmp_path / "victim").read_text() == "untouched"


@pytest.mark.parametrize("where", ["folder", "above"])
def test_a_link_on_the_way_is_not_followed(tmp_path: Path, where: str) -> None:
    (tmp_path / "real" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / ("below" if where == "folder" else ""))
    path = tmp_path / "link" / ("drng.prom" if where == "folder" else "below/drng.prom")
    with pytest.raises(files.FileError, match="is a link"):
        write(path, b"new")
    assert not list((tmp_path / "real").rglob("drng.prom"))


@pytest.mark.parametrize("path", ["drng.prom", "./x", "", "/", "/a\0b", "/nowhere/at/all"])
def test_a_path_that_cannot_be_used(path: str) -> None:
    with pytest.raises(files.FileError):
        files.write(path, b"new")


@pytest.mark.parametrize("at", ["write", "fsync", "rename"])
def test_a_kill_half_way_leaves_the_old_file(tmp_path: Path, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "drng.prom"
    path.write_text("old")
    pid = os.fork()
    if pid == 0:
        real = getattr(os, at)

        def killed(*arguments: Any, **named: Any) -> None:
            if at == "write":
                real(arguments[0], arguments[1][:2])
            os.kill(os.getpid(), 9)

        monkeypatch.setattr(os, at, killed)
        write(path, b"new and longer")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -9
    assert path.read_text() == "old"
    write(path, b"new")
    assert path.read_text() == "new"


# ---- Rules and dashboard ----


def test_the_rules_are_right_and_each_alert_is_tested() -> None:
    promtool("check", "rules", str(RULES))
    promtool("test", "rules", RULE_TESTS.name, cwd=RULES.parent)
    alerts = re.findall(r"- alert: (\w+)", RULES.read_text())
    assert len(alerts) >= 6
    tests = RULE_TESTS.read_text()
    for alert in alerts:
        assert f"alertname: {alert}\n" in tests, f"{alert} fires in no test"
        assert re.search(rf"alertname: {alert}, .*exp_alerts: \[\]", tests), f"{alert} is silent in no test"


@pytest.mark.nightly("the rules' tests as they are")
def test_the_rules_tests_fail_where_a_rule_is_wrong(tmp_path: Path) -> None:
    """Each expression, made to hold never."""
    text = RULES.read_text()
    (tmp_path / RULE_TESTS.name).write_text(RULE_TESTS.read_text())
    for comparison in set(re.findall(r"(> 0|== 1|> 900)$", text, flags=re.M)):
        (tmp_path / RULES.name).write_text(text.replace(comparison, "> 1e18"))
        result = subprocess.run([need("promtool"), "test", "rules", RULE_TESTS.name], cwd=tmp_path, capture_output=True)
        assert result.returncode != 0, comparison
    # Each of the ways to be stale is tested by itself.
    parts = re.findall(r"^ .*[)] > 900$", text, flags=re.M)
    assert len(parts) == 3
    for part in parts:
        (tmp_path / RULES.name).write_text(text.replace(part, part.replace("> 900", "> 1e18")))
        result = subprocess.run([need("promtool"), "test", "rules", RULE_TESTS.name], cwd=tmp_path, capture_output=True)
        assert result.returncode != 0, part


def named_in(text: str) -> set[str]:
    return set(re.findall(r"\bdrng_\w+", text))


def test_the_rules_name_what_is_written() -> None:
    expressions = re.sub(r"^ *(summary|description):.*$", "", RULES.read_text(), flags=re.M)
    assert named_in(expressions) <= emitted()


def test_the_dashboard_shows_what_is_written_and_all_of_it() -> None:
    text = DASHBOARD.read_text()
    board = json.loads(text)
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    queries += [variable["query"] for variable in board["templating"]["list"]]
    assert named_in(" ".join(queries)) == emitted()
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    labels = set(re.findall(r"\{\{(\w+)\}\}", text))
    assert labels <= {"state", "source", "unit", "instruction", "memory"}


def test_the_dashboard_s_queries_are_promql(tmp_path: Path) -> None:
    """As rules, which promtool parses."""
    board = json.loads(DASHBOARD.read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(queries) > 10
    rules = [
        {"record": f"q{number}", "expr": query.replace("$__rate_interval", "5m")}
        for number, query in enumerate(queries)
    ]
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", str(path))


def test_the_dashboard_shows_the_units_of_which_the_alert_tells() -> None:
    rules, dashboard = (set(re.findall(r'state=~\\?"([a-z|]+)', path.read_text())) for path in (RULES, DASHBOARD))
    assert rules == dashboard != set()


def test_the_manual_names_every_metric() -> None:
    text = (BUILD / "release" / "docs" / "drng-status-json.5").read_text()
    assert emitted() <= named_in(text)
