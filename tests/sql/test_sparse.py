"""Sparse objects: their dense form, their stored elements, what breaks them. The golden and hostile ones are in test_dense.py."""
import math
import sqlite3
import struct

import numpy
import pytest

import corpus
import reference
import writer
from reference import decode, encode
from support import failure, message, place, rows, value

INDEX_TYPES = pytest.mark.parametrize("index", ["u64", "i64", "u32", "i32", "u16", "i16", "u8", "i8"])

# [[0, 7, 0], [0, 0, 9]] as CSR and as COO.
MATRIX = [0, 7, 0, 0, 0, 9]


def csr(index="u64"):
    return writer.sparse_csr([2, 3], [0, 1, 2], [1, 2], struct.pack("<2f", 7, 9), "f32", index)


def coo(index="u64"):
    return writer.sparse_coo([2, 3], [(0, 1), (1, 2)], struct.pack("<2f", 7, 9), "f32", index)


BOTH = pytest.mark.parametrize("make", [csr, coo])


@BOTH
@pytest.mark.parametrize("generation", ["1.0", "1.1", "1.2"])
@pytest.mark.parametrize("imag", ["f32", "f64"])
def test_real_and_imaginary_parts_are_no_values(db, make, generation, imag):
    """As they are in MATLAB's matrices."""
    object = make()
    object["components"]["real"] = object["components"].pop("values")
    object["components"]["imag"] = dict(object["components"]["real"], dtype=imag, bytes=bytes(8 if imag == "f32" else 16))
    file = writer.write({"s": object}, generation)
    said = f"{object['format']} needs a component 'values'"
    assert message(db, "SELECT zt_dense(?, 's')", file) == place(file, "s") + said
    assert ("missing-component", said) in rows(db, "SELECT rule, message FROM zt_check(?)", file)


@pytest.mark.parametrize("generation", ["1.0", "1.1", "1.2"])
def test_indices_are_no_coordinates(db, generation):
    """As ONNX and PyTorch call them: their order is another one."""
    object = coo()
    object["components"]["indices"] = object["components"].pop("coords")
    file = writer.write({"s": object}, generation)
    assert message(db, "SELECT zt_dense(?, 's')", file) == place(file, "s") + "sparse_coo needs a component 'coords'"
    assert ("missing-component", "sparse_coo needs a component 'coords'") in rows(db, "SELECT rule, message FROM zt_check(?)", file)


@BOTH
@pytest.mark.parametrize("name", ["data", "packed_weight", "real"])
def test_the_type_is_that_of_the_values_whatever_else_there_is(db, make, name):
    object, plain = make(), writer.write({"s": make()})
    object["components"] = {name: {"dtype": "u8", "bytes": b"1"}, **object["components"]}
    file = writer.write({"s": object})
    for query in ("SELECT dtype, type, fingerprint FROM zt_objects(?)", "SELECT architecture, json_extract(types, '$[0].dtype', '$[0].type') FROM zt_files(?)",
                  "SELECT mean FROM zt_stats(?1) AS s JOIN zt_objects(?1) AS o ON o.object = s.object AND o.dtype = 'f32'"):
        assert rows(db, query, file) == rows(db, query, plain) != []


def dense(db, object, dtype=None, generation="1.2"):
    return value(db, "SELECT zt_dense(?, 's', ?)", writer.write({"s": object}, generation), dtype)


def refused(db, object, generation="1.2"):
    """The message with which an object is refused, without its place."""
    file = writer.write({"s": object}, generation)
    text = message(db, "SELECT zt_dense(?, 's')", file)
    assert text.startswith(place(file, "s"))
    for sql in ("SELECT zt_json(?, 's')", "SELECT value FROM zt_elements(?, 's')", "SELECT vector FROM zt_rows(?, 's')"):
        # The tables may give rows before they come to the fault.
        with pytest.raises(sqlite3.OperationalError) as caught:
            rows(db, sql, file)
        assert str(caught.value).startswith(place(file, "s"))
    return text[len(place(file, "s")):]


# --------------------------------------------------------------------------------------------------------- dense form

@BOTH
@INDEX_TYPES
@pytest.mark.parametrize("generation", ["1.1", "1.2"])
def test_indices_may_have_any_integer_dtype(db, make, index, generation):
    assert decode("f32", dense(db, make(index), generation=generation)) == MATRIX


@BOTH
def test_indices_of_1_0_are_u64_whatever_the_dtype_of_the_tensor(db, make):
    assert decode("f32", dense(db, make(), generation="1.0")) == MATRIX
    assert refused(db, make("u32"), "1.0")


@BOTH
@pytest.mark.parametrize("generation", ["1.0", "1.1", "1.2"])
@pytest.mark.parametrize("others", [["real"], ["imag"], ["real", "imag"]])
def test_values_are_those_whatever_other_components_are_called(db, make, generation, others):
    """Complex values of MATLAB are in `real` and `imag`."""
    object = make()
    object["components"].update((name, {"dtype": "f32", "bytes": struct.pack("<2f", 1, 2)}) for name in others)
    assert decode("f32", dense(db, object, generation=generation)) == MATRIX
    file = writer.write({"s": object}, generation)
    assert rows(db, "SELECT position, value FROM zt_elements(?, 's') ORDER BY position", file) == [(1, 7.0), (5, 9.0)]
    assert rows(db, "SELECT min, max FROM zt_stats(?)", file) == [(0.0, 9.0)]


@BOTH
def test_all_components_may_be_compressed(db, make):
    for generation in ("1.1", "1.2"):
        assert decode("f32", dense(db, writer.zstd_parts(make()), generation=generation)) == MATRIX


@BOTH
@pytest.mark.parametrize("dtype", [t for t in reference.STORED if t != "bool"])
def test_cells_without_a_value_are_zero_bytes(db, make, dtype):
    object = make()
    values = encode(dtype, [7, 3])
    object["components"]["values"] = writer.typed(values, [2], dtype)["components"]["data"]
    width = reference.WIDTHS[dtype]
    assert dense(db, object) == bytes(width) + values[:width] + bytes(3 * width) + values[width:]


@BOTH
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "bool", "f8_e5m2", "complex64"])
def test_a_value_alone_in_its_cell_keeps_its_exact_bits(db, make, dtype):
    # -0, a signalling NaN with a payload, a bool that is neither 0 nor 1.
    width = reference.WIDTHS[dtype]
    odd = {"f32": "00000080 0100a07f", "f64": "0000000000000080 010000000000f4ff", "f16": "0080 017d", "bf16": "8000 a17f",
           "bool": "02 ff", "f8_e5m2": "80 fd", "complex64": "000000800100a07f 0100a0ff00000080"}
    values = b"".join(bytes.fromhex(part) for part in odd[dtype].split())
    object = make()
    object["components"]["values"] = writer.typed(values, [2], dtype)["components"]["data"]
    assert dense(db, object) == bytes(width) + values[:width] + bytes(3 * width) + values[width:]


@BOTH
def test_a_stored_zero_is_an_element(db, make):
    object = make()
    object["components"]["values"]["bytes"] = struct.pack("<2f", 0, -0.0)
    assert dense(db, object) == bytes(20) + struct.pack("<f", -0.0)
    assert rows(db, "SELECT position, value FROM zt_elements(?, 's')", writer.write({"s": object})) == [(1, 0.0), (5, 0.0)]


def test_rows_may_be_empty_and_columns_in_any_order(db):
    object = writer.sparse_csr([5, 4], [0, 0, 3, 3, 4, 4], [3, 0, 2, 1], bytes([1, 2, 3, 4]))
    assert dense(db, object) == bytes([0, 0, 0, 0, 2, 0, 3, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0])


def test_coordinates_may_come_in_any_order(db):
    object = writer.sparse_coo([3, 3], [(2, 1), (0, 2), (1, 0), (0, 0)], bytes([1, 2, 3, 4]))
    assert dense(db, object) == bytes([4, 0, 2, 3, 0, 0, 0, 1, 0])


@pytest.mark.parametrize("shape", [[6], [2, 3], [2, 3, 4], [2, 1, 3, 2, 2], [1] * 10 + [3]])
def test_coo_has_any_rank(db, shape):
    count = math.prod(shape)
    positions = [p for p in range(count) if p % 5 in (1, 3)]
    coords = [corpus.coordinates(shape, p) for p in positions]
    values = bytes(range(1, len(positions) + 1))
    expected = bytearray(count)
    for position, byte in zip(positions, values):
        expected[position] = byte
    assert dense(db, writer.sparse_coo(shape, coords, values)) == expected


@pytest.mark.parametrize("object", [
    writer.sparse_csr([0, 3], [0], [], b"", "f32"), writer.sparse_csr([3, 0], [0, 0, 0, 0], [], b"", "f32"),
    writer.sparse_coo([0, 3], [], b"", "f32"), writer.sparse_coo([2, 0, 3], [], b"", "f32")])
def test_an_empty_sparse_tensor_is_an_empty_blob(db, object):
    # zip(*[]) gives no axis at all: no coordinate is stored, as it must be.
    assert dense(db, object) == b""
    assert rows(db, "SELECT * FROM zt_elements(?, 's')", writer.write({"s": object})) == []


@BOTH
def test_no_stored_element_means_all_zeros(db, make):
    object = make()
    for role, component in object["components"].items():
        component["bytes"] = bytes(24) if role == "indptr" else b""
    assert dense(db, object) == bytes(24)
    assert value(db, "SELECT zt_json(?, 's')", writer.write({"s": object})) == "[[0.0,0.0,0.0],[0.0,0.0,0.0]]"


@BOTH
@pytest.mark.parametrize("first, count", [(0, 1), (1, 1), (0, 2), (1, 9), (2, 1), (1, 0)])
def test_a_slice_is_that_part_of_the_whole(db, make, first, count):
    for object in (make(), writer.zstd_parts(make())):
        file = writer.write({"s": object})
        assert value(db, "SELECT zt_dense(?, 's', NULL, ?, ?)", file, first, count) == struct.pack("<6f", *MATRIX)[
            12 * first:12 * (first + count)]


def test_a_slice_of_many_rows_is_that_part_of_the_whole(db):
    indptr, indices = [0], []
    for row in range(300):
        indices += [(7 * row + 3 * k) % 64 for k in range(row % 5)]
        indptr.append(len(indices))
    values = encode("i32", range(1, len(indices) + 1))
    coords = [(row, indices[i]) for row in range(300) for i in range(indptr[row], indptr[row + 1])]
    file = writer.write({"csr": writer.sparse_csr([300, 64], indptr, indices, values, "i32", "u16"),
                         "coo": writer.sparse_coo([300, 64], coords, values, "i32", "u16")})
    whole = [0] * (300 * 64)
    for (row, column), number in zip(coords, decode("i32", values)):
        whole[64 * row + column] += number
    for name in ("csr", "coo"):
        assert decode("i32", value(db, "SELECT zt_dense(?, ?)", file, name)) == whole
        for first, count in ((0, 1), (4, 1), (5, 2), (100, 57), (299, 1), (290, 100)):
            got = decode("i32", value(db, "SELECT zt_dense(?, ?, NULL, ?, ?)", file, name, first, count))
            assert got == whole[64 * first:64 * (first + count)]


@pytest.fixture(scope="module")
def scattered():
    """(file, array): 20,000 values in 9 million cells, in no order and some in the same cell; as COO and as CSR."""
    noise = numpy.random.default_rng(5)
    side, count = 3000, 20_000
    at = noise.integers(0, side, (count, 2), dtype="<u2")
    at[:500] = at[500:1000]
    numbers = noise.integers(-1000, 1000, count).astype("<f4")
    whole = numpy.zeros((side, side), "<f4")
    numpy.add.at(whole, (at[:, 0], at[:, 1]), numbers)       # Small integers: their sums are exact in any order
    by_row = numpy.argsort(at[:, 0], kind="stable")
    indptr = numpy.searchsorted(at[by_row, 0], numpy.arange(side + 1))
    coo = writer.sparse_coo([side, side], [], numbers.tobytes(), "f32", "u16")
    coo["components"]["coords"]["bytes"] = at.T.tobytes()
    csr = writer.sparse_csr([side, side], indptr.tolist(), at[by_row, 1].tolist(), numbers[by_row].tobytes(), "f32", "u32")
    return writer.write({"coo": coo, "csr": csr}), whole


@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_many_values_in_no_order_find_their_cells(db, scattered, kind):
    file, whole = scattered
    assert value(db, "SELECT zt_dense(?, ?)", file, kind) == whole.tobytes()
    assert value(db, "SELECT zt_dense(?, ?, 'f64')", file, kind) == whole.astype("<f8").tobytes()
    assert value(db, "SELECT zt_dense(?, ?, 'i16', 1000, 7)", file, kind) == whole[1000:1007].astype("<i2").tobytes()
    assert rows(db, "SELECT row, vector FROM zt_rows(?, ?) WHERE row IN (0, 1234, 2999)", file, kind) == [
        (row, whole[row].tobytes()) for row in (0, 1234, 2999)]


@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_many_values_in_no_order_have_the_statistics_of_their_sums(db, scattered, kind):
    file, whole = scattered
    wide = whole.astype("f8")      # Sums of these squares stay below 2^53
    got, = rows(db, "SELECT elements, zeros, min, max, mean, l2, std FROM zt_stats(?) WHERE object = ?", file, kind)
    assert got[:4] == (wide.size, int((wide == 0).sum()), wide.min(), wide.max())
    assert got[4:] == pytest.approx((wide.sum() / wide.size, math.sqrt((wide * wide).sum()), wide.std()), rel=1e-12, abs=0)


@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_many_values_in_no_order_add_up_by_position(db, scattered, kind):
    file, whole = scattered
    sums = dict(rows(db, "SELECT position, sum(value) FROM zt_elements(?, ?) GROUP BY position", file, kind))
    assert {p: v for p, v in sums.items() if v} == {int(p): float(whole.flat[p]) for p in numpy.flatnonzero(whole)}


# --------------------------------------------------------------------------------------------------------- duplicates

def doubled(values, dtype, kind):
    """A 1 by 3 matrix whose stored values all lie in column 1."""
    count = len(values) // reference.WIDTHS[dtype]
    fields = writer.typed(values, [count], dtype)["components"]["data"]
    object = (writer.sparse_csr([1, 3], [0, count], [1] * count, values) if kind == "csr" else
              writer.sparse_coo([1, 3], [(0, 1)] * count, values))
    object["components"]["values"] = fields
    return object


@pytest.mark.parametrize("kind", ["csr", "coo"])
@pytest.mark.parametrize("dtype, numbers, total", [
    ("u8", [1, 2, 3], 6), ("u8", [200, 100], 44), ("i8", [100, 100], -56), ("i16", [1000, -3000, 1], -1999),
    ("i64", [1 << 62, (1 << 62) - 1], (1 << 63) - 1),
    ("u64", [1 << 63, (1 << 63) - 1], (1 << 64) - 1), ("f32", [0.5, 0.25], 0.75), ("f64", [1e308, 1e308, -1e308], math.inf),
    ("f64", [1e308, -1e308, 1e308], 1e308), ("f64", [0.1, 0.2, 0.3], 0.1 + 0.2 + 0.3), ("f64", [0.3, 0.2, 0.1], 0.3 + 0.2 + 0.1),
    # After each step the sum is rounded to the element type: 1 is lost every time.
    ("f32", [2.0 ** 24, 1.0, 1.0], 2.0 ** 24), ("f32", [1.0, 1.0, 2.0 ** 24], 2.0 ** 24 + 2),
    ("f16", [2048.0, 1.0, 1.0], 2048.0), ("f16", [1.0, 1.0, 2048.0], 2050.0), ("f16", [60000.0, 60000.0, -60000.0], math.inf),
    ("bf16", [256.0, 1.0, 1.0], 256.0), ("bf16", [1.0, 1.0, 256.0], 258.0),
    ("f8_e4m3fn", [16.0, 1.0, 1.0], 16.0), ("f8_e4m3fn", [1.0, 1.0, 16.0], 18.0), ("f8_e5m2", [8.0, 1.0, 1.0], 8.0),
    ("complex64", [1 + 2j, 3 - 1j], 4 + 1j), ("complex128", [1 + 2j, 3 - 1j, 0.5j], 4 + 1.5j),
    ("f32", [-0.0, -0.0], -0.0), ("f32", [math.inf, -math.inf], math.nan),
])
def test_values_of_one_cell_add_up_in_storage_order_in_the_element_type(db, kind, dtype, numbers, total):
    got = decode(dtype, dense(db, doubled(encode(dtype, numbers), dtype, kind)))
    assert repr([got[0], got[2]]) == repr(decode(dtype, bytes(2 * reference.WIDTHS[dtype])))
    assert repr(got[1]) == repr(total)


@pytest.mark.parametrize("kind", ["csr", "coo"])
def test_a_bool_of_one_cell_is_true_if_one_of_its_values_is(db, kind):
    assert list(dense(db, doubled(b"\1\1", "bool", kind), "u8")) == [0, 1, 0]
    assert list(dense(db, doubled(b"\0\1\0", "bool", kind), "u8")) == [0, 1, 0]


@pytest.mark.parametrize("kind", ["csr", "coo"])
def test_a_conversion_is_of_the_sum(db, kind):
    # 0.75 + 0.75 is 1.5, whatever each would be as an integer.
    assert list(dense(db, doubled(encode("f32", [0.75, 0.75]), "f32", kind), "u8")) == [0, 1, 0]


def test_duplicates_need_not_be_neighbours(db):
    object = writer.sparse_coo([2, 2], [(0, 0), (1, 1), (0, 0), (0, 1), (1, 1), (0, 0)], bytes([1, 2, 3, 4, 5, 6]))
    assert dense(db, object) == bytes([10, 4, 0, 7])
    file = writer.write({"s": object})
    assert [value(db, "SELECT zt_value(?, 's', ?, ?)", file, i, j) for i in (0, 1) for j in (0, 1)] == [10, 4, 0, 7]
    assert rows(db, "SELECT position, value FROM zt_elements(?, 's')", file) == [(0, 1), (3, 2), (0, 3), (1, 4), (3, 5), (0, 6)]


# ------------------------------------------------------------------------------------------------------ what is broken

def changed(object, role, **fields):
    components = dict(object["components"])
    components[role] = dict(components[role], **fields)
    return dict(object, components=components)


def u64(*numbers):
    return writer.integers("u64", numbers)


@pytest.mark.parametrize("object", [
    changed(csr(), "indptr", bytes=u64(0, 1)), changed(csr(), "indptr", bytes=u64(0, 1, 2, 2)),
    changed(csr(), "indptr", bytes=u64(1, 1, 2)), changed(csr(), "indptr", bytes=u64(0, 2, 1)),
    changed(csr(), "indptr", bytes=u64(0, 1, 1)), changed(csr(), "indptr", bytes=u64(0, 1, 3)),
    changed(csr(), "indptr", bytes=u64(0, 1, 2)[:-1]), changed(csr(), "indptr", bytes=u64(0, (1 << 64) - 1, 2)),
    changed(csr(), "indices", bytes=u64(1)), changed(csr(), "indices", bytes=u64(1, 2, 0)),
    changed(csr(), "indices", bytes=u64(1, 3)),
    changed(csr(), "indices", bytes=u64(1, 2) + b"\0"), changed(csr(), "values", bytes=bytes(7)),
    changed(csr(), "indices", dtype="i64", bytes=writer.integers("i64", [1, -1])),
    changed(csr(), "indptr", dtype="i64", bytes=writer.integers("i64", [0, -1, 2])),
    changed(csr(), "indices", dtype="f64"), changed(csr(), "indptr", dtype="f64"), changed(csr(), "indices", dtype="q7"),
    changed(csr(), "values", dtype="q7"), changed(csr(), "values", type="mystery"),
    dict(csr(), shape=[2]), dict(csr(), shape=[2, 3, 1]), dict(csr(), shape=[]), dict(csr(), shape=[3, 2]),
    changed(coo(), "coords", bytes=u64(0, 1, 1)), changed(coo(), "coords", bytes=u64(0, 1, 1, 2, 0)),
    changed(coo(), "coords", bytes=u64(0, 2, 1, 2)), changed(coo(), "coords", bytes=u64(0, 1, 1, 3)),
    changed(coo(), "coords", bytes=u64(0, 1, 1, (1 << 64) - 1)), changed(coo(), "coords", bytes=u64(0, 1, 1, 2)[:-1]),
    changed(coo(), "coords", dtype="i64", bytes=writer.integers("i64", [0, 1, -1, 2])), changed(coo(), "coords", dtype="f64"),
    changed(coo(), "values", bytes=bytes(7)), dict(coo(), shape=[2, 2]), dict(coo(), shape=[6]), dict(coo(), shape=[2, 3, 1]),
])
def test_broken_indices_are_an_error_that_says_what_is_wrong(db, object):
    assert refused(db, object)


@pytest.mark.parametrize("make, role", [(csr, "values"), (csr, "indices"), (csr, "indptr"), (coo, "values"), (coo, "coords")])
def test_a_missing_role_is_named(db, make, role):
    object = make()
    object["components"] = {r: c for r, c in object["components"].items() if r != role}
    assert role in refused(db, object)


@pytest.mark.parametrize("make, role", [(csr, "values"), (csr, "indices"), (csr, "indptr"), (coo, "values"), (coo, "coords")])
def test_a_part_that_cannot_be_decoded_is_named(db, make, role):
    object = changed(make(), role, encoding="lz4")
    assert f"component '{role}'" in refused(db, object)


@BOTH
def test_more_roles_than_needed_are_fine(db, make):
    object = make()
    object["components"]["note"] = {"dtype": "q7", "bytes": b"x", "encoding": "lz4"}
    assert decode("f32", dense(db, object)) == MATRIX


@BOTH
def test_a_slice_that_holds_the_fault_is_an_error(db, make):
    broken = changed(make(), "indices" if make is csr else "coords", bytes=u64(1, 3) if make is csr else u64(0, 1, 1, 3))
    file = writer.write({"s": broken})
    for sql in ("SELECT zt_dense(?, 's', NULL, 1, 1)", "SELECT zt_value(?, 's', 1, 2)",
                "SELECT vector FROM zt_rows(?, 's') WHERE row = 1"):
        assert message(db, sql, file).startswith(place(file, "s"))


# ------------------------------------------------------------------------------------------------- windows of zstd frames

def windowed(object, log):
    """The object compressed, in frames that ask for a window of 2^log bytes."""
    object = writer.zstd_parts(object)
    for part in object["components"].values():
        part["bytes"] = part["bytes"][:5] + bytes([(log - 10) << 3]) + part["bytes"][6:]
    return object


def cube(index="u64"):
    """Two elements in three dimensions."""
    return writer.sparse_coo([2, 2, 3], [(0, 0, 1), (1, 0, 2)], struct.pack("<2f", 7, 9), "f32", index)


CUBE = [0, 7, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]


@pytest.mark.parametrize("log", [20, 25, 26, 27])
@pytest.mark.parametrize("index", ["u64", "u16"])
def test_coordinates_in_frames_of_large_windows(db, log, index):
    file = writer.write({"s": windowed(cube(index), log)})
    assert decode("f32", value(db, "SELECT zt_dense(?, 's')", file)) == CUBE
    assert [value(db, "SELECT zt_value(?, 's', ?, ?, ?)", file, *i) for i in ((0, 0, 1), (1, 0, 2), (1, 1, 2))] == [7, 9, 0]
    assert rows(db, "SELECT coords, value FROM zt_elements(?, 's')", file) == [("[0,0,1]", 7), ("[1,0,2]", 9)]
    assert rows(db, "SELECT zeros, max FROM zt_stats(?)", file) == [(10, 9)]
    assert {row[0] for row in rows(db, "SELECT rule FROM zt_check(?, 'full')", file)} <= {"missing-digest", "index-dtype"}


def runs(*lengths):
    """Bytes 0, 1, 2 ... so many times each, as a frame of each run."""
    return b"".join(writer.zstd_repeat(bytes([i]), n) for i, n in enumerate(lengths) if n)


@pytest.mark.parametrize("log", [17, 27])
def test_more_coordinates_than_are_gathered_at_once(db, log):
    n = 5_000_000
    first, second = (0, 3_000_000, 2_000_000), (4_500_000, 500_000)
    coords = runs(*first) + runs(*second)
    coords = coords.replace(writer.ZSTD_MAGIC + b"\0" + writer.WINDOW_128_KIB, writer.ZSTD_MAGIC + b"\0" + bytes([(log - 10) << 3]))
    object = {"shape": [3, 2], "format": "sparse_coo", "components": {
        "values": {"dtype": "u64", "bytes": writer.zstd_repeat(b"\1", 8 * n), "encoding": "zstd", "uncompressed_length": 8 * n},
        "coords": {"dtype": "u8", "bytes": coords, "encoding": "zstd", "uncompressed_length": 2 * n}}}
    file = writer.write({"s": object})
    one = 0x0101010101010101
    counts = [0, 0, 3_000_000, 0, 1_500_000, 500_000]
    assert decode("u64", dense(db, object, "u64")) == [k * one % 2**64 for k in counts]
    assert value(db, "SELECT coords FROM zt_elements(?, 's') LIMIT 1 OFFSET 4499999", file) == "[2,0]"


@pytest.mark.parametrize("object, role, name", [(cube(), "values", "s"), (writer.dense(bytes(40)), "data", "s")])
def test_a_window_beyond_what_may_be_held_is_too_big(db, object, role, name):
    """Whole and in part; and zt_check says what it could not look at, once."""
    file = writer.write({"s": windowed(object, 28), "t": writer.dense(b"\2", dtype="bool")})
    text = f"zstd: a frame's window is more than the limit of {1 << 27} bytes"
    for sql in ("SELECT zt_blob(?, 's', '{}')", "SELECT zt_blob(?, 's', '{}', 2, 3)", "SELECT zt_hash(?, 's', '{}', 'xxh3')"):
        error = failure(db, sql.format(role), file)
        assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG and str(error) == f"{place(file, 's', role)}{text}"
    assert failure(db, "SELECT zt_dense(?, 's')", file).sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    found = rows(db, "SELECT object, component, message FROM zt_check(?, 'full') WHERE rule NOT IN ('missing-digest')", file)
    assert ("s", role, text) in found and len(found) == 1 + len(object["components"]) and found[-1][:2] == ("t", "data")


def test_a_blob_of_0_1_is_read_by_three_at_once(db):
    values, indices, indptr = struct.pack("<2f", 7, 9), u64(1, 2), u64(0, 1, 2)
    data = writer.zstd(indptr + indices + values)
    for log, fits in ((25, True), (26, False)):
        stored = data[:5] + bytes([(log - 10) << 3]) + data[6:]
        file = writer.write({"s": dict(writer.dense(stored, [2, 3], "f32", encoding="zstd"), format="sparsecsr")}, "0.1")
        if fits:
            assert decode("f32", value(db, "SELECT zt_dense(?, 's')", file)) == MATRIX
        else:
            error = failure(db, "SELECT zt_dense(?, 's')", file)
            assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
            assert str(error).endswith(f"zstd: a frame's window is more than the limit of {1 << 25} bytes for each of 3 readers")


# ----------------------------------------------------------------------------------------------------------- huge shapes

SIDE = 1 << 30
FAR = [(0, 5), (3, 1 << 29), (SIDE - 1, SIDE - 1)]


@pytest.fixture
def huge():
    """Three numbers in a square of 2^60 cells."""
    return writer.write({"s": writer.sparse_coo([SIDE, SIDE], FAR, struct.pack("<3d", 1.5, -2.5, 4.0), "f64")})


def test_a_dense_form_beyond_all_memory_is_too_big_and_the_elements_are_there(db, huge):
    wide = writer.write({"s": writer.sparse_coo([SIDE, SIDE, 2], [(0, 0, 0)], b"\1", "u8")})
    for call, file in (("zt_dense(?, 's')", huge), ("zt_dense(?, 's', 'f16', 0, 2)", huge), ("zt_json(?, 's')", huge),
                       ("zt_dense(?, 's', 'complex128')", wide)):
        error = failure(db, f"SELECT {call}", file)
        assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG and str(error).startswith(place(file, "s"))
    assert rows(db, "SELECT position, coords, value FROM zt_elements(?, 's')", huge) == [
        (SIDE * i + j, f"[{i},{j}]", v) for (i, j), v in zip(FAR, (1.5, -2.5, 4.0))]
    assert rows(db, "SELECT value FROM zt_elements(?, 's') WHERE position > ?", huge, SIDE) == [(-2.5,), (4.0,)]


def test_single_values_of_a_huge_sparse_object(db, huge):
    for (i, j), number in zip([*FAR, (0, 4), (SIDE - 1, 0)], (1.5, -2.5, 4.0, 0.0, 0.0)):
        assert value(db, "SELECT zt_value(?, 's', ?, ?)", huge, i, j) == number


def test_statistics_of_a_huge_sparse_object_count_its_implicit_zeros(db, huge):
    n = SIDE * SIDE
    mean = 3.0 / n
    got, = rows(db, "SELECT elements, zeros, nans, infs, min, max, mean, std, l2, error FROM zt_stats(?)", huge)
    squares = 1.5 ** 2 + 2.5 ** 2 + 16
    assert got[:6] == (n, n - 3, 0, 0, -2.5, 4.0) and got[9] is None
    assert got[6:9] == pytest.approx((mean, math.sqrt(squares / n - mean * mean), math.sqrt(squares)), rel=1e-12, abs=0)


def powers_of_two(sparse, codes, cells=(3, 70), n=100):
    """Numbers of f8_e8m0, whose byte 0 is 2^-127: it has no 0."""
    data = {"dtype": "u8", "type": "f8_e8m0"}
    if sparse:
        object = writer.sparse_coo([n], [(c,) for c in cells], bytes(codes))
        object["components"]["values"].update(data)
        return writer.write({"w": object}, "2")
    whole = bytearray(n)
    for cell, code in zip(cells, codes):
        whole[cell] = code
    return writer.write({"w": writer.dense(bytes(whole), [n], **data)}, "2")


def test_cells_without_a_value_of_a_type_without_0(db):
    sparse, dense_form = (powers_of_two(s, (128, 1)) for s in (True, False))
    for sql in ("SELECT hex(zt_dense(?, 'w'))", "SELECT zt_value(?, 'w', 0)", "SELECT elements, zeros, min, max, error FROM zt_stats(?)",
                "SELECT bin, low, high, count FROM zt_histogram(?, 'w', 3)", "SELECT fingerprint FROM zt_objects(?)"):
        assert rows(db, sql, sparse) == rows(db, sql, dense_form)
    mean, std, l2 = rows(db, "SELECT mean, std, l2 FROM zt_stats(?)", sparse)[0]
    assert (mean, std, l2) == pytest.approx(rows(db, "SELECT mean, std, l2 FROM zt_stats(?)", dense_form)[0], rel=1e-12)


@pytest.mark.parametrize("n", [100, 1 << 62])
def test_distances_of_cells_without_a_value_of_a_type_without_0(db, n):
    sql = "SELECT equal, max_abs, mean_abs, rmse, l2, other_l2, dot, cosine FROM zt_compare(?, 'w', ?, 'w')"
    blank = 2.0 ** -127
    powers = powers_of_two(True, (1, 2), (3, 70), n)
    zeros = writer.write({"w": writer.sparse_coo([n], [(5,)], struct.pack("<f", 0), "f32")}, "2")
    mean, square = blank * float(n + 4) / n, blank ** 2 * float(n + 18)   # All but two are 1 blank, these are 2 and 4
    for pair in ((powers, zeros), (zeros, powers)):
        equal, most, *distances, one, other, dot, cosine = rows(db, sql, *pair)[0]
        assert (equal, most, min(one, other), dot, cosine) == (0, 4 * blank, 0.0, 0.0, None)
        assert distances + [max(one, other)] == pytest.approx([mean, math.sqrt(square / n), math.sqrt(square)], rel=1e-12)
    equal, *distances, one, other, dot, cosine = rows(db, sql, powers, powers)[0]
    assert (equal, distances, cosine) == (n, [0.0] * 3, 1.0) and one == other and dot == pytest.approx(one * other, rel=1e-12)


def test_a_row_of_a_tall_sparse_object(db):
    file = writer.write({"s": writer.sparse_coo([1 << 50, 3], [(1 << 49, 1), ((1 << 50) - 1, 2)], struct.pack("<2f", 7, 9),
                                                "f32")})
    assert value(db, "SELECT zt_dense(?, 's', NULL, ?, 1)", file, 1 << 49) == struct.pack("<3f", 0, 7, 0)
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 's') WHERE row >= ?", file, (1 << 50) - 2) == [
        ((1 << 50) - 2, bytes(12)), ((1 << 50) - 1, struct.pack("<3f", 0, 0, 9))]
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 's') LIMIT 2", file) == [(0, bytes(12)), (1, bytes(12))]


# ------------------------------------------------------------------------------------------------------------------- 0.1

def in_one_blob(layout, payload, shape, dtype="f32", **fields):
    """A sparse tensor of 0.1: one blob that holds indices and values."""
    return {"shape": shape, "format": layout, "components": {"data": dict(dtype=dtype, bytes=payload, **fields)}}


CSR_0_1 = u64(0, 1, 2) + u64(1, 2) + struct.pack("<2f", 7, 9)
COO_0_1 = u64(0, 1) + struct.pack("<f", 7) + u64(1, 2) + struct.pack("<f", 9)


@pytest.mark.parametrize("layout, payload", [("sparsecsr", CSR_0_1), ("sparsecoo", COO_0_1)])
def test_0_1_keeps_a_sparse_tensor_in_one_blob(db, layout, payload):
    for object in (in_one_blob(layout, payload, [2, 3]), in_one_blob(layout, writer.zstd(payload), [2, 3], encoding="zstd"),
                   dict(in_one_blob("sparse", payload, [2, 3]), attributes={"sparse_format": layout[6:]})):
        file = writer.write({"s": object}, "0.1")
        assert decode("f32", value(db, "SELECT zt_dense(?, 's')", file)) == MATRIX
        assert decode("f32", value(db, "SELECT zt_dense(?, 's', NULL, 1, 1)", file)) == MATRIX[3:]
        assert rows(db, "SELECT position, value FROM zt_elements(?, 's')", file) == [(1, 7.0), (5, 9.0)]
        assert rows(db, "SELECT zt_value(?1, 's', 1, 2), zt_value(?1, 's', 1, 1)", file) == [(9.0, 0.0)]


@pytest.mark.parametrize("layout", ["sparsecsr", "sparsecoo"])
def test_a_big_endian_blob_of_0_1_is_swapped_as_a_whole(db, layout):
    parts = [0, 1, 2, 1, 2, 7.0, 9.0] if layout == "sparsecsr" else [0, 1, 7.0, 1, 2, 9.0]
    payload = b"".join(struct.pack(">d" if isinstance(part, float) else ">Q", part) for part in parts)
    file = writer.write({"s": in_one_blob(layout, payload, [2, 3], "f64", data_endianness="big")}, "0.1")
    assert value(db, "SELECT zt_dense(?, 's')", file) == struct.pack("<6d", *MATRIX)
    assert rows(db, "SELECT position, value FROM zt_elements(?, 's')", file) == [(1, 7.0), (5, 9.0)]


@pytest.mark.parametrize("layout, payload", [
    ("sparsecsr", CSR_0_1[:-1]), ("sparsecsr", CSR_0_1 + b"\0"), ("sparsecsr", CSR_0_1[:24]), ("sparsecsr", b""),
    ("sparsecsr", u64(0, 1, 3) + CSR_0_1[24:]), ("sparsecsr", u64(0, 1, 2) + u64(1, 3) + CSR_0_1[40:]),
    ("sparsecsr", u64(0, 1, 1 << 61) + CSR_0_1[24:]), ("sparsecoo", COO_0_1[:-1]), ("sparsecoo", COO_0_1 + b"\0"),
    ("sparsecoo", u64(2, 1) + COO_0_1[16:]), ("sparsecoo", COO_0_1[:20] + u64(1, 3) + COO_0_1[36:])])
def test_a_broken_sparse_blob_of_0_1_is_an_error(db, layout, payload):
    assert refused(db, in_one_blob(layout, payload, [2, 3]), "0.1")
