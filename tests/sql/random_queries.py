"""Random queries, each of the extension's tables and of ordinary tables that stand for them.

The same seed makes the same choices for both. Only what stands in FROM differs, and, where the
ordinary table has the rows of several calls, the conditions that tell these apart.
"""
import random
import sqlite3
from collections import Counter

VERSION = sqlite3.sqlite_version_info
COMPARISONS = ["=", "=", "=", "<", "<=", ">", ">=", "<>", "==", "IS", "IS NOT"]
INEQUALITIES = ["<", "<=", ">", ">=", "<>", "IS", "IS NOT"]
ODD = [
    "NULL", "0", "1", "2", "-1", "1000", "1.0", "0.5", "1e3", "9223372036854775807", "-9e999", "''",
    "'0'", "'00'", "'1'", "'1e3'", "'1.0'", "'a'", "'A'", "'é'", "'~'", "X'30'", "X''", "X'ff'"
]
PATTERNS = [
    "'%'", "''", "'a%'", "'%A'", "'_'", "'%.ZT'", "'d/_.zt'", "'%/%'", "'*'", "'[a-w]*'", "'?'",
    "'d/*'", "'%0%'", "'1*'", "NULL", "5", "'%é%'", "'*é*'", "'%ü%'", "'D/%'", "'0%'", "X'25'"
]
# Columns that a scan knows how to narrow down are asked about most.
KEYS = {"path", "object", "position", "row"}
COLLATIONS = ["NOCASE", "RTRIM", "BINARY"]
OUTER_JOINS = VERSION >= (3, 39)
DISTINCT_FROM = VERSION >= (3, 39)
MATERIALIZED = VERSION >= (3, 35)
# SQLite hands over all values of an IN in one call. Before, it asked for one after the other, and
# - compared each again with what the scan gave, as if it came from no column: 1 is then '1';
# - found no plan where an argument was IN something and a join might have given it something else.
IN_AT_ONCE = VERSION >= (3, 38)
# SQLite 3.35 makes an IN of an EXISTS, and asks once what differs from row to row, of an R-tree and
# of json_each, too.
EXISTS_ONCE = VERSION[:2] == (3, 35)
# Where a part of a UNION ALL in FROM has a RIGHT or FULL JOIN, SQLite 3.39 to 3.49, at least, forgets conditions of
# the other part, of ordinary tables and json_each, too.
FORGETS_PARTS = VERSION < (3, 54)
# SQLite before 3.54 takes `a.x = b.y AND b.y = 'c'` for `a.x = 'c'`, even if b.y has another collation than a.x.
MIXES_COLLATIONS = VERSION < (3, 54)
# A name longer than any system takes.
LONG = "hex(zeroblob(3000))"


class Query:
    """`sql`; `whole`: it without LIMIT; `keys`: (place, collation) of the columns that order it."""

    def __init__(self, sql, keys=(), limit="", total=False, loose=False):
        self.whole, self.sql = sql, sql + limit
        self.keys, self.limited, self.total, self.loose = keys, limit != "", total, loose
        # The rows that LIMIT and OFFSET count, as SQL.
        self.counts = limit.partition(" LIMIT ")[2].replace(" OFFSET ", ", ")


class Reference:
    """An item of FROM, under an alias."""

    def __init__(self, alias, columns, name, mixed=False):
        self.alias, self.columns, self.name, self.mixed = alias, columns, name, mixed
        self.text, self.terms, self.lateral = "", [], False
        self.asked = False  # Its arguments, or those of its ordinary table, are conditions
        self.given = False  # It is a table made by CREATE VIRTUAL TABLE
        self.sure = False  # Its columns are arguments: of an outer join they would be NULL, which is none
        self.null = []  # Arguments that are NULL: of those SQLite knows that they equal nothing

    def column(self, name):
        return next((c for c in self.columns if c.name == name), None)

    def sql(self, column):
        return f'{self.alias}."{column.name}"'

    def named(self, name):
        return f'{self.alias}."{name}"'


class Generator:
    def __init__(self, collection, seed, native):
        self.tables, self.natives = collection.tables, collection.native
        self.named, self.parameter = collection.named, collection.parameter
        self.random = random.Random(seed)
        self.native = native
        self.aliases = 0
        self.calls = {}
        # `x IN ()` is false. Of such an ON SQLite drops the rest, arguments included.
        self.least = 0
        self.united_parts = False

    # --------------------------------------------------------------------------------------- chance

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, choices):
        return choices[int(self.random.random() * len(choices))]

    def turned(self, terms):
        """The same terms from another one on: a single choice, however many this form has."""
        start = int(self.random.random() * 60)
        return terms[start % len(terms):] + terms[:start % len(terms)] if terms else terms

    def some(self, choices, least, most):
        return [self.pick(choices) for _ in range(self.random.randint(least, most))]

    # ------------------------------------------------------------------------------ what is in FROM

    def alias(self):
        self.aliases += 1
        return f"t{self.aliases}"

    def ordinary(self, name=None):
        name = name or self.pick([n for n in self.natives if not (MIXES_COLLATIONS and n == "folded")])
        reference = Reference(self.alias(), self.natives[name], name)
        reference.text = f"{name} AS {reference.alias}"
        return reference

    def call_of(self, table):
        """The arguments of one call of a table."""
        if table.name not in self.calls:
            self.calls[table.name] = list(table.copies)
        return self.pick(self.calls[table.name])

    def reference(self, table, earlier, given_only=False):
        """A table of the extension under one of the forms in which it may be asked."""
        if given_only or (table.given and self.chance(15)):
            return self.given(table)
        if not table.required:
            return self.positional(table)
        forms = [self.positional] * 6 + [self.conditions] * 3 + [self.either]
        forms += [self.several] if IN_AT_ONCE else []
        form = self.pick(forms)
        if earlier and self.chance(60):
            lateral = self.lateral(table, earlier)
            if lateral:
                return lateral
        return form(table)

    def new(self, table, arguments=(None,)):
        mixed = bool(arguments and arguments[0] and "mixed" in arguments[0])
        return Reference(self.alias(), table.columns, table.name, mixed)

    def given(self, table):
        name = self.pick(list(table.given))
        arguments = list(table.copies)[table.given[name]]
        reference = self.new(table, arguments)
        copy = table.copies[arguments]
        reference.given = True
        reference.text = f"{copy if self.native else 'temp.' + name} AS {reference.alias}"
        return reference

    def positional(self, table):
        arguments = self.call_of(table)
        reference = self.new(table, arguments)
        given = [a or "NULL" for a in arguments]
        nulls = self.random.randint(0, len(table.optional))
        while given and given[-1] == "NULL" and len(given) > len(table.required) + nulls:
            given.pop()
        if self.chance(30) and given:
            given[0] = self.named[given[0]]
        reference.null = [n for n, value in zip(table.arguments, given) if value == "NULL"]
        call = f"{table.name}({', '.join(given)})" if given else table.name
        reference.text = f"{table.copies[arguments] if self.native else call} AS {reference.alias}"
        return reference

    def all_of(self, table, reference):
        reference.asked = True
        reference.text = f"{table.every if self.native else table.name} AS {reference.alias}"

    def default(self, table, reference, argument):
        """An argument that is not given: the ordinary table has rows for others, too."""
        if self.native:
            reference.terms.append(f"{reference.named(argument)} IS {table.defaults[argument]}")

    def written(self, table):
        """Calls without a subquery: SQLite forgets `source = (SELECT ...)` when it takes the sides
        of another OR one by one (tag-20220303a in where.c)."""
        return [a for a in table.copies if not a[0].startswith("(")]

    def conditions(self, table):
        """Arguments as conditions on hidden columns."""
        arguments = self.pick(self.written(table))
        reference = self.new(table, arguments)
        self.all_of(table, reference)
        for name, value in zip(table.arguments, arguments):
            column = reference.named(name)
            if value is None:
                self.default(table, reference, name)
            else:
                reference.terms.append(self.pick([f"{column} = {value}", f"{value} = {column}"]))
        reference.terms = self.turned(reference.terms)
        return reference

    def safe_calls(self, table):
        return [a for a in table.copies if not (a and a[0] and "mixed" in a[0])]

    def several(self, table):
        """IN with several values of one argument."""
        arguments = self.pick([a for a in self.safe_calls(table) if a in self.written(table)])
        place = self.random.randrange(len(table.arguments))
        same = [
            a[place] for a in self.safe_calls(table) if a in self.written(table)
            if a[:place] + a[place + 1:] == arguments[:place] + arguments[place + 1:] and a[place]
        ]
        reference = self.new(table, arguments)
        self.all_of(table, reference)
        values = self.some(same, 1, 4) if same else []
        if table.arguments[place] == "on_error":
            values.append("'abort'")
        if table.arguments[place] == "level":
            values.append("'quick'")
        for i, (name, value) in enumerate(zip(table.arguments, arguments)):
            column = reference.named(name)
            if i == place and values:
                reference.terms.append(f"{column} IN ({', '.join(values)})")
            elif value is None:
                self.default(table, reference, name)
            else:
                reference.terms.append(f"{column} = {value}")
        return reference

    def either(self, table):
        """Arguments that are one thing or another."""
        reference = self.new(table)
        self.all_of(table, reference)
        sides = []
        for _ in range(self.random.randint(2, 3)):
            arguments = self.pick(self.safe_calls(table))
            source = self.named[arguments[0]]  # A subquery here: see written()
            given = [source if arguments[0].startswith("(") else arguments[0], *arguments[1:]]
            terms = [f"{reference.named(n)} = {a}" for n, a in zip(table.required, given)]
            if self.chance(30):
                terms.append(self.leaf_simple(reference))
            sides.append(" AND ".join(terms))
        reference.terms.append("((" + ") OR (".join(sides) + "))")
        for name in table.optional:
            self.default(table, reference, name)
        return reference

    def lateral(self, table, earlier):
        """Arguments from what stands before; None if nothing there may be one."""
        if not table.required:
            return None
        found = []
        for other in earlier:
            found += [(other, source, object)
                      for source, object in (("src", "obj"), ("path", "object"))
                      if other.column(source) and other.column(object) and other.name in (
                          "pairs", "zt_objects", "zt_stats", "zt_components")]
            if "object" not in table.required:
                found += [
                    (other, c, None) for c in ("src", "path", "source")
                    if other.column(c) and (other.name in (
                        "s", "pairs") or other.name.startswith("zt_")) and other.name != "zt_rules"
                ]
        found = [
            f for f in found if not f[0].mixed or ("object" not in table.required and (
                "on_error" in table.optional or not table.optional or table.name == "zt_check"))
        ]
        if "object" in table.required:
            found = [f for f in found if not f[0].mixed]
        if not found:
            return None
        other, source, object = self.pick(found)
        reference = self.new(table)
        reference.mixed, reference.lateral = other.mixed, True
        values = {"source": other.named(source)}
        if "object" in table.required:
            values["object"] = other.named(object)
        if "on_error" in table.optional and (other.mixed or self.chance(30)):
            values["on_error"] = "'skip'"
        if not other.mixed:
            self.choose(table, earlier, values)
        return self.called(table, reference, values)

    def chosen(self, table, earlier):
        """A source that is known, and the other arguments from what stands before."""
        arguments = self.pick([a for a in self.safe_calls(table) if a in self.written(table)])
        values = dict(zip(table.required, arguments))
        self.choose(table, earlier, values)
        return self.called(table, self.new(table, arguments), values)

    def choose(self, table, earlier, values):
        """Optional arguments that are columns of the table choices."""
        for choices in [r for r in earlier if r.sure][:1]:
            for name in table.optional:
                if self.chance(70):
                    values[name] = choices.named(name)

    def called(self, table, reference, values):
        """With these arguments, positional or as conditions."""
        as_terms = self.chance(30)
        self.all_of(table, reference)
        for name in table.arguments:
            if name not in values:
                self.default(table, reference, name)
            elif self.native or as_terms:
                reference.terms.append(f"{reference.named(name)} = {values[name]}")
        if not self.native and not as_terms:
            given = [values.get(name, "NULL") for name in table.arguments]
            while given[-1] == "NULL":
                given.pop()
            reference.text = f"{table.name}({', '.join(given)}) AS {reference.alias}"
        return reference

    def from_clause(self, table):
        """(text, conditions for WHERE, references)."""
        if self.chance(12):
            return self.chain(table)
        others = self.pick([0, 0, 0, 0, 1, 1, 1, 2])
        place = self.random.randint(0, others)
        outer = OUTER_JOINS and others and table.given and self.chance(15) and not self.united_parts
        references, text, where = [], "", []
        for i in range(others + 1):
            if i == place:
                reference = self.reference(table, references, outer)
            elif self.chance(60):
                reference = self.ordinary()
            else:
                other = self.tables[self.pick(
                    [t for t in self.tables if self.tables[t].given or not outer])]
                reference = self.reference(other, references, outer)
            if i == 0:
                text, where = reference.text, reference.terms
            else:
                joined, more = self.join(references, reference, outer)
                text += joined
                where = where + more
            references.append(reference)
        return text, where, references

    def chain(self, table):
        """Each table's source comes from one before it, the last one's too."""
        references = [self.ordinary(self.pick(["s", "pairs"])) if self.chance(50) else
                      self.positional(self.tables[self.pick(["zt_files", "zt_objects"])])]
        text, where = references[0].text, []
        if self.chance(40):
            references.append(self.ordinary("choices"))
            references[-1].sure = True
            text += f" JOIN {references[-1].text}"
        linked = ["zt_files", "zt_objects", "zt_components", "zt_attributes"]
        names = self.some(linked, 0, 2) + [table.name]
        for name in names:
            reference = self.lateral(self.tables[name], references)
            if self.tables[name].required and self.chance(30):
                reference = self.chosen(self.tables[name], references)
            elif reference is None:
                reference = self.reference(self.tables[name], [])
            if self.chance(75):
                joined, more = f" {self.pick(['JOIN', 'JOIN', 'CROSS JOIN'])} {reference.text}", []
                more = reference.terms + ([self.link(references, reference)] if self.chance(40) else [])
            else:
                joined, more = self.join(references, reference, False)
            text, where = text + joined, where + more
            references.append(reference)
        if self.chance(50):
            where.append(self.exists(references, *self.exists_about(references)))
        return text, where, references

    def exists_about(self, references):
        reference, column = self.pick(
            [(r, c) for r, c in self.weighted(references) if not c.argument])
        return reference, column, reference.sql(column)

    def join(self, references, reference, outer):
        kind = self.pick(["JOIN", "LEFT JOIN", "LEFT JOIN", "CROSS JOIN", ",", "JOIN"])
        if outer and self.chance(70):
            kind = self.pick(["RIGHT JOIN", "FULL JOIN"])
        using = self.using(references, reference)
        if using and kind != "," and not (kind == "LEFT JOIN"
                                          and reference.asked) and self.chance(40):
            return f" {kind} {reference.text} USING ({', '.join(using)})", reference.terms
        link = [self.link(references, reference)] if self.chance(85) else []
        link += self.pin(references, reference) if self.chance(15) else []
        if self.chance(40):
            self.least = 1
            link.append(self.condition(references + [reference], 1))
            self.least = 0
        if kind == ",":
            return f", {reference.text}", reference.terms + link
        if kind in ("JOIN", "CROSS JOIN") and self.chance(50):
            return f" {kind} {reference.text}", reference.terms + link
        terms = self.turned(reference.terms + link)
        return f" {kind} {reference.text} ON {' AND '.join(terms) or '1'}", []

    def using(self, references, reference):
        """Names that the last reference has in common with exactly one before."""
        common = []
        for name in ("path", "object"):
            have = [r for r in references if r.column(name)]   # Versions differ in what is hidden
            if reference.column(name) and not reference.column(name).argument and len(have) == 1 and (
                    not have[0].column(name).argument):
                common.append(name)
        if len(common) == 2 and self.chance(30):
            common.pop()
        return common

    def link(self, references, reference):
        """A condition between the last reference and one before."""
        mine = self.pick(self.weighted([reference]))
        other = self.pick(self.weighted(references))
        if self.chance(60):
            keys = [c for c in reference.columns if c.name in KEYS and not c.argument]
            mine = (reference, self.pick(keys)) if keys else mine
        same = [(r, c) for r in references for c in r.columns
                if c.name == mine[1].name and not c.argument]
        if same and self.chance(60):
            other = self.pick(same)
        left, right = mine[0].sql(mine[1]), other[0].sql(other[1])
        operator = "=" if self.chance(75) else self.pick(INEQUALITIES)
        if mine[1].argument or other[1].argument:
            null = mine[1].name in mine[0].null or other[1].name in other[0].null
            operator = "IS NOT" if null else "IS"
        if operator in ("=", "IS") and self.chance(50):
            left, right = right, left
        return f"{left} {operator} {right}"

    def pin(self, references, reference):
        """A condition that names one row of the last reference, if it is text; LIKE of one before."""
        columns = [c for c in reference.columns if c.name in KEYS and not c.argument]
        if not columns:
            return []
        other, of = self.pick([(r, c) for r in references for c in r.columns if not c.argument])
        terms = [f"{reference.sql(c)} = {self.constant(c)}" for c in columns[:-1]]
        if self.chance(40):
            before = self.pick(references)
            paths = [c for c in before.columns if c.name in KEYS and not c.argument
                     ] or before.columns[:1]
            terms.append(self.like(references, before, paths[0], before.sql(paths[0])))
        return terms + [f"{reference.sql(columns[-1])} = {other.sql(of)}"]

    # ----------------------------------------------------------------------------------- conditions

    def weighted(self, references):
        """(reference, column) of each column, those that matter several times."""
        return [(r, c) for r in references for c in r.columns if c.name not in ("data", "stored")
                for _ in range(5 if c.name in KEYS and not c.argument else 1)]

    def constant(self, column):
        if column.name == "path" and self.chance(2):
            return LONG
        value = self.pick(column.samples) if self.chance(70) else self.pick(ODD)
        if self.chance(15):
            return self.pick([self.parameter(value), self.parameter(value), f"(SELECT {value})"])
        return value

    def condition(self, references, depth):
        if depth == 0 or self.chance(40):
            leaf = self.leaf(references)
            return f"NOT {leaf}" if self.chance(8) else leaf
        operator = self.pick([" AND ", " OR ", " OR "])
        text = operator.join(
            self.condition(references, depth - 1) for _ in range(self.random.randint(2, 3)))
        return f"NOT ({text})" if self.chance(10) else f"({text})"

    def leaf(self, references):
        reference, column = self.pick(self.weighted(references))
        sql = reference.sql(column)
        if column.argument:
            return self.on_argument(reference, column, sql)
        kinds = [self.comparison] * 6 + [self.list] * 3 + [
            self.selection, self.like, self.like, self.null, self.between, self.between,
            self.columns, self.columns, self.expression, self.rows, self.exists, self.exists,
            self.distinct_from, self.truth, self.in_columns, self.collated, self.row_list,
            self.likely, self.of_subquery
        ]
        return self.pick(kinds)(references, reference, column, sql)

    def on_argument(self, reference, column, sql):
        """Equality would be another argument, which could name what is not there."""
        if self.chance(40):
            return f"{sql} {self.pick(INEQUALITIES)} {self.constant(column)}"
        if self.chance(40):
            return f"{sql} {self.pick(['LIKE', 'GLOB', 'NOT LIKE'])} {self.pick(PATTERNS)}"
        if self.chance(50):
            return f"{sql} NOT IN ({', '.join(self.constant(column) for _ in range(2))})"
        if column.name == "source" and not reference.given and not reference.mixed and (
                reference.name not in ("zt_elements", "zt_rows")):
            return self.pick([
                f"{sql} = {reference.named('path')}" if reference.column("path") else "1",
                f"{sql} = 'd'", f"{sql} IN ('d', '01', '1.0')", f"{sql} = '01'"
            ])
        return f"{sql} BETWEEN {self.constant(column)} AND {self.constant(column)}"

    def comparison(self, references, reference, column, sql):
        constant = self.constant(column)
        operator = self.pick(COMPARISONS)
        collation = f" COLLATE {self.pick(COLLATIONS)}" if self.chance(12) else ""
        if self.chance(15):
            return f"{constant} {operator} {sql}{collation}"
        return f"{sql}{collation} {operator} {constant}"

    def list(self, references, reference, column, sql):
        values = [self.constant(column) for _ in range(self.random.randint(self.least, 4))]
        return f"{sql}{self.pick([' NOT', '', ''])} IN ({', '.join(values)})"

    def inner(self):
        """A reference for a subquery."""
        if self.chance(60):
            return self.ordinary()
        names = [
            t for t in self.tables
            if t in ("zt_files", "zt_objects", "zt_components", "zt_elements")
        ]
        return self.positional(self.tables[self.pick(names)])

    def selection(self, references, reference, column, sql):
        inner = self.inner()
        of = self.pick(inner.columns)
        if of.name in ("data", "stored") or not (IN_AT_ONCE or column.type == of.type):
            return f"{sql} IS NOT NULL"
        where = f" WHERE {self.condition([inner], 1)}" if self.chance(30) else ""
        negated = self.pick(["", "", "", " NOT"])
        return f"{sql}{negated} IN (SELECT {inner.sql(of)} FROM {inner.text}{where})"

    def exists(self, references, reference, column, sql):
        """A correlated subquery."""
        kind = self.pick(["EXISTS", "EXISTS", "NOT EXISTS", "count", "in"])
        table = self.tables[self.pick([t for t in self.tables if t != "zt_check"])]
        inner = self.reference(table, references, False) if self.chance(60) else self.ordinary()
        terms = inner.terms + [self.link(references, inner)]
        if self.chance(30):
            terms.append(self.link(references, inner))
        if self.chance(30):
            terms.append(self.leaf_simple(inner))
        body = f"FROM {inner.text} WHERE {' AND '.join(terms)}"
        if kind == "count":
            return f"(SELECT count(*) {body}) {self.pick(['>', '=', '<'])} {self.pick('0123')}"
        if kind == "in":
            names = [c for c in inner.columns if c.type == "TEXT" and not c.argument
                     ] or inner.columns[:1]
            name = self.pick(names)
            if IN_AT_ONCE or column.type == name.type:
                return f"{sql} IN (SELECT {inner.sql(name)} {body})"
            kind = "EXISTS"
        if EXISTS_ONCE:
            return f"(SELECT count(*) {body}) {'=' if kind == 'NOT EXISTS' else '>'} 0"
        return f"{kind} (SELECT 1 {body})"

    def leaf_simple(self, reference):
        """No COLLATE: SQLite 3.54 then does not take the sides of an OR one by one, of json_each
        neither."""
        column = self.pick([c for c in reference.columns if not c.argument])
        return f"{reference.sql(column)} {self.pick(COMPARISONS)} {self.constant(column)}"

    def like(self, references, reference, column, sql):
        """Not of a rowid as such: SQLite 3.40 looks it up by the text, and an outer join loses rows."""
        sql = f"+{sql}" if column.name == "rowid" else sql
        pattern = self.pick(PATTERNS)
        texts = [s for s in column.samples if s.startswith("'") and len(s) > 4]
        if texts and self.chance(60):
            text = self.pick(texts)[1:-1]
            cut = self.random.randint(1, len(text) - 1)
            pattern = self.pick([
                f"'{text[:cut].rstrip(chr(39))}%'", f"'%{text[cut:].lstrip(chr(39))}'", f"'{text}'",
                f"'{text[:cut].rstrip(chr(39))}*'", f"'{text.upper()}'"
            ])
        operator = self.pick(["LIKE", "LIKE", "GLOB", "NOT LIKE", "NOT GLOB"])
        escape = f" ESCAPE '{self.pick('a/0%')}'" if "LIKE" in operator and self.chance(15) else ""
        return f"{sql} {operator} {pattern}{escape}"

    def null(self, references, reference, column, sql):
        return f"{sql} {self.pick(['IS NULL', 'IS NOT NULL', 'NOTNULL', 'ISNULL'])}"

    def between(self, references, reference, column, sql):
        negated = self.pick(["", "", " NOT"])
        low, high = self.constant(column), self.constant(column)
        return f"{sql}{negated} BETWEEN {low} AND {high}"

    def columns(self, references, reference, column, sql):
        other, of = self.pick([(r, c) for r, c in self.weighted(references) if not c.argument])
        return f"{sql} {self.pick(COMPARISONS)} {other.sql(of)}"

    def expression(self, references, reference, column, sql):
        return self.pick([
            f"length({sql}) > {self.pick('012345')}",
            f"typeof({sql}) = '{self.pick(['text', 'null', 'integer', 'real'])}'",
            f"+{sql} = {self.constant(column)}", f"{sql} || '' = {self.constant(column)}",
            f"CAST({sql} AS INTEGER) = {self.pick(ODD)}",
            f"coalesce({sql}, 0) <> {self.constant(column)}",
            f"{sql} = lower({self.constant(column)})"
        ])

    def rows(self, references, reference, column, sql):
        """Two columns at once."""
        two = self.pick([c for c in reference.columns if not c.argument])
        pair = f"({sql}, {reference.sql(two)})"
        if self.chance(50):
            operator = self.pick(["=", "<", ">=", "<>", "IS"])
            return f"{pair} {operator} ({self.constant(column)}, {self.constant(two)})"
        if column.type != "TEXT" or two.type != "TEXT":
            return f"{pair} = ({self.constant(column)}, {self.constant(two)})"
        return f"{pair} IN (SELECT path, object FROM names)"

    def distinct_from(self, references, reference, column, sql):
        if not DISTINCT_FROM:
            return self.comparison(references, reference, column, sql)
        return f"{sql} IS {self.pick(['NOT ', ''])}DISTINCT FROM {self.constant(column)}"

    def truth(self, references, reference, column, sql):
        """A condition as a value."""
        operator = self.pick(["IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE", "IS NULL", "= 1"])
        if self.chance(30):
            return f"CASE WHEN {self.comparison(references, reference, column, sql)} THEN 1 END {operator}"
        return f"({self.comparison(references, reference, column, sql)}) {operator}"

    def in_columns(self, references, reference, column, sql):
        """One of several, of which some are other columns."""
        same = [(r, c) for r, c in self.weighted(references) if c.type == column.type and not c.argument]
        values = [r.sql(c) for r, c in self.some(same, 1, 2)] if same else []
        values = self.turned(values + [self.constant(column)])
        return f"{sql}{self.pick([' NOT', '', ''])} IN ({', '.join(values)})"

    def collated(self, references, reference, column, sql):
        collation = f"COLLATE {self.pick(COLLATIONS)}"
        low, high = self.constant(column), self.constant(column)
        return self.pick([
            f"{sql} {collation} IN ({low}, {high})", f"{sql} {collation} BETWEEN {low} AND {high}",
            f"{low} {collation} = {sql}", f"{sql} = {low} {collation}",
            f"{sql} {collation} LIKE {self.pick(PATTERNS)}", f"{low} BETWEEN {sql} AND {high} {collation}"
        ])

    def row_list(self, references, reference, column, sql):
        """Two columns, one of several pairs."""
        two = self.pick([c for c in reference.columns if not c.argument and c.type == column.type]
                        or [column])
        pairs = self.some([f"({self.constant(column)}, {self.constant(two)})" for _ in range(3)], 1, 3)
        pairs = pairs if column.type == "TEXT" else pairs[:1]
        return f"({sql}, {reference.sql(two)}) IN (VALUES {', '.join(pairs)})"

    def likely(self, references, reference, column, sql):
        return f"{self.pick(['likely', 'unlikely'])}({self.comparison(references, reference, column, sql)})"

    def of_subquery(self, references, reference, column, sql):
        """Equal to the least or greatest of a table, which may depend on the row."""
        inner = self.inner()
        of = [c for c in inner.columns if c.type == column.type and c.name not in ("data", "stored")]
        if not of:
            return f"{sql} IS NOT NULL"
        where = f" WHERE {self.link(references, inner)}" if self.chance(40) else ""
        value = f"{self.pick(['min', 'max'])}({inner.sql(self.pick(of))})"
        return f"{sql} = (SELECT {value} FROM {inner.text}{where})"

    # -------------------------------------------------------------------------------------- queries

    def query(self, table):
        table = self.tables[table]
        return self.pick([self.plain] * 8 +
                         [self.grouped, self.windowed, self.compound, self.nested, self.scalar,
                          self.common, self.recursive, self.united, self.parenthesized, self.natural])(
                             table)

    def where(self, terms, references):
        if self.chance(65):
            terms = self.turned(terms + [self.condition(references, 2)])
        return f" WHERE {' AND '.join(terms)}" if terms else ""

    def outputs(self, references, most=4):
        """Columns to give. SQLite may drop a LEFT JOIN of which nothing is asked."""
        references = references[:1] if self.chance(15) else references
        return self.some([(r, c) for r, c in self.weighted(references)], 1, most)

    def body(self, table):
        text, terms, references = self.from_clause(table)
        return f" FROM {text}", terms, references

    def limit(self):
        limit = self.pick(["0", "1", "2", "3", "5", "100", "-1", "1 + 1", "(SELECT 2)", self.parameter("2")])
        offset = self.pick(["", "", "0", "1", "2", "7", "1000000000", "-1", "1 + 1", self.parameter("1")])
        return f" LIMIT {limit}" + (f" OFFSET {offset}" if offset else "")

    def plain(self, table):
        source, terms, references = self.body(table)
        outputs = self.outputs(references)
        columns = ", ".join(r.sql(c) for r, c in outputs)
        distinct = self.chance(20)
        sql = f"SELECT {'DISTINCT ' if distinct else ''}{columns}"
        sql += source + self.where(terms, references)
        total = self.chance(25)
        keys, order = self.order(outputs, distinct, total)
        limit = self.limit() if self.chance(30) else ""
        return Query(sql + order, keys, limit, total, distinct or total)

    def order(self, outputs, distinct, total):
        """ORDER BY some columns that are given; total: then all, so that equal rows are alike."""
        if not total and self.chance(45):
            return [], ""
        keys, terms = [], []
        for place, (reference, column) in list(enumerate(outputs))[:self.random.randint(1, 3)]:
            collation = self.pick(COLLATIONS) if self.chance(8) and not distinct else ""
            nulls = self.pick([" NULLS FIRST", " NULLS LAST"]) if self.chance(5) else ""
            terms.append(
                reference.sql(column) + (f" COLLATE {collation}" if collation else "") +
                self.pick(["", "", "", " DESC", " ASC"]) + nulls)
            keys.append((place, collation))
        if total:
            terms += [str(i + 1) for i in range(len(outputs))]
        return keys, f" ORDER BY {', '.join(terms)}"

    def grouped(self, table):
        source, terms, references = self.body(table)
        outputs = self.outputs(references, 2)
        columns = ", ".join(r.sql(c) for r, c in outputs)
        of, column = self.pick(self.weighted(references))
        of = of.named("rowid") if self.chance(20) else of.sql(column)
        counts = ", ".join(
            self.some(
                ["count(*)", f"count({of})", f"min({of})", f"max({of})", f"count(DISTINCT {of})"],
                1, 3))
        having = f" HAVING count(*) {self.pick(['>', '=', '<'])} {self.pick('123')}" if self.chance(
            20) else ""
        down = self.pick([" DESC", "", ""])
        order = f" ORDER BY {columns}{down}" if self.chance(40) else ""
        if self.chance(20):
            return Query(f"SELECT {counts}{source}{self.where(terms, references)}", loose=True)
        sql = f"SELECT {columns}, {counts}{source}{self.where(terms, references)}"
        sql += f" GROUP BY {columns}{having}{order}"
        keys = [(i, "") for i in range(len(outputs))] if order else []
        return Query(sql, keys, self.limit() if order and self.chance(30) else "", loose=True)

    def windowed(self, table):
        source, terms, references = self.body(table)
        outputs = [r.sql(c) for r, c in self.outputs(references, 3)]
        columns = ", ".join(outputs)
        first = outputs[0]
        window = self.pick([
            f"row_number() OVER (ORDER BY {columns})", f"count(*) OVER (PARTITION BY {first})",
            f"lag({first}) OVER (ORDER BY {columns})", f"rank() OVER (ORDER BY {first} DESC)",
            f"row_number() OVER (PARTITION BY {first} ORDER BY {columns})",
            f"max({first}) OVER (ORDER BY {columns})",
            f"count(*) OVER (PARTITION BY {first} ORDER BY {columns} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
            f"min({first}) OVER (ORDER BY {first} DESC GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            f"count({first}) FILTER (WHERE {first} > {self.constant(references[0].columns[0])}) OVER ()"
        ])
        return Query(f"SELECT {columns}, {window}{source}{self.where(terms, references)}",
                     loose=True)

    def compound(self, table):
        width = self.random.randint(1, 2)
        parts = []
        for _ in range(2):
            source, terms, references = self.body(table)
            named = [(r, c) for r, c in self.weighted(references) if c.type == "TEXT"]
            outputs = [self.pick(named or self.weighted(references)) for _ in range(width)]
            columns = ", ".join(r.sql(c) for r, c in outputs)
            parts.append(f"SELECT {columns}{source}{self.where(terms, references)}")
        operator = self.pick([" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "])
        order = " ORDER BY 1" if self.chance(50) else ""
        keys = [(0, "")] if order else []
        return Query(operator.join(parts) + order,
                     keys,
                     self.limit() if order and self.chance(30) else "",
                     loose=True)

    def nested(self, table):
        """A subquery in FROM, with LIMIT and OFFSET, and conditions and joins outside."""
        source, terms, references = self.body(table)
        outputs = [(r, c) for r, c in self.outputs(references, 9) if not c.argument][:3]
        outputs = outputs or [(references[0], references[0].columns[0])]
        columns = ", ".join(f"{r.sql(c)} AS c{i}" for i, (r, c) in enumerate(outputs))
        places = ", ".join(str(i + 1) for i in range(len(outputs)))
        limit = f" ORDER BY {places}{self.limit()}" if self.chance(60) else ""
        inner = f"(SELECT {columns}{source}{self.where(terms, references)}{limit}) AS n"
        where = ""
        if self.chance(60):
            where = f" WHERE n.c0 {self.pick(COMPARISONS)} {self.constant(outputs[0][1])}"
        if self.chance(30):
            return Query(f"SELECT count(*), count(DISTINCT n.c0) FROM {inner}{where}", loose=True)
        if self.chance(40):
            other = self.ordinary()
            of = other.sql(other.columns[0])
            return Query(
                f"SELECT n.c0, {of} FROM {inner} {self.pick(['JOIN', 'LEFT JOIN'])} {other.text}"
                f" ON n.c0 = {of}{where}",
                loose=True)
        return Query(f"SELECT * FROM {inner}{where} ORDER BY 1", [(0, "")], loose=True)

    def scalar(self, table):
        """A correlated subquery among what is selected."""
        source, terms, references = self.body(table)
        outputs = ", ".join(r.sql(c) for r, c in self.outputs(references, 2))
        inner = self.reference(table, references) if self.chance(70) else self.ordinary()
        column = inner.sql(self.pick([c for c in inner.columns
                                      if c.name not in ("data", "stored")]))
        terms_inner = inner.terms + ([self.link(references, inner)] if self.chance(70) else [])
        where = f" WHERE {' AND '.join(terms_inner)}" if terms_inner else ""
        what = self.pick(
            ["count(*)", f"max({column})", f"min({column})", f"count(DISTINCT {column})"])
        return Query(
            f"SELECT {outputs}, (SELECT {what} FROM {inner.text}{where}){source}"
            f"{self.where(terms, references)}",
            loose=True)


    def common(self, table):
        """A common table expression, asked once or twice."""
        source, terms, references = self.body(table)
        outputs = [(r, c) for r, c in self.outputs(references, 9) if not c.argument][:3]
        outputs = outputs or [(references[0], references[0].columns[0])]
        columns = ", ".join(f"{r.sql(c)} AS c{i}" for i, (r, c) in enumerate(outputs))
        how = self.pick(["", "MATERIALIZED ", "NOT MATERIALIZED "]) if MATERIALIZED else ""
        first = f"WITH w AS {how}(SELECT {columns}{source}{self.where(terms, references)})"
        where = f" WHERE a.c0 {self.pick(COMPARISONS)} {self.constant(outputs[0][1])}" if self.chance(40) else ""
        if self.chance(30):
            return Query(f"{first} SELECT a.* FROM w AS a{where}", loose=True)
        if self.chance(50):
            kind = self.pick(["JOIN", "LEFT JOIN"])
            return Query(f"{first} SELECT a.c0, count(*) FROM w AS a {kind} w AS b ON b.c0 = a.c0{where} GROUP BY 1",
                         loose=True)
        return Query(f"{first} SELECT a.c0, (SELECT count(*) FROM w AS b WHERE b.c0 = a.c0) FROM w AS a{where}",
                     loose=True)

    def recursive(self, table):
        """Each step looks rows up by a column of the step before."""
        source, terms, references = self.body(table)
        reference, column = self.pick([(r, c) for r, c in self.weighted(references) if not c.argument])
        step = self.positional(self.pick([table, table, *self.tables.values()]))
        of = self.pick([c for c in step.columns if not c.argument and c.type == column.type] or step.columns[:1])
        by = self.pick([c for c in step.columns if not c.argument])
        order = self.pick(["", "", " ORDER BY 2, 1", " ORDER BY 2 DESC, 1"])
        return Query(
            f"WITH RECURSIVE r(n, k) AS (SELECT 0, {reference.sql(column)}{source}{self.where(terms, references)}"
            f" UNION SELECT n + 1, {step.sql(of)} FROM r JOIN {step.text} ON {step.sql(by)} {self.pick(COMPARISONS)} k"
            f" WHERE n < {self.pick('1112')}{order}) SELECT n, k FROM r", loose=True)

    def united(self, table):
        """Rows of several queries in FROM, with a condition outside."""
        parts, column, self.united_parts = [], None, FORGETS_PARTS
        for _ in range(2):
            source, terms, references = self.body(table)
            named = [(r, c) for r, c in self.weighted(references) if c.type == "TEXT" and not c.argument]
            if not named:
                return self.plain(table)
            reference, column = self.pick(named)
            parts.append(f"SELECT {reference.sql(column)} AS c0, {len(parts)} AS c1{source}{self.where(terms, references)}")
        inner = f"({self.pick([' UNION ALL ', ' UNION ALL ', ' UNION ']).join(parts)}) AS n"
        terms = self.some([f"n.c0 {self.pick(COMPARISONS)} {self.constant(column)}",
                           self.like(None, None, column, "n.c0"), "n.c1 = 1"], 1, 2)
        if self.chance(40):
            other = self.ordinary("names")
            return Query(f"SELECT n.c0, n.c1, {other.sql(other.columns[1])} FROM {inner} "
                         f"{self.pick(['JOIN', 'LEFT JOIN'])} {other.text} ON n.c0 = {other.sql(other.columns[0])}"
                         f" WHERE {' AND '.join(terms)}", loose=True)
        limit = f" ORDER BY 1, 2{self.limit()}" if self.chance(30) else ""
        return Query(f"SELECT n.c0, n.c1 FROM {inner} WHERE {' AND '.join(terms)}{limit}", loose=True)

    def visible(self, reference):
        reference.columns = [c for c in reference.columns if not (c.hidden or c.argument)]
        return reference

    def parenthesized(self, table):
        """An outer join whose right side is a join."""
        first = self.ordinary()
        inner = [self.visible(self.positional(table))]
        inner.append(self.ordinary("names") if self.chance(50) else
                     self.visible(self.positional(self.pick(list(self.tables.values())))))
        for reference in [first, inner[1]]:
            reference.columns = [c for c in reference.columns if c.name != "rowid"]
        inner = self.turned(inner)
        kind, kinds = self.pick(["LEFT JOIN", "LEFT JOIN", "JOIN"]), self.pick(["LEFT JOIN", "JOIN"])
        text = (f" FROM {first.text} {kind} ({inner[0].text} {kinds} {inner[1].text} ON {self.link(inner[:1], inner[1])})"
                f" ON {self.link([first], self.pick(inner))}")
        references = [first, *inner]
        columns = ", ".join(r.sql(c) for r, c in self.outputs(references))
        where = ""
        if self.chance(50):
            where = f" WHERE {self.leaf_simple(self.pick(references))}"
        return Query(f"SELECT {columns}{text}{where}", loose=True)

    def natural(self, table):
        """Tables that have columns of the same name."""
        other = self.ordinary(self.pick(["names", "folded"]))
        reference = self.positional(table)
        common = [reference.column(c.name) for c in other.columns if c.name != "rowid"]
        if not common[0] or any(c and (c.hidden or c.argument) for c in common):
            return self.plain(table)
        kind = self.pick(["NATURAL JOIN", "NATURAL LEFT JOIN"])
        two = [other, reference]
        if kind == "NATURAL JOIN":
            two = self.turned(two)
        columns = self.pick(["path", two[0].sql(two[0].columns[0]), two[1].sql(two[1].columns[0])])
        where = f" WHERE {self.leaf_simple(reference)}" if self.chance(40) else ""
        return Query(f"SELECT path, {columns} FROM {two[0].text} {kind} {two[1].text}{where}", loose=True)


def pair(collection, table, seed):
    """The same query of the extension's tables and of ordinary ones."""
    generators = [Generator(collection, f"{table} {seed}", native) for native in (False, True)]
    queries = [generator.query(table) for generator in generators]
    assert generators[0].random.random() == generators[1].random.random(
    )  # As many choices for both
    return queries


# ---------------------------------------------------------------------------------------- comparing


def marked(row, loose):
    """A row with the types of its values. loose: SQLite may give either of two equal numbers."""
    return tuple((type(v).__name__,
                  v) if not (loose and isinstance(v, float) and v.is_integer()) else ("int", int(v))
                 for v in row)


FOLD = {
    "": lambda v: v, "BINARY": lambda v: v, "RTRIM": lambda v: v.rstrip(" "),
    "NOCASE": lambda v: "".join(c.lower() if c.isascii() else c for c in v)
}


def key(kind, value, collation):
    """A value's sort key: equal numbers have one, as have texts that the collation equates."""
    if kind == "float" and value.is_integer():
        return "int", int(value)
    return kind, FOLD[collation](value) if kind == "str" else value


def order_of(rows, keys):
    return [[key(*row[place], collation) for place, collation in keys] for row in rows]


def difference(query, expected, whole, got):
    """The fault of the rows, or None. `whole`: the rows expected without LIMIT."""
    expected, whole, got = ([marked(row, query.loose) for row in rows]
                            for rows in (expected, whole, got))
    if len(got) != len(expected):
        return f"{len(got)} rows, not {len(expected)}"
    if query.total:
        return None if got == expected else "other rows, or in another order"
    if order_of(got, query.keys) != order_of(expected, query.keys):
        return "another order"
    if Counter(got) - Counter(whole if query.limited else expected):
        return "other rows"
    return None
