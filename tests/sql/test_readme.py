"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import readme
from support import EXTENSION, ROOT

EXAMPLES = readme.examples()
ALL = [(page, *example) for page in readme.PAGES for example in readme.examples(page)]


def shell_version():
    """The version of the shell's SQLite as a tuple."""
    done = subprocess.run(["sqlite3", ":memory:", "SELECT sqlite_version()"], capture_output=True, text=True, timeout=60, check=True)
    return tuple(map(int, done.stdout.split(".")))


@pytest.mark.parametrize("number", range(len(ALL)))
def test_an_example_prints_what_the_readme_says(number):
    page, language, program, expected = ALL[number]
    if "->>" in program and shell_version() < (3, 38):
        expected = 'Parse error: near ">>": syntax error\n'   # SQLite has the operator since 3.38
    assert readme.run(language, program, page) == expected


def test_the_readme_has_examples_in_all_languages():
    assert {language for language, _, _ in EXAMPLES} == {"sql", "python", "sh"} and len(EXAMPLES) >= 10


@pytest.mark.parametrize("table", ["zt_files", "zt_objects", "zt_components", "zt_attributes", "zt_elements", "zt_rows", "zt_stats", "zt_check", "zt_rules"])
def test_the_reference_lists_the_columns_of_a_table(db, table):
    text = readme.README.read_text()
    section = re.search(rf"^### `{table}\b.*?\n(.*?)^##", text, re.M | re.S)[1]
    documented = [name for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section, re.M) for name in re.findall(r"\w+", row)]
    actual = [row[1] for row in db.execute(f"PRAGMA table_xinfo({table})")]
    arguments = {"source", "on_error", "level", "too many arguments"} | (set() if "object" in documented else {"object", "dtype"})
    assert [name for name in documented if name not in arguments] == [name for name in actual if name not in arguments]


def test_the_limits_are_those_of_the_code():
    defined = {}
    for source in (ROOT / "ext").glob("*/*.[ch]"):
        for name, number in re.findall(r"^#define ([A-Z_\d]+) +\(?(?:\(\w+\))?(\d+(?: ?<< ?\d+)?)", source.read_text(), re.M):
            defined.setdefault(name, set()).add(eval(number))
    section = re.search(r"^## Limits\n(.*?)^##", readme.README.read_text(), re.M | re.S)[1]
    rows = re.findall(r"^\|([^|]*)\|([^|]*)\| (`[A-Z_\d]{5,}`(?:, `[A-Z_\d]+`)*) \|", section, re.M)
    assert len(rows) >= 14
    for what, limit, names in rows:
        for name in re.findall(r"\w+", names):
            n, = defined[name]   # No other limit has that name
            sizes = {f"{n:,}", f"{n >> 10} KiB", f"{n >> 20} MiB", f"{n >> 30} GiB"}
            assert any(re.search(rf"(?<![\d,]){size}(?![\d,])", what + limit) for size in sizes), (name, sizes)


def test_the_lines_for_sqliterc(tmp_path):
    lines = re.search(r"^```text\n(\.load \S+\n.*?)^```", readme.README.read_text(), re.M | re.S)[1]
    (tmp_path / "sqliterc").write_text(re.sub(r"(?<=\.load )\S+", EXTENSION, lines))
    # The shell looks its user's home directory up, whatever HOME says; -init names a file to read in its place.
    done = subprocess.run(["sqlite3", "-init", tmp_path / "sqliterc", ":memory:", "SELECT count(*) AS files FROM zt_files('tests/formats/ztensor/golden/v0.1')"],
                          cwd=readme.ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert "│ files │" in done.stdout


def test_the_list_of_rules_is_what_zt_rules_gives():
    assert len(readme.rules().splitlines()) > 40
    assert readme.RULES.search(readme.README.read_text())[0] == readme.rules()


def test_the_reference_lists_every_function(db):
    text = readme.README.read_text()
    functions = {row[0] for row in db.execute("SELECT DISTINCT name FROM pragma_function_list WHERE name LIKE 'zt@_%' ESCAPE '@'")}
    assert functions and all(f"`{name}(" in text for name in functions)
