"""The system's openssl.cnf: every program."""

from __future__ import annotations

from dataclasses import dataclass

from ..files import Place, Tree
from ..terminal import Failure, Unchanged, say, warn
from . import block, changes, profiles, trial, units
from .arguments import Request
from .verify import Check


@dataclass
class System:
    """openssl.cnf as it stands, and as it would be."""

    tree: Tree
    request: Request
    place: Place
    keeps_backup = True

    def __post_init__(self) -> None:
        self.path = self.place.path
        self.live = self._read()
        self.text = block.decode(self.live)
        self.check = self._check()
        self.backup = Place(self.place.directory, f"{self.place.name}.before-drng", f"{self.path}.before-drng")

    def _read(self) -> bytes:
        data = self.place.read()
        if data is None:
            raise Failure(f"{self.path}: there is no such file")
        return data

    def _check(self) -> Check:
        return Check(self.tree, self.path)

    def _still_the_same(self) -> None:
        if self._read() != self.live:
            raise Unchanged(f"{self.path} has just been changed by somebody else")

    # ---- on ----

    def _candidate(self, base: str) -> str:
        lines = profiles.lines(self.tree, self.request, self.check, base, block.has_block(self.text), self.check.path)
        # Sealed behind the line break that a file without one at its end gets.
        sealed = block.seal(lines.removeprefix("\n"))
        return f"{base}\n{sealed}" if lines.startswith("\n") else base + sealed

    def _check_trial(self) -> None:
        """What is on trial is confirmed, tried longer, or switched off; what is on cannot be tried."""
        under_way = trial.Trial.find(self.tree)
        is_on = block.has_block(self.text)
        if self.request.trial:
            if not units.is_running(self.tree):
                raise Unchanged(
                    "--try needs a systemd that runs, whose timer would switch drng off again: leave --try out, "
                    "and switch off yourself"
                )
            if under_way is not None and under_way.conf != self.path:
                raise Unchanged(under_way.describe())
            if is_on and under_way is None:
                raise Unchanged(f"{self.path}: drng is on already, and not on trial")
        elif under_way is not None and is_on and under_way.conf == self.path:
            raise Unchanged(under_way.describe())

    def on(self) -> None:
        self._check_trial()
        base = block.without_block(self.text, self.path)
        after = self._candidate(base)
        self.check.change(base, after, self.request.profile)
        if self.request.dry_run and after != self.text:
            changes.show(self.tree, {self.place.inside: (self.live, block.encode(after))})
        elif self.request.trial and not self.request.dry_run:
            self._try(after)
        elif after == self.text:
            say(f"{self.path}: {self.request.profile} is on already")
        else:
            # A trial whose lines somebody has taken out is over; its timer would take these out, too.
            trial.end(self.tree, self.path)
            self._write(block.encode(after))

    def _try(self, after: str) -> None:
        was_on = block.has_block(self.text)
        started = trial.begin(self.tree, self.path, self.request.trial)
        try:
            if after != self.text:
                self._write(block.encode(after))
        except BaseException:
            # One that was under way goes on, with the time that it has now.
            if not was_on:
                trial.end(self.tree, self.path)
            raise
        say(started.describe())

    def _write(self, after: bytes) -> None:
        files = [changes.File(self.place, after)]
        if not self.keeps_backup:
            self.place.require_ours()
        if self.keeps_backup and not block.has_block(self.text):
            self._require_our_backup()
            if self.backup.stat() is None:
                files.insert(0, changes.File(self.backup, self.live, self.place))
            elif self.backup.read() != self.live:
                say(f"the backup {self.backup.path} exists already, differs from {self.path}, and is kept as it is")
        self._still_the_same()
        changes.write(files)
        if len(files) == 2:
            say(f"backup: {self.backup.path}")
        say(f"{self.path}: {self.request.profile} is on; restart running programs to use it")

    def _require_our_backup(self) -> None:
        """Ours has openssl.cnf's owner, who need not be root in an image."""
        found = self.place.stat()
        self.backup.require_ours(found.st_uid if found else 0)

    # ---- off ----

    def _drop_backup(self, base: bytes) -> None:
        """One that is a link, or somebody else's, is not ours to take away."""
        if self.backup.stat() is None:
            return
        self._require_our_backup()
        if self.backup.read() == base:
            self.backup.unlink()
        else:
            say(f"{self.path} has been changed since drng was turned on: the backup {self.backup.path} is left")

    def _warn_if_served(self, text: str) -> None:
        said = f"drng still serves, by lines of {self.check.path} that drng-enable did not write"
        self.check.warn_if_serving(text, said)

    def _end_trial(self) -> None:
        try:
            if not self.request.dry_run:
                trial.end(self.tree, self.path)
        except OSError as error:
            warn(f"{trial.RECORD} cannot be removed: {error.strerror}; drng-enable off --system tries again")

    def off(self) -> None:
        if not block.has_block(self.text):
            say(f"{self.path}: drng is off already")
            # One that was killed before its last step has left it.
            if not self.request.dry_run and self.backup.stat() is not None and self.backup.read() == self.live:
                self._drop_backup(self.live)
            self._end_trial()
            self._warn_if_served(self.text)
            return
        base = block.without_block(self.text, self.path)
        if not self.check.loads(self.text) and (reason := self.check.loads(base)):
            raise Unchanged(f"{self.path} would not load without drng's lines: {reason}")
        if self.request.dry_run:
            changes.show(self.tree, {self.place.inside: (self.live, block.encode(base))})
            return
        self._still_the_same()
        if base or self.keeps_backup:
            changes.write([changes.File(self.place, block.encode(base))])
        else:
            self.place.sweep()
            self.place.unlink()
        say(f"{self.path}: drng is off; running programs use it until they are restarted")
        self._end_trial()
        try:
            self._drop_backup(block.encode(base))
        except (Failure, OSError) as error:
            warn(str(error))
        self._warn_if_served(base)

    # ---- status ----

    def status(self) -> bool:
        profile = block.profile_of(self.text)
        if profile:
            say(f"{self.path}: {profile} is on")
            if (under_way := trial.Trial.find(self.tree)) is not None:
                say(under_way.describe())
            base = block.without_block(self.text, self.path)
            self.request.profile = profile
            profiles.compare(self.tree, self.request, self.check, base, self.text, self.path, "--system")
            self.check.warn_of_closed_files(profile)
        else:
            say(f"{self.path}: drng is off")
        return self.check.show("programs that start now would get:", self.text, "--all")
