"""The catalog over collections whose facts follow from how they were made: links, models in several files, sources that have files in common,
histories, files that are no tensor files, licences."""
import json
import os
import shutil
import sqlite3
import struct
import time

import pytest

import facts
import writer
from catalogs import SQL, ask, create, refresh, shell
from support import EXTENSION, open_connection
from test_merge import merge
from test_planted import passes
from write_gguf import STR, U16, File


@pytest.fixture
def catalog(tmp_path):
    return create(tmp_path / "catalog.db", "audit.sql")


@pytest.fixture
def planted(tmp_path):
    return facts.Planted(tmp_path / "models", 7)


def one(catalog, sql, *arguments):
    [row] = ask(catalog, sql, *arguments)
    return row


# ---------------------------------------------------------------------------------------------------------------- links

def test_a_file_on_disk_is_what_was_found_at_its_path(tmp_path, catalog, planted):
    """Not what was found at another name of it before."""
    for folder in ("new", "old"):
        os.makedirs(planted.path(folder))
    first = planted.write("old/b", "sha.zt", planted.model())
    refresh(catalog, os.path.dirname(first))
    path = planted.path("new/a" + first[-3:])
    os.link(first, path)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0\x46\0{'descr': '<f4', 'fortran_order': False, 'shape': (), }".ljust(80) + bytes(4))
    refresh(catalog, os.path.dirname(path))
    assert one(catalog, "SELECT path, names, container, size, objects FROM physical_files") == (path, 2, "npy", 84, 1)
    assert one(catalog, "SELECT p.file = f.id FROM physical_files AS p JOIN file AS f ON f.path = p.path") == (1,)

def test_totals_count_files_and_bytes_on_disk_once(tmp_path, catalog, planted):
    base, other = planted.model(), planted.model()
    a, b, c = planted.write("a", "sha.zt", base), planted.write("b", "st.safetensors", other), planted.write("c", "le.gguf", base)
    planted.link(a, "hard.zt")
    for i in range(2):
        os.makedirs(planted.path(f"snapshots/{i}"))
        planted.link(b, f"snapshots/{i}/model.safetensors", symbolic=True)
    refresh(catalog, planted.directory)
    sizes = [os.path.getsize(path) for path in (a, b, c)]
    assert one(catalog, "SELECT names, files, objects, parameters, bytes_on_disk, bytes_by_name FROM totals") == (
        6, 3, 9, 9 * 24, sum(sizes), sum(sizes) + sizes[0] + 2 * sizes[1])
    assert sorted(ask(catalog, "SELECT path, names FROM physical_files")) == [(a, 2), (b, 3), (c, 1)]
    assert ask(catalog, "SELECT type, objects, files, elements, bytes FROM dtype_totals") == [("f32", 9, 3, 9 * 24, 9 * 96)]
    assert ask(catalog, "SELECT format, objects, files, elements, bytes FROM format_totals") == [("dense", 9, 3, 9 * 24, 9 * 96)]
    assert sorted(ask(catalog, "SELECT container, files, objects, stored_bytes FROM generations")) == [
        ("gguf", 1, 3, 288), ("safetensors", 1, 3, 288), ("ztensor", 1, 3, 288)]
    assert one(catalog, "SELECT files, bytes, distinct_bytes FROM sources") == (6, sum(sizes) + sizes[0] + 2 * sizes[1], sum(sizes))


def test_a_file_without_tensors_has_no_bytes_of_tensors(tmp_path, catalog, planted):
    (tmp_path / "models/empty.zt").write_bytes(writer.write({}))
    refresh(catalog, planted.directory)
    assert one(catalog, "SELECT objects, parameters, stored_bytes, decoded_bytes, distinct_bytes FROM models") == (0, 0, 0, 0, 0)
    os.makedirs(tmp_path / "none")
    refresh(catalog, str(tmp_path / "none"))
    assert one(catalog, "SELECT files, broken, objects, bytes, distinct_bytes FROM sources WHERE source LIKE '%none'") == (0, 0, 0, 0, 0)


# ------------------------------------------------------------------------------------------------------ whole models

def split(planted, name, kind, model, parts, extension, digits=5):
    """A model in several files, its tensors dealt out; how they were dealt does not matter."""
    dealt = [{} for _ in range(parts)]
    for i, tensor in enumerate(planted.random.sample(sorted(model), len(model))):
        dealt[i % parts][tensor] = model[tensor]
    paths = []
    for i, part in enumerate(dealt):
        paths.append(planted.path(f"{name}-{i + 1:05d}-of-{parts:0{digits}d}.{extension}"))
        with open(paths[-1], "wb") as file:
            file.write(facts.WRITERS[kind](part, part))
    return paths


def test_a_model_in_several_files_is_one(tmp_path, catalog, planted):
    base, tuned = planted.model(7), planted.model(7)
    single = planted.write("single", "be.gguf", base)
    shards = split(planted, "model", "st.safetensors", base, 3, "safetensors")
    splits = split(planted, "quantity", "le.gguf", base, 2, "gguf")
    others = split(planted, "tuned", "st.safetensors", tuned, 3, "safetensors")
    alone = split(planted, "sub", "plain.zt", base, 1, "zt")
    refresh(catalog, planted.directory)
    columns = "replace(path, rtrim(path, replace(path, '/', '')), ''), parts, files, missing, broken, objects, parameters, stored_bytes, size"
    sizes = {name: sum(os.path.getsize(path) for path in paths) for name, paths in
             {"model.safetensors": shards, "quantity.gguf": splits, "tuned.safetensors": others, "sub.zt": alone,
              os.path.basename(single): [single]}.items()}
    assert sorted(ask(catalog, f"SELECT {columns} FROM whole_models")) == sorted(
        (name, parts, parts, None, 0, 7, 7 * 24, 7 * 96, sizes[name]) for name, parts in
        {"model.safetensors": 3, "quantity.gguf": 2, "tuned.safetensors": 3, "sub.zt": 1, os.path.basename(single): 1}.items())
    assert ask(catalog, "SELECT * FROM same_models") == ask(catalog, "SELECT made_of FROM whole_models WHERE fingerprint IS NOT NULL") == []
    for files in (2, 1, 1000):
        passes(catalog, "fingerprint", files=files)
    same = {os.path.basename(path) for path, in ask(catalog, "SELECT path FROM same_models")}
    assert same == {"model.safetensors", "quantity.gguf", "sub.zt", os.path.basename(single)}
    db = open_connection()
    [(expected,)] = db.execute("SELECT zt_fingerprint(?)", (single,)).fetchall()
    for paths in (shards, splits):
        assert db.execute("SELECT zt_fingerprint(object, fingerprint) FROM zt_objects(?)", (json.dumps(paths),)).fetchall() == [(expected,)]
    db.close()
    assert set(ask(catalog, "SELECT fingerprint FROM same_models")) == {(expected,)}
    # The facts about a changed part are unknown
    with open(shards[1], "r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x7f")
    os.utime(shards[1], (1, 1))
    refresh(catalog, planted.directory)
    assert one(catalog, "SELECT fingerprint FROM whole_models WHERE path LIKE '%/model.safetensors'") == (None,)
    passes(catalog, "fingerprint")
    assert one(catalog, "SELECT fingerprint IS NOT NULL FROM whole_models WHERE path LIKE '%/model.safetensors'") == (1,)
    assert "model.safetensors" not in {os.path.basename(path) for path, in ask(catalog, "SELECT path FROM same_models")}


def test_some_have_six_digits_for_how_many_parts_there_are(catalog, planted):
    paths = split(planted, "model", "st.safetensors", planted.model(7), 3, "safetensors", digits=6)
    refresh(catalog, planted.directory)
    assert one(catalog, "SELECT count(*), parts, files, missing, objects FROM whole_models") == (1, 3, 3, None, 7)
    os.unlink(paths[1])
    refresh(catalog, planted.directory)
    assert one(catalog, "SELECT count(*), parts, files, missing FROM whole_models") == (1, 3, 2, "model-00002-of-000003.safetensors")


def test_missing_and_broken_parts_are_said(tmp_path, catalog, planted):
    paths = split(planted, "m", "st.safetensors", planted.model(4), 4, "safetensors")
    os.unlink(paths[0])
    os.unlink(paths[2])
    with open(paths[3], "wb") as file:
        file.write(b"\xff" * 20)
    refresh(catalog, planted.directory)
    passes(catalog, "fingerprint")
    assert one(catalog, "SELECT parts, files, missing, broken, objects, fingerprint FROM whole_models") == (
        4, 2, "m-00001-of-00004.safetensors, m-00003-of-00004.safetensors", 1, 1, None)


def test_a_tensor_in_two_parts_is_no_model_of_one_file(tmp_path, catalog, planted):
    model = planted.model(2)
    for i in (1, 2):
        with open(planted.path(f"m-{i:05d}-of-00002.gguf"), "wb") as file:
            file.write(facts.gguf(model))
    refresh(catalog, planted.directory)
    passes(catalog, "fingerprint")
    assert one(catalog, "SELECT files, fingerprint FROM whole_models") == (2, None)


def test_a_first_split_without_tensors_is_a_part(tmp_path, catalog, planted):
    model = planted.model(2)
    single = planted.write("one", "le.gguf", model)
    with open(planted.path("m-00001-of-00002.gguf"), "wb") as file:
        file.write(File().key("split.no", U16, 0).key("split.count", U16, 2).bytes())
    with open(planted.path("m-00002-of-00002.gguf"), "wb") as file:
        file.write(facts.gguf(model))
    refresh(catalog, planted.directory)
    passes(catalog, "fingerprint")
    assert {path for path, in ask(catalog, "SELECT path FROM same_models")} == {single, planted.path("m.gguf")}


def test_names_of_parts_are_names_of_parts(tmp_path, catalog, planted):
    for name in ("a-00003-of-00002.zt", "b-0001-of-0002.zt", "c-00001-of-00002-x.zt", "d-00000-of-00002.zt"):
        (tmp_path / "models" / name).write_bytes(writer.sample())
    os.makedirs(tmp_path / "models/x-00001-of-00002.d")
    (tmp_path / "models/x-00001-of-00002.d/y.zt").write_bytes(writer.sample())
    refresh(catalog, planted.directory)
    assert ask(catalog, "SELECT * FROM model_parts") == []
    assert one(catalog, "SELECT count(*), max(parts) FROM whole_models") == (5, 1)


def test_whole_fingerprints_are_merged(tmp_path, catalog, planted):
    model = planted.model(3)
    split(planted, "m", "st.safetensors", model, 3, "safetensors")
    planted.write("one", "plain.zt", model)
    refresh(catalog, planted.directory)
    passes(catalog, "fingerprint")
    merged = create(tmp_path / "merged.db", "audit.sql")
    merge(merged, catalog)
    assert ask(merged, "SELECT path, fingerprint FROM same_models") == ask(catalog, "SELECT path, fingerprint FROM same_models") != []


# ------------------------------------------------------------------------------------------------------------ sources

@pytest.fixture
def two(tmp_path):
    """Two directories beside each other, each with a model."""
    for name in "ab":
        os.makedirs(tmp_path / "all" / name)
        (tmp_path / "all" / name / f"{name}.zt").write_bytes(writer.sample(fill=name.encode()))
    return {"all": str(tmp_path / "all"), **{name: str(tmp_path / "all" / name) for name in "ab"}}


@pytest.mark.parametrize("order", [("all", "a", "b"), ("a", "b", "all"), ("b", "all", "a")])
def test_sources_with_files_in_common_count_them_in_any_order(catalog, two, order):
    for name in order:
        refresh(catalog, two[name])
    counts = lambda: {source: files for source, files in ask(catalog, "SELECT source, files FROM sources")}
    assert counts() == {two["all"]: 2, two["a"]: 1, two["b"]: 1}
    assert dict(ask(catalog, "SELECT source, files FROM roots")) == counts()
    for gone, left in ((order[0], 2), (order[1], 2 if order[2] == "all" else 1), (order[2], 0)):
        db = sqlite3.connect(catalog)
        db.execute("DELETE FROM sources WHERE source = ?", (two[gone],))
        db.commit()
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        db.close()
        remaining = [name for name in order[order.index(gone) + 1:]]
        expected = {"a", "b"} if "all" in remaining else set(remaining)
        assert {os.path.basename(path)[0] for path, in ask(catalog, "SELECT path FROM files")} == expected
    assert ask(catalog, "SELECT * FROM found") == ask(catalog, "SELECT * FROM stamp") == []


def test_what_one_source_loses_goes_from_all(catalog, two):
    for name in ("all", "a"):
        refresh(catalog, two[name])
    os.unlink(two["a"] + "/a.zt")
    assert refresh(catalog, two["a"]) == {"removed": 1}
    assert dict(ask(catalog, "SELECT source, files FROM sources")) == {two["all"]: 1, two["a"]: 0}


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_move_between_two_sources_is_a_move(catalog, two, order):
    for name in "ab":
        refresh(catalog, two[name])
    passes(catalog, "fingerprint", "check")
    before = one(catalog, "SELECT fingerprint FROM files WHERE path = ?", two["a"] + "/a.zt")
    findings = ask(catalog, "SELECT object, rule, message FROM findings WHERE path = ? ORDER BY 1, 2, 3", two["a"] + "/a.zt")
    assert before != (None,) and findings
    os.rename(two["a"] + "/a.zt", two["b"] + "/moved.zt")
    reports = {name: refresh(catalog, two[name]) for name in order}
    assert reports["b"] == {"files": 2, "moved": 1, "unchanged": 1}
    assert one(catalog, "SELECT fingerprint FROM files WHERE path = ?", two["b"] + "/moved.zt") == before
    assert ask(catalog, "SELECT object, rule, message FROM findings WHERE path = ? ORDER BY 1, 2, 3", two["b"] + "/moved.zt") == findings
    assert passes(catalog, "fingerprint", "check") == [("fingerprint", 0, 0), ("check", 0, 0)]
    assert ask(catalog, "SELECT was, path FROM changes WHERE change = 'moved'") == [(two["a"] + "/a.zt", two["b"] + "/moved.zt")]
    assert dict(ask(catalog, "SELECT source, files FROM sources")) == {two["a"]: 0, two["b"]: 2}
    assert ask(catalog, "SELECT * FROM departed") == []


def test_what_has_departed_is_forgotten_when_all_sources_have_been_asked(catalog, two):
    for name in "ab":
        refresh(catalog, two[name])
    os.unlink(two["a"] + "/a.zt")
    refresh(catalog, two["a"])
    assert ask(catalog, "SELECT path FROM departed") == [(two["a"] + "/a.zt",)]
    refresh(catalog, two["b"])
    refresh(catalog, two["a"])
    assert ask(catalog, "SELECT path FROM departed") == []


# ---------------------------------------------------------------------------------------------------------- histories

def test_a_rewrite_in_place_whose_time_was_put_back_is_seen(tmp_path, catalog, planted):
    path = planted.write("m", "plain.zt", planted.model())
    refresh(catalog, planted.directory)
    passes(catalog, "fingerprint")
    before, state = one(catalog, "SELECT fingerprint FROM files"), os.stat(path)
    with open(path, "r+b") as file:
        file.seek(64)
        file.write(struct.pack("<f", -1))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (os.stat(path).st_mtime_ns, os.stat(path).st_ino, os.stat(path).st_size) == (state.st_mtime_ns, state.st_ino, state.st_size)
    assert passes(catalog, "check") == [("check", 0, 1)]   # It is not the file that was read
    assert refresh(catalog, planted.directory) == {"files": 1, "changed": 1}
    passes(catalog, "fingerprint")
    assert before != one(catalog, "SELECT fingerprint FROM files") != (None,)
    assert refresh(catalog, planted.directory) == {"files": 1, "unchanged": 1}


def test_times_have_all_their_digits(tmp_path, catalog, planted):
    path = planted.write("m", "plain.zt", planted.model())
    stamps = [1700000000123456789, 1700000000123456790]
    assert stamps[0] / 1e9 == stamps[1] / 1e9   # No double tells them apart
    for i, stamp in enumerate(stamps):
        os.utime(path, ns=(stamp, stamp))
        assert refresh(catalog, planted.directory) == {"files": 1, "changed" if i else "added": 1}
        assert one(catalog, "SELECT mtime_ns, ctime_ns FROM files") == (stamp, os.stat(path).st_ctime_ns)
    db = open_connection()
    assert db.execute("SELECT mtime_ns, ctime_ns FROM zt_files(?)", (path,)).fetchall() == [(stamps[1], os.stat(path).st_ctime_ns)]
    assert db.execute("SELECT mtime_ns, ctime_ns FROM zt_files(?)", (writer.sample(),)).fetchall() == [(None, None)]
    db.close()


def test_states_within_one_second_are_told_apart(tmp_path, catalog, planted):
    """Whichever is merged when: what the last refresh removed is removed, what it changed is as it was then."""
    merged = create(tmp_path / "merged.db", "audit.sql")
    kept, gone = planted.write("kept", "plain.zt", planted.model()), planted.write("gone", "plain.zt", planted.model())
    while time.time() % 1 > 0.2:
        time.sleep(0.01)
    db = open_connection(catalog)
    db.executescript((SQL / "refresh.sql").read_text())
    db.execute("INSERT INTO refresh(source) VALUES (?)", (planted.directory,))
    shutil.copy(catalog, tmp_path / "first.db")
    os.unlink(gone)
    db.execute("INSERT INTO refresh(source) VALUES (?)", (planted.directory,))
    [(first, second)] = db.execute("SELECT min(at), max(at) FROM change").fetchall()
    assert 0 < second - first < 1000   # Milliseconds
    db.close()
    merge(merged, str(tmp_path / "first.db"), catalog)
    assert ask(merged, "SELECT path FROM files") == [(kept,)]
    merge(merged, str(tmp_path / "first.db"))
    assert ask(merged, "SELECT path FROM files") == [(kept,)]
    other = create(tmp_path / "other.db", "audit.sql")
    merge(other, catalog, str(tmp_path / "first.db"))
    assert ask(other, "SELECT path FROM files") == [(kept,)]


def test_of_two_refreshes_one_is_the_later(tmp_path, catalog, planted):
    db = open_connection(catalog)
    db.executescript((SQL / "refresh.sql").read_text())
    seen = []
    for _ in range(20):
        db.execute("INSERT INTO refresh(source) VALUES (?)", (planted.directory,))
        seen += db.execute("SELECT refreshed FROM root").fetchall()
    db.close()
    assert seen == sorted(set(seen))


# ------------------------------------------------------------------------------------------- what is no tensor file

def test_files_without_extensions_are_found_by_a_pattern_and_the_rest_is_quiet(tmp_path, catalog, planted):
    """As in caches of DVC and of the Hugging Face hub."""
    os.makedirs(planted.path("files/md5/ab"))
    model = planted.model()
    for kind in ("st.safetensors", "plain.npz"):
        shutil.move(planted.write("m", kind, model), planted.path(f"files/md5/ab/{kind.replace('.', '')}"))
    for name, data in {"README": b"text", "config.json": b"{}", "files/md5/ab/cdef": b"\0" * 100, "empty": b""}.items():
        with open(planted.path(name), "wb") as file:
            file.write(data)
    with open(planted.path("page.safetensors"), "wb") as file:
        file.write(b"<!DOCTYPE html>" * 9)
    assert refresh(catalog, planted.directory) == {"files": 1, "added": 1, "broken": 1}
    source = planted.directory + "/**/*"
    assert refresh(catalog, source) == {"files": 3, "added": 2, "unchanged": 1, "broken": 1, "others": 4}
    assert refresh(catalog, source) == {"files": 3, "unchanged": 3, "broken": 1, "others": 4}
    assert ask(catalog, "SELECT path FROM broken") == [(planted.path("page.safetensors"),)]
    assert {os.path.basename(path) for path, in ask(catalog, "SELECT path FROM other_files")} == {"README", "config.json", "cdef", "empty"}
    assert one(catalog, "SELECT files, broken, others, unsupported FROM sources WHERE source = ?", source) == (3, 1, 4, 0)
    assert one(catalog, "SELECT files, broken, others FROM totals") == (3, 1, 4)
    assert {os.path.basename(path) for path, in ask(catalog, "SELECT path FROM unreferenced_files")} == {
        "stsafetensors", "plainnpz", "page.safetensors"}
    os.unlink(planted.path("README"))
    assert refresh(catalog, source) == {"files": 3, "unchanged": 3, "broken": 1, "others": 3}
    assert len(ask(catalog, "SELECT * FROM changes")) == 3
    with open(planted.path("config.json"), "wb") as file:   # By now it is one
        file.write(writer.sample())
    assert refresh(catalog, source) == {"files": 4, "changed": 1, "unchanged": 3, "broken": 1, "others": 2}
    passes(catalog, "fingerprint")
    assert len(ask(catalog, "SELECT * FROM same_models")) == 2


# --------------------------------------------------------------------------------------------------- licences, types

def test_a_link_to_a_licence_is_none_where_one_is_stated(tmp_path, catalog, planted):
    url = "https://www.apache.org/licenses/LICENSE-2.0"
    for name, keys in {"both": {"general.license": "apache-2.0", "general.license.link": url}, "link": {"general.license.link": url},
                       "null": {"general.license": "null"}, "none": {"license": "None", "license_name": " NULL "}}.items():
        file = File()
        for key, value in keys.items():
            file.key(key, STR, value)
        (tmp_path / f"models/{name}.gguf").write_bytes(file.tensor("w", [8], data=bytes(32)).bytes())
    refresh(catalog, planted.directory)
    assert sorted((os.path.basename(path), licence) for path, licence in ask(catalog, "SELECT path, licence FROM licences")) == [
        ("both.gguf", "apache-2.0"), ("link.gguf", url)]
    assert sorted(os.path.basename(path) for path, in ask(catalog, "SELECT path FROM unlicensed_files")) == ["none.gguf", "null.gguf"]


def test_quantized_tensors_are_called_by_their_names(tmp_path, catalog, planted):
    file = File().tensor("q", [64, 2], type=6, data=bytes(22 * 4)).tensor("k", [256], type=12, data=bytes(144)).tensor("f", [8], data=bytes(32))
    (tmp_path / "models/q.gguf").write_bytes(file.bytes())
    refresh(catalog, planted.directory)
    called = [("f32", 32), ("q4_k", 144), ("q5_0", 88)]
    assert sorted(ask(catalog, "SELECT type, bytes FROM dtype_totals")) == sorted(ask(catalog, "SELECT type, bytes FROM dtype_shares")) == called
    assert sorted(ask(catalog, "SELECT type, stored_bytes FROM largest_tensors")) == called
    assert ask(catalog, "SELECT type FROM names WHERE object = 'q'") == [("q5_0",)]


# --------------------------------------------------------------------------------------------------------- differences

@pytest.mark.parametrize("where", ["", " WHERE path_a = '{a}'", " WHERE path_a LIKE '%a%' AND path_b = '{a}'", " WHERE path_b > '{a}'",
                                   " WHERE path_a LIKE (SELECT '{a}') AND path_b = '{a}'"])
def test_differences_of_less_than_two_paths_say_what_is_needed(tmp_path, catalog, planted, where):
    a = planted.write("a", "plain.zt", planted.model())
    refresh(catalog, planted.directory)
    done = shell(catalog, f".load {EXTENSION}", f".read {SQL}/audit.sql", "SELECT * FROM differences" + where.format(a=a))
    assert done.out == "" and "ztensor: differences needs both paths, as values and not as subqueries: SELECT * FROM differences WHERE path_a = '" in done.err
