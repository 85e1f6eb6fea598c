"""One systemd service: a file of its own in place of openssl.cnf, and a drop-in that names it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from .. import systemd
from ..files import Place, Tree
from ..terminal import Failure, Unchanged, say, warn
from . import block, changes, openssl_d, profiles, units
from .arguments import PROFILES, Request
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


@dataclass
class Service:
    """The two files of a service, as they stand and as they would be."""

    tree: Tree
    request: Request
    conf: str

    def __post_init__(self) -> None:
        self.name = self.request.service
        self.own = f"{self.request.profiles}/service/{self.name}.cnf"
        self.drop_in = f"/etc/systemd/system/{self.name}.service.d/drng.conf"
        self.check = Check(self.tree, self.tree.shown(self.own))

    def _read(self, path: str) -> bytes | None:
        """Not through a link: what it leads to is not ours."""
        return self.tree.read(path, follow=False)

    @property
    def guard(self) -> str:
        return "" if self.request.profile == "permissive" else GUARD

    def _drop_in_text(self) -> str:
        lines = GUARD_LINES if self.guard else ""
        # systemd takes a backslash here for the start of an escape.
        own = self.own.replace("\\", "\\\\")
        return f"{MARK}\n[Service]\nEnvironment=OPENSSL_CONF={own}\n{lines}"

    def _base(self) -> str:
        said = f"{MARK} for {self.name}.service: what the system's openssl.cnf says, then drng."
        return f"{said}\n.include {self.conf}\n"

    def _ours(self, text: str) -> str:
        """What we would write for the profile of this text, as far as that can still be known."""
        self.request.profile = block.profile_of(text) or self.request.profile
        known = f"{self._drop_in_text()}{GUARD_LINES}{self._base()}"
        if block.unseal(text) == text:
            known += block.of_0_1_0(f"{self.request.profiles}/{PROFILES[self.request.profile][0]}")
        try:
            return known + profiles.wanted(self.tree, self.request, self.check.meaning(self._base()), self._base())
        except (Failure, OSError, KeyError):
            return known

    def _changed(self, path: str, data: bytes) -> str:
        """What somebody else has done to a file of ours; empty where it is as we wrote it."""
        text = block.decode(data)
        if block.is_as_sealed(text):
            return ""
        path = self.tree.shown(path)
        profile = self.request.profile
        ours = set(self._ours(block.decode(self._read(self.own) or b"")).splitlines())
        self.request.profile = profile
        # The first line is the mark, whatever it says behind it.
        foreign = [line for line in block.unseal(text).splitlines()[1:] if line.strip() and line not in ours]
        # An earlier version wrote no checksum.
        if not foreign and block.unseal(text) == text:
            return ""
        if not foreign:
            return f"{path} is not as drng-enable wrote it: lines of it are missing or in another order"
        more = f" and {len(foreign) - SHOWN} more" if len(foreign) > SHOWN else ""
        said = ", ".join(f"'{line[:200]}'" for line in foreign[:SHOWN])
        return f"{path} has lines that drng-enable did not write: {said}{more}"

    def _require_ours(self) -> None:
        for path in (self.drop_in, self.own):
            data = self._read(path)
            if data is not None and not data.startswith(MARK.encode()):
                raise Unchanged(f"{self.tree.shown(path)} exists, and drng-enable did not make it")
            if data is not None and (changed := self._changed(path, data)):
                raise Unchanged(
                    f"{changed}; move the lines that you want to keep into a file of your own, remove this file, "
                    "and try again"
                )

    def _warn_of_losses(self) -> None:
        """Of what does not reach it, by its sandbox or by its own doing: seen when it starts, and not before."""
        module = self.check.module()
        programs = (*(GUARD_PROGRAMS if self.guard else ()), *((module,) if module else ()))
        there = units.is_running(self.tree)
        sandbox = units.shown(self.name)[0] if there else units.Unit(self.tree, self.name).setting("", "")
        lost = "it would not start" if self.guard else "OpenSSL's own generator would serve it"
        for line in sandbox.hides((self.own, self.conf), programs):
            warn(f"{self.name}.service: {line}; {lost}, unless what is there for it instead has drng, too")
        file = IMPORTING.get(self.name.removesuffix("@-"), "")
        if file and not re.search(
            rf"^[^#\n]*{units.VARIABLE}", block.decode(self.tree.read(file) or b""), re.MULTILINE
        ):
            warn(
                f"{self.name}.service starts its programs without {units.VARIABLE}, so this changes nothing for them: "
                f"add {units.VARIABLE} to import_environment in {self.tree.shown(file)}"
            )

    # ---- on ----

    def on(self) -> None:
        if self.name.endswith("@"):
            raise Unchanged(f"{self.name} is a template: name an instance of it, {self.name}NAME")
        unit = units.Unit(self.tree, self.name)
        self._require_ours()
        unit.check(self.drop_in, self._drop_in_text(), self.own, self.guard)
        base = self._base()
        system = block.decode(self.tree.read(self.conf) or b"")
        was_on = block.has_block(system) or openssl_d.is_on(self.tree)
        after = base + profiles.lines(self.tree, self.request, self.check, base, was_on, self.tree.shown(self.conf))
        self.check.change(base, after, self.request.profile)
        self._warn_of_losses()
        texts = {self.own: after, self.drop_in: self._drop_in_text()}
        wanted = {path: block.encode(block.seal(text)) for path, text in texts.items()}
        found = {path: self._read(path) for path in wanted}
        if found == wanted and not self._why_not():
            say(f"{self.name}.service: {self.request.profile} is on already")
        elif self.request.dry_run:
            changes.show(self.tree, {path: (found[path], data) for path, data in wanted.items()})
        else:
            self._write(wanted, found)

    def _why_not(self) -> str:
        if not units.is_running(self.tree):
            return ""
        return units.why_not_in_effect(self.tree, self.name, self.own, self.guard)

    def _write(self, wanted: dict[str, bytes], found: dict[str, bytes | None]) -> None:
        """First what the drop-in points to."""
        places = {path: changes.make_place(self.tree, path) for path in wanted}
        for place in places.values():
            place.require_ours()
        try:
            changes.write([changes.File(places[path], data) for path, data in wanted.items()])
        except BaseException:
            self.tree.unmake()
            raise
        if units.is_running(self.tree):
            self._verify(places, found)
        drop_in, own = map(self.tree.shown, (self.drop_in, self.own))
        say(f"{self.name}.service: {self.request.profile} is on, by {drop_in} and {own}")
        self._what_next()

    def _verify(self, places: dict[str, Place], found: dict[str, bytes | None]) -> None:
        """By systemd's own word, once it has read the files; what is not in effect is taken back."""
        try:
            systemd.systemctl("daemon-reload")
            reason = self._why_not()
        except Failure as error:
            reason = str(error)
        if not reason:
            return
        with changes.uninterrupted():
            for path, place in reversed(places.items()):
                data = found[path]
                if data is None:
                    place.unlink()
                    continue
                try:
                    changes.write([changes.File(place, data)])
                except Unchanged as error:
                    raise Failure(f"{reason}; what this command has written stays: {error}") from None
            self.tree.unmake()
        systemd.systemctl("daemon-reload")
        raise Unchanged(reason)

    def _what_next(self) -> None:
        there = units.is_running(self.tree)
        elsewhere = "systemd does not run here; the service gets the change when it is started"
        say(f"now: systemctl restart {self.name}" if there else elsewhere)

    # ---- off ----

    def _warn_if_served(self) -> None:
        """By what it reads without our drop-in."""
        conf = self.tree.shown(self.conf)
        check = Check(self.tree, conf, lambda path: block.decode(self.tree.read(path) or b""))
        check.warn_if_serving(self.conf, f"drng still serves {self.name}.service, by {conf}")

    def _reload(self) -> None:
        """Until then, systemd has the service start with our files, which have gone: the check would not let it."""
        try:
            systemd.systemctl("daemon-reload")
        except Failure as error:
            raise Failure(
                f"{error}: {self.name}.service may not start until systemd has read its files again: run systemctl "
                "daemon-reload, or this command again"
            ) from None

    def off(self) -> None:
        found = {path: self._read(path) for path in (self.drop_in, self.own)}
        if not any(data is not None for data in found.values()):
            units.Unit(self.tree, self.name)
            say(f"{self.name}.service: drng is off already")
            # systemd may not have read what an earlier run has done.
            if units.is_running(self.tree) and units.shown(self.name)[0].environment.get(units.VARIABLE) == self.own:
                self._reload()
            self._warn_if_served()
            return
        self._require_ours()
        there = {path: data for path, data in found.items() if data is not None}
        if self.request.dry_run:
            changes.show(self.tree, {path: (data, None) for path, data in there.items()})
            return
        changes.require_writable(self.tree, list(there))
        # First what points to the other.
        with changes.uninterrupted():
            for path in found:
                if path in there:
                    with self.tree.place(path, follow=False) as place, changes.explained(place.path):
                        place.sweep()
                        place.unlink()
                self.tree.remove_directory(os.path.dirname(path))
        say(f"{self.name}.service: drng is off")
        if units.is_running(self.tree):
            self._reload()
        self._what_next()

    # ---- status ----

    def status(self) -> bool:
        data, drop_in = self._read(self.own), self._read(self.drop_in)
        if data is None and drop_in is None:
            units.Unit(self.tree, self.name)
        if data is None or drop_in is None:
            shown, own = self.tree.shown(self.drop_in), self.tree.shown(self.own)
            broken = f", but {shown} names {own}, which is not there: on and off --service {self.name} both mend that"
            say(f"{self.name}.service: drng is off{broken if drop_in is not None else ''}")
            return False
        text = block.unseal(block.decode(data))
        self.request.profile = block.profile_of(text)
        say(f"{self.name}.service: {self.request.profile} is on")
        changes = [self._changed(self.own, data), self._changed(self.drop_in, drop_in)]
        for changed in filter(None, changes):
            say(
                f"{changed}; on and off refuse to change this file: "
                "move those lines into a file of your own, and remove this one"
            )
        if not changes[0]:
            own, scope = self.tree.shown(self.own), f"--service {self.name}"
            profiles.compare(self.tree, self.request, self.check, self._base(), text, own, scope)
        self.check.warn_of_closed_files(self.request.profile)
        self._warn_of_losses()
        guard, drop_in_text = self.guard, block.decode(drop_in)
        if guard and block.unseal(drop_in_text) == drop_in_text and GUARD not in drop_in_text:
            say(
                f"{self.tree.shown(self.drop_in)} is of drng 0.1.0 and has no check before the start: "
                f"run drng-enable on --service {self.name} to write it"
            )
            guard = ""
        if reason := self._effective(drop_in, guard):
            say(f"but it is not in effect: {reason}")
            return False
        return self.check.show("when it starts, it would get:", text, f"--service {self.name}")

    def _effective(self, drop_in: bytes, guard: str) -> str:
        """Why the service would start without ours."""
        try:
            if units.is_running(self.tree):
                return units.why_not_in_effect(self.tree, self.name, self.own, guard)
            units.Unit(self.tree, self.name).check(self.drop_in, block.decode(drop_in), self.own, guard)
        except Failure as error:
            return str(error)
        return ""
