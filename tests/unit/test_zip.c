/* container/zip: the directory of an archive, and where its members' data is. */
#include "archive.h"

#include <unistd.h>
#include "container/zip.h"
#include "core/host.h"

static zt_error err;
static zt_source *source;
static zt_zip *zip;
static blob file;

static int setup(void **state){
  (void)state;
  err = ZT_ERROR_NONE;
  source = NULL;
  zip = NULL;
  file = (blob){ 0 };
  return sqlite3_initialize();
}

static int teardown(void **state){
  (void)state;
  zt_zip_close(zip);
  zt_source_close(source);
  free(file.p);
  zt_error_clear(&err);
  return 0;
}

static int open_bytes(blob bytes){
  teardown(NULL);
  setup(NULL);
  file = bytes;
  assert_int_equal(zt_source_open_image(span_of(file), &source, &err), SQLITE_OK);
  return zt_zip_open(source, NULL, &zip, &err);
}

static void expect_open(blob bytes, const char *row){
  open_bytes(bytes);
  assert_succeeded(&err, row);
  assert_non_null(zip);
}

static void expect_refused(blob bytes, const char *rule, const char *what, const char *row){
  open_bytes(bytes);
  assert_null(zip);
  check( err.rule && strcmp(err.rule, rule)==0, "%s: rule %s, %s", row, err.rule ? err.rule : "none",
         err.message ? err.message : "" );
  assert_failed(&err, what, row);
}

/* The first `n` bytes of a member's data. */
static void expect_data(uint32_t i, size_t n, const char *data, const char *row){
  uint8_t buffer[128];
  zt_zip_member m;
  uint64_t offset;
  size_t got;
  zt_zip_member_at(zip, i, &m);
  zt_zip_locate(zip, source, &m, &offset, buffer, n, &got, &err);
  assert_succeeded(&err, row);
  check( got==strlen(data) && memcmp(buffer, data, got)==0, "%s: %u bytes", row, (unsigned)got );
  check( got==0 || memcmp(file.p+offset, data, got)==0, "%s", row );
}

static void expect_fault(uint32_t i, const char *rule, const char *what, const char *row){
  zt_zip_member m;
  uint64_t offset;
  size_t got;
  zt_zip_member_at(zip, i, &m);
  assert_int_not_equal(zt_zip_locate(zip, source, &m, &offset, NULL, 0, &got, &err), SQLITE_OK);
  check( strcmp(err.rule, rule)==0, "%s: %s", row, err.rule );
  assert_failed(&err, what, row);
}

TEST_WITH(test_members, setup, teardown){
  archive a = { 0 };
  zt_zip_member m;
  add_member(&a, (archived){ .name = "a.npy", .data = "first", .padding = 9 });
  add_member(&a, (archived){ .name = "b", .data = "", .method = 8, .size = 77 });
  add_member(&a, (archived){ .name = "long", .data = "0123456789", .padding = 500 });
  expect_open(end_archive(&a, ""), "three");
  assert_int_equal(zt_zip_members(zip), 3);
  zt_zip_member_at(zip, 0, &m);
  assert_text(m.name, "a.npy", "name");
  assert_int_equal(m.header, 0);
  assert_int_equal(m.stored, 5);
  assert_int_equal(m.size, 5);
  assert_int_equal(m.crc, 0x12345678);
  assert_int_equal(m.method, ZT_ZIP_STORED);
  assert_null(m.fault);
  zt_zip_member_at(zip, 1, &m);
  assert_int_equal(m.method, ZT_ZIP_DEFLATE);
  assert_int_equal(m.stored, 0);
  assert_int_equal(m.size, 77);
  expect_data(0, 0, "", "none");
  expect_data(0, 3, "fir", "some");
  expect_data(0, 100, "first", "all there are");
  expect_data(1, 100, "", "empty");
  expect_data(2, 4, "0123", "behind more extra fields than usual");
}

TEST_WITH(test_an_archive_may_be_empty, setup, teardown){
  archive a = { 0 };
  expect_open(end_archive(&a, ""), "no member");
  assert_int_equal(zt_zip_members(zip), 0);
  assert_int_equal(zt_zip_find(zip, ZT_TEXT("a"), &err), -1);
  a = (archive){ 0 };
  assert_false(zt_zip_has_comment(zip));
  expect_open(end_archive(&a, "with a comment"), "no member, a comment");
  assert_true(zt_zip_has_comment(zip));
}

/* The archive's, which its zip64 record does not have, or a member's. */
TEST_WITH(test_an_archive_has_a_comment, setup, teardown){
  for(int which=0; which<4; which++){
    archive a = { 0 };
    uint64_t offset;
    add_member(&a, (archived){ .name = "w", .data = "data" });
    if( which==1 ){
      put(&a.directory, "of w", 4);
      a.directory.p[32] = 4;
    }
    offset = a.bytes.n;
    put(&a.bytes, a.directory.p, a.directory.n);
    if( which>1 ) put_end64(&a.bytes, 1, a.directory.n, offset, offset+a.directory.n);
    put_end(&a.bytes, which>1 ? 0xFFFF : 1, a.directory.n, offset, which==3 ? "of all" : "");
    free(a.directory.p);
    expect_open(seal(&a.bytes), "comments");
    check( zt_zip_has_comment(zip)==(which==1 || which==3), "%d", which );
  }
}

TEST_WITH(test_comments, setup, teardown){
  archive a = { 0 };
  char *comment = malloc(65536);
  memset(comment, 'x', 65535);
  comment[65535] = 0;
  add_member(&a, (archived){ .name = "w", .data = "data" });
  expect_open(end_archive(&a, comment), "the longest");
  a = (archive){ 0 };
  add_member(&a, (archived){ .name = "w", .data = "data" });
  expect_open(end_archive(&a, "PK\5\6 a signature alone, which is no record"), "a signature");
  assert_int_equal(zt_zip_members(zip), 1);
  /* A whole record, without a NUL to end the string: it says more than the file has */
  a = (archive){ 0 };
  add_member(&a, (archived){ .name = "w", .data = "data" });
  expect_open(end_archive(&a, "PK\5\6\1\1\1\1\1\1\1\1\7\7\7\7\7\7\7\7\1\1PK\5\6"), "a record");
  assert_int_equal(zt_zip_members(zip), 1);
  free(comment);
}

/* A directory that would be longer than all before its end record: the zip64 record counts, if its locator leads to one. */
TEST_WITH(test_a_directory_beyond_the_file, setup, teardown){
  for(int lost=0; lost<2; lost++){
    archive a = { 0 };
    uint64_t offset;
    add_member(&a, (archived){ .name = "w", .data = "data" });
    offset = a.bytes.n;
    put(&a.bytes, a.directory.p, a.directory.n);
    put_end64(&a.bytes, 1, a.directory.n, offset, offset+a.directory.n+(lost ? 1000 : 0));
    put_end(&a.bytes, 1, 0x7F000000, offset, "");
    free(a.directory.p);
    if( lost ) expect_refused(seal(&a.bytes), "ZP3", "behind itself", "lost");
    else expect_open(seal(&a.bytes), "a record");
    if( !lost ) expect_data(0, 9, "data", "a record");
  }
}

/* The directory is a hole, of which nothing is read. */
TEST_WITH(test_a_directory_of_more_than_a_gigabyte, setup, teardown){
  char path[] = "/tmp/ztensor-zip-XXXXXX";
  const uint64_t size = ((uint64_t)1<<30)+1;
  blob end = { 0 };
  FILE *f;
  close(mkstemp(path));
  extend_file(path, size);
  put_end(&end, 1, size, 0, "");
  f = fopen(path, "ab");
  assert_int_equal(fwrite(end.p, 1, end.n, f), end.n);
  assert_int_equal(fclose(f), 0);
  free(end.p);
  assert_int_equal(zt_source_open(path, NULL, &source, &err), SQLITE_OK);
  assert_int_equal(zt_zip_open(source, NULL, &zip, &err), SQLITE_ERROR);
  assert_string_equal(err.rule, "ZP2");
  assert_failed(&err, "a directory of 1073741825 bytes, which is more than 1 GiB", "large");
  assert_null(zip);
  zt_source_close(source);
  source = NULL;
  assert_int_equal(unlink(path), 0);
}

/* It is read in pieces of 16 MiB. */
TEST_WITH(test_a_directory_of_several_pieces, setup, teardown){
  enum { NAME = 60000, MEMBERS = 290 };
  char *name = calloc(1, NAME+1);
  archive a = { 0 };
  assert_non_null(name);
  memset(name, 'n', NAME);
  for(int i=0; i<MEMBERS; i++){
    memcpy(name, (const char[]){ (char)('0'+i%64), (char)('0'+i/64) }, 2);
    add_member(&a, (archived){ .name = name, .data = "data" });
  }
  expect_open(end_archive(&a, ""), "pieces");
  assert_int_equal(zt_zip_members(zip), MEMBERS);
  for(uint32_t i=0; i<MEMBERS; i++){
    zt_zip_member m;
    zt_zip_member_at(zip, i, &m);
    assert_true(m.name.n==NAME && m.name.z[0]==(char)('0'+i%64) && m.name.z[1]==(char)('0'+i/64));
    expect_data(i, 9, "data", "pieces");
  }
  free(name);
}

/* It was cut short after its directory was read. */
TEST_WITH(test_a_local_name_that_is_gone, setup, teardown){
  char path[] = "/tmp/ztensor-zip-XXXXXX", buffer[8];
  archive a = { 0 };
  zt_zip_member m;
  zt_text name;
  blob b;
  add_member(&a, (archived){ .name = "w", .data = "data" });
  b = end_archive(&a, "");
  close(mkstemp(path));
  write_file(path, b.p, b.n);
  free(b.p);
  assert_int_equal(zt_source_open(path, NULL, &source, &err), SQLITE_OK);
  assert_int_equal(zt_zip_open(source, NULL, &zip, &err), SQLITE_OK);
  assert_int_equal(truncate(path, 20), 0);
  zt_zip_member_at(zip, 0, &m);
  assert_int_equal(zt_zip_local_name(zip, source, &m, buffer, sizeof(buffer), &name, &err), SQLITE_ERROR);
  assert_failed(&err, "the file was cut short while it was read", "gone");
  assert_int_equal(unlink(path), 0);
}

TEST_WITH(test_the_end_record, setup, teardown){
  archive a = { 0 };
  blob b = { 0 };
  put_repeated(&b, 'x', 100);
  expect_refused(seal(&b), "ZP1", "end record is missing", "none");
  expect_refused(blob_of("504b0506"), "ZP1", "end record is missing", "short");
  add_member(&a, (archived){ .name = "w", .data = "data" });
  b = end_archive(&a, "");
  b.n--;
  expect_refused(b, "ZP1", "cut short", "cut");
  b = (blob){ 0 };
  put_end(&b, 0, 0, 1000, "");
  expect_refused(seal(&b), "ZP2", "does not end at its end record", "elsewhere");
  put_end(&b, 1, 0, 0, "");
  expect_refused(seal(&b), "ZP4", "more than a directory", "more entries than bytes");
  put_end(&b, 0, 0, 0, "");
  b.p[6] = 1;
  expect_refused(seal(&b), "ZP2", "not all here", "in another part");
}

/* As Python's zipfile and torch's miniz have it: bytes may follow the last signature of an end record, as many as a comment has */
TEST_WITH(test_bytes_behind_the_archive, setup, teardown){
  static const struct { size_t n; const char *text; bool refused; } rows[] = {
    { 1, "", false }, { 1, "x", false }, { 22, "PK\5", false }, { 65535, "", false }, { 65536, "", true }, { 22, "PK\5\6", true }, { 40, "PK\5\6", true },
  };
  for(int comment=0; comment<2; comment++){
    for(size_t i=0; i<COUNT(rows); i++){
      archive a = { 0 };
      blob b, behind = { 0 };
      add_member(&a, (archived){ .name = "w", .data = "data" });
      b = end_archive(&a, comment && rows[i].n<1000 ? "with a comment" : "");
      put(&behind, rows[i].text, strlen(rows[i].text));
      put_repeated(&behind, 0, rows[i].n-behind.n);
      put(&b, behind.p, behind.n);
      free(behind.p);
      if( rows[i].refused ){
        /* A record whose comment says that it ends there, but not where its directory is */
        expect_refused(seal(&b), i==4 ? "ZP1" : "ZP2", i==4 ? "cut short" : "does not end at its end record", "behind");
        continue;
      }
      expect_open(seal(&b), "behind");
      assert_int_equal(zt_zip_members(zip), 1);
      expect_data(0, 4, "data", "behind");
    }
  }
}

static blob one_archive(const char *name, bool wide){
  archive a = { 0 };
  uint64_t offset;
  add_member(&a, (archived){ .name = name, .data = "data" });
  if( !wide ) return end_archive(&a, "");
  offset = a.bytes.n;
  put(&a.bytes, a.directory.p, a.directory.n);
  put_end64(&a.bytes, 1, a.directory.n, offset, offset+a.directory.n);
  put_end(&a.bytes, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, "");
  free(a.directory.p);
  return seal(&a.bytes);
}

/* Archives, one behind the other, as torch.distributed.checkpoint writes them, also with bytes behind: none is shown as if it were all. If
** the offsets are another archive's, or the last one's first member or directory is not where they say, the file is broken. */
TEST_WITH(test_an_archive_behind_another, setup, teardown){
  for(int i=0; i<16; i++){
    const bool wide = i&1, behind = i&2;
    const int change = i>>2;
    char said[64];
    blob b = one_archive("v", wide), last = one_archive("w", wide);
    const size_t begin = b.n, directory = begin+last.n-22-(wide ? 76 : 0)-47;
    snprintf(said, sizeof(said), "the last one begins at byte %zu", begin);
    put(&b, last.p, last.n);
    free(last.p);
    if( behind ) put(&b, "behind", 6);
    if( change==1 ) b.p[begin] = 'Q';
    if( change==2 ) b.p[directory] = 'Q';
    if( change==3 ) b.p[begin+last.n-(wide ? 22+20-8 : 6)] ^= 1;   /* The locator's offset; the end record's */
    if( change==0 ) expect_refused(seal(&b), "ZP12", said, "two");
    else expect_refused(seal(&b), wide ? "ZP3" : "ZP2", wide ? "no record begins" : "does not end at its end record", "two");
  }
}

TEST_WITH(test_entries, setup, teardown){
  for(int i=0; i<4; i++){
    archive a = { 0 };
    blob b;
    add_member(&a, (archived){ .name = "v", .data = "data" });
    add_member(&a, (archived){ .name = "w", .data = "data" });
    b = end_archive(&a, "");
    if( i==0 ) b.p[b.n-22+8] = b.p[b.n-22+10] = 1;              /* Fewer than there are */
    if( i==1 ) b.p[b.n-22-47] = 'Q';                            /* No signature */
    if( i==2 ) b.p[b.n-22-47+28] = 2;                           /* A longer name */
    if( i==3 ) b.p[b.n-22-47+32] = 1;                           /* A comment */
    expect_refused(b, "ZP4", i==0 ? "goes on" : "number 1 is not whole", "entries");
  }
}

TEST_WITH(test_zip64, setup, teardown){
  archive a = { 0 };
  blob b;
  uint64_t offset;
  for(int i=0; i<5; i++){
    a = (archive){ 0 };
    add_member(&a, (archived){ .name = "w", .data = "data" });
    offset = a.bytes.n;
    put(&a.bytes, a.directory.p, a.directory.n);
    put_end64(&a.bytes, i==3 ? 2 : 1, a.directory.n, offset,
              offset+a.directory.n+(i==1 ? 1000 : i==2 ? (uint64_t)-4 : 0));
    if( i==4 ) put_end(&a.bytes, 1, a.directory.n, offset, "");
    else put_end(&a.bytes, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, "");
    free(a.directory.p);
    b = seal(&a.bytes);
    switch( i ){
      case 0: case 4:
        expect_open(b, "sound");
        assert_int_equal(zt_zip_members(zip), 1);
        expect_data(0, 9, "data", "sound");
        break;
      case 1: expect_refused(b, "ZP3", "behind itself", "beyond"); break;
      case 2: expect_refused(b, "ZP3", "no record begins", "elsewhere"); break;
      case 3: expect_refused(b, "ZP4", "more than a directory", "more entries"); break;
    }
  }
  put_end(&a.bytes, 0xFFFF, 0, 0, "");
  expect_refused(seal(&a.bytes), "ZP4", "65535 entries", "no locator");
}

TEST_WITH(test_zip64_fields, setup, teardown){
  archive a = { 0 };
  zt_zip_member m;
  add_member(&a, (archived){ .name = "a", .data = "data", .method = 8, .size = 0xFFFFFFFF,
                             .extra = "9999 0100 00 0100 0800 0000000001000000" });
  add_member(&a, (archived){ .name = "b", .data = "data", .size = 0xFFFFFFFF, .stored = 0xFFFFFFFF,
                             .extra = "0100 1000 0400000000000000 0400000000000000" });
  add_member(&a, (archived){ .name = "c", .data = "data", .size = 0xFFFFFFFF });
  add_member(&a, (archived){ .name = "d", .data = "data", .size = 0xFFFFFFFF, .stored = 0xFFFFFFFF,
                             .extra = "0100 0800 0400000000000000" });
  add_member(&a, (archived){ .name = "e", .data = "data", .size = 0xFFFFFFFF, .stored = 0xFFFFFFFF,
                             .extra = "0100 1000 ffffffffffffffff ffffffffffffffff" });
  add_member(&a, (archived){ .name = "f", .data = "data", .header = 0xFFFFFFFF,
                             .extra = "0100 0800 ffffffffffffff7f" });
  add_member(&a, (archived){ .name = "g", .data = "data", .size = 0xFFFFFFFF,
                             .extra = "0100 0900 0400000000000000" });
  expect_open(end_archive(&a, ""), "fields");
  zt_zip_member_at(zip, 0, &m);
  assert_null(m.fault);
  assert_true(m.size==(uint64_t)1<<32);
  expect_data(1, 9, "data", "both sizes");
  expect_fault(2, "ZP5", "zip64", "none");
  expect_fault(3, "ZP5", "zip64", "too short");
  expect_fault(4, "ZP6", "directory", "huge");
  expect_fault(5, "ZP6", "directory", "a place behind all");
  expect_fault(6, "ZP5", "zip64", "a field that goes beyond");
}

TEST_WITH(test_zip64_places, setup, teardown){
  archive a = { 0 };
  blob b = { 0 }, bare;
  add_member(&a, (archived){ .name = "a", .data = "data", .header = 0xFFFFFFFF, .extra = "0100 0800 ffffffffffffffff" });
  add_member(&a, (archived){ .name = "b", .data = "data", .header = 0xFFFFFFFF, .extra = "0100 0800 f0ffffffffffffff" });
  add_member(&a, (archived){ .name = "c", .data = "data", .header = 0xFFFFFFFF });
  add_member(&a, (archived){ .name = "d", .data = "data", .disk = 0xFFFF });
  add_member(&a, (archived){ .name = "e", .data = "data", .disk = 0xFFFF, .extra = "0100 0400 00000000" });
  put(&b, "MZ", 2);   /* A program, which the places do not count */
  bare = end_archive(&a, "");
  put(&b, bare.p, bare.n);
  free(bare.p);
  expect_open(seal(&b), "places");
  expect_fault(0, "ZP6", "directory", "the largest place");
  expect_fault(1, "ZP6", "directory", "a place whose header would end beyond 64 bits");
  expect_fault(2, "ZP5", "zip64", "no place");
  expect_fault(3, "ZP5", "zip64", "no disk");
  expect_data(4, 9, "data", "a disk");
}

/* A field that says that the number is elsewhere, and no zip64 record. */
TEST_WITH(test_fields_of_the_end_record_without_zip64, setup, teardown){
  static const struct { size_t at, n; const char *rule; } rows[] = {
    { 4, 2, "ZP2" }, { 6, 2, "ZP2" }, { 8, 2, "ZP2" }, { 10, 2, "ZP2" }, { 12, 4, "ZP2" }, { 16, 4, "ZP2" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    archive a = { 0 };
    blob b;
    char row[16];
    snprintf(row, sizeof(row), "row %d", (int)i);
    add_member(&a, (archived){ .name = "w", .data = "data" });
    b = end_archive(&a, "");
    memset(b.p+b.n-22+rows[i].at, 0xFF, rows[i].n);
    expect_refused(b, rows[i].rule, "", row);
  }
}

/* A zip64 record of another size than that which its locator leaves for it. */
TEST_WITH(test_the_size_of_a_zip64_record, setup, teardown){
  archive a = { 0 };
  blob b = { 0 };
  add_member(&a, (archived){ .name = "w", .data = "data" });
  put(&b, a.bytes.p, a.bytes.n);
  put(&b, a.directory.p, a.directory.n);
  put_end64(&b, 1, a.directory.n, a.bytes.n, b.n);
  put_end(&b, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, "");
  free(a.directory.p);
  free(a.bytes.p);
  b.p[b.n-22-20-56+4]++;
  expect_refused(seal(&b), "ZP3", "no record begins", "a size");
}

/* One of the members that follow each other closely has a name that is longer than is read at once. */
TEST_WITH(test_a_very_long_name_behind_another_member, setup, teardown){
  archive a = { 0 };
  char *name = malloc(65536);
  memset(name, 'n', 65535);
  name[65535] = 0;
  add_member(&a, (archived){ .name = "w", .data = "data" });
  add_member(&a, (archived){ .name = name, .data = "more" });
  expect_open(end_archive(&a, ""), "a long name");
  expect_data(0, 9, "data", "first");
  expect_data(1, 9, "more", "second");
  free(name);
}

/* The bytes in the place of a local header, as far as they are one, tell the name. */
TEST_WITH(test_a_local_name, setup, teardown){
  static const struct { const char *header; size_t n; const char *name; } rows[] = {
    { "PK\3\4                      \4\0\0\0name", 34, "name" }, { "PK\3\4                      \4\0\0\0nam", 33, "" },
    { "PK\3\4                      \xff\xff\0\0name", 34, "" }, { "PK\3\5                      \4\0\0\0name", 34, "" },
    { "PK\3\4                      \xd\0\0\0a longer name", 43, "onger name" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    archive a = { 0 };
    zt_zip_member m;
    zt_text found;
    char buffer[10];
    add_member(&a, (archived){ .name = "w", .data = rows[i].header, .n = rows[i].n, .flags = 1 });
    add_member(&a, (archived){ .name = "v", .data = "", .no_local = true, .header = 31 });
    expect_open(end_archive(&a, ""), rows[i].name);
    zt_zip_member_at(zip, 1, &m);
    assert_int_equal(zt_zip_local_name(zip, source, &m, buffer, sizeof(buffer), &found, &err), SQLITE_OK);
    check( found.n==strlen(rows[i].name) && memcmp(found.z, rows[i].name, found.n)==0, "row %d: '%.*s'", (int)i, (int)found.n, found.z );
  }
}

TEST_WITH(test_faults_of_members, setup, teardown){
  archive a = { 0 };
  add_member(&a, (archived){ .name = "encrypted", .data = "data", .flags = 1 });
  add_member(&a, (archived){ .name = "sizes", .data = "data", .size = 5 });
  add_member(&a, (archived){ .name = "past the end", .data = "data", .stored = 5000, .size = 5000 });
  add_member(&a, (archived){ .name = "spanned", .data = "data", .disk = 3 });
  add_member(&a, (archived){ .name = "renamed", .local = "unnamed", .data = "data" });
  add_member(&a, (archived){ .name = "other", .local = "longer", .data = "data" });
  add_member(&a, (archived){ .name = "nowhere", .data = "data", .header = 1 });
  add_member(&a, (archived){ .name = "sound", .data = "data" });
  expect_open(end_archive(&a, ""), "faults");
  expect_fault(0, "ZP8", "encrypted", "encrypted");
  expect_fault(1, "ZP7", "two different sizes", "sizes");
  expect_fault(2, "ZP6", "directory", "past");
  expect_fault(3, "ZP9", "spanned", "spanned");
  expect_fault(4, "ZP10", "'renamed'", "renamed");
  expect_fault(5, "ZP10", "'other'", "other");
  expect_fault(6, "ZP10", "byte 1:", "nowhere");
  expect_data(7, 9, "data", "sound");
}

TEST_WITH(test_a_local_header_that_leads_into_the_directory, setup, teardown){
  archive a = { 0 };
  blob b;
  add_member(&a, (archived){ .name = "w", .data = "data" });
  b = end_archive(&a, "");
  b.p[28] = 1;
  expect_open(b, "one more byte of extra field");
  expect_fault(0, "ZP6", "directory", "one more byte of extra field");
}

TEST_WITH(test_members_that_share_bytes, setup, teardown){
  archive a = { 0 };
  add_member(&a, (archived){ .name = "a", .data = "data" });
  add_member(&a, (archived){ .name = "b", .data = "data", .no_local = true });
  expect_refused(end_archive(&a, ""), "ZP11", "'a' and 'b' share", "one local header");
  a = (archive){ 0 };
  put_repeated(&a.bytes, 0, 100);
  add_member(&a, (archived){ .name = "b", .data = "data", .no_local = true, .header = 40 });
  add_member(&a, (archived){ .name = "a", .data = "data", .no_local = true, .header = 5 });
  expect_open(end_archive(&a, ""), "in another order, side by side");
  a = (archive){ 0 };
  put_repeated(&a.bytes, 0, 100);
  add_member(&a, (archived){ .name = "b", .data = "data", .no_local = true, .header = 39 });
  add_member(&a, (archived){ .name = "a", .data = "data", .no_local = true, .header = 5 });
  expect_refused(end_archive(&a, ""), "ZP11", "'a' and 'b' share", "in another order");
}

/* One that is sound at the archive's very begin, a faulty one, and another order. */
TEST_WITH(test_a_faulty_member_shares_no_byte, setup, teardown){
  archive a = { 0 };
  uint64_t at;
  add_member(&a, (archived){ .name = "a", .data = "data" });
  at = a.bytes.n;
  add_member(&a, (archived){ .name = "b", .data = "data" });
  free(a.directory.p);
  a = (archive){ .bytes = a.bytes };
  add_member(&a, (archived){ .name = "b", .data = "data", .no_local = true, .header = at });
  add_member(&a, (archived){ .name = "a", .data = "data", .no_local = true });
  add_member(&a, (archived){ .name = "f", .data = "data", .flags = 1 });
  expect_open(end_archive(&a, ""), "the faulty one last");
  expect_data(0, 100, "data", "b");
  expect_data(1, 100, "data", "a");
  expect_fault(2, "ZP8", "encrypted", "f");
}

/* Members a and b, maybe with an encrypted member between them, and maybe with entries in another order. The local header
** of a states `more` bytes more than its extra field has. */
static blob pushed(unsigned padding, unsigned more, bool encrypted, bool swapped){
  const archived first = { .name = "a", .data = "0123456789", .padding = padding };
  const archived faulty = { .name = "f", .data = "secret", .flags = 1 };
  const archived second = { .name = "b", .data = "second" };
  archive a = { 0 };
  uint64_t at;
  add_member(&a, first);
  if( encrypted ) add_member(&a, faulty);
  at = a.bytes.n;
  add_member(&a, second);
  if( swapped ){
    archive other = { .bytes = a.bytes };
    free(a.directory.p);
    a = other;
    add_member(&a, (archived){ .name = "b", .data = "second", .no_local = true, .header = at });
    add_member(&a, (archived){ .name = "a", .data = "0123456789", .no_local = true, .header = 0 });
  }
  a.bytes.p[28] = (uint8_t)(padding+more);
  return end_archive(&a, "");
}

/* Local headers are not read before a member is located: how long their extra fields are is seen there. */
TEST_WITH(test_an_extra_field_that_pushes_data_into_the_next_member, setup, teardown){
  for(unsigned k=0; k<16; k++){
    const bool padded = k & 1, encrypted = k & 2, swapped = k & 4, more = k & 8;
    const unsigned padding = padded ? 60 : 0;
    const uint32_t a = swapped, b = swapped ? 0 : encrypted ? 2 : 1;
    /* The encrypted member has 37 bytes, which belong to no component */
    const unsigned room = encrypted ? 30+1+6 : 0;
    char row[80];
    snprintf(row, sizeof(row), "%u bytes%s%s%s", padding, encrypted ? ", encrypted" : "", swapped ? ", swapped" : "", more ? ", one more" : "");
    expect_open(pushed(padding, more ? room+1 : 0, encrypted, swapped), row);
    expect_data(b, 100, "second", row);
    if( more ) expect_fault(a, "ZP11", "members 'a' and 'b' share bytes of the archive", row);
    else expect_data(a, 100, "0123456789", row);
    if( !encrypted ) continue;
    expect_open(pushed(padding, room, encrypted, swapped), row);
    expect_data(b, 100, "second", row);
  }
}

#define NAMES 2000

/* Look for name number i, which has that size. */
static void expect_found(int i, uint64_t size){
  zt_zip_member m;
  char name[16];
  int64_t k;
  sprintf(name, "m/%d", i);
  k = zt_zip_find(zip, (zt_text){ name, strlen(name) }, &err);
  check( k>=0, "%s", name );
  zt_zip_member_at(zip, (uint32_t)k, &m);
  assert_text(m.name, name, name);
  assert_int_equal(m.size, size);
}

/* By their numbers, in the directory's order and against it; every name once, and one twice. */
TEST_WITH(test_find, setup, teardown){
  for(int twice=0; twice<2; twice++){
    archive a = { 0 };
    char name[16];
    for(int i=0; i<NAMES; i++){
      sprintf(name, "m/%d", i*7919%NAMES);
      add_member(&a, (archived){ .name = name, .data = "" });
    }
    if( twice ) add_member(&a, (archived){ .name = "m/5", .data = "twice" });
    expect_open(end_archive(&a, ""), "many");
    for(int i=0; i<NAMES; i++) expect_found(i, twice && i==5 ? 5 : 0);
    for(int i=0; i<NAMES; i++) expect_found(i*7919%NAMES, twice && i*7919%NAMES==5 ? 5 : 0);
    for(int i=NAMES; i-->0; ) expect_found(i*7919%NAMES, twice && i*7919%NAMES==5 ? 5 : 0);
    assert_int_equal(zt_zip_find(zip, ZT_TEXT("m/2000"), &err), -1);
    assert_int_equal(zt_zip_find(zip, ZT_TEXT(""), &err), -1);
    assert_succeeded(&err, "find");
  }
}

TEST_WITH(test_every_cut_is_refused, setup, teardown){
  archive a = { 0 };
  blob whole;
  add_member(&a, (archived){ .name = "a.npy", .data = "first" });
  add_member(&a, (archived){ .name = "b.npy", .data = "second" });
  whole = end_archive(&a, "");
  for(size_t n=0; n<whole.n; n++){
    open_bytes(exact(whole.p, n));
    assert_null(zip);
    check( err.rc==SQLITE_ERROR && err.rule, "%u bytes: %d", (unsigned)n, err.rc );
  }
  expect_open(whole, "all of it");
}


int main(void){
  return run_all("zip", NULL, NULL);
}
