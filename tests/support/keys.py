"""The keys of drng's section in openssl.cnf, each with the values that it takes."""

from __future__ import annotations

import ast
import re

from tests.support.builds import ROOT

Keys = dict[str, tuple[str, ...]]


def keys_of_the_provider() -> Keys:
    rows = re.findall(r'X\(DRNG_\w+, ("\w+")\)', (ROOT / "mixing/machine/rows_x86.h").read_text())
    code = (ROOT / "provider/config.c").read_text()
    code = code.replace("DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_FLAG)", ", ".join(rows))
    lines = re.findall(r'^\s*\[\w+\]\s*=\s*\{\s*"(\w+)",\s*\{(.*?)\}', code, flags=re.M | re.S)
    return {key: tuple(re.findall(r'"(.*?)"', values)) for key, values in lines}


def instructions_by_machine() -> dict[str, tuple[str, ...]]:
    """What each list of rows names, under the machine's name as uname gives it."""
    machines = {"x86": "x86_64", "arm": "aarch64", "power": "ppc64le", "z": "s390x"}
    return {
        machine: tuple(re.findall(r'X\(DRNG_\w+, "([\w-]+)"\)', (ROOT / f"mixing/machine/rows_{name}.h").read_text()))
        for name, machine in machines.items()
    }


def keys_of_drng_conf() -> Keys:
    ours = next(
        node.value
        for node in ast.parse((ROOT / "scripts/drng-conf").read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DRNG_KEYS"
    )
    return ast.literal_eval(ours)
