/*
** zt_check(source, level): one row per finding, none when all is well, and never an abort: a file that cannot be read is a
** finding, too.
**
**   CREATE TABLE zt_check(path, object, component, severity, rule, message,
**                         source HIDDEN, level HIDDEN, meaning HIDDEN, specification HIDDEN);
**
** level 'quick' (default) reads manifests alone, 'full' every byte. A rule's name is stable; meaning says what is true of a
** sound file, specification who demands it. Findings come as they are found.
*/
#include "sqlite/tables.h"
#include "tensor/check.h"
#include "tensor/rule.h"

enum { C_PATH, C_OBJECT, C_COMPONENT, C_SEVERITY, C_RULE, C_MESSAGE, C_COUNT, C_MEANING = C_COUNT, C_SPECIFICATION };

typedef struct row {
  zt_check *check;             /* NULL if the file cannot be read */
  const zt_error *finding;     /* The current one: of the scan, or the next field */
  zt_error found;
  uint64_t n;                  /* Its number in this file */
} row;

static void clear(zt_scan *scan){
  row *r = scan->row;
  zt_error_clear(&r->found);
  zt_check_close(r->check);
  *r = (row){ 0 };
}

static bool next(zt_scan *scan){
  row *r = scan->row;
  zt_error_clear(&r->found);
  r->finding = &r->found;
  r->n++;
  return r->check && zt_check_next(r->check, &r->found, scan->err);
}

static bool is_full(const zt_scan *scan){
  return scan->argument[0] && strcmp(scan->argument[0], "full")==0;
}

static bool first(zt_scan *scan){
  const char *path = scan->path ? scan->path : "<blob>";
  zt_budget budget = zt_connection_budget(scan->connection);
  row *r = scan->row;
  r->finding = scan->error;
  if( r->finding ) return true;
  return zt_check_open(scan->source, scan->container, is_full(scan), &budget, path, &r->check, scan->err)==SQLITE_OK && next(scan);
}

static uint64_t rowid(zt_scan *scan){
  return ((row*)scan->row)->n;
}

static void column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_error *e = ((row*)scan->row)->finding;
  const zt_rule *rule = zt_rule_of(e);
  switch( i ){
    case C_PATH:      if( scan->path ) sqlite3_result_text(ctx, scan->path, -1, SQLITE_TRANSIENT); break;
    case C_OBJECT:    zt_result_text(ctx, e->object.z ? e->object : e->parts.object); break;
    case C_COMPONENT: zt_result_text(ctx, e->component.z ? e->component : e->parts.component); break;
    case C_SEVERITY:  zt_result_static(ctx, rule->severity); break;
    case C_RULE:      zt_result_static(ctx, rule->slug); break;
    case C_MESSAGE:   sqlite3_result_text(ctx, e->parts.fault, -1, SQLITE_TRANSIENT); break;
    case C_MEANING:   zt_result_static(ctx, rule->meaning); break;
    case C_SPECIFICATION: zt_result_static(ctx, rule->specification); break;
    default: break;
  }
}

const zt_table zt_table_check = {
  .name = "zt_check",
  .visible = "path TEXT, object TEXT, component TEXT, severity TEXT, rule TEXT, message TEXT",
  .hidden = "meaning TEXT HIDDEN, specification TEXT HIDDEN",
  .nVisible = C_COUNT,
  .arguments = { "level" },
  .defaults = { "quick" },
  .choices = { { "quick", "full", NULL } },
  .rows = ZT_ROWS_OF_FILES,
  .iPath = C_PATH,
  .iObject = -1,
  .rows_read = true,
  .row_size = sizeof(row),
  .first = first,
  .next = next,
  .clear = clear,
  .rowid = rowid,
  .column = column,
};
