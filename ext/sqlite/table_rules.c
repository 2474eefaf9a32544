/*
** zt_rules: one row per rule of zt_check.
**
**   rule             the rule's name, as zt_check gives it
**   severity         `error`, `warning` or `note`
**   meaning          the statement that holds for every sound file
**   specification    the rule's source: the section of the newest specification that states it
**
** Rows come in the order of zt_rule_next(). It has no source and opens nothing, so it also works
** with the nofs entry point and in views stored in a database. It does not use the frame, whose
** tables all have a source.
*/
#include "sqlite/module.h"
#include "sqlite/tables.h"
#include "tensor/rule.h"

enum { RULES_RULE, RULES_SEVERITY, RULES_MEANING, RULES_SPECIFICATION };

typedef struct rules_cursor {
  sqlite3_vtab_cursor base;    /* First: SQLite's part */
  zt_rule_walk at;
  sqlite3_int64 row;           /* From 0 */
  bool eof;
} rules_cursor;

static int rules_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message){
  (void)client;
  (void)argc;
  (void)argv;
  (void)message;
  return zt_module_connect_plain(
    db, "CREATE TABLE x(rule TEXT, severity TEXT, meaning TEXT, specification TEXT)",
    SQLITE_VTAB_INNOCUOUS, sizeof(**out), out);
}

static int rules_best_index(sqlite3_vtab *p, sqlite3_index_info *info){
  (void)p;
  info->estimatedRows = 100;
  info->estimatedCost = 100;
  return SQLITE_OK;
}

static int rules_open(sqlite3_vtab *p, sqlite3_vtab_cursor **out){
  (void)p;
  return zt_module_open_plain(sizeof(rules_cursor), out);
}

static int rules_close(sqlite3_vtab_cursor *p){
  sqlite3_free(p);
  return SQLITE_OK;
}

static int rules_next(sqlite3_vtab_cursor *p){
  rules_cursor *c = (rules_cursor*)p;
  c->row++;
  c->eof = !zt_rule_next(&c->at);
  return SQLITE_OK;
}

static int rules_filter(sqlite3_vtab_cursor *p, int plan, const char *unused, int argc,
                        sqlite3_value **argv){
  rules_cursor *c = (rules_cursor*)p;
  (void)plan;
  (void)unused;
  (void)argc;
  (void)argv;
  c->at = (zt_rule_walk){ 0 };
  c->row = -1;
  return rules_next(p);
}

static int rules_eof(sqlite3_vtab_cursor *p){
  return ((rules_cursor*)p)->eof;
}

static int rules_column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i){
  const zt_rule *rule = ((rules_cursor*)p)->at.rule;
  const char *const columns[] = {
    [RULES_RULE] = rule->slug, [RULES_SEVERITY] = rule->severity, [RULES_MEANING] = rule->meaning,
    [RULES_SPECIFICATION] = rule->specification
  };
  zt_result_static(ctx, columns[i]);
  return SQLITE_OK;
}

static int rules_rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *out){
  *out = ((rules_cursor*)p)->row;
  return SQLITE_OK;
}

/* No xCreate: CREATE VIRTUAL TABLE would add nothing but a name. */
const zt_module zt_module_rules = { "zt_rules", {
  .iVersion = 0,
  .xConnect = rules_connect,
  .xBestIndex = rules_best_index,
  .xDisconnect = zt_module_disconnect_plain,
  .xOpen = rules_open,
  .xClose = rules_close,
  .xFilter = rules_filter,
  .xNext = rules_next,
  .xEof = rules_eof,
  .xColumn = rules_column,
  .xRowid = rules_rowid,
} };
