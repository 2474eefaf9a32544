/*
** zip64 in npz (container/npz_encoder.c): sizes, offsets and numbers of members beyond what zip's older fields hold. No bytes of the
** members are written: they are holes, or none.
*/
#include "drafts.h"

#include "container/zip.h"

#define GIB ((uint64_t)1<<30)

/* Members' stored and decoded bytes, without the header; n: their number. */
typedef struct member {
  uint64_t stored, decoded;
} member;

static const member *members;

/* A run's part(): a header, and a hole. */
static int append_hole(zt_encoder_run *run, uint32_t object, uint32_t place, zt_stored *out, zt_error *err){
  zt_draft_component c;
  (void)object;
  zt_draft_component_get(run->draft, place, &c);
  *out = (zt_stored){ .offset = zt_output_size(run->output), .crc32 = 0xC0FFEE00u + c.supply };
  if( zt_output_append(run->output, run->prefix, err)
   || zt_output_append_zeros(run->output, members[c.supply].stored, err) ) return err->rc;
  out->length = run->prefix.n+members[c.supply].stored;
  return zt_draft_store(run->draft, place, out->offset, out->length, ZT_TEXT(""), err);
}

/* A file of u8 tensors n0, n1 ..., which is never placed; close the output. */
static zt_output *write_members(const member *a, uint32_t n, zt_draft **draft){
  static const char path[] = "/tmp/ztensor-zip64-test.npz";
  const zt_encoder *e = zt_encoder_named(ZT_TEXT("npz"));
  zt_error err = ZT_ERROR_NONE;
  zt_encoder_options options = e->defaults;
  zt_encoder_run run = { .draft = new_draft(), .options = &options, .part = append_hole };
  uint32_t *order;
  members = a;
  for(uint32_t i=0; i<n; i++){
    zt_draft_component c = { .role = ZT_TEXT_INIT("data"), .element = zt_dtype_get(ZT_DTYPE_u8), .supply = i, .decoded_length = a[i].decoded,
                             .codec = a[i].stored==a[i].decoded ? ZT_CODEC_RAW : ZT_CODEC_DEFLATE };
    char name[20];
    snprintf(name, sizeof(name), "n%u", i);
    zt_draft_add_component(run.draft, add_dense(run.draft, name, 1, &a[i].decoded, &err), &c, &err);
  }
  options.by_row = true;
  order = zt_draft_sort(run.draft, NULL, NULL, &err);
  run.order = order;
  if( !err.rc && check_draft(e, run.draft, &err)==SQLITE_OK && zt_output_open(path, NULL, ZT_OUTPUT_REPLACE, false, &run.output, &err)==SQLITE_OK ){
    e->write(&run, &err);
  }
  assert_succeeded(&err, "members");
  sqlite3_free(order);
  *draft = run.draft;
  return run.output;
}

/* The last n bytes of the file. */
static blob tail_of(zt_output *o, size_t n){
  zt_error err = ZT_ERROR_NONE;
  blob b = { malloc(n), n, n };
  assert_non_null(b.p);
  zt_output_read(o, zt_output_size(o)-n, b.p, n, &err);
  assert_succeeded(&err, "tail");
  return b;
}

/* Bytes at a place, as numbers: fields of the widths in `widths`, a digit each. */
static void check_fields(zt_output *o, uint64_t at, const char *widths, const uint64_t *expected, const char *row){
  for(size_t i=0; widths[i]; i++){
    const unsigned n = (unsigned)(widths[i]-'0');
    uint8_t bytes[8] = { 0 };
    zt_error err = ZT_ERROR_NONE;
    zt_output_read(o, at, bytes, n, &err);
    assert_succeeded(&err, row);
    check( zt_le64(bytes)==expected[i], "%s: field %zu is 0x%llx", row, i, (unsigned long long)zt_le64(bytes) );
    at += n;
  }
}

/* This program's reader finds the members where they are. */
static void check_read(zt_output *o, const member *a, uint32_t n, zt_draft *d){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source = NULL;
  zt_container *c = NULL;
  if( zt_output_source(o, &source, &err)==SQLITE_OK ) zt_container_open(source, NULL, &c, &err);
  assert_succeeded(&err, "read");
  assert_int_equal(zt_container_objects(c), n);
  for(uint32_t i=0; i<n; i++){
    zt_component found;
    zt_draft_component data;
    zt_object object;
    zt_container_object(c, i, &object);
    assert_true(zt_text_equal(object.name, zt_draft_name(d, i)) && object.shape[0]==a[i].decoded);
    zt_container_component(c, i, i, ZT_COMPONENT_ALL, &found);
    zt_draft_data(d, i, &data);
    check( found.offset==data.offset && found.length==data.length, "%u: [%llu, %llu]", i, (unsigned long long)found.offset,
           (unsigned long long)found.length );
  }
  zt_container_close(c);
  zt_source_close(source);
}

#define LOCAL (30+6+20)      /* A local header with the name "n0.npy" and the sizes of zip64 */
#define HEADER 128           /* Of a short npy */
#define END64 76             /* The records of zip64 */
#define END 22

/* --- Sizes --- */

/* Beyond 2^31-1 bytes, sizes are in an entry's extra field, and so is the place of what follows. */
TEST(test_a_member_of_more_than_2_gib){
  static const member a[] = { { 2*GIB-HEADER, 2*GIB-HEADER }, { 3, 3 } };
  zt_draft *d;
  zt_output *o = write_members(a, 2, &d);
  const uint64_t second = LOCAL+2*GIB, directory = second+LOCAL+HEADER+3;
  check_fields(o, 0, "422222444", (const uint64_t[]){ 0x04034b50, 45, 0, 0, 0, 0x21, 0xC0FFEE00, UINT32_MAX, UINT32_MAX }, "local");
  check_fields(o, 26, "22", (const uint64_t[]){ 6, 20 }, "local");
  check_fields(o, 36, "2288", (const uint64_t[]){ 1, 16, 2*GIB, 2*GIB }, "local");
  check_fields(o, directory, "41122222444", (const uint64_t[]){ 0x02014b50, 45, 3, 45, 0, 0, 0, 0x21, 0xC0FFEE00, UINT32_MAX, UINT32_MAX }, "entry");
  check_fields(o, directory+28, "2222244", (const uint64_t[]){ 6, 20, 0, 0, 0, 0x01800000, 0 }, "entry");
  check_fields(o, directory+52, "2288", (const uint64_t[]){ 1, 16, 2*GIB, 2*GIB }, "entry");
  check_fields(o, directory+72, "4", (const uint64_t[]){ 0x02014b50 }, "second");
  check_fields(o, directory+72+16, "44422", (const uint64_t[]){ 0xC0FFEE01, HEADER+3, HEADER+3, 6, 12 }, "second");
  check_fields(o, directory+72+42, "4", (const uint64_t[]){ UINT32_MAX }, "second");
  check_fields(o, directory+72+52, "228", (const uint64_t[]){ 1, 8, second }, "second");
  assert_int_equal(zt_output_size(o), directory+72+64+END64+END);
  check_fields(o, directory+136, "4822448888", (const uint64_t[]){ 0x06064b50, 44, 45, 45, 0, 0, 2, 2, 136, directory }, "end");
  check_fields(o, directory+136+56, "4484", (const uint64_t[]){ 0x07064b50, 0, directory+136, 1 }, "place of the end");
  check_fields(o, directory+136+END64, "42222442", (const uint64_t[]){ 0x06054b50, 0, 0, 2, 2, 136, directory, 0 }, "old end");
  check_read(o, a, 2, d);
  zt_output_close(o);
  zt_draft_free(d);
}

/* One byte less needs none of it. */
TEST(test_a_member_of_just_less){
  static const member a[] = { { 2*GIB-1-HEADER, 2*GIB-1-HEADER } };
  zt_draft *d;
  zt_output *o = write_members(a, 1, &d);
  const uint64_t directory = LOCAL+2*GIB-1;
  check_fields(o, directory+16, "44422", (const uint64_t[]){ 0xC0FFEE00, 2*GIB-1, 2*GIB-1, 6, 0 }, "entry");
  assert_int_equal(zt_output_size(o), directory+52+END64+END);   /* But the directory begins behind 2^31-1 */
  check_read(o, a, 1, d);
  zt_output_close(o);
  zt_draft_free(d);
}

/* Decoded bytes alone are many; the file is short. */
TEST(test_a_member_that_decodes_to_more){
  static const member a[] = { { 1000, 5*GIB } };
  zt_draft *d;
  zt_output *o = write_members(a, 1, &d);
  const uint64_t directory = LOCAL+HEADER+1000;
  check_fields(o, 36, "2288", (const uint64_t[]){ 1, 16, HEADER+5*GIB, HEADER+1000 }, "local");
  check_fields(o, directory+10, "2", (const uint64_t[]){ ZT_ZIP_DEFLATE }, "entry");
  check_fields(o, directory+52, "2288", (const uint64_t[]){ 1, 16, HEADER+5*GIB, HEADER+1000 }, "entry");
  assert_int_equal(zt_output_size(o), directory+72+END);   /* Its end is the older one's */
  zt_output_close(o);
  zt_draft_free(d);
}

/* Beyond 2^32 bytes, with every field of zip64. */
TEST(test_members_behind_4_gib){
  static const member a[] = { { 5*GIB, 5*GIB }, { 3*GIB, 3*GIB } };
  zt_draft *d;
  zt_output *o = write_members(a, 2, &d);
  const uint64_t second = LOCAL+HEADER+5*GIB, directory = second+LOCAL+HEADER+3*GIB;
  check_fields(o, directory+52, "2288", (const uint64_t[]){ 1, 16, HEADER+5*GIB, HEADER+5*GIB }, "first");
  check_fields(o, directory+72+52, "22888", (const uint64_t[]){ 1, 24, HEADER+3*GIB, HEADER+3*GIB, second }, "second");
  check_fields(o, directory+72+80+END64, "42222442", (const uint64_t[]){ 0x06054b50, 0, 0, 2, 2, 152, UINT32_MAX, 0 }, "old end");
  check_read(o, a, 2, d);
  zt_output_close(o);
  zt_draft_free(d);
}

/* --- Numbers of members --- */

TEST(test_more_members_than_16_bits_count){
  for(uint32_t n=65535; n<=65536; n++){
    member *a = calloc(n, sizeof(*a));
    zt_draft *d;
    zt_output *o;
    blob tail;
    assert_non_null(a);
    o = write_members(a, n, &d);
    tail = tail_of(o, END+END64);
    assert_int_equal(zt_le32(tail.p+END64), 0x06054b50);
    assert_int_equal(zt_le32(tail.p+END64+8), 0xFFFFFFFF);   /* Twice, on this disk and of all */
    check( (zt_le32(tail.p)==0x06064b50)==(n==65536), "%u members", n );
    if( n==65536 ) assert_true(zt_le64(tail.p+24)==n && zt_le64(tail.p+32)==n);
    check_read(o, a, n, d);
    free(tail.p);
    free(a);
    zt_output_close(o);
    zt_draft_free(d);
  }
}

int main(void){
  return run_all("npz_encoder", NULL, NULL);
}
