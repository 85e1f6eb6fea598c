"""The check before anything is written: what the new file does, tried out on a copy.

On this machine it is loaded, and drawn from. Of an image nothing is loaded and nothing run: its files are read, by
this machine's libcrypto, and what cannot be known from that is said.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .. import systemd
from ..conf import meaning
from ..conf.reading import Conf, ConfError
from ..files import Tree
from ..terminal import Failure, Unchanged, complain, say, warn
from . import programs
from .arguments import PROFILES
from .block import decode, encode
from .walk import Opener, TooMuchError, UnreadableFileError, Walk

# Whether drng serves, and the lines that say who does.
Serving = tuple[bool, list[str]]


class ImageOpener(Opener):
    """The files of an image, so that nothing outside of it is read in their place."""

    def __init__(self, tree: Tree) -> None:
        super().__init__()
        self.tree, self.include_directory = tree, ""

    def read(self, path: str, most: int, names: int) -> bytes | list[str]:
        if not re.fullmatch(r"/[\w/.,+@:-]*", path):
            raise Failure(
                f".include {path[:100]}: in an image, only paths that begin with / "
                "and have no special characters are followed"
            )
        if found := self.tree.names(path, names):
            return found
        with contextlib.suppress(FileNotFoundError, Failure), self.tree.place(f"{path}/.drng-enable"):
            return []  # an empty folder
        data = self.tree.read(path)
        if data is None:
            raise UnreadableFileError("names a file that does not exist")
        return data

    def go_on_without(self, path: str, error: Exception) -> None:
        if not isinstance(error, UnreadableFileError):
            raise error
        warn(f".include {path} {error}, and OpenSSL ignores it")

    def pass_over(self, line: bytes) -> None:
        if len(line) > self.line:
            raise Failure(f"a line is longer than {self.line} characters: {decode(line[:40])}...")
        raise Failure(f"{decode(line[:100])}: in an image, no .include may have variables in its path")


def expand(tree: Tree, text: str) -> str:
    """With what it includes in the place of the lines that include it."""
    walk = Walk(ImageOpener(tree))
    try:
        walk.text(encode(text))
    except TooMuchError as error:
        raise Failure(str(error)) from None
    return "".join(f"{decode(line)}\n" for line in walk.lines)


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


def old_fips(listed: str) -> str | None:
    """The version of a FIPS provider before 3.2, in what `openssl list -providers` says."""
    found = re.search(r"^  fips\n(?:    .*\n)*?    version: ((\d+)\.(\d+)\S*)", listed, flags=re.M)
    return found[1] if found and (int(found[2]), int(found[3])) < (3, 2) else None


@dataclass
class Check:
    """Of texts that are to stand at one path; or in a drop-in of it, with which `whole` gives all that is read."""

    tree: Tree
    path: str
    whole: Callable[[str], str] = str
    drop_in: str = ""

    def _text(self, text: str) -> str:
        return self.whole(text) if self.tree.live else expand(self.tree, self.whole(text))

    def conf(self, text: str) -> Conf:
        """As libcrypto reads it; fails where it does not parse."""
        with programs.as_file(self._text(text)) as path:
            try:
                return Conf(path, self.path)
            except ConfError as error:
                raise Unchanged(str(error)) from None

    def meaning(self, text: str) -> meaning.Meaning:
        return meaning.understand(self.conf(text))

    # ---- What is loaded ----

    def _list(self, text: str, *options: str) -> systemd.Result:
        """What `openssl list` says of the providers under this text."""
        with programs.as_file(self._text(text)) as name:
            result = programs.openssl("list", *options, "-providers", conf=name)
            result.stderr = result.stderr.replace(name, self.path)
            return result

    def _active(self, text: str) -> set[str]:
        """The names of providers that would be active: by trial, or of an image by what it says."""
        if not self.tree.live:
            conf = self.conf(text)
            named = meaning.providers_of(conf, meaning.named_sections(conf).init)
            return {n for n, s in named.items() if meaning.is_active(conf, s)} or {"default"}
        result = self._list(text)
        if result.returncode != 0:
            said = (line for line in result.stderr.splitlines() if "Startup failure" not in line)
            raise Failure(next(said, "openssl does not say why"))
        return set(re.findall(r"^  (\S.*)$", result.stdout, flags=re.M))

    def loads(self, text: str) -> str:
        """Why it does not; empty where it does."""
        try:
            self.conf(text)
            self._active(text)
        except Failure as error:
            return str(error)
        return ""

    # ---- Who serves ----

    def serving(self, text: str) -> Serving:
        return self._tried(text) if self.tree.live else self._read(text)

    def warn_if_serving(self, text: str, said: str) -> None:
        """Where drng's own lines have gone."""
        try:
            if self.serving(text)[0]:
                warn(said)
        except (Failure, OSError) as error:
            warn(str(error))

    def show(self, title: str, text: str, whom: str) -> bool:
        """Whether drng would serve, and who would."""
        try:
            serving = self.serving(text)
        except Unchanged as error:
            serving = False, [f"no generator of drng's, since OpenSSL cannot read it: {error}"]
        return self.tell(title, serving, whom)

    def tell(self, title: str, serving: Serving, whom: str) -> bool:
        by_drng, lines = serving
        for line in (title, *lines):
            say(line)
        if self.tree.live and os.path.exists("/proc/self"):
            say(f"to see what runs already: drng-status {whom}")
        return by_drng

    def _tried(self, text: str) -> Serving:
        # What the reader refuses (an endless include, a FIFO) would hold up libcrypto for ever.
        self.conf(text)
        with programs.as_file(self._text(text)) as name:
            status = programs.drng_status(name)
        generators = {role: status[role] for role in ("primary", "public", "private")}
        lines = list(status["errors"])
        for role, found in generators.items():
            who = f"{found['name']} of provider {found['provider']}" if found else "no generator"
            lines.append(f"{role}: {who}")
        if drng := status["drng"]:
            reason = f" ({drng['disabled-reason']})" if drng["disabled-reason"] else ""
            lines.append(f"seeds: {drng['active-source']}{reason}")
        if status["override"]:
            lines.append(f"RAND_bytes: {status['override']} outranks every generator")
        served = (
            bool(status["rand-bytes"])
            and not status["override"]
            and all(g and g["provider"] == "drng" for g in generators.values())
        )
        return served, lines

    def _read(self, text: str) -> Serving:
        found = self.meaning(text)
        idle = [w for w in found.warnings if "neither OpenSSL nor drng knows this key" not in w]
        lines = [] if self.module() else ["drng.so is not among the image's OpenSSL modules"]
        served = bool(found.drng) and not idle and not lines
        lines.append(f"the file {'names' if served else 'does not name'} drng for every generator")
        lines.append("not tried: nothing in an image is loaded or run; run drng-enable status inside the image")
        return served, lines

    def module(self) -> str:
        """Where it is; empty where it is not."""
        if self.tree.live:
            return f"{programs.openssl_directory('-m')}/drng.so"
        below = [f"/usr/lib/{name}/ossl-modules" for name in self.tree.names("/usr/lib")]
        folders = (*below, "/usr/lib/ossl-modules", "/usr/lib64/ossl-modules")
        return next((f"{folder}/drng.so" for folder in folders if "drng.so" in self.tree.names(folder)), "")

    # ---- Who may read it ----

    def warn_of_closed_files(self, profile: str) -> None:
        """OpenSSL passes over a file that it may not read, and says nothing."""
        if not self.tree.live:
            return
        for path in filter(None, (self.path, self.drop_in)):
            if closed := closed_to_others(path):
                warn(
                    f"not every user may read {closed}: programs of those who may not get OpenSSL's own generator, and "
                    "no error; chmod o+rX opens it"
                )
        if closed := closed_to_others(self.module()):
            served = "get OpenSSL's own generator" if profile == "permissive" else "get no random numbers"
            warn(f"not every user may read {closed}: programs of those who may not {served}; chmod o+rX opens it")

    # ---- The check ----

    def change(self, before: str, after: str, profile: str) -> None:
        """Fails unless the second text does for drng what it should, and leaves alone what the first one says."""
        first, second = self.conf(before), self.conf(after)
        lost = meaning.compare(first, second)
        for warning in (*meaning.understand(second).warnings, *lost):
            warn(warning)
        if lost:
            raise Unchanged(f"settings of {self.path} would be lost, as the warnings say")
        self._same_providers(before, after, profile)
        if self.tree.live and (version := old_fips(self._list(after).stdout)):
            warn(
                f"the FIPS provider is version {version}: before 3.2, the generators that make its keys take their "
                "seeds from the system, and none from drng"
            )
        self.warn_of_closed_files(profile)
        by_drng, lines = self.serving(after)
        for line in lines:
            (say if by_drng else complain)(line)
        if not by_drng:
            raise Unchanged("random numbers would not come from drng")

    def _wanted_providers(self, active: set[str], before: str, profile: str) -> set[str]:
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
                f"{self.path} does not activate the default provider, and this profile of drng would; "
                "for OpenSSL's FIPS provider there is --profile fips"
            )
        return active | set(PROFILES[profile].names)

    def _same_providers(self, before: str, after: str, profile: str) -> None:
        """Nothing is activated but what the profile names."""
        active = self._loaded(before, f"{self.path} does not load as it is")
        wanted = sorted(self._wanted_providers(active, before, profile))
        would = sorted(self._loaded(after, f"{self.path} would not load"))
        if would != wanted:
            # The core keeps it to itself, unless the module is asked for by name.
            for line in self._list(after, "-provider", "drng").stderr.splitlines() if self.tree.live else ():
                complain(line)
            raise Unchanged(f"the active providers would be {' '.join(would)}, not {' '.join(wanted)}")

    def _loaded(self, text: str, said: str) -> set[str]:
        try:
            return self._active(text)
        except Failure as error:
            raise Unchanged(f"{said}: {error}") from None
