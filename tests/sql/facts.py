"""A collection with planted facts, and what follows from how it was made: which files hold the same model, which tensors are where, what
differs. Nothing here asks the extension."""
import io
import itertools
import os
import random
import struct
import zipfile
from collections import defaultdict

import writer
from test_planted import safetensors
from write_gguf import File
from writer import dense

SHAPE = [4, 6]
LENGTH = 96


def little(values):
    return struct.pack("<24f", *values)


def big(values):
    return struct.pack(">24f", *values)


def crc32c(data):
    """As a manifest states it."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return f"crc32c:{value ^ 0xFFFFFFFF:08x}"


def zt_1(model, stated, digest=None):
    """`stated`: the model of whose values the digests are."""
    return writer.write({name: dense(little(values), SHAPE, "f32", **({"digest": digest(little(stated[name]))} if digest else {}))
                         for name, values in model.items()})


def zt_1_zstd(model, stated):
    return writer.write({name: dense(writer.zstd(little(values)), SHAPE, "f32", encoding="zstd", uncompressed_length=LENGTH,
                                     digest=writer.sha256(writer.zstd(little(stated[name])))) for name, values in model.items()})


def zt_2(model, stated, encoded=False):
    return writer.write_2({name: dense(writer.seekable(little(values), 40) if encoded else little(values), SHAPE, "f32",
                                       **({"encoding": writer.SEEKABLE, "decoded_length": LENGTH} if encoded else {}),
                                       digest=writer.sha256(little(stated[name]))) for name, values in model.items()})


def npz(model, order="<", compression=zipfile.ZIP_STORED):
    """The checksum is of what is written, as any writer's is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, values in model.items():
            head = f"{{'descr': '{order}f4', 'fortran_order': False, 'shape': (4, 6), }}"
            head += " " * (-(len(head) + 11) % 64) + "\n"
            archive.writestr(zipfile.ZipInfo(name + ".npy"), b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode()
                             + (little if order == "<" else big)(values), compression)
    return out.getvalue()


def gguf(model, order="<"):
    file = File(order)
    for name, values in model.items():
        file.tensor(name, SHAPE[::-1], data=(little if order == "<" else big)(values))
    return file.bytes()


# How to write a model, given the one that digests are of
WRITERS = {
    "plain.zt": lambda m, _: zt_1(m, m), "sha.zt": lambda m, s: zt_1(m, s, writer.sha256), "crc.zt": lambda m, s: zt_1(m, s, crc32c),
    "zstd.zt": zt_1_zstd, "two.zt": zt_2, "twice.zt": lambda m, s: zt_2(m, s, True),
    "st.safetensors": lambda m, _: safetensors({name: little(values) for name, values in m.items()}),
    "plain.npz": lambda m, _: npz(m), "deflated.npz": lambda m, _: npz(m, compression=zipfile.ZIP_DEFLATED),
    "big.npz": lambda m, _: npz(m, ">"), "le.gguf": lambda m, _: gguf(m), "be.gguf": lambda m, _: gguf(m, ">"),
}
# In which a flipped byte of values shows in the digests that are stated
DIGESTED = ["sha.zt", "crc.zt", "two.zt"]


class Planted:
    """Files below a directory. `files` maps each path to what it holds, its model; `names` further names of one file to it."""

    def __init__(self, directory, seed):
        self.directory, self.random = str(directory), random.Random(seed)
        self.files, self.names, self.corrupted = {}, {}, {}
        os.makedirs(self.directory, exist_ok=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def model(self, layers=3):
        return {f"layer.{i}.weight": tuple(self.random.randrange(1, 1000) for _ in range(24)) for i in range(layers)}

    def write(self, name, kind, model, stated=None):
        path = self.path(f"{name}.{kind}")
        with open(path, "wb") as file:
            file.write(WRITERS[kind](model, stated or model))
        self.files[path] = dict(model)
        return path

    def corrupt(self, name, kind, model):
        """A copy in which one tensor has one value that is another than the digest says."""
        victim = self.random.choice(sorted(model))
        at = self.random.randrange(24)
        values = list(model[victim])
        values[at] += 1
        path = self.write(name, kind, {**model, victim: tuple(values)}, model)
        self.corrupted[path] = victim

    def link(self, path, name, symbolic=False):
        made = self.path(name)
        (os.symlink if symbolic else os.link)(path, made)
        self.names[made] = path

    # ---- What follows

    def of(self, path):
        return self.files[self.names.get(path, path)]

    def same_models(self):
        """Sets of paths that hold one model, if that is in several files."""
        groups = defaultdict(set)
        for path, model in self.files.items():
            groups[tuple(sorted(model.items()))].add(path)
        return {frozenset(group | {name for name, path in self.names.items() if path in group})
                for group in groups.values() if len(group) > 1}

    def contents(self):
        """Each content that is there more than once: its (path, tensor), by whatever name."""
        places = defaultdict(set)
        for path, model in self.files.items():
            for name, values in model.items():
                places[values].add((path, name))
        return {frozenset(group | {(name, tensor) for name, path in self.names.items() for held, tensor in group if path == held}): len(group)
                for group in places.values() if len(group) > 1}

    def differences(self, a, b):
        before, after = self.of(a), self.of(b)
        return sorted([(name, "removed") for name in before if name not in after] + [(name, "added") for name in after if name not in before]
                      + [(name, "content") for name in before if name in after and before[name] != after[name]])

    def pairs(self, most=60):
        return self.random.sample(list(itertools.permutations([*self.files, *self.names], 2)), most)


def collection(directory, seed):
    """Copies in all formats and orders of bytes, tuned and corrupted ones, models that have nothing to do with each other, links."""
    planted = Planted(directory, seed)
    base, other = planted.model(), planted.model()
    for kind in WRITERS:
        planted.write("base", kind, base)
    for kind in planted.random.sample(sorted(WRITERS), 4):
        tuned = {**base, planted.random.choice(sorted(base)): planted.model(1)["layer.0.weight"]}
        planted.write("tuned", kind, tuned)
        planted.write("tuned again", planted.random.choice(sorted(WRITERS)), tuned)
    for kind in planted.random.sample(sorted(WRITERS), 3):
        planted.write("other", kind, other)
        planted.write("more", kind, {**planted.model(2), "extra": other["layer.0.weight"]})
    for kind in DIGESTED:
        planted.write("copy", kind, base)
        planted.corrupt("corrupted", kind, base)
    for number, path in enumerate(planted.random.sample(sorted(planted.files), 4)):
        planted.link(path, f"link.{number}.{os.path.basename(path)}", symbolic=number % 2)
    return planted
