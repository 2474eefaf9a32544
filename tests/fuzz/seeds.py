"""Writes the seed corpus of a fuzz target into a directory: python3 seeds.py TARGET DIRECTORY

fuzz_open, fuzz_nomem and fuzz_write start from the golden and hostile files themselves, those of zTensor 2 in the short form of zt2.h, and
from files of one small object each, which mutation takes apart best; fuzz_cbor and fuzz_segments from the manifests of the former;
fuzz_zip from archives, fuzz_pickle from the pickles in them. The inputs of the others are choices, of which any bytes will do.
"""
import collections
import hashlib
import io
import pickletools
import struct
import sys
import zipfile
import zlib
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FORMATS = TESTS / "formats"
sys.path.insert(0, str(TESTS / "sql"))
import writer  # noqa: E402

MOST = 12288    # bytes of a seed: mutating what is larger seldom hits what matters
# Which replay reads: a text about as long as the limit on results takes seconds under the sanitizers
SLOW = {"ok-places.pt", "namedtuple-bomb.pt"}
FOOTER_MAGIC = b"ZTEN1000"


def files():
    """[(name, bytes)]"""
    found = sorted(path for kind in ("golden", "hostile") for path in FORMATS.glob(f"*/{kind}/**/*")
                   if path.is_file() and path.suffix not in (".json", ".md", ".txt"))
    contents = [(f"{path.parent.name}-{path.name}", path.read_bytes()) for path in found if path.stat().st_size <= MOST and path.name not in SLOW]
    assert contents, f"no files below {FORMATS}"
    return contents


def manifest(data):
    """The CBOR bytes of a file, empty if its footer does not say where they are."""
    footer = 16 if len(data) > 16 and data.endswith(FOOTER_MAGIC) else 8
    end = len(data) - footer
    size = int.from_bytes(data[max(end, 0):max(end, 0) + 8], "little")
    return data[end - size:end] if 0 < size <= end else b""


MAGIC_2 = b"\x89ZT2\r\n\x1a\n"
PAGE, CHUNK, PAGES = 4096, 256, 16    # zt2.h


def short(data):
    """A zTensor 2 file in the form of zt2.h, as far as that has room; None if it has no manifest there."""
    if len(data) < 48 or not (data.startswith(MAGIC_2) and data.endswith(MAGIC_2)):
        return None
    offset, length = struct.unpack_from("<QQ", data, len(data) - 40)
    if not 0 < length < 4000 or offset + length > len(data) - 40:
        return None
    rest = b"".join(data[at:at + CHUNK].ljust(CHUNK, b"\0") for at in range(PAGE, min(offset, PAGE * (PAGES + 1)), PAGE))
    return b"zt2" + struct.pack("<H", length) + data[offset:offset + length] + rest.rstrip(b"\0")


def shorts():
    """[(name, input)]"""
    for path in sorted((FORMATS / "ztensor").glob("golden/v2/*.zt")) + sorted((FORMATS / "ztensor").glob("hostile/2-*.zt")):
        data = short(path.read_bytes())
        if data:
            yield f"short-{path.stem}", data
    for name, tensor, generation in list(small()) + list(small_2()):
        if generation != "1.2" or "zstd" in name:
            continue
        try:
            data = short(writer.write({"t": tensor}, "2"))
        except (KeyError, ValueError):    # zTensor 2 does not have it
            continue
        if data:
            yield "short-small-" + name, data


def small_2():
    """The same of what zTensor 2 has alone."""
    floats = struct.pack("<6f", 1, -2.5, 3e38, 0, 5, 6)
    yield "seekable", writer.seekable_dense(floats, 8, [6], "f32"), "1.2"
    yield "seekable-sums", writer.seekable_dense(bytes(64), 64, [64], "u8", digest=writer.xxh3(bytes(64))), "1.2"
    yield "f4", writer.typed(b"\x21\x43\x05", [5], "f4_e2m1"), "1.2"
    yield "e8m0", writer.typed(b"\x7f\x80\x00\xff", [2, 2], "f8_e8m0"), "1.2"


def small():
    """[(name, object, generation)]: each kind of tensor once, as small as it can be."""
    types = ("f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz"
             " complex64 complex128").split()
    widths = dict(zip(types, [8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1, 1, 1, 1, 1, 8, 16]))
    pattern = bytes.fromhex("0000803f00007fc0000080ff01000000ff7f7f7f0080ff800100000000f03f7e")
    for name in types:
        yield name, writer.typed((pattern * 3)[:6 * widths[name]], [2, 3], name), "1.2"
    floats = struct.pack("<4f", 1, -2.5, 3e38, 0)
    coo = writer.sparse_coo([3, 1, 4], [(2, 0, 1), (0, 0, 3), (2, 0, 1), (1, 0, 0)], floats, "f32", "u16")
    csr = writer.sparse_csr([3, 4], [0, 2, 2, 4], [3, 0, 1, 1], floats, "f32", "i32")
    one = struct.pack("<4Q", 0, 1, 1, 2) + struct.pack("<2Q", 2, 0) + struct.pack("<2f", 1.5, -0.0)
    codes = writer.quantized([2, 8], [i % 16 for i in range(16)], 4, 4, "u32", struct.pack("<4f", 1, .5, -2, 1e38),
                             struct.pack("<4e", 0, 8, 1, 7), zero_dtype="f16")
    yield "csr", csr, "1.2"
    yield "csr-1.0", writer.csr(), "1.0"
    yield "csr-blob", dict(writer.dense(one, [3, 4], "f32"), format="sparsecsr"), "0.1"
    yield "csr-big", dict(writer.dense(one, [3, 4], "f32", data_endianness="big"), format="sparsecsr"), "0.1"
    yield "csr-empty", writer.sparse_csr([3, 0], [0, 0, 0, 0], [], b""), "1.2"
    yield "csr-huge", writer.sparse_csr([1, 1 << 62], [0, 2], [0, (1 << 62) - 1], b"\x01\x02"), "1.2"
    yield "csr-zstd", writer.zstd_parts(csr), "1.2"
    yield "coo", coo, "1.2"
    yield "coo-blob", dict(writer.dense(struct.pack("<QQfQQf", 2, 3, 1, 0, 0, 2), [3, 4], "f32"), format="sparsecoo"), "0.1"
    yield "coo-scalar", writer.sparse_coo([], [], b"\x02\x03"), "1.2"
    yield "coo-huge", writer.sparse_coo([1 << 31, 1 << 31], [(1 << 30, 5), (0, 1 << 30)], b"\x01\x02"), "1.2"
    yield "coo-empty", writer.sparse_coo([1 << 40, 0], [], b""), "1.2"
    yield "coo-ranks", writer.sparse_coo([1] * 64, [[0] * 64] * 2, b"\x01\x02", "u8", "u8"), "1.2"
    yield "coo-zstd", writer.zstd_parts(coo), "1.2"
    yield "quantized", codes, "1.2"
    yield "quantized-zstd", writer.zstd_parts(codes), "1.2"
    yield "quantized-empty", writer.quantized([0, 8], [], 2, 4, "u16", b"", b""), "1.2"
    yield "scalar", writer.dense(struct.pack("<d", 1e-310), [], "f64"), "1.2"
    yield "empty", writer.dense(b"", [1 << 40, 0, 7], "i16"), "1.2"
    yield "ones", writer.dense(b"\x07", [1] * 64), "1.2"
    yield "big", writer.dense(struct.pack(">3i", 1, -2, 1 << 30), [3], "i32", data_endianness="big"), "0.1"
    for length in {}, {"uncompressed_length": 300000}:
        name = "zstd-known" if length else "zstd"
        yield name, writer.dense(writer.zstd_repeat(b"\x3c", 300000), [1000, 150], "f16", encoding="zstd", **length), "1.2"
    yield "zstd-long", writer.dense(writer.zstd_repeat(b"\x01", 3 << 20), [3 << 20], "u8", encoding="zstd"), "1.2"


JSON = [
    b'{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}   ',
    b'[null, true, false, 0, -0, 12345, -9223372036854775808, 18446744073709551615, 18446744073709551616, -1.5e+10]',
    b'"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00 \xc3\xa9\xf0\x9f\x98\x80"', b"[" * 64 + b"]" * 64, b'{"a":' * 65 + b"1" + b"}" * 65,
    b'{"weight_map": {"a": "model-00001-of-00002.safetensors"}, "metadata": {"total_size": 24}}\r\n\t ', b'["a.zt", "b\\u0000"]', b'{"": [{}, []]}']


MAGIC_LEGACY = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"


def legacy_pickles(data):
    """The pickles at the front of a file of PyTorch before 1.6, as far as they are sound."""
    stream = io.BytesIO(data)
    for _ in range(5):
        begin = stream.tell()
        try:
            collections.deque(pickletools.genops(stream), maxlen=0)
        except Exception:
            return
        yield data[begin:stream.tell()]


def pickles():
    """[(name, pickle)]: those of PyTorch's archives, and of the files before 1.6; plain ones."""
    for name, data in files():
        if name.endswith((".pkl", ".joblib")):
            yield name, data
            continue
        if MAGIC_LEGACY in data[:64]:
            yield from ((f"{name}-{i}", pickle) for i, pickle in enumerate(legacy_pickles(data)))
            continue
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                yield from ((f"{name}-{i}", archive.read(path)) for i, path in enumerate(archive.namelist()) if path.endswith(".pkl"))
        except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, OSError, EOFError):
            continue


def seeds(target):
    if target == "fuzz_pickle":
        return [(name, data) for name, data in pickles() if len(data) <= MOST]
    if target == "fuzz_zip":
        return list(archives())
    if target == "fuzz_json":
        return [(str(i), text) for i, text in enumerate(JSON)]
    if target == "fuzz_protobuf":
        return [(name, data) for name, data in files() if name.endswith(".onnx")]
    if target in ("fuzz_open", "fuzz_nomem", "fuzz_write"):
        return files() + list(shorts()) + [("small-" + name, writer.write({"t": tensor}, generation)) for name, tensor, generation in small()]
    if target == "fuzz_segments":
        return [(name, manifest(data)) for name, data in files() if manifest(data)]
    if target == "fuzz_cbor":
        short_ones = [(name, data[5:5 + int.from_bytes(data[3:5], "little")]) for name, data in shorts()]
        return [(name, manifest(data)) for name, data in files() if manifest(data)] + short_ones
    if target in ("fuzz_sql", "fuzz_values", "fuzz_diff"):
        # Hashes: bytes without order, the same on each run.
        return [(str(i), b"".join(hashlib.sha256(b"%d %d" % (i, k)).digest() for k in range(1 + i % 4))) for i in range(256)]
    raise SystemExit(f"no seeds for {target}")


def archives():
    """Archives as they are; and in the other form of fuzz_zip.c, where they have no end record of their own."""
    for path in sorted([*(FORMATS / "npz").glob("*/*.npz"), *(FORMATS / "archive").glob("*/*.zip"), *(FORMATS / "archive").glob("*/*.dduf")]):
        data = path.read_bytes()
        if len(data) > MOST:
            continue
        yield path.stem, b"\0" + data
        size, offset = struct.unpack_from("<II", data, len(data) - 10) if data[-22:-18] == b"PK\5\6" else (0, 0)
        if 0 < size < 65536 and offset + size == len(data) - 22:
            yield "parts-" + path.stem, b"\1" + struct.pack("<H", size) + data[:-22]


def main(target, directory):
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in seeds(target):
        (directory / name).write_bytes(data)


main(*sys.argv[1:])
