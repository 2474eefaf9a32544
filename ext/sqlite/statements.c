/* Properties of the running statements. See statements.h. */
#include "sqlite/statements.h"

#include <string.h>
#include "core/span.h"

#define STATEMENTS_BEFORE_JOIN 3   /* Most words before JOIN: NATURAL LEFT OUTER, in any order */

static bool statements_is_word(char ch){
  return (ch>='a' && ch<='z') || (ch>='A' && ch<='Z') || (ch>='0' && ch<='9') || ch=='_' || ch=='$'
      || (ch & 0x80);
}

/* Skip a quoted text or a comment, or else one character. */
static const char *statements_pass(const char *z){
  const char *end;
  if( z[0]=='-' && z[1]=='-' ) return z+strcspn(z, "\n");
  if( z[0]=='/' && z[1]=='*' ){
    end = strstr(z+2, "*/");
    return end ? end+2 : z+strlen(z);
  }
  if( *z!='\'' && *z!='"' && *z!='`' && *z!='[' ) return z+1;
  /* A doubled quote makes two texts here, which does no harm */
  end = strchr(z+1, *z=='[' ? ']' : *z);
  return end ? end+1 : z+strlen(z);
}

/* The next word of a statement, n bytes long; NULL at its end. Everything else is skipped. *alone:
** only blanks and comments were skipped. */
static const char *statements_word(const char *z, size_t *n, bool *alone){
  *alone = true;
  while( *z && !statements_is_word(*z) ){
    bool blank = strchr(" \t\r\n\f", *z)!=NULL || (z[0]=='-' && z[1]=='-')
              || (z[0]=='/' && z[1]=='*');
    if( !blank ) *alone = false;
    z = statements_pass(z);
  }
  for(*n=0; statements_is_word(z[*n]); (*n)++){}
  return *n ? z : NULL;
}

static bool statements_is(const char *z, size_t n, const char *word){
  return strlen(word)==n && sqlite3_strnicmp(z, word, (int)n)==0;
}

static bool statements_speaks_of_outer(const char *sql){
  int since = STATEMENTS_BEFORE_JOIN+1;   /* Words since LEFT, RIGHT, FULL or OUTER */
  size_t n = 0;
  bool alone;
  for(const char *z=sql; z && (z = statements_word(z, &n, &alone))!=NULL; z+=n){
    if( !alone ) since = STATEMENTS_BEFORE_JOIN+1;
    if( statements_is(z, n, "join") && since<=STATEMENTS_BEFORE_JOIN ) return true;
    since++;
    if( statements_is(z, n, "left") || statements_is(z, n, "right") || statements_is(z, n, "full")
     || statements_is(z, n, "outer") ) since = 1;
  }
  return false;
}

static bool statements_speaks_of_compound(const char *sql){
  size_t n = 0;
  bool alone;
  for(const char *z=sql; z && (z = statements_word(z, &n, &alone))!=NULL; z+=n){
    if( statements_is(z, n, "union") || statements_is(z, n, "except")
     || statements_is(z, n, "intersect") ) return true;
  }
  return false;
}

/* Names count however they are quoted. The rowid's names are rowid, _rowid_ and oid. */
static bool statements_speaks_of_source(const char *sql){
  static const char *const names[] = { "%source%", "%rowid%", "%oid%" };
  size_t n = 0;
  bool alone;
  for(int i=0; i<3; i++) if( !sql || sqlite3_strlike(names[i], sql, 0)==0 ) return true;
  for(const char *z=sql; z && (z = statements_word(z, &n, &alone))!=NULL; z+=n){
    if( statements_is(z, n, "or") ) return true;
  }
  return statements_speaks_of_outer(sql);
}

/* True if `speaks` is true for a running statement or a TEMP view or trigger, or if that is
** unknown. */
static bool statements_any(sqlite3 *db, bool (*speaks)(const char *sql)){
  static const char views[] =
    "SELECT sql FROM sqlite_temp_master WHERE type IN ('view', 'trigger')";
  sqlite3_stmt *stmt;
  bool found = false;
  int rc;
  for(stmt=sqlite3_next_stmt(db, NULL); stmt && !found; stmt=sqlite3_next_stmt(db, stmt)){
    if( sqlite3_stmt_busy(stmt) ) found = speaks(sqlite3_sql(stmt));
  }
  if( found ) return true;
  rc = sqlite3_prepare_v2(db, views, -1, &stmt, NULL);
  if( rc ) return true;
  while( !found && (rc = sqlite3_step(stmt))==SQLITE_ROW ){
    found = speaks((const char*)sqlite3_column_text(stmt, 0));
  }
  sqlite3_finalize(stmt);
  return found || rc!=SQLITE_DONE;
}

bool zt_statements_join_outer(sqlite3 *db){
  return statements_any(db, statements_speaks_of_outer);
}

bool zt_statements_are_compound(sqlite3 *db){
  return statements_any(db, statements_speaks_of_compound);
}

bool zt_statements_ask_for_source(sqlite3 *db){
  return statements_any(db, statements_speaks_of_source);
}

bool zt_statements_have(sqlite3 *db, const sqlite3_stmt *stmt){
  const sqlite3_stmt *known = sqlite3_next_stmt(db, NULL);
  while( known && known!=stmt ) known = sqlite3_next_stmt(db, (sqlite3_stmt*)known);
  return known!=NULL;
}
