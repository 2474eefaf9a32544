/*
** Any bytes as the BLOB image of a tensor file (or what zt2.h makes of them), through SQL on a connection with the extension. Properties:
**   - the image opens for all tables and functions, or is refused by all of them in the same words, which begin with
**     "ztensor: <blob>: "; opening takes memory in proportion to the bytes
**   - the same bytes give the same answers twice
**   - zt_files counts and sums up what zt_objects and zt_components list; every object is found by its name
**   - every component is aligned and lies between header and manifest; `stored` is exactly those bytes
**   - zt_blob and `data` give the same bytes, or fail with the same words, which name the place; as many bytes as
**     decoded_length says; a range of them is that range
**   - shapes, attributes and the manifest are valid JSON, and agree with zt_attributes and the other columns
**   - zt_hash is the digest of zt_blob's bytes
**   - zt_content_id is a digest of a zTensor 2 file all of whose components state theirs, and else NULL
**   - zt_dense gives an object's elements, or fails with words that name it; slices of it, the vectors of zt_rows, the values
**     of zt_elements, zt_value and zt_json are its elements; other types are its elements converted; zt_stats are computed
**     from them, and its error is NULL if and only if zt_dense gives any
**   - what decodes to more than fits a result is refused soon with the nofs entry point
**   - zt_check gives rows or none and never fails: of a refused image the one that says so, of another's quick check some of
**     the full one's; an object without zt_dense has an error among them (or a type that is not known), one with it none but
**     of digests and of what it does not need
*/
#include <string.h>
#include "core/host.h"
#include "fuzz.h"
#include "container/rule.h"
#include "values.h"
#include "zt2.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
int sqlite3_ztensor_nofs_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

#define LIMIT (1<<20)          /* On the length of results */
#define HEAP (64<<20)          /* All that SQLite and the extension may allocate */
#define MOST_PARTS 48          /* Components whose bytes are looked at: each costs several statements */
#define MOST_VALUES 6          /* Objects whose values are looked at: each costs dozens */
#define MOST_ROWS 2000         /* Rows of elements that are taken */
#define MOST_VECTORS 40        /* Rows of vectors */
#define MOST_ELEMENTS 20000    /* Elements that are compared one by one */
#define PREFIX "ztensor: <blob>: "

static sqlite3 *db, *nofs;

/* The image is ?1, an object's name ?2, a component's ?3, a range ?4 and ?5, a type ?6, a position ?7. */
#define STATEMENTS(X) \
  X(files, "SELECT error, objects, components, stored_bytes, decoded_bytes, attributes, json_valid(attributes), size," \
    " manifest_bytes, container, version, path, mtime FROM zt_files(?1)") \
  X(objects, "SELECT object, components, rank, json_array_length(shape), json_valid(shape), json_valid(attributes)," \
    " stored_bytes, decoded_bytes, elements, shape, format, dtype, type, attributes, path FROM zt_objects(?1)") \
  X(components, "SELECT object, component, offset, length, decoded_length, encoding, digest, dtype, type, byte_order, path," \
    " shard FROM zt_components(?1)") \
  X(content_id, "SELECT zt_content_id(?1), (SELECT count(*) FROM zt_components(?1) WHERE digest IS NULL)") \
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
  X(skipped, "SELECT count(*) FROM zt_objects(?1, 'skip')") \
  X(hash, "SELECT zt_hash(?1, ?2, ?3, 'crc32c'), zt_hash(?1, ?2, ?3, 'sha256'), zt_hash(?1, ?2, ?3, 'xxh3')") \
  X(light, "SELECT count(zt_blob(?1, ?2, component)) FROM zt_components(?1) WHERE object = ?2") \
  X(dense, "SELECT zt_dense(?1, ?2)") \
  X(dense_as, "SELECT zt_dense(?1, ?2, ?6)") \
  X(slice, "SELECT zt_dense(?1, ?2, NULL, ?4, ?5)") \
  X(json, "SELECT json_valid(j), j FROM (SELECT zt_json(?1, ?2) AS j)") \
  X(elements, "SELECT position, coords, value FROM zt_elements(?1, ?2)") \
  X(position, "SELECT position, coords, value FROM zt_elements(?1, ?2) WHERE position = ?7") \
  X(rows, "SELECT row, vector, length(vector) FROM zt_rows(?1, ?2, ?6)") \
  X(stats, "SELECT error, elements, zeros, nans, infs, min, max, mean, std, l2 FROM zt_stats(?1, 'abort') WHERE object = ?2")

#define NAME(name, sql) S_##name,
#define SQL(name, sql) sql,
enum { STATEMENTS(NAME) S_COUNT };
static const char *const texts[] = { STATEMENTS(SQL) };
static sqlite3_stmt *statements[S_COUNT];

/* Statements of the nofs connection, for data that may decode to very much. */
#define BOUNDED(X) \
  X("SELECT zt_dense(?1, ?2)") \
  X("SELECT zt_value(?1, ?2, 0)") \
  X("SELECT * FROM zt_stats(?1) WHERE object = ?2") \
  X("SELECT position, value FROM zt_elements(?1, ?2) LIMIT 5") \
  X("SELECT row, vector FROM zt_rows(?1, ?2) LIMIT 2") \
  X("SELECT zt_hash(?1, ?2, component, 'xxh3') FROM zt_components(?1) WHERE object = ?2")
#define CHECK_COLUMNS "SELECT object, component, severity, rule, message, meaning, specification, path FROM zt_check"
#define TEXT(sql) sql,
static const char *const bounded_texts[] = { BOUNDED(TEXT) };
#define N_BOUNDED (sizeof(bounded_texts)/sizeof(*bounded_texts))
static sqlite3_stmt *bounded[N_BOUNDED], *quick_check, *full_check;   /* The first of db, all others of nofs */

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
  CHECK(sqlite3_open(":memory:", &nofs)==SQLITE_OK, "open");
  CHECK(sqlite3_ztensor_nofs_init(nofs, &message, NULL)==SQLITE_OK, "%s", message);
  for(size_t i=0; i<N_BOUNDED; i++){
    CHECK(sqlite3_prepare_v2(nofs, bounded_texts[i], -1, &bounded[i], NULL)==SQLITE_OK, "%s: %s", bounded_texts[i], sqlite3_errmsg(nofs));
  }
  CHECK(sqlite3_prepare_v2(db, CHECK_COLUMNS "(?1)", -1, &quick_check, NULL)==SQLITE_OK, "%s", sqlite3_errmsg(db));
  CHECK(sqlite3_prepare_v2(nofs, CHECK_COLUMNS "(?1, 'full')", -1, &full_check, NULL)==SQLITE_OK, "%s", sqlite3_errmsg(nofs));
  sqlite3_limit(nofs, SQLITE_LIMIT_LENGTH, LIMIT);
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
  size_t end;            /* The data area's end: the beginning of the manifest, or of zTensor 2's footer */
} image;

static bool is_zt2(const image *m){
  return m->n>=8 && memcmp(m->p, ZT2_MAGIC, 8)==0;
}

/* A file of another format: its data lie behind the manifest, at any place. */
static bool is_foreign(const image *m){
  return m->n<4 || memcmp(m->p, "ZTEN", 4)!=0;
}

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

/* --- Findings --- */

#define MOST_FINDINGS 4000

typedef struct finding {
  uint64_t row;              /* Hash of all that it says */
  name object;               /* z NULL: it is of the file */
  bool of_component, of_data, of_attribute, error;
  char rule[32];
} finding;

typedef struct findings {
  finding a[MOST_FINDINGS];
  size_t n;
  bool all;                  /* There are no more */
} findings;

static findings quick, full;   /* The current image's */

static void clear_findings(findings *f){
  for(size_t i=0; i<f->n; i++) free(f->a[i].object.z);
  f->n = 0;
}

static uint64_t hash_columns(sqlite3_stmt *s){
  uint64_t before = answers, h;
  answers = 0xCBF29CE484222325u;
  tell_row(s);
  h = answers;
  answers = before;
  return h;
}

static void list_findings(findings *f, const image *m, sqlite3_stmt *s){
  int rc = SQLITE_DONE;
  clear_findings(f);
  sqlite3_bind_blob(s, 1, m->n ? (const void*)m->p : "", (int)m->n, SQLITE_STATIC);
  while( f->n<MOST_FINDINGS && (rc = sqlite3_step(s))==SQLITE_ROW ){
    finding *x = &f->a[f->n++];
    const char *severity = (const char*)sqlite3_column_text(s, 2), *component = (const char*)sqlite3_column_text(s, 1);
    tell_row(s);
    *x = (finding){ .row = hash_columns(s), .error = severity && strcmp(severity, "error")==0, .of_component = component!=NULL,
                    .of_data = component && strcmp(component, "data")==0,
                    .of_attribute = sqlite3_strlike("attribute '%", (const char*)sqlite3_column_text(s, 4), 0)==0 };
    if( sqlite3_column_type(s, 0)!=SQLITE_NULL ) x->object = copy_name(s, 0);
    CHECK(x->error || (severity && (strcmp(severity, "warning")==0 || strcmp(severity, "note")==0)), "severity %s", severity);
    for(int i=3; i<7; i++) CHECK(sqlite3_column_bytes(s, i)>0, "%s of a finding", sqlite3_column_name(s, i));
    CHECK(sqlite3_column_type(s, 7)==SQLITE_NULL, "path of an image");
    snprintf(x->rule, sizeof(x->rule), "%s", sqlite3_column_text(s, 3));
  }
  CHECK(rc==SQLITE_DONE || rc==SQLITE_ROW, "%s: %d", sqlite3_sql(s), rc);
  f->all = rc==SQLITE_DONE;
  end(s);
}

static int compare_findings(const void *a, const void *b){
  const finding *x = a, *y = b;
  return (x->row>y->row) - (x->row<y->row);
}

/* error: why the image is refused, or NULL. */
static void check_findings(const image *m, const char *error){
  size_t k = 0;
  list_findings(&quick, m, quick_check);
  list_findings(&full, m, full_check);
  qsort(quick.a, quick.n, sizeof(*quick.a), compare_findings);
  qsort(full.a, full.n, sizeof(*full.a), compare_findings);
  if( error ) CHECK(quick.n==1 && full.n==1 && quick.a[0].error, "%zu and %zu findings of a refused image", quick.n, full.n);
  for(size_t i=0; i<quick.n && full.all; i++){
    while( k<full.n && full.a[k].row<quick.a[i].row ) k++;
    CHECK(k<full.n && full.a[k].row==quick.a[i].row, "a quick check finds %s, a full one does not", quick.a[i].rule);
    k++;
  }
}

/* A format's own rule that is no error: one of its tensors has no values here. GG17 alone tells what another reader does. */
static bool is_warning_of_a_format(const char *slug){
  for(int i=0; i<zt_driver_count(); i++){
    for(const zt_rule *const *list=zt_driver_rules(i); *list; list++){
      for(const zt_rule *r=*list; r->number; r++){
        if( r->meaning && strcmp(r->severity, ZT_SEVERITY_ERROR)!=0 && strcmp(r->slug, slug)==0 ) return strcmp(r->number, "GG17")!=0;
      }
    }
  }
  return false;
}

/* A warning or a note about what is merely not known here, of which there are no values. */
static bool is_unknown(const finding *x){
  static const char *const rules[] = { "no-values", "unknown-format", "unknown-dtype", "unknown-type", "unknown-encoding",
    "ggml-undefined", "ggml-byte-order" };
  for(size_t i=0; i<sizeof(rules)/sizeof(*rules); i++) if( strcmp(x->rule, rules[i])==0 ) return true;
  return is_warning_of_a_format(x->rule);
}

/* The rule of a finding that tells why an object's values cannot be had; NULL if there is none. values: they could be had. */
static const char *blamed_rule(const name *object, bool values){
  const char *blamed = NULL;
  for(size_t i=0; i<full.n; i++){
    const finding *x = &full.a[i];
    if( !x->object.z || x->object.n!=object->n || memcmp(x->object.z, object->z, (size_t)object->n)!=0 ) continue;
    if( !x->error && !is_unknown(x) ) continue;
    if( x->of_attribute || strcmp(x->rule, "digest-mismatch")==0 || strcmp(x->rule, "malformed-digest")==0
     || strcmp(x->rule, "digest-algorithm")==0 ) continue;
    blamed = x->rule;
    if( values ) CHECK(x->of_component && !x->of_data, "%s, and zt_dense gives the elements", x->rule);
  }
  return blamed;
}

/* The findings must fit zt_dense's result code, rc. */
static void check_blame(const name *object, int rc){
  const char *blamed = blamed_rule(object, rc==SQLITE_ROW);
  if( rc==SQLITE_ERROR && full.all ) CHECK(blamed, "nothing is found, and zt_dense fails: %s", sqlite3_errmsg(db));
}

/* --- A refused image --- */

/* All refuse it in the words that zt_files has. */
static void check_refused(const image *m, const char *error){
  static const int all[] = { S_objects, S_components, S_attributes, S_manifest, S_blob };
  static const name none = { "", 0 };
  CHECK(has_prefix(error, PREFIX, strlen(PREFIX)), "%s", error);
  check_findings(m, error);
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

/* True if a message shows the name as it is: long ones are cut, and of others some characters are escaped. */
static bool is_plain(const name *x){
  for(int i=0; i<x->n; i++) if( x->z[i]<0x20 || x->z[i]>0x7E ) return false;
  return x->n<=500;
}

/* The message of a failure names the component. */
static void check_place(const name *object, const name *component){
  char expected[2048];
  int n;
  if( !is_plain(object) || !is_plain(component) ) n = snprintf(expected, sizeof(expected), PREFIX "object '");
  else n = snprintf(expected, sizeof(expected), PREFIX "object '%.*s': component '%.*s': ", object->n, object->z, component->n, component->z);
  CHECK(has_prefix(sqlite3_errmsg(db), expected, (size_t)n), "'%s' does not begin with '%s'", sqlite3_errmsg(db), expected);
}

/* The message of a failure names the object. */
static void check_object_place(sqlite3 *of, const name *object){
  char expected[2048];
  const char *place = is_plain(object) ? PREFIX "object '%.*s': " : PREFIX "object '";
  int n = snprintf(expected, sizeof(expected), place, object->n, object->z);
  CHECK(has_prefix(sqlite3_errmsg(of), expected, (size_t)n), "'%s' does not begin with '%s'", sqlite3_errmsg(of), expected);
}

/* A component, from its row of zt_components. */
typedef struct part {
  name object, component;
  uint64_t offset, length;
  bool known;               /* Its decoded length is: */
  int64_t decoded;
  bool raw, digest;
  bool elsewhere;           /* Its bytes are in a shard, which an image does not have */
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

/* Digests of the decoded bytes, if they can be had. */
static void check_hash(const image *m, const part *p, const uint8_t *bytes, int n){
  static const struct { const char *prefix; int n; } forms[] = { { "crc32c:", 8 }, { "sha256:", 64 }, { "xxh3:", 16 } };
  sqlite3_stmt *s = begin_at(S_hash, m, &p->object, &p->component);
  char crc[16];
  step_row(s);
  for(int i=0; i<3; i++){
    const char *hash = (const char*)sqlite3_column_text(s, i);
    size_t nPrefix = strlen(forms[i].prefix);
    CHECK(has_prefix(hash, forms[i].prefix, nPrefix) && strspn(hash+nPrefix, "0123456789abcdef")==(size_t)forms[i].n
          && hash[nPrefix+(size_t)forms[i].n]==0, "zt_hash: %s", hash);
  }
  snprintf(crc, sizeof(crc), "crc32c:%08x", (unsigned)crc32c_of(bytes, (size_t)n));
  CHECK(strcmp((const char*)sqlite3_column_text(s, 0), crc)==0, "zt_hash: %s, expected %s", sqlite3_column_text(s, 0), crc);
  end(s);
}

/* The decoded bytes, by function and by column. */
static void check_decoded(const image *m, const part *p){
  sqlite3_stmt *blob = begin_at(S_blob, m, &p->object, &p->component);
  sqlite3_stmt *data = begin_at(S_data, m, &p->object, &p->component);
  int rc = step(blob), n;
  const uint8_t *bytes;
  char *message;
  CHECK(!p->elsewhere || rc==SQLITE_ERROR || (rc==SQLITE_TOOBIG && p->length>LIMIT), "bytes of a shard: %d", rc);
  if( rc!=SQLITE_ROW ){
    check_place(&p->object, &p->component);
    message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    CHECK(!p->raw || p->elsewhere || p->length>LIMIT || (is_foreign(m) && (!full.all || blamed_rule(&p->object, false))),
          "raw bytes that cannot be had: %s", message);
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
    if( n<=MOST_ELEMENTS ) check_hash(m, p, bytes, n);
  }
  end(blob);
  end(data);
}

static void check_stored(const image *m, const part *p){
  sqlite3_stmt *s = begin_at(S_stored, m, &p->object, &p->component);
  const char *status;
  if( p->elsewhere ){
    CHECK(step(s)==(p->length>LIMIT ? SQLITE_TOOBIG : SQLITE_ERROR), "stored bytes of a shard");
    check_place(&p->object, &p->component);
    end(s);
    return;
  }
  if( is_foreign(m) && step(s)!=SQLITE_ROW ){   /* A broken archive may lack the member */
    check_place(&p->object, &p->component);
    end(s);
    return;
  }
  if( !is_foreign(m) ) step_row(s);
  CHECK(sqlite3_column_type(s, 0)==SQLITE_BLOB && (uint64_t)sqlite3_column_bytes(s, 0)==p->length, "stored has another length");
  CHECK(p->length==0 || memcmp(sqlite3_column_blob(s, 0), m->p+p->offset, (size_t)p->length)==0, "stored has other bytes");
  end(s);
  s = begin_at(S_status, m, &p->object, &p->component);
  if( is_foreign(m) && !p->raw && step(s)!=SQLITE_ROW ){   /* A digest of what cannot be decoded */
    check_place(&p->object, &p->component);
    end(s);
    return;
  }
  if( !is_foreign(m) || p->raw ) step_row(s);
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
    .digest = sqlite3_column_type(row, 6)!=SQLITE_NULL, .elsewhere = sqlite3_column_type(row, 11)!=SQLITE_NULL,
  };
  sqlite3_stmt *s = begin_at(S_one_component, m, &p.object, &p.component);
  p.raw = p.known && encoding && strcmp(encoding, "raw")==0;   /* zTensor 2 may name an encoding so, which is none that is known */
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
    bool sized = sqlite3_column_type(s, 3)==SQLITE_INTEGER;
    CHECK((sqlite3_column_type(s, 2)==SQLITE_INTEGER && sized) || is_foreign(m), "offset, length");
    if( sqlite3_column_type(s, 11)==SQLITE_NULL ) CHECK(offset<=m->end && length<=m->end-offset, "%llu + %llu is outside of the %zu bytes before the manifest",
          (unsigned long long)offset, (unsigned long long)length, m->end);
    if( is_zt2(m) ) CHECK(offset%ZT2_PAGE==0 && offset>=ZT2_PAGE, "offset %llu", (unsigned long long)offset);
    CHECK(offset%64==0 || is_foreign(m), "offset %llu", (unsigned long long)offset);
    CHECK(offset>=8 || length==0 || length==m->n || sqlite3_column_type(s, 11)!=SQLITE_NULL || sqlite3_column_type(s, 2)==SQLITE_NULL, "offset %llu",
          (unsigned long long)offset);
    CHECK(sqlite3_column_type(s, 10)==SQLITE_NULL, "a BLOB with a path");
    add(stored, s, 3);
    add(decoded, s, 4);
    if( sized && n<MOST_PARTS ) check_part(m, s);
  }
  CHECK(rc==SQLITE_DONE, "%s", sqlite3_errmsg(db));
  end(s);
  return n;
}

/* --- Values --- */

/* An object, from its row of zt_objects, and its elements. */
typedef struct tensor {
  name object;
  uint64_t shape[64], elements;
  unsigned rank;
  bool sparse, quantized;
  const dtype *type;         /* Of its elements; NULL: not known */
  const uint8_t *array;     /* The result of zt_dense; NULL: none */
  uint64_t n;               /* Bytes of it */
} tensor;

static sqlite3_stmt *begin_tensor(int which, const image *m, const tensor *t){
  return begin_at(which, m, &t->object, NULL);
}

static number element(const tensor *t, uint64_t i, unsigned k){
  return value_at(t->type, t->array, i, k);
}

static void check_element(sqlite3_stmt *s, int column, const tensor *t, uint64_t i){
  check_scalar(s, column, t->type, element(t, i, 0), t->type->kind==K_COMPLEX ? element(t, i, 1) : 0);
}

/* All elements as another type: those that zt_dense gave, converted. */
static void check_converted(const image *m, const tensor *t, const char *name_of_type){
  const dtype *to = type_named(name_of_type);
  sqlite3_stmt *s = begin_tensor(S_dense_as, m, t);
  number expected = 0, got;
  uint64_t i = 0;
  const uint8_t *bytes;
  int rc;
  sqlite3_bind_text(s, 6, name_of_type, -1, SQLITE_STATIC);
  rc = step(s);
  if( rc!=SQLITE_ROW ) check_object_place(db, &t->object);
  if( t->type->kind==K_COMPLEX ){
    CHECK(rc==SQLITE_ERROR, "complex numbers as %s", to->name);
  }else if( rc==SQLITE_ROW ){
    bytes = sqlite3_column_blob(s, 0);
    CHECK((uint64_t)sqlite3_column_bytes(s, 0)==size_of(to, t->elements), "%d bytes as %s", sqlite3_column_bytes(s, 0), to->name);
    for(; i<t->elements && EXACT; i++){
      got = value_at(to, bytes, i, 0);
      CHECK(convert_element(t->type, t->array, i, 0, to, &expected) && same_number(got, expected), "element %llu is %Lg, which as %s is %Lg and not %Lg",
            (unsigned long long)i, element(t, i, 0), to->name, expected, got);
    }
  }else{
    while( i<t->elements && convert_element(t->type, t->array, i, 0, to, &expected) ) i++;
    CHECK(i<t->elements, "all can be converted to %s: %s", to->name, sqlite3_errmsg(db));
  }
  end(s);
}

/* Indices [rows/3, rows/3+rows/2+1) of the first dimension are that part of all elements. */
static void check_slice(const image *m, const tensor *t){
  sqlite3_stmt *s = begin_tensor(S_slice, m, t);
  uint64_t rows = t->rank ? t->shape[0] : 0, first = rows/3, count = rows/2+1, each;
  sqlite3_bind_int64(s, 4, (sqlite3_int64)(first & INT64_MAX));
  sqlite3_bind_int64(s, 5, (sqlite3_int64)(count & INT64_MAX));
  if( t->rank==0 ){
    CHECK(step(s)==SQLITE_ERROR, "a slice of a scalar");
    check_object_place(db, &t->object);
  }else{
    step_row(s);
    each = rows ? t->elements/rows : 0;
    if( count>rows-first ) count = rows-first;
    CHECK((uint64_t)sqlite3_column_bytes(s, 0)==size_of(t->type, count*each), "a slice of %d bytes", sqlite3_column_bytes(s, 0));
    if( t->elements && t->type->each==1 ){
      CHECK(count==0 || memcmp(sqlite3_column_blob(s, 0), t->array+size_of(t->type, first*each), (size_t)size_of(t->type, count*each))==0,
            "other bytes in a slice");
    }
  }
  end(s);
}

/* A tensor too large for a result has readable rows, if a row is not too large. */
static void check_first_rows(const image *m, const tensor *t){
  sqlite3_stmt *s = begin_tensor(S_rows, m, t);
  uint64_t each = t->shape[0] ? t->elements/t->shape[0] : 0;
  int rc = SQLITE_ROW;
  sqlite3_bind_text(s, 6, t->type->name, -1, SQLITE_STATIC);
  for(int i=0; i<3 && rc==SQLITE_ROW; i++){
    rc = step(s);
    if( rc==SQLITE_ROW ) CHECK((uint64_t)sqlite3_column_bytes(s, 1)==size_of(t->type, each), "a row of %d bytes", sqlite3_column_bytes(s, 1));
    if( rc==SQLITE_TOOBIG ) CHECK(each>LIMIT/t->type->width, "%s", sqlite3_errmsg(db));
  }
  end(s);
}

/* The vectors, in the tensor's own type, are its bytes. */
static void check_rows(const image *m, const tensor *t){
  sqlite3_stmt *s = begin_tensor(S_rows, m, t);
  uint64_t rows = t->rank ? t->shape[0] : 0, each = rows ? t->elements/rows : 0, i = 0;
  int rc = SQLITE_ROW;
  sqlite3_bind_text(s, 6, t->type->name, -1, SQLITE_STATIC);
  for(; i<MOST_VECTORS && (rc = step(s))==SQLITE_ROW; i++){
    CHECK((uint64_t)sqlite3_column_int64(s, 0)==i, "row %lld after %llu", sqlite3_column_int64(s, 0), (unsigned long long)i);
    CHECK(i<rows && (uint64_t)sqlite3_column_bytes(s, 1)==size_of(t->type, each), "a row of %d bytes", sqlite3_column_bytes(s, 1));
    CHECK(sqlite3_column_int(s, 2)==sqlite3_column_bytes(s, 1), "a row read twice has %d and %d bytes", sqlite3_column_bytes(s, 1),
          sqlite3_column_int(s, 2));
    if( each && t->type->each==1 ){
      CHECK(memcmp(sqlite3_column_blob(s, 1), t->array+size_of(t->type, i*each), (size_t)size_of(t->type, each))==0, "other bytes in row %llu",
            (unsigned long long)i);
    }
  }
  if( t->rank==0 ) CHECK(rc==SQLITE_ERROR, "rows of a scalar");
  else CHECK(i==(rows<MOST_VECTORS ? rows : MOST_VECTORS) && (rc==SQLITE_ROW || rc==SQLITE_DONE), "%llu rows of %llu: %s", (unsigned long long)i,
             (unsigned long long)rows, sqlite3_errmsg(db));
  if( rc==SQLITE_ERROR ) check_object_place(db, &t->object);
  end(s);
}

/* zt_value with the indices in `coords`, "[2,0,5]". Statements are made as ranks are met. */
static sqlite3_stmt *begin_value(const image *m, const tensor *t, const char *coords){
  static sqlite3_stmt *by_rank[65];
  uint64_t index[64];
  unsigned n = read_shape(coords, index);
  sqlite3_stmt *s = by_rank[n];
  if( !s ){
    sqlite3_str *sql = sqlite3_str_new(NULL);
    char *z;
    sqlite3_str_appendall(sql, "SELECT zt_value(?1, ?2");
    for(unsigned i=0; i<n; i++) sqlite3_str_appendf(sql, ", ?%u", i+3);
    sqlite3_str_appendall(sql, ")");
    z = sqlite3_str_finish(sql);
    CHECK(z && sqlite3_prepare_v2(db, z, -1, &by_rank[n], NULL)==SQLITE_OK, "%s: %s", z, sqlite3_errmsg(db));
    sqlite3_free(z);
    s = by_rank[n];
  }
  sqlite3_bind_blob(s, 1, m->p, (int)m->n, SQLITE_STATIC);
  sqlite3_bind_text(s, 2, t->object.z, t->object.n, SQLITE_STATIC);
  for(unsigned i=0; i<n; i++) sqlite3_bind_int64(s, (int)i+3, (sqlite3_int64)index[i]);
  return s;
}

/* One element, by its position and by its indices. */
static void check_position(const image *m, const tensor *t, uint64_t i){
  sqlite3_stmt *s = begin_tensor(S_position, m, t), *value;
  uint64_t index[64], at = 0;
  unsigned n;
  sqlite3_bind_int64(s, 7, (sqlite3_int64)i);
  if( !t->sparse ){
    step_row(s);
    CHECK((uint64_t)sqlite3_column_int64(s, 0)==i, "position %lld, asked for %llu", sqlite3_column_int64(s, 0), (unsigned long long)i);
    check_element(s, 2, t, i);
    n = read_shape((const char*)sqlite3_column_text(s, 1), index);
    CHECK(n==t->rank, "coords %s", sqlite3_column_text(s, 1));
    for(unsigned d=0; d<n; d++){
      CHECK(index[d]<t->shape[d], "coords %s", sqlite3_column_text(s, 1));
      at = at*t->shape[d] + index[d];
    }
    CHECK(at==i, "coords %s of %llu", sqlite3_column_text(s, 1), (unsigned long long)i);
    value = begin_value(m, t, (const char*)sqlite3_column_text(s, 1));
    step_row(value);
    check_element(value, 0, t, i);
    end(value);
    CHECK(step(s)==SQLITE_DONE, "two elements at a position");
  }
  end(s);
}

/* The rows of zt_elements, which are those of zt_dense if that gives any. */
static void check_elements(const image *m, const tensor *t){
  sqlite3_stmt *s = begin_tensor(S_elements, m, t), *value;
  uint64_t i = 0;
  int rc = SQLITE_ROW;
  for(; i<MOST_ROWS && (rc = step(s))==SQLITE_ROW; i++){
    uint64_t position = strtoull((const char*)sqlite3_column_text(s, 0), NULL, 10);
    CHECK(position<t->elements, "position %llu of %llu", (unsigned long long)position, (unsigned long long)t->elements);
    if( t->sparse ){
      if( !t->array || i>3 ) continue;
      value = begin_value(m, t, (const char*)sqlite3_column_text(s, 1));
      step_row(value);
      check_element(value, 0, t, position);
      end(value);
    }else{
      CHECK(position==i, "position %llu after %llu", (unsigned long long)position, (unsigned long long)i);
      if( t->array ) check_element(s, 2, t, i);
    }
  }
  if( rc!=SQLITE_ROW && rc!=SQLITE_DONE ) check_object_place(db, &t->object);
  if( t->array ) CHECK(rc==SQLITE_ROW || rc==SQLITE_DONE, "zt_elements: %s", sqlite3_errmsg(db));
  if( t->array && !t->sparse ) CHECK(i==(t->elements<MOST_ROWS ? t->elements : MOST_ROWS), "%llu elements", (unsigned long long)i);
  end(s);
}

static void check_json(const image *m, const tensor *t){
  sqlite3_stmt *s = begin_tensor(S_json, m, t);
  int rc = step(s);
  json_reader r = { .type = t->type, .array = t->array, .shape = t->shape, .rank = t->rank };
  if( rc==SQLITE_ROW ){
    r.p = (const char*)sqlite3_column_text(s, 1);
    CHECK(sqlite3_column_int(s, 0)==1, "zt_json: %s", r.p);
    CHECK(json_matches(&r, 0) && *r.p==0, "zt_json differs from zt_dense at '%.40s'", r.p);
    CHECK(r.i==t->elements, "zt_json has %llu elements", (unsigned long long)r.i);
  }else{
    CHECK(rc==SQLITE_TOOBIG, "zt_json: %s", sqlite3_errmsg(db));
  }
  end(s);
}

/* failed: zt_dense gave an error, and not for the size of the result. */
static void check_statistics(const image *m, const tensor *t, bool failed){
  sqlite3_stmt *s = begin_tensor(S_stats, m, t);
  plain_stats expected;
  const char *error;
  step_row(s);
  error = (const char*)sqlite3_column_text(s, 0);
  if( failed ) CHECK(error, "statistics of what zt_dense cannot give");
  else if( t->array && t->type->kind!=K_COMPLEX ) CHECK(!error, "no statistics of what zt_dense gives: %s", error);
  if( error ){
    for(int i=2; i<sqlite3_column_count(s); i++) CHECK(sqlite3_column_type(s, i)==SQLITE_NULL, "%s of no values", sqlite3_column_name(s, i));
  }else{
    CHECK(sqlite3_column_double(s, 2)+sqlite3_column_double(s, 3)+sqlite3_column_double(s, 4)<=(double)t->elements, "more than there are");
    if( sqlite3_column_type(s, 5)!=SQLITE_NULL ){
      double low = sqlite3_column_double(s, 5), high = sqlite3_column_double(s, 6), mean = sqlite3_column_double(s, 7);
      double rounding = 1e-14*fmax(fabs(low), fabs(high));
      CHECK(low-rounding<=mean && mean<=high+rounding, "min %g, mean %g, max %g", low, mean, high);
      CHECK(sqlite3_column_double(s, 8)>=0 && sqlite3_column_double(s, 9)>=0, "std %g, l2 %g", sqlite3_column_double(s, 8),
            sqlite3_column_double(s, 9));
    }
    if( t->array && t->elements<=MOST_ELEMENTS ){
      expected = stats_of(t->type, t->array, t->elements);
      check_stats(s, 2, t->type, &expected);
    }
  }
  CHECK(step(s)==SQLITE_DONE, "two rows of one object");
  end(s);
}

/* All that can be had of an object's values, if they decode to no more than fits a result. */
static void check_light(const image *m, tensor *t){
  sqlite3_stmt *s = begin_tensor(S_dense, m, t);
  int rc = step(s);
  if( rc==SQLITE_ROW ){
    CHECK(t->type, "elements of a type that is not known");
    CHECK(sqlite3_column_type(s, 0)==SQLITE_BLOB, "zt_dense gives no BLOB");
    t->n = (uint64_t)sqlite3_column_bytes(s, 0);
    t->array = t->n ? sqlite3_column_blob(s, 0) : (const void*)"";
    CHECK(t->elements<=2*LIMIT && t->n==size_of(t->type, t->elements), "%llu bytes of %llu elements of %s", (unsigned long long)t->n,
          (unsigned long long)t->elements, t->type->name);
  }else{
    check_object_place(db, &t->object);
    if( rc==SQLITE_TOOBIG ) CHECK(t->elements>LIMIT/(t->type ? t->type->width : 1), "%s", sqlite3_errmsg(db));
  }
  check_blame(&t->object, rc);
  check_elements(m, t);
  check_statistics(m, t, rc==SQLITE_ERROR);
  if( rc==SQLITE_TOOBIG && t->type && t->rank ) check_first_rows(m, t);
  if( t->array ){
    check_slice(m, t);
    check_rows(m, t);
    if( t->elements<=MOST_ELEMENTS ){
      check_json(m, t);
      check_converted(m, t, "f64");
      check_converted(m, t, "f32");
      check_converted(m, t, "i8");
    }
    if( t->elements ) check_position(m, t, t->elements/2);
    if( t->elements ) check_position(m, t, t->elements-1);
  }
  end(s);
}

/* Where nothing but the nofs entry point's promise keeps it short. */
static void check_heavy(const image *m, const tensor *t){
  for(size_t i=0; i<N_BOUNDED; i++){
    sqlite3_stmt *s = bounded[i];
    int rc;
    sqlite3_bind_blob(s, 1, m->p, (int)m->n, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, t->object.z, t->object.n, SQLITE_STATIC);
    while( (rc = sqlite3_step(s))==SQLITE_ROW ) tell_row(s);
    CHECK(rc==SQLITE_DONE || rc==SQLITE_ERROR || rc==SQLITE_TOOBIG, "%s: %s", sqlite3_sql(s), sqlite3_errmsg(nofs));
    if( rc!=SQLITE_DONE ) check_object_place(nofs, &t->object);
    end(s);
  }
}

/* row is one of zt_objects. */
static void check_values(const image *m, const name *object, sqlite3_stmt *row){
  const char *format = (const char*)sqlite3_column_text(row, 10);
  tensor t = { .object = *object };
  sqlite3_stmt *s;
  t.rank = read_shape((const char*)sqlite3_column_text(row, 9), t.shape);
  t.elements = strtoull((const char*)sqlite3_column_text(row, 8), NULL, 10);
  t.sparse = strncmp(format, "sparse_", 7)==0 || strncmp(format, "torch.sparse_", 13)==0 || strcmp(format, "torch._rebuild_sparse_tensor")==0
    || strcmp(format, "matlab.sparse")==0;
  t.quantized = strcmp(format, "quantized_group")==0 || strncmp(format, "gguf.", 5)==0 || (is_zt2(m) && (strcmp(format, "zt.mx/1")==0 || strcmp(format, "zt.quant_group/1")==0));
  if( sqlite3_column_type(row, 12)!=SQLITE_NULL || t.quantized ){
    t.type = type_named(t.quantized ? "f32" : (const char*)sqlite3_column_text(row, 12));
  }
  s = begin_tensor(S_light, m, &t);
  if( step(s)==SQLITE_TOOBIG ) check_heavy(m, &t);
  else check_light(m, &t);
  end(s);
}

/* row is one of zt_objects, of which nothing is known but the name. */
static void check_unread(const image *m, const name *object, sqlite3_stmt *row){
  tensor t = { .object = *object };
  sqlite3_stmt *s = begin_tensor(S_dense, m, &t);
  CHECK(is_foreign(m) && sqlite3_column_type(row, 8)==SQLITE_NULL, "elements without a shape");
  CHECK(step(s)==SQLITE_ERROR, "elements of an object without a shape");
  check_object_place(db, object);
  end(s);
}

/* Rows of zt_objects: how many, and the sum of components. */
static int64_t check_objects(const image *m, sum *components){
  sqlite3_stmt *s = begin(S_objects, m), *one;
  int64_t n = 0;
  int rc;
  for(; (rc = step(s))==SQLITE_ROW; n++){
    name object = copy_name(s, 0);
    if( sqlite3_column_type(s, 9)==SQLITE_NULL ){
      add(components, s, 1);
      check_unread(m, &object, s);
      free(object.z);
      continue;
    }
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
    if( n<MOST_VALUES ) check_values(m, &object, s);
    free(object.z);
  }
  CHECK(rc==SQLITE_DONE, "%s", sqlite3_errmsg(db));
  end(s);
  return n;
}

/* The kind of value of each type. */
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

/* n: how many components there are. */
static void check_content_id(const image *m, int64_t n){
  sqlite3_stmt *s = begin(S_content_id, m);
  const char *id;
  step_row(s);
  id = (const char*)sqlite3_column_text(s, 0);
  if( id ) CHECK(is_zt2(m) && strlen(id)==71 && strncmp(id, "sha256:", 7)==0 && strspn(id+7, "0123456789abcdef")==64, "zt_content_id: %s", id);
  if( id ) CHECK(sqlite3_column_int64(s, 1)==0, "zt_content_id, and %lld components have no digest", sqlite3_column_int64(s, 1));
  if( !id ) CHECK(!is_zt2(m) || n==0 || sqlite3_column_int64(s, 1)>0, "no zt_content_id, and all components have a digest");
  end(s);
}

/* files stands on the row of zt_files. */
static void check_accepted(image *m, sqlite3_stmt *files){
  sqlite3_int64 manifest = sqlite3_column_int64(files, 8);
  size_t footer = is_foreign(m) ? 0 : footer_of(m->p, m->n);
  sum stored = { 0, true }, decoded = { 0, true }, components = { 0, true };
  int64_t nComponents, nObjects;
  sqlite3_stmt *s;
  if( is_zt2(m) ) footer = ZT2_FOOTER;
  CHECK((is_zt2(m) || is_foreign(m) || manifest>0) && (uint64_t)manifest<=m->n-(is_foreign(m) ? 0 : 8+footer), "manifest_bytes %lld of %zu", manifest, m->n);
  m->end = m->n-footer-(is_zt2(m) || is_foreign(m) ? 0 : (size_t)manifest);
  check_findings(m, NULL);
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
  check_content_id(m, nComponents);
  s = begin(S_manifest, m);
  step_row(s);
  if( is_zt2(m) && manifest==0 ){   /* A data shard */
    CHECK(sqlite3_column_type(s, 1)==SQLITE_NULL, "a manifest of none: %s", sqlite3_column_text(s, 1));
    end(s);
    return;
  }
  CHECK(sqlite3_column_int(s, 0)==1, "manifest %s", sqlite3_column_text(s, 1));
  end(s);
}

static uint64_t check(image *m){
  sqlite3_stmt *files = begin(S_files, m);
  int rc;
  answers = 0xCBF29CE484222325u;
  rc = step(files);
  if( rc==SQLITE_TOOBIG && is_foreign(m) ){   /* A small pickle may hold many values, at many places */
    end(files);
    return answers;
  }
  CHECK(rc==SQLITE_ROW, "%s: %d, %s", sqlite3_sql(files), rc, sqlite3_errmsg(db));
  if( sqlite3_column_type(files, 0)==SQLITE_NULL ) check_accepted(m, files);
  else check_refused(m, (const char*)sqlite3_column_text(files, 0));
  CHECK(step(files)==SQLITE_DONE, "two rows of one file");
  end(files);
  return answers;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  image first = { 0 }, second = { 0 };
  uint64_t once, twice;
  first.p = zt2_expand(data, n, &first.n);
  second.p = zt2_expand(data, n, &second.n);
  once = check(&first);
  twice = check(&second);
  CHECK(once==twice, "the same bytes give other answers");
  free((uint8_t*)first.p);
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
  if( zt2_is_short(data, n) ) return zt2_mutate(data, n, max, seed);
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
