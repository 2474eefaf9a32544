/*
** Tensor files as BLOBs.
**
**   zt_pack(format, name, source, object)
**     Aggregate, BLOB: the file that zt_writer would write of these tensors, with its defaults, in
**     a format of its argument `format`. NULL without rows. A file longer than a BLOB may be is
**     SQLITE_TOOBIG before tensors are read
**   zt_pack(format, name, data, dtype, shape)
**     The same of tensors by value: elements, row-major and little-endian
**
** Sources are read when all rows are known. One that is a BLOB is copied until then, as data is.
*/
#include "sqlite/draft_rows.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"
#include "sqlite/value.h"
#include "tensor/write.h"

/* The state of a group. All zeros at first. */
typedef struct pack_group {
  zt_budget budget;
  zt_draft_rows rows;          /* rows.sources is owned */
  zt_draft *draft;             /* Owned; NULL: no row came yet, or the last one failed */
  zt_supplies supplies;        /* Owned */
} pack_group;

static void pack_clear(pack_group *g){
  zt_draft_free(g->draft);
  zt_supplies_clear(&g->supplies);
  zt_write_sources_free(g->rows.sources);
  g->draft = NULL;
  g->rows.sources = NULL;
}

static int pack_begin(pack_group *g, zt_connection *connection, sqlite3_value *format,
                      zt_error *err){
  const zt_text word = zt_value_text(format);
  const zt_encoder *encoder = NULL;
  if( !word.z ){
    return sqlite3_value_type(format)==SQLITE_BLOB
         ? zt_rows_fail_formats("format must be TEXT", err) : zt_fail_nomem(err);
  }
  if( zt_rows_format(word, &encoder, err) ) return err->rc;
  if( g->draft ){
    return encoder==g->rows.encoder ? SQLITE_OK
         : zt_fail(err, SQLITE_ERROR, "the format differs between rows of a group");
  }
  g->budget = zt_connection_budget(connection);
  g->rows = (zt_draft_rows){
    .connection = connection, .encoder = encoder, .options = encoder->defaults,
    .budget = &g->budget, .sources = zt_write_sources_new(connection, NULL, err)
  };
  if( !g->rows.sources ) return err->rc;
  g->supplies = zt_rows_supplies(&g->rows);
  g->draft = zt_draft_new(err);
  return err->rc;
}

/* Add a row, whose bytes go to the spool. */
static int pack_add(pack_group *g, sqlite3_value **columns, zt_error *err){
  zt_row row = { .source_number = UINT32_MAX };
  uint64_t offset = 0;
  uint32_t object = 0;
  if( zt_row_read(&g->rows, columns, &row, err)==SQLITE_OK
   && (row.from!=ZT_ROW_FROM_DATA
    || zt_write_sources_spool(g->rows.sources, row.data, &offset, err)==SQLITE_OK) ){
    row.offset = offset;
    if( zt_row_add(&g->rows, &row, g->draft, &g->supplies, &object, err)==SQLITE_OK ){
      zt_row_check(&g->rows, &row, g->draft, &g->supplies, object, err);
    }
  }
  zt_row_clear(&row);
  return err->rc;
}

/* Fail if an argument is NULL that must not be: all but an object's name. */
static int pack_check(int n, sqlite3_value **args, zt_error *err){
  static const char *const names[] = { "format", "name", "data", "dtype", "shape" };
  for(int i=0; i<n; i++){
    if( sqlite3_value_type(args[i])!=SQLITE_NULL || (n==4 && i==3) ) continue;
    if( i==0 ) return zt_rows_fail_formats("format must not be NULL", err);
    if( i>1 ) err->object = zt_value_text(args[1]);
    return zt_fail(err, SQLITE_ERROR, "%s must not be NULL", n==4 && i==2 ? "source" : names[i]);
  }
  return SQLITE_OK;
}

static void pack_step(sqlite3_context *ctx, int n, sqlite3_value **args){
  pack_group *g = sqlite3_aggregate_context(ctx, sizeof(*g));
  sqlite3_value *columns[ZT_ROW_COLUMNS] = { NULL };
  zt_float_env env;
  zt_error err = ZT_ERROR_NONE;
  if( !g ){
    sqlite3_result_error_nomem(ctx);
    return;
  }
  zt_float_env_enter(&env);
  columns[ZT_ROW_NAME] = args[1];
  if( n==4 ){
    columns[ZT_ROW_SOURCE] = args[2];
    columns[ZT_ROW_OBJECT] = args[3];
  }else{
    columns[ZT_ROW_DATA] = args[2];
    columns[ZT_ROW_DTYPE] = args[3];
    columns[ZT_ROW_SHAPE] = args[4];
  }
  err.path = "zt_pack";
  if( pack_check(n, args, &err) || pack_begin(g, sqlite3_user_data(ctx), args[0], &err)
   || pack_add(g, columns, &err) ){
    pack_clear(g);   /* No row comes after a failure */
    zt_result_error(ctx, &err);
  }
  zt_float_env_leave(&env);
}

static int pack_write(pack_group *g, uint64_t most, zt_buffer *out, zt_error *err){
  const zt_write w = {
    .encoder = g->rows.encoder, .options = g->rows.options, .draft = g->draft,
    .supplies = &g->supplies, .budget = &g->budget
  };
  zt_output *output = NULL;
  g->supplies.spool = zt_write_sources_spooled(g->rows.sources);
  if( zt_rows_complete(&g->rows, g->draft, &g->supplies, err) || zt_write_check(&w, err) ){
    return err->rc;
  }
  if( zt_write_size(g->draft)>most ){
    return zt_fail(err, SQLITE_TOOBIG, "the file would be longer than the limit of %llu bytes on a"
                   " result", (unsigned long long)most);
  }
  if( zt_output_open_memory(most, &output, err)==SQLITE_OK
   && zt_write_to(&w, output, err)==SQLITE_OK ){
    out->p = zt_output_take(output, &out->n);
  }
  zt_output_close(output);
  return err->rc;
}

static void pack_end(sqlite3_context *ctx){
  pack_group *g = sqlite3_aggregate_context(ctx, 0);
  zt_connection *connection = sqlite3_user_data(ctx);
  zt_buffer out = { NULL, 0 };
  zt_error err = ZT_ERROR_NONE;
  if( !g ) return;
  if( g->draft ){
    err.path = "zt_pack";
    zt_float_env env;
    zt_float_env_enter(&env);
    zt_connection_enter(connection);
    g->budget = zt_connection_budget(connection);
    pack_write(g, g->budget.result, &out, &err);
    zt_connection_leave(connection);
    zt_float_env_leave(&env);
    if( err.rc ) zt_result_error(ctx, &err);
    else sqlite3_result_blob64(ctx, out.p, out.n, sqlite3_free);
  }
  pack_clear(g);
}

const zt_aggregate zt_aggregate_pack = {
  "zt_pack", 4, SQLITE_UTF8|SQLITE_DIRECTONLY, pack_step, pack_end
};

const zt_aggregate zt_aggregate_pack_data = {
  "zt_pack", 5, SQLITE_UTF8|SQLITE_DIRECTONLY, pack_step, pack_end
};
