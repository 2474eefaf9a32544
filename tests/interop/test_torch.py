"""ztensor_sqlite's tensor(), tensors() and save() with torch: they give what torch itself has in the files that it has just written."""
import sys
from pathlib import Path

import numpy
import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ext" / "packages" / "python" / "src"))
from ztensor_sqlite import save, tensor, tensors  # noqa: E402  (it is there only now)
from ztensor_sqlite._tensor import NAMES  # noqa: E402

WRITTEN = ROOT / "build" / "interop" / "foreign" / "pytorch"
TYPES = [getattr(torch, long) for long in NAMES.values() if hasattr(torch, long)]


def plain(value):
    """Its bytes, row-major, which tell NaN and both zeros apart."""
    value = value.detach().resolve_conj().resolve_neg().contiguous()
    return value.reshape(-1).view(torch.uint8).numpy().tobytes()


def same(got, expected):
    return (got.dtype, got.shape, got.is_contiguous(), plain(got)) == (expected.dtype, expected.shape, True, plain(expected))


@pytest.fixture
def every_type():
    """Tensors of random bytes, of every type that this torch has."""
    torch.manual_seed(1)
    made = {}
    for dtype in TYPES:
        size = 6 * torch.empty((), dtype=dtype).element_size()
        data = torch.randint(0, 2 if dtype == torch.bool else 256, (size,), dtype=torch.uint8)
        made[str(dtype)] = data.view(dtype).reshape(2, 3)
    return made


@pytest.mark.parametrize("file", ["dtypes.pt", "views.pt"])
def test_what_torch_wrote(file):
    given, found = torch.load(WRITTEN / file), tensors(WRITTEN / file)
    assert set(found) == set(given) and len(given) >= 10
    for name, value in given.items():
        assert same(tensor(WRITTEN / file, name, framework="torch"), value), name
        assert same(found[name].torch(), value), name
        if value.dim():
            assert same(found[name].torch(rows=slice(1, None)), value[1:].contiguous()), name


@pytest.mark.parametrize("end", ["zt", "safetensors"])
def test_round_trip(every_type, end, tmp_path):
    if end == "safetensors":
        every_type.pop("torch.complex128")   # It has none
    assert len(every_type) >= 11
    path = tmp_path / f"a.{end}"
    others = {"scalar": torch.tensor(2.5), "none": torch.zeros(0, 3), "parameter": torch.nn.Parameter(torch.ones(2).bfloat16()),
              "transposed": torch.arange(6).reshape(2, 3).t(), "expanded": torch.ones(1, 3).expand(2, 3)}
    save(path, every_type | others)
    found = tensors(path)
    assert set(found) == set(every_type | others)
    for name, value in (every_type | others).items():
        assert same(found[name].torch(), value.detach().contiguous()), name


@pytest.mark.parametrize("dtype", ["f32", "float64", torch.float16, "torch.bfloat16", numpy.float64])
def test_conversion(dtype, tmp_path):
    path, value = tmp_path / "a.safetensors", torch.tensor([1, -2.5, float("inf"), 1.0009765625], dtype=torch.float32)
    save(path, {"w": value})
    to = dtype if isinstance(dtype, torch.dtype) else getattr(torch, {"f32": "float32"}.get(dtype, numpy.dtype(dtype).name if isinstance(dtype, type)
                                                                                           else dtype.rpartition(".")[2]))
    assert same(tensor(path, "w", dtype, framework="torch"), value.to(to))


def test_conjugates_and_negatives_are_written_as_they_are_seen(tmp_path):
    value = torch.tensor([1 + 2j, 3 - 4j])
    seen = {"conjugate": value.conj(), "imaginary": value.conj().imag, "one": value[:1].conj().imag, "half": torch._neg_view(torch.ones(2).half())}
    save(tmp_path / "a.zt", seen)
    assert {name: found.torch().tolist() for name, found in tensors(tmp_path / "a.zt").items()} == {
        "conjugate": [1 - 2j, 3 + 4j], "imaginary": [-2, 4], "one": [-2], "half": [-1, -1]}


class Derived(torch.Tensor):
    pass


def test_a_class_derived_from_tensor(tmp_path):
    value = torch.ones(2).bfloat16()
    save(tmp_path / "a.zt", {"w": value.as_subclass(Derived)})
    assert same(tensor(tmp_path / "a.zt", "w", framework="torch"), value)


@pytest.mark.parametrize("value,why", [
    (torch.eye(2).to_sparse(), "it is of layout torch.sparse_coo, and only dense tensors are written"),
    (torch.eye(2).to_sparse_csr(), "it is of layout torch.sparse_csr, and only dense tensors are written"),
    (torch.empty(2, device="meta"), "it has no values yet"), (torch.nn.parameter.UninitializedParameter(), "it has no values yet"),
    (torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), "no format has qint8"),
    (torch.ones(2).to(torch.complex32), "no format has complex32")])
def test_what_is_not_written(value, why, tmp_path):
    with pytest.raises(TypeError) as raised:
        save(tmp_path / "a.zt", {"w": value})
    assert str(raised.value) == f"tensor 'w': {why}"
    assert not list(tmp_path.iterdir())


def test_types_that_torch_lacks(tmp_path):
    lacking = "u32"   # torch has had it since 2.3, for few operations
    path = tmp_path / "a.npy"
    numpy.save(path, numpy.arange(3, dtype="u4"))
    if hasattr(torch, NAMES[lacking]):
        assert tensor(path, "a", framework="torch").dtype == torch.uint32
    else:
        with pytest.raises(ValueError) as raised:
            tensor(path, "a", framework="torch")
        assert str(raised.value) == f"{path}: object 'a': torch has no tensors of u32: give a dtype, such as 'f32'"
    assert tensor(path, "a", "i64", framework="torch").tolist() == [0, 1, 2]


def test_quantized_tensors_are_float32():
    path = ROOT / "tests" / "formats" / "gguf" / "converted" / "model.gguf"
    assert same(tensor(path, "blk.0.up.weight", framework="torch"), torch.from_numpy(tensor(path, "blk.0.up.weight")))
