"""The messages of errors, their places, and the state after them."""
import json
import sqlite3

import pytest

import writer
from support import RAISING_TABLES, failure, message, place, prefix, rows, value

GOOD = writer.write({"w": writer.dense(b"abcd")})
CASES = {  # what is wrong: (the file, object and component that the message must name)
    "no tensor file": (b"not a tensor file, but long enough", None, None),
    "cut": (GOOD[:-1], None, None),
    "no manifest": (b"ZTEN1000" + bytes(8) + b"ZTEN1000", None, None),
    "not a map": (b"ZTEN1000" + b"\x01" + (1).to_bytes(8, "little") + b"ZTEN1000", None, None),
    "another major version": (writer.write({}, version="2.0.0"), None, None),
    "misaligned": (writer.write({"w": {"shape": [1], "components": {"data": {"offset": 65, "length": 1}}}}, first_offset=200),
                   "w", "data"),
    "beyond the end": (writer.write({"w": {"shape": [1], "components": {"part": {"offset": 64, "length": 1 << 40}}}}), "w", "part"),
    "rank over 64": (writer.write({"deep": writer.dense(b"x", [1] * 65)}), "deep", None),
    "shape overflow": (writer.write({"big": writer.dense(b"x", [1 << 32, 1 << 32])}), "big", None),
    "no dtype": (writer.write({"w": {"shape": [1], "components": {"data": {"dtype": None, "bytes": b"x"}}}}), "w", "data"),
    "a name with quotes": (writer.write({"it's \"w\"": writer.dense(b"x", [1] * 65)}), "it's \"w\"", None),
    "an empty name": (writer.write({"": writer.dense(b"x", [1] * 65)}), "", None),
}
EACH_CASE = pytest.mark.parametrize("name", CASES)
BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])


@EACH_CASE
@BOTH_WAYS
def test_a_message_names_file_object_and_component_and_says_what_is_wrong(db, save, name, how):
    data, object, component = CASES[name]
    source = data if how == "blob" else save("bad one.zt", data)
    for sql in [f"SELECT * FROM {table}(?)" for table in RAISING_TABLES] + ["SELECT zt_blob(?, 'w')", "SELECT zt_manifest(?)"]:
        text = message(db, sql, source)
        at = place(source, object, component)
        assert text.startswith(at)
        assert text[len(at):].strip()


def test_different_faults_have_different_messages(db):
    texts = {message(db, "SELECT * FROM zt_objects(?)", data) for data, _, _ in CASES.values()}
    assert len(texts) >= len(CASES) - 1


def test_a_broken_tensor_file_is_never_called_a_corrupt_database(db, save):
    path = save("x.zt", GOOD[:-1])
    assert failure(db, "SELECT * FROM zt_objects(?)", path).sqlite_errorcode == sqlite3.SQLITE_ERROR
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]


def test_the_named_file_is_the_broken_one_of_many(db, tree):
    with open(tree.files[2], "ab") as file:
        file.write(b"\n")
    with pytest.raises(sqlite3.OperationalError) as caught:
        rows(db, "SELECT count(*) FROM zt_objects(?)", tree.path)
    assert str(caught.value).startswith(prefix(tree.files[2]))


def test_a_connection_works_on_after_an_error(db, sample, save):
    broken = save("broken.zt", GOOD[:-1])
    for _ in range(3):
        assert message(db, "SELECT * FROM zt_components(?)", broken).startswith(prefix(broken))
        assert message(db, "SELECT zt_blob(?, 'none')", sample).startswith(place(sample, "none"))
        assert value(db, "SELECT zt_blob(?, 'layer1.bias')", sample) == b"\x02" * 4
        assert value(db, "SELECT count(*) FROM zt_objects(?)", sample) == 2


def test_an_error_in_a_function_ends_the_statement_that_calls_it(db, sample):
    db.execute("CREATE TABLE result(data)")
    sql = "INSERT INTO result SELECT zt_blob(?, column1) FROM (VALUES ('layer1.bias'), ('none'), ('layer1.weight'))"
    assert message(db, sql, sample).startswith(place(sample, "none"))
    assert rows(db, "SELECT count(*) FROM result") == [(0,)]


def test_a_message_may_hold_percent_signs(db, save):
    # A message used as a format would print or crash on these.
    path = save("%s%n%d.zt", GOOD)
    assert message(db, "SELECT zt_blob(?, '%s%n%s')", path).startswith(place(path, "%s%n%s"))
    file = writer.write({"%s%n": writer.dense(b"x", [1] * 65)})
    assert message(db, "SELECT * FROM zt_objects(?)", file).startswith(place(file, "%s%n"))


# ------------------------------------------------------------------------------------------------------------ terminals

HIDDEN = "a\x1b[31mb\nc\x7f\x9b\u202ed"
SHOWN = "a\\x1b[31mb\\nc\\x7f\\u009b\\u202ed"


@BOTH_WAYS
def test_what_a_terminal_obeys_is_escaped_in_messages(db, save, how):
    def source(name, data):
        return (data, "<blob>") if how == "blob" else (save(name + ".zt", data), str(save(name + ".zt", data)))

    deep, at = source("deep", writer.write({HIDDEN: writer.dense(b"x", [1] * 65)}))
    assert message(db, "SELECT * FROM zt_objects(?)", deep).startswith(f"ztensor: {at}: object '{SHOWN}': ")
    assert value(db, "SELECT error FROM zt_files(?)", deep).startswith(f"ztensor: {at}: object '{SHOWN}': ")
    role, at = source("role", writer.write({HIDDEN: {"shape": [1], "components": {HIDDEN: {"offset": 64, "length": 1 << 40}}}}))
    assert message(db, "SELECT * FROM zt_objects(?)", role).startswith(
        f"ztensor: {at}: object '{SHOWN}': component '{SHOWN}': ")
    dtype, at = source("dtype", writer.write({"w": writer.dense(b"x", dtype=HIDDEN)}))
    text = message(db, "SELECT zt_dense(?, 'w')", dtype)
    assert SHOWN in text and text.isprintable()
    assert SHOWN in message(db, "SELECT zt_blob(?, ?)", dtype, HIDDEN)
    # Rows hold what the file says.
    assert value(db, "SELECT dtype FROM zt_objects(?)", dtype) == HIDDEN
    assert rows(db, "SELECT object, instr(message, ?) FROM zt_check(?) WHERE severity = 'error'", HIDDEN, deep) == [(HIDDEN, 0)]
    assert rows(db, "SELECT object, component FROM zt_check(?) WHERE severity = 'error'", role) == [(HIDDEN, HIDDEN)]


def test_paths_are_escaped_in_messages_and_not_in_rows(db, save):
    path = save(HIDDEN + ".zt", GOOD[:-1])
    shown = path.replace(HIDDEN, SHOWN)
    assert message(db, "SELECT * FROM zt_objects(?)", path).startswith(f"ztensor: {shown}: ")
    (row, error), = rows(db, "SELECT path, error FROM zt_files(?)", path)
    assert row == path and error.startswith(f"ztensor: {shown}: ")


def test_a_path_that_is_no_utf8_is_shown_in_a_message(db, tmp_path):
    with open(bytes(tmp_path) + b"/\xff\x9b.zt", "wb") as file:
        file.write(GOOD[:-1])
    assert message(db, "SELECT * FROM zt_objects(?)", str(tmp_path)).startswith(f"ztensor: {tmp_path}/\\xff\\x9b.zt: ")


# ----------------------------------------------------------------------------------------------------------- interrupts

def interrupted(db, sql, *arguments):
    """A statement that must be interrupted, with the words that hosts know."""
    with pytest.raises(sqlite3.OperationalError) as caught:
        rows(db, sql, *arguments)
    assert (caught.value.args, caught.value.sqlite_errorcode) == (("interrupted",), sqlite3.SQLITE_INTERRUPT)


# Each runs a few instructions of SQLite's, however long it takes: by them alone no progress handler is called. The last
# two are asked within a value.
SCANS = ["SELECT count(*) FROM zt_files(?)", "SELECT count(*) FROM zt_objects(?, 'skip')", "SELECT count(*) FROM zt_check(?)",
         "SELECT path FROM zt_files(?) WHERE path = 'none'"]


@pytest.mark.parametrize("sql", SCANS)
@pytest.mark.parametrize("n", [1000, 5000])
def test_a_progress_handler_ends_a_scan_that_finds_nothing(connect, tmp_path, sql, n):
    db, asked = connect(), []
    (tmp_path / "empty").mkdir()
    assert rows(db, "SELECT count(*) FROM (SELECT 1)") == [(1,)]
    db.set_progress_handler(lambda: asked.append(1) or 1, n)
    interrupted(db, sql, str(tmp_path))
    assert asked == [1]
    # It goes on where the handler says so.
    db.set_progress_handler(None, n)
    assert rows(db, sql, str(tmp_path)) in ([(0,)], [])


@pytest.mark.parametrize("call", ["zt_dense(?, 'w')", "zt_hash(?, 'w', NULL, 'sha256')", "zt_json(?, 'w')"])
def test_a_progress_handler_ends_one_long_value(connect, save, call):
    db = connect()
    path = save("large.zt", writer.write({"w": writer.dense(bytes(40 << 20))}))
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, "SELECT length(" + call + ")", path)
    db.set_progress_handler(lambda: 0, 1000)
    assert value(db, "SELECT length(" + call + ")", path) > 60


def test_a_progress_handler_and_a_failure_of_its_own(connect, tmp_path):
    # Which Python reports elsewhere: the statement is interrupted.
    db = connect()
    db.set_progress_handler(lambda: 1 / 0, 1000)
    interrupted(db, "SELECT count(*) FROM zt_files(?)", str(tmp_path))


# Opening this file checks for no interrupt.
@pytest.mark.parametrize("sql", ["SELECT zt_manifest(?)", "SELECT attributes FROM zt_files(?)", "SELECT value FROM zt_attributes(?)",
                                 "SELECT attributes FROM zt_objects(?)"])
@pytest.mark.parametrize("many", [list(range(5000)), {str(i): [i] for i in range(5000)}], ids=["array", "map"])
def test_a_progress_handler_ends_one_value_of_many(connect, save, sql, many):
    db = connect()
    path = save("many.zt", writer.write({"w": {**writer.dense(b""), "attributes": {"many": many}}}, attributes={"many": many}))
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, sql, path)


def test_a_progress_handler_ends_one_name_of_many(connect, save):
    db = connect()
    path = save("many.zt", writer.write({}, attributes={tuple(range(5000)): None}))
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, "SELECT key FROM zt_attributes(?)", path)


def test_a_progress_handler_ends_a_list_of_which_each_element_is_looked_for(connect):
    db = connect()
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, "SELECT zt_absolute(?)", json.dumps([f"none/{i}" for i in range(2000)]))


@pytest.mark.parametrize("column", ["stored_bytes", "decoded_bytes", "json_extract(types, '$[0].stored_bytes')"])
def test_a_progress_handler_ends_a_sum_over_many(connect, save, column):
    db, path = connect(), named(save, [f"{i:04}" for i in range(3000)])
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, f"SELECT {column} FROM zt_files(?)", path)
    db.set_progress_handler(None, 1000)
    assert value(db, f"SELECT {column} FROM zt_files(?)", path) == 0


# Of its instructions, SQLite runs some three for each value of a list; what asks it runs some 7,000.
@pytest.mark.parametrize("column", ["object", "path", "source"])
def test_a_progress_handler_ends_the_taking_of_a_list_of_many(connect, sample, column):
    db, values = connect(), ", ".join(f"'x{i}'" for i in range(1200))
    sql = f"SELECT count(*) FROM zt_objects WHERE source = '{sample}' AND {column} IN ({values})"
    if column == "source":
        sql = f"SELECT count(*) FROM zt_objects WHERE {column} IN ({values}) AND on_error = 'skip'"
    db.set_progress_handler(lambda: 1, 5000)
    interrupted(db, sql)


FAR = ["a" * 96 + f"{i:05}" + "z" * 27 for i in range(20_000)]   # Each 32 edits from the next
NEAR = "a" * 127 + "b"


def named(save, names):
    """The path of a file with objects of these names."""
    return save("names.zt", writer.write({name: writer.dense(b"") for name in names}))


def suggested(db, save, names):
    """The name that a lookup among these objects suggests."""
    path = named(save, names)
    text = message(db, "SELECT zt_value(?, ?, 0)", path, "a" * 128)
    assert "no such object" in text
    return text.partition("did you mean '")[2].rstrip("'?")


def test_what_was_probably_meant_is_looked_for_among_so_many_names_as_takes_no_time(db, save):
    assert suggested(db, save, FAR[:3000] + [NEAR]) == NEAR
    # Of more, the best so far.
    assert suggested(db, save, FAR + [NEAR]) in FAR
    # Names that are told apart soon are more.
    assert suggested(db, save, [f"b{i:05}" + "c" * 122 for i in range(10_000)] + [NEAR]) == NEAR


@pytest.mark.parametrize("sql", ["SELECT zt_value(?, ?, 0)", "SELECT * FROM zt_elements(?, ?)",
                                 "SELECT error FROM zt_compare(?1, ?2, ?1, ?2)"])
def test_a_progress_handler_ends_the_search_for_the_object_that_was_meant(connect, save, sql):
    db, path = connect(), named(save, FAR[:500])
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, sql, path, "a" * 128)


def test_what_was_meant_is_not_looked_for_where_no_message_says_it(connect, save):
    """A search asks for an interrupt many times, and the rest may ask once or twice if the machine is slow."""
    db, path, asks = connect(), named(save, FAR[:500]), []
    db.set_progress_handler(lambda: asks.append(1), 1000)
    assert "object 'aaaa" in message(db, "SELECT * FROM zt_elements(?, ?)", path, "a" * 128)
    searched = len(asks)
    assert rows(db, "SELECT * FROM zt_elements(?, ?, 'skip')", path, "a" * 128) == []
    assert (len(asks) - searched) * 3 < searched


def test_a_progress_handler_ends_the_search_for_the_component_that_was_meant(connect, save):
    db = connect()
    path = save("components.zt", writer.write({"w": {"shape": [0], "components": {role: {"bytes": b""} for role in FAR[:500]}}}))
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, "SELECT zt_blob(?, 'w', ?)", path, "a" * 128)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder with two files; one has many tensors."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "a.zt").write_bytes(writer.write({f"t{i}": writer.dense(b"") for i in range(100001)}))
    (folder / "b.zt").write_bytes(writer.write({"w": {**writer.dense(bytes(3000)), "attributes": {"long": list(range(70000))}}}))
    return folder


NAMED = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3000) SELECT 't' || i FROM n)"


@pytest.mark.parametrize("sql", [
    f"SELECT count(*) FROM zt_objects(?1 || '/a.zt') WHERE object IN {NAMED}", "SELECT * FROM zt_objects(?1 || '/a.zt') WHERE object LIKE 'none%'",
    "SELECT architecture FROM zt_files(?1 || '/a.zt')", "SELECT types FROM zt_files(?1 || '/a.zt')", "SELECT path FROM zt_files(?1)",
    "SELECT count(*) FROM zt_elements(?1 || '/b.zt', 'w') a CROSS JOIN zt_elements(?1 || '/b.zt', 'w') b ON b.value = a.value + 1",
    "SELECT zt_pack('ztensor-1.2', 'w', ?1 || '/b.zt', 'w')"])
def test_the_first_question_for_an_interrupt_is_answered(connect, many, sql):
    """A connection asks at once, and then not for a while: by a statement of its own, which selects from `t`."""
    db, asks = connect(), []
    db.set_authorizer(lambda *authorized: asks.append(1) or 0 if authorized[4] == "t" else 0)
    db.set_progress_handler(lambda: asks and asks.pop(), 1)
    interrupted(db, sql, str(many))


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("sql", [f"SELECT count(*) FROM zt_objects(?1 || '/a.zt') WHERE object IN {NAMED}",
                                 "SELECT count(*) FROM zt_objects(?1 || '/a.zt') WHERE object LIKE 'none%'", "SELECT count(path) FROM zt_files(?1)",
                                 "SELECT length(architecture) FROM zt_files(?1 || '/a.zt')"])
def test_a_later_question_for_an_interrupt_is_answered(connect, many, sql, n):
    """If it comes: how long a scan takes decides."""
    db, asks = connect(), []
    expected = rows(connect(), sql, str(many))
    db.set_authorizer(lambda *authorized: asks.append(1) or 0 if authorized[4] == "t" else 0)
    db.set_progress_handler(lambda: len(asks) >= n, 1)
    try:
        assert rows(db, sql, str(many)) == expected
    except sqlite3.OperationalError as error:
        assert error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT and len(asks) >= n
    else:
        assert len(asks) < n


def test_not_all_of_many_names_are_looked_at_for_a_suggestion(db, many):
    assert message(db, "SELECT zt_dense(?, ?)", str(many / "a.zt"), "n" * 300).endswith("n': no such object")


def test_an_interrupted_statement_leaves_a_connection_that_works_and_closes(connect, tree):
    db = connect()
    db.execute("CREATE TABLE kept(path)")
    db.execute("BEGIN")
    db.execute("INSERT INTO kept VALUES ('before')")
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, "SELECT count(*) FROM zt_files(?)", tree.path)
    db.set_progress_handler(None, 0)
    assert rows(db, "SELECT * FROM kept") == [("before",)]
    db.execute("COMMIT")
    assert rows(db, "SELECT path FROM zt_files(?)", tree.path) == [(path,) for path in tree.files]
    assert rows(db, "SELECT * FROM kept") == [("before",)]
    db.close()


def test_an_authorizer_that_allows_the_scan_allows_the_interrupt(connect, tree):
    db = connect()
    db.execute("CREATE VIRTUAL TABLE temp.files USING zt_files('" + tree.path + "')")
    denied = {sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_INSERT}
    db.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in denied else sqlite3.SQLITE_OK)
    db.set_progress_handler(lambda: 1, 1000)
    interrupted(db, "SELECT path FROM files")
