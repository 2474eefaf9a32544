-- catalog.sql: the tables of a catalog of tensor files, and views that answer everyday questions from them.
--
-- A catalog is an ordinary database. It outlives the session, and every program that reads SQLite can query it, with or without
-- ztensor. This script makes a catalog, or brings its views up to date; its contents stay. refresh.sql fills it, audit.sql adds views
-- for auditing, the scripts for experiment trackers fill run_files, and merge.sql merges several catalogs.
--
--   sqlite3 catalog.db < sql/catalog.sql
--   sqlite3 -box catalog.db "SELECT * FROM sources" "SELECT * FROM names LIMIT 10"
--
-- The script can be read again at any time, from any directory, and into a database that has other tables. Another program's database
-- is an error, and so is a database with other tables, views, indexes or triggers of these names; the database is then not changed. A
-- catalog of version 1 to 4 becomes a catalog of version 5; its files are outdated_files until the next refresh of their
-- sources, which reads them again. The first version had no number: read migrate.sql before this script to convert it.
--
-- Tables have names in the singular, and numbers as keys: one row is one thing, stored once. Views have names in the plural, and show
-- paths and names. Data that many files share is stored once. Files with the same names, types and shapes share an `architecture`. If
-- their components are also in the same places, they share a `layout`, and each file has the offset at which its data begin.

-- ---- Check the database before any change. The error stays to the end, so that a shell that continues after an error changes nothing.

-- All names that this script makes, and audit.sql in a catalog, and the version that introduced each.
DROP TABLE IF EXISTS temp.catalog_names;
CREATE TEMP TABLE catalog_names(name TEXT PRIMARY KEY, type TEXT, since INTEGER);
INSERT INTO catalog_names(since, type, name) VALUES
  (1, 'table', 'host'), (1, 'table', 'root'), (1, 'table', 'name'), (1, 'table', 'shape'), (1, 'table', 'kind'), (1, 'table', 'storage'),
  (1, 'table', 'architecture'), (1, 'table', 'tensor'), (1, 'table', 'layout'), (1, 'table', 'part'), (1, 'table', 'detail'),
  (1, 'table', 'share'), (1, 'table', 'file'), (2, 'table', 'external'), (1, 'table', 'digest'), (1, 'table', 'repeated'),
  (1, 'table', 'fingerprint'), (1, 'table', 'attribute'), (1, 'table', 'finding'), (1, 'table', 'change'), (2, 'table', 'gone'),
  (1, 'table', 'run_files'), (1, 'table', 'metrics'), (3, 'table', 'found'), (3, 'table', 'stamp'), (3, 'table', 'departed'),
  (3, 'table', 'whole'), (4, 'table', 'tag'),
  (1, 'index', 'shape_shape'), (1, 'index', 'kind_kind'), (1, 'index', 'storage_storage'), (1, 'index', 'tensor_name'),
  (1, 'index', 'file_path'), (1, 'index', 'file_root'), (1, 'index', 'file_layout'), (1, 'index', 'file_inode'), (1, 'index', 'file_error'),
  (1, 'index', 'file_fingerprint'), (1, 'index', 'digest_value'), (1, 'index', 'fingerprint_fingerprint'), (1, 'index', 'attribute_file'),
  (1, 'index', 'attribute_layout'), (1, 'index', 'attribute_key'), (1, 'index', 'finding_file'), (3, 'index', 'finding_error'),
  (1, 'index', 'run_files_path'), (3, 'index', 'found_file'),
  (1, 'trigger', 'digest_insert'), (1, 'trigger', 'file_delete'), (1, 'trigger', 'layout_delete'), (1, 'trigger', 'architecture_delete'),
  (1, 'trigger', 'files_delete'), (1, 'trigger', 'sources_delete'),
  (1, 'view', 'files'), (1, 'view', 'layout_objects'), (1, 'view', 'objects'), (1, 'view', 'components'), (1, 'view', 'attributes'),
  (1, 'view', 'roots'), (1, 'view', 'findings'), (1, 'view', 'changes'), (1, 'view', 'file_names'), (1, 'view', 'sources'),
  (1, 'view', 'broken'), (1, 'view', 'generations'), (1, 'view', 'models'), (1, 'view', 'names'), (1, 'view', 'architectures'),
  (1, 'view', 'file_attributes'), (1, 'view', 'runs'), (3, 'view', 'kinds'), (3, 'view', 'troubles'), (3, 'view', 'notes'),
  (3, 'view', 'unsupported'), (3, 'view', 'other_files'), (3, 'view', 'physical_files'), (3, 'view', 'totals'), (3, 'view', 'model_parts'),
  (3, 'view', 'whole_models'), (5, 'view', 'data_shards'), (5, 'view', 'outdated_layouts'),
  (5, 'view', 'outdated_files');

DROP TABLE IF EXISTS temp.catalog_wrong;
CREATE TEMP TABLE catalog_wrong AS
WITH is_catalog(yes) AS (SELECT application_id = 0x7A744361 FROM pragma_application_id)
SELECT CASE
    WHEN (SELECT NOT yes FROM is_catalog) AND (SELECT application_id FROM pragma_application_id) <> 0 THEN 'another'
    WHEN (SELECT yes FROM is_catalog) AND (SELECT user_version FROM pragma_user_version) > 5 THEN 'newer'
    WHEN (SELECT NOT yes FROM is_catalog)
     AND (SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name IN ('files', 'objects', 'components', 'attributes', 'run_files')) = 5
     AND EXISTS (SELECT 1 FROM pragma_table_info('files', 'main') WHERE name = 'refreshed')
     AND EXISTS (SELECT 1 FROM pragma_table_info('run_files', 'main') WHERE name = 'logged') THEN 'older'
    -- Names from an earlier version belong to the catalog. Such a name in another database, or of another type, does not.
    WHEN EXISTS (SELECT 1 FROM main.sqlite_master AS m JOIN temp.catalog_names AS n ON n.name = lower(m.name)
                 WHERE m.type <> n.type
                    OR n.since > (SELECT CASE WHEN yes THEN user_version ELSE 0 END FROM is_catalog, pragma_user_version)) THEN 'taken'
    WHEN (SELECT NOT yes FROM is_catalog) AND (SELECT user_version FROM pragma_user_version) <> 0 THEN 'versioned'
  END AS wrong;

DROP TABLE IF EXISTS temp.catalog_check;
CREATE TEMP TABLE catalog_check(wrong);
CREATE TEMP TRIGGER catalog_check_insert BEFORE INSERT ON catalog_check BEGIN
  SELECT RAISE(ROLLBACK, 'this database is another program''s: its application_id is neither 0 nor a catalog''s') WHERE NEW.wrong = 'another';
  SELECT RAISE(ROLLBACK, 'this catalog was made by a newer sql/catalog.sql') WHERE NEW.wrong = 'newer';
  SELECT RAISE(ROLLBACK, 'this catalog is of the first version: .read sql/migrate.sql, then this script') WHERE NEW.wrong = 'older';
  SELECT RAISE(ROLLBACK, 'this database has a table or view of its own, or an index or trigger, with a name that the catalog needs (such as files, objects, name)')
  WHERE NEW.wrong = 'taken';
  SELECT RAISE(ROLLBACK, 'this database is another program''s: its user_version is not 0, and would be overwritten') WHERE NEW.wrong = 'versioned';
END;
INSERT INTO catalog_check SELECT wrong FROM catalog_wrong;

SAVEPOINT catalog;
-- The first statement writes: SQLite waits for another writer here, but not on behalf of a transaction that has read
PRAGMA main.application_id = 0x7A744361;   -- 'ztCa'

-- Version 1 did not know which other files hold bytes of a file: files that need others are read again. Version 2 did not know all
-- sources that have found a file. Until version 4, contents without one offset were in no distinct_bytes.
CREATE TEMP TABLE catalog_upgrade AS
SELECT user_version AS of FROM pragma_user_version WHERE user_version BETWEEN 1 AND 4 AND (SELECT wrong FROM catalog_wrong) IS NULL;

-- ---- Tables. A number of bytes or elements beyond 64 signed bits is kept as a BLOB of its decimal digits, which the type INTEGER does
-- not convert; views show it as text. Times of refreshes are milliseconds since 1970, but seconds in rows of earlier versions. Those
-- are smaller, so that times can be compared, and views show seconds.

-- The machines whose files are known, and the endpoints of remote files. Names that must be unique are unique on one machine.
CREATE TABLE IF NOT EXISTS main.host(
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE           -- zt_host(), zt_endpoint() of a remote source, or the name given for it
);

-- The collections that were refreshed.
CREATE TABLE IF NOT EXISTS main.root(
  id        INTEGER PRIMARY KEY,
  host      INTEGER NOT NULL REFERENCES host(id),
  path      TEXT NOT NULL,            -- the absolute directory that its files are below; / for a list
  source    TEXT NOT NULL,            -- zt_absolute() of the source
  refreshed INTEGER,                  -- time of the last refresh
  UNIQUE(host, source)
);

CREATE TABLE IF NOT EXISTS main.name(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS main.shape(id INTEGER PRIMARY KEY, shape TEXT, rank INTEGER, elements INTEGER);
CREATE TABLE IF NOT EXISTS main.kind(id INTEGER PRIMARY KEY, format TEXT, dtype TEXT, type TEXT);
CREATE TABLE IF NOT EXISTS main.storage(
  id         INTEGER PRIMARY KEY,
  component  TEXT,
  dtype      TEXT,
  type       TEXT,
  encoding   TEXT,
  byte_order TEXT,
  digest_of  TEXT                     -- zt_components.digest_of: stored, decoded or member
);

-- Models of the same kind: the same names, formats, types and shapes.
CREATE TABLE IF NOT EXISTS main.architecture(
  id         INTEGER PRIMARY KEY,
  digest     TEXT NOT NULL UNIQUE,    -- '5 ', the version that read it (outdated_layouts), and zt_files.architecture
  objects    INTEGER,
  parameters INTEGER                  -- number of elements of all tensors
);
CREATE TABLE IF NOT EXISTS main.tensor(
  architecture INTEGER NOT NULL REFERENCES architecture(id),
  name         INTEGER NOT NULL REFERENCES name(id),
  kind         INTEGER NOT NULL REFERENCES kind(id),
  shape        INTEGER NOT NULL REFERENCES shape(id),
  PRIMARY KEY(architecture, name)
) WITHOUT ROWID;

-- The places of components in files of one architecture. Offsets are counted from where a file's data begin.
CREATE TABLE IF NOT EXISTS main.layout(
  id             INTEGER PRIMARY KEY,
  architecture   INTEGER NOT NULL REFERENCES architecture(id),
  digest         TEXT NOT NULL,       -- zt_files.layout
  components     INTEGER,
  stored_bytes   INTEGER,
  decoded_bytes  INTEGER,
  distinct_bytes INTEGER,             -- stored bytes; bytes that several components share count once
  UNIQUE(architecture, digest)
);
CREATE TABLE IF NOT EXISTS main.part(
  layout         INTEGER NOT NULL REFERENCES layout(id),
  name           INTEGER NOT NULL REFERENCES name(id),
  storage        INTEGER NOT NULL REFERENCES storage(id),
  offset         INTEGER,             -- in a shard: counted from its first byte
  length         INTEGER,
  decoded_length INTEGER,
  shard          TEXT,                -- the other file that has the bytes; NULL: the file itself
  PRIMARY KEY(layout, name, storage)
) WITHOUT ROWID;
-- Objects that have attributes, or not exactly one component.
CREATE TABLE IF NOT EXISTS main.detail(
  layout        INTEGER NOT NULL REFERENCES layout(id),
  name          INTEGER NOT NULL REFERENCES name(id),
  components    INTEGER,
  stored_bytes  INTEGER,
  decoded_bytes INTEGER,
  attributes    TEXT,
  PRIMARY KEY(layout, name)
) WITHOUT ROWID;
-- The share of each kind in a layout.
CREATE TABLE IF NOT EXISTS main.share(
  layout   INTEGER NOT NULL REFERENCES layout(id),
  kind     INTEGER NOT NULL REFERENCES kind(id),
  objects  INTEGER,
  elements INTEGER,
  bytes    INTEGER,
  PRIMARY KEY(layout, kind)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS main.file(
  id             INTEGER PRIMARY KEY,
  host           INTEGER NOT NULL REFERENCES host(id),
  path           TEXT NOT NULL,       -- absolute, or a URL
  root           INTEGER NOT NULL REFERENCES root(id),   -- the root that found it last
  layout         INTEGER REFERENCES layout(id),          -- NULL: it cannot be read
  container      TEXT,
  version        TEXT,
  size           INTEGER,
  mtime          REAL,
  device         INTEGER,             -- with the inode: the file's identity, whatever its names
  inode          INTEGER,
  data_offset    INTEGER,             -- the start of its data
  manifest_bytes INTEGER,
  refreshed      INTEGER,             -- time of the last reading
  fingerprint    TEXT,                -- over its objects' names and fingerprints; NULL: not known
  fingerprinted  INTEGER,             -- time when it was computed or tried
  checked        INTEGER,             -- time of zt_check; NULL: not yet
  error_kind     TEXT,                -- missing, denied, transient, broken, unknown; NULL: it can be read
  error          TEXT,                -- why it cannot be read
  attributes     TEXT,
  UNIQUE(host, path)
);
-- The other files that hold bytes of a file, as they were when the file was read.
CREATE TABLE IF NOT EXISTS main.external(
  file  INTEGER NOT NULL REFERENCES file(id),
  path  TEXT NOT NULL,                -- absolute
  size  INTEGER,                      -- NULL: it was missing
  mtime REAL,
  inode INTEGER,
  PRIMARY KEY(file, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.digest(
  file      INTEGER NOT NULL REFERENCES file(id),
  name      INTEGER NOT NULL REFERENCES name(id),
  storage   INTEGER NOT NULL REFERENCES storage(id),
  algorithm TEXT,                     -- NULL: the digest cannot be checked
  value     BLOB,
  stated    TEXT,                     -- as in the file, if that is not algorithm:hexadecimal digits in lower case
  PRIMARY KEY(file, name, storage)
) WITHOUT ROWID;
-- Values of digests that occur, or have occurred, more than once.
CREATE TABLE IF NOT EXISTS main.repeated(value BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.fingerprint(
  file        INTEGER NOT NULL REFERENCES file(id),
  name        INTEGER NOT NULL REFERENCES name(id),
  fingerprint TEXT,                   -- NULL: its values cannot be read
  PRIMARY KEY(file, name)
) WITHOUT ROWID;
-- The key is only a number, because several keys of one CBOR map may show as the same text.
CREATE TABLE IF NOT EXISTS main.attribute(
  id     INTEGER PRIMARY KEY,
  file   INTEGER REFERENCES file(id),     -- an attribute of the file itself, or
  layout INTEGER REFERENCES layout(id),   -- one of an object of each file with that layout
  name   INTEGER REFERENCES name(id),
  key    TEXT,
  value  BLOB,                            -- of any type: BLOB converts nothing
  type   TEXT
);
-- The findings of zt_check.
CREATE TABLE IF NOT EXISTS main.finding(
  id        INTEGER PRIMARY KEY,
  file      INTEGER NOT NULL REFERENCES file(id),
  object    TEXT,
  component TEXT,
  severity  TEXT,
  rule      TEXT,
  message   TEXT
);
-- The collection's history.
CREATE TABLE IF NOT EXISTS main.change(
  id     INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,            -- time of the refresh that saw it
  host   INTEGER NOT NULL REFERENCES host(id),
  path   TEXT NOT NULL,
  change TEXT NOT NULL,               -- added, changed, moved, removed
  was    TEXT,                        -- the path before it was moved
  size   INTEGER,
  mtime  REAL
);

-- Files that a merge did not find at their earlier place, and since when. The history of a refresh does not show that.
CREATE TABLE IF NOT EXISTS main.gone(
  host INTEGER NOT NULL REFERENCES host(id),
  path TEXT NOT NULL,
  at   INTEGER NOT NULL,
  PRIMARY KEY(host, path)
) WITHOUT ROWID;

-- The sources that found a file at their last refresh. There may be several. A source that is forgotten takes along only files that no
-- other source has.
CREATE TABLE IF NOT EXISTS main.found(
  root INTEGER NOT NULL REFERENCES root(id),
  file INTEGER NOT NULL REFERENCES file(id),
  PRIMARY KEY(root, file)
) WITHOUT ROWID;
-- The times of the last change of a file (path is '') and of other files that hold its bytes, in whole nanoseconds since 1970. They are
-- the times when the file was read: mtime, which programs can set, and ctime, which the system sets. Another file that is remote has
-- its entity tag in place of ctime, behind the word etag.
CREATE TABLE IF NOT EXISTS main.stamp(
  file  INTEGER NOT NULL REFERENCES file(id),
  path  TEXT NOT NULL,
  mtime INTEGER,
  ctime INTEGER,
  birth INTEGER,                      -- of the file, when it was made; NULL: the system does not tell
  PRIMARY KEY(file, path)
) WITHOUT ROWID;
-- The entity tags of remote files, as their servers stated them when the files were read. A file without a tag has none here.
CREATE TABLE IF NOT EXISTS main.tag(
  file INTEGER PRIMARY KEY REFERENCES file(id),
  etag TEXT NOT NULL
);
-- Files that a source has lost and another source may find, with their identity and the results of second passes.
CREATE TABLE IF NOT EXISTS main.departed(
  id            INTEGER PRIMARY KEY,
  host          INTEGER NOT NULL REFERENCES host(id),
  device        INTEGER,
  inode         INTEGER,
  size          INTEGER,
  mtime         INTEGER,              -- in nanoseconds
  birth         INTEGER NOT NULL,
  path          TEXT NOT NULL,
  at            INTEGER NOT NULL,
  fingerprint   TEXT,
  fingerprinted INTEGER,
  checked       INTEGER,
  fingerprints  TEXT,                 -- as JSON: [name, fingerprint] of each tensor
  findings      TEXT,                 -- as JSON: [object, component, severity, rule, message] of each
  UNIQUE(host, device, inode)
);
-- The fingerprint of a model in several files. The key is the fingerprints of the files in their order, with spaces between them.
CREATE TABLE IF NOT EXISTS main.whole(
  parts       TEXT PRIMARY KEY,
  fingerprint TEXT                    -- NULL: a tensor is duplicated
) WITHOUT ROWID;

-- The files that each run of an experiment tracker refers to. It is a table although its name is plural, because scripts write to it.
CREATE TABLE IF NOT EXISTS main.run_files(
  tracker  TEXT,                      -- 'mlflow', 'optuna', 'sacred', or your own
  database TEXT,                      -- the tracker's database
  run      TEXT,                      -- the run's id in it
  name     TEXT,                      -- the run's name for people
  status   TEXT,                      -- 'finished', 'failed', 'running', or the tracker's own word
  path     TEXT,                      -- absolute
  logged   REAL,                      -- time in seconds since 1970
  host     TEXT NOT NULL DEFAULT '',  -- whose path it is; '': that of every host in this catalog
  PRIMARY KEY(tracker, database, host, run, path)
) WITHOUT ROWID;

-- The direction of a metric: whether more is better. Patterns match its name in lower case; if several match, the longest counts.
CREATE TABLE IF NOT EXISTS main.metrics(
  pattern   TEXT PRIMARY KEY,
  direction TEXT NOT NULL CHECK(direction IN ('min', 'max'))
) WITHOUT ROWID;
INSERT OR IGNORE INTO main.metrics VALUES
  ('*loss*', 'min'), ('*error*', 'min'), ('*perplexity*', 'min'), ('*mae', 'min'), ('*mse', 'min'), ('*wer', 'min'),
  ('*acc', 'max'), ('*accuracy*', 'max'), ('*auc*', 'max'), ('*f1*', 'max'), ('*precision*', 'max'), ('*recall*', 'max'),
  ('*bleu*', 'max'), ('*rouge*', 'max'), ('*reward*', 'max'), ('*score*', 'max'), ('*r2*', 'max');

UPDATE main.file SET inode = NULL, fingerprint = NULL, fingerprinted = NULL
WHERE EXISTS (SELECT 1 FROM catalog_upgrade WHERE of = 1) AND layout IN (SELECT layout FROM main.part WHERE shard IS NOT NULL);
DELETE FROM main.fingerprint
WHERE EXISTS (SELECT 1 FROM catalog_upgrade WHERE of = 1)
  AND file IN (SELECT f.id FROM main.file AS f JOIN main.part AS p ON p.layout = f.layout WHERE p.shard IS NOT NULL);
INSERT OR IGNORE INTO main.found(root, file) SELECT root, id FROM main.file WHERE EXISTS (SELECT 1 FROM catalog_upgrade WHERE of < 3);
UPDATE main.layout SET distinct_bytes = 0 WHERE EXISTS (SELECT 1 FROM catalog_upgrade WHERE of < 3) AND components = 0;
-- A number of bytes that is known to be wrong is left open until the files are read again.
UPDATE main.layout SET distinct_bytes = NULL
WHERE EXISTS (SELECT 1 FROM catalog_upgrade) AND id IN (SELECT layout FROM main.part WHERE offset IS NULL);
DROP TABLE temp.catalog_upgrade;

CREATE UNIQUE INDEX IF NOT EXISTS main.shape_shape ON shape(quote(shape));
CREATE UNIQUE INDEX IF NOT EXISTS main.kind_kind ON kind(quote(format), quote(dtype), quote(type));
CREATE UNIQUE INDEX IF NOT EXISTS main.storage_storage ON storage(component, quote(dtype), quote(type), quote(encoding),
                                                                  quote(byte_order), quote(digest_of));
CREATE INDEX IF NOT EXISTS main.tensor_name ON tensor(name);
CREATE INDEX IF NOT EXISTS main.file_path ON file(path);
CREATE INDEX IF NOT EXISTS main.file_root ON file(root);
CREATE INDEX IF NOT EXISTS main.file_layout ON file(layout);
CREATE INDEX IF NOT EXISTS main.file_inode ON file(inode);
CREATE INDEX IF NOT EXISTS main.file_error ON file(error_kind) WHERE error IS NOT NULL;
CREATE INDEX IF NOT EXISTS main.file_fingerprint ON file(fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX IF NOT EXISTS main.digest_value ON digest(value) WHERE value IS NOT NULL;
CREATE INDEX IF NOT EXISTS main.fingerprint_fingerprint ON fingerprint(fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX IF NOT EXISTS main.attribute_file ON attribute(file) WHERE file IS NOT NULL;
CREATE INDEX IF NOT EXISTS main.attribute_layout ON attribute(layout, name) WHERE layout IS NOT NULL;
CREATE INDEX IF NOT EXISTS main.attribute_key ON attribute(key);
CREATE INDEX IF NOT EXISTS main.finding_file ON finding(file);
CREATE INDEX IF NOT EXISTS main.finding_error ON finding(file, object) WHERE severity = 'error';
CREATE INDEX IF NOT EXISTS main.found_file ON found(file);
CREATE INDEX IF NOT EXISTS main.run_files_path ON run_files(path);

CREATE TRIGGER IF NOT EXISTS main.digest_insert AFTER INSERT ON digest WHEN NEW.value IS NOT NULL BEGIN
  INSERT OR IGNORE INTO repeated
  SELECT NEW.value WHERE 2 = (SELECT count(*) FROM (SELECT 1 FROM digest WHERE value = NEW.value LIMIT 2));
END;

-- The data of a file is deleted with it. Rows that no file needs any more are dropped by the next refresh.
DROP TRIGGER IF EXISTS main.file_delete;   -- Earlier versions had a different trigger
CREATE TRIGGER main.file_delete AFTER DELETE ON file BEGIN
  DELETE FROM digest WHERE file = OLD.id;
  DELETE FROM fingerprint WHERE file = OLD.id;
  DELETE FROM attribute WHERE file = OLD.id;
  DELETE FROM finding WHERE file = OLD.id;
  DELETE FROM external WHERE file = OLD.id;
  DELETE FROM found WHERE file = OLD.id;
  DELETE FROM stamp WHERE file = OLD.id;
  DELETE FROM tag WHERE file = OLD.id;
END;
CREATE TRIGGER IF NOT EXISTS main.layout_delete AFTER DELETE ON layout BEGIN
  DELETE FROM part WHERE layout = OLD.id;
  DELETE FROM detail WHERE layout = OLD.id;
  DELETE FROM share WHERE layout = OLD.id;
  DELETE FROM attribute WHERE layout = OLD.id;
END;
CREATE TRIGGER IF NOT EXISTS main.architecture_delete AFTER DELETE ON architecture BEGIN
  DELETE FROM tensor WHERE architecture = OLD.id;
END;

-- ---- Data that migrate.sql left of a catalog of the first version, which stored everything for each file. Only paths identify its
-- files, so each file has its own architecture until it is read again. Digests are kept as they were stated.

CREATE TABLE IF NOT EXISTS main.older_files(path, source, container, version, size, mtime, objects, components, stored_bytes, decoded_bytes,
                                            manifest_bytes, attributes, error, refreshed);
CREATE TABLE IF NOT EXISTS main.older_objects(path, object, format, dtype, type, shape, rank, elements, components, stored_bytes, decoded_bytes,
                                              attributes);
CREATE TABLE IF NOT EXISTS main.older_components(path, object, component, dtype, type, encoding, byte_order, offset, length, decoded_length,
                                                 digest, shard);
CREATE TABLE IF NOT EXISTS main.older_attributes(path, object, key, value, type);
CREATE TABLE IF NOT EXISTS main.older_run_files(tracker, database, run, name, status, path, logged);
INSERT OR IGNORE INTO main.host(name) SELECT '' FROM main.older_files;
INSERT INTO main.root(host, path, source)
SELECT DISTINCT h.id, f.source, f.source FROM main.host AS h CROSS JOIN main.older_files AS f WHERE h.name = '';
INSERT OR IGNORE INTO main.name(name) SELECT object FROM main.older_objects;
INSERT OR IGNORE INTO main.shape(shape, rank, elements)
SELECT DISTINCT shape, rank, CASE typeof(elements) WHEN 'text' THEN CAST(elements AS BLOB) ELSE elements END FROM main.older_objects;
INSERT OR IGNORE INTO main.kind(format, dtype, type) SELECT DISTINCT format, dtype, type FROM main.older_objects;
INSERT OR IGNORE INTO main.storage(component, dtype, type, encoding, byte_order, digest_of)
SELECT DISTINCT c.component, c.dtype, c.type, c.encoding, c.byte_order,
                CASE WHEN f.version = '2' THEN 'decoded' WHEN f.container = 'npz' THEN 'member' ELSE 'stored' END
FROM main.older_components AS c JOIN main.older_files AS f USING (path);
INSERT INTO main.architecture(digest, objects, parameters)
SELECT 'of the older ' || f.path, f.objects,
       (SELECT CAST(coalesce(sum(elements >> 32) * 4294967296 + sum(elements & 4294967295), 0) AS INTEGER)
        FROM main.older_objects AS o WHERE o.path = f.path)
FROM main.older_files AS f WHERE f.error IS NULL;
INSERT INTO main.tensor(architecture, name, kind, shape)
SELECT a.id, n.id, k.id, s.id
FROM main.older_objects AS o JOIN main.architecture AS a ON a.digest = 'of the older ' || o.path JOIN main.name AS n ON n.name = o.object
     JOIN main.kind AS k ON quote(k.format) = quote(o.format) AND quote(k.dtype) = quote(o.dtype) AND quote(k.type) = quote(o.type)
     JOIN main.shape AS s ON quote(s.shape) = quote(o.shape);
INSERT INTO main.layout(architecture, digest, components, stored_bytes, decoded_bytes)
SELECT a.id, a.digest, f.components, CASE typeof(f.stored_bytes) WHEN 'text' THEN CAST(f.stored_bytes AS BLOB) ELSE f.stored_bytes END,
       CASE typeof(f.decoded_bytes) WHEN 'text' THEN CAST(f.decoded_bytes AS BLOB) ELSE f.decoded_bytes END
FROM main.older_files AS f JOIN main.architecture AS a ON a.digest = 'of the older ' || f.path;
INSERT INTO main.part(layout, name, storage, offset, length, decoded_length, shard)
SELECT l.id, n.id, s.id, c.offset, CASE typeof(c.length) WHEN 'text' THEN CAST(c.length AS BLOB) ELSE c.length END,
       CASE typeof(c.decoded_length) WHEN 'text' THEN CAST(c.decoded_length AS BLOB) ELSE c.decoded_length END, c.shard
FROM main.older_components AS c JOIN main.older_files AS f USING (path) JOIN main.architecture AS a ON a.digest = 'of the older ' || f.path
     JOIN main.layout AS l ON l.architecture = a.id JOIN main.name AS n ON n.name = c.object
     JOIN main.storage AS s ON s.component = c.component AND quote(s.dtype) = quote(c.dtype) AND quote(s.type) = quote(c.type)
       AND quote(s.encoding) = quote(c.encoding) AND quote(s.byte_order) = quote(c.byte_order)
       AND s.digest_of = CASE WHEN f.version = '2' THEN 'decoded' WHEN f.container = 'npz' THEN 'member' ELSE 'stored' END;
INSERT INTO main.detail(layout, name, components, stored_bytes, decoded_bytes, attributes)
SELECT l.id, n.id, o.components, CASE typeof(o.stored_bytes) WHEN 'text' THEN CAST(o.stored_bytes AS BLOB) ELSE o.stored_bytes END,
       CASE typeof(o.decoded_bytes) WHEN 'text' THEN CAST(o.decoded_bytes AS BLOB) ELSE o.decoded_bytes END, o.attributes
FROM main.older_objects AS o JOIN main.architecture AS a ON a.digest = 'of the older ' || o.path JOIN main.layout AS l ON l.architecture = a.id
     JOIN main.name AS n ON n.name = o.object;
INSERT INTO main.share(layout, kind, objects, elements, bytes)
SELECT l.id, t.kind, count(*), CAST(total(s.elements) AS INTEGER), sum(d.stored_bytes)
FROM main.layout AS l JOIN main.tensor AS t ON t.architecture = l.architecture JOIN main.shape AS s ON s.id = t.shape
     JOIN main.detail AS d ON d.layout = l.id AND d.name = t.name
WHERE l.digest GLOB 'of the older *' GROUP BY l.id, t.kind;
INSERT INTO main.file(host, path, root, layout, container, version, size, mtime, data_offset, manifest_bytes, refreshed, error_kind, error,
                      attributes)
SELECT h.id, f.path, r.id, l.id, f.container, f.version, f.size, f.mtime, 0, f.manifest_bytes, f.refreshed,
       CASE WHEN f.error IS NOT NULL THEN 'transient' END, f.error, f.attributes
FROM main.older_files AS f JOIN main.host AS h ON h.name = '' JOIN main.root AS r ON r.host = h.id AND r.source IS f.source
     LEFT JOIN main.architecture AS a ON a.digest = 'of the older ' || f.path LEFT JOIN main.layout AS l ON l.architecture = a.id;
INSERT OR IGNORE INTO main.found(root, file) SELECT f.root, f.id FROM main.host AS h JOIN main.file AS f ON f.host = h.id WHERE h.name = '';
INSERT INTO main.digest(file, name, storage, stated)
SELECT f.id, n.id, p.storage, c.digest
FROM main.older_components AS c JOIN main.host AS h ON h.name = '' JOIN main.file AS f ON f.host = h.id AND f.path = c.path
     JOIN main.name AS n ON n.name = c.object JOIN main.part AS p ON p.layout = f.layout AND p.name = n.id
     JOIN main.storage AS s ON s.id = p.storage AND s.component = c.component
WHERE c.digest IS NOT NULL;
INSERT INTO main.attribute(file, layout, name, key, value, type)
SELECT CASE WHEN x.object IS NULL THEN f.id END, CASE WHEN x.object IS NOT NULL THEN f.layout END, n.id, x.key, x.value, x.type
FROM main.older_attributes AS x JOIN main.host AS h ON h.name = '' JOIN main.file AS f ON f.host = h.id AND f.path = x.path
     LEFT JOIN main.name AS n ON n.name = x.object;
INSERT INTO main.run_files(tracker, database, run, name, status, path, logged) SELECT * FROM main.older_run_files;
DROP TABLE main.older_files;
DROP TABLE main.older_objects;
DROP TABLE main.older_components;
DROP TABLE main.older_attributes;
DROP TABLE main.older_run_files;

-- ---- Views of the contents of files. Their columns are those of zt_files, zt_objects, zt_components and zt_attributes, with the same
-- meaning, followed by the host and numbers to join by.

-- Which files are there, and what do they contain?
DROP VIEW IF EXISTS main.files;
CREATE VIEW main.files AS
SELECT f.path, r.source, f.container, f.version, f.size, f.mtime, a.objects, l.components,
       CASE typeof(l.stored_bytes) WHEN 'blob' THEN CAST(l.stored_bytes AS TEXT) ELSE l.stored_bytes END AS stored_bytes,
       CASE typeof(l.decoded_bytes) WHEN 'blob' THEN CAST(l.decoded_bytes AS TEXT) ELSE l.decoded_bytes END AS decoded_bytes,
       f.manifest_bytes, f.attributes, f.error, CASE WHEN f.refreshed < 100000000000 THEN f.refreshed ELSE f.refreshed / 1000 END AS refreshed, f.error_kind,
       CASE l.components WHEN 0 THEN 0 ELSE l.distinct_bytes END AS distinct_bytes, f.fingerprint, f.device, f.inode,
       h.name AS host, r.path AS root, f.id AS file, f.layout, l.architecture, s.mtime AS mtime_ns, s.ctime AS ctime_ns, t.etag
FROM file AS f JOIN host AS h ON h.id = f.host JOIN root AS r ON r.id = f.root LEFT JOIN tag AS t ON t.file = f.id
     LEFT JOIN stamp AS s ON s.file = f.id AND s.path = '' LEFT JOIN layout AS l ON l.id = f.layout LEFT JOIN architecture AS a ON a.id = l.architecture;

-- DELETE FROM files WHERE path = '/data/old.zt' forgets a file.
DROP TRIGGER IF EXISTS main.files_delete;
CREATE TRIGGER main.files_delete INSTEAD OF DELETE ON files BEGIN
  DELETE FROM file WHERE id = OLD.file;
END;

-- Which objects does each layout have, and how large are they?
DROP VIEW IF EXISTS main.layout_objects;
CREATE VIEW main.layout_objects AS
SELECT l.id AS layout, t.name, t.kind, t.shape, CASE WHEN d.layout IS NULL THEN 1 ELSE d.components END AS components,
       CASE WHEN d.layout IS NULL THEN p.length ELSE d.stored_bytes END AS stored_bytes,
       CASE WHEN d.layout IS NULL THEN p.decoded_length ELSE d.decoded_bytes END AS decoded_bytes,
       coalesce(d.attributes, '{}') AS attributes
FROM layout AS l JOIN tensor AS t ON t.architecture = l.architecture
     LEFT JOIN detail AS d ON d.layout = l.id AND d.name = t.name
     LEFT JOIN part AS p ON p.layout = l.id AND p.name = t.name AND d.layout IS NULL;

-- Which objects (tensors) does each file have?
DROP VIEW IF EXISTS main.objects;
CREATE VIEW main.objects AS
SELECT f.path, n.name AS object, k.format, k.dtype, k.type, s.shape, s.rank,
       CASE typeof(s.elements) WHEN 'blob' THEN CAST(s.elements AS TEXT) ELSE s.elements END AS elements, o.components,
       CASE typeof(o.stored_bytes) WHEN 'blob' THEN CAST(o.stored_bytes AS TEXT) ELSE o.stored_bytes END AS stored_bytes,
       CASE typeof(o.decoded_bytes) WHEN 'blob' THEN CAST(o.decoded_bytes AS TEXT) ELSE o.decoded_bytes END AS decoded_bytes,
       o.attributes, p.fingerprint, h.name AS host, f.id AS file
FROM file AS f JOIN host AS h ON h.id = f.host JOIN layout_objects AS o ON o.layout = f.layout
     JOIN name AS n ON n.id = o.name JOIN kind AS k ON k.id = o.kind JOIN shape AS s ON s.id = o.shape
     LEFT JOIN fingerprint AS p ON p.file = f.id AND p.name = o.name;

-- Which components (stored ranges of bytes) does each object have?
DROP VIEW IF EXISTS main.components;
CREATE VIEW main.components AS
SELECT f.path, n.name AS object, s.component, s.dtype, s.type, s.encoding, s.byte_order,
       CASE WHEN p.shard IS NULL THEN p.offset + f.data_offset ELSE p.offset END AS offset,
       CASE typeof(p.length) WHEN 'blob' THEN CAST(p.length AS TEXT) ELSE p.length END AS length,
       CASE typeof(p.decoded_length) WHEN 'blob' THEN CAST(p.decoded_length AS TEXT) ELSE p.decoded_length END AS decoded_length,
       coalesce(d.stated, d.algorithm || ':' || lower(hex(d.value))) AS digest, p.shard, s.digest_of, h.name AS host, f.id AS file
FROM file AS f JOIN host AS h ON h.id = f.host JOIN part AS p ON p.layout = f.layout
     JOIN name AS n ON n.id = p.name JOIN storage AS s ON s.id = p.storage
     LEFT JOIN digest AS d ON d.file = f.id AND d.name = p.name AND d.storage = p.storage;

-- Which attributes do files and objects have? (object is NULL: the file itself.)
DROP VIEW IF EXISTS main.attributes;
CREATE VIEW main.attributes AS
SELECT f.path, CAST(NULL AS TEXT) AS object, a.key, a.value, a.type, h.name AS host, f.id AS file
FROM file AS f JOIN host AS h ON h.id = f.host JOIN attribute AS a ON a.file = f.id
UNION ALL
SELECT f.path, n.name, a.key, a.value, a.type, h.name, f.id
FROM file AS f JOIN host AS h ON h.id = f.host JOIN attribute AS a ON a.layout = f.layout JOIN name AS n ON n.id = a.name;

-- Which collections are there, on which machines?
DROP VIEW IF EXISTS main.roots;
CREATE VIEW main.roots AS
SELECT h.name AS host, r.path, r.source, (SELECT count(*) FROM found AS f WHERE f.root = r.id) AS files,
       datetime(CASE WHEN r.refreshed < 100000000000 THEN r.refreshed ELSE r.refreshed / 1000 END, 'unixepoch') AS refreshed, r.id AS root
FROM root AS r JOIN host AS h ON h.id = r.host;

-- Which errors and warnings did zt_check find?
DROP VIEW IF EXISTS main.findings;
CREATE VIEW main.findings AS
SELECT f.path, g.object, g.component, g.severity, g.rule, g.message, h.name AS host, f.id AS file
FROM finding AS g JOIN file AS f ON f.id = g.file JOIN host AS h ON h.id = f.host WHERE g.severity IS NOT 'note';

-- Which notes does zt_check have, for which no file is at fault?
DROP VIEW IF EXISTS main.notes;
CREATE VIEW main.notes AS
SELECT f.path, g.object, g.component, g.rule, g.message, h.name AS host, f.id AS file
FROM finding AS g JOIN file AS f ON f.id = g.file JOIN host AS h ON h.id = f.host WHERE g.severity = 'note';

-- Which files did refreshes add, change, move and remove, and when?
DROP VIEW IF EXISTS main.changes;
CREATE VIEW main.changes AS
SELECT datetime(CASE WHEN c.at < 100000000000 THEN c.at ELSE c.at / 1000 END, 'unixepoch') AS at, h.name AS host, c.path, c.change, c.was, c.size, c.mtime
FROM change AS c JOIN host AS h ON h.id = c.host;

-- ---- Views that answer questions

-- Which names do tensor files have? A directory stands for the files with these names, and the scripts for experiment trackers
-- recognize models by them among a run's artifacts.
DROP VIEW IF EXISTS main.file_names;
CREATE VIEW main.file_names AS
SELECT column1 AS pattern
FROM (VALUES ('*.zt'), ('*.safetensors'), ('*.gguf'), ('*.npy'), ('*.eqx'), ('*.npz'), ('*.pt'), ('*.pth'), ('*.ckpt'), ('*.ptl'), ('*.ot'), ('*.pt.tar'), ('*.pth.tar'), ('*model*.bin'), ('*adapter*.bin'), ('*lora*.bin'), ('*embeds*.bin'), ('optimizer*.bin'), ('*.pkl'), ('*.pickle'), ('*.joblib'), ('*.pkl.gz'), ('*.pkl.z'), ('*.joblib.gz'), ('*.joblib.z'), ('*.pdparams'), ('*.pdopt'), ('*.onnx'), ('*.h5'), ('*.hdf5'), ('*.keras'), ('*.tflite'), ('*.msgpack'), ('*.index'), ('*.mat'), ('*.dduf'), ('*.llamafile'), ('*.pt2'));

-- Which name do people use for the type of a kind of tensor? For a quantized tensor of GGUF it is the block's: q5_0.
DROP VIEW IF EXISTS main.kinds;
CREATE VIEW main.kinds AS
SELECT id, format, dtype, CASE WHEN format GLOB 'gguf.*' THEN substr(format, 6) ELSE type END AS type FROM kind;

-- Why is nothing known of a file's contents? It is broken (or missing, or denied), of a format that is recognized but not read
-- (unsupported), or not a tensor file, neither by its name nor by its content (other). The last kind comes from sources such as **/*.
DROP VIEW IF EXISTS main.troubles;
CREATE VIEW main.troubles AS
SELECT f.id AS file, CASE WHEN f.error_kind = 'unsupported' THEN 'unsupported'
                          WHEN f.error_kind = 'unknown'
                           AND NOT EXISTS (SELECT 1 FROM file_names AS n
                                           WHERE lower(replace(f.path, rtrim(f.path, replace(f.path, '/', '')), '')) GLOB n.pattern) THEN 'other'
                          ELSE 'broken' END AS trouble
FROM file AS f WHERE f.error IS NOT NULL;

-- Which files hold only bytes of others, as zTensor's data shards do? They have no manifest.
DROP VIEW IF EXISTS main.data_shards;
CREATE VIEW main.data_shards AS
SELECT id AS file FROM file WHERE container = 'ztensor' AND manifest_bytes = 0;

-- Which layouts did an earlier version read? Until version 4, files could share an architecture whose types differ if only an object
-- tells them, as in MATLAB's complex matrices: all had those of the file that was read first. refresh.sql marks what it reads.
DROP VIEW IF EXISTS main.outdated_layouts;
CREATE VIEW main.outdated_layouts AS
SELECT l.id AS layout FROM architecture AS a JOIN layout AS l ON l.architecture = a.id WHERE a.digest NOT GLOB '5 *';

-- Which files did an earlier version read, so that their types and distinct_bytes may be wrong? The next refresh of their sources reads
-- them again. If it finds a file moved, the refresh after it does.
DROP VIEW IF EXISTS main.outdated_files;
CREATE VIEW main.outdated_files AS
SELECT f.path, r.source, h.name AS host, f.id AS file
FROM file AS f JOIN root AS r ON r.id = f.root JOIN host AS h ON h.id = f.host
WHERE f.layout IN (SELECT layout FROM outdated_layouts);

-- Which sources have been catalogued, and when was each last read? A file that several sources find counts for each. `files` and
-- `bytes` count names; in distinct_bytes, several names of one file count once. Files that are not tensor files count only in `others`.
DROP VIEW IF EXISTS main.sources;
CREATE VIEW main.sources AS
WITH one AS (
  SELECT o.root, f.size, t.trouble, f.refreshed, f.layout,
         f.inode IS NULL OR row_number() OVER (PARTITION BY o.root, f.device, f.inode ORDER BY t.trouble IS 'other', f.id) = 1 AS first
  FROM found AS o JOIN file AS f ON f.id = o.file LEFT JOIN troubles AS t ON t.file = f.id
)
SELECT r.source, count(f.root) FILTER (WHERE f.trouble IS NOT 'other') AS files, count(*) FILTER (WHERE f.trouble = 'broken') AS broken,
       coalesce(sum(a.objects), 0) AS objects, coalesce(sum(f.size) FILTER (WHERE f.trouble IS NOT 'other'), 0) AS bytes,
       datetime(CASE WHEN max(f.refreshed) < 100000000000 THEN max(f.refreshed) ELSE max(f.refreshed) / 1000 END, 'unixepoch') AS refreshed,
       coalesce(sum(f.size) FILTER (WHERE f.first AND f.trouble IS NOT 'other'), 0) AS distinct_bytes,
       h.name AS host, r.id AS root, count(*) FILTER (WHERE f.trouble = 'unsupported') AS unsupported,
       count(*) FILTER (WHERE f.trouble = 'other') AS others
FROM root AS r JOIN host AS h ON h.id = r.host LEFT JOIN one AS f ON f.root = r.id
     LEFT JOIN layout AS l ON l.id = f.layout LEFT JOIN architecture AS a ON a.id = l.architecture
GROUP BY r.id;

-- DELETE FROM sources WHERE source = '/data/old-models' forgets a source, and the files that no other source has found.
DROP TRIGGER IF EXISTS main.sources_delete;
CREATE TRIGGER main.sources_delete INSTEAD OF DELETE ON sources BEGIN
  DELETE FROM found WHERE root = OLD.root;
  UPDATE file
  SET root = (SELECT o.root FROM found AS o JOIN root AS r ON r.id = o.root WHERE o.file = file.id ORDER BY r.refreshed DESC, r.id DESC LIMIT 1)
  WHERE root = OLD.root AND EXISTS (SELECT 1 FROM found AS o WHERE o.file = file.id);
  DELETE FROM file WHERE root = OLD.root;
  DELETE FROM root WHERE id = OLD.root;
END;

-- Which files cannot be read, and why?
DROP VIEW IF EXISTS main.broken;
CREATE VIEW main.broken AS
SELECT f.path, f.size, datetime(f.mtime, 'unixepoch') AS modified, f.error, f.error_kind, h.name AS host
FROM troubles AS t JOIN file AS f ON f.id = t.file JOIN host AS h ON h.id = f.host WHERE t.trouble = 'broken';

-- Which files are of a format that is recognized but not read?
DROP VIEW IF EXISTS main.unsupported;
CREATE VIEW main.unsupported AS
SELECT f.path, f.size, datetime(f.mtime, 'unixepoch') AS modified, f.error, h.name AS host
FROM troubles AS t JOIN file AS f ON f.id = t.file JOIN host AS h ON h.id = f.host WHERE t.trouble = 'unsupported';

-- Which files have sources found that are not tensor files, neither by their names nor by their content?
DROP VIEW IF EXISTS main.other_files;
CREATE VIEW main.other_files AS
SELECT f.path, f.size, datetime(f.mtime, 'unixepoch') AS modified, f.error, h.name AS host
FROM troubles AS t JOIN file AS f ON f.id = t.file JOIN host AS h ON h.id = f.host WHERE t.trouble = 'other';

-- Which files are on disk, each counted once, however many names it has (hard links, symbolic links, the snapshots of a cache)? path is
-- the first of the names, and all else is what was found there. A name that makes it a tensor file comes before one that does not, which
-- does not count then. The fingerprint may have been computed by another name.
DROP VIEW IF EXISTS main.physical_files;
CREATE VIEW main.physical_files AS
WITH named AS (
  SELECT f.*, t.trouble, row_number() OVER (one ORDER BY t.trouble IS 'other', path) AS number,
         CASE WHEN t.trouble IS 'other' THEN count(*) OVER one ELSE count(*) FILTER (WHERE t.trouble IS NOT 'other') OVER one END AS names,
         max(fingerprint) OVER (PARTITION BY host, device, inode, CASE WHEN inode IS NULL THEN id END, layout, size, mtime) AS known
  FROM file AS f LEFT JOIN troubles AS t ON t.file = f.id
  WINDOW one AS (PARTITION BY host, device, inode, CASE WHEN inode IS NULL THEN id END)
)
SELECT f.path, f.names, f.container, f.version, f.size, f.mtime, a.objects, a.parameters, l.stored_bytes,
       f.error, f.trouble, f.known AS fingerprint, f.device, f.inode, h.name AS host, f.id AS file, f.layout
FROM named AS f JOIN host AS h ON h.id = f.host
     LEFT JOIN layout AS l ON l.id = f.layout LEFT JOIN architecture AS a ON a.id = l.architecture
WHERE f.number = 1;

-- How much is there in all? `names` are paths; `files` and the columns after it count each file on disk once. Files that are not tensor
-- files count only in `others`.
DROP VIEW IF EXISTS main.totals;
CREATE VIEW main.totals AS
SELECT coalesce(sum(names) FILTER (WHERE trouble IS NOT 'other'), 0) AS names, count(*) FILTER (WHERE trouble IS NOT 'other') AS files,
       count(*) FILTER (WHERE trouble = 'broken') AS broken, count(*) FILTER (WHERE trouble = 'unsupported') AS unsupported,
       count(*) FILTER (WHERE trouble = 'other') AS others, coalesce(sum(objects), 0) AS objects,
       CAST(total(parameters) AS INTEGER) AS parameters,
       coalesce(sum(size) FILTER (WHERE trouble IS NOT 'other'), 0) AS bytes_on_disk,
       coalesce(sum(size * names) FILTER (WHERE trouble IS NOT 'other'), 0) AS bytes_by_name
FROM physical_files;

-- Which generations of the format are there, and how much of each? Several names of one file count once.
DROP VIEW IF EXISTS main.generations;
CREATE VIEW main.generations AS
SELECT container, version, count(*) AS files, sum(objects) AS objects, sum(stored_bytes) AS stored_bytes
FROM physical_files WHERE layout IS NOT NULL GROUP BY container, version;

-- How large is each model: tensors, parameters, bytes? (A sparse tensor counts with all its elements. In distinct_bytes, bytes that
-- tied tensors share count once.) A model in several files is one row of whole_models.
DROP VIEW IF EXISTS main.models;
CREATE VIEW main.models AS
SELECT f.path, f.version, a.objects, a.parameters, l.stored_bytes, l.decoded_bytes, datetime(f.mtime, 'unixepoch') AS modified,
       CASE l.components WHEN 0 THEN 0 ELSE l.distinct_bytes END AS distinct_bytes, h.name AS host
FROM file AS f JOIN host AS h ON h.id = f.host LEFT JOIN layout AS l ON l.id = f.layout
     LEFT JOIN architecture AS a ON a.id = l.architecture
WHERE f.error IS NULL;

-- Which files are parts of a model, by their names: NAME-00002-of-00003.safetensors, .gguf and so on? The number of parts has five or six
-- digits (`digits`). `model` is the path that the model would have in one file.
DROP VIEW IF EXISTS main.model_parts;
CREATE VIEW main.model_parts AS
SELECT host, substr(stem, 1, length(stem) - 10 - digits) || substr(path, length(stem) + 1) AS model,
       CAST(substr(stem, -9 - digits, 5) AS INTEGER) AS number, CAST(substr(stem, -digits) AS INTEGER) AS parts, file, digits
FROM (SELECT *, CASE WHEN stem GLOB '*-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]' THEN 5
                     WHEN stem GLOB '*-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9][0-9]' THEN 6 END AS digits
      FROM (SELECT f.host, f.path, f.id AS file,
                   substr(f.path, 1, length(rtrim(f.path, replace(replace(f.path, '.', ''), '/', ''))) - 1) AS stem
            FROM file AS f WHERE f.path GLOB '*-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]*.*'))
WHERE CAST(substr(stem, -9 - digits, 5) AS INTEGER) BETWEEN 1 AND CAST(substr(stem, -digits) AS INTEGER);

-- How large is each model as a whole, in one file or in several: tensors, parameters, bytes? `missing` lists the names of missing
-- files, and `broken` counts unreadable ones. If there are none of these, the row describes all files of the model. The fingerprint,
-- which a second pass makes, is that of the same model in one file. For a model in one file, `parts` is 1 and `file` is its number.
DROP VIEW IF EXISTS main.whole_models;
CREATE VIEW main.whole_models AS
WITH RECURSIVE part AS (
  SELECT p.host, p.model, p.parts, p.digits, p.number, f.path, f.id AS file, f.container, f.version, f.size, f.error, f.fingerprint, a.objects, a.parameters,
         l.stored_bytes, f.mtime, f.fingerprinted,
         CASE WHEN f.inode IS NULL THEN f.id ELSE f.host || ' ' || f.device || ' ' || f.inode END AS place
  FROM model_parts AS p CROSS JOIN file AS f ON f.id = p.file
       LEFT JOIN layout AS l ON l.id = f.layout LEFT JOIN architecture AS a ON a.id = l.architecture
), ordered AS (
  SELECT *, group_concat(coalesce(fingerprint, ''), ' ') OVER parts AS made_of, group_concat(place, ',') OVER parts AS places
  FROM part WINDOW parts AS (PARTITION BY host, model, parts ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
), several AS (
  SELECT host, model, parts, max(digits) AS digits, count(*) AS files, max(container) AS container, max(version) AS version, sum(size) AS size,
         count(error) AS broken, sum(objects) AS objects, sum(parameters) AS parameters, sum(stored_bytes) AS stored_bytes, max(mtime) AS mtime,
         max(made_of) AS made_of, max(places) AS places, min(file) AS file,
         count(*) = parts AND count(*) = count(CASE WHEN objects = 0 THEN fingerprinted ELSE fingerprint END) AS known
  FROM ordered GROUP BY host, model, parts
), expected(host, model, parts, digits, number) AS (
  SELECT host, model, parts, digits, 1 FROM several WHERE files < parts
  UNION ALL
  SELECT host, model, parts, digits, number + 1 FROM expected WHERE number < parts
), absent AS (
  SELECT e.host, e.model, e.parts, group_concat(printf('%s-%05d-of-%0*d%s', e.name, e.number, e.digits, e.parts, e.suffix), ', ') AS names
  FROM (SELECT *, replace(substr(model, 1, length(rtrim(model, replace(model, '.', ''))) - 1), rtrim(model, replace(model, '/', '')), '') AS name,
               substr(model, length(rtrim(model, replace(model, '.', '')))) AS suffix FROM expected) AS e
  WHERE NOT EXISTS (SELECT 1 FROM part AS p WHERE p.host = e.host AND p.model = e.model AND p.parts = e.parts AND p.number = e.number)
  GROUP BY e.host, e.model, e.parts
)
SELECT s.model AS path, s.container, s.version, s.parts, s.files, m.names AS missing, s.broken, s.objects, s.parameters, s.stored_bytes, s.size,
       datetime(s.mtime, 'unixepoch') AS modified, CASE WHEN s.known THEN w.fingerprint END AS fingerprint, h.name AS host, s.file,
       s.places AS place, CASE WHEN s.known THEN s.made_of END AS made_of
FROM several AS s JOIN host AS h ON h.id = s.host LEFT JOIN absent AS m ON m.host = s.host AND m.model = s.model AND m.parts = s.parts
     LEFT JOIN whole AS w ON w.parts = s.made_of
UNION ALL
SELECT f.path, f.container, f.version, 1, 1, NULL, 0, a.objects, a.parameters, l.stored_bytes, f.size, datetime(f.mtime, 'unixepoch'),
       f.fingerprint, h.name, f.id, CASE WHEN f.inode IS NULL THEN f.id ELSE f.host || ' ' || f.device || ' ' || f.inode END, NULL
FROM file AS f JOIN host AS h ON h.id = f.host JOIN layout AS l ON l.id = f.layout JOIN architecture AS a ON a.id = l.architecture
WHERE f.error IS NULL AND f.id NOT IN (SELECT file FROM data_shards) AND f.id NOT IN (SELECT file FROM model_parts);

-- How many files have a tensor of this name, and do all of them have one shape and type for it?
DROP VIEW IF EXISTS main.names;
CREATE VIEW main.names AS
WITH used(architecture, files) AS (
  SELECT l.architecture, count(*) FROM file AS f JOIN layout AS l ON l.id = f.layout GROUP BY l.architecture
)
SELECT n.name AS object, sum(u.files) AS files, count(DISTINCT t.shape) AS shapes, count(DISTINCT k.type) AS types,
       min(s.shape) AS shape, min(k.type) AS type
FROM used AS u CROSS JOIN tensor AS t ON t.architecture = u.architecture JOIN name AS n ON n.id = t.name
     JOIN kinds AS k ON k.id = t.kind JOIN shape AS s ON s.id = t.shape
GROUP BY t.name;

-- Which files hold the same kind of model: the same names, formats, shapes and types, whatever the values?
DROP VIEW IF EXISTS main.architectures;
CREATE VIEW main.architectures AS
SELECT count(*) AS files, a.objects, a.parameters, min(f.path) AS first_path, max(f.path) AS last_path, a.id AS architecture
FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN architecture AS a ON a.id = l.architecture
WHERE a.objects > 0 GROUP BY a.id;

-- Which attributes does each file state?
DROP VIEW IF EXISTS main.file_attributes;
CREATE VIEW main.file_attributes AS
SELECT f.path, a.key, a.value, a.type, h.name AS host
FROM attribute AS a JOIN file AS f ON f.id = a.file JOIN host AS h ON h.id = f.host;

-- Which files did each run leave behind? The columns of a file that is not in the catalog are NULL.
DROP VIEW IF EXISTS main.runs;
CREATE VIEW main.runs AS
SELECT r.tracker, r.database, r.run, r.name, r.status, datetime(r.logged, 'unixepoch') AS logged, r.path, f.version,
       f.objects, f.stored_bytes, f.error, f.host, f.file
FROM run_files AS r LEFT JOIN files AS f ON f.path = r.path AND (r.host = '' OR f.host = r.host);

PRAGMA main.user_version = 5;

INSERT INTO catalog_check SELECT wrong FROM catalog_wrong;
RELEASE catalog;
DROP TABLE temp.catalog_check;
DROP TABLE temp.catalog_wrong;
DROP TABLE temp.catalog_names;
