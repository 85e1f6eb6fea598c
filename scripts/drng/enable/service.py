# SPDX-License-Identifier: Apache-2.0
"""One systemd service: a drop-in gives it an openssl.cnf of its own, which says what the system's says, then drng.

systemd itself carries the text to a service that has a user, as a credential: there is no file that could be missing,
or closed to that user. A service that begins as root has a file, since its children, which change their user, may not
read what is root's; a credential of the same text is then the check that the file is there.
"""

import glob
from pathlib import Path

from .. import CONF_DIR, OWN, TRIAL, systemd
from ..conf.probe import Probe
from ..status import services, who
from ..terminal import Failure, Unchanged, complain
from . import texts
from .arguments import PROFILES, Request
from .changes import File, read
from .target import Target, conf_path, named_conf, probe, read_roots
from .texts import Head, encode, head_of

UNITS, RUN = "/etc/systemd/system", "/run/systemd/system"
# In one folder of /run and /etc, the last name wins, and the same name in /etc would hide that in /run.
DROP_IN, TRIED = "drng.conf", "drngz-trial.conf"
VARIABLE, CREDENTIAL = "OPENSSL_CONF", "drng.cnf"
PROPERTIES = "Id,LoadState,User,DynamicUser,RootDirectory,RootImage,TemporaryFileSystem,Environment,UnsetEnvironment"


class Service(Target):
    """Where systemd does not run, nobody can be asked about it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        # All instances of a template have its drop-in; any one of them tells what it is.
        self.asked = f"{name}drng.service" if name.endswith("@") else f"{name}.service"
        self.known = systemd.show(self.asked, PROPERTIES) if systemd.is_running() else {}
        state = self.known.get("LoadState", "loaded")
        if self.known and state == "loaded" and not name.endswith("@"):
            self.asked = self.known["Id"]
            name = self.asked.removesuffix(".service")
        self.name = self.typed = name
        self.unit = f"{name}.service"
        if state != "loaded":
            self.missing = f"there is no unit {self.unit}" if state == "not-found" else f"{self.unit} is {state}"
            self.notes.append(self.missing)
        self.places = {
            trial: (f"{units}/{self.unit}.d/{drop_in}", f"{folder}/{name}.cnf")
            for trial, units, drop_in, folder in ((False, UNITS, DROP_IN, CONF_DIR), (True, RUN, TRIED, TRIAL))
        }
        if self.places[False][1] == OWN or name in (file.removesuffix(".cnf") for file in PROFILES.values()):
            raise Unchanged(f"{self.places[False][1]}, in which {name} would have its lines, is drng's own file")
        self.is_under_ours = head_of(read(OWN)) is not None
        self.ours = {path: read(path) for both in self.places.values() for path in both}
        # The other file of a trial stays below /run: those that run name it.
        self.trials = self.places[True][:1]
        if state == "not-found" and not any(self.ours.values()):
            raise Unchanged(self.missing)
        # Or its template's; and where systemd puts the credential.
        names = (name, f"{name.partition('@')[0]}@")
        files = [f"{folder}/{each}.cnf" for folder in (CONF_DIR, TRIAL) for each in names]
        self.variables = [f"{VARIABLE}={path}" for path in (*files, f"/run/credentials/{self.asked}/{CREDENTIAL}")]
        self.tried = self.ours[self.trials[0]] is not None
        drop_in, own = self.places[self.tried]
        self.head = head_of(self.ours[drop_in])
        self.path = own if self.ours[own] is not None else drop_in

    def base(self) -> Probe:
        return probe(read_roots(conf_path(), named_conf()) or b"", conf_path())

    # ---- What it is ----

    def _has_user(self) -> bool:
        return self.known.get("User", "") not in ("", "root", "0") or self.known.get("DynamicUser") == "yes"

    def _has_root(self) -> bool:
        """Of its own, in which the host's files may not be."""
        hidden = {word.split(":")[0] for word in systemd.words(self.known.get("TemporaryFileSystem", ""))}
        roots = {self.known.get("RootDirectory", ""), self.known.get("RootImage", "")} - {"", "/"}
        return bool(roots or hidden & {"/", "/usr"})

    def _text(self, head: Head) -> str:
        return f".include {conf_path()}\n{texts.lines(self.base(), head, alone=True)}"

    def files(self, head: Head, *, trial: bool) -> list[File]:
        drop_in, own = self.places[trial]
        text, is_strict = self._text(head), head.profile != "permissive"
        by_text = self._has_user() and systemd.version() >= 250
        bound = [self.base().module] if self._has_root() else []
        name = own.replace("\\", "\\\\")
        lines = ["[Service]", f"Environment={VARIABLE}={f'%d/{CREDENTIAL}' if by_text else name}"]
        if by_text:
            lines.append(f"SetCredential={CREDENTIAL}:{systemd.quoted(text)}")
        else:
            lines += [f"LoadCredential={CREDENTIAL}:{own}"] * is_strict
            bound += [own] * bool(bound)
        lines += [f"BindReadOnlyPaths={'' if is_strict else '-'}{path}" for path in bound]
        self.path = drop_in if by_text else own
        written = {own: None if by_text else texts.seal(head, text)}
        written[drop_in] = texts.seal(head, "".join(f"{line}\n" for line in lines))
        # First what the drop-in leads to; last what it no longer does.
        files = [File(path, self.ours[path], data) for path, data in written.items()]
        return sorted(files, key=lambda file: file.after is None)

    # ---- What stands in the way ----

    def require(self, request: Request) -> None:
        if not self.known:
            self.notes.append(
                "systemd does not run here, so nothing is known of the unit: run this again where it does"
            )
        if reason := self.missing or self._fought(self.known):
            raise Unchanged(reason)

    def after(self, head: Head) -> Probe:
        return probe(encode(self._text(head)), self.places[False][1])

    def _fought(self, known: dict[str, str]) -> str:
        """Whatever else sets the variable wins over us or loses by the name of its file: it is not fought."""
        look = f"(systemctl cat {self.name})"
        for word in systemd.words(known.get("Environment", "")):
            if word.startswith("OPENSSL_") and word not in self.variables:
                return f"{self.unit} sets {word} already: remove that line first {look}"
        if VARIABLE in systemd.words(known.get("UnsetEnvironment", "")):
            return f"{self.unit} takes {VARIABLE} away, by UnsetEnvironment {look}"
        return ""

    def why_not_in_effect(self) -> str:
        if not self.known:
            return ""
        known = systemd.show(self.asked, PROPERTIES)
        has = {*systemd.words(known.get("Environment", ""))} & {*self.variables}
        lost = self.missing or f"another drop-in takes {VARIABLE} away (systemctl cat {self.name})"
        return self._fought(known) or ("" if has else lost)

    def look(self) -> str:
        if not systemd.is_running():
            return "systemd does not run here"
        members = services.instances_of(self.unit) if self.name.endswith("@") else services.members_of(self.unit)
        processes = who.of_processes(members)
        self.processes, self.is_served = [*map(who.process_json, processes)], who.is_served(processes)
        first, *rest = who.lines(processes) if processes else ["not running"]
        return ": ".join([first, *rest[:1]])


def _is_ours(path: str) -> bool:
    """One that is no file, or lies behind a link, is nothing that we write, and keeps nobody from the others."""
    try:
        return head_of(read(path)) is not None
    except Failure as error:
        complain(str(error))
        return False


def drop_ins(units: str, name: str) -> dict[str, str]:
    """All of this name, each with its service."""
    return {
        path: Path(path).parent.name.removesuffix(".service.d") for path in glob.glob(f"{units}/*.service.d/{name}")
    }


def switched_on() -> list[str]:
    """Those, too, of which a killed run has left the file without the drop-in."""
    found = drop_ins(UNITS, DROP_IN) | drop_ins(RUN, TRIED)
    files = [Path(path) for folder in (CONF_DIR, TRIAL) for path in glob.glob(f"{folder}/*.cnf")]
    found |= {str(path): path.stem for path in files if path.name != Path(OWN).name and not path.is_symlink()}
    return sorted({service for path, service in found.items() if _is_ours(path)})
