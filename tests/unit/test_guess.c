/* A guess about a file, and another file's memory that is used again (container/container.h), do not change the answer. */
#include "test.h"

#include "container/driver.h"
#include "core/paths.h"

static zt_container *open_in(zt_container *emptied, const char *path, zt_container_guess guess, zt_error *err){
  zt_source *source;
  zt_container *c = NULL;
  if( zt_source_open(path, NULL, &source, err) ) fail_msg("%s", err->message);
  zt_container_open_in(emptied, source, guess, NULL, &c, err);
  assert_true((c==NULL)==(err->rc!=SQLITE_OK));
  zt_source_close(source);
  return c;
}

static void assert_same(const zt_container *a, const zt_container *b, const char *path){
  check( a->driver==b->driver && same_text(a->version, b->version), "%s", path );
  check( a->manifest_offset==b->manifest_offset && a->manifest_length==b->manifest_length && a->rules==b->rules, "%s", path );
  check( a->begin==b->begin && a->end==b->end && a->gap==b->gap && a->newer==b->newer, "%s", path );
  check( a->kept.n==b->kept.n, "%s", path );
  check( a->kept.n==0 || memcmp(a->kept.p, b->kept.p, a->kept.n)==0, "%s", path );
  check( zt_container_objects(a)==zt_container_objects(b) && zt_container_components(a)==zt_container_components(b), "%s", path );
  check( zt_container_shards(a)==zt_container_shards(b), "%s", path );
  for(uint32_t i=0; i<zt_container_objects(a); i++){
    const zt_text name = zt_container_name(a, i);
    check( zt_text_equal(name, zt_container_name(b, i)) && zt_container_find(b, name)==i, "%s: %u", path, i );
    check( zt_container_first(a, i)==zt_container_first(b, i), "%s: %u", path, i );
    for(uint32_t k=zt_container_first(a, i); k<zt_container_first(a, i+1); k++){
      zt_component x = { .offset = 0 }, y = { .offset = 0 };
      zt_container_component(a, i, k, ZT_COMPONENT_ALL, &x);
      zt_container_component(b, i, k, ZT_COMPONENT_ALL, &y);
      check( x.offset==y.offset && x.length==y.length && x.element==y.element, "%s: %u", path, i );
      check( same_text(x.role, y.role) && same_text(x.dtype, y.dtype) && same_text(x.digest, y.digest), "%s: %u", path, i );
    }
  }
}

static uint32_t at_most(uint32_t n){
  return n<ZT_GUESS_MAX ? n : ZT_GUESS_MAX;
}

/* Every file, sound or broken, after another one in whose memory it is opened. */
TEST(test_a_guess_and_used_memory_change_nothing){
  const zt_container_guess none = { 0 };
  zt_paths_filter filter = { .files = zt_container_files };
  zt_error err = ZT_ERROR_NONE;
  zt_paths paths;
  zt_container *emptied = NULL;
  size_t guessed = 0, reused = 0;
  assert_int_equal(zt_paths_find("tests/formats", &filter, &paths, &err), SQLITE_OK);
  assert_true(paths.n>500);
  for(size_t i=0; i<paths.n; i++){
    const char *path = paths.a[i].z;
    zt_error plain = ZT_ERROR_NONE;
    zt_container *c = open_in(NULL, path, none, &plain);
    const zt_container_guess like = c ? zt_container_like(c) : none;
    const zt_container_guess guesses[] = {
      like, { .head = at_most(like.head+1) }, { .tail = at_most(like.tail+1) }, { like.head/2, like.tail/2, 1, 1, 1 },
      { .head = 17 }, { .tail = 49 }, { .head = ZT_GUESS_MAX }, { .tail = ZT_GUESS_MAX, .kept = ZT_GUESS_MAX }
    };
    guessed += like.head || like.tail;
    for(size_t k=0; k<COUNT(guesses); k++){
      zt_error other = ZT_ERROR_NONE;
      zt_container *again;
      reused += emptied!=NULL;
      if( !emptied ) emptied = zt_container_prepare(guesses[k]);
      again = open_in(emptied, path, guesses[k], &other);
      emptied = NULL;
      check( plain.rc==other.rc && (!plain.rc || strcmp(plain.message, other.message)==0), "%s: %s, not %s", path,
             other.message, plain.message );
      if( c ) assert_same(c, again, path);
      if( again ) emptied = zt_container_empty(again);
      zt_error_clear(&other);
    }
    zt_container_close(c);
    zt_error_clear(&plain);
  }
  assert_true(guessed>200 && reused>1000);
  zt_container_close(emptied);
  zt_paths_clear(&paths);
}

/* A file is like another one if its metadata are short, and at an end of it. */
TEST(test_what_is_guessed){
  static const struct { const char *path; bool head, tail; } files[] = {
    { "tests/formats/ztensor/golden/v1.2/wheel_names.zt", false, true },
    { "tests/formats/safetensors/golden/dtypes.safetensors", true, false },
    { "tests/formats/npz/golden/names.npz", false, false },   /* Of many pieces */
  };
  const zt_container_guess none = { 0 };
  for(size_t i=0; i<COUNT(files); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_container *c = open_in(NULL, files[i].path, none, &err);
    const zt_container_guess like = zt_container_like(c);
    check( (like.head>0)==files[i].head && (like.tail>0)==files[i].tail, "%s", files[i].path );
    check( !like.tail || like.tail==c->file_size-c->manifest_offset, "%s", files[i].path );
    check( !like.head || like.head==c->manifest_offset+c->manifest_length, "%s", files[i].path );
    zt_container_close(c);
  }
}

/* How many there are, and were at most since that was last forgotten. */
static int allocations(bool forget, int *most){
  int now;
  assert_int_equal(sqlite3_status(SQLITE_STATUS_MALLOC_COUNT, &now, most, forget), SQLITE_OK);
  return now;
}

/* Memory made for a file like the last one is enough: who opens it asks for none. */
TEST(test_prepared_memory_is_enough){
  static const char *const files[] = {
    "tests/formats/ztensor/golden/v1.2/wheel_names.zt", "tests/formats/safetensors/golden/dtypes.safetensors",
  };
  const zt_container_guess none = { 0 };
  assert_null(zt_container_prepare(none));
  for(size_t i=0; i<COUNT(files); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_container *c = open_in(NULL, files[i], none, &err), *again;
    const zt_container_guess like = zt_container_like(c);
    zt_container *prepared = zt_container_prepare(like);
    zt_source *source;
    int before, most;
    assert_int_equal(zt_source_open(files[i], NULL, &source, &err), SQLITE_OK);
    before = allocations(true, &most);
    assert_int_equal(zt_container_open_in(prepared, source, like, NULL, &again, &err), SQLITE_OK);
    check( allocations(false, &most)==before && most==before, "%s: %d, %d", files[i], before, most );
    zt_source_close(source);
    assert_same(c, again, files[i]);
    zt_container_close(again);
    zt_container_close(c);
  }
}

int main(void){
  return run_all("guess", NULL, NULL);
}
