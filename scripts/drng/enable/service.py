# SPDX-License-Identifier: Apache-2.0
"""One systemd service: a file of its own in place of openssl.cnf, and a drop-in that names it. systemd is asked what
else has a say; where it does not run, nobody can be asked."""

from __future__ import annotations

import glob
import os
import re

from .. import CONF_DIR, systemd
from ..terminal import Unchanged
from . import block, system
from .arguments import Request
from .changes import File, read
from .check import Check
from .target import Target

MARK = "# made by drng-enable"
UNITS = "/etc/systemd/system"
VARIABLE = "OPENSSL_CONF"
PROPERTIES = (
    "Id,LoadState,ActiveState,Type,Result,User,ConsistsOf,Environment,EnvironmentFiles,UnsetEnvironment,ExecCondition"
)

# libcrypto passes over an OPENSSL_CONF that it cannot read or parse, and serves by itself. So, for a profile that lets
# nobody else serve, a start depends on what openssl finds under the same variable and as the same user, outside of the
# service's sandbox, in which nothing else may run. 255 is the status that systemd takes for a failure, and the journal
# has the reason. In a unit, two $ stand for one.
GUARD = """\
ExecCondition=+/bin/sh -c 'PATH=/usr/sbin:/usr/bin:/sbin:/bin; \
  u=$${{USER:-root}}; g=$$(id -g "$$u" 2>/dev/null) || u=; \
  as() {{ case $$u in root) "$$@" ;; \
  "") setpriv --reuid=65534 --regid=65534 --clear-groups "$$@" ;; \
  *) setpriv --reuid="$$u" --regid="$$g" --init-groups "$$@" ;; esac; }}; \
  as openssl list -providers 2>/dev/null | grep -qx "  drng" && exit 0; \
  why="$$OPENSSL_CONF cannot be read by $${{u:-others}}"; \
  if as test -r "$$OPENSSL_CONF"; then \
  why=$$(as openssl list -provider drng -providers 2>&1 >/dev/null | \
  sed -n "s/^[^:]*:error:[^:]*:[^:]*:[^:]*:\\([^:]*\\):[^:]*:[^:]*:/\\1: /p" | head -n 1); fi; \
  echo "drng did not load: $${{why:-$$OPENSSL_CONF does not activate it}}; see drng-enable status {name}" >&2; exit 255'
"""
GUARDED = "drng did not load"


def mentioned(path: str) -> str:
    """The OPENSSL_ variable that an environment file sets; else empty."""
    found = re.search(r"^[ \t]*(?:export[ \t]+)?(OPENSSL_\w+)=", block.decode(read(os.path.realpath(path))), re.M)
    return found[1] if found else ""


class Service(Target):
    """The files of a service, as they stand and as they would be."""

    def __init__(self, name: str) -> None:
        if name.endswith("@"):
            raise Unchanged(f"{name} is a template: name an instance of it, {name}NAME")
        self.known = show(f"{name}.service") if systemd.is_running() else {}
        if self.known.get("LoadState") == "loaded":
            name = self.known["Id"].removesuffix(".service")
        self.unit, self.conf = f"{name}.service", system.conf_path()
        self.drop_in = f"{UNITS}/{self.unit}.d/drng.conf"
        super().__init__(name, name, f"{CONF_DIR}/{name}.cnf")
        self.check.path = self.conf
        # drng 0.2.0 had it in another folder.
        was = f"{CONF_DIR}/service/{name}.cnf"
        found = {path: read(path) for path in (self.drop_in, self.path, was)}
        self.there = {path: data for path, data in found.items() if data is not None}
        self.in_effect = self.path if self.path in self.there else was
        self.head = block.head_of(block.decode(self.there.get(self.in_effect))) if self.drop_in in self.there else None

    def base(self) -> str:
        return f"{MARK} for {self.unit}: what the system's openssl.cnf says, then drng.\n.include {self.conf}\n"

    def files(self, head: block.Head) -> list[File]:
        # systemd takes a backslash for the start of an escape, and so does its shell.
        own, name = self.path.replace("\\", "\\\\"), self.name.replace("\\", "\\\\\\\\")
        guard = "" if head.profile == "permissive" else GUARD.format(name=name)
        drop_in = f"{MARK}\n[Service]\nEnvironment={VARIABLE}={own}\n{guard}"
        # First what the drop-in points to.
        texts = {self.path: self.base() + self.lines(head), self.drop_in: drop_in}
        files = [File(path, self.there.get(path), block.encode(block.seal(text))) for path, text in texts.items()]
        return files + [File(path, data, None) for path, data in self.there.items() if path not in texts]

    def off(self) -> list[File]:
        self._require_ours()
        if not self.there and self.known.get("LoadState") == "not-found":
            raise Unchanged(f"there is no unit {self.unit}")
        self.head = None
        return [File(path, data, None) for path, data in self.there.items()]

    def _require_ours(self) -> None:
        for path, data in self.there.items():
            text = block.decode(data)
            if not text.startswith(MARK):
                raise Unchanged(f"{path} exists, and drng-enable did not make it")
            if not block.is_as_sealed(text):
                raise Unchanged(
                    f"{path} is not as drng-enable wrote it: move the lines that you want to keep into a file of your "
                    "own, remove this one, and try again"
                )

    def may_name_drng(self) -> bool:
        """The system's own lines stand before these."""
        return block.head_of(block.decode(read(self.conf))) is not None or os.path.exists(system.PATH)

    def require(self, request: Request) -> None:
        self._require_ours()
        state = self.known.get("LoadState")
        if state is None:
            self.notes.append("systemd does not run here, and could not be asked about this service")
        elif state != "loaded":
            raise Unchanged(f"there is no unit {self.unit}" if state == "not-found" else f"{self.unit} is {state}")
        if reason := self._fought(self.known, self.in_effect):
            raise Unchanged(reason)

    def last_check(self, text: str, head: block.Head) -> None:
        """As the unit's user, who may not read what root reads."""
        if user := self.known.get("User", ""):
            served, lines = Check(self.conf, user=user).serving(text)
            if not served:
                raise Unchanged(f"for user {user}, as whom {self.unit} runs, drng would not serve: {'; '.join(lines)}")

    def _fought(self, known: dict[str, str], ours: str) -> str:
        """Whatever else sets the variable wins over us or loses by the name of its file: it is not fought."""
        look = f"(systemctl cat {self.name})"
        for word in systemd.words(known.get("Environment", "")):
            if word.startswith("OPENSSL_") and word != f"{VARIABLE}={ours}":
                return f"{self.unit} sets {word} already: remove that line first {look}"
        if VARIABLE in systemd.words(known.get("UnsetEnvironment", "")):
            return f"{self.unit} takes {VARIABLE} away, by UnsetEnvironment {look}"
        for file in known.get("EnvironmentFiles", "").splitlines():
            for path in glob.glob(file.removesuffix(")").rpartition(" (ignore_errors=")[0]):
                if key := mentioned(path):
                    return f"{path}, which {self.unit} reads, sets {key}: remove that line first"
        return ""

    def why_not_in_effect(self) -> str:
        known = show(self.unit) if self.known else {}
        has = f"{VARIABLE}={self.path}" in systemd.words(known.get("Environment", ""))
        if not known or self.head is None:
            return f"{self.unit} still has {self.path}" if has else ""
        guarded = self.head.profile == "permissive" or GUARDED in known.get("ExecCondition", "")
        lost = "" if has and guarded else f"another drop-in takes {'its check' if has else VARIABLE} away"
        return self._fought(known, self.path) or (f"{lost} (systemctl cat {self.name})" if lost else "")

    def still_served(self) -> str:
        served = self.check.serves(f".include {self.conf}\n")
        return f"drng still serves {self.name}, by {self.conf}" if served else ""


def show(unit: str) -> dict[str, str]:
    """By systemd's own word; of a name that comes more than once, a line each."""
    known: dict[str, str] = {}
    for key, value in systemd.properties(systemd.systemctl("show", f"--property={PROPERTIES}", "--", unit)):
        known[key] = f"{known[key]}\n{value}" if key in known else value
    return known


def switched_on() -> list[str]:
    """The services for which there is a drop-in of ours."""
    found = glob.glob(f"{glob.escape(UNITS)}/*.service.d/drng.conf")
    ours = [path for path in found if block.decode(read(path)).startswith(MARK)]
    return sorted(os.path.basename(os.path.dirname(path)).removesuffix(".service.d") for path in ours)
