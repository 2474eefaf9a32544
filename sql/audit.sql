-- audit.sql: views that audit a catalog of tensor files. Each begins with the question that it answers.
--
--   sqlite3 catalog.db < sql/audit.sql
--   sqlite3 -box catalog.db "SELECT * FROM unlicensed_files" "SELECT * FROM duplicates LIMIT 10"
--
-- The views over the catalog alone stay in the database and need no ztensor. Those at the end read the tensors themselves,
-- so they last for the session and need ztensor, and the directory from which the catalog was refreshed:
--
--   sqlite3 -box catalog.db ".load ./ztensor" ".read sql/audit.sql" "SELECT * FROM suspect_tensors LIMIT 10"
--
-- catalog.sql makes the catalog and refresh.sql fills it. Reading this script again replaces the views.

SAVEPOINT audit;

-- ---- Duplicates

-- What is the digest of each component, written one way: lower case, without 0x, and its algorithm? Both are NULL if it has
-- none, or one that nobody can check: of an algorithm unknown here, or without the right number of digits.
DROP VIEW IF EXISTS main.digests;
CREATE VIEW main.digests AS
SELECT path, object, component, dtype, type, encoding, byte_order, shard, offset, length, decoded_length,
       CASE WHEN known THEN substr(one_way, 1, instr(one_way, ':') - 1) END AS algorithm, CASE WHEN known THEN one_way END AS digest
FROM (SELECT *, substr(one_way, instr(one_way, ':') + 1) NOT GLOB '*[^0-9a-f]*'
             AND (one_way GLOB 'sha256:*' AND length(one_way) = 71 OR one_way GLOB 'crc32c:*' AND length(one_way) = 15
                  OR one_way GLOB 'xxh3:*' AND length(one_way) = 21) AS known
      FROM (SELECT *, replace(lower(digest), 'crc32c:0x', 'crc32c:') AS one_way FROM components));

-- Which stored contents are there more than once, by their digests, and how many bytes would one copy of each save? A
-- checksum, such as crc32c, with the length as its only witness, makes a candidate; a cryptographic digest is proof. What
-- lies in a shard is left out: it is there once, however many files refer to it.
DROP VIEW IF EXISTS main.duplicates;
CREATE VIEW main.duplicates AS
SELECT digest, dtype, encoding, byte_order, length, count(*) AS copies, count(DISTINCT path) AS files,
       (count(*) - 1) * length AS spare_bytes,
       CASE algorithm WHEN 'sha256' THEN 'proof' ELSE 'candidate' END AS evidence,
       min(path) AS first_path, max(path) AS last_path
FROM (SELECT DISTINCT path, offset, length, dtype, encoding, byte_order, algorithm, digest FROM digests
      WHERE length > 0 AND shard IS NULL AND digest IS NOT NULL)
GROUP BY digest, length, dtype, encoding, byte_order HAVING count(*) > 1
ORDER BY spare_bytes DESC, digest;

-- Where are the copies of each of these contents?
DROP VIEW IF EXISTS main.copies;
CREATE VIEW main.copies AS
SELECT c.digest, c.dtype, c.encoding, c.length, c.path, c.object, c.component
FROM duplicates AS d JOIN digests AS c
  ON c.digest = d.digest AND c.length = d.length AND c.dtype = d.dtype AND c.encoding = d.encoding AND c.byte_order = d.byte_order
 AND c.shard IS NULL
ORDER BY c.digest, c.path, c.object, c.component;

-- Which components of a file are tied: one and the same range of its bytes? `shared` is how many share it.
DROP VIEW IF EXISTS main.tied_weights;
CREATE VIEW main.tied_weights AS
SELECT path, shard, offset, length, object, component, shared
FROM (SELECT *, count(*) OVER (PARTITION BY path, shard, offset, length) AS shared FROM components WHERE length > 0)
WHERE shared > 1
ORDER BY path, offset, object, component;

-- ---- Differences

-- Is a component that two files have under one name the same in both? `verdict` is same, changed, or unknown: digests are
-- over the stored bytes, so they tell only where dtype, encoding, byte order and algorithm agree; else lengths may. Equal
-- checksums, such as crc32c, leave it unknown.
DROP VIEW IF EXISTS main.component_pairs;
CREATE VIEW main.component_pairs AS
SELECT a.path AS path_a, b.path AS path_b, a.object, a.component, a.dtype, a.type AS type_a, b.type AS type_b,
       a.encoding AS encoding_a, b.encoding AS encoding_b, a.shard AS shard_a, b.shard AS shard_b, a.byte_order AS byte_order_a, b.byte_order AS byte_order_b,
       a.decoded_length AS length_a, b.decoded_length AS length_b, a.digest AS digest_a, b.digest AS digest_b,
       CASE WHEN a.dtype IS NOT b.dtype OR a.byte_order IS NOT b.byte_order THEN 'unknown'
            WHEN a.encoding = b.encoding AND a.digest = b.digest AND a.length = b.length AND a.algorithm = 'sha256' THEN 'same'
            WHEN a.encoding = b.encoding AND a.algorithm = b.algorithm AND a.encoding = 'raw' AND a.digest <> b.digest THEN 'changed'
            WHEN a.decoded_length <> b.decoded_length THEN 'changed'
            WHEN a.length = 0 AND b.length = 0 THEN 'same'
            ELSE 'unknown' END AS verdict
FROM digests AS a CROSS JOIN digests AS b ON b.object = a.object AND b.component = a.component;

-- What has changed from one file to another? ... WHERE path_a = 'old.zt' AND path_b = 'new.zt'
-- `change` is added or removed (before, after: type and shape), reformatted, retyped, reshaped, recomposed (component `part`
-- is in one only), reencoded (component `part`), content (of component `part`; before, after: digests, else lengths),
-- attributes (key `part`; object NULL: of the file), unreadable. Where neither digests nor lengths tell whether the content
-- has changed, hashed_differences does.
DROP VIEW IF EXISTS main.differences;
CREATE VIEW main.differences AS
SELECT a.path AS path_a, b.path AS path_b, NULL AS object, NULL AS part, 'unreadable' AS change,
       a.error AS before, b.error AS after
FROM files AS a CROSS JOIN files AS b WHERE a.error IS NOT NULL OR b.error IS NOT NULL
UNION ALL
SELECT a.path, b.path, b.object, NULL, 'added', NULL, coalesce(b.type, b.format) || b.shape
FROM files AS a CROSS JOIN objects AS b
WHERE a.error IS NULL AND NOT EXISTS (SELECT 1 FROM objects AS o WHERE o.path = a.path AND o.object = b.object)
UNION ALL
SELECT a.path, b.path, a.object, NULL, 'removed', coalesce(a.type, a.format) || a.shape, NULL
FROM objects AS a CROSS JOIN files AS b
WHERE b.error IS NULL AND NOT EXISTS (SELECT 1 FROM objects AS o WHERE o.path = b.path AND o.object = a.object)
UNION ALL
SELECT a.path, b.path, a.object, NULL, 'reformatted', a.format, b.format
FROM objects AS a CROSS JOIN objects AS b ON b.object = a.object WHERE a.format IS NOT b.format
UNION ALL
SELECT a.path, b.path, a.object, NULL, 'retyped', a.type, b.type
FROM objects AS a CROSS JOIN objects AS b ON b.object = a.object WHERE a.type IS NOT b.type
UNION ALL
SELECT a.path, b.path, a.object, NULL, 'reshaped', a.shape, b.shape
FROM objects AS a CROSS JOIN objects AS b ON b.object = a.object WHERE a.shape IS NOT b.shape
UNION ALL
SELECT a.path, b.path, a.object, a.component, 'recomposed', a.type, NULL
FROM components AS a CROSS JOIN objects AS b ON b.object = a.object
WHERE NOT EXISTS (SELECT 1 FROM components AS c WHERE c.path = b.path AND c.object = a.object AND c.component = a.component)
UNION ALL
SELECT a.path, b.path, b.object, b.component, 'recomposed', NULL, b.type
FROM objects AS a CROSS JOIN components AS b ON b.object = a.object
WHERE NOT EXISTS (SELECT 1 FROM components AS c WHERE c.path = a.path AND c.object = b.object AND c.component = b.component)
UNION ALL
-- Of components beside the values; those are the object's, above.
SELECT path_a, path_b, object, component, 'retyped', type_a, type_b
FROM component_pairs WHERE type_a IS NOT type_b AND component NOT IN ('data', 'values', 'packed_weight')
UNION ALL
SELECT path_a, path_b, object, component, 'reencoded', encoding_a, encoding_b
FROM component_pairs WHERE encoding_a IS NOT encoding_b
UNION ALL
-- That a tensor of another size has other content goes without saying.
SELECT path_a, path_b, object, component, 'content',
       CASE WHEN length_a IS length_b THEN digest_a ELSE length_a END,
       CASE WHEN length_a IS length_b THEN digest_b ELSE length_b END
FROM component_pairs AS p
WHERE verdict = 'changed'
  AND (length_a IS length_b OR (SELECT shape FROM objects AS o WHERE o.path = path_a AND o.object = p.object)
                            IS (SELECT shape FROM objects AS o WHERE o.path = path_b AND o.object = p.object))
UNION ALL
SELECT a.path, b.path, a.object, a.key, 'attributes',
       CASE WHEN a.type IN ('null', 'true', 'false') THEN a.type ELSE a.value END,
       (SELECT CASE WHEN x.type IN ('null', 'true', 'false') THEN x.type ELSE x.value END
        FROM attributes AS x WHERE x.path = b.path AND x.object IS a.object AND x.key = a.key)
FROM attributes AS a CROSS JOIN files AS b
WHERE NOT EXISTS (SELECT 1 FROM attributes AS x WHERE x.path = b.path AND x.object IS a.object AND x.key = a.key
                  AND x.type = a.type AND x.value IS a.value)
  AND CASE WHEN a.object IS NULL THEN b.error IS NULL
           ELSE EXISTS (SELECT 1 FROM objects AS o WHERE o.path = b.path AND o.object = a.object) END
UNION ALL
SELECT a.path, b.path, b.object, b.key, 'attributes', NULL,
       CASE WHEN b.type IN ('null', 'true', 'false') THEN b.type ELSE b.value END
FROM files AS a CROSS JOIN attributes AS b
WHERE NOT EXISTS (SELECT 1 FROM attributes AS x WHERE x.path = a.path AND x.object IS b.object AND x.key = b.key)
  AND CASE WHEN b.object IS NULL THEN a.error IS NULL
           ELSE EXISTS (SELECT 1 FROM objects AS o WHERE o.path = a.path AND o.object = b.object) END;

-- ---- Shares and sizes

-- Which types does each file consist of, and what share of its bytes has each?
DROP VIEW IF EXISTS main.dtype_shares;
CREATE VIEW main.dtype_shares AS
SELECT o.path, o.dtype, o.type, count(*) AS objects, CAST(total(o.elements) AS INTEGER) AS elements, sum(o.stored_bytes) AS bytes,
       round(100.0 * sum(o.stored_bytes) / nullif(f.stored_bytes, 0), 2) AS percent
FROM files AS f CROSS JOIN objects AS o ON o.path = f.path GROUP BY o.path, o.dtype, o.type;

-- Which types does the whole collection consist of, and what share of the bytes has each?
DROP VIEW IF EXISTS main.dtype_totals;
CREATE VIEW main.dtype_totals AS
SELECT dtype, type, count(*) AS objects, count(DISTINCT path) AS files, CAST(total(elements) AS INTEGER) AS elements, sum(stored_bytes) AS bytes,
       round(100.0 * sum(stored_bytes) / nullif((SELECT sum(stored_bytes) FROM files), 0), 2) AS percent
FROM objects GROUP BY dtype, type ORDER BY bytes DESC;

-- Which formats (dense, sparse, quantized) does each file consist of, and what share of its bytes has each?
DROP VIEW IF EXISTS main.format_shares;
CREATE VIEW main.format_shares AS
SELECT o.path, o.format, count(*) AS objects, CAST(total(o.elements) AS INTEGER) AS elements, sum(o.stored_bytes) AS bytes,
       round(100.0 * sum(o.stored_bytes) / nullif(f.stored_bytes, 0), 2) AS percent
FROM files AS f CROSS JOIN objects AS o ON o.path = f.path GROUP BY o.path, o.format;

-- Which formats does the whole collection consist of, and what share of the bytes has each?
DROP VIEW IF EXISTS main.format_totals;
CREATE VIEW main.format_totals AS
SELECT format, count(*) AS objects, count(DISTINCT path) AS files, CAST(total(elements) AS INTEGER) AS elements, sum(stored_bytes) AS bytes,
       round(100.0 * sum(stored_bytes) / nullif((SELECT sum(stored_bytes) FROM files), 0), 2) AS percent
FROM objects GROUP BY format ORDER BY bytes DESC;

-- Which are the largest tensors?
DROP VIEW IF EXISTS main.largest_tensors;
CREATE VIEW main.largest_tensors AS
SELECT path, object, format, type, shape, elements, stored_bytes, decoded_bytes
FROM objects ORDER BY CAST(coalesce(decoded_bytes, stored_bytes) AS REAL) DESC, path, object;

-- ---- What is missing

-- Which licence does each file state? Of attributes at any depth that have the word in their names: license, LICENCE,
-- general.license, license_name; one that is empty, blank or null states none.
DROP VIEW IF EXISTS main.licences;
CREATE VIEW main.licences AS
SELECT f.path, j.fullkey AS key, j.value AS licence
FROM files AS f CROSS JOIN json_tree(f.attributes) AS j
WHERE '.' || replace(replace(replace(replace(replace(lower(j.key),
        'licence', 'license'), '_', '.'), '-', '.'), ':', '.'), ' ', '.') || '.' LIKE '%.license.%'
  AND j.type NOT IN ('null', 'false') AND trim(j.value, char(9, 10, 13, 32)) NOT IN ('', '[]', '{}');

-- Which files state no licence? (Data shards, which have no manifest, cannot.)
DROP VIEW IF EXISTS main.unlicensed_files;
CREATE VIEW main.unlicensed_files AS
SELECT path, version, objects, stored_bytes FROM files AS f
WHERE error IS NULL AND manifest_bytes > 0 AND NOT EXISTS (SELECT 1 FROM licences AS l WHERE l.path = f.path);

-- Which components have no digest that can be checked, so that nobody can tell whether their bytes are what was written?
DROP VIEW IF EXISTS main.missing_digests;
CREATE VIEW main.missing_digests AS
SELECT path, object, component, dtype, length FROM digests WHERE digest IS NULL;

-- ---- Runs

-- Which files does no run refer to? (Data shards are referred to by their models.)
DROP VIEW IF EXISTS main.unreferenced_files;
CREATE VIEW main.unreferenced_files AS
SELECT path, size, datetime(mtime, 'unixepoch') AS modified, error FROM files AS f
WHERE manifest_bytes IS NOT 0 AND NOT EXISTS (SELECT 1 FROM run_files AS r WHERE r.path = f.path);

-- Which runs refer to a file that is gone, or never was in the catalog?
DROP VIEW IF EXISTS main.lost_runs;
CREATE VIEW main.lost_runs AS
SELECT tracker, database, run, name, status, path, datetime(logged, 'unixepoch') AS logged FROM run_files AS r
WHERE NOT EXISTS (SELECT 1 FROM files AS f WHERE f.path = r.path);

RELEASE audit;

-- ---- Views that read tensors, when they are asked: name a path where you can. Files that have vanished since the catalog
-- was refreshed are passed over, as is what cannot be decoded. A path with * or [ in it is a pattern where there is no such file
-- any more: so each view looks at the path of what it gets.

-- Which tensors hold nothing, nothing but zeros (or 99 % zeros, unless the format is sparse), NaN, or infinities?
DROP VIEW IF EXISTS temp.suspect_tensors;
CREATE TEMP VIEW suspect_tensors AS
SELECT path, object, substr(CASE WHEN elements = 0 THEN ', empty' WHEN zeros = elements THEN ', all zero'
                                 WHEN zeros >= 0.99 * elements AND format NOT LIKE 'sparse%' THEN ', near-empty' ELSE '' END
                            || CASE WHEN nans > 0 THEN ', NaN' ELSE '' END
                            || CASE WHEN infs > 0 THEN ', infinite' ELSE '' END, 3) AS finding,
       type, shape, elements, zeros, nans, infs, min, max
FROM (SELECT f.path, s.object, o.format, o.type, o.shape, s.elements, s.zeros, s.nans, s.infs, s.min, s.max
      FROM files AS f CROSS JOIN zt_stats(f.path, 'skip') AS s
           CROSS JOIN objects AS o ON o.path = f.path AND o.object = s.object
      WHERE f.error IS NULL AND s.path = f.path AND s.error IS NULL)
WHERE elements = 0 OR zeros = elements OR (zeros >= 0.99 * elements AND format NOT LIKE 'sparse%') OR nans > 0 OR infs > 0;

-- Which tensors' values cannot be had, and why?
DROP VIEW IF EXISTS temp.uninterpreted_tensors;
CREATE TEMP VIEW uninterpreted_tensors AS
SELECT f.path, s.object, s.error FROM files AS f CROSS JOIN zt_stats(f.path, 'skip') AS s
WHERE f.error IS NULL AND s.path = f.path AND s.error IS NOT NULL;

-- Which components are not what was written, or have a digest that cannot be checked?
DROP VIEW IF EXISTS temp.digest_failures;
CREATE TEMP VIEW digest_failures AS
SELECT f.path, c.object, c.component, c.rule, c.message FROM files AS f CROSS JOIN zt_check(f.path, 'full') AS c
WHERE f.error IS NULL AND c.path = f.path
  AND c.rule IN ('digest-mismatch', 'malformed-digest', 'unknown-digest', 'shard-digest', 'shard-size', 'missing-shard');

-- Which contents are there more than once, where digests do not tell? Hashes components whose dtype and decoded length
-- occur more than once, unless all of those have a digest; finds copies that are encoded differently, too. What cannot be
-- decoded has no hash. DISTINCT, though the rows are, has each hash computed once.
DROP VIEW IF EXISTS temp.hashed_duplicates;
CREATE TEMP VIEW hashed_duplicates AS
SELECT hash, dtype, decoded_length, count(*) AS copies, count(DISTINCT path) AS files, sum(length) - max(length) AS spare_bytes,
       min(path) AS first_path, max(path) AS last_path
FROM (SELECT DISTINCT c.path, c.object, c.component, c.dtype, c.byte_order, c.decoded_length, c.length, z.hash
      FROM (SELECT c.path, min(c.object) AS object, c.component, c.dtype, c.byte_order, c.shard, c.decoded_length, c.length
            FROM components AS c
            JOIN (SELECT dtype, decoded_length FROM digests WHERE length > 0
                  GROUP BY dtype, decoded_length HAVING count(*) > 1 AND count(digest) < count(*)) AS g
              ON g.dtype = c.dtype AND g.decoded_length = c.decoded_length
            WHERE c.length > 0
            GROUP BY c.path, c.shard, c.offset, c.length, c.dtype, c.byte_order) AS c
      CROSS JOIN zt_components(c.path, 'skip') AS z
        ON z.path = c.path AND z.object = c.object AND z.component = c.component)
GROUP BY hash, dtype, byte_order, decoded_length HAVING count(*) > 1 AND hash IS NOT NULL;

-- Which components differ between two files, where digests do not tell? ... WHERE path_a = 'old.zt' AND path_b = 'new.zt'
-- HAVING, in place of a WHERE, has each hash computed once, and only of the paths that are asked for.
DROP VIEW IF EXISTS temp.hashed_differences;
CREATE TEMP VIEW hashed_differences AS
SELECT path_a, path_b, object, component AS part, 'content' AS change, before, after
FROM (SELECT p.path_a, p.path_b, p.object, p.component, a.hash AS before, b.hash AS after
      FROM component_pairs AS p
      CROSS JOIN zt_components(p.path_a, 'skip') AS a
        ON a.path = p.path_a AND a.object = p.object AND a.component = p.component
      CROSS JOIN zt_components(p.path_b, 'skip') AS b
        ON b.path = p.path_b AND b.object = p.object AND b.component = p.component
      WHERE p.verdict = 'unknown' AND p.type_a IS p.type_b AND p.byte_order_a = p.byte_order_b)
GROUP BY path_a, path_b, object, component HAVING before <> after;
