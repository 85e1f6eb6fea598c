"""Whether the openssl.cnf that somebody names can be read, with all that it includes.

libcrypto goes on in silence without a file that it cannot open, and serves random numbers by itself. Here the files are
looked for as a process sees them: below its root directory, from its working directory. Nothing is opened that is not a
regular file on an ordinary file system, and symbolic links do not lead out of the root.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from .. import procfs
from ..conf.meaning import NO, generators_of, named_sections, undotted
from ..conf.reading import Opener, Sections, TooMuchError, UnreadableFileError, Walk, first_names

MOST_LINKS = 40

# f_type of file systems whose files are the kernel's own: to read one may take something away, as from /proc/kmsg:
# proc, sysfs, debugfs, tracefs, securityfs; cgroup, cgroup2, devpts, configfs, pstore; efivarfs, bpf, selinuxfs,
# smackfs, binfmt_misc; fusectl, resctrl, mqueue, xenfs, nsfs.
KERNELS_OWN = (
    *(0x9FA0, 0x62656572, 0x64626720, 0x74726163, 0x73636673),
    *(0x27E0EB, 0x63677270, 0x1CD1, 0x62656570, 0x6165676C),
    *(0xDE5E81E4, 0xCAFE4A11, 0xF97CFF8C, 0x43415D53, 0x42494E4D),
    *(0x65735543, 0x7655821, 0x19800202, 0xABBA1974, 0x6E736673),
)

# More than any struct statfs has.
STATFS_SIZE = 512

O_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class View:
    """Where paths begin for a process: descriptors of its root and working directory; and what its environment says."""

    root: int
    cwd: int
    user: procfs.User | None = None  # None: whoever asks
    include_directory: str = ""
    own: bool = False  # of the process that asks: what it may not read, it may not read
    was_another: bool = False  # it may have read the file as another user, so that what this one may not says nothing


def _refused(view: View, error: OSError) -> UnreadableFileError:
    """The error in words, unless it only says that the one who asks is another than the one who reads."""
    if isinstance(error, PermissionError) and not view.own:
        raise error
    return UnreadableFileError("there is no such file" if isinstance(error, FileNotFoundError) else error.strerror)


def _not_allowed(view: View, words: str) -> Exception:
    """That its user may not; none can tell what that means where it may have been another user."""
    return PermissionError(words) if view.was_another else UnreadableFileError(words)


# ---- Paths ----


def _descend(view: View, directory: int, name: str) -> int:
    """The entry of that name, ".." being the root's own at the root."""
    here, root = os.fstat(directory), os.fstat(view.root)
    if not stat.S_ISDIR(here.st_mode):
        raise UnreadableFileError("there is no such file")
    if view.user is not None and not view.user.may(here, 1):
        raise _not_allowed(view, "its user, as it is now, may not go there")
    try:
        return os.open("." if name == ".." and os.path.samestat(here, root) else name, O_LOOK, dir_fd=directory)
    except OSError as error:
        raise _refused(view, error) from None


def locate(view: View, path: str) -> tuple[int, float]:
    """
    A descriptor of what the path leads to, for the caller to close, and when it came to be what is there: when it was
    written, or was given its name, or a link on the way was made. A new owner or mode is no change.
    """
    todo = path.split("/")[::-1]
    current = os.dup(view.root if path.startswith("/") else view.cwd)
    links, changed, last = 0, 0.0, 0.0
    try:
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            found = _descend(view, current, name)
            there = os.fstat(found)
            named = min(there.st_ctime, os.fstat(current).st_mtime)
            if not stat.S_ISLNK(there.st_mode):
                last = max(there.st_mtime, named) if not stat.S_ISDIR(there.st_mode) else there.st_mtime
                current, found = found, current
                os.close(found)
                continue
            changed = max(changed, named)
            target = os.readlink("", dir_fd=found)
            os.close(found)
            links += 1
            if links > MOST_LINKS:
                raise UnreadableFileError("too many symbolic links")
            if target.startswith("/"):
                os.close(current)
                current = os.dup(view.root)
            todo += target.split("/")[::-1]
    except BaseException:
        os.close(current)
        raise
    return current, max(changed, last)


def is_kernels_own(descriptor: int) -> bool:
    """Whether it lies on such a file system, or on one that cannot be told."""
    facts = (ctypes.c_long * (STATFS_SIZE // ctypes.sizeof(ctypes.c_long)))()
    if ctypes.CDLL(None).fstatfs(descriptor, ctypes.byref(facts)) != 0:
        return True
    return facts[0] & 0xFFFFFFFF in KERNELS_OWN


def _read(view: View, descriptor: int, most: int) -> bytes:
    """
    What is in the file that an O_PATH descriptor stands for, and no more than one byte beyond the most; nothing where
    it is a device, which may be meant, or a file of the kernel's own.
    """
    file = os.fstat(descriptor)
    if stat.S_ISCHR(file.st_mode):
        return b""
    if not stat.S_ISREG(file.st_mode):
        raise UnreadableFileError("it is a directory" if stat.S_ISDIR(file.st_mode) else "it is no regular file")
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
        return stream.read(most + 1)


# ---- Contents ----


class ViewOpener(Opener):
    """Files as the process sees them. What is larger than this is no openssl.cnf, and nothing is said of it."""

    bytes, files, depth, names, line = 1 << 20, 64, 8, 4096, 1 << 14

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view
        self.include_directory = view.include_directory
        self.changed = 0.0  # when one of the files was changed last
        self.problem = ""  # the first include that cannot be read

    def read(self, path: str, most: int, names: int) -> bytes | list[str]:
        descriptor, changed = locate(self.view, path)
        with procfs.closing(descriptor):
            self.changed = max(self.changed, changed)
            if stat.S_ISDIR(os.fstat(descriptor).st_mode) and path != self.top:
                try:
                    return first_names(f"/proc/self/fd/{descriptor}", names + 1)
                except OSError as error:
                    raise _refused(self.view, error) from None
            return _read(self.view, descriptor, most)

    def go_on_without(self, path: str, error: Exception) -> None:
        """As libcrypto does, unless none can tell what it does."""
        if isinstance(error, OSError):
            raise error
        self.problem = self.problem or f"{self.top} includes {path}: {error}"


@dataclass(frozen=True)
class Reading:
    """What an openssl.cnf makes libcrypto do; nothing where none can tell."""

    problem: str = ""  # why it goes on without this file or one that it includes, as its user has written the names
    generator: str = ""  # what it takes as the generator
    drng_since: float = 0.0  # when the files that make it load drng were changed last, 0 where they do not


def read(view: View, path: str) -> Reading:
    opener = ViewOpener(view)
    if path == "" or "\0" in path:
        return Reading()
    try:
        conf = Sections(Walk(opener).go(path).lines)
    except UnreadableFileError as error:
        return Reading(f"{path}: {error}")
    except (OSError, TooMuchError):
        return Reading(opener.problem)
    named = named_sections(conf)
    # By these, some OpenSSL loads no provider.
    is_loaded = undotted(conf.section(named.drng)).get("activate", "0").lower() not in NO
    generator = generators_of(conf, named.init).get("random", "")
    return Reading(opener.problem, generator, opener.changed if is_loaded else 0.0)


@contextlib.contextmanager
def own_view() -> Iterator[View]:
    """The view of this process itself. Of a working directory that it may not enter nothing can be told."""
    with contextlib.ExitStack() as stack:
        root, cwd = stack.enter_context(procfs.closing(os.open("/", O_LOOK))), -1
        with contextlib.suppress(PermissionError):
            cwd = stack.enter_context(procfs.closing(os.open(".", O_LOOK)))
        yield View(root, cwd, None, os.environ.get("OPENSSL_CONF_INCLUDE", ""), own=True)
