"""Writes checkpoints of TensorFlow, and beside each what stands in it: write_tensorflow.py FOLDER

tensorflow itself takes 1.7 GB when it is installed. So tables.py writes them, which knows the format's documentation alone. tensorflow reads
what it writes: tests/formats/tensorflow/README.md.
"""
import random
import sys
from pathlib import Path

from foreign import Record

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "formats" / "tensorflow"))
import tables  # noqa: E402  (it is there only now)

# number: the type's name in the model, its bytes
TYPES = {1: ("f32", 4), 2: ("f64", 8), 3: ("i32", 4), 4: ("u8", 1), 5: ("i16", 2), 6: ("i8", 1), 8: ("complex64", 8), 9: ("i64", 8), 10: ("bool", 1),
         14: ("bf16", 2), 17: ("u16", 2), 18: ("complex128", 16), 19: ("f16", 2), 22: ("u32", 4), 23: ("u64", 8), 24: ("f8_e5m2", 1), 25: ("f8_e4m3fn", 1)}


def count(shape):
    n = 1
    for size in shape:
        n *= size
    return n


def tensor(random, type, shape):
    """Any bytes, but booleans that are 0 or 1."""
    data = random.randbytes(count(shape) * TYPES[type][1])
    return type, shape, bytes(byte & 1 for byte in data) if type == 10 else data


def checkpoints(random):
    """(name, {name: (type, shape, bytes)}, how many files of data)"""
    yield "types", {f"variable_{type}": tensor(random, type, [2, 3]) for type in TYPES}, 1
    yield "shapes", {f"s{'x'.join(map(str, shape))}": tensor(random, 1, shape) for shape in ([], [0], [3, 0, 2], [1], [2, 3, 4, 5])}, 1
    yield "names", {name: tensor(random, 3, [2]) for name in ("a", "a/b", "model/layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE", "é ñ", "x" * 400, "a b \"c\"")}, 1
    yield "many", {f"layer_{i // 7}/block_{i % 7}/kernel_{i}": tensor(random, 1, [i % 3 + 1, i % 5 + 1]) for i in range(1500)}, 1
    yield "shards", {f"part_{i}": tensor(random, 9, [i]) for i in range(20)}, 3
    yield "empty", {}, 1


def boxes(random, shape):
    """Boxes of an array that have each element once: it is halved along any dimension, and so are the halves."""
    found, done = [[(0, n) for n in shape]], []
    while found:
        box = found.pop()
        long = [d for d, (_, n) in enumerate(box) if n > 1]
        if not long or (done and random.random() < 0.2):
            done.append([None if part == (0, n) and random.random() < 0.5 else part for part, n in zip(box, shape)])
            continue
        d = random.choice(long)
        (start, n), at = box[d], random.randrange(1, box[d][1])
        found += [[*box[:d], half, *box[d + 1:]] for half in ((start, at), (start + at, n - at))]
    return done


def partitioned(random):
    for type in TYPES:
        shape = random.choice(([300], [5, 40], [9000, 2], [3, 4, 70], [2, 3, 4, 5]))
        yield f"variable_{type}", (*tensor(random, type, shape), boxes(random, shape))


def note(path, tensors, shards, shard_of):
    record = Record(path, "tensorflow", "1")
    record.attribute("num_shards", shards)
    record.attribute("endianness", "LITTLE")
    for name, (type, shape, data, *slices) in sorted(tensors.items(), key=lambda item: item[0].encode()):
        attributes = {"tensor_type": type, **({"slices": len(slices[0])} if slices else {})}
        record.tensor(name, "tensorflow.sliced" if slices else "dense", TYPES[type][0], shape, data, components=len(slices[0]) if slices else 1, attributes=attributes,
                      shard=f"{path.stem}.data-{shard_of[name]:05}-of-{shards:05}")
    record.save()


def main(folder):
    for name, tensors, shards in [*checkpoints(random.Random(3)), ("partitioned", dict(partitioned(random.Random(4))), 1)]:
        shard_of = {tensor: i % shards for i, tensor in enumerate(tensors)}
        rows = [(tensor, *what[:3], shard_of[tensor], *what[3:]) for tensor, what in tensors.items()]
        for kind, how in (("", {"each": 1000}), ("_snappy", {"each": 100, "packed": True})):
            path = folder / f"{name}{kind}.index"
            tables.write(path, rows, shards, **how)
            note(path, tensors, shards, shard_of)


main(Path(sys.argv[1]))
