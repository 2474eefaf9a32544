/*
** walk PATH
**
** Lists a zTensor file, or every *.zt below a directory, like a C program written for nothing else: open, fstat,
** pread of footer and manifest, one walk over it, close. Prints seconds, components, sum of their lengths.
*/
#define _DEFAULT_SOURCE  /* d_type */
#include "manifest.h"

#include <dirent.h>

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

static int is_tensor_file(const char *zName){
  size_t n = strlen(zName);
  return n>3 && strcmp(zName + n - 3, ".zt")==0;
}

/* Takes ownership of fd, an open directory. */
static void walk_directory(totals *pTotal, int fd){
  struct dirent *p;
  DIR *pDir = fdopendir(fd);
  if( pDir==NULL ) die("cannot read a directory");
  while( (p = readdir(pDir))!=NULL ){
    if( p->d_name[0]=='.' ) continue;
    int isDir = p->d_type==DT_DIR;
    if( !isDir && !is_tensor_file(p->d_name) ) continue;
    int sub = openat(fd, p->d_name, O_RDONLY | O_CLOEXEC | (isDir ? O_DIRECTORY : 0));
    if( sub<0 ) die("cannot open %s", p->d_name);
    if( isDir ){
      walk_directory(pTotal, sub);
    }else{
      walk_file(pTotal, sub);
    }
  }
  closedir(pDir);
}

int main(int argc, char **argv){
  totals total = {{NULL, 0}, 0, 0};
  struct stat st;
  if( argc!=2 ) die("usage: walk PATH");

  stopwatch start = stopwatch_start();
  int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
  if( fd<0 || fstat(fd, &st)!=0 ) die("cannot open %s", argv[1]);
  if( S_ISDIR(st.st_mode) ){
    walk_directory(&total, fd);
  }else{
    walk_file(&total, fd);
  }
  stopwatch passed = stopwatch_stop(start);

  stopwatch_print(passed);
  printf("\t%llu\t%llu\n", (unsigned long long)total.nComponent, (unsigned long long)total.nByte);
  free(total.manifest.a);
  return 0;
}
