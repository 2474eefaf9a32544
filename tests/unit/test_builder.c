/* Containers in the making: container/builder.h. */
#include "test.h"

#include "container/builder.h"
#include "container/draft.h"
#include "container/shard.h"

TEST(test_a_shard_is_added_once){
  zt_error err = ZT_ERROR_NONE;
  zt_container c = { .references = 1 };
  zt_builder b = { .container = &c, .err = &err };
  uint32_t at;
  bool duplicate;
  assert_int_equal(zt_builder_keep(&b, "abab", 4, &at), SQLITE_OK);
  for(int i=0; i<2; i++){
    assert_int_equal(zt_builder_shard(&b, (zt_text){ (const char*)c.kept.p+at+2*i, 2 }, 7, &duplicate), SQLITE_OK);
    assert_int_equal(duplicate, i==1);
    assert_int_equal(c.shards.n, 1);
  }
  zt_keys_clear(&c.shard_names);
  zt_u32_array_clear(&c.shards);
  sqlite3_free(c.kept.p);
}

/* Room for more than positions count is not reserved, nor less than there is. */
TEST(test_room_for_what_is_kept){
  zt_error err = ZT_ERROR_NONE;
  zt_container c = { .references = 1 };
  zt_builder b = { .container = &c, .err = &err };
  zt_builder_reserve_kept(&b, UINT32_MAX);
  assert_int_equal(c.kept.capacity, 0);
  zt_builder_reserve_kept(&b, 1000);
  assert_int_equal(c.kept.capacity, 1000);
  zt_builder_reserve_kept(&b, 500);
  assert_int_equal(c.kept.capacity, 1000);
  sqlite3_free(c.kept.p);
}

TEST(test_the_most_that_is_kept){
  static const struct { uint64_t size, most; } rows[] = {
    { 0, 1<<20 }, { 100, (1<<20)+3200 }, { (uint64_t)31<<20, (uint64_t)993<<20 }, { (uint64_t)32<<20, ZT_MAX_MANIFEST },
    { ((uint64_t)32<<20)+1, ZT_MAX_MANIFEST }, { UINT64_MAX, ZT_MAX_MANIFEST }
  };
  for(size_t i=0; i<COUNT(rows); i++) assert_true(zt_builder_most(rows[i].size)==rows[i].most);
}

/* The names that external data of ONNX may have. */
TEST(test_locations){
  static const struct { const char *location, *fault; } rows[] = {
    { "a", NULL }, { "ab/cd", NULL }, { "..a/b..", NULL }, { "./a", NULL }, { ".", NULL }, { "a/../b", "has a part that is '..'" },
    { "..", "has a part that is '..'" }, { "a/..", "has a part that is '..'" }, { "/a", "is not relative" }, { "", "have no location" },
    { "\xFF", "is not UTF-8" }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const char *fault = zt_shard_location_fault(zt_text_of(rows[i].location));
    check( rows[i].fault ? fault && strstr(fault, rows[i].fault)!=NULL : !fault, "%s: %s", rows[i].location, fault ? fault : "none" );
  }
}

int main(void){
  return run_all("builder", NULL, NULL);
}
