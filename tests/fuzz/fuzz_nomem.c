/*
** Any bytes as the image of a tensor file (or what zt2.h makes of them), while memory runs out. A statement is run once as it is, and then again and
** again while one of its allocations fails, or that one and all after it. Properties:
**   - it fails with SQLITE_NOMEM, or gives the very same rows or failure as with enough memory
**   - afterwards no more memory is held than before
** Which of the allocations fail, and of which half of the statements, depends on the bytes: over many inputs, all of them.
*/
#include "answers.h"
#include "zt2.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

#define LIMIT (1<<20)     /* On the length of results */
#define POINTS 6          /* Allocations of each statement that fail */

static const char *const statements[] = {
  "SELECT * FROM zt_files(?1)",
  "SELECT * FROM zt_objects(?1)",
  "SELECT * FROM zt_components(?1)",
  "SELECT *, stored_type FROM zt_attributes(?1)",
  "SELECT zt_manifest(?1)",
  "SELECT zt_content_id(?1)",
  "SELECT zt_fingerprint(?1) WHERE NOT EXISTS (SELECT 1 FROM zt_objects(?1, 'skip') WHERE elements>=10000)",
  "SELECT fingerprint, fingerprint_error FROM zt_objects(?1) WHERE elements<10000 LIMIT 4",
  "SELECT object, on_error FROM zt_objects(?1, 'skip')",
  "SELECT component, digest_status, stored FROM zt_components(?1)",
  "SELECT component, data FROM zt_components(?1)",
  "SELECT component, hash FROM zt_components(?1, 'skip')",
  "SELECT zt_blob(?1, object, component, 1, 100) FROM zt_components(?1) LIMIT 8",
  "SELECT zt_blob(?1, object) FROM zt_objects(?1) LIMIT 8",
  "SELECT zt_blob(?1, object, 'datum') FROM zt_objects(?1) LIMIT 1",
  "SELECT zt_blob(?1, object || 'x') FROM zt_objects(?1) LIMIT 1",
  "SELECT * FROM zt_objects(?1) WHERE object IN ('w', 'a', 'x', 'y')",
  "SELECT * FROM zt_components(?1) AS a JOIN zt_objects(?1) AS b ON a.object = b.object LIMIT 8",
  "SELECT zt_dense(?1, object) FROM zt_objects(?1) LIMIT 4",
  "SELECT zt_dense(?1, object, 'f16', 1, 2) FROM zt_objects(?1) LIMIT 2",
  "SELECT zt_dense(?1, object, 'float32', 1) FROM zt_objects(?1) LIMIT 2",
  "SELECT zt_dense(?1, object, 'u8') FROM zt_objects(?1) LIMIT 1",
  "SELECT zt_dense(?1, object, 'f4_e2m1') FROM zt_objects(?1) LIMIT 1",
  "SELECT zt_json(?1, object) FROM zt_objects(?1) WHERE elements<1000 LIMIT 4",
  "SELECT zt_json(?1, object, 'f16', 1, 2) FROM zt_objects(?1) WHERE elements<1000 LIMIT 2",
  "SELECT zt_value(?1, object, 0), zt_value(?1, object, 1, 0) FROM zt_objects(?1) LIMIT 2",
  "SELECT zt_hash(?1, object, component, 'sha256'), zt_hash(?1, object, component, 'xxh3') FROM zt_components(?1) LIMIT 8",
  "SELECT * FROM zt_stats(?1) LIMIT 4",
  "SELECT object, min FROM zt_stats(?1, 'skip') LIMIT 4",
  "SELECT *, meaning, specification FROM zt_check(?1)",
  "SELECT * FROM zt_check(?1, 'full') LIMIT 64",
  "SELECT c.* FROM zt_objects(?1) AS a, zt_compare(?1, a.object, ?1, a.object) AS c WHERE a.elements<1000 LIMIT 2",
  "SELECT h.* FROM zt_objects(?1) AS a, zt_histogram(?1, a.object, 2) AS h WHERE a.elements<1000 LIMIT 2",
  "SELECT b.* FROM zt_objects(?1) AS a, zt_elements(?1, a.object) AS b LIMIT 16",
  "SELECT b.value FROM zt_objects(?1) AS a, zt_elements(?1, a.object) AS b WHERE b.position BETWEEN 2 AND 5 LIMIT 8",
  "SELECT b.* FROM zt_objects(?1) AS a, zt_rows(?1, a.object) AS b LIMIT 8",
  "SELECT b.vector FROM zt_objects(?1) AS a, zt_rows(?1, a.object, 'i64') AS b WHERE b.row > 0 LIMIT 4",
};

static sqlite3 *db;
static const uint8_t *image;
static size_t image_size;

int LLVMFuzzerInitialize(int *argc, char ***argv){
  char *message = NULL;
  (void)argc;
  (void)argv;
  CHECK(memory_install(), "the allocator");
  CHECK(sqlite3_open(":memory:", &db)==SQLITE_OK, "open");
  CHECK(sqlite3_ztensor_init(db, &message, NULL)==SQLITE_OK, "%s", message);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LIMIT);
  return 0;
}

static void bind(sqlite3_stmt *s){
  sqlite3_bind_blob(s, 1, image_size ? (const void*)image : "", (int)image_size, SQLITE_STATIC);
}

/* Memory in use, what SQLite keeps only to be faster left out. */
static sqlite3_int64 memory_used(void){
  sqlite3_db_release_memory(db);
  return sqlite3_memory_used();
}

static void check(const char *sql, uint64_t seed){
  answer expected = ask(db, sql, bind);
  sqlite3_int64 before = memory_used(), after;
  int64_t stride = expected.allocations/POINTS + 1;
  for(int64_t at=1+(int64_t)(seed%(uint64_t)stride); at<=expected.allocations; at+=stride){
    ask_failing(db, sql, bind, &expected, at, (seed>>32 & 1)!=0);
    after = memory_used();
    CHECK(after<=before, "%s: allocation %lld failed, and %lld bytes more are held", sql, (long long)at, after-before);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  uint64_t seed = XXH3_64bits(data, n);
  if( n>8192 ) return 0;   /* Each statement runs several times */
  image = zt2_expand(data, n, &image_size);
  for(size_t i=0; i<sizeof(statements)/sizeof(*statements); i++){
    if( seed>>(8+i) & 1 ) check(statements[i], seed ^ seed>>17 ^ i);
  }
  free((uint8_t*)image);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed){
  return zt2_is_short(data, n) ? zt2_mutate(data, n, max, seed) : LLVMFuzzerMutate(data, n, max);
}
