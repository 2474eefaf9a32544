"""Every hostile file, through its path and as a BLOB: refused, or read, as its case says."""
import hashlib
import re

import pytest

import corpus
import writer
from support import RAISING_TABLES, everything, failure, message, place, prefix, quoted, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])


def cases(*expectations):
    """The cases with one of these expectations; all of them if none is given."""
    chosen = [c for c in corpus.hostile() if not expectations or c["expect"] in expectations]
    return pytest.mark.parametrize("case", chosen, ids=[c["file"][:-3] for c in chosen])


OPENS = ("lists_but_no_dense", "lists_but_no_bytes", "digest_mismatch", "ok")


def source_of(case, how):
    return corpus.source_of(corpus.HOSTILE / case["file"], how)


def test_every_file_has_one_case_and_is_the_file_the_case_is_about():
    by_case = {c["file"]: c["sha256"] for c in corpus.hostile()}
    on_disk = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in corpus.HOSTILE.glob("*.zt")}
    assert len(by_case) == len(corpus.hostile()) == 451
    assert on_disk == by_case


@cases()
def test_a_path_and_the_bytes_behind_it_say_the_same(db, case):
    assert everything(db, source_of(case, "path")) == everything(db, source_of(case, "blob"))


# ------------------------------------------------------------------------------------------- the file is unsound

@cases("open_error")
@BOTH_WAYS
def test_an_unsound_file_is_an_error_that_names_the_place_and_gives_no_row(db, how, case):
    source = source_of(case, how)
    for table in RAISING_TABLES:
        text = message(db, f"SELECT * FROM {table}(?)", source)
        assert text.startswith(place(source, case["object"], case["component"])) and text.endswith(case["message"])


@cases("open_error")
@BOTH_WAYS
def test_an_unsound_file_is_an_error_of_the_functions(db, how, case):
    source = source_of(case, how)
    assert message(db, "SELECT zt_blob(?, 'w')", source).startswith(prefix(source))
    assert message(db, "SELECT zt_manifest(?)", source).startswith(prefix(source))


@cases("open_error")
@BOTH_WAYS
def test_zt_files_shows_an_unsound_file_with_its_error_and_no_counts(db, how, case):
    source = source_of(case, how)
    path, size, *unknown, error = rows(db, """
        SELECT path, size, container, version, objects, components, stored_bytes, decoded_bytes, manifest_bytes, attributes,
               error FROM zt_files(?)""", source)[0]
    assert (path, size) == (corpus.path_of(source), case["size"])
    assert unknown == [None] * 8
    assert error == message(db, "SELECT * FROM zt_objects(?)", source)


@cases("open_error")
@BOTH_WAYS
def test_on_error_skip_passes_over_an_unsound_file(db, how, case):
    for table in RAISING_TABLES:
        assert rows(db, f"SELECT * FROM {table}(?, 'skip')", source_of(case, how)) == []


# --------------------------------------------------------------------------------------------- the file is sound

@cases(*OPENS)
@BOTH_WAYS
def test_a_sound_file_is_listed_whole(db, how, case):
    source = source_of(case, how)
    objects = rows(db, "SELECT path, object FROM zt_objects(?)", source)
    components = rows(db, "SELECT path, object, component FROM zt_components(?)", source)
    assert len(set(objects)) == len(objects) == case["rows"]["objects"]
    assert len(set(components)) == len(components) == case["rows"]["components"]
    assert {path for path, *_ in objects + components} <= {corpus.path_of(source)}
    if case["object"] is not None:
        assert case["object"] in [name for _, name in objects]
    if case["component"] is not None:
        assert (case["object"], case["component"]) in [row[1:] for row in components]
    assert rows(db, "SELECT objects, components, error FROM zt_files(?)", source) == \
        [(len(objects), len(components), None)]


@cases(*OPENS)
@BOTH_WAYS
def test_the_stored_bytes_of_every_component_are_readable(db, how, case):
    source = source_of(case, how)
    data = (corpus.HOSTILE / case["file"]).read_bytes()
    got = rows(db, "SELECT offset, length, stored FROM zt_components(?)", source)
    assert len(got) == case["rows"]["components"]
    for offset, length, stored in got:
        assert stored == data[offset:offset + length]
        assert len(stored) == length


def raw_components(db, source):
    """[(object, component, stored)] of the components whose decoded bytes are the stored ones."""
    return rows(db, "SELECT object, component, stored FROM zt_components(?) WHERE encoding = 'raw'", source)


@cases(*OPENS)
@BOTH_WAYS
def test_the_bytes_of_every_raw_component_are_readable(db, how, case):
    source = source_of(case, how)
    decoded = {(o, c): data for o, c, data in
               rows(db, "SELECT object, component, data FROM zt_components(?) WHERE encoding = 'raw'", source)}
    raw = raw_components(db, source)
    assert len(raw) + value(db, "SELECT count(*) FROM zt_components(?) WHERE encoding <> 'raw'", source) == case["rows"]["components"]
    for object, component, stored in raw:
        assert decoded[object, component] == stored
        assert value(db, "SELECT zt_blob(?, ?, ?)", source, object, component) == stored


@cases("lists_but_no_dense", "digest_mismatch", "ok")
@BOTH_WAYS
def test_all_bytes_can_be_read_unless_the_case_says_otherwise(db, how, case):
    source = source_of(case, how)
    types = rows(db, "SELECT typeof(data), count(*) FROM zt_components(?) GROUP BY 1", source)
    assert types == ([("blob", case["rows"]["components"])] if case["rows"]["components"] else [])


@cases("lists_but_no_bytes")
@BOTH_WAYS
def test_bytes_that_cannot_be_decoded_are_an_error_that_names_file_object_and_component(db, how, case):
    source = source_of(case, how)
    at = place(source, case["object"], case["component"])
    by_column = "SELECT data FROM zt_components(?) WHERE object = ? AND component = ?"
    # A size beyond what SQLite can return may be SQLITE_TOOBIG; all else is an ordinary error.
    codes = (1, 18) if case["reason"] == "bytes.limit" else (1,)
    for sql in (by_column, "SELECT zt_blob(?, ?, ?)", "SELECT zt_blob(?, ?, ?, 0, 1 << 40)"):
        error = failure(db, sql, source, case["object"], case["component"])
        assert error.sqlite_errorcode in codes
        # Of a range, too many bytes are those of the range
        expected = case["message"].replace(str((1 << 64) - 1), str(1 << 40)) if "<<" in sql else case["message"]
        assert str(error) == at + expected


@cases("lists_but_no_bytes")
@BOTH_WAYS
def test_a_component_that_cannot_be_decoded_leaves_the_others_readable(db, how, case):
    source = source_of(case, how)
    others = rows(db, "SELECT object, component FROM zt_components(?) WHERE (object, component) <> (?, ?)",
                  source, case["object"], case["component"])
    assert len(others) == case["rows"]["components"] - 1 > 0
    readable = rows(db, """SELECT object, component FROM zt_components(?)
                           WHERE (object, component) <> (?, ?) AND typeof(data) = 'blob'""",
                    source, case["object"], case["component"])
    assert readable == others


@cases("ok")
@BOTH_WAYS
def test_odd_but_legal_files_decode_to_the_right_bytes(db, how, case):
    source = source_of(case, how)
    if "bytes_sha256" not in case:
        # Cases about a file without objects, and about a whole sparse or 0.1 object, give no hash of bytes.
        assert case["object"] is None or case["component"] is None
        return
    data = value(db, "SELECT zt_blob(?, ?, ?)", source, case["object"], case["component"])
    assert hashlib.sha256(data).hexdigest() == case["bytes_sha256"]


@cases(*OPENS)
@BOTH_WAYS
def test_digests_other_than_that_of_the_case_are_right(db, how, case):
    named = (case["object"], case["component"]) if case["expect"] == "digest_mismatch" else None
    got = rows(db, "SELECT object, component, digest, digest_status FROM zt_components(?)", source_of(case, how))
    assert len(got) == case["rows"]["components"]
    for object, component, digest, status in got:
        if (object, component) != named:
            assert status == (None if digest is None else "ok")


@cases("digest_mismatch")
@BOTH_WAYS
def test_a_wrong_digest_is_told_as_what_it_is(db, how, case):
    digest, status = rows(db, "SELECT digest, digest_status FROM zt_components(?) WHERE object = ? AND component = ?",
                          source_of(case, how), case["object"], case["component"])[0]
    assert status in case["verify"]
    if case["verify"] != ["mismatch"]:
        assert status == corpus.unverifiable(digest)


# -------------------------------------------------------------------------------------------------------- memory

LIMITED = [c for c in corpus.hostile() if "limits" in c]


def peak_kib(shell, file):
    """The most memory the sqlite3 shell has had after everything was asked of a file.

    VmHWM belongs to the process after exec(), unlike the maximum that wait4() reports.
    """
    source = quoted(file)
    out = shell(f"""
        SELECT count(*) FROM zt_objects({source});
        SELECT count(*) FROM zt_attributes({source});
        SELECT count(*), sum(length(stored)), count(digest_status) FROM zt_components({source});
        SELECT sum(length(data)) FROM zt_components({source});
        SELECT length(zt_blob({source}, 'w', 'data', 0, 16));
        SELECT length(zt_manifest({source}));
        .shell grep VmHWM /proc/$PPID/status""").out
    return int(re.search(r"VmHWM:\s+(\d+) kB", out)[1])


def test_the_measure_of_memory_sees_what_is_used(shell, save):
    big = save("big.zt", writer.write({"w": writer.dense(b"\x01" * (100 << 20))}))
    assert peak_kib(shell, big) > peak_kib(shell, corpus.HOSTILE / "1.2-ok-plain.zt") + (64 << 10)


@pytest.mark.parametrize("case", LIMITED, ids=[c["file"][:-3] for c in LIMITED])
def test_a_file_built_to_exhaust_memory_does_not(shell, case):
    usual = peak_kib(shell, corpus.HOSTILE / "1.2-ok-plain.zt")
    assert peak_kib(shell, corpus.HOSTILE / case["file"]) <= usual + 1024 * case["limits"]["mib"]
