"""The catalog's answers over collections in which something is planted: the same model in several containers, a fine-tune, models that
have nothing to do with each other, tied weights, and files that were renamed, moved, linked or replaced."""
import json
import os
import pickle
import shutil
import sqlite3
import struct
import zlib

import numpy
import pytest

import tracing
import write_onnx as onnx
import writer
from catalogs import HOST, SQL, ask, create, refresh, refresh_commands, shell
from support import EXTENSION, ROOT, open_connection
from test_audit import CRC
from writer import dense

VALUES = {f"layer.{i}.weight": struct.pack("<24f", *range(i, i + 24)) for i in range(4)}


def safetensors(tensors, metadata=None):
    header, body = {"__metadata__": metadata} if metadata else {}, b""
    for name, data in tensors.items():
        header[name] = {"dtype": "F32", "shape": [4, 6], "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def zt_1(tensors, digest=None, **options):
    return writer.write({name: dense(data, [4, 6], "f32", **({"digest": digest(data)} if digest else {}))
                         for name, data in tensors.items()}, **options)


def zt_2(tensors, encode=True):
    return writer.write_2({name: dense(writer.seekable(data, 40), [4, 6], "f32", encoding=writer.SEEKABLE, decoded_length=len(data),
                                       digest=writer.sha256(data)) if encode else dense(data, [4, 6], "f32") for name, data in tensors.items()})


@pytest.fixture
def plant(tmp_path):
    """plant(name=bytes, ...): a catalog, with audit views, of models/name; again: the same one refreshed. It gives the report."""
    catalog = create(tmp_path / "catalog.db", "audit.sql")

    def plant(**files):
        os.makedirs(tmp_path / "models", exist_ok=True)
        for name, data in files.items():
            (tmp_path / "models" / name.replace("__", ".")).write_bytes(data)
            os.utime(tmp_path / "models" / name.replace("__", "."), (1e9, 1e9))
        plant.catalog, plant.models = catalog, tmp_path / "models"
        return refresh(catalog, str(tmp_path / "models"))

    return plant


def passes(catalog, *what, files=None):
    """The reports of second passes."""
    db = open_connection(catalog)
    db.executescript((SQL / "refresh.sql").read_text())
    for each in what:
        db.execute("INSERT INTO refresh_pass(pass, files) VALUES (?, ?)", (each, files))
    found = db.execute('SELECT pass, files, "left" FROM refresh_pass').fetchall()
    db.commit()
    db.close()
    return found


def differences(plant, a, b, columns="object, change"):
    return sorted(ask(plant.catalog, f"SELECT {columns} FROM differences WHERE path_a = ? AND path_b = ?",
                      str(plant.models / a), str(plant.models / b)), key=repr)


def names(rows):
    return sorted(os.path.basename(path) for path, *_ in rows)


SAME = dict(one__zt=zt_1(VALUES), two__zt=zt_2(VALUES), three__safetensors=safetensors(VALUES))


def test_the_same_model_in_three_containers(plant):
    other = {**VALUES, "layer.0.weight": VALUES["layer.1.weight"]}
    plant(**SAME, other__zt=zt_1(other))
    assert ask(plant.catalog, "SELECT * FROM same_models") == []   # No query has looked yet
    assert names(ask(plant.catalog, "SELECT path FROM families")) == ["one.zt", "other.zt", "three.safetensors", "two.zt"]
    assert differences(plant, "one.zt", "three.safetensors") == [(name, "unknown") for name in VALUES]
    assert passes(plant.catalog, "fingerprint") == [("fingerprint", 4, 0)]
    assert names(ask(plant.catalog, "SELECT path FROM same_models")) == ["one.zt", "three.safetensors", "two.zt"]
    assert len(set(ask(plant.catalog, "SELECT fingerprint FROM same_models"))) == 1
    assert differences(plant, "one.zt", "three.safetensors") == []
    assert differences(plant, "one.zt", "two.zt") == [(name, "reencoded") for name in VALUES]
    assert differences(plant, "other.zt", "three.safetensors") == [("layer.0.weight", "content")]
    assert differences(plant, "other.zt", "two.zt") == [("layer.0.weight", "content")] + [(name, "reencoded") for name in VALUES]


def test_digests_are_compared_only_if_they_cover_the_same_bytes(plant):
    """Those of zTensor 2 cover decoded bytes, before they cover stored ones: of a raw component that is the same."""
    stored = writer.write({name: dense(writer.zstd(data), [4, 6], "f32", encoding="zstd", uncompressed_length=len(data),
                                       digest=writer.sha256(writer.zstd(data))) for name, data in VALUES.items()})
    plant(raw__zt=zt_1(VALUES, writer.sha256), stored__zt=stored, decoded__zt=zt_2(VALUES))
    assert differences(plant, "raw.zt", "decoded.zt") == [(name, "reencoded") for name in VALUES]
    assert [change for _, change in differences(plant, "stored.zt", "decoded.zt")] == ["reencoded", "unknown"] * 4
    assert [change for _, change in differences(plant, "raw.zt", "stored.zt")] == ["reencoded", "unknown"] * 4


def test_a_fine_tune_differs_in_two_layers(plant):
    tuned = {**VALUES, "layer.1.weight": bytes(96), "layer.3.weight": VALUES["layer.0.weight"]}
    plant(base__zt=zt_1(VALUES, writer.sha256), tuned__zt=zt_1(tuned, writer.sha256), plain__safetensors=safetensors(tuned))
    changed = [("layer.1.weight", "content"), ("layer.3.weight", "content")]
    assert differences(plant, "base.zt", "tuned.zt") == changed
    assert differences(plant, "base.zt", "plain.safetensors") == [(name, "unknown") for name in VALUES]
    passes(plant.catalog, "fingerprint")
    assert differences(plant, "base.zt", "plain.safetensors") == changed
    assert sorted(ask(plant.catalog, "SELECT evidence, copies, files FROM duplicates")) == [("values", 2, 2), ("values", 3, 3), ("values", 5, 3)]


def test_unrelated_models_without_digests_are_not_taken_for_equal(plant):
    """One has the other's names and shapes, one does not."""
    unrelated = {name: bytes([7]) * 96 for name in VALUES}
    plant(a__safetensors=safetensors(VALUES), b__safetensors=safetensors(unrelated), c__safetensors=safetensors({"x": bytes(96)}))
    assert differences(plant, "a.safetensors", "b.safetensors") == [(name, "unknown") for name in VALUES]
    assert differences(plant, "a.safetensors", "c.safetensors") == [
        *((name, "removed") for name in VALUES), ("x", "added")]


def test_a_path_that_is_not_in_the_catalog_is_said_to_be_so(plant, tmp_path):
    plant(a__zt=zt_1(VALUES))
    there, typo = str(plant.models / "a.zt"), str(plant.models / "tpyo.zt")
    sql = "SELECT path_a, path_b, change, before, after FROM differences WHERE path_a = '%s' AND path_b = '%s'"
    done = shell(plant.catalog, f".load {EXTENSION}", f".read {SQL}/audit.sql", sql % (there, typo), sql % ("models/a.zt", there),
                 sql % (there, there), cwd=tmp_path)
    assert (done.err, done.out.splitlines()) == ("", [f"{there}|{typo}|not in the catalog||{typo}",
                                                      f"models/a.zt|{there}|not in the catalog|{there}|"])


def test_tied_weights_count_once(plant):
    tied = writer.write({"w": dense(b"w" * 100), "tied": {"shape": [100], "components": {"data": {"offset": 64, "length": 100}}},
                         "half": {"shape": [60], "components": {"data": {"offset": 192, "length": 60}}}, "other": dense(b"o" * 60)})
    plant(tied__zt=tied)
    assert ask(plant.catalog, "SELECT stored_bytes, distinct_bytes FROM models") == [(320, 160)]
    assert [row[4:] for row in ask(plant.catalog, "SELECT path, shard, offset, length, object, shared FROM tied_weights")] == [
        ("tied", 2), ("w", 2), ("half", 2), ("other", 2)]


# ----------------------------------------------------------------------------------------------- files and their names

def test_a_renamed_and_a_moved_file_are_not_read_again(plant, tmp_path):
    assert plant(a__zt=zt_1(VALUES, attributes={"of": "a"}), b__zt=zt_1(VALUES)) == {"files": 2, "added": 2}
    ids = dict(ask(plant.catalog, "SELECT attributes, file FROM files"))
    os.makedirs(plant.models / "deep")
    os.rename(plant.models / "a.zt", plant.models / "c.zt")
    os.rename(plant.models / "b.zt", plant.models / "deep/b.zt")
    done = shell(plant.catalog, *refresh_commands(str(plant.models)), prefix=tracing.command(tmp_path / "log"))
    assert json.loads(done.out)[0]["moved"] == 2 and tracing.Trace((tmp_path / "log").read_text(), done).tensor_files() == []
    assert names(ask(plant.catalog, "SELECT path FROM files")) == ["b.zt", "c.zt"]
    assert dict(ask(plant.catalog, "SELECT attributes, file FROM files")) == ids
    moved = ask(plant.catalog, "SELECT was, path FROM changes WHERE change = 'moved' ORDER BY was")
    assert moved == [(str(plant.models / a), str(plant.models / b)) for a, b in (("a.zt", "c.zt"), ("b.zt", "deep/b.zt"))]


def test_another_file_with_the_inode_of_one_that_is_gone_has_not_moved(plant):
    """As archives that put all times alike unpack them; file systems use an inode's number again at once."""
    for attempt in range(50):
        plant(**{f"a{attempt}__zt": zt_1(VALUES, attributes={"of": "a"})})
        before = plant.models / f"a{attempt}.zt"
        os.utime(before, ns=(10**18, 10**18))
        plant()
        known = os.stat(before)
        os.unlink(before)
        after = plant.models / f"b{attempt}.zt"
        after.write_bytes(zt_1(VALUES, attributes={"of": "b"}))
        os.utime(after, ns=(10**18, 10**18))
        found = os.stat(after)
        assert (known.st_size, known.st_mtime_ns) == (found.st_size, found.st_mtime_ns)
        report = plant()
        assert (report.get("moved"), report["added"], report["removed"]) == (None, 1, 1)
        assert ask(plant.catalog, "SELECT attributes FROM files") == [('{"of":"b"}',)]
        os.unlink(after)
        plant()
        if known.st_ino == found.st_ino:
            return
    raise AssertionError("no inode's number was used again")


def test_an_npy_file_that_moves_is_read_again(plant, tmp_path):
    shutil.copy(next((ROOT / "tests/formats/npy/golden").glob("*.npy")), tmp_path / "a.npy")
    os.makedirs(tmp_path / "models")
    os.rename(tmp_path / "a.npy", tmp_path / "models/a.npy")
    plant()
    assert ask(plant.catalog, "SELECT object FROM objects") == [("a",)]
    os.rename(plant.models / "a.npy", plant.models / "b.npy")
    assert plant() == {"files": 1, "added": 1, "removed": 1}
    assert ask(plant.catalog, "SELECT object FROM objects") == [("b",)]


def test_two_names_of_one_file_are_no_duplicates(plant):
    plant(a__zt=zt_1(VALUES, writer.sha256))
    os.link(plant.models / "a.zt", plant.models / "b.zt")
    os.symlink("a.zt", plant.models / "c.zt")
    assert plant() == {"files": 3, "added": 2, "changed": 1}   # A hard link changes ctime
    passes(plant.catalog, "fingerprint")
    for view in ("duplicates", "copies", "same_models"):
        assert ask(plant.catalog, f"SELECT * FROM {view}") == [], view
    [(size, distinct)] = ask(plant.catalog, "SELECT bytes, distinct_bytes FROM sources")
    assert size == 3 * distinct == 3 * os.path.getsize(plant.models / "a.zt")
    shutil.copy(plant.models / "a.zt", plant.models / "d.zt")
    plant()
    assert ask(plant.catalog, "SELECT DISTINCT copies, files, evidence FROM duplicates") == [(2, 2, "proof")]
    assert len(ask(plant.catalog, "SELECT * FROM copies")) == 4 * len(VALUES)
    passes(plant.catalog, "fingerprint")
    assert names(ask(plant.catalog, "SELECT path FROM same_models")) == ["a.zt", "b.zt", "c.zt", "d.zt"]


def test_a_file_replaced_by_one_of_equal_size_and_time_is_read(plant):
    plant(a__zt=zt_1(VALUES, attributes={"of": "a"}))
    new = plant.models / "new"
    new.write_bytes(zt_1(VALUES, attributes={"of": "b"}))
    os.utime(new, (1e9, 1e9))
    os.replace(new, plant.models / "a.zt")
    assert plant() == {"files": 1, "changed": 1}
    assert ask(plant.catalog, "SELECT value FROM file_attributes") == [("b",)]


@pytest.mark.parametrize("source", ["models", "./models", "models/", "../{}/models", "models/../models", "link"])
def test_one_collection_by_whatever_name(plant, tmp_path, source):
    os.makedirs(tmp_path / "models")
    os.symlink("models", tmp_path / "link")
    plant(a__zt=zt_1(VALUES, writer.sha256))
    source = source.format(tmp_path.name)
    assert refresh(plant.catalog, source, cwd=tmp_path) == {"files": 1, "unchanged": 1}
    assert ask(plant.catalog, "SELECT host, path, source FROM roots") == [(HOST, str(plant.models), str(plant.models))]
    assert ask(plant.catalog, "SELECT * FROM duplicates") == []


def test_roots_are_directories(plant, tmp_path):
    plant(a__zt=zt_1(VALUES))
    for source in ("models/a.zt", "models/*.zt", "models/**/[a]*.zt", '["models/a.zt", "models"]'):
        refresh(plant.catalog, source, cwd=tmp_path)
    assert {path for _, path, *_ in ask(plant.catalog, "SELECT * FROM roots")} == {str(plant.models), "/"}
    assert ask(plant.catalog, "SELECT source FROM roots ORDER BY root DESC LIMIT 1") == [(f'["{plant.models}/a.zt","{plant.models}"]',)]


# --------------------------------------------------------------------------------------------------- evidence and runs

def test_repeated_digests(plant):
    plant(a__zt=zt_1(VALUES, writer.sha256), b__zt=writer.write({"w": dense(b"c" * 8, digest=CRC["a"]), "x": dense(b"y")}))
    assert ask(plant.catalog, "SELECT * FROM repeated_digests") == []
    shutil.copy(plant.models / "b.zt", plant.models / "c.zt")
    plant()
    assert ask(plant.catalog, "SELECT digest, length, component FROM repeated_digests") == [("crc32c:abcdef01", 8, "data")] * 2
    assert ask(plant.catalog, "SELECT evidence, copies FROM duplicates") == [("candidate", 2)]


def test_repeated_fingerprints(plant):
    plant(**SAME)
    passes(plant.catalog, "fingerprint")
    assert len(ask(plant.catalog, "SELECT * FROM repeated_fingerprints")) == 12
    assert {row[:3] for row in ask(plant.catalog, "SELECT evidence, copies, files, spare_bytes FROM duplicates")} == {("values", 3, 3)}
    assert len(ask(plant.catalog, "SELECT * FROM copies")) == 12


def test_models_of_all_formats_are_models(plant):
    """Only zTensor's data shards are none: what other formats say in place of a manifest is not counted in manifest_bytes."""
    formats = ROOT / "tests/formats"
    files = {"a.h5": "hdf5/golden/keras.weights.h5", "b.h5": "hdf5/golden/keras.weights.h5", "m.mat": "matlab/golden/*.mat",
             "m.msgpack": "msgpack/golden/*.msgpack", "m.tflite": "tflite/golden/*.tflite", "m.onnx": "onnx/golden/*.onnx", "m.gguf": "gguf/golden/*.gguf"}
    plant()
    for name, source in files.items():
        shutil.copy(sorted(formats.glob(source))[0], plant.models / name)
    plant()
    passes(plant.catalog, "fingerprint")
    for view in ("whole_models", "unlicensed_files UNION SELECT path FROM licences", "unreferenced_files"):
        assert names(ask(plant.catalog, f"SELECT path FROM {view}")) == sorted(files), view
    assert names(ask(plant.catalog, "SELECT path FROM same_models")) == ["a.h5", "b.h5"]


def test_external_data_exist_once(plant):
    """However many models refer to them, and by whichever spelling."""
    plant(**{f"{name}__onnx": onnx.model(onnx.graph([onnx.tensor("w", [1000], 2, onnx.external(location=place, offset="0", length="1000"))]))
             for name, place in (("a", "w.bin"), ("b", "./w.bin"), ("c", "w.bin"))})
    (plant.models / "w.bin").write_bytes(os.urandom(1000))
    plant()

    def hashed():
        done = shell(plant.catalog, f".load {EXTENSION}", f".read {SQL / 'audit.sql'}", "SELECT copies, files, spare_bytes FROM hashed_duplicates")
        assert done.err == ""
        return done.out.split()

    assert hashed() == []
    shutil.copy(plant.models / "w.bin", plant.models / "v.bin")
    plant(d__onnx=onnx.model(onnx.graph([onnx.tensor("w", [1000], 2, onnx.external(location="v.bin", offset="0", length="1000"))])))
    assert hashed() == ["2|2|1000"]


def test_a_shard_whose_name_ends_as_another_one(plant):
    contents = {"base": b"B" * 200, "a-base": b"A" * 200}
    shards = {name: writer.data_shard(data) for name, data in contents.items()}
    plant(model__zt=writer.write_2({name: writer.in_shard(name, 4096, 200) for name in contents}, shards=shards),
          other__zt=writer.write({"p": dense(contents["base"]), "q": dense(contents["a-base"])}),
          **{f"model-{name}__zt": shard for name, shard in shards.items()})
    done = shell(plant.catalog, f".load {EXTENSION}", f".read {SQL / 'audit.sql'}", "SELECT copies, files FROM hashed_duplicates")
    assert (done.out.split(), done.err) == (["2|2", "2|2"], "")


def test_a_name_that_makes_a_file_a_tensor_file_comes_first(plant):
    """The hub's cache: a pointer of git in place of a model, whose other name has no end."""
    plant()
    os.mkdir(plant.models / "blobs")
    (plant.models / "blobs/0123abcd").write_text("version https://git-lfs.github.com/spec/v1\n")
    os.link(plant.models / "blobs/0123abcd", plant.models / "model.safetensors")
    (plant.models / "notes.txt").write_text("notes")
    refresh(plant.catalog, f"{plant.models}/**/*")
    size = os.path.getsize(plant.models / "model.safetensors")
    assert ask(plant.catalog, "SELECT names, files, broken, others, bytes_on_disk, bytes_by_name FROM totals") == [(1, 1, 1, 1, size, size)]
    assert ask(plant.catalog, "SELECT files, broken, others, distinct_bytes FROM sources WHERE source GLOB '*[*]*'") == [(1, 1, 2, size)]
    assert names(ask(plant.catalog, "SELECT path FROM physical_files")) == ["model.safetensors", "notes.txt"]


def test_numbers_beyond_64_signed_bits_are_texts(plant):
    plant()
    for name in ("1.2-zstd-ulen-max.zt", "2-L1-2-64-1-elements.zt"):
        for path in (ROOT / "tests/formats/ztensor/hostile").glob(name):
            shutil.copy(path, plant.models)
    plant()
    assert ask(plant.catalog, "SELECT max(decoded_bytes) FROM largest_tensors") == [("18446744073709551615",)]
    views = ("largest_tensors", "digests", "missing_digests", "objects", "components")
    for view in views:
        columns = [column for column, in ask(plant.catalog, f"SELECT name FROM pragma_table_info('{view}')")]
        assert ask(plant.catalog, f"SELECT count(*) FROM {view} WHERE " + " OR ".join(f"typeof({column}) = 'blob'" for column in columns)) == [(0,)], view


def test_a_compressed_pickle_ties_nothing(plant):
    """Its arrays have one range of the file's bytes."""
    arrays = {"x": numpy.arange(10.0), "y": numpy.arange(10.0) + 1, "z": numpy.arange(10.0)}
    plant(z__pkl_z=zlib.compress(pickle.dumps(arrays, 4)), raw__pkl=pickle.dumps({**arrays, "tied": arrays["x"]}, 4))
    os.rename(plant.models / "z.pkl_z", plant.models / "z.pkl.z")
    plant()
    assert sorted((os.path.basename(path), name) for path, name in ask(plant.catalog, "SELECT path, object FROM tied_weights")) == [("raw.pkl", "tied"), ("raw.pkl", "x")]
    done = shell(plant.catalog, f".load {EXTENSION}", f".read {SQL / 'audit.sql'}", "SELECT copies, files FROM hashed_duplicates ORDER BY 1")
    assert (done.out.split(), done.err) == (["2|2", "4|2"], "")


CHUNKED = ROOT / "tests/formats/hdf5/golden/indexes.h5"   # Five datasets of one content; their chunks have no one offset


def test_contents_that_are_not_in_one_piece(plant):
    def duplicates():
        passes(plant.catalog, "fingerprint")
        return ask(plant.catalog, "SELECT copies, files, evidence FROM duplicates ORDER BY copies DESC")

    def expected(files):
        db = open_connection()
        return db.execute("""SELECT count(*) * ?, ?, 'values' FROM zt_objects(?) WHERE stored_bytes > 0 AND fingerprint IS NOT NULL
                             GROUP BY fingerprint HAVING count(*) * ? > 1 ORDER BY 1 DESC""", (files, files, str(CHUNKED), files)).fetchall()

    plant(one__h5=CHUNKED.read_bytes())
    assert duplicates() == expected(1) and expected(1)[0][0] == 5
    assert len(ask(plant.catalog, "SELECT * FROM copies")) == sum(copies for copies, *_ in expected(1))
    os.link(plant.models / "one.h5", plant.models / "same.h5")   # Another name is no copy
    plant()
    assert duplicates() == expected(1)
    os.unlink(plant.models / "same.h5")
    plant(two__h5=CHUNKED.read_bytes())
    assert duplicates() == expected(2)
    assert len(ask(plant.catalog, "SELECT * FROM copies")) == sum(copies for copies, *_ in expected(2))
    assert ask(plant.catalog, "SELECT DISTINCT distinct_bytes = stored_bytes FROM models") == [(1,)]
    hashed = shell(plant.catalog, f".load {EXTENSION}", f".read {SQL / 'audit.sql'}", "SELECT max(copies) FROM hashed_duplicates")
    assert hashed.out.strip() == "10", hashed


def test_run_copies(plant):
    plant(**SAME)
    os.link(plant.models / "one.zt", plant.models / "name.zt")
    plant()
    passes(plant.catalog, "fingerprint")
    db = sqlite3.connect(plant.catalog)
    db.execute("INSERT INTO run_files VALUES ('mine', 'm.db', 'r1', 'n', 'finished', ?, 1, ?)", (str(plant.models / "one.zt"), HOST))
    db.commit()
    db.close()
    assert sorted(ask(plant.catalog, "SELECT copy, evidence FROM run_copies")) == [
        (str(plant.models / "name.zt"), "name"), (str(plant.models / "three.safetensors"), "values"), (str(plant.models / "two.zt"), "values")]
    assert ask(plant.catalog, "SELECT path, host FROM runs") == [(str(plant.models / "one.zt"), HOST)]


LICENCES = {"license": "MIT", "licence": "a", "licenses": ["b"], "general.license": "c", "modelspec.license": "d"}


def test_licences_of_files_and_tensors(plant):
    of_tensor = writer.write({"w": dict(dense(b"x"), attributes={"license": "of w"}), "v": dense(b"y")})
    plant(f__zt=writer.write({}, attributes=LICENCES), t__zt=of_tensor, none__zt=writer.write({"v": dense(b"y")}))
    found = ask(plant.catalog, "SELECT path, object, licence FROM licences")
    assert sorted((os.path.basename(p), o, text) for p, o, text in found) == sorted([
        *(("f.zt", None, text) for text in ("MIT", "a", '["b"]', "c", "d")), ("t.zt", "w", "of w")], key=repr)
    assert names(ask(plant.catalog, "SELECT path FROM unlicensed_files")) == ["none.zt"]


# ------------------------------------------------------------------------------------------------------- second passes

def test_a_pass_goes_on_where_it_stopped(plant):
    damaged = zt_1(VALUES, lambda data: writer.sha256(b"other"))
    plant(**{f"f{i}__zt": zt_1({"w": bytes([i]) * 96}) for i in range(5)}, damaged__zt=damaged, broken__zt=b"broken")
    assert passes(plant.catalog, "check", "fingerprint", "check", files=2) == [("check", 2, 4), ("fingerprint", 2, 4), ("check", 2, 2)]
    assert passes(plant.catalog, "check", "fingerprint") == [("check", 2, 0), ("fingerprint", 4, 0)]
    assert passes(plant.catalog, "check") == [("check", 0, 0)]
    found = ask(plant.catalog, "SELECT path, object, rule FROM findings WHERE severity = 'error'")
    assert found == [(str(plant.models / "damaged.zt"), name, "digest-mismatch") for name in VALUES]
    plant(damaged__zt=zt_1(VALUES, writer.sha256, attributes={"longer": 1}))   # Another file: what was known of it is forgotten
    assert ask(plant.catalog, "SELECT * FROM findings WHERE rule = 'digest-mismatch'") == []
    assert passes(plant.catalog, "check", "fingerprint") == [("check", 1, 0), ("fingerprint", 1, 0)]


def test_a_pass_leaves_what_cannot_be_opened_or_has_changed(plant, tmp_path):
    plant(**{f"f{i}__zt": zt_1({"w": bytes([i]) * 96}) for i in range(3)})
    (tmp_path / "models").rename(tmp_path / "away")
    assert passes(plant.catalog, "check", "fingerprint") == [("check", 0, 3), ("fingerprint", 0, 3)]
    (tmp_path / "away").rename(tmp_path / "models")
    (plant.models / "f0.zt").write_bytes(zt_1(VALUES))
    assert passes(plant.catalog, "check", "fingerprint", files=1) == [("check", 1, 2), ("fingerprint", 1, 2)]
    assert passes(plant.catalog, "check", "fingerprint") == [("check", 1, 1), ("fingerprint", 1, 1)]
    assert {rule for rule, in ask(plant.catalog, "SELECT rule FROM findings")} == {"missing-digest"}
    plant()
    assert passes(plant.catalog, "check", "fingerprint") == [("check", 1, 0), ("fingerprint", 1, 0)]


def test_a_pass_opens_no_more_files_than_it_goes_over(plant, tmp_path):
    plant(**{f"f{i}__zt": zt_1({"w": bytes([i]) * 96}) for i in range(20)})
    commands = [f".load {EXTENSION}", f".read {SQL}/refresh.sql", "INSERT INTO refresh_pass(pass, files) VALUES ('fingerprint', 3), ('check', 3)"]
    done = shell(plant.catalog, *commands, prefix=tracing.command(tmp_path / "log"))
    opened = set(tracing.Trace((tmp_path / "log").read_text(), done).tensor_files())
    assert len(opened) == 3 and done.err == ""


def test_a_model_that_moves_away_from_its_other_files_is_read_again(plant):
    """By the name of its new place it has others."""
    shard = writer.data_shard(b"one " * 16)
    plant(m__zt=sharded(b"one " * 16), **{"m-s__zt": shard, "n-s__zt": writer.data_shard(b"two " * 16)})
    assert passes(plant.catalog, "fingerprint")[0][2] == 0
    (plant.models / "m.zt").rename(plant.models / "n.zt")
    report = plant()
    assert (report["added"], report["removed"]) == (1, 1)
    assert ask(plant.catalog, "SELECT path, fingerprint FROM files WHERE path LIKE '%/n.zt'") == [(str(plant.models / "n.zt"), None)]
    assert ask(plant.catalog, "SELECT path FROM external") == [(str(plant.models / "n-s.zt"),)]


def test_a_pass_leaves_a_model_whose_other_files_are_away_or_have_changed(plant):
    plant(m__zt=sharded(b"one " * 16), **{"m-s__zt": writer.data_shard(b"one " * 16)})
    shard = plant.models / "m-s.zt"
    assert passes(plant.catalog, "check")[0][2] == 0
    shard.rename(plant.models / "away")
    assert passes(plant.catalog, "fingerprint")[0][2] == 2   # The shard is a file of its own
    (plant.models / "away").rename(shard)   # Which it shows by its ctime
    assert passes(plant.catalog, "fingerprint")[0][2] == 2
    plant()
    assert passes(plant.catalog, "fingerprint")[0][2] == 0
    [(known,)] = ask(plant.catalog, "SELECT fingerprint FROM files WHERE path LIKE '%/m.zt'")
    assert known


def test_a_machine_may_have_another_name(plant):
    """As a container needs: by zt_host(name), which refreshes, passes and audits go by."""
    plant(zero__zt=zt_1({"w": bytes(96)}))
    db = open_connection(plant.catalog)
    db.executescript("DELETE FROM sources; SELECT zt_host('box');" + (SQL / "refresh.sql").read_text() + (SQL / "audit.sql").read_text())
    db.execute("INSERT INTO refresh(source) VALUES (?)", (str(plant.models),))
    db.execute("INSERT INTO refresh_pass(pass) VALUES ('fingerprint')")
    assert db.execute("SELECT * FROM refresh_pass").fetchall() == [("fingerprint", 1, 0, "box")]
    assert db.execute("SELECT host, fingerprint IS NOT NULL FROM files").fetchall() == [("box", 1)]
    assert db.execute("SELECT object FROM suspect_tensors").fetchall() == [("w",)]
    db.execute("SELECT zt_host(NULL)")
    assert db.execute("SELECT zt_host()").fetchall() == [(HOST,)]
    db.close()


@pytest.mark.parametrize("name", ["''", "1", "x'62'", "char(98, 0)"])
def test_a_machine_has_a_name(db, name):
    with pytest.raises(sqlite3.Error, match="^ztensor: a host's name is a text that is not empty$"):
        db.execute(f"SELECT zt_host({name})")


def sharded(data):
    shard = writer.data_shard(data)
    return writer.write_2({"w": writer.in_shard("s", 4096, len(data))}, shards={"s": dict(size=len(shard), digest="nobodys:00")})


def with_external_data(location, n):
    return onnx.model(onnx.graph([onnx.tensor("w", [n], onnx.UINT8, onnx.external(location=location, offset="0", length=str(n)))]))


# A model, and the file in which its bytes are
ELSEWHERE = {"model.zt": (sharded, "model-s.zt", writer.data_shard), ".zt": (sharded, ".zt-s.zt", writer.data_shard),
             "model": (sharded, "model-s.zt", writer.data_shard),
             "sub.dir/model.onnx": (lambda data: with_external_data("more/w.data", len(data)), "sub.dir/more/w.data", bytes)}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_copies_of_bytes_in_another_file_are_counted(tmp_path, name):
    """Two models with the same bytes in files of their own waste them, but two models that refer to the same file do not."""
    write, beside, hold = ELSEWHERE[name]
    catalog, data = create(tmp_path / "catalog.db", "audit.sql"), b"same" * 16
    paths = [tmp_path / folder / path for folder in ("one", "two") for path in (name, beside)]
    for path, content in zip(paths, [write(data), hold(data)] * 2):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if name.endswith(".onnx"):
        paths[0].with_name("third.onnx").write_bytes(write(data))
    models = [*map(str, paths[::2]), *map(str, tmp_path.rglob("third.onnx"))]
    refresh(catalog, json.dumps(models))
    passes(catalog, "fingerprint")
    assert ask(catalog, "SELECT copies, files, length, spare_bytes, type, object FROM duplicates") == [(2, 2, 64, 64, "u8", "w")]
    assert [path for path, in ask(catalog, "SELECT path FROM copies")] == sorted(models)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_bytes_in_another_file_are_bytes_of_the_model(tmp_path, name):
    """A model's facts are forgotten when a file with its bytes changes; the model is not read again without need."""
    write, beside, hold = ELSEWHERE[name]
    catalog, model, other = create(tmp_path / "catalog.db"), tmp_path / name, tmp_path / beside
    other.parent.mkdir(parents=True, exist_ok=True)
    model.write_bytes(write(b"one " * 16))
    other.write_bytes(hold(b"one " * 16))
    assert refresh(catalog, str(model)) == {"files": 1, "added": 1}
    assert ask(catalog, "SELECT path, size FROM external") == [(str(other), other.stat().st_size)]
    assert refresh(catalog, str(model)) == {"files": 1, "unchanged": 1}
    assert passes(catalog, "fingerprint") == [("fingerprint", 1, 0)]
    [(before,)] = ask(catalog, "SELECT fingerprint FROM files")
    other.write_bytes(hold(b"two " * 16))
    assert refresh(catalog, str(model)) == {"files": 1, "changed": 1}
    assert ask(catalog, "SELECT fingerprint, (SELECT count(*) FROM fingerprint) FROM files") == [(None, 0)]
    assert passes(catalog, "fingerprint") == [("fingerprint", 1, 0)]
    [(after,)] = ask(catalog, "SELECT fingerprint FROM files")
    assert before and after and before != after
    other.unlink()
    assert refresh(catalog, str(model)) == {"files": 1, "changed": 1}
    assert refresh(catalog, str(model)) == {"files": 1, "unchanged": 1}


def test_a_reshape_is_no_change_of_content(plant):
    plant(a__zt=writer.write({"w": dense(bytes(range(24)), [2, 12])}), b__zt=writer.write({"w": dense(bytes(range(24)), [12, 2])}))
    assert differences(plant, "a.zt", "b.zt") == [("w", "reshaped")]
    assert passes(plant.catalog, "fingerprint") == [("fingerprint", 2, 0)]
    assert differences(plant, "a.zt", "b.zt") == [("w", "reshaped")]


def test_a_pass_that_nobody_knows_is_refused(plant):
    plant()
    with pytest.raises(sqlite3.Error, match="a pass is check or fingerprint"):
        passes(plant.catalog, "chekc")


def test_a_file_without_all_fingerprints_has_none(plant):
    odd = writer.write({"w": dense(b"x"), "odd": dict(dense(b"1234"), format="unheard-of")})
    plant(odd__zt=odd)
    assert passes(plant.catalog, "fingerprint") == [("fingerprint", 1, 0)]
    assert ask(plant.catalog, "SELECT object, fingerprint IS NULL FROM objects ORDER BY 1") == [("odd", 1), ("w", 0)]
    assert ask(plant.catalog, "SELECT fingerprint FROM files") == [(None,)]
    assert passes(plant.catalog, "fingerprint") == [("fingerprint", 0, 0)]


def test_the_history_of_a_collection(plant):
    plant(a__zt=zt_1(VALUES), b__zt=zt_1(VALUES))
    plant(a__zt=zt_1(VALUES, attributes={"n": 1}))
    os.unlink(plant.models / "b.zt")
    plant()
    plant()
    assert ask(plant.catalog, "SELECT change, path FROM changes") == [
        (change, str(plant.models / name)) for change, name in (("added", "a.zt"), ("added", "b.zt"), ("changed", "a.zt"), ("removed", "b.zt"))]


def test_files_of_one_architecture_and_layout_share_them(plant):
    """Metadata, which move the data, do not matter. A catalog keeps no layout that no file has."""
    plant(**{f"f{i}__safetensors": safetensors(VALUES, {"run": "x" * i * 9}) for i in range(6)}, z__zt=zt_1(VALUES))
    assert [ask(plant.catalog, f"SELECT count(*) FROM {t}")[0][0] for t in ("architecture", "layout", "tensor", "part")] == [1, 2, 4, 8]
    assert len(ask(plant.catalog, "SELECT DISTINCT offset FROM components WHERE object = 'layer.0.weight'")) == 7
    os.unlink(plant.models / "z.zt")
    plant()
    assert ask(plant.catalog, "SELECT count(*) FROM layout") == [(1,)]
