"""Files that break one rule of zt_check each, and what it says of them."""
import hashlib
import struct

import writer
from writer import MAGIC_0, MAGIC_1, Pairs, cbor


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def sealed(object, generation="1.2"):
    """The same object with a digest for each component that has none and whose bytes are there."""
    key = "checksum" if generation == "0.1" else "digest"
    parts = {role: {key: digest(c["bytes"]), **c} if "bytes" in c else c for role, c in object["components"].items()}
    return dict(object, components=parts)


def file_0_1(manifest, gap=0):
    return MAGIC_0 + bytes(gap) + manifest + struct.pack("<Q", len(manifest))


def file_1(manifest):
    return MAGIC_1 + manifest + struct.pack("<Q", len(manifest)) + MAGIC_1


def root(objects, version="1.2.0"):
    """A manifest of 1.2 whose objects are CBOR."""
    return Pairs([("version", version), ("objects", objects)])


def entry(**fields):
    """An object of 1.2 with one byte `data` at 64, with other fields than usual; None leaves one out."""
    usual = {"shape": [1], "format": "dense", "components": {"data": place()}}
    return {k: v for k, v in {**usual, **fields}.items() if v is not None}


def place(**fields):
    """A component of 1.2: one byte at 64; fields as above."""
    usual = {"dtype": "u8", "offset": 64, "length": 1, "digest": digest(b"\1")}
    return {k: v for k, v in {**usual, **fields}.items() if v is not None}


def around(objects):
    """A file of 1.2 with one byte at 64 and a manifest with these objects."""
    manifest = cbor(root(objects))
    return MAGIC_1 + bytes(56) + b"\1" + manifest + struct.pack("<Q", len(manifest)) + MAGIC_1


def one(object, generation="1.2", **options):
    """A file of one object `w`; its components have digests."""
    return writer.write({"w": sealed(object, generation)}, generation, **options)


def flipped(file, at):
    return file[:at] + bytes([file[at] ^ 1]) + file[at + 1:]


F32 = struct.pack("<6f", *range(6))


def csr(indptr=(0, 1, 2), indices=(1, 2), values=b"\7\x09", shape=(2, 3), index="u64"):
    return writer.sparse_csr(list(shape), indptr, indices, values, index=index)


def coo(coords, values, shape=(3, 4), **fields):
    return writer.sparse_coo(list(shape), coords, values, **fields)


def quantized(shape=(1, 8), scales=b"\0" * 4, **attributes):
    object = writer.quantized(list(shape), [0] * 8, 4, 8, "i32", scales, b"\0" * 4)
    changed = {k: v for k, v in {**object["attributes"], **attributes}.items() if v is not None}
    return dict(object, attributes=changed)


def zstd(stored, size):
    """A file of one compressed object of so many u8."""
    return one(writer.dense(stored, [size], encoding="zstd", uncompressed_length=size))


def unstated(object):
    """The same object with all of its components compressed, and nowhere how long they were."""
    parts = {role: dict(c, bytes=writer.zstd(c["bytes"]), encoding="zstd") for role, c in object["components"].items()}
    return dict(object, components=parts)


def with_float_indices():
    """A CSR object of 1.1, where any integer may be an index, with indices that are floats."""
    object = csr(index="u8")
    object["components"]["indices"] = {"dtype": "f32", "bytes": struct.pack("<2f", 1, 2)}
    return object


LARGE = {"shape": [1 << 62], "components": {"data": {"dtype": "f64", "bytes": writer.zstd(b"\1"), "encoding": "zstd"}}}

# slug: [(name, the file, the level that finds it, object, component, message)]
BROKEN = {
    "magic": [
        ("nothing", b"", "quick", None, None, "the file is empty"),
        ("a git-lfs pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "quick", None, None,
         "not a tensor file, but text like a git-lfs pointer's: was it pulled?"),
        ("a page of HTML", b"<!DOCTYPE html>\n<html>404</html>\n", "quick", None, None,
         "not a tensor file, but a page of HTML: what did the download say?"),
        ("another file", b"%PDF-1.7\n" + bytes(60), "quick", None, None, "not a tensor file of a known format")],
    "unsupported-format": [
        ("HDF5", b"\x89HDF\r\n\x1a\n" + bytes(88), "quick", None, None, "a file of HDF5, which is not read"),
        ("HDF5 behind bytes of the user", bytes(1024) + b"\x89HDF\r\n\x1a\n" + bytes(88), "quick", None, None,
         "a file of HDF5, which is not read")],
    "footer": [("a header alone", MAGIC_1, "quick", None, None, "8 bytes are too few for a header and a footer")],
    "manifest-size": [("a manifest of no byte", MAGIC_1 + bytes(8) + MAGIC_1, "quick", None, None, "the manifest has 0 bytes")],
    "cbor-reserved": [
        ("additional information 28", file_1(b"\xa1\x61a\x1c"),
         "quick", None, None, "manifest byte 3: reserved initial byte 0x1c")],
    "cbor-indefinite": [
        ("an indefinite integer", file_1(b"\xa1\x61a\x1f"),
         "quick", None, None, "manifest byte 3: initial byte 0x1f: this type has no indefinite length")],
    "cbor-break": [
        ("a break for a value", file_1(b"\xa1\x61a\xff"),
         "quick", None, None, "manifest byte 3: a break where an item is expected")],
    "cbor-chunk": [
        ("a chunk that is an integer", file_1(b"\xa1\x61a\x7f\x00\xff"),
         "quick", None, None, "manifest byte 4: a chunk of a string in chunks is an unsigned integer")],
    "cbor-simple": [
        ("a simple value in two bytes", file_1(b"\xa1\x61a\xf8\x1f"),
         "quick", None, None, "manifest byte 3: a two-byte simple value below 32")],
    "cbor-length": [
        ("a string beyond the end", file_1(b"\xa1\x61a\x65xyz"),
         "quick", None, None, "manifest byte 3: a string of 5 bytes, 4 are left")],
    "cbor-utf8": [
        ("text that is not UTF-8", file_1(b"\xa1\x61a\x61\xff"), "quick", None, None, "manifest byte 3: text that is not UTF-8")],
    "cbor-depth": [
        ("65 levels", file_1(b"\xa1\x61a" + b"\x81" * 64 + b"\x00"),
         "quick", None, None, "manifest byte 67: nested deeper than 64 levels")],
    "cbor-trailing": [
        ("a byte more", file_1(cbor(root({})) + b"\0"), "quick", None, None, "manifest byte 24: 1 bytes after the root item")],
    "root-type": [
        ("an array in 1.2", file_1(b"\x80"),
         "quick", None, None, "manifest byte 0: expected a map as the root item, found an array"),
        ("a map in 0.1", file_0_1(b"\xa0"),
         "quick", None, None, "manifest byte 0: expected an array as the root item, found a map")],
    "version": [
        ("another generation", file_1(cbor(root({}, version="2.0"))),
         "quick", None, None, "manifest byte 13: version '2.0' is not 1.x")],
    "field-name": [
        ("a key that is a number", file_1(cbor(Pairs([(1, 2), *root({})]))),
         "quick", None, None, "manifest byte 1: expected a text key, found an unsigned integer")],
    "duplicate-field": [
        ("a field of the root twice", file_1(cbor(Pairs([("version", "1.2.0"), *root({})]))),
         "quick", None, None, "manifest byte 15: 'version' stands twice in the root map"),
        ("an unknown field twice", file_1(cbor(Pairs([("x", 1), ("x", 2), *root({})]))),
         "quick", None, None, "manifest byte 4: a key stands twice in the root map"),
        ("an attribute twice", file_1(cbor(Pairs([("attributes", Pairs([("k", 1), ("k", 1)])), *root({})]))),
         "quick", None, None, "manifest byte 16: a key stands twice in 'attributes'")],
    "missing-field": [
        ("no version", file_1(cbor({"objects": {}})), "quick", None, None, "manifest byte 10: the root map has no 'version'"),
        ("no shape", around({"w": entry(shape=None)}), "quick", "w", None, "manifest byte 164: the object's map has no 'shape'"),
        ("no offset", around({"w": entry(components={"data": place(offset=None)})}),
         "quick", "w", "data", "manifest byte 163: the component's map has no 'offset'")],
    "field-type": [
        ("a version that is a number", file_1(cbor(root({}, version=1))),
         "quick", None, None, "manifest byte 9: expected text for 'version', found an unsigned integer"),
        ("an offset that is text", around({"w": entry(components={"data": place(offset="64")})}),
         "quick", "w", "data", "manifest byte 82: expected an unsigned integer for 'offset', found text")],
    "name": [
        ("U+0000 in an object's name", around({"w\0": entry()}),
         "quick", None, None, "manifest byte 24: a name with U+0000 in it"),
        ("U+0000 in a component's", around({"w": entry(components={"data\0": place()})}),
         "quick", "w", None, "manifest byte 60: a name with U+0000 in it")],
    "duplicate-object": [
        ("in 1.2", around(Pairs([("w", entry()), ("w", entry())])),
         "quick", "w", None, "manifest byte 174: two objects have this name"),
        ("in 0.1", file_0_1(cbor([{"name": "w", "offset": 64, "size": 0, "dtype": "uint8", "shape": [0], "encoding": "raw",
                                   "layout": "dense"}] * 2), 56),
         "quick", "w", None, "manifest byte 139: two tensors have this name")],
    "object-type": [
        ("in 1.2", around({"w": 1}), "quick", "w", None, "manifest byte 26: expected an object's map, found an unsigned integer"),
        ("in 0.1", file_0_1(b"\x81\x01"),
         "quick", None, None, "manifest byte 1: expected a tensor's map, found an unsigned integer")],
    "duplicate-component": [
        ("", around({"w": entry(components=Pairs([("data", place()), ("data", place())]))}),
         "quick", "w", None, "manifest byte 177: component 'data' stands twice")],
    "component-type": [
        ("", around({"w": entry(components={"data": [1]})}),
         "quick", "w", "data", "manifest byte 65: expected a component's map, found an array")],
    "shape": [
        ("a negative dimension", around({"w": entry(shape=[-1])}),
         "quick", "w", None, "manifest byte 34: expected an unsigned integer in 'shape', found a negative integer"),
        ("65 dimensions", around({"w": entry(shape=[1] * 65)}),
         "quick", "w", None, "manifest byte 99: a shape of more than 64 dimensions")],
    "shape-overflow": [
        ("", around({"w": entry(shape=[1 << 32, 1 << 32])}),
         "quick", "w", None, "manifest byte 33: the product of the shape is beyond 64 bits")],
    "alignment": [
        ("", around({"w": entry(components={"data": place(offset=65)})}),
         "quick", "w", "data", "manifest byte 172: offset 65 is not a multiple of 64")],
    "range": [
        ("beyond the end", around({"w": entry(components={"data": place(offset=1 << 20)})}),
         "quick", "w", "data", "manifest byte 175: offset 1048576 + length 1 lies beyond the data area's end, 65"),
        ("within the header", around({"w": entry(components={"data": place(offset=0)})}),
         "quick", "w", "data", "manifest byte 171: offset 0 lies in the header"),
        ("into the manifest", around({"w": entry(components={"data": place(length=2)})}),
         "quick", "w", "data", "manifest byte 172: offset 64 + length 2 lies beyond the data area's end, 65")],
    "unknown-encoding": [("", one(writer.dense(b"\1", encoding="lz4")), "quick", "w", "data", "encoding 'lz4' is not known")],
    "encoding": [
        ("no frame", zstd(b"none", 4), "full", "w", "data", "zstd: Unknown frame descriptor"),
        ("a frame cut short", zstd(writer.zstd(b"1234")[:-1], 4),
         "full", "w", "data", "zstd: the stored bytes end within a frame"),
        ("in a role that no format has", one({"shape": [1], "components": {
            "data": {"bytes": b"\1"}, "more": {"bytes": b"x", "encoding": "zstd", "uncompressed_length": 1}}}),
         "full", "w", "more", "zstd: Unknown frame descriptor")],
    "decoded-length": [
        ("less", zstd(writer.zstd(b"123"), 4), "full", "w", "data", "zstd: decodes to 3 bytes, the manifest tells 4"),
        ("more", zstd(writer.zstd(b"12345"), 4),
         "full", "w", "data", "zstd: decodes to more than the 4 bytes that the manifest tells"),
        ("against the shape, in 1.1", one(writer.dense(writer.zstd(b"123"), [4], encoding="zstd"), "1.1"), "full", "w", "data",
         "zstd: decodes to 3 bytes, the manifest tells 4")],
    "limit": [("2^65 bytes", one(LARGE, "1.1"), "quick", "w", "data", "shape and dtype make more than 2^64 bytes")],
    "missing-digest": [
        ("", writer.write({"w": writer.dense(b"\1")}), "quick", "w", "data", "there is no digest"),
        ("0.1", writer.write({"w": writer.dense(b"\1")}, "0.1"), "quick", "w", "data", "there is no digest"),
        ("of nothing", writer.write({"w": writer.dense(b"")}), "quick", "w", "data", "there is no digest")],
    "unknown-digest": [
        ("", writer.write({"w": writer.dense(b"\1", digest="md5:00")}),
         "quick", "w", "data", "digest algorithm 'md5' is not known"),
        ("xxh3", writer.write({"w": writer.dense(b"\1", digest="xxh3:0")}),
         "quick", "w", "data", "digest algorithm 'xxh3' is not known"),
        ("0.1", writer.write({"w": writer.dense(b"\1", checksum="md5:0")}, "0.1"), "quick", "w", "data",
         "digest algorithm 'md5' is not known")],
    "malformed-digest": [
        ("no colon", writer.write({"w": writer.dense(b"\1", digest="sha256")}), "quick", "w", "data", "'sha256' is no digest"),
        ("short", writer.write({"w": writer.dense(b"\1", digest="crc32c:0000000")}),
         "quick", "w", "data", "'crc32c:0000000' is no digest"),
        ("empty", writer.write({"w": writer.dense(b"\1", digest="")}), "quick", "w", "data", "'' is no digest")],
    "digest-mismatch": [
        ("crc32c", writer.write({"w": writer.dense(b"\1", digest="crc32c:0x00000000")}), "full", "w", "data",
         "the stored bytes do not have the digest 'crc32c:0x00000000'"),
        ("of the decoded bytes", writer.write({"w": writer.dense(writer.zstd(b"\1"), [1], encoding="zstd", uncompressed_length=1,
                                                                digest=digest(b"\1"))}), "full", "w", "data",
         f"the stored bytes do not have the digest '{digest(bytes([1]))}'"),
        ("a flipped byte", flipped(one(writer.dense(b"1234")), 66), "full", "w", "data",
         f"the stored bytes do not have the digest '{digest(b'1234')}'")],
    "missing-decoded-length": [
        ("", one(writer.dense(writer.zstd(b"\1"), [1], encoding="zstd")), "quick", "w", "data",
         "encoding 'zstd' without uncompressed_length"),
        ("a later version", one(writer.dense(writer.zstd(b"\1"), [1], encoding="zstd"), version="1.2.7"), "quick", "w", "data",
         "encoding 'zstd' without uncompressed_length")],
    "unknown-format": [
        ("", one(dict(writer.dense(b"\1"), format="odd")), "quick", "w", None, "no meaning of format 'odd' is known"),
        ("0.1", one(dict(writer.dense(b"\1"), format="sparse", attributes={"sparse_format": "bsr"}), "0.1"), "quick", "w", None,
         "no meaning of format 'sparse_bsr' is known")],
    "unknown-dtype": [
        ("", one(writer.dense(b"\1", dtype="i4")), "quick", "w", "data", "dtype 'i4' is not known"),
        ("a type as a dtype", one(writer.dense(b"\1", dtype="f8_e5m2")), "quick", "w", "data", "dtype 'f8_e5m2' is not known"),
        ("in a role that no format has", one({"shape": [1], "components": {
            "data": {"bytes": b"\1"}, "more": {"bytes": b"x", "dtype": "i4"}}}),
         "quick", "w", "more", "dtype 'i4' is not known")],
    "unknown-type": [("", one(writer.dense(b"\1", type="i4")), "quick", "w", "data", "type 'i4' is not known")],
    "type-storage": [("", one(writer.dense(b"\1" * 8, [1], "u64", type="complex64")), "quick", "w", "data",
                      "type 'complex64' is not stored as 'u64'")],
    "byte-order": [("", one(writer.dense(F32, [6], "f32", data_endianness="middle"), "0.1"), "quick", "w", "data",
                    "byte order 'middle' is not known")],
    "no-parts": [("", writer.write_2({"w": {"shape": [1], "components": {}}}), "quick", "w", None, "manifest byte 20: an object without parts")],
    "missing-component": [
        ("none at all", one({"shape": [1], "components": {}}), "quick", "w", None, "dense needs a component 'data'"),
        ("another", one({"shape": [1], "components": {"datum": {"bytes": b"\1"}}}),
         "quick", "w", None, "dense needs a component 'data'"),
        ("one of three", one(dict(csr(), components={k: v for k, v in csr()["components"].items() if k != "indptr"})), "quick",
         "w", None, "sparse_csr needs a component 'indptr'")],
    "length": [
        ("short", one(writer.dense(b"123", [4])), "quick", "w", "data", "4 elements of u8 are 4 bytes, and it has 3"),
        ("something for nothing", one(writer.dense(b"123", [0])),
         "quick", "w", "data", "0 elements of u8 are 0 bytes, and it has 3"),
        ("no whole number", one({"shape": [3], "format": "sparse_coo", "components": {
            "values": {"dtype": "u16", "bytes": b"123"}, "coords": {"dtype": "u64", "bytes": bytes(8)}}}), "quick", "w", "values",
         "3 bytes are no whole number of u16 elements")],
    "bool-byte": [
        ("raw", one(writer.dense(b"\0\1\2\3", dtype="bool")), "full", "w", "data", "byte 2 is 0x02: a bool is 0 or 1"),
        ("zstd", one(writer.zstd_parts(writer.dense(b"\0\1\1\xff", dtype="bool"))),
         "full", "w", "data", "byte 3 is 0xff: a bool is 0 or 1"),
        ("sparse, in 1.0", one(writer.sparse_coo([9], [(1,), (2,)], b"\1\4", "bool"), "1.0"), "full", "w", "values",
         "byte 1 is 0x04: a bool is 0 or 1"),
        ("0.1", one(writer.dense(b"\x80", dtype="bool"), "0.1"), "full", "w", "data", "byte 0 is 0x80: a bool is 0 or 1")],
    "sparse-shape": [("", one(csr(shape=(2, 3, 1))), "quick", "w", None, "sparse_csr has two dimensions, not 3")],
    "indptr": [
        ("short", one(csr(indptr=(0, 2))), "quick", "w", None, "indptr of 2 rows has 2 entries"),
        ("falls", one(csr(indptr=(0, 3, 2))), "full", "w", None, "indptr falls at row 2: from 3 to 2"),
        ("ends too early", one(csr(indptr=(0, 1, 1))), "full", "w", None, "indptr ends with 1, and there are 2 values")],
    "sparse-length": [
        ("", one(csr(indices=(1,))), "quick", "w", None, "there are 1 indices and 2 values"),
        ("coo", one(coo([(0, 0), (1, 1)], b"\1")), "quick", "w", None, "coords has 4 entries for 1 values in 2 dimensions"),
        ("a length that nothing but decoding tells", one(unstated(coo([(0, 0), (1, 1)], b"\1")), "1.1"), "full", "w", None,
         "coords has 4 entries for 1 values in 2 dimensions"),
        ("0.1", one(dict(writer.dense(b"123", [2, 2], "u8"), format="sparse", attributes={"sparse_format": "coo"}), "0.1"),
         "quick", "w", "data", "3 bytes are no whole number of values of u8 with 2 indices")],
    "index-range": [
        ("csr", one(csr(indices=(1, 3))), "full", "w", None, "column 3 in row 1, of 3 columns"),
        ("coo", one(coo([(0, 0), (3, 0)], b"\1\2")), "full", "w", None, "coordinate 3 of value 1 in dimension 0, which has 3"),
        ("negative", one(writer.sparse_coo([4], [(1,), (-1,)], b"\1\2", index="i8"), "1.1"),
         "full", "w", "coords", "entry 1 is negative")],
    "index-type": [("", one(with_float_indices(), "1.1"), "quick", "w", None, "indices and indptr are integers, not f32 and u8")],
    "index-dtype": [
        ("coo", one(coo([(0, 0), (1, 1)], b"\1\2", index="i32")), "quick", "w", "coords", "indices of 'i32', not u64")],
    "unsorted-indices": [
        ("csr", one(csr(indptr=(0, 2, 2), indices=(2, 1))), "full", "w", None,
         "stored element 1 lies in a cell before that of an earlier one"),
        ("coo", one(coo([(0, 1), (2, 2), (1, 0)], b"\1\2\3")), "full", "w", None,
         "stored element 2 lies in a cell before that of an earlier one")],
    "duplicate-indices": [
        ("csr", one(csr(indptr=(0, 2, 2), indices=(1, 1))),
         "full", "w", None, "1 of 2 stored elements lie in a cell that has one already"),
        ("coo", one(coo([(0, 1)] * 3, b"\1\2\3")),
         "full", "w", None, "2 of 3 stored elements lie in a cell that has one already")],
    "quantized-attributes": [
        ("no bits", one(quantized(bits=None)), "quick", "w", None, "quantized_group needs the attribute 'bits'"),
        ("no attributes", one({k: v for k, v in quantized().items() if k != "attributes"}), "quick", "w", None,
         "quantized_group needs the attribute 'bits'")],
    "quantized-packing": [("", one(quantized(packing="9_per_i32")), "quick", "w", None,
                           "packing '9_per_i32' does not fill words with codes of 4 bits")],
    "quantized-shape": [
        ("", one(quantized(shape=(8, 1))),
         "quick", "w", None, "the last dimension, 1, is no multiple of 8 codes in a word and 8 in a group")],
    "quantized-length": [
        ("scales", one(quantized(scales=bytes(8))), "quick", "w", None, "there are 1 groups, 2 scales and 1 zeros"),
        ("words", one(quantized(shape=(2, 8))), "quick", "w", None, "16 codes are 2 words, and there are 1")],
    "unknown-version": [
        ("1.3", one(writer.dense(b"\1"), version="1.3.0"), "quick", None, None, "version '1.3.0' is none that is known"),
        ("1.x", one(writer.dense(b"\1"), version="1.x"), "quick", None, None, "version '1.x' is none that is known"),
        ("1.0 with 1.9", one(writer.dense(b"\1"), "1.0", version="1.9"),
         "quick", None, None, "version '1.9' is none that is known")],
    "nonzero-padding": [
        ("after the header", flipped(one(writer.dense(b"\1")), 8),
         "full", None, None, "byte 8 belongs to no component and is 0x01, not 0"),
        ("before a blob", flipped(one(writer.dense(b"\1")), 63),
         "full", None, None, "byte 63 belongs to no component and is 0x01, not 0"),
        ("between blobs, in 1.0", flipped(one(coo([(0, 0)], b"\1"), "1.0"), 127), "full", None, None,
         "byte 127 belongs to no component and is 0x01, not 0"),
        ("before the manifest", flipped(one(writer.dense(b"\1"), gap=10), 74), "full", None, None,
         "byte 74 belongs to no component and is 0x01, not 0"),
        ("without any blob", flipped(one({"shape": [0], "components": {"data": {"bytes": b""}}}), 40), "full", None, None,
         "byte 40 belongs to no component and is 0x01, not 0")],
    "overlapping-blobs": [],   # Filled below
    "gap": [
        ("before a blob", one(writer.dense(b"\1"), first_offset=128),
         "quick", None, None, "bytes 8 to 128 belong to no component"),
        ("before the manifest", one(writer.dense(b"\1"), gap=65), "quick", None, None, "bytes 65 to 130 belong to no component"),
        ("in 0.1", one(writer.dense(b"\1"), "0.1", gap=65), "quick", None, None, "bytes 65 to 130 belong to no component"),
        ("without any component", file_1(cbor(root({})))[:8] + bytes(65) + file_1(cbor(root({})))[8:], "quick", None, None,
         "bytes 8 to 73 belong to no component")],
}


def overlapping(*places):
    """A file of 1.2 with a dense object for each (name, offset, length) within 256 zeros from 64 on."""
    data = bytes(256)
    objects = {name: entry(shape=[length], components={"data": place(offset=offset, length=length, digest=digest(bytes(length)))})
               for name, offset, length in places}
    manifest = cbor(root(objects))
    return MAGIC_1 + bytes(56) + data + manifest + struct.pack("<Q", len(manifest)) + MAGIC_1


BROKEN["overlapping-blobs"] = [
    ("in part", overlapping(("a", 64, 128), ("b", 128, 192)), "quick", "b", "data",
     "bytes 128 to 320 overlap those of object 'a': component 'data', 64 to 192"),
    ("a part of another", overlapping(("a", 192, 64), ("b", 64, 256)), "quick", "a", "data",
     "bytes 192 to 256 overlap those of object 'b': component 'data', 64 to 320"),
    ("of one offset", overlapping(("a", 64, 256), ("b", 64, 64)), "quick", "a", "data",
     "bytes 64 to 320 overlap those of object 'b': component 'data', 64 to 128")]


# ------------------------------------------------------------------------------------------------------------- zTensor 2

def two(object, shards=None, **footer):
    """A zTensor 2 file of one object `w`; its components have digests."""
    return writer.write_2({"w": sealed(object)}, shards=shards, **footer)


def rooted(manifest):
    """A zTensor 2 file that has only a manifest."""
    return writer.with_manifest_2(bytes(8), manifest)


def framed(stored):
    """A zTensor 2 file of one object of six u8 in frames."""
    return two(writer.dense(stored, [6], encoding=writer.SEEKABLE, decoded_length=6, digest=digest(b"abcdef")))


def mx(data=bytes(8), scales=b"\x7f\x7f", shape=(2, 4), type="f8_e5m2", **attributes):
    attributes = {"block_size": 4, "scale_form": "e8m0_exponent", **attributes}
    return {"shape": list(shape), "format": "zt.mx/1", "attributes": {k: v for k, v in attributes.items() if v is not None},
            "components": {"data": {"bytes": data, "type": type}, "scales": {"bytes": scales, "type": "f8_e8m0"}}}


def group(data=bytes(4), scales=F32[:8], packing=None, **attributes):
    attributes = {"bits": 4, "group_size": 4, "axis": 1, "scale_form": "f32_factors", "zero_point": {"form": "none"},
                  "packing": {"word": "u8", "order": "lsb_first", "per_word": 2, **(packing or {})}, **attributes}
    return {"shape": [2, 4], "format": "zt.quant_group/1", "attributes": {k: v for k, v in attributes.items() if v is not None},
            "components": {"data": {"bytes": data}, "scales": {"dtype": "f32", "bytes": scales}}}


def ggml(data=bytes(34), type="q8_0", shape=(1, 32), dtype="u8", **attributes):
    return {"shape": list(shape), "format": f"gguf.{type}/1", "attributes": attributes, "components": {"data": {"dtype": dtype, "bytes": data}}}


def more(object, **components):
    return dict(object, components={**object["components"], **components})


FRAME = writer.checked_frame(b"abc")
TABLE = {"size": 8192, "digest": digest(b"")}
SHARD = {"shape": [1], "components": {"data": {"shard": "s", "offset": 4096, "length": 1, "digest": digest(b"\1")}}}
PLACED = {"dtype": "u8", "digest": digest(b"\1")}

BROKEN.update({
    "footer-magic": [("nothing at the end", writer.write_2({}, magic=bytes(8)), "quick", None, None,
     "the file does not end with its magic number: it is cut, or something follows")],
    "manifest-hash": [("another hash", writer.write_2({}, hash=1), "quick", None, None,
     "the manifest does not have its hash, 0000000000000001")],
    "not-deterministic": [
        ("a longer number", rooted(b"\xa1\x67objects\xb8\x00"), "quick", None, None,
         "manifest byte 9: 0 in 2 bytes: not the shortest form"),
        ("keys in another order", rooted(b"\xa2\x67objects\xa0\x61a\0"), "quick", None, None,
         "manifest byte 10: a map's keys do not ascend"),
        ("an indefinite length", rooted(b"\xa1\x67objects\xbf\xff"), "quick", None, None,
         "manifest byte 9: an indefinite length"),
        ("a tag", rooted(b"\xa2\x61a\xc1\0\x67objects\xa0"), "quick", None, None, "manifest byte 3: a tag"),
        ("a wide float", rooted(b"\xa2\x61a\xfa\0\0\0\0\x67objects\xa0"), "quick", None, None,
         "manifest byte 3: a float not in its shortest form")],
    "blob-overlap": [("a part of another", writer.write_2({
        "a": {"shape": [9], "components": {"data": {"bytes": bytes(9), "digest": digest(bytes(9))}}},
        "b": {"shape": [1], "components": {"data": {"offset": 4096, "length": 1, **PLACED}}}}), "quick", "a", "data",
         "bytes 4096 to 4105 overlap those of object 'b': component 'data', 4096 to 4097")],
    "layout": [("a part too many", two(more(writer.dense(b"\1"), more={"bytes": b"\1"})), "quick", "w", None,
     "manifest byte 251: layout 'dense': its one part is 'data'")],
    "storage-dtype": [("one of no specification", two(writer.dense(b"\1", dtype="i4")), "quick", "w", "data",
     "manifest byte 125: dtype 'i4' is not known")],
    "shard-name": [("a dot first", writer.write_2({}, shards={".s": TABLE}), "quick", None, None,
     "manifest byte 12: '.s' is no name of a shard")],
    "unknown-shard": [("no table", writer.write_2({"w": SHARD}), "quick", "w", "data",
     "manifest byte 133: shard 's' is not in the table of shards")],
    "seek-table": [
        ("none", framed(writer.checked_frame(b"abcdef") + bytes(20)), "full", "w", "data",
         "zt.zstd-seekable/1: it does not end with a seek table"),
        ("frames that grow", framed(writer.checked_frame(b"ab") + writer.checked_frame(b"cdef") + writer.seek_table(
            [(len(FRAME) - 1, 2), (len(FRAME) + 1, 4)])), "full", "w", "data",
             "zt.zstd-seekable/1: frames of other sizes than the first one's"),
        ("less content", framed(FRAME + writer.seek_table([(len(FRAME), 3)])), "full", "w", "data",
         "zt.zstd-seekable/1: the seek table tells of more or fewer bytes than decoded_length")],
    "invalid-value": [
        ("a bool", two(writer.dense(b"\0\2", dtype="bool")), "full", "w", "data", "byte 1 is 0x02: a bool is 0 or 1"),
        ("half a byte", two(writer.dense(b"\x11\x11", [3], type="f4_e2m1")), "full", "w", "data",
         "the spare bits of the last byte, 0x11, are not 0")],
    "repeated-cell": [("two", two(writer.sparse_coo([2, 3], [(0, 1), (0, 1)], b"\1\2")), "full", "w", None,
     "two stored elements lie in one cell")],
    "unsorted-columns": [("two", two(writer.sparse_csr([2, 3], [0, 2, 2], [1, 0], b"\1\2")), "full", "w", None,
     "column 0 in row 0 follows column 1")],
    "mx-attributes": [("no block_size", two(mx(block_size=None)), "quick", "w", None,
     "zt.mx/1 needs the attribute 'block_size'"),
                      ("blocks of one", two(mx(block_size=1)), "quick", "w", None, "block_size is 1, not 2 or more")],
    "mx-shape": [("half a block", two(mx(shape=(4, 2))), "quick", "w", None, "dimension 1, of 2, is no multiple of 4")],
    "mx-type": [("bool", two(mx(type="bool")), "quick", "w", None, "data is of f4_e2m1, f8_e4m3fn, f8_e5m2 or i8, not bool")],
    "mx-length": [("a scale too many", two(mx(scales=b"\x7f\x7f\x7f")), "quick", "w", "scales",
     "2 elements of f8_e8m0 are 2 bytes, and it has 3")],
    "extra-component": [("of mx", two(more(mx(), more={"bytes": b"\1"})), "quick", "w", None,
     "a component 'more' is none of this zt.mx/1"),
                        ("of quant_group", two(more(group(), more={"bytes": b"\1"})), "quick", "w", None,
                         "a component 'more' is none of this zt.quant_group/1"),
                        ("of blocks", two(more(ggml(), more={"bytes": b"\1"})), "quick", "w", None,
                         "a component 'more' is none of this gguf.q8_0/1")],
    "quant-group-attributes": [("no bits", two(group(bits=None)), "quick", "w", None,
     "zt.quant_group/1 needs the attribute 'bits'"),
                               ("bits", two(group(bits=7)), "quick", "w", None, "bits is 7, not 2, 3, 4, 5, 6 or 8")],
    "quant-group-packing": [("the word", two(group(packing={"word": "u12"})), "quick", "w", None,
     "packing.word 'u12' is not known"),
                            ("the order", two(group(packing={"order": "random"})), "quick", "w", None,
                             "packing.order 'random' is not known")],
    "quant-group-shape": [("half a group", two(group(group_size=3)), "quick", "w", None,
     "dimension 1, of 4, is no multiple of 3")],
    "quant-group-length": [("a word too many", two(group(bytes(5))), "quick", "w", "data",
     "4 elements of u8 are 4 bytes, and it has 5"),
                           ("a scale too few", two(group(scales=F32[:4])), "quick", "w", "scales",
                            "2 elements of f32 are 8 bytes, and it has 4")],
    "ggml-undefined": [("q8_1", two(ggml(bytes(36), "q8_1")), "quick", "w", None, "nobody says what the elements of q8_1 are")],
    "ggml-shape": [("half a block", two(ggml(shape=(2, 16))), "quick", "w", None,
     "the last dimension, of 16, is no multiple of 32")],
    "ggml-attributes": [("another length", two(ggml(block_bytes=36)), "quick", "w", None,
     "block_bytes is 36, and that of q8_0 is 34")],
    "ggml-type": [("i8", two(ggml(dtype="i8")), "quick", "w", None, "data is of u8, not i8")],
    "ggml-length": [("a byte too many", two(ggml(bytes(35))), "quick", "w", "data",
     "34 elements of u8 are 34 bytes, and it has 35")],
})
