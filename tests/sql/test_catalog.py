"""sql/catalog.sql: its tables outlive ztensor, and each view answers its question over rows whose answer is known."""
import re
import sqlite3
from pathlib import Path

import pytest

import catalogs
import drivers
import writer
from catalogs import ATTRIBUTES, COMPONENTS, FILES, MIGRATE, OBJECTS, SQL, ask, create, shell
from support import TODAYS_PLANS

COLUMNS = {
    "files": "path source container version size mtime objects components stored_bytes decoded_bytes manifest_bytes"
             " attributes error refreshed",
    "objects": "path object format dtype type shape rank elements components stored_bytes decoded_bytes attributes",
    "components": "path object component dtype type encoding byte_order offset length decoded_length digest shard",
    "attributes": "path object key value type",
    "run_files": "tracker database run name status path logged",
}
HUGE = "18446744073709551615"

# Two files of one layout on one host, and one of another; one that cannot be read
FILL = """
INSERT INTO host VALUES (1, 'here'), (2, 'there');
INSERT INTO root VALUES (1, 1, '/m', '/m', 1001), (2, 2, '/more', '/more/*.zt', 950);
INSERT INTO name VALUES (1, 'w'), (2, 'b');
INSERT INTO shape VALUES (1, '[2,2]', 2, 4), (2, '[2]', 1, 2), (3, '[4]', 1, 4);
INSERT INTO kind VALUES (1, 'dense', 'f32', 'f32'), (2, 'dense', 'f16', 'f16');
INSERT INTO storage VALUES (1, 'data', 'f32', 'f32', 'raw', 'little', 'stored'), (2, 'data', 'f16', 'f16', 'raw', 'little', 'stored');
INSERT INTO architecture VALUES (1, 'one', 2, 6), (2, 'two', 1, 4);
INSERT INTO tensor VALUES (1, 1, 1, 1), (1, 2, 1, 2), (2, 1, 2, 3);
INSERT INTO layout VALUES (1, 1, 'one', 2, 24, 24, 24), (2, 2, 'two', 1, 8, 8, 8);
INSERT INTO part VALUES (1, 1, 1, 0, 16, 16, NULL), (1, 2, 1, 64, 8, 8, NULL), (2, 1, 2, 0, 8, 8, NULL);
INSERT INTO detail VALUES (1, 1, 1, 16, 16, '{"bits":4}');
INSERT INTO file(id, host, path, root, layout, container, version, size, mtime, data_offset, refreshed, error, error_kind, attributes) VALUES
  (1, 1, '/m/a.zt', 1, 1, 'ztensor', '1.2.0', 100, 86400.5, 64, 1000, NULL, NULL, '{"license":"MIT"}'),
  (2, 1, '/m/b.zt', 1, 1, 'ztensor', '1.2.0', 110, 86401, 128, 1001, NULL, NULL, '{}'),
  (3, 2, '/more/c.zt', 2, 2, 'ztensor', '0.1.0', 90, 0, 64, 900, NULL, NULL, '{}'),
  (4, 2, '/more/d.zt', 2, NULL, NULL, NULL, 5, 86400, NULL, 950, 'ztensor: d.zt: too short', 'broken', NULL),
  (5, 2, '/more/README', 2, NULL, NULL, NULL, 7, 86400, NULL, 950, 'ztensor: no tensor file', 'unknown', NULL),
  (6, 2, '/more/old.tar', 2, NULL, NULL, NULL, 8, 86400, NULL, 950, 'ztensor: a tar archive', 'unsupported', NULL);
INSERT INTO digest VALUES (2, 1, 1, 'crc32c', x'0a0b0c0d', NULL), (2, 2, 1, NULL, NULL, 'md5:00');
INSERT INTO attribute VALUES (1, 1, NULL, NULL, 'license', 'MIT', 'text'), (2, NULL, 1, 1, 'bits', 4, 'integer');
INSERT INTO finding VALUES (1, 2, 'w', 'data', 'error', 'digest-mismatch', 'what is wrong'), (2, 2, 'w', NULL, 'note', 'noted', 'what is so');
INSERT INTO change VALUES (1, 60, 1, '/m/b.zt', 'moved', '/m/x.zt', 110, 86401);
INSERT INTO run_files VALUES
  ('mlflow', 'mlflow.db', 'r1', 'baseline', 'finished', '/m/a.zt', 60.0, ''),
  ('mlflow', 'mlflow.db', 'r2', 'wider', 'failed', '/m/x.zt', 61.0, 'here');
"""
# Earlier versions did not have these
FOUND = """
INSERT INTO found VALUES (1, 1), (1, 2), (2, 1), (2, 3), (2, 4), (2, 5), (2, 6);
INSERT INTO stamp VALUES (1, '', 86400500000001, 86400500000002, 86400500000000);
UPDATE architecture SET digest = '5 ' || digest WHERE id = 1;
"""

NAMES = drivers.files()
VIEWS = {
    "files": [
        ("/m/a.zt", "/m", "ztensor", "1.2.0", 100, 86400.5, 2, 2, 24, 24, None, '{"license":"MIT"}', None, 1000, None, 24, None, None, None,
         "here", "/m", 1, 1, 1, 86400500000001, 86400500000002, None),
        ("/m/b.zt", "/m", "ztensor", "1.2.0", 110, 86401.0, 2, 2, 24, 24, None, "{}", None, 1001, None, 24, None, None, None, "here", "/m", 2, 1, 1,
         None, None, None),
        ("/more/c.zt", "/more/*.zt", "ztensor", "0.1.0", 90, 0.0, 1, 1, 8, 8, None, "{}", None, 900, None, 8, None, None, None,
         "there", "/more", 3, 2, 2, None, None, None),
        ("/more/d.zt", "/more/*.zt", None, None, 5, 86400.0, None, None, None, None, None, None, "ztensor: d.zt: too short", 950, "broken",
         None, None, None, None, "there", "/more", 4, None, None, None, None, None),
        ("/more/README", "/more/*.zt", None, None, 7, 86400.0, None, None, None, None, None, None, "ztensor: no tensor file", 950, "unknown",
         None, None, None, None, "there", "/more", 5, None, None, None, None, None),
        ("/more/old.tar", "/more/*.zt", None, None, 8, 86400.0, None, None, None, None, None, None, "ztensor: a tar archive", 950,
         "unsupported", None, None, None, None, "there", "/more", 6, None, None, None, None, None)],
    "notes": [("/m/b.zt", "w", None, "noted", "what is so", "here", 2)],
    "kinds": [(1, "dense", "f32", "f32"), (2, "dense", "f16", "f16")],
    "troubles": [(4, "broken"), (5, "other"), (6, "unsupported")],
    "unsupported": [("/more/old.tar", 8, "1970-01-02 00:00:00", "ztensor: a tar archive", "there")],
    "other_files": [("/more/README", 7, "1970-01-02 00:00:00", "ztensor: no tensor file", "there")],
    "physical_files": [
        ("/m/a.zt", 1, "ztensor", "1.2.0", 100, 86400.5, 2, 6, 24, None, None, None, None, None, "here", 1, 1),
        ("/m/b.zt", 1, "ztensor", "1.2.0", 110, 86401.0, 2, 6, 24, None, None, None, None, None, "here", 2, 1),
        ("/more/c.zt", 1, "ztensor", "0.1.0", 90, 0.0, 1, 4, 8, None, None, None, None, None, "there", 3, 2),
        ("/more/d.zt", 1, None, None, 5, 86400.0, None, None, None, "ztensor: d.zt: too short", "broken", None, None, None, "there", 4, None),
        ("/more/README", 1, None, None, 7, 86400.0, None, None, None, "ztensor: no tensor file", "other", None, None, None, "there", 5, None),
        ("/more/old.tar", 1, None, None, 8, 86400.0, None, None, None, "ztensor: a tar archive", "unsupported", None, None, None, "there", 6,
         None)],
    "data_shards": [],
    "outdated_layouts": [(2,)],
    "outdated_files": [("/more/c.zt", "/more/*.zt", "there", 3)],
    "totals": [(5, 5, 1, 1, 1, 5, 16, 313, 313)],
    "model_parts": [],
    "whole_models": [
        ("/m/a.zt", "ztensor", "1.2.0", 1, 1, None, 0, 2, 6, 24, 100, "1970-01-02 00:00:00", None, "here", 1, 1, None),
        ("/m/b.zt", "ztensor", "1.2.0", 1, 1, None, 0, 2, 6, 24, 110, "1970-01-02 00:00:01", None, "here", 2, 2, None),
        ("/more/c.zt", "ztensor", "0.1.0", 1, 1, None, 0, 1, 4, 8, 90, "1970-01-01 00:00:00", None, "there", 3, 3, None)],
    "layout_objects": [(1, 1, 1, 1, 1, 16, 16, '{"bits":4}'), (1, 2, 1, 2, 1, 8, 8, "{}"), (2, 1, 2, 3, 1, 8, 8, "{}")],
    "objects": [(path, name, "dense", dtype, dtype, shape, rank, elements, 1, stored, stored, attributes, None, host, file)
                for path, name, dtype, shape, rank, elements, stored, attributes, host, file in [
                    ("/m/a.zt", "b", "f32", "[2]", 1, 2, 8, "{}", "here", 1), ("/m/a.zt", "w", "f32", "[2,2]", 2, 4, 16, '{"bits":4}', "here", 1),
                    ("/m/b.zt", "b", "f32", "[2]", 1, 2, 8, "{}", "here", 2), ("/m/b.zt", "w", "f32", "[2,2]", 2, 4, 16, '{"bits":4}', "here", 2),
                    ("/more/c.zt", "w", "f16", "[4]", 1, 4, 8, "{}", "there", 3)]],
    "components": [(path, name, "data", dtype, dtype, "raw", "little", offset, length, length, digest, None, "stored", host, file)
                   for path, name, dtype, offset, length, digest, host, file in [
                       ("/m/a.zt", "b", "f32", 128, 8, None, "here", 1), ("/m/a.zt", "w", "f32", 64, 16, None, "here", 1),
                       ("/m/b.zt", "b", "f32", 192, 8, "md5:00", "here", 2), ("/m/b.zt", "w", "f32", 128, 16, "crc32c:0a0b0c0d", "here", 2),
                       ("/more/c.zt", "w", "f16", 64, 8, None, "there", 3)]],
    "attributes": [("/m/a.zt", None, "license", "MIT", "text", "here", 1), ("/m/a.zt", "w", "bits", 4, "integer", "here", 1),
                   ("/m/b.zt", "w", "bits", 4, "integer", "here", 2)],
    "roots": [("here", "/m", "/m", 2, "1970-01-01 00:16:41", 1), ("there", "/more", "/more/*.zt", 5, "1970-01-01 00:15:50", 2)],
    "findings": [("/m/b.zt", "w", "data", "error", "digest-mismatch", "what is wrong", "here", 2)],
    "changes": [("1970-01-01 00:01:00", "here", "/m/b.zt", "moved", "/m/x.zt", 110, 86401.0)],
    "file_names": sorted((name,) for name in NAMES),
    "sources": [("/m", 2, 0, 4, 210, "1970-01-01 00:16:41", 210, "here", 1, 0, 0),
                ("/more/*.zt", 4, 1, 3, 203, "1970-01-01 00:16:40", 203, "there", 2, 1, 1)],
    "broken": [("/more/d.zt", 5, "1970-01-02 00:00:00", "ztensor: d.zt: too short", "broken", "there")],
    "generations": [("ztensor", "0.1.0", 1, 1, 8), ("ztensor", "1.2.0", 2, 4, 48)],
    "models": [("/m/a.zt", "1.2.0", 2, 6, 24, 24, "1970-01-02 00:00:00", 24, "here"),
               ("/m/b.zt", "1.2.0", 2, 6, 24, 24, "1970-01-02 00:00:01", 24, "here"),
               ("/more/c.zt", "0.1.0", 1, 4, 8, 8, "1970-01-01 00:00:00", 8, "there")],
    "names": [("b", 2, 1, 1, "[2]", "f32"), ("w", 3, 2, 2, "[2,2]", "f16")],
    "architectures": [(1, 1, 4, "/more/c.zt", "/more/c.zt", 2), (2, 2, 6, "/m/a.zt", "/m/b.zt", 1)],
    "file_attributes": [("/m/a.zt", "license", "MIT", "text", "here")],
    "runs": [("mlflow", "mlflow.db", "r1", "baseline", "finished", "1970-01-01 00:01:00", "/m/a.zt", "1.2.0", 2, 24, None, "here", 1),
             ("mlflow", "mlflow.db", "r2", "wider", "failed", "1970-01-01 00:01:01", "/m/x.zt", None, None, None, None, None, None)],
}


@pytest.fixture
def catalog(tmp_path):
    path = create(tmp_path / "catalog.db")
    db = sqlite3.connect(path)
    db.executescript(FILL + FOUND)
    db.close()
    return path


def test_every_view_is_tested():
    assert sorted(catalogs.views("catalog.sql")) == sorted(VIEWS)


@pytest.mark.parametrize("view", VIEWS)
def test_view(catalog, view):
    assert sorted(ask(catalog, f"SELECT * FROM {view}"), key=repr) == sorted(VIEWS[view], key=repr)


def test_a_directory_stands_for_files_of_these_names(db, tmp_path):
    names = [name.replace("*", "x") for name in NAMES]
    for name in [*names, "pytorch_model.bin", "model.bin", "weights.bin", "x.ztx", "x.pkl", "npy"]:
        (tmp_path / name).touch()
    assert [name for (name,) in db.execute("SELECT path FROM zt_files(?)", (str(tmp_path),))] == [
        str(tmp_path / name) for name in sorted([*names, "pytorch_model.bin", "model.bin"])]


@pytest.mark.parametrize("view", [view for view in VIEWS if view not in ("file_names", "totals")])
def test_a_view_of_nothing_is_empty(tmp_path, view):
    assert ask(create(tmp_path / "empty.db"), f"SELECT * FROM {view}") == []


def test_columns_begin_with_those_of_the_tables_of_ztensor(catalog, db):
    for table, columns in COLUMNS.items():
        columns = columns.split()
        assert [name for (name,) in ask(catalog, "SELECT name FROM pragma_table_info(?)", table)][:len(columns)] == columns
        if table not in ("files", "run_files"):
            theirs = [d[0] for d in db.execute(f"SELECT * FROM zt_{table}(NULL)").description]
            assert theirs == columns


@pytest.mark.parametrize("change, view, column", [
    ("UPDATE layout SET decoded_bytes = CAST(? AS BLOB) WHERE id = 2", "files", "decoded_bytes"),
    ("UPDATE shape SET elements = CAST(? AS BLOB) WHERE id = 3", "objects", "elements"),
    ("UPDATE part SET decoded_length = CAST(? AS BLOB) WHERE layout = 2", "objects", "decoded_bytes"),
    ("UPDATE part SET decoded_length = CAST(? AS BLOB) WHERE layout = 2", "components", "decoded_length")])
def test_a_number_beyond_64_bits_stays_what_it_is(catalog, change, view, column):
    db = sqlite3.connect(catalog)
    db.execute(change, (HUGE,))
    assert db.execute(f"SELECT {column} FROM {view} WHERE path = '/more/c.zt'").fetchall() == [(HUGE,)]
    db.close()


def test_what_is_known_of_a_file_goes_with_it(catalog):
    db = sqlite3.connect(catalog, isolation_level=None)
    db.execute("DELETE FROM files WHERE source = '/m' AND path = '/m/b.zt'")
    for table in ("file", "digest", "finding"):
        assert db.execute(f"SELECT count(*) FROM {table} WHERE {'id' if table == 'file' else 'file'} = 2").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM objects").fetchone() == (3,)
    db.execute("DELETE FROM files WHERE file = 1")
    db.execute("DELETE FROM layout WHERE id = 1")   # As the next refresh does
    assert [db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("attribute", "part", "detail")] == [0, 1, 0]
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    db.close()


def test_every_table_has_keys_types_and_links(catalog):
    tables = [name for (name,) in ask(catalog, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert len(tables) == 28
    for table in tables:
        columns = ask(catalog, "SELECT name, type, pk FROM pragma_table_info(?)", table)
        assert all(type in ("INTEGER", "REAL", "TEXT", "BLOB") for _, type, _ in columns) and any(pk for *_, pk in columns), table
        # A column with the name of a table is a number in it
        links = {column for (column,) in ask(catalog, 'SELECT "from" FROM pragma_foreign_key_list(?)', table)}
        assert {name for name, type, _ in columns if name in tables and name != table and type == "INTEGER"} == links, table


def test_reading_it_again_keeps_the_rows_and_replaces_the_views(catalog):
    before = catalogs.state(catalog)
    db = sqlite3.connect(catalog)
    db.executescript("DROP VIEW sources; CREATE VIEW sources AS SELECT 'of an older version'")
    db.close()
    create(catalog)
    assert catalogs.state(catalog) == before
    assert ask(catalog, "SELECT * FROM sources") == VIEWS["sources"]


def test_it_can_be_read_within_a_transaction(tmp_path):
    done = shell(tmp_path / "x.db", "BEGIN", f".read {SQL}/catalog.sql", "ROLLBACK", "SELECT count(*) FROM sqlite_master")
    assert (done.out, done.err) == ("0\n", "")


# Foreign databases: the statements that make one, and the message
OTHERS = {
    "another": ("PRAGMA application_id = 7; CREATE TABLE mine(x)", "this database is another program's"),
    "versioned": ("PRAGMA user_version = 12; CREATE TABLE mine(x)", "its user_version is not 0"),
    "newer": ("PRAGMA application_id = 0x7A744361; PRAGMA user_version = 6; CREATE TABLE mine(x)", "made by a newer sql/catalog.sql"),
    "table": ("CREATE TABLE objects(id, weight); INSERT INTO objects VALUES (1, 2)", "this database has a table or view of its own"),
    "view": ("CREATE VIEW changes AS SELECT 1 AS x", "this database has a table or view of its own"),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("host", ["shell", "python"])
def test_in_another_database_it_changes_nothing(tmp_path, other, host):
    path, (sql, message) = tmp_path / "other.db", OTHERS[other]
    db = sqlite3.connect(path)
    db.executescript(sql)
    before = list(db.iterdump())
    if host == "shell":   # Which goes on after an error
        assert message in shell(path, input=(SQL / "catalog.sql").read_text()).err
    else:
        with pytest.raises(sqlite3.Error, match=re.escape(message)):
            db.executescript((SQL / "catalog.sql").read_text())
        assert not db.in_transaction
    assert list(db.iterdump()) == before
    assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    db.close()


def made(path):
    """The names of all that is in a database, by type."""
    return [(type, name) for type, name in ask(path, "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid")]


def own(type, name):
    """SQL of another program's object, in a table of its own if it needs one."""
    return {"table": f"CREATE TABLE {name}(mine)", "view": f"CREATE VIEW {name} AS SELECT 1 AS mine",
            "index": f"CREATE TABLE mine(x); CREATE INDEX {name} ON mine(x)",
            "trigger": f"CREATE TABLE mine(x); CREATE TRIGGER {name} AFTER INSERT ON mine BEGIN SELECT 1; END"}[type]


def dump(path):
    return ask(path, "SELECT * FROM sqlite_master ORDER BY rowid"), ask(path, "PRAGMA application_id"), ask(path, "PRAGMA user_version")


@pytest.mark.parametrize("type", ["table", "view", "index", "trigger"])
def test_no_object_of_another_program_is_replaced_or_passed_over(tmp_path, type):
    """An object of any type may have a name that the script needs."""
    names = [name.upper() if i % 2 else name for i, (_, name) in enumerate(made(create(tmp_path / "catalog.db")))]
    assert len(names) > 60
    for name in names:
        path = tmp_path / f"{name}.db"
        db = sqlite3.connect(path)
        db.executescript(own(type, name))
        before = dump(path)
        with pytest.raises(sqlite3.Error, match="this database has a table or view of its own"):
            db.executescript((SQL / "catalog.sql").read_text())
        db.close()
        assert dump(path) == before, name


def test_the_shell_replaces_none_either(tmp_path):
    for type, name in (("view", "layout_objects"), ("trigger", "file_delete"), ("index", "file_path"), ("table", "names")):
        db = sqlite3.connect(tmp_path / f"{name}.db")
        db.executescript(own(type, name))
        db.close()
        before = dump(tmp_path / f"{name}.db")
        assert "this database has a table or view of its own" in shell(tmp_path / f"{name}.db", input=(SQL / "catalog.sql").read_text()).err
        assert dump(tmp_path / f"{name}.db") == before


AUDIT = [name for name in dict.fromkeys(catalogs.views("audit.sql")) if f"VIEW main.{name} " in (SQL / "audit.sql").read_text()]


@pytest.mark.parametrize("type", ["table", "view"])
@pytest.mark.parametrize("host", ["shell", "python"])
def test_audit_replaces_nothing_of_another_program(tmp_path, type, host):
    assert len(AUDIT) > 20
    for name in AUDIT if host == "python" else AUDIT[:2]:
        path = create(tmp_path / f"{name}.db")
        db = sqlite3.connect(path)
        db.executescript(own(type, name.upper()))
        before = dump(path)
        if host == "python":
            with pytest.raises(sqlite3.Error, match="a table or view of somebody's own"):
                db.executescript((SQL / "audit.sql").read_text())
        else:
            assert "a table or view of somebody's own" in shell(path, input=(SQL / "audit.sql").read_text()).err
        db.close()
        assert dump(path) == before, name


@pytest.mark.parametrize("sql", ["", "CREATE VIEW duplicates AS SELECT 1 AS x", "PRAGMA application_id = 7; CREATE TABLE mine(x)"])
def test_audit_makes_no_views_in_what_is_no_catalog(tmp_path, sql):
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.executescript(sql)
    db.close()
    before = dump(path)
    assert "this database has no catalog yet" in shell(path, input=(SQL / "audit.sql").read_text()).err
    assert dump(path) == before


def test_other_tables_do_not_matter(tmp_path):
    db = sqlite3.connect(tmp_path / "mine.db")
    db.executescript("CREATE TABLE mine(x); INSERT INTO mine VALUES (1)")
    db.close()
    assert ask(create(tmp_path / "mine.db"), "SELECT (SELECT count(*) FROM files), x FROM mine") == [(0, 1)]


# ----------------------------------------------------------------------------------------------------------- migration

OLDER = (Path(__file__).parent / "older_catalog.sql").read_text()
TABLES = {"files": "source, " + FILES, "objects": OBJECTS, "components": COMPONENTS, "attributes": ATTRIBUTES,
          "run_files": "tracker, database, run, name, status, path, logged"}


def older(path):
    db = sqlite3.connect(path)
    db.executescript(OLDER)
    db.close()
    return {table: sorted(ask(path, f"SELECT {columns} FROM {table}"), key=repr) for table, columns in TABLES.items()}


def test_a_catalog_of_the_first_version_is_migrated(tmp_path):
    before = older(tmp_path / "old.db")
    migrated = shell(tmp_path / "old.db", *MIGRATE)
    assert (migrated.out, migrated.err) == ("", "")
    for table, columns in TABLES.items():
        assert len(before[table]) > 0
        assert sorted(ask(tmp_path / "old.db", f"SELECT {columns} FROM {table}"), key=repr) == before[table]
    assert [n for (n,) in ask(tmp_path / "old.db", "SELECT name FROM sqlite_master WHERE name LIKE 'older%'")] == []
    assert ask(tmp_path / "old.db", "SELECT user_version FROM pragma_user_version") == [(5,)]
    assert ask(tmp_path / "old.db", "PRAGMA foreign_key_check") == []


@pytest.mark.parametrize("first", ["/elsewhere", "models"])
def test_a_migrated_catalog_belongs_to_whoever_refreshes_it(tmp_path, first):
    """Also if the collection was refreshed by another name before."""
    older(tmp_path / "old.db")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "new.zt").write_bytes(writer.write({}))
    db = sqlite3.connect(tmp_path / "old.db")
    (first_path,) = db.execute("SELECT min(path) FROM files").fetchone()
    for table in ("files", "objects", "components", "attributes"):
        db.execute(f"UPDATE {table} SET path = CASE WHEN path = ? THEN 'models/new.zt' ELSE 'models/' || path END", (first_path,))
    db.execute("UPDATE files SET source = 'models'")
    db.execute("DELETE FROM run_files")
    db.execute("INSERT INTO run_files VALUES('mine', 'm.db', 'r', 'n', 'finished', 'models/new.zt', 60.5)")
    db.commit()
    db.close()
    shell(tmp_path / "old.db", *MIGRATE)
    assert ask(tmp_path / "old.db", "SELECT count(*) > 1 FROM files WHERE host = ''") == [(1,)]
    for source in (first.replace("/elsewhere", str(tmp_path / "models")), "models"):
        catalogs.refresh(tmp_path / "old.db", source, cwd=tmp_path)
    assert ask(tmp_path / "old.db", "SELECT path, host FROM files") == [(str(tmp_path / "models" / "new.zt"), catalogs.HOST)]
    assert ask(tmp_path / "old.db", "SELECT host FROM sources") == [(catalogs.HOST,)]
    assert ask(tmp_path / "old.db", "SELECT path, file IS NOT NULL FROM runs") == [(str(tmp_path / "models" / "new.zt"), 1)]


def version_1(path):
    db = sqlite3.connect(path)
    db.executescript((Path(__file__).parent / "version_1_catalog.sql").read_text() + FILL)
    return db


def test_a_catalog_of_version_1_becomes_one_of_today(tmp_path, catalog):
    """It equals a catalog made today, so that both can be merged; files with bytes elsewhere are read again."""
    path = tmp_path / "old.db"
    db = version_1(path)
    db.executescript("UPDATE file SET device = 1, inode = id, fingerprint = 'f', fingerprinted = 1; INSERT INTO fingerprint VALUES (3, 1, 'w');"
                     "UPDATE part SET shard = 's' WHERE layout = 2")
    db.close()
    assert "or one of another version: .read sql/catalog.sql first" in shell(path, *catalogs.refresh_commands("/m")).err
    create(path)
    assert ask(path, "SELECT id, inode, fingerprint, fingerprinted FROM file WHERE layout IS NOT NULL ORDER BY 1") == [
        (1, 1, "f", 1), (2, 2, "f", 1), (3, None, None, None)]
    assert ask(path, "SELECT user_version, (SELECT count(*) FROM fingerprint) FROM pragma_user_version") == [(5, 0)]
    schema = "SELECT m.type, m.name, m.tbl_name, CASE WHEN m.type = 'table' THEN group_concat(c.name || ' ' || c.type || ' ' || c.pk) ELSE m.sql END" \
             " FROM sqlite_master AS m LEFT JOIN pragma_table_info(m.name) AS c GROUP BY m.type, m.name"
    assert ask(path, schema) == ask(create(tmp_path / "new.db"), schema)
    assert ask(path, "SELECT root, id FROM file EXCEPT SELECT root, file FROM found") == []
    before = ask(path, "SELECT * FROM file")
    create(path)
    assert ask(path, "SELECT * FROM file") == before
    db = sqlite3.connect(path)
    db.execute("INSERT INTO external(file, path) SELECT id, 'x' FROM file")
    db.execute("DELETE FROM file")
    assert db.execute("SELECT count(*) FROM external").fetchone() == (0,)
    db.close()


def test_a_catalog_of_version_3_becomes_one_of_today(tmp_path, catalog):
    """All its rows stay. It had no tags of remote files, and may not have had a table of that name."""
    db = sqlite3.connect(catalog)
    db.executescript("DROP TABLE tag; DROP VIEW outdated_files; DROP VIEW outdated_layouts; DROP VIEW data_shards; PRAGMA user_version = 3")
    before = [db.execute(f"SELECT * FROM {table}").fetchall() for table in ("file", "found", "stamp", "layout")]
    db.close()
    assert "or one of another version: .read sql/catalog.sql first" in shell(catalog, *catalogs.refresh_commands("/m")).err
    create(catalog, "audit.sql")
    assert [ask(catalog, f"SELECT * FROM {table}") for table in ("file", "found", "stamp", "layout")] == before
    assert ask(catalog, "SELECT user_version, (SELECT count(*) FROM tag) FROM pragma_user_version") == [(5, 0)]


VERSION_2 = """
CREATE TABLE external(file INTEGER NOT NULL REFERENCES file(id), path TEXT NOT NULL, size INTEGER, mtime REAL, inode INTEGER,
                      PRIMARY KEY(file, path)) WITHOUT ROWID;
CREATE TABLE gone(host INTEGER NOT NULL REFERENCES host(id), path TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(host, path)) WITHOUT ROWID;
UPDATE file SET device = 1, inode = id, fingerprint = 'f', fingerprinted = 1;
INSERT INTO layout VALUES (3, 1, 'empty', 0, 0, 0, NULL);
UPDATE file SET layout = 3 WHERE id = 2;
PRAGMA user_version = 2;
"""


def test_a_catalog_of_version_2_becomes_one_of_today(tmp_path):
    """Its rows stay; its times are seconds, which come before all milliseconds."""
    db = version_1(tmp_path / "old.db")
    db.executescript(VERSION_2)
    before = db.execute("SELECT * FROM file").fetchall()
    db.close()
    path = create(tmp_path / "old.db", "audit.sql")
    assert ask(path, "SELECT * FROM file") == before
    assert ask(path, "SELECT root, file FROM found") == [(1, 1), (1, 2), (2, 3), (2, 4), (2, 5), (2, 6)]
    assert ask(path, "SELECT refreshed FROM files WHERE file < 4") == [(1000,), (1001,), (900,)]
    assert ask(path, "SELECT refreshed FROM roots WHERE root = 1") == [("1970-01-01 00:16:41",)]
    assert ask(path, "SELECT distinct_bytes FROM models WHERE path = '/m/b.zt'") == [(0,)]


@pytest.mark.parametrize("name", ["found", "stamp", "totals", "kinds", "found_file"])
def test_what_version_2_did_not_need_stays_its_owners(tmp_path, name):
    db = version_1(tmp_path / "old.db")
    db.executescript(VERSION_2 + own("index" if name == "found_file" else "view", name))
    db.close()
    before = dump(tmp_path / "old.db")
    assert "this database has a table or view of its own" in shell(tmp_path / "old.db", input=(SQL / "catalog.sql").read_text()).err
    assert dump(tmp_path / "old.db") == before


@pytest.mark.parametrize("table", ["external", "gone"])
def test_a_table_that_version_1_did_not_need_stays_its_owners(tmp_path, table):
    db = version_1(tmp_path / "old.db")
    db.execute(f"CREATE TABLE {table}(id, note)")
    db.close()
    before = ask(tmp_path / "old.db", "SELECT * FROM sqlite_master")
    assert "this database has a table or view of its own" in shell(tmp_path / "old.db", input=(SQL / "catalog.sql").read_text()).err
    assert ask(tmp_path / "old.db", "SELECT * FROM sqlite_master") == before


def test_a_catalog_of_the_first_version_is_told_how_to_migrate_and_not_changed(tmp_path):
    older(tmp_path / "old.db")
    before = (tmp_path / "old.db").read_bytes()
    done = shell(tmp_path / "old.db", input=(SQL / "catalog.sql").read_text())
    assert "this catalog is of the first version: .read sql/migrate.sql, then this script" in done.err
    assert (tmp_path / "old.db").read_bytes() == before


def test_nothing_else_is_migrated(catalog):
    before = catalogs.state(catalog)
    assert "sql/catalog.sql alone will do" in shell(catalog, "-bail", f".read {SQL}/migrate.sql").err
    assert catalogs.state(catalog) == before


@TODAYS_PLANS
@pytest.mark.parametrize("sql, index", [
    ("SELECT * FROM files WHERE path = 'a'", "INDEX file_path (path=?)"),
    ("SELECT * FROM objects WHERE path = 'a' AND object = 'w'", "INDEX file_path (path=?)"),
    ("SELECT * FROM components WHERE path = 'a' AND object = 'w'", "INDEX file_path (path=?)"),
    ("SELECT path FROM objects WHERE object = 'w'", "INDEX tensor_name (name=?)"),
    ("SELECT * FROM attributes WHERE path = 'a' AND object IS NULL", "INDEX file_path (path=?)"),
    ("SELECT * FROM attribute WHERE key = 'license'", "INDEX attribute_key (key=?)"),
    ("SELECT * FROM run_files WHERE path = 'a'", "INDEX run_files_path (path=?)"),
])
def test_indexes_serve_natural_questions(catalog, sql, index):
    if (3, 39) <= sqlite3.sqlite_version_info < (3, 40) and "FROM objects" in sql:
        pytest.skip("SQLite 3.39 materialises the view")
    plan = [step for *_, step in ask(catalog, "EXPLAIN QUERY PLAN " + sql)]
    assert any(index in step for step in plan), plan
    assert not any(step.startswith("SCAN") and step not in ("SCAN CONSTANT ROW", "SCAN h") for step in plan), plan


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


# The shell's arguments for each script, beside another program that writes the catalog, and what is made before
BESIDE = {
    "a new catalog": ([], [f".read {SQL}/catalog.sql"]),
    "its views anew": (["catalog.sql"], [f".read {SQL}/catalog.sql"]),
    "audit's views": (["catalog.sql"], [f".read {SQL}/audit.sql"]),
    "audit's views anew": (["catalog.sql", "audit.sql"], [f".read {SQL}/audit.sql"]),
    "a refresh": (["catalog.sql"], catalogs.refresh_commands(SQL)),
    "a merge": (["catalog.sql"], [f".read {SQL}/merge.sql", "ATTACH 'file:{other}?mode=ro' AS incoming", "INSERT INTO merge DEFAULT VALUES"]),
    "a migration": (["../tests/sql/older_catalog.sql"], MIGRATE[1:]),
}


@pytest.mark.parametrize("what", BESIDE)
def test_a_script_waits_for_another_writer(tmp_path, what):
    before, commands = BESIDE[what]
    for path in ("catalog.db", "other.db"):
        db = sqlite3.connect(tmp_path / path)
        for script in before:
            db.executescript((SQL / script).read_text())
        db.close()
    done = catalogs.beside_another_writer(tmp_path / "catalog.db", *(command.replace("{other}", str(tmp_path / "other.db")) for command in commands))
    assert (done.err, done.code) == ("", 0)
    assert ask(tmp_path / "catalog.db", "SELECT application_id FROM pragma_application_id") == [(0x7A744361,)]


def test_temporary_tables_of_the_same_names_do_not_matter(tmp_path):
    tables = [f"CREATE TEMP TABLE {name}(mine);" for name in ("models", "sources", "duplicates", "digests")]
    done = shell(tmp_path / "catalog.db", *tables, f".read {SQL}/catalog.sql", f".read {SQL}/audit.sql", "SELECT count(*) FROM main.models")
    assert (done.out, done.err, done.code) == ("0\n", "", 0)
