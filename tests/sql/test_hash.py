"""The column hash of zt_components: xxh3 of the decoded bytes, and NULL with 'skip' where they cannot be had."""
import sqlite3

import pytest

import corpus
import writer
from support import failure, message, place, quoted, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
MIB = 1 << 20
CUT = writer.zstd(bytes(100))[:-1]
DOUBTFUL = {"cut": writer.dense(CUT, [100], encoding="zstd", uncompressed_length=100),
            "long": writer.dense(writer.zstd(bytes(99)), [100], encoding="zstd", uncompressed_length=100),
            "unknown": writer.dense(b"1", [1], encoding="lz4"),
            "good": writer.dense(b"good"), "empty": writer.dense(b"", [0])}


@pytest.mark.parametrize("name, file, expected", corpus.golden(), ids=[n for n, _, _ in corpus.golden()])
@BOTH_WAYS
def test_golden_components_have_the_hash_that_zt_hash_gives(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    hashes = {(o, c): h for o, c, h in rows(db, "SELECT object, component, hash FROM zt_components(?, 'skip')", source)}
    everything = corpus.components_of(expected)
    assert len(hashes) == len(everything)
    for item in everything:
        at = source, item[0]["name"], item[1]["name"]
        if item[1]["decoded_sha256"] is None or corpus.out_of_reach(item, how):
            assert hashes[at[1:]] is None
            assert message(db, "SELECT hash FROM zt_components(?) WHERE object = ? AND component = ?", *at).startswith(place(*at))
        else:
            assert hashes[at[1:]] == value(db, "SELECT zt_hash(?, ?, ?, 'xxh3')", *at)


@BOTH_WAYS
def test_with_skip_what_cannot_be_decoded_has_no_hash_and_is_listed(db, save, how):
    file = writer.write(DOUBTFUL)
    source = file if how == "blob" else save("x.zt", file)
    good = {"good": writer.xxh3(b"good"), "empty": writer.xxh3(b"")}
    got = rows(db, "SELECT object, hash FROM zt_components(?, 'skip')", source)
    assert got == [(name, good.get(name)) for name in DOUBTFUL]
    for name in DOUBTFUL:
        for argument in ("", ", NULL", ", 'abort'"):
            sql = f"SELECT hash FROM zt_components(?{argument}) WHERE object = ?"
            if name in good:
                assert value(db, sql, source, name) == good[name]
            else:
                wrong = message(db, sql, source, name)
                assert wrong.startswith(place(source, name, "data"))
                assert wrong == message(db, "SELECT zt_hash(?, ?, 'xxh3')", source, name)


def test_skip_is_for_the_hash_alone(db):
    file = writer.write(DOUBTFUL)
    for column in ("data", "hash, data"):
        assert message(db, f"SELECT {column} FROM zt_components(?, 'skip') WHERE object = 'cut'", file).startswith(
            place(file, "cut", "data"))


def test_a_table_declared_with_skip_has_hashes_too(db, save):
    path = save("x.zt", writer.write(DOUBTFUL))
    save("y.zt", b"broken")
    source = path[:-len("x.zt")]
    db.execute(f"CREATE VIRTUAL TABLE temp.parts USING zt_components({quoted(source)}, skip)")
    assert rows(db, "SELECT count(*), count(hash) FROM parts") == [(5, 2)]


def test_shards_that_are_missing_have_no_hash(db):
    path = str(corpus.ROOT / "tests/formats/ztensor/golden/v2/hand_sharded_missing.zt")
    shown = rows(db, "SELECT shard, hash FROM zt_components(?, 'skip')", path)
    assert {hash is None for shard, hash in shown if shard is not None} == {True}
    assert all(hash.startswith("xxh3:") for shard, hash in shown if shard is None)
    assert "nowhere" in message(db, "SELECT hash FROM zt_components(?) WHERE shard IS NOT NULL", path)


def test_a_hash_needs_no_more_than_a_window(db, save):
    count = 1_000_000
    packed = writer.dense(writer.zstd_repeat(b"\5", count), [count], encoding="zstd", uncompressed_length=count)
    path = save("x.zt", writer.write({"raw": writer.dense(b"\5" * count), "zstd": packed}))
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    assert rows(db, "SELECT hash FROM zt_components(?)", path) == [(writer.xxh3(b"\5" * count),)] * 2


def test_what_nofs_does_not_decode_has_no_hash(connect):
    nofs = connect(entry="sqlite3_ztensor_nofs_init")
    nofs.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    bomb = writer.dense(writer.zstd_repeat(b"\1", 1 << 24), [1 << 24], encoding="zstd", uncompressed_length=1 << 24)
    file = writer.write({"bomb": bomb, "w": writer.dense(b"1")})
    assert failure(nofs, "SELECT hash FROM zt_components(?)", file).sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    assert rows(nofs, "SELECT object, hash FROM zt_components(?, 'skip')", file) == [("bomb", None), ("w", writer.xxh3(b"1"))]


def test_an_interrupt_ends_the_query_with_skip_too(db, save):
    path = save("x.zt", writer.write({"w": writer.dense(bytes(32 * MIB))}))
    # The handler runs in SQLite's own instructions: the interrupt is there before the bytes are read.
    db.create_function("stop", 0, lambda: db.interrupt() or 1)
    error = failure(db, "SELECT stop() AND hash FROM zt_components(?, 'skip')", path)
    assert error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT


@pytest.fixture
def large(save):
    """The path of a file whose blobs, a MiB each, lie from 1 MiB to 3 MiB."""
    return save("large.zt", writer.write({name: writer.dense(bytes([x]) * MIB) for name, x in (("a", 1), ("b", 2))},
                                         first_offset=MIB, gap=MIB))


def test_a_hash_reads_its_component_and_once(trace, large):
    got = trace(f"SELECT hash FROM zt_components('{large}') WHERE object = 'b';")
    assert got.out.strip() == writer.xxh3(b"\2" * MIB)
    assert (got.bytes_read(large, MIB, 2 * MIB), got.bytes_read(large, 2 * MIB, 3 * MIB)) == (0, MIB)


def test_a_hash_that_is_not_selected_reads_nothing(trace, large):
    got = trace(f"SELECT object, digest FROM zt_components('{large}', 'skip');")
    assert got.bytes_read(large, MIB, 3 * MIB) == 0
