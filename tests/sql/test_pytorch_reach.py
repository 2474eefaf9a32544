"""No tensor of a pickle vanishes, wherever it stands: Python's own Unpickler finds the tensors of random pickles, with classes that
do nothing. A value in many places takes neither much time nor the file's tables."""
import functools
import io
import pickle
import random
import struct
import time

import pytest

from support import rows, value
from write_pytorch import ONES, STOP, archive, built, call, name, of, ordered, put, sparse, storage, tensor, text

NUMPY = "numpy.core.multiarray"


def dtype(kind="f4", order="<", *more):
    return call("numpy", "dtype", kind, False, True) + put((3, order, None, None, None, -1, -1, 0, *more)) + b"b"


def array(*state):
    return call(NUMPY, "_reconstruct", name("numpy", "ndarray"), (0,), b"C\1b") + put(state) + b"b"


FOUR = b"C\4abcd"
PLAIN = (1, (1,), dtype(), False, FOUR)


INDICES = tensor((1, 4), (4, 1), key="zeros", kind="ByteStorage", elements=16)


# ------------------------------------------------------------------------------------------------- tensors in odd places

def keyed(key, item):
    return b"}(" + put(key) + put(item) + b"u"


# The tensor's place, and the path of its row
PLACES = {
    "key": (lambda t: keyed(t, 5), "..."),
    "key_of_nothing": (lambda t: keyed(t, []), "..."),
    "key_in_tuple": (lambda t: keyed((1, t), 5), "(1, ...).1"),
    "key_in_call": (lambda t: keyed(call("m", "K", t), 5), "....0"),
    "key_of_pair": (lambda t: call("collections", "OrderedDict", [[t, 1]]), "..."),
    "third_of_pair": (lambda t: call("collections", "OrderedDict", [["a", 1, t]]), "0.2"),
    "set": (lambda t: call("builtins", "set", [1, t]), "1"),
    "state_of_set": (lambda t: call("builtins", "set", [1]) + put({"x": t}) + b"b", "x"),
    "same_many_times": (lambda t: functools.reduce(lambda made, _: call("torch.jit._pickle", "restore_type_tag", made, "T"), range(10), t), "0"),
    "third_of_same": (lambda t: call("torch.jit._pickle", "restore_type_tag", [1], "T", t), "2"),
    "list_of_same": (lambda t: call("torch.jit._pickle", "restore_type_tag", [1], "T") + t + b"a", "0"),
    "entry_of_same": (lambda t: call("torch.jit._pickle", "restore_type_tag", [1], "T") + text("k") + t + b"s", "k"),
    "state_of_same": (lambda t: call("torch.jit._pickle", "restore_type_tag", [1], "T") + put({"x": t}) + b"b", "x"),
    "keywords_of_same": (lambda t: name("torch.jit._pickle", "restore_type_tag") + put(([1],)) + put({"x": t}) + b"\x92", "x"),
    "keywords_of_ordered": (lambda t: name("collections", "OrderedDict") + b")" + put({"x": t}) + b"\x92", "x"),
    "second_of_ordered": (lambda t: call("collections", "OrderedDict", [], t), "1"),
    "argument_17": (lambda t: call("torch._utils", "_rebuild_tensor_v2", storage(), 0, (4,), (1,), False, ordered(), *[None] * 10, t), "16"),
    "slots": (lambda t: built("m", "C", (None, {"x": t})), "x"),
    "beside_what_is_the_same": (lambda t: call("torch.jit._pickle", "restore_type_tag", [1], t), "1"),
    "behind_state_of_array": (lambda t: array(*PLAIN, {"u": t}), "5.u"),
    "state_of_array": (lambda t: array(PLAIN, {"u": t}), "1.u"),
    "data_of_array_without_shape": (lambda t: array(1, "x", dtype("O8", "|"), False, [t]), "4.0"),
    "argument_of_array": (lambda t: call(NUMPY, "_reconstruct", name("numpy", "ndarray"), (0,), t) + put(PLAIN) + b"b", "2"),
    "metadata_of_dtype": (lambda t: array(1, (1,), dtype("f4", "<", {"m": t}), False, FOUR), "2.8.m"),
    "metadata_of_tensor": (lambda t: tensor(metadata={"conj": False, "m": t}), "m"),
    "requires_grad": (lambda t: call("torch._utils", "_rebuild_tensor_v2", storage(), 0, (4,), (1,), [t], ordered()), "0"),
    "hooks": (lambda t: call("torch._utils", "_rebuild_tensor_v2", storage(), 0, (4,), (1,), False, ordered({"h": t})), "h"),
    "hooks_of_quantized": (lambda t: call("torch._utils", "_rebuild_qtensor", storage(kind="QInt8Storage", elements=16), 0, (4,), (1,),
                                          (name("torch", "per_tensor_affine"), 0.5, 1), False, ordered({"h": t})), "h"),
    "state_of_sparse": (lambda t: sparse("coo", INDICES, tensor(), (4,)) + put({"h": t}) + b"b", "h"),
    "hooks_of_indices": (lambda t: sparse("coo", INDICES + put({"h": t}) + b"b", tensor(), (4,)), "1.0.h"),
    "items_of_tensor": (lambda t: tensor() + b"(" + text("k") + t + b"u", "k"),
    "state_of_type": (lambda t: call("torch._tensor", "_rebuild_from_type_v2", name("m", "f"), name("m", "c"), (1,), {"s": t}), "s"),
    "second_state_of_type": (lambda t: call("torch._tensor", "_rebuild_from_type_v2", name("m", "f"), name("m", "c"), (1,), {}) + put({"q": t}) + b"b", "q"),
    "argument_of_type": (lambda t: call("torch._tensor", "_rebuild_from_type_v2", name("m", "f"), name("m", "c"), (1, t), {}), "1"),
    "no_arguments_of_type": (lambda t: call("torch._tensor", "_rebuild_from_type_v2", name("m", "f"), 5, 7, {"s": t}), "3.s"),
    "what_a_parameter_is_of": (lambda t: call("torch._utils", "_rebuild_parameter", call("m", "f", t), True, ordered()), "0"),
    "persistent_id": (lambda t: put(("other", t)) + b"Q", "1"),
    "state_of_scalar": (lambda t: call(NUMPY, "scalar", dtype(), FOUR) + put({"x": t}) + b"b", "x"),
    "dtype_of_scalar": (lambda t: call(NUMPY, "scalar", dtype("f4", "<", {"m": t}), FOUR), "0.8.m"),
    "bytes": (lambda t: call("builtins", "bytes", t), "0"),
    "date": (lambda t: call("datetime", "date", b"C\4\x07\xe0\1\1", t), "1"),
    "callee": (lambda t: call("m", "f", t) + b")R", "0"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_tensor_is_a_row_wherever_it_stands(db, place):
    make, path = PLACES[place]
    source = of({"w": make(tensor(key="1"))}, storages={"0": ONES, "1": ONES[::-1], "zeros": bytes(16)})
    found = rows(db, "SELECT object, zt_dense(?1, object) FROM zt_objects(?1) WHERE json_extract(attributes, '$.storage') = '1'", source)
    assert found == [(f"w.{path}", ONES[::-1])]
    other = of({"w": make(tensor(key="1"))}, storages={"0": ONES, "1": ONES, "zeros": bytes(16)})
    a, b = (value(db, "SELECT zt_fingerprint(?)", one) for one in (source, other))
    assert a is None or a != b


@pytest.mark.parametrize("first", [tensor(key="0"), tensor((1, 2), key="0")], ids=["sound", "opaque"])
def test_more_states_than_are_kept_make_no_tensor_vanish(db, first):
    many = first
    for i in range(1, 12):
        many = call("torch._utils", "_rebuild_parameter_with_state", many, True, ordered(), {f"s{i}": tensor(key=str(i))})
    source = of({"w": many}, storages={str(i): ONES for i in range(12)})
    found = {key for key, in rows(db, "SELECT json_extract(attributes, '$.storage') FROM zt_objects(?) WHERE format = 'dense'", source)}
    assert found == {str(i) for i in range(12)}


# ------------------------------------------------------------------------------------------------------ random pickles

class Anything:
    """Stands for a class of the pickle: it keeps its arguments."""

    def __new__(cls, *arguments, **keywords):
        self = object.__new__(cls)
        self.has = [arguments, keywords]
        return self

    def keep(self, *given):
        self.has.append(given)

    __init__ = __setstate__ = __setitem__ = append = extend = add = update = keep

    def __call__(self, *arguments):
        return Anything(self, *arguments)


class Walker(pickle.Unpickler):
    """Finds storages, and the tensors made of them."""

    def find_class(self, module, name):
        return type(name, (Anything,), {"module": module})

    def persistent_load(self, id):
        found = Anything(id)
        found.key = id[2] if id[0] == "storage" else None
        return found


def storages_in(value):
    """The keys of all storages that can be reached from a value."""
    found, seen, left = set(), set(), [value]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Anything):
            found |= {one.key} if getattr(one, "key", None) else set()
            left += one.has
        elif isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            left += one
    return found


class Maker:
    """Random values, as opcodes, each tensor of a storage of its own; some stand in two places."""

    def __init__(self, seed):
        self.random, self.storages, self.memo = random.Random(seed), {}, 0

    def tensor(self):
        key = str(len(self.storages))
        self.storages[key] = ONES
        return self.random.choice((tensor, storage))(key=key)

    def scalar(self):
        return put(self.random.choice((None, True, 7, 0.5, "text", -2**70)))

    def many(self, depth):
        return [self.value(depth) for _ in range(self.random.randrange(4))]

    def key(self, depth):
        return put(self.random.choice((str(self.random.randrange(10**6)), self.random.randrange(10**6), self.random.random(),
                                       call("m", "Key", *self.many(depth)), (self.random.randrange(10**6), self.value(1)))))

    def items(self, depth):
        return b"(" + b"".join(self.key(depth) + self.value(depth) for _ in range(self.random.randrange(3))) + b"u"

    def state(self, depth):
        return self.random.choice((lambda: b"}" + self.items(depth), lambda: put((None, b"}" + self.items(depth))), lambda: put(tuple(self.many(depth))),
                                   lambda: put(self.many(depth)), lambda: self.value(depth)))()

    def value(self, depth):
        if depth <= 0:
            return self.random.choice((self.tensor, self.scalar))()
        depth -= 1
        made = self.random.choice(self.KINDS)(self, depth)
        if self.random.random() < 0.1 and self.memo < 250:
            self.memo += 1
            return made + b"q" + bytes([self.memo - 1]) + (b"0h" + bytes([self.memo - 1]) if self.random.random() < 0.5 else b"")
        return made

    KINDS = [
        lambda self, d: self.tensor(), lambda self, d: self.tensor(), lambda self, d: self.scalar(),
        lambda self, d: put(self.many(d)), lambda self, d: put(tuple(self.many(d))), lambda self, d: b"}" + self.items(d),
        lambda self, d: call("m", "f", *self.many(d)), lambda self, d: built("m", "C", b"}" + self.items(d)),
        lambda self, d: call("m", "f", *self.many(d)) + self.state(d) + b"b", lambda self, d: call("m", "L", *self.many(d)) + b"(" + self.value(d) + b"e",
        lambda self, d: call("m", "D") + self.items(d), lambda self, d: call("collections", "OrderedDict") + self.items(d),
        lambda self, d: call("collections", "OrderedDict", [[self.key(d), self.value(d)], self.value(d)]),
        lambda self, d: call("builtins", "set", self.many(d)), lambda self, d: call("collections", "Counter", b"}" + self.items(d)),
        lambda self, d: call("torch._utils", "_rebuild_parameter", self.value(d), True, self.value(d)),
        lambda self, d: call("torch._utils", "_rebuild_parameter_with_state", self.tensor(), True, ordered(), self.state(d)),
        lambda self, d: call("torch._tensor", "_rebuild_from_type_v2", name("m", "f"), name("m", "T"), tuple(self.many(d)), self.state(d)),
        lambda self, d: call("torch._tensor", "_rebuild_from_type_v2", name("torch._utils", "_rebuild_parameter"), name("m", "T"),
                             (self.value(d), True, ordered()), self.state(d)),
        lambda self, d: call("torch._utils", "_rebuild_wrapper_subclass", name("m", "T"), name("torch", "float32"), (2,), (1,), 0,
                             name("torch", "strided"), call("torch", "device", "cpu"), False) + self.state(d) + b"b",
        lambda self, d: tensor(key=self.own(), metadata=self.value(d)) + self.state(d) + b"b",
        lambda self, d: call("torch._utils", "_rebuild_sparse_tensor", *self.many(d)), lambda self, d: call("torch._utils", "_rebuild_tensor_v2", *self.many(d)),
        lambda self, d: call("torch.nn.parameter", "UninitializedParameter", *self.many(d)), lambda self, d: call("torch", "Size", *self.many(d)),
        lambda self, d: array(1, (2,), dtype("O8", "|"), False, self.many(d)), lambda self, d: array(*PLAIN, self.value(d)),
        lambda self, d: array(*self.many(d)), lambda self, d: call(NUMPY, "scalar", dtype(), *self.many(d)),
        lambda self, d: call("torch.jit._pickle", "restore_type_tag", self.value(d), self.value(d)),
        lambda self, d: call("_codecs", "encode", *self.many(d)), lambda self, d: put(("other", *self.many(d))) + b"Q",
        lambda self, d: self.value(d) + b")R", lambda self, d: name("m", "K") + put(tuple(self.many(d))) + b"}" + self.items(d) + b"\x92",
    ]

    def own(self):
        key = str(len(self.storages))
        self.storages[key] = ONES
        return key


def loaded(data):
    """The value that Python loads; None if that is an error, for instance if a number is called."""
    walker = Walker(io.BytesIO(data))
    try:
        return [walker.load()]
    except (TypeError, pickle.UnpicklingError, AttributeError):
        return None


@pytest.mark.parametrize("part", range(4))
def test_tensors_of_random_pickles_are_rows(db, part):
    count = opened = 0
    for seed in range(part * 500, part * 500 + 500):
        maker = Maker(seed)
        data = b"\x80\x04" + maker.value(5) + STOP
        wanted = loaded(data)
        if wanted is None:
            continue
        opened += 1
        found = {key for key, in rows(db, "SELECT json_extract(attributes, '$.storage') FROM zt_objects(?)", archive(data, storages=maker.storages))}
        missing = storages_in(wanted) - found
        assert missing == set(), (seed, data)
        count += len(found)
    assert opened > 300 and count > 1000


# ------------------------------------------------------------------------------------------ what stands in many places

LATIN = text("é" * 500_000)   # A megabyte
ENCODE = name("_codecs", "encode")
SCALAR, RECONSTRUCT = name(NUMPY, "scalar"), name(NUMPY, "_reconstruct")


def keep(*values):
    """Puts each of them into the memo, and takes it off the stack."""
    return b"".join(one + b"q" + bytes([i]) + b"0" for i, one in enumerate(values))


def times(n, opcodes, *kept):
    return archive(b"\x80\x04" + keep(*kept) + b"](" + opcodes * n + b"e" + STOP)


LATIN1 = text("latin1")
DICT = b"}(" + b"".join(text(f"k{i}") + b"K\1" for i in range(100_000)) + b"u"
LONG = b"(" + b"K\1" * 200_000 + tensor() + b"t"
DIMENSION = b"J" + struct.pack("<i", 125_000) + b"\x85"
TYPE = name("torch", "float32")
MANY = {
    "scalars": lambda: times(60_000, b"h\0h\1h\2h\3h\4\x86R\x86R", SCALAR, dtype(), ENCODE, LATIN, LATIN1),
    "scalars_of_zeros": lambda: times(60_000, b"h\0h\1h\2\x86R", SCALAR, dtype("S1000000", "|"), call("_codecs", "encode", "\0" * 1_000_000, "latin1")),
    "no_latin1": lambda: times(60_000, b"h\0h\1h\2\x86R", ENCODE, text("é" * 500_000 + "水"), LATIN1),
    "arrays": lambda: times(20_000, b"h\0)R(K\1" + DIMENSION + b"h\1\x89h\2h\3h\4\x86Rtb", RECONSTRUCT, dtype(), ENCODE, LATIN, LATIN1),
    "states": lambda: times(60_000, b"h\0)\x81h\1b", name("m", "C"), DICT),
    "empty_state": lambda: times(60_000, b"h\0)\x81h\1b", name("m", "C"), DICT.replace(b"K\1", b"]")),
    "arguments": lambda: times(100_000, b"h\0h\1\x85R", name("m", "f"), b"](" + b"K\1" * 1_000_000 + b"e"),
    "arguments_of_tensors": lambda: times(100_000, b"h\0h\1R", name("torch._utils", "_rebuild_tensor_v2"), LONG),
    "arguments_of_meta_tensors": lambda: times(100_000, b"h\0h\1R", name("torch._utils", "_rebuild_meta_tensor_no_storage"),
                                               b"(" + TYPE + put((2,)) + b"\x89" + b"K\1" * 200_000 + b"t"),
    "states_of_arrays": lambda: times(100_000, b"h\0)Rh\1b", RECONSTRUCT, LONG),
    "metadata": lambda: times(30_000, b"h\0(h\1K\0K\4\x85K\1\x85\x89Nh\2tR", name("torch._utils", "_rebuild_tensor_v2"), storage(), DICT),
    "long_keys": lambda: times(50_000, b"}(h\0]K\1]K\2]K\3]K\4]u", text("x" * 1_000_000)),
    "long_keys_alike": lambda: times(50_000, b"}(h\0]h\1]u", text("x" * 1_000_000), text("x" * 999_999 + "y")),
    "keys": lambda: archive(b"\x80\x04" + keep(DICT) + b"}(" + b"h\0K\1" * 200_000 + b"u" + STOP),
}


@pytest.mark.parametrize("kind", MANY)
def test_what_stands_in_many_places_takes_little_time(db, kind):
    """Quadratic time would be minutes. The work is inside one call of the table, where nothing counts it."""
    source = MANY[kind]()
    before = time.process_time()
    rows(db, "SELECT objects, error FROM zt_files(?)", source)
    assert time.process_time() - before < 5


@pytest.mark.parametrize("kind, data", [("bytes", b"B" + struct.pack("<I", 500_000) + b"abcd" * 125_000),
                                        ("latin1", call("_codecs", "encode", "é" * 500_000, "latin1"))])
def test_an_array_in_ten_thousand_places_is_ten_thousand_rows(db, kind, data):
    source = times(10_000, b"h\0", array(1, (125_000,), dtype(), False, data))
    assert rows(db, "SELECT count(*), count(DISTINCT object), count(DISTINCT fingerprint) FROM (SELECT object, fingerprint FROM zt_objects(?) LIMIT 50)",
                source) == [(50, 50, 1)]
    assert value(db, "SELECT objects FROM zt_files(?)", source) == 10_000
    assert rows(db, "SELECT length(zt_dense(?1, '0')), zt_dense(?1, '0') = zt_dense(?1, '9999')", source) == [(500_000, 1)]


def test_a_list_of_lists_of_lists_that_are_one_is_read(db):
    """Even a row for each repetition would be too much."""
    levels = (b"(" + b"h\0" * 65_536 + b"tq\0") * 8
    source = archive(b"\x80\x04" + tensor() + b"q\1K\5h\1\x86q\0" + levels + STOP)
    assert value(db, "SELECT error FROM zt_files(?)", source) is None
    repeated = value(db, "SELECT count(*) FROM zt_objects(?) WHERE format = 'torch.repeated'", source)
    assert 1000 < repeated < 600_000 and value(db, "SELECT count(*) FROM zt_objects(?) WHERE format = 'dense'", source) > 0


def test_a_model_that_is_its_own_average_is_shown_in_both_places(db):
    model = b"}(" + b"".join(put(f"layers.{i}") + b"}" + put("weight") + tensor() + b"s" for i in range(10_000)) + b"uq\0"
    source = archive(b"\x80\x04}(" + put("model") + model + put("ema") + b"h\0u" + STOP)
    assert rows(db, "SELECT format, count(*) FROM zt_objects(?) GROUP BY 1", source) == [("dense", 20_000)]


def much(last):
    """A list, so often that nothing is shown again, and behind it one that was shown before."""
    big = b"](" + b"K\1" * 1000 + b"eq\0"
    rest = b"(" + b"h\0" * 200 + b"lq\3" + b"(" + b"h\3" * 10 + b"l"
    return archive(b"\x80\x04}(" + put("p") + b"](" + tensor() + b"eq\1" + put("q") + b"](" + tensor(key="1") + b"eq\2"
                   + put("f") + b"](" + big + rest + b"e" + put("z") + last + b"u" + STOP,
                   storages={"0": ONES, "1": struct.pack("<4f", 2, 3, 4, 5)})


def test_what_is_not_shown_again_is_no_reason_to_think_two_files_the_same(db):
    files = [much(b"h\1"), much(b"h\2")]
    for source in files:
        assert rows(db, "SELECT object, format FROM zt_objects(?) ORDER BY 1", source) == [
            ("p.0", "dense"), ("q.0", "dense"), ("z", "torch.repeated")]
        assert rows(db, "SELECT zt_fingerprint(?)", source) == [(None,)]
        assert rows(db, "SELECT object, severity, rule FROM zt_check(?, 'full')", source) == [("z", "note", "no-values")]


def test_what_is_not_shown_again_in_a_dropped_call_is_told_at_its_name(db):
    big = b"](" + b"K\1" * 1000 + b"eq\0"
    rest = b"(" + b"h\0" * 200 + b"lq\3" + b"(" + b"h\3" * 10 + b"l"
    source = archive(b"\x80\x04}(" + put("p") + b"](" + tensor() + b"eq\1" + put("f") + b"](" + big + rest + b"e" + b"u"
                     + name("m", "f") + tensor() + b"\x85Rh\1b0" + STOP)
    assert rows(db, "SELECT object, format FROM zt_objects(?) ORDER BY 1", source) == [("f", "torch.repeated"), ("f.0", "dense"), ("p.0", "dense")]


# ------------------------------------------------------------------------------------------ calls for what they do to others

SETTER = name("m", "setter")
STATES = {
    # Opcodes that set the state, with the object at memo 0 and another one at memo 1; the tensor's path
    "function": (lambda t: SETTER + b"h\0" + put({"z": t}) + b"\x86R0", "o.z"),
    "in_a_slot": (lambda t: SETTER + b"h\0N" + put({"z": t}) + b"\x86\x86R0", "o.z"),
    "tuple_of_more": (lambda t: SETTER + b"h\0" + put((t, 1, 2)) + b"\x86R0", "o.0"),
    "of_another_state": (lambda t: SETTER + b"h\1" + put({"z": t}) + b"\x86R0" + SETTER + b"h\0}(" + put("y") + b"h\1u\x86R0", "o.y.z"),
    "setattr": (lambda t: name("builtins", "setattr") + b"h\0" + put("z") + t + b"\x87R0", "setattr.2"),
    "mark": (lambda t: b"(" + name("m", "f") + t + b"\x85R1", "f.0"),
    "left_on_the_stack": (lambda t: name("m", "f") + t + b"\x85R", "f.0"),
    "to_a_list": (lambda t: b"]q\2" + b"0" + SETTER + b"h\2" + put({"z": t}) + b"\x86R0", "setter.1.z"),
    "of_a_call_of_a_call": (lambda t: name("m", "f") + b")R" + t + b"\x85R0", ".0"),
    "twice": (lambda t: SETTER + b"h\0" + put({"a": 1}) + b"\x86R0" + SETTER + b"h\0" + put({"z": t}) + b"\x86R0", "setter.1.z"),
}


@pytest.mark.parametrize("case", STATES)
def test_a_tensor_that_a_dropped_call_sets_is_a_row(db, case):
    opcodes, path = STATES[case]
    start = b"\x80\x02" + call("m", "Object") + b"q\0" + b"0" + call("m", "Other") + b"q\1" + b"0"
    source = [archive(start + opcodes(tensor(key=key)) + put({"w": tensor(), "o": b"h\0"}) + STOP,
                      storages={"0": ONES, "1": struct.pack("<4f", 2, 3, 4, 5)}) for key in "01"]
    for s in source:
        assert sorted(rows(db, "SELECT object FROM zt_objects(?)", s)) == sorted([("w",), (path,)])
    assert value(db, "SELECT zt_fingerprint(?)", source[0]) != value(db, "SELECT zt_fingerprint(?)", source[1])


@pytest.mark.parametrize("n, path", [(7, "o" + ".z" * 7), (12, None)])
def test_states_of_states_that_are_set_in_the_opposite_order(db, n, path):
    """In each of 8 rounds one of them is found to be an object's; a tensor further away is a row all the same."""
    source = b"\x80\2"
    for i in range(n):
        source += call("m", "Object") + bytes([ord("q"), i]) + b"0"
    source += SETTER + bytes([ord("h"), n - 1]) + put({"z": tensor()}) + b"\x86R0"
    for i in reversed(range(n - 1)):
        source += SETTER + bytes([ord("h"), i]) + b"}(" + put("z") + bytes([ord("h"), i + 1]) + b"u\x86R0"
    found, = rows(db, "SELECT object FROM zt_objects(?)", archive(source + put({"o": b"h\0"}) + STOP))
    assert path in (found[0], None) and found[0].endswith(".z")


def test_a_state_that_an_object_has_already_is_not_set_again(db):
    """It stands in the file, too."""
    source = b"\x80\2" + call("m", "Object") + b"q\0" + b"0" + put({"z": tensor()}) + b"q\1" + b"0" + SETTER + b"h\0h\1\x86R0"
    assert rows(db, "SELECT object FROM zt_objects(?)", archive(source + put({"o": b"h\0", "d": b"h\1"}) + STOP)) == [("d.z",)]


def test_a_list_gets_no_state(db):
    """Values beside a dropped call are shown at the call's name."""
    source = b"\x80\2]q\0" + SETTER + b"h\0" + put({"z": tensor()}) + b"\x86R0."
    assert rows(db, "SELECT object FROM zt_objects(?)", archive(source)) == [("setter.1.z",)]


def test_a_call_that_is_made_twice_is_shown_once(db):
    """As what holds itself is pickled: the object was made while its arguments were, and what was made last is dropped."""
    source = archive(b"\x80\x02](" + tensor() + b"q\1" + name("m", "Node") + b"h\1\x85Rq\0" + name("m", "Node") + b"h\1\x85R0e" + STOP)
    assert rows(db, "SELECT object FROM zt_objects(?)", source) == [("0",), ("1.0",)]


def test_large_arguments_of_many_calls_do_not_refuse_a_file(db):
    source = times(1000, b"h\0h\1\x85R", name("m", "f"), b"](" + b"K\1" * 8000 + b"e", tensor())
    assert rows(db, "SELECT objects, error FROM zt_files(?)", source) == [(0, None)]
    assert rows(db, "SELECT json_extract(value, '$.\"$opaque\"') FROM zt_attributes(?) WHERE key IN ('0', '999')", source) == [("m.f",)] * 2
