"""numpy's writers share these: arrays of every dtype, and the note of one in a file that numpy has read."""
import numpy as np

CODES = ["?", *"bhiqBHIQefdFD"]
FORMATS = {"O": "numpy.object", "U": "numpy.unicode", "S": "numpy.bytes", "M": "numpy.datetime64", "m": "numpy.timedelta64",
           "V": "numpy.void", "g": "numpy.longdouble", "G": "numpy.longdouble"}


def dtypes():
    """Each in the byte orders that it has."""
    for code in CODES:
        little = np.dtype(code).newbyteorder("<")
        yield from {little.str: little, little.newbyteorder(">").str: little.newbyteorder(">")}.values()


def array(rng, dtype, shape):
    """Of that dtype, with every pattern of bits."""
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).reshape(shape)


def others():
    """Arrays that are listed and have no values."""
    return {"unicode": np.array([["a", "水"], ["", "🎉b"]]), "bytes": np.array([b"abc", b""]),
            "time": np.array(["2026-01-02", "NaT"], "M8[D]"), "span": np.array([[1], [2]], "m8[ns]"),
            "void": np.zeros(3, "V5"), "long": np.arange(3, dtype=np.longdouble),
            "records": np.array([(1, 2.5, [1, 2])], [("id", "<i4"), ("名", ">f8"), ("part", "u1", 2)]),
            "object": np.array([{"a": 1}, None], dtype=object)}


def note(record, name, array, version, descr, fortran):
    """An array as numpy has read it; its dtype's description as it is in the file."""
    kind = array.dtype.kind if array.dtype.char not in "gG" else array.dtype.char
    format = "numpy.structured" if array.dtype.names else FORMATS.get(kind, "dense")
    word = {"b": "bool", "i": "i", "u": "u", "f": "f", "c": "complex"}.get(array.dtype.kind)
    dtype = word if word == "bool" else word and f"{word}{8 * array.dtype.itemsize}"
    data = None
    if format == "dense":
        data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    elif kind != "O":   # As it is stored
        data = array.tobytes("F" if fortran else "C")
    record.tensor(name, format, dtype if format == "dense" else None, array.shape, data,
                  attributes={"descr": descr, "fortran_order": fortran, "npy_version": version})


def header(file):
    """The version, the dtype's description and the order that the header of an npy says, as numpy reads it."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format._read_array_header   # The public ones are each for one version
    _, fortran, dtype = read(file, version)
    return ".".join(map(str, version)), np.lib.format.dtype_to_descr(dtype), fortran
