/*
** SQLite lists the tables, functions and columns that the extension registers, and EXPLAIN those that statements use: one
** that no statement uses is a failure.
*/
#ifndef ZT_TESTS_OOM_COMPLETE_H
#define ZT_TESTS_OOM_COMPLETE_H

#include "sweep.h"

/* A set of names: "FUNCTION(ARGUMENTS)", "TABLE" and "TABLE.COLUMN", the column's number. */
typedef struct used {
  char **a;
  size_t n;
} used;

static inline bool is_used(const used *u, const char *name){
  for(size_t i=0; i<u->n; i++) if( strcmp(u->a[i], name)==0 ) return true;
  return false;
}

static inline void add_used(used *u, const char *name){
  if( is_used(u, name) ) return;
  u->a = realloc(u->a, (u->n+1)*sizeof(*u->a));
  assert_non_null(u->a);
  u->a[u->n] = malloc(strlen(name)+1);
  assert_non_null(u->a[u->n]);
  strcpy(u->a[u->n++], name);
}

static inline void used_free(used *u){
  for(size_t i=0; i<u->n; i++) free(u->a[i]);
  free(u->a);
}

/* The first column of the rows, one name each. */
static inline used query_names(sqlite3 *db, const char *sql){
  used u = { 0 };
  sqlite3_stmt *s;
  check( sqlite3_prepare_v2(db, sql, -1, &s, NULL)==SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db) );
  while( sqlite3_step(s)==SQLITE_ROW ) add_used(&u, (const char*)sqlite3_column_text(s, 0));
  sqlite3_finalize(s);
  return u;
}

#define FUNCTIONS "SELECT DISTINCT name || '(' || narg || ')' FROM pragma_function_list"
#define MODULES "SELECT name FROM pragma_module_list WHERE name NOT GLOB 'pragma_*'"   /* Those come with their first use */

/* The names on a connection with the extension that one without lacks. */
static inline used registered(sqlite3 *db, const char *sql){
  used u = { 0 }, all = query_names(db, sql), own;
  sqlite3 *without;
  assert_int_equal(sqlite3_open(":memory:", &without), SQLITE_OK);
  own = query_names(without, sql);
  sqlite3_close(without);
  for(size_t i=0; i<all.n; i++) if( !is_used(&own, all.a[i]) ) add_used(&u, all.a[i]);
  used_free(&own);
  used_free(&all);
  return u;
}

#define CURSORS 32

/* Walk through a statement's program: which table each cursor is open on, by the address that p4 shows; then call back. */
static inline void explain(sqlite3 *db, const char *sql, char tables[CURSORS][64], used *functions, used *columns){
  char *text = sqlite3_mprintf("EXPLAIN %s", sql);
  sqlite3_stmt *s;
  check( sqlite3_prepare_v2(db, text, -1, &s, NULL)==SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db) );
  while( sqlite3_step(s)==SQLITE_ROW ){
    const char *opcode = (const char*)sqlite3_column_text(s, 1), *p4 = (const char*)sqlite3_column_text(s, 5);
    int p1 = sqlite3_column_int(s, 2), p2 = sqlite3_column_int(s, 3);
    char name[100];
    if( strcmp(opcode, "Function")==0 || strcmp(opcode, "PureFunc")==0 || strncmp(opcode, "AggStep", 7)==0 ) add_used(functions, p4);
    if( strcmp(opcode, "VOpen")!=0 && strcmp(opcode, "VColumn")!=0 ) continue;
    assert_true(p1>=0 && p1<CURSORS);
    if( opcode[1]=='O' ) snprintf(tables[p1], sizeof(tables[p1]), "%s", p4);
    snprintf(name, sizeof(name), "%s.%d", tables[p1], p2);
    if( opcode[1]=='C' ) add_used(columns, name);
  }
  sqlite3_finalize(s);
  sqlite3_free(text);
}

/* Add what a statement uses. Its connection has only the tables that are there without CREATE. */
static inline void note_used(used *u, sqlite3 *db, const char *sql){
  used modules = registered(db, MODULES), columns = { 0 };
  char tables[CURSORS][64] = { { 0 } };
  explain(db, sql, tables, u, &columns);
  for(size_t i=0; i<modules.n; i++){
    char select[100], place[CURSORS][64] = { { 0 } };
    used unused = { 0 };
    size_t n;
    snprintf(select, sizeof(select), "SELECT 1 FROM %s", modules.a[i]);
    explain(db, select, place, &unused, &unused);
    n = strlen(place[0]);
    check( n>0, "%s", select );
    for(size_t k=0; k<columns.n; k++){
      char name[200];
      if( strncmp(columns.a[k], place[0], n)!=0 || columns.a[k][n]!='.' ) continue;
      snprintf(name, sizeof(name), "%s%s", modules.a[i], columns.a[k]+n);
      add_used(u, modules.a[i]);
      add_used(u, name);
    }
    used_free(&unused);
  }
  used_free(&columns);
  used_free(&modules);
}

static inline void check_all(const used *u, const used *there){
  for(size_t i=0; i<there->n; i++) check( is_used(u, there->a[i]), "no statement uses %s", there->a[i] );
}

/* Everything that is registered is used. */
static inline void check_complete(const used *u){
  sqlite3 *db = open_database(&(oom_case){ .sql = NULL });
  used functions = registered(db, FUNCTIONS), modules = registered(db, MODULES);
  assert_true(functions.n>=12 && modules.n>=8);
  check_all(u, &functions);
  check_all(u, &modules);
  for(size_t i=0; i<modules.n; i++){
    char *sql = sqlite3_mprintf("SELECT '%s.' || cid FROM pragma_table_xinfo('%s')", modules.a[i], modules.a[i]);
    used columns = query_names(db, sql);
    assert_true(columns.n>=2);
    check_all(u, &columns);
    used_free(&columns);
    sqlite3_free(sql);
  }
  used_free(&functions);
  used_free(&modules);
  sqlite3_close(db);
}

#endif
