/*
** Files of all formats while the system fails to read, and while the caller wants no more: each read and each question in turn. What
** was begun ends with that failure, and gives all memory back.
*/
#include "archive.h"

#include <errno.h>
#include <glob.h>
#include <unistd.h>
#include "container/container.h"
#include "core/digest.h"
#include "tensor/stats.h"

#define MOST_READS 600        /* Of one file: the few that take more are tried at some of them */
#define MOST_ELEMENTS 20000   /* Of an object whose values are read */

/* --- Reads, one of which fails --- */

static int reads, failing_read;   /* Counted from 1; 0: none fails */

ssize_t pread(int fd, void *p, size_t n, off_t at){
  if( ++reads==failing_read ){
    errno = EIO;
    return -1;
  }
  return lseek(fd, at, SEEK_SET)<0 ? -1 : read(fd, p, n);
}

static bool is_of_the_system(const zt_error *err){
  return err->rc!=SQLITE_OK && err->message && strstr(err->message, strerror(EIO));
}

/* --- What is done with a file --- */

/* The statistics of each object with few elements. */
static int read_values(zt_source *source, const zt_container *c, const zt_interrupt *interrupt, zt_error *err){
  for(uint32_t i=0; i<zt_container_objects(c) && !err->rc; i++){
    zt_budget budget = { .result = 1000000000, .decode = (uint64_t)1<<30, .interrupt = *interrupt };
    zt_error failed = ZT_ERROR_NONE;
    zt_object object;
    zt_tensor t;
    zt_stats stats;
    zt_container_object(c, i, &object);
    if( object.elements>MOST_ELEMENTS ) continue;
    if( zt_tensor_open(source, c, &object, &budget, &t, &failed)==SQLITE_OK ) zt_stats_compute(&t, &stats, &failed);
    zt_tensor_close(&t);
    if( failed.rc==SQLITE_INTERRUPT || is_of_the_system(&failed) ) *err = failed;
    else zt_error_clear(&failed);   /* An object without statistics */
  }
  return err->rc;
}

static int read_all(const char *path, bool values, caller *who, zt_error *err){
  const zt_interrupt interrupt = { caller_stops, who };
  zt_container *c = NULL;
  zt_source *source = NULL;
  if( zt_source_open(path, NULL, &source, err)==SQLITE_OK && zt_container_open(source, &interrupt, &c, err)==SQLITE_OK && values ){
    read_values(source, c, &interrupt, err);
  }
  zt_container_close(c);
  zt_source_close(source);
  return err->rc;
}

/* Do it once in peace, then fail read or question `*at` in turn. Returns how many there were. */
static int fail_each(const char *path, bool values, bool question){
  int all = 1;
  for(int at=0; at<=all; at += 1+all/MOST_READS){
    const sqlite3_int64 before = sqlite3_memory_used();
    zt_error err = ZT_ERROR_NONE;
    caller who = { 0, question ? at : 0 };
    reads = 0;
    failing_read = question ? 0 : at;
    read_all(path, values, &who, &err);
    failing_read = 0;
    if( at==0 ){
      check( err.rc==SQLITE_OK, "%s: %s", path, err.message );
      all = question ? who.asked : reads;
    }else if( question ){
      check( err.rc==SQLITE_INTERRUPT && who.asked==at, "%s: question %d: %d, asked %d times", path, at, err.rc, who.asked );
    }else{
      check( is_of_the_system(&err), "%s: read %d: %d, %s", path, at, err.rc,
             err.message ? err.message : "no message" );
    }
    zt_error_clear(&err);
    check( sqlite3_memory_used()==before, "%s: %d: memory is left", path, at );
  }
  return all;
}

/* Beside them are descriptions, and files that they refer to. */
static bool is_file_of_tensors(const char *path){
  zt_error err = ZT_ERROR_NONE;
  caller who = { 0, 0 };
  const bool opens = read_all(path, false, &who, &err)==SQLITE_OK;
  zt_error_clear(&err);
  return opens;
}

/* pattern: of paths; least: so many reads or questions in all. */
static void fail_all(const char *pattern, bool values, bool question, int least){
  glob_t found;
  int n = 0;
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  for(size_t i=0; i<found.gl_pathc; i++){
    if( is_file_of_tensors(found.gl_pathv[i]) ) n += fail_each(found.gl_pathv[i], values, question);
  }
  globfree(&found);
  check( n>least, "%d in all", n );
}

/* Golden files, and files that look odd. */
static void fail_sound(bool values, bool question, int least){
  fail_all("tests/formats/*/golden/*", values, question, least);
  fail_all("tests/formats/*/hostile/ok-*", values, question, 20);
}

TEST(test_each_read_of_opening_fails){
  fail_sound(false, false, 1000);
}

TEST(test_each_read_of_values_fails){
  fail_sound(true, false, 1000);
}

TEST(test_each_question_is_answered_yes){
  fail_sound(true, true, 100);
}

/* Files with peculiarities, of which the whole is read all the same. */
TEST(test_each_read_and_question_of_odd_files){
  static const char *const patterns[] = {
    "tests/formats/archive/hostile/*.zip", "tests/formats/pytorch/hostile/*.pt", "tests/formats/pickle/hostile/*.pkl",
  };
  for(size_t i=0; i<COUNT(patterns); i++){
    fail_all(patterns[i], false, false, 50);
    fail_all(patterns[i], false, true, 20);
  }
}

/* Bytes that are not read with those before them: a member behind an array and one that is called like a tensor file, and the counts of
** storages. */
TEST(test_each_read_of_what_lies_apart){
  char directory[] = "/tmp/ztensor-reads-XXXXXX", path[64];
  archive a = { 0 };
  blob b = { 0 };
  char *array = NULL;
  size_t n = 0;
  FILE *file = open_memstream(&array, &n);
  fputs("\x93NUMPY\1", file);
  fwrite("\0\x36\0{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 1, 57, file);
  fwrite("abcd", 1, 4, file);
  fclose(file);
  assert_non_null(mkdtemp(directory));
  add_member(&a, (archived){ .name = "a.npy", .data = array, .n = n });
  add_member(&a, (archived){ .name = "b.gguf", .data = "no GGUF" });
  for(int i=0; i<3; i++) add_member(&a, (archived){ .name = "text", .data = "text", .padding = 40000 });
  b = end_archive(&a, "");
  snprintf(path, sizeof(path), "%s/a.zip", directory);
  write_file(path, b.p, b.n);
  free(b.p);
  free(array);
  assert_true(is_file_of_tensors(path));
  fail_each(path, true, false);
  fail_each(path, true, true);
  b = (blob){ 0 };
  put(&b, "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." "\x80\2M\xe9\3." "\x80\2}.(", 26);
  for(int i=0; i<3; i++){
    char line[100];
    put(&b, line, (size_t)snprintf(line, sizeof(line), "P('storage', <class 'torch.FloatStorage'>, '%d', 'cpu', 50000)\n", i));
  }
  put(&b, "l.(V0\nV1\nV2\nl.", 14);
  for(int i=0; i<3; i++){
    put_le64(&b, 50000);
    put_repeated(&b, 0, 200000);
  }
  snprintf(path, sizeof(path), "%s/a.pt", directory);
  write_file(path, b.p, b.n);
  free(b.p);
  assert_true(is_file_of_tensors(path));
  fail_each(path, true, false);
  b = (blob){ 0 };
  put(&b, "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0k\x8\0\0\0", 37);
  put_le64(&b, 8000000);   /* A long text */
  put_repeated(&b, 'x', 8000000);
  snprintf(path, sizeof(path), "%s/a.gguf", directory);
  write_file(path, b.p, b.n);
  free(b.p);
  assert_true(is_file_of_tensors(path));
  fail_each(path, true, false);
  assert_int_equal(remove_all(directory), 0);
}

/* --- Files that are read page by page: a page ends at each byte in turn --- */

#define LONGEST 3000    /* Bytes of such a file */

/* Where padding belongs in a file, and what its first bytes become. */
typedef struct padding {
  size_t at;            /* Bytes before it */
  uint8_t head[64];     /* That replace them */
  size_t head_n;
  size_t step;          /* A divisor of its size */
  size_t page;          /* Bytes that are read at first */
} padding;

/* A map gets one more pair, which is the first, of a key and so many bytes. */
static bool pad_msgpack(const uint8_t *p, size_t n, padding *out){
  const bool wide = p[0]==0xDE;
  const unsigned pairs = wide ? (unsigned)p[1]<<8 | p[2] : p[0] & 15u;
  if( n<3 || (!wide && (p[0] & 0xF0)!=0x80) ) return false;
  *out = (padding){
    .at = wide ? 3 : 1, .head_n = 8, .step = 1, .page = 4096,
    .head = { 0xDE, (pairs+1)>>8 & 255, (pairs+1) & 255, 0xA1, 'p', 0xC5 }
  };
  return true;
}

/* All places but the root's are relative. */
static bool pad_tflite(const uint8_t *p, size_t n, padding *out){
  if( n<8 || memcmp(p+4, "TFL3", 4)!=0 ) return false;
  *out = (padding){ .at = 8, .head_n = 8, .step = 16, .page = 4096 };
  memcpy(out->head, p, 8);
  return true;
}

/* Behind the version, if there is one, come documents, of which the last one counts. */
static bool pad_onnx(const uint8_t *p, size_t n, padding *out){
  const size_t version = n>2 && p[0]==8 && p[1]<0x80 ? 2 : 0;
  *out = (padding){ .at = version, .head_n = version, .step = 2, .page = 8192 };
  memcpy(out->head, p, version);
  return true;
}

/* Write the file with `size` bytes of padding. */
static void write_padded(const char *to, const uint8_t *p, size_t n, padding pad, size_t size){
  uint8_t *all = malloc(pad.head_n+size+n), *end = all+pad.head_n;
  memcpy(all, pad.head, pad.head_n);
  memset(end, 0, size);
  if( pad.head[0]==0xDE ){
    all[6] = (uint8_t)(size>>8);
    all[7] = (uint8_t)size;
  }else if( pad.step==16 ){
    const size_t root = (p[0] | p[1]<<8)+size;
    all[0] = (uint8_t)root;
    all[1] = (uint8_t)(root>>8);
  }else{
    for(size_t i=0, more; i<size; i+=2+more){
      more = size-i<64 ? 0 : 62;
      end[i] = 0x32;
      end[i+1] = (uint8_t)more;
    }
  }
  memcpy(end+size, p+pad.at, n-pad.at);
  write_file(to, all, pad.head_n+size+n-pad.at);
  free(all);
}

static void fail_padded(const char *pattern,
                        bool (*find)(const uint8_t *p, size_t n, padding *out)){
  char directory[] = "/tmp/failing-XXXXXX", to[64];
  glob_t found;
  int n = 0;
  assert_non_null(mkdtemp(directory));
  snprintf(to, sizeof(to), "%s/padded", directory);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  for(size_t i=0; i<found.gl_pathc; i++){
    blob b = read_file(found.gl_pathv[i]);
    padding pad;
    if( b.n<=LONGEST && find(b.p, b.n, &pad) ){
      for(size_t size=(pad.page-b.n)/pad.step*pad.step; size<pad.page; size+=pad.step){
        write_padded(to, b.p, b.n, pad, size);
        n += fail_each(to, false, false);
      }
    }
    free(b.p);
  }
  globfree(&found);
  assert_int_equal(remove_all(directory), 0);
  check( n>100, "%s: %d in all", pattern, n );
}

TEST(test_each_read_of_msgpack_fails){
  fail_padded("tests/formats/msgpack/golden/*.msgpack", pad_msgpack);
}

TEST(test_each_read_of_tflite_fails){
  fail_padded("tests/formats/tflite/golden/*.tflite", pad_tflite);
  fail_padded("tests/formats/tflite/golden/external/*.tflite", pad_tflite);
}

TEST(test_each_read_of_onnx_fails){
  fail_padded("tests/formats/onnx/golden/*.onnx", pad_onnx);
  fail_padded("tests/formats/onnx/golden/external/*.onnx", pad_onnx);
}

/* --- Files of so many items that there is a question between them --- */

#define MANY 70000

static void put_varint(blob *b, uint64_t u){
  for(; u>=0x80; u>>=7) put_byte(b, (unsigned)(u & 0x7F) | 0x80);
  put_byte(b, (unsigned)u);
}

static void put_string(blob *b, const char *z){
  put(b, z, strlen(z));
}

/* A map with a list. */
static void make_msgpack(blob *b){
  put_hex(b, "81 A1 77 DD");
  for(int i=4; i-->0;) put_byte(b, (unsigned)MANY>>8*i & 255);
  for(int i=0; i<MANY; i++) put_byte(b, 1);
}

/* An array whose header is as long as that of a record of many fields. */
static void put_npy(blob *b, unsigned fields){
  blob header = { 0 };
  put_string(&header, "{'descr': [");
  for(unsigned i=0; i<fields; i++) put_string(&header, "('a_field', '<f4'), ");
  put_string(&header, "('x', '<f4')], 'fortran_order': False, 'shape': (0,), }");
  while( (header.n+11)%64 ) put_byte(&header, ' ');
  put_byte(&header, '\n');
  put_hex(b, "93 4E 55 4D 50 59 01 00");
  put_le16(b, (unsigned)header.n);
  put(b, header.p, header.n);
  free(header.p);
}

/* An archive of n arrays. */
static blob npz_of(unsigned n, unsigned fields){
  archive a = { 0 };
  blob npy = { 0 };
  put_npy(&npy, fields);
  for(unsigned i=0; i<n; i++){
    char name[16];
    snprintf(name, sizeof(name), "%06u.npy", i);
    add_member(&a, (archived){ .name = name, .data = (const char*)npy.p, .n = npy.n });
  }
  free(npy.p);
  return end_archive(&a, "");
}

/* Append a block of a table, and its place to `places`. */
static void put_block(blob *b, blob *block, blob *places){
  zt_error err = ZT_ERROR_NONE;
  zt_digest *d = zt_digest_begin(ZT_DIGEST_CRC32C, &err);
  uint32_t crc;
  put_le32(block, 0);
  put_le32(block, 1);
  put_varint(places, b->n);
  put_varint(places, block->n);
  put_byte(block, 0);
  zt_digest_update(d, (zt_span){ block->p, block->n });
  crc = (uint32_t)zt_digest_number(d);
  zt_digest_close(d);
  put_le32(block, (uint32_t)((crc>>15 | crc<<17)+0xa282ead8u));
  put(b, block->p, block->n);
  free(block->p);
  *block = (blob){ 0 };
}

/* A checkpoint of n variables, so many to a block. */
static void make_tensorflow(blob *b, unsigned n, unsigned each){
  blob block = { 0 }, index = { 0 }, footer = { 0 };
  put_hex(&block, "00 00 06 08 01 1A 02 08 01");   /* The header */
  for(unsigned i=0; i<n; i++){
    blob place = { 0 };
    char name[16];
    snprintf(name, sizeof(name), "%06u", i);
    put_hex(&block, "00 06 02");
    put_string(&block, name);
    put_hex(&block, "08 01");
    if( i%each<each-1 && i<n-1 ) continue;
    put_block(b, &block, &place);
    put_byte(&index, 0);
    put_byte(&index, 6);
    put_byte(&index, (unsigned)place.n);
    put_string(&index, name);
    put(&index, place.p, place.n);
    free(place.p);
  }
  put_hex(&footer, "00 00");
  put_block(b, &index, &footer);
  while( footer.n<40 ) put_byte(&footer, 0);
  put_hex(&footer, "57 FB 80 8B 24 75 47 DB");
  put(b, footer.p, footer.n);
  free(footer.p);
}

static void fail_made(blob b, bool question, int least){
  char directory[] = "/tmp/failing-XXXXXX", path[64];
  int n;
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/made.index", directory);
  write_file(path, b.p, b.n);
  free(b.p);
  n = fail_each(path, false, question);
  assert_int_equal(remove_all(directory), 0);
  check( n>=least, "%d of %d", n, least );
}

TEST(test_each_question_between_many_items_is_answered_yes){
  blob msgpack = { 0 }, tensorflow = { 0 }, blocks = { 0 };
  make_msgpack(&msgpack);
  fail_made(msgpack, true, 2);
  fail_made(npz_of(3000, 0), true, 2);
  make_tensorflow(&tensorflow, MANY, 1000);
  fail_made(tensorflow, true, 2);
  make_tensorflow(&blocks, 1200, 1);
  fail_made(blocks, true, 2);
}

/* The second matrix's name is read alone. The first one's tells the format. */
static blob matlab_of(unsigned length){
  blob b = { 0 };
  put_hex(&b, "00000000 01000000 01000000 00000000 02000000 77 00 00000000 00000000");
  put_hex(&b, "00000000 01000000 01000000 00000000");
  put_le32(&b, length+1);
  put_repeated(&b, 'w', length);
  put_hex(&b, "00 00000000 00000000");
  return b;
}

/* A field of that tag with the bytes, which are freed. */
static void put_message(blob *b, uint8_t tag, blob *bytes){
  put_byte(b, tag);
  put_varint(b, bytes->n);
  put(b, bytes->p, bytes->n);
  free(bytes->p);
}

/* A graph without a version before it, whose name follows a large tensor. */
static blob onnx_of(unsigned floats){
  blob b = { 0 }, tensor = { 0 }, graph = { 0 };
  put_byte(&tensor, 0x08);
  put_varint(&tensor, floats);
  put_hex(&tensor, "10 01 42 01 77 4A");
  put_varint(&tensor, 4*floats);
  put_repeated(&tensor, 0, 4*floats);
  put_message(&graph, 0x2A, &tensor);
  put_hex(&graph, "12 01 67");
  put_message(&b, 0x3A, &graph);
  put_hex(&b, "42 02 10 15");
  return b;
}

/* External data, of which a long location is read before the offset. */
static blob onnx_outside(unsigned length){
  blob b = { 0 }, graph = { 0 }, tensor = { 0 }, entry = { 0 };
  put_hex(&entry, "0A 08");
  put_string(&entry, "location");
  put_byte(&entry, 0x12);
  put_varint(&entry, length);
  put_repeated(&entry, 'l', length);
  put_hex(&tensor, "08 01 10 01 42 01 77 6A 0D 0A 06");
  put_string(&tensor, "offset");
  put_hex(&tensor, "12 03 34 39 36");
  put_message(&tensor, 0x6A, &entry);
  put_hex(&tensor, "70 01");
  put_message(&graph, 0x2A, &tensor);
  put_hex(&b, "08 0A");
  put_message(&b, 0x3A, &graph);
  put_hex(&b, "42 02 10 15");
  return b;
}

TEST(test_each_read_of_long_parts_fails){
  fail_made(npz_of(2, 100), false, 5);
  fail_made(matlab_of(1000), false, 4);
  fail_made(onnx_of(5000), false, 4);
  fail_made(onnx_outside(9000), false, 4);
}

int main(void){
  return run_all("failing reads", NULL, NULL);
}
