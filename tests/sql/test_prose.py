"""The words that users read: a sentence has a subject that names something, and one thing has one name."""
import ast
import html
import re

import pytest

from support import ROOT
from test_readme import DOCUMENTS, FENCED

PACKAGE = ROOT / "ext" / "packages" / "python" / "src" / "ztensor_sqlite"
RULES = re.compile(r"<!-- generated: rules -->.*?<!-- end -->", re.S)   # Statements of zt_rules, which stand beside the formats' grammars


def blocks_of_page(text):
    """Paragraphs, items of lists and cells of tables; not the headings."""
    text = re.sub(r"^#.*$|^<!--.*?-->$", "", FENCED.sub("\n", RULES.sub("", text)), flags=re.M)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:- |\d+\. |\|))", text):
        if block.lstrip().startswith("|"):
            yield from (cell for row in block.splitlines() for cell in re.split(r"(?<!\\)\|", row))
        else:
            yield re.sub(r"^\s*(?:- |\d+\. )", "", block)


def blocks_of_script(text):
    """Comments above statements, and beside them."""
    for comment in re.findall(r"(?:^--(?: .*)?\n)+", text, re.M):
        yield from re.split(r"\n\s*\n", re.sub(r"^--[- ]*", "", comment, flags=re.M))
    yield from re.findall(r"^[^\n']*\S.*? -- (.*)$", text, re.M)


def blocks_of_head(text):
    """The paragraphs of the comment at the head of a C file, and what it says of each column or function."""
    for paragraph in re.split(r"\n\*\*\n", text.split("*/")[0].removeprefix("/*\n")):
        for item in re.split(r"\n(?=\*\* {3}\S)", paragraph):
            yield re.sub(r"^\*\*(?: {3}(?! )\S+(?:, \S+)*)? *", "", item, flags=re.M)


def blocks_of_command(text):
    """Docstrings, and the help of options."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            yield from ast.get_docstring(node).split("\n\n")
        if isinstance(node, ast.keyword) and node.arg == "help" and isinstance(node.value, ast.Constant):
            yield node.value.value


def blocks_of_makefile(text):
    """The lines of `make help`."""
    yield from re.findall(r"^[a-z][a-z0-9-]*:.*## (.*)$", text, re.M)


def blocks_of_template(text):
    yield from (html.unescape(words) for words in re.split(r"<[^>]*>|{%.*?%}", re.sub(r"{{.*?}}", "x", text)))


SOURCES = [
    (ROOT / "Makefile", blocks_of_makefile),
    *((page, blocks_of_page) for page in DOCUMENTS),
    *((path, blocks_of_script) for path in [*sorted((ROOT / "sql").glob("*.sql")), PACKAGE / "measures.sql"]),
    *((path, blocks_of_head) for kind in ("table", "function") for path in sorted((ROOT / "ext" / "sqlite").glob(f"{kind}_*.c"))),
    *((path, blocks_of_command) for path in sorted(PACKAGE.parent.rglob("*.py"))),
    *((path, blocks_of_template) for path in sorted((PACKAGE / "page" / "html").glob("*.html")))]
ALL = pytest.mark.parametrize("path, blocks", SOURCES, ids=[str(path.relative_to(ROOT)) for path, _ in SOURCES])

OPENING = re.compile(r"(?:what|who|whoever|nobody|of an?)\b", re.I)
WORDS = {"one that is": r"\bone that is\b", "min": r"\bthe least\b", "max": r"\bgreatest\b"}


def sentences(blocks, text):
    for block in blocks(text):
        block = " ".join(re.sub(r"\*\*", "", re.sub(r"`[^`]*`|\[([^]]*)\]\([^)]*\)", lambda m: m[1] or "X", block)).split())
        yield from re.split(r"(?<=[.?!])\)? (?=\(?[A-Z])", block)


@ALL
def test_no_sentence_begins_without_naming_its_subject(path, blocks):
    text = path.read_text()
    assert [s for s in sentences(blocks, text) if OPENING.match(s.lstrip("(")) and not s.endswith("?")] == []


@ALL
def test_one_thing_has_one_name(path, blocks):
    text = path.read_text()
    assert [(name, s) for s in sentences(blocks, text) for name, old in WORDS.items() if re.search(old, s)] == []


@pytest.mark.parametrize("page", DOCUMENTS, ids=[str(page.relative_to(ROOT)) for page in DOCUMENTS])
def test_a_cell_of_a_table_is_short(page):
    """More to say is more rows, or a paragraph."""
    assert [cell for line in page.read_text().splitlines() if line.startswith("|") for cell in line.split("|") if len(cell) > 350] == []


def test_the_texts_are_found():
    """Each kind has a sentence that is known to be there."""
    found = {blocks: [] for _, blocks in SOURCES}
    for path, blocks in SOURCES:
        found[blocks] += sentences(blocks, path.read_text())
    assert {blocks.__name__: len(texts) > 20 for blocks, texts in found.items()} == dict.fromkeys(
        ["blocks_of_makefile", "blocks_of_page", "blocks_of_script", "blocks_of_head", "blocks_of_command", "blocks_of_template"], True)
    assert "Objects come in the order in which they are stored, which is not the order of their names: SQLite sorts for X." in found[blocks_of_page]
    assert "Bins have equal widths, from the min to the max." in found[blocks_of_head]
    assert "the root of the sum of squares" not in found[blocks_of_page] and "Print the executed SQL on stderr." in found[blocks_of_command]
    assert "NaN and infinities are errors." in found[blocks_of_template]


@pytest.mark.parametrize("text, wrong", [
    ("A fact. What is no number has no values.", 1), ("**1. What is it?** This.", 0), ("Of a pattern, each file\ngives rows.", 1), ("- who asks", 1),
    ("| x | what it is |", 1), ("It is a file, and one that\nis broken.", 0), ("```text\nWhat is this.\n```", 0), ("# What\n", 0)])
def test_a_sentence_is_recognized(text, wrong):
    assert sum(bool(OPENING.match(s)) and not s.endswith("?") for s in sentences(blocks_of_page, text)) == wrong
