"""Writes models with Keras on numpy, and beside each what h5py reads in it: write_keras.py FOLDER"""
import os
import sys
import zipfile
from pathlib import Path

os.environ["KERAS_BACKEND"] = "numpy"
import h5py  # noqa: E402
import keras  # noqa: E402

import write_hdf5  # noqa: E402
from foreign import Record  # noqa: E402


def models():
    """(name, model)"""
    yield "dense", keras.Sequential([keras.Input((4,)), keras.layers.Dense(5, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dense(2)])
    yield "convolutions", keras.Sequential([keras.Input((8, 8, 3)), keras.layers.Conv2D(4, 3), keras.layers.DepthwiseConv2D(3), keras.layers.Flatten(), keras.layers.Dense(2, dtype="float16")])
    yield "words", keras.Sequential([keras.Input((6,), dtype="int32"), keras.layers.Embedding(10, 4), keras.layers.LSTM(3), keras.layers.Dense(1)])
    first = keras.Input((4,), name="first input")
    second = keras.Input((4,), name="Ünïcode")
    shared = keras.layers.Dense(3, name="shared_layer")
    yield "functional", keras.Model([first, second], keras.layers.Add()([shared(first), shared(second)]))


def note_archive(path):
    """A `.keras` file is an archive with the weights, which are not compressed; its texts are attributes."""
    with zipfile.ZipFile(path) as archive:
        weights = archive.read("model.weights.h5")
    inner = path.with_suffix(".h5")
    inner.write_bytes(weights)
    record = Record(path, "hdf5", str(weights[8]))
    record.what["all"] = False
    with h5py.File(inner) as file:
        write_hdf5.walk(record, file, "", {h5py.h5o.get_info(file["/"].id).addr})
    inner.unlink()
    record.save()


def main(folder):
    folder = Path(folder)
    for name, model in models():
        model.compile(optimizer="adam", loss="mse")
        model.optimizer.build(model.trainable_variables)
        model.save(folder / f"{name}.keras")
        model.save_weights(folder / f"{name}_weights.weights.h5")
        model.save(folder / f"{name}_legacy.h5")
        note_archive(folder / f"{name}.keras")
    for path in sorted(folder.glob("*.h5")):
        write_hdf5.note(path)


if __name__ == "__main__":
    main(sys.argv[1])
