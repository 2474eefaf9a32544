/*
** Memory of results: tensor/buffer.h. Large ones begin at a large page, one of them is kept for the next, and whatever is
** closed or freed first, all memory comes back.
*/
#include "test.h"

#include "core/window.h"
#include "tensor/buffer.h"

#define MIB ((uint64_t)1 << 20)
#define LARGE_PAGE ((uintptr_t)2 << 20)

static sqlite3_int64 at_start;

static int set_up(void **state){
  (void)state;
  sqlite3_initialize();
  at_start = sqlite3_memory_used();
  return 0;
}

static int nothing_is_left(void **state){
  (void)state;
  assert_int_equal(sqlite3_memory_used(), at_start);
  return 0;
}

static zt_buffer new_buffer(zt_spare *spare, uint64_t n){
  zt_budget budget = { .result = 1000000000, .spare = spare };
  zt_error err = ZT_ERROR_NONE;
  zt_buffer b;
  assert_int_equal(zt_buffer_new(&budget, n, &b, &err), SQLITE_OK);
  assert_int_equal(b.n, n);
  memset(b.p, 0xA5, (size_t)n);   /* All of it is there */
  return b;
}

TEST_WITH(test_sizes, set_up, nothing_is_left){
  static const uint64_t sizes[] = { 1, 15, 16, 4095, MIB, 4*MIB-1, 4*MIB, 4*MIB+1, 64*MIB, 65*MIB };
  for(size_t i=0; i<COUNT(sizes); i++){
    zt_buffer b = new_buffer(NULL, sizes[i]);
    check( (uintptr_t)b.p%8==0, "%zu", i );
    check( sizes[i]<4*MIB || (uintptr_t)b.p%LARGE_PAGE==0, "%zu", i );
    zt_buffer_clear(&b);
    assert_true(b.p==NULL && b.n==0);
  }
}

/* Zeros, whatever was kept; counted as SQLite's memory, whose limit holds. */
TEST_WITH(test_zeros, set_up, nothing_is_left){
  static const uint64_t sizes[] = { 1, 4095, 4*MIB-1, 4*MIB, 16*MIB, 65*MIB };
  zt_error err = ZT_ERROR_NONE;
  for(size_t i=0; i<COUNT(sizes); i++){
    zt_spare *spare = zt_spare_new();
    zt_budget budget = { .result = 1000000000, .spare = spare };
    const sqlite3_int64 start = sqlite3_memory_used();
    zt_buffer b = new_buffer(spare, 16*MIB);
    sqlite3_int64 before;
    zt_buffer_clear(&b);
    before = sqlite3_memory_used();
    for(int again=0; again<2; again++){
      uint64_t wrong = 0;
      assert_int_equal(zt_buffer_new_zeros(&budget, sizes[i], &b, &err), SQLITE_OK);
      assert_int_equal(b.n, sizes[i]);
      for(uint64_t k=0; k<b.n; k++) wrong += b.p[k]!=0;
      check( wrong==0, "%zu", i );
      check( sizes[i]<4*MIB || (uintptr_t)b.p%LARGE_PAGE==0, "%zu", i );
      check( sqlite3_memory_used()-start>=(sqlite3_int64)b.n, "%zu", i );
      memset(b.p, 0xA5, (size_t)b.n);
      zt_buffer_clear(&b);
      assert_int_equal(sqlite3_memory_used(), before);
    }
    budget.spare = NULL;
    sqlite3_hard_heap_limit64(before+(sqlite3_int64)sizes[i]/2);
    assert_int_equal(zt_buffer_new_zeros(&budget, sizes[i], &b, &err), SQLITE_NOMEM);
    sqlite3_hard_heap_limit64(0);
    assert_true(b.p==NULL && b.n==0);
    zt_error_clear(&err);
    zt_spare_release(spare);
  }
  assert_int_equal(zt_buffer_new_zeros(&(zt_budget){ .result = 100 }, 101, &(zt_buffer){ NULL, 0 }, &err), SQLITE_TOOBIG);
  zt_error_clear(&err);
}

TEST_WITH(test_nothing_and_too_much, set_up, nothing_is_left){
  zt_budget budget = { .result = 100 };
  zt_error err = ZT_ERROR_NONE;
  zt_buffer b;
  assert_int_equal(zt_buffer_new(&budget, 0, &b, &err), SQLITE_OK);
  assert_null(b.p);
  zt_buffer_clear(&b);
  zt_buffer_free(NULL);
  assert_int_equal(zt_buffer_new(&budget, 101, &b, &err), SQLITE_TOOBIG);
  assert_true(b.p==NULL && b.n==0);
  assert_string_equal(err.message, "ztensor: 101 bytes are more than the limit of 100 on a result");
  zt_error_clear(&err);
  err = ZT_ERROR_NONE;
  budget.result = UINT64_MAX;   /* More than 2^64 with what stands before the bytes */
  assert_int_equal(zt_buffer_new(&budget, UINT64_MAX, &b, &err), SQLITE_NOMEM);
  assert_true(b.p==NULL && b.n==0);
  err = ZT_ERROR_NONE;
  assert_int_equal(zt_buffer_reserve(&b, UINT64_MAX, &err), SQLITE_NOMEM);
  assert_true(b.p==NULL && b.n==0);
}

TEST_WITH(test_growing_keeps_the_bytes, set_up, nothing_is_left){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer b = { NULL, 0 };
  for(uint64_t capacity=1; capacity<=8*MIB; capacity*=2){
    assert_int_equal(zt_buffer_reserve(&b, capacity, &err), SQLITE_OK);
    for(uint64_t i=0; i<b.n; i++) check( b.p[i]==i%251, "%llu", (unsigned long long)i );
    for(uint64_t i=b.n; i<capacity; i++) b.p[i] = (uint8_t)(i%251);
    b.n = capacity;
  }
  zt_buffer_clear(&b);
}

TEST_WITH(test_a_large_one_serves_the_next, set_up, nothing_is_left){
  /* Of 16 MiB that are kept: what has room in it, and fills a quarter of it at least */
  static const struct { uint64_t n; bool same; } rows[] = {
    { 16*MIB, true }, { 16*MIB-1, true }, { 4*MIB, true }, { 4*MIB-1, false }, { 16*MIB+1, false }, { 1, false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_spare *spare = zt_spare_new();
    zt_buffer first = new_buffer(spare, 16*MIB), next;
    uint8_t *p = first.p;
    zt_buffer_clear(&first);
    next = new_buffer(spare, rows[i].n);
    check( (next.p==p)==rows[i].same, "%zu", i );
    zt_buffer_clear(&next);
    zt_spare_release(spare);
    nothing_is_left(NULL);
  }
}

TEST_WITH(test_what_is_not_kept, set_up, nothing_is_left){
  static const struct { uint64_t n; bool kept; } rows[] = {
    { 4*MIB-1, false }, { 4*MIB, true }, { ZT_SPARE_MAX, true }, { ZT_SPARE_MAX+1, false }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_spare *spare = zt_spare_new();
    zt_buffer b;
    sqlite3_int64 before = sqlite3_memory_used();
    b = new_buffer(spare, rows[i].n);
    zt_buffer_clear(&b);
    check( (sqlite3_memory_used()>before)==rows[i].kept, "%zu", i );
    zt_spare_release(spare);
  }
}

TEST_WITH(test_only_one_is_kept, set_up, nothing_is_left){
  zt_spare *spare = zt_spare_new();
  zt_buffer a = new_buffer(spare, 8*MIB), b = new_buffer(spare, 8*MIB);
  sqlite3_int64 two = sqlite3_memory_used();
  assert_ptr_not_equal(a.p, b.p);
  zt_buffer_clear(&a);
  assert_int_equal(sqlite3_memory_used(), two);
  zt_buffer_clear(&b);
  assert_true(sqlite3_memory_used()<two-(sqlite3_int64)(7*MIB));
  zt_spare_release(spare);
}

/* A host may hold a result when the connection that made it is gone. */
TEST_WITH(test_a_result_outlives_its_connection, set_up, nothing_is_left){
  zt_spare *spare = zt_spare_new();
  zt_buffer a = new_buffer(spare, 8*MIB), b = new_buffer(spare, 10);
  zt_spare_release(spare);
  assert_int_equal(a.p[8*MIB-1], 0xA5);
  zt_buffer_free(a.p);
  zt_buffer_free(b.p);
  zt_spare_release(NULL);
}

/* core/window.h: all of it is there, and large ones begin at a page. */
TEST_WITH(test_windows, set_up, nothing_is_left){
  static const size_t sizes[] = { 0, 1, 4095, 16383, 16384, 65537, MIB };
  for(size_t i=0; i<COUNT(sizes); i++){
    uint8_t *w = zt_window_new(sizes[i]);
    assert_non_null(w);
    memset(w, 0xA5, sizes[i]);
    assert_int_equal((uintptr_t)w % (sizes[i]<16384 ? 16 : 4096), 0);
    zt_window_free(w);
  }
  assert_null(zt_window_new(SIZE_MAX));
  assert_null(zt_window_new(SIZE_MAX-4095));
  zt_window_free(NULL);
}

int main(void){
  return run_all("buffer", NULL, NULL);
}
