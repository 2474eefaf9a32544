/*
** Pages of listings of S3. See zt_s3_read_page() in s3.h.
**
** The XML that is read (XML 1.0, Fifth Edition):
**   page     := { prolog | comment | ws } element { comment | ws }
**   prolog   := "<?" any "?>"
**   comment  := "<!--" any "-->"
**   element  := "<" name { any but quotes and ">" | quoted }
**               ( "/>" | ">" { element | text | comment } "</" name ws ">" )
**   text     := characters other than "<" | "&" ( "amp" | "lt" | "gt" | "quot" | "apos" ) ";"
**             | "&#" digits ";" | "&#x" hexadecimal digits ";"
** The root is a ListBucketResult (AWS, ListObjectsV2). Of its elements these count: EncodingType,
** IsTruncated, NextContinuationToken, and Contents with Key, LastModified, ETag and Size. There are
** at most 16 levels. A document type, other entities, CDATA, an element that is not closed, a key
** or a size that is not there, and a page that goes on without a token are refused.
*/
#include "core/remote.h"

#if ZT_REMOTE
#include "core/http_answer.h"
#include "core/s3.h"
#include "core/url.h"
#include "core/utf8.h"

#define LISTING_DEPTH 16
#define LISTING_KEY 4096           /* Most bytes of a decoded key, or of another text */
#define LISTING_TEXT ((size_t)3*LISTING_KEY)

/* The elements that count. */
typedef enum listing_field {
  LISTING_NONE, LISTING_ENCODING, LISTING_TRUNCATED, LISTING_NEXT, LISTING_KEY_FIELD,
  LISTING_MODIFIED, LISTING_ETAG, LISTING_SIZE, LISTING_FIELDS
} listing_field;

typedef struct listing {
  const char *p, *end;
  zt_error *err;
  zt_text open[LISTING_DEPTH];     /* Names of the open elements */
  int depth;
  zt_s3_object *object;            /* NULL once it wants no more */
  void *context;
  bool truncated, encoded;
  char *next;                      /* Owned */
  bool has[LISTING_FIELDS];        /* Of the object */
  size_t n[LISTING_FIELDS];        /* Lengths */
  char text[LISTING_FIELDS][LISTING_TEXT];
} listing;

static void listing_fail(listing *l, const char *what){
  zt_fail_remote(l->err, "transient", "the listing is no listing: %s", what);
  l->p = l->end;
}

/* Skips to behind a literal. */
static void listing_skip(listing *l, const char *literal){
  const size_t n = strlen(literal);
  while( (size_t)(l->end-l->p)>=n && memcmp(l->p, literal, n)!=0 ) l->p++;
  if( (size_t)(l->end-l->p)<n ) listing_fail(l, "it ends too early");
  else l->p += n;
}

static bool listing_begins(const listing *l, const char *literal){
  const size_t n = strlen(literal);
  return (size_t)(l->end-l->p)>=n && memcmp(l->p, literal, n)==0;
}

static bool listing_is(zt_text name, const char *literal){
  return name.n==strlen(literal) && memcmp(name.z, literal, name.n)==0;
}

/* --- Fields --- */

static listing_field listing_field_of(const listing *l){
  static const struct { int depth; const char *name; listing_field field; } fields[] = {
    { 2, "EncodingType", LISTING_ENCODING }, { 2, "IsTruncated", LISTING_TRUNCATED },
    { 2, "NextContinuationToken", LISTING_NEXT }, { 3, "Key", LISTING_KEY_FIELD },
    { 3, "LastModified", LISTING_MODIFIED }, { 3, "ETag", LISTING_ETAG },
    { 3, "Size", LISTING_SIZE }
  };
  if( l->depth==3 && !listing_is(l->open[1], "Contents") ) return LISTING_NONE;
  for(size_t i=0; i<sizeof(fields)/sizeof(*fields); i++){
    if( l->depth==fields[i].depth && listing_is(l->open[l->depth-1], fields[i].name) ){
      return fields[i].field;
    }
  }
  return LISTING_NONE;
}

static zt_text listing_text(const listing *l, listing_field field){
  return (zt_text){ l->text[field], l->n[field] };
}

static bool listing_size(zt_text text, uint64_t *out){
  *out = 0;
  for(size_t i=0; i<text.n; i++){
    if( text.z[i]<'0' || text.z[i]>'9' || !zt_mul64(*out, 10, out)
     || !zt_add64(*out, (uint64_t)(text.z[i]-'0'), out) ) return false;
  }
  return text.n>0;
}

/* An object is complete. */
static void listing_deliver(listing *l){
  zt_text key = listing_text(l, LISTING_KEY_FIELD);
  zt_remote_state *state;
  int64_t modified = INT64_MIN;
  uint64_t size;
  if( !l->has[LISTING_KEY_FIELD] || !listing_size(listing_text(l, LISTING_SIZE), &size) ){
    listing_fail(l, "an object without a key or a size");
    return;
  }
  if( l->encoded && !zt_url_is_encoded(key) ){
    listing_fail(l, "a key with a broken escape");
    return;
  }
  if( l->encoded ) key.n = zt_url_decode(key, true, l->text[LISTING_KEY_FIELD]);
  if( key.n==0 || key.n>LISTING_KEY || zt_has_nul(key.z, key.n) ){
    listing_fail(l, "a key that is none");
    return;
  }
  if( !zt_http_date(listing_text(l, LISTING_MODIFIED), &modified) ) modified = INT64_MIN;
  if( !l->object ) return;
  state = zt_remote_state_new(size, modified, listing_text(l, LISTING_ETAG));
  if( !l->object(l->context, key, state) ) l->object = NULL;
}

/* The innermost element is complete. */
static void listing_close(listing *l){
  const listing_field field = listing_field_of(l);
  if( field==LISTING_TRUNCATED ) l->truncated = listing_is(listing_text(l, field), "true");
  if( field==LISTING_ENCODING ) l->encoded = listing_is(listing_text(l, field), "url");
  if( field==LISTING_NEXT ){
    const zt_text token = listing_text(l, field);
    sqlite3_free(l->next);
    l->next = sqlite3_mprintf("%.*s", (int)token.n, token.z);
    if( !l->next ) zt_fail_nomem(l->err);
  }
  if( l->depth==2 && listing_is(l->open[1], "Contents") ) listing_deliver(l);
  l->depth--;
}

/* --- XML --- */

/* Returns the character that an entity stands for, and moves behind it. */
static uint32_t listing_entity(listing *l){
  static const struct { const char *name; char ch; } known[] = {
    { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&apos;", '\'' }
  };
  uint32_t u = 0;
  const bool hex = listing_begins(l, "&#x");
  for(size_t i=0; i<sizeof(known)/sizeof(*known); i++){
    if( !listing_begins(l, known[i].name) ) continue;
    l->p += strlen(known[i].name);
    return (uint32_t)known[i].ch;
  }
  if( listing_begins(l, "&#") ){
    for(l->p += hex ? 3 : 2; l->p<l->end && *l->p!=';' && u<=0x10FFFF; l->p++){
      const int digit = zt_hex_digit(*l->p);
      if( digit<0 || (!hex && digit>9) ) break;
      u = u*(hex ? 16 : 10)+(uint32_t)digit;
    }
    if( l->p<l->end && *l->p++==';' && u>0 && u<=0x10FFFF && (u<0xD800 || u>0xDFFF) ) return u;
  }
  listing_fail(l, "an unknown entity");
  return 0;
}

static size_t listing_utf8(uint32_t u, char out[4]){
  if( u<0x80 ){
    out[0] = (char)u;
    return 1;
  }
  if( u<0x800 ){
    out[0] = (char)(0xC0 | u>>6);
    out[1] = (char)(0x80 | (u & 0x3F));
    return 2;
  }
  if( u<0x10000 ){
    out[0] = (char)(0xE0 | u>>12);
    out[1] = (char)(0x80 | (u>>6 & 0x3F));
    out[2] = (char)(0x80 | (u & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | u>>18);
  out[1] = (char)(0x80 | (u>>12 & 0x3F));
  out[2] = (char)(0x80 | (u>>6 & 0x3F));
  out[3] = (char)(0x80 | (u & 0x3F));
  return 4;
}

/* Reads a character of text into the field of the innermost element. */
static void listing_character(listing *l){
  const listing_field field = l->depth>0 ? listing_field_of(l) : LISTING_NONE;
  char bytes[4] = { *l->p };
  size_t n = 1;
  if( *l->p=='&' ){
    const uint32_t u = listing_entity(l);
    n = listing_utf8(u, bytes);
  }else{
    l->p++;
  }
  if( field==LISTING_NONE || l->err->rc ) return;
  if( n>LISTING_TEXT-l->n[field] ){
    listing_fail(l, "a text that is too long");
    return;
  }
  memcpy(l->text[field]+l->n[field], bytes, n);
  l->n[field] += n;
}

/* Reads the rest of a tag. Returns whether it ends with "/>". */
static bool listing_tag_end(listing *l){
  char quote = 0;
  for(; l->p<l->end; l->p++){
    if( quote ){
      if( *l->p==quote ) quote = 0;
    }else if( *l->p=='"' || *l->p=='\'' ){
      quote = *l->p;
    }else if( *l->p=='<' ){
      break;
    }else if( *l->p=='>' ){
      l->p++;
      return l->p[-2]=='/';
    }
  }
  listing_fail(l, "it ends too early");
  return false;
}

static zt_text listing_name(listing *l){
  const char *from = l->p;
  while( l->p<l->end && !strchr(" \t\r\n/>", *l->p) ) l->p++;
  return (zt_text){ from, (size_t)(l->p-from) };
}

static void listing_open(listing *l){
  zt_text name;
  listing_field field;
  l->p++;
  name = listing_name(l);
  if( name.n==0 || l->depth==LISTING_DEPTH ){
    listing_fail(l, "too deep, or no element");
    return;
  }
  l->open[l->depth++] = name;
  if( l->depth==1 && !listing_is(name, "ListBucketResult") ){
    listing_fail(l, "another document");
    return;
  }
  if( l->depth==2 && listing_is(name, "Contents") ){
    for(int i=LISTING_KEY_FIELD; i<LISTING_FIELDS; i++){
      l->has[i] = false;
      l->n[i] = 0;
    }
  }
  field = listing_field_of(l);
  l->has[field] = true;
  l->n[field] = 0;
  if( listing_tag_end(l) ) listing_close(l);
}

static void listing_end_tag(listing *l){
  zt_text name;
  l->p += 2;
  name = listing_name(l);
  if( l->depth==0 || !zt_text_equal(name, l->open[l->depth-1]) ){
    listing_fail(l, "an element that is not closed");
    return;
  }
  listing_tag_end(l);
  if( !l->err->rc ) listing_close(l);
}

/* Reads the page from its beginning. */
static void listing_read(listing *l, zt_span xml){
  zt_error *err = l->err;
  bool root = false;
  l->p = (const char*)xml.p;
  l->end = l->p+xml.n;
  l->depth = 0;
  l->truncated = false;
  sqlite3_free(l->next);
  l->next = NULL;
  while( l->p<l->end && !err->rc ){
    if( listing_begins(l, "<?") ) listing_skip(l, "?>");
    else if( listing_begins(l, "<!--") ) listing_skip(l, "-->");
    else if( listing_begins(l, "<!") ) listing_fail(l, "a document type, or CDATA");
    else if( listing_begins(l, "</") ) listing_end_tag(l);
    else if( *l->p=='<' && (l->depth>0 || !root) ){
      root = true;
      listing_open(l);
    }else if( l->depth>0 || strchr(" \t\r\n", *l->p) ) listing_character(l);
    else listing_fail(l, "text outside of it");
  }
  if( !err->rc && (!root || l->depth>0) ) listing_fail(l, "it ends too early");
  if( !err->rc && l->truncated && (!l->next || !*l->next) ){
    listing_fail(l, "no token of the next page");
  }
}

int zt_s3_read_page(zt_span xml, zt_s3_object *object, void *context, char **next, zt_error *err){
  listing *l = sqlite3_malloc64(sizeof(*l));
  *next = NULL;
  if( !l ) return zt_fail_nomem(err);
  memset(l, 0, offsetof(listing, text));
  l->err = err;
  /* Twice: the encoding of keys may be stated behind them */
  listing_read(l, xml);
  l->object = object;
  l->context = context;
  if( !err->rc ) listing_read(l, xml);
  if( !err->rc && l->truncated ){
    *next = l->next;
    l->next = NULL;
  }
  sqlite3_free(l->next);
  sqlite3_free(l);
  return err->rc;
}
#else
typedef int zt_s3_listing_is_left_out;   /* A file of C has a declaration */
#endif
