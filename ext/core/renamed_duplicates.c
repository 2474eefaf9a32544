/* Distinct names for things that are named alike. See renamed_duplicates.h. */
#include "core/renamed_duplicates.h"

#include <assert.h>
#include <string.h>
#include "core/host.h"

#define RENAMED_DIGITS 12    /* #, a number of 32 bits, and 0 */

static int renamed_make_room(zt_renamed *d, size_t n, zt_error *err){
  char *z;
  if( n<=d->room ) return SQLITE_OK;
  z = sqlite3_realloc64(d->z, n);
  if( !z ) return zt_fail_nomem(err);
  d->z = z;
  d->room = n;
  return SQLITE_OK;
}

int zt_renamed_name(zt_renamed *d, const zt_keys *keys, const uint8_t *bytes, zt_text name,
                    zt_text *out, zt_error *err){
  const int64_t first = zt_keys_find(keys, bytes, name);
  assert( first>=0 );
  if( renamed_make_room(d, name.n+RENAMED_DIGITS, err) ) return err->rc;
  while( d->given.n<=first ) if( zt_u32_array_push(&d->given, 0, err) ) return err->rc;
  if( name.n ) memcpy(d->z, name.z, name.n);
  do{
    sqlite3_snprintf(RENAMED_DIGITS, d->z+name.n, "#%u", ++d->given.a[first]+1);
    *out = (zt_text){ d->z, name.n+strlen(d->z+name.n) };
  }while( zt_keys_find(keys, bytes, *out)>=0 );
  return SQLITE_OK;
}

void zt_renamed_clear(zt_renamed *d){
  zt_u32_array_clear(&d->given);
  sqlite3_free(d->z);
  *d = (zt_renamed){ 0 };
}
