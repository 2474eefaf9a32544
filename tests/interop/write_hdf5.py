"""Writes HDF5 files with h5py and PyTables, and beside each what h5py reads in it: write_hdf5.py FOLDER"""
import itertools
import sys
from pathlib import Path

import h5py
import numpy as np

from content import SHORT
from foreign import Record

# Between the oldest and the newest structures that the library writes
VERSIONS = {"earliest": ("earliest", "latest"), "v108": ("v108", "v108"), "v110": ("v110", "v110"), "v112": ("v112", "v112"),
            "latest": ("latest", "latest")}
COMPLEX = {"complex64": "complex64", "complex128": "complex128"}
UNDECODED = {"lzf", "scaleoffset"}
OPAQUE = {"$opaque": None}


# ------------------------------------------------------------------------------------------------- what h5py reads

def plain(value):
    """An attribute as JSON shows it: bytes in hexadecimal."""
    if isinstance(value, h5py.Empty):
        return None
    if isinstance(value, (h5py.Reference, h5py.RegionReference)):
        return OPAQUE
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, np.bytes_)):
        return value.hex()
    if isinstance(value, np.void):
        return [plain(item) for item in value] if value.dtype.names else value.tobytes().hex()
    if isinstance(value, (complex, np.complexfloating)):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, (float, np.floating)):
        return None if np.isnan(value) else float(value)
    if isinstance(value, np.bool_):
        return bool(value)
    return int(value) if isinstance(value, (int, np.integer)) else str(value)


def own(item, reference="h5 reference"):
    found = {key: plain(item.attrs[key]) for key in sorted(item.attrs, key=str.encode)}
    return {key: {"$opaque": reference} if value == OPAQUE else value for key, value in found.items()}


def format_of(dataset):
    """(format, dtype): dtype None if it has no values."""
    dtype, kind = dataset.dtype, dataset.id.get_type().get_class()
    if dataset.shape is None:
        return "hdf5.null", None
    if h5py.check_string_dtype(dtype):
        return "hdf5.string", None
    for check, name in ((h5py.check_vlen_dtype, "vlen"), (h5py.check_ref_dtype, "reference")):
        if check(dtype):
            return f"hdf5.{name}", None
    if kind == h5py.h5t.ARRAY:
        return "hdf5.array", None
    if dtype.kind == "V":
        return "hdf5.compound" if dtype.names else "hdf5.opaque", None
    return "dense", COMPLEX.get(dtype.name) or SHORT[dtype.name]


def note_dataset(record, name, dataset):
    format, dtype = format_of(dataset)
    filters = [dataset.id.get_create_plist().get_filter(i)[3].decode() for i in range(dataset.id.get_create_plist().get_nfilters())]
    data = None
    if dtype and not UNDECODED & set(filters) and not dataset.is_virtual:
        array = dataset[()]
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    attributes = own(dataset)
    if dataset.chunks:
        attributes["hdf5.chunks"] = list(dataset.chunks)
    if dataset.maxshape != dataset.shape:
        attributes["hdf5.maxshape"] = list(dataset.maxshape)
    record.tensor(name, format, dtype if format == "dense" else None, dataset.shape or (), data, attributes=attributes,
                  components=0 if dataset.shape is None else 1)


def place(item):
    """What an object is known by. h5o.get_info() would read much more of the file than its tensors need."""
    return h5py.h5g.get_objinfo(item.id).objno


def walk(record, group, path, seen):
    for key, value in own(group, None).items():   # Of files, the test looks for no more
        record.attribute(f"{path}@{key}" if path else key, value)
    for name in sorted(group, key=str.encode):
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        item = group[name]
        address = place(item)
        if address in seen:
            continue
        seen.add(address)
        if isinstance(item, h5py.Dataset):
            note_dataset(record, path + name, item)
        elif isinstance(item, h5py.Group):
            walk(record, item, f"{path}{name}/", seen)


def read(path):
    with h5py.File(path) as file:
        start = file.userblock_size
        record = Record(path, "hdf5", str(path.read_bytes()[start + 8]))
        walk(record, file, "", {place(file["/"])})
    return record


def note(path):
    read(path).save()


# -------------------------------------------------------------------------------------------------------- contents

def array(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype.newbyteorder("="), endpoint=True).astype(dtype)
    values = rng.standard_normal(shape)
    return (values - 1j * values ** 2 if dtype.kind == "c" else values).astype(dtype)


def types(file, rng):
    for code, order in itertools.product(("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?", "c8", "c16"), "<>"):
        for k, shape in enumerate([(), (5,), (2, 3), (2, 0, 3)]):
            file.create_dataset(f"types/{code}.{'little' if order == '<' else 'big'}.{k}", data=array(rng, order + code, shape))
            if shape and 0 not in shape:
                file.create_dataset(f"chunked/{code}.{'little' if order == '<' else 'big'}.{k}", data=array(rng, order + code, shape),
                                    chunks=tuple(1 + n // 2 for n in shape), compression="gzip", shuffle=True)


def others(file, rng):
    file["text"] = ["a", "ß", ""]
    file["fixed"] = np.array([b"ab", b"c"])
    file["compound"] = np.array([(1, 2.5)], [("id", "i4"), ("x", "f8")])
    file["opaque"] = np.array([b"abcd"], "V4")
    file["null"] = h5py.Empty("f4")
    file["reference"] = np.array([file.ref], h5py.ref_dtype)
    file["enum"] = np.array([2, 0], h5py.enum_dtype({"RED": 0, "BLUE": 2}, "i2"))
    file.create_dataset("array", (2,), np.dtype(("f4", (2, 3))))
    vlen = file.create_dataset("vlen", (2,), h5py.vlen_dtype("i4"))
    vlen[0], vlen[1] = [1, 2, 3], []
    file["type"] = np.dtype("f8")
    file.create_dataset("committed", (3,), file["type"])[...] = [1, 2, 3]


def chunks(file, rng):
    """Every index of chunks, with and without filters, and edges."""
    shapes = [((17,), (5,)), ((17,), (17,)), ((13, 9), (4, 4)), ((13, 9), (13, 2)), ((13, 9), (1, 9)), ((5, 6, 7), (2, 6, 3)), ((5, 6, 7), (1, 2, 7)),
              ((2, 3, 4, 5), (1, 3, 2, 2))]
    filters = {"plain": {}, "gzip": {"compression": "gzip"}, "all": {"compression": 9, "shuffle": True, "fletcher32": True},
               "shuffle": {"shuffle": True}, "sum": {"fletcher32": True}}
    for (i, (shape, chunk)), (word, options) in itertools.product(enumerate(shapes), filters.items()):
        limits = {"fixed": None, "first": (None, *shape[1:]), "last": (*shape[:-1], None), "all": (None,) * len(shape),
                  "larger": tuple(n + 7 for n in shape)}
        for limit, maxshape in limits.items():
            file.create_dataset(f"chunks/{i}.{word}.{limit}", data=array(rng, ">i2" if i % 2 else "<f4", shape), chunks=chunk, maxshape=maxshape, **options)


def storage(file, rng):
    file.create_dataset("never", (6, 5), "f4")
    file.create_dataset("never.filled", (6, 5), ">i4", fillvalue=-77)
    file.create_dataset("never.chunked", (6, 5), "f8", chunks=(2, 2), fillvalue=1.5, compression="gzip")
    partly = file.create_dataset("partly", (50, 40), "u2", chunks=(7, 9), fillvalue=513)
    partly[3:9, 20:33] = array(rng, "u2", (6, 13))
    sparse = file.create_dataset("sparse", (300, 300), "i4", chunks=(8, 8), maxshape=(None, None), compression="gzip")
    sparse[200, 7], sparse[5, 299] = 3, 4
    grown = file.create_dataset("grown", data=array(rng, "f4", (20, 6)), chunks=(4, 4), maxshape=(None, None))
    grown.resize((9, 13))
    row = file.create_dataset("row", data=array(rng, "f4", (6, 4)), chunks=(4, 3), maxshape=(6, None))
    row.resize((6, 40))
    row[:, 20:] = array(rng, "f4", (6, 20))
    file.create_dataset("lzf", data=array(rng, "i4", (30, 3)), chunks=(10, 3), compression="lzf")
    file.create_dataset("scaleoffset", data=np.arange(20), chunks=(10,), scaleoffset=0)
    for name, early in (("compact", False), ("early", True)):
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        if early:   # Chunks without filters, all there from the beginning
            plist.set_chunk((3, 4))
            plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        else:
            plist.set_layout(h5py.h5d.COMPACT)
        data = array(rng, "<f4", (7, 9))
        dataset = h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple(data.shape), plist)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)


def tree(file, rng):
    """Groups with many links and many attributes, in either order."""
    for order in (False, True):
        group = file.create_group(f"many {order}", track_order=order)
        for i in range(300):
            group[f"x{i * 7919 % 1000}"] = np.float32(i)
        for i in range(60):
            group.attrs[f"key {i * 31 % 64}"] = i
    deep = file
    for i in range(40):
        deep = deep.create_group(f"g{i}")
    deep["end"] = np.arange(3)
    file["hard"] = deep["end"]
    file["cycle"] = deep
    deep["back"] = file["/"]
    file["soft"] = h5py.SoftLink("/g0")
    file["outside"] = h5py.ExternalLink("nowhere.h5", "/x")
    for name in ("Ünïcode", "水", "a b", "it's", "%s", "x" * 300):
        file[f"names/{name}"] = np.int8(1)


def attributes(file, rng):
    given = file.create_dataset("w", data=np.arange(4.0))
    for item in (file, file.create_group("group"), given):
        item.attrs["text"] = "ä text"
        item.attrs["texts"] = ["a", "", "日本"]
        item.attrs["bytes"] = np.bytes_(b"fixed")
        item.attrs["fixed"] = np.array([b"ab", b"c"])
        for code in ("<i1", ">i2", "<u4", ">u8", "<f2", ">f4", "<f8", "?", "<c8"):
            item.attrs[f"scalar {code}"] = array(rng, code, ())[()]
            item.attrs[f"array {code}"] = array(rng, code, (2, 3))
        item.attrs["reals"] = [0.5, float("nan"), -0.0]
        item.attrs["large"] = np.arange(9000)[:7000] if item is not file else np.arange(900)
        item.attrs["empty"] = h5py.Empty("f4")
        item.attrs["none"] = np.zeros((0,), "i4")
        item.attrs["compound"] = np.array((3, 1.5), [("a", "i2"), ("b", "f4")])
        item.attrs["reference"] = file.ref
        item.attrs["enum"] = np.array(1, h5py.enum_dtype({"NO": 0, "YES": 1}, "i4"))


def write(folder):
    rng = np.random.default_rng(31)
    for version, libver in VERSIONS.items():
        for what in (types, others, chunks, storage, tree, attributes):
            if what is attributes and version == "earliest":
                continue   # Attributes above 64 KB need newer structures
            with h5py.File(folder / f"{what.__name__}_{version}.h5", "w", libver=libver) as file:
                what(file, rng)
    with h5py.File(folder / "ordered.h5", "w", track_order=True, libver="latest") as file:
        attributes(file, rng)
        tree(file, rng)
    with h5py.File(folder / "userblock.h5", "w", userblock_size=2048) as file:
        storage(file, rng)
    with h5py.File(folder / "long.h5", "w", libver="latest") as file:   # Pages of arrays, and super blocks
        bytes_ = array(rng, "u1", (200_000,))
        file.create_dataset("extensible", data=bytes_, chunks=(1,), maxshape=(None,))
        file.create_dataset("extensible.gzip", data=bytes_[:5000], chunks=(1,), maxshape=(None,), compression="gzip")
        file.create_dataset("fixed", data=bytes_[:50_000], chunks=(1,))
        partly = file.create_dataset("partly", (200_000,), "u1", chunks=(1,), maxshape=(None,), fillvalue=7)
        partly[150_000:150_010] = 1
        fixed = file.create_dataset("fixed.partly", (50_000,), "u1", chunks=(1,), fillvalue=9)
        fixed[30_000:30_500] = 1
        file.create_dataset("tree", data=bytes_[:90_000].reshape(300, 300), chunks=(1, 3), maxshape=(None, None))
    with h5py.File(folder / "long_old.h5", "w") as file:
        file.create_dataset("tree", data=bytes_[:30_000], chunks=(1,), compression="gzip")
        file.create_dataset("large", data=array(rng, "f4", (700, 900)), chunks=(64, 64), compression="gzip", shuffle=True)


def write_pytables(folder):
    import tables
    with tables.open_file(str(folder / "pytables.h5"), "w", title="a title") as file:
        group = file.create_group("/", "group", "another")
        file.create_array("/", "array", np.arange(12.0).reshape(3, 4), "an array")
        file.create_carray(group, "carray", obj=np.arange(600).reshape(20, 30), filters=tables.Filters(5, "zlib", fletcher32=True))
        earray = file.create_earray(group, "earray", tables.Float32Atom(), (0, 3))
        earray.append(np.ones((11, 3), "f4"))
        earray.attrs.units = "m/s"
        earray.attrs.number = np.int32(7)
        file.create_table("/", "table", np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")]))


def main(folder):
    folder = Path(folder)
    write(folder)
    write_pytables(folder)
    for path in sorted(folder.glob("*.h5")):
        note(path)


if __name__ == "__main__":
    main(sys.argv[1])
