/* Hashes of a key's values. See key_hash.h. */
#include "sqlite/key_hash.h"

#include <math.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define KEY_EXACT 1000000000000000   /* A REAL as text keeps all digits of smaller INTEGERs */

/* The part of a text that its collation compares: NOCASE stops at U+0000. */
static zt_text key_compared(zt_text text, zt_collation collation){
  const char *end = collation==ZT_COLLATION_NOCASE ? memchr(text.z, 0, text.n) : NULL;
  if( end ) text.n = (size_t)(end-text.z);
  while( collation==ZT_COLLATION_RTRIM && text.n>0 && text.z[text.n-1]==' ' ) text.n--;
  return text;
}

static uint64_t key_hash_text(zt_text text, zt_collation collation, uint64_t seed){
  char lower[256];
  text = key_compared(text, collation);
  if( text.n==0 ) return XXH3_64bits_withSeed("", 0, seed);
  if( collation!=ZT_COLLATION_NOCASE ) return XXH3_64bits_withSeed(text.z, text.n, seed);
  for(size_t i=0; i<text.n; i+=sizeof(lower)){
    const size_t n = text.n-i<sizeof(lower) ? text.n-i : sizeof(lower);
    for(size_t k=0; k<n; k++){
      const char ch = text.z[i+k];
      lower[k] = (char)(ch>='A' && ch<='Z' ? ch+('a'-'A') : ch);
    }
    seed = XXH3_64bits_withSeed(lower, n, seed);
  }
  return seed;
}

static uint64_t key_hash_integer(sqlite3_int64 i, uint64_t seed){
  return XXH3_64bits_withSeed(&i, sizeof(i), seed+1);
}

/* Equal numbers have the same hash, and so do numbers that are equal once one of them becomes text.
** It is computed from 15 digits, which a text has at least. Infinity equals the text Inf. */
static uint64_t key_hash_real(double r, zt_collation collation, uint64_t seed){
  char z[64];
  size_t n;
  if( isinf(r) ) return key_hash_text(r<0 ? ZT_TEXT("-Inf") : ZT_TEXT("Inf"), collation, seed);
  sqlite3_snprintf(sizeof(z), z, "%!.15g", r);
  n = strlen(z);
  if( n>2 && strcmp(z+n-2, ".0")==0 && !strchr(z, 'e') && fabs(r)<2.0*KEY_EXACT ){
    const sqlite3_int64 i = (sqlite3_int64)(r<0 ? r-0.5 : r+0.5);
    if( i<KEY_EXACT && i>-KEY_EXACT ) return key_hash_integer(i, seed);
  }
  return XXH3_64bits_withSeed(z, n, seed+1);
}

static uint64_t key_hash_number(sqlite3_value *v, zt_collation collation, uint64_t seed){
  sqlite3_int64 i;
  if( sqlite3_value_type(v)==SQLITE_FLOAT ){
    return key_hash_real(sqlite3_value_double(v), collation, seed);
  }
  i = sqlite3_value_int64(v);
  if( i<KEY_EXACT && i>-KEY_EXACT ) return key_hash_integer(i, seed);
  return key_hash_real((double)i, collation, seed);
}

/* True if SQLite may convert the text to a number. */
static bool key_may_be_number(zt_text text){
  size_t i = 0;
  while( i<text.n && strchr(" \t\n\v\f\r", text.z[i]) && text.z[i] ) i++;
  return i<text.n && ((text.z[i]>='0' && text.z[i]<='9') || text.z[i]=='+' || text.z[i]=='-'
                      || text.z[i]=='.');
}

/* A text is compared as text, or as the number that it represents: SQLite itself decides. */
static int key_hash_a_text(sqlite3_value *v, zt_collation collation, uint64_t *hash){
  const zt_text text = zt_value_text(v);
  sqlite3_value *copy;
  int type;
  if( !text.z ) return SQLITE_NOMEM;
  if( key_may_be_number(text) ){
    copy = sqlite3_value_dup(v);   /* The copy becomes that number; v does not change */
    if( !copy ) return SQLITE_NOMEM;
    type = sqlite3_value_numeric_type(copy);
    if( type!=SQLITE_TEXT ) *hash = key_hash_number(copy, collation, *hash);
    sqlite3_value_free(copy);
    if( type!=SQLITE_TEXT ) return SQLITE_OK;
  }
  *hash = key_hash_text(text, collation, *hash);
  return SQLITE_OK;
}

int zt_key_hash(sqlite3_value *v, zt_collation collation, uint64_t *hash){
  int n;
  switch( sqlite3_value_type(v) ){
    case SQLITE_NULL:
      *hash = XXH3_64bits_withSeed("", 0, *hash+2);
      return SQLITE_OK;
    case SQLITE_TEXT:
      return key_hash_a_text(v, collation, hash);
    case SQLITE_BLOB:
      n = sqlite3_value_bytes(v);
      *hash = XXH3_64bits_withSeed(n ? sqlite3_value_blob(v) : "", (size_t)n, *hash+3);
      return SQLITE_OK;
    default:
      *hash = key_hash_number(v, collation, *hash);
      return SQLITE_OK;
  }
}
