"""The page's tables of a collection of everyday files: what the pages begin with, order, filters, SQL, downloads; and names that are hostile."""
import collections
import csv
import io
import json
import re
import sqlite3
from html import unescape
from urllib.parse import quote

import collection
import pytest
from commanding import Command, Server, floats, safetensors
from conftest import ROOT
from test_page import text

HOME = "/-/ztensor/all"


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    return Command(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def server(command):
    collection.make(command.directory / "everything", hole=False)
    with Server(command, "everything", "--db", "all.db") as made:
        made.database = command.directory / "all.db"
        yield made


@pytest.fixture(scope="module")
def get(server):
    def get(address, status=200):
        found, headers, body = server.get(HOME + address)
        assert found == status, (address, found, body[:300])
        return body
    return get


@pytest.fixture(scope="module")
def ask(server):
    return lambda sql, *values: sqlite3.connect(server.database).execute(sql, values).fetchall()


def table(html, name):
    """The rows of a table of a page, as texts."""
    part = html[html.index(f'id="{name}"'):]
    body = part[part.index("<tbody>"):part.index("</tbody>")]
    return [[text(cell) for cell in re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in re.findall("<tr>(.*?)</tr>", body, re.S)]


def csv_of(get, address):
    return list(csv.reader(io.StringIO(get(address), newline="")))


def test_the_overview_begins_with_what_to_act_on(get):
    html = get("")
    said = text(html)
    assert "<h1>everything</h1>" in html
    places = [said.index(word) for word in ("To act on", "12 files cannot be read", "2 models without all parts", "with NaN or infinities", "with only zeros",
                                            "wasted by copies", "The largest models", "Bytes by type", "Formats and their versions")]
    assert places == sorted(places)
    kinds = collections.Counter(collection.BROKEN.values())
    assert f"{kinds['broken']} broken" in said and f"{kinds['unknown']} unknown" in said
    assert len(table(html, "largest")) == 5


def test_what_is_unsupported_is_not_broken(get):
    assert "5 files of formats that are recognized, and not read" in text(get(""))
    names = lambda page: {row[0].removeprefix("everything/") for row in table(get("/" + page), page)}
    assert names("unsupported") == set(collection.UNSUPPORTED)
    assert names("unreadable") == {*collection.BROKEN, "backup/gone.safetensors"}


def test_quantized_types_have_their_names(get, ask):
    types = [row[0] for row in table(get(""), "types")]
    assert {"q5_0", "q4_k", "q6_k", "q8_0", "bf16"} <= set(types)
    ((file, name),) = ask("SELECT f.id, n.id FROM file AS f, name AS n WHERE f.path LIKE '%/gguf/tiny-llama-Q5_0.gguf' AND n.name = 'blk.0.attn_q.weight'")
    assert {row[0]: row[1] for row in table(get(f"/model/{file}"), "tensors")}["blk.0.attn_q.weight"] == "q5_0"
    assert [row[1] for row in table(get(f"/model/{file}/{name}"), "parts")] == ["q5_0"]
    assert {row[1] for row in table(get("/duplicates?contents.type=q"), "contents")} >= {"q8_0", "q5_0"}


def test_suspects_are_sorted_by_severity_and_have_reasons(get, ask):
    rows = table(get("/suspects"), "suspects")
    severities = [row[0] for row in rows]
    assert severities == sorted(severities, key=["error", "warning", "note"].index) and set(severities) == {"error", "warning", "note"}
    nans = [int(row[4].replace(",", "")) for row in rows if row[0] == "error"]
    assert nans == sorted(nans, reverse=True) and nans[0] == 8192
    assert {row[1] for row in rows if row[0] == "error"} == {"NaN", "infinite", "NaN and infinite"} - ({"NaN and infinite"} if not ask(
        "SELECT 1 FROM statistic WHERE nans > 0 AND infs > 0") else set())
    assert {row[1] for row in rows if row[0] == "warning"} == {"all zero"}
    assert [row[0] for row in table(get("/suspects?severity=warning"), "suspects")].count("warning") == severities.count("warning")
    assert {row[3] for row in table(get("/suspects?path=damaged/inf&reason=infinite"), "suspects")} == {"everything/" + collection.INFINITE}


def test_zero_matrices_of_an_adapter_are_one_line(get):
    rows = table(get("/suspects?reason=LoRA+B+is+zero"), "suspects")
    fresh = [f"everything/{collection.FRESH_LORA.format(i)}/adapter_model.safetensors" for i in range(6)]
    assert [row[3] for row in rows if row[3] in fresh] == fresh
    assert all(re.fullmatch(r"8 matrices such as base_model.*lora_B\.weight", row[2]) for row in rows if row[3] in fresh)
    assert not [row for row in table(get("/suspects"), "suspects") if "lora_B" in row[2] and row[1] == "all zero"]


def test_duplicates_name_their_models_at_once(get):
    rows = table(get("/duplicates"), "models")
    code = next(row for row in rows if "tiny-llama-code" in row[0])
    assert code[0].split(" everything/")[1:] == ["backup/tiny-llama-code-2024.safetensors", "backup/tiny-llama-code-latest.safetensors"]
    assert code[1:3] == ["3", "5"]   # Two copies and the original, which has a hard link and a symbolic one
    bytes_of_one, wasted = (float(cell.split()[0]) for cell in code[-2:])
    assert abs(wasted - 2 * bytes_of_one) <= 1   # Of the three digits that are shown


def test_a_tensor_is_found_in_all_models(get, ask):
    rows = table(get("/tensors?object=layers.1.*k_proj&type=bf16"), "tensors")
    expected = ask("SELECT object, path FROM objects WHERE object LIKE '%layers.1.%k_proj%' AND type = 'bf16' ORDER BY 1, 2")
    assert [(row[0], row[1]) for row in rows] == [(object, "everything" + path.partition("/everything")[2]) for object, path in expected][:100]
    assert ["bf16", "[16,32]"] in [row[2:4] for row in rows]
    least = csv_of(get, "/tensors?sort=min&table=tensors&as=csv")
    assert [float(row[6]) for row in least[1:11]] == [value for value, in ask("SELECT min FROM statistic WHERE min IS NOT NULL ORDER BY min LIMIT 10")]
    five = lambda rows: [f"{float(row[6]):.5g}" for row in rows]
    assert five(table(get("/tensors?sort=min"), "tensors")[:10]) == five(least[1:11])
    assert {row[12] for row in table(get("/tensors?nans=%3E0&object=o_proj"), "tensors")} >= {"147"}


def tables_of(html):
    """{name: (address of the CSV, of the JSON, SQL)}"""
    found = {}
    for part in html.split('<div class="tools">')[1:]:
        links = [unescape(link) for link in re.findall('href="([^"]*)" download', part)]
        found[re.search("table=([a-z]+)", links[0])[1]] = *links, unescape(re.search("<pre[^>]*>(.*?)</pre>", part, re.S)[1])
    return found


PAGES = ["", "/models?path=gguf", "/tensors?object=norm&type=f32&sort=-std", "/duplicates?contents.copies=>2", "/findings?severity=warning", "/suspects?sort=path",
         "/unreadable?kind=broken", "/unsupported", "/model/{}?object=norm", "/model/{}/{}"]


@pytest.mark.parametrize("page", PAGES)
def test_page_download_and_sql_say_the_same(get, ask, server, page):
    """Of every table: the SQL that is shown, run on the catalog, gives the rows of the CSV and the JSON; the page shows the first of them."""
    place = ask("SELECT f.id, n.id FROM file AS f, name AS n WHERE f.path LIKE '%/gguf/tiny-llama-Q5_0.gguf' AND n.name = 'blk.0.attn_norm.weight'")[0]
    html = get(page.format(*place))
    tables = tables_of(html)
    assert tables, page
    for name, (as_csv, as_json, sql) in tables.items():
        cursor = sqlite3.connect(server.database).execute(sql)
        columns, rows = [column[0] for column in cursor.description], cursor.fetchall()
        downloaded = json.loads(server.get(as_json)[2])
        assert [list(row.values()) for row in downloaded] == [list(row) for row in rows], (name, sql)
        assert all(list(row) == columns for row in downloaded)
        lines = list(csv.reader(io.StringIO(server.get(as_csv)[2], newline="")))
        assert lines == [columns, *([("" if value is None else str(value)) for value in row] for row in rows)], name
        shown = table(html, name)
        assert len(shown) == max(1, min(len(rows), len(shown))) and (len(rows) <= len(shown) or len(shown) in (5, 10, 20, 30, 50, 100))
        if page and name != "models":
            assert len(rows) or "None" in shown[0][0] or "There are" in shown[0][0], (name, shown)


def test_every_column_orders_and_filters(get):
    """By the links of the heads, in both directions; a filter of each column by a value of its first row gives rows with it."""
    for page, name in (("/models", "models"), ("/tensors", "tensors"), ("/findings", "findings"), ("/duplicates", "contents"), ("/suspects", "suspects"), ("/model/1", "tensors")):
        html = get(page)
        head = re.search(f'id="{name}".*?</thead>', html, re.S)[0]
        prefix = name + "." if page == "/duplicates" else ""
        columns = re.findall(rf"[?&;]{prefix}sort=-?([a-z_]+)#", head)
        assert len(columns) >= 6, (page, columns)
        for column in columns:
            up, down = (csv_of(get, f"{page}?{prefix}sort={sign}{column}&table={name}&as=csv") for sign in ("", "-"))
            assert up[0] == down[0] and sorted(up[1:]) == sorted(down[1:])
            place = up[0].index(column)
            values = [row[place] for row in up[1:]]
            assert values[0] != "" or not any(values), (page, column)   # NULLs are last
            if not any(values):
                continue
            first = values[0]
            asked = first if re.fullmatch("-?[0-9.e-]+", first) else re.sub("[*?]", "?", first)[:60]
            found = csv_of(get, f"{page}?{prefix}{column}={quote(asked)}&table={name}&as=csv")
            assert first in [row[place] for row in found[1:]], (page, column, first)
            assert len(found) <= len(up)


def test_the_address_names_nothing_but_columns(get):
    for sort in ("path;DROP TABLE file", "1", "(SELECT 1)", "rowid", "file", "path DESC", "--path"):
        assert get("/models?sort=" + quote(sort)).count("<tr>") == get("/models").count("<tr>")
    assert "No row passes the filter" in text(get("/models?path=" + quote("' OR 1=1 --")))
    assert "is not clear" in text(get("/models?path=%00"))
    for address in ("/models?as=csv", "/models?as=xml&table=models", "/models?as=csv&table=nothing", "/model/1?as=csv&table=title"):
        get(address, status=404)


def test_the_state_of_a_table_is_in_its_address(get):
    """A link to it shows the same rows, and other tables keep theirs."""
    html = get("/duplicates?contents.sort=tensor&contents.from=100&sort=-copies")
    assert "101 to 200 of" in text(html)
    links = [unescape(link) for link in re.findall('href="([^"]*#models)"', html)]
    assert links and all("contents.from=100" in link and "contents.sort=tensor" in link for link in links)
    assert all("sort=-copies" in unescape(link) for link in re.findall('href="([^"]*#contents)"', html))
    form = re.search('<form class="grid".*?</form>', html[html.index('id="contents"'):], re.S)[0]
    assert 'name="contents.sort" value="tensor"' in form and 'name="sort" value="-copies"' in form and 'name="contents.from"' not in form


def test_the_collection_has_a_name(command, server):
    with Server(command, "all.db", "--title", "The <b>zoo</b>") as named:
        html = named.get(HOME)[2]
        assert "<h1>The &lt;b&gt;zoo&lt;/b&gt;</h1>" in html and "<strong>The &lt;b&gt;zoo&lt;/b&gt;</strong>" in html
        assert "· The &lt;b&gt;zoo&lt;/b&gt; ·" in named.get(HOME + "/models")[2]


HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}", "a\nb\tc\rd", "\x1b[31mred\x07", "‮dlrow", "x" * 70_000, "=cmd|' /C calc'!A0",
           "%00..%2f..", "'; DROP TABLE file; --", " ", ""]


@pytest.fixture(scope="module")
def hostile(command, server):
    """A copy of the catalog in which a model's names, types, attributes, findings and paths are hostile, and some are no UTF-8."""
    path = command.directory / "hostile.db"
    db = sqlite3.connect(path)
    sqlite3.connect(server.database).backup(db)
    ((file, layout, architecture),) = db.execute("SELECT f.id, l.id, l.architecture FROM file AS f JOIN layout AS l ON l.id = f.layout WHERE f.path LIKE ?",
                                                 ("%/" + collection.NAN,)).fetchall()
    values = [f"CAST(x'{text.encode().hex()}' AS TEXT)" for text in HOSTILE] + ["CAST(x'ff61fe' AS TEXT)", "CAST(x'610062' AS TEXT)"]
    names = [name for name, in db.execute("SELECT name FROM tensor WHERE architecture = ? ORDER BY name", (architecture,))]
    for i, (value, name) in enumerate(zip(values, names)):
        db.execute(f"INSERT OR IGNORE INTO name(id, name) VALUES ({10 ** 6 + i}, {value})")
        for rows, key in (("tensor", f"architecture = {architecture}"), ("part", f"layout = {layout}"), ("statistic", f"file = {file}"), ("fingerprint", f"file = {file}")):
            db.execute(f"UPDATE {rows} SET name = (SELECT id FROM name WHERE name = {value}) WHERE {key} AND name = {name}")
        db.execute(f"INSERT INTO attribute(file, key, value, type) VALUES ({file}, {value}, {value}, 'text')")
        db.execute(f"INSERT INTO finding(file, object, component, severity, rule, message) VALUES ({file}, {value}, {value}, 'error', {value}, {value})")
        db.execute(f"INSERT OR IGNORE INTO file(host, path, root, size, mtime, error_kind, error) SELECT host, path || {value}, root, 1, 1, 'broken', {value} FROM file WHERE id = {file}")
        db.execute(f"INSERT INTO change(at, host, path, change, was) VALUES (1, 1, {value}, 'moved', {value})")
    db.execute("UPDATE file SET fingerprint = (SELECT fingerprint FROM file WHERE path LIKE '%tiny-llama/model.safetensors') WHERE id = ?", (file,))
    db.commit()
    return path, file


def test_hostile_names_are_shown_as_they_are(command, hostile):
    path, file = hostile
    with Server(command, path) as server:
        home = "/-/ztensor/hostile"
        number = re.search(rf'{home}/model/{file}/(1000\d+)"', server.get(f"{home}/model/{file}")[2])[1]
        for address in ("", "/models", f"/model/{file}", f"/model/{file}/{number}", "/tensors?object=script", "/tensors?object=" + quote("‮"), "/findings", "/suspects",
                        "/unreadable", "/duplicates", "/?changes.path=script", f"/model/{file}?object=" + quote("a\nb"), "/findings?message=%1b"):
            status, _, html = server.get(home + address)
            assert status == 200, address
            assert not re.search("<script|<img", html), address
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f‮]", html), address
            assert not re.search("x{5000}", html), address
        said = text(server.get(home + "/findings")[2])
        assert "<script>alert(1)</script>" in said and r"a\nb\tc\rd" in said and r"\x1b[31mred\x07" in said and r"\u202edlrow" in said and "(70,000 characters)" in said
        rows = list(csv.reader(io.StringIO(server.get(home + f"/findings?object={quote('=cmd')}&table=findings&as=csv")[2], newline="")))
        assert rows[1][2] == rows[1][3] == "=cmd|' /C calc'!A0"
        exact = json.loads(server.get(home + "/findings?table=findings&as=json")[2])
        assert set(HOSTILE) | {"�a�", "a\0b"} <= {row["message"] for row in exact}


def test_a_page_that_takes_too_long_says_so(command):
    said = command.python_code("""
import asyncio, sys
from datasette.app import Datasette
from ztensor_sqlite import page
from ztensor_sqlite.page import overview
from ztensor_sqlite.server import plug_in
plug_in()
page.LONGEST = 0.05
def endless(connection, parameters):
    connection.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n").fetchall()
page.slow = page.view("overview.html", endless)
async def go():
    shown = Datasette([sys.argv[1]])
    await shown.invoke_startup()
    request = type("Request", (), {"url_vars": {"database": "all"}, "path": "/", "args": {}, "actor": None})()
    answer = await page.slow(shown, request)
    print(answer.status, "A narrower filter" in answer.body)
asyncio.run(go())""", command.directory / "all.db")
    assert said == "503 True\n"
