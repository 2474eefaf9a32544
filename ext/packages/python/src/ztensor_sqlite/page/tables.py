"""Tables of the page. A table is described once, by its columns and the SQL of its rows. From this follow its order, filters and
sheets, the SQL that is shown, and the downloads.

An address has a table's state: sort=-bytes, from=100, and a filter under the name of its column. If the table is not the main one of
its page, the name of the table and a dot come first. Values are bound. Names of columns are taken only from the description.
"""
import hashlib
import re
import sqlite3
import textwrap
import threading
from urllib.parse import quote, urlencode

from markupsafe import Markup

from . import charts, filters, words
from .queries.shared import remembered, rows

SHEET = 100
COUNTED = 100_000   # More rows are not counted


class Kind:
    """How values of a column are shown, and filtered. `first` is the order of the first click."""

    def __init__(self, shown, css="", filter=None, first="-"):
        self.shown, self.css, self.filter, self.first = shown, css, filter, first


def _severity(value):
    return Markup('<span class="{}">{}</span>').format({"error": "bad", "warning": "warn"}.get(value, "dim"), value or "")


KINDS = {
    "text": Kind(lambda v: words.shown(v, 300), filter=filters.text, first=""),
    "long": Kind(lambda v: words.shown(v, 2000), "value", filters.text, ""),
    "path": Kind(None, "name", filter=filters.text, first=""),       # Shortened by the page
    "when": Kind(words.plain, "when", filters.text),
    "severity": Kind(_severity, filter=filters.equal, first=""),
    "number": Kind(words.number, "n", filters.number),
    "large": Kind(words.large, "n", filters.number),
    "bytes": Kind(words.bytes_, "n", filters.size),
    "brief": Kind(words.brief, "n", filters.number),
    "bins": Kind(lambda v: charts.spark(words.counts(v))),
}


class Column:
    """A column: `name` is what its SQL calls it. A link is relative to the catalog's address, and names columns: model/{file}, or is a function
    of the row. `show` gives the cell from the row and the page, if the kind does not. `by` is the column of the SQL that orders it. A hidden
    column is there for links."""

    def __init__(self, name, title=None, kind="text", link=None, show=None, choices=(), hidden=False, css=None, by=None):
        self.name, self.title, self.kind, self.link, self.show, self.choices, self.hidden = name, title or name, KINDS[kind], link, show, choices, hidden
        self.css, self.by = self.kind.css if css is None else css, by or name
        self.sorts = self.kind.filter is not None
        self.filter = filters.equal if choices else self.kind.filter

    @property
    def hint(self):
        return {filters.number: "> 1000", filters.size: "> 1 GB"}.get(self.filter, "")

    def cell(self, row, page):
        """The cell of a row; the page has `base` and `short`."""
        value = row[self.name]
        if self.show:
            shown = self.show(row, page)
        elif value is None:
            shown = "" if self.kind.css != "n" else "–"
        else:
            shown = (page["short"] if self.kind.shown is None else self.kind.shown)(value)
        if not self.link or value is None:
            return shown
        address = self.link(row) if callable(self.link) else re.sub(r"\{(\w+)\}", lambda found: quote(str(row[found[1]]), safe=""), self.link)
        if len(address) > 2000:   # No server takes it
            return shown
        return Markup('<a href="{}/{}">{}</a>').format(page["base"], address, shown or "(no name)")


class Table:
    """`source` is a SELECT with the names of the columns and named parameters, whose values are in `values`. `order` names columns; those
    with a minus descend. A `kept` table is slow to ask for: its rows are kept until the catalog changes. In a long table, only the `keys` of
    the rows are ordered, and `by_keys`, a SELECT of the same rows, gives each row of the sheet by its keys."""

    name = None   # The page's name for it

    def __init__(self, label, columns, source, values=None, order="", kept=False, empty="None.", size=SHEET, css="", main=False,
                 keys=(), by_keys=None):
        self.label, self.columns, self.values, self.kept, self.empty, self.size = label, columns, values or {}, kept, empty, size
        self.source, self.order, self.css, self.main = textwrap.dedent(source).strip(), order.split(), css, main
        self.keys, self.by_keys = keys, by_keys and textwrap.dedent(by_keys).strip()
        self.shown = [column for column in columns if not column.hidden]

    def ask(self, name, parameters):
        """Take the table's state from the address."""
        self.name, self.parameters = name, parameters
        self.prefix = "" if self.main else name + "."
        self.first = parameters.count(self.prefix + "from")
        sort = parameters.text(self.prefix + "sort")
        self.sort = sort if sort.removeprefix("-") in [c.name for c in self.columns if c.sorts] else ""
        self.asked, self.unclear, self.conditions, self.bound = {}, {}, [], dict(self.values)
        for column in self.shown:
            asked = parameters.text(self.prefix + column.name) if column.filter else ""
            if asked:
                self.asked[column.name] = asked
                self._filter(column, asked)

    def _filter(self, column, asked):
        try:
            for condition, value in column.filter(column.name, asked):
                name = f"filter_{len(self.bound) - len(self.values) + 1}"
                self.conditions.append(condition.replace(" *", " :" + name))
                self.bound[name] = value
        except filters.Unclear as error:
            self.unclear[column.title] = str(error)
            self.conditions.append("0")

    def statement(self, names, source=None):
        """The SELECT of all rows that pass the filters, in order."""
        by = {column.name: column.by for column in self.columns}
        terms, seen = [], set()
        for term in [*self.sort.split(), *self.order]:
            name = by.get(term.removeprefix("-"), term.removeprefix("-"))
            if name not in seen:
                terms.append(f"{name} DESC" if term[0] == "-" else f"{name} NULLS LAST")
                seen.add(name)
        return "\n".join([f"SELECT {', '.join(names)}", f"FROM ({_indented(source or self.source)})",
                          *([f"WHERE {' AND '.join(self.conditions)}"] if self.conditions else []),
                          *([f"ORDER BY {', '.join(terms)}"] if terms else [])])

    def read(self, connection):
        """Read the sheet that the address asks for, and count the rows that pass the filters."""
        if self.kept:
            with Kept.lock:
                source = "SELECT * FROM " + Kept.table(connection, self.source, self.values)
                self._read(Kept.connection, source)
        else:
            self._read(connection, self.source)

    def _read(self, connection, source):
        values = {**self.bound, "sheet_size": self.size + 1, "sheet_first": self.first}
        names = [column.name for column in self.columns]
        limited = self.statement(self.keys or names, source) + "\nLIMIT :sheet_size OFFSET :sheet_first"
        found = rows(connection, limited, values)
        if self.keys:
            one = f"SELECT {', '.join(names)} FROM ({self.by_keys}) WHERE {' AND '.join(f'{key} = :key_{key}' for key in self.keys)}"
            found = [row for keys in found for row in rows(connection, one, {**self.values, **{f"key_{key}": value for key, value in keys.items()}})]
        self.rows, self.more = found[:self.size], len(found) > self.size
        self.count = self.first + len(self.rows)
        if self.more or (self.first and not self.rows):
            where = f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
            (self.count,) = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM ({source}){where} LIMIT {COUNTED + 1})", self.bound).fetchone()

    @property
    def names(self):
        return [column.name for column in self.shown]

    # ---- What the page shows of it

    @property
    def extent(self):
        """1 to 100 of 1,234"""
        if not self.count:
            return "none"
        of = words.number(self.count) if self.count <= COUNTED else f"more than {words.number(COUNTED)}"
        if not self.first and not self.more:
            return words.some(self.count, "row")
        if not self.rows:
            return f"none of {of} from {words.number(self.first + 1)}"
        return f"{words.number(self.first + 1)} to {words.number(self.first + len(self.rows))} of {of}"

    def address(self, **changes):
        """The page's address with other parameters of this table, at the table."""
        return self.parameters.other(**{self.prefix + key: value for key, value in changes.items()}) + "#" + self.name

    @property
    def before(self):
        return self.address(**{"from": max(0, self.first - self.size) or None}) if self.first else None

    @property
    def after(self):
        return self.address(**{"from": self.first + self.size}) if self.more else None

    def sorted_by(self, column):
        """ascending, descending, or None"""
        term = self.sort or (self.order[0] if self.order else "")
        return None if term.removeprefix("-") not in (column.name, column.by) else "descending" if term[0] == "-" else "ascending"

    def sorting(self, column):
        """The address that orders by a column, or turns the order round."""
        turned = {None: column.kind.first, "ascending": "-", "descending": ""}[self.sorted_by(column)]
        return self.address(sort=turned + column.name, **{"from": None})

    def without(self, name):
        return self.address(**{name: None, "from": None})

    @property
    def unfiltered(self):
        return self.address(**{name: None for name in self.asked}, **{"from": None})

    @property
    def filterable(self):
        return [column for column in self.shown if column.filter]

    @property
    def others(self):
        """The parameters that the filters' form must keep."""
        own = {self.prefix + column.name for column in self.filterable} | {self.prefix + "from"}
        return [(key, value) for key, value in self.parameters.all.items() if key not in own and value]

    def download(self, form):
        return self.parameters.other(**{"table": self.name, "as": form, self.prefix + "from": None})

    @property
    def sql(self):
        """Its SELECT with the values written into it, for a shell."""
        return written(self.statement(self.names), self.bound)

    @property
    def query(self):
        """The parameters of Datasette's page for SQL, whose values are text."""
        statement = self.statement(self.names)
        bound = {name: value for name, value in self.bound.items() if isinstance(value, str) and f":{name}" in statement}
        return urlencode({"sql": written(statement, {name: value for name, value in self.bound.items() if name not in bound}), **bound})


def written(statement, values):
    """The statement with values written into it."""
    return re.sub(r":([a-z_]\w*)", lambda found: literal(values[found[1]]) if found[1] in values else found[0], statement)


def _indented(source):
    return source if "\n" not in source else "\n" + textwrap.indent(source, "  ") + "\n"


def literal(value):
    """A value as SQL writes it, also for a shell that takes no control characters."""
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return "'" + value.replace("'", "''") + "'" if value.isprintable() else f"CAST(x'{value.encode().hex()}' AS TEXT)"


class Kept:
    """Rows of slow tables, in a database in memory."""

    connection, lock = None, threading.RLock()

    @classmethod
    def table(cls, connection, source, values):
        """The name of the table with the rows of a query."""
        source = textwrap.dedent(source).strip()
        return remembered(connection, ("rows", source, *sorted(values.items())), lambda _: cls._fill(connection, source, values))

    @classmethod
    def rows(cls, connection, source, values, sql):
        """The rows of a query of the table, which it calls {}, as dictionaries."""
        with cls.lock:
            table = cls.table(connection, source, values)
            return rows(cls.connection, sql.format(table))

    @classmethod
    def _fill(cls, connection, source, values):
        (path,) = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()
        name = "rows_" + hashlib.sha256(repr((path, source, sorted(values.items()))).encode()).hexdigest()[:16]
        cls.connection = cls.connection or sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        cursor = connection.execute(source, values)
        columns = [column[0] for column in cursor.description]
        cls.connection.execute(f"DROP TABLE IF EXISTS {name}")
        cls.connection.execute(f"CREATE TABLE {name}({', '.join(columns)})")
        cls.connection.execute("BEGIN")
        cls.connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", map(tuple, cursor))
        cls.connection.execute("COMMIT")
        return name
