"""The kinds of sources: paths, patterns, directories, URIs, BLOBs, NULL."""
import json
import os
import shutil
import socket
import sqlite3

import pytest

import corpus
import writer
from support import RAISING_TABLES, SOURCE_TABLES, message, prefix, rows, value

TABLES = pytest.mark.parametrize("table", SOURCE_TABLES)
RAISING = pytest.mark.parametrize("table", RAISING_TABLES)


def paths(db, source):
    """The paths that a source stands for, in the order in which they come."""
    got = [path for path, in rows(db, "SELECT path FROM zt_files(?)", source)]
    # Every table sees the same files in the same order.
    listed = [path for path, in rows(db, "SELECT path FROM zt_objects(?, 'skip')", source)]
    assert list(dict.fromkeys(listed)) == [p for p in got if p in listed]
    return got


def below(root, found):
    return [os.path.relpath(path, root) for path in found]


@pytest.fixture
def grow(save, tmp_path):
    """grow(names): puts the same good file at each of them, gives the directory."""
    def grow(*names):
        for name in names:
            save("g/" + name, writer.sample())
        return str(tmp_path / "g")

    return grow


# ----------------------------------------------------------------------------------------------------- literal paths

def test_a_literal_path_is_that_file_and_comes_back_as_it_was_given(db, sample, monkeypatch, tmp_path):
    assert paths(db, sample) == [sample]
    monkeypatch.chdir(tmp_path)
    assert paths(db, "sample.zt") == ["sample.zt"]
    assert paths(db, "./sample.zt") == ["./sample.zt"]


@pytest.mark.parametrize("name", ["star*.zt", "a[1].zt", "what?.zt", "**.zt", "[a-z].zt", "[.zt"])
def test_a_name_that_exists_is_taken_literally(db, grow, name):
    # The other files are those that the name would match as a pattern.
    root = grow(name, "star9.zt", "a1.zt", "what9.zt", "x.zt", "sub/y.zt")
    assert below(root, paths(db, f"{root}/{name}")) == [name]


@pytest.mark.parametrize("name", ["with space.zt", "quote'd.zt", 'double".zt', "żółć 日本.zt", "new\nline.zt", "100%.zt",
                                  "a%20b.zt", "-dash.zt", "no-extension", "back\\slash.zt", "#hash?.zt", ".hidden.zt", "~.zt"])
def test_any_file_name_works(db, grow, name):
    root = grow(name)
    path = f"{root}/{name}"
    assert paths(db, path) == [path]
    assert value(db, "SELECT zt_blob(?, 'layer1.bias')", path) == b"\x02" * 4


def unreadable(db, table, source):
    """The table's message about a path that opens nothing: an error; zt_files has it in a row of its own."""
    if table != "zt_files":
        return message(db, f"SELECT * FROM {table}(?)", source)
    (path, *others, error), = rows(db, "SELECT * FROM zt_files(?)", source)
    assert path == source and set(others) == {None}
    assert rows(db, "SELECT path FROM zt_files(?)", source) == [(source,)]
    return error


@TABLES
def test_a_literal_path_that_does_not_exist_is_an_error(db, tmp_path, table):
    missing = str(tmp_path / "missing.zt")
    assert unreadable(db, table, missing) == prefix(missing) + "cannot open: No such file or directory"


@RAISING
def test_no_constraint_hides_that_a_source_is_not_there(db, tree, table):
    # It could have been a directory with the wanted path in it.
    lost = tree.path + "/lost"
    for where in ("path = ?1 || '/a.zt'", "path = 'a.zt'", "path LIKE '%.zt'", "path GLOB '*/a.zt'"):
        for source in (lost, json.dumps([lost, tree.path])):
            assert message(db, f"SELECT ?1, * FROM {table}(?2) WHERE {where}", lost, source) == (
                prefix(lost) + "cannot open: No such file or directory")
            assert rows(db, f"SELECT ?1, path FROM {table}(?2, 'skip') WHERE path = ?1 || '/a.zt'", lost, source) == []
    assert rows(db, "SELECT path FROM zt_files(?) WHERE path = ?", lost, lost + "/a.zt") == []


def test_a_left_join_survives_a_lost_file(db, sample, tmp_path):
    missing, long = str(tmp_path / "missing.zt"), "x" * 5000
    db.execute("CREATE TABLE runs(artifact)")
    db.executemany("INSERT INTO runs VALUES (?)", [(sample,), (missing,), (long,), (None,)])
    got = rows(db, "SELECT artifact, path, objects, error LIKE '%: cannot open: %' FROM runs LEFT JOIN zt_files(artifact)")
    assert got == [(sample, sample, 2, None), (missing, missing, None, 1), (long, long, None, 1), (None, None, None, None)]


@RAISING
def test_a_literal_path_that_does_not_exist_gives_no_rows_with_skip(db, tmp_path, table):
    assert rows(db, f"SELECT * FROM {table}(?, 'skip')", str(tmp_path / "missing.zt")) == []


def test_a_missing_file_is_an_error_of_the_functions(db, tmp_path):
    missing = str(tmp_path / "missing.zt")
    assert message(db, "SELECT zt_blob(?, 'w')", missing).startswith(prefix(missing))
    assert message(db, "SELECT zt_manifest(?)", missing).startswith(prefix(missing))


@TABLES
def test_the_empty_text_is_no_file(db, table):
    assert unreadable(db, table, "") == "ztensor: '': cannot open: No such file or directory"


@TABLES
def test_a_path_longer_than_any_file_name_is_an_error(db, table):
    for path in ("x" * 300, "x/" * 5000 + "y.zt", "/" + "x" * 100_000):
        shown = path if len(path) <= 4096 else path[:4096] + "..."
        assert unreadable(db, table, path) == prefix(shown) + "cannot open: File name too long"


LONG = ["x" * 256, "x" * 300, "x/" * 5000 + "y.zt", "/" + "x" * 5000]


@TABLES
@pytest.mark.parametrize("long", LONG, ids=len)
def test_a_path_that_is_too_long_matches_nothing(db, tree, monkeypatch, table, long):
    monkeypatch.chdir(tree.path)
    for source in (".", "*.zt", "**/*.zt", tree.files[0], tree.path, '["b", "a.zt"]'):
        assert rows(db, f"SELECT * FROM {table}(?) WHERE path = ?", source, long) == []
        assert rows(db, f"SELECT * FROM {table}(?) WHERE path IN (?, ?)", source, long, long + "x") == []
    assert rows(db, f"SELECT * FROM (SELECT ? AS p) AS a JOIN {table}(?) AS t ON t.path = a.p", long, tree.path) == []


@TABLES
@pytest.mark.parametrize("long", LONG, ids=len)
def test_a_pattern_with_a_name_that_is_too_long_finds_nothing(db, tree, monkeypatch, table, long):
    monkeypatch.chdir(tree.path)
    for pattern in (f"*/{long}", f"{long}/*", f"**/{long}/*.zt", f"[b]/{long}", f"b/{long}*", f"*{long}"):
        assert rows(db, f"SELECT * FROM {table}(?)", pattern) == []


@TABLES
def test_a_file_is_no_directory(db, sample, table):
    for path in (sample + "/", sample + "/x.zt"):
        assert unreadable(db, table, path).startswith(prefix(path))


def test_a_file_name_that_is_not_utf8_opens_again(db, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\xfe.zt"
    with open(name, "wb") as file:
        file.write(writer.sample())
    assert rows(db, "SELECT CAST(path AS BLOB), objects, error FROM zt_files(?)", str(tmp_path)) == [(name, 2, None)]
    assert rows(db, "SELECT CAST(o.path AS BLOB), o.object FROM zt_files(?) f JOIN zt_objects(f.path) o", str(tmp_path)) == [
        (name, "layer1.weight"), (name, "layer1.bias")]


@TABLES
def test_a_path_is_not_cut_at_a_nul(db, sample, table):
    # A path handed to the system as a C string would open sample.zt.
    assert message(db, f"SELECT * FROM {table}(?)", sample + "\0.txt").startswith("ztensor: ")


# ---------------------------------------------------------------------------------------------------------- patterns

@pytest.mark.parametrize("pattern, expected", [
    ("*.zt", ["a.zt", "a1.zt", "ab.zt", "b.zt"]),
    ("?.zt", ["a.zt", "b.zt"]),
    ("a?.zt", ["a1.zt", "ab.zt"]),
    ("[a]*.zt", ["a.zt", "a1.zt", "ab.zt"]),
    ("a[0-9].zt", ["a1.zt"]),
    ("[b-z].zt", ["b.zt"]),
    ("*/*.zt", ["s/a.zt", "t/a.zt"]),
    ("[s]/*.zt", ["s/a.zt"]),
    ("*/u/*.zt", ["s/u/c.zt"]),
    ("**/*.zt", ["a.zt", "a1.zt", "ab.zt", "b.zt", "s/a.zt", "s/u/c.zt", "s/u/v/d.zt", "t/a.zt"]),
    ("**/u/*.zt", ["s/u/c.zt"]),
    ("s/**/*.zt", ["s/a.zt", "s/u/c.zt", "s/u/v/d.zt"]),
    ("s/**/d.zt", ["s/u/v/d.zt"]),
    ("**/a.zt", ["a.zt", "s/a.zt", "t/a.zt"]),
    ("**/**/*.zt", ["a.zt", "a1.zt", "ab.zt", "b.zt", "s/a.zt", "s/u/c.zt", "s/u/v/d.zt", "t/a.zt"]),
    ("t/*.t", []), ("*.ZT", []), ("no/such/*.zt", []), ("[0-9].zt", []),
])
def test_a_pattern_gives_the_files_that_match_sorted(db, grow, pattern, expected):
    root = grow("b.zt", "a.zt", "ab.zt", "a1.zt", "t/a.zt", "s/a.zt", "s/u/c.zt", "s/u/v/d.zt", "a.txt", "t/notes.t.txt")
    assert below(root, paths(db, f"{root}/{pattern}")) == expected


def test_directories_that_match_a_pattern_are_no_files(db, tree):
    assert paths(db, tree.path + "/*") == [tree.files[0]]
    assert paths(db, tree.path + "/[bc]") == []


def test_a_pattern_of_many_stars_is_matched_without_trying_every_way(shell, grow):
    # In the shell, which has a time limit: a naive matcher would take longer than anyone can wait.
    root = grow("a" * 200 + ".zt")
    pattern = "a*" * 60 + "b.zt"
    got = shell(f"""SELECT count(*) FROM zt_files('{root}/{pattern}');
                    SELECT count(*) FROM zt_files('{root}/{"**/" * 30}{pattern}');
                    SELECT count(*) FROM zt_files('{root}/{"a*" * 60}.zt');""")
    assert (got.out.split(), got.err) == (["0", "0", "1"], "")


def test_a_relative_pattern_gives_relative_paths(db, grow, monkeypatch):
    monkeypatch.chdir(grow("a.zt", "s/b.zt"))
    assert paths(db, "*.zt") == ["a.zt"]
    assert paths(db, "**/*.zt") == ["a.zt", "s/b.zt"]
    assert paths(db, "s/*.zt") == ["s/b.zt"]
    assert rows(db, "SELECT count(*) FROM zt_objects('**/*.zt')") == [(4,)]


def test_a_question_mark_is_one_character_not_one_byte(db, grow):
    root = grow("é.zt", "日.zt", "ab.zt")
    assert sorted(below(root, paths(db, f"{root}/?.zt"))) == ["é.zt", "日.zt"]


def test_files_are_sorted_by_their_whole_path_and_bytewise(db, tree, grow):
    # '-' sorts before '/', so c-d/z.zt comes before c/y.zt although c < c-d.
    assert paths(db, tree.path) == tree.files == sorted(tree.files)
    root = grow("B.zt", "a.zt", "Z/x.zt", "é.zt", "z.zt")
    assert below(root, paths(db, f"{root}/**/*.zt")) == ["B.zt", "Z/x.zt", "a.zt", "z.zt", "é.zt"]


def test_hidden_entries_are_skipped_unless_the_pattern_names_the_dot(db, grow):
    root = grow("a.zt", ".h.zt", ".git/b.zt", "s/.git/c.zt")
    assert below(root, paths(db, root)) == ["a.zt"]
    assert below(root, paths(db, f"{root}/*.zt")) == ["a.zt"]
    assert below(root, paths(db, f"{root}/**/*.zt")) == ["a.zt"]
    assert below(root, paths(db, f"{root}/?h.zt")) == []
    assert below(root, paths(db, f"{root}/.*.zt")) == [".h.zt"]
    assert below(root, paths(db, f"{root}/.git/*.zt")) == [".git/b.zt"]
    assert below(root, paths(db, f"{root}/*/.git/*.zt")) == ["s/.git/c.zt"]


# ------------------------------------------------------------------------------------------------------- directories

def test_a_directory_is_every_tensor_file_below_it(db, tree):
    assert paths(db, tree.path) == tree.files
    assert paths(db, tree.path + "/") == tree.files


def test_a_relative_directory_gives_relative_paths(db, tree, monkeypatch):
    monkeypatch.chdir(tree.path)
    assert paths(db, "b") == ["b/one.zt", "b/two.zt"]
    for path in paths(db, "."):
        assert value(db, "SELECT count(*) FROM zt_objects(?)", path) == 2
    assert sorted(map(os.path.normpath, paths(db, "."))) == [os.path.relpath(f, tree.path) for f in tree.files]


@TABLES
def test_a_directory_or_pattern_that_matches_nothing_gives_no_rows(db, tmp_path, table):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.txt").write_text("no tensors")
    assert rows(db, f"SELECT * FROM {table}(?)", str(tmp_path / "empty")) == []
    assert rows(db, f"SELECT * FROM {table}(?)", str(tmp_path / "*.zt")) == []
    assert rows(db, f"SELECT * FROM {table}(?)", str(tmp_path / "no" / "**" / "*.zt")) == []


def test_a_directory_whose_name_looks_like_a_pattern_is_that_directory(db, grow):
    root = grow("d[1]/a.zt", "d[1]/s/b.zt", "d1/c.zt")
    assert below(root, paths(db, f"{root}/d[1]")) == ["d[1]/a.zt", "d[1]/s/b.zt"]


def test_a_directory_named_like_a_tensor_file_is_a_directory(db, grow):
    root = grow("x.zt/inner.zt", "y.zt")
    assert below(root, paths(db, f"{root}/*.zt")) == ["y.zt"]
    assert below(root, paths(db, root)) == ["x.zt/inner.zt", "y.zt"]
    assert below(root, paths(db, f"{root}/x.zt")) == ["x.zt/inner.zt"]


def test_a_symlink_to_a_directory_can_be_the_source(db, grow):
    root = grow("real/a.zt", "real/s/b.zt")
    os.symlink(f"{root}/real", f"{root}/link")
    assert below(root, paths(db, f"{root}/link")) == ["link/a.zt", "link/s/b.zt"]
    assert below(root, paths(db, f"{root}/link/*.zt")) == ["link/a.zt"]


def test_directories_of_two_file_systems(db, grow, elsewhere):
    """Directories are the same only if the file systems are, too."""
    root = grow("a.zt", "real/b.zt")
    os.makedirs(f"{elsewhere}/d")
    shutil.copy(f"{root}/a.zt", f"{elsewhere}/d/c.zt")
    os.symlink(elsewhere, f"{root}/there")
    os.symlink(f"{root}/real", f"{elsewhere}/d/real")
    os.symlink(root, f"{elsewhere}/d/up")
    assert below(root, paths(db, f"{root}/**/*.zt")) == ["a.zt", "real/b.zt", "there/d/c.zt", "there/d/real/b.zt"]
    assert below(elsewhere, paths(db, f"{elsewhere}/*/*.zt")) == ["d/c.zt"]


def test_a_directory_far_below_the_root(db, grow):
    deep = "/".join("d" * 140)
    root = grow(deep + "/a.zt", deep + "/e/b.zt")
    os.symlink("..", f"{root}/{deep}/up")
    assert below(f"{root}/{deep}", paths(db, f"{root}/{deep}/**/*.zt")) == ["a.zt", "e/b.zt"]


def test_symlinked_files_are_followed(db, grow):
    root = grow("real/a.zt")
    os.symlink(f"{root}/real/a.zt", f"{root}/link.zt")
    assert below(root, paths(db, root)) == ["link.zt", "real/a.zt"]
    assert value(db, "SELECT count(*) FROM zt_objects(?)", f"{root}/link.zt") == 2


def test_cycles_of_directories_are_not_followed(db, grow):
    root = grow("s/a.zt")
    os.symlink(root, f"{root}/s/up")
    os.symlink(".", f"{root}/s/self")
    assert below(root, paths(db, root)) == ["s/a.zt"]
    assert below(root, paths(db, f"{root}/**/*.zt")) == ["s/a.zt"]


# -------------------------------------------------------------------------------------------------------------- home

def test_a_tilde_is_the_home_directory(db, tree, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", tree.path)
    assert paths(db, "~/a.zt") == [f"{tree.path}/a.zt"]
    assert paths(db, "~") == paths(db, "~/") == tree.files
    assert paths(db, "~/b") == paths(db, "~/b/*.zt") == tree.files[1:3]
    assert paths(db, "~/**/y.zt") == [f"{tree.path}/c/y.zt"]
    assert len(value(db, "SELECT zt_blob('~/a.zt', 'layer1.bias')")) == 4
    assert rows(db, "SELECT DISTINCT source FROM zt_objects('~/a.zt')") == [("~/a.zt",)]
    missing = f"{tree.path}/none.zt"
    assert message(db, "SELECT * FROM zt_objects('~/none.zt')") == prefix(missing) + "cannot open: No such file or directory"
    assert message(db, "SELECT zt_blob('~/none.zt', 'w')").startswith(prefix(missing))
    assert message(db, "SELECT zt_blob('~', 'w')") == prefix(tree.path) + "is a directory, not a regular file"
    # Somebody's home is none of ours, and a name that exists is taken literally.
    assert message(db, "SELECT * FROM zt_objects('~root/a.zt')").startswith(prefix("~root/a.zt"))
    (tmp_path / "~").mkdir()
    shutil.copy(tree.files[0], tmp_path / "~" / "here.zt")
    assert paths(db, "~/here.zt") == paths(db, "~") == ["~/here.zt"]


# ------------------------------------------------------------------------------------------------------------- lists

def test_a_list_is_each_of_its_sources_in_that_order(db, tree, monkeypatch):
    a, one, two, z, y = tree.files
    monkeypatch.setenv("HOME", tree.path)
    for sources, expected in [
        ([], []), ([y], [y]), ([y, a], [y, a]), ([tree.path + "/c*", a], [a]), ([tree.path + "/c*/*", a], [z, y, a]),
        ([tree.path + "/c", tree.path + "/b", a], [y, one, two, a]), (["~/c/y.zt", "file://" + two.replace("o", "%6F")], [y, two]),
        ([two, tree.path, two], [two, a, one, z, y]), ([tree.path + "/none*", a, a], [a]), (["", a], ["", a]),
    ]:
        source = json.dumps(sources)
        assert [path for path, in rows(db, "SELECT path FROM zt_files(?)", source)] == expected
        assert [path for path, in rows(db, "SELECT path FROM zt_objects(?, 'skip') WHERE object = 'layer1.bias'", source)] == [
            path for path in expected if path]


def test_a_list_may_come_from_json_functions(db, tree):
    db.execute("CREATE TABLE runs(artifact)")
    db.executemany("INSERT INTO runs VALUES (?)", [(path,) for path in reversed(tree.files)])
    assert rows(db, "SELECT path FROM zt_files((SELECT json_group_array(artifact) FROM runs))") == [
        (path,) for path in reversed(tree.files)]
    assert value(db, "SELECT count(*) FROM zt_objects(json_array(?, ?))", *tree.files[:2]) == 4
    db.execute(f"CREATE VIRTUAL TABLE temp.two USING zt_files('{json.dumps(tree.files[:2])}')")
    assert rows(db, "SELECT path FROM two") == [(path,) for path in tree.files[:2]]


@TABLES
def test_a_missing_file_of_a_list_is_one_as_any_other(db, tree, tmp_path, table):
    missing = str(tmp_path / "missing.zt")
    source = json.dumps([tree.files[1], missing, tree.files[0]])
    if table == "zt_files":
        assert rows(db, "SELECT path, objects, error FROM zt_files(?)", source) == [
            (tree.files[1], 2, None), (missing, None, prefix(missing) + "cannot open: No such file or directory"),
            (tree.files[0], 2, None)]
    else:
        with pytest.raises(sqlite3.OperationalError) as caught:
            rows(db, f"SELECT count(*) FROM {table}(?)", source)
        assert str(caught.value) == prefix(missing) + "cannot open: No such file or directory"
        found = [path for path, in rows(db, f"SELECT DISTINCT path FROM {table}(?, 'skip')", source)]
        assert found == ([tree.files[1], tree.files[0]] if table != "zt_attributes" else [])


def test_a_list_is_pruned_as_any_source(db, tree):
    source = json.dumps([tree.path + "/c", tree.path + "/b/*.zt", tree.files[0]])
    assert rows(db, "SELECT path FROM zt_files(?) WHERE path = ?", source, tree.files[2]) == [(tree.files[2],)]
    assert rows(db, "SELECT path FROM zt_files(?) WHERE path LIKE '%/_.zt'", source) == [(tree.files[4],), (tree.files[0],)]
    assert rows(db, "SELECT path FROM zt_files(?) WHERE path GLOB '*o.zt'", source) == [(tree.files[2],)]


@TABLES
@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("source, expected", [
    ('["a.zt", 7]', "the source is a list: element 1 is a number, not text"),
    ('["a.zt", null]', "the source is a list: element 1 is null, not text"),
    ('[null, "a.zt"]', "the source is a list: element 0 is null, not text"),
    ('[["a.zt"]]', "the source is a list: element 0 is an array, not text"),
    ('["a.zt", {"x": 1}]', "the source is a list: element 1 is an object, not text"),
    ('["a.zt"', "the source is a list: byte 7: the array ends without ]"),
    ('["a.zt" "b.zt"]', "the source is a list: byte 8: a comma or ] was expected"),
    ('["a.zt", "file://host/x"]', "file://host/x: a file: URI with a host other than localhost"),
    ('["a.zt", "[\\"b.zt\\"]"]', '["b.zt"]: a list of sources cannot be an element of a list'),
])
def test_what_is_wrong_with_a_list_ends_the_query(db, table, skip, source, expected):
    arguments = "?, 'skip'" if skip and table != "zt_files" else "?"
    assert message(db, f"SELECT * FROM {table}({arguments})", source) == "ztensor: " + expected


def test_a_name_like_a_list_is_that_file_and_a_class_of_characters_is_no_list(db, grow, monkeypatch):
    monkeypatch.chdir(grow('["a.zt"]', "a.zt", "1", "n"))
    assert paths(db, '["a.zt"]') == ['["a.zt"]']
    assert paths(db, "[a-b].zt") == ["a.zt"]
    assert paths(db, "[0-9]") == ["1"]
    assert paths(db, "[mn]") == ["n"]


@pytest.mark.parametrize("call", ["zt_blob(?, 'layer1.bias')", "zt_manifest(?)"])
def test_a_function_takes_no_list(db, sample, call):
    for sources in ([sample], [sample, sample], []):
        assert message(db, "SELECT " + call, json.dumps(sources)).endswith(
            ": no such file; exactly one file is needed, not a list")


@pytest.mark.parametrize("source", ["~", "~/a.zt", '["a.zt"]', "[]", '["a.zt"'])
def test_without_files_no_text_is_a_source(trace, source):
    got = trace(f"""SELECT count(*) FROM zt_files('{source}');
                    SELECT zt_manifest('{source}');
                    CREATE VIRTUAL TABLE temp.t USING zt_files('{source}');
                    SELECT * FROM t;""", "sqlite3_ztensor_nofs_init")
    assert (got.out, got.err.count("this connection opens no files")) == ("", 3)
    assert [path for path in got.opened if "a.zt" in path] == []


# -------------------------------------------------------------------------------------------------------------- URIs

def test_a_file_uri_is_percent_decoded(db, grow):
    root = grow("a b.zt", "żó.zt", "100%.zt")
    for uri, name in [("a%20b.zt", "a b.zt"), ("%61%20b.zt", "a b.zt"), ("%C5%BC%c3%b3.zt", "żó.zt"), ("100%25.zt", "100%.zt")]:
        assert paths(db, f"file://{root}/{uri}") == [f"{root}/{name}"]
        assert paths(db, f"file://localhost{root}/{uri}") == [f"{root}/{name}"]
        assert paths(db, f"file:{root}/{uri}") == [f"{root}/{name}"]


def test_a_file_uri_may_name_a_directory(db, tree):
    assert paths(db, f"file://{tree.path}") == tree.files


def test_a_file_uri_works_in_the_functions(db, sample):
    assert value(db, "SELECT zt_blob(?, 'layer1.bias')", f"file://{sample}") == b"\x02" * 4


def test_a_file_uri_of_another_host_or_of_a_missing_file_is_an_error(db, sample):
    assert message(db, "SELECT * FROM zt_objects(?)", f"file://example.org{sample}").startswith("ztensor: ")
    assert message(db, "SELECT * FROM zt_objects(?)", f"file://{sample}x").startswith("ztensor: ")


def test_a_file_uri_with_a_nul_is_an_error(db, sample):
    assert message(db, "SELECT * FROM zt_objects(?)", f"file://{sample}%00.txt").startswith("ztensor: ")


# ------------------------------------------------------------------------------------------------ BLOB, NULL, others

@TABLES
def test_a_blob_is_the_bytes_of_a_file_and_has_no_path(db, table):
    got = rows(db, f"SELECT path FROM {table}(?)",
               writer.write({"w": writer.dense(b"x")}, attributes={"k": 1}))
    assert got == [(None,)]


@TABLES
def test_a_blob_that_is_no_tensor_file_is_named_as_blob(db, table):
    for data in (b"", b"x", b"ZTEN1000"):
        if table == "zt_files":
            (path, size, error), = rows(db, "SELECT path, size, error FROM zt_files(?)", data)
            assert (path, size) == (None, len(data))
        else:
            error = message(db, f"SELECT * FROM {table}(?)", data)
        assert error.startswith("ztensor: <blob>: ")


@TABLES
def test_a_null_source_gives_no_rows(db, table):
    assert rows(db, f"SELECT * FROM {table}(NULL)") == []


def test_a_null_source_gives_null_from_the_functions(db):
    assert rows(db, "SELECT zt_blob(NULL, 'w'), zt_blob(NULL, 'w', 'data', 0, 1), zt_manifest(NULL)") == [(None,) * 3]


@TABLES
@pytest.mark.parametrize("source", ["1", "1.5", "-0.0"])
def test_a_number_is_no_source(db, table, source):
    assert message(db, f"SELECT * FROM {table}({source})").startswith("ztensor: ")


@pytest.mark.parametrize("call", ["zt_blob({}, 'w')", "zt_manifest({})"])
@pytest.mark.parametrize("source", ["1", "1.5"])
def test_a_number_is_no_source_of_a_function(db, call, source):
    assert message(db, "SELECT " + call.format(source)).startswith("ztensor: ")


@pytest.mark.parametrize("call", ["zt_blob(?, 'layer1.bias')", "zt_manifest(?)"])
def test_a_function_takes_exactly_one_file(db, tree, call):
    # Also where the pattern or directory holds only one: what it gives must not depend on what else is there.
    for source in (tree.path + "/*.zt", tree.path + "/[a].zt", tree.path, tree.path + "/no*.zt"):
        assert message(db, "SELECT " + call, source).startswith("ztensor: ")


@TABLES
def test_a_table_without_a_source_says_how_to_call_it(db, table):
    assert f"{table}('model.zt')" in message(db, f"SELECT * FROM {table}")


@pytest.mark.parametrize("table", SOURCE_TABLES)
def test_the_hidden_column_source_is_the_argument(db, tree, sample, table):
    pattern = tree.path + "/b/*.zt"
    # An attribute, so that zt_attributes has a row as well.
    with_attributes = writer.write({"w": writer.dense(b"x")}, attributes={"k": 1})
    for path in tree.files[1:3]:
        with open(path, "wb") as file:
            file.write(with_attributes)
    assert rows(db, f"SELECT DISTINCT source FROM {table}(?)", pattern) == [(pattern,)]
    assert rows(db, f"SELECT DISTINCT source FROM {table} WHERE source = ?", pattern) == [(pattern,)]
    assert rows(db, f"SELECT source FROM {table}(?)", with_attributes) == [(with_attributes,)]


# ------------------------------------------------------------------------------------------- what is no regular file

def special(root, kind):
    """Makes something that is not a regular file; gives its path."""
    path = os.path.join(root, "b.zt")
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        server = socket.socket(socket.AF_UNIX)
        # Bound by a relative name: the name of a socket may have only about 100 bytes.
        here = os.getcwd()
        os.chdir(root)
        server.bind("b.zt")
        os.chdir(here)
        server.close()
    elif kind == "device":
        os.symlink("/dev/zero", path)
    elif kind == "broken link":
        os.symlink(os.path.join(root, "nothing"), path)
    elif kind == "link loop":
        os.symlink(path, path)
    return path


KINDS = pytest.mark.parametrize("kind", ["fifo", "socket", "device", "broken link", "link loop"])


@KINDS
def test_what_is_no_regular_file_is_refused_without_being_opened(trace, grow, kind):
    # In another process, which a reader that opens the FIFO would leave hanging, not this one.
    path = special(grow("a.zt"), kind)
    got = trace(f"""SELECT * FROM zt_files('{path}');
                    SELECT * FROM zt_objects('{path}');
                    SELECT zt_blob('{path}', 'w');
                    SELECT zt_manifest('{path}');
                    SELECT count(*) FROM zt_objects('{path}', 'skip');""")
    # zt_files raises only where there is nothing at that name; the shell shows errors on stderr.
    assert got.out.strip().splitlines()[-1] == "0"
    assert got.err.count(prefix(path)) + got.out.count(prefix(path)) == 4
    assert [p for p in got.opened if p == path or p == "/dev/zero"] == []


@KINDS
def test_what_is_no_regular_file_is_unreadable_among_others(shell, grow, kind):
    root = grow("a.zt", "c.zt")
    path = special(root, kind)
    for source in (root, f"{root}/*.zt"):
        got = shell(f"""SELECT path, objects, error IS NULL FROM zt_files('{source}');
                        SELECT error LIKE 'ztensor: {path}: %' FROM zt_files('{source}') WHERE objects IS NULL;
                        SELECT path, object FROM zt_objects('{source}', 'skip');""")
        assert got.out.splitlines() == [f"{root}/a.zt|2|1", f"{path}||0", f"{root}/c.zt|2|1", "1",
                                        f"{root}/a.zt|layer1.weight", f"{root}/a.zt|layer1.bias",
                                        f"{root}/c.zt|layer1.weight", f"{root}/c.zt|layer1.bias"]
        aborted = shell(f"SELECT count(*) FROM zt_objects('{source}');")
        assert aborted.out == "" and prefix(path) in aborted.err


def test_directories_full_of_links_to_each_other_end(db, tmp_path):
    # Paths without a cycle through n such directories are as many as n! and more.
    names = [f"d{i:02}" for i in range(12)]
    for name in names:
        (tmp_path / name).mkdir()
        shutil.copy(corpus.HOSTILE / "1.2-ok-plain.zt", tmp_path / name / "m.zt")
        for other in names:
            if other != name:
                (tmp_path / name / other).symlink_to(tmp_path / other)
    paths = [row[0] for row in rows(db, "SELECT path FROM zt_files(?)", str(tmp_path))]
    assert {f"{tmp_path}/{name}/m.zt" for name in names} <= set(paths)
    assert len(paths) <= 2 * len(names)   # Each directory by itself, and once through a link


def test_any_depth_many_times_is_any_depth(db, tmp_path):
    directory = tmp_path
    for i in range(12):
        directory = directory / "d"
        directory.mkdir()
        shutil.copy(corpus.HOSTILE / "1.2-ok-plain.zt", directory / "m.zt")
    assert len(rows(db, "SELECT path FROM zt_files(?)", f"{tmp_path}/" + "**/" * 40 + "m.zt")) == 12


def test_a_file_uri_is_one_whatever_its_case(db):
    path = str(corpus.HOSTILE / "1.2-ok-plain.zt")
    assert rows(db, "SELECT path FROM zt_files(?)", "FILE://LocalHost" + path) == [(path,)]


@pytest.mark.parametrize("uri", ["file:///x%4", "file:///x%4z", "file:///x%", "file:///%00"])
def test_a_bad_escape_in_a_uri_is_an_error(db, uri):
    expected = f"{prefix(uri)}a file: URI with a bad percent-encoding"
    assert message(db, "SELECT * FROM zt_objects(?)", uri) == expected
    assert rows(db, "SELECT path, size, error FROM zt_files(?)", uri) == [(uri, None, expected)]
