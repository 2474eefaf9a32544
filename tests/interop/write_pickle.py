"""Writes pickles with numpy, scikit-learn and joblib, and beside each what these read in it: write_pickle.py FOLDER"""
import copyreg
import pickle
import sys
import types
from pathlib import Path

import joblib
import numpy as np
import scipy.sparse
import sklearn.datasets
import sklearn.ensemble
import sklearn.feature_extraction.text
import sklearn.linear_model
import sklearn.neighbors
import sklearn.neural_network
import sklearn.pipeline
import sklearn.preprocessing
import sklearn.svm
import sklearn.tree

import arrays
from foreign import Record

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
PLAIN = (str, bytes, bytearray, bool, int, float, type(None))


def descr(dtype):
    """As an npy header has it, but without the padding of records."""
    if dtype.names:
        return [field(name, dtype.fields[name][0]) for name in dtype.names]
    return "|O" if dtype.kind == "O" else dtype.str


def field(name, dtype):
    return [name, descr(dtype.subdtype[0]), list(dtype.subdtype[1])] if dtype.subdtype else [name, descr(dtype)]


class Walk:
    """The arrays of a value in the order of its pickle, and, of plain values, the attributes."""

    def __init__(self, record, protocol):
        self.record, self.protocol, self.open = record, protocol, []

    def array(self, path, a):
        kind = a.dtype.kind if a.dtype.char not in "gG" else a.dtype.char
        format = "numpy.structured" if a.dtype.names else arrays.FORMATS.get(kind, "dense")
        word = {"b": "bool", "i": "i", "u": "u", "f": "f", "c": "complex"}.get(a.dtype.kind)
        dtype = word if word == "bool" else word and f"{word}{8 * a.dtype.itemsize}"
        fortran = a.flags.f_contiguous and not a.flags.c_contiguous
        data = None
        if format == "dense":
            data = a.astype(a.dtype.newbyteorder("<")).tobytes()
        elif not a.dtype.hasobject:
            data = a.tobytes("F" if fortran else "C")
        self.record.tensor(path, format, dtype if format == "dense" else None, a.shape, data, components=0 if a.dtype.hasobject else 1,
                           attributes={"descr": descr(a.dtype), "fortran_order": fortran})
        if a.dtype.hasobject:
            for i, item in enumerate(a.ravel().tolist()):
                self.value(f"{path}.{i}" if path else str(i), item)

    def value(self, path, value, silent=False):
        inside = f"{path}." if path else ""
        if isinstance(value, np.ndarray):
            self.array(path, value)
        elif isinstance(value, np.generic):
            self.leaf(path, value.item() if not isinstance(value, np.void) else None, silent)
        elif isinstance(value, PLAIN):
            self.leaf(path, value.hex() if isinstance(value, (bytes, bytearray)) else value, silent)
        elif isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
            self.leaf(path, {"$opaque": None}, silent)
        elif type(value) in (dict, list, tuple, set) and not value and path:
            self.leaf(path, {} if isinstance(value, dict) else [], silent)
        elif type(value) is dict:
            for key, item in value.items():
                self.value(f"{inside}{key}", item, silent)
        elif type(value) in (list, tuple, set):
            for i, item in enumerate(value):
                self.value(f"{inside}{i}", item, silent)
        elif all(value is not other for other in self.open):
            self.open.append(value)
            self.object(path, inside, value, silent)
            self.open.pop()

    def leaf(self, path, value, silent):
        if not silent:
            self.record.attribute(path, value)

    def object(self, path, inside, value, silent):
        self.leaf(path, {"$opaque": None}, silent)
        made = value.__reduce_ex__(self.protocol)
        args = made[1][1:] if made[0] is copyreg.__newobj__ else made[1]
        for i, item in enumerate(args):
            self.value(f"{inside}{i}", item, True)
        state = made[2] if len(made) > 2 else None
        parts = state if isinstance(state, tuple) and len(state) == 2 and all(isinstance(s, (dict, type(None))) for s in state) else [state]
        for part in parts:
            if isinstance(part, (dict, list, tuple)):
                self.value(path, part)


def check(value, read):
    """What was written is read back; numpy makes its arrays of the machine's byte order."""
    if isinstance(value, dict):
        assert value.keys() == read.keys()
        for key in value:
            check(value[key], read[key])
    elif isinstance(value, np.ndarray) and value.dtype.kind not in "OV":
        assert value.shape == read.shape and np.asarray(value).astype(read.dtype).tobytes() == read.tobytes()


def note(path, value, protocol, all_leaves=True):
    record = Record(path, "pickle", str(protocol) if protocol >= 2 else None)
    record.what["all"] = all_leaves
    Walk(record, protocol).value("", value)
    record.save()


def every(rng):
    shapes = [(), (7,), (3, 5), (2, 0, 3), (2, 3, 4)]
    return {f"{dtype.str}{order}{k}": np.asarray(arrays.array(rng, dtype, shape), order=order)
            for dtype in arrays.dtypes() for order in "CF" for k, shape in enumerate(shapes)}


def nested(rng):
    shared = rng.standard_normal((4, 3))
    return {"epoch": 3, "lr": 1e-3, "name": "Ünïcode 水", "raw": b"\0\xff", "none": None, "yes": True, "list": [1, 2.5, [shared], {"x": shared[:2].copy()}],
            "tuple": (np.float32(0.5), np.int64(-7), np.bool_(True)), "huge": 1 << 80, "empty": {}, "nothing": [], "shared": shared,
            "strided": shared[::2, ::2].copy(), "view": shared.T, "cls": dict, "function": len, 5: "five", "set": {"one"}}


def models(rng):
    x, y = sklearn.datasets.make_classification(60, 6, random_state=0)
    make = sklearn.pipeline.make_pipeline
    found = {
        "pipeline": make(sklearn.preprocessing.StandardScaler(), sklearn.linear_model.LogisticRegression()),
        "tree": sklearn.tree.DecisionTreeClassifier(max_depth=3),
        "forest": sklearn.ensemble.RandomForestClassifier(5, random_state=0),
        "boosting": sklearn.ensemble.HistGradientBoostingClassifier(max_iter=3),
        "svc": sklearn.svm.SVC(), "neighbours": sklearn.neighbors.KNeighborsClassifier(algorithm="brute"),
        "perceptron": sklearn.neural_network.MLPClassifier((5,), max_iter=5, random_state=np.random.RandomState(0)),
    }
    for model in found.values():
        model.fit(x, y)
    words = sklearn.feature_extraction.text.TfidfVectorizer().fit(["one two", "two three"])
    codes = sklearn.preprocessing.OneHotEncoder().fit(np.array([["a", 1], ["b", 2]], dtype=object))
    return {**found, "words": words, "codes": codes, "sparse": scipy.sparse.random(5, 4, 0.5, "csr", random_state=0)}


def main(folder):
    folder, rng = Path(folder), np.random.default_rng(31)
    values = {"every": every(rng), "others": arrays.others(), "nested": nested(rng), "lone": rng.standard_normal((2, 3)), "leaf": {"a": [1]}}
    for name, value in values.items():
        for protocol in PROTOCOLS:
            path = folder / f"{name}_{protocol}.pkl"
            path.write_bytes(pickle.dumps(value, protocol))
            check(value, pickle.loads(path.read_bytes()))
            note(path, value, protocol)
    kinds = {"plain": 0, "one": 1, "zlib": ("zlib", 9), "gzip": ("gzip", 3)}
    for name, value in values.items():
        for kind, compress in kinds.items():
            path = folder / f"{name}_{kind}.joblib"
            joblib.dump(value, path, compress=compress)
            check(value, joblib.load(path))
            note(path, value, pickle.DEFAULT_PROTOCOL)
    for name, model in models(rng).items():
        for protocol in (2, 4, 5):
            path = folder / f"{name}_{protocol}.pickle"
            path.write_bytes(pickle.dumps(model, protocol))
            note(path, model, protocol, False)
        for kind, compress in kinds.items():
            path = folder / f"model_{name}_{kind}.joblib"
            joblib.dump(model, path, compress=compress)
            note(path, model, pickle.DEFAULT_PROTOCOL, False)


main(sys.argv[1])
