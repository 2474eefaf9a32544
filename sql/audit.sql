-- audit.sql: views that audit a catalog of tensor files. The comment of each view begins with the question that it answers.
--
--   sqlite3 catalog.db < sql/audit.sql
--   sqlite3 -box catalog.db "SELECT * FROM unlicensed_files" "SELECT * FROM duplicates LIMIT 10"
--
-- The views over the catalog alone stay in the database and need no ztensor. The views at the end read the tensors themselves. They
-- last for the session, need ztensor, and read only files of this machine:
--
--   sqlite3 -box catalog.db ".load ./ztensor" ".read sql/audit.sql" "SELECT * FROM suspect_tensors LIMIT 10"
--
-- catalog.sql makes the catalog and refresh.sql fills it. Reading this script again replaces the views. A database that is not a
-- catalog, or has other tables or views with these names, is an error and is not changed.

-- ---- Check the database before any change. The error stays to the end, so that a shell that continues after an error changes nothing.

-- The views that stay, and the version that introduced each. A catalog that has any view of a version has most of them: a few alone are
-- another program's.
DROP TABLE IF EXISTS temp.audit_names;
CREATE TEMP TABLE audit_names(name TEXT PRIMARY KEY, since INTEGER);
INSERT INTO audit_names(since, name) VALUES
  (2, 'digests'), (2, 'repeated_digests'), (2, 'repeated_fingerprints'), (2, 'duplicates'), (2, 'copies'), (2, 'tied_weights'),
  (2, 'same_models'), (2, 'families'), (2, 'component_pairs'), (2, 'differences'), (2, 'dtype_shares'), (2, 'dtype_totals'),
  (2, 'format_shares'), (2, 'format_totals'), (2, 'largest_tensors'), (2, 'licences'), (2, 'unlicensed_files'), (2, 'missing_digests'),
  (2, 'unreferenced_files'), (2, 'lost_runs'), (2, 'run_copies'),
  (3, 'refuted_digests'), (3, 'duplicate_digests');

DROP TABLE IF EXISTS temp.audit_wrong;
CREATE TEMP TABLE audit_wrong AS
SELECT CASE
    WHEN (SELECT application_id FROM pragma_application_id) <> 0x7A744361 OR (SELECT user_version FROM pragma_user_version) <> 5 THEN 'none'
    WHEN EXISTS (SELECT 1 FROM main.sqlite_master AS m JOIN temp.audit_names AS n ON n.name = lower(m.name) WHERE m.type <> 'view')
      OR EXISTS (SELECT 1 FROM temp.audit_names AS n LEFT JOIN main.sqlite_master AS m ON lower(m.name) = n.name
                 GROUP BY n.since HAVING count(m.name) BETWEEN 1 AND count(*) / 2) THEN 'taken'
  END AS wrong;

DROP TABLE IF EXISTS temp.audit_check;
CREATE TEMP TABLE audit_check(wrong);
CREATE TEMP TRIGGER audit_check_insert BEFORE INSERT ON audit_check BEGIN
  SELECT RAISE(ROLLBACK, 'this database has no catalog yet, or one of another version: .read sql/catalog.sql first') WHERE NEW.wrong = 'none';
  SELECT RAISE(ROLLBACK, 'this catalog has a table or view of somebody''s own with the name of a view of this script (such as copies)')
  WHERE NEW.wrong = 'taken';
END;
INSERT INTO audit_check SELECT wrong FROM audit_wrong;

SAVEPOINT audit;
PRAGMA main.application_id = 0x7A744361;   -- To wait for another writer, as in catalog.sql

-- ---- Duplicates

-- Which digest does each component have, in one spelling: lower case, without 0x, and which algorithm? Both are NULL without a digest,
-- and for a digest that cannot be checked, with an unknown algorithm or a wrong number of digits. Digests are comparable if they cover
-- the same bytes: `covers` is decoded, stored, or member (an archive's). For raw bytes, stored and decoded are the same, and `covers`
-- is decoded.
DROP VIEW IF EXISTS main.digests;
CREATE VIEW main.digests AS
SELECT f.path, n.name AS object, s.component, s.dtype, s.type, s.encoding, s.byte_order, p.shard,
       CASE WHEN p.shard IS NULL THEN p.offset + f.data_offset ELSE p.offset END AS offset,
       CASE typeof(p.length) WHEN 'blob' THEN CAST(p.length AS TEXT) ELSE p.length END AS length,
       CASE typeof(p.decoded_length) WHEN 'blob' THEN CAST(p.decoded_length AS TEXT) ELSE p.decoded_length END AS decoded_length,
       d.algorithm, d.algorithm || ':' || lower(hex(d.value)) AS digest,
       CASE WHEN s.encoding = 'raw' AND s.digest_of = 'stored' THEN 'decoded' ELSE s.digest_of END AS covers, h.name AS host, f.id AS file
FROM file AS f CROSS JOIN host AS h ON h.id = f.host CROSS JOIN part AS p ON p.layout = f.layout
     CROSS JOIN name AS n ON n.id = p.name CROSS JOIN storage AS s ON s.id = p.storage
     LEFT JOIN digest AS d ON d.file = f.id AND d.name = p.name AND d.storage = p.storage;

-- Which digests have been refuted by reading the bytes? The file still states them, and they prove nothing.
DROP VIEW IF EXISTS main.refuted_digests;
CREATE VIEW main.refuted_digests AS
SELECT d.file, d.name, d.storage, g.rule
FROM digest AS d CROSS JOIN storage AS s ON s.id = d.storage CROSS JOIN name AS n ON n.id = d.name
     CROSS JOIN finding AS g ON g.file = d.file AND g.object = n.name AND g.severity = 'error'
WHERE g.component IS s.component
  AND g.rule IN ('digest-mismatch', 'encoding', 'seek-table', 'decoded-length', 'shard-size', 'shard-digest');

-- Which places hold a content whose digest occurs more than once? Several names of one file are one place, and so are tied tensors.
-- Contents in a shard are left out, because a shard exists once, however many files refer to it. Refuted digests are left out, too.
-- `covered` is the number of bytes that the digest covers. `coded` is their encoding, if the digest covers stored bytes.
DROP VIEW IF EXISTS main.repeated_digests;
CREATE VIEW main.repeated_digests AS
SELECT d.algorithm || ':' || lower(hex(d.value)) AS digest, s.dtype, s.encoding, s.byte_order,
       CASE WHEN s.encoding = 'raw' AND s.digest_of = 'stored' THEN 'decoded' ELSE s.digest_of END AS covers,
       p.length, p.offset + f.data_offset AS offset, f.id AS file, d.name, s.component,
       CASE WHEN f.inode IS NULL THEN f.id ELSE f.host || ' ' || f.device || ' ' || f.inode END AS place, d.value, d.algorithm,
       CASE WHEN s.encoding = 'raw' OR s.digest_of = 'decoded' THEN p.decoded_length ELSE p.length END AS covered,
       CASE WHEN s.encoding <> 'raw' AND s.digest_of <> 'decoded' THEN s.encoding END AS coded
FROM repeated AS v CROSS JOIN digest AS d ON d.value = v.value CROSS JOIN file AS f ON f.id = d.file
     CROSS JOIN part AS p ON p.layout = f.layout AND p.name = d.name AND p.storage = d.storage
     CROSS JOIN storage AS s ON s.id = d.storage
WHERE d.algorithm IS NOT NULL AND p.length > 0 AND p.shard IS NULL
  AND NOT EXISTS (SELECT 1 FROM refuted_digests AS r WHERE r.file = d.file AND r.name = d.name AND r.storage = d.storage);

-- Which tensors have values that occur more than once, by their fingerprints? `place` is the file that holds a tensor's bytes, which may be
-- another one, such as ONNX's external data. That file is taken to be on the device of the file that refers to it. `spot` is the place in
-- that file: an offset, or the tensor's name if its bytes are not in one piece, such as HDF5's chunks.
DROP VIEW IF EXISTS main.repeated_fingerprints;
CREATE VIEW main.repeated_fingerprints AS
SELECT *, coalesce(offset, 'tensor ' || name) AS spot FROM (
SELECT fingerprint, file, name, dtype, length,
       (SELECT min(p.offset) FROM part AS p WHERE p.layout = r.layout AND p.name = r.name AND p.shard IS r.shard)
       + CASE WHEN shard IS NULL THEN data_offset ELSE 0 END AS offset,
       CASE WHEN shard IS NULL THEN CASE WHEN inode IS NULL THEN file ELSE host || ' ' || device || ' ' || inode END
            ELSE coalesce((SELECT CASE WHEN x.inode IS NULL THEN r.host || ' ' || x.path ELSE r.host || ' ' || r.device || ' ' || x.inode END FROM external AS x
                  WHERE x.file = r.file AND x.path IN (rtrim(r.path, replace(r.path, '/', '')) || r.shard,
                                                       substr(r.path, 1, length(rtrim(r.path, replace(r.path, '.', ''))) - 1) || '-' || r.shard || '.zt',
                                                       r.path || '-' || r.shard || '.zt')), r.file || ' ' || r.shard) END AS place, type
FROM (SELECT p.fingerprint, f.id AS file, p.name, k.dtype, k.type, o.stored_bytes AS length, f.layout, f.data_offset, f.host, f.device, f.inode, f.path,
             (SELECT min(shard) FROM part WHERE layout = f.layout AND name = p.name) AS shard
      FROM (SELECT fingerprint FROM fingerprint WHERE fingerprint IS NOT NULL GROUP BY fingerprint HAVING count(*) > 1) AS v
           CROSS JOIN fingerprint AS p ON p.fingerprint = v.fingerprint CROSS JOIN file AS f ON f.id = p.file
           CROSS JOIN layout_objects AS o ON o.layout = f.layout AND o.name = p.name
           CROSS JOIN kinds AS k ON k.id = o.kind
      WHERE o.stored_bytes > 0) AS r);

-- Which contents occur more than once, by their digests alone? These are contents whose values have not all been read, or that
-- fingerprints cannot tell (one component among several, the same bytes in another shape). Contents with one fingerprint count as one
-- here. `evidence` is as in duplicates: a digest that several different contents state is no proof.
DROP VIEW IF EXISTS main.duplicate_digests;
CREATE VIEW main.duplicate_digests AS
-- Files of one layout have a content in one place, where its name has it. So they are counted before any look-up. `seen` is the
-- tensor's fingerprint, '' if it was looked for in vain, and NULL if it was not looked for.
WITH held AS (
  SELECT d.value, d.algorithm, f.layout, d.name, d.storage, CASE WHEN p.file IS NOT NULL THEN coalesce(p.fingerprint, '') END AS seen,
         f.checked IS NOT NULL AS checked, count(*) AS files, min(f.path) AS first_path, max(f.path) AS last_path
  FROM repeated AS v CROSS JOIN digest AS d ON d.value = v.value CROSS JOIN file AS f ON f.id = d.file
       LEFT JOIN fingerprint AS p ON p.file = d.file AND p.name = d.name
  WHERE d.algorithm IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM file AS g WHERE g.inode = f.inode AND g.device = f.device AND g.host = f.host AND g.id < f.id)
    AND (f.checked IS NULL
         OR NOT EXISTS (SELECT 1 FROM refuted_digests AS r WHERE r.file = d.file AND r.name = d.name AND r.storage = d.storage))
  GROUP BY d.value, d.algorithm, f.layout, d.name, d.storage, seen, checked
), placed AS (
  SELECT h.*, s.dtype, s.encoding, s.byte_order, p.length,
         CASE WHEN s.encoding = 'raw' AND s.digest_of = 'stored' THEN 'decoded' ELSE s.digest_of END AS covers,
         CASE WHEN s.encoding = 'raw' OR s.digest_of = 'decoded' THEN p.decoded_length ELSE p.length END AS covered,
         CASE WHEN s.encoding <> 'raw' AND s.digest_of <> 'decoded' THEN s.encoding END AS coded,
         k.type, q.type AS known_as, n.name AS object, o.shape, o.components = 1 AS single,
         min(h.name) OVER (PARTITION BY h.value, h.algorithm, h.layout, coalesce(p.offset, 'tensor ' || h.name), p.length, s.dtype) AS tied,
         CASE WHEN min(h.name) OVER held = max(h.name) OVER held AND min(h.storage) OVER held = max(h.storage) OVER held THEN 1 ELSE 2 END AS names
  FROM held AS h CROSS JOIN part AS p ON p.layout = h.layout AND p.name = h.name AND p.storage = h.storage
       CROSS JOIN storage AS s ON s.id = h.storage CROSS JOIN layout_objects AS o ON o.layout = h.layout AND o.name = h.name
       CROSS JOIN kind AS k ON k.id = o.kind CROSS JOIN kinds AS q ON q.id = o.kind CROSS JOIN name AS n ON n.id = h.name
  WHERE p.length > 0 AND p.shard IS NULL
  WINDOW held AS (PARTITION BY h.value, h.algorithm, h.layout)
), judged AS (
  SELECT *, (single OR min(checked) OVER alike = 0) AND min(seen) OVER alike <> max(seen) OVER alike AS torn
  FROM placed WHERE tied = name
  WINDOW alike AS (PARTITION BY algorithm, value, covered, coded, dtype, byte_order, covers, type, shape, single)
), counted AS (
  SELECT algorithm, value, covered, coded, dtype, byte_order, covers, min(length) AS length, sum(files) AS copies,
         CASE WHEN min(encoding) = max(encoding) THEN min(encoding) END AS encoding, max(names) AS names, max(torn) AS torn,
         count(DISTINCT nullif(seen, '')) + coalesce(sum(files) FILTER (WHERE nullif(seen, '') IS NULL), 0) AS contents,
         sum(files) FILTER (WHERE seen IS NULL OR NOT single) AS open, min(first_path) AS first_path, max(last_path) AS last_path,
         CASE WHEN min(known_as) = max(known_as) THEN min(known_as) END AS type, min(object) AS object
  FROM judged GROUP BY algorithm, value, covered, coded, dtype, byte_order, covers
)
SELECT algorithm || ':' || lower(hex(value)) AS digest, dtype, encoding, byte_order, length, copies,
       CASE WHEN names = 1 THEN copies
            ELSE (SELECT count(DISTINCT r.place) FROM repeated_digests AS r
                  WHERE r.value = x.value AND r.algorithm = x.algorithm AND r.covered = x.covered AND r.coded IS x.coded
                    AND r.dtype IS x.dtype AND r.byte_order IS x.byte_order AND r.covers = x.covers) END AS files,
       (contents - 1) * length AS spare_bytes, CASE WHEN algorithm = 'sha256' AND NOT coalesce(torn, 0) THEN 'proof' ELSE 'candidate' END AS evidence,
       first_path, last_path, value, algorithm, covered, coded, covers, type, object
FROM counted AS x WHERE contents > 1 AND (open > 0 OR NOT coalesce(torn, 0));

-- Which contents occur more than once, and how many bytes would one copy of each save? Values that were read decide: a content is
-- identified by its fingerprint, over dtype, shape and values, in any format. Its digest identifies it only if fingerprints cannot
-- (duplicate_digests). `evidence` is proof, values or candidate. proof is an equal cryptographic digest that nothing read contradicts.
-- values is an equal fingerprint. candidate is a checksum, such as crc32c, supported only by the length, or a digest that other bytes
-- state, too. If the copies differ in length, the min is given; other columns that differ are NULL. `type` is people's name of the type,
-- such as q5_0, and `object` the name of one of the tensors.
DROP VIEW IF EXISTS main.duplicates;
CREATE VIEW main.duplicates AS
SELECT digest, dtype, encoding, byte_order, length, copies, files, spare_bytes, evidence, first_path, last_path, type, object FROM duplicate_digests
UNION ALL
SELECT r.fingerprint, CASE WHEN min(r.dtype) = max(r.dtype) THEN min(r.dtype) END, NULL, NULL, min(r.length), count(*),
       count(DISTINCT r.place), sum(r.length) - max(r.length),
       CASE WHEN count(r.digest) = count(*) AND min(r.digest) = max(r.digest) THEN 'proof' ELSE 'values' END, min(f.path), max(f.path),
       CASE WHEN min(r.type) = max(r.type) THEN min(r.type) END, min(n.name)
FROM (SELECT *, (SELECT CASE count(*) WHEN 1 THEN max(d.value) END FROM digest AS d
                 WHERE d.file = p.file AND d.name = p.name AND d.algorithm = 'sha256') AS digest
      FROM repeated_fingerprints AS p GROUP BY fingerprint, place, spot) AS r JOIN file AS f ON f.id = r.file JOIN name AS n ON n.id = r.name
GROUP BY r.fingerprint HAVING count(*) > 1
ORDER BY 8 DESC, 1;

-- Where are the copies of each of these contents?
DROP VIEW IF EXISTS main.copies;
CREATE VIEW main.copies AS
SELECT c.digest, c.dtype, c.encoding, c.length, f.path, n.name AS object, c.component, h.name AS host
FROM (SELECT r.digest, r.dtype, r.encoding, r.length, r.file, r.name, r.component
      FROM duplicate_digests AS g CROSS JOIN repeated_digests AS r
        ON r.value = g.value AND r.algorithm = g.algorithm AND r.covered = g.covered AND r.coded IS g.coded AND r.dtype IS g.dtype
       AND r.byte_order IS g.byte_order AND r.covers = g.covers
      UNION ALL
      SELECT fingerprint, dtype, NULL, length, file, name, NULL
      FROM (SELECT *, min(place || ' ' || spot) OVER same <> max(place || ' ' || spot) OVER same AS several
            FROM repeated_fingerprints WINDOW same AS (PARTITION BY fingerprint))
      WHERE several) AS c
     JOIN file AS f ON f.id = c.file JOIN host AS h ON h.id = f.host JOIN name AS n ON n.id = c.name
ORDER BY c.digest, f.path, object, c.component;

-- Which components of a file are tied, that is, share the same range of its bytes? `shared` is their number. A compressed pickle, or a
-- compressed element of MATLAB, is one range for all that is in it, and says nothing.
DROP VIEW IF EXISTS main.tied_weights;
CREATE VIEW main.tied_weights AS
WITH tied AS (
  SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY layout, shard, offset, length) AS shared FROM part
                 WHERE length > 0 AND offset IS NOT NULL
                   AND storage NOT IN (SELECT id FROM storage WHERE encoding GLOB 'zlib*' OR encoding GLOB 'gzip*'))
  WHERE shared > 1
)
SELECT f.path, p.shard, CASE WHEN p.shard IS NULL THEN p.offset + f.data_offset ELSE p.offset END AS offset, p.length,
       n.name AS object, s.component, p.shared, h.name AS host
FROM tied AS p CROSS JOIN file AS f ON f.layout = p.layout CROSS JOIN host AS h ON h.id = f.host
     CROSS JOIN name AS n ON n.id = p.name CROSS JOIN storage AS s ON s.id = p.storage
ORDER BY f.path, offset, object, s.component;

-- Which models are the same, in one file or several, in any format: equal in all names, shapes, types and values? (Fingerprints decide,
-- which a second pass of refresh.sql makes.) Several names of one file are not copies. The path of a model in several files is the path
-- that it would have in one, and `file` is its first part: see whole_models.
DROP VIEW IF EXISTS main.same_models;
CREATE VIEW main.same_models AS
SELECT fingerprint, path, container, version, size, host, file
FROM (SELECT *, min(place) OVER same <> max(place) OVER same AS several FROM whole_models WHERE fingerprint IS NOT NULL
      WINDOW same AS (PARTITION BY fingerprint))
WHERE several
ORDER BY fingerprint, path;

-- Which files belong to one family: the same names, types and shapes, whatever the values? `family` is a number of this catalog.
DROP VIEW IF EXISTS main.families;
CREATE VIEW main.families AS
WITH several(architecture, files) AS (
  SELECT l.architecture, count(*) FROM file AS f JOIN layout AS l ON l.id = f.layout GROUP BY l.architecture HAVING count(*) > 1
)
SELECT a.id AS family, v.files, a.objects, a.parameters, f.path, f.container, f.size, h.name AS host, f.id AS file
FROM several AS v CROSS JOIN architecture AS a ON a.id = v.architecture CROSS JOIN layout AS l ON l.architecture = a.id
     CROSS JOIN file AS f ON f.layout = l.id CROSS JOIN host AS h ON h.id = f.host
WHERE a.objects > 0;

-- ---- Differences

-- Is a component that two files have under one name the same in both? `verdict` is same, changed, or unknown, if nothing proves either.
-- Values that were read decide: fingerprints of the objects, in any format and byte order. Where fingerprints cannot decide, equal
-- lengths and digests over the same bytes do, unless reading has refuted a digest. A cryptographic digest proves equality, and any
-- digest over decoded bytes proves a difference. Equal checksums, such as crc32c, leave the verdict unknown.
DROP VIEW IF EXISTS main.component_pairs;
CREATE VIEW main.component_pairs AS
SELECT path_a, path_b, object, component, dtype, type_a, type_b, encoding_a, encoding_b, shard_a, shard_b, byte_order_a, byte_order_b,
       length_a, length_b, digest_a, digest_b,
       CASE WHEN fingerprint_a = fingerprint_b OR file_a = file_b THEN 'same'
            WHEN components_a = 1 AND components_b = 1 AND alike AND fingerprint_a <> fingerprint_b THEN 'changed'
            WHEN dtype IS NOT dtype_b OR byte_order_a IS NOT byte_order_b THEN 'unknown'
            WHEN length_a <> length_b THEN 'changed'
            WHEN length_a = 0 AND length_b = 0 THEN 'same'
            WHEN EXISTS (SELECT 1 FROM refuted_digests AS r WHERE r.file = file_a AND r.name = name_a AND r.storage = storage_a)
              OR EXISTS (SELECT 1 FROM refuted_digests AS r WHERE r.file = file_b AND r.name = name_a AND r.storage = storage_b) THEN 'unknown'
            WHEN covers_a = 'decoded' AND covers_b = 'decoded' AND algorithm_a = algorithm_b AND digest_a <> digest_b THEN 'changed'
            -- If an object has changed, one of its components has. If digests exclude all others, only reading can clear this one.
            WHEN covers_a = covers_b AND algorithm_a = 'sha256' AND digest_a = digest_b AND (covers_a = 'decoded' OR encoding_a = encoding_b)
             AND (NOT (looked_a AND looked_b AND alike) OR fingerprint_a IS NULL AND fingerprint_b IS NULL OR checked_a AND checked_b
                  OR EXISTS (SELECT 1 FROM digest AS x CROSS JOIN storage AS u ON u.id = x.storage
                                           CROSS JOIN digest AS y ON y.file = file_b AND y.name = x.name
                                           CROSS JOIN storage AS v ON v.id = y.storage AND v.component = u.component
                             WHERE x.file = file_a AND x.name = name_a AND x.algorithm = y.algorithm AND x.value <> y.value
                               AND u.dtype IS v.dtype AND u.encoding = 'raw' AND v.encoding = 'raw'))
            THEN 'same'
            ELSE 'unknown' END AS verdict, file_a, file_b, host_a, host_b, fingerprint_a, fingerprint_b
FROM (SELECT a.path AS path_a, b.path AS path_b, n.name AS object, sa.component, sa.dtype, sb.dtype AS dtype_b, sa.type AS type_a,
             sb.type AS type_b, sa.encoding AS encoding_a, sb.encoding AS encoding_b, pa.shard AS shard_a, pb.shard AS shard_b,
             sa.byte_order AS byte_order_a, sb.byte_order AS byte_order_b, pa.decoded_length AS length_a, pb.decoded_length AS length_b,
             da.algorithm AS algorithm_a, db.algorithm AS algorithm_b, da.algorithm || ':' || lower(hex(da.value)) AS digest_a,
             db.algorithm || ':' || lower(hex(db.value)) AS digest_b,
             CASE WHEN sa.encoding = 'raw' AND sa.digest_of = 'stored' THEN 'decoded' ELSE sa.digest_of END AS covers_a,
             CASE WHEN sb.encoding = 'raw' AND sb.digest_of = 'stored' THEN 'decoded' ELSE sb.digest_of END AS covers_b,
             fa.fingerprint AS fingerprint_a, fb.fingerprint AS fingerprint_b, a.id AS file_a, b.id AS file_b,
             fa.file IS NOT NULL AS looked_a, fb.file IS NOT NULL AS looked_b,
             a.checked IS NOT NULL AS checked_a, b.checked IS NOT NULL AS checked_b,
             coalesce(x.components, 1) AS components_a, coalesce(y.components, 1) AS components_b,
             ta.shape = tb.shape AND (ta.kind = tb.kind OR (SELECT ka.type IS kb.type FROM kind AS ka CROSS JOIN kind AS kb
                                                            WHERE ka.id = ta.kind AND kb.id = tb.kind)) AS alike, pa.name AS name_a, pa.storage AS storage_a, pb.storage AS storage_b,
             (SELECT name FROM host WHERE id = a.host) AS host_a, (SELECT name FROM host WHERE id = b.host) AS host_b
      FROM file AS a CROSS JOIN file AS b CROSS JOIN part AS pa ON pa.layout = a.layout
           CROSS JOIN part AS pb ON pb.layout = b.layout AND pb.name = pa.name
           CROSS JOIN storage AS sa ON sa.id = pa.storage CROSS JOIN storage AS sb ON sb.id = pb.storage AND sb.component = sa.component
           CROSS JOIN name AS n ON n.id = pa.name
           CROSS JOIN tensor AS ta ON ta.architecture = (SELECT architecture FROM layout WHERE id = a.layout) AND ta.name = pa.name
           CROSS JOIN tensor AS tb ON tb.architecture = (SELECT architecture FROM layout WHERE id = b.layout) AND tb.name = pa.name
           LEFT JOIN digest AS da ON da.file = a.id AND da.name = pa.name AND da.storage = pa.storage
           LEFT JOIN digest AS db ON db.file = b.id AND db.name = pb.name AND db.storage = pb.storage
           LEFT JOIN fingerprint AS fa ON fa.file = a.id AND fa.name = pa.name
           LEFT JOIN fingerprint AS fb ON fb.file = b.id AND fb.name = pb.name
           LEFT JOIN detail AS x ON x.layout = a.layout AND x.name = pa.name
           LEFT JOIN detail AS y ON y.layout = b.layout AND y.name = pb.name);

-- Which differences are there between two files? ... WHERE path_a = '/data/old.zt' AND path_b = '/data/new.zt'
-- No row means that two catalogued paths do not differ. For other paths, in a session with ztensor, the view of that name says
-- `not in the catalog`. hashed_differences reads the tensors of unknown rows. `change` is one of these:
--   added, removed       before, after: type and shape
--   reformatted, retyped, reshaped
--   recomposed           component `part` is in only one file
--   reencoded            component `part`
--   content              component `part`; before, after: digests, else lengths or the tensor's fingerprints; part NULL: the
--                        fingerprints of a tensor of several components
--   unknown              component `part`: nothing proves whether its content is the same; before, after: digests, if there are any
--   attributes           key `part`; object NULL: of the file
--   unreadable
-- SQLite 3.41 passes paths into the parts of the view only if each column has the same affinity in all of them. Hence NULL is cast, and a
-- plus takes the affinity away.
DROP VIEW IF EXISTS main.differences;
CREATE VIEW main.differences AS
SELECT a.path AS path_a, b.path AS path_b, CAST(NULL AS TEXT) AS object, CAST(NULL AS TEXT) AS part, 'unreadable' AS change,
       +a.error AS before, +b.error AS after, a.id AS file_a, b.id AS file_b
FROM file AS a CROSS JOIN file AS b WHERE a.error IS NOT NULL AND a.id <> b.id
UNION ALL
SELECT a.path, b.path, CAST(NULL AS TEXT), CAST(NULL AS TEXT), 'unreadable', NULL, +b.error, a.id, b.id
FROM file AS b CROSS JOIN file AS a WHERE b.error IS NOT NULL AND a.error IS NULL
UNION ALL
SELECT a.path, b.path, n.name, CAST(NULL AS TEXT), 'added', NULL, coalesce(k.type, k.format) || s.shape, a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN layout AS la ON la.id = a.layout CROSS JOIN layout AS lb ON lb.id = b.layout
     CROSS JOIN tensor AS t ON t.architecture = lb.architecture
     CROSS JOIN name AS n ON n.id = t.name CROSS JOIN kinds AS k ON k.id = t.kind CROSS JOIN shape AS s ON s.id = t.shape
WHERE la.architecture <> lb.architecture
  AND NOT EXISTS (SELECT 1 FROM tensor AS o WHERE o.architecture = la.architecture AND o.name = t.name)
UNION ALL
SELECT a.path, b.path, n.name, CAST(NULL AS TEXT), 'removed', coalesce(k.type, k.format) || s.shape, NULL, a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN layout AS la ON la.id = a.layout CROSS JOIN layout AS lb ON lb.id = b.layout
     CROSS JOIN tensor AS t ON t.architecture = la.architecture
     CROSS JOIN name AS n ON n.id = t.name CROSS JOIN kinds AS k ON k.id = t.kind CROSS JOIN shape AS s ON s.id = t.shape
WHERE la.architecture <> lb.architecture
  AND NOT EXISTS (SELECT 1 FROM tensor AS o WHERE o.architecture = lb.architecture AND o.name = t.name)
UNION ALL
SELECT a.path, b.path, n.name, CAST(NULL AS TEXT), +c.change,
       CASE c.change WHEN 'reformatted' THEN ka.format WHEN 'retyped' THEN ka.type ELSE sa.shape END,
       CASE c.change WHEN 'reformatted' THEN kb.format WHEN 'retyped' THEN kb.type ELSE sb.shape END, a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN layout AS la ON la.id = a.layout CROSS JOIN layout AS lb ON lb.id = b.layout
     CROSS JOIN tensor AS ta ON ta.architecture = la.architecture
     CROSS JOIN tensor AS tb ON tb.architecture = lb.architecture AND tb.name = ta.name AND (tb.kind <> ta.kind OR tb.shape <> ta.shape)
     CROSS JOIN name AS n ON n.id = ta.name CROSS JOIN kind AS ka ON ka.id = ta.kind CROSS JOIN kind AS kb ON kb.id = tb.kind
     CROSS JOIN shape AS sa ON sa.id = ta.shape CROSS JOIN shape AS sb ON sb.id = tb.shape
     CROSS JOIN (SELECT 'reformatted' AS change UNION ALL SELECT 'retyped' UNION ALL SELECT 'reshaped') AS c
WHERE la.architecture <> lb.architecture
  AND CASE c.change WHEN 'reformatted' THEN ka.format IS NOT kb.format WHEN 'retyped' THEN ka.type IS NOT kb.type
                    ELSE sa.shape IS NOT sb.shape END
UNION ALL
SELECT a.path, b.path, n.name, s.component, 'recomposed', +s.type, NULL, a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN layout AS lb ON lb.id = b.layout
     CROSS JOIN part AS p ON p.layout = a.layout
     CROSS JOIN tensor AS t ON t.architecture = lb.architecture AND t.name = p.name
     CROSS JOIN storage AS s ON s.id = p.storage CROSS JOIN name AS n ON n.id = p.name
WHERE a.layout <> b.layout
  AND NOT EXISTS (SELECT 1 FROM part AS q JOIN storage AS r ON r.id = q.storage
                  WHERE q.layout = b.layout AND q.name = p.name AND r.component = s.component)
UNION ALL
SELECT a.path, b.path, n.name, s.component, 'recomposed', NULL, +s.type, a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN layout AS la ON la.id = a.layout
     CROSS JOIN part AS p ON p.layout = b.layout
     CROSS JOIN tensor AS t ON t.architecture = la.architecture AND t.name = p.name
     CROSS JOIN storage AS s ON s.id = p.storage CROSS JOIN name AS n ON n.id = p.name
WHERE a.layout <> b.layout
  AND NOT EXISTS (SELECT 1 FROM part AS q JOIN storage AS r ON r.id = q.storage
                  WHERE q.layout = a.layout AND q.name = p.name AND r.component = s.component)
UNION ALL
-- Components beside the values; the values themselves are the object's, above. Tensors of another shape or type have other contents,
-- which needs no row.
SELECT path_a, path_b, object, component, +c.change,
       CASE c.change WHEN 'retyped' THEN type_a WHEN 'reencoded' THEN encoding_a
                     ELSE CASE WHEN length_a IS NOT length_b THEN length_a WHEN c.change = 'content' AND digest_a IS digest_b THEN fingerprint_a
                               ELSE digest_a END END,
       CASE c.change WHEN 'retyped' THEN type_b WHEN 'reencoded' THEN encoding_b
                     ELSE CASE WHEN length_a IS NOT length_b THEN length_b WHEN c.change = 'content' AND digest_a IS digest_b THEN fingerprint_b
                               ELSE digest_b END END, file_a, file_b
FROM component_pairs AS p
     CROSS JOIN (SELECT 'retyped' AS change UNION ALL SELECT 'reencoded' UNION ALL SELECT 'content' UNION ALL SELECT 'unknown') AS c
WHERE CASE c.change
        WHEN 'retyped' THEN type_a IS NOT type_b AND component NOT IN ('data', 'values', 'packed_weight')
        WHEN 'reencoded' THEN encoding_a IS NOT encoding_b
        WHEN 'content' THEN verdict = 'changed' AND (length_a IS length_b
          OR (SELECT t.shape FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN tensor AS t ON t.architecture = l.architecture
              JOIN name AS n ON n.id = t.name WHERE f.id = file_a AND n.name = p.object)
          = (SELECT t.shape FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN tensor AS t ON t.architecture = l.architecture
             JOIN name AS n ON n.id = t.name WHERE f.id = file_b AND n.name = p.object))
        ELSE verdict = 'unknown' AND type_a IS type_b
          AND (SELECT t.shape FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN tensor AS t ON t.architecture = l.architecture
               JOIN name AS n ON n.id = t.name WHERE f.id = file_a AND n.name = p.object)
          = (SELECT t.shape FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN tensor AS t ON t.architecture = l.architecture
             JOIN name AS n ON n.id = t.name WHERE f.id = file_b AND n.name = p.object)
      END
UNION ALL
SELECT a.path, b.path, n.name, CAST(NULL AS TEXT), 'content', +fa.fingerprint, +fb.fingerprint, a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN layout AS la ON la.id = a.layout CROSS JOIN layout AS lb ON lb.id = b.layout
     CROSS JOIN fingerprint AS fa ON fa.file = a.id
     CROSS JOIN fingerprint AS fb ON fb.file = b.id AND fb.name = fa.name AND fb.fingerprint <> fa.fingerprint
     CROSS JOIN tensor AS ta ON ta.architecture = la.architecture AND ta.name = fa.name
     CROSS JOIN tensor AS tb ON tb.architecture = lb.architecture AND tb.name = fa.name AND tb.shape = ta.shape
     CROSS JOIN kind AS ka ON ka.id = ta.kind CROSS JOIN kind AS kb ON kb.id = tb.kind CROSS JOIN name AS n ON n.id = fa.name
     LEFT JOIN detail AS x ON x.layout = a.layout AND x.name = fa.name LEFT JOIN detail AS y ON y.layout = b.layout AND y.name = fa.name
WHERE ka.type IS kb.type AND (x.components <> 1 OR y.components <> 1)
UNION ALL
SELECT a.path, b.path, CAST(NULL AS TEXT), x.key, 'attributes', CASE WHEN x.type IN ('null', 'true', 'false') THEN x.type ELSE x.value END,
       (SELECT CASE WHEN y.type IN ('null', 'true', 'false') THEN y.type ELSE y.value END
        FROM attribute AS y WHERE y.file = b.id AND y.key = x.key), a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN attribute AS x ON x.file = a.id
WHERE b.error IS NULL
  AND NOT EXISTS (SELECT 1 FROM attribute AS y WHERE y.file = b.id AND y.key = x.key AND y.type = x.type AND y.value IS x.value)
UNION ALL
SELECT a.path, b.path, CAST(NULL AS TEXT), x.key, 'attributes', NULL, CASE WHEN x.type IN ('null', 'true', 'false') THEN x.type ELSE x.value END, a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN attribute AS x ON x.file = b.id
WHERE a.error IS NULL AND NOT EXISTS (SELECT 1 FROM attribute AS y WHERE y.file = a.id AND y.key = x.key)
UNION ALL
SELECT a.path, b.path, n.name, x.key, 'attributes', CASE WHEN x.type IN ('null', 'true', 'false') THEN x.type ELSE x.value END,
       (SELECT CASE WHEN y.type IN ('null', 'true', 'false') THEN y.type ELSE y.value END
        FROM attribute AS y WHERE y.layout = b.layout AND y.name = x.name AND y.key = x.key), a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN layout AS lb ON lb.id = b.layout CROSS JOIN attribute AS x ON x.layout = a.layout
     CROSS JOIN tensor AS t ON t.architecture = lb.architecture AND t.name = x.name CROSS JOIN name AS n ON n.id = x.name
WHERE a.layout <> b.layout
  AND NOT EXISTS (SELECT 1 FROM attribute AS y WHERE y.layout = b.layout AND y.name = x.name AND y.key = x.key AND y.type = x.type
                  AND y.value IS x.value)
UNION ALL
SELECT a.path, b.path, n.name, x.key, 'attributes', NULL, CASE WHEN x.type IN ('null', 'true', 'false') THEN x.type ELSE x.value END,
       a.id, b.id
FROM file AS a CROSS JOIN file AS b CROSS JOIN layout AS la ON la.id = a.layout CROSS JOIN attribute AS x ON x.layout = b.layout
     CROSS JOIN tensor AS t ON t.architecture = la.architecture AND t.name = x.name CROSS JOIN name AS n ON n.id = x.name
WHERE a.layout <> b.layout AND NOT EXISTS (SELECT 1 FROM attribute AS y WHERE y.layout = a.layout AND y.name = x.name AND y.key = x.key);

-- ---- Shares and sizes

-- Which types does each file consist of, and how large is the share of each in its bytes?
DROP VIEW IF EXISTS main.dtype_shares;
CREATE VIEW main.dtype_shares AS
SELECT f.path, k.dtype, k.type, sum(s.objects) AS objects, CAST(total(s.elements) AS INTEGER) AS elements, sum(s.bytes) AS bytes,
       round(100.0 * sum(s.bytes) / nullif(l.stored_bytes, 0), 2) AS percent
FROM file AS f CROSS JOIN layout AS l ON l.id = f.layout CROSS JOIN share AS s ON s.layout = l.id CROSS JOIN kinds AS k ON k.id = s.kind
GROUP BY f.id, k.dtype, k.type;

-- Which types does the whole collection consist of, and how large is the share of each in its bytes? Several names of one file count
-- once.
DROP VIEW IF EXISTS main.dtype_totals;
CREATE VIEW main.dtype_totals AS
WITH used(layout, files) AS (SELECT layout, count(*) FROM file AS f WHERE layout IS NOT NULL AND 
                                 NOT EXISTS (SELECT 1 FROM file AS g WHERE g.inode = f.inode AND g.device = f.device AND g.host = f.host
                                                                       AND g.layout IS NOT NULL AND g.id < f.id) GROUP BY layout),
     typed(layout, dtype, type, objects, elements, bytes) AS (
       SELECT s.layout, k.dtype, k.type, sum(s.objects), total(s.elements), sum(s.bytes)
       FROM share AS s JOIN kinds AS k ON k.id = s.kind GROUP BY s.layout, k.dtype, k.type)
SELECT t.dtype, t.type, sum(t.objects * u.files) AS objects, sum(u.files) AS files,
       CAST(total(t.elements * u.files) AS INTEGER) AS elements, sum(t.bytes * u.files) AS bytes,
       round(100.0 * sum(t.bytes * u.files)
             / nullif((SELECT sum(l.stored_bytes * v.files) FROM used AS v JOIN layout AS l ON l.id = v.layout), 0), 2) AS percent
FROM used AS u JOIN typed AS t ON t.layout = u.layout GROUP BY t.dtype, t.type ORDER BY bytes DESC;

-- Which formats (dense, sparse, quantized) does each file consist of, and how large is the share of each in its bytes?
DROP VIEW IF EXISTS main.format_shares;
CREATE VIEW main.format_shares AS
SELECT f.path, k.format, sum(s.objects) AS objects, CAST(total(s.elements) AS INTEGER) AS elements, sum(s.bytes) AS bytes,
       round(100.0 * sum(s.bytes) / nullif(l.stored_bytes, 0), 2) AS percent
FROM file AS f CROSS JOIN layout AS l ON l.id = f.layout CROSS JOIN share AS s ON s.layout = l.id CROSS JOIN kind AS k ON k.id = s.kind
GROUP BY f.id, k.format;

-- Which formats does the whole collection consist of, and how large is the share of each in its bytes? Several names of one file count
-- once.
DROP VIEW IF EXISTS main.format_totals;
CREATE VIEW main.format_totals AS
WITH used(layout, files) AS (SELECT layout, count(*) FROM file AS f WHERE layout IS NOT NULL AND 
                                 NOT EXISTS (SELECT 1 FROM file AS g WHERE g.inode = f.inode AND g.device = f.device AND g.host = f.host
                                                                       AND g.layout IS NOT NULL AND g.id < f.id) GROUP BY layout),
     formatted(layout, format, objects, elements, bytes) AS (
       SELECT s.layout, k.format, sum(s.objects), total(s.elements), sum(s.bytes)
       FROM share AS s JOIN kind AS k ON k.id = s.kind GROUP BY s.layout, k.format)
SELECT t.format, sum(t.objects * u.files) AS objects, sum(u.files) AS files,
       CAST(total(t.elements * u.files) AS INTEGER) AS elements, sum(t.bytes * u.files) AS bytes,
       round(100.0 * sum(t.bytes * u.files)
             / nullif((SELECT sum(l.stored_bytes * v.files) FROM used AS v JOIN layout AS l ON l.id = v.layout), 0), 2) AS percent
FROM used AS u JOIN formatted AS t ON t.layout = u.layout GROUP BY t.format ORDER BY bytes DESC;

-- Which are the thousand largest tensors?
DROP VIEW IF EXISTS main.largest_tensors;
CREATE VIEW main.largest_tensors AS
SELECT f.path, n.name AS object, k.format, k.type, s.shape,
       CASE typeof(s.elements) WHEN 'blob' THEN CAST(s.elements AS TEXT) ELSE s.elements END AS elements,
       CASE typeof(o.stored_bytes) WHEN 'blob' THEN CAST(o.stored_bytes AS TEXT) ELSE o.stored_bytes END AS stored_bytes,
       CASE typeof(o.decoded_bytes) WHEN 'blob' THEN CAST(o.decoded_bytes AS TEXT) ELSE o.decoded_bytes END AS decoded_bytes, h.name AS host
FROM (SELECT * FROM layout_objects WHERE layout IN (SELECT layout FROM file)
      ORDER BY CAST(coalesce(decoded_bytes, stored_bytes) AS REAL) DESC LIMIT 1000) AS o
     CROSS JOIN file AS f ON f.layout = o.layout CROSS JOIN host AS h ON h.id = f.host
     CROSS JOIN name AS n ON n.id = o.name CROSS JOIN kinds AS k ON k.id = o.kind CROSS JOIN shape AS s ON s.id = o.shape
ORDER BY CAST(coalesce(o.decoded_bytes, o.stored_bytes) AS REAL) DESC, f.path, object LIMIT 1000;

-- ---- Missing things

-- Which licence does each file state, or a tensor in it (object)? The view searches attributes at any depth with the word in their
-- names: license, LICENCE, licenses, general.license, modelspec.license, license_name. An empty, blank or null attribute states no
-- licence. Nor does a link to the licence's text (license.link, license_url, or any URL), if the licence itself is stated beside it.
DROP VIEW IF EXISTS main.licences;
CREATE VIEW main.licences AS
WITH stated(file, layout, name, key, word, value, type) AS (
  SELECT file, layout, name, key, key, value, type FROM attribute WHERE type NOT IN ('array', 'object')
  UNION ALL
  -- Long arrays are vocabularies.
  SELECT a.file, a.layout, a.name, a.key || ltrim(j.fullkey, '$'), coalesce(j.key, a.key), j.value, j.type
  FROM attribute AS a CROSS JOIN json_tree(a.value) AS j
  WHERE a.type IN ('array', 'object') AND (a.type = 'object' OR length(a.value) <= 10000) AND (a.value LIKE '%licen%' OR a.key LIKE '%licen%')
), named AS (
  SELECT * FROM stated
  WHERE '.' || replace(replace(replace(replace(replace(replace(lower(word), 'licence', 'license'), 'licenses', 'license'),
          '_', '.'), '-', '.'), ':', '.'), ' ', '.') || '.' LIKE '%.license.%'
    AND type NOT IN ('null', 'false') AND trim(value, char(9, 10, 13, 32)) NOT IN ('', '[]', '{}')
    AND lower(trim(value, char(9, 10, 13, 32))) NOT IN ('null', 'none', 'n/a')
), told AS (
  SELECT * FROM named AS s
  WHERE lower(ltrim(value, char(9, 10, 13, 32))) NOT GLOB 'http*://*'
     OR NOT EXISTS (SELECT 1 FROM named AS o
                    WHERE o.file IS s.file AND o.layout IS s.layout AND o.name IS s.name
                      AND lower(ltrim(o.value, char(9, 10, 13, 32))) NOT GLOB 'http*://*')
)
SELECT f.path, s.key, s.value AS licence, n.name AS object, h.name AS host, f.id AS file
FROM told AS s CROSS JOIN file AS f ON f.id = s.file CROSS JOIN host AS h ON h.id = f.host LEFT JOIN name AS n ON n.id = s.name
UNION ALL
SELECT f.path, s.key, s.value, n.name, h.name, f.id
FROM told AS s CROSS JOIN file AS f ON f.layout = s.layout CROSS JOIN host AS h ON h.id = f.host CROSS JOIN name AS n ON n.id = s.name;

-- Which files state no licence, neither of their own nor of a tensor? (Data shards cannot.)
DROP VIEW IF EXISTS main.unlicensed_files;
CREATE VIEW main.unlicensed_files AS
SELECT f.path, f.version, a.objects, l.stored_bytes, h.name AS host
FROM file AS f JOIN host AS h ON h.id = f.host JOIN layout AS l ON l.id = f.layout JOIN architecture AS a ON a.id = l.architecture
WHERE f.error IS NULL AND f.id NOT IN (SELECT file FROM data_shards) AND f.id NOT IN (SELECT file FROM licences);

-- Which components have no digest that can be checked, so that changes of their bytes go unnoticed?
DROP VIEW IF EXISTS main.missing_digests;
CREATE VIEW main.missing_digests AS
SELECT path, object, component, dtype, length, host FROM digests WHERE digest IS NULL;

-- ---- Runs

-- Which files does no run refer to? (Data shards are referred to by their models.)
DROP VIEW IF EXISTS main.unreferenced_files;
CREATE VIEW main.unreferenced_files AS
SELECT f.path, f.size, datetime(f.mtime, 'unixepoch') AS modified, f.error, h.name AS host
FROM file AS f JOIN host AS h ON h.id = f.host
WHERE f.id NOT IN (SELECT file FROM data_shards) AND f.id NOT IN (SELECT file FROM troubles WHERE trouble = 'other')
  AND NOT EXISTS (SELECT 1 FROM run_files AS r WHERE r.path = f.path AND (r.host = '' OR r.host = h.name));

-- Which runs refer to a file that is gone, or never was in the catalog?
DROP VIEW IF EXISTS main.lost_runs;
CREATE VIEW main.lost_runs AS
SELECT r.tracker, r.database, r.run, r.name, r.status, r.path, datetime(r.logged, 'unixepoch') AS logged, r.host FROM run_files AS r
WHERE NOT EXISTS (SELECT 1 FROM file AS f JOIN host AS h ON h.id = f.host WHERE f.path = r.path AND (r.host = '' OR r.host = h.name));

-- Where else is the file that a run left behind? `evidence` is name, for another name of the same file, or values, for the same model
-- in any format, by its fingerprint.
DROP VIEW IF EXISTS main.run_copies;
CREATE VIEW main.run_copies AS
SELECT r.tracker, r.database, r.run, r.name, r.path, c.path AS copy, h.name AS host,
       CASE WHEN c.host = f.host AND c.device = f.device AND c.inode = f.inode THEN 'name' ELSE 'values' END AS evidence
FROM run_files AS r CROSS JOIN file AS f ON f.path = r.path AND (r.host = '' OR r.host = (SELECT name FROM host WHERE id = f.host))
     CROSS JOIN file AS c ON c.id <> f.id
       AND (c.fingerprint = f.fingerprint OR c.host = f.host AND c.device = f.device AND c.inode = f.inode)
     CROSS JOIN host AS h ON h.id = c.host;

INSERT INTO audit_check SELECT wrong FROM audit_wrong;
RELEASE audit;
DROP TABLE temp.audit_check;
DROP TABLE temp.audit_wrong;
DROP TABLE temp.audit_names;

-- ---- Views that read tensors when they are queried: name a path if you can. They pass over files that have vanished since the catalog
-- was refreshed, and tensors that cannot be decoded. A path with * or [ becomes a pattern when its file is gone, so each view checks
-- the path of its rows.

-- Which tensors are empty, hold only zeros (or 99 % zeros, unless the format is sparse), NaN, or infinities?
DROP VIEW IF EXISTS temp.suspect_tensors;
CREATE TEMP VIEW suspect_tensors AS
SELECT path, object, substr(CASE WHEN elements = 0 THEN ', empty' WHEN zeros = elements THEN ', all zero'
                                 WHEN zeros >= 0.99 * elements AND format NOT LIKE 'sparse%' THEN ', near-empty' ELSE '' END
                            || CASE WHEN nans > 0 THEN ', NaN' ELSE '' END
                            || CASE WHEN infs > 0 THEN ', infinite' ELSE '' END, 3) AS finding,
       type, shape, elements, zeros, nans, infs, min, max
FROM (SELECT f.path, s.object, o.format, o.type, o.shape, s.elements, s.zeros, s.nans, s.infs, s.min, s.max
      FROM files AS f CROSS JOIN zt_stats(f.path, 'skip') AS s
           CROSS JOIN objects AS o ON o.file = f.file AND o.object = s.object
      WHERE f.error IS NULL AND f.host = zt_host() AND s.path = f.path AND s.error IS NULL)
WHERE elements = 0 OR zeros = elements OR (zeros >= 0.99 * elements AND format NOT LIKE 'sparse%') OR nans > 0 OR infs > 0;

-- Which tensors have values that cannot be read, and why?
DROP VIEW IF EXISTS temp.uninterpreted_tensors;
CREATE TEMP VIEW uninterpreted_tensors AS
SELECT f.path, s.object, s.error FROM files AS f CROSS JOIN zt_stats(f.path, 'skip') AS s
WHERE f.error IS NULL AND f.host = zt_host() AND s.path = f.path AND s.error IS NOT NULL;

-- Which components have bytes that contradict their digest, or a digest that cannot be checked?
DROP VIEW IF EXISTS temp.digest_failures;
CREATE TEMP VIEW digest_failures AS
SELECT f.path, c.object, c.component, c.rule, c.message FROM files AS f CROSS JOIN zt_check(f.path, 'full') AS c
WHERE f.error IS NULL AND f.host = zt_host() AND c.path = f.path
  AND c.rule IN ('digest-mismatch', 'malformed-digest', 'unknown-digest', 'digest-algorithm', 'shard-digest', 'shard-size', 'missing-shard');

-- Which contents occur more than once, where digests cannot tell? The view hashes components whose dtype and decoded length occur more
-- than once, unless all of those have a digest. It also finds copies that are encoded differently. Components that cannot be decoded
-- have no hash. DISTINCT has each hash computed once, although the rows are distinct anyway.
DROP VIEW IF EXISTS temp.hashed_duplicates;
CREATE TEMP VIEW hashed_duplicates AS
SELECT hash, dtype, decoded_length, count(*) AS copies, count(DISTINCT path) AS files, sum(length) - max(length) AS spare_bytes,
       min(path) AS first_path, max(path) AS last_path
FROM (SELECT DISTINCT c.path, c.object, c.component, c.dtype, c.byte_order, c.decoded_length, c.length, z.hash
      FROM (SELECT c.path, min(c.object) AS object, c.component, c.dtype, c.byte_order, c.shard, c.decoded_length, c.length
            FROM (SELECT dtype, decoded_length FROM digests WHERE length > 0 AND host = zt_host()
                  GROUP BY dtype, decoded_length HAVING count(*) > 1 AND count(digest) < count(*)) AS g
            JOIN (SELECT c.*, CASE WHEN c.shard IS NULL THEN coalesce(f.device || ' ' || f.inode, c.file)
                                   ELSE coalesce((SELECT coalesce(f.device || ' ' || x.inode, x.path) FROM external AS x
                                                  WHERE x.file = f.id AND x.path IN (rtrim(f.path, replace(f.path, '/', '')) || c.shard,
                                                    substr(f.path, 1, length(rtrim(f.path, replace(f.path, '.', ''))) - 1) || '-' || c.shard || '.zt',
                                                    f.path || '-' || c.shard || '.zt')), c.file || ' ' || c.shard) END AS place
                  FROM components AS c JOIN file AS f ON f.id = c.file WHERE c.length > 0 AND c.host = zt_host()) AS c
              ON g.dtype = c.dtype AND g.decoded_length = c.decoded_length
            GROUP BY c.place, CASE WHEN c.offset IS NULL OR c.encoding GLOB 'zlib*' OR c.encoding GLOB 'gzip*' THEN c.object || ' ' || c.component
                                   ELSE c.offset END, c.length, c.dtype, c.byte_order) AS c
      CROSS JOIN zt_components(c.path, 'skip') AS z
        ON z.path = c.path AND z.object = c.object AND z.component = c.component)
GROUP BY hash, dtype, byte_order, decoded_length HAVING count(*) > 1 AND hash IS NOT NULL;

-- Which components differ between two files, where digests cannot tell? ... WHERE path_a = '/data/old.zt' AND path_b = '/data/new.zt'
-- HAVING is used instead of WHERE so that each hash is computed once, and only for the requested paths.
DROP VIEW IF EXISTS temp.hashed_differences;
CREATE TEMP VIEW hashed_differences AS
SELECT path_a, path_b, object, component AS part, 'content' AS change, before, after
FROM (SELECT p.path_a, p.path_b, p.object, p.component, a.hash AS before, b.hash AS after
      FROM component_pairs AS p
      CROSS JOIN zt_components(p.path_a, 'skip') AS a
        ON a.path = p.path_a AND a.object = p.object AND a.component = p.component
      CROSS JOIN zt_components(p.path_b, 'skip') AS b
        ON b.path = p.path_b AND b.object = p.object AND b.component = p.component
      WHERE p.host_a = zt_host() AND p.host_b = zt_host() AND p.verdict = 'unknown' AND p.type_a IS p.type_b AND p.byte_order_a = p.byte_order_b)
GROUP BY path_a, path_b, object, component HAVING before <> after;

-- Which differences are there between two files, as above, and which of the two is not in the catalog? The view needs both paths, and
-- fails without them, because it would compare every file with every other one. `before` and `after` give the place where the catalog
-- would have a missing file, because a path may be written as a relative one.
DROP VIEW IF EXISTS temp.differences;
CREATE TEMP VIEW differences AS
SELECT DISTINCT a.text AS path_a, b.text AS path_b, CAST(NULL AS TEXT) AS object, CAST(NULL AS TEXT) AS part, 'not in the catalog' AS change,
       CASE WHEN a.text NOT IN (SELECT path FROM file) THEN zt_absolute(a.text) END AS before,
       CASE WHEN b.text NOT IN (SELECT path FROM file) THEN zt_absolute(b.text) END AS after, CAST(NULL AS INTEGER) AS file_a, CAST(NULL AS INTEGER) AS file_b
FROM zt_given('differences needs both paths, as values and not as subqueries: SELECT * FROM differences WHERE path_a = ''/data/old.zt'' AND path_b = ''/data/new.zt''') AS a
     CROSS JOIN zt_given('differences needs both paths, as values and not as subqueries: SELECT * FROM differences WHERE path_a = ''/data/old.zt'' AND path_b = ''/data/new.zt''') AS b
WHERE a.text NOT IN (SELECT path FROM file) OR b.text NOT IN (SELECT path FROM file)
UNION ALL
SELECT path_a, path_b, object, part, +change, +before, +after, file_a, file_b FROM main.differences;
