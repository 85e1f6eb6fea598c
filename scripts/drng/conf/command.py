"""Shows what an openssl.cnf means for drng, as libcrypto reads it, and warns of mistakes that OpenSSL ignores.

Reads the file with libcrypto's own parser and activates nothing.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import NoReturn

from .. import VERSION
from ..terminal import USAGE, Output, Parser, UsageError, complain
from ..text import visible
from .meaning import Meaning, compare, understand
from .reading import Conf, ConfError, default_file, library

NOTHING, WARNINGS, UNREAD, IO_ERROR = 0, 1, 2, 74  # exit statuses

# For the reading of one file, includes and all.
SECONDS = 20


def give_up() -> None:
    """An include in a form that only libcrypto follows may lead to a FIFO, where it waits for ever."""
    complain(f"gave up after {SECONDS} seconds: an .include may name a FIFO or a device")
    os._exit(UNREAD)


def report(meaning: Meaning) -> None:
    for name in ("init", "random", "providers", "default", "drng"):
        value = visible(getattr(meaning, name))
        print(f"{name:9}  {f'[{value}]' if value else 'not named'}")
    sys.stdout.flush()
    for warning in meaning.warnings:
        complain(warning)


def check(words: list[str]) -> int:
    parser = Parser(prog="drng-conf", description=(__doc__ or "").split("\n")[0], allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"drng-conf {VERSION}")
    parser.add_argument(
        "--before", metavar="FILE", help="also warn of each setting of this file that the other does not have"
    )
    parser.add_argument("file", nargs="?", help="an openssl.cnf; by default the one that libcrypto reads")
    arguments = parser.parse_args(words)
    path = default_file(library()) if arguments.file is None else arguments.file
    if not path:
        parser.error("name a file: OPENSSL_CONF, or the argument, is empty, and libcrypto reads none then")
    watch = threading.Timer(SECONDS, give_up)
    watch.daemon = True
    try:
        watch.start()
        conf = Conf(path)
        meaning = understand(conf)
        if arguments.before is not None:
            meaning.warnings += compare(Conf(arguments.before), conf)
    except (MemoryError, RuntimeError):
        # RuntimeError: Python cannot start the thread.
        raise ConfError("not read: a limit on memory or threads (ulimit -v, -u) is too low") from None
    watch.cancel()
    report(meaning)
    return WARNINGS if meaning.warnings else NOTHING


def run() -> NoReturn:
    Output.program = "drng-conf"
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        status = check(sys.argv[1:])
        if Output.failed:
            status = IO_ERROR
    except UsageError as error:
        complain(str(error))
        status = USAGE
    except ConfError as error:
        complain(str(error))
        status = UNREAD
    except OSError as error:
        complain(str(error.strerror or error))
        # Python would try to write the rest once more.
        os._exit(IO_ERROR)
    sys.exit(status)
