/*
** bindings.h: the rows of statements as Arrow's columns, and tensors into an array of the caller's; also while allocations
** fail.
*/
#include "oom.h"

#include <unistd.h>
#include "bindings.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

static sqlite3 *db;

static int open_db(void **state){
  char *message = NULL;
  (void)state;
  return sqlite3_open(":memory:", &db) || sqlite3_ztensor_init(db, &message, NULL);
}

static int close_db(void **state){
  (void)state;
  return sqlite3_close(db);
}

/* --- A result as text: "name:format" of each column, then each row, NULL as a dot --- */

static bool is_null(const struct ArrowArray *a, int64_t row){
  const uint8_t *valid = a->n_buffers ? a->buffers[0] : NULL;
  return a->n_buffers==0 || (valid && !(valid[row/8] & (1u << (row%8))));
}

static void append_value(sqlite3_str *text, const char *format, const struct ArrowArray *a, int64_t row){
  const int32_t *offsets = a->n_buffers==3 ? a->buffers[1] : NULL;
  if( is_null(a, row) ) sqlite3_str_appendall(text, " .");
  else if( *format=='l' ) sqlite3_str_appendf(text, " %lld", ((const int64_t*)a->buffers[1])[row]);
  else if( *format=='g' ) sqlite3_str_appendf(text, " %.1f", ((const double*)a->buffers[1])[row]);
  else sqlite3_str_appendf(text, " '%.*s'", offsets[row+1]-offsets[row], (const char*)a->buffers[2] + offsets[row]);
}

static int append_batches(sqlite3_str *text, struct ArrowArrayStream *stream, const struct ArrowSchema *schema){
  for(;;){
    struct ArrowArray batch;
    int rc = stream->get_next(stream, &batch);
    if( rc ) return SQLITE_NOMEM;
    if( !batch.release ) return SQLITE_OK;
    assert_int_equal(batch.n_children, schema->n_children);
    for(int64_t row=0; row<batch.length; row++){
      sqlite3_str_appendall(text, " |");
      for(int64_t i=0; i<batch.n_children; i++){
        assert_int_equal(batch.children[i]->length, batch.length);
        append_value(text, schema->children[i]->format, batch.children[i], row);
      }
    }
    batch.release(&batch);
  }
}

static int append_stream(sqlite3_str *text, struct ArrowArrayStream *stream){
  struct ArrowSchema schema;
  int rc = stream->get_schema(stream, &schema);
  if( rc==0 ){
    for(int64_t i=0; i<schema.n_children; i++){
      sqlite3_str_appendf(text, "%s%s:%s", i ? " " : "", schema.children[i]->name, schema.children[i]->format);
    }
    rc = append_batches(text, stream, &schema);
    schema.release(&schema);
  }
  if( rc ) assert_string_equal(stream->get_last_error(stream), "out of memory");
  stream->release(stream);
  return rc ? SQLITE_NOMEM : SQLITE_OK;
}

/* *out is the text of a result, or the message of a failure. */
static int run(const char *sql, int n, const zt_binding *bindings, char **out){
  struct ArrowArrayStream stream;
  sqlite3_str *text;
  int rc = sqlite3_ztensor_arrow(db, sql, n, bindings, &stream, out);
  if( rc ){
    assert_null(stream.release);
    assert_true( (*out==NULL)==(rc==SQLITE_NOMEM) );
    return rc;
  }
  text = sqlite3_str_new(NULL);
  rc = append_stream(text, &stream);
  if( sqlite3_str_errcode(text) ) rc = SQLITE_NOMEM;
  *out = sqlite3_str_finish(text);
  if( !*out ) rc = SQLITE_NOMEM;
  return rc;
}

static void check_run(const char *sql, int expected, const char *text){
  char *out = NULL;
  int rc = run(sql, 0, NULL, &out);
  check( rc==expected && out && strcmp(out, text)==0, "%s: %d, %s", sql, rc, out ? out : "NULL" );
  sqlite3_ztensor_free(out);
}

TEST(the_values_make_a_columns_type){
  check_run("VALUES (1,'a',x'62',2.5,NULL), (NULL,NULL,NULL,NULL,NULL), (3,'','',4,NULL)", SQLITE_ERROR,
            "column 'column3': row 2 has text, and an earlier one has a BLOB: a column of Arrow has one type; "
            "CAST(column3 AS TEXT) gives it one");
  check_run("SELECT 1 AS i, 'a' AS t, x'62' AS b, 2.5 AS r, NULL AS n UNION ALL SELECT NULL,NULL,NULL,NULL,NULL "
            "UNION ALL SELECT 3,'',x'',4,NULL", SQLITE_OK, "i:l t:u b:z r:g n:n | 1 'a' 'b' 2.5 . | . . . . . | 3 '' '' 4.0 .");
  check_run("SELECT NULL AS t UNION ALL SELECT NULL UNION ALL SELECT 'abc'", SQLITE_OK, "t:u | . | . | 'abc'");
  check_run("SELECT 1 AS x UNION ALL SELECT NULL UNION ALL SELECT 2.5", SQLITE_OK, "x:g | 1.0 | . | 2.5");
  check_run("SELECT 2.5 AS x UNION ALL SELECT 1", SQLITE_OK, "x:g | 2.5 | 1.0");
  check_run("SELECT 2.5 AS x UNION ALL SELECT 'a'", SQLITE_ERROR, "column 'x': row 1 has text, and an earlier one has a real: "
            "a column of Arrow has one type; CAST(x AS TEXT) gives it one");
}

TEST(without_values_the_declared_type_counts){
  check_run("SELECT object, elements, 1 AS x FROM zt_objects(NULL)", SQLITE_OK, "object:u elements:l x:n");
  check_run("SELECT size, mtime FROM zt_files(NULL)", SQLITE_OK, "size:l mtime:g");
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE declared(v VARCHAR, b BLOB)", NULL, NULL, NULL), SQLITE_OK);
  check_run("SELECT v, b FROM declared", SQLITE_OK, "v:n b:z");   /* Only SQLite's own words are types */
}

TEST(what_a_column_cannot_hold_is_named){
  check_run("SELECT 9007199254740993 AS x UNION ALL SELECT 0.5", SQLITE_ERROR,
            "column 'x': row 1 or one before it has the integer 9007199254740993: a column of reals does not hold it, CAST AS TEXT does");
  check_run("SELECT 0.5 AS x UNION ALL SELECT -9007199254740993", SQLITE_ERROR,
            "column 'x': row 1 or one before it has the integer -9007199254740993: a column of reals does not hold it, CAST AS TEXT does");
  check_run("SELECT 9007199254740992 AS x UNION ALL SELECT 0.5", SQLITE_OK, "x:g | 9007199254740992.0 | 0.5");
  /* Found after the last row, in an earlier batch */
  check_run("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<65536) "
            "SELECT CASE WHEN i=65536 THEN 0.5 ELSE i+9007199254740993 END AS x FROM n", SQLITE_ERROR,
            "column 'x': row 65537 or one before it has the integer 9007199254740993: a column of reals does not hold it, "
            "CAST AS TEXT does");
  check_run("SELECT CAST(x'ff' AS TEXT) AS x", SQLITE_ERROR, "column 'x': row 0 has text that is not UTF-8: CAST AS BLOB gives its bytes");
}

TEST(statements_that_give_no_rows_or_fail){
  check_run("", SQLITE_ERROR, "the SQL gives no rows");
  check_run("CREATE TABLE t(a)", SQLITE_ERROR, "the SQL gives no rows");
  check_run("SELECT 1; SELECT 2", SQLITE_ERROR, "the SQL is more than one statement");
  check_run("SELECT 1; no SQL", SQLITE_ERROR, "the SQL is more than one statement");
  check_run("SELECT 1 AS x; -- the end", SQLITE_OK, "x:l | 1");
  check_run("SELECT ?", SQLITE_ERROR, "there is no value for parameter ?");
  check_run("SELECT :a", SQLITE_ERROR, "there is no value for parameter :a");
  check_run("SELECT absent", SQLITE_ERROR, "no such column: absent");
  check_run("SELECT * FROM zt_objects('/nowhere.zt')", SQLITE_ERROR, "ztensor: /nowhere.zt: cannot open: No such file or directory");
}

TEST(bindings_by_place_and_by_name){
  zt_binding values[] = {
    { .name = "i", .type = SQLITE_INTEGER, .integer = -5 }, { .name = "t", .type = SQLITE_TEXT, .bytes = "abc", .nBytes = 2 },
    { .name = "r", .type = SQLITE_FLOAT, .real = 0.5 }, { .name = "n", .type = SQLITE_NULL },
    { .name = "b", .type = SQLITE_BLOB, .bytes = "xyz", .nBytes = 3 }, { .name = "more", .type = SQLITE_NULL },
  };
  char *out = NULL;
  assert_int_equal(run("SELECT ?", 6, values, &out), SQLITE_ERROR);
  assert_string_equal(out, "there is no value for parameter ?");
  sqlite3_ztensor_free(out);
  assert_int_equal(run("SELECT :absent", 6, values, &out), SQLITE_ERROR);
  assert_string_equal(out, "there is no value for parameter :absent");
  sqlite3_ztensor_free(out);
  assert_int_equal(run("SELECT @b AS b, $t AS t, :i AS i, :n AS n, :r AS r, :i AS j", 6, values, &out), SQLITE_OK);
  assert_string_equal(out, "b:z t:u i:l n:n r:g j:l | 'xyz' 'ab' -5 . 0.5 -5");
  sqlite3_ztensor_free(out);
  for(int i=0; i<6; i++) values[i].name = NULL;
  assert_int_equal(run("SELECT ? AS a, ? AS b", 2, values, &out), SQLITE_OK);
  assert_string_equal(out, "a:l b:u | -5 'ab'");
  sqlite3_ztensor_free(out);
  assert_int_equal(run("SELECT ?", 2, values, &out), SQLITE_ERROR);
  assert_string_equal(out, "the SQL has 1 parameters, and 2 values are given");
  sqlite3_ztensor_free(out);
}

/* A value that the connection's limit forbids. */
TEST(a_value_that_is_too_long_is_refused){
  static const char longer[101];   /* Than the statement's own text */
  const zt_binding number = { .type = SQLITE_INTEGER }, text = { .type = SQLITE_BLOB, .bytes = longer, .nBytes = sizeof(longer) };
  const zt_binding *const pairs[][2] = { { &text, &number }, { &number, &text } };
  uint8_t array[4];
  char *out = NULL;
  const int limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100);
  assert_int_equal(run("SELECT ?", 1, &text, &out), SQLITE_TOOBIG);
  assert_string_equal(out, "string or blob too big");
  sqlite3_ztensor_free(out);
  for(size_t i=0; i<COUNT(pairs); i++){
    assert_int_equal(sqlite3_ztensor_dense(db, pairs[i][0], pairs[i][1], NULL, 0, 1, array, 4, &out), SQLITE_TOOBIG);
    assert_string_equal(out, "string or blob too big");
    sqlite3_ztensor_free(out);
  }
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit);
}

/* --- Many rows: several batches, whose columns change their type late --- */

TEST(batches){
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  char *message = NULL;
  int64_t rows = 0, nulls = 0;
  int rc = sqlite3_ztensor_arrow(db, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<149999) "
      "SELECT i, CASE WHEN i%3 THEN 'row '||i END AS t, CASE WHEN i=149999 THEN 0.5 ELSE i END AS r, "
      "CASE WHEN i=149999 THEN 'x' END AS late FROM n", 0, NULL, &stream, &message);
  assert_int_equal(rc, SQLITE_OK);
  assert_int_equal(stream.get_schema(&stream, &schema), 0);
  assert_string_equal(schema.children[2]->format, "g");
  assert_string_equal(schema.children[3]->format, "u");
  /* A consumer moves a column's schema away, too */
  struct ArrowSchema late = *schema.children[3];
  schema.children[3]->release = NULL;
  schema.release(&schema);
  assert_string_equal(late.name, "late");
  late.release(&late);
  while( stream.get_next(&stream, &batch)==0 && batch.release ){
    for(int64_t i=0; i<batch.length; i++, rows++){
      const int32_t *offsets = batch.children[1]->buffers[1];
      char want[32] = "";
      assert_int_equal(((const int64_t*)batch.children[0]->buffers[1])[i], rows);
      if( rows%3 ) snprintf(want, sizeof(want), "row %lld", (long long)rows);
      assert_int_equal(is_null(batch.children[1], i), rows%3==0);
      assert_int_equal(offsets[i+1]-offsets[i], strlen(want));
      assert_memory_equal((const char*)batch.children[1]->buffers[2]+offsets[i], want, strlen(want));
      assert_true( ((const double*)batch.children[2]->buffers[1])[i]==(rows==149999 ? 0.5 : (double)rows) );
      assert_int_equal(is_null(batch.children[3], i), rows<149999);
    }
    nulls += batch.children[1]->null_count;
    /* A consumer moves a column away, and keeps it longer than the batch */
    struct ArrowArray moved = *batch.children[0];
    batch.children[0]->release = NULL;
    batch.release(&batch);
    assert_int_equal(((const int64_t*)moved.buffers[1])[0]%65536, 0);
    moved.release(&moved);
  }
  assert_int_equal(rows, 150000);
  assert_int_equal(nulls, 50000);
  stream.release(&stream);
}

/* 64 MiB of a column end a batch before its rows do. */
TEST(a_batch_ends_with_its_bytes){
  static const int64_t lengths[][2] = { { 1, 64<<20 }, { 2, 6 } };   /* Rows and bytes */
  struct ArrowArrayStream stream;
  struct ArrowArray batch;
  char *message = NULL;
  assert_int_equal(sqlite3_ztensor_arrow(db, "SELECT zeroblob(64<<20) AS b UNION ALL VALUES (x'010203'), (x'040506')", 0, NULL,
                                         &stream, &message), SQLITE_OK);
  for(size_t i=0; i<COUNT(lengths); i++){
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, lengths[i][0]);
    assert_int_equal(((const int32_t*)batch.children[0]->buffers[1])[batch.length], lengths[i][1]);
    if( i==1 ) assert_memory_equal(batch.children[0]->buffers[2], "\1\2\3\4\5\6", 6);
    batch.release(&batch);
  }
  assert_int_equal(stream.get_next(&stream, &batch), 0);
  assert_null(batch.release);
  stream.release(&stream);
}

/* --- Tensors --- */

static int dense(const char *path, const char *object, const char *dtype, int64_t first, int64_t count, void *array, int64_t n,
                 char **message){
  const zt_binding source = { .type = SQLITE_TEXT, .bytes = path, .nBytes = (int64_t)strlen(path) };
  const zt_binding name = { .type = SQLITE_TEXT, .bytes = object, .nBytes = (int64_t)strlen(object) };
  return sqlite3_ztensor_dense(db, &source, &name, dtype, first, count, array, n, message);
}

static sqlite3_stmt *prepare(const char *sql){
  sqlite3_stmt *stmt;
  check( sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)==SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db) );
  return stmt;
}

static void check_array(const char *path, const char *object, const char *dtype, const void *want, int n){
  const zt_binding source = { .type = SQLITE_TEXT, .bytes = path, .nBytes = (int64_t)strlen(path) };
  const zt_binding name = { .type = SQLITE_TEXT, .bytes = object, .nBytes = (int64_t)strlen(object) };
  char *message = NULL;
  const char *own;
  uint8_t *array = malloc((size_t)n+1);
  assert_int_equal(sqlite3_ztensor_dtype(db, &source, &name, &own, &message), SQLITE_OK);
  if( !dtype ) check( dense(path, object, own, 0, -1, array, n, &message)==SQLITE_OK && (n==0 || memcmp(array, want, (size_t)n)==0),
                      "%s: %s: %s", path, object, own );
  memset(array, 0xee, (size_t)n+1);
  check( dense(path, object, dtype, 0, -1, array, n, &message)==SQLITE_OK, "%s: %s", path, message );
  check( n==0 || memcmp(array, want, (size_t)n)==0, "%s: %s", path, object );
  assert_int_equal(array[n], 0xee);
  assert_int_equal(dense(path, object, dtype, 0, -1, array, n+1, &message), SQLITE_ERROR);
  check( strstr(message, "caller's array: the file has changed")!=NULL, "%s", message );
  sqlite3_ztensor_free(message);
  free(array);
}

/* The failure of a tensor without values is zt_dense()'s. */
static int check_refused(const char *path, const char *object, const char *dtype, const char *error){
  char *message = NULL, *expected = strdup(error);
  assert_int_equal(dense(path, object, dtype, 0, -1, NULL, 0, &message), SQLITE_ERROR);
  check( strcmp(message, expected)==0 || strstr(message, "caller's array")!=NULL, "%s, not %s", message, expected );
  sqlite3_ztensor_free(message);
  free(expected);
  return 1;
}

/* Every tensor of the golden files is what zt_dense() returns, and an array of another size is refused. */
TEST(an_array_gets_what_a_blob_would_be){
  sqlite3_stmt *all = prepare("SELECT path, object FROM zt_objects('tests/formats/*/golden/**', 'skip')");
  int whole = 0, refused = 0;
  while( sqlite3_step(all)==SQLITE_ROW ){
    const char *path = (const char*)sqlite3_column_text(all, 0), *object = (const char*)sqlite3_column_text(all, 1);
    for(int as=0; as<2; as++){
      const char *dtype = as ? "f64" : NULL;
      sqlite3_stmt *one = prepare("SELECT zt_dense(?, ?, ?)");
      sqlite3_bind_text(one, 1, path, -1, SQLITE_STATIC);
      sqlite3_bind_text(one, 2, object, -1, SQLITE_STATIC);
      sqlite3_bind_text(one, 3, dtype, -1, SQLITE_STATIC);
      if( sqlite3_step(one)==SQLITE_ROW ){
        check_array(path, object, dtype, sqlite3_column_blob(one, 0), sqlite3_column_bytes(one, 0));
        whole++;
      }else{
        refused += check_refused(path, object, dtype, sqlite3_errmsg(db));
      }
      sqlite3_finalize(one);
    }
  }
  sqlite3_finalize(all);
  check( whole>500 && refused>20, "%d, %d", whole, refused );
}

TEST(rows_of_a_tensor){
  static const uint8_t expected[24] = "\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xc0\x40\0\0\xe0\x40\0\0\0\x41";   /* 3, ... 8 */
  uint8_t two[24];
  char *message = NULL;
  sqlite3_stmt *stmt = prepare("SELECT zt_pack('safetensors', 'w', x'000102030405060708090a0b', 'u8', '[4,3]')");
  char path[] = "/tmp/zt-bindings-XXXXXX";
  int fd = mkstemp(path);
  assert_true( fd>=0 );
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  assert_int_equal(write(fd, sqlite3_column_blob(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0)), sqlite3_column_bytes(stmt, 0));
  sqlite3_finalize(stmt);
  close(fd);
  assert_int_equal(dense(path, "w", "float32", 1, 2, two, sizeof(two), &message), SQLITE_OK);
  assert_memory_equal(two, expected, sizeof(expected));
  assert_int_equal(dense(path, "w", "f99", 0, -1, two, sizeof(two), &message), SQLITE_ERROR);
  check( strstr(message, "f99")!=NULL, "%s", message );
  sqlite3_ztensor_free(message);
  assert_int_equal(dense(path, "W", NULL, 0, -1, two, sizeof(two), &message), SQLITE_ERROR);
  check( strstr(message, "did you mean 'w'")!=NULL, "%s", message );
  sqlite3_ztensor_free(message);
  unlink(path);
}

TEST(a_connection_without_the_extension_gives_no_tensors){
  const zt_binding name = { .type = SQLITE_TEXT, .bytes = "w", .nBytes = 1 };
  sqlite3 *other;
  char *message = NULL;
  const char *dtype;
  assert_int_equal(sqlite3_open(":memory:", &other), SQLITE_OK);
  assert_int_equal(sqlite3_ztensor_dtype(other, &name, &name, &dtype, &message), SQLITE_ERROR);
  assert_string_equal(message, "no such function: zt_dense");
  sqlite3_ztensor_free(message);
  sqlite3_close(other);
}

TEST(the_loaded_connection_is_taken_once){
  sqlite3 *other;
  char *message = NULL;
  (void)sqlite3_ztensor_loaded();
  assert_null(sqlite3_ztensor_loaded());
  assert_int_equal(sqlite3_open(":memory:", &other), SQLITE_OK);
  assert_int_equal(sqlite3_ztensor_init(other, &message, NULL), SQLITE_OK);
  assert_ptr_equal(sqlite3_ztensor_loaded(), other);
  assert_null(sqlite3_ztensor_loaded());
  sqlite3_close(other);
}

/* --- Out of memory --- */

static int run_job(const job *j){
  char *out = NULL;
  int rc = run(j->context, 0, NULL, &out);
  if( rc==SQLITE_OK ) assert_string_equal(out, j->what);
  sqlite3_ztensor_free(out);
  return rc;
}

/* A connection keeps its last error: this one's own goes with it. */
static int run_apart(const job *j){
  sqlite3 *usual = db;
  int rc = sqlite3_open(":memory:", &db);
  if( rc==SQLITE_OK ) rc = run_job(j);
  sqlite3_close(db);
  db = usual;
  return rc;
}

/* A result of which `what` is the end. */
static int run_long(const job *j){
  char *out = NULL;
  int rc = run(j->context, 0, NULL, &out);
  if( rc==SQLITE_OK ) assert_string_equal(out+strlen(out)-strlen(j->what), j->what);
  sqlite3_ztensor_free(out);
  return rc;
}

TEST(while_allocations_fail){
  static const job jobs[] = {
    { .what = "i:g t:u n:n b:z | 1.0 'a' . . | 2.5 . . 'b'", .run = run_job, .least = 10,
      .context = "SELECT 1 AS i, 'a' AS t, NULL AS n, NULL AS b UNION ALL SELECT 2.5, NULL, NULL, x'62'" },
    { .what = "", .run = run_job, .least = 5, .otherwise = SQLITE_ERROR, .context = "SELECT 1 AS i UNION ALL SELECT 'a'" },
    { .what = "no such column", .run = run_apart, .least = 2, .otherwise = SQLITE_ERROR, .context = "SELECT absent" },
    { .what = "two statements", .run = run_apart, .least = 2, .otherwise = SQLITE_ERROR, .context = "SELECT 1; SELECT 2" },
    { .what = "a failing row", .run = run_apart, .least = 5, .otherwise = SQLITE_ERROR,
      .context = "SELECT abs(-9223372036854775807-1)" },
    { .what = "b:z | ''", .run = run_job, .least = 5, .context = "SELECT zeroblob(9) AS b" },
    { .what = " | . 1022 | 1023 1023 | . 1024", .run = run_long, .least = 20,   /* The first batch grows */
      .context = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<1024) "
                 "SELECT CASE WHEN i%2 THEN i END AS a, i FROM n" },
  };
  sqlite3 *usual = db;
  for(size_t i=0; i<COUNT(jobs); i++) sweep(&jobs[i]);
  /* Texts are converted when they are asked for */
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "PRAGMA encoding='UTF-16'", NULL, NULL, NULL), SQLITE_OK);
  sweep(&jobs[0]);
  sqlite3_close(db);
  db = usual;
  check_sweeps(16, 200);
}

int main(void){
  return begin_sweeps() ? run_all("bindings", open_db, close_db) : 1;
}
