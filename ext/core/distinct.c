/* Distinct names for things that are named alike. See distinct.h. */
#include "core/distinct.h"

#include <assert.h>
#include <string.h>
#include "core/host.h"

#define DISTINCT_DIGITS 12   /* #, a number of 32 bits, and 0 */

static int distinct_make_room(zt_distinct *d, size_t n, zt_error *err){
  char *z;
  if( n<=d->room ) return SQLITE_OK;
  z = sqlite3_realloc64(d->z, n);
  if( !z ) return zt_fail_nomem(err);
  d->z = z;
  d->room = n;
  return SQLITE_OK;
}

int zt_distinct_name(zt_distinct *d, const zt_keys *keys, const uint8_t *bytes, zt_text name,
                     zt_text *out, zt_error *err){
  const int64_t first = zt_keys_find(keys, bytes, name);
  assert( first>=0 );
  if( distinct_make_room(d, name.n+DISTINCT_DIGITS, err) ) return err->rc;
  while( d->given.n<=first ) if( zt_positions_push(&d->given, 0, err) ) return err->rc;
  if( name.n ) memcpy(d->z, name.z, name.n);
  do{
    sqlite3_snprintf(DISTINCT_DIGITS, d->z+name.n, "#%u", ++d->given.a[first]+1);
    *out = (zt_text){ d->z, name.n+strlen(d->z+name.n) };
  }while( zt_keys_find(keys, bytes, *out)>=0 );
  return SQLITE_OK;
}

void zt_distinct_clear(zt_distinct *d){
  zt_positions_clear(&d->given);
  sqlite3_free(d->z);
  *d = (zt_distinct){ 0 };
}
