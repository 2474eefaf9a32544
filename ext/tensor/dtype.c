/* The table of types. See dtype.h. */
#include "tensor/dtype.h"

#include "core/host.h"
#include "tensor/conversions.h"

/* A complex type converts by the type of its parts. */
static const zt_dtype aDtype[] = {
  { "f64",         "f64",  ZT_FLOAT,   ZT_F64,  8, 8, 0, &zt_conversion_f64 },
  { "f32",         "f32",  ZT_FLOAT,   ZT_F32,  4, 4, 0, &zt_conversion_f32 },
  { "f16",         "f16",  ZT_FLOAT,   ZT_F32,  2, 2, 0, &zt_conversion_f16 },
  { "bf16",        "bf16", ZT_FLOAT,   ZT_F32,  2, 2, 0, &zt_conversion_bf16 },
  { "i64",         "i64",  ZT_INT,     ZT_I64,  8, 8, 0, &zt_conversion_i64 },
  { "i32",         "i32",  ZT_INT,     ZT_I64,  4, 4, 0, &zt_conversion_i32 },
  { "i16",         "i16",  ZT_INT,     ZT_I64,  2, 2, 0, &zt_conversion_i16 },
  { "i8",          "i8",   ZT_INT,     ZT_I64,  1, 1, 0, &zt_conversion_i8 },
  { "u64",         "u64",  ZT_UINT,    ZT_U64,  8, 8, 0, &zt_conversion_u64 },
  { "u32",         "u32",  ZT_UINT,    ZT_U64,  4, 4, 0, &zt_conversion_u32 },
  { "u16",         "u16",  ZT_UINT,    ZT_U64,  2, 2, 0, &zt_conversion_u16 },
  { "u8",          "u8",   ZT_UINT,    ZT_U64,  1, 1, 0, &zt_conversion_u8 },
  { "bool",        "bool", ZT_BOOL,    ZT_U64,  1, 1, 0, &zt_conversion_bool },
  { "f8_e4m3fn",   "u8",   ZT_FLOAT,   ZT_F32,  1, 1, 0, &zt_conversion_f8_e4m3fn },
  { "f8_e5m2",     "u8",   ZT_FLOAT,   ZT_F32,  1, 1, 0, &zt_conversion_f8_e5m2 },
  { "f8_e4m3fnuz", "u8",   ZT_FLOAT,   ZT_F32,  1, 1, 0, &zt_conversion_f8_e4m3fnuz },
  { "f8_e5m2fnuz", "u8",   ZT_FLOAT,   ZT_F32,  1, 1, 0, &zt_conversion_f8_e5m2fnuz },
  { "f8_e8m0",     "u8",   ZT_FLOAT,   ZT_F32,  1, 1, 0, &zt_conversion_f8_e8m0 },
  { "f4_e2m1",     "u8",   ZT_FLOAT,   ZT_F32,  1, 1, 2, &zt_conversion_f4_e2m1 },
  { "complex64",   "f32",  ZT_COMPLEX, ZT_F32,  8, 4, 0, &zt_conversion_f32 },
  { "complex128",  "f64",  ZT_COMPLEX, ZT_F64, 16, 8, 0, &zt_conversion_f64 },
};

const zt_dtype *zt_dtype_named(zt_text name){
  for(size_t i=0; i<sizeof(aDtype)/sizeof(*aDtype); i++){
    if( name.n==strlen(aDtype[i].name) && memcmp(name.z, aDtype[i].name, name.n)==0 ) return &aDtype[i];
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
  return d && strcmp(d->storage, storage->name)==0 ? d : NULL;
}

bool zt_dtype_size(const zt_dtype *dtype, uint64_t elements, uint64_t *out){
  if( !dtype->packed ) return zt_mul64(elements, dtype->width, out);
  *out = elements/dtype->packed + (elements%dtype->packed!=0);
  return true;
}
