"""Whether the openssl.cnf that somebody names can be read, with all that it includes.

libcrypto goes on in silence without a file that it cannot open, and serves random numbers by itself. Here the files are
looked for as a process sees them: below its root directory, from its working directory. Nothing is opened that is not a
regular file on an ordinary file system, and symbolic links do not lead out of the root.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from .text import printable

MOST_LINKS, MOST_FILES, MOST_DEPTH, MOST_BYTES = 40, 64, 8, 1 << 20

# Of a line that names a file; what is longer is passed over. A path has 4,096 bytes at the most.
MOST_LINE = 1 << 14

# f_type of file systems whose files are the kernel's own: to read one may take something away, as from /proc/kmsg.
KERNELS_OWN = {
    0x9FA0: "proc",
    0x62656572: "sysfs",
    0x64626720: "debugfs",
    0x74726163: "tracefs",
    0x73636673: "securityfs",
    0x27E0EB: "cgroup",
    0x63677270: "cgroup2",
    0x1CD1: "devpts",
    0x62656570: "configfs",
    0x6165676C: "pstore",
    0xDE5E81E4: "efivarfs",
    0xCAFE4A11: "bpf",
    0xF97CFF8C: "selinuxfs",
    0x43415D53: "smackfs",
    0x42494E4D: "binfmt_misc",
    0x65735543: "fusectl",
    0x7655821: "resctrl",
    0x19800202: "mqueue",
    0xABBA1974: "xenfs",
    0x6E736673: "nsfs",
}

# More than any struct statfs has.
STATFS_SIZE = 512

O_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


# Numbers of users or groups, of which a user namespace knows these.
Mapped = tuple[range, ...]


@dataclass(frozen=True)
class User:
    """Whose rights count. A capability overrides a file's mode, and no number does: a container's root may lack it."""

    uid: int
    groups: frozenset[int]
    overrides: bool = False  # CAP_DAC_OVERRIDE or CAP_DAC_READ_SEARCH, in its user namespace
    uids: Mapped = ()
    gids: Mapped = ()

    def may(self, file: os.stat_result, right: int) -> bool:
        """right: 4 to read, 1 to search a directory."""
        known = any(file.st_uid in ids for ids in self.uids) and any(file.st_gid in ids for ids in self.gids)
        if self.overrides and known:
            return True
        if self.uid == file.st_uid:
            return bool(file.st_mode >> 6 & right)
        return bool(file.st_mode >> (3 if file.st_gid in self.groups else 0) & right)


@dataclass(frozen=True)
class View:
    """Where paths begin for a process: descriptors of its root and working directory; and what its environment says."""

    root: int
    cwd: int
    user: User | None = None  # None: whoever asks
    include_directory: str = ""
    own: bool = False  # of the process that asks: what it may not read, it may not read
    was_another: bool = False  # it may have read the file as another user, so that what this one may not says nothing


class FileError(Exception):
    """The file cannot be read."""


def _refused(view: View, error: OSError) -> FileError:
    """The error in words, unless it only says that the one who asks is another than the one who reads."""
    if isinstance(error, PermissionError) and not view.own:
        raise error
    return FileError("there is no such file" if isinstance(error, FileNotFoundError) else error.strerror)


def _not_allowed(view: View, words: str) -> Exception:
    """That its user may not; none can tell what that means where it may have been another user."""
    return PermissionError(words) if view.was_another else FileError(words)


# ---- Paths ----


def _open_at(view: View, directory: int, name: str) -> int:
    try:
        return os.open(name, O_LOOK, dir_fd=directory)
    except OSError as error:
        raise _refused(view, error) from None


def _descend(view: View, directory: int, name: str) -> int:
    """The entry of that name, ".." being the root's own at the root."""
    here, root = os.fstat(directory), os.fstat(view.root)
    if not stat.S_ISDIR(here.st_mode):
        raise FileError("there is no such file")
    if view.user is not None and not view.user.may(here, 1):
        raise _not_allowed(view, "its user, as it is now, may not go there")
    if name == ".." and os.path.samestat(here, root):
        name = "."
    return _open_at(view, directory, name)


def locate(view: View, path: str) -> int:
    """A descriptor of what the path leads to, for the caller to close."""
    todo = path.split("/")[::-1]
    current = os.dup(view.root if path.startswith("/") else view.cwd)
    links = 0
    try:
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            found = _descend(view, current, name)
            if not stat.S_ISLNK(os.fstat(found).st_mode):
                current, found = found, current
                os.close(found)
                continue
            target = os.readlink("", dir_fd=found)
            os.close(found)
            links += 1
            if links > MOST_LINKS:
                raise FileError("too many symbolic links")
            if target.startswith("/"):
                os.close(current)
                current = os.dup(view.root)
            todo += target.split("/")[::-1]
    except BaseException:
        os.close(current)
        raise
    return current


def is_kernels_own(descriptor: int) -> bool:
    """Whether it lies on such a file system, or on one that cannot be told."""
    facts = (ctypes.c_long * (STATFS_SIZE // ctypes.sizeof(ctypes.c_long)))()
    if ctypes.CDLL(None).fstatfs(descriptor, ctypes.byref(facts)) != 0:
        return True
    return facts[0] & 0xFFFFFFFF in KERNELS_OWN


def _read(view: View, descriptor: int) -> bytes:
    """
    What is in the file that an O_PATH descriptor stands for; nothing where it is a device, which may be meant, or a
    file of the kernel's own.
    """
    file = os.fstat(descriptor)
    if stat.S_ISCHR(file.st_mode):
        return b""
    if not stat.S_ISREG(file.st_mode):
        raise FileError("it is a directory" if stat.S_ISDIR(file.st_mode) else "it is no regular file")
    if view.user is not None and not view.user.may(file, 4):
        raise _not_allowed(view, "its user, as it is now, may not read it")
    if not view.own and is_kernels_own(descriptor):
        return b""
    try:
        opened = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise  # it is /proc that is not there
    except OSError as error:
        raise _refused(view, error) from None
    with os.fdopen(opened, "rb") as stream:
        return stream.read(MOST_BYTES)


# ---- Contents ----


def _logical_lines(text: bytes) -> Iterator[bytes]:
    """A line that ends with a backslash goes on in the next; comments are empty."""
    for line in re.sub(rb"\\\r?\n", b"", text).splitlines():
        yield b"" if line.lstrip().startswith(b"#") else line


def _value(raw: bytes) -> bytes:
    """Without quotes and backslashes, up to a comment."""
    value, quote = bytearray(), 0
    characters = iter(raw.partition(b"\0")[0])
    for character in characters:
        if character == ord("\\") and quote != ord("'"):
            value += bytes((next(characters, ord("\\")),))
        elif quote != 0:
            quote, value = (0, value) if character == quote else (quote, value + bytes((character,)))
        elif character in b"\"'`":
            quote = character
        elif character == ord("#"):
            break
        else:
            value.append(character)
    return bytes(value).rstrip()


def _directive(line: bytes, name: bytes) -> bytes:
    """
    What follows the directive, b"" where it is another line. As in OpenSSL's conf_def.c: .include PATH, .include=PATH
    and .include = PATH. Each step goes over the line once: whoever writes the file shall not make it take longer.
    """
    line = line.strip()
    if len(line) > MOST_LINE or not line.startswith(name):
        return b""
    rest = line[len(name) :]
    stripped = rest.lstrip()
    if stripped.startswith(b"="):
        return stripped[1:].lstrip()
    return stripped if stripped != rest else b""


def _include_directory(line: bytes) -> bytes | None:
    """Of a .pragma includedir:PATH."""
    key, colon, value = _directive(line, b".pragma").partition(b":")
    return value.strip() if colon and key.rstrip() == b"includedir" else None


@dataclass
class Search:
    """Goes through a file and all that it includes, and stops at the first that cannot be read."""

    view: View
    files: int = 0
    directory: str = field(default="")
    goes_on: bool = False  # as libcrypto does, and keeps the lines
    lines: list[bytes] = field(default_factory=list)
    changed: float = 0.0  # when one of the files was changed last

    def file(self, path: str, depth: int = 0) -> str:
        """What is wrong, "" for nothing."""
        self.files += 1
        if self.files > MOST_FILES or depth > MOST_DEPTH:
            return ""
        try:
            descriptor = locate(self.view, path)
        except FileError as error:
            return f"{printable(path)}: {error}"
        try:
            self.changed = max(self.changed, os.fstat(descriptor).st_ctime)
            if depth > 0 and stat.S_ISDIR(os.fstat(descriptor).st_mode):
                return self.folder(path, descriptor, depth)
            return self.text(path, _read(self.view, descriptor), depth)
        except FileError as error:
            return f"{printable(path)}: {error}"
        finally:
            os.close(descriptor)

    def folder(self, path: str, descriptor: int, depth: int) -> str:
        """Of a directory libcrypto takes what ends with .cnf or .conf."""
        try:
            names = sorted(os.listdir(f"/proc/self/fd/{descriptor}"))[:MOST_FILES]
        except OSError as error:
            raise _refused(self.view, error) from None
        problems = (self.file(f"{path}/{name}", depth + 1) for name in names if name.endswith((".cnf", ".conf")))
        return next(filter(None, problems), "")

    def text(self, path: str, text: bytes, depth: int) -> str:
        for line in _logical_lines(text):
            if self.files > MOST_FILES:
                break
            if (directory := _include_directory(line)) is not None:
                self.directory = os.fsdecode(_value(directory))
            target = os.fsdecode(_value(_directive(line, b".include")))
            # What a variable stands for is not known here.
            if not target or "$" in target:
                if self.goes_on:
                    self.lines.append(line)
                continue
            folder = self.view.include_directory or self.directory
            if not target.startswith("/") and folder:
                target = f"{folder}/{target}"
            if (problem := self.file(target, depth + 1)) and not self.goes_on:
                return f"{printable(path)} includes {problem}" if depth == 0 else problem
        return ""


def problem(view: View, path: str) -> str:
    """Why libcrypto goes on without this file or one that it includes; "" where it need not, or where none can tell."""
    if path == "" or "\0" in path:
        return ""
    try:
        return Search(view).file(path)
    except OSError:
        return ""


# ---- Whether it loads drng ----

Sections = dict[bytes, dict[bytes, bytes]]

# Values of "activate" by which some OpenSSL loads no provider.
INACTIVE = (b"0", b"no", b"off", b"false")


def _sections(lines: list[bytes]) -> Sections:
    """Of each name the last value, as libcrypto takes it. Where there are variables, the values are not known."""
    found: Sections = {}
    section = b"default"
    for line in map(bytes.strip, lines):
        if line.startswith(b"["):
            section = line[1:].partition(b"]")[0].strip()
            continue
        key, equals, value = line.partition(b"=")
        if equals and len(line) <= MOST_LINE:
            place, colons, name = key.strip().partition(b"::")
            found.setdefault(place if colons else section, {})[name if colons else place] = _value(value.strip())
    return found


def _activates_drng(sections: Sections) -> bool:
    def named(section: dict[bytes, bytes], key: bytes) -> dict[bytes, bytes]:
        return sections.get(section.get(key, b""), {})

    providers = named(named(sections.get(b"default", {}), b"openssl_conf"), b"providers")
    # OpenSSL takes what stands behind the first dot for the name.
    drng = next((named(providers, key) for key in providers if key.partition(b".")[2] == b"drng"), None)
    drng = named(providers, b"drng") if drng is None else drng
    return drng.get(b"activate", b"0").lower() not in INACTIVE


def drng_since(view: View, path: str) -> float:
    """When the files that make libcrypto load drng were changed last; 0 where they do not, or where none can tell."""
    search = Search(view, goes_on=True)
    try:
        problem = search.file(path) if path and "\0" not in path else "no name"
    except OSError:
        return 0.0
    return search.changed if not problem and _activates_drng(_sections(search.lines)) else 0.0


@contextlib.contextmanager
def own_view() -> Iterator[View]:
    """The view of this process itself."""
    root, cwd = os.open("/", O_LOOK), os.open(".", O_LOOK)
    try:
        yield View(root, cwd, None, os.environ.get("OPENSSL_CONF_INCLUDE", ""), own=True)
    finally:
        os.close(root)
        os.close(cwd)
