"""The statements: every table and function, of every kind of source."""
import json


class Statement:
    """`sql`, its sources' paths; `skips`: unreadable files give no rows; `reports`: the last column of a row is an error."""

    def __init__(self, name, sql, sources, skips=False, reports=False):
        self.name, self.sql, self.sources, self.skips, self.reports = name, sql, sources, skips, reports

    def is_about(self, path, place):
        """May a row of the file at the path be missing for a fault in that place?"""
        above = path == place or path.startswith(place + "/") or ("*" in place and place in self.sources)
        beside = {"b-s.zt": "b.zt", "o.bin": "o.onnx"}.get(place.rpartition("/")[2])
        return above or (beside is not None and path.endswith(beside))


# A row's path comes first.
LISTING = {
    "zt_objects": "path, object, format, dtype, shape, stored_bytes, attributes",
    "zt_components": "path, object, component, offset, length, digest, shard",
    "zt_attributes": "path, object, key, value",
}
BYTES = "path, object, component, data, stored, digest_status, hash"
VALUES = {"zt_elements": ("'w'", "path, position, coords, value"), "zt_rows": ("'w'", "path, row, vector")}
REPORTING = {
    "zt_files": "path, size, mtime, coalesce(birth_ns, 1) > 0, version, objects, components, stored_bytes, decoded_bytes, manifest_bytes, attributes, error",
    "zt_stats": "path, object, elements, zeros, nans, min, max, mean, l2, error",
}
# A finding that the system is to blame for has the text that an error would have.
FINDING = "path, object, component, severity, rule, CASE WHEN message LIKE '%cannot %' THEN 'ztensor: ' || path || ': ' || message END"
FUNCTIONS = ["zt_blob(p, 'w')", "zt_blob(p, 'z', 'data', 4, 8)", "zt_dense(p, 'w')", "zt_dense(p, 'z', 'f16', 1, 1)",
             "zt_json(p, 'w')", "zt_json(p, 'z')", "zt_json(p, 'z', 'f64', 1)", "zt_value(p, 'w', 1, 2)", "zt_value(p, 'z', 1, 1)",
             "zt_hash(p, 'w', 'data', 'xxh3')", "zt_hash(p, 'z', 'data', 'sha256')", "zt_manifest(p)", "zt_content_id(p)",
             "zt_fingerprint(p)"]


def of_tables(source, sources):
    """`source`: SQL of a source."""
    for table, columns in LISTING.items():
        yield Statement(table, f"SELECT {columns} FROM {table}({source})", sources)
        yield Statement(table + " skip", f"SELECT {columns} FROM {table}({source}, 'skip')", sources, skips=True)
    yield Statement("zt_components bytes", f"SELECT {BYTES} FROM zt_components({source})", sources)
    # LIMIT keeps SQLite from asking for a hash twice.
    yield Statement("zt_components hash skip", f"""SELECT * FROM (SELECT path, object, component, hash
                    FROM zt_components({source}, 'skip') LIMIT -1) WHERE hash IS NOT NULL""", sources, skips=True)
    for table, (arguments, columns) in VALUES.items():
        yield Statement(table, f"SELECT {columns} FROM {table}({source}, {arguments})", sources)
    for table, columns in REPORTING.items():
        yield Statement(table, f"SELECT {columns} FROM {table}({source})", sources, reports=True)
    yield Statement("zt_stats skip", f"SELECT {REPORTING['zt_stats']} FROM zt_stats({source}, 'skip')", sources, skips=True,
                    reports=True)
    yield Statement("zt_objects fingerprint", f"SELECT path, object, fingerprint, fingerprint_error FROM zt_objects({source})", sources,
                    reports=True)
    for level in ("quick", "full"):
        yield Statement(f"zt_check {level}", f"SELECT {FINDING} FROM zt_check({source}, '{level}')", sources, reports=True)


def of_functions(path):
    for call in FUNCTIONS:
        yield Statement(call, f"SELECT {call} FROM (SELECT '{path}' AS p)", [path])


def of_file(path):
    yield from of_tables(f"'{path}'", [path])
    yield from of_functions(path)


def of_directory(tree):
    """Directory, pattern, list and path constraint."""
    d = f"{tree}/d"
    yield from of_tables(f"'{d}'", [d])
    yield from of_tables(f"'{d}/**/[ac]*.zt'", [f"{d}/**/[ac]*.zt"])
    for table, columns in LISTING.items():
        yield Statement(table + " of a URI", f"SELECT {columns} FROM {table}('file://{d}/sub')", [f"{d}/sub"])
        yield Statement(table + " path", f"SELECT {columns} FROM {table}('{d}') WHERE path = '{d}/link/f.zt'", [d])
        both = json.dumps([f"{d}/sub", f"{d}/a.zt"])
        yield Statement(table + " JSON", f"SELECT {columns} FROM {table}('{both}')", json.loads(both))
        names = ", ".join(f"('{d}/{name}')" for name in ("a.zt", "sub/c.zt", "g.zt"))
        each = ", ".join("x." + column for column in columns.split(", "))
        yield Statement(table + " list", f"WITH list(p) AS (VALUES {names}) SELECT {each} FROM list JOIN {table}(list.p) AS x",
                        [f"{d}/{name}" for name in ("a.zt", "sub/c.zt", "g.zt")])
