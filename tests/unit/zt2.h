/*
** A writer of zTensor 2 files. A manifest is written in a notation that shows what is in it, and that can say what no
** writer would:
**
**   { k: v, ... }  [ v, ... ]   a map, an array; keys stay in the order in which they are given
**   {_ ... }  {_0 ... }         a map of indefinite length; one whose head has 1 << 0 bytes more; arrays likewise
**   {+ ... }                    a map that promises a pair more than it has
**   'text'  'ab'*512            text; the same 512 times over
**   7  -1  true  false  null    numbers and simple values
**   <f97e00>                    these very bytes, whatever they are; counted as one item
**   (30)0                       an item within 30 arrays
**   ^                           nothing: marks a place, of which a message speaks
**
** Heads are the shortest. The footer is right, so that what a manifest breaks is all that is wrong.
*/
#ifndef ZT_TESTS_UNIT_ZT2_H
#define ZT_TESTS_UNIT_ZT2_H

#include "test.h"

#include <ctype.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define ZT2_MAGIC "\x89ZT2\r\n\x1a\n"
#define ZT2_PAGE 4096
#define ZT2_FOOTER 40
#define ZT2_NO_MARK SIZE_MAX

typedef struct zt2_notation {
  const char *z;    /* The unread rest */
  size_t mark;      /* Position of the mark, ZT2_NO_MARK if there is none so far */
} zt2_notation;

static inline uint64_t zt2_number(zt2_notation *n){
  char *end;
  uint64_t u = strtoull(n->z, &end, 10);
  check( end!=n->z, "no number: %s", n->z );
  n->z = end;
  return u;
}

static inline bool zt2_word(zt2_notation *n, const char *word){
  if( strncmp(n->z, word, strlen(word))!=0 ) return false;
  n->z += strlen(word);
  return true;
}

static inline void zt2_put_text(blob *b, zt2_notation *n){
  const char *from = ++n->z, *to = strchr(from, '\'');
  uint64_t times = 1;
  check( to!=NULL, "no end: %s", from );
  n->z = to+1;
  if( zt2_word(n, "*") ) times = zt2_number(n);
  put_head(b, ZT_CBOR_TEXT, times*(uint64_t)(to-from));
  while( times-->0 ) put(b, from, (size_t)(to-from));
}

static inline void zt2_put_bytes(blob *b, zt2_notation *n){
  char hex[600];
  const char *to = strchr(++n->z, '>');
  check( to && (size_t)(to-n->z)<sizeof(hex), "no end: %s", n->z );
  snprintf(hex, sizeof(hex), "%.*s", (int)(to-n->z), n->z);
  put_hex(b, hex);
  n->z = to+1;
}

/* Put the items up to `end`, which is passed over. Returns how many. */
static inline size_t zt2_put_items(blob *b, zt2_notation *n, char end){
  size_t items = 0;
  for(;;){
    while( *n->z && strchr(" ,:^", *n->z) ) if( *n->z++=='^' ) n->mark = b->n;
    if( *n->z==end ){
      n->z += end!=0;
      return items;
    }
    items++;
    if( *n->z=='{' || *n->z=='[' ){
      bool map = *n->z++=='{', more = zt2_word(n, "+"), special = zt2_word(n, "_"), indefinite = special && !isdigit((unsigned char)*n->z);
      zt_cbor_type type = map ? ZT_CBOR_MAP : ZT_CBOR_ARRAY;
      unsigned width = special && !indefinite ? 1u << zt2_number(n) : 0;
      blob inner = { 0 };
      zt2_notation m = { n->z, ZT2_NO_MARK };
      size_t count = zt2_put_items(&inner, &m, map ? '}' : ']');
      check( !map || count%2==0, "a key without a value, before: %s", m.z );
      count = (map ? count/2 : count) + more;
      if( indefinite ) put_byte(b, (unsigned)type<<5 | 31);
      else put_head_of(b, type, count, width ? width : least_width(count));
      if( m.mark!=ZT2_NO_MARK ) n->mark = b->n+m.mark;
      put(b, inner.p, inner.n);
      if( indefinite ) put_byte(b, 0xFF);
      free(inner.p);
      n->z = m.z;
    }else if( zt2_word(n, "(") ){
      put_repeated(b, 0x81, (size_t)zt2_number(n));
      check( zt2_word(n, ")"), "no end: %s", n->z );
      items--;
    }else if( *n->z=='\'' ){
      zt2_put_text(b, n);
    }else if( *n->z=='<' ){
      zt2_put_bytes(b, n);
    }else if( zt2_word(n, "-") ){
      put_head(b, ZT_CBOR_NINT, zt2_number(n)-1);
    }else if( zt2_word(n, "false") ){
      put_byte(b, 0xF4);
    }else if( zt2_word(n, "true") ){
      put_byte(b, 0xF5);
    }else if( zt2_word(n, "null") ){
      put_byte(b, 0xF6);
    }else{
      put_uint(b, zt2_number(n));
    }
  }
}

/* The manifest that the notation says, and the position of its mark. */
static inline blob zt2_manifest(const char *notation, size_t *mark){
  zt2_notation n = { notation, ZT2_NO_MARK };
  blob b = { 0 };
  zt2_put_items(&b, &n, 0);
  *mark = n.mark;
  return b;
}

static inline void zt2_put_footer(blob *b, uint64_t offset, uint64_t length, uint64_t hash){
  put_le64(b, offset);
  put_le64(b, length);
  put_le64(b, hash);
  put_le64(b, 2);   /* The version, and what is reserved */
  put(b, ZT2_MAGIC, 8);
}

/* A file whose manifest stands at `at`, and whose footer at `end` or, if that is further, behind the manifest. The other
** bytes are zeros. Frees the manifest's. */
static inline blob zt2_file(blob manifest, size_t at, size_t end){
  blob b = { 0 };
  put(&b, ZT2_MAGIC, 8);
  put_repeated(&b, 0, at-8);
  put(&b, manifest.p, manifest.n);
  if( b.n<end ) put_repeated(&b, 0, end-b.n);
  zt2_put_footer(&b, at, manifest.n, XXH3_64bits(manifest.p, manifest.n));
  free(manifest.p);
  return seal(&b);
}

/* A file without a manifest, whose footer stands at `end`. */
static inline blob zt2_data_shard(size_t end){
  blob b = { 0 };
  put(&b, ZT2_MAGIC, 8);
  put_repeated(&b, 0, end-8);
  zt2_put_footer(&b, 0, 0, 0);
  return seal(&b);
}

/* The text with `to` in the place of `from`, which is there once; `to` alone if from is NULL. Ends in free(). */
static inline char *zt2_replaced(const char *text, const char *from, const char *to){
  const char *at = from ? strstr(text, from) : text;
  size_t before, n = strlen(text)+strlen(to)+1;
  char *z = malloc(n);
  check( at && z, "'%s' is not there", from );
  check( !from || !strstr(at+1, from), "'%s' is there twice", from );
  before = (size_t)(at-text);
  if( from ) snprintf(z, n, "%.*s%s%s", (int)before, text, to, at+strlen(from));
  else snprintf(z, n, "%s", to);
  return z;
}

#endif
