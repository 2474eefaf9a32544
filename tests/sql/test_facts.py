"""The catalog over collections with planted facts (facts.py): what it says is what follows from how the files were made."""
import os
from collections import defaultdict

import pytest

import facts
import writer
from catalogs import ask, create, refresh
from test_planted import passes
from writer import dense


@pytest.fixture
def catalog(tmp_path):
    return create(tmp_path / "catalog.db", "audit.sql")


def grouped(rows):
    """Sets of the rest of the rows by their first value."""
    groups = defaultdict(set)
    for key, *rest in rows:
        groups[key].add(tuple(rest) if len(rest) > 1 else rest[0])
    return {frozenset(group) for group in groups.values()}


def differences(catalog, a, b):
    """Without what is only of the storage."""
    return sorted(ask(catalog, "SELECT object, change FROM differences WHERE path_a = ? AND path_b = ? AND change NOT IN ('reencoded', 'attributes')", a, b))


@pytest.mark.parametrize("seed", range(3))
def test_what_was_read_decides(tmp_path, catalog, seed):
    planted = facts.collection(tmp_path / "models", seed)
    refresh(catalog, planted.directory)
    passes(catalog, "fingerprint", "check", files=1000)
    assert grouped(ask(catalog, "SELECT fingerprint, path FROM same_models")) == planted.same_models()
    contents = planted.contents()
    assert grouped(ask(catalog, "SELECT digest, path, object FROM copies")) == set(contents)
    assert sorted(ask(catalog, "SELECT copies FROM duplicates")) == sorted((n,) for n in contents.values())
    assert {e for e, in ask(catalog, "SELECT evidence FROM duplicates")} <= {"proof", "values"}
    for a, b in planted.pairs():
        assert differences(catalog, a, b) == planted.differences(a, b), (a, b)
    found = ask(catalog, "SELECT path, object FROM findings WHERE rule = 'digest-mismatch'")
    linked = {name: planted.corrupted[path] for name, path in planted.names.items() if path in planted.corrupted}
    assert dict(found) == {**planted.corrupted, **linked}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("what", [(), ("check",), ("fingerprint",)])
def test_digests_decide_where_nobody_has_read(tmp_path, catalog, seed, what):
    """No false fact is proved, except about unread bytes; no true fact is denied."""
    planted = facts.collection(tmp_path / "models", seed)
    refresh(catalog, planted.directory)
    passes(catalog, *what, files=1000)
    true = set(planted.contents())
    proved = grouped(ask(catalog, "SELECT digest, path, object FROM copies WHERE digest IN (SELECT digest FROM duplicates WHERE evidence <> 'candidate')"))
    if what:
        assert all(any(group <= content for content in true) for group in proved)
    else:   # The corrupted copies say that they are none
        corrupted = {(path, name) for path, name in planted.corrupted.items()}
        assert all(any(group - corrupted <= content for content in true) for group in proved)
    assert any(len(group) >= 4 for group in proved)
    for a, b in planted.pairs():
        found, expected = differences(catalog, a, b), planted.differences(a, b)
        assert all(row in expected or row[1] == "unknown" for row in found if a not in planted.corrupted and b not in planted.corrupted), (a, b)
        if what:
            named = {name for name, _ in found}
            assert {name for name, _ in expected} <= named, (a, b)


@pytest.mark.parametrize("digest", [writer.sha256, facts.crc32c])
@pytest.mark.parametrize("what", [("fingerprint",), ("check",), ("fingerprint", "check")])
def test_a_corrupted_copy_is_no_copy(tmp_path, catalog, digest, what):
    """A byte is flipped where the tensor is."""
    data = bytes(range(64))
    file = writer.write({"w": dense(data, digest=digest(data)), "v": dense(data[::-1], digest=digest(data[::-1]))})
    os.makedirs(tmp_path / "models")
    (tmp_path / "models/a.zt").write_bytes(file)
    (tmp_path / "models/b.zt").write_bytes(file.replace(data, data[:-1] + b"\0"))
    refresh(catalog, str(tmp_path / "models"))
    passes(catalog, *what)
    a, b = str(tmp_path / "models/a.zt"), str(tmp_path / "models/b.zt")
    assert set(ask(catalog, "SELECT object FROM copies")) == {("v",)}
    assert len(ask(catalog, "SELECT * FROM duplicates")) == 1
    change = "content" if "fingerprint" in what else "unknown"
    unknown = [("v", "unknown")] if digest is facts.crc32c and "fingerprint" not in what else []
    assert differences(catalog, a, b) == unknown + [("w", change)]
    assert ask(catalog, "SELECT DISTINCT before <> after FROM differences WHERE path_a = ? AND path_b = ? AND change = 'content'", a, b) == (
        [(1,)] if change == "content" else [])
    assert ask(catalog, "SELECT count(*) FROM refuted_digests") == [(int("check" in what),)]


def test_a_copy_that_nobody_has_read_counts_by_its_digest(tmp_path, catalog):
    data = bytes(range(64))
    file = writer.write({"w": dense(data, digest=writer.sha256(data))})
    os.makedirs(tmp_path / "models")
    for name in "ab":
        (tmp_path / f"models/{name}.zt").write_bytes(file)
    refresh(catalog, str(tmp_path / "models"))
    passes(catalog, "fingerprint")
    columns = "substr(digest, 1, 6), copies, files, spare_bytes, evidence"
    assert ask(catalog, f"SELECT {columns} FROM duplicates") == [("xxh3-1", 2, 2, 64, "proof")]
    (tmp_path / "models/c.zt").write_bytes(file)
    refresh(catalog, str(tmp_path / "models"))
    assert sorted(ask(catalog, f"SELECT {columns} FROM duplicates")) == [("sha256", 3, 3, 64, "proof"), ("xxh3-1", 2, 2, 64, "proof")]
    (tmp_path / "models/d.zt").write_bytes(file.replace(data, bytes(64)))
    refresh(catalog, str(tmp_path / "models"))
    db_passes = passes(catalog, "fingerprint")
    assert db_passes == [("fingerprint", 2, 0)]
    assert ask(catalog, f"SELECT {columns} FROM duplicates") == [("xxh3-1", 3, 3, 128, "proof")]
    (tmp_path / "models/e.zt").write_bytes(file)   # Of those that state its digest, one is not what it says
    refresh(catalog, str(tmp_path / "models"))
    assert [row[-1] for row in ask(catalog, f"SELECT {columns} FROM duplicate_digests")] == ["candidate"]


def test_a_component_of_a_corrupted_tensor_is_no_proof_unless_it_was_read(tmp_path, catalog):
    """A sparse tensor's fingerprint does not tell which of three components has changed; digests that were checked do."""
    values, digest = b"\1\2\3", writer.sha256
    coo = writer.sparse_coo([3, 4], [(0, 3), (1, 1), (2, 3)], values, digest=digest(values))
    coo["components"]["coords"]["digest"] = digest(coo["components"]["coords"]["bytes"])
    file = writer.write({"w": coo})
    os.makedirs(tmp_path / "models")
    a, b = str(tmp_path / "models/a.zt"), str(tmp_path / "models/b.zt")
    (tmp_path / "models/a.zt").write_bytes(file)
    assert file.count(values) == 1
    (tmp_path / "models/b.zt").write_bytes(file.replace(values, b"\1\2\4"))
    refresh(catalog, str(tmp_path / "models"))
    passes(catalog, "fingerprint")
    assert {e for e, in ask(catalog, "SELECT evidence FROM duplicates")} == {"candidate"}
    assert sorted(ask(catalog, "SELECT object, part, change FROM differences WHERE path_a = ? AND path_b = ?", a, b), key=repr) == [
        ("w", "coords", "unknown"), ("w", "values", "unknown"), ("w", None, "content")]
    passes(catalog, "check")
    assert ask(catalog, "SELECT evidence FROM duplicates") == [("proof",)]
    assert {c for c, in ask(catalog, "SELECT component FROM copies")} == {"coords"}
    assert sorted(ask(catalog, "SELECT object, part, change FROM differences WHERE path_a = ? AND path_b = ?", a, b), key=repr) == [
        ("w", "values", "unknown"), ("w", None, "content")]


def test_the_same_bytes_in_another_shape_are_copies_by_their_digest(tmp_path, catalog):
    data = bytes(range(24))
    os.makedirs(tmp_path / "models")
    for name, shape in (("a", [4, 6]), ("b", [6, 4])):
        (tmp_path / f"models/{name}.zt").write_bytes(writer.write({"w": dense(data, shape, digest=writer.sha256(data))}))
    refresh(catalog, str(tmp_path / "models"))
    passes(catalog, "fingerprint", "check")
    assert ask(catalog, "SELECT digest, copies, evidence FROM duplicates") == [(writer.sha256(data), 2, "proof")]
