"""Numbers, sizes and times for people."""
import datetime
import json

from markupsafe import Markup, escape

from ..output import plain, size


PATH = 4096   # Longer paths are no file's


def number(value):
    """A count, its digits in groups."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if isinstance(value, float) else str(value)


def some(count, thing):
    """1 file, 2 files."""
    return f"{number(count)} {thing}{'' if count == 1 else 's'}"


def brief(value):
    """A value of a tensor, in five digits."""
    if value is None:
        return "–"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def large(value):
    """A count of parameters: 7.24 B."""
    if value is None:
        return "–"
    value = float(value)
    for unit in ("", " k", " M", " B", " T"):
        if abs(value) < 1000 or unit == " T":
            break
        value /= 1000
    return f"{value:.0f}" if unit == "" else f"{value:.2g}{unit}" if value >= 1000 else f"{value:.3g}{unit}" if value < 100 else f"{value:.0f}{unit}"


def bytes_(value):
    return "–" if value is None else size(value)


def _folder(root):
    return root.rstrip("/").rpartition("/")[2]


def _tops(roots):
    """The directories that are not below others."""
    return [root for root in roots if not any(root != other and root.startswith(other.rstrip("/") + "/") for other in roots)]


def collection(roots):
    """A name for a collection: its directory's. There is none for several directories."""
    tops = _tops(roots)
    return plain(_folder(tops[0])) if len(tops) == 1 else ""


def shorter(roots):
    """A function that shortens paths: they start with the name of the collection's directory, unless another collection's
    directory has the same name."""
    tops = _tops(roots)
    names = [_folder(root) for root in tops]
    cut = [(root, len(root) - len(_folder(root))) for root in tops if _folder(root) and names.count(_folder(root)) == 1]

    def short(path):
        for root, length in cut:
            if path.startswith(root + "/"):
                return shown(path[length:], PATH)
        return shown(path, PATH)
    return short


def when(seconds):
    if seconds is None:
        return "–"
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def shown(value, most=400):
    """An attribute's value, cut where it is long."""
    text = value.hex() if isinstance(value, bytes) else plain(str(value))
    return text if len(text) <= most else text[:most] + f" … ({len(text):,} characters)"


def exact(value):
    """A text for a field, which is sent back unchanged: characters that would move the text around it are references."""
    return Markup("".join(str(escape(c)) if c.isprintable() else f"&#{ord(c)};" for c in str(value)))


def lines(text):
    """Text of several lines, each of which is plain."""
    return "\n".join(plain(line) for line in text.split("\n"))


def counts(text):
    return json.loads(text) if text else []


FILTERS = {"number": number, "some": some, "brief": brief, "large": large, "bytes": bytes_, "when": when, "shown": shown, "plain": plain, "exact": exact, "lines": lines, "counts": counts}
