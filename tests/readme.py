#!/usr/bin/python3
"""The README's examples and its table of rules. Every ```sql, ```python or ```sh block that a ```text block follows is run,
from the project's root, and must print just that. `tests/readme.py --write` puts in what they print now; tests/sql/test_readme.py
compares.

SQL runs in the sqlite3 shell, each block in a new one after the README's first block, which loads the extension. Blocks of the
shell share a catalog.db of their own, so that each comes after those before it. The table of zt_check's rules is what zt_rules
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
EXAMPLE = re.compile(r"^```(sql|python|sh)\n((?:(?!```).)*)^```\n+```text\n((?:(?!```).)*)^```$", re.M | re.S)
RULES_HEAD = "| rule | severity | what is true of a sound file | from |"
RULES = re.compile(re.escape(RULES_HEAD) + r"(\n\|.*)*")
SETUP = re.compile(r"^```sql\n(\.load .*?)^```$", re.M | re.S)


def examples() -> list[tuple[str, str, str]]:
    """(language, program, expected output) of each example."""
    return EXAMPLE.findall(README.read_text())


def setup() -> str:
    return SETUP.search(README.read_text())[1]


def output(command: list[str], text: str) -> str:
    """What a program prints, with the extension that ZTENSOR names, errors as an interactive shell words them."""
    extension = os.environ.get("ZTENSOR", "./ztensor").removesuffix(".so")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    done = subprocess.run(command, input=text.replace("./ztensor", extension), cwd=ROOT, env=environment, text=True,
                          timeout=60, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return re.sub(r" near line \d+", "", done.stdout)


def run_shell(program: str) -> str:
    """What a program of the shell prints, after those before it in the README."""
    with tempfile.TemporaryDirectory() as directory:
        for language, other, _ in examples():
            if language == "sh":
                printed = output(["sh"], other.replace("catalog.db", directory + "/catalog.db"))
                if other == program:
                    return printed
    raise ValueError(program)


def run(language: str, program: str) -> str:
    """What an example prints."""
    if language == "sql":
        return output(["sqlite3", "-batch", ":memory:"], setup() + program)
    return run_shell(program) if language == "sh" else output([sys.executable, "-"], program)


def rules() -> str:
    """The rows of zt_rules as a table."""
    row = "'| `' || rule || '` | ' || severity || ' | ' || meaning || ' | ' || specification || ' |'"
    printed = output(["sqlite3", "-batch", ":memory:"], f"{setup()}.mode list\nSELECT {row} FROM zt_rules;\n")
    return f"{RULES_HEAD}\n|---|---|---|---|\n{printed.rstrip()}"


def write() -> None:
    def replaced(found: re.Match[str]) -> str:
        return f"```{found[1]}\n{found[2]}```\n\n```text\n{run(found[1], found[2])}```"

    README.write_text(RULES.sub(lambda _: rules(), EXAMPLE.sub(replaced, README.read_text())))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    write()
