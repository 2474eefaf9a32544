/* Maps with known keys, and the rules that generations share: container/schema.h. */
#include "test.h"

#include "container/dtype.h"
#include "container/schema.h"

/* --- A map of four fields, of which two must be there --- */

enum { F_ALPHA = 40, F_BETA, F_GAMMA, F_DELTA };

static const zt_field fields[] = {
  ZT_FIELD(F_ALPHA, "alpha", 0), ZT_FIELD(F_BETA, "beta", ZT_NULLABLE), ZT_FIELD(F_GAMMA, "gamma_is_a_long_name", ZT_NULLABLE),
  ZT_FIELD(F_DELTA, "d", 0),
};
static const zt_schema schema = { "the map", fields, COUNT(fields), 1<<0 | 1<<2 };   /* alpha and gamma */

/* The fields that were read: alpha and delta are integers, beta and gamma are text. */
typedef struct values {
  uint64_t alpha, delta;
  zt_text beta, gamma;
  unsigned seen;         /* Bit per field */
} values;

static bool read_map(zt_cbor *c, values *v){
  zt_fields f;
  bool ok = zt_fields_open(&f, c, &schema);
  *v = (values){ 0 };
  while( ok ){
    int id = zt_fields_next(&f);
    switch( id ){
      case F_ALPHA: ok = zt_fields_uint(&f, &v->alpha); break;
      case F_BETA:  ok = zt_fields_text(&f, &v->beta); break;
      case F_GAMMA: ok = zt_fields_text(&f, &v->gamma); break;
      case F_DELTA: ok = zt_fields_uint(&f, &v->delta); break;
      default: return c->err->rc==SQLITE_OK;
    }
    v->seen |= 1u<<(id-F_ALPHA);
  }
  return false;
}

/* The same with `after` bytes behind the map: with few, nothing takes the fast path. Returns the message, NULL for none;
** the caller's to free. */
static char *read_with(blob map, size_t after, bool trusted, values *v, size_t *end){
  zt_error err = ZT_ERROR_NONE;
  blob b = { 0 };
  zt_cbor c;
  bool ok;
  put(&b, map.p, map.n);
  put_repeated(&b, 0xFF, after);
  b = seal(&b);
  zt_cbor_init(&c, b.p, b.n, &err);
  c.trusted = trusted;
  c.depth = 3;
  ok = read_map(&c, v);
  assert_int_equal(ok, err.rc==SQLITE_OK);
  if( ok ) assert_int_equal(c.depth, 3);
  *end = (size_t)(c.p - b.p);
  if( err.rc ) assert_ptr_equal(c.p, c.end);
  v->beta.z = v->beta.n ? (char*)map.p + (v->beta.z - (char*)b.p) : v->beta.z;
  v->gamma.z = v->gamma.n ? (char*)map.p + (v->gamma.z - (char*)b.p) : v->gamma.z;
  free(b.p);
  return err.message;
}

static bool same_values(const values *a, const values *b){
  return a->alpha==b->alpha && a->delta==b->delta && a->seen==b->seen && zt_text_equal(a->beta, b->beta)
      && zt_text_equal(a->gamma, b->gamma);
}

TEST(test_maps){
  static const struct { const char *what, *hex; unsigned seen; uint64_t alpha, delta; const char *beta, *gamma; } rows[] = {
#define A "65 616c706861"                                    /* alpha */
#define B "64 62657461"                                      /* beta */
#define G "74 67616d6d615f69735f615f6c6f6e675f6e616d65"      /* gamma_is_a_long_name */
#define D "61 64"                                            /* d */
    { "all, in order", "a4" A "07" B "6162" G "6167" D "08", 0xF, 7, 8, "b", "g" },
    { "all, reversed", "a4" D "08" G "6167" B "6162" A "07", 0xF, 7, 8, "b", "g" },
    { "only what must be there", "a2" A "07" G "6167", 0x5, 7, 0, NULL, "g" },
    { "the other way round", "a2" G "6167" A "07", 0x5, 7, 0, NULL, "g" },
    { "indefinite", "bf" A "07" G "6167 ff", 0x5, 7, 0, NULL, "g" },
    { "a head of 2 bytes", "b802" A "07" G "6167", 0x5, 7, 0, NULL, "g" },
    { "S4: null for a field that may be null", "a3" A "07" B "f6" G "6167", 0x5, 7, 0, NULL, "g" },
    { "S4: the same, indefinite", "bf" A "07" B "f6" G "6167 ff", 0x5, 7, 0, NULL, "g" },
    { "S5: an unknown key", "a3" A "07 6178 83010203" G "6167", 0x5, 7, 0, NULL, "g" },
    { "S5: an unknown key first and one last", "a4 6178 a10102" A "07" G "6167 6179 f6", 0x5, 7, 0, NULL, "g" },
    { "S5: unknown keys that are almost known", "a5 65 616c706862 01 64 616c7068 01" A "07" G "6167 60 01", 0x5, 7, 0, NULL,
      "g" },
    { "keys with long heads", "a2 7805 616c706861 1b0000000000000007 790014 67616d6d615f69735f615f6c6f6e675f6e616d65 780167",
      0x5, 7, 0, NULL, "g" },
    { "empty text is a value", "a3" A "00" B "60" G "60", 0x7, 0, 0, "", "" },
    { "the largest integer", "a2" A "1bffffffffffffffff" G "60", 0x5, UINT64_MAX, 0, NULL, "" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = blob_of(rows[i].hex);
    for(size_t after=0; after<=40; after += 8){
      for(int trusted=0; trusted<2; trusted++){
        values v;
        size_t end;
        char *message = read_with(b, after, trusted, &v, &end);
        check( message==NULL, "%s: %s", rows[i].what, message );
        check( end==b.n, "%s: at %zu", rows[i].what, end );
        check( v.seen==rows[i].seen && v.alpha==rows[i].alpha && v.delta==rows[i].delta, "%s", rows[i].what );
        if( rows[i].beta ) assert_text(v.beta, rows[i].beta, rows[i].what);
        if( rows[i].gamma ) assert_text(v.gamma, rows[i].gamma, rows[i].what);
      }
    }
    free(b.p);
  }
}

TEST(test_rules_of_maps){
  static const struct { const char *rule, *what, *hex, *message; } rows[] = {
    { "S1", "an integer as a key", "a3" A "07" G "60 00 00", "expected a text key, found an unsigned integer" },
    { "S1", "bytes as a key, even those of a name", "a3" A "07" G "60 41 64 00", "expected a text key, found a byte string" },
    { "S1", "null as a key", "bf f6 00 ff", "manifest byte 1: expected a text key, found null" },
    { "S1", "a key in an array", "a1 81" A "07", "expected a text key, found an array" },
    { "S2", "a field twice at once", "a3" A "07" A "07" G "60", "manifest byte 8: 'alpha' stands twice in the map" },
    { "S2", "a field twice, at the end", "a3" A "07" G "60" A "07", "'alpha' stands twice in the map" },
    { "S2", "a field twice, other heads", "a3" A "07" G "60 7805616c706861 07", "'alpha' stands twice in the map" },
    { "S2", "a field twice, null first", "a4" A "07" B "f6" B "60" G "60", "'beta' stands twice in the map" },
    { "S2", "a field twice, null second", "a4" A "07" B "60" B "f6" G "60", "'beta' stands twice in the map" },
    { "S2", "a field twice, indefinite", "bf" A "07" G "60" G "60 ff", "'gamma_is_a_long_name' stands twice in the map" },
    { "S2", "an unknown key twice", "a4" A "07" G "60 6178 00 6178 00", "a key stands twice in the map" },
    { "S2", "an unknown key twice, other heads", "a4" A "07" G "60 6178 00 780178 00", "a key stands twice in the map" },
    { "S2", "an unknown key twice, before the fields", "a5 6178 00 6179 00 6178 00" A "07" G "60",
      "a key stands twice in the map" },
    { "S2", "the empty key twice", "bf 60 00 60 00" A "07" G "60 ff", "a key stands twice in the map" },
    { "S3", "nothing", "a0", "the map has no 'alpha'" },
    { "S3", "nothing, indefinite", "bfff", "the map has no 'alpha'" },
    { "S3", "the first is missing", "a1" G "60", "the map has no 'alpha'" },
    { "S3", "the last is missing", "a1" A "07", "the map has no 'gamma_is_a_long_name'" },
    { "S3", "only what need not be there", "a2" B "60" D "00", "the map has no 'alpha'" },
    { "S3", "only unknown keys", "a2 6178 00 6179 00", "the map has no 'alpha'" },
    { "S3", "the right name in another case", "a2 65 414c504841 07" G "60", "the map has no 'alpha'" },
    { "S4", "null for what must be there", "a2" A "07" G "f6", "the map has no 'gamma_is_a_long_name'" },
    { "S4", "null for what may not be null", "a2" A "f6" G "60", "expected an unsigned integer for 'alpha', found null" },
    { "S4", "undefined is not null", "a3" A "07" B "f7" G "60", "expected text for 'beta', found undefined" },
    { "S6", "text for an integer", "a2" A "6137" G "60", "expected an unsigned integer for 'alpha', found text" },
    { "S6", "a negative integer", "a2" A "20" G "60", "expected an unsigned integer for 'alpha', found a negative integer" },
    { "S6", "a float", "a2" A "f93c00" G "60", "expected an unsigned integer for 'alpha', found a float" },
    { "S6", "a boolean", "a2" A "f5" G "60", "expected an unsigned integer for 'alpha', found a boolean" },
    { "S6", "a tagged integer", "a2" A "c107" G "60", "expected an unsigned integer for 'alpha', found a tag" },
    { "S6", "an integer for text", "a3" A "07" B "07" G "60", "expected text for 'beta', found an unsigned integer" },
    { "S6", "bytes for text", "a3" A "07" B "40" G "60", "expected text for 'beta', found a byte string" },
    { "S6", "an integer for text, out of order", "a3" G "60" B "07" A "07",
      "expected text for 'beta', found an unsigned integer" },
    { "-", "no map", "80", "expected a map, found an array" },
    { "-", "a value that is no CBOR", "a2" A "1c" G "60", "reserved initial byte 0x1c" },
    { "-", "an unknown value that is no CBOR", "a3" A "07 6178 1c" G "60", "reserved initial byte 0x1c" },
    { "-", "a key that is no UTF-8", "a3" A "07 61ff 00" G "60", "text that is not UTF-8" },
#undef A
#undef B
#undef G
#undef D
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = blob_of(rows[i].hex);
    for(size_t after=0; after<=40; after += 8){
      values v;
      size_t end;
      char *message = read_with(b, after, false, &v, &end);
      check( message!=NULL, "%s: accepted", rows[i].what );
      check( strstr(message, rows[i].message)!=NULL, "%s: '%s'", rows[i].what, message );
      sqlite3_free(message);
    }
    free(b.p);
  }
}

/* --- Random maps, against a reader of lists --- */

enum { VALUE_UINT, VALUE_TEXT, VALUE_NULL, VALUE_ARRAY, VALUE_KINDS };

/* NULL, or a text that the message about the pairs must contain. */
static const char *reference(const char *const *keys, const int *kinds, size_t n, values *out){
  static const char *const names[] = { "alpha", "beta", "gamma_is_a_long_name", "d" };
  static char message[128];
  unsigned met = 0;
  *out = (values){ 0 };
  for(size_t i=0; i<n; i++){
    int id = -1;
    bool integer;
    for(int k=0; k<4; k++) if( strcmp(keys[i], names[k])==0 ) id = k;
    if( id<0 ) continue;
    snprintf(message, sizeof(message), "'%s' stands twice in the map", names[id]);
    if( met>>id & 1 ) return message;
    met |= 1u<<id;
    if( kinds[i]==VALUE_NULL && (id==1 || id==2) ) continue;
    integer = id==0 || id==3;
    snprintf(message, sizeof(message), "expected %s for '%s'", integer ? "an unsigned integer" : "text", names[id]);
    if( kinds[i]!=(integer ? VALUE_UINT : VALUE_TEXT) ) return message;
    out->seen |= 1u<<id;
    if( id==0 ) out->alpha = i;
    if( id==3 ) out->delta = i;
    if( id==1 ) out->beta = ZT_TEXT("txt");
    if( id==2 ) out->gamma = ZT_TEXT("txt");
  }
  for(size_t i=0; i<n; i++) for(size_t k=0; k<i; k++) if( strcmp(keys[i], keys[k])==0 ) return "a key stands twice in the map";
  if( !(out->seen & 1) ) return "the map has no 'alpha'";
  if( !(out->seen & 4) ) return "the map has no 'gamma_is_a_long_name'";
  return NULL;
}

static void put_key(blob *b, const char *key, uint64_t *seed){
  size_t n = strlen(key);
  unsigned width = random_below(seed, 5) ? 0 : 1u<<random_below(seed, 4);
  put_head_of(b, ZT_CBOR_TEXT, n, width);
  put(b, key, n);
}

TEST(test_random_maps){
  static const char *const names[] = { "alpha", "beta", "gamma_is_a_long_name", "d", "x", "", "alph", "e" };
  uint64_t seed = 21;
  unsigned good = 0, bad = 0;
  for(int round=0; round<40000; round++){
    const char *keys[9], *expected;
    int kinds[9];
    size_t n = 0, end = 0, order = random_below(&seed, 2), ends[3];
    bool indefinite = random_below(&seed, 5)==0;
    char *messages[3] = { NULL, NULL, NULL };
    values v, wanted;
    blob b = { 0 };
    for(size_t k=0; k<(order ? 4 : random_below(&seed, 9)); k++){   /* In the schema's order, or in none */
      size_t name = order ? k : random_below(&seed, COUNT(names));
      if( order && random_below(&seed, 5)==0 ) continue;
      keys[n] = names[name];
      kinds[n++] = random_below(&seed, 12)==0 ? (int)random_below(&seed, VALUE_KINDS) : name==0 || name==3 ? VALUE_UINT : name<3
          ? VALUE_TEXT : (int)random_below(&seed, VALUE_KINDS);
      if( order && random_below(&seed, 8)==0 ){
        keys[n] = names[4+random_below(&seed, 4)];
        kinds[n++] = VALUE_ARRAY;
      }
    }
    if( indefinite ) put_byte(&b, 0xBF);
    else put_map(&b, n);
    for(size_t i=0; i<n; i++){
      put_key(&b, keys[i], &seed);
      if( kinds[i]==VALUE_UINT ) put_uint(&b, i);
      else if( kinds[i]==VALUE_TEXT ) put_text(&b, "txt");
      else put_byte(&b, kinds[i]==VALUE_NULL ? 0xF6 : 0x80);
    }
    if( indefinite ) put_byte(&b, 0xFF);
    b = seal(&b);
    expected = reference(keys, kinds, n, &wanted);
    for(int i=0; i<3; i++){
      messages[i] = read_with(b, (size_t)i*20, false, &v, &end);
      ends[i] = end;
      if( expected ){
        check( messages[i]!=NULL, "round %d: accepted, but %s", round, expected );
        check( strstr(messages[i], expected)!=NULL, "round %d: '%s', expected '%s'", round, messages[i], expected );
        assert_string_equal(messages[i], messages[0]);
      }else{
        check( messages[i]==NULL, "round %d: %s", round, messages[i] );
        assert_int_equal(ends[i], b.n);
        check( same_values(&v, &wanted), "round %d", round );
        assert_null(read_with(b, (size_t)i*20, true, &v, &end));
        assert_int_equal(end, b.n);
        check( same_values(&v, &wanted), "round %d", round );
      }
    }
    for(int i=0; i<3; i++) sqlite3_free(messages[i]);
    if( expected ) bad++;
    else good++;
    free(b.p);
  }
  assert_true(good>5000 && bad>5000);
}

TEST(test_schema_has){
  assert_true(zt_schema_has(&schema, ZT_TEXT("alpha")));
  assert_true(zt_schema_has(&schema, ZT_TEXT("d")));
  assert_false(zt_schema_has(&schema, ZT_TEXT("")));
  assert_false(zt_schema_has(&schema, ZT_TEXT("alph")));
  assert_false(zt_schema_has(&schema, ZT_TEXT("alphaa")));
  assert_false(zt_schema_has(&schema, ZT_TEXT("Alpha")));
}

/* --- N1 --- */

TEST(test_names){
  static const struct { const char *what, *hex, *name, *message; } rows[] = {
    { "empty", "60", "", NULL },
    { "one character", "6161", "a", NULL },
    { "any other character", "6501 0a 7f 2227", "\x01\n\x7f\"'", NULL },
    { "not ASCII", "65 c3bce6b0b4", "\xC3\xBC\xE6\xB0\xB4", NULL },
    { "NUL alone", "6100", NULL, "manifest byte 0: a name with U+0000 in it" },
    { "NUL at the end", "626100", NULL, "a name with U+0000 in it" },
    { "NUL in a long name", "7810 61626364656667006a6b6c6d6e6f7071", NULL, "a name with U+0000 in it" },
    { "NUL at the end of a long name", "70 6162636465666768696a6b6c6d6e6f00", NULL, "a name with U+0000 in it" },
    { "NUL first in a long name", "70 006162636465666768696a6b6c6d6e6f", NULL, "a name with U+0000 in it" },
    { "an integer", "00", NULL, "expected text, found an unsigned integer" },
    { "bytes", "4161", NULL, "expected text, found a byte string" },
    { "an overlong NUL", "62c080", NULL, "text that is not UTF-8" },
    { "nothing", "", NULL, "expected text, found the end of the manifest" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = blob_of(rows[i].hex);
    zt_cbor c;
    zt_text name;
    zt_cbor_init(&c, b.p, b.n, &err);
    check( zt_schema_name(&c, &name)==(rows[i].name!=NULL), "%s", rows[i].what );
    if( rows[i].name ) assert_text(name, rows[i].name, rows[i].what);
    else assert_failed(&err, rows[i].message, rows[i].what);
    free(b.p);
  }
}

/* --- H1 and H2 --- */

#define ONES_8 "0101010101010101"

TEST(test_shapes){
  static const struct { const char *what, *hex; uint32_t rank; uint64_t elements; const char *message; } rows[] = {
    { "a scalar", "80", 0, 1, NULL },
    { "a scalar, indefinite", "9fff", 0, 1, NULL },
    { "one dimension", "8105", 1, 5, NULL },
    { "two", "820203", 2, 6, NULL },
    { "indefinite", "9f0203ff", 2, 6, NULL },
    { "long heads", "9802 1802 1b0000000000000003", 2, 6, NULL },
    { "an empty one", "8100", 1, 0, NULL },
    { "an empty one among others", "83050006", 3, 0, NULL },
    { "64 dimensions", "9840" ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8, 64, 1, NULL },
    { "2^64 - 1", "811bffffffffffffffff", 1, UINT64_MAX, NULL },
    { "2^64 - 1 and ones", "8301 1bffffffffffffffff 01", 3, UINT64_MAX, NULL },
    { "3 times a third of 2^64 - 1", "8203 1b5555555555555555", 2, UINT64_MAX, NULL },
    { "2^32 by 2^32 - 1", "821b0000000100000000 1affffffff", 2, 0xFFFFFFFF00000000, NULL },
    { "beyond 64 bits beside a 0", "831b00000001000000001b000000010000000000", 3, 0, NULL },
    { "a 0 before what is beyond 64 bits", "83001bffffffffffffffff1bffffffffffffffff", 3, 0, NULL },
    { "H1: 65 dimensions", "9841" ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 "01", 0, 0,
      "a shape of more than 64 dimensions" },
    { "H1: 65 dimensions, one of them 0", "9841" "00" ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8, 0, 0,
      "a shape of more than 64 dimensions" },
    { "H1: 65 dimensions, indefinite", "9f" ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 ONES_8 "01ff", 0, 0,
      "a shape of more than 64 dimensions" },
    { "H1: an integer", "05", 0, 0, "manifest byte 0: expected an array for 'shape', found an unsigned integer" },
    { "H1: null", "f6", 0, 0, "expected an array for 'shape', found null" },
    { "H1: a map", "a10101", 0, 0, "expected an array for 'shape', found a map" },
    { "H1: text", "6135", 0, 0, "expected an array for 'shape', found text" },
    { "H1: a negative dimension", "820520", 0, 0,
      "manifest byte 2: expected an unsigned integer in 'shape', found a negative integer" },
    { "H1: a float", "81f94500", 0, 0, "expected an unsigned integer in 'shape', found a float" },
    { "H1: text as a dimension", "816135", 0, 0, "expected an unsigned integer in 'shape', found text" },
    { "H1: a boolean", "81f5", 0, 0, "expected an unsigned integer in 'shape', found a boolean" },
    { "H1: null as a dimension", "81f6", 0, 0, "expected an unsigned integer in 'shape', found null" },
    { "H1: an array as a dimension", "818105", 0, 0, "expected an unsigned integer in 'shape', found an array" },
    { "H1: a tagged dimension", "81c105", 0, 0, "expected an unsigned integer in 'shape', found a tag" },
    { "H2: 2^64", "821b00000001000000001b0000000100000000", 0, 0,
      "manifest byte 0: the product of the shape is beyond 64 bits" },
    { "H2: 2 * 2^63", "82021b8000000000000000", 0, 0, "the product of the shape is beyond 64 bits" },
    { "H2: wraps to 1", "821bffffffffffffffff1bffffffffffffffff", 0, 0, "the product of the shape is beyond 64 bits" },
    { "H2: wraps to 0 early, then 5", "831b80000000000000000205", 0, 0, "the product of the shape is beyond 64 bits" },
    { "H2: 3 times one more than a third", "82031b5555555555555556", 0, 0, "the product of the shape is beyond 64 bits" },
    { "C6: more dimensions than bytes", "9b1000000000000000", 0, 0, "1152921504606846976 items declared" },
    { "C6: cut", "8205", 0, 0, "2 items declared, 2 bytes are left" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = blob_of(rows[i].hex);
    zt_object *o = malloc(sizeof(*o));
    zt_cbor c;
    memset(o, 0xA5, sizeof(*o));
    zt_cbor_init(&c, b.p, b.n, &err);
    check( zt_schema_shape(&c, o)==(rows[i].message==NULL), "%s", rows[i].what );
    if( rows[i].message ){
      assert_failed(&err, rows[i].message, rows[i].what);
    }else{
      assert_succeeded(&err, rows[i].what);
      check( o->rank==rows[i].rank && o->elements==rows[i].elements, "%s: %u, %llu", rows[i].what, o->rank,
          (unsigned long long)o->elements );
      assert_ptr_equal(c.p, c.end);
    }
    free(o);
    free(b.p);
  }
}

TEST(test_dimensions_in_their_order){
  zt_error err = ZT_ERROR_NONE;
  blob b = blob_of("84 05 1864 00 1bffffffffffffffff");
  zt_object o;
  zt_cbor c;
  zt_cbor_init(&c, b.p, b.n, &err);
  assert_true(zt_schema_shape(&c, &o));
  assert_int_equal(o.rank, 4);
  assert_true(o.shape[0]==5 && o.shape[1]==100 && o.shape[2]==0 && o.shape[3]==UINT64_MAX);
  free(b.p);
}

/* --- R1 to R3 --- */

#define END 1000   /* The manifest's first byte */

TEST(test_ranges){
  static const struct { uint64_t offset, length; const char *message; } rows[] = {
    { 64, 0, NULL }, { 64, 1, NULL }, { 64, END-64, NULL }, { 960, 40, NULL }, { 960, 0, NULL }, { 0, 0, NULL },
    { 128, 64, NULL },
    { 1, 0, "offset 1 is not a multiple of 64" }, { 8, 1, "offset 8 is not a multiple of 64" },
    { 65, 1, "offset 65 is not a multiple of 64" },
    { 63, 0, "offset 63 is not a multiple of 64" }, { 96, 1, "offset 96 is not a multiple of 64" },
    { 1000, 0, "offset 1000 is not a multiple of 64" },
    { UINT64_MAX, 1, "offset 18446744073709551615 is not a multiple of 64" },
    { 0, 1, "offset 0 lies in the header" }, { 0, UINT64_MAX, "offset 0 lies in the header" },
    { 64, END-63, "offset 64 + length 937 lies beyond the data area's end, 1000" },
    { 960, 41, "lies beyond the data area's end, 1000" },
    { 1024, 0, "offset 1024 + length 0 lies beyond the data area's end, 1000" },
    { 1024, 1, "lies beyond the data area's end, 1000" },
    { 64, UINT64_MAX-63, "lies beyond the data area's end" }, { 64, UINT64_MAX, "lies beyond the data area's end" },
    { UINT64_MAX-63, 64, "offset 18446744073709551552 + length 64 lies beyond" },
    { UINT64_MAX-63, 0, "lies beyond the data area's end" },
    { (uint64_t)1<<63, (uint64_t)1<<63, "lies beyond the data area's end" },
    { (uint64_t)1<<63, 1, "lies beyond the data area's end" },
    { (uint64_t)1<<32, 1, "lies beyond the data area's end" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_container container = { .manifest_offset = END, .manifest_length = 10 };
    zt_cbor c;
    zt_cbor_init(&c, (const uint8_t*)"", 0, &err);
    check( zt_schema_range(&c, &container, rows[i].offset, rows[i].length)==(rows[i].message==NULL), "row %zu", i );
    if( rows[i].message ) assert_failed(&err, rows[i].message, "range");
    else assert_succeeded(&err, "range");
  }
}

/* An offset may equal the manifest's first byte if nothing is there. */
TEST(test_an_empty_component_may_stand_at_the_end){
  zt_error err = ZT_ERROR_NONE;
  zt_container container = { .manifest_offset = 128, .manifest_length = 10 };
  zt_cbor c;
  zt_cbor_init(&c, (const uint8_t*)"", 0, &err);
  assert_true(zt_schema_range(&c, &container, 128, 0));
  assert_true(zt_schema_range(&c, &container, 64, 64));
  assert_false(zt_schema_range(&c, &container, 128, 1));
  assert_failed(&err, "offset 128 + length 1 lies beyond the data area's end, 128", "end");
}

/* --- M1 and M2 --- */

/* The expected message for a file of that size whose size field says `length`; NULL: the manifest can be placed. */
static const char *place(uint64_t size, unsigned magic, uint64_t length){
  if( size<8+8+magic ) return "bytes are too few for a header and a footer";
  if( length==0 ) return "the manifest has 0 bytes";
  if( length>1<<30 ) return magic ? "is more than 1073741824" : "is more than 1073741824; is the file cut short?";
  if( length>size-16-magic ) return magic ? "bytes between header and footer" : "bytes between header and footer; is the file cut short?";
  return NULL;
}

static void check_locate(uint64_t size, unsigned magic, uint64_t length){
  zt_error err = ZT_ERROR_NONE;
  zt_extent extent = { 7, 7 };
  blob tail = { 0 };
  const char *message = place(size, magic, length);
  zt_head_tail ends;
  put_repeated(&tail, 0xEE, 32);
  put_le64(&tail, length);
  put_repeated(&tail, 'M', magic);
  while( tail.n<48 ) put_byte(&tail, 0);   /* Never reached: 48 bytes are there */
  if( magic==0 ){                          /* The size field is last */
    tail.n = 0;
    put_repeated(&tail, 0xEE, 40);
    put_le64(&tail, length);
  }
  tail = seal(&tail);
  ends = (zt_head_tail){ .size = size, .head = { tail.p, 8 }, .tail = { tail.p, tail.n } };
  if( size<tail.n ) ends.tail = (zt_span){ tail.p+tail.n-size, (size_t)size };
  if( message ){
    check( zt_schema_locate(&ends, magic, &extent, &err)==SQLITE_ERROR, "%llu bytes, manifest %llu", (unsigned long long)size,
        (unsigned long long)length );
    assert_failed(&err, message, "place");
    assert_true(extent.offset==7 && extent.length==7);
  }else{
    check( zt_schema_locate(&ends, magic, &extent, &err)==SQLITE_OK, "%llu bytes, manifest %llu: %s", (unsigned long long)size,
        (unsigned long long)length, err.message );
    assert_int_equal(extent.length, length);
    assert_int_equal(extent.offset, size-8-magic-length);
    assert_true(extent.offset>=8);
  }
  free(tail.p);
}

TEST(test_where_a_manifest_may_be){
  static const uint64_t lengths[] = {
    (1<<30)-1, 1<<30, (1<<30)+1, (uint64_t)1<<32, ((uint64_t)1<<32)+5, (uint64_t)1<<63, UINT64_MAX, UINT64_MAX-15, UINT64_MAX-7,
        UINT64_MAX-23
  };
  static const uint64_t sizes[] = { 1<<20, (1<<30)+15, (1<<30)+16, (1<<30)+23, (1<<30)+24, (uint64_t)1<<40,
      (uint64_t)INT64_MAX };
  for(unsigned magic=0; magic<=8; magic += 8){
    for(uint64_t size=0; size<100; size++){
      for(uint64_t length=0; length<100; length++) check_locate(size, magic, length);
      for(size_t i=0; i<COUNT(lengths); i++) check_locate(size, magic, lengths[i]);
    }
    for(size_t s=0; s<COUNT(sizes); s++){
      for(size_t i=0; i<COUNT(lengths); i++) check_locate(sizes[s], magic, lengths[i]);
      for(uint64_t d=0; d<20; d++) check_locate(sizes[s], magic, sizes[s]-d);
    }
  }
}

/* --- Words --- */

TEST(test_long_dtypes){
  static const struct { const char *stored, *dtype; } rows[] = {
    { "float64", "f64" }, { "float32", "f32" }, { "float16", "f16" }, { "bfloat16", "bf16" }, { "int64", "i64" },
    { "int32", "i32" }, { "int16", "i16" },
    { "int8", "i8" }, { "uint64", "u64" }, { "uint32", "u32" }, { "uint16", "u16" }, { "uint8", "u8" }, { "bool", "bool" },
    { "f32", NULL }, { "", NULL }, { "float", NULL }, { "float6", NULL }, { "float644", NULL }, { "Float64", NULL },
    { "complex64", NULL }, { "int4", NULL }, { "bf16", NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = exact(rows[i].stored, strlen(rows[i].stored));
    zt_component m = { 0 };
    zt_schema_long_dtype((zt_text){ (char*)b.p, b.n }, &m);
    assert_text(m.dtype, rows[i].dtype ? rows[i].dtype : rows[i].stored, rows[i].stored);
    check( (m.storage!=NULL)==(rows[i].dtype!=NULL) && m.element==m.storage, "%s", rows[i].stored );
    if( m.storage ) assert_string_equal(m.storage->name, rows[i].dtype);
    free(b.p);
  }
}

int main(void){
  return run_all("schema", NULL, NULL);
}
