/*
** zt_check(source, level): one row per finding. A sound file has no rows. A fault of a file never
** ends the query: an unreadable file is a finding, too.
**
**   path
**   object, component
**                    the place of the finding; NULL: the file, or the whole object
**   severity         `error`: the file or object cannot be read or interpreted. `warning`: a
**                    specification forbids or advises against it, or it has caused trouble in
**                    practice. `note`: nothing is wrong, but a tensor has no values, such as text
**   rule             the name of the broken rule, a row of zt_rules; names never change
**   message          the fault
**   meaning, specification
**                    the statement of the rule, and its source
**
** Level 'quick' (default) reads only manifests, 'full' every byte. Findings come in the order in
** which they are found.
*/
#include "sqlite/tables.h"
#include "tensor/check.h"
#include "tensor/rule.h"

enum {
  CHECK_TABLE_PATH, CHECK_TABLE_OBJECT, CHECK_TABLE_COMPONENT, CHECK_TABLE_SEVERITY,
  CHECK_TABLE_RULE, CHECK_TABLE_MESSAGE, CHECK_TABLE_COUNT, CHECK_TABLE_MEANING = CHECK_TABLE_COUNT,
  CHECK_TABLE_SPECIFICATION
};

typedef struct check_table_row {
  zt_check *check;             /* NULL if the file cannot be read */
  const zt_error *finding;     /* The current one: scan->error, or found */
  zt_error found;
  const zt_rule *rule;         /* The broken rule; NULL until a column needs it */
  uint64_t n;                  /* Number of the finding in this file */
} check_table_row;

static void check_table_clear(zt_scan *scan){
  check_table_row *r = scan->row;
  zt_error_clear(&r->found);
  zt_check_close(r->check);
  *r = (check_table_row){ 0 };
}

static bool check_table_next(zt_scan *scan){
  check_table_row *r = scan->row;
  zt_error_clear(&r->found);
  r->finding = &r->found;
  r->rule = NULL;
  r->n++;
  return r->check && zt_check_next(r->check, &r->found, scan->err);
}

static bool check_table_is_full(const zt_scan *scan){
  return scan->argument[0] && strcmp(scan->argument[0], "full")==0;
}

static bool check_table_first(zt_scan *scan){
  const char *path = scan->path ? scan->path : "<blob>";
  zt_budget budget = zt_connection_budget(scan->connection);
  check_table_row *r = scan->row;
  r->finding = scan->error;
  if( r->finding ) return true;
  return zt_check_open(scan->source, scan->container, check_table_is_full(scan), &budget, path,
                       &r->check, scan->err)==SQLITE_OK && check_table_next(scan);
}

static uint64_t check_table_rowid(zt_scan *scan){
  return ((check_table_row*)scan->row)->n;
}

static const zt_rule *check_table_rule(check_table_row *r){
  if( !r->rule ) r->rule = zt_rule_of(r->finding);
  return r->rule;
}

static void check_table_column(zt_scan *scan, sqlite3_context *ctx, int i){
  check_table_row *r = scan->row;
  const zt_error *e = r->finding;
  switch( i ){
    case CHECK_TABLE_OBJECT:
      zt_result_text(ctx, e->object.z ? e->object : e->parts.object);
      break;
    case CHECK_TABLE_COMPONENT:
      zt_result_text(ctx, e->component.z ? e->component : e->parts.component);
      break;
    case CHECK_TABLE_SEVERITY:  zt_result_static(ctx, check_table_rule(r)->severity); break;
    case CHECK_TABLE_RULE:      zt_result_static(ctx, check_table_rule(r)->slug); break;
    case CHECK_TABLE_MESSAGE:
      sqlite3_result_text(ctx, e->parts.fault, -1, SQLITE_TRANSIENT);
      break;
    case CHECK_TABLE_MEANING:   zt_result_static(ctx, check_table_rule(r)->meaning); break;
    case CHECK_TABLE_SPECIFICATION:
      zt_result_static(ctx, check_table_rule(r)->specification);
      break;
    default: break;
  }
}

const zt_table zt_table_check = {
  .name = "zt_check",
  .visible = "path TEXT, object TEXT, component TEXT, severity TEXT, rule TEXT, message TEXT",
  .hidden = "meaning TEXT HIDDEN, specification TEXT HIDDEN",
  .nVisible = CHECK_TABLE_COUNT,
  .arguments = { "level" },
  .defaults = { "quick" },
  .choices = { { "quick", "full", NULL } },
  .rows = ZT_ROWS_OF_FILES,
  .iPath = CHECK_TABLE_PATH,
  .iObject = -1,
  .rows_read = true,
  .row_size = sizeof(check_table_row),
  .first = check_table_first,
  .next = check_table_next,
  .clear = check_table_clear,
  .rowid = check_table_rowid,
  .column = check_table_column,
};
