/*
** libzstd and the C library allocate from memory.h for the extension: their allocations count and fail with
** SQLite's. The extension's objects, linked into the program, find these functions before the libraries'. On Windows
** the libraries are linked into the program, too, and allocate by themselves.
*/
#ifndef ZT_TESTS_OOM_LIBRARIES_H
#define ZT_TESTS_OOM_LIBRARIES_H

#include "memory.h"

static struct libraries {
  uint64_t zstd, directories;   /* Failures injected, in all */
} libraries;

#ifndef _WIN32
# include <dirent.h>
# include <errno.h>
# include <fcntl.h>
# include <unistd.h>
#define ZSTD_STATIC_LINKING_ONLY   /* ZSTD_createDCtx_advanced() */
#include <zstd.h>

/* Note in *failures whether the call that was made since then failed. */
static inline void *library_result(void *p, uint64_t *failures){
  if( !p ) ++*failures;
  return p;
}

/* --- libzstd --- */

static void *zstd_malloc(void *unused, size_t n){
  (void)unused;
  return library_result(memory_malloc(n), &libraries.zstd);
}

static void zstd_free(void *unused, void *p){
  (void)unused;
  memory_free(p);
}

ZSTD_DCtx *ZSTD_createDCtx(void){
  return ZSTD_createDCtx_advanced((ZSTD_customMem){ zstd_malloc, zstd_free, NULL });
}

/* --- The C library --- */

DIR *opendir(const char *path){
  int fd;
  if( memory_fails() ){
    libraries.directories++;
    errno = ENOMEM;
    return NULL;
  }
  fd = open(path, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
  return fd<0 ? NULL : fdopendir(fd);
}
#endif

#endif
