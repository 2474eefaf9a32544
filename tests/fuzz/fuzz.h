/* The fuzz targets share this file. Each target is one file with these three functions of libFuzzer's interface; the same file
** linked with replay.c instead of libFuzzer reads inputs from files. */
#ifndef ZT_TESTS_FUZZ_H
#define ZT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* libFuzzer's own mutation, for a target's custom mutator. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);

/* A property that must hold. Not assert(), which a build may leave out. */
#define CHECK(condition, ...) \
  do{ \
    if( !(condition) ){ \
      fprintf(stderr, "%s:%d: violated: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__); \
      fputc('\n', stderr); \
      abort(); \
    } \
  }while( 0 )

#endif
