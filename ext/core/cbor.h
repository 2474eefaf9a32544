/*
** Pull decoder for CBOR (RFC 7049) over bytes in memory. It knows the encoding, and nothing
** of tensors.
**
** Promises: constant work per call apart from zt_cbor_skip() and its like, which can be
** interrupted; no allocation; recursion bounded by ZT_CBOR_MAX_DEPTH; no read outside [base, end).
** The error is sticky: after the first failure every call returns false and sets its out-value to
** zero, so that a reader is straight-line code with one check at its end.
**
** Grammar, each rule with the section of RFC 7049 (a file under tests/formats breaks each):
**
**   item  := head                        ; unsigned, negative, simple, float
**          | head byte*                  ; byte string, text
**          | head item*                  ; array (n items), map (2n items), tag (1 item)
**          | head(31) ... 0xff           ; indefinite: chunks, items or pairs up to the break
**   C1  additional information 28 to 30 is reserved (2.1)
**   C2  31 only for strings, arrays, maps and the break (2.2)
**   C3  a break only where the next item, key or chunk could begin (2.2.1)
**   C4  chunks are definite strings of the same type (2.2.2)
**   C5  no two-byte simple value below 32 (2.3)
**   C6  no declared length beyond the bytes left: n items need n bytes, n pairs 2n (3.1)
**   C7  text is UTF-8: no overlong form, no surrogate, at most U+10FFFF, each chunk by itself (2.1)
**   C8  at most 64 levels of arrays, maps and tags, the root item being level 1
**   C9  one root item and no byte after it; tag 55799 may stand before it (2.4.5)
**
** A strict decoder accepts the deterministic encoding alone (RFC 8949 section 4.2.1), as zTensor
** 2 demands:
**
**   G1  no indefinite length
**   G2  integers and lengths in their shortest form
**   G3  the keys of a map ascend, bytewise in their encoding; so none occurs twice
**   G4  a float in the shortest form that has its value; NaN is f97e00
**   G5  no tag, and no simple value but false, true and null
**   G6  at most 32 levels, and what is empty on the next
** G3 is checked of what is passed over; who reads a map key by key compares its keys with
** zt_cbor_ascends().
**
** Strings in chunks are checked everywhere but handed out nowhere: the decoder notes that it met
** one, and zt_cbor_join() rewrites the bytes so that none is left.
*/
#ifndef ZT_CORE_CBOR_H
#define ZT_CORE_CBOR_H

#include "core/interrupt.h"
#include "core/span.h"
#include "core/utf8.h"

#define ZT_CBOR_MAX_DEPTH 64
#define ZT_CBOR_STRICT_DEPTH 32

/* Major types, RFC 7049 section 2.1. */
typedef enum zt_cbor_type {
  ZT_CBOR_UINT, ZT_CBOR_NINT, ZT_CBOR_BYTES, ZT_CBOR_TEXT, ZT_CBOR_ARRAY, ZT_CBOR_MAP, ZT_CBOR_TAG,
  ZT_CBOR_SIMPLE
} zt_cbor_type;

/* Simple values, RFC 7049 section 2.3. */
enum { ZT_CBOR_FALSE = 20, ZT_CBOR_TRUE = 21, ZT_CBOR_NULL = 22, ZT_CBOR_UNDEFINED = 23 };

typedef struct zt_cbor {
  const uint8_t *base;  /* First byte; errors count from here */
  const uint8_t *p;     /* Next byte; equals end after a failure */
  const uint8_t *end;
  zt_error *err;        /* Where the first failure goes */
  int depth;            /* Levels open around p */
  int most;             /* Levels that may be */
  bool strict;          /* G1 to G6 hold, too */
  bool trusted;         /* These bytes were checked before: text is not checked again */
  bool chunked;         /* A string in chunks was met */
  bool rewritten;       /* These bytes are not the file's: positions would mislead */
  const uint8_t *poll;  /* From here on it is asked whether to go on */
  const zt_interrupt *interrupt;   /* Who is asked; borrowed. NULL: nobody */
} zt_cbor;

#define ZT_CBOR_POLL_BYTES ((size_t)1 << 20)   /* Bytes between two questions whether to go on */

/* The head of an item: for strings, p points to the n bytes; for arrays and maps n counts items or
** pairs; for a negative integer the value is -1-n; for a float, n is 0 and real the value. */
typedef struct zt_cbor_item {
  zt_cbor_type type;
  bool indefinite;   /* Array or map up to a break */
  bool is_float;     /* type is ZT_CBOR_SIMPLE and the value is in real */
  uint64_t n;
  const uint8_t *p;
  double real;
} zt_cbor_item;

/* An array or map that is being read. */
typedef struct zt_cbor_level {
  uint64_t remaining; /* Items or pairs still to come, if definite */
  bool indefinite;
} zt_cbor_level;

/* Start at the first of the n bytes of p, which no level is open around. */
void zt_cbor_init(zt_cbor *c, const uint8_t *p, size_t n, zt_error *err);

/* From here on, it may be asked that this ends. Long loops over what is decoded call
** zt_cbor_poll(), as skipping does. */
void zt_cbor_set_interrupt(zt_cbor *c, const zt_interrupt *interrupt);

/* From here on, accept the deterministic encoding alone. */
void zt_cbor_make_strict(zt_cbor *c);

/* Start at position at, depth levels deep, of bytes that were checked before. */
void zt_cbor_init_trusted(zt_cbor *c, zt_span bytes, size_t at, int depth, zt_error *err);

/* Record a failure at the next byte, against that rule (core/error.h). Always false. */
ZT_COLD ZT_FORMAT(3, 4) bool zt_cbor_fail(zt_cbor *c, const char *rule, const char *format, ...);

/* Record that `expected` was wanted where another item stands. Always false. */
ZT_COLD bool zt_cbor_fail_type(zt_cbor *c, const char *rule, const char *expected);

/* Read the next item's head, and the bytes of a definite string. A string in chunks is checked and
** passed over: it sets chunked and gives the empty string. */
bool zt_cbor_next(zt_cbor *c, zt_cbor_item *item);

/* Begin to read the items of an array or the pairs of a map whose head is item (C8). */
bool zt_cbor_enter(zt_cbor *c, const zt_cbor_item *item, zt_cbor_level *level);

/* Pass over a tag 55799 before the root item (C9). */
void zt_cbor_skip_self_described(zt_cbor *c);

/* Fail unless every byte was read (C9). */
bool zt_cbor_finish(zt_cbor *c);

/* Write the shortest head of an item of that type and argument to p, which has room for
** ZT_CBOR_HEAD bytes; returns its length. */
#define ZT_CBOR_HEAD 9
size_t zt_cbor_write_head(uint8_t *p, zt_cbor_type type, uint64_t n);

/* Rewrite the n bytes of a, one root item, so that no string is in chunks; the result is never
** longer. Everything is checked on the way. Returns the new length, or 0 after a failure. */
size_t zt_cbor_join(uint8_t *a, size_t n, const zt_interrupt *interrupt, zt_error *err);

/* The major type of the next item, without reading it; ZT_CBOR_SIMPLE at the end of the bytes. */
ZT_INLINE zt_cbor_type zt_cbor_peek(const zt_cbor *c){
  return c->p<c->end ? (zt_cbor_type)(*c->p>>5) : ZT_CBOR_SIMPLE;
}

/* Pass over an unsigned integer, of which 9 bytes may be read; *width is of its argument, 0 if it
** is in the initial byte. NULL: something else stands there. */
ZT_INLINE const uint8_t *zt_cbor_pass_uint(const uint8_t *p, uint64_t *out, unsigned *width){
  if( *p>27 ) return NULL;
  if( *p<24 ){
    *width = 0;
    *out = *p;
    return p+1;
  }
  *width = 1u << (*p-24);
  *out = zt_be64(p+1) >> (64-8**width);
  return p+1+*width;
}

/* True if the next item is null, which is then consumed. */
ZT_INLINE bool zt_cbor_null(zt_cbor *c){
  if( c->p<c->end && *c->p==(ZT_CBOR_SIMPLE<<5 | ZT_CBOR_NULL) ){
    c->p++;
    return true;
  }
  return false;
}

/* --- What is read most, in line: a manifest of a hundred megabytes is walked with these --- */

/* Ask whether to go on: a failure if not. */
ZT_COLD bool zt_cbor_ask(zt_cbor *c);

/* The same if it is time to. */
ZT_INLINE bool zt_cbor_poll(zt_cbor *c){
  return c->p<c->poll || zt_cbor_ask(c);
}

ZT_COLD bool zt_cbor_open_slow(zt_cbor *c, zt_cbor_type type, zt_cbor_level *level);
ZT_COLD bool zt_cbor_text_slow(zt_cbor *c, zt_text *out);
ZT_COLD bool zt_cbor_uint_slow(zt_cbor *c, uint64_t *out);
bool zt_cbor_skip_slow(zt_cbor *c);

/* True if no shorter head than one with width bytes behind it (1, 2, 4, 8) can have the argument
** n (G2). */
ZT_INLINE bool zt_cbor_is_shortest(uint64_t n, unsigned width){
  return width==1 ? n>=24 : n >> 4*width!=0;
}

/* True if the encoded key at b, which ends where another item begins, comes after the one at a
** (G3): both were read. */
bool zt_cbor_ascends(const uint8_t *a, size_t na, const uint8_t *b, size_t nb);

/* The next item is an array or a map: read its head and begin to read what is in it. */
ZT_INLINE bool zt_cbor_open(zt_cbor *c, zt_cbor_type type, zt_cbor_level *level){
  if( c->p<c->end && *c->p>>5==type && (*c->p & 31)<24 && c->depth<c->most ){
    unsigned n = *c->p & 31;
    if( (size_t)(c->end - c->p)>2*(size_t)n ){
      level->remaining = n;
      level->indefinite = false;
      c->p++;
      c->depth++;
      return true;
    }
  }
  return zt_cbor_open_slow(c, type, level);
}

/* True if another item or pair follows; false at the end, which is then consumed, and after
** a failure. */
ZT_INLINE bool zt_cbor_more(zt_cbor *c, zt_cbor_level *level){
  if( c->err->rc ) return false;
  if( level->indefinite ){
    if( c->p==c->end || *c->p!=0xFF ) return true;
    c->p++;
  }else if( level->remaining>0 ){
    level->remaining--;
    return true;
  }
  c->depth--;
  return false;
}

/* What is unusual is read by a call that is given the address of a variable of its own, so that the
** caller's stays in a register. */
ZT_INLINE bool zt_cbor_uint_unusual(zt_cbor *c, uint64_t *out){
  uint64_t u;
  bool ok = zt_cbor_uint_slow(c, &u);
  *out = u;
  return ok;
}
ZT_INLINE bool zt_cbor_text_unusual(zt_cbor *c, zt_text *out){
  zt_text text;
  bool ok = zt_cbor_text_slow(c, &text);
  *out = text;
  return ok;
}

/* The next item as an unsigned integer; a failure if it is anything else. */
ZT_INLINE bool zt_cbor_uint(zt_cbor *c, uint64_t *out){
  unsigned width;
  const uint8_t *p = c->end-c->p<9 ? NULL : zt_cbor_pass_uint(c->p, out, &width);
  if( !p || (width && c->strict && !zt_cbor_is_shortest(*out, width)) ){
    return zt_cbor_uint_unusual(c, out);
  }
  c->p = p;
  return true;
}

/* The next item as text; a failure if it is anything else, or text in chunks. */
ZT_INLINE bool zt_cbor_text(zt_cbor *c, zt_text *out){
  const uint8_t *p = c->p, *end = c->end;
  size_t n;
  if( end-p<2 ) return zt_cbor_text_unusual(c, out);
  n = *p - (size_t)(ZT_CBOR_TEXT<<5);
  if( *p==(ZT_CBOR_TEXT<<5 | 24) ){
    n = *++p;
    if( c->strict && n<24 ) return zt_cbor_text_unusual(c, out);
  }else if( n>=24 ){
    return zt_cbor_text_unusual(c, out);
  }
  p++;
  if( n>(size_t)(end-p) || (!c->trusted && !zt_utf8_valid(p, n)) ){
    return zt_cbor_text_unusual(c, out);
  }
  *out = (zt_text){ (const char*)p, n };
  c->p = p+n;
  return true;
}

/* Pass over one whole item, checking it. */
ZT_INLINE bool zt_cbor_skip(zt_cbor *c){
  zt_text text;
  uint64_t u;
  switch( zt_cbor_peek(c) ){
    case ZT_CBOR_UINT: return zt_cbor_uint(c, &u);
    case ZT_CBOR_TEXT:
      if( (*c->p & 31)<=24 ) return zt_cbor_text(c, &text);
      return zt_cbor_skip_slow(c);
    default: return zt_cbor_skip_slow(c);
  }
}

#endif
