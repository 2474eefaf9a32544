/* tensor/strided: elements by strides, whatever they are, in pieces of any size. */
#include "test.h"

#include "container/dtype.h"
#include "tensor/strided.h"

static zt_error err;
static zt_budget budget = { .result = 1000000000, .decode = (uint64_t)1<<40 };

typedef struct subject {
  uint32_t *data;
  uint64_t length;              /* Elements of data */
  zt_object object;
  zt_source *source;
  zt_component component;
  zt_payload payload;
  zt_array array;
  zt_tensor tensor;
  zt_strided *strided;
} subject;

static void open_subject(subject *s, uint32_t rank, const uint64_t *shape, const uint64_t *strides){
  size_t bytes;
  *s = (subject){ .length = 1, .object = { .rank = rank, .has_strides = true } };
  memcpy(s->object.shape, shape, rank*sizeof(*shape));
  memcpy(s->object.strides, strides, rank*sizeof(*strides));
  assert_true(zt_object_count(&s->object));
  for(uint32_t d=0; d<rank; d++) s->length += (shape[d]-1)*strides[d];
  bytes = (size_t)s->length*4;
  s->data = malloc(bytes);
  for(uint64_t i=0; i<s->length; i++) s->data[i] = (uint32_t)i;
  if( zt_big_endian() ) zt_swap_bytes(s->data, bytes, 4);
  assert_int_equal(zt_source_open_image((zt_span){ (uint8_t*)s->data, bytes }, &s->source, &err), SQLITE_OK);
  s->component = (zt_component){ .role = ZT_TEXT_INIT("data"), .dtype = ZT_TEXT_INIT("u32"), .encoding = ZT_TEXT_INIT("raw"),
    .codec = ZT_CODEC_RAW, .byte_order = ZT_TEXT_INIT("little"), .length = s->length*4 };
  zt_dtype_decide(&s->component);
  s->payload = (zt_payload){ .source = s->source, .object = &s->object, .component = &s->component, .budget = &budget };
  assert_int_equal(zt_array_open_of(&s->payload, s->length, "D1", &s->array, &err), SQLITE_OK);
  s->tensor = (zt_tensor){ .object = &s->object, .budget = &budget, .dtype = s->array.dtype };
  s->strided = zt_strided_new(&s->tensor, &s->array, &err);
  assert_non_null(s->strided);
}

static void close_subject(subject *s){
  zt_strided_free(s->strided);
  zt_array_close(&s->array);
  zt_source_close(s->source);
  free(s->data);
}

/* The element at a position of the dense form. */
static uint32_t element_at(const zt_object *object, uint64_t position){
  uint64_t at = 0;
  for(uint32_t d=object->rank; d-->0; position/=object->shape[d]){
    at += position%object->shape[d]*object->strides[d];
  }
  return (uint32_t)at;
}

static void expect_range(subject *s, uint64_t first, uint64_t n, const char *row){
  uint32_t *out = malloc((size_t)n*4);
  zt_strided_read(s->strided, first, n, (uint8_t*)out, &err);
  assert_succeeded(&err, row);
  for(uint64_t i=0; i<n; i++){
    check( out[i]==element_at(&s->object, first+i), "%s: element %llu of %llu to %llu", row, (unsigned long long)(first+i),
           (unsigned long long)first, (unsigned long long)(first+n) );
  }
  free(out);
}

/* All of it, windows in their order, and places in none. */
static void expect_all(uint32_t rank, const uint64_t *shape, const uint64_t *strides, const char *row){
  static const uint64_t windows[] = { 1, 7, 1000, 1024, 5000 };
  uint64_t state = 88172645463325252u;
  for(size_t w=0; w<=COUNT(windows); w++){
    subject s;
    open_subject(&s, rank, shape, strides);
    uint64_t n = w<COUNT(windows) ? windows[w] : s.object.elements;
    if( n>1 || s.object.elements<3000 ){
      for(uint64_t first=0; first<s.object.elements; first+=n){
        expect_range(&s, first, s.object.elements-first<n ? s.object.elements-first : n, row);
      }
    }
    for(int i=0; i<20; i++){
      uint64_t first = random_below(&state, (size_t)s.object.elements);
      uint64_t left = s.object.elements-first;
      expect_range(&s, first, 1+random_below(&state, (size_t)(left<3000 ? left : 3000)), row);
    }
    close_subject(&s);
  }
}

TEST(test_orders){
  expect_all(0, (uint64_t[]){ 0 }, (uint64_t[]){ 0 }, "a scalar");
  expect_all(1, (uint64_t[]){ 5000 }, (uint64_t[]){ 1 }, "side by side");
  expect_all(1, (uint64_t[]){ 5000 }, (uint64_t[]){ 3 }, "gaps");
  expect_all(1, (uint64_t[]){ 5000 }, (uint64_t[]){ 300 }, "large gaps");
  expect_all(2, (uint64_t[]){ 70, 90 }, (uint64_t[]){ 1, 70 }, "column-major");
  expect_all(2, (uint64_t[]){ 70, 90 }, (uint64_t[]){ 90, 1 }, "row-major");
  expect_all(2, (uint64_t[]){ 3, 4000 }, (uint64_t[]){ 1, 3 }, "few rows");
  expect_all(2, (uint64_t[]){ 4000, 3 }, (uint64_t[]){ 1, 4000 }, "few columns");
  expect_all(2, (uint64_t[]){ 70, 90 }, (uint64_t[]){ 1, 5000 }, "columns far apart");
  expect_all(4, (uint64_t[]){ 8, 1, 30, 20 }, (uint64_t[]){ 1, 77, 8, 240 }, "column-major, with one index in between");
  expect_all(4, (uint64_t[]){ 8, 5, 30, 6 }, (uint64_t[]){ 30, 240, 1, 1200 }, "some order");
}

/* Runs that the window through which they are read has in part. */
TEST(test_short_runs_near_each_other){
  expect_all(2, (uint64_t[]){ 20, 4000 }, (uint64_t[]){ 1, 130 }, "near");
  expect_all(3, (uint64_t[]){ 3, 20, 700 }, (uint64_t[]){ 20, 1, 333 }, "near, in two dimensions");
}

TEST(test_shared_elements){
  expect_all(2, (uint64_t[]){ 70, 90 }, (uint64_t[]){ 0, 1 }, "rows repeat");
  expect_all(2, (uint64_t[]){ 70, 90 }, (uint64_t[]){ 1, 0 }, "each repeats");
  expect_all(3, (uint64_t[]){ 10, 20, 30 }, (uint64_t[]){ 0, 0, 0 }, "one element");
  expect_all(2, (uint64_t[]){ 70, 90 }, (uint64_t[]){ 1, 1 }, "windows that overlap");
  expect_all(2, (uint64_t[]){ 70, 90 }, (uint64_t[]){ 2, 3 }, "windows that overlap, with gaps");
  expect_all(3, (uint64_t[]){ 7, 9, 50 }, (uint64_t[]){ 50, 0, 1 }, "repeated in the middle");
}

/* More elements than any memory has, of few that are stored. */
TEST(test_a_huge_view_of_little){
  subject s;
  open_subject(&s, 3, (uint64_t[]){ (uint64_t)1<<30, 1<<20, 5 }, (uint64_t[]){ 0, 0, 1 });
  for(int i=0; i<3; i++) expect_range(&s, (uint64_t)i*12345678901u, 5000, "huge");
  expect_range(&s, s.object.elements-2000, 2000, "its end");
  close_subject(&s);
}

/* Boxes of more elements than 64 bits count, and of more than are kept with one index of the first dimension. */
TEST(test_boxes_that_are_much_too_large){
  uint64_t shape[12], strides[12];
  subject s;
  for(int d=0; d<12; d++){
    shape[d] = d==0 ? 2 : d==11 ? 4 : 64;
    strides[d] = d==0 ? 3 : 9;
  }
  open_subject(&s, 12, shape, strides);
  for(int i=0; i<3; i++) expect_range(&s, (uint64_t)i*1234567890123456789u, 5000, "2^63 elements");
  close_subject(&s);
  open_subject(&s, 3, (uint64_t[]){ 4, 3001, 3001 }, (uint64_t[]){ 2, 40, 40 });
  expect_range(&s, 0, 5000, "one index is too much");
  expect_range(&s, 9000000, 70000, "one index is too much");
  close_subject(&s);
}

/* A box of a part of one column, whose elements are apart in the result. */
TEST(test_columns_that_are_larger_than_what_is_kept){
  const uint64_t n = 8500000;
  subject s;
  assert_true(n*4>ZT_STRIDED_KEPT);
  open_subject(&s, 2, (uint64_t[]){ n, 2 }, (uint64_t[]){ 1, n });
  expect_range(&s, 0, 2*n, "two columns");
  close_subject(&s);
}

/* Reading asks whether to go on: all elements, or a window of them. */
TEST(test_interrupts){
  const uint64_t n = 3001;
  for(int all=0; all<2; all++){
    int most = 0;
    for(int stop=0; stop<=most; stop += stop<3 ? 1 : 1+most/9){
      caller c = { .stop_at = stop };
      uint8_t *out = malloc((size_t)(n*n*4));
      subject s;
      open_subject(&s, 2, (uint64_t[]){ n, n }, (uint64_t[]){ 1, n });
      budget.interrupt = (zt_interrupt){ caller_stops, &c };
      zt_strided_read(s.strided, all ? 0 : 1, n*n-!all, out, &err);
      check( err.rc==(stop ? SQLITE_INTERRUPT : SQLITE_OK), "stop %d: %d", stop, err.rc );
      if( stop ) assert_int_equal(c.asked, stop);
      else most = c.asked;
      zt_error_clear(&err);
      err = ZT_ERROR_NONE;
      budget.interrupt = (zt_interrupt){ .context = NULL };
      close_subject(&s);
      free(out);
    }
    check( most>0, "never asked" );
  }
}

/* Larger than what is kept: several boxes. */
TEST(test_more_than_is_kept){
  const uint64_t n = 3001;
  subject s;
  assert_true(n*n*4>ZT_STRIDED_KEPT);
  open_subject(&s, 2, (uint64_t[]){ n, n }, (uint64_t[]){ 1, n });
  expect_range(&s, 0, n*n, "all");
  close_subject(&s);
  open_subject(&s, 2, (uint64_t[]){ n, n }, (uint64_t[]){ 1, n });
  for(uint64_t first=0; first<n*n; first+=1<<16){
    expect_range(&s, first, n*n-first<1<<16 ? n*n-first : 1<<16, "windows");
  }
  expect_range(&s, 5, 4000, "back again");
  close_subject(&s);
  open_subject(&s, 3, (uint64_t[]){ 50, 60, n }, (uint64_t[]){ 1, 50, 3000 });
  expect_range(&s, 0, 50*60*n, "short runs near each other");
  expect_range(&s, 777, 70000, "short runs near each other, some of them");
  close_subject(&s);
}

int main(void){
  return run_all("strided", NULL, NULL);
}
