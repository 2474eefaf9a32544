-- `make deps demo` shows this audit of real files below tests/formats: zTensor's five generations, safetensors, GGUF, numpy's, PyTorch's and
-- ONNX files, written by the formats' own libraries. tests/demo.sh runs it in the sqlite3 shell from the project's root.
.load ./ztensor
.mode box
.headers on
CREATE VIRTUAL TABLE temp.models USING zt_objects('tests/formats/ztensor/golden/v*/[wc]*.zt', skip);

.print
.print == Overview: files, tensors and bytes of each format
SELECT container, count(*) AS files, sum(objects) AS tensors, sum(stored_bytes) AS stored, sum(size) AS file_bytes, count(error) AS unreadable
FROM zt_files('["tests/formats/ztensor/golden", "tests/formats/safetensors/golden", "tests/formats/gguf/golden", "tests/formats/npy/golden",
  "tests/formats/npz/golden", "tests/formats/pytorch/golden", "tests/formats/onnx/golden"]') GROUP BY container;

.print
.print == The same for each generation of zTensor
SELECT version, count(*) AS files, sum(objects) AS tensors, sum(components) AS components, sum(stored_bytes) AS stored,
       sum(size) AS file_bytes
FROM zt_files('tests/formats/ztensor/golden/v*/[wc]*.zt') GROUP BY version;

.print
.print == The biggest tensors
SELECT substr(path, 30) AS path, object, format, dtype, shape, decoded_bytes FROM models ORDER BY decoded_bytes DESC, path LIMIT 5;

.print
.print == Shares of the storage types
SELECT dtype, count(*) AS tensors, sum(stored_bytes) AS bytes,
       printf('%.1f %%', 100.0 * sum(stored_bytes) / sum(sum(stored_bytes)) OVER ()) AS share
FROM models GROUP BY dtype ORDER BY bytes DESC LIMIT 6;

.print
.print == Quantized tensors of a GGUF file: bits per element, and statistics of their values
SELECT object, format, shape, round(8.0 * stored_bytes / o.elements, 2) AS bits, round(min, 3) AS min, round(max, 3) AS max, round(std, 3) AS std,
       round(zt_value(path, object, 1, 255), 5) AS last_value
FROM zt_objects('tests/formats/gguf/golden/q_k.gguf') AS o JOIN zt_stats('tests/formats/gguf/golden/q_k.gguf') USING (path, object);

.print
.print == A model as safetensors, converted to zTensor and, quantized, to GGUF: is it the same, and what was lost?
SELECT s.object, s.dtype, s.hash = z.hash AS same_in_zt, q.format AS in_gguf, max(abs(a.value - b.value)) AS worst,
       sqrt(avg((a.value - b.value) * (a.value - b.value))) AS rmse
FROM zt_components('tests/formats/gguf/converted/model.safetensors') AS s
JOIN zt_components('tests/formats/gguf/converted/model.zt') AS z USING (object)
JOIN zt_objects('tests/formats/gguf/converted/model.gguf') AS q USING (object)
JOIN zt_elements(s.path, s.object) AS a JOIN zt_elements(q.path, q.object) AS b USING (position)
GROUP BY s.object ORDER BY rmse;

.print
.print == Keys of a GGUF file, with their types
SELECT key, stored_type, CASE WHEN type = 'array' THEN json_array_length(value) || ' elements' ELSE value END AS value
FROM zt_attributes('tests/formats/gguf/golden/kv_types.gguf') WHERE object IS NULL AND (key GLOB 'general.*' OR key GLOB 'tokenizer.*');

.print
.print == Arrays of numpy, deflated; a checkpoint of PyTorch; a model of ONNX: a tensor of each, and an attribute of the file
WITH chosen(path, object, key) AS (VALUES
  ('tests/formats/npz/golden/zeros_deflated.npz', 'big', NULL), ('tests/formats/pytorch/golden/checkpoint.pt', 'model.0.bias', 'epoch'),
  ('tests/formats/onnx/golden/typed.onnx', 'head.bias.i32', 'producer_name'))
SELECT f.container, c.object, c.dtype, c.encoding, c.length, c.decoded_length, substr(zt_json(c.path, c.object), 1, 30) || '...' AS json,
       a.key, a.value
FROM chosen JOIN zt_files(chosen.path) AS f USING (path) JOIN zt_components(chosen.path) AS c USING (path, object)
LEFT JOIN zt_attributes(chosen.path) AS a ON a.path = chosen.path AND a.object IS NULL AND a.key = chosen.key ORDER BY container;

.print
.print == An index of safetensors files that contradicts them, and a sound GGUF model in three files
.parameter set :folder tests/formats/safetensors/sharded_disagree
.mode list
.read sql/safetensors_index.sql
.parameter set :source tests/formats/gguf/golden/split
.read sql/splits.sql
.mode box

.print
.print == Contents with several copies, by digest
SELECT substr(digest, 1, 23) AS digest, count(*) AS copies, count(DISTINCT path) AS files, sum(length) - max(length) AS spare_bytes
FROM zt_components('tests/formats/ztensor/golden') WHERE length > 0 AND digest LIKE 'sha256:%'
GROUP BY zt_components.digest HAVING copies > 1 ORDER BY spare_bytes DESC LIMIT 4;

.print
.print == Digests: are the bytes unchanged?
SELECT digest_status, count(*) AS components FROM zt_components('tests/formats/ztensor/golden/v*/[cw]*.zt') WHERE digest IS NOT NULL GROUP BY 1;

.print
.print == Files that cannot be read, and why
.mode list
.headers off
SELECT error FROM zt_files('tests/formats/ztensor/hostile/1.2-not-[hlz]*.zt') WHERE error IS NOT NULL;
.mode box
.headers on

.print
.print == Findings in files: rules and examples
SELECT severity, rule, count(*) AS findings, min(substr(path, 30)) AS example, min(message) AS message
FROM zt_check('tests/formats/ztensor/golden/v*/hand_*.zt', 'full') WHERE rule <> 'missing-digest'
GROUP BY rule ORDER BY severity, findings DESC LIMIT 8;

.print
.print == A catalog of the collection, and some of its views
.read sql/catalog.sql
.parameter set :source tests/formats/ztensor/golden
.read sql/refresh.sql
.read sql/audit.sql
SELECT type, objects, files, bytes, percent FROM dtype_totals LIMIT 4;
SELECT count(*) AS unlicensed_files FROM unlicensed_files;
SELECT finding, count(*) AS tensors, count(DISTINCT path) AS files FROM suspect_tensors GROUP BY finding;
SELECT object, part, change, before, after FROM main.differences
WHERE path_a GLOB '*/golden/v1.1/wheel_zstd.zt' AND path_b GLOB '*/golden/v1.2/wheel_zstd.zt' AND change <> 'unknown';
.print Again, with nothing changed: no file is opened
.read sql/refresh.sql

.print
.print == Files joined with a table of experiments
CREATE TABLE experiments(run TEXT, loss REAL, artifact TEXT);
INSERT INTO experiments VALUES
  ('baseline',  0.412, 'tests/formats/ztensor/golden/v0.1/wheel_ranks.zt'),
  ('wider',     0.355, 'tests/formats/ztensor/golden/v1.0/wheel_ranks.zt'),
  ('longer',    0.301, 'tests/formats/ztensor/golden/v1.1/wheel_zstd.zt'),
  ('quantized', 0.318, 'tests/formats/ztensor/golden/v1.2/wheel_quantized.zt');
SELECT run, loss, f.version, count(*) AS tensors, sum(o.elements) AS parameters, sum(o.stored_bytes) AS bytes,
       group_concat(DISTINCT o.dtype) AS dtypes
FROM experiments JOIN zt_files(artifact) AS f JOIN zt_objects(artifact) AS o USING (path)
GROUP BY run ORDER BY loss;

.print
.print == Bytes extracted, and compared with the bytes in the file
CREATE TABLE extracted AS
  SELECT object, offset, length, writefile('build/demo/' || object || '.bin', zt_blob(path, object)) AS written,
         data = substr(readfile(path), offset + 1, length) AS same
  FROM zt_components('tests/formats/ztensor/golden/v1.2/wheel_dtypes.zt') WHERE object LIKE 'blk.0.%';
SELECT * FROM extracted;
SELECT CASE WHEN count(*) = 5 AND min(same) THEN 'all equal' ELSE json('extracted bytes differ') END AS verdict FROM extracted;
