-- refresh.sql: brings a catalog up to date with a collection of tensor files.
--
-- It reads new and changed files, removes vanished files, follows moved files, records unreadable files, and reports the number of
-- each. A collection is a directory, a pattern, a file, or a list of these as a JSON array, here or remote. If nothing has changed, no file is opened.
-- catalog.sql makes the catalog, once:
--
--   sqlite3 catalog.db ".read sql/catalog.sql"
--   sqlite3 catalog.db ".load ./ztensor" ".parameter set :source models" ".read sql/refresh.sql"
--
-- or, in place of the second line:
--
--   sqlite3 -cmd ".load ./ztensor" -cmd ".parameter set :source models" -box catalog.db < sql/refresh.sql
--
-- The shell converts text that looks like a number or a calculation: .parameter set :source "'2024-06-01'" needs both quotes, and so
-- does a source with a space or a quote in it.
--
-- Without :source, this script only defines refreshes, in TEMP tables and triggers. Any host of SQLite that has loaded ztensor runs the
-- script once a connection. Each refresh is then one statement, also in the shell:
--
--   INSERT INTO refresh(source) VALUES ('more/models');
--   INSERT INTO refresh(source) SELECT source FROM sources WHERE host = zt_host();
--   SELECT * FROM refresh;
--
-- A statement succeeds completely or has no effect, even if it is killed. Paths in the catalog are absolute (zt_absolute()), so that
-- the current directory and the spelling of a source do not matter. Paths belong to the host that zt_host() names. In containers, whose
-- names change, call SELECT zt_host('name') first. INSERT INTO refresh(source, host) names another host for one source.
--
-- A file has changed if its size, its inode, its mtime or its ctime differs from the catalog, the times to the nanosecond. It has also
-- changed if one of these has changed for another file that holds some of its bytes. The system sets ctime, so ctime reveals a rewrite
-- whose mtime was restored. A new mode or hard link changes ctime, too, and the file is then read again needlessly. A file counts as
-- moved, from any source, if a missing file had the same inode, size and mtime and was made at the same time, and if no other file holds
-- some of its bytes. A moved file is not read again. A rewrite in place that restores its mtime, after the move, is therefore not noticed.
-- If the system does not tell when a file was made, no file counts as moved: it is removed and added. Where times are coarse (Linux
-- before 6.13, FAT, many network file systems), a rewrite of the same size is not noticed if it comes after the refresh has read the file,
-- and still within the tick of the clock in which the file was last written.
--
-- Remote sources, s3://bucket/prefix/ or hf://org/model, need the entry point sqlite3_ztensor_remote_init. Their files belong to the
-- host of their endpoint (zt_endpoint()), so that two machines have one row of a file. A list has sources of one host. A remote file
-- has changed if its size or its entity tag differs, without a tag its size or its mtime. So a bucket of 10,000 unchanged files costs its
-- listing, ten requests. A remote file never counts as moved. A listing that fails is an error, and removes nothing. Files that cannot be
-- reached or are denied stay as they were, and are `kept`. So do files of which the hub says with 401 that they do not exist: without a
-- token, a private one is none to it. So does an unchanged file if another one with some of its bytes cannot be reached. A file
-- that can no longer be reached while it is read is recorded with that error, and read again by the next refresh. A URL with a query is
-- refused, because it may be a credential.
--
-- A pattern of all names, models/**/*, finds names without an extension, such as those in caches of the Hugging Face hub and of DVC.
-- Files that are not tensor files are then passed over: they are counted only in `others`, shown by the view other_files, and not read
-- again.
--
-- Each source removes only files that were found under it. So one catalog can hold many sources, and several sources may find one file.
-- A missing source, a file or a directory, is an error, like a misspelt one. DELETE FROM sources WHERE source = '...' forgets it with
-- the files that were found there. If two programs refresh at the same time, .timeout 60000 makes one wait for the other.
--
-- A second pass reads all bytes of files. It takes the next files (100 by default) of this host that it has not seen since they changed.
-- Each statement is a transaction, so that a pass continues where it stopped, until `files` is 0. `left` counts the remaining files. At
-- the end, these are files that cannot be opened now, or that have changed since the last refresh, and remote files that could not be
-- read to their ends, which are taken again after the next refresh:
--
--   INSERT INTO refresh_pass(pass, files) VALUES ('fingerprint', 1000), ('check', 1000);
--   SELECT * FROM refresh_pass;
--
-- INSERT INTO refresh_pass(pass, files, host) takes files of another host, such as an endpoint's.
--
-- A fingerprint is over the values of a tensor, or of all tensors of a file, in any format. check saves the findings of zt_check.

-- ---- Is there a catalog?

DROP TABLE IF EXISTS temp.refresh_check;
CREATE TEMP TABLE refresh_check(found);
CREATE TEMP TRIGGER refresh_check_insert BEFORE INSERT ON refresh_check WHEN NOT NEW.found BEGIN
  SELECT RAISE(ABORT, 'this database has no catalog yet, or one of another version: .read sql/catalog.sql first');
END;
INSERT INTO refresh_check
SELECT (SELECT application_id FROM pragma_application_id) = 0x7A744361 AND (SELECT user_version FROM pragma_user_version) = 5;
DROP TABLE refresh_check;

DROP VIEW IF EXISTS temp.refresh_read;
DROP VIEW IF EXISTS temp.refresh_layout;
DROP VIEW IF EXISTS temp.refresh_touched;
DROP TABLE IF EXISTS temp.refresh_now;
DROP TABLE IF EXISTS temp.refresh_listed;
DROP TABLE IF EXISTS temp.refresh_missing;
DROP TABLE IF EXISTS temp.refresh_broken;
DROP TABLE IF EXISTS temp.refresh_unreached;
DROP TABLE IF EXISTS temp.refresh_hosts;
DROP TABLE IF EXISTS temp.refresh_trouble;
DROP TABLE IF EXISTS temp.refresh_stale;
DROP TABLE IF EXISTS temp.refresh_moved;
DROP TABLE IF EXISTS temp.refresh_object;
DROP TABLE IF EXISTS temp.refresh_component;
DROP TABLE IF EXISTS temp.refresh_passed;
DROP TABLE IF EXISTS temp.refresh_explained;
DROP TABLE IF EXISTS temp.refresh_failed;
DROP TABLE IF EXISTS temp.refresh_pass;
DROP TABLE IF EXISTS temp.refresh;

-- A row is a source with the results of its refresh. `files` counts the files that were found. `added` and `changed` files were read.
-- So were `retried` files, which the system refused to open last time, or which an earlier version of the catalog read
-- (outdated_files, whose results of second passes stay). `moved` files were known under another path. `removed` files are gone. `kept`
-- files were not found, but are below a directory that cannot be listed, or are remote and cannot be reached now. `broken` files were
-- found and cannot be read: see the view `broken`. `unsupported` files are of a format that is not read. `others` were found, are not
-- tensor files, and count nowhere else.
CREATE TEMP TABLE refresh(source, files, added, changed, retried, unchanged, removed, kept, broken, moved, host, unsupported, others);

-- ---- Temporary data of a running refresh

-- The source as in the catalog, its row numbers in main.host and main.root, and whether it is remote.
CREATE TEMP TABLE refresh_hosts(name, remote, signed);
CREATE TEMP TABLE refresh_now(host, root, source, at, remote);
-- Files found, as they were before reading: a file that changes meanwhile is read again next time. An unchanged file has only its
-- number, and usually no state: only the first statement visits it. `departed` is a row number of main.departed, for files that another
-- source had lost and this one has found again. `outdated` files are read again only because an earlier version read them.
CREATE TEMP TABLE refresh_listed(number INTEGER PRIMARY KEY, file INTEGER, path TEXT, size, mtime, device, inode, state, elsewhere, read,
                                 mtime_ns, ctime_ns, birth_ns, departed, etag, outdated);
CREATE UNIQUE INDEX temp.refresh_listed_path ON refresh_listed(path) WHERE path IS NOT NULL;
CREATE INDEX temp.refresh_listed_state ON refresh_listed(state) WHERE state IS NOT NULL;
-- Catalogued files that were not found
CREATE TEMP TABLE refresh_missing(file INTEGER PRIMARY KEY, path TEXT, kept DEFAULT 0, other DEFAULT 0);
-- Remote files that are known, and cannot be reached now
CREATE TEMP TABLE refresh_unreached(file INTEGER PRIMARY KEY);
-- Files that were found but have no data, and the reason
CREATE TEMP TABLE refresh_trouble(file INTEGER PRIMARY KEY, trouble);
-- Files and directories that cannot be read
CREATE TEMP TABLE refresh_broken(path TEXT PRIMARY KEY) WITHOUT ROWID;
-- Files with bytes in another file that has changed since, or is remote and cannot be reached now
CREATE TEMP VIEW refresh_touched AS
SELECT x.file, f.root,
       z.size IS NULL AND zt_endpoint(f.path) IS NOT NULL AND (z.error_kind IN ('transient', 'denied') OR z.error GLOB '*: 401 *') AS unreached
FROM external AS x CROSS JOIN file AS f ON f.id = x.file LEFT JOIN stamp AS s ON s.file = x.file AND s.path = x.path
     LEFT JOIN zt_files AS z ON z.source = x.path AND z.path = x.path
WHERE z.size IS NOT x.size
   OR CASE WHEN z.etag IS NOT NULL THEN s.ctime IS NOT 'etag ' || z.etag
           ELSE z.mtime IS NOT x.mtime OR z.inode IS NOT x.inode
             OR s.file IS NOT NULL AND (z.mtime_ns IS NOT s.mtime OR z.ctime_ns IS NOT s.ctime) END;
-- Found files of that view
CREATE TEMP TABLE refresh_stale(number INTEGER PRIMARY KEY, unreached);
-- Found files that are missing at another path
CREATE TEMP TABLE refresh_moved(file INTEGER PRIMARY KEY, number UNIQUE);

-- ---- Reading. An INSERT into these views reads a file, and ztensor keeps the file's manifest.

-- A new layout, and its architecture if that is new. The rows come from this file and stand for other files, too. Each table is read
-- once, and its rows are counted: if some are missing, the file cannot be reached any more, and nothing is kept. The same is true if
-- the file has been replaced meanwhile.
CREATE TEMP TABLE refresh_object(object, format, dtype, type, shape, rank, elements, components, stored_bytes, decoded_bytes, attributes);
CREATE TEMP TABLE refresh_component(object, component, dtype, type, encoding, byte_order, offset, length, decoded_length, shard, digest_of);
CREATE TEMP VIEW refresh_layout AS
SELECT NULL AS architecture, NULL AS objects, digest AS layout, components, stored_bytes, decoded_bytes, NULL AS data_offset, NULL AS path
FROM layout;
CREATE TEMP TRIGGER refresh_layout_insert INSTEAD OF INSERT ON refresh_layout BEGIN
  INSERT INTO refresh_object
  SELECT object, format, dtype, type, shape, rank, elements, components, stored_bytes, decoded_bytes, attributes
  FROM zt_objects(NEW.path, 'skip') WHERE path = NEW.path;
  INSERT INTO refresh_component
  SELECT object, component, dtype, type, encoding, byte_order, offset, length, decoded_length, shard, digest_of
  FROM zt_components(NEW.path, 'skip') WHERE path = NEW.path;
  INSERT OR IGNORE INTO name(name) SELECT object FROM refresh_object;
  INSERT OR IGNORE INTO shape(shape, rank, elements)
  SELECT shape, rank, CASE typeof(elements) WHEN 'text' THEN CAST(elements AS BLOB) ELSE elements END
  FROM (SELECT DISTINCT shape, rank, elements FROM refresh_object);
  INSERT OR IGNORE INTO kind(format, dtype, type) SELECT DISTINCT format, dtype, type FROM refresh_object;
  INSERT OR IGNORE INTO architecture(digest, objects)
  SELECT NEW.architecture, NEW.objects WHERE (SELECT count(*) FROM refresh_object) = NEW.objects;
  INSERT INTO tensor(architecture, name, kind, shape)
  SELECT a.id, n.id, k.id, s.id
  FROM architecture AS a CROSS JOIN refresh_object AS z CROSS JOIN name AS n ON n.name = z.object
       CROSS JOIN kind AS k ON quote(k.format) = quote(z.format) AND quote(k.dtype) = quote(z.dtype)
                           AND quote(k.type) = quote(z.type)
       CROSS JOIN shape AS s ON quote(s.shape) = quote(z.shape)
  WHERE a.digest = NEW.architecture AND a.parameters IS NULL
  ORDER BY n.id;
  UPDATE architecture
  SET parameters = (SELECT CAST(coalesce(sum(s.elements >> 32) * 4294967296 + sum(s.elements & 4294967295), 0) AS INTEGER)
                    FROM tensor AS t JOIN shape AS s ON s.id = t.shape WHERE t.architecture = architecture.id)
  WHERE digest = NEW.architecture AND parameters IS NULL;
  INSERT OR IGNORE INTO storage(component, dtype, type, encoding, byte_order, digest_of)
  SELECT DISTINCT component, dtype, type, encoding, byte_order, digest_of FROM refresh_component;
  INSERT INTO layout(architecture, digest, components, stored_bytes, decoded_bytes)
  SELECT id, NEW.layout, NEW.components, NEW.stored_bytes, NEW.decoded_bytes
  FROM architecture
  WHERE digest = NEW.architecture AND (SELECT count(*) FROM refresh_object) = NEW.objects
    AND (SELECT count(*) FROM refresh_component) = NEW.components;
  INSERT INTO part(layout, name, storage, offset, length, decoded_length, shard)
  SELECT l.id, n.id, s.id, CASE WHEN z.shard IS NULL THEN z.offset - NEW.data_offset ELSE z.offset END,
         CASE typeof(z.length) WHEN 'text' THEN CAST(z.length AS BLOB) ELSE z.length END,
         CASE typeof(z.decoded_length) WHEN 'text' THEN CAST(z.decoded_length AS BLOB) ELSE z.decoded_length END, z.shard
  FROM architecture AS a CROSS JOIN layout AS l ON l.architecture = a.id CROSS JOIN refresh_component AS z
       CROSS JOIN name AS n ON n.name = z.object
       CROSS JOIN storage AS s ON s.component = z.component AND quote(s.dtype) = quote(z.dtype)
         AND quote(s.type) = quote(z.type) AND quote(s.encoding) = quote(z.encoding)
         AND quote(s.byte_order) = quote(z.byte_order) AND quote(s.digest_of) = quote(z.digest_of)
  WHERE a.digest = NEW.architecture AND l.digest = NEW.layout
  ORDER BY n.id;
  INSERT INTO detail(layout, name, components, stored_bytes, decoded_bytes, attributes)
  SELECT l.id, n.id, z.components,
         CASE typeof(z.stored_bytes) WHEN 'text' THEN CAST(z.stored_bytes AS BLOB) ELSE z.stored_bytes END,
         CASE typeof(z.decoded_bytes) WHEN 'text' THEN CAST(z.decoded_bytes AS BLOB) ELSE z.decoded_bytes END, z.attributes
  FROM architecture AS a CROSS JOIN layout AS l ON l.architecture = a.id CROSS JOIN refresh_object AS z
       CROSS JOIN name AS n ON n.name = z.object
  WHERE a.digest = NEW.architecture AND l.digest = NEW.layout AND (z.components <> 1 OR z.attributes <> '{}');
  INSERT INTO attribute(layout, name, key, value, type)
  SELECT l.id, n.id, z.key, z.value, z.type
  FROM architecture AS a CROSS JOIN layout AS l ON l.architecture = a.id CROSS JOIN zt_attributes(NEW.path, 'skip') AS z
       CROSS JOIN name AS n ON n.name = z.object
  WHERE a.digest = NEW.architecture AND l.digest = NEW.layout AND z.path = NEW.path
    AND EXISTS (SELECT 1 FROM detail WHERE layout = l.id);
  INSERT INTO share(layout, kind, objects, elements, bytes)
  SELECT o.layout, o.kind, count(*),
         CAST(coalesce(sum(s.elements >> 32) * 4294967296 + sum(s.elements & 4294967295), 0) AS INTEGER), sum(o.stored_bytes)
  FROM architecture AS a CROSS JOIN layout AS l ON l.architecture = a.id CROSS JOIN layout_objects AS o ON o.layout = l.id
       CROSS JOIN shape AS s ON s.id = o.shape
  WHERE a.digest = NEW.architecture AND l.digest = NEW.layout
  GROUP BY o.layout, o.kind;
  -- Bytes in several components count once: each component adds what lies behind those that begin before it. A component that is not in
  -- one piece counts whole.
  UPDATE layout SET distinct_bytes = (
    SELECT CASE WHEN layout.components = 0 THEN 0
                ELSE sum(CASE WHEN offset IS NULL THEN length ELSE max(0, ending - max(offset, coalesce(before, offset))) END) END
    FROM (SELECT offset, length, offset + length AS ending,
                 max(offset + length) OVER (PARTITION BY shard ORDER BY offset, length DESC, name, storage
                                            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM part WHERE part.layout = layout.id))
  WHERE architecture = (SELECT id FROM architecture WHERE digest = NEW.architecture) AND digest = NEW.layout;
  -- Each object with attributes has a row of them.
  DELETE FROM layout
  WHERE architecture = (SELECT id FROM architecture WHERE digest = NEW.architecture) AND digest = NEW.layout
    AND ((SELECT count(*) FROM detail AS d WHERE d.layout = layout.id AND d.attributes <> '{}')
           <> (SELECT count(DISTINCT t.name) FROM attribute AS t WHERE t.layout = layout.id)
         OR (SELECT json_array('5 ' || architecture, layout) FROM zt_files(NEW.path) WHERE path = NEW.path)
              IS NOT json_array(NEW.architecture, NEW.layout));
  DELETE FROM refresh_object;
  DELETE FROM refresh_component;
END;

CREATE TEMP VIEW refresh_read AS
SELECT number, path, NULL AS container, NULL AS version, size, mtime, device, inode, NULL AS objects, NULL AS components,
       NULL AS stored_bytes, NULL AS decoded_bytes, NULL AS manifest_bytes, NULL AS attributes, NULL AS error, NULL AS error_kind,
       NULL AS architecture, NULL AS layout, NULL AS data_offset, NULL AS digests, mtime_ns, etag
FROM refresh_listed;
CREATE TEMP TRIGGER refresh_read_insert INSTEAD OF INSERT ON refresh_read BEGIN
  INSERT INTO refresh_layout(architecture, objects, layout, components, stored_bytes, decoded_bytes, data_offset, path)
  SELECT NEW.architecture, NEW.objects, NEW.layout, NEW.components,
         CASE typeof(NEW.stored_bytes) WHEN 'text' THEN CAST(NEW.stored_bytes AS BLOB) ELSE NEW.stored_bytes END,
         CASE typeof(NEW.decoded_bytes) WHEN 'text' THEN CAST(NEW.decoded_bytes AS BLOB) ELSE NEW.decoded_bytes END,
         NEW.data_offset, NEW.path
  WHERE NEW.error IS NULL
    AND NOT EXISTS (SELECT 1 FROM architecture AS a CROSS JOIN layout AS l ON l.architecture = a.id
                    WHERE a.digest = NEW.architecture AND l.digest = NEW.layout);
  INSERT INTO file(host, path, root, layout, container, version, size, mtime, device, inode, data_offset, manifest_bytes, refreshed,
                   error_kind, error, attributes)
  SELECT w.host, NEW.path, w.root, l.id, NEW.container, NEW.version, NEW.size, NEW.mtime, NEW.device, NEW.inode, NEW.data_offset,
         NEW.manifest_bytes, w.at,
         CASE WHEN NEW.error IS NULL AND l.id IS NULL THEN 'transient' ELSE NEW.error_kind END,
         CASE WHEN NEW.error IS NULL AND l.id IS NULL THEN
                'ztensor: ' || NEW.path || ': the file was replaced, or could not be reached again, while it was read'
              ELSE NEW.error END, CASE WHEN l.id IS NOT NULL THEN NEW.attributes END
  FROM refresh_now AS w
       LEFT JOIN architecture AS a ON a.digest = NEW.architecture LEFT JOIN layout AS l ON l.architecture = a.id AND l.digest = NEW.layout
  WHERE true
  ON CONFLICT(host, path) DO UPDATE
  SET root = excluded.root, layout = excluded.layout, container = excluded.container, version = excluded.version, size = excluded.size,
      mtime = excluded.mtime, device = excluded.device, inode = excluded.inode, data_offset = excluded.data_offset,
      manifest_bytes = excluded.manifest_bytes, refreshed = excluded.refreshed, error_kind = excluded.error_kind, error = excluded.error,
      attributes = excluded.attributes,
      (fingerprint, fingerprinted, checked) = (SELECT file.fingerprint, file.fingerprinted, file.checked FROM refresh_listed AS l
                                               WHERE l.number = NEW.number AND l.outdated AND NEW.error IS NULL);
  UPDATE refresh_listed
  SET read = 1, file = (SELECT id FROM file, refresh_now AS w WHERE file.host = w.host AND file.path = NEW.path), size = NEW.size,
      mtime = NEW.mtime, mtime_ns = NEW.mtime_ns, etag = NEW.etag
  WHERE number = NEW.number;
  -- Shard n of model.zt is model-n.zt. Other formats state the place of external data relative to the file's directory. In a URL, its
  -- empty parts and those that are a dot are left out, and characters that end a path are encoded. A URL cannot have others that need
  -- it, control characters: such a file is not watched.
  INSERT INTO external(file, path, size, mtime, inode)
  SELECT x.file, x.path, z.size, z.mtime, z.inode
  FROM (SELECT DISTINCT file,
               CASE WHEN container <> 'ztensor' AND (SELECT remote FROM refresh_now) THEN
                      directory || (SELECT group_concat(CASE WHEN lower(directory) NOT GLOB 'http*' THEN value
                                                             ELSE replace(replace(replace(value, '%', '%25'), '?', '%3F'), '#', '%23') END, '/')
                                    FROM json_each('[' || replace(json_quote(shard), '/', '","') || ']') WHERE value NOT IN ('', '.'))
                    WHEN container <> 'ztensor' THEN directory || shard
                    WHEN length(dotted) > length(directory) + 1 THEN substr(dotted, 1, length(dotted) - 1) || '-' || shard || '.zt'
                    ELSE path || '-' || shard || '.zt' END AS path
        FROM (SELECT f.id AS file, f.container, f.path, rtrim(f.path, replace(f.path, '/', '')) AS directory,
                     rtrim(f.path, replace(f.path, '.', '')) AS dotted, p.shard
              FROM refresh_listed AS l CROSS JOIN file AS f ON f.id = l.file CROSS JOIN part AS p ON p.layout = f.layout
              WHERE l.number = NEW.number AND p.shard IS NOT NULL)) AS x
       LEFT JOIN zt_files AS z ON z.source = x.path AND z.path = x.path
  WHERE x.path IS NOT NULL
    AND (NOT (SELECT remote FROM refresh_now) OR x.path NOT GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*');
  INSERT OR REPLACE INTO stamp(file, path, mtime, ctime, birth)
  SELECT file, '', mtime_ns, ctime_ns, birth_ns FROM refresh_listed WHERE number = NEW.number
  UNION ALL
  SELECT l.file, x.path, z.mtime_ns, CASE WHEN z.etag IS NULL THEN z.ctime_ns ELSE 'etag ' || z.etag END, NULL
  FROM refresh_listed AS l CROSS JOIN external AS x ON x.file = l.file LEFT JOIN zt_files AS z ON z.source = x.path AND z.path = x.path
  WHERE l.number = NEW.number;
  INSERT OR REPLACE INTO tag(file, etag) SELECT file, etag FROM refresh_listed WHERE number = NEW.number AND etag IS NOT NULL;
  INSERT INTO attribute(file, key, value, type)
  SELECT l.file, z.key, z.value, z.type FROM refresh_listed AS l CROSS JOIN zt_attributes(NEW.path, 'skip') AS z
  WHERE l.number = NEW.number AND NEW.attributes <> '{}' AND z.path = NEW.path AND z.object IS NULL;
  INSERT OR IGNORE INTO digest(file, name, storage, algorithm, value, stated)
  SELECT l.file, n.id, s.id, z.digest_algorithm, z.digest_value,
         CASE WHEN z.digest IS NOT z.digest_algorithm || ':' || lower(hex(z.digest_value)) THEN z.digest END
  FROM refresh_listed AS l CROSS JOIN zt_components(NEW.path, 'skip') AS z CROSS JOIN name AS n ON n.name = z.object
       CROSS JOIN storage AS s ON s.component = z.component AND quote(s.dtype) = quote(z.dtype)
         AND quote(s.type) = quote(z.type) AND quote(s.encoding) = quote(z.encoding)
         AND quote(s.byte_order) = quote(z.byte_order) AND quote(s.digest_of) = quote(z.digest_of)
  WHERE l.number = NEW.number AND NEW.digests > 0 AND z.path = NEW.path AND z.digest IS NOT NULL
  ORDER BY n.id;
  -- All that the file has was read, or it is read again.
  UPDATE file
  SET layout = NULL, attributes = NULL, fingerprint = NULL, fingerprinted = NULL, checked = NULL, error_kind = 'transient',
      error = 'ztensor: ' || path || ': the file could not be reached again while it was read'
  WHERE id = (SELECT file FROM refresh_listed WHERE number = NEW.number) AND error IS NULL
    AND (NEW.attributes <> '{}' AND NOT EXISTS (SELECT 1 FROM attribute AS t WHERE t.file = file.id)
         OR NEW.digests > (SELECT count(*) FROM digest AS d WHERE d.file = file.id));
  DELETE FROM attribute
  WHERE file = (SELECT file FROM refresh_listed WHERE number = NEW.number) AND (SELECT error FROM file AS f WHERE f.id = attribute.file) IS NOT NULL;
  DELETE FROM digest
  WHERE file = (SELECT file FROM refresh_listed WHERE number = NEW.number) AND (SELECT error FROM file AS f WHERE f.id = digest.file) IS NOT NULL;
  DELETE FROM layout
  WHERE NEW.error IS NULL AND digest = NEW.layout AND architecture = (SELECT id FROM architecture WHERE digest = NEW.architecture)
    AND NOT EXISTS (SELECT 1 FROM file AS f WHERE f.layout = layout.id);
  DELETE FROM architecture
  WHERE digest = NEW.architecture AND NOT EXISTS (SELECT 1 FROM layout AS l WHERE l.architecture = architecture.id);
END;

-- ---- The steps of a refresh

CREATE TEMP TRIGGER refresh_insert AFTER INSERT ON refresh BEGIN
  SELECT RAISE(ABORT, 'a source is needed: .parameter set :source models') WHERE NEW.source IS NULL;
  SELECT RAISE(ABORT, 'the source is not text: .parameter set :source "''2024-06-01''" needs both quotes')
  WHERE typeof(NEW.source) <> 'text';

  -- The source's elements, or the machine for an empty list
  INSERT INTO refresh_hosts(name, remote, signed)
  SELECT coalesce(zt_endpoint(value), zt_host()), zt_endpoint(value) IS NOT NULL, lower(value) GLOB 'http*://*[?]*' AND zt_endpoint(value) IS NOT NULL
  FROM (SELECT zt_absolute(NEW.source) AS source) CROSS JOIN json_each(CASE WHEN source GLOB '[[]*' THEN source ELSE json_array(source) END);
  INSERT INTO refresh_hosts(name, remote, signed) SELECT zt_host(), 0, 0 WHERE NOT EXISTS (SELECT 1 FROM refresh_hosts);
  SELECT RAISE(ABORT, 'a URL with a query may be a credential, and is not written into a catalog') FROM refresh_hosts WHERE signed;
  SELECT RAISE(ABORT, 'sources of several hosts are several refreshes') WHERE (SELECT count(DISTINCT name) FROM refresh_hosts) > 1;
  INSERT OR IGNORE INTO host(name) SELECT coalesce(NEW.host, name) FROM refresh_hosts LIMIT 1;
  INSERT INTO refresh_now(remote, host, source, at)
  SELECT (SELECT remote FROM refresh_hosts LIMIT 1), id, zt_absolute(NEW.source),   -- One of two refreshes is always the later
         max(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
             1 + coalesce((SELECT max(refreshed) FROM root WHERE root.host = host.id), 0))
  FROM host WHERE name = coalesce(NEW.host, (SELECT name FROM refresh_hosts LIMIT 1));
  -- A missing source is a row of zt_files, and an error here; no directory is listed, and no file opened.
  SELECT count(*) FROM refresh_now AS w CROSS JOIN zt_objects(w.source) AS z WHERE z.path = '';

  INSERT OR IGNORE INTO root(host, path, source) SELECT host, source, source FROM refresh_now;
  UPDATE refresh_now SET root = (SELECT id FROM root AS r WHERE r.host = refresh_now.host AND r.source = refresh_now.source);
  -- Files of a catalog of the first version have the same source on a host without a name. Some may have been found again. Runs refer to
  -- them by their paths.
  UPDATE OR REPLACE run_files SET path = zt_absolute(path)
  WHERE host = '' AND path IN (SELECT f.path FROM host AS h CROSS JOIN root AS r ON r.host = h.id CROSS JOIN file AS f ON f.root = r.id
                               WHERE h.name = '' AND r.source = NEW.source);
  UPDATE OR IGNORE file SET host = (SELECT host FROM refresh_now), root = (SELECT root FROM refresh_now), path = zt_absolute(path)
  WHERE root = (SELECT r.id FROM host AS h CROSS JOIN root AS r ON r.host = h.id WHERE h.name = '' AND r.source = NEW.source);
  DELETE FROM file
  WHERE root = (SELECT r.id FROM host AS h CROSS JOIN root AS r ON r.host = h.id WHERE h.name = '' AND r.source = NEW.source);
  UPDATE OR IGNORE found SET root = (SELECT root FROM refresh_now)
  WHERE root = (SELECT r.id FROM host AS h CROSS JOIN root AS r ON r.host = h.id WHERE h.name = '' AND r.source = NEW.source);
  DELETE FROM root WHERE source = NEW.source AND host = (SELECT id FROM host WHERE name = '');

  -- These columns of zt_files open no file. A file that the system refused may be allowed now, which mtime does not show. SQLite
  -- computes the state once, because it merges no query that has LIMIT into one that has WHERE. Only files that have changed are asked
  -- when they were made. Remote files that a list names may be gone.
  INSERT OR IGNORE INTO refresh_listed(file, path, size, mtime, device, inode, state, outdated, elsewhere, mtime_ns, ctime_ns, birth_ns, etag)
  SELECT file, CASE WHEN state <> 'unchanged' THEN path END, size, mtime, device, inode,
         CASE state WHEN 'outdated' THEN 'retried' ELSE state END, state IS 'outdated', elsewhere,
         CASE WHEN state <> 'unchanged' OR NOT stamped THEN mtime_ns END, CASE WHEN state <> 'unchanged' OR NOT stamped THEN ctime_ns END,
         birth_ns, etag
  FROM (SELECT f.id AS file, z.path, z.size, z.mtime, z.device, z.inode, z.mtime_ns, z.ctime_ns, s.file IS NOT NULL AS stamped, z.etag,
               f.root IS NOT w.root AS elsewhere,
               CASE WHEN s.ctime IS NOT z.ctime_ns OR f.error_kind IS NOT NULL THEN z.birth_ns ELSE s.birth END AS birth_ns,
               CASE WHEN w.remote AND z.size IS NULL AND z.error_kind = 'missing' AND NOT z.error GLOB '*: 401 *' THEN 'gone'
                    WHEN f.id IS NULL THEN 'added'
                    WHEN w.remote AND z.size IS NULL AND z.error_kind IN ('transient', 'denied', 'missing') THEN 'kept'
                    WHEN w.remote AND f.size IS z.size AND t.etag IS z.etag AND (z.etag IS NOT NULL OR f.mtime IS z.mtime) THEN
                      CASE WHEN f.error_kind IN ('missing', 'denied', 'transient') THEN 'retried'
                           WHEN f.layout IN (SELECT layout FROM outdated_layouts) THEN 'outdated'
                           WHEN f.root IS NOT w.root OR o.file IS NULL THEN 'unchanged' END
                    WHEN w.remote THEN 'changed'
                    WHEN f.size IS NOT z.size OR f.mtime IS NOT z.mtime OR f.inode IS NOT z.inode THEN 'changed'
                    WHEN f.error_kind IN ('missing', 'denied', 'transient') THEN 'retried'
                    WHEN s.file IS NOT NULL AND (s.mtime IS NOT z.mtime_ns OR s.ctime IS NOT z.ctime_ns) THEN 'changed'
                    WHEN f.layout IN (SELECT layout FROM outdated_layouts) THEN 'outdated'
                    WHEN s.file IS NULL OR f.root IS NOT w.root OR o.file IS NULL THEN 'unchanged' END AS state
        FROM refresh_now AS w CROSS JOIN zt_files(w.source) AS z LEFT JOIN file AS f ON f.host = w.host AND f.path = z.path
             LEFT JOIN stamp AS s ON s.file = f.id AND s.path = '' LEFT JOIN tag AS t ON t.file = f.id
             LEFT JOIN found AS o ON o.root = w.root AND o.file = f.id
        LIMIT -1)
  WHERE state IS NOT 'gone';
  -- Remote files that a list names and that cannot be reached now
  INSERT INTO refresh_unreached SELECT file FROM refresh_listed WHERE state = 'kept';
  DELETE FROM refresh_listed WHERE state = 'kept';

  -- A pattern's directory ends before the first name with a pattern character. A file's directory is the one that holds it.
  UPDATE root
  SET path = (SELECT CASE WHEN substr(source, 1, 1) = '[' THEN '/'
                          WHEN EXISTS (SELECT 1 FROM refresh_listed AS l LEFT JOIN file AS f ON f.id = l.file
                                       WHERE substr(coalesce(l.path, f.path), 1, length(source) + 1) = source || '/') THEN source
                          WHEN EXISTS (SELECT 1 FROM refresh_listed WHERE path = source) OR source GLOB '*[*?[]*'
                            OR EXISTS (SELECT 1 FROM file AS f WHERE f.host = (SELECT host FROM refresh_now) AND f.path = source) THEN
                            coalesce(nullif(rtrim(rtrim(head, replace(head, '/', '')), '/'), ''), '/')
                          ELSE coalesce(nullif(rtrim(source, '/'), ''), '/') END
              FROM (SELECT source, substr(source, 1, min(instr(source || '*', '*'), instr(source || '?', '?'),
                                                         instr(source || '[', '[')) - 1) AS head FROM refresh_now))
  WHERE id = (SELECT root FROM refresh_now) AND refreshed IS NULL;
  UPDATE root SET refreshed = (SELECT at FROM refresh_now) WHERE id = (SELECT root FROM refresh_now);
  UPDATE file SET root = (SELECT root FROM refresh_now) WHERE id IN (SELECT file FROM refresh_listed WHERE state = 'unchanged' AND elsewhere);
  -- A catalog of version 2 had no stamps.
  INSERT OR IGNORE INTO stamp(file, path, mtime, ctime, birth)
  SELECT file, '', mtime_ns, ctime_ns, birth_ns FROM refresh_listed WHERE (state = 'unchanged' OR outdated) AND mtime_ns IS NOT NULL;
  -- A file has changed, too, if another file with some of its bytes has. If that one cannot be reached, an unchanged file stays as it was.
  INSERT INTO refresh_stale
  SELECT l.number, coalesce(max(o.unreached), 0)
  FROM refresh_touched AS o CROSS JOIN refresh_listed AS l ON l.file = o.file
  WHERE o.root = (SELECT root FROM refresh_now) AND (coalesce(l.state, 'unchanged') = 'unchanged' OR l.outdated)
  GROUP BY l.number;
  UPDATE refresh_listed SET state = 'kept' WHERE number IN (SELECT number FROM refresh_stale WHERE unreached);
  UPDATE refresh_listed
  SET state = 'changed', outdated = 0, path = (SELECT path FROM file WHERE id = refresh_listed.file),
      (mtime_ns, ctime_ns, birth_ns) = (SELECT mtime, ctime, birth FROM stamp WHERE stamp.file = refresh_listed.file AND stamp.path = '')
  WHERE number IN (SELECT number FROM refresh_stale WHERE NOT unreached);

  INSERT OR IGNORE INTO found(root, file)
  SELECT w.root, l.file FROM refresh_now AS w CROSS JOIN refresh_listed AS l WHERE l.state IS NOT NULL AND l.file IS NOT NULL;

  -- Remote files whose new state cannot be read now stay as they were.
  INSERT OR IGNORE INTO refresh_unreached
  SELECT l.file
  FROM zt_files((SELECT json_group_array(path) FROM refresh_listed WHERE state IN ('changed', 'retried') AND (SELECT remote FROM refresh_now))) AS z
       CROSS JOIN refresh_listed AS l ON l.path = z.path
  WHERE z.error_kind IN ('transient', 'denied') OR z.error GLOB '*: 401 *';
  UPDATE refresh_listed SET state = 'kept' WHERE state IN ('changed', 'retried') AND file IN (SELECT file FROM refresh_unreached);

  -- Missing files are those that this source found last time, and not now, unless another source found them, too, and they still exist,
  INSERT INTO refresh_missing(file, path)
  SELECT f.id, f.path FROM refresh_now AS w CROSS JOIN found AS o ON o.root = w.root CROSS JOIN file AS f ON f.id = o.file
  WHERE o.file NOT IN (SELECT file FROM refresh_listed WHERE file IS NOT NULL)
    AND (SELECT count(*) FROM found WHERE root = (SELECT root FROM refresh_now))
        > (SELECT count(*) FROM refresh_listed) - (SELECT count(*) FROM refresh_listed WHERE state IS NOT NULL AND file IS NULL);
  DELETE FROM found
  WHERE root = (SELECT root FROM refresh_now) AND file IN (SELECT file FROM refresh_missing)
    AND EXISTS (SELECT 1 FROM found AS o WHERE o.file = found.file AND o.root <> found.root)
    AND EXISTS (SELECT 1 FROM file AS f CROSS JOIN zt_files(f.path) AS z WHERE f.id = found.file AND z.path = f.path AND z.size IS NOT NULL);
  UPDATE file SET root = (SELECT o.root FROM found AS o JOIN root AS r ON r.id = o.root WHERE o.file = file.id ORDER BY r.refreshed DESC LIMIT 1)
  WHERE id IN (SELECT file FROM refresh_missing) AND root = (SELECT root FROM refresh_now)
    AND NOT EXISTS (SELECT 1 FROM found WHERE found.root = file.root AND found.file = file.id)
    AND EXISTS (SELECT 1 FROM found WHERE found.file = file.id);
  DELETE FROM refresh_missing
  WHERE NOT EXISTS (SELECT 1 FROM found WHERE root = (SELECT root FROM refresh_now) AND found.file = refresh_missing.file);
  -- and those that another source found below this directory, if they no longer exist: this source may just pass over them
  -- (.hidden/x.zt). A zero follows the slash in ASCII.
  INSERT OR IGNORE INTO refresh_missing(file, path)
  SELECT f.id, f.path
  FROM refresh_now AS w CROSS JOIN file AS f
    ON f.host = w.host AND f.path > rtrim(w.source, '/') || '/' AND f.path < rtrim(w.source, '/') || '0' AND f.root IS NOT w.root
  WHERE EXISTS (SELECT 1 FROM refresh_now AS n CROSS JOIN root AS r ON r.host = n.host AND r.id <> n.root)
    AND f.id NOT IN (SELECT file FROM refresh_listed WHERE file IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM zt_files(f.path) AS z
                    WHERE z.path = f.path
                      AND (z.size IS NOT NULL OR w.remote AND (z.error_kind IN ('transient', 'denied') OR z.error GLOB '*: 401 *')));

  -- and those that another source found anywhere, if this one has found them under a new name.
  INSERT OR IGNORE INTO refresh_missing(file, path)
  SELECT f.id, f.path
  FROM refresh_now AS w CROSS JOIN refresh_listed AS l CROSS JOIN file AS f ON f.inode = l.inode AND f.device = l.device AND f.host = w.host
  WHERE l.state = 'added' AND f.size = l.size AND f.mtime = l.mtime AND f.id NOT IN (SELECT file FROM refresh_listed WHERE file IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM zt_files(f.path) AS z WHERE z.path = f.path AND z.error_kind IS NOT 'missing');

  -- Moved files are missing at one path and new at another. (A path names an npy file's object, and the place of shards.)
  INSERT OR IGNORE INTO refresh_moved(file, number)
  SELECT f.id, l.number
  FROM refresh_missing AS m CROSS JOIN file AS f ON f.id = m.file
       CROSS JOIN refresh_listed AS l ON l.inode = f.inode AND l.device = f.device AND l.size = f.size AND l.mtime = f.mtime
       CROSS JOIN stamp AS s ON s.file = f.id AND s.path = '' AND s.mtime = l.mtime_ns AND s.birth = l.birth_ns
  WHERE l.state = 'added' AND f.error IS NULL AND f.container <> 'npy' AND NOT EXISTS (SELECT 1 FROM external WHERE file = f.id)
  ORDER BY f.id, l.number;
  DELETE FROM refresh_missing WHERE file IN (SELECT file FROM refresh_moved);
  UPDATE refresh_listed SET state = 'moved', file = (SELECT v.file FROM refresh_moved AS v WHERE v.number = refresh_listed.number)
  WHERE number IN (SELECT number FROM refresh_moved);
  INSERT INTO change(at, host, path, change, was, size, mtime)
  SELECT w.at, w.host, l.path, 'moved', f.path, l.size, l.mtime
  FROM refresh_now AS w CROSS JOIN refresh_moved AS v CROSS JOIN refresh_listed AS l ON l.number = v.number
       CROSS JOIN file AS f ON f.id = v.file;
  UPDATE file
  SET root = (SELECT root FROM refresh_now), refreshed = (SELECT at FROM refresh_now),
      path = (SELECT l.path FROM refresh_moved AS v JOIN refresh_listed AS l ON l.number = v.number WHERE v.file = file.id)
  WHERE id IN (SELECT file FROM refresh_moved);
  INSERT OR REPLACE INTO stamp(file, path, mtime, ctime, birth)
  SELECT file, '', mtime_ns, ctime_ns, birth_ns FROM refresh_listed WHERE state = 'moved';
  DELETE FROM found WHERE file IN (SELECT file FROM refresh_moved) AND root <> (SELECT root FROM refresh_now);
  -- A file that another source has lost is read again. The results of second passes stay valid.
  UPDATE refresh_listed
  SET departed = (SELECT d.id FROM departed AS d
                  WHERE d.host = (SELECT host FROM refresh_now) AND d.device = refresh_listed.device AND d.inode = refresh_listed.inode
                    AND d.size = refresh_listed.size AND d.mtime = refresh_listed.mtime_ns AND d.birth = refresh_listed.birth_ns)
  WHERE state = 'added' AND EXISTS (SELECT 1 FROM departed);

  -- Read all new files in one list. A file without a row has vanished, and its path is a pattern. A remote file may be read in an
  -- earlier state than the listing's, and then has the tag of that one.
  DELETE FROM digest WHERE file IN (SELECT file FROM refresh_listed WHERE state IN ('changed', 'retried'));
  DELETE FROM fingerprint WHERE file IN (SELECT file FROM refresh_listed WHERE state IN ('changed', 'retried') AND NOT outdated);
  DELETE FROM attribute WHERE file IN (SELECT file FROM refresh_listed WHERE state IN ('changed', 'retried'));
  DELETE FROM finding WHERE file IN (SELECT file FROM refresh_listed WHERE state IN ('changed', 'retried') AND NOT outdated);
  DELETE FROM external WHERE file IN (SELECT file FROM refresh_listed WHERE state IN ('changed', 'retried'));
  DELETE FROM stamp WHERE file IN (SELECT file FROM refresh_listed WHERE state IN ('changed', 'retried'));
  DELETE FROM tag WHERE file IN (SELECT file FROM refresh_listed WHERE state IN ('changed', 'retried'));
  INSERT INTO refresh_read
  SELECT l.number, l.path, z.container, z.version, CASE WHEN w.remote AND z.size IS NOT NULL THEN z.size ELSE l.size END,
         CASE WHEN w.remote AND z.size IS NOT NULL THEN z.mtime ELSE l.mtime END, l.device, l.inode, z.objects, z.components, z.stored_bytes,
         z.decoded_bytes, z.manifest_bytes, z.attributes, z.error, z.error_kind, '5 ' || z.architecture, z.layout, z.data_offset, z.digests,
         CASE WHEN w.remote AND z.size IS NOT NULL THEN z.mtime_ns ELSE l.mtime_ns END,
         CASE WHEN w.remote AND z.size IS NOT NULL THEN z.etag ELSE l.etag END
  FROM refresh_now AS w
       CROSS JOIN zt_files((SELECT json_group_array(path) FROM refresh_listed WHERE state IN ('added', 'changed', 'retried'))) AS z
       CROSS JOIN refresh_listed AS l ON l.path = z.path;
  INSERT INTO refresh_read(number, path, size, mtime, device, inode, error, error_kind, mtime_ns, etag)
  SELECT number, path, size, mtime, device, inode, 'ztensor: ' || path || ': cannot be listed, or has just vanished', 'missing', mtime_ns,
         etag
  FROM refresh_listed WHERE state IN ('added', 'changed', 'retried') AND read IS NULL;

  -- A file that an earlier version read, and that cannot be read now, has no results of second passes.
  DELETE FROM fingerprint
  WHERE file IN (SELECT l.file FROM refresh_listed AS l CROSS JOIN file AS f ON f.id = l.file WHERE l.outdated AND f.error IS NOT NULL);
  DELETE FROM finding
  WHERE file IN (SELECT l.file FROM refresh_listed AS l CROSS JOIN file AS f ON f.id = l.file WHERE l.outdated AND f.error IS NOT NULL);

  -- The number of an inode that a file made later has now is not that of the file that had it: that one is gone, and its source may not
  -- have been refreshed since.
  UPDATE file SET inode = NULL
  WHERE id IN (SELECT f.id
               FROM refresh_now AS w CROSS JOIN refresh_listed AS l
                    CROSS JOIN file AS f ON f.inode = l.inode AND f.device = l.device AND f.host = w.host
                    CROSS JOIN stamp AS s ON s.file = f.id AND s.path = ''
               WHERE l.state IN ('added', 'changed', 'retried', 'moved') AND s.birth < l.birth_ns);

  -- Files below a directory that cannot be listed are not missing. A file in its place that was read is none.
  INSERT INTO refresh_broken
  SELECT path FROM file
  WHERE error IS NOT NULL AND coalesce(error_kind, 'missing') IN ('missing', 'denied', 'transient')
    AND +id IN (SELECT file FROM refresh_listed WHERE file IS NOT NULL) AND EXISTS (SELECT 1 FROM refresh_missing);
  UPDATE refresh_missing SET kept = 1
  WHERE path IN (SELECT m.path FROM refresh_broken AS b CROSS JOIN refresh_missing AS m
                 WHERE m.path > rtrim(b.path, '/') || '/' AND m.path < rtrim(b.path, '/') || '0');
  UPDATE refresh_missing SET kept = 1 WHERE file IN (SELECT file FROM refresh_unreached);
  -- Files that this source passes over are not missing either, if their path is a link to nowhere, or to an unknown target. A pattern
  -- distinguishes that from a path that does not exist. This pattern is the path itself, and only its own row counts.
  DELETE FROM refresh_missing
  WHERE NOT kept AND NOT (SELECT remote FROM refresh_now)
    AND (SELECT root FROM file WHERE id = refresh_missing.file) IS NOT (SELECT root FROM refresh_now)
    AND EXISTS (SELECT 1 FROM zt_files(replace(replace(replace(refresh_missing.path, '[', '[[]'), '*', '[*]'), '?', '[?]') || '*') AS z
                WHERE z.path = refresh_missing.path);
  INSERT INTO refresh_trouble SELECT file, trouble FROM troubles;
  UPDATE refresh_missing SET other = 1 WHERE file IN (SELECT file FROM refresh_trouble WHERE trouble = 'other');
  -- Files that are not tensor files have no history.
  INSERT INTO change(at, host, path, change, was, size, mtime)
  SELECT w.at, w.host, l.path, CASE WHEN d.id IS NULL THEN l.state ELSE 'moved' END, d.path, l.size, l.mtime
  FROM refresh_now AS w CROSS JOIN refresh_listed AS l LEFT JOIN departed AS d ON d.id = l.departed
  WHERE l.state IN ('added', 'changed') AND l.file NOT IN (SELECT file FROM refresh_trouble WHERE trouble = 'other')
  UNION ALL
  SELECT w.at, w.host, f.path, 'removed', NULL, f.size, f.mtime
  FROM refresh_now AS w CROSS JOIN refresh_missing AS m CROSS JOIN file AS f ON f.id = m.file
  WHERE NOT m.kept AND NOT m.other;
  INSERT OR IGNORE INTO found(root, file)
  SELECT w.root, l.file FROM refresh_now AS w CROSS JOIN refresh_listed AS l WHERE l.state IS NOT NULL AND l.file IS NOT NULL;

  -- If there are several sources, another source may find a file that one has lost.
  INSERT OR IGNORE INTO fingerprint(file, name, fingerprint)
  SELECT l.file, n.id, json_extract(j.value, '$[1]')
  FROM refresh_listed AS l CROSS JOIN departed AS d ON d.id = l.departed CROSS JOIN json_each(d.fingerprints) AS j
       CROSS JOIN name AS n ON n.name = json_extract(j.value, '$[0]')
  WHERE l.state = 'added' AND l.departed IS NOT NULL;
  INSERT INTO finding(file, object, component, severity, rule, message)
  SELECT l.file, json_extract(j.value, '$[0]'), json_extract(j.value, '$[1]'), json_extract(j.value, '$[2]'), json_extract(j.value, '$[3]'),
         json_extract(j.value, '$[4]')
  FROM refresh_listed AS l CROSS JOIN departed AS d ON d.id = l.departed CROSS JOIN json_each(d.findings) AS j
  WHERE l.state = 'added' AND l.departed IS NOT NULL;
  UPDATE file
  SET (fingerprint, fingerprinted, checked) = (SELECT d.fingerprint, d.fingerprinted, d.checked
                                               FROM refresh_listed AS l CROSS JOIN departed AS d ON d.id = l.departed WHERE l.file = file.id)
  WHERE error IS NULL AND id IN (SELECT file FROM refresh_listed WHERE state = 'added' AND departed IS NOT NULL);
  DELETE FROM departed
  WHERE id IN (SELECT departed FROM refresh_listed WHERE state = 'added' AND departed IS NOT NULL)
     OR host = (SELECT host FROM refresh_now)
    AND at < (SELECT min(coalesce(r.refreshed, 0)) FROM refresh_now AS w CROSS JOIN root AS r ON r.host = w.host);
  INSERT OR REPLACE INTO departed(host, device, inode, size, mtime, birth, path, at, fingerprint, fingerprinted, checked, fingerprints, findings)
  SELECT f.host, f.device, f.inode, f.size, s.mtime, s.birth, f.path, w.at, f.fingerprint, f.fingerprinted, f.checked,
         (SELECT json_group_array(json_array(n.name, p.fingerprint)) FROM fingerprint AS p CROSS JOIN name AS n ON n.id = p.name WHERE p.file = f.id),
         (SELECT json_group_array(json_array(g.object, g.component, g.severity, g.rule, g.message)) FROM finding AS g WHERE g.file = f.id)
  FROM refresh_now AS w CROSS JOIN refresh_missing AS m CROSS JOIN file AS f ON f.id = m.file CROSS JOIN stamp AS s ON s.file = f.id AND s.path = ''
  WHERE NOT m.kept AND s.birth IS NOT NULL AND f.inode IS NOT NULL AND f.error IS NULL AND f.container <> 'npy'
    AND NOT EXISTS (SELECT 1 FROM external WHERE file = f.id)
    AND EXISTS (SELECT 1 FROM root AS r WHERE r.host = w.host AND r.id <> w.root);
  DELETE FROM file WHERE id IN (SELECT file FROM refresh_missing WHERE NOT kept);

  UPDATE refresh
  SET (files, added, changed, retried, unchanged, moved, broken, unsupported, others) = (
        -- What has neither a state nor trouble is not gone over.
        SELECT every - count(*) FILTER (WHERE NOT told), count(*) FILTER (WHERE told AND state = 'added' AND departed IS NULL),
               count(*) FILTER (WHERE told AND state = 'changed'), count(*) FILTER (WHERE told AND state = 'retried'),
               every - count(*) FILTER (WHERE NOT told OR state <> 'unchanged'),
               count(*) FILTER (WHERE state = 'moved' OR departed IS NOT NULL),
               count(*) FILTER (WHERE trouble = 'broken'), count(*) FILTER (WHERE trouble = 'unsupported'), count(*) FILTER (WHERE NOT told)
        FROM (SELECT count(*) AS every FROM refresh_listed)
             LEFT JOIN (SELECT l.state, l.departed, t.trouble, t.trouble IS NOT 'other' AS told
                        FROM refresh_listed AS l LEFT JOIN refresh_trouble AS t ON t.file = l.file WHERE l.state IS NOT NULL
                        UNION ALL
                        SELECT 'unchanged', NULL, t.trouble, t.trouble <> 'other'
                        FROM refresh_trouble AS t CROSS JOIN refresh_listed AS l ON l.file = t.file WHERE l.state IS NULL)),
      removed = (SELECT count(*) FROM refresh_missing WHERE NOT kept AND NOT other),
      kept = (SELECT count(*) FROM refresh_missing WHERE kept AND NOT other) + (SELECT count(*) FROM refresh_listed WHERE state = 'kept'),
      host = (SELECT h.name FROM host AS h, refresh_now AS w WHERE h.id = w.host)
  WHERE rowid = NEW.rowid;

  -- Rows that no file needs any more.
  DELETE FROM layout
  WHERE (SELECT changed + retried + removed + others FROM refresh WHERE rowid = NEW.rowid) > 0
    AND NOT EXISTS (SELECT 1 FROM file AS f WHERE f.layout = layout.id);
  DELETE FROM architecture
  WHERE (SELECT changed + retried + removed + others FROM refresh WHERE rowid = NEW.rowid) > 0
    AND NOT EXISTS (SELECT 1 FROM layout AS l WHERE l.architecture = architecture.id);
  DELETE FROM refresh_failed;
  DELETE FROM refresh_stale;
  DELETE FROM refresh_now;
  DELETE FROM refresh_hosts;
  DELETE FROM refresh_unreached;
  DELETE FROM refresh_listed;
  DELETE FROM refresh_missing;
  DELETE FROM refresh_broken;
  DELETE FROM refresh_moved;
  DELETE FROM refresh_trouble;
END;

-- ---- The second pass

-- `files` counts the files of this pass, and `left` the remaining ones.
CREATE TEMP TABLE refresh_pass(pass, files, "left", host);
CREATE TEMP TABLE refresh_passed(file INTEGER PRIMARY KEY, path TEXT);
-- Tensors of remote files that have no fingerprint for a reason that zt_check tells
CREATE TEMP TABLE refresh_explained(file INTEGER, object TEXT);
-- Remote files that a pass could not read to their ends
CREATE TEMP TABLE refresh_failed(pass TEXT, file INTEGER, PRIMARY KEY(pass, file)) WITHOUT ROWID;

CREATE TEMP TRIGGER refresh_pass_insert AFTER INSERT ON refresh_pass BEGIN
  SELECT RAISE(ABORT, 'a pass is check or fingerprint') WHERE NEW.pass NOT IN ('check', 'fingerprint') OR NEW.pass IS NULL;
  INSERT INTO refresh_passed
  SELECT f.id, f.path
  -- In the order of their numbers, without sorting, so that only the files of this pass are opened
  FROM file AS f LEFT JOIN stamp AS s ON s.file = f.id AND s.path = '' LEFT JOIN tag AS t ON t.file = f.id
       CROSS JOIN zt_files AS z ON z.source = f.path AND z.path = f.path
  WHERE +f.host = (SELECT id FROM host WHERE name = coalesce(NEW.host, zt_host())) AND f.error IS NULL
    AND CASE NEW.pass WHEN 'check' THEN f.checked ELSE f.fingerprinted END IS NULL
    AND z.size IS f.size AND z.etag IS t.etag AND z.error IS NULL
    AND (t.file IS NOT NULL OR z.mtime IS f.mtime AND z.inode IS f.inode AND (s.file IS NULL OR z.mtime_ns IS s.mtime AND z.ctime_ns IS s.ctime))
    AND NOT EXISTS (SELECT 1 FROM refresh_touched WHERE file = f.id)
    AND NOT EXISTS (SELECT 1 FROM refresh_failed WHERE pass = NEW.pass AND file = f.id)
  ORDER BY f.id LIMIT coalesce(NEW.files, 100);
  UPDATE refresh_pass SET files = (SELECT count(*) FROM refresh_passed) WHERE rowid = NEW.rowid;

  DELETE FROM finding WHERE NEW.pass = 'check' AND file IN (SELECT file FROM refresh_passed);   -- An earlier pass may have failed
  INSERT INTO finding(file, object, component, severity, rule, message)
  SELECT p.file, z.object, z.component, z.severity, z.rule, z.message
  FROM refresh_passed AS p CROSS JOIN zt_check(p.path, 'full') AS z WHERE NEW.pass = 'check' AND z.path = p.path;
  INSERT INTO refresh_failed(pass, file)
  SELECT NEW.pass, file FROM refresh_passed AS p
  WHERE NEW.pass = 'check' AND zt_endpoint(path) IS NOT NULL
    AND EXISTS (SELECT 1 FROM finding AS g WHERE g.file = p.file AND g.rule = 'unreadable');
  UPDATE file SET checked = CAST(strftime('%s', 'now') AS INTEGER)
  WHERE NEW.pass = 'check' AND id IN (SELECT file FROM refresh_passed EXCEPT SELECT file FROM refresh_failed WHERE pass = 'check');

  INSERT OR REPLACE INTO fingerprint(file, name, fingerprint)
  SELECT p.file, n.id, z.fingerprint
  FROM refresh_passed AS p CROSS JOIN zt_objects(p.path, 'skip') AS z CROSS JOIN name AS n ON n.name = z.object
  WHERE NEW.pass = 'fingerprint' AND z.path = p.path;
  -- A remote file could not be read to its end if it lacks tensors, or if one has no fingerprint, and zt_check tells no reason.
  INSERT INTO refresh_explained(file, object)
  SELECT p.file, z.object
  FROM refresh_passed AS p CROSS JOIN zt_check(p.path, 'full') AS z
  WHERE NEW.pass = 'fingerprint' AND zt_endpoint(p.path) IS NOT NULL
    AND EXISTS (SELECT 1 FROM fingerprint AS g WHERE g.file = p.file AND g.fingerprint IS NULL)
    AND z.path = p.path AND z.rule <> 'unreadable';
  INSERT INTO refresh_failed(pass, file)
  SELECT NEW.pass, p.file
  FROM refresh_passed AS p CROSS JOIN file AS f ON f.id = p.file CROSS JOIN layout AS l ON l.id = f.layout
       CROSS JOIN architecture AS a ON a.id = l.architecture
  WHERE NEW.pass = 'fingerprint' AND zt_endpoint(p.path) IS NOT NULL
    AND ((SELECT count(*) FROM fingerprint AS g WHERE g.file = p.file) <> a.objects
         OR EXISTS (SELECT 1 FROM fingerprint AS g CROSS JOIN name AS n ON n.id = g.name
                    WHERE g.file = p.file AND g.fingerprint IS NULL
                      AND NOT EXISTS (SELECT 1 FROM refresh_explained AS e WHERE e.file = p.file AND e.object = n.name)));
  -- A file has a fingerprint if all its objects do: zt_fingerprint() of any other file is NULL, or an error.
  UPDATE file
  SET fingerprinted = CAST(strftime('%s', 'now') AS INTEGER),
      fingerprint = CASE WHEN EXISTS (SELECT 1 FROM fingerprint AS p WHERE p.file = file.id)
                          AND NOT EXISTS (SELECT 1 FROM fingerprint AS p WHERE p.file = file.id AND p.fingerprint IS NULL)
                         THEN (SELECT zt_fingerprint(n.name, p.fingerprint)
                               FROM fingerprint AS p CROSS JOIN name AS n ON n.id = p.name WHERE p.file = file.id) END
  WHERE NEW.pass = 'fingerprint' AND id IN (SELECT file FROM refresh_passed EXCEPT SELECT file FROM refresh_failed WHERE pass = 'fingerprint');

  -- All files of a model must have been fingerprinted, and no two may have a tensor of one name.
  INSERT OR IGNORE INTO whole(parts, fingerprint)
  SELECT m.made_of, CASE WHEN (SELECT count(DISTINCT p.name) = count(*) FROM model_parts AS x CROSS JOIN fingerprint AS p ON p.file = x.file
                               WHERE x.host = m.number AND x.model = m.path AND x.parts = m.parts)
                         THEN (SELECT zt_fingerprint(n.name, p.fingerprint)
                               FROM model_parts AS x CROSS JOIN fingerprint AS p ON p.file = x.file CROSS JOIN name AS n ON n.id = p.name
                               WHERE x.host = m.number AND x.model = m.path AND x.parts = m.parts) END
  FROM (SELECT w.made_of, w.path, w.parts, h.id AS number FROM whole_models AS w JOIN host AS h ON h.name = w.host
        WHERE NEW.pass = 'fingerprint' AND w.made_of IS NOT NULL AND w.made_of NOT IN (SELECT parts FROM whole)) AS m;

  UPDATE refresh_pass
  SET host = coalesce(NEW.host, zt_host()),
      "left" = (SELECT count(*) FROM host AS h JOIN file AS f ON f.host = h.id
                WHERE h.name = coalesce(NEW.host, zt_host()) AND f.error IS NULL
                  AND CASE NEW.pass WHEN 'check' THEN f.checked ELSE f.fingerprinted END IS NULL)
  WHERE rowid = NEW.rowid;
  DELETE FROM refresh_passed;
  DELETE FROM refresh_explained;
END;

-- ---- Now

INSERT INTO refresh(source) SELECT :source WHERE :source IS NOT NULL;
SELECT * FROM refresh;
