"""The table of drivers, as the sources have it (ext/container/driver.c), for pages, scripts and tests: what a format is called, the
names of its files, its rules, and what the reference says of it. tests/unit/test_rules.c holds the rows of rules to what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTAINER = ROOT / "ext" / "container"
TENSOR = ROOT / "ext" / "tensor" / "rule.c"
LIST = re.compile(r"^(?:static )?const zt_rule (\w+)\[\] = \{\n(.*?)^\};", re.M | re.S)
ROW = re.compile(r'^  ZT_[A-Z]+\("([A-Z]+\d+)",\s*"([a-z\d-]+)"', re.M)
TEXTS = re.compile(r'\.(format|files) = ((?:"[^"]*"\s*)+)')
LITERAL = re.compile(r'"([^"]*)"')
DRIVER = re.compile(r"(?:^/\*((?:(?!\*/).)*)\*/\n)?^const zt_driver zt_driver_(\w+) = \{(.*?)^\};", re.M | re.S)


@dataclass(frozen=True)
class Driver:
    name: str                   # As in the table
    format: str                 # As zt_files.container shows it
    files: list[str]            # Patterns
    rules: list[str]            # Names of its lists
    source: Path
    described: dict[str, str]   # The comment above it


def _described(comment: str) -> dict[str, str]:
    """The names in a comment with what it says of each: a name stands three columns behind the stars, its text two spaces behind
    it or further in on the next lines."""
    found: dict[str, str] = {}
    for line in (line.removeprefix("**").rstrip() for line in comment.splitlines()):
        if name := re.fullmatch(r" {3}(\S.*?) {2,}(.*)", line):
            found[name[1]] = name[2]
        elif found and line.startswith("     "):
            found[[*found][-1]] += " " + line.strip()
    return found


def _driver(path: Path, found: re.Match[str]) -> Driver:
    fields = {name: "".join(LITERAL.findall(text)) for name, text in TEXTS.findall(found[3])}
    listed = re.search(r"\.rules = (?:\{([^}]*)\}|(\w+))", found[3])
    lists = listed[1] or re.search(rf"^#define {listed[2]} \{{(.*)\}}", path.read_text(), re.M)[1]
    return Driver(found[2], fields["format"], fields.get("files", "").split(), re.findall(r"\w+", lists), path, _described(found[1] or ""))


def drivers() -> list[Driver]:
    """In the order of the table."""
    known = {}
    for path in sorted(CONTAINER.glob("*.c")):
        known |= {found[2]: _driver(path, found) for found in DRIVER.finditer(path.read_text())}
    return [known[name] for name in re.findall(r"^  FORMAT\((\w+)\)", (CONTAINER / "driver.c").read_text(), re.M)]


def formats() -> dict[str, list[Driver]]:
    """The drivers of each format."""
    found: dict[str, list[Driver]] = {}
    for driver in drivers():
        found.setdefault(driver.format, []).append(driver)
    return found


def files() -> list[str]:
    """The names that a directory as source stands for."""
    return list(dict.fromkeys(name for driver in drivers() for name in driver.files))


def rules() -> dict[str, dict[str, str]]:
    """{number: slug} of each list of rules that a driver may have, and, as "", of those of any file, of bytes and of values."""
    found: dict[str, dict[str, str]] = {"": {}}
    for path in [*sorted(CONTAINER.glob("*.c")), TENSOR]:
        for name, rows in LIST.findall(path.read_text()):
            found.setdefault("" if path == TENSOR or name == "zt_rules_file" else name, {}).update(ROW.findall(rows))
    return found
