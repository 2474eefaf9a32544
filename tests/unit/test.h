/*
** The unit tests share these: the list of tests, bytes written by hand, a small CBOR writer, files, random numbers, and assertions about
** zt_error. Every tests/unit/test_*.c is a program of its own that runs from the project's root.
**
** Bytes that a decoder reads are kept in allocations of exactly their size, so that AddressSanitizer sees a read beyond.
*/
#ifndef ZT_TESTS_UNIT_TEST_H
#define ZT_TESTS_UNIT_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1   /* mkdtemp(), setenv(), futimens(): for the tests of files */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64   /* As in os_posix.c: also where long has 32 bits */
#endif
#ifndef _TIME_BITS
#define _TIME_BITS 64
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/cbor.h"
#include "core/host.h"

#define COUNT(array) (sizeof(array)/sizeof(*(array)))

/* Fail with a message that says which row of a table it was. */
#define check(condition, ...) do{ \
    if( !(condition) ){ \
      print_error("%s: ", #condition); \
      print_error(__VA_ARGS__); \
      print_error("\n"); \
      fail(); \
    } \
  }while( 0 )

/* --- Tests --- */

/* The tests of a program, in the order of their lines. */
static struct { struct CMUnitTest tests[64]; int lines[64]; size_t n; } program;

/* Constructors run in another order on some systems. */
static inline void add_test(int line, struct CMUnitTest test){
  size_t i = program.n++;
  if( program.n>COUNT(program.tests) ) abort();
  for(; i>0 && program.lines[i-1]>line; i--){
    program.tests[i] = program.tests[i-1];
    program.lines[i] = program.lines[i-1];
  }
  program.tests[i] = test;
  program.lines[i] = line;
}

/* A test between two fixtures, either of which may be NULL; it is followed by its body, and runs without being listed. */
#define TEST_WITH(name, setup, teardown) \
  static void name(void **state); \
  __attribute__((constructor)) static void add_##name(void){ \
    add_test(__LINE__, (struct CMUnitTest)cmocka_unit_test_setup_teardown(name, setup, teardown)); \
  } \
  static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* All tests of the program; returns its exit code. */
static inline int run_all(const char *name, CMFixtureFunction setup, CMFixtureFunction teardown){
  return program.n ? _cmocka_run_group_tests(name, program.tests, program.n, setup, teardown) : 1;
}

/* --- Bytes --- */

/* Bytes that grow at their end; p is owned and ends in free(). */
typedef struct blob {
  uint8_t *p;
  size_t n, room;
} blob;

static inline uint8_t *put_room(blob *b, size_t n){
  if( b->n+n>b->room || !b->p ){
    b->room = (b->n+n)*2+16;
    b->p = realloc(b->p, b->room);
    assert_non_null(b->p);
  }
  b->n += n;
  return b->p + b->n - n;
}

static inline void put(blob *b, const void *p, size_t n){
  uint8_t *to = put_room(b, n);
  if( n ) memcpy(to, p, n);
}

static inline void put_byte(blob *b, unsigned byte){
  *put_room(b, 1) = (uint8_t)byte;
}

static inline void put_repeated(blob *b, unsigned byte, size_t n){
  memset(put_room(b, n), (int)byte, n);
}

static inline void put_le64(blob *b, uint64_t u){
  for(int i=0; i<8; i++) put_byte(b, (unsigned)(u >> 8*i & 0xFF));
}

/* Hexadecimal digits; spaces between them mean nothing. */
static inline void put_hex(blob *b, const char *hex){
  unsigned byte = 0, digits = 0;
  for(; *hex; hex++){
    if( *hex==' ' ) continue;
    byte = byte<<4 | (unsigned)(*hex<='9' ? *hex-'0' : (*hex|0x20)-'a'+10);
    if( ++digits%2==0 ) put_byte(b, byte & 0xFF);
  }
  assert_int_equal(digits%2, 0);
}

/* The same bytes in an allocation of exactly their size. */
static inline blob exact(const void *p, size_t n){
  blob b = { malloc(n), n, n };
  if( n ){
    assert_non_null(b.p);
    memcpy(b.p, p, n);
  }
  return b;
}

static inline blob seal(blob *b){
  blob out = exact(b->p, b->n);
  free(b->p);
  *b = (blob){ 0 };
  return out;
}

static inline blob blob_of(const char *hex){
  blob b = { 0 };
  put_hex(&b, hex);
  return seal(&b);
}

static inline zt_span span_of(blob b){
  return (zt_span){ b.p, b.n };
}

static inline bool same_blob(blob a, blob b){
  return a.n==b.n && (a.n==0 || memcmp(a.p, b.p, a.n)==0);
}

/* --- A CBOR writer --- */

/* A head with its argument in `width` bytes: 0 (in the initial byte), 1, 2, 4 or 8. */
static inline void put_head_of(blob *b, zt_cbor_type type, uint64_t n, unsigned width){
  unsigned info = width==0 ? (unsigned)n : width==1 ? 24 : width==2 ? 25 : width==4 ? 26 : 27;
  put_byte(b, (unsigned)type<<5 | info);
  while( width>0 ) put_byte(b, (unsigned)(n >> 8*--width & 0xFF));
}

static inline unsigned least_width(uint64_t n){
  return n<24 ? 0 : n<0x100 ? 1 : n<0x10000 ? 2 : n<0x100000000 ? 4 : 8;
}

static inline void put_head(blob *b, zt_cbor_type type, uint64_t n){
  put_head_of(b, type, n, least_width(n));
}

static inline void put_uint(blob *b, uint64_t n){
  put_head(b, ZT_CBOR_UINT, n);
}

static inline void put_text(blob *b, const char *z){
  put_head(b, ZT_CBOR_TEXT, strlen(z));
  put(b, z, strlen(z));
}

static inline void put_map(blob *b, uint64_t n){
  put_head(b, ZT_CBOR_MAP, n);
}

static inline void put_array(blob *b, uint64_t n){
  put_head(b, ZT_CBOR_ARRAY, n);
}

/* --- Files --- */

static inline blob read_file(const char *path){
  blob b = { 0 };
  FILE *f = fopen(path, "rb");
  char buffer[65536];
  size_t n;
  check( f!=NULL, "%s", path );
  while( (n = fread(buffer, 1, sizeof(buffer), f))>0 ) put(&b, buffer, n);
  fclose(f);
  return seal(&b);
}

static inline void write_file(const char *path, const void *p, size_t n){
  FILE *f = fopen(path, "wb");
  check( f!=NULL, "%s", path );
  if( n ) assert_int_equal(fwrite(p, 1, n, f), n);
  assert_int_equal(fclose(f), 0);
}

/* Remove a directory that mkdtemp() made, with all below it; 0 if that succeeds. */
static inline int remove_all(const char *directory){
  char command[128];
  check( snprintf(command, sizeof(command), "rm -rf %s", directory)<(int)sizeof(command), "%s",
         directory );
  return system(command);
}

#ifdef _WIN32
# define SEEK _fseeki64   /* truncate() counts in 32 bits there */
#else
# define SEEK fseeko
#endif

/* Make a file n bytes long, more than it has: the rest is a hole, but for a zero at its end. */
static inline void extend_file(const char *path, uint64_t n){
  FILE *f = fopen(path, "r+b");
  check( f!=NULL, "%s", path );
  check( SEEK(f, (int64_t)n-1, SEEK_SET)==0 && fputc(0, f)==0, "%s", path );
  assert_int_equal(fclose(f), 0);
}

/* --- Random numbers, the same in every run --- */

static inline uint64_t random64(uint64_t *state){
  *state ^= *state<<13;
  *state ^= *state>>7;
  *state ^= *state<<17;
  return *state * 0x2545F4914F6CDD1Du;
}

/* Below n. */
static inline size_t random_below(uint64_t *state, size_t n){
  return (size_t)((random64(state)>>16) % n);
}

/* --- Interrupts --- */

/* A caller who stops at that question, counted from 1; 0: never. */
typedef struct caller {
  int asked, stop_at;
} caller;

static inline bool caller_stops(void *context){
  caller *c = context;
  return ++c->asked==c->stop_at;
}

/* --- Processes --- */

/* End a forked process at once, without what ends a whole program; but `make coverage` counts what it did. */
#define LEAVE_CHILD(code) do{ \
    extern int __llvm_profile_write_file(void) __attribute__((weak)); \
    if( __llvm_profile_write_file ) __llvm_profile_write_file(); \
    _exit(code); \
  }while( 0 )

/* --- Failures --- */

/* A failure of the file: the code is SQLITE_ERROR and the message contains `what`. Clears the error. */
static inline void assert_failed(zt_error *err, const char *what, const char *row){
  check( err->rc==SQLITE_ERROR, "%s: code %d", row, err->rc );
  check( err->message!=NULL, "%s", row );
  check( strncmp(err->message, "ztensor: ", 9)==0, "%s: %s", row, err->message );
  check( strstr(err->message, what)!=NULL, "%s: '%s' is not in '%s'", row, what, err->message );
  zt_error_clear(err);
}

static inline void assert_succeeded(zt_error *err, const char *row){
  check( err->rc==SQLITE_OK, "%s: code %d, %s", row, err->rc, err->message ? err->message : "no message" );
  assert_null(err->message);
}

/* Equal, or neither is there. */
static inline bool same_text(zt_text a, zt_text b){
  return (a.z==NULL)==(b.z==NULL) && (!a.z || zt_text_equal(a, b));
}

static inline void assert_text(zt_text text, const char *expected, const char *row){
  check( text.z!=NULL, "%s", row );
  check( text.n==strlen(expected) && memcmp(text.z, expected, text.n)==0, "%s: '%.*s', expected '%s'", row, (int)text.n,
         text.z, expected );
}

#endif
