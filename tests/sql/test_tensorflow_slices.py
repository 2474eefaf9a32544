"""Partitioned variables of TensorFlow: many slices, long ones, and slices that are not as told."""
import struct
import sys

import numpy
import pytest

from support import ROOT, message, value

sys.path.insert(0, str(ROOT / "tests" / "formats" / "tensorflow"))
import tables  # noqa: E402  (it is there only now)

F32 = 1


def checkpoint(folder, shape, slices, dtype=F32, shards=1):
    """The index of a checkpoint with the variable 'w' of ascending numbers, and these."""
    array = numpy.arange(numpy.prod(shape), dtype="<f4").reshape(shape)
    tables.write(folder / "m.index", [("w", dtype, list(shape), array.tobytes(), 0, slices)], shards=shards)
    return str(folder / "m.index"), array


@pytest.mark.parametrize("slices, shape", [
    ([((i, 1), None) for i in range(40)], (40, 3)),                      # More than stay open
    ([(None, (i, 1)) for i in range(33)], (5, 33)),
    ([(None, (0, 7)), (None, (7, 2))], (2000, 9))])                      # More elements than are spread at once, in runs of 7
def test_slices_make_the_array(db, tmp_path, slices, shape):
    path, array = checkpoint(tmp_path, shape, slices, shards=3)
    assert value(db, "SELECT zt_dense(?, 'w')", path) == array.tobytes()
    for row in range(0, shape[0], max(1, shape[0] // 50)):
        assert value(db, "SELECT zt_dense(?, 'w', NULL, ?, 2)", path, row) == array[row:row + 2].tobytes()
        assert value(db, "SELECT zt_value(?, 'w', ?, 2)", path, row) == float(array[row, 2])


def test_a_slice_of_another_length(db, tmp_path):
    """One that stays open from the beginning, and one that is opened when it is read."""
    for bad in (3, 20):
        slices = [((i, 1),) for i in range(24)]
        entries = [(b"", tables.header()), (b"w", tables.entry(F32, [24], 0, 0, slices=slices))]
        entries += [(tables.slice_key("w", e), tables.entry(F32, [1], 4 * i, 3 if i == bad else 4)) for i, e in enumerate(slices)]
        (tmp_path / "m.index").write_bytes(tables.table(sorted(entries)))
        (tmp_path / "m.data-00000-of-00001").write_bytes(struct.pack("<24f", *range(24)))
        got = message(db, "SELECT zt_dense(?, 'w')", str(tmp_path / "m.index"))
        assert got.endswith(f"component '{bad},1': 1 elements of f32 are 4 bytes, and it has 3")


def test_slices_of_a_type_that_is_not_known(db, tmp_path):
    path, _ = checkpoint(tmp_path, (4,), [((0, 2),), ((2, 2),)], dtype=99)
    assert message(db, "SELECT zt_dense(?, 'w')", path).endswith("no meaning of format 'tensorflow.sliced' is known")
