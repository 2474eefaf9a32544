"""Writes files with ztensor 1.0.x or 1.1.x: python write_1_0.py DIRECTORY VERSION. The two have one interface: dense
tensors, raw or zstd, and sparse ones, without checksums and attributes."""
import sys

import ztensor

import content

def write(path, arrays, compress=False):
    with ztensor.Writer(path) as writer:
        for name, array in arrays.items():
            writer.add_tensor(name, array, compress=compress)
    encoding = "zstd" if compress else "raw"
    content.record(path, version, {name: content.dense(array, encoding=encoding) for name, array in arrays.items()})


def write_sparse(path):
    values, indices, indptr, shape = content.csr()
    points, coords, size = content.coo()
    with ztensor.Writer(path) as writer:
        writer.add_sparse_csr("csr", values, indices, indptr, shape)
        writer.add_sparse_coo("coo", points, coords, size)
        writer.add_tensor("dense", values)
    content.record(path, version, {
        "csr": content.object(shape, {"values": content.component(values), "indices": content.component(indices),
                                      "indptr": content.component(indptr)}, "sparse_csr"),
        "coo": content.object(size, {"values": content.component(points), "coords": content.component(coords)}, "sparse_coo"),
        "dense": content.dense(values)})


directory, version = sys.argv[1:]
write(f"{directory}/none.zt", {})
write(f"{directory}/dtypes.zt", content.dtypes())
write(f"{directory}/dtypes_zstd.zt", content.dtypes(), compress=True)
write(f"{directory}/ranks.zt", content.ranks())
write(f"{directory}/ranks_zstd.zt", content.ranks(), compress=True)
write(f"{directory}/names.zt", content.names())
write(f"{directory}/large_zstd.zt", content.large(), compress=True)
write_sparse(f"{directory}/sparse.zt")
