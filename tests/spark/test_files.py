"""Files that go, change or have odd names, and values that are none of their column's type."""
import os
from decimal import Decimal

import apsw
import cluster
import oracle
import pytest
import ztensor_sqlite
from calling import fields, read, reader, rows
from files import Files
from pyspark.sql.types import BinaryType, DecimalType, DoubleType, LongType, StringType
from pyspark_ztensor import connection as connection_module
from pyspark_ztensor.errors import ZtensorError
from server import Server

STRING, BIGINT, DOUBLE, DECIMAL, BINARY = StringType(), LongType(), DoubleType(), DecimalType(20, 0), BinaryType()
TABLES = ["objects", "components", "attributes", "stats", "elements", "rows", "histogram", "compare"]


def test_without_a_column_for_errors_the_first_ends_the_query(files, driver):
    with pytest.raises(ZtensorError) as caught:
        rows({"table": "objects", "path": "*.zt"}, fields(path=STRING, object=STRING))
    assert str(caught.value) == (f"ztensor: {files}/broken.zt: not a tensor file of a known format "
                                 "(a column 'error' in .schema() makes that a row)")


@pytest.mark.parametrize("table", ["files", "check", *TABLES])
def test_files_that_go_between_planning_and_reading(files, driver, table):
    """The name of one that is gone may be a pattern, which finds nothing, or another file, or a directory of others."""
    names = ["[a].zt", "b*.zt", "a.zt", "folder"]
    for name in names:
        (files / name).write_bytes((files / "b.zt").read_bytes())
    planned = reader({"table": table, "paths": str([*names, "b.zt"]).replace("'", '"'), **({"other": "b.zt"} if table == "compare" else {})})
    partitions = planned.partitions()
    for name in names:
        (files / name).unlink()
    (files / "[a]").mkdir()
    (files / "folder").mkdir()
    (files / "folder" / "c.zt").write_bytes((files / "b.zt").read_bytes())
    found = read(planned, partitions)
    told = {row["path"][len(str(files)) + 1:]: row["error"] or f'ztensor: {row["path"]}: {row["message"]}'
            for row in found if row["path"] != f"{files}/b.zt" and (row["error"] or row.get("rule") == "unreadable")}
    assert told == {name: f"ztensor: {files}/{name}: " + ("cannot open: No such file or directory" if name == "a.zt" else "is no longer a file")
                    for name in names}
    assert {row["path"] for row in found} <= {f"{files}/{name}" for name in [*names, "b.zt"]}


def test_a_source_may_be_relative_where_the_query_is_made(files):
    planned = reader({"table": "files", "path": "*.zt"})
    partitions = planned.partitions()
    os.chdir("/")
    assert [(row["path"], row["size"]) for row in read(planned, partitions)] == [(str(path), path.stat().st_size) for path in sorted(files.iterdir())]


@pytest.fixture(params=["sqlite3", "apsw"])
def driver(request, monkeypatch):
    """Where Python's sqlite3 loads no extensions, apsw does."""
    if request.param == "apsw":
        def connect(remote=False):
            connection = apsw.Connection(":memory:")
            ztensor_sqlite.load(connection, remote=remote)
            return connection

        monkeypatch.setattr(ztensor_sqlite, "connect", connect)
    assert type(connection_module.Connection().driver).__module__ == request.param


def test_a_name_that_is_no_utf_8_is_shown_as_a_uri(files, driver):
    os.rename("b.zt", b"\xff b.zt")
    found = rows({"table": "objects", "path": "*b.zt"})
    path, = {row["path"] for row in found}
    assert path == f"file://{files}/%FF%20b.zt" and all(row["error"] is None for row in found)
    assert found == rows({"table": "objects", "path": path}) and len(found) == 15


def test_an_npy_whose_name_is_no_utf_8(files, driver):
    """It has no name to call its array by."""
    os.rename("b.zt", b"\xff.npy")
    (files / os.fsdecode(b"\xff.npy")).write_bytes((cluster.ROOT / "tests" / "formats" / "npy" / "golden" / "big_f32.npy").read_bytes())
    row, = rows({"table": "stats", "path": "*.npy"})
    assert (row["path"], row["object"], row["error"]) == (f"file://{files}/%FF.npy", "data", None)


def test_files_of_a_web_server(files, driver, monkeypatch):
    """Which are named by no query that does not say so."""
    with Server(Files(here=files)) as server:
        monkeypatch.setenv("ZTENSOR_REMOTE", server.origin)
        options = {"table": "objects", "path": f"{server.origin}/here/a.zt"}
        local = rows({"table": "objects", "path": "a.zt"})
        denied, = rows(options)
        assert "remote" in denied["error"] and server.log == []
        found = rows({**options, "remote": "true"})
    assert len(local) == 15 and [{**row, "path": f"{files}/a.zt"} for row in found] == local
    assert {row["path"] for row in found} == {options["path"]} and {request.method for request in server.log} == {"GET"}


def test_one_tensor_without_bytes_hides_no_other(files):
    """A model of several shards, one of which is missing."""
    source = cluster.ROOT / "tests" / "formats" / "ztensor"
    with oracle.connect() as db:
        found = [path for path, in db.execute("SELECT DISTINCT path FROM zt_components(?, 'skip') WHERE shard IS NOT NULL", (f"{source}/**/*.zt",))]
    assert found
    told = 0
    for path in found:
        each = rows({"table": "components", "path": path}, fields(object=STRING, component=STRING, digest_status=STRING, error=STRING))
        with oracle.connect() as db:
            listed = db.execute("SELECT object, component FROM zt_components(?)", (path,)).fetchall()
        assert [(row["object"], row["component"]) for row in each] == listed
        told += sum(row["error"] is not None for row in each)
    assert told > 0


# --------------------------------------------------------------------------------------------------------- values

def stats(type, object):
    """The least and greatest value of a tensor, as that type."""
    row, = rows({"table": "stats", "path": "a.zt", "object": object}, fields(min=type, max=type, error=STRING))
    return tuple(row.values())


def test_no_value_is_rounded(files):
    name = "blk.1.norm.i64.z"
    told = f"ztensor: {files}/a.zt: column 'max': 9223372036854775807 is no double; as string it can be had"
    assert stats(DOUBLE, name) == (-9223372036854775808.0, None, told)
    assert stats(BIGINT, name) == (-9223372036854775808, 9223372036854775807, None)
    assert stats(DECIMAL, name) == (Decimal(-9223372036854775808), Decimal(9223372036854775807), None)
    assert stats(STRING, name) == ("-9223372036854775808", "9223372036854775807", None)


def test_integers_beyond_64_bits(files):
    name = "rope.freqs.u64.z"
    assert stats(BIGINT, name) == (0, None, f"ztensor: {files}/a.zt: column 'max': 18446744073709551615 is no bigint; as string it can be had")
    assert stats(DECIMAL, name) == (Decimal(0), Decimal(18446744073709551615), None)
    assert stats(STRING, name) == ("0", "18446744073709551615", None)


def test_real_numbers(files):
    name = "blk.0.attn.q.f32.z"
    assert stats(DOUBLE, name) == (-3.4028234663852886e38, 3.4028234663852886e38, None)
    assert stats(STRING, name) == ("-3.4028234663852886e+38", "3.4028234663852886e+38", None)
    assert stats(DECIMAL, name)[:2] == (None, None)
    found = rows({"table": "elements", "path": "a.zt", "object": "blk.0.attn.k.f16.z"}, fields(value=BIGINT, error=STRING))
    expected = [value for value, in oracle.connect().execute("SELECT value FROM zt_elements('a.zt', 'blk.0.attn.k.f16.z')")]
    fits = [value is None or abs(value) < 2 ** 63 and value == int(value) for value in expected]
    assert {True, False} == set(fits) and [row["error"] is None for row in found] == fits
    assert [row["value"] for row in found] == [value if fit else None for value, fit in zip(expected, fits)]
    with pytest.raises(ZtensorError, match=r"column 'min': -65504.0 is no binary; as string it can be had \(a column 'error' in .schema"):
        rows({"table": "stats", "path": "a.zt", "object": "blk.0.attn.k.f16.z"}, fields(min=BINARY))


def test_an_error_of_the_table_is_kept(files):
    """Beside which a value that is none of its type says nothing."""
    path = cluster.ROOT / "tests" / "formats" / "ztensor" / "golden" / "v1.2" / "hand_bad_objects.zt"
    expected = oracle.connect().execute("SELECT object, error FROM zt_stats(?) WHERE error IS NOT NULL", (str(path),)).fetchall()
    found = [row for row in rows({"table": "stats", "path": str(path)}, fields(object=STRING, elements=BINARY, error=STRING)) if row["error"]]
    assert expected and [(row["object"], row["error"]) for row in found if "column 'elements'" not in row["error"]] == expected


def test_values_of_several_types(files):
    """Attributes are text: bytes in hexadecimal digits, numbers so that they read back as the same."""
    source = str(cluster.ROOT / "tests" / "formats" / "*" / "golden" / "**" / "*")
    found = rows({"table": "attributes", "path": source})
    expected = oracle.connect().execute("SELECT path, object, key, value, type FROM zt_attributes(?, 'skip')", (source,)).fetchall()
    assert {type(value) for *_, value, _ in expected} == {int, float, str, bytes, type(None)}
    readable = [row for row in found if row["error"] is None]
    assert [(row["path"], row["object"], row["key"], row["type"]) for row in readable] == [(*row[:3], row[4]) for row in expected]
    for row, (*_, value, _) in zip(readable, expected):
        back = {bytes: bytes.fromhex, int: int, float: float, str: str, type(None): lambda value: value}[type(value)](row["value"])
        assert repr(back) == repr(value)


def test_batches_have_bounds(files, monkeypatch):
    from pyspark_ztensor import reader as module

    planned = reader({"table": "rows", "path": "[ab].zt", "object": "level19"})
    partition, = planned.partitions()
    assert [batch.num_rows for batch in planned.read(partition)] == [1600]
    monkeypatch.setattr(module, "BATCH_ROWS", 700)
    assert [batch.num_rows for batch in planned.read(partition)] == [700, 700, 200]
    monkeypatch.setattr(module, "BATCH_BYTES", 40)
    assert {batch.num_rows for batch in planned.read(partition)} == {1}
