"""The files and statements that every fault is tried on."""
import io
import struct
import zipfile

import pytest

from support import open_connection   # First: it knows where the formats' own modules are
import write_gguf
import write_onnx
import write_pickle
import writer

try:
    import faults
    faults.LIBRARY.zt_faults
except AttributeError:
    pytest.exit("build/faults.so must be preloaded: make faults", returncode=4)


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


MATRIX = [1.5, -2.0, 3.25, 0.0, 7.0, -0.5]


def older(generation):
    """A file of 1.2 or 0.1 with a matrix `w`, once more compressed as `z`, both with digests; 1.2 has a sparse `s`, too."""
    data = floats(*MATRIX)
    stored = writer.zstd(data)
    z = writer.dense(stored, [2, 3], "f32", encoding="zstd", digest=writer.sha256(stored))
    objects = {"w": writer.dense(data, [2, 3], "f32", digest=writer.sha256(data)), "z": z}
    if generation == "0.1":
        return writer.write(objects, generation)
    z["components"]["data"]["uncompressed_length"] = len(data)
    return writer.write({**objects, "s": writer.csr()}, generation, attributes={"k": 1})


def newest():
    """A file of zTensor 2 whose `w` lies in a shard, `z` is seekable; and the shard."""
    data = floats(*MATRIX)
    shard = writer.data_shard(data)
    objects = {"w": writer.in_shard("s", 4096, len(data), [2, 3], "f32", digest=writer.sha256(data)),
               "z": writer.seekable_dense(data, 8, [2, 3], "f32", digest=writer.sha256(data))}
    return writer.write_2(objects, {"k": 1}, shards={"s": shard}), shard


def gguf():
    """A GGUF file with a matrix `w`, and once more as `z`."""
    data = floats(*MATRIX)
    file = write_gguf.File().key("general.architecture", write_gguf.STR, "test")
    return file.tensor("w", [3, 2], data=data).tensor("z", [3, 2], data=data).bytes()


def onnx():
    """An ONNX model whose `w` and `z` are in a file beside it; and that file."""
    data = floats(*MATRIX)
    tensors = [write_onnx.tensor(name, [2, 3], write_onnx.FLOAT, write_onnx.external(location="o.bin", offset=str(at), length=str(len(data))))
               for name, at in (("w", 0), ("z", len(data)))]
    return write_onnx.model(write_onnx.graph(tensors)), 2 * data


def npz():
    """An archive of numpy with a matrix `w`, stored, and once more as `z`, deflated."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".ljust(117) + b"\n"
    array = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + floats(*MATRIX)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("w.npy", array)
        archive.writestr("z.npy", array, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def dduf():
    """An archive with a file of safetensors that has a matrix `w`, and once more as `z`, and another file."""
    header = b'{"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"z":{"dtype":"F32","shape":[2,3],"data_offsets":[24,48]}}'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model_index.json", "{}")
        archive.writestr("unet/model.safetensors", struct.pack("<Q", len(header)) + header + 2 * floats(*MATRIX))
    return file.getvalue()


def joblib():
    """A dump of joblib with a matrix `w`, and once more as `z`."""
    matrix = write_pickle.wrapper((2, 3), behind=b"\0" + floats(*MATRIX))
    return write_pickle.pickle(("w", matrix), ("z", matrix))


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """Files of three generations and a shard, in a directory with one below it and links to a file and a directory."""
    top = tmp_path_factory.mktemp("faults")
    new, shard = newest()
    model, external = onnx()
    for name, data in {"d/a.zt": older("1.2"), "d/b.zt": new, "d/b-s.zt": shard, "d/sub/c.zt": older("0.1"),
                       "e/f.zt": older("1.2"), "h.gguf": gguf(), "n.npz": npz(), "p.joblib": joblib(), "q.dduf": dduf(), "o.onnx": model, "o.bin": external}.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    (top / "d/link").symlink_to(top / "e")
    (top / "d/g.zt").symlink_to(top / "e/f.zt")
    return top


@pytest.fixture(scope="session", autouse=True)
def loaded():
    """A connection that keeps the extension in memory while others come and go."""
    db = open_connection()
    yield db
    db.close()
