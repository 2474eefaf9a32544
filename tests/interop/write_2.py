"""Writes files with ztensor 2.x: python write_2.py DIRECTORY. Its writer takes bytes, and has all of zTensor 2 but shards."""
import struct
import sys

import numpy
import ztensor

import content

VERSION = "2"
SEEKABLE = "zt.zstd-seekable/1"
# Layouts as the tables name them, where that is not what the file says.
FORMATS = {"zt.sparse_csr/1": "sparse_csr", "zt.sparse_coo/1": "sparse_coo"}


def part(array, logical=None, encoding=None):
    """A part as the library takes it. A bool array is u8 of logical type bool."""
    array = numpy.ascontiguousarray(array)
    dtype = content.SHORT[array.dtype.name]
    if dtype == "bool":
        dtype, logical = "u8", "bool"
    return {"dtype": dtype, "data": array.tobytes(), **({"logical": logical} if logical else {}),
            **({"encoding": encoding} if encoding else {})}


def recorded(p):
    """Its record. The library computes an xxh3 of each part."""
    data = numpy.frombuffer(p["data"], "uint8")
    return content.component(data, p["dtype"], p.get("logical"), p.get("encoding", "raw"), "xxh3")


def write_objects(path, objects, attributes=None, append=False, before=None, **options):
    """objects: {name: (shape, parts, layout, attributes)}; before: the records of what a file already has."""
    with ztensor.Writer(path, append=append, **options) as writer:
        for name, (shape, parts, layout, own) in objects.items():
            writer.add_object(name, list(shape), parts, layout=layout, attributes=own)
        if attributes:
            writer.set_attributes(attributes)
    records = dict(before or {})
    for name, (shape, parts, layout, own) in objects.items():
        components = {role: recorded(p) for role, p in parts.items()}
        records[name] = content.object(shape, components, FORMATS.get(layout, layout), own)
    content.record(path, VERSION, records, attributes)
    return records


def dense(arrays, encoding=None):
    return {name: (array.shape, {"data": part(array, encoding=encoding)}, "dense", None) for name, array in arrays.items()}


def write(path, arrays, encoding=None):
    """Names in any order, blobs at multiples of 4096."""
    return write_objects(path, dense(arrays, encoding), canonical=False, align=4096)


def logical(encoding=None):
    """Every logical type, with all bytes that are values of it; f4 also with half a byte to spare."""
    every = numpy.arange(256, dtype="uint8")
    types = {t: ((16, 16), every) for t in ("f8_e4m3fn", "f8_e5m2", "f8_e4m3fnuz", "f8_e5m2fnuz", "f8_e8m0")}
    types["bool"] = ((4,), numpy.array([0, 1, 1, 0], "uint8"))
    types["complex64"] = ((2, 3), numpy.arange(-6, 6, dtype="float32"))
    types["complex128"] = ((3,), numpy.arange(6, dtype="float64") / 3)
    types["f4_e2m1"] = ((2, 8), numpy.array([0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe], "uint8"))
    types["f4_e2m1.odd"] = ((3,), numpy.array([0x21, 0x07], "uint8"))
    types["somebody.elses/1"] = ((2,), every[:7])
    return {name: (shape, {"data": part(array, name.split(".odd")[0], encoding)}, "dense", None)
            for name, (shape, array) in types.items()}


def sparse(values, others):
    """CSR and COO with u32 and u64; `values` and `others` are the encodings of the parts."""
    elements, indices, indptr, shape = content.csr()
    points, coords, size = content.coo()
    objects = {}
    for width in ("uint32", "uint64"):
        objects["csr." + width] = (shape, {"values": part(elements, encoding=values),
                                           "indices": part(indices.astype(width), encoding=others),
                                           "indptr": part(indptr.astype(width), encoding=others)}, "zt.sparse_csr/1", None)
        objects["coo." + width] = (size, {"values": part(points, encoding=values),
                                          "coords": part(coords.astype(width), encoding=others)}, "zt.sparse_coo/1",
                                   {"unit": "mm"})
    return objects


def quantized():
    """Objects of the other layouts."""
    codes = numpy.arange(64, dtype="uint8")
    words = numpy.arange(1 << 28, (1 << 28) + 32, dtype="uint32")
    scales = (numpy.arange(8) / 8 + 0.125).astype("float16")
    packing = {"word": "u32", "order": "lsb_first", "per_word": 8}
    group = {"bits": 4, "group_size": 32, "axis": 1, "packing": packing, "scale_form": "f16_factors"}
    return {
        "mx.f4": ((2, 64), {"data": part(codes, "f4_e2m1"), "scales": part(codes[:4] + 124, "f8_e8m0")}, "zt.mx/1",
                  {"block_size": 32, "scale_form": "e8m0_exponent"}),
        "mx.f8": ((64, 2), {"data": part(numpy.tile(codes, 2), "f8_e5m2"), "scales": part(codes[:4] + 124, "f8_e8m0")},
                  "zt.mx/1", {"block_size": 32, "axis": 0, "scale_form": "e8m0_exponent"}),
        "group": ((4, 64), {"data": part(words), "scales": part(scales)}, "zt.quant_group/1",
                  {**group, "zero_point": {"form": "implied", "value": 8}}),
        "group.zeros": ((4, 64), {"data": part(words), "scales": part(scales), "zeros": part(scales[::-1])}, "zt.quant_group/1",
                        {**group, "zero_point": {"form": "tensor", "packing": "plain"}}),
        "vendor": ((3, 3), {"beta": part(codes[:3]), "alpha": part(scales)}, "somebody.elses/3", {"page": 2}),
        "gguf": ((32,), {"data": part(codes[:34])}, "gguf.q8_0/1", {"elems_per_block": 32, "block_bytes": 34}),
    }


ATTRIBUTES = {"int": 1, "low": -(1 << 63), "text": "za\u017c\u00f3\u0142\u0107 \U0001f40d", "true": True, "false": False, "none": None,
              "half": 1.5, "single": 3.4028234663852886e+38, "double": 0.1, "list": [1, "two", [3], {}],
              "map": {"a": 0, "b": {"c": [1.25]}}, "empty": ""}


def write_stream(path):
    """Bytes handed over piece by piece."""
    array = numpy.arange(30_000, dtype="float32").reshape(100, 300)
    data = array.tobytes()
    with ztensor.Writer(path, canonical=False, align=8192) as writer:
        with writer.stream("streamed", list(array.shape), {"data": {"dtype": "f32", "nbytes": len(data)}}) as sink:
            for at in range(0, len(data), 9999):
                sink.write(data[at:at + 9999])
    content.record(path, VERSION, {"streamed": content.dense(array, digest="xxh3")})


def write_append(path):
    """The entries of an older manifest stay as they are."""
    first = write_objects(path, dense({"b": numpy.arange(3), "a": numpy.zeros((0, 2), "float32")}), canonical=False, align=4096)
    write_objects(path, dense({"c": numpy.arange(5, dtype="uint8")}), append=True, before=first, canonical=False)


def safetensors(path, arrays):
    """A file of the format that the library converts from."""
    names = {"f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "i64": "I64", "i32": "I32", "i16": "I16", "i8": "I8",
             "u64": "U64", "u32": "U32", "u16": "U16", "u8": "U8", "bool": "BOOL"}
    header, data = [], b""
    for name, array in arrays.items():
        dtype = names[content.SHORT[array.dtype.name]]
        header.append(f'"{name}":{{"dtype":"{dtype}","shape":{list(array.shape)},"data_offsets":[{len(data)},{len(data) + array.nbytes}]}}')
        data += array.tobytes()
    text = ("{" + ",".join(header) + "}").encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write_converted(path):
    safetensors(path + ".safetensors", content.dtypes())
    ztensor.convert(path + ".safetensors", path, align=4096)
    content.record(path, VERSION, {name: content.object(array.shape, {"data": recorded(part(array))})
                                   for name, array in content.dtypes().items()})


directory = sys.argv[1]
ordered = {name: array for name, array in sorted(content.dtypes().items(), key=lambda item: item[0])}
write_objects(f"{directory}/canonical.zt", dense(ordered), {"made": "by default"})
write(f"{directory}/none.zt", {})
write(f"{directory}/dtypes.zt", content.dtypes())
write(f"{directory}/dtypes_zstd.zt", content.dtypes(), SEEKABLE)
write(f"{directory}/ranks.zt", {**content.ranks(), "rank.0": numpy.array(1.5)})
write(f"{directory}/ranks_zstd.zt", content.ranks(), SEEKABLE)
write(f"{directory}/names.zt", content.names())
write(f"{directory}/large_zstd.zt", {**content.large(), "frames": numpy.arange(700_000, dtype="int64") // 1000}, SEEKABLE)
write_objects(f"{directory}/logical.zt", logical(), canonical=False, align=4096)
write_objects(f"{directory}/logical_zstd.zt", logical(SEEKABLE), canonical=False, align=4096)
write_objects(f"{directory}/sparse.zt", sparse(None, None), canonical=False, align=4096)
write_objects(f"{directory}/sparse_zstd.zt", sparse(None, SEEKABLE), canonical=False, align=4096)
write_objects(f"{directory}/quantized.zt", quantized(), canonical=False, align=4096)
write_objects(f"{directory}/attributes.zt", {"o": ((1,), {"data": part(numpy.zeros(1))}, "dense", ATTRIBUTES)}, ATTRIBUTES,
              canonical=False, align=4096)
write_stream(f"{directory}/stream.zt")
write_append(f"{directory}/append.zt")
write_converted(f"{directory}/converted.zt")
