-- Writes the statements that both machines must answer alike: each template below for every file, or for every object or
-- component of the golden files. Every one is a statement of its own, so that one that fails stops nothing else.
--
-- :columns stands for the visible columns of the table that is named before it. REAL values are asked for as their bits:
-- SQLite writes the last digits with long double, which is another type on each machine. Of rows there may be any number, as of
-- a shape of [1000000, 0].

CREATE TEMP TABLE template(scope, columns_of, sql);
INSERT INTO template VALUES
  ('file', 'zt_files', 'SELECT :columns FROM zt_files(:path)'),
  ('file', 'zt_objects', 'SELECT :columns FROM zt_objects(:path)'),
  ('file', 'zt_components', 'SELECT :columns FROM zt_components(:path)'),
  ('file', 'zt_attributes', 'SELECT :columns FROM zt_attributes(:path)'),
  ('file', 'zt_stats', 'SELECT :columns FROM zt_stats(:path)'),
  ('file', 'zt_check', 'SELECT :columns FROM zt_check(:path)'),
  ('file', 'zt_check', 'SELECT :columns FROM zt_check(:path, ''full'')'),
  ('file', NULL, 'SELECT object, fingerprint, fingerprint_error FROM zt_objects(:path) WHERE elements < 1000000'),
  ('file', NULL, 'SELECT zt_manifest(:path)'),
  ('object', NULL, 'SELECT hex(zt_dense(:path, :object))'),
  ('object', NULL, 'SELECT hex(zt_dense(:path, :object, ''f64''))'),
  ('object', NULL, 'SELECT hex(zt_dense(:path, :object, ''f32''))'),
  ('object', NULL, 'SELECT hex(zt_dense(:path, :object, ''f16''))'),
  ('object', NULL, 'SELECT hex(zt_dense(:path, :object, ''bf16''))'),
  ('object', NULL, 'SELECT hex(zt_dense(:path, :object, ''i32''))'),
  ('object', NULL, 'SELECT hex(zt_dense(:path, :object, NULL, 1, 2))'),
  ('object', NULL, 'SELECT hex(zt_dense(:path, :object, ''torch.float32'', 1))'),
  ('object', NULL, 'SELECT zt_json(:path, :object)'),
  ('object', NULL, 'SELECT zt_json(:path, :object, ''f16'', 1, 2)'),
  ('object', NULL, 'SELECT iif(typeof(v) = ''real'', hex(ieee754_to_blob(v)), v)'
                   || ' FROM (SELECT zt_value(:path, :object:zeros) AS v)'),
  ('object', 'zt_elements', 'SELECT :columns FROM zt_elements(:path, :object)'),
  ('object', 'zt_rows', 'SELECT :columns FROM zt_rows(:path, :object) LIMIT 1000'),
  ('object', 'zt_rows', 'SELECT :columns FROM zt_rows(:path, :object, ''f16'') LIMIT 1000'),
  ('component', NULL, 'SELECT hex(zt_blob(:path, :object, :component))'),
  ('component', NULL, 'SELECT hex(zt_blob(:path, :object, :component, 3, 5))'),
  ('component', NULL, 'SELECT hex(zt_blob(:path, :object, :component, 3))'),
  ('component', NULL, 'SELECT hex(data) FROM zt_components(:path) WHERE object = :object AND component = :component'),
  ('component', NULL, 'SELECT hex(stored) FROM zt_components(:path) WHERE object = :object AND component = :component'),
  ('component', NULL, 'SELECT hash FROM zt_components(:path, ''skip'') WHERE object = :object AND component = :component'),
  ('component', NULL, 'SELECT digest_status FROM zt_components(:path) WHERE object = :object AND component = :component'),
  ('component', NULL, 'SELECT zt_hash(:path, :object, :component, ''sha256'')'),
  ('component', NULL, 'SELECT zt_hash(:path, :object, :component, ''crc32c'')'),
  ('component', NULL, 'SELECT zt_hash(:path, :object, :component, ''xxh3'')');

UPDATE template SET sql = replace(sql, ':columns', coalesce(
  (SELECT group_concat(replace('iif(typeof(?) = ''real'', hex(ieee754_to_blob(?)), quote(?))', '?', '"' || name || '"'))
   FROM pragma_table_info(columns_of)), '*'));

-- Answers come with their statements, for whoever reads a difference.
.print .echo on
.print .nullvalue NULL

SELECT replace(sql, ':path', quote(path)) || ';'
FROM template, zt_files('tests/formats')
WHERE scope = 'file';

-- As many zeros as there are dimensions are the indices of the first element.
SELECT replace(replace(replace(sql, ':path', quote(path)), ':zeros', replace(hex(zeroblob(rank)), '00', ', 0')),
               ':object', quote(object)) || ';'
FROM template, zt_objects('tests/formats', 'skip') WHERE scope = 'object' AND path LIKE '%/golden/%';

SELECT replace(replace(replace(sql, ':path', quote(path)), ':component', quote(component)), ':object', quote(object)) || ';'
FROM template, zt_components('tests/formats', 'skip') WHERE scope = 'component' AND path LIKE '%/golden/%';

.print "SELECT 'the end';"
