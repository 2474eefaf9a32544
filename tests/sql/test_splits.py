"""sql/splits.sql: the findings about GGUF models in several files, each made in a copy of a sound one."""
import shutil

import pytest

import corpus
from support import ROOT, open_connection, rows
from write_gguf import I32, ONES, STR, U16, File

SPLITS = (ROOT / "sql" / "splits.sql").read_text()


def findings(source):
    db = open_connection()
    found = rows(db, SPLITS, str(source))
    db.close()
    return found


def split(no, count, tensors, *names):
    file = File().key("general.architecture", STR, "test").key("split.no", U16, no).key("split.count", U16, count)
    file.key("split.tensors.count", I32, tensors)
    for name in names:
        file.tensor(name, [8], data=ONES)
    return file.bytes()


def path_of(directory, number, of=3):
    return directory / f"model-{number:05d}-of-{of:05d}.gguf"


@pytest.fixture
def model(tmp_path):
    """A directory with a sound model of three files, and one with a file that is no split."""
    for path in (corpus.FORMATS / "gguf" / "golden" / "split").glob("*.gguf"):
        shutil.copy(path, tmp_path)
    tmp_path.joinpath("single.gguf").write_bytes(File().tensor("w", [8], data=ONES).bytes())
    return tmp_path


def test_nothing_is_wrong_with_a_sound_model(model):
    assert findings(model) == []


def test_a_missing_file(model):
    path_of(model, 2).unlink()
    assert findings(model) == [("missing", str(path_of(model, 2)), "no such file")]


def test_a_file_that_cannot_be_read(model):
    path_of(model, 3).write_bytes(b"GGUF")
    assert findings(model) == [("unreadable", str(path_of(model, 3)),
                                f"ztensor: {path_of(model, 3)}: the file has 4 bytes, a GGUF header has 24")]


def test_a_file_that_is_no_split(model):
    shutil.copy(model / "single.gguf", path_of(model, 2))
    assert findings(model) == [("tensors", str(path_of(model, 1)), "4 tensors, split.tensors.count 5"),
                               ("unmarked", str(path_of(model, 2)), "no split.no, split.count or split.tensors.count")]


def test_a_split_that_does_not_say_how_many_tensors_all_have(tmp_path):
    path_of(tmp_path, 1, 1).write_bytes(File().key("split.no", U16, 0).key("split.count", U16, 1).tensor("w", [8], data=ONES).bytes())
    assert findings(tmp_path) == [("unmarked", str(path_of(tmp_path, 1, 1)), "no split.no, split.count or split.tensors.count")]


def test_a_split_whose_name_has_no_number(model):
    path_of(model, 2).rename(model / "part2.gguf")
    assert findings(model) == [("missing", str(path_of(model, 2)), "no such file"),
                               ("misnamed", str(model / "part2.gguf"), "split.no 1, split.count 3")]


def test_a_number_beyond_the_number_of_files(model):
    path_of(model, 4).write_bytes(split(3, 3, 5, "more"))
    assert findings(model) == [("misnamed", str(path_of(model, 4)), "split.no 3, split.count 3")]
    path_of(model, 2).unlink()
    assert [row[0] for row in findings(model)] == ["missing", "misnamed"]


def test_names_in_capitals(model):
    path_of(model, 2).unlink()
    for number in (1, 3):
        path_of(model, number).rename(model / path_of(model, number).name.upper())
    assert [row[0] for row in findings(model)] == ["missing"]


def test_files_that_were_renamed(model):
    path_of(model, 2).rename(model / "kept")
    path_of(model, 3).rename(path_of(model, 2))
    (model / "kept").rename(path_of(model, 3))
    assert findings(model) == [("misnamed", str(path_of(model, 2)), "split.no 2, split.count 3"),
                               ("misnamed", str(path_of(model, 3)), "split.no 1, split.count 3")]


def test_tensors_that_are_missing_or_there_twice(tmp_path):
    path_of(tmp_path, 1, 2).write_bytes(split(0, 2, 3, "a", "b"))
    path_of(tmp_path, 2, 2).write_bytes(split(1, 2, 4, "b"))
    assert findings(tmp_path) == [
        ("repeated", str(path_of(tmp_path, 1, 2)), "tensor 'b' is in 2 splits"),
        ("tensors", str(path_of(tmp_path, 1, 2)), "3 tensors, split.tensors.count 3 to 4")]
