-- The tables of a catalog of version 1, as sql/catalog.sql made them then.
CREATE TABLE host(
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE           -- as zt_host() says, or whoever refreshed
);
CREATE TABLE root(
  id        INTEGER PRIMARY KEY,
  host      INTEGER NOT NULL REFERENCES host(id),
  path      TEXT NOT NULL,            -- the absolute directory that its files are below; / for a list
  source    TEXT NOT NULL,            -- the source as zt_absolute() has it
  refreshed INTEGER,                  -- when that was last, in seconds since 1970
  UNIQUE(host, source)
);
CREATE TABLE name(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE shape(id INTEGER PRIMARY KEY, shape TEXT, rank INTEGER, elements INTEGER);
CREATE TABLE kind(id INTEGER PRIMARY KEY, format TEXT, dtype TEXT, type TEXT);
CREATE TABLE storage(
  id         INTEGER PRIMARY KEY,
  component  TEXT,
  dtype      TEXT,
  type       TEXT,
  encoding   TEXT,
  byte_order TEXT,
  digest_of  TEXT                     -- what a digest covers: stored, decoded or member, as zt_components has it
);
CREATE TABLE architecture(
  id         INTEGER PRIMARY KEY,
  digest     TEXT NOT NULL UNIQUE,    -- zt_files.architecture
  objects    INTEGER,
  parameters INTEGER                  -- elements in all
);
CREATE TABLE tensor(
  architecture INTEGER NOT NULL REFERENCES architecture(id),
  name         INTEGER NOT NULL REFERENCES name(id),
  kind         INTEGER NOT NULL REFERENCES kind(id),
  shape        INTEGER NOT NULL REFERENCES shape(id),
  PRIMARY KEY(architecture, name)
) WITHOUT ROWID;
CREATE TABLE layout(
  id             INTEGER PRIMARY KEY,
  architecture   INTEGER NOT NULL REFERENCES architecture(id),
  digest         TEXT NOT NULL,       -- zt_files.layout
  components     INTEGER,
  stored_bytes   INTEGER,
  decoded_bytes  INTEGER,
  distinct_bytes INTEGER,             -- stored bytes, those that several components share counted once
  UNIQUE(architecture, digest)
);
CREATE TABLE part(
  layout         INTEGER NOT NULL REFERENCES layout(id),
  name           INTEGER NOT NULL REFERENCES name(id),
  storage        INTEGER NOT NULL REFERENCES storage(id),
  offset         INTEGER,             -- in a shard: counted from its first byte
  length         INTEGER,
  decoded_length INTEGER,
  shard          TEXT,                -- the other file that has the bytes; NULL: the file itself
  PRIMARY KEY(layout, name, storage)
) WITHOUT ROWID;
CREATE TABLE detail(
  layout        INTEGER NOT NULL REFERENCES layout(id),
  name          INTEGER NOT NULL REFERENCES name(id),
  components    INTEGER,
  stored_bytes  INTEGER,
  decoded_bytes INTEGER,
  attributes    TEXT,
  PRIMARY KEY(layout, name)
) WITHOUT ROWID;
CREATE TABLE share(
  layout   INTEGER NOT NULL REFERENCES layout(id),
  kind     INTEGER NOT NULL REFERENCES kind(id),
  objects  INTEGER,
  elements INTEGER,
  bytes    INTEGER,
  PRIMARY KEY(layout, kind)
) WITHOUT ROWID;
CREATE TABLE file(
  id             INTEGER PRIMARY KEY,
  host           INTEGER NOT NULL REFERENCES host(id),
  path           TEXT NOT NULL,       -- absolute
  root           INTEGER NOT NULL REFERENCES root(id),   -- by which it was found last
  layout         INTEGER REFERENCES layout(id),          -- NULL: it cannot be read
  container      TEXT,
  version        TEXT,
  size           INTEGER,
  mtime          REAL,
  device         INTEGER,             -- with the inode: which file it is, whatever its names
  inode          INTEGER,
  data_offset    INTEGER,             -- where its data begin
  manifest_bytes INTEGER,
  refreshed      INTEGER,             -- when it was read last, in seconds since 1970
  fingerprint    TEXT,                -- over its objects' names and fingerprints; NULL: not known
  fingerprinted  INTEGER,             -- when it was looked for
  checked        INTEGER,             -- when zt_check went over it; NULL: not yet
  error_kind     TEXT,                -- missing, denied, transient, broken, unknown; NULL: it can be read
  error          TEXT,                -- why it cannot
  attributes     TEXT,
  UNIQUE(host, path)
);
CREATE TABLE digest(
  file      INTEGER NOT NULL REFERENCES file(id),
  name      INTEGER NOT NULL REFERENCES name(id),
  storage   INTEGER NOT NULL REFERENCES storage(id),
  algorithm TEXT,                     -- NULL: nobody can check it
  value     BLOB,
  stated    TEXT,                     -- as the file has it, where that is not algorithm:hexadecimal digits in lower case
  PRIMARY KEY(file, name, storage)
) WITHOUT ROWID;
CREATE TABLE repeated(value BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE fingerprint(
  file        INTEGER NOT NULL REFERENCES file(id),
  name        INTEGER NOT NULL REFERENCES name(id),
  fingerprint TEXT,                   -- NULL: its values cannot be had
  PRIMARY KEY(file, name)
) WITHOUT ROWID;
CREATE TABLE attribute(
  id     INTEGER PRIMARY KEY,
  file   INTEGER REFERENCES file(id),     -- of the file itself, or
  layout INTEGER REFERENCES layout(id),   -- of an object of each file with that layout
  name   INTEGER REFERENCES name(id),
  key    TEXT,
  value  BLOB,                            -- of any type: BLOB converts nothing
  type   TEXT
);
CREATE TABLE finding(
  id        INTEGER PRIMARY KEY,
  file      INTEGER NOT NULL REFERENCES file(id),
  object    TEXT,
  component TEXT,
  severity  TEXT,
  rule      TEXT,
  message   TEXT
);
CREATE TABLE change(
  id     INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,            -- when a refresh saw it, in seconds since 1970
  host   INTEGER NOT NULL REFERENCES host(id),
  path   TEXT NOT NULL,
  change TEXT NOT NULL,               -- added, changed, moved, removed
  was    TEXT,                        -- the path before it was moved
  size   INTEGER,
  mtime  REAL
);
CREATE TABLE run_files(
  tracker  TEXT,                      -- 'mlflow', 'optuna', 'sacred', or your own
  database TEXT,                      -- the tracker's database
  run      TEXT,                      -- the run's id in it
  name     TEXT,                      -- what people call the run
  status   TEXT,                      -- 'finished', 'failed', 'running', or the tracker's own word
  path     TEXT,                      -- absolute
  logged   REAL,                      -- when, in seconds since 1970
  host     TEXT NOT NULL DEFAULT '',  -- whose path it is; '': that of every host in this catalog
  PRIMARY KEY(tracker, database, host, run, path)
) WITHOUT ROWID;
CREATE TABLE metrics(
  pattern   TEXT PRIMARY KEY,
  direction TEXT NOT NULL CHECK(direction IN ('min', 'max'))
) WITHOUT ROWID;
CREATE UNIQUE INDEX shape_shape ON shape(quote(shape));
CREATE UNIQUE INDEX kind_kind ON kind(quote(format), quote(dtype), quote(type));
CREATE UNIQUE INDEX storage_storage ON storage(component, quote(dtype), quote(type), quote(encoding),
                                                                  quote(byte_order), quote(digest_of));
CREATE INDEX tensor_name ON tensor(name);
CREATE INDEX file_path ON file(path);
CREATE INDEX file_root ON file(root);
CREATE INDEX file_layout ON file(layout);
CREATE INDEX file_inode ON file(inode);
CREATE INDEX file_error ON file(error_kind) WHERE error IS NOT NULL;
CREATE INDEX file_fingerprint ON file(fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX digest_value ON digest(value) WHERE value IS NOT NULL;
CREATE INDEX fingerprint_fingerprint ON fingerprint(fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX attribute_file ON attribute(file) WHERE file IS NOT NULL;
CREATE INDEX attribute_layout ON attribute(layout, name) WHERE layout IS NOT NULL;
CREATE INDEX attribute_key ON attribute(key);
CREATE INDEX finding_file ON finding(file);
CREATE INDEX run_files_path ON run_files(path);
CREATE TRIGGER digest_insert AFTER INSERT ON digest WHEN NEW.value IS NOT NULL BEGIN
  INSERT OR IGNORE INTO repeated
  SELECT NEW.value WHERE 2 = (SELECT count(*) FROM (SELECT 1 FROM digest WHERE value = NEW.value LIMIT 2));
END;
CREATE TRIGGER file_delete AFTER DELETE ON file BEGIN
  DELETE FROM digest WHERE file = OLD.id;
  DELETE FROM fingerprint WHERE file = OLD.id;
  DELETE FROM attribute WHERE file = OLD.id;
  DELETE FROM finding WHERE file = OLD.id;
END;
CREATE TRIGGER layout_delete AFTER DELETE ON layout BEGIN
  DELETE FROM part WHERE layout = OLD.id;
  DELETE FROM detail WHERE layout = OLD.id;
  DELETE FROM share WHERE layout = OLD.id;
  DELETE FROM attribute WHERE layout = OLD.id;
END;
CREATE TRIGGER architecture_delete AFTER DELETE ON architecture BEGIN
  DELETE FROM tensor WHERE architecture = OLD.id;
END;
PRAGMA application_id = 0x7A744361;
PRAGMA user_version = 1;
