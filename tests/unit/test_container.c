/*
** Containers of every generation: the golden files are read right, the hostile ones refused for the right reason, and cut
** or changed ones never trusted. The expectations are read out of their JSON files by SQLite itself.
*/
#include "expectations.h"
#include "archive.h"

#include <ctype.h>
#include "container/driver.h"
#include "container/zip.h"
#include "core/paths.h"

#define FOLDER "tests/formats/ztensor/golden/"
#define GOLDEN FOLDER "v*/*.zt"
#define HOSTILE "tests/formats/ztensor/hostile/"

/* --- Expectations --- */

/* Equal, or neither is there. */
static void assert_column(zt_text text, sqlite3_stmt *statement, int i, const char *row){
  zt_text expected = column(statement, i);
  check( (text.z!=NULL)==(expected.z!=NULL), "%s: '%.*s', expected '%.*s'", row, (int)text.n, text.z ? text.z : "",
      (int)expected.n, expected.z ? expected.z : "" );
  check( !text.z || zt_text_equal(text, expected), "%s: '%.*s', expected '%.*s'", row, (int)text.n, text.z, (int)expected.n,
      expected.z );
}

/* --- Opening --- */

static zt_paths all_files(const char *pattern){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = { 0 };
  zt_paths paths;
  assert_int_equal(zt_paths_find(pattern, &filter, &paths, &err), SQLITE_OK);
  return paths;
}

/* Open the file's bytes, as an image of exactly their size. */
static zt_container *open_image(blob b, zt_error *err){
  zt_source *source;
  zt_container *c = (zt_container*)err;
  assert_int_equal(zt_source_open_image(span_of(b), &source, err), SQLITE_OK);
  zt_container_open(source, NULL, &c, err);
  assert_true((c==NULL)==(err->rc!=SQLITE_OK));
  assert_true(err->object.z==NULL && err->component.z==NULL);
  zt_source_close(source);
  return c;
}

static zt_container *open_path(const char *path, zt_error *err){
  zt_source *source;
  zt_container *c = (zt_container*)err;
  if( zt_source_open(path, NULL, &source, err) ) fail_msg("%s", err->message);
  zt_container_open(source, NULL, &c, err);
  assert_true((c==NULL)==(err->rc!=SQLITE_OK));
  zt_source_close(source);
  return c;
}

static zt_container *open_good(const char *path){
  zt_error err = ZT_ERROR_NONE;
  zt_container *c = open_path(path, &err);
  assert_succeeded(&err, path);
  return c;
}

/* Every component belongs to one object, is found by its role and lies within the file. */
static void assert_inside(const zt_container *c, const char *row){
  uint32_t n = zt_container_objects(c), k = 0;
  for(uint32_t i=0; i<n; i++){
    zt_object o;
    zt_container_object(c, i, &o);
    check( o.index==i && o.rank<=ZT_MAX_RANK && o.name.z && o.format.z, "%s", row );
    check( zt_text_equal(o.name, zt_container_name(c, i)), "%s", row );
    check( zt_container_find(c, o.name)==i, "%s: object %u", row, i );
    check( zt_container_first(c, i)==k, "%s: object %u", row, i );
    for(; k<zt_container_first(c, i+1); k++){
      zt_component m, found;
      zt_container_component(c, i, k, ZT_COMPONENT_ALL, &m);
      check( zt_claim(m.shard.z ? m.shard_size : c->file_size, m.offset, m.length), "%s: object %u", row, i );
      check( m.offset%64==0 && (m.offset>=8 || m.length==0), "%s: object %u", row, i );
      check( m.role.z && m.dtype.z && m.encoding.z && m.byte_order.z, "%s: object %u", row, i );
      check( zt_component_find(c, i, m.role, &found) && found.offset==m.offset && found.length==m.length, "%s: object %u", row,
          i );
    }
  }
  check( k==zt_container_components(c), "%s", row );
}

/* --- Golden files --- */

static void check_components(sqlite3_stmt *statement, const zt_container *c, uint32_t i, const char *path){
  uint32_t k = zt_container_first(c, i);
  bool is_zt2 = strcmp(c->driver->name, "2")==0;
  while( sqlite3_step(statement)==SQLITE_ROW ){
    zt_component m;
    char row[300];
    check( k<zt_container_first(c, i+1), "%s: object %u", path, i );
    zt_container_component(c, i, k++, ZT_COMPONENT_ALL, &m);
    snprintf(row, sizeof(row), "%s: object %u, %.*s", path, i, (int)m.role.n, m.role.z);
    assert_column(m.role, statement, 0, row);
    assert_column(m.dtype, statement, 1, row);
    assert_column(m.type, statement, 2, row);
    assert_column(m.encoding, statement, 3, row);
    check( m.offset==(uint64_t)sqlite3_column_int64(statement, 4), "%s: offset", row );
    check( m.length==(uint64_t)sqlite3_column_int64(statement, 5), "%s: length", row );
    assert_column(m.digest, statement, 6, row);
    check( m.has_decoded_length==sqlite3_column_int(statement, 8), "%s: uncompressed_length", row );
    if( sqlite3_column_type(statement, 7)!=SQLITE_NULL && m.has_decoded_length ){
      check( m.decoded_length==(uint64_t)sqlite3_column_int64(statement, 7), "%s: its value", row );
    }
    assert_column(m.shard, statement, 9, row);
    check( ((m.rules & ZT_RULE_CANONICAL_VALUES)!=0)==is_zt2 && ((m.rules & ZT_RULE_DIGEST_OF_DECODED)!=0)==is_zt2, "%s", row );
    check( m.rules==zt_container_rules(c) && m.skip==0, "%s", row );
  }
  check( k==zt_container_first(c, i+1), "%s: object %u has components too many", path, i );
}

/* The shape as JSON. */
static void shape_text(const zt_object *o, char *z, size_t n){
  size_t at = (size_t)snprintf(z, n, "[");
  for(uint32_t d=0; d<o->rank; d++) at += (size_t)snprintf(z+at, n-at, "%s%llu", d ? "," : "", (unsigned long long)o->shape[d]);
  snprintf(z+at, n-at, "]");
}

static void check_shards(const zt_container *c, const char *path, const char *json){
  sqlite3_stmt *shards = query("SELECT " FIELD("name") ", " FIELD("size") ", " FIELD("digest") " FROM json_each(?1, '$.shards') WHERE type<>'null' ORDER BY id", json);
  uint32_t i = 0;
  for(; sqlite3_step(shards)==SQLITE_ROW; i++){
    zt_shard shard;
    check( i<zt_container_shards(c), "%s: shard %u is missing", path, i );
    zt_container_shard(c, i, &shard);
    assert_column(shard.name, shards, 0, path);
    check( shard.size==(uint64_t)sqlite3_column_int64(shards, 1), "%s: shard %u", path, i );
    assert_column(shard.digest, shards, 2, path);
  }
  check( i==zt_container_shards(c), "%s: %u shards, %u expected", path, zt_container_shards(c), i );
  sqlite3_finalize(shards);
}

/* How many attributes a walk over them meets. */
static int64_t count_attributes(const zt_container *c, const zt_value *a){
  zt_error err = ZT_ERROR_NONE;
  zt_value key, value;
  zt_level level;
  zt_walk w;
  int64_t n = 0;
  zt_walk_begin(c, a, &w, &level, &err);
  while( zt_walk_next(&w, &level, &key, &value) ) n++;
  zt_walk_end(&w);
  assert_int_equal(err.rc, SQLITE_OK);
  return n;
}

/* How many members the JSON form of attributes has: an object, or {"$map": [pairs]}. */
#define COUNT_OF(attributes) \
  "coalesce(json_array_length(" attributes ", '$.$map'), (SELECT count(*) FROM json_each(" attributes ")))"

static void check_objects(const zt_container *c, const char *path, const char *json){
  sqlite3_stmt *objects = query("SELECT json_extract(o.value, '$.name'), json_extract(o.value, '$.format'), "
    "o.value->'$.shape', o.value->'$.elements', " COUNT_OF("json_extract(o.value, '$.attributes')")
    " FROM json_each(?1, '$.objects') AS o ORDER BY o.id", json);
  sqlite3_stmt *components = query("SELECT " FIELD("name") ", " FIELD("dtype") ", " FIELD("type") ", "
    FIELD("encoding") ", " FIELD("offset") ", " FIELD("length") ", " FIELD("digest") ", "
    "coalesce(" FIELD("verbatim.uncompressed_length") ", " FIELD("decoded_length") "), " FIELD("verbatim.uncompressed_length") " IS NOT NULL OR "
    "json_extract(?1, '$.generation')='2' AND " FIELD("verbatim.encoding") " IS NOT NULL, " FIELD("shard")
    " FROM json_each(?1, '$.objects['||?2||'].components') ORDER BY id", json);
  uint32_t i = 0;
  for(; sqlite3_step(objects)==SQLITE_ROW; i++){
    zt_object o;
    char row[300], text[2000];
    snprintf(row, sizeof(row), "%s: object %u", path, i);
    check( i<zt_container_objects(c), "%s is missing", row );
    assert_column(zt_container_name(c, i), objects, 0, row);
    zt_container_object(c, i, &o);
    assert_column(o.name, objects, 0, row);
    assert_column(o.format, objects, 1, row);
    check( o.rules==zt_container_rules(c) && !o.has_strides, "%s", row );
    shape_text(&o, text, sizeof(text));
    assert_column((zt_text){ text, strlen(text) }, objects, 2, row);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)o.elements);
    assert_column((zt_text){ text, strlen(text) }, objects, 3, row);
    check( count_attributes(c, &o.attributes)==sqlite3_column_int64(objects, 4), "%s: attributes", row );
    sqlite3_reset(components);
    sqlite3_bind_int64(components, 2, i);
    check_components(components, c, i, path);
  }
  check( i==zt_container_objects(c), "%s: %u objects, %u expected", path, zt_container_objects(c), i );
  sqlite3_finalize(objects);
  sqlite3_finalize(components);
}

static void check_file(const zt_container *c, const char *path, const char *json){
  sqlite3_stmt *file = query("SELECT json_extract(?1, '$.version'), json_extract(?1, '$.file_size'), "
    "json_extract(?1, '$.manifest_length'), " COUNT_OF("json_extract(?1, '$.attributes')") ", "
    "json_type(?1, '$.attributes'), coalesce(json_extract(?1, '$.manifest_offset'), 0)", json);
  zt_value attributes = zt_container_attributes(c), manifest = zt_container_manifest(c);
  assert_int_equal(sqlite3_step(file), SQLITE_ROW);
  if( sqlite3_column_type(file, 0)==SQLITE_NULL ) assert_text(zt_container_version(c), "0.1.0", path);
  else assert_column(zt_container_version(c), file, 0, path);
  assert_int_equal(c->file_size, sqlite3_column_int64(file, 1));
  assert_int_equal(zt_container_manifest_length(c), sqlite3_column_int64(file, 2));
  assert_int_equal(zt_container_manifest_offset(c), sqlite3_column_int64(file, 5));
  assert_string_equal(zt_container_format(c), "ztensor");
  check( (attributes.type==ZT_VALUE_NULL)==(strcmp((const char*)sqlite3_column_text(file, 4), "null")==0), "%s: attributes", path );
  check( count_attributes(c, &attributes)==sqlite3_column_int64(file, 3), "%s: attributes", path );
  assert_true(zt_container_memory(c)>=zt_container_manifest_length(c));
  assert_true((manifest.type==ZT_VALUE_NULL)==(zt_container_manifest_length(c)==0));
  sqlite3_finalize(file);
}

TEST(test_golden_files_are_read_right){
  zt_paths paths = all_files(GOLDEN);
  assert_true(paths.n>=110);
  for(size_t i=0; i<paths.n; i++){
    zt_error err = ZT_ERROR_NONE;
    const char *path = paths.a[i].z;
    blob b = read_file(path);
    char json[300];
    zt_stat stat;
    zt_container *c = open_good(path);
    snprintf(json, sizeof(json), "%.*s.expected.json", (int)strlen(path)-3, path);
    check_file(c, path, json);
    check_objects(c, path, json);
    check_shards(c, path, json);
    assert_inside(c, path);
    assert_int_equal(zt_os_stat(path, &stat), 0);
    assert_memory_equal(zt_container_identity(c), &stat.id, sizeof(stat.id));
    zt_container_close(c);
    c = open_image(b, &err);
    assert_succeeded(&err, path);
    check_file(c, path, json);
    check_objects(c, path, json);
    check_shards(c, path, json);
    assert_null(zt_container_identity(c));
    zt_container_close(c);
    free(b.p);
  }
  zt_paths_clear(&paths);
}

TEST(test_golden_files_belong_to_the_driver_of_their_generation){
  zt_paths paths = all_files(GOLDEN);
  for(size_t i=0; i<paths.n; i++){
    zt_container *c = open_good(paths.a[i].z);
    const char *generation = strstr(paths.a[i].z, "/v")+2;
    const char *expected = strncmp(generation, "1.2", 3)==0 ? "1.1" : generation;   /* One driver serves both */
    check( strncmp(c->driver->name, expected, strcspn(generation, "/"))==0, "%s: %s", paths.a[i].z, c->driver->name );
    zt_container_close(c);
  }
  zt_paths_clear(&paths);
}

/* The answer to a question does not depend on other questions. */
static void check_wants(const zt_container *c, const char *path){
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    for(uint32_t k=zt_container_first(c, i); k<zt_container_first(c, i+1); k++){
      zt_component all;
      zt_container_component(c, i, k, ZT_COMPONENT_ALL, &all);
      for(unsigned want=0; want<=ZT_COMPONENT_ALL; want++){
        zt_component m;
        memset(&m, 0xA5, sizeof(m));
        zt_container_component(c, i, k, want, &m);
        if( want & ZT_COMPONENT_ROLE ) check( same_text(m.role, all.role), "%s: role, %x", path, want );
        if( want & ZT_COMPONENT_DTYPE ) check( same_text(m.dtype, all.dtype), "%s: dtype, %x", path, want );
        if( want & ZT_COMPONENT_ELEMENT ){
          check( m.storage==all.storage && m.element==all.element && m.misplaced==all.misplaced, "%s: element, %x", path, want );
        }
        if( want & ZT_COMPONENT_TYPE ) check( same_text(m.type, all.type), "%s: type, %x", path, want );
        if( want & ZT_COMPONENT_OFFSET ) check( m.offset==all.offset, "%s: offset, %x", path, want );
        if( want & ZT_COMPONENT_LENGTH ) check( m.length==all.length, "%s: length, %x", path, want );
        if( want & ZT_COMPONENT_DECODED ){
          check( m.has_decoded_length==all.has_decoded_length, "%s: decoded_length, %x", path, want );
          if( all.has_decoded_length ) check( m.decoded_length==all.decoded_length, "%s: decoded_length, %x", path, want );
        }
        if( want & ZT_COMPONENT_ENCODING ) check( same_text(m.encoding, all.encoding), "%s: encoding, %x", path, want );
        if( want & ZT_COMPONENT_DIGEST ) check( same_text(m.digest, all.digest), "%s: digest, %x", path, want );
        if( want & ZT_COMPONENT_SHARD ) check( same_text(m.shard, all.shard) && (!all.shard.z || m.shard_size==all.shard_size), "%s: shard, %x", path, want );
        if( want & ZT_COMPONENT_BYTE_ORDER ) check( same_text(m.byte_order, all.byte_order), "%s: byte_order, %x", path, want );
      }
    }
  }
}

TEST(test_every_combination_of_what_is_wanted_gives_the_same){
  static const char *const patterns[] = {
    GOLDEN, HOSTILE "*-ok-[!2]*.zt", HOSTILE "?.?-digest-*.zt", HOSTILE "*-type-complex*.zt"
  };
  for(size_t p=0; p<COUNT(patterns); p++){
    zt_paths paths = all_files(patterns[p]);
    assert_true(paths.n>3);
    for(size_t i=0; i<paths.n; i++){
      zt_container *c = open_good(paths.a[i].z);
      check_wants(c, paths.a[i].z);
      zt_container_close(c);
    }
    zt_paths_clear(&paths);
  }
}

/* --- Files made here --- */

/* The bytes of a file of generation 1.1 or 1.2 with one object, `w`, whose map is in hexadecimal. 64 bytes of data. */
static blob made(const char *version, const char *object){
  blob b = { 0 }, manifest = { 0 };
  put_map(&manifest, 2);
  put_text(&manifest, "version");
  put_text(&manifest, version);
  put_text(&manifest, "objects");
  put_map(&manifest, 1);
  put_text(&manifest, "w");
  put_hex(&manifest, object);
  put(&b, "ZTEN1000", 8);
  put_repeated(&b, 0, 56);
  put_repeated(&b, 0x5A, 64);
  put(&b, manifest.p, manifest.n);
  put_le64(&b, manifest.n);
  put(&b, "ZTEN1000", 8);
  free(manifest.p);
  return seal(&b);
}

#define SHAPE "65 7368617065 8102"                /* shape: [2] */
#define FORMAT "66 666f726d6174 65 64656e7365"    /* format: dense */
#define COMPONENTS "6a 636f6d706f6e656e7473"      /* components: */
#define DATA "64 64617461"                        /* data: */
#define DTYPE "65 6474797065"
#define TYPE "64 74797065"
#define OFFSET "66 6f6666736574 1840"             /* offset: 64 */
#define LENGTH "66 6c656e677468 10"               /* length: 16 */

/* Fields in an order that no writer uses, with a dtype of 1.1 that stands for two words of the model. */
TEST(test_wants_in_an_unusual_order_of_fields){
  static const char *const objects[] = {
    "a3" COMPONENTS "a1" DATA "a4" TYPE "6178" OFFSET LENGTH DTYPE "69 636f6d706c65783634" FORMAT SHAPE,
    "a3" COMPONENTS "a1" DATA "a4" TYPE "f6" OFFSET LENGTH DTYPE "67 66385f65346d33" FORMAT SHAPE,
    "a3" SHAPE FORMAT COMPONENTS "a1" DATA "a4" LENGTH OFFSET DTYPE "67 66385f65346d33" TYPE "6178",
    "a3" SHAPE FORMAT COMPONENTS "bf" DATA "bf" LENGTH OFFSET DTYPE "69 636f6d706c65783634 ffff",
  };
  for(size_t i=0; i<COUNT(objects); i++){
    for(int version=0; version<2; version++){
      zt_error err = ZT_ERROR_NONE;
      blob b = made(version ? "1.2.0" : "1.1.0", objects[i]);
      zt_container *c = open_image(b, &err);
      assert_succeeded(&err, objects[i]);
      check_wants(c, objects[i]);
      assert_inside(c, objects[i]);
      zt_container_close(c);
      free(b.p);
    }
  }
}

/* The type alone: nothing may depend on a dtype that was not read. */
TEST(test_a_type_alone_does_not_look_at_what_the_caller_left_there){
  zt_error err = ZT_ERROR_NONE;
  blob b = made("1.1.0", "a3" COMPONENTS "a1" DATA "a4" TYPE "6178" OFFSET LENGTH DTYPE "62 7538" FORMAT SHAPE);
  zt_container *c = open_image(b, &err);
  zt_component m;
  assert_succeeded(&err, "type");
  memset(&m, 0, sizeof(m));
  m.dtype = ZT_TEXT("complex64");
  zt_container_component(c, 0, 0, ZT_COMPONENT_TYPE, &m);
  assert_text(m.type, "x", "type");
  check( zt_text_is(m.dtype, "complex64") || zt_text_is(m.dtype, "u8"),
      "'%.*s' is neither what was there nor what the file says", (int)m.dtype.n, m.dtype.z );
  zt_container_close(c);
  free(b.p);
}

TEST(test_versions){
  static const struct { const char *version; bool good; } rows[] = {
    { "1", true }, { "1.", true }, { "1.1", true }, { "1.2.0", true }, { "1.99", true }, { "1.x", true }, { "1..", true },
    { "", false }, { "0.1.0", false }, { "2", false }, { "2.0", false }, { "10", false }, { "11.0", false }, { "01.0", false },
    { " 1.0", false }, { "v1.0", false },
    { "1-0", false }, { "1 .0", false }, { "one", false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = made(rows[i].version, "a3" SHAPE FORMAT COMPONENTS "a0");
    zt_container *c = open_image(b, &err);
    char message[64];
    snprintf(message, sizeof(message), "version '%s' is not 1.x", rows[i].version);
    if( rows[i].good ){
      assert_succeeded(&err, rows[i].version);
      assert_text(zt_container_version(c), rows[i].version, "version");
    }else{
      assert_failed(&err, message, rows[i].version);
    }
    zt_container_close(c);
    free(b.p);
  }
}

/* Put a text key and its value, which is null if the key is `nothing`. */
static void put_field(blob *b, const char *key, const char *nothing, const char *hex){
  put_text(b, key);
  put_hex(b, strcmp(key, nothing)==0 ? "f6" : hex);
}

/* A file of the generation with all of its fields, but null for one of them. */
static blob made_with_null(int generation, const char *nothing){
  blob b = { 0 }, m = { 0 };
  if( generation==0 ){
    put_array(&m, 1);
    put_map(&m, 9);
    put_field(&m, "name", nothing, "6177");
    put_field(&m, "offset", nothing, "1840");
    put_field(&m, "size", nothing, "10");
    put_field(&m, "dtype", nothing, "65 75696e7438");
    put_field(&m, "shape", nothing, "8110");
    put_field(&m, "encoding", nothing, "63 726177");
    put_field(&m, "layout", nothing, "65 64656e7365");
    put_field(&m, "data_endianness", nothing, "66 6c6974746c65");
    put_field(&m, "checksum", nothing, "60");
  }else{
    bool later = generation==1;
    const char *objects = later ? "objects" : "tensors";
    put_map(&m, 3);
    put_field(&m, "version", nothing, "63 312e31");
    put_field(&m, "attributes", nothing, "a0");
    put_field(&m, objects, nothing, "a1 6177");
    if( strcmp(nothing, objects)!=0 ){
      put_map(&m, 4);
      if( later ) put_field(&m, "attributes", nothing, "a0");
      else put_field(&m, "dtype", nothing, "65 75696e7438");
      put_field(&m, "shape", nothing, "8110");
      put_field(&m, "format", nothing, "65 64656e7365");
      put_field(&m, "components", nothing, "a1 64 64617461");
      if( strcmp(nothing, "components")!=0 ){
        put_map(&m, later ? 7 : 4);
        if( later ) put_field(&m, "dtype", nothing, "62 7538");
        if( later ) put_field(&m, "type", nothing, "62 7538");
        put_field(&m, "offset", nothing, "1840");
        put_field(&m, "length", nothing, "10");
        if( later ) put_field(&m, "uncompressed_length", nothing, "10");
        put_field(&m, "encoding", nothing, "63 726177");
        put_field(&m, "digest", nothing, "60");
      }
    }
  }
  put(&b, generation==0 ? "ZTEN0001" : "ZTEN1000", 8);
  put_repeated(&b, 0, 120);
  put(&b, m.p, m.n);
  put_le64(&b, m.n);
  if( generation==1 ) put(&b, "ZTEN1000", 8);
  free(m.p);
  return seal(&b);
}

/* The values of the first object. */
static bool find_values(const zt_container *c, zt_component *out){
  zt_object object;
  zt_container_object(c, 0, &object);
  return zt_component_values(c, &object, ZT_COMPONENT_ALL, out);
}

TEST(test_null_in_every_field){
  /* NULL: null is absence, and that is allowed */
  static const struct { int generation; const char *field, *message; } rows[] = {
    { 0, "", NULL }, { 1, "", NULL }, { 2, "", NULL },
    { 0, "name", "expected text for 'name', found null" },
    { 0, "offset", "expected an unsigned integer for 'offset', found null" },
    { 0, "size", "expected an unsigned integer for 'size', found null" },
    { 0, "dtype", "expected text for 'dtype', found null" },
    { 0, "shape", "expected an array for 'shape', found null" },
    { 0, "encoding", "a tensor's map has no 'encoding'" },   /* Null is absence, but it must be there */
    { 0, "layout", "expected text for 'layout', found null" },
    { 0, "data_endianness", NULL }, { 0, "checksum", NULL },
    { 1, "version", "expected text for 'version', found null" },
    { 1, "objects", "expected a map of objects, found null" },
    { 1, "shape", "expected an array for 'shape', found null" },
    { 1, "format", "expected text for 'format', found null" },
    { 1, "components", "expected a map for 'components', found null" },
    { 1, "dtype", "expected text for 'dtype', found null" },
    { 1, "offset", "expected an unsigned integer for 'offset', found null" },
    { 1, "length", "expected an unsigned integer for 'length', found null" },
    { 1, "attributes", NULL }, { 1, "type", NULL }, { 1, "uncompressed_length", NULL }, { 1, "encoding", NULL },
    { 1, "digest", NULL },
    { 2, "version", "expected text for 'version', found null" },
    { 2, "tensors", "expected a map of objects, found null" },
    { 2, "dtype", "expected text for 'dtype', found null" },
    { 2, "shape", "expected an array for 'shape', found null" },
    { 2, "format", "expected text for 'format', found null" },
    { 2, "components", "expected a map for 'components', found null" },
    { 2, "offset", "expected an unsigned integer for 'offset', found null" },
    { 2, "length", "expected an unsigned integer for 'length', found null" },
    { 2, "attributes", NULL }, { 2, "encoding", NULL }, { 2, "digest", NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = made_with_null(rows[i].generation, rows[i].field);
    zt_container *c = open_image(b, &err);
    zt_component m;
    if( rows[i].message ){
      assert_failed(&err, rows[i].message, rows[i].field);
    }else{
      assert_succeeded(&err, rows[i].field);
      assert_inside(c, rows[i].field);
      check_wants(c, rows[i].field);
      assert_true(find_values(c, &m));
      assert_text(m.dtype, "u8", rows[i].field);
      assert_text(m.encoding, "raw", rows[i].field);
      assert_text(m.byte_order, "little", rows[i].field);
      check( (m.type.z==NULL)==(rows[i].generation!=1 || strcmp(rows[i].field, "type")==0), "%s", rows[i].field );
      check( (m.digest.z==NULL)==(strcmp(rows[i].field, "digest")==0 || strcmp(rows[i].field, "checksum")==0), "%s",
          rows[i].field );
      check( m.has_decoded_length==(rows[i].generation==1 && strcmp(rows[i].field, "uncompressed_length")!=0), "%s",
          rows[i].field );
    }
    zt_container_close(c);
    free(b.p);
  }
}

/* The dtypes of 1.1 that later became types, in the versions that have them. */
TEST(test_dtypes_of_1_1){
  static const struct { const char *version, *stored, *dtype, *type; } rows[] = {
    { "1.1.0", "67 66385f65346d33", "u8", "f8_e4m3fn" }, { "1.1", "67 66385f65356d32", "u8", "f8_e5m2" },
    { "1.1.7", "69 636f6d706c65783634", "f32", "complex64" },
    { "1.1.0", "6a 636f6d706c6578313238", "f64", "complex128" }, { "1.1.0", "63 663332", "f32", NULL },
    { "1.2.0", "67 66385f65346d33", "f8_e4m3", NULL },
    { "1.10.0", "67 66385f65346d33", "f8_e4m3", NULL }, { "1.0.0", "69 636f6d706c65783634", "complex64", NULL },
    { "1", "69 636f6d706c65783634", "complex64", NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    char object[300];
    zt_component m;
    zt_container *c;
    blob b;
    snprintf(object, sizeof(object), "a3" SHAPE FORMAT COMPONENTS "a1" DATA "a3" DTYPE "%s" OFFSET LENGTH, rows[i].stored);
    b = made(rows[i].version, object);
    c = open_image(b, &err);
    assert_succeeded(&err, rows[i].version);
    assert_true(find_values(c, &m));
    assert_text(m.dtype, rows[i].dtype, rows[i].version);
    if( rows[i].type ) assert_text(m.type, rows[i].type, rows[i].version);
    else assert_null(m.type.z);
    assert_true((m.storage!=NULL)==(rows[i].type || strcmp(rows[i].dtype, "f32")==0) && (m.element!=NULL)==(m.storage!=NULL) && !m.misplaced);
    zt_container_close(c);
    free(b.p);
  }
}

/* The bytes of a file of generation 0.1 with one tensor, `w`, whose further fields are in hexadecimal. */
static blob made_0_1(size_t fields, const char *more){
  blob b = { 0 }, manifest = { 0 };
  put_array(&manifest, 1);
  put_map(&manifest, 6+fields);
  put_text(&manifest, "name");
  put_text(&manifest, "w");
  put_hex(&manifest, OFFSET "64 73697a65 10" DTYPE "65 75696e7438" SHAPE);
  put_text(&manifest, "encoding");
  put_text(&manifest, "raw");
  put_hex(&manifest, more);
  put(&b, "ZTEN0001", 8);
  put_repeated(&b, 0, 120);
  put(&b, manifest.p, manifest.n);
  put_le64(&b, manifest.n);
  free(manifest.p);
  return seal(&b);
}

TEST(test_layouts_of_0_1){
#define LAYOUT "66 6c61796f7574"
#define KIND "6d 7370617273655f666f726d6174"   /* sparse_format */
#define SPARSE LAYOUT "66 737061727365"
  static const struct { const char *what; size_t fields; const char *hex, *format; zt_layout_id layout; int attributes;
      } rows[] = {
    { "no layout", 0, "", "dense", ZT_LAYOUT_DENSE, 0 },
    { "dense", 1, LAYOUT "65 64656e7365", "dense", ZT_LAYOUT_DENSE, 0 },
    { "dense, whatever else", 2, LAYOUT "65 64656e7365" KIND "63 637372", "dense", ZT_LAYOUT_DENSE, 1 },
    { "the writer's csr", 1, LAYOUT "69 737061727365637372", "sparse_csr", ZT_LAYOUT_CSR_JOINED, 0 },
    { "the writer's coo", 1, LAYOUT "69 737061727365636f6f", "sparse_coo", ZT_LAYOUT_COO_JOINED, 0 },
    { "the specification's csr", 2, SPARSE KIND "63 637372", "sparse_csr", ZT_LAYOUT_CSR_JOINED, 1 },
    { "the specification's coo", 2, KIND "63 636f6f" SPARSE, "sparse_coo", ZT_LAYOUT_COO_JOINED, 1 },
    { "behind other fields", 5, "6161 63 636f6f 6162 80" SPARSE "6163 01" KIND "63 637372", "sparse_csr", ZT_LAYOUT_CSR_JOINED, 4 },
    { "another kind", 2, SPARSE KIND "63 627372", "sparse_bsr", ZT_LAYOUT_UNKNOWN, 1 },
    { "the kind in capitals", 2, SPARSE KIND "63 435352", "sparse_CSR", ZT_LAYOUT_UNKNOWN, 1 },
    { "no kind", 1, SPARSE, "sparse", ZT_LAYOUT_UNKNOWN, 0 },
    { "no kind, but other text", 2, SPARSE "6161 63 637372", "sparse", ZT_LAYOUT_UNKNOWN, 1 },
    { "a kind that is no text", 2, SPARSE KIND "05", "sparse", ZT_LAYOUT_UNKNOWN, 1 },
    { "a word of a later generation", 1, LAYOUT "6a 7370617273655f637372", "sparse_csr", ZT_LAYOUT_UNKNOWN, 0 },
    { "another layout", 1, LAYOUT "65 626c6f636b", "block", ZT_LAYOUT_UNKNOWN, 0 },
#undef LAYOUT
#undef KIND
#undef SPARSE
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = made_0_1(rows[i].fields, rows[i].hex);
    zt_container *c = open_image(b, &err);
    zt_component m;
    zt_object o;
    assert_succeeded(&err, rows[i].what);
    assert_inside(c, rows[i].what);
    zt_container_object(c, 0, &o);
    assert_text(o.format, rows[i].format, rows[i].what);
    check( o.layout==rows[i].layout, "%s", rows[i].what );
    check( count_attributes(c, &o.attributes)==rows[i].attributes, "%s", rows[i].what );
    assert_true(find_values(c, &m));
    assert_text(m.role, "data", rows[i].what);
    assert_text(m.dtype, "u8", rows[i].what);
    zt_container_close(c);
    free(b.p);
  }
}

/* Append `levels` arrays, one in the other. */
static void put_nested(char *hex, int levels){
  for(int i=0; i<levels; i++) strcat(hex, "81");
  strcat(hex, "00");
}

/* A manifest of 64 levels can be decoded: a reader that begins in the middle knows its depth. */
TEST(test_nesting_up_to_the_limit_decodes){
  for(int where=0; where<4; where++){
    /* Levels around the field: of the tensor's map of 0.1, the object's map, its attributes, the component's map */
    static const int around[] = { 2, 3, 4, 5 };
    for(int more=0; more<2; more++){
      zt_error err = ZT_ERROR_NONE;
      char hex[1000] = "";
      zt_container *c;
      blob b;
      if( where==0 ) strcpy(hex, "6178");
      if( where==1 ) strcpy(hex, "a4 6178");
      if( where==2 ) strcpy(hex, "a4" SHAPE FORMAT "6a 61747472696275746573 a1 6178");
      if( where==3 ) strcpy(hex, "a3" SHAPE FORMAT COMPONENTS "a1" DATA "a4 6178");
      put_nested(hex, 64-around[where]+more);
      if( where==1 ) strcat(hex, SHAPE FORMAT);
      if( where==1 || where==2 ) strcat(hex, COMPONENTS "a1" DATA "a3");
      if( where>0 ) strcat(hex, DTYPE "62 7538" OFFSET LENGTH);
      b = where==0 ? made_0_1(1, hex) : made("1.2.0", hex);
      c = open_image(b, &err);
      if( more ){
        assert_failed(&err, "nested deeper than 64 levels", hex);
      }else{
        zt_object o;
        assert_succeeded(&err, hex);
        assert_inside(c, hex);
        check_wants(c, hex);
        zt_container_object(c, 0, &o);
        assert_int_equal(count_attributes(c, &o.attributes), where==0 || where==2);
      }
      zt_container_close(c);
      free(b.p);
    }
  }
}

/* More roles than are compared one with another, and one of them twice. */
TEST(test_many_roles){
  for(size_t n=1; n<=20; n++){
    for(size_t twice=0; twice<=n; twice++){   /* n: none */
      zt_error err = ZT_ERROR_NONE;
      char object[4000] = "a3" SHAPE FORMAT COMPONENTS, head[8];
      zt_container *c;
      blob b;
      snprintf(head, sizeof(head), "b8%02x", (unsigned)(n + (twice<n)));
      strcat(object, head);
      for(size_t i=0; i<n + (twice<n); i++){
        char component[200];
        snprintf(component, sizeof(component), "6172 62 72%02x a3" DTYPE "62 7538" OFFSET LENGTH,
            (unsigned)('a' + (i<n ? i : twice)));
        strcat(object, component+4);
      }
      b = made("1.2.0", object);
      c = open_image(b, &err);
      if( twice<n ){
        check( err.rc==SQLITE_ERROR && strstr(err.message, "stands twice")!=NULL, "%zu of %zu: %s", twice, n, err.message );
        check( strstr(err.message, "object 'w'")!=NULL, "%s", err.message );
        zt_error_clear(&err);
      }else{
        assert_succeeded(&err, "roles");
        assert_int_equal(zt_container_components(c), n);
        assert_inside(c, "roles");
      }
      zt_container_close(c);
      free(b.p);
    }
  }
}

/* In 1.0 they have their tensor's dtype, which may stand behind them: a walk through all of them for each would take minutes here. */
TEST(test_a_dtype_of_1_0_behind_many_components){
  static const uint32_t counts[] = { 1, 8, 9, 20, 100000 };
  for(size_t i=0; i<COUNT(counts)*2; i++){
    const uint32_t n = counts[i/2];
    const bool sparse = i%2;
    zt_error err = ZT_ERROR_NONE;
    zt_container *c;
    zt_object o;
    blob b = { 0 };
    put(&b, "ZTEN1000", 8);
    put_map(&b, 2);
    put_text(&b, "version");
    put_text(&b, "1.0");
    put_text(&b, "tensors");
    put_map(&b, 1);
    put_text(&b, "w");
    put_map(&b, 4);
    put_text(&b, "components");
    put_map(&b, n);
    for(uint32_t k=0; k<n; k++){
      char role[20];
      snprintf(role, sizeof(role), "part%u", k);
      put_text(&b, k==n-1 ? "indices" : role);
      put_map(&b, 2);
      put_text(&b, "offset");
      put_uint(&b, 0);
      put_text(&b, "length");
      put_uint(&b, 0);
    }
    put_text(&b, "format");
    put_text(&b, sparse ? "sparse_csr" : "acme");
    put_text(&b, "dtype");
    put_text(&b, "float16");
    put_text(&b, "shape");
    put_array(&b, 2);
    put_uint(&b, 3);
    put_uint(&b, 70000);
    put_le64(&b, b.n-8);
    b = seal(&b);
    c = open_image(b, &err);
    assert_succeeded(&err, "1.0");
    zt_container_object(c, 0, &o);
    check( o.rank==2 && o.shape[0]==3 && o.shape[1]==70000 && o.elements==210000, "%u components", n );
    check( zt_text_equal(o.format, sparse ? ZT_TEXT("sparse_csr") : ZT_TEXT("acme")), "%u components: %.*s", n, (int)o.format.n, o.format.z );
    for(uint32_t k=0; k<n; k++){
      zt_component m;
      zt_container_component(c, 0, k, ZT_COMPONENT_ALL, &m);
      check( zt_text_equal(m.dtype, sparse && k==n-1 ? ZT_TEXT("u64") : ZT_TEXT("f16")), "%u of %u components", k, n );
    }
    zt_container_close(c);
    free(b.p);
  }
}

TEST(test_finding_components){
  static const struct { const char *roles[3]; const char *values; } rows[] = {
    { { "data" }, "data" }, { { "values", "data" }, "data" }, { { "packed_weight", "values" }, "values" },
    { { "scales", "packed_weight" }, "packed_weight" },
    { { "scales" }, NULL }, { { "Data" }, NULL }, { { "" }, NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob object = { 0 }, b;
    size_t n = 0;
    char hex[1000] = "";
    zt_component m;
    zt_container *c;
    while( n<3 && rows[i].roles[n] ) n++;
    put_hex(&object, "a3" SHAPE FORMAT COMPONENTS);
    put_map(&object, n);
    for(size_t k=0; k<n; k++){
      put_text(&object, rows[i].roles[k]);
      put_hex(&object, "a3" DTYPE "62 7538" OFFSET LENGTH);
    }
    for(size_t k=0; k<object.n; k++) snprintf(hex+2*k, 3, "%02x", object.p[k]);
    b = made("1.2.0", hex);
    c = open_image(b, &err);
    assert_succeeded(&err, "roles");
    assert_int_equal(find_values(c, &m), rows[i].values!=NULL);
    if( rows[i].values ) assert_text(m.role, rows[i].values, "values");
    for(size_t k=0; k<n; k++){
      assert_true(zt_component_find(c, 0, (zt_text){ rows[i].roles[k], strlen(rows[i].roles[k]) }, &m));
      assert_text(m.role, rows[i].roles[k], "role");
      assert_int_equal(m.offset, 64);
    }
    assert_false(zt_component_find(c, 0, ZT_TEXT("none"), &m));
    zt_container_close(c);
    free(object.p);
    free(b.p);
  }
}

/* A message is bounded and ends with a whole character, however long the names in a file are. */
TEST(test_messages_of_long_words_are_short_and_utf8){
  for(size_t shift=0; shift<4; shift++){
    for(int what=0; what<3; what++){   /* A version, a role that stands twice, an object's name */
      zt_error err = ZT_ERROR_NONE;
      char word[3000] = "", object[16000] = "", hex[8000] = "";
      blob b, name = { 0 };
      while( strlen(word)<shift ) strcat(word, "x");
      for(int i=0; i<600; i++) strcat(word, "\xE6\xB0\xB4");
      put_text(&name, word);
      for(size_t i=0; i<name.n; i++) snprintf(hex+2*i, 3, "%02x", name.p[i]);
      if( what==0 ) strcpy(object, "a3" SHAPE FORMAT COMPONENTS "a0");
      if( what==1 ){
        strcpy(object, "a3" SHAPE FORMAT COMPONENTS "a2");
        for(int i=0; i<2; i++){
          strcat(object, hex);
          strcat(object, "a3" DTYPE "62 7538" OFFSET LENGTH);
        }
      }
      if( what==2 ){
        strcpy(object, "a3" SHAPE FORMAT COMPONENTS "a1");
        strcat(object, hex);
        strcat(object, "a0");
      }
      b = made(what==0 ? word : "1.2.0", object);
      assert_null(open_image(b, &err));
      assert_int_equal(err.rc, SQLITE_ERROR);
      check( strlen(err.message)<700, "%d: %zu bytes", what, strlen(err.message) );
      check( zt_utf8_valid((uint8_t*)err.message, strlen(err.message)), "%d: the message is cut within a character", what );
      zt_error_clear(&err);
      free(name.p);
      free(b.p);
    }
  }
}

TEST(test_references){
  zt_container *c = open_good(FOLDER "v1.2/hand_order.zt");
  sqlite3_int64 used = sqlite3_memory_used();
  assert_ptr_equal(zt_container_ref(c), c);
  zt_container_close(c);
  assert_int_equal(sqlite3_memory_used(), used);
  assert_true(zt_container_objects(c)>0);
  assert_int_equal(zt_container_find(c, ZT_TEXT("no object has this name")), -1);
  zt_container_close(c);
  assert_true(sqlite3_memory_used()<used);
  zt_container_close(NULL);
}

/* Fields that decoders read of every component are set, whatever was there before. */
TEST(test_bytes_to_skip_are_set){
  static const unsigned char before[] = { 0, 0xFF };
  zt_error err = ZT_ERROR_NONE;
  zt_container *c = open_path("tests/formats/npz/golden/deflated.npz", &err);
  assert_non_null(c);
  for(size_t i=0; i<COUNT(before); i++){
    zt_component m;
    memset(&m, before[i], sizeof(m));
    zt_container_component(c, 0, 0, ZT_COMPONENT_ALL, &m);
    assert_true(m.skip>0 && m.behind==0 && m.number_skip==0 && m.number_behind==0 && m.base==0 && m.least==0);
  }
  zt_container_close(c);
}

/* --- Hostile files --- */

/* Files that must be refused are, for the rule and with the message that cases.json has; and the others open. */
TEST(test_every_case){
  sqlite3_stmt *cases = query("SELECT " FIELD("file") ", " FIELD("expect") "='open_error', " FIELD("object") ", "
    FIELD("component") ", " FIELD("rows.objects") ", " FIELD("rows.components") ", " FIELD("number") ", " FIELD("message")
    " FROM json_each(?1)", HOSTILE "cases.json");
  unsigned refused = 0, opened = 0;
  while( sqlite3_step(cases)==SQLITE_ROW ){
    const char *file = (const char*)sqlite3_column_text(cases, 0), *rule = (const char*)sqlite3_column_text(cases, 6);
    zt_text object = column(cases, 2), component = column(cases, 3), message = column(cases, 7);
    zt_error err = ZT_ERROR_NONE;
    char path[300], place[1000];
    zt_container *c;
    snprintf(path, sizeof(path), HOSTILE "%s", file);
    err.path = path;
    c = open_path(path, &err);
    if( sqlite3_column_int(cases, 1) ){
      blob b = read_file(path);
      size_t n;
      check( rule && message.z, "%s: which rule does it break?", file );
      check( err.rc==SQLITE_ERROR && err.message, "%s: accepted, against %s", file, rule );
      check( err.rule && strcmp(err.rule, rule)==0, "%s: against %s, not %s", file, err.rule ? err.rule : "no rule", rule );
      n = strlen(err.message);
      check( n>=message.n && strcmp(err.message+n-message.n, message.z)==0, "%s (%s): '%s', expected '%s'", file, rule,
             err.message, message.z );
      snprintf(place, sizeof(place), "ztensor: %s: ", path);
      if( object.z ) snprintf(place+strlen(place), sizeof(place)-strlen(place), "object '%.*s': ", (int)object.n, object.z);
      if( component.z ) snprintf(place+strlen(place), sizeof(place)-strlen(place), "component '%.*s': ", (int)component.n,
          component.z);
      check( strncmp(err.message, place, strlen(place))==0, "%s: '%s', expected '%s'", file, err.message, place );
      zt_error_clear(&err);
      err.path = NULL;
      open_image(b, &err);
      assert_failed(&err, message.z, file);
      free(b.p);
      refused++;
    }else{
      assert_succeeded(&err, file);
      check( zt_container_objects(c)==(uint32_t)sqlite3_column_int(cases, 4), "%s", file );
      check( zt_container_components(c)==(uint32_t)sqlite3_column_int(cases, 5), "%s", file );
      assert_inside(c, file);
      zt_container_close(c);
      opened++;
    }
  }
  sqlite3_finalize(cases);
  assert_true(refused>700 && opened>450);
}

/* --- The numbered rules --- */

/* Where the rules stand, and where they are checked. */
static const char *const grammars[] = {
  "ext/core/cbor.h", "ext/container/zt0.c", "ext/container/zt1.c", "ext/container/zt2.c", "ext/container/schema.h", "ext/container/driver.h", "ext/tensor/encoding.h",
  "ext/tensor/layout.h", "ext/tensor/dense.c", "ext/tensor/csr.c", "ext/tensor/coo.c", "ext/tensor/quantized.c", "ext/tensor/check.h",
  "ext/tensor/mx.c", "ext/tensor/quant_group.c", "ext/tensor/seekable.c"
};

/* Rules that a source file's comments name: a capital letter and digits, standing alone. seen[letter][number] is set. */
static void rules_in_comments(const char *path, bool seen[26][100]){
  blob b = read_file(path);
  bool comment = false;
  size_t n = 0;
  for(size_t i=0; i+1<b.n; i++){
    const char *p = (char*)b.p+i;
    if( !comment && p[0]=='/' && p[1]=='*' ) comment = true;
    else if( comment && p[0]=='*' && p[1]=='/' ){
      comment = false;
    }
    if( !comment || !isupper((unsigned char)p[0]) || (i>0 && (isalnum((unsigned char)p[-1]) || p[-1]=='_')) ) continue;
    if( isdigit((unsigned char)p[1]) ){
      char *end;
      unsigned long number = strtoul(p+1, &end, 10);
      if( isalnum((unsigned char)*end) || *end=='_' || number>=100 ) continue;
      seen[p[0]-'A'][number] = true;
      n++;
    }
  }
  check( n>0, "%s names no rule", path );
  free(b.p);
}

/* How many hostile files have the rule; those that break it alone. */
static int cases_of(const char *rule, bool breaking){
  sqlite3_stmt *found = query("SELECT count(*) FROM json_each(?1) WHERE " FIELD("number") "=?2 AND (" FIELD("message") " IS NOT NULL OR NOT ?3)",
                              HOSTILE "cases.json");
  int n;
  sqlite3_bind_text(found, 2, rule, -1, SQLITE_TRANSIENT);
  sqlite3_bind_int(found, 3, breaking);
  assert_int_equal(sqlite3_step(found), SQLITE_ROW);
  n = sqlite3_column_int(found, 0);
  sqlite3_finalize(found);
  return n;
}

TEST(test_every_rule_of_the_grammars_has_a_file_that_breaks_it){
  static const char *const known[] = { "C9", "A3", "B7", "S6", "N1", "H2", "R3", "M2", "E4", "L3", "D1", "P6", "K4", "Q5", "G6", "Z9" };
  bool seen[26][100] = { { false } };
  char rule[16];
  sqlite3_stmt *cases;
  unsigned rules = 0;
  for(size_t i=0; i<COUNT(grammars); i++) rules_in_comments(grammars[i], seen);
  for(size_t i=0; i<COUNT(known); i++) assert_true(seen[known[i][0]-'A'][known[i][1]-'0']);
  for(int letter=0; letter<26; letter++){
    for(int number=0; number<100; number++){
      if( !seen[letter][number] ) continue;
      rules++;
      /* S4 and S5 say what is not judged: nothing breaks them but a reader. */
      snprintf(rule, sizeof(rule), "%c%d", 'A'+letter, number);
      if( strcmp(rule, "E5")==0 || strcmp(rule, "E6")==0 || strcmp(rule, "P8")==0 || strcmp(rule, "L11")==0 ) continue;   /* Files of other formats break them */
      check( cases_of(rule, strcmp(rule, "S4")!=0 && strcmp(rule, "S5")!=0)>0, "%s has no file", rule );
    }
  }
  assert_true(rules>=90);
  cases = query("SELECT " FIELD("number") ", " FIELD("file") " FROM json_each(?1) WHERE " FIELD("number") " IS NOT NULL", HOSTILE "cases.json");
  while( sqlite3_step(cases)==SQLITE_ROW ){
    const char *number = (const char*)sqlite3_column_text(cases, 0);
    check( strcmp(number, "F2")==0 || number[1]>='A' || seen[number[0]-'A'][atoi(number+1)], "no grammar has %s, of %s", number, (const char*)sqlite3_column_text(cases, 1) );
  }
  sqlite3_finalize(cases);
}

/* --- Probes --- */

/* How many drivers claim a file at the highest strength at which any does. */
static unsigned claims(blob b){
  blob head = exact(b.p, b.n<ZT_HEAD_SIZE ? b.n : ZT_HEAD_SIZE), tail = exact(b.p+b.n-(b.n<ZT_TAIL_SIZE ? b.n : ZT_TAIL_SIZE), b.n<ZT_TAIL_SIZE ? b.n : ZT_TAIL_SIZE);
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  zt_zip *zip = NULL;
  zt_head_tail ends;
  unsigned n = 0;
  zt_probe most = ZT_PROBE_NO;
  const zt_driver *first = NULL;
  assert_int_equal(zt_source_open_image(span_of(b), &source, &err), SQLITE_OK);
  ends = (zt_head_tail){ .source = source, .size = b.n, .head = span_of(head), .tail = span_of(tail), .zip = &zip };
  for(int i=0; zt_drivers[i]; i++){
    zt_probe probe = zt_drivers[i]->probe(&ends, &err);
    assert_succeeded(&err, zt_drivers[i]->name);
    if( probe==ZT_PROBE_NO || probe<most ) continue;
    if( probe>most ) n = 0;
    most = probe;
    if( n++==0 ) first = zt_drivers[i];
  }
  assert_ptr_equal(zt_driver_for(&ends, &err), first);
  zt_zip_close(zip);
  zt_source_close(source);
  free(head.p);
  free(tail.p);
  return n;
}

TEST(test_no_file_is_claimed_by_two_drivers){
  static const char *const patterns[] = { "tests/formats/*/golden/**/*", "tests/formats/*/hostile/*" };
  unsigned claimed = 0, unclaimed = 0;
  for(size_t p=0; p<COUNT(patterns); p++){
    zt_paths paths = all_files(patterns[p]);
    for(size_t i=0; i<paths.n; i++){
      blob b = read_file(paths.a[i].z);
      unsigned n = claims(b);
      check( n<=1, "%s: %u", paths.a[i].z, n );
      claimed += n;
      unclaimed += n==0;
      free(b.p);
    }
    zt_paths_clear(&paths);
  }
  assert_true(claimed>1000 && unclaimed>=13);
}

/* Every arrangement of magic numbers at both ends of files of every length. */
TEST(test_no_arrangement_of_magic_numbers_is_claimed_twice){
  static const char *const magics[] = { "ZTEN0001", "ZTEN1000", "ZTEN0000", "ZTEN1001", "zten1000", "", "ZTEN2000", "\x89ZT2\r\n\x1a\n" };
  for(size_t n=0; n<80; n++){
    for(size_t h=0; h<COUNT(magics); h++){
      for(size_t t=0; t<COUNT(magics); t++){
        blob b = { 0 };
        size_t nh = strlen(magics[h]), nt = strlen(magics[t]);
        bool zt0, zt1, zt2;
        put_repeated(&b, 0, n);
        if( n>=nt ) memcpy(b.p+n-nt, magics[t], nt);
        if( n>=nh ) memcpy(b.p, magics[h], nh);
        zt0 = n>=8 && memcmp(b.p, "ZTEN0001", 8)==0;
        zt1 = n>=8 && memcmp(b.p, "ZTEN1000", 8)==0;
        zt2 = n>=8 && memcmp(b.p, "\x89ZT2\r\n\x1a\n", 8)==0;
        check( claims(b)==(zt0 || zt1 || zt2), "%zu bytes, %s, %s", n, magics[h], magics[t] );
        free(b.p);
      }
    }
  }
}

/* --- Cut and changed files --- */

/* Small files of every generation, strings in chunks among them. */
static const char *const small[] = {
  FOLDER "v0.1/hand_no_layout.zt", FOLDER "v0.1/hand_17_bytes.zt", FOLDER "v0.1/hand_padding_and_cbor.zt",
  FOLDER "v1.0/hand_components.zt",
  FOLDER "v1.0/hand_unknown_fields.zt", FOLDER "v1.1/hand_cbor_variants.zt", FOLDER "v1.1/wheel_empty.zt",
  FOLDER "v1.2/hand_attributes_simple.zt",
  FOLDER "v1.2/hand_cbor_chunks.zt", FOLDER "v1.2/hand_cbor_indefinite.zt",
  FOLDER "v1.2/hand_cbor_reversed.zt", FOLDER "v1.2/hand_gaps.zt",
};

/* The message that the first n bytes of a file must give. */
static const char *of_cut(size_t n){
  if( n==0 ) return "ztensor: the file is empty";
  if( n<8 ) return "ztensor: not a tensor file of a known format";
  if( n<16 ) return "bytes are too few for a header and a footer";
  return "ztensor: ";   /* Depends on the 8 bytes that the cut has made the size field */
}

TEST(test_a_file_cut_anywhere_is_refused){
  for(size_t i=0; i<COUNT(small); i++){
    blob b = read_file(small[i]);
    unsigned structural = 0;
    for(size_t n=0; n<b.n; n++){
      zt_error err = ZT_ERROR_NONE;
      blob cut = exact(b.p, n);
      const char *expected = of_cut(n);
      zt_container *c = open_image(cut, &err);
      check( c==NULL && err.rc==SQLITE_ERROR && err.message, "%s, %zu bytes", small[i], n );
      check( strstr(err.message, expected)!=NULL, "%s, %zu bytes: '%s', expected '%s'", small[i], n, err.message, expected );
      structural += strstr(err.message, "manifest byte")!=NULL;
      zt_error_clear(&err);
      free(cut.p);
    }
    check( structural<=8, "%s: %u", small[i], structural );   /* Hardly any cut leaves a size that points into the file */
    free(b.p);
  }
}

TEST(test_a_file_with_bytes_after_its_end_is_refused){
  for(size_t i=0; i<COUNT(small); i++){
    blob b = read_file(small[i]);
    for(size_t more=1; more<=70; more++){
      for(unsigned fill=0; fill<256; fill += 51){
        zt_error err = ZT_ERROR_NONE;
        blob longer = { 0 };
        put(&longer, b.p, b.n);
        put_repeated(&longer, fill, more);
        longer = seal(&longer);
        check( open_image(longer, &err)==NULL, "%s and %zu bytes of %u", small[i], more, fill );
        zt_error_clear(&err);
        free(longer.p);
      }
    }
    free(b.p);
  }
}

/* Cut short within the manifest, with the footer put right: the manifest's own length, then, is what is wrong. */
TEST(test_a_manifest_cut_anywhere_is_refused){
  for(size_t i=0; i<COUNT(small); i++){
    zt_container *whole = open_good(small[i]);
    blob b = read_file(small[i]);
    size_t n = (size_t)zt_container_manifest_length(whole), start = (size_t)zt_container_manifest_offset(whole);
    for(size_t keep=1; keep<n; keep++){
      zt_error err = ZT_ERROR_NONE;
      blob cut = { 0 };
      put(&cut, b.p, start+keep);
      put_le64(&cut, keep);
      put(&cut, b.p+start+n+8, b.n-start-n-8);
      cut = seal(&cut);
      check( open_image(cut, &err)==NULL && err.rc==SQLITE_ERROR, "%s, %zu of %zu", small[i], keep, n );
      check( strstr(err.message, "manifest byte ")!=NULL, "%s, %zu of %zu: %s", small[i], keep, n, err.message );
      zt_error_clear(&err);
      free(cut.p);
    }
    zt_container_close(whole);
    free(b.p);
  }
}

TEST(test_a_file_with_any_byte_changed_is_refused_or_sound){
  static const uint8_t flips[] = { 0x01, 0x02, 0x20, 0x40, 0x80, 0xFF };
  for(size_t i=0; i<COUNT(small); i++){
    blob b = read_file(small[i]);
    unsigned refused = 0;
    for(size_t n=0; n<b.n; n++){
      for(size_t f=0; f<COUNT(flips); f++){
        zt_error err = ZT_ERROR_NONE;
        zt_container *c;
        b.p[n] ^= flips[f];
        c = open_image(b, &err);
        if( c ){
          assert_inside(c, small[i]);
        }else{
          check( err.rc==SQLITE_ERROR && err.message && strncmp(err.message, "ztensor: ", 9)==0, "%s, byte %zu", small[i], n );
          refused++;
        }
        zt_error_clear(&err);
        zt_container_close(c);
        b.p[n] ^= flips[f];
      }
    }
    check( refused>=16*COUNT(flips)-6, "%s: %u", small[i], refused );
    free(b.p);
  }
}

/* --- Walks --- */

static bool is_open(const zt_value *v){
  return v->type==ZT_VALUE_ARRAY || v->type==ZT_VALUE_MAP;
}

/* Enter what the last step gave, and go to its end. */
static void pass(zt_walk *w){
  zt_level level;
  zt_value key, value;
  zt_walk_enter(w, &level);
  while( zt_walk_next(w, &level, &key, &value) ) if( is_open(&value) ) pass(w);
}

static void check_same(const zt_value *a, const zt_value *b, const char *path){
  check( a->type==b->type && a->at==b->at, "%s: types %d and %d, at %llu and %llu", path, (int)a->type, (int)b->type,
         (unsigned long long)a->at, (unsigned long long)b->at );
  check( a->type!=ZT_VALUE_TEXT || zt_text_equal(a->text, b->text), "%s: %.*s and %.*s", path, (int)a->text.n, a->text.z,
         (int)b->text.n, b->text.z );
}

/* A walk that passes over the items in it finds those that a walk through all of them finds. Returns the number of those with items. */
static size_t check_walks(const zt_container *c, const zt_value *of, const char *path){
  zt_error err = ZT_ERROR_NONE;
  zt_level level, other_level;
  zt_walk w, other;
  zt_value key, value, other_key, other_value;
  size_t n = 0;
  zt_walk_begin(c, of, &w, &level, &err);
  zt_walk_begin(c, of, &other, &other_level, &err);
  while( zt_walk_next(&w, &level, &key, &value) ){
    check( zt_walk_next(&other, &other_level, &other_key, &other_value), "%s: an item more", path );
    check_same(&key, &other_key, path);
    check_same(&value, &other_value, path);
    if( !is_open(&value) ) continue;
    n += 1+check_walks(c, &value, path);
    pass(&other);
  }
  check( !zt_walk_next(&other, &other_level, &other_key, &other_value), "%s: an item less", path );
  assert_succeeded(&err, path);
  zt_walk_end(&w);
  zt_walk_end(&other);
  return n;
}

TEST(test_items_that_are_passed_over){
  zt_paths_filter filter = { .files = zt_container_files };
  zt_error err = ZT_ERROR_NONE;
  zt_paths paths;
  size_t n = 0;
  assert_int_equal(zt_paths_find("tests/formats", &filter, &paths, &err), SQLITE_OK);
  for(size_t i=0; i<paths.n; i++){
    zt_error unsound = ZT_ERROR_NONE;
    zt_container *c = open_path(paths.a[i].z, &unsound);
    if( c ){
      const zt_value attributes = zt_container_attributes(c), manifest = zt_container_manifest(c);
      n += check_walks(c, &attributes, paths.a[i].z)+check_walks(c, &manifest, paths.a[i].z);
    }
    zt_container_close(c);
    zt_error_clear(&unsound);
  }
  check( n>10000, "%zu items", n );
  zt_paths_clear(&paths);
}

/* Each member's attributes begin a level of their own, whatever those of the one before left in it. */
TEST(test_attributes_of_the_members_of_an_archive){
  static const char member[] = "\45\0\0\0\0\0\0\0{\"__metadata__\":{\"k\":\"v\",\"l\":\"w\"}}   ";
  zt_error err = ZT_ERROR_NONE;
  archive a = { 0 };
  blob b;
  zt_container *c;
  zt_value attributes;
  for(int i=0; i<3; i++){
    char name[16];
    snprintf(name, sizeof(name), "%d.safetensors", i);
    add_member(&a, (archived){ .name = name, .data = member, .n = sizeof(member)-1 });
  }
  b = end_archive(&a, "");
  c = open_image(b, &err);
  assert_succeeded(&err, "an archive");
  attributes = zt_container_attributes(c);
  assert_int_equal(count_attributes(c, &attributes), 6);
  assert_int_equal(check_walks(c, &attributes, "an archive"), 0);
  zt_container_close(c);
  free(b.p);
}

/* A file of one array gives the object its name. */
TEST(test_whether_a_container_fits_a_path){
  static const struct { const char *path; bool array, other; } rows[] = {
    { "tests/formats/npy/golden/array.npy", true, true }, { "x/array.npy", true, true }, { "array.txt", true, true }, { "x/other.npy", false, true },
    { "https://example.com/other.npy", true, true }, { "\xff.npy", false, true }, { "data", false, true },
  };
  zt_container named = { .references = 1 }, other = { .references = 1 };
  char name[] = "array";
  named.kept.p = (uint8_t*)name;
  named.named_by_path = true;
  named.stem.n = 5;
  for(size_t i=0; i<COUNT(rows); i++){
    check( zt_container_fits(&named, rows[i].path)==rows[i].array && zt_container_fits(&other, rows[i].path)==rows[i].other, "%s", rows[i].path );
  }
  assert_true(zt_text_is(zt_container_stem("\xff.npy"), "data"));
  assert_true(zt_text_is(zt_container_stem("a/b.c.npy"), "b.c"));
  assert_true(zt_text_is(zt_container_stem(NULL), "data"));
  assert_true(zt_text_is(zt_container_stem("a/.npy"), ".npy"));
}

int main(void){
  return run_all("container", open_db, close_db);
}
