/*
** Any bytes through the CBOR decoder (ext/core/cbor.h) and what is built on it: joining of chunks, keys, JSON.
**
** The judge is a second decoder, written below from RFC 7049 and the rules C1 to C8, as plain as can be. It makes of an
** item its canonical form: one encoding per value, so that two items are the same value if and only if their canonical
** forms are the same bytes. Properties:
**   - zt_cbor_skip(), and a walk by zt_cbor_next() and its like, accept exactly what the judge accepts, end where it ends,
**     and stay within the bytes; both fail with the same words
**   - what is read in line (zt_cbor_uint() ...) agrees with zt_cbor_next()
**   - bytes that were checked are read the same when they are trusted
**   - zt_cbor_join() accepts exactly one root item, makes it no longer, changes no value and leaves no chunks
**   - a strict decoder accepts exactly the deterministic encoding (G1 to G6), which another judge knows
**   - zt_cbor_skip_unique() finds a key that stands twice, and no other
**   - the JSON form of what is accepted is valid JSON and of a length in proportion; unquoted by SQLite, the names in it are
**     what zt_value_name() gives
*/
#include <math.h>
#include <string.h>
#include "core/json.h"
#include "core/duplicate_keys.h"
#include "fuzz.h"
#include "../unit/items.h"

static sqlite3 *db;
static sqlite3_stmt *json_valid, *json_keys;

int LLVMFuzzerInitialize(int *argc, char ***argv){
  (void)argc;
  (void)argv;
  CHECK(sqlite3_open(":memory:", &db)==SQLITE_OK, "open");
  CHECK(sqlite3_prepare_v2(db, "SELECT json_valid(?1)", -1, &json_valid, NULL)==SQLITE_OK, "%s", sqlite3_errmsg(db));
  CHECK(sqlite3_prepare_v2(db, "SELECT key FROM json_each(?1)", -1, &json_keys, NULL)==SQLITE_OK, "%s", sqlite3_errmsg(db));
  return 0;
}

/* --- The judge --- */

typedef struct judge {
  const uint8_t *p, *end;
  uint8_t *out;          /* Canonical form; room for all that the input can make */
  size_t nOut, capacity;
  bool chunked, has_nan;
} judge;

/* A canonical head is 9 bytes, and no item is shorter than its head of one byte; a break adds an end mark. */
#define CANONICAL(n) (10*(n)+16)

static void put(judge *j, const void *p, size_t n){
  CHECK(n<=j->capacity-j->nOut, "the judge's room is too small");
  memcpy(j->out+j->nOut, p, n);
  j->nOut += n;
}

static void put_head(judge *j, unsigned major, uint64_t value){
  uint8_t head[9] = { (uint8_t)major };
  for(int i=0; i<8; i++) head[1+i] = (uint8_t)(value >> 8*i);
  put(j, head, sizeof(head));
}

/* One character of UTF-8 (RFC 3629, section 4), its length; 0: it is none. */
static size_t judge_character(const uint8_t *p, size_t n){
  size_t length = p[0]<0x80 ? 1 : p[0]<0xC2 ? 0 : p[0]<0xE0 ? 2 : p[0]<0xF0 ? 3 : p[0]<0xF5 ? 4 : 0;
  if( length==0 || length>n ) return 0;
  for(size_t i=1; i<length; i++) if( p[i]<0x80 || p[i]>0xBF ) return 0;
  if( (p[0]==0xE0 && p[1]<0xA0) || (p[0]==0xF0 && p[1]<0x90) ) return 0;   /* Overlong */
  if( (p[0]==0xED && p[1]>0x9F) || (p[0]==0xF4 && p[1]>0x8F) ) return 0;   /* Surrogates, beyond U+10FFFF */
  return length;
}

static bool judge_text(const uint8_t *p, size_t n){
  while( n>0 ){
    size_t length = judge_character(p, n);
    if( length==0 ) return false;
    p += length;
    n -= length;
  }
  return true;
}

/* An initial byte and its argument. */
static bool judge_head(judge *j, unsigned *major, unsigned *info, uint64_t *value){
  size_t width;
  if( j->p==j->end ) return false;
  *major = *j->p>>5;
  *info = *j->p & 31;
  *value = *info;
  j->p++;
  if( *info<24 || *info==31 ) return true;
  if( *info>27 ) return false;
  width = (size_t)1 << (*info-24);
  if( (size_t)(j->end - j->p)<width ) return false;
  *value = 0;
  while( width-->0 ) *value = *value<<8 | *j->p++;
  return true;
}

/* The content of a definite string. */
static bool judge_string(judge *j, unsigned major, uint64_t n){
  if( n>(uint64_t)(j->end - j->p) || (major==3 && !judge_text(j->p, (size_t)n)) ) return false;
  put(j, j->p, (size_t)n);
  j->p += n;
  return true;
}

/* A string, in chunks or not. Its length goes before the content, when it is known. */
static bool judge_whole_string(judge *j, unsigned major, unsigned info, uint64_t n){
  size_t at = j->nOut;
  unsigned chunk_major, chunk_info;
  judge patch;
  put_head(j, major, 0);
  if( info!=31 ){
    if( !judge_string(j, major, n) ) return false;
  }else{
    j->chunked = true;
    for(;;){
      if( j->p==j->end ) return false;
      if( *j->p==0xFF ) break;
      if( !judge_head(j, &chunk_major, &chunk_info, &n) || chunk_major!=major || chunk_info==31 ) return false;
      if( !judge_string(j, major, n) ) return false;
    }
    j->p++;
  }
  patch = *j;
  patch.nOut = at;
  put_head(&patch, major, j->nOut-at-9);
  return true;
}

/* A float as the double that it is. */
static void judge_float(judge *j, unsigned info, uint64_t bits){
  double r;
  float f;
  uint32_t single = (uint32_t)bits;
  if( info==25 ){
    int sign = bits & 0x8000 ? -1 : 1, exponent = (int)(bits>>10 & 31);
    double fraction = (double)(bits & 1023)/1024;
    r = exponent==31 ? (fraction>0 ? NAN : INFINITY) : exponent==0 ? ldexp(fraction, -14) : ldexp(1+fraction, exponent-15);
    r *= sign;
  }else if( info==26 ){
    memcpy(&f, &single, sizeof(f));
    r = f;
  }else{
    memcpy(&r, &bits, sizeof(r));
  }
  if( isnan(r) ) j->has_nan = true;
  memcpy(&bits, &r, sizeof(bits));
  put_head(j, 8, bits);
}

static bool judge_item(judge *j, int level);

/* The items of an array, map or tag. */
static bool judge_items(judge *j, unsigned major, unsigned info, uint64_t n, int level){
  if( level>ZT_CBOR_MAX_DEPTH ) return false;
  put_head(j, major, major==6 ? n : 0);
  if( major==6 ) return judge_item(j, level+1);
  for(uint64_t i=0; info==31 || i<n; i++){
    if( info==31 && j->p<j->end && *j->p==0xFF ){
      j->p++;
      break;
    }
    if( !judge_item(j, level+1) || (major==5 && !judge_item(j, level+1)) ) return false;
  }
  put(j, "\xFF", 1);   /* Instead of the number, which a break leaves open */
  return true;
}

static bool judge_item(judge *j, int level){
  unsigned major, info;
  uint64_t value;
  if( !judge_head(j, &major, &info, &value) ) return false;
  if( info==31 && (major<2 || major>5) ) return false;
  switch( major ){
    case 0: case 1: put_head(j, major, value); return true;
    case 2: case 3: return judge_whole_string(j, major, info, value);
    case 4: case 5: case 6: return judge_items(j, major, info, value, level);
    default: break;
  }
  if( info==24 && value<32 ) return false;
  if( info>24 ) judge_float(j, info, value);
  else put_head(j, 7, value);
  return true;
}

/* The item at the beginning of n bytes; NULL if there is none. To be freed, with j->out. */
static bool judge_begin(judge *j, const uint8_t *p, size_t n){
  *j = (judge){ .p = p, .end = p+n, .capacity = CANONICAL(n) };
  j->out = malloc(j->capacity);
  CHECK(j->out, "malloc");
  return judge_item(j, 1);
}

/* --- The decoder, item by item --- */

static void in_bounds(const zt_cbor *c){
  CHECK(c->p>=c->base && c->p<=c->end, "position %td of %td", c->p-c->base, c->end-c->base);
}

/* Reading in line must give the items that zt_cbor_next() gives. */
static void compare_inline(const zt_cbor *before, const zt_cbor *after, const zt_cbor_item *item, bool ok){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor c = *before;
  zt_cbor_level level;
  zt_text text;
  uint64_t u;
  bool got;
  c.err = &err;
  switch( zt_cbor_peek(before) ){
    case ZT_CBOR_UINT:
      got = zt_cbor_uint(&c, &u);
      CHECK(got==ok && (!ok || (u==item->n && c.p==after->p)), "zt_cbor_uint");
      break;
    case ZT_CBOR_TEXT:
      got = zt_cbor_text(&c, &text);
      CHECK(got==ok && (!ok || (text.n==item->n && c.p==after->p && text.z)), "zt_cbor_text");
      CHECK(!ok || text.n==0 || text.z==(const char*)item->p, "zt_cbor_text");
      break;
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      got = zt_cbor_open(&c, zt_cbor_peek(before), &level);
      CHECK(got==(ok && before->depth<ZT_CBOR_MAX_DEPTH), "zt_cbor_open");
      CHECK(!got || (c.p==after->p && c.depth==before->depth+1 && level.indefinite==item->indefinite), "zt_cbor_open");
      CHECK(!got || level.indefinite || level.remaining==item->n, "zt_cbor_open");
      break;
    default: break;
  }
  in_bounds(&c);
  zt_error_clear(&err);
}

static bool walk_item(zt_cbor *c){
  zt_cbor before = *c;
  zt_cbor_item item;
  zt_cbor_level level;
  bool ok = zt_cbor_next(c, &item);
  CHECK(ok==(c->err->rc==SQLITE_OK), "a failure that is not recorded");
  in_bounds(c);
  if( !before.err->rc && !before.trusted ) compare_inline(&before, c, &item, ok);
  if( !ok ){
    CHECK(c->p==c->end, "bytes are left after a failure");
    return false;
  }
  if( item.type==ZT_CBOR_TAG ){
    item.n = 1;
    item.indefinite = false;
  }else if( item.type!=ZT_CBOR_ARRAY && item.type!=ZT_CBOR_MAP ){
    return true;
  }
  if( !zt_cbor_enter(c, &item, &level) ) return false;
  while( zt_cbor_more(c, &level) ){
    if( !walk_item(c) || (item.type==ZT_CBOR_MAP && !walk_item(c)) ) return false;
  }
  return c->err->rc==SQLITE_OK;
}

/* --- Properties --- */

/* Skip and walk against the judge. */
static void check_decoder(const uint8_t *data, size_t n, const judge *j, bool good){
  zt_error e1 = ZT_ERROR_NONE, e2 = ZT_ERROR_NONE, e3 = ZT_ERROR_NONE;
  zt_cbor skipped, walked, trusted;
  bool s, w;
  zt_cbor_init(&skipped, data, n, &e1);
  zt_cbor_init(&walked, data, n, &e2);
  s = zt_cbor_skip(&skipped);
  w = walk_item(&walked);
  in_bounds(&skipped);
  CHECK(s==good, "skipped: %d (%s), judged: %d", s, e1.message, good);
  CHECK(w==good, "walked: %d (%s), judged: %d", w, e2.message, good);
  if( good ){
    CHECK(skipped.p==j->p && walked.p==j->p, "ends at %td, %td; judged: %td", skipped.p-data, walked.p-data, j->p-data);
    CHECK(skipped.depth==0 && walked.depth==0, "levels are open");
    CHECK(skipped.chunked==j->chunked && walked.chunked==j->chunked, "chunks");
    zt_cbor_init_trusted(&trusted, (zt_span){ data, n }, 0, 0, &e3);
    CHECK(walk_item(&trusted) && trusted.p==j->p, "trusted bytes are read differently");
  }else{
    CHECK(e1.message && e2.message && strcmp(e1.message, e2.message)==0, "'%s', '%s'", e1.message, e2.message);
  }
  zt_error_clear(&e1);
  zt_error_clear(&e2);
  zt_error_clear(&e3);
}

/* The JSON form of one item. */
static void check_json(const uint8_t *data, size_t n){
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_cbor c;
  zt_cbor_init_trusted(&c, (zt_span){ data, n }, 0, 0, &err);
  json_item(out, &c);
  CHECK(!err.rc, "%s", err.message);
  CHECK(sqlite3_str_errcode(out)==SQLITE_OK, "sqlite3_str: %d", sqlite3_str_errcode(out));
  CHECK((size_t)sqlite3_str_length(out)<=16*n+64, "%zu bytes make %d of JSON", n, sqlite3_str_length(out));
  sqlite3_bind_text(json_valid, 1, sqlite3_str_value(out), sqlite3_str_length(out), SQLITE_STATIC);
  CHECK(sqlite3_step(json_valid)==SQLITE_ROW && sqlite3_column_int(json_valid, 0)==1, "not JSON: %s", sqlite3_str_value(out));
  sqlite3_reset(json_valid);
  sqlite3_clear_bindings(json_valid);
  sqlite3_free(sqlite3_str_finish(out));
}

/* The names of a map's members, as SQLite reads them. It ends a text at U+0000, so nothing behind one is compared. */
static void check_names(const uint8_t *data, size_t n){
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_cbor whole, c;
  zt_cbor_level level;
  zt_cbor_init_trusted(&whole, (zt_span){ data, n }, 0, 0, &err);
  c = whole;
  json_item(out, &whole);
  sqlite3_bind_text(json_keys, 1, sqlite3_str_value(out), sqlite3_str_length(out), SQLITE_STATIC);
  for(zt_cbor_open(&c, ZT_CBOR_MAP, &level); zt_cbor_more(&c, &level); zt_cbor_skip(&c)){
    sqlite3_str *key = sqlite3_str_new(NULL);
    const char *expected, *found;
    json_key(key, &c);
    expected = sqlite3_str_length(key) ? sqlite3_str_value(key) : "";
    CHECK(sqlite3_step(json_keys)==SQLITE_ROW, "a member is missing: %s", expected);
    found = (const char*)sqlite3_column_text(json_keys, 0);
    CHECK(found && strcmp(found, expected)==0, "member '%s', its key is '%s'", found, expected);
    sqlite3_free(sqlite3_str_finish(key));
  }
  CHECK(sqlite3_step(json_keys)==SQLITE_DONE, "a member too many: %s", sqlite3_column_text(json_keys, 0));
  sqlite3_reset(json_keys);
  sqlite3_clear_bindings(json_keys);
  sqlite3_free(sqlite3_str_finish(out));
}

/* The canonical form of a root item, the tag 55799 before it left out: that tag means nothing. */
static bool judge_root(judge *j, const uint8_t *p, size_t n){
  unsigned major, info;
  uint64_t value;
  judge head = { .p = p, .end = p+n };
  if( n>0 && p[0]>>5==6 && judge_head(&head, &major, &info, &value) && value==55799 && info!=31 ) p = head.p;
  return judge_begin(j, p, (size_t)(head.end - p)) && j->p==j->end;
}

/* Joining chunks: of all n bytes, one root item. */
static void check_join(const uint8_t *data, size_t n){
  zt_error err = ZT_ERROR_NONE;
  uint8_t *copy = malloc(n+1);
  judge before = { 0 }, after = { 0 };
  bool good = judge_root(&before, data, n);
  size_t joined, again;
  CHECK(copy, "malloc");
  memcpy(copy, data, n);
  joined = zt_cbor_join(copy, n, NULL, &err);
  CHECK((joined>0)==good && (err.rc==SQLITE_OK)==good, "joined: %zu (%s), judged: %d", joined, err.message, good);
  CHECK(joined<=n, "%zu bytes became %zu", n, joined);
  if( good ){
    CHECK(judge_begin(&after, copy, joined) && after.p==after.end, "not one item any more");
    CHECK(!after.chunked, "chunks are left");
    CHECK(after.nOut==before.nOut && memcmp(after.out, before.out, after.nOut)==0, "another value");
    check_json(copy, joined);
    if( copy[0]>>5!=6 ){
      again = zt_cbor_join(copy, joined, NULL, &err);
      CHECK(again==joined, "joining twice: %zu, then %zu", joined, again);
    }
  }
  zt_error_clear(&err);
  free(before.out);
  free(after.out);
  free(copy);
}

#define MANY_KEYS 512   /* More are not compared, one with another */

/* Is there a key twice in the map, which was judged to be good? The canonical forms of its keys are compared. */
static bool judge_duplicates(const uint8_t *data, size_t n, bool *tell){
  judge keys[MANY_KEYS], value;
  judge head = { .p = data, .end = data+n };
  unsigned major, info;
  uint64_t pairs, i, nKeys = 0;
  bool found = false;
  *tell = judge_head(&head, &major, &info, &pairs);
  for(i=0; (info==31 || i<pairs) && nKeys<MANY_KEYS; i++){
    if( info==31 && *head.p==0xFF ) break;
    judge *key = &keys[nKeys++];
    judge_begin(key, head.p, (size_t)(head.end - head.p));
    if( key->has_nan ) *tell = false;   /* Which NaNs are the same value is nobody's rule */
    head.p = key->p;
    judge_begin(&value, head.p, (size_t)(head.end - head.p));
    head.p = value.p;
    free(value.out);
  }
  if( nKeys==MANY_KEYS ) *tell = false;
  for(uint64_t a=0; a<nKeys; a++){
    for(uint64_t b=0; b<a; b++){
      if( keys[a].nOut==keys[b].nOut && memcmp(keys[a].out, keys[b].out, keys[a].nOut)==0 ) found = true;
    }
  }
  for(i=0; i<nKeys; i++) free(keys[i].out);
  return found;
}

static void check_unique(const uint8_t *data, const judge *j){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor c;
  bool tell, duplicate, ok;
  size_t n = (size_t)(j->p - data);
  duplicate = judge_duplicates(data, n, &tell);
  if( !tell ) return;
  zt_cbor_init(&c, data, n, &err);
  ok = zt_cbor_skip_unique(&c, "S2", "the map");
  CHECK(ok==!duplicate, "unique: %d (%s), judged: %d", ok, err.message, !duplicate);
  CHECK(!ok || c.p==j->p, "ends at %td; judged: %td", c.p-data, j->p-data);
  zt_error_clear(&err);
}

/* --- The deterministic encoding --- */

typedef struct plain {
  const uint8_t *p, *end;
} plain;

/* The argument of a head, in the shortest form. */
static bool plain_argument(plain *j, unsigned info, uint64_t *n){
  unsigned width = info<24 ? 0 : 1u << (info-24);
  *n = info;
  if( info>27 || (size_t)(j->end-j->p)<width ) return false;
  if( width ) *n = 0;
  for(unsigned i=0; i<width; i++) *n = *n<<8 | *j->p++;
  return width==0 || (width==1 ? *n>=24 : *n >> 4*width!=0);
}

/* True if a number of 16 bits has the value. */
static bool plain_fits_half(double x){
  x = fabs(x);
  if( isinf(x) ) return true;
  if( x>65504 ) return false;
  x = ldexp(x, 24);
  if( x!=floor(x) ) return false;
  while( x>=2048 && fmod(x, 2)==0 ) x /= 2;
  return x<2048;
}

static bool plain_float(plain *j, unsigned info){
  unsigned width = 1u << (info-24);
  uint64_t bits = 0;
  double x;
  float f;
  if( (size_t)(j->end-j->p)<width ) return false;
  for(unsigned i=0; i<width; i++) bits = bits<<8 | *j->p++;
  if( width==2 ) return (bits & 0x7C00)!=0x7C00 || (bits & 0x3FF)==0 || bits==0x7E00;
  if( width==4 ){
    uint32_t b = (uint32_t)bits;
    memcpy(&f, &b, 4);
    return !isnan(f) && !plain_fits_half((double)f);
  }
  memcpy(&x, &bits, 8);
  if( isnan(x) || plain_fits_half(x) ) return false;
  return fabs(x)>3.4028234663852886e38 || (double)(float)x!=x;
}

/* One item, `depth` levels within others. */
static bool plain_item(plain *j, unsigned depth){
  plain last = { NULL, NULL };
  unsigned major, info;
  uint64_t n;
  if( j->p==j->end ) return false;
  major = *j->p>>5;
  info = *j->p++ & 31;
  if( major==7 ) return info>=25 && info<=27 ? plain_float(j, info) : info>=20 && info<=22;
  if( major==6 || !plain_argument(j, info, &n) ) return false;
  if( major<2 ) return true;
  if( major<4 ){
    const uint8_t *end;
    if( n>(uint64_t)(j->end-j->p) ) return false;
    end = j->p+n;
    while( major==3 && j->p<end ){
      size_t length = judge_character(j->p, (size_t)(end-j->p));
      if( length==0 ) return false;
      j->p += length;
    }
    j->p = end;
    return true;
  }
  if( n>(uint64_t)(j->end-j->p) || (n>0 ? depth>=32 : depth>32) ) return false;
  for(uint64_t i=0; i<n; i++){
    plain key = { j->p, NULL };
    if( !plain_item(j, depth+1) ) return false;
    if( major==4 ) continue;
    key.end = j->p;
    if( last.p ){
      size_t a = (size_t)(last.end-last.p), b = (size_t)(key.end-key.p);
      int order = memcmp(last.p, key.p, a<b ? a : b);
      if( order>0 || (order==0 && a>=b) ) return false;
    }
    last = key;
    if( !plain_item(j, depth+1) ) return false;
  }
  return true;
}

static void check_strict(const uint8_t *data, size_t n){
  zt_error err = ZT_ERROR_NONE;
  plain j = { data, data+n };
  bool ok, good = plain_item(&j, 0);
  zt_cbor c;
  zt_cbor_init(&c, data, n, &err);
  zt_cbor_make_strict(&c);
  ok = zt_cbor_skip(&c);
  in_bounds(&c);
  CHECK(ok==good, "strict: %d (%s), judged: %d", ok, err.message, good);
  if( good ) CHECK(c.p==j.p && c.depth==0 && !c.chunked, "strict: ends at %td, judged: %td", c.p-data, j.p-data);
  else CHECK(err.rule, "strict: no rule: %s", err.message);
  zt_error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  judge j;
  bool good;
  if( n>8192 ) return 0;   /* Nothing new in what is longer, and keys are compared in quadratic time */
  good = judge_begin(&j, data, n);
  check_decoder(data, n, &j, good);
  check_join(data, n);
  check_strict(data, n);
  if( good && !j.chunked ) check_json(data, (size_t)(j.p - data));
  if( good && !j.chunked && data[0]>>5==5 ){
    check_unique(data, &j);
    check_names(data, (size_t)(j.p - data));
  }
  free(j.out);
  return 0;
}
