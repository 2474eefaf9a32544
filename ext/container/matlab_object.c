/* Objects of a MATLAB file: records that the walk keeps, and what the container shows of them. See
** matlab.h. */
#include "container/matlab.h"

#include "container/dtype.h"
#include "container/manifest.h"

/* Types of stored numbers, and the encoding of numbers that another class has. */
typedef struct matlab_type {
  unsigned width;                 /* 0: no number */
  zt_dtype_id dtype;
  zt_text encoding, packed;       /* packed: in a compressed element */
} matlab_type;

#define MATLAB_TYPE(width, dtype, name) \
  { width, ZT_DTYPE_##dtype, ZT_TEXT_INIT("matlab." name), ZT_TEXT_INIT("zlib+matlab." name) }

static const matlab_type matlab_types[] = {
  [1] = MATLAB_TYPE(1, i8, "int8"), [2] = MATLAB_TYPE(1, u8, "uint8"),
  [3] = MATLAB_TYPE(2, i16, "int16"), [4] = MATLAB_TYPE(2, u16, "uint16"),
  [5] = MATLAB_TYPE(4, i32, "int32"), [6] = MATLAB_TYPE(4, u32, "uint32"),
  [7] = MATLAB_TYPE(4, f32, "single"), [9] = MATLAB_TYPE(8, f64, "double"),
  [12] = MATLAB_TYPE(8, i64, "int64"), [13] = MATLAB_TYPE(8, u64, "uint64")
};
#define MATLAB_TYPES (sizeof(matlab_types)/sizeof(*matlab_types))

/* Classes, from ZT_MATLAB_SPARSE on. */
static const struct matlab_class {
  const char *name;
  zt_dtype_id dtype;
} matlab_classes[] = {
  [ZT_MATLAB_SPARSE] = { "sparse", ZT_DTYPE_f64 },
  [6] = { "double", ZT_DTYPE_f64 }, [7] = { "single", ZT_DTYPE_f32 },
  [8] = { "int8", ZT_DTYPE_i8 }, [9] = { "uint8", ZT_DTYPE_u8 },
  [10] = { "int16", ZT_DTYPE_i16 }, [11] = { "uint16", ZT_DTYPE_u16 },
  [12] = { "int32", ZT_DTYPE_i32 }, [13] = { "uint32", ZT_DTYPE_u32 },
  [14] = { "int64", ZT_DTYPE_i64 }, [ZT_MATLAB_UINT64] = { "uint64", ZT_DTYPE_u64 },
  [ZT_MATLAB_UINT64+1] = { "logical", ZT_DTYPE_bool }
};

/* An object's record; its shape follows. The number of its components is the number of parts. */
typedef struct matlab_record {
  uint32_t attributes;
  uint32_t rank;
  uint8_t class;
  bool logical, complex, shaped, triplets;
} matlab_record;

bool zt_matlab_may_keep(zt_matlab_scan *s, uint64_t n){
  if( n<=s->most-s->metadata ){
    s->metadata += n;
    return true;
  }
  zt_break(s->err, "ML9", "its paths, texts and arrays take more than %llu bytes", s->most);
  return false;
}

bool zt_matlab_note(zt_matlab_scan *s, const char *rule, const char *what){
  const zt_text path = { (const char*)s->path.p, s->path.n };
  return zt_builder_note_file(s->b, rule, "'%.*s' %s", zt_shown(path), path.z, what)==SQLITE_OK;
}

unsigned zt_matlab_width(uint32_t type){
  return type<MATLAB_TYPES ? matlab_types[type].width : 0;
}

/* The row of matlab_classes with the object's class. */
static uint32_t matlab_class_of(const zt_matlab_head *m){
  return m->logical && m->class!=ZT_MATLAB_SPARSE ? ZT_MATLAB_UINT64+1 : m->class;
}

/* Keep the attributes of a class once. */
static bool matlab_keep_attributes(zt_matlab_scan *s, const zt_matlab_head *m, uint32_t *out){
  const uint32_t class = matlab_class_of(m);
  const char *name = matlab_classes[class].name;
  uint32_t *known = &s->attributes[class][m->global];
  zt_cbor_out o = { .err = s->err };
  if( *known==0 ){
    zt_cbor_put_head(&o, ZT_CBOR_MAP, 1+m->global);
    zt_cbor_put_text(&o, ZT_TEXT("class"));
    zt_cbor_put_text(&o, (zt_text){ name, strlen(name) });
    if( m->global ){
      zt_cbor_put_text(&o, ZT_TEXT("global"));
      zt_cbor_put_bool(&o, true);
    }
    if( !s->err->rc && zt_builder_keep(s->b, o.p, o.n, known)==SQLITE_OK ) ++*known;
    zt_cbor_out_clear(&o);
  }
  *out = *known-1;
  return !s->err->rc;
}

/* Keep the object's name, which is its path, or with a number behind it if that is taken. */
static bool matlab_add_name(zt_matlab_scan *s, uint32_t record){
  const zt_container *c = s->b->container;
  zt_text name = { s->path.p ? (const char*)s->path.p : "", s->path.n };
  bool duplicate;
  uint32_t at;
  if( zt_container_find(c, name)>=0
   && zt_renamed_name(&s->repeats, &c->names, c->kept.p, name, &name, s->err) ) return false;
  if( zt_builder_keep(s->b, name.z, name.n, &at) ) return false;
  name.z = (const char*)c->kept.p+at;
  return !zt_builder_object(s->b, name, record, &duplicate);
}

bool zt_matlab_add(zt_matlab_scan *s, const zt_matlab_head *m, const zt_matlab_part *parts,
                   uint32_t n){
  matlab_record record;
  uint32_t at, unused;
  if( !zt_matlab_may_keep(s, s->path.n+8*(uint64_t)m->rank+n*sizeof(*parts)+sizeof(record)+32)
   || !matlab_keep_attributes(s, m, &unused) ) return false;
  memset(&record, 0, sizeof(record));
  record.attributes = unused;
  record.rank = m->shaped ? m->rank : 0;
  record.class = (uint8_t)m->class;
  record.logical = m->logical;
  record.complex = m->complex;
  record.shaped = m->shaped;
  record.triplets = m->triplets;
  if( zt_builder_keep(s->b, &record, sizeof(record), &at)
   || zt_builder_keep(s->b, m->shape, record.rank*sizeof(*m->shape), &unused)
   || !matlab_add_name(s, at) ) return false;
  for(uint32_t i=0; i<n; i++){
    if( zt_builder_keep(s->b, &parts[i], sizeof(*parts), &at)
     || zt_builder_component(s->b, at) ) return false;
  }
  return true;
}

/* --- Decoding --- */

static matlab_record matlab_record_of(const zt_container *c, uint32_t i){
  matlab_record r;
  memcpy(&r, c->kept.p+c->objects.a[i], sizeof(r));
  return r;
}

/* The dtype of an object's values. */
static const zt_dtype *matlab_dtype(const matlab_record *r){
  return zt_dtype_get(r->logical ? ZT_DTYPE_bool : matlab_classes[r->class].dtype);
}

static void matlab_set_layout(const matlab_record *r, zt_object *out){
  const zt_dtype *dtype = matlab_dtype(r);
  if( r->complex && dtype->class==ZT_FLOAT ){
    out->type = dtype->width==8 ? ZT_TEXT("complex128") : ZT_TEXT("complex64");
  }
  out->format = ZT_TEXT("dense");
  out->layout = ZT_LAYOUT_DENSE;
  if( r->class==ZT_MATLAB_SPARSE ){
    out->format = r->triplets ? ZT_TEXT("sparse_coo") : ZT_TEXT("matlab.sparse");
    out->layout = r->triplets ? ZT_LAYOUT_COO : ZT_LAYOUT_CSC;
    out->by_columns = r->triplets;
  }else if( r->complex && dtype->class==ZT_FLOAT ){
    out->layout = ZT_LAYOUT_COMPLEX_PARTS;
  }else if( r->complex ){
    out->format = ZT_TEXT("matlab.complex");
    out->layout = ZT_LAYOUT_UNKNOWN;
    out->no_values = "its elements are complex integers";
  }
}

void zt_matlab_object(const zt_container *c, uint32_t i, zt_object *out){
  const matlab_record r = matlab_record_of(c, i);
  matlab_set_layout(&r, out);
  zt_manifest_set_map(&out->attributes, r.attributes, 0);
  out->rank = r.rank;
  out->elements = 1;
  memcpy(out->shape, c->kept.p+c->objects.a[i]+sizeof(r), r.rank*sizeof(*out->shape));
  if( r.shaped ){
    zt_object_count(out);
    if( r.class!=ZT_MATLAB_SPARSE ) zt_object_set_column_major(out);
    return;
  }
  out->unshaped = true;
  out->layout = ZT_LAYOUT_UNKNOWN;
  out->why_unknown = "it has a negative dimension, more than 64 of them, or more than 2^64"
                     " elements";
}

/* Set encoding and codec of numbers that are stored as another type than the component's (ML10). */
static void matlab_set_numbers(const zt_matlab_part *part, const matlab_type *type,
                               zt_component *out){
  out->encoding = part->packed ? type->packed : type->encoding;
  out->codec = ZT_CODEC_NUMBERS;
  out->number = zt_dtype_get(type->dtype);
  out->number_big = part->big;
  out->number_codec = part->packed ? ZT_CODEC_ZLIB : ZT_CODEC_RAW;
  out->number_skip = part->skip;
  out->number_behind = part->behind;
  out->has_decoded_length = true;
  out->decoded_length = part->size/type->width*out->storage->width;   /* At most 4 GiB times 8 */
  if( part->size%type->width==0 ) return;
  out->fault_rule = "ML10";
  out->fault = "its bytes are no whole number of the numbers that are stored";
}

/* Set encoding and codec of numbers that are stored as they are. */
static void matlab_set_plain(const zt_matlab_part *part, zt_component *out){
  if( part->big ) out->byte_order = ZT_TEXT("big");
  out->skip = part->skip;
  out->behind = part->behind;
  if( !part->packed ) return;
  out->encoding = ZT_TEXT("zlib");
  out->codec = ZT_CODEC_ZLIB;
  out->has_decoded_length = true;
  out->decoded_length = part->size;
}

/* Set encoding and codec of coordinates. */
static void matlab_set_coords(const zt_container *c, const zt_matlab_part *part,
                              zt_component *out){
  out->encoding = ZT_TEXT("matlab.triplets");
  out->codec = ZT_CODEC_KEPT;
  out->has_decoded_length = true;
  out->decoded_length = part->size;
  out->kept = part->kept==UINT32_MAX ? NULL : c->kept.p+part->kept;
  if( out->kept ) return;
  out->fault_rule = "ML13";
  out->fault = "a number of a row or of a column is no integer from 1 on";
}

void zt_matlab_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                         zt_component *out){
  static const zt_text roles[] = {
    ZT_TEXT_INIT("data"), ZT_TEXT_INIT("real"), ZT_TEXT_INIT("imag"), ZT_TEXT_INIT("indices"),
    ZT_TEXT_INIT("indptr"), ZT_TEXT_INIT("values"), ZT_TEXT_INIT("coords")
  };
  const matlab_record r = matlab_record_of(c, i);
  const zt_dtype *own = matlab_dtype(&r);
  const matlab_type *type;
  zt_matlab_part part;
  bool index;
  (void)want;
  memcpy(&part, c->kept.p+c->components.a[k], sizeof(part));
  type = zt_matlab_width(part.type) ? &matlab_types[part.type] : NULL;
  index = part.role==ZT_MATLAB_ROLE_INDICES || part.role==ZT_MATLAB_ROLE_INDPTR
       || part.role==ZT_MATLAB_ROLE_COORDS;
  if( index ) own = zt_dtype_get(type ? type->dtype : ZT_DTYPE_i32);
  out->role = roles[part.role];
  out->dtype = (zt_text){ own->name, strlen(own->name) };
  zt_dtype_decide(out);
  out->offset = part.offset;
  out->length = part.length;
  if( part.role==ZT_MATLAB_ROLE_COORDS ){
    matlab_set_coords(c, &part, out);
  }else if( !type ){
    out->encoding = ZT_TEXT("matlab.unknown");
    out->codec = ZT_CODEC_UNKNOWN;
  }else if( type->dtype==own->id || (own->id==ZT_DTYPE_bool && type->width==1) ){
    matlab_set_plain(&part, out);
  }else{
    matlab_set_numbers(&part, type, out);
  }
}
