/*
** Pull decoder for JSON (RFC 8259) over bytes in memory: what json.h writes is not its concern.
** Interface to code in json_read.c.
**
** Promises: constant work per call apart from texts and zt_json_read_skip(), which can be
** interrupted; no allocation; recursion bounded by ZT_JSON_MAX_DEPTH; no read outside [base, end).
** The error is sticky: after the first failure every call returns false and sets its out-value to
** zero, so that a reader is straight-line code with one check at its end.
**
** Grammar, each rule with the section of RFC 8259:
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
**   J1   what begins a value is one of these: no comment, no byte order mark, no NaN (3)
**   J2   a member has a text, a colon and a value; one comma stands between two (4)
**   J3   one comma stands between two elements, and none behind the last (5)
**   J4   a number has no leading zero, and digits around its point and in its exponent (6)
**   J5   control characters in a text are escaped (7)
**   J6   there are no other escapes (7)
**   J7   half a surrogate pair is no character: a \ud800 to \udbff is followed by a \udc00 to
**        \udfff, which stands nowhere else (8.2)
**   J8   text is UTF-8: no overlong form, no surrogate, at most U+10FFFF (8.1)
**   J9   at most 64 levels of arrays and objects, the root value being level 1 (9)
**   J10  one root value, and nothing but ws around it (2)
**   J11  what is begun is ended (2)
** Whether a key stands twice in an object (4) is a question to who reads it.
*/
#ifndef ZT_CORE_JSON_READ_H
#define ZT_CORE_JSON_READ_H

#include "core/interrupt.h"
#include "core/span.h"

#define ZT_JSON_MAX_DEPTH 64
#define ZT_JSON_POLL_BYTES ((size_t)1 << 20)   /* Bytes between two questions whether to go on */

typedef enum zt_json_type {
  ZT_JSON_NOTHING,    /* No value begins here */
  ZT_JSON_NULL, ZT_JSON_FALSE, ZT_JSON_TRUE,
  ZT_JSON_INTEGER,    /* -2^63 to 2^64-1 */
  ZT_JSON_LARGE,      /* An integer beyond these */
  ZT_JSON_REAL,       /* A number with a point or an exponent */
  ZT_JSON_TEXT, ZT_JSON_ARRAY, ZT_JSON_OBJECT
} zt_json_type;

typedef struct zt_json_reader {
  const uint8_t *base;  /* First byte; errors count from here */
  const uint8_t *p;     /* Next byte; equals end after a failure */
  const uint8_t *end;
  zt_error *err;        /* Where the first failure goes */
  const char *what;     /* What the bytes are, before the word byte in messages; static */
  const char *type_rule;   /* What is broken by a value of another type than who reads expects;
                           ** static, NULL: no rule */
  int depth;            /* Levels open around p */
  bool any_bytes;       /* Text need not be UTF-8: it is names of files, or was checked before */
  const uint8_t *poll;  /* From here on it is asked whether to go on */
  const zt_interrupt *interrupt;   /* Who is asked; borrowed. NULL: nobody */
} zt_json_reader;

/* A text as it is written between its quotes, borrowed. */
typedef struct zt_json_string {
  zt_text raw;
  bool escaped;      /* There are escapes in it; else raw is what it means */
} zt_json_string;

/* The empty text. */
#define ZT_JSON_NO_STRING ((zt_json_string){ ZT_TEXT_INIT(""), false })

typedef struct zt_json_value {
  zt_json_type type;
  bool negative;     /* Integer: n is the magnitude of a negative one */
  uint64_t n;        /* Integer */
  zt_json_string text;   /* Text; of a number, its characters */
} zt_json_value;

/* An array or object that is being read. */
typedef struct zt_json_level {
  uint8_t close;     /* The bracket that ends it */
  bool first;        /* Nothing was read of it */
} zt_json_level;

/* Start at the first of the bytes, which no level is open around. */
void zt_json_read_init(zt_json_reader *r, const char *what, zt_span bytes, zt_error *err);

/* From here on, it may be asked that this ends. Long loops over what is decoded call
** zt_json_read_poll(), as skipping does. */
void zt_json_read_set_interrupt(zt_json_reader *r, const zt_interrupt *interrupt);

/* Record a failure at the next byte, against that rule (core/error.h). Always false. */
ZT_COLD ZT_FORMAT(3, 4) bool zt_json_read_fail(zt_json_reader *r, const char *rule,
                                               const char *format, ...);

/* Record that `expected` was wanted where another value stands. Always false. */
ZT_COLD bool zt_json_read_fail_type(zt_json_reader *r, const char *expected);

/* Read the next value: all of it, or the bracket that opens an array or object, which is then to be
** entered. */
bool zt_json_read_next(zt_json_reader *r, zt_json_value *out);

/* Begin to read the elements or members of an array or object whose bracket was read (J9). */
bool zt_json_read_enter(zt_json_reader *r, zt_json_type type, zt_json_level *level);

/* Pass over one whole value, checking it. */
bool zt_json_read_skip(zt_json_reader *r);

/* Fail unless nothing but white space is left (J10). */
bool zt_json_read_finish(zt_json_reader *r);

/* The double that is nearest to a number, large or real, of n characters. room is for n +
** ZT_JSON_REAL_ROOM bytes. */
#define ZT_JSON_REAL_ROOM 16
double zt_json_read_real(zt_text number, char *room);

/* --- Texts --- */

/* How many bytes a text means: no more than it is written in. */
size_t zt_json_unescaped_length(zt_json_string text);

/* Write what a text means to out, which has room for it. Returns its bytes. */
size_t zt_json_unescape(zt_json_string text, char *out);

/* True if the text means `plain`. */
bool zt_json_string_equal_slow(zt_json_string text, zt_text plain);
ZT_INLINE bool zt_json_string_equal(zt_json_string text, zt_text plain){
  if( text.escaped ) return zt_json_string_equal_slow(text, plain);
  return zt_text_equal(text.raw, plain);
}
/* True if two texts mean the same; and a hash, which is then the same. */
bool zt_json_strings_equal(zt_json_string a, zt_json_string b);
uint64_t zt_json_string_hash(zt_json_string text, uint64_t seed);
#define zt_json_string_is(text, literal) zt_json_string_equal((text), ZT_TEXT(literal))

/* --- What is read most, in line: a header of a hundred megabytes is walked with these --- */

/* Ask whether to go on: a failure if not. */
ZT_COLD bool zt_json_read_ask(zt_json_reader *r);

/* The same if it is time to. */
ZT_INLINE bool zt_json_read_poll(zt_json_reader *r){
  return r->p<r->poll || zt_json_read_ask(r);
}

ZT_COLD void zt_json_read_blanks_slow(zt_json_reader *r);
ZT_COLD bool zt_json_read_more_slow(zt_json_reader *r, const zt_json_level *level);
ZT_COLD bool zt_json_read_key_slow(zt_json_reader *r, bool named, zt_json_string *out);
ZT_COLD bool zt_json_read_uint_slow(zt_json_reader *r, uint64_t *out);
bool zt_json_read_text_slow(zt_json_reader *r, zt_json_string *out);

/* Pass over white space, of which most writers make none. */
ZT_INLINE void zt_json_read_blanks(zt_json_reader *r){
  if( r->p<r->end && *r->p<=' ' ) zt_json_read_blanks_slow(r);
}

/* The type of the next value as far as its first byte tells: ZT_JSON_INTEGER for any number. */
zt_json_type zt_json_read_peek(zt_json_reader *r);

/* The high bit of each byte that a text cannot go on over as it is: a quote, a backslash, a
** control character. No carry leaves a byte. */
ZT_INLINE uint64_t zt_json_stops(uint64_t x){
  const uint64_t ones = 0x0101010101010101u, low = 0x7F7F7F7F7F7F7F7Fu;
  uint64_t quote = x ^ ones*'"', backslash = x ^ ones*'\\';
  uint64_t none = ((quote & low)+low) | quote;
  none &= ((backslash & low)+low) | backslash;
  none &= ((x & low)+ones*0x60) | x;
  return ~none & ~low;
}

/* How many bytes of a word that was loaded are before the first whose high bit is set in mask,
** which is not 0. */
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

/* The next value as text; a failure if it is anything else. */
ZT_INLINE bool zt_json_read_text(zt_json_reader *r, zt_json_string *out){
  const uint8_t *from, *p;
  uint64_t high = 0;
  if( r->p==r->end || *r->p!='"' ) return zt_json_read_text_slow(r, out);
  from = r->p+1;
  for(p=from; r->end-p>=8; p+=8){
    uint64_t x = zt_load64(p), stops = zt_json_stops(x);
    high |= x;   /* That of the last word may come from behind the text: it is then read slowly */
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

/* How many of 8 bytes are digits before the first that is none; *out: the number that they are. */
ZT_INLINE unsigned zt_json_digits(const uint8_t *p, uint64_t *out){
#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__==__ORDER_LITTLE_ENDIAN__
  const uint64_t ones = 0x0101010101010101u, low = 0x7F7F7F7F7F7F7F7Fu;
  uint64_t x = zt_load64(p) ^ ones*'0';   /* Digits become 0 to 9 */
  uint64_t others = (((x & low) + ones*(0x80-10)) | x) & ~low;
  unsigned n = others ? zt_json_first(others) : 8;
  *out = 0;
  if( n==0 ) return 0;
  x <<= 64-8*n;   /* The first digit, in the lowest byte, counts most: zeros before it */
  x = (x*10 + (x>>8)) & 0x00FF00FF00FF00FFu;
  x = (x*100 + (x>>16)) & 0x0000FFFF0000FFFFu;
  *out = (x*10000 + (x>>32)) & 0xFFFFFFFFu;
#else
  unsigned n = 0;
  for(*out=0; n<8 && p[n]>='0' && p[n]<='9'; n++) *out = 10**out + (p[n] - (uint64_t)'0');
#endif
  return n;
}

/* The next value as an unsigned integer; a failure if it is anything else. */
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

/* Pass over n bytes if they are the next ones. For what most writers write; who reads must take
** what else may stand there. */
ZT_INLINE bool zt_json_read_pass(zt_json_reader *r, const char *z, size_t n){
  if( (size_t)(r->end-r->p)<n || !zt_equal(r->p, z, n) ) return false;
  r->p += n;
  return true;
}
#define zt_json_read_usual(r, literal) zt_json_read_pass((r), "" literal, sizeof(literal)-1)

/* The next value is an array or an object: read its bracket and begin to read what is in it. */
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

/* True if another element or member follows; false at the end, which is then consumed, and after
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

/* The next member's name, and what is before its value. */
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
