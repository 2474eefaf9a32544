"""Rules for every file of ext/: the width of lines, the owner of each name, and the files that each file may know."""
import re

from support import ROOT

SOURCES = sorted((ROOT / "ext").rglob("*.[ch]"))

# A file's own definitions: functions and data, types, constants, macros
OWN = [r"^(?:ZT_\w+ )*static (?!inline)(?:[\w ]+?[ *])(\w+)(?=[(\[;]| =)", r"^(?:typedef )?(?:struct|union|enum) (?!zt_)(\w+) \{", r"^\} (?!zt_)(\w+);",
       r"^# *define (?!_|XXH_|WIN32_|OPENSSL_|ZLIB_)(\w+)"]
CONSTANTS = re.compile(r"^(?:typedef )?enum(?: \w+)? \{(.*?)\}", re.M | re.S)

# Of some files the system compiles one: they are one subject.
SUBJECT = {f"{subject}_{system}": subject for subject in ("os", "os_write", "thread") for system in ("posix", "windows")}
SUBJECT |= {f"sha256_{library}": "sha256" for library in ("awslc", "cng", "commoncrypto", "libcrypto")}
SUBJECT |= {"inflate_zlib": "inflate"}


def own_names(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for pattern in OWN:
        yield from re.findall(pattern, text, re.M)
    for constants in CONSTANTS.findall(text):
        yield from re.findall(r"(?:^|,)\s*([A-Z]\w*)", constants)


def test_no_line_is_longer_than_100_columns():
    assert len(SOURCES) > 100
    long = [f"{path.relative_to(ROOT)}:{i}" for path in SOURCES for i, line in enumerate(path.read_text().splitlines(), 1) if len(line) > 100]
    assert long == []


def test_what_a_file_has_for_itself_has_a_name_of_its_own():
    """A backtrace then tells the file, and all of them can be one (make amalgamation)."""
    owner, shared, count = {}, [], 0
    for path in SOURCES:
        if path.suffix != ".c":
            continue
        subject = SUBJECT.get(path.stem, path.stem)
        for name in set(own_names(path.read_text())):
            count += 1
            if owner.setdefault(name, subject) != subject:
                shared.append((name, owner[name], subject))
    assert count > 700 and shared == []


def test_a_type_that_several_files_know_is_one():
    """Two of one name compile as long as no file includes both; all files as one do not."""
    owners = {}
    for path in SOURCES:
        for name in re.findall(r"^(?:typedef )?(?:struct|union|enum) (zt_\w+) \{", path.read_text(), re.M):
            owners.setdefault(name, set()).add(SUBJECT.get(path.stem, path.stem))
    assert len(owners) > 100 and {name: stems for name, stems in owners.items() if len(stems) > 1} == {}


def test_what_a_file_has_for_itself_begins_with_its_subject():
    others = []
    for path in SOURCES:
        if path.suffix != ".c":
            continue
        words = set(re.split("_", path.stem)) - {"table", "function"} or {path.stem}
        for name in own_names(path.read_text()):
            if name.lower().split("_")[0] not in words and not name.startswith("ZT_"):
                others.append(f"{path.stem}: {name}")
    assert others == []


# No file above container/ knows a file's format. The table of rules cites specifications, and the extension has a version
ABOVE = [path for path in SOURCES if path.relative_to(ROOT / "ext").parts[0] in ("tensor", "sqlite", "ztensor.c")]
CITING = {"rule.c", "function_version.c"}
GENERATION = re.compile(r"(?<![\w.])(?:0\.1|1\.[012])(?![\d])|zTensor 2|\bzt[012]\b|\bgenerations?\b", re.I)
WORDS = re.compile(r"/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.S)   # Comments and texts: a number in code is none of these


def test_nothing_above_the_file_formats_reads_what_they_are_written_in():
    included = {(path.name, name) for path in ABOVE for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)}
    assert len(ABOVE) > 60 and ("tensor.h", "tensor/array.h") in included
    encodings = ("core/cbor.h", "core/item.h", "core/duplicate_keys.h", "core/keys.h")
    inside = ("container/driver.h", "container/builder.h", "container/manifest.h", "container/schema.h")
    assert [pair for pair in sorted(included) if pair[1] in encodings + inside] == []


def test_nothing_above_the_file_formats_names_one_of_their_generations():
    assert GENERATION.search("as 0.1.0 does") and GENERATION.search("of zTensor 2,") and not GENERATION.search("RFC 8878 3.1.1.1, 10.2")
    named = [f"{path.name}: {word}" for path in ABOVE if path.name not in CITING
             for text in WORDS.findall(path.read_text()) for word in GENERATION.findall(text)]
    assert named == []


def test_below_the_tables_nobody_looks_up():
    """Arrows go down only: core, container, tensor, sqlite."""
    rooms = ["core", "container", "tensor", "sqlite"]
    up = [f"{path.relative_to(ROOT)}: {name}" for path in SOURCES if path.parent.name in rooms
          for name in re.findall(r'^#include "(\w+)/', path.read_text(), re.M) if rooms.index(name) > rooms.index(path.parent.name)]
    assert up == []


GLOBAL = re.compile(r"^(?!static|typedef|#|extern|struct \w+ \{)(?:const )?\w[\w \*]*?\b(zt_\w+)(?:\([^;{]*\)\s*\{|\[[^\]]*\]\s*=|\s*=)", re.M)


def uses():
    """Maps each C file's subject to the files whose functions and data it names."""
    text = {path: re.sub(r"/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", " ", path.read_text(), flags=re.S) for path in SOURCES if path.suffix == ".c"}
    subject = {path: f"{path.parent.name}/{SUBJECT.get(path.stem, path.stem)}" for path in text}
    defined = {name: subject[path] for path in text for name in GLOBAL.findall(text[path])}
    assert len(defined) > 600
    used = {one: set() for one in subject.values()}
    for path in text:
        used[subject[path]] |= {defined[name] for name in re.findall(r"\bzt_\w+", text[path]) if name in defined} - {subject[path]}
    return used


def test_no_files_call_each_other_in_a_circle():
    """A file that calls none, or that none calls, is in no circle; nor are those that are left without it."""
    used = uses()
    assert "sqlite/files" in used["sqlite/file_iterator"]
    while True:
        called = set().union(*used.values())
        loose = {one for one in used if not used[one] or one not in called}
        if not loose:
            break
        used = {one: others - loose for one, others in used.items() if one not in loose}
    assert set(used) <= {"core/error", "core/os"}   # The system's message is part of a failure


def test_no_condition_asks_for_a_macro_that_may_not_be_there():
    """`defined(X) && X(2, 28)` is an error where there is no X, such as with musl: the whole condition is read first."""
    asking = [f"{path.relative_to(ROOT)}: {line}" for path in SOURCES for line in path.read_text().splitlines()
              if re.match(r" *# *(?:el)?if\b.*defined", line) and re.search(r"&&\s*!?\s*(?!defined)\w+\(", line)]
    assert asking == []


def test_pytest_can_run_all_tests_of_packages_at_once():
    """A module has its name alone: of two with one name, the second one is not imported."""
    names = {}
    for path in (ROOT / "ext" / "packages").rglob("*.py"):
        if "tests" in path.relative_to(ROOT / "ext" / "packages").parts:
            names.setdefault(path.name, []).append(str(path.relative_to(ROOT)))
    assert len(names) > 30 and {name: paths for name, paths in names.items() if len(paths) > 1} == {}


def test_lists_of_exceptions_name_lines_that_are_there():
    """Each with its reason: changes that no test can notice, and places that no test reaches."""
    lines = {str(path.relative_to(ROOT)): set(map(str.strip, path.read_text().splitlines())) for path in SOURCES}
    stale = {}
    for name in ("mutants/equivalent.txt", "unreached.txt"):
        rows = [row.split("\t") for row in (ROOT / "tests" / name).read_text().splitlines() if not row.startswith("#")]
        stale[name] = [row for row in rows if len(row) != 5 or not row[4] or row[1] not in lines.get(row[0], ())]
    assert stale == {"mutants/equivalent.txt": [], "unreached.txt": []}
