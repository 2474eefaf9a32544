/*
** Protobuf's wire format. See protobuf.h.
**
**   message := field*
**   field   := tag value              ; tag: a varint, number*8 + type. PB2
**   value   := varint | 8 bytes | length bytes | field* end | 4 bytes
**                                     ; by type: 0, 1, 2, 3, 5. end: a tag of the same number and
**                                     ; type 4; length: a varint. PB3
**   varint  := 0x80-0xFF* 0x00-0x7F   ; 7 bits each, the lowest first. PB1
*/
#include "core/protobuf.h"

#include "core/host.h"

#define PROTOBUF_PIECE ((size_t)4 << 10)       /* Bytes to read after a skip */
#define PROTOBUF_PIECE_MAX ((size_t)128 << 10) /* Limit as reads without a skip double them */
#define PROTOBUF_VARINT 10                     /* Bytes of the longest varint */
#define PROTOBUF_NUMBER_MAX (((uint32_t)1<<29)-1)
#define PROTOBUF_POLL 0xFFFF                   /* Fields between two checks for an interrupt */

enum { PROTOBUF_GROUP = 3, PROTOBUF_GROUP_END = 4 };

void zt_protobuf_open(zt_source *source, const zt_interrupt *interrupt, zt_protobuf *out,
                      zt_error *err){
  const zt_span image = zt_source_image(source);
  *out = (zt_protobuf){
    .source = source, .interrupt = interrupt, .err = err, .window = image.p, .n = image.n,
    .piece = PROTOBUF_PIECE
  };
}

void zt_protobuf_open_bytes(zt_span bytes, const zt_interrupt *interrupt, zt_protobuf *out,
                            zt_error *err){
  *out = (zt_protobuf){ .interrupt = interrupt, .err = err, .window = bytes.p, .n = bytes.n };
}

void zt_protobuf_close(zt_protobuf *p){
  sqlite3_free(p->owned);
  *p = (zt_protobuf){ 0 };
}

zt_message zt_protobuf_all(const zt_protobuf *p){
  return (zt_message){ 0, zt_source_size(p->source) };
}

static bool protobuf_reserve(zt_protobuf *p, size_t n){
  uint8_t *room;
  if( n<=p->capacity ) return true;
  room = sqlite3_realloc64(p->owned, n);
  if( !room ){
    zt_fail_nomem(p->err);
    return false;
  }
  p->owned = room;
  p->capacity = n;
  return true;
}

/* Reads n bytes at `at`, and more up to the size of a piece. */
static ZT_COLD bool protobuf_read(zt_protobuf *p, uint64_t at, size_t n){
  const uint64_t remaining = zt_source_size(p->source)-at;
  const bool follows = at>=p->from && at-p->from<=p->n;
  size_t piece;
  if( zt_interrupt_check(p->interrupt, p->err) ) return false;
  p->piece = !follows ? PROTOBUF_PIECE
           : p->piece<PROTOBUF_PIECE_MAX ? 2*p->piece : PROTOBUF_PIECE_MAX;
  piece = n>p->piece ? n : p->piece;
  if( piece>remaining ) piece = (size_t)remaining;
  p->n = 0;
  if( !protobuf_reserve(p, piece) ) return false;
  if( zt_source_read(p->source, at, p->owned, piece, p->err) ) return false;
  p->window = p->owned;
  p->from = at;
  p->n = piece;
  return true;
}

/* Returns n bytes at a position inside the source. NULL after a failure. */
ZT_INLINE const uint8_t *protobuf_have(zt_protobuf *p, uint64_t at, size_t n){
  if( at<p->from || at-p->from>p->n || p->n-(size_t)(at-p->from)<n ){
    if( !protobuf_read(p, at, n) ) return NULL;
  }
  return p->window+(size_t)(at-p->from);
}

/* Fails because of a field that is longer than its message. */
static ZT_COLD bool protobuf_fail_end(zt_protobuf *p, uint64_t at, const char *what){
  if( p->err->rc ) return false;
  zt_break(p->err, "PB3", "byte %llu: %s goes beyond the message that it is in",
           (unsigned long long)at, what);
  return false;
}

bool zt_protobuf_varint(zt_protobuf *p, zt_message *m, uint64_t *out){
  const uint64_t remaining = m->end-m->at;
  const size_t n = remaining<PROTOBUF_VARINT ? (size_t)remaining : PROTOBUF_VARINT;
  const uint8_t *z;
  uint64_t value = 0;
  if( n==0 || p->err->rc || (z = protobuf_have(p, m->at, n))==NULL ) return false;
  for(size_t i=0; i<n; i++){
    value |= (uint64_t)(z[i] & 0x7F) << 7*i;
    if( z[i] & 0x80 ) continue;
    if( i==PROTOBUF_VARINT-1 && z[i]>1 ) break;
    m->at += i+1;
    *out = value;
    return true;
  }
  if( n<PROTOBUF_VARINT ) return protobuf_fail_end(p, m->at, "a varint");
  zt_break(p->err, "PB1", "byte %llu: a varint of more than 64 bits", (unsigned long long)m->at);
  return false;
}

bool zt_protobuf_fixed(zt_protobuf *p, zt_message *m, unsigned width, uint64_t *out){
  const uint8_t *z;
  if( m->at==m->end || p->err->rc ) return false;
  if( m->end-m->at<width ) return protobuf_fail_end(p, m->at, "a number");
  if( (z = protobuf_have(p, m->at, width))==NULL ) return false;
  *out = 0;
  for(unsigned i=width; i-->0;) *out = *out<<8 | z[i];
  m->at += width;
  return true;
}

bool zt_protobuf_bytes(zt_protobuf *p, zt_message m, zt_span *out){
  *out = (zt_span){ (const uint8_t*)"", (size_t)(m.end-m.at) };
  if( p->err->rc || out->n==0 ) return p->err->rc==SQLITE_OK;
  out->p = protobuf_have(p, m.at, out->n);
  return out->p!=NULL;
}

/* PB2. Reads the next tag; at least one byte remains. */
static bool protobuf_tag(zt_protobuf *p, zt_message *m, zt_wire_field *out){
  const uint64_t at = m->at;
  uint64_t tag;
  if( (++p->steps & PROTOBUF_POLL)==0 && zt_interrupt_check(p->interrupt, p->err) ) return false;
  if( !zt_protobuf_varint(p, m, &tag) ) return protobuf_fail_end(p, at, "a field");
  out->number = (uint32_t)(tag>>3);
  out->type = tag & 7;
  if( tag>>3>=1 && tag>>3<=PROTOBUF_NUMBER_MAX && out->type<=ZT_WIRE_FIXED32 ) return true;
  zt_break(p->err, "PB2", "byte %llu: no field has the number %llu and the type %u",
           (unsigned long long)at, (unsigned long long)(tag>>3), out->type);
  return false;
}

/* Reads the next value, which is not a group. */
static bool protobuf_value(zt_protobuf *p, zt_message *m, zt_wire_field *out){
  const uint64_t at = m->at;
  bool there;
  out->bytes.at = at;
  if( out->type==ZT_WIRE_FIXED64 ) there = zt_protobuf_fixed(p, m, 8, &out->value);
  else if( out->type==ZT_WIRE_FIXED32 ) there = zt_protobuf_fixed(p, m, 4, &out->value);
  else there = zt_protobuf_varint(p, m, &out->value);   /* The value, or the number of bytes */
  if( !there ) return protobuf_fail_end(p, at, "a field");
  if( out->type==ZT_WIRE_BYTES ){
    if( out->value>m->end-m->at ) return protobuf_fail_end(p, at, "a field");
    out->bytes.at = m->at;
    m->at += out->value;
  }
  out->bytes.end = m->at;
  return true;
}

/* PB2. Skips a group whose tag was read. */
static bool protobuf_skip_group(zt_protobuf *p, zt_message *m, uint32_t number, uint64_t at){
  uint32_t open[ZT_PROTOBUF_DEPTH];
  unsigned depth = 0;
  zt_wire_field f;
  open[depth++] = number;
  while( depth>0 ){
    const uint64_t place = m->at;
    if( m->at==m->end ) return protobuf_fail_end(p, at, "a group");
    if( !protobuf_tag(p, m, &f) ) return false;
    if( f.type==PROTOBUF_GROUP && depth<ZT_PROTOBUF_DEPTH ){
      open[depth++] = f.number;
    }else if( f.type==PROTOBUF_GROUP_END && f.number==open[depth-1] ){
      depth--;
    }else if( f.type==PROTOBUF_GROUP || f.type==PROTOBUF_GROUP_END ){
      zt_break(p->err, "PB2", "byte %llu: groups %s", (unsigned long long)place,
               f.type==PROTOBUF_GROUP ? "are nested more than 64 deep"
               : "do not end as they begin");
      return false;
    }else if( !protobuf_value(p, m, &f) ){
      return false;
    }
  }
  return true;
}

bool zt_protobuf_next(zt_protobuf *p, zt_message *m, zt_wire_field *out){
  while( m->at<m->end && !p->err->rc ){
    const uint64_t at = m->at;
    if( !protobuf_tag(p, m, out) ) return false;
    if( out->type!=PROTOBUF_GROUP && out->type!=PROTOBUF_GROUP_END ){
      return protobuf_value(p, m, out);
    }
    if( out->type==PROTOBUF_GROUP_END ){
      zt_break(p->err, "PB2", "byte %llu: a group ends that did not begin", (unsigned long long)at);
      return false;
    }
    if( !protobuf_skip_group(p, m, out->number, at) ) return false;
  }
  return false;
}
