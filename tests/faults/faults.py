"""Faults: what the preloaded library (faults.c) is to do, and what a statement may say then."""
import ctypes
import errno
import os
import re
import sqlite3
from contextlib import contextmanager

from support import open_connection

QUESTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t))
LIBRARY = ctypes.CDLL(None)

# The errors with which a call may fail. close() and closedir() have done their work all the same; advice need not be taken.
ERRORS = {
    "open": ["EACCES", "EMFILE", "ENFILE", "ENOENT", "ENOMEM", "EIO", "ELOOP", "EOVERFLOW", "ESTALE", "EPERM"],
    "stat": ["EACCES", "EIO", "ENOENT", "ENOMEM", "ELOOP", "EOVERFLOW", "ESTALE", "ENOTDIR"],
    "lstat": ["EACCES", "EIO", "ENOMEM", "EOVERFLOW", "ESTALE"],
    "statx": ["EACCES", "EIO", "ENOENT", "ENOMEM", "ENOSYS", "EPERM"],
    "fstat": ["EIO", "ENOMEM", "EOVERFLOW", "ESTALE"],
    "realpath": ["EACCES", "EIO", "ENOENT", "ENOMEM", "ELOOP", "ENOTDIR"],
    "pread": ["EIO", "EISDIR", "ENOMEM", "EOVERFLOW", "ESTALE", "EBADF"],
    "opendir": ["EACCES", "EMFILE", "ENFILE", "ENOENT", "ENOMEM", "EIO", "ESTALE"],
    "readdir": ["EIO", "ENOMEM", "EOVERFLOW", "ESTALE", "EBADF"],
    "close": ["EINTR", "EIO", "ENOSPC"],
    "closedir": ["EINTR", "EBADF"],
    "madvise": ["ENOMEM", "EINVAL", "EAGAIN"],
    "mmap": ["ENOMEM", "EAGAIN", "EPERM"],
    "clock_gettime": ["EINVAL"],
}
# Those of the calls that write; reading makes none of them.
WRITING = {
    "open:create": ["EACCES", "EMFILE", "ENOSPC", "EDQUOT", "EIO", "EROFS", "EEXIST"],
    "open:tmpfile": ["EOPNOTSUPP", "EISDIR", "EACCES", "EMFILE", "ENOSPC", "EDQUOT", "EIO"],
    "pwrite": ["ENOSPC", "EDQUOT", "EIO", "EFBIG", "EROFS"],
    "ftruncate": ["ENOSPC", "EDQUOT", "EIO", "EFBIG"],
    "fsync": ["ENOSPC", "EDQUOT", "EIO"],
    "fchmod": ["EPERM", "EIO", "EROFS"],
    "fchown": ["EPERM", "EIO"],
    "fcntl": ["EMFILE", "EINVAL"],
    "faccessat": ["EACCES", "EROFS", "EIO"],
    "linkat": ["ENOSPC", "EDQUOT", "EIO", "EPERM", "EROFS", "EMLINK"],
    "link": ["ENOSPC", "EDQUOT", "EIO", "EPERM", "EOPNOTSUPP", "EMLINK"],
    "rename": ["ENOSPC", "EDQUOT", "EIO", "EACCES", "EBUSY"],
    "renameat2": ["ENOSYS", "EINVAL", "EPERM", "ENOSPC", "EDQUOT", "EIO"],
    "unlink": ["EACCES", "EIO", "EBUSY"],
}
# A failure of these must be an error; a failure of stat() may have another result.
LOUD = {"open", "realpath", "pread", "opendir", "readdir"}
INVISIBLE = {"statx", "close", "closedir", "madvise", "mmap", "clock_gettime"}
VERBS = {"open": "open", "stat": "open|list the directory", "lstat": "open", "realpath": "open", "fstat": "open|read", "pread": "read",
         "opendir": "list the directory", "readdir": "list the directory"}
# Nothing is there, to somebody who looks for names: no error.
ABSENT = {"ENOENT", "ENOTDIR", "ELOOP"}
# It is the process that has no room, and not the file that is at fault: no reason to skip it. ENOMEM is SQLITE_NOMEM.
EXHAUSTED = {"EMFILE", "ENFILE", "ENOMEM"}


class Log:
    """Nothing fails; `calls` are those that there were."""

    def __init__(self):
        self.calls, self.paths = [], []

    def __call__(self, call, path, size):
        self.calls.append(call)
        self.paths.append(path)
        return 0


class Fault:
    """The n-th call fails; `lasting`: and so do all that follow of the same function and path."""

    def __init__(self, n, error, lasting):
        self.n, self.error, self.lasting = n, error, lasting
        self.calls = self.injected = 0
        self.call = self.path = None

    def __call__(self, call, path, size):
        self.calls += 1
        if self.calls == self.n:
            self.call, self.path = call, path
        elif not (self.lasting and self.calls > self.n and (call, path) == (self.call, self.path)):
            return 0
        self.injected += 1
        return getattr(errno, self.error)

    @property
    def place(self):
        """The path that it is about: the walk asks for what lies above a directory by the name `directory/..`."""
        path = re.sub(r"(/\.\.)+$", "", self.path)
        return path.rstrip("/")

    def text(self):
        """A pattern of the message: which file, and why."""
        reason = re.escape(os.strerror(getattr(errno, self.error)))
        return re.compile(f"ztensor: ([^:]*): (object '[^']*': )?(component '[^']*': )?(shard [^:]*: )?"
                          f"cannot ({VERBS[self.call]}): {reason}")

    def names(self, message):
        """True if a message names the file and says why."""
        return bool(self.text().fullmatch(message)) and self.place in message


class Refused(Fault):
    """Every call of a function and path fails: whichever thread makes it, and when."""

    def __init__(self, call, path, error):
        super().__init__(0, error, True)
        self.call, self.path = call, path

    def __call__(self, call, path, size):
        if (call, path) != (self.call, self.path):
            return 0
        self.injected += 1
        return getattr(errno, self.error)


@contextmanager
def failing(root, question, pathless=False):
    """Asks question(call, path, size) -> errno before each call below root; size[0] is how much a call is to read."""
    wrong = []

    def ask(call, path, size):
        try:
            return question(call.decode(), os.fsdecode(path), size)
        except BaseException as error:  # It cannot get out through C
            wrong.append(error)
            return errno.EIO

    callback = QUESTION(ask)
    LIBRARY.zt_faults(callback, os.fsencode(root), int(pathless))
    try:
        yield
    finally:
        LIBRARY.zt_faults(QUESTION(), b"", 0)
    if wrong:
        raise wrong[0]


def connect(threads=1):
    """A connection. With one thread, a statement makes the same calls each time, in the same order."""
    db = open_connection()
    db.execute("SELECT zt_threads(?)", (threads,))
    return db


def answer(db, sql):
    """The rows, or the failure."""
    try:
        return db.execute(sql).fetchall()
    except (sqlite3.Error, MemoryError) as error:
        return error


def left_open():
    """The open ones of the watched files and directories, by the library's own count."""
    return LIBRARY.zt_faults_open()


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def judge(statement, clean, got, fault):
    """How the statement took the fault: 'same', 'error', 'no memory', 'row' (of an error) or 'skipped'; else it asserts."""
    said = f"{statement.sql}\ncall {fault.n}: {fault.call}({fault.path}): {fault.error}{', lasting' * fault.lasting}\ngave {got!r}"
    if got == clean:
        quiet = fault.call not in LOUD or (fault.call == "opendir" and fault.error in ABSENT)
        assert quiet or (statement.skips and fault.error not in EXHAUSTED), said
        return "same"
    assert fault.call not in INVISIBLE, said
    if isinstance(got, MemoryError):
        assert fault.error == "ENOMEM", said
        return "no memory"
    if isinstance(got, sqlite3.Error):
        assert got.sqlite_errorcode == sqlite3.SQLITE_ERROR and fault.names(str(got)), said
        return "error"
    # Rows may be missing of what the fault is about; others, and half of a row, may not.
    missing = [row for row in clean if row not in got]
    new = [row for row in got if row not in clean]
    assert all(statement.is_about(row[0], fault.place) for row in missing), said
    if statement.reports:
        assert all(row[-1] is not None and fault.names(row[-1]) for row in new), said
        if new:
            return "row"
    assert new == [], said
    if statement.skips and fault.error not in EXHAUSTED:
        return "skipped"
    # A file that is gone when the walk reaches it is left out; the source itself must be there.
    assert fault.error in ABSENT and fault.call in ("stat", "opendir") and fault.place not in statement.sources, said
    return "skipped"
