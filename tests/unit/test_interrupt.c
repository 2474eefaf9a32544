/*
** A manifest may have 1 GiB: whoever opens it asks every so often whether to go on, and ends soon if not.
*/
#include "archive.h"

#include <zlib.h>
#include "container/container.h"
#include "core/keys.h"
#include "test.h"
#include "zt2.h"

#define MIB ((size_t)1 << 20)

/* Counts the questions, and says no to one of them; 0: to none. */
/* Opening asks at least so often, and ends at the question that is answered yes. Returns the number of questions. Where names
** are hashed, with a random number, a run asks up to an eighth less: one that asks less than would stop it succeeds. */
static int tried = 8;   /* Questions, beside the last one, if there are so many */

static int check_questions(blob file, int least, const char *row){
  caller c = { 0, 0 };
  zt_interrupt interrupt = { caller_stops, &c };
  int all = 1;
  for(int stop=0; stop<=all; stop += stop<all && all-stop<=all/tried ? all-stop : 1+all/tried){   /* The last one, too */
    zt_error err = ZT_ERROR_NONE;
    sqlite3_int64 before = sqlite3_memory_used();
    zt_container *container;
    zt_source *source;
    assert_int_equal(zt_source_open_image(span_of(file), &source, &err), SQLITE_OK);
    c = (caller){ 0, stop };
    zt_container_open(source, &interrupt, &container, &err);
    if( stop==0 ){
      assert_succeeded(&err, row);
      check( c.asked>=least, "%s: asked %d times", row, c.asked );
      all = c.asked;
    }else if( c.asked<stop ){
      assert_succeeded(&err, row);
      check( c.asked>=all-all/8, "%s: asked %d times, then %d", row, all, c.asked );
    }else{
      check( err.rc==SQLITE_INTERRUPT && c.asked==stop, "%s: %d, asked %d times of %d", row, err.rc, c.asked, stop );
      assert_true(err.object.z==NULL && err.component.z==NULL);
    }
    zt_error_clear(&err);
    zt_container_close(container);
    zt_source_close(source);
    assert_int_equal(sqlite3_memory_used(), before);
  }
  free(file.p);
  return all;
}

/* Each MiB asks once. */
static int check_open(blob file, const char *row){
  return check_questions(file, (int)(file.n/MIB), row);
}

static blob file_of(blob *manifest, bool old){
  blob file = { 0 };
  put(&file, old ? "ZTEN0001" : "ZTEN1000", 8);
  put_repeated(&file, 0, 56);
  put(&file, manifest->p, manifest->n);
  put_le64(&file, manifest->n);
  if( !old ) put(&file, "ZTEN1000", 8);
  free(manifest->p);
  *manifest = (blob){ 0 };
  return seal(&file);
}

static void put_key_uint(blob *b, const char *key, uint64_t u){
  put_text(b, key);
  put_uint(b, u);
}

static void put_key_text(blob *b, const char *key, const char *z){
  put_text(b, key);
  put_text(b, z);
}

static void put_name(blob *b, uint32_t i, bool shuffle){
  char z[16];
  snprintf(z, sizeof(z), "%08x", shuffle ? i*2654435761u : i);
  put_text(b, z);
}

/* "objects" of 1.2, n of them, each with so many components. */
static void put_objects(blob *b, uint32_t n, uint32_t components, bool shuffle){
  put_text(b, "objects");
  put_map(b, n);
  for(uint32_t i=0; i<n; i++){
    put_name(b, i, shuffle);
    put_map(b, 3);
    put_text(b, "shape");
    put_array(b, 0);
    put_key_text(b, "format", "dense");
    put_text(b, "components");
    put_map(b, components);
    for(uint32_t k=0; k<components; k++){
      put_name(b, k, shuffle);
      put_map(b, 3);
      put_key_text(b, "dtype", "u8");
      put_key_uint(b, "offset", 64);
      put_key_uint(b, "length", 0);
    }
  }
}

static blob begin(unsigned fields){
  blob b = { 0 };
  put_map(&b, fields);
  put_key_text(&b, "version", "1.2.0");
  return b;
}

TEST(test_objects){
  for(int shuffle=0; shuffle<2; shuffle++){
    blob b = begin(2);
    put_objects(&b, 200000, 1, shuffle);
    check_open(file_of(&b, false), "objects");
    b = begin(2);
    put_objects(&b, 1, 300000, shuffle);
    check_open(file_of(&b, false), "components");
  }
}

TEST(test_objects_of_0_1){
  blob b = { 0 };
  put_array(&b, 100000);
  for(uint32_t i=0; i<100000; i++){
    put_map(&b, 6);
    put_text(&b, "name");
    put_name(&b, i, true);
    put_key_uint(&b, "offset", 64);
    put_key_uint(&b, "size", 0);
    put_key_text(&b, "dtype", "uint8");
    put_text(&b, "shape");
    put_array(&b, 0);
    put_key_text(&b, "encoding", "raw");
  }
  check_open(file_of(&b, true), "0.1");
}

/* The heads of objects with many components are written once more. */
TEST(test_components_of_1_0){
  blob b = { 0 };
  put_map(&b, 2);
  put_key_text(&b, "version", "1.0");
  put_text(&b, "tensors");
  put_map(&b, 40);
  for(uint32_t i=0; i<40; i++){
    put_name(&b, i, false);
    put_map(&b, 4);
    put_key_text(&b, "dtype", "uint8");
    put_text(&b, "shape");
    put_array(&b, 0);
    put_key_text(&b, "format", "other");
    put_text(&b, "components");
    put_map(&b, 100);
    for(uint32_t k=0; k<100; k++){
      put_name(&b, k, false);
      put_map(&b, 2);
      put_key_uint(&b, "offset", 64);
      put_key_uint(&b, "length", 0);
    }
  }
  b = file_of(&b, true);
  memcpy(b.p, "ZTEN1000", 8);
  assert_true(check_open(b, "1.0")>=40);
}

/* Skipped items: attributes, unknown fields, nested or not, and text in chunks, which are joined. */
TEST(test_what_is_passed_over){
  static const char *const what[] = { "attributes", "unknown fields", "an array", "arrays", "a map", "chunks" };
  for(size_t i=0; i<COUNT(what); i++){
    uint32_t n = 300000;
    blob b = begin(i==1 ? 2+n : 3);
    put_objects(&b, 0, 0, false);
    if( i!=1 ) put_text(&b, i==0 ? "attributes" : "unknown");
    if( i==0 ) put_map(&b, n);
    if( i==2 || i==3 || i==5 ) put_array(&b, n);
    if( i==4 ) put_map(&b, n);
    for(uint32_t k=0; k<n; k++){
      if( i==3 ) put_hex(&b, "8301a2010203048163616263");
      else if( i==5 ) put_hex(&b, "7f6361626363646566ff");
      else put_name(&b, k, true);
      if( i<2 || i==4 ) put_uint(&b, k);
    }
    check_open(file_of(&b, false), what[i]);
  }
}

/* Blobs that have to be brought into order. */
TEST(test_blobs_of_zt2){
  blob manifest = { 0 };
  uint32_t n = 150000;
  put_map(&manifest, 1);
  put_text(&manifest, "objects");
  put_map(&manifest, n);
  for(uint32_t i=0; i<n; i++){
    put_name(&manifest, i, false);
    put_map(&manifest, 3);
    put_text(&manifest, "parts");
    put_map(&manifest, 1);
    put_text(&manifest, "data");
    put_map(&manifest, 2);
    put_text(&manifest, "blob");
    put_array(&manifest, 2);
    put_uint(&manifest, i%2 ? 4096 : 8192);
    put_uint(&manifest, 1);
    put_key_text(&manifest, "dtype", "u8");
    put_text(&manifest, "shape");
    put_array(&manifest, 0);
    put_key_text(&manifest, "layout", "dense");
  }
  check_open(zt2_file(manifest, 12288, 0), "blobs");
}

static void put_matlab(blob *b, uint32_t type, uint32_t n, const char *data){
  put_le32(b, type);
  put_le32(b, n);
  if( data ) put(b, data, n);
  else put_repeated(b, 0, n);
}

/* A complex matrix of MATLAB of 2 x n bytes that are 0, compressed: whoever looks for the imaginary part decodes the real one. */
static blob matlab_of(uint32_t n){
  blob b = { 0 }, file = { 0 };
  uLongf size;
  put_le32(&b, 14);
  put_le32(&b, 3*16+2*(8+n));
  put_matlab(&b, 6, 8, "\x08\x08\0\0\0\0\0\0");
  put_matlab(&b, 5, 8, NULL);
  b.p[b.n-8] = 1;
  for(size_t i=0; i<4; i++) b.p[b.n-4+i] = (uint8_t)(n>>8*i);
  put_matlab(&b, 1, 8, "variable");
  put_matlab(&b, 1, n, NULL);
  put_matlab(&b, 1, n, NULL);
  put(&file, "MATLAB 5.0", 10);
  put_repeated(&file, ' ', 106);
  put_repeated(&file, 0, 8);
  put(&file, "\0\1IM", 4);
  size = compressBound(b.n);
  put_le32(&file, 15);
  put_le32(&file, 0);
  put_repeated(&file, 0, size);
  assert_int_equal(compress(file.p+136, &size, b.p, b.n), Z_OK);
  for(size_t i=0; i<4; i++) file.p[132+i] = (uint8_t)(size>>8*i);
  file.n = 136+size;
  free(b.p);
  return seal(&file);
}

/* Each 4 MiB that are decoded ask once, though the file is small. */
TEST(test_decoded_bytes_of_matlab){
  const int little = check_open(matlab_of(1<<20), "1 MiB"), much = check_open(matlab_of(13<<20), "13 MiB");
  check( much==little+3, "asked %d and %d times", little, much );
}

static void put_z(blob *b, const char *z){
  put(b, z, strlen(z));
}

/* A piece again and again, with the item's number in it. */
static void put_numbered(blob *b, const char *piece, int n){
  for(int i=0; i<n; i++){
    char z[200];
    snprintf(z, sizeof(z), piece, i, i);
    put_z(b, z);
  }
}

static blob safetensors_of(blob *header, size_t data){
  blob file = { 0 };
  put_le64(&file, header->n);
  put(&file, header->p, header->n);
  put_repeated(&file, 0, data);
  free(header->p);
  return seal(&file);
}

/* n tensors of a byte each, whose bytes and names have another order than the header, and neither the same. */
static blob tensors_out_of_order(uint32_t n){
  blob b = { 0 };
  uint32_t *at = malloc(n*sizeof(*at));
  uint64_t seed = 3;
  for(uint32_t i=0; i<n; i++){
    uint32_t k = (uint32_t)random_below(&seed, i+1);
    at[i] = at[k];
    at[k] = i;
  }
  for(uint32_t i=0; i<n; i++){
    char z[96];
    snprintf(z, sizeof(z), "%c\"%x\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[%u,%u]}", i ? ',' : '{',
             i*2654435761u, at[i], at[i]+1);
    put(&b, z, strlen(z));
  }
  put_byte(&b, '}');
  free(at);
  return safetensors_of(&b, n);
}

/* n keys in no order, each after a prefix. */
static blob metadata_out_of_order(uint32_t n, const char *prefix){
  blob b = { 0 };
  put(&b, "{\"__metadata__\":{", 17);
  for(uint32_t i=0; i<n; i++){
    char z[96];
    snprintf(z, sizeof(z), "%s\"%s%x\":\"\"", i ? "," : "", prefix, i*2654435761u);
    put(&b, z, strlen(z));
  }
  put(&b, "}}", 2);
  return safetensors_of(&b, 0);
}

TEST(test_metadata_out_of_order){
  tried = 40;
  check_open(metadata_out_of_order(400000, ""), "metadata");
  check_open(metadata_out_of_order(400000, "\\u0041"), "escaped metadata");
  tried = 8;
}

TEST(test_unknown_fields_of_a_tensor){
  blob b = { 0 };
  put_z(&b, "{\"w\":{\"dtype\":\"U8\"");
  put_numbered(&b, ",\"%d\":0", 600000);
  put_z(&b, ",\"shape\":[],\"data_offsets\":[0,1]}}");
  tried = 40;
  check_open(safetensors_of(&b, 1), "unknown fields");
  tried = 8;
}

/* Bringing them into order, too, can be interrupted. */
TEST(test_tensors_out_of_order){
  assert_true(check_open(tensors_out_of_order(300000), "tensors out of order")>32);
}

/* An archive of PyTorch of 8,000 records, of which the pickle is the first or the last. */
static blob pytorch_of(bool first){
  archive a = { 0 };
  if( first ) add_member(&a, (archived){ .name = "X/data.pkl", .data = "}." });
  for(int i=0; i<8000; i++){
    char z[32];
    snprintf(z, sizeof(z), "X/other/%d", i);
    add_member(&a, (archived){ .name = z, .data = "" });
  }
  if( !first ) add_member(&a, (archived){ .name = "X/data.pkl", .data = "}." });
  return end_archive(&a, "");
}

/* Where the directory alone tells the format, it is read once, for that and for the records. */
TEST(test_a_directory_that_tells_the_format){
  int known = check_open(pytorch_of(true), "the pickle is first"), looked;
  looked = check_open(pytorch_of(false), "the pickle is last");
  check( known>0 && looked==known, "asked %d times, %d of them for the format", looked, looked-known );
}

/* --- Files of so many items that whoever counts them asks --- */

#define MANY 140000

/* A tensor of PyTorch, in protocol 0, without a byte that is 0. */
#define STORAGE "P('storage', <class 'torch.FloatStorage'>, '%d', 'cpu', 1)\n"
#define TENSOR "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "I0\n(I1\nt(I1\ntI00\nccollections\nOrderedDict\n)RtR"

/* An archive of PyTorch around a pickle, which is freed. */
static blob torch_archive_of(blob *pickle){
  archive a = { 0 };
  add_member(&a, (archived){ .name = "X/data.pkl", .data = (const char*)pickle->p, .n = pickle->n });
  add_member(&a, (archived){ .name = "X/data/0", .data = "abcd" });
  free(pickle->p);
  *pickle = (blob){ 0 };
  return end_archive(&a, "");
}

/* A call's many arguments are searched if there is a tensor among them, and so are the values that a dropped call sets. */
static blob torch_of(const char *begin, const char *end){
  blob b = { 0 };
  put_z(&b, begin);
  put_numbered(&b, "I%d\n", MANY);
  put_numbered(&b, TENSOR, 1);
  put_z(&b, end);
  return b;
}

TEST(test_pickles_of_many_values){
  static const struct { const char *what, *begin, *end; } rows[] = {
    { "values", "(", "l." }, { "arguments", "cm\nf\n(", "tR." }, { "a dropped call", "](cm\nf\n(", "tR0Nt." },
  };
  tried = 40;
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = torch_of(rows[i].begin, rows[i].end), file = torch_archive_of(&b);
    check( check_open(file, rows[i].what)>=2*MANY/65536, "%s", rows[i].what );
  }
  tried = 8;
}

/* Without the opcode that tells the protocol, and with it. */
TEST(test_plain_pickles_of_many_values){
  for(int marked=0; marked<2; marked++){
    blob b = { 0 };
    if( marked ) put_z(&b, "\x80\2");
    put_z(&b, "(");
    put_numbered(&b, "I%d\n", MANY);
    put_z(&b, "t.");
    check( check_open(seal(&b), "a plain pickle")>=MANY/65536, "marked %d", marked );
  }
}

/* Pickles and storages in a row, as before 1.6. */
TEST(test_many_storages_of_pytorch){
  blob b = { 0 };
  put(&b, "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." "\x80\2M\xe9\3." "\x80\2}.(", 26);
  put_numbered(&b, STORAGE, MANY);
  put_z(&b, "l.(");
  put_numbered(&b, "V%d\n", MANY);
  put_z(&b, "l.");
  for(int i=0; i<MANY; i++){
    put_le64(&b, 1);
    put_z(&b, "abcd");
  }
  tried = 40;
  check( check_open(seal(&b), "storages")>=4*MANY/65536, "too few" );
  tried = 8;
}

TEST(test_an_archive_of_many_tensors){
  archive a = { 0 };
  blob tensors = tensors_out_of_order(300000);   /* With fewer, a run may ask less than that by more than an eighth */
  add_member(&a, (archived){ .name = "m.safetensors", .data = (const char*)tensors.p, .n = tensors.n });
  free(tensors.p);
  check_open(end_archive(&a, ""), "an archive");
}

TEST(test_an_archive_of_many_members){
  archive a = { 0 };
  for(int i=0; i<MANY/2; i++){
    char z[32];
    snprintf(z, sizeof(z), "X/data/%d", i);
    add_member(&a, (archived){ .name = i ? z : "X/data.pkl", .data = i ? "" : "N." });
  }
  check_questions(end_archive(&a, ""), 3, "members");   /* Their own headers are not read */
}

/* A directory of 18 MB. */
TEST(test_an_archive_of_long_names){
  archive a = { 0 };
  char *z = malloc(60001);
  memset(z, 'x', 60000);
  z[60000] = 0;
  for(int i=0; i<300; i++){
    snprintf(z, 8, "X/%04d", i);
    z[6] = 'x';
    add_member(&a, (archived){ .name = i ? z : "X/data.pkl", .data = i ? "" : "N.", .local = i ? "" : NULL });
  }
  free(z);
  check_questions(end_archive(&a, ""), 2, "long names");
}

static void put_name64(blob *b, const char *format, int i){
  char z[32];
  const size_t n = (size_t)snprintf(z, sizeof(z), format, i);
  put_le64(b, n);
  put(b, z, n);
}

/* Keys, an array of texts, one of arrays, and tensors of GGUF. */
TEST(test_gguf_of_many_items){
  blob b = { 0 };
  put(&b, "GGUF\3\0\0\0", 8);
  put_le64(&b, MANY);
  put_le64(&b, MANY+2);
  for(int i=0; i<MANY; i++){
    put_name64(&b, "k%d", i);
    put(&b, "\0\0\0\0\1", 5);
  }
  for(int nested=0; nested<2; nested++){
    put_name64(&b, "array%d", nested);
    put(&b, nested ? "\x9\0\0\0\x9\0\0\0" : "\x9\0\0\0\x8\0\0\0", 8);
    put_le64(&b, MANY);
    for(int i=0; i<MANY; i++){
      if( nested ) put(&b, "\0\0\0\0", 4);
      put_le64(&b, 0);
    }
  }
  for(int i=0; i<MANY; i++){
    put_name64(&b, "t%d", i);
    put(&b, "\0\0\0\0\0\0\0\0", 8);
    put_le64(&b, 32*(uint64_t)i);
  }
  put_repeated(&b, 0, 32*(size_t)MANY+32-b.n%32);
  check( check_open(seal(&b), "GGUF")>=4*MANY/65536, "too few" );
}

/* The memory that a header takes above its own bytes. */
static void check_memory(blob file, const char *row){
  zt_error err = ZT_ERROR_NONE;
  sqlite3_int64 before = sqlite3_memory_used(), most;
  zt_container *container;
  zt_source *source;
  assert_int_equal(zt_source_open_image(span_of(file), &source, &err), SQLITE_OK);
  sqlite3_memory_highwater(1);
  zt_container_open(source, NULL, &container, &err);
  most = sqlite3_memory_highwater(0)-before-(sqlite3_int64)file.n;
  assert_succeeded(&err, row);
  check( most<(sqlite3_int64)file.n*2/3, "%s: %lld bytes above %zu", row, (long long)most, file.n );
  zt_container_close(container);
  zt_source_close(source);
  assert_int_equal(sqlite3_memory_used(), before);
  free(file.p);
}

/* 64 MiB above the 100 MB that a header may have. */
TEST(test_memory){
  check_memory(tensors_out_of_order(300000), "tensors out of order");
  check_memory(metadata_out_of_order(1000000, ""), "metadata");
  check_memory(metadata_out_of_order(1000000, "\\u0041"), "escaped metadata");
}

int main(void){
  return run_all("interrupt", NULL, NULL);
}
