"""MATLAB's files: what is taken for one of level 4, which have no mark, and what is rare in those of level 5."""
import os
import sqlite3
import struct
import zlib

import pytest

import write_matlab as matlab
from support import message, rows, value
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


# ---- Level 5: elements that are cut, and what is rare

W = matlab.Writer()
NUMBERS = W.matrix(DOUBLE, (1, 2), W.numbers(matlab.F64, (1.5, -2)), name="x")
TEXT = W.matrix(matlab.CHAR, (1, 4), W.numbers(matlab.U16, b"abcd"), name="text")
SPARSE = W.matrix(matlab.SPARSE, (3, 2), W.numbers(matlab.I32, (0, 2, 1)), W.numbers(matlab.I32, (0, 2, 3)), W.numbers(matlab.F64, (1, 2, 3)), name="sparse")
CELL = W.matrix(matlab.CELL, (1, 1), W.matrix(DOUBLE, (1, 1), W.numbers(matlab.F64, (1,))), name="cell")
STRUCT = W.matrix(matlab.STRUCT, (1, 1), W.fields(["a", "b"]), *[W.matrix(DOUBLE, (1, 1), W.numbers(matlab.U8, (1,)))] * 2, name="struct")
LONG_HEAD = struct.pack("<4I", matlab.I32, 4, 32, 0)   # As a length of names is not written, but may be
LONG = W.matrix(matlab.STRUCT, (1, 1), LONG_HEAD, W.element(matlab.I8, b"a".ljust(32, b"\0")), W.matrix(DOUBLE, (1, 1), W.numbers(matlab.U8, (1,))), name="long")
OBJECT = W.matrix(matlab.OBJECT, (1, 1), W.element(matlab.I8, b"a_class"), W.fields(["a"]), W.matrix(DOUBLE, (1, 1), W.numbers(matlab.U8, (1,))), name="object")
LISTED = "SELECT object, zt_json(?1, object) FROM zt_objects(?1)"


def packed(raw, stream=None):
    return W.file(W.element(matlab.PACKED, zlib.compress(raw) if stream is None else stream))


def refused(db, source):
    return message(db, "SELECT * FROM zt_objects(?)", source)


@pytest.mark.parametrize("matrix", [NUMBERS, TEXT, SPARSE, CELL, STRUCT, LONG, OBJECT], ids=["numbers", "text", "sparse", "cell", "struct", "long", "object"])
def test_a_stream_that_is_cut_anywhere(db, matrix):
    def everything(raw):
        return rows(db, "SELECT key, value FROM zt_attributes(?)", packed(raw)), rows(db, "SELECT object, component, hex(data) FROM zt_components(?)", packed(raw))
    assert everything(matrix) != ([], [])
    for n in range(len(matrix)):
        with pytest.raises(sqlite3.OperationalError, match="the compressed element at byte 136|zlib"):
            everything(matrix[:n])


def blocks(n):
    """So many blocks of a stream without a byte in them."""
    return b"\0\0\0\xff\xff" * n


def deflated(raw, before=0, behind=0):
    """A zlib stream with empty blocks before and behind its bytes."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = compressor.compress(raw) + compressor.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\x9c" + blocks(before) + body + blocks(behind) + b"\1\0\0\xff\xff" + struct.pack(">I", zlib.adler32(raw))


@pytest.mark.parametrize("before, behind", [(0, 0), (20000, 0), (0, 20000)])
def test_empty_blocks_in_a_stream(db, before, behind):
    assert rows(db, LISTED, packed(NUMBERS, deflated(NUMBERS, before, behind))) == [("x", "[[1.5,-2.0]]")]
    assert rows(db, "SELECT key, value FROM zt_attributes(?)", packed(TEXT, deflated(TEXT, before, behind))) == [("text", "abcd")]


@pytest.mark.parametrize("n", [1 << 15, 1 << 16, 1 << 17])
def test_streams_of_round_lengths(db, n):
    """The decoder may have given all bytes without having met the end."""
    head = len(W.matrix(matlab.CHAR, (1, n), name="w")) + 8
    for length in range(n - head - 32, n - head + 32, 8):
        matrix = W.matrix(matlab.CHAR, (1, length), W.element(matlab.U8, b"a" * length), name="w")
        assert rows(db, "SELECT length(value) FROM zt_attributes(?)", packed(matrix)) == [(length,)]


@pytest.mark.parametrize("stream, fault", [
    (deflated(TEXT)[:-4] + bytes(4), "deflate: its bytes do not have the checksum behind"), (deflated(TEXT)[:-4], "ends early"), (deflated(TEXT) + b"behind", "goes on behind its stream"),
    (zlib.compress(TEXT[:-8]) + b"behind", "ends early"), (deflated(TEXT)[:-9] + b"\7" + bytes(8), "deflate: an invalid block"), (deflated(TEXT, 0, 20000)[:-4] + bytes(4), "deflate: its bytes do not have the checksum behind"), (b"\x78\x9d" + deflated(TEXT)[2:], "is no zlib stream"), (b"\x79\x9c" + deflated(TEXT)[2:], "is no zlib stream")])
def test_streams_that_are_broken(db, stream, fault):
    assert fault in refused(db, packed(TEXT, stream))


@pytest.mark.parametrize("element, fault", [
    (W.element(matlab.MATRIX, bytes(4)), "no element has room here"),
    (W.matrix(matlab.STRUCT, (2**31 - 1, 2**31 - 1, 2), W.fields(["a", "b", "c", "d", "e", "f", "g", "h"]), name="w"), "cells or fields has 0 bytes")])
def test_matrices_without_room(db, element, fault):
    assert fault in refused(db, W.file(element))


@pytest.mark.parametrize("columns", [W.element(8, bytes(12)), W.element(matlab.I32, bytes(6)), W.element(matlab.F32, bytes(12)), b""])
def test_the_starts_of_columns_that_are_no_integers(db, columns):
    source = W.file(W.matrix(matlab.SPARSE, (3, 2), W.numbers(matlab.I32, (0, 2, 1)), columns, W.numbers(matlab.F64, (1, 2, 3)), name="w"))
    assert rows(db, "SELECT format, shape FROM zt_objects(?)", source) == [("matlab.sparse", "[3,2]")]
    assert message(db, "SELECT zt_dense(?, 'w')", source)


@pytest.mark.parametrize("indices, columns, values, stored", [
    (W.numbers(matlab.I32, (0, 2, 1)), (0, 2, 3), W.element(matlab.F64, b"\1\1\1"), "bool"),               # A byte for each value
    (W.numbers(matlab.I32, (0, 2, 1, 0)), (0, 2, 3), W.element(matlab.F64, b"\1\1\1\1"), "bool"),          # And for each place
    (W.numbers(matlab.I32, (0, 2, 1)), (0, 2, 3), W.numbers(matlab.F64, (1, 1, 1)), "bool"),
    (W.element(8, bytes(4)), (0, 2, 3), W.numbers(matlab.F64, (1, 1, 1)), "bool")])
def test_values_of_a_logical_sparse_matrix(db, indices, columns, values, stored):
    source = W.file(W.matrix(matlab.SPARSE, (3, 2), indices, W.numbers(matlab.I32, columns), values, name="w", flags=matlab.LOGICAL))
    assert rows(db, "SELECT component, dtype FROM zt_components(?) WHERE component = 'values'", source) == [("values", stored)]


def sparse_row(type, value):
    return W.matrix(matlab.SPARSE, (1, 3), W.numbers(matlab.I32, (0, 0)), W.numbers(matlab.I32, (0, 1, 1, 2)), W.numbers(type, (value, 1)), name="w")


@pytest.mark.parametrize("type, value, shown", [
    (matlab.I64, 2**53, "9007199254740992.0"), (matlab.I64, -2**63, "-9.223372036854776e+18"), (matlab.U64, 2**63, "9.223372036854776e+18"), (matlab.I32, 7, "7.0"),
    (matlab.F32, 1.5, "1.5"), (matlab.F64, 1.5, "1.5")])
def test_sparse_numbers_are_doubles(db, type, value, shown):
    for source in (W.file(sparse_row(type, value)), W.file(W.packed(sparse_row(type, value)))):
        assert rows(db, "SELECT dtype, zt_json(?1, object) FROM zt_objects(?1)", source) == [("f64", f"[[{shown},0.0,1.0]]")]
        assert rows(db, "SELECT severity, rule FROM zt_check(?, 'full')", source) == []


@pytest.mark.parametrize("type, value", [(matlab.I64, 2**53 + 1), (matlab.I64, -2**53 - 1), (matlab.I64, 2**63 - 1), (matlab.U64, 2**63 + 1), (matlab.U64, 2**64 - 1)])
def test_sparse_integers_that_doubles_do_not_hold(db, type, value):
    """scipy writes them. None is rounded, so that no two files have one fingerprint."""
    for source in (W.file(sparse_row(type, value)), W.file(W.packed(sparse_row(type, value)))):
        assert "does not fit f64" in message(db, "SELECT zt_json(?, 'w')", source)
        assert rows(db, "SELECT dtype, fingerprint FROM zt_objects(?)", source) == [("f64", None)]
        assert rows(db, "SELECT severity, rule FROM zt_check(?, 'full')", source)[0] == ("error", "stored-number")


@pytest.mark.parametrize("flags", [0, matlab.COMPLEX])
def test_a_number_that_its_class_would_round(db, flags):
    parts = [W.numbers(matlab.I64, (2**53 + 1,))] * (2 if flags else 1)
    source = W.file(W.matrix(DOUBLE, (1, 1), *parts, name="w", flags=flags))
    assert "number 0, which is stored as i64, does not fit f64" in message(db, "SELECT zt_json(?, 'w')", source)
    assert rows(db, "SELECT fingerprint FROM zt_objects(?)", source) == [(None,)]
    assert rows(db, "SELECT severity, rule FROM zt_check(?, 'full')", source)[0] == ("error", "stored-number")


def test_a_logical_sparse_matrix_that_is_complex(db):
    source = W.file(W.matrix(matlab.SPARSE, (3, 2), W.numbers(matlab.I32, (0, 2, 1)), W.numbers(matlab.I32, (0, 2, 3)), *[W.numbers(matlab.F64, (1, 2, 3))] * 2,
                             name="w", flags=matlab.LOGICAL | matlab.COMPLEX))
    assert [name for name, in rows(db, "SELECT component FROM zt_components(?)", source)] == ["indices", "indptr", "real", "imag"]


def test_a_matrix_of_class_0(db):
    source = W.file(W.matrix(0, (1, 1), name="w"))
    assert rows(db, "SELECT rule, message FROM zt_check(?)", source)[0][0] == "matlab-class"
    assert "class 0" in value(db, "SELECT value FROM zt_attributes(?) WHERE key = 'w'", source)


def test_a_variable_and_a_header_without_a_text(db):
    source = W.file(W.matrix(DOUBLE, (1, 1), W.numbers(matlab.F64, (7,))), text=b"")
    assert rows(db, LISTED, source) == [("", "[[7.0]]")]


def test_a_file_of_more_than_a_gigabyte(db, save):
    element = W.matrix(DOUBLE, (1, 1 << 27), name="w")
    path = save("w.mat", W.file(struct.pack("<II", matlab.MATRIX, len(element) + (1 << 30)) + element[8:] + struct.pack("<II", matlab.F64, 1 << 30)))
    os.truncate(path, os.path.getsize(path) + (1 << 30))
    assert rows(db, "SELECT object, shape FROM zt_objects(?)", path) == [("w", "[1,134217728]")]


# ---- A file keeps no more than it is worth: streams of a few bytes have much in them

MIB = 1 << 20


@pytest.mark.parametrize("matrix", [
    W.matrix(DOUBLE, (1, 1), W.numbers(matlab.F64, (1,)), name=b"n" * 4 * MIB), W.matrix(matlab.CHAR, (1, 4 * MIB), W.element(matlab.U8, b"t" * 4 * MIB), name="w"),
    W.matrix(matlab.CELL, (1, 100000), *[W.element(matlab.MATRIX, b"")] * 100000, name="w"),
    W.element(matlab.MATRIX, W.numbers(matlab.U32, (matlab.OPAQUE, 0)) + W.element(matlab.I8, b"n" * 400000) + W.element(matlab.I8, b"MCOS") + W.element(matlab.I8, b"c" * 400000))],
    ids=["name", "text", "cells", "class"])
def test_what_takes_more_than_the_file_is_worth(db, matrix):
    assert "take more" in refused(db, packed(matrix))


# ---- Texts

@pytest.mark.parametrize("shape, parts, shown", [
    ((3,), [W.numbers(matlab.U16, b"abc")], "abc"), ((), [W.numbers(matlab.U16, b"a")], "a"), ((2, 3), [W.numbers(matlab.U16, b"")], b""), ((0, 0), [], ""),
    ((1, 2), [W.numbers(matlab.U16, (0xd800, 0x41))], b"\0\xd8A\0"), ((2, 2), [W.element(matlab.UTF8, b"\xff\xfe\xfd\xfc")], b"\xff\xfe\xfd\xfc")])
def test_texts_of_odd_dimensions(db, shape, parts, shown):
    source = W.file(W.matrix(matlab.CHAR, shape, *parts, name="w"))
    assert value(db, "SELECT value FROM zt_attributes(?) WHERE key = 'w'", source) == shown


def test_a_long_text_of_level_4(db):
    source = matlab.matrix4("w", matlab.UINT8, (1, 10000), b"ab" * 5000, kind=1)
    assert value(db, "SELECT value FROM zt_attributes(?) WHERE key = 'w'", source) == "ab" * 5000


@pytest.mark.parametrize("header, more", [
    (matlab.matrix4("w", matlab.UINT8, (1, 1 << 28), [], kind=1), 1 << 28), (matlab.matrix4("w", matlab.UINT8, ((1 << 26) + 2, 3), [], kind=2), 3 << 27),
    (matlab.matrix4("v", DOUBLE, (1, 1), [7]) + matlab.matrix4("w", DOUBLE, (1, 1), [])[:16] + struct.pack("<I", (1 << 30) + 100), (1 << 30) + 200)], ids=["text", "triplets", "name"])
def test_what_takes_more_than_a_gigabyte_of_level_4(db, save, header, more):
    path = save("w.mat", header)
    os.truncate(path, len(header) + more)
    assert f"its paths, texts and arrays take more than {1 << 30} bytes" in refused(db, path)
