"""What a service's environment will be: by systemd's own word where it runs, else by its rules in systemd.unit(5)."""

from __future__ import annotations

import contextlib
import fnmatch
import itertools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .. import systemd
from ..files import TooLongError, Tree
from ..terminal import Failure, Unchanged
from .block import decode

# The first that has a file of a name wins.
DIRECTORIES = (
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    "/etc/systemd/system",
    "/etc/systemd/system.attached",
    "/run/systemd/system",
    "/run/systemd/system.attached",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/run/systemd/generator.late",
)
VARIABLE = "OPENSSL_CONF"
# Any of them can lead libcrypto elsewhere: OPENSSL_MODULES to another drng.so, OPENSSL_CONF_INCLUDE to other includes.
MENTIONS = re.compile(r"^(?![ \t]*[#;]).*\b(OPENSSL_\w+)", flags=re.M)

# Settings that add up, each of which an empty value clears: of words, or with one a line.
LINES = ("EnvironmentFile", "ExecStartPre")
# Of systemd.exec(5), what hides files from a service, keeps it from executing them, or puts others in their place.
HIDES = ("InaccessiblePaths", "TemporaryFileSystem")
SANDBOX = ("RootDirectory", "RootImage", *HIDES, "NoExecPaths", "ExecPaths", "BindPaths", "BindReadOnlyPaths")
WORDS = ("UnsetEnvironment", *SANDBOX)

# Of systemd.unit(5), those for directories of the system's services.
SPECIFIERS = {"%": "%", "t": "/run", "E": "/etc", "S": "/var/lib", "C": "/var/cache", "L": "/var/log"}


def mentioned(text: str) -> str:
    """The OPENSSL_ variable that a text speaks of, in a line, over lines that go on, or escaped; else empty."""
    text = re.sub(r"\\x([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text)
    # A shell joins such lines to a word; systemd puts a space there; after a comment they do not go on.
    found = [MENTIONS.search(each) for each in (text, text.replace("\\\n", ""), text.replace("\\\n", " "))]
    names = [each[1] for each in found if each]
    return VARIABLE if VARIABLE in names else next(iter(names), "")


def matching(tree: Tree, path: str) -> list[str]:
    """The files of a path that may have wildcards, which systemd allows in EnvironmentFile=."""
    paths = [""]
    for part in filter(None, path.split("/")):
        if re.search(r"[*?\[]", part):
            paths = [f"{p}/{name}" for p in paths for name in tree.names(p or "/") if fnmatch.fnmatchcase(name, part)]
        else:
            paths = [f"{p}/{part}" for p in paths]
    return paths


def drop_in_names(name: str) -> list[str]:
    """Under which a unit has drop-ins, but for its type's: itself, its template, and each prefix at a dash."""
    stem, at, instance = name.removesuffix(".service").partition("@")
    stems = [stem]
    # "a-b-c" has the prefixes "a-b-" and "a-".
    while "-" in (shorter := stems[-1].rstrip("-")):
        stems.append(shorter[: shorter.rindex("-") + 1])
    names = []
    for each in stems:
        names.append(f"{each}{at}{instance}.service")
        if at and instance:
            names.append(f"{each}@.service")
        if at and each != stem:
            names.append(f"{each}.service")
    return names


@dataclass
class Setting:
    """What of a unit has a say in one variable, and in whether our check runs before the start."""

    environment: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)  # of LINES and WORDS

    def assign(self, key: str, value: str) -> None:
        if key == "Environment":
            words = systemd.words(value)
            self.environment = self.environment | dict(w.split("=", 1) for w in words if "=" in w) if words else {}
        elif key in LINES or key in WORDS:
            more = [value.removeprefix("-")] if key in LINES else systemd.words(value)
            self.lists[key] = [*self.of(key), *more] if value else []

    def of(self, key: str) -> list[str]:
        return self.lists.get(key, [])

    def _above(self, key: str, path: str) -> str:
        """The longest path of this key's at which the path lies, or below which; empty for none."""
        # "-" and "+" may stand in front; behind ":" there are options, and of BindPaths the place.
        found = [word.lstrip("-+").split(":") for word in self.of(key)]
        places = [words[1] if key.startswith("Bind") and len(words) > 1 else words[0] for words in found]
        return max((each for each in places if is_below(path, each)), key=len, default="")

    def hides(self, files: Iterable[str], programs: Iterable[str]) -> Iterable[str]:
        """What keeps the service from reading these files, or from executing these programs."""
        for key in ("RootDirectory", "RootImage"):
            for path in self.of(key)[-1:]:
                if path != "/":
                    yield f"{key}={path} has its own files in place of {', '.join((*files, *programs))}"
                    return
        back = {
            path: max((self._above(key, path) for key in ("BindPaths", "BindReadOnlyPaths")), key=len)
            for path in (*files, *programs)
        }
        for key in HIDES:
            for path, bound in back.items():
                if len(above := self._above(key, path)) > len(bound):
                    yield f"{key}={above} hides {path}"
        for path in programs:
            if len(above := self._above("NoExecPaths", path)) > len(self._above("ExecPaths", path)):
                yield f"NoExecPaths={above} does not let it execute {path}"

    def why_not(self, wanted: str, guard: str) -> str:
        """Why the service would not have this OPENSSL_CONF, or not be checked; empty where it would."""
        value = self.environment.get(VARIABLE)
        if value != wanted:
            return f"{VARIABLE} would be {value}, not {wanted}" if value else f"{VARIABLE} would not be set"
        for name in self.environment:
            if name.startswith("OPENSSL_") and name != VARIABLE:
                return f"{name} would be set"
        if any(word.split("=", 1)[0] == VARIABLE for word in self.of("UnsetEnvironment")):
            return f"UnsetEnvironment takes {VARIABLE} away"
        if guard and not any(guard in command for command in self.of("ExecStartPre")):
            return "the check before the start (ExecStartPre) is taken away by another drop-in"
        return ""


def is_below(path: str, folder: str) -> bool:
    return folder == "/" or path == folder or path.startswith(folder.rstrip("/") + "/")


def assignments(text: str) -> Iterable[tuple[str, str]]:
    """Of [Service], with lines that go on in the next."""
    section = ""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        line = line.strip()
        if found := re.fullmatch(r"\[(.*)\]", line):
            section = found[1]
        elif section == "Service" and line[:1] not in ("#", ";") and "=" in line:
            key, value = line.split("=", 1)
            yield key.strip(), value.strip()


class Unit:
    """A service, by the files that make it; ours counts as it is to be, not as it is."""

    def __init__(self, tree: Tree, service: str) -> None:
        self.tree = tree
        self.name = f"{service}.service"
        self.names = [self.name]
        self.fragment = self._find()

    def _find(self) -> str:
        """name@instance.service is made from name@.service. A link to another unit is another name for it, and that
        one's drop-ins hold too."""
        for name in dict.fromkeys((self.name, re.sub(r"@.+\.service", "@.service", self.name))):
            for directory in DIRECTORIES:
                if name in self.tree.names(directory):
                    path = f"{directory}/{name}"
                    with self.tree.place(path, follow=False) as place:
                        if place.link() == "/dev/null":
                            raise Unchanged(f"{self.name} is masked: {place.path} is a link to /dev/null")
                    with contextlib.suppress(FileNotFoundError), self.tree.place(path) as place:
                        target = os.path.basename(place.path)
                        self.names += [target] if target.endswith(".service") and target not in self.names else []
                    return path
        raise Unchanged(f"there is no unit {self.name}")

    def drop_ins(self, ours: str) -> list[str]:
        """In the order in which systemd reads them: by name, and of one name only the first in its directories. Ours is
        among them, unless another takes its place."""
        chosen: dict[str, str] = {}
        names = [each for name in self.names for each in drop_in_names(name)]
        searched = [f"{d}/{name}.d" for name in names for d in DIRECTORIES] + [f"{d}/service.d" for d in DIRECTORIES]
        # All names of one directory come before the next directory; the type's come last of all.
        searched.sort(key=lambda d: (d.endswith("/service.d"), DIRECTORIES.index(os.path.dirname(d))))
        for directory in searched:
            found = self.tree.names(directory)
            for name in (*found, os.path.basename(ours)) if directory == os.path.dirname(ours) else found:
                if name.endswith(".conf"):
                    chosen.setdefault(name, f"{directory}/{name}")
        return [chosen[name] for name in sorted(chosen)]

    def _text(self, path: str) -> str:
        try:
            return decode(self.tree.read(path) or b"")
        except TooLongError as error:
            raise Unchanged(str(error)) from None
        except Failure:
            return ""  # a link to /dev/null, which masks; systemd passes over what else is no file

    def texts(self, ours: str = "", ours_text: str = "") -> dict[str, str]:
        paths = [self.fragment, *self.drop_ins(ours)]
        return {path: ours_text if path == ours else self._text(path) for path in paths}

    @staticmethod
    def setting(texts: Iterable[str]) -> Setting:
        setting = Setting()
        for key, value in itertools.chain(*map(assignments, texts)):
            setting.assign(key, value)
        return setting

    def _resolved(self, path: str) -> str:
        """With its specifiers as systemd would have them, or refused: an unknown file may say anything."""
        stem = self.name.removesuffix(".service")
        prefix, _, instance = stem.partition("@")
        known = {**SPECIFIERS, "n": self.name, "N": stem, "p": prefix, "i": instance}

        def value(found: re.Match[str]) -> str:
            if found[1] not in known:
                raise Unchanged(
                    f"EnvironmentFile={path}: what %{found[1]} stands for is not known here, so the file may "
                    f"set {VARIABLE}"
                )
            return known[found[1]]

        return re.sub(r"%(.?)", value, path)

    def _read_at_start(self, setting: Setting) -> list[str]:
        """The files with its variables, and what Debian's apachectl reads on its way from the unit to Apache."""
        paths = [self._resolved(path) for path in setting.of("EnvironmentFile")]
        # systemd passes over one that does not start at /.
        found = [each for path in paths if path.startswith("/") for each in matching(self.tree, path)]
        if apache := re.fullmatch(r"apache2(?:@(.+))?\.service", self.name):
            found.append(f"/etc/apache2-{apache[1]}/envvars" if apache[1] else "/etc/apache2/envvars")
        return found

    def check(self, ours: str, ours_text: str, wanted: str, guard: str) -> None:
        """Another OPENSSL_CONF would win over ours, or lose against it by the name of its file: it is not fought."""
        texts = self.texts(ours, ours_text)
        setting = self.setting(texts.values())
        for name in setting.environment:
            if "%" in name:
                raise Unchanged(
                    f"Environment={name}=...: the name of the variable is not known here, and may be {VARIABLE}"
                )
        others = {path: text for path, text in texts.items() if path != ours}
        others |= {path: self._text(path) for path in self._read_at_start(setting)}
        for path, text in others.items():
            if name := mentioned(text):
                raise Unchanged(
                    f"{self.tree.shown(path)} mentions {name} already, and drng-enable does not overrule it; "
                    "remove that line first"
                )
        if ours not in texts:
            other = next(path for path in texts if os.path.basename(path) == os.path.basename(ours))
            raise Unchanged(f"{self.tree.shown(other)} takes the place of {self.tree.shown(ours)}")
        if reason := setting.why_not(wanted, guard):
            raise Unchanged(f"{reason}, by one of {', '.join(map(self.tree.shown, others))}")


# ---- Where systemd runs ----


def is_running(tree: Tree) -> bool:
    return tree.live and systemd.is_running()


def shown(service: str) -> tuple[Setting, str]:
    """The setting by systemd's own word, and the files that it comes from."""
    wanted = ("Environment", "EnvironmentFiles", "ExecStartPre", "FragmentPath", "DropInPaths", *WORDS)
    said = systemd.systemctl("show", f"--property={','.join(wanted)}", "--", f"{service}.service")
    setting, files = Setting(), ""
    for key, value in systemd.properties(said):
        if key == "EnvironmentFiles":
            setting.assign("EnvironmentFile", value.removesuffix(")").rpartition(" (ignore_errors=")[0])
        elif key in ("FragmentPath", "DropInPaths"):
            files = f"{files} {value}".strip()
        elif value:
            setting.assign(key, value)
    return setting, files


def setting(tree: Tree, service: str) -> Setting:
    """By systemd's own word where it runs, else by its rules."""
    if is_running(tree):
        return shown(service)[0]
    unit = Unit(tree, service)
    return unit.setting(unit.texts().values())


def why_not_in_effect(tree: Tree, service: str, wanted: str, guard: str) -> str:
    """Why a service that is started now would not have ours; empty where it would."""
    setting, files = shown(service)
    for path in (match for pattern in setting.of("EnvironmentFile") for match in matching(tree, pattern)):
        if name := mentioned(decode(tree.read(path) or b"")):
            return f"{path} mentions {name}"
    reason = setting.why_not(wanted, guard)
    return f"{reason} (systemctl show names {files})" if reason else ""
