/* Objects of the usual form (container/zt1.c): what is read of one in one go is what is read of it field by field. The last bytes of
** a manifest are read field by field, so each object is opened twice: with little behind it, and with enough. */
#include "test.h"

#include <ctype.h>
#include "container/driver.h"

#define MANIFEST 4096u   /* Where it begins */
#define BEHIND_LITTLE 20u
#define BEHIND_ENOUGH 120u

/* A file of 1.2 with one object of that map, and so many bytes behind it in the manifest. */
static blob new_file(const blob *map, size_t behind){
  static const char magic[] = "ZTEN1000";
  blob b = { NULL, 0, 0 };
  put(&b, magic, 8);
  put_repeated(&b, 0, MANIFEST-8);
  put_map(&b, 3);
  put_text(&b, "version");
  put_text(&b, "1.2.0");
  put_text(&b, "objects");
  put_map(&b, 1);
  put_text(&b, "a");
  put(&b, map->p, map->n);
  put_text(&b, "behind");
  put_byte(&b, 0x9F);   /* An array up to its break: what begins like it is the same, however long it is */
  put_repeated(&b, 0x01, behind);
  put_byte(&b, 0xFF);
  put_le64(&b, b.n-MANIFEST);
  put(&b, magic, 8);
  return seal(&b);
}

static zt_container *open_image(const blob *b, zt_error *err){
  zt_source *source;
  zt_container *c = NULL;
  assert_int_equal(zt_source_open_image(span_of(*b), &source, err), SQLITE_OK);
  zt_container_open(source, NULL, &c, err);
  zt_source_close(source);
  return c;
}

static void assert_same_component(const zt_container *a, const zt_container *b, uint32_t k, unsigned want){
  zt_component x = { .offset = 0 }, y = { .offset = 0 };
  zt_container_component(a, 0, k, want, &x);
  zt_container_component(b, 0, k, want, &y);
  assert_true(same_text(x.role, y.role));
  if( want & ZT_COMPONENT_DTYPE ) assert_true(same_text(x.dtype, y.dtype));
  if( want & ZT_COMPONENT_TYPE ) assert_true(same_text(x.type, y.type));
  if( want & ZT_COMPONENT_OFFSET ) assert_int_equal(x.offset, y.offset);
  if( want & ZT_COMPONENT_LENGTH ) assert_int_equal(x.length, y.length);
  if( want & ZT_COMPONENT_ENCODING ) assert_true(same_text(x.encoding, y.encoding) && x.codec==y.codec);
  if( want & ZT_COMPONENT_DIGEST ) assert_true(same_text(x.digest, y.digest));
  if( want & ZT_COMPONENT_ELEMENT ) assert_true(x.element==y.element && x.storage==y.storage);
}

static void assert_same_object(const zt_container *a, const zt_container *b){
  zt_object x, y;
  zt_container_object(a, 0, &x);
  zt_container_object(b, 0, &y);
  assert_int_equal(x.rank, y.rank);
  assert_memory_equal(x.shape, y.shape, x.rank*sizeof(*x.shape));
  assert_int_equal(x.elements, y.elements);
  assert_true(same_text(x.format, y.format));
  assert_int_equal(zt_container_components(a), zt_container_components(b));
  for(uint32_t k=0; k<zt_container_components(a); k++){
    assert_same_component(a, b, k, ZT_COMPONENT_ALL);
    for(unsigned want=1; want<=ZT_COMPONENT_ALL; want*=2) assert_same_component(a, b, k, want);
  }
}

/* The same words, and the same numbers but for how much is behind. */
static bool same_message(const char *a, const char *b){
  while( *a && *b ){
    if( isdigit((unsigned char)*a) && isdigit((unsigned char)*b) ){
      char *after, *behind;
      const unsigned long long x = strtoull(a, &after, 10), y = strtoull(b, &behind, 10);
      if( x!=y && y-x!=BEHIND_ENOUGH-BEHIND_LITTLE ) return false;
      a = after;
      b = behind;
    }else if( *a++!=*b++ ){
      return false;
    }
  }
  return *a==*b;
}

/* Returns the result code. A length beyond the end (C6) may be right if more bytes follow. */
static int assert_read_alike(const blob *map, const char *what){
  blob little = new_file(map, BEHIND_LITTLE), enough = new_file(map, BEHIND_ENOUGH);
  zt_error one = ZT_ERROR_NONE, other = ZT_ERROR_NONE;
  zt_container *a = open_image(&little, &one), *b = open_image(&enough, &other);
  const int rc = one.rc;
  const bool short_of_bytes = one.rule && strcmp(one.rule, "C6")==0;
  check( short_of_bytes || one.rc==other.rc, "%s: %s, not %s", what, other.message, one.message );
  if( a ) assert_same_object(a, b);
  else if( !short_of_bytes ) check( strcmp(one.rule, other.rule)==0 && same_message(one.message, other.message),
                                   "%s: %s, not %s", what, other.message, one.message );
  zt_container_close(a);
  zt_container_close(b);
  zt_error_clear(&one);
  zt_error_clear(&other);
  free(little.p);
  free(enough.p);
  return rc;
}

/* The choices of a writer for an object; zeros are the usual. */
typedef struct written {
  uint32_t rank;
  uint64_t dimension;
  unsigned width;            /* Of integers at least */
  const char *format, *role, *dtype;
  uint64_t offset, length;
  bool digest;
} written;

static void put_wide(blob *b, uint64_t n, unsigned width){
  put_head_of(b, ZT_CBOR_UINT, n, width>least_width(n) ? width : least_width(n));
}

static blob map_of(const written *w){
  blob b = { NULL, 0, 0 };
  put_map(&b, 3);
  put_text(&b, "shape");
  put_array(&b, w->rank);
  for(uint32_t i=0; i<w->rank; i++) put_wide(&b, w->dimension, w->width);
  put_text(&b, "format");
  put_text(&b, w->format ? w->format : "dense");
  put_text(&b, "components");
  put_map(&b, 1);
  put_text(&b, w->role ? w->role : "data");
  put_map(&b, w->digest ? 4 : 3);
  put_text(&b, "dtype");
  put_text(&b, w->dtype ? w->dtype : "f32");
  put_text(&b, "offset");
  put_wide(&b, w->offset, w->width);
  put_text(&b, "length");
  put_wide(&b, w->length, w->width);
  if( w->digest ){
    put_text(&b, "digest");
    put_text(&b, "crc32c:0x00000000");
  }
  return b;
}

static const struct {
  const char *what;
  written w;
  int rc;
} objects[] = {
  { "a scalar", { .offset = 64, .length = 4 }, SQLITE_OK },
  { "two dimensions", { .rank = 2, .dimension = 16, .offset = 128, .length = 1024 }, SQLITE_OK },
  { "five dimensions", { .rank = 5, .dimension = 2, .offset = 64, .length = 128 }, SQLITE_OK },
  { "wide integers", { .rank = 1, .dimension = 2, .width = 8, .offset = 64, .length = 8 }, SQLITE_OK },
  { "no elements", { .rank = 2, .offset = 64 }, SQLITE_OK },
  { "another layout", { .rank = 1, .dimension = 2, .format = "own", .offset = 64, .length = 8 }, SQLITE_OK },
  { "another role", { .rank = 1, .dimension = 2, .role = "Data", .offset = 64, .length = 8 }, SQLITE_OK },
  { "a digest", { .rank = 1, .dimension = 2, .offset = 64, .length = 8, .digest = true }, SQLITE_OK },
  { "a dtype of 7 bytes", { .rank = 1, .dimension = 2, .dtype = "unknown", .offset = 64, .length = 8 }, SQLITE_OK },
  { "a dtype of 8 bytes", { .rank = 1, .dimension = 2, .dtype = "f8_e4m3x", .offset = 64, .length = 8 }, SQLITE_OK },
  { "a dtype of 9 bytes", { .rank = 1, .dimension = 2, .dtype = "f8_e4m3xy", .offset = 64, .length = 8 }, SQLITE_OK },
  { "a dtype beyond ASCII", { .rank = 1, .dimension = 2, .dtype = "\xC3\xA4", .offset = 64, .length = 8 }, SQLITE_OK },
  { "a dtype that is no UTF-8", { .rank = 1, .dimension = 2, .dtype = "\xC3z", .offset = 64, .length = 8 }, SQLITE_ERROR },
  { "a product beyond 64 bits", { .rank = 3, .dimension = 1u<<31, .offset = 64, .length = 8 }, SQLITE_ERROR },
  { "an offset that is no multiple of 64", { .offset = 65, .length = 4 }, SQLITE_ERROR },
  { "an offset in the header", { .offset = 0, .length = 4 }, SQLITE_ERROR },
  { "bytes beyond the data", { .offset = 64, .length = MANIFEST-63 }, SQLITE_ERROR },
  { "bytes beyond 64 bits", { .offset = 128, .length = UINT64_MAX-64 }, SQLITE_ERROR },
};

TEST(test_an_object_is_what_its_fields_say){
  for(size_t i=0; i<COUNT(objects); i++){
    blob map = map_of(&objects[i].w);
    check( assert_read_alike(&map, objects[i].what)==objects[i].rc, "%s", objects[i].what );
    free(map.p);
  }
}

/* Each byte, and each value that it could have. */
TEST(test_every_byte_counts){
  for(size_t i=0; i<2; i++){
    blob map = map_of(&objects[i].w);
    for(size_t at=0; at<map.n; at++){
      const uint8_t was = map.p[at];
      for(unsigned byte=0; byte<256; byte++){
        char what[40];
        snprintf(what, sizeof(what), "byte %u: %02x", (unsigned)at, byte);
        map.p[at] = (uint8_t)byte;
        assert_read_alike(&map, what);
      }
      map.p[at] = was;
    }
    free(map.p);
  }
}

int main(void){
  return run_all("usual", NULL, NULL);
}
