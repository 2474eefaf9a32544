/* Pull decoder for CBOR. See cbor.h, which defines the rules. */
#include "core/cbor.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include "core/host.h"

#define CBOR_BREAK 0xFF
#define CBOR_INDEFINITE 31
#define CBOR_SELF_DESCRIBED 55799u

static size_t cbor_remaining(const zt_cbor *c){
  return (size_t)(c->end - c->p);
}

void zt_cbor_init(zt_cbor *c, const uint8_t *p, size_t n, zt_error *err){
  zt_cbor_init_trusted(c, (zt_span){ p, n }, 0, 0, err);
  c->trusted = false;
}

static const uint8_t *cbor_next_poll(const zt_cbor *c){
  return cbor_remaining(c)>ZT_CBOR_POLL_BYTES ? c->p+ZT_CBOR_POLL_BYTES : c->end;
}

void zt_cbor_set_interrupt(zt_cbor *c, const zt_interrupt *interrupt){
  c->interrupt = interrupt;
  c->poll = cbor_next_poll(c);
}

bool zt_cbor_poll_slow(zt_cbor *c){
  c->poll = cbor_next_poll(c);
  if( !c->interrupt || zt_interrupt_check(c->interrupt, c->err)==SQLITE_OK ) return true;
  c->p = c->end;
  return false;
}

void zt_cbor_init_trusted(zt_cbor *c, zt_span bytes, size_t at, int depth, zt_error *err){
  assert( at<=bytes.n );
  *c = (zt_cbor){
    .base = bytes.p, .p = bytes.p+at, .end = bytes.p+bytes.n, .err = err, .depth = depth,
    .max_depth = ZT_CBOR_MAX_DEPTH, .trusted = true, .poll = bytes.p+bytes.n
  };
}

void zt_cbor_make_strict(zt_cbor *c){
  c->strict = true;
  c->max_depth = ZT_CBOR_STRICT_DEPTH;
}

bool zt_cbor_fail(zt_cbor *c, const char *rule, const char *format, ...){
  if( !c->err->rc ){
    va_list ap;
    va_start(ap, format);
    zt_break_at(c->err, rule, "manifest", c->rewritten ? ZT_NO_POSITION
                : (uint64_t)(c->p - c->base), format, ap);
    va_end(ap);
  }
  c->p = c->end;
  return false;
}

/* Records a failure of the item whose head is at `at`. */
#define cbor_fail_at(c, at, ...) ((c)->p = (at), zt_cbor_fail((c), __VA_ARGS__))

static const char *cbor_type_name(const zt_cbor *c){
  static const char *const names[] = {
    [ZT_CBOR_UINT] = "an unsigned integer", [ZT_CBOR_NINT] = "a negative integer",
    [ZT_CBOR_BYTES] = "a byte string", [ZT_CBOR_TEXT] = "text", [ZT_CBOR_ARRAY] = "an array",
    [ZT_CBOR_MAP] = "a map", [ZT_CBOR_TAG] = "a tag"
  };
  if( c->p==c->end ) return "the end of the manifest";
  if( *c->p>>5<ZT_CBOR_SIMPLE ) return names[*c->p>>5];
  switch( *c->p & 31 ){
    case ZT_CBOR_FALSE: case ZT_CBOR_TRUE: return "a boolean";
    case ZT_CBOR_NULL: return "null";
    case ZT_CBOR_UNDEFINED: return "undefined";
    case 25: case 26: case 27: return "a float";
    case CBOR_INDEFINITE: return "a break";
    default: return "a simple value";
  }
}

bool zt_cbor_fail_type(zt_cbor *c, const char *rule, const char *expected){
  return zt_cbor_fail(c, rule, "expected %s, found %s", expected, cbor_type_name(c));
}

/* Reads the initial byte and its argument. *info is the additional information. */
static bool cbor_read_head(zt_cbor *c, zt_cbor_item *item, unsigned *info){
  unsigned width;
  if( c->p==c->end ) return zt_cbor_fail(c, "C6", "the manifest ends in the middle of an item");
  *info = *c->p & 31u;
  item->type = (zt_cbor_type)(*c->p>>5);
  if( *info<24 ){
    item->n = *info;
    c->p++;
    return true;
  }
  if( *info>27 ){
    item->n = 0;
    if( *info!=CBOR_INDEFINITE ){
      return zt_cbor_fail(c, "C1", "reserved initial byte 0x%02x", *c->p);
    }
    if( item->type<ZT_CBOR_BYTES || item->type==ZT_CBOR_TAG ){
      return zt_cbor_fail(c, "C2", "initial byte 0x%02x: this type has no indefinite length",
                          *c->p);
    }
    if( item->type==ZT_CBOR_SIMPLE ){
      return zt_cbor_fail(c, "C3", "a break where an item is expected");
    }
    if( c->strict ) return zt_cbor_fail(c, "G1", "an indefinite length");
    c->p++;
    return true;
  }
  width = 1u << (*info-24);
  if( cbor_remaining(c)<1+width ){
    return zt_cbor_fail(c, "C6", "the manifest ends in the middle of an item");
  }
  item->n = zt_be(c->p+1, width);
  if( c->strict && item->type!=ZT_CBOR_SIMPLE && !zt_cbor_is_shortest(item->n, width) ){
    return zt_cbor_fail(c, "G2", "%llu in %u bytes: not the shortest form", item->n, 1+width);
  }
  c->p += 1+width;
  return true;
}

/* Returns the value of a half float (RFC 7049 appendix D). */
static double cbor_half(unsigned bits){
  int exponent = (int)(bits>>10 & 31);
  double mantissa = bits & 1023;
  double r;
  if( exponent==0 ) r = ldexp(mantissa, -24);
  else if( exponent!=31 ) r = ldexp(mantissa+1024, exponent-25);
  else r = mantissa==0 ? INFINITY : NAN;
  return bits & 0x8000 ? -r : r;
}

/* G4. A float is the shortest if the next shorter type cannot have its value. info is 25 to 27. */
static bool cbor_is_shortest_float(const zt_cbor_item *item, unsigned info){
  double r = item->real;
  if( isnan(r) ) return info==25 && item->n==0x7E00;
  if( info==27 ) return (double)(float)r!=r;
  if( info==25 || isinf(r) ) return info==25;
  if( fabs(r)>65504 || r==0 ) return r!=0;
  return fabs(r)<0x1p-14 ? r!=rint(r*0x1p24)*0x1p-24 : (item->n & 0x1FFF)!=0;
}

/* Reads a simple value or float whose head, at `at`, was read. */
static bool cbor_read_simple(zt_cbor *c, const uint8_t *at, unsigned info, zt_cbor_item *item){
  float single;
  uint32_t u;
  if( info==24 && item->n<32 ) return cbor_fail_at(c, at, "C5", "a two-byte simple value below 32");
  if( info<25 ){
    if( !c->strict || (item->n>=ZT_CBOR_FALSE && item->n<=ZT_CBOR_NULL) ) return true;
    return cbor_fail_at(c, at, "G5", "a simple value other than false, true and null");
  }
  item->is_float = true;
  if( info==25 ) item->real = cbor_half((unsigned)item->n);
  if( info==26 ){
    u = (uint32_t)item->n;
    memcpy(&single, &u, sizeof(single));
    item->real = (double)single;
  }
  if( info==27 ) memcpy(&item->real, &item->n, sizeof(item->real));
  if( c->strict && !cbor_is_shortest_float(item, info) ){
    return cbor_fail_at(c, at, "G4", isnan(item->real) ? "a NaN other than f97e00"
                        : "a float not in its shortest form");
  }
  item->n = 0;
  return true;
}

/* Reads the bytes of a definite string, whose head is at `at`. */
static bool cbor_read_string(zt_cbor *c, const uint8_t *at, zt_cbor_item *item){
  if( item->n>cbor_remaining(c) ){
    return cbor_fail_at(c, at, "C6", "a string of %llu bytes, %llu are left", item->n,
                        (uint64_t)(c->end-at));
  }
  item->p = c->p;
  if( item->type==ZT_CBOR_TEXT && !c->trusted && !zt_utf8_valid(item->p, (size_t)item->n) ){
    return cbor_fail_at(c, at, "C7", "text that is not UTF-8");
  }
  c->p += item->n;
  return true;
}

/* Checks the chunks of an indefinite string up to its break. */
static bool cbor_read_chunks(zt_cbor *c, zt_cbor_item *item){
  zt_cbor_item chunk = { 0 };
  unsigned info;
  c->chunked = true;
  item->p = c->p;
  while( c->p==c->end || *c->p!=CBOR_BREAK ){
    const uint8_t *at = c->p;
    if( !cbor_read_head(c, &chunk, &info) ) return false;
    if( chunk.type!=item->type || info==CBOR_INDEFINITE ){
      c->p = at;
      return zt_cbor_fail(c, "C4", "a chunk of a string in chunks is %s", cbor_type_name(c));
    }
    if( !cbor_read_string(c, at, &chunk) ) return false;
  }
  c->p++;
  return true;
}

bool zt_cbor_next(zt_cbor *c, zt_cbor_item *item){
  const uint8_t *at = c->p;
  unsigned info;
  *item = (zt_cbor_item){ 0 };
  if( !cbor_read_head(c, item, &info) ) return false;
  switch( item->type ){
    case ZT_CBOR_BYTES: case ZT_CBOR_TEXT:
      return info==CBOR_INDEFINITE ? cbor_read_chunks(c, item) : cbor_read_string(c, at, item);
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      item->indefinite = info==CBOR_INDEFINITE;
      if( item->n>cbor_remaining(c)/(item->type==ZT_CBOR_MAP ? 2 : 1) ){
        return cbor_fail_at(c, at, "C6", "%llu %s declared, %llu bytes are left", item->n,
                            item->type==ZT_CBOR_MAP ? "pairs" : "items", (uint64_t)(c->end-at));
      }
      return true;
    case ZT_CBOR_SIMPLE:
      return cbor_read_simple(c, at, info, item);
    default:
      return true;
  }
}

bool zt_cbor_enter(zt_cbor *c, const zt_cbor_item *item, zt_cbor_level *level){
  level->remaining = item->n;
  level->indefinite = item->indefinite;
  if( c->depth==c->max_depth && (!c->strict || item->n>0) ){
    return zt_cbor_fail(c, c->strict ? "G6" : "C8", "nested deeper than %d levels", c->max_depth);
  }
  c->depth++;
  return true;
}

bool zt_cbor_open_slow(zt_cbor *c, zt_cbor_type type, zt_cbor_level *level){
  zt_cbor_item item;
  *level = (zt_cbor_level){ 0 };
  if( zt_cbor_peek(c)!=type ){
    return zt_cbor_fail_type(c, NULL, type==ZT_CBOR_MAP ? "a map" : "an array");
  }
  return zt_cbor_next(c, &item) && zt_cbor_enter(c, &item, level);
}

bool zt_cbor_ascends(const uint8_t *a, size_t na, const uint8_t *b, size_t nb){
  return memcmp(a, b, na<nb ? na : nb)<0;   /* No encoded item is a prefix of another */
}

/* Skips the pairs of a map that was entered. */
static bool cbor_skip_pairs(zt_cbor *c, zt_cbor_level *level){
  const uint8_t *last = NULL, *key;
  size_t nLast = 0;
  while( zt_cbor_more(c, level) ){
    key = c->p;
    if( !zt_cbor_poll(c) || !zt_cbor_skip(c) ) return false;
    if( c->strict && last && !zt_cbor_ascends(last, nLast, key, (size_t)(c->p-key)) ){
      return cbor_fail_at(c, key, "G3", "a map's keys do not ascend");
    }
    last = key;
    nLast = (size_t)(c->p-key);
    zt_cbor_skip(c);
  }
  return c->err->rc==SQLITE_OK;
}

bool zt_cbor_skip_slow(zt_cbor *c){
  const uint8_t *at = c->p;
  zt_cbor_item item;
  zt_cbor_level level;
  if( !zt_cbor_next(c, &item) ) return false;
  switch( item.type ){
    case ZT_CBOR_ARRAY:
      if( !zt_cbor_enter(c, &item, &level) ) return false;
      while( zt_cbor_more(c, &level) && zt_cbor_poll(c) ) zt_cbor_skip(c);
      return c->err->rc==SQLITE_OK;
    case ZT_CBOR_MAP:
      return zt_cbor_enter(c, &item, &level) && cbor_skip_pairs(c, &level);
    case ZT_CBOR_TAG:
      if( c->strict ) return cbor_fail_at(c, at, "G5", "a tag");
      level = (zt_cbor_level){ 0 };
      item.n = 1;
      if( !zt_cbor_enter(c, &item, &level) || !zt_cbor_skip(c) ) return false;
      c->depth--;
      return true;
    default:
      return true;
  }
}

void zt_cbor_skip_self_described(zt_cbor *c){
  zt_cbor_item item;
  const uint8_t *at = c->p;
  if( zt_cbor_peek(c)!=ZT_CBOR_TAG ) return;
  if( zt_cbor_next(c, &item) && item.n!=CBOR_SELF_DESCRIBED ) c->p = at;
}

bool zt_cbor_finish(zt_cbor *c){
  if( c->err->rc ) return false;
  return c->p==c->end
      || zt_cbor_fail(c, "C9", "%llu bytes after the root item", (uint64_t)cbor_remaining(c));
}

bool zt_cbor_uint_slow(zt_cbor *c, uint64_t *out){
  zt_cbor_item item;
  *out = 0;
  if( zt_cbor_peek(c)!=ZT_CBOR_UINT ) return zt_cbor_fail_type(c, NULL, "an unsigned integer");
  if( !zt_cbor_next(c, &item) ) return false;
  *out = item.n;
  return true;
}

bool zt_cbor_text_slow(zt_cbor *c, zt_text *out){
  zt_cbor_item item;
  *out = ZT_TEXT("");
  if( zt_cbor_peek(c)!=ZT_CBOR_TEXT ) return zt_cbor_fail_type(c, NULL, "text");
  if( !zt_cbor_next(c, &item) ) return false;
  if( item.n>0 ) *out = (zt_text){ (const char*)item.p, (size_t)item.n };
  return true;
}

/* --- Joining chunks --- */

size_t zt_cbor_write_head(uint8_t *p, zt_cbor_type type, uint64_t n){
  unsigned width = n<24 ? 0 : n<=UINT8_MAX ? 1 : n<=UINT16_MAX ? 2 : n<=UINT32_MAX ? 4 : 8;
  unsigned info = width==0 ? (unsigned)n : width==1 ? 24 : width==2 ? 25 : width==4 ? 26 : 27;
  p[0] = (uint8_t)((unsigned)type<<5 | info);
  for(unsigned i=0; i<width; i++) p[1+i] = (uint8_t)(n >> 8*(width-1-i));
  return 1+width;
}

/* Joins the chunks [from, to) of a string into one definite string at w, which lies before them.
** The contents move first, because the new head may be longer than the first chunk's. */
static uint8_t *cbor_join_chunks(uint8_t *w, zt_cbor_type type, const uint8_t *from,
                                 const uint8_t *to, zt_error *err){
  zt_cbor chunks;
  zt_cbor_item chunk;
  uint8_t head[ZT_CBOR_HEAD];
  size_t n = 0, nHead;
  zt_cbor_init_trusted(&chunks, (zt_span){ from, (size_t)(to-from) }, 0, 0, err);
  while( chunks.p<chunks.end && zt_cbor_next(&chunks, &chunk) ){
    memmove(w+1+n, chunk.p, (size_t)chunk.n);
    n += (size_t)chunk.n;
  }
  nHead = zt_cbor_write_head(head, type, n);
  memmove(w+nHead, w+1, n);
  memcpy(w, head, nHead);
  return w+nHead+n;
}

/* Moves the next item of c to w and joins its chunks. Returns the byte after it. */
static uint8_t *cbor_join_item(zt_cbor *c, uint8_t *w){
  const uint8_t *at = c->p;
  zt_cbor_item item;
  zt_cbor_level level;
  size_t n;
  c->chunked = false;
  if( !zt_cbor_next(c, &item) ) return w;
  if( c->chunked ) return cbor_join_chunks(w, item.type, item.p, c->p-1, c->err);
  n = (size_t)(c->p - at);
  memmove(w, at, n);
  w += n;
  if( item.type==ZT_CBOR_TAG ) item.n = 1;
  else if( item.type!=ZT_CBOR_ARRAY && item.type!=ZT_CBOR_MAP ) return w;
  if( !zt_cbor_enter(c, &item, &level) ) return w;
  while( zt_cbor_more(c, &level) && zt_cbor_poll(c) ){
    w = cbor_join_item(c, w);
    if( item.type==ZT_CBOR_MAP ) w = cbor_join_item(c, w);
  }
  if( item.indefinite && !c->err->rc ) *w++ = CBOR_BREAK;
  return w;
}

size_t zt_cbor_join(uint8_t *a, size_t n, const zt_interrupt *interrupt, zt_error *err){
  zt_cbor c;
  uint8_t *w = a;
  zt_cbor_init(&c, a, n, err);
  zt_cbor_set_interrupt(&c, interrupt);
  zt_cbor_skip_self_described(&c);
  w = cbor_join_item(&c, w);
  return zt_cbor_finish(&c) ? (size_t)(w-a) : 0;
}
