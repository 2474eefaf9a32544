"""The filter of a table's column, as a condition of SQL with bound values."""
import re

COUNTS = {"": 1, "k": 10 ** 3, "m": 10 ** 6, "g": 10 ** 9, "b": 10 ** 9, "t": 10 ** 12}   # 7 B parameters
SIZES = {prefix + b: factor for prefix, factor in {"": 1, "k": 10 ** 3, "m": 10 ** 6, "g": 10 ** 9, "t": 10 ** 12, "ki": 2 ** 10, "mi": 2 ** 20,
                                                   "gi": 2 ** 30, "ti": 2 ** 40}.items() for b in ("", "b")}
NUMBER = r"([+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:e[+-]?\d{1,3})?)\s*([a-z]{0,3})"
LONGEST, STARS = 1000, 4   # The time of a pattern grows with the power of its stars

HELP = "Text: a part of it, in which * and ? stand for any characters. Numbers: 1000, > 1000, <= 2.5 GB, or 10..20."


class Unclear(Exception):
    """A filter that cannot be understood, for the visitor."""


def text(name, asked):
    """The condition, with * for the value's place, and the value."""
    if len(asked) > LONGEST:
        raise Unclear(f"it has more than {LONGEST} characters")
    if "\0" in asked:
        raise Unclear("it has a NUL character, which LIKE takes for the end")
    pattern = re.sub(r"\*+", "*", asked.strip("*"))
    if pattern.count("*") > STARS:
        raise Unclear(f"it has more than {STARS} stars")
    return [(f"{name} LIKE * ESCAPE '\\'", "%" + re.sub(r"([\\%_])", r"\\\1", pattern).replace("*", "%").replace("?", "_") + "%")]


def equal(name, asked):
    return [(f"{name} = *", asked)]


def number(name, asked, units=COUNTS):
    between = re.fullmatch(rf"{NUMBER}\s*\.\.\s*{NUMBER}", asked, re.I)
    if between:
        return [(f"{name} >= *", _value(*between.group(1, 2), units)), (f"{name} <= *", _value(*between.group(3, 4), units))]
    one = re.fullmatch(rf"(<=|>=|<>|!=|<|>|=)?\s*{NUMBER}", asked, re.I)
    if not one:
        raise Unclear("it is no number, nor like > 1000 or 10..20")
    return [(f"{name} {(one[1] or '=').replace('!=', '<>')} *", _value(one[2], one[3], units))]


def size(name, asked):
    return number(name, asked, SIZES)


def _value(digits, unit, units):
    factor = units.get(unit.lower())
    if factor is None:
        raise Unclear(f"{unit} is no unit")
    if re.fullmatch(r"[+-]?\d+", digits) and abs(int(digits) * factor) < 2 ** 63:
        return int(digits) * factor
    return float(digits) * factor
