"""What the subcommands share: their sources, and the selection, the order and the form of the rows that they show."""
import functools
import itertools
import os
import sys

import click

from .. import output
from ..session import Session, Trouble, is_database, quote

YES = click.option("--yes", is_flag=True, help="Make the catalog in a database that has other tables, without asking.")
DB = click.option("--db", default="catalog.db", show_default=True, metavar="FILE", help="The catalog.")
SQL = click.option("--sql", "show", is_flag=True, help="Print the executed SQL on stderr.")

SOURCES = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")

_FORM = [click.option("--json", "as_json", is_flag=True, help="Print JSON."),
         click.option("--csv", "as_csv", is_flag=True, help="Print CSV, as RFC 4180 describes it."),
         click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors. The status is the answer."), SQL]
_SELECTION = [click.option("--name", metavar="GLOB", help="Only tensors whose name matches, such as '*.q_proj.weight'."),
              click.option("--dtype", metavar="TYPE", help="Only tensors of this type: bf16, float32, q4_k, ..."),
              click.option("--sort", metavar="COLUMN", help="Order by this column: large numbers first, texts from A to Z."),
              click.option("--reverse", is_flag=True, help="Reverse the order."),
              click.option("--top", type=click.IntRange(0), metavar="N", help="Only the first N rows.")]


class View:
    """How a subcommand's rows are selected, ordered and printed, as its options say."""

    def __init__(self, as_json=False, as_csv=False, quiet=False, show=False, name=None, dtype=None, sort=None, reverse=False, top=None):
        if as_json and as_csv:
            raise click.UsageError("--json and --csv exclude each other")
        self.form = output.AS_JSON if as_json else output.AS_CSV if as_csv else None
        self.quiet, self.show_sql = quiet, show
        self.name, self.dtype, self.sort, self.reverse, self.top = name, dtype, sort, reverse, top

    def session(self, database=":memory:"):
        return Session(database, self.show_sql)

    def condition(self, name="object", dtype="dtype"):
        """SQL that is true for the selected tensors; the arguments are how the statement calls a tensor's name and type."""
        wanted = []
        if self.name is not None:
            wanted.append(f"{name} GLOB {quote(self.name)}")
        if self.dtype is not None:
            wanted.append(f"{dtype} = {quote(self.dtype)}")
        return " AND ".join(wanted) or "1"

    def show(self, columns, rows):
        """Print rows. `columns` are names, or (name, kind)."""
        names = [column if isinstance(column, str) else column[0] for column in columns]
        rows = self._ordered(names, rows)
        if self.top is not None:
            rows = itertools.islice(rows, self.top)
        if self.quiet:
            for _ in rows:
                pass
        else:
            output.show(columns, rows, self.form)

    def _ordered(self, names, rows):
        if self.sort is not None:
            if self.sort not in names:
                raise Trouble(f"--sort {self.sort}: there is no such column; there are {', '.join(names)}")
            at = names.index(self.sort)
            rows = sorted(rows, key=lambda row: _rank(row[at]))
        return reversed(list(rows)) if self.reverse else rows

    def say(self, text):
        """A line for people, beside the rows."""
        if not self.quiet:
            print(text, file=sys.stderr)


def _rank(value):
    """What rows are sorted by: numbers, the large ones first, then texts, then NULL."""
    if value is None:
        return 2, 0
    return (0, -value) if isinstance(value, (int, float)) else (1, str(value))


def _gathered(options, function):
    """A function with these options, which it gets as `view`."""
    @functools.wraps(function)
    def called(**given):
        own = {option: given.pop(option) for option in names if option in given}
        return function(view=View(**own), **given)

    names = ("as_json", "as_csv", "quiet", "show", "name", "dtype", "sort", "reverse", "top")
    for option in reversed(options):
        called = option(called)
    return called


def form(function):
    """--json, --csv, --quiet and --sql."""
    return _gathered(_FORM, function)


def rows(function):
    """These, and --name, --dtype, --sort, --reverse and --top."""
    return _gathered(_SELECTION + _FORM, function)


def progress(what, total=None):
    return output.Progress(what, total)


def source_of(words):
    """The source that several words of a command line name, as one text."""
    import json

    return words[0] if len(words) == 1 else json.dumps(list(words), ensure_ascii=False)


def is_single(session, source):
    """Whether the source names one file. A source without any file is an error."""
    found = [path for path, in session.run(f"SELECT path FROM zt_files({quote(source)}) LIMIT 2")]
    if not found:
        raise Trouble(f"{source}: there is no tensor file")
    return len(found) == 1 and (found[0] == source or source.startswith(("file:", "~")))


def unreadable(session, source, single):
    """Print the errors of unreadable files among several, and return their number."""
    if single:
        return 0
    errors = session.run(f"SELECT error FROM zt_files({quote(source)}) WHERE error IS NOT NULL")
    for error, in errors:
        print(output.plain(error), file=sys.stderr)
    return len(errors)


def show_tensors(session, view, table, columns, source, single):
    """Show a table's rows, with paths if there are several files, and the unreadable files. Return the command's status."""
    names = ", ".join(column if isinstance(column, str) else column[0] for column in columns)
    skip = "" if single else ", 'skip'"
    rows = session.rows(f"SELECT {names} FROM {table}({quote(source)}{skip}) WHERE {view.condition()}")
    if single:
        columns, rows = columns[1:], (row[1:] for row in rows)
    view.show(columns, rows)
    return int(unreadable(session, source, single) > 0)


def database(path):
    """The path of a database, which need not exist yet."""
    if os.path.isdir(path) or os.path.exists(path) and os.path.getsize(path) and not is_database(path):
        raise Trouble(f"{path}: this is no SQLite database")
    return path


def may_make(db, yes):
    """Ask before a catalog is made in another program's database."""
    from ..catalog import is_of_another

    if yes or not is_of_another(db):
        return
    if not sys.stdin.isatty():
        raise Trouble(f"{db}: this database has tables, and is no catalog; --yes makes one in it")
    if not click.confirm(f"{db} has tables, and is no catalog. Make one in it?", err=True):
        raise Trouble(f"{db}: no catalog was made in it")
