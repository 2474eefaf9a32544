"""sql/audit.sql: each view over a small collection of which the answer is known. A view's test is test_ and its name."""
import hashlib
import os
import sqlite3
import struct
from pathlib import Path

import pytest

import catalogs
import tracing
import writer
from catalogs import SQL, create, refresh, shell
from support import EXTENSION, TODAYS_PLANS, open_connection, rows
from writer import dense


@pytest.fixture
def build(tmp_path, monkeypatch):
    """build(name=bytes, ...): a catalog with audit views over models/name.zt; the test runs where the paths are good."""
    monkeypatch.chdir(tmp_path)

    def build(**files):
        os.makedirs("models", exist_ok=True)
        for name, data in files.items():
            with open(f"models/{name}.zt", "wb") as file:
                file.write(data)
        create("catalog.db", "audit.sql")
        refresh("catalog.db", "models")
        return "catalog.db"

    return build


def absolute(sql):
    """With the paths that a catalog has, which are written from the test's directory."""
    return sql.replace("'models/", f"'{os.getcwd()}/models/")


def relative(found):
    return [tuple(v.replace(os.getcwd() + "/", "") if isinstance(v, str) else v for v in row) for row in found]


def ask(catalog, sql):
    """Rows, by a connection without ztensor. Paths are from the test's directory."""
    return relative(catalogs.ask(catalog, absolute(sql)))


def audit(catalog, sql):
    """The same by a connection with ztensor and the TEMP views."""
    db = open_connection(catalog)
    db.executescript((SQL / "audit.sql").read_text())
    found = rows(db, absolute(sql))
    db.close()
    return relative(found)


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def f32(*values, **fields):
    return dense(floats(*values), [len(values)], "f32", **fields)


def test_every_view_is_tested():
    planted = "".join((Path(__file__).parent / name).read_text() for name in ("test_planted.py", "test_facts.py"))
    elsewhere = {"same_models", "families", "refuted_digests", "duplicate_digests"}   # Of those, several tests there ask
    assert [view for view in catalogs.views("audit.sql") if "test_" + view not in globals() and f"def test_{view}(" not in planted
            and not (view in elsewhere and f"FROM {view}" in planted)] == []


@pytest.mark.parametrize("view", catalogs.views("audit.sql"))
def test_a_view_of_nothing_is_empty(build, view):
    assert audit(build(), f"SELECT * FROM {'main.' if view == 'differences' else ''}{view}") == []


# ---------------------------------------------------------------------------------------------------------- duplicates

CRC = dict(a="crc32c:0xABCDEF01", b="crc32c:abcdef01", c="CRC32C:0Xabcdef01")


def test_digests(build):
    catalog = build(a=writer.write({name: dense(b"same", digest=digest) for name, digest in CRC.items()}),
                    b=writer.write({"none": dense(b"x"), "odd": dense(b"x", digest="deadbeef"),
                                    "empty": dense(b"x", digest=""),
                                    "sha": dense(b"x", digest="SHA256:" + "AB" * 32)}))
    assert ask(catalog, "SELECT object, algorithm, digest FROM digests ORDER BY path, object") == [
        ("a", "crc32c", "crc32c:abcdef01"), ("b", "crc32c", "crc32c:abcdef01"), ("c", "crc32c", "crc32c:abcdef01"),
        ("empty", None, None), ("none", None, None), ("odd", None, None), ("sha", "sha256", "sha256:" + "ab" * 32)]


def duplicated():
    """Two contents in several places, one by a checksum; the same digest of another dtype, encoding or length; a tied pair."""
    digest = sha256(b"w" * 16)
    return {
        "a": writer.write({"w": dense(b"w" * 16, digest=digest), "tied": {"shape": [16], "components": {
                               "data": {"offset": 64, "length": 16, "digest": digest}}},
                           "crc": dense(b"c" * 8, digest=CRC["a"]), "alone": dense(b"z", digest=sha256(b"z"))}),
        "b": writer.write({"w": dense(b"w" * 16, digest=digest.upper()), "crc": dense(b"c" * 8, digest=CRC["b"]),
                           "longer": dense(b"c" * 9, digest=CRC["b"]), "nothing": dense(b"", digest=sha256(b""))}),
        "c": writer.write({"signed": dense(b"w" * 16, dtype="i8", digest=digest), "nothing": dense(b"", digest=sha256(b"")),
                           "coded": dense(b"w" * 16, [99], encoding="zstd", uncompressed_length=99, digest=digest)})}


def test_duplicates(build):
    catalog = build(**duplicated())
    assert ask(catalog, "SELECT * FROM duplicates") == [
        (sha256(b"w" * 16), "u8", "raw", "little", 16, 2, 2, 16, "proof", "models/a.zt", "models/b.zt", "u8", "w"),
        ("crc32c:abcdef01", "u8", "raw", "little", 8, 2, 2, 8, "candidate", "models/a.zt", "models/b.zt", "u8", "crc")]


@pytest.mark.parametrize("second", [lambda data, digest: writer.seekable_dense(data, 16, digest=digest),
                                    lambda data, digest: dense(data, digest=digest)], ids=["zstd", "same"])
def test_duplicates_within_a_file_are_of_one_file(build, second):
    """Also if they are stored otherwise."""
    data, digest = bytes(range(16)), sha256(bytes(range(16)))
    catalog = build(a=writer.write_2({"raw": dense(data, digest=digest), "other": second(data, digest)}))
    assert ask(catalog, "SELECT copies, files FROM duplicates") == [(2, 1)]
    assert len(ask(catalog, "SELECT * FROM copies")) == 2


def test_copies(build):
    catalog = build(**duplicated())
    assert ask(catalog, "SELECT substr(digest, 1, 6), path, object FROM copies") == [
        ("crc32c", "models/a.zt", "crc"), ("crc32c", "models/b.zt", "crc"),
        ("sha256", "models/a.zt", "tied"), ("sha256", "models/a.zt", "w"), ("sha256", "models/b.zt", "w")]


def test_tied_weights(build):
    catalog = build(**duplicated())
    assert ask(catalog, "SELECT path, shard, offset, length, object, component, shared FROM tied_weights") == [("models/a.zt", None, 64, 16, "tied", "data", 2),
                                                          ("models/a.zt", None, 64, 16, "w", "data", 2)]


def test_what_is_no_digest_proves_nothing(build):
    files = {name: writer.write({"w": dense(content * 20, digest=digest), "v": dense(content, digest="blake3:" + "0" * 64)})
             for name, content, digest in (("a", b"a", "sha256:TODO"), ("b", b"b", "sha256:TODO"))}
    catalog = build(**files)
    assert ask(catalog, "SELECT * FROM duplicates") == []
    assert ask(catalog, "SELECT DISTINCT verdict FROM component_pairs WHERE path_a < path_b") == [("unknown",)]
    assert len(ask(catalog, "SELECT * FROM missing_digests")) == 4
    assert by_text(audit(catalog, "SELECT object FROM hashed_differences WHERE path_a < path_b")) == [("v",), ("w",)]


def test_tied_weights_are_no_copies(build):
    tied = {"shape": [16], "components": {"data": {"offset": 64, "length": 16, "digest": sha256(b"w" * 16)}}}
    catalog = build(a=writer.write({"w": dense(b"w" * 16, digest=sha256(b"w" * 16)), "tied": tied}))
    assert ask(catalog, "SELECT * FROM duplicates") == ask(catalog, "SELECT * FROM copies") == []


def test_more_elements_than_an_integer_holds(build):
    huge = writer.sparse_coo([2**31, 2**31], [[0, 0]], b"\1")
    catalog = build(a=writer.write({"v": huge, "w": huge}))
    for view in ("models", "architectures", "dtype_shares", "format_shares", "dtype_totals", "format_totals"):
        assert len(ask(catalog, f"SELECT * FROM {view}")) == 1, view
    assert ask(catalog, "SELECT parameters FROM models") == [(2**63 - 1,)]


def test_a_path_that_has_become_a_pattern_names_no_other_file(build, tmp_path):
    catalog = build(**{"a*b": writer.write({"w": f32(1, 1)}), "aXb": writer.write({"w": f32(0, 0)})})
    os.unlink(next(tmp_path.rglob("a[*]b.zt")))
    assert audit(catalog, "SELECT path, finding FROM suspect_tensors") == [("models/aXb.zt", "all zero")]
    for view in ("uninterpreted_tensors", "digest_failures", "hashed_duplicates"):
        assert audit(catalog, f"SELECT * FROM {view}") == [], view


def test_hashed_differences_pass_over_what_cannot_be_decoded(build):
    catalog = build(a=writer.write({"w": f32(1)}), c=writer.write({"w": f32(2)}),
                    b=writer.write({"w": dense(writer.zstd(b"1234")[:-2], [1], "f32", encoding="zstd", uncompressed_length=4)}))
    assert audit(catalog, "SELECT path_a, path_b FROM hashed_differences WHERE path_a < path_b") == [("models/a.zt", "models/c.zt")]


MIB = 1 << 20


def read_by(catalog, tmp_path, sql):
    """(what a view says, bytes read of the MiB in each of three files)."""
    done = shell(catalog, f".load {EXTENSION}", f".read {SQL}/audit.sql", absolute(sql), prefix=tracing.command(tmp_path / "log"))
    assert done.err == ""
    traced = tracing.Trace((tmp_path / "log").read_text(), done)
    return done.out.replace(f"{tmp_path}/", "").split(), [traced.bytes_read(f"{tmp_path}/models/{name}.zt", MIB, 2 * MIB) for name in "abc"]


def test_views_that_hash_read_what_they_are_asked_for_and_once(build, tmp_path):
    catalog = build(**{name: writer.write({"w": dense(bytes([byte]) * MIB)}, first_offset=MIB)
                       for name, byte in (("a", 1), ("b", 2), ("c", 1))})
    assert read_by(catalog, tmp_path, "SELECT first_path, last_path, copies FROM hashed_duplicates") == (
        ["models/a.zt|models/c.zt|2"], [MIB] * 3)
    differences = "SELECT object, before <> after FROM hashed_differences WHERE path_a = 'models/a.zt' AND path_b = 'models/b.zt'"
    assert read_by(catalog, tmp_path, differences) == (["w|1"], [MIB, MIB, 0])


def test_hashed_duplicates(build):
    same = b"0123456789abcdef" * 4
    catalog = build(
        a=writer.write({"w": dense(same), "tied": {"shape": [64], "components": {"data": {"offset": 64, "length": 64}}},
                        "digested": dense(b"d" * 32, digest=sha256(b"d" * 32)), "alone": dense(b"a" * 5)}),
        b=writer.write({"w": dense(writer.zstd(same), [64], encoding="zstd", uncompressed_length=64),
                        "other": dense(b"x" * 64),
                        "signed": dense(same, dtype="i8"), "digested": dense(b"d" * 32, digest=sha256(b"d" * 32)),
                        "corrupt": dense(b"no zstd", [64], encoding="zstd", uncompressed_length=64),
                        "unknown": dense(same, encoding="lz4")}))
    stored = len(writer.zstd(same))
    found = audit(catalog, """SELECT dtype, decoded_length, copies, files, spare_bytes, first_path, last_path
                              FROM hashed_duplicates""")
    assert found == [("u8", 64, 2, 2, 64, "models/a.zt", "models/b.zt")] and stored > 64
    os.unlink("models/b.zt")
    assert audit(catalog, "SELECT * FROM hashed_duplicates") == []


# --------------------------------------------------------------------------------------------------------- differences

OLD = {
    "same": f32(1, 2, digest=sha256(floats(1, 2))), "removed": dense(b"r"), "retyped": f32(1, 2),
    "reshaped": dense(b"123456", [2, 3]), "grown": dense(b"12", digest=sha256(b"12")),
    "content": f32(1, 2, digest=sha256(floats(1, 2))),
    "case": dense(b"c", digest=CRC["a"]), "other.algorithm": dense(b"c", digest=CRC["a"]), "told.by.nothing": dense(b"1"),
    "reencoded": dense(b"same"), "reformatted": dict(dense(b"\1\0"),
                                                     attributes={"bits": 4, "same": 1, "flag": True, "gone": None}),
    "sparse": writer.sparse_csr([2, 2], [0, 1, 1], [0], b"\1"),
    "index": writer.sparse_csr([1, 2], [0, 1], [0], b"\1", index="u64"),
}
NEW = {
    "same": f32(1, 2, digest=sha256(floats(1, 2))), "added": dense(b"a", [1, 1]), "retyped": dense(b"\0" * 4, [2], "f16"),
    "reshaped": dense(b"123456", [3, 2]), "grown": dense(b"123", digest=sha256(b"123")),
    "content": f32(1, 3, digest=sha256(floats(1, 3))),
    "case": dense(b"c", digest=CRC["b"]), "other.algorithm": dense(b"c", digest=sha256(b"c")), "told.by.nothing": dense(b"2"),
    "reencoded": dense(writer.zstd(b"same"), [4], encoding="zstd", uncompressed_length=4),
    "reformatted": dict(writer.sparse_coo([2], [[0]], b"\1"), attributes={"bits": 8, "same": 1, "flag": False, "new": "n"}),
    "sparse": writer.sparse_csr([2, 2], [0, 1, 2], [0, 1], b"\1\2"),
    "index": writer.sparse_csr([1, 2], [0, 1], [0], b"\1", index="u32"),
}
BETWEEN = "path_a = 'models/old.zt' AND path_b = 'models/new.zt'"
DIFFERENCES = [
    (None, "license", "attributes", "MIT", "GPL"), (None, "step", "attributes", 1, None),
    (None, "tag", "attributes", None, "x"),
    ("added", None, "added", None, "u8[1,1]"), ("removed", None, "removed", "u8[1]", None),
    ("retyped", None, "retyped", "f32", "f16"), ("reshaped", None, "reshaped", "[2,3]", "[3,2]"),
    ("grown", None, "reshaped", "[2]", "[3]"), ("reencoded", "data", "reencoded", "raw", "zstd"),
    ("content", "data", "content", sha256(floats(1, 2)), sha256(floats(1, 3))),
    ("reformatted", None, "reformatted", "dense", "sparse_coo"), ("reformatted", "data", "recomposed", "u8", None),
    ("reformatted", "coords", "recomposed", None, "u64"), ("reformatted", "values", "recomposed", None, "u8"),
    ("reformatted", "bits", "attributes", 4, 8), ("reformatted", "flag", "attributes", "true", "false"),
    ("reformatted", "gone", "attributes", "null", None), ("reformatted", "new", "attributes", None, "n"),
    ("sparse", "indices", "content", 8, 16), ("sparse", "values", "content", 1, 2),
    ("index", "indices", "retyped", "u64", "u32"), ("index", "indptr", "retyped", "u64", "u32"),
    ("case", "data", "unknown", "crc32c:abcdef01", "crc32c:abcdef01"), ("told.by.nothing", "data", "unknown", None, None),
    ("other.algorithm", "data", "unknown", "crc32c:abcdef01", sha256(b"c")), ("reencoded", "data", "unknown", None, None),
    ("sparse", "indptr", "unknown", None, None), ("index", "values", "unknown", None, None),
]


@pytest.fixture
def versions(build):
    return build(old=writer.write(OLD, attributes={"license": "MIT", "step": 1, "map": {"a": [1]}}),
                 new=writer.write(NEW, attributes={"license": "GPL", "tag": "x", "map": {"a": [1]}}), broken=b"broken")


def by_text(found):
    return sorted(found, key=repr)


def test_differences(versions):
    columns = "object, part, change, before, after"
    assert by_text(ask(versions, f"SELECT {columns} FROM differences WHERE {BETWEEN}")) == by_text(DIFFERENCES)
    backwards = ask(versions, """SELECT object, part, change FROM differences
                                 WHERE path_b = 'models/old.zt' AND path_a = 'models/new.zt'""")
    swapped = {"added": "removed", "removed": "added"}
    assert by_text(backwards) == by_text((o, part, swapped.get(change, change)) for o, part, change, _, _ in DIFFERENCES)
    assert ask(versions, "SELECT * FROM differences WHERE path_a = path_b AND path_a <> 'models/broken.zt'") == []
    [(change, before, after)] = ask(versions, "SELECT change, before, after FROM differences"
                                              " WHERE path_a = 'models/broken.zt' AND path_b = 'models/new.zt'")
    assert (change, before[:26], after) == ("unreadable", "ztensor: models/broken.zt:"[:26], None)


@TODAYS_PLANS
@pytest.mark.parametrize("view", ["differences", "component_pairs"])
def test_differences_of_two_files_are_looked_up(versions, view):
    plan = [detail for *_, detail in ask(versions, f"EXPLAIN QUERY PLAN SELECT * FROM {view} WHERE {BETWEEN}")]
    assert [step for step in plan if step.startswith("SCAN") and step not in ("SCAN CONSTANT ROW", "SCAN c", f"SCAN {view}")] == []
    found = [step for step in plan if step.startswith(("SEARCH a ", "SEARCH b "))]
    assert len(found) >= 2 and all("path=?" in step for step in found)


def test_component_pairs(versions):
    found = dict(ask(versions, f"SELECT object || '/' || component, verdict FROM component_pairs WHERE {BETWEEN}"))
    assert found == {
        "same/data": "same", "retyped/data": "unknown", "reshaped/data": "unknown", "grown/data": "changed",
        "content/data": "changed",
        "case/data": "unknown", "other.algorithm/data": "unknown", "told.by.nothing/data": "unknown",
        "reencoded/data": "unknown",
        "sparse/values": "changed", "sparse/indices": "changed", "sparse/indptr": "unknown", "index/values": "unknown",
        "index/indices": "unknown", "index/indptr": "unknown"}


def test_hashed_differences(versions):
    found = audit(versions, f"""SELECT object, part, change, before LIKE 'xxh3:%', before <> after
                                FROM hashed_differences WHERE {BETWEEN}""")
    assert by_text(found) == [("sparse", "indptr", "content", 1, 1), ("told.by.nothing", "data", "content", 1, 1)]


# -------------------------------------------------------------------------------------------------------------- shares

def shared():
    return {"a": writer.write({"w": f32(1, 2, 3), "v": f32(4), "b": dense(b"\0" * 4, [2], "f16"),
                               "f8": dense(b"\0" * 4, type="f8_e4m3fn"),
                               "s": writer.sparse_csr([2, 2], [0, 1, 1], [0], b"\1", index="u8")}),
            "b": writer.write({"w": f32(*range(12))}), "empty": writer.write({})}


def test_dtype_shares(build):
    assert ask(build(**shared()), "SELECT * FROM dtype_shares ORDER BY path, dtype, type") == [
        ("models/a.zt", "f16", "f16", 1, 2, 4, 13.79), ("models/a.zt", "f32", "f32", 2, 4, 16, 55.17),
        ("models/a.zt", "u8", "f8_e4m3fn", 1, 4, 4, 13.79), ("models/a.zt", "u8", "u8", 1, 4, 5, 17.24),
        ("models/b.zt", "f32", "f32", 1, 12, 48, 100.0)]


def test_dtype_totals(build):
    assert ask(build(**shared()), "SELECT * FROM dtype_totals") == [
        ("f32", "f32", 3, 2, 16, 64, 83.12), ("u8", "u8", 1, 1, 4, 5, 6.49),
        ("f16", "f16", 1, 1, 2, 4, 5.19), ("u8", "f8_e4m3fn", 1, 1, 4, 4, 5.19)]


def test_format_shares(build):
    assert ask(build(**shared()), "SELECT * FROM format_shares ORDER BY path, format") == [
        ("models/a.zt", "dense", 4, 10, 24, 82.76), ("models/a.zt", "sparse_csr", 1, 4, 5, 17.24),
        ("models/b.zt", "dense", 1, 12, 48, 100.0)]


def test_format_totals(build):
    assert ask(build(**shared()), "SELECT * FROM format_totals") == [("dense", 5, 2, 22, 72, 93.51),
                                                                     ("sparse_csr", 1, 1, 4, 5, 6.49)]


def test_largest_tensors(build):
    catalog = build(**shared())
    assert ask(catalog, "SELECT path, object, decoded_bytes FROM largest_tensors LIMIT 3") == [
        ("models/b.zt", "w", 48), ("models/a.zt", "w", 12), ("models/a.zt", "s", 5)]
    db = sqlite3.connect(catalog)
    db.execute("UPDATE part SET decoded_length = CAST('18446744073709551615' AS BLOB) WHERE name = (SELECT id FROM name WHERE name = 'v')")
    assert db.execute("SELECT object FROM largest_tensors").fetchone() == ("v",)
    db.close()


# ------------------------------------------------------------------------------------------------------- what is missing

LICENSED = {"license": "MIT", "LICENCE": "Apache-2.0", "general.license": "gpl", "License_Name": "x",
            "info": {"model-licence": ["a"]}}
UNLICENSED = {"license": "", "licence": " \n", "general.license": None, "license.name": [], "license_id": False,
              "unlicensed": "x",
              "licensee": "y"}


def test_licences(build):
    catalog = build(a=writer.write({}, attributes=LICENSED), b=writer.write({}, attributes=UNLICENSED),
                    c=writer.sample("0.1"))
    found = ask(catalog, "SELECT path, licence FROM licences")
    assert sorted(found) == [("models/a.zt", licence) for licence in sorted(["MIT", "Apache-2.0", "gpl", "x", '["a"]'])]


def test_unlicensed_files(build):
    files = {f"yes{i}": writer.write({}, attributes={key: value}) for i, (key, value) in enumerate(LICENSED.items())}
    files.update({f"no{i}": writer.write({}, attributes={key: value}) for i, (key, value) in enumerate(UNLICENSED.items())})
    catalog = build(**files, broken=b"broken", of_object=writer.write({"w": dict(dense(b"x"),
                                                                                 attributes={"license": "MIT"})}))
    assert [path for path, *_ in ask(catalog, "SELECT * FROM unlicensed_files ORDER BY path")] == [
        *(f"models/no{i}.zt" for i in range(len(UNLICENSED)))]


def test_missing_digests(build):
    catalog = build(a=writer.write({"w": dense(b"x", digest=sha256(b"x")), "v": dense(b"yy"), "e": dense(b"z", digest="")}))
    assert ask(catalog, "SELECT path, object, component, dtype, length FROM missing_digests ORDER BY object") == [
        ("models/a.zt", "e", "data", "u8", 1), ("models/a.zt", "v", "data", "u8", 2)]


# ---------------------------------------------------------------------------------------------------------------- runs

def with_runs(build):
    catalog = build(a=writer.sample(), b=writer.sample())
    db = sqlite3.connect(catalog)
    db.executemany("INSERT INTO run_files VALUES ('mlflow', 'mlflow.db', ?, ?, 'finished', ?, 60.5, '')",
                   [("r1", "baseline", os.path.abspath("models/a.zt")), ("r2", "wider", os.path.abspath("models/gone.zt"))])
    db.commit()
    db.close()
    return catalog


def test_unreferenced_files(build):
    assert ask(with_runs(build), "SELECT path, size, error FROM unreferenced_files") == [("models/b.zt",
                                                                                          len(writer.sample()), None)]


def test_lost_runs(build):
    assert ask(with_runs(build), "SELECT * FROM lost_runs") == [
        ("mlflow", "mlflow.db", "r2", "wider", "finished", "models/gone.zt", "1970-01-01 00:01:00", "")]


# ------------------------------------------------------------------------------------------------- views that read tensors

NAN, INF = float("nan"), float("inf")


def values():
    return {"a": writer.write({
        "fine": f32(0, 1), "zeros": f32(0, 0, 0), "near": f32(*[0] * 99, 1), "less.near": f32(*[0] * 98, 1, 1),
        "nan": f32(1, NAN),
        "inf": f32(INF, 1, -INF), "both": f32(*[0] * 198, NAN, INF), "empty": dense(b"", [0, 4], "f32"),
        "sparse": writer.sparse_csr([1, 1000], [0, 1], [5], b"\1"),
        "sparse.zeros": writer.sparse_csr([1, 10], [0, 0], [], b""),
        "odd": dict(dense(b"1234"), format="unheard-of")}), "broken": b"broken", "gone": writer.write({"zeros": f32(0)})}


def test_suspect_tensors(build):
    catalog = build(**values())
    os.unlink("models/gone.zt")
    found = audit(catalog, "SELECT object, finding, elements, zeros, nans, infs, min, max FROM suspect_tensors ORDER BY object")
    assert found == [("both", "near-empty, NaN, infinite", 200, 198, 1, 1, 0, 0), ("empty", "empty", 0, 0, 0, 0, None, None),
                     ("inf", "infinite", 3, 0, 0, 2, 1, 1), ("nan", "NaN", 2, 0, 1, 0, 1, 1),
                     ("near", "near-empty", 100, 99, 0, 0, 0, 1), ("sparse.zeros", "all zero", 10, 10, 0, 0, 0, 0),
                     ("zeros", "all zero", 3, 3, 0, 0, 0, 0)]


def test_uninterpreted_tensors(build):
    assert audit(build(**values()), "SELECT path, object, error LIKE '%unheard-of%' FROM uninterpreted_tensors") == [
        ("models/a.zt", "odd", 1)]


def test_digest_failures(build):
    catalog = build(a=writer.write({"ok": dense(b"x", digest=sha256(b"x")), "none": dense(b"x"),
                                    "wrong": dense(b"y", digest=sha256(b"x")),
                                    "odd": dense(b"x", digest="md5:00")}))
    assert audit(catalog, "SELECT object, component, rule FROM digest_failures ORDER BY object") == [
        ("odd", "data", "unknown-digest"), ("wrong", "data", "digest-mismatch")]


def test_a_condition_on_the_path_opens_one_file(build, tmp_path):
    catalog = build(**values(), other=writer.write({"zeros": f32(0)}))
    for view in ("suspect_tensors", "uninterpreted_tensors", "digest_failures"):
        done = shell(catalog, f".load {EXTENSION}", f".read {SQL}/audit.sql",
                     absolute(f"SELECT count(*) FROM {view} WHERE path = 'models/other.zt'"),
                     prefix=tracing.command(tmp_path / "log"))
        assert done.err == ""
        opened = tracing.Trace((tmp_path / "log").read_text(), done).tensor_files()
        assert {os.path.basename(path) for path in opened} == {"other.zt"}


# ------------------------------------------------------------------------------------------------------------ the script

def test_it_can_be_read_twice_and_over_the_views_of_an_older_version(build):
    catalog = build(**duplicated())
    db = sqlite3.connect(catalog)
    db.executescript("DROP VIEW duplicates; CREATE VIEW duplicates AS SELECT 'of an older version'")
    db.close()
    done = shell(catalog, f".load {EXTENSION}", f".read {SQL}/audit.sql", f".read {SQL}/audit.sql",
                 "SELECT count(*) FROM suspect_tensors")
    assert (done.err, done.out) == ("", "2\n")
    assert len(ask(catalog, "SELECT * FROM duplicates")) == 2


def test_the_views_that_stay_need_no_ztensor(build):
    catalog = build(**duplicated())
    stay = [name for (name,) in ask(catalog, "SELECT name FROM sqlite_master WHERE type = 'view'")]
    assert set(stay) | {"suspect_tensors", "uninterpreted_tensors", "digest_failures", "hashed_duplicates",
                        "hashed_differences"} == {
        *catalogs.views("catalog.sql"), *catalogs.views("audit.sql")}
    done = shell(catalog, *(f"SELECT count(*) FROM {view}" for view in stay))
    assert (done.err, len(done.out.splitlines())) == ("", len(stay))
