#!/usr/bin/python3
"""Writes hand_more* of golden/ and all of hostile/: MATLAB files of level 5, byte by byte, with the contents that a correct reader finds.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import itertools
import math
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEXT = b"MATLAB 5.0 MAT-file, written byte by byte"
I8, U8, I16, U16, I32, U32, F32, F64, I64, U64, MATRIX, PACKED, UTF8, UTF16, UTF32 = 1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 14, 15, 16, 17, 18
CODES = {I8: "b", U8: "B", I16: "h", U16: "H", I32: "i", U32: "I", F32: "f", F64: "d", I64: "q", U64: "Q"}
NAMES = {I8: "int8", U8: "uint8", I16: "int16", U16: "uint16", I32: "int32", U32: "uint32", F32: "single", F64: "double", I64: "int64", U64: "uint64"}
CELL, STRUCT, OBJECT, CHAR, SPARSE, DOUBLE, SINGLE, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FUNCTION, OPAQUE = range(1, 18)
LOGICAL, GLOBAL, COMPLEX = 0x200, 0x400, 0x800
# class: its name, the type of its numbers, the model's
CLASSES = {DOUBLE: ("double", F64, "f64"), SINGLE: ("single", F32, "f32"), INT8: ("int8", I8, "i8"), UINT8: ("uint8", U8, "u8"), INT16: ("int16", I16, "i16"),
           UINT16: ("uint16", U16, "u16"), INT32: ("int32", I32, "i32"), UINT32: ("uint32", U32, "u32"), INT64: ("int64", I64, "i64"), UINT64: ("uint64", U64, "u64"),
           SPARSE: ("sparse", F64, "f64")}
MODEL = {I8: "i8", U8: "u8", I16: "i16", U16: "u16", I32: "i32", U32: "u32"}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Writer:
    """Elements in one byte order."""

    def __init__(self, big=False):
        self.order = ">" if big else "<"

    def pack(self, code, *values):
        return struct.pack(f"{self.order}{len(values)}{code}", *values)

    def numbers(self, type, values):
        return self.element(type, self.pack(CODES[type], *values))

    def element(self, type, data, size=None, pad=True):
        """size: the one that its head states, if another."""
        n = len(data) if size is None else size
        if 0 < n <= 4 and type not in (MATRIX, PACKED) and size is None:
            return self.pack("I", n << 16 | type) + data.ljust(4, b"\0")
        return self.pack("I", type, n) + data + bytes(-len(data) % 8 if pad and type not in (MATRIX, PACKED) else 0)

    def head(self, cls, shape, name="", flags=0):
        return self.numbers(U32, (cls | flags, 0)) + self.numbers(I32, shape) + self.element(I8, name if isinstance(name, bytes) else name.encode())

    def matrix(self, cls, shape, *parts, name="", flags=0):
        return self.element(MATRIX, self.head(cls, shape, name, flags) + b"".join(parts))

    def fields(self, names, length=32):
        return self.numbers(I32, (length,)) + self.element(I8, b"".join(n.encode().ljust(length, b"\0") for n in names))

    def packed(self, matrix):
        return self.element(PACKED, zlib.compress(matrix))

    def file(self, *elements, text=TEXT, mark=None):
        mark = (b"\x01\x00MI" if self.order == ">" else b"\x00\x01IM") if mark is None else mark
        return text.ljust(116) + bytes(8) + mark + b"".join(elements)


# ------------------------------------------------------------------------------------------------------ sound files

def row_major(shape, values):
    """Column-major values in row-major order."""
    strides, n = [], 1
    for size in shape:
        strides.append(n)
        n *= size
    out = []
    for i in range(n):
        at, rest = 0, i
        for size, stride in zip(reversed(shape), reversed(strides)):
            rest, k = divmod(rest, size)
            at += k * stride
        out.append(values[at])
    return out


def data_behind(w, raw, after):
    """The place of the data of the next element: its head has 4 bytes if the data do not have more."""
    at = after + -after % 8
    return at + (4 if struct.unpack_from(w.order + "I", raw, at)[0] >> 16 else 8)


def part(w, raw, after, role, type, values, dtype, stored, packed=None):
    """The expectation of a component: of these values, stored as `stored`, behind that byte; packed: the compressed element with them."""
    data = w.pack(CODES[stored], *values)
    plain = stored == type or (dtype == "bool" and stored == U8)
    convert = bool if dtype == "bool" else float if type in (F32, F64) else int
    decoded = data if plain else struct.pack(f"<{len(values)}{CODES[type]}", *map(convert, values))
    encoding = "raw" if plain else f"matlab.{NAMES[stored]}"
    if packed is not None:
        encoding = "zlib" if plain else f"zlib+{encoding}"
    there = data if packed is None else packed[8:]
    return {"name": role, "dtype": dtype, "type": None, "encoding": encoding, "offset": raw.index(there, after if packed is None else 0), "length": len(there),
            "decoded_length": len(decoded), "byte_order": "big" if plain and w.order == ">" and len(w.pack(CODES[stored], 0)) > 1 else "little",
            "stored_sha256": sha256(there), "decoded_sha256": sha256(decoded)}


def dense_of(shape, cells, values, imag):
    """All elements of a sparse matrix, by {(row, column): the number of its value}."""
    parts = [[part[cells[i, k]] if (i, k) in cells else 0 for i in range(shape[0]) for k in range(shape[1])] for part in ([values, imag] if imag else [values])]
    return [x for group in zip(*parts) for x in group]


# --------------------------------------------------------------------------------------------------------- level 4

NUMBERS = {DOUBLE: (0, F64), SINGLE: (1, F32), INT32: (2, I32), INT16: (3, I16), UINT16: (4, U16), UINT8: (5, U8)}


def matrix4(name, cls, shape, values, imag=(), kind=0, big=False, order=None, complex=None, type=None):
    """A matrix of level 4."""
    number, stored = NUMBERS[cls]
    w = Writer(big)
    name = name if isinstance(name, bytes) else name.encode() + b"\0"
    type = (int(big) if order is None else order) * 1000 + number * 10 + kind if type is None else type
    return w.pack("I", type, *shape, bool(imag) if complex is None else complex, len(name)) + name + w.pack(CODES[stored], *values, *imag)


def triplets4(name, shape, rows, columns, values, imag=(), **how):
    table = [[*part, last] for part, last in ((rows, shape[0]), (columns, shape[1]), (values, 0), *([(imag, 0)] if imag else []))]
    return matrix4(name, how.pop("cls", DOUBLE), (len(rows) + 1, len(table)), sum(table, []), kind=2, **how)


def component4(raw, at, role, cls, values, big):
    _, stored = NUMBERS[cls]
    data, dtype = Writer(big).pack(CODES[stored], *values), CLASSES[cls][2]
    assert raw[at:at + len(data)] == data
    return {"name": role, "dtype": dtype, "type": None, "encoding": "raw", "offset": at, "length": len(data), "decoded_length": len(data),
            "byte_order": "big" if big and dtype != "u8" else "little", "stored_sha256": sha256(data), "decoded_sha256": sha256(data)}


def object4(name, shape, components, dtype, type, dense, cls="double", format="dense"):
    code = CODES[{d: t for _, t, d in CLASSES.values()}[dtype]]
    return {"name": name, "shape": list(shape), "elements": math.prod(shape), "format": format, "dtype": dtype, "type": type, "attributes": {"class": cls},
            "components": components, "dense": dense and {"dtype": dtype, "type": type, "sha256": sha256(struct.pack(f"<{len(dense)}{code}", *dense))},
            "dense_status": "given" if dense else "undefined", "dense_note": None if dense else "complex integers"}


def golden4(big, types=False):
    """types: sparse matrices of each type but doubles, and nothing else."""
    name = "hand_level_4" + ("_sparse_types" if types else "") + ("_big_endian" if big else "")
    raw, objects, attributes = b"", [], {}

    def numbers(variable, cls, shape, values, imag=()):
        nonlocal raw
        element = matrix4(variable, cls, shape, values, imag, big=big)
        at = len(raw) + 20 + len(variable) + 1
        raw += element
        word, _, dtype = CLASSES[cls]
        components = [component4(raw, at, "real" if imag else "data", cls, values, big)]
        dense = row_major(shape, values)
        if imag:
            components.append(component4(raw, at + components[0]["length"], "imag", cls, imag, big))
            dense = [x for pair in zip(dense, row_major(shape, imag)) for x in pair]
        type = {"f64": "complex128", "f32": "complex64"}.get(dtype) if imag else None
        objects.append(object4(variable, shape, components, dtype, type, None if imag and not type else dense, word, "matlab.complex" if imag and not type else "dense"))

    def text(variable, cls, shape, values, shown):
        nonlocal raw
        raw += matrix4(variable, cls, shape, values, kind=1, big=big)
        attributes[variable] = shown

    def sparse(variable, shape, rows, columns, values, imag=(), cls=DOUBLE):
        nonlocal raw
        element = triplets4(variable, shape, rows, columns, values, imag, big=big, cls=cls)
        at, n, stored = len(raw) + 20 + len(variable) + 1, len(rows), NUMBERS[cls][1]
        width = len(Writer().pack(CODES[stored], 0))
        raw += element
        there = raw[at:at + (2 * n + 1) * width]
        coords = struct.pack(f"<{2 * n}Q", *(int(i) - 1 for i in (*rows, *columns)))
        components = [{"name": "coords", "dtype": "u64", "type": None, "encoding": "matlab.triplets", "byte_order": "little", "offset": at, "length": len(there),
                       "decoded_length": len(coords), "stored_sha256": sha256(there), "decoded_sha256": sha256(coords)}]
        for i, part in enumerate([values, imag] if imag else [values]):
            component = component4(raw, at + (2 + i) * (n + 1) * width, ("real", "imag")[i] if imag else "values", cls, part, big)
            if cls != DOUBLE:
                data = struct.pack(f"<{n}d", *part)
                component |= {"dtype": "f64", "encoding": f"matlab.{CLASSES[cls][0]}", "byte_order": "little", "decoded_length": len(data), "decoded_sha256": sha256(data)}
            components.append(component)
        cells = {(int(i) - 1, int(k) - 1): at for at, (i, k) in enumerate(zip(rows, columns))}
        objects.append(object4(variable, shape, components, "f64", "complex128" if imag else None, dense_of(shape, cells, values, imag), "sparse", "sparse_coo"))

    if types:
        for cls in (SINGLE, INT32, INT16, UINT16, UINT8):
            sparse(f"sparse_of_{CLASSES[cls][0]}", (3, 2), [1, 3], [2, 1], [2, 7], cls=cls)
    else:
        numbers("x", DOUBLE, (2, 3), [1.5, -2, 3, 4, 5, 6])
        for cls, values in ((SINGLE, [0.5, -1.5]), (INT32, [-2**31, 2**31 - 1]), (INT16, [-300, 300]), (UINT16, [0, 65535]), (UINT8, [7, 255])):
            numbers(f"of_{CLASSES[cls][0]}", cls, (1, 2), values)
        numbers("scalar", DOUBLE, (1, 1), [math.pi])
        numbers("complex", DOUBLE, (2, 2), [1.0, 2, 3, 4], [5.0, 6, 7, 8])
        numbers("complex_short", SINGLE, (1, 2), [1.0, 2], [5.0, 6])
        numbers("complex_integers", INT16, (1, 2), [1, 2], [5, 6])
        text("text", DOUBLE, (1, 5), map(ord, "h\u00e9l\u65e5!"), "h\u00e9l\u65e5!")
        text("rows", UINT8, (2, 3), b"adbecf", ["abc", "def"])
        text("no_text", DOUBLE, (0, 0), [], "")
        numbers("text_of_numbers", DOUBLE, (1, 2), [0.5, 65])
        raw = raw[:-16 - 16 - 20] + matrix4("text_of_numbers", DOUBLE, (1, 2), [0.5, 65], kind=1, big=big)
        sparse("s", (3, 4), [1, 3, 2], [1, 2, 4], [1.5, 2.5, -3.5])
        sparse("sparse_complex", (2, 2), [2, 1], [1, 2], [1.0, 2.0], [3.0, -4.0])
        sparse("sparse_none", (3, 2), [], [], [])
    path = HERE / "golden" / f"{name}.mat"
    path.write_bytes(raw)
    expected = {"file": f"matlab/{name}.mat", "container": "matlab", "written_by": "write_matlab.py", "exercises": "level 4: sparse matrices of numbers of each type" if types else "level 4: numbers of each type, texts, sparse matrices of triplets",
                "version": "4", "file_size": len(raw), "sha256": sha256(raw), "manifest_length": 0, "attributes": attributes, "objects": objects}
    path.with_suffix(".expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


def cases4():
    """As cases(), of level 4."""
    b, w = matrix4("b", SINGLE, (1, 2), [1.0, 2.0]), matrix4("w", SINGLE, (2, 2), [1.0, 2, 3, 4])
    at = len(b)
    beyond = "open_error", "ML11", "matlab-level-4"
    yield "4-header-cut", b + w[:19], *beyond, f"byte {at}: no header of a matrix has room here", "a header of 19 bytes"
    yield "4-name-cut", b + w[:21], *beyond, f"byte {at}: its name goes beyond the file", "a name that is cut"
    yield "4-name-max", b + matrix4("w", SINGLE, (2, 2), [])[:16] + struct.pack("<I", 2**31 - 1) + b"w\0", *beyond, f"byte {at}: its name goes beyond the file", "a name of 2 GiB"
    yield "4-name-end", b + matrix4(b"ww", SINGLE, (2, 2), [1.0, 2, 3, 4]), *beyond, f"byte {at}: its name does not end in 0", "a name without an end"
    yield "4-data-cut", b + w[:-1], *beyond, f"byte {at}: 2 x 2 numbers of 4 bytes go beyond the file", "numbers that are cut"
    yield "4-imag-missing", b + matrix4("w", SINGLE, (2, 2), [1.0, 2, 3, 4], complex=1), *beyond, f"byte {at}: 2 x 2 numbers of 8 bytes go beyond the file", "no imaginary part"
    yield "4-elements-2-62", b + matrix4("w", DOUBLE, (2**31 - 1, 2**31 - 1), []), *beyond, f"byte {at}: {2**31 - 1} x {2**31 - 1} numbers of 8 bytes go beyond the file", "2^62 numbers"
    types = "open_error", "ML12", "matlab-level-4-type"
    for name, how, what in (("kind-3", {"type": 3}, "a kind of 3"), ("number-6", {"type": 60}, "numbers of type 6"), ("hundreds", {"type": 100}, "a type with hundreds"), ("order-5", {"type": 5000}, "a byte order of 5"),
                            ("complex-2", {"complex": 2}, "neither complex nor not"), ("rows-negative", {"shape": (-1 & 0xffffffff, 2)}, "-1 rows")):
        yield f"4-{name}", b + matrix4("w", **{"cls": DOUBLE, "shape": (1, 1), "values": [1.0], **how}), *types, f"byte {at}: no header of a matrix of a known type", what
    for name, order, whose in (("vax", 2, "VAX"), ("cray", 4, "Cray")):
        yield f"4-{name}", b + matrix4("w", DOUBLE, (1, 1), [1.0], order=order), *types, f"byte {at}: numbers of {whose}, which are not read", f"numbers of {whose}"
    yield "4-name-utf8", b + matrix4(b"\xff\0", SINGLE, (1, 1), [1.0]), "open_error", "ML5", "matlab-name", f"byte {at + 22}: a name is not UTF-8, or has U+0000 in it", "a name that is not UTF-8"
    fault = "a number of a row or of a column is no integer from 1 on"
    for name, rows, columns, what in (("0", [0, 1], [1, 2], "row 0"), ("negative", [1, -2], [1, 2], "row -2"), ("half", [1, 2], [1.5, 2], "column 1.5"), ("nan", [1, 2], [1, math.nan], "a column that is no number"),
                                      ("inf", [math.inf, 2], [1, 2], "a row that is infinite")):
        yield f"4-row-{name}", b + triplets4("w", (2, 2), rows, columns, [1.0, 2.0]), "lists_but_no_bytes", "ML13", "matlab-triplets", fault, what, {"object": "w", "component": "coords", "length": 40, "decoded_length": 32}
    yield "4-row-negative-int32", b + triplets4("w", (2, 2), [1, -2], [1, 2], [1, 2], cls=INT32), "lists_but_no_bytes", "ML13", "matlab-triplets", fault, "row -2 of 32 bits", \
        {"object": "w", "component": "coords", "length": 20, "decoded_length": 32}
    yield "4-shape-2-31", b + triplets4("w", (2, 2**31), [1, 1], [1, 2], [1.0, 2.0]), "lists_but_no_dense", "L1", "unknown-format", \
        "it has a negative dimension, more than 64 of them, or more than 2^64 elements", "2^31 columns", {"object": "w"}
    yield "4-name-2-31", b + w[:16] + struct.pack("<I", 2**31) + b"w\0", *types, f"byte {at}: no header of a matrix of a known type", "a name of 2^31 bytes"
    yield "4-row-3", b + triplets4("w", (2, 2), [1, 3], [1, 2], [1.0, 2.0]), "lists_but_no_dense", "K2", "index-range", None, "a row beyond the last one", {"object": "w"}
    yield "4-shape-half", b + triplets4("w", (1.5, 2), [1, 1], [1, 2], [1.0, 2.0]), "lists_but_no_dense", "L1", "unknown-format", \
        "it has a negative dimension, more than 64 of them, or more than 2^64 elements", "one and a half rows", {"object": "w"}
    yield "ok-4-sparse-of-two-columns", b + matrix4("w", DOUBLE, (2, 2), [1.0, 2, 3, 4], kind=2), "ok", None, None, None, "a sparse matrix of two columns"
    yield "ok-4-columns-ascend", b + triplets4("w", (3, 3), [2, 3, 1, 1], [1, 1, 2, 3], [1.0, 2, 3, 4]), "ok", None, None, None, "a sparse matrix column by column, as MATLAB writes it"
    yield "ok-4-rows-ascend", b + triplets4("w", (2, 2), [1, 2], [2, 1], [1.0, 2.0]), "ok", "W10", "unsorted-indices", \
        "stored element 1 lies in a cell before that of an earlier one", "a sparse matrix row by row", {"object": "w", "level": "full"}
    yield "ok-4-same-name", b + b, "ok", None, None, None, "two variables of a name"


class Golden:
    """A file in the making, and its expectation."""

    def __init__(self, name, what, big=False):
        self.name, self.what, self.w = name, what, Writer(big)
        self.elements, self.makers, self.attributes = [], [], {}

    def add(self, element, **attributes):
        self.elements.append(element)
        self.attributes.update(attributes)

    def array(self, name, cls, shape, stored, values, imag=None, flags=0, packed=False):
        w = self.w
        parts = [w.numbers(stored, values)] + ([w.numbers(stored, imag)] if imag else [])
        element = w.matrix(cls, shape, *parts, name=name, flags=flags | (COMPLEX if imag else 0))
        element = w.packed(element) if packed else element
        self.elements.append(element)
        self.makers.append(lambda raw: self.expected(raw, name, cls, shape, stored, values, imag, flags, element if packed else None))

    def expected(self, raw, name, cls, shape, stored, values, imag, flags, packed):
        word, type, dtype = CLASSES[cls]
        if flags & LOGICAL:
            word, type, dtype = "logical", U8, "bool"
        shown = {"f64": "complex128", "f32": "complex64"}.get(dtype) if imag else None
        after = 0 if packed else raw.index(name.encode()) + len(name)
        components = [part(self.w, raw, after, "real" if imag else "data", type, values, dtype, stored, packed)]
        dense = row_major(shape, values)
        if imag:
            after = components[0]["offset"] + components[0]["length"]
            components.append(part(self.w, raw, after, "imag", type, imag, dtype, stored, packed))
            dense = [x for pair in zip(dense, row_major(shape, imag)) for x in pair]
        given = not imag or shown
        return {"name": name, "shape": list(shape), "elements": math.prod(shape), "format": "dense" if given else "matlab.complex", "dtype": dtype, "type": shown,
                "attributes": {"class": word, **({"global": True} if flags & GLOBAL else {})}, "components": components,
                "dense": {"dtype": dtype, "type": shown, "sha256": sha256(struct.pack(f"<{len(dense)}{CODES[type]}", *(dense if type in (F32, F64) else map(int, dense))))} if given else None,
                "dense_status": "given" if given else "undefined", "dense_note": None if given else "complex integers"}

    def sparse(self, name, shape, rows, starts, values, imag=None, spare=0, index=I32, flags=0, called=None):
        """spare: places for more values, which are stored, too. called: the type that the values' head states, if another."""
        w, stored = self.w, U8 if flags & LOGICAL else F64
        arrays = [rows + [7] * spare, starts, values + [9] * spare] + ([imag + [9] * spare] if imag else [])
        element = w.matrix(SPARSE, shape, w.numbers(index, arrays[0]), w.numbers(index, starts),
                           *(w.element(called or stored, w.pack(CODES[stored], *a)) for a in arrays[2:]), name=name,
                           flags=flags | (COMPLEX if imag else 0))
        self.elements.append(element)
        self.makers.append(lambda raw: self.expected_sparse(raw, name, shape, rows, starts, values, imag, arrays, index, stored, flags))

    def expected_sparse(self, raw, name, shape, rows, starts, values, imag, arrays, index, stored, flags):
        dtype, after = "bool" if flags & LOGICAL else "f64", raw.index(name.encode()) + len(name)
        kinds = [("indices", index, rows, MODEL[index]), ("indptr", index, starts, MODEL[index]), ("real" if imag else "values", stored, values, dtype)]
        components = []
        for (role, type, used, of), all_values in zip(kinds + ([("imag", stored, imag, dtype)] if imag else []), arrays):
            components.append(part(self.w, raw, data_behind(self.w, raw, after), role, type, used, of, type))
            after = components[-1]["offset"] + len(self.w.pack(CODES[type], *all_values))
        cells = {(rows[k], column): k for column in range(shape[1]) for k in range(starts[column], starts[column + 1])}
        dense = dense_of(shape, cells, values, imag)
        return {"name": name, "shape": list(shape), "elements": math.prod(shape), "format": "matlab.sparse", "dtype": dtype, "type": "complex128" if imag else None,
                "attributes": {"class": "sparse"}, "components": components,
                "dense": {"dtype": dtype, "type": "complex128" if imag else None, "sha256": sha256(struct.pack(f"<{len(dense)}{CODES[stored]}", *dense))},
                "dense_status": "given", "dense_note": None}

    def write(self):
        raw = self.w.file(*self.elements)
        path = HERE / "golden" / f"{self.name}.mat"
        path.write_bytes(raw)
        expected = {"file": f"matlab/{self.name}.mat", "container": "matlab", "written_by": "write_matlab.py", "exercises": self.what, "version": "5",
                    "file_size": len(raw), "sha256": sha256(raw), "manifest_length": 0, "attributes": self.attributes, "objects": [make(raw) for make in self.makers]}
        path.with_suffix(".expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


def write_golden():
    for big in (False, True):
        g = Golden("hand_more" + ("_big_endian" if big else ""), "compressed elements with narrow numbers; every type as another class's; logical doubles", big)
        g.array("packed_u8", DOUBLE, (2, 3), U8, [1, 2, 3, 4, 5, 250], packed=True)
        g.array("packed_plain", INT16, (2, 2), I16, [-300, 300, 7, -7], packed=True)
        g.array("packed_complex", DOUBLE, (3, 1), I16, [-1, 2, -3], imag=[4, -5, 600], packed=True)
        for stored, values in ((I8, [-128, 127]), (U16, [0, 65535]), (I32, [-2**31, 2**31 - 1]), (U32, [0, 2**32 - 1]), (I64, [-2**53, 2**53]), (U64, [0, 2**53]), (F32, [0.5, -1.25])):
            g.array(f"double_as_{NAMES[stored]}", DOUBLE, (1, 2), stored, values)
        g.array("single_as_double", SINGLE, (1, 2), F64, [0.5, -3.0])
        g.array("int64_as_uint8", INT64, (1, 3), U8, [1, 2, 255])
        g.array("uint8_as_double", UINT8, (2, 2), F64, [1.0, 2.0, 3.0, 254.0])
        g.array("logical_double", DOUBLE, (1, 3), F64, [1.0, 0.0, 1.0], flags=LOGICAL)
        g.array("complex_integers", INT32, (2, 1), I32, [5, 6], imag=[-7, -8])
        g.array("everywhere", DOUBLE, (2, 1, 2), F64, [1.5, 2.5, 3.5, 4.5], flags=GLOBAL)
        g.write()
        golden4(big)
        golden4(big, types=True)
    write_golden_sparse()
    write_golden_values()
    write_golden_edges()


def write_golden_sparse():
    g = Golden("hand_sparse", "room for more values, indices of 16 bits, logical and complex values, no value, one column")
    g.sparse("spare", (3, 2), [0, 2, 1], [0, 2, 3], [1.5, 2.5, 3.5], spare=4)
    g.sparse("short", (2, 3), [1, 0], [0, 1, 1, 2], [-1.0, 8.0], index=U16)
    g.sparse("flags", (2, 2), [0, 1], [0, 1, 2], [1, 1], flags=LOGICAL)
    g.sparse("complex", (2, 2), [0, 1], [0, 1, 2], [1.0, 2.0], imag=[3.0, 4.0], spare=1)
    g.sparse("column", (4, 1), [3], [0, 1], [7.0])
    g.write()
    g = Golden("hand_sparse_logical", "logical values of a byte each, which MATLAB's own head calls doubles; with spare places, none at all")
    g.sparse("as_doubles", (3, 3), [0, 2, 1, 0, 1], [0, 2, 3, 5], [1, 1, 1, 0, 1], flags=LOGICAL, called=F64)
    g.sparse("one", (2, 2), [1], [0, 0, 1], [1], flags=LOGICAL, called=F64)
    g.sparse("spare", (4, 3), [3, 2, 0], [0, 1, 1, 3], [1, 1, 1], spare=5, flags=LOGICAL, called=F64)
    g.sparse("all_false", (2, 3), [], [0, 0, 0, 0], [], spare=1, flags=LOGICAL, called=F64)
    g.sparse("nothing", (2, 3), [], [0, 0, 0, 0], [], flags=LOGICAL, called=F64)
    g.write()


def write_golden_values():
    """Texts and what else is no array of numbers; arrays in structs of structs and in objects."""
    w = Writer()
    g = Golden("hand_values", "texts of every type, several rows, surrogates, broken text; functions, objects of classes; empty structs and cells; names that repeat")

    def text(name, shape, type, data, value):
        g.add(w.matrix(CHAR, shape, w.element(type, data), name=name), **{name: value})

    text("utf8", (1, 3), UTF8, "aé日".encode(), "aé日")
    text("utf16", (1, 4), UTF16, "a🐍b".encode("utf-16-le"), "a🐍b")
    text("utf32", (1, 2), UTF32, "🐍é".encode("utf-32-le"), "🐍é")
    text("latin1", (1, 2), U8, b"\xe9!", "é!")
    text("u16", (1, 2), U16, "日x".encode("utf-16-le"), "日x")
    text("rows", (3, 2), UTF16, "acebdf".encode("utf-16-le"), ["ab", "cd", "ef"])
    text("rows_utf8", (2, 2), UTF8, "éaßb".encode(), ["éß", "ab"])
    text("no_rows", (0, 0), U16, b"", "")
    text("no_columns", (3, 0), U16, b"", [])
    text("broken_utf8", (1, 2), UTF8, b"a\xff", {"$bytes": "61ff"})
    text("half_a_pair", (1, 1), UTF16, b"\x3d\xd8", {"$bytes": "3dd8"})
    text("rows_of_other_size", (2, 3), U16, b"a\0b\0", {"$bytes": "61006200"})
    text("nul", (1, 3), U16, b"a\0\0\0b\0", "a\0b")
    g.add(w.matrix(CELL, (0, 3), name="no_cells"), no_cells=[])
    g.add(w.matrix(STRUCT, (1, 1), w.fields([]), name="no_fields"), no_fields={})
    g.add(w.matrix(STRUCT, (0, 0), w.fields(["a", "b"]), name="no_structs"), no_structs={})
    inner = w.matrix(STRUCT, (1, 1), w.fields(["x"], 2), w.matrix(CHAR, (1, 1), w.element(UTF8, b"t")))
    g.add(w.matrix(OBJECT, (1, 1), w.element(I8, b"inline"), w.fields(["deep", "é"], 5), inner, w.matrix(CHAR, (1, 2), w.element(UTF8, b"uv")), name="object"),
          **{"object": {"$opaque": "inline"}, "object.deep.x": "t", "object.é": "uv"})
    g.add(w.matrix(FUNCTION, (1, 1), inner, name="handle"), handle={"$opaque": "function"})
    g.add(w.element(MATRIX, w.numbers(U32, (OPAQUE, 0)) + w.element(I8, b"table") + w.element(I8, b"MCOS") + w.element(I8, b"datetime") + inner), table={"$opaque": "datetime"})
    g.add(w.packed(w.matrix(CELL, (1, 2), w.matrix(CHAR, (1, 4), w.element(UTF8, b"pack")), w.matrix(FUNCTION, (1, 1), inner), name="packed")),
          **{"packed.0": "pack", "packed.1": {"$opaque": "function"}})
    g.add(w.matrix(42, (1, 1), name="later"), later={"$opaque": "class 42"})
    g.add(w.element(MATRIX, b""))
    g.makers.append(lambda raw: empty(raw, "", len(raw) - 2 * len(g.elements[-1])))
    for name in ("twice", "twice#2"):
        array(g, name)
    g.write()


def write_golden_edges():
    """Texts that are long or no text at their end, and names and dimensions of the types that are seldom used."""
    w = Writer()
    g = Golden("hand_edges", "a long text, characters of four bytes, broken surrogate pairs, unsigned dimensions, names that are UTF-8 and have no end")

    def text(name, shape, type, data, value):
        g.add(w.matrix(CHAR, shape, w.element(type, data), name=name), **{name: value})

    text("long", (1, 3000), U8, b"ab\xe9" * 1000, "ab\u00e9" * 1000)
    text("utf8_of_4", (1, 1), UTF8, "\U0001f40d".encode(), "\U0001f40d")
    text("pages", (2, 2, 3), UTF8, b"axcyb d   e ", [["ab ", "cde"], ["x  ", "y  "]])
    text("pages_of_one", (1, 1, 3), UTF8, b"abc", "abc")
    text("pages_of_rows", (1, 2, 1, 2), UTF8, b"abcd", [[["ac"], ["bd"]]])
    text("letter_behind_half", (1, 2), UTF16, b"\x3d\xd8A\0", {"$bytes": "3dd84100"})
    text("private_behind_half", (1, 2), UTF16, b"\x3d\xd8\0\xe0", {"$bytes": "3dd800e0"})
    text("beyond_unicode", (1, 1), UTF32, b"\0\0\x11\0", {"$bytes": "00001100"})
    g.add(w.element(MATRIX, w.numbers(U32, (CHAR, 0)) + w.numbers(U32, (1, 2)) + w.element(UTF8, b"unsigned") + w.element(UTF8, b"ok")), unsigned="ok")
    g.add(w.matrix(STRUCT, (1, 1), w.numbers(I32, (2,)) + w.element(UTF8, b"aabb"), *(w.matrix(CHAR, (1, 1), w.element(UTF8, z)) for z in (b"x", b"y")), name="record"),
          **{"record.aa": "x", "record.bb": "y"})
    g.write()


def empty(raw, name, offset):
    return {"name": name, "shape": [0, 0], "elements": 0, "format": "dense", "dtype": "f64", "type": None, "attributes": {"class": "double"},
            "components": [{"name": "data", "dtype": "f64", "type": None, "encoding": "raw", "byte_order": "little", "offset": offset, "length": 0, "decoded_length": 0,
                            "stored_sha256": sha256(b""), "decoded_sha256": sha256(b"")}],
            "dense": {"dtype": "f64", "type": None, "sha256": sha256(b"")}, "dense_status": "given", "dense_note": None}


def array(g, shown):
    """One of two arrays of a name."""
    value = [1.25] if shown == "twice" else [2.25]
    g.elements.append(g.w.matrix(DOUBLE, (1, 1), g.w.numbers(F64, value), name="twice"))
    g.makers.append(lambda raw: {**g.expected(raw, "twice", DOUBLE, (1, 1), F64, value, None, 0, None), "name": shown})


# ----------------------------------------------------------------------------------------------------- broken files

def other_checksum(matrix):
    """A stream of zlib whose checksum has another bit."""
    stream = zlib.compress(matrix)
    return stream[:-1] + bytes([stream[-1] ^ 1])


def cases():
    """(name, bytes, expectation, rule, what zt_check calls it, message, what is odd, more)."""
    w = Writer()
    b = w.matrix(SINGLE, (1, 2), w.numbers(F32, (1, 2)), name="b")
    four = w.numbers(F32, (1, 2, 3, 4))
    at = 128 + len(b)      # Of the second variable's head
    data = at + 8

    def file(*elements):
        return w.file(b, *elements)

    def of_w(*parts, cls=SINGLE, shape=(2, 2), flags=0):
        return file(w.matrix(cls, shape, *parts, name="w", flags=flags))

    def cut(n):
        return file(w.matrix(SINGLE, (2, 2), four, name="w"))[:n]

    yield "header-cut", w.file()[:100], "open_error", "ML1", "matlab-header", "the file has 100 bytes, a header has 128", "a file of 100 bytes"
    yield "version", w.file(b, mark=b"\x00\x02IM"), "open_error", "ML1", "matlab-header", "its version and byte order are 0002494d, not 0001494d or 01004d49", "version 0x0200"
    yield "order", w.file(b, mark=b"\x00\x01MI"), "open_error", "ML1", "matlab-header", "its version and byte order are 00014d49, not 0001494d or 01004d49", "a version in another byte order"
    whole = len(file(w.matrix(SINGLE, (2, 2), four, name="w")))
    element = "open_error", "ML2", "matlab-element"
    yield "truncated", cut(whole - 8), *element, f"byte {at}: an element of {whole - data} bytes goes beyond byte {whole - 8}, the end of what it is in", "a variable that is cut"
    yield "tag-cut", cut(at + 4), *element, f"byte {at}: no element has room here", "a head that is cut"
    yield "size-max", file(w.element(MATRIX, b"", 2**32 - 1)), *element, f"byte {at}: an element of 4294967295 bytes goes beyond byte {data}, the end of what it is in", "a variable of 4 GiB"
    yield "dims-size", file(w.element(MATRIX, w.numbers(U32, (SINGLE, 0)) + w.element(I32, bytes(8), 2**31))), *element, \
        f"byte {data + 16}: an element of {2**31} bytes goes beyond byte {data + 32}, the end of what it is in", "dimensions of 2 GiB"
    yield "small-of-5", file(w.element(MATRIX, w.numbers(U32, (SINGLE, 0)) + w.pack("I", 5 << 16 | I32) + bytes(4))), *element, \
        f"byte {data + 16}: an element of 5 bytes within its head, which has room for 4", "5 bytes in a short element"
    yield "no-dims", file(w.element(MATRIX, w.numbers(U32, (SINGLE, 0)))), *element, f"byte {data + 16}: no element has room here", "a matrix of flags alone"
    yield "cell-past-end", of_w(w.element(MATRIX, b[8:], len(b)), cls=CELL, shape=(1, 1)), *element, f"byte {data + 40}: an element of {len(b)} bytes goes beyond byte {data + 40 + len(b)}, the end of what it is in", "a cell that goes beyond its array"
    beyond = 2**31
    indices, starts = w.numbers(I32, (0, 1)), w.numbers(I32, (0, 1, 2))
    for name, cls, flags, parts, what in (
            ("numbers", SINGLE, 0, (), "numbers"), ("real", SINGLE, COMPLEX, (), "real parts"), ("imag", SINGLE, COMPLEX, (four,), "imaginary parts"),
            ("sparse-rows", SPARSE, 0, (), "rows"), ("sparse-columns", SPARSE, 0, (indices,), "columns' starts"), ("sparse-values", SPARSE, 0, (indices, starts), "values"),
            ("sparse-imag", SPARSE, COMPLEX, (indices, starts, w.numbers(F64, (1, 2))), "imaginary parts"), ("text", CHAR, 0, (), "a text")):
        before = data + 40 + len(b"".join(parts))
        yield f"{name}-2-31", of_w(*parts, w.element(I16, bytes(8), beyond), cls=cls, flags=flags), *element, \
            f"byte {before}: an element of {beyond} bytes goes beyond byte {before + 16}, the end of what it is in", f"{what} of 2 GiB"
    for name, cls, parts, what in (("struct-empty", STRUCT, (), "a struct without the length of names"), ("struct-no-names", STRUCT, (w.numbers(I32, (8,)),), "a struct without names"),
                                   ("object-no-class", OBJECT, (), "an object without a class"), ("object-no-names", OBJECT, (w.element(I8, b"kind"),), "an object of a class alone")):
        yield name, of_w(*parts, cls=cls, shape=(1, 1)), *element, f"byte {data + 40 + len(b''.join(parts))}: no element has room here", what
    for name, parts, what in (("opaque-no-system", (), "an opaque value of a name alone"), ("opaque-no-class", (w.element(I8, b"MCOS"),), "an opaque value without a class")):
        yield name, file(w.element(MATRIX, w.numbers(U32, (OPAQUE, 0)) + w.element(I8, b"w") + b"".join(parts))), *element, \
            f"byte {data + 24 + 8 * len(parts)}: no element has room here", what
    types = "open_error", "ML3", "matlab-type"
    yield "data-compressed", of_w(w.packed(b)), *types, f"byte {data + 48}: an element of type 15 and {len(w.packed(b)) - 8} bytes in the place of numbers", "a compressed element in the place of numbers"
    yield "dims-of-6", file(w.element(MATRIX, w.numbers(U32, (SINGLE, 0)) + w.element(I32, bytes(6)))), *types, f"byte {data + 24}: an element of type 5 and 6 bytes in the place of the dimensions", "a dimension and a half"
    yield "field-length-of-8", of_w(w.numbers(I32, (4, 0)), cls=STRUCT, shape=(1, 1)), *types, f"byte {data + 48}: an element of type 5 and 8 bytes in the place of the length of fields' names", "two lengths of names"
    yield "no-variable", file(w.numbers(F64, (1,))), *types, f"byte {data}: an element of type 9 and 8 bytes in the place of a variable", "numbers without a matrix"
    yield "flags-type", file(w.element(MATRIX, w.numbers(I32, (SINGLE, 0)))), *types, f"byte {data + 8}: an element of type 5 and 8 bytes in the place of the flags of a matrix", "flags of another type"
    yield "flags-size", file(w.element(MATRIX, w.numbers(U32, (SINGLE, 0, 0)))), *types, f"byte {data + 8}: an element of type 6 and 12 bytes in the place of the flags of a matrix", "three flags"
    yield "dims-type", file(w.element(MATRIX, w.numbers(U32, (SINGLE, 0)) + w.numbers(F64, (2, 2)))), *types, f"byte {data + 24}: an element of type 9 and 16 bytes in the place of the dimensions", "dimensions that are doubles"
    yield "name-type", file(w.element(MATRIX, w.numbers(U32, (SINGLE, 0)) + w.numbers(I32, (2, 2)) + w.numbers(I32, (1, 2)))), *types, f"byte {data + 40}: an element of type 5 and 8 bytes in the place of a name", "a name of numbers"
    yield "data-a-matrix", of_w(b), *types, f"byte {data + 48}: an element of type 14 and {len(b) - 8} bytes in the place of numbers", "a matrix in the place of numbers"
    yield "cell-of-numbers", of_w(w.numbers(F64, (1,)), cls=CELL, shape=(1, 1)), *types, f"byte {data + 48}: an element of type 9 and 8 bytes in the place of a matrix", "a cell that is no matrix"
    yield "field-length-type", of_w(w.numbers(I16, (32,)), cls=STRUCT, shape=(1, 1)), *types, f"byte {data + 44}: an element of type 3 and 2 bytes in the place of the length of fields' names", "a length of names of 16 bits"
    yield "zlib-in-zlib", file(w.packed(w.packed(b))), *types, f"byte 8: an element of type 15 and {len(w.packed(b)) - 8} bytes in the place of a compressed matrix", "compressed elements in each other"
    yield "zlib-of-numbers", file(w.packed(w.numbers(F64, (1,)))), *types, "byte 8: an element of type 9 and 8 bytes in the place of a compressed matrix", "compressed numbers without a matrix"
    stream = "open_error", "ML4", "matlab-zlib"
    matrix = w.matrix(SINGLE, (2, 2), four, name="w")
    yield "zlib-short", file(w.element(PACKED, b"\x78\x9c\x03\x00\x00")), *stream, f"the compressed element at byte {data} is too short for a zlib stream", "a stream of 5 bytes"
    yield "zlib-garbage", file(w.element(PACKED, b"no stream of zlib")), *stream, f"the compressed element at byte {data} is no zlib stream", "text in the place of a stream"
    yield "zlib-dictionary", file(w.element(PACKED, b"\x78\xbb" + zlib.compress(matrix)[2:])), *stream, f"the compressed element at byte {data} is no zlib stream", "a stream that needs a dictionary"
    yield "zlib-cut", file(w.element(PACKED, zlib.compress(matrix)[:20])), *stream, f"the compressed element at byte {data} ends early", "a stream that is cut"
    yield "zlib-less", file(w.element(PACKED, zlib.compress(matrix[:40]))), *stream, f"the compressed element at byte {data} ends early", "a stream that ends within the matrix's head"
    yield "zlib-less-and-more", file(w.element(PACKED, zlib.compress(matrix[:40]) + bytes(8192))), *stream, f"the compressed element at byte {data} ends early", "a stream that ends within the matrix's head, and zeros behind it"
    yield "deflate-garbage", file(w.element(PACKED, b"\x78\x9c" + b"\xff" * 20)), "open_error", "E2", "encoding", "deflate: an invalid block", "an invalid block within a stream"
    text = w.matrix(CHAR, (1, 4), w.element(U8, b"text"), name="w")
    record = w.matrix(STRUCT, (1, 1), w.fields(["a"]), w.matrix(SINGLE, (2, 2), four), name="w")
    function = w.matrix(FUNCTION, (1, 1), w.matrix(CHAR, (1, 4), w.element(U8, b"text")), name="w")
    yield "name-empty-type", file(w.element(MATRIX, w.numbers(U32, (SINGLE, 0)) + w.numbers(I32, (2, 2)) + w.element(I32, b"") + four)), *types, f"byte {data + 40}: an element of type 5 and 0 bytes in the place of a name", "an empty name of numbers"
    noted = "ok", "ML14", "matlab-class"
    yield "ok-class-99", of_w(four, cls=99), *noted, "'w' is of an unknown class", "a matrix of class 99"
    yield "ok-text-of-numbers", of_w(w.numbers(F64, (65,)), cls=CHAR, shape=(1, 1)), *noted, "'w' has a text that is none", "a text of doubles"
    yield "ok-text-halves", of_w(w.element(UTF16, b"a\0b"), cls=CHAR, shape=(1, 2)), *noted, "'w' has a text that is none", "a character and a half"
    yield "ok-text-negative", of_w(w.element(U8, b"text"), cls=CHAR, shape=(1, -4)), *noted, "'w' has a text shorter than its dimensions", "-4 characters"
    yield "ok-text-short", of_w(w.element(U8, b"text"), cls=CHAR, shape=(1, 5)), *noted, "'w' has a text shorter than its dimensions", "4 characters of 5"
    behind = "ok", "ML15", "matlab-behind", "'w' has more in it than its dimensions and flags tell"
    yield "ok-behind-numbers", of_w(four, w.numbers(SINGLE, (5, 6))), *behind, "numbers with a second part, which the flags deny"
    yield "ok-behind-no-cells", of_w(b, cls=CELL, shape=(1, 0)), *behind, "a cell array without cells, and a matrix in it"
    yield "ok-behind-a-field", of_w(w.fields(["a"]), b, b, cls=STRUCT, shape=(1, 1)), *behind, "a struct of one field, and two matrices in it"
    for name, whole, what in (("text", text, "a text"), ("struct", record, "a struct with an array"), ("function", function, "a function")):
        yield f"{name}-checksum", file(w.element(PACKED, other_checksum(whole))), "open_error", "E2", "encoding", "deflate: its bytes do not have the checksum behind", f"{what} whose checksum has another bit"
    yield "text-no-checksum", file(w.element(PACKED, zlib.compress(text)[:-4])), *stream, f"the compressed element at byte {data} ends early", "a text without its checksum"
    yield "text-more", file(w.element(PACKED, zlib.compress(text) + b"more")), *stream, f"the compressed element at byte {data} goes on behind its stream", "bytes behind the stream of a text"
    yield "text-longer", file(w.element(PACKED, zlib.compress(text + b"12345678"))), *stream, f"the compressed element at byte {data} decodes to more than its matrix", "a stream of more than a text"
    yield "name-utf8", file(w.matrix(SINGLE, (2, 2), four, name=b"\xff")), "open_error", "ML5", "matlab-name", f"byte {data + 40}: a name is not UTF-8, or has U+0000 in it", "a name that is not UTF-8"
    yield "name-nul", file(w.matrix(SINGLE, (2, 2), four, name=b"w\0")), "open_error", "ML5", "matlab-name", f"byte {data + 40}: a name is not UTF-8, or has U+0000 in it", "U+0000 in a name"
    yield "field-utf8", of_w(w.numbers(I32, (4,)), w.element(I8, b"\xff\0\0\0"), b, cls=STRUCT, shape=(1, 1)), "open_error", "ML5", "matlab-name", f"byte {data + 64}: a name is not UTF-8, or has U+0000 in it", "a field whose name is not UTF-8"
    nested = b
    for _ in range(63):
        nested = w.matrix(CELL, (1, 1), nested)
    yield "ok-depth-64", file(nested), "ok", None, None, None, "64 matrices in each other"
    yield "depth-65", file(w.matrix(CELL, (1, 1), nested)), "open_error", "ML6", "matlab-depth", f"byte {data + 64 * 48}: matrices are nested more than 64 deep", "65 matrices in each other"
    yield "cells-2-62", of_w(cls=CELL, shape=(2**31 - 1, 2**31 - 1)), "open_error", "ML7", "matlab-count", f"byte {data + 40}: a matrix of {(2**31 - 1)**2} x 1 cells or fields has 0 bytes", "2^62 cells, of which there is none"
    yield "cells-2", of_w(b, cls=CELL, shape=(1, 20)), "open_error", "ML7", "matlab-count", f"byte {data + 40}: a matrix of 20 x 1 cells or fields has {len(b)} bytes", "20 cells in the room of one"
    yield "cells-negative", of_w(cls=CELL, shape=(-1, 1)), "open_error", "ML7", "matlab-count", f"byte {data + 40}: a matrix of 0 x 1 cells or fields has 0 bytes", "-1 cells"
    yield "structs-2-31", of_w(w.fields(["a", "b"], 2), cls=STRUCT, shape=(1, 2**31 - 1)), "open_error", "ML7", "matlab-count", f"byte {data + 56}: a matrix of {2**31 - 1} x 2 cells or fields has 0 bytes", "2^31 - 1 structs, of which there is none"
    lengths = "open_error", "ML8", "matlab-fields"
    yield "field-length-max", of_w(w.numbers(I32, (2**31 - 1,)), w.element(I8, b"ab"), cls=STRUCT, shape=(1, 1)), *lengths, f"byte {data + 56}: fields' names of {2**31 - 1} bytes each are 2 bytes", "names of 2 GiB"
    yield "field-length-0", of_w(w.numbers(I32, (0,)), w.element(I8, b"ab"), cls=STRUCT, shape=(1, 1)), *lengths, f"byte {data + 56}: fields' names of 0 bytes each are 2 bytes", "names without a byte"
    yield "field-length-negative", of_w(w.numbers(I32, (-1,)), w.element(I8, b"ab"), cls=STRUCT, shape=(1, 1)), *lengths, f"byte {data + 56}: fields' names of {2**32 - 1} bytes each are 2 bytes", "names of -1 bytes"
    yield "field-length-3", of_w(w.numbers(I32, (3,)), w.element(I8, b"abcd"), cls=STRUCT, shape=(1, 1)), *lengths, f"byte {data + 56}: fields' names of 3 bytes each are 4 bytes", "a name and a third"
    many = w.matrix(CELL, (1, 30000), *[w.matrix(CELL, (0, 0))] * 30000, name="w" * 80)
    yield "size", file(w.packed(many)), "open_error", "ML9", "matlab-size", f"its paths, texts and arrays take more than {(1 << 20) + 32 * len(file(w.packed(many)))} bytes", "3 MB of paths in a few KB"
    shape = "it has a negative dimension, more than 64 of them, or more than 2^64 elements"
    for name, dims, what in (("dim-negative", (-2, 2), "a dimension of -2"), ("rank-65", (1,) * 65, "65 dimensions"), ("elements-2-65", (2**31 - 1,) * 3, "2^93 elements")):
        yield name, of_w(four, shape=dims), "lists_but_no_dense", "L1", "unknown-format", shape, what, {"object": "w"}
    yield "type-99", of_w(w.element(99, bytes(16))), "lists_but_no_bytes", "E1", "unknown-encoding", "encoding 'matlab.unknown' is not known", "data of type 99", {"object": "w", "component": "data", "length": 16}
    yield "data-less", of_w(w.numbers(F32, (1, 2))), "lists_but_no_dense", "D1", "length", "4 elements of f32 are 16 bytes, and it has 8", "two of four elements", {"object": "w"}
    yield "data-missing", of_w(), "lists_but_no_dense", "D1", "length", "4 elements of f32 are 16 bytes, and it has 0", "no data", {"object": "w"}
    yield "imag-missing", of_w(four, flags=COMPLEX), "lists_but_no_dense", "D1", "length", "4 elements of f32 are 16 bytes, and it has 0", "no imaginary part", {"object": "w"}
    yield "imag-less", of_w(four, w.numbers(F32, (1, 2)), flags=COMPLEX), "lists_but_no_dense", "D1", "length", "4 elements of f32 are 16 bytes, and it has 8", "half an imaginary part", {"object": "w"}
    yield "halves", of_w(w.element(I16, b"\1\0\2\0\3")), "lists_but_no_bytes", "ML10", "matlab-numbers", "its bytes are no whole number of the numbers that are stored", "two numbers and a half", {"object": "w", "component": "data", "sized": True}
    yield "does-not-fit", of_w(w.numbers(I16, (1, 2, 300, 4)), cls=UINT8), "lists_but_no_bytes", "E6", "stored-number", "number 2, which is stored as i16, does not fit u8", "300 of class uint8", {"object": "w", "component": "data", "sized": True}
    for name, cls, numbers, text, what in (
            ("does-not-fit-double", DOUBLE, w.numbers(I64, (1, 2**53, 2**53 + 1, 4)), "number 2, which is stored as i64, does not fit f64", "2^53 + 1 of class double"),
            ("does-not-fit-single", SINGLE, w.numbers(F64, (0.5, 0.1, 1, 2)), "number 1, which is stored as f64, does not fit f32", "0.1 of class single"),
            ("does-not-fit-half", INT16, w.numbers(F64, (1, 2, 3, 4.5)), "number 3, which is stored as f64, does not fit i16", "4.5 of class int16")):
        yield name, of_w(numbers, cls=cls), "lists_but_no_bytes", "E6", "stored-number", text, what, {"object": "w", "component": "data", "sized": True}
    yield "zlib-checksum", file(w.element(PACKED, other_checksum(matrix))), "lists_but_no_bytes", "E2", "encoding", "deflate: its bytes do not have the checksum behind", "a checksum with another bit", {"object": "w", "component": "data", "sized": True}
    yield "zlib-no-checksum", file(w.element(PACKED, zlib.compress(matrix)[:-4])), "lists_but_no_bytes", "E2", "encoding", "deflate: the stored bytes end within the stream", "a stream without its checksum", {"object": "w", "component": "data", "sized": True}
    yield "zlib-more", file(w.element(PACKED, zlib.compress(matrix) + b"more")), "lists_but_no_bytes", "E2", "encoding", "deflate: 4 bytes follow behind the stream's end", "bytes behind a stream", {"object": "w", "component": "data", "sized": True}
    yield "zlib-longer", file(w.element(PACKED, zlib.compress(matrix + b"12345678"))), "lists_but_no_bytes", "E4", "decoded-length", "zlib: decodes to more than the 72 bytes that the manifest states", "a stream of more than the matrix", {"object": "w", "component": "data", "sized": True}
    indices, values = w.numbers(I32, (0, 1)), w.numbers(F64, (1, 2))
    for name, parts, number, finding, text, what in (
            ("sparse-column-out", (indices, w.numbers(I32, (0, 2**31 - 1, 2)), values), "P2", "indptr", "indptr falls at column 2: from 2147483647 to 2", "a column that ends at 2^31 - 1"),
            ("sparse-end-out", (indices, w.numbers(I32, (0, 1, 3)), values), "P2", "indptr", None, "columns that end behind the values"),
            ("sparse-starts-less", (indices, w.numbers(I32, (0, 2)), values), "P2", "indptr", "indptr of 2 columns has 2 entries", "a column without a start"),
            ("sparse-row-out", (w.numbers(I32, (0, 2)), w.numbers(I32, (0, 1, 2)), values), "P4", "index-range", None, "row 2 of 2"),
            ("sparse-rows-less", (w.numbers(I32, (0,)), w.numbers(I32, (0, 1, 2)), values), "P3", "sparse-length", "there are 1 indices and 2 values", "an index for two values"),
            ("sparse-starts-single", (indices, w.numbers(F32, (0, 1, 2)), values), "P5", "index-type", "indices and indptr are integers, not i32 and f32", "starts of columns that are floats"),
            ("sparse-starts-none", (indices, w.element(I32, b""), values), "P2", "indptr", "indptr of 2 columns has 0 entries", "no start of a column"),
            ("sparse-of-doubles", (w.numbers(F64, (0, 1)), w.numbers(I32, (0, 1, 2)), values), "P5", "index-type", "indices and indptr are integers, not f64 and i32", "indices that are doubles"),
            ("sparse-no-parts", (), "P5", "index-type", "indices and indptr are integers, not f64 and f64", "a sparse matrix without parts")):
        yield name, of_w(*parts, cls=SPARSE), "lists_but_no_dense", number, finding, text, what, {"object": "w"}
    for role, parts in (("indices", (w.element(99, bytes(16)), starts, values)), ("values", (indices, starts, w.element(99, bytes(16))))):
        yield f"sparse-{role}-99", of_w(*parts, cls=SPARSE), "lists_but_no_bytes", "E1", "unknown-encoding", "encoding 'matlab.unknown' is not known", f"{role} of type 99", \
            {"object": "w", "component": role, "length": 16}
    yield "sparse-rank-3", of_w(indices, w.numbers(I32, (0, 1, 2)), values, cls=SPARSE, shape=(2, 2, 1)), "lists_but_no_dense", "P1", "sparse-shape", "matlab.sparse has two dimensions, not 3", "three dimensions", {"object": "w"}
    yield "ok-text-of-octave", w.file(b, text=b"Octave's own text"), "ok", None, None, None, "a header of another program"
    yield "ok-nothing", w.file(), "ok", None, None, None, "no variable"
    short = w.matrix(INT8, (1, 5), w.element(I8, b"\1\2\3\4\5", pad=False), name="w")
    yield "ok-end-not-padded", file(short), "ok", None, None, None, "a file that ends without padding", {"object": "w"}


def write_hostile():
    folder, found = HERE / "hostile", []
    for path in folder.iterdir():
        path.unlink()
    for name, raw, expect, number, finding, message, what, *more in itertools.chain(cases(), cases4()):
        (folder / f"{name}.mat").write_bytes(raw)
        found.append({"file": f"{name}.mat", "expect": expect, "number": number, "finding": finding, "message": message, "object": None, "rule": what,
                      "size": len(raw), "sha256": sha256(raw), **dict(*more)})
    (folder / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]\n")


if __name__ == "__main__":
    write_golden()
    write_hostile()
