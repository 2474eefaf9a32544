/* Digests. See digest.h. Only digest_table knows the algorithms. */
#include "core/digest.h"

#include <assert.h>
#include <isa-l/crc.h>
#include <limits.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/avx.h"
#include "core/host.h"
#include "core/sha256.h"
#include "core/xxh3_avx2.h"

#define DIGEST_MAX_BYTES ZT_SHA256_BYTES   /* Longest digest */

typedef struct digest_algorithm {
  const char *name;
  unsigned bytes;
  unsigned bit;                               /* ZT_DIGEST_ */
  bool named;                                 /* Users may name it */
  bool prefix;                                /* `0x` may stand before the digits */
  bool (*open)(zt_digest *d);                 /* Again, too. NULL: zeros will do */
  void (*update)(zt_digest *d, zt_span bytes);
  void (*finish)(zt_digest *d, uint8_t *out);
} digest_algorithm;

struct zt_digest {
  const digest_algorithm *algorithm;
  uint8_t expected[DIGEST_MAX_BYTES];
  uint32_t crc;
  zt_sha256 *sha256;
  XXH3_state_t *xxh3;                         /* Aligned, inside `memory` */
  void *memory;
};

/* Writes the low n bytes of u, big-endian. */
static void digest_put_be(uint8_t *out, uint64_t u, unsigned n){
  while( n-->0 ) *out++ = (uint8_t)(u >> 8*n);
}

static bool digest_crc32c_open(zt_digest *d){
  d->crc = ~(uint32_t)0;
  return true;
}

static void digest_crc32c_update(zt_digest *d, zt_span bytes){
  while( bytes.n>0 ){
    int n = bytes.n<INT_MAX ? (int)bytes.n : INT_MAX;
    uint8_t *p;
    memcpy(&p, &bytes.p, sizeof(p));   /* ISA-L only reads, but its parameter is not const */
    d->crc = crc32_iscsi(p, n, d->crc);
    bytes.p += n;
    bytes.n -= (size_t)n;
  }
  zt_avx_leave();
}

static void digest_crc32c_finish(zt_digest *d, uint8_t *out){
  digest_put_be(out, ~d->crc, 4);
}

static void digest_crc32_update(zt_digest *d, zt_span bytes){
  d->crc = crc32_gzip_refl(d->crc, bytes.p, bytes.n);
  zt_avx_leave();
}

static void digest_crc32_finish(zt_digest *d, uint8_t *out){
  digest_put_be(out, d->crc, 4);
}

static bool digest_sha256_open(zt_digest *d){
  zt_sha256_free(d->sha256);
  d->sha256 = zt_sha256_new();
  return d->sha256!=NULL;
}

static void digest_sha256_update(zt_digest *d, zt_span bytes){
  zt_sha256_update(d->sha256, bytes);
}

static void digest_sha256_finish(zt_digest *d, uint8_t *out){
  zt_sha256_finish(d->sha256, out);
}

#define DIGEST_XXH3_ALIGN ((uintptr_t)64)

static bool digest_xxh3_open(zt_digest *d){
  if( !d->memory ) d->memory = sqlite3_malloc64(sizeof(*d->xxh3) + DIGEST_XXH3_ALIGN);
  if( !d->memory ) return false;
  d->xxh3 = (XXH3_state_t*)(((uintptr_t)d->memory + DIGEST_XXH3_ALIGN-1) & ~(DIGEST_XXH3_ALIGN-1));
  XXH3_INITSTATE(d->xxh3);
  return XXH3_64bits_reset(d->xxh3)==XXH_OK;
}

static void digest_xxh3_update(zt_digest *d, zt_span bytes){
#if ZT_XXH3_AVX2
  if( __builtin_cpu_supports("avx2") ){
    zt_xxh3_update_avx2(d->xxh3, bytes.p, bytes.n);
    return;
  }
#endif
  XXH3_64bits_update(d->xxh3, bytes.p, bytes.n);
}

static void digest_xxh3_finish(zt_digest *d, uint8_t *out){
  digest_put_be(out, XXH3_64bits_digest(d->xxh3), 8);
}

static void digest_xxh3_128_finish(zt_digest *d, uint8_t *out){
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(d->xxh3));
  memcpy(out, canonical.digest, ZT_DIGEST_XXH3_128_BYTES);
}

/* Both lengths of XXH3 have the same open and update. */
static const digest_algorithm digest_table[] = {
  { "crc32c", 4, ZT_DIGEST_CRC32C, true, true,
    digest_crc32c_open, digest_crc32c_update, digest_crc32c_finish },
  { "sha256", 32, ZT_DIGEST_SHA256, true, false,
    digest_sha256_open, digest_sha256_update, digest_sha256_finish },
  { "xxh3", 8, ZT_DIGEST_XXH3, true, false,
    digest_xxh3_open, digest_xxh3_update, digest_xxh3_finish },
  { "crc32", 4, ZT_DIGEST_CRC32, false, false,
    NULL, digest_crc32_update, digest_crc32_finish },
  { "xxh3-128", ZT_DIGEST_XXH3_128_BYTES, ZT_DIGEST_XXH3_128, false, false,
    digest_xxh3_open, digest_xxh3_update, digest_xxh3_128_finish },
};

/* Decodes 2n hexadecimal digits. False if `digits` is anything else. */
static bool digest_parse_hex(zt_text digits, uint8_t *out, size_t n){
  if( digits.n!=2*n ) return false;
  for(size_t i=0; i<n; i++){
    int hi = zt_hex_digit(digits.z[2*i]), lo = zt_hex_digit(digits.z[2*i+1]);
    if( hi<0 || lo<0 ) return false;
    out[i] = (uint8_t)(hi<<4 | lo);
  }
  return true;
}

static const digest_algorithm *digest_find(zt_text name){
  for(size_t i=0; i<sizeof(digest_table)/sizeof(*digest_table); i++){
    const char *known = digest_table[i].name;
    if( zt_text_equal(name, (zt_text){ known, strlen(known) }) ) return &digest_table[i];
  }
  return NULL;
}

static const digest_algorithm *digest_find_named(zt_text name){
  const digest_algorithm *found = digest_find(name);
  return found && found->named ? found : NULL;
}

static int digest_start(const zt_digest *d, zt_digest **out, zt_error *err){
  *out = sqlite3_malloc64(sizeof(*d));
  if( *out ){
    **out = *d;
    if( !d->algorithm->open || d->algorithm->open(*out) ) return SQLITE_OK;
    zt_digest_close(*out);
    *out = NULL;
  }
  return zt_fail_nomem(err);
}

static zt_digest_parse digest_parse(zt_text text, unsigned algorithms, zt_digest *out){
  const char *colon = text.n ? memchr(text.z, ':', text.n) : NULL;
  zt_text digits;
  if( !colon ) return ZT_DIGEST_MALFORMED;
  out->algorithm = digest_find((zt_text){ text.z, (size_t)(colon - text.z) });
  if( !out->algorithm || !(out->algorithm->bit & algorithms) ) return ZT_DIGEST_UNSUPPORTED;
  digits = (zt_text){ colon+1, text.n - (size_t)(colon+1 - text.z) };
  if( out->algorithm->prefix && digits.n>=2 && digits.z[0]=='0' && (digits.z[1]|0x20)=='x' ){
    digits.z += 2;
    digits.n -= 2;
  }
  return digest_parse_hex(digits, out->expected, out->algorithm->bytes) ? ZT_DIGEST_OK
       : ZT_DIGEST_MALFORMED;
}

zt_digest_parse zt_digest_check(zt_text text, unsigned algorithms){
  zt_digest unused = { 0 };
  return digest_parse(text, algorithms, &unused);
}

zt_digest_parse zt_digest_open(zt_text text, unsigned algorithms, zt_digest **out, zt_error *err){
  zt_digest d = { 0 };
  zt_digest_parse result = digest_parse(text, algorithms, &d);
  *out = NULL;
  if( result==ZT_DIGEST_OK ) digest_start(&d, out, err);
  return result;
}

bool zt_digest_known(zt_text name){
  return digest_find_named(name)!=NULL;
}

bool zt_digest_new(zt_text name, zt_digest **out, zt_error *err){
  zt_digest d = { .algorithm = digest_find_named(name) };
  *out = NULL;
  if( !d.algorithm ) return false;
  digest_start(&d, out, err);
  return true;
}

zt_digest *zt_digest_begin(unsigned algorithm, zt_error *err){
  zt_digest d = { .algorithm = digest_table }, *out;
  while( d.algorithm->bit!=algorithm ) d.algorithm++;
  digest_start(&d, &out, err);
  return out;
}

bool zt_digest_restart(zt_digest *d, zt_error *err){
  d->crc = 0;
  if( !d->algorithm->open || d->algorithm->open(d) ) return true;
  zt_fail_nomem(err);
  return false;
}

void zt_digest_update(zt_digest *d, zt_span bytes){
  d->algorithm->update(d, bytes);
}

bool zt_digest_matches(zt_digest *d){
  uint8_t found[DIGEST_MAX_BYTES];
  d->algorithm->finish(d, found);
  return memcmp(found, d->expected, d->algorithm->bytes)==0;
}

void zt_digest_text(zt_digest *d, char out[ZT_DIGEST_TEXT]){
  static const char digits[] = "0123456789abcdef";
  uint8_t found[DIGEST_MAX_BYTES];
  size_t n = strlen(d->algorithm->name);
  memcpy(out, d->algorithm->name, n);
  out[n++] = ':';
  d->algorithm->finish(d, found);
  for(unsigned i=0; i<d->algorithm->bytes; i++){
    out[n++] = digits[found[i]>>4];
    out[n++] = digits[found[i] & 15];
  }
  out[n] = 0;
}

uint64_t zt_digest_number(zt_digest *d){
  uint8_t bytes[DIGEST_MAX_BYTES];
  uint64_t out = 0;
  d->algorithm->finish(d, bytes);
  for(unsigned i=0; i<d->algorithm->bytes && i<8; i++) out = out<<8 | bytes[i];
  return out;
}

void zt_digest_xxh3_128(zt_digest *d, uint8_t out[ZT_DIGEST_XXH3_128_BYTES]){
  assert( d->algorithm->bit==ZT_DIGEST_XXH3_128 );
  d->algorithm->finish(d, out);
}

void zt_digest_close(zt_digest *d){
  if( !d ) return;
  zt_sha256_free(d->sha256);
  sqlite3_free(d->memory);
  sqlite3_free(d);
}

uint64_t zt_digest_xxh3(zt_span bytes){
#if ZT_XXH3_AVX2
  if( __builtin_cpu_supports("avx2") ) return zt_xxh3_avx2(bytes.p, bytes.n);
#endif
  return XXH3_64bits(bytes.p, bytes.n);
}
