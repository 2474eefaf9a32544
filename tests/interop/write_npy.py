"""Writes npy files with numpy, and beside each what numpy reads in it: write_npy.py FOLDER"""
import itertools
import sys
from pathlib import Path

import numpy as np

import arrays
from foreign import Record


def write(path, array, **how):
    np.save(path, array, **how)
    note(path)


def read(path, allow_pickle=True):
    with open(path, "rb") as file:
        version, descr, fortran = arrays.header(file)
    record = Record(path, "npy", version)
    arrays.note(record, path.stem, np.load(path, allow_pickle=allow_pickle), version, descr, fortran)
    return record


def note(path):
    read(path).save()


def main(folder):
    folder, rng = Path(folder), np.random.default_rng(15)
    for dtype, order in itertools.product(arrays.dtypes(), "CF"):
        big = "big" if dtype.byteorder == ">" else "little"
        write(folder / f"{dtype.name}_{big}_{order}.npy", np.asarray(arrays.array(rng, dtype, (3, 5)), order=order))
    for name, array in arrays.others().items():
        write(folder / f"{name}.npy", array)
    for shape in [(), (0,), (2, 0, 3), (1,), (1, 2, 3, 4, 5), (1,) * 32]:
        write(folder / f"shape_{'x'.join(map(str, shape)) if len(shape) < 9 else len(shape)}.npy", np.asfortranarray(np.ones(shape, "f4")))
    write(folder / "view.npy", arrays.array(rng, np.dtype("<i2"), (6, 8, 2))[::2, 1::3].transpose(2, 0, 1))
    for version in [(2, 0), (3, 0)]:
        path = folder / f"version_{version[0]}.npy"
        with open(path, "wb") as file:
            np.lib.format.write_array(file, arrays.array(rng, np.dtype("<f4"), (2, 3)), version)
        note(path)


if __name__ == "__main__":
    main(sys.argv[1])
