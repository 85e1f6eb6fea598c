# SPDX-License-Identifier: Apache-2.0
"""Tries the programs of table.toml, each in a machine of its own, and writes what came of it.

    python -m tests.served --suite SUITE --base FOLDER --output FILE [--only NAME...]

FOLDER is a chroot of that Debian, in whose cache are the packages. FILE has a line of JSON for each program; those that
are there from before, and are not named, stay. The exit status is 1 where one ends otherwise than the table expects.
"""

import argparse
import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.served import page
from tests.support.booted import Machine, booted
from tests.support.builds import ROOT

HERE = Path(__file__).parent
TABLE = HERE / "table.toml"
SECONDS = 300

# The image's own generator has made the certificate before drng is on. What starts in no time is restarted here more
# often than systemd allows by itself.
PREPARE = """
printf '127.0.0.1 localhost %s\\n' "$(hostname)" >etc/hosts
mkdir -p etc/tls etc/systemd/system.conf.d
printf '[Manager]\\nDefaultStartLimitIntervalSec=0\\n' >etc/systemd/system.conf.d/restarts.conf
cd etc/tls
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2 -keyout key.pem -out cert.pem 2>/dev/null
cd ../..
cat etc/tls/cert.pem etc/tls/key.pem >etc/tls/both.pem
chmod 755 etc/tls
chmod 644 etc/tls/*
"""

# A profile under which nothing can serve: what still draws has read no openssl.cnf, or has another libcrypto.
BROKEN = "sed 's,^module = .*,module = /nonexistent/drng.so,' /usr/share/drng/profiles/drng.cnf >/etc/tls/broken.cnf"

# As dpkg would leave the libraries of i386; its program stays in /opt, since there is one of that name already.
FOREIGN = """
cp -a /opt/i386/usr/lib/i386-linux-gnu /usr/lib/
[ ! -d /opt/i386/lib/i386-linux-gnu ] || cp -a /opt/i386/lib/i386-linux-gnu/. /usr/lib/i386-linux-gnu/
ln -sf i386-linux-gnu/ld-linux.so.2 /usr/lib/ld-linux.so.2
cp /opt/i386/etc/ld.so.conf.d/* /etc/ld.so.conf.d/
ldconfig
"""

# By the beginnings of their files' names: the first that is found is named.
LIBRARIES = ("libcrypto", "libgnutls", "libnss3", "libmbedtls", "libwolfssl", "libgcrypt")

# Where the dynamic linker writes what each process of a command loads, in a chroot too; and what it says of each file.
LOADED = "/tmp/loaded"
FILES = f"cat {LOADED}.* /opt/*{LOADED}.* 2>/dev/null | sed -En 's/.*(init|control): //p' | sort -u"
# libcrypto asks for this variable, and says so in its text, wherever it is linked in.
INSIDE = "xargs -r grep -l -a -F OPENSSL_CONF_INCLUDE 2>/dev/null"


class Failed(Exception):
    """A step that did not work, and what it said."""


def shell(machine: Machine, script: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    """With the functions of inside.sh."""
    env = ["env", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
    env += ["HOME=/root", "DEBIAN_FRONTEND=noninteractive", f"ROOT={ROOT}"]
    whole = (HERE / "inside.sh").read_text() + script
    result = subprocess.run(
        machine.inside(*env, "bash", "-c", whole),
        capture_output=True,
        text=True,
        errors="replace",  # some print what they have drawn
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd="/",
    )
    if check and result.returncode != 0:
        said = (result.stderr.strip() or result.stdout.strip()).splitlines()
        raise Failed(said[-1] if said else f"exit status {result.returncode}")
    return result


def answer(machine: Machine, command: str) -> tuple[int, dict[str, Any]]:
    result = shell(machine, f"{command} --json", check=False)
    try:
        return result.returncode, json.loads(result.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise Failed(f"{command}: {result.stderr.strip() or result.stdout.strip()}") from None


def installed(machine: Machine, program: dict[str, Any]) -> None:
    if packages := program.get("packages", []):
        command = "apt-get install -y -qq --no-install-recommends --no-download"
        try:
            shell(
                machine,
                f"{command} {' '.join(packages)} >/tmp/apt.log 2>&1 || {{ tail -n 1 /tmp/apt.log >&2; false; }}",
            )
        except Failed as failed:
            raise Failed(f"cannot be had: {failed}") from None
    if wheels := program.get("wheels", []):
        pip = f"/opt/venv/bin/pip install -q --no-index --find-links {ROOT}/build/served/wheels"
        try:
            shell(machine, f"python3 -m venv /opt/venv && {pip} {' '.join(wheels)}")
        except Failed as failed:
            raise Failed(f"cannot be had: {failed}") from None
    if source := program.get("static"):
        make = ["gcc", "-O2", "-static", "-o", ROOT / "build" / "served" / "static", HERE / source, "-lcrypto"]
        if subprocess.run(make, capture_output=True, check=False).returncode != 0:
            raise Failed("cannot be had: libcrypto cannot be linked statically")
    if foreign := program.get("foreign"):
        shell(machine, f"for deb in /root/{foreign}/*.deb; do dpkg-deb -x $deb /opt/{foreign}; done")
        shell(machine, FOREIGN)


def version_of(machine: Machine, program: dict[str, Any]) -> str:
    if wheels := program.get("wheels", []):
        show = f"/opt/venv/bin/pip show {wheels[0].split('[')[0]}"
        return shell(machine, f"{show} | sed -n 's/^Version: //p'").stdout.strip()
    package = program.get("version", (program.get("packages") or [""])[0])
    if not package:
        return ""
    said = shell(machine, f"dpkg-query -W -f '${{Version}}' {package}", check=False).stdout
    return said.split(":")[-1].split("-")[0].split("+")[0]


def library_among(paths: list[str]) -> str:
    """The first that is known of; none of them is "none"."""
    names = sorted({Path(path).name for path in paths})
    found = [name for library in LIBRARIES for name in names if name.startswith(library)]
    return found[0] if found else "none"


def library_of(machine: Machine, pids: list[int]) -> str:
    """Of those that its processes have mapped."""
    script = f"cat {' '.join(f'/proc/{pid}/maps' for pid in pids)} 2>/dev/null | sed -n 's,^[^/]*/,/,p' | sort -u"
    return library_among(shell(machine, script, check=False).stdout.splitlines() if pids else [])


# ---- A service ----


def outcome(processes: list[dict[str, Any]]) -> str:
    """Of drng-status's processes: served, idle, no libcrypto, or the reasons why not."""
    members = [process for process in processes if process["served-by"] != "-"]
    if not members:
        return "idle" if any(process["state"] == "idle" for process in processes) else "no libcrypto"
    reasons = sorted({process["reason"] for process in members if process["served-by"] != "drng"})
    if reasons:
        served = sum(process["served-by"] == "drng" for process in members)
        return f"not served: {', '.join(reasons)}" + (f" ({served} of {len(members)} served)" if served else "")
    return "served" if any(process.get("requests", 0) for process in members) else "idle"


def looked_at(machine: Machine, unit: str) -> tuple[str, int, list[dict[str, Any]]]:
    """After it has drawn: how it is served, the requests that drng has counted, the processes."""
    _, said = answer(machine, f"drng-status {unit}")
    processes = said["processes"]
    return outcome(processes), sum(process.get("requests", 0) for process in processes), processes


def drawn(machine: Machine, program: dict[str, Any]) -> None:
    """Twice, with what two draws of one server have in common: nothing. drng does not concern whoever asks for them."""
    script = f"export OPENSSL_CONF=/dev/null\n{program.get('draw', '')}"
    said = [shell(machine, script).stdout.strip() for _ in range(2)] if "draw" in program else ["", ""]
    if said[0] and said[0] == said[1]:
        raise Failed(f"two draws are the same: {said[0]}")


def grew(machine: Machine, program: dict[str, Any], unit: str) -> tuple[str, list[dict[str, Any]]]:
    """Whether what it draws is counted by drng. A process that has drawn and counts nothing is not served by it."""
    drawn(machine, program)
    how, before, processes = looked_at(machine, unit)
    if how == "served" and "draw" in program and program.get("counts", True):
        drawn(machine, program)
        how, after, processes = looked_at(machine, unit)
        pids = {process["pid"] for process in processes}
        if how == "served" and after <= before and pids:
            how = "loaded, and draws elsewhere"
    return how, processes


@contextlib.contextmanager
def without_module(machine: Machine) -> Iterator[None]:
    """Nothing serves what a strict profile reaches."""
    module = shell(machine, "OPENSSL_CONF=/dev/null openssl version -m").stdout.split('"')[1] + "/drng.so"
    shell(machine, f"mv {module} /root/drng.so")
    try:
        yield
    finally:
        shell(machine, f"mv /root/drng.so {module}")


def fails_without_module(machine: Machine, program: dict[str, Any]) -> bool:
    """Whether it needs the module that it says it has: under a strict profile it does not start, or cannot draw."""
    unit, few = program["unit"], "TRIES=25\n"
    with without_module(machine):
        script = f"{few}systemctl restart {unit} && systemctl is-active --quiet {unit}\n"
        draw = f"export OPENSSL_CONF=/dev/null\n{program['draw']}\n" if "draw" in program else ""
        failed = shell(machine, script + draw, check=False).returncode != 0
    # Sessions of a unit with KillMode=process outlive its restart.
    anew = f"systemctl kill -s KILL {unit}; systemctl reset-failed {unit}; systemctl restart {unit}"
    shell(machine, anew, check=False)
    return failed


def confirmed(machine: Machine, program: dict[str, Any], how: str) -> str:
    """What was said of it, if it holds where only a missing drng may serve. What is idle, or is served in part, may
    start and draw without it."""
    if how == "served" and not fails_without_module(machine, program):
        return "not so: served, and draws without the module"
    if how == "no libcrypto" and fails_without_module(machine, program):
        return "loads libcrypto later"
    return how


def turned(machine: Machine, how: str, unit: str) -> tuple[int, dict[str, Any]]:
    """On or off, and restarted by hand where drng-enable leaves that to whoever knows who is connected."""
    ran = f"systemctl show -P InvocationID {unit}"
    before = shell(machine, ran).stdout
    status, said = answer(machine, f"drng-enable {how} {unit} --restart")
    if status != 1 and shell(machine, ran).stdout == before:
        shell(machine, f"systemctl restart {unit}")
    return status, said


def service(machine: Machine, program: dict[str, Any], result: dict[str, Any]) -> None:
    unit = program["unit"]
    try:
        shell(machine, f"systemctl restart {unit} && systemctl is-active --quiet {unit}")
        drawn(machine, program)
    except Failed as failed:
        raise Failed(f"does not start here without drng: {failed}") from None
    status, said = turned(machine, "on", unit)
    result["enable"] = status
    if status == 1:
        result["service"] = f"refused: {'; '.join(said.get('said', [])) or said}"
    else:
        result["service"], processes = grew(machine, program, unit)
        result["library"] = library_of(machine, [process["pid"] for process in processes])
        result["cure"] = sorted({p["cure"] for p in processes if p["served-by"] not in ("drng", "-") and p["cure"]})
        check = shell(machine, f"drng-status {unit} --check", check=False)
        result["check"] = [check.returncode, check.stdout.strip()]
        # drng-enable has said the same at once, but of what had drawn nothing yet.
        drew = [process for target in said["targets"] for process in target["processes"] if process["state"] != "idle"]
        if status == 0 and drew and result["service"].startswith("not served"):
            raise Failed(f"drng-enable said yes, and it was not so: {result['service']}")
        if shell(machine, f"systemctl show -P CanReload {unit}").stdout.strip() == "yes":
            shell(machine, f"systemctl reload {unit}")
            reloaded, _ = grew(machine, program, unit)
            if reloaded.split(":")[0] not in (result["service"].split(":")[0], "served"):
                raise Failed(f"after a reload: {reloaded}")
        result["service"] = confirmed(machine, program, result["service"])
    turned(machine, "off", unit)
    drawn(machine, program)
    after, _, _ = looked_at(machine, unit)
    if after == "served":
        raise Failed("drng serves after off")
    shell(machine, "drng-enable on --system --profile strict")
    shell(machine, f"systemctl restart {unit}")
    how, _ = grew(machine, program, unit)
    result["system"] = confirmed(machine, program, how)
    shell(machine, "drng-enable off --system")


# ---- A command ----


def runs(machine: Machine, config: str = "") -> bool:
    return shell(machine, f"env {config} bash /root/command", check=False).returncode == 0


def loaded(machine: Machine) -> list[str]:
    """The files that its processes load; what they run without a dynamic linker is not among them."""
    shell(machine, f"rm -f {LOADED}.* /opt/*{LOADED}.*")
    runs(machine, f"LD_DEBUG=files LD_DEBUG_OUTPUT={LOADED}")
    return shell(machine, FILES, check=False).stdout.split()


def verdict(works: bool, works_broken: bool, library: str) -> str:
    """`works_broken`: where only a drng that is not there may serve."""
    if not works:
        return "no random numbers"
    if not works_broken:
        return "served"
    return "not served" if "libcrypto" in library else "no libcrypto"


def command(machine: Machine, program: dict[str, Any], result: dict[str, Any]) -> None:
    """It ends before anybody can look: it has to work under drng, and to fail where only a missing drng may serve."""
    script = (HERE / "inside.sh").read_text() + program["command"]
    shell(machine, f"cat >/root/command <<'THE_END'\n{script}\nTHE_END\n{BROKEN}")
    if not runs(machine):
        said = shell(machine, "bash /root/command", check=False).stderr.strip()
        raise Failed(f"does not work here without drng: {said[-200:]}")
    files = loaded(machine)
    result["library"] = library_among(files)
    if not result["library"].startswith("libcrypto"):
        holders = shell(machine, f"printf '%s\\n' {' '.join(files)} | {INSIDE}", check=False).stdout.split()
        if holders or "static" in program:
            result["library"] = f"libcrypto in {Path((holders or [program['static']])[0]).name}"
    good, bad = "OPENSSL_CONF=/etc/ssl/drng/drng.cnf", "OPENSSL_CONF=/etc/tls/broken.cnf"
    result["service"] = verdict(runs(machine, good), runs(machine, bad), result["library"])
    on = shell(machine, "drng-enable on --system --profile strict", check=False)
    if on.returncode == 1:
        result["system"] = f"refused: {on.stderr.strip()}"
        return
    try:
        works = runs(machine)
        with without_module(machine):
            result["system"] = verdict(works, runs(machine), result["library"])
    finally:
        shell(machine, "drng-enable off --system", check=False)


def tried(program: dict[str, Any], suite: str, base: str) -> dict[str, Any]:
    result: dict[str, Any] = {"name": program["name"], "suite": suite}
    with tempfile.TemporaryDirectory() as folder, booted(Path(folder), PREPARE, base) as machine:
        try:
            shell(machine, "systemctl start systemd-journald; ip link set lo up 2>/dev/null; true")
            installed(machine, program)
            shell(machine, program.get("setup", ""))
            result["version"] = version_of(machine, program)
            (service if "unit" in program else command)(machine, program, result)
        except Failed as failed:
            result["failed"] = str(failed)
        except subprocess.TimeoutExpired as error:
            result["failed"] = f"takes longer than {error.timeout:.0f} s"
    return result


def expected(program: dict[str, Any], how: str, suite: str) -> list[str]:
    """How the result may begin, by service or by system: `served` where the table says nothing. A table by releases
    has a word for each of them, or one for "else"."""
    # What draws in children that end is idle itself.
    said = program.get(how, "served" if program.get("counts", True) else ["served", "idle"])
    if isinstance(said, dict):
        said = said.get(suite, said.get("else", "served"))
    return [said] if isinstance(said, str) else list(said)


def is_expected(program: dict[str, Any], result: dict[str, Any]) -> bool:
    if "failed" in result:
        return result["failed"].startswith("cannot be had")
    return all(
        result[how].startswith(tuple(expected(program, how, result["suite"])))
        for how in ("service", "system")
        if how in result
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.served", description=__doc__.split("\n")[0])
    parser.add_argument("--suite", required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # with the machine that is booted
    table = tomllib.loads(TABLE.read_text())["program"]
    lines = options.output.read_text().splitlines() if options.output.exists() else []
    known = {result["name"]: result for result in map(json.loads, lines)}
    wrong = 0
    for program in table:
        if options.only and program["name"] not in options.only:
            continue
        result = tried(program, options.suite, options.base)
        right = is_expected(program, result)
        wrong += not right
        shown = result.get("failed") or f"{result.get('service')}; by system: {result.get('system')}"
        print(f"{'ok   ' if right else 'WRONG'} {program['name']}: {shown}", flush=True)
        known[program["name"]] = result
        names = [entry["name"] for entry in table]
        kept = [json.dumps(known[name]) + "\n" for name in names if name in known]
        options.output.write_text("".join(kept))
    (options.output.parent / "programs.md").write_text(page.table(options.output.parent))
    print(f"{wrong} otherwise than the table expects")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
