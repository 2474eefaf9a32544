"""The files of torch 2.7.1 and numpy 2 (formats/pytorch/golden/torch_2.7), as X.tensors.json beside each file says: every row of
zt_objects, its values, components and attributes, which files have one fingerprint, and what may come of files that lie
(formats/pytorch/hostile/accept)."""
import hashlib
import json
import sqlite3

import pytest

import corpus
from support import message, place, rows, value

PYTORCH = corpus.FORMATS / "pytorch"
GOLDEN, HOSTILE = PYTORCH / "golden" / "torch_2.7", PYTORCH / "hostile" / "accept"
PAIRS = json.loads((GOLDEN / "pairs.json").read_text())
CASES = json.loads((HOSTILE / "cases.json").read_text())
BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])


def found(name):
    """A file of these; some that torch wrote before 1.6 are beside the folder, since other tests read them, too."""
    path = GOLDEN / name
    return path if path.exists() else PYTORCH / "golden" / name


def expectations():
    """[(path, expectation)]"""
    every = [(json.loads(path.read_text()), path) for path in sorted(GOLDEN.glob("**/*.tensors.json"))]
    return [(found(path.parent.relative_to(GOLDEN) / expected["file"].rpartition("/")[2]), expected) for expected, path in every]


EXPECTED = expectations()
FILES = pytest.mark.parametrize("file, expected", EXPECTED, ids=[path.name for path, _ in EXPECTED])


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def dense_of(db, source, name):
    """The sha256 of an object's values in its own type, or None if it has none, which is an error that names it."""
    try:
        return sha256(value(db, "SELECT zt_dense(?, ?, NULL)", source, name))
    except sqlite3.Error as error:
        assert str(error).startswith(place(source, name)), error
        return None


def below(path, name):
    return name == path or name.startswith(path + ".") or path == ""


def test_every_file_is_expected_and_every_expectation_has_a_file():
    on_disk = {path for path in GOLDEN.glob("**/*") if path.is_file() and path.suffix != ".json" and path.parent.name != "pairs"}
    expected = [path for path, _ in EXPECTED]
    assert len(set(expected)) == len(expected) == 80
    assert on_disk <= set(expected) and all(path.exists() for path in expected)
    paired = {pair["b"] for pairs in PAIRS.values() for pair in pairs}
    assert paired == {f"pairs/{path.name}" for path in (GOLDEN / "pairs").iterdir()}
    assert {case["file"] for case in CASES} == {path.name for path in HOSTILE.iterdir() if path.suffix != ".json"}


# ------------------------------------------------------------------------------------------------------------ each file

@FILES
@BOTH_WAYS
def test_each_tensor_is_a_row_and_nothing_else(db, how, file, expected):
    source = corpus.source_of(file, how)
    assert rows(db, "SELECT container, version, error FROM zt_files(?)", source) == [(expected["container"], expected["version"], None)]
    got = rows(db, "SELECT object, type, format, shape FROM zt_objects(?)", source)
    names = [name for name, *_ in got if not any(below(path, name) and path for path in expected["open"])]
    assert sorted(names) == sorted(t["name"] for t in expected["tensors"] if not any(below(path, t["name"]) for path in expected["open"]))
    by_name = {name: rest for name, *rest in got}
    for t in expected["tensors"]:
        type, format, shape = by_name[t["name"]]
        assert t["dtype"] in (type, None), t["name"]
        assert format in (t.get("formats") or [t["layout"]]), t["name"]
        assert (shape and json.loads(shape)) == t["shape"], t["name"]


@FILES
@BOTH_WAYS
def test_values_and_components_have_the_bytes_that_torch_has(db, how, file, expected):
    source = corpus.source_of(file, how)
    for t in expected["tensors"]:
        got = dense_of(db, source, t["name"])
        if t["values"]:
            assert got == t["values"], t["name"]
        else:
            assert got in (None, t.get("may", got)) and t["why"], t["name"]
        for component, wanted in (t.get("components") or {}).items():
            type = value(db, "SELECT type FROM zt_components(?) WHERE object = ? AND component = ?", source, t["name"], component)
            bytes = value(db, "SELECT zt_blob(?, ?, ?)", source, t["name"], component)
            assert (type, sha256(bytes)) == (wanted["type"], wanted["sha256"]), (t["name"], component)


@FILES
@BOTH_WAYS
def test_a_fingerprint_is_null_where_values_are_not_known_which_zt_check_says(db, how, file, expected):
    source = corpus.source_of(file, how)
    lost = {name for name, in rows(db, "SELECT object FROM zt_objects(?)", source) if dense_of(db, source, name) is None}
    assert {t["name"] for t in expected["tensors"] if t["values"]} & lost == set()
    assert {name for name, in rows(db, "SELECT object FROM zt_objects(?) WHERE fingerprint IS NULL", source)} == lost
    assert (value(db, "SELECT zt_fingerprint(?)", source) is None) == bool(lost)
    for depth in "quick", "full":
        said = {name for name, in rows(db, "SELECT object FROM zt_check(?, ?) WHERE object IS NOT NULL", source, depth)}
        assert lost <= said, depth
    assert rows(db, "SELECT object, rule, message FROM zt_check(?, 'full') WHERE severity = 'error'", source) == []


def same(wanted, got, type):
    """Whether an attribute has the value that is expected, in the words of these expectations."""
    if wanted is None:
        return got is None
    if isinstance(wanted, bool):
        return (got, type) == (int(wanted), "true" if wanted else "false")
    if isinstance(wanted, dict) and "$bytes" in wanted:
        return got == bytes.fromhex(wanted["$bytes"])
    if isinstance(wanted, dict) and "$float" in wanted:
        return got == (None if wanted["$float"].lower() == "nan" else float(wanted["$float"]))
    if isinstance(wanted, (dict, list)):
        return json.loads(got) == wanted
    return got == wanted or (isinstance(wanted, int) and got == str(wanted))


@FILES
@BOTH_WAYS
def test_attributes_are_what_torch_has(db, how, file, expected):
    got = {key: (text, type) for key, text, type in rows(db, "SELECT key, value, type FROM zt_attributes(?) WHERE object IS NULL",
                                                          corpus.source_of(file, how))}
    assert {key: got.get(key) for key, wanted in expected["attributes"].items() if key not in got or not same(wanted, *got[key])} == {}
    for path, words in expected["contains"].items():
        told = " ".join(str(text) for key, (text, _) in got.items() if below(path, key))
        for word in words if isinstance(words, list) else [words]:
            assert any(str(one) in told for one in (word if isinstance(word, list) else [word])), (path, word, told)


# ---------------------------------------------------------------------------------------------------------- fingerprints

def pairs_of(kind):
    return pytest.mark.parametrize("pair", PAIRS[kind], ids=[pair["b"].removeprefix("pairs/") for pair in PAIRS[kind]])


def fingerprint(db, name, how):
    return value(db, "SELECT zt_fingerprint(?)", corpus.source_of(found(name), how))


@pairs_of("differ")
@BOTH_WAYS
def test_files_that_differ_in_a_tensor_never_share_a_fingerprint(db, how, pair):
    a, b = (fingerprint(db, pair[which], how) for which in "ab")
    assert a is None or b is None or a != b
    for name in pair["objects"]:
        each = [rows(db, "SELECT fingerprint FROM zt_objects(?) WHERE object = ?", corpus.source_of(found(pair[which]), how), name) for which in "ab"]
        assert all(len(one) == 1 for one in each) and (each[0] != each[1] or each[0] == [(None,)]), name


@pairs_of("same")
@BOTH_WAYS
def test_a_plain_dict_of_the_same_tensors_has_the_same_fingerprint(db, how, pair):
    assert fingerprint(db, pair["a"], how) == fingerprint(db, pair["b"], how) is not None


# -------------------------------------------------------------------------------------------------------- files that lie

def outcomes(db, source, case):
    """The result for a case's object, in the words of `accept`."""
    name, got = case["object"], set()
    if value(db, "SELECT error FROM zt_files(?)", source):
        return {"unreadable"}
    if rows(db, "SELECT 1 FROM zt_objects(?) WHERE object = ?", source, name):
        digest = dense_of(db, source, name)
        return {"listed"} if digest is None else {"ok"} if case["values"] in (None, digest) else {"wrong values"}
    checked = rows(db, "SELECT object, message FROM zt_check(?, 'full')", source)
    if any(object == name or name in said for object, said in checked) or rows(
            db, "SELECT 1 FROM zt_objects(?) WHERE object GLOB ? || '.*'", source, name):
        got.add("found")
    if any(below(key, name) for key, in rows(db, "SELECT key FROM zt_attributes(?) WHERE object IS NULL", source)):
        got.add("told")
    return got


def fingerprint_or_none(db, source):
    """Bytes that are broken are an error, as in any other file."""
    try:
        return value(db, "SELECT zt_fingerprint(?)", source)
    except sqlite3.Error as error:
        assert str(error).startswith(place(source)), error
        return None


@pytest.mark.parametrize("case", CASES, ids=[case["file"] for case in CASES])
@BOTH_WAYS
def test_no_lie_makes_a_tensor_vanish(db, how, case):
    source = corpus.source_of(HOSTILE / case["file"], how)
    got = outcomes(db, source, case)
    assert got & set(case["accept"]), case["why"]
    if got == {"unreadable"}:
        assert message(db, "SELECT * FROM zt_objects(?)", source) == value(db, "SELECT error FROM zt_files(?)", source)
        return
    assert {name: dense_of(db, source, name) for name in case["beside"]} == case["beside"]
    if got == {"listed"}:
        assert fingerprint_or_none(db, source) is None
        assert rows(db, "SELECT 1 FROM zt_check(?, 'full') WHERE object = ?", source, case["object"])
