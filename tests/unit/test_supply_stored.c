/*
** Where the bytes of a file that is written come from: tensor/supply.h. Here are stored bytes that stay, digests of the source, the
** spool, sources that change, and interrupts; test_supply.c has layouts and types.
*/
#include "supplied.h"
#include "zt2.h"

#include <unistd.h>

#define FORMATS "tests/formats/"
#define V11 FORMATS "ztensor/golden/v1.1/"
#define V12 FORMATS "ztensor/golden/v1.2/"
#define V2 FORMATS "ztensor/golden/v2/"

/* --- Stored bytes --- */

static void check_kept(const char *path, const char *object, zt_codec_id codec, uint64_t decoded){
  blob file = read_file(path);
  supplied s;
  zt_supply_request q;
  zt_draft_component c;
  zt_component from;
  zt_error err = ZT_ERROR_NONE;
  supplied_pieces got;
  uint32_t number;
  blob stored;
  supplied_begin(&s);
  supplied_path(&s, path);
  q = supplied_request(&s, object);
  q.keeps = supplied_keeps(&q);
  number = supplied_add(&s, &q);
  c = supplied_component(&s, number, "data");
  zt_component_find(q.file.container, q.object, ZT_TEXT("data"), &from);
  check( s.supplies.a[c.supply].kind==ZT_SUPPLY_STORED, "%s", object );
  check( c.codec==codec && c.decoded_length==decoded, "%s: %llu", object, (unsigned long long)c.decoded_length );
  supplied_read(&s, c.supply, ALL_RULES, &got, &err);
  assert_succeeded(&err, path);
  q.keeps(q.file.container, q.object, &from);
  stored = exact(file.p+from.offset, (size_t)from.length);
  check( same_blob(got.bytes, stored), "%s: %zu bytes", object, got.bytes.n );
  free(stored.p);
  free(got.bytes.p);
  free(file.p);
  supplied_end(&s);
}

TEST(test_stored_bytes_stay){
  check_kept(V11 "hand_digests.zt", "sha256", ZT_CODEC_RAW, 28);
  check_kept(FORMATS "npz/golden/deflated.npz", "blk.0.attn.q.f32", ZT_CODEC_DEFLATE, 48);
  check_kept(FORMATS "npz/golden/stored.npz", "blk.0.attn.q.f32", ZT_CODEC_RAW, 48);
  check_kept(FORMATS "npy/golden/fortran.npy", "fortran", ZT_CODEC_RAW, 96);
}

/* Every component of these files, with its encoding and digest; a layout without a meaning keeps its name. */
TEST(test_all_of_a_file_stays){
  static const char *const files[] = { FORMATS "npz/hostile/npy-magic-deflated.npz", FORMATS "npz/hostile/text-short-deflated.npz", V2 "wheel_zstd.zt", V2 "wheel_sparse.zt", V2 "wheel_canonical.zt", V12 "wheel_zstd.zt",
                                       V12 "hand_quantized.zt", V12 "hand_unknown_format.zt" };
  for(size_t i=0; i<COUNT(files); i++){
    blob file = read_file(files[i]);
    supplied s;
    size_t encoded = 0;
    supplied_begin(&s);
    supplied_path(&s, files[i]);
    for(uint32_t k=0; k<zt_container_objects(s.files[0].container); k++){
      zt_supply_request q = supplied_number(&s, k);
      zt_object from;
      zt_draft_object o;
      uint32_t number;
      q.keeps = supplied_keeps(&q);
      number = supplied_add(&s, &q);
      zt_container_object(q.file.container, k, &from);
      zt_draft_object_get(s.draft, number, &o);
      check( o.layout==from.layout && (from.layout!=ZT_LAYOUT_UNKNOWN || zt_text_equal(o.format, from.format)), "%s", files[i] );
      for(uint32_t at=zt_container_first(q.file.container, k); at<zt_container_first(q.file.container, k+1); at++){
        zt_component c;
        zt_draft_component d;
        zt_error err = ZT_ERROR_NONE;
        supplied_pieces got;
        zt_container_component(q.file.container, k, at, ZT_COMPONENT_ALL, &c);
        for(uint32_t place=0; (place = zt_draft_next_component(s.draft, number, place, &d))!=0; ) if( zt_text_equal(d.role, c.role) ) break;
        check( d.codec==c.codec && d.element==c.element, "%s", files[i] );
        supplied_read(&s, d.supply, ALL_RULES, &got, &err);
        assert_succeeded(&err, files[i]);
        check( got.bytes.n==c.length && (c.length==0 || memcmp(got.bytes.p, file.p+c.offset, (size_t)c.length)==0), "%s", files[i] );
        encoded += c.codec!=ZT_CODEC_RAW;
        free(got.bytes.p);
      }
    }
    check( strstr(files[i], "zstd")==NULL || encoded>0, "%s", files[i] );
    supplied_end(&s);
    free(file.p);
  }
}

/* All of what stays is in one file: the one that is updated. */
TEST(test_stored_bytes_of_two_files){
  supplied s;
  zt_supply_request q;
  supplied_begin(&s);
  for(int i=0; i<2; i++){
    supplied_path(&s, V11 "hand_digests.zt");
    q = supplied_request(&s, i ? "crc32c" : "sha256");
    q.keeps = supplied_keeps(&q);
    if( i==0 ) supplied_add(&s, &q);
    else supplied_refuse(&s, &q, SQLITE_ERROR, "ztensor: x.zt: object 'crc32c': the file has changed since its row was inserted");
  }
  supplied_end(&s);
}

/* --- Digests of the source --- */

/* As the bytes go by, in a pass before a conversion, and of stored bytes. */
TEST(test_a_digest_that_does_not_match){
  static const char *const objects[] = { "sha256.wrong", "crc32c.wrong" };
  for(size_t i=0; i<COUNT(objects); i++){
    for(int way=0; way<3; way++){
      char message[200];
      supplied s;
      zt_supply_request q;
      supplied_begin(&s);
      supplied_path(&s, V11 "hand_digests.zt");
      q = supplied_request(&s, objects[i]);
      if( way==1 ) q.as = named("f64");
      if( way==2 ) q.keeps = supplied_keeps(&q);
      snprintf(message, sizeof(message), "ztensor: " V11 "hand_digests.zt: object '%s': component 'data': its bytes do not have its digest",
               objects[i]);
      supplied_fail(&s, supplied_add(&s, &q), "data", 0, SQLITE_ERROR, message);
      supplied_end(&s);
    }
  }
}

TEST(test_digests_that_match_or_are_not_known){
  static const char *const objects[] = { "sha256", "sha256.upper", "crc32c", "crc32c.lower", "crc32c.no0x", "unknown" };
  blob file = read_file(V11 "hand_digests.zt");
  for(size_t i=0; i<COUNT(objects); i++){
    for(int keep=0; keep<2; keep++){
      supplied s;
      zt_supply_request q;
      zt_component c;
      supplied_begin(&s);
      supplied_path(&s, V11 "hand_digests.zt");
      q = supplied_request(&s, objects[i]);
      if( keep ) q.keeps = supplied_keeps(&q);
      zt_component_find(q.file.container, q.object, ZT_TEXT("data"), &c);
      supplied_check(&s, supplied_add(&s, &q), "data", "i32", exact(file.p+c.offset, (size_t)c.length), 0);
      supplied_end(&s);
    }
  }
  free(file.p);
}

/* Bytes of an encoding that is not known stay, with the digest of what they decode to, which no one can check. */
TEST(test_digests_of_what_cannot_be_decoded){
  size_t mark;
  supplied s;
  zt_supply_request q;
  zt_error err = ZT_ERROR_NONE;
  supplied_pieces got;
  supplied_begin(&s);
  open_bytes(&s.files[s.n++], zt2_file(zt2_manifest("{'objects': {'x': {'parts': {'data': {'blob': [4096, 5], 'dtype': 'u8', 'digest':"
             " 'xxh3:0123456789abcdef', 'encoding': 'new/1', 'decoded_length': 7}}, 'shape': [7], 'layout': 'dense'}}}", &mark), 8192, 0), "new");
  q = supplied_request(&s, "x");
  q.keeps = supplied_keeps(&q);
  supplied_read(&s, supplied_component(&s, supplied_add(&s, &q), "data").supply, ALL_RULES, &got, &err);
  assert_succeeded(&err, "new");
  assert_true(got.bytes.n==5 && memcmp(got.bytes.p, "\0\0\0\0", 5)==0);
  free(got.bytes.p);
  supplied_end(&s);
}

/* A changed byte in encoded data: of zTensor 2, whose digests cover decoded bytes, of 1.2, where they cover stored ones, and of npz. */
static void check_broken(const char *path, const char *object, size_t at, bool keep, const char *message){
  blob file = read_file(path);
  supplied s;
  zt_supply_request q;
  zt_component c;
  zt_error err = { .path = "x.zt" };
  supplied_pieces got;
  supplied_begin(&s);
  supplied_path(&s, path);
  zt_component_find(s.files[0].container, (uint32_t)zt_container_find(s.files[0].container, zt_text_of(object)), ZT_TEXT("data"), &c);
  file.p[c.offset+at] ^= 0x10;
  close_opened(&s.files[0]);
  open_bytes(&s.files[0], file, path);
  q = supplied_request(&s, object);
  if( keep ) q.keeps = supplied_keeps(&q);
  supplied_read(&s, supplied_component(&s, supplied_add(&s, &q), "data").supply, 0, &got, &err);
  check( err.rc==SQLITE_ERROR && strstr(err.message, message), "%s: %s", path, err.message ? err.message : "no error" );
  zt_error_clear(&err);
  free(got.bytes.p);
  supplied_end(&s);
}

TEST(test_a_changed_byte_is_found){
  check_broken(V2 "wheel_zstd.zt", "raw", 1, true, "its bytes do not have its digest");
  check_broken(V2 "wheel_zstd.zt", "raw", 1, false, "its bytes do not have its digest");
  check_broken(V2 "wheel_zstd.zt", "u8.z", 6, true, "zt.zstd-seekable/1: a frame");   /* The digest is of decoded bytes */
  check_broken(V12 "wheel_checksums.zt", "crc32c.zstd.f32", 6, true, "its bytes do not have its digest");
  check_broken(V12 "wheel_checksums.zt", "crc32c.zstd.f32", 6, false, "its bytes do not have its digest");
  check_broken(FORMATS "npz/golden/stored.npz", "blk.0.attn.q.f32", 130, false, "its bytes do not have its digest");
}

/* --- Bytes of rows --- */

TEST(test_bytes_of_rows_wait_in_the_spool){
  static const size_t sizes[] = { 0, 1, ZT_OUTPUT_WINDOW, ZT_OUTPUT_WINDOW+1, 3*ZT_OUTPUT_WINDOW+5 };
  for(size_t i=0; i<COUNT(sizes); i++){
    supplied s;
    zt_supply supply = { .kind = ZT_SUPPLY_BYTES, .offset = 7, .length = sizes[i] };
    zt_error err = ZT_ERROR_NONE;
    blob b = { 0 };
    supplied_pieces got;
    uint32_t number;
    for(size_t k=0; k<sizes[i]; k++) put_byte(&b, (unsigned)(k*k>>3) & 0xFF);
    supplied_begin(&s);
    assert_int_equal(zt_output_open_memory(SUPPLIED_ENOUGH, &s.supplies.spool, &err), SQLITE_OK);
    zt_output_append(s.supplies.spool, (zt_span){ (const uint8_t*)"another", 7 }, &err);
    zt_output_append(s.supplies.spool, span_of(b), &err);
    assert_int_equal(zt_supplies_add(&s.supplies, &supply, &number, &err), SQLITE_OK);
    supplied_read(&s, number, ALL_RULES, &got, &err);
    assert_succeeded(&err, "spool");
    check( same_blob(got.bytes, b) && got.longest<=ZT_OUTPUT_WINDOW, "%zu bytes", got.bytes.n );
    assert_int_equal(s.opens, 0);
    free(got.bytes.p);
    free(b.p);
    supplied_end(&s);
  }
}

TEST(test_many_supplies){
  supplied s;
  supplied_begin(&s);
  for(uint32_t i=0; i<1000; i++){
    const zt_supply supply = { .kind = ZT_SUPPLY_BYTES, .offset = i };
    zt_error err = ZT_ERROR_NONE;
    uint32_t number;
    assert_int_equal(zt_supplies_add(&s.supplies, &supply, &number, &err), SQLITE_OK);
    assert_int_equal(number, i);
  }
  for(uint32_t i=0; i<1000; i++) assert_int_equal(s.supplies.a[i].offset, i);
  zt_supplies_clear(&s.supplies);
  assert_true(s.supplies.n==0 && s.supplies.a==NULL);
  supplied_end(&s);
}

/* --- Sources that change or cannot be opened --- */

static char changing_path[] = "/tmp/ztensor-supply-XXXXXX";

static int make_changing(void **state){
  const int fd = mkstemp(changing_path);
  (void)state;
  return fd<0 || close(fd) || sqlite3_initialize();
}

static int remove_changing(void **state){
  (void)state;
  return unlink(changing_path);
}

/* Two objects, of a file that changes and of an image. */
static void begin_changing(supplied *s, uint32_t object[2]){
  blob small = read_file(V11 "hand_digests.zt");
  zt_supply_request q;
  supplied_begin(s);
  write_file(changing_path, small.p, small.n);
  supplied_path(s, changing_path);
  q = supplied_request(s, "sha256");
  object[0] = supplied_add(s, &q);
  open_bytes(&s->files[s->n++], small, "image");
  q = supplied_request(s, "crc32c");
  object[1] = supplied_add(s, &q);
}

static void fail_changed(zt_error *err){
  char message[200];
  snprintf(message, sizeof(message), "ztensor: %s: the file was written to while it was read", changing_path);
  check( err->rc==SQLITE_ERROR && err->changing && strcmp(err->message, message)==0, "%s", err->message ? err->message : "no error" );
  zt_error_clear(err);
}

TEST(test_a_source_that_changes){
  for(int at_end=0; at_end<2; at_end++){
    supplied s;
    uint32_t object[2];
    zt_error err = { .path = "x.zt", .object = ZT_TEXT_INIT("w") };
    supplied_pieces got;
    begin_changing(&s, object);
    assert_int_equal(zt_supplies_unchanged(&s.supplies, &err), SQLITE_OK);   /* None was read */
    supplied_read(&s, supplied_component(&s, object[0], "data").supply, 0, &got, &err);
    free(got.bytes.p);
    write_file(changing_path, "something else", 14);
    if( at_end ) zt_supplies_unchanged(&s.supplies, &err);
    else{
      supplied_read(&s, supplied_component(&s, object[1], "data").supply, 0, &got, &err);
      assert_int_equal(got.n, 0);
    }
    fail_changed(&err);
    supplied_end(&s);
  }
}

/* Reading is checked once for all parts of a file in a row; an image does not change. */
TEST(test_sources_that_stay){
  supplied s;
  uint32_t object[2];
  zt_error err = { .path = "x.zt", .object = ZT_TEXT_INIT("w") };
  begin_changing(&s, object);
  for(int i=0; i<5; i++){
    supplied_pieces got;
    supplied_read(&s, supplied_component(&s, object[i%2], "data").supply, 0, &got, &err);
    assert_succeeded(&err, "stays");
    assert_int_equal(got.bytes.n, 28);
    free(got.bytes.p);
  }
  assert_int_equal(zt_supplies_unchanged(&s.supplies, &err), SQLITE_OK);
  assert_string_equal(err.path, "x.zt");
  assert_text(err.object, "w", "place");
  assert_int_equal(s.supplies.reading, 0);
  supplied_end(&s);
}

TEST(test_a_source_that_cannot_be_opened){
  for(int at=1; at<=3; at++){
    supplied s;
    uint32_t object[2];
    zt_error err = ZT_ERROR_NONE;
    supplied_pieces got = { .n = 0 };
    begin_changing(&s, object);
    s.fails_at = at;
    if( supplied_read(&s, supplied_component(&s, object[0], "data").supply, 0, &got, &err)==SQLITE_OK ){   /* 1 */
      free(got.bytes.p);
      supplied_read(&s, supplied_component(&s, object[1], "data").supply, 0, &got, &err);   /* 2: the first, whether it changed; 3 */
    }
    check( err.rc==SQLITE_ERROR && strcmp(err.message, "ztensor: cannot open it")==0 && s.opens==at, "%d: %s", at, err.message );
    zt_error_clear(&err);
    supplied_end(&s);
  }
}

/* Whoever takes the bytes ends it by a failure. */
typedef struct refusing {
  int taken, fails_at;
  zt_error *err;
} refusing;

static void take_some(void *context, zt_span bytes){
  refusing *r = context;
  (void)bytes;
  check( !r->err->rc, "more after the failure" );
  if( ++r->taken==r->fails_at ) zt_fail(r->err, SQLITE_FULL, "enough");
}

TEST(test_whoever_takes_the_bytes_may_end_it){
  enum { ROWS = 50000 };   /* More pointers than are given at once */
  recipe r = { .format = "sparse_csr", .rank = 2, .shape = { ROWS, 4 } };
  static const char *const roles[] = { "values", "indices", "indptr" };
  blob indptr = { 0 };
  supplied s;
  zt_supply_request q;
  uint32_t number;
  for(unsigned i=0; i<=ROWS; i++) put_le64(&indptr, i>0);
  add_part(&r, "values", "u8", NULL, blob_of("07"));
  add_part(&r, "indices", "u8", NULL, blob_of("03"));
  add_part(&r, "indptr", "u64", NULL, indptr);
  q = supplied_alone(&s, &r);
  number = supplied_add(&s, &q);
  for(size_t i=0; i<COUNT(roles); i++){
    for(int at=1; at<=(i==2 ? 4 : 1); at++){
      zt_error err = ZT_ERROR_NONE;
      refusing taking = { .fails_at = at, .err = &err };
      zt_supply_read(&s.supplies, supplied_component(&s, number, roles[i]).supply, 0, &s.budget, take_some, &taking, &err);
      check( err.rc==SQLITE_FULL && taking.taken==at, "%s: %d, %d", roles[i], err.rc, taking.taken );
      zt_error_clear(&err);
    }
  }
  supplied_end(&s);
}

/* --- Interrupts --- */

/* At any question, whatever is read: nothing comes after it. */
static void check_interrupts(supplied *s, uint32_t supply, unsigned rules){
  caller c = { .stop_at = 0 };
  zt_error err = ZT_ERROR_NONE;
  supplied_pieces got;
  int asked;
  s->budget.interrupt = (zt_interrupt){ .interrupted = caller_stops, .context = &c };
  supplied_read(s, supply, rules, &got, &err);
  assert_succeeded(&err, "not interrupted");
  free(got.bytes.p);
  asked = c.asked;
  check( asked>0, "supply %u: never asked", supply );
  for(int at=1; at<=asked; at+=1+asked/7){
    c = (caller){ .stop_at = at };
    supplied_read(s, supply, rules, &got, &err);
    check( err.rc==SQLITE_INTERRUPT && c.asked==at, "supply %u: %d of %d, %d", supply, at, asked, err.rc );
    zt_error_clear(&err);
    free(got.bytes.p);
  }
  s->budget.interrupt = (zt_interrupt){ .context = NULL };
}

TEST(test_interrupts){
  enum { MANY = 2500000 };   /* More than ZT_TENSOR_POLL */
  recipe r = { .format = "sparse_coo", .rank = 2, .shape = { 2, MANY } };
  zt_supply spooled = { .kind = ZT_SUPPLY_BYTES, .length = 3*ZT_OUTPUT_WINDOW };
  zt_error err = ZT_ERROR_NONE;
  blob values = { 0 }, coords = { 0 };
  supplied s;
  zt_supply_request q;
  uint32_t number;
  put_repeated(&values, 0, 8*MANY);
  put_repeated(&coords, 0, 8*MANY);
  for(unsigned i=0; i<MANY; i++) put_le64(&coords, MANY-1-i);
  add_part(&r, "values", "f64", NULL, values);
  add_part(&r, "coords", "u64", NULL, coords);
  q = supplied_alone(&s, &r);
  number = supplied_add(&s, &q);
  check_interrupts(&s, supplied_component(&s, number, "values").supply, 0);
  check_interrupts(&s, supplied_component(&s, number, "values").supply, ZT_RULE_CELLS_UNIQUE);
  check_interrupts(&s, supplied_component(&s, number, "coords").supply, 0);
  q.dense = true;
  q.name = ZT_TEXT("dense");
  check_interrupts(&s, supplied_component(&s, supplied_add(&s, &q), "data").supply, 0);
  q.dense = false;
  q.keeps = supplied_keeps(&q);
  q.name = ZT_TEXT("kept");
  check_interrupts(&s, supplied_component(&s, supplied_add(&s, &q), "values").supply, 0);
  assert_int_equal(zt_output_open_memory(SUPPLIED_ENOUGH, &s.supplies.spool, &err), SQLITE_OK);
  assert_int_equal(zt_output_append_zeros(s.supplies.spool, spooled.length, &err), SQLITE_OK);
  zt_supplies_add(&s.supplies, &spooled, &number, &err);
  check_interrupts(&s, number, 0);
  supplied_end(&s);
}

int main(void){
  return run_all("supply_stored", make_changing, remove_changing);
}
