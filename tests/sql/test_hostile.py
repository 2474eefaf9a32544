"""Every hostile file of every format, through its path and as a BLOB: it is refused, or read, as its case says. The keys of a case
are those in formats/ztensor/hostile/README.md."""
import hashlib
import json
import re
import sqlite3

import pytest

import corpus
import reference
import writer
from support import RAISING_TABLES, everything, message, place, quoted, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
OPENS = ("lists_but_no_dense", "lists_but_no_bytes", "lists_only", "digest_mismatch", "ok")
STATUS = {"digest-mismatch": "mismatch", "malformed-digest": "malformed", "unknown-digest": "unsupported",
          "digest-algorithm": "unsupported"}
# Rules of what is not known here: the specifications permit it, and so they are no errors
UNKNOWN = {"unknown-format", "unknown-dtype", "unknown-type", "unknown-encoding"}


def cases(*expectations, chosen=lambda case: True):
    found = [c for c in corpus.hostile() if (not expectations or c["expect"] in expectations) and chosen(c)]
    return pytest.mark.parametrize("case", found, ids=[f"{c['format']}/{c['file']}" for c in found])


def at(case, how):
    """(source, object, component) of a case."""
    array = case["format"] == "npy" and how == "blob" and case["object"]    # Which only the file's name names
    return corpus.source_of(case["path"], how), "data" if array else case["object"], case.get("component")


def says(text, here, case):
    """Whether a message is that of the case; those of zTensor may leave out a place in the manifest."""
    return re.fullmatch(re.escape(place(*here)) + r"(manifest byte \d+: )?" + re.escape(case["message"]), text)


def message_of(case, how):
    """The message of a case, None if it has none, or if a BLOB may have another: that a file beside it is not there."""
    return None if case.get("external") and how == "blob" else case.get("message")


def findings(db, source, level="full"):
    """(object, component, severity, rule, message) of each row of zt_check, but that there is no digest."""
    got = rows(db, "SELECT path, object, component, severity, rule, message FROM zt_check(?, ?)", source, level)
    assert {row[0] for row in got} <= {corpus.path_of(source)}
    return [row[1:] for row in got]


def fails(db, sql, *arguments):
    """The error of a statement, which may come behind rows; a size beyond what SQLite has is SQLITE_TOOBIG."""
    with pytest.raises(sqlite3.Error) as caught:
        for _ in db.execute(sql, arguments):
            pass
    assert caught.value.sqlite_errorcode in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_TOOBIG)
    return str(caught.value)


@pytest.fixture
def known(db):
    """{rule: severity}"""
    return dict(rows(db, "SELECT rule, severity FROM zt_rules"))


@pytest.mark.parametrize("format", corpus.formats())
def test_every_file_has_one_case_and_is_the_file_the_case_is_about(format):
    of_format = [c for c in corpus.hostile() if c["format"] == format]
    on_disk = {f.name: (f.stat().st_size, hashlib.sha256(f.read_bytes()).hexdigest())
               for f in (corpus.FORMATS / format / "hostile").iterdir() if f.is_file() and f.suffix not in (".json", ".md") and not corpus.is_data(f)}
    assert on_disk == {c["file"]: (c["size"], c["sha256"]) for c in of_format} and len(on_disk) == len(of_format) > 0


@cases(chosen=lambda case: not case.get("external") and case["format"] != "npy" and case["finding"] != "missing-shard")
def test_a_path_and_the_bytes_behind_it_say_the_same(db, case):
    assert everything(db, str(case["path"])) == everything(db, case["path"].read_bytes())


# ------------------------------------------------------------------------------------------- the file is unsound

@cases("open_error")
@BOTH_WAYS
def test_an_unsound_file_is_one_error_that_names_the_place_and_gives_no_row(db, known, how, case):
    source, object, component = here = at(case, how)
    text = message(db, "SELECT * FROM zt_objects(?)", source)
    assert says(text, here, case)
    for table in RAISING_TABLES:
        assert message(db, f"SELECT * FROM {table}(?)", source) == text
        assert rows(db, f"SELECT * FROM {table}(?, 'skip')", source) == []
    for function in ("zt_manifest(?)", "zt_blob(?, 'w')", "zt_dense(?, 'w')"):
        assert message(db, f"SELECT {function}", source) == text
    assert rows(db, """SELECT path, size, container, version, objects, components, stored_bytes, decoded_bytes, manifest_bytes,
                              attributes, error FROM zt_files(?)""", source) == [
        (corpus.path_of(source), case["size"], *[None] * 8, text)]
    for level in ("quick", "full"):
        assert findings(db, source, level) == [(object, component, "error", case["finding"], text[len(place(*here)):])]
    assert known[case["finding"]] == "error"


# --------------------------------------------------------------------------------------------- the file is sound

@cases(*OPENS)
@BOTH_WAYS
def test_a_sound_file_is_listed_whole(db, how, case):
    source, object, component = at(case, how)
    objects = rows(db, "SELECT path, object FROM zt_objects(?)", source)
    components = rows(db, "SELECT path, object, component FROM zt_components(?)", source)
    assert len(set(objects)) == len(objects) and len(set(components)) == len(components)
    assert case.get("rows") in (None, {"objects": len(objects), "components": len(components)})
    assert {path for path, *_ in objects + components} <= {corpus.path_of(source)}
    assert object is None or object in [name for _, name in objects]
    assert component is None or (object, component) in [row[1:] for row in components]
    sizes = rows(db, "SELECT length, decoded_length FROM zt_components(?)", source)
    (*counts, stored, decoded, error), = rows(db, "SELECT objects, components, stored_bytes, decoded_bytes, error FROM zt_files(?)", source)
    assert counts == [len(objects), len(components)] and error is None
    if not any(isinstance(size, str) for row in sizes for size in row):    # Beyond 64 bits
        assert [stored, decoded] == [corpus.total([row[i] for row in sizes]) for i in range(2)]
    assert value(db, "SELECT zt_manifest(?1) IS NULL OR json_valid(zt_manifest(?1))", source) == 1


@cases(*OPENS)
@BOTH_WAYS
def test_zt_check_says_what_is_wrong_and_no_more(db, known, how, case):
    source, object, component = at(case, how)
    rule = "external-file" if case.get("external") and how == "blob" else case["finding"]
    full, quick = findings(db, source, "full"), findings(db, source, "quick")
    assert set(quick) <= set(full)
    if case.get("generation"):
        assert {row[3] for row in full} - {"missing-digest"} == {rule, *case.get("also", [])} - {None, "missing-digest"}
    if case.get("generation") and case["expect"] != "lists_only":
        assert {row[0] for row in full if row[3] != "missing-shard" and (row[2] == "error" or row[3] in UNKNOWN)} <= {object}
    mine = [row for row in full if row[3] == rule]
    assert {row[2] for row in mine} == ({known[rule]} if rule else set())
    if case.get("message") and (case.get("generation") or case["format"] == "gguf" and case["expect"] == "ok"):
        assert (object, component, known[rule], rule, case.get("streamed", case["message"])) in mine
    if case.get("generation") and rule:
        assert set(mine) & set(quick) == (set() if case.get("level") == "full" else set(mine))


@cases(*OPENS, chosen=lambda case: case["format"] == "ztensor")
@BOTH_WAYS
def test_the_stored_bytes_of_every_component_are_readable(db, how, case):
    source, data = corpus.source_of(case["path"], how), case["path"].read_bytes()
    for offset, length, stored in rows(db, "SELECT offset, length, stored FROM zt_components(?) WHERE shard IS NULL", source):
        assert stored == data[offset:offset + length]


@cases(*OPENS)
@BOTH_WAYS
def test_what_is_not_said_to_be_broken_is_read(db, how, case):
    """All bytes, and all values, but those of the case's object."""
    source, object, component = at(case, how)
    if case["expect"] == "lists_only":
        return
    broken = object if case["expect"].startswith("lists") else None
    beside = {None} if how == "path" else {name for name, in rows(db, "SELECT object FROM zt_components(?) WHERE shard IS NOT NULL", source)}
    for name, role, length in rows(db, "SELECT object, component, decoded_length FROM zt_components(?)", source):
        if case["expect"] == "lists_but_no_bytes" and name == object and role == (component or role):
            continue
        if name in beside:    # What a BLOB does not have
            assert "a file beside this one" in fails(db, "SELECT zt_blob(?, ?, ?)", source, name, role)
            continue
        data = value(db, "SELECT zt_blob(?, ?, ?)", source, name, role)
        assert data == value(db, "SELECT data FROM zt_components(?) WHERE object = ? AND component = ?", source, name, role)
        assert len(data) == length or length is None
    stats = {row[0]: row[1:] for row in rows(db, "SELECT object, zeros, std, error FROM zt_stats(?)", source)}
    for name, type in rows(db, "SELECT object, type FROM zt_objects(?)", source):
        if name != broken and name not in beside:
            assert value(db, "SELECT typeof(zt_dense(?, ?))", source, name) == "blob"
            zeros, _, error = stats[name]
            assert type in reference.COMPLEX or (zeros is not None and error is None)


@cases("lists_but_no_dense", "lists_but_no_bytes")
@BOTH_WAYS
def test_values_that_cannot_be_had_are_an_error_that_names_file_and_object(db, how, case):
    source, object, component = at(case, how)
    shape = json.loads(value(db, "SELECT coalesce(shape, '[]') FROM zt_objects(?) WHERE object = ?", source, object))
    text = fails(db, "SELECT zt_dense(?, ?)", source, object)
    assert text.startswith(place(source, object)) and ("streamed" in case or text.endswith(message_of(case, how) or ""))
    calls = ["SELECT zt_dense(?, ?, 'f64')", "SELECT zt_json(?, ?)"]
    if case["finding"] != "repeated-cell":    # Each is listed as it is stored
        calls.append("SELECT position, coords, value FROM zt_elements(?, ?)")
        sql = "SELECT value FROM zt_elements(?, ?)"
        assert fails(db, sql, source, object) == fails(db, sql + " ORDER BY position", source, object)
    if shape[:1] != [0]:
        calls.append("SELECT row, vector FROM zt_rows(?, ?)")
    if case.get("generation") and case.get("level") != "full":    # Else the fault may lie behind the element
        calls.append(f"SELECT zt_value(?, ?{', 0' * len(shape)})")
    for sql in calls:
        assert fails(db, sql, source, object).startswith(place(source, object)), sql
    ((*measures, error),) = rows(db, "SELECT zeros, nans, infs, min, max, mean, std, l2, error FROM zt_stats(?) WHERE object = ?", source, object)
    assert measures == [None] * 8 and error


@cases("lists_but_no_bytes")
@BOTH_WAYS
def test_bytes_that_cannot_be_decoded_are_an_error_that_names_the_component(db, how, case):
    source, object, component = at(case, how)
    role = component or value(db, "SELECT min(component) FROM zt_components(?) WHERE object = ?", source, object)
    calls = ["SELECT data FROM zt_components(?) WHERE object = ? AND component = ?", "SELECT zt_blob(?, ?, ?)",
             "SELECT zt_blob(?, ?, ?, 0, 1 << 40)", *(f"SELECT zt_hash(?, ?, ?, '{name}')" for name in ("sha256", "crc32c", "xxh3"))]
    for sql in calls:
        text = fails(db, sql, source, object, role)
        # A range is too large by its own bytes
        expected = (case.get("message") or "").replace(str((1 << 64) - 1), str(1 << 40)) if "<<" in sql else case.get("message")
        if "zt_hash" in sql:    # Which reads piece by piece
            expected = case.get("streamed", expected)
        if component and message_of(case, how):
            assert says(text, (source, object, component), {"message": expected})
        assert text.startswith(place(source, object))
    if case["format"] != "ztensor" and not case.get("sized"):
        lengths = rows(db, "SELECT object, length, decoded_length FROM zt_components(?)", source)
        assert (object, case.get("length"), case.get("decoded_length")) in lengths


@cases("ok", "digest_mismatch", "lists_but_no_dense")
@BOTH_WAYS
def test_what_can_be_read_is_what_is_there(db, how, case):
    source, object, component = at(case, how)
    for key, sql in (("bytes_sha256", "SELECT zt_blob(?, ?, coalesce(?, 'data'))"), ("dense_sha256", "SELECT zt_dense(?, ?, CASE WHEN ? THEN NULL END)")):
        if key in case:
            assert hashlib.sha256(value(db, sql, source, object, component)).hexdigest() == case[key]


@cases(*OPENS, chosen=lambda case: case["format"] == "ztensor" and case["expect"] != "lists_only")
@BOTH_WAYS
def test_a_wrong_digest_is_told_as_what_it_is_and_the_others_are_right(db, how, case):
    source, *named = at(case, how)
    # Of bytes that do not decode there is no digest
    where = " WHERE (object, component) IS NOT (?, ?)" if case["expect"] == "lists_but_no_bytes" else " WHERE coalesce(?, ?, 1) IS NOT NULL"
    sql = "SELECT object, component, digest, digest_status FROM zt_components(?)" + where
    for object, component, digest, status in rows(db, sql, source, *named):
        if [object, component] != named:
            assert status == (digest and "ok")
        elif case["expect"] == "digest_mismatch":
            assert status == STATUS[case["finding"]]


# -------------------------------------------------------------------------------------------------------- memory

def peak_kib(shell, file, object):
    """The most memory the sqlite3 shell has had after everything was asked of a file, and of an object in every way.

    VmHWM belongs to the process after exec(), unlike the maximum that wait4() reports.
    """
    source, one = quoted(file), f"{quoted(file)}, {quoted(object or 'w')}"
    out = shell(f"""
        SELECT count(*) FROM zt_objects({source}); SELECT count(*) FROM zt_attributes({source});
        SELECT count(*), sum(length(stored)), count(digest_status) FROM zt_components({source});
        SELECT sum(length(data)) FROM zt_components({source});
        SELECT length(zt_blob({one}, 'data', 0, 16)); SELECT length(zt_manifest({source}));
        SELECT length(zt_dense({one})); SELECT length(zt_dense({one}, 'f64')); SELECT length(zt_dense({one}, 'u8', 0, 1));
        SELECT length(zt_json({one})); SELECT zt_value({one}); SELECT zt_value({one}, 0); SELECT zt_value({one}, 0, 0);
        SELECT count(value) FROM (SELECT value FROM zt_elements({one}) LIMIT 1000);
        SELECT count(vector) FROM (SELECT vector FROM zt_rows({one}) LIMIT 1000);
        SELECT zeros, std, error FROM zt_stats({source});
        SELECT length(zt_hash({one}, component, 'xxh3')) FROM zt_components({source}) WHERE object = {quoted(object or 'w')};
        .shell grep VmHWM /proc/$PPID/status""").out
    return int(re.search(r"VmHWM:\s+(\d+) kB", out)[1])


PLAIN = corpus.HOSTILE / "1.2-ok-plain.zt"


def test_the_measure_of_memory_sees_what_is_used(shell, save):
    big = save("big.zt", writer.write({"w": writer.dense(b"\x01" * (100 << 20))}))
    assert peak_kib(shell, big, "w") > peak_kib(shell, PLAIN, "w") + (64 << 10)


@cases(chosen=lambda case: "limits" in case)
def test_a_file_built_to_exhaust_memory_does_not(shell, case):
    assert peak_kib(shell, case["path"], case["object"]) <= peak_kib(shell, PLAIN, "w") + 1024 * case["limits"]["mib"]


def test_a_sparse_object_of_a_few_bytes_takes_no_memory_for_its_huge_shape(shell, save):
    path = save("x.zt", writer.write({"s": writer.sparse_coo([1 << 30, 1 << 30], [(5, 7), (1, 2)], b"\x01\x02")}))
    assert peak_kib(shell, path, "s") <= peak_kib(shell, PLAIN, "w") + (64 << 10)
