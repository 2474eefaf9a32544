-- licence.sql: states a licence in a tensor file, and gives its tensors digests.
--
--   sqlite3 -box :memory: ".load ./ztensor sqlite3_ztensor_write_init" ".parameter set :file model.zt" \
--     ".parameter set :licence Apache-2.0" ".parameter set :digest sha256" ".read sql/licence.sql"
--
-- These are the parameters. All but the first may be missing:
--
--   :file      one file of a format that can be written and holds attributes: zTensor 1.2 or 2, safetensors or GGUF
--   :licence   its licence, by its SPDX name. It replaces the attribute `license`, in GGUF `general.license`
--   :link      the address of the licence's text, for `license.link`, in GGUF `general.license.link`
--   :digest    sha256 or another algorithm of the format, for all tensors (zTensor alone)
--
-- The file is written anew beside the old one and replaces it as a whole. After an error it is as it was. The result has a row for each
-- attribute of the file whose name has the word license, and the number of digests.
--
-- It needs the sqlite3 shell. The generated statement is in licence.tmp.sql in the current directory, which the next run overwrites.

.bail on
DROP TABLE IF EXISTS temp.licence;

-- With no file, the statement of an earlier run would be there still, and change that run's file.
CREATE TEMP TABLE IF NOT EXISTS licence_parameters(is_sound, CONSTRAINT "the parameter :file is one file" CHECK (is_sound));
INSERT INTO temp.licence_parameters VALUES ((SELECT count(*) FROM zt_files(:file)) = 1);

CREATE TEMP TABLE IF NOT EXISTS licence_statements(written NOT NULL);   -- NULL: writefile() has failed
INSERT INTO temp.licence_statements
SELECT writefile('licence.tmp.sql', printf('CREATE VIRTUAL TABLE temp.licence USING zt_writer(%Q, mode=update%s);', path,
  CASE WHEN container = 'ztensor' AND version GLOB '1.2*' THEN ', format=''ztensor-1.2''' ELSE '' END))
FROM zt_files(:file);
.read licence.tmp.sql

CREATE TEMP TABLE IF NOT EXISTS licence_key(key TEXT PRIMARY KEY, value TEXT);
DELETE FROM temp.licence_key;
INSERT INTO temp.licence_key
SELECT CASE WHEN container = 'gguf' THEN 'general.' ELSE '' END || column1, column2
FROM zt_files(:file), (VALUES ('license', :licence), ('license.link', :link)) WHERE column2 IS NOT NULL;

BEGIN;
DELETE FROM temp.licence WHERE name IS NULL AND key IN (SELECT key FROM temp.licence_key);
INSERT INTO temp.licence(key, value) SELECT key, value FROM temp.licence_key;
UPDATE temp.licence SET digest = :digest WHERE name IS NOT NULL AND key IS NULL AND :digest IS NOT NULL;
COMMIT;
DROP TABLE temp.licence;

SELECT a.key, a.value, (SELECT count(*) FROM zt_components(a.path) WHERE digest IS NOT NULL) AS digests
FROM zt_attributes(:file) AS a WHERE a.object IS NULL AND a.key GLOB '*license*';
