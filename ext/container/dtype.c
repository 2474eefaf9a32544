/* The table of types. See dtype.h. */
#include "container/dtype.h"

#include "core/host.h"

#define ROW(name, storage, class, wide, width, unit, packed, conversion) \
  { ZT_DTYPE_##name, #name, #storage, class, wide, width, unit, packed },
static const zt_dtype aDtype[] = { ZT_DTYPES(ROW) };

/* The names again, with their lengths: a manifest names a type for each component. */
#define NAME(name, ...) ZT_TEXT_INIT(#name),
static const zt_text aName[] = { ZT_DTYPES(NAME) };

const zt_dtype *zt_dtype_named(zt_text name){
  for(size_t i=0; i<sizeof(aDtype)/sizeof(*aDtype); i++){
    if( zt_text_equal(name, aName[i]) ) return &aDtype[i];
  }
  return NULL;
}

int zt_dtype_find(zt_text name, const zt_dtype **out, zt_error *err){
  sqlite3_str *list;
  char *z;
  *out = zt_dtype_named(name);
  if( *out ) return SQLITE_OK;
  list = sqlite3_str_new(NULL);
  for(size_t i=0; i<sizeof(aDtype)/sizeof(*aDtype); i++) sqlite3_str_appendf(list, "%s%s", i ? ", " : "", aDtype[i].name);
  z = sqlite3_str_finish(list);
  if( z ) zt_fail(err, SQLITE_ERROR, "dtype '%.*s' is not known: there are %s", zt_shown(name), name.z, z);
  else zt_fail_nomem(err);
  sqlite3_free(z);
  return err->rc;
}

const zt_dtype *zt_dtype_storage(zt_text name){
  const zt_dtype *d = zt_dtype_named(name);
  return d && strcmp(d->name, d->storage)==0 ? d : NULL;
}

const zt_dtype *zt_dtype_of(const zt_component *component){
  const zt_dtype *storage, *d;
  if( component->foreign ) return NULL;
  storage = zt_dtype_storage(component->dtype);
  if( !storage || !component->type.z ) return storage;
  d = zt_dtype_named(component->type);
  if( d && component->strict && d->id==ZT_DTYPE_bool ) return storage->id==ZT_DTYPE_u8 ? d : NULL;   /* No storage type of zTensor 2 */
  return d && strcmp(d->storage, storage->name)==0 ? d : NULL;
}

bool zt_dtype_size(const zt_dtype *dtype, uint64_t elements, uint64_t *out){
  if( !dtype->packed ) return zt_mul64(elements, dtype->width, out);
  *out = elements/dtype->packed + (elements%dtype->packed!=0);
  return true;
}
