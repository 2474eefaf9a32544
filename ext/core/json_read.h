/*
** Pull decoder for JSON (RFC 8259) over bytes in memory; json.h writes JSON. Interface to code in
** json_read.c.
**
** Each call does constant work, except on texts and in zt_json_read_skip(), which can be
** interrupted. The decoder never allocates, never reads outside [base, end), and bounds recursion
** by ZT_JSON_MAX_DEPTH. Errors are sticky: after the first failure every call returns false and
** sets its output to zero, so a reader is straight-line code with one check at its end.
**
** The grammar names each rule with its section of RFC 8259:
**
**   json   := ws value ws                                    ; J10
**   value  := "null" | "true" | "false" | number | text | array | object       ; J1
**   object := "{" ws [ text ws ":" ws value ws { "," ws text ws ":" ws value ws } ] "}"   ; J2
**   array  := "[" ws [ value ws { "," ws value ws } ] "]"    ; J3
**   number := [ "-" ] ( "0" | digit from 1 on { digit } ) [ "." digit { digit } ]
**             [ ( "e" | "E" ) [ "+" | "-" ] digit { digit } ]                   ; J4
**   text   := '"' { character from U+0020 on, but for '"' and "\" | escape } '"'        ; J5, J8
**   escape := "\" ( '"' | "\" | "/" | "b" | "f" | "n" | "r" | "t" | "u" hex hex hex hex ) ; J6
**   hex    := a digit, a to f, or A to F
**   ws     := { space | tab | line feed | carriage return }
**   J1   a value begins as one of these: no comment, no byte order mark, no NaN (3)
**   J2   a member has a text, a colon and a value; one comma stands between two (4)
**   J3   one comma stands between two elements, and none behind the last (5)
**   J4   a number has no leading zero, and digits around its point and in its exponent (6)
**   J5   control characters in a text are escaped (7)
**   J6   there are no other escapes (7)
**   J7   surrogates come in pairs: \ud800 to \udbff, then \udc00 to \udfff (8.2)
**   J8   text is UTF-8: no overlong form, no surrogate, at most U+10FFFF (8.1)
**   J9   at most 64 levels of arrays and objects, the root value being level 1 (9)
**   J10  one root value, and nothing but ws around it (2)
**   J11  texts, arrays, objects and values are complete (2)
** The caller must check for duplicate keys in an object (4).
*/
#ifndef ZT_CORE_JSON_READ_H
#define ZT_CORE_JSON_READ_H

#include "core/interrupt.h"
#include "core/span.h"

#define ZT_JSON_MAX_DEPTH 64
#define ZT_JSON_POLL_BYTES ((size_t)1 << 20)   /* Bytes between two checks for an interrupt */

typedef enum zt_json_type {
  ZT_JSON_NOTHING,    /* No value begins here */
  ZT_JSON_NULL, ZT_JSON_FALSE, ZT_JSON_TRUE,
  ZT_JSON_INTEGER,    /* -2^63 to 2^64-1 */
  ZT_JSON_LARGE,      /* An integer out of that range */
  ZT_JSON_REAL,       /* A number with a point or an exponent */
  ZT_JSON_TEXT, ZT_JSON_ARRAY, ZT_JSON_OBJECT
} zt_json_type;

typedef struct zt_json_reader {
  const uint8_t *base;  /* First byte; messages count from here */
  const uint8_t *p;     /* Next byte; end after a failure */
  const uint8_t *end;
  zt_error *err;        /* Receives the first failure */
  const char *what;     /* Name of the bytes in messages, before the word byte; static */
  const char *type_rule;   /* Rule that a value of an unexpected type breaks; static, NULL: no
                           ** rule */
  int depth;            /* Open levels around p */
  bool any_bytes;       /* Text need not be UTF-8: it holds file names, or was checked before */
  const uint8_t *poll;  /* Interrupts are checked from here on */
  const zt_interrupt *interrupt;   /* Borrowed; may be NULL */
} zt_json_reader;

/* A text as written between its quotes, borrowed. */
typedef struct zt_json_string {
  zt_text raw;
  bool escaped;      /* raw has escapes; else it is the decoded text */
} zt_json_string;

/* The empty text. */
#define ZT_JSON_NO_STRING ((zt_json_string){ ZT_TEXT_INIT(""), false })

typedef struct zt_json_value {
  zt_json_type type;
  bool negative;     /* Integer: it is -n */
  uint64_t n;        /* Integer */
  zt_json_string text;   /* Text; for a number, its characters */
} zt_json_value;

/* An array or object that is being read. */
typedef struct zt_json_level {
  uint8_t close;     /* The bracket that ends it */
  bool first;        /* No element or member was read */
} zt_json_level;

/* Starts at the first byte, outside any array or object. */
void zt_json_read_init(zt_json_reader *r, const char *what, zt_span bytes, zt_error *err);

/* Makes the decoder interruptible. Long loops over decoded values call zt_json_read_poll(), as
** skipping does. */
void zt_json_read_set_interrupt(zt_json_reader *r, const zt_interrupt *interrupt);

/* Records that the next byte breaks a rule (core/error.h). Always returns false. */
ZT_COLD ZT_FORMAT(3, 4) bool zt_json_read_fail(zt_json_reader *r, const char *rule,
                                               const char *format, ...);

/* Records that a value other than `expected` is next. Always returns false. */
ZT_COLD bool zt_json_read_fail_type(zt_json_reader *r, const char *expected);

/* Reads the next value, or the opening bracket of an array or object. */
bool zt_json_read_next(zt_json_reader *r, zt_json_value *out);

/* Enters an array or object whose bracket was read (J9). */
bool zt_json_read_enter(zt_json_reader *r, zt_json_type type, zt_json_level *level);

/* Skips and checks one whole value. */
bool zt_json_read_skip(zt_json_reader *r);

/* Fails if anything but white space remains (J10). */
bool zt_json_read_finish(zt_json_reader *r);

/* Returns the double nearest to a large or real number of n characters. room has n +
** ZT_JSON_REAL_ROOM bytes. */
#define ZT_JSON_REAL_ROOM 16
double zt_json_read_real(zt_text number, char *room);

/* --- Texts --- */

/* Returns the length of the decoded text, which is never more than that of raw. */
size_t zt_json_unescaped_length(zt_json_string text);

/* Decodes a text to out, which has room for it. Returns its length. */
size_t zt_json_unescape(zt_json_string text, char *out);

/* Returns whether the decoded text equals `plain`. */
bool zt_json_string_equal_slow(zt_json_string text, zt_text plain);
ZT_INLINE bool zt_json_string_equal(zt_json_string text, zt_text plain){
  if( text.escaped ) return zt_json_string_equal_slow(text, plain);
  return zt_text_equal(text.raw, plain);
}
/* Equality and hash of decoded texts. */
bool zt_json_strings_equal(zt_json_string a, zt_json_string b);
uint64_t zt_json_string_hash(zt_json_string text, uint64_t seed);
#define zt_json_string_is(text, literal) zt_json_string_equal((text), ZT_TEXT(literal))

/* --- Inline: headers of a hundred megabytes are walked with these --- */

ZT_COLD bool zt_json_read_poll_slow(zt_json_reader *r);
/* Checks for an interrupt every ZT_JSON_POLL_BYTES. False after one. */
ZT_INLINE bool zt_json_read_poll(zt_json_reader *r){
  return r->p<r->poll || zt_json_read_poll_slow(r);
}

ZT_COLD void zt_json_read_blanks_slow(zt_json_reader *r);
ZT_COLD bool zt_json_read_more_slow(zt_json_reader *r, const zt_json_level *level);
ZT_COLD bool zt_json_read_key_slow(zt_json_reader *r, bool named, zt_json_string *out);
ZT_COLD bool zt_json_read_uint_slow(zt_json_reader *r, uint64_t *out);
bool zt_json_read_text_slow(zt_json_reader *r, zt_json_string *out);

/* Skips white space, which most writers omit. */
ZT_INLINE void zt_json_read_blanks(zt_json_reader *r){
  if( r->p<r->end && *r->p<=' ' ) zt_json_read_blanks_slow(r);
}

/* Returns the type of the next value by its first byte: ZT_JSON_INTEGER for any number. */
zt_json_type zt_json_read_peek(zt_json_reader *r);

/* Returns the high bit of each byte that ends plain text: a quote, a backslash, a control
** character. No carry leaves a byte. */
ZT_INLINE uint64_t zt_json_stops(uint64_t x){
  const uint64_t ones = 0x0101010101010101u, low = 0x7F7F7F7F7F7F7F7Fu;
  uint64_t quote = x ^ ones*'"', backslash = x ^ ones*'\\';
  uint64_t none = ((quote & low)+low) | quote;
  none &= ((backslash & low)+low) | backslash;
  none &= ((x & low)+ones*0x60) | x;
  return ~none & ~low;
}

/* Returns how many bytes of a loaded word precede the first whose high bit is set in mask, which is
** not 0. */
ZT_INLINE unsigned zt_json_first(uint64_t mask){
#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__==__ORDER_LITTLE_ENDIAN__
  return (unsigned)__builtin_ctzll(mask)>>3;
#else
  uint8_t bytes[8];
  unsigned i = 0;
  memcpy(bytes, &mask, sizeof(bytes));
  while( !bytes[i] ) i++;
  return i;
#endif
}

/* Reads the next value, which must be text. */
ZT_INLINE bool zt_json_read_text(zt_json_reader *r, zt_json_string *out){
  const uint8_t *from, *p;
  uint64_t high = 0;
  if( r->p==r->end || *r->p!='"' ) return zt_json_read_text_slow(r, out);
  from = r->p+1;
  for(p=from; r->end-p>=8; p+=8){
    uint64_t x = zt_load64(p), stops = zt_json_stops(x);
    high |= x;   /* In the last word they may come from behind the text, which is then read
                 ** slowly */
    if( stops ){
      p += zt_json_first(stops);
      if( *p!='"' || (high & 0x8080808080808080u) ) break;
      *out = (zt_json_string){ { (const char*)from, (size_t)(p-from) }, false };
      r->p = p+1;
      return true;
    }
  }
  return zt_json_read_text_slow(r, out);
}

/* Returns how many of 8 bytes are digits before any other character, and their value in *out. */
ZT_INLINE unsigned zt_json_digits(const uint8_t *p, uint64_t *out){
#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__==__ORDER_LITTLE_ENDIAN__
  const uint64_t ones = 0x0101010101010101u, low = 0x7F7F7F7F7F7F7F7Fu;
  uint64_t x = zt_load64(p) ^ ones*'0';   /* Digits become 0 to 9 */
  uint64_t others = (((x & low) + ones*(0x80-10)) | x) & ~low;
  unsigned n = others ? zt_json_first(others) : 8;
  *out = 0;
  if( n==0 ) return 0;
  x <<= 64-8*n;   /* The first digit is in the lowest byte: leading zeros */
  x = (x*10 + (x>>8)) & 0x00FF00FF00FF00FFu;
  x = (x*100 + (x>>16)) & 0x0000FFFF0000FFFFu;
  *out = (x*10000 + (x>>32)) & 0xFFFFFFFFu;
#else
  unsigned n = 0;
  for(*out=0; n<8 && p[n]>='0' && p[n]<='9'; n++) *out = 10**out + (p[n] - (uint64_t)'0');
#endif
  return n;
}

/* Reads the next value, which must be an unsigned integer. */
ZT_INLINE bool zt_json_read_uint(zt_json_reader *r, uint64_t *out){
  static const uint32_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
  const uint8_t *p = r->p;
  uint64_t u, rest;
  unsigned n;
  if( r->end-p<=16 ) return zt_json_read_uint_slow(r, out);
  p += n = zt_json_digits(p, &u);
  if( n==8 ){
    p += n = zt_json_digits(p, &rest);
    if( n==8 ) return zt_json_read_uint_slow(r, out);
    u = u*powers[n] + rest;
  }
  if( p==r->p || (*p!=',' && *p!=']' && *p!='}') || (*r->p=='0' && p-r->p>1) ){
    return zt_json_read_uint_slow(r, out);
  }
  *out = u;
  r->p = p;
  return true;
}

/* Skips n bytes if they are next. For the usual output of writers: the caller must handle the
** rest. */
ZT_INLINE bool zt_json_read_pass(zt_json_reader *r, const char *z, size_t n){
  if( (size_t)(r->end-r->p)<n || !zt_equal(r->p, z, n) ) return false;
  r->p += n;
  return true;
}
#define zt_json_read_usual(r, literal) zt_json_read_pass((r), "" literal, sizeof(literal)-1)

/* Enters the next value, which must be an array or an object as `type` says. */
ZT_COLD bool zt_json_read_open_slow(zt_json_reader *r, zt_json_type type, zt_json_level *level);
ZT_INLINE bool zt_json_read_open(zt_json_reader *r, zt_json_type type, zt_json_level *level){
  bool array = type==ZT_JSON_ARRAY;
  if( r->p==r->end || *r->p!=(array ? '[' : '{') || r->depth==ZT_JSON_MAX_DEPTH ){
    return zt_json_read_open_slow(r, type, level);
  }
  *level = (zt_json_level){ array ? ']' : '}', true };
  r->p++;
  r->depth++;
  return true;
}

/* Returns whether another element or member follows. False at the end, which is consumed, and after
** a failure. */
ZT_INLINE bool zt_json_read_more(zt_json_reader *r, zt_json_level *level){
  zt_json_read_blanks(r);
  if( r->p==r->end ) return zt_json_read_more_slow(r, level);
  if( *r->p==level->close ){
    r->p++;
    r->depth--;
    return false;
  }
  if( level->first ){
    level->first = false;
    return true;
  }
  if( *r->p!=',' ) return zt_json_read_more_slow(r, level);
  r->p++;
  zt_json_read_blanks(r);
  return (r->p<r->end && *r->p!=level->close) || zt_json_read_more_slow(r, level);
}

/* Reads the next member's name and colon. */
ZT_INLINE bool zt_json_read_key(zt_json_reader *r, zt_json_string *out){
  if( r->p==r->end || *r->p!='"' ) return zt_json_read_key_slow(r, false, out);
  if( !zt_json_read_text(r, out) ) return false;
  zt_json_read_blanks(r);
  if( r->p==r->end || *r->p!=':' ) return zt_json_read_key_slow(r, true, out);
  r->p++;
  zt_json_read_blanks(r);
  return true;
}

#endif
