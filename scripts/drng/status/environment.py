# SPDX-License-Identifier: Apache-2.0
"""Who serves a program that is started in this environment: libcrypto is asked, in a process of its own, with what
openssl.cnf says; see conf/probe.py. drng-conf says more of the file."""

import shlex
from dataclasses import replace

from ..conf.command import mistakes
from ..conf.meaning import generators_of
from ..conf.probe import default_file, probe_file
from ..terminal import printable
from . import verdict
from .look import Look
from .sources import Source
from .verdict import Process, judge, told


def new_program() -> tuple[str, Process]:
    """The openssl.cnf that it reads, and what it would be judged as if it ran."""
    path, look = default_file(), Look(0, "a new program")
    found = probe_file(path)
    wrong = printable("; ".join(mistakes(found)))
    source = Source(path, True, names_drng=True, asks_drng=True, generator=generators_of(found).get("random", ""))
    if found.served_by_drng and found.drng:
        process = judge(replace(look, counters=found.drng), None, source, 0.0)
        more = "; ".join(filter(None, (process.why, wrong)))
        cure = printable(f"drng-conf {shlex.quote(path)}")
        return path, replace(process, why=more, cure=cure) if wrong else process
    by = verdict.NOT_KNOWN if found.served_by_drng else verdict.OPENSSL if found.rand_bytes else verdict.NOBODY
    problem = printable(found.problem) if path else "OPENSSL_CONF is empty"
    reason = "not-readable" if problem else "module" if wrong else "not-named"
    return path, Process(0, look.name, served_by=by, **told(look, source, reason, problem or wrong))
