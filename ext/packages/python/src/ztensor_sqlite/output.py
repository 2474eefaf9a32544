"""Rows as a table on a terminal, as tab-separated text elsewhere, or as JSON on request."""
import json
import math
import os
import sys

# Kinds of columns besides text and numbers. They decide the form on a terminal and in JSON
BYTES, JSON = "bytes", "json"
# Forms of rows besides a table on a terminal and tab-separated text elsewhere
AS_JSON, AS_CSV = "json", "csv"


def prepare():
    """Prepare the streams. Names of files and tensors may contain bytes that are not UTF-8: they are written unchanged. A closed
    stream is replaced: messages for a closed stderr are dropped, but answers for a closed stdout are an error."""
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="surrogateescape")


def give_up():
    """Redirect a stream that cannot be written. Otherwise Python would try again at exit, and change the status."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def plain(text):
    """The text without characters that would move the cursor, colour the terminal or end the line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode() for c in text)


def size(number):
    """Bytes for people."""
    number = float(number)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(number) < 1000 or unit == "TB":
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.3g} {unit}" if number < 100 else f"{number:.0f} {unit}"


def word(value):
    """A value as tab-separated text, with all its digits."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.hex()
    return plain(str(value))


def json_text(value, kind=None):
    """A value in JSON. An infinity is written as SQLite's own functions do."""
    if kind == JSON and isinstance(value, str):
        return value
    if isinstance(value, float) and math.isinf(value):
        return "9.0e+999" if value > 0 else "-9.0e+999"
    if isinstance(value, bytes):
        value = value.hex()
    return json.dumps(value)


def show(columns, rows, form=None):
    """Print rows, and return how many. `columns` are names, or (name, kind)."""
    columns = [(c, None) if isinstance(c, str) else c for c in columns]
    if form == AS_JSON:
        return _show_json(columns, rows)
    if form == AS_CSV:
        return _show_csv(columns, rows)
    return _show_table(columns, rows) if sys.stdout.isatty() else _show_words(columns, rows)


def _show_json(columns, rows):
    count = 0
    for row in rows:
        pairs = ", ".join(f"{json.dumps(name)}: {json_text(v, kind)}" for (name, kind), v in zip(columns, row))
        print(("," if count else "[") + "\n  {" + pairs + "}", end="")
        count += 1
    print("\n]" if count else "[]")
    return count


def _show_csv(columns, rows):
    """Lines as RFC 4180 describes them, also without rows."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\r\n")
    writer.writerow([name for name, _ in columns])
    count = 0
    for row in rows:
        writer.writerow(map(word, row))
        count += 1
    return count


def _show_words(columns, rows):
    count = 0
    for row in rows:
        if not count:
            print("\t".join(name for name, _ in columns))
        print("\t".join(map(word, row)))
        count += 1
    return count


def _show_table(columns, rows):
    """A column that is empty in all rows is left out."""
    rows = list(rows)
    wanted = [i for i in range(len(columns)) if any(row[i] is not None for row in rows)]
    if not wanted:
        return len(rows)
    # Not rich's table, which takes longer to import than to read a file
    cells = [[_cell(row[i], columns[i][1]) for i in wanted] for row in rows]
    names = [columns[i][0] for i in wanted]
    right = [all(row[i] is None or isinstance(row[i], (int, float)) for row in rows) for i in wanted]
    widths = [max(map(cell_width, column)) for column in zip(names, *cells)]
    for line in (names, ["─" * width for width in widths], *cells):
        padded = (" " * (width - cell_width(cell)) for cell, width in zip(line, widths))
        print("  ".join(pad + cell if flush else cell + pad for cell, pad, flush in zip(line, padded, right)).rstrip())
    return len(rows)


def cell_width(text):
    """How many columns of a terminal it takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _cell(value, kind):
    if kind == BYTES and isinstance(value, int):
        return size(value)
    return f"{value:.6g}" if isinstance(value, float) else word(value)


class Progress:
    """A bar on a terminal, nothing elsewhere."""

    def __init__(self, what, total=None):
        self.bar = None
        self.is_seen = sys.stderr.isatty()
        if self.is_seen:
            from rich import console, progress

            self.bar = progress.Progress(progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn(),
                                         progress.TimeRemainingColumn(), console=console.Console(stderr=True), transient=True)
            self.task = self.bar.add_task(what, total=total)

    def __enter__(self):
        if self.bar:
            self.bar.start()
        return self

    def __exit__(self, *error):
        if self.bar:
            self.bar.stop()

    def total(self, count):
        if self.bar:
            self.bar.update(self.task, total=count)

    def advance(self, count=1):
        if self.bar:
            self.bar.advance(self.task, count)
