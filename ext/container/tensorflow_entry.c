/* Entries of a TensorFlow checkpoint's index. See tensorflow.h; tensorflow.c has the grammar. */
#include "container/tensorflow.h"

#include "container/leveldb_table.h"
#include "core/protobuf.h"

#define TENSORFLOW_VARINT 10   /* Bytes, at most */
#define TENSORFLOW_UNRANKED UINT8_MAX

/* --- Usual messages: known fields, in short tags --- */

/* False if the varint does not end within the bytes, or within 64 bits. */
ZT_INLINE bool tensorflow_varint(const uint8_t **p, const uint8_t *end, uint64_t *out){
  if( *p<end && **p<0x80 ){
    *out = *(*p)++;
    return true;
  }
  *out = 0;
  for(unsigned shift=0; *p<end && shift<64; shift+=7){
    const uint8_t byte = *(*p)++;
    if( shift==63 && byte>1 ) return false;
    *out |= (uint64_t)(byte & 0x7F) << shift;
    if( byte<0x80 ) return true;
  }
  return false;
}

/* A length-delimited field's end; NULL if it goes beyond `end`. */
ZT_INLINE const uint8_t *tensorflow_inner(const uint8_t **p, const uint8_t *end){
  uint64_t n;
  return tensorflow_varint(p, end, &n) && n<=(uint64_t)(end-*p) ? *p+n : NULL;
}

static bool tensorflow_fast_shape(const uint8_t *p, const uint8_t *end, zt_tensorflow_entry *out){
  while( p<end ){
    const uint8_t *dim_end;
    uint64_t size = 0;
    if( *p++!=(2<<3 | ZT_WIRE_BYTES) || (dim_end = tensorflow_inner(&p, end))==NULL
     || out->rank==ZT_MAX_RANK ) return false;
    if( p<dim_end && (*p++!=(1<<3 | ZT_WIRE_VARINT) || !tensorflow_varint(&p, dim_end, &size)) ){
      return false;
    }
    if( p!=dim_end ) return false;
    out->shape[out->rank++] = (int64_t)size;
  }
  return true;
}

static void tensorflow_clear(zt_tensorflow_entry *out){
  out->type = out->shard = out->offset = out->size = 0;
  out->rank = out->slices = out->crc = 0;
  out->ranked = true;
  out->has_crc = false;
}

static void tensorflow_set_number(uint32_t field, uint64_t u, zt_tensorflow_entry *out){
  switch( field ){
    case 1: out->type = (int32_t)(uint32_t)u; break;
    case 3: out->shard = (int32_t)(uint32_t)u; break;
    case 4: out->offset = (int64_t)u; break;
    case 5: out->size = (int64_t)u; break;
    default: break;
  }
}

/* False if there is anything unusual, which may be a fault. */
static bool tensorflow_fast(zt_span value, zt_tensorflow_entry *out){
  const uint8_t *p = value.p, *const end = value.p+value.n, *inner;
  uint64_t u;
  tensorflow_clear(out);
  while( p<end ){
    const unsigned tag = *p++;
    switch( tag ){
      case 1<<3: case 3<<3: case 4<<3: case 5<<3:
        if( !tensorflow_varint(&p, end, &u) ) return false;
        tensorflow_set_number(tag>>3, u, out);
        break;
      case 2<<3 | ZT_WIRE_BYTES:
        inner = tensorflow_inner(&p, end);
        if( !inner || !tensorflow_fast_shape(p, inner, out) ) return false;
        p = inner;
        break;
      case 6<<3 | ZT_WIRE_FIXED32:
        if( end-p<4 ) return false;
        out->has_crc = true;
        out->crc = zt_le32(p);
        p += 4;
        break;
      default:
        return false;
    }
  }
  return true;
}

/* --- Any message --- */

static void tensorflow_read_dim(zt_protobuf *in, zt_message m, zt_tensorflow_entry *out){
  int64_t size = 0;
  zt_wire_field f;
  while( zt_protobuf_next(in, &m, &f) ){
    if( f.number==1 && f.type==ZT_WIRE_VARINT ) size = (int64_t)f.value;
  }
  if( out->rank==ZT_MAX_RANK ) out->ranked = false;
  else out->shape[out->rank++] = size;
}

static void tensorflow_read_shape(zt_protobuf *in, zt_message m, zt_tensorflow_entry *out){
  zt_wire_field f;
  while( zt_protobuf_next(in, &m, &f) ){
    if( f.number==2 && f.type==ZT_WIRE_BYTES ) tensorflow_read_dim(in, f.bytes, out);
    else if( f.number==3 && f.type==ZT_WIRE_VARINT && f.value ) out->ranked = false;
  }
}

int zt_tensorflow_read(zt_span value, const zt_interrupt *interrupt, zt_tensorflow_entry *out,
                       zt_error *err){
  zt_message all = { 0, value.n };
  zt_protobuf in;
  zt_wire_field f;
  if( tensorflow_fast(value, out) ) return SQLITE_OK;
  tensorflow_clear(out);
  zt_protobuf_open_bytes(value, interrupt, &in, err);
  while( zt_protobuf_next(&in, &all, &f) ){
    if( f.type==ZT_WIRE_VARINT ) tensorflow_set_number(f.number, f.value, out);
    else if( f.number==2 && f.type==ZT_WIRE_BYTES ) tensorflow_read_shape(&in, f.bytes, out);
    else if( f.number==7 && f.type==ZT_WIRE_BYTES ) out->slices++;
    else if( f.number==6 && f.type==ZT_WIRE_FIXED32 ){
      out->has_crc = true;
      out->crc = (uint32_t)f.value;
    }
  }
  zt_protobuf_close(&in);
  if( !out->ranked ) out->rank = 0;
  return err->rc;
}

/* --- Items --- */

/* An item begins with this, and the shape's dimensions and the key follow. */
typedef struct tensorflow_head {
  int64_t offset, size;
  int32_t type, shard;
  uint32_t key;            /* Bytes, */
  uint16_t shape;          /* at most ZT_MAX_RANK*TENSORFLOW_VARINT */
  uint8_t rank;            /* TENSORFLOW_UNRANKED: not ranked */
  uint8_t fault;           /* Of slices: a ZT_SLICES_ */
  uint32_t slices;
  char digest[ZT_TENSORFLOW_DIGEST+1];   /* Empty: none */
} tensorflow_head;

/* Write the digest's text, unmasked. */
static void tensorflow_put_digest(uint32_t masked, char *out){
  static const char digits[] = "0123456789abcdef";
  const uint32_t rotated = masked-ZT_LEVELDB_MASK;
  uint32_t crc = rotated>>17 | rotated<<15;
  memcpy(out, "crc32c:", 7);
  for(unsigned i=ZT_TENSORFLOW_DIGEST; i-->7; crc>>=4) out[i] = digits[crc & 15];
  out[ZT_TENSORFLOW_DIGEST] = 0;
}

/* Write the dimensions as varints, which are no longer than in the message. Their number of
** bytes. */
static size_t tensorflow_put_shape(const zt_tensorflow_entry *e, uint8_t *out){
  size_t n = 0;
  for(uint32_t d=0; d<e->rank; d++){
    uint64_t u = (uint64_t)e->shape[d];
    for(; u>=0x80; u>>=7) out[n++] = (uint8_t)(u | 0x80);
    out[n++] = (uint8_t)u;
  }
  return n;
}

int zt_tensorflow_keep(zt_builder *b, zt_span key, const zt_tensorflow_entry *e, bool digest,
                       uint8_t fault, uint32_t *at){
  uint8_t shape[ZT_MAX_RANK*TENSORFLOW_VARINT], *p;
  tensorflow_head head = { 0 };   /* With the bytes between its fields */
  head.offset = e->offset;
  head.size = e->size;
  head.type = (int32_t)e->type;
  head.shard = (int32_t)e->shard;
  head.key = (uint32_t)key.n;
  head.shape = (uint16_t)tensorflow_put_shape(e, shape);
  head.slices = e->slices;
  head.rank = e->ranked ? (uint8_t)e->rank : TENSORFLOW_UNRANKED;
  head.fault = fault;
  if( digest && e->has_crc ) tensorflow_put_digest(e->crc, head.digest);
  if( zt_builder_room(b, sizeof(head)+head.shape+key.n, at) ) return b->err->rc;
  p = b->container->kept.p+*at;
  memcpy(p, &head, sizeof(head));
  memcpy(p+sizeof(head), shape, head.shape);
  memcpy(p+sizeof(head)+head.shape, key.p, key.n);
  return SQLITE_OK;
}

static const uint8_t *tensorflow_head_at(const zt_container *c, size_t at, tensorflow_head *head,
                                         zt_tensorflow_item *out){
  const uint8_t *p = c->kept.p+at, *shape = p+sizeof(*head);
  memcpy(head, p, sizeof(*head));
  out->digest = (zt_text){ (const char*)p+offsetof(tensorflow_head, digest), ZT_TENSORFLOW_DIGEST };
  if( !head->digest[0] ) out->digest.z = NULL;
  out->type = head->type;
  out->sliced = head->slices>0;
  out->fault = head->fault;
  out->key = (zt_span){ shape+head->shape, head->key };
  out->end = at+sizeof(*head)+head->shape+head->key;
  return shape;
}

void zt_tensorflow_item_at(const zt_container *c, size_t at, zt_tensorflow_item *out){
  tensorflow_head head;
  tensorflow_head_at(c, at, &head, out);
}

void zt_tensorflow_entry_at(const zt_container *c, size_t at, zt_tensorflow_item *item,
                            zt_tensorflow_entry *out){
  tensorflow_head head;
  const uint8_t *p = tensorflow_head_at(c, at, &head, item), *const end = p+head.shape;
  out->type = head.type;
  out->shard = head.shard;
  out->offset = head.offset;
  out->size = head.size;
  out->slices = head.slices;
  out->ranked = head.rank!=TENSORFLOW_UNRANKED;
  out->rank = out->ranked ? head.rank : 0;
  for(uint32_t d=0; d<out->rank; d++){
    uint64_t u;
    tensorflow_varint(&p, end, &u);
    out->shape[d] = (int64_t)u;
  }
}
