/*
** The encodings protobuf.varint and protobuf.unpacked: the numbers of a field in a message of
** protobuf's wire format (core/protobuf.h), whose rules apply too.
**
**   protobuf.varint     the bytes of a packed field: consecutive varints
**   protobuf.unpacked   a message: all its fields of the component's number, packed or not
**
** Decoding makes little-endian elements of the component's dtype. The message has integers of 32
** bits and less, and the bits of other types of 16 bits and less, as int32; other types have their
** own width. An int32 is sign-extended to 64 bits, or has 32 bits.
**
**   PB4  the dtype holds each number
**   PB5  packed floats are whole
*/
#include <assert.h>
#include "container/dtype.h"
#include "core/host.h"
#include "core/protobuf.h"
#include "tensor/encoding.h"

#define VARINT_MAX ((size_t)8)     /* Bytes of the widest element */

typedef struct varint {
  const zt_encoding *encoding;
  zt_protobuf in;
  zt_message message;      /* The rest of the message */
  zt_message packed;       /* The rest of the current packed field */
  uint32_t field;
  const zt_dtype *dtype;
  uint64_t element;        /* The next element's number */
  uint8_t pending[VARINT_MAX];   /* The last element; its last `remaining` bytes are next */
  unsigned remaining;
} varint;

/* True if the dtype holds the number; its low bytes are then the element. */
static bool varint_fits(const zt_dtype *d, uint64_t u){
  const bool is_signed = d->class==ZT_INT;
  const int64_t i = (int64_t)u;
  const unsigned bits = 8*d->unit;
  int64_t n;
  if( bits==64 ) return true;
  if( d->id==ZT_DTYPE_u32 ) return u<=UINT32_MAX;
  if( i<INT32_MIN || i>(int64_t)UINT32_MAX ) return false;
  n = i<=INT32_MAX ? i : i-((int64_t)1<<32);
  if( is_signed ) return n>=-((int64_t)1<<(bits-1)) && n<(int64_t)1<<(bits-1);
  return n>=0 && n<(int64_t)1<<bits;
}

static bool varint_put(varint *d, uint64_t u, bool fixed){
  const zt_dtype *dtype = d->dtype;
  if( !fixed && !varint_fits(dtype, u) ){
    zt_break(d->in.err, "PB4", "%s: number %llu is %lld, which does not fit %s", d->encoding->name,
             d->element, (sqlite3_int64)u, dtype->name);
    return false;
  }
  d->remaining = dtype->unit;
  for(unsigned i=0; i<d->remaining; i++) d->pending[VARINT_MAX-d->remaining+i] = (uint8_t)(u>>8*i);
  d->element++;
  return true;
}

/* Floats of 32 and 64 bits are no varints. */
static bool varint_is_fixed(const zt_dtype *dtype){
  return dtype->class==ZT_FLOAT && dtype->unit>=4;
}

/* Read the next number. False at the end, and after a failure. */
static bool varint_read(varint *d){
  const bool fixed = varint_is_fixed(d->dtype);
  const unsigned width = d->dtype->unit;
  const unsigned type = !fixed ? ZT_WIRE_VARINT : width==4 ? ZT_WIRE_FIXED32 : ZT_WIRE_FIXED64;
  uint64_t u = 0;
  zt_wire_field f;
  for(;;){
    if( fixed ? zt_protobuf_fixed(&d->in, &d->packed, width, &u)
              : zt_protobuf_varint(&d->in, &d->packed, &u) ) return varint_put(d, u, fixed);
    if( d->in.err->rc || !zt_protobuf_next(&d->in, &d->message, &f) ) return false;
    if( f.number!=d->field ) continue;
    if( f.type==type ) return varint_put(d, f.value, fixed);
    if( f.type==ZT_WIRE_BYTES ) d->packed = f.bytes;
    if( f.type!=ZT_WIRE_BYTES || !fixed || (f.bytes.end-f.bytes.at)%width==0 ) continue;
    zt_break(d->in.err, "PB5", "%s: %llu bytes are no whole number of %s elements",
             d->encoding->name, f.bytes.end-f.bytes.at, d->dtype->name);
    return false;
  }
}

static int varint_open(const zt_payload *p, zt_decoder **out, zt_error *err){
  const zt_component *component = p->component;
  const zt_message all = { component->offset, component->offset+component->length };
  varint *d;
  *out = NULL;
  assert( component->storage );
  d = sqlite3_malloc64(sizeof(*d));
  if( !d ) return zt_fail_nomem(err);
  *d = (varint){ .field = component->field, .dtype = component->storage };
  if( component->codec==ZT_CODEC_PROTOBUF_VARINT ){
    d->encoding = &zt_encoding_varint;
    d->packed = all;
  }else{
    d->encoding = &zt_encoding_unpacked;
    d->message = all;
  }
  zt_protobuf_open(p->source, &p->budget->interrupt, &d->in, err);
  *out = d;
  return SQLITE_OK;
}

static int varint_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  varint *d = decoder;
  d->in.err = err;
  *got = 0;
  while( *got<n && (d->remaining || varint_read(d)) ){
    const size_t m = n-*got<d->remaining ? n-*got : d->remaining;
    memcpy(out+*got, d->pending+VARINT_MAX-d->remaining, m);
    d->remaining -= (unsigned)m;
    *got += m;
  }
  return err->rc;
}

static void varint_close(zt_decoder *decoder){
  varint *d = decoder;
  zt_protobuf_close(&d->in);
  sqlite3_free(d);
}

const zt_encoding zt_encoding_varint = {
  .name = "protobuf.varint", .open = varint_open, .next = varint_next, .close = varint_close
};

const zt_encoding zt_encoding_unpacked = {
  .name = "protobuf.unpacked", .open = varint_open, .next = varint_next, .close = varint_close
};
