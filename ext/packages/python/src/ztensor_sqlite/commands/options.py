"""The options and arguments that the subcommands share: sources, and the selection, the order and the form of rows."""
import contextlib
import functools
import itertools
import os
import re
import sys

import click

from .. import output
from ..session import Session, Trouble, is_database, quote
from ..sources import several

WORD = re.compile(r"[\w./:+@%=-]+", re.ASCII)   # Names of tensors that mean nothing else to a shell


# ---- Completions of a shell

def complete_dtype(context, option, begun):
    from ..dtypes import SPELLINGS

    return [name for name in SPELLINGS if name.startswith(begun)]


def complete_column(context, option, begun):
    return [name for name in getattr(context.command, "columns", ()) if name.startswith(begun)]


def complete_name(context, option, begun):
    """Names of tensors in the files that have been named before. A name that a shell could take for something else is not among them."""
    from click.shell_completion import split_arg_string

    # An option without its value keeps click from parsing the arguments before it
    words = dict.fromkeys(split_arg_string(os.environ.get("COMP_WORDS", "")))
    try:
        session = Session()
        found = [name for paths in filter(None, map(_files_of, words)) for name, in session.run(
            f"SELECT DISTINCT object FROM zt_objects({quote(several(paths))}, 'skip') WHERE substr(object, 1, {len(begun)}) = {quote(begun)} LIMIT 1000")]
    except Exception:   # Then there is nothing to complete
        return []
    return [name for name in found if WORD.fullmatch(name)]


def _files_of(word):
    """The files that a word names: one, or those in a folder if they are as few as those of a model."""
    if not os.path.isdir(word):
        return [word] if os.path.isfile(word) else []
    with os.scandir(word) as entries:
        some = [entry.path for entry in itertools.islice(entries, 1000)]
    return sorted(filter(os.path.isfile, some)) if len(some) < 1000 else []


def complete_source_or_name(context, argument, begun):
    """Names of tensors if a file has been named, else files."""
    from click.shell_completion import CompletionItem

    return complete_name(context, argument, begun) or [CompletionItem(begun, type="file")]


# ---- Arguments and options
ALIGN = click.option("--align", type=int, metavar="N", help="Begin each tensor at a multiple of N bytes: 4096 makes small zTensor 2 files smaller.")


def _remote(context, option, given):
    Session.remote = Session.remote or given


SOURCES = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=click.Path())
SQL = click.option("--sql", "show", is_flag=True, help="Print the executed SQL on stderr.")
REMOTE = click.option("--remote", is_flag=True, expose_value=False, callback=_remote,
                      help="Sources may be URLs of https, s3 and hf, too; ZTENSOR_REMOTE limits them.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
CSV = click.option("--csv", "as_csv", is_flag=True, help="Print CSV, with the quotes of RFC 4180.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors. The status is the answer.")
DB = click.option("--db", metavar="FILE", type=click.Path(), help="The catalog. The default is a file of the sources' name in the user's directory"
                  " for the state of programs, such as ~/.local/state/ztensor-sqlite.")
YES = click.option("--yes", is_flag=True, help="Make the catalog in a database that has other tables, without asking.")
_FORM = [JSON, CSV, QUIET, SQL, REMOTE]
_SELECTION = [click.option("--name", metavar="GLOB", shell_complete=complete_name,
                           help="Only tensors with this name, or whose name matches: '*.q_proj.weight'."),
              click.option("--dtype", metavar="TYPE", shell_complete=complete_dtype,
                           help="Only tensors of this type, as any tool writes it: bf16, float32, Q4_K, 'q*'."),
              click.option("--sort", metavar="COLUMN", shell_complete=complete_column,
                           help="Order by this column: the largest number first, texts from A to Z."),
              click.option("--reverse", is_flag=True, help="Reverse the order."),
              click.option("--top", type=click.IntRange(0), metavar="N", help="Only the first N rows.")]
_NAMES = ("as_json", "as_csv", "quiet", "show", "name", "dtype", "sort", "reverse", "top")

# Other names of columns for --sort: the first that a command has
OTHERS = {"name": ("object", "path"), "tensor": ("object",), "file": ("path",), "bytes": ("stored_bytes", "size"), "size": ("stored_bytes",),
          "params": ("parameters", "elements"), "parameters": ("elements",), "type": ("dtype",), "norm": ("l2",), "nan": ("nans",), "inf": ("infs",),
          "tensors": ("objects",), "bits": ("bits_per_weight",)}
SEVERITIES = ("error", "warning", "note")


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

    @property
    def is_selective(self):
        return self.name is not None or self.dtype is not None

    def condition(self, name="object"):
        """SQL that is true for the selected rows of zt_objects. `name` is how the statement calls a tensor's name."""
        wanted = [self.names(name)]
        if self.dtype is not None:
            from .. import dtypes

            wanted.append(dtypes.condition(self.dtype))
        return " AND ".join(wanted)

    def names(self, name="object"):
        """SQL that is true for the selected names."""
        if self.name is None:
            return "1"
        alone = f"{name} = {quote(self.name)}"
        return f"({alone} OR {name} GLOB {quote(self.name)})" if self._is_pattern() else alone

    def _is_pattern(self):
        return bool(set(self.name) & set("*?["))

    def must_match(self, session, source, model=None):
        """Refuse --name if it is the name of no tensor, and --dtype if no tensor has the type and there is no such type. A pattern may
        match nothing."""
        objects = f"SELECT 1 FROM zt_objects({source.sql}, 'skip') WHERE"
        if self.name is not None and not self._is_pattern() and not session.run(f"{objects} object = {quote(self.name)} LIMIT 1"):
            from ..names import refuse

            refuse(session, source, self.name, model)
        if self.dtype is not None:
            from .. import dtypes

            if not dtypes.is_known(self.dtype) and not session.run(f"{objects} {dtypes.condition(self.dtype)} LIMIT 1"):
                raise Trouble(f"--dtype: {dtypes.similar(self.dtype)}")

    def show(self, columns, rows, bar=None):
        """Print rows. `columns` are names, or (name, kind). `bar` shows how far the rows are."""
        names = [column if isinstance(column, str) else column[0] for column in columns]
        at = None if self.sort is None else names.index(_column(self.sort, names))
        with contextlib.ExitStack() as shown:
            if bar:
                shown.enter_context(bar)
            rows = self._ordered(at, names, rows)
            if self.top is not None:
                rows = itertools.islice(rows, self.top)
            if self.quiet:
                rows = list(rows)
                return
            if bar and bar.is_seen and sys.stdout.isatty():   # A bar and rows do not share a terminal
                rows = list(rows)
                shown.close()
            output.show(columns, rows, self.form)

    def _ordered(self, at, names, rows):
        if at is not None:
            rows = sorted(rows, key=lambda row: _rank(row[at], names[at]))
        return iter(list(rows)[::-1] if self.reverse else rows)

    def say(self, *parts):
        """A line for people, beside the rows. A part is a text, or a text and the severity that colours it."""
        if not self.quiet:
            print(*(output.plain(part) if isinstance(part, str) else output.coloured(output.plain(part[0]), part[1], sys.stderr) for part in parts),
                  sep="", file=sys.stderr)

    def progress(self, session):
        """A class like output.Progress, whose bars also show how much of the session's reading is done."""
        return functools.partial(Silent if self.quiet else output.Progress, session=session)

    def reading(self, session, what, bytes_of):
        """Progress in bytes. `bytes_of` is a statement for their number, which is only run if somebody sees the bar."""
        bar = self.progress(session)(what, unit="bytes", delay=0.5)
        if bar.is_seen:
            bar.count = int(session.value(bytes_of) or 0) or None
        return bar


class Silent(output.Progress):
    """No progress."""

    def __init__(self, what, total=None, session=None, unit="files", delay=0.0):
        super().__init__(what, total, None, unit, delay)
        self.is_seen = False


def _column(asked, names):
    """The column that --sort names."""
    if asked in names:
        return asked
    for name in OTHERS.get(asked, ()):
        if name in names:
            return name
    raise Trouble(f"--sort {asked}: there is no such column; there are {', '.join(names)}")


def _rank(value, column):
    """The key that rows are sorted by: severities, numbers from the largest, texts, nothing."""
    if value is None:
        return 3, 0
    if column == "severity" and value in SEVERITIES:
        return 0, SEVERITIES.index(value)
    if column == "elements" and isinstance(value, str) and value.isdigit():   # Above 2^63
        value = int(value)
    return (1, -value) if isinstance(value, (int, float)) else (2, str(value))


def _gathered(options, function):
    """A function with these options, which it gets as `view`."""
    @functools.wraps(function)
    def called(**given):
        own = {option: given.pop(option) for option in _NAMES if option in given}
        return function(view=View(**own), **given)

    for option in reversed(options):
        called = option(called)
    return called


def form(function):
    """--json, --csv, --quiet, --sql and --remote."""
    return _gathered(_FORM, function)


def rows(function):
    """These, and --name, --dtype, --sort, --reverse and --top."""
    return _gathered(_SELECTION + _FORM, function)


def unreadable(session, source, read=()):
    """Print the errors of unreadable files among several, and return their number. The paths in `read` are known to be of others."""
    files = source.sql
    if read:
        rest = [path for path, in session.run(f"SELECT path FROM zt_files({files})") if path not in read]
        if not rest:
            return 0
        files = quote(several(rest))
    errors = session.run(f"SELECT error FROM zt_files({files}) WHERE error IS NOT NULL")
    for error, in errors:
        print(output.plain(error), file=sys.stderr)
    return len(errors)


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
