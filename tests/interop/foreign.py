"""The writers of other formats' files note beside each file the contents that the format's own library reads in it."""
import hashlib
import json
from pathlib import Path


class Record:
    """`save` writes NAME.json: the container, file attributes, whether these are all, and objects in the order of the file."""

    def __init__(self, path, container, version=None):
        self.path = Path(path)
        self.what = {"container": container, "version": version, "file": self.path.name, "attributes": {}, "all": True,
                     "objects": []}

    def attribute(self, key, value):
        self.what["attributes"][key] = value

    def tensor(self, name, format, dtype, shape, data, values=None, components=1, attributes=None, shard=None):
        """data: the bytes, row-major and little-endian, None if nobody defines them; values: the float32 array that the
        library makes of them, where it does; attributes: of the tensor, those that are compared; shard: the other file."""
        digest = [None if b is None else hashlib.sha256(b).hexdigest() for b in (data, None if values is None else values.tobytes())]
        self.what["objects"].append({"name": name, "format": format, "dtype": dtype, "shape": None if shape is None else [int(n) for n in shape],
                                     "sha256": digest[0], "f32_sha256": digest[1], "components": components,
                                     "attributes": attributes or {}, "shard": shard})

    def save(self):
        self.path.with_suffix(".json").write_text(json.dumps(self.what))
