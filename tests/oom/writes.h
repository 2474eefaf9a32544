/*
** Scripts that write a file while memory runs out in each of their allocations: the old file is there after a failure with
** SQLITE_NOMEM, the new one after success, and nothing beside it. The same script then succeeds.
*/
#ifndef ZT_TESTS_OOM_WRITES_H
#define ZT_TESTS_OOM_WRITES_H

#include <dirent.h>
#include "cases.h"
#include "loading.h"

#define PLACE TREE "/written"            /* The target's folder */
#define TARGET PLACE "/x.zt"
#define CREATE(arguments) "CREATE VIRTUAL TABLE temp.out USING zt_writer('" TARGET "', sync='off', " arguments ");"
#define OUT(arguments) .setup = CREATE(arguments), .sql =
#define ALL(arguments) .sql = CREATE(arguments)

typedef struct oom_write {
  const char *setup;     /* Statements before, with memory enough; NULL: none */
  const char *sql;       /* Statements */
  const char *before;    /* A file that is the target before; NULL: none */
  const char *error;     /* The script fails, and the message contains this; NULL: it writes */
  bool utf16;            /* The database's encoding: each text that is looked at is converted first */
  uint64_t each;         /* Allocations that fail in turn; 0: EACH */
} oom_write;

#define BY_SOURCE(file, more) "INSERT INTO out(name, source) SELECT object, path FROM zt_objects('" file "')" more ";"
#define BY_DATA "INSERT INTO out(name, data, dtype, shape) VALUES ('w', x'0000803f00000040', 'f32', '[2]'), ('b', x'01020304', 'i16', '[2,1]');"
#define FILE_ATTRIBUTES "INSERT INTO out(key, value, type) VALUES ('k', 'v', 'text'), ('l', 'long enough not to be kept elsewhere', NULL);"

static const oom_write writes[] = {
  /* Each format, by reference and by value */
  { OUT("format='ztensor-2'") BY_SOURCE(SMALL, "") },
  { OUT("format='ztensor-1.2', mode='replace'") BY_SOURCE(SMALL, ""), .before = SMALL },
  { OUT("format='safetensors'") "BEGIN;" BY_SOURCE(SMALL, "") FILE_ATTRIBUTES "COMMIT" },
  { OUT("format='npz', encoding='deflate', level=1") "INSERT INTO out(name, source, dtype) SELECT object, path, 'f32' FROM zt_objects('" SMALL "')" },
  { OUT("format='npy'") BY_SOURCE("tests/formats/npy/golden/fortran.npy", "") },
  { OUT("format='gguf', align=64") "BEGIN;" BY_DATA FILE_ATTRIBUTES "COMMIT" },
  { ALL("format='npz', order='row'") BY_DATA },
  { .sql = "CREATE VIRTUAL TABLE temp.out USING zt_writer('file:" TARGET "', sync='off', format='npy', drop=nothing); INSERT INTO out(name, data, dtype, shape)"
           " VALUES ('w', x'00', 'u8', '[1]')" },

  /* Encodings and digests */
  { OUT("format='ztensor-2', encoding='zstd', digest='sha256'") BY_SOURCE(SMALL, "") },
  { OUT("format='ztensor-1.2', encoding='zstd', level=1, digest='crc32c'") BY_DATA },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, source, encoding, level, digest) SELECT object, path, 'zstd', 9, 'none' FROM zt_objects('" SMALL "')" },

  /* Conversions, sparse and quantized tensors, images */
  { OUT("format='ztensor-2'") "INSERT INTO out(name, source, object, dtype) SELECT object || '.16', path, object, 'bf16' FROM zt_objects('" SMALL "')" },
  { OUT("format='ztensor-2'") BY_SOURCE(V12 "hand_sparse.zt", " WHERE object IN ('csr.f32', 'coo.f64')") },
  { OUT("format='safetensors'") "INSERT INTO out(name, source, format) SELECT object, path, 'dense' FROM zt_objects('" V12 "hand_sparse.zt') WHERE object = 'csr.f32'" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, source) SELECT 'csr.f32', image FROM images;" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, component, data, dtype, format, shape) SELECT c.object, c.component, c.data,"
           " c.dtype, o.format, o.shape FROM zt_components('" V12 "hand_sparse.zt') AS c JOIN zt_objects('" V12 "hand_sparse.zt') AS o USING (object)"
           " WHERE o.object = 'csr.f32'" },

  { OUT("format='ztensor-2'") BY_SOURCE(V12 "hand_sparse.zt", " WHERE object = 'csr.unsorted'") },   /* Sorted, because 1.2 does not ask for it */
  { OUT("format='ztensor-1.2'") BY_SOURCE(V12 "hand_quantized.zt", " LIMIT 1") },
  { OUT("format='gguf'") BY_SOURCE(GGUF "golden/q_ternary_mx.gguf", " LIMIT 1") },
  { OUT("format='ztensor-2'") BY_SOURCE(GGUF "golden/q_8_1_8_k.gguf", "") },   /* Blocks without a decoder; zTensor 2 states their sizes */
  { OUT("format='ztensor-2', encoding='zstd', level=1") "INSERT INTO out(name, data, dtype, shape) VALUES ('w', zeroblob(2200000), 'u8', '[2200000]')" },
  { OUT("format='npz', encoding='deflate', level=1") "INSERT INTO out(name, data, dtype, shape) VALUES ('w', zeroblob(2200000), 'u8', '[2200000]')" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, data, dtype, shape) VALUES ('w', zeroblob(10000), 'bool', '[10000]'), ('b', zeroblob(10000), 'u8', '[10000]')" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, component, data, dtype, format, shape) VALUES ('w', 'values', x'0700', 'i16', 'sparse_coo', '[2,3]'),"
           " ('w', 'coords', x'01000000000000000200000000000000', 'u64', 'sparse_coo', '[2,3]')" },

  /* Attributes, with words for their types, and those that come along */
  { OUT("format='ztensor-2'") "BEGIN;" BY_SOURCE(V2 "hand_attribute_kinds.zt", "")
           "INSERT INTO out(key, value, type, stored_type) SELECT key, value, type, stored_type FROM zt_attributes('" V2 "hand_attribute_kinds.zt')"
           " WHERE object IS NULL; INSERT INTO out(name, key, value) SELECT object, 'licence', 'a licence' FROM zt_objects('" V2 "hand_attribute_kinds.zt'); COMMIT" },
  { OUT("format='safetensors', drop='attributes'") BY_SOURCE(V12 "wheel_attributes.zt", "") },
  { OUT("format='ztensor-2'") BY_SOURCE(V12 "wheel_attributes.zt", " LIMIT 1") },
  { OUT("format='gguf'") "BEGIN;" BY_DATA "INSERT INTO out(key, value, type, stored_type) SELECT key, value, type, stored_type FROM zt_attributes('" GGUF
           "golden/kv_types.gguf') WHERE object IS NULL AND stored_type IN ('u8', 'i64', 'f32', 'f64', 'bool', 'arr[i8]', 'arr[str]') GROUP BY stored_type;"
           " INSERT INTO out(key, value, type) VALUES ('own', '[1,2.5]', 'array'), ('other', '[[true]]', 'array'); COMMIT" , .error = "own" },
  { OUT("format='gguf'") "BEGIN;" BY_DATA "INSERT INTO out(key, value, type, stored_type) SELECT key, value, type, stored_type FROM zt_attributes('" GGUF
           "golden/kv_types.gguf') WHERE object IS NULL AND stored_type IN ('u8', 'i64', 'f32', 'f64', 'bool', 'arr[i8]', 'arr[str]') GROUP BY stored_type;"
           " INSERT INTO out(key, value, type) VALUES ('own', '[[1.5],[2.5]]', 'array'), ('other', '[-1]', 'array'); COMMIT" },

  /* All that a transaction may do */
  { OUT("format='ztensor-2'") "BEGIN;" BY_DATA FILE_ATTRIBUTES
           "SELECT *, bytes, rowid FROM out; UPDATE out SET dtype = 'f32', shape = '[1]' WHERE name = 'b'; UPDATE out SET name = 'renamed' WHERE name = 'w';"
           " SELECT name, bytes, data FROM out WHERE name = 'renamed'; SAVEPOINT s; DELETE FROM out WHERE name IS NULL; ROLLBACK TO s; RELEASE s;"
           " DELETE FROM out WHERE rowid = 1; REPLACE INTO out(name, data, dtype, shape) VALUES ('b', x'00', 'u8', '[]'); COMMIT" },
  { OUT("mode='update', format='ztensor-1.2'") "BEGIN; SELECT name, bytes FROM out; UPDATE out SET name = 'renamed' WHERE name = 'blk.0.attn.q'; COMMIT", .before = SMALL },
  { OUT("mode='update', format='ztensor-1.2'") "UPDATE out SET encoding = 'raw' WHERE name = 'blk.0.attn.q'", .before = SMALL,
    .each = 2500 /* Also those for the rows of the file */ },
  { OUT("mode='update'") "BEGIN; DELETE FROM out WHERE name IN (SELECT object FROM zt_objects('" TARGET "') LIMIT 1); INSERT INTO out(key, value)"
           " VALUES ('k', 7); COMMIT", .before = V2 "wheel_attributes.zt" },
  { OUT("mode='update', format='ztensor-1.2'") "SELECT name, bytes FROM out; SELECT count(*) FROM out AS a JOIN out AS b USING (name);"
           " UPDATE out SET name = 'renamed' FROM (SELECT 1) WHERE name = 'blk.0.attn.q'", .before = SMALL },
  { OUT("format='ztensor-2'") "BEGIN;" BY_DATA BY_SOURCE(SMALL, "") "CREATE VIRTUAL TABLE temp.other USING zt_writer('" TREE "/other.zt');"
           "INSERT INTO other SELECT * FROM out; DROP TABLE other; UPDATE OR REPLACE out SET name = 'w', shape = shape, dtype = dtype, data = data, bytes = bytes"
           " WHERE name = 'b'; COMMIT" },
  { .sql = "BEGIN; CREATE TABLE t(x); INSERT INTO t VALUES (1);" CREATE("mode='replace'") BY_SOURCE(SMALL, "") "CREATE VIRTUAL TABLE temp.other USING"
           " zt_writer('" TREE "/other.npz', mode='replace', sync='off'); INSERT INTO other(name, data, dtype, shape) VALUES ('a', x'00', 'bool', '[1]'); DROP TABLE other;"
           " COMMIT", .before = SMALL },
  { .sql = "CREATE VIRTUAL TABLE temp.out USING zt_writer('" TARGET "', mode='replace', sync='full');" BY_DATA, .before = SMALL },

  { OUT("format='ztensor-2'") "BEGIN; INSERT INTO out(name, data, dtype, shape) VALUES ('w', zeroblob(4), 'f32', '[1]'), ('v', x'01020304', 'u8', '[4]');"
           " INSERT INTO out(key, value, type) VALUES ('k', zeroblob(9), 'blob'), ('t', 'text', 'text'), ('j', '{\"a\": [1e300, \"\\u0041\"]}', 'object'), ('n', '7', 'integer');"
           " UPDATE out SET value = zeroblob(9) WHERE key = 'k'; UPDATE out SET value = 'text', type = 'text' WHERE key = 't'; UPDATE out SET value = x'00' WHERE key = 'k';"
           " UPDATE out SET data = zeroblob(4), dtype = 'f32', shape = '[1]', bytes = 4 WHERE name = 'w'; UPDATE out SET name = 'x', dtype = 'i8' WHERE name = 'v';"
           " UPDATE out SET rowid = 9 WHERE key = 't'; DELETE FROM out WHERE key = 'n'; SELECT * FROM out WHERE name = 'x'; COMMIT", .utf16 = true, .each = 2500 },
  { OUT("mode='update', format='ztensor-1.2'") "BEGIN; SELECT name, bytes FROM out; UPDATE out SET bytes = bytes, source = source, shape = shape, dtype = dtype, format = format"
           " WHERE name = 'blk.0.attn.q'; UPDATE out SET name = 'renamed' WHERE name = 'blk.0.attn.q'; COMMIT", .before = SMALL, .utf16 = true },
  { OUT("mode='update'") "BEGIN; SELECT count(*) FROM out; UPDATE out SET stored_type = 'i16' WHERE key = 't.u8'; COMMIT", .before = GGUF "golden/kv_types.gguf" },
  { OUT("mode='update', format='ztensor-1.2'") "BEGIN; UPDATE out SET name = 'fields.' || name; INSERT INTO out(key, value) VALUES ('k', 7); COMMIT",
    .before = V12 "hand_unknown_fields.zt", .each = 2500 },
  { OUT("mode='update', format='safetensors'") "UPDATE out SET name = 'fields.' || name", .before = "tests/formats/safetensors/golden/hand_extra_field.safetensors" },

  /* Failures */
  { OUT("mode='update', format='ztensor-1.2'") "UPDATE out SET dtype = 'f64'", .before = V12 "hand_unknown_fields.zt", .error = "would be lost with its stored bytes" },
  { OUT("mode='update', format='npz'") "UPDATE out SET name = 'unlisted'", .before = "tests/formats/npz/golden/hand_comment.npz", .error = "which an update would lose" },
  { OUT("format='ztensor-2'") "INSERT INTO out(key, value, type) VALUES ('k', 'a', 'integer')", .error = "is not of type integer", .utf16 = true },
  { OUT("format='ztensor-2'") "INSERT INTO out(key, value, type) VALUES ('k', 'a', 'integers')", .error = "unknown type", .utf16 = true },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, data, dtype, shape) VALUES ('w', x'00', 'u8', '[1')", .error = "shape must be", .utf16 = true },
  { OUT("format='npz'") "INSERT INTO out(name, data, dtype, shape) VALUES ('w', x'0000', 'bf16', '[1]')", .error = "npz cannot hold bf16" },
  { OUT("format='npz'") "INSERT INTO out(name, data, dtype, shape) VALUES ('w', x'00', 'u8', '[1]'), ('w', x'00', 'u8', '[1]')", .error = "there is" },
  { OUT("format='npz'") "ALTER TABLE out RENAME TO other", .error = "cannot be renamed" },
  { ALL("format='nothing'"), .error = "nothing" },
  { ALL("formats='npz'"), .error = "formats" },
  { ALL("format='npz', encoding='zstd'"), .error = "it has 'raw' and 'deflate'" },
  { ALL("format='npz', digest='md5'"), .error = "it has 'none'" },
  { ALL("format='npz', level=2"), .error = "level needs encoding='deflate'" },
  { ALL("mode='append'"), .error = "mode must be 'create', 'replace' or 'update'" },
  { .sql = "CREATE VIRTUAL TABLE temp.out USING zt_writer('s3://bucket/x.zt')", .error = "a URL of scheme 's3' is not written" },
  { .sql = "CREATE VIRTUAL TABLE main.out USING zt_writer('" TARGET "')", .error = "for temp alone" },
  { OUT("format='npz'") BY_DATA, .before = SMALL, .error = "there is a file already" },
  { OUT("format='npy'") BY_DATA, .error = "npy" },
  { OUT("mode='replace'") "CREATE VIRTUAL TABLE temp.other USING zt_writer('" TARGET "', mode='replace'); BEGIN;" BY_DATA
           "INSERT INTO other(key, value) VALUES ('k', 1)", .before = SMALL, .error = "would both write" },
  { OUT("format='ztensor-2'") BY_SOURCE(V12 "hand_bad_objects.zt", ""), .error = "bad_objects.zt" },
  { OUT("format='ztensor-2'") BY_SOURCE(V12 "hand_sparse.zt", " WHERE object = 'csr.duplicate'"), .error = "two stored elements lie in one cell" },
  { OUT("format='ztensor-2'") BY_SOURCE("tests/formats/ztensor/golden/v1.1/hand_digests.zt", " WHERE object = 'sha256.wrong'"), .error = "do not have its digest" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, source, dtype) SELECT object, path, 'f64' FROM zt_objects('tests/formats/ztensor/golden/v1.1/hand_digests.zt')"
           " WHERE object = 'crc32c.wrong'", .error = "do not have its digest" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, source, dtype) VALUES ('csr.f64', '" V12 "hand_sparse.zt', 'f4_e2m1')", .error = "is no value of f4_e2m1" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, component, data, dtype, format, shape) VALUES ('w', 'values', x'0700', 'i16', 'sparse_coo', '[2,3]')",
           .error = "a component is missing" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, component, data, dtype, format, shape) VALUES ('w', 'coords', x'02000000000000000200000000000000', 'u64',"
           " 'sparse_coo', '[2,3]')", .error = "beyond the dimension" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, data, dtype, shape) VALUES ('w', x'02', 'bool', '[1]')", .error = "a bool is 0 or 1" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, data, dtype, shape, encoding) VALUES ('w', x'02', 'u8', '[1]', 'deflate')", .error = "deflate" },
  { OUT("format='ztensor-2'") "INSERT INTO out(name, source, object) VALUES ('w', '" SMALL "', 'nothing like it')", .error = "nothing like it" },
};

/* --- The target --- */

/* Remove all that is in the folder, and put the old file there. */
static inline void write_reset(const oom_write *w){
  char command[3*PATH_MAX];
  snprintf(command, sizeof(command), "%s/written", tree);
  DIR *d = opendir(command);
  for(struct dirent *e; d && (e = readdir(d))!=NULL; ){
    snprintf(command, sizeof(command), "%s/written/%s", tree, e->d_name);
    if( e->d_name[0]!='.' || strlen(e->d_name)>2 ) assert_int_equal(unlink(command), 0);
  }
  if( d ) closedir(d);
  else assert_int_equal(mkdir(command, 0755), 0);
  if( w->before ){
    blob b = read_file(w->before);
    snprintf(command, sizeof(command), "%s/written/x.zt", tree);
    write_file(command, b.p, b.n);
    free(b.p);
  }
}

/* A hash of the names and bytes of all files in the folder, which has at most the target. */
static inline uint64_t write_found(const oom_write *w){
  char path[PATH_MAX+300];
  uint64_t hash = 0;
  snprintf(path, sizeof(path), "%s/written", tree);
  DIR *d = opendir(path);
  assert_non_null(d);
  for(struct dirent *e; (e = readdir(d))!=NULL; ){
    blob b;
    if( strcmp(e->d_name, ".")==0 || strcmp(e->d_name, "..")==0 ) continue;
    check( strcmp(e->d_name, "x.zt")==0, "%s: %s is left", w->sql, e->d_name );
    snprintf(path, sizeof(path), "%s/written/x.zt", tree);
    b = read_file(path);
    hash = XXH3_64bits(b.p, b.n) | 1;
    free(b.p);
  }
  closedir(d);
  return hash;
}

/* --- Running --- */

static inline sqlite3 *write_open(const oom_write *w, const char *setup){
  blob image = read_file(V12 "hand_sparse.zt");
  char *message = NULL;
  sqlite3_stmt *s;
  sqlite3 *db;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  if( w->utf16 ) execute(db, "PRAGMA encoding = 'UTF-16'");
  check( sqlite3_ztensor_write_init(db, &message, NULL)==SQLITE_OK, "%s", message );
  execute(db, "CREATE TABLE images(image); CREATE TEMP TABLE t(x); DROP TABLE t");   /* SQLite has a message of its own for temp's first use */
  assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO images VALUES (?1)", -1, &s, NULL), SQLITE_OK);
  sqlite3_bind_blob(s, 1, image.p, (int)image.n, SQLITE_STATIC);
  assert_int_equal(sqlite3_step(s), SQLITE_DONE);
  sqlite3_finalize(s);
  free(image.p);
  if( setup ) execute(db, setup);
  return db;
}

/* Run statement after statement to the first failure, and roll back then. */
static inline answer write_ask(sqlite3 *db, const char *sql){
  answer a = { .rc = SQLITE_DONE };
  while( a.rc==SQLITE_DONE && *sql ){
    sqlite3_stmt *s = NULL;
    a.rc = sqlite3_prepare_v2(db, sql, -1, &s, &sql);
    if( a.rc==SQLITE_OK ){
      if( !s ) a.rc = SQLITE_DONE;
      else while( (a.rc = sqlite3_step(s))==SQLITE_ROW ) add_row(&a, s);
    }
    memory.paused = true;
    if( a.rc!=SQLITE_DONE ) snprintf(a.message, sizeof(a.message), "%s", sqlite3_errmsg(db));
    memory.paused = false;
    sqlite3_finalize(s);
  }
  if( !sqlite3_get_autocommit(db) ) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return a;
}

/* --- The sweep --- */

typedef struct write_expectation {
  const oom_write *w;
  const char *sql, *setup;
  answer answer;
  uint64_t calls, before, after;   /* Hashes of the target */
  size_t held;
} write_expectation;

static inline write_expectation write_expect(const oom_write *w, const char *setup, const char *sql){
  write_expectation e = { .w = w, .sql = sql, .setup = setup };
  size_t before = memory.outstanding;
  sqlite3 *db;
  write_reset(w);
  e.before = write_found(w);
  db = write_open(w, setup);
  memory_arm(0, false);
  e.answer = write_ask(db, sql);
  e.calls = memory.calls;
  e.held = held_since(db, before);
  close_database(db, before, sql);
  e.after = write_found(w);
  if( w->error ){
    check( e.answer.rc!=SQLITE_DONE && strstr(e.answer.message, w->error) && e.after==e.before, "%s: %d, '%s'", sql, e.answer.rc,
           e.answer.message );
  }else{
    check( e.answer.rc==SQLITE_DONE, "%s: %d, '%s'", sql, e.answer.rc, e.answer.message );
    check( e.after!=e.before, "%s: wrote nothing", sql );
  }
  return e;
}

/* Forget what a try may have left, which a user's next try would not. */
static inline void write_again(sqlite3 *db, const write_expectation *e){
  answer again;
  execute(db, "DROP TABLE IF EXISTS temp.other; DROP TABLE IF EXISTS temp.out; DROP TABLE IF EXISTS main.t");
  if( e->setup ) execute(db, e->setup);
  again = write_ask(db, e->sql);
  check_same(&again, &e->answer, e->sql);
  assert_true(write_found(e->w)==e->after);
  answer_free(&again);
}

/* One run while allocation `at` fails. True if there is one. */
static inline bool write_run(const write_expectation *e, uint64_t at, bool on){
  const oom_case c = { .sql = e->sql };
  const expectation expected = { .c = &c, .answer = e->answer };
  size_t before = memory.outstanding, held;
  sqlite3 *db;
  answer a;
  write_reset(e->w);
  db = write_open(e->w, e->setup);
  memory_arm(at, on);
  a = write_ask(db, e->sql);
  memory.fails_at = 0;
  if( !sqlite3_get_autocommit(db) ) execute(db, "ROLLBACK");
  totals.injected += memory.injected;
  if( memory.injected==0 ) check_same(&a, &e->answer, e->sql);
  else check_answer(&a, &expected, at, on);
  check( write_found(e->w)==(a.rc==SQLITE_NOMEM ? e->before : e->after), "%s: allocation %llu%s: %d, '%s', and the target is not %s",
         e->sql, (unsigned long long)at, on ? " and all after it" : "", a.rc, a.message,
         a.rc==SQLITE_NOMEM ? "the old one" : "the new one" );
  if( a.rc==SQLITE_NOMEM ) write_again(db, e);
  answer_free(&a);
  held = held_since(db, before);   /* The table was created twice */
  check( held<=e->held+2*SLACK, "%s: allocation %llu failed, and %zu bytes are held instead of %zu", e->sql, (unsigned long long)at,
         held, e->held );
  close_database(db, before, e->sql);
  return memory.injected>0;
}

static void test_write(void **state){
  const oom_write *w = *state;
  char *sql = with_tree(w->sql), *setup = w->setup ? with_tree(w->setup) : NULL;
  write_expectation e = write_expect(w, setup, sql);
  for(int on=0; on<2; on++){
    uint64_t n = 1, nomem = totals.nomem;
    while( write_run(&e, n, on) ) n = following(n, e.calls, w->each ? w->each : EACH);
    check( n>LEAST && totals.nomem>nomem, "%s: %llu runs, never SQLITE_NOMEM", sql, (unsigned long long)n );
  }
  totals.cases++;
  answer_free(&e.answer);
  free(sql);
  free(setup);
}

#endif
