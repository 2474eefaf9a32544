"""Charts as SVG, made here: no script draws them. Colours are the style sheet's.

A drawing is stretched to its place, so text is beside it. A value may have a mark. A mark that begins with NaN or infinite is hatched. Without
a value, any other mark leaves the place grey.
"""
import math
import zlib

from markupsafe import Markup, escape

from .words import brief, number, shown

WIDTH = 720
SHADES = 8         # The classes of a heat strip, besides zero
HATCH = Markup('<defs><pattern id="{0}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
               '<rect width="5" height="5" class="hatch-back"/><rect width="2.5" height="5" class="hatch"/></pattern></defs>')


def _hatch(label):
    """The id of a chart's hatching: the same page has the same ones each time."""
    return f"hatch-{zlib.crc32(label.encode('utf-8', 'surrogatepass')):08x}"


def is_hatched(mark):
    return mark is not None and mark.startswith(("NaN", "infinite"))


def bar(share, label):
    """A bar that fills a share of its place."""
    return Markup('<svg class="bar" role="img" aria-label="{}"><rect width="100%" height="100%" class="rail"/>'
                  '<rect width="{:.2f}%" height="100%" class="fill"/></svg>').format(label, 100 * min(1, max(0, share)))


def spark(counts):
    """A small histogram for a table cell, without numbers."""
    most = max(counts, default=0)
    if not most:
        return ""
    width = 72 / len(counts)
    rects = Markup("").join(
        Markup('<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" class="fill"/>').format(i * width, 18 - 18 * n / most, width, 18 * n / most)
        for i, n in enumerate(counts) if n)
    return Markup('<svg class="spark" viewBox="0 0 72 18" role="img" aria-label="histogram">{}</svg>').format(rects)


def histogram(counts, low, high):
    """A histogram of a tensor's values. Each bar shows its range and count."""
    most = max(counts, default=0)
    if not most:
        return ""
    low, high = (int(value) if isinstance(value, str) else value for value in (low, high))   # Integers beyond SQLite's are text
    step = high / len(counts) - low / len(counts)   # The difference of both may be too large
    titles = [f"{brief(low + i * step)} to {brief(low + (i + 1) * step)}: {number(n)}" for i, n in enumerate(counts)]
    drawn = _columns([(title, n, None) for title, n in zip(titles, counts)], most, 150, f"histogram of the values from {brief(low)} to {brief(high)}")
    return Markup('<div class="columns"><span>{}</span>{}{}</div>').format(number(most), drawn, _ends(brief(low), brief(high)))


def profiles(models, most=200):
    """Distances of models from one: [(label, [(name, distance, mark)])], with the same layers in the same order for each model. Each layer has
    a column. If there are many layers, a column shows the largest distance of several. All models have one scale."""
    grouped = [(label, layers, _groups(layers, most)) for label, layers in models]
    highest = max((value for _, _, groups in grouped for _, value, _ in groups if value is not None), default=0)
    tall = 150 if len(models) == 1 else 64
    rows = Markup("").join(
        Markup('<div class="row"><p>{}</p>{}</div>').format(
            label, _columns(groups, highest or 1, tall, f"distance of each of {len(layers)} layers: {_summary(layers)}"))
        for label, layers, groups in grouped)
    first, last = (models[0][1][i][0] for i in (0, -1)) if models and models[0][1] else ("", "")
    return Markup('<div class="columns"><span>{}</span>{}{}</div>').format(brief(highest), rows, _ends(first, last))


def _summary(layers):
    numbers = [value for _, value, _ in layers if value is not None]
    marks = sum(is_hatched(mark) for _, _, mark in layers)
    said = f"max {brief(max(numbers))}" if numbers else "none is known"
    return said + (f", {marks} with NaN or infinities" if marks else "")


def _groups(cells, most):
    """At most so many cells: if there are more, each stands for several, by the largest value and every mark."""
    count = -(-len(cells) // most) or 1
    if count == 1:
        return [(f"{name}: {_said(value, mark)}", value, mark) for name, value, mark in cells]
    groups = []
    for first in range(0, len(cells), count):
        group = cells[first:first + count]
        name, value, mark = max(group, key=lambda cell: (cell[1] is not None, cell[1] or 0))
        title = f"{name}: {_said(value, mark)} (the max of {len(group)})"
        hatched = [cell for cell in group if is_hatched(cell[2])]
        if hatched:
            mark = hatched[0][2]
            title += "; " + ", ".join(f"{cell[0]}: {cell[2]}" for cell in hatched[:5]) + (" and others" if len(hatched) > 5 else "")
        groups.append((title, value, mark if hatched or value is None else None))
    return groups


def _said(value, mark):
    if value is None:
        return mark or "not known"
    return brief(value) + (f", {mark}" if mark else "")


def _columns(cells, most, height, label):
    """Columns of [(title, value, mark)], as high as the value is of the most."""
    step = min(40, WIDTH / (len(cells) or 1))
    gap = 1 if step > 4 else 0
    hatch = _hatch(label)
    drawn = Markup("").join(_column(i * step, step, gap, height, title, value, mark, most, hatch) for i, (title, value, mark) in enumerate(cells))
    defs = HATCH.format(hatch) if any(is_hatched(mark) for _, _, mark in cells) else ""
    return Markup('<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}" class="high-{}">{}{}</svg>').format(
        WIDTH, height, label, height, defs, drawn)


def _column(x, step, gap, height, title, value, mark, most, hatch):
    tall = max(1.5, height * min(1, value / most)) if value else 0
    place = Markup('<rect x="{:.2f}" y="{}" width="{:.2f}" height="{:.2f}" {}/>')
    back = Markup('class="void"') if value is None and not is_hatched(mark) else Markup('class="hover"')
    drawn = [place.format(x, 0, step, height, back)]
    if is_hatched(mark):
        drawn.append(place.format(x, 0, max(step - gap, 1), height, Markup('fill="url(#{})"').format(hatch)))
    drawn.append(place.format(x, f"{height - tall:.2f}", step - gap, tall, Markup('class="fill"')))
    return Markup('<g><title>{}</title>{}</g>').format(shown(title), Markup("").join(drawn))


def _ends(left, right):
    return Markup('<p class="ends"><span>{}</span> <span>{}</span></p>').format(shown(left), shown(right))


def heat(cells, what, most=200):
    """A strip with a shade for each cell of [(name, value, mark)], on a logarithmic scale, and its legend. Values are not negative."""
    groups = _groups(cells, most)
    numbers = [value for _, value, _ in cells if value]
    if not numbers and not any(is_hatched(mark) for _, _, mark in cells):
        return Markup('<p class="note">The {} of no layer is known, or all are 0.</p>').format(what)
    low, high = (min(numbers), max(numbers)) if numbers else (0, 0)
    label = f"{what} of each of {len(cells)} layers, from {brief(low)} to {brief(high)}: {_summary(cells)}"
    step, hatch = WIDTH / len(groups), _hatch(label)
    drawn = Markup("").join(
        Markup('<g><title>{}</title><rect x="{:.2f}" width="{:.2f}" height="28" {}/></g>').format(
            shown(title), i * step, step + 0.2, _shade(value, mark, low, high, hatch)) for i, (title, value, mark) in enumerate(groups))
    return Markup('<div class="heat"><svg viewBox="0 0 {} 28" preserveAspectRatio="none" role="img" aria-label="{}">{}{}</svg>{}{}</div>').format(
        WIDTH, label, HATCH.format(hatch), drawn, _ends(cells[0][0], cells[-1][0]), _legend(low, high, cells, hatch))


def shade(value, low, high):
    """The class of a value: 0 for zero, then 1 to SHADES on a logarithmic scale."""
    if not value:
        return 0
    if high <= low:
        return SHADES
    return 1 + min(SHADES - 1, int(SHADES * (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))))


def _shade(value, mark, low, high, hatch):
    if is_hatched(mark):
        return Markup('fill="url(#{})"').format(hatch)
    return Markup('class="void"') if value is None else Markup('class="heat-{}"').format(shade(value, low, high))


def _legend(low, high, cells, hatch):
    """The shades in their order, and the marks that occur."""
    swatch = Markup('<svg class="swatch" viewBox="0 0 12 12" aria-hidden="true"><rect width="12" height="12" {}/></svg>')
    said = []
    if any(value == 0 for _, value, _ in cells):
        said.append(Markup("<span>{} 0</span>").format(swatch.format(Markup('class="heat-0"'))))
    shades = Markup("").join(swatch.format(Markup('class="heat-{}"').format(i)) for i in range(1, SHADES + 1))
    said.append(Markup("<span>{} {} {}</span>").format(brief(low), shades, brief(high)))
    if any(is_hatched(mark) for _, _, mark in cells):
        said.append(Markup("<span>{} NaN or infinite</span>").format(swatch.format(Markup('fill="url(#{})"').format(hatch))))
    if any(value is None and not is_hatched(mark) for _, value, mark in cells):
        said.append(Markup("<span>{} not known</span>").format(swatch.format(Markup('class="void"'))))
    return Markup('<p class="legend">{}</p>').format(Markup(" ").join(said))


def curve(points, what):
    """A curve through [(label, x, value, mark)] in the order of x. It is broken where a value is not known."""
    values = [value for _, _, value, _ in points if value is not None and math.isfinite(value)]
    if not values:
        return Markup('<p class="note">The {} is not known at any point.</p>').format(what)
    low, high = min(values), max(values)
    left, right, height = points[0][1], points[-1][1], 110
    label = f"{what} at {len(points)} points, from {brief(points[0][2])} to {brief(points[-1][2])}, between {brief(low)} and {brief(high)}"
    hatch = _hatch(label)

    def place(x, value):
        across = (x - left) / (right - left) if right > left else 0.5
        up = (value - low) / (high - low) if high > low else 0.5
        return 10 + across * (WIDTH - 20), height - 8 - up * (height - 16)

    lines, runs = [], [[]]
    for i, (name, x, value, mark) in enumerate(points):
        known = value is not None and math.isfinite(value)
        across, down = place(x, value if known else low)
        before = (place(points[i - 1][1], low)[0] + across) / 2 if i else 0
        after = (place(points[i + 1][1], low)[0] + across) / 2 if i + 1 < len(points) else WIDTH
        drawn = Markup('<rect x="{:.2f}" width="{:.2f}" height="{}" class="hover"/>').format(before, after - before, height)
        if is_hatched(mark):
            drawn += Markup('<rect x="{:.2f}" width="8" height="{}" fill="url(#{})"/>').format(across - 4, height, hatch)
        if known:
            drawn += Markup('<line x1="{0:.2f}" x2="{0:.2f}" y1="{1:.2f}" y2="{1:.2f}" class="point"/>').format(across, down)
            runs[-1].append(f"{across:.2f},{down:.2f}")
        else:
            runs.append([])
        lines.append(Markup("<g><title>{}</title>{}</g>").format(shown(f"{name}: {_said(value, mark)}"), drawn))
    path = Markup("").join(Markup('<polyline points="{}" class="line"/>').format(" ".join(run)) for run in runs if len(run) > 1)
    return Markup('<div class="curve"><p class="ends"><span>{}</span></p><svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
                  '{}{}{}</svg><p class="ends"><span>{}</span></p>{}</div>').format(
                      brief(high), WIDTH, height, label, HATCH.format(hatch), path, Markup("").join(lines), brief(low),
                      _ends(points[0][0], points[-1][0]))


__all__ = ["bar", "curve", "escape", "heat", "histogram", "profiles", "spark"]
