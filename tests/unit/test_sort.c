/* Sorting: core/sort.h. */
#include "test.h"

#include "core/sort.h"

/* Items are sorted by the remainder of their key, so that many are equal. */
typedef struct thing {
  uint32_t key, place;
  uint8_t more[5];         /* Sizes need be no powers of two */
} thing;

static int by_remainder(const void *context, const void *x, const void *y){
  const uint32_t divisor = *(const uint32_t*)context, a = ((const thing*)x)->key%divisor, b = ((const thing*)y)->key%divisor;
  return a<b ? -1 : a>b;
}

static thing *things_of(size_t n, uint64_t seed){
  thing *a = malloc((n+1)*sizeof(*a));
  for(size_t i=0; i<n; i++){
    a[i] = (thing){ .key = (uint32_t)random_below(&seed, 1000000), .place = (uint32_t)i };
    memset(a[i].more, (int)(i & 0xFF), sizeof(a[i].more));
  }
  return a;
}

/* Each is there once, and whole. */
static void assert_all_there(const thing *a, const thing *before, size_t n){
  uint8_t *seen = calloc(n+1, 1);
  for(size_t i=0; i<n; i++){
    const thing *was = &before[a[i].place];
    assert_true(a[i].place<n);
    assert_false(seen[a[i].place]);
    seen[a[i].place] = 1;
    assert_int_equal(a[i].key, was->key);
    assert_memory_equal(a[i].more, was->more, sizeof(was->more));
  }
  free(seen);
}

static const zt_interrupt nobody = { NULL, NULL };

TEST(test_equal_things_stay_in_their_order){
  static const uint32_t divisors[] = { 1, 2, 17, 1000000 };
  for(size_t n=0; n<5000; n += n<70 ? 1 : 977){
    for(size_t k=0; k<COUNT(divisors); k++){
      const zt_sort_by by = { sizeof(thing), by_remainder, &divisors[k], &nobody };
      thing *before = things_of(n, n), *a = things_of(n, n);
      zt_error err = ZT_ERROR_NONE;
      assert_int_equal(zt_sort(a, n, &by, &err), SQLITE_OK);
      assert_all_there(a, before, n);
      for(size_t i=1; i<n; i++){
        const int c = by_remainder(by.context, &a[i-1], &a[i]);
        check( c<0 || (c==0 && a[i-1].place<a[i].place), "%zu of %zu, by the remainder of %u", i, n, divisors[k] );
      }
      free(before);
      free(a);
    }
  }
}

static int by_bytes(const void *context, const void *x, const void *y){
  return memcmp(x, y, *(const size_t*)context);
}

TEST(test_things_of_every_size){
  enum { N = 300 };
  uint64_t seed = 11;
  for(size_t size=1; size<=40; size++){
    const zt_sort_by by = { size, by_bytes, &size, &nobody };
    uint8_t *a = malloc(N*size), *expected = malloc(N*size);
    zt_error err = ZT_ERROR_NONE;
    for(size_t i=0; i<N*size; i++) a[i] = (uint8_t)random_below(&seed, i%size ? 256 : 4);
    for(size_t i=0; i<N; i++){
      size_t k = i;
      for(; k>0 && memcmp(expected+(k-1)*size, a+i*size, size)>0; k--) memcpy(expected+k*size, expected+(k-1)*size, size);
      memcpy(expected+k*size, a+i*size, size);
    }
    assert_int_equal(zt_sort(a, N, &by, &err), SQLITE_OK);
    assert_memory_equal(a, expected, N*size);
    free(expected);
    free(a);
  }
}

TEST(test_what_ascends_stays_as_it_is){
  static const uint32_t divisor = 1000000;
  const zt_sort_by by = { sizeof(thing), by_remainder, &divisor, &nobody };
  thing *a = things_of(1000, 3), *again;
  zt_error err = ZT_ERROR_NONE;
  assert_int_equal(zt_sort(a, 1000, &by, &err), SQLITE_OK);
  again = malloc(1000*sizeof(*a));
  memcpy(again, a, 1000*sizeof(*a));
  assert_int_equal(zt_sort(again, 1000, &by, &err), SQLITE_OK);
  assert_memory_equal(again, a, 1000*sizeof(*a));
  free(again);
  free(a);
}

static bool stop_later(void *left){
  return (*(int*)left)--==0;
}

TEST(test_an_interrupt_loses_nothing){
  static const uint32_t divisor = 1000000;
  for(int after=0; after<60; after++){
    int left = after;
    const zt_interrupt interrupt = { stop_later, &left };
    const zt_sort_by by = { sizeof(thing), by_remainder, &divisor, &interrupt };
    thing *before = things_of(3000, 5), *a = things_of(3000, 5);
    zt_error err = ZT_ERROR_NONE;
    assert_int_equal(zt_sort(a, 3000, &by, &err), SQLITE_INTERRUPT);
    assert_all_there(a, before, 3000);
    zt_error_clear(&err);
    free(before);
    free(a);
  }
}

int main(void){
  return run_all("sort", NULL, NULL);
}
