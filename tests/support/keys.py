# SPDX-License-Identifier: Apache-2.0
"""The keys of drng's section in openssl.cnf, each with the values that it takes."""

import re

from scripts.drng.conf.meaning import DRNG_KEYS
from tests.support.builds import ROOT

Keys = dict[str, tuple[str, ...]]


def keys_of_the_provider() -> Keys:
    rows = [f'"{name}"' for name in instructions_by_machine()["x86_64"]]
    code = (ROOT / "provider/config.c").read_text()
    code = code.replace("DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_FLAG)", ", ".join(rows))
    lines = re.findall(r'^\s*\[\w+\]\s*=\s*\{\s*"(\w+)",\s*\{(.*?)\}', code, flags=re.M | re.S)
    return {key: tuple(re.findall(r'"(.*?)"', values)) for key, values in lines}


def instructions_by_machine() -> dict[str, tuple[str, ...]]:
    """What each list of rows names, under the machine's name as uname gives it."""
    machines = {"x86": "x86_64", "arm": "aarch64"}
    _, *parts = re.split(r"/\* ---- (\w+) ---- \*/", (ROOT / "mixing/machine/rows.h").read_text())
    lists = dict(zip(parts[::2], parts[1::2], strict=True))
    return {machine: tuple(re.findall(r'X\(DRNG_\w+, "([\w-]+)"\)', lists[name])) for name, machine in machines.items()}


def keys_of_drng_conf() -> Keys:
    return DRNG_KEYS
