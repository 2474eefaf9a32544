-- migrate.sql: converts a catalog of the first version, whose tables have no version number, to the current version, with catalog.sql:
--
--   sqlite3 -bail catalog.db "BEGIN IMMEDIATE" ".read sql/migrate.sql" ".read sql/catalog.sql" COMMIT
--
-- The command is one transaction. This script moves the old tables out of the way, and catalog.sql takes over their rows and drops
-- them; nothing is lost in between. Rows are kept as they are. But the first version did not keep the host of a path, nor the directory
-- of a relative path, so the paths are on a host without a name. The next refresh of the same source, in the same spelling and from the
-- same directory, takes them over, and reads the files again.

DROP TABLE IF EXISTS temp.migrate_check;
CREATE TEMP TABLE migrate_check(found);
CREATE TEMP TRIGGER migrate_check_insert BEFORE INSERT ON migrate_check WHEN NOT NEW.found BEGIN
  SELECT RAISE(ABORT, 'this database has no catalog of the first version: sql/catalog.sql alone will do');
END;
INSERT INTO migrate_check
SELECT (SELECT application_id FROM pragma_application_id) = 0
   AND (SELECT count(*) FROM main.sqlite_master
        WHERE type = 'table' AND name IN ('files', 'objects', 'components', 'attributes', 'run_files')) = 5
   AND EXISTS (SELECT 1 FROM pragma_table_info('files', 'main') WHERE name = 'refreshed');
DROP TABLE temp.migrate_check;

SAVEPOINT migrate;
DROP TRIGGER main.files_delete;
DROP VIEW IF EXISTS main.file_names;
DROP VIEW IF EXISTS main.sources;
DROP VIEW IF EXISTS main.broken;
DROP VIEW IF EXISTS main.generations;
DROP VIEW IF EXISTS main.models;
DROP VIEW IF EXISTS main.names;
DROP VIEW IF EXISTS main.architectures;
DROP VIEW IF EXISTS main.file_attributes;
DROP VIEW IF EXISTS main.runs;
DROP VIEW IF EXISTS main.digests;
DROP VIEW IF EXISTS main.duplicates;
DROP VIEW IF EXISTS main.copies;
DROP VIEW IF EXISTS main.tied_weights;
DROP VIEW IF EXISTS main.component_pairs;
DROP VIEW IF EXISTS main.differences;
DROP VIEW IF EXISTS main.dtype_shares;
DROP VIEW IF EXISTS main.dtype_totals;
DROP VIEW IF EXISTS main.format_shares;
DROP VIEW IF EXISTS main.format_totals;
DROP VIEW IF EXISTS main.largest_tensors;
DROP VIEW IF EXISTS main.licences;
DROP VIEW IF EXISTS main.unlicensed_files;
DROP VIEW IF EXISTS main.missing_digests;
DROP VIEW IF EXISTS main.unreferenced_files;
DROP VIEW IF EXISTS main.lost_runs;
ALTER TABLE main.files RENAME TO older_files;
ALTER TABLE main.objects RENAME TO older_objects;
ALTER TABLE main.components RENAME TO older_components;
ALTER TABLE main.attributes RENAME TO older_attributes;
ALTER TABLE main.run_files RENAME TO older_run_files;
DROP INDEX IF EXISTS main.run_files_path;
DROP INDEX IF EXISTS main.attributes_key;
DROP INDEX IF EXISTS main.attributes_path;
DROP INDEX IF EXISTS main.objects_object;
RELEASE migrate;
