"""How much of ext/ the tests reach, of what clang exported: coverage.py BUILD LEAST_LINES LEAST_BRANCHES LEAST_MCDC

BUILD/info has lcov's records of lines, BUILD/export.json the branches and decisions of each file. tests/unreached.txt names
what no test is expected to reach, each with its reason; it counts neither as reached nor as missing. Writes BUILD/missing in
the form of that list, without reasons, and fails below the least that is asked for, in per cent.
"""

import json
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
UNREACHED = TOP / "tests/unreached.txt"
MCDC_FOLDERS = ("core", "container", "tensor")
MCDC_BRANCH = 6   # The kind of a branch that is a condition of a decision


class Source:
    """The lines of one file of ext/, with what the list and the export say of places in it."""

    def __init__(self, name):
        self.name = name
        self.lines = (TOP / name).read_text().split("\n")

    def line(self, number):
        return self.lines[number - 1].strip()

    def text(self, first, column, last, end):
        """What stands between two positions, which count from 1."""
        lines = self.lines[first - 1:last]
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
            number, count = rest.split(",")[:2]
            lines[name, int(number)] = lines.get((name, int(number)), 0) + int(count)
    return lines


def read_export(path):
    """{(file, range): [times true, times false, is a condition]} and {(file, range): [whether each condition's pair was
    seen]}: a function that several sources include counts once."""
    branches, decisions = {}, {}
    for file in json.loads(path.read_text())["data"][0]["files"]:
        name = name_of(file["filename"])
        for *place, true, false, _, _, kind in file["branches"]:
            found = branches.setdefault((name, tuple(place)), [0, 0, False])
            found[:] = found[0] + true, found[1] + false, found[2] or kind == MCDC_BRANCH
        for first, column, last, end, *_, conditions in file["mcdc_records"]:
            found = decisions.setdefault((name, (first, column, last, end)), conditions)
            decisions[name, (first, column, last, end)] = [a or b for a, b in zip(found, conditions)]
    return branches, decisions


def is_within(inner, outer):
    return (outer[:2] <= inner[:2]) and (inner[2:] <= outer[2:])


def conditions_of(decision, name, branches, decisions):
    """The ranges of a decision's conditions, in order: those within it that belong to no decision further in."""
    within = [place for file, place in decisions if file == name and place != decision and is_within(place, decision)]
    return sorted(place for (file, place), (_, _, condition) in branches.items()
                  if file == name and condition and is_within(place, decision)
                  and not any(is_within(place, inner) for inner in within))


def read_unreached():
    """The listed (file, line's text, part, side). A line has these and the reason, between tabs."""
    lines = UNREACHED.read_text().splitlines()
    return {tuple(line.split("\t")[:4]) for line in lines if line and not line.startswith("#")}


def main():
    build = pathlib.Path(sys.argv[1])
    least = [float(number) for number in sys.argv[2:]]
    lines = read_lines(build / "info")
    branches, decisions = read_export(build / "export.json")
    sources = {name: Source(name) for name in {name for name, _ in [*lines, *branches]}}
    listed, missing = read_unreached(), []
    all_of = {"lines": 0, "branches": 0, "conditions": 0}
    unreached = dict.fromkeys(all_of, 0)
    excluded = dict.fromkeys(all_of, 0)

    def count(kind, name, number, part, side, reached):
        key = (name, sources[name].line(number), part, side)
        all_of[kind] += 1
        if reached:
            return
        if key in listed:
            excluded[kind] += 1
        else:
            unreached[kind] += 1
            missing.append((name, number, "\t".join(key)))

    for (name, number), times in sorted(lines.items()):
        count("lines", name, number, "", "line", times > 0)
    for (name, place), (true, false, _) in sorted(branches.items()):
        part = sources[name].text(*place)
        count("branches", name, place[0], part, "true", true > 0)
        count("branches", name, place[0], part, "false", false > 0)
    by_file = {}
    for name, place in decisions:
        if name.split("/")[1] in MCDC_FOLDERS:
            by_file.setdefault(name, []).append(place)
    for name, places in sorted(by_file.items()):
        here = {key: value for key, value in branches.items() if key[0] == name}
        inner = {key: value for key, value in decisions.items() if key[0] == name}
        for place in sorted(places):
            conditions = conditions_of(place, name, here, inner)
            seen = decisions[name, place]
            if len(conditions) != len(seen):   # Some stand in a macro, where the export has no branches
                for at, reached in enumerate(seen):
                    count("conditions", name, place[0], sources[name].text(*place), f"pair {at + 1}", reached)
                continue
            for condition, reached in zip(conditions, seen):
                key = (name, sources[name].line(condition[0]), sources[name].text(*condition))
                side = next((side for side in ("true", "false") if (*key, side) in listed), "pair")
                count("conditions", name, condition[0], key[2], side, reached)

    with open(build / "missing", "w") as out:
        out.writelines(f"{name}:{number}\t{row}\n" for name, number, row in sorted(missing))
    percent = {}
    for kind, n in all_of.items():
        rest = n - excluded[kind]
        percent[kind] = 100 * (rest - unreached[kind]) / rest if rest else 0
        print(f"coverage: {percent[kind]:.1f} % of {rest} {kind}, without {excluded[kind]} that are listed")
    sys.exit(any(have < want for have, want in zip(percent.values(), least)))


main()
