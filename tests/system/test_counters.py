# SPDX-License-Identifier: Apache-2.0
"""drng-status reads each counter where the module has it, under the module's name."""

import struct

from scripts.drng.status import stats
from tests.support.builds import BUILD, said_by
from tests.support.stats import HEAD

COUNTS_OFFSET = 256


def test_each_counter_is_read_where_the_module_has_it() -> None:
    program = BUILD / "dev" / "tests" / "counter_names"
    lines = said_by(program).splitlines()
    places = {name: int(at) for at, name in (line.split() for line in lines)}
    assert len(places) == len(lines) > 15
    names = [name.removeprefix("seeds-") for name in places if f"{name.removeprefix('seeds-')}-retries" in places]
    live = bytearray(COUNTS_OFFSET + 64)
    for at in places.values():
        struct.pack_into("=Q", live, at, at)  # each counter has counted to its own offset
    head = stats.Head._make(stats.HEAD.unpack(stats.HEAD.pack(*HEAD.values())))
    head = head._replace(live_offset=1024, counts_offset=COUNTS_OFFSET, counts_number=1, counts_size=64)
    read = stats.read_live(lambda at, length: bytes(live[at - 1024 : at - 1024 + length]), head, names)
    assert {name: read[name] for name in places} == places
    assert set(read) == {*places, "requests", "bytes"}
