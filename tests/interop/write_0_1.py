"""Writes files with ztensor 0.1.x: python write_0_1.py DIRECTORY. Its writer has dense tensors, raw, without checksums."""
import sys

import ztensor

import content


def write(path, arrays):
    with ztensor.Writer(path) as writer:
        for name, array in arrays.items():
            writer.add_tensor(name, array)
    content.record(path, "0.1", {name: content.dense(array) for name, array in arrays.items()})


directory, = sys.argv[1:]
write(f"{directory}/none.zt", {})
write(f"{directory}/dtypes.zt", content.dtypes())
write(f"{directory}/ranks.zt", content.ranks())
write(f"{directory}/names.zt", content.names())
write(f"{directory}/large.zt", content.large())
