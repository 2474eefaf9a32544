/*
** Objects of torch.save. See torch_object.h. These faults belong to one tensor, which is listed
** without its bytes:
**
**   PT8  a shape has no negative dimension, and the product of its dimensions fits 64 bits
**   PT10 offset and strides are not negative, and fit 64 bits
**   PT11 the view ends within its storage
**   PT12 the storage has the bytes that the pickle says
**
** Each object and each component is a kept part, followed by dimensions and strides. A dense object
** shares one part with its component.
*/
#include "container/torch_object.h"

#include <assert.h>
#include <stdarg.h>
#include "container/behind.h"
#include "container/manifest.h"
#include "container/torch_attributes.h"
#include "core/host.h"

#define OBJECT_REPEATS 64       /* Stored elements of a sparse tensor for each number in the file */

/* --- Kept parts --- */

enum {
  OBJECT_STRIDED = 0x1,         /* Strides are kept */
  OBJECT_BIG = 0x2,
  OBJECT_UNSIZED = 0x4,         /* Its size is unknown, */
  OBJECT_LOST = 0x8,            /* and its place */
  OBJECT_UNSHAPED = 0x10,
  OBJECT_CONJ = 0x20, OBJECT_NEG = 0x40,
  OBJECT_MIXED = 0x80,          /* Its elements are not numbers */
  OBJECT_TYPED = 0x100,       /* The object has a type, and no component has it */
  OBJECT_UNKNOWN = 0x200      /* It has values, in an unknown layout */
};

typedef enum object_role {
  OBJECT_DATA, OBJECT_VALUES, OBJECT_INDICES, OBJECT_INDPTR,
  OBJECT_SIZES, OBJECT_STRIDES, OBJECT_OFFSETS
} object_role;

static const zt_text object_roles[] = {
  [OBJECT_DATA] = ZT_TEXT_INIT("data"), [OBJECT_VALUES] = ZT_TEXT_INIT("values"),
  [OBJECT_INDICES] = ZT_TEXT_INIT("indices"), [OBJECT_INDPTR] = ZT_TEXT_INIT("indptr"),
  [OBJECT_SIZES] = ZT_TEXT_INIT("sizes"), [OBJECT_STRIDES] = ZT_TEXT_INIT("strides"),
  [OBJECT_OFFSETS] = ZT_TEXT_INIT("offsets")
};

typedef struct torch_part {
  uint64_t offset, length;    /* The stored bytes: a compressed record's are all of it */
  uint64_t skip, behind;      /* Decoded bytes before and after the view */
  uint64_t bytes;             /* The view's size */
  uint64_t least;             /* The size of all elements if OBJECT_MIXED; 0: unknown */
  const char *rule;           /* The fault's */
  const char *reason;         /* Static: why an object has no values, or (OBJECT_UNKNOWN) an unknown
                              ** layout; NULL: neither */
  zt_text format;             /* Static */
  uint32_t attributes;        /* Position of a map; 0: none */
  uint32_t fault;             /* Position of a NUL-terminated text; 0: none */
  uint32_t dtype, nDtype;     /* torch's name of a dtype that the model lacks */
  uint32_t rank;
  uint32_t encoding;          /* The record's: position of a NUL-terminated text; 0: raw */
  uint32_t kept;              /* Position of kept bytes; 0: they are in the file */
  zt_codec_id codec;
  zt_layout_id layout;
  uint16_t flags;
  uint8_t id;                 /* The dtype's, plus 1; 0: unknown */
  uint8_t role;
  uint8_t whole;              /* As in zt_object */
} torch_part;

static void object_at(const zt_container *c, size_t at, torch_part *out){
  memcpy(out, c->kept.p+at, sizeof(*out));
}

/* Number i of the dimensions, then strides. */
static uint64_t object_number(const zt_container *c, size_t at, uint32_t i){
  return zt_load64(c->kept.p+at+sizeof(torch_part)+8*(size_t)i);
}

/* How many strides follow the dimensions. */
static uint32_t object_strides(const torch_part *part){
  if( !(part->flags & OBJECT_STRIDED) ) return 0;
  return part->layout==ZT_LAYOUT_COO ? ZT_COO_VALUES+1u+part->whole : part->rank;
}

/* A tensor or a view before it is kept. */
typedef struct object_draft {
  torch_part part;
  uint64_t numbers[2*ZT_MAX_RANK];   /* Dimensions, then strides */
  uint64_t elements;
} object_draft;

/* --- Views --- */

/* Set a tensor's fault. Always false. */
ZT_FORMAT(4, 5)
static bool object_set_fault(zt_torch_objects *o, object_draft *t, const char *rule,
                             const char *format, ...){
  va_list list;
  t->part.rule = rule;
  t->part.flags = (uint16_t)((t->part.flags & ~OBJECT_STRIDED) | OBJECT_UNSIZED);
  va_start(list, format);
  zt_torch_keep_text(o->b, &t->part.fault, format, list);
  va_end(list);
  return false;
}

/* PT8 */
static bool object_set_shape(zt_torch_objects *o, object_draft *t, const int64_t *shape,
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
  t->part.flags |= OBJECT_UNSHAPED;
  t->part.rank = 0;
  return object_set_fault(o, t, "PT8", "%s", negative
                        ? "its shape has a negative dimension"
                        : "the product of its dimensions does not fit 64 bits");
}

/* PT10; *out is the number of storage elements from the first through the last. */
static bool object_set_strides(zt_torch_objects *o, object_draft *t, const zt_torch_view *v,
                               uint64_t *out){
  bool fits = true, negative = v->offset<0;
  *out = t->elements>0;
  if( t->elements>0 && !zt_torch_is_contiguous(v->shape, v->strides, v->rank) ){
    t->part.flags |= OBJECT_STRIDED;
  }
  for(uint32_t i=0; i<v->rank; i++){
    uint64_t n = 0;
    negative |= v->strides[i]<0;
    t->numbers[v->rank+i] = (uint64_t)v->strides[i];
    if( t->elements==0 || negative ) continue;
    fits = fits && zt_mul64((uint64_t)v->shape[i]-1, (uint64_t)v->strides[i], &n)
        && zt_add64(*out, n, out);
  }
  if( negative ) return object_set_fault(o, t, "PT10", "a negative offset or stride");
  return fits || object_set_fault(o, t, "PT10", "its strides lead beyond 2^64 elements");
}

static void object_set_place(object_draft *t, const zt_torch_storage *s){
  t->part.encoding = s->encoding;
  t->part.codec = s->codec;
  t->part.offset = s->offset;
  t->part.length = s->length;
}

static bool object_find_storage(zt_torch_objects *o, object_draft *t, const zt_torch_view *v,
                                zt_torch_storage *s){
  if( zt_torch_find(o->file, v, s) ) return false;
  if( s->fault ){
    t->part.rule = s->rule;
    t->part.fault = s->fault;
    t->part.flags = (uint16_t)((t->part.flags & ~OBJECT_STRIDED) | OBJECT_UNSIZED|OBJECT_LOST);
    return false;
  }
  object_set_place(t, s);
  return true;
}

/* PT11, PT12: the bytes that the tensor may use: its storage, or the storage's own view. */
static bool object_set_window(zt_torch_objects *o, object_draft *t, const zt_torch_view *v,
                              const zt_torch_storage *s, uint64_t *base, uint64_t *length){
  const uint64_t width = v->storage_width ? v->storage_width : v->dtype->width;
  *base = *length = 0;
  if( v->storage_elements<0 || !zt_mul64((uint64_t)v->storage_elements, width, length)
   || *length>s->size || (s->exact && *length!=s->size) ){
    return object_set_fault(o, t, "PT12", "its storage has %lld elements, and the %s %llu bytes",
                            (long long)v->storage_elements, s->exact ? "file" : "record",
                            (unsigned long long)s->size);
  }
  if( !v->view_key.z ) return true;
  if( v->view_offset<0 || v->view_elements<0
   || !zt_mul64((uint64_t)v->view_offset, width, base)
   || !zt_mul64((uint64_t)v->view_elements, width, length)
   || !zt_claim(s->size, *base, *length) ){
    return object_set_fault(o, t, "PT11", "a view of %lld elements from %lld on does not lie in "
                            "its storage, which has %llu bytes", (long long)v->view_elements,
                            (long long)v->view_offset, (unsigned long long)s->size);
  }
  return true;
}

/* PT11: place `span` elements in the storage. */
static bool object_set_range(zt_torch_objects *o, object_draft *t, const zt_torch_view *v,
                             uint64_t span, const zt_torch_storage *s){
  const uint64_t item = v->dtype->width;
  uint64_t base, length, first, bytes, end = 0;
  if( !object_set_window(o, t, v, s, &base, &length) ) return false;
  if( !zt_mul64((uint64_t)v->offset, item, &first) || !zt_mul64(span, item, &bytes)
   || !zt_add64(first, bytes, &end) || (bytes>0 && end>length) ){
    return object_set_fault(o, t, "PT11", "%llu elements from element %lld end beyond its "
                            "storage%s, which has %llu bytes", (unsigned long long)span,
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

static bool object_set_dtype(zt_torch_objects *o, object_draft *t, const zt_torch_view *v){
  t->part.format = v->quantized.z ? v->quantized : ZT_TEXT("dense");
  if( v->dtype ){
    t->part.id = (uint8_t)(v->dtype->id+1);
    return true;
  }
  t->part.nDtype = (uint32_t)v->dtype_name.n;
  t->part.flags |= OBJECT_UNSIZED;
  return zt_builder_keep(o->b, v->dtype_name.z, v->dtype_name.n, &t->part.dtype)==SQLITE_OK;
}

/* False if the view has a fault, or on failure. */
static bool object_set_view(zt_torch_objects *o, object_draft *t, const zt_torch_view *v){
  zt_torch_storage storage = { 0 };
  uint64_t span;
  if( !object_set_dtype(o, t, v) ) return false;
  if( v->dtype && v->dtype->unit>1 && zt_text_is(o->file->byte_order, "big") ){
    t->part.flags |= OBJECT_BIG;
  }
  if( v->conj ) t->part.flags |= OBJECT_CONJ;
  if( v->neg ) t->part.flags |= OBJECT_NEG;
  if( !object_set_shape(o, t, v->shape, v->rank) ){
    t->part.flags |= OBJECT_LOST;
    return false;
  }
  return object_set_strides(o, t, v, &span) && object_find_storage(o, t, v, &storage)
      && v->dtype && object_set_range(o, t, v, span, &storage);
}

/* --- Adding --- */

/* Keep a part; *at is its position. */
static int object_keep(zt_torch_objects *o, const object_draft *t, uint32_t *at){
  const uint32_t n = t->part.rank+object_strides(&t->part);
  uint32_t numbers;
  if( zt_builder_keep(o->b, &t->part, sizeof(t->part), at) ) return o->b->err->rc;
  return zt_builder_keep(o->b, t->numbers, n*sizeof(*t->numbers), &numbers);
}

/* Add an object before its components; *at is its position. */
static int object_add(zt_torch_objects *o, zt_text path, const object_draft *t, uint32_t *at){
  const zt_container *c = o->b->container;
  zt_builder *b = o->b;
  bool duplicate = true;
  if( object_keep(o, t, at) ) return b->err->rc;
  for(int i=0; i<2 && duplicate; i++){
    uint32_t name;
    if( i>0 && zt_renamed_name(&o->names, &c->names, c->kept.p, path, &path, b->err) ) break;
    if( zt_builder_keep(b, path.z, path.n, &name) ) break;
    zt_builder_object(b, (zt_text){ (const char*)c->kept.p+name, path.n }, *at, &duplicate);
  }
  return b->err->rc;
}

static int object_keep_map(zt_torch_objects *o, object_draft *t){
  if( o->b->err->rc ) return o->b->err->rc;
  return zt_builder_keep(o->b, o->attributes.p, o->attributes.n, &t->part.attributes);
}

static int object_keep_attributes(zt_torch_objects *o, const zt_torch_tensor *tensor,
                                  object_draft *t){
  zt_cbor_out_reset(&o->attributes);
  zt_torch_put_attributes(o->read->pickle, o->read->folder, tensor, &o->attributes);
  return object_keep_map(o, t);
}

/* True if conj and neg are known for this type. */
static bool object_can_apply(const torch_part *part){
  const zt_dtype *dtype;
  if( !(part->flags & (OBJECT_CONJ|OBJECT_NEG)) ) return true;
  if( !part->id ) return false;
  dtype = zt_dtype_get((zt_dtype_id)(part->id-1));
  if( dtype->class==ZT_BOOL || zt_dtype_is_packed(dtype) ) return false;
  return dtype->id!=ZT_DTYPE_f8_e4m3fnuz && dtype->id!=ZT_DTYPE_f8_e5m2fnuz
      && dtype->id!=ZT_DTYPE_f8_e8m0;
}

static int object_add_dense(zt_torch_objects *o, zt_text path, const zt_torch_tensor *tensor){
  object_draft t = { .part.role = OBJECT_DATA };
  uint32_t at;
  object_set_view(o, &t, &tensor->views[0]);
  if( !object_can_apply(&t.part) ){
    t.part.format = t.part.flags & OBJECT_CONJ ? ZT_TEXT("torch.conj") : ZT_TEXT("torch.neg");
  }else if( zt_text_is(t.part.format, "dense") ){
    t.part.layout = ZT_LAYOUT_DENSE;
  }
  if( object_keep_attributes(o, tensor, &t) || object_add(o, path, &t, &at) ){
    return o->b->err->rc;
  }
  return zt_builder_component(o->b, at);
}

/* --- Sparse tensors --- */

/* True if none of n parts is strided, or has conj or neg. */
static bool object_are_plain(const object_draft *parts, uint32_t n){
  for(uint32_t i=0; i<n; i++){
    const unsigned odd = OBJECT_CONJ|OBJECT_NEG|OBJECT_UNSHAPED|OBJECT_STRIDED;
    if( parts[i].part.flags & odd ) return false;
  }
  return true;
}

/* True if the stored elements are at most OBJECT_REPEATS times as many as the numbers that are
** there for them: strides repeat no more. A part with a fault has no numbers. */
static bool object_repeats_little(const zt_torch_tensor *tensor, const object_draft *parts){
  uint64_t there = 0;
  for(uint32_t i=0; i<2; i++){
    const torch_part *part = &parts[i].part;
    if( part->flags & OBJECT_UNSIZED || part->fault ) return true;
    there += part->bytes/tensor->views[i].dtype->width;   /* The file has these bytes */
  }
  return parts[0].elements/OBJECT_REPEATS<=there;
}

/* Keep the strides of values and coordinates as the object's. False: it has no room for them. */
static bool object_set_coo_strides(object_draft *object, const zt_torch_tensor *tensor,
                                   const object_draft *parts){
  const zt_torch_view *values = &tensor->views[0];
  const uint64_t *coordinates = parts[1].numbers;
  uint64_t *strides = object->numbers+object->part.rank;
  if( ZT_COO_VALUES+values->rank>ZT_MAX_RANK ) return false;
  object->part.flags |= OBJECT_STRIDED;
  strides[ZT_COO_COORDINATES] = coordinates[1];
  strides[ZT_COO_BY_DIMENSION] = coordinates[2];
  strides[ZT_COO_BY_COORDINATE] = coordinates[3];
  memcpy(strides+ZT_COO_VALUES, parts[0].numbers+values->rank, values->rank*sizeof(*strides));
  return true;
}

/* Coordinates are zTensor's sparse_coo of all but the last dimensions. They and the values may have
** strides. */
static bool object_set_coo(object_draft *object, const zt_torch_tensor *tensor,
                           const object_draft *parts){
  const zt_torch_view *values = &tensor->views[0], *indices = &tensor->views[1];
  const unsigned odd = OBJECT_CONJ|OBJECT_NEG|OBJECT_UNSHAPED;
  const unsigned flags = parts[0].part.flags | parts[1].part.flags;
  uint32_t whole;
  if( flags & odd || indices->rank!=2 || values->rank==0
   || values->shape[0]!=indices->shape[1] ) return false;
  whole = values->rank-1;
  if( whole>tensor->rank || indices->shape[0]!=(int64_t)(tensor->rank-whole) ) return false;
  for(uint32_t d=0; d<whole; d++){
    if( values->shape[1+d]!=tensor->shape[tensor->rank-whole+d] ) return false;
  }
  object->part.whole = (uint8_t)whole;
  if( !(flags & OBJECT_STRIDED) ) return true;
  return object_repeats_little(tensor, parts) && object_set_coo_strides(object, tensor, parts);
}

/* Compressed rows or columns. The values of blocks have three dimensions. */
static bool object_set_compressed(object_draft *object, const zt_torch_tensor *tensor,
                                  const object_draft *parts){
  const bool blocks = tensor->layout==ZT_TORCH_BSR || tensor->layout==ZT_TORCH_BSC;
  const zt_torch_view *values = &tensor->views[0];
  if( !object_are_plain(parts, 3) || tensor->rank!=2 || values->rank!=(blocks ? 3 : 1)
   || tensor->views[1].rank!=1 || tensor->views[2].rank!=1 ) return false;
  object->part.skip = blocks ? (uint64_t)values->shape[1] : 1;
  object->part.behind = blocks ? (uint64_t)values->shape[2] : 1;
  return true;
}

#define OBJECT_SPARSE(layout, format, listed) \
  [ZT_TORCH_##layout] = { ZT_TEXT_INIT(format), ZT_TEXT_INIT(listed), ZT_LAYOUT_##layout }

static const struct {
  zt_text format, listed;   /* With values, and without */
  zt_layout_id layout;
} object_sparse[] = {
  OBJECT_SPARSE(COO, "torch._rebuild_sparse_tensor", "torch._rebuild_sparse_tensor"),
  OBJECT_SPARSE(CSR, "sparse_csr", "torch.sparse_csr"),
  OBJECT_SPARSE(CSC, "torch.sparse_csc", "torch.sparse_csc"),
  OBJECT_SPARSE(BSR, "torch.sparse_bsr", "torch.sparse_bsr"),
  OBJECT_SPARSE(BSC, "torch.sparse_bsc", "torch.sparse_bsc"),
};

static void object_set_sparse(object_draft *object, const zt_torch_tensor *tensor,
                              const object_draft *parts){
  const bool coo = tensor->layout==ZT_TORCH_COO;
  const bool known = coo ? object_set_coo(object, tensor, parts)
                         : object_set_compressed(object, tensor, parts);
  object->part.format = object_sparse[tensor->layout].listed;
  if( known && !(object->part.flags & OBJECT_UNSHAPED) ){
    object->part.format = object_sparse[tensor->layout].format;
    object->part.layout = object_sparse[tensor->layout].layout;
    return;
  }
  object->part.flags |= OBJECT_UNKNOWN;
  if( coo || tensor->rank<=2 ){
    object->part.reason = "its indices and values do not have the shapes and strides that are read";
  }else if( tensor->views[2].rank>1 ){
    object->part.reason = "it is a batch of sparse matrices, whose values are not put together";
  }else{
    object->part.reason = "it is a sparse matrix of arrays, its dense dimensions, whose values are"
                          " not put together";
  }
}

static int object_add_views(zt_torch_objects *o, zt_text path, const zt_torch_tensor *tensor){
  static const uint8_t sparse[ZT_TORCH_VIEWS] = { OBJECT_VALUES, OBJECT_INDICES, OBJECT_INDPTR };
  static const uint8_t nested[ZT_TORCH_VIEWS] = {
    OBJECT_VALUES, OBJECT_SIZES, OBJECT_STRIDES, OBJECT_OFFSETS
  };
  const bool ragged = tensor->layout==ZT_TORCH_RAGGED;
  object_draft object = { .elements = 0 }, parts[ZT_TORCH_VIEWS] = { { .elements = 0 } };
  uint32_t at[ZT_TORCH_VIEWS], unused;
  for(uint32_t i=0; i<tensor->n; i++){
    parts[i].part.role = (ragged ? nested : sparse)[i];
    object_set_view(o, &parts[i], &tensor->views[i]);
  }
  if( ragged ){
    object.part.flags = OBJECT_UNSHAPED|OBJECT_UNKNOWN;
    object.part.format = ZT_TEXT("torch.nested");
    object.part.reason = "its rows have shapes of their own";
  }else{
    object_set_shape(o, &object, tensor->shape, tensor->rank);
    object_set_sparse(&object, tensor, parts);
  }
  object_keep_attributes(o, tensor, &object);
  for(uint32_t i=0; i<tensor->n && !o->b->err->rc; i++) object_keep(o, &parts[i], &at[i]);
  if( !o->b->err->rc ) object_add(o, path, &object, &unused);
  for(uint32_t i=0; i<tensor->n && !o->b->err->rc; i++) zt_builder_component(o->b, at[i]);
  return o->b->err->rc;
}

static void object_set_unread(zt_torch_objects *o, object_draft *t, const zt_torch_tensor *tensor){
  if( tensor->unshaped ) t->part.flags |= OBJECT_UNSHAPED;
  else object_set_shape(o, t, tensor->shape, tensor->rank);
  if( tensor->type.dtype_name.n ){
    object_set_dtype(o, t, &tensor->type);
    t->part.flags |= OBJECT_TYPED;
  }
  t->part.format = ZT_TEXT("torch.unread");
  t->part.reason = "it is a tensor of PyTorch whose storage is not read";
}

static int object_add_bare(zt_torch_objects *o, zt_text path, const zt_torch_tensor *tensor){
  object_draft t = { .elements = 0 };
  uint32_t at;
  if( tensor->layout==ZT_TORCH_ELSEWHERE ){
    t.part.flags = OBJECT_UNSHAPED;
    t.part.format = ZT_TEXT("torch.repeated");
    t.part.reason = "its tensors are listed at their first place: the limit on repeated values"
                    " is reached";
  }else if( tensor->layout==ZT_TORCH_NO_SHAPE ){
    t.part.flags = OBJECT_UNSHAPED;
    t.part.format = ZT_TEXT("torch.uninitialized");
    t.part.reason = "it was saved before it had a shape";
  }else if( tensor->layout==ZT_TORCH_UNREAD ){
    object_set_unread(o, &t, tensor);
  }else if( tensor->layout==ZT_TORCH_HIDDEN ){
    t.part.flags = OBJECT_UNSHAPED|OBJECT_UNKNOWN;
    t.part.format = ZT_TEXT("pickle.unread");
    t.part.reason = tensor->reason;
  }else{
    const bool meta = tensor->layout==ZT_TORCH_NO_BYTES;
    object_set_shape(o, &t, tensor->shape, tensor->rank);
    object_set_dtype(o, &t, &tensor->type);
    t.part.flags |= OBJECT_TYPED;
    t.part.format = meta ? ZT_TEXT("torch.meta") : ZT_TEXT("torch.wrapper_subclass");
    t.part.reason = meta ? "a meta tensor has no bytes"
                      : "it is a wrapper, whose tensors are listed below it";
  }
  object_keep_attributes(o, tensor, &t);
  return o->b->err->rc ? o->b->err->rc : object_add(o, path, &t, &at);
}

int zt_torch_add_tensor(zt_torch_objects *o, zt_text path, const zt_torch_tensor *tensor){
  if( tensor->layout==ZT_TORCH_DENSE ) return object_add_dense(o, path, tensor);
  return tensor->n ? object_add_views(o, path, tensor) : object_add_bare(o, path, tensor);
}

int zt_torch_add_other(zt_torch_objects *o, zt_text path){
  object_draft t = {
    .part = { .flags = OBJECT_UNSHAPED, .format = ZT_TEXT("torch.unread"),
              .reason = ZT_BEHIND_REASON }
  };
  uint32_t at;
  return object_add(o, path, &t, &at);
}

/* --- Arrays --- */

/* Keep bytes that the file does not have as they are, once for each node. */
static int object_keep_bytes(zt_torch_objects *o, const zt_numpy_array *a, uint32_t *at){
  const uint64_t room = ((uint64_t)zt_pickle_nodes(o->read->pickle)+1)*sizeof(*o->kept);
  if( !o->kept ){
    o->kept = sqlite3_malloc64(room);
    if( !o->kept ) return zt_fail_nomem(o->b->err);
    memset(o->kept, 0, (size_t)room);
  }
  *at = o->kept[a->source];
  if( *at ) return SQLITE_OK;
  if( zt_builder_keep(o->b, NULL, a->data.n, at) ) return o->b->err->rc;
  zt_pickle_copy_bytes(&a->data, o->b->container->kept.p+*at, a->data.n);
  o->kept[a->source] = *at;
  return SQLITE_OK;
}

/* Where an array's bytes are as they are. False: nowhere. In a plain pickle, no bytes may be a
** call's, too. */
static bool object_find_data(const zt_torch_objects *o, const zt_numpy_array *a, uint64_t *place){
  const zt_torch_pickle *read = o->read;
  size_t at = 0;
  *place = a->place;
  if( a->placed ) return true;
  if( !read->stored || a->data.latin1
   || (o->file->plain && zt_pickle_kind_of(read->pickle, a->source)==ZT_PICKLE_CALL) ) return false;
  if( !zt_pickle_position(read->pickle, a->data.span, &at) && a->data.n>0 ) return false;
  *place = zt_torch_place(read, at);
  return true;
}

/* Place an array's bytes. */
static int object_set_data(zt_torch_objects *o, object_draft *t, const zt_numpy_array *a){
  const zt_torch_storage *whole = &o->file->whole;
  uint64_t place;
  t->part.length = t->part.bytes = a->data.n;
  if( object_find_data(o, a, &place) ){
    t->part.offset = place;
    if( !whole->encoding ) return SQLITE_OK;
    object_set_place(t, whole);
    t->part.skip = place;
    t->part.behind = whole->size-place-a->data.n;
    return SQLITE_OK;
  }
  t->part.flags |= OBJECT_UNSIZED|OBJECT_LOST;
  t->part.codec = ZT_CODEC_KEPT;
  if( o->file->plain && !o->latin1
   && zt_builder_keep(o->b, "pickle.latin1", sizeof("pickle.latin1"), &o->latin1) ){
    return o->b->err->rc;
  }
  t->part.encoding = o->latin1;
  return object_keep_bytes(o, a, &t->part.kept);
}

/* The attributes of a plain pickle's array. */
static int object_keep_descr(zt_torch_objects *o, object_draft *t, const zt_numpy_array *a){
  if( !o->file->plain || !a->dtype ) return SQLITE_OK;
  zt_cbor_out_reset(&o->attributes);
  zt_numpy_put_attributes(o->read->pickle, a, &o->attributes);
  return object_keep_map(o, t);
}

static void object_set_numpy_type(object_draft *t, const zt_numpy_array *a){
  const zt_npy *npy = &a->npy;
  const zt_text name = npy->type.z ? npy->type : npy->dtype;
  const zt_dtype *dtype = name.z ? zt_dtype_named(name) : NULL;
  t->part.format = npy->format;
  t->part.reason = npy->no_values;
  if( dtype ) t->part.id = (uint8_t)(dtype->id+1);
  if( dtype && npy->big ) t->part.flags |= OBJECT_BIG;
  if( npy->dense ) t->part.layout = ZT_LAYOUT_DENSE;
  else t->part.flags |= OBJECT_MIXED;
}

int zt_torch_add_array(zt_torch_objects *o, zt_text path, const zt_numpy_array *a){
  object_draft t = { .part.role = OBJECT_DATA };
  uint32_t at;
  object_set_numpy_type(&t, a);
  if( object_keep_descr(o, &t, a) ) return o->b->err->rc;
  if( a->fault ){
    t.part.layout = ZT_LAYOUT_UNKNOWN;
    t.part.flags |= OBJECT_UNSHAPED|OBJECT_UNKNOWN;
    t.part.reason = a->fault;
    return object_add(o, path, &t, &at);
  }
  if( object_set_shape(o, &t, a->shape, a->npy.rank) && t.elements>0
   && !zt_torch_is_contiguous(a->shape, a->strides, a->npy.rank) ){
    t.part.flags |= OBJECT_STRIDED;
    for(uint32_t d=0; d<a->npy.rank; d++) t.numbers[a->npy.rank+d] = (uint64_t)a->strides[d];
  }
  if( t.part.flags & OBJECT_UNSHAPED ) t.part.flags |= OBJECT_LOST;
  else if( a->has_data ) object_set_data(o, &t, a);
  if( t.part.flags & OBJECT_MIXED && a->npy.sized
   && !zt_mul64(t.elements, a->npy.bytes, &t.part.least) ) t.part.least = UINT64_MAX;
  if( o->b->err->rc || object_add(o, path, &t, &at) ) return o->b->err->rc;
  return a->has_data ? zt_builder_component(o->b, at) : SQLITE_OK;
}

void zt_torch_objects_reset(zt_torch_objects *o){
  sqlite3_free(o->kept);
  o->kept = NULL;
}

void zt_torch_objects_clear(zt_torch_objects *o){
  zt_torch_objects_reset(o);
  zt_cbor_out_clear(&o->attributes);
  zt_renamed_clear(&o->names);
}

/* --- Decoding --- */

/* The texts of a part's dtype and type. */
static void object_decode_type(const zt_container *c, const torch_part *part, zt_text *storage,
                               zt_text *type){
  const zt_dtype *dtype;
  *storage = (zt_text){ (const char*)c->kept.p+part->dtype, part->nDtype };
  if( !part->nDtype ) storage->z = NULL;
  if( !part->id ) return;
  dtype = zt_dtype_get((zt_dtype_id)(part->id-1));
  *storage = (zt_text){ dtype->storage, strlen(dtype->storage) };
  if( strcmp(dtype->storage, dtype->name)!=0 ){
    *type = (zt_text){ dtype->name, strlen(dtype->name) };
  }
}

void zt_torch_object(const zt_container *c, uint32_t i, zt_object *out){
  const size_t at = c->objects.a[i];
  torch_part part;
  object_at(c, at, &part);
  out->format = part.format;
  if( part.flags & OBJECT_UNKNOWN ) out->why_unknown = part.reason;
  else out->no_values = part.reason;
  out->rank = part.rank;
  for(uint32_t d=0; d<part.rank; d++) out->shape[d] = object_number(c, at, d);
  zt_object_count(out);
  out->unshaped = (part.flags & OBJECT_UNSHAPED)!=0;
  out->layout = out->unshaped ? ZT_LAYOUT_UNKNOWN : part.layout;
  if( part.layout==ZT_LAYOUT_BSR || part.layout==ZT_LAYOUT_BSC ){
    out->block[0] = part.skip;
    out->block[1] = part.behind;
  }
  out->whole = part.whole;
  out->conjugate = out->layout==ZT_LAYOUT_DENSE && part.flags & OBJECT_CONJ;
  out->negate = out->layout==ZT_LAYOUT_DENSE && part.flags & OBJECT_NEG;
  out->has_strides = (part.flags & OBJECT_STRIDED)!=0;
  for(uint32_t d=0; d<object_strides(&part); d++){
    out->strides[d] = object_number(c, at, part.rank+d);
  }
  if( part.flags & OBJECT_TYPED ){
    zt_text storage;
    object_decode_type(c, &part, &storage, &out->type);
    if( !out->type.z ) out->type = storage;
  }
  if( part.attributes ) zt_manifest_set_map(&out->attributes, part.attributes, 0);
}

/* Fields of compressed records, and of kept bytes. */
static void object_decode_encoding(const zt_container *c, const torch_part *part,
                                   zt_component *out){
  const char *name = (const char*)c->kept.p+part->encoding;
  if( part->codec==ZT_CODEC_KEPT ){
    out->encoding = part->encoding ? (zt_text){ name, strlen(name) } : ZT_TEXT("pickle");
    out->codec = ZT_CODEC_KEPT;
    out->kept = c->kept.p+part->kept;
    out->has_decoded_length = true;
    out->decoded_length = part->bytes;
  }else if( part->encoding ){
    out->encoding = (zt_text){ name, strlen(name) };
    out->codec = part->codec;
    out->skip = part->skip;
    out->behind = part->behind;
    out->has_decoded_length = !out->unsized;
    out->decoded_length = part->bytes;
  }
}

void zt_torch_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                        zt_component *out){
  torch_part part;
  (void)i;
  object_at(c, c->components.a[k], &part);
  out->role = object_roles[part.role];
  if( want==ZT_COMPONENT_ROLE ) return;
  object_decode_type(c, &part, &out->dtype, &out->type);
  zt_dtype_decide(out);
  if( part.flags & OBJECT_BIG ) out->byte_order = ZT_TEXT("big");
  out->mixed = (part.flags & OBJECT_MIXED)!=0;
  out->least = part.least;
  out->unsized = (part.flags & OBJECT_UNSIZED)!=0;
  out->scattered = (part.flags & OBJECT_LOST)!=0;
  out->offset = part.offset;
  out->length = out->unsized ? 0 : part.length;
  if( part.fault ){
    out->fault_rule = part.rule;
    out->fault = (const char*)c->kept.p+part.fault;
  }
  object_decode_encoding(c, &part, out);
}
