/* tensor/chunk_filters: what each filter makes of a chunk, by the filter's definition, is undone; and chunks that are broken. */
#include "test.h"

#include <zlib.h>
#include "tensor/chunk_filters.h"

#define MOST 3000

enum { SHUFFLE = ZT_FILTER_SHUFFLE, ZLIB = ZT_FILTER_ZLIB, SUM = ZT_FILTER_FLETCHER32 };

typedef struct filtered {
  size_t n;                /* Bytes of the chunk */
  uint32_t width;          /* Of a shuffled element */
  int filters[ZT_CHUNKS_FILTERS+1];   /* Up to 0 */
  uint32_t skipped;
} filtered;

static zt_chunks chunks_of(const filtered *f){
  zt_chunks c = { .bytes = f->n };
  for(; f->filters[c.filters]; c.filters++) c.filter[c.filters] = (zt_chunk_filter){ .id = (uint8_t)f->filters[c.filters], .width = f->width };
  return c;
}

/* Of words of two bytes, the first one being the high one, modulo 65535. */
static uint32_t sum_of(zt_span s){
  uint64_t sum = 0, sums = 0;
  for(size_t i=0; i<s.n; i+=2){
    sum += (uint64_t)s.p[i]<<8 | (i+1<s.n ? s.p[i+1] : 0u);
    sums += sum;
  }
  return (uint32_t)(sums%65535<<16 | sum%65535);
}

static void filter(blob *b, int id, uint32_t width){
  blob to = { 0 };
  if( id==SHUFFLE ){
    const size_t n = b->n/width;
    for(size_t i=0; i<n*width; i++) put_byte(&to, b->p[i%n*width+i/n]);
    put(&to, b->p+n*width, b->n%width);
  }else if( id==ZLIB ){
    uLongf n = compressBound(b->n);
    put_room(&to, n);
    assert_int_equal(compress(to.p, &n, b->p, b->n), Z_OK);
    to.n = n;
  }else{
    const uint32_t sum = sum_of(span_of(*b));
    put(&to, b->p, b->n);
    for(int i=0; i<4; i++) put_byte(&to, sum>>8*i & 0xFF);
  }
  free(b->p);
  *b = to;
}

static blob content_of(size_t n){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_byte(&b, (unsigned)(i*i*7>>3 & 0xFF));
  return b;
}

static zt_error err;

/* Undo the filters of stored bytes, which are freed. */
static int unfilter(const filtered *f, blob stored, uint8_t *out){
  const zt_chunks c = chunks_of(f);
  const zt_chunk chunk = { .skipped = f->skipped };
  zt_unfilter u = { .inflate = NULL };
  err = ZT_ERROR_NONE;
  zt_unfilter_chunk(&u, &c, &chunk, stored.p, stored.n, out, &err);
  zt_unfilter_clear(&u);
  free(stored.p);
  return err.rc;
}

TEST(test_filters_are_undone){
  static const filtered rows[] = {
    { 29, 1, { SHUFFLE }, 0 }, { 29, 2, { SHUFFLE }, 0 }, { 29, 3, { SHUFFLE }, 0 }, { 29, 4, { SHUFFLE }, 0 }, { 29, 8, { SHUFFLE }, 0 },
    { 29, 64, { SHUFFLE }, 0 }, { 30, 0, { SUM }, 0 }, { 29, 0, { SUM }, 0 }, { 2999, 0, { SUM }, 0 }, { 30, 0, { ZLIB }, 0 },
    { 30, 0, { SUM, ZLIB }, 0 }, { 30, 0, { ZLIB, SUM }, 0 }, { 30, 5, { SHUFFLE, ZLIB, SUM }, 0 }, { 30, 5, { SUM, SHUFFLE, ZLIB }, 0 },
    { 30, 5, { SUM, SHUFFLE, ZLIB }, 1 }, { 30, 5, { SUM, SHUFFLE, ZLIB }, 2 }, { 30, 5, { SUM, SHUFFLE, ZLIB }, 7 }, { 30, 0, { 0 }, 0 },
    { 30, 0, { ZLIB, ZLIB }, 0 }, { 2999, 0, { ZLIB, ZLIB }, 0 }, { 30, 0, { ZLIB, ZLIB, ZLIB }, 0 }, { 2999, 4, { ZLIB, SHUFFLE, ZLIB }, 0 },
    { 2999, 4, { ZLIB, SHUFFLE, ZLIB }, 2 }, { 30, 0, { ZLIB, ZLIB }, 1 }, { 30, 0, { ZLIB, ZLIB }, 2 }, { 30, 0, { SUM, ZLIB, SUM, ZLIB }, 0 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const filtered *f = &rows[i];
    blob content = content_of(f->n), stored = content_of(f->n);
    uint8_t out[MOST] = { 0 };
    for(unsigned k=0; f->filters[k]; k++){
      if( (f->skipped>>k & 1)==0 && (f->filters[k]!=SHUFFLE || f->width<=stored.n) ) filter(&stored, f->filters[k], f->width);
    }
    check( unfilter(f, stored, out)==SQLITE_OK, "row %d: %s", (int)i, err.message );
    check( memcmp(out, content.p, f->n)==0, "row %d", (int)i );
    free(content.p);
  }
}

/* HDF5 before 1.6.3 swapped the bytes of each half of the checksum. */
TEST(test_a_swapped_checksum){
  const filtered f = { 30, 0, { SUM }, 0 };
  blob content = content_of(30), stored = content_of(30);
  uint8_t out[30];
  filter(&stored, SUM, 0);
  for(size_t i=30; i<34; i+=2){
    const uint8_t first = stored.p[i];
    stored.p[i] = stored.p[i+1];
    stored.p[i+1] = first;
  }
  assert_int_equal(unfilter(&f, stored, out), SQLITE_OK);
  assert_memory_equal(out, content.p, 30);
  free(content.p);
}

/* A chunk of 30 bytes that is filtered, cut to `cut` bytes if that is not 0, and has one byte changed. */
TEST(test_chunks_that_are_broken){
  static const char no_stream[] = "deflate: a chunk that is no zlib stream", cut[] = "deflate: the stored bytes end within the stream";
  static const struct { int filters[ZT_CHUNKS_FILTERS]; uint32_t width; size_t n, cut, at; uint8_t change; const char *rule, *says; } rows[] = {
    { { ZLIB }, 0, 30, 1, 0, 0, "E2", no_stream }, { { ZLIB }, 0, 30, 0, 0, 0x01, "E2", no_stream }, { { ZLIB }, 0, 30, 0, 1, 0x01, "E2", no_stream },
    { { ZLIB }, 0, 30, 0, 1, 0x9C^0x20, "E2", no_stream }, { { ZLIB }, 0, 30, 0, 2, 0x06, "E2", "deflate: an invalid block" },
    { { ZLIB }, 0, 30, 12, 0, 0, "CH1", "a chunk decodes to 9 bytes, and has 30" }, { { ZLIB }, 0, 30, 38, 0, 0, "E2", cut },
    { { ZLIB }, 0, 30, 0, 37, 0x10, "E2", "deflate: a chunk whose Adler-32 is wrong" },
    { { ZLIB }, 0, 31, 0, 0, 0, "CH1", "a chunk decodes to 31 bytes, and has 30" }, { { ZLIB }, 0, 29, 0, 0, 0, "CH1", "a chunk decodes to 29 bytes, and has 30" },
    { { SUM }, 0, 30, 3, 0, 0, "CH1", "a chunk decodes to 3 bytes, and has 30" }, { { SUM }, 0, 30, 0, 7, 0x10, "CH2", "fletcher32: a chunk whose checksum is wrong" },
    { { SUM }, 0, 28, 0, 0, 0, "CH1", "a chunk decodes to 28 bytes, and has 30" }, { { SHUFFLE }, 2, 28, 0, 0, 0, "CH1", "a chunk decodes to 28 bytes, and has 30" },
    { { SHUFFLE }, 0, 30, 0, 0, 0, "CH1", "a chunk is shuffled by elements of 0 bytes" }, { { 0 }, 0, 29, 0, 0, 0, "CH1", "a chunk decodes to 29 bytes, and has 30" },
    { { SHUFFLE, ZLIB }, 64, 29, 0, 0, 0, "CH1", "a chunk decodes to 29 bytes, and has 30" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    filtered f = { .n = 30, .width = rows[i].width };
    blob stored = content_of(rows[i].n);
    uint8_t out[MOST];
    memcpy(f.filters, rows[i].filters, sizeof(rows[i].filters));
    for(unsigned k=0; f.filters[k]; k++) if( f.filters[k]!=SHUFFLE ) filter(&stored, f.filters[k], f.width);
    if( rows[i].cut ) stored.n = rows[i].cut;
    stored.p[rows[i].at] ^= rows[i].change;
    check( unfilter(&f, stored, out)==SQLITE_ERROR, "row %d was read", (int)i );
    check( strcmp(err.rule, rows[i].rule)==0 && strstr(err.message, rows[i].says), "row %d: %s: %s", (int)i, err.rule, err.message );
    zt_error_clear(&err);
  }
}

/* A stream within a stream may be somewhat longer than the chunk, and is bounded. */
TEST(test_a_stream_in_a_stream){
  const filtered f = { 30, 0, { ZLIB, ZLIB }, 0 };
  static const size_t behind[] = { 1, 4000, 4200 };
  uint8_t out[MOST];
  for(size_t i=0; i<COUNT(behind); i++){
    blob stored = content_of(30);
    filter(&stored, ZLIB, 0);
    put_repeated(&stored, 0, behind[i]);
    filter(&stored, ZLIB, 0);
    check( unfilter(&f, stored, out)==(behind[i]>4100 ? SQLITE_ERROR : SQLITE_OK), "%d bytes: %s", (int)behind[i], err.message );
    if( err.rc ) assert_failed(&err, "a chunk decodes to a stream of more than 4126 bytes", "bound");
  }
}

/* Append n bits of a code, whose first bit is its highest. */
static void put_code(blob *b, size_t *bits, unsigned code, unsigned n){
  for(unsigned i=n; i-->0; ++*bits){
    if( *bits%8==0 ) put_byte(b, 0);
    b->p[b->n-1] |= (uint8_t)((code>>i & 1) << *bits%8);
  }
}

/* The same in one block of fixed codes: behind the chunk's bytes stands a distance that there is not. */
TEST(test_a_code_that_is_none_behind_a_chunk){
  const filtered f = { 30, 0, { ZLIB }, 0 };
  blob codes = { 0 }, stored = { 0 };
  uint8_t out[MOST];
  size_t bits = 0;
  put_code(&codes, &bits, 6, 3);                                     /* The last block, of the second type */
  for(int i=0; i<30; i++) put_code(&codes, &bits, 0x35, 8);          /* 5 */
  put_code(&codes, &bits, 1, 7);                                     /* 3 bytes */
  put_code(&codes, &bits, 30, 5);                                    /* from no distance */
  put_hex(&stored, "789c");
  put(&stored, codes.p, codes.n);
  put_repeated(&stored, 0, 20);
  free(codes.p);
  assert_int_equal(unfilter(&f, stored, out), SQLITE_ERROR);
  assert_string_equal(err.rule, "E2");
  assert_failed(&err, "deflate: an invalid", "behind");
}

/* The stream behind the chunk's own bytes is decoded, too. */
TEST(test_a_chunk_that_breaks_off_behind_its_bytes){
  const filtered f = { 30, 0, { ZLIB }, 0 };
  blob stored = { 0 };
  uint8_t out[MOST];
  put_hex(&stored, "789c 00 1e00 e1ff");
  put_repeated(&stored, 5, 30);
  put_hex(&stored, "07 00000000");
  assert_int_equal(unfilter(&f, stored, out), SQLITE_ERROR);
  assert_string_equal(err.rule, "E2");
  assert_failed(&err, "deflate: an invalid block", "behind");
}

int main(void){
  return run_all("chunk filters", NULL, NULL);
}
