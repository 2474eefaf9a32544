#!/usr/bin/python3
"""Writes hostile/: GGUF files that break one rule each or look odd, and cases.json. Byte by byte, after docs/gguf.md of ggml.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent / "hostile"
U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)
NUMBERS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}
ALIGNMENT = "general.alignment"


class File:
    """A file in the making. Texts may be bytes; a value that is bytes is written as it is."""

    def __init__(self, order="<", version=3, alignment=32):
        self.order, self.version, self.alignment = order, version, alignment
        self.keys, self.tensors, self.data = [], [], b""
        self.counts = self.end = None

    def pack(self, kind, value):
        return struct.pack(self.order + kind, value)

    def text(self, text):
        raw = text.encode() if isinstance(text, str) else text
        return self.pack("Q", len(raw)) + raw

    def array(self, type, values, count=None):
        return self.pack("I", type) + self.pack("Q", len(values) if count is None else count) + b"".join(self.value(type, v) for v in values)

    def value(self, type, value):
        if isinstance(value, bytes) and type != STR:
            return value
        return self.text(value) if type == STR else self.pack(NUMBERS[type], value)

    def key(self, name, type, value):
        self.keys.append(self.text(name) + self.pack("I", type) + self.value(type, value))
        return self

    def tensor(self, name, ne, type=0, data=b"", offset=None, rank=None):
        """The data goes behind what is there, aligned, unless an offset is given."""
        if offset is None:
            self.data += bytes(-len(self.data) % self.alignment)
            offset = len(self.data)
        self.data += data
        self.tensors.append(self.text(name) + self.pack("I", len(ne) if rank is None else rank) + b"".join(self.pack("Q", n) for n in ne)
                            + self.pack("I", type) + self.pack("Q", offset))
        return self

    def bytes(self):
        tensors, keys = self.counts or (len(self.tensors), len(self.keys))
        head = b"GGUF" + self.pack("I", self.version) + self.pack("Q", tensors) + self.pack("Q", keys) + b"".join(self.keys + self.tensors)
        raw = head + bytes(-len(head) % self.alignment) + self.data if self.data else head
        return raw[:self.end]


ONES = struct.pack("<8f", *range(1, 9))


def small(**options):
    """One key, and the tensor w of 8 floats."""
    return File(**options).key("general.architecture", STR, "test").tensor("w", [8], data=ONES)


def with_counts(tensors, keys):
    file = small()
    file.counts = tensors, keys
    return file


def aligned(type, value, alignment=32):
    return File(alignment=alignment).key(ALIGNMENT, type, value).tensor("w", [8], data=ONES)


def cut(end):
    file = small()
    file.end = end
    return file


def nested(depth, innermost=b""):
    """A value: arrays in arrays, as deep."""
    file = File()
    return (file.pack("I", ARR) + file.pack("Q", 1)) * (depth - 1) + (innermost or file.array(U8, [7]))


def cases():
    """(file's name, contents, what must come of it, number of the rule that it breaks, object, what is odd)"""
    refused = "open_error"
    magic = b"GGUf" + small().bytes()[4:]
    yield "magic", magic, refused, "T1", None, "the magic number in another case"
    yield "header-magic-alone", b"GGUF", refused, "GG1", None, "the magic number and nothing else"
    yield "header-cut", cut(23), refused, "GG1", None, "the header but for its last byte"
    yield "version-0", small(version=0), refused, "GG2", None, "version 0"
    yield "version-1", small(version=1), refused, "GG2", None, "version 1, whose counts and lengths had 32 bits"
    yield "version-4", small(version=4), refused, "GG2", None, "a version of the future"
    yield "version-4-be", small(order=">", version=4), refused, "GG2", None, "the same in the other byte order"
    yield "count-of-keys-max", with_counts(1, 2**64 - 1), refused, "GG3", None, "2^64 - 1 keys"
    yield "count-of-tensors-max", with_counts(2**64 - 1, 1), refused, "GG3", None, "2^64 - 1 tensors"
    yield "count-of-tensors-max-be", File(">").key("k", U8, 1), refused, "GG3", None, "more tensors than the file has bytes, big-endian"
    yield "count-of-tensors-one-more", small(), refused, "GG4", None, "one tensor more than there is: padding and data read as its info"
    yield "length-of-a-key", File().key("k", U8, 1), refused, "GG4", None, "a key of 2^64 - 1 bytes"
    yield "length-of-a-text", File().key("k", U8, 1), refused, "GG4", None, "a text that ends one byte behind the file"
    yield "length-of-an-array", File().key("k", ARR, File().array(U64, [], 2**61 + 1)), refused, "GG4", None, "2^61 + 1 numbers of 8 bytes: as bytes, 8"
    yield "length-of-an-array-of-texts", File().key("k", ARR, File().array(STR, [], 2**32)), refused, "GG4", None, "2^32 texts"
    yield "length-of-a-nested-array", File().key("k", ARR, File().array(ARR, [], 2**50)), refused, "GG4", None, "2^50 arrays"
    yield "length-of-a-name", small(), refused, "GG4", None, "a tensor's name that goes beyond the end"
    yield "cut-in-a-value", cut(60), refused, "GG4", None, "the file ends within a value"
    yield "cut-in-an-info", cut(100), refused, "GG4", None, "the file ends within a tensor's info"
    yield "type-of-a-value", File().key("k", 13, b"\1"), refused, "GG6", None, "value type 13 is none"
    yield "type-of-an-array", File().key("k", ARR, File().array(99, [])), refused, "GG6", None, "an empty array of values of type 99"
    yield "bool-2", File().key("k", BOOL, 2), refused, "GG7", None, "a bool that is 2"
    yield "bool-in-an-array", File().key("k", ARR, File().array(BOOL, [0, 1, 255])), refused, "GG7", None, "a bool in an array that is 255"
    yield "depth-65", File().key("k", ARR, nested(65)), refused, "GG8", None, "arrays nested 65 deep"
    yield "depth-7000", File().key("k", ARR, nested(7000)), refused, "GG8", None, "arrays nested 7,000 deep"
    yield "utf8-key", File().key(b"k\xff", U8, 1), refused, "GG9", None, "a key that is not UTF-8"
    yield "utf8-name", File().tensor(b"w\xc0\x80", [8], data=ONES), refused, "GG9", None, "a tensor's name in an overlong form"
    yield "nul-in-a-name", File().tensor("w\0x", [8], data=ONES), refused, "GG9", None, "a tensor's name with U+0000"
    yield "duplicate-key", small().key("a", U8, 1).key("a", U8, 1), refused, "GG10", None, "a key twice"
    yield "duplicate-tensor", small().tensor("v", [8], data=ONES).tensor("w", [8], data=ONES), refused, "GG11", "w", "a tensor's name twice"
    yield "rank-65", File().tensor("w", [1] * 65, data=ONES), refused, "GG12", None, "65 dimensions"
    yield "rank-max", File().tensor("w", [8], data=ONES, rank=2**32 - 1), refused, "GG12", None, "2^32 - 1 dimensions"
    yield "shape-overflow", File().tensor("w", [2**32, 2**32], data=ONES), refused, "GG13", "w", "2^64 elements: in 64 bits, none"
    yield "alignment-0", aligned(U32, 0), refused, "GG14", None, "alignment 0"
    yield "alignment-3", aligned(U32, 3), refused, "GG14", None, "alignment 3"
    yield "alignment-u64", aligned(U64, 32), refused, "GG14", None, "an alignment that is no u32"
    yield "alignment-text", aligned(STR, "32"), refused, "GG14", None, "an alignment that is a text"
    yield "offset-unaligned", File().tensor("w", [4], data=ONES, offset=16), refused, "GG15", "w", "an offset that is no multiple of 32"
    yield "offset-past-end", File().tensor("w", [8], data=ONES, offset=64), refused, "GG16", "w", "a tensor beyond the file's end"
    yield "offset-wraps", File().tensor("w", [8], data=ONES, offset=2**64 - 32), refused, "GG16", "w", "an offset that wraps around"
    yield "offset-of-nothing", File().tensor("w", [0], data=b"").tensor("v", [0], offset=64), refused, "GG16", "w", "no bytes, beyond the file's end"
    yield "length-past-end", File().tensor("w", [8], data=ONES[:31]), refused, "GG16", "w", "the last byte is missing"
    yield "length-overflow", File().tensor("w", [2**61], type=28, data=ONES), refused, "GG16", "w", "2^61 numbers of 8 bytes: as bytes, none"

    blocks = bytes(34)
    no_bytes = "lists_but_no_bytes"
    yield "unknown-type", File().tensor("x", [64], type=99, data=ONES).tensor("w", [8], data=ONES), no_bytes, "L1", "x", "a type of the future"
    yield "removed-type", File().tensor("x", [64], type=4, data=ONES).tensor("w", [8], data=ONES), no_bytes, "L1", "x", "a type that was removed"
    yield "row-not-blocks", File().tensor("x", [33], type=8, data=blocks * 2).tensor("w", [8], data=ONES), no_bytes, "GB2", "x", "33 elements a row in blocks of 32"
    yield "scalar-of-blocks", File().tensor("x", [], type=8, data=blocks).tensor("w", [8], data=ONES), no_bytes, "GB2", "x", "a scalar in a block of 32"

    no_dense = "lists_but_no_dense"
    yield "undefined-blocks", File().tensor("x", [256], type=15, data=bytes(292)).tensor("w", [8], data=ONES), no_dense, "GB1", "x", "q8_k, whose elements are not defined"
    yield "big-endian-blocks", File(">").tensor("x", [32], type=8, data=blocks).tensor("w", [8], data=ONES), no_dense, "GB5", "x", "blocks whose numbers may be turned or not"
    yield "big-endian-bf16", File(">").tensor("x", [4], type=30, data=bytes(8)).tensor("w", [8], data=ONES), no_dense, "GB5", "x", "bf16, which gguf-py writes in little-endian order"

    yield "ok-trailing", small_with(b"behind"), "ok", None, "w", "bytes behind the last tensor"
    yield "ok-overlap", small().tensor("v", [8], offset=0), "ok", "GG17", "v", "two tensors at one place"
    yield "ok-gap", File().tensor("w", [8], data=ONES).tensor("v", [8], data=bytes(128) + ONES, offset=160), "ok", "GG17", "v", "a gap between two tensors"
    yield "ok-backwards", File().tensor("w", [8], data=ONES, offset=32).tensor("v", [8], data=ONES, offset=0), "ok", "GG17", "w", "data in another order"
    yield "ok-depth-64", File().key("k", ARR, nested(64)), "ok", "GG17", None, "arrays nested 64 deep"
    yield "ok-rank-64", File().tensor("w", [1] * 63 + [8], data=ONES), "ok", "GG17", "w", "64 dimensions"
    yield "ok-rank-5", File().tensor("w", [1] * 4 + [8], data=ONES), "ok", "GG17", "w", "5 dimensions"
    yield "ok-name-64", File().tensor("w" * 64, [8], data=ONES), "ok", "GG17", "w" * 64, "a name of 64 bytes"
    yield "ok-name-63", File().tensor("w" * 63, [2, 1, 2, 2], data=ONES), "ok", None, None, "a name of 63 bytes, and 4 dimensions"
    yield "ok-rank-0", File().tensor("w", [], data=ONES[:4]), "ok", None, "w", "a scalar"
    yield "ok-no-keys", File().tensor("w", [8], data=ONES), "ok", None, "w", "no keys"
    yield "ok-nothing", File(), "ok", None, None, "neither keys nor tensors"
    yield "ok-alignment-24", aligned(U32, 24, alignment=24), "ok", "GG17", None, "a multiple of 8 that is no power of two"
    yield "ok-alignment-1", aligned(U32, 1, alignment=1), "ok", None, "w", "a power of two that is no multiple of 8"
    yield "ok-1000-keys", many_keys(1000), "ok", None, "w", "1,000 keys, in no order"
    yield "ok-mixed-nested", mixed(), "ok", "GG17", None, "arrays of several types in an array, and arrays of nothing"
    yield "ok-zero-of-many", File().tensor("w", [2**40, 0, 2**40], data=b"").tensor("v", [8], data=ONES), "ok", "GG17", "w", "no elements, though dimensions overflow"
    yield "ok-names", File().key("", U8, 1).key("a\0b", U8, 2).tensor("", [8], data=ONES), "ok", "GG17", None, "an empty name, an empty key, U+0000 in a key"


# The message about a refused file, after the place.
MESSAGES = {
    "undefined-blocks": "no specification defines the elements of q8_k",
    "big-endian-blocks": "the order of the bytes in a big-endian file's blocks is not known",
    "big-endian-bf16": "the order of the bytes in a big-endian file's bf16 is not known",
    "magic": "not a tensor file of a known format",
    "header-magic-alone": "the file has 4 bytes, a GGUF header has 24",
    "header-cut": "the file has 23 bytes, a GGUF header has 24",
    "version-0": "GGUF version 0 cannot be read, 2 and 3 can",
    "version-1": "GGUF version 1 cannot be read, 2 and 3 can",
    "version-4": "GGUF version 4 cannot be read, 2 and 3 can",
    "version-4-be": "GGUF version 4 cannot be read, 2 and 3 can",
    "count-of-keys-max": "18446744073709551615 keys and 1 tensors are more than the file has room for",
    "count-of-tensors-max": "1 keys and 18446744073709551615 tensors are more than the file has room for",
    "count-of-tensors-max-be": "1 keys and 4294967296 tensors are more than the file has room for",
    "count-of-tensors-one-more": "byte 101: a text goes beyond the file's end",
    "length-of-a-key": "byte 24: a text goes beyond the file's end",
    "length-of-a-text": "byte 37: a text goes beyond the file's end",
    "length-of-an-array": "byte 41: an array goes beyond the file's end",
    "length-of-an-array-of-texts": "byte 41: an array goes beyond the file's end",
    "length-of-a-nested-array": "byte 41: an array goes beyond the file's end",
    "length-of-a-name": "byte 68: a text goes beyond the file's end",
    "cut-in-a-value": "byte 56: a length goes beyond the file's end",
    "cut-in-an-info": "byte 77: a tensor's info goes beyond the file's end",
    "type-of-a-value": "byte 33: value type 13 is not known",
    "type-of-an-array": "byte 37: value type 99 is not known",
    "bool-2": "byte 37: a bool that is neither 0 nor 1",
    "bool-in-an-array": "byte 49: a bool that is neither 0 nor 1",
    "depth-65": "byte 805: arrays are nested more than 64 deep",
    "depth-7000": "byte 805: arrays are nested more than 64 deep",
    "utf8-key": "byte 32: a key is not UTF-8",
    "utf8-name": "byte 32: a tensor's name is not UTF-8, or has U+0000 in it",
    "nul-in-a-name": "byte 32: a tensor's name is not UTF-8, or has U+0000 in it",
    "duplicate-key": "key 'a' stands twice",
    "duplicate-tensor": "two tensors have this name",
    "rank-65": "byte 33: a tensor of 65 dimensions, 64 are the most",
    "rank-max": "byte 33: a tensor of 4294967295 dimensions, 64 are the most",
    "shape-overflow": "the product of its dimensions does not fit 64 bits",
    "alignment-0": "general.alignment is 0, neither a multiple of 8 nor a power of two",
    "alignment-3": "general.alignment is 3, neither a multiple of 8 nor a power of two",
    "alignment-u64": "general.alignment is of type u64, not u32",
    "alignment-text": "general.alignment is of type str, not u32",
    "offset-unaligned": "offset 16 is not a multiple of 32",
    "offset-past-end": "32 bytes at offset 64 of the data, which begins at 64, go beyond the file's end",
    "offset-wraps": "32 bytes at offset 18446744073709551584 of the data, which begins at 64, go beyond the file's end",
    "offset-of-nothing": "0 bytes at offset 0 of the data, which begins at 96, go beyond the file's end",
    "length-past-end": "32 bytes at offset 0 of the data, which begins at 64, go beyond the file's end",
    "length-overflow": "shape and type make more than 2^64 bytes",
    "ok-overlap": "it is at offset 0 of the data, and ggml reads it at 32 only",
    "ok-gap": "it is at offset 160 of the data, and ggml reads it at 32 only",
    "ok-backwards": "it is at offset 32 of the data, and ggml reads it at 0 only",
    "ok-zero-of-many": "dimension 1 is 0, and ggml reads this of the last one only",
    "ok-names": "a key is empty, and ggml does not read this",
    "ok-depth-64": "key 'k' has arrays in an array, and ggml does not read this",
    "ok-rank-64": "it has 64 dimensions, and ggml reads at most 4",
    "ok-rank-5": "it has 5 dimensions, and ggml reads at most 4",
    "ok-name-64": "its name has 64 bytes, and ggml reads at most 63",
    "ok-alignment-24": "general.alignment is 24, and ggml reads powers of two",
    "ok-mixed-nested": "key 'mixed' has arrays in an array, and ggml does not read this",
}
# The rule's name in zt_check.
FINDINGS = {
    "T1": "magic", "GG1": "gguf-header", "GG2": "gguf-version", "GG3": "gguf-length", "GG4": "gguf-length",
    "GG6": "gguf-value-type", "GG7": "gguf-bool", "GG8": "gguf-depth", "GG9": "gguf-name", "GG10": "gguf-duplicate-key",
    "GG11": "gguf-duplicate-tensor", "GG12": "gguf-dimensions", "GG13": "gguf-elements", "GG14": "gguf-alignment",
    "GG15": "gguf-offset", "GG16": "gguf-range", "GG17": "gguf-ggml",
    "L1": "unknown-length", "GB2": "unknown-length",
    "GB1": "ggml-undefined", "GB5": "ggml-byte-order",
}


def small_with(tail):
    file = small()
    file.data += tail
    return file


def many_keys(n):
    file = File()
    for i in range(n):
        file.key(f"key.{i * 7919 % n}", U16, i)
    return file.tensor("w", [8], data=ONES)


def mixed():
    file = File()
    of = file.array
    return (file.key("mixed", ARR, of(ARR, [of(I32, [1, -2]), of(STR, ["a"]), of(ARR, [])]))
            .key("empty", ARR, of(ARR, []))
            .key("empty.first", ARR, of(ARR, [of(ARR, []), of(ARR, [of(BOOL, [1])])])))


def patched(name, raw):
    """A file with contents that no writer makes: lengths that are no lengths."""
    where = {"length-of-a-key": (24, 2**64 - 1), "length-of-a-name": (68, 2**40), "count-of-tensors-max-be": None}.get(name)
    if name == "length-of-a-text":
        file = File().key("k", STR, "text").bytes()
        return file[:37] + struct.pack("<Q", 5) + file[45:]
    if name == "count-of-tensors-max-be":
        return raw[:8] + struct.pack(">Q", 2**32) + raw[16:]
    if name == "count-of-tensors-one-more":
        raw = small(alignment=8).bytes()    # Else padding passes for an info of zeros
        return raw[:8] + struct.pack("<Q", 2) + raw[16:]
    return raw[:where[0]] + struct.pack("<Q", where[1]) + raw[where[0] + 8:] if where else raw


def main():
    HERE.mkdir(exist_ok=True)
    rows = []
    for name, contents, expect, number, object, what in cases():
        raw = patched(name, contents if isinstance(contents, bytes) else contents.bytes())
        (HERE / f"{name}.gguf").write_bytes(raw)
        rows.append({"file": f"{name}.gguf", "expect": expect, "number": number, "finding": FINDINGS.get(number),
                     "message": MESSAGES.get(name), "object": object, "rule": what, "size": len(raw),
                     "sha256": hashlib.sha256(raw).hexdigest()})
    (HERE / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
