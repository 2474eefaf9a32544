#!/usr/bin/python3
"""The outputs of the pages' examples, and the pages' tables of columns, functions and rules. `tests/readme.py --write` brings
them up to date; tests/sql/test_readme.py compares.

A ```sql, ```python or ```sh block that a ```text block follows is an example. It is run from the project's root and must print
exactly that text. SQL runs in the sqlite3 shell: each block runs in a new shell, after the page's first block, which loads the
extension. Blocks of the shell share a catalog.db (and a team.db) for each page, so that each runs after the blocks before it.
So do Python blocks that name one of the two. An example that loads the entry point for remote sources finds the hub and the bucket
of tests/remote/examples.py. An example that fails is never written, unless its page shows an error already.

The text between <!-- generated: NAME --> and <!-- end --> comes from the source. A table's columns come from the head of its C
file and from SQLite, the functions from the heads of their C files, the rules from zt_rules, and the formats from the comments above
their drivers. The names of files that a directory stands for come from the drivers, too, here and in sql/catalog.sql.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Callable

import drivers

ROOT = Path(__file__).resolve().parent.parent
SQLITE = ROOT / "ext" / "sqlite"
README, REFERENCE, TOUR = ROOT / "README.md", ROOT / "ext" / "REFERENCE.md", ROOT / "sql" / "EXAMPLES.md"
PAGES = [README, REFERENCE, TOUR, ROOT / "sql" / "README.md"]
CATALOG = ROOT / "sql" / "catalog.sql"
DATABASES = ("catalog.db", "team.db")
EXAMPLE = re.compile(r"^```(sql|python|sh)\n((?:(?!```).)*)^```\n+```text\n((?:(?!```).)*)^```$", re.M | re.S)
GENERATED = re.compile(r"^<!-- generated: (\w+) -->\n(.*?)^<!-- end -->$", re.M | re.S)
NAMES = re.compile(r"(?<=`)\*\.zt \*[^`]*(?=`)|(?<=^FROM \(VALUES \()'\*\.zt'.*(?=\)\);$)", re.M)
SETUP = re.compile(r"^```sql\n(\.load .*?)^```$", re.M | re.S)
ERROR = re.compile(r"^Traceback \(most recent call last\)|^(?:\w+ )?[Ee]rror\b.*:", re.M)


class Failed(Exception):
    """A program that should not fail has failed."""


# ------------------------------------------------------------------------------------------------------- examples

def examples(page: Path = README) -> list[tuple[str, str, str]]:
    """(language, program, expected output) of each example."""
    return EXAMPLE.findall(page.read_text())


def setup(page: Path = README) -> str:
    return SETUP.search(page.read_text())[1]


@functools.cache
def remote() -> dict[str, str]:
    """The environment that leads to the hub and the bucket of the examples, which are servers of this process."""
    sys.path.append(str(ROOT / "tests" / "remote"))
    from examples import Examples
    return Examples().environment


def attempt(command: list[str], text: str) -> tuple[str, bool]:
    """A program's output, with the extension that ZTENSOR names, and whether it succeeded. Errors read as in an interactive
    shell."""
    extension = os.environ.get("ZTENSOR", "./ztensor").removesuffix(".so")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    if "sqlite3_ztensor_remote_init" in text:
        environment |= remote()
    done = subprocess.run(command, input=text.replace("./ztensor", extension), cwd=ROOT, env=environment, text=True,
                          timeout=60, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return re.sub(r" near line \d+", "", done.stdout), done.returncode == 0


def shares(language: str, program: str) -> bool:
    """Whether it runs after the examples before it."""
    return language == "sh" or any(name in program for name in DATABASES)


def attempt_after(page: Path, program: str) -> tuple[str, bool]:
    """A program's output, after the examples before it on the page, and whether it succeeded."""
    with tempfile.TemporaryDirectory() as directory:
        for language, other, _ in examples(page):
            if shares(language, other):
                text = other
                for name in DATABASES:
                    text = text.replace(name, f"{directory}/{name}")
                done = attempt(["sh", "-e"] if language == "sh" else [sys.executable, "-"], text)
                if other == program:
                    return done
    raise ValueError(program)


def attempt_example(language: str, program: str, page: Path) -> tuple[str, bool]:
    """An example's output, and whether it succeeded."""
    if language == "sql":
        return attempt(["sqlite3", "-batch", ":memory:"], setup(page) + program)
    return attempt_after(page, program) if shares(language, program) else attempt([sys.executable, "-"], program)


def run(language: str, program: str, page: Path = README) -> str:
    """An example's output."""
    return attempt_example(language, program, page)[0]


def run_to_write(language: str, program: str, expected: str, page: Path) -> str:
    """An example's output, which may be an error only if the page shows one already."""
    printed, succeeded = attempt_example(language, program, page)
    if (not succeeded or ERROR.search(printed)) and not ERROR.search(expected):
        raise Failed(f"{page.name}: this {language} example fails:\n{program}{printed}")
    return printed


# ------------------------------------------------------------------------------------------------- generated text

def ask(sql: str) -> list[list[str]]:
    """The rows of a query."""
    printed, succeeded = attempt(["sqlite3", "-batch", ":memory:"], f"{setup()}.mode tabs\n.headers off\n{sql};\n")
    if not succeeded:
        raise Failed(f"this query fails:\n{sql}\n{printed}")
    return [line.split("\t") for line in printed.splitlines()]


def head(path: Path) -> tuple[str, list[tuple[str, str]]]:
    """The first paragraph of the comment at the head of a C file, and the names in it with their descriptions. A name stands
    three columns after the stars. Its description follows after two spaces, or indented further on the next lines."""
    lines = [line.removeprefix("**").rstrip() for line in path.read_text().split("*/")[0].splitlines()[1:]]
    paragraph = " ".join(line.strip() for line in lines[:[*lines, ""].index("")])
    described: list[tuple[str, str]] = []
    for line in lines:
        if name := re.fullmatch(r" {3}(\S.*?)(?: {2,}(.*))?", line):
            described.append((name[1], name[2] or ""))
        elif described and line.startswith("     "):
            described[-1] = described[-1][0], f"{described[-1][1]} {line.strip()}".strip()
    return paragraph, described


def code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def table(name: str, query: Callable[[str], list[list[str]]] = ask) -> str:
    """A table's call, its rows and its columns."""
    path = SQLITE / f"table_{name.removeprefix('zt_')}.c"
    paragraph, described = head(path)
    call, _, rows = paragraph.partition(": ")
    containers = [f"`{format}`" for format in drivers.formats()]
    arguments = {*re.findall(r"\w+", call), "too many arguments"}
    columns = {column: (type or "any", ", *h*" if hidden == "1" else "") for column, type, hidden
               in query(f"SELECT name, type, hidden FROM pragma_table_xinfo('{name}')") if hidden == "0" or column not in arguments}
    if not call.startswith(name) or [column for names, _ in described for column in names.split(", ")] != list(columns):
        raise ValueError(f"the head of {path.relative_to(ROOT)} does not tell how {name} is called, and its columns in their order")
    lines = [*textwrap.wrap(f"`{call}`: {rows}", 132), "", "| column | type | meaning |", "|---|---|---|"]
    for names, text in described:
        types = list(dict.fromkeys(columns[column][0] for column in names.split(", ")))
        hidden, = {columns[column][1] for column in names.split(", ")}
        text = text.replace("FORMATS", f"{', '.join(containers[:-1])} or {containers[-1]}")
        lines.append(f"| {code(names.split(', '))} | {', '.join(types)}{hidden} | {text} |")
    return "\n".join(lines) + "\n"


def functions() -> str:
    """The functions, by the names of their files."""
    lines = ["| function | returns |", "|---|---|"]
    for path in sorted(SQLITE.glob("function_*.c")):
        lines += [f"| {code(re.findall(r'zt_.*?[)](?=, |$)', calls))} | {text} |" for calls, text in head(path)[1]]
    return "\n".join(lines) + "\n"


def rules() -> str:
    """The rows of zt_rules."""
    lines = ["| rule | severity | meaning: true for every sound file | source |", "|---|---|---|---|"]
    lines += [f"| `{rule}` | {' | '.join(rest)} |"
              for rule, *rest in ask("SELECT rule, severity, meaning, specification FROM zt_rules")]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------------- writing

WRITE = ".load ./ztensor sqlite3_ztensor_write_init\n.mode tabs\n.headers off\n"


def writing(sql: str) -> tuple[list[list[str]], list[str]]:
    """The rows of statements with zt_writer, and their errors, after which the next statement runs."""
    lines = attempt(["sqlite3", "-batch", ":memory:"], WRITE + sql)[0].splitlines()
    errors = [line for line in lines if ERROR.match(line)]
    return [line.split("\t") for line in lines if line not in errors], errors


def writer() -> str:
    """The columns of zt_writer."""
    return table("zt_writer", lambda sql: writing(f"CREATE VIRTUAL TABLE temp.zt_writer USING zt_writer('x.zt');\n{sql};\n")[0])


def writer_arguments() -> str:
    """The arguments of zt_writer: the head of their file, which has those that the table names, in their order."""
    path = SQLITE / "writer_arguments.h"
    described = [(names.split(", "), *text.split("; ", 1)) for names, text in head(path)[1]]
    (error,) = writing("CREATE VIRTUAL TABLE temp.x USING zt_writer('x.zt', nonsense=1);\n")[1]
    if ["path", *(name for names, *_ in described for name in names)] != error.partition("it takes ")[2].split(", "):
        raise ValueError(f"the head of {path.relative_to(ROOT)} does not tell the arguments in their order: {error}")
    lines = ["| argument | default | values |", "|---|---|---|"]
    return "\n".join(lines + [f"| {code(names)} | {default} | {values} |" for names, default, values in described]) + "\n"


# The INSERTs that are tried with each format: {shown: the INSERTs}
TENSORS = {"sparse_csr": ["(name, component, data, dtype, shape, format) VALUES ('w', 'values', x'', 'f32', '[0,1]', 'sparse_csr'), "
                          "('w', 'indices', x'', 'u64', '[0,1]', 'sparse_csr'), ('w', 'indptr', zeroblob(8), 'u64', '[0,1]', 'sparse_csr')"],
           "sparse_coo": ["(name, component, data, dtype, shape, format) VALUES ('w', 'values', x'', 'f32', '[0,1]', 'sparse_coo'), "
                          "('w', 'coords', x'', 'u64', '[0,1]', 'sparse_coo')"]}
ATTRIBUTES = {"text": "'x', 'text'", "integer": "1, 'integer'", "real": "0.5, 'real'", "true, false": "1, 'true'", "null": "NULL, 'null'",
              "array of one type": "'[1,2]', 'array'", "array of several types": "'[1,\"x\"]', 'array'", "object": "'{\"a\":1}', 'object'",
              "blob": "x'00', 'blob'"}


def encoders() -> dict[str, dict[str, str]]:
    """{format: the settings of its encoder}, from the sources."""
    found = {}
    for path in sorted((ROOT / "ext" / "container").glob("*_encoder.c")):
        text = path.read_text()
        for name, body in re.findall(r'^const zt_encoder \w+ = \{\n  \.name = "(.*?)",(.*?)^\};', text, re.M | re.S):
            number = {key: re.sub(r"[A-Z]\w+", lambda macro: re.search(rf"#define {macro[0]} +(\d+)", text)[1], value)
                      for key, value in re.findall(r"\.(align|least_align|level) = (\w+)", body)}
            default = re.search(r"\.digest = ZT_DIGEST_(\w+)", body)
            digests = [digest.lower() for digest in re.findall(r"ZT_DIGEST_(\w+)", re.search(r"\.digests = (.*?),|$", body, re.S)[0])]
            codecs = [codec.lower().replace("seekable", "zstd") for codec in re.findall(r"1u<<ZT_CODEC_(\w+)", body)]
            found[name] = {
                "its end": f"`{suffix[1]}`" if (suffix := re.search(r'\.suffix = "(.*?)"', body)) else "",
                "align: default, least": f"{number['align']}, {number['least_align']}" if "align" in number else "",
                "encodings": code(codecs), "level: default": number.get("level", ""),
                "digests, the default first": code(sorted([*digests, "none"], key=lambda digest: digest != (default[1].lower() if default else "none")))}
    return found


def writer_formats() -> str:
    """The settings of each format, and what it can hold: the answers to INSERTs."""
    formats = re.findall(r"'([^']*)'", writing("CREATE VIRTUAL TABLE temp.x USING zt_writer('x.nothing');\n")[1][0].partition("the formats are")[2])
    (known,) = writing("CREATE VIRTUAL TABLE temp.x USING zt_writer('x.zt');\n"
                       "INSERT INTO x(name, data, dtype, shape) VALUES ('w', x'', 'nonsense', '[0]');\n")[1]
    tried = {dtype: [f"(name, data, dtype, shape) VALUES ('w', x'', '{dtype}', '[0]')"]
             for dtype in re.search("there are (.*), and their", known)[1].split(", ")} | TENSORS
    tried |= {f"attribute: {type}": [f"(key, value, type) VALUES ('general.x', {value})"] for type, value in ATTRIBUTES.items()}
    tried["attribute of an object"] = [*tried["f32"], "(name, key, value) VALUES ('w', 'x', 'x')"]
    script = "".join(f"CREATE VIRTUAL TABLE temp.w{i} USING zt_writer('nothing.x', format='{format}');\n" + "".join(
        "BEGIN;\n" + "".join(f"INSERT INTO w{i}{row};\n" for row in inserts)
        + f"SELECT '{format}', '{name}' WHERE (SELECT count(*) FROM w{i}) >= {len(inserts)};\nROLLBACK;\n" for name, inserts in tried.items())
                     for i, format in enumerate(formats))
    held = {(format, name) for format, name in writing(script)[0]}
    answers: dict[tuple[str, ...], list[str]] = {}
    for name in tried:
        kind = "attributes of the file: " if name.startswith("attribute: ") else ""
        answer = tuple("yes" if (format, name) in held else "no" for format in formats)
        answers.setdefault((kind, *answer), []).append(name.removeprefix("attribute: ") if kind or " " in name else f"`{name}`")
    if len(answers) < 8:
        raise ValueError(f"the formats do not differ: {answers}")
    lines = [f"| | {' | '.join(formats)} |", "|---" * (len(formats) + 1) + "|"]
    settings = encoders()
    lines += [f"| {setting} | {' | '.join(settings[format][setting] for format in formats)} |" for setting in settings[formats[0]]]
    lines += [f"| {kind}{', '.join(names)} | {' | '.join(answer)} |" for (kind, *answer), names in answers.items()]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------------- formats

# Column: what the comment above a driver calls it
FORMATS = [{"supported": "read", "recognized by": "known by", "`version`": "version", "manifest": "manifest", "attributes of the file": "attributes"},
           {"objects": "objects", "attributes of an object": "of objects", "components": "components"}]


def formats() -> str:
    """The comments above the drivers. The whole page describes zTensor."""
    described = {format: found[0].described for format, found in drivers.formats().items() if format != "ztensor"}
    tables = []
    for format, said in described.items():
        if missing := {name for columns in FORMATS for name in columns.values()} - {*said}:
            raise ValueError(f"the comment above the driver of {format} does not say {', '.join(sorted(missing))}")
    for columns in FORMATS:
        lines = [f"| `container` | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        lines += [f"| `{format}` | {' | '.join(said[name] for name in columns.values())} |" for format, said in described.items()]
        tables.append("\n".join(lines) + "\n")
    return "\n".join(tables)


def generated(name: str) -> str:
    return {"functions": functions, "rules": rules, "formats": formats, "zt_writer": writer,
            "writer_arguments": writer_arguments, "writer_formats": writer_formats}.get(name, lambda: table(name))()


def names(page: Path) -> str:
    """The text of a page or script, the names of files that a directory stands for being those of the drivers."""
    lines = textwrap.fill(" ".join(drivers.files()), 120, break_on_hyphens=False)
    quoted = lines, "), (".join(f"'{name}'" for name in drivers.files())
    return NAMES.sub(lambda found: quoted[found[0].startswith("'")], page.read_text())


def made(page: Path) -> str:
    """The text of a page or script, with all that is generated made anew."""
    return GENERATED.sub(lambda found: f"<!-- generated: {found[1]} -->\n{generated(found[1])}<!-- end -->", names(page))


def renewed(page: Path) -> str:
    """The page's or script's text with the outputs, tables and names of now."""
    def printed(found: re.Match[str]) -> str:
        return f"```{found[1]}\n{found[2]}```\n\n```text\n{run_to_write(found[1], found[2], found[3], page)}```"

    return EXAMPLE.sub(printed, made(page))


def write(pages: list[Path]) -> None:
    """Write all pages, or none if something fails."""
    texts = [renewed(page) for page in pages]
    for page, text in zip(pages, texts):
        page.write_text(text)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    try:
        write([CATALOG, *PAGES])
    except Failed as failure:
        sys.exit(f"nothing is written: {failure}")
