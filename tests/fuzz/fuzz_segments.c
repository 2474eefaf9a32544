/*
** Any bytes as the manifest of a zTensor 1.2 file, whose objects several threads check side by side (container/segments.h).
** Property: the container is the same as one thread makes it, or what is said of it is.
*/
#include <string.h>
#include "core/host.h"
#include "core/pool.h"
#include "fuzz.h"
#include "../unit/same.h"

#define BLOBS 192            /* Bytes before the manifest */
#define THREADS 2

static zt_pool *pool;

int LLVMFuzzerInitialize(int *argc, char ***argv){
  (void)argc;
  (void)argv;
  CHECK(sqlite3_initialize()==SQLITE_OK, "initialize");
  pool = zt_pool_new(THREADS);
  CHECK(pool, "pool");
  return 0;
}

static zt_container *open_by(zt_pool *threads, const uint8_t *image, size_t n, zt_error *err){
  zt_source *source;
  zt_container *c = NULL;
  CHECK(zt_source_open_image((zt_span){ image, n }, &source, err)==SQLITE_OK, "source");
  zt_source_set_pool(source, threads);
  zt_container_open(source, NULL, &c, err);
  zt_source_close(source);
  return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  static const char magic[] = "ZTEN1000";
  const size_t size = BLOBS+n+16;
  uint8_t *image = calloc(1, size);
  zt_error alone = ZT_ERROR_NONE, together = ZT_ERROR_NONE;
  zt_container *a, *b;
  const char *differs;
  CHECK(image, "calloc");
  memcpy(image, magic, 8);
  if( n ) memcpy(image+BLOBS, data, n);
  for(int i=0; i<8; i++) image[BLOBS+n+(size_t)i] = (uint8_t)((uint64_t)n >> 8*i);
  memcpy(image+size-8, magic, 8);
  a = open_by(NULL, image, size, &alone);
  b = open_by(pool, image, size, &together);
  differs = difference(a, &alone, b, &together);
  CHECK(!differs, "%s: %s, and together %s", differs, alone.message, together.message);
  zt_container_close(a);
  zt_container_close(b);
  zt_error_clear(&alone);
  zt_error_clear(&together);
  free(image);
  return 0;
}
