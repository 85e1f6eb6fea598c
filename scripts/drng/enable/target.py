"""What drng is switched on for, and the lines that its profile becomes there."""

from __future__ import annotations

from ..conf.meaning import understand
from ..files import Tree
from ..terminal import Failure, Unchanged, say, warn
from . import block, programs
from .arguments import PROFILES, Request
from .verify import Check


class Target:
    """The system or a service: the file for its lines, as it stands and as it would be."""

    def __init__(self, tree: Tree, request: Request, path: str, scope: str) -> None:
        self.tree, self.request, self.path, self.scope = tree, request, path, scope
        self.shown = tree.shown(path)
        # Not through a link: what it leads to is not ours, or known by its own name.
        self.found = tree.read(path, follow=False)
        self.text = block.decode(self.found or b"")
        was = block.profile_of(self.text)
        self.profile = request.profile or (was if was in PROFILES else "strict")
        self.check = Check(tree, self.shown)

    def profile_path(self, profile: str) -> str:
        return f"{self.request.profiles}/{PROFILES[profile].file}"

    def lines(self, base: str, profile: str) -> str:
        """What `on` would write behind this base for the profile."""
        path = self.profile_path(profile)
        if (data := self.tree.read(path)) is None:
            raise Failure(
                f"{self.tree.shown(path)} is not installed: install drng again, or name the directory of the profiles "
                "with --profiles"
            )
        conf = self.check.conf(base)
        if PROFILES[profile].since_3_5 and self.tree.live and not conf.is_since(3, 5):
            said = programs.openssl("version").stdout.strip()
            raise Failure(f"{profile} needs OpenSSL 3.5 or later; this is {said}")
        return block.block(base, profile, path, block.decode(data), understand(conf))

    def wanted(self, base: str, was_on: bool, conf: str) -> str:
        """Our lines behind this base. What it says of drng must come from lines that we put there."""
        meaning = self.check.meaning(base)
        if meaning.drng and not was_on:
            raise Unchanged(
                f"{conf}, or a file that it includes, activates drng already, by lines that drng-enable did not write; "
                "remove them first, or keep them"
            )
        if meaning.random and not was_on:
            warn(f"[{meaning.init}] random = {meaning.random} has no effect while drng is on")
        return self.lines(base, self.profile)

    def compare(self, base: str, text: str, profile: str) -> None:
        """Says so where `on` would now write other lines than those that are there."""
        again = f"run drng-enable on {self.scope} to write"
        if profile not in PROFILES:
            say(f"{self.shown}: there is no profile '{profile}'; {again} the lines again")
            return
        try:
            lines = self.lines(base, profile)
        except Failure as error:
            say(str(error))
            return
        ours, path = block.of(text), self.tree.shown(self.profile_path(profile))
        if block.unseal(ours) != ours and not block.is_as_sealed(ours):
            say(
                f"{self.shown}: somebody has changed the lines that drng-enable wrote: put your settings into {path}, "
                f"and {again} the lines again"
            )
        # What somebody has written behind our lines is theirs, and no other profile.
        elif block.of(lines).partition("\n")[2] != ours.partition("\n")[2]:
            say(f"the profile in {path} differs from the lines in effect: {again} the new ones")
