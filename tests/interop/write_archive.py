"""Writes archives around files that safetensors and gguf write, with zipfile, and beside each what those read in it: write_archive.py FOLDER"""
import io
import sys
import zipfile
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load, save

from foreign import Record

PROGRAM = b"MZqFpD='\n" + bytes(3000)


def model(rng, *names):
    return {name: rng.standard_normal((3, 5)).astype(np.float32) for name in names}


def ggml(folder, tensors):
    path = folder / "member.tmp"
    writer = gguf.GGUFWriter(path, "llama")
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    data = path.read_bytes()
    path.unlink()
    return data


def archive(path, members, front=b"", zip64=False):
    """members: {path: bytes}; those that are no tensor files are deflated."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED if name.endswith(".json") else zipfile.ZIP_STORED
            with z.open(info, "w", force_zip64=zip64) as member:
                member.write(data)
    path.write_bytes(front + file.getvalue())


def note(path, container, version, members):
    """members: {path before the names: the tensors}."""
    record = Record(path, container, version)
    record.what["all"] = False
    for prefix, tensors in members.items():
        for name, tensor in tensors.items():
            record.tensor(prefix + name, "dense", "f32", tensor.shape, tensor.tobytes())
    record.save()


def main(folder):
    folder, rng = Path(folder), np.random.default_rng(6)
    one, two, three = model(rng, "a.weight", "a.bias"), model(rng, "b"), model(rng, "blk.0.w", "blk.1.w")
    files = {name: save(tensors, {"format": "np"}) for name, tensors in (("one", one), ("two", two))}
    one, two = load(files["one"]), load(files["two"])
    one = dict(sorted(one.items(), key=lambda pair: files["one"].find(pair[1].tobytes())))
    index = {"model_index.json": b"{}", "scheduler/config.json": b"{}"}
    for zip64 in (False, True):
        end = "_64" if zip64 else ""
        archive(folder / f"one{end}.dduf", {**index, "unet/model.safetensors": files["one"]}, zip64=zip64)
        note(folder / f"one{end}.dduf", "safetensors", None, {"": one})
        archive(folder / f"two{end}.dduf", {**index, "unet/m.safetensors": files["one"], "vae/m.safetensors": files["two"]}, zip64=zip64)
        note(folder / f"two{end}.dduf", "safetensors", None, {"unet/m.safetensors/": one, "vae/m.safetensors/": two})
        archive(folder / f"program{end}.llamafile", {"model.gguf": ggml(folder, three), ".args": b"-m\nmodel.gguf\n"}, PROGRAM, zip64)
        note(folder / f"program{end}.llamafile", "gguf", "3", {"": three})
        archive(folder / f"both{end}.zip", {"m.gguf": ggml(folder, three), "m.safetensors": files["two"]}, zip64=zip64)
        note(folder / f"both{end}.zip", "archive", None, {"m.gguf/": three, "m.safetensors/": two})


main(sys.argv[1])
