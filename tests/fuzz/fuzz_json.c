/*
** Any bytes through the pull decoder for JSON (ext/core/json_read.h).
**
** The judge is a second decoder, written below from RFC 8259 and the rules J1 to J11, character by character and as plain
** as can be. Both write what they read in one form: the type of a value, the decoded bytes of a text, the digits of a number.
** Properties:
**   - a walk and zt_json_read_skip() accept exactly what the judge accepts, and fail with the same words; what they read is
**     what the judge reads
**   - the same bytes amid spaces, where words of eight bytes are read at once, are the same
**   - zt_json_string_equal() finds a text equal to what it unescapes to, and to nothing that is longer or shorter
**   - SQLite's json_valid() agrees that what is accepted is JSON, where the two mean the same: it ends at a NUL, and is made
**     for less than 64 levels
*/
#include <string.h>
#include "core/host.h"
#include "core/json_read.h"
#include "core/utf8.h"
#include "fuzz.h"

static sqlite3 *db;
static sqlite3_stmt *json_valid;

int LLVMFuzzerInitialize(int *argc, char ***argv){
  (void)argc;
  (void)argv;
  CHECK(sqlite3_open(":memory:", &db)==SQLITE_OK, "open");
  CHECK(sqlite3_prepare_v2(db, "SELECT json_valid(?1)", -1, &json_valid, NULL)==SQLITE_OK, "%s", sqlite3_errmsg(db));
  return 0;
}

/* The value that was read, in one form for both readers. */
typedef struct form {
  uint8_t *p;
  size_t n, room;
} form;

static void put(form *f, const void *p, size_t n){
  CHECK(n<=f->room-f->n, "the form's room is too small");
  memcpy(f->p+f->n, p, n);
  f->n += n;
}

static void put_byte(form *f, int byte){
  uint8_t u = (uint8_t)byte;
  put(f, &u, 1);
}

/* --- The judge --- */

typedef struct judge {
  const uint8_t *p, *end;
  int depth;
  form *out;
} judge;

static void judge_blanks(judge *j){
  while( j->p<j->end && memchr(" \t\n\r", *j->p, 4) ) j->p++;
}

static bool judge_is(judge *j, int character){
  if( j->p==j->end || *j->p!=character ) return false;
  j->p++;
  return true;
}

static bool judge_hex(judge *j, uint32_t *out){
  *out = 0;
  for(int i=0; i<4; i++){
    const char *digits = "0123456789abcdef0123456789ABCDEF", *at;
    if( j->p==j->end || !*j->p || !(at = strchr(digits, *j->p)) ) return false;
    *out = *out*16 + (uint32_t)((at-digits)%16);
    j->p++;
  }
  return true;
}

static void judge_put(judge *j, uint32_t u){
  if( u<0x80 ) put_byte(j->out, (int)u);
  else if( u<0x800 ) put_byte(j->out, 0xC0|(int)(u>>6));
  else if( u<0x10000 ) put_byte(j->out, 0xE0|(int)(u>>12));
  else put_byte(j->out, 0xF0|(int)(u>>18));
  if( u>=0x10000 ) put_byte(j->out, 0x80|(int)(u>>12 & 63));
  if( u>=0x800 ) put_byte(j->out, 0x80|(int)(u>>6 & 63));
  if( u>=0x80 ) put_byte(j->out, 0x80|(int)(u & 63));
}

/* Behind a backslash. */
static bool judge_escape(judge *j){
  uint32_t u, low;
  int ch = j->p<j->end ? *j->p++ : 0;
  switch( ch ){
    case '"': case '\\': case '/': judge_put(j, (uint32_t)ch); return true;
    case 'b': judge_put(j, 8); return true;
    case 'f': judge_put(j, 12); return true;
    case 'n': judge_put(j, 10); return true;
    case 'r': judge_put(j, 13); return true;
    case 't': judge_put(j, 9); return true;
    case 'u': break;
    default: return false;
  }
  if( !judge_hex(j, &u) ) return false;
  if( u>=0xDC00 && u<=0xDFFF ) return false;
  if( u>=0xD800 && u<=0xDBFF ){
    if( !judge_is(j, '\\') || !judge_is(j, 'u') || !judge_hex(j, &low) || low<0xDC00 || low>0xDFFF ) return false;
    u = 0x10000 + (u-0xD800)*0x400 + (low-0xDC00);
  }
  judge_put(j, u);
  return true;
}

static bool judge_text(judge *j){
  if( !judge_is(j, '"') ) return false;
  put_byte(j->out, 't');
  while( j->p<j->end && *j->p!='"' ){
    size_t n = zt_utf8_length(j->p, (size_t)(j->end-j->p));
    if( *j->p<0x20 || (*j->p>=0x80 && n==1) ) return false;
    if( *j->p=='\\' ){
      j->p++;
      if( !judge_escape(j) ) return false;
    }else{
      put(j->out, j->p, n);
      j->p += n;
    }
  }
  put_byte(j->out, 0xFF);
  return judge_is(j, '"');
}

static size_t judge_digits(judge *j){
  size_t n = 0;
  for(; j->p<j->end && *j->p>='0' && *j->p<='9'; n++) j->p++;
  return n;
}

/* A number's type, by its digits. */
static int judge_number_type(const char *z, bool real){
  const char *most = *z=='-' ? "9223372036854775808" : "18446744073709551615";
  size_t n = strlen(z+(*z=='-')), nMost = strlen(most);
  if( real ) return 'r';
  return n>nMost || (n==nMost && strcmp(z+(*z=='-'), most)>0) ? 'l' : 'i';
}

static bool judge_number(judge *j){
  const uint8_t *from = j->p, *first;
  char z[32] = { 0 };
  bool real = false;
  size_t n;
  judge_is(j, '-');
  first = j->p;
  n = judge_digits(j);
  if( n==0 || (n>1 && *first=='0') ) return false;
  memcpy(z, from, (size_t)(j->p-from)<31 ? (size_t)(j->p-from) : 31);
  if( judge_is(j, '.') ){
    real = true;
    if( judge_digits(j)==0 ) return false;
  }
  if( judge_is(j, 'e') || judge_is(j, 'E') ){
    real = true;
    if( !judge_is(j, '+') ) judge_is(j, '-');
    if( judge_digits(j)==0 ) return false;
  }
  put_byte(j->out, judge_number_type(z, real));
  put(j->out, from, (size_t)(j->p-from));
  return true;
}

static bool judge_value(judge *j);

static bool judge_nested(judge *j, bool object){
  int close = *j->p++=='[' ? ']' : '}';
  if( ++j->depth>ZT_JSON_MAX_DEPTH ) return false;
  put_byte(j->out, object ? '{' : '[');
  judge_blanks(j);
  while( !judge_is(j, close) ){
    if( object ){
      judge_blanks(j);
      if( !judge_text(j) ) return false;
      judge_blanks(j);
      if( !judge_is(j, ':') ) return false;
    }
    if( !judge_value(j) ) return false;
    if( judge_is(j, ',') ){
      judge_blanks(j);
      if( j->p==j->end || *j->p==close ) return false;
    }else if( j->p==j->end || *j->p!=close ){
      return false;
    }
  }
  put_byte(j->out, close);
  j->depth--;
  return true;
}

static bool judge_word(judge *j, const char *word){
  for(const char *z=word; *z; z++) if( !judge_is(j, *z) ) return false;
  put_byte(j->out, *word);
  return true;
}

static bool judge_value(judge *j){
  bool ok;
  judge_blanks(j);
  if( j->p==j->end ) return false;
  if( *j->p=='{' || *j->p=='[' ) ok = judge_nested(j, *j->p=='{');
  else if( *j->p=='"' ) ok = judge_text(j);
  else if( *j->p=='n' ) ok = judge_word(j, "null");
  else if( *j->p=='t' ) ok = judge_word(j, "true");
  else if( *j->p=='f' ) ok = judge_word(j, "false");
  else ok = judge_number(j);
  judge_blanks(j);
  return ok;
}

/* --- The decoder --- */

static void put_text(zt_json_string text, form *out){
  char *plain = malloc(text.raw.n+1), *longer = malloc(text.raw.n+1);
  size_t n = zt_json_unescape(text, plain);
  CHECK(n<=text.raw.n, "longer than it was written");
  CHECK(zt_json_string_equal(text, (zt_text){ plain, n }), "not what it unescapes to");
  memcpy(longer, plain, n);
  longer[n] = 'x';
  CHECK(!zt_json_string_equal(text, (zt_text){ longer, n+1 }), "equal to a longer text");
  CHECK(n==0 || !zt_json_string_equal(text, (zt_text){ plain, n-1 }), "equal to a shorter text");
  put_byte(out, 't');
  put(out, plain, n);
  put_byte(out, 0xFF);
  free(plain);
  free(longer);
}

static void walk(zt_json_reader *r, form *out){
  static const char letters[] = "?nftilr";
  zt_json_type peeked = zt_json_read_peek(r);
  zt_json_value value;
  zt_json_level level;
  zt_json_string key;
  if( !zt_json_read_next(r, &value) ) return;
  CHECK(value.type==peeked || (peeked==ZT_JSON_INTEGER && (value.type==ZT_JSON_LARGE || value.type==ZT_JSON_REAL)), "%d", peeked);
  if( value.type<ZT_JSON_INTEGER ) put_byte(out, letters[value.type]);
  else if( value.type<ZT_JSON_TEXT ){
    char z[32];
    put_byte(out, letters[value.type]);
    put(out, value.text.raw.z, value.text.raw.n);
    sqlite3_snprintf(sizeof(z), z, "%s%llu", value.negative ? "-" : "", (unsigned long long)value.n);
    CHECK(value.type!=ZT_JSON_INTEGER || (strlen(z)==value.text.raw.n && memcmp(z, value.text.raw.z, value.text.raw.n)==0), "%s", z);
  }else if( value.type==ZT_JSON_TEXT ){
    put_text(value.text, out);
  }else if( zt_json_read_enter(r, value.type, &level) ){
    put_byte(out, value.type==ZT_JSON_ARRAY ? '[' : '{');
    while( zt_json_read_more(r, &level) ){
      if( value.type==ZT_JSON_OBJECT ){
        if( !zt_json_read_key(r, &key) ) return;
        put_text(key, out);
      }
      walk(r, out);
    }
    put_byte(out, value.type==ZT_JSON_ARRAY ? ']' : '}');
  }
}

/* Decode and skip n bytes; true if they are accepted, *out then being what was read. */
static bool decode(const uint8_t *data, size_t n, form *out, zt_error *err){
  zt_error skipped = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_read_init(&r, "json", (zt_span){ data, n }, err);
  walk(&r, out);
  zt_json_read_finish(&r);
  CHECK(err->rc ? r.p==r.end : r.depth==0, "%d", r.depth);
  zt_json_read_init(&r, "json", (zt_span){ data, n }, &skipped);
  zt_json_read_skip(&r);
  zt_json_read_finish(&r);
  CHECK(err->rc==skipped.rc && (!err->rc || strcmp(err->message, skipped.message)==0), "%s, %s", err->message, skipped.message);
  CHECK(!err->rc || (err->rc==SQLITE_ERROR && err->rule), "%d", err->rc);
  zt_error_clear(&skipped);
  return err->rc==SQLITE_OK;
}

static void check_sqlite(const uint8_t *data, size_t n){
  if( memchr(data, 0, n) ) return;
  sqlite3_bind_text(json_valid, 1, (const char*)data, (int)n, SQLITE_STATIC);
  CHECK(sqlite3_step(json_valid)==SQLITE_ROW, "%s", sqlite3_errmsg(db));
  CHECK(sqlite3_column_int(json_valid, 0)==1, "SQLite takes it for no JSON");
  sqlite3_reset(json_valid);
}

#define SPACES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  form judged = { malloc(4*n+16), 0, 4*n+16 }, found = { malloc(4*n+16), 0, 4*n+16 };
  uint8_t *amid = malloc(n+2*SPACES);
  judge j = { data, data+n, 0, &judged };
  zt_error err = ZT_ERROR_NONE;
  bool ok = judge_value(&j) && j.p==j.end;
  CHECK(decode(data, n, &found, &err)==ok, "the judge says %d, the decoder %s", ok, err.message);
  CHECK(!ok || (judged.n==found.n && memcmp(judged.p, found.p, found.n)==0), "something else was read");
  if( ok ) check_sqlite(data, n);
  zt_error_clear(&err);
  memset(amid, ' ', n+2*SPACES);
  memcpy(amid+SPACES, data, n);
  found.n = 0;
  j = (judge){ amid, amid+n+2*SPACES, 0, &judged };
  judged.n = 0;
  ok = judge_value(&j) && j.p==j.end;
  CHECK(decode(amid, n+2*SPACES, &found, &err)==ok, "amid spaces the judge says %d, the decoder %s", ok, err.message);
  CHECK(!ok || (judged.n==found.n && memcmp(judged.p, found.p, found.n)==0), "amid spaces something else was read");
  zt_error_clear(&err);
  free(judged.p);
  free(found.p);
  free(amid);
  return 0;
}
