"""Writes files with ztensor 1.2.x: python write_1_2.py DIRECTORY. Its writer has all of the format: any object with its
components, types and attributes, zstd, digests; and it changes files in place."""
import sys

import numpy
import ztensor

import content

VERSION = "1.2"


def write(path, arrays, compress=None, checksum="none"):
    with ztensor.Writer(path) as writer:
        for name, array in arrays.items():
            writer.write_numpy(name, array, compress=compress, checksum=checksum)
    options = {"encoding": "zstd" if compress else "raw", "digest": None if checksum == "none" else checksum}
    content.record(path, VERSION, {name: content.dense(array, **options) for name, array in arrays.items()})


def write_objects(path, compress, checksum):
    """Objects of every format, each with attributes."""
    options = {"encoding": "zstd" if compress else "raw", "digest": checksum}
    values, indices, indptr, shape = content.csr()
    points, coords, size = content.coo()
    eighths = numpy.arange(256, dtype="uint8").reshape(16, 16)
    parts = numpy.arange(12, dtype="float32")
    packed = numpy.arange(-32, 32, dtype="int32").reshape(8, 8)
    scales = numpy.linspace(0, 1, 16).astype("float16")
    objects = {
        "csr": ("sparse_csr", shape, None, {"values": values, "indices": indices, "indptr": indptr}, {"sorted": True}),
        "coo": ("sparse_coo", size, None, {"values": points, "coords": coords.reshape(-1)}, {"unit": "mm", "scale": 0.5}),
        "quantized": ("quantized_group", (8, 64), None, {"packed_weight": packed, "scales": scales, "zeros": scales},
                      {"bits": 4, "group_size": 32, "packing": "8_per_i32"}),
        "fp8": ("dense", (16, 16), "f8_e4m3fn", {"data": eighths}, {}),
        "complex": ("dense", (2, 3), "complex64", {"data": parts}, {"note": "\u00fcber", "list": [1, -2, "x"], "none": None}),
        "scalar": ("dense", (), None, {"data": numpy.array([1.5])}, {}),   # write_numpy() makes shape [1] of a scalar
        "other": ("somebody_elses", (3,), None, {"data": parts}, {"nested": {"deep": [True, {}]}}),
    }
    expected = {}
    with ztensor.Writer(path) as writer:
        for name, (format, shape, type, arrays, attributes) in objects.items():
            tensor = ztensor.Tensor(arrays, shape=shape, format=format, type=type, attributes=attributes or None)
            writer.write(name, tensor, compress=compress, checksum=checksum)
            components = {role: content.component(array, type=type, **options) for role, array in arrays.items()}
            expected[name] = content.object(shape, components, format, attributes)
    content.record(path, VERSION, expected)


def write_changed(path):
    """A file that was appended to, and had a tensor replaced and one removed."""
    first, second = numpy.arange(100, dtype="int32"), numpy.full((5, 5), 2.5)
    with ztensor.Writer(path) as writer:
        writer.write_numpy("stays", first, checksum="sha256")
        writer.write_numpy("goes", second)
        writer.write_numpy("changes", first)
    writer = ztensor.Writer.append(path)
    writer.write_numpy("comes", second, compress=True)
    writer.finish()
    ztensor.replace_tensor(path, "changes", first[::-1].copy())
    shorter = path.replace(".zt", "_less.zt")
    ztensor.remove_tensors(path, shorter, ["goes"])
    objects = {"stays": content.dense(first, digest="sha256"), "goes": content.dense(second),
               "changes": content.dense(first[::-1]), "comes": content.dense(second, encoding="zstd")}
    content.record(path, VERSION, objects)
    del objects["goes"]
    content.record(shorter, VERSION, objects)


directory, = sys.argv[1:]
write(f"{directory}/none.zt", {})
write(f"{directory}/dtypes.zt", content.dtypes(), checksum="sha256")
write(f"{directory}/dtypes_zstd.zt", content.dtypes(), compress=19, checksum="crc32c")
write(f"{directory}/ranks.zt", content.ranks(), checksum="crc32c")
write(f"{directory}/ranks_zstd.zt", content.ranks(), compress=True)
write(f"{directory}/names.zt", content.names())
write(f"{directory}/large_zstd.zt", content.large(), compress=True, checksum="sha256")
write_objects(f"{directory}/objects.zt", compress=None, checksum="sha256")
write_objects(f"{directory}/objects_zstd.zt", compress=3, checksum="crc32c")
write_changed(f"{directory}/changed.zt")
