-- migrate_files.sql: replaces zTensor files of the generations 0.1 to 1.2 with files of zTensor 2, each in its place.
--
--   sqlite3 -box :memory: ".load ./ztensor sqlite3_ztensor_write_init" ".parameter set :source models" ".read sql/migrate_files.sql"
--
-- The parameter :source is a directory, a pattern, a file, or a list of these as a JSON array. Other files in it are left alone.
--
-- Each file is first written to migrate_files.tmp.zt in the current directory. It replaces the old one only if it has the old one's
-- fingerprint and attributes. So a file stays as it is if zTensor 2 cannot hold it, if one of its tensors has no values that are known,
-- if it has no tensors and no attributes, or if an error occurs. Compressed tensors stay compressed. Objects come in the order of their
-- names. Attributes of the file, not those of its tensors, are compared and copied as zt_attributes shows them: within arrays and maps,
-- NaN becomes null, byte strings become hexadecimal text, and keys become text.
--
-- The result has a row for each old file, and for each file that cannot be read: path, the version that it had, the version that it has
-- now, `same` and `error`. A file whose version is still the old one was not replaced. The shell has shown the reason, unless the file has
-- no tensors and no attributes, or values that are not known. `same` is 1 if the file has the fingerprint that the old one had, NULL if
-- that one had none. `error` is the reason why the file cannot be read.
--
-- It needs the sqlite3 shell. At the end it deletes its two files in the current directory, migrate_files.tmp.zt and
-- migrate_files.tmp.sql, with the system's rm.

-- Statements of an earlier run must not be run if these cannot be written.
.bail on
DROP TABLE IF EXISTS temp.migrate_file;
DROP TABLE IF EXISTS temp.migrate_now;
DROP VIEW IF EXISTS temp.migrate_rows;
DROP VIEW IF EXISTS temp.migrate_verdict;
DROP VIEW IF EXISTS temp.migrate_attributes;

CREATE TEMP TABLE IF NOT EXISTS migrate_files_parameters(is_sound, CONSTRAINT "the parameter :source is set" CHECK (is_sound));
INSERT INTO temp.migrate_files_parameters VALUES (:source IS NOT NULL);

CREATE TEMP TABLE migrate_file(id INTEGER PRIMARY KEY, path TEXT, version TEXT, error TEXT, fingerprint TEXT, verified);
INSERT INTO temp.migrate_file(path, version, error)
SELECT path, version, error FROM zt_files(:source) WHERE error IS NOT NULL OR (container = 'ztensor' AND CAST(version AS INTEGER) < 2);

-- The rows of a new file, made from the file `path`.
CREATE TEMP TABLE migrate_now(path TEXT);
INSERT INTO temp.migrate_now VALUES (NULL);
CREATE TEMP VIEW migrate_rows AS
SELECT o.object AS name, o.path AS source, o.object, (SELECT 'zstd' FROM zt_components(n.path) AS c
  WHERE c.object = o.object AND c.encoding GLOB '*zstd*' LIMIT 1) AS encoding, NULL AS key, NULL AS value, NULL AS type
FROM temp.migrate_now AS n, zt_objects(n.path) AS o
UNION ALL
SELECT NULL, NULL, NULL, NULL, a.key, a.value, a.type
FROM temp.migrate_now AS n, zt_attributes(n.path) AS a WHERE a.object IS NULL;

-- The attributes of both files. A map's keys may come in another order, so arrays and maps are compared by their parts.
CREATE TEMP VIEW migrate_attributes AS
SELECT p.copy, a.object, a.key, a.type, CASE WHEN t.id IS NULL THEN a.value ELSE t.atom END AS value, t.fullkey, t.type AS inner_type
FROM (SELECT 0 AS copy, path FROM temp.migrate_now UNION ALL SELECT 1, 'migrate_files.tmp.zt') AS p, zt_attributes(p.path) AS a
LEFT JOIN json_tree(CASE WHEN a.type IN ('array', 'object') THEN a.value END) AS t;

-- Whether the copy has the tensors and the attributes of the old file.
CREATE TEMP VIEW migrate_verdict AS
SELECT zt_fingerprint(path) AS fingerprint, zt_fingerprint(path) = zt_fingerprint('migrate_files.tmp.zt')
  AND NOT EXISTS (SELECT object, key, type, value, fullkey, inner_type FROM temp.migrate_attributes WHERE copy = 0
                  EXCEPT SELECT object, key, type, value, fullkey, inner_type FROM temp.migrate_attributes WHERE copy = 1)
  AND NOT EXISTS (SELECT object, key, type, value, fullkey, inner_type FROM temp.migrate_attributes WHERE copy = 1
                  EXCEPT SELECT object, key, type, value, fullkey, inner_type FROM temp.migrate_attributes WHERE copy = 0) AS verified
FROM temp.migrate_now WHERE EXISTS (SELECT 1 FROM zt_files('migrate_files.tmp.zt') WHERE error IS NULL);

-- A copy that is not verified gives no rows, and a COMMIT without rows writes nothing.
CREATE TEMP TABLE IF NOT EXISTS migrate_statements(written NOT NULL);   -- NULL: writefile() has failed
INSERT INTO temp.migrate_statements
SELECT writefile('migrate_files.tmp.sql', coalesce(group_concat(printf('UPDATE temp.migrate_now SET path = %Q;
CREATE VIRTUAL TABLE temp.migrate_copy_%d USING zt_writer(''migrate_files.tmp.zt'', mode=replace, sync=off);
INSERT INTO temp.migrate_copy_%d(name, source, object, encoding, key, value, type) SELECT * FROM temp.migrate_rows;
DROP TABLE temp.migrate_copy_%d;
UPDATE temp.migrate_file SET (fingerprint, verified) = (SELECT fingerprint, verified FROM temp.migrate_verdict) WHERE id = %d;
UPDATE temp.migrate_now SET path = (SELECT CASE WHEN verified THEN ''migrate_files.tmp.zt'' END FROM temp.migrate_file WHERE id = %d);
CREATE VIRTUAL TABLE temp.migrate_new_%d USING zt_writer(%Q, format=''ztensor-2'', mode=replace);
INSERT INTO temp.migrate_new_%d(name, source, object, encoding, key, value, type) SELECT * FROM temp.migrate_rows;
DROP TABLE temp.migrate_new_%d;
', path, id, id, id, id, id, id, path, id, id), ''), ''))
FROM temp.migrate_file WHERE error IS NULL;
.bail off
.read migrate_files.tmp.sql
.shell rm -f migrate_files.tmp.zt migrate_files.tmp.sql

SELECT f.path, f.version AS old_version, n.version,
  CASE WHEN n.error IS NULL AND f.fingerprint IS NOT NULL THEN zt_fingerprint(f.path) = f.fingerprint END AS same, n.error
FROM temp.migrate_file AS f, zt_files(f.path) AS n ORDER BY f.path;
