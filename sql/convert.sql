-- convert.sql: writes tensor files in another format, each beside the file that it was made from.
--
--   sqlite3 -box :memory: ".load ./ztensor sqlite3_ztensor_write_init" ".parameter set :source models" ".parameter set :format safetensors" \
--     ".read sql/convert.sql"
--
-- These are the parameters. All but the first may be missing:
--
--   :source   a file, a directory, a pattern, or a list of these as a JSON array
--   :format   ztensor-2 (the default), ztensor-1.2, safetensors, gguf, npy or npz
--   :folder   the folder for new files, which must be there; otherwise each stands beside its old file
--   :dense    1: sparse and quantized tensors become dense, and components that a dense tensor does not have are left out
--   :dtype    the type of quantized tensors that become dense, such as f16
--   :drop     attributes: new files have none of a file, and of an object only those that the format can hold
--
-- The new file has the old one's name, with the format's end. A file that is there already is an error, and stays as it is. If the format
-- cannot hold a tensor or an attribute, the file is not written, and the error names the cure. The other files are still written.
--
-- Attributes of the file are copied as zt_attributes shows them: within arrays and maps, NaN becomes null, byte strings become
-- hexadecimal text, and keys become text.
--
-- The result has a row for each file: its path, the new path, `same`, and the error of a file that cannot be read, or whose new path is its
-- own. `same` is 1 if the
-- new file has the old one's fingerprint, 0 if it has another one (by :dtype, or since the file was there before), and NULL if there is no
-- new file, or if a tensor has no values that are known.
--
-- It needs the sqlite3 shell. The generated statements are in convert.tmp.sql in the current directory, which the next run overwrites.

-- Statements of an earlier run must not be run if these cannot be written.
.bail on
DROP TABLE IF EXISTS temp.convert_file;
DROP TABLE IF EXISTS temp.convert_now;
DROP VIEW IF EXISTS temp.convert_rows;

CREATE TEMP TABLE IF NOT EXISTS convert_parameters(is_sound, CONSTRAINT "the parameter :source is set" CHECK (is_sound));
INSERT INTO temp.convert_parameters VALUES (:source IS NOT NULL);

CREATE TEMP TABLE convert_file(id INTEGER PRIMARY KEY, path TEXT, target TEXT, same, error TEXT);
INSERT INTO temp.convert_file(path, target, error)
WITH parts(path, error, folder, name) AS (
  SELECT path, error, rtrim(path, replace(path, '/', '')), substr(path, length(rtrim(path, replace(path, '/', ''))) + 1) FROM zt_files(:source)
)
SELECT path, coalesce(:folder || '/', folder) || CASE WHEN instr(name, '.') THEN rtrim(name, replace(name, '.', '')) ELSE name || '.' END
    || CASE coalesce(:format, 'ztensor-2') WHEN 'ztensor-2' THEN 'zt' WHEN 'ztensor-1.2' THEN 'zt' ELSE :format END, error
FROM parts;

-- The rows of the new file that is being written.
CREATE TEMP TABLE convert_now(path TEXT, dense, dtype, "drop");
INSERT INTO temp.convert_now VALUES (NULL, :dense, :dtype, :drop);
CREATE TEMP VIEW convert_rows AS
SELECT o.object AS name, o.path AS source, o.object, CASE WHEN n.dense THEN 'dense' END AS format,
  CASE WHEN n.dense AND o.format NOT IN ('dense', 'sparse_csr', 'sparse_coo') THEN n.dtype END AS dtype,
  NULL AS key, NULL AS value, NULL AS type, NULL AS stored_type
FROM temp.convert_now AS n, zt_objects(n.path) AS o
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, a.key, a.value, a.type, a.stored_type
FROM temp.convert_now AS n, zt_attributes(n.path) AS a WHERE a.object IS NULL AND n."drop" IS NULL;

-- Each file is one statement, so it is written as a whole or not at all.
CREATE TEMP TABLE IF NOT EXISTS convert_statements(written NOT NULL);   -- NULL: writefile() has failed
INSERT INTO temp.convert_statements
SELECT writefile('convert.tmp.sql', coalesce(group_concat(printf('UPDATE temp.convert_now SET path = %Q;
CREATE VIRTUAL TABLE temp.convert_%d USING zt_writer(%Q, format=%Q%s);
INSERT INTO temp.convert_%d(name, source, object, format, dtype, key, value, type, stored_type) SELECT * FROM temp.convert_rows;
DROP TABLE temp.convert_%d;
UPDATE temp.convert_file SET same = zt_fingerprint(path) = zt_fingerprint(target)
WHERE id = %d AND (SELECT error IS NULL FROM zt_files(target));
', path, id, target, coalesce(:format, 'ztensor-2'), CASE WHEN :drop IS NULL OR coalesce(:format, 'ztensor') GLOB 'ztensor*' THEN '' ELSE printf(', drop=%Q', :drop) END, id, id, id), ''), ''))
FROM temp.convert_file WHERE error IS NULL AND target <> path;
.bail off
.read convert.tmp.sql

SELECT path, target, same, CASE WHEN error IS NULL AND target = path THEN 'not written: its new name is its own; :folder names another folder'
                                ELSE error END AS error
FROM temp.convert_file ORDER BY path;
