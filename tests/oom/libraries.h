/*
** What libzstd, libcrypto and the C library allocate for the extension, from memory.h: their allocations count and fail with
** SQLite's. The extension's objects, linked into the program, find these functions before the libraries'.
*/
#ifndef ZT_TESTS_OOM_LIBRARIES_H
#define ZT_TESTS_OOM_LIBRARIES_H

#include "memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <unistd.h>
#define ZSTD_STATIC_LINKING_ONLY   /* ZSTD_createDCtx_advanced() */
#include <zstd.h>

static struct libraries {
  uint64_t zstd, crypto, directories;   /* Failures injected, in all */
} libraries;

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

/* --- libcrypto --- */

static void *crypto_malloc(size_t n, const char *file, int line){
  (void)file;
  (void)line;
  return library_result(memory_malloc(n), &libraries.crypto);
}

static void *crypto_realloc(void *p, size_t n, const char *file, int line){
  (void)file;
  (void)line;
  return library_result(memory_realloc(p, n), &libraries.crypto);
}

static void crypto_free(void *p, const char *file, int line){
  (void)file;
  (void)line;
  memory_free(p);
}

/* What libcrypto keeps of its failures, on a list of this thread's. */
static inline void libraries_forget(void){
  ERR_clear_error();
}

/* Before anything else is asked of libcrypto. What it sets up once and for all is set up here. */
static inline bool libraries_install(void){
  unsigned char digest[EVP_MAX_MD_SIZE];
  if( CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free)!=1 ) return false;
  for(int i=0; i<2; i++) if( EVP_Digest("", 0, digest, NULL, EVP_sha256(), NULL)!=1 ) return false;
  ERR_raise(ERR_LIB_USER, ERR_R_MALLOC_FAILURE);
  libraries_forget();
  return true;
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
