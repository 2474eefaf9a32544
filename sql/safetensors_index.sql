-- safetensors_index.sql: compares the index of a model in several safetensors files (*.safetensors.index.json; that of a variant is
-- *.safetensors.index.fp16.json or *.safetensors.fp16.index.json) with its files.
--
--   sqlite3 -box :memory: ".load ./ztensor" ".parameter set :folder models" ".read sql/safetensors_index.sql"
--
-- All indexes at any depth below the folder are compared with the files beside them. No rows means that all is well. Bytes of tensors
-- are not read. `finding` is one of these:
--
--   wrong_shard        the tensor is in another file than the index says: `detail`
--   not_in_shard       the index has a tensor that none of its files has; `detail` is the file that should have it, NULL if it names none
--   not_in_index       the file `detail` has a tensor that the index lacks
--   missing_shard      there is no such file; its tensors are not listed one by one, unless another file has them
--   unreadable_shard   the file cannot be read; `detail` is the reason
--   total_size         metadata.total_size, shown as `name`, differs from the bytes of all tensors, shown as `detail`
--   broken_index       the index is not JSON, or has no weight_map
--
-- It needs the sqlite3 shell, which can list directories and read files.

DROP TABLE IF EXISTS temp.safetensors_index;
DROP TABLE IF EXISTS temp.safetensors_index_says;
DROP TABLE IF EXISTS temp.safetensors_index_shard;
DROP TABLE IF EXISTS temp.safetensors_index_found;

-- The indexes. An index that is not JSON has no text here. Other JSON files may have the names of variants, but
-- not the metadata of an index.
CREATE TEMP TABLE safetensors_index AS
WITH file(path, json) AS (
  SELECT name, CAST(readfile(name) AS TEXT) FROM fsdir(:folder)
  WHERE name GLOB '*.safetensors.index.json'
     OR (name GLOB '*.safetensors.index.*.json' OR name GLOB '*.safetensors.*.index.json') AND instr(readfile(name), '"metadata"')
)
SELECT path, rtrim(path, replace(path, '/', '')) AS folder,
  CASE WHEN json_valid(json) THEN CASE WHEN json_type(json, '$.weight_map') = 'object' THEN json END END AS json
FROM file;

-- The file of each tensor, according to the index.
CREATE TEMP TABLE safetensors_index_says AS
SELECT i.path, w.key AS tensor, w.value AS shard FROM temp.safetensors_index AS i, json_each(i.json, '$.weight_map') AS w;

-- The files that the index names, and the reason why one cannot be read. A missing path may act as a pattern; the files it matches are
-- not shards.
CREATE TEMP TABLE safetensors_index_shard AS
SELECT s.path, s.shard, s.file, f.size,
  CASE WHEN f.path IS NULL THEN 'ztensor: ' || s.file || ': there is no such file' ELSE f.error END AS error
FROM (SELECT DISTINCT i.path, i.folder || s.shard AS file, s.shard
      FROM temp.safetensors_index AS i JOIN temp.safetensors_index_says AS s USING (path)) AS s
LEFT JOIN zt_files AS f ON f.source = s.file AND f.path = s.file;

-- The tensors of these files.
CREATE TEMP TABLE safetensors_index_found AS
SELECT s.path, s.shard, c.object AS tensor, c.length
FROM temp.safetensors_index_shard AS s CROSS JOIN zt_components(s.file, 'skip') AS c ON c.path = s.file
WHERE s.error IS NULL;
CREATE INDEX temp.safetensors_index_tensor ON safetensors_index_found(path, tensor);

SELECT path AS "index", 'broken_index' AS finding, NULL AS name, NULL AS detail FROM temp.safetensors_index WHERE json IS NULL
UNION ALL
SELECT path, CASE WHEN size IS NULL THEN 'missing_shard' ELSE 'unreadable_shard' END, shard, error
FROM temp.safetensors_index_shard WHERE error IS NOT NULL
UNION ALL
SELECT s.path, CASE WHEN f.tensor IS NULL THEN 'not_in_shard' ELSE 'wrong_shard' END, s.tensor, coalesce(f.shard, s.shard)
FROM temp.safetensors_index_says AS s
LEFT JOIN temp.safetensors_index_found AS f USING (path, tensor)
WHERE NOT EXISTS (SELECT 1 FROM temp.safetensors_index_found AS h WHERE h.path = s.path AND h.tensor = s.tensor AND h.shard = s.shard)
  AND (f.tensor IS NOT NULL OR EXISTS (
    SELECT 1 FROM temp.safetensors_index_shard AS h WHERE h.path = s.path AND h.shard = s.shard AND h.error IS NULL))
UNION ALL
SELECT s.path, 'not_in_shard', s.tensor, NULL FROM temp.safetensors_index_says AS s
WHERE s.shard IS NULL AND NOT EXISTS (SELECT 1 FROM temp.safetensors_index_found AS h WHERE h.path = s.path AND h.tensor = s.tensor)
UNION ALL
SELECT f.path, 'not_in_index', f.tensor, f.shard FROM temp.safetensors_index_found AS f
WHERE NOT EXISTS (SELECT 1 FROM temp.safetensors_index_says AS s WHERE s.path = f.path AND s.tensor = f.tensor)
UNION ALL
SELECT path, 'total_size', said, found
FROM (SELECT i.path, json_extract(i.json, '$.metadata.total_size') AS said,
        (SELECT coalesce(sum(length), 0) FROM temp.safetensors_index_found AS f WHERE f.path = i.path) AS found
      FROM temp.safetensors_index AS i WHERE i.json IS NOT NULL)
WHERE said IS NOT NULL AND said <> found
ORDER BY 1, 2, 3;
