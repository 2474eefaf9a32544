/*
** sqlite/attribute_value: values and types of attributes become CBOR, and are shown again. Every attribute of every file
** below tests/formats comes back as it was.
*/
#include "oom.h"
#include "cbor_value.h"

#include <math.h>
#include "container/container.h"
#include "container/value_cbor.h"
#include "sqlite/attribute_value.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

static sqlite3 *db;

/* cbor(value, type): the CBOR; a failure is the statement's. */
static void function_cbor(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  (void)n;
  zt_cbor_put_null(&out);   /* Earlier bytes stay */
  if( zt_attribute_cbor(args[0], args[1], &out, &err)==SQLITE_OK ){
    sqlite3_result_blob64(ctx, out.p+1, out.n-1, SQLITE_TRANSIENT);
  }else{
    if( err.rc!=SQLITE_NOMEM ) assert_int_equal(out.n, 1);
    zt_result_error(ctx, &err);
  }
  zt_cbor_out_clear(&out);
}

static zt_span argument(sqlite3_value *v){
  return (zt_span){ sqlite3_value_blob(v), (size_t)sqlite3_value_bytes(v) };
}

static void function_shown(sqlite3_context *ctx, int n, sqlite3_value **args){
  const zt_interrupt none = { NULL, NULL };
  zt_error err = ZT_ERROR_NONE;
  zt_value value;
  zt_container *c = value_of_cbor(argument(args[0]), &value, &err);
  (void)n;
  if( c ) zt_attribute_result_value(ctx, c, &value, none);
  else zt_result_error(ctx, &err);
  zt_container_close(c);
}

static void function_shown_type(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  zt_value value;
  zt_container *c = value_of_cbor(argument(args[0]), &value, &err);
  (void)n;
  if( c ) sqlite3_result_text(ctx, zt_attribute_type_of(&value), -1, SQLITE_STATIC);
  else zt_result_error(ctx, &err);
  zt_container_close(c);
}

static int open_db(void **state){
  char *message = NULL;
  (void)state;
  if( sqlite3_open(":memory:", &db) || sqlite3_ztensor_init(db, &message, NULL) ) return 1;
  return sqlite3_create_function(db, "cbor", 2, SQLITE_UTF8, NULL, function_cbor, NULL, NULL)
      || sqlite3_create_function(db, "shown", 1, SQLITE_UTF8, NULL, function_shown, NULL, NULL)
      || sqlite3_create_function(db, "shown_type", 1, SQLITE_UTF8, NULL, function_shown_type, NULL, NULL);
}

static int close_db(void **state){
  (void)state;
  return sqlite3_close(db);
}

/* --- Single values --- */

static sqlite3_stmt *prepare(const char *sql){
  sqlite3_stmt *s;
  check( sqlite3_prepare_v2(db, sql, -1, &s, NULL)==SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db) );
  return s;
}

/* The first column of the only row, as SQLite's quote() writes it. */
static void expect_sql(const char *sql, const char *want){
  sqlite3_stmt *s = prepare(sql);
  check( sqlite3_step(s)==SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db) );
  check( strcmp((const char*)sqlite3_column_text(s, 0), want)==0, "%s: %s, expected %s", sql, sqlite3_column_text(s, 0), want );
  sqlite3_finalize(s);
}

/* A value and a type, as SQL, give these bytes; and these show the value and the type again. */
static void expect(const char *value, const char *type, const char *hex){
  char *sql = sqlite3_mprintf("SELECT lower(hex(cbor(%s, %s)))", value, type);
  expect_sql(sql, hex);
  sqlite3_free(sql);
}

static void expect_back(const char *value, const char *type, const char *hex){
  char *sql = sqlite3_mprintf("SELECT quote(shown(x'%s')) || ' ' || typeof(shown(x'%s')) || ' ' || quote(shown_type(x'%s'))", hex, hex, hex);
  char *want = sqlite3_mprintf("SELECT quote(%s) || ' ' || typeof(%s) || ' ' || %Q", value, value, type);
  sqlite3_stmt *s = prepare(want);
  expect(value, type, hex);
  assert_int_equal(sqlite3_step(s), SQLITE_ROW);
  expect_sql(sql, (const char*)sqlite3_column_text(s, 0));
  sqlite3_finalize(s);
  sqlite3_free(sql);
  sqlite3_free(want);
}

static void expect_failure(const char *value, const char *type, const char *message){
  char *sql = sqlite3_mprintf("SELECT cbor(%s, %s)", value, type), *want = sqlite3_mprintf("ztensor: %s", message);
  sqlite3_stmt *s = prepare(sql);
  check( sqlite3_step(s)==SQLITE_ERROR, "%s: no failure", sql );
  check( strcmp(sqlite3_errmsg(db), want)==0, "%s: %s, expected %s", sql, sqlite3_errmsg(db), want );
  sqlite3_finalize(s);
  sqlite3_free(sql);
  sqlite3_free(want);
}

TEST(test_scalars){
  expect_back("NULL", "'null'", "f6");
  expect_back("1", "'true'", "f5");
  expect_back("0", "'false'", "f4");
  expect_back("0", "'integer'", "00");
  expect_back("9223372036854775807", "'integer'", "1b7fffffffffffffff");
  expect_back("-9223372036854775808", "'integer'", "3b7fffffffffffffff");
  expect_back("'9223372036854775808'", "'integer'", "1b8000000000000000");
  expect_back("'18446744073709551615'", "'integer'", "1bffffffffffffffff");
  expect_back("'-9223372036854775809'", "'integer'", "3b8000000000000000");
  expect_back("'-18446744073709551616'", "'integer'", "3bffffffffffffffff");
  expect_back("1.5", "'real'", "f93e00");
  expect_back("-0.0", "'real'", "f98000");
  expect_back("0.1", "'real'", "fb3fb999999999999a");
  expect_back("9e999", "'real'", "f97c00");
  expect_back("-9e999", "'real'", "f9fc00");
  expect_back("NULL", "'real'", "f97e00");
  expect_back("''", "'text'", "60");
  expect_back("'[1]'", "'text'", "635b315d");
  expect_back("'a' || char(0) || 'b'", "'text'", "63610062");
  expect_back("char(8364)", "'text'", "63e282ac");
  expect_back("x''", "'blob'", "40");
  expect_back("x'ff00'", "'blob'", "42ff00");
}

TEST(test_the_type_may_be_the_values_own){
  expect("NULL", "NULL", "f6");
  expect("1", "NULL", "01");
  expect("-1", "NULL", "20");
  expect("1.0", "NULL", "f93c00");
  expect("'[1]'", "NULL", "635b315d");
  expect("'1'", "NULL", "6131");
  expect("x'01'", "NULL", "4101");
}

/* SQLite keeps the subtype of JSON in some statements, and loses it with ORDER BY. */
TEST(test_a_subtype_means_nothing){
  expect("json('[1]')", "NULL", "635b315d");
}

TEST(test_numbers_may_be_of_another_class_if_exact){
  expect("'5'", "'integer'", "05");
  expect("'-5'", "'integer'", "24");
  expect("'-0'", "'integer'", "00");
  expect("2", "'real'", "f94000");
  expect("9007199254740992", "'real'", "fa5a000000");
  expect("-9223372036854775808", "'real'", "fadf000000");
  expect_failure("9007199254740993", "'real'", "value '9007199254740993' is not of type real");
  expect_failure("9223372036854775807", "'real'", "value '9223372036854775807' is not of type real");
}

TEST(test_wrong_combinations){
  static const char *const values[] = { "NULL", "2", "1.5", "'x'", "x'00'" };
  static const struct { const char *type; unsigned fits; } types[] = {   /* One bit for each value */
    { "null", 1 }, { "true", 0 }, { "false", 0 }, { "integer", 2 }, { "real", 7 }, { "text", 8 }, { "blob", 16 },
    { "array", 0 }, { "object", 0 },
  };
  for(size_t i=0; i<COUNT(types); i++){
    for(size_t k=0; k<COUNT(values); k++){
      char *type = sqlite3_mprintf("'%s'", types[i].type), *message;
      const char *shown = values[k], *quote = *shown=='\'' ? "" : "'";
      if( *shown=='N' || (*shown=='x') ) quote = "";
      message = *shown=='x' ? sqlite3_mprintf("a BLOB value is not of type %s", types[i].type)
              : sqlite3_mprintf("value %s%s%s is not of type %s", quote, shown, quote, types[i].type);
      if( types[i].fits>>k & 1 ){
        char *sql = sqlite3_mprintf("SELECT typeof(cbor(%s, %s))", values[k], type);
        expect_sql(sql, "blob");
        sqlite3_free(sql);
      }else expect_failure(values[k], type, message);
      sqlite3_free(type);
      sqlite3_free(message);
    }
  }
  expect_failure("0", "'true'", "value '0' is not of type true");
  expect_failure("1", "'false'", "value '1' is not of type false");
  expect_failure("''", "'integer'", "value '' is not of type integer");
  expect_failure("'-'", "'integer'", "value '-' is not of type integer");
  expect_failure("' 1'", "'integer'", "value ' 1' is not of type integer");
  expect_failure("'1.0'", "'integer'", "value '1.0' is not of type integer");
  expect_failure("'99999999999999999999-'", "'integer'", "value '99999999999999999999-' is not of type integer");
  expect_failure("'18446744073709551616'", "'integer'", "integer 18446744073709551616 is beyond 64 bits; type 'text' keeps its digits");
  expect_failure("'-18446744073709551617'", "'integer'", "integer -18446744073709551617 is beyond 64 bits; type 'text' keeps its digits");
  expect_failure("'184467440737095516150'", "'integer'", "integer 184467440737095516150 is beyond 64 bits; type 'text' keeps its digits");
  expect_failure("'-184467440737095516160'", "'integer'", "integer -184467440737095516160 is beyond 64 bits; type 'text' keeps its digits");
  expect_failure("'{}'", "'array'", "value '{}' is not of type array");
  expect_failure("' [1]'", "'object'", "value ' [1]' is not of type object");
  expect_failure("CAST(x'61ff' AS TEXT)", "'text'", "value 'a\\xff' is not UTF-8; a BLOB can hold it");
}

TEST(test_unknown_types){
  static const char list[] = "; the types are null, true, false, integer, real, text, array, object and blob";
  static const char *const rows[][2] = { { "'int'", "int" }, { "'TEXT'", "TEXT" }, { "''", "" }, { "1", "1" }, { "x'61'", "" } };
  for(size_t i=0; i<COUNT(rows); i++){
    char *message = sqlite3_mprintf("unknown type '%s' of an attribute%s", rows[i][1], list);
    expect_failure("1", rows[i][0], message);
    sqlite3_free(message);
  }
}

TEST(test_json){
  expect_back("'[]'", "'array'", "80");
  expect_back("'{}'", "'object'", "a0");
  expect_back("'[null,false,true,1,-1,1.0,\"a\",[],{}]'", "'array'", "89f6f4f50120f93c00616180a0");
  expect_back("'{\"a\":1,\"b\":{\"c\":[0.1]}}'", "'object'", "a26161016162a1616381fb3fb999999999999a");
  expect_back("'[18446744073709551615,-9223372036854775808,-18446744073709551616]'", "'array'",
              "831bffffffffffffffff3b7fffffffffffffff3bffffffffffffffff");
  expect_back("'[9.0e+999,-9.0e+999,-0.0]'", "'array'", "83f97c00f9fc00f98000");
  expect_back("'[\"\\u0000\\n\\\"\\\\\"]'", "'array'", "8164000a225c");
  expect("' [ 9e999 , -9e999 ] '", "'array'", "82f97c00f9fc00");
  expect("'{\"b\":1,\"\":2,\"aa\":3}'", "'object'", "a36002616201626161" "03");
  expect("'[\"\\ud83d\\ude00\\u0041\"]'", "'array'", "8165f09f988041");
  expect("'{\"\\u0061\":-0}'", "'object'", "a1616100");
  expect("'[1e2,1E-400]'", "'array'", "82f95640f90000");
}

TEST(test_json_that_would_change){
  expect_failure("'{\"a\":1,\"a\":1}'", "'object'", "key 'a' occurs twice");
  expect_failure("'[{\"a\":1,\"b\":2,\"\\u0061\":1}]'", "'array'", "key 'a' occurs twice");
  expect_failure("'[1e400]'", "'array'", "number 1e400 of a JSON value is beyond all reals");
  expect_failure("'[-1e999]'", "'array'", "number -1e999 of a JSON value is beyond all reals");
  expect_failure("'[18446744073709551616]'", "'array'",
                 "integer 18446744073709551616 of a JSON value is beyond 64 bits; with an exponent it is a real number");
  expect_failure("'[-18446744073709551617]'", "'array'",
                 "integer -18446744073709551617 of a JSON value is beyond 64 bits; with an exponent it is a real number");
}

TEST(test_broken_json){
  static const char *const rows[][2] = {
    { "'['", "array" }, { "'[1'", "array" }, { "'[1,]'", "array" }, { "'[1]x'", "array" }, { "'[NaN]'", "array" },
    { "'[01]'", "array" }, { "'[''a'']'", "array" }, { "'{a:1}'", "object" }, { "'{\"a\"}'", "object" }, { "'{\"a\":1,}'", "object" },
    { "'[\"\\ud83d\"]'", "array" }, { "'[\"' || CAST(x'ff' AS TEXT) || '\"]'", "array" }, { "'[\"' || char(10) || '\"]'", "array" },
    { "'[1]' || char(0)", "array" }, { "replace(hex(zeroblob(33)), '0', '[')", "array" }, { "'[+1]'", "array" }, { "'[/**/]'", "array" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char *sql = sqlite3_mprintf("SELECT cbor(%s, '%s')", rows[i][0], rows[i][1]);
    sqlite3_stmt *s = prepare(sql);
    check( sqlite3_step(s)==SQLITE_ERROR, "%s: no failure", sql );
    check( strncmp(sqlite3_errmsg(db), "ztensor: JSON value byte ", 25)==0, "%s: %s", sql, sqlite3_errmsg(db) );
    sqlite3_finalize(s);
    sqlite3_free(sql);
  }
}

/* CBOR that no draft has. */
TEST(test_any_cbor_is_shown){
  expect_sql("SELECT quote(shown(x'c249010000000000000000')) || shown_type(x'c249010000000000000000')", "'18446744073709551616'integer");
  expect_sql("SELECT shown(x'bf7f616261636164ffa1c10102ff') || shown_type(x'bfff')", "{\"bcd\":{\"1\":2}}object");
  expect_sql("SELECT shown(x'82f97e004101')", "[null,\"01\"]");
  expect_sql("SELECT quote(shown(x'f7')) || shown_type(x'f7')", "NULLnull");
  expect_sql("SELECT quote(shown(x'7f6161ff')) || shown_type(x'7f6161ff')", "'a'text");
}

/* --- Values of files --- */

/* Values that zt_attributes does not show whole; attribute_value.h lists them. */
static bool loses(const zt_value *v, bool inside);

static bool loses_inside(zt_walk *w, zt_level *level){
  zt_value key, value;
  zt_level inner;
  while( zt_walk_next(w, level, &key, &value) ){
    if( level->map && (key.type!=ZT_VALUE_TEXT || key.tagged) ) return true;
    if( loses(&value, true) ) return true;
    if( value.type!=ZT_VALUE_ARRAY && value.type!=ZT_VALUE_MAP ) continue;
    zt_walk_enter(w, &inner);
    if( loses_inside(w, &inner) ) return true;
  }
  return false;
}

static bool loses(const zt_value *v, bool inside){
  if( v->tagged || (v->type==ZT_VALUE_INTEGER && v->bytes.p) ) return true;
  return inside && (v->type==ZT_VALUE_BYTES || (v->type==ZT_VALUE_REAL && isnan(v->real)));
}

typedef struct tally { unsigned equal, lost, refused, sorted; } tally;

static int compare_bytes(const void *a, const void *b){
  return *(const unsigned char*)a-*(const unsigned char*)b;
}

/* Two texts of JSON may differ in the order of keys. */
static bool same_characters(sqlite3_value *a, sqlite3_value *b){
  blob x = exact(sqlite3_value_blob(a), (size_t)sqlite3_value_bytes(a)), y = exact(sqlite3_value_blob(b), (size_t)sqlite3_value_bytes(b));
  bool same;
  qsort(x.p, x.n, 1, compare_bytes);
  qsort(y.p, y.n, 1, compare_bytes);
  same = x.n>0 && strchr("[{", *(const char*)sqlite3_value_text(a)) && same_blob(x, y);
  free(x.p);
  free(y.p);
  return same;
}

/* One row of zt_attributes, and the value that it shows. */
static void compare_row(const zt_container *c, const zt_value *v, sqlite3_stmt *row, const char *path, tally *t){
  zt_error err = ZT_ERROR_NONE, other_err = ZT_ERROR_NONE, walk_err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err }, other = { .err = &other_err };
  sqlite3_value *value = sqlite3_value_dup(sqlite3_column_value(row, 0)), *type = sqlite3_value_dup(sqlite3_column_value(row, 1));
  const char *key = (const char*)sqlite3_column_text(row, 2);
  sqlite3_stmt *back = prepare("SELECT shown(?1) IS ?2, typeof(shown(?1))=typeof(?2) AND shown_type(?1)=?3, shown(?1), ?2,"
                               " cbor(shown(?1), ?3)=?1");
  zt_level level;
  zt_walk w;
  bool lossy;
  zt_walk_begin(c, v, &w, &level, &walk_err);
  lossy = loses(v, false) || loses_inside(&w, &level);
  zt_walk_end(&w);
  zt_value_cbor(c, v, NULL, &out, &err);
  zt_attribute_cbor(value, type, &other, &other_err);
  if( !lossy ){
    check( err.rc==other_err.rc, "%s: %s: %s, %s", path, key, err.message, other_err.message );
    if( err.rc ) check( strstr(err.message, "occurs twice") && strstr(other_err.message, "occurs twice"), "%s: %s", path, key );
    else check( out.n==other.n && memcmp(out.p, other.p, out.n)==0, "%s: %s: other bytes", path, key );
  }
  if( other_err.rc==SQLITE_OK ){
    sqlite3_bind_blob64(back, 1, other.p, other.n, SQLITE_STATIC);
    sqlite3_bind_value(back, 2, value);
    sqlite3_bind_value(back, 3, type);
    check( sqlite3_step(back)==SQLITE_ROW, "%s: %s: %s", path, key, sqlite3_errmsg(db) );
    check( sqlite3_column_int(back, 1)==1 && sqlite3_column_int(back, 4)==1, "%s: %s: another type or value", path, key );
    if( !sqlite3_column_int(back, 0) ){
      check( same_characters(sqlite3_column_value(back, 2), sqlite3_column_value(back, 3)), "%s: %s: is shown as %s", path, key,
             sqlite3_column_text(back, 2) );
      t->sorted++;
    }
  }
  if( other_err.rc ) t->refused++;
  else if( lossy ) t->lost++;
  else t->equal++;
  sqlite3_finalize(back);
  sqlite3_value_free(value);
  sqlite3_value_free(type);
  zt_cbor_out_clear(&out);
  zt_cbor_out_clear(&other);
  zt_error_clear(&err);
  zt_error_clear(&other_err);
}

static void compare_attributes(const zt_container *c, zt_value attributes, sqlite3_stmt *rows, const char *path, tally *t){
  zt_error err = ZT_ERROR_NONE;
  zt_value key, value;
  zt_level level;
  zt_walk w;
  zt_walk_begin(c, &attributes, &w, &level, &err);
  while( zt_walk_next(&w, &level, &key, &value) ){
    check( sqlite3_step(rows)==SQLITE_ROW, "%s: %s", path, sqlite3_errmsg(db) );
    compare_row(c, &value, rows, path, t);
  }
  assert_succeeded(&err, path);
  zt_walk_end(&w);
}

static void compare_file(const char *path, tally *t){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  zt_container *c;
  sqlite3_stmt *rows = prepare("SELECT value, type, key FROM zt_attributes(?1)");
  sqlite3_bind_text(rows, 1, path, -1, SQLITE_STATIC);
  zt_source_open(path, NULL, &source, &err);
  assert_succeeded(&err, path);
  zt_container_open(source, NULL, &c, &err);
  assert_succeeded(&err, path);
  compare_attributes(c, zt_container_attributes(c), rows, path, t);
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    zt_object object;
    zt_container_object(c, i, &object);
    compare_attributes(c, object.attributes, rows, path, t);
  }
  check( sqlite3_step(rows)==SQLITE_DONE, "%s: more rows", path );
  sqlite3_finalize(rows);
  zt_container_close(c);
  zt_source_close(source);
}

TEST(test_attributes_of_files_come_back){
  sqlite3_stmt *files = prepare("SELECT path FROM zt_files('tests/formats') WHERE error IS NULL");
  tally t = { 0 };
  unsigned n = 0;
  for(; sqlite3_step(files)==SQLITE_ROW; n++) compare_file((const char*)sqlite3_column_text(files, 0), &t);
  check( sqlite3_finalize(files)==SQLITE_OK, "%s", sqlite3_errmsg(db) );
  print_message("%u files: %u equal, %u with less, %u refused; %u in another order\n", n, t.equal, t.lost, t.refused, t.sorted);
  assert_true(n>300 && t.equal>1000 && t.lost>0 && t.refused>0 && t.sorted>0);
}

/* --- Memory --- */

/* A statement gives 1, or memory is short. */
static int statement_job(const job *j){
  sqlite3_stmt *s = NULL;
  int rc = sqlite3_prepare_v2(db, j->context, -1, &s, NULL);
  if( rc==SQLITE_OK ){
    rc = sqlite3_step(s);
    if( rc==SQLITE_ROW ) check( sqlite3_column_int(s, 0)==1, "%s", j->what );
    rc = sqlite3_reset(s);
  }
  sqlite3_finalize(s);
  if( rc==SQLITE_ERROR ) assert_null(strstr(sqlite3_errmsg(db), "memory"));
  return rc;
}

TEST_WITH(test_memory_runs_out, disarm, NULL){
  static const job jobs[] = {
    { "text", statement_job, "SELECT cbor('abc', 'text')=x'63616263'", SQLITE_OK, 3 },
    { "an integer", statement_job, "SELECT cbor('18446744073709551615', 'integer')=x'1bffffffffffffffff'", SQLITE_OK, 3 },
    { "JSON", statement_job, "SELECT cbor('{\"b\\u0041\":[1.5,\"\\n\"],\"a\":{}}', 'object')=x'a26161a062624182f93e00610a'", SQLITE_OK, 6 },
    { "JSON with a key twice", statement_job, "SELECT cbor('{\"a\":1,\"a\":{}}', 'object')", SQLITE_ERROR, 4 },
    { "broken JSON", statement_job, "SELECT cbor('[', 'array')", SQLITE_ERROR, 4 },
    { "a wrong type", statement_job, "SELECT cbor(1.5, 'integer')", SQLITE_ERROR, 4 },
    { "an unknown type", statement_job, "SELECT cbor(1.5, 'int')", SQLITE_ERROR, 4 },
    { "shown text", statement_job, "SELECT shown(x'63616263')='abc'", SQLITE_OK, 4 },
    { "a shown integer", statement_job, "SELECT shown(x'1bffffffffffffffff')='18446744073709551615'", SQLITE_OK, 4 },
    { "shown JSON", statement_job, "SELECT shown(x'82f97c007f6161ff')='[9.0e+999,\"a\"]'", SQLITE_OK, 5 },
    { "UTF-16", statement_job, "SELECT cbor(cast(x'61' AS TEXT) || 'b', 'te' || 'xt')=x'626162'", SQLITE_OK, 4 },
  };
  for(size_t i=0; i<COUNT(jobs); i++) sweep(&jobs[i]);
  check_sweeps(2*COUNT(jobs), 100);
}

int main(void){
  return begin_sweeps() ? run_all("attribute_value", open_db, close_db) : 1;
}
