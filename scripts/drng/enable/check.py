# SPDX-License-Identifier: Apache-2.0
"""The check before anything is written: what the new file does, tried out on a copy, by libcrypto."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import systemd
from ..conf import meaning
from ..conf.reading import Conf, ConfError
from ..terminal import Failure, Unchanged, complain, warn
from . import programs
from .arguments import PROFILES

# In what `ldconfig -p` says.
LIBCRYPTO = re.compile(r"^\s*libcrypto\.so\.[34] .* => (/\S+)$", re.M)


def closed_to_others(path: str) -> str:
    """The file, or the first directory on the way to it, that some users may not read or pass; empty where all may.
    drng-enable is root, and root may read everything."""
    real = Path(os.path.realpath(path))
    for part in (*reversed(real.parents), real):
        try:
            mode = os.stat(part).st_mode
        except OSError:
            return ""
        if not mode & (stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH):
            return str(part)
    return ""


def module() -> str:
    return f"{programs.openssl_directory('-m')}/drng.so"


def without_module() -> Iterator[str]:
    """Each libcrypto of the machine's, as of another architecture, that finds no drng.so. One that a program brings
    with it finds ours, since the profiles name the module by its path."""
    ours = Path(module()).parent.parent
    for path in map(Path, dict.fromkeys(LIBCRYPTO.findall(systemd.run("ldconfig", "-p").stdout))):
        folder = path.parent / "ossl-modules"
        with contextlib.suppress(OSError):
            if not os.path.samefile(path.parent, ours) and not (folder / "drng.so").exists():
                yield f"{path} finds no drng.so: there is none in {folder}"


def old_fips(listed: str) -> str:
    """The version of a FIPS provider before 3.2, in what `openssl list -providers` says."""
    found = re.search(r"^  fips\n(?:    .*\n)*?    version: ((\d+)\.(\d+)\S*)", listed, flags=re.M)
    return found[1] if found and (int(found[2]), int(found[3])) < (3, 2) else ""


@dataclass
class Check:
    """Of texts that are to stand at one path; or in a file that it includes, with which `whole` gives all that is
    read. A program reads it as `user`, "" for us."""

    path: str
    whole: Callable[[str], str] = str
    user: str = ""

    def conf(self, text: str) -> Conf:
        """As libcrypto reads it; fails where it does not parse."""
        with programs.as_file(self.whole(text)) as (name, _):
            try:
                return Conf(name, self.path)
            except ConfError as error:
                raise Unchanged(str(error)) from None

    def meaning(self, text: str) -> meaning.Meaning:
        return meaning.understand(self.conf(text))

    def _list(self, text: str, *options: str) -> systemd.Result:
        return programs.openssl("list", *options, "-providers", text=self.whole(text), user=self.user)

    def _active(self, text: str) -> set[str]:
        """The names of providers that are active under this text."""
        self.conf(text)
        result = self._list(text)
        if result.returncode != 0:
            said = (line for line in result.stderr.splitlines() if "Startup failure" not in line)
            raise Unchanged(next(said, "openssl does not say why"))
        return set(re.findall(r"^  (\S.*)$", result.stdout, flags=re.M))

    def why_not(self, text: str) -> str:
        """Why it does not load; empty where it does."""
        try:
            self._active(text)
        except Failure as error:
            return str(error)
        return ""

    def serving(self, text: str) -> tuple[bool, list[str]]:
        """Whether drng serves, and the lines that say who does."""
        self.conf(text)
        status = programs.drng_status(self.whole(text), self.user)
        generators = {role: status[role] for role in ("primary", "public", "private")}
        lines = list(status["errors"])
        for role, found in generators.items():
            who = f"{found['name']} of provider {found['provider']}" if found else "no generator"
            lines.append(f"{role}: {who}")
        if status["override"]:
            lines.append(f"RAND_bytes: {status['override']} outranks every generator")
        served = bool(status["rand-bytes"]) and not status["override"]
        return served and all(g and g["provider"] == "drng" for g in generators.values()), lines

    def serves(self, text: str) -> bool:
        try:
            return self.serving(text)[0]
        except Failure:
            return False

    def warn_of_closed_files(self, path: str, profile: str) -> None:
        """OpenSSL passes over a file that it may not read, and says nothing."""
        served = "get OpenSSL's own generator" if profile == "permissive" else "get no random numbers"
        for file, who in ((path, "get OpenSSL's own generator, and no error"), (module(), served)):
            if closed := closed_to_others(file):
                warn(f"not every user may read {closed}: programs of those who may not {who}; chmod o+rX opens it")

    def change(self, before: str, after: str, profile: str) -> None:
        """Fails unless the second text does for drng what it should, and leaves alone what the first one says."""
        first, second = self.conf(before), self.conf(after)
        lost = meaning.compare(first, second)
        for warning in (*meaning.understand(second).warnings, *lost):
            warn(warning)
        if lost:
            raise Unchanged(f"settings of {self.path} would be lost, as the warnings say")
        self._same_providers(before, after, profile)
        if version := old_fips(self._list(after).stdout):
            warn(
                f"the FIPS provider is version {version}: before 3.2, the generators that make its keys take their "
                "seeds from the system, and none from drng"
            )
        by_drng, lines = self.serving(after)
        if not by_drng:
            for line in lines:
                complain(line)
            raise Unchanged("random numbers would not come from drng")

    def wanted_providers(self, active: set[str], before: str, profile: str) -> set[str]:
        """What should be active afterwards. A file that leaves the default provider out, for FIPS perhaps, means it."""
        if profile == "fips":
            # A default provider that the file does not activate is there only as long as no other provider is.
            conf = self.conf(before)
            named = meaning.is_active(conf, meaning.named_sections(conf).default)
            if "default" in active and not named:
                warn(
                    f"{self.path} does not activate the default provider, which is there only as long as no other one "
                    "is: with the FIPS provider it no longer is, and programs have only what that one offers; activate "
                    "it in the file to keep it"
                )
            return (active if named else active - {"default"}) | {"base", "fips", "drng"}
        if "default" not in active:
            raise Unchanged(
                f"{self.path}: the default provider is not activated: write `activate = 1` into its section, which "
                "[provider_sect] names, as `default = default_sect` does; for OpenSSL's FIPS provider there is "
                "--profile fips"
            )
        return active | set(PROFILES[profile].names)

    def _same_providers(self, before: str, after: str, profile: str) -> None:
        """Nothing is activated but what the profile names."""
        if reason := self.why_not(before):
            raise Unchanged(f"{self.path} does not load as it is: {reason}")
        wanted = self.wanted_providers(self._active(before), before, profile)
        if reason := self.why_not(after):
            raise Unchanged(f"{self.path} would not load: {reason}")
        would = self._active(after)
        if "drng" not in would and not os.path.exists(module()):
            raise Unchanged(f"drng.so is not in {os.path.dirname(module())}: install openssl-provider-drng")
        if would != wanted:
            # The core keeps it to itself, unless the module is asked for by name.
            for line in self._list(after, "-provider", "drng").stderr.splitlines():
                complain(line)
            whose = f", for user {self.user}" if self.user else ""
            raise Unchanged(
                f"the active providers would be {' '.join(sorted(would))}{whose}, not {' '.join(sorted(wanted))}"
            )
