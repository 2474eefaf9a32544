-- sacred.sql: Sacred's runs joined with the tensor files that its SqlObserver keeps as BLOBs.
--
-- It needs the tables and views of catalog.sql in the main database, and the database of a SqlObserver attached as sacred, which is
-- only read:
--
--   sqlite3 -box catalog.db ".load ./ztensor" ".read sql/catalog.sql" \
--     "ATTACH 'file:sacred.db?mode=ro' AS sacred" ".read sql/sacred.sql" \
--     "SELECT * FROM sacred_best_models ORDER BY experiment, rank_min LIMIT 5"
--
-- The views read the BLOBs themselves, so `sqlite3 :memory:` suffices, except for changed artifacts. Sacred records an artifact's name
-- but not its place, so an artifact is compared with files of that name in the catalog. The views are temporary: read this script in
-- each session. The script also brings run_files up to date for this database.
--
-- Models are artifacts (add_artifact()) and resources (add_resource(), open_resource()) whose names match the view file_names. If a run
-- logged an artifact several times under one name, the last one counts.

DROP VIEW IF EXISTS temp.sacred_logged;
DROP VIEW IF EXISTS temp.sacred_contents;
DROP VIEW IF EXISTS temp.sacred_models;
DROP VIEW IF EXISTS temp.sacred_best_models;
DROP VIEW IF EXISTS temp.sacred_failed_models;
DROP VIEW IF EXISTS temp.sacred_compared;
DROP VIEW IF EXISTS temp.sacred_changed_models;
DROP VIEW IF EXISTS temp.sacred_refresh;

-- Which tensor files did each run log? `id` is that of the artifact or resource; the BLOB is read where it is needed.
CREATE TEMP VIEW sacred_logged(run, role, id, name) AS
WITH logged(run, role, id, name) AS (
  SELECT run_id, 'artifact', max(artifact_id), filename FROM sacred.artifact GROUP BY run_id, filename
  UNION ALL
  SELECT DISTINCT u.run_id, 'resource', r.resource_id, r.filename
  FROM sacred.resource AS r JOIN sacred.runs_resources AS u ON u.resource_id = r.resource_id
)
SELECT run, role, id, name FROM logged
WHERE EXISTS (SELECT 1 FROM file_names WHERE '/' || lower(name) GLOB '*/' || pattern);

-- Which bytes did each run log? CROSS JOIN keeps the order: only BLOBs of the requested runs are read.
CREATE TEMP VIEW sacred_contents AS
SELECT e.name AS experiment, r.run_id AS run, r.status AS status, l.role AS role, l.id AS id, l.name AS name, f.size AS size,
  f.error AS error, f.source AS content, f.container AS container, f.attributes AS attributes,
  -- Sacred writes UTC.
  round((julianday(r.stop_time) - 2440587.5) * 86400, 3) AS ended
FROM sacred.run AS r
CROSS JOIN sacred.experiment AS e ON e.experiment_id = r.experiment_id
CROSS JOIN sacred_logged AS l ON l.run = r.run_id
CROSS JOIN zt_files(CASE l.role
  WHEN 'artifact' THEN (SELECT CAST(a.content AS BLOB) FROM sacred.artifact AS a WHERE a.artifact_id = l.id)
  ELSE (SELECT CAST(a.content AS BLOB) FROM sacred.resource AS a WHERE a.resource_id = l.id) END) AS f;

-- Which models did each run log, and what do they contain? `error` is the reason why a model cannot be read. total() cannot overflow.
CREATE TEMP VIEW sacred_models AS
SELECT experiment, run, status, role, name,
  CASE WHEN error IS NULL THEN (SELECT CAST(total(elements) AS INTEGER) FROM zt_objects(content, 'skip')) END AS parameters,
  (SELECT group_concat(type) FROM (SELECT DISTINCT type FROM zt_objects(content, 'skip') ORDER BY type)) AS dtypes,
  size, error, ended
FROM sacred_contents;

-- Which completed runs did best, by their result, and how large are the models that they logged? Sacred does not know whether more is
-- better: rank_min is 1 for the min of the experiment, and rank_max is 1 for the max. A missing rank is a run without models.
CREATE TEMP VIEW sacred_best_models AS
WITH ranked AS (
  SELECT r.run_id, r.result,
    rank() OVER (PARTITION BY e.name ORDER BY r.result) AS rank_min,
    rank() OVER (PARTITION BY e.name ORDER BY r.result DESC) AS rank_max
  FROM sacred.run AS r JOIN sacred.experiment AS e ON e.experiment_id = r.experiment_id
  WHERE r.status = 'COMPLETED' AND r.result IS NOT NULL
)
SELECT m.experiment, b.rank_min, b.rank_max, b.result, m.run, m.name, m.parameters, m.dtypes, m.size, m.error
FROM ranked AS b CROSS JOIN sacred_models AS m ON m.run = b.run_id WHERE m.role = 'artifact';

-- Which models were logged by runs that failed, were interrupted or ran out of time?
CREATE TEMP VIEW sacred_failed_models AS
SELECT experiment, run, status, role, name, parameters, dtypes, size, error
FROM sacred_models WHERE status IN ('FAILED', 'INTERRUPTED', 'TIMEOUT');

-- Which files may be the logged ones, and are they still the same? An artifact's candidates are the catalog's files of that name. A
-- resource's candidate is the file at its path, if it exists. `found` is 1 if one of them is the same. Unreadable files are compared by
-- their size, bytes in several places or out of the file's reach by their content, and those in other files not at all. `stem` is the name
-- of the array of an npy file, which is `data` in the BLOB. Special characters of patterns are put in brackets, because the name of a
-- missing file must not match other files.
CREATE TEMP VIEW sacred_compared AS
WITH candidate(run, role, id, path) AS (
  SELECT l.run, l.role, l.id, f.path FROM sacred_logged AS l JOIN files AS f
    ON f.host = zt_host() AND substr(f.path, length(rtrim(f.path, replace(f.path, '/', ''))) + 1)
     = substr(l.name, length(rtrim(l.name, replace(l.name, '/', ''))) + 1)
  WHERE l.role = 'artifact'
  UNION ALL SELECT run, role, id, name FROM sacred_logged WHERE role = 'resource'
),
compared AS (
  SELECT m.experiment, m.run, m.status, m.role, m.id, m.name, f.path, m.size AS size_logged, f.size AS size_now, f.mtime, m.ended,
    f.error, f.stem,
    CASE
      WHEN f.size <> m.size THEN 0
      WHEN m.error IS NOT NULL THEN 1
      WHEN f.error IS NOT NULL THEN 0
      ELSE f.attributes IS m.attributes AND zt_manifest(f.path) IS zt_manifest(m.content) AND NOT EXISTS (
        SELECT 1 FROM zt_components(m.content, 'skip') AS a LEFT JOIN zt_components(f.path, 'skip') AS b
          ON b.object = coalesce(f.stem || substr(a.object, 5), a.object)
          AND b.component = a.component
        WHERE CASE WHEN b.object IS NULL THEN 1 WHEN a.shard IS NOT NULL OR b.shard IS NOT NULL THEN (a.shard IS NULL) <> (b.shard IS NULL)
          WHEN (a.offset IS NULL) <> (b.offset IS NULL) OR a.length IS NOT b.length THEN 1
          WHEN a.offset + a.length <= m.size AND b.offset + b.length <= f.size THEN b.stored <> a.stored ELSE b.hash IS NOT a.hash END)
    END AS same
  FROM sacred_contents AS m
  CROSS JOIN candidate AS c ON c.run = m.run AND c.role = m.role AND c.id = m.id
  CROSS JOIN (SELECT z.*, z.source,
    CASE z.container WHEN 'npy' THEN (SELECT object FROM zt_objects(z.path, 'skip') LIMIT 1) END AS stem FROM zt_files AS z) AS f
    ON f.source = replace(replace(replace(c.path, '[', '[[]'), '*', '[*]'), '?', '[?]') AND f.path = c.path AND f.size IS NOT NULL
)
SELECT *, max(same) OVER (PARTITION BY run, role, id) AS found FROM compared;

-- Which logged models differ from the files, and how many tensors differ? A model is not listed if a file of its name is still the
-- same. A tensor changed if its shape, types, attributes or stored bytes did.
CREATE TEMP VIEW sacred_changed_models AS
SELECT c.experiment, c.run, c.role, c.name, c.path,
  (SELECT count(*) FROM (
    SELECT object FROM zt_objects(c.path, 'skip')
    EXCEPT SELECT coalesce(c.stem || substr(object, 5), object) FROM zt_objects(m.content, 'skip'))) AS added,
  (SELECT count(*) FROM (
    SELECT coalesce(c.stem || substr(object, 5), object) FROM zt_objects(m.content, 'skip')
    EXCEPT SELECT object FROM zt_objects(c.path, 'skip'))) AS removed,
  (SELECT count(*) FROM (
    SELECT object FROM (
      SELECT coalesce(c.stem || substr(object, 5), object) AS object, format, type, shape, components, attributes
      FROM zt_objects(m.content, 'skip')
      EXCEPT SELECT object, format, type, shape, components, attributes FROM zt_objects(c.path, 'skip'))
    UNION
    SELECT b.object FROM zt_components(m.content, 'skip') AS a CROSS JOIN zt_components(c.path, 'skip') AS b
      ON b.object = coalesce(c.stem || substr(a.object, 5), a.object) AND b.component = a.component
    WHERE b.dtype <> a.dtype
       OR CASE WHEN a.shard IS NOT NULL OR b.shard IS NOT NULL THEN (a.shard IS NULL) <> (b.shard IS NULL)
            WHEN (a.offset IS NULL) <> (b.offset IS NULL) OR a.length IS NOT b.length THEN 1
            WHEN a.offset + a.length <= c.size_logged AND b.offset + b.length <= c.size_now THEN b.stored <> a.stored
            ELSE b.hash IS NOT a.hash END
    INTERSECT SELECT object FROM zt_objects(c.path, 'skip'))) AS changed,
  c.size_logged, c.size_now, datetime(c.ended, 'unixepoch') AS ended, datetime(c.mtime, 'unixepoch') AS written, c.error
FROM sacred_compared AS c
CROSS JOIN sacred_contents AS m ON m.run = c.run AND m.role = c.role AND m.id = c.id
WHERE NOT c.found;

-- run_files. The statements are in a trigger so that they succeed or fail together. Paths are those of the catalog, on this host. A
-- run's files are the files that equal the logged ones, or, if there are none, the files that may have equalled them. `logged` is the
-- end of the run, when its artifacts existed.
CREATE TEMP VIEW sacred_refresh(database) AS SELECT NULL;
CREATE TEMP TRIGGER sacred_refresh INSTEAD OF INSERT ON sacred_refresh BEGIN
  DELETE FROM run_files WHERE tracker = 'sacred' AND database = NEW.database AND host IN ('', zt_host());
  INSERT OR IGNORE INTO run_files(tracker, database, run, name, status, path, logged, host)
  SELECT 'sacred', NEW.database, run, experiment || '/' || run,
    CASE status WHEN 'COMPLETED' THEN 'finished' WHEN 'FAILED' THEN 'failed' WHEN 'RUNNING' THEN 'running' ELSE status END,
    zt_absolute(path), ended, zt_host()
  FROM sacred_compared WHERE same OR NOT found;
END;
INSERT INTO sacred_refresh SELECT file FROM pragma_database_list WHERE name = 'sacred';
