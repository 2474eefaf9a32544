/* The table of types. See dtype.h. */
#include "container/dtype.h"

#define DTYPE_ROW(name, storage, class, wide, width, unit, elements, bytes, conversion) \
  { ZT_DTYPE_##name, #name, #storage, class, wide, width, unit, elements, bytes },
static const zt_dtype dtype_table[] = { ZT_DTYPES(DTYPE_ROW) };

/* The names with their lengths, because a manifest names a type for each component. */
#define DTYPE_NAME(name, ...) ZT_TEXT_INIT(#name),
static const zt_text dtype_name_table[] = { ZT_DTYPES(DTYPE_NAME) };

const zt_dtype *zt_dtype_get(zt_dtype_id id){ return &dtype_table[id]; }

const zt_dtype *zt_dtype_named(zt_text name){
  for(size_t i=0; i<sizeof(dtype_table)/sizeof(*dtype_table); i++){
    if( zt_text_equal(name, dtype_name_table[i]) ) return &dtype_table[i];
  }
  return NULL;
}

/* --- Names in other libraries --- */

typedef struct dtype_names {
  zt_text names[4];
} dtype_names;
enum { DTYPE_LONG, DTYPE_WORD, DTYPE_UPPER, DTYPE_CODE, DTYPE_FAMILIES };

#define DTYPE_NONE { NULL, 0 }
#define DTYPE_ALSO(name, long, word, upper, code) \
  [ZT_DTYPE_##name] = { { ZT_TEXT_INIT(long), word, upper, code } },
#define DTYPE_IS(literal) ZT_TEXT_INIT(literal)

/*
** THE table of other names: of numpy (with ml_dtypes) and torch; C's words that both use; of
** safetensors and GGUF; numpy's type strings. Names that they use for different types are excluded:
** float, int, long. Results are little-endian, so there is no '>f4'.
*/
static const dtype_names dtype_others[ZT_DTYPE_COUNT] = {
  DTYPE_ALSO(f64, "float64", DTYPE_IS("double"), DTYPE_IS("F64"), DTYPE_IS("<f8"))
  DTYPE_ALSO(f32, "float32", DTYPE_NONE, DTYPE_IS("F32"), DTYPE_IS("<f4"))
  DTYPE_ALSO(f16, "float16", DTYPE_IS("half"), DTYPE_IS("F16"), DTYPE_IS("<f2"))
  DTYPE_ALSO(bf16, "bfloat16", DTYPE_NONE, DTYPE_IS("BF16"), DTYPE_NONE)
  DTYPE_ALSO(i64, "int64", DTYPE_NONE, DTYPE_IS("I64"), DTYPE_IS("<i8"))
  DTYPE_ALSO(i32, "int32", DTYPE_NONE, DTYPE_IS("I32"), DTYPE_IS("<i4"))
  DTYPE_ALSO(i16, "int16", DTYPE_NONE, DTYPE_IS("I16"), DTYPE_IS("<i2"))
  DTYPE_ALSO(i8, "int8", DTYPE_NONE, DTYPE_IS("I8"), DTYPE_IS("|i1"))
  DTYPE_ALSO(u64, "uint64", DTYPE_NONE, DTYPE_IS("U64"), DTYPE_IS("<u8"))
  DTYPE_ALSO(u32, "uint32", DTYPE_NONE, DTYPE_IS("U32"), DTYPE_IS("<u4"))
  DTYPE_ALSO(u16, "uint16", DTYPE_NONE, DTYPE_IS("U16"), DTYPE_IS("<u2"))
  DTYPE_ALSO(u8, "uint8", DTYPE_NONE, DTYPE_IS("U8"), DTYPE_IS("|u1"))
  DTYPE_ALSO(bool, "bool", DTYPE_NONE, DTYPE_IS("BOOL"), DTYPE_IS("|b1"))
  DTYPE_ALSO(f8_e4m3fn, "float8_e4m3fn", DTYPE_NONE, DTYPE_IS("F8_E4M3"), DTYPE_NONE)
  DTYPE_ALSO(f8_e5m2, "float8_e5m2", DTYPE_NONE, DTYPE_IS("F8_E5M2"), DTYPE_NONE)
  DTYPE_ALSO(f8_e4m3fnuz, "float8_e4m3fnuz", DTYPE_NONE, DTYPE_IS("F8_E4M3FNUZ"), DTYPE_NONE)
  DTYPE_ALSO(f8_e5m2fnuz, "float8_e5m2fnuz", DTYPE_NONE, DTYPE_IS("F8_E5M2FNUZ"), DTYPE_NONE)
  DTYPE_ALSO(f8_e8m0, "float8_e8m0fnu", DTYPE_NONE, DTYPE_IS("F8_E8M0"), DTYPE_NONE)
  DTYPE_ALSO(f4_e2m1, "float4_e2m1fn", DTYPE_NONE, DTYPE_IS("F4"), DTYPE_NONE)
  DTYPE_ALSO(i4, "int4", DTYPE_NONE, DTYPE_IS("I4"), DTYPE_NONE)
  DTYPE_ALSO(u4, "uint4", DTYPE_NONE, DTYPE_IS("U4"), DTYPE_NONE)
  DTYPE_ALSO(i2, "int2", DTYPE_NONE, DTYPE_IS("I2"), DTYPE_NONE)
  DTYPE_ALSO(u2, "uint2", DTYPE_NONE, DTYPE_IS("U2"), DTYPE_NONE)
  DTYPE_ALSO(complex64, "complex64", DTYPE_NONE, DTYPE_IS("C64"), DTYPE_IS("<c8"))
  DTYPE_ALSO(complex128, "complex128", DTYPE_NONE, DTYPE_NONE, DTYPE_IS("<c16"))
};

/* The type of a name in the first families. */
static const zt_dtype *dtype_other(zt_text name, int families){
  for(size_t i=0; i<ZT_DTYPE_COUNT; i++){
    for(int f=0; f<families; f++){
      if( name.n && zt_text_equal(name, dtype_others[i].names[f]) ) return &dtype_table[i];
    }
  }
  return NULL;
}

const zt_dtype *zt_dtype_long(zt_text name){
  return dtype_other(name, DTYPE_LONG+1);
}

zt_text zt_dtype_numpy(zt_dtype_id id){
  return dtype_others[id].names[DTYPE_CODE];
}

/* The type of any known name. torch writes its own name before its types. */
static const zt_dtype *dtype_any(zt_text name){
  const zt_text torch = ZT_TEXT("torch.");
  const bool of_torch = name.n>torch.n && memcmp(name.z, torch.z, torch.n)==0;
  const zt_dtype *d = zt_dtype_named(name);
  if( d ) return d;
  if( !of_torch ) return dtype_other(name, DTYPE_FAMILIES);
  return dtype_other((zt_text){ name.z+torch.n, name.n-torch.n }, DTYPE_WORD+1);
}

int zt_dtype_find(zt_text name, const zt_dtype **out, zt_error *err){
  sqlite3_str *list;
  char *z;
  *out = dtype_any(name);
  if( *out ) return SQLITE_OK;
  if( zt_has_nul(name.z, name.n) ) return zt_fail(err, SQLITE_ERROR, "the dtype has U+0000 in it");
  list = sqlite3_str_new(NULL);
  for(size_t i=0; i<sizeof(dtype_table)/sizeof(*dtype_table); i++){
    sqlite3_str_appendf(list, "%s%s", i ? ", " : "", dtype_table[i].name);
  }
  z = sqlite3_str_finish(list);
  if( z ){
    zt_fail(err, SQLITE_ERROR,
            "dtype '%.*s' is not known: there are %s, and their names in numpy, torch"
            " and safetensors", zt_shown(name), name.z, z);
  }else{
    zt_fail_nomem(err);
  }
  sqlite3_free(z);
  return err->rc;
}

const zt_dtype *zt_dtype_storage(zt_text name){
  const zt_dtype *d = zt_dtype_named(name);
  return d && strcmp(d->name, d->storage)==0 ? d : NULL;
}

void zt_dtype_decide(zt_component *out){
  const zt_dtype *type;
  out->storage = out->element = zt_dtype_storage(out->dtype);
  out->misplaced = false;
  if( !out->storage || !out->type.z ) return;
  type = zt_dtype_named(out->type);
  out->misplaced = type && strcmp(type->storage, out->storage->name)!=0;
  out->element = out->misplaced ? NULL : type;
}

bool zt_dtype_size(const zt_dtype *dtype, uint64_t elements, uint64_t *out){
  uint64_t blocks = elements/dtype->elements + (elements%dtype->elements!=0);
  return zt_mul64(blocks, dtype->bytes, out);
}
