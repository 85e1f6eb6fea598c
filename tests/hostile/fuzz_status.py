# SPDX-License-Identifier: Apache-2.0
"""drng-status over processes whose counters, module, maps, names and environment are anything: everything it can print.

    /usr/bin/python3 -m tests.hostile.fuzz_status [EXAMPLES [SEED]]    from the root of the tree

tests/hostile/test_hostile_status.py runs some hundred examples of it.
"""

import contextlib
import io
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.drng import procfs
from scripts.drng.status import look as looking
from scripts.drng.status import metrics, output, verdict, who
from scripts.drng.status.sources import Source
from tests.hostile.fake_proc import BASE, FakeProcess, FileMemory, mapping, module, module_maps, replaced_proc, write
from tests.support import stats

PID = 7

NUMBERS = st.one_of(
    st.sampled_from([0, 1, 2, 7, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, BASE]),
    st.integers(0, (1 << 64) - 1),
)
SMALL = st.integers(0, 0xFFFFFFFF) | st.integers(0, 1024)
TEXT = st.binary(max_size=64) | st.sampled_from(
    [b"\x1b]0;x\x07", b"\x9b31m", "\u202egpj".encode(), b"\x7f\r\n\t", b"-n"]
)

REQUEST_COUNTS = ("request_counts_offset", "request_counts_number", "request_counts_size")

COUNTERS = st.fixed_dictionaries(
    {},
    optional={
        "magic": st.binary(min_size=8, max_size=8),
        **{key: SMALL for key in ("layout", "live_offset", *REQUEST_COUNTS, "first_source")},
        **{key: SMALL for key in ("instruction_count", "virtual_machine", "clone_protection")},
        **{key: NUMBERS for key in ("loaded", "forks", "healthy", "requests", "served")},
        **{key: NUMBERS for key in stats.LIVE},
        **{key: TEXT.map(lambda text: text[:32]) for key in ("version", "libcrypto", "aes", "reason", "clone_reason")},
    },
)

MODULE = st.fixed_dictionaries(
    {},
    optional={
        **{key: NUMBERS for key in ("phoff", "load_vaddr", "data_vaddr", "data_filesz", "data_memsz")},
        **{key: st.integers(0, 0xFFFF) for key in ("phentsize", "phnum")},
        "data_flags": st.integers(0, 7),
    },
)

PATHS = st.sampled_from(
    [b"/usr/lib/drng.so", b"/x/drng.so (deleted)", b"/tmp/\x0c/drng.so", b"/libcrypto.so.3", b"[heap]", b"/\xff\xfe"]
)
ADDRESSES = NUMBERS
LINE = st.one_of(
    st.builds(lambda start, length, path: mapping(start, start + length, "r-xp", 0, path), ADDRESSES, SMALL, PATHS),
    TEXT.map(lambda text: text.replace(b"\n", b"") + b"\n"),
)


@st.composite
def fake_processes(draw: st.DrawFn) -> FakeProcess:
    image = bytearray(module(stats.forged(**draw(COUNTERS)), **draw(st.just({}) | MODULE)))
    for place, byte in draw(st.lists(st.tuples(st.integers(0, len(image) - 1), st.integers(0, 255)), max_size=4)):
        image[place] = byte
    lines = [module_maps(len(image)), *draw(st.lists(LINE, max_size=4))]
    length = draw(st.just(len(image)) | st.integers(0, len(image)))
    parent = draw(st.just(b"1") | TEXT)
    variables = [b"OPENSSL_CONF=" + draw(TEXT | st.just(b"/nowhere/x.cnf")), draw(TEXT)]
    return FakeProcess(
        comm=draw(TEXT),
        stat=b"7 (" + draw(TEXT) + b") " + draw(st.sampled_from([b"S", b"R", b"Z", b""])) + b" " + parent + b" 7" * 48,
        maps=b"".join(draw(st.permutations(lines))),
        image=bytes(image[:length]),
        environ=b"\0".join(draw(st.permutations(variables))),
        status=draw(st.just(FakeProcess().status) | TEXT),
        extra={"cgroup": draw(TEXT | TEXT.map(lambda name: b"0::/a/" + name.replace(b"\n", b"") + b".service"))},
    )


class Counting(FileMemory):
    """Counts what is read, which is to be little, whatever is asked for."""

    total = 0

    def read(self, address: int, length: int) -> bytes:
        Counting.total += length
        assert length <= 4 << 20, length
        return super().read(address, length)


def judged(look: looking.Look) -> verdict.Process:
    return verdict.judge(look, None, Source("/x", True), 0.0)


def everything(found: list[verdict.Process]) -> str:
    """In every form that there is."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        output.print_processes(found)
        print(json.dumps([output.process_json(process) for process in found]))
        print(metrics.metrics_of(found))
        for line in [output.Group("a", found).checked()[1], *(line for _, line in output.check_all(found))]:
            print(line)
    return text.getvalue()


def look(proc: Path, process: FakeProcess) -> str:
    """What is said of it; it fails where that is not fit to be printed, or is not the answer of a process."""
    write(proc, PID, process)
    Counting.total = 0
    try:
        found = looking.inspect(PID)
    except procfs.TargetError as error:
        return str(error)
    assert Counting.total < 32 << 20
    process = judged(found)
    assert who.process_of(json.loads(json.dumps(asdict(process)))) == process
    said = everything([process])
    assert all(character == "\n" or " " <= character <= "~" for character in said), ascii(said)
    return said


def run(examples: int, seed: int | None = None) -> None:
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        proc = stack.enter_context(replaced_proc(Path(directory), Counting))

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        )
        @given(fake_processes())
        def over(process: FakeProcess) -> None:
            look(proc, process)

        (over if seed is None else hypothesis.seed(seed)(over))()


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 10000, int(sys.argv[2]) if len(sys.argv) > 2 else None)
