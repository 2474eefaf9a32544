/*
** Components made of chunks, as golden files of HDF5 have them: a stream is read at any places in any order, in pieces of any size,
** with threads and without.
*/
#include "tensors.h"

#include "container/chunks.h"
#include "core/pool.h"
#include "tensor/content.h"
#include "tensor/encoding.h"

static zt_pool *pool;

static const char *const golden[] = { "btree", "filters", "indexes", "indexes_2", "latest", "storage", "sizes_2" };

/* Call that for each component in chunks of the golden files, with its bytes; returns how many they are. */
static unsigned for_each(void (*f)(zt_payload *p, blob all, const char *row)){
  unsigned n = 0;
  for(size_t i=0; i<COUNT(golden); i++){
    char path[100];
    opened o;
    snprintf(path, sizeof(path), "tests/formats/hdf5/golden/%s.h5", golden[i]);
    open_path(&o, path);
    for(uint32_t k=0; k<zt_container_objects(o.container); k++){
      zt_component component;
      zt_payload p = { .source = o.source, .object = &o.object, .component = &component, .budget = &o.budget };
      zt_error err = ZT_ERROR_NONE;
      zt_buffer all;
      zt_container_object(o.container, k, &o.object);
      zt_container_component(o.container, k, zt_container_first(o.container, k), ZT_COMPONENT_ALL, &component);
      if( component.codec!=ZT_CODEC_CHUNKED || component.fault || !component.has_decoded_length ) continue;
      if( zt_content_read(&p, 0, UINT64_MAX, &all, &err)==SQLITE_OK ){
        f(&p, (blob){ all.p, (size_t)all.n, 0 }, path);
        n++;
      }
      zt_error_clear(&err);
      zt_buffer_clear(&all);
    }
    close_opened(&o);
  }
  return n;
}

static void read_at(zt_stream *s, blob all, uint64_t at, size_t n, const char *row){
  zt_error err = ZT_ERROR_NONE;
  const size_t want = at>=all.n ? 0 : n<all.n-at ? n : all.n-(size_t)at;
  uint8_t *out = malloc(n+1);
  size_t got = 99;
  zt_stream_read(s, at, out, n, &got, &err);
  assert_succeeded(&err, row);
  check( got==want && (want==0 || memcmp(out, all.p+at, want)==0), "%s: [%llu, +%zu)", row, (unsigned long long)at, n );
  free(out);
}

/* Front to back in pieces, and then anywhere; a few pieces from each place. */
static void read_in_any_order(zt_payload *p, blob all, const char *row){
  static const size_t pieces[] = { 1, 3, 8, 50, 1000, 70000 };
  uint64_t seed = all.n+1;
  for(size_t k=0; k<2*COUNT(pieces); k++){
    const size_t piece = pieces[k/2];
    zt_error err = ZT_ERROR_NONE;
    zt_stream *s;
    p->budget->pool = k%2 ? pool : NULL;
    zt_stream_open(p, &s, &err);
    assert_succeeded(&err, row);
    for(uint64_t at=0; at<all.n+1 && at<2000*piece; at+=piece) read_at(s, all, at, piece, row);
    for(int i=0; i<30; i++){
      uint64_t at = random_below(&seed, all.n+2);
      for(int again=0; again<4; again++, at+=piece) read_at(s, all, at, piece, row);
    }
    zt_stream_close(s);
  }
  p->budget->pool = NULL;
}

TEST(test_reads_in_any_order){
  check( for_each(read_in_any_order)>=20, "few components" );
}

/* The place behind the end is the end. */
static void seek_behind(zt_payload *p, blob all, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_decoder *d;
  uint64_t position = 7;
  uint8_t byte;
  size_t got = 7;
  assert_int_equal(zt_encoding_chunked.open(p, &d, &err), SQLITE_OK);
  zt_encoding_chunked.seek(d, all.n+5, &position, &err);
  assert_int_equal(zt_encoding_chunked.next(d, &byte, 1, &got, &err), SQLITE_OK);
  check( position==all.n && got==0, "%s: %llu", row, (unsigned long long)position );
  zt_encoding_chunked.close(d);
}

TEST(test_places_behind_the_end){
  for_each(seek_behind);
}

/* A chunk that cannot be decoded stays so when it is read again. */
TEST(test_a_broken_chunk_is_broken_each_time){
  opened o;
  zt_component component;
  zt_payload p = { .object = &o.object, .component = &component, .budget = &o.budget };
  zt_chunks chunks;
  zt_chunk chunk;
  zt_error err = ZT_ERROR_NONE;
  zt_stream *s;
  uint32_t k = 0;
  bool found = false;
  uint8_t byte;
  size_t got;
  open_bytes(&o, read_file("tests/formats/hdf5/golden/filters.h5"), "filters");
  p.source = o.source;
  for(; k<zt_container_objects(o.container) && !found; k++){   /* Streams of zlib, or with checksums */
    zt_container_object(o.container, k, &o.object);
    zt_container_component(o.container, k, zt_container_first(o.container, k), ZT_COMPONENT_ALL, &component);
    if( component.codec!=ZT_CODEC_CHUNKED || component.fault ) continue;
    zt_chunks_read(component.chunks, &chunks);
    found = chunks.filters>0 && chunks.filter[chunks.filters-1].id!=ZT_FILTER_SHUFFLE && zt_chunks_find(&chunks, 0, &chunk) && chunk.skipped==0;
  }
  assert_true(found);
  memset(o.bytes.p+component.base+chunk.offset, 'x', chunk.length);
  assert_int_equal(zt_stream_open(&p, &s, &err), SQLITE_OK);
  for(int again=0; again<3; again++){
    assert_int_equal(zt_stream_read(s, 0, &byte, 1, &got, &err), SQLITE_ERROR);
    assert_failed(&err, ": a chunk", "broken");   /* It is no zlib stream, or has a wrong checksum */
  }
  zt_stream_close(s);
  close_opened(&o);
}

static int begin(void **state){
  (void)state;
  pool = sqlite3_initialize()==SQLITE_OK ? zt_pool_new(3) : NULL;
  return pool==NULL;
}

static int end(void **state){
  (void)state;
  zt_pool_free(pool);
  return 0;
}

int main(void){
  return run_all("chunked", begin, end);
}
