-- mlflow.sql: MLflow's runs joined with the tensor files among their artifacts. The view file_names lists the names of tensor files.
--
-- It needs the tables and views of catalog.sql in the main database, and an MLflow database (2.4 or later) attached as mlflow. The
-- MLflow database is only read:
--
--   sqlite3 -box catalog.db ".load ./ztensor" ".read sql/catalog.sql" \
--     "ATTACH 'file:mlflow.db?mode=ro' AS mlflow" ".read sql/mlflow.sql" \
--     "SELECT * FROM mlflow_best_models WHERE metric = 'val_loss' ORDER BY rank LIMIT 5"
--
-- The views read the tensor files themselves, so they work before any file is in the catalog, even with `sqlite3 :memory:`. The views
-- are temporary: read this script in each session. The script also brings run_files up to date for this database.
--
-- Runs in MLflow's trash are left out. Artifacts are found if they are files on this machine, whether artifact_uri is a path or a file:
-- URI. Remote stores (s3:, mlflow-artifacts: ...) have no rows. A run's artifacts are those of log_artifact() and those of log_model(),
-- which MLflow 3 keeps beside the run.

DROP VIEW IF EXISTS temp.mlflow_places;
DROP VIEW IF EXISTS temp.mlflow_models;
DROP VIEW IF EXISTS temp.mlflow_best_models;
DROP VIEW IF EXISTS temp.mlflow_failed_models;
DROP VIEW IF EXISTS temp.mlflow_changed_models;
DROP VIEW IF EXISTS temp.mlflow_refresh;
DROP TABLE IF EXISTS temp.mlflow_names;

-- The names of tensor files as patterns for small and capital letters: zt_files tells them apart.
CREATE TEMP TABLE mlflow_names AS
WITH RECURSIVE cased(pattern, rest) AS (
  SELECT '', pattern FROM file_names
  UNION ALL
  SELECT pattern || CASE upper(substr(rest, 1, 1)) WHEN substr(rest, 1, 1) THEN substr(rest, 1, 1)
                                                   ELSE '[' || substr(rest, 1, 1) || upper(substr(rest, 1, 1)) || ']' END, substr(rest, 2)
  FROM cased WHERE rest <> ''
)
SELECT pattern FROM cased WHERE rest = '';

-- Where does each run keep its artifacts? The answer is a list of patterns, or NULL if the place is not on this machine. The directory
-- `id` has the artifacts. Patterns are used because a missing directory would be a row, and a run without artifacts has none.
CREATE TEMP VIEW mlflow_places(run, id, source) AS
WITH place(run, id, uri) AS (
  SELECT run_uuid, run_uuid, nullif(artifact_uri, '') FROM mlflow.runs WHERE lifecycle_stage = 'active'
  UNION ALL
  SELECT r.run_uuid, i.destination_id, e.artifact_location || '/models/' || i.destination_id || '/artifacts'
  FROM mlflow.inputs AS i
  JOIN mlflow.runs AS r ON r.run_uuid = i.source_id
  JOIN mlflow.experiments AS e ON e.experiment_id = r.experiment_id
  WHERE i.source_type = 'RUN_OUTPUT' AND i.destination_type = 'MODEL_OUTPUT' AND r.lifecycle_stage = 'active'
),
-- MLflow decodes %41 in plain paths, too.
decoded(run, id, uri) AS (
  SELECT run, id, CASE WHEN uri GLOB '/*%[0-9A-Fa-f][0-9A-Fa-f]*' THEN 'file://' || uri ELSE uri END FROM place
),
-- Special characters of patterns are put in brackets.
escaped(run, id, uri, pattern) AS (
  SELECT run, id, uri, replace(replace(replace(uri, '[', '[[]'), '*', '[*]'), '?', '[?]') || '/**/' FROM decoded
),
local(run, id, pattern) AS (
  SELECT run, id, CASE
    WHEN uri NOT GLOB '[A-Za-z]*:*' OR substr(uri, 1, instr(uri, ':') - 1) GLOB '*[^-+.0-9A-Za-z]*' THEN pattern
    WHEN (uri GLOB 'file:/[^/]*' OR uri GLOB 'file:///*' OR uri GLOB 'file://localhost/*') AND uri NOT GLOB '*[?#]*'
      AND pattern NOT GLOB '*%[^0-9A-Fa-f]*' AND pattern NOT GLOB '*%[0-9A-Fa-f][^0-9A-Fa-f]*' AND pattern NOT GLOB '*%00*'
    THEN replace(replace(replace(replace(replace(replace(pattern,
      '%5B', '[%5B]'), '%5b', '[%5b]'), '%2A', '[%2A]'), '%2a', '[%2a]'), '%3F', '[%3F]'), '%3f', '[%3f]')
    END
  FROM escaped
)
SELECT run, id, CASE WHEN pattern IS NOT NULL
  THEN (SELECT json_group_array(l.pattern || n.pattern) FROM mlflow_names AS n) END
FROM local AS l;

-- Which tensor files does each run have, and what do they contain? `error` is the reason why a file cannot be read. CROSS JOIN keeps
-- the order: only files of the requested runs are opened. total() cannot overflow.
CREATE TEMP VIEW mlflow_models AS
SELECT e.name AS experiment, r.run_uuid AS run, r.name AS name, r.status AS status,
  substr(f.path, instr(f.path, p.id || '/artifacts/') + length(p.id || '/artifacts/')) AS artifact,
  CASE WHEN f.error IS NULL THEN (SELECT CAST(total(elements) AS INTEGER) FROM zt_objects(f.path, 'skip')) END AS parameters,
  (SELECT group_concat(type) FROM (SELECT DISTINCT type FROM zt_objects(f.path, 'skip') ORDER BY type)) AS dtypes,
  f.size AS size, f.path AS path, f.error AS error, f.mtime AS mtime, r.end_time / 1000.0 AS ended
FROM mlflow.runs AS r
CROSS JOIN mlflow.experiments AS e ON e.experiment_id = r.experiment_id
CROSS JOIN mlflow_places AS p ON p.run = r.run_uuid
CROSS JOIN zt_files(p.source) AS f;

-- Which finished runs did best, and how large are their models? MLflow does not know whether more of a metric is better, but the
-- catalog's table metrics may: `direction` is min, max, or NULL if it does not. `rank` is 1 for the best value in the experiment,
-- rank_min is 1 for the min, and rank_max is 1 for the max. A missing rank is a run without models.
CREATE TEMP VIEW mlflow_best_models AS
WITH ranked AS (
  SELECT m.run_uuid, m.key, m.value,
    (SELECT direction FROM metrics WHERE lower(m.key) GLOB pattern ORDER BY length(pattern) DESC, pattern LIMIT 1) AS direction,
    rank() OVER (PARTITION BY r.experiment_id, m.key ORDER BY m.value) AS rank_min,
    rank() OVER (PARTITION BY r.experiment_id, m.key ORDER BY m.value DESC) AS rank_max
  FROM mlflow.latest_metrics AS m
  JOIN mlflow.runs AS r ON r.run_uuid = m.run_uuid
  WHERE NOT m.is_nan AND r.status = 'FINISHED' AND r.lifecycle_stage = 'active'
)
SELECT m.experiment, b.key AS metric, b.rank_min, b.rank_max, b.value, m.run, m.name, m.artifact, m.parameters, m.dtypes,
  m.size, m.path, m.error, b.direction, CASE b.direction WHEN 'min' THEN b.rank_min WHEN 'max' THEN b.rank_max END AS rank
FROM ranked AS b CROSS JOIN mlflow_models AS m ON m.run = b.run_uuid;

-- Which models were left behind by runs that failed or were killed?
CREATE TEMP VIEW mlflow_failed_models AS
SELECT experiment, run, name, status, artifact, parameters, dtypes, size, path, error
FROM mlflow_models WHERE status IN ('FAILED', 'KILLED');

-- Which artifacts changed since they were logged? The view lists artifacts that were written more than a minute after their run ended.
-- end_time comes from the tracker's clock and the file's time from the file server's, and these should differ by less than a minute.
-- The view also lists artifacts with a tag of the run, `digest:ARTIFACT:OBJECT:COMPONENT`, if the file no longer states that digest, or
-- its bytes contradict it. An artifact that was logged late, after its run, is among them.
CREATE TEMP VIEW mlflow_changed_models AS
SELECT * FROM (
  SELECT m.experiment, m.run, m.name, m.artifact,
    CASE
      WHEN EXISTS (
        SELECT 1 FROM mlflow.tags AS t JOIN zt_components(m.path, 'skip') AS c
          ON t.key = 'digest:' || m.artifact || ':' || c.object || ':' || c.component
        WHERE t.run_uuid = m.run AND (c.digest IS NOT t.value OR c.digest_status = 'mismatch')) THEN 'another digest'
      WHEN m.mtime > m.ended + 60 THEN 'written after the run'
    END AS change,
    datetime(m.ended, 'unixepoch') AS ended, datetime(m.mtime, 'unixepoch') AS written, m.size, m.path, m.error
  FROM mlflow_models AS m
) WHERE change IS NOT NULL;

-- run_files. The statements are in a trigger so that they succeed or fail together. Paths are those of the catalog, on this host.
-- `logged` is the end of the run, when its artifacts existed.
CREATE TEMP VIEW mlflow_refresh(database) AS SELECT NULL;
CREATE TEMP TRIGGER mlflow_refresh INSTEAD OF INSERT ON mlflow_refresh BEGIN
  DELETE FROM run_files WHERE tracker = 'mlflow' AND database = NEW.database AND host IN ('', zt_host());
  INSERT INTO run_files(tracker, database, run, name, status, path, logged, host)
  SELECT 'mlflow', NEW.database, run, name,
    CASE status WHEN 'FINISHED' THEN 'finished' WHEN 'FAILED' THEN 'failed' WHEN 'RUNNING' THEN 'running' ELSE status END,
    zt_absolute(path), ended, zt_host()
  FROM mlflow_models;
END;
INSERT INTO mlflow_refresh SELECT file FROM pragma_database_list WHERE name = 'mlflow';
