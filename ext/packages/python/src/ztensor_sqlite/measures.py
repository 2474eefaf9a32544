"""What takes reading tensors: statistics, histograms and distances, as a query or kept in a catalog (measures.sql)."""
import os
import time

from .session import Trouble, quote

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "measures.sql")
BINS = 24

# What became of a tensor between two files. NaNs are not compared: tensors that have some are the same if their bytes are. The
# square is that of the length of the difference, in lengths of the longer one; so it is 0 for equal tensors.
COMPARED = """CASE WHEN c.error IS NOT NULL THEN 'incomparable' WHEN c.equal = c.elements THEN 'same'
            WHEN c.equal + c.nans = c.elements AND {a}.fingerprint = {b}.fingerprint THEN 'same' ELSE 'changed' END AS change,
       c.elements, c.equal, c.nans, c.rmse, c.max_abs, c.cosine,
       CASE WHEN c.rmse = 0 THEN 0.0
            ELSE c.rmse / max(c.l2, c.other_l2) * (c.rmse / max(c.l2, c.other_l2)) * (c.elements - c.nans) END AS square, c.error"""

DIFF = """SELECT *
FROM (SELECT a.object, {compared}, a.type AS before, b.type AS after, a.shape, b.shape AS other_shape
      FROM zt_objects({a}) AS a CROSS JOIN zt_objects({b}) AS b ON b.object = a.object
           CROSS JOIN zt_compare({a}, a.object, {b}, a.object) AS c
      UNION ALL
      SELECT object, 'removed', elements, NULL, NULL, NULL, NULL, NULL, NULL, NULL, type, NULL, shape, NULL
      FROM zt_objects({a}) WHERE object NOT IN (SELECT object FROM zt_objects({b}))
      UNION ALL
      SELECT object, 'added', elements, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, type, NULL, shape
      FROM zt_objects({b}) WHERE object NOT IN (SELECT object FROM zt_objects({a})))
ORDER BY change = 'same', square IS NOT NULL, square DESC, object"""

STATISTICS = """INSERT OR REPLACE INTO statistic(file, name, elements, zeros, nans, infs, min, max, mean, std, l2, bins, error)
SELECT f.id, n.id, s.elements, s.zeros, s.nans, s.infs, s.min, s.max, s.mean, s.std, s.l2,
       CASE WHEN s.error IS NULL AND s.min IS NOT NULL
            THEN (SELECT json_group_array(h.count) FROM zt_histogram(f.path, s.object, {bins}) AS h) END, s.error
FROM file AS f CROSS JOIN zt_stats(f.path, 'skip') AS s CROSS JOIN name AS n ON n.name = s.object
WHERE f.id IN ({files}) AND s.path = f.path"""

DISTANCES = """INSERT OR REPLACE INTO distance(a, b, name, change, elements, equal, nans, rmse, max_abs, cosine, square, error)
SELECT {low}, {high}, n.id, {compared}
FROM file AS f CROSS JOIN file AS g CROSS JOIN zt_objects(f.path) AS a CROSS JOIN zt_objects(g.path) AS b ON b.object = a.object
     CROSS JOIN zt_compare(f.path, a.object, g.path, a.object) AS c CROSS JOIN name AS n ON n.name = a.object
WHERE f.id = {low} AND g.id = {high}"""

# Of each family (the same names, types and shapes), each file and the next one in time.
NEIGHBOURS = """SELECT min(id, next), max(id, next)
FROM (SELECT f.id, lead(f.id) OVER (PARTITION BY l.architecture ORDER BY f.mtime, f.path) AS next
      FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN architecture AS a ON a.id = l.architecture
      WHERE a.objects > 0 AND f.error IS NULL AND f.host = (SELECT id FROM host WHERE name = zt_host())) AS n
WHERE next IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pair AS p WHERE p.a = min(n.id, next) AND p.b = max(n.id, next))
ORDER BY 1, 2"""


def diff(session, before, after):
    """Rows of DIFF: the tensors of two files, the most distant first."""
    return session.rows(DIFF.format(a=quote(before), b=quote(after), compared=COMPARED.format(a="a", b="b")))


def statistics(session, progress):
    """Measure the files of this host that have not been, some in each transaction."""
    left = [file for file, in session.run(
        "SELECT f.id FROM file AS f JOIN host AS h ON h.id = f.host WHERE h.name = zt_host() AND f.error IS NULL"
        " AND f.id NOT IN (SELECT file FROM measured) ORDER BY f.id")]
    with progress("statistics", len(left)) as bar:
        for files in batches(left):
            _one_by_one(session, _measure, _unmeasured, files)
            bar.advance(len(files))
    return len(left)


def distances(session, progress):
    """Compare each file with the next one of its family, of those pairs that have not been, some in each transaction."""
    left = session.run(NEIGHBOURS)
    with progress("distances", len(left)) as bar:
        for pairs in batches(left):
            _one_by_one(session, compare, _uncompared, pairs)
            bar.advance(len(pairs))
    return len(left)


def _one_by_one(session, work, failed, items):
    """Do the work on all items in one transaction; if that fails, on each in its own, to know whose fault it is."""
    try:
        with transaction(session):
            work(session, items)
    except Exception:
        for item in items:
            try:
                with transaction(session):
                    work(session, [item])
            except Exception as error:
                # What is the fault of a tensor file begins with ztensor's name; the rest, such as a full disk, ends the work
                if not str(error).startswith("ztensor:"):
                    raise
                failed(session, item, str(error))


def _measure(session, files):
    numbers = ", ".join(map(str, files))
    session.run(STATISTICS.format(bins=BINS, files=numbers))
    session.run(f"INSERT OR REPLACE INTO measured(file, at) SELECT id, strftime('%s', 'now') FROM file WHERE id IN ({numbers})")


def _unmeasured(session, file, error):
    session.run(f"INSERT OR REPLACE INTO measured(file, at, error) VALUES ({file}, strftime('%s', 'now'), {quote(error)})")


def compare(session, pairs):
    """Keep the distances of pairs of files of the catalog, each by their numbers, the smaller one first."""
    for low, high in pairs:
        session.run(DISTANCES.format(low=low, high=high, compared=COMPARED.format(a="a", b="b")))
        session.run(f"INSERT OR REPLACE INTO pair(a, b, at) VALUES ({low}, {high}, strftime('%s', 'now'))")


def _uncompared(session, pair, error):
    session.run(f"INSERT OR REPLACE INTO pair(a, b, at, error) VALUES ({pair[0]}, {pair[1]}, strftime('%s', 'now'), {quote(error)})")


def pair_of(session, before, after):
    """The numbers of two files in the catalog, the smaller one first."""
    numbers = []
    for path in (before, after):
        found = session.run(f"SELECT f.id FROM file AS f JOIN host AS h ON h.id = f.host WHERE h.name = zt_host() AND f.path = zt_absolute({quote(path)})")
        if not found:
            raise Trouble(f"{path}: this file is not in the catalog")
        numbers.append(found[0][0])
    return sorted(numbers)


class transaction:
    """All statements of a with block, or none."""

    def __init__(self, session):
        self.session = session

    def __enter__(self):
        self.session.run("BEGIN IMMEDIATE")

    def __exit__(self, kind, *_):
        self.session.run("COMMIT" if kind is None else "ROLLBACK")


def batches(items, seconds=1.0, most=1000):
    """Lists of items, twice as long from one to the next as long as the work on one takes less than that time."""
    first, count = 0, 1
    while first < len(items):
        begun = time.monotonic()
        yield items[first:first + count]
        first += count
        took = time.monotonic() - begun
        count = min(most, count * 2) if took < seconds / 2 else max(1, count // 2) if took > 2 * seconds else count
