"""Writes states with flax, whose optimizers are optax's, and beside each what flax reads in it: write_flax.py FOLDER"""
import os
import sys
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
import flax.linen as nn  # noqa: E402
import flax.serialization  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
from flax.training.train_state import TrainState  # noqa: E402

from foreign import Record  # noqa: E402
from write_msgpack import TYPES, shown  # noqa: E402


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.BatchNorm(use_running_average=True)(nn.Dense(5, param_dtype=jnp.bfloat16)(x))
        return nn.Dense(2)(nn.relu(x))


def note_tree(record, path, tree):
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            note_tree(record, f"{path}/{key}" if path else key, value)
    elif isinstance(tree, (np.ndarray, jax.Array)):
        tree = np.asarray(tree)
        record.tensor(path, "dense", TYPES[tree.dtype.name], tree.shape, tree.tobytes(), attributes={"dtype": tree.dtype.name})
    else:
        record.attribute(path, shown(tree))


def write(path, state):
    path.write_bytes(flax.serialization.to_bytes(state))
    record = Record(path, "msgpack")
    note_tree(record, "", flax.serialization.msgpack_restore(path.read_bytes()))
    record.save()


def main(folder):
    folder = Path(folder)
    variables = Model().init(jax.random.PRNGKey(1), jnp.ones((1, 4)))
    write(folder / "variables.msgpack", variables)
    for name, optimizer in (("adamw", optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))), ("sgd", optax.sgd(0.1, momentum=0.9)), ("lion", optax.lion(1e-4))):
        state = TrainState.create(apply_fn=None, params=variables["params"], tx=optimizer)
        write(folder / f"{name}.msgpack", state.apply_gradients(grads=jax.tree_util.tree_map(jnp.ones_like, variables["params"])))
    write(folder / "leaves.msgpack", {"f8": np.array([1, 2], ml_dtypes.float8_e4m3fn), "complex": np.array([[1 + 2j]]), "scalar": np.float32(2.5), "zero": np.array(3), "text": "t",
                                      "none": None, "empty": {}, "list": [np.arange(3), (1, -2)], "column_major": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "key": jax.random.PRNGKey(5)})
    flax.serialization.MAX_CHUNK_SIZE = 64
    write(folder / "chunks.msgpack", {"large": np.arange(100.0).reshape(10, 10), "small": np.ones(2), "nested": {"bf16": jnp.arange(77, dtype=jnp.bfloat16)}})


if __name__ == "__main__":
    main(sys.argv[1])
