# SPDX-License-Identifier: Apache-2.0
"""The check before anything is written: libcrypto loads what would be there, from memory, in a child."""

from __future__ import annotations

import functools
import os

from ..conf.meaning import lost, warnings_of
from ..conf.probe import Probe, default_file
from ..conf.probe import probe as ask
from ..terminal import Unchanged, complain, warn

probe = functools.cache(ask)


@functools.cache
def conf_path() -> str:
    """The one that libcrypto was built to read. Debian's openssl looks behind a link."""
    return os.path.realpath(default_file())


def why_not(found: Probe) -> str:
    """Why libcrypto does not load it to its end; empty where it does."""
    return found.problem or found.refused or found.stopped


def require(before: Probe, after: Probe, profile: str) -> None:
    """Fails unless the second does for drng what it should, and leaves alone what the first one says."""
    gone = [f"[{name}] {key} = {value} no longer holds" for name, key, value in lost(before, after)]
    for said in (*warnings_of(after), *gone):
        warn(said)
    if gone:
        raise Unchanged(f"settings of {before.path} would be lost, as the warnings say")
    if reason := why_not(after):
        raise Unchanged(f"{before.path} would not load with {profile}: {reason}")
    # Nothing is activated but what the profile names.
    wanted, would = {*before.providers, "drng"}, set(after.providers)
    if profile == "random-provider":
        wanted.add("drng-random")
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
