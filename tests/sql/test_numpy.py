"""npy and npz: what is beyond the tables of test_golden.py and test_hostile.py. Names, orders of elements, ranges of deflated members, and scipy's
sparse matrices as the arrays that they are."""
import io
import os
import struct
import zipfile

import numpy
import pytest

import corpus
from support import everything, message, prefix, rows, value
from write_npy import NO_VALUES, array, shaped
from write_npz import DEFLATE, Member, archive, deflate

SCIPY = corpus.FORMATS / "npz" / "golden" / "scipy_csr.npz"


def saved(arrays, save=numpy.savez):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


# ----------------------------------------------------------------------------------------------------------- names

@pytest.mark.parametrize("file, name", [("weights.npy", "weights"), ("a.b.npy", "a.b"), ("noext", "noext"), (".npy", ".npy"),
                                        ("Ünï ☃.npy", "Ünï ☃"), ("x.npz", "x")])
def test_the_object_is_called_by_the_files_name(db, save, file, name):
    path = save(file, array())
    assert rows(db, "SELECT object FROM zt_objects(?)", path) == [(name,)]
    assert len(value(db, "SELECT zt_dense(?, ?)", path, name)) == 16


def test_it_is_called_by_each_name_that_the_file_has(db, save, tmp_path):
    path = save("first.npy", array())
    os.utime(path, ns=(1, 1))    # Long settled: what was read is kept
    os.symlink(path, tmp_path / "second.npy")
    os.link(path, tmp_path / "third.npy")
    for name in ("first", "second", "third", "second", "first"):
        assert rows(db, "SELECT object FROM zt_objects(?)", str(tmp_path / f"{name}.npy")) == [(name,)]
    assert rows(db, "SELECT object FROM zt_objects(?) ORDER BY path", str(tmp_path)) == [("first",), ("second",), ("third",)]


ARRAYS = [numpy.arange(6.0).reshape(2, 3), numpy.zeros((0, 3), "f4"), numpy.array(7, "u1"), numpy.asfortranarray(numpy.arange(12, dtype=">i2").reshape(3, 4)),
          numpy.array([("a", 1)], [("a" * 600, "U3"), ("b", "i4")]), numpy.arange(5, dtype="u1")]


def several(arrays):
    """As numpy.save() writes them when it is called again with the same file."""
    file = io.BytesIO()
    for array_ in arrays:
        numpy.save(file, array_)
    return file.getvalue()


def test_several_arrays_in_a_file(db, save, tmp_path):
    raw = several(ARRAYS)
    path = save("w.npy", raw)
    for source, stem in ((raw, "data"), (path, "w")):
        names = [stem] + [f"{stem}#{i}" for i in range(2, 7)]
        assert [row for row, in rows(db, "SELECT object FROM zt_objects(?)", source)] == names
        for name, array_ in zip(names, ARRAYS):
            if array_.dtype.names is None:
                assert value(db, "SELECT zt_dense(?, ?)", source, name) == numpy.ascontiguousarray(array_).astype(array_.dtype.newbyteorder("<")).tobytes()
                assert value(db, "SELECT shape FROM zt_objects(?) WHERE object = ?", source, name) == str(list(array_.shape)).replace(" ", "")
        for offset, length, name in rows(db, "SELECT offset, length, object FROM zt_components(?)", source):
            assert value(db, "SELECT stored FROM zt_components(?) WHERE object = ?", source, name) == raw[offset:offset + length]
        assert rows(db, "SELECT object, rule FROM zt_check(?, 'full')", source) == [(names[4], "no-values")]
        assert value(db, "SELECT json_array_length(zt_manifest(?))", source) == 6 and value(db, "SELECT json_extract(zt_manifest(?), '$[2].shape')", source) == "[]"
        assert value(db, "SELECT version FROM zt_files(?)", source) == "1.0"
    os.utime(path, ns=(1, 1))    # Long settled: what was read is kept
    os.link(path, tmp_path / "v.npy")
    for name in ("w", "v", "w"):
        assert rows(db, "SELECT object FROM zt_objects(?) LIMIT 1 OFFSET 1", str(tmp_path / f"{name}.npy")) == [(f"{name}#2",)]


def test_arrays_behind_others_are_in_the_fingerprint(db):
    prints = {value(db, "SELECT zt_fingerprint(?)", several(arrays)) for arrays in (ARRAYS[:1], ARRAYS[:2], ARRAYS[:3], [ARRAYS[0], ARRAYS[2]], [ARRAYS[0], ARRAYS[2] + 1])}
    assert len(prints) == 5 and None not in prints


def test_several_arrays_that_end_early(db):
    """A second array without a whole magic number is a gap; without its elements, it is listed."""
    first, second = several(ARRAYS[:1]), several(ARRAYS[2:3])
    for n in range(len(second)):
        source = first + second[:n]
        if n < 8:
            assert rows(db, "SELECT rule FROM zt_check(?)", source) == ([("gap",)] if n else [])
        elif n < 128:
            assert "header" in message(db, "SELECT * FROM zt_objects(?)", source)
        else:
            assert rows(db, "SELECT object, rule, severity FROM zt_check(?)", source) == [("data#2", "length", "error")]
    beyond = array() + array(shaped("(9,)")) + array()   # What follows is taken for elements, as in numpy
    assert value(db, "SELECT count(*) FROM zt_objects(?)", beyond) == 2


def test_arrays_behind_objects_are_not_found(db):
    """They are pickles, which may contain anything."""
    source = several([numpy.array([None, {}], object), ARRAYS[0]])
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("data", "numpy.object")]
    assert value(db, "SELECT zt_fingerprint(?)", source) is None


def test_many_arrays_in_a_file(db, save):
    path = save("many.npy", array(shaped("(1,)", "'|u1'"), b"x") * 20000)
    assert rows(db, "SELECT objects, components, error FROM zt_files(?)", path) == [(20000, 20000, None)]
    assert value(db, "SELECT zt_json(?, 'many#20000')", path) == "[120]"


def test_a_directory_has_them(db, save, tmp_path):
    save("a.npy", array())
    save("b.npz", archive(Member("w.npy")))
    save("c.txt", array())
    save("d.eqx", several(ARRAYS[:2]))
    assert [container for container, in rows(db, "SELECT container FROM zt_files(?)", str(tmp_path))] == ["npy", "npz", "npy"]


# --------------------------------------------------------------------------------------------------------- members

def test_members_that_are_no_arrays_are_passed_over(db):
    file = (corpus.FORMATS / "npz" / "hostile" / "ok-others.npz").read_bytes()
    assert [name for name, in rows(db, "SELECT object FROM zt_objects(?)", file)] == ["folder/w"]


def test_a_member_that_cannot_be_read_has_no_offset(db):
    file = (corpus.FORMATS / "npz" / "hostile" / "encrypted.npz").read_bytes()
    assert rows(db, "SELECT offset, length FROM zt_components(?) WHERE dtype IS NULL", file) == [(None, None)]
    assert rows(db, "SELECT count(*), count(offset) FROM zt_components(?) WHERE dtype IS NOT NULL", file) == [(1, 1)]


def test_headers_are_bounded_by_the_archives_size(db):
    """Names of fields deflate to little. Ordinary headers, which do, too, are no matter, however many they are."""
    def many(count, header):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
            for i in range(count):
                z.writestr(zipfile.ZipInfo(f"{i:05}"), header, zipfile.ZIP_DEFLATED)
        return file.getvalue()
    fields = ", ".join(f"('layer_{i:02}_weight', '<f4')" for i in range(64))
    for header in (array(shaped((0, 2)), b""), array(shaped((0,) * 64), b""), array(shaped((0,), f"[{fields}]"), b"")):
        assert value(db, "SELECT count(*) FROM zt_objects(?)", many(5000, header)) == 5000
    wide = array(shaped((0,), f"[('{40000 * 'a'}', '<f4')]"), b"")
    assert "the headers of its members take more memory" in message(db, "SELECT * FROM zt_objects(?)", many(60, wide))


def test_a_header_without_room_for_a_dict(db):
    assert message(db, "SELECT * FROM zt_objects(?)", array(length=0)).endswith("a header of 10 bytes, which has no room for a dict")


@pytest.mark.parametrize("method, encoding", [(zipfile.ZIP_BZIP2, "bzip2"), (zipfile.ZIP_LZMA, "lzma")])
def test_what_cannot_be_decoded_is_listed_and_nothing_else_known(db, method, encoding):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as z:
        z.writestr("w.npy", array())
    file = file.getvalue()
    assert rows(db, "SELECT object, format, dtype, type, shape, rank, elements, attributes FROM zt_objects(?)", file) == [
        ("w", None, None, None, None, None, None, "{}")]
    ((dtype, said, decoded, digest),) = rows(db, "SELECT dtype, encoding, decoded_length, digest FROM zt_components(?)", file)
    assert (dtype, said, decoded) == (None, encoding, None) and digest.startswith("crc32:")
    for sql in ("SELECT zt_dense(?, 'w')", "SELECT zt_json(?, 'w')", "SELECT zt_value(?, 'w', 0)", "SELECT zt_blob(?, 'w')",
                "SELECT * FROM zt_rows(?, 'w')", "SELECT * FROM zt_elements(?, 'w')"):
        assert message(db, sql, file).endswith(f"object 'w': component 'data': encoding '{encoding}' is not known")
    ((elements, error),) = rows(db, "SELECT elements, error FROM zt_stats(?)", file)
    assert elements is None and error.endswith(f"encoding '{encoding}' is not known")
    assert rows(db, "SELECT rule, message FROM zt_check(?, 'full')", file) == [("unknown-encoding", f"encoding '{encoding}' is not known")]


def test_digest_status(db):
    folder = corpus.FORMATS / "npz"
    status = "SELECT digest_status FROM zt_components(?)"
    assert {row for row, in rows(db, status, str(folder / "golden" / "deflated.npz"))} == {"ok"}
    for name in ("stored", "deflated"):
        assert rows(db, status, str(folder / "hostile" / f"ok-crc-{name}.npz")) == [("mismatch",), ("ok",)]


def test_a_bomb_costs_what_is_asked_of_it(db):
    zeros = array(shaped("(268435456,)"), b"")
    packed = Member("w.npy", zeros + bytes(1 << 20), DEFLATE)
    packed.fields["size"] = len(zeros) + (1 << 30)
    file = archive(packed)
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 1000, 16)", file) == bytes(16)
    assert value(db, "SELECT value FROM zt_elements(?, 'w') LIMIT 1", file) == 0


# ---------------------------------------------------------------------------------------------------------- values

@pytest.mark.parametrize("save_as", [numpy.savez, numpy.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_values_of_either_order(db, save_as, order):
    random = numpy.random.default_rng(5)
    arrays = {f"{kind}{rank}": numpy.asarray(random.integers(0, 100, size), dtype=kind, order=order)
              for kind in ("<f4", ">f8", "i1", ">i2", "<c16", "?") for rank, size in enumerate([(), (7,), (30, 41), (5, 6, 7), (3, 1, 40, 9)])}
    file = saved(arrays, save_as)
    for name, expected in arrays.items():
        native = numpy.ascontiguousarray(expected).astype(expected.dtype.newbyteorder("<"))
        assert value(db, "SELECT zt_dense(?, ?)", file, name) == native.tobytes(), name
        if expected.ndim > 1:
            vectors = rows(db, "SELECT vector FROM zt_rows(?, ?, ?) WHERE row BETWEEN 1 AND 3", file, name, expected.dtype.name)
            assert [v for v, in vectors] == [row.tobytes() for row in native[1:4]], name


def test_rows_of_a_deflated_member(db):
    weights = numpy.arange(200000, dtype="f4").reshape(2000, 100)
    file = saved({"w": weights}, numpy.savez_compressed)
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 'w') WHERE row IN (3, 1999)", file) == [
        (3, weights[3].tobytes()), (1999, weights[1999].tobytes())]
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 4000, 8)", file) == weights.tobytes()[4000:4008]


# ----------------------------------------------------------------------------------------------------------- scipy

DENSE = """
    WITH m(source) AS (SELECT :source), cells(row, at, stop) AS (
      SELECT i.position, i.value, (SELECT value FROM zt_elements(m.source, 'indptr') WHERE position = i.position + 1)
      FROM m, zt_elements(m.source, 'indptr') AS i WHERE i.position < zt_value(m.source, 'shape', 0)
    )
    SELECT cells.row, j.value AS column, d.value
    FROM m, cells, zt_elements(m.source, 'indices') AS j ON j.position BETWEEN cells.at AND cells.stop - 1,
         zt_elements(m.source, 'data') AS d ON d.position = j.position
    ORDER BY 1, 2"""


def test_scipys_sparse_matrix_is_made_dense_by_a_query(db):
    with numpy.load(SCIPY) as parts:
        expected = numpy.zeros(parts["shape"])
        for row in range(len(parts["indptr"]) - 1):
            for k in range(parts["indptr"][row], parts["indptr"][row + 1]):
                expected[row, parts["indices"][k]] += parts["data"][k]
    got = numpy.zeros(expected.shape)
    for row, column, number in db.execute(DENSE, {"source": str(SCIPY)}):
        got[row, column] += number
    assert (got == expected).all() and expected.any()


# ----------------------------------------------------------------------------------------------------- broken files

@pytest.mark.parametrize("name", ["positional", "hand_zip64", "hand_comment"])
def test_an_archive_cut_at_any_byte_is_an_error(db, save, name):
    whole = (corpus.FORMATS / "npz" / "golden" / f"{name}.npz").read_bytes()
    for n in range(len(whole)):
        path = save(f"{n}.npz", whole[:n])
        assert message(db, "SELECT * FROM zt_objects(?)", path).startswith(prefix(path)), n
        assert message(db, "SELECT * FROM zt_objects(?)", whole[:n]).startswith(prefix(b"")), n


def test_an_array_cut_in_its_header_is_an_error_and_in_its_data_has_no_values(db, save):
    whole = array()
    for n in range(len(whole)):
        path = save("data.npy", whole[:n])
        for source in (path, whole[:n]):
            if n < len(whole) - 16:
                assert message(db, "SELECT * FROM zt_objects(?)", source).startswith(prefix(source)), n
            else:
                assert value(db, "SELECT zt_blob(?, 'data')", source) == whole[len(whole) - 16:n]
                assert message(db, "SELECT zt_dense(?, 'data')", source).endswith(f"4 elements of f32 are 16 bytes, and it has {n - 128}")


@pytest.mark.parametrize("name", ["npz/golden/positional.npz", "npz/golden/deflated.npz", "npy/golden/structured.npy"])
def test_a_file_with_any_byte_changed_says_the_same_as_path_and_as_blob(db, save, name):
    whole = (corpus.FORMATS / name).read_bytes()
    for n in range(len(whole)):
        changed = whole[:n] + bytes([whole[n] ^ (0x01, 0x20, 0x80, 0xff)[n % 4]]) + whole[n + 1:]
        assert everything(db, save("data." + name[-3:], changed)) == everything(db, changed), n


@pytest.mark.parametrize("descr, format, dtype", [
    ("<M8[D]", "datetime64", "u8"), ("<M8D]", "unknown", None), ("<M8[D", "unknown", None), ("<M8[]", "unknown", None), ("<M8]", "unknown", None), ("<f8[D]", "unknown", None),
    ("f4", "dense", "f32"), ("=f4", "dense", "f32"), ("!f4", "unknown", None), ("<", "unknown", None), ("", "unknown", None), ("<f99999999999999999999", "unknown", None),
    ("|O8", "object", None), ("|O", "object", None), ("|O8x", "unknown", None), ("l", "unknown", None), ("<L", "unknown", None), ("int", "unknown", None),
    ("<float32", "unknown", None), (">bool", "unknown", None), ("float32 ", "unknown", None), ("?1", "unknown", None), ("b2", "unknown", None)])
def test_texts_of_types(db, descr, format, dtype):
    source = array(shaped("(0,)", repr(descr)), b"")
    assert rows(db, "SELECT format, dtype FROM zt_objects(?)", source) == [(format if format == "dense" else f"numpy.{format}", dtype)]


@pytest.mark.parametrize("name", [order + letter for letter in "?bBhHiIqQefdFD" for order in ("", "<", ">", "=", "|")] + [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "float", "complex64", "complex128", "complex"])
def test_numpys_letters_and_names_are_types(db, name):
    """Not those whose width differs between machines."""
    dtype = numpy.dtype(name)
    want = numpy.arange(1, 4).astype(dtype)
    whole = array(shaped("(3,)", repr(name)), want.tobytes())
    plain = array(shaped("(3,)", repr(dtype.str)), want.tobytes())
    assert numpy.array_equal(numpy.load(io.BytesIO(whole)), want)
    for source, other in ((whole, plain), (archive(Member("data.npy", whole)), archive(Member("data.npy", plain)))):
        assert rows(db, "SELECT format, dtype, type, shape FROM zt_objects(?)", source) == rows(db, "SELECT format, dtype, type, shape FROM zt_objects(?)", other)
        assert value(db, "SELECT zt_dense(?, 'data')", source) == want.astype(dtype.newbyteorder("<")).tobytes()
        assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


LISTED = {"text": ("'<U5'", 40, "unicode"), "bytes": ("'|S7'", 14, "bytes"), "no bytes": ("'|S0'", 0, "bytes"), "dates": ("'>M8[D]'", 16, "datetime64"),
          "durations": ("'<m8[ns]'", 16, "timedelta64"), "void": ("'|V3'", 6, "void"), "long double": ("'<f16'", 32, "longdouble"),
          "fields": ("[('a', '<i4'), ('b', '<f8', (2,))]", 40, "structured")}


@pytest.mark.parametrize("level", ["quick", "full"])
@pytest.mark.parametrize("there", [-1000, -5, -1, 0, 1])
@pytest.mark.parametrize("kind", LISTED)
def test_of_an_array_that_is_only_listed_it_is_known_how_long_it_should_be(db, kind, there, level):
    descr, size, format = LISTED[kind]
    have = max(size + there, 0)
    whole = array(shaped("(2,)", descr), bytes(have))
    length = [("data", "data", "length", f"its elements are {size} bytes, and it has {have}")] if have < size else []
    listed = [("data", None, "no-values", "it has no values: " + NO_VALUES[format])]
    for source in (whole, archive(Member("data.npy", whole)), archive(Member("data.npy", whole, DEFLATE))):
        assert rows(db, "SELECT object, component, rule, message FROM zt_check(?, ?) WHERE rule NOT IN ('gap', 'npz-behind')", source, level) == length + listed
        assert value(db, "SELECT zt_blob(?, 'data')", source) == bytes(min(size, have))


# ------------------------------------------------------------------------------------------------- what is rare

def test_a_vertical_tab_is_no_space_of_a_header(db):
    for ch, fault in ((b" ", None), (b"\t", None), (b"\f", None), (b"\v", "a text was expected"), (b"\x0e", "a text was expected")):
        source = array(b"{" + ch + b"'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n")
        if fault:
            assert fault in message(db, "SELECT * FROM zt_objects(?)", source)
        else:
            assert value(db, "SELECT shape FROM zt_objects(?)", source) == "[4]"


@pytest.mark.parametrize("unit, format", [("[ns]", "numpy.datetime64"), ("[ns", "numpy.unknown"), ("ns]", "numpy.unknown"), ("[]", "numpy.unknown"), ("nsxx", "numpy.unknown")])
def test_units_of_times(db, unit, format):
    source = array(shaped("(1,)", f"'<M8{unit}'"), bytes(8))
    assert value(db, "SELECT format FROM zt_objects(?)", source) == format


def test_empty_blocks_in_a_stream(db):
    """More of them than are read at once."""
    raw = array()
    for n in (0, 20000):
        data = b"\0\0\0\xff\xff" * n + deflate(raw)
        source = archive(Member("w.npy", raw, DEFLATE, data=data))
        assert len(value(db, "SELECT zt_dense(?, 'w')", source)) == 16
        cut = archive(Member("w.npy", raw, DEFLATE, data=data[:5 * n + 10]), Member("v.npy"))
        assert "deflate: the stored bytes end within the stream" in value(db, "SELECT message FROM zt_check(?) WHERE object = 'w'", cut)
    for n in range(100, 612):   # The stream ends at each place of what is read at once
        stream = b"\0" + struct.pack("<HH", 50, 50 ^ 0xffff) + raw[:50] + b"\0\0\0\xff\xff" * n + b"\1\0\0\xff\xff"
        short = archive(Member("w.npy", raw, DEFLATE, data=stream + b"junk" * 300), Member("v.npy"))
        assert f"deflate: decodes to 50 bytes, the directory states {len(raw)}" in value(db, "SELECT message FROM zt_check(?, 'quick') WHERE object = 'w'", short)
    for n in (0, 20000):
        short = archive(Member("w.npy", raw, DEFLATE, data=b"\0\0\0\xff\xff" * n + deflate(raw[:50]) + b"junk" * 300), Member("v.npy"))
        assert f"deflate: decodes to 50 bytes, the directory states {len(raw)}" in value(db, "SELECT message FROM zt_check(?) WHERE object = 'w'", short)
