/*
** msgpack. See msgpack_read.h. Numbers are big-endian; each head is one byte, in hexadecimal:
**
**   item := 00-7f | cc u8 | cd u16 | ce u32 | cf u64        ; integers; of 0 to 127 the head itself
**         | e0-ff | d0 i8 | d1 i16 | d2 i32 | d3 i64        ; of -32 to -1 the head itself
**         | c0 | c2 | c3                                    ; nil, false, true
**         | ca f32 | cb f64
**         | (a0-bf | d9 n:u8 | da n:u16 | db n:u32) u8{n}   ; text; a0-bf: its low 5 bits are n
**         | (c4 n:u8 | c5 n:u16 | c6 n:u32) u8{n}           ; bytes
**         | (90-9f | dc n:u16 | dd n:u32) item{n}           ; array; 90-9f: its low 4 bits are n
**         | (80-8f | de n:u16 | df n:u32) (item item){n}    ; map, likewise
**         | (d4-d8 | c7 n:u8 | c8 n:u16 | c9 n:u32) i8 u8{n}
**                                     ; extension, its type first; d4-d8: of 1, 2, 4, 8, 16 bytes
**                                     ; MP1: all heads but c1. MP2: it lies within its range
*/
#include "core/msgpack_read.h"

/* What follows a head from c0 to df. */
typedef struct msgpack_head {
  uint8_t type, width;            /* Bytes of a number, or of a count */
} msgpack_head;

static const msgpack_head msgpack_heads[32] = {
  { ZT_MSGPACK_NIL, 0 },   { 0, 0 },
  { ZT_MSGPACK_FALSE, 0 }, { ZT_MSGPACK_TRUE, 0 },
  { ZT_MSGPACK_BYTES, 1 }, { ZT_MSGPACK_BYTES, 2 }, { ZT_MSGPACK_BYTES, 4 },
  { ZT_MSGPACK_EXT, 1 },   { ZT_MSGPACK_EXT, 2 },   { ZT_MSGPACK_EXT, 4 },
  { ZT_MSGPACK_REAL, 4 },  { ZT_MSGPACK_REAL, 8 },
  { ZT_MSGPACK_UINT, 1 },  { ZT_MSGPACK_UINT, 2 },  { ZT_MSGPACK_UINT, 4 }, { ZT_MSGPACK_UINT, 8 },
  { ZT_MSGPACK_INT, 1 },   { ZT_MSGPACK_INT, 2 },   { ZT_MSGPACK_INT, 4 },  { ZT_MSGPACK_INT, 8 },
  { ZT_MSGPACK_EXT, 0 },   { ZT_MSGPACK_EXT, 0 },   { ZT_MSGPACK_EXT, 0 },
  { ZT_MSGPACK_EXT, 0 },   { ZT_MSGPACK_EXT, 0 },
  { ZT_MSGPACK_TEXT, 1 },  { ZT_MSGPACK_TEXT, 2 },  { ZT_MSGPACK_TEXT, 4 },
  { ZT_MSGPACK_ARRAY, 2 }, { ZT_MSGPACK_ARRAY, 4 },
  { ZT_MSGPACK_MAP, 2 },   { ZT_MSGPACK_MAP, 4 }
};

static bool msgpack_fail_length(zt_pages *p, uint64_t at, const char *what){
  if( p->err->rc ) return false;
  zt_break(p->err, "MP2", "byte %llu: %s goes beyond what it is in", (unsigned long long)at, what);
  return false;
}

bool zt_msgpack_fail_depth(zt_pages *p, uint64_t at){
  zt_break(p->err, "MP3", "byte %llu: arrays and maps are nested more than %d deep",
           (unsigned long long)at, ZT_MSGPACK_DEPTH);
  return false;
}

/* Sets the value of a number, whose big-endian bits are in n. */
static void msgpack_set_number(zt_msgpack_item *out, unsigned width){
  const uint32_t narrow = (uint32_t)out->n;
  float real;
  if( out->type==ZT_MSGPACK_REAL && width==4 ){
    memcpy(&real, &narrow, sizeof(real));
    out->real = (double)real;
  }else if( out->type==ZT_MSGPACK_REAL ){
    memcpy(&out->real, &out->n, sizeof(out->real));
  }else if( out->type==ZT_MSGPACK_INT ){
    const uint64_t sign = (uint64_t)1 << (8*width-1);
    if( out->n & sign ) out->n |= ~(2*sign-1);
    else out->type = ZT_MSGPACK_UINT;
  }
}

/* MP2. Sets the bytes behind a head, and moves behind them. */
static bool msgpack_set_bytes(zt_pages *p, zt_msgpack_range *in, zt_msgpack_item *out){
  if( out->type==ZT_MSGPACK_EXT ){
    if( in->at==in->end ) return msgpack_fail_length(p, out->at, "an extension");
    out->ext = (int)zt_pages_number(p, in->at++, 1);
    if( out->ext>INT8_MAX ) out->ext -= 256;
  }
  if( out->n>in->end-in->at ){
    return msgpack_fail_length(p, out->at, out->type==ZT_MSGPACK_EXT ? "an extension"
                               : out->type==ZT_MSGPACK_TEXT ? "a text" : "a byte string");
  }
  out->bytes = (zt_msgpack_range){ in->at, in->at+out->n };
  in->at += out->n;
  return true;
}

/* Reads the head's number or count; a head of 0xC0 to 0xDF was read. */
static bool msgpack_read_count(zt_pages *p, zt_msgpack_range *in, unsigned head,
                               zt_msgpack_item *out){
  const unsigned width = msgpack_heads[head-0xC0].width;
  uint8_t bytes[8];
  out->type = (zt_msgpack_type)msgpack_heads[head-0xC0].type;
  if( head==0xC1 ){
    zt_break(p->err, "MP1", "byte %llu: no item begins with 0xC1", (unsigned long long)out->at);
    return false;
  }
  if( head>=0xD4 && head<=0xD8 ) out->n = (uint64_t)1 << (head-0xD4);
  if( width>in->end-in->at ) return msgpack_fail_length(p, out->at, "a number");
  if( width==0 ) return true;
  if( !zt_pages_read(p, in->at, width, bytes) ) return false;
  in->at += width;
  out->n = zt_be(bytes, width);
  msgpack_set_number(out, width);
  return true;
}

/* Reads a head and what it counts. */
static bool msgpack_read_head(zt_pages *p, zt_msgpack_range *in, zt_msgpack_item *out){
  const unsigned head = (unsigned)zt_pages_number(p, in->at++, 1);
  if( p->err->rc ) return false;
  if( head>=0xC0 && head<=0xDF ) return msgpack_read_count(p, in, head, out);
  out->type = head<0x80 ? ZT_MSGPACK_UINT : head<0x90 ? ZT_MSGPACK_MAP
            : head<0xA0 ? ZT_MSGPACK_ARRAY : head<0xC0 ? ZT_MSGPACK_TEXT : ZT_MSGPACK_INT;
  out->n = head<0x80 ? head : head<0xA0 ? (head & 0xF) : head<0xC0 ? (head & 0x1F)
         : (uint64_t)(int8_t)(uint8_t)head;
  return true;
}

bool zt_msgpack_next(zt_pages *p, zt_msgpack_range *in, zt_msgpack_item *out){
  *out = (zt_msgpack_item){ .at = in->at };
  if( in->at>=in->end || p->err->rc || !msgpack_read_head(p, in, out) ) return false;
  if( out->type==ZT_MSGPACK_TEXT || out->type==ZT_MSGPACK_BYTES || out->type==ZT_MSGPACK_EXT ){
    return msgpack_set_bytes(p, in, out) && !p->err->rc;
  }
  if( (out->type==ZT_MSGPACK_ARRAY && out->n>in->end-in->at)
   || (out->type==ZT_MSGPACK_MAP && out->n>(in->end-in->at)/2) ){
    return msgpack_fail_length(p, out->at, out->type==ZT_MSGPACK_MAP ? "a map" : "an array");
  }
  return true;
}

/* Levels are counts of items. Each costs a byte or more, so that the file bounds the steps. */
bool zt_msgpack_skip(zt_pages *p, zt_msgpack_range *in, const zt_msgpack_item *item, int depth){
  uint64_t left[ZT_MSGPACK_DEPTH+1];
  zt_msgpack_item inner = *item;
  int level = 0;
  left[0] = 1;
  for(;;){
    left[level]--;
    if( inner.type==ZT_MSGPACK_ARRAY || inner.type==ZT_MSGPACK_MAP ){
      if( depth+level>=ZT_MSGPACK_DEPTH ) return zt_msgpack_fail_depth(p, inner.at);
      left[++level] = inner.type==ZT_MSGPACK_MAP ? 2*inner.n : inner.n;
    }
    while( level>0 && left[level]==0 ) level--;
    if( level==0 ) return true;
    if( !zt_msgpack_next(p, in, &inner) ) return msgpack_fail_length(p, in->at, "an array or map");
  }
}
