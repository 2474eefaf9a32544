"""A model as the page shows it: one file, or several that belong together."""
from ...pairs import PART, in_words, model_of
from .shared import FILE, one, rows


def whole(connection, file):
    """The model of a file: its number is the one that whole_models has, and `files` are all its files in their order. None if there is no
    such file."""
    numbers = model_of(connection, file)
    if not numbers:
        return None
    files = sorted(rows(connection, FILE.replace("WHERE f.id = ?", f"WHERE f.id IN ({in_words(numbers)})")), key=lambda found: numbers.index(found["id"]))
    if len(files) == 1 and not PART.fullmatch(files[0]["path"]):
        return {**files[0], "files": files, "parts": 1, "missing": []}
    first = files[0]
    row = one(connection, "SELECT model, parts, digits FROM model_parts WHERE file = ?", first["id"])
    if row is None:
        return {**first, "files": files, "parts": 1, "missing": []}
    known = {number for number, in connection.execute(f"SELECT number FROM model_parts WHERE file IN ({in_words(numbers)})")}
    stem, end = PART.fullmatch(first["path"]).groups()
    missing = [f"{stem}-{number:05}-of-{row['parts']:0{row['digits']}}{end}" for number in range(1, min(row["parts"], 10_000) + 1) if number not in known]

    def total(key):
        return sum(int(found[key] or 0) for found in files)

    prints = [found["fingerprint"] for found in files]
    return {
        **first, "id": min(numbers), "path": row["model"], "files": files, "parts": row["parts"], "missing": missing,
        "size": total("size"), "objects": total("objects"), "parameters": total("parameters"), "components": total("components"),
        "stored_bytes": total("stored_bytes"), "mtime": max(found["mtime"] or 0 for found in files),
        "fingerprint": None if missing or None in prints else one(connection, "SELECT max(fingerprint) AS it FROM whole WHERE parts = ?", " ".join(prints))["it"],
        "error": next((found["error"] for found in files if found["error"]), None),
        "error_kind": next((found["error_kind"] for found in files if found["error"]), None),
        "measured": min(found["measured"] or 0 for found in files) or None,
        "unmeasured": next((found["unmeasured"] for found in files if found["unmeasured"]), None),
        "checked": None if any(found["checked"] is None for found in files) else min(found["checked"] for found in files)}
