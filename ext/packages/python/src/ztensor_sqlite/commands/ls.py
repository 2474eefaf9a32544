"""`ztensor-sql ls`"""
from collections import Counter
from itertools import islice
from operator import itemgetter

import click

from .. import dtypes, output
from ..sources import Source
from . import options

FILES = ["path", "container", "version", ("size", output.BYTES), "objects", ("stored_bytes", output.BYTES), "error"]
LONG_FILES = ["path", "container", "version", ("size", output.BYTES), "modified", "objects", "parameters", ("stored_bytes", output.BYTES),
              "bits_per_weight", ("dtypes", output.COUNTS), "error"]
TENSORS = {"path": "path", "object": "object", "dtype": dtypes.LOGICAL, "shape": "shape", "elements": "elements", "stored_bytes": "stored_bytes"}
LONG_TENSORS = {**TENSORS, "format": "format", "bits_per_weight": "round(8.0 * stored_bytes / nullif(elements, 0), 3)"}
AT_ONCE = 4096   # Rows that are counted together
KINDS = {"shape": output.JSON, "stored_bytes": output.BYTES}


@click.command("ls", short_help="List files, or the tensors of one file.")
@options.SOURCES
@click.option("-t", "--tensors", is_flag=True, help="List the tensors of all files instead of the files.")
@click.option("-l", "--long", "is_long", is_flag=True, help="More columns: of files, the parameters, bits per weight and types.")
@options.rows
def command(sources, tensors, is_long, view):
    """List files, or the tensors of one file. The last line, on stderr, has the totals.

    --name and --dtype select tensors. With one of them, the tensors of all files are listed.
    """
    source = Source(*sources)
    session = view.session()
    missing = _of_an_index(session, source)
    of_files = source.is_folder and not (tensors or view.is_selective)
    single = not of_files and source.is_single(session)
    if single or tensors or view.is_selective:
        return _tensors(session, view, source, single, LONG_TENSORS if is_long else TENSORS) or missing
    return _files(session, view, source, is_long) or missing


command.columns = [*TENSORS, *(column if isinstance(column, str) else column[0] for column in LONG_FILES)]


def _of_an_index(session, source):
    """Let an index (*.index.json) stand for its files. Say which are missing, and return the command's status."""
    if not source.text.endswith(".json"):
        return 0
    from .. import models

    return models.tell_missing(source.model(session)) if models.is_index(source.text) else 0


class Totals:
    """Sums over the tensors of a listing."""

    def __init__(self):
        self.files, self.tensors, self.parameters, self.bytes, self.dtypes = set(), 0, 0, 0, Counter()

    def add_types(self, types, names):
        """Add what `types` of a row of zt_files counts. `names` are the types' names by kind."""
        for counted in types:
            self.tensors += counted["objects"]
            self.parameters += int(counted["elements"])
            self.bytes += int(counted["stored_bytes"])
            self._count(names[dtypes.kind(counted)], counted["objects"])

    def add_files(self, each, files):
        """Add files, each of which has the same totals."""
        self.files.update(files)
        self.tensors += len(files) * each.tensors
        self.parameters += len(files) * each.parameters
        self.bytes += len(files) * each.bytes
        for name, tensors in each.dtypes.items():
            self.dtypes[name] += len(files) * tensors

    def add_tensors(self, rows):
        """Add rows of TENSORS, many at once."""
        self.files.update(map(itemgetter(0), rows))
        self.tensors += len(rows)
        self.parameters += added(map(itemgetter(4), rows))
        self.bytes += added(map(itemgetter(5), rows))
        for dtype, tensors in Counter(map(itemgetter(2), rows)).items():
            self._count(dtype, tensors)

    def _count(self, dtype, tensors):
        self.dtypes[dtype or "no type"] += tensors

    def __str__(self):
        parts = [output.counted(len(self.files), "file"), output.counted(self.tensors, "tensor"), output.counted(self.parameters, "parameter"),
                 output.size(self.bytes)]
        if self.parameters:
            parts.append(f"{bits(self.bytes, self.parameters):.6g} bits per weight")
        return "; ".join(filter(None, [", ".join(parts), output.word(by_count(self.dtypes))]))


def bits(stored, parameters):
    return round(8 * stored / parameters, 3) if parameters else None


def by_count(dtypes):
    return dict(sorted(dtypes.items(), key=lambda item: (-item[1], item[0])))


def added(numbers):
    """The sum of integers of SQL, which are text above 2^63, and may be NULL."""
    numbers = list(numbers)
    try:
        return sum(numbers)
    except TypeError:
        return sum(int(value) if isinstance(value, int) or isinstance(value, str) and value.isdigit() else 0 for value in numbers)


def _tensors(session, view, source, single, asked):
    columns = [(name, KINDS[name]) if name in KINDS else name for name in asked]
    skip = "" if single else ", 'skip'"
    totals = Totals()

    def counted():
        found = iter(session.rows(f"SELECT {', '.join(asked.values())} FROM zt_objects({source.sql}{skip}) WHERE {view.condition()}"))
        while some := list(islice(found, AT_ONCE)):
            totals.add_tensors(some)
            yield from (row[1:] for row in some) if single else some

    rows = counted()
    view.show(columns[1:] if single else columns, rows)
    for _ in rows:   # Those that --top leaves out count, too
        pass
    if not totals.tensors:
        view.must_match(session, source)
    broken = 0 if single else options.unreadable(session, source, totals.files)
    view.say(str(totals))
    return int(broken > 0)


def _files(session, view, source, is_long):
    # `types` comes first, because stored_bytes is known from then on
    modified = "strftime('%Y-%m-%d %H:%M:%S', mtime, 'unixepoch', 'localtime')" if is_long else "NULL"
    files = session.run(f"SELECT types, path, container, version, size, {modified}, objects, stored_bytes, error FROM zt_files({source.sql})")
    if not files:
        source.refuse_empty()
    totals, found, rows = Totals(), _by_types(session, files), []
    for each, paths in found.values():
        totals.add_files(each, paths)
    for types, path, container, version, size, modified, objects, stored, error in files:
        if not is_long:
            rows.append((path, container, version, size, objects, stored, error))
            continue
        of, known = found[types][0], error is None
        rows.append((path, container, version, size, modified, objects, of.parameters if known else None, stored, bits(of.bytes, of.parameters),
                     by_count(of.dtypes) if known else None, error))
    view.show(LONG_FILES if is_long else FILES, rows)
    broken = sum(row[-1] is not None for row in rows)
    view.say(f"{totals}{f'; {broken} unreadable' if broken else ''}")
    return int(broken > 0)


def _by_types(session, files):
    """{types: (the totals of each file that has these, their paths)}. The checkpoints of a run have the same: they are read once."""
    import json

    paths = {}
    for types, path, *_ in files:
        paths.setdefault(types, []).append(path)
    read = {types: json.loads(types or "[]") for types in paths}
    names = dtypes.of_kinds(session, {dtypes.kind(counted) for some in read.values() for counted in some})
    found = {}
    for types, some in read.items():
        each = Totals()
        each.add_types(some, names)
        found[types] = each, paths[types]
    return found
