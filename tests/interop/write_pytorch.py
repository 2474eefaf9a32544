"""Writes files with torch, and beside each what torch reads in it: write_pytorch.py FOLDER"""
import copy
import datetime
import io
import sys
import warnings
from collections import Counter, OrderedDict, namedtuple
from pathlib import Path

import numpy
import torch

from foreign import Record

DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "int16": "i16",
          "int8": "i8", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool", "complex64": "complex64",
          "complex128": "complex128", "float8_e4m3fn": "f8_e4m3fn", "float8_e5m2": "f8_e5m2", "float8_e4m3fnuz": "f8_e4m3fnuz",
          "float8_e5m2fnuz": "f8_e5m2fnuz", "float8_e8m0fnu": "f8_e8m0"}
QUANTIZED = ["qint8", "quint8", "qint32"]
LAYOUTS = {torch.sparse_csr: "sparse_csr", torch.sparse_csc: "torch.sparse_csc", torch.sparse_bsr: "torch.sparse_bsr", torch.sparse_bsc: "torch.sparse_bsc"}
NUMPY = {"b": "bool", "i": "i", "u": "u", "f": "f", "c": "complex"}   # And how many bits
MODULE = ("_parameters", "_buffers", "_modules")


def data_of(tensor):
    """Its bytes, row-major."""
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return plain.reshape(-1).view(torch.uint8).numpy().tobytes()


def dense_of(tensor):
    """The same of a matrix of compressed rows or columns, or of blocks of them, of which this torch cannot make a dense one of every kind."""
    rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
    outer, inner = (tensor.crow_indices(), tensor.col_indices()) if rows else (tensor.ccol_indices(), tensor.row_indices())
    values, dense = tensor.values(), torch.zeros(tensor.shape, dtype=tensor.dtype)
    blocks = values if values.dim() == 3 else values.reshape(-1, 1, 1)
    for i in range(len(outer) - 1):
        for k in range(int(outer[i]), int(outer[i + 1])):
            row, column = (i, int(inner[k])) if rows else (int(inner[k]), i)
            height, width = blocks.shape[1:]
            dense[row * height:(row + 1) * height, column * width:(column + 1) * width] = blocks[k]
    return dense


def note_array(record, name, array):
    kind, bits = array.dtype.kind, 8 * array.dtype.itemsize
    if kind == "O":
        record.tensor(name, "numpy.object", None, array.shape, None, components=0)
        note_all(record, name, list(array.ravel()))
    elif kind not in NUMPY or array.dtype == numpy.longdouble:
        record.tensor(name, {"U": "numpy.unicode", "S": "numpy.bytes", "M": "numpy.datetime64", "V": "numpy.structured", "f": "numpy.longdouble"}[kind],
                      None, array.shape, None)
    else:
        type = NUMPY[kind] + ("" if kind == "b" else str(bits))
        record.tensor(name, "dense", type, array.shape, array.astype(array.dtype.newbyteorder("<")).tobytes(order="C"))


def note_tensor(record, name, tensor):
    word = str(tensor.dtype).removeprefix("torch.")
    if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
        record.tensor(name, "torch.uninitialized", None, None, None, components=0)
    elif tensor.is_nested:
        record.tensor(name, "torch.nested", None, None, None, components=4)
    elif tensor.is_meta:
        record.tensor(name, "torch.meta", DTYPES[word], tensor.shape, None, components=0)
    elif tensor.layout in LAYOUTS:
        record.tensor(name, LAYOUTS[tensor.layout], DTYPES[word], tensor.shape, data_of(dense_of(tensor)), components=3)
    elif tensor.layout == torch.sparse_coo:
        record.tensor(name, "torch._rebuild_sparse_tensor", DTYPES[word], tensor.shape, data_of(tensor.to_dense()), components=2)
    elif tensor.is_quantized:
        record.tensor(name, f"torch.{word}", None, tensor.shape, bytes(tensor.int_repr().contiguous().numpy()))
        if tensor.qscheme() in (torch.per_channel_affine, torch.per_channel_affine_float_qparams):
            note_tensor(record, f"{name}.quantizer.1", tensor.q_per_channel_scales())
            note_tensor(record, f"{name}.quantizer.2", tensor.q_per_channel_zero_points())
    else:
        record.tensor(name, "dense", DTYPES[word], tensor.shape, data_of(tensor), attributes={
            "storage_offset": tensor.storage_offset(), "stride": list(tensor.stride()), "contiguous": tensor.is_contiguous(),
            "requires_grad": tensor.requires_grad})


def note_all(record, name, thing):
    """The tensors and the leaves below a thing that torch has read, by dotted path."""
    if isinstance(thing, torch.Tensor):
        note_tensor(record, name, thing)
        if type(thing) not in (torch.Tensor, torch.nn.Parameter):
            note_all(record, name, thing.__dict__)
    elif isinstance(thing, numpy.ndarray):
        note_array(record, name, thing)
    elif isinstance(thing, torch.nn.Module):
        record.attribute(name, {"$opaque": None})
        for key, value in thing.__dict__.items():
            note_all(record, name if key in MODULE else f"{name}.{key}" if name else key, value)
    elif isinstance(thing, torch.storage.TypedStorage):
        word = str(thing.dtype).removeprefix("torch.")
        record.tensor(name, "dense", DTYPES[word], (len(thing),), data_of(torch.tensor(list(thing), dtype=thing.dtype)))
    elif isinstance(thing, set):
        assert len(thing) < 2, "a set has no order"
        note_all(record, name, list(thing))
    elif isinstance(thing, numpy.generic):
        note_all(record, name, thing.item())
    elif isinstance(thing, datetime.date):
        record.attribute(name, thing.isoformat())
    elif isinstance(thing, torch.Size) or not isinstance(thing, (dict, list, tuple)):
        plain = thing is None or isinstance(thing, (bool, int, float, str))
        record.attribute(name, thing if plain else {"$opaque": None})
    elif hasattr(thing, "_fields"):
        record.attribute(name, {"$opaque": None})
        note_all(record, name, tuple(thing))
    else:
        for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing):
            note_all(record, f"{name}.{key}" if name else str(key), value)


def load(path):
    try:
        return torch.load(path, weights_only=False)
    except TypeError:   # Before 1.13
        return torch.load(path)


def write(path, thing, **how):
    torch.save(thing, path, **how)
    record = Record(path, "pytorch", "3" if how.get("_use_new_zipfile_serialization", True) else "1001")
    note_all(record, "", load(path))
    record.save()


def writable(things):
    """Those that this torch can write: it may make tensors of which it cannot."""
    found = {}
    for name, thing in things.items():
        try:
            torch.save(thing, io.BytesIO())
            found[name] = thing
        except (NotImplementedError, RuntimeError) as error:
            print(f"write_pytorch: {name}: {error}")
    return found


def numbers(dtype, shape):
    """With every pattern of bits."""
    size = torch.empty(shape, dtype=dtype).numel() * torch.empty((), dtype=dtype).element_size()
    pattern = torch.randint(0, 2 if dtype == torch.bool else 256, (size,), dtype=torch.uint8)
    return pattern.view(dtype).reshape(shape)


def trained():
    """A small model, its optimizer and schedule after some steps."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.Adam([{"params": model[0].parameters(), "lr": 0.01}, {"params": model[3].parameters()}], lr=0.001)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    loss = None
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(16, 4)).pow(2).mean()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model, optimizer, schedule, loss.item()


def views():
    base = torch.randn(6, 8)
    complex = torch.randn(3, 4, dtype=torch.complex64)
    return {"base": base, "row": base[2], "column": base[:, 3], "transposed": base.t(), "strided": base[1::2, ::3],
            "expanded": torch.randn(3, 1).expand(3, 4), "scalar": base[1, 1], "everywhere": torch.tensor(2.5).expand(5, 5),
            "tied": base, "permuted": torch.randn(2, 3, 4).permute(2, 0, 1), "real": complex.real,
            "channels_last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last), "windows": torch.arange(9).unfold(0, 4, 2)}


def sparse():
    plain = torch.randn(4, 5).relu()
    integers = torch.tensor([[0, 0, 3], [7, 0, 0]])
    return {"plain": plain.to_sparse(), "integers": integers.to_sparse(), "vector": torch.tensor([0.0, 1.5]).to_sparse(),
            "empty": torch.zeros(2, 3).to_sparse(), "repeated": torch.sparse_coo_tensor([[1, 1], [2, 2]], [1.0, 2.0], (3, 4))}


def quantized():
    plain = torch.linspace(-1, 1, 15).reshape(3, 5)
    each = {kind: torch.quantize_per_tensor(plain, 0.01, 3, getattr(torch, kind)) for kind in QUANTIZED}
    return {**each, "channels": torch.quantize_per_channel(plain, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2]), 0, torch.qint8)}


def layouts():
    plain = torch.tensor([[0.0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 0], [0, 5, 0, 6]])
    each = {f"{what}.{name}": getattr(one, f"to_sparse_{name}")(*blocks) for what, one in (("real", plain), ("integer", plain.long()), ("wide", plain[:2].double()))
            for name, blocks in (("csr", ()), ("csc", ()), ("bsr", ((2, 2),)), ("bsc", ((2, 1),)))}
    narrow = torch.sparse_csr_tensor(torch.tensor([0, 1, 3], dtype=torch.int32), torch.tensor([2, 0, 1], dtype=torch.int32), torch.tensor([1.0, 2.0, 3.0]), (2, 3))
    hybrid = torch.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 4.0]], (3, 2))
    return writable({**each, "narrow": narrow, "hybrid": hybrid, "deep": torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], torch.randn(3, 2, 2), (2, 3, 2, 2))})


class Tagged(torch.Tensor):
    """A subclass, and what it has beside its elements."""


def subclasses():
    tagged = torch.randn(3, 2).as_subclass(Tagged)
    tagged.note, tagged.scale = "of some use", torch.tensor([0.5, 2.0])
    view, parameter = tagged[1:], torch.nn.Parameter(torch.randn(2))
    view.of = parameter.of = "another"
    return {"tagged": tagged, "view": view, "parameter": parameter}


def lazily():
    complex = torch.randn(2, 3, dtype=torch.complex64)
    return {"conj": complex.conj(), "transposed": complex.conj().t(), "imaginary": torch.randn(3, dtype=torch.complex64).conj().imag, "plain": complex}


Pair = namedtuple("Pair", "weight bias")


def calls():
    """Values that are calls in a pickle."""
    return {"pair": Pair(torch.randn(2), 7), "count": Counter({"a": 3}), "when": datetime.datetime(2024, 5, 6, 7, 8, 9, 10), "day": datetime.date(1999, 12, 31),
            "storage": torch.arange(4.0).storage(), "mixed": [Pair(1, Pair(torch.ones(1), None))]}


def arrays():
    base = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
    every = {kind: numpy.array([[0, 1, 2], [3, 4, 5]]).astype(kind) for kind in ("?", "i1", "u1", "<i2", ">i4", "u8", "<f2", ">f4", "f8", "c8", ">c16")}
    return {"types": every, "fortran": numpy.asfortranarray(base), "transposed": base.transpose(2, 0, 1), "part": base[:, ::2], "none": base[:0], "one": numpy.array(5.0),
            "text": numpy.array(["a", "bc"]), "bytes": numpy.array([b"a"]), "dates": numpy.array(["2024-01-01"], "M8[D]"), "long": numpy.zeros(2, "g"),
            "fields": numpy.zeros(2, [("a", "f4")]), "objects": numpy.array([torch.ones(2), "text", None, base[0]], object),
            "scalars": [numpy.float32(0.1), numpy.int64(-3), numpy.uint8(200), numpy.bool_(True), numpy.float64(1e300), numpy.str_("Ünïcode"), numpy.float16(0.5)],
            "keys": {numpy.int64(3): 1}, "best": numpy.float64(0.25)}


class Block(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(2))
        self.inner = inner
        self.register_buffer("seen", torch.tensor([1, 2]))
        self.register_buffer("cache", torch.ones(3), persistent=False)
        self.register_parameter("none", None)
        self.table, self.name = torch.arange(3), "block"


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.register_buffer("steps", torch.tensor(7))

    def forward(self, x):
        return self.norm(self.first(x))


def write_script(path):
    """TorchScript. What torch reads are the tensors, by their names among its modules."""
    model = Network().eval()
    torch.jit.save(torch.jit.script(model), str(path))
    record = Record(path, "pytorch", "3")
    for name, tensor in torch.jit.load(str(path)).state_dict(keep_vars=True).items():
        note_tensor(record, name, tensor)
    record.what["all"] = False   # Not the settings of its modules
    record.save()


def main(folder):
    folder = Path(folder)
    torch.manual_seed(15)
    shapes = [(), (7,), (3, 5), (2, 0, 3), (2, 3, 4)]
    known = [getattr(torch, name) for name in DTYPES if hasattr(torch, name)]
    write(folder / "dtypes.pt", {f"{dtype}.{k}": numbers(dtype, shape) for dtype in known for k, shape in enumerate(shapes)})
    model, optimizer, schedule, loss = trained()
    write(folder / "state_dict.pth", model.state_dict())
    write(folder / "pytorch_model.bin", model.state_dict(), pickle_protocol=4)
    write(folder / "checkpoint.pt", {"epoch": 3, "loss": loss, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                                     "schedule": schedule.state_dict(), "name": "Ünïcode 水", "best": None, "done": False, "long": 2**80,
                                     "args": {"hidden": [8, 2], "nested": {"deep": ("a", 1.5, -1)}}})
    write(folder / "views.pt", views())
    write(folder / "sparse.pt", sparse())
    write(folder / "quantized.pt", quantized())
    write(folder / "module.pt", model)
    write(folder / "parameters.pt", {"p": torch.nn.Parameter(torch.randn(2, 3)), "frozen": torch.nn.Parameter(torch.ones(2), False),
                                     "grad": torch.randn(3, requires_grad=True)})
    write(folder / "tensor.pt", torch.randn(3, 4))
    write(folder / "list.pt", [torch.randn(2), (torch.ones(3, dtype=torch.int16), {"x": torch.tensor(1.5)}), 7, "text"])
    write(folder / "odd_keys.pt", OrderedDict([("a.b", torch.ones(1)), ("水", torch.ones(2)), (7, torch.ones(3)), ("", torch.ones(4)),
                                               ("a", {"c": torch.ones(5)})]))
    write(folder / "empty.pt", {})
    write(folder / "many.pt", {f"layers.{i}.weight": torch.randn(1 + i % 5, 3) for i in range(500)})
    write_script(folder / "script.pt")
    write(folder / "layouts.pt", layouts())
    write(folder / "nested.pt", writable({"nested": torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(1, 3)]), "plain": torch.ones(2)}))
    write(folder / "subclasses.pt", subclasses())
    write(folder / "lazily.pt", lazily())
    write(folder / "calls.pt", calls())
    write(folder / "meta.pt", {"meta": torch.empty(2, 3, dtype=torch.float16, device="meta"), "lazy": torch.nn.LazyLinear(3).state_dict(), "plain": torch.ones(2)})
    write(folder / "blocks.pt", Block(torch.nn.ModuleList([Block(torch.nn.Linear(2, 2)), copy.deepcopy(model)])))
    write(folder / "arrays.pt", arrays())
    checkpoint = {"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "arrays": arrays(), "views": views()}
    for protocol in (2, 3, 4, 5):
        write(folder / f"protocol{protocol}.pt", checkpoint, pickle_protocol=protocol)
        write(folder / f"legacy{protocol}.pt", checkpoint, pickle_protocol=protocol, _use_new_zipfile_serialization=False)
    for name, thing in {"views": views(), "module": model, "quantized": quantized(), "tensor": torch.randn(3), "layouts": layouts(), "lazily": lazily()}.items():
        write(folder / f"legacy_{name}.pt", thing, _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
