/*
** Choices that a target reads out of its input: whoever changes a byte chooses otherwise. No expression makes two of them whose
** order C leaves open: each compiler would choose an order of its own, and a finding would not be found again.
*/
#ifndef ZT_TESTS_FUZZ_CHOICES_H
#define ZT_TESTS_FUZZ_CHOICES_H

#include <stddef.h>
#include <stdint.h>

static const uint8_t *input;
static size_t input_left;

/* The next byte; 0 where the input has ended. */
static inline unsigned byte(void){
  if( input_left==0 ) return 0;
  input_left--;
  return *input++;
}

/* The next two. */
static inline unsigned two_bytes(void){
  unsigned high = byte();
  return high<<8 | byte();
}

/* A number below n, which is at most 65536. */
static inline size_t choose(size_t n){
  return (n>256 ? two_bytes() : byte()) % n;
}

#endif
