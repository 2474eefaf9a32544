/* Arrays of msgpack as objects. See msgpack_array.h; rule numbers: msgpack.c. */
#include "container/msgpack_array.h"

#include <assert.h>
#include "container/dtype.h"
#include "container/manifest.h"
#include "container/npy.h"
#include "core/host.h"
#include "core/utf8.h"

#define MSGPACK_EXT_ARRAY 1
#define MSGPACK_DTYPE_MAX 64      /* Bytes of a dtype's name */
#define MSGPACK_DIGITS_MAX 10     /* Of an index */
#define MSGPACK_FIELD_MAX 256     /* Bytes of a text in a list of records */
#define MSGPACK_RECORDS_MAX 16    /* Levels of such a list */

static const char msgpack_not_an_array[] = "its extension is not a shape, a dtype and bytes";

/* What is known of an array. */
typedef struct msgpack_array {
  const char *rule, *fault;       /* Static; NULL: none */
  zt_msgpack_range data;
  uint64_t shape[ZT_MAX_RANK];
  uint64_t rank;                  /* Above ZT_MAX_RANK, there is no shape */
  char dtype[MSGPACK_DTYPE_MAX];
  uint32_t dtype_length;          /* 0: unknown */
  bool chunked, numpy, file;
  zt_span descr;                  /* CBOR; of numpy. dtype is its text; without one it has fields */
  uint32_t pieces, chunks;        /* Position of the list in the kept bytes, and their number */
  uint64_t decoded;               /* Bytes of all chunks */
} msgpack_array;

/* A kept object, followed by its dimensions. */
typedef struct msgpack_object {
  uint64_t offset, length;        /* Of plain bytes; of chunks 0 and the bytes of all */
  const char *rule, *fault;       /* Static; NULL: none */
  uint32_t attributes;            /* Position, from the state's items on */
  uint32_t rank;
  uint32_t dtype, dtype_length;   /* The name in the kept bytes */
  uint32_t pieces, chunks;
  bool chunked, numpy, file, unshaped, unsized;
} msgpack_object;

/* --- Reading --- */

bool zt_msgpack_may_keep(zt_msgpack_scan *s, uint64_t n){
  const uint64_t kept = (uint64_t)s->b->container->kept.n+s->items.n+s->path.n+s->kept;
  if( s->err->rc ) return false;
  if( kept<=s->most && n<=s->most-kept ) return true;
  zt_break(s->err, "MP9", "names and what is shown as text take more than %llu bytes",
           (unsigned long long)s->most);
  return false;
}

bool zt_msgpack_push(zt_msgpack_scan *s, zt_msgpack_range bytes, zt_cbor_out *out){
  uint8_t piece[512];
  while( bytes.at<bytes.end && !s->err->rc ){
    const uint64_t left = bytes.end-bytes.at;
    const size_t n = left<sizeof(piece) ? (size_t)left : sizeof(piece);
    if( !zt_pages_read(&s->in, bytes.at, n, piece) ) return false;
    zt_cbor_put_items(out, (zt_span){ piece, n });
    bytes.at += n;
  }
  return !s->err->rc;
}

bool zt_msgpack_fail_end(zt_msgpack_scan *s, uint64_t at){
  zt_break(s->err, "MP2", "byte %llu: an array or map goes beyond what it is in",
           (unsigned long long)at);
  return false;
}

bool zt_msgpack_is_key(zt_pages *p, const zt_msgpack_item *item, const char *text){
  char bytes[sizeof(ZT_MSGPACK_CHUNKED)];   /* The longest one */
  const size_t n = strlen(text);
  return zt_msgpack_is_string(item) && item->n==n && !p->err->rc
      && zt_pages_read(p, item->bytes.at, n, bytes) && memcmp(bytes, text, n)==0;
}

bool zt_msgpack_note_mark(zt_msgpack_scan *s, bool *noted, const char *text, uint64_t at){
  if( *noted ) return true;
  *noted = true;
  return zt_builder_note_file(s->b, "MP10", text, at)==SQLITE_OK;
}

void zt_msgpack_try(zt_pages *p, zt_msgpack_trial *trial){
  trial->outer = p->err;
  if( p->err->rc ) trial->error = ZT_ERROR_NONE;   /* Its message is of one error */
  else trial->error = *p->err;                     /* Its place */
  p->err = &trial->error;
}

void zt_msgpack_tried(zt_pages *p, zt_msgpack_trial *trial){
  zt_error *err = trial->outer, *e = &trial->error;
  p->err = err;
  if( err->rc || !e->rc || zt_error_is_of_file(e) ) zt_error_clear(e);
  else *err = *e;
}

/* Read a shape. False: it is none. */
static bool msgpack_read_shape(zt_msgpack_scan *s, zt_msgpack_range *in, msgpack_array *out){
  zt_msgpack_item item;
  if( !zt_msgpack_next(&s->in, in, &item) || item.type!=ZT_MSGPACK_ARRAY ) return false;
  out->rank = item.n;
  for(uint64_t i=0; i<out->rank; i++){
    if( !zt_msgpack_next(&s->in, in, &item) || item.type!=ZT_MSGPACK_UINT ) return false;
    if( i<ZT_MAX_RANK ) out->shape[i] = item.n;
  }
  return true;
}

/* Read a dtype's name, which older writers have as bytes. False: it is none. */
static bool msgpack_read_dtype(zt_msgpack_scan *s, zt_msgpack_range *in, msgpack_array *out){
  zt_msgpack_item item;
  if( !zt_msgpack_next(&s->in, in, &item) || item.n==0 || item.n>MSGPACK_DTYPE_MAX
   || (item.type!=ZT_MSGPACK_TEXT && item.type!=ZT_MSGPACK_BYTES)
   || !zt_pages_read(&s->in, item.bytes.at, (size_t)item.n, out->dtype) ) return false;
  out->dtype_length = (uint32_t)item.n;
  return zt_utf8_valid((const uint8_t*)out->dtype, out->dtype_length)
      && !zt_has_nul(out->dtype, out->dtype_length);
}

/* MP6. Read the items of an extension; false: it is not an array, or has a part of one. */
static bool msgpack_read_array(zt_msgpack_scan *s, zt_msgpack_range in, msgpack_array *out){
  zt_msgpack_trial trial;
  zt_msgpack_item item;
  bool sound;
  zt_msgpack_try(&s->in, &trial);
  sound = zt_msgpack_next(&s->in, &in, &item) && item.type==ZT_MSGPACK_ARRAY && item.n==3
       && msgpack_read_shape(s, &in, out) && msgpack_read_dtype(s, &in, out)
       && zt_msgpack_next(&s->in, &in, &item)
       && (item.type==ZT_MSGPACK_BYTES || item.type==ZT_MSGPACK_TEXT) && in.at==in.end;
  zt_msgpack_tried(&s->in, &trial);
  out->data = item.bytes;
  return sound;
}

/* The type of a name in numpy; NULL: unknown. numpy has one element in each byte, whatever its
** bits. */
static const zt_dtype *msgpack_type(const char *name, uint32_t n){
  const zt_dtype *type = zt_dtype_long((zt_text){ name, n });
  return type && !zt_dtype_is_packed(type) ? type : NULL;
}

/* --- Scalars --- */

/* Append a little-endian float of width bytes, in CBOR's form. */
static void msgpack_put_float(zt_cbor_out *o, const uint8_t *p, unsigned width){
  uint8_t bytes[9] = { width==2 ? 0xF9 : width==4 ? 0xFA : 0xFB };
  for(unsigned i=0; i<width; i++) bytes[1+i] = p[width-1-i];
  zt_cbor_put_items(o, (zt_span){ bytes, 1+(size_t)width });
}

/* False: values of the type are not shown. */
static bool msgpack_put_element(zt_cbor_out *o, const zt_dtype *type, const uint8_t *p){
  const uint64_t u = zt_le64(p), sign = (uint64_t)1 << (8*type->unit-1);
  const uint8_t wide[4] = { 0, 0, p[0], p[1] };   /* The f32 of a bf16 */
  switch( type->class ){
    case ZT_BOOL: zt_cbor_put_bool(o, u!=0); return true;
    case ZT_UINT: zt_cbor_put_uint(o, u); return true;
    case ZT_INT: zt_cbor_put_int(o, (int64_t)((u^sign)-sign)); return true;
    case ZT_COMPLEX:
      zt_cbor_put_head(o, ZT_CBOR_ARRAY, 2);
      msgpack_put_float(o, p, type->unit);
      msgpack_put_float(o, p+type->unit, type->unit);
      return true;
    default: break;
  }
  if( type->unit==1 ) return false;
  if( type->id==ZT_DTYPE_bf16 ) msgpack_put_float(o, wide, 4);
  else msgpack_put_float(o, p, type->unit);
  return true;
}

bool zt_msgpack_put_scalar(zt_msgpack_scan *s, zt_msgpack_range in, zt_cbor_out *out){
  msgpack_array array = { .rank = 0 };
  uint8_t bytes[16] = { 0 };
  const zt_dtype *type;
  uint64_t n;
  if( !msgpack_read_array(s, in, &array) || array.rank>0 ) return false;
  type = msgpack_type(array.dtype, array.dtype_length);
  n = array.data.end-array.data.at;
  assert( !type || type->width<=sizeof(bytes) );
  return type && n==type->width
      && zt_pages_read(&s->in, array.data.at, (size_t)n, bytes)
      && msgpack_put_element(out, type, bytes);
}

/* --- Objects --- */

static void msgpack_array_key(zt_msgpack_scan *s, const char *key){
  zt_cbor_put_text(&s->items, (zt_text){ key, strlen(key) });
}

/* Append an object's item; returns the position of its attributes. */
static size_t msgpack_put_item(zt_msgpack_scan *s, zt_text name, const msgpack_array *array){
  const uint64_t rank = array->rank<=ZT_MAX_RANK ? array->rank : 0;
  size_t attributes;
  zt_cbor_put_head(&s->items, ZT_CBOR_MAP, 3);
  msgpack_array_key(s, "name");
  zt_cbor_put_text(&s->items, name);
  msgpack_array_key(s, "shape");
  zt_cbor_put_head(&s->items, ZT_CBOR_ARRAY, rank);
  for(uint64_t i=0; i<rank; i++) zt_cbor_put_uint(&s->items, array->shape[i]);
  msgpack_array_key(s, "attributes");
  attributes = s->items.n;
  zt_cbor_put_head(&s->items, ZT_CBOR_MAP, array->numpy ? 1
                                         : 0u+(array->dtype_length>0)+array->chunked);
  if( array->numpy ){
    msgpack_array_key(s, "descr");
    zt_cbor_put_items(&s->items, array->descr);
  }else if( array->dtype_length ){
    msgpack_array_key(s, "dtype");
    zt_cbor_put_text(&s->items, (zt_text){ array->dtype, array->dtype_length });
  }
  if( array->chunked ){
    msgpack_array_key(s, "chunks");
    zt_cbor_put_uint(&s->items, array->chunks);
  }
  return attributes;
}

/* MP7; NULL: no fault. */
static const char *msgpack_shape_fault(const msgpack_array *array){
  zt_object object = { .rank = (uint32_t)array->rank };
  if( array->rank>ZT_MAX_RANK ) return "it has more than 64 dimensions";
  memcpy(object.shape, array->shape, sizeof(object.shape));
  return zt_object_count(&object) ? NULL : "the product of its dimensions does not fit 64 bits";
}

/* Keep an object with its dimensions, dtype and name. */
static bool msgpack_keep_object(zt_msgpack_scan *s, zt_text name, const msgpack_array *array,
                                msgpack_object *object){
  const zt_container *c = s->b->container;
  uint32_t at, text;
  bool duplicate;
  if( zt_builder_keep(s->b, array->dtype, array->dtype_length, &object->dtype)
   || zt_builder_keep(s->b, object, sizeof(*object), &at)
   || zt_builder_keep(s->b, array->shape, 8*(size_t)object->rank, &text)
   || zt_builder_keep(s->b, name.z, name.n, &text) ) return false;
  return !zt_builder_object(s->b, (zt_text){ (const char*)c->kept.p+text, name.n }, at, &duplicate)
      && !zt_builder_component(s->b, at);
}

/* Add an object named by the path, with a number behind it if it repeats. */
static bool msgpack_add_object(zt_msgpack_scan *s, const msgpack_array *array){
  const zt_container *c = s->b->container;
  const char *fault = array->fault ? NULL : msgpack_shape_fault(array);
  zt_text name = zt_msgpack_path(s);
  msgpack_object object;
  memset(&object, 0, sizeof(object));   /* Its padding is kept, too */
  object.offset = array->chunked ? 0 : array->data.at;
  object.length = array->chunked ? array->decoded : array->data.end-array->data.at;
  object.rule = fault ? "MP7" : array->rule;
  object.fault = fault ? fault : array->fault;
  object.dtype_length = array->dtype_length;
  object.pieces = array->pieces;
  object.chunks = array->chunks;
  object.chunked = array->chunked;
  object.numpy = array->numpy;
  object.unsized = array->fault!=NULL;
  object.file = array->file;
  object.unshaped = object.fault!=NULL || array->file;
  object.rank = object.unshaped ? 0 : (uint32_t)array->rank;
  if( !zt_msgpack_may_keep(s, 2*(uint64_t)name.n+1024) ) return false;
  if( zt_container_find(c, name)>=0
   && zt_renamed_name(&s->repeats, &c->names, c->kept.p, name, &name, s->err) ) return false;
  object.attributes = (uint32_t)msgpack_put_item(s, name, array);
  return !s->err->rc && msgpack_keep_object(s, name, array, &object);
}

bool zt_msgpack_add_array(zt_msgpack_scan *s, zt_msgpack_range in){
  msgpack_array array = { .rank = 0 };
  if( !msgpack_read_array(s, in, &array) ){
    array = (msgpack_array){ .rule = "MP6", .fault = msgpack_not_an_array };
  }
  return !s->err->rc && msgpack_add_object(s, &array);
}

/* --- Arrays in chunks --- */

/* Where the values of the keys are. at 0: nowhere. */
typedef struct msgpack_chunked {
  zt_msgpack_range shape, chunks;
  bool more;                      /* There are other keys, or one of them repeats */
} msgpack_chunked;

/* True for a key of flax with that text. */
static bool msgpack_is_key(zt_msgpack_scan *s, const zt_msgpack_item *item, const char *text){
  return item->type==ZT_MSGPACK_TEXT && zt_msgpack_is_key(&s->in, item, text);
}

bool zt_msgpack_is_chunked(zt_msgpack_scan *s, zt_msgpack_range in, const zt_msgpack_item *map){
  zt_msgpack_item key;
  return map->type==ZT_MSGPACK_MAP && zt_msgpack_next(&s->in, &in, &key)
      && msgpack_is_key(s, &key, ZT_MSGPACK_CHUNKED);
}

/* Find the values, and move behind the map. */
static bool msgpack_find_values(zt_msgpack_scan *s, zt_msgpack_range *in, uint64_t pairs,
                                int depth, msgpack_chunked *out){
  zt_msgpack_range mark = { 0, 0 };
  zt_msgpack_item key, value;
  *out = (msgpack_chunked){ { 0, 0 }, { 0, 0 }, false };
  for(uint64_t i=0; i<pairs; i++){
    zt_msgpack_range *place = NULL;
    if( !zt_msgpack_next(&s->in, in, &key) || !zt_msgpack_skip(&s->in, in, &key, depth+1) ){
      return zt_msgpack_fail_end(s, in->at);
    }
    if( msgpack_is_key(s, &key, ZT_MSGPACK_CHUNKED) ) place = &mark;
    if( msgpack_is_key(s, &key, "shape") ) place = &out->shape;
    if( msgpack_is_key(s, &key, "chunks") ) place = &out->chunks;
    if( !zt_msgpack_next(&s->in, in, &value) || !zt_msgpack_skip(&s->in, in, &value, depth+1) ){
      return zt_msgpack_fail_end(s, in->at);
    }
    out->more |= !place || place->at>0;
    if( place ) *place = (zt_msgpack_range){ value.at, in->at };
  }
  return !s->err->rc;
}

/* Read the next key as an index below n, in decimal. */
static bool msgpack_read_index(zt_msgpack_scan *s, zt_msgpack_range *in, uint64_t n,
                               uint64_t *out){
  zt_msgpack_item key;
  char digits[MSGPACK_DIGITS_MAX];
  *out = 0;
  if( !zt_msgpack_next(&s->in, in, &key) || key.type!=ZT_MSGPACK_TEXT || key.n==0
   || key.n>sizeof(digits) || !zt_pages_read(&s->in, key.bytes.at, (size_t)key.n, digits) ){
    return false;
  }
  for(size_t i=0; i<key.n; i++){
    if( digits[i]<'0' || digits[i]>'9' ) return false;
    *out = 10*(*out)+(uint64_t)(digits[i]-'0');
  }
  return *out<n && (key.n==1 || digits[0]!='0');
}

/* Read the map of dimensions. False: not all are there. */
static bool msgpack_read_dimensions(zt_msgpack_scan *s, zt_msgpack_range in, msgpack_array *out){
  uint64_t seen = 0, i;
  zt_msgpack_item item;
  if( !zt_msgpack_next(&s->in, &in, &item) || item.type!=ZT_MSGPACK_MAP ) return false;
  out->rank = item.n;
  if( out->rank>ZT_MAX_RANK ) return true;
  for(uint64_t k=0; k<out->rank; k++){
    if( !msgpack_read_index(s, &in, out->rank, &i) || (seen>>i & 1)
     || !zt_msgpack_next(&s->in, &in, &item) || item.type!=ZT_MSGPACK_UINT ) return false;
    seen |= (uint64_t)1 << i;
    out->shape[i] = item.n;
  }
  return true;
}

/* Set the piece of chunk i. False: it is there twice. */
static bool msgpack_set_piece(zt_msgpack_scan *s, const msgpack_array *array, uint64_t i,
                              zt_msgpack_range data){
  uint8_t *p = s->b->container->kept.p+array->pieces+i*sizeof(zt_piece);
  zt_piece piece;
  memcpy(&piece, p, sizeof(piece));
  if( piece.offset ) return false;
  piece = (zt_piece){ data.at, data.end-data.at };
  memcpy(p, &piece, sizeof(piece));
  return true;
}

/* The bytes of pieces become their ends in the content. */
static void msgpack_add_pieces(zt_msgpack_scan *s, msgpack_array *array){
  for(uint32_t i=0; i<array->chunks; i++){
    uint8_t *p = s->b->container->kept.p+array->pieces+(size_t)i*sizeof(zt_piece);
    zt_piece piece;
    memcpy(&piece, p, sizeof(piece));
    array->decoded += piece.end;
    piece.end = array->decoded;
    memcpy(p, &piece, sizeof(piece));
  }
}

/* MP8: returns whether a chunk has other bytes than its own dimensions demand; NULL: it has them,
** or its dtype is unknown. */
static const char *msgpack_chunk_fault(const msgpack_array *chunk){
  const zt_dtype *type = msgpack_type(chunk->dtype, chunk->dtype_length);
  zt_object object = { .rank = (uint32_t)chunk->rank };
  uint64_t n;
  if( !type ) return NULL;
  if( chunk->rank>ZT_MAX_RANK ) return "a chunk has more than 64 dimensions";
  memcpy(object.shape, chunk->shape, sizeof(object.shape));
  return zt_object_count(&object) && zt_dtype_size(type, object.elements, &n)
      && n==chunk->data.end-chunk->data.at ? NULL : "a chunk has other bytes than its shape";
}

/* Read the map of chunks. Returns the fault; NULL: none. */
static const char *msgpack_read_chunks(zt_msgpack_scan *s, zt_msgpack_range in,
                                       msgpack_array *out){
  static const char incomplete[] = "its chunks are not all there, or not of one dtype";
  const char *fault;
  zt_msgpack_item item;
  uint64_t i;
  if( !zt_msgpack_next(&s->in, &in, &item) || item.type!=ZT_MSGPACK_MAP || item.n==0
   || !zt_msgpack_may_keep(s, item.n*sizeof(zt_piece))
   || zt_builder_keep(s->b, NULL, (size_t)item.n*sizeof(zt_piece), &out->pieces) ){
    return incomplete;
  }
  out->chunks = (uint32_t)item.n;
  for(uint32_t k=0; k<out->chunks; k++){
    msgpack_array chunk = { .rank = 0 };
    if( !msgpack_read_index(s, &in, out->chunks, &i) || !zt_msgpack_next(&s->in, &in, &item)
     || item.type!=ZT_MSGPACK_EXT || item.ext!=MSGPACK_EXT_ARRAY
     || !msgpack_read_array(s, item.bytes, &chunk)
     || !msgpack_set_piece(s, out, i, chunk.data) ) return incomplete;
    if( k==0 ){
      memcpy(out->dtype, chunk.dtype, sizeof(out->dtype));
      out->dtype_length = chunk.dtype_length;
    }else if( !zt_text_equal(((zt_text){ chunk.dtype, chunk.dtype_length }),
                             ((zt_text){ out->dtype, out->dtype_length })) ){
      return incomplete;
    }
    fault = msgpack_chunk_fault(&chunk);
    if( fault ) return fault;
  }
  msgpack_add_pieces(s, out);
  return NULL;
}

/* MP8 */
bool zt_msgpack_add_chunked(zt_msgpack_scan *s, zt_msgpack_range *in, const zt_msgpack_item *map,
                            int depth){
  msgpack_array array = { .chunked = true };
  msgpack_chunked values;
  if( depth>=ZT_MSGPACK_DEPTH ) return zt_msgpack_fail_depth(&s->in, map->at);
  if( !msgpack_find_values(s, in, map->n, depth, &values) ) return false;
  if( !msgpack_read_dimensions(s, values.shape, &array) ){
    array.fault = "its shape does not have all dimensions";
  }else{
    array.fault = msgpack_read_chunks(s, values.chunks, &array);
  }
  if( array.fault ) array.rule = "MP8";
  if( values.more
   && !zt_msgpack_note_mark(s, &s->more, "byte %llu: an array in chunks has keys whose values are"
                            " not read", map->at) ) return false;
  return !s->err->rc && msgpack_add_object(s, &array);
}

/* --- Arrays of msgpack-numpy --- */

typedef enum msgpack_numpy_key {
  MSGPACK_KEY_ND, MSGPACK_KEY_TYPE, MSGPACK_KEY_SHAPE, MSGPACK_KEY_DATA, MSGPACK_KEY_KIND,
  MSGPACK_KEY_KEYS                /* Their number */
} msgpack_numpy_key;

/* Read a key of such a map; MSGPACK_KEY_KEYS: it is none of them. */
static msgpack_numpy_key msgpack_read_numpy_key(zt_msgpack_scan *s, zt_msgpack_range *in){
  static const char *const keys[] = { ZT_MSGPACK_ND, "type", "shape", "data", "kind" };
  zt_msgpack_item item;
  int i = MSGPACK_KEY_KEYS;
  if( zt_msgpack_next(&s->in, in, &item) ){
    for(i=0; i<MSGPACK_KEY_KEYS && !zt_msgpack_is_key(&s->in, &item, keys[i]); i++){}
  }
  return (msgpack_numpy_key)i;
}

/* Append a descr: numpy's text, or lists of texts and numbers. False: it has something else. */
static bool msgpack_put_descr(zt_msgpack_scan *s, zt_msgpack_range *in, int depth,
                              zt_cbor_out *out){
  char text[MSGPACK_FIELD_MAX];
  zt_msgpack_item item;
  if( !zt_msgpack_next(&s->in, in, &item) || !zt_msgpack_may_keep(s, 2*(uint64_t)out->n) ){
    return false;
  }
  if( item.type==ZT_MSGPACK_UINT ) zt_cbor_put_uint(out, item.n);
  else if( zt_msgpack_is_string(&item) && item.n<=sizeof(text)
        && zt_pages_read(&s->in, item.bytes.at, (size_t)item.n, text) ){
    zt_cbor_put_name(out, (zt_span){ (const uint8_t*)text, (size_t)item.n });
  }else if( item.type==ZT_MSGPACK_ARRAY && depth<MSGPACK_RECORDS_MAX ){
    zt_cbor_put_head(out, ZT_CBOR_ARRAY, item.n);
    for(uint64_t i=0; i<item.n; i++){
      if( !msgpack_put_descr(s, in, depth+1, out) ) return false;
    }
  }else return false;
  return !s->err->rc;
}

/* Set the dtype of a list of one field without a name, [["", text]]: so numpy describes objects,
** and bytes without a type, which have no fields. */
static void msgpack_set_dtype(zt_cbor_out *descr, msgpack_array *out){
  static const uint8_t head[] = { 0x81, 0x82, 0x60 };   /* A list, a list of two, no text */
  const size_t n = sizeof(head)+1;
  if( descr->n<=n || memcmp(descr->p, head, sizeof(head))!=0
   || descr->n-n>=24 || descr->p[sizeof(head)]!=0x60+descr->n-n ) return;
  out->dtype_length = (uint32_t)(descr->n-n);
  memcpy(out->dtype, descr->p+n, out->dtype_length);
}

/* Read a descr. */
static bool msgpack_read_descr(zt_msgpack_scan *s, zt_msgpack_range *in, zt_cbor_out *descr,
                               msgpack_array *out){
  zt_msgpack_range text = *in;
  zt_msgpack_item item;
  if( !zt_msgpack_next(&s->in, &text, &item) ) return false;
  text = *in;
  if( item.type!=ZT_MSGPACK_ARRAY && !msgpack_read_dtype(s, &text, out) ) return false;
  if( !msgpack_put_descr(s, in, 0, descr) ) return false;
  if( item.type==ZT_MSGPACK_ARRAY ) msgpack_set_dtype(descr, out);
  return true;
}

/* Read the value of a key. False: it is not numpy's. */
static bool msgpack_read_numpy_value(zt_msgpack_scan *s, zt_msgpack_range *in,
                                     msgpack_numpy_key key, zt_cbor_out *descr,
                                     msgpack_array *out){
  zt_msgpack_item item;
  if( key==MSGPACK_KEY_TYPE ) return msgpack_read_descr(s, in, descr, out);
  if( key==MSGPACK_KEY_SHAPE ) return msgpack_read_shape(s, in, out);
  if( !zt_msgpack_next(&s->in, in, &item) ) return false;
  if( key==MSGPACK_KEY_ND ) return item.type==ZT_MSGPACK_TRUE;
  if( !zt_msgpack_is_string(&item) ) return false;
  if( key==MSGPACK_KEY_DATA ) out->data = item.bytes;
  return true;
}

/* Read a map of so many pairs. False: it is not an array, or has a part of one. */
static bool msgpack_read_numpy(zt_msgpack_scan *s, zt_msgpack_range *in, uint64_t pairs,
                               zt_cbor_out *descr, msgpack_array *out){
  unsigned seen = 0;
  for(uint64_t i=0; i<pairs; i++){
    const msgpack_numpy_key key = msgpack_read_numpy_key(s, in);
    if( key==MSGPACK_KEY_KEYS || (seen>>key & 1)
     || !msgpack_read_numpy_value(s, in, key, descr, out) ) return false;
    seen |= 1u << key;
  }
  return (seen | 1u << MSGPACK_KEY_KIND)==(1u << MSGPACK_KEY_KEYS)-1;
}

bool zt_msgpack_add_numpy(zt_msgpack_scan *s, zt_msgpack_range *in, const zt_msgpack_item *map,
                          int depth){
  msgpack_array array = { .numpy = true };
  zt_cbor_out descr = { .err = s->err };
  zt_msgpack_range rest = *in;
  zt_msgpack_trial trial;
  bool found;
  if( s->err->rc || map->type!=ZT_MSGPACK_MAP || map->n<MSGPACK_KEY_KIND || map->n>MSGPACK_KEY_KEYS
   || depth>=ZT_MSGPACK_DEPTH ) return false;
  zt_msgpack_try(&s->in, &trial);
  found = msgpack_read_numpy(s, &rest, map->n, &descr, &array);
  zt_msgpack_tried(&s->in, &trial);
  array.descr = (zt_span){ descr.p, descr.n };
  found = found && !s->err->rc && msgpack_add_object(s, &array);
  zt_cbor_out_clear(&descr);
  if( found ) *in = rest;
  return found;
}

bool zt_msgpack_add_file(zt_msgpack_scan *s, zt_msgpack_range bytes){
  const msgpack_array array = { .data = bytes, .file = true };
  return msgpack_add_object(s, &array);
}

/* --- Decoding --- */

static msgpack_object msgpack_kept(const zt_container *c, uint32_t at){
  msgpack_object object;
  memcpy(&object, c->kept.p+at, sizeof(object));
  return object;
}

/* The type of an array of msgpack-numpy. Its bytes are those of all elements. */
static zt_npy msgpack_npy(const zt_container *c, uint32_t at, const msgpack_object *object){
  const char *text = (const char*)c->kept.p+object->dtype;
  zt_object shape = { .rank = object->rank };
  zt_npy npy;
  zt_npy_describe((zt_text){ object->dtype_length ? text : NULL, object->dtype_length }, &npy);
  memcpy(shape.shape, c->kept.p+at+sizeof(*object), 8*(size_t)object->rank);
  npy.sized = npy.sized && !object->unshaped && zt_object_count(&shape);
  if( !zt_mul64(npy.bytes, shape.elements, &npy.bytes) ) npy.bytes = UINT64_MAX;
  return npy;
}

void zt_msgpack_object(const zt_container *c, uint32_t i, zt_object *out){
  const zt_msgpack_state *state = c->state;
  const msgpack_object object = msgpack_kept(c, c->objects.a[i]);
  out->format = ZT_TEXT("dense");
  out->layout = object.unshaped ? ZT_LAYOUT_UNKNOWN : ZT_LAYOUT_DENSE;
  out->unshaped = object.unshaped;
  out->rank = object.rank;
  memcpy(out->shape, c->kept.p+c->objects.a[i]+sizeof(object), 8*(size_t)object.rank);
  zt_object_count(out);
  zt_manifest_set_map(&out->attributes, state->items+object.attributes, 0);
  if( object.file ){
    out->format = ZT_TEXT("msgpack.unread");
    out->no_values = "its bytes are a file of their own, which is not read";
  }else if( object.numpy ){
    const zt_npy npy = msgpack_npy(c, c->objects.a[i], &object);
    out->format = npy.format;
    out->no_values = npy.no_values;
    if( !npy.dense ) out->layout = ZT_LAYOUT_UNKNOWN;
  }
}

void zt_msgpack_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                          zt_component *out){
  const msgpack_object object = msgpack_kept(c, c->components.a[k]);
  const char *name = (const char*)c->kept.p+object.dtype;
  const zt_dtype *type = object.numpy ? NULL : msgpack_type(name, object.dtype_length);
  (void)i;
  (void)want;
  out->role = ZT_TEXT("data");
  out->dtype = (zt_text){ object.dtype_length ? name : NULL, object.dtype_length };
  if( object.numpy ){
    const zt_npy npy = msgpack_npy(c, c->components.a[k], &object);
    zt_npy_set_type(&npy, out);
  }else if( type ){
    out->dtype = (zt_text){ type->storage, strlen(type->storage) };
    if( strcmp(type->name, type->storage)!=0 ){
      out->type = (zt_text){ type->name, strlen(type->name) };
    }
    zt_dtype_decide(out);
  }
  out->mixed |= object.file;
  out->fault_rule = object.rule;
  out->fault = object.fault;
  out->unsized = object.unsized || object.chunked;
  out->offset = out->unsized ? 0 : object.offset;
  out->length = out->unsized ? 0 : object.length;
  if( !object.chunked ) return;
  out->encoding = ZT_TEXT("msgpack.chunked");
  out->codec = ZT_CODEC_PIECES;
  out->scattered = true;
  out->kept = c->kept.p+object.pieces;
  out->pieces = object.chunks;
  out->has_decoded_length = !object.unsized;
  out->decoded_length = object.length;
}
