/*
** gen million FILE NAMES   one file of 1,000,000 objects; NAMES gets 100,000 of their names, drawn at random
** gen tree DIR             10,000 files of 100 objects: 100 subdirectories of 100 files
** gen blobs RAW ZSTD       two files with the same 64 tensors of 16 MiB, stored raw and as zstd
** gen million-2 FILE       the objects of million in a zTensor 2 file
** gen pair DIR             2 files of 250,000 objects, whose manifests are of 30 MB
** gen shelf DIR            24 files of 15,625 objects
** gen hole FILE            one file of one u8 tensor of 1,200,000,000 elements
** gen safetensors FILE     a safetensors file of 750,000 tensors, whose header is nearly as large as the format allows
** gen safetensors-tree DIR the models of tree in that format
**
** Writes what the format's libraries write, byte for byte. 1.2: names in ascending order; in each object shape, format,
** components; in each component dtype, offset, length, and only where they apply uncompressed_length, encoding and
** digest; every number in its shortest form; blobs at multiples of 64, in the order in which they were added (which
** is not the order of the names); the manifest right behind the last blob. 2: keys in the order of their encoding, which is
** by length first; a digest for each part; blobs at multiples of 4096, and the manifest, too. safetensors: tensors by the
** alignment of their types, then by name, without gaps; the header padded to 8.
**
** All data but that of the blobs is a hole: listing does not read it, so the files take the room of
** their manifests.
*/
#define _DEFAULT_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

/* A dense object with its only component, `data`. */
typedef struct object {
  char zName[64];
  const char *zDtype;
  uint64_t aShape[2];
  unsigned rank;
  uint64_t offset;
  uint64_t length;    /* stored */
  uint64_t decoded;   /* of a zstd component; 0: it is raw */
  char zDigest[24];   /* empty: none */
} object;

typedef struct output {
  uint8_t *a;
  size_t n, nAlloc;
} output;

/* ---- CBOR ---- */

static void put_bytes(output *p, const void *pData, size_t n){
  if( n>p->nAlloc - p->n ){
    size_t nNew = 2*(p->nAlloc + n);
    uint8_t *aNew = realloc(p->a, nNew);
    if( aNew==NULL ) die("out of memory: %zu bytes", nNew);
    p->a = aNew;
    p->nAlloc = nNew;
  }
  memcpy(p->a + p->n, pData, n);
  p->n += n;
}

static void put_head(output *p, unsigned major, uint64_t v){
  uint8_t a[9];
  int nArg = v<24 ? 0 : v<=0xFF ? 1 : v<=0xFFFF ? 2 : v<=0xFFFFFFFF ? 4 : 8;
  unsigned low = nArg==0 ? (unsigned)v : nArg==1 ? 24 : nArg==2 ? 25 : nArg==4 ? 26 : 27;
  a[0] = (uint8_t)(major<<5 | low);
  for(int i=0; i<nArg; i++) a[1 + i] = (uint8_t)(v>>(8*(nArg - 1 - i)));
  put_bytes(p, a, (size_t)nArg + 1);
}

static void put_uint(output *p, uint64_t v){ put_head(p, 0, v); }
static void put_array(output *p, uint64_t n){ put_head(p, 4, n); }
static void put_map(output *p, uint64_t n){ put_head(p, 5, n); }

static void put_text(output *p, const char *z){
  size_t n = strlen(z);
  put_head(p, 3, n);
  put_bytes(p, z, n);
}

static void put_object(output *p, const object *pObj){
  put_text(p, pObj->zName);
  put_map(p, 3);
  put_text(p, "shape");
  put_array(p, pObj->rank);
  for(unsigned i=0; i<pObj->rank; i++) put_uint(p, pObj->aShape[i]);
  put_text(p, "format");
  put_text(p, "dense");
  put_text(p, "components");
  put_map(p, 1);
  put_text(p, "data");
  put_map(p, 3u + (pObj->decoded ? 2u : 0u) + (pObj->zDigest[0] ? 1u : 0u));
  put_text(p, "dtype");
  put_text(p, pObj->zDtype);
  put_text(p, "offset");
  put_uint(p, pObj->offset);
  put_text(p, "length");
  put_uint(p, pObj->length);
  if( pObj->decoded ){
    put_text(p, "uncompressed_length");
    put_uint(p, pObj->decoded);
    put_text(p, "encoding");
    put_text(p, "zstd");
  }
  if( pObj->zDigest[0] ){
    put_text(p, "digest");
    put_text(p, pObj->zDigest);
  }
}

/* ---- files ---- */

static int create_file(const char *zPath){
  int fd = open(zPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if( fd<0 ) die("cannot create %s", zPath);
  return fd;
}

static void pwrite_all(int fd, const void *pData, size_t n, uint64_t offset){
  const uint8_t *a = pData;
  while( n>0 ){
    ssize_t put = pwrite(fd, a, n, (off_t)offset);
    if( put<=0 ) die("short write");
    a += put;
    n -= (size_t)put;
    offset += (uint64_t)put;
  }
}

/* Gives an object the next place for its blob, at a multiple of `align`. *pEnd is where the blobs end so far. */
static void place_at(object *pObj, uint64_t align, uint64_t *pEnd){
  pObj->offset = (*pEnd + align - 1) & ~(align - 1);
  *pEnd = pObj->offset + pObj->length;
}

static void place(object *pObj, uint64_t *pEnd){ place_at(pObj, 64, pEnd); }

static int compare_names(const void *p1, const void *p2){
  return strcmp(((const object*)p1)->zName, ((const object*)p2)->zName);
}

/* Sorts the objects and writes header, manifest and footer around the blobs, which end at `end`. Closes fd. */
static void finish_file(int fd, object *aObj, size_t nObj, uint64_t end, output *pOut){
  uint8_t aSize[8];
  qsort(aObj, nObj, sizeof(*aObj), compare_names);
  pOut->n = 0;
  put_map(pOut, 2);
  put_text(pOut, "version");
  put_text(pOut, "1.2.0");
  put_text(pOut, "objects");
  put_map(pOut, nObj);
  for(size_t i=0; i<nObj; i++) put_object(pOut, &aObj[i]);
  uint64_t nManifest = pOut->n;
  for(int i=0; i<8; i++) aSize[i] = (uint8_t)(nManifest>>(8*i));
  put_bytes(pOut, aSize, 8);
  put_bytes(pOut, "ZTEN1000", 8);
  pwrite_all(fd, "ZTEN1000", 8, 0);
  pwrite_all(fd, pOut->a, pOut->n, end);
  if( close(fd)!=0 ) die("cannot close a file");
}

/* As safetensors' own library sorts. */
static int compare_safetensors(const void *p1, const void *p2){
  int c = strcmp(((const object*)p2)->zDtype, ((const object*)p1)->zDtype);   /* f32 before bf16 */
  return c!=0 ? c : compare_names(p1, p2);
}

static void put_plain(output *p, const char *z){ put_bytes(p, z, strlen(z)); }

/* The objects as a safetensors file, whose data is a hole. */
static void write_safetensors(const char *zPath, object *aObj, size_t nObj, output *pOut){
  int fd = create_file(zPath);
  uint64_t at = 0;
  char z[256];
  qsort(aObj, nObj, sizeof(*aObj), compare_safetensors);
  pOut->n = 0;
  put_bytes(pOut, "\0\0\0\0\0\0\0\0{", 9);
  put_plain(pOut, "\"__metadata__\":{\"format\":\"pt\"}");
  for(size_t i=0; i<nObj; i++){
    const object *p = &aObj[i];
    snprintf(z, sizeof(z), ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%llu", p->zName, strcmp(p->zDtype, "f32")==0 ? "F32" : "BF16",
             (unsigned long long)p->aShape[0]);
    put_plain(pOut, z);
    if( p->rank>1 ){
      snprintf(z, sizeof(z), ",%llu", (unsigned long long)p->aShape[1]);
      put_plain(pOut, z);
    }
    snprintf(z, sizeof(z), "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at, (unsigned long long)(at + p->length));
    put_plain(pOut, z);
    at += p->length;
  }
  put_plain(pOut, "}");
  while( pOut->n%8!=0 ) put_plain(pOut, " ");
  for(int i=0; i<8; i++) pOut->a[i] = (uint8_t)((pOut->n - 8)>>(8*i));
  pwrite_all(fd, pOut->a, pOut->n, 0);
  if( ftruncate(fd, (off_t)(pOut->n + at))!=0 || close(fd)!=0 ) die("cannot write %s", zPath);
}

/* splitmix64: the same workloads on every machine. */
static uint64_t random_next(uint64_t *pState){
  uint64_t z = (*pState += 0x9E3779B97F4A7C15u);
  z = (z ^ z>>30)*0xBF58476D1CE4E5B9u;
  z = (z ^ z>>27)*0x94D049BB133111EBu;
  return z ^ z>>31;
}

/* ---- million: a mixture-of-experts checkpoint, 64 layers of 5,208 experts of 3 matrices, and a norm each ---- */

enum { N_LAYER = 64, N_EXPERT = 5208, N_OF_LAYER = 3*N_EXPERT + 1, N_MILLION = N_LAYER*N_OF_LAYER };
enum { N_LOOKUP = 100000 };
static const uint64_t seedMillion = 1;

/* One expert in eight is stored compressed and with a digest, as a writer may decide tensor by tensor. */
static void make_expert(object *p, int layer, int expert, int matrix, uint64_t *pSeed){
  uint64_t rows = matrix==2 ? 128 : 64;
  *p = (object){.zDtype = "bf16", .aShape = {rows, 8192/rows}, .rank = 2, .length = 16384};
  snprintf(p->zName, sizeof(p->zName), "layers.%d.experts.%d.w%d.weight", layer, expert, matrix);
  if( expert%8!=0 ) return;
  uint64_t r = random_next(pSeed);
  p->decoded = p->length;
  p->length = 12288 + r%1024;
  snprintf(p->zDigest, sizeof(p->zDigest), "crc32c:0x%08X", (unsigned)(r>>32));
}

static void write_names(const char *zPath, const object *aObj, size_t nObj){
  uint64_t seed = 2;
  FILE *f = fopen(zPath, "wb");
  if( f==NULL ) die("cannot create %s", zPath);
  for(int i=0; i<N_LOOKUP; i++) fprintf(f, "%s\n", aObj[random_next(&seed)%nObj].zName);
  if( fclose(f)!=0 ) die("cannot write %s", zPath);
}

/* The objects of so many layers, their blobs at multiples of `align`; *pEnd is where these end. */
static object *make_layers(int nLayer, uint64_t seed, uint64_t align, uint64_t *pEnd){
  object *aObj = must_alloc((size_t)nLayer*N_OF_LAYER*sizeof(*aObj));
  object *p = aObj;
  *pEnd = 8;
  for(int layer=0; layer<nLayer; layer++){
    for(int expert=0; expert<N_EXPERT; expert++){
      for(int matrix=1; matrix<=3; matrix++){
        make_expert(p, layer, expert, matrix, &seed);
        place_at(p++, align, pEnd);
      }
    }
    *p = (object){.zDtype = "f32", .aShape = {64, 0}, .rank = 1, .length = 256};
    snprintf(p->zName, sizeof(p->zName), "layers.%d.norm.weight", layer);
    place_at(p++, align, pEnd);
  }
  return aObj;
}

static void gen_million(const char *zPath, const char *zNames){
  output out = {NULL, 0, 0};
  uint64_t end;
  object *aObj = make_layers(N_LAYER, seedMillion, 64, &end);
  finish_file(create_file(zPath), aObj, N_MILLION, end, &out);
  write_names(zNames, aObj, N_MILLION);
  free(out.a);
  free(aObj);
}

/* ---- safetensors: three quarters of them, small and with longer names ---- */

enum { N_LAYER_SAFETENSORS = 48 };

static void gen_safetensors(const char *zPath){
  output out = {NULL, 0, 0};
  size_t nObj = (size_t)N_LAYER_SAFETENSORS*N_OF_LAYER;
  uint64_t end;
  object *aObj = make_layers(N_LAYER_SAFETENSORS, seedMillion, 64, &end);
  for(size_t i=0; i<nObj; i++){
    object *p = &aObj[i];
    char zName[sizeof(p->zName)];
    snprintf(zName, sizeof(zName), "model.language_model.%.40s", p->zName);
    memcpy(p->zName, zName, sizeof(zName));
    if( p->rank==1 ) continue;
    p->aShape[0] = p->aShape[1] = 8;
    p->length = 128;
  }
  write_safetensors(zPath, aObj, nObj, &out);
  free(out.a);
  free(aObj);
}

/* ---- million-2: the same in the container of zTensor 2 ---- */

static int compare_encoded(const void *p1, const void *p2){
  size_t n1 = strlen(((const object*)p1)->zName), n2 = strlen(((const object*)p2)->zName);
  return n1!=n2 ? (n1<n2 ? -1 : 1) : compare_names(p1, p2);
}

static void put_object_2(output *p, const object *pObj){
  put_text(p, pObj->zName);
  put_map(p, 3);
  put_text(p, "parts");
  put_map(p, 1);
  put_text(p, "data");
  put_map(p, pObj->decoded ? 5 : 3);
  put_text(p, "blob");
  put_array(p, 2);
  put_uint(p, pObj->offset);
  put_uint(p, pObj->length);
  put_text(p, "dtype");
  put_text(p, pObj->zDtype);
  put_text(p, "digest");
  put_text(p, pObj->zDigest);
  if( pObj->decoded ){
    put_text(p, "encoding");
    put_text(p, "zt.zstd-seekable/1");
    put_text(p, "decoded_length");
    put_uint(p, pObj->decoded);
  }
  put_text(p, "shape");
  put_array(p, pObj->rank);
  for(unsigned i=0; i<pObj->rank; i++) put_uint(p, pObj->aShape[i]);
  put_text(p, "layout");
  put_text(p, "dense");
}

static void put_u64le(output *p, uint64_t v){
  uint8_t a[8];
  for(int i=0; i<8; i++) a[i] = (uint8_t)(v>>(8*i));
  put_bytes(p, a, 8);
}

static void gen_million_2(const char *zPath){
  static const char zMagic[] = "\x89ZT2\r\n\x1a\n";
  output out = {NULL, 0, 0};
  uint64_t end, seed = 8;
  object *aObj = make_layers(N_LAYER, seedMillion, 4096, &end);
  for(size_t i=0; i<N_MILLION; i++){
    snprintf(aObj[i].zDigest, sizeof(aObj[i].zDigest), "xxh3:%016llx", (unsigned long long)random_next(&seed));
  }
  qsort(aObj, N_MILLION, sizeof(*aObj), compare_encoded);
  put_map(&out, 1);
  put_text(&out, "objects");
  put_map(&out, N_MILLION);
  for(size_t i=0; i<N_MILLION; i++) put_object_2(&out, &aObj[i]);
  uint64_t nManifest = out.n, offset = (end + 4095) & ~(uint64_t)4095;
  uint64_t hash = XXH3_64bits(out.a, out.n);
  put_u64le(&out, offset);
  put_u64le(&out, nManifest);
  put_u64le(&out, hash);
  put_u64le(&out, 2);
  put_bytes(&out, zMagic, 8);
  int fd = create_file(zPath);
  pwrite_all(fd, zMagic, 8, 0);
  pwrite_all(fd, out.a, out.n, offset);
  if( close(fd)!=0 ) die("cannot close a file");
  free(out.a);
  free(aObj);
}

/* ---- tree: small models of 12 blocks, whose width differs from file to file ---- */

enum { N_DIR = 100, N_FILE = 100, N_BLOCK = 12, N_SMALL = 100 };

static void make_weight(object *p, int block, const char *zRole, uint64_t rows, uint64_t columns, uint64_t *pEnd){
  int isVector = columns==0;
  *p = (object){.zDtype = isVector ? "f32" : "bf16", .aShape = {rows, columns}, .rank = isVector ? 1 : 2,
                .length = isVector ? 4*rows : 2*rows*columns};
  if( block<0 ) snprintf(p->zName, sizeof(p->zName), "%s", zRole);
  else snprintf(p->zName, sizeof(p->zName), "model.layers.%d.%s", block, zRole);
  place(p, pEnd);
}

static void gen_model(const char *zPath, int safetensors, uint64_t d, output *pOut){
  object aObj[N_SMALL];
  object *p = aObj;
  uint64_t end = 8;
  make_weight(p++, -1, "model.embed_tokens.weight", 16*d, d, &end);
  for(int i=0; i<N_BLOCK; i++){
    make_weight(p++, i, "self_attn.q_proj.weight", d, d, &end);
    make_weight(p++, i, "self_attn.k_proj.weight", d, d, &end);
    make_weight(p++, i, "self_attn.v_proj.weight", d, d, &end);
    make_weight(p++, i, "self_attn.o_proj.weight", d, d, &end);
    make_weight(p++, i, "mlp.up_proj.weight", 4*d, d, &end);
    make_weight(p++, i, "mlp.down_proj.weight", d, 4*d, &end);
    make_weight(p++, i, "input_layernorm.weight", d, 0, &end);
    make_weight(p++, i, "post_attention_layernorm.weight", d, 0, &end);
  }
  make_weight(p++, -1, "model.norm.weight", d, 0, &end);
  make_weight(p++, -1, "model.norm.bias", d, 0, &end);
  make_weight(p++, -1, "lm_head.weight", 16*d, d, &end);
  if( p!=aObj + N_SMALL ) die("a model has %td objects", p - aObj);
  if( safetensors ) write_safetensors(zPath, aObj, N_SMALL, pOut);
  else finish_file(create_file(zPath), aObj, N_SMALL, end, pOut);
}

static void make_directory(const char *zPath){
  if( mkdir(zPath, 0777)!=0 ) die("cannot create %s", zPath);
}

static void gen_tree(const char *zDir, int safetensors){
  char zPath[1000];
  output out = {NULL, 0, 0};
  make_directory(zDir);
  for(int i=0; i<N_DIR; i++){
    snprintf(zPath, sizeof(zPath), "%s/run-%02d", zDir, i);
    make_directory(zPath);
    for(int k=0; k<N_FILE; k++){
      snprintf(zPath, sizeof(zPath), "%s/run-%02d/step-%05d.%s", zDir, i, 1000*k, safetensors ? "safetensors" : "zt");
      gen_model(zPath, safetensors, 32 + 8*(uint64_t)(i%8), &out);
    }
  }
  free(out.a);
}

/* ---- pair and shelf: a few files of some layers of the million ---- */

static void gen_files(const char *zDir, int nFile, int nLayer){
  char zPath[1000];
  output out = {NULL, 0, 0};
  uint64_t end;
  make_directory(zDir);
  for(int i=0; i<nFile; i++){
    object *aObj = make_layers(nLayer, seedMillion + (uint64_t)i, 64, &end);
    snprintf(zPath, sizeof(zPath), "%s/part-%02d.zt", zDir, i);
    finish_file(create_file(zPath), aObj, (size_t)nLayer*N_OF_LAYER, end, &out);
    free(aObj);
  }
  free(out.a);
}

static void gen_hole(const char *zPath){
  output out = {NULL, 0, 0};
  object hole = {.zName = "weight", .zDtype = "u8", .aShape = {1200000000}, .rank = 1,
                 .length = 1200000000};
  uint64_t end = 8;
  place(&hole, &end);
  finish_file(create_file(zPath), &hole, 1, end, &out);
  free(out.a);
}

/* ---- blobs: bf16 weights, normal with standard deviation 0.02, as trained ones nearly are ---- */

enum { N_BLOB = 64, N_TABLE = 65536 };
static const size_t nBlobByte = (size_t)16<<20;

/* 65,536 normal samples (Box-Muller), rounded to bf16; tensors draw from them, which is fast and as incompressible. */
static void make_table(uint16_t *aTable){
  const double twoPi = 6.283185307179586;
  uint64_t seed = 3;
  for(int i=0; i<N_TABLE; i++){
    double u = ((double)(random_next(&seed)>>11) + 0.5)/9007199254740992.0;
    double v = (double)(random_next(&seed)>>11)/9007199254740992.0;
    float f = (float)(0.02*sqrt(-2.0*log(u))*cos(twoPi*v));
    uint32_t bits;
    memcpy(&bits, &f, 4);
    aTable[i] = (uint16_t)((bits + 0x8000u)>>16);
  }
}

static void make_tensor(uint16_t *a, const uint16_t *aTable, uint64_t *pSeed){
  for(size_t i=0; i<nBlobByte/2; i+=4){
    uint64_t r = random_next(pSeed);
    for(size_t k=0; k<4; k++) a[i + k] = aTable[r>>(16*k) & 0xFFFF];
  }
}

/*
** Compresses like the library's streaming encoder: everything is passed on before the end is announced, so that the
** frame does not say how long its content is.
*/
static size_t compress_tensor(void *pDst, size_t nDst, const void *pSrc, size_t nSrc){
  ZSTD_CCtx *pCctx = ZSTD_createCCtx();
  ZSTD_inBuffer in = {pSrc, nSrc, 0};
  ZSTD_outBuffer out = {pDst, nDst, 0};
  if( pCctx==NULL ) die("out of memory");
  ZSTD_CCtx_setParameter(pCctx, ZSTD_c_compressionLevel, 3);
  while( in.pos<in.size ){
    size_t rc = ZSTD_compressStream2(pCctx, &out, &in, ZSTD_e_continue);
    if( ZSTD_isError(rc) ) die("zstd: %s", ZSTD_getErrorName(rc));
  }
  size_t rc = ZSTD_compressStream2(pCctx, &out, &in, ZSTD_e_end);
  if( rc!=0 ) die("zstd: %s", ZSTD_isError(rc) ? ZSTD_getErrorName(rc) : "the output does not fit");
  ZSTD_freeCCtx(pCctx);
  return out.pos;
}

static void gen_blobs(const char *zRaw, const char *zZstd){
  uint16_t *aTable = must_alloc(N_TABLE*sizeof(*aTable));
  uint16_t *aTensor = must_alloc(nBlobByte);
  size_t nBound = ZSTD_compressBound(nBlobByte);
  uint8_t *aStored = must_alloc(nBound);
  object aRaw[N_BLOB], aZstd[N_BLOB];
  output out = {NULL, 0, 0};
  uint64_t endRaw = 8, endZstd = 8, seed = 4;
  int fdRaw = create_file(zRaw), fdZstd = create_file(zZstd);
  make_table(aTable);
  for(int i=0; i<N_BLOB; i++){
    object *p = &aRaw[i];
    *p = (object){.zDtype = "bf16", .aShape = {2048, 4096}, .rank = 2, .length = nBlobByte};
    snprintf(p->zName, sizeof(p->zName), "layers.%d.mlp.up_proj.weight", i);
    aZstd[i] = *p;
    make_tensor(aTensor, aTable, &seed);
    place(p, &endRaw);
    pwrite_all(fdRaw, aTensor, nBlobByte, p->offset);
    p = &aZstd[i];
    p->decoded = nBlobByte;
    p->length = compress_tensor(aStored, nBound, aTensor, nBlobByte);
    place(p, &endZstd);
    pwrite_all(fdZstd, aStored, (size_t)p->length, p->offset);
  }
  finish_file(fdRaw, aRaw, N_BLOB, endRaw, &out);
  finish_file(fdZstd, aZstd, N_BLOB, endZstd, &out);
  free(out.a);
  free(aStored);
  free(aTensor);
  free(aTable);
}

int main(int argc, char **argv){
  if( argc==4 && strcmp(argv[1], "million")==0 ) gen_million(argv[2], argv[3]);
  else if( argc==3 && strcmp(argv[1], "tree")==0 ) gen_tree(argv[2], 0);
  else if( argc==3 && strcmp(argv[1], "safetensors")==0 ) gen_safetensors(argv[2]);
  else if( argc==3 && strcmp(argv[1], "safetensors-tree")==0 ) gen_tree(argv[2], 1);
  else if( argc==4 && strcmp(argv[1], "blobs")==0 ) gen_blobs(argv[2], argv[3]);
  else if( argc==3 && strcmp(argv[1], "million-2")==0 ) gen_million_2(argv[2]);
  else if( argc==3 && strcmp(argv[1], "pair")==0 ) gen_files(argv[2], 2, 16);
  else if( argc==3 && strcmp(argv[1], "shelf")==0 ) gen_files(argv[2], 24, 1);
  else if( argc==3 && strcmp(argv[1], "hole")==0 ) gen_hole(argv[2]);
  else die("usage: gen million|million-2|blobs|hole|safetensors FILE... | gen tree|pair|shelf|safetensors-tree DIR");
  return 0;
}
