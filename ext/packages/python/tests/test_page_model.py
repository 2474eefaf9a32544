"""A model's page and a tensor's page of `ztensor-sql serve`, of the tests' collection: modules, layers, models in several files, checkpoints."""
import os
import re
import sqlite3
from html import unescape

import collection
import numpy as np
import pytest
from commanding import Command, Server
from tensor_files import f32, floats, safetensors

NAN = float("nan")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    command = Command(tmp_path_factory.mktemp("model"))
    command.variables["XDG_CACHE_HOME"] = str(command.directory / "cache")
    collection.make(command.directory / "all", hole=False)
    with Server(command, "all", "--db", "all.db") as made:
        made.database = command.directory / "all.db"
        made.root = str(command.directory / "all") + "/"
        made.numbers = {path.removeprefix(made.root): number for path, number in sqlite3.connect(made.database).execute("SELECT path, file FROM whole_models")}
        made.files = {path.removeprefix(made.root): number for path, number in sqlite3.connect(made.database).execute("SELECT path, id FROM file")}
        yield made


def page(server, number, rest=""):
    status, _, html = server.get(f"/-/ztensor/all/model/{number}{rest}")
    assert status == 200
    return html


def tensor_page(server, path, name):
    (number,) = sqlite3.connect(server.database).execute("SELECT id FROM name WHERE name = ?", (name,)).fetchone()
    return page(server, server.files[path], f"/{number}")


def text(html):
    return " ".join(unescape(re.sub("<title>.*?</title>|<[^>]*>", " ", html)).split())


def section(html, name):
    return re.search(rf'<section aria-labelledby="{name}">.*?</section>', html, re.S)[0]


def titles(html):
    return [unescape(title) for title in re.findall(r"<g><title>([^<]*)</title>", html)]


def modules(html):
    """{module: what its line says} of the tree."""
    return dict(re.match(r"(\S+) (.*)", text(line)).groups() for line in re.findall(r"<summary>.*?</summary>|<div class=\"leaf\">.*?</div>", section(html, "modules"), re.S)
                if text(line))


# ---- The tree of modules

def test_the_modules_have_parameters_bytes_and_shares(server):
    html = page(server, server.numbers[collection.BASE + "/model.safetensors"])
    sizes = {name: array.size for name, array in collection.llama().items()}
    total = sum(sizes.values())
    found = modules(html)
    for module in ("lm_head", "model"):
        own = sum(size for name, size in sizes.items() if name.startswith(module + "."))
        assert re.search(rf" {100 * own / total:.1f} %$", found[module]), (module, found[module])
    assert re.match(r"39 tensors, bf16 115 k parameters 230 kB 100\.0 %", found["all"]), found["all"]


def test_numbered_modules_that_are_alike_are_folded_and_can_be_listed(server):
    number = server.numbers[collection.BASE + "/model.safetensors"]
    folded = page(server, number)
    assert "layers.[0-3]" in section(folded, "modules") and "4 alike" in modules(folded)["layers.[0-3]"]
    each = page(server, number, "?unfold=1")
    assert "layers.[0-3]" not in each and {"0", "1", "2", "3"} <= set(modules(each))


def test_modules_fold_without_a_script(server):
    html = section(page(server, server.numbers[collection.BASE + "/model.safetensors"]), "modules")
    assert html.count("<details") == html.count("</details>") == html.count("<summary>") > 3 and "<details open>" in html


def test_the_tensors_of_the_tree_lead_to_their_pages(server):
    html = section(page(server, server.numbers[collection.BASE + "/model.safetensors"], "?unfold=1"), "modules")
    address = re.search(r'<a href="([^"]*)">weight</a>', html)[1]
    assert server.get(address)[0] == 200 and len(re.findall(r"/model/\d+/\d+\"", html)) == 39


# ---- Models in several files

@pytest.mark.parametrize("path", [collection.SHARDED + "/model.safetensors", collection.SHARDED_BIN + "/pytorch_model.bin"])
def test_a_model_in_several_files_is_one(server, path):
    html = page(server, server.numbers[path])
    said = text(html)
    assert "tensors 39" in said and "parameters 115 k" in said and f"It is in {3 if 'sharded' in path else 2} files." in said
    assert "1 to" not in text(section(html, "tensors")) and "39 rows" in text(section(html, "tensors"))
    assert modules(html)["all"].startswith("39 tensors")


def test_each_part_leads_to_the_whole_model(server):
    stem = collection.SHARDED + "/model-0000{}-of-00003.safetensors"
    bodies = [page(server, server.files[stem.format(i)]) for i in (1, 2, 3)]
    assert len({re.sub(r"/model/\d+", "", body) for body in bodies}) == 1


def test_a_missing_part_is_said(server):
    said = text(page(server, server.numbers[collection.MISSING_SHARD + "/model.safetensors"]))
    assert "It is not whole: 1 file of 3 missing: " in said and "model-00002-of-00003.safetensors" in said and "It is in 2 files." in said


def test_gguf_in_several_files_is_one_model(server):
    path = next(path for path in server.numbers if path.startswith(collection.GGUF_SPLIT + "/"))
    said = text(page(server, server.numbers[path]))
    assert "It is in 3 files." in said and "tensors 39" in said and "q8_0" in said


# ---- Layers

def test_the_strips_have_a_cell_for_each_layer_in_the_order_of_the_model(server):
    html = section(page(server, server.numbers[collection.BASE + "/model.safetensors"]), "layers")
    cells = titles(html)
    assert len(cells) == 2 * 39 and cells[0].startswith("model.embed_tokens.weight: ") and cells[38].startswith("lm_head.weight: ")
    layers = [int(number) for number in re.findall(r"layers\.(\d+)\.", " ".join(cells[:39]))]
    assert layers == sorted(layers)
    values = collection.llama()["lm_head.weight"].astype("f8")
    assert cells[38] == f"lm_head.weight: {values.std():.5g}" and cells[-1] == f"lm_head.weight: {abs(values).max():.5g}"


def test_the_strips_have_a_legend_and_a_text(server):
    html = section(page(server, server.numbers[collection.BASE + "/model.safetensors"]), "layers")
    assert html.count('class="legend"') == 2 and 'aria-label="std of each of 39 layers, from ' in html
    values = [array.astype("f8").std() for array in collection.llama().values()]
    assert f"from {min(values):.5g} to {max(values):.5g}" in html


def test_layers_with_nan_are_hatched_in_the_strips(server):
    html = section(page(server, server.numbers[collection.NAN]), "layers")
    hatched = re.findall(r"<g><title>([^<]*)</title><rect[^>]*fill=\"url\(#hatch", html)
    assert len(hatched) == 2 * 9 * len(collection.NAN_LAYERS) and all("NaN in " in title for title in hatched)
    assert {int(re.search(r"layers\.(\d+)\.", title)[1]) for title in hatched} == set(collection.NAN_LAYERS)
    assert "NaN or infinite" in text(html)


# ---- Checkpoints

def test_a_tensor_over_the_checkpoints_of_a_run_is_a_curve(server):
    html = section(tensor_page(server, collection.RUN + "/step-100/model.safetensors", "model.norm.weight"), "run")
    assert html.count("<polyline") == 4 and [text(caption) for caption in re.findall("<figcaption>.*?</figcaption>", html)] == [
        "std", "norm", "mean", "distance from the checkpoint before"]
    points = titles(html)
    assert [point.partition(":")[0] for point in points[:10]] == [f"step {step:,}" for step in collection.STEPS]
    assert "<script" not in html and 'aria-label="std at 10 points, from ' in html


def test_the_points_are_the_checkpoints_statistics_and_distances(server):
    name = "model.norm.weight"
    html = tensor_page(server, collection.RUN + "/step-300/model.safetensors", name)
    points = titles(section(html, "run"))
    database = sqlite3.connect(server.database)
    rows = [database.execute("SELECT t.std, t.l2, t.mean FROM statistic AS t JOIN name AS n ON n.id = t.name WHERE t.file = ? AND n.name = ?", (
        server.files[f"{collection.RUN}/step-{step}/model.safetensors"], name)).fetchone() for step in collection.STEPS]
    for i in range(3):
        assert [point.partition(": ")[2] for point in points[10 * i:10 * i + 10]] == [f"{row[i]:.5g}" for row in rows]
    assert points[30].endswith(": the first one") and not [point for point in points[31:] if "not" in point]


def test_checkpoints_that_are_files_of_one_folder(server):
    database = sqlite3.connect(server.database)
    path = collection.RUN_OF_FILES + "/step-100.zt"
    (name,) = database.execute("SELECT n.name FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN tensor AS t ON t.architecture = l.architecture"
                               " JOIN name AS n ON n.id = t.name WHERE f.id = ? ORDER BY n.name LIMIT 1", (server.files[path],)).fetchone()
    assert "8 files whose paths differ in one number" in text(tensor_page(server, path, name))


def test_models_that_are_no_checkpoints_have_no_curve(server):
    assert "Over the checkpoints" not in tensor_page(server, collection.BASE + "/model.safetensors", "lm_head.weight")


def test_a_checkpoint_with_nan_breaks_the_curve_and_is_marked(server, tmp_path):
    command = Command(tmp_path)
    command.variables["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    for step in (1, 2, 10, 11):
        values = [NAN, NAN] if step == 10 else [step, 2 * step]
        os.utime(safetensors(tmp_path / "run" / f"epoch_{step}.safetensors", {"w": floats(*values)}), (step, step))
    with Server(command, "run", "--db", "run.db") as made:
        made.database = tmp_path / "run.db"
        made.files = {"x": 1}
        html = section(made.get("/-/ztensor/run/model/1/1")[2], "run")
        points = titles(html)
        assert [point.partition(":")[0] for point in points[:4]] == ["step 1", "step 2", "step 10", "step 11"]
        assert points[2] == "step 10: NaN in 2 of 2 elements" and "fill=\"url(#hatch" in html
        assert re.search(r'<polyline points="[^ "]+ [^ "]+" class="line"/>', html)


def test_the_checkpoints_lead_to_a_comparison_with_the_first(server):
    html = section(tensor_page(server, collection.RUN + "/step-100/model.safetensors", "model.norm.weight"), "run")
    address = unescape(re.search(r'href="([^"]*/compare[^"]*)"', html)[1])
    said = text(server.get(address)[2])
    assert "A model and 8 others" in said and "step-1000/model.safetensors" in said


# ---- Large and odd models

def test_a_model_of_very_many_modules_shows_the_outer_ones(tmp_path):
    command = Command(tmp_path)
    names = [f"a{i % 50}.b{i % 700}.c{i}.w" for i in range(3500)]
    safetensors(tmp_path / "large" / "m.safetensors", {name: f32(np.zeros(1 + i % 7)) for i, name in enumerate(names)})
    with Server(command, "large", "--db", "large.db", "--quick") as made:
        html = made.get("/-/ztensor/large/model/1")[2]
        said = modules(html)
        assert "are left out" in text(section(html, "modules")) and len(said) <= 1200 and said["all"].startswith("3,500 tensors")


def test_odd_names_are_text(tmp_path):
    command = Command(tmp_path)
    names = ["", ".", "a..b", "<b>", "a/b/c", "x" * 300, "0", "\"'&", "é.1"]
    safetensors(tmp_path / "odd" / "m.safetensors", {name: floats(i) for i, name in enumerate(names)})
    with Server(command, "odd", "--db", "odd.db") as made:
        status, _, html = made.get("/-/ztensor/odd/model/1?unfold=1")
        assert status == 200 and "<b>" not in html.partition('id="modules"')[2].partition("</section>")[0] and "9 tensors" in text(html)
