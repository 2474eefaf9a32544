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
from .queries.shared import remembered

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
    "path": Kind(None, filter=filters.text, first=""),       # Shortened by the page
    "when": Kind(words.plain, "when", filters.text),
    "severity": Kind(_severity, filter=filters.equal, first=""),
    "number": Kind(words.number, "n", filters.number),
    "large": Kind(words.large, "n", filters.number),
    "bytes": Kind(words.bytes_, "n", filters.number),
    "brief": Kind(words.brief, "n", filters.number),
    "bins": Kind(lambda v: charts.spark(words.counts(v))),
}


class Column:
    """A column: `name` is what its SQL calls it. A link is relative to the catalog's address, and names columns: model/{file}. `show`
    gives the cell from the row, if the kind does not. A hidden column is there for links."""

    def __init__(self, name, title=None, kind="text", link=None, show=None, choices=(), hidden=False, css=None, sorts=True):
        self.name, self.title, self.kind, self.link, self.show, self.choices, self.hidden = name, title or name, KINDS[kind], link, show, choices, hidden
        self.css = self.kind.css if css is None else css
        self.sorts = sorts and self.kind.filter is not None
        self.filter = filters.equal if choices else self.kind.filter

    @property
    def hint(self):
        return "> 1000" if self.filter is filters.number else ""

    def cell(self, row, page):
        """The cell of a row; the page has `base` and `short`."""
        value = row[self.name]
        if self.show:
            shown = self.show(row)
        elif value is None:
            shown = "" if self.kind.css != "n" else "–"
        else:
            shown = (page["short"] if self.kind.shown is None else self.kind.shown)(value)
        if not self.link or value is None:
            return shown
        address = re.sub(r"\{(\w+)\}", lambda found: quote(str(row[found[1]]), safe=""), self.link)
        return Markup('<a href="{}/{}">{}</a>').format(page["base"], address, shown or "(no name)")


class Table:
    """`source` is a SELECT with the names of the columns and named parameters, whose values are in `values`. `order` names columns; those
    with a minus descend. A `kept` table is slow to ask for: its rows are kept until the catalog changes."""

    name = None   # The page's name for it

    def __init__(self, label, columns, source, values=None, order="", kept=False, empty="None.", size=SHEET, css="", main=False):
        self.label, self.columns, self.values, self.kept, self.empty, self.size = label, columns, values or {}, kept, empty, size
        self.source, self.order, self.css, self.main = textwrap.dedent(source).strip(), order.split(), css, main
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

    def statement(self, columns, source=None):
        """The SELECT of all rows that pass the filters, in order."""
        order = [term for term in [self.sort, *self.order] if term]
        terms, seen = [], set()
        for term in order:
            name = term.removeprefix("-")
            if name not in seen:
                terms.append(f"{name} DESC" if term[0] == "-" else f"{name} NULLS LAST")
                seen.add(name)
        return "\n".join([f"SELECT {', '.join(column.name for column in columns)}", f"FROM ({_indented(source or self.source)})",
                          *([f"WHERE {' AND '.join(self.conditions)}"] if self.conditions else []),
                          *([f"ORDER BY {', '.join(terms)}"] if terms else [])])

    def read(self, connection):
        """Read the sheet that the address asks for, and count the rows that pass the filters."""
        if self.kept:
            with Kept.lock:
                self._read(Kept.connection, "SELECT * FROM " + Kept.table(connection, self.source, self.values))
        else:
            self._read(connection, self.source)

    def _read(self, connection, source):
        values = {**self.bound, "sheet_size": self.size + 1, "sheet_first": self.first}
        cursor = connection.execute(self.statement(self.columns, source) + "\nLIMIT :sheet_size OFFSET :sheet_first", values)
        names = [column.name for column in self.columns]
        found = [dict(zip(names, row)) for row in cursor]
        self.rows, self.more = found[:self.size], len(found) > self.size
        self.count = self.first + len(self.rows)
        if self.more or (self.first and not self.rows):
            where = f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
            (self.count,) = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM ({source}){where} LIMIT {COUNTED + 1})", self.bound).fetchone()

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
        return None if term.removeprefix("-") != column.name else "descending" if term[0] == "-" else "ascending"

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
        return re.sub(r":([a-z_]\w*)", lambda found: literal(self.bound[found[1]]), self.statement(self.shown))

    @property
    def query(self):
        """The parameters of Datasette's page for SQL."""
        statement = self.statement(self.shown)
        return urlencode({"sql": statement, **{name: value for name, value in self.bound.items() if f":{name}" in statement and value is not None}})


def _indented(source):
    return source if "\n" not in source else "\n" + textwrap.indent(source, "  ") + "\n"


def literal(value):
    """A value as SQL writes it, also for a shell that takes no control characters."""
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return repr(value)
    return "'" + value.replace("'", "''") + "'" if value.isprintable() else f"CAST(x'{value.encode().hex()}' AS TEXT)"


class Kept:
    """Rows of slow tables, in a database in memory."""

    connection, lock = None, threading.RLock()

    @classmethod
    def table(cls, connection, source, values):
        """The name of the table with the rows of a query."""
        return remembered(connection, ("rows", source, *sorted(values.items())), lambda _: cls._fill(connection, source, values))

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
