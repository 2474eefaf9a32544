"""The command `ztensor-sql`: everyday questions about tensor files without writing SQL.

Each subcommand is a thin layer over a few statements, which --sql prints. Modules that take long to import are imported where they
are needed, so that `ls` of one file answers at once.
"""
import math
import os
import signal
import sys

import click

from . import LoadError, output
from .session import Session, Trouble, is_database, quote

SOURCE = click.argument("source")
SQL = click.option("--sql", "show", is_flag=True, help="Print the executed SQL on stderr.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
DB = click.option("--db", default="catalog.db", show_default=True, metavar="FILE", help="The catalog.")

YES = click.option("--yes", is_flag=True, help="Make the catalog in a database that has other tables, without asking.")

FILES = ["path", "container", "version", ("size", output.BYTES), "objects", ("stored_bytes", output.BYTES), "error"]
TENSORS = ["path", "object", "format", "dtype", "type", ("shape", output.JSON), ("stored_bytes", output.BYTES)]
FINDINGS = ["path", "object", "component", "severity", "rule", "message"]
STATISTICS = ["path", "object", "elements", "zeros", "nans", "infs", "min", "max", "mean", "std", "l2", "error"]
CHANGES = ["object", "change", "elements", "equal", "nans", "rmse", "max_abs", "cosine", "distance", "error", "type", "other_type",
           ("shape", output.JSON), ("other_shape", output.JSON)]


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.pass_context
@click.option("--version", is_flag=True, is_eager=True, expose_value=False,
              callback=lambda context, option, given: _version(context, given), help="Show the extension's version and exit.")
@click.option("--remote", is_flag=True, help="Sources may be URLs of https, s3 and hf, too; ZTENSOR_REMOTE limits them.")
def cli(context, remote):
    """Answer everyday questions about tensor files (zTensor, safetensors, GGUF, npy, npz, PyTorch, pickle, ONNX, HDF5,
    TFLite, TensorFlow, MATLAB, msgpack, and archives of these).

    A SOURCE is a file, a directory, a pattern such as 'models/**/*.gguf', or a JSON array of these. A directory stands for all
    tensor files below it.

    Status: 0 if all is well; 1 if there is a finding (an error of check, a difference of diff, an unreadable file); 2 if the
    question cannot be answered.
    """
    Session.remote = remote
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        context.exit(2)


def _version(context, given):
    if given:
        print(Session().value("SELECT zt_version()"))
        context.exit()


def main(arguments=None):
    """Run the command and end the process. A failure is one line on stderr and status 2."""
    output.prepare()
    for name in ("SIGINT", "SIGPIPE"):   # Statements end at once; a transaction that is not committed has not been
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        status = cli.main(arguments, prog_name="ztensor-sql", standalone_mode=False)
        sys.stdout.flush()   # Report a full disk here
        sys.exit(status)
    except click.Abort:   # Commands that handle an interrupt themselves raise it
        sys.exit(130)
    except click.ClickException as error:
        fail(error.format_message())
    except (Trouble, LoadError, OSError) as error:
        fail(error)
    except MemoryError:
        fail("there is not enough memory")
    except Exception as error:
        if type(error).__module__ not in ("sqlite3", "apsw", "_apsw"):
            raise
        fail(error)


def fail(message):
    message = " ".join(str(message).split("\n"))
    if "sqlite3_ztensor_remote_init" in message and not Session.remote:
        message += " (here: ztensor-sql --remote)"
    try:
        print("ztensor-sql: " + output.plain(message), file=sys.stderr)
    except OSError:   # Only the status reports the failure then
        pass
    output.give_up()
    sys.exit(2)


def progress(what, total=None):
    return output.Progress(what, total)


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


def show_tensors(session, table, columns, source, single, as_json):
    """Show a table's rows, with paths if there are several files, and the unreadable files. Return the command's status."""
    names = ", ".join(column if isinstance(column, str) else column[0] for column in columns)
    skip = "" if single else ", 'skip'"
    rows = session.rows(f"SELECT {names} FROM {table}({quote(source)}{skip})")
    if single:
        columns, rows = columns[1:], (row[1:] for row in rows)
    output.show(columns, rows, as_json)
    return int(unreadable(session, source, single) > 0)


@cli.command()
@SOURCE
@click.option("-t", "--tensors", is_flag=True, help="List the tensors of all files instead of the files.")
@AS_JSON
@SQL
def ls(source, tensors, as_json, show):
    """List files, or the tensors of one file."""
    session = Session(show=show)
    single = is_single(session, source)
    if not (single or tensors):
        rows = session.run(f"SELECT path, container, version, size, objects, stored_bytes, error FROM zt_files({quote(source)})")
        output.show(FILES, rows, as_json)
        return int(any(row[-1] is not None for row in rows))
    return show_tensors(session, "zt_objects", TENSORS, source, single, as_json)


@cli.command()
@SOURCE
@click.option("--full", is_flag=True, help="Read every byte: digests, padding, compressed data, indices of sparse tensors.")
@click.option("--notes", is_flag=True, help="Also list tensors without values, such as text, and the reason.")
@AS_JSON
@SQL
def check(source, full, notes, as_json, show):
    """Check files against their formats' rules. Status 1 if there is an error.

    A tensor without values, such as text, is a note, not a finding: nothing is wrong with it.
    """
    session = Session(show=show)
    is_single(session, source)
    level = "full" if full else "quick"
    found = {"error": 0, "warning": 0, "note": 0}

    def counted():
        for row in session.rows(f"SELECT path, object, component, severity, rule, message FROM zt_check({quote(source)}, {quote(level)})"):
            found[row[3]] += 1
            if notes or row[3] != "note":
                yield row

    def count(severity):
        return f"{found[severity]} {severity}{'s' * (found[severity] != 1)}"

    output.show(FINDINGS, counted(), as_json)
    files = session.value(f"SELECT count(path) FROM zt_files({quote(source)})")
    rest = f" ({count('note')}{'' if notes else ': --notes'})" if found["note"] else ""
    print(f"{files} file{'s' * (files != 1)}: {count('error')}, {count('warning')}{rest}", file=sys.stderr)
    return int(found["error"] > 0)


@cli.command()
@SOURCE
@AS_JSON
@SQL
def stats(source, as_json, show):
    """Show statistics of each tensor: zeros, NaN, min, max, mean, std, norm (l2)."""
    session = Session(show=show)
    return show_tensors(session, "zt_stats", STATISTICS, source, is_single(session, source), as_json)


@cli.command()
@click.argument("a")
@click.argument("b")
@click.option("--all", "everything", is_flag=True, help="Also show tensors that are the same.")
@click.option("--db", metavar="FILE", help="Save the distances in this catalog, for its page. The catalog must have both files.")
@AS_JSON
@SQL
def diff(a, b, everything, db, as_json, show):
    """Show the tensors that differ between two files, the most distant first. Status 1 if there are any.

    The distance of two tensors is the norm of their difference divided by the larger of their norms: 0 to 2.
    """
    from . import catalog, measures

    if db:
        catalog.exists(db)
    session = Session(db or ":memory:", show)
    if db:
        catalog.must_be(session, db)
    for source in (a, b):
        if not is_single(session, source):
            raise Trouble(f"{source}: this is not one file")
    pair = measures.pair_of(session, a, b) if db else None
    rows = [_distanced(row) for row in measures.diff(session, a, b)]
    different = [row for row in rows if row[1] != "same"]
    output.show(CHANGES, rows if everything else different, as_json)
    print(f"{len(rows)} tensor{'s' * (len(rows) != 1)}: {len(rows) - len(different)} the same, {len(different)} not", file=sys.stderr)
    if db:
        catalog.prepare(session)
        with measures.transaction(session):
            measures.compare(session, [pair])
    return int(len(different) > 0)


def _distanced(row):
    row = list(row)
    row[8] = 0.0 if row[1] == "same" else None if row[8] is None else math.sqrt(row[8])
    return row


@cli.command()
@SOURCE
@click.argument("tensor")
@click.argument("out")
@click.option("--dtype", help="Convert the values: f32, f16, i8, ... The default is the tensor's own type, if numpy has it.")
@SQL
def export(source, tensor, out, dtype, show):
    """Write a tensor to a numpy file (.npy)."""
    from . import npy

    session = Session(show=show)
    is_single(session, source)
    written, shape = npy.export(session, source, tensor, out, dtype)
    print(f"{out}: {written}{shape}", file=sys.stderr)


@cli.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@DB
@click.option("--fingerprint", is_flag=True, help="Read all bytes, and save fingerprints, which find tensors and files with the same values.")
@click.option("--check", is_flag=True, help="Read all bytes, and save the findings of `check --full`.")
@click.option("--statistics", is_flag=True, help="Read all bytes, and save statistics, histograms, and distances between models of the same kind.")
@YES
@AS_JSON
@SQL
def catalog(sources, db, fingerprint, check, statistics, yes, as_json, show):
    """Make a catalog of collections, or bring it up to date.

    Only new and changed files are read. A pass over all bytes that was stopped continues where it stopped.
    """
    from .catalog import REFRESHED, count, hosts, measure, prepare, refresh, second_pass

    if not os.path.exists(_database(db)):   # Missing sources make no new catalog
        for source in sources:
            count(source)
    may_make(db, yes)
    session = Session(db, show)
    prepare(session)
    output.show(REFRESHED, refresh(session, sources, progress), as_json)
    for name, wanted in (("fingerprint", fingerprint), ("check", check)):
        if wanted:
            print(f"{name}: {sum(second_pass(session, name, host, progress) for host in hosts(session))} files", file=sys.stderr)
    if statistics:
        print("statistics: {} files, {} pairs".format(*measure(session, progress)), file=sys.stderr)


def _database(path):
    """The path of a database, which need not exist yet."""
    if os.path.isdir(path) or os.path.exists(path) and os.path.getsize(path) and not is_database(path):
        raise Trouble(f"{path}: this is no SQLite database")
    return path


def may_make(db, yes):
    """Ask before a catalog is made in another program's database."""
    from .catalog import is_of_another

    if yes or not is_of_another(db):
        return
    if not sys.stdin.isatty():
        raise Trouble(f"{db}: this database has tables, and is no catalog; --yes makes one in it")
    if not click.confirm(f"{db} has tables, and is no catalog. Make one in it?", err=True):
        raise Trouble(f"{db}: no catalog was made in it")


@cli.command()
@click.argument("others", nargs=-1, required=True, metavar="CATALOG...")
@DB
@YES
@AS_JSON
@SQL
def merge(others, db, yes, as_json, show):
    """Merge catalogs, such as those of other machines, into the catalog that --db names."""
    from .catalog import MERGED, can_merge, merge

    can_merge(others, _database(db))
    may_make(db, yes)
    output.show(MERGED, list(merge(Session(db, show), others)), as_json)


@cli.command()
@click.argument("database", default=":memory:")
@click.argument("statements", nargs=-1)
def shell(database, statements):
    """Start an SQL shell with ztensor loaded, on a database if one is named.

    It runs the STATEMENTS if there are any, otherwise the statements on stdin.
    """
    from .shell import run

    return run(_database(database), statements)


@cli.command()
@SOURCE
@DB
@click.option("--port", default=8001, show_default=True, type=click.IntRange(0, 65535), help="The port; 0 chooses a free one.")
@click.option("--quick", is_flag=True, help="Read no tensors, and leave out everything that needs their values.")
@SQL
def serve(source, db, port, quick, show):
    """Show a collection, or a catalog, in the browser.

    A collection's catalog (--db) is first brought up to date, with findings and statistics. A catalog is shown as it is.
    """
    from .server import serve

    serve(source, db, port, quick, show)
