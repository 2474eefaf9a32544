"""Writes the files below hostile/, and what must become of each: python3 tests/formats/safetensors/write.py

The first word of a name is the rule that the file breaks, as ext/container/safetensors.c and ext/core/json_read.h number
them; `ok` breaks none. cases.json has one case a line:

- `file`, `size`, `sha256`;
- `expect`: `open_error` (no row is given), `lists_but_no_dense` (all rows and bytes are there, `object` has no values), `ok`;
- `message`: what the error says behind the place, null if there is none;
- `finding`: the slug of the only finding of zt_check(..., 'full'), null if there is none; `object`: where the fault is.
"""
import hashlib
import json
import struct
from pathlib import Path

HOSTILE = Path(__file__).resolve().parent / "hostile"
SIXTEEN = bytes(range(16))
A = '"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}'


def entry(name, begin, end, dtype="F32", shape=(4,)):
    return '"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (name, dtype, json.dumps(list(shape)), begin, end)


def file(header, data=SIXTEEN, length=None):
    if isinstance(header, str):
        header = header.encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def of(*entries, data=SIXTEEN):
    return file("{" + ",".join(entries) + "}", data)


cases = []


def case(name, data, expect="open_error", message=None, finding=None, object=None):
    (HOSTILE / f"{name}.safetensors").write_bytes(data)
    cases.append({"file": f"{name}.safetensors", "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "expect": expect,
                  "message": message, "finding": finding, "object": object})


def header(name, text, message, finding, object=None, data=SIXTEEN):
    case(name, file(text, data), message=message, finding=finding, object=object)


def tensor(name, fields, message, finding):
    header(name, '{"a":' + fields + "}", message, finding, "a")


# These are no safetensors files
MAGIC = "not a tensor file of a known format"
case("T1-7-bytes", b"\2\0\0\0\0\0\0", message=MAGIC, finding="magic")
case("T1-8-bytes", b"\2\0\0\0\0\0\0\0", message=MAGIC, finding="magic")
case("T1-length-max", file("{%s}" % A, length=(1 << 64) - 1), message=MAGIC, finding="magic")
case("T1-root-array", file("[%s]" % A), message=MAGIC, finding="magic")
case("T1-root-null", file("null"), message=MAGIC, finding="magic")
case("T1-lfs-pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 16\n" % (b"0" * 64),
     message="not a tensor file, but text like a git-lfs pointer's: was it pulled?", finding="magic")

# The header's length
case("O1-past-end", file("{%s}" % A, length=10000),
     message="the header's length is 10000, but 71 bytes follow: the file is cut", finding="header-length")
case("O1-cut-in-header", file("{%s}" % A)[:40],
     message="the header's length is 55, but 32 bytes follow: the file is cut", finding="header-length")

# JSON
header("J1-no-value", '{"a":}', "header byte 5: a value was expected", "json-syntax", "a")
header("J1-nan", '{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":NaN}}', "header byte 58: a value was expected", "json-syntax", "a")
header("J2-trailing-comma", "{%s,}" % A, "header byte 55: a comma stands before }", "json-syntax")
header("J2-no-colon", '{"a" {}}', "header byte 5: a colon was expected", "json-syntax")
header("J2-name-without-quotes", "{a:{}}", "header byte 1: a name was expected", "json-syntax")
tensor("J3-trailing-comma", '{"dtype":"F32","shape":[4,],"data_offsets":[0,16]}', "header byte 31: a comma stands before ]", "json-syntax")
tensor("J4-leading-zero", '{"dtype":"F32","shape":[04],"data_offsets":[0,16]}', "header byte 29: a leading zero", "json-syntax")
header("J5-newline-in-name", "{" + entry("a\nb", 0, 16) + "}", "header byte 3: a control character in a text must be escaped", "json-text")
header("J6-escape", "{" + entry("\\x61", 0, 16) + "}", "header byte 2: no such escape", "json-text")
header("J7-high-surrogate", "{" + entry("\\ud800", 0, 16) + "}", "header byte 2: half of a surrogate pair", "json-surrogate")
header("J7-low-surrogate", "{" + entry("a\\udc00", 0, 16) + "}", "header byte 3: half of a surrogate pair", "json-surrogate")
header("J8-latin-1", b'{"\xe9":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}', "header byte 2: text that is not UTF-8", "json-utf8")
header("J8-in-ignored-field", b'{"a":{"x":"\xc0\xaf","dtype":"F32","shape":[4],"data_offsets":[0,16]}}', "header byte 11: text that is not UTF-8",
       "json-utf8", "a")
tensor("J9-ignored-field", '{"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":' + "[" * 20000 + "]" * 20000 + "}",
       "header byte 121: nested deeper than 64 levels", "json-depth")
header("J10-nul-padding", "{%s}\0\0\0" % A, "header byte 55: 3 bytes after the root value", "json-trailing")
header("J10-two-values", "{}{}", "header byte 2: 2 bytes after the root value", "json-trailing")
header("J11-no-brace", "{" + A, "header byte 54: the object ends without }", "json-cut")
header("J11-only-brace", "{", "header byte 1: the object ends without }", "json-cut")

# Types
header("O2-metadata-number", '{"__metadata__":{"n":3},%s}' % A, "header byte 21: expected text, found an integer", "header-type")
header("O2-metadata-text", '{"__metadata__":"pt",%s}' % A, "header byte 16: expected an object, found text", "header-type")
tensor("O2-tensor-text", '"F32"', "header byte 5: expected an object, found text", "header-type")
tensor("O2-dtype-number", '{"dtype":32,"shape":[4],"data_offsets":[0,16]}', "header byte 14: expected text, found an integer", "header-type")
tensor("O2-shape-number", '{"dtype":"F32","shape":4,"data_offsets":[0,16]}', "header byte 28: expected an array, found an integer", "header-type")
tensor("O2-shape-negative", '{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}',
       "header byte 29: expected an unsigned integer, found a negative integer", "header-type")
tensor("O2-shape-real", '{"dtype":"F32","shape":[4.0],"data_offsets":[0,16]}',
       "header byte 29: expected an unsigned integer, found a number that is no integer", "header-type")
tensor("O2-shape-2-64", '{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,16]}',
       "header byte 29: expected an unsigned integer, found an integer beyond 64 bits", "header-type")
tensor("O2-one-offset", '{"dtype":"F32","shape":[4],"data_offsets":[16]}', "header byte 51: data_offsets are not two numbers", "header-type")
tensor("O2-three-offsets", '{"dtype":"F32","shape":[4],"data_offsets":[0,16,32]}', "header byte 53: data_offsets are not two numbers", "header-type")
tensor("O2-offset-text", '{"dtype":"F32","shape":[4],"data_offsets":["0",16]}', "header byte 48: expected an unsigned integer, found text",
       "header-type")

# Fields that are missing, keys that stand twice
tensor("O3-no-dtype", '{"shape":[4],"data_offsets":[0,16]}', "header byte 5: 'dtype' is missing", "missing-key")
tensor("O3-no-shape", '{"dtype":"F32","data_offsets":[0,16]}', "header byte 5: 'shape' is missing", "missing-key")
tensor("O3-no-offsets", '{"dtype":"F32","shape":[4]}', "header byte 5: 'data_offsets' is missing", "missing-key")
tensor("O3-empty", "{}", "header byte 5: 'dtype' is missing", "missing-key")
header("O4-name", "{" + entry("a", 0, 8, shape=[2]) + "," + entry("a", 8, 16, shape=[2]) + "}", "header byte 58: the name stands twice",
       "duplicate-key", "a")
header("O4-name-escaped", "{" + entry("w", 0, 8, shape=[2]) + "," + entry("\\u0077", 8, 16, shape=[2]) + "}",
       "header byte 63: the name stands twice", "duplicate-key", "w")
tensor("O4-field", '{"dtype":"F32","shape":[4],"shape":[4],"data_offsets":[0,16]}', "header byte 32: a key stands twice", "duplicate-key")
tensor("O4-field-escaped", '{"dtype":"F32","d\\u0074ype":"F32","shape":[4],"data_offsets":[0,16]}', "header byte 20: a key stands twice",
       "duplicate-key")
header("O4-metadata-key", '{"__metadata__":{"k":"1","\\u006b":"2"},%s}' % A, "header byte 25: a key stands twice in __metadata__", "duplicate-key")
header("O4-metadata", '{"__metadata__":{},"__metadat\\u0061__":{},%s}' % A, "header byte 19: __metadata__ stands twice", "duplicate-key")
header("N1-nul-in-name", "{" + entry("a\\u0000b", 0, 16) + "}", "header byte 1: a name with U+0000 in it", "name")

# Shapes and offsets
tensor("O5-rank-65", '{"dtype":"F32","shape":[' + ",".join(["1"] * 65) + '],"data_offsets":[0,16]}',
       "header byte 157: a shape of more than 64 dimensions", "tensor-shape")
tensor("O5-product-2-64", '{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,16]}',
       "header byte 27: the product of the shape is beyond 64 bits", "tensor-shape")
header("O6-past-end", "{" + entry("a", 0, 17, "U8", [17]) + "}", "header byte 47: data_offsets end at 17, but there are 16 bytes", "data-offsets", "a")
header("O6-far", "{" + entry("a", 0, (1 << 64) - 1, "U8", [(1 << 64) - 1]) + "}",
       "header byte 65: data_offsets end at 18446744073709551615, but there are 16 bytes", "data-offsets", "a")
header("O6-reversed", "{" + entry("a", 16, 0) + "}", "header byte 47: data_offsets begin at 16 and end at 0", "data-offsets", "a")
case("O6-cut-in-data", of(A)[:-1], message="header byte 47: data_offsets end at 16, but there are 15 bytes", finding="data-offsets", object="a")
case("O7-f4-odd", of(entry("a", 0, 2, "F4", [3]), data=b"\x21\x03"), message="header byte 46: 3 elements of 4 bits do not end with a byte",
     finding="packed-end", object="a")
case("O7-f6", of(entry("a", 0, 2, "F6_E2M3", [2]), data=b"\0\0"), message="header byte 51: 2 elements of 6 bits do not end with a byte",
     finding="packed-end", object="a")
case("O8-overlap", of(entry("a", 0, 12, shape=[3]), entry("b", 8, 16, shape=[2])),
     message="bytes 125 to 133 overlap those of object 'a', 117 to 129", finding="tensor-overlap", object="b")
case("O8-same-bytes", of(entry("a", 0, 16), entry("b", 0, 16)),
     message="bytes 117 to 133 overlap those of object 'a', 117 to 133", finding="tensor-overlap", object="b")
case("O8-other-order", of(entry("c", 8, 16, shape=[2]), entry("b", 4, 12, shape=[2]), entry("a", 0, 4, shape=[1])),
     message="bytes 178 to 186 overlap those of object 'b', 174 to 182", finding="tensor-overlap", object="c")

# These open, and have a finding
case("O9-hole", of(entry("a", 0, 4, shape=[1]), entry("b", 8, 16, shape=[2])), "ok", finding="hole")
case("O9-first", of(entry("a", 8, 16, shape=[2])), "ok", finding="hole")
case("O9-last", of(A, data=SIXTEEN + b"\n"), "ok", finding="hole")
case("O9-no-tensor", file("{}"), "ok", finding="hole")
case("L3-too-short", of(entry("a", 0, 16, shape=[5])), "lists_but_no_dense", "5 elements of f32 are 20 bytes, and it has 16", "length", "a")
case("L3-too-long", of(entry("a", 0, 16, shape=[3])), "lists_but_no_dense", "3 elements of f32 are 12 bytes, and it has 16", "length", "a")
case("L2-unknown-dtype", of(entry("a", 0, 8, "F128", [1]), entry("b", 8, 16, shape=[2])), "lists_but_no_dense",
     "dtype 'F128' is not known", "unknown-dtype", "a")
case("L5-f6", of(entry("a", 0, 12, "F6_E3M2", [16]), entry("b", 12, 16, shape=[1])), "lists_but_no_dense",
     "type 'f6_e3m2' is not known", "unknown-type", "a")
case("W9-bool-2", of(entry("a", 0, 4, "BOOL"), data=b"\0\1\2\1"), "ok", finding="bool-byte", object="a")
case("O10-empty-within", of(entry("a", 0, 16), entry("e", 8, 8, shape=[0])), "ok", finding="safetensors-library")
case("O10-empty-within-2", of(entry("b", 8, 16, shape=[2]), entry("f", 15, 15, shape=[0]), entry("e", 1, 1, shape=[0]), entry("a", 0, 8, shape=[2])),
     "ok", finding="safetensors-library")
case("O10-f6-length", of(entry("a", 0, 16, "F6_E3M2", [16])), "lists_but_no_dense", "type 'f6_e3m2' is not known", "safetensors-library", "a")
case("O10-huge-before-0", of(A, entry("e", 16, 16, shape=[1 << 63, 4, 0])), "ok", finding="safetensors-library")

# These open, and are right
case("ok-plain", of(A), "ok")
case("ok-blanks-first", file(" \n\t\r{ %s }" % A), "ok")
case("ok-escaped-everything", file('{"\\u0061":{"\\u0064type":"F\\u00332","\\u0073hape":[4],"data\\u005foffsets":[0,16]}}'), "ok")
case("ok-metadata-null", file('{"__metadata__":null,%s}' % A), "ok")
case("ok-empty-name", of(entry("", 0, 16)), "ok")
case("ok-unaligned", of(entry("a", 0, 1, "U8", [1]), entry("b", 1, 9, shape=[2]), data=SIXTEEN[:9]), "ok")
case("ok-empty-between", of(entry("a", 0, 8, shape=[2]), entry("e", 8, 8, shape=[0, 7]), entry("b", 8, 16, shape=[2])), "ok")
case("ok-empty-first", of(A, entry("e", 0, 0, shape=[0]), entry("f", 16, 16, shape=[0])), "ok")
case("ok-empty-and-huge", of(A, entry("e", 16, 16, shape=[0, 1 << 63, 4])), "ok")
case("ok-offset-order", of(entry("c", 8, 16, shape=[2]), entry("e", 4, 4, shape=[0]), entry("b", 4, 8, shape=[1]), entry("\\u0061", 0, 4, shape=[1])), "ok")
case("ok-end-of-leveldb", of(entry("a", 0, 16, "U8", [16]), data=SIXTEEN[:8] + b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"), "ok")
case("ok-ignored-fields", file('{"a":{"x":[1e999,-0.5,18446744073709551616,{"y":null}],"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":true}}'), "ok")
case("ok-depth-64", file('{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":' + "[" * 62 + "]" * 62 + "}}"), "ok")
case("ok-700-tensors", of(*[entry("layers.%d.weight" % i, 8 * i, 8 * i + 8, "BF16", [2, 2]) for i in range(700)], data=bytes(5600)), "ok")

(HOSTILE / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
