"""Writes zTensor files of the generations 0.1, 1.0, 1.1, 1.2 and 2 for tests.

Only what the tests need: a CBOR encoder (RFC 7049), the five containers, and zstd frames made of raw and RLE blocks,
for which no compressor is needed. Nothing is checked here, so that a test can also write what a reader must refuse.
"""
import ctypes
import ctypes.util
import hashlib
import struct

MAGIC_0 = b"ZTEN0001"
MAGIC_1 = b"ZTEN1000"
MAGIC_2 = b"\x89ZT2\r\n\x1a\n"
ALIGNMENT = 64
ALIGNMENT_2 = 4096
LONG_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
              "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
              "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8", "bool": "bool"}


# ---------------------------------------------------------------------------------------------------------- CBOR

class Raw(bytes):
    """CBOR that is put into the output as it is: tags, simple values, indefinite lengths."""


class Pairs(list):
    """A map as a list of (key, value): any order, any key, the same key twice."""


UNDEFINED = Raw(b"\xf7")


def tag(number, value):
    return Raw(head(6, number) + cbor(value))


def simple(number):
    return Raw(head(7, number) if number < 24 else bytes([0xf8, number]))


def head(major, argument):
    """The initial byte and the argument in the fewest bytes."""
    if argument < 24:
        return bytes([major << 5 | argument])
    for information, width in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if argument < 1 << 8 * width:
            return bytes([major << 5 | information]) + argument.to_bytes(width, "big")
    raise ValueError("beyond 64 bits")


def cbor(value):
    if isinstance(value, Raw):
        return bytes(value)
    if value is None:
        return b"\xf6"
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, dict):
        value = Pairs(value.items())
    if isinstance(value, Pairs):
        return head(5, len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value)
    return head(4, len(value)) + b"".join(map(cbor, value))


def deterministic(value):
    """The value as a manifest of zTensor 2 encodes it: maps in order, floats in the fewest bytes. Raw and Pairs stay as they are."""
    if isinstance(value, dict):
        return Pairs(sorted(((k, deterministic(v)) for k, v in value.items()), key=lambda pair: cbor(pair[0])))
    if isinstance(value, (list, tuple)) and not isinstance(value, Pairs):
        return [deterministic(v) for v in value]
    return shortest(value) if isinstance(value, float) else value


def shortest(number):
    if number != number:
        return Raw(b"\xf9\x7e\x00")
    for head_byte, code in ((b"\xf9", ">e"), (b"\xfa", ">f")):
        try:
            data = struct.pack(code, number)
        except OverflowError:
            continue
        if struct.unpack(code, data)[0] == number:
            return Raw(head_byte + data)
    return Raw(b"\xfb" + struct.pack(">d", number))


# -------------------------------------------------------------------------------------------------------- digests

class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
XXHASH.XXH3_64bits.restype = XXHASH.XXH64.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
XXHASH.XXH3_128bits.restype = Hash128
XXHASH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
XXHASH.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def xxh3(data):
    """As a digest in a manifest."""
    return f"xxh3:{XXHASH.XXH3_64bits(data, len(data)):016x}"


def xxh3_128(data):
    """As in a fingerprint."""
    hash = XXHASH.XXH3_128bits(data, len(data))
    return f"xxh3-128:{hash.high:016x}{hash.low:016x}"


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


# ---------------------------------------------------------------------------------------------------- containers

def write(objects, generation="1.2", attributes=None, version=None, first_offset=ALIGNMENT, gap=0, root=None):
    """The bytes of a file.

    `objects` maps names to dicts: shape, format ("dense" if absent), components, attributes (for 0.1: custom fields), `fields` with
    any further field (1.1, 1.2, 2).
    `components` maps roles to dicts: dtype ("u8" if absent), bytes, and any further field (encoding, digest, type,
    uncompressed_length ...). In place of `bytes` there may be offset and length. A 0.1 tensor has one component, `data`.
    `first_offset` is where the first blob begins, `gap` the number of bytes between the last blob and the manifest. `root`
    is put into the root map, from 1.0 on.
    """
    if generation == "2":
        return write_2(objects, attributes, first_offset=max(first_offset, ALIGNMENT_2), gap=gap, root=root)
    body, placed = place_blobs(objects, first_offset)
    body += bytes(gap)
    if generation == "0.1":
        manifest = cbor([tensor_0_1(name, object) for name, object in placed.items()])
        return MAGIC_0 + body[8:] + manifest + struct.pack("<Q", len(manifest))
    manifest = cbor({**root_1(placed, generation, attributes, version), **(root or {})})
    end = b"" if generation == "1.0" else MAGIC_1
    return MAGIC_1 + body[8:] + manifest + struct.pack("<Q", len(manifest)) + end


def place_blobs(objects, first_offset, alignment=ALIGNMENT):
    """Puts every component's bytes at the next aligned offset. The first 8 bytes are left for the magic."""
    body = bytearray(first_offset if objects else 8)
    placed = {}
    for name, object in objects.items():
        placed[name] = dict(object, components={})
        for role, component in object.get("components", {}).items():
            component = dict(component)
            if "bytes" in component:
                blob = component.pop("bytes")
                body += bytes(-len(body) % alignment)
                component.update(offset=len(body), length=len(blob))
                body += blob
            placed[name]["components"][role] = component
    return body, placed


def root_1(objects, generation, attributes, version):
    root = {"version": version or {"1.0": "1.0", "1.1": "1.1.0", "1.2": "1.2.0"}[generation]}
    if generation == "1.0":
        root["generator"] = "tests"
    if attributes is not None:
        root["attributes"] = attributes
    build = object_1_0 if generation == "1.0" else object_1
    root["tensors" if generation == "1.0" else "objects"] = {n: build(o) for n, o in objects.items()}
    return root


def object_1(object):
    fields = {"shape": object["shape"], "format": object.get("format", "dense"), **object.get("fields", {})}
    if "attributes" in object:
        fields["attributes"] = object["attributes"]
    fields["components"] = {role: dict({"dtype": "u8"}, **c) for role, c in object["components"].items()}
    return fields


def object_1_0(object):
    """1.0 has one dtype for the whole tensor, in long names, and no attributes of a tensor."""
    components = {role: {k: v for k, v in c.items() if k != "dtype"} for role, c in object["components"].items()}
    return {"dtype": LONG_NAMES[dtype_of(object)], "shape": object["shape"],
            "format": object.get("format", "dense"), "components": components}


def tensor_0_1(name, object):
    component = dict(object["components"]["data"])
    component.pop("dtype", None)
    fields = {"name": name, "offset": component.pop("offset"), "size": component.pop("length"),
              "dtype": LONG_NAMES[dtype_of(object)], "shape": object["shape"],
              "encoding": component.pop("encoding", "raw"), "layout": object.get("format", "dense")}
    fields.update(component)
    fields.update(object.get("attributes", {}))
    return fields


# Layouts of zTensor 2 under the names that the tables give them.
LAYOUTS = {"sparse_csr": "zt.sparse_csr/1", "sparse_coo": "zt.sparse_coo/1"}


def write_2(objects, attributes=None, shards=None, first_offset=ALIGNMENT_2, gap=0, root=None, **footer):
    """A zTensor 2 file. A component's `uncompressed_length` is called decoded_length there, a bool is a u8 of type bool.

    `shards`: {name: bytes of the file}, or what the table is to say of it. `root` is put into the root map; it may replace
    what is there. `footer`: see footer_2().
    """
    body, placed = place_blobs(objects, first_offset, ALIGNMENT_2)
    fields = {"objects": {name: object_2(object) for name, object in placed.items()}}
    if attributes is not None:
        fields["attributes"] = attributes
    if shards is not None:
        fields["shards"] = {n: {"size": len(s), "digest": sha256(s)} if isinstance(s, bytes) else s for n, s in shards.items()}
    manifest = cbor(deterministic({**fields, **(root or {})}))
    return with_manifest_2(bytes(body) + bytes(gap), manifest, **footer)


def with_manifest_2(body, manifest, **footer):
    """Header and blobs, of which the first 8 bytes become the magic; the manifest behind them; the footer."""
    body += bytes(-len(body) % ALIGNMENT_2)
    return MAGIC_2 + body[8:] + manifest + footer_2(len(body), manifest, **footer)


def footer_2(offset, manifest, length=None, hash=None, version=2, reserved=0, magic=MAGIC_2):
    length = len(manifest) if length is None else length
    hash = XXHASH.XXH3_64bits(manifest, len(manifest)) if hash is None else hash
    return struct.pack("<QQQII", offset, length, hash, version, reserved) + magic


def data_shard(*blobs):
    """A file of blobs without a manifest, the first one at byte 4096."""
    body = bytes(ALIGNMENT_2) + b"".join(blob + bytes(-len(blob) % ALIGNMENT_2) for blob in blobs)
    return MAGIC_2 + body[8:] + footer_2(0, b"", hash=0)


def object_2(object):
    fields = {"shape": object["shape"], "layout": LAYOUTS.get(object.get("format"), object.get("format", "dense")),
              "parts": {role: part_2(component) for role, component in object["components"].items()},
              **object.get("fields", {})}
    if "attributes" in object:
        fields["attributes"] = object["attributes"]
    return fields


def part_2(component):
    part = {"dtype": "u8", **component}
    if "offset" in part:
        part["blob"] = [part.pop("offset"), part.pop("length")]
    if part["dtype"] == "bool":
        part.update(dtype="u8", type="bool")
    if "uncompressed_length" in part:
        part["decoded_length"] = part.pop("uncompressed_length")
    return part


def in_shard(shard, offset, length, shape=None, dtype="u8", **fields):
    """A dense object whose bytes are in a shard."""
    return {"shape": [length] if shape is None else shape,
            "components": {"data": dict(dtype=dtype, shard=shard, offset=offset, length=length, **fields)}}


def dtype_of(object):
    for role in ("data", "values"):
        if role in object["components"]:
            return object["components"][role].get("dtype", "u8")
    return "u8"


def dense(data, shape=None, dtype="u8", **fields):
    """A dense object of one component; its shape is one dimension of bytes unless given."""
    return {"shape": [len(data)] if shape is None else shape,
            "components": {"data": dict(dtype=dtype, bytes=data, **fields)}}


def sample(generation="1.2", fill=b"\x01"):
    """A small good file with two objects, the usual one for tests about something else."""
    return write({"layer1.weight": dense(fill * 12, [3, 4]), "layer1.bias": dense(b"\x02" * 4)}, generation)


def csr():
    """A 2 by 3 matrix [[0, 7, 0], [0, 0, 9]] as an object with three components."""
    return {"shape": [2, 3], "format": "sparse_csr", "components": {
        "values": {"bytes": b"\x07\x09"},
        "indices": {"dtype": "u64", "bytes": struct.pack("<2Q", 1, 2)},
        "indptr": {"dtype": "u64", "bytes": struct.pack("<3Q", 0, 1, 2)}}}


def integers(dtype, numbers):
    """Little-endian integers of a dtype such as `u64`."""
    return b"".join(n.to_bytes(int(dtype[1:]) // 8, "little", signed=dtype[0] == "i") for n in numbers)


def sparse_csr(shape, indptr, indices, values, dtype="u8", index="u64", **fields):
    """A CSR object. `values`: bytes of elements of `dtype`; `index`: the dtype of the two others; `fields`: of values."""
    return {"shape": shape, "format": "sparse_csr", "components": {
        "values": dict(dtype=dtype, bytes=values, **fields),
        "indices": {"dtype": index, "bytes": integers(index, indices)},
        "indptr": {"dtype": index, "bytes": integers(index, indptr)}}}


def sparse_coo(shape, coords, values, dtype="u8", index="u64", **fields):
    """A COO object. `coords`: the coordinates of one value after the other; they are stored dimension by dimension."""
    return {"shape": shape, "format": "sparse_coo", "components": {
        "values": dict(dtype=dtype, bytes=values, **fields),
        "coords": {"dtype": index, "bytes": b"".join(integers(index, axis) for axis in zip(*coords))}}}


def packed(codes, bits, word):
    """Codes in words of a dtype, the first in the lowest bits."""
    width = int(word[1:])
    count = width // bits
    words = [sum(c << bits * i for i, c in enumerate(codes[at:at + count])) for at in range(0, len(codes), count)]
    return integers("u" + word[1:], words)


def quantized(shape, codes, bits, group_size, word, scales, zeros, scale_dtype="f32", zero_dtype="f32"):
    """A quantized_group object; `scales` and `zeros` are bytes."""
    return {"shape": shape, "format": "quantized_group",
            "attributes": {"bits": bits, "group_size": group_size, "packing": f"{int(word[1:]) // bits}_per_{word}"},
            "components": {"packed_weight": {"dtype": word, "bytes": packed(codes, bits, word)},
                           "scales": {"dtype": scale_dtype, "bytes": scales},
                           "zeros": {"dtype": zero_dtype, "bytes": zeros}}}


def sealed(object, generation="1.2"):
    """The same object with a digest for each component that has none and whose bytes are there."""
    key = "checksum" if generation == "0.1" else "digest"
    parts = {role: {key: sha256(c["bytes"]), **c} if "bytes" in c else c for role, c in object["components"].items()}
    return dict(object, components=parts)


def one(object, generation="1.2", **options):
    """A file of one object `w`; its components have digests."""
    return write({"w": sealed(object, generation)}, generation, **options)


def typed(data, shape, type, **fields):
    """A dense object of one of the storage or logical types of 1.2."""
    storage = {"complex64": "f32", "complex128": "f64"}.get(type, "u8" if type.startswith("f8_") else type)
    return dense(data, shape, storage, **fields) if storage == type else dense(data, shape, storage, type=type, **fields)


def zstd_parts(object):
    """The same object with all of its components compressed."""
    parts = {role: dict(c, bytes=zstd(c["bytes"]), encoding="zstd", uncompressed_length=len(c["bytes"]))
             for role, c in object["components"].items()}
    return dict(object, components=parts)


def sparse_file(path, shape, dtype, size, tail):
    """Writes a file of one dense object `w` of so many bytes, a hole but for its last ones, `tail`."""
    whole = write({"w": {"shape": shape, "components": {"data": {"dtype": dtype, "offset": 64, "length": size}}}})
    with open(path, "wb") as file:
        file.write(whole[:8])
        file.seek(64 + size - len(tail))
        file.write(tail + whole[8:])
    return str(path)


# ---------------------------------------------------------------------------------------------------------- zstd

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
WINDOW_128_KIB = b"\x38"  # exponent 7, mantissa 0: 1 << (10 + 7), RFC 8878 section 3.1.1.1.2
BLOCK = 1 << 17


def zstd_frame(blocks, checksum=None, content=None):
    """A frame. `blocks`: (type, size, bytes), type 0 raw, 1 RLE; `checksum`: of the content, if any; `content`: its size, if the
    header states it."""
    flags = (0 if checksum is None else 4) + (0 if content is None else 0x80)
    out = ZSTD_MAGIC + bytes([flags]) + WINDOW_128_KIB + (b"" if content is None else struct.pack("<I", content))
    for i, (kind, size, content) in enumerate(blocks):
        last = i == len(blocks) - 1
        out += (size << 3 | kind << 1 | last).to_bytes(3, "little") + content
    return out if checksum is None else out + struct.pack("<I", checksum)


def zstd(data, content=None):
    """`data` in raw blocks: not smaller, but zstd. `content`: what the header states."""
    pieces = [data[i:i + BLOCK] for i in range(0, len(data), BLOCK)] or [b""]
    return zstd_frame([(0, len(piece), piece) for piece in pieces], content=content)


def zstd_frames(data, each):
    """The same in frames of `each` bytes, which state their content."""
    pieces = [data[i:i + each] for i in range(0, len(data), each)]
    return b"".join(zstd(piece, len(piece)) for piece in pieces)


def zstd_repeat(byte, count):
    """`count` times `byte`, four bytes for every 128 KiB."""
    sizes = [min(BLOCK, count - i) for i in range(0, count, BLOCK)]
    return zstd_frame([(1, size, byte) for size in sizes])


SEEKABLE = "zt.zstd-seekable/1"


def checked_frame(data):
    """A frame with a content checksum, in raw blocks."""
    pieces = [data[i:i + BLOCK] for i in range(0, len(data), BLOCK)] or [b""]
    return zstd_frame([(0, len(piece), piece) for piece in pieces], XXHASH.XXH64(data, len(data), 0) & 0xffffffff)


def seek_table(entries, checksums=False):
    """`entries`: (stored bytes, content bytes) of each frame."""
    rows = b"".join(struct.pack("<II", *entry) + (b"\0\0\0\0" if checksums else b"") for entry in entries)
    content = rows + struct.pack("<IBI", len(entries), 0x80 if checksums else 0, 0x8f92eab1)
    return struct.pack("<II", 0x184d2a5e, len(content)) + content


def seekable(data, size, checksums=False):
    """`data` in frames of `size` bytes and a table of them."""
    pieces = [data[i:i + size] for i in range(0, len(data), size)]
    frames = [checked_frame(piece) for piece in pieces]
    return b"".join(frames) + seek_table([(len(f), len(p)) for f, p in zip(frames, pieces)], checksums)


def seekable_dense(data, size, shape=None, dtype="u8", **fields):
    """A dense object of zTensor 2 so encoded."""
    shape = [len(data)] if shape is None else shape
    return dense(seekable(data, size), shape, dtype, encoding=SEEKABLE, decoded_length=len(data), **fields)
