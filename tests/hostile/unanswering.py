# SPDX-License-Identifier: Apache-2.0
"""A process whose memory lies in a file that nobody serves.

    unanswering.py FOLDER [--hold] [DEVICE]

In a user namespace of its own it mounts FUSE at FOLDER, where there is one file, drng.so. The file can be found and
opened; what is in it is asked for and never answered. A victim maps it, and maps and unmaps other memory in a loop, so
that somebody always waits to change its mappings. Prints the victim's number, and lives until its standard input ends
or it is killed: then the kernel answers with an error all that still waits.

--hold: a thread of the victim's asks for a page. The kernel asks twice without the lock of the victim's mappings, is
told of an error, and asks a third time with the lock. Whoever needs the lock then waits, some where no signal ends it.

Without --hold, it is to be started by the user who looks: the kernel takes no request of a user whom the namespace
does not know. What fusermount(1) mounts for a user knows everybody. DEVICE stands for /dev/fuse.

77 where this machine does not allow it, with the reason.
"""

import ctypes
import errno
import mmap
import os
import signal
import stat
import struct
import sys
import threading

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
PR_SET_PDEATHSIG = 1
SKIPPED = 77

# From linux/fuse.h.
LOOKUP, FORGET, GETATTR, OPEN, READ, INIT, BATCH_FORGET = 1, 2, 3, 14, 15, 26, 42
IN, OUT = struct.Struct("=IIQQIIII"), struct.Struct("=IiQ")
ATTRIBUTES = struct.Struct("=6Q10I")
ENTRY, ATTR_OUT = struct.Struct("=QQQQII"), struct.Struct("=QII")
OPEN_OUT, INIT_OUT = struct.Struct("=QII"), struct.Struct("=IIIIHHIIHHI28x")
ASYNC_READ = 1
ROOT, FILE, SIZE = 1, 2, 4 * mmap.PAGESIZE

libc = ctypes.CDLL(None, use_errno=True)


def skip(reason: str) -> None:
    print(reason, flush=True)
    os._exit(SKIPPED)


def own_namespaces(folder: str, name: str) -> int:
    """The descriptor by which the file system is served that is mounted there."""
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        skip(f"user namespaces are not allowed here: {os.strerror(ctypes.get_errno())}")
    for setting, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{setting}", "w", encoding="ascii") as file:
            file.write(text)
    try:
        device = os.open(name, os.O_RDWR)
    except OSError as error:
        skip(f"{name} cannot be opened: {error.strerror}")
    options = f"fd={device},rootmode=40755,user_id=0,group_id=0"
    if libc.mount(b"fuse", os.fsencode(folder), b"fuse", 0, options.encode()) != 0:
        skip(f"FUSE cannot be mounted in a user namespace: {os.strerror(ctypes.get_errno())}")
    return device


def attributes(node: int) -> bytes:
    mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o755
    return ATTRIBUTES.pack(node, SIZE, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer_to(operation: int, node: int) -> bytes | None:
    """None: there is to be none."""
    if operation == INIT:
        return INIT_OUT.pack(7, 31, 4096, ASYNC_READ, 16, 12, 4096, 1, 1, 0, 0)
    if operation == LOOKUP:
        return ENTRY.pack(FILE, 0, 3600, 3600, 0, 0) + attributes(FILE)
    if operation == GETATTR:
        return ATTR_OUT.pack(3600, 0, 0) + attributes(node)
    return OPEN_OUT.pack(1, 0, 0) if operation == OPEN else b""


def serve(device: int, victim: int) -> None:
    """`victim`: who holds its lock once it has been refused twice."""
    asked = 0
    while True:
        request = os.read(device, 1 << 17)
        _, operation, unique, node, *_ = IN.unpack_from(request)
        if operation == READ and victim:
            asked += 1
            if asked <= 2:
                os.write(device, OUT.pack(OUT.size, -errno.EIO, unique))
            else:
                print(victim, flush=True)
        if operation in (READ, FORGET, BATCH_FORGET):
            continue
        body = answer_to(operation, node)
        os.write(device, OUT.pack(OUT.size + len(body), 0, unique) + body)


def be_victim(path: str, hold: bool) -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    file = os.open(path, os.O_RDONLY)
    with mmap.mmap(file, SIZE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC) as memory:
        if hold:
            # The other threads of Python run on while the kernel asks for the page.
            threading.Thread(target=os.write, args=(os.pipe()[1], memory), daemon=True).start()
        else:
            print(os.getpid(), flush=True)
        while True:
            mmap.mmap(-1, 1 << 20).close()


def main() -> None:
    arguments = sys.argv[1:]
    hold = "--hold" in arguments
    folder, name = [word for word in [*arguments, "/dev/fuse"] if not word.startswith("--")][:2]
    device = own_namespaces(folder, name)
    if (victim := os.fork()) == 0:
        os.close(device)
        be_victim(f"{folder}/drng.so", hold)
    threading.Thread(target=serve, args=(device, victim if hold else 0), daemon=True).start()
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
