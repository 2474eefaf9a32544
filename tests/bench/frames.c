/*
** frames [--check] FILE OFFSET LENGTH START COUNT
**
** Reads and decodes those frames of a zt.zstd-seekable/1 part, stored at OFFSET, that hold COUNT bytes of its content from
** START on. It knows which before the clock starts. Prints seconds, 1, COUNT; with --check also a checksum of the COUNT bytes.
*/
#define _DEFAULT_SOURCE
#include "manifest.h"

#include <zstd.h>

typedef struct frame {
  uint64_t offset;       /* in the file */
  size_t stored, content;
} frame;

static uint32_t le32(const uint8_t *a){
  return a[0] | (uint32_t)a[1]<<8 | (uint32_t)a[2]<<16 | (uint32_t)a[3]<<24;
}

static uint64_t number(const char *z){ return strtoull(z, NULL, 10); }

/* The frames from the seek table, which ends the part; all but the last are of one size. */
static frame *read_frames(int fd, uint64_t offset, uint64_t length, size_t *pn){
  uint8_t aFoot[9];
  pread_all(fd, aFoot, sizeof(aFoot), offset + length - sizeof(aFoot));
  size_t n = le32(aFoot), width = aFoot[4] ? 12 : 8;
  uint8_t *aTable = must_alloc(n*width);
  frame *aFrame = must_alloc(n*sizeof(*aFrame));
  pread_all(fd, aTable, n*width, offset + length - sizeof(aFoot) - n*width);
  for(size_t i=0; i<n; i++){
    aFrame[i] = (frame){offset, le32(aTable + i*width), le32(aTable + i*width + 4)};
    offset += aFrame[i].stored;
  }
  free(aTable);
  *pn = n;
  return aFrame;
}

int main(int argc, char **argv){
  int doCheck = argc==7 && strcmp(argv[1], "--check")==0;
  if( argc!=6 + doCheck ) die("usage: frames [--check] FILE OFFSET LENGTH START COUNT");
  argv += doCheck;
  uint64_t start = number(argv[4]), count = number(argv[5]);
  size_t n, nContent = 0;
  int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
  if( fd<0 ) die("cannot open %s", argv[1]);
  frame *aFrame = read_frames(fd, number(argv[2]), number(argv[3]), &n);
  size_t first = (size_t)(start/aFrame[0].content), last = (size_t)((start + count - 1)/aFrame[0].content);
  if( last>=n ) die("the content ends before");

  stopwatch begin = stopwatch_start();
  ZSTD_DCtx *pCtx = ZSTD_createDCtx();
  uint8_t *aContent = must_alloc((last - first + 1)*aFrame[0].content);
  for(size_t i=first; i<=last; i++){
    uint8_t *aStored = must_alloc(aFrame[i].stored);
    pread_all(fd, aStored, aFrame[i].stored, aFrame[i].offset);
    size_t rc = ZSTD_decompressDCtx(pCtx, aContent + nContent, aFrame[i].content, aStored, aFrame[i].stored);
    if( rc!=aFrame[i].content ) die("a frame does not decode");
    nContent += rc;
    free(aStored);
  }
  stopwatch passed = stopwatch_stop(begin);

  stopwatch_print(passed);
  printf("\t1\t%llu", (unsigned long long)count);
  if( doCheck ) printf("\t%016llx", (unsigned long long)checksum(0, aContent + start%aFrame[0].content, (size_t)count));
  printf("\n");
  ZSTD_freeDCtx(pCtx);
  free(aContent);
  free(aFrame);
  close(fd);
  return 0;
}
