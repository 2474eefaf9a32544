"""The library's functions for C (ext/bindings.h), by ctypes. They release Python's lock."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Callable, Iterator, Mapping, Sequence
from urllib.parse import quote_from_bytes

from . import _text
from ._connection import connect, entry_points, kept_library, load_sqlite

INTEGER, FLOAT, TEXT, BLOB, NULL = 1, 2, 3, 4, 5   # SQLite's numbers
NOMEM, INTERRUPT = 7, 9


class Binding(ctypes.Structure):
    """zt_binding. `keep` holds what it points to."""
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("integer", ctypes.c_int64), ("real", ctypes.c_double),
                ("bytes", ctypes.c_void_p), ("size", ctypes.c_int64)]


class ArrowStream(ctypes.Structure):
    """ArrowArrayStream."""
    _fields_ = [("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p), ("get_last_error", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


def binding(value: object, name: str | None = None) -> tuple[Binding, Any]:
    """A value of SQLite, and the object that has its bytes."""
    made = Binding(name=None if name is None else name.encode())
    if value is None:
        made.type = NULL
    elif isinstance(value, (bool, int)):
        made.type, made.integer = INTEGER, _int64(int(value))
    elif isinstance(value, float):
        made.type, made.real = FLOAT, value
    elif isinstance(value, str):
        return made, _point(made, TEXT, value.encode())
    else:
        try:
            data = value if isinstance(value, bytes) else bytes(memoryview(value))   # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"SQLite has no value like {type(value).__qualname__}") from None
        return made, _point(made, BLOB, data)
    return made, None


def _int64(value: int) -> int:
    if not -2**63 <= value < 2**63:
        raise OverflowError(f"SQLite's integers have 64 bits, {value} has more")
    return value


def _point(made: Binding, kind: int, data: bytes) -> bytes:
    made.type, made.size = kind, len(data)
    made.bytes = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
    return data


def source_value(source: Any) -> str | bytes | None:
    """A source as SQL takes it: text of a path, pattern or URL, bytes of a file, or a JSON array for a list of sources."""
    import json

    if source is None or isinstance(source, bytes):
        return source
    if isinstance(source, (bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, (str, os.PathLike)):
        return path_text(os.fspath(source))
    if isinstance(source, Sequence):
        parts = [source_value(part) for part in source]
        if not all(isinstance(part, str) for part in parts):
            raise TypeError("a list of sources holds paths, patterns and URLs; bytes of a file stand alone")
        return json.dumps(parts, ensure_ascii=False)
    raise TypeError(f"a source is a path, the bytes of a file, or a list of paths, not {type(source).__qualname__}")


def path_text(path: str | bytes) -> str:
    """A path as text. One that is not UTF-8 becomes a URI, which opens the same file."""
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    try:
        path.encode()
    except UnicodeEncodeError:
        return "file://" + quote_from_bytes(os.fsencode(os.path.abspath(path)))
    return path


class Native:
    """A connection, and the library's functions for it."""

    def __init__(self, connection: Any, entries: list[str]) -> None:
        self.connection = connection
        self.library = kept_library(load_sqlite(connection, entries))
        self.library.sqlite3_ztensor_loaded.restype = ctypes.c_void_p
        self.library.sqlite3_ztensor_free.argtypes = [ctypes.c_void_p]
        self.handle = ctypes.c_void_p(self.library.sqlite3_ztensor_loaded())

    def rows(self, sql: str, parameters: Any = ()) -> Iterator[Any]:
        """A statement's rows. Errors are sqlite3's, also of a connection of apsw."""
        import sqlite3

        try:
            yield from self._rows(sql, parameters)
        except Exception as error:
            if isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error):
                raise sqlite3.OperationalError(f"{error}: CAST AS BLOB gives such text as bytes, and a query without connection=, or with"
                                               " another text_factory of sqlite3's connection, as str") from None
            if isinstance(error, sqlite3.Error):
                raise
            raise _as_sqlite3(error) from None

    def _rows(self, sql: str, parameters: Any) -> Any:
        return self.connection.execute(sql, parameters)

    def arrow(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> ArrowStream:
        """All rows of a statement. The stream's owner calls its release()."""
        given = ([binding(value, name) for name, value in parameters.items()] if isinstance(parameters, Mapping)
                 else [binding(value) for value in parameters])
        bindings = (Binding * max(1, len(given)))(*(made for made, _ in given))
        stream = ArrowStream()
        text = sql.encode()
        if b"\0" in text:
            raise ValueError("the SQL contains a NUL character")
        self._call("sqlite3_ztensor_arrow", text, len(given), bindings, ctypes.byref(stream))
        return stream

    def dense(self, source: str | bytes, name: str, dtype: str, rows: tuple[int, int] | None, address: int, size: int) -> None:
        """Do as zt_dense() into `size` bytes at an address. `rows` are the first one and their number."""
        (file, keep_file), (tensor, keep_tensor) = binding(source), binding(name)
        first, count = rows or (0, -1)
        self._call("sqlite3_ztensor_dense", ctypes.byref(file), ctypes.byref(tensor), dtype.encode(), ctypes.c_int64(first),
                   ctypes.c_int64(count), ctypes.c_void_p(address), ctypes.c_int64(size))
        del keep_file, keep_tensor

    def value_type(self, source: str | bytes, name: str) -> str:
        """The type that zt_dense(source, name) has: the tensor's own, and f32 if it is quantized. No value is read."""
        (file, keep_file), (tensor, keep_tensor) = binding(source), binding(name)
        dtype = ctypes.c_char_p()
        self._call("sqlite3_ztensor_dtype", ctypes.byref(file), ctypes.byref(tensor), ctypes.byref(dtype))
        del keep_file, keep_tensor
        return (dtype.value or b"").decode()

    def _call(self, function: str, *arguments: Any) -> None:
        message = ctypes.c_void_p()
        call = getattr(self.library, function)
        code = _interruptible(lambda: call(self.handle, *arguments, ctypes.byref(message)), self.connection.interrupt)
        if code:
            text = ctypes.string_at(message.value).decode(errors="replace") if message.value else None
            self.library.sqlite3_ztensor_free(message)
            raise _error(code, text)


def _error(code: int, text: str | None) -> BaseException:
    import sqlite3

    if code == NOMEM:
        return MemoryError()
    return sqlite3.OperationalError("interrupted" if code == INTERRUPT else text)


def _as_sqlite3(error: Exception) -> BaseException:
    """An error of apsw as sqlite3 raises it."""
    import sqlite3

    if not type(error).__module__.startswith("apsw"):
        return error
    return MemoryError() if type(error).__name__ == "NoMemError" else sqlite3.OperationalError(str(error))


def _interruptible(call: Callable[[], int], interrupt: Callable[[], None]) -> int:
    """The result of a long call. It runs beside the main thread, which alone takes Ctrl-C, so that this can end the call."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    codes: list[int] = []
    worker = threading.Thread(target=lambda: codes.append(call()), daemon=True)
    worker.start()
    try:
        worker.join()
    except BaseException:
        while worker.is_alive():
            interrupt()
            worker.join(0.01)
        raise
    return codes[0]


_local = threading.local()
_abandoned: list[Native] = []   # A parent's connections in its forked child: closing them would end the parent's requests


class _Owned(Native):
    """A connection that is closed with its thread."""

    def _rows(self, sql: str, parameters: Any) -> Any:
        return _text.rows(self.connection, sql, parameters)

    def __del__(self) -> None:
        if self.pid == os.getpid():   # A forked process leaves its parent's connections alone
            self.connection.close()

    def __init__(self, remote: bool) -> None:
        self.pid = -1
        options = {"check_same_thread": False, "isolation_level": None}
        try:
            connection = connect(remote=remote, **options)   # type: ignore[arg-type]
        except TypeError:   # Of apsw
            connection = connect(remote=remote)
        self.pid = os.getpid()
        _text.prepare(connection)
        super().__init__(connection, entry_points(True, False, remote))


def shared(remote: bool) -> Native:
    """This thread's own connection, in memory, which keeps what it has read of files for the next call."""
    kept: dict[bool, _Owned] = _local.__dict__.setdefault("kept", {})
    if remote in kept and kept[remote].pid != os.getpid():
        _abandoned.append(kept.pop(remote))
    if remote not in kept:
        kept[remote] = _Owned(remote)
    return kept[remote]


def native(connection: Any, remote: bool) -> Native:
    """The functions for a connection of the caller's, or for this thread's own one."""
    if connection is None:
        return shared(remote)
    return Native(connection, entry_points(True, False, remote))
