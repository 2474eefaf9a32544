-- optuna.sql: Optuna's trials joined with the tensor files that they refer to.
--
-- It needs the tables and views of catalog.sql in the main database, and the database of an RDBStorage (Optuna 3 or later) attached as
-- optuna, which is only read. :artifacts is the directory of the FileSystemArtifactStore, if there is one:
--
--   sqlite3 -box catalog.db ".load ./ztensor" ".read sql/catalog.sql" ".parameter set :artifacts artifacts" \
--     "ATTACH 'file:optuna.db?mode=ro' AS optuna" ".read sql/optuna.sql" \
--     "SELECT * FROM optuna_best_models WHERE rank <= 5 ORDER BY study, objective, rank"
--
-- The views read the tensor files themselves, so they work before any file is in the catalog, even with `sqlite3 :memory:`. The views
-- are temporary: read this script in each session. The script also brings run_files up to date for this database.
--
-- A directory with a space or a special character in its name needs both quotes: .parameter set :artifacts "'my artifacts'".
--
-- A trial, or a study, refers to a tensor file in one of two ways: by an artifact whose filename matches the view file_names, or
-- by a user attribute whose text ends in such a name. The text is a path or file: URI, alone or in a list or dict. Relative paths are relative to
-- the directory of the session.

DROP VIEW IF EXISTS temp.optuna_references;
DROP VIEW IF EXISTS temp.optuna_models;
DROP VIEW IF EXISTS temp.optuna_best_models;
DROP VIEW IF EXISTS temp.optuna_failed_models;
DROP VIEW IF EXISTS temp.optuna_changed_models;
DROP VIEW IF EXISTS temp.optuna_refresh;
DROP TABLE IF EXISTS temp.optuna_store;

-- A view cannot have parameters.
CREATE TEMP TABLE optuna_store AS SELECT :artifacts AS directory;

-- Which files do trials and studies (trial_id is NULL) refer to, and by which name? `source` is NULL if the file is not on this
-- machine, or in a store that was not named.
CREATE TEMP VIEW optuna_references(study_id, trial_id, name, location, source) AS
WITH user(study_id, trial_id, key, value) AS (
  SELECT t.study_id, a.trial_id, a.key, a.value_json
  FROM optuna.trial_user_attributes AS a JOIN optuna.trials AS t ON t.trial_id = a.trial_id
  UNION ALL SELECT study_id, NULL, key, value_json FROM optuna.study_user_attributes
),
system(study_id, trial_id, key, value) AS (
  SELECT t.study_id, a.trial_id, a.key, a.value_json
  FROM optuna.trial_system_attributes AS a JOIN optuna.trials AS t ON t.trial_id = a.trial_id
  UNION ALL SELECT study_id, NULL, key, value_json FROM optuna.study_system_attributes
),
-- An artifact's JSON is in a JSON string.
artifact(study_id, trial_id, value) AS (
  SELECT study_id, trial_id, json_extract(value, '$') FROM system
  WHERE CASE WHEN key GLOB 'artifacts:*' AND json_valid(value) THEN json_valid(json_extract(value, '$')) END
),
-- The file `called` is at the location.
named(study_id, trial_id, name, location, called) AS (
  SELECT u.study_id, u.trial_id, u.key, j.atom, j.atom
  FROM user AS u JOIN json_tree(CASE WHEN json_valid(u.value) THEN u.value END) AS j WHERE j.type = 'text'
  UNION ALL
  SELECT study_id, trial_id, json_extract(value, '$.filename'), s.directory || '/' || json_extract(value, '$.artifact_id'),
    json_extract(value, '$.filename')
  FROM artifact CROSS JOIN temp.optuna_store AS s
),
reference(study_id, trial_id, name, location) AS (
  SELECT study_id, trial_id, name, location FROM named
  WHERE EXISTS (SELECT 1 FROM file_names WHERE '/' || lower(called) GLOB '*/' || pattern)
),
-- Special characters of patterns are put in brackets, because the name of a missing file must not match other files.
escaped(study_id, trial_id, name, location, source) AS (
  SELECT study_id, trial_id, name, location, replace(replace(replace(location, '[', '[[]'), '*', '[*]'), '?', '[?]')
  FROM reference
)
SELECT study_id, trial_id, name, location, CASE
  WHEN location NOT GLOB '[A-Za-z]*:*' OR substr(location, 1, instr(location, ':') - 1) GLOB '*[^-+.0-9A-Za-z]*' THEN source
  WHEN (location GLOB 'file:/[^/]*' OR location GLOB 'file:///*' OR location GLOB 'file://localhost/*')
    AND location NOT GLOB '*[?#]*' AND location NOT GLOB '*%[^0-9A-Fa-f]*' AND location NOT GLOB '*%[0-9A-Fa-f][^0-9A-Fa-f]*'
    AND location NOT GLOB '*%00*'
  THEN replace(replace(replace(replace(replace(replace(source,
    '%5B', '[%5B]'), '%5b', '[%5b]'), '%2A', '[%2A]'), '%2a', '[%2a]'), '%3F', '[%3F]'), '%3f', '[%3f]')
  END
FROM escaped;

-- Which tensor files does each trial or study refer to, and what do they contain? `error` is the reason why a file cannot be read.
-- CROSS JOIN keeps the order: only files of the requested trials are opened. total() cannot overflow. Times are UTC in a database that
-- Optuna 5 made. In older databases they are the local time of the trial, taken here as the local time of the session.
CREATE TEMP VIEW optuna_models AS
SELECT s.study_name AS study, t.number AS trial, t.state AS state, r.name AS name,
  CASE WHEN f.path IS NOT NULL AND f.error IS NULL
    THEN (SELECT CAST(total(elements) AS INTEGER) FROM zt_objects(f.path, 'skip')) END AS parameters,
  (SELECT group_concat(type) FROM (SELECT DISTINCT type FROM zt_objects(f.path, 'skip') ORDER BY type)) AS dtypes,
  f.size AS size, coalesce(f.path, r.location) AS path,
  CASE WHEN r.source IS NULL THEN 'not a file here' WHEN f.path IS NULL THEN 'no such file' ELSE f.error END AS error,
  f.mtime AS mtime,
  round((CASE WHEN CAST(v.library_version AS INTEGER) < 5 THEN julianday(t.datetime_complete, 'utc')
    ELSE julianday(t.datetime_complete) END - 2440587.5) * 86400, 3) AS ended, r.study_id, r.trial_id
FROM optuna_references AS r
CROSS JOIN optuna.version_info AS v
CROSS JOIN optuna.studies AS s ON s.study_id = r.study_id
LEFT JOIN optuna.trials AS t ON t.trial_id = r.trial_id
-- A directory is not a model, whatever its name.
LEFT JOIN zt_files(r.source) AS f ON f.path = r.location OR r.location GLOB 'file:*' OR r.location GLOB '~/*';

-- Which completed trials did best, by study and objective in its direction, and how large are their models? Trials that violate a
-- constraint do not count, as in Optuna's best_trial. A missing rank is a trial without models.
CREATE TEMP VIEW optuna_best_models AS
WITH completed AS (
  SELECT t.trial_id, t.study_id, v.objective, d.direction,
    CASE v.value_type WHEN 'INF_POS' THEN 9e999 WHEN 'INF_NEG' THEN -9e999 ELSE v.value END AS value
  FROM optuna.trials AS t
  JOIN optuna.trial_values AS v ON v.trial_id = t.trial_id
  JOIN optuna.study_directions AS d ON d.study_id = t.study_id AND d.objective = v.objective
  WHERE t.state = 'COMPLETE' AND NOT EXISTS (
    SELECT 1 FROM optuna.trial_system_attributes AS a JOIN json_tree(CASE WHEN json_valid(a.value_json) THEN a.value_json END) AS j
    WHERE a.trial_id = t.trial_id AND (a.key = 'constraints' OR a.key GLOB 'constraints:*') AND j.atom > 0)
),
ranked AS (
  SELECT *, rank() OVER (
    PARTITION BY study_id, objective ORDER BY CASE direction WHEN 'MAXIMIZE' THEN -value ELSE value END) AS rank
  FROM completed
)
SELECT m.study, b.objective, b.direction, b.rank, b.value, m.trial, m.name, m.parameters, m.dtypes, m.size, m.path, m.error
FROM ranked AS b CROSS JOIN optuna_models AS m ON m.trial_id = b.trial_id;

-- Which models did failed trials leave behind?
CREATE TEMP VIEW optuna_failed_models AS
SELECT study, trial, state, name, parameters, dtypes, size, path, error FROM optuna_models WHERE state = 'FAIL';

-- Which models changed since their trial, or are gone? The view lists files that were written more than a minute after the trial
-- completed, because the trial's time and the file's may come from different clocks. An artifact that was uploaded late, after its
-- trial, is among them. A missing file has no time, and `error` gives the reason.
CREATE TEMP VIEW optuna_changed_models AS
SELECT study, trial, state, name, CASE WHEN mtime IS NULL THEN 'gone' ELSE 'written after the trial' END AS change,
  datetime(ended, 'unixepoch') AS ended, datetime(mtime, 'unixepoch') AS written, size, path, error
FROM optuna_models WHERE mtime > ended + 60 OR (mtime IS NULL AND error <> 'not a file here');

-- run_files. The statements are in a trigger so that they succeed or fail together. Paths are those of the catalog, on this host. A run
-- is a trial, by its id; files of a study have the run 'study:ID'. `logged` is the end of the trial, when its files existed.
CREATE TEMP VIEW optuna_refresh(database) AS SELECT NULL;
CREATE TEMP TRIGGER optuna_refresh INSTEAD OF INSERT ON optuna_refresh BEGIN
  DELETE FROM run_files WHERE tracker = 'optuna' AND database = NEW.database AND host IN ('', zt_host());
  INSERT OR IGNORE INTO run_files(tracker, database, run, name, status, path, logged, host)
  SELECT 'optuna', NEW.database, coalesce(trial_id, 'study:' || study_id), study || coalesce('/' || trial, ''),
    CASE state WHEN 'COMPLETE' THEN 'finished' WHEN 'FAIL' THEN 'failed' WHEN 'RUNNING' THEN 'running' ELSE state END, zt_absolute(path), ended, zt_host()
  FROM optuna_models WHERE error IS NOT 'not a file here';
END;
INSERT INTO optuna_refresh SELECT file FROM pragma_database_list WHERE name = 'optuna';
