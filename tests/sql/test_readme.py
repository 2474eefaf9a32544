"""What the pages show is what happens, and what they say of the extension is what it says of itself."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import readme
from support import EXTENSION, ROOT, rows

ALL = [(page, *example) for page in readme.PAGES for example in readme.examples(page)]
DOCUMENTS = [ROOT / "README.md", *sorted(path for folder in ("ext", "sql", "tests") for path in (ROOT / folder).rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
HEADING = re.compile(r"^(#+) (.*)$", re.M)
LINK = re.compile(r"\[([^]]+)\]\(([^)\s]+)\)")


# ---------------------------------------------------------------------------------------------------------- examples

def shell_version():
    """The version of the shell's SQLite as a tuple."""
    done = subprocess.run(["sqlite3", ":memory:", "SELECT sqlite_version()"], capture_output=True, text=True, timeout=60, check=True)
    return tuple(map(int, done.stdout.split(".")))


@pytest.mark.parametrize("number", range(len(ALL)))
def test_an_example_prints_what_its_page_says(number):
    page, language, program, expected = ALL[number]
    if "->>" in program and shell_version() < (3, 38):
        expected = 'Parse error: near ">>": syntax error\n'   # SQLite has the operator since 3.38
    assert readme.run(language, program, page) == expected


@pytest.mark.parametrize("page", readme.PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_who_types_one_example_after_the_other_sees_the_same(page):
    """But for errors, which the shell prints before what it has not printed yet."""
    typed = [(program, expected) for language, program, expected in readme.examples(page)
             if language == "sql" and " error: " not in expected and ("->>" not in program or shell_version() >= (3, 38))]
    if typed:
        assert readme.run("sql", "".join(program for program, _ in typed), page) == "".join(expected for _, expected in typed)
    else:
        assert page == ROOT / "sql" / "README.md"   # Whose examples are of the shell


def test_the_readme_has_ten_examples_in_all_languages():
    assert len(readme.examples()) == 10 and {language for language, _, _ in readme.examples()} == {"sql", "python", "sh"}
    assert re.findall(r"^\*\*(\d+)\. ", readme.README.read_text(), re.M) == [str(n) for n in range(1, 11)]


def test_the_lines_for_sqliterc(tmp_path):
    lines = re.search(r"^```text\n(\.load \S+\n.*?)^```", (ROOT / "ext" / "HOSTS.md").read_text(), re.M | re.S)[1]
    (tmp_path / "sqliterc").write_text(re.sub(r"(?<=\.load )\S+", EXTENSION, lines))
    # The shell looks its user's home directory up, whatever HOME says; -init names a file to read in its place.
    done = subprocess.run(["sqlite3", "-init", tmp_path / "sqliterc", ":memory:", "SELECT count(*) AS files FROM zt_files('tests/formats/ztensor/golden/v0.1')"],
                          cwd=readme.ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert "│ files │" in done.stdout


# --------------------------------------------------------------------------------------------------- generated text

WRITTEN = dict(readme.GENERATED.findall(readme.REFERENCE.read_text()))


@pytest.mark.parametrize("name", WRITTEN)
def test_what_the_reference_says_is_what_the_source_says(name):
    assert len(WRITTEN[name].splitlines()) > 4
    assert WRITTEN[name] == readme.generated(name)


def test_the_reference_has_every_table_and_the_rules(db):
    tables = {name for name, in rows(db, "SELECT name FROM pragma_module_list WHERE name LIKE 'zt@_%' ESCAPE '@'")}
    assert len(tables) > 10 and set(WRITTEN) == tables | {"functions", "rules"}
    assert WRITTEN["rules"].count("\n") == 2 + rows(db, "SELECT count(*) FROM zt_rules")[0][0]


def counts(call):
    """How many arguments a function may have that is called so; `...` is any number."""
    arguments = re.search(r"\((.*)\)", call)[1]
    if "..." in arguments:
        return {-1}
    optional = len(re.findall(r"\[", arguments))
    most = len(re.findall(r"\w+", arguments))
    return set(range(most - optional, most + 1))


def test_the_reference_has_every_function_with_its_arguments(db):
    documented = {}
    for call in re.findall(r"`(zt_\w+\(.*?\))`(?=, `| \|)", WRITTEN["functions"]):
        documented.setdefault(call.partition("(")[0], set()).update(counts(call))
    actual = {}
    for name, n in rows(db, "SELECT name, narg FROM pragma_function_list WHERE name LIKE 'zt@_%' ESCAPE '@'"):
        actual.setdefault(name, set()).add(n)
    assert len(actual) > 10 and documented == actual


def test_the_limits_are_those_of_the_code():
    defined = {}
    for source in (ROOT / "ext").glob("*/*.[ch]"):
        for name, number in re.findall(r"^#define ([A-Z_\d]+) +\(?(?:\(\w+\))?(\d+(?: ?<< ?\d+)?)", source.read_text(), re.M):
            defined.setdefault(name, set()).add(eval(number))
    limits = re.findall(r"^\|([^|]*)\|([^|]*)\| (`[A-Z_\d]{5,}`(?:, `[A-Z_\d]+`)*) \|", section(readme.REFERENCE, "limits"), re.M)
    assert len(limits) >= 14
    for what, limit, names in limits:
        for name in re.findall(r"\w+", names):
            n, = defined[name]   # No other limit has that name
            sizes = {f"{n:,}", f"{n >> 10} KiB", f"{n >> 20} MiB", f"{n >> 30} GiB"}
            assert any(re.search(rf"(?<![\d,]){size}(?![\d,])", what + limit) for size in sizes), (name, sizes)


# ------------------------------------------------------------------------------------------------------------- links

def anchors(page):
    """{anchor: (level, where the heading begins)}, as they are made of headings: letters in lower case, spaces as hyphens, no
    other signs, and a number behind one that was there before."""
    found = {}
    text = FENCED.sub(lambda block: " " * len(block[0]), page.read_text())
    for heading in HEADING.finditer(text):
        anchor = re.sub(r"[^\w\- ]", "", heading[2].lower()).replace(" ", "-")
        number = sum(re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other) is not None for other in found)
        found[f"{anchor}-{number}" if number else anchor] = (len(heading[1]), heading.start())
    return found


def section(page, anchor):
    """What stands below a heading, up to the next one of its level; of none, the whole page."""
    if not anchor:
        return page.read_text()
    found = anchors(page)
    level, begin = found[anchor]
    end = min((at for other, at in found.values() if at > begin and other <= level), default=None)
    return page.read_text()[begin:end]


def links(page):
    """[(text, the page it leads to, anchor)] of the links that do not leave the project."""
    text = FENCED.sub("", page.read_text())
    return [(" ".join(name.split()), (page.parent / target.partition("#")[0]).resolve() if target[0] != "#" else page, target.partition("#")[2])
            for name, target in LINK.findall(text) if "://" not in target]


@pytest.mark.parametrize("page", DOCUMENTS, ids=[str(page.relative_to(ROOT)) for page in DOCUMENTS])
def test_links_lead_somewhere(page):
    for name, target, anchor in links(page):
        assert target.exists(), (name, target)
        assert not anchor or anchor in anchors(target), (name, anchor)


def test_there_are_links_to_test():
    assert len(DOCUMENTS) > 10 and sum(len(links(page)) for page in DOCUMENTS) > 50
    assert {page for page in DOCUMENTS if page.parts[len(ROOT.parts)] != "tests"} <= {target for page in DOCUMENTS for _, target, _ in links(page)}


@pytest.mark.parametrize("question, answers", [
    ("the columns of a table", ["### zt_objects", "`digest_status`", "`stored_bytes`", "`zt_histogram(source, object, bins)`"]),
    ("how to refresh a catalog from Python", ["```python\nimport sqlite3", "INSERT INTO refresh(source)"]),
    ("how to add a format", ["zt_driver", "container/driver.c", "tests/formats/NAME/", "tensor/rule.c"]),
    ("how to report a vulnerability", ["in private", "zt_version()"])])
def test_the_readme_answers_by_one_link(question, answers):
    (line,) = [line for line in readme.README.read_text().splitlines() if line.startswith(f"| {question} |")]
    (target, anchor), = [target.split("#") for _, target in LINK.findall(line)]
    text = section(ROOT / target, anchor)
    assert [answer for answer in answers if answer not in text] == []
    assert len(text.splitlines()) < 300


# -------------------------------------------------------------------------------------------------------------- shape

def test_the_readme_is_short():
    assert len(readme.README.read_text().splitlines()) <= 300


@pytest.mark.parametrize("page", [*readme.PAGES, *(ROOT / "ext" / name for name in ("README.md", "HOSTS.md", "SECURITY.md")), ROOT / "tests" / "README.md"],
                         ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_and_programs_can_be_read_without_scrolling(page):
    """Rows of tables and what programs print are as wide as they must be."""
    text = re.sub(r"^```text\n.*?^```$", "", page.read_text(), flags=re.M | re.S)
    assert [line for line in text.splitlines() if len(line) > 140 and not line.startswith("|")] == []
