#!/usr/bin/python3
"""Writes hostile/: pickles that break one rule each or look odd, and cases.json. Opcode by opcode, after Python's pickletools and
joblib's numpy_pickle; nothing here is ever loaded.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import gzip
import hashlib
import json
import lzma
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent / "hostile"
ONES = struct.pack("<4f", 1, 2, 3, 4)


def text(z):
    return b"\x8c" + bytes([len(z)]) + z.encode()


def number(n):
    return b"J" + struct.pack("<i", n) if -2**31 <= n < 2**31 else b"\x8a\x09" + n.to_bytes(9, "little", signed=True)


def name(module, z):
    return text(module) + text(z) + b"\x93"


def dtype(code="f4", order="<", names=b"N", fields=b"N", flags=0):
    return (name("numpy", "dtype") + text(code) + b"\x89\x88\x87R(" + number(3) + text(order) + b"N" + names + fields
            + number(-1) * 2 + number(flags) + b"tb")


def blob(data):
    return b"B" + struct.pack("<I", len(data)) + data


def tuple_of(*parts):
    return b"(" + b"".join(parts) + b"t"


def array(data=None, shape=(4,), type=None, fortran=b"\x89", state=None):
    shape = tuple_of(*map(number, shape))
    state = tuple_of(number(1), shape, type or dtype(), fortran, blob(ONES) if data is None else data) if state is None else state
    return name("numpy.core.multiarray", "_reconstruct") + name("numpy", "ndarray") + tuple_of(number(0)) + blob(b"b") + b"\x87R" + state + b"b"


def wrapper(shape=(4,), type=None, order="C", alignment=number(16), behind=None, **more):
    entries = {"subclass": name("numpy", "ndarray"), "shape": tuple_of(*map(number, shape)), "order": text(order), "dtype": type or dtype(),
               "allow_mmap": b"\x88", "numpy_array_alignment_bytes": alignment, **more}
    state = b"}(" + b"".join(text(key) + value for key, value in entries.items() if value is not None) + b"u"
    behind = b"\x02\xff\xff" + ONES if behind is None else behind
    return name("joblib.numpy_pickle", "NumpyArrayWrapper") + b")\x81" + state + b"b" + behind


def pickle(*entries, protocol=4):
    return b"\x80" + bytes([protocol]) + b"}(" + b"".join(text(key) + value for key, value in entries) + b"u."


V = ("v", array())
OBJECTS = dtype("O8", "|", flags=63)
LISTED = b"\x80\x02" + array(b"](" + number(1) + b"Ne", (2,), OBJECTS) + b"."


def strings():
    yield "no-stop", pickle(V)[:-1], "open_error", "PK2", "pickle-cut", f"the pickle ends at byte {len(pickle(V)) - 1} without STOP", "no STOP"
    yield "opcode", b"\x80\x04}\xff.", "open_error", "PK1", "pickle-opcode", "byte 3: opcode 0xff is not known", "an unknown opcode"
    yield "stack", b"\x80\x04}\x94R.", "open_error", "PK4", "pickle-stack", "byte 4: REDUCE: it takes more than is on the stack", "a call of nothing"
    yield "key-twice", pickle(("a", number(1)), ("a", number(2)), V), "open_error", "PT13", "torch-key-twice", "a dict has the key 'a' twice", "a key twice"
    deep = b"\x80\x04" + b"]" * 1001 + b"N" + b"a" * 1001 + b"."
    yield "deep", deep, "open_error", "PT4", "torch-depth", "values are nested more than 1000 deep", "1,001 lists"


def joblib():
    yield "wrapper-dtype", pickle(("w", wrapper(type=name("os", "system"))), V), "open_error", "PF1", "joblib-array", "byte %d: an array of joblib: its dtype is not known", "a dtype that is none"
    yield "wrapper-shape", pickle(("w", wrapper((-4,))), V), "open_error", "PF1", "joblib-array", "byte %d: an array of joblib: its shape is invalid", "a negative shape"
    yield "wrapper-product", pickle(("w", wrapper((2**40, 2**40))), V), "open_error", "PF1", "joblib-array", "byte %d: an array of joblib: its shape is invalid", "a shape of 2^80"
    yield "wrapper-sizeless", pickle(("w", wrapper(type=dtype("Z4"))), V), "open_error", "PF1", "joblib-array", "byte %d: an array of joblib: its elements have no size", "a type without a size"


def put(row, at):
    """The place of what follows a wrapper, in the message."""
    return (*row[:5], row[5] % row[1].index(at), *row[6:])


def cases():
    yield from strings()
    for row in joblib():
        yield put(row, b"\x02\xff\xff" + ONES)
    cut = pickle(("w", wrapper((65535,), behind=b"\x00" + ONES)))
    at = cut.index(b"\x00" + ONES)
    yield "elements-cut", cut, "open_error", "PF2", "joblib-cut", f"byte {at + 1}: 262140 bytes of an array's elements should follow, and there are {len(cut) - at - 1}", "more elements than bytes"
    cut = pickle(("w", wrapper(behind=b"\xff" + ONES)))
    at = cut.index(b"\xff" + ONES)
    yield "padding-cut", cut, "open_error", "PF2", "joblib-cut", f"byte {at}: 256 bytes of an array's elements should follow, and there are {len(cut) - at}", "more padding than bytes"
    cut = pickle(("w", wrapper(behind=b"")))[:-2]
    yield "padding-missing", cut, "open_error", "PF2", "joblib-cut", f"byte {len(cut)}: 1 bytes of an array's elements should follow, and there are 0", "no byte of padding"
    bomb = zlib.compress(b"\x80\x04" + blob(bytes(10 << 20)) + b".", 9)
    yield "zlib-bomb", bomb, "open_error", "PF3", "pickle-size", f"9436672 bytes of a pickle, for {len(bomb)} that are stored", "bytes of 10 MiB in 10 KiB"
    stored = pickle(("w", name("torch._utils", "_rebuild_tensor_v2") + tuple_of(
        tuple_of(text("storage"), name("torch", "FloatStorage"), text("0"), text("cpu"), number(4)) + b"Q", number(0), tuple_of(number(4)),
        tuple_of(number(1)), b"\x89", b"}") + b"R"), V)
    yield "storage", stored, "lists_but_no_bytes", "PF4", "pickle-storage", "a plain pickle has no storage '0'", "a tensor in a storage of PyTorch", {"object": "w", "length": None, "decoded_length": None}
    yield "zlib-cut", zlib.compress(pickle(("w", wrapper())), 9)[:-9], "open_error", "E2", "encoding", "deflate: the stored bytes end within the stream", "a stream without its end"
    yield "xz", lzma.compress(pickle(("w", wrapper()))), "open_error", "T2", "unsupported-format", "a file compressed by xz, which is not read", "another compression of joblib"
    yield "zlib-checksum", zlib.compress(pickle(("w", wrapper())), 9)[:-1] + b"\0", "open_error", "E2", "encoding", "deflate: its bytes do not have the checksum behind", "a wrong checksum"
    yield "gzip-behind", gzip.compress(pickle(("w", wrapper())), 9, mtime=0) + b"more", "open_error", "E2", "encoding", "deflate: 4 bytes follow behind the stream's end", "bytes behind the stream"
    yield "gzip-member-checksum", gzip.compress(b"", 9, mtime=0) + gzip.compress(pickle(V), 9, mtime=0)[:-5] + bytes(5), "open_error", "E2", "encoding", "deflate: its bytes do not have the checksum behind", "a wrong checksum of the second member"
    yield "shape-negative", pickle(("w", array(shape=(-4,))), V), "lists_but_no_bytes", "PT8", "torch-shape", "its shape has a negative dimension", "a negative dimension", {"object": "w", "length": None, "decoded_length": None}
    yield "shape-product", pickle(("w", array(shape=(2**40, 2**40))), V), "lists_but_no_bytes", "PT8", "torch-shape", "the product of its dimensions does not fit 64 bits", "2^80 elements", {"object": "w", "length": None, "decoded_length": None}
    yield "shape-more", pickle(("w", array(shape=(5,))), V), "lists_but_no_dense", "L3", "length", "5 elements of f32 are 20 bytes, and it has 16", "more elements than bytes", {"object": "w"}
    yield "dtype-code", pickle(("w", array(type=name("os", "system") + text("mkdir PICKLE_WAS_EXECUTED") + b"\x85R")), V), "lists_but_no_dense", "L1", "unknown-format", "its dtype is not known", "a call where the dtype should be", {"object": "w"}
    yield "state-missing", pickle(("w", name("numpy.core.multiarray", "_reconstruct") + tuple_of() + b"R"), V), "lists_but_no_dense", "L1", "unknown-format", "it has no state", "an array without a state", {"object": "w"}
    yield "joblib-file", pickle(("w", name("joblib.numpy_pickle", "NDArrayWrapper") + b")\x81}(" + text("filename") + text("x_01.npy") + b"ub"), V), "lists_but_no_dense", "L1", "unknown-format", "its elements are in a file of its own, as joblib did before 0.10", "elements in a file beside", {"object": "w"}
    objects = pickle(("w", wrapper((2,), OBJECTS, behind=b"\x02\xff\xff" + LISTED)), V)
    yield "joblib-objects", objects, "open_error", "PK1", "pickle-opcode", f"byte {objects.index(bytes([2, 255, 255]) + LISTED)}: opcode 0x02 is not known", "padding before a pickle of objects"
    yield "ok-code", pickle(("a", name("os", "mkdir") + text("PICKLE_WAS_EXECUTED") + b"\x85R"), V), "ok", None, None, None, "a call of os.mkdir"
    yield "ok-global", b"cos\nsystem\n(S'mkdir PICKLE_WAS_EXECUTED'\ntR.", "ok", None, None, None, "a call in protocol 0"
    yield "ok-empty", b"\x80\x04}.", "ok", None, None, None, "an empty dict"
    yield "ok-several-zlib", zlib.compress(pickle(V) + pickle(V), 9), "ok", None, None, None, "another pickle in the stream"
    yield "ok-trailing-zlib", zlib.compress(pickle(V) + pickle(V) + b"more", 9), "ok", "PF5", "pickle-behind", "4 decoded bytes follow behind the pickle", "bytes behind the last pickle of the stream"
    made = pickle(("w", name("torch._utils", "_rebuild_tensor_v2") + tuple_of(number(1)) + b"R"), ("x", name("torch._utils", "_rebuild_parameter") + tuple_of(number(1)) + b"R"), V)
    yield "torch", made, "lists_only", "PF6", "pickle-tensor", "'w' is a tensor of PyTorch, which is not read in a plain pickle", "tensors of PyTorch without a storage"
    described = pickle(("b", name("torch.distributed.checkpoint.metadata", "TensorStorageMetadata") + b")\x81}(" + text("size") + tuple_of(number(4)) + b"ub"), ("c", name("torch.distributed.checkpoint.metadata", "BytesStorageMetadata") + b")\x81"))
    yield "distributed", described, "lists_only", "PF6", "pickle-tensor", "'b' is a tensor of PyTorch, whose elements are in other files, as torch.distributed.checkpoint writes them", "metadata of a distributed checkpoint"
    yield "ok-several", pickle(V) + pickle(("w", wrapper())) + pickle(V), "ok", None, None, None, "three pickles, one behind the other"
    yield "ok-several-memo", b"\x80\x02" + text("a") + b"q\0.\x80\x02}(h\0" + array() + b"u.", "ok", None, None, None, "a pickle that goes on with the memo of the one before"
    yield "several-memo-missing", b"\x80\x02" + text("a") + b"q\0.\x80\x02h\1.", "open_error", "PK6", "pickle-memo", "byte 10: BINGET: the memo has no entry 1", "a pickle that refers to what none has in its memo"
    yield "several-cut", pickle(V) + pickle(V)[:-1], "open_error", "PK2", "pickle-cut", f"the pickle ends at byte {2 * len(pickle(V)) - 1} without STOP", "a second pickle without its end"
    yield "ok-trailing", pickle(V) + b"more", "ok", "W4", "gap", None, "bytes behind the pickle"
    yield "objects", pickle(("w", wrapper((2,), OBJECTS, behind=LISTED)), ("x", wrapper())), "lists_but_no_dense", "L11", "no-values", "it has no values: its elements are objects of Python, pickles, which are never executed", "objects of joblib, and an array behind them", {"object": "w"}
    yield "ok-no-padding", pickle(("w", wrapper(alignment=b"N", behind=ONES)), ("x", wrapper(alignment=None, behind=ONES))), "ok", None, None, None, "no padding"
    yield "ok-gzip", gzip.compress(pickle(("w", wrapper()), V), 9, mtime=0), "ok", None, None, None, "gzip"
    members = b"".join(gzip.compress(pickle(V)[i:i + 1], 9, mtime=0) + gzip.compress(b"", 9, mtime=0) * 4 for i in range(len(pickle(V))))
    yield "ok-gzip-members", members + bytes(100), "ok", None, None, None, "a pickle in 840 members of gzip, most of them empty, and zeros behind"
    yield "ok-gzip-several", gzip.compress(pickle(V), 9, mtime=0) * 2, "ok", None, None, None, "another pickle in another member"
    yield "ok-memo", b"\x80\x04}(" + text("a") + array() + b"r\xff\xff\xff\x7f" + text("b") + b"j\xff\xff\xff\x7fu.", "ok", None, None, None, "a large number in the memo"
    lists = b"\x80\x02]q\0" + b"".join(b"](h" + bytes([i]) + b"h" + bytes([i]) + b"eq" + bytes([i + 1]) for i in range(60)) + b"."
    yield "ok-memo-bomb", lists, "ok", None, None, None, "2^60 leaves by the memo"


def write():
    HERE.mkdir(exist_ok=True)
    found = []
    for file, raw, expect, number_, finding, message, what, *more in cases():
        (HERE / f"{file}.pkl").write_bytes(raw)
        found.append({"file": f"{file}.pkl", "expect": expect, "number": number_, "finding": finding, "message": message, "object": None,
                      "rule": what, "size": len(raw), "sha256": hashlib.sha256(raw).hexdigest(), **dict(*more)})
    (HERE / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]\n")


if __name__ == "__main__":
    write()
