"""The options of a query, and the errors about other ones."""
import oracle
import pytest
from calling import fields, reader, rows
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import IntegerType, StringType, StructField, StructType
from pyspark_ztensor import DefaultSource
from pyspark_ztensor.errors import ZtensorError

STRING = StringType()
TABLES = ["files", "objects", "components", "attributes", "stats", "check", "elements", "rows", "histogram", "compare", "rules"]


def names(options):
    return DefaultSource(CaseInsensitiveDict(options)).schema().fieldNames()


@pytest.mark.parametrize("options, message", [
    ({"path": "x"}, f"option 'table' is missing: there are {', '.join(TABLES)}"),
    ({"path": "x", "table": "tensors"}, f"option 'table' is 'tensors': there are {', '.join(TABLES)}"),
    ({"table": "objects"}, "load() needs a source: a path, a pattern, a directory, or a list of them"),
    ({"table": "rules", "path": "x"}, "table 'rules' has no source: call load() without a path"),
    ({"table": "objects", "path": "x", "tabel": "y"}, "option 'tabel' is not known: table 'objects' has table, path, paths, "
     "files_per_partition, bytes_per_partition, remote, object"),
    ({"table": "objects", "path": "x", "level": "full"}, "option 'level' is for check, not for table 'objects'"),
    ({"table": "check", "path": "x", "object": "w"}, "option 'object' is for objects, components, attributes, stats, elements, rows, "
     "histogram, compare, not for table 'check'"),
    ({"table": "check", "path": "x", "level": "deep"}, "option 'level' is quick or full, not 'deep'"),
    ({"table": "histogram", "path": "x", "bins": "0"}, "option 'bins' is a whole number from 1 to 65536, not '0'"),
    ({"table": "histogram", "path": "x", "bins": "65537"}, "option 'bins' is a whole number from 1 to 65536, not '65537'"),
    ({"table": "files", "path": "x", "files_per_partition": "1.5"},
     "option 'files_per_partition' is a whole number from 1 to 2147483648, not '1.5'"),
    ({"table": "files", "path": "x", "bytes_per_partition": "-1"},
     "option 'bytes_per_partition' is a whole number from 1 to 1125899906842624, not '-1'"),
    ({"table": "files", "path": "x", "remote": "yes"}, "option 'remote' is true or false, not 'yes'"),
    ({"table": "compare", "path": "x"}, "option 'other' is missing: the file that each file is compared with"),
    ({"table": "compare", "path": "x", "other": "*.zt"}, "option 'other' is one file, and '*.zt' are 3"),
    ({"table": "compare", "path": "x", "other": "gone.zt"}, "option 'other': ztensor: gone.zt: cannot open: No such file or directory"),
])
def test_options(files, options, message):
    with pytest.raises(ZtensorError) as caught:
        reader(options)
    assert str(caught.value) == message


def test_a_dtype_that_there_is_not(files):
    with pytest.raises(ZtensorError, match="^ztensor: dtype 'f31' is not known: there are f64, f32, .*complex128"):
        reader({"table": "rows", "path": "x", "dtype": "f31"})


def test_a_list_that_is_none(files):
    with pytest.raises(ZtensorError, match="^ztensor: the source is a list: byte 7: "):
        rows({"table": "files", "path": '["a.zt"'})


@pytest.mark.parametrize("schema, message", [
    (fields(path=STRING, name=STRING), "table 'objects' has no column 'name': it has path, object, format, dtype, type, shape, rank, "
     "elements, components, stored_bytes, decoded_bytes, attributes, error; and, hidden, fingerprint, fingerprint_error"),
    (fields(path=STRING, source=STRING), "table 'objects' has no column 'source': it has path, "),
    (fields(elements=IntegerType()), "column 'elements' may be string, bigint, double, decimal(20,0), binary, not int"),
    (StructType([StructField("path", STRING, nullable=False)]), "column 'path' may be NULL: leave NOT NULL out"),
])
def test_columns(files, schema, message):
    with pytest.raises(ZtensorError) as caught:
        reader({"table": "objects", "path": "a.zt"}, schema)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("table", TABLES)
def test_the_columns_of_a_table_are_those_of_sqlite(files, table):
    own = [row[1] for row in oracle.connect().execute(f"PRAGMA table_xinfo(zt_{table})") if not row[6]]
    found = names({"table": table, **({} if table == "rules" else {"path": "a.zt"}), **({"other": "a.zt"} if table == "compare" else {})})
    added = [name for name in found if name not in own]
    assert [name for name in found if name in own] == own
    assert added == {"files": [], "stats": [], "rules": [], "elements": ["object", "error"], "rows": ["object", "error"],
                     "histogram": ["path", "object", "error"], "compare": ["path", "object"]}.get(table, ["error"])


def test_a_table_without_files(files):
    found = rows({"table": "rules"})
    assert [tuple(row.values()) for row in found] == oracle.connect().execute("SELECT * FROM zt_rules").fetchall()


def test_names_of_options_and_columns_are_those_of_sql(files):
    found = rows({"TABLE": "objects", "Path": "a.zt", "OBJECT": "level19"}, fields(Object=STRING, DTYPE=STRING))
    assert found == [{"Object": "level19", "DTYPE": "i32"}]


@pytest.mark.parametrize("table, count", [("objects", 1), ("components", 1), ("attributes", 0), ("stats", 1), ("elements", 800), ("rows", 800),
                                          ("histogram", 64), ("compare", 1)])
def test_one_object(files, table, count):
    other = {"other": "b.zt"} if table == "compare" else {}
    found = rows({"table": table, "path": "*.zt", "object": "level19", **other})
    assert [row["path"] for row in found] == [f"{files}/a.zt"] * count + [f"{files}/b.zt"] * count + [f"{files}/broken.zt"]
    assert {row.get("object") for row in found[:-1]} <= {"level19"} and found[-1]["error"].endswith("not a tensor file of a known format")


def test_a_table_of_hidden_columns(files):
    found = rows({"table": "components", "path": "[ab]*.zt", "object": "level19"}, fields(path=STRING, hash=STRING, error=STRING))
    expected = oracle.connect().execute("SELECT hash FROM zt_components('a.zt') WHERE object = 'level19'").fetchone()[0]
    assert [(row["path"][-4:], row["hash"], row["error"] and row["error"][-17:]) for row in found] == \
        [("a.zt", expected, None), ("b.zt", expected, None), ("n.zt", None, "of a known format")]


# ----------------------------------------------------------------------------------------------------- partitions

def sizes(options, schema=None):
    return [len(partition.value) for partition in reader(options, schema).partitions()]


def test_partitions_by_files(files):
    assert sizes({"table": "objects", "path": "*.zt", "files_per_partition": "2"}) == [2, 1]
    assert sizes({"table": "objects", "path": "*.zt", "bytes_per_partition": "1"}) == [3]
    assert sizes({"table": "objects", "path": "nothing/*"}) == []


@pytest.mark.parametrize("options, schema", [
    ({"table": "stats"}, None), ({"table": "elements"}, None), ({"table": "rows"}, None), ({"table": "histogram"}, None),
    ({"table": "compare", "other": "a.zt"}, None), ({"table": "check", "level": "full"}, None),
    *[({"table": "components"}, fields(**{name: STRING}, error=STRING)) for name in ("data", "stored", "digest_status", "hash")],
    ({"table": "objects"}, fields(fingerprint=STRING, error=STRING)), ({"table": "objects"}, fields(fingerprint_error=STRING, error=STRING))])
def test_partitions_by_bytes_where_tensors_are_read(files, options, schema):
    assert sizes({**options, "path": "*.zt", "bytes_per_partition": "5000"}, schema) == [2, 1]
    assert sizes({**options, "path": "*.zt", "bytes_per_partition": "1"}, schema) == [1, 1, 1]
