"""Models that the page of `ztensor-sql serve` compares on demand: what is asked for, what is kept and shown, and what is refused."""
import json
import os
import pathlib
import re
import select
import signal
import socket
import sqlite3
import struct
import time
from html import unescape

import numpy as np
import pytest
from commanding import Command, Server
from tensor_files import f16, f32, floats, gguf, safetensors
from ztensor_sqlite.comparisons import Comparisons, Job

NAN = float("nan")
LAYERS = 12


def tensors(change=lambda name, values: values, layers=range(LAYERS), store=f32):
    """A small model with numbered layers, whose names are not in their numbers' order."""
    made = {"lm_head.weight": 9, "model.norm.weight": 8, "model.embed_tokens.weight": 7, **{f"model.layers.{i}.mlp.weight": i for i in layers}}
    return {name: store(change(name, (np.arange(8) + seed).astype("f4"))) for name, seed in sorted(made.items())}


def farther(chosen, by):
    """A change of the chosen tensors."""
    return lambda name, values: values + np.float32(by) if name in chosen else values


def with_nan(chosen):
    def change(name, values):
        return np.where(np.arange(8) < 3, np.float32(NAN), values).astype("f4") if name in chosen else values
    return change


LAYER = "model.layers.{}.mlp.weight".format


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    made = Command(tmp_path_factory.mktemp("compare"))
    made.variables["XDG_CACHE_HOME"] = str(made.directory / "cache")
    return made


@pytest.fixture(scope="module")
def files(command):
    """A base model, fine-tunes, the base and a fine-tune in several files, other shapes and names, NaN, and models that are no relations."""
    at = command.directory / "models"
    safetensors(at / "base.safetensors", tensors())
    safetensors(at / "tuned.safetensors", tensors(farther([LAYER(2), LAYER(10)], 0.5)))
    safetensors(at / "half.safetensors", tensors(farther(["lm_head.weight"], 1), store=f16))
    safetensors(at / "nan.safetensors", tensors(with_nan([LAYER(3), LAYER(11)])))
    safetensors(at / "other.safetensors", {**tensors(layers=range(6)), LAYER(1): floats(1, 2, 3), "adapter": floats(1)})
    gguf(at / "named.gguf", {}, {"output.weight": ("f32", np.arange(8))})
    safetensors(at / "stranger.safetensors", {"x": floats(1), "y": floats(2)})
    names = sorted(tensors())
    for parts, change, name in ((3, farther([], 0), "sharded"), (2, farther([LAYER(5)], 2), "split")):
        every = tensors(change)
        for i in range(parts):
            safetensors(at / name / f"model-{i + 1:05}-of-{parts:05}.safetensors", {key: every[key] for key in names[i::parts]})
    return at


class Pages:
    """The pages of two models on a server."""

    def __init__(self, server):
        self.server = server
        self.base = re.search(r'aria-label="Pages">.*?href="([^"]*)"', server.get("/-/ztensor")[2], re.S)[1]
        database = sqlite3.connect(f"file:{server.database}?mode=ro", uri=True)
        self.numbers = {path.rpartition("/models/")[2]: number for path, number in database.execute("SELECT path, file FROM whole_models")}
        database.close()

    def address(self, a, *others):
        return f"{self.base}/compare?a={self.numbers[a]}&b={','.join(str(self.numbers[b]) for b in others)}"

    def get(self, a, *others):
        status, _, html = self.server.get(self.address(a, *others))
        assert status == 200
        return html

    def form(self, a, *others, action="start"):
        """The fields of the page's form, and the cookie that belongs to it."""
        _, headers, html = self.server.get(f"{self.base}/compare?a={self.numbers[a]}")
        token = unescape(re.search(r'name="csrftoken" value="([^"]*)"', html)[1])
        fields = [("csrftoken", token), ("a", self.numbers[a]), *(("b", self.numbers[b]) for b in others)]
        return f"{self.base}/compare/{action}", fields, headers["Set-Cookie"].partition(";")[0]

    def start(self, a, *others, action="start"):
        address, fields, cookie = self.form(a, *others, action=action)
        status, _, html = self.server.post(address, fields, Cookie=cookie)
        assert status == 200, html   # After the redirection to the page
        return html

    def finished(self, a, *others):
        """The page once nothing runs. It loads itself again until then."""
        for _ in range(600):
            html = self.get(a, *others)
            if 'http-equiv="refresh"' not in html:
                return html
            time.sleep(0.05)
        raise AssertionError(text(html))

    def compared(self, a, *others):
        self.start(a, *others)
        return self.finished(a, *others)


@pytest.fixture(scope="module")
def pages(command, files):
    with Server(command, "models", "--db", "own.db", "--quick") as server:
        server.database = command.directory / "own.db"
        yield Pages(server)


def text(html):
    return " ".join(unescape(re.sub("<title>.*?</title>|<[^>]*>", " ", html)).split())


def columns(html):
    """The titles of the chart's columns."""
    return [unescape(title) for title in re.findall(r"<title>([^<]*: [^<]*)</title>", html)]


def counts(html):
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", html))


def children(process):
    """The processes that any of its threads has started."""
    return [int(word) for found in pathlib.Path(f"/proc/{process}/task").glob("*/children") for word in found.read_text().split()]


# ---- What is compared

def test_two_models_are_compared_on_demand(pages):
    before = pages.get("base.safetensors", "tuned.safetensors")
    assert "Their values have not been compared" in before and "ztensor-sql diff" not in before and "<figure>" not in before
    html = pages.compared("base.safetensors", "tuned.safetensors")
    assert counts(html) == {"same": "13", "changed": "2", "not comparable": "0", "with NaN": "0", "only in A": "0", "only in B": "0"}
    a, b = np.arange(8) + 2.0, np.arange(8) + 2.5
    distance = np.linalg.norm(a - b) / np.linalg.norm(b)
    assert f"{LAYER(2)}: {distance:.5g}" in columns(html)


def test_layers_are_in_the_order_of_the_model(pages):
    html = pages.compared("base.safetensors", "tuned.safetensors")
    assert [title.partition(":")[0] for title in columns(html)] == [
        "model.embed_tokens.weight", *map(LAYER, range(LAYERS)), "model.norm.weight", "lm_head.weight"]


def test_the_other_way_round_needs_no_comparison(pages):
    pages.compared("base.safetensors", "tuned.safetensors")
    html = pages.get("tuned.safetensors", "base.safetensors")
    assert counts(html)["changed"] == "2" and "have not been compared" not in html


def test_layers_with_nan_are_drawn_and_marked(pages):
    html = pages.compared("base.safetensors", "nan.safetensors")
    assert counts(html)["with NaN"] == "2"
    marked = [title for title in columns(html) if "NaN" in title]
    assert marked == [f"{LAYER(3)}: 0, NaN in 3 of 8 pairs", f"{LAYER(11)}: 0, NaN in 3 of 8 pairs"]
    drawn = re.findall(r"<g><title>([^<]*)</title>(?:(?!</g>).)*fill=\"url\(#hatch-", html)
    assert [unescape(title) for title in drawn] == marked
    assert f"NaN in 2 layers: {LAYER(3)} (3 of 8 pairs), {LAYER(11)} (3 of 8 pairs)" in text(html)


def test_types_that_differ_are_compared_by_values(pages):
    html = pages.compared("base.safetensors", "half.safetensors")
    assert counts(html)["same"] == "14" and counts(html)["changed"] == "1"


def test_what_has_no_partner_or_another_shape_is_listed(pages):
    html = pages.compared("base.safetensors", "other.safetensors")
    assert counts(html) == {"same": "8", "changed": "0", "not comparable": "1", "with NaN": "0", "only in A": "6", "only in B": "1"}
    assert re.search(r"adapter B \[1\] f32", text(html)) and re.search(rf"{re.escape(LAYER(11))} A \[8\] f32", text(html))
    assert f"{LAYER(1)}: not comparable" in columns(html) and f"{LAYER(7)}: not in the other model" in columns(html)


def test_models_without_a_name_in_common_are_not_compared(pages):
    html = pages.get("base.safetensors", "stranger.safetensors")
    assert "nothing can be compared" in text(html) and "Compare the values" not in html and "GGUF" not in text(html)
    for pair in (("base.safetensors", "named.gguf"), ("named.gguf", "base.safetensors")):
        assert "ztensor-sql diff compares a model of transformers with its GGUF" in text(pages.get(*pair))


def test_models_in_several_files_are_one_model(pages):
    html = pages.compared("sharded/model.safetensors", "split/model.safetensors")
    assert counts(html)["same"] == "14" and counts(html)["changed"] == "1" and "3 of 3 files" in text(html)
    assert [title for title in columns(html) if not title.endswith(": 0")] == [f"{LAYER(5)}: {2 / np.linalg.norm(np.arange(8) + 7) * 8 ** 0.5:.5g}"]
    assert counts(pages.compared("base.safetensors", "sharded/model.safetensors"))["same"] == "15"


def test_any_file_of_a_model_stands_for_it(pages):
    numbers = pages.numbers["sharded/model.safetensors"], pages.numbers["split/model.safetensors"]
    database = sqlite3.connect(pages.server.database)
    parts = [[number for number, in database.execute("SELECT file FROM model_parts WHERE model LIKE ? ORDER BY 1", (f"%/{name}/model.safetensors",))]
             for name in ("sharded", "split")]
    assert [part[0] for part in parts] == list(numbers)
    html = pages.server.get(f"{pages.base}/compare?a={parts[0][2]}&b={parts[1][1]}")[2]
    assert counts(html) == counts(pages.get("sharded/model.safetensors", "split/model.safetensors"))


def test_one_base_against_several(pages):
    others = ["tuned.safetensors", "half.safetensors", "nan.safetensors", "split/model.safetensors"]
    html = pages.compared("base.safetensors", *others)
    assert html.count('class="row"') == 4 and html.count("<figure>") == 1 and len(columns(html)) == 4 * 15
    rows = re.findall(r"<tr><th scope=\"row\">\d: .*?</tr>", html, re.S)
    assert [re.sub(r"^(\d): \S+ \( alone.*?\) ", r"\1: ", text(row)).split()[:5] for row in rows] == [
        ["1:", "13", "2", "0", "0"], ["2:", "14", "1", "0", "0"], ["3:", "13", "2", "2", "0"], ["4:", "14", "1", "0", "0"]]
    assert "All rows have one scale" in html


def test_a_comparison_that_ends_while_a_page_is_made_is_under_way_on_it():
    work = Comparisons("catalog.db", "kept.db")
    job = work.jobs[1, 2] = Job((1, 2))
    job.state = "running"
    seen = work.seen()
    work._finish(job, None)
    assert work.jobs == {} and seen.of(2, 1) is job and job.state == "running"


def test_at_most_eight_models_beside_the_base(pages):
    number = pages.numbers["base.safetensors"]
    found = [n for n in pages.numbers.values() if n != number]
    html = pages.server.get(f"{pages.base}/compare?a={number}&b={','.join(map(str, found * 3))},{','.join(map(str, range(1, 12)))}")[2]
    assert "A model and" in text(html) and html.count('class="row"') <= 8


def test_models_are_chosen_from_those_with_common_names(pages):
    html = pages.server.get(f"{pages.base}/compare?a={pages.numbers['base.safetensors']}")[2]
    offered = [path for path in re.findall(r'type="checkbox".*?<span>(models/[^\n<]*)', html)]
    assert offered[:2] == ["models/nan.safetensors", "models/tuned.safetensors"] or set(offered[:2]) == {"models/nan.safetensors", "models/tuned.safetensors"}
    assert "models/stranger.safetensors" not in offered and "models/split/model.safetensors" in offered
    assert "models/stranger.safetensors" in html.partition("All models")[2]


def test_a_choice_without_comparing_leads_to_the_page(pages):
    a, b, c = (pages.numbers[name] for name in ("base.safetensors", "tuned.safetensors", "nan.safetensors"))
    status, _, html = pages.server.get(f"{pages.base}/compare/start?a={a}&b={b}&b={c}")
    assert status == 200 and "A model and 2 others" in text(html)


# ---- Who may ask

def test_a_visit_starts_nothing(pages):
    pages.get("tuned.safetensors", "nan.safetensors")
    a, b = pages.numbers["tuned.safetensors"], pages.numbers["nan.safetensors"]
    pages.server.get(f"{pages.base}/compare/start?a={a}&b={b}")
    assert "have not been compared" in pages.get("tuned.safetensors", "nan.safetensors")


def test_only_forms_of_the_page_start_a_comparison(pages):
    address, fields, cookie = pages.form("tuned.safetensors", "nan.safetensors")
    without = [field for field in fields if field[0] != "csrftoken"]
    for refused in ({"fields": fields, "Cookie": cookie, "Origin": "http://evil.example"}, {"fields": fields, "Cookie": cookie, "Origin": None},
                    {"fields": fields, "Cookie": cookie, "Origin": "null"}, {"fields": fields}, {"fields": without}, {"fields": without, "Cookie": cookie},
                    {"fields": fields, "Cookie": cookie, "Host": "evil.example"}, {"fields": [("csrftoken", "x"), *without], "Cookie": cookie}):
        assert pages.server.post(address, refused.pop("fields"), **refused)[0] == 403, refused
    assert "have not been compared" in pages.get("tuned.safetensors", "nan.safetensors")


def test_a_form_that_is_refused_is_read_before_the_answer(pages):
    """A connection that is closed with unread bytes is reset, and the answer may be lost."""
    host = pages.server.host.removeprefix("http://")
    with socket.create_connection(tuple(host.rsplit(":", 1)), timeout=20) as asking:
        asking.sendall(f"POST /-/ztensor/own/compare/start HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\n"
                       "Connection: close\r\nContent-Length: 10\r\n\r\n".encode())
        assert select.select([asking], [], [], 0.5)[0] == []
        asking.sendall(b"a=1&b=2&c=")
        said = b"".join(iter(lambda: asking.recv(65536), b""))
    assert said.startswith(b"HTTP/1.1 403") and b"this server answers its own machine alone" in said


def test_only_files_of_the_catalog_are_named_and_by_their_numbers(pages):
    address, fields, cookie = pages.form("tuned.safetensors", "nan.safetensors")
    token, a = fields[0], fields[1]
    for b in ("99999", "/etc/passwd", "models/base.safetensors", "", "-1", "1e3", "9" * 30):
        assert pages.server.post(address, [token, a, ("b", b)], Cookie=cookie)[0] == 404, b


def test_a_datasette_without_serve_shows_what_is_known_and_compares_nothing(command, pages):
    pages.compared("base.safetensors", "tuned.safetensors")
    a, b, c = (pages.numbers[name] for name in ("base.safetensors", "tuned.safetensors", "half.safetensors"))
    said = command.python_code("""
import asyncio, sys
from datasette.app import Datasette
from ztensor_sqlite.server import plug_in
plug_in()
async def ask():
    client = Datasette([sys.argv[1]]).client
    known = await client.get(f"/-/ztensor/own/compare?a={sys.argv[2]}&b={sys.argv[3]}")
    unknown = await client.get(f"/-/ztensor/own/compare?a={sys.argv[2]}&b={sys.argv[4]}")
    token = (await client.get("/-/permissions")).cookies.get("ds_csrftoken")
    posted = await client.post("/-/ztensor/own/compare/start", data={"a": sys.argv[2], "b": sys.argv[4]})
    print(known.status_code, "<dt>changed</dt><dd>2</dd>" in known.text, "<form" in known.text.partition("<h2")[0], "Compare the values" in unknown.text,
          posted.status_code)
asyncio.run(ask())""", pages.server.database, a, b, c)
    assert said == "200 True False False 404\n"


# ---- Where results are kept

def test_results_are_kept_in_the_catalog_that_the_command_made(command, pages):
    pages.compared("base.safetensors", "tuned.safetensors")
    pair = sorted((pages.numbers["base.safetensors"], pages.numbers["tuned.safetensors"]))
    database = sqlite3.connect(pages.server.database)
    assert database.execute("SELECT count(*) FROM pair WHERE a = ? AND b = ? AND error IS NULL", pair).fetchone() == (1,)
    assert database.execute("SELECT count(*) FROM distance WHERE a = ? AND b = ?", pair).fetchone() == (15,)


def test_results_are_kept_beside_a_catalog_that_is_shown_as_it_is(command, files):
    command("catalog", "models", "--db", "shown.db", "--statistics")
    with Server(command, "shown.db") as server:   # Makes the views, if there are none
        pass
    before = (command.directory / "shown.db").read_bytes()
    for _ in range(2):
        with Server(command, "shown.db") as server:
            server.database = command.directory / "shown.db"
            pages = Pages(server)
            html = pages.get("base.safetensors", "half.safetensors")
            if _ == 0:
                assert "have not been compared" in html
                html = pages.compared("base.safetensors", "half.safetensors")
            assert counts(html)["changed"] == "1"
    assert (command.directory / "shown.db").read_bytes() == before
    (kept,) = (command.directory / "cache" / "ztensor-sqlite").glob("*.db")
    assert sqlite3.connect(kept).execute("SELECT count(*) FROM pair").fetchone() == (1,)


def test_kept_results_of_a_file_that_was_read_again_do_not_count(command, files):
    at = command.directory / "again"
    safetensors(at / "models" / "a.safetensors", {"w": floats(1, 2)})
    safetensors(at / "models" / "b.safetensors", {"w": floats(1, 2)})
    command("catalog", "again/models", "--db", "again.db", "--statistics")
    sqlite3.connect(command.directory / "again.db").executescript("DELETE FROM pair; DELETE FROM distance;")

    def changes():
        with Server(command, "again.db") as server:
            server.database = command.directory / "again.db"
            pages = Pages(server)
            return text(pages.get("a.safetensors", "b.safetensors")), text(pages.compared("a.safetensors", "b.safetensors"))

    first, second = changes()
    assert "have not been compared" in first and "same 1 changed 0" in second
    safetensors(at / "models" / "b.safetensors", {"w": floats(1, 3)})
    command("catalog", "again/models", "--db", "again.db")
    first, second = changes()
    assert "have not been compared" in first and "same 0 changed 1" in second


# ---- What cannot be compared is said

@pytest.fixture
def fresh(command, tmp_path):
    """A server of new copies of some models."""
    made = Command(tmp_path)
    made.variables["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    for name in ("base", "tuned", "nan"):
        safetensors(tmp_path / "models" / f"{name}.safetensors", tensors(farther([LAYER(1)], {"base": 0, "tuned": 1, "nan": NAN}[name])))

    def start(*arguments):
        server = Server(made, *arguments)
        server.database = tmp_path / "catalog.db"
        return server
    return made, start


def test_a_file_that_vanished_is_named(fresh, tmp_path):
    _, start = fresh
    with start("models", "--db", "catalog.db", "--quick") as server:
        pages = Pages(server)
        (tmp_path / "models" / "tuned.safetensors").unlink()
        said = text(pages.compared("base.safetensors", "tuned.safetensors"))
        assert "tuned.safetensors: the file has vanished since the catalog read it" in said and "Compare again" in said and "same 0" not in said


def test_a_file_that_changed_is_named(fresh, tmp_path):
    _, start = fresh
    with start("models", "--db", "catalog.db", "--quick") as server:
        pages = Pages(server)
        path = tmp_path / "models" / "tuned.safetensors"
        stat = path.stat()
        safetensors(path, tensors())
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))   # The system's own time of the change remains
        said = text(pages.compared("base.safetensors", "tuned.safetensors"))
        assert "tuned.safetensors: the file has changed since the catalog read it" in said
        assert sqlite3.connect(server.database).execute("SELECT count(*) FROM pair").fetchone() == (0,)


def test_a_file_whose_bytes_cannot_be_read_is_named(fresh, tmp_path):
    """The header is sound, and the compressed values are not."""
    _, start = fresh
    with start("models", "--db", "catalog.db", "--quick") as server:
        pages = Pages(server)
        (tmp_path / "models" / "base.safetensors").chmod(0)
        if os.access(tmp_path / "models" / "base.safetensors", os.R_OK):   # For root, all files can be read
            os.truncate(tmp_path / "models" / "base.safetensors", 100)
        said = text(pages.compared("base.safetensors", "tuned.safetensors"))
        assert "base.safetensors: the file has changed since the catalog read it" in said


def test_a_tensor_without_values_says_why(fresh, tmp_path):
    _, start = fresh
    for name in ("words-a", "words-b"):
        np.savez(tmp_path / "models" / f"{name}.npz", w=np.eye(2), words=np.array(["a", name]))
    with start("models", "--db", "catalog.db", "--quick") as server:
        html = Pages(server).compared("words-a.npz", "words-b.npz")
        assert counts(html)["same"] == "1" and counts(html)["not comparable"] == "1"
        assert "not comparable" in next(title for title in columns(html) if title.startswith("words"))


# ---- Processes

@pytest.fixture
def large(tmp_path):
    """Two models of holes, which take minutes to read."""
    made = Command(tmp_path)
    made.variables["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    (tmp_path / "models").mkdir()
    for name in ("a", "b", "c"):
        size, head, at = 1 << 25, {}, 0
        for i in range(4096):
            head[f"layers.{i}.weight"] = {"dtype": "F32", "shape": [size // 4], "data_offsets": [at, at + size]}
            at += size
        data = json.dumps(head).encode()
        with open(tmp_path / "models" / f"{name}.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(data)) + data)
            file.truncate(8 + len(data) + at)

    def start():
        server = Server(made, "models", "--db", "catalog.db", "--quick")
        server.database = tmp_path / "catalog.db"
        return server
    return start


def begun(pages, a, b):
    """The page of a comparison that has begun to read."""
    pages.start(a, b)
    for _ in range(400):
        html = pages.get(a, b)
        if re.search(r"[1-9]\d* of 4,096 tensors", text(html)):
            return html
        time.sleep(0.1)
    raise AssertionError(text(html))


def gone(process):
    """Whether a process ends, soon."""
    for _ in range(200):
        if not pathlib.Path(f"/proc/{process}").exists() or pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_progress_is_shown_one_comparison_at_a_time_and_stopped(large):
    with large() as server:
        pages = Pages(server)
        html = begun(pages, "a.safetensors", "b.safetensors")
        assert re.search(r'<progress max="\d+" value="\d+"', html) and 'http-equiv="refresh"' in html and "<script" not in html
        assert "It waits for 1 other comparison" in text(pages.start("a.safetensors", "c.safetensors"))
        (child,) = children(server.process.pid)
        pages.start("a.safetensors", "c.safetensors", action="stop")
        assert "The comparison was stopped" in text(pages.get("a.safetensors", "c.safetensors")) and children(server.process.pid) == [child]
        said = text(pages.start("a.safetensors", "b.safetensors", action="stop"))
        assert "The comparison was stopped" in said and "Compare again" in said
        assert gone(child)
        assert "Not all" not in said and sqlite3.connect(server.database).execute("SELECT count(*) FROM distance").fetchone() == (0,)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_comparison_ends_with_the_server(large, how):
    server = large()
    begun(Pages(server), "a.safetensors", "b.safetensors")
    (child,) = children(server.process.pid)
    server.stop(how)
    assert gone(child)
    assert sqlite3.connect(server.database).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert sqlite3.connect(server.database).execute("SELECT count(*) FROM pair").fetchone() == (0,)


def test_a_process_that_is_killed_is_said_to_be(large):
    with large() as server:
        pages = Pages(server)
        begun(pages, "a.safetensors", "b.safetensors")
        (child,) = children(server.process.pid)
        os.kill(child, signal.SIGKILL)
        assert "its process ended with status -9" in text(pages.finished("a.safetensors", "b.safetensors"))
        begun(pages, "a.safetensors", "b.safetensors")
        pages.start("a.safetensors", "b.safetensors", action="stop")
