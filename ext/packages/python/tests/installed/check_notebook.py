"""The notebook's cells, executed in a folder whose `models` are those of collection.py: each gives what it promises."""
import pathlib

import nbclient
import nbformat
import pytest

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "notebook.ipynb"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell of code shows, by the number in the title before it."""
    import collection

    folder = tmp_path_factory.mktemp("notebook")
    collection.make(folder / "models")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    shown, number = {}, 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            number = int(cell.source.split()[1].rstrip("."))
        elif cell.cell_type == "code":
            shown[number] = "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    return shown


@pytest.mark.parametrize("number, text", [
    (1, "model.embed_tokens.weight"), (2, "False"), (3, "array("), (4, "(3, 32)"), (5, "model.layers.0.self_attn.q_proj.weight"), (6, "bf16"),
    (7, "mean"), (8, "nan-layers.safetensors"), (9, "model.layers.3."), (10, "[(9, "),
])
def test_a_cell(outputs, number, text):
    assert text in outputs[number]


def test_there_are_ten(outputs):
    assert sorted(outputs) == list(range(11))
