/*
** zt_components(source, on_error): one row per component, a stored byte range, in the manifest's
** order.
**
**   path, object, component
**                    component: the role, e.g. `data`, `values`, `indptr`
**   dtype, type      the same names for every format: `f32`, not `float32` or `F32`
**   encoding         `raw`, `zstd`, `zt.zstd-seekable/1`, `deflate`, `protobuf.varint`,
**                    `protobuf.unpacked`, `pickle` (bytes written as text, or within a deflated
**                    pickle); other encodings as stored
**   byte_order       `little`, or `big` if the file says so
**   offset, length   the place of the stored bytes, from the file's first byte. Both are NULL if
**                    the bytes are in several places or encoded as `pickle`; length is NULL if it
**                    is not known
**   decoded_length   bytes after decoding, if the manifest states it
**   digest           as stored: `algorithm:hex`
**   shard            the other file that holds the bytes; NULL: this file
**   data             the decoded bytes
**   stored           the bytes as they are in the file
**   digest_status    `ok`, `mismatch`, `unsupported` (algorithm), `malformed`; NULL without a
**                    digest
**   hash             `xxh3:hex` of the decoded bytes. If they cannot be read, hash is an error, or
**                    NULL with `'skip'`; data, stored and digest_status are an error in any case
**   digest_of        the bytes that a digest covers: `stored`, `decoded`, or a whole `member` of an
**                    archive
**   digest_algorithm, digest_value
**                    the two parts of the digest, in lower case; NULL if there is no digest that
**                    can be checked
**
** data, stored, digest_status and hash are computed when they are selected; without them no byte of
** a tensor is read. Unreadable bytes are an error that names the component. Only hash is NULL
** instead, with 'skip', so that an audit needs no second look at doubtful files.
*/
#include "sqlite/describe.h"
#include "sqlite/structure_digest.h"
#include "sqlite/tables.h"

enum {
  COMPONENTS_PATH, COMPONENTS_OBJECT, COMPONENTS_COMPONENT, COMPONENTS_DTYPE, COMPONENTS_TYPE,
  COMPONENTS_ENCODING, COMPONENTS_BYTE_ORDER, COMPONENTS_OFFSET, COMPONENTS_LENGTH,
  COMPONENTS_DECODED, COMPONENTS_DIGEST, COMPONENTS_SHARD, COMPONENTS_VISIBLE,
  COMPONENTS_DATA = COMPONENTS_VISIBLE, COMPONENTS_STORED, COMPONENTS_STATUS, COMPONENTS_HASH,
  COMPONENTS_DIGEST_OF, COMPONENTS_DIGEST_ALGORITHM, COMPONENTS_DIGEST_VALUE
};

typedef struct components_row {
  uint32_t k, end;             /* The current component, and the end of its object's components */
  unsigned have;               /* Its decoded parts, ZT_COMPONENT_ bits */
  zt_component component;
} components_row;

static bool components_first(zt_scan *scan){
  components_row *r = scan->row;
  r->k = zt_container_first(scan->container, scan->object);
  r->end = zt_container_first(scan->container, scan->object+1);
  r->have = 0;
  return r->k<r->end;
}

static bool components_next(zt_scan *scan){
  components_row *r = scan->row;
  r->have = 0;
  return ++r->k<r->end;
}

static uint64_t components_rowid(zt_scan *scan){
  return ((components_row*)scan->row)->k;
}

/* Return the current component with at least the wanted parts decoded. The first call for a row
** decodes only these, since a query may need one column of a million rows. A later call for other
** parts decodes all. */
static const zt_component *components_component(zt_scan *scan, unsigned want){
  components_row *r = scan->row;
  if( (r->have & want)!=want ){
    if( r->have ) want = ZT_COMPONENT_ALL;
    zt_container_component(scan->container, scan->object, r->k, want, &r->component);
    r->have = want;
  }
  return &r->component;
}

/* --- Columns that need all bytes of an object's only component --- */

enum { COMPONENTS_WANT_STATUS = 1, COMPONENTS_WANT_HASH = 2 };

typedef struct components_work {
  zt_work work;                /* First */
  const char *status;
  zt_error status_err, hash_err;
  char hash[ZT_DIGEST_TEXT];
} components_work;

static void components_do(zt_work *work){
  components_work *w = (components_work*)work;
  zt_object object;
  zt_component component;
  zt_payload payload = {
    .source = work->source, .object = &object, .component = &component, .budget = &work->budget
  };
  zt_container_object(work->container, work->object, &object);
  zt_container_component(work->container, work->object,
                         zt_container_first(work->container, work->object), ZT_COMPONENT_ALL,
                         &component);
  w->status_err = w->hash_err = work->place;
  w->status_err.component = w->hash_err.component = component.role;
  if( work->want & COMPONENTS_WANT_STATUS ){
    zt_content_digest(&payload, &w->status, &w->status_err);
  }
  work->budget.decoded = 0;
  if( work->want & COMPONENTS_WANT_HASH ){
    zt_content_hash(&payload, ZT_TEXT("xxh3"), w->hash, &w->hash_err);
  }
  work->job.unavailable = w->status_err.kind || w->hash_err.kind;
}

static void components_work_clear(zt_work *work){
  zt_error_clear(&((components_work*)work)->status_err);
  zt_error_clear(&((components_work*)work)->hash_err);
}

/* A query may want any of several components, so only a single one is prefetched. */
static bool components_prefetch(const zt_container *c, uint32_t object){
  return zt_container_first(c, object+1)-zt_container_first(c, object)==1;
}

/* digest_status or hash of the only component of an object. */
static void components_work_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const bool of_status = i==COMPONENTS_STATUS;
  const unsigned want = of_status ? COMPONENTS_WANT_STATUS : COMPONENTS_WANT_HASH;
  zt_error none = ZT_ERROR_NONE, *err = &none;
  components_work *w = (components_work*)zt_scan_work(scan, want, err);
  if( w ) err = of_status ? &w->status_err : &w->hash_err;
  if( !w || err->rc ){
    if( w ) w->work.want &= ~want;   /* Cleared below: the next call computes again */
    if( of_status ) zt_result_error(ctx, err);
    else zt_scan_fail(scan, ctx, err);
  }else if( of_status ){
    zt_result_static(ctx, w->status);
  }else{
    sqlite3_result_text(ctx, w->hash, -1, SQLITE_TRANSIENT);
  }
}

/* Columns that read the file beyond its manifest. */
static void components_bytes_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const bool digests = i==COMPONENTS_STATUS || i==COMPONENTS_HASH;
  const zt_component *c = components_component(scan, ZT_COMPONENT_ALL);
  zt_budget budget = zt_connection_budget(scan->connection);
  zt_payload payload = {
    .source = scan->source, .object = zt_scan_object(scan), .component = c, .budget = &budget
  };
  zt_error err = zt_scan_error(scan);
  zt_buffer buffer = { NULL, 0 };
  char hash[ZT_DIGEST_TEXT];
  const char *status = NULL;
  err.component = c->role;
  if( digests && components_prefetch(scan->container, scan->object) ){
    components_work_column(scan, ctx, i);
    return;
  }
  if( i==COMPONENTS_DATA ) zt_content_read(&payload, 0, UINT64_MAX, &buffer, &err);
  else if( i==COMPONENTS_STORED ) zt_content_stored(&payload, &buffer, &err);
  else if( i==COMPONENTS_STATUS ) zt_content_digest(&payload, &status, &err);
  else zt_content_hash(&payload, ZT_TEXT("xxh3"), hash, &err);
  if( err.rc && i==COMPONENTS_HASH ) zt_scan_fail(scan, ctx, &err);
  else if( err.rc ) zt_result_error(ctx, &err);
  else if( i==COMPONENTS_HASH ) sqlite3_result_text(ctx, hash, -1, SQLITE_TRANSIENT);
  else if( i!=COMPONENTS_STATUS ) zt_result_buffer(ctx, &buffer);
  else if( status ) zt_result_static(ctx, status);
}

static char components_lower(char ch){
  return (char)(ch>='A' && ch<='Z' ? ch-'A'+'a' : ch);
}

/* digest_algorithm or digest_value. */
static void components_digest_column(const zt_component *component, sqlite3_context *ctx, int i){
  char text[ZT_DIGEST_TEXT];
  uint8_t value[ZT_DIGEST_TEXT/2];
  size_t n = component->digest.z ? component->digest.n : 0, algorithm = 0, digits;
  if( n==0 || n>sizeof(text) ) return;
  for(size_t k=0; k<n; k++) text[k] = components_lower(component->digest.z[k]);
  if( zt_digest_check((zt_text){ text, n }, component->digests)!=ZT_DIGEST_OK ) return;
  while( text[algorithm]!=':' ) algorithm++;
  if( i==COMPONENTS_DIGEST_ALGORITHM ){
    zt_result_text(ctx, (zt_text){ text, algorithm });
    return;
  }
  digits = algorithm + 1 + (text[algorithm+2]=='x' ? 2 : 0);   /* After 0x */
  for(size_t k=0; k<(n-digits)/2; k++){
    value[k] = (uint8_t)(16*zt_hex_digit(text[digits+2*k]) + zt_hex_digit(text[digits+2*k+1]));
  }
  sqlite3_result_blob(ctx, value, (int)((n-digits)/2), SQLITE_TRANSIENT);
}

static void components_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_component *component;
  uint64_t n;
  switch( i ){
    case COMPONENTS_OBJECT:
      zt_result_text(ctx, zt_container_name(scan->container, scan->object));
      break;
    case COMPONENTS_COMPONENT:
      zt_result_text(ctx, components_component(scan, ZT_COMPONENT_ROLE)->role);
      break;
    case COMPONENTS_DTYPE:
      zt_result_text(ctx, components_component(scan, ZT_COMPONENT_DTYPE)->dtype);
      break;
    case COMPONENTS_TYPE:
      zt_result_type(ctx, components_component(scan, ZT_COMPONENT_DTYPE|ZT_COMPONENT_TYPE));
      break;
    case COMPONENTS_ENCODING:
      zt_result_text(ctx, components_component(scan, ZT_COMPONENT_ENCODING)->encoding);
      break;
    case COMPONENTS_BYTE_ORDER:
      zt_result_text(ctx, zt_payload_byte_order(components_component(scan, ZT_COMPONENT_ALL)));
      break;
    case COMPONENTS_OFFSET:
      component = components_component(scan, ZT_COMPONENT_OFFSET);
      if( !component->scattered ) zt_result_uint(ctx, zt_payload_offset(component));
      break;
    case COMPONENTS_LENGTH:
      component = components_component(scan, ZT_COMPONENT_LENGTH);
      if( !component->unsized ) zt_result_uint(ctx, zt_payload_stored(component));
      break;
    case COMPONENTS_DIGEST:
      zt_result_text(ctx, components_component(scan, ZT_COMPONENT_DIGEST)->digest);
      break;
    case COMPONENTS_SHARD:
      zt_result_text(ctx, components_component(scan, ZT_COMPONENT_SHARD)->shard);
      break;
    case COMPONENTS_DECODED:
      if( zt_payload_length(zt_scan_object(scan), components_component(scan, ZT_COMPONENT_ALL),
                            &n)==ZT_LENGTH_KNOWN ){
        zt_result_uint(ctx, n);
      }
      break;
    case COMPONENTS_DIGEST_OF:
      zt_result_text(ctx, zt_structure_digest_of(components_component(scan, ZT_COMPONENT_ALL)));
      break;
    case COMPONENTS_DIGEST_ALGORITHM:
    case COMPONENTS_DIGEST_VALUE:
      components_digest_column(components_component(scan, ZT_COMPONENT_DIGEST), ctx, i);
      break;
    default:           components_bytes_column(scan, ctx, i); break;
  }
}

const zt_table zt_table_components = {
  .name = "zt_components",
  .visible = "path TEXT, object TEXT, component TEXT, dtype TEXT, type TEXT, encoding TEXT,"
             " byte_order TEXT, offset INTEGER, length INTEGER, decoded_length INTEGER,"
             " digest TEXT, shard TEXT",
  .hidden = "data BLOB HIDDEN, stored BLOB HIDDEN, digest_status TEXT HIDDEN, hash TEXT HIDDEN,"
            " digest_of TEXT HIDDEN, digest_algorithm TEXT HIDDEN, digest_value BLOB HIDDEN",
  .nVisible = COMPONENTS_VISIBLE,
  .arguments = { "on_error" },
  .rows = ZT_ROWS_OF_OBJECTS,
  .iPath = COMPONENTS_PATH,
  .iObject = COMPONENTS_OBJECT,
  .bytes = 1u<<COMPONENTS_DATA | 1u<<COMPONENTS_STORED | 1u<<COMPONENTS_STATUS
           | 1u<<COMPONENTS_HASH,
  .row_size = sizeof(components_row),
  .first = components_first,
  .next = components_next,
  .rowid = components_rowid,
  .column = components_column,
  .work_size = sizeof(components_work),
  .work = components_do,
  .work_clear = components_work_clear,
  .prefetch = components_prefetch,
};
