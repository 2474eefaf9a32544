/*
** zTensor 2 files as short inputs. Their blobs begin on pages and their manifest has a hash: mutation of a whole file never
** gets beyond that. So an input "zt2" is what a file consists of, from which it is made:
**
**   input := "zt2" n u16le manifest rest     ; n bytes of manifest, or as many as there are
**
** Page after page from 4096 on begins with the next CHUNK bytes of the rest; then comes the manifest, and a footer that is
** right. Any other input is the file itself.
*/
#ifndef ZT_TESTS_FUZZ_ZT2_H
#define ZT_TESTS_FUZZ_ZT2_H

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "fuzz.h"

#define ZT2_MAGIC "\x89ZT2\r\n\x1a\n"
#define ZT2_PAGE 4096
#define ZT2_FOOTER 40
#define ZT2_CHUNK 256
#define ZT2_PAGES 16
#define ZT2_HEAD 5

static inline bool zt2_is_short(const uint8_t *data, size_t n){
  return n>=ZT2_HEAD && memcmp(data, "zt2", 3)==0;
}

static inline size_t zt2_manifest_length(const uint8_t *data, size_t n){
  size_t m = data[3] | (size_t)data[4]<<8;
  return m<n-ZT2_HEAD ? m : n-ZT2_HEAD;
}

static inline void zt2_put_u64(uint8_t *p, uint64_t u){
  for(int i=0; i<8; i++) p[i] = (uint8_t)(u >> 8*i);
}

/* The file that an input stands for, in malloc(). */
static inline uint8_t *zt2_expand(const uint8_t *data, size_t n, size_t *out){
  size_t m, left, pages, at;
  const uint8_t *rest;
  uint8_t *p;
  if( !zt2_is_short(data, n) ){
    p = malloc(n ? n : 1);
    CHECK(p, "malloc");
    if( n ) memcpy(p, data, n);
    *out = n;
    return p;
  }
  m = zt2_manifest_length(data, n);
  rest = data+ZT2_HEAD+m;
  left = n-ZT2_HEAD-m;
  if( left>ZT2_CHUNK*ZT2_PAGES ) left = ZT2_CHUNK*ZT2_PAGES;
  pages = (left+ZT2_CHUNK-1)/ZT2_CHUNK;
  at = (1+pages)*ZT2_PAGE;
  *out = at+m+ZT2_FOOTER;
  p = calloc(1, *out);
  CHECK(p, "calloc");
  memcpy(p, ZT2_MAGIC, 8);
  for(size_t i=0; i<pages; i++) memcpy(p+(1+i)*ZT2_PAGE, rest+i*ZT2_CHUNK, left-i*ZT2_CHUNK<ZT2_CHUNK ? left-i*ZT2_CHUNK : ZT2_CHUNK);
  memcpy(p+at, data+ZT2_HEAD, m);
  zt2_put_u64(p+at+m, at);
  zt2_put_u64(p+at+m+8, m);
  zt2_put_u64(p+at+m+16, XXH3_64bits(p+at, m));
  zt2_put_u64(p+at+m+24, 2);
  memcpy(p+at+m+32, ZT2_MAGIC, 8);
  return p;
}

/* A mutation of one of the parts of an input, the manifest in most cases; its length is put right. */
static inline size_t zt2_mutate(uint8_t *data, size_t n, size_t max, unsigned seed){
  size_t m = zt2_manifest_length(data, n), end = ZT2_HEAD+m, left = n-end, changed;
  uint8_t *rest;
  if( seed%8==0 ) return LLVMFuzzerMutate(data, n, max);
  if( seed%8<=2 ) return end<max ? end+LLVMFuzzerMutate(data+end, left, max-end) : n;
  rest = malloc(left+1);
  CHECK(rest, "malloc");
  memcpy(rest, data+end, left);
  changed = LLVMFuzzerMutate(data+ZT2_HEAD, m, max-ZT2_HEAD-left<65535 ? max-ZT2_HEAD-left : 65535);
  data[3] = (uint8_t)changed;
  data[4] = (uint8_t)(changed>>8);
  memcpy(data+ZT2_HEAD+changed, rest, left);
  free(rest);
  return ZT2_HEAD+changed+left;
}

#endif
