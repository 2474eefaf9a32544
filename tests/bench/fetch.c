/*
** fetch [--check] FILE
**
** Reads every component of a zTensor file into a fresh buffer of its own and frees it again: a raw one by one pread,
** a zstd one by a pread and libzstd's one-shot decoder. Prints seconds, components, sum of their decoded lengths;
** with --check also a checksum of all bytes, and then the seconds mean nothing.
*/
#define _DEFAULT_SOURCE
#include "manifest.h"

#include <zstd.h>

enum { TOUCHED = 64*1000*1000 };

typedef struct fetched {
  int fd;
  int doCheck;
  uint64_t nComponent;
  uint64_t nByte;
  uint64_t sum;
} fetched;

static void fetch_component(void *pCtx, const component *p){
  fetched *pTotal = pCtx;
  size_t n = (size_t)p->length;
  uint8_t *a = must_alloc(n);
  pread_all(pTotal->fd, a, n, p->offset);
  if( p->isZstd ){
    uint8_t *aDecoded = must_alloc((size_t)p->decoded);
    size_t rc = ZSTD_decompress(aDecoded, (size_t)p->decoded, a, n);
    if( ZSTD_isError(rc) ) die("zstd: %s", ZSTD_getErrorName(rc));
    free(a);
    a = aDecoded;
    n = rc;
  }
  pTotal->nComponent++;
  pTotal->nByte += n;
  if( pTotal->doCheck ) pTotal->sum = checksum(pTotal->sum, a, n);
  free(a);
}

int main(int argc, char **argv){
  fetched total = {-1, 0, 0, 0, 0};
  buffer manifest = {NULL, 0};
  if( argc==3 && strcmp(argv[1], "--check")==0 ){
    total.doCheck = 1;
  }else if( argc!=2 ){
    die("usage: fetch [--check] FILE");
  }

  touch_memory(TOUCHED);
  stopwatch start = stopwatch_start();
  total.fd = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
  if( total.fd<0 ) die("cannot open %s", argv[argc - 1]);
  size_t n = manifest_read(total.fd, &manifest);
  manifest_walk(manifest.a, n, fetch_component, &total);
  close(total.fd);
  stopwatch passed = stopwatch_stop(start);

  stopwatch_print(passed);
  printf("\t%llu\t%llu", (unsigned long long)total.nComponent, (unsigned long long)total.nByte);
  if( total.doCheck ) printf("\t%016llx", (unsigned long long)total.sum);
  printf("\n");
  free(manifest.a);
  return 0;
}
