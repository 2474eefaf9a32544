/* Pull decoder for JSON. See json_read.h, which defines the rules. */
#include "core/json_read.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include "core/host.h"
#include "core/utf8.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static size_t json_read_remaining(const zt_json_reader *r){
  return (size_t)(r->end - r->p);
}

void zt_json_read_init(zt_json_reader *r, const char *what, zt_span bytes, zt_error *err){
  const uint8_t *end = bytes.p+bytes.n;
  *r = (zt_json_reader){
    .base = bytes.p, .p = bytes.p, .end = end, .err = err, .what = what, .poll = end
  };
}

static const uint8_t *json_read_next_poll(const zt_json_reader *r){
  return json_read_remaining(r)>ZT_JSON_POLL_BYTES ? r->p+ZT_JSON_POLL_BYTES : r->end;
}

void zt_json_read_set_interrupt(zt_json_reader *r, const zt_interrupt *interrupt){
  r->interrupt = interrupt;
  r->poll = json_read_next_poll(r);
}

bool zt_json_read_poll_slow(zt_json_reader *r){
  r->poll = json_read_next_poll(r);
  if( !r->interrupt || zt_interrupt_check(r->interrupt, r->err)==SQLITE_OK ) return true;
  r->p = r->end;
  return false;
}

/* --- Failures --- */

bool zt_json_read_fail(zt_json_reader *r, const char *rule, const char *format, ...){
  if( !r->err->rc ){
    va_list ap;
    va_start(ap, format);
    zt_break_at(r->err, rule, r->what, (uint64_t)(r->p - r->base), format, ap);
    va_end(ap);
  }
  r->p = r->end;
  return false;
}

static bool json_read_fail_at(zt_json_reader *r, const uint8_t *p, const char *rule,
                              const char *what){
  r->p = p;
  return zt_json_read_fail(r, rule, "%s", what);
}

static const char *json_read_type_name(zt_json_type type){
  static const char *const names[] = {
    [ZT_JSON_NOTHING] = "no value", [ZT_JSON_NULL] = "null", [ZT_JSON_FALSE] = "a boolean",
    [ZT_JSON_TRUE] = "a boolean", [ZT_JSON_INTEGER] = "an integer",
    [ZT_JSON_LARGE] = "an integer beyond 64 bits", [ZT_JSON_REAL] = "a number that is no integer",
    [ZT_JSON_TEXT] = "text", [ZT_JSON_ARRAY] = "an array", [ZT_JSON_OBJECT] = "an object"
  };
  return names[type];
}

bool zt_json_read_fail_type(zt_json_reader *r, const char *expected){
  const uint8_t *at;
  zt_json_value found;
  zt_json_read_blanks(r);
  at = r->p;
  if( !zt_json_read_next(r, &found) ) return false;   /* That fault takes precedence */
  r->p = at;
  return zt_json_read_fail(r, r->type_rule, "expected %s, found %s", expected,
                           found.type==ZT_JSON_INTEGER && found.negative ? "a negative integer"
                           : json_read_type_name(found.type));
}

/* --- Between values --- */

void zt_json_read_blanks_slow(zt_json_reader *r){
  while( r->p<r->end && (*r->p==' ' || *r->p=='\n' || *r->p=='\r' || *r->p=='\t') ) r->p++;
}

/* J2, J3, J11: neither the closing bracket nor a comma or value is next. */
bool zt_json_read_more_slow(zt_json_reader *r, const zt_json_level *level){
  const char *what = level->close==']' ? "array" : "object";
  const char *rule = level->close==']' ? "J3" : "J2";
  if( r->err->rc ) return false;
  if( r->p==r->end ){
    return zt_json_read_fail(r, "J11", "the %s ends without %c", what, level->close);
  }
  if( *r->p==level->close ){
    return zt_json_read_fail(r, rule, "a comma stands before %c", level->close);
  }
  return zt_json_read_fail(r, rule, "a comma or %c was expected", level->close);
}

/* J2, J11: no name, or no colon behind it, is next. */
bool zt_json_read_key_slow(zt_json_reader *r, bool named, zt_json_string *out){
  *out = ZT_JSON_NO_STRING;
  if( r->err->rc ) return false;
  if( r->p==r->end ) return zt_json_read_fail(r, "J11", "the object ends amid a member");
  return zt_json_read_fail(r, "J2", named ? "a colon was expected" : "a name was expected");
}

bool zt_json_read_finish(zt_json_reader *r){
  zt_json_read_blanks(r);
  if( r->err->rc ) return false;
  if( r->p==r->end ) return true;
  return zt_json_read_fail(r, "J10", "%llu bytes after the root value",
                           (uint64_t)json_read_remaining(r));
}

/* --- Texts --- */

#define JSON_READ_NONE UINT32_MAX

/* Reads four hexadecimal digits. */
static uint32_t json_read_digits(const uint8_t *p){
  uint32_t u = 0;
  for(int i=0; i<4; i++){
    int digit = zt_hex_digit((char)p[i]);
    if( digit<0 ) return JSON_READ_NONE;
    u = u<<4 | (uint32_t)digit;
  }
  return u;
}

/* Decodes an escape: p is its backslash, n bytes remain. *length is its length. *rule is NULL or
** the rule that it breaks. */
static uint32_t json_read_escape(const uint8_t *p, size_t n, size_t *length, const char **rule){
  static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  const char *name = n>1 && p[1] ? strchr(names, (char)p[1]) : NULL;
  uint32_t u, low;
  *rule = NULL;
  *length = 2;
  if( name ) return (unsigned char)meanings[name-names];
  *rule = "J6";
  if( n<6 || p[1]!='u' || (u = json_read_digits(p+2))==JSON_READ_NONE ) return JSON_READ_NONE;
  *length = 6;
  *rule = "J7";
  if( u<0xD800 || u>0xDFFF ){
    *rule = NULL;
    return u;
  }
  if( u>0xDBFF || n<12 || p[6]!='\\' || p[7]!='u' ) return JSON_READ_NONE;
  low = json_read_digits(p+8);
  if( low<0xDC00 || low>0xDFFF ) return JSON_READ_NONE;
  *length = 12;
  *rule = NULL;
  return 0x10000 + ((u-0xD800)<<10) + (low-0xDC00);
}

/* J6, J7: checks the escape at p. Returns the byte behind it, NULL after a failure. */
static const uint8_t *json_read_check_escape(zt_json_reader *r, const uint8_t *p){
  const char *rule;
  size_t length;
  json_read_escape(p, (size_t)(r->end-p), &length, &rule);
  if( !rule ) return p+length;
  json_read_fail_at(r, p, rule, rule[1]=='6' ? "no such escape" : "half of a surrogate pair");
  return NULL;
}

/* J8: checks the text from p to end. */
static bool json_read_check_utf8(zt_json_reader *r, const uint8_t *p, const uint8_t *end){
  size_t n = 1;
  if( r->any_bytes || zt_utf8_valid(p, (size_t)(end-p)) ) return true;
  while( *p<0x80 || (n = zt_utf8_length(p, (size_t)(end-p)))>1 ) p += *p<0x80 ? 1 : n;
  return json_read_fail_at(r, p, "J8", "text that is not UTF-8");
}

/* Returns the first byte that ends plain text, or the end. */
static const uint8_t *json_read_stop(const uint8_t *p, const uint8_t *end){
  for(; end-p>=8; p+=8){
    uint64_t stops = zt_json_stops(zt_load64(p));
    if( stops ) return p+zt_json_first(stops);
  }
  while( p<end && *p>=0x20 && *p!='"' && *p!='\\' ) p++;
  return p;
}

bool zt_json_read_text_slow(zt_json_reader *r, zt_json_string *out){
  const uint8_t *from, *p;
  bool escaped = false;
  *out = ZT_JSON_NO_STRING;
  zt_json_read_blanks(r);
  if( r->p==r->end || *r->p!='"' ) return zt_json_read_fail_type(r, "text");
  from = r->p+1;
  for(p=from; (p = json_read_stop(p, r->end))<r->end && *p=='\\'; escaped=true){
    p = json_read_check_escape(r, p);
    if( !p ) return false;
  }
  if( p==r->end ) return json_read_fail_at(r, p, "J11", "a text ends without \"");
  if( *p!='"' ){
    return json_read_fail_at(r, p, "J5", "a control character in a text must be escaped");
  }
  if( !json_read_check_utf8(r, from, p) ) return false;
  *out = (zt_json_string){ { (const char*)from, (size_t)(p-from) }, escaped };
  r->p = p+1;
  return true;
}

/* Takes the next piece of the decoded text: all up to an escape, or the character of one escape,
** which is written to room. False at the end. */
static bool json_read_piece(zt_text *rest, char room[4], zt_text *piece){
  const char *backslash = rest->n ? memchr(rest->z, '\\', rest->n) : NULL;
  const char *rule;
  size_t n = backslash ? (size_t)(backslash-rest->z) : rest->n;
  *piece = (zt_text){ rest->z, n };
  if( n==0 && backslash ){
    uint32_t u = json_read_escape((const uint8_t*)rest->z, rest->n, &n, &rule);
    *piece = (zt_text){ room, zt_utf8_put((uint8_t*)room, u) };
  }
  rest->z += n;
  rest->n -= n;
  return piece->n>0;
}

size_t zt_json_unescaped_length(zt_json_string text){
  zt_text rest = text.raw, piece;
  char room[4];
  size_t n = 0;
  while( json_read_piece(&rest, room, &piece) ) n += piece.n;
  return n;
}

size_t zt_json_unescape(zt_json_string text, char *out){
  zt_text rest = text.raw, piece;
  char room[4], *w = out;
  for(; json_read_piece(&rest, room, &piece); w+=piece.n) memcpy(w, piece.z, piece.n);
  return (size_t)(w-out);
}

bool zt_json_strings_equal(zt_json_string a, zt_json_string b){
  zt_text rest = a.raw, piece = { NULL, 0 }, other_rest = b.raw, other = { NULL, 0 };
  char room[4], other_room[4];
  for(;;){
    size_t n;
    bool more = piece.n || json_read_piece(&rest, room, &piece);
    bool other_more = other.n || json_read_piece(&other_rest, other_room, &other);
    if( !more || !other_more ) return more==other_more;
    n = piece.n<other.n ? piece.n : other.n;
    if( memcmp(piece.z, other.z, n)!=0 ) return false;
    piece = (zt_text){ piece.z+n, piece.n-n };
    other = (zt_text){ other.z+n, other.n-n };
  }
}

bool zt_json_string_equal_slow(zt_json_string text, zt_text plain){
  zt_text rest = text.raw, piece;
  char room[4];
  while( json_read_piece(&rest, room, &piece) ){
    if( piece.n>plain.n || memcmp(piece.z, plain.z, piece.n)!=0 ) return false;
    plain = (zt_text){ plain.z+piece.n, plain.n-piece.n };
  }
  return plain.n==0;
}

uint64_t zt_json_string_hash(zt_json_string text, uint64_t seed){
  zt_text rest = text.raw, piece;
  XXH3_state_t state;
  char room[4];
  if( !text.escaped ) return XXH3_64bits_withSeed(rest.z, rest.n, seed);
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset_withSeed(&state, seed);
  while( json_read_piece(&rest, room, &piece) ) XXH3_64bits_update(&state, piece.z, piece.n);
  return XXH3_64bits_digest(&state);
}

/* --- Numbers --- */

static const uint8_t *json_read_past_digits(const uint8_t *p, const uint8_t *end){
  while( p<end && *p>='0' && *p<='9' ) p++;
  return p;
}

/* J4: skips the digits that must follow a sign, a point or an e. NULL after a failure. */
static const uint8_t *json_read_need_digits(zt_json_reader *r, const uint8_t *p){
  const uint8_t *q = json_read_past_digits(p, r->end);
  if( q>p ) return q;
  json_read_fail_at(r, p, p==r->end ? "J11" : "J4",
                    p==r->end ? "a number ends without a digit" : "a digit was expected");
  return NULL;
}

/* Reads the digits from p to q. The type is ZT_JSON_LARGE if they do not fit. */
static void json_read_integer(const uint8_t *p, const uint8_t *q, zt_json_value *out){
  const uint64_t max = out->negative ? (uint64_t)1<<63 : UINT64_MAX;
  out->type = ZT_JSON_INTEGER;
  for(; p<q; p++){
    uint64_t digit = (uint64_t)(*p-'0');
    if( out->n>(max-digit)/10 ){
      out->type = ZT_JSON_LARGE;
      out->n = 0;
      return;
    }
    out->n = 10*out->n + digit;
  }
}

/* J4. Reads a number. */
static bool json_read_number(zt_json_reader *r, zt_json_value *out){
  const uint8_t *from = r->p, *digits, *p;
  out->negative = *from=='-';
  digits = from+out->negative;
  p = json_read_need_digits(r, digits);
  if( !p ) return false;
  if( *digits=='0' && p-digits>1 ) return json_read_fail_at(r, digits, "J4", "a leading zero");
  json_read_integer(digits, p, out);
  if( p<r->end && *p=='.' ){
    out->type = ZT_JSON_REAL;
    p = json_read_need_digits(r, p+1);
  }
  if( p && p<r->end && (*p=='e' || *p=='E') ){
    out->type = ZT_JSON_REAL;
    p++;
    p = json_read_need_digits(r, p+(p<r->end && (*p=='+' || *p=='-')));
  }
  if( !p ) return false;
  if( out->type==ZT_JSON_REAL ) out->n = 0;
  out->text.raw = (zt_text){ (const char*)from, (size_t)(p-from) };
  r->p = p;
  return true;
}

bool zt_json_read_uint_slow(zt_json_reader *r, uint64_t *out){
  const uint8_t *at;
  zt_json_value value;
  *out = 0;
  zt_json_read_blanks(r);
  at = r->p;
  if( !zt_json_read_next(r, &value) ) return false;
  if( value.type!=ZT_JSON_INTEGER || value.negative ){
    r->p = at;
    return zt_json_read_fail_type(r, "an unsigned integer");
  }
  *out = value.n;
  return true;
}

double zt_json_read_real(zt_text number, char *room){
  const char *dot = number.n ? memchr(number.z, '.', number.n) : NULL;
  const char *point = localeconv()->decimal_point;   /* strtod() expects it */
  size_t before = dot ? (size_t)(dot-number.z) : number.n, n = 0;
  memcpy(room, number.z, before);
  if( dot ){
    n = strlen(point)<ZT_JSON_REAL_ROOM ? strlen(point) : 0;
    memcpy(room+before, point, n);
    memcpy(room+before+n, dot+1, number.n-before-1);
    n--;
  }
  room[number.n+n] = 0;
  return strtod(room, NULL);
}

/* --- Values --- */

static bool json_read_word(zt_json_reader *r, const char *word){
  size_t n = strlen(word);
  return zt_json_read_pass(r, word, n) || zt_json_read_fail(r, "J1", "a value was expected");
}

zt_json_type zt_json_read_peek(zt_json_reader *r){
  zt_json_read_blanks(r);
  if( r->p==r->end ) return ZT_JSON_NOTHING;
  switch( *r->p ){
    case '{': return ZT_JSON_OBJECT;
    case '[': return ZT_JSON_ARRAY;
    case '"': return ZT_JSON_TEXT;
    case 'n': return ZT_JSON_NULL;
    case 't': return ZT_JSON_TRUE;
    case 'f': return ZT_JSON_FALSE;
    default: return *r->p=='-' || (*r->p>='0' && *r->p<='9') ? ZT_JSON_INTEGER : ZT_JSON_NOTHING;
  }
}

bool zt_json_read_next(zt_json_reader *r, zt_json_value *out){
  bool ok = true;
  *out = (zt_json_value){ .type = zt_json_read_peek(r) };
  switch( out->type ){
    case ZT_JSON_NULL: ok = json_read_word(r, "null"); break;
    case ZT_JSON_FALSE: ok = json_read_word(r, "false"); break;
    case ZT_JSON_TRUE: ok = json_read_word(r, "true"); break;
    case ZT_JSON_TEXT: ok = zt_json_read_text(r, &out->text); break;
    case ZT_JSON_ARRAY: case ZT_JSON_OBJECT: r->p++; break;
    case ZT_JSON_NOTHING:
      ok = r->p==r->end ? zt_json_read_fail(r, "J11", "it ends where a value is to begin")
         : zt_json_read_fail(r, "J1", "a value was expected");
      break;
    default: ok = json_read_number(r, out); break;
  }
  if( !ok ) *out = (zt_json_value){ .type = ZT_JSON_NOTHING };
  return ok;
}

bool zt_json_read_enter(zt_json_reader *r, zt_json_type type, zt_json_level *level){
  *level = (zt_json_level){ type==ZT_JSON_ARRAY ? ']' : '}', true };
  if( r->depth==ZT_JSON_MAX_DEPTH ){
    return zt_json_read_fail(r, "J9", "nested deeper than %d levels", ZT_JSON_MAX_DEPTH);
  }
  r->depth++;
  return true;
}

bool zt_json_read_open_slow(zt_json_reader *r, zt_json_type type, zt_json_level *level){
  zt_json_value value;
  *level = (zt_json_level){ type==ZT_JSON_ARRAY ? ']' : '}', true };
  if( zt_json_read_peek(r)!=type ){
    return zt_json_read_fail_type(r, type==ZT_JSON_ARRAY ? "an array" : "an object");
  }
  return zt_json_read_next(r, &value) && zt_json_read_enter(r, type, level);
}

bool zt_json_read_skip(zt_json_reader *r){
  zt_json_value value;
  zt_json_level level;
  if( !zt_json_read_next(r, &value) ) return false;
  if( value.type<ZT_JSON_ARRAY ) return true;
  if( !zt_json_read_enter(r, value.type, &level) ) return false;
  while( zt_json_read_more(r, &level) && zt_json_read_poll(r) ){
    if( value.type==ZT_JSON_OBJECT && !zt_json_read_key(r, &value.text) ) return false;
    if( !zt_json_read_skip(r) ) return false;
  }
  return r->err->rc==SQLITE_OK;
}
