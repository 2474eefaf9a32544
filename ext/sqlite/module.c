/* Connecting to a table. See module.h. */
#include "sqlite/module.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MODULE_FIRST 3   /* argv begins with the names of module, database and table */
#define MODULE_LENGTH 4096   /* Maximum bytes of a declaration and of SQLite's text of it */

/* --- Arguments --- */

static bool module_is_space(char ch){
  return ch==' ' || ch=='\t' || ch=='\n' || ch=='\r' || ch=='\f';
}

char *zt_module_dequote(const char *z){
  size_t n = strlen(z), w = 0;
  char *out = sqlite3_mprintf("%s", z);
  char quote = z[0];
  if( !out || n<2 || (quote!='\'' && quote!='"') || z[n-1]!=quote ) return out;
  for(size_t i=1; i<n-1; i++){
    out[w++] = z[i];
    if( z[i]==quote && z[i+1]==quote ) i++;
  }
  out[w] = 0;
  return out;
}

size_t zt_module_argument_name(const char *z, const char **value){
  size_t n = 0;
  while( (z[n]>='a' && z[n]<='z') || (z[n]>='A' && z[n]<='Z') || z[n]=='_' ) n++;
  *value = z+n;
  while( module_is_space(**value) ) (*value)++;
  if( n==0 || **value!='=' ) return 0;
  do (*value)++; while( module_is_space(**value) );
  return n;
}

/* Return the place of a named argument, or -1. */
static int module_place(const zt_module_names *names, const char *name, size_t n){
  for(int i=0; i<names->n; i++){
    if( strlen(names->a[i])==n && sqlite3_strnicmp(name, names->a[i], (int)n)==0 ) return i;
  }
  return -1;
}

static int module_fail_name(const zt_module_names *names, const char *name, size_t n,
                            zt_error *err){
  sqlite3_str *text = sqlite3_str_new(NULL);
  char *list;
  for(int i=0; i<names->n; i++) sqlite3_str_appendf(text, "%s%s", i ? ", " : "", names->a[i]);
  list = sqlite3_str_finish(text);
  if( !list ) return zt_fail_nomem(err);
  zt_fail(err, SQLITE_ERROR, "%s has no argument '%.*s'; it takes %s", names->table, (int)n, name,
          list);
  sqlite3_free(list);
  return err->rc;
}

/* Take the i-th argument. *named: this argument or one before it has a name. */
static int module_take(const zt_module_names *names, int i, const char *z, bool *named,
                       char **values, zt_error *err){
  const char *value;
  size_t n = zt_module_argument_name(z, &value);
  if( n==0 && *named ){
    return zt_fail(err, SQLITE_ERROR,
                   "%s: an argument without a name comes after one with a name: %s", names->table,
                   z);
  }
  if( n>0 ){
    *named = true;
    i = module_place(names, z, n);
    if( i<0 ) return module_fail_name(names, z, n, err);
  }else{
    value = z;
  }
  if( values[i] ){
    return zt_fail(err, SQLITE_ERROR, "%s: the argument %s is given twice", names->table,
                   names->a[i]);
  }
  values[i] = zt_module_dequote(value);
  return values[i] ? SQLITE_OK : zt_fail_nomem(err);
}

int zt_module_take_all(const zt_module_names *names, int argc, const char *const *argv,
                       char **values, zt_error *err){
  bool named = false;
  if( argc-MODULE_FIRST>names->n ){
    return zt_fail(err, SQLITE_ERROR, "%s takes at most %d argument%s", names->table, names->n,
                   names->n>1 ? "s" : "");
  }
  for(int i=MODULE_FIRST; i<argc; i++){
    if( module_take(names, i-MODULE_FIRST, argv[i], &named, values, err) ) return err->rc;
  }
  return SQLITE_OK;
}

static int module_check(const zt_table *table, int i, const char *value, zt_error *err){
  const char *const *choices = table->choices[i];
  const zt_dtype *dtype = NULL;
  if( strcmp(table->arguments[i], "on_error")==0 ){
    if( strcmp(value, "abort")==0 || strcmp(value, "skip")==0 ) return SQLITE_OK;
    return zt_fail(err, SQLITE_ERROR, "on_error must be 'abort' or 'skip', not '%s'", value);
  }
  if( strcmp(table->arguments[i], "dtype")==0 ){
    return zt_dtype_find((zt_text){ value, strlen(value) }, &dtype, err);
  }
  if( table->check ) return table->check(i, value, err);
  if( !choices[0] ) return SQLITE_OK;
  for(int k=0; choices[k]; k++) if( strcmp(value, choices[k])==0 ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "%s must be '%s' or '%s', not '%s'", table->arguments[i],
                 choices[0], choices[1], value);
}

int zt_module_check(const zt_table *table, int i, char *value, zt_error *err){
  if( module_check(table, i, value, err) ) return err->rc;
  if( table->integers>>i & 1 ){   /* Its digits are no fewer */
    sqlite3_snprintf((int)strlen(value)+1, value, "%lu", strtoul(value, NULL, 10));
  }
  return SQLITE_OK;
}

/* --- Tables --- */

int zt_module_disconnect(sqlite3_vtab *p){
  zt_vtab *v = (zt_vtab*)p;
  sqlite3_free(v->source);
  sqlite3_free(v->name);
  for(int i=0; i<ZT_ARGUMENTS; i++) sqlite3_free(v->argument[i]);
  sqlite3_free(v);
  return SQLITE_OK;
}

/* Raise one of the host's limits to at least n. Returns the previous limit. */
static int module_raise(sqlite3 *db, int limit, int n){
  const int before = sqlite3_limit(db, limit, -1);
  if( before<n ) sqlite3_limit(db, limit, n);
  return before;
}

/* The host's limits on values and statements may be below the length of a declaration. */
int zt_module_declare(sqlite3 *db, const char *sql){
  const int length = module_raise(db, SQLITE_LIMIT_LENGTH, MODULE_LENGTH);
  const int sql_length = module_raise(db, SQLITE_LIMIT_SQL_LENGTH, MODULE_LENGTH);
  const int rc = sqlite3_declare_vtab(db, sql);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, length);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, sql_length);
  return rc;
}

/* Hidden columns need a type. SQLite would derive a numeric one from the word HIDDEN and compare
** them as numbers. */
static int module_declare(sqlite3 *db, const zt_table *t){
  sqlite3_str *sql = sqlite3_str_new(NULL);
  char *z;
  int rc;
  sqlite3_str_appendf(sql, "CREATE TABLE x(%s, source BLOB HIDDEN", t->visible);
  for(int i=0; i<zt_table_arguments(t); i++){
    sqlite3_str_appendf(sql, ", %s %s HIDDEN", t->arguments[i],
                        t->integers>>i & 1 ? "INTEGER" : "TEXT");
  }
  if( t->hidden ) sqlite3_str_appendf(sql, ", \"too many arguments\" HIDDEN, %s", t->hidden);
  sqlite3_str_appendall(sql, ")");
  z = sqlite3_str_finish(sql);
  rc = z ? zt_module_declare(db, z) : SQLITE_NOMEM;
  sqlite3_free(z);
  return rc;
}

/* Take and check all arguments of CREATE VIRTUAL TABLE. */
static int module_take_arguments(zt_vtab *v, int argc, const char *const *argv, zt_error *err){
  const zt_table *table = v->module->table;
  zt_module_names names = { .table = table->name, .n = 1+zt_table_arguments(table) };
  char *values[1+ZT_ARGUMENTS] = { NULL };
  names.a[0] = "source";
  for(int i=1; i<names.n; i++) names.a[i] = table->arguments[i-1];
  zt_module_take_all(&names, argc, argv, values, err);
  v->source = values[0];
  memcpy(v->argument, values+1, sizeof(v->argument));
  for(int i=1; i<names.n && !err->rc; i++){
    if( values[i] ) zt_module_check(table, i-1, values[i], err);
  }
  return err->rc;
}

int zt_module_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **message){
  const zt_table_module *m = client;
  zt_error err = ZT_ERROR_NONE;
  zt_vtab *v = sqlite3_malloc64(sizeof(*v));
  int rc;
  if( !v ) return SQLITE_NOMEM;
  *v = (zt_vtab){ .module = m, .name = sqlite3_mprintf("\"%w\".\"%w\"", argv[1], argv[2]) };
  rc = v->name ? module_take_arguments(v, argc, argv, &err) : SQLITE_NOMEM;
  if( rc==SQLITE_OK ) rc = module_declare(db, m->table);
  *message = err.message;
  if( rc ){
    zt_module_disconnect(&v->base);
    return rc;
  }
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  *out = &v->base;
  return SQLITE_OK;
}

/* --- Tables outside the frame --- */

/* Allocate zeroed memory. */
static int module_new(size_t size, void **out){
  *out = sqlite3_malloc64(size);
  if( !*out ) return SQLITE_NOMEM;
  memset(*out, 0, size);
  return SQLITE_OK;
}

int zt_module_connect_plain(sqlite3 *db, const char *sql, int trust, size_t size,
                            sqlite3_vtab **out){
  void *vtab;
  int rc = zt_module_declare(db, sql);
  if( rc==SQLITE_OK ) sqlite3_vtab_config(db, trust);
  if( rc==SQLITE_OK ) rc = module_new(size, &vtab);
  if( rc==SQLITE_OK ) *out = vtab;
  return rc;
}

int zt_module_disconnect_plain(sqlite3_vtab *p){
  sqlite3_free(p);
  return SQLITE_OK;
}

int zt_module_open_plain(size_t size, sqlite3_vtab_cursor **out){
  void *cursor;
  const int rc = module_new(size, &cursor);
  if( rc==SQLITE_OK ) *out = cursor;
  return rc;
}

sqlite3_int64 zt_module_rowid(sqlite3_value *const *value, int n){
  uint64_t number = 0;
  for(int k=0; k<n; k++){
    const int type = value[k] ? sqlite3_value_type(value[k]) : SQLITE_NULL;
    const uint64_t seed = number + (uint64_t)type + (uint64_t)k;
    const void *bytes = value[k] ? sqlite3_value_blob(value[k]) : NULL;
    const size_t size = bytes ? (size_t)sqlite3_value_bytes(value[k]) : 0;
    number = XXH3_64bits_withSeed(size ? bytes : "", size, seed);
  }
  return (sqlite3_int64)(number & INT64_MAX);
}
