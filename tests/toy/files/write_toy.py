#!/usr/bin/python3
"""Writes the sound and the broken files of TOY, and what must come of each: tests/toy/toy.c has the grammar."""
import hashlib
import json
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def write(vectors, offsets=None, count=None):
    """A file of {name: values}; its table may say other offsets, and another count."""
    end = 5 + sum(1 + len(name) + 8 for name, _ in vectors)
    table, data = b"", b""
    for i, (name, values) in enumerate(vectors):
        at = end + len(data) if offsets is None else offsets[i]
        table += bytes([len(name)]) + name + struct.pack("<II", at, len(values))
        data += struct.pack(f"<{len(values)}f", *values)
    return b"TOY\n" + bytes([len(vectors) if count is None else count]) + table + data


def expectation(name, vectors):
    file, objects = write(vectors), []
    at = manifest = 5 + sum(1 + len(name) + 8 for name, _ in vectors)
    for key, values in vectors:
        data = struct.pack(f"<{len(values)}f", *values)
        objects.append({
            "name": key.decode(), "shape": [len(values)], "elements": len(values), "format": "dense", "dtype": "f32", "type": None,
            "attributes": None, "components": [{
                "name": "data", "dtype": "f32", "type": None, "encoding": "raw", "byte_order": "little", "offset": at, "length": len(data),
                "decoded_length": len(data), "stored_sha256": sha256(data), "decoded_sha256": sha256(data)}],
            "dense": {"dtype": "f32", "type": None, "sha256": sha256(data), "f32_sha256": sha256(data)}, "dense_status": "given"})
        at += len(data)
    return {"file": name, "container": "toy", "version": None, "file_size": len(file), "sha256": sha256(file), "attributes": None,
            "objects": objects, "manifest_length": manifest}


GOLDEN = {"three.toy": [(b"a", [1.0, -2.5]), ("ä".encode(), [0.0] * 7), (b"none", [])], "empty.toy": []}
W = [(b"w", [1.0, 2.0]), (b"v", [3.0])]
HOSTILE = [   # name, bytes, number, finding, object, message, what is wrong
    ("no-count.toy", b"TOY\n", "TY1", "toy-table", None, "the file ends within the table", "nothing behind the magic number"),
    ("cut.toy", write(W)[:9], "TY1", "toy-table", None, "the file ends within the table", "the file ends within the first vector"),
    ("nul.toy", write([(b"a\0", [1.0])]), "TY2", "toy-name", None, "the name at byte 6 is not UTF-8, or has U+0000 in it", "U+0000 in a name"),
    ("twice.toy", write([(b"w", [1.0]), (b"w", [2.0])]), "TY3", "toy-duplicate", "w", "two vectors have this name", "a name twice"),
    ("beyond.toy", write(W, [25, 1000]), "TY4", "toy-range", "v", "offset 1000 and 1 elements do not lie between 25 and 37",
     "a vector behind the file's end"),
]


def main():
    for name, vectors in GOLDEN.items():
        (HERE / "golden" / name).write_bytes(write(vectors))
        (HERE / "golden" / name.replace(".toy", ".expected.json")).write_text(json.dumps(expectation(name, vectors)) + "\n")
    cases = []
    for name, file, number, finding, object, message, rule in HOSTILE:
        (HERE / "hostile" / name).write_bytes(file)
        cases.append({"file": name, "expect": "open_error", "number": number, "finding": finding, "message": message, "object": object,
                      "rule": rule, "size": len(file), "sha256": sha256(file)})
    (HERE / "hostile" / "cases.json").write_text("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")


if __name__ == "__main__":
    main()
