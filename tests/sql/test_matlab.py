"""MATLAB's files of level 4, which have no mark: what is taken for one."""
import struct

import pytest

import write_matlab as matlab
from support import rows
from write_matlab import DOUBLE

HEADER = struct.pack("<5I", 0, 1, 1, 0, 2)


@pytest.mark.parametrize("name", [b"a", b"z", b"A", b"Z", b"w_1", b"w09z", b"aZ"])
@pytest.mark.parametrize("big", [False, True])
def test_a_name_that_matlab_gives_is_taken_for_one(db, name, big):
    source = matlab.matrix4(name + b"\0", DOUBLE, (1, 2), [1.5, -2], big=big)
    assert rows(db, "SELECT container FROM zt_files(?)", source) == [("matlab",)]
    assert rows(db, "SELECT object, zt_json(?1, object) FROM zt_objects(?1)", source) == [(name.decode(), "[[1.5,-2.0]]")]


@pytest.mark.parametrize("name", [b"@\0", b"[\0", b"`\0", b"{\0", b"_a\0", b"1a\0", b"a-\0", b"a/\0", b"a:\0", b"a{\0", b"a@\0", b"ab", b"\0", b"a\0b\0"])
def test_another_name_is_not(db, name):
    source = matlab.matrix4(name, DOUBLE, (1, 2), [1.5, -2])
    assert rows(db, "SELECT container, error FROM zt_files(?)", source) == [(None, "ztensor: <blob>: not a tensor file of a known format")]


@pytest.mark.parametrize("source", [HEADER, HEADER + b"a", HEADER[:16] + struct.pack("<I", 9) + b"a\0" + bytes(6)], ids=range(3))
def test_a_file_that_ends_in_its_name_is_not(db, source):
    assert rows(db, "SELECT container, error FROM zt_files(?)", source) == [(None, "ztensor: <blob>: not a tensor file of a known format")]


@pytest.mark.parametrize("shape, complex, values", [((0, 3), False, []), ((1, 3), True, [1, 1, 0]), ((2, 5), False, range(10)), ((2, 2), False, range(4))])
def test_a_table_that_is_no_sparse_matrix_has_its_numbers(db, shape, complex, values):
    """Of the kind of sparse matrices, without the row of its shape, or with other columns than 3 or 4."""
    source = matlab.matrix4("w", DOUBLE, shape, values, values if complex else (), kind=2) + matlab.matrix4("v", DOUBLE, (1, 1), [7])
    found = rows(db, "SELECT object, dtype, shape FROM zt_objects(?)", source)
    assert found[0][0] == "w" and found[0][2] == "[%d,%d]" % shape and found[1] == ("v", "f64", "[1,1]")
