/*
** Files that are right by construction. The input's bytes choose a layout, a type, a shape, encodings and content; the target
** writes a file of that one tensor (1.2, or 0.1 with its one blob), and computes what its values are as plainly as can be
** (values.h). Properties:
**   - zt_dense gives these values; in another type, each of them converted, or the error that names the first that cannot be
**   - slices, zt_rows, zt_elements, zt_value, zt_json and zt_stats agree with them, whatever range they are asked for
**   - the fingerprint is the digest of type, shape and what zt_dense gives
**   - zt_blob gives the components' bytes
**   - a sparse tensor with one index out of range gives an error, and no values
** A source is the image as a BLOB, or a file of it.
*/
#ifndef _GNU_SOURCE
# define _GNU_SOURCE   /* mkstemp() */
#endif
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>
#include "choices.h"
#include "values.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

#define LIMIT (4<<20)          /* On the length of results */
#define MOST_ELEMENTS 20000    /* A written dense form has at most so many; */
#define FEW_ELEMENTS 500       /* most have at most so many */
#define MOST_ENTRIES 6000      /* Stored elements */
#define MOST_JSON 3000         /* Elements */
#define MOST_BYTES (1<<20)     /* An image has at most so many */
#define STORED_TYPES 19        /* No file has the others */

/* The source is ?1, a type ?2, a range ?3 and ?4. */
#define STATEMENTS(X) \
  X(dense, "SELECT zt_dense(?1, 't', ?2)") \
  X(slice, "SELECT zt_dense(?1, 't', ?2, ?3, ?4)") \
  X(rows, "SELECT row, vector FROM zt_rows(?1, 't', ?2) WHERE row >= ?3 AND row <= ?4") \
  X(elements, "SELECT position, value, coords FROM zt_elements(?1, 't') WHERE position BETWEEN ?3 AND ?4") \
  X(element, "SELECT position, value, coords FROM zt_elements(?1, 't') WHERE position = ?3") \
  X(fingerprint, "SELECT fingerprint, fingerprint_error FROM zt_objects(?1)") \
  X(json, "SELECT zt_json(?1, 't')") \
  X(stats, "SELECT error, elements, zeros, nans, infs, min, max, mean, std, l2 FROM zt_stats(?1)") \
  X(blob, "SELECT zt_blob(?1, 't', ?2)")

#define NAME(name, sql) S_##name,
#define SQL(name, sql) sql,
enum { STATEMENTS(NAME) S_COUNT };
static const char *const texts[] = { STATEMENTS(SQL) };
static sqlite3_stmt *statements[S_COUNT];
static sqlite3 *db;
static char path[] = "/tmp/ztensor-fuzz-XXXXXX";

int LLVMFuzzerInitialize(int *argc, char ***argv){
  char *message = NULL;
  int fd = mkstemp(path);
  (void)argc;
  (void)argv;
  CHECK(fd>=0, "%s", path);
  close(fd);
  unlink(path);            /* Its name is ours; the file is there only while it is read */
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);   /* Each allocation is the sanitizer's to watch */
  CHECK(sqlite3_open(":memory:", &db)==SQLITE_OK, "open");
  CHECK(sqlite3_ztensor_init(db, &message, NULL)==SQLITE_OK, "%s", message);
  for(int i=0; i<S_COUNT; i++){
    CHECK(sqlite3_prepare_v2(db, texts[i], -1, &statements[i], NULL)==SQLITE_OK, "%s: %s", texts[i], sqlite3_errmsg(db));
  }
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LIMIT);
  return 0;
}

/* --- Choices, from the input --- */

static uint64_t noise_state;   /* Goes on where the input ends; the same for the same input */

static uint64_t noise(void){
  noise_state ^= noise_state<<13;
  noise_state ^= noise_state>>7;
  noise_state ^= noise_state<<17;
  return noise_state;
}

/* A number below n: of the input while there is some. */
static uint64_t below(uint64_t n){
  return (input_left ? n>65536 ? noise() ^ byte() : two_bytes() : noise()) % n;
}

/* --- Bytes --- */

typedef struct bytes {
  uint8_t *p;
  size_t n, capacity;
} bytes;

static void put(bytes *b, const void *p, size_t n){
  if( n>b->capacity-b->n ){
    b->capacity = 2*(b->n+n)+256;
    b->p = realloc(b->p, b->capacity);
    CHECK(b->p, "realloc");
  }
  if( n ) memcpy(b->p+b->n, p, n);
  b->n += n;
}

static void put_le(bytes *b, uint64_t u, unsigned n){
  uint8_t le[8];
  for(unsigned i=0; i<n; i++) le[i] = (uint8_t)(u >> 8*i);
  put(b, le, n);
}

static void put_head(bytes *b, unsigned major, uint64_t u){
  uint8_t head[9] = { (uint8_t)(major<<5 | 27) };
  if( u<24 ){
    head[0] = (uint8_t)(major<<5 | u);
    put(b, head, 1);
    return;
  }
  for(int i=0; i<8; i++) head[1+i] = (uint8_t)(u >> 8*(7-i));
  put(b, head, 9);
}

static void put_text(bytes *b, const char *z){
  put_head(b, 3, strlen(z));
  put(b, z, strlen(z));
}

static void put_pair(bytes *b, const char *key, uint64_t u){
  put_text(b, key);
  put_head(b, 0, u);
}

static void put_words(bytes *b, const char *key, const char *z){
  put_text(b, key);
  put_text(b, z);
}

/* --- The tensor --- */

typedef enum layout { DENSE, CSR, COO, QUANTIZED } layout;
static const char *const formats[] = { "dense", "sparse_csr", "sparse_coo", "quantized_group" };
static const char *const old_formats[] = { "dense", "sparsecsr", "sparsecoo" };

typedef struct component {
  const char *role;
  const dtype *type;
  bytes content;           /* Decoded, as the file has it */
} component;

/* A stored element of a sparse tensor. */
typedef struct entry {
  uint64_t index[8], cell;
  size_t number;           /* In storage order */
} entry;

typedef struct tensor {
  layout layout;
  const dtype *type;        /* The elements' type */
  bool old, big;           /* 0.1; big-endian */
  bool broken;             /* An index is out of range */
  uint64_t shape[64], elements;
  unsigned rank;
  component parts[3];
  size_t nParts;
  size_t nEntries;
  entry *entries;          /* Sparse: in storage order */
  uint8_t *stored;         /* Their values */
  size_t nCells;           /* Sparse: cells that have a value */
  uint8_t *cells;          /* Their values */
  uint8_t *array;          /* The dense form, in the tensor's type; NULL if it is too large */
  uint64_t bits, group, per_word;   /* Quantized */
} tensor;

static component *add_part(tensor *t, const char *role, const dtype *type){
  component *p = &t->parts[t->nParts++];
  *p = (component){ .role = role, .type = type };
  return p;
}

/* A dimension: mostly small, and around what code works with at once. */
static uint64_t any_dimension(void){
  static const uint64_t some[] = { 16, 17, 31, 64, 100, 255, 1000, 1023, 1024, 1025, 2050, 4095, 4096, 4097, 5000, 9000 };
  unsigned b = byte();
  return b<216 ? b%9 : some[b%16];
}

static void choose_shape(tensor *t, unsigned rank){
  uint64_t most = byte()%8 ? FEW_ELEMENTS : MOST_ELEMENTS;
  t->rank = rank;
  t->elements = 1;
  for(unsigned d=0; d<rank; d++){
    uint64_t n = any_dimension();
    if( t->elements && n>most/t->elements ) n = 1;
    t->shape[d] = n;
    t->elements *= n;
  }
}

/* Elements of a type: any bits, small numbers, extremes, one number or extreme among zeros, one again and again, or after
** zeros, numbers far from 0 and close together. */
static void put_values(bytes *b, const dtype *t, size_t n){
  static const double extremes[] = {
    0.0, -0.0, 1, -1, 0.5, -0.99, 127, 128, -128.5, -129, 255, 256, 32768, -32769, 65504, 65520, 65536, 2147483648.0, -2147483649.0, 4294967296.0,
    9.2e18, 9223372036854775808.0, -9223372036854775808.0, 18446744073709551616.0, 3.5e38, -3.4e38, 1e-45, 1e-310, 1e308, 1.7e-160, -2e155, 448,
    464, 480, 57344, 61440, 6, 7, INFINITY, -INFINITY, NAN,
  };
  const size_t nExtremes = sizeof(extremes)/sizeof(*extremes);
  unsigned width = t->kind==K_COMPLEX ? t->width/2 : t->width, kind = (unsigned)choose(8), one = byte();
  size_t parts = t->kind==K_COMPLEX ? 2*n : n;
  uint64_t high = (uint64_t)byte()<<56, same = high | two_bytes(), cut = kind==6 ? below(parts+1) : 0;
  for(size_t i=0; i<parts; i++){
    uint64_t u = same;
    double x = extremes[kind==2 ? below(nExtremes) : kind==7 && below(3)==0 ? one%nExtremes : 0];
    float f;
    uint32_t bits;
    if( kind==0 ) u = input_left>=width ? 0 : noise();
    if( kind==0 && input_left>=width ) for(unsigned k=0; k<width; k++) u = u<<8 | byte();
    if( kind==1 ) x = (double)below(7)-3;
    if( kind==3 ) u = below(3) ? 0 : same;
    if( i<cut ) u = 0;
    if( kind==5 ) x = 1e6+(double)(noise()%1000)/1024;
    if( kind==1 || kind==2 || kind==5 || kind==7 ){
      f = (float)x;
      memcpy(&bits, &f, 4);
      if( t->bits==64 ) memcpy(&u, &x, 8);
      else if( t->bits==32 ) u = bits;
      else if( t->bits==0 ) u = isfinite(x) && fabs(x)<9.2e18 ? (uint64_t)(int64_t)x : (uint64_t)INT64_MAX+below(2);
      else round_small(t, x, &u);
    }
    put_le(b, u, width);
  }
}

static const dtype *choose_index(uint64_t most){
  const dtype *t = &types[4+choose(8)];   /* i64 to u8 */
  unsigned bits = 8*t->width-(t->kind==K_INT);
  return bits<64 && most>>bits ? type_named("u64") : t;
}

/* *cell += *value, of both one part. */
static void add_number(const dtype *t, unsigned part, uint8_t *cell, const uint8_t *value){
  unsigned width = t->kind==K_COMPLEX ? t->width/2 : t->width;
  uint64_t u = load_le(cell+part*width, width), v = load_le(value+part*width, width);
  number a = value_at(t, cell, 0, part), b = value_at(t, value, 0, part);
  double d = (double)a + (double)b;
  float f = (float)a + (float)b;
  uint32_t bits;
  memcpy(&bits, &f, 4);
  if( t->kind==K_INT || t->kind==K_UINT ) u += v;
  else if( t->kind==K_BOOL ) u = u || v;
  else if( t->bits==64 ) memcpy(&u, &d, 8);
  else if( t->bits==32 ) u = bits;
  else round_small(t, a+b, &u);
  for(unsigned i=0; i<width; i++) cell[part*width+i] = (uint8_t)(u >> 8*i);
}

static int compare_entries(const void *a, const void *b){
  const entry *x = a, *y = b;
  if( x->cell!=y->cell ) return x->cell<y->cell ? -1 : 1;
  return x->number<y->number ? -1 : 1;
}

static int compare_rows(const void *a, const void *b){
  const entry *x = a, *y = b;
  if( x->index[0]!=y->index[0] ) return x->index[0]<y->index[0] ? -1 : 1;
  return x->number<y->number ? -1 : 1;
}

/* The cells' values, and the dense form. */
static void scatter(tensor *t){
  unsigned parts = t->type->kind==K_COMPLEX ? 2 : 1, width = t->type->width;
  entry *sorted = malloc((t->nEntries+1)*sizeof(*sorted));
  uint8_t cell[16];
  CHECK(sorted, "malloc");
  memcpy(sorted, t->entries, t->nEntries*sizeof(*sorted));
  qsort(sorted, t->nEntries, sizeof(*sorted), compare_entries);
  t->cells = calloc(t->nEntries+1, t->type->width);
  if( t->elements<=MOST_ELEMENTS ) t->array = calloc((size_t)t->elements+1, t->type->width);
  for(size_t i=0; i<t->nEntries; ){
    uint64_t at = sorted[i].cell;
    memcpy(cell, t->stored+sorted[i++].number*width, width);
    for(; i<t->nEntries && sorted[i].cell==at; i++){
      for(unsigned p=0; p<parts; p++) add_number(t->type, p, cell, t->stored+sorted[i].number*width);
    }
    memcpy(t->cells+width*t->nCells++, cell, width);
    if( t->array && !t->broken ) memcpy(t->array+at*width, cell, width);
  }
  free(sorted);
}

static void make_dense(tensor *t){
  component *p = add_part(t, "data", t->type);
  static const unsigned ranks[] = { 1, 2, 3, 0, 4, 5, 2, 64 };
  choose_shape(t, ranks[choose(8)]);
  put_values(&p->content, t->type, (size_t)t->elements);
  t->array = malloc(p->content.n+1);
  CHECK(t->array, "malloc");
  if( p->content.n ) memcpy(t->array, p->content.p, p->content.n);
}

/* Where the stored elements of a sparse tensor are. */
static void choose_entries(tensor *t){
  size_t n = byte()<230 ? choose(24) : choose(MOST_ENTRIES);
  bool ascending = choose(3)==0;
  if( t->elements==0 ) n = 0;
  t->nEntries = n;
  t->entries = calloc(n+1, sizeof(*t->entries));
  CHECK(t->entries, "calloc");
  for(size_t i=0; i<n; i++){
    entry *e = &t->entries[i];
    e->number = i;
    for(unsigned d=0; d<t->rank; d++){
      e->index[d] = below(t->shape[d]);
      e->cell = e->cell*t->shape[d] + e->index[d];
    }
  }
  if( ascending ) qsort(t->entries, n, sizeof(*t->entries), compare_entries);
  else if( t->layout==CSR ) qsort(t->entries, n, sizeof(*t->entries), compare_rows);
  for(size_t i=0; i<n; i++) t->entries[i].number = i;
}

/* One index becomes its dimension, the first that is out of range. Not where the dimension does not fit the index's type. */
static void break_entry(tensor *t, const dtype *index, bool csr){
  entry *e;
  unsigned d = csr ? 1 : t->rank ? (unsigned)choose(t->rank) : 0;
  unsigned bits = 8*index->width-(index->kind==K_INT);
  if( t->nEntries==0 || t->rank==0 || choose(8) || (bits<64 && t->shape[d]>>bits) ) return;
  e = &t->entries[choose(t->nEntries)];
  e->index[d] = t->shape[d];
  t->broken = true;
}

static void put_index(bytes *b, const dtype *t, uint64_t i){
  put_le(b, i, t->width);
}

static void make_csr(tensor *t){
  const dtype *index, *pointer;
  bytes values = { 0 }, indices = { 0 }, pointers = { 0 };
  size_t k = 0;
  choose_shape(t, 2);
  if( choose(4)==0 && t->shape[0] ){   /* No dense form */
    t->shape[1] = (uint64_t)1 << (20+choose(30));
    t->elements = t->shape[0]*t->shape[1];
  }
  choose_entries(t);
  index = t->old ? type_named("u64") : choose_index(t->shape[1]);
  pointer = t->old ? type_named("u64") : choose_index(t->nEntries);
  break_entry(t, index, true);
  put_values(&values, t->type, t->nEntries);
  put_index(&pointers, pointer, 0);
  for(uint64_t r=0; r<t->shape[0]; r++){
    for(; k<t->nEntries && t->entries[k].index[0]==r; k++) put_index(&indices, index, t->entries[k].index[1]);
    put_index(&pointers, pointer, k);
  }
  t->stored = malloc(values.n+1);
  CHECK(t->stored, "malloc");
  if( values.n ) memcpy(t->stored, values.p, values.n);
  if( t->old ){
    component *p = add_part(t, "data", t->type);
    p->content = pointers;
    put(&p->content, indices.p, indices.n);
    put(&p->content, values.p, values.n);
    free(indices.p);
    free(values.p);
  }else{
    add_part(t, "values", t->type)->content = values;
    add_part(t, "indices", index)->content = indices;
    add_part(t, "indptr", pointer)->content = pointers;
  }
  scatter(t);
}

static void make_coo(tensor *t){
  const dtype *index;
  bytes values = { 0 }, coords = { 0 };
  uint64_t most = 0;
  choose_shape(t, (unsigned)choose(5));
  if( t->rank && choose(4)==0 && t->shape[t->rank-1] ){
    t->elements /= t->shape[t->rank-1];
    t->shape[t->rank-1] = (uint64_t)1 << (20+choose(30));
    t->elements *= t->shape[t->rank-1];
  }
  choose_entries(t);
  for(unsigned d=0; d<t->rank; d++) most = t->shape[d]>most ? t->shape[d] : most;
  index = t->old ? type_named("u64") : choose_index(most);
  break_entry(t, index, false);
  put_values(&values, t->type, t->nEntries);
  t->stored = malloc(values.n+1);
  CHECK(t->stored, "malloc");
  if( values.n ) memcpy(t->stored, values.p, values.n);
  if( t->old ){
    for(size_t i=0; i<t->nEntries; i++){
      for(unsigned d=0; d<t->rank; d++) put_index(&coords, index, t->entries[i].index[d]);
      put(&coords, t->stored+i*t->type->width, t->type->width);
    }
    add_part(t, "data", t->type)->content = coords;
    free(values.p);
  }else{
    for(unsigned d=0; d<t->rank; d++) for(size_t i=0; i<t->nEntries; i++) put_index(&coords, index, t->entries[i].index[d]);
    add_part(t, "values", t->type)->content = values;
    add_part(t, "coords", index)->content = coords;
  }
  scatter(t);
}

static void make_quantized(tensor *t){
  const dtype *scale_type = &types[choose(4)], *zero_type = &types[choose(17)], *word = &types[4+choose(8)];
  bytes scales = { 0 }, zeros = { 0 }, words = { 0 };
  uint64_t groups, last;
  uint8_t *codes;
  t->bits = (uint64_t)1 << choose(4);
  t->per_word = 8*word->width/t->bits;
  t->group = t->per_word<<choose(3);
  t->group >>= choose(3);
  if( t->group<1 ) t->group = 1;
  t->type = type_named("f32");
  choose_shape(t, (unsigned)choose(3));
  last = t->group>t->per_word ? t->group : t->per_word;   /* Both are powers of 2 */
  if( t->elements>MOST_ELEMENTS/last ) choose_shape(t, 0);
  t->shape[t->rank++] = last*choose(5);
  t->elements *= t->shape[t->rank-1];
  groups = t->elements/t->group;
  put_values(&scales, scale_type, (size_t)groups);
  put_values(&zeros, zero_type, (size_t)groups);
  codes = malloc((size_t)t->elements+1);
  t->array = malloc(4*(size_t)t->elements+1);
  CHECK(codes && t->array, "malloc");
  for(uint64_t i=0; i<t->elements; i++) codes[i] = (uint8_t)(below(256) & (((uint64_t)1 << t->bits)-1));
  for(uint64_t i=0; i<t->elements; i+=t->per_word){
    uint64_t w = 0;
    for(uint64_t k=0; k<t->per_word; k++) w |= (uint64_t)codes[i+k] << k*t->bits;
    put_le(&words, w, word->width);
  }
  for(uint64_t i=0; i<t->elements; i++){
    number scale, zero;
    float value;
    uint32_t bits;
    convert_number(t->type, value_at(scale_type, scales.p, i/t->group, 0), &scale);
    convert_number(t->type, value_at(zero_type, zeros.p, i/t->group, 0), &zero);
    value = (float)codes[i] - (float)zero;
    value *= (float)scale;
    memcpy(&bits, &value, 4);
    for(int k=0; k<4; k++) t->array[4*i+(uint64_t)k] = (uint8_t)(bits >> 8*k);
  }
  free(codes);
  add_part(t, choose(2) ? "packed_weight" : "data", word)->content = words;
  add_part(t, "scales", scale_type)->content = scales;
  add_part(t, "zeros", zero_type)->content = zeros;
}

static void free_tensor(tensor *t){
  for(size_t i=0; i<t->nParts; i++) free(t->parts[i].content.p);
  free(t->entries);
  free(t->stored);
  free(t->cells);
  free(t->array);
}

/* --- The file --- */

/* Append a component's stored bytes: in one frame, or two with one to be skipped between them. */
static void put_zstd(bytes *b, const bytes *content){
  size_t cut = choose(3) ? content->n : choose(content->n+1), from = 0;
  for(int i=0; i<2; i++, from=cut, cut=content->n){
    size_t bound = ZSTD_compressBound(cut-from), n;
    uint8_t *frame = malloc(bound);
    CHECK(frame, "malloc");
    if( i==1 && from==content->n ){
      free(frame);
      break;
    }
    n = ZSTD_compress(frame, bound, content->n ? content->p+from : (const uint8_t*)"", cut-from, 1);
    CHECK(!ZSTD_isError(n), "%s", ZSTD_getErrorName(n));
    put(b, frame, n);
    if( i==0 && from!=cut && cut<content->n ) put(b, "\x50\x2A\x4D\x18\x02\0\0\0ab", 10);
    free(frame);
  }
}

static void reverse_units(bytes *b, unsigned unit){
  for(size_t i=0; i+unit<=b->n; i+=unit){
    for(unsigned k=0; k<unit/2; k++){
      uint8_t swap = b->p[i+k];
      b->p[i+k] = b->p[i+unit-1-k];
      b->p[i+unit-1-k] = swap;
    }
  }
}

static const char *long_name(const dtype *t){
  static const char *const names[] = { "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32",
                                       "uint16", "uint8", "bool" };
  return names[t-types];
}

static void put_shape(bytes *b, const tensor *t){
  put_text(b, "shape");
  put_head(b, 4, t->rank);
  for(unsigned d=0; d<t->rank; d++) put_head(b, 0, t->shape[d]);
}

/* Write a component's bytes to the file and its entry to the manifest. */
static void put_part(bytes *file, bytes *manifest, tensor *t, component *p){
  bool zstd = choose(3)==0, known = zstd && choose(2);
  size_t offset;
  while( file->n%64 ) put(file, "", 1);
  offset = file->n;
  if( zstd ) put_zstd(file, &p->content);
  else{
    if( t->big ) reverse_units(&p->content, p->type->width);
    put(file, p->content.p, p->content.n);
  }
  if( t->old ){
    put_head(manifest, 5, 7+(t->big ? 1 : 0));
    put_words(manifest, "name", "t");
    put_words(manifest, "dtype", long_name(p->type));
    put_words(manifest, "layout", old_formats[t->layout]);
    put_shape(manifest, t);
    if( t->big ) put_words(manifest, "data_endianness", "big");
  }else{
    put_text(manifest, p->role);
    put_head(manifest, 5, 4u+(p->type->storage!=p->type->name && strcmp(p->type->storage, p->type->name))+known);
    put_words(manifest, "dtype", p->type->storage);
    if( strcmp(p->type->storage, p->type->name) ) put_words(manifest, "type", p->type->name);
  }
  put_pair(manifest, "offset", offset);
  put_pair(manifest, t->old ? "size" : "length", file->n-offset);
  put_words(manifest, "encoding", zstd ? "zstd" : "raw");
  if( known && !t->old ) put_pair(manifest, "uncompressed_length", p->content.n);
}

static void put_attributes(bytes *manifest, const tensor *t, const dtype *word){
  char packing[32];
  snprintf(packing, sizeof(packing), "%u_per_%s", (unsigned)t->per_word, word->name);
  put_text(manifest, "attributes");
  put_head(manifest, 5, 3);
  put_pair(manifest, "bits", t->bits);
  put_pair(manifest, "group_size", t->group);
  put_words(manifest, "packing", packing);
}

static bytes write_file(tensor *t){
  bytes file = { 0 }, manifest = { 0 };
  put(&file, t->old ? "ZTEN0001" : "ZTEN1000", 8);
  if( t->old ){
    put_head(&manifest, 4, 1);
  }else{
    put_head(&manifest, 5, 2);
    put_words(&manifest, "version", "1.2.0");
    put_text(&manifest, "objects");
    put_head(&manifest, 5, 1);
    put_text(&manifest, "t");
    put_head(&manifest, 5, t->layout==QUANTIZED ? 4 : 3);
    put_shape(&manifest, t);
    put_words(&manifest, "format", formats[t->layout]);
    if( t->layout==QUANTIZED ) put_attributes(&manifest, t, t->parts[0].type);
    put_text(&manifest, "components");
    put_head(&manifest, 5, t->nParts);
  }
  for(size_t i=0; i<t->nParts; i++) put_part(&file, &manifest, t, &t->parts[i]);
  put(&file, manifest.p, manifest.n);
  put_le(&file, manifest.n, 8);
  if( !t->old ) put(&file, "ZTEN1000", 8);
  free(manifest.p);
  return file;
}

/* --- Asking --- */

static const bytes *image;    /* The source */
static bool by_path;

static sqlite3_stmt *begin(int which, const dtype *as, uint64_t from, uint64_t to){
  sqlite3_stmt *s = statements[which];
  sqlite3_reset(s);
  if( by_path ) sqlite3_bind_text(s, 1, path, -1, SQLITE_STATIC);
  else sqlite3_bind_blob(s, 1, image->p, (int)image->n, SQLITE_STATIC);
  if( as ) sqlite3_bind_text(s, 2, as->name, -1, SQLITE_STATIC);
  else sqlite3_bind_null(s, 2);
  sqlite3_bind_int64(s, 3, (sqlite3_int64)from);
  sqlite3_bind_int64(s, 4, (sqlite3_int64)to);
  return s;
}

static void end(sqlite3_stmt *s){
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
}

static int step(sqlite3_stmt *s){
  int rc = sqlite3_step(s);
  CHECK(rc==SQLITE_ROW || rc==SQLITE_DONE || rc==SQLITE_ERROR || rc==SQLITE_TOOBIG, "%s: %s", sqlite3_sql(s), sqlite3_errmsg(db));
  return rc;
}

static void step_row(sqlite3_stmt *s){
  CHECK(step(s)==SQLITE_ROW, "%s: %s", sqlite3_sql(s), sqlite3_errmsg(db));
}

/* Element i as a type, part by part; false if it cannot be converted. Of complex numbers only to such. */
static bool converted(const tensor *t, const dtype *as, uint64_t i, number out[2]){
  const dtype number_type = as->kind==K_COMPLEX ? as->width==8 ? *type_named("f32") : *type_named("f64") : *as;
  out[1] = 0;
  if( !convert_element(t->type, t->array, i, 0, &number_type, &out[0]) ) return false;
  return t->type->kind!=K_COMPLEX || convert_element(t->type, t->array, i, 1, &number_type, &out[1]);
}

static bool complex_to_real(const tensor *t, const dtype *as){
  return t->type->kind==K_COMPLEX && as->kind!=K_COMPLEX;
}

/* The column has elements from `from` on, n of them, as that type. */
static void check_bytes(const tensor *t, const dtype *as, uint64_t from, uint64_t n, sqlite3_stmt *s, int i){
  const uint8_t *got = sqlite3_column_blob(s, i);
  number expected[2];
  CHECK(sqlite3_column_type(s, i)==SQLITE_BLOB && (uint64_t)sqlite3_column_bytes(s, i)==size_of(as, n), "%d bytes for %llu elements of %s",
        sqlite3_column_bytes(s, i), (unsigned long long)n, as->name);
  for(uint64_t k=0; k<n; k++){
    CHECK(converted(t, as, from+k, expected), "element %llu, %Lg, as %s", (unsigned long long)(from+k),
          value_at(t->type, t->array, from+k, 0), as->name);
    if( !EXACT ) continue;
    for(unsigned p=0; p<(as->kind==K_COMPLEX ? 2u : 1u); p++){
      CHECK(same_number(value_at(as, got, k, p), expected[p]), "element %llu, %Lg, as %s is %Lg, expected %Lg", (unsigned long long)(from+k),
            value_at(t->type, t->array, from+k, p), as->name, value_at(as, got, k, p), expected[p]);
    }
  }
}

/* The first of elements from to from+n that cannot be converted; from+n: all can. */
static uint64_t first_failing(const tensor *t, const dtype *as, uint64_t from, uint64_t n){
  number unused[2];
  uint64_t i = from;
  while( i<from+n && converted(t, as, i, unused) ) i++;
  return i;
}

static void check_failure(const tensor *t, const dtype *as, uint64_t from, uint64_t n){
  uint64_t i = first_failing(t, as, from, n), index[64];
  char expected[2048];
  size_t at = 0;
  if( complex_to_real(t, as) ) return;
  CHECK(i<from+n, "%s: all can be converted to %s", sqlite3_errmsg(db), as->name);
  for(unsigned d=t->rank; d-->0; i/=t->shape[d]) index[d] = i%t->shape[d];
  at += (size_t)snprintf(expected, sizeof(expected), "element [");
  for(unsigned d=0; d<t->rank; d++) at += (size_t)snprintf(expected+at, sizeof(expected)-at, "%s%llu", d ? "," : "", (unsigned long long)index[d]);
  snprintf(expected+at, sizeof(expected)-at, "] is ");
  CHECK(strstr(sqlite3_errmsg(db), expected) && strstr(sqlite3_errmsg(db), as->name), "'%s' does not say '%s'", sqlite3_errmsg(db), expected);
}

/* zt_dense: all, or a slice. */
static void digest_u64(XXH3_state_t *state, uint64_t u){
  uint8_t b[8];
  for(int i=0; i<8; i++) b[i] = (uint8_t)(u >> 8*i);
  XXH3_128bits_update(state, b, sizeof(b));
}

/* The fingerprint of the tensor, whose zt_dense gives these n bytes. */
static void check_fingerprint(const tensor *t, const void *data, size_t n){
  sqlite3_stmt *s = begin(S_fingerprint, NULL, 0, 0);
  XXH3_state_t *state = XXH3_createState();
  XXH128_hash_t hash;
  char text[48];
  XXH3_128bits_reset(state);
  digest_u64(state, strlen(t->type->name));
  XXH3_128bits_update(state, t->type->name, strlen(t->type->name));
  digest_u64(state, t->rank);
  for(unsigned i=0; i<t->rank; i++) digest_u64(state, t->shape[i]);
  if( n ) XXH3_128bits_update(state, data, n);
  hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  snprintf(text, sizeof(text), "xxh3-128:%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
  step_row(s);
  CHECK(sqlite3_column_type(s, 1)==SQLITE_NULL, "%s", sqlite3_column_text(s, 1));
  CHECK(strcmp((const char*)sqlite3_column_text(s, 0), text)==0, "fingerprint %s, expected %s", sqlite3_column_text(s, 0), text);
  end(s);
}

static void check_dense(const tensor *t, const dtype *as, bool sliced, uint64_t first, uint64_t count){
  sqlite3_stmt *s = begin(sliced ? S_slice : S_dense, as, first, count);
  uint64_t from = 0, n = t->elements, each;
  int rc = step(s);
  if( !as ) as = t->type;
  if( sliced && t->rank==0 ){
    CHECK(rc==SQLITE_ERROR, "a slice of a scalar");
    end(s);
    return;
  }
  if( sliced ){
    each = t->shape[0] ? t->elements/t->shape[0] : 0;
    if( first>t->shape[0] ) first = t->shape[0];
    if( count>t->shape[0]-first ) count = t->shape[0]-first;
    from = first*each;
    n = count*each;
  }
  if( rc==SQLITE_ROW ){
    CHECK(!complex_to_real(t, as), "complex numbers as %s", as->name);
    check_bytes(t, as, from, n, s, 0);
    if( as==t->type && t->layout==DENSE && as->each==1 && n ){
      CHECK(memcmp(sqlite3_column_blob(s, 0), t->array+from*as->width, (size_t)(n*as->width))==0, "other bits");
    }
    if( as==t->type && !sliced ) check_fingerprint(t, sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0));
  }else{
    check_failure(t, as, from, n);
  }
  end(s);
}

/* Rows from first to last, both included. */
static void check_rows(const tensor *t, const dtype *as, uint64_t first, uint64_t last){
  sqlite3_stmt *s = begin(S_rows, as, first, last);
  uint64_t rows = t->rank ? t->shape[0] : 0, each = rows ? t->elements/rows : 0, i = first;
  int rc;
  if( !as ) as = type_named("f32");
  for(; (rc = step(s))==SQLITE_ROW; i++){
    CHECK((uint64_t)sqlite3_column_int64(s, 0)==i && i<rows && i<=last, "row %lld after %llu", sqlite3_column_int64(s, 0), (unsigned long long)i);
    CHECK(!complex_to_real(t, as), "complex numbers as %s", as->name);
    check_bytes(t, as, i*each, each, s, 1);
  }
  if( rc==SQLITE_DONE ){
    CHECK(t->rank && i==(first>=rows || first>last ? first : last<rows ? last+1 : rows), "%llu rows from %llu to %llu of %llu",
          (unsigned long long)(i-first), (unsigned long long)first, (unsigned long long)last, (unsigned long long)rows);
  }else if( t->rank ){
    check_failure(t, as, i*each, (rows-i)*each);
  }
  end(s);
}

static bool check_coords(const tensor *t, const char *coords, uint64_t position){
  uint64_t index[64], at = 0;
  unsigned n = read_shape(coords, index);
  for(unsigned d=0; d<n && n==t->rank; d++) at = at*t->shape[d] + index[d];
  return n==t->rank && at==position;
}

static void check_row_of_element(const tensor *t, sqlite3_stmt *s, uint64_t position, const uint8_t *array, uint64_t i){
  CHECK((uint64_t)sqlite3_column_int64(s, 0)==position, "position %lld, expected %llu", sqlite3_column_int64(s, 0), (unsigned long long)position);
  CHECK(check_coords(t, (const char*)sqlite3_column_text(s, 2), position), "coords %s", sqlite3_column_text(s, 2));
  check_scalar(s, 1, t->type, value_at(t->type, array, i, 0), t->type->kind==K_COMPLEX ? value_at(t->type, array, i, 1) : 0);
}

/* Elements, or stored elements, at positions from first to last. */
static void check_elements(const tensor *t, bool one, uint64_t first, uint64_t last){
  sqlite3_stmt *s = begin(one ? S_element : S_elements, NULL, first, last);
  int rc = SQLITE_DONE;
  if( one ) last = first;
  if( t->layout==DENSE || t->layout==QUANTIZED ){
    for(uint64_t i=first; i<t->elements && i<=last; i++){
      step_row(s);
      check_row_of_element(t, s, i, t->array, i);
    }
    rc = step(s);
  }else if( t->broken ){
    while( (rc = step(s))==SQLITE_ROW ) {}   /* Those before it may be there, or not looked at */
    CHECK(first>0 || last<t->elements-1 || rc==SQLITE_ERROR, "an index out of range");
    rc = SQLITE_DONE;
  }else{
    for(size_t i=0; i<t->nEntries; i++){
      if( t->entries[i].cell<first || t->entries[i].cell>last ) continue;
      step_row(s);
      check_row_of_element(t, s, t->entries[i].cell, t->stored, i);
    }
    rc = step(s);
  }
  CHECK(rc==SQLITE_DONE, "%s: %s", sqlite3_sql(s), rc==SQLITE_ROW ? "more rows" : sqlite3_errmsg(db));
  end(s);
}

/* Implicit zeros and all. */
static plain_stats expected_stats(const tensor *t){
  plain_stats e;
  number zeros, n;
  if( t->array ) return stats_of(t->type, t->array, t->elements);
  e = stats_of(t->type, t->cells, t->nCells);
  zeros = (number)(t->elements-t->nCells);
  if( t->elements==t->nCells ) return e;
  n = (number)e.finite+zeros;
  e.min = e.finite && e.min<0 ? e.min : 0;
  e.max = e.finite && e.max>0 ? e.max : 0;
  e.mean = e.mean*((number)e.finite/n);
  e.std = sqrtl(fmaxl(0, e.l2*e.l2/n-e.mean*e.mean));
  e.zeros += t->elements-t->nCells;
  e.finite += t->elements-t->nCells;
  return e;
}

static void check_statistics(const tensor *t){
  sqlite3_stmt *s = begin(S_stats, NULL, 0, 0);
  plain_stats expected;
  step_row(s);
  if( t->type->kind==K_COMPLEX || t->broken ){
    CHECK(sqlite3_column_type(s, 0)==SQLITE_TEXT, "statistics of %s", t->type->name);
  }else{
    expected = expected_stats(t);
    CHECK(sqlite3_column_type(s, 0)==SQLITE_NULL, "no statistics: %s", sqlite3_column_text(s, 0));
    CHECK((uint64_t)sqlite3_column_int64(s, 1)==t->elements, "%lld elements", sqlite3_column_int64(s, 1));
    check_stats(s, 2, t->type, &expected);
  }
  end(s);
}

static void check_json(const tensor *t){
  sqlite3_stmt *s = begin(S_json, NULL, 0, 0);
  json_reader r = { .type = t->type, .array = t->array, .shape = t->shape, .rank = t->rank };
  int rc = step(s);
  r.p = (const char*)sqlite3_column_text(s, 0);
  if( rc==SQLITE_ROW ) CHECK(json_matches(&r, 0) && *r.p==0 && r.i==t->elements, "zt_json differs at '%.60s'", r.p);
  else CHECK(rc==SQLITE_TOOBIG && t->elements==0, "zt_json: %s", sqlite3_errmsg(db));   /* Empty arrays, very many */
  end(s);
}

static void check_parts(const tensor *t){
  for(size_t i=0; i<t->nParts; i++){
    const component *p = &t->parts[i];
    sqlite3_stmt *s = begin(S_blob, NULL, 0, 0);
    sqlite3_bind_text(s, 2, p->role, -1, SQLITE_STATIC);
    step_row(s);
    CHECK((size_t)sqlite3_column_bytes(s, 0)==p->content.n, "%s has %d bytes, expected %zu", p->role, sqlite3_column_bytes(s, 0), p->content.n);
    CHECK(p->content.n==0 || memcmp(sqlite3_column_blob(s, 0), p->content.p, p->content.n)==0, "other bytes of %s", p->role);
    end(s);
  }
}

static void check(const tensor *t){
  uint64_t rows = t->rank ? t->shape[0] : 1, a = below(rows+2), b = below(rows+2), p, q;
  check_parts(t);
  check_statistics(t);
  check_elements(t, false, 0, INT64_MAX);
  p = below(t->elements+2);
  q = p+below(100);
  check_elements(t, false, p, q);
  check_elements(t, true, p, p);
  if( !t->array || t->broken ){
    sqlite3_stmt *s = begin(S_dense, NULL, 0, 0);
    int rc = step(s);
    if( t->broken ){
      sqlite3_stmt *f = begin(S_fingerprint, NULL, 0, 0);
      step_row(f);
      CHECK(sqlite3_column_type(f, 0)==SQLITE_NULL && sqlite3_column_text(f, 1), "%s of a broken tensor", sqlite3_column_text(f, 0));
      end(f);
    }
    CHECK(rc==SQLITE_TOOBIG || (rc==SQLITE_ERROR && t->broken) || (rc==SQLITE_ROW && !t->broken && t->elements<=LIMIT), "zt_dense: %d, %s", rc,
          sqlite3_errmsg(db));
    end(s);
    return;
  }
  check_dense(t, NULL, false, 0, 0);
  for(int i=0; i<3; i++){
    const dtype *as = &types[choose(N_TYPES)];
    check_dense(t, as, false, 0, 0);
    check_dense(t, as, true, a, b);
    if( as->each==1 || rows==0 || t->elements/rows%2==0 ) check_rows(t, as, i ? a : 0, i ? a+b : INT64_MAX);
  }
  check_rows(t, NULL, a, b);
  if( t->elements<=MOST_JSON ) check_json(t);
}

static void write_source(const bytes *file){
  FILE *f = fopen(path, "wb");
  CHECK(f && fwrite(file->p, 1, file->n, f)==file->n && fclose(f)==0, "%s", path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  tensor t = { .layout = DENSE };
  bytes file;
  unsigned how;
  input = data;
  input_left = n;
  noise_state = 0x9E3779B97F4A7C15u;
  for(size_t i=0; i<n; i++) noise_state = (noise_state ^ data[i]) * 0x100000001B3u;
  noise_state |= 1;
  how = byte();
  by_path = how%4==3;
  t.layout = (layout)(byte()%4);
  t.old = how/4%4==3 && t.layout!=QUANTIZED;
  t.type = &types[choose(t.old ? 13 : STORED_TYPES)];
  t.big = t.old && how/16%2;
  switch( t.layout ){
    case DENSE: make_dense(&t); break;
    case CSR: make_csr(&t); break;
    case COO: make_coo(&t); break;
    case QUANTIZED: make_quantized(&t); break;
  }
  file = write_file(&t);
  image = &file;
  if( file.n<=MOST_BYTES ){
    if( by_path ) write_source(&file);
    check(&t);
    if( by_path ) unlink(path);
  }
  free(file.p);
  free_tensor(&t);
  return 0;
}
