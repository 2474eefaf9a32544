#!/bin/sh
# The main paths of the extension in the sqlite3 shell under valgrind: no bad read or write, no use of what is not
# initialized, nothing leaked. Prints valgrind's own summary; fails if there is an error, or if the script did not run as
# it should.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Broken files, beside the good ones: cut short, empty, and one that is no tensor file.
mkdir -p "$work/broken"
head -c 500 tests/formats/ztensor/golden/v1.2/hand_zstd.zt >"$work/broken/cut.zt"
: >"$work/broken/empty.zt"
cp Makefile "$work/broken/text.zt"
cp tests/formats/ztensor/golden/v1.1/hand_digests.zt "$work/broken/good.zt"

# Statements that must fail stand between the lines "-- FAIL" and "-- WORK": one a line. All others must not.
cat >"$work/script.sql" <<SQL
.load ./ztensor
.mode quote
SELECT zt_version() <> '';

-- Every table over every golden file: by a directory, a pattern, and one by one
SELECT sum(length(path) + coalesce(size, 0) + mtime), count(error), sum(length(attributes)) FROM zt_files('tests/formats/ztensor/golden');
SELECT count(*), sum(objects), sum(components), sum(stored_bytes), sum(decoded_bytes), sum(manifest_bytes),
       count(DISTINCT version) FROM zt_files('tests/formats/ztensor/golden/**/*.zt');
SELECT format, dtype, type, count(*), sum(elements), sum(length(shape)), sum(length(attributes)), sum(stored_bytes)
  FROM zt_objects('tests/formats/ztensor/golden/v*/*.zt') GROUP BY 1, 2, 3;
SELECT dtype, type, encoding, byte_order, count(*), sum(length), sum(decoded_length), count(digest)
  FROM zt_components('tests/formats/ztensor/golden') GROUP BY 1, 2, 3, 4;
SELECT type, count(*), sum(length(key)), sum(length(value)) FROM zt_attributes('tests/formats/ztensor/golden') GROUP BY 1;
SELECT digest_status, count(*), sum(length(stored)) FROM zt_components('tests/formats/ztensor/golden/v*/[cw]*.zt') GROUP BY 1;
SELECT sum(length(zt_manifest(path))) FROM zt_files('tests/formats/ztensor/golden');
SELECT count(*) FROM zt_files('file:tests/formats/ztensor/golden/v1.2/hand_zst%64.zt');

-- Images in BLOBs, joined laterally
CREATE TEMP TABLE models AS SELECT path AS name, readfile(path) AS image FROM zt_files('tests/formats/ztensor/golden/v*/hand_*.zt') WHERE path NOT LIKE '%sharded%';
SELECT count(*), sum(o.elements) FROM models, zt_objects(models.image) AS o;
SELECT count(*), sum(length(c.stored)), count(c.digest_status) FROM models, zt_components(models.image) AS c;
SELECT count(*), sum(f.objects), count(f.path) FROM models, zt_files(models.image) AS f;
SELECT count(*), sum(length(a.value)) FROM models, zt_attributes(models.image) AS a;
SELECT sum(length(zt_manifest(image))) FROM models;

-- What the planner pushes down
SELECT count(*) FROM zt_objects('tests/formats/ztensor/golden') WHERE path = 'tests/formats/ztensor/golden/v1.0/wheel_csr.zt';
SELECT count(*) FROM zt_objects('tests/formats/ztensor/golden') WHERE path LIKE '%names%' AND object IN ('a', 'w', 'x', NULL, 'none');
SELECT count(*) FROM zt_components('tests/formats/ztensor/golden') WHERE path GLOB '*sparse*' AND object = 'csr.f32';
SELECT count(*) FROM zt_files('tests/formats/ztensor/golden') AS f JOIN zt_objects(f.path) AS o USING (path) WHERE f.version > '1.1';
SELECT count(*) FROM zt_objects('tests/formats/ztensor/golden/v1.0') AS o LEFT JOIN zt_components(o.path) AS c USING (path, object);
SELECT path FROM zt_files('tests/formats/ztensor/golden/v1.1') ORDER BY path LIMIT 3;

-- Bytes: raw and zstd, whole and in ranges, from files and images
SELECT sum(length(zt_blob(path, object, component))), sum(length(zt_blob(path, object, component, 3, 5)))
  FROM zt_components('tests/formats/ztensor/golden/v*/wheel_*.zt');
SELECT sum(length(data)) FROM zt_components('tests/formats/ztensor/golden/v*/[cw]*zstd.zt');
SELECT sum(length(zt_blob(path, object, component, decoded_length/2, 1000)))
  FROM zt_components('tests/formats/ztensor/golden/v1.2/wheel_zstd.zt') WHERE encoding = 'zstd';
SELECT sum(length(zt_blob(readfile(path), object, component, 1, 100)))
  FROM zt_components('tests/formats/ztensor/golden/v1.[01]/wheel_zstd.zt') WHERE encoding = 'zstd';

-- Values of every kind: dense, sparse, quantized, raw and zstd
SELECT count(error), sum(elements), sum(zeros), sum(nans), count(min), count(std) FROM zt_stats('tests/formats/ztensor/golden');
SELECT count(*) FROM (SELECT zt_dense(path, object) AS a, zt_dense(path, object, 'f32') AS b, zt_json(path, object) AS c
  FROM zt_stats('tests/formats/ztensor/golden/v*/[hw]*.zt') WHERE error IS NULL AND elements BETWEEN 1 AND 1000) WHERE length(a) + length(b) + length(c) > 0;
SELECT sum(length(coords)), count(value), count(DISTINCT position) FROM zt_objects('tests/formats/ztensor/golden/v*/*sparse*.zt') AS o
  JOIN zt_stats(o.path) AS s USING (path, object) JOIN zt_elements(o.path, o.object) AS e WHERE s.error IS NULL;
SELECT count(vector), sum(row) FROM zt_rows('tests/formats/ztensor/golden/v1.2/wheel_quantized.zt', 'q_proj.z', 'bf16') WHERE row BETWEEN 3 AND 40;
SELECT rule, count(*) FROM zt_check('tests/formats/ztensor/golden/v2', 'full') GROUP BY 1;
SELECT count(zt_content_id(path)), count(*) FROM zt_files('tests/formats/ztensor/golden/v2');
SELECT count(fingerprint), count(fingerprint_error) FROM zt_objects('tests/formats/ztensor/golden');
SELECT count(zt_fingerprint(path)), count(*) FROM zt_files('tests/formats/ztensor/golden/v2') WHERE path NOT GLOB '*_bad_*' AND path NOT GLOB '*_missing*';
SELECT count(s.mean), count(s.error), sum(length(c.data)) FROM zt_components('tests/formats/ztensor/golden/v2/[cw]*.zt') AS c
  JOIN zt_stats(c.path) AS s USING (path, object);
SELECT length(zt_dense('tests/formats/ztensor/golden/v2/hand_sharded.zt', 'far')), hex(zt_blob('tests/formats/ztensor/golden/v2/hand_seekable_frames.zt', 'w', 'data', 1000, 9));
SELECT zt_value('tests/formats/ztensor/golden/v1.2/wheel_quantized.zt', 'q_proj.z', 63, 255);
SELECT zt_hash('tests/formats/ztensor/golden/v1.2/wheel_quantized.zt', 'q_proj.z', 'scales', column1) FROM (VALUES ('sha256'), ('crc32c'), ('xxh3'));

-- Findings: quick and full, of files, images and of paths that name nothing; the first one alone
SELECT severity, rule, count(*), count(object), sum(length(message)) FROM zt_check('tests/formats/ztensor/golden') GROUP BY 1, 2;
SELECT severity, rule, count(*), count(component), sum(length(message)) FROM zt_check('tests/formats/ztensor/golden', 'full') GROUP BY 1, 2;
SELECT rule, count(*), sum(length(message) + length(meaning) + length(specification)) FROM zt_check('tests/formats/ztensor/hostile', 'full') GROUP BY 1;
SELECT count(*), count(c.path), count(DISTINCT c.rule) FROM models, zt_check(models.image, 'full') AS c;
SELECT rule, c.path FROM (VALUES ('$work/none.zt'), (NULL), ('$work/broken'), (x'00')) AS v, zt_check(v.column1) AS c;
SELECT rule FROM zt_check('tests/formats/ztensor/golden', 'full') LIMIT 1;

-- Files that cannot be read
SELECT count(*), count(error), count(objects) FROM zt_files('$work/broken');
SELECT count(*) FROM zt_objects('$work/broken', 'skip');
SELECT count(*), count(error) FROM zt_files('tests/formats/ztensor/hostile');
SELECT count(*) FROM zt_objects('tests/formats/ztensor/hostile', 'skip');
SELECT count(*) FROM zt_attributes('tests/formats/ztensor/hostile', 'skip');
SELECT count(*) FROM zt_components('tests/formats/ztensor/hostile', 'skip');
SELECT count(*) FROM zt_objects(NULL);
-- FAIL
SELECT * FROM zt_objects('$work/broken');
SELECT * FROM zt_objects('$work/broken/cut.zt');
SELECT * FROM zt_components('$work/broken/empty.zt', 'abort');
SELECT * FROM zt_attributes('$work/none.zt');
SELECT * FROM zt_objects('tests/formats/ztensor/golden', 'perhaps');
SELECT * FROM zt_check('tests/formats/ztensor/golden', 'perhaps');
SELECT * FROM zt_objects;
SELECT * FROM zt_objects(42);
SELECT zt_blob('$work/broken/good.zt', 'none');
SELECT zt_blob('tests/formats/ztensor/golden/v1.0/wheel_csr.zt', object) FROM zt_objects('tests/formats/ztensor/golden/v1.0/wheel_csr.zt');
SELECT zt_blob('tests/formats/ztensor/golden/v1.0/wheel_csr.zt', object, 'value') FROM zt_objects('tests/formats/ztensor/golden/v1.0/wheel_csr.zt');
SELECT zt_blob('tests/formats/ztensor/golden/v1.0/wheel_csr.zt', object, 'values', -1, 2) FROM zt_objects('tests/formats/ztensor/golden/v1.0/wheel_csr.zt');
SELECT zt_blob('tests/formats/ztensor/golden/v1.2/hand_zstd.zt', 'wrong_uncompressed_length');
SELECT zt_dense('tests/formats/ztensor/golden/v1.2/hand_bad_objects.zt', 'index_huge');
SELECT zt_dense('tests/formats/ztensor/golden/v1.2/hand_zstd.zt', 'corrupt', 'f64');
SELECT zt_json('tests/formats/ztensor/golden/v1.2/hand_bad_objects.zt', 'coo_out_of_range');
SELECT * FROM zt_elements('tests/formats/ztensor/golden/v1.2/hand_bad_objects.zt', 'indptr_decreasing');
SELECT * FROM zt_rows('tests/formats/ztensor/golden/v1.2/wheel_dtypes.zt', 'none');
SELECT zt_manifest(x'00');
SELECT zt_manifest('tests/formats/ztensor/golden/*');
CREATE VIRTUAL TABLE temp.wrong USING zt_objects(a, b, c);
DELETE FROM zt_objects WHERE source = 'tests/formats/ztensor/golden';
-- WORK

-- Named tables, a view, and a file that changes while it is in the cache
CREATE VIRTUAL TABLE temp.golden USING zt_objects('tests/formats/ztensor/golden/v1.*/*.zt', skip);
CREATE VIRTUAL TABLE temp.unreadable USING zt_files('$work/broken');
CREATE TEMP VIEW weights AS SELECT * FROM zt_objects('tests/formats/ztensor/golden/v0.1') WHERE rank = 2;
SELECT count(*) FROM golden;
SELECT count(*) FROM golden AS g RIGHT JOIN unreadable AS u ON g.path = u.path;
SELECT count(*) FROM weights;
DROP TABLE unreadable;
SELECT zt_blob('$work/broken/good.zt', object) IS NULL FROM zt_objects('$work/broken/good.zt') LIMIT 1;
SELECT writefile('$work/broken/good.zt', readfile('tests/formats/ztensor/golden/v1.2/hand_names.zt')) > 0;
SELECT count(*) FROM zt_objects('$work/broken/good.zt');

-- Again, and by the other entry point, in vain: the first is in force
.load ./ztensor
SELECT load_extension('./ztensor');
-- FAIL
SELECT load_extension('./ztensor', 'sqlite3_ztensor_nofs_init');
-- WORK
SELECT count(*) FROM zt_objects('tests/formats/ztensor/golden/v1.2');

-- A new connection with the other entry point
.open :memory:
.load ./ztensor sqlite3_ztensor_nofs_init
SELECT count(*), sum(length(data)) FROM zt_components(readfile('tests/formats/ztensor/golden/v1.2/wheel_sparse.zt'));
SELECT rule, count(*) FROM zt_check(readfile('tests/formats/ztensor/golden/v1.2/wheel_sparse.zt'), 'full') GROUP BY 1;
-- FAIL
SELECT * FROM zt_check('tests/formats/ztensor/golden/v1.2/wheel_sparse.zt');
SELECT count(*) FROM zt_components('tests/formats/ztensor/golden/v1.2/wheel_sparse.zt');
SELECT zt_blob('tests/formats/ztensor/golden/v1.2/wheel_sparse.zt', 'x');
-- WORK
SELECT 'the end';
SQL

status=0
valgrind -q --log-file="$work/log" --error-exitcode=99 --track-origins=yes --leak-check=full \
  --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible -v \
  sqlite3 -batch :memory: <"$work/script.sql" >"$work/out" 2>"$work/err" || status=$?

summary=$(grep 'ERROR SUMMARY' "$work/log" | tail -n 1)
echo "valgrind: ${summary#*== }"
if [ $status -eq 99 ] || ! echo "$summary" | grep -q 'ERROR SUMMARY: 0 errors'; then
  cat "$work/log"
  exit 1
fi

# It is the script that was checked: it came to its end, and exactly the statements failed that must.
must_fail=$(awk '/^-- FAIL$/{ on=1 } /^-- WORK$/{ on=0 } on && /^[A-Z]/{ n++ } END{ print n+0 }' "$work/script.sql")
did_fail=$(awk '/ error near line /{ n++ } END{ print n+0 }' "$work/err")
rows=$(wc -l <"$work/out")
echo "valgrind: $rows rows, $did_fail statements failed, of which $must_fail must"
if [ "$(tail -n 1 "$work/out")" != "'the end'" ] || [ "$did_fail" -ne "$must_fail" ]; then
  cat "$work/out" "$work/err"
  exit 1
fi
