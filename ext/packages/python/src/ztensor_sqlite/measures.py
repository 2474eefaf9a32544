"""Data from the values of tensors: statistics, histograms and distances, as a query or saved in a catalog (measures.sql)."""
import filecmp
import os
import time

from .session import Trouble, quote

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "measures.sql")
BINS = 24

# The components of a tensor with the hashes of their decoded bytes; NULL if a hash is not known.
COMPONENTS = """(SELECT CASE WHEN count(hash) = count(*) THEN json_group_array(json_array(component, dtype, byte_order, hash)) END
                      FROM (SELECT component, dtype, byte_order, hash FROM zt_components({path}, 'skip')
                            WHERE object = a.object ORDER BY component))"""

# The change of a tensor between two files. zt_compare compares as f64, which cannot hold all 64-bit integers. It leaves out NaN, and
# does not take complex numbers. In these cases fingerprints decide. Computing them reads all bytes, so they are used only where they
# matter: if the norm of a tensor is within f64's exact integers, every element is. If the values are not known, tensors with the same
# components are the same.
#
# square is the square of the distance: the norm of the difference divided by the larger norm. It is 0 for equal tensors, and 4 at
# most. A difference may be too large for f64 even if the norms are not. The angle then gives the distance.
COMPARED = """CASE WHEN c.equal + c.nans < c.elements THEN 'changed'
            WHEN c.equal = c.elements
             AND NOT coalesce((a.type IN ('i64', 'u64') OR b.type IN ('i64', 'u64')) AND max(c.l2, c.other_l2) > 9e15, 0)
            THEN 'same'
            WHEN a.shape = b.shape
            THEN CASE a.fingerprint = b.fingerprint
                 WHEN 1 THEN 'same'
                 WHEN 0 THEN CASE WHEN a.type = b.type THEN 'changed' ELSE 'incomparable' END
                 ELSE CASE WHEN a.format = b.format AND a.type IS b.type AND a.attributes IS b.attributes
                           AND {components} = {other_components} THEN 'same' ELSE 'incomparable' END END
            ELSE 'incomparable' END AS change,
       c.elements, c.equal, c.nans, c.rmse, c.max_abs, c.cosine,
       CASE WHEN c.rmse = 0 THEN 0.0
            WHEN max(c.l2, c.other_l2) = 9e999 THEN NULL
            WHEN c.rmse = 9e999 THEN min(4.0, 1 + min(c.l2, c.other_l2) / max(c.l2, c.other_l2)
                                              * (min(c.l2, c.other_l2) / max(c.l2, c.other_l2) - 2 * c.cosine))
            ELSE min(4.0, c.rmse / max(c.l2, c.other_l2) * (c.rmse / max(c.l2, c.other_l2)) * (c.elements - c.nans)) END AS square,
       c.error"""

STATISTICS = """INSERT OR REPLACE INTO statistic(file, name, elements, zeros, nans, infs, min, max, mean, std, l2, bins, error)
SELECT f.id, n.id, s.elements, s.zeros, s.nans, s.infs, s.min, s.max, s.mean, s.std, s.l2,
       CASE WHEN s.error IS NULL AND s.min IS NOT NULL
            THEN (SELECT json_group_array(h.count) FROM zt_histogram(f.path, s.object, {bins}) AS h) END, s.error
FROM file AS f CROSS JOIN zt_stats(f.path, 'skip') AS s CROSS JOIN name AS n ON n.name = s.object
WHERE f.id IN ({files}) AND s.path = f.path"""

DISTANCES = """INSERT OR REPLACE INTO {into}(a, b, name, change, elements, equal, nans, rmse, max_abs, cosine, square, error)
SELECT {low}, {high}, n.id, {compared}
FROM file AS f CROSS JOIN file AS g CROSS JOIN zt_objects(f.path) AS a CROSS JOIN zt_objects(g.path) AS b ON b.object = a.object
     CROSS JOIN zt_compare(f.path, a.object, g.path, a.object) AS c CROSS JOIN name AS n ON n.name = a.object
WHERE f.id = {low} AND g.id = {high} AND a.path = f.path AND b.path = g.path{told}"""

# The extension reports a missing file as an error, unless its name is a pattern.
GONE = """SELECT f.path FROM file AS f
WHERE f.id IN ({low}, {high}) AND NOT EXISTS (SELECT 1 FROM zt_files(f.path) AS z WHERE z.path = f.path)"""

# In each family (files with the same names, types and shapes), each file and the next one in time.
NEIGHBOURS = """SELECT min(id, next), max(id, next)
FROM (SELECT f.id, lead(f.id) OVER (PARTITION BY l.architecture ORDER BY f.mtime, f.path) AS next
      FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN architecture AS a ON a.id = l.architecture
      WHERE a.objects > 0 AND f.error IS NULL AND f.host = (SELECT id FROM host WHERE name = zt_host())) AS n
WHERE next IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pair AS p WHERE p.a = min(n.id, next) AND p.b = max(n.id, next))
ORDER BY 1, 2"""


def compared(before, after):
    """COMPARED for two files, each as SQL names it."""
    return COMPARED.format(components=COMPONENTS.format(path=before), other_components=COMPONENTS.format(path=after))


def are_identical(session, before, after):
    """Whether two local files have the same bytes, and no tensor has its own elsewhere."""
    return os.path.exists(before) and os.path.exists(after) and filecmp.cmp(before, after, shallow=False) \
        and not session.value(f"SELECT count(shard) FROM zt_components({quote(before)}, 'skip')")


def statistics(session, progress):
    """Measure the unmeasured files of this host, some in each transaction."""
    left = [file for file, in session.run(
        "SELECT f.id FROM file AS f JOIN host AS h ON h.id = f.host WHERE h.name = zt_host() AND f.error IS NULL"
        " AND f.id NOT IN (SELECT file FROM measured) ORDER BY f.id")]
    with progress("statistics", len(left)) as bar:
        for files in batches(left):
            _one_by_one(session, _measure, _unmeasured, files)
            bar.advance(len(files))
    return len(left)


def distances(session, progress):
    """Compare each file with the next one of its family, unless done before, some pairs in each transaction."""
    left = session.run(NEIGHBOURS)
    with progress("distances", len(left)) as bar:
        for pairs in batches(left):
            _one_by_one(session, compare, _uncompared, pairs)
            bar.advance(len(pairs))
    return len(left)


def _one_by_one(session, work, failed, items):
    """Do the work on all items in one transaction. If that fails, use one transaction for each item, to find the faulty one."""
    try:
        with transaction(session):
            work(session, items)
    except Exception:
        for item in items:
            try:
                with transaction(session):
                    work(session, [item])
            except Exception as error:
                # Errors of a tensor file begin with ztensor's name. Other errors, such as a full disk, end the work
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
    """Save the distances of pairs of files in the catalog. A pair is two file numbers, the smaller one first."""
    for low, high in pairs:
        compute(session, low, high, "distance")
        session.run(f"INSERT OR REPLACE INTO pair(a, b, at) VALUES ({low}, {high}, strftime('%s', 'now'))")


def compute(session, low, high, into, told=None):
    """Put the distances of two files into a table like `distance`. The tables file and name have the paths and the names. A function of SQL is
    told the number of the name of each tensor that has been compared."""
    for path, in session.run(GONE.format(low=low, high=high)):
        raise Trouble(f"ztensor: {path}: there is no such file")
    session.run(DISTANCES.format(into=into, told=f" AND {told}(n.id)" if told else "", low=low, high=high, compared=compared("f.path", "g.path")))
    left = f"a = {low} AND b = {high} AND change = 'incomparable'"
    if session.value(f"SELECT EXISTS (SELECT 1 FROM {into} WHERE {left})") and are_identical(session, *(
            session.value(f"SELECT path FROM file WHERE id = {file}") for file in (low, high))):
        session.run(f"UPDATE {into} SET change = 'same' WHERE {left}")


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
    """Lists of items. Each is twice as long as the one before, as long as the work on a list takes less than that time."""
    first, count = 0, 1
    while first < len(items):
        begun = time.monotonic()
        yield items[first:first + count]
        first += count
        took = time.monotonic() - begun
        count = min(most, count * 2) if took < seconds / 2 else max(1, count // 2) if took > 2 * seconds else count
