#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""What a TLS handshake costs nginx, with drng and with OpenSSL's own generator: CPU time, in turn.

Two servers with one worker each, the second under conf/drng.cnf, take full handshakes from `openssl s_time`. Prints the
CPU time of one handshake by each and their ratio: median and quartiles. Needs nginx (Debian's nginx-light) and openssl;
builds the release.
"""

import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS, SECONDS = 15, 2
PORTS = {"built-in": 18443, "drng": 18444}
TICK = 1 / os.sysconf("SC_CLK_TCK")
CONF = """daemon off; pid {folder}/{port}.pid; error_log stderr; worker_processes 1; events {{}}
http {{ access_log off; server {{ listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/pem; ssl_certificate_key {folder}/pem;
    ssl_session_cache off; return 200 "drng\\n"; }} }}"""


def environment(side: str) -> dict[str, str]:
    plain = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OPENSSL_CONF": "/dev/null"}
    if side == "built-in":
        return plain
    return {**plain, "OPENSSL_CONF": str(ROOT / "conf/drng.cnf"), "OPENSSL_MODULES": str(ROOT / "build/release")}


def cpu_seconds(pid: str) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def start(stack: ExitStack, folder: Path, side: str) -> str:
    """The worker's process."""
    conf = folder / f"{side}.conf"
    conf.write_text(CONF.format(folder=folder, port=PORTS[side]))
    command = ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(conf)]
    process = stack.enter_context(subprocess.Popen(command, env=environment(side)))
    stack.callback(process.terminate)
    for _ in range(100):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", PORTS[side])) == 0:
                break
        time.sleep(0.1)
    worker = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
    if ("/drng.so" in Path(f"/proc/{worker}/maps").read_text()) != (side == "drng"):
        sys.exit(f"{side}: the server has the wrong generator")
    return worker


def handshake_us(side: str, worker: str) -> float:
    before = cpu_seconds(worker)
    command = ["openssl", "s_time", "-connect", f"127.0.0.1:{PORTS[side]}", "-new", "-time", str(SECONDS)]
    said = subprocess.run(command, env=environment("built-in"), capture_output=True, text=True, check=True).stdout
    connections = re.search(r"^(\d+) connections in \d+ real seconds", said, re.MULTILINE)
    if connections is None:
        sys.exit(f"openssl s_time says nothing of its connections:\n{said}")
    return 1e6 * (cpu_seconds(worker) - before) / int(connections[1])


def main() -> None:
    for words in (["--preset", "release"], ["--build", "--preset", "release", "--target", "drng"]):
        subprocess.run(["cmake", *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        key = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 1"
        subprocess.run(
            [*key.split(), "-keyout", folder / "pem", "-out", folder / "cert"], capture_output=True, check=True
        )
        with (folder / "pem").open("a") as pem:
            pem.write((folder / "cert").read_text())
        workers = {side: start(stack, folder, side) for side in PORTS}
        rounds = [{side: handshake_us(side, worker) for side, worker in workers.items()} for _ in range(ROUNDS)]
    for side in PORTS:
        print(f"{side}: {statistics.median(times[side] for times in rounds):.0f} us of CPU time for a handshake")
    low, middle, high = statistics.quantiles([times["drng"] / times["built-in"] for times in rounds], n=4)
    print(f"drng over built-in: {middle:.3f}, quartiles {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main()
