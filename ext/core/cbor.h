/*
** Pull decoder for CBOR (RFC 7049) over bytes in memory. It knows nothing of tensors.
**
** Each call does constant work, except zt_cbor_skip() and its like, which can be interrupted. The
** decoder never allocates, never reads outside [base, end), and bounds recursion by
** ZT_CBOR_MAX_DEPTH. Errors are sticky: after the first failure every call returns false and sets
** its output to zero, so a reader is straight-line code with one check at its end.
**
** The grammar names each rule with its section of RFC 7049; a file under tests/formats breaks each:
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
** A strict decoder accepts only the deterministic encoding (RFC 8949 section 4.2.1), which zTensor
** 2 requires:
**
**   G1  no indefinite length
**   G2  integers and lengths in their shortest form
**   G3  the keys of a map ascend, bytewise in their encoding; so none occurs twice
**   G4  a float in the shortest form that has its value; NaN is f97e00
**   G5  no tag, and no simple value but false, true and null
**   G6  at most 32 levels; an empty array or map may stand on the next
** Skipping checks G3. A caller that reads a map key by key compares its keys with
** zt_cbor_ascends().
**
** Strings in chunks are checked everywhere but never returned: the decoder sets `chunked`, and
** zt_cbor_join() rewrites the bytes without chunks.
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
  const uint8_t *base;  /* First byte; messages count from here */
  const uint8_t *p;     /* Next byte; end after a failure */
  const uint8_t *end;
  zt_error *err;        /* Receives the first failure */
  int depth;            /* Open levels around p */
  int max_depth;
  bool strict;          /* G1 to G6 hold as well */
  bool trusted;         /* The bytes were checked before: text is not checked again */
  bool chunked;         /* A string in chunks was read */
  bool rewritten;       /* The bytes are not the file's: messages show no positions */
  const uint8_t *poll;  /* Interrupts are checked from here on */
  const zt_interrupt *interrupt;   /* Borrowed; may be NULL */
} zt_cbor;

#define ZT_CBOR_POLL_BYTES ((size_t)1 << 20)   /* Bytes between two checks for an interrupt */

/* The head of an item. For strings, p points to the n bytes. For arrays and maps, n counts items or
** pairs. A negative integer has the value -1-n. For floats, n is 0 and `real` is the value. */
typedef struct zt_cbor_item {
  zt_cbor_type type;
  bool indefinite;   /* Array or map up to a break */
  bool is_float;     /* The value is in `real`; type is ZT_CBOR_SIMPLE */
  uint64_t n;
  const uint8_t *p;
  double real;
} zt_cbor_item;

/* An array or map that is being read. */
typedef struct zt_cbor_level {
  uint64_t remaining; /* Items or pairs that follow, if definite */
  bool indefinite;
} zt_cbor_level;

/* Starts at the first of n bytes, outside any array or map. */
void zt_cbor_init(zt_cbor *c, const uint8_t *p, size_t n, zt_error *err);

/* Makes the decoder interruptible. Long loops over decoded items call zt_cbor_poll(), as skipping
** does. */
void zt_cbor_set_interrupt(zt_cbor *c, const zt_interrupt *interrupt);

/* Accepts only the deterministic encoding from here on. */
void zt_cbor_make_strict(zt_cbor *c);

/* Starts at position `at`, inside `depth` levels, of bytes that were checked before. */
void zt_cbor_init_trusted(zt_cbor *c, zt_span bytes, size_t at, int depth, zt_error *err);

/* Records that the next byte breaks a rule (core/error.h). Always returns false. */
ZT_COLD ZT_FORMAT(3, 4) bool zt_cbor_fail(zt_cbor *c, const char *rule, const char *format, ...);

/* Records that an item other than `expected` is next. Always returns false. */
ZT_COLD bool zt_cbor_fail_type(zt_cbor *c, const char *rule, const char *expected);

/* Reads the next item's head and the bytes of a definite string. A string in chunks is checked and
** skipped: it sets `chunked` and reads as the empty string. */
bool zt_cbor_next(zt_cbor *c, zt_cbor_item *item);

/* Enters the array or map whose head is `item` (C8). */
bool zt_cbor_enter(zt_cbor *c, const zt_cbor_item *item, zt_cbor_level *level);

/* Skips a tag 55799 before the root item (C9). */
void zt_cbor_skip_self_described(zt_cbor *c);

/* Fails if bytes remain (C9). */
bool zt_cbor_finish(zt_cbor *c);

/* Writes the shortest head of an item to p, which has room for ZT_CBOR_HEAD bytes. Returns its
** length. */
#define ZT_CBOR_HEAD 9
size_t zt_cbor_write_head(uint8_t *p, zt_cbor_type type, uint64_t n);

/* Rewrites the n bytes of one root item in place so that no string is in chunks. All of it is
** checked. Returns the new length, which is never larger, or 0 after a failure. */
size_t zt_cbor_join(uint8_t *a, size_t n, const zt_interrupt *interrupt, zt_error *err);

/* Returns the major type of the next item without reading it; ZT_CBOR_SIMPLE at the end. */
ZT_INLINE zt_cbor_type zt_cbor_peek(const zt_cbor *c){
  return c->p<c->end ? (zt_cbor_type)(*c->p>>5) : ZT_CBOR_SIMPLE;
}

/* Skips an unsigned integer; 9 bytes must be readable. *width is the length of its argument, 0 if
** the initial byte holds it. Returns NULL for any other item. */
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

/* Consumes the next item and returns true if it is null. */
ZT_INLINE bool zt_cbor_null(zt_cbor *c){
  if( c->p<c->end && *c->p==(ZT_CBOR_SIMPLE<<5 | ZT_CBOR_NULL) ){
    c->p++;
    return true;
  }
  return false;
}

/* --- Inline: manifests of a hundred megabytes are walked with these --- */

ZT_COLD bool zt_cbor_poll_slow(zt_cbor *c);
/* Checks for an interrupt every ZT_CBOR_POLL_BYTES. False after one. */
ZT_INLINE bool zt_cbor_poll(zt_cbor *c){
  return c->p<c->poll || zt_cbor_poll_slow(c);
}

ZT_COLD bool zt_cbor_open_slow(zt_cbor *c, zt_cbor_type type, zt_cbor_level *level);
ZT_COLD bool zt_cbor_text_slow(zt_cbor *c, zt_text *out);
ZT_COLD bool zt_cbor_uint_slow(zt_cbor *c, uint64_t *out);
bool zt_cbor_skip_slow(zt_cbor *c);

/* Returns whether an argument n needs `width` (1, 2, 4, 8) bytes behind the initial byte (G2). */
ZT_INLINE bool zt_cbor_is_shortest(uint64_t n, unsigned width){
  return width==1 ? n>=24 : n >> 4*width!=0;
}

/* Returns whether the encoded key b sorts after the encoded key a (G3). Both were read. */
bool zt_cbor_ascends(const uint8_t *a, size_t na, const uint8_t *b, size_t nb);

/* Enters the next item, which must be an array or a map as `type` says. */
ZT_INLINE bool zt_cbor_open(zt_cbor *c, zt_cbor_type type, zt_cbor_level *level){
  if( c->p<c->end && *c->p>>5==type && (*c->p & 31)<24 && c->depth<c->max_depth ){
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

/* Returns whether another item or pair follows. False at the end, which is consumed, and after a
** failure. */
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

/* The slow paths get the address of a local variable, so that the caller's stays in a register. */
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

/* Reads the next item, which must be an unsigned integer. */
ZT_INLINE bool zt_cbor_uint(zt_cbor *c, uint64_t *out){
  unsigned width;
  const uint8_t *p = c->end-c->p<9 ? NULL : zt_cbor_pass_uint(c->p, out, &width);
  if( !p || (width && c->strict && !zt_cbor_is_shortest(*out, width)) ){
    return zt_cbor_uint_unusual(c, out);
  }
  c->p = p;
  return true;
}

/* Returns the bytes of the next item if it is a short text, which is not checked nor consumed.
** Their p is NULL for any other item, and for the last byte. */
ZT_INLINE zt_span zt_cbor_short_text(const zt_cbor *c){
  const uint8_t *p = c->p, *end = c->end;
  size_t n;
  if( end-p<2 ) return (zt_span){ NULL, 0 };
  n = *p - (size_t)(ZT_CBOR_TEXT<<5);
  if( *p==(ZT_CBOR_TEXT<<5 | 24) ){
    n = *++p;
    if( c->strict && n<24 ) return (zt_span){ NULL, 0 };
  }else if( n>=24 ){
    return (zt_span){ NULL, 0 };
  }
  p++;
  return (zt_span){ n>(size_t)(end-p) ? NULL : p, n };
}

/* Consumes the text whose bytes zt_cbor_short_text() returned. */
ZT_INLINE zt_text zt_cbor_take_text(zt_cbor *c, zt_span bytes){
  c->p = bytes.p+bytes.n;
  return (zt_text){ (const char*)bytes.p, bytes.n };
}

/* Reads the next item, which must be text. Text in chunks is a failure. */
ZT_INLINE bool zt_cbor_text(zt_cbor *c, zt_text *out){
  const zt_span bytes = zt_cbor_short_text(c);
  if( !bytes.p || (!c->trusted && !zt_utf8_valid(bytes.p, bytes.n)) ){
    return zt_cbor_text_unusual(c, out);
  }
  *out = zt_cbor_take_text(c, bytes);
  return true;
}

/* Skips and checks one whole item. */
ZT_INLINE bool zt_cbor_skip(zt_cbor *c){
  zt_text text;
  uint64_t u;
  zt_cbor_type type = zt_cbor_peek(c);
  if( type==ZT_CBOR_UINT ) return zt_cbor_uint(c, &u);
  if( type==ZT_CBOR_TEXT && (*c->p & 31)<=24 ) return zt_cbor_text(c, &text);
  return zt_cbor_skip_slow(c);
}

#endif
