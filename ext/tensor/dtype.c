/* The table of types. See dtype.h. */
#include "tensor/dtype.h"

static const zt_dtype aDtype[] = {
  { "f64",         "f64",  8, 8 },
  { "f32",         "f32",  4, 4 },
  { "f16",         "f16",  2, 2 },
  { "bf16",        "bf16", 2, 2 },
  { "i64",         "i64",  8, 8 },
  { "i32",         "i32",  4, 4 },
  { "i16",         "i16",  2, 2 },
  { "i8",          "i8",    1, 1 },
  { "u64",         "u64",  8, 8 },
  { "u32",         "u32",  4, 4 },
  { "u16",         "u16",  2, 2 },
  { "u8",          "u8",    1, 1 },
  { "bool",        "bool",  1, 1 },
  { "f8_e4m3fn",   "u8",    1, 1 },
  { "f8_e5m2",     "u8",    1, 1 },
  { "f8_e4m3fnuz", "u8",    1, 1 },
  { "f8_e5m2fnuz", "u8",    1, 1 },
  { "complex64",   "f32",  8, 4 },
  { "complex128",  "f64", 16, 8 },
};

static const zt_dtype *find(zt_text name){
  for(size_t i=0; i<sizeof(aDtype)/sizeof(*aDtype); i++){
    if( name.n==strlen(aDtype[i].name) && memcmp(name.z, aDtype[i].name, name.n)==0 ) return &aDtype[i];
  }
  return NULL;
}

const zt_dtype *zt_dtype_storage(zt_text name){
  const zt_dtype *d = find(name);
  return d && strcmp(d->name, d->storage)==0 ? d : NULL;
}

const zt_dtype *zt_dtype_of(const zt_component *component){
  const zt_dtype *storage, *d;
  if( component->foreign ) return NULL;
  storage = zt_dtype_storage(component->dtype);
  if( !storage || !component->type.z ) return storage;
  d = find(component->type);
  return d && strcmp(d->storage, storage->name)==0 ? d : NULL;
}

bool zt_dtype_size(const zt_dtype *dtype, uint64_t elements, uint64_t *out){
  return zt_mul64(elements, dtype->width, out);
}
