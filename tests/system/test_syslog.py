# SPDX-License-Identifier: Apache-2.0
"""Messages to the system log, as a listener on /dev/log gets them: in a mount namespace with a /dev of its own."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.builds import CONF, MASKED, RELEASE, ConfigWriter
from tests.support.machine import here
from tests.support.servers import SYSTEM_PYTHON

PINNED = {"OPENSSL_CONF": str(CONF / "drng.cnf")}
DRAW = ["openssl", "rand", "-hex", "4"]

# Runs a command beside a listener and says what either had to say. The command has ended when the log is read, so what
# it sent is there.
INSIDE = """
import json, os, socket, subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/dev"], check=True)
for name, minor in (("null", 3), ("random", 8), ("urandom", 9)):
    os.mknod(f"/dev/{name}", 0o20666, os.makedev(1, minor))
listens, *command = sys.argv[1:]
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
if listens == "yes":
    log.bind("/dev/log")
result = subprocess.run(command, capture_output=True, text=True)
log.setblocking(False)
lines = []
try:
    while True:
        lines.append(log.recv(4096).decode())
except BlockingIOError:
    pass
print(json.dumps({"lines": lines, "status": result.returncode, "out": result.stdout, "errors": result.stderr}))
"""


@pytest.fixture(scope="module", autouse=True)
def namespace() -> None:
    """Skips where no private /dev is to be had."""
    result = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        pytest.skip(f"a mount namespace takes root: {result.stderr.strip()}")


def logged(command: list[str], env: Mapping[str, str], listens: bool = True) -> dict[str, object]:
    inside = ["unshare", "--mount", SYSTEM_PYTHON, "-c", INSIDE, "yes" if listens else "no", *command]
    result = RELEASE.run(inside, env)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


# What a masked CPU makes drng say, once each: in a virtual machine, that copies of it may draw the same, too.
FALLBACK = r"<84>drng\[[0-9]+\]: OpenSSL's default seed source serves in place of the CPU: RDSEED: "
CLONES = r"<84>drng\[[0-9]+\]: copies of this machine may draw the same bytes: no instruction gives words"


def said_of_masked() -> list[str]:
    return [FALLBACK, CLONES] if here().virtual else [FALLBACK]


def are_said(lines: list[str], patterns: list[str]) -> bool:
    return len(lines) == len(patterns) and all(map(re.match, patterns, lines))


def test_a_refusal_to_load_is_logged(config: ConfigWriter) -> None:
    answer = logged(DRAW, {"OPENSSL_CONF": str(config(fallback="maybe"))})
    assert answer["status"] != 0
    (line,) = answer["lines"]
    # authpriv.warning: 10 * 8 + 4.
    assert re.fullmatch(
        r"<84>drng\[[0-9]+\]: the provider does not load: fallback = maybe: write yes or no in the provider's section "
        r"of openssl\.cnf",
        line,
    )


def test_the_fallback_is_logged_once() -> None:
    draw_often = "import ssl, os; [ssl.RAND_bytes(9) for _ in range(70000)]; os.fork(); ssl.RAND_bytes(9)"
    answer = logged([SYSTEM_PYTHON, "-c", draw_often], {**PINNED, "OPENSSL_ia32cap": MASKED})
    assert answer["status"] == 0, answer["errors"]
    assert are_said(answer["lines"], said_of_masked()), answer["lines"]


def test_good_hardware_is_not_spoken_of() -> None:
    answer = logged(DRAW, PINNED)
    assert answer["status"] == 0
    here().need_instruction()
    assert answer["lines"] == []


def test_where_nobody_listens_nothing_is_missed() -> None:
    answer = logged(DRAW, {**PINNED, "OPENSSL_ia32cap": MASKED}, listens=False)
    assert (answer["status"], answer["lines"], answer["errors"]) == (0, [], "")


def test_no_descriptor_stays_open() -> None:
    count = "import ssl, os; before = len(os.listdir('/proc/self/fd')); ssl.RAND_bytes(9); "
    count += "print(len(os.listdir('/proc/self/fd')) - before)"
    answer = logged([SYSTEM_PYTHON, "-c", count], {**PINNED, "OPENSSL_ia32cap": MASKED})
    assert are_said(answer["lines"], said_of_masked()), answer["lines"]
    assert answer["out"] == "0\n"


def test_the_error_queue_of_a_success_stays_empty() -> None:
    """SSL_get_error() takes any error that lies there for the failure of its connection."""
    for env in (PINNED, {**PINNED, "OPENSSL_ia32cap": MASKED}):
        answer = RELEASE.probe(Path(env["OPENSSL_CONF"]), env)
        assert answer["rand_bytes"] == 1
        assert answer["errors"] == []
