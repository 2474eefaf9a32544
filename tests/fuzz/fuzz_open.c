/*
** Any bytes as the BLOB image of a tensor file, through SQL on a connection with the extension. Properties:
**   - the image opens for all tables and functions, or is refused by all of them in the same words, which begin with
**     "ztensor: <blob>: "; opening takes memory in proportion to the bytes
**   - the same bytes give the same answers twice
**   - zt_files counts and sums up what zt_objects and zt_components list; every object is found by its name
**   - every component is aligned and lies between header and manifest; `stored` is exactly those bytes
**   - zt_blob and `data` give the same bytes, or fail with the same words, which name the place; as many bytes as
**     decoded_length says; a range of them is that range
**   - shapes, attributes and the manifest are valid JSON, and agree with zt_attributes and the other columns
*/
#include <string.h>
#include "core/host.h"
#include "fuzz.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

#define LIMIT (1<<20)          /* On the length of results */
#define HEAP (16<<20)          /* All that SQLite and the extension may allocate */
#define MOST_PARTS 48          /* Components whose bytes are looked at: each costs several statements */
#define PREFIX "ztensor: <blob>: "

static sqlite3 *db;

/* The image is ?1, an object's name ?2, a component's ?3, a range ?4 and ?5. */
#define STATEMENTS(X) \
  X(files, "SELECT error, objects, components, stored_bytes, decoded_bytes, attributes, json_valid(attributes), size," \
    " manifest_bytes, container, version, path, mtime FROM zt_files(?1)") \
  X(objects, "SELECT object, components, rank, json_array_length(shape), json_valid(shape), json_valid(attributes)," \
    " stored_bytes, decoded_bytes, elements, shape, format, dtype, type, attributes, path FROM zt_objects(?1)") \
  X(components, "SELECT object, component, offset, length, decoded_length, encoding, digest, dtype, type, byte_order, path" \
    " FROM zt_components(?1)") \
  X(attributes, "SELECT object, key, value, type, typeof(value), json_valid(value), path FROM zt_attributes(?1)") \
  X(manifest, "SELECT json_valid(m), m FROM (SELECT zt_manifest(?1) AS m)") \
  X(one_object, "SELECT components, shape, elements FROM zt_objects(?1) WHERE object = ?2") \
  X(one_component, "SELECT count(*) FROM zt_components(?1) WHERE object = ?2 AND component = ?3") \
  X(file_keys, "SELECT (SELECT count(*) FROM zt_attributes(?1) WHERE object IS NULL)," \
    " (SELECT count(*) FROM json_each((SELECT attributes FROM zt_files(?1))))") \
  X(object_keys, "SELECT (SELECT count(*) FROM zt_attributes(?1) WHERE object = ?2)," \
    " (SELECT count(*) FROM json_each((SELECT attributes FROM zt_objects(?1) WHERE object = ?2)))") \
  X(blob, "SELECT zt_blob(?1, ?2, ?3)") \
  X(range, "SELECT zt_blob(?1, ?2, ?3, ?4, ?5)") \
  X(data, "SELECT data FROM zt_components(?1) WHERE object = ?2 AND component = ?3") \
  X(stored, "SELECT stored FROM zt_components(?1) WHERE object = ?2 AND component = ?3") \
  X(status, "SELECT digest_status FROM zt_components(?1) WHERE object = ?2 AND component = ?3") \
  X(skipped, "SELECT count(*) FROM zt_objects(?1, 'skip')")

#define NAME(name, sql) S_##name,
#define SQL(name, sql) sql,
enum { STATEMENTS(NAME) S_COUNT };
static const char *const texts[] = { STATEMENTS(SQL) };
static sqlite3_stmt *statements[S_COUNT];

int LLVMFuzzerInitialize(int *argc, char ***argv){
  char *message = NULL;
  (void)argc;
  (void)argv;
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);   /* Each allocation is the sanitizer's to watch */
  CHECK(sqlite3_open(":memory:", &db)==SQLITE_OK, "open");
  CHECK(sqlite3_ztensor_init(db, &message, NULL)==SQLITE_OK, "%s", message);
  for(int i=0; i<S_COUNT; i++){
    CHECK(sqlite3_prepare_v2(db, texts[i], -1, &statements[i], NULL)==SQLITE_OK, "%s: %s", texts[i], sqlite3_errmsg(db));
  }
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LIMIT);
  sqlite3_hard_heap_limit64(HEAP);
  return 0;
}

/* --- Answers --- */

/* All that was said of an image, as one number. */
static uint64_t answers;

static void tell(const void *p, size_t n){
  const uint8_t *bytes = p;
  for(size_t i=0; i<n; i++) answers = (answers ^ bytes[i]) * 0x100000001B3u;
}

static void tell_row(sqlite3_stmt *s){
  for(int i=0; i<sqlite3_column_count(s); i++){
    int type = sqlite3_column_type(s, i);
    sqlite3_int64 integer = sqlite3_column_int64(s, i);
    double real = sqlite3_column_double(s, i);
    tell(&type, sizeof(type));
    switch( type ){
      case SQLITE_INTEGER: tell(&integer, sizeof(integer)); break;
      case SQLITE_FLOAT: tell(&real, sizeof(real)); break;
      case SQLITE_TEXT: tell(sqlite3_column_text(s, i), (size_t)sqlite3_column_bytes(s, i)); break;
      case SQLITE_BLOB: tell(sqlite3_column_blob(s, i), (size_t)sqlite3_column_bytes(s, i)); break;
      default: break;
    }
  }
}

typedef struct image {
  const uint8_t *p;
  size_t n;
  size_t end;            /* Of the data area: where the manifest begins */
} image;

#define MAGIC "ZTEN1000"

/* Bytes of the footer: manifest size, and from 1.1 on the magic number again. */
static size_t footer_of(const uint8_t *p, size_t n){
  return n>=24 && memcmp(p+n-8, MAGIC, 8)==0 && memcmp(p, MAGIC, 8)==0 ? 16 : 8;
}

/* A name, copied from a row. */
typedef struct name {
  char *z;
  int n;
} name;

static sqlite3_stmt *begin(int which, const image *m){
  sqlite3_stmt *s = statements[which];
  sqlite3_bind_blob(s, 1, m->n ? (const void*)m->p : "", (int)m->n, SQLITE_STATIC);
  return s;
}

static sqlite3_stmt *begin_at(int which, const image *m, const name *object, const name *component){
  sqlite3_stmt *s = begin(which, m);
  sqlite3_bind_text(s, 2, object->z, object->n, SQLITE_STATIC);
  if( component ) sqlite3_bind_text(s, 3, component->z, component->n, SQLITE_STATIC);
  return s;
}

/* Go on; every row and every failure is told. */
static int step(sqlite3_stmt *s){
  int rc = sqlite3_step(s);
  tell(&rc, sizeof(rc));
  if( rc==SQLITE_ROW ) tell_row(s);
  else if( rc!=SQLITE_DONE ) tell(sqlite3_errmsg(db), strlen(sqlite3_errmsg(db)));
  CHECK(rc!=SQLITE_NOMEM, "%s takes more than %d bytes of memory", sqlite3_sql(s), HEAP);
  CHECK(rc==SQLITE_ROW || rc==SQLITE_DONE || rc==SQLITE_ERROR || rc==SQLITE_TOOBIG, "%s: %s", sqlite3_sql(s), sqlite3_errmsg(db));
  return rc;
}

/* The next row must come. */
static void step_row(sqlite3_stmt *s){
  int rc = step(s);
  CHECK(rc==SQLITE_ROW, "%s: %d, %s", sqlite3_sql(s), rc, sqlite3_errmsg(db));
}

static void end(sqlite3_stmt *s){
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
}

static name copy_name(sqlite3_stmt *s, int i){
  name c = { malloc((size_t)sqlite3_column_bytes(s, i)+1), sqlite3_column_bytes(s, i) };
  CHECK(sqlite3_column_type(s, i)==SQLITE_TEXT, "%s: column %d is no text", sqlite3_sql(s), i);
  CHECK(c.z, "malloc");
  memcpy(c.z, sqlite3_column_text(s, i), (size_t)c.n);
  return c;
}

static bool has_prefix(const char *message, const char *prefix, size_t n){
  return message && strncmp(message, prefix, n)==0;
}

/* --- A refused image --- */

/* All refuse it in the words that zt_files has. */
static void check_refused(const image *m, const char *error){
  static const int all[] = { S_objects, S_components, S_attributes, S_manifest, S_blob };
  static const name none = { "", 0 };
  CHECK(has_prefix(error, PREFIX, strlen(PREFIX)), "%s", error);
  for(size_t i=0; i<sizeof(all)/sizeof(*all); i++){
    sqlite3_stmt *s = begin_at(all[i], m, &none, NULL);
    int rc = step(s);
    CHECK(rc==SQLITE_ERROR && strcmp(sqlite3_errmsg(db), error)==0, "%s: %d '%s', zt_files: '%s'", sqlite3_sql(s), rc,
          sqlite3_errmsg(db), error);
    end(s);
  }
  sqlite3_stmt *s = begin(S_skipped, m);
  step_row(s);
  CHECK(sqlite3_column_int(s, 0)==0, "rows of a refused image");
  end(s);
}

/* --- An accepted one --- */

/* Sums of columns that are NULL, or TEXT above 63 bits, if they are not known. */
typedef struct sum {
  uint64_t n;
  bool known;
} sum;

static void add(sum *total, sqlite3_stmt *s, int i){
  if( sqlite3_column_type(s, i)!=SQLITE_INTEGER ) total->known = false;
  else total->n += (uint64_t)sqlite3_column_int64(s, i);
}

static void check_sum(const sum *total, sqlite3_stmt *s, int i, const char *what){
  if( !total->known || sqlite3_column_type(s, i)==SQLITE_TEXT ) return;   /* Beyond 63 bits: not added up here */
  CHECK(sqlite3_column_type(s, i)==SQLITE_INTEGER, "%s is not there", what);
  CHECK((uint64_t)sqlite3_column_int64(s, i)==total->n, "%s: %lld, listed are %llu", what, sqlite3_column_int64(s, i),
        (unsigned long long)total->n);
}

/* One row that says the same twice: a count in column 0 and one in column 1. */
static void check_equal_counts(sqlite3_stmt *s){
  step_row(s);
  CHECK(sqlite3_column_int64(s, 0)==sqlite3_column_int64(s, 1), "%s: %lld, %lld", sqlite3_sql(s), sqlite3_column_int64(s, 0),
        sqlite3_column_int64(s, 1));
  end(s);
}

/* The message of a failure names the component; names are cut in messages if they are long. */
static void check_place(const name *object, const name *component){
  char expected[2048];
  int n;
  if( object->n>500 || component->n>500 ) n = snprintf(expected, sizeof(expected), PREFIX "object '");
  else n = snprintf(expected, sizeof(expected), PREFIX "object '%.*s': component '%.*s': ", object->n, object->z, component->n, component->z);
  CHECK(has_prefix(sqlite3_errmsg(db), expected, (size_t)n), "'%s' does not begin with '%s'", sqlite3_errmsg(db), expected);
}

/* A component, from its row of zt_components. */
typedef struct part {
  name object, component;
  uint64_t offset, length;
  bool known;               /* Its decoded length is: */
  int64_t decoded;
  bool raw, digest;
} part;

/* The range [n/3, n/3+n/2) of bytes that were had as a whole. */
static void check_range(const image *m, const part *p, const uint8_t *whole, int n){
  sqlite3_stmt *s = begin_at(S_range, m, &p->object, &p->component);
  int expected = n/2<n-n/3 ? n/2 : n-n/3;
  sqlite3_bind_int(s, 4, n/3);
  sqlite3_bind_int(s, 5, n/2);
  step_row(s);
  CHECK(sqlite3_column_type(s, 0)==SQLITE_BLOB && sqlite3_column_bytes(s, 0)==expected, "a range of %d bytes, expected %d",
        sqlite3_column_bytes(s, 0), expected);
  CHECK(expected==0 || memcmp(sqlite3_column_blob(s, 0), whole+n/3, (size_t)expected)==0, "other bytes in a range");
  end(s);
}

/* The decoded bytes, by function and by column. */
static void check_decoded(const image *m, const part *p){
  sqlite3_stmt *blob = begin_at(S_blob, m, &p->object, &p->component);
  sqlite3_stmt *data = begin_at(S_data, m, &p->object, &p->component);
  int rc = step(blob), n;
  const uint8_t *bytes;
  char *message;
  if( rc!=SQLITE_ROW ){
    check_place(&p->object, &p->component);
    message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    CHECK(!p->raw || p->length>LIMIT, "raw bytes that cannot be had: %s", message);
    CHECK(step(data)==rc && strcmp(sqlite3_errmsg(db), message)==0, "data: '%s', zt_blob: '%s'", sqlite3_errmsg(db), message);
    sqlite3_free(message);
  }else{
    bytes = sqlite3_column_blob(blob, 0);
    n = sqlite3_column_bytes(blob, 0);
    CHECK(sqlite3_column_type(blob, 0)==SQLITE_BLOB, "zt_blob gives no BLOB");
    CHECK(n<=LIMIT, "%d bytes are beyond the limit", n);
    CHECK(!p->known || p->decoded==n, "%d bytes, decoded_length says %lld", n, (long long)p->decoded);
    if( p->raw ) CHECK((uint64_t)n==p->length && (n==0 || memcmp(bytes, m->p+p->offset, (size_t)n)==0), "other raw bytes");
    step_row(data);
    CHECK(sqlite3_column_type(data, 0)==SQLITE_BLOB && sqlite3_column_bytes(data, 0)==n, "data has another length");
    CHECK(n==0 || memcmp(sqlite3_column_blob(data, 0), bytes, (size_t)n)==0, "data has other bytes");
    check_range(m, p, bytes, n);
  }
  end(blob);
  end(data);
}

static void check_stored(const image *m, const part *p){
  sqlite3_stmt *s = begin_at(S_stored, m, &p->object, &p->component);
  const char *status;
  step_row(s);
  CHECK(sqlite3_column_type(s, 0)==SQLITE_BLOB && (uint64_t)sqlite3_column_bytes(s, 0)==p->length, "stored has another length");
  CHECK(p->length==0 || memcmp(sqlite3_column_blob(s, 0), m->p+p->offset, (size_t)p->length)==0, "stored has other bytes");
  end(s);
  s = begin_at(S_status, m, &p->object, &p->component);
  step_row(s);
  status = (const char*)sqlite3_column_text(s, 0);
  CHECK((status!=NULL)==p->digest, "digest_status %s", status);
  CHECK(!status || strcmp(status, "ok")==0 || strcmp(status, "mismatch")==0 || strcmp(status, "unsupported")==0
        || strcmp(status, "malformed")==0, "digest_status %s", status);
  end(s);
}

static void check_part(const image *m, sqlite3_stmt *row){
  const char *encoding = (const char*)sqlite3_column_text(row, 5);
  part p = {
    .object = copy_name(row, 0), .component = copy_name(row, 1),
    .offset = (uint64_t)sqlite3_column_int64(row, 2), .length = (uint64_t)sqlite3_column_int64(row, 3),
    .known = sqlite3_column_type(row, 4)==SQLITE_INTEGER, .decoded = sqlite3_column_int64(row, 4),
    .raw = encoding && strcmp(encoding, "raw")==0, .digest = sqlite3_column_type(row, 6)!=SQLITE_NULL,
  };
  sqlite3_stmt *s = begin_at(S_one_component, m, &p.object, &p.component);
  step_row(s);
  CHECK(sqlite3_column_int(s, 0)==1, "%d components of one name", sqlite3_column_int(s, 0));
  end(s);
  check_decoded(m, &p);
  check_stored(m, &p);
  free(p.object.z);
  free(p.component.z);
}

/* Rows of zt_components: how many, and sums of length and decoded_length. */
static int64_t check_components(const image *m, sum *stored, sum *decoded){
  sqlite3_stmt *s = begin(S_components, m);
  int64_t n = 0;
  int rc;
  for(; (rc = step(s))==SQLITE_ROW; n++){
    uint64_t offset = (uint64_t)sqlite3_column_int64(s, 2), length = (uint64_t)sqlite3_column_int64(s, 3);
    CHECK(sqlite3_column_type(s, 2)==SQLITE_INTEGER && sqlite3_column_type(s, 3)==SQLITE_INTEGER, "offset, length");
    CHECK(offset<=m->end && length<=m->end-offset, "%llu + %llu is outside of the %zu bytes before the manifest",
          (unsigned long long)offset, (unsigned long long)length, m->end);
    CHECK(offset%64==0 && (offset>=8 || length==0), "offset %llu", (unsigned long long)offset);
    CHECK(sqlite3_column_type(s, 10)==SQLITE_NULL, "a BLOB with a path");
    add(stored, s, 3);
    add(decoded, s, 4);
    if( n<MOST_PARTS ) check_part(m, s);
  }
  CHECK(rc==SQLITE_DONE, "%s", sqlite3_errmsg(db));
  end(s);
  return n;
}

/* Rows of zt_objects: how many, and the sum of components. */
static int64_t check_objects(const image *m, sum *components){
  sqlite3_stmt *s = begin(S_objects, m), *one;
  int64_t n = 0;
  int rc;
  for(; (rc = step(s))==SQLITE_ROW; n++){
    name object = copy_name(s, 0);
    CHECK(sqlite3_column_int(s, 4)==1, "shape %s", sqlite3_column_text(s, 9));
    CHECK(sqlite3_column_int(s, 5)==1, "attributes %s", sqlite3_column_text(s, 13));
    CHECK(sqlite3_column_int(s, 2)==sqlite3_column_int(s, 3), "rank %d, shape %s", sqlite3_column_int(s, 2), sqlite3_column_text(s, 9));
    add(components, s, 1);
    if( n<MOST_PARTS ){
      one = begin_at(S_one_object, m, &object, NULL);
      step_row(one);
      CHECK(sqlite3_column_int64(one, 0)==sqlite3_column_int64(s, 1), "another object of that name");
      CHECK(strcmp((const char*)sqlite3_column_text(one, 1), (const char*)sqlite3_column_text(s, 9))==0, "another object of that name");
      CHECK(step(one)==SQLITE_DONE, "two objects of that name");
      end(one);
      check_equal_counts(begin_at(S_object_keys, m, &object, NULL));
    }
    free(object.z);
  }
  CHECK(rc==SQLITE_DONE, "%s", sqlite3_errmsg(db));
  end(s);
  return n;
}

/* What kind of value goes with each type. */
static void check_attributes(const image *m){
  static const struct { const char *type, *storage[2]; } kinds[] = {
    { "null", { "null", "null" } }, { "true", { "integer", "integer" } }, { "false", { "integer", "integer" } },
    { "integer", { "integer", "text" } }, { "real", { "real", "null" } }, { "text", { "text", "text" } },
    { "array", { "text", "text" } }, { "object", { "text", "text" } }, { "blob", { "blob", "blob" } },
  };
  sqlite3_stmt *s = begin(S_attributes, m);
  int rc;
  while( (rc = step(s))==SQLITE_ROW ){
    const char *type = (const char*)sqlite3_column_text(s, 3), *storage = (const char*)sqlite3_column_text(s, 4);
    bool found = false;
    CHECK(sqlite3_column_type(s, 1)==SQLITE_TEXT && type, "a key or type that is no text");
    for(size_t i=0; i<sizeof(kinds)/sizeof(*kinds); i++){
      if( strcmp(type, kinds[i].type) ) continue;
      found = strcmp(storage, kinds[i].storage[0])==0 || strcmp(storage, kinds[i].storage[1])==0;
    }
    CHECK(found, "type %s, typeof(value) %s", type, storage);
    if( strcmp(type, "array")==0 || strcmp(type, "object")==0 ){
      CHECK(sqlite3_column_int(s, 5)==1, "value %s", sqlite3_column_text(s, 2));
    }
  }
  CHECK(rc==SQLITE_DONE, "%s", sqlite3_errmsg(db));
  end(s);
  check_equal_counts(begin(S_file_keys, m));
}

/* files stands on the row of zt_files. */
static void check_accepted(image *m, sqlite3_stmt *files){
  sqlite3_int64 manifest = sqlite3_column_int64(files, 8);
  size_t footer = footer_of(m->p, m->n);
  sum stored = { 0, true }, decoded = { 0, true }, components = { 0, true };
  int64_t nComponents, nObjects;
  sqlite3_stmt *s;
  CHECK(manifest>0 && (uint64_t)manifest<=m->n-8-footer, "manifest_bytes %lld of %zu", manifest, m->n);
  m->end = m->n-footer-(size_t)manifest;
  nComponents = check_components(m, &stored, &decoded);
  nObjects = check_objects(m, &components);
  CHECK(sqlite3_column_int64(files, 1)==nObjects, "objects: %lld, listed are %lld", sqlite3_column_int64(files, 1), (long long)nObjects);
  CHECK(sqlite3_column_int64(files, 2)==nComponents, "components: %lld, listed are %lld", sqlite3_column_int64(files, 2), (long long)nComponents);
  CHECK(components.n==(uint64_t)nComponents, "zt_objects counts %llu components", (unsigned long long)components.n);
  check_sum(&stored, files, 3, "stored_bytes");
  check_sum(&decoded, files, 4, "decoded_bytes");
  CHECK(sqlite3_column_int(files, 6)==1, "attributes %s", sqlite3_column_text(files, 5));
  CHECK((size_t)sqlite3_column_int64(files, 7)==m->n, "size");
  check_attributes(m);
  s = begin(S_manifest, m);
  step_row(s);
  CHECK(sqlite3_column_int(s, 0)==1, "manifest %s", sqlite3_column_text(s, 1));
  end(s);
}

static uint64_t check(image *m){
  sqlite3_stmt *files = begin(S_files, m);
  answers = 0xCBF29CE484222325u;
  step_row(files);
  if( sqlite3_column_type(files, 0)==SQLITE_NULL ) check_accepted(m, files);
  else check_refused(m, (const char*)sqlite3_column_text(files, 0));
  CHECK(step(files)==SQLITE_DONE, "two rows of one file");
  end(files);
  return answers;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  image first = { data, n, 0 }, second = { malloc(n ? n : 1), n, 0 };
  uint64_t once, twice;
  CHECK(second.p, "malloc");
  memcpy((uint8_t*)second.p, data, n);
  once = check(&first);
  twice = check(&second);
  CHECK(once==twice, "the same bytes give other answers");
  free((uint8_t*)second.p);
  return 0;
}

/* --- Mutation --- */

static uint64_t le64(const uint8_t *p){
  uint64_t u = 0;
  for(int i=8; i-->0;) u = u<<8 | p[i];
  return u;
}

/* A mutation of the whole nearly always breaks the footer: its manifest size is right for one length only. So in most
** cases only the manifest is mutated, in its place at the end, and the footer written anew; or only what is before it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed){
  uint8_t footer[16];
  size_t nFooter, nManifest, at, changed;
  uint64_t size;
  if( n<24 || seed%8==0 ) return LLVMFuzzerMutate(data, n, max);
  nFooter = footer_of(data, n);
  size = le64(data+n-nFooter);
  if( size>n-nFooter-8 ) return LLVMFuzzerMutate(data, n, max);
  nManifest = (size_t)size;
  at = n-nFooter-nManifest;
  if( seed%8==1 && at>8 ){
    LLVMFuzzerMutate(data+8, at-8, at-8);   /* The blobs, in place; what mutation makes shorter keeps its old bytes */
    return n;
  }
  memcpy(footer, data+n-nFooter, nFooter);
  changed = LLVMFuzzerMutate(data+at, nManifest, max-at-nFooter);
  for(int i=0; i<8; i++) footer[i] = (uint8_t)((uint64_t)changed >> 8*i);
  memcpy(data+at+changed, footer, nFooter);
  return at+changed+nFooter;
}
