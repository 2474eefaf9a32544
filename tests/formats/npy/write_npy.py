#!/usr/bin/python3
"""Writes hostile/: npy files that break one rule each or look odd, and cases.json. Byte by byte, after numpy.lib.format.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent / "hostile"
ONES = struct.pack("<4f", 1, 1, 1, 1)
GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
# Why an array has no values, by its format
NO_VALUES = {
    "unicode": "its elements are text", "bytes": "its elements are text", "datetime64": "its elements are times", "timedelta64": "its elements are times",
    "longdouble": "long doubles have the format of the machine that wrote them", "structured": "its elements are records of several fields",
    "void": "its elements are bytes without a type", "object": "its elements are objects of Python, pickles, which are never executed"}


def array(header=GOOD, data=ONES, version=(1, 0), length=None):
    """An npy array; the header is padded as numpy does it, unless it is bytes."""
    width = 2 if version[0] == 1 else 4
    if isinstance(header, str):
        header = header.encode("utf-8" if version[0] == 3 else "latin-1")
        header += b" " * (-(len(header) + 9 + width) % 64) + b"\n"
    length = len(header) if length is None else length
    return b"\x93NUMPY" + bytes(version) + length.to_bytes(width, "little") + header + data


def shaped(shape, descr="'<f4'", fortran="False"):
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


def cases():
    """(name, bytes, expectation, rule, what zt_check calls it, message, what is odd)."""
    syntax = ("NY4", "npy-header")
    yield "version-4", array(version=(4, 0)), "open_error", "NY1", "npy-version", "npy version 4.0 cannot be read, 1.0, 2.0 and 3.0 can", "version 4.0"
    yield "version-1-1", array(version=(1, 1)), "open_error", "NY1", "npy-version", "npy version 1.1 cannot be read, 1.0, 2.0 and 3.0 can", "version 1.1"
    yield "length-cut", array()[:10], "open_error", "NY2", "npy-length", "the file ends within the header", "the file ends before the header"
    yield "length-past-end", array(length=60000), "open_error", "NY2", "npy-length", "the header has 60010 bytes, the file 144", "a header longer than the file"
    yield "length-max", array(version=(2, 0), length=2**32 - 1), "open_error", "NY2", "npy-length", "a header of 4294967307 bytes; 1048576 are the most", "a header of 4 GiB"
    yield "not-utf8", array(shaped("(4,)").encode() + b"\xff\n", version=(3, 0)), "open_error", "NY3", "npy-utf8", "the header is not UTF-8", "version 3.0 in Latin-1"
    yield "empty", array(b"  "), "open_error", *syntax, "byte 12 of the header: a dict was expected", "a header of spaces"
    yield "call", array("__import__('os').mkdir('PICKLE_WAS_EXECUTED')"), "open_error", *syntax, "byte 10 of the header: a dict was expected", "a Python call"
    yield "call-as-value", array(shaped("tuple([4])")), "open_error", "NY6", "npy-shape", "byte 60 of the header: a shape that is not a tuple", "a Python call in the place of a value"
    yield "list", array("['descr', '<f4']"), "open_error", *syntax, "byte 10 of the header: a dict was expected", "a list in place of the dict"
    yield "text-open", array("{'descr': '<f4"), "open_error", *syntax, "byte 63 of the header: a text that does not end", "a text without an end"
    yield "escape", array("{'descr': '\\N{DIGIT ONE}'}"), "open_error", *syntax, "byte 23 of the header: an escape that is not known", "an escape by name"
    yield "escape-cut", array("{'descr': '\\x4'}"), "open_error", *syntax, "byte 24 of the header: an escape that ends early", "an escape of one digit"
    yield "escape-surrogate", array("{'descr': '\\ud800'}"), "open_error", *syntax, "byte 27 of the header: an escaped character that is not valid", "half a character"
    wrong = "of the header is not descr, fortran_order or shape"
    yield "escapes-all", array("{'\\\\\\'\\\"\\a\\b\\f\\n\\r\\t\\v\\1\\12\\1234\\x41\\u00e9\\U0001f40d': 1}"), "open_error", "NY5", "npy-keys", f"key '\\'\"\\x07\\x08\\x0c\\n\\r\\t\\x0b\\x01\\nS4A\u00e9\U0001f40d' {wrong}", "a key of all escapes"
    yield "ok-number-long", array(shaped("(4L,)")), "ok", None, None, None, "a number as Python 2 wrote it"
    yield "number-long-in-utf8", array(shaped("(4L,)"), version=(3, 0)), "open_error", *syntax, "byte 64 of the header: a comma was expected", "a number of Python 2 in version 3.0"
    yield "escape-in-utf8", array("{'\u00e9\\u00e9': 1}", version=(3, 0)), "open_error", "NY5", "npy-keys", f"key '\u00e9\u00e9' {wrong}", "a character of version 3.0, and its escape"
    for name, text, at, fault, what in (("beyond", "\\U00110000", 31, "an escaped character that is not valid", "U+110000"), ("private", "\\ue000\\udfff", 33, "an escaped character that is not valid", "U+E000, and half a character"),
                                        ("nul", "\\0", 23, "an escaped character that is not valid", "U+0000"), ("8", "\\8", 23, "an escape that is not known", "an escape by a digit that is not octal")):
        yield f"escape-{name}", array(f"{{'descr': '{text}'}}"), "open_error", *syntax, f"byte {at} of the header: {fault}", what
    for name, header, at, fault, what in (("escape", b"{'descr': '\\", 24, "an escape that is not known", "an escape without its letter"), ("octal", b"{'descr': '\\1", 25, "a text that does not end", "an escape of one octal digit"),
                                          ("hex", b"{'descr': '\\x4", 26, "an escape that ends early", "an escape of one digit"), ("key", b"{", 13, "a text was expected", "a brace"), ("dimension", b"{'shape': (4", 24, "a comma was expected", "a dimension"),
                                          ("line", b"{'des\rcr': '<f4'}", 17, "a text that does not end", "a line that ends in a key")):
        yield f"ends-in-{name}", array(header, b"", (2, 0)), "open_error", *syntax, f"byte {at} of the header: {fault}", f"a header that ends behind {what}"
    yield "ends-in-order", array(b"{'fortran_order': Tru", b"", (2, 0)), "open_error", "NY8", "npy-order", "byte 30 of the header: fortran_order is neither True nor False", "a header that ends in a word"
    yield "number-2-76", array(shaped("(99999999999999999999999,)")), "open_error", *syntax, "byte 80 of the header: a number beyond 64 bits", "a dimension of 23 digits"
    for name, field, at, fault, what in (("title-number", "((1, 'a'), '<f4')", 23, "a text was expected", "a number as title"), ("title-no-comma", "(('a' 'b'), '<f4')", 27, "a comma was expected", "no comma behind a title"),
                                         ("title-no-name", "(('a', 1), '<f4')", 28, "a text was expected", "a number as name"), ("title-three", "(('a', 'b', 'c'), '<f4')", 33, "a name that does not end", "three names")):
        yield name, array(shaped("(4,)", f"[{field}]")), "open_error", *syntax, f"byte {at} of the header: {fault}", what
    yield "fields-bytes", array(shaped("()", "[" + "('a', '|u1', (9223372036854775807,)), " * 3 + "]")), "open_error", "NY7", "npy-elements", "the bytes of an element do not fit 64 bits", "fields of 3 x 2^63 bytes"
    yield "key-descr-missing", array("{'fortran_order': False, 'shape': (4,)}"), "open_error", "NY5", "npy-keys", "the header has no key 'descr'", "descr is missing"
    yield "key-shape-missing", array("{'descr': '<f4', 'fortran_order': False}"), "open_error", "NY5", "npy-keys", "the header has no key 'shape'", "shape is missing"
    yield "ok-field-comma", array(shaped("(2,)", "[('a', U'<f4',), ('b', '<f4')]")), "lists_but_no_dense", "L11", "no-values", "it has no values: its elements are records of several fields", "a comma behind the type of a field"
    yield "key-number", array("{1: '<f4'}"), "open_error", *syntax, "byte 11 of the header: a text was expected", "a key that is no text"
    yield "no-colon", array("{'descr' '<f4'}"), "open_error", *syntax, "byte 19 of the header: a colon was expected", "no colon behind a key"
    yield "no-comma", array("{'descr': '<f4' 'shape': (4,)}"), "open_error", *syntax, "byte 26 of the header: a comma was expected", "no comma behind a value"
    yield "behind", array(GOOD + "#"), "open_error", *syntax, "byte 67 of the header: something follows behind the dict", "a comment behind the dict"
    yield "nul-byte", array(GOOD + "\0"), "open_error", *syntax, "byte 67 of the header: something follows behind the dict", "a NUL behind the dict"
    yield "negative", array(shaped("(-1,)")), "open_error", *syntax, "byte 61 of the header: a negative number", "a negative dimension"
    yield "number-l", array(shaped("(4l,)")), "open_error", *syntax, "byte 62 of the header: a comma was expected", "a dimension with a small l"
    yield "octal", array(shaped("(04,)")), "open_error", *syntax, "byte 63 of the header: a number that begins with 0", "a dimension with a leading 0"
    yield "huge", array(shaped("(18446744073709551616,)")), "open_error", *syntax, "byte 80 of the header: a number beyond 64 bits", "a dimension of 2^64"
    yield "key-missing", array("{'descr': '<f4', 'shape': (4,), }"), "open_error", "NY5", "npy-keys", "the header has no key 'fortran_order'", "fortran_order is missing"
    yield "key-more", array(GOOD[:-1] + "'more': 1}"), "open_error", "NY5", "npy-keys", "key 'more' of the header is not descr, fortran_order or shape", "a fourth key"
    yield "key-twice", array(GOOD[:-1] + "'shape': (5,)}"), "open_error", "NY5", "npy-keys", "key 'shape' of the header stands twice", "a key twice"
    yield "shape-list", array(shaped("[4]")), "open_error", "NY6", "npy-shape", "byte 60 of the header: a shape that is not a tuple", "a list in place of a tuple"
    yield "shape-number", array(shaped("(4)")), "open_error", "NY6", "npy-shape", "byte 63 of the header: a shape that is not a tuple, but a number", "parentheses without a comma"
    yield "rank-65", array(shaped("(" + "1," * 65 + ")")), "open_error", "NY6", "npy-shape", "more than 64 dimensions", "65 dimensions"
    yield "elements", array(shaped("(4294967296, 4294967296, 4294967296)")), "open_error", "NY7", "npy-elements", "the number of elements, or of their bytes, does not fit 64 bits", "2^96 elements"
    yield "bytes", array(shaped("(4611686018427387904,)")), "open_error", "NY7", "npy-elements", "the number of elements, or of their bytes, does not fit 64 bits", "2^64 bytes"
    yield "subarray-bytes", array(shaped("(4,)", "[('a', '<f4', (4294967296, 4294967296))]")), "open_error", "NY7", "npy-elements", "the bytes of an element do not fit 64 bits", "an element of 2^66 bytes"
    yield "order-number", array(shaped("(4,)", fortran="0")), "open_error", "NY8", "npy-order", "byte 44 of the header: fortran_order is neither True nor False", "0 in place of False"
    yield "descr-number", array(shaped("(4,)", "4")), "open_error", "NY9", "npy-descr", "byte 20 of the header: a type that is neither text nor a list of fields", "a number as type"
    yield "field-text", array(shaped("(4,)", "['<f4']")), "open_error", "NY9", "npy-descr", "byte 21 of the header: a field that is not a tuple", "a field that is text"
    yield "fields-deep", array(shaped("(4,)", "[('a', " * 26 + "'<f4'" + ")]" * 26)), "open_error", "NY9", "npy-descr", "byte 194 of the header: fields are nested too deep", "26 structures in each other"
    yield "data-short", array(shaped("(5,)")), "lists_but_no_dense", "D1", "length", "5 elements of f32 are 20 bytes, and it has 16", "16 bytes in place of 20"
    yield "data-none", array(shaped("(4294967296, 1024)"), b""), "lists_but_no_dense", "D1", "length", "4398046511104 elements of f32 are 17592186044416 bytes, and it has 0", "16 TiB, of which there is nothing"
    for name, descr, data, format in (("text", "'<U5'", bytes(35), "unicode"), ("bytes", "'|S7'", bytes(13), "bytes"), ("dates", "'<M8[D]'", bytes(15), "datetime64"),
                                      ("void", "'|V3'", bytes(5), "void"), ("longdouble", "'<f16'", bytes(31), "longdouble"),
                                      ("fields", "[('a', '<i4'), ('b', '<f8')]", b"", "structured")):
        yield f"{name}-short", array(shaped("(2,)", descr), data), "lists_but_no_dense", "D1", "length", f"it has no values: {NO_VALUES[format]}", "the data ends early, of a type that is only listed"
    yield "object-code", array(shaped("(1,)", "'|O'"), b"cos\nmkdir\n(S'PICKLE_WAS_EXECUTED'\ntR."), "lists_but_no_dense", "L11", "no-values", "it has no values: its elements are objects of Python, pickles, which are never executed", "objects whose pickle would run code"
    yield "object-in-a-field", array(shaped("(1,)", "[('a', '<f4'), ('b', '|O')]"), b"N."), "lists_but_no_dense", "L11", "no-values", "it has no values: its elements are records of several fields", "a field of objects"
    yield "type-unknown", array(shaped("(4,)", "'<q4'")), "lists_but_no_dense", "L1", "unknown-format", "no meaning of format 'numpy.unknown' is known", "a type that is none"
    yield "field-unknown", array(shaped("(2,)", "[('a', '<f4'), ('b', [('c', '>l')])]"), bytes(16)), "lists_but_no_dense", "L1", "unknown-format", "no meaning of format 'numpy.unknown' is known", "a field in a field of a type that is none"
    yield "type-of-three-bytes", array(shaped("(4,)", "'<f3'")), "lists_but_no_dense", "L1", "unknown-format", "no meaning of format 'numpy.unknown' is known", "a float of 3 bytes"
    yield "ok-trailing", array(data=ONES + b"more"), "ok", "W4", "gap", None, "bytes behind the data"
    yield "ok-several", array() + array(shaped("(0,)"), b"") + array(shaped("(4,)", "'>f4'")), "ok", None, None, None, "three arrays, one behind the other"
    yield "ok-several-trailing", array() * 2 + b"\x93NUMPX\1\0v\0{'", "ok", "NY10", "npy-behind", "12 bytes follow behind the last array", "bytes behind two arrays that begin almost like another"
    yield "several-cut", array() * 2 + array()[:11], "open_error", "NY2", "npy-length", "the file ends within the header", "a third array that ends within its header"
    yield "several-length", array() + array(length=60000), "open_error", "NY2", "npy-length", "the header has 60010 bytes, the file 144", "a second array whose header is longer than the file"
    yield "several-list", array() + array("['descr', '<f4']"), "open_error", *syntax, "byte 10 of the header: a dict was expected", "a second array with a list in place of the dict"
    yield "ok-escapes", array('{"\\x64e\\163\\u0063r": u"<f4", \'fortran_order\' :False\t,"shape"\n:(4L,)}\n'), "ok", None, None, None, "escapes, u, L, spaces, no padding"
    yield "ok-fields", array(shaped("()", "[(('title', 'n\\xe9'), '<i2'), ('s', [('x', '|u1', 3), ('y', ('<f4', (2,)))], (2, 1)), ('', '|V3')]"), bytes(27)), "lists_but_no_dense", "L11", "no-values", "it has no values: its elements are records of several fields", "titles, structures and subarrays in each other"


def write(folder, suffix, rows):
    folder.mkdir(exist_ok=True)
    found = []
    for name, raw, expect, number, finding, message, what, *more in rows:
        (folder / f"{name}.{suffix}").write_bytes(raw)
        found.append({"file": f"{name}.{suffix}", "expect": expect, "number": number, "finding": finding, "message": message,
                      "object": None, "rule": what, "size": len(raw), "sha256": hashlib.sha256(raw).hexdigest(), **dict(*more)})
    (folder / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]\n")


if __name__ == "__main__":
    # The one object of a file is called by the file's name
    write(HERE, "npy", [(*row, {"object": row[0]} if row[2].startswith("lists") else {}) for row in cases()])
