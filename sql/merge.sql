-- merge.sql: merges a catalog into another one, for instance the catalogs of several machines.
--
--   sqlite3 all.db < sql/catalog.sql
--   sqlite3 all.db ".read sql/merge.sql" "ATTACH 'file:one.db?mode=ro' AS incoming" "INSERT INTO merge DEFAULT VALUES" \
--     "DETACH incoming" "ATTACH 'file:two.db?mode=ro' AS incoming" "INSERT INTO merge DEFAULT VALUES" "SELECT * FROM merge"
--
-- It needs no ztensor. If both catalogs have a file (a path of a host), the state of the later refresh is kept, with the results of
-- both catalogs' second passes over that state. A file that a later refresh of either catalog removed is removed. Row numbers (id) are
-- not merged: the same thing has other numbers in other catalogs. The later state of a run is kept. A run that its tracker has
-- forgotten is kept, too: DELETE FROM run_files forgets it here.
--
-- So the order of catalogs does not matter, and merging a catalog again changes nothing. This requires that the catalogs of one host
-- have the same sources, or sources without common files. The reason is that a catalog keeps only the last source that found a file. If
-- sources have files in common, a file that is gone may stay in one order and go in another, until its source is refreshed.
--
-- An INSERT succeeds completely or has no effect. The incoming catalog is only read. Both must be of this version: read catalog.sql
-- first. Files of a catalog of the first version have no host until they are refreshed, and are refused.

DROP TABLE IF EXISTS temp.merge;
DROP TABLE IF EXISTS temp.merge_table;
DROP TABLE IF EXISTS temp.merge_host;
DROP TABLE IF EXISTS temp.merge_root;
DROP TABLE IF EXISTS temp.merge_name;
DROP TABLE IF EXISTS temp.merge_shape;
DROP TABLE IF EXISTS temp.merge_kind;
DROP TABLE IF EXISTS temp.merge_storage;
DROP TABLE IF EXISTS temp.merge_architecture;
DROP TABLE IF EXISTS temp.merge_layout;
DROP TABLE IF EXISTS temp.merge_file;
DROP TABLE IF EXISTS temp.merge_found;
DROP TABLE IF EXISTS temp.merge_gone;
DROP TABLE IF EXISTS temp.merge_lost;

-- A row is a merged catalog with the numbers of its files: new files, files that replaced older rows or added to them, removed files,
-- and unchanged ones.
CREATE TEMP TABLE merge(added, replaced, removed, unchanged);

-- The tables that both must have, with the same columns in the same order.
CREATE TEMP TABLE merge_table(name TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO merge_table VALUES
  ('host'), ('root'), ('name'), ('shape'), ('kind'), ('storage'), ('architecture'), ('tensor'), ('layout'), ('part'), ('detail'), ('share'),
  ('file'), ('external'), ('digest'), ('repeated'), ('fingerprint'), ('attribute'), ('finding'), ('change'), ('gone'), ('run_files'), ('metrics'),
  ('found'), ('stamp'), ('tag'), ('whole');

-- The rows of the other catalog and their counterparts here. `fresh` rows did not exist here.
CREATE TEMP TABLE merge_host(there INTEGER PRIMARY KEY, here);
CREATE TEMP TABLE merge_root(there INTEGER PRIMARY KEY, here);
CREATE TEMP TABLE merge_name(there INTEGER PRIMARY KEY, here);
CREATE TEMP TABLE merge_shape(there INTEGER PRIMARY KEY, here);
CREATE TEMP TABLE merge_kind(there INTEGER PRIMARY KEY, here);
CREATE TEMP TABLE merge_storage(there INTEGER PRIMARY KEY, here);
CREATE TEMP TABLE merge_architecture(there INTEGER PRIMARY KEY, here, fresh);
CREATE TEMP TABLE merge_layout(there INTEGER PRIMARY KEY, here, fresh);
-- The results of second passes are taken over from there ('take'), dropped here ('drop'), or left alone. `refreshed` is the time of the
-- reading there, if that time counts although the file's row stays.
CREATE TEMP TABLE merge_file(there INTEGER PRIMARY KEY, here, state, fingerprints, findings, refreshed);
CREATE INDEX temp.merge_file_here ON merge_file(here) WHERE here IS NOT NULL;
-- Files here that another source, a row number of main.root, has found since.
CREATE TEMP TABLE merge_found(file INTEGER PRIMARY KEY, root);
-- Files that some refresh did not find, and the time of that; and the same for files without such a history.
CREATE TEMP TABLE merge_gone(host, path TEXT, at);
CREATE TEMP TABLE merge_lost(host, path TEXT, at);

CREATE TEMP TRIGGER merge_insert AFTER INSERT ON merge BEGIN
  -- pragma_user_version only shows main's version. Catalogs of one version have the same tables, with the same columns. Those of
  -- version 4 had, too, but not this view.
  SELECT RAISE(ABORT, 'the database attached as incoming is a catalog of another version: .read sql/catalog.sql there first')
  WHERE EXISTS (SELECT 1 FROM merge_table AS n
                WHERE (SELECT group_concat(c.name || ' ' || c.type || ' ' || c.pk) FROM pragma_table_info(n.name, 'main') AS c)
                  IS NOT (SELECT group_concat(c.name || ' ' || c.type || ' ' || c.pk) FROM pragma_table_info(n.name, 'incoming') AS c))
     OR NOT EXISTS (SELECT 1 FROM incoming.sqlite_master WHERE name = 'outdated_files');
  SELECT RAISE(ABORT, 'this database has no catalog yet, or one of another version: .read sql/catalog.sql first')
  WHERE (SELECT application_id FROM pragma_application_id) <> 0x7A744361 OR (SELECT user_version FROM pragma_user_version) <> 5;

  SELECT RAISE(ABORT, 'incoming has files of a catalog of the first version, on a host without a name: refresh their sources there first')
  WHERE EXISTS (SELECT 1 FROM incoming.host AS h CROSS JOIN incoming.file AS f ON f.host = h.id WHERE h.name = '');

  -- Rows that have a name.
  INSERT OR IGNORE INTO host(name) SELECT name FROM incoming.host;
  INSERT INTO merge_host SELECT t.id, h.id FROM incoming.host AS t CROSS JOIN main.host AS h ON h.name = t.name;
  INSERT OR IGNORE INTO root(host, path, source)
  SELECT h.here, t.path, t.source FROM incoming.root AS t CROSS JOIN merge_host AS h ON h.there = t.host;
  INSERT INTO merge_root
  SELECT t.id, r.id FROM incoming.root AS t CROSS JOIN merge_host AS h ON h.there = t.host
                         CROSS JOIN main.root AS r ON r.host = h.here AND r.source = t.source;
  INSERT OR IGNORE INTO name(name) SELECT name FROM incoming.name;
  INSERT INTO merge_name SELECT t.id, n.id FROM incoming.name AS t CROSS JOIN main.name AS n ON n.name = t.name;
  INSERT OR IGNORE INTO shape(shape, rank, elements) SELECT shape, rank, elements FROM incoming.shape;
  INSERT INTO merge_shape SELECT t.id, s.id FROM incoming.shape AS t CROSS JOIN main.shape AS s ON quote(s.shape) = quote(t.shape);
  INSERT OR IGNORE INTO kind(format, dtype, type) SELECT format, dtype, type FROM incoming.kind;
  INSERT INTO merge_kind
  SELECT t.id, k.id FROM incoming.kind AS t CROSS JOIN main.kind AS k
    ON quote(k.format) = quote(t.format) AND quote(k.dtype) = quote(t.dtype) AND quote(k.type) = quote(t.type);
  INSERT OR IGNORE INTO storage(component, dtype, type, encoding, byte_order, digest_of)
  SELECT component, dtype, type, encoding, byte_order, digest_of FROM incoming.storage;
  INSERT INTO merge_storage
  SELECT t.id, s.id FROM incoming.storage AS t CROSS JOIN main.storage AS s
    ON s.component = t.component AND quote(s.dtype) = quote(t.dtype) AND quote(s.type) = quote(t.type)
   AND quote(s.encoding) = quote(t.encoding) AND quote(s.byte_order) = quote(t.byte_order) AND quote(s.digest_of) = quote(t.digest_of);

  -- Architectures and layouts that are not here.
  INSERT INTO merge_architecture
  SELECT t.id, a.id, a.id IS NULL FROM incoming.architecture AS t LEFT JOIN main.architecture AS a ON a.digest = t.digest;
  INSERT INTO architecture(digest, objects, parameters)
  SELECT t.digest, t.objects, t.parameters
  FROM merge_architecture AS m CROSS JOIN incoming.architecture AS t ON t.id = m.there WHERE m.fresh;
  UPDATE merge_architecture
  SET here = (SELECT a.id FROM incoming.architecture AS t CROSS JOIN main.architecture AS a ON a.digest = t.digest
              WHERE t.id = merge_architecture.there)
  WHERE fresh;
  INSERT INTO tensor(architecture, name, kind, shape)
  SELECT m.here, n.here, k.here, s.here
  FROM merge_architecture AS m CROSS JOIN incoming.tensor AS t ON t.architecture = m.there CROSS JOIN merge_name AS n ON n.there = t.name
       CROSS JOIN merge_kind AS k ON k.there = t.kind CROSS JOIN merge_shape AS s ON s.there = t.shape
  WHERE m.fresh;
  INSERT INTO merge_layout
  SELECT t.id, l.id, l.id IS NULL
  FROM incoming.layout AS t CROSS JOIN merge_architecture AS a ON a.there = t.architecture
       LEFT JOIN main.layout AS l ON l.architecture = a.here AND l.digest = t.digest;
  INSERT INTO layout(architecture, digest, components, stored_bytes, decoded_bytes, distinct_bytes)
  SELECT a.here, t.digest, t.components, t.stored_bytes, t.decoded_bytes, t.distinct_bytes
  FROM merge_layout AS m CROSS JOIN incoming.layout AS t ON t.id = m.there CROSS JOIN merge_architecture AS a ON a.there = t.architecture
  WHERE m.fresh;
  UPDATE merge_layout
  SET here = (SELECT l.id FROM incoming.layout AS t CROSS JOIN merge_architecture AS a ON a.there = t.architecture
                               CROSS JOIN main.layout AS l ON l.architecture = a.here AND l.digest = t.digest
              WHERE t.id = merge_layout.there)
  WHERE fresh;
  INSERT INTO part(layout, name, storage, offset, length, decoded_length, shard)
  SELECT m.here, n.here, s.here, t.offset, t.length, t.decoded_length, t.shard
  FROM merge_layout AS m CROSS JOIN incoming.part AS t ON t.layout = m.there CROSS JOIN merge_name AS n ON n.there = t.name
       CROSS JOIN merge_storage AS s ON s.there = t.storage
  WHERE m.fresh;
  INSERT INTO detail(layout, name, components, stored_bytes, decoded_bytes, attributes)
  SELECT m.here, n.here, t.components, t.stored_bytes, t.decoded_bytes, t.attributes
  FROM merge_layout AS m CROSS JOIN incoming.detail AS t ON t.layout = m.there CROSS JOIN merge_name AS n ON n.there = t.name
  WHERE m.fresh;
  INSERT INTO share(layout, kind, objects, elements, bytes)
  SELECT m.here, k.here, t.objects, t.elements, t.bytes
  FROM merge_layout AS m CROSS JOIN incoming.share AS t ON t.layout = m.there CROSS JOIN merge_kind AS k ON k.there = t.kind
  WHERE m.fresh;
  INSERT INTO attribute(layout, name, key, value, type)
  SELECT m.here, n.here, t.key, t.value, t.type
  FROM merge_layout AS m CROSS JOIN incoming.attribute AS t ON t.layout = m.there CROSS JOIN merge_name AS n ON n.there = t.name
  WHERE m.fresh;

  -- Files: the later reading counts, with second passes over the same state of a file. If both readings are of one second, the later
  -- state counts, so that the order of catalogs does not matter. A file below a directory that could not be listed counts as found only
  -- when it was read.
  INSERT INTO merge_file
  SELECT there, here, state,
         CASE WHEN state = 'added' OR passed_there AND (state = 'replaced' OR NOT passed_here AND same) THEN 'take'
              WHEN state = 'replaced' AND NOT same THEN 'drop' END,
         CASE WHEN state = 'added' OR checked_there AND (state = 'replaced' OR NOT checked_here AND same) THEN 'take'
              WHEN state = 'replaced' AND NOT same THEN 'drop' END,
         CASE WHEN other AND state = 'unchanged' AND later THEN refreshed END
  FROM (SELECT *, CASE WHEN here IS NULL THEN 'added'
                       WHEN other AND later AND NOT (alike AND same) THEN 'replaced'
                       ELSE 'unchanged' END AS state
        FROM (SELECT t.id AS there, f.id AS here, t.refreshed,
                     t.fingerprinted IS NOT NULL AS passed_there, f.fingerprinted IS NOT NULL AS passed_here,
                     t.checked IS NOT NULL AS checked_there, f.checked IS NOT NULL AS checked_here,
                     t.size IS f.size AND t.mtime IS f.mtime AND coalesce(t.inode = f.inode, 1) AND t.device IS f.device
                       AND (SELECT etag FROM incoming.tag WHERE file = t.id) IS (SELECT etag FROM main.tag WHERE file = f.id)
                       AND NOT EXISTS (SELECT 1 FROM incoming.stamp AS s CROSS JOIN main.stamp AS o ON o.file = f.id AND o.path = s.path
                                       WHERE s.file = t.id AND (s.mtime IS NOT o.mtime OR s.ctime IS NOT o.ctime))
                       AND NOT EXISTS (SELECT path, size, mtime, inode FROM incoming.external WHERE file = t.id
                                       EXCEPT SELECT path, size, mtime, inode FROM main.external WHERE file = f.id)
                       AND NOT EXISTS (SELECT path, size, mtime, inode FROM main.external WHERE file = f.id
                                       EXCEPT SELECT path, size, mtime, inode FROM incoming.external WHERE file = t.id) AS same,
                     t.refreshed IS NOT f.refreshed OR t.size IS NOT f.size OR t.mtime IS NOT f.mtime
                       OR coalesce(t.inode <> f.inode, 0)
                       OR (SELECT max(mtime) FROM incoming.external WHERE file = t.id)
                          IS NOT (SELECT max(mtime) FROM main.external WHERE file = f.id)
                       OR (SELECT etag FROM incoming.tag WHERE file = t.id) IS NOT (SELECT etag FROM main.tag WHERE file = f.id)
                       OR (SELECT max(ctime) FROM incoming.stamp WHERE file = t.id)
                          IS NOT (SELECT max(ctime) FROM main.stamp WHERE file = f.id) AS other,
                     t.data_offset IS f.data_offset AND t.attributes IS f.attributes AND t.error IS f.error
                       AND (SELECT here FROM merge_layout WHERE there = t.layout) IS f.layout AS alike,
                     (CASE WHEN t.id IN (SELECT y.id FROM incoming.file AS b CROSS JOIN incoming.file AS y ON y.host = b.host
                                           AND y.path > rtrim(b.path, '/') || '/' AND y.path < rtrim(b.path, '/') || '0'
                                         WHERE b.error IS NOT NULL AND coalesce(b.error_kind, 'missing') IN ('missing', 'denied', 'transient'))
                           THEN t.refreshed
                           ELSE max(t.refreshed, coalesce((SELECT refreshed FROM incoming.root WHERE id = t.root), 0)) END,
                      t.refreshed, coalesce(t.mtime, -1e300), coalesce(t.size, -1), coalesce(t.inode, -1),
                      coalesce((SELECT max(mtime) FROM incoming.external WHERE file = t.id), -1e300),
                      coalesce((SELECT max(ctime) FROM incoming.stamp WHERE file = t.id), -1))
                       > (CASE WHEN f.id IN (SELECT g.id FROM main.file AS b CROSS JOIN main.file AS g ON g.host = b.host
                                               AND g.path > rtrim(b.path, '/') || '/' AND g.path < rtrim(b.path, '/') || '0'
                                             WHERE b.error IS NOT NULL AND coalesce(b.error_kind, 'missing') IN ('missing', 'denied', 'transient'))
                               THEN f.refreshed
                               ELSE max(f.refreshed, coalesce((SELECT refreshed FROM main.root WHERE id = f.root), 0)) END,
                          f.refreshed, coalesce(f.mtime, -1e300), coalesce(f.size, -1), coalesce(f.inode, -1),
                          coalesce((SELECT max(mtime) FROM main.external WHERE file = f.id), -1e300),
                          coalesce((SELECT max(ctime) FROM main.stamp WHERE file = f.id), -1)) AS later
              FROM incoming.file AS t CROSS JOIN merge_host AS h ON h.there = t.host
                   LEFT JOIN main.file AS f ON f.host = h.here AND f.path = t.path));

  -- Which refreshes no longer found a file? Their history says so, for files here and for incoming files.
  INSERT INTO merge_gone(host, path, at)
  SELECT f.host, f.path, c.at
  FROM incoming.change AS c CROSS JOIN merge_host AS h ON h.there = c.host
       CROSS JOIN main.file AS f ON f.host = h.here AND f.path = CASE c.change WHEN 'moved' THEN c.was ELSE c.path END
  WHERE c.change IN ('removed', 'moved')
  UNION ALL
  SELECT c.host, x.path, c.at
  FROM main.change AS c CROSS JOIN merge_host AS h ON h.here = c.host
       CROSS JOIN incoming.file AS x ON x.host = h.there AND x.path = CASE c.change WHEN 'moved' THEN c.was ELSE c.path END
  WHERE c.change IN ('removed', 'moved')
  UNION ALL
  SELECT f.host, f.path, g.at
  FROM incoming.gone AS g CROSS JOIN merge_host AS h ON h.there = g.host CROSS JOIN main.file AS f ON f.host = h.here AND f.path = g.path
  UNION ALL
  SELECT g.host, x.path, g.at
  FROM main.gone AS g CROSS JOIN merge_host AS h ON h.here = g.host CROSS JOIN incoming.file AS x ON x.host = h.there AND x.path = g.path;
  -- The same holds if the source that found it here was refreshed later there, or the reverse, and no source has found it there since,
  -- unless it is below a directory that could not be listed.
  INSERT INTO merge_lost
  SELECT f.host, f.path, t.refreshed
  FROM incoming.root AS t CROSS JOIN merge_root AS m ON m.there = t.id CROSS JOIN main.root AS r ON r.id = m.here
       CROSS JOIN main.file AS f ON f.root = r.id
  WHERE t.refreshed > r.refreshed
    AND NOT EXISTS (SELECT 1 FROM incoming.file AS x CROSS JOIN incoming.root AS o ON o.id = x.root
                    WHERE x.host = t.host AND x.path = f.path AND o.refreshed >= t.refreshed)
    AND f.id NOT IN (SELECT g.id
                     FROM incoming.file AS b CROSS JOIN merge_host AS h ON h.there = b.host CROSS JOIN main.file AS g
                       ON g.host = h.here AND g.path > rtrim(b.path, '/') || '/' AND g.path < rtrim(b.path, '/') || '0'
                     WHERE b.error IS NOT NULL AND coalesce(b.error_kind, 'missing') IN ('missing', 'denied', 'transient'))
  UNION ALL
  SELECT r.host, x.path, r.refreshed
  FROM incoming.root AS t CROSS JOIN merge_root AS m ON m.there = t.id CROSS JOIN main.root AS r ON r.id = m.here
       CROSS JOIN incoming.file AS x ON x.root = t.id
  WHERE r.refreshed > t.refreshed
    AND NOT EXISTS (SELECT 1 FROM main.file AS f CROSS JOIN main.root AS o ON o.id = f.root
                    WHERE f.host = r.host AND f.path = x.path AND o.refreshed >= r.refreshed)
    AND x.id NOT IN (SELECT y.id
                     FROM main.file AS b CROSS JOIN merge_host AS h ON h.here = b.host CROSS JOIN incoming.file AS y
                       ON y.host = h.there AND y.path > rtrim(b.path, '/') || '/' AND y.path < rtrim(b.path, '/') || '0'
                     WHERE b.error IS NOT NULL AND coalesce(b.error_kind, 'missing') IN ('missing', 'denied', 'transient'));
  INSERT INTO merge_gone SELECT host, path, at FROM merge_lost;
  INSERT INTO merge_lost SELECT h.here, g.path, g.at FROM incoming.gone AS g CROSS JOIN merge_host AS h ON h.there = g.host;
  INSERT INTO gone(host, path, at) SELECT host, path, max(at) FROM merge_lost GROUP BY host, path
  ON CONFLICT(host, path) DO UPDATE SET at = excluded.at WHERE excluded.at > gone.at;
  -- A file is gone if no refresh has found it since.
  DELETE FROM merge_gone
  WHERE at <= (SELECT r.refreshed FROM main.file AS f CROSS JOIN main.root AS r ON r.id = f.root
               WHERE f.host = merge_gone.host AND f.path = merge_gone.path);
  DELETE FROM merge_gone
  WHERE at <= (SELECT t.refreshed
               FROM merge_host AS h CROSS JOIN incoming.file AS x ON x.host = h.there CROSS JOIN incoming.root AS t ON t.id = x.root
               WHERE h.here = merge_gone.host AND x.path = merge_gone.path);
  UPDATE merge_file SET state = 'gone', fingerprints = NULL, findings = NULL, refreshed = NULL
  WHERE there IN (SELECT x.id FROM merge_gone AS g CROSS JOIN merge_host AS h ON h.here = g.host
                                   CROSS JOIN incoming.file AS x ON x.host = h.there AND x.path = g.path);
  INSERT OR IGNORE INTO merge_file(there, here, state)
  SELECT -f.id, f.id, 'removed' FROM merge_gone AS g CROSS JOIN main.file AS f ON f.host = g.host AND f.path = g.path;
  DELETE FROM file WHERE id IN (SELECT here FROM merge_file WHERE state = 'removed');
  DELETE FROM digest WHERE file IN (SELECT here FROM merge_file WHERE state = 'replaced');
  DELETE FROM attribute WHERE file IN (SELECT here FROM merge_file WHERE state = 'replaced');
  DELETE FROM external WHERE file IN (SELECT here FROM merge_file WHERE state = 'replaced');
  DELETE FROM stamp WHERE file IN (SELECT here FROM merge_file WHERE state = 'replaced');
  DELETE FROM tag WHERE file IN (SELECT here FROM merge_file WHERE state = 'replaced');
  DELETE FROM fingerprint WHERE file IN (SELECT here FROM merge_file WHERE fingerprints IS NOT NULL);
  DELETE FROM finding WHERE file IN (SELECT here FROM merge_file WHERE findings IS NOT NULL);
  INSERT INTO file(id, host, path, root, layout, container, version, size, mtime, device, inode, data_offset, manifest_bytes, refreshed,
                   fingerprint, fingerprinted, checked, error_kind, error, attributes)
  SELECT m.here, h.here, t.path, r.here, l.here, t.container, t.version, t.size, t.mtime, t.device, t.inode, t.data_offset,
         t.manifest_bytes, t.refreshed, t.fingerprint, t.fingerprinted, t.checked, t.error_kind, t.error, t.attributes
  FROM merge_file AS m CROSS JOIN incoming.file AS t ON t.id = m.there CROSS JOIN merge_host AS h ON h.there = t.host
       CROSS JOIN merge_root AS r ON r.there = t.root LEFT JOIN merge_layout AS l ON l.there = t.layout
  WHERE m.state IN ('added', 'replaced')
  ON CONFLICT(host, path) DO UPDATE
  SET layout = excluded.layout, container = excluded.container, version = excluded.version, size = excluded.size,
      mtime = excluded.mtime, device = excluded.device, inode = excluded.inode, data_offset = excluded.data_offset,
      manifest_bytes = excluded.manifest_bytes, refreshed = excluded.refreshed, error_kind = excluded.error_kind, error = excluded.error,
      attributes = excluded.attributes;
  UPDATE file SET refreshed = (SELECT m.refreshed FROM merge_file AS m WHERE m.here = file.id)
  WHERE id IN (SELECT here FROM merge_file WHERE refreshed IS NOT NULL);
  UPDATE file
  SET (fingerprint, fingerprinted) = (SELECT t.fingerprint, t.fingerprinted
                                      FROM merge_file AS m CROSS JOIN incoming.file AS t ON t.id = m.there
                                      WHERE m.here = file.id AND m.fingerprints = 'take')
  WHERE id IN (SELECT here FROM merge_file WHERE fingerprints IS NOT NULL);
  UPDATE file
  SET checked = (SELECT t.checked FROM merge_file AS m CROSS JOIN incoming.file AS t ON t.id = m.there
                 WHERE m.here = file.id AND m.findings = 'take')
  WHERE id IN (SELECT here FROM merge_file WHERE findings IS NOT NULL);
  -- The source that found it last.
  INSERT INTO merge_found
  SELECT m.here, r.here
  FROM merge_file AS m CROSS JOIN incoming.file AS t ON t.id = m.there CROSS JOIN incoming.root AS there ON there.id = t.root
       CROSS JOIN merge_root AS r ON r.there = t.root CROSS JOIN main.file AS f ON f.id = m.here
       CROSS JOIN main.root AS here ON here.id = f.root
  WHERE m.state IN ('replaced', 'unchanged') AND f.root <> r.here
    AND (coalesce(there.refreshed, 0), there.source) > (coalesce(here.refreshed, 0), here.source);
  UPDATE file SET root = (SELECT m.root FROM merge_found AS m WHERE m.file = file.id) WHERE id IN (SELECT file FROM merge_found);
  UPDATE merge_file
  SET here = (SELECT f.id FROM incoming.file AS t CROSS JOIN merge_host AS h ON h.there = t.host
                               CROSS JOIN main.file AS f ON f.host = h.here AND f.path = t.path
              WHERE t.id = merge_file.there)
  WHERE state = 'added';
  INSERT INTO digest(file, name, storage, algorithm, value, stated)
  SELECT m.here, n.here, s.here, t.algorithm, t.value, t.stated
  FROM merge_file AS m CROSS JOIN incoming.digest AS t ON t.file = m.there CROSS JOIN merge_name AS n ON n.there = t.name
       CROSS JOIN merge_storage AS s ON s.there = t.storage
  WHERE m.state IN ('added', 'replaced');
  INSERT INTO fingerprint(file, name, fingerprint)
  SELECT m.here, n.here, t.fingerprint
  FROM merge_file AS m CROSS JOIN incoming.fingerprint AS t ON t.file = m.there CROSS JOIN merge_name AS n ON n.there = t.name
  WHERE m.fingerprints = 'take';
  INSERT INTO attribute(file, key, value, type)
  SELECT m.here, t.key, t.value, t.type FROM merge_file AS m CROSS JOIN incoming.attribute AS t ON t.file = m.there
  WHERE m.state IN ('added', 'replaced');
  INSERT INTO finding(file, object, component, severity, rule, message)
  SELECT m.here, t.object, t.component, t.severity, t.rule, t.message
  FROM merge_file AS m CROSS JOIN incoming.finding AS t ON t.file = m.there WHERE m.findings = 'take';
  INSERT INTO external(file, path, size, mtime, inode)
  SELECT m.here, t.path, t.size, t.mtime, t.inode FROM merge_file AS m CROSS JOIN incoming.external AS t ON t.file = m.there
  WHERE m.state IN ('added', 'replaced');
  INSERT OR IGNORE INTO stamp(file, path, mtime, ctime, birth)
  SELECT m.here, t.path, t.mtime, t.ctime, t.birth FROM merge_file AS m CROSS JOIN incoming.stamp AS t ON t.file = m.there
  WHERE m.state IN ('added', 'replaced', 'unchanged') AND m.here IS NOT NULL;
  -- As in a refresh: of two files with one number of an inode, the number is that of the file made later.
  UPDATE file SET inode = NULL
  WHERE id IN (SELECT CASE WHEN b.birth < s.birth THEN x.id ELSE y.id END
               FROM merge_file AS m CROSS JOIN file AS x ON x.id = m.here CROSS JOIN stamp AS b ON b.file = x.id AND b.path = ''
                    CROSS JOIN file AS y ON y.inode = x.inode AND y.device = x.device AND y.host = x.host
                    CROSS JOIN stamp AS s ON s.file = y.id AND s.path = ''
               WHERE m.state IN ('added', 'replaced') AND s.birth <> b.birth);
  INSERT OR IGNORE INTO tag(file, etag)
  SELECT m.here, t.etag FROM merge_file AS m CROSS JOIN incoming.tag AS t ON t.file = m.there WHERE m.state IN ('added', 'replaced');
  INSERT OR IGNORE INTO whole(parts, fingerprint) SELECT parts, fingerprint FROM incoming.whole;
  -- Each source has the files of its later refresh, and each file has the source that found it last.
  DELETE FROM found
  WHERE root IN (SELECT m.here FROM merge_root AS m CROSS JOIN incoming.root AS t ON t.id = m.there CROSS JOIN main.root AS r ON r.id = m.here
                 WHERE t.refreshed > coalesce(r.refreshed, 0));
  INSERT OR IGNORE INTO found(root, file)
  SELECT r.id, m.here
  FROM merge_root AS n CROSS JOIN incoming.root AS t ON t.id = n.there CROSS JOIN main.root AS r ON r.id = n.here
       CROSS JOIN incoming.found AS o ON o.root = t.id CROSS JOIN merge_file AS m ON m.there = o.file CROSS JOIN main.file AS f ON f.id = m.here
  WHERE m.state IN ('added', 'replaced', 'unchanged') AND t.refreshed >= coalesce(r.refreshed, 0);
  INSERT OR IGNORE INTO found(root, file) SELECT root, id FROM main.file;

  -- Times, history and runs.
  UPDATE root
  SET refreshed = (SELECT max(coalesce(t.refreshed, root.refreshed), coalesce(root.refreshed, t.refreshed))
                   FROM merge_root AS m CROSS JOIN incoming.root AS t ON t.id = m.there WHERE m.here = root.id)
  WHERE id IN (SELECT here FROM merge_root);
  INSERT INTO change(at, host, path, change, was, size, mtime)
  SELECT t.at, h.here, t.path, t.change, t.was, t.size, t.mtime FROM incoming.change AS t CROSS JOIN merge_host AS h ON h.there = t.host
  EXCEPT SELECT at, host, path, change, was, size, mtime FROM main.change
  ORDER BY 1;
  INSERT INTO run_files(tracker, database, run, name, status, path, logged, host)
  SELECT r.tracker, r.database, r.run, r.name, r.status, r.path, r.logged, coalesce(h.name, r.host)
  FROM incoming.run_files AS r LEFT JOIN incoming.host AS h
    ON r.host = '' AND h.id IN (SELECT host FROM incoming.file WHERE path = r.path)
  WHERE true
  ON CONFLICT(tracker, database, host, run, path) DO UPDATE SET name = excluded.name, status = excluded.status, logged = excluded.logged
  WHERE (coalesce(excluded.logged, 0), excluded.status IS NOT 'running', coalesce(excluded.status, ''))
      > (coalesce(run_files.logged, 0), run_files.status IS NOT 'running', coalesce(run_files.status, ''));
  INSERT OR IGNORE INTO metrics(pattern, direction) SELECT pattern, direction FROM incoming.metrics;

  UPDATE merge
  SET added = (SELECT count(*) FROM merge_file WHERE state = 'added'),
      replaced = (SELECT count(*) FROM merge_file WHERE state = 'replaced' OR state = 'unchanged' AND 'take' IN (fingerprints, findings)),
      removed = (SELECT count(*) FROM merge_file WHERE state = 'removed'),
      unchanged = (SELECT count(*) FROM merge_file
                   WHERE state = 'gone' OR state = 'unchanged' AND fingerprints IS NULL AND findings IS NULL)
  WHERE rowid = NEW.rowid;
  DELETE FROM layout
  WHERE EXISTS (SELECT 1 FROM merge_file WHERE state <> 'added') AND id NOT IN (SELECT layout FROM file WHERE layout IS NOT NULL);
  DELETE FROM architecture WHERE EXISTS (SELECT 1 FROM merge_file WHERE state <> 'added') AND id NOT IN (SELECT architecture FROM layout);
  DELETE FROM merge_host;
  DELETE FROM merge_root;
  DELETE FROM merge_name;
  DELETE FROM merge_shape;
  DELETE FROM merge_kind;
  DELETE FROM merge_storage;
  DELETE FROM merge_architecture;
  DELETE FROM merge_layout;
  DELETE FROM merge_file;
  DELETE FROM merge_found;
  DELETE FROM merge_gone;
  DELETE FROM merge_lost;
END;
