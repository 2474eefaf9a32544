-- measures.sql: further tables of a catalog (catalog.sql) for data that comes from the values of tensors: statistics, histograms, and
-- distances between models. measures.py fills them, and the page shows them.
--
-- The script can be run again at any time. The data of a file is deleted when a refresh removes the file or reads it again. A catalog
-- that has something else by one of these names is an error, and the catalog is not changed.

DROP TABLE IF EXISTS temp.measures_check;
CREATE TEMP TABLE measures_check(taken);
CREATE TEMP TRIGGER measures_check_insert BEFORE INSERT ON measures_check WHEN NEW.taken BEGIN
  SELECT RAISE(ABORT, 'this catalog has a table, view, index or trigger of somebody''s own with a name that statistics need (such as pair)');
END;
INSERT INTO measures_check
SELECT count(*) BETWEEN 1 AND 4 OR max(m.type IS NOT n.type)
FROM (SELECT column1 AS type, column2 AS name
      FROM (VALUES ('table', 'measured'), ('table', 'statistic'), ('table', 'pair'), ('table', 'distance'), ('index', 'statistic_suspect'),
                   ('index', 'pair_b'), ('trigger', 'measures_delete'), ('trigger', 'measures_update'))) AS n
     JOIN main.sqlite_master AS m ON lower(m.name) = n.name;
DROP TABLE temp.measures_check;

SAVEPOINT measures;

-- Files that have been measured.
CREATE TABLE IF NOT EXISTS main.measured(
  file  INTEGER PRIMARY KEY REFERENCES file(id),
  at    INTEGER NOT NULL,             -- when, in seconds since 1970
  error TEXT                          -- why the file could not be read to its end
);
-- The columns of zt_stats.
CREATE TABLE IF NOT EXISTS main.statistic(
  file     INTEGER NOT NULL REFERENCES file(id),
  name     INTEGER NOT NULL REFERENCES name(id),
  elements INTEGER,
  zeros    INTEGER,
  nans     INTEGER,
  infs     INTEGER,
  min, max, mean REAL, std REAL, l2 REAL,
  bins     TEXT,                      -- counts of zt_histogram, from min to max, as a JSON array
  error    TEXT,                      -- why its values cannot be had
  PRIMARY KEY(file, name)
) WITHOUT ROWID;

-- Tensors with NaN, infinities, or only zeros.
CREATE INDEX IF NOT EXISTS main.statistic_suspect ON statistic(file, name) WHERE nans > 0 OR infs > 0 OR zeros = elements;

-- Pairs of files that have been compared; the smaller number comes first.
CREATE TABLE IF NOT EXISTS main.pair(
  a  INTEGER NOT NULL REFERENCES file(id),
  b  INTEGER NOT NULL REFERENCES file(id),
  at INTEGER NOT NULL,
  error TEXT,
  PRIMARY KEY(a, b)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS main.pair_b ON pair(b);
-- Tensors whose names are in both files, with the columns of zt_compare. measures.py sets the change.
CREATE TABLE IF NOT EXISTS main.distance(
  a        INTEGER NOT NULL REFERENCES file(id),
  b        INTEGER NOT NULL REFERENCES file(id),
  name     INTEGER NOT NULL REFERENCES name(id),
  change   TEXT NOT NULL,             -- same, changed, or incomparable
  elements INTEGER,
  equal    INTEGER,
  nans     INTEGER,
  rmse     REAL,
  max_abs  REAL,
  cosine   REAL,
  square   REAL,                      -- the square of the norm of the difference, divided by the larger norm
  error    TEXT,
  PRIMARY KEY(a, b, name)
) WITHOUT ROWID;

CREATE TRIGGER IF NOT EXISTS main.measures_delete AFTER DELETE ON file BEGIN
  DELETE FROM measured WHERE file = OLD.id;
  DELETE FROM statistic WHERE file = OLD.id;
  DELETE FROM distance WHERE (a, b) IN (SELECT a, b FROM pair WHERE a = OLD.id UNION ALL SELECT a, b FROM pair WHERE b = OLD.id);
  DELETE FROM pair WHERE a = OLD.id OR b = OLD.id;
END;
CREATE TRIGGER IF NOT EXISTS main.measures_update AFTER UPDATE OF refreshed ON file BEGIN
  DELETE FROM measured WHERE file = OLD.id;
  DELETE FROM statistic WHERE file = OLD.id;
  DELETE FROM distance WHERE (a, b) IN (SELECT a, b FROM pair WHERE a = OLD.id UNION ALL SELECT a, b FROM pair WHERE b = OLD.id);
  DELETE FROM pair WHERE a = OLD.id OR b = OLD.id;
END;

RELEASE measures;
