"""The system's openssl.cnf: every program."""

from __future__ import annotations

from ..files import Tree
from ..terminal import Failure, Unchanged, say, warn
from . import block, changes, trial, units
from .arguments import Request
from .changes import File
from .target import Target


class System(Target):
    """openssl.cnf as it stands, and as it would be."""

    is_theirs = True  # the file: it came with OpenSSL, and has a backup

    def __init__(self, tree: Tree, request: Request, path: str) -> None:
        super().__init__(tree, request, path, "--system")
        self.is_on = block.has_block(self.text)
        self.backup = f"{path}.before-drng"

    def _file(self, text: str) -> File:
        return File(self.path, self.found, block.encode(text), self.path if self.is_theirs else "")

    def _kept(self) -> bytes | None:
        """The backup, which must be ours, or of openssl.cnf's owner, who need not be root in an image."""
        with self.tree.place(self.path, follow=False) as conf, self.tree.place(self.backup, follow=False) as place:
            found = conf.stat()
            place.require_ours(found.st_uid if found else 0)
            return place.read()

    # ---- on ----

    def _candidate(self, base: str) -> str:
        lines = self.wanted(base, self.is_on, self.check.path)
        # Sealed behind the line break that a file without one at its end gets.
        sealed = block.seal(lines.removeprefix("\n"))
        return f"{base}\n{sealed}" if lines.startswith("\n") else base + sealed

    def _check_trial(self) -> None:
        """What is on trial is confirmed, tried longer, or switched off; what is on cannot be tried."""
        under_way = trial.Trial.find(self.tree)
        if self.request.trial:
            if not units.is_running(self.tree):
                raise Unchanged(
                    "--try needs a systemd that runs, whose timer would switch drng off again: leave --try out, "
                    "and switch off yourself"
                )
            if under_way is not None and under_way.conf != self.path:
                raise Unchanged(under_way.describe())
            if self.is_on and under_way is None:
                raise Unchanged(f"{self.shown}: drng is on already, and not on trial")
        elif under_way is not None and self.is_on and under_way.conf == self.path:
            raise Unchanged(under_way.describe())

    def on(self) -> None:
        self._check_trial()
        base = block.without_block(self.text, self.shown)
        after = self._candidate(base)
        self.check.change(base, after, self.profile)
        if self.request.dry_run and after != self.text:
            changes.show(self.tree, [self._file(after)])
        elif self.request.trial and not self.request.dry_run:
            self._try(after)
        elif after == self.text:
            say(f"{self.shown}: {self.profile} is on already")
        else:
            # A trial whose lines somebody has taken out is over; its timer would take these out, too.
            trial.end(self.tree, self.path)
            self._write(after)

    def _try(self, after: str) -> None:
        started = trial.begin(self.tree, self.path, self.request.trial)
        try:
            if after != self.text:
                self._write(after)
        except BaseException:
            # One that was under way goes on, with the time that it has now.
            if not self.is_on:
                trial.end(self.tree, self.path)
            raise
        say(started.describe())

    def _write(self, after: str) -> None:
        files = [self._file(after)]
        if self.is_theirs and not self.is_on:
            kept, name = self._kept(), self.tree.shown(self.backup)
            if kept is None:
                files.insert(0, File(self.backup, None, self.found, self.path))
            elif kept != self.found:
                say(f"the backup {name} exists already, differs from {self.shown}, and is kept as it is")
        changes.make(self.tree, files)
        if len(files) == 2:
            say(f"backup: {name}")
        say(f"{self.shown}: {self.profile} is on; restart running programs to use it")

    # ---- off ----

    def _drop_backup(self, base: str) -> None:
        """One that is a link, or somebody else's, is not ours to take away."""
        try:
            kept = self._kept()
            if kept == block.encode(base):
                with self.tree.place(self.backup, follow=False) as place:
                    place.unlink()
            elif kept is not None and self.is_on:
                name = self.tree.shown(self.backup)
                say(f"{self.shown} has been changed since drng was turned on: the backup {name} is left")
        except (Failure, OSError) as error:
            warn(str(error))

    def _end_trial(self) -> None:
        try:
            trial.end(self.tree, self.path)
        except OSError as error:
            warn(f"{trial.RECORD} cannot be removed: {error.strerror}; drng-enable off --system tries again")

    def off(self) -> None:
        base = block.without_block(self.text, self.shown)
        if not self.is_on:
            say(f"{self.shown}: drng is off already")
        elif not self.check.loads(self.text) and (reason := self.check.loads(base)):
            raise Unchanged(f"{self.shown} would not load without drng's lines: {reason}")
        elif self.request.dry_run:
            changes.show(self.tree, [self._file(base)])
            return
        else:
            changes.make(self.tree, [self._file(base)])
            say(f"{self.shown}: drng is off; running programs use it until they are restarted")
        if not self.request.dry_run:
            # What one that was killed before its last steps has left, too.
            self._end_trial()
            self._drop_backup(base)
        said = f"drng still serves, by lines of {self.check.path} that drng-enable did not write"
        self.check.warn_if_serving(base, said)

    # ---- status ----

    def status(self) -> bool:
        if profile := block.profile_of(self.text):
            say(f"{self.shown}: {profile} is on")
            if (under_way := trial.Trial.find(self.tree)) is not None:
                say(under_way.describe())
            self.compare(block.without_block(self.text, self.shown), self.text, profile)
            self.check.warn_of_closed_files(profile)
        else:
            say(f"{self.shown}: drng is off")
        return self.check.show("programs that start now would get:", self.text, "--all")
