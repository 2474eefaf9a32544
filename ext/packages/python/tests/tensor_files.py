"""Writers of tensor files for tests: safetensors, GGUF with its block types, PyTorch and ONNX. They need numpy alone.

A tensor is (dtype, shape, bytes), with the dtype as safetensors names it. The same tensors give the same bytes on every machine.
"""
import io
import json
import struct
import zipfile

import numpy as np


# ---- Tensors

def floats(*values):
    return "F32", [len(values)], struct.pack(f"<{len(values)}f", *values)


def f32(array):
    return "F32", list(array.shape), np.ascontiguousarray(array, "<f4").tobytes()


def f16(array):
    return "F16", list(array.shape), np.ascontiguousarray(array, "<f2").tobytes()


def i64(array):
    return "I64", list(np.shape(array)), np.ascontiguousarray(array, "<i8").tobytes()


def bf16(array):
    """The upper halves of f32, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(array, "<f4").view("<u4").astype("<u8")
    upper = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return "BF16", list(array.shape), np.where(np.isnan(array), 0x7fc0, upper).astype("<u2").tobytes()


def rounded(array):
    """The values that an array has as bf16."""
    return (np.frombuffer(bf16(array)[2], "<u2").astype("<u4") << 16).view("<f4").reshape(array.shape)


# ---- safetensors

def safetensors(path, tensors, **metadata):
    """Write {name: tensor}."""
    head, size = {}, 0
    for name, (dtype, shape, body) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [size, size + len(body)]}
        size += len(body)
    if metadata:
        head["__metadata__"] = metadata
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(safetensors_head(head) + b"".join(body for _, _, body in tensors.values()))
    return path


def safetensors_head(head):
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


# ---- GGUF

# Elements and bytes of a block, and ggml's number of the type
GGML = {"f32": (1, 4, 0), "f16": (1, 2, 1), "bf16": (1, 2, 30), "q4_0": (32, 18, 2), "q4_1": (32, 20, 3), "q5_0": (32, 22, 6), "q5_1": (32, 24, 7),
        "q8_0": (32, 34, 8), "q4_k": (256, 144, 12), "q6_k": (256, 210, 14)}


def gguf(path, keys, tensors):
    """Write {key: value} and {name: (ggml's type, array of f32)}. A value is text, bool, float, int (u32), (type, int) or a list of texts."""
    out = io.BytesIO()
    out.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)))
    for key, value in keys.items():
        out.write(_gguf_text(key) + _gguf_value(value))
    bodies, at = [], 0
    for name, (kind, array) in tensors.items():
        body = quantized(kind, array)
        shape = array.shape[::-1]
        out.write(_gguf_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, GGML[kind][2], at))
        bodies.append(body + bytes(-len(body) % 32))
        at += len(bodies[-1])
    out.write(bytes(-out.tell() % 32))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(out.getvalue() + b"".join(bodies))
    return path


def _gguf_text(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _gguf_value(value):
    if isinstance(value, str):
        return struct.pack("<I", 8) + _gguf_text(value)
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, tuple):
        kind, number = value
        return struct.pack({"u16": "<IH", "i32": "<Ii"}[kind], {"u16": 2, "i32": 5}[kind], number)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_gguf_text, value))


def quantized(kind, array):
    """The array as ggml's blocks, with the plainest choice of scales."""
    if kind == "f32":
        return f32(array)[2]
    if kind == "f16":
        return f16(array)[2]
    if kind == "bf16":
        return bf16(array)[2]
    blocks = np.ascontiguousarray(array, "f8").reshape(-1, GGML[kind][0])
    return {"q4_k": _q4_k, "q6_k": _q6_k}[kind](blocks) if kind.endswith("k") else _legacy(kind, blocks)


def _half(numbers):
    """Scales as f16, and as the numbers that a reader sees."""
    stored = numbers.astype("<f2")
    return stored, stored.astype("f8")


def _over(values, scale):
    """Values divided by scales, of which some are 0."""
    return np.divide(values, scale, out=np.zeros_like(values), where=scale != 0)


def _bytes(*columns):
    """Blocks side by side, each from a part of every column."""
    return np.concatenate([np.ascontiguousarray(c).view("u1").reshape(len(c), -1) for c in columns], axis=1).tobytes()


def _legacy(kind, x):
    """q8_0, and q4_0 to q5_1: one scale for 32 elements, and in the types that end in _1 their minimum."""
    if kind == "q8_0":
        scale, seen = _half(np.abs(x).max(1, keepdims=True) / 127)
        return _bytes(scale, np.clip(np.rint(_over(x, seen)), -127, 127).astype("i1"))
    bits = int(kind[1])
    if kind.endswith("_0"):
        extreme = np.take_along_axis(x, np.abs(x).argmax(1)[:, None], 1)
        scale, seen = _half(extreme / -(1 << bits - 1))
        head, codes = [scale], np.rint(_over(x, seen)) + (1 << bits - 1)
    else:
        least, low = _half(x.min(1, keepdims=True))
        scale, seen = _half((x.max(1, keepdims=True) - low) / ((1 << bits) - 1))
        head, codes = [scale, least], np.rint(_over(x - low, seen))
    codes = np.clip(codes, 0, (1 << bits) - 1).astype("u1")
    if bits == 5:
        fifth = ((codes >> 4).astype("<u4") << np.arange(32, dtype="<u4")).sum(1, keepdims=True).astype("<u4")
        head.append(fifth)
    return _bytes(*head, codes[:, :16] & 15 | (codes[:, 16:] & 15) << 4)


def _q4_k(x):
    """Eight parts of 32 elements, each with a scale and a minimum of 6 bits, which two f16 scale again."""
    parts = x.reshape(-1, 8, 32)
    low = np.minimum(parts.min(2), 0)
    step = (parts.max(2) - low) / 15
    scale, seen = _half(step.max(1, keepdims=True) / 63)
    least, seen_least = _half(-low.min(1, keepdims=True) / 63)
    s = np.clip(np.rint(_over(step, seen)), 0, 63).astype("u1")
    m = np.clip(np.rint(_over(-low, seen_least)), 0, 63).astype("u1")
    codes = _over(parts + (seen_least * m)[:, :, None], np.broadcast_to((seen * s)[:, :, None], parts.shape).copy())
    codes = np.clip(np.rint(codes), 0, 15).astype("u1")
    packed = np.concatenate([s[:, :4] | s[:, 4:] >> 4 << 6, m[:, :4] | m[:, 4:] >> 4 << 6, s[:, 4:] & 15 | (m[:, 4:] & 15) << 4], axis=1)
    return _bytes(scale, least, packed, (codes[:, ::2] | codes[:, 1::2] << 4).reshape(-1, 128))


def _q6_k(x):
    """Sixteen parts of 16 elements, each with a scale of 8 bits, which one f16 scales again."""
    parts = x.reshape(-1, 16, 16)
    step = np.abs(parts).max(2) / 31
    scale, seen = _half(step.max(1, keepdims=True) / 127)
    s = np.clip(np.rint(_over(step, seen)), 0, 127).astype("i1")
    codes = _over(parts, np.broadcast_to((seen * s)[:, :, None], parts.shape).copy())
    codes = (np.clip(np.rint(codes), -32, 31) + 32).astype("u1").reshape(-1, 2, 4, 32)
    low = np.concatenate([codes[:, :, 0] & 15 | (codes[:, :, 2] & 15) << 4, codes[:, :, 1] & 15 | (codes[:, :, 3] & 15) << 4], axis=2)
    high = codes[:, :, 0] >> 4 | codes[:, :, 1] >> 4 << 2 | codes[:, :, 2] >> 4 << 4 | codes[:, :, 3] >> 4 << 6
    return _bytes(low.reshape(-1, 128), high.reshape(-1, 64), s, scale)


# ---- PyTorch: a zip archive with a pickle of protocol 2, and a member for each storage

STORAGES = {"F32": ("FloatStorage", 4), "F16": ("HalfStorage", 2), "BF16": ("BFloat16Storage", 2), "I64": ("LongStorage", 8)}


def torch(path, values):
    """Write a dict of tensors, numbers, texts, lists and dicts, as torch.save does."""
    storages = []
    pickle = b"\x80\x02" + _pickled(values, storages) + b"."
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in [("data.pkl", pickle), ("byteorder", b"little"), *((f"data/{i}", s) for i, s in enumerate(storages)), ("version", b"3\n")]:
            archive.writestr(zipfile.ZipInfo("archive/" + name, (1980, 1, 1, 0, 0, 0)), data)
    return path


def _pickled(value, storages):
    if isinstance(value, dict):
        return b"}(" + b"".join(_pickled(k, storages) + _pickled(v, storages) for k, v in value.items()) + b"u"
    if isinstance(value, list):
        return b"](" + b"".join(_pickled(v, storages) for v in value) + b"e"
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    return _pickled_tensor(*value, storages)


def _pickled_tensor(dtype, shape, body, storages):
    storage, width = STORAGES[dtype]
    storages.append(body)
    number, integers = str(len(storages) - 1), lambda numbers: b"(" + b"".join(_pickled(int(n), storages) for n in numbers) + b"t"
    strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
    place = b"(" + _pickled("storage", storages) + b"ctorch\n" + storage.encode() + b"\n" + _pickled(number, storages) \
        + _pickled("cpu", storages) + _pickled(len(body) // width, storages) + b"tQ"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + place + _pickled(0, storages) + integers(shape) + integers(strides) \
        + b"\x89ccollections\nOrderedDict\n)RtR"


# ---- ONNX

ONNX_TYPES = {"F32": 1, "I64": 7, "F16": 10}


def onnx(path, tensors, external=None):
    """Write a model whose initializers are these tensors; `external` names the file beside it that has their bytes."""
    graph, data = _field(2, b"graph"), b""
    for name, (dtype, shape, body) in tensors.items():
        tensor = b"".join(_number(1, n) for n in shape) + _number(2, ONNX_TYPES[dtype]) + _field(8, name.encode())
        if external:
            for key, value in (("location", external), ("offset", str(len(data))), ("length", str(len(body)))):
                tensor += _field(13, _field(1, key.encode()) + _field(2, value.encode()))
            tensor += _number(14, 1)
            data += body
        else:
            tensor += _field(9, body)
        graph += _field(5, tensor)
    path.parent.mkdir(parents=True, exist_ok=True)
    if external:
        (path.parent / external).write_bytes(data)
    path.write_bytes(_number(1, 8) + _field(2, b"tests") + _field(7, graph) + _field(8, _field(1, b"") + _number(2, 17)))
    return path


def _varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _field(field, data):
    return _varint(field << 3 | 2) + _varint(len(data)) + data
