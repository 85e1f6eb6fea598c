"""The one reader of openssl.cnf: its lines, with all that it includes, and its sections.

libcrypto goes on in silence without a file that it cannot open, waits for a FIFO, takes a directory for an empty file
and follows a circle. A Walk goes through a file and what it includes as libcrypto's conf_def.c does, within limits; how
it gets at files is an Opener's: a command's own, another process's, or an image's. Conf is libcrypto's own reading, of
what a Walk has found to be readable.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import re
import signal
import stat
from collections.abc import Iterable, Iterator

from ..text import visible

# By their names, without the help of the compiler in PATH that ctypes would ask.
LIBCRYPTO = ("libcrypto.so.3", "libcrypto.so.4")

ERR_TXT_STRING = 2  # of openssl/err.h

# Of a line of a value; a path has 4,096 bytes at the most.
MOST_LINE = 1 << 14

Section = dict[str, str]


class ConfError(Exception):
    """The file cannot be read, or is no openssl.cnf."""


class UnreadableFileError(Exception):
    """One file that libcrypto would go on without, and why."""


class TooMuchError(Exception):
    """It goes beyond what a real openssl.cnf may need."""


# ---- Lines ----

BOM = b"\xef\xbb\xbf"
WHITE = b" \t\r\n"
# What libcrypto takes for a name, and what some letters stand for behind a backslash.
NAME = re.compile(rb"(?:\\.|[\w!.%&*+,/;?@^~|$-])*", re.S)
ESCAPES = dict(zip(b"nrbt", b"\n\r\b\t"))


def logical_lines(text: bytes) -> Iterator[bytes]:
    """A line that ends with a backslash, and not with two, goes on in the next; comments are empty."""
    for line in re.sub(rb"(?<!\\)\\\r*\n", b"", text).split(b"\n"):
        yield b"" if line.lstrip(WHITE).startswith(b"#") else line.rstrip(b"\r")


def value_of(raw: bytes) -> bytes:
    """Without quotes and backslashes, up to a comment, and without the white space before that."""
    value, quote, length = bytearray(), 0, 0
    characters = iter(raw.partition(b"\0")[0])
    for character in characters:
        if character == ord("\\"):
            character = next(characters, 0)
            value += bytes((character if quote else ESCAPES.get(character, character),)) if character else b""
        elif quote != 0 and character != quote:
            value.append(character)
        elif character in b"\"'`":
            quote = 0 if quote else character
        elif character == ord("#"):
            break
        else:
            value.append(character)
        length = len(value) if quote or character not in WHITE else length
    return bytes(value[:length])


def directive(line: bytes, name: bytes) -> bytes:
    """
    What follows the directive, b"" where it is another line: .include PATH, .include=PATH, .include = PATH, and what
    libcrypto takes for it, too: .includes PATH, and section::.include PATH. Each step goes over the line once: whoever
    writes the file shall not make it take longer.
    """
    line = line.strip(WHITE)
    found = NAME.match(line)
    if found and line.startswith(b"::", found.end()):
        line = line[found.end() + 2 :]
        found = NAME.match(line)
    if not found or not line.startswith(name):
        return b""
    rest = line[found.end() :].lstrip(WHITE)
    if rest.startswith(b"="):
        return rest[1:].lstrip(WHITE)
    return rest if len(line) - len(rest) > len(name) else b""


def include_directory(line: bytes) -> bytes | None:
    """Of a .pragma includedir:PATH."""
    key, colon, value = directive(line, b".pragma").partition(b":")
    return value.strip() if colon and key.rstrip() == b"includedir" else None


# ---- Files ----


def first_names(folder: str, most: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in itertools.islice(entries, most)]


class Opener:
    """How a Walk gets at files; this one as the command itself does. A device is not even opened: some act on that."""

    # What a real openssl.cnf stays far below: bytes of all files together, files, how deep they include each other,
    # names in the folders that are included, and bytes of a line that is looked at.
    bytes, files, depth, names, line = 4 << 20, 1000, 32, 1 << 16, 1 << 16

    def __init__(self, shown: str = "") -> None:
        self.top, self.shown = "", shown
        self.include_directory = os.environ.get("OPENSSL_CONF_INCLUDE", "")

    def read(self, path: str, most: int, names: int) -> bytes | list[str]:
        """A file, or the names in a folder; no more of them than one beyond the most."""
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return first_names(path, names + 1)
        if not stat.S_ISREG(mode):
            raise ConfError(f"{self.name(path)} is a FIFO or a device, not a file")
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            return file.read(most + 1)

    def name(self, path: str) -> str:
        """The file's in messages."""
        return self.shown or path if path == self.top else path

    def go_on_without(self, path: str, error: Exception) -> None:
        """An include that cannot be read: libcrypto goes on, and speaks of it in its error queue."""

    def pass_over(self, line: bytes) -> None:
        """An include whose path has a variable, which is not known here, or a line that is too long."""


class Walk:
    """Goes through an openssl.cnf. Its lines are there afterwards, but for those that include others."""

    def __init__(self, opener: Opener) -> None:
        self.opener = opener
        self.files = self.bytes = self.names = 0
        self.directory = ""
        self.lines: list[bytes] = []

    def go(self, path: str) -> Walk:
        """An UnreadableFileError or an OSError where the file itself cannot be read."""
        self.opener.top = path
        self._file(path, 0)
        return self

    def _file(self, path: str, depth: int) -> None:
        opener, self.files = self.opener, self.files + 1
        if depth > opener.depth:
            raise TooMuchError(
                f"{opener.name(path)} includes itself, or its includes are more than {opener.depth} files deep"
            )
        if self.files > opener.files:
            raise TooMuchError(
                f"{opener.name(path)}: more than {opener.files} files are read, so it is not an openssl.cnf"
            )
        found = opener.read(path, opener.bytes - self.bytes, opener.names - self.names)
        if isinstance(found, list):
            if depth == 0:
                raise UnreadableFileError("it is a directory")
            self._folder(path, found, depth)
            return
        self.bytes += len(found)
        if self.bytes > opener.bytes:
            raise TooMuchError(
                f"{opener.name(path)}: more than {opener.bytes} bytes are read, so it is not an openssl.cnf"
            )
        self.text(found, depth)

    def _folder(self, path: str, names: list[str], depth: int) -> None:
        """Of a directory libcrypto takes what ends with .cnf or .conf."""
        self.names += len(names)
        if self.names > self.opener.names:
            raise TooMuchError(f"{path}: more than {self.opener.names} names in folders that are included")
        for name in sorted(names):
            if name.lower().endswith((".cnf", ".conf")):
                self._included(f"{path}/{name}", depth)

    def _included(self, path: str, depth: int) -> None:
        try:
            self._file(path, depth + 1)
        except (UnreadableFileError, OSError) as error:
            self.opener.go_on_without(path, error)

    def text(self, text: bytes, depth: int = 0) -> None:
        for line in logical_lines(text.removeprefix(BOM)):
            if b"\r" in line or b"\0" in line:
                raise TooMuchError("a line has a carriage return or a NUL in it, at which libcrypto may begin another")
            if len(line) > self.opener.line:
                self.opener.pass_over(line)
                self.lines.append(line)
                continue
            if (directory := include_directory(line)) is not None:
                self.directory = os.fsdecode(value_of(directory))
            target = os.fsdecode(value_of(directive(line, b".include")))
            if target and "$" in target:
                self.opener.pass_over(line)
            if not target or "$" in target:
                self.lines.append(line)
                continue
            folder = self.opener.include_directory or self.directory
            self._included(f"{folder}/{target}" if folder and not target.startswith("/") else target, depth)


# ---- Sections ----


class Sections:
    """Of each name the last value, as libcrypto takes it; what variables stand for is not known."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.found: dict[str, Section] = {}
        section = b"default"
        for line in map(bytes.strip, lines):
            if line.startswith(b"["):
                section = value_of(line[1:].partition(b"]")[0].strip())
                continue
            key, equals, value = line.partition(b"=")
            if equals and len(line) <= MOST_LINE:
                place, colons, name = key.strip().partition(b"::")
                keys = self.found.setdefault(os.fsdecode(place if colons else section), {})
                keys[os.fsdecode(name if colons else place)] = os.fsdecode(value_of(value.strip()))

    def section(self, name: str | None) -> Section | None:
        return self.found.get(name) if name else None


# No openssl.cnf takes as long, but for one that includes a FIFO by the name of a variable, or becomes one meanwhile.
SECONDS = 10.0


@contextlib.contextmanager
def in_time(shown: str) -> Iterator[None]:
    """What libcrypto waits for in here ends by a signal, again and again, and then fails."""

    def late(*_: object) -> None:
        raise ConfError(
            f"{shown}: OpenSSL does not come to its end: it includes a FIFO, or a file that does not answer"
        )

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def library() -> ctypes.CDLL:
    for name in LIBCRYPTO:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    raise ConfError("libcrypto is not installed")


def default_file(lib: ctypes.CDLL) -> str:
    """What OPENSSL_CONF names, or the file that this libcrypto was built to read."""
    lib.CONF_get1_default_config_file.restype = ctypes.c_void_p
    raw = ctypes.c_void_p(lib.CONF_get1_default_config_file())
    path = ctypes.cast(raw, ctypes.c_char_p).value or b""
    lib.CRYPTO_free(raw, b"", 0)
    return os.fsdecode(path)


class _Value(ctypes.Structure):
    """CONF_VALUE."""

    _fields_ = [("section", ctypes.c_char_p), ("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


def _decoded(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="backslashreplace")


class Conf:
    """An openssl.cnf with everything that it includes, read by libcrypto; `shown` is its name in messages."""

    def __init__(self, path: str, shown: str | None = None) -> None:
        self.path, self.shown = path, visible(shown or path)
        self.lib = library()
        for function in ("NCONF_new", "NCONF_get_section", "NCONF_get_section_names", "OPENSSL_sk_value"):
            getattr(self.lib, function).restype = ctypes.c_void_p
        self.lib.OpenSSL_version_num.restype = ctypes.c_ulong
        self.lib.ERR_get_error_all.restype = ctypes.c_ulong
        self.lib.ERR_reason_error_string.restype = ctypes.c_char_p
        self.lib.ERR_clear_error()
        self.conf = ctypes.c_void_p(self.lib.NCONF_new(None))
        self._walk()
        line = ctypes.c_long(-1)
        with in_time(self.shown):
            loaded = self.lib.NCONF_load(self.conf, os.fsencode(path), ctypes.byref(line))
        if loaded <= 0:
            where = f"{self.shown}:{line.value}" if line.value > 0 else self.shown
            raise ConfError(f"{where}: {'; '.join(self._errors()) or 'cannot be read'}")
        # What it says of a file that it has read are the includes that it has not found.
        self.passed_over = self._errors()
        self._names = {_decoded(name): name for name in self._section_names()}

    def _walk(self) -> None:
        """Before libcrypto reads."""
        try:
            Walk(Opener(self.shown)).go(self.path)
        except UnreadableFileError:
            raise ConfError(f"{self.shown} is a directory, not a file") from None
        except OSError as error:
            raise ConfError(
                f"{self.shown}: {error.strerror}; OpenSSL ignores it, and OpenSSL's own generator serves"
            ) from None
        except (ConfError, TooMuchError) as error:
            raise ConfError(visible(str(error))) from None

    def _errors(self) -> list[str]:
        """libcrypto's reasons and what it says about them, oldest first."""
        data, flags, lines = ctypes.c_char_p(), ctypes.c_int(), []
        while error := self.lib.ERR_get_error_all(None, None, None, ctypes.byref(data), ctypes.byref(flags)):
            reason = _decoded(self.lib.ERR_reason_error_string(ctypes.c_ulong(error))) or f"error {error & 0xFFFF:d}"
            # The system's own errors have a bit of their own, and libc knows their names.
            if error >> 31 & 1:
                reason = os.strerror(error & 0x7FFFFFFF)
            said = _decoded(data.value) if flags.value & ERR_TXT_STRING else ""
            lines.append(visible(f"{reason}: {said}" if said else reason).replace(self.path, self.shown))
        return lines

    def is_since(self, major: int, minor: int) -> bool:
        """Whether the OpenSSL that is installed here is that version, or a later one."""
        return self.lib.OpenSSL_version_num() >= major << 28 | minor << 20

    def section_names(self) -> list[str]:
        return list(self._names)

    def _section_names(self) -> list[bytes]:
        stack = ctypes.c_void_p(self.lib.NCONF_get_section_names(self.conf))
        names = [
            ctypes.cast(self.lib.OPENSSL_sk_value(stack, i), ctypes.c_char_p).value or b""
            for i in range(self.lib.OPENSSL_sk_num(stack))
        ]
        self.lib.OPENSSL_sk_free(stack)
        return names

    def section(self, name: str | None) -> Section | None:
        """Its keys in the order in which OpenSSL goes through them, or None where there is no such section."""
        raw = self._names.get(name) if name else None
        stack = ctypes.c_void_p(self.lib.NCONF_get_section(self.conf, raw)) if raw is not None else None
        if not stack:
            return None
        keys: Section = {}
        for i in range(self.lib.OPENSSL_sk_num(stack)):
            value = ctypes.cast(self.lib.OPENSSL_sk_value(stack, i), ctypes.POINTER(_Value)).contents
            keys[_decoded(value.name)] = _decoded(value.value)
        return keys
