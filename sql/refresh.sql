-- refresh.sql: brings a catalog up to date with a collection of tensor files.
--
-- Reads the files that are new or whose size or time of change (mtime) is another than in the catalog, removes those that
-- have vanished, records those that cannot be read, and says how many of each. The parameter :source names the collection:
-- a directory, a pattern, a file, or a list of those as a JSON array. Nothing changed: no file is opened. catalog.sql makes the catalog, once:
--
--   sqlite3 catalog.db ".read sql/catalog.sql"
--   sqlite3 catalog.db ".load ./ztensor" ".parameter set :source models" ".read sql/refresh.sql"
--
-- or, in the latter's place:
--
--   sqlite3 -cmd ".load ./ztensor" -cmd ".parameter set :source models" -box catalog.db < sql/refresh.sql
--
-- The shell takes what looks like a number or a calculation for one: .parameter set :source "'2024-06-01'" needs both quotes,
-- and so does a source with a space or a quote in it.
--
-- Paths are catalogued as the source gives them: refresh from the same directory each time, or name an absolute source.
-- Each source removes only what was found under it, so one catalog can hold many. In the same session, others can follow;
-- all of a statement succeeds, or nothing:
--
--   INSERT INTO refresh(source) VALUES ('more/models');
--   INSERT INTO refresh(source) SELECT source FROM sources;
--   SELECT * FROM refresh;
--
-- A source that is gone itself, a file or a directory, is an error, as a misspelt one is: DELETE FROM files WHERE source = '...'
-- forgets what was found there. Where two programs refresh at the same time, .timeout 60000 has one wait for the other.
--
-- The one INSERT at the end does all the work, by TEMP triggers. So a refresh that fails or is killed leaves the catalog as
-- it was, and no transaction open, whatever the shell does after an error. As with make and rsync, a file rewritten with
-- the same size and mtime passes for unchanged.

-- ---- Is there a catalog?

DROP TABLE IF EXISTS temp.refresh_check;
CREATE TEMP TABLE refresh_check(found);
CREATE TEMP TRIGGER refresh_check_insert BEFORE INSERT ON refresh_check WHEN NOT NEW.found BEGIN
  SELECT RAISE(ABORT, 'this database has no catalog yet, or an older one: .read sql/catalog.sql first');
END;
INSERT INTO refresh_check
SELECT EXISTS (SELECT 1 FROM pragma_table_info('files') WHERE name = 'refreshed') AND EXISTS (SELECT 1 FROM pragma_table_info('file_names'));
DROP TABLE refresh_check;

-- ---- What a refresh does

DROP VIEW IF EXISTS temp.refresh_read;
DROP TABLE IF EXISTS temp.refresh_listed;
DROP TABLE IF EXISTS temp.refresh_missing;
DROP TABLE IF EXISTS temp.refresh_broken;
DROP TABLE IF EXISTS temp.refresh;

-- A row is a source, and what was done for it. `files` were found: `added` and `changed` ones were read, `retried` ones,
-- too, because last time the system refused to open them. `removed` ones are gone. `kept` ones were not found, but are
-- below a directory that cannot be listed. `broken` ones, of those found, cannot be read: see the view `broken`.
CREATE TEMP TABLE refresh(source, files, added, changed, retried, unchanged, removed, kept, broken);

-- Files found. Size and mtime are from before reading: a file written to meanwhile is read again next time.
CREATE TEMP TABLE refresh_listed(path TEXT PRIMARY KEY, size, mtime, state, elsewhere) WITHOUT ROWID;
-- Files catalogued and not found
CREATE TEMP TABLE refresh_missing(path TEXT PRIMARY KEY, kept DEFAULT 0) WITHOUT ROWID;
-- Files, and directories, that cannot be read
CREATE TEMP TABLE refresh_broken(path TEXT PRIMARY KEY) WITHOUT ROWID;

-- Inserting here reads a file: all at once, while ztensor remembers its manifest. `odd`: the path would be a pattern or a list
-- if there were no such file, as there may not be any more, or is perhaps a directory's that could not be listed, and now
-- can. Only then the path of each row is looked at, which takes time.
CREATE TEMP VIEW refresh_read AS SELECT NULL AS source, path, size, mtime, NULL AS odd FROM refresh_listed;

CREATE TEMP TRIGGER refresh_read_insert INSTEAD OF INSERT ON refresh_read BEGIN
  INSERT INTO objects
  SELECT NEW.path, object, format, dtype, type, shape, rank, elements, components, stored_bytes, decoded_bytes, attributes
  FROM zt_objects(NEW.path, 'skip') WHERE NOT NEW.odd OR path = NEW.path;
  INSERT INTO components
  SELECT NEW.path, object, component, dtype, type, encoding, byte_order, offset, length, decoded_length, digest, shard
  FROM zt_components(NEW.path, 'skip') WHERE NOT NEW.odd OR path = NEW.path;
  INSERT INTO attributes
  SELECT NEW.path, object, key, value, type FROM zt_attributes(NEW.path, 'skip') WHERE NOT NEW.odd OR path = NEW.path;
  INSERT INTO files
  SELECT NEW.path, NEW.source, z.container, z.version, NEW.size, NEW.mtime, z.objects, z.components, z.stored_bytes,
         z.decoded_bytes, z.manifest_bytes, z.attributes,
         CASE WHEN z.path IS NULL THEN 'ztensor: ' || NEW.path || ': cannot be listed, or has just vanished' ELSE z.error END,
         CAST(strftime('%s', 'now') AS INTEGER)
  FROM (SELECT NEW.path AS path) AS s LEFT JOIN zt_files(s.path) AS z ON z.path = s.path;
END;

CREATE TEMP TRIGGER refresh_insert AFTER INSERT ON refresh BEGIN
  SELECT RAISE(ABORT, 'which files? .parameter set :source models') WHERE NEW.source IS NULL;
  SELECT RAISE(ABORT, 'the source is not text: .parameter set :source "''2024-06-01''" needs both quotes')
  WHERE typeof(NEW.source) <> 'text';

  -- A source that is not there is a row of zt_files, and an error here; no directory is listed, and no file opened.
  SELECT count(*) FROM zt_objects(NEW.source) WHERE path = '';

  -- These columns of zt_files open no file. What the system refused ('cannot open', 'cannot read') may be allowed by now,
  -- and does not show in the mtime; 9 and 2 are the lengths of 'ztensor: ' and ': '.
  INSERT INTO refresh_listed
  SELECT z.path, z.size, z.mtime,
         CASE WHEN f.path IS NULL THEN 'added'
              WHEN f.size IS NOT z.size OR f.mtime IS NOT z.mtime THEN 'changed'
              WHEN substr(f.error, 9 + length(f.path) + 2 + 1, 7) = 'cannot ' THEN 'retried'
              ELSE 'unchanged' END,
         f.source IS NOT NEW.source
  FROM zt_files(NEW.source) AS z LEFT JOIN files AS f ON f.path = z.path;

  DELETE FROM files WHERE path IN (SELECT path FROM refresh_listed WHERE state IN ('changed', 'retried'));
  UPDATE files SET source = NEW.source
  WHERE path IN (SELECT path FROM refresh_listed WHERE state = 'unchanged' AND elsewhere);
  INSERT INTO refresh_read
  SELECT NEW.source, path, size, mtime, path GLOB '*[*?[]*' OR NOT EXISTS (SELECT 1 FROM file_names WHERE path GLOB '*' || pattern)
  FROM refresh_listed WHERE state <> 'unchanged';

  -- Missing is what this source found last time, and not now,
  INSERT INTO refresh_missing(path)
  SELECT path FROM files WHERE source = NEW.source AND path NOT IN (SELECT path FROM refresh_listed);
  -- and what another source found below this directory, if it is nowhere: this source may just pass over it (.hidden/x.zt).
  INSERT INTO refresh_missing(path)
  SELECT path FROM files AS f
  WHERE path > rtrim(NEW.source, '/') || '/' AND path < rtrim(NEW.source, '/') || '0' AND source IS NOT NEW.source
    AND NOT EXISTS (SELECT 1 FROM zt_files(f.path) AS z WHERE z.path = f.path AND z.size IS NOT NULL);

  -- Not missing is what is below a directory that cannot be listed. A zero follows the slash in ASCII.
  INSERT INTO refresh_broken
  SELECT path FROM files WHERE error IS NOT NULL AND path IN (SELECT path FROM refresh_listed);
  UPDATE refresh_missing SET kept = 1
  WHERE path IN (SELECT m.path FROM refresh_broken AS b CROSS JOIN refresh_missing AS m
                 WHERE m.path > rtrim(b.path, '/') || '/' AND m.path < rtrim(b.path, '/') || '0')
     OR EXISTS (SELECT 1 FROM refresh_broken WHERE path = '.');
  DELETE FROM files WHERE path IN (SELECT path FROM refresh_missing WHERE NOT kept);

  UPDATE refresh
  SET files = (SELECT count(*) FROM refresh_listed),
      added = (SELECT count(*) FROM refresh_listed WHERE state = 'added'),
      changed = (SELECT count(*) FROM refresh_listed WHERE state = 'changed'),
      retried = (SELECT count(*) FROM refresh_listed WHERE state = 'retried'),
      unchanged = (SELECT count(*) FROM refresh_listed WHERE state = 'unchanged'),
      removed = (SELECT count(*) FROM refresh_missing WHERE NOT kept),
      kept = (SELECT count(*) FROM refresh_missing WHERE kept),
      broken = (SELECT count(*) FROM refresh_broken)
  WHERE rowid = NEW.rowid;
  DELETE FROM refresh_listed;
  DELETE FROM refresh_missing;
  DELETE FROM refresh_broken;
END;

-- ---- Now

INSERT INTO refresh(source) VALUES (:source);
SELECT * FROM refresh;
