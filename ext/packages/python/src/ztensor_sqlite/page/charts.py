"""Charts as SVG, made here: no script draws them. Colours are the style sheet's."""
from markupsafe import Markup, escape

from .words import brief, number


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
    return _columns(counts, titles, f"histogram of the values from {brief(low)} to {brief(high)}", brief(low), brief(high), number(most))


def profile(layers, most=200):
    """Distances of two models: [(name, distance)], with None for an unknown distance. Each layer has a column, in the models'
    order. If there are many layers, each column shows the largest distance of several."""
    count = -(-len(layers) // most) or 1
    groups = [layers[i:i + count] for i in range(0, len(layers), count)]
    values, titles = [], []
    for group in groups:
        name, value = max(group, key=lambda layer: -1 if layer[1] is None else layer[1])
        values.append(value or 0)
        titles.append(f"{name}: {'not comparable' if value is None else brief(value)}" + (f" (the max of {len(group)})" if len(group) > 1 else ""))
    highest = max(values, default=0)
    return _columns(values, titles, f"distance of each of {len(layers)} layers", "first layer", "last layer", brief(highest))


def _columns(values, titles, label, left, right, top):
    """The text is beside the drawing, because the drawing is stretched to its place."""
    width, height = 720, 150
    most = max(values) or 1
    step = min(40, width / len(values))
    gap = 1 if step > 4 else 0
    rects = Markup("").join(
        Markup('<g><title>{}</title><rect x="{:.2f}" y="0" width="{:.2f}" height="{}" class="hover"/>'
               '<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" class="fill"/></g>').format(
                   title, i * step, step, height, i * step, height - tall, step - gap, tall)
        for i, (value, title) in enumerate(zip(values, titles))
        for tall in [max(1.5, height * value / most) if value else 0])
    return Markup('<div class="columns"><span>{}</span><svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
                  '<p><span>{}</span> <span>{}</span></p></div>').format(top, width, height, label, rects, left, right)


__all__ = ["bar", "escape", "histogram", "profile", "spark"]
