/*
** least WORK THREADS PIECES
**
** Does only what no program can avoid: reads bytes, and makes of them what WORK says. Each line of the file PIECES is
** "OFFSET STORED RESULT FILE": so many bytes are stored there, and so many are their result. The memory of results is
** kept from one to the next. Prints seconds, and how many bytes were stored and came out.
**
**   read              reads them into a window
**   result            reads them into a window and copies the result's number of bytes from there; reads them into the
**                     result where both are of one size
**   zeros             reads them into a window and touches each page of the result, which the system fills with zeros
**   write             reads them into a window and writes the result's number of bytes from there to a new file
**   compress          reads a MiB, compresses it with zstd 3 and writes that to a new file
**   xxh3 crc32c sha256  reads them into a window, from which a digest of each piece is computed
**   inflate zstd      reads all of a piece, and decodes it
**
** Threads share the pieces; where a piece need not be worked on as one, they share its parts of a MiB.
*/
#define _DEFAULT_SOURCE
#include "manifest.h"
#include "../../ext/core/copy.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

enum { PART = 1<<20, WINDOW = 256<<10, PAGE = 4096, LEVEL = 3, TOUCHED = 64*1000*1000 };

static const char zWritten[] = "least.out";

typedef struct piece {
  const char *zFile;
  uint64_t offset, stored;
  uint64_t at, result;      /* where in the results, and how many bytes */
} piece;

typedef struct work work;

typedef struct worker {
  const work *pWork;
  const char *zFile;        /* the open one, NULL: none */
  int fd;
  uint8_t *aWindow;
  uint8_t *aResult;         /* of a piece that is worked on as one */
  buffer whole;             /* the stored bytes of a piece */
  XXH3_state_t *pXxh3;
  EVP_MD_CTX *pSha256;
  ZSTD_DCtx *pDecoder;
  ZSTD_CCtx *pEncoder;
  struct inflate_state inflate;
  uint64_t sum;             /* so that no digest is left out */
} worker;

struct work {
  const char *zName;
  void (*xDo)(worker *p, const piece *pPiece);
  bool isParted;            /* threads share its parts of a MiB */
  bool isWritten;           /* to a file */
};

static struct {
  const work *pWork;
  piece *a;
  size_t n, nAlloc;
  uint8_t *aResult;
  size_t nResult;
  int fdWritten;
  atomic_size_t next;
} all;

/* ---- works ---- */

static void read_window(worker *p, const piece *pPiece, uint64_t at, size_t n){
  pread_all(p->fd, p->aWindow, n, pPiece->offset + at);
}

static size_t window_size(const piece *pPiece, uint64_t at){
  return pPiece->stored - at<WINDOW ? (size_t)(pPiece->stored - at) : WINDOW;
}

static void work_read(worker *p, const piece *pPiece){
  for(uint64_t at=0; at<pPiece->stored; at+=WINDOW) read_window(p, pPiece, at, window_size(pPiece, at));
}

/* The part of the result that the bytes up to `at` make. */
static uint64_t share(const piece *pPiece, uint64_t at){
  return (uint64_t)((double)pPiece->result*(double)at/(double)pPiece->stored);
}

static void put_result(worker *p, uint64_t at, uint64_t n){
  for(uint64_t i=0; i<n; i+=WINDOW){
    zt_copy_past_caches(all.aResult + at + i, p->aWindow, n - i<WINDOW ? (size_t)(n - i) : WINDOW);
  }
}

static void put_zeros(worker *p, uint64_t at, uint64_t n){
  (void)p;
  for(uint64_t i=0; i<n; i+=PAGE) all.aResult[at + i] = 0;
}

static void put_written(worker *p, uint64_t at, uint64_t n){
  for(uint64_t i=0; i<n; i+=WINDOW){
    size_t k = n - i<WINDOW ? (size_t)(n - i) : WINDOW;
    if( pwrite(all.fdWritten, p->aWindow, k, (off_t)(at + i))!=(ssize_t)k ) die("cannot write");
  }
}

static void put_windows(worker *p, const piece *pPiece, void (*xPut)(worker *p, uint64_t at, uint64_t n)){
  for(uint64_t at=0; at<pPiece->stored; at+=WINDOW){
    size_t n = window_size(pPiece, at);
    uint64_t from = share(pPiece, at);
    read_window(p, pPiece, at, n);
    xPut(p, pPiece->at + from, share(pPiece, at + n) - from);
  }
}

static void work_result(worker *p, const piece *pPiece){
  if( pPiece->stored==pPiece->result ){
    pread_all(p->fd, all.aResult + pPiece->at, (size_t)pPiece->result, pPiece->offset);
  }else{
    put_windows(p, pPiece, put_result);
  }
}

static void work_zeros(worker *p, const piece *pPiece){
  put_windows(p, pPiece, put_zeros);
}

static void work_write(worker *p, const piece *pPiece){
  put_windows(p, pPiece, put_written);
}

static void work_xxh3(worker *p, const piece *pPiece){
  XXH3_64bits_reset(p->pXxh3);
  for(uint64_t at=0; at<pPiece->stored; at+=WINDOW){
    size_t n = window_size(pPiece, at);
    read_window(p, pPiece, at, n);
    XXH3_64bits_update(p->pXxh3, p->aWindow, n);
  }
  p->sum += XXH3_64bits_digest(p->pXxh3);
}

static void work_crc32c(worker *p, const piece *pPiece){
  unsigned crc = ~0u;
  for(uint64_t at=0; at<pPiece->stored; at+=WINDOW){
    size_t n = window_size(pPiece, at);
    read_window(p, pPiece, at, n);
    crc = crc32_iscsi(p->aWindow, (int)n, crc);
  }
  p->sum += crc;
}

static void work_sha256(worker *p, const piece *pPiece){
  uint8_t aDigest[EVP_MAX_MD_SIZE];
  if( !EVP_DigestInit_ex(p->pSha256, EVP_sha256(), NULL) ) die("no sha256");
  for(uint64_t at=0; at<pPiece->stored; at+=WINDOW){
    size_t n = window_size(pPiece, at);
    read_window(p, pPiece, at, n);
    EVP_DigestUpdate(p->pSha256, p->aWindow, n);
  }
  EVP_DigestFinal_ex(p->pSha256, aDigest, NULL);
  p->sum += aDigest[0];
}

static void read_whole(worker *p, const piece *pPiece){
  size_t n = (size_t)pPiece->stored;
  if( n>p->whole.nAlloc ){
    free(p->whole.a);
    p->whole = (buffer){must_alloc(n), n};
  }
  pread_all(p->fd, p->whole.a, n, pPiece->offset);
}

/* With the checks of zlib's stream around it or none, as its first two bytes say. */
static void work_inflate(worker *p, const piece *pPiece){
  struct inflate_state *s = &p->inflate;
  read_whole(p, pPiece);
  const uint8_t *a = p->whole.a;
  isal_inflate_init(s);
  if( pPiece->stored>2 && (a[0] & 15)==8 && (a[0]<<8 | a[1])%31==0 ) s->crc_flag = ISAL_ZLIB;
  s->next_in = p->whole.a;
  s->avail_in = (uint32_t)pPiece->stored;
  s->next_out = p->aResult;
  s->avail_out = (uint32_t)pPiece->result;
  if( isal_inflate(s)!=ISAL_DECOMP_OK || s->avail_out>0 ) die("a piece does not inflate");
}

static void work_zstd(worker *p, const piece *pPiece){
  read_whole(p, pPiece);
  size_t n = (size_t)pPiece->result;
  if( ZSTD_decompressDCtx(p->pDecoder, p->aResult, n, p->whole.a, (size_t)pPiece->stored)!=n ){
    die("a piece does not decode");
  }
}

static void work_compress(worker *p, const piece *pPiece){
  size_t nOut = ZSTD_compressBound(PART);
  if( p->whole.a==NULL ) p->whole = (buffer){must_alloc(PART + nOut), PART};
  read_whole(p, pPiece);
  size_t n = ZSTD_compressCCtx(p->pEncoder, p->whole.a + PART, nOut, p->whole.a, (size_t)pPiece->stored, LEVEL);
  if( ZSTD_isError(n) ) die("a piece is not compressed");
  if( pwrite(all.fdWritten, p->whole.a + PART, n, (off_t)pPiece->at)!=(ssize_t)n ) die("cannot write");
}

static const work aWork[] = {
  {"read", work_read, true, false},
  {"result", work_result, true, false},
  {"zeros", work_zeros, true, false},
  {"write", work_write, true, true},
  {"compress", work_compress, true, true},
  {"xxh3", work_xxh3, false, false},
  {"crc32c", work_crc32c, false, false},
  {"sha256", work_sha256, false, false},
  {"inflate", work_inflate, false, false},
  {"zstd", work_zstd, false, false},
};

static const work *work_find(const char *zName){
  for(size_t i=0; i<sizeof(aWork)/sizeof(aWork[0]); i++){
    if( strcmp(aWork[i].zName, zName)==0 ) return &aWork[i];
  }
  die("unknown work %s", zName);
}

/* ---- threads ---- */

static void worker_open(worker *p, const char *zFile){
  if( p->zFile!=NULL && strcmp(p->zFile, zFile)==0 ) return;
  struct stat st;
  if( p->zFile!=NULL ) close(p->fd);
  p->fd = open(zFile, O_RDONLY | O_CLOEXEC);
  if( p->fd<0 || fstat(p->fd, &st)!=0 ) die("cannot open %s", zFile);
  p->zFile = zFile;
}

static void *worker_run(void *pArg){
  worker *p = pArg;
  p->aWindow = must_alloc(WINDOW);
  p->pXxh3 = XXH3_createState();
  p->pSha256 = EVP_MD_CTX_new();
  p->pDecoder = ZSTD_createDCtx();
  p->pEncoder = ZSTD_createCCtx();
  for(size_t i; (i = atomic_fetch_add(&all.next, 1))<all.n; ){
    worker_open(p, all.a[i].zFile);
    all.pWork->xDo(p, &all.a[i]);
  }
  if( p->zFile!=NULL ) close(p->fd);
  return NULL;
}

/* ---- pieces ---- */

static void add_piece(piece one){
  if( all.n==all.nAlloc ){
    all.nAlloc = 2*all.nAlloc + 64;
    all.a = realloc(all.a, all.nAlloc*sizeof(*all.a));
    if( all.a==NULL ) die("out of memory");
  }
  all.a[all.n++] = one;
}

static void add_parts(piece one){
  for(uint64_t at=0; at<one.stored; at+=PART){
    piece part = one;
    part.offset += at;
    part.stored = one.stored - at<PART ? one.stored - at : PART;
    part.at = one.at + share(&one, at);
    part.result = one.at + share(&one, at + part.stored) - part.at;
    add_piece(part);
  }
}

/* The written bytes lie in the file in order. Results come one after the other into the same memory. */
static void read_pieces(const char *zName, uint64_t *pnStored, uint64_t *pnResult){
  char zLine[5000];
  FILE *f = fopen(zName, "r");
  if( f==NULL ) die("cannot open %s", zName);
  bool isWritten = all.pWork->isWritten;
  while( fgets(zLine, sizeof(zLine), f)!=NULL ){
    unsigned long long offset, stored, result;
    int nHead = 0;
    if( sscanf(zLine, "%llu %llu %llu %n", &offset, &stored, &result, &nHead)!=3 ) die("not a piece: %s", zLine);
    zLine[strcspn(zLine, "\n")] = '\0';
    piece one = {strdup(zLine + nHead), offset, stored, isWritten ? *pnResult : 0, result};
    if( !isWritten && result>all.nResult ) all.nResult = (size_t)result;
    *pnStored += stored;
    *pnResult += result;
    if( all.pWork->isParted ) add_parts(one);
    else add_piece(one);
  }
  fclose(f);
}

int main(int argc, char **argv){
  uint64_t nStored = 0, nResult = 0;
  if( argc!=4 || atoi(argv[2])<1 ) die("usage: least WORK THREADS PIECES");
  int nThread = atoi(argv[2]);
  all.pWork = work_find(argv[1]);
  read_pieces(argv[3], &nStored, &nResult);
  worker *aWorker = calloc((size_t)nThread, sizeof(*aWorker));
  pthread_t *aThread = must_alloc((size_t)nThread*sizeof(*aThread));
  if( aWorker==NULL ) die("out of memory");
  unlink(zWritten);
  size_t nMemory = all.pWork->isParted ? all.nResult : all.nResult*(size_t)nThread;
  touch_memory(nMemory + TOUCHED);

  stopwatch start = stopwatch_start();
  all.aResult = alloc_pages(nMemory);
  for(int i=0; i<nThread && !all.pWork->isParted; i++) aWorker[i].aResult = all.aResult + (size_t)i*all.nResult;
  if( all.pWork->isWritten ) all.fdWritten = open(zWritten, O_WRONLY | O_CREAT, 0600);
  for(int i=1; i<nThread; i++){
    if( pthread_create(&aThread[i], NULL, worker_run, &aWorker[i])!=0 ) die("cannot start a thread");
  }
  worker_run(&aWorker[0]);
  for(int i=1; i<nThread; i++) pthread_join(aThread[i], NULL);
  if( all.pWork->isWritten ) close(all.fdWritten);
  free(all.aResult);
  stopwatch passed = stopwatch_stop(start);

  stopwatch_print(passed);
  printf("\t%llu\t%llu\n", (unsigned long long)nStored, (unsigned long long)nResult);
  unlink(zWritten);
  return 0;
}
