"""A small collection of tensor files, and ordinary tables with what the extension says about it.

    python3 tests/sql/random_collection.py DIRECTORY

writes both, so that the statements of a failed test_random.py can be pasted into a shell:

    cd DIRECTORY && sqlite3 random.db ".load .../ztensor" ".read named.sql"
"""
import itertools
import os
import sqlite3
import struct
import sys

import writer

# Arguments after source that must be given, and those that may be, as far as the build has them.
REQUIRED = {"zt_elements": ["object"], "zt_rows": ["object"], "zt_histogram": ["object"]}
OPTIONAL = {"zt_files": [], "zt_check": ["level"], "zt_rows": ["dtype", "on_error"], "zt_rules": [],
            "zt_histogram": ["bins"]}
CHOICES = {"on_error": [None, "skip"], "level": [None, "full"], "dtype": [None, "f64"], "bins": [None, "3"]}
TABLES = [
    "zt_files", "zt_objects", "zt_components", "zt_attributes", "zt_elements", "zt_rows",
    "zt_stats", "zt_check", "zt_rules", "zt_histogram"
]
SAMPLES = 16


def f32(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def files():
    """Name: bytes. Floats have fractions: of a 1.0 and a 1 SQLite may give either."""
    sparse = writer.sparse_csr([2, 3], [0, 2, 3], [2, 0, 1], b"\x07\x08\x09")
    coo = writer.sparse_coo([3, 4], [(2, 3), (0, 3), (1, 1)], b"\x01\x02\x03")
    quantized = writer.quantized([1, 4], [0, 1, 2, 3], 8, 4, "u8", f32(0.5), b"\0\0\0\0")
    digest = {"digest": "crc32c:0x00000000"}
    values = {
        "0": 1, "text": "0", "real": 2.5, "none": None, "yes": True, "list": [1, "a"],
        "bytes": b"\x30", "a": "A", "map": {"k": -1}
    }
    numbers = {
        "0": writer.dense(b"\0\1", [2]), "00": writer.dense(bytes(range(6)), [3, 2]),
        "0.0": writer.dense(f32(0.5, -2.25), [1, 2], "f32"), "-0": sparse,
        "1": writer.zstd_parts(writer.dense(f32(1.5, 2.5, -0.5), [3], "f32")),
        "1e3": writer.zstd_parts(writer.dense(bytes(range(8)), [4, 2])), "1000": coo,
        "a": dict(writer.dense(b"\5\6\7", [3], **digest), attributes=values)
    }
    letters = {
        "a": writer.dense(struct.pack("<2q", -1, 1000), [2],
                          "i64"), "A": quantized, "w ": writer.dense(b"\0\1", [2], "bool"),
        "w": writer.dense(b"", [0, 3]), "é": writer.zstd_parts(sparse),
        "": writer.dense(b"\1", [1]), "a%_": dict(writer.dense(b"\2", [1]),
                                                  attributes={"0": "1", "1": 0})
    }
    few = {"a": writer.dense(f32(0.5, 0.75), [2, 1], "f32"), "0": writer.dense(b"\1", [1])}
    odd = {
        "a": writer.dense(b"\1\2", [2]), "short": writer.dense(b"\1", [2]),
        "strange": writer.dense(b"\1", [1], "z9")
    }
    return {
        "d/a.zt": writer.write(numbers, attributes=values), "d/B.zt": writer.write(letters, "1.1"),
        "d/b_.zt": writer.write(few, "2",
                                attributes={"a": "1e3"}), "d/sub/ü.zt": writer.write(few, "1.0"),
        "01": writer.write(few, "0.1"),
        # As a BLOB, it is kept for the column source only if a statement may ask for it
        "1.0": writer.write({"1.0": sparse, "a": coo}, attributes={"1": 1000}, gap=70000),
        "mixed/broken.zt": b"broken", "mixed/good.zt": writer.sample(),
        "mixed/odd.zt": writer.write(odd)
    }


IMAGES = {"one": "d/a.zt", "two": "1.0"}
DIRECTORIES = {
    "d": ["d/a.zt", "d/B.zt", "d/b_.zt", "d/sub/ü.zt"], "d/*.zt": ["d/a.zt", "d/B.zt", "d/b_.zt"]
}
NAMES = {
    "d/a.zt": ["0", "00", "0.0", "-0", "1", "1e3", "1000",
               "a"], "d/B.zt": ["a", "A", "w ", "w", "é", "", "a%_"], "d/b_.zt": ["a", "0"],
    "d/sub/ü.zt": ["a", "0"], "01": ["a", "0"], "1.0": ["1.0", "a"]
}
# Sources with an unreadable file: only where that ends no query.
MIXED = ["mixed", "mixed/broken.zt", "mixed/good.zt", "mixed/odd.zt"]


def literal(value):
    """As SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return "X'" + value.hex() + "'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def image(name):
    return f"(SELECT image FROM images WHERE name = '{name}')"


def sources(mixed):
    """SQL of each source, and the names of objects that may be asked of it without an error."""
    for path, names in NAMES.items():
        yield literal(path), names
    for path, inside in DIRECTORIES.items():
        yield literal(path), sorted({name for file in inside for name in NAMES[file]} | {"none"})
    for name, path in IMAGES.items():
        yield image(name), NAMES[path]
    for path in MIXED if mixed else []:
        yield literal(path), []


class Column:

    def __init__(self, name, type, argument, hidden):
        self.name, self.type, self.argument, self.hidden = name, type, argument, hidden
        self.samples = ["NULL"]


class Table:
    """The facts about a table, and the ordinary tables that stand for it.

    `copies` maps a call, its arguments as SQL with None for one that is not given, to the ordinary
    table with its rows; `every` has the rows of all of them, told apart by the columns of the
    arguments. `given` maps CREATE VIRTUAL TABLE's names to calls, `defaults` the arguments that may
    be left out to what their columns are then.
    """

    def __init__(self, db, name):
        self.name, self.every = name, "every_" + name
        self.columns, self.copies, self.given, self.defaults = [], {}, {}, {}
        present = {row[1]: row for row in db.execute(f"PRAGMA table_xinfo({name})")
                   if row[1] != "too many arguments"}
        self.required = ["source"] + REQUIRED.get(name, []) if name != "zt_rules" else []
        self.optional = [a for a in OPTIONAL.get(name, ["on_error"]) if a in present]
        self.arguments = self.required + self.optional
        for column, (_, _, type, _, _, _, hidden) in present.items():
            if column in self.arguments:
                type = {"source": "BLOB", "bins": "INTEGER"}.get(column, "TEXT")
            self.columns.append(Column(column, type, column in self.arguments, hidden != 0))
        self.copy(db)
        self.columns.append(row_number(db, self.every))

    def calls(self):
        choices = [CHOICES[argument] for argument in self.optional]
        if self.name == "zt_rules":
            yield ()
            return
        mixed = self.name in ("zt_files", "zt_check") or "on_error" in self.optional
        for source, names in sources(mixed and "object" not in self.required):
            rest = names if "object" in self.required else [""]
            for name, *values in itertools.product(rest, *choices):
                if self.may_abort(source, dict(zip(self.optional, values))):
                    continue
                given = [literal(name)] if "object" in self.required else []
                yield (source, *given, *[v and literal(v) for v in values])

    def may_abort(self, source, optional):
        mixed = source.strip("'") in MIXED
        return mixed and "on_error" in optional and optional["on_error"] != "skip"

    def call(self, arguments):
        """FROM's text."""
        given = [a or "NULL" for a in arguments]
        while given and given[-1] == "NULL":
            given.pop()
        return f"{self.name}({', '.join(given)})" if given else self.name

    def copy(self, db):
        declared = ", ".join(f'"{c.name}" {c.type}' for c in self.columns)
        names = ", ".join(f'"{c.name}"' for c in self.columns)
        db.execute(f"CREATE TABLE {self.every}({declared})")
        for i, arguments in enumerate(self.calls()):
            copy = self.copies[arguments] = f"{self.name}_{i}"
            db.execute(f"CREATE TABLE {copy}({declared})")
            db.execute(f"INSERT INTO {copy}(rowid, {names})"
                       f" SELECT rowid, {names} FROM {self.call(arguments)}")
            db.execute(f"INSERT INTO {self.every}(rowid, {names}) SELECT rowid, {names} FROM {copy}")
            self.learn_defaults(db, copy, arguments)
            self.give_name(db, i, arguments)
        for column in self.columns:
            found = db.execute(f"""SELECT DISTINCT "{column.name}" FROM {self.every}
                                   WHERE length("{column.name}") < 40""").fetchall()
            texts = sorted(literal(value) for value, in found)
            column.samples = texts[::max(1, len(texts) // SAMPLES)] or ["NULL"]

    def learn_defaults(self, db, copy, arguments):
        for argument, value in zip(self.arguments, arguments):
            row = db.execute(f"SELECT {argument} FROM {copy}").fetchone()
            if value is None and row:
                self.defaults[argument] = literal(row[0])

    def give_name(self, db, i, arguments):
        """Some calls have a name, too, which RIGHT and FULL JOIN need."""
        if not arguments or not arguments[0].startswith(
                "'") or i % 3 and "mixed" not in arguments[0]:
            return
        while arguments[-1] is None:
            arguments = arguments[:-1]
        if None not in arguments:
            given = f"given_{self.name}_{i}"
            db.execute(
                f"CREATE VIRTUAL TABLE temp.{given} USING {self.name}({', '.join(arguments)})")
            self.given[given] = i


# Tables to join with. The names of their columns are those that USING may want.
NATIVE = {
    "s": "id INTEGER PRIMARY KEY, src",
    "pairs": "n INTEGER, src, obj TEXT",
    "names": "path TEXT, object TEXT",
    "ints": "i INTEGER",
    "reals": "r REAL",
    "texts": "t TEXT",
    "anything": "v",
    "folded": "path TEXT COLLATE NOCASE, object TEXT COLLATE RTRIM",
    "numbers": "n NUMERIC, b BLOB",
    "choices": "on_error TEXT, level TEXT, dtype TEXT, bins INTEGER",
}
ROWS = {
    "pairs": [("d/a.zt", "0"), ("d/a.zt", "00"), ("d/a.zt", "a"), ("01", "0"), ("d", "none"),
              ("d", "a"), (None, "a"), ("1.0", "1.0"), ("1.0", None), ("d/B.zt", ""),
              ("d/a.zt", "1e3")],
    "names": [("d/a.zt", "a"), ("d/a.zt", "0"), ("D/A.ZT", "A"), ("d/B.zt", "00"), (None, "a"),
              ("d/B.zt", None), ("01", "0"), ("1", "1"), ("1.0", "1.0"), ("d/b_.zt", "w ")],
    "ints": [(i, ) for i in (0, 1, 2, 2, 3, 1000, -1, None)],
    "reals": [(r, ) for r in (0.0, 1.0, 1000.0, 1.5, -0.5, None)],
    "texts": [(t, ) for t in ("0", "00", "1.0", "1e3", "a", "A", "d/a.zt", "01", "", "2", None)],
    "folded": [("D/A.zt", "0 "), ("d/B.zt", "w"), ("D/B_.ZT", "W"), ("01", "a  "), (None, "A"), ("1.0", None)],
    "numbers": [("01", "01"), ("1.0", "1.0"), ("d/a.zt", "d/a.zt"), (2, 2), (0.5, b"a"), (None, None), ("1e3", "1e3"), (1000, "1000")],
    "choices": [("skip", "full", "f64", 3), ("abort", "quick", "f64", 64)],
    "anything": [(v, ) for v in (0, 1.0, "1", "01", "a", b"a", None, 1000, "d/B.zt", 2.5)],
}


class Collection:
    """The files in the current directory, and the tables in a database.

    `parameters` are names of what may stand for a source in a statement, which is planned without
    its value, and the values.
    """

    def __init__(self, db):
        contents = files()
        for name, data in contents.items():
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            with open(name, "wb") as file:
                file.write(data)
            os.utime(name, (1e9 + len(data), 1e9 + len(data) + 0.5))
        for name, columns in NATIVE.items():
            db.execute(f"CREATE TABLE {name}({columns})")
        db.execute("CREATE TABLE images(name TEXT, image BLOB)")
        images = {name: contents[path] for name, path in IMAGES.items()}
        db.executemany("INSERT INTO images VALUES (?, ?)", list(images.items()))
        given = ["d/a.zt", "d", None, "01", images["one"], "1.0", "d/a.zt", "d/sub/ü.zt"]
        rows_of = dict(ROWS,
                       s=enumerate(given),
                       pairs=[(i, *p) for i, p in enumerate(ROWS["pairs"])])
        for name, rows in rows_of.items():
            rows = list(rows)
            db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        db.execute("CREATE INDEX names_object ON names(object)")
        db.execute("CREATE INDEX folded_path ON folded(path)")
        has = {name for name, in db.execute("SELECT name FROM pragma_module_list")}
        self.tables = {name: Table(db, name) for name in TABLES if name in has}
        self.native = {name: native_columns(db, name) for name in NATIVE}
        self.parameters, self.named = {}, {}
        for source, _ in sources(True):
            parameter = f"p{len(self.parameters)}"
            self.named[source] = ":" + parameter
            self.parameters[parameter] = db.execute(f"SELECT {source}").fetchone()[0]
        self.db = db

    def parameter(self, value):
        """The name of a parameter with a value, which is SQL."""
        if value not in self.named:
            name = f"p{len(self.parameters)}"
            self.named[value], self.parameters[name] = ":" + name, self.db.execute(f"SELECT {value}").fetchone()[0]
        return self.named[value]


def native_columns(db, name):
    columns = []
    for _, column, type, _, _, _ in db.execute(f"PRAGMA table_info({name})").fetchall():
        # These give arguments, and SQLite may put what they are compared with in their place.
        columns.append(Column(column, type, column in ("src", "obj"), False))
        found = db.execute(f"SELECT DISTINCT {column} FROM {name} WHERE length({column}) < 40")
        columns[-1].samples = sorted(literal(value) for value, in found)
    return columns + [row_number(db, name)]


def row_number(db, table):
    """The rowid, which is no column, as one."""
    column = Column("rowid", "INTEGER", False, True)
    found = [repr(rowid) for rowid, in db.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
    column.samples = found[::max(1, len(found) // SAMPLES)] or ["NULL"]
    return column


def main(directory):
    extension = os.path.abspath(os.environ.get("ZTENSOR", "ztensor"))
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    db = sqlite3.connect("random.db", isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(extension)
    db.execute("BEGIN")
    collection = Collection(db)
    db.execute("COMMIT")
    with open("named.sql", "w", encoding="utf-8") as file:
        file.writelines(f".parameter set {name} \"{source}\"\n"
                        for source, name in collection.named.items())
        for sql, in db.execute("SELECT sql FROM sqlite_temp_master"):
            file.write(sql.replace("VIRTUAL TABLE ", "VIRTUAL TABLE temp.", 1) + ";\n")


if __name__ == "__main__":
    main(sys.argv[1])
