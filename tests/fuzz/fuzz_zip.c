/*
** Any bytes as a zip archive (ext/container/zip.h), and what its members are: npy arrays (npy.h), deflate streams
** (core/inflate.h).
**
** The first byte says how the rest is taken: as the archive itself; or as members' data and a directory, the next two bytes
** being the length of the latter, to which a sound end record is put. Properties:
**   - members without a fault lie before the directory, and share no byte
**   - data that is located is there, and what is read of it are the archive's bytes
**   - each name is found, at the last member that has it
**   - a header that is accepted has a descr that is CBOR, and strides of what it says stay within its bytes
**   - a deflate stream that comes in pieces of any size, and is asked for in such, makes the same as in one
*/
#include <string.h>
#include "container/npy.h"
#include "container/zip.h"
#include "core/host.h"
#include "core/inflate.h"
#include "fuzz.h"

#define MOST 65536

int LLVMFuzzerInitialize(int *argc, char ***argv){
  (void)argc;
  (void)argv;
  return sqlite3_initialize();
}

static void put_le(uint8_t *p, uint64_t u, unsigned width){
  for(unsigned i=0; i<width; i++) p[i] = (uint8_t)(u >> 8*i);
}

/* The archive that an input stands for; *n becomes its length. */
static uint8_t *make_archive(const uint8_t *data, size_t *n){
  size_t size, entries = 0, at;
  uint8_t *p;
  if( *n<3 || data[0]%2==0 ){
    *n -= *n>0;
    p = malloc(*n+1);
    memcpy(p, data+1, *n);
    return p;
  }
  size = zt_le16(data+1);
  *n -= 3;
  if( size>*n ) size = *n;
  p = malloc(*n+22);
  memcpy(p, data+3, *n);
  memset(p+*n, 0, 22);
  for(at=*n-size; *n-at>=46 && memcmp(p+at, "PK\1\2", 4)==0; entries++){
    size_t length = 46+(size_t)zt_le16(p+at+28)+zt_le16(p+at+30)+zt_le16(p+at+32);
    if( length>*n-at ) break;
    at += length;
  }
  memcpy(p+*n, "PK\5\6", 4);
  put_le(p+*n+8, entries, 2);
  put_le(p+*n+10, entries, 2);
  put_le(p+*n+12, size, 4);
  put_le(p+*n+16, *n-size, 4);
  *n += 22;
  return p;
}

static void check_header(zt_span bytes){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out descr = { .err = &err };
  uint64_t shape[ZT_MAX_RANK];
  zt_npy npy;
  size_t length;
  uint8_t *p;
  if( bytes.n<ZT_NPY_HEAD || !zt_npy_probe(bytes) ) return;
  length = zt_npy_length(bytes, &err);
  CHECK((length==0)==(err.rc!=0), "a length or a failure");
  if( length && length<=bytes.n ){
    p = malloc(length);   /* Of exactly its size */
    memcpy(p, bytes.p, length);
    if( zt_npy_read((zt_span){ p, length }, &npy, shape, &descr, &err)==SQLITE_OK ){
      zt_cbor cbor;
      zt_cbor_init(&cbor, descr.p, descr.n, &err);
      CHECK(zt_cbor_skip(&cbor) && zt_cbor_finish(&cbor), "%s", err.message);
      CHECK(npy.rank<=ZT_MAX_RANK && npy.length==length && npy.format.z, "what is said of it");
      CHECK(npy.dtype.z==NULL || npy.sized, "a type has a size");
    }
    free(p);
  }
  zt_cbor_out_clear(&descr);
  zt_error_clear(&err);
}

/* Decode in pieces; how many bytes came. */
static size_t inflate_in_pieces(zt_span in, size_t nIn, uint8_t *out, size_t nOut, bool *failed, bool *ended, size_t *left){
  zt_error err = ZT_ERROR_NONE;
  zt_inflate *d = zt_inflate_new(&err);
  size_t done = 0, behind = 0;
  zt_span piece = { in.p, 0 };
  for(;;){
    size_t n = MOST-done<nOut ? MOST-done : nOut, got;
    if( piece.n==0 ){
      piece = (zt_span){ in.p, in.n<nIn ? in.n : nIn };
      in.p += piece.n;
      in.n -= piece.n;
    }
    if( zt_inflate_next(d, &piece, out+done, n, &got, &err) ) break;
    done += got;
    if( zt_inflate_ended(d, &behind) || done==MOST || (got==0 && piece.n==0 && in.n==0) ) break;
  }
  *failed = err.rc!=0;
  *ended = zt_inflate_ended(d, &behind);
  *left = behind+piece.n+in.n;
  zt_inflate_free(d);
  zt_error_clear(&err);
  return done;
}

static void check_stream(zt_span bytes, unsigned choice){
  static uint8_t whole[MOST], parts[MOST];
  bool failed, ended, failed2, ended2;
  size_t left, left2;
  size_t n = inflate_in_pieces(bytes, SIZE_MAX, whole, MOST, &failed, &ended, &left);
  size_t m = inflate_in_pieces(bytes, 1+choice%17, parts, 1+choice/17, &failed2, &ended2, &left2);
  size_t both = n<m ? n : m;
  CHECK(memcmp(whole, parts, both)==0, "other bytes in pieces");
  if( n==MOST || m==MOST ) return;
  CHECK(ended==ended2, "it ends one way: %d %d after %zu, %zu", failed, failed2, n, m);
  if( ended ) CHECK(n==m && left==left2, "%zu and %zu bytes, %zu and %zu are left", n, m, left, left2);
}

static uint64_t directory_offset(const zt_zip *zip){
  uint64_t offset, length;
  zt_zip_directory(zip, &offset, &length);
  return offset;
}

/* A member's bytes belong to it alone. */
static void check_owner(const zt_zip *zip, uint32_t i, uint32_t *owner){
  zt_zip_member m;
  zt_zip_member_at(zip, i, &m);
  if( m.fault ) return;
  CHECK(zt_claim(directory_offset(zip), m.header, 30+m.name.n+m.stored), "it lies before the directory");
  for(uint64_t at=m.header; at<m.header+30+m.name.n+m.stored; at++){
    CHECK(!owner[at], "two members have byte %llu", (unsigned long long)at);
    owner[at] = i+1;
  }
}

static void check_member(zt_zip *zip, zt_source *source, uint32_t i, zt_span archive, const uint32_t *owner){
  uint8_t buffer[300];
  zt_error err = ZT_ERROR_NONE;
  zt_zip_member m;
  uint64_t offset;
  size_t got;
  int64_t k;
  zt_zip_member_at(zip, i, &m);
  k = zt_zip_find(zip, m.name, &err);
  CHECK(k>=(int64_t)i && k<(int64_t)zt_zip_members(zip), "member %u is found at %lld", (unsigned)i, (long long)k);
  CHECK(m.number==i, "number %u", (unsigned)m.number);
  if( zt_zip_locate(zip, source, &m, &offset, buffer, sizeof(buffer), &got, &err)==SQLITE_OK ){
    CHECK(zt_claim(directory_offset(zip), offset, m.stored), "data before the directory");
    CHECK(got==(m.stored<sizeof(buffer) ? m.stored : sizeof(buffer)), "as many bytes as there are");
    CHECK(memcmp(buffer, archive.p+offset, got)==0, "the archive's bytes");
    for(uint64_t at=offset; at<offset+m.stored; at++){
      CHECK(owner[at]==0 || owner[at]==i+1, "another member has byte %llu of its data", (unsigned long long)at);
    }
    check_header((zt_span){ archive.p+offset, (size_t)m.stored });
    if( m.method==ZT_ZIP_DEFLATE ) check_stream((zt_span){ archive.p+offset, (size_t)m.stored }, m.crc);
  }else{
    CHECK(err.rule, "a rule: %s", err.message);
  }
  zt_error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source = NULL;
  zt_zip *zip = NULL;
  uint32_t *owner;
  uint8_t *p;
  if( n==0 ) return 0;
  p = make_archive(data, &n);
  if( zt_source_open_image((zt_span){ p, n }, &source, &err)==SQLITE_OK
   && zt_zip_open(source, NULL, &zip, &err)==SQLITE_OK ){
    owner = calloc(n+1, sizeof(*owner));
    for(uint32_t i=0; i<zt_zip_members(zip); i++) check_owner(zip, i, owner);
    for(uint32_t i=0; i<zt_zip_members(zip); i++) check_member(zip, source, i, (zt_span){ p, n }, owner);
    free(owner);
  }else{
    CHECK(err.rc==SQLITE_ERROR && err.rule && !zip, "code %d", err.rc);
  }
  zt_zip_close(zip);
  zt_source_close(source);
  zt_error_clear(&err);
  free(p);
  return 0;
}
