/* Numpy's types. See npy_types.h. */
#include "container/npy_types.h"

#include "core/host.h"

#define NPY_DENSE(kind, width, dtype) \
  { kind, width, 0, ZT_TEXT_INIT(dtype), { NULL, 0 }, ZT_TEXT_INIT("dense"), NULL }
#define NPY_OTHER(kind, width, unit, format, no_values) \
  { kind, width, unit, ZT_TEXT_INIT("u8"), { NULL, 0 }, ZT_TEXT_INIT("numpy." format), no_values }
#define NPY_TEXT "its elements are text"
#define NPY_TIMES "its elements are times"
#define NPY_LONG "long doubles have the format of the machine that wrote them"

static const zt_npy_type npy_types[] = {
  NPY_DENSE('f', 2, "f16"), NPY_DENSE('f', 4, "f32"), NPY_DENSE('f', 8, "f64"),
  NPY_DENSE('i', 1, "i8"), NPY_DENSE('i', 2, "i16"), NPY_DENSE('i', 4, "i32"),
  NPY_DENSE('i', 8, "i64"), NPY_DENSE('u', 1, "u8"), NPY_DENSE('u', 2, "u16"),
  NPY_DENSE('u', 4, "u32"), NPY_DENSE('u', 8, "u64"), NPY_DENSE('b', 1, "bool"),
  { 'c', 8, 0, ZT_TEXT_INIT("f32"), ZT_TEXT_INIT("complex64"), ZT_TEXT_INIT("dense"), NULL },
  { 'c', 16, 0, ZT_TEXT_INIT("f64"), ZT_TEXT_INIT("complex128"), ZT_TEXT_INIT("dense"), NULL },
  NPY_OTHER('f', 12, 0, "longdouble", NPY_LONG), NPY_OTHER('f', 16, 0, "longdouble", NPY_LONG),
  NPY_OTHER('c', 24, 0, "longdouble", NPY_LONG), NPY_OTHER('c', 32, 0, "longdouble", NPY_LONG),
  NPY_OTHER('g', 0, 1, "longdouble", NPY_LONG), NPY_OTHER('G', 0, 1, "longdouble", NPY_LONG),
  NPY_OTHER('M', 8, 0, "datetime64", NPY_TIMES), NPY_OTHER('m', 8, 0, "timedelta64", NPY_TIMES),
  NPY_OTHER('S', 0, 1, "bytes", NPY_TEXT), NPY_OTHER('a', 0, 1, "bytes", NPY_TEXT),
  NPY_OTHER('U', 0, 4, "unicode", NPY_TEXT),
  /* Types of ml_dtypes as numpy.save writes them, as of 0.6.0: names are lost */
  NPY_OTHER('f', 1, 0, "unknown", "numpy has no type f1: it is probably float8_e5m2 of ml_dtypes"),
  NPY_OTHER('W', 4, 0, "unknown", "numpy has no type W4: it is probably complex32 or bcomplex32 of"
            " ml_dtypes"),
  NPY_OTHER('V', 1, 0, "void", "numpy has no meaning for V1: it is probably a type of ml_dtypes,"
            " float8 or smaller, and the file does not say which"),
  NPY_OTHER('V', 2, 0, "void", "numpy has no meaning for V2: it is probably bfloat16 of ml_dtypes"),
  NPY_OTHER('V', 0, 1, "void", "its elements are bytes without a type"),
};
static const zt_npy_type npy_object = {
  .kind = 'O', .dtype = { NULL, 0 }, .format = ZT_TEXT_INIT("numpy.object"),
  .no_values = "its elements are objects of Python, pickles, which are never executed"
};
const zt_npy_type zt_npy_unknown = {
  .kind = '?', .dtype = { NULL, 0 }, .format = ZT_TEXT_INIT("numpy.unknown")
};
const zt_npy_type zt_npy_structured = {
  .kind = '[', .dtype = ZT_TEXT_INIT("u8"), .format = ZT_TEXT_INIT("numpy.structured"),
  .no_values = "its elements are records of several fields"
};

/* Take a number from a text; digits far beyond 32 bits stay. False if there is none. */
static bool npy_take_number(zt_text *text, uint64_t *out){
  size_t n = 0;
  *out = 0;
  while( n<text->n && text->z[n]>='0' && text->z[n]<='9' && *out<=UINT32_MAX/10 ){
    *out = 10* *out+(uint64_t)(text->z[n++]-'0');
  }
  text->z += n;
  text->n -= n;
  return n>0;
}

static const zt_npy_type *npy_find_type(char kind, uint64_t n){
  for(size_t i=0; i<sizeof(npy_types)/sizeof(*npy_types); i++){
    const zt_npy_type *t = &npy_types[i];
    if( t->kind==kind && (t->width==0 || t->width==n) ) return t;
  }
  return NULL;
}

const char *zt_npy_with_width(zt_text name){
  static const struct { zt_text name; const char *text; } names[] = {
    { ZT_TEXT_INIT("?"), "b1" }, { ZT_TEXT_INIT("b"), "i1" }, { ZT_TEXT_INIT("B"), "u1" },
    { ZT_TEXT_INIT("h"), "i2" }, { ZT_TEXT_INIT("H"), "u2" }, { ZT_TEXT_INIT("i"), "i4" },
    { ZT_TEXT_INIT("I"), "u4" }, { ZT_TEXT_INIT("q"), "i8" }, { ZT_TEXT_INIT("Q"), "u8" },
    { ZT_TEXT_INIT("e"), "f2" }, { ZT_TEXT_INIT("f"), "f4" }, { ZT_TEXT_INIT("d"), "f8" },
    { ZT_TEXT_INIT("F"), "c8" }, { ZT_TEXT_INIT("D"), "c16" }, { ZT_TEXT_INIT("bool"), "b1" },
    { ZT_TEXT_INIT("int8"), "i1" }, { ZT_TEXT_INIT("int16"), "i2" },
    { ZT_TEXT_INIT("int32"), "i4" }, { ZT_TEXT_INIT("int64"), "i8" },
    { ZT_TEXT_INIT("uint8"), "u1" }, { ZT_TEXT_INIT("uint16"), "u2" },
    { ZT_TEXT_INIT("uint32"), "u4" }, { ZT_TEXT_INIT("uint64"), "u8" },
    { ZT_TEXT_INIT("float16"), "f2" }, { ZT_TEXT_INIT("float32"), "f4" },
    { ZT_TEXT_INIT("float64"), "f8" }, { ZT_TEXT_INIT("float"), "f8" },
    { ZT_TEXT_INIT("complex64"), "c8" }, { ZT_TEXT_INIT("complex128"), "c16" },
    { ZT_TEXT_INIT("complex"), "c16" }
  };
  for(size_t i=0; i<sizeof(names)/sizeof(*names); i++){
    if( zt_text_equal(name, names[i].name) ) return names[i].text;
  }
  return NULL;
}

zt_npy_descr zt_npy_type_of(zt_text text){
  zt_npy_descr out = { .type = &zt_npy_unknown };
  const zt_npy_type *type;
  const char *named;
  uint64_t n = 0;
  bool counted;
  char kind;
  const bool ordered = text.n>0 && text.z[0] && strchr("<>=|", text.z[0]);
  if( ordered ){
    out.big = text.z[0]=='>';
    text.z++;
    text.n--;
  }
  named = text.n==1 || !ordered ? zt_npy_with_width(text) : NULL;   /* Names have no byte order */
  if( named ) text = (zt_text){ named, strlen(named) };
  if( text.n==0 ) return out;
  kind = *text.z++;
  text.n--;
  counted = npy_take_number(&text, &n);
  if( kind=='O' && text.n==0 ){
    out.type = &npy_object;
    return out;
  }
  type = npy_find_type(kind, n);
  if( (kind=='M' || kind=='m') && text.n>2 && text.z[0]=='[' && text.z[text.n-1]==']' ) text.n = 0;
  if( !type || !counted || text.n>0 ) return out;
  out.type = type;
  out.sized = true;
  out.bytes = type->unit ? n*type->unit : type->width;
  return out;
}
