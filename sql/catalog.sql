-- catalog.sql: the tables of a catalog of tensor files, and views that answer everyday questions from them.
--
-- A catalog is an ordinary database: it outlives the session, and every program that reads SQLite can query it, with or
-- without ztensor. This script makes one, or brings the views of an older one up to date; what is in it stays.
-- refresh.sql fills it, audit.sql adds views for auditing, the scripts for experiment trackers fill run_files.
--
--   sqlite3 catalog.db < sql/catalog.sql
--   sqlite3 -box catalog.db "SELECT * FROM sources" "SELECT * FROM names LIMIT 10"
--
-- It can be read again at any time, from any directory, and into a database that has other tables; but views of these names
-- are replaced, and a table of such a name is an error.

SAVEPOINT catalog;

-- ---- Tables. Columns are those of zt_files, zt_objects, zt_components and zt_attributes, and mean the same, so that
-- JOIN ... USING (path, object) works here, too. Some have no declared type: a number of bytes or elements that is beyond
-- 64 signed bits is decimal text, which the type INTEGER would round.

CREATE TABLE IF NOT EXISTS main.files(
  path           TEXT PRIMARY KEY,  -- as the source gave it: relative to the directory in which refresh.sql was read
  source         TEXT,              -- the source under which the file was found last
  container      TEXT,
  version        TEXT,
  size           INTEGER,
  mtime          REAL,
  objects        INTEGER,
  components     INTEGER,
  stored_bytes,
  decoded_bytes,
  manifest_bytes INTEGER,
  attributes     TEXT,
  error          TEXT,              -- why it cannot be read; NULL if it can
  refreshed      INTEGER            -- when it was read last, in seconds since 1970
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS main.objects(
  path          TEXT,
  object        TEXT,
  format        TEXT,
  dtype         TEXT,
  type          TEXT,
  shape         TEXT,
  rank          INTEGER,
  elements,
  components    INTEGER,
  stored_bytes,
  decoded_bytes,
  attributes    TEXT,
  PRIMARY KEY(path, object)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS main.components(
  path           TEXT,
  object         TEXT,
  component      TEXT,
  dtype          TEXT,
  type           TEXT,
  encoding       TEXT,
  byte_order     TEXT,
  offset         INTEGER,
  length         INTEGER,
  decoded_length,
  digest         TEXT,
  shard          TEXT,              -- the shard that has the bytes; NULL: the file itself
  PRIMARY KEY(path, object, component)
) WITHOUT ROWID;

-- No key: several keys of one CBOR map may show as the same text.
CREATE TABLE IF NOT EXISTS main.attributes(
  path   TEXT,
  object TEXT,                      -- NULL: an attribute of the file itself
  key    TEXT,
  value,
  type   TEXT
);

-- Which run of which experiment tracker refers to which file.
CREATE TABLE IF NOT EXISTS main.run_files(
  tracker  TEXT,                    -- 'mlflow', 'optuna', 'sacred', or your own
  database TEXT,                    -- the tracker's database
  run      TEXT,                    -- the run's id in it
  name     TEXT,                    -- what people call the run
  status   TEXT,                    -- 'finished', 'failed', 'running', or the tracker's own word
  path     TEXT,                    -- as in files
  logged   REAL,                    -- when, in seconds since 1970
  PRIMARY KEY(tracker, database, run, path)
) WITHOUT ROWID;

-- Not of digests: being random, they make filling the catalog five times slower, and a million components without index
-- are searched in a fifth of a second. CREATE INDEX components_digest ON components(digest) if you look up many.
CREATE INDEX IF NOT EXISTS main.objects_object ON objects(object);
CREATE INDEX IF NOT EXISTS main.attributes_path ON attributes(path, object);
CREATE INDEX IF NOT EXISTS main.attributes_key ON attributes(key);
CREATE INDEX IF NOT EXISTS main.run_files_path ON run_files(path);

-- What is known of a file goes with it: DELETE FROM files WHERE source = 'old-models' is enough.
CREATE TRIGGER IF NOT EXISTS main.files_delete AFTER DELETE ON files BEGIN
  DELETE FROM objects WHERE path = OLD.path;
  DELETE FROM components WHERE path = OLD.path;
  DELETE FROM attributes WHERE path = OLD.path;
END;

-- ---- Views

-- What are tensor files called? By these names a directory stands for them, and the scripts for experiment trackers tell a model
-- among a run's artifacts.
DROP VIEW IF EXISTS main.file_names;
CREATE VIEW main.file_names AS
SELECT column1 AS pattern
FROM (VALUES ('*.zt'), ('*.safetensors'), ('*.gguf'), ('*.npy'), ('*.npz'), ('*.pt'), ('*.pth'), ('*.onnx'), ('pytorch_model*.bin'));

-- What has been catalogued from where, and when was it last read?
DROP VIEW IF EXISTS main.sources;
CREATE VIEW main.sources AS
SELECT source, count(*) AS files, sum(error IS NOT NULL) AS broken, sum(objects) AS objects, sum(size) AS bytes,
       datetime(max(refreshed), 'unixepoch') AS refreshed
FROM files GROUP BY source;

-- Which files cannot be read, and why?
DROP VIEW IF EXISTS main.broken;
CREATE VIEW main.broken AS
SELECT path, size, datetime(mtime, 'unixepoch') AS modified, error FROM files WHERE error IS NOT NULL;

-- Which generations of the format are there, and how much of each?
DROP VIEW IF EXISTS main.generations;
CREATE VIEW main.generations AS
SELECT container, version, count(*) AS files, sum(objects) AS objects, sum(stored_bytes) AS stored_bytes
FROM files WHERE error IS NULL GROUP BY container, version;

-- How large is each model: tensors, parameters, bytes? (A sparse tensor counts with all its elements.)
DROP VIEW IF EXISTS main.models;
CREATE VIEW main.models AS
SELECT path, version, objects, (SELECT CAST(total(elements) AS INTEGER) FROM objects AS o WHERE o.path = f.path) AS parameters,
       stored_bytes, decoded_bytes, datetime(mtime, 'unixepoch') AS modified
FROM files AS f WHERE error IS NULL;

-- In how many files is there a tensor of this name, and is it of one shape and type in all of them?
DROP VIEW IF EXISTS main.names;
CREATE VIEW main.names AS
SELECT object, count(*) AS files, count(DISTINCT shape) AS shapes, count(DISTINCT type) AS types,
       min(shape) AS shape, min(type) AS type
FROM objects GROUP BY object;

-- Which files hold the same kind of model: the same names, formats, shapes and types, whatever the values?
DROP VIEW IF EXISTS main.architectures;
CREATE VIEW main.architectures AS
SELECT count(*) AS files, objects, parameters, min(path) AS first_path, max(path) AS last_path
FROM (SELECT path, count(*) AS objects, CAST(total(elements) AS INTEGER) AS parameters,
             group_concat(quote(object) || quote(format) || quote(type) || shape) AS layout
      FROM objects GROUP BY path)
GROUP BY layout;

-- What does each file say about itself?
DROP VIEW IF EXISTS main.file_attributes;
CREATE VIEW main.file_attributes AS
SELECT path, key, value, type FROM attributes WHERE object IS NULL;

-- What did each run leave behind? The columns of a file that is not in the catalog are NULL.
DROP VIEW IF EXISTS main.runs;
CREATE VIEW main.runs AS
SELECT r.tracker, r.database, r.run, r.name, r.status, datetime(r.logged, 'unixepoch') AS logged, r.path, f.version,
       f.objects, f.stored_bytes, f.error
FROM run_files AS r LEFT JOIN files AS f USING (path);

RELEASE catalog;
