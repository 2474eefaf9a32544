"""ztensor for SQLite from Python: tensor files as SQL tables.

    import sqlite3, ztensor_sqlite
    conn = sqlite3.connect(":memory:")
    ztensor_sqlite.load(conn)
    conn.execute("SELECT object, dtype, shape FROM zt_objects('model.safetensors')")
"""
import atexit
import os
import pathlib
import shutil
import sys
import tempfile
import threading

__all__ = ["LoadError", "connect", "load", "loadable_path", "sql_path"]

_HERE = pathlib.Path(__file__).resolve().parent
_LIBRARY = {"win32": "ztensor.dll", "darwin": "ztensor.dylib"}.get(sys.platform, "ztensor.so")
_ENTRY_POINTS = {"files": "sqlite3_ztensor_init", "blobs": "sqlite3_ztensor_nofs_init", "remote": "sqlite3_ztensor_remote_init",
                 "write": "sqlite3_ztensor_write_init"}


class LoadError(Exception):
    """The extension cannot be loaded into a connection; the message says why."""


def _find(name):
    """The file or directory of the package, or of the source tree that the package stands in."""
    places = [_HERE, *list(_HERE.parents)[4:5]]
    for place in places:
        if (place / name).exists():
            return str(place / name)
    raise LoadError(f"there is no {name} in {' or '.join(map(str, places))}")


def loadable_path():
    """The path of the library, for `.load`, load_extension() and other languages."""
    return _find(_LIBRARY)


def sql_path():
    """The directory of the scripts: catalog.sql, refresh.sql, audit.sql and others."""
    return _find("sql")


def connect(database=":memory:", files=True, remote=False, write=False, **options):
    """A connection with the extension. It is of sqlite3, or of apsw if Python's sqlite3 cannot load extensions.

    `files`, `remote` and `write` are those of load(). `options` go to sqlite3.connect() or apsw.Connection().
    """
    import sqlite3

    if hasattr(sqlite3.Connection, "enable_load_extension"):
        conn = sqlite3.connect(database, **options)
    else:
        try:
            import apsw
        except ImportError:
            raise LoadError("this Python's sqlite3 was built without extensions, and apsw is not installed: "
                            "pip install 'ztensor-sqlite[apsw]'") from None
        conn = apsw.Connection(os.fspath(database), **options)
    try:
        load(conn, files, remote, write)
    except BaseException:
        conn.close()
        raise
    return conn


def load(conn, files=True, remote=False, write=False):
    """Load the extension into a connection of sqlite3, apsw or SQLAlchemy. A second call changes nothing.

    For an SQLAlchemy engine, it is loaded into each connection that the engine opens from then on. With files=False, the tables and
    functions take only BLOBs, and no path is opened. Use it if the SQL is not trusted. With remote=True, sources may be URLs of https,
    s3 and hf, too. The environment variable ZTENSOR_REMOTE says which of them may be reached. With write=True, there is the table
    zt_writer, which writes files.
    """
    if remote and not files:
        raise ValueError("remote sources are read where files are: remote=True needs files=True")
    if write and not files:
        raise ValueError("files are written where they are read: write=True needs files=True")
    if _is_of(conn, "sqlalchemy"):
        _load_sqlalchemy(conn, files, remote, write)
    elif _is_of(conn, "sqlite3") or _is_of(conn, "apsw"):
        _load_sqlite(conn, _ENTRY_POINTS["remote" if remote else "files" if files else "blobs"])
        if write:
            _load_sqlite(conn, _ENTRY_POINTS["write"])
    else:
        raise TypeError(f"a connection of sqlite3, apsw or SQLAlchemy is needed, not {type(conn).__qualname__}")


def _is_of(conn, package):
    return any(c.__module__.split(".")[0] == package for c in type(conn).__mro__)


def _load_sqlalchemy(conn, files, remote, write):
    import sqlalchemy

    if isinstance(conn, sqlalchemy.engine.Engine):
        sqlalchemy.event.listen(conn, "connect", lambda opened, record: load(opened, files, remote, write))
    elif isinstance(conn, sqlalchemy.engine.Connection):
        pooled = conn.connection
        load(getattr(pooled, "driver_connection", None) or pooled.dbapi_connection, files, remote, write)
    else:
        raise TypeError(f"an engine or a connection of SQLAlchemy is needed, not {type(conn).__qualname__}")


def _load_sqlite(conn, entry_point):
    if not hasattr(conn, "enable_load_extension"):
        raise LoadError("this Python's sqlite3 was built without extensions; "
                        "apsw has them: ztensor_sqlite.connect() takes it")
    try:
        _load_file(conn, entry_point)
    except Exception as e:
        if "not authorized" not in str(e):
            raise LoadError(str(e)) from e
    else:
        return
    conn.enable_load_extension(True)
    try:
        _load_file(conn, entry_point)
    except Exception as e:
        raise LoadError(str(e)) from e
    finally:
        conn.enable_load_extension(False)


def _load_file(conn, entry_point):
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
            return


class _Copies:
    """Copies of the library, which live as long as the process."""
    lock = threading.Lock()
    made = []
    kept = {}

    @classmethod
    def paths(cls):
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
    def keep(cls, path):
        """Keep a library loaded for its SQLite. Otherwise, after its last connection is closed, another SQLite would take it, and
        one more copy would be needed."""
        import ctypes

        with cls.lock:
            if path not in cls.kept:
                cls.kept[path] = ctypes.CDLL(path)

    @staticmethod
    def make():
        directory = tempfile.mkdtemp(prefix="ztensor-sqlite-")
        path = shutil.copy(loadable_path(), directory)
        atexit.register(_remove, path, os.getpid())
        return path


def _remove(path, pid):
    if os.getpid() != pid:   # A forked process leaves its parent's copies alone
        return
    if sys.platform == "win32" and path in _Copies.kept:   # Windows removes no library that is loaded
        import _ctypes

        _ctypes.FreeLibrary(_Copies.kept[path]._handle)
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
