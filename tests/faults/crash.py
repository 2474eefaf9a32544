"""Mishaps of a process that writes a file: it is killed, the disk is full, the machine loses its power."""
import errno
import itertools
import os
import random
import signal
import stat
from ctypes import POINTER, Structure, c_char, c_int, c_int64, c_size_t, c_uint, c_void_p, string_at

from faults import LIBRARY

EXCHANGE = 2


class Detail(Structure):
    """`detail` of faults.c."""
    _fields_ = [("fd", c_int), ("bytes", c_void_p), ("n", c_size_t), ("offset", c_int64), ("other", c_char * 4096), ("flags", c_uint)]


LIBRARY.zt_faults_detail.restype = POINTER(Detail)
WRITES = {"open:create", "open:tmpfile", "pwrite", "ftruncate", "fsync", "fchmod", "fchown", "linkat", "link", "rename", "renameat2",
          "unlink"}


class Kill:
    """Ends the process at its n-th call."""

    def __init__(self, n):
        self.n = n

    def __call__(self, call, path, size):
        self.n -= 1
        if self.n == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0


class Full:
    """A disk that has room for so many bytes: the write that meets its end is short, and the next one fails."""

    def __init__(self, room, error):
        self.room, self.error, self.injected = room, error, 0

    def __call__(self, call, path, size):
        if call == "pwrite":
            if self.room == 0:
                self.injected += 1
                return getattr(errno, self.error)
            size[0] = min(size[0], self.room)
            self.room -= size[0]
        return 0


class Short:
    """Writes transfer a few bytes at a time, and each is interrupted first."""

    def __init__(self):
        self.interrupted = False

    def __call__(self, call, path, size):
        if call not in WRITES:
            return 0
        self.interrupted = not self.interrupted
        if self.interrupted:
            return errno.EINTR
        if call == "pwrite":
            size[0] = min(size[0], 1000)
        return 0


class Record:
    """All calls that write, in their order, as (what, file or None, arguments). Files are inode numbers."""

    def __init__(self, targets):
        self.operations, self.made = [], None
        self.initial = {}
        for target in targets:
            if os.path.exists(target):
                self.initial[target] = os.stat(target).st_ino, open(target, "rb").read()

    def __call__(self, call, path, size):
        self.settle()
        now = LIBRARY.zt_faults_detail().contents
        if call == "open:create":
            self.made = path
        elif call == "pwrite":
            self.add("write", os.fstat(now.fd).st_ino, now.offset, string_at(now.bytes, now.n))
        elif call == "ftruncate":
            self.add("size", os.fstat(now.fd).st_ino, now.offset)
        elif call == "fsync":
            state = os.fstat(now.fd)   # A file without a name goes by its folder's
            self.add("sync", None if stat.S_ISDIR(state.st_mode) else state.st_ino)
        elif call == "linkat":
            self.add("name", None, os.fstat(now.fd).st_ino, path)
        elif call in ("link", "rename", "renameat2"):
            self.add(call, None, path, os.fsdecode(now.other), now.flags)
        elif call == "unlink":
            self.add("unlink", None, path)
        return 0

    def settle(self):
        """A file that was made has its number now."""
        if self.made and os.path.exists(self.made):
            self.add("name", None, os.stat(self.made).st_ino, self.made)
        self.made = None

    def add(self, *operation):
        self.operations.append(operation)


def durable(operations):
    """For each operation, whether it is on the disk for certain: a sync of its file, or of the names, follows it."""
    synced, out = set(), []
    for what, file, *_ in reversed(operations):
        out.append(file in synced)
        if what == "sync":
            synced.add(file)
    return out[::-1]


def rename(names, path, other, flags):
    if path not in names or (flags == 1 and other in names) or (flags == EXCHANGE and other not in names):
        return
    if flags == EXCHANGE:
        names[path], names[other] = names[other], names[path]
    else:
        names[other] = names.pop(path)


def replay(record, operations):
    """The files that these operations make, by path; those that could not be done do nothing."""
    names = {path: inode for path, (inode, _) in record.initial.items()}
    files = {inode: bytearray(data) for inode, data in record.initial.values()}
    for what, file, *a in operations:
        if what in ("write", "size"):
            data = files.setdefault(file, bytearray())
            end = a[0] + len(a[1]) if what == "write" else a[0]
            data.extend(bytes(max(0, end - len(data))))
            if what == "write":
                data[a[0]:end] = a[1]
            else:
                del data[end:]
        elif what == "name" and a[1] not in names:
            names[a[1]] = a[0]
        elif what == "link" and a[0] in names and a[1] not in names:
            names[a[1]] = names[a[0]]
        elif what in ("rename", "renameat2"):
            rename(names, *a)
        elif what == "unlink":
            names.pop(a[0], None)
    return {path: bytes(files.get(inode, b"")) for path, inode in names.items()}


def after_power_loss(record, most=64, seed=1):
    """The files of each state that the disk may have: at each moment, what is certain, and some of the rest."""
    chance = random.Random(seed)
    for end in range(len(record.operations) + 1):
        done = record.operations[:end]
        certain = durable(done)
        open_ones = [i for i in range(end) if not certain[i] and done[i][0] != "sync"]
        if 2 ** len(open_ones) <= most:
            kept = itertools.chain.from_iterable(itertools.combinations(open_ones, n) for n in range(len(open_ones) + 1))
        else:
            kept = [open_ones, []] + [[i for i in open_ones if chance.random() < 0.5] for _ in range(most)]
        for some in kept:
            some = set(some)
            yield replay(record, [op for i, op in enumerate(done) if certain[i] or i in some])
