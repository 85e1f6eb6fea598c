"""One systemd service: a file of its own in place of openssl.cnf, and a drop-in that names it."""

from __future__ import annotations

import contextlib
import os
import re

from .. import systemd
from ..files import Tree
from ..terminal import Failure, Unchanged, say, warn
from . import block, changes, openssl_d, units
from .arguments import PROFILES, Request
from .changes import File
from .target import Target
from .verify import Check

MARK = "# made by drng-enable"
# Of the lines in a file of ours that are somebody else's.
SHOWN = 5

# libcrypto passes over an OPENSSL_CONF that it cannot read or parse, and serves by itself. So, for a profile that lets
# nobody else serve, the start depends on what openssl finds under the same variable, as the same user and in the same
# sandbox: the generators stand before the providers in openssl.cnf, so where drng is loaded they are drng's.
GUARD = "/usr/bin/openssl list -providers"
# Asked for by its name, openssl says why drng is not there. In a unit, two $ stand for one.
GUARD_LINES = f"""\
ExecStartPre=/bin/sh -c '{GUARD} 2>/dev/null | /bin/grep -qx "  drng" || \
{{ echo "drng is not loaded under OPENSSL_CONF, and no other generator is allowed: see drng-enable(8)" >&2; \
[ -r "$$OPENSSL_CONF" ] || echo "the file that OPENSSL_CONF names cannot be read" >&2; \
/usr/bin/openssl list -provider drng -providers >/dev/null; exit 1; }}'
"""
# What it runs.
GUARD_PROGRAMS = ("/bin/sh", "/usr/bin/openssl", "/bin/grep")

# Servers that start their programs with the variables alone that import_environment names in this file.
IMPORTING = {"dovecot": "/etc/dovecot/dovecot.conf", "postfix": "/etc/postfix/main.cf"}


def guard_of(profile: str) -> str:
    return "" if profile == "permissive" else GUARD


class Service(Target):
    """The two files of a service, as they stand and as they would be."""

    def __init__(self, tree: Tree, request: Request, name: str, conf: str) -> None:
        super().__init__(tree, request, f"{request.profiles}/service/{name}.cnf", f"--service {name}")
        self.name, self.unit, self.conf = name, f"{name}.service", conf
        self.drop_in = f"/etc/systemd/system/{self.unit}.d/drng.conf"
        # What points to the other comes first.
        self.files = {self.drop_in: tree.read(self.drop_in, follow=False), self.path: self.found}
        said = f"{MARK} for {self.unit}: what the system's openssl.cnf says, then drng."
        self.base = f"{said}\n.include {conf}\n"

    def _drop_in_text(self, guard: str) -> str:
        # systemd takes a backslash here for the start of an escape.
        own = self.path.replace("\\", "\\\\")
        return f"{MARK}\n[Service]\nEnvironment=OPENSSL_CONF={own}\n{GUARD_LINES if guard else ''}"

    def _foreign(self, path: str) -> str:
        """What somebody else has done to a file of ours; empty where it is as we wrote it, or is not there."""
        text, shown = block.decode(self.files[path] or b""), self.tree.shown(path)
        if not text or block.is_as_sealed(text):
            return ""
        ours = f"{self._drop_in_text(GUARD)}{self.base}"
        profile = block.profile_of(self.text) or self.profile
        # As far as what the profile says can still be known.
        with contextlib.suppress(Failure, OSError, KeyError):
            ours += self.lines(self.base, profile)
        # An earlier version wrote no checksum.
        unsealed = block.unseal(text) == text
        if unsealed and profile in PROFILES:
            ours += block.of_0_1_0(self.profile_path(profile))
        # The first line is the mark, whatever it says behind it.
        known = set(ours.splitlines())
        foreign = [line for line in text.splitlines()[1:] if line.strip() and line not in known]
        if not foreign:
            missing = f"{shown} is not as drng-enable wrote it: lines of it are missing or in another order"
            return "" if unsealed else missing
        more = f" and {len(foreign) - SHOWN} more" if len(foreign) > SHOWN else ""
        said = ", ".join(f"'{line[:200]}'" for line in foreign[:SHOWN])
        return f"{shown} has lines that drng-enable did not write: {said}{more}"

    def _require_ours(self) -> None:
        for path, data in self.files.items():
            if data is not None and not data.startswith(MARK.encode()):
                raise Unchanged(f"{self.tree.shown(path)} exists, and drng-enable did not make it")
            if foreign := self._foreign(path):
                raise Unchanged(
                    f"{foreign}; move the lines that you want to keep into a file of your own, remove this file, "
                    "and try again"
                )

    def _warn_of_losses(self, guard: str) -> None:
        """Of what does not reach it, by its sandbox or by its own doing: seen when it starts, and not before."""
        programs = [*(GUARD_PROGRAMS if guard else ()), *filter(None, (self.check.module(),))]
        sandbox = units.setting(self.tree, self.name)
        lost = "it would not start" if guard else "OpenSSL's own generator would serve it"
        for line in sandbox.hides((self.path, self.conf), programs):
            warn(f"{self.unit}: {line}; {lost}, unless what is there for it instead has drng, too")
        file = IMPORTING.get(self.name.removesuffix("@-"), "")
        if file and not re.search(rf"^[^#\n]*{units.VARIABLE}", block.decode(self.tree.read(file) or b""), re.M):
            warn(
                f"{self.unit} starts its programs without {units.VARIABLE}, so this changes nothing for them: "
                f"add {units.VARIABLE} to import_environment in {self.tree.shown(file)}"
            )

    def _make(self, files: list[File]) -> None:
        changes.make(self.tree, files)
        for path in self.files:
            self.tree.remove_directory(os.path.dirname(path))

    # ---- on ----

    def on(self) -> None:
        if self.name.endswith("@"):
            raise Unchanged(f"{self.name} is a template: name an instance of it, {self.name}NAME")
        unit, profile = units.Unit(self.tree, self.name), self.profile
        guard = guard_of(profile)
        drop_in = self._drop_in_text(guard)
        self._require_ours()
        unit.check(self.drop_in, drop_in, self.path, guard)
        system = block.decode(self.tree.read(self.conf) or b"")
        was_on = block.has_block(system) or openssl_d.is_on(self.tree)
        after = self.base + self.wanted(self.base, was_on, self.tree.shown(self.conf))
        self.check.change(self.base, after, profile)
        self._warn_of_losses(guard)
        # First what the drop-in points to.
        texts = {self.path: after, self.drop_in: drop_in}
        files = [File(path, self.files[path], block.encode(block.seal(text))) for path, text in texts.items()]
        if all(file.before == file.after for file in files) and not self._why_not(guard, drop_in):
            say(f"{self.unit}: {profile} is on already")
        elif self.request.dry_run:
            changes.show(self.tree, files)
        else:
            self._make(files)
            if units.is_running(self.tree):
                self._verify(files, guard, drop_in)
            say(f"{self.unit}: {profile} is on, by {self.tree.shown(self.drop_in)} and {self.shown}")
            self._what_next()

    def _why_not(self, guard: str, drop_in: str) -> str:
        """Why the service would start without ours: by systemd's own word where it runs, else by its rules."""
        try:
            if units.is_running(self.tree):
                return units.why_not_in_effect(self.tree, self.name, self.path, guard)
            units.Unit(self.tree, self.name).check(self.drop_in, drop_in, self.path, guard)
        except Failure as error:
            return str(error)
        return ""

    def _verify(self, files: list[File], guard: str, drop_in: str) -> None:
        """Once systemd has read the files; what is not in effect is taken back."""
        try:
            systemd.systemctl("daemon-reload")
            reason = self._why_not(guard, drop_in)
        except Failure as error:
            reason = str(error)
        if not reason:
            return
        try:
            self._make([file.back() for file in reversed(files)])
        except Failure as error:
            raise Failure(f"{reason}; what this command has written stays: {error}") from None
        systemd.systemctl("daemon-reload")
        raise Unchanged(reason)

    def _what_next(self) -> None:
        there = units.is_running(self.tree)
        elsewhere = "systemd does not run here; the service gets the change when it is started"
        say(f"now: systemctl restart {self.name}" if there else elsewhere)

    # ---- off ----

    def _check_of(self, conf: str) -> Check:
        """Of another openssl.cnf than ours, named by its path."""
        return Check(self.tree, self.tree.shown(conf), lambda path: block.decode(self.tree.read(path) or b""))

    def _warn_if_served(self) -> None:
        """By what it reads without our drop-in."""
        conf = self.tree.shown(self.conf)
        self._check_of(self.conf).warn_if_serving(self.conf, f"drng still serves {self.unit}, by {conf}")

    def _reload(self) -> None:
        """Until then, systemd has the service start with our files, which have gone: the check would not let it."""
        try:
            systemd.systemctl("daemon-reload")
        except Failure as error:
            raise Failure(
                f"{error}: {self.unit} may not start until systemd has read its files again: run systemctl "
                "daemon-reload, or this command again"
            ) from None

    def off(self) -> None:
        files = [File(path, data, None) for path, data in self.files.items() if data is not None]
        if not files:
            units.Unit(self.tree, self.name)
            say(f"{self.unit}: drng is off already")
            # systemd may not have read what an earlier run has done.
            if units.is_running(self.tree) and units.shown(self.name)[0].environment.get(units.VARIABLE) == self.path:
                self._reload()
            self._warn_if_served()
            return
        self._require_ours()
        if self.request.dry_run:
            changes.show(self.tree, files)
            return
        self._make(files)
        say(f"{self.unit}: drng is off")
        if units.is_running(self.tree):
            self._reload()
        self._what_next()

    # ---- status ----

    def status(self) -> bool:
        drop_in = self.files[self.drop_in]
        if self.found is None and drop_in is None:
            units.Unit(self.tree, self.name)
            conf = units.setting(self.tree, self.name).environment.get(units.VARIABLE) or self.conf
            check = self._check_of(conf)
            with contextlib.suppress(Failure):
                serving = check.serving(conf)
                if serving[0]:
                    say(f"{self.unit}: drng-enable has written nothing for it")
                    return check.tell(f"when it starts, it would get, by {check.path}:", serving, self.scope)
        if self.found is None or drop_in is None:
            names = f"{self.tree.shown(self.drop_in)} names {self.shown}, which is not there"
            broken = f", but {names}: on and off {self.scope} both mend that" if drop_in is not None else ""
            start = "; until then it does not start" if GUARD in block.decode(drop_in or b"") else ""
            say(f"{self.unit}: drng is off{broken}{start}")
            return False
        text, profile = block.unseal(self.text), block.profile_of(self.text)
        say(f"{self.unit}: {profile} is on")
        foreign = {path: self._foreign(path) for path in (self.path, self.drop_in)}
        for said in filter(None, foreign.values()):
            say(
                f"{said}; on and off refuse to change this file: "
                "move those lines into a file of your own, and remove this one"
            )
        if not foreign[self.path]:
            self.compare(self.base, text, profile)
        self.check.warn_of_closed_files(profile)
        self._warn_of_losses(guard_of(profile))
        guard, drop_in_text = guard_of(profile), block.decode(drop_in)
        if guard and block.unseal(drop_in_text) == drop_in_text and GUARD not in drop_in_text:
            say(
                f"{self.tree.shown(self.drop_in)} is of drng 0.1.0 and has no check before the start: "
                f"run drng-enable on {self.scope} to write it"
            )
            guard = ""
        if reason := self._why_not(guard, drop_in_text):
            say(f"but it is not in effect: {reason}")
            return False
        serves = self.check.show("when it starts, it would get:", text, self.scope)
        if not serves and guard:
            say("it would not start: the check before its start finds no drng")
        return serves
