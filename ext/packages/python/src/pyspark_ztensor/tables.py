"""The tables, their columns, and the statements that read them file by file."""
from dataclasses import dataclass

# Hidden columns that a table takes, and those that it gives by reading tensors. Of the latter, one tensor of a file
# may have some that another has not: where that ends a statement, it is FAILING.
ARGUMENTS = {"source", "object", "on_error", "level", "dtype", "bins", "other_source", "other_object", "too many arguments"}
FAILING = {"data", "stored", "digest_status", "hash"}
READING = FAILING | {"fingerprint", "fingerprint_error"}

FILE = "CAST(:path AS TEXT)"   # Bound as bytes, since a name need not be UTF-8


def quoted(name):
    return f'"{name}"'


@dataclass(frozen=True)
class Column:
    name: str
    declared: str
    visible: bool = True


@dataclass(frozen=True)
class Table:
    name: str
    arguments: str = f"({FILE})"
    options: tuple = ()        # Those that not every table has
    per_object: bool = False   # The extension's table takes an object
    reads: bool = False        # It reads tensors, whichever columns are asked for

    @property
    def of_files(self):
        return self.arguments != ""

    def own_columns(self, connection):
        """The columns of the extension's table."""
        rows = connection.rows(f"PRAGMA table_xinfo(zt_{self.name})")
        return [Column(name, declared, not hidden) for _, name, declared, _, _, _, hidden in rows
                if not hidden or name not in ARGUMENTS]

    def columns(self, connection):
        """The same with `path`, `object` and `error`, if the extension's table lacks them."""
        columns = self.own_columns(connection)
        if not self.of_files:
            return columns
        first = ["path", "object"] if self.per_object else ["path"]
        columns = [Column(name, "TEXT") for name in first] + [c for c in columns if c.name != "path"]
        if all(c.name != "error" for c in columns):
            columns.insert(sum(c.visible for c in columns), Column("error", "TEXT"))
        return columns

    def reads_tensors(self, names, level):
        return self.reads or level == "full" or not READING.isdisjoint(names)

    def keys(self, names):
        """The columns whose values have statements of their own within a file, so that a failing statement hides no other rows."""
        if self.per_object:
            return ["object"]
        return [] if FAILING.isdisjoint(names) else ["object", "component"]

    def listing(self, names, only):
        """The statement that gives the keys of a file; None if there are none."""
        keys = self.keys(names)
        if not keys:
            return None
        return f"SELECT {', '.join(keys)} FROM zt_{keys[-1]}s({FILE}) WHERE path = {FILE}{' AND object = :only' if only else ''}"

    def statement(self, names, connection, only):
        """The rows of a file, or those that the keys name."""
        own = {column.name for column in self.own_columns(connection)}
        given = {"path": ":shown"} if self.of_files else {}
        if self.per_object:
            given["object"] = ":object"
        selected = (given.get(name, quoted(name) if name in own else "NULL") + f" AS {quoted(name)}" for name in names)
        where = []
        if self.of_files and "path" in own:
            where.append(f"path = {FILE}")
        if not self.per_object:
            where += [f"{key} = :{key}" for key in self.keys(names)]
            where += ["object = :only"] if only else []
        return f"SELECT {', '.join(selected)} FROM zt_{self.name}{self.arguments} WHERE {' AND '.join(where) or '1'}"


TABLES = {table.name: table for table in [
    Table("files"),
    Table("objects", options=("object",)),
    Table("components", options=("object",)),
    Table("attributes", options=("object",)),
    Table("stats", options=("object",), reads=True),
    Table("check", f"({FILE}, :level)", ("level",)),
    Table("elements", f"({FILE}, :object)", ("object",), per_object=True, reads=True),
    Table("rows", f"({FILE}, :object, :dtype)", ("object", "dtype"), per_object=True, reads=True),
    Table("histogram", f"({FILE}, :object, :bins)", ("object", "bins"), per_object=True, reads=True),
    Table("compare", f"({FILE}, :object, CAST(:other AS TEXT), :object)", ("object", "other"), per_object=True, reads=True),
    Table("rules", ""),
]}
