-- splits.sql: checks GGUF models that were split into several files. A row is a finding; no row means that all is well.
--
-- Such a model has files MODEL-00001-of-00003.gguf and so on. The keys of each file state its number (split.no, counted from 0), the
-- number of files (split.count), and the number of tensors in all of them (split.tensors.count). The parameter :source names the
-- collection: a directory, a pattern, a file, or a list of these as a JSON array.
--
--   sqlite3 -box :memory: ".load ./ztensor" ".parameter set :source models" ".read sql/splits.sql"
--
-- finding:  missing     no file has this number
--           unreadable  the file with this number cannot be read
--           unmarked    the file has no split.no, split.count or split.tensors.count, so it is not a split, whatever its name
--           misnamed    split.no or split.count contradicts the file's name, or the name has no number, or one beyond the number of files
--           tensors     all files are there, but together they have fewer or more tensors than split.tensors.count
--           repeated    a tensor is in more than one file

WITH named AS (
  SELECT path, objects, error, substr(path, 1, length(path) - 20) AS model, CAST(substr(path, -19, 5) AS INTEGER) AS number,
         CAST(substr(path, -10, 5) AS INTEGER) AS splits
  FROM zt_files(:source)
  WHERE lower(path) GLOB '*-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9].gguf'
), marked AS (
  SELECT n.*, max(a.value) FILTER (WHERE a.key = 'split.no') AS no, max(a.value) FILTER (WHERE a.key = 'split.count') AS count,
         max(a.value) FILTER (WHERE a.key = 'split.tensors.count') AS tensors
  FROM named AS n LEFT JOIN zt_attributes(n.path, 'skip') AS a
    ON a.object IS NULL AND a.key IN ('split.no', 'split.count', 'split.tensors.count')
  GROUP BY n.path
), renamed AS (
  SELECT f.path, max(a.value) FILTER (WHERE a.key = 'split.no') AS no, max(a.value) FILTER (WHERE a.key = 'split.count') AS count
  FROM zt_files(:source) AS f JOIN zt_attributes(f.path, 'skip') AS a ON a.object IS NULL AND a.key IN ('split.no', 'split.count')
  WHERE f.container = 'gguf' AND f.path NOT IN (SELECT path FROM named)
  GROUP BY f.path HAVING count > 1
), expected(model, splits, number) AS (
  SELECT model, splits, 1 FROM (SELECT DISTINCT model, splits FROM named)
  UNION ALL
  SELECT model, splits, number + 1 FROM expected WHERE number < splits
), whole AS (
  SELECT model, splits, sum(objects) AS objects, min(tensors) AS least, max(tensors) AS most FROM marked
  WHERE number BETWEEN 1 AND splits GROUP BY model, splits
  HAVING count(*) = splits AND count(error) = 0
)
SELECT finding, path, message FROM (
  SELECT 'missing' AS finding, printf('%s-%05d-of-%05d.gguf', e.model, e.number, e.splits) AS path, 'no such file' AS message
  FROM expected AS e LEFT JOIN named AS n USING (model, splits, number) WHERE n.path IS NULL
  UNION ALL
  SELECT 'unreadable', path, error FROM marked WHERE error IS NOT NULL
  UNION ALL
  SELECT 'unmarked', path, 'no split.no, split.count or split.tensors.count' FROM marked
  WHERE error IS NULL AND (no IS NULL OR count IS NULL OR tensors IS NULL)
  UNION ALL
  SELECT 'misnamed', path, printf('split.no %s, split.count %s', no, count) FROM renamed
  UNION ALL
  SELECT 'misnamed', path, printf('split.no %s, split.count %s', no, count) FROM marked
  WHERE no + 1 <> number OR count <> splits OR number NOT BETWEEN 1 AND splits
  UNION ALL
  SELECT 'tensors', printf('%s-%05d-of-%05d.gguf', model, 1, splits),
         printf('%d tensors, split.tensors.count %s', objects, CASE WHEN least = most THEN least ELSE least || ' to ' || most END)
  FROM whole WHERE objects <> least OR objects <> most
  UNION ALL
  SELECT 'repeated', min(n.path), printf('tensor ''%s'' is in %d splits', o.object, count(*))
  FROM named AS n JOIN zt_objects(n.path, 'skip') AS o WHERE n.error IS NULL GROUP BY n.model, n.splits, o.object HAVING count(*) > 1
) ORDER BY path, finding, message;
