/*
** zt_files(source): one row per file, readable or not.
**
**   path
**   container        FORMATS
**   version          the version that the file states; NULL if its format has none
**   size             bytes
**   mtime            seconds since 1970; NULL for a BLOB
**   objects, components
**                    counts
**   stored_bytes, decoded_bytes
**                    sums over components; NULL if one is unknown
**   manifest_bytes   bytes of the manifest; for safetensors, of the JSON header; for GGUF, of the
**                    keys and tensor infos
**   attributes       JSON object
**   error            the reason why the file cannot be read. path, size and mtime are still there;
**                    the other columns are NULL
**   error_kind       `missing` (there is no such file), `denied` (the system does not allow it),
**                    `transient` (it may work the next time), `broken` (the file breaks a rule of
**                    its format), `unsupported` (its format is recognized but not read), `unknown`
**                    (it is not a tensor file, or a sound archive without tensors); NULL without an
**                    error
**   device, inode    the file's identity, whatever its names; NULL for a BLOB
**   architecture     `sha256:hex` over the names, formats, dtypes, types and shapes of its tensors,
**                    in the order of the names: equal for models of the same kind
**   layout           `sha256:hex` over the other columns of zt_objects and zt_components, without
**                    digests, with offsets counted from data_offset
**   data_offset      the offset of the first component in the file; NULL if there is none
**   digests          number of components with a digest
**   mtime_ns         mtime in whole nanoseconds, which a double cannot hold
**   ctime_ns         the time of the last change of the file or its metadata; programs can set
**                    mtime, but not this time
**   birth_ns         the time when the file was made; NULL if the system does not tell. Systems
**                    reuse inode numbers, but two files never share device, inode and this time
**   etag             the entity tag of a remote file, with its quotes, as its server states it;
**                    for a large file of the hub, its digest. NULL if there is none, and for local
**                    files
**   types            JSON array of the tensors' types, in the order of the first tensor of each:
**                    objects with `format`, `dtype` and `type` as in zt_objects, `bits` (the
**                    attribute of quantized tensors), and over the tensors with these `objects`,
**                    their number, and `elements` and `stored_bytes`, sums of the known ones
**                    (decimal text above 2^63-1)
**
** An unreadable file never ends a query. A file is examined when a column that needs it is asked
** for, and opened when a column needs its manifest. A row that a condition on path, size or mtime
** drops costs no opening. If a file is replaced between the two, its row has an error that says so,
** because a row describes one state alone. A catalog uses the hidden columns to tell whether files
** are the same, or alike (structure_digest.h).
*/
#include "sqlite/describe.h"
#include "sqlite/structure_digest.h"
#include "sqlite/tables.h"
#include "sqlite/type_counts.h"
#include "tensor/rule.h"

#define FILES_TABLE_POLL 1024   /* Objects between checks for an interrupt */

enum {
  FILES_TABLE_PATH, FILES_TABLE_CONTAINER, FILES_TABLE_VERSION, FILES_TABLE_SIZE, FILES_TABLE_MTIME,
  FILES_TABLE_OBJECTS, FILES_TABLE_COMPONENTS, FILES_TABLE_STORED, FILES_TABLE_DECODED,
  FILES_TABLE_MANIFEST, FILES_TABLE_ATTRIBUTES, FILES_TABLE_ERROR, FILES_TABLE_VISIBLE,
  FILES_TABLE_ERROR_KIND = FILES_TABLE_VISIBLE, FILES_TABLE_DEVICE, FILES_TABLE_INODE,
  FILES_TABLE_ARCHITECTURE, FILES_TABLE_LAYOUT, FILES_TABLE_DATA, FILES_TABLE_DIGESTS,
  FILES_TABLE_MTIME_NS, FILES_TABLE_CTIME_NS, FILES_TABLE_BIRTH_NS,
  FILES_TABLE_ETAG, FILES_TABLE_TYPES
};

/* Computed once per row, for the first column that needs it. */
typedef struct files_table_row {
  bool summed;
  zt_totals totals;
} files_table_row;

static bool files_table_first(zt_scan *scan){
  ((files_table_row*)scan->row)->summed = false;
  return true;
}

/* Sum up all components. Fails only if the statement is interrupted. */
static int files_table_sum(zt_scan *scan, zt_totals *out, zt_error *err){
  const zt_interrupt interrupt = zt_connection_interrupt(scan->connection);
  zt_object object;
  *out = ZT_TOTALS_NONE;
  for(uint32_t i=0; i<zt_container_objects(scan->container); i++){
    zt_container_object(scan->container, i, &object);
    zt_totals_add(out, scan->container, &object);
    if( (i+1)%FILES_TABLE_POLL==0 && zt_interrupt_check(&interrupt, err) ) return err->rc;
  }
  return SQLITE_OK;
}

/* stored_bytes or decoded_bytes. */
static void files_table_sum_column(zt_scan *scan, sqlite3_context *ctx, int i){
  files_table_row *r = scan->row;
  const zt_totals *t = &r->totals;
  zt_error err = ZT_ERROR_NONE;
  if( !r->summed && files_table_sum(scan, &r->totals, &err) ){
    zt_result_error(ctx, &err);
    return;
  }
  r->summed = true;
  if( i==FILES_TABLE_STORED ? t->stored_known : t->decoded_known ){
    zt_result_uint(ctx, i==FILES_TABLE_STORED ? t->stored : t->decoded);
  }
}

/* The totals are known afterwards, too. */
static void files_table_types_column(zt_scan *scan, sqlite3_context *ctx){
  const zt_interrupt interrupt = zt_connection_interrupt(scan->connection);
  files_table_row *r = scan->row;
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  r->summed = zt_type_counts(scan->container, &interrupt, out, &r->totals, &err)==SQLITE_OK;
  if( r->summed ){
    zt_result_json(ctx, out);
    return;
  }
  sqlite3_free(sqlite3_str_finish(out));
  zt_result_error(ctx, &err);
}

/* layout or architecture. */
static void files_table_structure_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_interrupt interrupt = zt_connection_interrupt(scan->connection);
  zt_error err = zt_scan_error(scan);
  char text[ZT_DIGEST_TEXT];
  if( i==FILES_TABLE_LAYOUT ) zt_structure_layout(scan->container, &interrupt, text, &err);
  else zt_structure_architecture(scan->container, &interrupt, text, &err);
  if( err.rc ) zt_result_error(ctx, &err);
  else sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void files_table_manifest_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_container *c = scan->container;
  zt_value attributes;
  uint64_t offset;
  switch( i ){
    case FILES_TABLE_CONTAINER:  zt_result_static(ctx, zt_container_format(c)); break;
    case FILES_TABLE_VERSION:    zt_result_text(ctx, zt_container_version(c)); break;
    case FILES_TABLE_OBJECTS:    zt_result_uint(ctx, zt_container_objects(c)); break;
    case FILES_TABLE_COMPONENTS: zt_result_uint(ctx, zt_container_components(c)); break;
    case FILES_TABLE_STORED:
    case FILES_TABLE_DECODED:    files_table_sum_column(scan, ctx, i); break;
    case FILES_TABLE_TYPES:      files_table_types_column(scan, ctx); break;
    case FILES_TABLE_MANIFEST:   zt_result_uint(ctx, zt_container_manifest_length(c)); break;
    case FILES_TABLE_ATTRIBUTES:
      attributes = zt_container_attributes(c);
      zt_result_attributes(ctx, c, &attributes, zt_connection_interrupt(scan->connection));
      break;
    case FILES_TABLE_ARCHITECTURE:
    case FILES_TABLE_LAYOUT:     files_table_structure_column(scan, ctx, i); break;
    case FILES_TABLE_DATA:
      if( zt_structure_data_offset(c, &offset) ) zt_result_uint(ctx, offset);
      break;
    case FILES_TABLE_DIGESTS:    zt_result_uint(ctx, zt_structure_digests(c)); break;
  }
}

/* Whole seconds and fraction are converted apart: a double cannot hold all nanoseconds. */
static double files_table_seconds(int64_t nanoseconds){
  int64_t whole = nanoseconds/1000000000, fraction = nanoseconds%1000000000;
  return (double)whole + (double)fraction*1e-9;
}

static bool files_table_is_remote(const zt_scan *scan){
  return scan->path && zt_path_is_url(scan->path);
}

static void files_table_etag_column(zt_scan *scan, sqlite3_context *ctx){
  char *etag = files_table_is_remote(scan) ? zt_scan_etag(scan, ctx) : NULL;
  if( etag ) sqlite3_result_text(ctx, etag, -1, sqlite3_free);
}

/* A remote file has a size, and a time if its server states one. */
static bool files_table_knows(const zt_scan *scan, const zt_stat *stat, int i){
  if( i==FILES_TABLE_SIZE || !files_table_is_remote(scan) ) return true;
  return (i==FILES_TABLE_MTIME || i==FILES_TABLE_MTIME_NS) && stat->id.mtime!=INT64_MIN;
}

static void files_table_birth_column(zt_scan *scan, sqlite3_context *ctx){
  const int64_t birth = scan->path && !files_table_is_remote(scan) ? zt_os_birth(scan->path) : 0;
  if( birth ) sqlite3_result_int64(ctx, birth);
}

/* Columns from the file's stat. A BLOB has only a size. Devices and inodes with all 64 bits become
** negative INTEGERs. */
static void files_table_stat_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_stat *stat = scan->path || i==FILES_TABLE_SIZE ? zt_scan_stat(scan, ctx) : NULL;
  if( !stat || !files_table_knows(scan, stat, i) ) return;
  switch( i ){
    case FILES_TABLE_SIZE:   zt_result_uint(ctx, stat->id.size); break;
    case FILES_TABLE_DEVICE: sqlite3_result_int64(ctx, (sqlite3_int64)stat->id.device); break;
    case FILES_TABLE_INODE:  sqlite3_result_int64(ctx, (sqlite3_int64)stat->id.inode); break;
    case FILES_TABLE_MTIME_NS: sqlite3_result_int64(ctx, stat->id.mtime); break;
    case FILES_TABLE_CTIME_NS: sqlite3_result_int64(ctx, stat->id.ctime); break;
    default: sqlite3_result_double(ctx, files_table_seconds(stat->id.mtime)); break;
  }
}

static void files_table_error_column(zt_scan *scan, sqlite3_context *ctx, int i){
  zt_scan_open(scan, ctx);
  if( !scan->error ) return;
  if( i==FILES_TABLE_ERROR_KIND ) zt_result_static(ctx, zt_rule_error_kind(scan->error));
  else sqlite3_result_text(ctx, scan->error->message, -1, SQLITE_TRANSIENT);
}

static void files_table_column(zt_scan *scan, sqlite3_context *ctx, int i){
  switch( i ){
    case FILES_TABLE_SIZE:  case FILES_TABLE_MTIME:
    case FILES_TABLE_DEVICE: case FILES_TABLE_INODE:
    case FILES_TABLE_MTIME_NS: case FILES_TABLE_CTIME_NS:
      files_table_stat_column(scan, ctx, i);
      break;
    case FILES_TABLE_BIRTH_NS: files_table_birth_column(scan, ctx); break;
    case FILES_TABLE_ETAG:  files_table_etag_column(scan, ctx); break;
    case FILES_TABLE_ERROR: case FILES_TABLE_ERROR_KIND:
      files_table_error_column(scan, ctx, i);
      break;
    default:
      zt_scan_open(scan, ctx);
      if( scan->container ) files_table_manifest_column(scan, ctx, i);
      break;
  }
}

const zt_table zt_table_files = {
  .name = "zt_files",
  .visible = "path TEXT, container TEXT, version TEXT, size INTEGER, mtime REAL, objects INTEGER,"
             " components INTEGER, stored_bytes INTEGER, decoded_bytes INTEGER,"
             " manifest_bytes INTEGER, attributes TEXT, error TEXT",
  .hidden = "error_kind TEXT HIDDEN, device INTEGER HIDDEN, inode INTEGER HIDDEN,"
            " architecture TEXT HIDDEN, layout TEXT HIDDEN, data_offset INTEGER HIDDEN,"
            " digests INTEGER HIDDEN, mtime_ns INTEGER HIDDEN, ctime_ns INTEGER HIDDEN,"
            " birth_ns INTEGER HIDDEN, etag TEXT HIDDEN, types TEXT HIDDEN",
  .nVisible = FILES_TABLE_VISIBLE,
  .rows = ZT_ROWS_FILES,
  .iPath = FILES_TABLE_PATH,
  .iObject = -1,
  .light = 1u<<FILES_TABLE_PATH | 1u<<FILES_TABLE_SIZE | 1u<<FILES_TABLE_MTIME
           | 1u<<FILES_TABLE_DEVICE | 1u<<FILES_TABLE_INODE | 1u<<FILES_TABLE_MTIME_NS
           | 1u<<FILES_TABLE_CTIME_NS | 1u<<FILES_TABLE_BIRTH_NS | 1u<<FILES_TABLE_ETAG,
  .row_size = sizeof(files_table_row),
  .first = files_table_first,
  .column = files_table_column,
};
