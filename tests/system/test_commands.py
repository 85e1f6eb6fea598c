# SPDX-License-Identifier: Apache-2.0
"""The three commands by one table: what arguments they take, what becomes of their streams, and how they end."""

import subprocess

import pytest

from tests.support.builds import CONF, RELEASE, ROOT
from tests.support.image import Image

ON = "on --system --profile strict"
FULL = "No space left on device"
CLOSED = "Bad file descriptor"

# A command, its arguments, where its streams lead, its exit status, and what standard error says at the end.
WRONG = {
    "drng-enable": (
        "on|off|--system on nginx|on cups.socket|on --service nginx|enable --system|on ''|on ../nginx|on --all|"
        "on --system --profile lax|off --system --profile strict|off --all nginx|off nginx --set fallback=no|"
        f"{ON} --set fallback=maybe|{ON} --set falback=no|"
        f"status --restart|confirm nginx|off --system --try 1m|{ON} --loud|{ON} --set fallback|{ON} --try ''|"
        f"{ON} --try 0m|{ON} --try 10|{ON} --try 1d|{ON} --try -1m|{ON} --try 1.5h|{ON} --try 9999999s|{ON} --try 999h"
    ),
    "drng-conf": "a b|''|--loud|--file x",
    "drng-status": ("--watch|--json --check|--pid 1 --all|--pid x|--output x|--prometheus --output ''|nginx --all"),
}
DONE = {
    "drng-enable": (ON, f"{ON} --dry-run", "off --system", "status", "--json", "--help"),
    "drng-conf": (str(CONF / "drng.cnf"),),
}
DONE["drng-status"] = ("", "--check", "--json", "--all", "--all --check", "--prometheus", "--help")
# What drng-enable has done is done, whoever listens.
CHANGES = (ON, "off --system")
ENDS = {"drng-enable": 1, "drng-conf": 74, "drng-status": 3}
STREAMS = {">/dev/full": FULL, ">&-": CLOSED, ">&- 2>&-": "", "<&- >&- 2>&-": "", ">/dev/full 2>/dev/full": ""}

TABLE = [(name, words, "", 64, f"{name}: ") for name, several in WRONG.items() for words in several.split("|")]
TABLE += [
    (name, words, way, 0 if words in CHANGES else ENDS[name], said)
    for name, several in DONE.items()
    for words in several
    for way, said in STREAMS.items()
]
TABLE += [("drng-status", "--pid 0", "2>&-", 3, ""), ("drng-status", "--bogus", "2>/dev/full", 64, "")]
TABLE += [(name, "--version", "", 0, "") for name in WRONG]


@pytest.mark.parametrize(("name", "words", "way", "status", "said"), TABLE, ids=lambda value: str(value) or "-")
def test_a_command_ends_as_the_table_says(
    image: Image, name: str, words: str, way: str, status: int, said: str
) -> None:
    before = image.files()
    if name == "drng-enable":
        if way and words.split()[0] != "on":
            image.ok(*ON.split())
        result = image.run(script=f'"$@" {words} {way}')
    else:
        command = ["sh", "-c", f"{ROOT}/scripts/{name} {words} {way}"]
        result = RELEASE.run(command, {"OPENSSL_CONF": str(CONF / "drng.cnf")})
    assert result.returncode == status, result.stdout + result.stderr
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    if status == 64:
        assert (result.stdout, image.files()) == ("", before)
        assert way or result.stderr.count("\n") == 1
    elif way and words == ON:
        assert image.served(image.conf)
    elif way and words == "off --system":
        assert image.files() == before


# What each program does early, and what Python raises there under a limit (ulimit -v, -u).
LIMITS = (
    ("drng-enable status", "os.fork", 1),
    (f"drng-conf {CONF}/drng.cnf", "ctypes.CDLL", 2),
    (f"drng-conf {CONF}/drng.cnf", "dataclasses.dataclass", 2),
    ("drng-status --check", "os.fork", 3),
    ("drng-status --all", "os.fork", 3),
)


def one_line(result: subprocess.CompletedProcess[str], status: int, said: str) -> None:
    """What has failed says so in one line, whose subject is the program."""
    line = (result.stdout + result.stderr).strip()
    assert (result.returncode, len(line.splitlines()), said in line) == (status, 1, True), line
    assert line.startswith("drng") and "please report it" not in line, line


@pytest.mark.parametrize(("command", "function", "status"), LIMITS)
def test_a_limit_on_memory_or_threads(command: str, function: str, status: int) -> None:
    program, *arguments = command.split()
    script = str(ROOT / "scripts" / program)
    code = (
        f"import runpy, sys, {function.partition('.')[0]}\n"
        "def refuse(*_, **__): raise MemoryError()\n"
        f"{function} = refuse\n"
        f"sys.argv = {[script, *arguments]}\n"
        f"runpy.run_path({script!r}, run_name='__main__')\n"
    )
    words = ["/usr/bin/python3", "-I", "-c", code]
    one_line(subprocess.run(words, capture_output=True, text=True, check=False), status, "ulimit -v")


@pytest.mark.parametrize("command", [command for command, _, _ in LIMITS])
def test_no_dev_null(command: str) -> None:
    """As in a folder that somebody unpacks a system into. What needs the device names it."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespaces here")
    hidden = f"mount -t tmpfs tmpfs /dev && exec {ROOT}/scripts/{command}"
    result = subprocess.run(["unshare", "--mount", "sh", "-c", hidden], capture_output=True, text=True, check=False)
    one_line(result, {"drng-enable": 1, "drng-conf": 2}.get(command.split()[0], 3), "/dev/null")
