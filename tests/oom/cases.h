/*
** Statements over every table, function, argument and column; test_sql.c compares with what the extension registers. Files are
** small: each statement runs once for each of its allocations.
*/
#ifndef ZT_TESTS_OOM_CASES_H
#define ZT_TESTS_OOM_CASES_H

#include "sweep.h"
#include "tree.h"

#define V0 "tests/formats/ztensor/golden/v0.1/"
#define V10 "tests/formats/ztensor/golden/v1.0/"
#define V11 "tests/formats/ztensor/golden/v1.1/"
#define V12 "tests/formats/ztensor/golden/v1.2/"
#define V2 "tests/formats/ztensor/golden/v2/"
#define HOSTILE "tests/formats/ztensor/hostile/"
#define GGUF "tests/formats/gguf/"
#define PYTORCH "tests/formats/pytorch/"
#define NUMPY "tests/formats/"
#define ONNX "tests/formats/onnx/"
#define SMALL V12 "wheel_save_file.zt"
#define TYPED " WHERE type NOT GLOB 'acme*'"

static const oom_case cases[] = {
  /* Every column of every table, of a file and of a BLOB */
  { .sql = "SELECT *, source, rowid FROM zt_files('" V12 "wheel_attributes.zt')" },
  { .sql = "SELECT *, source, rowid FROM zt_files(?1)", .image = V12 "wheel_attributes.zt" },
  { .sql = "SELECT *, source, on_error, rowid FROM zt_objects('" V12 "wheel_attributes.zt')" },
  { .sql = "SELECT *, source, on_error, rowid FROM zt_objects(?1, 'skip')", .image = V0 "hand_custom_fields.zt" },
  { .sql = "SELECT *, source, on_error, \"too many arguments\", data, stored, digest_status, hash, rowid FROM zt_components('" V11 "wheel_levels.zt')" },
  { .sql = "SELECT *, source, on_error, data, stored, digest_status, hash, rowid FROM zt_components(?1, 'abort')", .image = SMALL },
  { .sql = "SELECT *, source, on_error, rowid FROM zt_attributes('" V12 "hand_attributes.zt')" },
  { .sql = "SELECT *, \"too many arguments\", stored_type, source, on_error, rowid FROM zt_attributes(?1)", .image = V2 "hand_attribute_kinds.zt" },
  { .sql = "SELECT *, source, object, on_error, rowid FROM zt_elements('" SMALL "', 'blk.0.attn.q')" },
  { .sql = "SELECT *, source, object, rowid FROM zt_elements(?1, 'csr.f32')", .image = V12 "hand_sparse.zt" },
  { .sql = "SELECT *, rowid FROM zt_elements('" V12 "hand_sparse.zt', 'csr.unsorted')"
           " ORDER BY position" },
  { .sql = "SELECT *, rowid FROM zt_elements('" V12 "hand_sparse.zt', 'coo.duplicate')"
           " ORDER BY path, position LIMIT 2" },
  { .sql = "SELECT *, source, object, dtype, on_error, rowid FROM zt_rows('" SMALL "', 'blk.0.attn.q', 'f16')" },
  { .sql = "SELECT *, source, object, dtype, rowid FROM zt_rows(?1, 'csr.f32')", .image = V12 "hand_sparse.zt" },
  { .sql = "SELECT *, source, on_error, rowid FROM zt_stats('" SMALL "')" },
  { .sql = "SELECT *, source, on_error, rowid FROM zt_stats(?1, 'skip')", .image = V12 "hand_bad_objects.zt" },
  { .sql = "SELECT *, source, level, \"too many arguments\", meaning, specification, rowid FROM zt_check('" V12 "hand_bad_objects.zt', 'full')" },
  { .sql = "SELECT *, source, level, meaning, specification, rowid FROM zt_check(?1)", .image = V12 "hand_unknown_type.zt" },
  { .sql = "SELECT *, rowid FROM zt_rules" },
  { .sql = "SELECT *, source, object, other_source, other_object, rowid FROM zt_compare('" SMALL "', 'blk.0.attn.q', '" SMALL "', 'blk.0.attn.k')" },
  { .sql = "SELECT c.* FROM zt_objects(?1) AS o, zt_compare(?1, o.object, ?1, 'csr.f32') AS c", .image = V12 "hand_sparse.zt" },
  { .sql = "SELECT *, source, object, bins, \"too many arguments\", rowid FROM zt_histogram('" SMALL "', 'blk.0.attn.q', 3)" },
  { .sql = "SELECT * FROM zt_histogram(?1, 'csr.f32')", .image = V12 "hand_sparse.zt" },

  /* Every function */
  { .sql = "SELECT zt_version()" },
  { .sql = "SELECT zt_manifest('" V12 "hand_attributes.zt')" },
  { .sql = "SELECT zt_manifest(?1)", .image = V2 "hand_unknown_fields.zt" },
  { .sql = "SELECT zt_content_id('" V2 "hand_unknown_fields.zt'), zt_content_id('" V2 "wheel_append.zt')" },
  { .sql = "SELECT zt_content_id(?1)", .image = V2 "hand_seekable_frames.zt" },
  { .sql = "SELECT zt_blob('" SMALL "', 'blk.0.attn.q'), zt_blob('" SMALL "', 'blk.0.attn.k', NULL), zt_blob('" SMALL "', 'blk.0.attn.k', 'data', 3, 7)" },
  { .sql = "SELECT zt_blob('" SMALL "', 'blk.0.attn.k', 'data', 90), zt_blob('" SMALL "', 'blk.0.attn.k', NULL, 3)" },
  { .sql = "SELECT zt_blob(?1, 'level19'), zt_blob(?1, 'level1', 'data', 100, 300)", .image = V11 "wheel_levels.zt" },
  { .sql = "SELECT zt_dense('" SMALL "', 'blk.0.attn.q'), zt_dense('" SMALL "', 'blk.0.attn.q', 'f32'), zt_dense('" SMALL "', 'blk.0.attn.k', 'f64', 1, 1)" },
  { .sql = "SELECT zt_dense('" SMALL "', 'blk.0.attn.k', 'torch.float32', 1), zt_dense('" SMALL "', 'blk.0.attn.q', 'BF16')" },
  { .sql = "SELECT zt_dense(?1, 'coo.f64'), zt_dense(?1, 'csr.i64', 'f32', 1, 2)", .image = V12 "hand_sparse.zt" },
  { .sql = "SELECT zt_json('" SMALL "', 'blk.0.attn.q')" },
  { .sql = "SELECT zt_json(?1, 'c64.zstd'), zt_json(?1, 'c128')", .image = V12 "hand_complex.zt" },
  { .sql = "SELECT zt_json('" SMALL "', 'blk.0.attn.q', 'f64'), zt_json('" SMALL "', 'blk.0.attn.k', NULL, 1), zt_json('" SMALL "', 'blk.0.attn.k', 'f16', 1, 1)" },
  { .sql = "SELECT zt_value('" SMALL "', 'blk.0.attn.q', 2, 3), zt_value('" V12 "hand_complex.zt', 'c64.scalar')" },
  { .sql = "SELECT zt_value(?1, 'coo.complex128', 2, 3)", .image = V12 "hand_sparse.zt" },
  { .sql = "SELECT zt_hash('" SMALL "', 'blk.0.attn.q', NULL, 'sha256'), zt_hash('" SMALL "', 'blk.0.attn.q', 'data', 'crc32c')" },
  { .sql = "SELECT zt_hash('" SMALL "', 'blk.0.attn.q', 'xxh3')" },
  { .sql = "SELECT zt_hash(?1, 'level9', 'data', 'xxh3'), zt_hash(?1, 'level9', 'data', 'sha256')", .image = V11 "wheel_levels.zt" },

  /* Layouts, types, encodings and digests, of every generation */
  { .sql = "SELECT object, zt_dense(path, object), zt_json(path, object) FROM zt_objects('" V0 "hand_sparse.zt') WHERE object GLOB '*f32' OR object = 'coo.zstd'" },
  { .sql = "SELECT object, zt_dense(path, object, 'f64') FROM zt_objects('" V0 "hand_big_endian.zt')" },
  { .sql = "SELECT object, zt_dense(path, object), zt_json(path, object) FROM zt_objects('" V10 "wheel_csr.zt')" },
  { .sql = "SELECT object, zt_dense(path, object, 'f32') FROM zt_objects('" V2 "wheel_sparse.zt')" },
  { .sql = "SELECT object, zt_dense(path, object, 'bf16') FROM zt_objects('" V2 "wheel_quant.zt')" TYPED },
  { .sql = "SELECT b.* FROM zt_rows('" V2 "wheel_quant.zt', 'mxfp4', 'f16') AS b" },
  { .sql = "SELECT sum(value), count(coords) FROM zt_elements('" V2 "wheel_quant.zt', 'affine') WHERE position < 40" },
  { .sql = "SELECT length(zt_dense('" V11 "hand_quantized.zt', 'u8.container', 'f16')), zt_value('" V11 "hand_quantized.zt', 'u8.container', 3, 4)" },
  { .sql = "SELECT object, zt_json(path, object) FROM zt_objects('" V2 "wheel_logical.zt')" TYPED " AND elements < 100" },
  { .sql = "SELECT object, zt_dense(path, object) FROM zt_objects('" V2 "wheel_zstd.zt')" },
  { .sql = "SELECT object, min, max, mean, std, l2 FROM zt_stats('" V2 "wheel_zstd.zt')" },
  { .sql = "SELECT object, mean FROM zt_stats('" V2 "wheel_quant.zt')" },
  { .sql = "SELECT count(*), sum(zeros) FROM zt_stats('" V12 "hand_sparse.zt')" },
  { .sql = "SELECT zt_dense(?1, 'w'), zt_blob(?1, 'w', 'data', 700, 50), zt_value(?1, 'w', 49, 9)", .image = V2 "hand_seekable_frames.zt" },
  { .sql = "SELECT zt_dense(s, 'w'), zt_blob(s, 'w', 'data', 700, 50), zt_hash(s, 'w', 'data', 'sha256') FROM (SELECT '" V2 "hand_seekable_frames.zt' AS s)" },
  { .sql = "SELECT object, component, digest, digest_status FROM zt_components('" V12 "hand_digests.zt')" },
  { .sql = "SELECT object, digest_status FROM zt_components(?1)", .image = V2 "hand_unknown_fields.zt" },
  { .sql = "SELECT object, digest_status, stored, shard FROM zt_components('" V2 "hand_sharded.zt')" },
  { .sql = "SELECT object, hash FROM zt_components('" V2 "hand_sharded_missing.zt', 'skip')" },
  { .sql = "SELECT object, hash FROM zt_components(?1, 'skip')", .image = V12 "hand_zstd.zt" },
  { .sql = "SELECT object, zt_dense(path, object) FROM zt_objects('" V2 "crate_overlay.zt')" },
  { .sql = "SELECT object, data FROM zt_components('" V0 "wheel_large.zt') LIMIT 1" },
  { .sql = "SELECT length(zt_blob('" TREE "/large', 'x')), length(zt_blob('" TREE "/large', 'x', 'data', 0, 6000000)), length(zt_dense('" TREE "/large', 'x'))" },
  { .sql = "SELECT path, min FROM zt_stats('" V2 "hand_sharded_missing.zt')" },
  { .sql = "SELECT * FROM zt_check('" V2 "hand_sharded_missing.zt', 'full')" },
  { .sql = "SELECT * FROM zt_check('" V2 "hand_sharded.zt', 'full')" },
  { .sql = "SELECT * FROM zt_check('" V2 "hand_bad_data.zt', 'full')" },
  { .sql = "SELECT * FROM zt_check('" V12 "hand_quantized.zt', 'full')" },
  { .sql = "SELECT * FROM zt_check('" V0 "hand_unrecognised.zt', 'full')" },
  { .sql = "SELECT * FROM zt_check('" V12 "hand_zstd.zt', 'full')" },
  { .sql = "SELECT * FROM zt_check('" V12 "hand_digests.zt', 'full')" },
  { .sql = "SELECT *, meaning, specification FROM zt_check('" V12 "hand_shared_blob.zt', 'quick')" },
  { .sql = "SELECT rule, message FROM zt_check('" HOSTILE "1.2-dup-object-name.zt', 'full')" },
  { .sql = "SELECT rule, message FROM zt_check('" TREE "/none.zt')" },

  /* GGUF */
  { .sql = "SELECT *, source FROM zt_files('" GGUF "golden/kv_nested.gguf')" },
  { .sql = "SELECT *, source, on_error FROM zt_objects(?1)", .image = GGUF "golden/names.gguf" },
  { .sql = "SELECT *, data, stored, digest_status, hash FROM zt_components('" GGUF "hostile/ok-backwards.gguf')" },
  { .sql = "SELECT *, stored_type, \"too many arguments\" FROM zt_attributes(?1)", .image = GGUF "golden/kv_nested.gguf" },
  { .sql = "SELECT object, zt_dense(path, object), zt_json(path, object) FROM zt_objects('" GGUF "golden/big_endian.gguf')" },
  { .sql = "SELECT zt_manifest('" GGUF "hostile/ok-mixed-nested.gguf'), zt_manifest(?1)", .image = GGUF "golden/align_64.gguf" },
  { .sql = "SELECT count(*), sum(length) FROM zt_components('" GGUF "hostile/ok-1000-keys.gguf')" },
  { .sql = "SELECT * FROM zt_check('" GGUF "hostile/unknown-type.gguf', 'full')" },
  { .sql = "SELECT rule, message FROM zt_check('" GGUF "hostile/duplicate-tensor.gguf')" },

  /* PyTorch */
  { .sql = "SELECT *, source FROM zt_files('" PYTORCH "golden/list.pt')" },
  { .sql = "SELECT *, source, on_error FROM zt_objects(?1)", .image = PYTORCH "golden/views.pt" },
  { .sql = "SELECT *, data, stored, digest_status, hash FROM zt_components('" PYTORCH "golden/modern_big.pt')" },
  { .sql = "SELECT *, stored_type, \"too many arguments\" FROM zt_attributes(?1)", .image = PYTORCH "golden/sparse_quantized.pt" },
  { .sql = "SELECT object, zt_json(path, object) FROM zt_objects('" PYTORCH "golden/protocol4.pt')" },
  { .sql = "SELECT zt_manifest('" PYTORCH "hostile/ok-collisions.pt'), zt_manifest(?1)", .image = PYTORCH "hostile/ok-code-everywhere.pt" },
  { .sql = "SELECT zt_manifest('" PYTORCH "hostile/ok-memo.pt'), zt_manifest(?1)", .image = PYTORCH "hostile/ok-cycle.pt" },
  { .sql = "SELECT * FROM zt_check('" PYTORCH "hostile/storage-without-header.pt', 'full')" },
  { .sql = "SELECT rule, message FROM zt_check('" PYTORCH "hostile/mark-missing.pt')" },
  { .sql = "SELECT rule, message FROM zt_check('" PYTORCH "hostile/legacy.pt')" },
  /* npy and npz */
  { .sql = "SELECT *, source FROM zt_files('" NUMPY "npy/golden/structured.npy')" },
  { .sql = "SELECT *, zt_manifest(?1) FROM zt_objects(?1)", .image = NUMPY "npy/golden/v3.npy" },
  { .sql = "SELECT object, zt_dense(path, object) FROM zt_objects('" NUMPY "npy/golden/big_fortran_c16.npy')" },
  { .sql = "SELECT *, source FROM zt_files('" NUMPY "npz/golden/mixed.npz')" },
  { .sql = "SELECT *, data, stored, digest_status, hash FROM zt_components('" NUMPY "npz/golden/deflated.npz')" },
  { .sql = "SELECT * FROM zt_attributes(?1)", .image = NUMPY "npz/golden/mixed.npz" },
  { .sql = "SELECT zt_manifest('" NUMPY "npz/golden/names.npz'), o.object, value FROM zt_objects('" NUMPY "npz/golden/names.npz') o"
           " JOIN zt_elements(o.path, o.object)" },
  { .sql = "SELECT object, mean FROM zt_stats('" NUMPY "npz/golden/zeros_deflated.npz')" },
  { .sql = "SELECT * FROM zt_check('" NUMPY "npz/hostile/deflate-bomb.npz', 'full')" },
  { .sql = "SELECT * FROM zt_check('" NUMPY "npz/hostile/method-zip-93.npz', 'full')" },
  { .sql = "SELECT rule, message FROM zt_check('" NUMPY "npz/hostile/name-twice.npz')" },
  { .sql = "SELECT object FROM zt_objects('" NUMPY "npz/hostile/ok-others.npz')" },
  /* ONNX */
  { .sql = "SELECT *, source FROM zt_files('" ONNX "golden/raw.onnx')" },
  { .sql = "SELECT *, source, on_error FROM zt_objects(?1)", .image = ONNX "golden/hand_nodes.onnx" },
  { .sql = "SELECT *, data, hash FROM zt_components('" ONNX "golden/hand_fields.onnx')" },
  { .sql = "SELECT stored FROM zt_components('" ONNX "golden/hand_fields.onnx')", .error = "its stored bytes are in several places" },
  { .sql = "SELECT *, data, digest_status FROM zt_components('" ONNX "golden/external/hand.onnx')" },
  { .sql = "SELECT object, zt_dense(path, object), zt_json(path, object) FROM zt_objects('" ONNX "golden/sparse_nodes.onnx')" },
  { .sql = "SELECT object, zt_dense(path, object, 'f64') FROM zt_objects('" ONNX "golden/other_types.onnx') WHERE object GLOB 'sub*' OR object GLOB 'f8typed*'" },
  { .sql = "SELECT * FROM zt_attributes('" ONNX "golden/other_types.onnx')" },
  { .sql = "SELECT zt_manifest('" ONNX "golden/hand_nodes.onnx'), zt_manifest(?1)", .image = ONNX "golden/external/model.onnx" },
  { .sql = "SELECT * FROM zt_check('" ONNX "hostile/external-past-end.onnx', 'full')" },
  { .sql = "SELECT * FROM zt_check('" ONNX "hostile/external-missing.onnx', 'full')" },
  { .sql = "SELECT rule, message FROM zt_check('" ONNX "hostile/depth-65.onnx')" },

  { .sql = "SELECT zt_threads(3), zt_threads() FROM zt_files('" ONNX "golden/raw.onnx')" },

  /* Sources: patterns, directories, URIs, and what cannot be read among them */
  { .sql = "SELECT path, size, objects FROM zt_files('" TREE "')" },
  { .sql = "SELECT path, error FROM zt_files('" TREE "/**/*.zt') ORDER BY path" },
  { .sql = "SELECT path FROM zt_files('" TREE "/*/[a-c]*.zt')" },
  { .sql = "SELECT path, size FROM zt_files('file:" TREE "/%61.zt')" },
  { .sql = "SELECT path, object FROM zt_objects('" TREE "', 'skip')" },
  { .sql = "SELECT path, object, component FROM zt_components('" TREE "/*.zt', 'skip')" },
  { .sql = "SELECT path, key FROM zt_attributes('" TREE "', 'skip')" },
  { .sql = "SELECT path, object, max FROM zt_stats('" TREE "', 'skip')" },
  { .sql = "SELECT path, rule, message FROM zt_check('" TREE "', 'full') WHERE severity = 'error'" },
  { .sql = "SELECT * FROM zt_objects('" TREE "')", .error = "cut" },
  { .sql = "SELECT path, size, error FROM zt_files('" HOSTILE "1.2-dup-*.zt')" },
  { .sql = "SELECT path, size, error FROM zt_files('[\"" TREE "/sub\", \"" TREE "/none.zt\", \"" TREE "/*.zt\", \"" TREE "/a.zt\"]')" },
  { .sql = "SELECT path, object FROM zt_objects('[\"file:" TREE "/a.zt\", \"" TREE "/c\\u0075t.zt\"]', 'skip')" },
  { .sql = "SELECT path, error FROM zt_files('~/none/none.zt')" },

  /* What is pushed down, and how tables are joined */
  { .sql = "SELECT c.rule, r.meaning FROM zt_check('" V12 "hand_bad_objects.zt', 'full') AS c JOIN zt_rules AS r USING (rule)" },
  { .sql = "SELECT path, object FROM zt_objects('" TREE "', 'skip') WHERE path = '" TREE "/a.zt'" },
  { .sql = "SELECT path, object FROM zt_objects('" TREE "', 'skip') WHERE path IN ('" TREE "/a.zt', '" TREE "/sub/b.zt')" },
  { .sql = "SELECT path, object FROM zt_objects('" TREE "', 'skip') WHERE path LIKE '%/a.zt' AND object IN ('blk.0.attn.q', 'blk.0.attn.k', NULL, 1)" },
  { .sql = "SELECT path, object FROM zt_components('" TREE "', 'skip') WHERE path GLOB '*/[ab].zt' AND object = 'blk.0.attn.q'" },
  { .sql = "SELECT position, value FROM zt_elements('" SMALL "', 'blk.0.attn.k') WHERE position > 2 AND position <= 5" },
  { .sql = "SELECT row, vector FROM zt_rows('" SMALL "', 'blk.0.attn.k') WHERE row = 1 OR row >= 2" },
  { .sql = "SELECT o.object, c.component FROM zt_files('" TREE "/*.zt') AS f JOIN zt_objects(f.path, 'skip') AS o JOIN zt_components(o.path) AS c USING (object)" },
  { .sql = "SELECT o.object, e.position, e.value FROM zt_objects('" SMALL "') AS o, zt_elements(o.path, o.object) AS e WHERE e.position < 3" },
  { .sql = "SELECT a.object, b.object FROM named AS a RIGHT JOIN other AS b ON a.object = b.object",
    .setup = "CREATE VIRTUAL TABLE temp.named USING zt_objects('" SMALL "'); CREATE VIRTUAL TABLE temp.other USING zt_objects('" V11 "wheel_levels.zt')" },
  { .sql = "SELECT object FROM zt_objects('" SMALL "') WHERE object = 'blk.0.attn.q' OR path LIKE '%file%'" },
  { .sql = "SELECT object, zt_hash(image, object, component, 'sha256') FROM models, zt_components(image) ORDER BY object",
    .setup = "CREATE TABLE models(image); INSERT INTO models VALUES ('" SMALL "')" },
  { .sql = "SELECT path, object FROM named WHERE rank = 2", .setup = "CREATE VIRTUAL TABLE temp.named USING zt_objects('" TREE "/*.zt', \"skip\")" },
  { .sql = "CREATE VIRTUAL TABLE main.named USING zt_rows('" SMALL "', 'blk.0.attn.q', 'f64')", .after = "SELECT name, sql FROM sqlite_schema" },
  { .sql = "SELECT row, vector, dtype FROM named", .setup = "CREATE VIRTUAL TABLE main.named USING zt_rows('" SMALL "', 'blk.0.attn.q', 'f64')" },
  { .sql = "INSERT INTO kept SELECT path, object, zt_blob(path, object) FROM zt_objects('" SMALL "')", .setup = "CREATE TABLE kept(a, b, c)", .after = "SELECT * FROM kept" },

  /* A database whose texts are UTF-16: each one that is looked at is converted first */
  { .sql = "SELECT path, object, shape, source, on_error FROM zt_objects('" TREE "', 'skip') WHERE path LIKE '%/a.zt' AND object IN ('blk.0.attn.q', 'x') ORDER BY path", .utf16 = true },
  { .sql = "SELECT *, source FROM zt_files('" SMALL "') WHERE path = '" SMALL "'", .utf16 = true },
  { .sql = "SELECT zt_blob('" SMALL "', 'blk.0.attn.q', 'data', '3', '7'), zt_hash('" SMALL "', 'blk.0.attn.q', 'data', 'sha256'), zt_dense('" SMALL "', 'blk.0.attn.q', 'f32')", .utf16 = true },
  { .sql = "SELECT *, source, level FROM zt_check('" V12 "hand_bad_objects.zt', 'full')", .utf16 = true },
  { .sql = "SELECT * FROM zt_rows('" SMALL "', 'blk.0.attn.q', 'f16'), zt_attributes('" V12 "wheel_attributes.zt') AS a WHERE a.path GLOB '*wheel*'", .utf16 = true },
  { .sql = "SELECT zt_blob('" SMALL "', 'blk.0.attn.q', 'data', 'three', 7)", .error = "'three'", .utf16 = true },
  { .sql = "SELECT path FROM named", .setup = "CREATE VIRTUAL TABLE temp.named USING zt_files('" TREE "/*.zt')", .utf16 = true },

  /* The entry point that opens no files */
  { .sql = "SELECT zt_version(), count(*) FROM zt_objects(?1)", .image = SMALL, .nofs = true },
  { .sql = "SELECT zt_blob('" SMALL "', 'x')", .error = "opens no files", .nofs = true },
  { .sql = "SELECT * FROM zt_objects('" SMALL "')", .error = "opens no files", .nofs = true },
  { .sql = "SELECT path, message FROM zt_check('" SMALL "')", .error = "opens no files", .nofs = true },

  /* Failures: their own message, or SQLITE_NOMEM, and no other one */
  { .sql = "SELECT * FROM zt_objects('" TREE "/cut.zt')", .error = "cut.zt" },
  { .sql = "SELECT * FROM zt_objects('" TREE "/loop.zt')", .error = "loop.zt" },
  { .sql = "SELECT * FROM zt_components('" TREE "/directory.zt/x')", .error = "cannot open" },
  { .sql = "SELECT * FROM zt_objects('" TREE "/directory.zt', 'maybe')", .error = "on_error must be" },
  { .sql = "SELECT zt_manifest('" TREE "/directory.zt')", .error = "is a directory" },
  { .sql = "SELECT zt_manifest('" TREE "/*.zt')", .error = "not a pattern" },
  { .sql = "SELECT zt_manifest('file:a%zz')", .error = "percent-encoding" },
  { .sql = "SELECT zt_manifest('[\"a.zt\"]')", .error = "not a list" },
  { .sql = "SELECT * FROM zt_objects('[\"" TREE "/a.zt\", 7]', 'skip')", .error = "element 1 is a number" },
  { .sql = "SELECT zt_manifest('file://elsewhere/a')", .error = "localhost" },
  { .sql = "SELECT * FROM zt_objects(42)", .error = "not a number" },
  { .sql = "SELECT * FROM zt_objects(zeroblob(200))", .error = "<blob>" },
  { .sql = "SELECT zt_manifest(zeroblob(200))", .error = "<blob>" },
  { .sql = "SELECT * FROM zt_objects", .error = "needs a source" },
  { .sql = "SELECT * FROM zt_elements('" SMALL "')", .error = "and an object" },
  { .sql = "SELECT * FROM zt_elements('" SMALL "', 'blk.0.atn.q')", .error = "did you mean" },
  { .sql = "SELECT * FROM zt_elements('" SMALL "', x'00')", .error = "must be TEXT" },
  { .sql = "SELECT * FROM zt_rows('" SMALL "', 'blk.0.attn.q', 'float')", .error = "float" },
  { .sql = "SELECT vector FROM zt_rows('" SMALL "', 'blk.0.attn.k', 'f4_e2m1')", .error = "f4_e2m1" },
  { .sql = "SELECT value FROM zt_elements('" V12 "hand_bad_objects.zt', 'data_short')", .error = "data_short" },
  { .sql = "SELECT data FROM zt_components('" V12 "hand_zstd.zt')", .error = "zstd" },
  { .sql = "SELECT data FROM zt_components('" V2 "hand_sharded_missing.zt')", .error = "gone" },
  { .sql = "SELECT hash FROM zt_components('" V2 "hand_sharded_missing.zt')", .error = "gone" },
  { .sql = "SELECT zt_blob('" SMALL "', 'blk.0.atn.q')", .error = "did you mean" },
  { .sql = "SELECT zt_blob('" SMALL "', 'nothing like it')", .error = "no such object" },
  { .sql = "SELECT zt_blob('" V12 "hand_sparse.zt', 'csr.f32')", .error = "name one of its components" },
  { .sql = "SELECT zt_blob('" V12 "hand_sparse.zt', 'csr.f32', 'value')", .error = "did you mean" },
  { .sql = "SELECT zt_blob('" V12 "hand_sparse.zt', 'csr.f32', 'x')", .error = "it has" },
  { .sql = "SELECT zt_blob('" SMALL "', 'blk.0.attn.q', 'data', 0.5, 1)", .error = "'0.5'" },
  { .sql = "SELECT zt_hash('" SMALL "', 'blk.0.attn.q', NULL, 'md5')", .error = "md5" },
  { .sql = "SELECT zt_hash('" SMALL "', 'blk.0.attn.q', NULL, NULL)", .error = "name an algorithm" },
  { .sql = "SELECT zt_hash('" SMALL "', 'blk.0.attn.q', 'md5')", .error = "md5" },
  { .sql = "SELECT zt_hash('" V12 "hand_sparse.zt', 'csr.f32', 'values')", .error = "name an algorithm after it" },
  { .sql = "SELECT zt_value('" SMALL "', 'blk.0.attn.q', 1)", .error = "1 index for 2 dimensions" },
  { .sql = "SELECT zt_value('" SMALL "', 'blk.0.attn.q', 1, 9)", .error = "index 9" },
  { .sql = "SELECT zt_value('" SMALL "')", .error = "needs a source and an object" },
  { .sql = "SELECT zt_dense('" SMALL "', 'blk.0.attn.q', 'float')", .error = "float" },
  { .sql = "SELECT zt_dense('" V12 "hand_complex.zt', 'c64.scalar', 'f32', 0, 1)", .error = "scalar" },
  { .sql = "SELECT zt_json('" V12 "hand_complex.zt', 'c64.zstd', 'f32')", .error = "is complex" },
  { .sql = "SELECT zt_json('" SMALL "', 'blk.0.attn.q', 'i8')", .error = "which i8 does not have" },
  { .sql = "SELECT zt_json('" V12 "hand_bad_objects.zt', 'coo_out_of_range')", .error = "coo_out_of_range" },
  { .sql = "SELECT zt_content_id('" TREE "/none.zt')", .error = "cannot open" },
  { .sql = "SELECT * FROM zt_check('" SMALL "', 'deep')", .error = "level must be" },
  { .sql = "CREATE VIRTUAL TABLE main.named USING zt_files('a', 'b', 'c')", .error = "takes at most" },
  { .sql = "SELECT zt_manifest(?1)", .image = HOSTILE "1.2-dup-attribute.zt", .error = "stands twice" },
  { .sql = "SELECT * FROM zt_attributes(?1)", .image = HOSTILE "0.1-cbor-cut.zt", .error = "<blob>" },
};

#endif
