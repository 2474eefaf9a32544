/*
** walk [--stat] THREADS PATH
**
** Lists a zTensor file, or every *.zt below a directory, like a C program written for nothing else: open, fstat,
** pread of footer and manifest, one walk over it, close. Prints seconds, components, sum of their lengths. Threads share
** the directories directly below PATH. With --stat it opens no file, but calls fstatat() for each, and prints files and
** the sum of their sizes.
*/
#define _DEFAULT_SOURCE  /* d_type */
#include "manifest.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

static int isStat;  /* --stat */

/* The directories directly below PATH. */
static struct {
  int fd;
  char **az;
  size_t n;
  atomic_size_t next;
} below;

typedef struct totals {
  buffer manifest;
  uint64_t nComponent;
  uint64_t nByte;
} totals;

static void add_component(void *pCtx, const component *p){
  totals *pTotal = pCtx;
  pTotal->nComponent++;
  pTotal->nByte += p->length;
}

/* Takes ownership of fd. */
static void walk_file(totals *pTotal, int fd){
  size_t n = manifest_read(fd, &pTotal->manifest);
  manifest_walk(pTotal->manifest.a, n, add_component, pTotal);
  close(fd);
}

static void stat_file(totals *pTotal, int fdDir, const char *zName){
  struct stat st;
  if( fstatat(fdDir, zName, &st, 0)!=0 ) die("cannot stat %s", zName);
  pTotal->nComponent++;
  pTotal->nByte += (uint64_t)st.st_size;
}

static int open_below(int fd, const char *zName, int flags){
  int sub = openat(fd, zName, O_RDONLY | O_CLOEXEC | flags);
  if( sub<0 ) die("cannot open %s", zName);
  return sub;
}

static int is_tensor_file(const char *zName){
  size_t n = strlen(zName);
  return n>3 && strcmp(zName + n - 3, ".zt")==0;
}

static void keep_directory(const char *zName){
  below.az = realloc(below.az, (below.n + 1)*sizeof(*below.az));
  if( below.az==NULL || (below.az[below.n++] = strdup(zName))==NULL ) die("out of memory");
}

/* Takes ownership of fd, an open directory. The first one's directories are kept for the threads. */
static void walk_directory(totals *pTotal, int fd, int isFirst){
  struct dirent *p;
  DIR *pDir = fdopendir(fd);
  if( pDir==NULL ) die("cannot read a directory");
  while( (p = readdir(pDir))!=NULL ){
    if( p->d_name[0]=='.' ) continue;
    if( p->d_type==DT_DIR ){
      if( isFirst ) keep_directory(p->d_name);
      else walk_directory(pTotal, open_below(fd, p->d_name, O_DIRECTORY), 0);
    }else if( is_tensor_file(p->d_name) ){
      if( isStat ) stat_file(pTotal, fd, p->d_name);
      else walk_file(pTotal, open_below(fd, p->d_name, 0));
    }
  }
  closedir(pDir);
}

static void *walk_below(void *pArg){
  for(size_t i; (i = atomic_fetch_add(&below.next, 1))<below.n; ){
    walk_directory(pArg, open_below(below.fd, below.az[i], O_DIRECTORY), 0);
  }
  return NULL;
}

int main(int argc, char **argv){
  enum { MAX_THREAD = 64 };
  totals aTotal[MAX_THREAD] = {{{NULL, 0}, 0, 0}};
  pthread_t aThread[MAX_THREAD];
  struct stat st;
  isStat = argc==4 && strcmp(argv[1], "--stat")==0;
  int nThread = argc==3 + isStat ? atoi(argv[1 + isStat]) : 0;
  if( nThread<1 || nThread>MAX_THREAD ) die("usage: walk [--stat] THREADS PATH");

  stopwatch start = stopwatch_start();
  below.fd = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
  if( below.fd<0 || fstat(below.fd, &st)!=0 ) die("cannot open %s", argv[argc - 1]);
  if( S_ISDIR(st.st_mode) ){
    walk_directory(&aTotal[0], dup(below.fd), 1);
    for(int i=1; i<nThread; i++){
      if( pthread_create(&aThread[i], NULL, walk_below, &aTotal[i])!=0 ) die("cannot start a thread");
    }
    walk_below(&aTotal[0]);
    for(int i=1; i<nThread; i++){
      pthread_join(aThread[i], NULL);
      aTotal[0].nComponent += aTotal[i].nComponent;
      aTotal[0].nByte += aTotal[i].nByte;
    }
    close(below.fd);
  }else{
    walk_file(&aTotal[0], below.fd);
  }
  stopwatch passed = stopwatch_stop(start);

  stopwatch_print(passed);
  printf("\t%llu\t%llu\n", (unsigned long long)aTotal[0].nComponent, (unsigned long long)aTotal[0].nByte);
  return 0;
}
