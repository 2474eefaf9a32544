"""Writes npz files with numpy and scipy, and beside each what numpy reads in it: write_npz.py FOLDER"""
import itertools
import sys
import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse

import arrays
from foreign import Record


def read(path, allow_pickle=True):
    record = Record(path, "npz")
    with zipfile.ZipFile(path) as archive, np.load(path, allow_pickle=allow_pickle) as loaded:
        for info in archive.infolist():
            with archive.open(info) as file:
                version, descr, fortran = arrays.header(file)
            arrays.note(record, info.filename.removesuffix(".npy"), loaded[info.filename], version, descr, fortran)
    return record


def note(path):
    read(path).save()


def main(folder):
    folder, rng = Path(folder), np.random.default_rng(15)
    everything = {f"{dtype.str}.{order}.{k}": np.asarray(arrays.array(rng, dtype, shape), order=order)
                  for dtype, order, (k, shape) in itertools.product(
                      arrays.dtypes(), "CF", enumerate([(), (7,), (3, 5), (2, 0, 3), (2, 3, 4)]))}
    names = ["a.b.c", "weight", "Ünïcode", "水", "emoji 🎉", "layer/0/w", "x.npy", " ", "a'b"]
    weights = {f"layers.{i}.w": rng.standard_normal((64, 1 + i % 70)).astype("f4") for i in range(300)}
    for kind, save in {"stored": np.savez, "deflated": np.savez_compressed}.items():
        save(folder / f"{kind}.npz", **everything)
        save(folder / f"{kind}_names.npz", **{name: np.arange(3) for name in names})
        save(folder / f"{kind}_others.npz", **arrays.others())
        save(folder / f"{kind}_many.npz", **weights)
        save(folder / f"{kind}_zeros.npz", np.zeros((1000, 1000)), np.zeros(3))
        save(folder / f"{kind}_none.npz")
    matrix = scipy.sparse.random(50, 30, 0.1, "csr", rng=rng)
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        for compressed in (False, True):
            scipy.sparse.save_npz(folder / f"scipy_{form}{'_deflated' if compressed else ''}.npz", matrix.asformat(form), compressed)
    for path in sorted(folder.glob("*.npz")):
        note(path)


if __name__ == "__main__":
    main(sys.argv[1])
