#!/usr/bin/python3
"""Writes hostile/: archives of PyTorch that break one rule each or look odd, and cases.json. Byte by byte, after Python's pickletools.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them. A pickle
that would call something makes a directory PICKLE_WAS_EXECUTED if somebody calls it.
"""
import hashlib
import io
import json
import math
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent / "hostile"
ONES = struct.pack("<4f", 1, 2, 3, 4)
MARK, TUPLE, REDUCE, STOP = b"(", b"t", b"R", b"."


# --------------------------------------------------------------------------------------------------- pickles, in pieces

def text(value):
    raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return b"X" + struct.pack("<I", len(raw)) + raw


def integer(n):
    return b"\x8a\x09" + n.to_bytes(9, "little", signed=True)


def put(value):
    """Anything plain as opcodes; bytes are opcodes already."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, tuple):
        return MARK + b"".join(map(put, value)) + TUPLE
    if isinstance(value, list):
        return b"](" + b"".join(map(put, value)) + b"e"
    if isinstance(value, dict):
        return b"}(" + b"".join(put(k) + put(v) for k, v in value.items()) + b"u"
    return integer(value)


def name(module, what):
    return f"c{module}\n{what}\n".encode()


def call(module, what, *args):
    return name(module, what) + put(args) + REDUCE


def built(module, what, state):
    """The pickle of an object of a class: made without being initialized, and then given a state."""
    return name(module, what) + b")\x81" + put(state) + b"b"


def ordered(items=None):
    return call("collections", "OrderedDict") + (MARK + b"".join(put(k) + put(v) for k, v in items.items()) + b"u" if items else b"")


def storage(key="0", elements=4, kind="FloatStorage", module="torch", location="cpu", view=()):
    """view: (None,) or ((key, offset, elements),) in files before 1.6."""
    return put(("storage", name(module, kind), key, location, elements, *view)) + b"Q"


def tensor(shape=(4,), stride=(1,), offset=0, metadata=None, **of):
    more = () if metadata is None else (metadata,)
    return call("torch._utils", "_rebuild_tensor_v2", storage(**of), offset, shape, stride, False, ordered(), *more)


def sparse(layout, *parts):
    return call("torch._utils", "_rebuild_sparse_tensor", call("torch.serialization", "_get_layout", f"torch.sparse_{layout}"), parts)


def evil():
    return call("posix", "mkdir", "PICKLE_WAS_EXECUTED")


def pickled(value):
    return b"\x80\x02" + put(value) + STOP


def archive(data, storages=None, methods=None, constants=None, **records):
    """The archive m of a pickle, its storages by key, and other records by name; None: not even that."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as z:
        def add(path, raw):
            z.writestr(zipfile.ZipInfo(f"m/{path}", (1980, 1, 1, 0, 0, 0)), raw, (methods or {}).get(path, zipfile.ZIP_STORED))
        if data is not None:
            add("data.pkl", data)
        for key, raw in ({"0": ONES} if storages is None else storages).items():
            add(f"data/{key}", raw)
        for path, raw in (constants or {}).items():
            add(path, raw)
        for path, raw in {"version": b"3\n", **records}.items():
            if raw is not None:
                add(path, raw)
    return buffer.getvalue()


def of(value, **options):
    return archive(pickled(value), **options)


def beside(value, **options):
    """A tensor w that has the fault, and v that has none."""
    return of({"w": value, "v": tensor()}, **options)


def sparse_beside(layout, size, indptr, indices, shape):
    """A sparse tensor of compressed rows or columns, whose values have that shape."""
    n = math.prod(shape)
    stride = tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))
    storages = {"0": ONES, "a": struct.pack(f"<{len(indptr)}q", *indptr), "b": struct.pack(f"<{len(indices)}q", *indices),
                "c": struct.pack(f"<{n}f", *range(1, n + 1))}
    return beside(sparse(layout, tensor((len(indptr),), key="a", elements=len(indptr), kind="LongStorage"),
                         tensor((len(indices),), key="b", elements=len(indices), kind="LongStorage"), tensor(shape, stride, key="c", elements=n), size),
                  storages=storages)


def raw(opcodes):
    return archive(opcodes)


MAGIC = b"\x8a\x0a" + (0x1950a86a20f9469cfc6c).to_bytes(10, "little")
SYSTEM = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


def legacy(value, storages=None, keys=None, magic=MAGIC, version=1001, system=SYSTEM, behind=b""):
    """A file before 1.6: its pickles, and the storages by key: (how many elements it says, bytes)."""
    storages = {"0": (4, ONES)} if storages is None else storages
    pickles = b"".join(map(pickled, (magic, version, system, value, list(storages) if keys is None else keys)))
    return pickles + b"".join(struct.pack("<Q", n) + raw for n, raw in storages.values()) + behind


def old(shape=(4,), stride=(1,), offset=0, view=(None,), **of):
    return tensor(shape, stride, offset, view=view, **of)


def legacy_beside(value, **options):
    """A tensor v that has no fault, and then w, that has one."""
    return legacy({"v": old(), "w": value}, **options)


def deflated(value, change=None):
    """data.pkl is deflated; then bytes are put behind places where its name, or what it decodes to, is told: (place, offset, bytes)."""
    data = bytearray(of(value, methods={"data.pkl": zipfile.ZIP_DEFLATED}))
    if change:
        place, offset, new = change
        at = {"data": data.find(b"m/data.pkl"), "entry": data.rfind(b"PK\1\2", 0, data.rfind(b"m/data.pkl"))}[place] + offset
        data[at:at + len(new)] = new
    return bytes(data)


def with_crc(record, crc):
    """The directory states that CRC-32 of a record."""
    data = bytearray(of({"w": tensor()}))
    at = data.rfind(b"PK\1\2", 0, data.rfind(record.encode()))
    struct.pack_into("<I", data, at + 16, crc)
    return bytes(data)


def bomb():
    """18 MiB in 18 KB."""
    return archive(b"\x80\x02" + b"N0" * (9 << 20) + b"N.", methods={"data.pkl": zipfile.ZIP_DEFLATED})


def stored_pickle(data):
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        return z.getinfo("m/data.pkl").compress_size


def tar():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as t:
        info = tarfile.TarInfo("storages")
        t.addfile(info, io.BytesIO(b""))
    return buffer.getvalue()


def with_encrypted():
    """The flag of the member m/data/1, in its local header and in the directory."""
    data = bytearray(beside(tensor(key="1"), storages={"0": ONES, "1": ONES}))
    where = data.find(b"PK\3\4", data.find(b"m/data/0"))
    data[where + 6] |= 1
    entry = data.rfind(b"PK\1\2", 0, data.rfind(b"m/data/1"))
    data[entry + 8] |= 1
    return bytes(data)


def with_encrypted_pickle():
    data = bytearray(of({"w": tensor()}))
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


def with_lost_header():
    data = bytearray(beside(tensor(key="1"), storages={"0": ONES, "1": ONES}))
    data[data.find(b"PK\3\4", data.find(b"m/data/0"))] = 0
    return bytes(data)


def nested(depth):
    return b"\x80\x02N" + b"\x85" * depth + STOP


def many_places(levels, opening=b"K\x05"):
    """2^levels values."""
    return b"\x80\x02" + opening + b"q\0" + b"h\0h\0\x86q\0" * levels + STOP


def wide_paths():
    """A key of 100,000 bytes before each of 1,000 values."""
    return b"\x80\x02" + text("k" * 100000) + b"q\0" + b"}(" + b"K\0" + b"}(h\0](" + b"N" * 1000 + b"eu" + b"u" + STOP


def long_path(levels):
    """A key of 100,000 bytes on each level."""
    return b"\x80\x02" + text("k" * 100000) + b"q\0" + b"}(h\0" * levels + b"N" + b"u" * levels + STOP


# --------------------------------------------------------------------------------------------------------------- cases

def cases():
    """(file, contents, what becomes of it, rule's number, zt_check's name of it, object, message, what is wrong)"""
    refused = "open_error"
    no_bytes = "lists_but_no_bytes"
    rows = [
        ("legacy-tar", tar(), refused, "PT1", "torch-legacy", None, "a file of PyTorch before 0.1.10, which is a tar archive: it is not read",
         "the format before 0.1.10"),
        ("no-pickle", archive(None), refused, "PT2", "torch-no-pickle", None, "an archive of PyTorch without a record 'm/data.pkl'", "no data.pkl"),
        ("compressed-pickle", archive(pickled({"w": tensor()}), methods={"data.pkl": zipfile.ZIP_BZIP2}), refused, "PT3", "torch-pickle", None,
         "record 'm/data.pkl' is compressed by 'bzip2'", "data.pkl is compressed by another method than deflate"),
        ("pickle-encrypted", with_encrypted_pickle(), refused, "PT3", "torch-pickle", None, "record 'm/data.pkl': it is encrypted",
         "the pickle's member is encrypted"),
        ("deflated-bomb", bomb(), refused, "PT3", "torch-pickle", None,
         f"record 'm/data.pkl' decodes to {(18 << 20) + 4} bytes, for {stored_pickle(bomb())} that are stored", "a pickle that is little but for its size"),
        ("deflated-huge", deflated({"w": tensor()}, ("entry", 24, b"\xf0\xff\xff\xff")), refused, "PT3", "torch-pickle", None,
         "record 'm/data.pkl' has 4294967280 bytes, 256 MiB are the most", "a deflated pickle that says 4 GB"),
        ("deflated-broken", deflated({"w": tensor()}, ("data", 10, b"\xff" * 8)), refused, "E2", "encoding", None, "deflate: an invalid block",
         "a deflated pickle that is no stream"),
        ("deflated-short", deflated({"w": tensor()}, ("entry", 24, b"\x00\x01")), refused, "E3", "decoded-length", None,
         "deflate: record 'm/data.pkl' decodes to fewer bytes than the 256 that the directory states", "a deflated pickle that says 256 bytes"),
        ("deflated-long", deflated({"w": tensor()}, ("entry", 24, b"\x05\x00")), refused, "E3", "decoded-length", None,
         "deflate: record 'm/data.pkl' decodes to more bytes than the 5 that the directory states", "a deflated pickle that says 5 bytes"),
        ("deflated-crc", deflated({"w": tensor()}, ("entry", 16, b"\0\0\0\0")), refused, "PT20", "torch-pickle-crc", None,
         f"record 'm/data.pkl' has the digest crc32:{zlib.crc32(pickled({'w': tensor()})):08x}, and the directory states crc32:00000000",
         "another CRC-32"),
        ("twice", of({"w": tensor()}, **{"data/x": bytes(16)}).replace(b"m/data/x", b"m/data/0"), refused, "PT24", "torch-record-name", None,
         "record 'm/data/0' stands twice in the archive, or in another case, and PyTorch reads either", "two records of one name"),
        ("twice-case", of({"w": tensor()}, **{"DATA/0": bytes(16)}), refused, "PT24", "torch-record-name", None,
         "record 'm/DATA/0' stands twice in the archive, or in another case, and PyTorch reads either", "two records whose names differ in case"),
        ("twice-pickle", of({"w": tensor()}, **{"data.PKL": pickled({})}), refused, "PT24", "torch-record-name", None,
         "record 'm/data.PKL' stands twice in the archive, or in another case, and PyTorch reads either", "two pickles"),
        ("case", of({"w": tensor()}, BYTEORDER=b"big"), refused, "PT24", "torch-record-name", None,
         "record 'm/BYTEORDER' is spelled in another case, and PyTorch reads it all the same", "a byte order that torch finds"),
        # Before 1.6
        ("legacy-magic", legacy({}, magic=MAGIC + b"0K\1"), refused, "PT15", "torch-legacy-version", None,
         "the first pickle is not PyTorch's magic number", "the magic number is taken from the stack again"),
        ("legacy-version", legacy({}, version=1002), refused, "PT15", "torch-legacy-version", None, "version 1002, not 1001", "a version that there is not"),
        ("legacy-version-text", legacy({}, version="1001"), refused, "PT15", "torch-legacy-version", None, "the second pickle is not the number 1001",
         "a version that is a text"),
        ("legacy-cut-system", legacy({})[:60], refused, "PK2", "pickle-cut", None, "pickle 3 of 5: byte 25: LONG1: its argument goes beyond the "
         "pickle's end", "it ends within the third pickle"),
        ("legacy-opcode", legacy({"w": b"\xff"}), refused, "PK1", "pickle-opcode", None, "pickle 4 of 5: byte 10: opcode 0xff is not known",
         "an opcode that does not exist"),
        ("legacy-stack", legacy(b"0"), refused, "PK4", "pickle-stack", None, "pickle 4 of 5: byte 2: POP: it takes more than is on the stack",
         "nothing to take from the stack"),
        ("legacy-keys-missing", legacy({"w": 1}, storages={})[:-6], refused, "PK2", "pickle-cut", None, "pickle 5 of 5: the pickle ends at byte 0 without STOP",
         "no list of keys"),
        ("legacy-keys", legacy({"w": old()}, keys={"0": "0"}), refused, "PT16", "torch-keys", None, "the fifth pickle is not a list of texts", "a dict of keys"),
        ("legacy-key-number", legacy({"w": old()}, keys=[0]), refused, "PT16", "torch-keys", None, "the fifth pickle is not a list of texts",
         "a key that is a number"),
        ("legacy-key-twice", legacy({"w": old()}, keys=["0", "1", "0"]), refused, "PT16", "torch-keys", None, "the storage '0' stands twice in the list",
         "one key twice"),
        ("deep", raw(nested(60000)), refused, "PT4", "torch-depth", None, "values are nested more than 1000 deep", "60,000 tuples, one in the other"),
        ("deep-1001", raw(nested(1001)), refused, "PT4", "torch-depth", None, "values are nested more than 1000 deep", "one more than there may be"),
        ("key-twice", raw(b"\x80\2}(" + text("a") + integer(1) + text("a") + integer(2) + b"u."), refused, "PT13", "torch-key-twice", None,
         "a dict has the key 'a' twice", "one key twice in a dict"),
        ("key-twice-equal", raw(b"\x80\2}(K\1K\1\x88K\2u."), refused, "PT13", "torch-key-twice", None, "a dict has the key '1' twice", "1 and True"),
        ("places-of-texts", raw(b"\x80\2" + text("x" * 30000) + b"q\0(" + b"h\0" * 4096 + b"t."), refused, "PT7", "torch-size", None,
         "paths and values take more than 17388480 bytes, for a pickle of 38204", "4,096 times a text of 30,000 bytes"),
        ("paths", raw(wide_paths()), refused, "PT7", "torch-size", None, "paths and values take more than 18393584 bytes, for a pickle of 101023",
         "a long key before 1,000 values"),
        ("ok-path-nul", of({"a\0b": 1, "\0": tensor()}), "ok", None, None, None, None, "U+0000 in keys"),
        ("path-long", raw(long_path(11)), refused, "PT6", "torch-path", None, "a path of more than 1048576 bytes", "1.1 MB"),
        ("byteorder", of({"w": tensor()}, byteorder=b"middle"), refused, "PT14", "torch-byteorder", None,
         "record 'm/byteorder' says 'middle', not 'little' or 'big'", "neither of the two"),
        # Pickles
        ("opcode", raw(b"\x80\x02\xff."), refused, "PK1", "pickle-opcode", None, "byte 2: opcode 0xff is not known", "an opcode that does not exist"),
        ("stop-missing", raw(b"\x80\x02N"), refused, "PK2", "pickle-cut", None, "the pickle ends at byte 3 without STOP", "no STOP"),
        ("empty-pickle", raw(b""), refused, "PK2", "pickle-cut", None, "the pickle ends at byte 0 without STOP", "no opcode at all"),
        ("argument-cut", raw(b"\x80\x02X\x05\0\0\0abc."), refused, "PK2", "pickle-cut", None,
         "byte 2: BINUNICODE: its argument goes beyond the pickle's end", "a text longer than the pickle"),
        ("argument-cut-8", raw(b"\x80\x04\x8d" + b"\xff" * 8 + b"."), refused, "PK2", "pickle-cut", None,
         "byte 2: BINUNICODE8: its argument goes beyond the pickle's end", "a text of 2^64 - 1 bytes"),
        ("line-cut", raw(b"Vabc."), refused, "PK2", "pickle-cut", None, "byte 0: UNICODE: its argument goes beyond the pickle's end", "no newline"),
        ("frame-cut", raw(b"\x80\x04\x95" + struct.pack("<Q", 100) + b"N."), refused, "PK2", "pickle-cut", None,
         "byte 2: FRAME: it goes beyond the pickle's end", "a frame longer than the pickle"),
        ("protocol", raw(b"\x80\x06N."), refused, "PK3", "pickle-argument", None, "byte 0: PROTO: protocol 6 is not known", "protocol 6"),
        ("negative-length", raw(b"T\xff\xff\xff\xff."), refused, "PK3", "pickle-argument", None, "byte 0: BINSTRING: a negative length", "-1 bytes"),
        ("no-digits", raw(b"I12x\n."), refused, "PK3", "pickle-argument", None, "byte 0: INT: a character that is not a digit", "12x"),
        ("many-digits", raw(b"L" + b"1" * 4301 + b"L\n."), refused, "PK3", "pickle-argument", None, "byte 0: LONG: more than 4300 digits",
         "more digits than Python reads"),
        ("no-real", raw(b"Fone\n."), refused, "PK3", "pickle-argument", None, "byte 0: FLOAT: an invalid real number", "a word"),
        ("no-quotes", raw(b"S'abc\n."), refused, "PK3", "pickle-argument", None, "byte 0: STRING: no quotes around the text", "one quote"),
        ("escape", raw(b"V\\u12\n."), refused, "PK3", "pickle-argument", None, "byte 0: UNICODE: an invalid escape", "two digits of four"),
        ("memo-key", raw(b"Np-1\n."), refused, "PK3", "pickle-argument", None, "byte 1: PUT: an invalid key of the memo", "a negative key"),
        ("stack-empty", raw(b"\x80\x02."), refused, "PK4", "pickle-stack", None, "byte 2: STOP: it takes more than is on the stack", "nothing to stop with"),
        ("stack-mark", raw(b"N(\x86."), refused, "PK4", "pickle-stack", None, "byte 2: TUPLE2: a mark stands where it takes a value", "a mark in a tuple"),
        ("append-to-a-number", raw(b"K\1Na."), refused, "PK4", "pickle-stack", None,
         "byte 3: APPEND: the container to fill is not a list", "a number is no list"),
        ("key-alone", raw(b"}(K\1u."), refused, "PK4", "pickle-stack", None, "byte 4: SETITEMS: a key without a value", "an odd number of them"),
        ("build-of-a-list", raw(b"]}b."), refused, "PK4", "pickle-stack", None,
         "byte 2: BUILD: the object for this state is not the result of a call", "a list has no state"),
        ("global-of-numbers", raw(b"\x80\x04K\1K\1\x93."), refused, "PK4", "pickle-stack", None,
         "byte 6: STACK_GLOBAL: module and name are not both text", "numbers for names"),
        ("buffer", raw(b"\x80\x05\x97."), refused, "PK4", "pickle-stack", None, "byte 2: NEXT_BUFFER: its buffer is not in the pickle",
         "a buffer out of band"),
        ("mark-missing", raw(b"\x80\x02}u."), refused, "PK5", "pickle-mark", None, "byte 3: SETITEMS: there is no mark on the stack", "SETITEMS without a mark"),
        ("memo-unset", raw(b"\x80\x02h\7."), refused, "PK6", "pickle-memo", None, "byte 2: BINGET: the memo has no entry 7", "an entry that nobody wrote"),
        ("memo-unset-large", raw(b"Nr\xff\xff\xff\x7fj\xfe\xff\xff\x7f."), refused, "PK6", "pickle-memo", None,
         "byte 6: LONG_BINGET: the memo has no entry 2147483646", "beside one that somebody did"),
        # Tensors
        ("storage-missing", beside(tensor(key="7")), no_bytes, "PT9", "torch-storage", "w",
         "the archive has no record 'data/7' of its storage", "no record data/7"),
        ("storage-encrypted", with_encrypted(), no_bytes, "ZP8", "zip-encrypted", "w", "it is encrypted", "its member is encrypted"),
        ("storage-without-header", with_lost_header(), no_bytes, "ZP10", "zip-local-header", "w", "byte 436: no local header of member 'm/data/1'",
         "its local header is none"),
        ("offset-negative", beside(tensor(offset=-1)), no_bytes, "PT10", "torch-stride", "w", "a negative offset or stride", "offset -1"),
        ("stride-negative", beside(tensor(stride=(-1,), offset=3)), no_bytes, "PT10", "torch-stride", "w", "a negative offset or stride", "stride -1"),
        ("stride-overflow", beside(tensor((3, 3), (2**63 - 1, 2**63 - 1))), no_bytes, "PT10", "torch-stride", "w",
         "its strides lead beyond 2^64 elements", "strides of 2^63 - 1"),
        ("shape-negative", beside(tensor((-1,))), no_bytes, "PT8", "torch-shape", "w", "its shape has a negative dimension", "a dimension of -1"),
        ("shape-overflow", beside(tensor((2**32, 2**32), (0, 0))), no_bytes, "PT8", "torch-shape", "w",
         "the product of its dimensions does not fit 64 bits", "2^64 elements in one"),
        ("past-storage", beside(tensor((5,))), no_bytes, "PT11", "torch-view", "w",
         "5 elements from element 0 end beyond its storage, which has 16 bytes", "one element more than there is"),
        ("past-storage-strided", beside(tensor((2, 2), (2, 2))), no_bytes, "PT11", "torch-view", "w",
         "5 elements from element 0 end beyond its storage, which has 16 bytes", "strides lead behind it"),
        ("past-storage-offset", beside(tensor((1,), offset=2**62)), no_bytes, "PT11", "torch-view", "w",
         "1 elements from element 4611686018427387904 end beyond its storage, which has 16 bytes", "its first byte would wrap"),
        ("record-short", beside(tensor(elements=5)), no_bytes, "PT12", "torch-record", "w",
         "its storage has 5 elements, and the record 16 bytes", "a record shorter than its storage"),
        ("record-negative", beside(tensor(elements=-4)), no_bytes, "PT12", "torch-record", "w",
         "its storage has -4 elements, and the record 16 bytes", "less than nothing"),
        ("legacy-key-missing", legacy_beside(old(key="7")), no_bytes, "PT9", "torch-storage", "w", "the file has no storage '7'", "a key that is not in the list"),
        ("legacy-key-unused", legacy_beside(old(key="7"), storages={"0": (4, ONES), "x": (4, ONES), "7": (4, ONES)}), no_bytes, "PT17", "torch-width", "w",
         "no class of storage 'x' is known, so that its size and all later places are not known", "a key that no tensor has, before another"),
        ("legacy-cut-storage", legacy_beside(old(key="7"), storages={"0": (4, ONES), "7": (4, ONES[:15])}), no_bytes, "PT18", "torch-cut", "w",
         "storage '7' has 4 elements of 4 bytes, and there are 15 bytes from there on", "the last byte is missing"),
        ("legacy-cut-count", legacy_beside(old(key="7"), storages={"0": (4, ONES), "7": (4, b"")})[:-1], no_bytes, "PT18", "torch-cut", "w",
         "the file ends where its storage should begin", "it ends within a count"),
        ("legacy-numel-huge", legacy_beside(old(key="7"), storages={"0": (4, ONES), "7": (2**62 + 4, ONES)}), no_bytes, "PT18", "torch-cut", "w",
         "storage '7' has 4611686018427387908 elements of 4 bytes, and there are 16 bytes from there on", "a count whose bytes do not fit 64 bits"),
        ("legacy-numel-more", legacy_beside(old(key="7"), storages={"0": (4, ONES), "7": (5, ONES + ONES[:4])}), no_bytes, "PT12", "torch-record", "w",
         "its storage has 4 elements, and the file 20 bytes", "a storage longer than the pickle says, which torch refuses"),
        ("legacy-numel-less", legacy_beside(old(key="7", shape=(3,)), storages={"0": (4, ONES), "7": (3, ONES[:12])}), no_bytes, "PT12", "torch-record", "w",
         "its storage has 4 elements, and the file 12 bytes", "a shorter one"),
        ("legacy-two-classes", legacy_beside(old(kind="IntStorage")), no_bytes, "PT19", "torch-class", "w",
         "its storage is of class IntStorage, and of FloatStorage elsewhere", "two classes for one storage"),
        ("legacy-view-beyond", legacy_beside(old(shape=(1,), view=(("v", 3, 2),))), no_bytes, "PT11", "torch-view", "w",
         "a view of 2 elements from 3 on does not lie in its storage, which has 16 bytes", "a storage's view ends behind it"),
        ("legacy-view-negative", legacy_beside(old(shape=(1,), view=(("v", -1, 2),))), no_bytes, "PT11", "torch-view", "w",
         "a view of 2 elements from -1 on does not lie in its storage, which has 16 bytes", "a storage's view begins before it"),
        ("legacy-view-narrow", legacy_beside(old(shape=(3,), view=(("v", 1, 2),))), no_bytes, "PT11", "torch-view", "w",
         "3 elements from element 0 end beyond its storage's view, which has 8 bytes", "a tensor ends in its storage, but behind the view of it"),
        ("legacy-past-storage", legacy_beside(old(key="7", shape=(5,)), storages={"0": (4, ONES), "7": (4, ONES), "8": (4, ONES)}), no_bytes, "PT11",
         "torch-view", "w", "5 elements from element 0 end beyond its storage, which has 16 bytes", "what follows is another storage"),
        ("negative-bool", beside(tensor(kind="BoolStorage", elements=4, metadata={"neg": True})), "lists_but_no_dense", "L1",
         "unknown-format", "w", "no meaning of format 'torch.neg' is known", "booleans that are to be negated"),
        ("sparse-blocks", sparse_beside("bsr", (5, 6), [0, 1, 2], [0, 1], (2, 2, 3)), "lists_but_no_dense", "P8", "sparse-blocks", "w",
         "blocks of 2 x 3 do not fill 5 x 6", "blocks of two rows in a matrix of five"),
        ("sparse-no-blocks", sparse_beside("bsc", (4, 6), [0, 0], [], (0, 0, 3)), "lists_but_no_dense", "P8", "sparse-blocks", "w",
         "blocks of 0 x 3 do not fill 4 x 6", "blocks without rows"),
        ("csc-row", sparse_beside("csc", (3, 2), [0, 1, 2], [0, 3], (2,)), "lists_but_no_dense", "P4", "index-range", "w",
         "row 3 in column 1, of 3 rows", "a row that the shape does not have"),
        ("bsr-column", sparse_beside("bsr", (4, 6), [0, 1, 2], [0, 2], (2, 2, 3)), "lists_but_no_dense", "P4", "index-range", "w",
         "column 2 in row 1, of 2 columns", "a block beyond the last column"),
        ("bsr-length", sparse_beside("bsr", (4, 6), [0, 1, 2], [0, 1], (1, 2, 3)), "lists_but_no_dense", "P3", "sparse-length", "w",
         "there are 2 indices of blocks of 6, and 6 values", "one block for two indices"),
        ("bsc-indptr", sparse_beside("bsc", (4, 6), [0, 1, 3], [0, 1], (2, 2, 3)), "lists_but_no_dense", "P2", "indptr", "w",
         "indptr ends with 3, and there are 2 blocks", "indptr counts one block more"),
        # Odd, and read
        ("ok-crc", with_crc("m/data/0", 1), "ok", "PT21", "torch-record-crc", None, "member 'm/data/0' does not have the digest 'crc32:00000001' of the archive's directory",
         "a storage with another CRC-32"),
        ("ok-crc-pickle", with_crc("m/data.pkl", 1), "ok", "PT21", "torch-record-crc", None, "member 'm/data.pkl' does not have the digest 'crc32:00000001' of the archive's directory",
         "a stored pickle with another CRC-32"),
        ("ok-crc-0", with_crc("m/data/0", 0), "ok", None, None, None, None, "a storage without a CRC-32, as torch can write it"),
        ("ok-code", beside(evil()), "ok", None, None, None, None, "something is called beside a tensor"),
        ("ok-code-alone", archive(b"\x80\x04\x8c\x02os\x8c\x05mkdir\x93" + text("PICKLE_WAS_EXECUTED") + b"\x85R."), "ok", None, None, None, None,
         "STACK_GLOBAL and REDUCE are all of the pickle"),
        ("ok-code-everywhere", beside(b"(" + text("PICKLE_WAS_EXECUTED") + b"iposix\nmkdir\n" + b"(" + name("posix", "mkdir") + text("PICKLE_WAS_EXECUTED")
                                      + b"o\x86"), "ok", None, None, None, None, "INST and OBJ"),
        ("ok-memo", archive(b"\x80\x02" + put({"w": tensor(), "a": b"K\5r\xff\xff\xff\xff0j\xff\xff\xff\xff"}) + STOP), "ok", None, None, None, None,
         "an entry of the memo with the largest key"),
        ("ok-depth", raw(nested(1000)), "ok", None, None, None, None, "1,000 tuples, one in the other"),
        ("ok-places", raw(many_places(60)), "ok", None, None, None, None, "2^60 values in 426 bytes, of which few are shown"),
        ("ok-state-setter", archive(b"\x80\x02" + call("m", "Object") + b"q\0" + b"0" + name("m", "setter") + b"h\0" + put({"z": tensor()})
                                    + b"\x86R0" + name("m", "f") + tensor() + b"\x85R0" + put({"w": tensor(), "o": b"h\0"}) + STOP),
         "ok", None, None, None, None, "calls whose results are dropped: one sets a state with a tensor, one is called with a tensor"),
        ("ok-cycle", archive(b"\x80\x02]q\0(h\0" + tensor() + b"e."), "ok", None, None, None, None, "a list in itself"),
        ("ok-legacy-code", legacy_beside(evil()), "ok", None, None, None, None, "something is called beside a tensor, before 1.6"),
        ("ok-legacy-behind", legacy({"w": old()}, behind=legacy(5)), "lists_only", "PT22", "torch-behind", None, f"{len(legacy(5))} bytes follow behind the last storage",
         "another file behind it, which torch.load() leaves alone"),
        ("ok-beside", of({"w": tensor()}, **{"constants.pkl": pickled(()), "extra/x.npy": b"x", "y.npy": b"y"}), "lists_only", "PT23", "torch-beside", None,
         "member 'm/extra/x.npy' is not read beside the model's pickle", "names of arrays in the archive"),
        ("ok-case", of({"w": tensor()}, **{"code/a.py": b"", "CODE/a.py": b"", "DATA": b"", "data/": b"", "Data/": b""}), "ok", None, None, None, None,
         "names that differ in case, of members that are not looked up"),
        ("ok-legacy-no-storage", legacy({"a": 5}, storages={}), "ok", None, None, None, None, "no storage, before 1.6"),
        ("ok-deflated", archive(pickled({"w": tensor()}), methods=dict.fromkeys(("data.pkl", "data/0", "version"), zipfile.ZIP_DEFLATED)), "ok", None, None,
         None, None, "all records are deflated"),
        ("several", of(tensor()) + of(tensor()), "open_error", "ZP12", "zip-several", None,
         f"several zip archives, one behind the other, as torch.distributed.checkpoint writes them: the last one begins at byte {len(of(tensor()))}",
         "two calls of torch.save() with one file"),
        ("ok-behind", of({"w": tensor()}) + b"x", "ok", "ZP13", "zip-behind", None, "1 bytes follow behind the archive", "a byte behind the archive, which torch reads"),
        ("ok-program", b"#!/bin/sh\n" + of({"w": tensor()}), "ok", None, None, None, None, "an archive behind a program"),
        ("ok-record-longer", of(tensor((3,), elements=3)), "ok", None, None, None, None, "a record longer than its storage, which torch reads"),
        ("ok-empty", of({"w": tensor((2, 0), (1, 1), offset=9, elements=0)}, storages={"0": b""}), "ok", None, None, None, None,
         "a tensor without elements, wherever it is"),
        ("ok-collisions", of({"a.b": tensor(), "a": {"b": tensor()}, "a.b#2": tensor(), b"K\1": 5, "1": 6}), "ok", None, None, None, None,
         "several values have one path"),
    ]
    return rows


def main():
    found = []
    for file, contents, expect, number, finding, object, says, wrong in cases():
        path = HERE / f"{file}.pt"
        if contents is not None:
            path.write_bytes(contents)
        data = path.read_bytes()
        found.append({"file": path.name, "expect": expect, "number": number, "finding": finding, "message": says, "object": object, "rule": wrong,
                      "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), **({"level": "full"} if number == "PT21" else {})})
    (HERE / "cases.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in found) + "\n]\n")


if __name__ == "__main__":
    main()
