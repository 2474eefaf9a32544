/*
** zt_objects(source, on_error): one row per object (tensor), in the manifest's order.
**
**   path, object     object: the tensor's name
**   format           `dense`, `sparse_csr`, `sparse_coo`, `quantized_group`; `gguf.q4_k` and the
**                    like; other formats as stored
**   dtype            storage type of the component that holds the values (`data`, `values`,
**                    `packed_weight`); NULL if there is none
**   type             its logical type; equals dtype if the file states none
**   shape            JSON array, `[]` for a scalar
**   rank             number of dimensions
**   elements         product of the shape (decimal TEXT above 2^63-1)
**   components       count
**   stored_bytes, decoded_bytes
**                    sums over its components; NULL if unknown
**   attributes       JSON object; for GGUF, `ggml_type` and `ne`
**   fingerprint      `xxh3-128:hex` over type, shape and values: equal for equal tensors in any
**                    file format; NULL if the values cannot be read
**   fingerprint_error
**                    the reason why they cannot be read; otherwise NULL
**
** Every manifest is checked as a whole before its first row: a damaged manifest gives no rows.
** fingerprint (tensor/fingerprint.h) is computed when it is selected; without it no byte of a
** tensor is read.
*/
#include "sqlite/describe.h"
#include "sqlite/tables.h"
#include "tensor/fingerprint.h"

enum {
  OBJECTS_PATH, OBJECTS_OBJECT, OBJECTS_FORMAT, OBJECTS_DTYPE, OBJECTS_TYPE, OBJECTS_SHAPE,
  OBJECTS_RANK, OBJECTS_ELEMENTS, OBJECTS_COMPONENTS, OBJECTS_STORED, OBJECTS_DECODED,
  OBJECTS_ATTRIBUTES, OBJECTS_VISIBLE,
  OBJECTS_FINGERPRINT = OBJECTS_VISIBLE, OBJECTS_FINGERPRINT_ERROR
};

/* Found out once per row, for the first column that needs it. */
typedef struct objects_row {
  bool typed;
  zt_types types;
  bool summed;
  zt_totals totals;
} objects_row;

static bool objects_first(zt_scan *scan){
  objects_row *r = scan->row;
  r->typed = r->summed = false;
  return true;
}

/* The fingerprint of an object, or the reason why there is none. */
typedef struct objects_work {
  zt_work work;                /* First */
  zt_error err;
  zt_fingerprint fingerprint;
} objects_work;

static void objects_do(zt_work *work){
  objects_work *w = (objects_work*)work;
  w->err = work->place;
  zt_fingerprint_object(work->source, work->container, work->object, &work->budget,
                        &w->fingerprint, &w->err);
  work->job.unavailable = w->err.kind!=NULL;
}

static void objects_work_clear(zt_work *work){
  zt_error_clear(&((objects_work*)work)->err);
}

/* Every object is worth a thread: a hash cannot split the values of one object. */
static bool objects_prefetch(const zt_container *unused, uint32_t object){
  (void)unused;
  (void)object;
  return true;
}

static void objects_fingerprint_column(zt_scan *scan, sqlite3_context *ctx, int i){
  zt_error err = ZT_ERROR_NONE;
  const objects_work *w = (const objects_work*)zt_scan_work(scan, 0, &err);
  const zt_error *failed = w ? &w->err : &err;
  if( zt_result_ends(ctx, failed->rc) ) return;
  if( failed->kind && i!=OBJECTS_FINGERPRINT_ERROR && !scan->skip ){
    sqlite3_result_error(ctx, failed->message, -1);   /* A server: the tensor may be sound */
    return;
  }
  if( i==OBJECTS_FINGERPRINT_ERROR ){
    if( failed->rc ) sqlite3_result_text(ctx, failed->message, -1, SQLITE_TRANSIENT);
  }else if( w && !failed->rc ){
    sqlite3_result_text(ctx, w->fingerprint.text, -1, SQLITE_TRANSIENT);
  }
}

/* dtype or type. */
static void objects_type_column(zt_scan *scan, sqlite3_context *ctx, int i){
  objects_row *r = scan->row;
  if( !r->typed ) r->types = zt_object_types(scan->container, zt_scan_object(scan));
  r->typed = true;
  zt_result_text(ctx, i==OBJECTS_DTYPE ? r->types.dtype : r->types.type);
}

/* stored_bytes or decoded_bytes. */
static void objects_total_column(zt_scan *scan, sqlite3_context *ctx, int i){
  objects_row *r = scan->row;
  if( !r->summed ){
    r->totals = ZT_TOTALS_NONE;
    zt_totals_add(&r->totals, scan->container, zt_scan_object(scan));
    r->summed = true;
  }
  if( i==OBJECTS_STORED && r->totals.stored_known ) zt_result_uint(ctx, r->totals.stored);
  else if( i==OBJECTS_DECODED && r->totals.decoded_known ) zt_result_uint(ctx, r->totals.decoded);
}

/* shape, rank or elements: NULL for an object without a known shape. */
static void objects_shape_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_object *object = zt_scan_object(scan);
  if( object->unshaped ) return;
  if( i==OBJECTS_SHAPE ) zt_result_shape(ctx, object);
  else zt_result_uint(ctx, i==OBJECTS_RANK ? object->rank : object->elements);
}

static void objects_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_container *c = scan->container;
  switch( i ){
    case OBJECTS_OBJECT:     zt_result_text(ctx, zt_container_name(c, scan->object)); break;
    case OBJECTS_FORMAT:     zt_result_text(ctx, zt_scan_object(scan)->format); break;
    case OBJECTS_DTYPE:
    case OBJECTS_TYPE:       objects_type_column(scan, ctx, i); break;
    case OBJECTS_SHAPE:
    case OBJECTS_RANK:
    case OBJECTS_ELEMENTS:   objects_shape_column(scan, ctx, i); break;
    case OBJECTS_ATTRIBUTES:
      zt_result_attributes(ctx, c, &zt_scan_object(scan)->attributes,
                           zt_connection_interrupt(scan->connection));
      break;
    case OBJECTS_FINGERPRINT:
    case OBJECTS_FINGERPRINT_ERROR: objects_fingerprint_column(scan, ctx, i); break;
    case OBJECTS_COMPONENTS:
      zt_result_uint(ctx,
                     zt_container_first(c, scan->object+1)-zt_container_first(c, scan->object));
      break;
    default:                 objects_total_column(scan, ctx, i); break;
  }
}

const zt_table zt_table_objects = {
  .name = "zt_objects",
  .visible = "path TEXT, object TEXT, format TEXT, dtype TEXT, type TEXT, shape TEXT,"
             " rank INTEGER, elements INTEGER, components INTEGER, stored_bytes INTEGER,"
             " decoded_bytes INTEGER, attributes TEXT",
  .hidden = "fingerprint TEXT HIDDEN, fingerprint_error TEXT HIDDEN",
  .nVisible = OBJECTS_VISIBLE,
  .arguments = { "on_error" },
  .rows = ZT_ROWS_OBJECTS,
  .iPath = OBJECTS_PATH,
  .iObject = OBJECTS_OBJECT,
  .bytes = 1u<<OBJECTS_FINGERPRINT | 1u<<OBJECTS_FINGERPRINT_ERROR,
  .row_size = sizeof(objects_row),
  .first = objects_first,
  .column = objects_column,
  .work_size = sizeof(objects_work),
  .work = objects_do,
  .work_clear = objects_work_clear,
  .prefetch = objects_prefetch,
};
