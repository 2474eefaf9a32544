/*
** zt_components(source, on_error): one row per component, in the manifest's order.
**
**   CREATE TABLE zt_components(path, object, component, dtype, type, encoding, byte_order, offset, length, decoded_length,
**                              digest, shard, source HIDDEN, on_error HIDDEN, data HIDDEN,
**                              stored HIDDEN, digest_status HIDDEN, hash HIDDEN);
**
** data (the decoded bytes), stored (the bytes as they are in the file), digest_status and hash
** (xxh3 of the decoded bytes) are computed when they are selected; without them no byte of a tensor
** is read. Bytes that cannot be had are an error that names the component; of hash alone, with
** 'skip', a NULL, so that an audit needs no second look at doubtful files.
*/
#include "sqlite/describe.h"
#include "sqlite/tables.h"

enum {
  C_PATH, C_OBJECT, C_COMPONENT, C_DTYPE, C_TYPE, C_ENCODING, C_BYTE_ORDER, C_OFFSET, C_LENGTH, C_DECODED, C_DIGEST, C_SHARD,
  C_VISIBLE,
  C_DATA = C_VISIBLE, C_STORED, C_STATUS, C_HASH
};

typedef struct row {
  uint32_t k, end;             /* The current component, and the end of its object's */
  unsigned have;               /* What is decoded of it, ZT_COMPONENT_ bits */
  zt_component component;
} row;

static bool first(zt_scan *scan){
  row *r = scan->row;
  r->k = zt_container_first(scan->container, scan->object);
  r->end = zt_container_first(scan->container, scan->object+1);
  r->have = 0;
  return r->k<r->end;
}

static bool next(zt_scan *scan){
  row *r = scan->row;
  r->have = 0;
  return ++r->k<r->end;
}

static uint64_t rowid(zt_scan *scan){
  return ((row*)scan->row)->k;
}

/* The current component with what is wanted of it decoded. Who asks first gets no more than that, for a query that needs
** one column of a million rows; who asks again, all. */
static const zt_component *component(zt_scan *scan, unsigned want){
  row *r = scan->row;
  if( (r->have & want)!=want ){
    if( r->have ) want = ZT_COMPONENT_ALL;
    zt_container_component(scan->container, scan->object, r->k, want, &r->component);
    r->have = want;
  }
  return &r->component;
}

/* The columns that read the file. */
static void bytes_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_component *c = component(scan, ZT_COMPONENT_ALL);
  zt_budget budget = zt_connection_budget(scan->connection);
  zt_payload payload = { .source = scan->source, .object = zt_scan_object(scan), .component = c, .budget = &budget };
  zt_error err = zt_scan_error(scan);
  zt_buffer buffer = { NULL, 0 };
  char hash[ZT_DIGEST_TEXT];
  const char *status = NULL;
  err.component = c->role;
  if( i==C_DATA ) zt_content_read(&payload, 0, UINT64_MAX, &buffer, &err);
  else if( i==C_STORED ) zt_content_stored(&payload, &buffer, &err);
  else if( i==C_STATUS ) zt_content_digest(&payload, &status, &err);
  else zt_content_hash(&payload, ZT_TEXT("xxh3"), hash, &err);
  if( err.rc && i==C_HASH ) zt_scan_fail(scan, ctx, &err);
  else if( err.rc ) zt_result_error(ctx, &err);
  else if( i==C_HASH ) sqlite3_result_text(ctx, hash, -1, SQLITE_TRANSIENT);
  else if( i!=C_STATUS ) zt_result_buffer(ctx, &buffer);
  else if( status ) zt_result_static(ctx, status);
}

static void column(zt_scan *scan, sqlite3_context *ctx, int i){
  uint64_t n;
  switch( i ){
    case C_PATH:       if( scan->path ) sqlite3_result_text(ctx, scan->path, -1, SQLITE_TRANSIENT); break;
    case C_OBJECT:     zt_result_text(ctx, zt_container_name(scan->container, scan->object)); break;
    case C_COMPONENT:  zt_result_text(ctx, component(scan, ZT_COMPONENT_ROLE)->role); break;
    case C_DTYPE:      zt_result_text(ctx, component(scan, ZT_COMPONENT_DTYPE)->dtype); break;
    case C_TYPE:       zt_result_type(ctx, component(scan, ZT_COMPONENT_DTYPE|ZT_COMPONENT_TYPE)); break;
    case C_ENCODING:   zt_result_text(ctx, component(scan, ZT_COMPONENT_ENCODING)->encoding); break;
    case C_BYTE_ORDER: zt_result_text(ctx, zt_payload_byte_order(component(scan, ZT_COMPONENT_ALL))); break;
    case C_OFFSET:     zt_result_uint(ctx, component(scan, ZT_COMPONENT_OFFSET)->offset); break;
    case C_LENGTH:     zt_result_uint(ctx, component(scan, ZT_COMPONENT_LENGTH)->length); break;
    case C_DIGEST:     zt_result_text(ctx, component(scan, ZT_COMPONENT_DIGEST)->digest); break;
    case C_SHARD:      zt_result_text(ctx, component(scan, ZT_COMPONENT_SHARD)->shard); break;
    case C_DECODED:
      if( zt_payload_length(zt_scan_object(scan), component(scan, ZT_COMPONENT_ALL), &n)==ZT_LENGTH_KNOWN ){
        zt_result_uint(ctx, n);
      }
      break;
    default:           bytes_column(scan, ctx, i); break;
  }
}

const zt_table zt_table_components = {
  .name = "zt_components",
  .visible = "path TEXT, object TEXT, component TEXT, dtype TEXT, type TEXT, encoding TEXT, byte_order TEXT,"
             " offset INTEGER, length INTEGER, decoded_length INTEGER, digest TEXT, shard TEXT",
  .hidden = "data BLOB HIDDEN, stored BLOB HIDDEN, digest_status TEXT HIDDEN, hash TEXT HIDDEN",
  .nVisible = C_VISIBLE,
  .arguments = { "on_error" },
  .rows = ZT_ROWS_OF_OBJECTS,
  .iPath = C_PATH,
  .iObject = C_OBJECT,
  .bytes = 1u<<C_DATA | 1u<<C_STORED | 1u<<C_STATUS | 1u<<C_HASH,
  .row_size = sizeof(row),
  .first = first,
  .next = next,
  .rowid = rowid,
  .column = column,
};
