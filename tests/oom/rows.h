/* Hashes of rows, by which tests compare answers. */
#ifndef ZT_TESTS_OOM_ROWS_H
#define ZT_TESTS_OOM_ROWS_H

#include <stdint.h>
#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The hash so far, and column i: its type and its bytes. Reading it may allocate. */
static inline uint64_t hash_column(uint64_t hash, sqlite3_stmt *s, int i){
  int type = sqlite3_column_type(s, i);
  sqlite3_int64 integer = sqlite3_column_int64(s, i);
  double real = sqlite3_column_double(s, i);
  XXH64_hash_t seed = hash+(uint64_t)type;
  if( type==SQLITE_INTEGER ) return XXH3_64bits_withSeed(&integer, sizeof(integer), seed);
  if( type==SQLITE_FLOAT ) return XXH3_64bits_withSeed(&real, sizeof(real), seed);
  /* The text first: its length is that of the encoding asked for last */
  const void *p = type==SQLITE_TEXT ? (const void*)sqlite3_column_text(s, i) : sqlite3_column_blob(s, i);
  return XXH3_64bits_withSeed(p, (size_t)sqlite3_column_bytes(s, i), seed);
}

/* The hash so far, and the row from column `first` on. */
static inline uint64_t hash_row(uint64_t hash, sqlite3_stmt *s, int first){
  for(int i=first; i<sqlite3_column_count(s); i++) hash = hash_column(hash, s, i);
  return hash;
}

#endif
