# SPDX-License-Identifier: Apache-2.0
"""For the modules beside this one: how they run programs, and a table as the pages of docs/ have it."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, text: str = "", **env: str) -> str:
    """Its output; what it reads is `text`, and nothing in its environment speaks of another OpenSSL."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("OPENSSL_", "LD_PRELOAD"))}
    result = subprocess.run(
        command, cwd=ROOT, env={**own, **env}, input=text, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
