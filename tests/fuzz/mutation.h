/*
** Mutants of the golden files, each made of an input's choices (choices.h): what a file says is changed in the terms of its
** own grammar (a length is a little larger, a name is another's, an entry stands twice), its end is put right, and then
** perhaps spoilt as bytes. So mutants reach what random bytes do not: the rules behind the footer and the CBOR.
*/
#ifndef ZT_TESTS_FUZZ_MUTATION_H
#define ZT_TESTS_FUZZ_MUTATION_H

#include <glob.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "choices.h"
#include "fuzz.h"

#define MUTANT_MAX (1<<19)    /* Bytes of a mutant; the golden files are smaller */
#define MOST_ITEMS 4096       /* Items of a manifest that may be chosen */
#define MOST_DEPTH 64

/* A file, or a part of one. */
typedef struct bytes {
  uint8_t p[MUTANT_MAX];
  size_t n;
} bytes;

/* --- The golden files --- */

typedef struct golden {
  const char *path;
  uint8_t *p;
  size_t n;
  size_t manifest, footer;    /* Where the manifest begins, and how long the footer is; the manifest is between them */
} golden;

static golden *goldens;
static size_t nGoldens;

static uint64_t get_le64(const uint8_t *p){
  uint64_t u = 0;
  for(int i=8; i-->0;) u = u<<8 | p[i];
  return u;
}

static void put_le64(uint8_t *p, uint64_t u){
  for(int i=0; i<8; i++) p[i] = (uint8_t)(u >> 8*i);
}

/* The footers: manifest length u64 (0.1, 1.0); and a magic number behind it (1.1, 1.2); offset, length, hash, version and a
** magic number (2). */
static void find_manifest(golden *g){
  static const uint8_t magic2[8] = "\x89ZT2\r\n\x1a\n";
  const uint8_t *end = g->p+g->n;
  g->footer = memcmp(end-8, magic2, 8)==0 ? 40 : memcmp(end-8, "ZTEN1000", 8)==0 ? 16 : 8;
  g->manifest = g->n - g->footer - (size_t)get_le64(g->footer==40 ? end-32 : end-g->footer);
  CHECK(g->manifest>=8 && g->manifest<=g->n-g->footer, "%s: where is its manifest?", g->path);
}

static void read_golden(golden *g){
  FILE *f = fopen(g->path, "rb");
  g->p = malloc(MUTANT_MAX);
  CHECK(f && g->p, "%s: cannot be read", g->path);
  g->n = fread(g->p, 1, MUTANT_MAX, f);
  CHECK(g->n<MUTANT_MAX/2, "%s: too large", g->path);
  fclose(f);
  find_manifest(g);
}

static void read_goldens(void){
  static glob_t found;
  CHECK(glob("tests/formats/ztensor/golden/v*/*.zt", 0, NULL, &found)==0, "run this in the project's directory");
  nGoldens = found.gl_pathc;
  goldens = calloc(nGoldens, sizeof(*goldens));
  CHECK(goldens, "calloc");
  for(size_t i=0; i<nGoldens; i++){
    goldens[i].path = found.gl_pathv[i];
    read_golden(&goldens[i]);
  }
}

/* --- CBOR, as far as mutation needs it --- */

typedef struct item {
  size_t at, head, end;       /* Where it begins, the length of its head, and where it and all that is in it ends */
  unsigned major;
  uint64_t value;
} item;

static item items[MOST_ITEMS];
static size_t nItems;

/* Take down the item at `at`, and all in it; where it ends, or 0 if that is no CBOR, or of indefinite length. */
static size_t read_item(const bytes *b, size_t at, unsigned depth){
  unsigned info, width;
  item *self, spare;
  uint64_t parts;
  if( at>=b->n || depth>MOST_DEPTH ) return 0;
  info = b->p[at] & 31;
  width = info<24 ? 0 : 1u<<(info-24);
  if( info>27 || width>b->n-at-1 ) return 0;
  self = nItems<MOST_ITEMS ? &items[nItems++] : &spare;
  *self = (item){ .at = at, .head = 1+width, .major = b->p[at]>>5, .value = width ? 0 : info };
  for(unsigned i=0; i<width; i++) self->value = self->value<<8 | b->p[at+1+i];
  at += self->head;
  if( self->major==2 || self->major==3 ){
    if( self->value>b->n-at ) return 0;
    at += (size_t)self->value;
  }
  parts = self->major==4 ? self->value : self->major==5 ? 2*self->value : self->major==6;
  for(uint64_t i=0; i<parts; i++){
    at = read_item(b, at, depth+1);
    if( at==0 ) return 0;
  }
  return self->end = at;
}

static void read_items(const bytes *b){
  nItems = 0;
  read_item(b, 0, 0);
  while( nItems>0 && items[nItems-1].end==0 ) nItems--;    /* Items that were open at the failure */
}

/* One of the items of that major type (8: of any); NULL if there is none. */
static item *choose_item(unsigned major){
  size_t from = nItems ? choose(nItems) : 0;
  for(size_t i=0; i<nItems; i++){
    item *found = &items[(from+i)%nItems];
    if( found->end && (major==8 || found->major==major) ) return found;
  }
  return NULL;
}

static size_t make_head(uint8_t *p, unsigned major, uint64_t value){
  unsigned info = value<24 ? (unsigned)value : value<=0xFF ? 24 : value<=0xFFFF ? 25 : value<=0xFFFFFFFF ? 26 : 27;
  unsigned width = info<24 ? 0 : 1u<<(info-24);
  p[0] = (uint8_t)(major<<5 | info);
  for(unsigned i=0; i<width; i++) p[1+i] = (uint8_t)(value >> 8*(width-1-i));
  return 1+width;
}

/* --- Changes of the manifest --- */

/* Put n bytes in place of those from `at` to `end`. */
static void replace(bytes *b, size_t at, size_t end, const void *p, size_t n){
  static uint8_t copy[MUTANT_MAX];
  if( n>MUTANT_MAX/2 || b->n-(end-at)+n>MUTANT_MAX/2 ) return;
  memcpy(copy, p, n);         /* It may be a part of b */
  memmove(b->p+at+n, b->p+end, b->n-end);
  memcpy(b->p+at, copy, n);
  b->n = b->n-(end-at)+n;
}

static void change_integer(bytes *b){
  static const uint64_t values[] = {
    0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 4095, 4096, 65535, 65536, INT32_MAX, UINT32_MAX, (uint64_t)UINT32_MAX+1,
    (uint64_t)1<<40, ((uint64_t)1<<53)+1, INT64_MAX, (uint64_t)INT64_MAX+1, UINT64_MAX-63, UINT64_MAX-7, UINT64_MAX,
  };
  uint8_t head[9];
  item *i = choose_item(0), *other = choose_item(0);
  uint64_t value, step;
  if( !i ) return;
  switch( choose(8) ){
    case 0: value = values[choose(sizeof(values)/sizeof(*values))]; break;
    case 1: value = i->value-1; break;
    case 2: value = i->value+1; break;
    case 3: value = i->value+other->value; break;
    case 4: value = other->value; break;
    case 5: value = i->value*2; break;
    case 6: value = i->value ^ (uint64_t)1<<choose(64); break;
    default:
      step = choose(2) ? 64 : 4096;
      value = i->value + step*(1+choose(4));
      break;
  }
  replace(b, i->at, i->end, head, make_head(head, 0, value));
}

/* Another text: one of the manifest's own, or one that means something somewhere. */
static void change_text(bytes *b){
  static const char *const texts[] = {
    "", "zstd", "raw", "f32", "f16", "u8", "i64", "bool", "f4_e2m1", "f8_e4m3fn", "complex64", "dense", "sparse_csr", "sparse_coo",
    "sparsecsr", "sparsecoo", "quantized_group", "zt.mx/1", "zt.quant_group/1", "zt.zstd-seekable/1", "data", "values", "indices",
    "indptr", "coords", "scales", "zeros", "packed_weight", "big", "sha256:00", "crc32c:00000000", "xxh3:0000000000000000", "\xC3\x28",
    "encoding", "digest", "dtype", "type", "shape", "offset", "length", "components", "attributes", "version", "1.0.0", "2.0.0",
  };
  uint8_t text[64];
  item *i = choose_item(3), *other = choose_item(3);
  const char *z = texts[choose(sizeof(texts)/sizeof(*texts))];
  size_t head;
  if( !i ) return;
  if( choose(2) ){
    replace(b, i->at, i->end, b->p+other->at, other->end-other->at);
    return;
  }
  head = make_head(text, 3, strlen(z));
  memcpy(text+head, z, strlen(z));
  replace(b, i->at, i->end, text, head+strlen(z));
}

/* A whole item in another's place. */
static void change_item(bytes *b){
  item *i = choose_item(8), *other = choose_item(8);
  if( i ) replace(b, i->at, i->end, b->p+other->at, other->end-other->at);
}

/* Where the item that begins at `at` ends. */
static size_t end_of(size_t at){
  for(size_t i=0; i<nItems; i++) if( items[i].at==at && items[i].end ) return items[i].end;
  return at;
}

/* A pair of a map, or an element of an array, is left out, or stands twice. */
static void change_count(bytes *b, bool twice){
  item *i = choose_item(choose(3) ? 5 : 4);
  uint8_t head[9];
  size_t at = 0, end;
  if( !i || i->value==0 ) return;
  end = i->at+i->head;
  for(size_t skip=choose(i->value<256 ? (size_t)i->value : 256)+1; skip>0; skip--){
    at = end;
    end = end_of(at);
    if( i->major==5 ) end = end_of(end);
  }
  replace(b, at, twice ? at : end, b->p+at, twice ? end-at : 0);
  replace(b, i->at, i->at+i->head, head, make_head(head, i->major, twice ? i->value+1 : i->value-1));
}

static void flip_bit(uint8_t *p, size_t n){
  size_t at = n>0 ? two_bytes()%n : 0;
  if( n>0 ) p[at] ^= (uint8_t)(1u<<choose(8));
}

static void change_manifest(bytes *manifest){
  read_items(manifest);
  switch( choose(8) ){
    case 0: case 1: case 2: change_integer(manifest); break;
    case 3: change_text(manifest); break;
    case 4: change_item(manifest); break;
    case 5: change_count(manifest, true); break;
    case 6: change_count(manifest, false); break;
    default: flip_bit(manifest->p, manifest->n); break;
  }
}

/* --- The whole file --- */

/* A footer that is right for the manifest, which was put before it. */
static void mend_footer(bytes *b, const golden *g, size_t nManifest){
  uint8_t *footer = b->p+b->n-g->footer;
  if( g->footer<40 ){
    put_le64(footer, nManifest);
  }else{
    put_le64(footer, g->manifest);
    put_le64(footer+8, nManifest);
    put_le64(footer+16, XXH3_64bits(b->p+g->manifest, nManifest));
  }
}

/* A number that is small, or nearly as large as can be, in one of the last places where a file has one. */
static void spoil_number(bytes *b){
  size_t from_end = 8*(1+choose(6));
  uint64_t value = choose(2) ? two_bytes() : UINT64_MAX-byte();
  if( b->n>=from_end ) put_le64(b->p+b->n-from_end, value);
}

/* Cut it anywhere. */
static void cut(bytes *b){
  size_t at = (size_t)two_bytes()<<8;
  at |= byte();
  b->n = b->n>0 ? at%b->n : 0;
}

/* As no writer would leave it: bits, lengths, ends. */
static void spoil(bytes *b){
  size_t end = b->n<64 ? b->n : 64;
  switch( choose(6) ){
    case 0: flip_bit(b->p, b->n); break;
    case 1: flip_bit(b->p+b->n-end, end); break;
    case 2: cut(b); break;
    case 3: b->n -= b->n>0 ? 1+choose(end) : 0; break;
    case 4: spoil_number(b); break;
    default: replace(b, b->n, b->n, b->p, choose(64)); break;
  }
}

/* The mutant that the choices make. */
static void make_mutant(bytes *out){
  static bytes manifest;
  const golden *g = &goldens[choose(nGoldens)];
  unsigned changes = byte()%4, spoils = byte()%4;
  manifest.n = g->n-g->footer-g->manifest;
  memcpy(manifest.p, g->p+g->manifest, manifest.n);
  for(unsigned i=0; i<changes; i++) change_manifest(&manifest);
  memcpy(out->p, g->p, g->manifest);
  if( choose(4)==0 ) flip_bit(out->p+8, g->manifest-8);
  memcpy(out->p+g->manifest, manifest.p, manifest.n);
  memcpy(out->p+g->manifest+manifest.n, g->p+g->n-g->footer, g->footer);
  out->n = g->manifest+manifest.n+g->footer;
  mend_footer(out, g, manifest.n);
  for(unsigned i=1; i<spoils; i++) spoil(out);    /* Half of the mutants are left whole */
}

#endif
