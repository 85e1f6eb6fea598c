#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""What a TLS handshake costs a server, with drng and with OpenSSL's own generator: CPU time, in turn.

`openssl s_server`, under conf/drng.cnf or under none, takes full handshakes from `openssl s_time`. Prints the CPU time
of one handshake by each and their ratio: median and quartiles. Takes openssl, and the build `release`.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS, SECONDS, PLACE = 15, 2, "127.0.0.1:18443"
SIDES = {"built-in": "/dev/null", "drng": str(ROOT / "conf/drng.cnf")}
KEY = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 1 -keyout"


def handshake_us(side: str, folder: Path) -> float:
    env = {"PATH": "/usr/bin:/bin", "OPENSSL_CONF": SIDES[side], "OPENSSL_MODULES": str(ROOT / "build/release")}
    command = ["openssl", "s_server", "-accept", PLACE, "-cert", folder / "cert", "-key", folder / "key", "-www"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        while server.stdout.readline().strip() != "ACCEPT":
            pass
        command = ["openssl", "s_time", "-connect", PLACE, "-new", "-time", str(SECONDS)]
        said = subprocess.run(command, env={**env, "OPENSSL_CONF": "/dev/null"}, capture_output=True, text=True).stdout
        mapped = Path(f"/proc/{server.pid}/maps").read_text()
        server.terminate()
        _, server.returncode, usage = os.wait4(server.pid, 0)
    if ("/drng.so" in mapped) != (side == "drng"):
        sys.exit(f"{side}: the server has the wrong generator")
    connections = re.search(r"^(\d+) connections in \d+ real seconds", said, re.MULTILINE)
    if connections is None:
        sys.exit(f"openssl s_time says nothing of its connections:\n{said}")
    return 1e6 * (usage.ru_utime + usage.ru_stime) / int(connections[1])


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([*KEY.split(), folder / "key", "-out", folder / "cert"], capture_output=True, check=True)
        rounds = [{side: handshake_us(side, folder) for side in SIDES} for _ in range(ROUNDS)]
    for side in SIDES:
        print(f"{side}: {statistics.median(times[side] for times in rounds):.0f} us of CPU time for a handshake")
    low, middle, high = statistics.quantiles([times["drng"] / times["built-in"] for times in rounds], n=4)
    print(f"drng over built-in: {middle:.3f}, quartiles {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main()
