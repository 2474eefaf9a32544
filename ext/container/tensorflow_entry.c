/* Entries of a TensorFlow checkpoint's index. See tensorflow.h; tensorflow.c has the grammar. */
#include "container/tensorflow.h"

#include "container/leveldb_table.h"
#include "core/protobuf.h"

#define TENSORFLOW_HEAD (8+ZT_TENSORFLOW_DIGEST+1)   /* Bytes of an item before the key */

#define TENSORFLOW_SLICED 0x80   /* In the last byte of it */

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

/* Write the digest's text, unmasked. */
static void tensorflow_put_digest(uint32_t masked, uint8_t *out){
  static const char digits[] = "0123456789abcdef";
  const uint32_t rotated = masked-ZT_LEVELDB_MASK, crc = rotated>>17 | rotated<<15;
  memcpy(out, "crc32c:", 7);
  for(int i=0; i<8; i++) out[7+i] = (uint8_t)digits[crc>>(28-4*i) & 15];
}

int zt_tensorflow_keep(zt_builder *b, zt_span key, zt_span value, const zt_tensorflow_entry *entry,
                       bool digest, uint8_t fault, uint32_t *at){
  const uint32_t sizes[2] = { (uint32_t)key.n, (uint32_t)value.n };
  uint8_t head[TENSORFLOW_HEAD] = { 0 };
  uint32_t unused;
  memcpy(head, sizes, sizeof(sizes));
  if( digest && entry->has_crc ) tensorflow_put_digest(entry->crc, head+sizeof(sizes));
  head[TENSORFLOW_HEAD-1] = entry->slices ? TENSORFLOW_SLICED|fault : 0;
  if( zt_builder_keep(b, head, sizeof(head), at)
   || zt_builder_keep(b, key.p, key.n, &unused) ) return b->err->rc;
  return zt_builder_keep(b, value.p, value.n, &unused);
}

void zt_tensorflow_item_at(const zt_container *c, size_t at, zt_tensorflow_item *out){
  const uint8_t *p = c->kept.p+at;
  uint32_t sizes[2];
  memcpy(sizes, p, sizeof(sizes));
  out->digest = (zt_text){ p[8] ? (const char*)p+8 : NULL, ZT_TENSORFLOW_DIGEST };
  out->sliced = (p[TENSORFLOW_HEAD-1] & TENSORFLOW_SLICED)!=0;
  out->fault = p[TENSORFLOW_HEAD-1] & (TENSORFLOW_SLICED-1);
  out->key = (zt_span){ p+TENSORFLOW_HEAD, sizes[0] };
  out->value = (zt_span){ out->key.p+sizes[0], sizes[1] };
  out->end = at+TENSORFLOW_HEAD+sizes[0]+sizes[1];
}

void zt_tensorflow_entry_at(const zt_container *c, size_t at, zt_tensorflow_item *item,
                            zt_tensorflow_entry *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_tensorflow_item_at(c, at, item);
  zt_tensorflow_read(item->value, NULL, out, &unused);
  assert( !unused.rc );
}
