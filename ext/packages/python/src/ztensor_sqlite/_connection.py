"""The extension in connections: the library's file, its copies, its entry points."""
from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import Any, Iterator

_HERE = os.path.dirname(os.path.realpath(__file__))
_LIBRARY = {"win32": "ztensor.dll", "darwin": "ztensor.dylib"}.get(sys.platform, "ztensor.so")


class LoadError(Exception):
    """The extension cannot be loaded into a connection; the message says why."""


def _find(name: str) -> str:
    """The file or directory of the package, or of the source tree that the package stands in."""
    places = [_HERE, os.path.normpath(os.path.join(_HERE, *[os.pardir] * 5))]
    for place in places:
        if os.path.exists(os.path.join(place, name)):
            return os.path.join(place, name)
    raise LoadError(f"there is no {name} in {' or '.join(places)}")


def loadable_path() -> str:
    """The path of the library, for `.load`, load_extension() and other languages."""
    return _find(_LIBRARY)


def sql_path() -> str:
    """The directory of the scripts: catalog.sql, refresh.sql, audit.sql and others."""
    return _find("sql")


def connect(database: str | os.PathLike[str] = ":memory:", files: bool = True, write: bool = False, remote: bool = False,
            **options: Any) -> Any:
    """A connection with the extension. It is of sqlite3, or of apsw if Python's sqlite3 cannot load extensions.

    `files`, `write` and `remote` are those of load(). `options` go to sqlite3.connect() or apsw.Connection(). LoadError: the
    extension cannot be loaded.
    """
    import sqlite3

    if hasattr(sqlite3.Connection, "enable_load_extension"):
        conn: Any = sqlite3.connect(database, **options)
    else:
        try:
            import apsw
        except ImportError:
            raise LoadError("this Python's sqlite3 was built without extensions, and apsw is not installed: "
                            "pip install 'ztensor-sqlite[apsw]'") from None
        conn = apsw.Connection(os.fspath(database), **options)
    try:
        load(conn, files, write, remote)
    except BaseException:
        conn.close()
        raise
    return conn


def load(conn: Any, files: bool = True, write: bool = False, remote: bool = False) -> None:
    """Load the extension into a connection of sqlite3, apsw or SQLAlchemy. A second call changes nothing, or adds.

    For an SQLAlchemy engine, it is loaded into every connection of the pool: into those that are there when they are next
    checked out, and into each later one. Whether that is possible is tried at once.

    files=False: the tables and functions take only BLOBs, and no path is opened. Use it if the SQL is not trusted.
    write=True: there is also the table zt_writer, which writes files.
    remote=True: sources may be URLs of https, s3 and hf, too. The environment variable ZTENSOR_REMOTE says which of them may
    be reached.

    LoadError: the extension cannot be loaded, or the connection has it with other files. TypeError: `conn` is none of these
    connections. ValueError: write or remote without files.
    """
    for name, wanted in (("write", write), ("remote", remote)):
        if wanted and not files:
            raise ValueError(f"{name}=True needs files=True: without files, no path is opened")
    entries = entry_points(files, write, remote)
    if _is_of(conn, "sqlalchemy"):
        from ._sqlalchemy import load_sqlalchemy

        load_sqlalchemy(conn, entries)
    elif _is_of(conn, "sqlite3") or _is_of(conn, "apsw"):
        load_sqlite(conn, entries)
    else:
        raise TypeError(f"a connection of sqlite3, apsw or SQLAlchemy is needed, not {type(conn).__qualname__}")


def entry_points(files: bool, write: bool, remote: bool) -> list[str]:
    """The library's entry points that add up to what load() is asked for."""
    names = ["write"] * write + ["remote"] * remote
    return [f"sqlite3_ztensor_{name}_init" for name in names] or [f"sqlite3_ztensor_{'' if files else 'nofs_'}init"]


def _is_of(conn: object, package: str) -> bool:
    return any(c.__module__.split(".")[0] == package for c in type(conn).__mro__)


def load_sqlite(conn: Any, entries: list[str]) -> str:
    """Load the extension by each entry point. Returns the path of the library that now serves the connection's SQLite."""
    if not hasattr(conn, "enable_load_extension"):
        raise LoadError("this Python's sqlite3 was built without extensions; "
                        "apsw has them: ztensor_sqlite.connect() takes it")
    try:
        return _load_files(conn, entries)
    except Exception as e:
        if "not authorized" not in str(e):
            raise LoadError(str(e)) from e
    conn.enable_load_extension(True)
    try:
        return _load_files(conn, entries)
    except Exception as e:
        raise LoadError(str(e)) from e
    finally:
        conn.enable_load_extension(False)


def _load_files(conn: Any, entries: list[str]) -> str:
    return [_load_file(conn, entry) for entry in entries][-1]


def _load_file(conn: Any, entry_point: str) -> str:
    """Load a file of the library. A file serves one SQLite library of a process; each further one gets a copy."""
    for path in _Copies.paths():
        try:
            # In SQL, since the method of sqlite3 takes an entry point only from Python 3.12 on; without the suffix,
            # since SQLite tries both and tells what is wrong with the one that has it
            conn.execute("SELECT load_extension(?, ?)", (os.path.splitext(path)[0], entry_point)).close()
        except Exception as e:
            if "another SQLite library" not in str(e):
                raise
        else:
            _Copies.keep(path)
            return path
    raise AssertionError("there is always one more copy")


def kept_library(path: str) -> Any:
    """The ctypes.CDLL of a library that load_sqlite() returned."""
    return _Copies.kept[path]


class _Copies:
    """Copies of the library, which live as long as the process."""
    lock = threading.Lock()
    made: list[str] = []
    kept: dict[str, Any] = {}

    @classmethod
    def paths(cls) -> Iterator[str]:
        """The library, the existing copies, and then new copies, in case all of them are taken."""
        yield loadable_path()
        done = 0
        while True:
            with cls.lock:
                if done == len(cls.made):
                    cls.made.append(cls.make())
                path = cls.made[done]
            yield path
            done += 1

    @classmethod
    def keep(cls, path: str) -> None:
        """Keep a library loaded for its SQLite. Otherwise, after its last connection is closed, another SQLite would take it, and
        one more copy would be needed."""
        import ctypes

        with cls.lock:
            if path not in cls.kept:
                cls.kept[path] = ctypes.CDLL(path)

    @staticmethod
    def make() -> str:
        import shutil
        import tempfile

        directory = tempfile.mkdtemp(prefix="ztensor-sqlite-")
        path = shutil.copy(loadable_path(), directory)
        atexit.register(_remove, path, os.getpid())
        return path


def _remove(path: str, pid: int) -> None:
    if os.getpid() != pid:   # A forked process leaves its parent's copies alone
        return
    import shutil

    if sys.platform == "win32" and path in _Copies.kept:   # Windows removes no library that is loaded
        import _ctypes

        _ctypes.FreeLibrary(_Copies.kept[path]._handle)
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
