"""The page of `ztensor-sql serve`: what it says of a catalog, and what it does not do."""
import os
import re
import signal
import sqlite3
import subprocess
from html import unescape
from urllib.parse import urljoin

import numpy as np
import pytest
from commanding import GOLDEN, Command, Server, floats, safetensors

NAN = float("nan")
NAME = "it's 100% a#catalog?.db"


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    return Command(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def server(command):
    """A collection with two models of one kind, a third that equals the first, one that is of another kind, and a broken file."""
    at = command.directory / "models"
    tensors = {f"layer.{i}.weight": floats(*(i + j / 7 for j in range(8))) for i in range(12)}
    os.utime(safetensors(at / "first.safetensors", {**tensors, "zero": floats(0, 0), "<b>&": floats(NAN, 1)}, license="mit", note="<script>"), (1, 1))
    tensors["layer.10.weight"] = floats(*range(8))
    os.utime(safetensors(at / "second.safetensors", {**tensors, "zero": floats(0, 0), "<b>&": floats(NAN, 1)}), (2, 2))
    (at / "copy.safetensors").write_bytes((at / "first.safetensors").read_bytes())
    os.utime(at / "copy.safetensors", (3, 3))
    safetensors(at / "many.safetensors", {f"t{i:03}": floats(i + 0.5) for i in range(150)})
    (at / "broken.gguf").write_bytes(b"GGUF\1\0\0\0")
    np.savez(at / "text.npz", w=np.eye(2), words=np.array(["a", "b"]))
    (at / "digests.zt").write_bytes((GOLDEN / "ztensor" / "golden" / "v1.2" / "hand_digests.zt").read_bytes())
    with Server(command, "models", "--db", NAME) as made:
        made.database = command.directory / NAME
        yield made


def text(html):
    return " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())


def links(server, html, base):
    return [urljoin(base, unescape(link)) for link in re.findall(r'href="([^"]*)"', html) if not link.startswith(("#", "data:"))]


@pytest.fixture(scope="module")
def home(server):
    """The catalog's own address, where the first one leads."""
    return re.search(r'aria-label="Pages">.*?href="([^"]*)"', server.get("/-/ztensor")[2], re.S)[1]


@pytest.fixture(scope="module")
def model(server, home):
    """model(name): the address of a file's page."""
    found = re.findall(r'href="([^"]*/model/\d+)">([^<]*)<', server.get(home + "/models")[2])
    return lambda name: next(link for link, path in found if path.endswith(name))


def test_overview(server, home):
    said = text(server.get(home)[2])
    assert "files 7" in said and "1 file cannot be read : 1 broken" in said
    assert re.search(r"safetensors 4 192 ", said) and "ztensor 1.2.0 1 " in said
    assert "f32 206 " in said and "digest-mismatch error 3 1" in said
    assert "17 tensors with NaN or infinities in 4 files" in said and "3 tensors with only zeros in 3 files" in said
    assert "4 of 6 files state no licence" in said


def test_a_note_is_no_finding(server, home, model):
    kept = sqlite3.connect(server.database).execute("SELECT object, severity FROM finding WHERE rule = 'no-values'").fetchall()
    assert kept == [("words", "note")]
    for address in (home, home + "/models", home + "/findings", model("text.npz")):
        assert "no-values" not in server.get(address)[2] and "note" not in text(server.get(address)[2]).split(), address
    assert "it has no values" not in server.get(home + "/findings?rule=no-values")[2]
    assert "A check of every byte found nothing" in text(server.get(model("text.npz"))[2])
    row = re.search(r"models/text\.npz.*?</tr>", server.get(home + "/models")[2], re.S)[0]
    assert "warning" not in row and "error" not in row


def names(html):
    return re.findall(r'/model/\d+">models/([^<]*)<', html)


def test_models_are_filtered_and_ordered(server, home):
    every = server.get(home + "/models")[2]
    assert names(every) == ["copy.safetensors", "digests.zt", "first.safetensors", "many.safetensors", "second.safetensors", "text.npz"]
    assert names(server.get(home + "/models?path=S%25")[2]) == []
    assert names(server.get(home + "/models?path=sec")[2]) == names(server.get(home + "/models?path=/s*d.s%3Ff")[2]) == ["second.safetensors"]
    assert names(server.get(home + "/models?sort=-bytes")[2])[0] == names(server.get(home + "/models?tensors=>14")[2])[0] == "many.safetensors"
    assert names(server.get(home + "/models?sort=bytes")[2])[-1] == "many.safetensors"
    assert names(server.get(home + "/models?tensors=1..2&container=npz")[2]) == ["text.npz"]
    assert names(server.get(home + "/models?errors=5")[2]) == ["digests.zt"]
    assert "5" in text(every)


def test_a_filter_that_is_not_clear_gives_no_row_and_says_so(server, home):
    for asked, said in (("bytes=ten", "bytes: ten it is no number"), ("path=" + "a*" * 6, "stars"), ("path=" + "x" * 1001, "more than 1000 characters")):
        page = text(server.get(home + "/models?" + asked)[2])
        assert "is not clear" in page and said.split()[-1] in page and "No row passes the filter." in page, page


def test_a_model_says_what_is_known_of_it(server, model):
    status, _, html = server.get(model("first.safetensors"))
    said = text(html)
    assert status == 200 and "licence mit" in said and "note <script>" in said and "A check of every byte found nothing" in said
    assert "models/copy.safetensors" in said and "models/second.safetensors ( distances" in said
    assert re.search(r"layer\.2\.weight f32 \[8\] 8 32 B 2 3 2\.5 0\.32733", said), said
    assert "1 NaN" in said and "all zero" in said and "<b>&amp;" not in said and "<b>& f32" in said
    assert html.count('class="spark"') == 14


def test_a_long_list_is_shown_in_sheets(server, model):
    page = server.get(model("many.safetensors"))[2].partition('id="tensors"')[2]
    assert "1 to 100 of 150" in text(page) and "t099" in page and "t100" not in page
    after = unescape(re.search(r'href="([^"]*)" rel="next"', page)[1])
    second = server.get(after.partition("#")[0])[2].partition('id="tensors"')[2]
    assert "101 to 150 of 150" in text(second) and "t100" in second and 'rel="next"' not in second
    found = server.get(model("many.safetensors") + "?object=t14")[2].partition('id="tensors"')[2]
    assert re.findall(r">(t\d+)</a>", found) == [f"t14{i}" for i in range(10)]


def test_a_tensor_has_a_histogram(server, model):
    page = server.get(model("first.safetensors"))[2]
    tensor = re.search(r'href="([^"]*)">layer\.3\.weight<', page)[1]
    html = server.get(tensor)[2]
    counts = [int(n) for n in re.findall(r"<title>[^<]*: (\d+)</title>", html)]
    assert len(counts) == 24 and sum(counts) == 8 and counts[0] == counts[-1] == 1
    assert "The same values elsewhere" in html and "models/second.safetensors" in text(html)


def test_statistics_have_the_names_of_the_tables(server, model):
    """min, max, mean, std and norm, as in zt_stats."""
    page = server.get(model("first.safetensors"))[2]
    heads = re.findall(r'<th scope="col"[^>]*><a [^>]*>([^<]*)</a></th>', page)
    assert "over the finite values" in text(page)
    assert [head for head in heads if head in ("min", "max", "mean", "std")] == ["min", "max", "mean", "std"]
    tensor = server.get(re.search(r'href="([^"]*)">layer\.3\.weight<', page)[1])[2]
    said = text(tensor)
    assert re.search(r"min 3 max 4 mean 3\.5 std 0\.32733 norm 9\.9427 zeros 0", said), said
    assert "least" not in said and "greatest" not in said and "file modified min max mean std histogram" in said
    assert "min, max, mean, std and norm are over the finite values" in said


def test_two_models_side_by_side(server, model):
    a, b = model("first.safetensors"), model("second.safetensors")
    number = [link.rpartition("/")[2] for link in (a, b)]
    base = a.rpartition("/model/")[0]
    html = server.get(f"{base}/compare?a={number[0]}&b={number[1]}")[2]
    said = text(html)
    assert "changed 1" in said and "same 13" in said
    titles = re.findall(r"<title>([^<]*: [^<]*)</title>", html)
    assert [title.partition(":")[0] for title in titles] == ["&lt;b&gt;&amp;", *(f"layer.{i}.weight" for i in range(12)), "zero"]
    assert sum(title.endswith(": 0") for title in titles) == 12 and titles[0].endswith(": 0, NaN in 1 of 2 pairs")
    assert re.findall(r'<tr><th scope="row" class=""><a[^>]*>([^<]*)', html)[:2] == ["&lt;b&gt;&amp;", "layer.10.weight"]
    assert "content" in said and "attributes" in said
    swapped = server.get(f"{base}/compare?a={number[1]}&b={number[0]}")[2]
    assert "changed 1" in text(swapped)
    other = model("many.safetensors").rpartition("/")[2]
    assert "nothing can be compared" in text(server.get(f"{base}/compare?a={number[0]}&b={other}")[2])
    assert "models/many.safetensors" in text(server.get(f"{base}/compare?a={number[0]}&path=many")[2])


def test_duplicates_and_what_they_waste(server, home):
    html = server.get(home + "/duplicates")[2]
    said = text(html)
    assert "models/copy.safetensors models/first.safetensors 2 2 safetensors 1.54 kB 1.54 kB" in said
    wasted = sqlite3.connect(server.database).execute("SELECT count(*), sum(spare_bytes) FROM duplicates").fetchone()
    assert f"contents with copies {wasted[0]}" in said and f"wasted in all {wasted[1] / 1000:.3g} kB" in said
    (digest,) = sqlite3.connect(server.database).execute("SELECT digest FROM copies WHERE path LIKE '%/models/copy.safetensors' LIMIT 1").fetchone()
    assert digest.startswith("xxh3-128:")
    copies = server.get(unescape(re.search(f'href="([^"]*/copies[?]digest={digest.replace(":", "(?::|%3A)")})"', html)[1]))[2]
    assert "models/copy.safetensors" in copies and "models/first.safetensors" in copies


def test_every_link_leads_somewhere_on_this_server(server, home):
    """Of all pages of the page; those of Datasette that they name are there, too. The state of tables has no end: of a table, the links of its first
    state are looked at."""
    seen, left, states = set(), [server.host + home], set()
    while left:
        address = left.pop()
        path, _, query = address.partition("?")
        keys = [part.partition("=")[0] for part in query.split("&") if part]
        is_state = bool({key.rpartition(".")[2] for key in keys} - {"a", "b", "digest", "model", "sql", "rule", "severity", "missing"})
        kind = re.sub("[0-9]+", "N", path), *keys, *re.findall("(?:sort|as)=[^&]*", query)
        if address in seen or is_state and kind in states:
            continue
        seen.add(address)
        states.add(kind)
        assert address.startswith(server.host + "/"), address
        status, headers, html = server.get(address)
        assert status == 200, address
        if "/-/ztensor" in address and "html" in headers["Content-Type"]:
            assert not re.search(r"<script|<[^>]* (style|on[a-z]+)=", html), address
            left += [] if is_state else [link.partition("#")[0] for link in links(server, html, address)]
    assert len(seen) > 100


def test_nothing_may_come_from_elsewhere(server, home):
    headers = server.get(home)[1]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'self'; img-src data:")
    assert "text/css" in server.get("/-/ztensor.css")[1]["Content-Type"]
    assert "http" not in server.get("/-/ztensor.css")[2]


def test_what_is_not_there_is_404(server, home):
    for address in (home + "/model/99999", home + "/model/1/99999", home + "/compare?a=x", home + "/copies?digest=nothing", "/-/ztensor/nothing",
                    home + "/nothing", home + "/model/99999999999999999999"):
        assert server.get(address)[0] == 404, address
    for address in (home + "/models?from=-1&sort=nonsense", home + "/models?from=9999999999999999999", home + "/findings?rule=nonsense"):
        assert server.get(address)[0] == 200, address


def test_the_server_neither_has_the_extension_nor_writes(server, home):
    database = server.database
    before = open(database, "rb").read()
    path = unescape(re.search(r'href="([^"]*)">SQL<', server.get(home)[2])[1])
    for sql, said in (("SELECT zt_version()", "no such function: zt_version"), ("SELECT * FROM zt_files('/')", "no such table: zt_files"),
                      ("SELECT load_extension('x')", "not authorized"), ("DELETE FROM file", "Statement must be a SELECT")):
        status, _, answer = server.get(f"{path}.json?sql={sql.replace(' ', '+')}")
        assert status == 400 and said in answer, answer
    assert open(database, "rb").read() == before


def test_only_this_machine_is_answered(server, home):
    assert server.get(home, Host="evil.example")[0] == 403
    assert server.get(home, Host="localhost:1")[0] == 200
    assert server.host.startswith("http://127.0.0.1:")


def test_a_catalog_is_shown_as_it_is(command):
    subprocess.run(["sqlite3", command.directory / "bare.db"], stdin=open(GOLDEN.parents[1] / "sql" / "catalog.sql"), check=True)
    with Server(command, "bare.db") as server:
        status, _, html = server.get("/-/ztensor/bare")
        assert status == 200 and "files 0" in text(html)


def test_serve_again_reads_nothing_again(command, server):
    database = server.database
    read = "SELECT path, refreshed, checked, fingerprinted, at FROM file JOIN measured ON measured.file = file.id ORDER BY 1"
    before = sqlite3.connect(database).execute(read).fetchall()
    with Server(command, "models", "--db", NAME) as again:
        assert again.get("/-/ztensor")[0] == 200
    assert sqlite3.connect(database).execute(read).fetchall() == before and len(before) == 6


def test_what_takes_long_is_asked_before_the_first_visitor(command, server):
    said = command.python_code("""
import asyncio, sys
from datasette.app import Datasette
from ztensor_sqlite import page
from ztensor_sqlite.server import plug_in
plug_in()
asyncio.run(Datasette([sys.argv[1]]).invoke_startup())
print(len(page.shared.kept))""", command.directory / "bare.db")
    assert int(said) > 5


def test_a_page_follows_a_refresh(command):
    at = command.directory / "more"
    safetensors(at / "a.safetensors", {"w": floats(1)})
    with Server(command, "more", "--db", "more.db", "--quick") as server:
        assert "files 1" in text(server.get("/-/ztensor/more")[2])
        safetensors(at / "b.safetensors", {"w": floats(2)})
        command("catalog", "more", "--db", "more.db")
        said = text(server.get("/-/ztensor/more")[2])
        assert "files 2" in said and "2 files without --statistics" in said


def test_numbers_at_their_ends(command):
    """The min integer of SQLite, which has no absolute value there; integers beyond SQLite's, which are text; floats whose difference overflows."""
    (command.directory / "ends").mkdir()
    np.savez(command.directory / "ends" / "ends.npz", most=np.array([2 ** 64 - 1, 5], "u8"), least=np.array([-2 ** 63, 5]),
             small=np.array([7, 5]), wide=np.array([-1e308, 1e308]))
    with Server(command, "ends", "--db", "ends.db") as server:
        model = re.search(r'href="([^"]*/model/\d+)"', server.get("/-/ztensor/ends/models")[2])[1]
        status, _, html = server.get(model + "?sort=-max")
        tensors = re.findall(r'href="([^"]*)">(most|least|small|wide)<', html.partition('id="tensors"')[2])
        assert status == 200 and [name for _, name in tensors] == ["most", "wide", "small", "least"]
        titles = {name: re.findall("<title>([^<]* to [^<]*)</title>", server.get(address)[2]) for address, name in tensors}
        assert {name: len(found) for name, found in titles.items()} == {"wide": 24, "most": 24, "least": 24, "small": 24}
        assert titles["most"][-1] == "1.7678e+19 to 1.8447e+19: 1" and titles["wide"][12] == "0 to 8.3333e+306: 0", titles


def test_an_interrupt_is_the_usual_end(command, server):
    with Server(command, "bare.db") as another:
        another.get("/-/ztensor/bare")
        assert another.stop(signal.SIGINT) == 0 and another.log.read_text() == ""


def test_a_port_that_is_taken(command, server):
    assert "Address already in use" in command.refused("serve", "bare.db", "--port", server.host.rpartition(":")[2])
