/*
** Any bytes as the image of a tensor file (or what zt2.h makes of them), each object of which is written in every format that
** can be written, and so are all of them together. Properties:
**   - zt_pack gives a file, or an error that says why
**   - the file is sound: zt_check finds no error in it
**   - it has the same names, types, shapes and values: fingerprints, or bytes where values have no definition
**   - it has no attribute that the object had not, and all of an object of zTensor
**   - formats without attributes of objects: the same tensor by value gives the same bytes
** With each input, two of the formats have their turn.
*/
#include "zt2.h"
#include <sqlite3.h>

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

#define LIMIT (4<<20)     /* On the length of results */
#define MOST 4            /* Objects of a file that are written alone */
#define FEW " coalesce(elements, 0) < 10000 "

static const char *const formats[] = { "ztensor-2", "ztensor-1.2", "safetensors", "gguf", "npy", "npz" };
#define FORMATS (sizeof(formats)/sizeof(*formats))

/* ?1 is the file that is read, ?2 the format, ?3 an object (NULL: all), ?4 the file that was written. */
enum { OBJECTS, PACK, PACK_VALUES, ERRORS, NAMES, VALUES, ADDED, LOST, STATEMENTS };
#define READ " FROM zt_objects(?1) WHERE" FEW "AND (?3 IS NULL OR object = ?3)"
#define OF_OBJECT " WHERE object IS NOT NULL AND (?3 IS NULL OR object = ?3)"
#define DERIVED "(key IN ('block_bytes', 'elems_per_block') AND object IN (SELECT object FROM zt_objects(?4) WHERE format GLOB 'gguf.*'))"
/* Keys of objects within a value may have another order */
#define WORDS "SELECT object, key, iif(type IN ('object', 'array') AND value GLOB '*{*', length(value), value), type FROM "
static const char *const sql[STATEMENTS] = {
  [OBJECTS] = "SELECT object FROM zt_objects(?1) WHERE" FEW "LIMIT 4",
  [PACK] = "SELECT zt_pack(?2, object, ?1, object)" READ,
  [PACK_VALUES] = "SELECT zt_pack(?2, object, zt_dense(?1, object), coalesce(type, dtype), shape)" READ " AND format = 'dense'",
  [ERRORS] = "SELECT rule || ' ' || message FROM zt_check(?4, 'full') WHERE severity = 'error'",
  [NAMES] = "SELECT object FROM (SELECT object" READ ") WHERE ?2 <> 'npy' AND object NOT IN (SELECT object FROM zt_objects(?4))"
            " UNION ALL SELECT object FROM zt_objects(?4) WHERE ?2 <> 'npy' AND object NOT IN (SELECT object" READ ")",
  [VALUES] = "SELECT a.object FROM zt_objects(?1) AS a, zt_objects(?4) AS b WHERE coalesce(a.elements, 0) < 10000"
             " AND (?3 IS NULL OR a.object = ?3) AND (?2 = 'npy' OR b.object = a.object)"
             " AND iif(a.fingerprint IS NOT NULL, b.fingerprint IS NOT a.fingerprint, (SELECT group_concat(hex(data)) FROM zt_components(?1)"
             " WHERE object = a.object) IS NOT (SELECT group_concat(hex(data)) FROM zt_components(?4) WHERE object = b.object))",
  [ADDED] = WORDS "zt_attributes(?4)" OF_OBJECT " AND ?2 GLOB 'ztensor*' AND NOT " DERIVED " EXCEPT " WORDS "zt_attributes(?1)",
  [LOST] = WORDS "zt_attributes(?1)" OF_OBJECT " AND ?2 GLOB 'ztensor*' AND (SELECT container FROM zt_files(?1)) = 'ztensor'"
           " AND object IN (SELECT object" READ ") EXCEPT " WORDS "zt_attributes(?4)",
};

typedef struct bytes {
  uint8_t *p;              /* In malloc() */
  size_t n;
} bytes;

static sqlite3 *db;
static sqlite3_stmt *statements[STATEMENTS];
static bytes image, written;
static const char *format, *object;
static unsigned long files, refusals;

static void clean_up(void){
  printf("%lu files written, %lu refused\n", files, refusals);
}

int LLVMFuzzerInitialize(int *argc, char ***argv){
  char *message = NULL;
  (void)argc;
  (void)argv;
  CHECK(sqlite3_open(":memory:", &db)==SQLITE_OK, "open");
  CHECK(sqlite3_ztensor_init(db, &message, NULL)==SQLITE_OK, "%s", message);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LIMIT);
  for(int i=0; i<STATEMENTS; i++){
    CHECK(sqlite3_prepare_v2(db, sql[i], -1, &statements[i], NULL)==SQLITE_OK, "%s: %s", sql[i], sqlite3_errmsg(db));
  }
  atexit(clean_up);
  return 0;
}

/* Begin a statement: its first row, or its end. */
static int step(int i){
  sqlite3_stmt *s = statements[i];
  sqlite3_reset(s);
  sqlite3_bind_blob64(s, 1, image.p, image.n, SQLITE_STATIC);
  if( sqlite3_bind_parameter_count(s)>=2 ) sqlite3_bind_text(s, 2, format, -1, SQLITE_STATIC);
  if( sqlite3_bind_parameter_count(s)>=3 ) sqlite3_bind_text(s, 3, object, -1, SQLITE_STATIC);
  if( sqlite3_bind_parameter_count(s)>=4 ) sqlite3_bind_blob64(s, 4, written.p, written.n, SQLITE_STATIC);
  return sqlite3_step(s);
}

/* A statement about both files that has no rows. One that looks at a broken file may fail. */
static void check_none(int i){
  const int rc = step(i);
  CHECK(rc!=SQLITE_ROW, "%s: %s: %s", format, sql[i], (const char*)sqlite3_column_text(statements[i], 0));
  CHECK(rc==SQLITE_DONE || rc==SQLITE_TOOBIG || (rc==SQLITE_ERROR && !strstr(sqlite3_errmsg(db), "internal")), "%s: %d, %s", sql[i], rc,
        sqlite3_errmsg(db));
  sqlite3_reset(statements[i]);
}

/* The result of zt_pack; without bytes if it refuses. */
static bytes pack(int i){
  const int rc = step(i);
  bytes out = { 0 };
  if( rc==SQLITE_ROW && sqlite3_column_type(statements[i], 0)==SQLITE_BLOB ){
    out.n = (size_t)sqlite3_column_bytes(statements[i], 0);
    out.p = malloc(out.n);
    CHECK(out.p, "malloc");
    memcpy(out.p, sqlite3_column_blob(statements[i], 0), out.n);
  }else if( rc!=SQLITE_ROW ){
    CHECK(rc==SQLITE_TOOBIG || (rc==SQLITE_ERROR && strlen(sqlite3_errmsg(db))>strlen("ztensor: ")
                                && memcmp(sqlite3_errmsg(db), "ztensor: ", 9)==0), "%s: %d, %s", format, rc, sqlite3_errmsg(db));
  }
  sqlite3_reset(statements[i]);
  return out;
}

static void check_by_value(void){
  bytes other;
  if( !object || strncmp(format, "ztensor", 7)==0 ) return;
  other = pack(PACK_VALUES);
  CHECK(!other.p || (other.n==written.n && memcmp(other.p, written.p, other.n)==0), "%s: '%s' by value is another file", format, object);
  free(other.p);
}

static void check_format(void){
  written = pack(PACK);
  files += written.p!=NULL;
  refusals += written.p==NULL;
  if( written.p ){
    check_none(ERRORS);
    check_none(NAMES);
    check_none(VALUES);
    check_none(ADDED);
    check_none(LOST);
    check_by_value();
  }
  free(written.p);
  written = (bytes){ 0 };
}

static size_t find_objects(char *names[MOST]){
  size_t n = 0;
  int rc = step(OBJECTS);
  for(; rc==SQLITE_ROW && n<MOST; rc = sqlite3_step(statements[OBJECTS])){
    const char *name = (const char*)sqlite3_column_text(statements[OBJECTS], 0);
    if( name && strlen(name)==(size_t)sqlite3_column_bytes(statements[OBJECTS], 0) ) names[n++] = sqlite3_mprintf("%s", name);
  }
  sqlite3_reset(statements[OBJECTS]);
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  const uint64_t seed = XXH3_64bits(data, n);
  char *names[MOST];
  size_t objects;
  if( n>65536 ) return 0;
  image.p = zt2_expand(data, n, &image.n);
  format = formats[0];
  object = NULL;
  objects = find_objects(names);
  for(size_t i=0; objects && i<2; i++){
    format = formats[(seed+i*(1+seed/FORMATS%(FORMATS-1)))%FORMATS];
    object = NULL;
    check_format();
    for(size_t k=0; k<objects; k++){
      object = names[k];
      check_format();
    }
  }
  for(size_t k=0; k<objects; k++) sqlite3_free(names[k]);
  free(image.p);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed){
  return zt2_is_short(data, n) ? zt2_mutate(data, n, max, seed) : LLVMFuzzerMutate(data, n, max);
}
