/* The stored bytes of a file in the order in which they lie there: container/blobs.h. */
#include "test.h"

#include "container/blobs.h"
#include "container/container.h"

/* A component: whose it is, and where its bytes are. */
typedef struct spot {
  const char *object, *role;
  uint64_t offset, length;
} spot;

#define AREA 4096   /* Bytes between header and manifest */

/* A file of 1.2 with these components; those of one object stand together. */
static blob file_of(const spot *spots, size_t n){
  blob file = { 0 }, manifest = { 0 };
  size_t objects = 0;
  for(size_t i=0; i<n; i++) objects += i==0 || strcmp(spots[i].object, spots[i-1].object)!=0;
  put(&file, "ZTEN1000", 8);
  put_repeated(&file, 0, AREA-8);
  put_map(&manifest, 2);
  put_text(&manifest, "version");
  put_text(&manifest, "1.2.0");
  put_text(&manifest, "objects");
  put_map(&manifest, objects);
  for(size_t i=0; i<n;){
    size_t count = 1;
    while( i+count<n && strcmp(spots[i].object, spots[i+count].object)==0 ) count++;
    put_text(&manifest, spots[i].object);
    put_map(&manifest, 3);
    put_text(&manifest, "shape");
    put_array(&manifest, 0);
    put_text(&manifest, "format");
    put_text(&manifest, "odd");
    put_text(&manifest, "components");
    put_map(&manifest, count);
    for(; count>0; count--, i++){
      put_text(&manifest, spots[i].role);
      put_map(&manifest, 3);
      put_text(&manifest, "dtype");
      put_text(&manifest, "u8");
      put_text(&manifest, "offset");
      put_uint(&manifest, spots[i].offset);
      put_text(&manifest, "length");
      put_uint(&manifest, spots[i].length);
    }
  }
  put(&file, manifest.p, manifest.n);
  put_le64(&file, manifest.n);
  put(&file, "ZTEN1000", 8);
  free(manifest.p);
  return seal(&file);
}

static zt_container *open_file(blob file){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  zt_container *c;
  assert_int_equal(zt_source_open_image(span_of(file), &source, &err), SQLITE_OK);
  zt_container_open(source, &c, &err);
  assert_succeeded(&err, "open");
  zt_source_close(source);
  return c;
}

/* The blobs' places in the manifest, in the order in which they come: "2 0 1". */
static void assert_order(const char *row, const spot *spots, size_t n, const char *expected){
  zt_error err = ZT_ERROR_NONE;
  blob file = file_of(spots, n);
  zt_container *c = open_file(file);
  char got[400] = "";
  zt_blobs b;
  assert_int_equal(zt_blobs_sort(c, &b, &err), SQLITE_OK);
  for(uint32_t i=0; i<b.n; i++){
    const zt_blob *x = &b.a[i];
    const spot *s = &spots[x->component];
    zt_component component;
    sprintf(got+strlen(got), i ? " %u" : "%u", x->component);
    check( x->offset==s->offset && x->length==s->length, "%s: %u", row, i );
    assert_text(zt_container_name(c, x->object), s->object, row);
    zt_container_component(c, x->object, x->component, ZT_COMPONENT_ROLE, &component);
    assert_text(component.role, s->role, row);
  }
  check( strcmp(got, expected)==0, "%s: %s, expected %s", row, got, expected );
  zt_blobs_clear(&b);
  assert_true(!b.a && b.n==0);
  zt_blobs_clear(&b);
  zt_container_close(c);
  free(file.p);
}

static void test_blobs_come_in_the_order_of_the_file(void **state){
  static const spot ordered[] = { { "a", "x", 64, 1 }, { "b", "x", 128, 70 }, { "b", "y", 256, 1 }, { "c", "x", 320, 3776 } };
  static const spot backward[] = { { "a", "x", 320, 5 }, { "a", "y", 256, 1 }, { "a", "z", 128, 70 }, { "b", "x", 64, 1 } };
  static const spot mixed[] = { { "a", "x", 192, 1 }, { "a", "y", 64, 1 }, { "b", "x", 256, 1 }, { "c", "x", 128, 1 } };
  (void)state;
  assert_order("in order", ordered, 4, "0 1 2 3");
  assert_order("backward", backward, 4, "3 2 1 0");
  assert_order("mixed", mixed, 4, "1 3 0 2");
  assert_order("one", ordered, 1, "0");
  assert_order("none", NULL, 0, "");
}

static void test_of_one_offset_the_shorter_comes_first_and_then_the_manifests_order(void **state){
  static const spot lengths[] = { { "a", "x", 64, 9 }, { "b", "x", 64, 2 }, { "c", "x", 64, 300 }, { "d", "x", 64, 8 } };
  static const spot shared[] = { { "c", "y", 128, 4 }, { "c", "x", 64, 9 }, { "b", "x", 64, 9 }, { "b", "z", 64, 9 }, { "a", "x", 64, 9 } };
  (void)state;
  assert_order("by length", lengths, 4, "1 3 0 2");
  assert_order("shared", shared, 5, "1 2 3 4 0");
}

static void test_what_has_no_byte_is_left_out(void **state){
  static const spot some[] = { { "a", "x", 128, 0 }, { "b", "x", 64, 100 }, { "b", "y", 64, 0 }, { "c", "x", 192, 3 }, { "d", "x", 4096, 0 } };
  (void)state;
  assert_order("some are empty", some, 5, "1 3");
  assert_order("all are", some, 1, "");
}

/* Thousands, in random order: each once, and none before one that lies before it. */
static void test_many_blobs(void **state){
  enum { N = 3000 };
  static spot spots[N];
  static char names[N][8];
  uint64_t random = 12345;
  zt_error err = ZT_ERROR_NONE;
  uint8_t seen[N] = { 0 };
  zt_container *c;
  zt_blobs b;
  blob file;
  (void)state;
  for(size_t i=0; i<N; i++){
    sprintf(names[i], "%zu", i);
    spots[i] = (spot){ names[i], "data", 64*(1+random_below(&random, 60)), random_below(&random, 4) };
  }
  file = file_of(spots, N);
  c = open_file(file);
  assert_int_equal(zt_blobs_sort(c, &b, &err), SQLITE_OK);
  for(uint32_t i=0; i<b.n; i++){
    const zt_blob *x = &b.a[i], *before = i ? x-1 : NULL;
    check( x->object==x->component && !seen[x->object]++, "%u", i );
    if( !before || x->offset>before->offset ) continue;
    assert_int_equal(x->offset, before->offset);
    if( x->length>before->length ) continue;
    assert_int_equal(x->length, before->length);
    assert_true(x->component>before->component);
  }
  for(size_t i=0; i<N; i++) assert_int_equal(seen[i], spots[i].length>0);
  zt_blobs_clear(&b);
  zt_container_close(c);
  free(file.p);
}

int main(void){
  static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_blobs_come_in_the_order_of_the_file),
    cmocka_unit_test(test_of_one_offset_the_shorter_comes_first_and_then_the_manifests_order),
    cmocka_unit_test(test_what_has_no_byte_is_left_out),
    cmocka_unit_test(test_many_blobs),
  };
  return cmocka_run_group_tests_name("blobs", tests, NULL, NULL);
}
