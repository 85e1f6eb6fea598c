# SPDX-License-Identifier: Apache-2.0
"""The check before anything is written: libcrypto loads what would be there, from memory, in a child."""

from __future__ import annotations

import functools
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from .. import systemd
from ..conf.meaning import lost, understand
from ..conf.probe import Probe, default_file
from ..conf.probe import probe as ask
from ..terminal import Unchanged, complain, warn
from .arguments import PROFILES

# In what `ldconfig -p` says.
LIBCRYPTO = re.compile(r"^\s*libcrypto\.so\.[34] .* => (/\S+)$", re.M)

probe = functools.cache(ask)


@functools.cache
def conf_path() -> str:
    """The one that libcrypto was built to read. Debian's openssl looks behind a link."""
    return os.path.realpath(default_file())


def warn_of_closed_files(path: str, module: str, profile: str) -> None:
    """OpenSSL passes over a file that it may not read, and says nothing; drng-enable is root, and may read it."""
    served = "get OpenSSL's own generator" if profile == "permissive" else "get no random numbers"
    for file, who in ((path, "get OpenSSL's own generator, and no error"), (module, served)):
        real = Path(os.path.realpath(file))
        for part in filter(Path.exists, (*reversed(real.parents), real)):
            mode = part.stat().st_mode
            if not mode & (stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH):
                warn(f"not every user may read {part}: programs of those who may not {who}; chmod o+rX opens it")
                break


def without_module(found: Probe) -> Iterator[str]:
    """Each libcrypto of the machine's, as of another architecture, that finds no drng.so. One that a program brings
    with it finds ours, since the profiles name the module by its path."""
    ours = os.path.realpath(Path(found.module).parent.parent)
    for path in dict.fromkeys(LIBCRYPTO.findall(systemd.run("ldconfig", "-p").stdout)):
        folder = os.path.realpath(os.path.dirname(path))
        if folder != ours and not os.path.exists(f"{folder}/ossl-modules/drng.so"):
            yield f"{path} finds no drng.so: there is none in {folder}/ossl-modules"


def why_not(found: Probe) -> str:
    """Why libcrypto does not load it to its end; empty where it does."""
    return found.problem or found.refused or "; ".join(found.stopped)


def require(before: Probe, after: Probe, profile: str) -> None:
    """Fails unless the second does for drng what it should, and leaves alone what the first one says."""
    gone = [f"[{name}] {key} = {value} no longer holds" for name, key, value in lost(before, after)]
    for said in (*understand(after).warnings, *gone):
        warn(said)
    if gone:
        raise Unchanged(f"settings of {before.path} would be lost, as the warnings say")
    if reason := why_not(after):
        raise Unchanged(f"{before.path} would not load: {reason}")
    # Nothing is activated but what the profile names.
    wanted, would = {*before.providers, *PROFILES[profile].names}, set(after.providers)
    if profile == "fips":
        wanted |= {"base", "fips"}
        if "default" in wanted - would:
            wanted.remove("default")
            warn(
                f"{before.path} does not activate the default provider, so OpenSSL drops it once the FIPS provider is "
                "active; to keep it, activate it in the file"
            )
    if "drng" not in would and not os.path.exists(before.module):
        raise Unchanged(f"drng.so is not in {before.modules}: install openssl-provider-drng")
    if would != wanted:
        for name, reason in after.not_loaded.items():
            complain(f"{name}: {reason}")
        raise Unchanged(f"the active providers would be {' '.join(sorted(would))}, not {' '.join(sorted(wanted))}")
    if not after.served_by_drng:
        for line in (*after.errors, *[f"{after.override} outranks every generator"] * bool(after.override)):
            complain(line)
        cure = ": for OpenSSL's FIPS provider there is --profile fips" if after.fips and profile != "fips" else ""
        raise Unchanged(f"random numbers would not come from drng{cure}")
