"""A file cut anywhere is an error, never a row; a file changed anywhere is read the same way through path and BLOB."""
import pytest

import corpus
from support import everything, message, prefix, rows

# Small files with an object; the cut of 8 bytes that turns 1.1 and 1.2 into something like 1.0 is among the cuts.
FILES = ["v0.1/hand_no_layout", "v1.0/hand_unknown_fields", "v1.1/hand_cbor_variants", "v1.2/hand_attributes_simple",
         "v2/hand_attribute_kinds"]
EACH = pytest.mark.parametrize("name", FILES)


def contents(name):
    return corpus.GOLDEN.joinpath(name + ".zt").read_bytes()


def places(whole):
    """The positions of all bytes, but of long padding only its ends and a few between: zTensor 2 has pages of it."""
    return [n for n in range(len(whole)) if n % 512 == 0 or whole[max(n - 4, 0):n + 5].strip(b"\0")]


@EACH
def test_the_whole_file_is_good(db, name):
    assert len(rows(db, "SELECT object FROM zt_objects(?)", contents(name))) >= 1


@EACH
def test_a_path_to_a_file_cut_at_any_byte_is_an_error(db, save, name):
    whole = contents(name)
    for n in places(whole):
        path = save(f"{n}.zt", whole[:n])
        assert message(db, "SELECT * FROM zt_objects(?)", path).startswith(prefix(path)), n


@EACH
def test_a_blob_cut_at_any_byte_is_an_error(db, name):
    whole = contents(name)
    for n in places(whole):
        cut = whole[:n]
        assert message(db, "SELECT * FROM zt_objects(?)", cut).startswith(prefix(cut)), n


@EACH
def test_a_directory_of_cut_files_is_listed_with_an_error_for_each(db, save, tmp_path, name):
    whole = contents(name)
    sizes = {save(f"{n:04}.zt", whole[:n]): n for n in places(whole)}
    got = rows(db, "SELECT path, size, objects, error FROM zt_files(?)", str(tmp_path))
    assert [(path, size) for path, size, *_ in got] == list(sizes.items())
    assert {objects for _, _, objects, _ in got} == {None}
    assert [error.startswith(prefix(path)) for path, _, _, error in got] == [True] * len(sizes)


@EACH
def test_a_file_with_one_byte_more_is_an_error(db, name):
    longer = contents(name) + b"\n"
    assert message(db, "SELECT * FROM zt_objects(?)", longer).startswith(prefix(longer))


@EACH
@pytest.mark.parametrize("bits", [0x01, 0x20, 0x80, 0xff])
def test_a_file_with_any_byte_changed_says_the_same_as_path_and_as_blob(db, save, name, bits):
    whole = contents(name)
    errors = 0
    for n in places(whole):
        changed = whole[:n] + bytes([whole[n] ^ bits]) + whole[n + 1:]
        got = everything(db, save("x.zt", changed))
        assert got == everything(db, changed), n
        errors += isinstance(got[0], tuple)
    # Magic, size and much of the manifest do not bear a change; padding and blobs do.
    assert 16 <= errors < len(places(whole))
