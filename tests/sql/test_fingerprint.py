"""Fingerprints: of tensors, the columns fingerprint and fingerprint_error of zt_objects; of files, zt_fingerprint()."""
import io
import itertools
import json
import os
import random
import re
import sqlite3
import struct
import threading
from types import SimpleNamespace

import numpy
import pytest

import corpus
import writer
import write_gguf
import write_msgpack as msgpack
import write_onnx as onnx
import write_pytorch as torch
import write_tflite as tflite
from support import ROOT, failure, message, place, quoted, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
NOFS = "sqlite3_ztensor_nofs_init"
MIB = 1 << 20
EVERY_GOLDEN = [(format, *golden) for format in corpus.formats() for golden in corpus.golden(format)]


def fingerprint(dtype, shape, data):
    """A tensor's, as ext/tensor/fingerprint.h says."""
    head = struct.pack("<Q", len(dtype)) + dtype.encode() + struct.pack(f"<{1 + len(shape)}Q", len(shape), *shape)
    return writer.xxh3_128(head + data)


def of_file(fingerprints):
    """A file's, by the fingerprints of its objects by name."""
    names = sorted((name.encode(), bytes.fromhex(text.removeprefix("xxh3-128:"))) for name, text in fingerprints.items())
    return writer.xxh3_128(b"".join(struct.pack("<Q", len(name)) + name + digest for name, digest in names))


def of(db, source, name="w"):
    return value(db, "SELECT fingerprint FROM zt_objects(?) WHERE object = ?", source, name)


def one(object, generation="1.2"):
    return writer.write({"w": object}, generation)


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


# ------------------------------------------------------------------------------------------------ what they are made of

@pytest.mark.parametrize("format, name, file, expected", EVERY_GOLDEN, ids=["/".join(row[:2]) for row in EVERY_GOLDEN])
@BOTH_WAYS
def test_they_are_of_type_shape_and_what_zt_dense_gives(db, how, format, name, file, expected):
    source = corpus.source_of(file, how)
    listed = rows(db, "SELECT object, format, type, shape, fingerprint, fingerprint_error FROM zt_objects(?)", source)
    found, reasons = {}, {}
    for object, layout, type, shape, got, error in listed:
        try:
            data = value(db, "SELECT zt_dense(?, ?)", source, object)
        except sqlite3.Error as failed:
            assert (got, error) == (None, str(failed))
            reasons[object] = str(failed)
            continue
        dtype = type if layout in ("dense", "sparse_csr", "sparse_coo", "matlab.sparse", "tensorflow.sliced") else "f32"
        assert (got, error) == (fingerprint(dtype, json.loads(shape), data), None), object
        found[object] = got
    try:
        assert value(db, "SELECT zt_fingerprint(?)", source) == (None if reasons else of_file(found))
    except sqlite3.Error as failed:
        assert str(failed) in reasons.values()


def test_known_fingerprints(db):
    """Kept in catalogs, they stay what they are."""
    file = writer.write({"w": writer.dense(floats(1, -2, 0.5), [3, 1], "f32"), "b": writer.dense(b"\1\0", [2], "bool")})
    assert rows(db, "SELECT object, fingerprint FROM zt_objects(?)", file) == [
        ("w", "xxh3-128:5211ec9dc952c7b30af22e3aa0ab1dd8"), ("b", "xxh3-128:dc5726afce4c85f547566bf3774404ce")]
    assert value(db, "SELECT zt_fingerprint(?)", file) == "xxh3-128:72cf70dceba9d4bc6a4edf78850b1e17"


def test_the_references_way_in_python(db):
    program = re.search(r"^```python\n(def fingerprint.*?)^```$", (ROOT / "ext" / "REFERENCE.md").read_text(), re.M | re.S)[1]
    xxhash = SimpleNamespace(xxh3_128_hexdigest=lambda data: writer.xxh3_128(data).removeprefix("xxh3-128:"))
    names = {"struct": struct, "xxhash": xxhash}
    exec(program, names)
    for array in (numpy.arange(6, dtype=">f4").reshape(2, 3), numpy.array(-5, ">f4"), numpy.zeros((0, 3), "<f4")):
        file = one(writer.dense(array.astype("<f4").tobytes(), list(array.shape), "f32"))
        assert of(db, file) == names["fingerprint"](array, "f32")


def test_a_file_without_objects(db):
    assert value(db, "SELECT zt_fingerprint(?)", writer.write({})) == writer.xxh3_128(b"")


def test_there_is_none_of_null(db):
    assert value(db, "SELECT zt_fingerprint(NULL)") is None
    assert rows(db, "SELECT fingerprint FROM zt_objects(NULL)") == []


# ----------------------------------------------------------------------------------- what holds a tensor does not matter

SHAPE = [3, 4]
MATRIX = [0.0, 0.0, 1.5, 0.0, -2.0, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 3.0]
CELLS = [i for i, x in enumerate(MATRIX) if x]
DATA = floats(*MATRIX)


def numpy_file(save, array):
    file = io.BytesIO()
    save(file, array)
    return file.getvalue()


def safetensors_of(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def stored_alike():
    """A file whose object `w` (in npy: the only one) has SHAPE and DATA."""
    dense = writer.dense(DATA, SHAPE, "f32")
    matrix = numpy.array(MATRIX, "<f4").reshape(SHAPE)
    indptr = [sum(cell < 4 * row for cell in CELLS) for row in range(4)]
    values = floats(*[MATRIX[cell] for cell in CELLS])
    csr = writer.sparse_csr(SHAPE, indptr, [cell % 4 for cell in CELLS], values, "f32", "i32")
    coo = writer.sparse_coo(SHAPE, [divmod(cell, 4) for cell in CELLS], values, "f32")
    order = [3, 0, 2, 1, 0]   # The first in two halves, which add up
    unordered = writer.sparse_coo(SHAPE, [divmod(CELLS[i], 4) for i in order],
                                  floats(*[MATRIX[CELLS[i]] / (2 if i == 0 else 1) for i in order]), "f32")
    for generation in ("0.1", "1.0", "1.1", "1.2", "2"):
        yield f"ztensor {generation}", writer.write({"w": dense}, generation)
    for generation in ("1.1", "1.2"):
        yield f"ztensor {generation}, zstd", writer.write({"w": writer.zstd_parts(dense)}, generation)
        yield f"ztensor {generation}, csr", writer.write({"w": csr}, generation)
        yield f"ztensor {generation}, coo, zstd", writer.write({"w": writer.zstd_parts(coo)}, generation)
        yield f"ztensor {generation}, coo without order", writer.write({"w": unordered}, generation)
    big = {**dense, "components": {"data": {"dtype": "f32", "bytes": matrix.astype(">f4").tobytes()}}, "attributes": {"data_endianness": "big"}}
    yield "ztensor 0.1, big-endian", writer.write({"w": big}, "0.1")
    seekable = writer.dense(writer.seekable(DATA, 10), SHAPE, "f32", encoding=writer.SEEKABLE, decoded_length=len(DATA))
    yield "ztensor 2, seekable", writer.write_2({"w": seekable})
    yield "ztensor 2, csr", writer.write_2({"w": writer.sparse_csr(SHAPE, indptr, [cell % 4 for cell in CELLS], values, "f32")})
    yield "safetensors", safetensors_of({"w": {"dtype": "F32", "shape": SHAPE, "data_offsets": [0, len(DATA)]}}, DATA)
    for order in "<>":
        yield f"gguf {order}", write_gguf.File(order).tensor("w", SHAPE[::-1], data=matrix.astype(order + "f4").tobytes()).bytes()
    for code, array in itertools.product("<>", (matrix, numpy.asfortranarray(matrix))):
        name = f"{code}, {'Fortran' if array.flags.f_contiguous else 'C'}"
        yield f"npy {name}", numpy_file(numpy.save, array.astype(code + "f4"))
        yield f"npz {name}", numpy_file(lambda file, a: numpy.savez_compressed(file, w=a), array.astype(code + "f4"))
    transposed = {"0": floats(*matrix.T.ravel())}
    yield "pytorch", torch.of({"w": torch.tensor((3, 4), (1, 3), elements=12)}, storages=transposed)
    yield "onnx, raw", onnx.model(onnx.graph([onnx.tensor("w", SHAPE, onnx.FLOAT, onnx.raw(DATA))]))
    yield "onnx, typed", onnx.model(onnx.graph([onnx.tensor("w", SHAPE, onnx.FLOAT, onnx.fields(4, MATRIX))]))
    yield "tflite", tflite.file(tflite.model([tflite.subgraph(tflite.tensor("w", SHAPE))], [tflite.data(DATA)]))
    yield "msgpack", msgpack.pack({"w": msgpack.array(SHAPE, "float32", DATA)})
    parts = [msgpack.array([n], "float32", DATA[4 * at:4 * (at + n)]) for at, n in ((0, 5), (5, 7))]
    yield "msgpack, in chunks", msgpack.pack({"w": msgpack.chunked(msgpack.in_order(SHAPE), msgpack.in_order(parts))})


STORED = dict(stored_alike())


@pytest.mark.parametrize("holder", STORED)
@BOTH_WAYS
def test_a_tensor_has_one_whatever_holds_it(db, save, holder, how):
    source = STORED[holder] if how == "blob" else save("w.npy" if "npy" in holder else "m", STORED[holder])
    name = "data" if "npy" in holder and how == "blob" else "w"
    of_tensor = fingerprint("f32", SHAPE, DATA)
    assert rows(db, "SELECT object, fingerprint, fingerprint_error FROM zt_objects(?)", source) == [(name, of_tensor, None)]
    assert value(db, "SELECT zt_fingerprint(?)", source) == of_file({name: of_tensor})


def test_a_tensor_in_a_shard(db, save):
    shard = writer.data_shard(DATA)
    path = save("m.zt", writer.write_2({"w": writer.in_shard("s", 4096, len(DATA), SHAPE, "f32")}, shards={"s": shard}))
    save("m-s.zt", shard)
    assert of(db, path) == fingerprint("f32", SHAPE, DATA)


def test_numbers_as_varints_are_those_in_raw_bytes(db):
    numbers = [-3, 0, 7, -(1 << 40)]
    typed = onnx.model(onnx.graph([onnx.tensor("w", [4], onnx.INT64, onnx.packed(7, numbers))]))
    raw = onnx.model(onnx.graph([onnx.tensor("w", [4], onnx.INT64, onnx.raw(struct.pack("<4q", *numbers)))]))
    assert of(db, typed) == of(db, raw) == of(db, one(writer.dense(struct.pack("<4q", *numbers), [4], "i64")))


def test_a_quantized_tensor_has_that_of_its_values(db):
    """So has a dense one of these values, in f32, and none in another type."""
    file = one(writer.quantized([2, 4], [0, 1, 2, 3, 3, 2, 1, 0], 8, 4, "u8", floats(0.5, 2), floats(1, 0)))
    values = value(db, "SELECT zt_dense(?, 'w')", file)
    assert of(db, file) == of(db, one(writer.dense(values, [2, 4], "f32")))
    half = value(db, "SELECT zt_dense(?, 'w', 'f16')", file)
    assert of(db, file) != of(db, one(writer.dense(half, [2, 4], "f16")))


def test_converted_models(db):
    folder = corpus.FORMATS / "gguf" / "converted"
    found = {name: value(db, "SELECT zt_fingerprint(?)", str(folder / name)) for name in ("model.zt", "model.safetensors", "model.gguf")}
    assert found["model.zt"] == found["model.safetensors"] != found["model.gguf"]
    same = rows(db, "SELECT object, count(DISTINCT fingerprint) FROM zt_objects(?) GROUP BY object", str(folder))
    assert same == [("blk.0.up.weight", 2), ("embed.weight", 2), ("norm.weight", 1)]


# ------------------------------------------------------------------------------------------------------- what does matter

def distinct(db, files):
    found = [of(db, file) for file in files]
    assert None not in found and len(set(found)) == len(found)


def test_types_of_equal_bytes_differ(db):
    distinct(db, [one(writer.typed(bytes(16), [16 // width], type)) for type, width in
                  {"u8": 1, "i8": 1, "bool": 1, "f8_e4m3fn": 1, "f8_e5m2": 1, "u16": 2, "f16": 2, "bf16": 2, "f32": 4, "i64": 8,
                   "f64": 8, "complex64": 8, "complex128": 16}.items()])


def test_shapes_of_equal_bytes_differ(db):
    distinct(db, [one(writer.dense(bytes(12), shape)) for shape in ([12], [3, 4], [4, 3], [1, 12], [12, 1], [2, 2, 3])])
    distinct(db, [one(writer.dense(b"\1", shape)) for shape in ([], [1], [1, 1])])
    distinct(db, [one(writer.dense(b"", shape)) for shape in ([0], [0, 3], [3, 0], [0, 0])])


def test_values_that_are_equal_and_other_bits_differ(db):
    patterns = {"f32": [0, 0x80000000, 0x7FC00000, 0x7FC00001, 0xFFC00000, 0x7F800001], "f64": [0, 1 << 63, 0x7FF8 << 48, (0x7FF8 << 48) + 1]}
    for type, bits in patterns.items():
        size = int(type[1:]) // 8
        distinct(db, [one(writer.dense(pattern.to_bytes(size, "little"), [1], type)) for pattern in bits])
    distinct(db, [one(writer.dense(bytes([byte]), [1], "bool")) for byte in (0, 1, 2)])


def test_each_byte_counts(db):
    data = bytes(range(200))
    changed = [data] + [data[:i] + bytes([data[i] ^ 1]) + data[i + 1:] for i in (0, 1, 99, 198, 199)]
    distinct(db, [one(writer.dense(each)) for each in changed])


MODEL = {"b": writer.dense(b"\2" * 4), "a": writer.dense(b"\1" * 12, [3, 4]), "é": writer.dense(b""), "B": writer.dense(b"1", []),
         "ab": writer.dense(b"2", []), "": writer.dense(b"3", []), "a" * 300: writer.dense(b"4")}


def test_a_file_counts_names_and_tensors_and_nothing_else(db):
    expected = of_file(dict(rows(db, "SELECT object, fingerprint FROM zt_objects(?)", writer.write(MODEL))))
    names = list(MODEL)
    some = random.Random(4)
    for generation in ("0.1", "1.0", "1.1", "1.2"):
        some.shuffle(names)
        packed = {name: writer.zstd_parts(MODEL[name]) if generation != "1.0" and i % 2 else MODEL[name] for i, name in enumerate(names)}
        assert value(db, "SELECT zt_fingerprint(?)", writer.write(packed, generation)) == expected
    with_more = writer.write({name: {**MODEL[name], "attributes": {"k": 1}} for name in names}, attributes={"x": "y"}, gap=999)
    assert value(db, "SELECT zt_fingerprint(?)", with_more) == expected


def test_a_file_with_another_name_or_tensor_is_another(db):
    changed = [{}, {"a": MODEL["a"]}, {"b": MODEL["b"]}, {"b": MODEL["a"], "a": MODEL["b"]}, {"a": MODEL["a"], "b": MODEL["b"]},
               {"a": MODEL["a"], "b": MODEL["b"], "c": MODEL["b"]}, {"a": MODEL["a"], "c": MODEL["b"]}, {"aa": MODEL["a"], "b": MODEL["b"]}]
    found = [value(db, "SELECT zt_fingerprint(?)", writer.write(model)) for model in changed]
    assert None not in found and len(set(found)) == len(found)


def test_many_names_in_any_order(db):
    names = [f"{i * 7919 % 5000:x}" for i in range(5000)]
    tensor = writer.dense(b"1")
    expected = of_file(dict.fromkeys(names, fingerprint("u8", [1], b"1")))
    for order in (names, sorted(names), sorted(names)[::-1]):
        assert value(db, "SELECT zt_fingerprint(?)", writer.write({name: tensor for name in order})) == expected


# ---------------------------------------------------------------------------------------------------- more than a window

def stored_cells(count, elements, repeated=0):
    """Cells of a tensor, in no order, the first and the last among them, some of them twice."""
    some = random.Random(count)
    cells = list({0, elements - 1, *(some.randrange(elements) for _ in range(count))})
    cells += some.sample(cells, repeated)
    some.shuffle(cells)
    return cells


@pytest.mark.parametrize("elements", [65535, 65536, 65537, 3 * 65536, 1_000_003])
@pytest.mark.parametrize("repeated", [0, 100])
@pytest.mark.parametrize("ordered", [False, True])
def test_sparse_tensors_of_several_windows(db, elements, repeated, ordered):
    cells = stored_cells(2000, elements, repeated)
    if ordered:
        cells.sort()
    array = numpy.zeros(elements, "<i4")
    values = range(1, len(cells) + 1)
    for cell, number in zip(cells, values):
        array[cell] += number
    file = one(writer.sparse_coo([elements], [(cell,) for cell in cells], writer.integers("i32", values), "i32"))
    assert of(db, file) == fingerprint("i32", [elements], array.tobytes())


@pytest.mark.parametrize("first", [0, 200_000])
def test_windows_between_stored_elements_are_zeros(db, first):
    file = one(writer.sparse_coo([1_000_000], [(first,), (900_000,)], b"\7\x08", "u8"))
    data = bytearray(1_000_000)
    data[first], data[900_000] = 7, 8
    assert of(db, file) == fingerprint("u8", [1_000_000], bytes(data))
    nothing = one(writer.sparse_coo([1_000_000], [], b"", "u8"))
    assert of(db, nothing) == fingerprint("u8", [1_000_000], bytes(1_000_000))


@pytest.mark.parametrize("count", [1, 3, 262_143, 262_144, 262_145, 600_001])
def test_packed_elements_of_several_windows(db, count):
    data = random.Random(count).randbytes(count // 2) + (b"\5" if count % 2 else b"")
    header = {"w": {"dtype": "F4", "shape": [count], "data_offsets": [0, len(data)]}}
    packed = onnx.model(onnx.graph([onnx.tensor("w", [count], onnx.INT4, onnx.raw(data))]))
    assert of(db, packed) == fingerprint("i4", [count], data)
    if count % 2 == 0:   # Of safetensors, elements end with a byte
        assert of(db, safetensors_of(header, data)) == fingerprint("f4_e2m1", [count], data)


def test_spare_bits_are_none_of_the_values(db):
    spare = onnx.model(onnx.graph([onnx.tensor("w", [3], onnx.UINT4, onnx.raw(b"\x21\xf3"))]))
    assert of(db, spare) == fingerprint("u4", [3], b"\x21\x03")


@pytest.mark.parametrize("dtype", ["u8", "f16", "f64", "complex128"])
def test_dense_tensors_of_several_windows(db, dtype):
    width = {"u8": 1, "f16": 2, "f64": 8, "complex128": 16}[dtype]
    count = 3 * 256 * 1024 // width + 5
    data = random.Random(width).randbytes(count * width)
    object = writer.typed(data, [count], dtype)
    assert of(db, one(object)) == of(db, one(writer.zstd_parts(object))) == fingerprint(dtype, [count], data)


def test_the_limit_on_a_result_is_none_on_a_tensor(db, save):
    path = save("x.zt", one(writer.dense(bytes(1_000_000))))
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    assert of(db, path) == fingerprint("u8", [1_000_000], bytes(1_000_000))


# --------------------------------------------------------------------------------------- tensors without values, and files

CUT = writer.zstd(bytes(100))[:-1]
DOUBTFUL = {"short": writer.dense(b"1", [2]), "good": writer.dense(b"good"), "strange": writer.dense(b"1", [1], "z9"),
            "cut": writer.dense(CUT, [100], encoding="zstd", uncompressed_length=100), "lz4": writer.dense(b"1", [1], encoding="lz4")}


@BOTH_WAYS
@pytest.mark.parametrize("on_error", ["abort", "skip"])
def test_without_values_there_is_a_reason(db, save, how, on_error):
    file = writer.write(DOUBTFUL)
    source = file if how == "blob" else save("x.zt", file)
    found = rows(db, "SELECT object, fingerprint, fingerprint_error FROM zt_objects(?, ?)", source, on_error)
    assert [name for name, _, _ in found] == list(DOUBTFUL)
    for name, got, error in found:
        if name == "good":
            assert (got, error) == (fingerprint("u8", [4], b"good"), None)
        else:
            assert got is None
            assert error == message(db, "SELECT zt_dense(?, ?)", source, name)
            assert error.startswith(place(source, name))


def test_either_column_alone(db):
    file = writer.write(DOUBTFUL)
    reasons = [error for error, in rows(db, "SELECT fingerprint_error FROM zt_objects(?)", file)]
    assert [error is None for error in reasons] == [name == "good" for name in DOUBTFUL]
    assert rows(db, "SELECT object FROM zt_objects(?) WHERE fingerprint IS NULL AND fingerprint_error LIKE '%z9%'", file) == [("strange",)]
    assert rows(db, "SELECT object FROM zt_objects(?) WHERE fingerprint = ?", file, fingerprint("u8", [4], b"good")) == [("good",)]


def test_a_shard_that_is_not_there(db):
    path = str(corpus.GOLDEN / "v2" / "hand_sharded_missing.zt")
    found = rows(db, "SELECT fingerprint, fingerprint_error FROM zt_objects(?)", path)
    assert any("nowhere" in error for got, error in found if got is None)
    assert message(db, "SELECT zt_fingerprint(?)", path) in [error for _, error in found]


UNKNOWN, BROKEN = ("strange", "lz4"), ("short", "cut")


def test_a_file_has_none_if_the_values_of_a_tensor_are_not_known(db):
    for names in (UNKNOWN, *[(name, "good") for name in UNKNOWN]):
        assert value(db, "SELECT zt_fingerprint(?)", writer.write({name: DOUBTFUL[name] for name in names})) is None
    for file in ("numpy.unicode", "numpy.object"):
        source = numpy_file(numpy.save, numpy.array(["a", "bc"], object if file == "numpy.object" else None))
        assert rows(db, "SELECT format, fingerprint FROM zt_objects(?)", source) == [(file, None)]
        assert value(db, "SELECT zt_fingerprint(?)", source) is None


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_tensor_is_an_error_of_its_file(db, name):
    file = writer.write({"good": DOUBTFUL["good"], name: DOUBTFUL[name]})
    assert message(db, "SELECT zt_fingerprint(?)", file) == value(db, "SELECT fingerprint_error FROM zt_objects(?) WHERE object = ?", file, name)


def test_the_first_by_name_decides(db):
    file = writer.write({"b": DOUBTFUL["strange"], "c": DOUBTFUL["short"], "a": DOUBTFUL["good"]})
    assert value(db, "SELECT zt_fingerprint(?)", file) is None
    file = writer.write({"c": DOUBTFUL["strange"], "b": DOUBTFUL["short"], "a": DOUBTFUL["good"]})
    assert "object 'b'" in message(db, "SELECT zt_fingerprint(?)", file)


@pytest.mark.parametrize("source", ["'nowhere.zt'", "'*.zt'", "X'00'", "5", "'[\"a.zt\"]'"])
def test_what_is_no_file_is_an_error(db, source):
    assert message(db, f"SELECT zt_fingerprint({source})").startswith("ztensor: ")


def test_a_broken_file_is_an_error(db, save):
    path = save("x.zt", writer.sample()[:-1])
    assert message(db, "SELECT zt_fingerprint(?)", path) == message(db, "SELECT fingerprint FROM zt_objects(?)", path)
    assert rows(db, "SELECT fingerprint FROM zt_objects(?, 'skip')", path) == []


def test_views_stored_in_a_database_have_none(db):
    db.execute("CREATE VIEW stored AS SELECT zt_fingerprint(X'00') AS id")
    assert "unsafe use" in message(db, "SELECT * FROM stored")


# ---------------------------------------------------------------------------------------------- queries, and what they cost

def test_copies_in_a_collection(db, save, tmp_path):
    """A duplicate is one whatever holds it: the same model in three formats, and another one."""
    for i, holder in enumerate(("ztensor 1.2", "safetensors", "ztensor 2, csr")):
        save(f"models/{i}", STORED[holder])
    save("models/other", one(writer.dense(DATA[::-1], SHAPE, "f32")))
    folder = str(tmp_path / "models" / "*")
    groups = rows(db, """SELECT count(*), group_concat(path) FROM (SELECT path, zt_fingerprint(path) AS f FROM zt_files(?) ORDER BY path)
                         GROUP BY f ORDER BY 1""", folder)
    assert [(n, [path[-1] for path in paths.split(",")]) for n, paths in groups] == [(1, ["r"]), (3, ["0", "1", "2"])]
    pairs = rows(db, """SELECT a.path, b.path FROM zt_objects(?1) AS a JOIN zt_objects(?1) AS b
                        ON a.fingerprint = b.fingerprint AND a.path < b.path""", folder)
    assert len(pairs) == 3


def test_joined_laterally(db, save, tmp_path):
    for name in "ab":
        save(f"d/{name}.zt", writer.write({"w": writer.dense(name.encode()), "v": writer.dense(b"v")}))
    got = rows(db, """SELECT substr(f.path, -4), o.object, o.fingerprint FROM zt_files(?) AS f, zt_objects(f.path) AS o
                      WHERE o.object = 'w' ORDER BY 1""", str(tmp_path / "d"))
    assert got == [(f"{name}.zt", "w", fingerprint("u8", [1], name.encode())) for name in "ab"]


def test_of_blobs_in_a_table(db):
    db.execute("CREATE TABLE models(id INTEGER, image BLOB)")
    db.executemany("INSERT INTO models VALUES (?, ?)", [(i, one(writer.dense(bytes([i])))) for i in range(20)])
    expected = [fingerprint("u8", [1], bytes([i])) for i in range(20)]
    assert rows(db, "SELECT fingerprint FROM models, zt_objects(image) ORDER BY id") == [(f,) for f in expected]
    assert rows(db, "SELECT zt_fingerprint(image) FROM models ORDER BY id") == [(of_file({"w": f}),) for f in expected]


@pytest.fixture
def large(save):
    """The path of a file whose blobs, a MiB each, lie from 1 MiB to 3 MiB."""
    objects = {name: writer.dense(bytes([x]) * MIB) for name, x in (("a", 1), ("b", 2))}
    return save("large.zt", writer.write(objects, first_offset=MIB, gap=MIB))


def test_one_reads_its_tensor_and_once(trace, large):
    got = trace(f"SELECT fingerprint, fingerprint_error, fingerprint FROM zt_objects('{large}') WHERE object = 'b';")
    expected = fingerprint("u8", [MIB], b"\2" * MIB)
    assert got.out.strip() == f"{expected}||{expected}"
    assert (got.bytes_read(large, MIB, 2 * MIB), got.bytes_read(large, 2 * MIB, 3 * MIB)) == (0, MIB)


def test_one_that_is_not_selected_reads_nothing(trace, large):
    got = trace(f"SELECT *, on_error FROM zt_objects('{large}');")
    assert got.bytes_read(large, MIB, 3 * MIB) == 0


def test_that_of_a_file_reads_each_tensor_once(trace, large):
    for threads in (1, 4):
        got = trace(f"SELECT zt_threads({threads}) > 0, zt_fingerprint('{large}');")
        assert got.bytes_read(large, MIB, 3 * MIB) == 2 * MIB


def test_they_take_a_window_of_memory_each(shell, save):
    """Of 64 MiB, stored and not."""
    dense = save("dense.zt", one(writer.dense(bytes(64 * MIB))))
    cells = stored_cells(1000, 64 * MIB)
    sparse = save("sparse.zt", one(writer.sparse_coo([64 * MIB], [(cell,) for cell in cells], b"\1" * len(cells))))
    for path in (dense, sparse):
        got = shell(f"""PRAGMA hard_heap_limit = 6000000;
                        SELECT fingerprint IS NOT NULL, zt_fingerprint({quoted(path)}) IS NOT NULL FROM zt_objects({quoted(path)});""")
        assert (got.out.split()[-1], got.err) == ("1|1", "")


@pytest.mark.parametrize("sql", ["SELECT stop() AND fingerprint FROM zt_objects(?)", "SELECT stop() AND fingerprint_error FROM zt_objects(?, 'skip')",
                                 "SELECT stop() AND zt_fingerprint(?)"])
def test_an_interrupt_ends_the_query(db, save, sql):
    path = save("x.zt", one(writer.dense(bytes(32 * MIB))))
    db.create_function("stop", 0, lambda: db.interrupt() or 1)
    assert failure(db, sql, path).sqlite_errorcode == sqlite3.SQLITE_INTERRUPT


# The last tensor has 2^40 values
EXPANDED = torch.of({**{name: torch.tensor() for name in "abc"}, "w": torch.tensor((1 << 40,), (0,))})


@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("sql", ["SELECT fingerprint FROM zt_objects(?) WHERE object = 'w'", "SELECT zt_fingerprint(?)"])
def test_an_interrupt_ends_the_fingerprint_of_repeated_values(db, save, sql, threads):
    path = save("x.pt", EXPANDED)
    value(db, "SELECT zt_threads(?)", threads)
    timer = threading.Timer(0.1, db.interrupt)
    timer.start()
    assert failure(db, sql, path).sqlite_errorcode == sqlite3.SQLITE_INTERRUPT
    timer.join()


@pytest.mark.parametrize("threads", [1, 8])
def test_a_connection_closes_while_threads_compute_fingerprints(connect, save, threads):
    db = connect()
    value(db, "SELECT zt_threads(?)", threads)
    cursor = db.execute("SELECT object FROM zt_objects(?) WHERE fingerprint IS NOT NULL", (save("x.pt", EXPANDED),))
    assert cursor.fetchone() == ("a",)
    cursor.close()
    db.close()


# -------------------------------------------------------------------------------------------------------------------- nofs

def test_nofs_takes_a_blob_and_no_path(connect, sample):
    nofs = connect(entry=NOFS)
    assert value(nofs, "SELECT zt_fingerprint(?)", STORED["gguf <"]) == of_file({"w": fingerprint("f32", SHAPE, DATA)})
    assert of(nofs, STORED["npz <, C"]) == fingerprint("f32", SHAPE, DATA)
    for sql in ("SELECT zt_fingerprint(?)", "SELECT fingerprint FROM zt_objects(?)"):
        assert "opens no files" in message(nofs, sql, sample)


def repeated(count):
    return writer.dense(writer.zstd_repeat(b"\1", count), [count], encoding="zstd", uncompressed_length=count)


def test_what_nofs_does_not_decode_has_none(connect):
    nofs = connect(entry=NOFS)
    nofs.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    file = writer.write({"bomb": repeated(1 << 24), "w": writer.dense(b"1")})
    (bomb, none, reason), rest = rows(nofs, "SELECT object, fingerprint, fingerprint_error FROM zt_objects(?)", file)
    assert (bomb, none) == ("bomb", None) and "more than 100000 bytes would have to be decoded" in reason
    assert rest == ("w", fingerprint("u8", [1], b"1"), None)
    assert failure(nofs, "SELECT zt_fingerprint(?)", file).sqlite_errorcode == sqlite3.SQLITE_TOOBIG


def test_one_call_of_nofs_decodes_no_more_than_the_limit(connect):
    """Several tensors, none of which is too much."""
    nofs = connect(entry=NOFS)
    nofs.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    assert value(nofs, "SELECT zt_threads(8)") == 8
    models = [writer.write({str(i): repeated(30_000) for i in range(n)}) for n in (3, 4)]
    assert value(nofs, "SELECT zt_fingerprint(?)", models[0]) == of_file({str(i): fingerprint("u8", [30_000], b"\1" * 30_000) for i in range(3)})
    assert rows(nofs, "SELECT count(fingerprint) FROM zt_objects(?)", models[1]) == [(4,)]
    assert failure(nofs, "SELECT zt_fingerprint(?)", models[1]).sqlite_errorcode == sqlite3.SQLITE_TOOBIG


# ------------------------------------------------------------------------------------------- of a model in several files

ROWS = "SELECT zt_fingerprint(object, fingerprint) FROM (SELECT object, fingerprint FROM zt_objects(?, 'skip'))"


def test_the_fingerprint_over_rows_is_that_of_a_file_with_these_tensors(db):
    seen = 0
    for path, in rows(db, "SELECT path FROM zt_files(?) WHERE error IS NULL AND objects > 0", str(ROOT / "tests/formats")):
        try:
            whole = value(db, "SELECT zt_fingerprint(?)", path)
        except sqlite3.Error:
            continue
        assert value(db, ROWS, path) == value(db, ROWS.replace("'skip')", "'skip') ORDER BY random()"), path) == whole, path
        seen += whole is not None
    assert seen > 200


def test_it_is_that_of_parts_in_one(db, save):
    tensors = {f"layer.{i}": writer.dense(bytes([i]) * (i + 1)) for i in range(30)}
    tensors["\u00e9"] = tensors["layer"] = tensors[""] = writer.dense(b"x")
    names = sorted(tensors)
    parts = [save(f"p/{i}.zt", writer.write({name: tensors[name] for name in names[i::3]})) for i in range(3)]
    whole = save("whole.zt", writer.write(tensors, "1.0"))
    assert value(db, ROWS, os.path.dirname(parts[0])) == value(db, "SELECT zt_fingerprint(?)", whole)
    assert value(db, ROWS, parts[0]) != value(db, ROWS, parts[1])


def test_over_rows_what_is_not_known_is_null_and_what_is_none_an_error(db, save):
    assert value(db, "SELECT zt_fingerprint(1, 2) WHERE 0") is None
    assert rows(db, "SELECT zt_fingerprint(value, NULL), zt_fingerprint(NULL, value) FROM json_each('[1, 1]')") == [(None, None)]
    good = "'xxh3-128:" + "0f" * 16 + "'"
    assert value(db, f"SELECT zt_fingerprint(value, CASE WHEN value = 2 THEN NULL ELSE {good} END) FROM json_each('[1, 2, 3]')") is None
    assert message(db, f"SELECT zt_fingerprint('w', {good}) FROM json_each('[1, 2]')") == "ztensor: zt_fingerprint: two tensors have the name 'w'"
    for text in ("", "xxh3-128:", "xxh3-128:" + "0F" * 16, "xxh3-128:" + "0f" * 17, "sha256:" + "0f" * 16, "xxh3-128:" + "0g" * 16,
                 "sha2-128:" + "0f" * 16, "xxh3-128:" + "g0" * 16, "xxh3-128:" + "0/" * 16):
        assert message(db, "SELECT zt_fingerprint('w', ?)", text) == f"ztensor: zt_fingerprint: '{text}' is no tensor's fingerprint"
