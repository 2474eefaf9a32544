"""How much of ext/ the tests reach, of what clang exported: coverage.py BUILD LEAST_LINES LEAST_BRANCHES LEAST_CONDITIONS

BUILD/info has lcov's records of lines, BUILD/export.json the branches and decisions of each file. tests/unreached.txt names
what no test is expected to reach, each with its reason; it counts neither as reached nor as missing. Writes BUILD/missing in
the form of that list, without reasons, and fails below the least that is asked for, in per cent.
"""

import collections
import json
import math
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
UNREACHED = TOP / "tests/unreached.txt"
MCDC_FOLDERS = ("core", "container", "tensor")
MCDC_BRANCH = 6   # The kind of a branch that is a condition of a decision


class Coverage:
    """A count of one kind: lines, branches or conditions."""

    def __init__(self, kind, listed, text_of):
        self.kind, self.listed, self.text_of = kind, listed.copy(), text_of
        self.reached, self.excluded, self.missing = 0, 0, []

    def count(self, name, number, part, side, reached):
        key = (name, self.text_of(name, number), part, side)
        if reached:
            self.reached += 1
        elif self.listed[key] > 0:
            self.listed[key] -= 1
            self.excluded += 1
        else:
            self.missing.append(f"{name}:{number}\t" + "\t".join(key) + "\n")

    def percent(self):
        """Nothing is not all."""
        n = self.reached + len(self.missing)
        return 100 * self.reached / n if n else 0

    def __str__(self):
        """Not 100 % unless it is all."""
        shown, n = math.floor(100 * self.percent()) / 100, self.reached + len(self.missing)
        return f"coverage: {shown:.2f} % of {n} {self.kind}, without {self.excluded} that are listed"


class Sources:
    """The text of the files of ext/."""

    def __init__(self):
        self.files = {}

    def lines(self, name):
        if name not in self.files:
            self.files[name] = (TOP / name).read_text().split("\n")
        return self.files[name]

    def line(self, name, number):
        return self.lines(name)[number - 1].strip()

    def between(self, name, place):
        """The text between two positions, which count from 1."""
        first, column, last, end = place
        lines = self.lines(name)[first - 1:last]
        lines[-1] = lines[-1][:end - 1]
        lines[0] = lines[0][column - 1:]
        return " ".join(line.strip() for line in lines)


def name_of(path):
    return "ext/" + path.rpartition("/ext/")[2]


def read_lines(path):
    """{(file, line): how often}, of lcov's records."""
    lines, name = {}, None
    for record in path.read_text().split("\n"):
        kind, _, rest = record.partition(":")
        if kind == "SF":
            name = name_of(rest)
        elif kind == "DA":
            number, times = map(int, rest.split(",")[:2])
            lines[name, number] = lines.get((name, number), 0) + times
    return lines


def read_export(path):
    """{file: {place: [times true, times false, whether it is a condition]}} and {file: {place: [whether each condition's pair
    was seen]}}. A function that several sources include counts once."""
    branches, decisions = {}, {}
    for file in json.loads(path.read_text())["data"][0]["files"]:
        here, decided = (kind.setdefault(name_of(file["filename"]), {}) for kind in (branches, decisions))
        for *place, true, false, _, _, kind in file["branches"]:
            found = here.setdefault(tuple(place), [0, 0, False])
            found[:] = found[0] + true, found[1] + false, found[2] or kind == MCDC_BRANCH
        for first, column, last, end, *_, seen in file["mcdc_records"]:
            before = decided.setdefault((first, column, last, end), seen)
            decided[first, column, last, end] = [a or b for a, b in zip(before, seen)]
    return branches, decisions


def read_unreached():
    """How often (file, line's text, part, side) is listed: as many places of that text. A line has these and the reason, between
    tabs."""
    lines = UNREACHED.read_text().splitlines()
    return collections.Counter(tuple(line.split("\t")[:4]) for line in lines if line and not line.startswith("#"))


def is_within(inner, outer):
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def conditions_of(decision, branches, decisions):
    """The places of a decision's conditions, in order: those within it that belong to no decision further in."""
    within = [place for place in decisions if place != decision and is_within(place, decision)]
    return sorted(place for place, (_, _, condition) in branches.items() if condition and is_within(place, decision)
                  and not any(is_within(place, inner) for inner in within))


def count_conditions(conditions, sources, name, branches, decisions):
    """A condition that is never true, or never false, as the list has it, decides nothing alone either."""
    for decision, seen in sorted(decisions.items()):
        places = conditions_of(decision, branches, decisions)
        if len(places) != len(seen):   # Some stand in a macro, where the export has no branches
            for at, reached in enumerate(seen, 1):
                conditions.count(name, decision[0], sources.between(name, decision), f"pair {at}", reached)
            continue
        for place, reached in zip(places, seen):
            part, line = sources.between(name, place), sources.line(name, place[0])
            sides = [side for side in ("true", "false") if conditions.listed[name, line, part, side] > 0]
            conditions.count(name, place[0], part, (sides or ["pair"])[0], reached)


def main(build, *least):
    sources, listed = Sources(), read_unreached()
    lines, branches, conditions = counted = [Coverage(kind, listed, sources.line) for kind in ("lines", "branches", "conditions")]
    for (name, number), times in sorted(read_lines(build / "info").items()):
        lines.count(name, number, "", "line", times > 0)
    all_branches, all_decisions = read_export(build / "export.json")
    for name, places in sorted(all_branches.items()):
        for place, (true, false, _) in sorted(places.items()):
            part = sources.between(name, place)
            branches.count(name, place[0], part, "true", true > 0)
            branches.count(name, place[0], part, "false", false > 0)
        if name.split("/")[1] in MCDC_FOLDERS:
            count_conditions(conditions, sources, name, places, all_decisions[name])
    with open(build / "missing", "w") as out:
        out.writelines(sorted(line for kind in counted for line in kind.missing))
    for kind in counted:
        print(kind)
    return all(kind.percent() >= most for kind, most in zip(counted, least))


sys.exit(not main(pathlib.Path(sys.argv[1]), *map(float, sys.argv[2:])))
