/*
** The least a C program has to do to list a zTensor 1.1 or 1.2 file: two preads and one walk over the manifest's
** CBOR that finds every component. It is the yardstick for the extension's reader, so it does only that: every read
** is bounds-checked, but text is not checked for UTF-8, names not for duplicates, and indefinite lengths, which the
** format's library never writes, are refused.
**
**   file     := "ZTEN1000" blobs manifest size(u64le) "ZTEN1000"
**   manifest := { "version": text, "objects": { name: object, ... }, ... }
**   object   := { "components": { role: component, ... }, ... }
**   component:= { "offset": uint, "length": uint, "uncompressed_length": uint?, "encoding": text?, ... }
*/
#ifndef ZT_BENCH_MANIFEST_H
#define ZT_BENCH_MANIFEST_H

#include "bench.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct component {
  uint64_t offset;    /* of the stored bytes in the file */
  uint64_t length;    /* of the stored bytes */
  uint64_t decoded;   /* uncompressed_length, 0 if there is none */
  int isZstd;
} component;

/* Called for each component, in manifest order. */
typedef void (*component_fn)(void *pCtx, const component *p);

typedef struct cursor {
  const uint8_t *p;     /* next byte */
  const uint8_t *pEnd;  /* one past the last byte */
} cursor;

enum { CBOR_UINT = 0, CBOR_BYTES = 2, CBOR_TEXT = 3, CBOR_ARRAY = 4, CBOR_MAP = 5, CBOR_TAG = 6 };

/* Reads an item's head: returns its major type, sets *pArg to its argument. */
static inline int cbor_head(cursor *c, uint64_t *pArg){
  if( c->p==c->pEnd ) die("manifest ends within an item");
  unsigned b = *c->p++;
  unsigned low = b & 31u;
  if( low<24 ){
    *pArg = low;
    return (int)(b>>5);
  }
  if( low>27 ) die("manifest has an indefinite length");
  size_t n = (size_t)1<<(low - 24);
  if( (size_t)(c->pEnd - c->p)<n ) die("manifest ends within a number");
  uint64_t v = 0;
  for(size_t i=0; i<n; i++) v = v<<8 | c->p[i];
  c->p += n;
  *pArg = v;
  return (int)(b>>5);
}

/* Claims n bytes of a text or byte string. */
static inline const uint8_t *cbor_bytes(cursor *c, uint64_t n){
  if( n>(uint64_t)(c->pEnd - c->p) ) die("manifest ends within a string");
  const uint8_t *p = c->p;
  c->p += n;
  return p;
}

static inline uint64_t cbor_expect(cursor *c, int major){
  uint64_t n;
  if( cbor_head(c, &n)!=major ) die("manifest has an item of an unexpected type");
  return n;
}

/* Steps over one item with everything in it. Counts what is still to come instead of recursing. */
static inline void cbor_skip(cursor *c){
  uint64_t nLeft = 1;
  while( nLeft>0 ){
    uint64_t n;
    int major = cbor_head(c, &n);
    nLeft--;
    if( major==CBOR_TEXT || major==CBOR_BYTES ){
      cbor_bytes(c, n);
    }else if( major==CBOR_ARRAY || major==CBOR_MAP ){
      /* Each item takes a byte or more, so a larger count is a lie that could only make nLeft wrap. */
      if( n>(uint64_t)(c->pEnd - c->p) ) die("manifest ends within an array or map");
      nLeft += major==CBOR_MAP ? 2*n : n;
    }else if( major==CBOR_TAG ){
      nLeft++;
    }
  }
}

/* Reads a key and tells whether it is zName. */
static inline int cbor_key_is(const uint8_t *pKey, uint64_t nKey, const char *zName){
  size_t n = strlen(zName);
  return nKey==n && memcmp(pKey, zName, n)==0;
}

static inline component manifest_component(cursor *c){
  component r = {0, 0, 0, 0};
  for(uint64_t n = cbor_expect(c, CBOR_MAP); n>0; n--){
    uint64_t nKey = cbor_expect(c, CBOR_TEXT);
    const uint8_t *pKey = cbor_bytes(c, nKey);
    if( cbor_key_is(pKey, nKey, "offset") ){
      r.offset = cbor_expect(c, CBOR_UINT);
    }else if( cbor_key_is(pKey, nKey, "length") ){
      r.length = cbor_expect(c, CBOR_UINT);
    }else if( cbor_key_is(pKey, nKey, "uncompressed_length") ){
      r.decoded = cbor_expect(c, CBOR_UINT);
    }else if( cbor_key_is(pKey, nKey, "encoding") ){
      uint64_t nText = cbor_expect(c, CBOR_TEXT);
      r.isZstd = cbor_key_is(cbor_bytes(c, nText), nText, "zstd");
    }else{
      cbor_skip(c);
    }
  }
  return r;
}

static inline void manifest_object(cursor *c, component_fn xEach, void *pCtx){
  for(uint64_t n = cbor_expect(c, CBOR_MAP); n>0; n--){
    uint64_t nKey = cbor_expect(c, CBOR_TEXT);
    const uint8_t *pKey = cbor_bytes(c, nKey);
    if( !cbor_key_is(pKey, nKey, "components") ){
      cbor_skip(c);
      continue;
    }
    for(uint64_t nRole = cbor_expect(c, CBOR_MAP); nRole>0; nRole--){
      cbor_bytes(c, cbor_expect(c, CBOR_TEXT));
      component r = manifest_component(c);
      xEach(pCtx, &r);
    }
  }
}

/* Calls xEach for every component of the manifest. Inline, so that the compiler can inline xEach too. */
static inline void manifest_walk(const uint8_t *a, size_t n, component_fn xEach, void *pCtx){
  cursor c = {a, a + n};
  for(uint64_t nField = cbor_expect(&c, CBOR_MAP); nField>0; nField--){
    uint64_t nKey = cbor_expect(&c, CBOR_TEXT);
    const uint8_t *pKey = cbor_bytes(&c, nKey);
    if( !cbor_key_is(pKey, nKey, "objects") ){
      cbor_skip(&c);
      continue;
    }
    for(uint64_t nObject = cbor_expect(&c, CBOR_MAP); nObject>0; nObject--){
      cbor_bytes(&c, cbor_expect(&c, CBOR_TEXT));
      manifest_object(&c, xEach, pCtx);
    }
  }
  if( c.p!=c.pEnd ) die("bytes after the manifest");
}

static inline void pread_all(int fd, void *pBuf, size_t n, uint64_t offset){
  uint8_t *p = pBuf;
  while( n>0 ){
    ssize_t got = pread(fd, p, n, (off_t)offset);
    if( got<=0 ) die("short read");
    p += got;
    n -= (size_t)got;
    offset += (uint64_t)got;
  }
}

/* A buffer that is kept from file to file, as a program that lists many of them would. */
typedef struct buffer {
  uint8_t *a;
  size_t nAlloc;
} buffer;

/* Reads the manifest of an open file into the buffer and returns its size. */
static inline size_t manifest_read(int fd, buffer *p){
  struct stat st;
  uint8_t footer[16];
  uint64_t n = 0;
  if( fstat(fd, &st)!=0 || st.st_size<24 ) die("not a zTensor file: too short");
  uint64_t size = (uint64_t)st.st_size;
  pread_all(fd, footer, sizeof(footer), size - sizeof(footer));
  if( memcmp(footer + 8, "ZTEN1000", 8)!=0 ) die("not a zTensor 1.1 or 1.2 file");
  for(int i=7; i>=0; i--) n = n<<8 | footer[i];
  if( n>size - 24 ) die("manifest larger than its file");
  if( n>p->nAlloc ){
    free(p->a);
    p->a = must_alloc((size_t)n);
    p->nAlloc = (size_t)n;
  }
  pread_all(fd, p->a, (size_t)n, size - 16 - n);
  return (size_t)n;
}

#endif
