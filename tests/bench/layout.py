"""The zTensor 1.2 container as gen_values.py writes and baseline.py reads it."""

from __future__ import annotations

import os
from typing import BinaryIO

import cbor2
import numpy
import zstandard

MAGIC = b"ZTEN1000"


class Writer:
    """Writes a file. Components are added to an object one by one; each is given as the arrays that follow one another
    in it, so that none need fit into memory at once."""

    def __init__(self, path: str) -> None:
        self.file: BinaryIO = open(path, "wb")
        self.file.write(MAGIC)
        self.objects: dict[str, dict] = {}

    def add_object(self, name: str, shape: tuple[int, ...], form: str = "dense") -> None:
        self.objects[name] = {"shape": list(shape), "format": form, "components": {}}

    def add(self, name: str, role: str, dtype: str, arrays, logical: str | None = None, zstd: bool = False) -> None:
        """zstd frames are like those of the format's library: they do not say how long their content is."""
        self.file.write(bytes(-self.file.tell() % 64))
        start = self.file.tell()
        compressor = zstandard.ZstdCompressor(level=3, write_content_size=False).compressobj() if zstd else None
        decoded = 0
        for array in arrays:
            decoded += array.nbytes
            self.file.write(compressor.compress(array) if compressor else array)
        if compressor:
            self.file.write(compressor.flush())
        component = {"dtype": dtype, "offset": start, "length": self.file.tell() - start}
        if zstd:
            component |= {"uncompressed_length": decoded, "encoding": "zstd"}
        if logical:
            component["type"] = logical
        self.objects[name]["components"][role] = component

    def add_hole(self, name: str, role: str, dtype: str, length: int, digest: str) -> None:
        """A raw component of zeros that are never written."""
        start = self.file.seek(-self.file.tell() % 64, os.SEEK_CUR)
        self.file.seek(length, os.SEEK_CUR)
        self.objects[name]["components"][role] = {"dtype": dtype, "offset": start, "length": length, "digest": digest}

    def close(self) -> None:
        manifest = cbor2.dumps({"version": "1.2.0", "objects": self.objects})
        self.file.write(manifest + len(manifest).to_bytes(8, "little") + MAGIC)
        self.file.close()


def read_objects(path: str) -> dict[str, dict]:
    """The manifest's objects, in its order."""
    with open(path, "rb") as file:
        file.seek(-16, os.SEEK_END)
        size = int.from_bytes(file.read(8), "little")
        file.seek(-16 - size, os.SEEK_END)
        return cbor2.loads(file.read(size))["objects"]


def read_raw(path: str, component: dict, dtype) -> numpy.ndarray:
    """A raw component's elements, of anything that numpy takes for a dtype."""
    count = component["length"] // numpy.dtype(dtype).itemsize
    return numpy.fromfile(path, dtype, count, offset=component["offset"])
