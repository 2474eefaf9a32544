/*
** Files of torch.save and torch.jit.save: a pickle of all values, in which tensors are views of
** storages. Where pickles and storages are, torch_archive.c and torch_legacy.c know.
**
**   PT1  it is no file of torch before 0.1.10, which was a tar archive
**   PT2, PT3, PT14, PT20: torch_archive.c
**   PT15, PT16: torch_legacy.c
**   PT4, PT5, PT6, PT13: torch_tree.c
**   PT7  paths and what they lead to take at most 16 MiB, and 16 times the pickle's bytes, and not
**        more than ZT_MAX_MANIFEST
**   PT8  a shape has no negative dimension, and the product of its dimensions fits 64 bits
** Of one tensor alone, which then is listed, and its bytes cannot be had:
**   PT9, PT17, PT18, PT19: torch_archive.c, torch_legacy.c: its storage is there
**   PT10 offset and strides are not negative, and fit 64 bits
**   PT11 the view ends within its storage
**   PT12 the storage has the bytes that the pickle says
**
** Of each tensor a pytorch_part is kept, and behind it its dimensions and strides.
*/
#include <stdarg.h>
#include "container/dtype.h"
#include "container/manifest.h"
#include "container/torch_probe.h"
#include "container/torch_storage.h"
#include "container/torch_tree.h"
#include "core/distinct.h"
#include "core/host.h"

#define PYTORCH_TEXT ((uint64_t)16 << 20)
#define PYTORCH_TEXT_TIMES 16
#define PYTORCH_LITTLE ((uint64_t)8 << 20)   /* What is put down before all is measured, at most, */
#define PYTORCH_LITTLE_TIMES 8               /* and for each byte of the pickle: real ones take 4 */

/* --- What is kept of a tensor --- */

enum {
  PYTORCH_STRIDED = 0x1,      /* Strides are kept, too */
  PYTORCH_BIG = 0x2,
  PYTORCH_UNSIZED = 0x4,      /* How many bytes it has is not known, */
  PYTORCH_LOST = 0x8,         /* nor where they are */
  PYTORCH_UNSHAPED = 0x10,
  PYTORCH_SPARSE = 0x20,      /* An object with two components, */
  PYTORCH_COO = 0x40,         /* which can be read as zTensor's */
  PYTORCH_VALUES = 0x80, PYTORCH_INDICES = 0x100,   /* A component of it */
  PYTORCH_CONJ = 0x200, PYTORCH_NEG = 0x400
};

typedef struct pytorch_part {
  uint64_t offset, length;    /* The stored bytes: of a record that is compressed, all of it */
  uint64_t skip, behind;      /* Of what that decodes to */
  uint64_t bytes;             /* The view's own */
  const char *rule;           /* Of the fault */
  zt_text quantized;          /* Static; z NULL: it is not */
  uint32_t attributes;        /* Position of a map; 0: there is none */
  uint32_t fault;             /* Position of a text with a NUL behind it; 0: there is none */
  uint32_t dtype, nDtype;     /* Where torch's name of its dtype is, if the model has none */
  uint32_t rank;
  uint32_t encoding;          /* Of the record: position of a text with a NUL behind it; 0: raw */
  zt_codec_id codec;
  uint16_t flags;
  uint8_t id;                 /* Of the dtype, plus 1; 0: it is not known */
} pytorch_part;

static void pytorch_part_at(const zt_container *c, size_t at, pytorch_part *out){
  memcpy(out, c->kept.p+at, sizeof(*out));
}

/* Number i of its dimensions and, behind them, strides. */
static uint64_t pytorch_number(const zt_container *c, size_t at, uint32_t i){
  return zt_load64(c->kept.p+at+sizeof(pytorch_part)+8*(size_t)i);
}

/* --- What is being read --- */

typedef struct pytorch_reader {
  zt_builder *b;
  zt_torch_file *file;
  const zt_pickle *pickle;
  zt_span bytes;             /* Of that */
  zt_text prefix;            /* Of its paths */
  uint64_t text;             /* Bytes that a walk has appended, or will append */
  bool measured;             /* All that it will append was looked at */
  zt_cbor_out attributes;    /* Of an object */
  zt_cbor_out values;        /* Paths and leaves, one after the other, */
  zt_keys paths;             /* whose paths are distinct */
  uint64_t n;                /* How many there are */
  zt_distinct leaves, objects;   /* Of paths that several have */
} pytorch_reader;

/* --- Measuring: what a walk appends --- */

static void pytorch_measure_leaf(void *context, zt_text path, zt_pickle_node node, bool cycle){
  pytorch_reader *r = context;
  (void)cycle;
  r->text += path.n+zt_torch_size(r->pickle, node);
}

static void pytorch_measure_tensor(void *context, zt_text path, const zt_torch_tensor *tensor){
  pytorch_reader *r = context;
  r->text += path.n+zt_torch_view_size(r->pickle, &tensor->view);
  if( tensor->sparse ) r->text += zt_torch_view_size(r->pickle, &tensor->indices);
}

/* What a walk appends before all is measured. */
static uint64_t pytorch_little(const pytorch_reader *r){
  const uint64_t n = PYTORCH_LITTLE_TIMES*((uint64_t)r->bytes.n+1024);
  return n<PYTORCH_LITTLE ? n : PYTORCH_LITTLE;
}

/* PT7: there is room for all that the pickle says. That is looked at once a walk has appended more
** than a little, as those of few files do: it then goes on only if there is. */
static bool pytorch_has_room(pytorch_reader *r){
  const zt_torch_visitor measure = { pytorch_measure_leaf, pytorch_measure_tensor, r, true };
  const uint64_t most = PYTORCH_TEXT+PYTORCH_TEXT_TIMES*(uint64_t)r->bytes.n;
  zt_error *err = r->b->err;
  if( r->measured || r->text<=pytorch_little(r) ) return true;
  r->measured = true;
  r->text = 0;
  zt_torch_walk(r->pickle, r->prefix, r->bytes.n, &measure, r->b->interrupt, err);
  if( !err->rc && (r->text>most || r->text>ZT_MAX_MANIFEST) ){
    zt_break(err, "PT7", "paths and values take %llu bytes, for a pickle of %llu",
             (unsigned long long)r->text, (unsigned long long)r->bytes.n);
  }
  return !err->rc;
}

/* --- Leaves --- */

/* Put down a path; false if another leaf has it. */
static bool pytorch_put_path(pytorch_reader *r, zt_text path){
  const size_t before = r->values.n;
  bool duplicate = false;
  zt_key key;
  zt_cbor_put_text(&r->values, path);
  if( r->b->err->rc ) return true;
  key = (zt_key){ (uint32_t)(r->values.n-path.n), (uint32_t)path.n };
  zt_keys_add(&r->paths, r->values.p, key, &duplicate, r->b->err);
  if( duplicate ) r->values.n = before;
  return !duplicate;
}

static void pytorch_put_leaf(void *context, zt_text path, zt_pickle_node node, bool cycle){
  pytorch_reader *r = context;
  pytorch_measure_leaf(r, path, node, cycle);
  if( !pytorch_has_room(r) ) return;
  if( !pytorch_put_path(r, path)
   && !zt_distinct_name(&r->leaves, &r->paths, r->values.p, path, &path, r->b->err) ){
    pytorch_put_path(r, path);
  }
  zt_torch_put(r->pickle, node, cycle, &r->values);
  r->n++;
}

/* --- Tensors --- */

static void pytorch_put_ints(pytorch_reader *r, const int64_t *a, uint32_t n){
  zt_cbor_put_head(&r->attributes, ZT_CBOR_ARRAY, n);
  for(uint32_t i=0; i<n; i++) zt_cbor_put_int(&r->attributes, a[i]);
}

/* As torch has it: dimensions of one index are in no way, and what is empty is contiguous. */
static bool pytorch_is_contiguous(const zt_torch_view *v){
  uint64_t expected = 1;
  for(uint32_t i=0; i<v->rank; i++) if( v->shape[i]==0 ) return true;
  for(uint32_t i=v->rank; i-->0; ){
    if( v->shape[i]==1 ) continue;
    if( v->strides[i]<0 || (uint64_t)v->strides[i]!=expected ) return false;
    if( v->shape[i]<0 || !zt_mul64(expected, (uint64_t)v->shape[i], &expected) ) return false;
  }
  return true;
}

static void pytorch_put_flag(zt_cbor_out *o, zt_text key, bool is){
  zt_cbor_put_text(o, key);
  zt_cbor_put_bool(o, is);
}

/* The view of its storage that it sees. */
static void pytorch_put_view(zt_cbor_out *o, const zt_torch_view *v){
  zt_cbor_put_text(o, ZT_TEXT("view"));
  zt_cbor_put_head(o, ZT_CBOR_ARRAY, 3);
  zt_cbor_put_text(o, v->view_key);
  zt_cbor_put_int(o, v->view_offset);
  zt_cbor_put_int(o, v->view_elements);
}

/* What the pickle says of a tensor, as the attributes of its object. */
static void pytorch_put_attributes(pytorch_reader *r, const zt_torch_view *v){
  zt_cbor_out *o = &r->attributes;
  const bool dense = !v->quantizer && !v->quantized.z;
  zt_pickle_kind grad = v->requires_grad ? zt_pickle_kind_of(r->pickle, v->requires_grad)
                                         : ZT_PICKLE_NONE;
  zt_cbor_out_reset(o);
  zt_cbor_put_head(o, ZT_CBOR_MAP, 5u+(v->requires_grad!=0)+(v->quantizer!=0)+dense+v->conj
                                   +v->neg+v->parameter+(v->view_key.z!=NULL));
  zt_cbor_put_text(o, ZT_TEXT("storage"));
  zt_cbor_put_text(o, v->key);
  zt_cbor_put_text(o, ZT_TEXT("storage_offset"));
  zt_cbor_put_int(o, v->offset);
  zt_cbor_put_text(o, ZT_TEXT("stride"));
  pytorch_put_ints(r, v->strides, v->rank);
  zt_cbor_put_text(o, ZT_TEXT("location"));
  zt_cbor_put_text(o, v->location);
  zt_cbor_put_text(o, ZT_TEXT("storage_elements"));
  zt_cbor_put_int(o, v->storage_elements);
  if( v->view_key.z ) pytorch_put_view(o, v);
  if( v->requires_grad ){
    zt_cbor_put_text(o, ZT_TEXT("requires_grad"));
    if( grad>ZT_PICKLE_TRUE ) zt_cbor_put_null(o);
    else zt_torch_put(r->pickle, v->requires_grad, false, o);
  }
  if( v->quantizer ){
    zt_cbor_put_text(o, ZT_TEXT("quantizer"));
    zt_torch_put_quantizer(r->pickle, v->quantizer, o);
  }
  if( dense ) pytorch_put_flag(o, ZT_TEXT("contiguous"), pytorch_is_contiguous(v));
  if( v->conj ) pytorch_put_flag(o, ZT_TEXT("conj"), true);
  if( v->neg ) pytorch_put_flag(o, ZT_TEXT("neg"), true);
  if( v->parameter ) pytorch_put_flag(o, ZT_TEXT("parameter"), true);
}

/* A tensor in the making. */
typedef struct pytorch_tensor {
  const zt_torch_view *view;
  pytorch_part part;
  uint64_t numbers[2*ZT_MAX_RANK];   /* Dimensions, and then strides */
  uint64_t elements;
} pytorch_tensor;

/* What is wrong with a tensor. Always false. */
ZT_FORMAT(4, 5)
static bool pytorch_set_fault(pytorch_reader *r, pytorch_tensor *t, const char *rule,
                              const char *format, ...){
  va_list list;
  t->part.rule = rule;
  t->part.flags = (uint16_t)((t->part.flags & ~PYTORCH_STRIDED) | PYTORCH_UNSIZED);
  va_start(list, format);
  zt_torch_keep_text(r->b, &t->part.fault, format, list);
  va_end(list);
  return false;
}

/* PT8: the shape. */
static bool pytorch_set_shape(pytorch_reader *r, pytorch_tensor *t, const int64_t *shape,
                              uint32_t rank){
  zt_object object = { .rank = rank };
  bool negative = false;
  for(uint32_t i=0; i<rank; i++){
    negative |= shape[i]<0;
    object.shape[i] = t->numbers[i] = (uint64_t)shape[i];
  }
  t->part.rank = rank;
  if( !negative && zt_object_count(&object) ){
    t->elements = object.elements;
    return true;
  }
  t->part.flags |= PYTORCH_UNSHAPED;
  t->part.rank = 0;
  return pytorch_set_fault(r, t, "PT8", "%s", negative
                           ? "its shape has a negative dimension"
                           : "the product of its dimensions does not fit 64 bits");
}

/* PT10: the strides; *out is how many elements of the storage lie between the first and the last
** one, these included. */
static bool pytorch_set_strides(pytorch_reader *r, pytorch_tensor *t, uint64_t *out){
  const zt_torch_view *v = t->view;
  bool fits = true, negative = v->offset<0;
  *out = t->elements>0;
  if( t->elements>0 && !pytorch_is_contiguous(v) ) t->part.flags |= PYTORCH_STRIDED;
  for(uint32_t i=0; i<v->rank; i++){
    uint64_t n = 0;
    negative |= v->strides[i]<0;
    t->numbers[v->rank+i] = (uint64_t)v->strides[i];
    if( t->elements==0 || negative ) continue;
    fits = fits && zt_mul64((uint64_t)v->shape[i]-1, (uint64_t)v->strides[i], &n)
        && zt_add64(*out, n, out);
  }
  if( negative ) return pytorch_set_fault(r, t, "PT10", "a negative offset or stride");
  return fits || pytorch_set_fault(r, t, "PT10", "its strides lead beyond 2^64 elements");
}

/* The storage, and where its bytes are. */
static bool pytorch_find_storage(pytorch_reader *r, pytorch_tensor *t, zt_torch_storage *s){
  if( zt_torch_find(r->file, t->view, s) ) return false;
  if( s->fault ){
    t->part.rule = s->rule;
    t->part.fault = s->fault;
    t->part.flags = (uint16_t)((t->part.flags & ~PYTORCH_STRIDED) | PYTORCH_UNSIZED|PYTORCH_LOST);
    return false;
  }
  t->part.encoding = s->encoding;
  t->part.codec = s->codec;
  t->part.offset = s->offset;
  t->part.length = s->length;
  return true;
}

/* PT11, PT12: the bytes of its storage that a tensor may see: all, or those of the storage's own
** view. */
static bool pytorch_set_window(pytorch_reader *r, pytorch_tensor *t, const zt_torch_storage *s,
                               uint64_t *base, uint64_t *length){
  const zt_torch_view *v = t->view;
  const uint64_t width = v->storage_width ? v->storage_width : v->dtype->width;
  *base = *length = 0;
  if( v->storage_elements<0 || !zt_mul64((uint64_t)v->storage_elements, width, length)
   || *length>s->size || (s->exact && *length!=s->size) ){
    return pytorch_set_fault(r, t, "PT12", "its storage has %lld elements, and the %s %llu bytes",
                             (long long)v->storage_elements, s->exact ? "file" : "record",
                             (unsigned long long)s->size);
  }
  if( !v->view_key.z ) return true;
  if( v->view_offset<0 || v->view_elements<0
   || !zt_mul64((uint64_t)v->view_offset, width, base)
   || !zt_mul64((uint64_t)v->view_elements, width, length)
   || !zt_claim(s->size, *base, *length) ){
    return pytorch_set_fault(r, t, "PT11", "a view of %lld elements from %lld on does not lie in "
                             "its storage, which has %llu bytes", (long long)v->view_elements,
                             (long long)v->view_offset, (unsigned long long)s->size);
  }
  return true;
}

/* PT11: where the tensor's bytes are in its storage: so many elements. */
static bool pytorch_set_range(pytorch_reader *r, pytorch_tensor *t, uint64_t span,
                              const zt_torch_storage *s){
  const zt_torch_view *v = t->view;
  const uint64_t item = v->dtype->width;
  uint64_t base, length, first, bytes, end = 0;
  if( !pytorch_set_window(r, t, s, &base, &length) ) return false;
  if( !zt_mul64((uint64_t)v->offset, item, &first) || !zt_mul64(span, item, &bytes)
   || !zt_add64(first, bytes, &end) || (bytes>0 && end>length) ){
    return pytorch_set_fault(r, t, "PT11", "%llu elements from %lld on end behind its storage%s, "
                             "which has %llu bytes", (unsigned long long)span,
                             (long long)v->offset, v->view_key.z ? "'s view" : "",
                             (unsigned long long)length);
  }
  first = base+(first<length ? first : length);
  t->part.bytes = bytes;
  if( !t->part.encoding ){
    t->part.offset += first;
    t->part.length = bytes;
  }else{
    t->part.skip = first;
    t->part.behind = s->size-first-bytes;
  }
  return true;
}

/* All of a view. False: it has a fault, or something failed. */
static bool pytorch_set_view(pytorch_reader *r, pytorch_tensor *t){
  const zt_torch_view *v = t->view;
  zt_torch_storage storage = { 0 };
  uint64_t span;
  if( v->dtype ){
    t->part.id = (uint8_t)(v->dtype->id+1);
    if( v->dtype->unit>1 && zt_text_is(r->file->byte_order, "big") ) t->part.flags |= PYTORCH_BIG;
  }else{
    t->part.nDtype = (uint32_t)v->dtype_name.n;
    t->part.flags |= PYTORCH_UNSIZED;
    if( zt_builder_keep(r->b, v->dtype_name.z, v->dtype_name.n, &t->part.dtype) ) return false;
  }
  if( v->conj ) t->part.flags |= PYTORCH_CONJ;
  if( v->neg ) t->part.flags |= PYTORCH_NEG;
  t->part.quantized = v->quantized;
  if( !pytorch_set_shape(r, t, v->shape, v->rank) ){
    t->part.flags |= PYTORCH_LOST;
    return false;
  }
  return pytorch_set_strides(r, t, &span) && pytorch_find_storage(r, t, &storage)
      && v->dtype && pytorch_set_range(r, t, span, &storage);
}

/* Keep a tensor's record; *at is where. */
static int pytorch_keep(pytorch_reader *r, const pytorch_tensor *t, uint32_t *at){
  const uint32_t n = t->part.flags & PYTORCH_STRIDED ? 2*t->part.rank : t->part.rank;
  uint32_t numbers;
  if( zt_builder_keep(r->b, &t->part, sizeof(t->part), at) ) return r->b->err->rc;
  return zt_builder_keep(r->b, t->numbers, n*sizeof(*t->numbers), &numbers);
}

/* A new object with that record, whose components are to follow. */
static int pytorch_add_object(pytorch_reader *r, zt_text path, uint32_t record){
  const zt_container *c = r->b->container;
  zt_builder *b = r->b;
  bool duplicate = true;
  for(int i=0; i<2 && duplicate; i++){
    uint32_t at;
    if( i>0 && zt_distinct_name(&r->objects, &c->names, c->kept.p, path, &path, b->err) ) break;
    if( zt_builder_keep(b, path.z, path.n, &at) ) break;
    zt_builder_object(b, (zt_text){ (const char*)c->kept.p+at, path.n }, record, &duplicate);
  }
  return b->err->rc;
}

static int pytorch_add_dense(pytorch_reader *r, zt_text path, const zt_torch_view *v){
  pytorch_tensor t = { .view = v };
  uint32_t record;
  pytorch_set_view(r, &t);
  pytorch_put_attributes(r, v);
  if( r->b->err->rc
   || zt_builder_keep(r->b, r->attributes.p, r->attributes.n, &t.part.attributes)
   || pytorch_keep(r, &t, &record) || pytorch_add_object(r, path, record) ) return r->b->err->rc;
  return zt_builder_component(r->b, record);
}

/* Its coordinates are those of zTensor's sparse_coo if all dimensions have one, and those of a
** dimension lie one after the other. */
static bool pytorch_is_coo(const zt_torch_tensor *tensor, const pytorch_tensor *values,
                           const pytorch_tensor *indices){
  const unsigned flags = values->part.flags | indices->part.flags;
  if( flags & (PYTORCH_CONJ|PYTORCH_NEG|PYTORCH_UNSHAPED)
   || values->part.flags & PYTORCH_STRIDED || tensor->indices.rank!=2
   || tensor->indices.shape[0]!=(int64_t)tensor->rank || tensor->view.rank!=1
   || tensor->view.shape[0]!=tensor->indices.shape[1] ) return false;
  return !(indices->part.flags & PYTORCH_STRIDED) || tensor->indices.shape[1]<2
      || indices->numbers[3]==1;
}

/* How far the coordinates of one dimension are from those of the next, as coalesce() leaves them,
** is the object's stride. */
static void pytorch_set_step(pytorch_tensor *object, const pytorch_tensor *indices){
  object->part.flags |= PYTORCH_COO;
  if( !(indices->part.flags & PYTORCH_STRIDED) || object->part.rank==0 ) return;
  object->part.flags |= PYTORCH_STRIDED;
  memset(object->numbers+object->part.rank, 0, object->part.rank*sizeof(*object->numbers));
  object->numbers[object->part.rank] = indices->numbers[2];
}

static int pytorch_add_sparse(pytorch_reader *r, zt_text path, const zt_torch_tensor *tensor){
  pytorch_tensor object = { .part.flags = PYTORCH_SPARSE };
  pytorch_tensor values = { .view = &tensor->view, .part.flags = PYTORCH_VALUES };
  pytorch_tensor indices = { .view = &tensor->indices, .part.flags = PYTORCH_INDICES };
  uint32_t records[3];
  pytorch_set_shape(r, &object, tensor->shape, tensor->rank);
  pytorch_set_view(r, &values);
  pytorch_set_view(r, &indices);
  if( pytorch_is_coo(tensor, &values, &indices) ) pytorch_set_step(&object, &indices);
  if( r->b->err->rc || pytorch_keep(r, &object, &records[0])
   || pytorch_keep(r, &values, &records[1]) || pytorch_keep(r, &indices, &records[2])
   || pytorch_add_object(r, path, records[0])
   || zt_builder_component(r->b, records[1]) ) return r->b->err->rc;
  return zt_builder_component(r->b, records[2]);
}

static void pytorch_put_tensor(void *context, zt_text path, const zt_torch_tensor *tensor){
  pytorch_measure_tensor(context, path, tensor);
  if( !pytorch_has_room(context) ) return;
  if( tensor->sparse ) pytorch_add_sparse(context, path, tensor);
  else pytorch_add_dense(context, path, &tensor->view);
}

/* --- Opening --- */

/* Read a pickle and all that it says. */
static int pytorch_read(pytorch_reader *r, zt_torch_which which, zt_text prefix){
  const zt_torch_visitor put = { pytorch_put_leaf, pytorch_put_tensor, r, false };
  zt_container *c = r->b->container;
  zt_torch_pickle read = { 0 };
  if( zt_torch_read(r->file, which, &read)==SQLITE_OK && read.pickle ){
    if( which==ZT_TORCH_DATA ){
      c->manifest_offset = read.offset;
      c->manifest_length = read.length;
    }
    r->pickle = read.pickle;
    r->bytes = read.bytes;
    r->prefix = prefix;
    r->text = 0;
    r->measured = false;
    zt_torch_walk(r->pickle, prefix, r->bytes.n, &put, r->b->interrupt, r->b->err);
  }
  zt_torch_pickle_clear(&read);
  return r->b->err->rc;
}

/* A text that may be missing. */
static void pytorch_put_optional(zt_cbor_out *o, zt_text key, zt_text value){
  zt_cbor_put_text(o, key);
  if( value.z ) zt_cbor_put_text(o, value);
  else zt_cbor_put_null(o);
}

/* The manifest, made of what the file says of itself and all leaves, which are the file's
** attributes, too. */
static int pytorch_keep_manifest(pytorch_reader *r){
  zt_container *c = r->b->container;
  const zt_torch_file *f = r->file;
  zt_cbor_out head = { .err = r->b->err };
  uint32_t at, values;
  size_t map;
  zt_cbor_put_head(&head, ZT_CBOR_MAP, 4);
  zt_cbor_put_text(&head, ZT_TEXT("archive"));
  if( f->archive.z ){
    zt_cbor_put_name(&head, (zt_span){ (const uint8_t*)f->archive.z, f->archive.n });
  }else{
    zt_cbor_put_null(&head);
  }
  pytorch_put_optional(&head, ZT_TEXT("version"), f->version);
  pytorch_put_optional(&head, ZT_TEXT("byteorder"), f->byte_order);
  zt_cbor_put_text(&head, ZT_TEXT("leaves"));
  map = head.n;
  zt_cbor_put_head(&head, ZT_CBOR_MAP, r->n);
  if( !r->b->err->rc && zt_builder_keep(r->b, head.p, head.n, &at)==SQLITE_OK
   && zt_builder_keep(r->b, r->values.p, r->values.n, &values)==SQLITE_OK ){
    c->manifest = zt_manifest_map(at, 0);
    c->attributes = zt_manifest_map(at+map, 0);
  }
  zt_cbor_out_clear(&head);
  return r->b->err->rc;
}

/* What the file says of itself, and both pickles. */
static int pytorch_read_all(pytorch_reader *r){
  zt_container *c = r->b->container;
  const zt_torch_file *f = r->file;
  uint32_t at = 0;
  zt_builder_reserve(r->b, f->storages, f->storages);
  if( zt_builder_keep(r->b, "", 1, &at) ) return r->b->err->rc;   /* A part's 0 is no position */
  if( f->version.n ){
    if( zt_builder_keep(r->b, f->version.z, f->version.n, &at) ) return r->b->err->rc;
    c->version = (zt_text){ (const char*)c->kept.p+at, f->version.n };
  }
  if( pytorch_read(r, ZT_TORCH_DATA, ZT_TEXT(""))
   || pytorch_read(r, ZT_TORCH_CONSTANTS, ZT_TEXT("constants")) ) return r->b->err->rc;
  return pytorch_keep_manifest(r);
}

static int pytorch_open_file(zt_builder *b, zt_torch_file *file){
  pytorch_reader r = {
    .b = b, .file = file, .attributes = { .err = b->err }, .values = { .err = b->err },
    .paths = { .interrupt = b->interrupt }
  };
  b->container->rules = ZT_RULE_VIEWS;
  b->container->gap = UINT64_MAX;   /* Local headers, and records that are no storages */
  pytorch_read_all(&r);
  zt_cbor_out_clear(&r.attributes);
  zt_cbor_out_clear(&r.values);
  zt_keys_clear(&r.paths);
  zt_distinct_clear(&r.leaves);
  zt_distinct_clear(&r.objects);
  return b->err->rc;
}

/* --- The driver --- */

static zt_probe pytorch_probe(const zt_ends *ends, zt_error *err){
  return zt_torch_kind_of(ends, err)==ZT_TORCH_NONE ? ZT_PROBE_NO : ZT_PROBE_YES;
}

/* PT1 */
static int pytorch_open(zt_builder *b, const zt_ends *ends){
  zt_torch_kind kind = zt_torch_kind_of(ends, b->err);
  zt_torch_file *file = NULL;
  if( b->err->rc ) return b->err->rc;
  if( kind==ZT_TORCH_TAR ){
    return zt_break(b->err, "PT1", "a file of PyTorch before 0.1.10, which is a tar archive: it is "
                    "not read");
  }
  if( kind==ZT_TORCH_ZIP ) zt_torch_open_archive(b, ends, &file);
  else zt_torch_open_legacy(b, ends, &file);
  if( file ) pytorch_open_file(b, file);
  zt_torch_close(file);
  return b->err->rc;
}

/* --- Decoding --- */

static void pytorch_object(const zt_container *c, uint32_t i, zt_object *out){
  const size_t at = c->objects.a[i];
  pytorch_part part;
  pytorch_part_at(c, at, &part);
  out->format = part.flags & PYTORCH_SPARSE ? ZT_TEXT("torch._rebuild_sparse_tensor")
              : part.flags & PYTORCH_CONJ ? ZT_TEXT("torch.conj")
              : part.flags & PYTORCH_NEG ? ZT_TEXT("torch.neg")
              : part.quantized.z ? part.quantized : ZT_TEXT("dense");
  out->rank = part.rank;
  for(uint32_t d=0; d<part.rank; d++) out->shape[d] = pytorch_number(c, at, d);
  zt_object_count(out);
  out->unshaped = (part.flags & PYTORCH_UNSHAPED)!=0;
  if( !out->unshaped && zt_text_is(out->format, "dense") ) out->layout = ZT_LAYOUT_DENSE;
  if( !out->unshaped && part.flags & PYTORCH_COO ) out->layout = ZT_LAYOUT_COO;
  out->has_strides = (part.flags & PYTORCH_STRIDED)!=0;
  for(uint32_t d=0; d<part.rank && out->has_strides; d++){
    out->strides[d] = pytorch_number(c, at, part.rank+d);
  }
  if( part.attributes ) out->attributes = zt_manifest_map(part.attributes, 0);
}

/* What is of records that are compressed alone. */
static void pytorch_decode_encoding(const zt_container *c, const pytorch_part *part,
                                    zt_component *out){
  const char *name = (const char*)c->kept.p+part->encoding;
  if( !part->encoding ) return;
  out->encoding = (zt_text){ name, strlen(name) };
  out->codec = part->codec;
  out->skip = part->skip;
  out->behind = part->behind;
  out->has_decoded_length = !out->unsized;
  out->decoded_length = part->bytes;
}

static void pytorch_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                              zt_component *out){
  const zt_dtype *dtype;
  pytorch_part part;
  (void)i;
  pytorch_part_at(c, c->components.a[k], &part);
  out->role = part.flags & PYTORCH_VALUES ? ZT_TEXT("values")
            : part.flags & PYTORCH_INDICES ? ZT_TEXT("indices") : ZT_TEXT("data");
  if( want==ZT_COMPONENT_ROLE ) return;
  out->dtype = (zt_text){ (const char*)c->kept.p+part.dtype, part.nDtype };
  if( part.id ){
    dtype = zt_dtype_get((zt_dtype_id)(part.id-1));
    out->dtype = (zt_text){ dtype->storage, strlen(dtype->storage) };
    if( strcmp(dtype->storage, dtype->name)!=0 ){
      out->type = (zt_text){ dtype->name, strlen(dtype->name) };
    }
  }
  zt_dtype_decide(out);
  if( part.flags & PYTORCH_BIG ) out->byte_order = ZT_TEXT("big");
  out->unsized = (part.flags & PYTORCH_UNSIZED)!=0;
  out->scattered = (part.flags & PYTORCH_LOST)!=0;
  out->offset = part.offset;
  out->length = out->unsized ? 0 : part.length;
  if( part.fault ){
    out->fault_rule = part.rule;
    out->fault = (const char*)c->kept.p+part.fault;
  }
  pytorch_decode_encoding(c, &part, out);
}

const zt_driver zt_driver_pytorch = {
  .name = "pytorch",
  .format = "pytorch",
  .probe = pytorch_probe,
  .open = pytorch_open,
  .object = pytorch_object,
  .component = pytorch_component,
  .steps = &zt_manifest_steps,
};
