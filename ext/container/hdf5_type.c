/*
** HDF5: datatypes. See hdf5.h, and hdf5.c for the grammar.
**
** A datatype is read with all that it contains, so that its bytes end where they should. Meanings
** of its parts are read again from these bytes.
*/
#include "container/hdf5.h"

#define TYPE_MEMBERS 65535           /* Of a compound or an enum */

static int type_fail(zt_hdf5 *h, const char *fault){
  return zt_break(h->err, "HD11", "%s", fault);
}

/* --- Numbers --- */

/* False if its bits do not lie in its bytes. */
static bool type_read_integer(zt_hdf5_in *in, zt_hdf5_type *out){
  out->big = (out->bits & 1)!=0;
  out->is_signed = out->class==ZT_HDF5_INTEGER && (out->bits & 8)!=0;
  out->offset = (unsigned)zt_hdf5_take(in, 2);
  out->precision = (unsigned)zt_hdf5_take(in, 2);
  return out->offset+out->precision<=8*(uint64_t)out->size;
}

typedef struct type_float {
  unsigned size, exponent, exponent_bits, mantissa_bits, bias;
  zt_hdf5_float kind;
} type_float;

/* Formats of IEEE 754's kind: a sign, an exponent, and a mantissa with an implied bit. */
static const type_float type_floats[] = {
  { 2, 10, 5, 10, 15, ZT_HDF5_F16 },
  { 2, 7, 8, 7, 127, ZT_HDF5_BF16 },
  { 4, 23, 8, 23, 127, ZT_HDF5_F32 },
  { 8, 52, 11, 52, 1023, ZT_HDF5_F64 },
  { 1, 2, 5, 2, 15, ZT_HDF5_F8_E5M2 },
};

static void type_read_float(zt_hdf5_in *in, zt_hdf5_type *out){
  const unsigned order = (out->bits & 1) | (out->bits>>5 & 2), sign = out->bits>>8 & 255;
  const unsigned implied = out->bits>>4 & 3;
  unsigned at, exponent, exponent_bits, mantissa, mantissa_bits;
  uint64_t bias;
  out->offset = (unsigned)zt_hdf5_take(in, 2);
  out->precision = (unsigned)zt_hdf5_take(in, 2);
  exponent = (unsigned)zt_hdf5_take(in, 1);
  exponent_bits = (unsigned)zt_hdf5_take(in, 1);
  mantissa = (unsigned)zt_hdf5_take(in, 1);
  mantissa_bits = (unsigned)zt_hdf5_take(in, 1);
  bias = zt_hdf5_take(in, 4);
  out->big = order==1;
  out->real = ZT_HDF5_FLOAT_OTHER;
  at = 8*(out->size & 15);
  if( order>1 || implied!=2 || out->offset!=0 || out->precision!=at || mantissa!=0
   || sign+1!=at ) return;
  for(size_t i=0; i<sizeof(type_floats)/sizeof(*type_floats); i++){
    const type_float *f = &type_floats[i];
    if( out->size==f->size && exponent==f->exponent && exponent_bits==f->exponent_bits
     && mantissa_bits==f->mantissa_bits && bias==f->bias ) out->real = f->kind;
  }
}

/* --- Types with others in them --- */

/* A NUL-terminated name, padded to 8 bytes before version 3. */
zt_text zt_hdf5_member_name(zt_hdf5_in *in, bool padded){
  const size_t left = (size_t)(in->end-in->p);
  const uint8_t *p = in->p, *end = left && !in->cut ? memchr(p, 0, left) : NULL;
  size_t n;
  if( !end ){
    in->cut = true;
    return ZT_TEXT("");
  }
  n = (size_t)(end-p);
  zt_hdf5_skip(in, padded ? (n/8+1)*8 : n+1);
  return (zt_text){ (const char*)p, n };
}

int zt_hdf5_member_read(zt_hdf5 *h, zt_hdf5_in *in, const zt_hdf5_type *of, int depth,
                        zt_hdf5_member *out){
  *out = (zt_hdf5_member){ .name = zt_hdf5_member_name(in, of->version<3) };
  out->offset = (uint32_t)zt_hdf5_take(in, of->version<3 ? 4 : zt_hdf5_width(of->size));
  if( of->version==1 ){
    out->array = zt_hdf5_take(in, 1)>0;
    zt_hdf5_skip(in, 27);
  }
  if( zt_hdf5_type_read(h, in, depth, &out->type) ) return h->err->rc;
  if( !out->array && !zt_claim(of->size, out->offset, out->type.size) ){
    return type_fail(h, "a member beyond its compound's end");
  }
  return SQLITE_OK;
}

static int type_read_compound(zt_hdf5 *h, zt_hdf5_in *in, int depth, zt_hdf5_type *out){
  out->members = out->bits & 0xFFFF;
  out->inner.p = in->p;
  for(uint32_t i=0; i<out->members; i++){
    zt_hdf5_member member;
    if( zt_hdf5_member_read(h, in, out, depth-1, &member) ) return h->err->rc;
  }
  out->inner.n = (size_t)(in->p-out->inner.p);
  return SQLITE_OK;
}

static int type_read_base(zt_hdf5 *h, zt_hdf5_in *in, int depth, zt_hdf5_type *out,
                          zt_hdf5_type *base){
  out->inner.p = in->p;
  if( zt_hdf5_type_read(h, in, depth-1, base) ) return h->err->rc;
  out->inner.n = (size_t)(in->p-out->inner.p);
  out->big = base->big;
  return SQLITE_OK;
}

/* True for the enum of two members FALSE = 0 and TRUE = 1 in bytes, which h5py writes. */
static bool type_is_boolean(const zt_hdf5_in *around, const zt_hdf5_type *type){
  zt_hdf5_in in = *around;
  bool found[2] = { false, false };
  if( type->size!=1 || type->members!=2 ) return false;
  in.p = type->names.p;
  in.end = in.p+type->names.n;
  for(uint32_t i=0; i<2; i++){
    const zt_text name = zt_hdf5_member_name(&in, type->version<3);
    const uint8_t value = type->values.p[i];
    if( value>1 || !(value ? zt_text_is(name, "TRUE") : zt_text_is(name, "FALSE")) ) return false;
    found[value] = true;
  }
  return found[0] && found[1];
}

static int type_read_enum(zt_hdf5 *h, zt_hdf5_in *in, int depth, zt_hdf5_type *out){
  zt_hdf5_type base;
  out->members = out->bits & 0xFFFF;
  if( type_read_base(h, in, depth, out, &base) ) return h->err->rc;
  if( base.class!=ZT_HDF5_INTEGER || base.size!=out->size ){
    return type_fail(h, "an enum that is not of integers");
  }
  out->names.p = in->p;
  for(uint32_t i=0; i<out->members; i++) zt_hdf5_member_name(in, out->version<3);
  out->names.n = (size_t)(in->p-out->names.p);
  out->values = zt_hdf5_take_span(in, (uint64_t)out->members*out->size);
  if( !in->cut ) out->boolean = type_is_boolean(in, out);
  return SQLITE_OK;
}

static int type_read_array(zt_hdf5 *h, zt_hdf5_in *in, int depth, zt_hdf5_type *out){
  zt_hdf5_type base;
  uint64_t n = 1, bytes;
  out->rank = (uint32_t)zt_hdf5_take(in, 1);
  if( out->rank<1 || out->rank>ZT_HDF5_RANK ) return type_fail(h, "an array of a wrong rank");
  if( out->version<3 ) zt_hdf5_skip(in, 3);
  for(uint32_t d=0; d<out->rank; d++){
    out->shape[d] = (uint32_t)zt_hdf5_take(in, 4);
    if( !zt_mul64(n, out->shape[d], &n) ) n = UINT64_MAX;
  }
  if( out->version<3 ) zt_hdf5_skip(in, 4*(uint64_t)out->rank);
  if( type_read_base(h, in, depth, out, &base) ) return h->err->rc;
  if( !zt_mul64(n, base.size, &bytes) || bytes!=out->size ){
    return type_fail(h, "an array whose size is not that of its elements");
  }
  out->elements = (uint32_t)n;
  return SQLITE_OK;
}

static int type_read_complex(zt_hdf5 *h, zt_hdf5_in *in, int depth, zt_hdf5_type *out){
  zt_hdf5_type base;
  if( type_read_base(h, in, depth, out, &base) ) return h->err->rc;
  if( base.class!=ZT_HDF5_FLOAT || base.size!=out->size/2 || out->size%2 ){
    return type_fail(h, "a complex type that is not of two floats");
  }
  out->real = base.real;
  return SQLITE_OK;
}

/* The properties of a class. */
static int type_read_class(zt_hdf5 *h, zt_hdf5_in *in, int depth, zt_hdf5_type *out){
  zt_hdf5_type base;
  switch( out->class ){
    case ZT_HDF5_INTEGER: case ZT_HDF5_BITS:
      if( type_read_integer(in, out) || in->cut ) break;
      return type_fail(h, "an integer of bits that it does not have");
    case ZT_HDF5_FLOAT: type_read_float(in, out); break;
    case ZT_HDF5_TIME: zt_hdf5_skip(in, 2); break;
    case ZT_HDF5_TEXT: case ZT_HDF5_REFERENCE: break;
    case ZT_HDF5_OPAQUE: zt_hdf5_skip(in, out->bits & 255); break;
    case ZT_HDF5_COMPOUND: return type_read_compound(h, in, depth, out);
    case ZT_HDF5_ENUM: return type_read_enum(h, in, depth, out);
    case ZT_HDF5_VLEN: return type_read_base(h, in, depth, out, &base);
    case ZT_HDF5_ARRAY: return type_read_array(h, in, depth, out);
    case ZT_HDF5_COMPLEX: return type_read_complex(h, in, depth, out);
    default: return type_fail(h, "a datatype of unknown class");
  }
  return SQLITE_OK;
}

int zt_hdf5_type_read(zt_hdf5 *h, zt_hdf5_in *in, int depth, zt_hdf5_type *out){
  const unsigned head = (unsigned)zt_hdf5_take(in, 1);
  *out = (zt_hdf5_type){ .class = head & 15, .version = head>>4 };
  out->bits = (unsigned)zt_hdf5_take(in, 3);
  out->size = (uint32_t)zt_hdf5_take(in, 4);
  if( depth<=0 ) return type_fail(h, "datatypes that are nested more than 16 deep");
  if( in->cut || out->size==0 || out->version<1 || out->version>5 ){
    return type_fail(h, "a datatype of unknown version or without a size");
  }
  if( type_read_class(h, in, depth, out) ) return h->err->rc;
  return in->cut ? type_fail(h, "a datatype that is cut short") : SQLITE_OK;
}

/* --- Meaning --- */

static const char *const type_float_names[] = {
  [ZT_HDF5_F16] = "f16", [ZT_HDF5_BF16] = "bf16", [ZT_HDF5_F32] = "f32", [ZT_HDF5_F64] = "f64",
  [ZT_HDF5_F8_E5M2] = "u8"
};

static zt_hdf5_meaning type_none(const char *dtype, const char *format, const char *why){
  return (zt_hdf5_meaning){ .dtype = dtype, .format = format, .no_values = why };
}

/* A type whose size is that of a number: of unsigned ones first. */
static const char *type_integer_name(uint32_t size, bool is_signed){
  switch( size ){
    case 1: return is_signed ? "i8" : "u8";
    case 2: return is_signed ? "i16" : "u16";
    case 4: return is_signed ? "i32" : "u32";
    case 8: return is_signed ? "i64" : "u64";
    default: return NULL;
  }
}

static zt_hdf5_meaning type_integer(const zt_hdf5_type *t){
  const char *dtype = type_integer_name(t->size, t->is_signed);
  zt_hdf5_meaning m = { .dtype = dtype ? dtype : "u8", .format = "dense", .big = t->big };
  if( dtype && t->offset==0 && t->precision==8*t->size ) return m;
  m.format = "hdf5.integer";
  m.no_values = "its integers have another precision than their size";
  if( !dtype ) m.big = false;
  return m;
}

static zt_hdf5_meaning type_real(const zt_hdf5_type *t){
  zt_hdf5_meaning m = { .format = "dense", .big = t->big };
  if( t->real==ZT_HDF5_FLOAT_OTHER ){
    return type_none("u8", "hdf5.float", "its floats are of a kind that is not known");
  }
  m.dtype = type_float_names[t->real];
  if( t->real==ZT_HDF5_F8_E5M2 ) m.type = "f8_e5m2";
  return m;
}

/* Two floats. */
static bool type_complex(zt_hdf5_float part, bool big, zt_hdf5_meaning *out){
  if( part!=ZT_HDF5_F32 && part!=ZT_HDF5_F64 ) return false;
  *out = (zt_hdf5_meaning){
    .dtype = type_float_names[part], .type = part==ZT_HDF5_F32 ? "complex64" : "complex128",
    .format = "dense", .big = big
  };
  return true;
}

static bool type_is_part(const zt_hdf5_member *m, uint32_t offset, const char *const *names){
  bool named = false;
  for(int i=0; i<2; i++) named |= zt_text_equal(m->name, (zt_text){ names[i], strlen(names[i]) });
  return named && m->offset==offset && !m->array && m->type.class==ZT_HDF5_FLOAT;
}

/* A complex number is a compound of r and i, or of real and imag. */
static int type_compound(zt_hdf5 *h, const zt_hdf5_type *t, zt_hdf5_meaning *out){
  static const char *const first[] = { "r", "real" }, *const second[] = { "i", "imag" };
  zt_hdf5_in in = zt_hdf5_in_of(h, t->inner);
  zt_hdf5_member a, b;
  *out = type_none("u8", "hdf5.compound", "its elements are records of several fields");
  if( t->members!=2 ) return SQLITE_OK;
  if( zt_hdf5_member_read(h, &in, t, ZT_HDF5_NESTED, &a)
   || zt_hdf5_member_read(h, &in, t, ZT_HDF5_NESTED, &b) ) return h->err->rc;
  if( type_is_part(&a, 0, first) && type_is_part(&b, t->size/2, second) && t->size%2==0
   && a.type.size==t->size/2 && a.type.real==b.type.real && a.type.big==b.type.big ){
    type_complex(a.type.real, a.type.big, out);
  }
  return SQLITE_OK;
}

static int type_enum(zt_hdf5 *h, const zt_hdf5_type *t, zt_hdf5_meaning *out){
  zt_hdf5_in in = zt_hdf5_in_of(h, t->inner);
  zt_hdf5_type base;
  if( t->boolean ){
    *out = (zt_hdf5_meaning){ .dtype = "bool", .format = "dense" };
    return SQLITE_OK;
  }
  if( zt_hdf5_type_read(h, &in, ZT_HDF5_NESTED, &base) ) return h->err->rc;
  *out = type_integer(&base);
  return SQLITE_OK;
}

int zt_hdf5_type_meaning(zt_hdf5 *h, const zt_hdf5_type *t, zt_hdf5_meaning *out){
  switch( t->class ){
    case ZT_HDF5_INTEGER: *out = type_integer(t); break;
    case ZT_HDF5_FLOAT: *out = type_real(t); break;
    case ZT_HDF5_COMPOUND: return type_compound(h, t, out);
    case ZT_HDF5_ENUM: return type_enum(h, t, out);
    case ZT_HDF5_TEXT: *out = type_none("u8", "hdf5.string", "its elements are text"); break;
    case ZT_HDF5_VLEN:
      if( (t->bits & 15)==1 ) *out = type_none("u8", "hdf5.string", "its elements are text");
      else *out = type_none("u8", "hdf5.vlen", "its elements are arrays of different lengths");
      break;
    case ZT_HDF5_REFERENCE:
      *out = type_none("u8", "hdf5.reference", "its elements are references to other objects");
      break;
    case ZT_HDF5_OPAQUE:
      *out = type_none("u8", "hdf5.opaque", "its elements are opaque bytes");
      break;
    case ZT_HDF5_BITS:
      *out = type_none("u8", "hdf5.bitfield", "its elements are bit fields");
      break;
    case ZT_HDF5_ARRAY: *out = type_none("u8", "hdf5.array", "its elements are arrays"); break;
    case ZT_HDF5_COMPLEX:
      if( !type_complex(t->real, t->big, out) ){
        *out = type_none("u8", "hdf5.complex",
                         "its complex numbers are of a kind that is not known");
      }
      break;
    default: *out = type_none("u8", "hdf5.time", "its elements are times"); break;
  }
  return SQLITE_OK;
}
