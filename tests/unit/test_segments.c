/* Objects that are checked side by side: container/segments.h. A container is the same as one thread makes it, and so is what is
** said of a broken one. */
#include "test.h"

#include "core/pool.h"
#include "same.h"

#define OBJECTS 40000u   /* Some 4 MB of manifest */
#define MANIFEST 192u    /* Where it begins */

/* The kinds of unusual files. */
typedef struct unusual {
  bool descending;       /* Names descend */
  bool several;          /* Every seventh object has two components, every eleventh none */
  bool lookalikes;       /* Attributes have in them what looks like objects */
  bool indefinite;       /* The map of objects is ended by a break */
  bool behind;           /* A key of the root stands behind the objects, and what looks like one more */
  uint32_t again;        /* This object has the name of the one before; 0: none */
  uint32_t objects;      /* 0: OBJECTS */
  const char *first;     /* An unknown key that each object begins with, in CBOR; NULL: none */
} unusual;

static void put_component(blob *b, const char *role, uint64_t offset){
  put_text(b, role);
  put_head(b, ZT_CBOR_MAP, 3);
  put_text(b, "dtype");
  put_text(b, "f32");
  put_text(b, "offset");
  put_uint(b, offset);
  put_text(b, "length");
  put_uint(b, 16);
}

/* The map of an object with so many components. */
static void put_object(blob *b, const unusual *u, uint32_t i, uint64_t components){
  put_head(b, ZT_CBOR_MAP, 3u+u->lookalikes+(u->first!=NULL));
  if( u->first ){
    put(b, u->first, strlen(u->first));
    put_uint(b, 1);
  }
  put_text(b, "shape");
  put_head(b, ZT_CBOR_ARRAY, 1);
  put_uint(b, 4);
  put_text(b, "format");
  put_text(b, components==1 ? "dense" : "own");
  if( u->lookalikes ){
    const unusual plain = { .descending = false };
    blob inner = { NULL, 0, 0 };
    put_object(&inner, &plain, i, 1);
    put_text(&inner, "layers.00007.weight");
    put_object(&inner, &plain, i, 1);
    put_text(b, "attributes");
    put_head(b, ZT_CBOR_MAP, 1);
    put_text(b, "k");
    put_head(b, ZT_CBOR_BYTES, inner.n);
    put(b, inner.p, inner.n);
    free(inner.p);
  }
  put_text(b, "components");
  put_head(b, ZT_CBOR_MAP, components);
  if( components>0 ) put_component(b, "data", 64);
  if( components>1 ) put_component(b, "other", 128);
}

static void put_objects(blob *b, const unusual *u){
  const uint32_t objects = u->objects ? u->objects : OBJECTS;
  char name[40];
  put_text(b, "objects");
  if( u->indefinite ) put_byte(b, 0xBF);
  else put_head(b, ZT_CBOR_MAP, objects);
  for(uint32_t i=0; i<objects; i++){
    const uint32_t number = u->again && i==u->again ? i-1 : i;
    snprintf(name, sizeof(name), "layers.%05u.weight", u->descending ? objects-number : number);
    put_text(b, name);
    put_object(b, u, i, !u->several ? 1 : i%7==0 ? 2 : i%11==0 ? 0 : 1);
  }
  if( u->indefinite ) put_byte(b, 0xFF);
}

static const char magic[] = "ZTEN1000";

/* A file of 1.2, up to its manifest. */
static blob begin_file(void){
  blob b = { NULL, 0, 0 };
  put(&b, magic, 8);
  put_repeated(&b, 0, MANIFEST-8);
  return b;
}

static blob end_file(blob b){
  put_le64(&b, b.n-MANIFEST);
  put(&b, magic, 8);
  return b;
}

static blob new_file(const unusual *u){
  blob b = begin_file();
  put_head(&b, ZT_CBOR_MAP, u->behind ? 3 : 2);
  put_text(&b, "version");
  put_text(&b, "1.2.0");
  put_objects(&b, u);
  if( u->behind ){
    put_text(&b, "layers.99999.weight");
    put_object(&b, u, 0, 1);
  }
  return end_file(b);
}

static zt_container *open_with(zt_pool *pool, const blob *b, const zt_interrupt *interrupt, zt_error *err){
  zt_source *source;
  zt_container *c = NULL;
  assert_int_equal(zt_source_open_image((zt_span){ b->p, b->n }, &source, err), SQLITE_OK);
  zt_source_set_pool(source, pool);
  zt_container_open(source, interrupt, &c, err);
  zt_source_close(source);
  return c;
}

/* Open it by one thread and by five: the same comes of it. Returns the result code. */
static int assert_same(const blob *b, const char *what){
  zt_pool *pool = zt_pool_new(4);
  zt_error one = ZT_ERROR_NONE, five = ZT_ERROR_NONE;
  zt_container *a = open_with(NULL, b, NULL, &one), *c = open_with(pool, b, NULL, &five);
  const char *differs = difference(a, &one, c, &five);
  const int rc = one.rc;
  check( !differs, "%s: %s, %s and %s", what, differs, one.message, five.message );
  zt_container_close(a);
  zt_container_close(c);
  zt_error_clear(&one);
  zt_error_clear(&five);
  zt_pool_free(pool);
  return rc;
}

static const struct {
  const char *what;
  unusual u;
  int rc;
} files[] = {
  { "as they usually are", { .again = 0 }, SQLITE_OK },
  { "descending names", { .descending = true }, SQLITE_OK },
  { "components of several numbers", { .several = true }, SQLITE_OK },
  { "objects in attributes", { .lookalikes = true }, SQLITE_OK },
  { "a break at the end", { .indefinite = true }, SQLITE_OK },
  { "a lookalike behind the objects", { .behind = true }, SQLITE_OK },
  { "all of that", { .descending = true, .several = true, .lookalikes = true, .behind = true }, SQLITE_OK },
  { "a name twice, at the beginning", { .again = 1 }, SQLITE_ERROR },
  { "a name twice, in the middle", { .again = OBJECTS/2 }, SQLITE_ERROR },
  { "a name twice, at the end", { .again = OBJECTS-1, .descending = true }, SQLITE_ERROR },
};

TEST(test_a_container_does_not_depend_on_who_checks_it){
  for(size_t i=0; i<COUNT(files); i++){
    blob b = new_file(&files[i].u);
    assert_int_equal(assert_same(&b, files[i].what), files[i].rc);
    free(b.p);
  }
}

/* Every name that comes twice is found, wherever segments begin. */
TEST(test_a_name_that_stands_twice_is_found_across_segments){
  for(uint32_t i=997; i<OBJECTS; i+=3989){
    const unusual u = { .again = i, .several = i%2==0 };
    blob b = new_file(&u);
    assert_int_equal(assert_same(&b, "a name twice"), SQLITE_ERROR);
    free(b.p);
  }
}

/* Also where it is the first one of a segment. */
TEST(test_a_name_that_stands_twice_is_found_in_each_place){
  for(uint32_t i=1; i<600; i++){
    const unusual u = { .again = i/2, .objects = 300, .several = i%2==0 };
    blob b = new_file(&u);
    assert_int_equal(assert_same(&b, "a name twice"), i/2 ? SQLITE_ERROR : SQLITE_OK);
    free(b.p);
  }
}

/* How objects begin is not found in all places, or in none. */
TEST(test_few_objects_and_other_keys){
  static const struct { const char *first; int rc; } rows[] = {
    { NULL, SQLITE_OK }, { "\x61k", SQLITE_OK }, { "\x77""a key of 23 characters.", SQLITE_OK }, { "\x78\x18""a key of 24 characters..", SQLITE_OK },
    { "\x7F\x61k\xFF", SQLITE_OK }, { "\x41k", SQLITE_ERROR }, { "\x05", SQLITE_ERROR },
  };
  for(size_t k=0; k<COUNT(rows); k++) for(uint32_t n=1; n<40; n++){
    const unusual u = { .objects = n, .first = rows[k].first, .lookalikes = n%3==0, .several = n%2==0, .behind = n%5==0 };
    blob b = new_file(&u);
    check( assert_same(&b, "few objects")==rows[k].rc, "row %d, %d objects", (int)k, (int)n );
    free(b.p);
  }
}

TEST(test_a_broken_byte_is_told_alike){
  const unusual u = { .several = true };
  blob b = new_file(&u);
  uint64_t seed = 1;
  int broken = 0;
  for(int i=0; i<150; i++){
    const size_t at = MANIFEST+random_below(&seed, b.n-MANIFEST-16);
    const uint8_t was = b.p[at];
    b.p[at] = (uint8_t)random64(&seed);
    if( assert_same(&b, "a broken byte") ) broken++;
    b.p[at] = was;
  }
  assert_true(broken>50);
  free(b.p);
}

/* Where an object's name stands. */
static uint8_t *find_name(const blob *b, const char *name){
  const size_t n = strlen(name);
  size_t at = 0;
  while( memcmp(b->p+at, name, n)!=0 ) at++;
  return b->p+at;
}

/* The first object's name is no text, and its map is not well-formed. */
TEST(test_a_broken_first_object){
  static const struct { const char *what; size_t from_name; uint8_t byte; } rows[] = {
    { "a name of bytes", (size_t)-1, 0x53 }, { "a map that ends early", 19+7, 0xFF }, { "a map with a text in place of an array", 19+7, 0x61 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const unusual u = { .objects = 300 };
    blob b = new_file(&u);
    uint8_t *name = find_name(&b, "layers.00000.weight");
    name[rows[i].from_name] = rows[i].byte;
    assert_int_equal(assert_same(&b, rows[i].what), SQLITE_ERROR);
    free(b.p);
  }
}

/* Wherever an object is broken, also where it is the first of a segment; and wherever a text is in chunks. */
TEST(test_an_object_unlike_the_others_in_each_place){
  for(int kind=0; kind<3; kind++) for(int i=1; i<300; i++){
    const unusual u = { .objects = 300 };
    blob b = new_file(&u);
    char name[32];
    uint8_t *at;
    snprintf(name, sizeof(name), "layers.%05d.weight", i);
    at = find_name(&b, name);
    if( kind==0 ) at[19+7] = 0x61;         /* Its shape is a text */
    else if( kind==1 ) at[19+7] = 0xFF;    /* Its map is not well-formed */
    else memcpy(at-1, "\x7F\x61l\x6F" "ayers.123456789" "\xFF", 20);
    check( assert_same(&b, name)==(kind==2 ? SQLITE_OK : SQLITE_ERROR), "kind %d, object %d", kind, i );
    free(b.p);
  }
}

/* An object with its name, and bytes as an attribute. */
static void put_object_with(blob *b, uint32_t i, blob attribute){
  char name[32];
  snprintf(name, sizeof(name), "layers.%05u.weight", i);
  put_text(b, name);
  put_head(b, ZT_CBOR_MAP, 4);
  put_text(b, "shape");
  put_head(b, ZT_CBOR_ARRAY, 1);
  put_uint(b, 4);
  put_text(b, "format");
  put_text(b, "dense");
  put_text(b, "attributes");
  put_head(b, ZT_CBOR_MAP, 1);
  put_text(b, "k");
  put_head(b, ZT_CBOR_BYTES, attribute.n);
  put(b, attribute.p, attribute.n);
  put_text(b, "components");
  put_head(b, ZT_CBOR_MAP, 1);
  put_component(b, "data", 64);
}

/* Attributes in which bytes look the same as how objects begin, and those behind them as a name and another object. */
TEST(test_lookalikes_in_each_place){
  for(uint32_t n=20; n<60; n++){
    const unusual plain = { .objects = 1 };
    blob b = begin_file();
    put_head(&b, ZT_CBOR_MAP, 2);
    put_text(&b, "version");
    put_text(&b, "1.2.0");
    put_text(&b, "objects");
    put_head(&b, ZT_CBOR_MAP, n);
    for(uint32_t i=0; i<n; i++){
      blob inner = { NULL, 0, 0 };
      for(int k=0; k<8; k++){
        put(&inner, "\xA4\x65shape\x81\4\x61" "a\1\x61" "b\2\x61" "c\3", 18);
        put_text(&inner, "layers.00007.weight");
      }
      put_object(&inner, &plain, i, 1);
      put_object_with(&b, i, inner);
      free(inner.p);
    }
    b = end_file(b);
    assert_int_equal(assert_same(&b, "lookalikes"), SQLITE_OK);
    free(b.p);
  }
}

/* Every byte looks like the first one of an object, and no object begins there. */
TEST(test_attributes_of_heads_of_maps){
  blob b = begin_file(), heads = { NULL, 0, 0 };
  put_repeated(&heads, 0xA4, 300000);
  put_head(&b, ZT_CBOR_MAP, 2);
  put_text(&b, "version");
  put_text(&b, "1.2.0");
  put_text(&b, "objects");
  put_head(&b, ZT_CBOR_MAP, 8);
  for(unsigned i=0; i<8; i++){
    put_object_with(&b, i, (blob){ heads.p, i ? heads.n : 1, 0 });
  }
  b = end_file(b);
  assert_int_equal(assert_same(&b, "heads of maps"), SQLITE_OK);
  free(b.p);
  free(heads.p);
}

/* A root that is no map does not show how objects begin. Read as one, some would have a key that ends behind the manifest, and names
** that are full of how they begin are where that is looked for. */
TEST(test_a_first_object_that_is_no_map){
  static const char *const values[] = { "\x61w", "\x62ww", "\x41w", "\x81\x77", "\x18\x77", "\xA0", "\xF6" };
  char name[1000];
  for(size_t i=0; i<COUNT(values); i++){
    blob b = begin_file();
    memset(name, values[i][0] & 0x7F, sizeof(name));
    name[sizeof(name)-1] = 0;
    put_head(&b, ZT_CBOR_MAP, 2);
    put_text(&b, "version");
    put_text(&b, "1.2.0");
    put_text(&b, "objects");
    put_head(&b, ZT_CBOR_MAP, 1);
    put_text(&b, name);
    put(&b, values[i], strlen(values[i]));
    b = end_file(b);
    assert_int_equal(assert_same(&b, "no map"), SQLITE_ERROR);
    free(b.p);
  }
}

/* An interrupt that is reported once ends the opening, whichever question it answers: one of a guess, or of what comes after. */
TEST(test_an_interrupt_that_is_reported_once){
  blob b = new_file(&files[0].u);
  zt_pool *pool = zt_pool_new(4);
  int answered = 0;
  for(int stop=1; stop<100; stop += 1+stop/4){
    zt_error err = ZT_ERROR_NONE;
    caller c = { .stop_at = stop };
    zt_container *container = open_with(pool, &b, &(zt_interrupt){ caller_stops, &c }, &err);
    check( err.rc==(c.asked<stop ? SQLITE_OK : SQLITE_INTERRUPT), "%d, asked %d times of %d", err.rc, c.asked, stop );
    answered += c.asked>=stop;
    zt_container_close(container);
    zt_error_clear(&err);
  }
  assert_true(answered>=4);
  zt_pool_free(pool);
  free(b.p);
}

int main(void){
  return run_all("segments", NULL, NULL);
}
