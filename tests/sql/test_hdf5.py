"""Chunked datasets of HDF5: slices, edges, fill values and threads, against arrays that are cut in chunks here."""
import io
import itertools
import os
import struct
import sys
import zipfile
import zlib

import numpy
import pytest

from support import ROOT, failure, message, rows, value

sys.path.insert(0, str(ROOT / "tests" / "formats" / "hdf5"))
import write_hdf5 as hdf5  # noqa: E402  (it is there only now)

SHAPES = [((40,), (7,)), ((12, 10), (5, 4)), ((12, 10), (1, 4)), ((12, 10), (12, 3)), ((9, 4, 6), (2, 4, 3)), ((9, 4, 6), (1, 3, 6)),
          ((3, 5, 4, 3), (2, 2, 2, 2)), ((6, 1, 5), (4, 1, 5)), ((6, 3), (4, 5))]


def pieces(array, chunk):
    """((coordinates of the first element), the whole chunk's elements), for each chunk."""
    for at in itertools.product(*(range(0, n, c) for n, c in zip(array.shape, chunk))):
        whole = numpy.zeros(chunk, array.dtype)
        part = array[tuple(slice(a, a + c) for a, c in zip(at, chunk))]
        whole[tuple(slice(n) for n in part.shape)] = part
        yield at, whole


def file_of(array, chunk, deflated=True, absent=(), broken=(), fill=None):
    """A file of f32 in chunks; the absent ones, by number, are not stored, the broken ones are no zlib streams."""
    f = hdf5.File()
    chunks = []
    for i, (at, whole) in enumerate(pieces(array, chunk)):
        raw = zlib.compress(whole.tobytes()) if deflated else whole.tobytes()
        if i not in absent:
            chunks.append((at, len(raw), 0, f.put(b"x" * len(raw) if i in broken else raw)))
    more = [hdf5.filters(1)] if deflated else []
    if fill is not None:
        more.append(hdf5.message(hdf5.FILL, struct.pack("<BBIf", 3, 0x20, 4, fill)))
    layout = hdf5.chunked(f.put(hdf5.tree(*chunks, rank=array.ndim)), *chunk, 4)
    return f.end(hdf5.link("w", f.dataset(layout, *more, shape=array.shape)))


def sample(shape):
    return numpy.random.default_rng(5).standard_normal(shape).astype("<f4")


@pytest.mark.parametrize("shape, chunk", SHAPES)
@pytest.mark.parametrize("deflated", [True, False])
def test_every_slice_is_that_of_the_array(db, shape, chunk, deflated):
    array = sample(shape)
    data, flat = file_of(array, chunk, deflated), array.ravel()
    assert value(db, "SELECT zt_dense(?, 'w')", data) == array.tobytes()
    for first in range(0, flat.size, 3):
        for n in (1, 2, 5, flat.size // 2, flat.size):
            want = flat[first:first + n]
            assert value(db, "SELECT zt_blob(?, 'w', 'data', ?, ?)", data, 4 * first + 1, 4 * n - 2) == array.tobytes()[4 * first + 1:4 * first + 4 * n - 1]
            assert [row[0] for row in rows(db, "SELECT value FROM zt_elements(?, 'w') LIMIT ? OFFSET ?", data, n, first)] == want.tolist()
    for row in range(shape[0]):
        assert value(db, "SELECT zt_dense(?, 'w', NULL, ?, 1)", data, row) == array[row:row + 1].tobytes()
        assert value(db, "SELECT zt_dense(?, 'w', NULL, ?, 3)", data, row) == array[row:row + 3].tobytes()


@pytest.mark.parametrize("shape, chunk", SHAPES)
def test_a_value_reads_its_own_chunk_alone(db, shape, chunk):
    array = sample(shape)
    numbers = numpy.zeros(shape, int)
    for i, (at, _) in enumerate(pieces(array, chunk)):
        numbers[tuple(slice(a, a + c) for a, c in zip(at, chunk))] = i
    for bad in range(numbers.max() + 1):
        data = file_of(array, chunk, broken=[bad])
        for at in itertools.product(*(range(n) for n in shape)):
            sql = f"SELECT zt_value(?, 'w'{', ?' * len(shape)})"
            if numbers[at] == bad:
                assert message(db, sql, data, *at).endswith("deflate: a chunk that is no zlib stream")
            else:
                assert value(db, sql, data, *at) == float(array[at])
        for row in range(shape[0]):
            sql = "SELECT zt_dense(?, 'w', NULL, ?, 1)"
            if bad in numbers[row:row + 1]:
                assert message(db, sql, data, row)
            else:
                assert value(db, sql, data, row) == array[row:row + 1].tobytes()


@pytest.mark.parametrize("fill", [None, 2.5])
def test_absent_chunks_have_the_fill_value(db, fill):
    array = sample((12, 10))
    absent = [0, 4, 7]
    want = array.copy()
    for i, (at, _) in enumerate(pieces(array, (5, 4))):
        if i in absent:
            want[at[0]:at[0] + 5, at[1]:at[1] + 4] = fill or 0
    for deflated in (True, False):
        data = file_of(array, (5, 4), deflated, absent, fill=fill)
        assert value(db, "SELECT zt_dense(?, 'w')", data) == want.tobytes()
        assert value(db, "SELECT zt_blob(?, 'w', 'data', 1, 470)", data) == want.tobytes()[1:471]
    nothing = file_of(array, (5, 4), absent=range(9), fill=fill)
    assert value(db, "SELECT zt_dense(?, 'w')", nothing) == numpy.full((12, 10), fill or 0, "f4").tobytes()


@pytest.mark.parametrize("fill", [None, 2.5])
def test_much_that_is_not_stored(db, fill):
    """More than is filled at once, and more than the file is worth."""
    nothing = file_of(numpy.zeros(3_000_001, "f4"), (10_000,), absent=range(301), fill=fill)
    assert value(db, "SELECT zt_dense(?, 'w')", nothing) == numpy.full(3_000_001, fill or 0, "f4").tobytes()
    too_much = file_of(numpy.zeros(30_000_000, "f4"), (1_000_000,), absent=range(1, 30), fill=fill)
    assert "bytes of it are not stored, but the fill value" in str(failure(db, "SELECT zt_hash(?, 'w', 'data', 'xxh3')", too_much))


def test_a_chunk_that_is_not_compressed_by_its_filter(db):
    """Its stored bytes might become more than any chunk may have."""
    array = sample((300_000,))
    assert value(db, "SELECT zt_dense(?, 'w')", file_of(array, array.shape)) == array.tobytes()


@pytest.mark.parametrize("deflated, more", [(False, 1), (False, 2_000_000), (True, 2_000_000)])
def test_a_chunk_of_too_many_stored_bytes(db, deflated, more):
    f = hdf5.File()
    raw = (zlib.compress(hdf5.DATA) if deflated else hdf5.DATA) + bytes(more)
    layout = hdf5.chunked(f.put(hdf5.tree(((0,), len(raw), 0, f.put(raw)))), 4, 4)
    data = f.end(hdf5.link("w", f.dataset(layout, *[hdf5.filters(1)] * deflated, shape=(4,))))
    assert message(db, "SELECT zt_dense(?, 'w')", data).endswith(f"a chunk of 16 bytes is stored as {len(raw)}")


@pytest.mark.parametrize("number, name, reason", [
    (4, "szip", "compressed by szip"), (5, "nbit", "packed by n-bit"), (6, "scaleoffset", "packed by scale-offset"), (32000, "lzf", "compressed by lzf"),
    (31999, "31999", "written by a filter that is not known")])
def test_chunks_of_filters_that_are_not_decoded(db, number, name, reason):
    name_length = struct.pack("<H", 0) if number >= 256 else b""
    message_of_it = hdf5.message(hdf5.FILTERS, struct.pack("<BBH", 2, 1, number) + name_length + bytes(4))
    data = hdf5.of_chunks(hdf5.DATA, message_of_it)
    assert rows(db, "SELECT encoding, length, decoded_length FROM zt_components(?) WHERE object='w'", data) == [
        (f"hdf5.chunked+{name}", 16, None if number == 31999 else 16)]
    assert reason in message(db, "SELECT zt_dense(?, 'w')", data)
    skipped = hdf5.of_chunks(hdf5.DATA, message_of_it, mask=1)   # It is applied to no chunk
    assert value(db, "SELECT zt_dense(?, 'w')", skipped) == hdf5.DATA


def test_threads_give_the_same_bytes_and_the_same_error(db, save):
    array = sample((600, 1000))
    path, broken = save("w.h5", file_of(array, (50, 128))), save("b.h5", file_of(array, (50, 128), broken=[70, 20]))
    seen = set()
    for threads in (1, 2, 8):
        value(db, "SELECT zt_threads(?)", threads)
        assert value(db, "SELECT zt_dense(?, 'w')", path) == array.tobytes()
        assert value(db, "SELECT zt_dense(?, 'w', 'f64', 100, 300)", path) == array[100:400].astype("f8").tobytes()
        seen.add((value(db, "SELECT zt_hash(?, 'w', 'data', 'sha256')", path), *rows(db, "SELECT min, max, mean, std FROM zt_stats(?)", path),
                  message(db, "SELECT zt_dense(?, 'w')", broken), message(db, "SELECT zt_hash(?, 'w', 'data', 'xxh3')", broken)))
    assert len(seen) == 1


@pytest.mark.parametrize("chunk, deflated, sql", [
    ((1024, 2048), True, "SELECT length(zt_dense('{}', 'w'))"),     # The result has room for the whole band
    ((1024, 2048), False, "SELECT min FROM zt_stats('{}')"),         # The file is as large as the band
    ((1024, 16384), True, "SELECT min FROM zt_stats('{}')")])        # One chunk
def test_a_chunk_of_many_rows_is_decoded_once(trace, save, chunk, deflated, sql):
    array = numpy.tile(numpy.arange(1024, dtype="<f4"), (1024, 16))    # 64 MiB
    path = save("w.h5", file_of(array, chunk, deflated))
    got = trace(sql.format(path) + ";")
    assert got.out.strip() == ("67108864" if "dense" in sql else "0.0")
    assert got.bytes_read(path) < 1.2 * os.path.getsize(path) + 65536


def test_addresses_count_from_the_superblock(db):
    array = sample((12, 10))
    data = file_of(array, (5, 4))
    for n in (512, 1024, 8192):
        assert value(db, "SELECT zt_dense(?, 'w')", bytes(n) + data) == array.tobytes()
    assert rows(db, "SELECT offset, length FROM zt_components(?)", bytes(512) + data)[0][0] is None


# ---- Types and layouts that h5py does not write

def floats(size, exponent, mantissa, bias, big=0):
    return hdf5.type_of(1, size, struct.pack("<HHBBBBI", 0, 8 * size, mantissa, exponent, 0, mantissa, bias), 8 * size - 1 << 8 | 0x20 | big)


def integers(size, signed=0, big=0, offset=0, precision=None):
    return hdf5.type_of(0, size, struct.pack("<HH", offset, 8 * size if precision is None else precision), big | 8 * signed)


def array_of(type, size, *shape, version=3):
    old = version < 3
    return hdf5.type_of(10, size, bytes([len(shape)]) + bytes(3 * old) + struct.pack(f"<{len(shape)}I", *shape) + bytes(4 * len(shape) * old) + type, 0, version)


def enum_of(type, version, **members):
    names = b"".join((name.encode() + b"\0").ljust(8 if version < 3 else 0, b"\0") for name in members)
    return hdf5.type_of(8, 1, type + names + bytes(members.values()), len(members), version)


def complex_of(type, size):
    return hdf5.type_of(11, size, type, 1, 5)


F16, BF16, E5M2, E4M3 = floats(2, 5, 10, 15), floats(2, 8, 7, 127), floats(1, 5, 2, 15), floats(1, 4, 3, 7)
I16, I32 = integers(2, 1), integers(4, 1)
VLEN = hdf5.type_of(9, 16, I32)
BOOL, ENUM = enum_of(integers(1), 1, FALSE=0, TRUE=1), enum_of(integers(1), 3, A=0, B=2)
UNREADABLE, BAD_FLOAT, BAD_INTEGER = '{"$opaque":"h5 unreadable"}', '{"$opaque":"h5 float"}', '{"$opaque":"h5 integer"}'

ATTRIBUTES = {
    "f16": (F16, struct.pack("<3e", 1.5, -2.0**-24, float("inf")), (3,), "[1.5,-5.960464477539063e-08,9.0e+999]"),
    "bf16": (BF16, b"\xc0\x3f\x80\xff", (2,), "[1.5,-9.0e+999]"),
    "e5m2": (E5M2, b"\x3e\xfc\x01", (3,), "[1.5,-9.0e+999,1.52587890625e-05]"),
    "e4m3": (E4M3, b"\x38", (), BAD_FLOAT),
    "big f32": (floats(4, 8, 23, 127, 1), struct.pack(">f", -0.15625), (), -0.15625),
    "f64": (floats(8, 11, 52, 1023), struct.pack("<2d", 1e300, 5e-324), (2,), "[1e+300,5e-324]"),
    "complex64": (complex_of(hdf5.F32, 8), struct.pack("<2f", 1, -2), (), "[1.0,-2.0]"),
    "complex of f16": (complex_of(F16, 4), struct.pack("<2e", 0.5, 3), (), "[0.5,3.0]"),
    "complex of e4m3": (complex_of(E4M3, 2), b"88", (), f"[{BAD_FLOAT},{BAD_FLOAT}]"),
    "complex of another size": (complex_of(hdf5.F32, 6), bytes(6), (), UNREADABLE),
    "signed within": (integers(2, 1, 0, 4, 8), struct.pack("<2H", 0xf80f, 0x07f0), (2,), "[-128,127]"),
    "big within": (integers(2, 0, 1, 0, 12), b"\xff\xff", (), 4095),
    "i64": (integers(8, 1), struct.pack("<2q", -2**63, 2**63 - 1), (2,), "[-9223372036854775808,9223372036854775807]"),
    "u64": (integers(8), b"\xff" * 8, (), "18446744073709551615"),
    "i128": (integers(16), bytes(16), (), BAD_INTEGER),
    "32 of 128 bits": (integers(16, precision=32), b"\1" * 16, (), BAD_INTEGER),
    "no bits": (integers(1, precision=0), b"\1", (), BAD_INTEGER),
    "65 bits": (integers(1, precision=65), b"\1", (), UNREADABLE),
    "from bit 64 on": (integers(1, offset=64), b"\1", (), UNREADABLE),
    "bit field": (hdf5.type_of(4, 2, struct.pack("<HH", 0, 16)), b"\1\x80", (), 32769),
    "time": (hdf5.type_of(2, 4, b"\x20\0"), bytes(4), (), '{"$opaque":"h5 time"}'),
    "reference": (hdf5.type_of(7, 8), bytes(8), (), '{"$opaque":"h5 reference"}'),
    "opaque": (hdf5.type_of(5, 3, b"tag".ljust(8, b"\0"), 8), b"\0\1\2", (), b"\0\1\2"),
    "array": (array_of(I16, 12, 2, 3), struct.pack("<6h", *range(-3, 3)), (), "[[-3,-2,-1],[0,1,2]]"),
    "old array": (array_of(I16, 12, 3, 2, version=2), struct.pack("<12h", *range(12)), (2,), "[[[0,1],[2,3],[4,5]],[[6,7],[8,9],[10,11]]]"),
    "array in an array, 64 deep": (array_of(array_of(integers(1), 1, *[1] * 32), 1, *[1] * 32), b"\1", (), UNREADABLE),
    "array of another size": (array_of(I16, 10, 2, 3), bytes(10), (), UNREADABLE),
    "bool": (BOOL, b"\1\0\2", (3,), "[true,false,2]"),
    "enum": (ENUM, b"\2\0\7", (3,), "[2,0,7]"),
    "enum of floats": (hdf5.type_of(8, 4, hdf5.F32 + b"A\0" + bytes(4), 1, 3), bytes(4), (), UNREADABLE),
    "compound": (hdf5.type_of(6, 6, b"x\0\0" + I16 + b"y\0\2" + hdf5.F32, 2, 3), struct.pack("<hf", -5, 0.25), (), "[-5,0.25]"),
    "compound with an array": (hdf5.type_of(6, 4, b"x".ljust(8, b"\0") + struct.pack("<IB27x", 0, 1) + I16, 1, 1), bytes(4), (), '[{"$opaque":"h5 array"}]'),
    "ends at a NUL": (hdf5.type_of(3, 4), b"a\0bc", (), b"a"),
    "padded by NULs": (hdf5.type_of(3, 6, bits=1), b"ab\0c\0\0", (), b"ab\0c"),
    "padded by spaces": (hdf5.type_of(3, 4, bits=2), b"ab  ", (), b"ab"),
    "nothing": (F16, b"", (0,), "[]"),
    "nothing of much": (F16, b"", (1 << 62, 1 << 62, 0), "[]"),
    "fewer bytes": (I32, bytes(4), (2,), UNREADABLE),
    "2^66 elements": (I32, bytes(4), (1 << 33, 1 << 33), UNREADABLE),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_of_each_type(db, name):
    type, data, shape, expected = ATTRIBUTES[name]
    f = hdf5.File()
    assert rows(db, "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL",
                f.end(hdf5.link("w", f.plain()), hdf5.attribute(name, type, data, shape))) == [(name, expected)]


@pytest.mark.parametrize("type, elements, expected", [
    (VLEN, [(3, 1), (0, 0)], "[[-1,2,70000],[]]"), (hdf5.TEXT, [(5, 2), (0, 0)], '["hé",""]'), (VLEN, [(4, 1)], UNREADABLE), (VLEN, [(1, 9)], UNREADABLE),
    (hdf5.type_of(9, 16, VLEN), [(1, 3)], "[[[2]]]"), (hdf5.type_of(9, 8, I32), [(0, 0)], UNREADABLE)])
def test_attributes_in_a_global_heap(db, type, elements, expected):
    f = hdf5.File()
    at = f.next()
    objects = [struct.pack("<3i", -1, 2, 70000), b"h\xc3\xa9\0x", struct.pack("<IQI", 1, at, 4), struct.pack("<i", 2)]
    body = b"".join(struct.pack("<HHIQ", i, 1, 0, len(o)) + o + bytes(-len(o) % 8) for i, o in enumerate(objects, 1))
    heap = f.put(struct.pack("<4sB3xQ", b"GCOL", 1, 16 + len(body)) + body)
    data = b"".join(struct.pack("<IQI", n, heap if n else 0, index) for n, index in elements)
    data = f.end(hdf5.link("w", f.plain()), hdf5.attribute("a", type, data, (len(elements),)))
    got = value(db, "SELECT value FROM zt_attributes(?) WHERE key='a'", data)
    assert got == expected


def long_link(address):
    return hdf5.message(hdf5.LINK, struct.pack("<BBH", 1, 1, 60000) + b"n" * 60000 + struct.pack("<Q", address))


def test_metadata_that_take_more_than_the_file_is_worth(db):
    f = hdf5.File()
    inner = f.put(hdf5.header(*(hdf5.link(f"w{i}", f.plain()) for i in range(100))))
    assert "names and attributes take more memory than the file is worth" in message(db, "SELECT count(*) FROM zt_objects(?)", f.end(long_link(inner)))
    f = hdf5.File()
    inner = f.put(hdf5.header(hdf5.link("w", f.plain()), *(hdf5.attribute(f"a{i}", I16, bytes(2)) for i in range(100))))
    assert "the groups' attributes take more memory than the file is worth" in message(db, "SELECT count(*) FROM zt_objects(?)", f.end(long_link(inner)))
    f = hdf5.File()
    heap = hdf5.heap(f, bytes(60000), start=65536, largest=65536)
    record = hdf5.managed(hdf5.IN_BLOCK, 60000) + bytes(9)   # An attribute of an unknown form: each is read, and none is kept
    info = hdf5.message(hdf5.ATTRIBUTE_INFO, struct.pack("<BBQQ", 0, 0, heap, hdf5.tree2(f, 8, [record] * 2000, node=40000)))
    assert "the metadata lead to the same bytes again and again" in message(db, "SELECT count(*) FROM zt_objects(?)", f.end(hdf5.link("w", f.plain()), info))


def test_names_of_attributes_that_take_more_than_the_file_is_worth(db):
    f = hdf5.File()
    one = hdf5.attribute("n" * 59000, I16, bytes(2))[4:]
    heap = hdf5.heap(f, one, start=65536, largest=65536)
    record = hdf5.managed(hdf5.IN_BLOCK, len(one)) + bytes(9)
    info = hdf5.message(hdf5.ATTRIBUTE_INFO, struct.pack("<BBQQ", 0, 0, heap, hdf5.tree2(f, 8, [record] * 2000, node=40000)))
    assert "the attributes take more memory than the file is worth" in message(db, "SELECT count(*) FROM zt_objects(?)", f.end(hdf5.link("w", f.plain()), info))


def test_a_header_of_too_many_blocks(db):
    f = hdf5.File()
    blocks = [hdf5.message(hdf5.CONTINUATION, struct.pack("<QQ", (1 << 20) + i, 8)) for i in range(1024)]
    assert "a header of more than 1024 blocks" in message(db, "SELECT count(*) FROM zt_objects(?)", f.end(*blocks))


@pytest.mark.parametrize("type, size, format, dtype, reason", [
    (hdf5.type_of(4, 2, struct.pack("<HH", 0, 16)), 2, "hdf5.bitfield", "u8", "bit fields"), (array_of(I16, 4, 2), 4, "hdf5.array", "u8", "arrays"),
    (hdf5.type_of(2, 4, b"\x20\0"), 4, "hdf5.time", "u8", "times"), (complex_of(F16, 4), 4, "hdf5.complex", "u8", "not known"),
    (integers(3), 3, "hdf5.integer", "u8", "another precision"), (integers(4, precision=20), 4, "hdf5.integer", "u32", "another precision"),
    (E4M3, 1, "hdf5.float", "u8", "not known"), (VLEN, 16, "hdf5.vlen", "u8", "different lengths")])
def test_elements_without_values(db, type, size, format, dtype, reason):
    f = hdf5.File()
    data = hdf5.beside(hdf5.contiguous(f.put(bytes(range(4 * size))), 4 * size), type=type, file=f)
    assert rows(db, "SELECT format, dtype FROM zt_objects(?) WHERE object='w'", data) == [(format, dtype)]
    assert value(db, "SELECT zt_blob(?, 'w')", data) == bytes(range(4 * size))
    assert reason in message(db, "SELECT zt_dense(?, 'w')", data)


def test_links_that_are_compressed(db):
    path = str(ROOT / "tests" / "formats" / "hdf5" / "hostile" / "h5-packed-links.h5")
    assert rows(db, "SELECT object, zt_json(path, object) FROM zt_objects(?) ORDER BY object", path) == sorted((f"gz/w{i}", f"{i}.0") for i in range(40))


def test_a_heap_with_filters_is_not_broken(db):
    data = (ROOT / "tests" / "formats" / "hdf5" / "hostile" / "heap-filters.h5").read_bytes()
    assert rows(db, "SELECT objects, error_kind FROM zt_files(?)", data) == [(None, "unsupported")]


def of_type(type, size):
    f = hdf5.File()
    return hdf5.beside(hdf5.contiguous(f.put(bytes(4 * size)), 4 * size), type=type, file=f)


def float_of(order=0, implied=2, offset=0, precision=32, at=23, exponent=8, start=0, mantissa=23, bias=127, sign=31, size=4):
    return hdf5.type_of(1, size, struct.pack("<HHBBBBI", offset, precision, at, exponent, start, mantissa, bias), sign << 8 | implied << 4 | (order & 2) << 5 | order & 1)


@pytest.mark.parametrize("change, size", [({}, 4), ({"order": 2}, 4), ({"order": 3}, 4), ({"implied": 1}, 4), ({"offset": 1}, 4), ({"precision": 31}, 4), ({"start": 1}, 4),
                                          ({"sign": 30}, 4), ({"at": 24}, 4), ({"exponent": 7}, 4), ({"mantissa": 22}, 4), ({"bias": 126}, 4),
                                          ({"size": 8, "precision": 64, "sign": 63}, 8)])
def test_a_float_with_one_unusual_number_is_of_another_kind(db, change, size):
    kind = ("dense", "f32") if not change else ("hdf5.float", "u8")
    assert rows(db, "SELECT format, dtype FROM zt_objects(?) WHERE object='w'", of_type(float_of(**change), size)) == [kind]


def compound(size, *members, version=3):
    """(name, offset, type) each."""
    width = 1 if version == 3 else 4
    return hdf5.type_of(6, size, b"".join(name.encode() + b"\0" + offset.to_bytes(width, "little") + type for name, offset, type in members), len(members), version)


BIG_F32 = floats(4, 8, 23, 127, 1)


@pytest.mark.parametrize("type, size, kind", [
    (compound(8, ("r", 0, hdf5.F32), ("i", 4, hdf5.F32)), 8, ("dense", "f32", "complex64")),
    (compound(8, ("real", 0, BIG_F32), ("imag", 4, BIG_F32)), 8, ("dense", "f32", "complex64")),
    *((compound(size, *members), size, ("hdf5.compound", "u8", "u8")) for size, members in (
        (8, [("r", 0, hdf5.F32), ("x", 4, hdf5.F32)]), (8, [("x", 0, hdf5.F32), ("i", 4, hdf5.F32)]), (8, [("r", 4, hdf5.F32), ("i", 0, hdf5.F32)]),
        (8, [("r", 0, I32), ("i", 4, hdf5.F32)]), (8, [("r", 0, hdf5.F32), ("i", 4, I32)]), (9, [("r", 0, hdf5.F32), ("i", 4, hdf5.F32)]),
        (16, [("r", 0, hdf5.F32), ("i", 8, hdf5.F32)]), (8, [("r", 0, hdf5.F32), ("i", 4, float_of(implied=1))]), (8, [("r", 0, hdf5.F32), ("i", 4, BIG_F32)]),
        (4, [("r", 0, F16), ("i", 2, F16)]), (4, [("r", 0, hdf5.F32)]), (12, [("r", 0, hdf5.F32), ("i", 4, hdf5.F32), ("j", 8, hdf5.F32)])))])
def test_a_compound_of_two_equal_floats_may_be_a_complex_number(db, type, size, kind):
    assert rows(db, "SELECT format, dtype, type FROM zt_objects(?) WHERE object='w'", of_type(type, size)) == [kind]


@pytest.mark.parametrize("members, expected", [
    ([("FALSE", 0), ("TRUE", 1)], "bool"), ([("TRUE", 1), ("FALSE", 0)], "bool"), ([("FALSE", 1), ("TRUE", 0)], "u8"), ([("TRUE", 1), ("TRUE", 1)], "u8"),
    ([("FALSE", 0), ("FALSE", 0)], "u8"), ([("FALSE", 0), ("TRUE", 2)], "u8"), ([("FALSE", 0), ("true", 1)], "u8"), ([("FALSE", 0)], "u8")])
def test_an_enum_of_false_and_true_is_a_bool(db, members, expected):
    names = b"".join(name.encode() + b"\0" for name, _ in members)
    type = hdf5.type_of(8, 1, integers(1) + names + bytes(number for _, number in members), len(members), 3)
    assert value(db, "SELECT dtype FROM zt_objects(?) WHERE object='w'", of_type(type, 1)) == expected


@pytest.mark.parametrize("fill, expected", [
    (struct.pack("<BBBBIf", 1, 2, 0, 1, 4, 2.5), 2.5), (struct.pack("<BBBBI", 1, 2, 1, 0, 0), 0), (struct.pack("<BBBBIf", 2, 2, 0, 1, 4, 2.5), 2.5), (struct.pack("<BBBB", 2, 2, 1, 0), 0),
    (struct.pack("<BBIf", 3, 0x20, 4, 2.5), 2.5), (struct.pack("<BB", 3, 0), 0), (struct.pack("<BB", 3, 0x14), 0), (None, 2.5)])
def test_fill_values_of_all_versions(db, fill, expected):
    message_of_it = hdf5.message(4, struct.pack("<If", 4, 2.5)) if fill is None else hdf5.message(hdf5.FILL, fill)   # 4: before there were versions
    assert value(db, "SELECT zt_value(?, 'w', 1)", hdf5.beside(hdf5.chunked(hdf5.NONE, 4, 4), message_of_it)) == expected


@pytest.mark.parametrize("fill", [(), (1, 2, 0, 0, 0, 0, 0, 0), (2, 2, 2, 0), (3, 0x10), (3, 0x18)])
@pytest.mark.parametrize("layout", [hdf5.chunked(hdf5.NONE, 4, 4), hdf5.contiguous(hdf5.NONE, 16)], ids=["chunked", "contiguous"])
def test_what_was_never_written_has_no_values_if_the_fill_value_is_undefined(db, fill, layout):
    """libhdf5 reads none, either, unless the file says never to fill."""
    data = hdf5.beside(layout, *([hdf5.message(hdf5.FILL, bytes(fill))] if fill else []))
    reason = "it has no values: nothing was written, and its fill value is undefined"
    assert rows(db, "SELECT rule, severity, message FROM zt_check(?) WHERE object = 'w'", data) == [("no-values", "note", reason)]
    assert rows(db, "SELECT dtype, shape FROM zt_objects(?) WHERE object = 'w'", data) == [("f32", "[4]")]
    for sql in ("SELECT zt_dense(?, 'w')", "SELECT zt_blob(?, 'w')"):
        assert message(db, sql, data).startswith("ztensor: <blob>: object 'w': ")


def test_a_dataset_without_elements_needs_no_fill_value(db):
    data = hdf5.beside(hdf5.contiguous(hdf5.NONE, 0), shape=(0,))
    assert value(db, "SELECT zt_dense(?, 'w')", data) == b""


@pytest.mark.parametrize("heap", [
    struct.pack("<4sB3xQ", b"GCOL", 1, 15), struct.pack("<4sB3xQ", b"GCOL", 1, 1 << 31), struct.pack("<4sB3xQ", b"GCOL", 1, 4096), struct.pack("<4sB3xQ", b"GCOX", 1, 16),
    struct.pack("<4sB3xQ", b"GCOL", 2, 16), struct.pack("<4sB3xQHHIQ", b"GCOL", 1, 40, 1, 1, 0, 9) + bytes(8), struct.pack("<4sB3xQHHIQ", b"GCOL", 1, 40, 0, 1, 0, 4) + bytes(8),
    struct.pack("<4sB3xQHHIQ", b"GCOL", 1, 40, 2, 1, 0, 4) + bytes(8)])
def test_a_text_in_a_broken_heap_is_unreadable(db, heap):
    """Short, large, cut, of another kind or version; an object that is too long, one after the end, and another object."""
    f = hdf5.File()
    data = struct.pack("<IQI", 4, f.put(heap), 1)
    got = rows(db, "SELECT value FROM zt_attributes(?) WHERE key='a'", f.end(hdf5.link("w", f.plain()), hdf5.attribute("a", hdf5.TEXT, data)))
    assert got == [(UNREADABLE,)]


@pytest.mark.parametrize("index", [0, 65536, 1 << 31])
def test_a_text_at_no_place_of_a_heap_is_unreadable(db, index):
    f = hdf5.File()
    heap = f.put(struct.pack("<4sB3xQHHIQ", b"GCOL", 1, 40, 1, 1, 0, 4) + b"text" + bytes(4))
    got = rows(db, "SELECT value FROM zt_attributes(?) WHERE key IN ('a', 'b') ORDER BY key",
               f.end(hdf5.link("w", f.plain()), hdf5.attribute("a", hdf5.TEXT, struct.pack("<IQI", 4, heap, 1)), hdf5.attribute("b", hdf5.TEXT, struct.pack("<IQI", 4, heap, index))))
    assert got == [("text",), (UNREADABLE,)]


@pytest.mark.parametrize("type, dtype, array", [
    (complex_of(hdf5.F32, 8), "complex64", numpy.array([1 - 2j, 0.5j], "<c8")), (E5M2, "f8_e5m2", numpy.array([0x3e, 0xfc], "u1")),
    (complex_of(floats(8, 11, 52, 1023, 1), 16), "complex128", numpy.array([1e300 - 2j, 3], ">c16")), (BOOL, "bool", numpy.array([True, False])),
    (ENUM, "u8", numpy.array([2, 7], "u1"))])
def test_elements_of_rare_types(db, type, dtype, array):
    f = hdf5.File()
    data = hdf5.beside(hdf5.contiguous(f.put(array.tobytes()), array.nbytes), type=type, shape=array.shape, file=f)
    assert value(db, "SELECT coalesce(type, dtype) FROM zt_components(?) WHERE object='w'", data) == dtype
    assert value(db, "SELECT zt_dense(?, 'w')", data) == array.astype(array.dtype.newbyteorder("<")).tobytes()


def old_layout(version, kind, sizes, address=None, data=None):
    """A layout message of version 1 or 2, which the library wrote before 1.6.3."""
    return hdf5.message(hdf5.LAYOUT, struct.pack("<BBB5x", version, len(sizes), kind) + (b"" if address is None else struct.pack("<Q", address))
                        + struct.pack(f"<{len(sizes)}I", *sizes) + (b"" if data is None else struct.pack("<I", len(data)) + data))


@pytest.mark.parametrize("version", [1, 2])
def test_layouts_of_old_versions(db, version):
    array = sample((3, 4))
    raw = array.tobytes()
    f = hdf5.File()
    chunk = f.put(hdf5.tree(((0, 0), 32, 0, f.put(raw[:32])), ((2, 0), 32, 0, f.put(raw[32:] + bytes(16))), rank=2))
    layouts = {"compact": old_layout(version, 0, (3, 4), data=raw), "contiguous": old_layout(version, 1, (3, 4), f.put(raw)),
               "chunked": old_layout(version, 2, (2, 4, 4), chunk), "nothing": old_layout(version, 1, (3, 4), hdf5.NONE)}
    zero = hdf5.message(hdf5.FILL, bytes([3, 0]))
    data = f.end(*(hdf5.link(name, f.dataset(layout, zero, shape=(3, 4))) for name, layout in layouts.items()))
    assert rows(db, "SELECT object, value FROM zt_attributes(?) WHERE key='hdf5.layout'", data) == [
        ("chunked", "chunked"), ("compact", "compact"), ("contiguous", "contiguous"), ("nothing", "contiguous")]
    for name in layouts:
        assert value(db, "SELECT zt_dense(?, ?)", data, name) == (bytes(48) if name == "nothing" else raw), name
    assert value(db, "SELECT count(*) FROM zt_check(?, 'full') WHERE severity='error'", data) == 0


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("rest", [0, 1])
def test_bytes_are_unshuffled_by_elements_of_any_size(db, width, rest):
    raw = numpy.random.default_rng(width).bytes(16 * 11 + rest)
    n = len(raw) // width
    shuffled = b"".join(raw[k:n * width:width] for k in range(width)) + raw[n * width:]
    f = hdf5.File()
    layout = hdf5.chunked(f.put(hdf5.tree(((0,), len(raw), 0, f.put(shuffled)), width=1)), len(raw), 1)
    data = hdf5.beside(layout, hdf5.filters(2, values=(width,)), type=integers(1), shape=(len(raw),), file=f)
    assert value(db, "SELECT zt_dense(?, 'w')", data) == raw


def fixed_array(f, chunks, filtered):
    """A fixed array of chunks: (address, size, mask)."""
    entry = 8 + (4 + 4 if filtered else 0)
    at = f.next() + 28
    at += -at % 8
    head = f.put(hdf5.summed(struct.pack("<4sBBBBQQ", b"FAHD", 0, int(filtered), entry, 10, len(chunks), at)))
    body = b"".join(struct.pack("<QII", *chunk)[:entry] for chunk in chunks)
    assert f.put(hdf5.summed(struct.pack("<4sBBQ", b"FADB", 0, int(filtered), head) + body)) == at
    return head


@pytest.mark.parametrize("plain", [False, True])
def test_chunks_at_the_edge_may_be_unfiltered(db, plain):
    """The library's H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS."""
    array = sample((5, 6))
    f = hdf5.File()
    chunks = []
    for at, whole in pieces(array, (2, 4)):
        at_edge = at[0] + 2 > 5 or at[1] + 4 > 6
        raw = whole.tobytes() if plain and at_edge else zlib.compress(whole.tobytes())
        chunks.append((f.put(raw), len(raw), 0))
    layout = hdf5.message(hdf5.LAYOUT, struct.pack("<BBBBB3BBBQ", 4, 2, int(plain), 3, 1, 2, 4, 4, 3, 10, fixed_array(f, chunks, True)))
    data = hdf5.beside(layout, hdf5.filters(1), shape=(5, 6), file=f)
    assert value(db, "SELECT zt_dense(?, 'w')", data) == array.tobytes()


def test_a_node_of_chunks_lies_in_the_file(db):
    """The superblock of version 1 says how many chunks a node has room for."""
    file = bytearray((ROOT / "tests/formats/hdf5/golden/btree.h5").read_bytes())
    struct.pack_into("<H", file, 24, 1000)
    found = rows(db, "SELECT DISTINCT rule FROM zt_check(?) WHERE message LIKE '%go beyond the end of the file'", bytes(file))
    assert found == [("hdf5-address",)]


def test_the_keys_of_a_groups_tree_fit_each_other(db):
    """The second key of a node above others becomes its first: the child between them has names behind it."""
    file = bytearray((ROOT / "tests/formats/hdf5/golden/btree.h5").read_bytes())
    at = next(at for at in range(len(file)) if file[at:at + 6] == b"TREE\0\1")
    file[at + 40:at + 48] = file[at + 24:at + 32]
    assert "a node's keys beyond those of the node above" in message(db, "SELECT * FROM zt_objects(?)", bytes(file))


def test_the_coordinate_in_an_element_is_whole(db):
    for byte, end, fault in ((2, 0, "a chunk that does not begin in the grid"), (0, 8, "a chunk that does not begin in the grid"), (4, 0, "keys that do not ascend"),
                             (0, 0, "keys that do not ascend"), (0, 4, None)):
        keys = struct.pack("<IIQQQ", 16, 0, 0, byte, 48) + struct.pack("<8xQQ", 0, end)
        f = hdf5.File()
        f.put(hdf5.DATA)
        at = f.put(struct.pack("<4sBBHQQ", b"TREE", 1, 0, 1, hdf5.NONE, hdf5.NONE) + keys)
        data = hdf5.beside(hdf5.chunked(at, 4, 4), file=f)
        if fault is None:
            assert value(db, "SELECT zt_dense(?, 'w')", data) == hdf5.DATA
        else:
            assert fault in message(db, "SELECT zt_dense(?, 'w')", data)


def test_an_integer_has_its_bits(db):
    wide = hdf5.type_of(0, 4, struct.pack("<HH", 8, 32))
    assert "an integer of bits that it does not have" in message(db, "SELECT zt_dense(?, 'w')", hdf5.beside(hdf5.contiguous(48, 16), type=wide))


def unreadable(count, *more):
    """A file of two datasets, of which the second has attributes whose text is nowhere."""
    f = hdf5.File()
    text = struct.pack("<IQI", 4, f.put(bytes(64)), 1)
    w = f.dataset(hdf5.contiguous(f.put(hdf5.DATA), 16), *(hdf5.attribute(f"a{i}", hdf5.TEXT, text) for i in range(count)))
    return f.end(hdf5.link("b", f.plain()), hdf5.link("w", w), hdf5.attribute("root", hdf5.TEXT, text))


def test_faults_of_attributes_are_findings(db):
    """As they are in an archive, with the name that the dataset has there."""
    there = "no 'GCOL' at address 48"
    of_file, of_dataset = (f"attribute 'root': {there}",), (f"attribute 'a0': {there}",)
    sql = "SELECT severity, object, component, rule, message FROM zt_check(?, 'quick')"
    assert rows(db, sql, unreadable(1)) == [("error", object, None, "hdf5-global-heap", text) for object, (text,) in ((None, of_file), ("w", of_dataset))]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("v.h5", unreadable(0))
        archive.writestr("x.h5", unreadable(1))
    assert rows(db, "SELECT object, message FROM zt_check(?, 'quick')", packed.getvalue()) == [(None, *of_file), (None, *of_file), ("x.h5/w", *of_dataset)]


def test_faults_of_attributes_are_bounded(db):
    assert value(db, "SELECT count(*) FROM zt_check(?, 'quick')", unreadable(100)) == 64


def test_a_shape_whose_elements_64_bits_do_not_count(db):
    """It is shown as not understood; one that they do count is shown."""
    shown = {name: rows(db, "SELECT shape, elements FROM zt_objects(?) WHERE object = 'w'", str(ROOT / f"tests/formats/hdf5/hostile/{name}.h5"))
             for name in ("absent-2-66", "absent-bytes-2-64", "chunks-bytes-2-66", "chunks-2-65")}
    assert shown.pop("chunks-2-65") == [("[9223372036854775808]", "9223372036854775808")]
    assert set(map(tuple, shown.values())) == {((None, None),)}
