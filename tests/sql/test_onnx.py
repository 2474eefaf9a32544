"""ONNX models: data in other files, values of every encoding through every function, what is read and what is not."""
import json
import os
import shutil
import sqlite3
import struct

import pytest

import corpus
import write_onnx as onnx
from support import everything, message, place, prefix, rows, value
from write_onnx import FLOAT, INT2, INT4, INT64, UINT2, UINT4, UINT8

FORMAT = corpus.FORMATS / "onnx"

NOFS = "sqlite3_ztensor_nofs_init"
DATA = bytes(range(16))


def model_of(*parts, dims=(4,), type=FLOAT, name="w"):
    return onnx.model(onnx.graph([onnx.tensor(name, dims, type, *parts)]))


def beside(location, dims=(16,), type=UINT8, **more):
    return model_of(onnx.external(location=location, **more), dims=dims, type=type)


def dense(db, source, name="w"):
    return value(db, "SELECT zt_dense(?, ?)", source, name)


# ------------------------------------------------------------------------------------------------------- external data

@pytest.fixture
def folder(save, tmp_path):
    """A directory with a model in it, the 16 bytes of its tensor in the file w.bin, and the same file outside."""
    save("outside.bin", DATA[::-1])
    save("models/w.bin", DATA)
    save("models/sub/deep/w.bin", DATA[::-1])
    save("models/m.onnx", beside("w.bin", length="16"))
    return tmp_path / "models"


def test_bytes_are_read_from_the_file_beside(db, folder):
    model = str(folder / "m.onnx")
    assert dense(db, model) == DATA
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 3, 5)", model) == DATA[3:8]
    assert rows(db, "SELECT shard, offset, length, hash IS NOT NULL FROM zt_components(?)", model) == [("w.bin", 0, 16, 1)]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", model) == []


@pytest.mark.parametrize("location", ["sub/deep/w.bin", "./sub/./deep//w.bin"])
def test_a_location_may_be_in_a_directory_below(db, folder, save, location):
    assert dense(db, save("models/m.onnx", beside(location))) == DATA[::-1]


@pytest.mark.parametrize("type, dims, bytes_of", [
    (INT4, [5], 3), (UINT2, [5], 2), (INT64, [1], 8), (FLOAT, [0], 0), (FLOAT, [2, 2], 16), (99, [3], 18), (onnx.FLOAT6, [4], 18)])
def test_what_has_no_length_has_the_bytes_of_its_elements(db, save, type, dims, bytes_of):
    """Where its type is not known, it goes to the file's end."""
    model = save("m.onnx", beside("w.bin", offset="2", dims=dims, type=type))
    save("w.bin", DATA + b"more")
    assert value(db, "SELECT zt_blob(?, 'w', 'data')", model) == (DATA + b"more")[2:2 + bytes_of]


@pytest.mark.parametrize("dims, said", [
    ([2**62], "4611686018427387904 elements of f32 are more than"), ([2**60], "1152921504606846976 elements of f32 are 4611686018427387904 bytes, and it has 16")])
def test_a_shape_of_more_bytes_than_there_are(db, save, dims, said):
    model = save("m.onnx", beside("w.bin", dims=dims, type=FLOAT))
    save("w.bin", DATA)
    assert said in message(db, "SELECT zt_dense(?, 'w')", model)


def test_what_has_no_length_is_as_long_as_its_file_at_most(db, save):
    model = save("m.onnx", beside("w.bin", offset="4", dims=[12]))
    save("w.bin", DATA)
    assert dense(db, model) == DATA[4:]
    assert rows(db, "SELECT offset, length, decoded_length FROM zt_components(?)", model) == [(4, None, None)]
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 2)", model) == DATA[6:]
    assert value(db, "SELECT hex(data) FROM zt_components(?)", model) == DATA[4:].hex().upper()
    save("w.bin", DATA + b"more")
    assert dense(db, model) == DATA[4:]
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 2)", model) == DATA[6:]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", model) == []
    save("w.bin", DATA[:10])
    assert "12 elements of u8 are 12 bytes, and it has 6" in message(db, "SELECT zt_dense(?, 'w')", model)
    save("w.bin", DATA[:3])
    assert "its 0 bytes from 4 on go beyond the 3 of 'w.bin'" in message(db, "SELECT zt_dense(?, 'w')", model)


def test_the_directory_is_that_of_the_path_as_it_is_given(db, folder, tmp_path, monkeypatch):
    os.symlink(folder / "m.onnx", tmp_path / "link.onnx")
    assert "No such file" in message(db, "SELECT zt_dense(?, 'w')", str(tmp_path / "link.onnx"))
    shutil.copy(folder / "w.bin", tmp_path / "w.bin")
    assert dense(db, str(tmp_path / "link.onnx")) == DATA
    monkeypatch.chdir(folder)
    assert dense(db, "m.onnx") == DATA
    os.symlink(folder, tmp_path / "other")
    assert dense(db, str(tmp_path / "other" / "m.onnx")) == DATA


@pytest.mark.parametrize("target", ["../outside.bin", "/etc/hostname", "../models2/w.bin"])
def test_a_symbolic_link_that_leads_out_is_refused(db, folder, save, target):
    save("models2/w.bin", DATA)
    (folder / "w.bin").unlink()
    (folder / "w.bin").symlink_to(target)
    text = message(db, "SELECT zt_dense(?, 'w')", str(folder / "m.onnx"))
    assert text == place(str(folder / "m.onnx"), "w", "data") + f"shard {folder}/w.bin: leads out of the file's directory"
    assert rows(db, "SELECT severity, rule FROM zt_check(?, 'full')", str(folder / "m.onnx")) == [("error", "external-file")]


def test_a_directory_that_is_a_link_out_is_refused(db, folder, save):
    (folder / "out").symlink_to("..")
    model = save("models/m.onnx", beside("out/outside.bin"))
    assert "leads out of the file's directory" in message(db, "SELECT zt_dense(?, 'w')", model)


def test_a_symbolic_link_within_the_directory_is_followed(db, folder, save):
    (folder / "link.bin").symlink_to("sub/deep/w.bin")
    assert dense(db, save("models/m.onnx", beside("link.bin"))) == DATA[::-1]


@pytest.mark.parametrize("kind", ["fifo", "directory", "missing", "loop"])
def test_what_is_no_regular_file_is_refused(db, folder, kind):
    (folder / "w.bin").unlink()
    if kind == "fifo":
        os.mkfifo(folder / "w.bin")
    elif kind == "directory":
        (folder / "w.bin").mkdir()
    elif kind == "loop":
        (folder / "w.bin").symlink_to("w.bin")
    words = {"fifo": "is a FIFO, not a regular file", "directory": "is a directory, not a regular file", "missing": "No such file",
             "loop": "symbolic links"}
    model = str(folder / "m.onnx")
    assert words[kind] in message(db, "SELECT zt_dense(?, 'w')", model)
    assert rows(db, "SELECT object, component, rule FROM zt_check(?, 'full')", model) == [("w", "data", "external-file")]
    assert rows(db, "SELECT * FROM zt_check(?)", model) == []    # Whose level opens no other file
    assert rows(db, "SELECT object, elements FROM zt_objects(?)", model) == [("w", 16)]


def test_one_file_may_have_many_tensors_in_any_order(db, save):
    parts = [onnx.tensor(f"t{i}", [2], UINT8, onnx.external(location="w.bin", offset=str(i), length="2")) for i in (6, 0, 3, 3, 1)]
    model = save("m.onnx", onnx.model(onnx.graph(parts)))
    save("w.bin", DATA)
    assert [row[1] for row in rows(db, "SELECT object, zt_dense(path, object) FROM zt_objects(?)", model)] == [
        DATA[i:i + 2] for i in (6, 0, 3, 3, 1)]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", model) == []


@pytest.mark.parametrize("field", ["offset", "length"])
@pytest.mark.parametrize("text", ["", " 8", "0x8", "-1", "8 ", "1.0", "9" * 21])
def test_an_offset_or_length_that_is_no_number(db, save, field, text):
    model = save("m.onnx", onnx.model(onnx.graph([onnx.tensor("w", [2], UINT8, onnx.external(location="w.bin", **{"offset": "2", "length": "2", field: text}))])))
    save("w.bin", DATA)
    said = "offset and length of its external data are no decimal numbers of 64 bits"
    assert message(db, "SELECT zt_dense(?, 'w')", model) == place(model, "w", "data") + said
    assert rows(db, "SELECT rule, message FROM zt_check(?, 'full')", model) == [("onnx-external", said)]


def test_a_blob_has_nothing_beside_it(db, connect, folder):
    blob = (folder / "m.onnx").read_bytes()
    for connection in db, connect(entry=NOFS):
        text = message(connection, "SELECT zt_dense(?, 'w')", blob)
        assert text == place(blob, "w", "data") + "its bytes are in 'w.bin', a file beside this one; a BLOB has none"
        assert rows(connection, "SELECT object, shard FROM zt_components(?)", blob) == [("w", "w.bin")]


def test_a_file_that_changes_is_read_anew(db, folder):
    model = str(folder / "m.onnx")
    assert dense(db, model) == DATA
    (folder / "w.bin").write_bytes(DATA[::-1])
    assert dense(db, model) == DATA[::-1]


# --------------------------------------------------------------------------------------------------- types and values

SMALL = {"i4": (INT4, 2, [-8, -1, 0, 7, 3]), "u4": (UINT4, 2, [15, 1, 0, 8, 9]), "i2": (INT2, 4, [-2, -1, 0, 1, 1]), "u2": (UINT2, 4, [3, 2, 1, 0, 2])}


def packed(values, each):
    bits = 8 // each
    codes = [v & (1 << bits) - 1 for v in values]
    return bytes(sum(c << bits * k for k, c in enumerate(codes[i:i + each])) for i in range(0, len(codes), each))


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("typed", [False, True])
def test_types_of_less_than_a_byte(db, dtype, typed):
    number, each, values = SMALL[dtype]
    data = packed(values, each)
    source = model_of(onnx.packed(5, data) if typed else onnx.raw(data), dims=[5, 1], type=number)
    assert rows(db, "SELECT dtype, type, decoded_bytes FROM zt_objects(?)", source) == [("u8", dtype, len(data))]
    assert dense(db, source) == data
    assert value(db, "SELECT zt_json(?, 'w')", source) == str([[v] for v in values]).replace(" ", "")
    assert [v for v, in rows(db, "SELECT value FROM zt_elements(?, 'w')", source)] == values
    assert [value(db, "SELECT zt_value(?, 'w', ?, 0)", source, i) for i in range(5)] == values
    assert value(db, "SELECT zt_dense(?, 'w', 'f32')", source) == struct.pack("<5f", *values)
    assert value(db, "SELECT zt_dense(?, 'w', NULL, 1, 3)", source) == packed(values[1:4], each)
    assert [v for v, in rows(db, "SELECT vector FROM zt_rows(?, 'w', 'i8')", source)] == [struct.pack("b", v) for v in values]
    assert [v for v, in rows(db, "SELECT vector FROM zt_rows(?, 'w', ?)", source, dtype)] == [packed([v], each) for v in values]
    assert rows(db, "SELECT elements, zeros, min, max, mean FROM zt_stats(?)", source) == [
        (5, values.count(0), min(values), max(values), sum(values) / 5)]
    back = model_of(onnx.raw(struct.pack("<5f", *values)), dims=[5])
    assert value(db, "SELECT zt_dense(?, 'w', ?)", back, dtype) == data
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


@pytest.mark.parametrize("dtype", SMALL)
def test_what_a_small_type_does_not_have_is_an_error(db, dtype):
    number, each, values = SMALL[dtype]
    bits = 8 // each
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype[0] == "i" else (0, (1 << bits) - 1)
    for wrong in (least - 1, most + 1):
        source = model_of(onnx.raw(struct.pack("<3f", 1, wrong, 0)), dims=[3])
        assert message(db, "SELECT zt_dense(?, 'w', ?)", source, dtype).endswith(f"element [1] is {wrong}.0, which {dtype} does not have")


@pytest.mark.parametrize("dtype", SMALL)
def test_no_ztensor_file_has_these_types(db, dtype):
    import writer
    for generation in "1.2", "2":
        file = writer.write({"w": writer.dense(b"\x01", [1], type=dtype)}, generation)
        assert rows(db, "SELECT type FROM zt_objects(?)", file) == [(dtype,)]
        assert f"type '{dtype}' is not known" in message(db, "SELECT zt_dense(?, 'w')", file)


def test_ranges_of_what_is_encoded(db):
    numbers = [(-1) ** i * 37 * i ** 5 for i in range(3000)]
    whole = struct.pack("<3000q", *numbers)
    for parts in [onnx.packed(7, numbers)], [onnx.fields(7, numbers)], [onnx.packed(7, numbers[:1000]), onnx.fields(7, numbers[1000:])]:
        source = model_of(*parts, dims=[300, 10], type=INT64)
        assert dense(db, source) == whole
        assert value(db, "SELECT zt_blob(?, 'w', 'data', 11, 13)", source) == whole[11:24]
        assert value(db, "SELECT zt_dense(?, 'w', NULL, 299)", source) == whole[-80:]
        assert value(db, "SELECT zt_value(?, 'w', 17, 3)", source) == numbers[173]
        assert rows(db, "SELECT value FROM zt_elements(?, 'w') WHERE position IN (5, 2999)", source) == [(numbers[5],), (numbers[2999],)]
        assert rows(db, "SELECT length IS NULL, decoded_length FROM zt_components(?)", source) == [(len(parts) > 1 or source.count(b"\x38") > 2000, 24000)]


def test_a_sparse_tensor_of_a_million_cells(db):
    n = 5000
    cells = [i * 199 for i in range(n)]
    values = struct.pack(f"<{n}f", *range(1, n + 1))
    linear = onnx.tensor("", [n], INT64, onnx.packed(7, cells))
    coordinates = onnx.tensor("", [n, 2], INT64, onnx.packed(7, [i for c in cells for i in divmod(c, 1000)]))
    for indices in linear, coordinates:
        source = onnx.model(onnx.graph(sparses=[onnx.sparse(onnx.tensor("s", [n], FLOAT, onnx.raw(values)), indices, [1000, 1000])]))
        got = struct.unpack("<1000000f", dense(db, source, "s"))
        assert [got[c] for c in cells] == list(range(1, n + 1)) and sum(map(bool, got)) == n
        assert rows(db, "SELECT zeros, max FROM zt_stats(?)", source) == [(1000000 - n, n)]
        assert rows(db, "SELECT coords, value FROM zt_elements(?, 's') WHERE position = ?", source, cells[7]) == [("[1,393]", 8)]
        assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


# ------------------------------------------------------------------------------------------------- what is read, and how

def read_by_this_process():
    with open("/proc/self/io") as file:
        return int(dict(line.split(": ") for line in file)["rchar"])


def test_a_gigabyte_of_data_is_not_read(db, tmp_path):
    path, size = tmp_path / "large.onnx", 1 << 28
    with open(path, "wb") as file:
        tensors = []
        for name in "abcd":
            head = onnx.tensor(name, [size], UINT8) + onnx.tag(9, 2) + onnx.varint(size)
            tensors.append((onnx.tag(5, 2) + onnx.varint(len(head) + size) + head, size))
        tail = onnx.field(2, "g")
        file.write(onnx.field(1, 10) + onnx.tag(7, 2) + onnx.varint(sum(len(h) + n for h, n in tensors) + len(tail)))
        for head, n in tensors:
            file.write(head)
            file.seek(n, os.SEEK_CUR)
        file.write(tail + onnx.field(8, onnx.field(2, 21)))
    before = read_by_this_process()
    assert rows(db, "SELECT object, elements FROM zt_objects(?)", str(path)) == [(name, size) for name in "abcd"]
    assert rows(db, "SELECT size, stored_bytes FROM zt_files(?)", str(path))[0][1] == 4 * size
    assert read_by_this_process() - before < 200_000


def test_a_file_cut_at_any_byte_of_its_graph_is_an_error(db, save):
    whole = (FORMAT / "golden" / "sparse_nodes.onnx").read_bytes()
    end = whole.index(onnx.field(8, onnx.field(1, "") + onnx.field(2, 21)))
    for n in range(len(whole)):
        for source in save(f"{n}.onnx", whole[:n]), whole[:n]:
            if n < end:
                assert message(db, "SELECT * FROM zt_objects(?)", source).startswith(prefix(source)), n
            else:    # A model without opset_import, or a cut one
                assert len(everything(db, source)[0]) in (2, 8)


@pytest.mark.parametrize("name", ["sparse_nodes", "hand_fields"])
@pytest.mark.parametrize("bits", [0x01, 0xff])
def test_a_file_with_any_byte_changed_says_the_same_as_path_and_as_blob(db, save, name, bits):
    whole = (FORMAT / "golden" / f"{name}.onnx").read_bytes()
    errors = 0
    for n in range(len(whole)):
        changed = whole[:n] + bytes([whole[n] ^ bits]) + whole[n + 1:]
        got = everything(db, save("x.onnx", changed))
        assert got == everything(db, changed), n
        errors += isinstance(got[0], tuple)
    assert 16 <= errors < len(whole)


def test_a_directory_lists_models(db, save, tmp_path):
    save("d/a.onnx", model_of(onnx.raw(bytes(16))))
    save("d/b.bin", model_of(onnx.raw(bytes(16))))
    assert rows(db, "SELECT path, container FROM zt_files(?)", str(tmp_path / "d")) == [(str(tmp_path / "d" / "a.onnx"), "onnx")]


def test_the_manifest_is_the_model_and_its_tensors(db):
    source = model_of(onnx.raw(bytes(16)), dims=[2, -2])
    assert value(db, "SELECT zt_manifest(?)", source) == (
        '{"model":{"ir_version":10,"opset_import":{"":21},"graph":"g"},"tensors":[{"name":"w","dims":[2,-2],'
        '"attributes":{"role":"initializer","data_type":1,"field":"raw_data"}}]}')
    assert rows(db, "SELECT shape, elements FROM zt_objects(?)", source) == [("[2,0]", 0)]


def test_many_tensors_of_one_name(db):
    n = 20000
    source = onnx.model(onnx.graph([onnx.tensor("w" * 20, [1], UINT8, onnx.raw(b"\x07"))] * n))
    assert rows(db, "SELECT count(*), count(DISTINCT object), max(object) FROM zt_objects(?)", source) == [(n, n, "w" * 20 + "#9999")]
    assert value(db, "SELECT zt_value(?, ?, 0)", source, "w" * 20 + f"#{n}") == 7


@pytest.mark.parametrize("data", [b"\x08\x0a", b"\x08\x03\x12\x00\x00\x00\x00\x00{}", b"\x08\x0a\x3a", b"# text\n" * 20, b"\x00" * 64, b"\x08" * 64,
                                  b'{"a": 1}', b"\x80\x02}q\x00.", b"\x3a\x00", b":\n0123456789", bytes(range(256))])
def test_what_is_no_model_is_not_taken_for_one(db, data):
    assert "onnx" not in str(rows(db, "SELECT container FROM zt_files(?)", data))
    assert value(db, "SELECT error FROM zt_files(?)", data) != ""


def test_stored_bytes_in_several_places_are_not_handed_out(db):
    source = str(FORMAT / "golden/other_types.onnx")
    said = place(source, "text", "data") + "its stored bytes are in several places"
    assert message(db, "SELECT stored FROM zt_components(?) WHERE object = 'text'", source) == said


def enum_of(*more):
    """A tensor with both data in a file beside and, beside the point then, of its own."""
    return model_of(onnx.external(location="w.bin", length="4"), onnx.raw(b"RAWW"), *more, type=UINT8)


@pytest.mark.parametrize("more", [onnx.field(14, "zz"), onnx.tag(14, 5) + b"\0\0\0\0", onnx.field(14, 7), onnx.field(14, -1), onnx.field(14, 2**32 + 1),
                                  onnx.field(14, 0) + onnx.field(14, 2**32 + 1), onnx.field(14, 7) + onnx.field(14, "zz")],
                         ids=lambda more: more.hex())
def test_a_location_that_is_none_leaves_what_came_before(db, save, more):
    """A field of another wire type, and a number that the enum does not have, are as if they were not there; of others the low 32 bits count."""
    save("w.bin", DATA)
    assert dense(db, save("m.onnx", enum_of(more))) == DATA[:4]


@pytest.mark.parametrize("more", [onnx.field(14, 0), onnx.field(14, 2**32), onnx.field(14, 2**63), onnx.field(14, 0) + onnx.field(14, 7)],
                         ids=lambda more: more.hex())
def test_the_last_location_that_is_one_counts(db, save, more):
    save("w.bin", DATA)
    assert dense(db, save("m.onnx", enum_of(more))) == b"RAWW"


@pytest.mark.parametrize("stored, number", [(2**32 + UINT8, UINT8), (2**63 + UINT8, UINT8), (2**32 - 1, -1), (-1, -1), (2**31, -2**31), (2**32, 0)])
def test_of_a_type_the_low_32_bits_count(db, stored, number):
    source = model_of(onnx.raw(b"RAWW"), type=stored)
    assert rows(db, "SELECT value FROM zt_attributes(?) WHERE object = 'w' AND key = 'data_type'", source) == [(number,)]
    assert rows(db, "SELECT format FROM zt_objects(?)", source) == [("dense" if number == UINT8 else "onnx.unknown",)]
    if number == UINT8:
        assert dense(db, source) == b"RAWW"


@pytest.mark.parametrize("number", ["1" * 21, "9" * 20, "18446744073709551616", "18446744073709551620", "1/", "1:"])
@pytest.mark.parametrize("which", ["offset", "length"])
def test_places_of_external_data_are_numbers_of_64_bits(db, which, number):
    source = beside("w.bin", **{which: number})
    said = "offset and length of its external data are no decimal numbers of 64 bits"
    assert rows(db, "SELECT object, component, message FROM zt_check(?)", source)[0] == ("w", "data", said)


@pytest.mark.parametrize("type, dtype, number, fits", [
    (onnx.INT8, "i8", 127, True), (onnx.INT8, "i8", 128, False), (onnx.INT8, "i8", -129, False), (onnx.INT8, "i8", 2**32 - 128, True),
    (UINT8, "u8", -1, False), (UINT8, "u8", 2**32 - 1, False), (onnx.INT32, "i32", -2**31 - 1, False), (onnx.INT32, "i32", -2**31, True)])
def test_numbers_of_int32_data_fit_their_type(db, type, dtype, number, fits):
    """Those of 32 bits may be written without their sign."""
    source = model_of(onnx.packed(5, [number]), dims=[1], type=type)
    if fits:
        assert value(db, "SELECT zt_value(?, 'w', 0)", source) == (number if number < 2**31 else number - 2**32)
    else:
        assert message(db, "SELECT zt_dense(?, 'w')", source).endswith(f": number 0 is {number}, which does not fit {dtype}")


def test_a_field_of_numbers_of_another_wire_type_is_passed_over(db):
    source = model_of(onnx.tag(5, 5) + b"abcd" + onnx.field(5, 7), dims=[1], type=UINT8)
    assert dense(db, source) == b"\7"


def test_values_of_a_sparse_tensor_without_a_type_are_told(db):
    source = onnx.with_sparse(onnx.tensor("w", [2], 0, onnx.raw(bytes(8))), onnx.positions(1, 2), [6])
    why = "it has no dtype that is known"
    assert rows(db, "SELECT object, component, rule, message FROM zt_check(?, 'full')", source) == [("w", "values", "unknown-dtype", why)]
    assert message(db, "SELECT zt_dense(?, 'w')", source).endswith(f"object 'w': component 'values': {why}")


# ------------------------------------------------------------------------- constants that are numbers and no TensorProto

FLOATS, INTS = struct.pack("<2f", 1.5, -2), [5, -6, 1 << 40]
NUMBERS = {
    "a float": ("value_float", onnx.field(2, 1.5), "f32", [], "1.5"), "an integer": ("value_int", onnx.field(3, -7), "i64", [], "-7"),
    "floats": ("value_floats", onnx.fields(7, [1.5, -2.0]), "f32", [2], "[1.5,-2.0]"),
    "floats, packed": ("value_floats", onnx.field(7, FLOATS), "f32", [2], "[1.5,-2.0]"),
    "integers": ("value_ints", onnx.fields(8, INTS), "i64", [3], "[5,-6,1099511627776]"),
    "integers, packed": ("value_ints", onnx.packed(8, INTS), "i64", [3], "[5,-6,1099511627776]"),
    "integers, both": ("value_ints", onnx.field(8, 5) + onnx.packed(8, INTS[1:]), "i64", [3], "[5,-6,1099511627776]"),
    "no floats": ("value_floats", b"", "f32", [0], "[]"), "no integers": ("value_ints", b"", "i64", [0], "[]"),
}


def constant(name, values, outputs=("c",), node="n", op="Constant"):
    weight = onnx.tensor("w", [1], onnx.FLOAT, onnx.raw(bytes(4)))
    return onnx.model(onnx.graph([weight], nodes=[onnx.node(op, node, list(outputs), [onnx.attribute(name, values)])]))


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_constant_of_numbers_is_a_tensor(db, save, kind):
    name, values, dtype, shape, shown = NUMBERS[kind]
    file = constant(name, values)
    for source in (file, save("m.onnx", file)):
        (object, format, type, dims, attributes), = rows(db, "SELECT object, format, type, shape, attributes FROM zt_objects(?) WHERE object <> 'w'", source)
        assert (object, format, type, json.loads(dims)) == ("c", "dense", dtype, shape)
        assert json.loads(attributes)["role"] == "constant" and json.loads(attributes)["field"] == name
        assert value(db, "SELECT zt_json(?, 'c')", source) == shown
        assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


def test_constants_of_numbers_are_part_of_the_fingerprint(db):
    found = [value(db, "SELECT zt_fingerprint(?)", constant(name, values)) for name, values in [
        ("value_float", onnx.field(2, 1.0)), ("value_float", onnx.field(2, 2.0)), ("value_int", onnx.field(3, 1)), ("value_int", onnx.field(3, 2)),
        ("value_floats", onnx.field(7, 1.0)), ("value_floats", onnx.fields(7, [1.0, 2.0])), ("value_ints", onnx.packed(8, [1, 2])),
        ("value_ints", onnx.packed(8, [2, 1])), ("value_ints", b"")]]
    assert None not in found and len({*found}) == len(found)
    either = [value(db, "SELECT zt_fingerprint(?)", constant("value_ints", values)) for values in (onnx.packed(8, INTS), onnx.fields(8, INTS))]
    raw = onnx.tensor("", [3], onnx.INT64, onnx.raw(struct.pack("<3q", *INTS)))
    assert {*either} == {value(db, "SELECT zt_fingerprint(?)", constant("value", onnx.field(5, raw)))}


def test_a_constant_of_text_is_listed(db):
    for name, values, shape, strings in (("value_string", onnx.field(4, b"x"), [], ["x"]), ("value_strings", onnx.fields(9, [b"x", b"yz"]), [2], ["x", "yz"])):
        file = constant(name, values)
        (format, dims, attributes), = rows(db, "SELECT format, shape, attributes FROM zt_objects(?) WHERE object = 'c'", file)
        assert (format, json.loads(dims), json.loads(attributes)["strings"]) == ("onnx.string", shape, strings)
        assert rows(db, "SELECT object, severity, rule FROM zt_check(?, 'full')", file) == [("c", "note", "no-values")]
        assert value(db, "SELECT zt_fingerprint(?)", file) is None


def test_names_of_constants_of_numbers(db):
    number = onnx.field(3, 1)
    assert [name for name, in rows(db, "SELECT object FROM zt_objects(?)", constant("value_int", number, outputs=()))] == ["w", "n.value_int"]
    assert [name for name, in rows(db, "SELECT object FROM zt_objects(?)", constant("value_int", number, outputs=["w"]))] == ["w", "w#2"]
    # Of other operators numbers are settings, and what refers to a function's attribute has none.
    for file in (constant("value_int", number, op="Conv"), constant("axis", number), constant("value_int", onnx.field(21, "of_the_function"))):
        assert rows(db, "SELECT object FROM zt_objects(?)", file) == [("w",)]


@pytest.mark.parametrize("name, values", [("value_int", b""), ("value_float", b""), ("value_floats", onnx.field(7, b"abc")),
                                          ("value_floats", onnx.field(7, b"abcde"))])
def test_a_constant_without_its_numbers_is_broken(db, name, values):
    file = constant(name, values)
    assert ("c", "error") in rows(db, "SELECT object, severity FROM zt_check(?, 'full')", file)
    assert message(db, "SELECT zt_dense(?, 'c')", file).startswith(place(file, "c"))
    assert message(db, "SELECT zt_fingerprint(?)", file).startswith(place(file, "c"))


# ---------------------------------------------------------------------------------------------- messages that are odd

W = onnx.tensor("w", [1], FLOAT, onnx.raw(bytes(4)))


def of_node(*parts):
    return onnx.model(onnx.graph([W], nodes=[b"".join(parts)]))


def objects(db, source):
    return [name for name, in rows(db, "SELECT object FROM zt_objects(?)", source)]


NUMBER = onnx.attribute("value_int", onnx.field(3, 1))


@pytest.mark.parametrize("model, names", [
    (of_node(onnx.node("Constant", "", ["c"], [onnx.attribute("g", onnx.field(6, onnx.graph([onnx.tensor("x", [1], FLOAT, onnx.raw(bytes(4)))])))])), ["w", "c.g/x"]),
    (of_node(onnx.node("Constant", "", ["c", "d"], [NUMBER])), ["w", "c"]),
    (of_node(onnx.node("Constant", "", ["c"], [NUMBER + onnx.field(24, b"a list of types")])), ["w", "c"]),
    (of_node(onnx.node("Constant", "", ["c"], [NUMBER + onnx.field(21, "")])), ["w", "c"]),          # It refers to nothing
    (of_node(onnx.node("Constant", "", ["c"], [NUMBER]), onnx.field(5, 7)), ["w", "c"]),             # An attribute that is a number
    (onnx.model(onnx.graph([W]), more=onnx.field(25, onnx.field(1, "f") + onnx.field(11, onnx.attribute("a", onnx.field(3, 1))))), ["w"])])
def test_attributes_of_nodes_and_functions(db, model, names):
    assert objects(db, model) == names


@pytest.mark.parametrize("values, shown", [
    (("value_int", onnx.field(3, 1.5)), None), (("value_ints", onnx.field(8, 1.5)), "[]"), (("value_strings", b""), None)])
def test_a_constant_of_another_wire_type_has_no_numbers(db, values, shown):
    file = constant(*values)
    assert objects(db, file) == ["w", "c"]
    if shown:
        assert value(db, "SELECT zt_json(?, 'c')", file) == shown


def test_a_cut_number_among_a_constants_numbers(db):
    assert "a varint goes beyond the message that it is in" in message(db, "SELECT * FROM zt_objects(?)", constant("value_ints", onnx.field(8, b"\1\x80")))


def test_entries_of_maps_of_other_wire_types(db):
    entries = [onnx.field(1, 7) + onnx.field(2, "no key"), onnx.field(1, "no value") + onnx.field(2, 7), *(onnx.pair(f"k{i}", str(i)) for i in range(20))]
    file = onnx.model(onnx.graph([W]), more=onnx.fields(14, entries))
    properties, = (json.loads(shown) for shown, in rows(db, "SELECT value FROM zt_attributes(?) WHERE key = 'metadata_props'", file))
    assert properties == {"": "no key", "no value": "", **{f"k{i}": str(i) for i in range(20)}}


@pytest.mark.parametrize("part, fault", [
    (onnx.tensor("x", [], FLOAT, onnx.packed(1, [1] * 65)), "a tensor of more than 64 dimensions"), (onnx.tensor("x", [], FLOAT, onnx.field(1, b"\x80")), "a varint goes beyond")])
def test_dimensions_that_are_packed(db, part, fault):
    assert fault in message(db, "SELECT * FROM zt_objects(?)", onnx.model(onnx.graph([part])))


def test_a_sparse_tensor_of_more_elements_than_64_bits_count(db):
    part = onnx.sparse(onnx.tensor("x", [1], FLOAT, onnx.raw(bytes(4))), onnx.tensor(None, [1], INT64, onnx.raw(bytes(8))), [1 << 62, 1 << 62])
    assert "the product of a tensor's dimensions does not fit 64 bits" in message(db, "SELECT * FROM zt_objects(?)", onnx.model(onnx.graph(sparses=[part])))


def test_more_bytes_than_64_bits_count(db):
    file = onnx.model(onnx.graph([onnx.tensor("w", [1 << 61, 7], onnx.DOUBLE, onnx.raw(bytes(8)))]))
    assert rows(db, "SELECT length, decoded_length FROM zt_components(?)", file) == [(8, 8)]
    assert "elements of f64 are more than 2^64 bytes" in message(db, "SELECT zt_dense(?, 'w')", file)


def test_a_graph_of_training_that_is_broken(db):
    file = onnx.model(onnx.graph([W]), more=onnx.field(20, onnx.field(1, onnx.graph([W])) + b"\x12\x7f"))
    assert "a field goes beyond the message that it is in" in message(db, "SELECT * FROM zt_objects(?)", file)


# Texts are kept as long as all take no more than the file is worth

def filled(n, *parts, more=b"", length=20000):
    """A model of n tensors of long names, and then these nodes."""
    node = onnx.node("Conv", "n" * length, [], [onnx.attribute(f"a{i}", onnx.field(5, W)) for i in range(n)])
    return onnx.model(onnx.graph(nodes=[node, *parts]), more=more)


def listed(db, source):
    """The number of its tensors; None if names take too much."""
    try:
        return len(objects(db, source))
    except sqlite3.OperationalError as error:
        assert "names and what is shown as text take more than" in str(error)
        return None


@pytest.mark.parametrize("rest", [
    {"parts": [onnx.node("o" * 99000, "", ["c"], [NUMBER])]}, {"parts": [onnx.node("Constant", "", ["c" * 99000], [NUMBER])]},
    {"parts": [onnx.node("Constant", "", [], [onnx.attribute("v" * 99000, onnx.field(3, 1))])]},
    {"parts": [onnx.node("If", "", [], [onnx.attribute("a", onnx.field(5, onnx.tensor("", [1], FLOAT, onnx.external(location="l" * 99000))))])]},
    {"more": onnx.field(25, onnx.field(1, "f" * 99000))}, {"more": onnx.field(14, onnx.pair("k" * 99000, ""))}],
    ids=["operator", "output", "attribute", "location", "function", "key"])
def test_the_last_text_is_too_much(db, rest):
    pad = onnx.field(30, b"p" * 99000)   # As many bytes, which are not kept
    n = next(n for n in range(10, 400) if listed(db, filled(n, more=pad)) is None) - 1
    for fewer in (0, 2, 3):              # Some texts are kept twice
        more = len(rest.get("parts", ())) if fewer else None
        got = listed(db, filled(n - fewer, *rest.get("parts", ()), more=rest.get("more", b"")))
        assert got is None if fewer == 0 else got in (None, n - fewer, n - fewer + more)


@pytest.mark.parametrize("length", range(20000, 30000, 1000))
def test_the_last_name_is_too_much(db, length):
    n = next(n for n in range(10, 400) if listed(db, filled(n, length=length)) is None)
    assert listed(db, filled(n - 1, length=length)) == n - 1


def test_tensors_that_take_more_than_the_file_is_worth(db):
    assert "names and what is shown as text take more than" in message(db, "SELECT * FROM zt_objects(?)", onnx.model(onnx.graph([b""] * 100000)))


# Files that are models, and files that are not

@pytest.mark.parametrize("data, taken", [
    (onnx.model(onnx.graph([W]), more=onnx.field(99, 1)), True), (onnx.field(1, 8) + onnx.field(2, "producer") + onnx.field(99, 1), False),
    (onnx.field(1, 8) + onnx.field(5, 1) + onnx.field(99, 1), False), (onnx.field(1, 8) + onnx.field(99, 1) + b"\x3a\x7f", False),
    (onnx.field(7, onnx.field(1, b"")), True), (onnx.field(7, onnx.field(2, "g")), True), (onnx.field(7, onnx.field(15, b"")), False),
    (onnx.field(7, onnx.field(17, b"")), False), (onnx.field(7, onnx.field(2, 1)), False), (onnx.field(7, b"\x0a\x7f"), False),
    (onnx.field(7, onnx.fields(1, [b""] * 70000)), True), (onnx.fields(8, [b""] * 70000) + onnx.field(7, onnx.graph([W])), False),
    (onnx.field(1, 8) + onnx.fields(8, [b""] * 70000) + onnx.field(7, onnx.graph([W])), True)])
def test_what_is_taken_for_a_model(db, data, taken):
    try:
        objects(db, data)
    except sqlite3.OperationalError as error:
        assert not taken and "not " in str(error)
    else:
        assert taken
