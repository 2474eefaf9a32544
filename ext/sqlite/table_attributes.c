/*
** zt_attributes(source, on_error): one row per key of the top level of `attributes`. The file's own
** keys come first (object is NULL), then those of each object, in the manifest's order.
**
**   path, object     object: NULL for an attribute of the file itself
**   key
**   value            INTEGER, REAL, TEXT, BLOB or NULL; booleans are 0 and 1; arrays and maps are
**                    JSON
**   type             `null` `true` `false` `integer` `real` `text` `array` `object` `blob`
**   stored_type      the type in GGUF's own words: `u32`, `str`, `arr[f32]`; NULL in formats
**                    without such types
**
** Integers beyond 64 signed bits are decimal text of type integer. NaN is NULL of type real,
** because SQLite has no value for it.
*/
#include "sqlite/attribute_value.h"
#include "sqlite/tables.h"

enum {
  ATTRIBUTES_PATH, ATTRIBUTES_OBJECT, ATTRIBUTES_KEY, ATTRIBUTES_VALUE, ATTRIBUTES_TYPE,
  ATTRIBUTES_VISIBLE, ATTRIBUTES_STORED_TYPE = ATTRIBUTES_VISIBLE
};

typedef struct attributes_row {
  zt_walk walk;
  zt_level level;
  zt_value key, value;     /* Of the current row */
} attributes_row;

static bool attributes_next(zt_scan *scan){
  attributes_row *r = scan->row;
  return zt_walk_next(&r->walk, &r->level, &r->key, &r->value);
}

/* The key's position in the manifest. */
static uint64_t attributes_rowid(zt_scan *scan){
  return ((attributes_row*)scan->row)->key.at;
}

static bool attributes_first(zt_scan *scan){
  attributes_row *r = scan->row;
  zt_value a = scan->on_file ? zt_container_attributes(scan->container)
             : zt_scan_object(scan)->attributes;
  zt_walk_end(&r->walk);
  zt_walk_begin(scan->container, &a, &r->walk, &r->level, scan->err);
  return attributes_next(scan);
}

static void attributes_clear(zt_scan *scan){
  zt_walk_end(&((attributes_row*)scan->row)->walk);
}

static void attributes_result_key(zt_scan *scan, sqlite3_context *ctx, const zt_value *key){
  const zt_interrupt interrupt = zt_connection_interrupt(scan->connection);
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out;
  if( key->type==ZT_VALUE_TEXT && !key->tagged ){
    zt_result_text(ctx, key->text);
    return;
  }
  out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  if( zt_value_name(scan->container, key, &interrupt, out, &err)==SQLITE_OK ){
    zt_result_str(ctx, out);
    return;
  }
  sqlite3_free(sqlite3_str_finish(out));
  zt_result_error(ctx, &err);
}

/* Needs a separate walk, because the row's walk owns the texts of the row. */
static void attributes_result_stored_type(sqlite3_context *ctx, const zt_container *c,
                                          const zt_value *value){
  const zt_value none = ZT_VALUE_NONE;
  zt_error err = ZT_ERROR_NONE;
  zt_level level;
  zt_text text;
  zt_walk w;
  zt_walk_begin(c, &none, &w, &level, &err);
  text = zt_walk_stored_type(&w, value);
  if( err.rc ) zt_result_error(ctx, &err);
  else zt_result_text(ctx, text);
  zt_walk_end(&w);
}

static void attributes_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const attributes_row *r = scan->row;
  switch( i ){
    case ATTRIBUTES_OBJECT:
      if( !scan->on_file ) zt_result_text(ctx, zt_container_name(scan->container, scan->object));
      break;
    case ATTRIBUTES_KEY:    attributes_result_key(scan, ctx, &r->key); break;
    case ATTRIBUTES_VALUE:
      zt_attribute_result_value(ctx, scan->container, &r->value,
                                zt_connection_interrupt(scan->connection));
      break;
    case ATTRIBUTES_TYPE:   zt_result_static(ctx, zt_attribute_type_of(&r->value)); break;
    case ATTRIBUTES_STORED_TYPE:
      attributes_result_stored_type(ctx, scan->container, &r->value);
      break;
  }
}

const zt_table zt_table_attributes = {
  .name = "zt_attributes",
  .visible = "path TEXT, object TEXT, key TEXT, value, type TEXT",
  .hidden = "stored_type TEXT HIDDEN",
  .nVisible = ATTRIBUTES_VISIBLE,
  .arguments = { "on_error" },
  .rows = ZT_ROWS_FILES_AND_OBJECTS,
  .iPath = ATTRIBUTES_PATH,
  .iObject = ATTRIBUTES_OBJECT,
  .row_size = sizeof(attributes_row),
  .first = attributes_first,
  .next = attributes_next,
  .clear = attributes_clear,
  .rowid = attributes_rowid,
  .column = attributes_column,
};
