/*
** A mutant of a golden file (mutation.h), read through its path and as a BLOB: every table and function gives the same rows,
** or fails with the same words, but for what a BLOB cannot have (a path, a time, shards). Properties:
**   - each row, column for column, of every statement below; each failure's code and message
**   - a failure names its file: the path, or <blob>; or zt_pack, which cannot write a row
**   - the file is written over in place again and again, on one connection: nothing of the one before is seen
** The statements name every table, function and column there is; a new one that they do not is a failure.
**
** An input of CHOICES bytes makes a mutant. Any other is a file as it is: so the golden and the hostile files are compared, too.
*/
#ifndef _GNU_SOURCE
# define _GNU_SOURCE   /* mkdtemp() */
#endif
#include <unistd.h>
#include "core/host.h"
#include "mutation.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

#define CHOICES 64
#define PACK "ztensor: zt_pack: "
#define LIMIT (1<<20)       /* On the length of results */
#define FILE_LIMIT 1000000000   /* The same of a whole file: as SQLite has it */
#define MOST_OBJECTS 3      /* Objects of a file whose values are read */
#define MOST_PARTS 4        /* Components, whose bytes are */

/* The source is ?1; an object's name ?2, a component's ?3. */
static const char *const of_file[] = {
  "SELECT * FROM zt_files(?1)",
  "SELECT error_kind, architecture, layout, data_offset, digests, (device IS NULL) = (inode IS NULL) FROM zt_files(?1)",
  "SELECT digest_of, digest_algorithm, digest_value FROM zt_components(?1)",
  "SELECT * FROM zt_objects(?1)",
  "SELECT * FROM zt_components(?1)",
  "SELECT *, stored_type FROM zt_attributes(?1)",
  "SELECT object, on_error FROM zt_objects(?1, 'skip')",
  "SELECT *, meaning, specification FROM zt_check(?1, 'quick')",
  "SELECT * FROM zt_check(?1) WHERE level = 'full' LIMIT 64",
  "SELECT * FROM zt_stats(?1) LIMIT 3",
  "SELECT hash, \"too many arguments\" FROM zt_components(?1, 'skip') LIMIT 4",
  "SELECT r.severity, r.meaning FROM zt_check(?1) JOIN zt_rules AS r USING (rule) LIMIT 9",
  "SELECT mtime_ns IS NULL OR mtime_ns > 0, ctime_ns IS NULL OR ctime_ns > 0, birth_ns IS NULL OR birth_ns > 0, etag, types FROM zt_files(?1)",
  "SELECT g.value, o.object FROM zt_objects(?1) AS o JOIN zt_given('usage') AS g ON g.value = o.object LIMIT 9",
  "SELECT zt_manifest(?1)",
  "SELECT zt_content_id(?1)",
  "SELECT zt_fingerprint(?1) WHERE NOT EXISTS (SELECT 1 FROM zt_objects(?1, 'skip') WHERE elements>=100000)",
  "SELECT zt_version(), zt_threads(), zt_host('box'), zt_host(), zt_absolute('a.zt'), zt_endpoint('a.zt') WHERE EXISTS (SELECT 1 FROM zt_files WHERE source = ?1)",
};

static const char *const of_object[] = {
  "SELECT * FROM zt_objects(?1) WHERE object = ?2",
  "SELECT fingerprint, fingerprint_error FROM zt_objects(?1) WHERE object = ?2 AND elements<100000",
  "SELECT * FROM zt_elements(?1, ?2) LIMIT 40",
  "SELECT position, value FROM zt_elements(?1, ?2) WHERE position > 6 LIMIT 10",
  "SELECT * FROM zt_rows(?1, ?2) LIMIT 4",
  "SELECT vector FROM zt_rows(?1, ?2) WHERE dtype = 'f64' LIMIT 2",
  "SELECT c.*, c.other_source IS NOT NULL, c.other_object FROM zt_objects(?1) AS o, zt_compare(?1, o.object, ?1, o.object) AS c"
    " WHERE o.object = ?2 AND o.elements<100000",
  "SELECT h.*, h.bins FROM zt_objects(?1) AS o, zt_histogram(?1, o.object, 4) AS h WHERE o.object = ?2 AND o.elements<100000",
  "SELECT zt_pack('ztensor-2', object, ?1, object) FROM zt_objects(?1) WHERE object = ?2 AND elements<100000 AND format = 'dense'",
  "SELECT zt_blob(?1, ?2)",
  "SELECT zt_dense(?1, ?2)",
  "SELECT zt_dense(?1, ?2, 'f32', 1, 2)",
  "SELECT zt_json(?1, ?2)",
  "SELECT zt_value(?1, ?2, 0), zt_value(?1, ?2, 1, 1)",
};

static const char *const of_part[] = {
  "SELECT digest_status, data FROM zt_components(?1) WHERE object = ?2 AND component = ?3",
  "SELECT stored FROM zt_components(?1) WHERE object = ?2 AND component = ?3",
  "SELECT zt_blob(?1, ?2, ?3)",
  "SELECT zt_blob(?1, ?2, ?3, 3, 5)",
  "SELECT zt_hash(?1, ?2, ?3, 'sha256'), zt_hash(?1, ?2, ?3, 'crc32c'), zt_hash(?1, ?2, ?3, 'xxh3')",
};
#define N(a) (sizeof(a)/sizeof(*(a)))
#define N_STATEMENTS (N(of_file)+N(of_object)+N(of_part))

typedef struct pair {
  const char *sql;
  sqlite3_stmt *path, *blob;
} pair;

static sqlite3 *db;
static pair pairs[N_STATEMENTS];
static sqlite3_stmt *objects, *parts;   /* The file's objects and components */
static char directory[] = "/tmp/fuzz_diff_XXXXXX";
static char file[64], prefix[96];       /* The mutant's path, whose array, if it is of numpy, has the name that a BLOB's has; and how
                                         ** failures of it begin */
static bytes mutant;
static unsigned long readable;          /* Mutants that have rows */

static void clean_up(void){
  unlink(file);
  rmdir(directory);
  printf("%lu are readable files\n", readable);
}

static sqlite3_stmt *prepare(const char *sql){
  sqlite3_stmt *s = NULL;
  CHECK(sqlite3_prepare_v2(db, sql, -1, &s, NULL)==SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
  return s;
}

static size_t prepare_pairs(const char *const *sql, size_t n, size_t at){
  for(size_t i=0; i<n; i++) pairs[at+i] = (pair){ sql[i], prepare(sql[i]), prepare(sql[i]) };
  return at+n;
}

/* Every table, function and hidden column is in one of the statements: their names are in one text. */
static void check_complete(void){
  sqlite3_stmt *s = prepare(
    "SELECT name FROM pragma_module_list WHERE name GLOB 'zt_*'"
    " UNION ALL SELECT name FROM pragma_function_list WHERE name GLOB 'zt_*'"
    " UNION ALL SELECT x.name FROM pragma_module_list AS m, pragma_table_xinfo(m.name) AS x WHERE m.name GLOB 'zt_*' AND x.hidden"
  );
  int n = 0;
  for(; sqlite3_step(s)==SQLITE_ROW; n++){
    const char *name = (const char*)sqlite3_column_text(s, 0);
    bool found = false;
    for(size_t i=0; i<N_STATEMENTS; i++) found = found || strstr(pairs[i].sql, name);
    CHECK(found, "%s is in no statement of this target", name);
  }
  CHECK(n>20, "%d names of tables, functions and columns", n);
  sqlite3_finalize(s);
}

int LLVMFuzzerInitialize(int *argc, char ***argv){
  char *message = NULL;
  size_t n;
  (void)argc;
  (void)argv;
  read_goldens();
  CHECK(mkdtemp(directory), "mkdtemp");
  snprintf(file, sizeof(file), "%s/data.zt", directory);
  snprintf(prefix, sizeof(prefix), "ztensor: %s: ", file);
  atexit(clean_up);
  CHECK(sqlite3_open(":memory:", &db)==SQLITE_OK, "open");
  CHECK(sqlite3_ztensor_init(db, &message, NULL)==SQLITE_OK, "%s", message);
  n = prepare_pairs(of_file, N(of_file), 0);
  n = prepare_pairs(of_object, N(of_object), n);
  prepare_pairs(of_part, N(of_part), n);
  objects = prepare("SELECT object FROM zt_objects(?1)");
  parts = prepare("SELECT object, component FROM zt_components(?1)");
  check_complete();
  return 0;
}

static void write_mutant(void){
  FILE *f = fopen(file, "wb");
  CHECK(f && fwrite(mutant.p, 1, mutant.n, f)==mutant.n && fclose(f)==0, "%s: cannot be written", file);
}

/* --- Comparing --- */

/* A BLOB has no shards: what it says of that, the path says in another way. */
static bool is_of_shards(const char *path, const char *blob){
  return strstr(blob, "; a BLOB has none") && strstr(path, "shard");
}

/* Two texts that differ are the same failure if each names its own source before the same words. */
static bool same_text(const char *path, const char *blob){
  static const char of_blob[] = "ztensor: <blob>: ";
  if( strcmp(path, blob)==0 || is_of_shards(path, blob) ) return true;
  return strncmp(path, prefix, strlen(prefix))==0 && strncmp(blob, of_blob, strlen(of_blob))==0
      && strcmp(path+strlen(prefix), blob+strlen(of_blob))==0;
}

/* The values of one column. Those that only a file has are NULL of a BLOB. */
static bool same_value(sqlite3_stmt *path, sqlite3_stmt *blob, int i){
  const char *name = sqlite3_column_name(path, i);
  int type = sqlite3_column_type(path, i);
  int n = sqlite3_column_bytes(path, i);
  if( strcmp(name, "path")==0 ) return type==SQLITE_TEXT && sqlite3_column_type(blob, i)==SQLITE_NULL;
  if( strcmp(name, "mtime")==0 ) return type==SQLITE_FLOAT && sqlite3_column_type(blob, i)==SQLITE_NULL;
  if( sqlite3_column_type(blob, i)!=type ) return false;
  if( type==SQLITE_TEXT ){
    return same_text((const char*)sqlite3_column_text(path, i), (const char*)sqlite3_column_text(blob, i));
  }
  if( type==SQLITE_FLOAT ){
    double a = sqlite3_column_double(path, i), b = sqlite3_column_double(blob, i);
    return memcmp(&a, &b, sizeof(a))==0;
  }
  if( sqlite3_column_bytes(blob, i)!=n ) return false;
  return n==0 || memcmp(sqlite3_column_blob(path, i), sqlite3_column_blob(blob, i), (size_t)n)==0;
}

static void end(sqlite3_stmt *s){
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
}

static void bind(sqlite3_stmt *s, const char *object, const char *part){
  if( object ) sqlite3_bind_text(s, 2, object, -1, SQLITE_STATIC);
  if( part ) sqlite3_bind_text(s, 3, part, -1, SQLITE_STATIC);
}

/* Step both, and compare failures; SQLITE_ROW: there are two rows. */
static int step_both(const pair *q){
  char message[1024];
  int rc = sqlite3_step(q->path), of_blob;
  snprintf(message, sizeof(message), "%s", sqlite3_errmsg(db));
  of_blob = sqlite3_step(q->blob);
  CHECK(rc==of_blob, "%s: path %d (%s), BLOB %d (%s)", q->sql, rc, message, of_blob, sqlite3_errmsg(db));
  CHECK(rc==SQLITE_ROW || rc==SQLITE_DONE || rc==SQLITE_ERROR || rc==SQLITE_TOOBIG, "%s: %d (%s)", q->sql, rc, message);
  if( rc!=SQLITE_ERROR ) return rc;
  CHECK(strncmp(message, prefix, strlen(prefix))==0 || strncmp(message, PACK, strlen(PACK))==0, "%s: %s", q->sql, message);
  CHECK(same_text(message, sqlite3_errmsg(db)), "%s: '%s', BLOB: '%s'", q->sql, message, sqlite3_errmsg(db));
  return rc;
}

static void compare(const pair *q, const char *object, const char *part){
  sqlite3_bind_text(q->path, 1, file, -1, SQLITE_STATIC);
  sqlite3_bind_blob(q->blob, 1, mutant.p, (int)mutant.n, SQLITE_STATIC);
  bind(q->path, object, part);
  bind(q->blob, object, part);
  for(int row=0; step_both(q)==SQLITE_ROW; row++){
    for(int i=0; i<sqlite3_column_count(q->path); i++){
      CHECK(same_value(q->path, q->blob, i), "%s: row %d, %s: '%s', BLOB: '%s'", q->sql, row, sqlite3_column_name(q->path, i),
            sqlite3_column_text(q->path, i), sqlite3_column_text(q->blob, i));
    }
  }
  end(q->path);
  end(q->blob);
}

/* Each of n statements, for `most` rows of the list, of which the input chooses the first. How many rows were seen. */
static int compare_each(sqlite3_stmt *list, const pair *q, size_t n, int most){
  int first = (int)choose(16), row;
  sqlite3_bind_blob(list, 1, mutant.p, (int)mutant.n, SQLITE_STATIC);
  for(row=0; row<first+most && sqlite3_step(list)==SQLITE_ROW; row++){
    if( row<first ) continue;
    const char *object = (const char*)sqlite3_column_text(list, 0);
    const char *part = sqlite3_column_count(list)>1 ? (const char*)sqlite3_column_text(list, 1) : NULL;
    for(size_t i=0; i<n; i++) compare(&q[i], object, part);
  }
  end(list);
  return row;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  bool whole = n!=CHOICES;
  input = data;
  input_left = whole ? 0 : n;
  CHECK(n<=MUTANT_MAX, "a file of %zu bytes", n);
  mutant.n = n;
  if( !whole ) make_mutant(&mutant);
  else if( n>0 ) memcpy(mutant.p, data, n);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, whole ? FILE_LIMIT : LIMIT);
  write_mutant();
  for(size_t i=0; i<N(of_file); i++) compare(&pairs[i], NULL, NULL);
  readable += compare_each(objects, pairs+N(of_file), N(of_object), MOST_OBJECTS)>0;
  compare_each(parts, pairs+N(of_file)+N(of_object), N(of_part), MOST_PARTS);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed){
  size_t changed = LLVMFuzzerMutate(data, n<CHOICES ? n : CHOICES, CHOICES);
  (void)max;
  (void)seed;
  memset(data+changed, 0, CHOICES-changed);
  return CHOICES;
}
