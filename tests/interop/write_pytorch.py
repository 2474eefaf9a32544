"""Writes files with torch, and beside each what torch reads in it: write_pytorch.py FOLDER"""
import sys
import warnings
from collections import OrderedDict
from pathlib import Path

import torch

from foreign import Record

DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "int16": "i16",
          "int8": "i8", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool", "complex64": "complex64",
          "complex128": "complex128", "float8_e4m3fn": "f8_e4m3fn", "float8_e5m2": "f8_e5m2", "float8_e4m3fnuz": "f8_e4m3fnuz",
          "float8_e5m2fnuz": "f8_e5m2fnuz", "float8_e8m0fnu": "f8_e8m0"}
QUANTIZED = ["qint8", "quint8", "qint32"]


def data_of(tensor):
    """Its bytes, row-major."""
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return plain.reshape(-1).view(torch.uint8).numpy().tobytes()


def note_tensor(record, name, tensor):
    word = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout == torch.sparse_coo:
        record.tensor(name, "torch._rebuild_sparse_tensor", DTYPES[word], tensor.shape, data_of(tensor.to_dense()), components=2)
    elif tensor.is_quantized:
        record.tensor(name, f"torch.{word}", None, tensor.shape, bytes(tensor.int_repr().contiguous().numpy()))
    else:
        record.tensor(name, "dense", DTYPES[word], tensor.shape, data_of(tensor), attributes={
            "storage_offset": tensor.storage_offset(), "stride": list(tensor.stride()), "contiguous": tensor.is_contiguous(),
            "requires_grad": tensor.requires_grad})


def note_all(record, name, thing):
    """The tensors and the leaves below a thing that torch has read, by dotted path."""
    if isinstance(thing, torch.Tensor):
        note_tensor(record, name, thing)
    elif isinstance(thing, torch.nn.Module):
        record.attribute(name, {"$opaque": None})
        note_all(record, name, thing.__dict__)
    elif isinstance(thing, torch.Size) or not isinstance(thing, (dict, list, tuple, set)):
        plain = thing is None or isinstance(thing, (bool, int, float, str))
        record.attribute(name, thing if plain else {"$opaque": None})
    elif not isinstance(thing, set):
        for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing):
            note_all(record, f"{name}.{key}" if name else str(key), value)


def load(path):
    try:
        return torch.load(path, weights_only=False)
    except TypeError:   # Before 1.13
        return torch.load(path)


def write(path, thing, **how):
    torch.save(thing, path, **how)
    record = Record(path, "pytorch", "3")
    note_all(record, "", load(path))
    record.save()


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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
