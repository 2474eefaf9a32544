/*
** Tensors that tests make: a whole file around one object, of 1.2 or 0.1, opened from memory or from disk.
*/
#ifndef ZT_TESTS_UNIT_TENSORS_H
#define ZT_TESTS_UNIT_TENSORS_H

#include "test.h"

#include <unistd.h>
#include <zstd.h>
#include "tensor/assemble.h"
#include "tensor/layout.h"

/* --- Elements --- */

static inline const zt_dtype *named(const char *name){
  const zt_dtype *d = zt_dtype_named((zt_text){ name, strlen(name) });
  check( d!=NULL, "%s", name );
  return d;
}

/* An element of the type, as in memory, to the bytes of a file. */
static inline void put_element(blob *b, const zt_dtype *d, const void *element){
  uint8_t *p = put_room(b, d->width);
  memcpy(p, element, d->width);
  if( zt_big_endian() ) zt_swap_bytes(p, d->width, d->unit);
}

/* A number, as an element of a type that has it. */
static inline void put_real(blob *b, const char *dtype, double x){
  uint64_t element[2];
  check( zt_convert(named("f64"), &x, named(dtype), element, 1)==1, "%g as %s", x, dtype );
  put_element(b, named(dtype), element);
}

/* The JSON text in a buffer, which is freed, from sqlite3_malloc(); NULL after a failure. */
static inline char *json_taken(zt_buffer *b, zt_error *err){
  char *z = NULL;
  if( !err->rc && (z = sqlite3_mprintf("%.*s", (int)b->n, (const char*)b->p))==NULL ) zt_fail_nomem(err);
  zt_buffer_clear(b);
  return z;
}

/* All of a tensor as text. */
static inline char *json_of(zt_tensor *t, zt_error *err){
  zt_slice all = zt_slice_all(t->object);
  zt_buffer out;
  zt_assemble_json(t, t->dtype, &all, &out, err);
  return json_taken(&out, err);
}

/* The low bytes of a number. */
static inline void put_bits(blob *b, uint64_t u, unsigned width){
  for(unsigned i=0; i<width; i++) put_byte(b, (unsigned)(u >> 8*i & 0xFF));
}

static inline void put_zstd(blob *b, const void *p, size_t n){
  size_t room = ZSTD_compressBound(n), length = ZSTD_compress(put_room(b, room), room, p, n, 1);
  assert_false(ZSTD_isError(length));
  b->n -= room-length;
}

/* The same in a frame that asks for the largest window there may be, 2^27 bytes, of which it needs few. A test
** that decodes it many thousands of times may ask for less. */
#ifndef WIDE_WINDOW_LOG
# define WIDE_WINDOW_LOG 27
#endif
static inline void put_zstd_wide(blob *b, const void *p, size_t n){
  ZSTD_CCtx *ctx = ZSTD_createCCtx();
  size_t room = ZSTD_compressBound(n), at = b->n, length;
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, 0);
  length = ZSTD_compress2(ctx, put_room(b, room), room, p, n);
  assert_false(ZSTD_isError(length));
  b->n -= room-length;
  b->p[at+5] = (WIDE_WINDOW_LOG-10)<<3;
  ZSTD_freeCCtx(ctx);
}

/* --- A file around one object --- */

typedef enum storing { RAW, ZSTD, ZSTD_STATED, ZSTD_WIDE } storing;   /* The third with uncompressed_length, the last with wide windows */

typedef struct part {
  const char *role, *dtype, *type;
  blob bytes;              /* Decoded; owned */
  storing storing;
} part;

#define MAX_PARTS 4

typedef struct recipe {
  const char *format;      /* 0.1: the layout */
  uint32_t rank;
  uint64_t shape[ZT_MAX_RANK];
  blob attributes;         /* A CBOR map, owned; n 0: none */
  size_t n;
  part parts[MAX_PARTS];
  bool old, big;           /* 0.1, where dtypes have long names; big-endian */
  const char *order;       /* 0.1: the byte order that it states; NULL: as `big` says */
} recipe;

static inline part *add_part(recipe *r, const char *role, const char *dtype, const char *type, blob bytes){
  part *p = &r->parts[r->n++];
  assert_true(r->n<=MAX_PARTS);
  *p = (part){ role, dtype, type, bytes, RAW };
  return p;
}

static inline void clear_recipe(recipe *r){
  for(size_t i=0; i<r->n; i++) free(r->parts[i].bytes.p);
  free(r->attributes.p);
  *r = (recipe){ 0 };
}

static inline void put_key_uint(blob *b, const char *key, uint64_t u){
  put_text(b, key);
  put_uint(b, u);
}

static inline void put_key_text(blob *b, const char *key, const char *z){
  put_text(b, key);
  put_text(b, z);
}

static inline void put_shape(blob *b, const recipe *r){
  put_text(b, "shape");
  put_array(b, r->rank);
  for(uint32_t d=0; d<r->rank; d++) put_uint(b, r->shape[d]);
}

/* The part's bytes as they are stored, from the next multiple of 64 on. */
static inline size_t put_stored(blob *file, const recipe *r, const part *p, uint64_t *offset){
  size_t before;
  put_repeated(file, 0, (64-file->n%64)%64);
  *offset = before = file->n;
  if( p->storing==ZSTD_WIDE ) put_zstd_wide(file, p->bytes.p, p->bytes.n);
  else if( p->storing!=RAW ) put_zstd(file, p->bytes.p, p->bytes.n);
  else put(file, p->bytes.p, p->bytes.n);
  if( r->big && p->storing==RAW ){
    unsigned unit = strstr(p->dtype, "64") ? 8 : strstr(p->dtype, "32") ? 4 : strstr(p->dtype, "16") ? 2 : 1;
    zt_swap_bytes(file->p+before, file->n-before, unit);
  }
  return file->n-before;
}

/* 0.1: a list of one tensor. */
static inline void put_old(blob *file, blob *manifest, const recipe *r){
  const part *p = &r->parts[0];
  uint64_t offset, length = put_stored(file, r, p, &offset);
  put_array(manifest, 1);
  put_map(manifest, r->big || r->order ? 8 : 7);
  put_key_text(manifest, "name", "x");
  put_key_uint(manifest, "offset", offset);
  put_key_uint(manifest, "size", length);
  put_key_text(manifest, "dtype", p->dtype);
  put_shape(manifest, r);
  put_key_text(manifest, "encoding", p->storing==RAW ? "raw" : "zstd");
  put_key_text(manifest, "layout", r->format);
  if( r->order ) put_key_text(manifest, "data_endianness", r->order);
  else if( r->big ) put_key_text(manifest, "data_endianness", "big");
}

static inline void put_new(blob *file, blob *manifest, const recipe *r){
  put_map(manifest, 2);
  put_key_text(manifest, "version", "1.2.0");
  put_text(manifest, "objects");
  put_map(manifest, 1);
  put_text(manifest, "x");
  put_map(manifest, r->attributes.n ? 4 : 3);
  put_shape(manifest, r);
  put_key_text(manifest, "format", r->format);
  if( r->attributes.n ){
    put_text(manifest, "attributes");
    put(manifest, r->attributes.p, r->attributes.n);
  }
  put_text(manifest, "components");
  put_map(manifest, r->n);
  for(size_t i=0; i<r->n; i++){
    const part *p = &r->parts[i];
    uint64_t offset, length = put_stored(file, r, p, &offset);
    put_text(manifest, p->role);
    put_map(manifest, 3u + (p->type!=NULL) + (p->storing!=RAW) + (p->storing==ZSTD_STATED));
    put_key_text(manifest, "dtype", p->dtype);
    if( p->type ) put_key_text(manifest, "type", p->type);
    put_key_uint(manifest, "offset", offset);
    put_key_uint(manifest, "length", length);
    if( p->storing!=RAW ) put_key_text(manifest, "encoding", "zstd");
    if( p->storing==ZSTD_STATED ) put_key_uint(manifest, "uncompressed_length", p->bytes.n);
  }
}

static inline blob file_of(const recipe *r){
  blob file = { 0 }, manifest = { 0 };
  put(&file, r->old ? "ZTEN0001" : "ZTEN1000", 8);
  if( r->old ) put_old(&file, &manifest, r);
  else put_new(&file, &manifest, r);
  put(&file, manifest.p, manifest.n);
  put_le64(&file, manifest.n);
  if( !r->old ) put(&file, "ZTEN1000", 8);
  free(manifest.p);
  return seal(&file);
}

/* --- Opened --- */

/* An object of an opened file. Stays where it is: a tensor points into it. */
typedef struct opened {
  blob bytes;              /* The image's; else empty */
  zt_source *source;
  zt_container *container;
  zt_object object;
  zt_budget budget;
} opened;

static inline void open_source(opened *o, zt_source *source, const char *row){
  zt_error err = ZT_ERROR_NONE;
  o->source = source;
  o->budget = (zt_budget){ .result = 1000000000, .decode = (uint64_t)1<<40 };
  zt_container_open(source, NULL, &o->container, &err);
  assert_succeeded(&err, row);
  if( zt_container_objects(o->container)>0 ) zt_container_object(o->container, 0, &o->object);
}

static inline void open_bytes(opened *o, blob bytes, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  *o = (opened){ .bytes = bytes };
  assert_int_equal(zt_source_open_image(span_of(bytes), &source, &err), SQLITE_OK);
  open_source(o, source, row);
}

static inline void open_path(opened *o, const char *path){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  *o = (opened){ .bytes = { 0 } };
  zt_source_open(path, NULL, &source, &err);
  assert_succeeded(&err, path);
  open_source(o, source, path);
}

/* Opens the recipe's file in memory, or written to that path. */
static inline void open_recipe(opened *o, const recipe *r, const char *path, const char *row){
  blob file = file_of(r);
  if( path ){
    write_file(path, file.p, file.n);
    free(file.p);
    open_path(o, path);
  }else{
    open_bytes(o, file, row);
  }
}

static inline void close_opened(opened *o){
  zt_container_close(o->container);
  zt_source_close(o->source);
  free(o->bytes.p);
  *o = (opened){ 0 };
}

static inline void open_tensor(opened *o, zt_tensor *t, const char *row){
  zt_error err = ZT_ERROR_NONE;
  o->budget.decoded = 0;
  zt_tensor_open(o->source, o->container, &o->object, &o->budget, t, &err);
  assert_succeeded(&err, row);
  check( err.component.z==NULL, "%s: the place stays", row );
}

/* --- Ranges --- */

static inline void check_range(zt_tensor *t, const uint8_t *want, uint64_t first, size_t n, const char *row){
  unsigned width = t->dtype->width;
  zt_error err = ZT_ERROR_NONE;
  uint8_t *out = malloc(n*width+1);   /* And no byte more: AddressSanitizer looks */
  memset(out, 0xC3, n*width+1);
  t->budget->decoded = 0;
  zt_tensor_read(t, first, n, out, &err);
  assert_succeeded(&err, row);
  if( memcmp(out, want+first*width, n*width) || out[n*width]!=0xC3 ){
    for(size_t i=0; i<n; i++){
      check( memcmp(out+i*width, want+(first+i)*width, width)==0, "%s: element %llu of [%llu, +%zu)", row, (unsigned long long)(first+i), (unsigned long long)first, n );
    }
    fail_msg("%s: written behind [%llu, +%zu)", row, (unsigned long long)first, n);
  }
  free(out);
}

/* Elements in windows of several sizes, forward and backward, at random places, and as bytes of a result. */
static inline void check_tensor(opened *o, const zt_dtype *d, const uint8_t *want, const char *row){
  uint64_t elements = o->object.elements, seed = elements+17;
  const size_t windows[] = { 1, 2, 3, 7, 31, 64, 1000, 4096, elements>1 ? (size_t)elements-1 : 1, (size_t)elements };
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out;
  zt_tensor t;
  open_tensor(o, &t, row);
  check( t.dtype==d, "%s: %s", row, t.dtype->name );
  for(size_t w=0; w<COUNT(windows) && elements>0; w++){
    size_t window = windows[w], reads = (size_t)elements/window;
    if( window>elements || reads>64 ) continue;
    for(uint64_t at=0; at<elements; at+=window) check_range(&t, want, at, window<elements-at ? window : (size_t)(elements-at), row);
    for(size_t i=0; i<reads && i<10; i++) check_range(&t, want, (reads-1-i)*window, window, row);
  }
  for(int i=0; i<16 && elements>0; i++){
    uint64_t first = random_below(&seed, (size_t)elements), n = 1+random_below(&seed, (size_t)(elements-first));
    check_range(&t, want, first, i%2 || n<9 ? (size_t)n : 1+(size_t)n%9, row);
  }
  o->budget.decoded = 0;
  assert_int_equal(zt_assemble(&t, d, 0, elements, &out, &err), SQLITE_OK);
  check( out.n==elements*d->width, "%s: %llu bytes", row, (unsigned long long)out.n );
  if( zt_big_endian() ) zt_swap_bytes(out.p, (size_t)out.n, d->unit);
  check( out.n==0 || memcmp(out.p, want, (size_t)out.n)==0, "%s: bytes", row );
  zt_buffer_clear(&out);
  zt_tensor_close(&t);
}

#endif
