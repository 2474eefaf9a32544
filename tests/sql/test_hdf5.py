"""Chunked datasets of HDF5: slices, edges, fill values and threads, against arrays that are cut in chunks here."""
import itertools
import os
import struct
import sys
import zlib

import numpy
import pytest

from support import ROOT, message, rows, value

sys.path.insert(0, str(ROOT / "tests" / "formats" / "hdf5"))
import write_hdf5 as hdf5  # noqa: E402  (it is there only now)

SHAPES = [((40,), (7,)), ((12, 10), (5, 4)), ((12, 10), (1, 4)), ((12, 10), (12, 3)), ((9, 4, 6), (2, 4, 3)), ((9, 4, 6), (1, 3, 6)),
          ((3, 5, 4, 3), (2, 2, 2, 2)), ((6, 1, 5), (4, 1, 5))]


def pieces(array, chunk):
    """((coordinates of the first element), the whole chunk's elements), for each chunk."""
    for at in itertools.product(*(range(0, n, c) for n, c in zip(array.shape, chunk))):
        whole = numpy.zeros(chunk, array.dtype)
        part = array[tuple(slice(a, a + c) for a, c in zip(at, chunk))]
        whole[tuple(slice(n) for n in part.shape)] = part
        yield at, whole


def leaf(rank, chunks):
    keys = b"".join(struct.pack(f"<II{rank + 1}QQ", size, 0, *at, 0, address) for at, size, address in chunks)
    return struct.pack("<4sBBHQQ", b"TREE", 1, 0, len(chunks), hdf5.NONE, hdf5.NONE) + keys + bytes(8 + 8 * (rank + 1))


def file_of(array, chunk, deflated=True, absent=(), broken=(), fill=None):
    """A file of f32 in chunks; the absent ones, by number, are not stored, the broken ones are no zlib streams."""
    f = hdf5.File()
    chunks = []
    for i, (at, whole) in enumerate(pieces(array, chunk)):
        raw = zlib.compress(whole.tobytes()) if deflated else whole.tobytes()
        if i not in absent:
            chunks.append((at, len(raw), f.put(b"x" * len(raw) if i in broken else raw)))
    more = [hdf5.filters(1)] if deflated else []
    if fill is not None:
        more.append(hdf5.message(hdf5.FILL, struct.pack("<BBIf", 3, 0x20, 4, fill)))
    layout = hdf5.chunked(f.put(leaf(array.ndim, chunks)), *chunk, 4)
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
