# SPDX-License-Identifier: Apache-2.0
"""The instructions that drng knows; mixing/machine/rows.h has the same."""

import os

# By the machine; "none" is the one row of a machine that has none.
OF_MACHINE = {"x86_64": ("rdseed", "rdrand"), "aarch64": ("rndrrs", "rndr")}
NONE = ("none",)
INSTRUCTIONS = OF_MACHINE.get(os.uname().machine, NONE)

# drng's generator of words that nothing seeds, by the name that openssl.cnf gives as `random`, in any case of letters.
# None: this machine has none.
WORDS = {"x86_64": "RDRAND", "aarch64": "RNDR"}.get(os.uname().machine)

# Of all machines, since a process may run under an emulator. What a process names otherwise is its own invention.
KNOWN = frozenset(name for names in (*OF_MACHINE.values(), NONE) for name in names)
