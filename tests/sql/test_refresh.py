"""sql/refresh.sql: the catalog is what the zt_ tables say, with as little reading as that takes, whatever gets in the way."""
import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
import time

import pytest

import tracing
import writer
from catalogs import ATTRIBUTES, COMPONENTS, FILES, HOST, OBJECTS, SQL, ask, create, parameter, refresh, refresh_commands, shell, state
from killer import Killer
from support import EXTENSION, ROOT, open_connection


def model(fill, attributes=None):
    return writer.write({"w": writer.dense(bytes([fill]) * 8), "v": writer.csr()}, attributes=attributes)


@pytest.fixture
def catalog(tmp_path):
    return create(tmp_path / "catalog.db")


@pytest.fixture
def put(tmp_path):
    """put(name, bytes, age): writes models/name, with an mtime so many seconds ago, and gives its path as source."""
    def put(name, data, age=1000):
        path = tmp_path / "models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (time.time() - age,) * 2)
        return str(path)

    return put


def assert_equal_to_tables(catalog, source):
    """Row for row, NaN-free as the columns are; `source` is all that the catalog holds."""
    db = open_connection()
    for table, columns, order in [("files", FILES, "1"), ("objects", OBJECTS, "1, 2"), ("components", COMPONENTS, "1, 2, 3"),
                                  ("attributes", ATTRIBUTES, "1, 2, 3, 5, 4")]:
        skip = "" if table == "files" else ", 'skip'"
        expected = db.execute(f"SELECT {columns} FROM zt_{table}(?{skip}) ORDER BY {order}", (source,)).fetchall()
        assert ask(catalog, f"SELECT {columns} FROM {table} ORDER BY {order}") == expected
    db.close()


def test_a_first_refresh_equals_the_tables(catalog):
    source = str(ROOT / "tests" / "**" / "*.zt")
    report = refresh(catalog, source)
    broken, unsupported = (ask(catalog, f"SELECT count(*) FROM {view}")[0][0] for view in ("broken", "unsupported"))
    assert report == {"files": report["files"], "added": report["files"], "broken": broken, "unsupported": unsupported}
    assert broken > 100 and unsupported > 5
    assert_equal_to_tables(catalog, source)
    assert ask(catalog, "SELECT DISTINCT source FROM files") == [(source,)]
    assert all(abs(t - time.time()) < 60 for (t,) in ask(catalog, "SELECT refreshed FROM files"))
    before = ask(catalog, "SELECT * FROM files")
    assert refresh(catalog, source) == {"files": report["files"], "unchanged": report["files"], "broken": broken, "unsupported": unsupported}
    assert ask(catalog, "SELECT * FROM files") == before


def test_files_of_every_format_are_catalogued_as_the_tables_have_them(catalog):
    """Files of one architecture share their rows: also those whose types only the objects tell, such as MATLAB's complex matrices."""
    source = str(ROOT / "tests" / "formats")
    assert refresh(catalog, source)["added"] > 1500
    assert_equal_to_tables(catalog, source)


AS_VERSION_4 = """
UPDATE architecture SET digest = substr(digest, 3);
UPDATE tensor SET kind = (SELECT min(id) FROM kind);
UPDATE layout SET distinct_bytes = 1;
UPDATE file SET (fingerprint, fingerprinted, checked) = ('f', 1, 1);
INSERT INTO fingerprint(file, name, fingerprint) SELECT f.id, n.id, 'f' FROM file AS f JOIN name AS n ON n.name = 'w';
DROP VIEW outdated_files; DROP VIEW outdated_layouts; DROP VIEW data_shards;
PRAGMA user_version = 4;
"""
PASSED = "SELECT f.path, f.fingerprint, f.checked, p.fingerprint FROM file AS f LEFT JOIN fingerprint AS p ON p.file = f.id ORDER BY 1"


@pytest.fixture
def older(catalog, put, tmp_path):
    """A catalog of version 4 of these files, whose types and bytes that version may have wrong, when today's script has read it."""
    formats = ROOT / "tests" / "formats"
    paths = [put("a.mat", (formats / "matlab" / "golden" / "numbers.mat").read_bytes()),
             put("b.h5", (formats / "hdf5" / "golden" / "storage.h5").read_bytes()), put("c.zt", model(1))]
    assert refresh(catalog, str(tmp_path / "models")) == {"files": 3, "added": 3}
    db = sqlite3.connect(catalog)
    db.executescript(AS_VERSION_4)
    db.close()
    create(catalog)
    return paths


def test_what_an_earlier_version_read_is_read_again(catalog, older, tmp_path):
    """It has not changed: the history, the times and the results of second passes stay."""
    source = str(tmp_path / "models")
    create(tmp_path / "new.db")
    refresh(tmp_path / "new.db", source)
    assert ask(catalog, "SELECT path, source, host FROM outdated_files ORDER BY 1") == [(path, source, HOST) for path in older]
    assert ask(catalog, "SELECT distinct_bytes FROM models WHERE path = ?", older[1]) == [(None,)]
    create(catalog)   # Again
    seen = ["SELECT * FROM changes", "SELECT * FROM stamp ORDER BY 1, 2", PASSED]
    before = [ask(catalog, sql) for sql in seen]
    assert refresh(catalog, source) == {"files": 3, "retried": 3}
    assert_equal_to_tables(catalog, source)
    assert [ask(catalog, sql) for sql in seen] == before
    assert before[-1] == [(path, "f", 1, "f") for path in older]
    for same in ("SELECT path, distinct_bytes FROM models ORDER BY 1", "SELECT digest FROM architecture ORDER BY 1",
                 "SELECT files, objects, parameters, first_path, last_path FROM architectures ORDER BY 4"):
        assert ask(catalog, same) == ask(tmp_path / "new.db", same)
    assert ask(catalog, "SELECT * FROM outdated_files") == ask(catalog, "PRAGMA foreign_key_check") == []
    assert refresh(catalog, source) == {"files": 3, "unchanged": 3}


def test_what_an_earlier_version_read_and_has_changed_since_is_changed(catalog, older, put, tmp_path):
    source = str(tmp_path / "models")
    status = os.stat(older[0])
    with open(older[0], "r+b") as file:   # Only its ctime tells
        file.write(b"M")
    os.utime(older[0], ns=(status.st_atime_ns, status.st_mtime_ns))
    os.unlink(older[1])
    put("c.zt", b"broken")
    put("d.zt", model(1))
    assert refresh(catalog, source) == {"files": 3, "changed": 2, "removed": 1, "added": 1, "broken": 1}
    assert_equal_to_tables(catalog, source)
    assert ask(catalog, PASSED) == [(path, None, None, None) for path in (older[0], older[2], str(tmp_path / "models" / "d.zt"))]
    assert ask(catalog, "SELECT path, change FROM changes WHERE change <> 'added' ORDER BY path") == [
        (older[0], "changed"), (older[1], "removed"), (older[2], "changed")]


def test_what_only_an_earlier_version_could_read_has_no_results_of_passes(catalog, older, put, tmp_path):
    put("c.zt", b"broken")
    status = os.stat(older[2])
    db = sqlite3.connect(catalog)   # As if it had been so
    [(file,)] = db.execute("SELECT id FROM file WHERE path = ?", (older[2],)).fetchall()
    db.execute("UPDATE file SET size = ?, mtime = ? WHERE id = ?", (status.st_size, status.st_mtime, file))
    db.execute("UPDATE stamp SET mtime = ?, ctime = ? WHERE file = ?", (status.st_mtime_ns, status.st_ctime_ns, file))
    db.execute("INSERT INTO finding(file, rule) VALUES (?, 'r')", (file,))
    db.commit()
    db.close()
    assert refresh(catalog, str(tmp_path / "models")) == {"files": 3, "retried": 3, "broken": 1}
    assert ask(catalog, PASSED) == [(older[0], "f", 1, "f"), (older[1], "f", 1, "f"), (older[2], None, None, None)]
    assert ask(catalog, "SELECT * FROM finding") == []


def test_layouts_of_an_earlier_version_serve_no_new_file(catalog, older, tmp_path):
    """Although the catalog still has them when their files are gone from it."""
    source = str(tmp_path / "models")
    db = sqlite3.connect(catalog)
    db.execute("DELETE FROM files")
    db.commit()
    db.close()
    assert refresh(catalog, source) == {"files": 3, "added": 3}
    assert_equal_to_tables(catalog, source)
    assert ask(catalog, "SELECT count(*) FROM models WHERE distinct_bytes = 1 OR distinct_bytes IS NULL") == [(0,)]


def test_external_data_that_have_changed_since_an_earlier_version_read_them_are_a_change(catalog, put, tmp_path):
    for name in ("model.onnx", "weights.bin"):
        put(name, (ROOT / "tests" / "formats" / "onnx" / "golden" / "external" / name).read_bytes())
    assert refresh(catalog, str(tmp_path / "models")) == {"files": 1, "added": 1}
    db = sqlite3.connect(catalog)
    db.executescript(AS_VERSION_4)
    db.close()
    create(catalog)
    put("weights.bin", bytes(1000))
    assert refresh(catalog, str(tmp_path / "models")) == {"files": 1, "changed": 1}
    assert ask(catalog, "SELECT * FROM outdated_files") == []


def test_changed_added_vanished_broken_and_mended_files(catalog, put, tmp_path):
    source = str(tmp_path / "models")
    a, b, c = put("a.zt", model(1)), put("b.zt", model(2, {"n": 1})), put("sub/c.zt", model(3))
    assert refresh(catalog, source) == {"files": 3, "added": 3}
    put("b.zt", model(2, {"n": 2}), age=900)                       # the size stays
    assert refresh(catalog, source) == {"files": 3, "changed": 1, "unchanged": 2}
    assert ask(catalog, "SELECT value FROM attributes") == [(2,)]
    put("b.zt", model(2))                                          # the mtime stays
    assert refresh(catalog, source) == {"files": 3, "changed": 1, "unchanged": 2}
    assert ask(catalog, "SELECT value FROM attributes") == []
    put("d.zt", model(4))
    os.unlink(a)
    assert refresh(catalog, source) == {"files": 3, "added": 1, "removed": 1, "unchanged": 2}
    put("b.zt", b"broken")
    assert refresh(catalog, source) == {"files": 3, "changed": 1, "unchanged": 2, "broken": 1}
    assert ask(catalog, "SELECT path, objects, error LIKE 'ztensor: ' || path || ': %' FROM files WHERE error IS NOT NULL") == [
        (b, None, 1)]
    assert_equal_to_tables(catalog, source)
    assert refresh(catalog, source) == {"files": 3, "unchanged": 3, "broken": 1}
    put("b.zt", model(5), age=800)
    assert refresh(catalog, source) == {"files": 3, "changed": 1, "unchanged": 2}
    assert_equal_to_tables(catalog, source)
    shutil.rmtree(source)
    os.mkdir(source)
    assert refresh(catalog, source) == {"removed": 3}
    assert state(catalog) == [[], [], [], [], []]


def test_only_the_time_of_a_read_file_moves(catalog, put, tmp_path):
    a, b = put("a.zt", model(1)), put("b.zt", model(2))
    refresh(catalog, str(tmp_path / "models"))
    db = sqlite3.connect(catalog)
    db.execute("UPDATE file SET refreshed = 1")
    db.commit()
    db.close()
    put("b.zt", model(3), age=900)
    refresh(catalog, str(tmp_path / "models"))
    assert ask(catalog, "SELECT path FROM files WHERE refreshed = 1") == [(a,)]


def test_a_source_removes_only_its_own(catalog, put, tmp_path):
    a, b, c = put("a/x.zt", model(1)), put("b/x.zt", model(2)), put("b/y.zt", model(3))
    whole, one, other = (str(tmp_path / "models" / name) for name in ("", "a", "b"))
    refresh(catalog, one)
    refresh(catalog, other)
    os.unlink(a)
    os.unlink(b)
    assert refresh(catalog, one) == {"removed": 1}
    assert ask(catalog, "SELECT path FROM files") == [(b,), (c,)]
    assert refresh(catalog, f"{other}/[x]*.zt") == {}              # another text is another source
    assert ask(catalog, "SELECT path FROM files") == [(b,), (c,)]
    assert refresh(catalog, other) == {"files": 1, "unchanged": 1, "removed": 1}
    assert refresh(catalog, f"{whole}/**/*.zt") == {"files": 1, "unchanged": 1}
    assert ask(catalog, "SELECT path, source FROM files") == [(c, f"{whole}/**/*.zt")]
    assert ask(catalog, "SELECT DISTINCT path FROM objects") == [(c,)]


@pytest.mark.parametrize("data", [b"notes", b"\x89HDF\r\n\x1a\n", b""], ids=["another kind", "broken", "empty"])
@pytest.mark.parametrize("pattern", ["", "/**/*"])
def test_a_file_in_the_place_of_a_directory(catalog, put, tmp_path, pattern, data):
    put("run.h5/x.zt", model(1))
    there = put("y.zt", model(2))
    source = str(tmp_path / "models") + pattern
    assert refresh(catalog, source) == {"files": 2, "added": 2}
    shutil.rmtree(tmp_path / "models/run.h5")
    put("run.h5", data)
    report = refresh(catalog, source)
    assert report["removed"] == 1 and "kept" not in report
    assert ask(catalog, "SELECT path FROM files WHERE error IS NULL") == [(there,)]


def test_a_number_of_an_inode_that_is_used_again_is_another_file(catalog, put, tmp_path):
    """Its source was not refreshed since: the file that is gone is one more, and no other name of the new one."""
    gone, new = put("a/gone.zt", model(1)), put("b/new.zt", model(2, {"k": "longer"}))
    for name in "ab":
        refresh(catalog, str(tmp_path / "models" / name))
    with contextlib.closing(sqlite3.connect(catalog)) as db:   # As if the system had given the number twice
        db.execute("UPDATE file SET (device, inode) = (SELECT device, inode FROM file WHERE path = ?) WHERE path = ?", (new, gone))
        db.execute("UPDATE stamp SET birth = birth - 1 WHERE file = (SELECT id FROM file WHERE path = ?)", (gone,))
        db.execute("UPDATE stamp SET ctime = ctime - 1 WHERE file = (SELECT id FROM file WHERE path = ?)", (new,))
        db.commit()
    os.unlink(gone)
    assert refresh(catalog, str(tmp_path / "models/b")) == {"files": 1, "changed": 1}
    assert sorted(ask(catalog, "SELECT path, names, size FROM physical_files"))[1] == (new, 1, os.path.getsize(new))
    assert ask(catalog, "SELECT names, files FROM totals") == [(2, 2)]
    assert refresh(catalog, str(tmp_path / "models/b")) == {"files": 1, "unchanged": 1}
    put("a/other.zt", model(3))
    assert refresh(catalog, str(tmp_path / "models/a")) == {"files": 1, "added": 1, "removed": 1}
    assert ask(catalog, "SELECT names, files FROM totals") == [(2, 2)]


def test_a_directory_removes_what_other_sources_found_below_it_if_it_is_gone(catalog, put, tmp_path):
    names = ["sub/gone.zt", "sub/odd [*] é's.zt", "sub/there.zt", ".hidden/there.zt", "there.weights", "gone.weights",
             "sub/w?at.zt"]
    paths = {name: put(name, model(1)) for name in names}
    put("sub/what.zt", model(1))                                   # not the same as w?at.zt
    for name in names:
        refresh(catalog, paths[name])
    for name in ("sub/gone.zt", "sub/odd [*] é's.zt", "gone.weights", "sub/w?at.zt"):
        os.unlink(paths[name])
    assert refresh(catalog, str(tmp_path / "models")) == {"files": 2, "added": 1, "unchanged": 1, "removed": 4}
    assert {path for (path,) in ask(catalog, "SELECT path FROM files")} == {
        paths["sub/there.zt"], paths[".hidden/there.zt"], paths["there.weights"], str(tmp_path / "models/sub/what.zt")}


@pytest.mark.parametrize("name", ["it's.zt", 'a "quoted" one.zt', "with space.zt", "star*.zt", "[brackets].zt", "日本語 é.zt",
                                  "new\nline.zt", "percent%20.zt", "-dash.zt", "file:odd.zt", "back\\slash.zt"])
def test_names(catalog, put, tmp_path, name):
    source = str(tmp_path / "models")
    path, other = put(name, model(1)), put("other.zt", model(2))
    assert refresh(catalog, source) == {"files": 2, "added": 2}
    assert_equal_to_tables(catalog, source)
    assert refresh(catalog, source) == {"files": 2, "unchanged": 2}
    put(name, model(2, {"longer": 1}))
    assert refresh(catalog, path) == {"files": 1, "changed": 1}
    assert refresh(catalog, source) == {"files": 2, "unchanged": 2}
    os.unlink(path)
    assert refresh(catalog, source) == {"files": 1, "unchanged": 1, "removed": 1}
    assert ask(catalog, "SELECT DISTINCT path FROM components") == [(other,)]


@pytest.mark.parametrize("source", [".", "models", "models/", "./models", "models/**/*.zt", "**/*.zt", "models/sub/a.zt"])
def test_relative_sources(catalog, put, tmp_path, source):
    put("sub/a.zt", model(1))
    assert refresh(catalog, source, cwd=tmp_path) == {"files": 1, "added": 1}
    assert refresh(catalog, source, cwd=tmp_path) == {"files": 1, "unchanged": 1}
    [(path,)] = ask(catalog, "SELECT path FROM files")
    assert os.path.samefile(tmp_path / path, tmp_path / "models/sub/a.zt")


def test_a_dangling_link_is_broken_until_it_leads_somewhere(catalog, put, tmp_path):
    put("a.zt", model(1))
    os.symlink(tmp_path / "elsewhere", tmp_path / "models/link.zt")
    source = str(tmp_path / "models")
    assert refresh(catalog, source) == {"files": 2, "added": 2, "broken": 1}
    assert refresh(catalog, source) == {"files": 2, "retried": 1, "unchanged": 1, "broken": 1}
    (tmp_path / "elsewhere").write_bytes(model(2))
    assert refresh(catalog, source) == {"files": 2, "changed": 1, "unchanged": 1}
    assert_equal_to_tables(catalog, source)


@pytest.mark.parametrize("name", ["x.zt", "x[1]*?.zt"])
@pytest.mark.parametrize("directory", ["sub", ".hidden", ".hid[d]en"])
def test_a_link_to_nowhere_stays_whichever_source_found_it(catalog, put, tmp_path, directory, name):
    """Also one that another source passes over, or that was a file when it was found."""
    put(f"{directory}/a.zt", model(1))
    path, inner, outer = put(f"{directory}/{name}", model(2)), str(tmp_path / "models" / directory), str(tmp_path / "models")
    assert refresh(catalog, inner) == {"files": 2, "added": 2}
    os.unlink(path)
    os.symlink("nowhere", path)
    passed_over = directory[0] == "."
    for source, state in [(outer, "changed"), (inner, "changed" if passed_over else "retried"), (outer, "retried"), (outer, "retried")]:
        expected = {"files": 2, state: 1, "unchanged": 1, "broken": 1} if source == inner or not passed_over else {}
        assert refresh(catalog, source) == expected
        assert (path,) in ask(catalog, "SELECT path FROM files")
    assert ask(catalog, "SELECT path, error_kind FROM broken") == [(path, "missing")]
    os.unlink(path)
    assert refresh(catalog, outer)["removed"] == 1
    assert ask(catalog, "SELECT path FROM broken") == []


# --------------------------------------------------------------------------------------------------------- privileges

@pytest.fixture
def another_user():
    """(directory, run): a directory, and refresh(source) there as a user whom modes keep out."""
    directory = os.path.realpath(tempfile.mkdtemp())
    extension = shutil.copy(EXTENSION + ".so", directory)
    shutil.copy(SQL / "refresh.sql", directory)
    create(directory + "/catalog.db")
    os.mkdir(directory + "/models")
    user = 65534 if os.geteuid() == 0 else os.geteuid()
    prefix = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"] if os.geteuid() == 0 else []

    def run(source):
        for path in (directory, directory + "/catalog.db"):
            os.chmod(path, 0o777 if path == directory else 0o666)
        done = shell("catalog.db", f".load ./{os.path.basename(extension)[:-3]}", parameter(source), ".mode json",
                     ".read refresh.sql",
                     cwd=directory, prefix=prefix)
        assert (done.err, done.code) == ("", 0)
        [report] = json.loads(done.out)
        return {name: count for name, count in report.items() if count and name not in ("source", "host")}

    yield directory, run
    for root, _, _ in os.walk(directory):
        os.chmod(root, 0o755)
    shutil.rmtree(directory)


def test_what_is_below_a_directory_that_cannot_be_listed_is_kept(another_user):
    directory, run = another_user
    for name in ("a/x.zt", "a/deep/y.zt", "a-b/z.zt", "a0.zt"):
        os.makedirs(os.path.dirname(f"{directory}/models/{name}"), exist_ok=True)
        with open(f"{directory}/models/{name}", "wb") as file:
            file.write(model(1))
    catalog = directory + "/catalog.db"
    assert run("models") == {"files": 4, "added": 4}
    os.unlink(f"{directory}/models/a-b/z.zt")
    os.chmod(f"{directory}/models/a", 0)
    assert run("models") == {"files": 2, "added": 1, "unchanged": 1, "removed": 1, "kept": 2, "broken": 1}
    assert run("models") == {"files": 2, "retried": 1, "unchanged": 1, "kept": 2, "broken": 1}
    paths = f"SELECT substr(path, {len(directory) + 2}), error IS NULL FROM files ORDER BY path"
    assert ask(catalog, paths) == [("models/a", 0), ("models/a/deep/y.zt", 1), ("models/a/x.zt", 1), ("models/a0.zt", 1)]
    assert ask(catalog, "SELECT count(*) FROM objects") == [(6,)]
    os.chmod(f"{directory}/models/a", 0o755)
    assert run("models") == {"files": 3, "unchanged": 3, "removed": 1}
    os.chmod(f"{directory}/models", 0)
    assert run("models") == {"files": 1, "added": 1, "kept": 3, "broken": 1}
    os.chmod(f"{directory}/models", 0o755)
    assert run("models") == {"files": 3, "unchanged": 3, "removed": 1}
    assert ask(catalog, paths) == [("models/a/deep/y.zt", 1), ("models/a/x.zt", 1), ("models/a0.zt", 1)]


@pytest.mark.parametrize("name", ["x.zt", "x[1].zt"])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_in_a_forbidden_directory_is_not_nowhere(another_user, linked, name):
    """A source that passes over it cannot tell whether it is there."""
    directory, run = another_user
    for place in ("forbidden", "models/.hidden"):
        os.mkdir(f"{directory}/{place}")
    with open(f"{directory}/{'forbidden' if linked else 'models/.hidden'}/{name}", "wb") as file:
        file.write(model(1))
    if linked:
        os.symlink(file.name, f"{directory}/models/.hidden/{name}")
    assert run("models/.hidden") == {"files": 1, "added": 1}
    os.chmod(os.path.dirname(file.name), 0)
    assert run("models") == {}
    assert ask(directory + "/catalog.db", "SELECT path FROM files") == [(f"{directory}/models/.hidden/{name}",)]
    os.chmod(os.path.dirname(file.name), 0o755)
    assert run("models/.hidden") == {"files": 1, "unchanged": 1}
    os.unlink(f"{directory}/models/.hidden/{name}")
    assert run("models") == {"removed": 1}


def test_a_file_that_may_be_read_again_is_read_though_its_mtime_stayed(another_user):
    directory, run = another_user
    with open(f"{directory}/models/x.zt", "wb") as file:
        file.write(model(1))
    os.chmod(file.name, 0)
    assert run("models") == {"files": 1, "added": 1, "broken": 1}
    assert run("models") == {"files": 1, "retried": 1, "broken": 1}
    os.chmod(file.name, 0o644)
    assert run("models") == {"files": 1, "retried": 1}
    assert run("models") == {"files": 1, "unchanged": 1}
    assert ask(directory + "/catalog.db", "SELECT objects, error FROM files") == [(2, None)]


# ------------------------------------------------------------------------------------------------------------ failures

def failure(catalog, *before, cwd=None):
    """The shell's message when refresh.sql fails after these commands. The catalog stays, and no transaction is open."""
    expected = state(catalog)
    done = shell(catalog, cwd=cwd, input="\n".join([*before, f".read {SQL}/refresh.sql", "BEGIN;", "COMMIT;",
                                                    "SELECT 'goes on';"]))
    assert (done.out, state(catalog)) == ("goes on\n", expected)
    return done.err


@pytest.fixture
def filled(catalog, put, tmp_path):
    put("a.zt", model(1))
    refresh(catalog, str(tmp_path / "models"))
    return catalog


def test_without_a_source_it_defines_what_a_refresh_is(filled):
    assert failure(filled, f".load {EXTENSION}") == ""


def test_a_source_that_is_null_is_refused(filled):
    assert "a source is needed: .parameter set :source models" in failure(
        filled, f".load {EXTENSION}", f".read {SQL}/refresh.sql", "INSERT INTO refresh(source) VALUES (NULL);")


@pytest.mark.parametrize("value", ["2024-06-01", "7", "1e3", "x'00'"])
def test_a_source_that_the_shell_took_for_something_else_is_refused(filled, value):
    message = failure(filled, f".load {EXTENSION}", f".parameter set :source {value}")
    assert "the source is not text" in message


def test_a_numeric_name_in_both_quotes_is_a_source(catalog, tmp_path):
    os.mkdir(tmp_path / "2024-06-01")
    (tmp_path / "2024-06-01/a.zt").write_bytes(model(1))
    assert refresh(catalog, "2024-06-01", cwd=tmp_path) == {"files": 1, "added": 1}


def test_a_path_that_does_not_exist_changes_nothing(filled, tmp_path):
    message = failure(filled, f".load {EXTENSION}", parameter(tmp_path / "none"))
    assert f"ztensor: {tmp_path}/none: cannot open: No such file or directory" in message


def test_a_source_without_files_is_still_one(catalog, put, tmp_path):
    """By the view of sources all are refreshed, those that have no file just now, too, until they are forgotten."""
    source, again = str(tmp_path / "models"), "INSERT INTO refresh(source) SELECT source FROM sources WHERE host = zt_host()"
    path = put("a.zt", model(1))
    refresh(catalog, source)
    os.remove(path)
    assert refresh(catalog, source) == {"removed": 1}
    assert ask(catalog, "SELECT source, files, broken, host FROM sources") == [(source, 0, 0, HOST)]
    put("b.zt", model(2))
    assert "|1|1|" in shell(catalog, *refresh_commands(source)[:1], f".read {SQL}/refresh.sql", again, "SELECT * FROM refresh").out
    db = sqlite3.connect(catalog)
    db.execute("DELETE FROM sources WHERE source = ?", (source,))
    db.commit()
    db.close()
    assert ask(catalog, "SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM root)") == [(0, 0)]


def test_no_source_is_not_the_current_directory(filled):
    assert "ztensor: '': cannot open: No such file or directory" in shell(filled, *refresh_commands("")).err


def test_parameters_are_counted_exactly(catalog, put, tmp_path):
    """Beyond 53 bits, too."""
    big = {"components": {}, "format": "unheard-of", "shape": [2**61 - 1, 2]}
    put("a.zt", writer.write({"big": big, "w": writer.dense(b"abc")}))
    refresh(catalog, str(tmp_path / "models"))
    assert ask(catalog, "SELECT parameters FROM models") == [(2**62 + 1,)]
    assert ask(catalog, "SELECT sum(elements) FROM share") == [(2**62 + 1,)]


def test_a_directory_is_a_root_whatever_its_name(catalog, put, tmp_path):
    """Also if another source found its files before."""
    put("a[1]/m.zt", model(1))
    refresh(catalog, str(tmp_path / "models"))
    refresh(catalog, str(tmp_path / "models" / "a[1]"))
    assert ask(catalog, "SELECT path FROM roots ORDER BY root") == [(str(tmp_path / "models"),), (str(tmp_path / "models" / "a[1]"),)]


def test_without_the_extension_it_says_what_is_missing(filled):
    assert "no such function: zt_" in failure(filled, parameter("models"))


def test_without_a_catalog_it_says_how_to_make_one(tmp_path):
    done = shell(tmp_path / "new.db", f".load {EXTENSION}", parameter(tmp_path), f".read {SQL}/refresh.sql")
    assert "this database has no catalog yet, or one of another version: .read sql/catalog.sql first" in done.err
    assert (done.out, done.code) == ("", 1)
    assert ask(str(tmp_path / "new.db"), "SELECT * FROM sqlite_master") == []


def test_a_catalog_locked_by_another_changes_nothing(filled, put, tmp_path):
    put("b.zt", model(2))
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert "database is locked" in failure(filled, f".load {EXTENSION}", parameter(tmp_path / "models"))
    other.execute("ROLLBACK")
    other.close()
    assert refresh(filled, str(tmp_path / "models")) == {"files": 2, "added": 1, "unchanged": 1}


# --------------------------------------------------------------------------------------------------------------- usage

def test_as_input_of_the_shell_from_any_directory(catalog, put, tmp_path):
    put("a.zt", model(1))
    done = shell(catalog, "-cmd", f".load {EXTENSION}", "-cmd", ".parameter set :source models",
                 input=(SQL / "refresh.sql").read_text(),
                 cwd=tmp_path)
    assert (done.out, done.err, done.code) == (f"models|1|1|0|0|0|0|0|0|0|{HOST}|0|0\n", "", 0)


def test_twice_in_one_session_and_then_other_sources(catalog, put, tmp_path):
    put("a/x.zt", model(1))
    put("b/y.zt", model(2))
    read = f".read {SQL}/refresh.sql"
    done = shell(catalog, f".load {EXTENSION}", ".parameter set :source models/a", read, read,
                 "INSERT INTO refresh(source) VALUES ('models/b')", "INSERT INTO refresh(source) SELECT source FROM sources",
                 "SELECT source, files, added, unchanged FROM refresh", "SELECT count(*) FROM temp.refresh_listed",
                 cwd=tmp_path)
    assert (done.err, done.out.splitlines()) == ("", [
        f"models/a|1|1|0|0|0|0|0|0|0|{HOST}|0|0", f"models/a|1|0|0|0|1|0|0|0|0|{HOST}|0|0",
        "models/a|1|0|1", "models/b|1|1|0", f"{tmp_path}/models/a|1|0|1", f"{tmp_path}/models/b|1|0|1", "0"])


def test_of_several_sources_one_that_fails_undoes_all(catalog, put, tmp_path):
    put("a/x.zt", model(1))
    done = shell(catalog, f".load {EXTENSION}", ".parameter set :source models/a/*.zt", f".read {SQL}/refresh.sql",
                 "INSERT INTO refresh(source) VALUES ('models'), ('none')", "SELECT count(*) FROM refresh", cwd=tmp_path)
    assert f"ztensor: {tmp_path}/none: cannot open" in done.err
    assert ask(catalog, "SELECT source FROM files") == [(f"{tmp_path}/models/a/*.zt",)]


def test_the_catalog_outlives_ztensor(catalog, put, tmp_path):
    put("a.zt", model(1))
    refresh(catalog, "models", cwd=tmp_path)
    done = shell(catalog, "SELECT path, object, shape, component FROM objects JOIN components USING (path, object) ORDER BY 2, 4")
    path = f"{tmp_path}/models/a.zt"
    assert done.out.splitlines() == [f"{path}|v|[2,3]|indices", f"{path}|v|[2,3]|indptr", f"{path}|v|[2,3]|values", f"{path}|w|[8]|data"]


def test_a_session_of_python(catalog, put, tmp_path):
    put("a.zt", model(1))
    db = open_connection(catalog)
    db.executescript((SQL / "refresh.sql").read_text())
    db.execute("INSERT INTO refresh(source) VALUES (?)", (str(tmp_path / "models"),))
    assert db.execute("SELECT files, added FROM refresh").fetchall() == [(1, 1)]
    db.close()


# ------------------------------------------------------------------------------------------------- what is opened, when

def opened(catalog, source, log):
    done = shell(catalog, *refresh_commands(source), prefix=tracing.command(log))
    assert (done.err, done.code) == ("", 0)
    return tracing.Trace(log.read_text(), done).tensor_files()


def test_only_what_changed_is_opened_and_each_once(catalog, put, tmp_path):
    source, log = str(tmp_path / "models"), tmp_path / "log"
    paths = [put(f"{i % 3}/{i:02}.zt", model(i)) for i in range(30)] + [put("broken.zt", b"broken")]
    assert sorted(set(opened(catalog, source, log))) == sorted(paths)
    assert opened(catalog, source, log) == []
    changed = [put(f"{i % 3}/{i:02}.zt", model(i, {"n": i})) for i in (3, 11)]
    time.sleep(0.1)   # ztensor does not remember a file that changed within the last tick of the file system's clock
    assert sorted(opened(catalog, source, log)) == sorted(changed)
    os.unlink(paths[0])
    assert opened(catalog, source, log) == []
    assert opened(catalog, source + "/**/*.zt", log) == []
    assert_equal_to_tables(catalog, source)


def test_the_state_of_a_file_is_computed_once(catalog):
    """The state 'gone' stands where it is computed and where such files are left out; a query that SQLite merges computes it for each
    column that depends on it."""
    db = open_connection(catalog)
    db.executescript((SQL / "refresh.sql").read_text())
    program = db.execute("EXPLAIN INSERT INTO refresh(source) VALUES ('models')").fetchall()
    assert sum(step[5] == "gone" for step in program) == 2
    db.close()


# ------------------------------------------------------------------------------------------------------------- SIGKILL

def test_killed_at_any_moment_it_is_the_old_catalog_or_the_new_one(tmp_path, put):
    """50 refreshes each of which adds, changes and removes a third of the files, killed at random moments."""
    source, old, new, work = str(tmp_path / "models"), tmp_path / "old.db", tmp_path / "new.db", tmp_path / "work.db"

    def many(n):
        return writer.write({f"layer.{i}.weight": writer.dense(bytes([n % 256]) * 4) for i in range(30)}, attributes={"n": n})

    create(old)
    for i in range(120):
        put(f"{i:03}.zt", many(i))
    refresh(old, source)
    for i in range(60):
        put(f"{i:03}.zt", many(1000 + i), age=900)
        os.unlink(tmp_path / f"models/{i + 60:03}.zt")
        put(f"{i + 120:03}.zt", many(i))
    states = {"old": state(old)}
    shutil.copy(old, new)
    began = time.monotonic()
    refresh(new, source)
    killer = Killer(time.monotonic() - began)
    states["new"] = state(new)
    assert states["old"] != states["new"]

    outcomes, within = [], 0
    for _ in range(50):
        shutil.copy(old, work)
        killer.run(["sqlite3", "-batch", str(work), *refresh_commands(source)])
        within += os.path.exists(f"{work}-journal")
        assert ask(work, "PRAGMA integrity_check") == [("ok",)]
        [outcome] = [name for name, rows in states.items() if rows == state(work)]
        outcomes.append(outcome)
        if outcome == "old":
            assert refresh(work, source) == {"files": 120, "added": 60, "changed": 60, "removed": 60}
            assert state(work) == states["new"]
    assert within >= 10, f"{within} of 50 kills while the catalog was being written"
    assert set(outcomes) == {"old", "new"}
