"""query(): rows, and columns of Arrow, pandas and polars."""
import gc
import os
import pathlib
import sqlite3
import subprocess
import sys
import threading
import time

import apsw
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import sqlalchemy

import ztensor_sqlite
from ztensor_sqlite import _query, query


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    root = tmp_path_factory.mktemp("files")
    ztensor_sqlite.save(root / "a.safetensors", {"w": np.ones((2, 3), "f4"), "x": np.zeros(5, "i8")})
    ztensor_sqlite.save(root / "b.npz", {"w": np.ones(4, "f8")})
    (root / "broken.zt").write_bytes(b"no tensors")
    return root


NAMES = "SELECT object FROM zt_objects(:source) ORDER BY path, object"


def test_sources(files):
    a, b = files / "a.safetensors", files / "b.npz"
    assert query(NAMES, {}, a).rows() == [("w",), ("x",)]
    assert query(NAMES, {}, str(a), b).rows() == [("w",), ("x",), ("w",)]
    assert query(NAMES, {}, [a, b]).rows() == [("w",), ("x",), ("w",)]
    assert query(NAMES, {}, a.read_bytes()).rows() == [("w",), ("x",)]
    assert query(NAMES + " LIMIT :n", {"n": 1}, files / "*.safetensors").rows() == [("w",)]
    assert query("SELECT equal, elements FROM zt_compare(:source1, 'w', :source2, 'w')", {}, a, a).rows() == [(6, 6)]
    assert query("SELECT count(*) FROM zt_objects(?)", [a]).value() == 2
    assert query("SELECT typeof(?), typeof(?)", [np.int64(3), np.float32(0.5)]).rows() == [("integer", "real")]


@pytest.fixture
def odd(tmp_path):
    """A path that is not UTF-8, of a file of three numbers, as os.fsdecode() gives it."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.npy")
    np.save(path, np.arange(3))
    return path


# A statement run in a Python whose sqlite3 loads no extensions
WITH_APSW = """
import sqlite3, sys
class Connection: pass
sqlite3.Connection = Connection
import ztensor_sqlite
"""


def test_a_path_that_is_not_utf8(odd):
    np.save(odd.replace(".npy", "2.npy"), np.arange(4))
    folder = os.path.dirname(odd)
    np.save(folder + "/a.npy", np.arange(2))
    paths = [folder + "/a.npy", odd, odd.replace(".npy", "2.npy")]
    every = query("SELECT path, elements FROM zt_objects(:source) ORDER BY elements", {}, folder)
    assert every.rows() == [*zip(paths, (2, 3, 4))]
    assert all(map(os.path.exists, paths))
    for way in (odd, pathlib.Path(odd), [odd]):
        assert query("SELECT path, elements FROM zt_objects(:source)", {}, way).rows() == [(odd, 3)]
    assert query("SELECT path FROM zt_files(:source)", {}, odd).value() == odd
    with pytest.raises(sqlite3.OperationalError, match="'path': row 1 has text that is not UTF-8: CAST AS BLOB gives its bytes"):
        every.arrow()
    done = subprocess.run([sys.executable, "-c", WITH_APSW + "print(ascii(ztensor_sqlite.query(sys.argv[1], {}, sys.argv[2]).rows()))", every.sql, folder],
                          capture_output=True, text=True, check=True)
    assert done.stdout == ascii(every.rows()) + "\n"


@pytest.mark.parametrize("connect", [lambda: sqlite3.connect(":memory:"), lambda: apsw.Connection(":memory:")])
def test_such_a_path_in_a_connection_of_the_callers(odd, connect):
    with pytest.raises(sqlite3.OperationalError, match="decode.*: CAST AS BLOB gives such text as bytes, and a query without connection="):
        query("SELECT path FROM zt_files(:source)", {}, odd, connection=connect()).rows()
    assert query("SELECT CAST(path AS BLOB) FROM zt_files(:source)", {}, odd, connection=connect()).value() == os.fsencode(odd)


@pytest.mark.parametrize("arguments, error, message", [
    (("SELECT ?", [1], "a.zt"), TypeError, "with sources, parameters have names: {'least': 10} for :least"),
    (("SELECT 1", {}, "a.zt"), ValueError, "sources are given, but the SQL does not name :source"),
    (("SELECT :source2", {}, "a.zt"), ValueError, "the SQL names :source2, but 1 source is given"),
    (("SELECT :source", {}, 5), TypeError, "a source is a path, the bytes of a file, or a list of paths, not int"),
    (("SELECT :source", {}, b"PK", "a.zt"), TypeError, "a list of sources holds paths, patterns and URLs; bytes of a file stand alone"),
])
def test_parameters_that_do_not_fit(arguments, error, message):
    with pytest.raises(error) as raised:
        query(*arguments)
    assert str(raised.value) == message


def test_columns_have_their_values_types(files):
    found = query("SELECT object, elements, attributes, 0.5 AS r, x'61' AS b, NULL AS n FROM zt_objects(:source) ORDER BY object", {},
                  files / "a.safetensors")
    table = found.arrow()
    assert [str(field.type) for field in table.schema] == ["string", "int64", "string", "double", "binary", "null"]
    assert table.to_pylist() == [dict(zip(table.column_names, row)) for row in found]
    table.validate(full=True)
    frame = found.df()
    assert frame["elements"].dtype == "int64" and frame["elements"].tolist() == [6, 5]
    assert found.polars()["object"].to_list() == ["w", "x"] and found.polars().schema["elements"] == polars.Int64
    assert pyarrow.table(found).equals(table)
    empty = query("SELECT object, elements FROM zt_objects(NULL)").arrow()
    assert [str(field.type) for field in empty.schema] == ["string", "int64"] and len(empty) == 0


def test_every_table_over_every_golden_file(golden):
    """The columns have the very values of the rows."""
    done = 0
    for sql in ("SELECT * FROM zt_files(:source) WHERE typeof(path) = 'text'", "SELECT * FROM zt_objects(:source, 'skip')",
                "SELECT *, hash FROM zt_components(:source, 'skip')", "SELECT path, object, zeros, mean, l2, error FROM zt_stats(:source, 'skip')",
                "SELECT path, object, key, CAST(value AS TEXT) AS value, type FROM zt_attributes(:source, 'skip') WHERE type != 'blob'"):
        for form in ("safetensors", "gguf", "npz", "pytorch", "hdf5"):
            found = query(sql, {}, golden / form / "golden" / "**")
            try:
                table = found.arrow()
            except sqlite3.OperationalError as error:   # u64 beyond int64 is text
                assert "has text, and an earlier one has an integer" in str(error) or "has an integer, and an earlier one has text" in str(error)
                continue
            table.validate(full=True)
            rows = found.rows()
            assert repr([tuple(row.values()) for row in table.to_pylist()]) == repr(rows)
            done += len(rows)
    assert done > 1000


def test_a_column_of_several_types_is_named(tmp_path):
    ztensor_sqlite.save(tmp_path / "m.zt", {"w": np.ones(1)}, attributes={"a": 1, "b": "text"})
    mixed = query("SELECT key, value FROM zt_attributes(:source)", {}, tmp_path / "m.zt")
    assert mixed.rows() == [("a", 1), ("b", "text")]
    with pytest.raises(sqlite3.OperationalError) as raised:
        mixed.arrow()
    assert str(raised.value) == ("column 'value': row 1 has text, and an earlier one has an integer: a column of Arrow has one type; "
                                 "CAST(value AS TEXT) gives it one")
    assert query("SELECT CAST(value AS TEXT) AS value FROM zt_attributes(:source)", {}, tmp_path / "m.zt").arrow()["value"].to_pylist() == ["1", "text"]


def test_errors_are_the_same_either_way(files):
    for sql, source in (("SELECT * FROM zt_objects(:source)", files), ("SELECT zt_dense(:source, 'W')", files / "a.safetensors")):
        found, said = query(sql, {}, source), []
        for ask in (found.rows, found.arrow):
            with pytest.raises(sqlite3.OperationalError) as raised:
                ask()
            said.append(str(raised.value))
        assert said[0] == said[1]
    assert "did you mean 'w'?" in said[0]


@pytest.mark.parametrize("module, ask", [("pyarrow", "arrow"), ("pandas", "df"), ("polars", "polars")])
def test_what_is_not_installed_is_named(without, module, ask):
    without(module)
    with pytest.raises(ImportError) as raised:
        getattr(query("SELECT 1"), ask)()
    assert str(raised.value) == f"{ask}() needs {module}: pip install {module}"


@pytest.mark.parametrize("connect", [lambda: sqlite3.connect(":memory:"), lambda: apsw.Connection(":memory:")])
def test_a_connection_of_the_callers(files, connect):
    """With its own tables, in its open transaction."""
    conn = connect()
    conn.execute("CREATE TEMP TABLE wanted(name)")
    conn.execute("INSERT INTO wanted VALUES ('x')")
    found = query("SELECT object, elements FROM zt_objects(:source) JOIN wanted ON name = object", {}, files / "a.safetensors", connection=conn)
    assert found.rows() == [("x", 5)] and found.arrow().to_pylist() == [{"object": "x", "elements": 5}]
    with pytest.raises(sqlite3.OperationalError, match="no such table: absent"):
        query("SELECT * FROM absent", connection=conn).rows()
    with pytest.raises(sqlite3.OperationalError, match="no such table: absent"):
        query("SELECT * FROM absent", connection=conn).arrow()
    conn.close()


def test_a_connection_that_opens_no_files_opens_none(files):
    conn = ztensor_sqlite.connect(files=False)
    for ask in (query(NAMES, {}, files / "a.safetensors", connection=conn).arrow, lambda: ztensor_sqlite.tensor(files / "a.safetensors", "w", connection=conn)):
        with pytest.raises(sqlite3.OperationalError, match="opens no files"):
            ask()


def test_queries_cannot_write(files):
    with pytest.raises(sqlite3.OperationalError, match="no such module: zt_writer"):
        query("CREATE VIRTUAL TABLE temp.w USING zt_writer('x.zt')").rows()


def test_ctrl_c_ends_it():
    """In a process of its own, which a signal reaches while C runs."""
    code = ("import ztensor_sqlite, sys\nprint('ready', flush=True)\n"
            "ztensor_sqlite.query('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n').arrow()")
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(2)
    _, said = process.communicate(timeout=30)
    assert said.strip().endswith("KeyboardInterrupt")


def test_threads_and_forks(files):
    counts = []
    def ask():
        for _ in range(5):
            counts.append(len(query(NAMES, {}, files / "a.safetensors").arrow()))
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [2] * 40
    query(NAMES, {}, files / "a.safetensors").arrow()
    child = subprocess.run([sys.executable, "-c", "import os, sys, ztensor_sqlite as z\nq = z.query('SELECT count(*) FROM zt_objects(?)', [sys.argv[1]])\n"
                            "q.arrow()\npid = os.fork()\nassert q.arrow().to_pylist() == [{'count(*)': 2}]\n"
                            "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if pid else 0)", files / "a.safetensors"], capture_output=True, text=True)
    assert child.returncode == 0, child.stderr


def test_a_stream_that_nobody_reads_is_freed():
    before = len(_query._streams)
    for _ in range(100):
        query("SELECT 'abc' AS t").__arrow_c_stream__()
    gc.collect()
    assert len(_query._streams) == before


def test_pandas_reads_sql_without_a_warning(files, recwarn):
    engine = sqlalchemy.create_engine("sqlite://")
    ztensor_sqlite.load(engine)
    sql = f"SELECT object FROM zt_objects('{files / 'a.safetensors'}') ORDER BY object"
    with ztensor_sqlite.connect() as conn:
        frames = [pandas.read_sql(sql, engine), pandas.read_sql(sql, conn)]
    conn.close()
    assert [frame["object"].tolist() for frame in frames] == [["w", "x"]] * 2
    assert list(recwarn) == []


def test_the_types_are_right_for_mypy(tmp_path):
    (tmp_path / "use.py").write_text("import pathlib\nimport ztensor_sqlite as z\nrows: list[tuple[object, ...]] = z.query('SELECT 1').rows()\n"
                                     "t: z.Tensors = z.tensors([pathlib.Path('a')])\nshape: tuple[int, ...] = t['w'].shape\n"
                                     "z.load(z.connect(), write=True)\nz.save('a.zt', {'w': 1})\n")
    modules = ("", "._connection", "._native", "._query", "._save", "._sqlalchemy", "._tensor", "._text")
    for chosen in ([tmp_path / "use.py"], [word for module in modules for word in ("-m", f"ztensor_sqlite{module}")]):
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--follow-imports=silent", *chosen],
                              capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
