"""The examples on the pages give the output that is shown, and the pages describe the extension as it describes itself."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import readme
from support import EXTENSION, ROOT, open_connection, rows

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


# Words that SQLite has since a version, and how an older one refuses them
NEWER = {"->>": ((3, 38), 'near ">>": syntax error'), "sqrt(": ((3, 35), "no such function: sqrt")}


def refusal(program):
    """What this SQLite says if it is too old for an example; or nothing."""
    said = (f"Parse error: {message}\n" for text, (since, message) in NEWER.items() if text in program and shell_version() < since)
    return next(said, "")


@pytest.mark.parametrize("number", range(len(ALL)))
def test_an_example_prints_what_its_page_says(number):
    page, language, program, expected = ALL[number]
    if refusal(program):
        assert refusal(program) in readme.run(language, program, page)
    else:
        assert readme.run(language, program, page) == expected


@pytest.mark.parametrize("page", readme.PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_who_types_one_example_after_the_other_sees_the_same(page):
    """But for errors, which the shell prints before what it has not printed yet."""
    typed = [(program, expected) for language, program, expected in readme.examples(page)
             if language == "sql" and " error: " not in expected and not refusal(program)]
    if typed:
        assert readme.run("sql", "".join(program for program, _ in typed), page) == "".join(expected for _, expected in typed)
    else:
        assert page == ROOT / "sql" / "README.md"   # Whose examples are of the shell


@pytest.mark.parametrize("language, program", [
    ("python", "import sqlite3\nsqlite3.connect(':memory:').nothing()\n"), ("sql", "SELECT nothing;\n"),
    ("sh", "sqlite3 catalog.db 'SELECT nothing' | tail -n 1\n"), ("sh", "sqlite3 catalog.db '.quit' && false\necho right\n"), ("sh", "false\necho right\n")])
def test_a_failing_example_is_never_written(tmp_path, language, program):
    pages = [tmp_path / "first.md", tmp_path / "second.md"]
    pages[0].write_text("```sql\n.load ./ztensor\n```\n\n```sql\nSELECT 1;\n```\n\n```text\nold\n```\n")
    pages[1].write_text(f"```sql\n.load ./ztensor\n```\n\n```{language}\n{program}```\n\n```text\nright\n```\n")
    before = [page.read_text() for page in pages]
    with pytest.raises(readme.Failed, match="second.md: this"):
        readme.write(pages)
    assert [page.read_text() for page in pages] == before
    readme.write(pages[:1])
    assert pages[0].read_text() == before[0].replace("old", "1")


def test_an_interpreter_without_extensions_writes_nothing(tmp_path, monkeypatch):
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\necho \"AttributeError: 'sqlite3.Connection' object has no attribute 'enable_load_extension'\" >&2\nexit 1\n")
    interpreter.chmod(0o755)
    monkeypatch.setattr(readme.sys, "executable", str(interpreter))
    page = tmp_path / "page.md"
    text = "```python\nprint(1)\n```\n\n```text\n1\n```\n"
    page.write_text(text)
    with pytest.raises(readme.Failed, match="page.md: this python example fails"):
        readme.write([page])
    assert page.read_text() == text


def test_an_error_that_a_page_shows_is_written_again(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sql\n.load ./ztensor\n```\n\n```sql\nSELECT count(*) FROM zt_objects('nowhere.zt');\n```\n\n```text\nRuntime error: old\n```\n")
    readme.write([page])
    assert "\nRuntime error: ztensor: nowhere.zt: cannot open" in page.read_text()


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
    assert len(tables) > 10 and set(WRITTEN) == tables | {"functions", "rules", "formats", "zt_writer", "writer_arguments", "writer_formats"}
    assert WRITTEN["rules"].count("\n") == 2 + rows(db, "SELECT count(*) FROM zt_rules")[0][0]


@pytest.mark.parametrize("page", [*readme.PAGES, readme.CATALOG], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_names_of_files_are_those_of_the_drivers(page):
    assert page.read_text() == readme.names(page)


def test_the_names_of_files_are_there():
    assert [len(readme.NAMES.findall(page.read_text())) for page in (readme.REFERENCE, readme.CATALOG)] == [1, 1]


def counts(call):
    """How many arguments a function may have that is called so; `...` is any number."""
    arguments = re.search(r"\((.*)\)", call)[1]
    if "..." in arguments:
        return {-1}
    optional = len(re.findall(r"\[", arguments))
    most = len(re.findall(r"\w+", arguments))
    return set(range(most - optional, most + 1))


def test_the_reference_has_every_function_with_its_arguments():
    db = open_connection(entry="sqlite3_ztensor_remote_init")   # Which has all that any entry point has
    documented = {}
    for call in re.findall(r"`(zt_\w+\(.*?\))`(?=, `| \|)", WRITTEN["functions"]):
        documented.setdefault(call.partition("(")[0], set()).update(counts(call))
    actual = {}
    rows(db, "SELECT load_extension(?, 'sqlite3_ztensor_remote_init')", EXTENSION)
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
    """The text below a heading, up to the next one of its level; without a heading, the whole page."""
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
    ("how to add a format", ["zt_driver", "container/driver.c", "tests/formats/NAME/", "NAME_rules"]),
    ("how to report a vulnerability", ["in private", "zt_version()"])])
def test_the_readme_answers_by_one_link(question, answers):
    (line,) = [line for line in readme.README.read_text().splitlines() if line.startswith(f"| {question} |")]
    (target, anchor), = [target.split("#") for _, target in LINK.findall(line)]
    text = section(ROOT / target, anchor)
    assert [answer for answer in answers if answer not in text] == []
    assert len(text.splitlines()) < 300


# ------------------------------------------------------------------------------------------------- setting up, measures

def targets():
    """{target: its prerequisites} of the Makefile's rules for people."""
    return {name: before.split() for name, before in re.findall(r"^([a-z][a-z0-9-]*):([^#\n=]*)##", (ROOT / "Makefile").read_text(), re.M)}


def test_two_commands_do_all_set_up_and_stand_at_the_top_of_install():
    install = section(readme.README, "install")
    first = re.search(r"^```sh\n(.*?)^```", install, re.M | re.S)
    assert [line.split("#")[0].strip() for line in first[1].splitlines()] == ["make deps demo", "make deps test"]
    assert len(re.sub(r"^## .*", "", install[:first.start()]).strip().splitlines()) == 1
    assert {"deps", "demo", "test"} <= {*targets()} and "all" in targets()["demo"] and "all" in targets()["test"]


@pytest.mark.parametrize("page", [readme.README, ROOT / "ext" / "packages" / "README.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_who_builds_packages_from_a_clone_is_told_what_that_needs(page):
    blocks = [block for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S) if re.search(r"^make .*\bwheels?\b", block, re.M)]
    assert blocks
    for block in blocks:
        assert re.search(r"^make deps deps-packages\b", block, re.M), block
        assert {word for line in re.findall(r"^make ([^#\n]*)", block, re.M) for word in line.split()} <= {*targets()}


def bench_module(name):
    sys.path.insert(0, str(ROOT / "tests" / "bench"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def bench_table():
    return bench_module("table")


def measurements():
    """The names of all measurements."""
    done = subprocess.run([sys.executable, ROOT / "tests" / "bench" / "bench.py", "--help"], capture_output=True, text=True, timeout=60, check=True)
    return set(re.search(r"Measurements: (.*)\.$", " ".join(done.stdout.split()))[1].split(", "))


def test_every_ratio_of_the_readme_is_of_a_measurement(tmp_path):
    """`make bench-table` writes them all, from one run."""
    table = bench_table()
    names = [name for names in table.ROWS.values() for name in names]
    assert {*names} <= measurements() and len({*names}) == len(names)
    page = table.with_ratios(readme.README.read_text(), {name: f"<{name}>" for name in names})
    rows_of = section_of(page, "## Compared with other tools")
    assert len(rows_of) == len(table.ROWS)
    assert [row.split("|")[3].strip() for row in rows_of] == ["; ".join(f"<{name}>" for name in names) for names in table.ROWS.values()]
    with pytest.raises(ValueError, match="0 rows"):
        table.with_ratios(page.replace("| listing a GGUF file", "| of a GGUF file"), {name: "1" for name in names})


def test_every_limit_is_of_a_measurement_and_its_reason_is_a_sentence():
    limits = bench_module("limits").LIMITS
    assert len(limits) > 60 and {*limits} <= measurements()
    assert {limit.reason for limit in limits.values() if limit.reason and not re.fullmatch(r"[A-Z][^.]*\.( [A-Z][^.]*\.)*", limit.reason)} == set()


@pytest.mark.parametrize("seconds, reason, shown", [(1.3, "Why.", ["1.300", ""]), (1.31, "Why.", ["1.310", "Why."]), (1.31, "", ["1.310", "?"])])
def test_a_limit_is_measured_beside_both_sides(monkeypatch, seconds, reason, shown):
    """Its row has the reason only above 1.3 times the limit. The limit need not find what the sides find."""
    harness = bench_module("harness")
    monkeypatch.setattr(harness.PLAN, "samples", 1)
    ours, theirs, least = (lambda value=value, found=found: harness.Reading(value, None, [found]) for value, found in ((seconds, "7"), (2.0, "7"), (1.0, "8")))
    item = harness.Measurement("name", "files", "task", "other", "ms", None, lambda: (ours, theirs))
    rows = harness.measure(item, harness.Limit("reading", lambda: least, reason), False)
    assert rows.limit == ["files", "task", "reading", "ms", f"{1000*seconds:.4g}", "1000", shown[0], "", shown[1]]
    assert rows.ratio[4:7] == [f"{1000*seconds:.4g}", "2000", f"{seconds/2:.3f}"]
    assert harness.measure(item, harness.Limit("the other", None), False).limit[5:7] == ["2000", f"{seconds/2:.3f}"]
    assert harness.measure(item, None, False).limit is None


def section_of(page, heading):
    """The rows of the table below a heading, without its head."""
    lines = page.split(heading + "\n")[1].split("\n## ")[0].splitlines()
    return [line for line in lines if line.startswith("| ")][1:]


def test_ratios_of_other_sources_or_of_a_part_are_refused(tmp_path, monkeypatch):
    table = bench_table()
    pages = {"README": readme.README.read_text(), "REFERENCE": readme.REFERENCE.read_text()}
    monkeypatch.setattr(table, "MEASURED", tmp_path / "measured.json")
    for name, text in pages.items():
        monkeypatch.setattr(table, name, tmp_path / f"{name}.md")
        getattr(table, name).write_text(text)
    limited = {name: ["files", "task", f"<{name}>", "us" if name == "tree-c" else "ms", "26", "20", "1.300", "1.2", ""] for name in table.limits.LIMITS}
    every = {name: "0.123" for names in table.ROWS.values() for name in names}
    monkeypatch.setattr(table, "sources", lambda: "a b")

    def refused():
        with pytest.raises(SystemExit) as ended:
            table.main()
        assert {name: getattr(table, name).read_text() for name in pages} == pages
        return str(ended.value)

    assert "run make bench first" in refused()
    table.save(7, {name: ratio for name, ratio in every.items() if name != "gguf-py"}, limited)
    assert "gguf-py" in refused()
    table.save(7, every, {name: row for name, row in limited.items() if name != "tree-c"})
    assert "tree-c" in refused()
    table.save(7, every, limited | {"tree-c": [*limited["tree-c"][:-1], "?"]})
    assert "no reason for tree-c" in refused()
    table.save(7, every, limited)
    monkeypatch.setattr(table, "sources", lambda: "a c")
    assert "not of the sources" in refused()
    table.save(5, every, limited)
    assert table.main() == 0
    found = section_of(table.REFERENCE.read_text(), "### Limits of the machine")
    assert found == [f"| files | task | <{name}> | 20{' us' if name == 'tree-c' else ''} | 26{' us' if name == 'tree-c' else ''} | 1.300 | 1.2 |  |" for name in table.limits.LIMITS]
    assert "medians of up to 5 samples" in " ".join(table.REFERENCE.read_text().split())
    assert {row.split("|")[3].strip() for row in section_of(table.README.read_text(), "## Compared with other tools")} == {"0.123", "0.123; 0.123"}
    assert "medians of up to 5 samples" in " ".join(table.README.read_text().split())


# -------------------------------------------------------------------------------------------------------------- shape

def test_the_readme_is_short():
    assert len(readme.README.read_text().splitlines()) <= 300


@pytest.mark.parametrize("page", [*readme.PAGES, *(ROOT / "ext" / name for name in ("README.md", "HOSTS.md", "SECURITY.md")), ROOT / "tests" / "README.md"],
                         ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_and_programs_can_be_read_without_scrolling(page):
    """Rows of tables and what programs print are as wide as they must be."""
    text = re.sub(r"^```text\n.*?^```$", "", page.read_text(), flags=re.M | re.S)
    assert [line for line in text.splitlines() if len(line) > 140 and not line.startswith("|")] == []
