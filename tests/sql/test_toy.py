"""A format is one file, one line and one folder: TOY, which tests/toy has, is added to a copy of the sources, and is read, listed,
checked and described there like all others. A test names the pages that must speak of it in their own words."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from support import ROOT
from test_drivers import PAGES

LIBRARIES = "-lzstd -lz -lcrypto -lisal -ldl -lm -lpthread".split()
# Without the examples: they print the same
GENERATE = "import readme; [page.write_text(readme.made(page)) for page in (*readme.PAGES, readme.CATALOG)]"
ASKED = ["test_golden.py", "test_hostile.py", "test_drivers.py", "test_no_values.py", "test_check.py::test_every_rule_has_a_file_that_breaks_it",
         "test_readme.py::test_what_the_reference_says_is_what_the_source_says", "test_readme.py::test_the_names_of_files_are_those_of_the_drivers",
         "test_catalog.py::test_a_directory_stands_for_files_of_these_names", "test_rules.py"]
OF_ALL = "not test_a_page and (toy or test_every_rule or test_what_the_reference or test_the_names_of_files or test_a_directory or test_rules)"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project with one more format: a file, a line, and a folder; and what is generated of them."""
    copy = tmp_path_factory.mktemp("copy")
    for part in ("ext", "sql", "tests/sql", "tests/amalgamation", "tests/formats"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (*ROOT.glob("*.md"), *ROOT.glob("tests/*.py")):
        shutil.copy(path, copy / path.relative_to(ROOT))
    shutil.copy(ROOT / "tests/toy/toy.c", copy / "ext/container")
    table = copy / "ext/container/driver.c"
    text, lines = re.subn(r"^(  FORMAT\(\w+\))$", r"\1 \\\n  FORMAT(toy)", table.read_text(), flags=re.M)
    assert lines == 1   # The last of the table
    table.write_text(text)
    shutil.copytree(ROOT / "tests/toy/files", copy / "tests/formats/toy")
    build(copy)
    done = run(copy, "-c", GENERATE)
    assert done.returncode == 0, done.stderr
    return copy


def build(copy):
    """As one file and without optimization: that takes seconds, whatever was built before."""
    flags = [flag for name in ("CPPFLAGS", "LDFLAGS") for flag in os.environ.get(name, "").split()]
    with open(copy / "ztensor.c", "w") as out:
        subprocess.run([sys.executable, "tests/amalgamation/amalgamate.py"], cwd=copy, stdout=out, check=True, timeout=60)
    subprocess.run(["cc", "-O0", "-fPIC", "-shared", "-o", "ztensor.so", "ztensor.c", *flags, *LIBRARIES],
                   cwd=copy, env=without_preloads(), check=True, timeout=300)


def without_preloads():
    """The sanitizers' preloaded library is only for the extension that the other tests load."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def run(copy, *arguments):
    """A Python program with what was built in the copy."""
    environment = {**without_preloads(), "ZTENSOR": str(copy / "ztensor.so"), "PYTHONPATH": str(copy / "tests")}
    return subprocess.run([sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, timeout=300)


def test_it_is_read_checked_and_described_like_all_others(copy):
    done = run(copy, "-m", "pytest", "-q", "-k", OF_ALL, *(f"tests/sql/{path}" for path in ASKED))
    assert done.returncode == 0 and int(re.search(r"(\d+) passed", done.stdout)[1]) > 50, done.stdout[-5000:]


def test_what_is_said_of_formats_in_prose_is_named(copy):
    done = run(copy, "-m", "pytest", "-q", "-rf", "-k", "test_a_page", "tests/sql/test_drivers.py")
    named = re.findall(r"^FAILED \S+\[(\S+)\]", done.stdout, re.M)
    assert named == [page for page in PAGES if page != "ext/REFERENCE.md"]   # Whose tables are made of the drivers
    assert done.stdout.count("assert ['toy'] == []") >= len(named)


def test_what_is_generated_speaks_of_it(copy):
    changed = {path for path in ("ext/REFERENCE.md", "sql/catalog.sql") if (copy / path).read_text() != (ROOT / path).read_text()}
    assert changed == {"ext/REFERENCE.md", "sql/catalog.sql"}
    reference = (copy / "ext/REFERENCE.md").read_text()
    assert "| `toy-table` | error |" in reference and "` or `toy`" in reference and "| `toy` | all | `TOY` |" in reference
    assert "('*.toy')" in (copy / "sql/catalog.sql").read_text()


def test_what_is_forgotten_is_named(copy):
    """Last: of the copy, parts are taken away."""
    folder, driver = copy / "tests/formats/toy", copy / "ext/container/toy.c"
    cases = json.loads((folder / "hostile/cases.json").read_text())
    for case in (case for case in cases if case["number"] == "TY1"):
        (folder / "hostile" / case["file"]).unlink()
    (folder / "hostile/cases.json").write_text(json.dumps([case for case in cases if case["number"] != "TY1"]))
    (folder / "README.md").unlink()
    driver.write_text(driver.read_text().replace("**   known by     `TOY`\n", ""))
    done = run(copy, "-m", "pytest", "-q", "-k", "toy or there_are_files or every_table", *(f"tests/sql/{path}" for path in ASKED))
    assert "assert ['toy-table'] == []" in done.stdout
    assert "formats/toy/README.md" in done.stdout
    done = run(copy, "-c", GENERATE)
    assert "the comment above the driver of toy does not say known by" in done.stderr
