"""hdf5_chunks.py FILE: the chunks of all datasets as least.c takes pieces: offset, stored bytes, decoded bytes, file."""

import math
import sys

import h5py


def main(path: str) -> None:
    with h5py.File(path) as file:
        for data in file.values():
            size = math.prod(data.chunks) * data.dtype.itemsize
            for i in range(data.id.get_num_chunks()):
                chunk = data.id.get_chunk_info(i)
                print(chunk.byte_offset, chunk.size, size, path)


if __name__ == "__main__":
    main(sys.argv[1])
