"""sql/catalog.sql: its tables outlive ztensor, and each view answers its question over rows whose answer is known."""
import re
import sqlite3

import pytest

import catalogs
from catalogs import SQL, ask, create, shell
from support import ROOT

COLUMNS = {
    "files": "path source container version size mtime objects components stored_bytes decoded_bytes manifest_bytes"
             " attributes error refreshed",
    "objects": "path object format dtype type shape rank elements components stored_bytes decoded_bytes attributes",
    "components": "path object component dtype type encoding byte_order offset length decoded_length digest shard",
    "attributes": "path object key value type",
    "run_files": "tracker database run name status path logged",
}
HUGE = "18446744073709551615"

FILL = f"""
INSERT INTO files(path, source, container, version, size, mtime, objects, components, stored_bytes, error, refreshed) VALUES
  ('a.zt', '.', 'ztensor', '1.2.0', 100, 86400.5, 2, 2, 24, NULL, 1000),
  ('b.zt', '.', 'ztensor', '1.2.0', 110, 86401, 2, 2, 24, NULL, 1001),
  ('c.zt', 'more', 'ztensor', '0.1.0', 90, 0, 1, 1, 8, NULL, 900),
  ('d.zt', 'more', NULL, NULL, 5, 86400, NULL, NULL, NULL, 'ztensor: d.zt: too short', 950);
INSERT INTO objects(path, object, format, dtype, type, shape, elements) VALUES
  ('a.zt', 'w', 'dense', 'f32', 'f32', '[2,2]', 4), ('a.zt', 'b', 'dense', 'f32', 'f32', '[2]', 2),
  ('b.zt', 'w', 'dense', 'f32', 'f32', '[2,2]', 4), ('b.zt', 'b', 'dense', 'f32', 'f32', '[2]', 2),
  ('c.zt', 'w', 'dense', 'f16', 'f16', '[4]', 4);
INSERT INTO attributes VALUES ('a.zt', NULL, 'license', 'MIT', 'text'), ('a.zt', 'w', 'bits', 4, 'integer');
INSERT INTO run_files VALUES
  ('mlflow', 'mlflow.db', 'r1', 'baseline', 'finished', 'a.zt', 60.0),
  ('mlflow', 'mlflow.db', 'r2', 'wider', 'failed', 'x.zt', 61.0);
"""

NAMES = ["*.zt", "*.safetensors", "*.gguf", "*.npy", "*.npz", "*.pt", "*.pth", "*.onnx", "pytorch_model*.bin"]
VIEWS = {
    "file_names": sorted((name,) for name in NAMES),
    "sources": [(".", 2, 0, 4, 210, "1970-01-01 00:16:41"), ("more", 2, 1, 1, 95, "1970-01-01 00:15:50")],
    "broken": [("d.zt", 5, "1970-01-02 00:00:00", "ztensor: d.zt: too short")],
    "generations": [("ztensor", "0.1.0", 1, 1, 8), ("ztensor", "1.2.0", 2, 4, 48)],
    "models": [("a.zt", "1.2.0", 2, 6, 24, None, "1970-01-02 00:00:00"),
               ("b.zt", "1.2.0", 2, 6, 24, None, "1970-01-02 00:00:01"),
               ("c.zt", "0.1.0", 1, 4, 8, None, "1970-01-01 00:00:00")],
    "names": [("b", 2, 1, 1, "[2]", "f32"), ("w", 3, 2, 2, "[2,2]", "f16")],
    "architectures": [(1, 1, 4, "c.zt", "c.zt"), (2, 2, 6, "a.zt", "b.zt")],
    "file_attributes": [("a.zt", "license", "MIT", "text")],
    "runs": [("mlflow", "mlflow.db", "r1", "baseline", "finished", "1970-01-01 00:01:00", "a.zt", "1.2.0", 2, 24, None),
             ("mlflow", "mlflow.db", "r2", "wider", "failed", "1970-01-01 00:01:01", "x.zt", None, None, None, None)],
}


@pytest.fixture
def catalog(tmp_path):
    path = create(tmp_path / "catalog.db")
    db = sqlite3.connect(path)
    db.executescript(FILL)
    db.close()
    return path


def test_every_view_is_tested():
    assert catalogs.views("catalog.sql") == list(VIEWS)


@pytest.mark.parametrize("view", VIEWS)
def test_view(catalog, view):
    assert sorted(ask(catalog, f"SELECT * FROM {view}")) == VIEWS[view]


def test_a_directory_stands_for_files_of_these_names(db, tmp_path):
    names = [name.replace("*", "x") for name in NAMES]
    for name in [*names, "pytorch_model.bin", "model.bin", "x.ztx", "x.pkl", "npy"]:
        (tmp_path / name).touch()
    assert [name for (name,) in db.execute("SELECT path FROM zt_files(?)", (str(tmp_path),))] == [
        str(tmp_path / name) for name in sorted([*names, "pytorch_model.bin"])]
    assert re.search(r'zt_container_files\[\] =\s+"(.*)"', (ROOT / "ext/container/driver.c").read_text())[1].split() == NAMES


@pytest.mark.parametrize("view", [view for view in VIEWS if view != "file_names"])
def test_a_view_of_nothing_is_empty(tmp_path, view):
    assert ask(create(tmp_path / "empty.db"), f"SELECT * FROM {view}") == []


def test_columns_are_those_of_the_tables_of_ztensor(catalog, db):
    for table, columns in COLUMNS.items():
        assert [name for (name,) in ask(catalog, "SELECT name FROM pragma_table_info(?)", table)] == columns.split()
        if table not in ("files", "run_files"):
            theirs = [d[0] for d in db.execute(f"SELECT * FROM zt_{table}(NULL)").description]
            assert theirs == columns.split()


@pytest.mark.parametrize("table, column, key", [("files", "decoded_bytes", "path"), ("objects", "elements", "path, object"),
                                                ("objects", "decoded_bytes", "path, object"), ("attributes", "value", "path, object"),
                                                ("components", "decoded_length", "path, object, component")])
def test_a_number_beyond_64_bits_stays_what_it_is(catalog, table, column, key):
    db = sqlite3.connect(catalog)
    db.execute(f"INSERT INTO {table}({column}, {key}) VALUES (?{', 1' * len(key.split())})", (HUGE,))
    assert db.execute(f"SELECT {column} FROM {table} WHERE path = '1'").fetchone() == (HUGE,)
    db.close()


def test_several_keys_may_show_as_one_text(catalog):
    db = sqlite3.connect(catalog)
    db.executemany("INSERT INTO attributes VALUES ('a.zt', NULL, '1', ?, 'text')", [("integer",), ("text",)])
    assert db.execute("SELECT count(*) FROM attributes WHERE key = '1'").fetchone() == (2,)
    db.close()


def test_what_is_known_of_a_file_goes_with_it(catalog):
    db = sqlite3.connect(catalog, isolation_level=None)
    db.execute("INSERT INTO components(path, object, component) VALUES ('a.zt', 'w', 'data'), ('b.zt', 'w', 'data')")
    db.execute("DELETE FROM files WHERE source = '.' AND path = 'a.zt'")
    for table in ("files", "objects", "components", "attributes"):
        assert db.execute(f"SELECT count(*) FROM {table} WHERE path = 'a.zt'").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM components").fetchone() == (1,)
    db.close()


def test_reading_it_again_keeps_the_rows_and_replaces_the_views(catalog):
    before = catalogs.state(catalog)
    db = sqlite3.connect(catalog)
    db.executescript("DROP VIEW sources; CREATE VIEW sources AS SELECT 'of an older version'")
    db.close()
    create(catalog)
    assert catalogs.state(catalog) == before
    assert sorted(ask(catalog, "SELECT * FROM sources")) == VIEWS["sources"]


def test_it_can_be_read_within_a_transaction(tmp_path):
    done = shell(tmp_path / "x.db", "BEGIN", f".read {SQL}/catalog.sql", "ROLLBACK", "SELECT count(*) FROM sqlite_master")
    assert (done.out, done.err) == ("0\n", "")


@pytest.mark.parametrize("sql, index", [
    ("SELECT * FROM files WHERE path = 'a'", "PRIMARY KEY (path=?)"),
    ("SELECT * FROM objects WHERE path = 'a' AND object = 'w'", "PRIMARY KEY (path=? AND object=?)"),
    ("SELECT path FROM objects WHERE object = 'w'", "INDEX objects_object (object=?)"),
    ("SELECT * FROM components WHERE path = 'a' AND object = 'w'", "PRIMARY KEY (path=? AND object=?)"),
    ("SELECT * FROM attributes WHERE path = 'a' AND object IS NULL", "INDEX attributes_path (path=? AND object=?)"),
    ("SELECT * FROM attributes WHERE key = 'license'", "INDEX attributes_key (key=?)"),
    ("SELECT * FROM run_files WHERE path = 'a'", "INDEX run_files_path (path=?)"),
])
def test_indexes_serve_natural_questions(catalog, sql, index):
    [(*_, plan)] = ask(catalog, "EXPLAIN QUERY PLAN " + sql)
    assert index in plan


@pytest.mark.parametrize("script", catalogs.SCRIPTS)
def test_a_script_begins_with_what_it_is_for_and_how_to_call_it(script):
    text = (SQL / script).read_text()
    head = re.match(r"(--.*\n)+", text)[0]
    assert head.startswith(f"-- {script}: ") and "--   sqlite3 " in head
    assert not re.search(r"^\.", text, re.MULTILINE)  # nothing but SQL: other hosts can read it, too


@pytest.mark.parametrize("script", ["catalog.sql", "audit.sql"])
def test_above_every_view_stands_its_question(script):
    text = (SQL / script).read_text()
    found = re.findall(r"^-- \w[^\n]*(?:\n--[^\n]*)*\nDROP VIEW IF EXISTS (?:temp\.|main\.)?(\w+);\nCREATE (?:TEMP )?VIEW (?:main\.)?\1 AS",
                       text, re.MULTILINE)
    assert found == catalogs.views(script)
    for comment in re.findall(r"((?:^--[^\n]*\n)+)DROP VIEW", text, re.MULTILINE):
        assert "?" in comment, comment


def test_temporary_tables_of_the_same_names_do_not_matter(tmp_path):
    tables = [f"CREATE TEMP TABLE {name}(mine);" for name in ("models", "sources", "duplicates", "digests")]
    done = shell(tmp_path / "catalog.db", *tables, f".read {SQL}/catalog.sql", f".read {SQL}/audit.sql", "SELECT count(*) FROM main.models")
    assert (done.out, done.err, done.code) == ("0\n", "", 0)
