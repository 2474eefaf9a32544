/* Distinct names for things with equal names. See renamed_duplicates.h. */
#include "core/renamed_duplicates.h"

#include <assert.h>
#include <string.h>
#include "core/grow.h"
#include "core/host.h"

#define RENAMED_DIGITS 12    /* #, a number of 32 bits, and NUL */

int zt_renamed_name(zt_renamed *d, const zt_keys *keys, const uint8_t *bytes, zt_text name,
                    zt_text *out, zt_error *err){
  const int64_t first = zt_keys_find(keys, bytes, name);
  char *z = zt_grow(d->z, &d->room, (uint64_t)name.n+RENAMED_DIGITS, 1, err);
  assert( first>=0 );
  if( !z ) return err->rc;
  d->z = z;
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
