# SPDX-License-Identifier: Apache-2.0
"""The devices by which a machine hears that it is a clone, where QEMU has none: in its device tree, played from here.

QEMU has vmclock and vmgenid for x86 alone (11.1.3 as well). Linux takes both from a device tree, as Firecracker shows
them on 64-bit Arm. So the machine's memory is a file of this process, and two pages of it, which the tree takes away
from the kernel, are what the hypervisor writes. The interrupt of vmgenid is that of the pin by which QEMU's machine is
told to switch itself off.
"""

import mmap
import os
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

PAGE = 4096
START, SIZE = 0x4000_0000, 256 << 20  # the memory of QEMU's machine
CLOCK, ID = START + SIZE - 2 * PAGE, START + SIZE - PAGE
CONTROLLER, PIN, RISING = b"pl061@9030000", 3, 1

# ---- The tree ----

BEGIN, END, PROPERTY = 1, 2, 3  # Devicetree Specification 0.4, chapter 5
HEADER = struct.Struct(">10I")


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def cells(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def region(address: int, size: int) -> bytes:
    return struct.pack(">2Q", address, size)


class Tree:
    """Of QEMU, to which nodes and properties are added."""

    def __init__(self, data: bytes) -> None:
        _, _, body, strings, _, _, _, _, strings_size, body_size = HEADER.unpack_from(data)
        self.body = data[body : body + body_size]
        self.strings = data[strings : strings + strings_size]

    def property(self, name: str, value: bytes = b"") -> bytes:
        self.strings += name.encode() + b"\0"
        return cells(PROPERTY, len(value), len(self.strings) - len(name) - 1) + padded(value)

    def node(self, name: str, *inside: bytes) -> bytes:
        return cells(BEGIN) + padded(name.encode() + b"\0") + b"".join(inside) + cells(END)

    def start_of(self, name: bytes) -> int:
        """Where the properties of this node are."""
        whole = cells(BEGIN) + padded(name + b"\0")
        return self.body.index(whole) + len(whole)

    def phandle(self, name: bytes) -> int:
        at = self.start_of(name)
        while True:
            token, size, text = struct.unpack_from(">3I", self.body, at)
            assert token == PROPERTY, f"{name!r} has no phandle"
            if self.strings[text:].startswith(b"phandle\0"):
                return int.from_bytes(self.body[at + 12 : at + 16], "big")
            at += 12 + (size + 3) // 4 * 4

    def insert(self, at: int, what: bytes) -> None:
        self.body = self.body[:at] + what + self.body[at:]

    def data(self) -> bytes:
        reserved = HEADER.size
        body = reserved + 16  # no memory is reserved the old way
        strings = body + len(self.body)
        total = strings + len(self.strings)
        sizes = (len(self.strings), len(self.body))
        head = HEADER.pack(0xD00DFEED, total, body, strings, reserved, 17, 16, 0, *sizes)
        return head + bytes(16) + self.body + self.strings


def with_devices(data: bytes, names: Sequence[str]) -> bytes:
    tree = Tree(data)
    memory = tree.node(f"devices@{CLOCK:x}", tree.property("reg", region(CLOCK, 2 * PAGE)), tree.property("no-map"))
    two_cells = (tree.property("#address-cells", cells(2)), tree.property("#size-cells", cells(2)))
    added = tree.node("reserved-memory", *two_cells, tree.property("ranges"), memory)
    if "vmclock" in names:
        properties = (tree.property("compatible", b"amazon,vmclock\0"), tree.property("reg", region(CLOCK, PAGE)))
        added += tree.node(f"vmclock@{CLOCK:x}", *properties)
    if "vmgenid" in names:
        properties = (
            tree.property("compatible", b"microsoft,vmgenid\0"),
            tree.property("reg", region(ID, PAGE)),
            tree.property("interrupt-parent", cells(tree.phandle(CONTROLLER))),
            tree.property("interrupts", cells(PIN, RISING)),
        )
        added += tree.node(f"vmgenid@{ID:x}", *properties)
    tree.insert(len(tree.body) - 8, added)  # before the root's end, and that of all
    of_controller = tree.property("interrupt-controller") + tree.property("#interrupt-cells", cells(2))
    tree.insert(tree.start_of(CONTROLLER), of_controller)
    return tree.data()


# ---- The hypervisor's part ----

MARKER, FLAGS, GENERATION = 16, 24, 104
HAS_GENERATION = 1 << 8


class Devices:
    """Of one machine. `options` go to its QEMU, and `fds` with them."""

    def __init__(self, names: Sequence[str], qemu: Sequence[str], cpu: Sequence[str]) -> None:
        self.tells_by_interrupt = "vmgenid" in names
        self._folder = tempfile.TemporaryDirectory(prefix="drng-tree-")
        tree = Path(self._folder.name) / "tree"
        subprocess.run([*qemu, "-M", f"virt,dumpdtb={tree}", *cpu], capture_output=True, check=True)
        tree.write_bytes(with_devices(tree.read_bytes(), names))
        memory = os.memfd_create("guest")
        os.truncate(memory, SIZE)
        self._pages = mmap.mmap(memory, 2 * PAGE, offset=SIZE - 2 * PAGE)
        struct.pack_into("<IIHBBIQQ", self._pages, 0, 0x4B4C4356, PAGE, 1, 0xFF, 0, 0, 1, HAS_GENERATION)
        self._pages[PAGE : PAGE + 16] = os.urandom(16)
        self.fds = (memory,)
        backend = f"memory-backend-file,id=ram,size={SIZE},mem-path=/dev/fd/{memory},share=on"
        self.options = ("-object", backend, "-machine", "memory-backend=ram", "-dtb", str(tree))

    def tell(self) -> None:
        """While the machine stands still: it is a copy."""
        sequence = struct.unpack_from("<I", self._pages, 12)[0]
        struct.pack_into("<I", self._pages, 12, sequence + 2)
        for counter in (MARKER, GENERATION):
            struct.pack_into("<Q", self._pages, counter, struct.unpack_from("<Q", self._pages, counter)[0] + 1)
        self._pages[PAGE : PAGE + 16] = os.urandom(16)

    def close(self) -> None:
        self._pages.close()
        os.close(self.fds[0])
        self._folder.cleanup()
