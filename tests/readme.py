#!/usr/bin/python3
"""The examples of README.md and sql/README.md, and the former's table of rules. Every ```sql, ```python or ```sh block that a ```text block follows is run,
from the project's root, and must print just that. `tests/readme.py --write` puts in what they print now; tests/sql/test_readme.py
compares.

SQL runs in the sqlite3 shell, each block in a new one after the README's first block, which loads the extension. Blocks of the
shell, and those of Python that name it, share a catalog.db (and a team.db) of their page's, so that each comes after those before it. The table of zt_check's rules is what zt_rules
gives.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, ROOT / "sql" / "README.md"]
DATABASES = ("catalog.db", "team.db")
EXAMPLE = re.compile(r"^```(sql|python|sh)\n((?:(?!```).)*)^```\n+```text\n((?:(?!```).)*)^```$", re.M | re.S)
RULES_HEAD = "| rule | severity | what is true of a sound file | from |"
RULES = re.compile(re.escape(RULES_HEAD) + r"(\n\|.*)*")
SETUP = re.compile(r"^```sql\n(\.load .*?)^```$", re.M | re.S)


def examples(page: Path = README) -> list[tuple[str, str, str]]:
    """(language, program, expected output) of each example."""
    return EXAMPLE.findall(page.read_text())


def setup() -> str:
    return SETUP.search(README.read_text())[1]


def output(command: list[str], text: str) -> str:
    """What a program prints, with the extension that ZTENSOR names, errors as an interactive shell words them."""
    extension = os.environ.get("ZTENSOR", "./ztensor").removesuffix(".so")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    done = subprocess.run(command, input=text.replace("./ztensor", extension), cwd=ROOT, env=environment, text=True,
                          timeout=60, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return re.sub(r" near line \d+", "", done.stdout)


def shares(language: str, program: str) -> bool:
    """Whether it comes after those before it."""
    return language == "sh" or any(name in program for name in DATABASES)


def run_after(page: Path, program: str) -> str:
    """What a program prints, after those before it on the page."""
    with tempfile.TemporaryDirectory() as directory:
        for language, other, _ in examples(page):
            if shares(language, other):
                text = other
                for name in DATABASES:
                    text = text.replace(name, f"{directory}/{name}")
                printed = output(["sh"] if language == "sh" else [sys.executable, "-"], text)
                if other == program:
                    return printed
    raise ValueError(program)


def run(language: str, program: str, page: Path = README) -> str:
    """What an example prints."""
    if language == "sql":
        return output(["sqlite3", "-batch", ":memory:"], setup() + program)
    return run_after(page, program) if shares(language, program) else output([sys.executable, "-"], program)


def rules() -> str:
    """The rows of zt_rules as a table."""
    row = "'| `' || rule || '` | ' || severity || ' | ' || meaning || ' | ' || specification || ' |'"
    printed = output(["sqlite3", "-batch", ":memory:"], f"{setup()}.mode list\nSELECT {row} FROM zt_rules;\n")
    return f"{RULES_HEAD}\n|---|---|---|---|\n{printed.rstrip()}"


def write(page: Path) -> None:
    def replaced(found: re.Match[str]) -> str:
        return f"```{found[1]}\n{found[2]}```\n\n```text\n{run(found[1], found[2], page)}```"

    page.write_text(RULES.sub(lambda _: rules(), EXAMPLE.sub(replaced, page.read_text())))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    for each in PAGES:
        write(each)
