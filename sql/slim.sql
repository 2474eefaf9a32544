-- slim.sql: writes a checkpoint without the optimizer's state, with f32 and f64 cast to bf16.
--
--   sqlite3 -box :memory: ".load ./ztensor sqlite3_ztensor_write_init" ".parameter set :source epoch-3.pt" \
--     ".parameter set :target model.safetensors" ".read sql/slim.sql"
--
-- These are the parameters. The last two may be missing:
--
--   :source   one file of any format that ztensor reads
--   :target   the new file; its name says its format. A file that is there already is an error, and stays as it is
--   :drop     a GLOB pattern of the names and the keys that are left out, 'optim*' otherwise
--   :dtype    the type of the floats that are wider, bf16 otherwise
--
-- Integers, narrower floats, complex numbers and quantized tensors are copied as they are. A zTensor file gets the other attributes of the
-- file, a file of another format those that are text.
--
-- The result has a row for the old file and one for the new file, with their tensors, elements and bytes.
--
-- It needs the sqlite3 shell. The generated statement is in slim.tmp.sql in the current directory, which the next run overwrites.

.bail on
DROP TABLE IF EXISTS temp.slim;

CREATE TEMP TABLE IF NOT EXISTS slim_parameters(is_sound, CONSTRAINT "the parameters :source and :target are set" CHECK (is_sound));
INSERT INTO temp.slim_parameters VALUES (:source IS NOT NULL AND :target IS NOT NULL);

CREATE TEMP TABLE IF NOT EXISTS slim_statements(written NOT NULL);   -- NULL: writefile() has failed
INSERT INTO temp.slim_statements
SELECT writefile('slim.tmp.sql', printf('CREATE VIRTUAL TABLE temp.slim USING zt_writer(%Q);', :target));
.read slim.tmp.sql

INSERT INTO temp.slim(name, source, object, dtype, key, value, type)
SELECT object, path, object, CASE WHEN dtype IN ('f32', 'f64') AND type = dtype THEN coalesce(:dtype, 'bf16') END, NULL, NULL, NULL
FROM zt_objects(:source) WHERE object NOT GLOB coalesce(:drop, 'optim*')
UNION ALL
SELECT NULL, NULL, NULL, NULL, key, value, type FROM zt_attributes(:source)
WHERE object IS NULL AND key NOT GLOB coalesce(:drop, 'optim*') AND (:target GLOB '*.zt' OR type = 'text');
DROP TABLE temp.slim;

SELECT path, count(*) AS tensors, sum(elements) AS elements, sum(decoded_bytes) AS bytes
FROM zt_objects(json_array(:source, :target)) GROUP BY path ORDER BY path = :target;
