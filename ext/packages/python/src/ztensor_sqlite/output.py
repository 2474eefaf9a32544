"""Rows as a table on a terminal, as tab-separated text elsewhere, or as JSON or CSV on request; and progress."""
import functools
import math
import os
import sys
import time

# Kinds of columns besides text and numbers. They decide the form on a terminal and in JSON
BYTES, JSON, COUNTS, PATH, MESSAGE, SEVERITY, TEXT = "bytes", "json", "counts", "path", "message", "severity", "text"
KINDS = {"path": PATH, "object": PATH, "other_object": PATH, "module": PATH, "source": PATH, "catalog": PATH, "error": MESSAGE, "message": MESSAGE, "severity": SEVERITY}
# Forms of rows besides a table on a terminal and tab-separated text elsewhere
AS_JSON, AS_CSV = "json", "csv"

COLOURS = {"error": "31", "warning": "33", "note": "2"}   # ANSI's
GAP = "  "

renamed = {}   # Paths that users have not written, such as those of copies of pipes, and their names


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
    """Write what is still to be written, and redirect a stream that cannot be. Otherwise Python would try again at exit, and change the
    status."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def as_named(text):
    """The text with the names of files as users know them."""
    for path, name in renamed.items():
        text = text.replace(path, name)
    return text


def plain(text):
    """The text without characters that would move the cursor, colour the terminal or end the line."""
    text = as_named(text)
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


def counted(number, noun):
    """A number of things: 1 file, 2,000 files."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def word(value):
    """A value as tab-separated text, with all its digits."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value if value.isprintable() and not renamed else plain(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return ", ".join(f"{plain(str(key))} {inner}" for key, inner in value.items())
    return plain(str(value))


@functools.cache
def encoder():
    """The function that writes a value as JSON. Its import takes a while, and few listings need it."""
    import json

    return json.JSONEncoder().encode


def words(row):
    """The values of a row as word() has them. Large listings take much of their time here."""
    found = ["" if value is None else value if value.__class__ is str else str(value) if value.__class__ is int else word(value) for value in row]
    return list(map(word, row)) if renamed or not "".join(found).isprintable() else found


def json_text(value, kind=None):
    """A value in JSON. An infinity is written as SQLite's own functions do."""
    if isinstance(value, str):
        return value if kind == JSON else encoder()(as_named(value) if renamed else value)
    if isinstance(value, float) and math.isinf(value):
        return "9.0e+999" if value > 0 else "-9.0e+999"
    if isinstance(value, bytes):
        value = value.hex()
    return encoder()(value)


def show(columns, rows, form=None):
    """Print rows, and return how many. `columns` are names, or (name, kind)."""
    columns = [(c, KINDS.get(c)) if isinstance(c, str) else c for c in columns]
    if form == AS_JSON:
        return _show_json(columns, rows)
    if form == AS_CSV:
        return _show_csv(columns, rows)
    return _show_table(columns, rows) if sys.stdout.isatty() else _show_words(columns, rows)


def _show_json(columns, rows):
    count, parts = 0, [(f"{encoder()(name)}: ", kind) for name, kind in columns]
    for row in rows:
        sys.stdout.write(("," if count else "[") + "\n  {" + ", ".join([name + json_text(v, kind) for (name, kind), v in zip(parts, row)]) + "}")
        count += 1
    print("\n]" if count else "[]")
    return count


def _show_csv(columns, rows):
    """Lines of RFC 4180, also without rows. Its texts have no control characters: they are escaped as in a table."""
    import csv

    if os.linesep != "\n":
        sys.stdout.reconfigure(newline="")
    writer = csv.writer(sys.stdout, lineterminator="\r\n")
    writer.writerow([name for name, _ in columns])
    count = 0
    for row in rows:
        writer.writerow(words(row))
        count += 1
    return count


def _show_words(columns, rows):
    count = 0
    for row in rows:
        if not count:
            print("\t".join(name for name, _ in columns))
        sys.stdout.write("\t".join(words(row)) + "\n")
        count += 1
    return count


# ---- Tables on a terminal. Not rich's, which takes longer to import than to read a file

# Columns of a terminal that a text keeps at least: at first, if numbers with fewer digits do not help, and if there are no columns to spare.
# Names keep enough to tell rows apart
LEAST = {PATH: (28, 24, 4), MESSAGE: (32, 16, 8), TEXT: (12, 8, 4), JSON: (12, 8, 4), COUNTS: (12, 8, 4)}
# Columns that are left out before all others, in this order
SPARE = ("equal", "max_abs", "cosine", "rmse", "other_shape", "other_type", "l2", "elements", "zeros", "version")


def _show_table(columns, rows):
    """A column that is empty in all rows is left out."""
    rows = list(rows)
    wanted = [i for i in range(len(columns)) if any(row[i] is not None for row in rows)]
    if not wanted:
        return len(rows)
    columns, rows = [columns[i] for i in wanted], [[row[i] for i in wanted] for row in rows]
    _shorten_errors(columns, rows)
    cells, widths, hidden = _fitted(columns, rows, terminal_width())
    shown = [i for i in range(len(columns)) if i not in hidden]
    right = [all(row[i] is None or isinstance(row[i], (int, float)) for row in rows) for i in shown]
    columns = [columns[i] for i in shown]
    names = [name for name, _ in columns]
    for line in (names, ["─" * width for width in widths]):
        _print_line(line, widths, right, columns, is_head=True)
    for line in cells:
        _print_line(line, widths, right, columns)
    if hidden:
        print(f"({counted(len(hidden), 'column')} more: --json)")
    return len(cells)


def _shorten_errors(columns, rows):
    """Take the path out of errors that stand beside it."""
    names = [name for name, _ in columns]
    if "path" in names and "error" in names:
        path, error = names.index("path"), names.index("error")
        for row in rows:
            if row[error] and row[path]:
                row[error] = row[error].removeprefix("ztensor: ").removeprefix(row[path] + ": ")


def _fitted(columns, rows, width):
    """Cells that are no wider than the terminal, where that is possible; their widths; and the columns that are left out."""
    digits, hidden = 6, set()
    while True:
        shown = [i for i in range(len(columns)) if i not in hidden]
        cells = [[_cell(row[i], columns[i][1], digits) for i in shown] for row in rows]
        natural = [max(map(cell_width, column)) for column in zip([columns[i][0] for i in shown], *cells)]
        kinds = [None if all(isinstance(row[i], (int, float, type(None))) for row in rows) else columns[i][1] or TEXT for i in shown]
        room = width - len(GAP) * (len(shown) - 1)
        widths = _shrunk(natural, kinds, room, (0,) if digits == 6 else (0, 1))
        if widths:
            break
        if digits == 6:
            digits = 4
            continue
        hideable = [i for i in shown[1:] if columns[i][1] not in (PATH, MESSAGE, SEVERITY)]
        if not hideable:
            widths = _shrunk(natural, kinds, room, (2,)) or natural
            break
        hidden.add(max(hideable, key=lambda i: (-SPARE.index(columns[i][0]) if columns[i][0] in SPARE else -len(SPARE), i)))
    for k, i in enumerate(shown):
        if columns[i][1] != MESSAGE:
            for line, cell in zip(cells, _shortened([line[k] for line in cells], widths[k])):
                line[k] = cell
    return cells, widths, hidden


def _shrunk(natural, kinds, room, steps):
    """Widths of columns that take this room at most, with the first of these steps of LEAST that makes it possible, or None."""
    for step in steps:
        widths = list(natural)
        least = [min(w, LEAST[kind][step]) if kind in LEAST else w for w, kind in zip(natural, kinds)]
        while sum(widths) > room:
            i = max(range(len(widths)), key=lambda i: widths[i] - least[i])
            if widths[i] == least[i]:
                break
            widths[i] -= 1
        else:
            return widths
    return None


def _print_line(line, widths, right, columns, is_head=False):
    """A row, whose messages may take several lines."""
    parts = [_wrapped(cell, width) if kind == MESSAGE else [cell] for cell, width, (_, kind) in zip(line, widths, columns)]
    colours = [None if is_head else cell if kind == SEVERITY else name for cell, (name, kind) in zip(line, columns)]
    for n in range(max(map(len, parts))):
        cells = [part[n] if n < len(part) else "" for part in parts]
        padded = [" " * (width - cell_width(cell)) for cell, width in zip(cells, widths)]
        cells = [coloured(cell, colour) for cell, colour in zip(cells, colours)]
        print(GAP.join(pad + cell if flush else cell + pad for cell, pad, flush in zip(cells, padded, right)).rstrip())


# The part of a shortened text that its end keeps. The end says more than the beginning
ENDS = (2 / 3, 5 / 6, 1 / 2, 1 / 4, 1)


def _shortened(texts, width):
    """Texts with `…` in place of their middles, where they are wider; or of their common beginning, too. The first way is taken that leaves
    the most texts different."""
    wide = [text for text in texts if cell_width(text) > width]
    if not wide:
        return texts
    found, most = None, 0
    for begin in (0, len(os.path.commonprefix(wide))):
        for share in ENDS:
            some = [text if cell_width(text) <= width else _cut("…" * (begin > 0) + text[begin:], width, share) for text in texts]
            count = len(set(some))
            if count > most:
                found, most = some, count
            if count == len(set(texts)):
                return found
    return found


def _cut(text, width, share):
    if cell_width(text) <= width:
        return text
    end = int((width - 1) * share)
    return _first(text, width - 1 - end) + "…" + _first(text[::-1], end)[::-1]


def _first(text, width):
    while cell_width(text) > width:
        text = text[:min(len(text) - 1, width)]
    return text


def _wrapped(text, width):
    """Lines of a text, each no wider than that."""
    if cell_width(text) <= width:
        return [text]
    lines, line = [], ""
    for piece in text.split(" "):
        if line and cell_width(line) + 1 + cell_width(piece) > width:
            lines.append(line)
            line = ""
        line = f"{line} {piece}" if line else piece
        while cell_width(line) > width:
            lines.append(_first(line, width))
            line = line[len(lines[-1]):]
    return [*lines, line] if line else lines


def terminal_width():
    from shutil import get_terminal_size

    return max(get_terminal_size((80, 24)).columns, 20)


def coloured(text, severity, stream=None):
    """The text in the colour of a severity, on a terminal that has not been asked to stay plain (https://no-color.org)."""
    if severity not in COLOURS or not text or not _has_colours(stream or sys.stdout):
        return text
    return f"\x1b[{COLOURS[severity]}m{text}\x1b[0m"


def _has_colours(stream):
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def cell_width(text):
    """How many columns of a terminal it takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _cell(value, kind, digits=6):
    if kind == BYTES and isinstance(value, int):
        return size(value)
    return f"{value:.{digits}g}" if isinstance(value, float) else word(value)


# ---- Progress

class Progress:
    """A bar on a terminal, nothing elsewhere. It counts files, or bytes.

    Within a statement of `session`, the bar also shows how many bytes have been read since it began: the extension lets the
    connection's progress handler run while it reads, even within one tensor.
    """
    STEPS = 5000   # Instructions of SQLite's machine; the extension's own statement for the handler has some 7,000

    def __init__(self, what, total=None, session=None, unit="files", delay=0.0):
        self.what, self.count, self.unit, self.delay = what, total, unit, delay
        self.is_seen = sys.stderr.isatty()
        self.connection = session.connection if session and self.is_seen else None
        self.bar, self.done, self.begun, self.read = None, 0, time.monotonic(), _bytes_read()

    def __enter__(self):
        if self.connection:
            self.connection.set_progress_handler(self._look, self.STEPS)
        if not self.delay:
            self._tell()
        return self

    def __exit__(self, *error):
        if self.connection:
            self.connection.set_progress_handler(None, self.STEPS)
        if self.bar:
            self.bar.stop()

    def total(self, count):
        self.count = count
        self._tell()

    def advance(self, count=1):
        self.done += count
        self._tell()

    def _look(self):
        """The connection's progress handler. SQLite goes on."""
        self._tell()
        return 0

    def _tell(self):
        if not self.is_seen or time.monotonic() - self.begun < self.delay:
            return
        if not self.bar:
            self._begin()
        read = _bytes_read() - self.read if self.connection else 0
        done = max(self.done, min(read, self.count or 0)) if self.unit == "bytes" else self.done
        self.bar.update(self.task, total=self.count, completed=done, amount=self._amount(done, read))

    def _amount(self, done, read):
        if self.unit == "bytes":
            return size(done or read) + (f"/{size(self.count)}" if self.count else "")
        return f"{done}/{'?' if self.count is None else self.count}" + (f", {size(read)}" if read else "")

    def _begin(self):
        from rich import console, progress

        self.bar = progress.Progress(progress.TextColumn("{task.description}", markup=False), progress.BarColumn(),
                                     progress.TextColumn("{task.fields[amount]}", markup=False), progress.TimeRemainingColumn(),
                                     console=console.Console(stderr=True), transient=True)
        self.task = self.bar.add_task(plain(self.what), total=self.count, amount="")
        self.bar.start()


def _bytes_read():
    """How many bytes this process has read, as far as the system tells: Linux does."""
    try:
        with open("/proc/self/io", "rb") as file:
            return int(file.readline().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
