/*
** What ISA-L's inflate calls in those of its files that are for compressing, too: those would bring
** the compressor along. Streams here are of deflate alone: the heads and sums of gzip and zlib,
** which it could read besides, are never met.
*/
#include <igzip_lib.h>
#include <stdlib.h>

int decode_huffman_code_block_stateless(struct inflate_state *state, uint8_t *start);
int decode_huffman_code_block_stateless_aarch64(struct inflate_state *state, uint8_t *start);
uint32_t isal_adler32_bam1(uint32_t sum, const unsigned char *p, uint64_t n);

void isal_gzip_header_init(struct isal_gzip_header *head){
  (void)head;
  abort();
}

void isal_zlib_header_init(struct isal_zlib_header *head){
  (void)head;
  abort();
}

uint32_t isal_adler32_bam1(uint32_t sum, const unsigned char *p, uint64_t n){
  (void)sum;
  (void)p;
  (void)n;
  abort();
}

#ifdef __aarch64__
int decode_huffman_code_block_stateless(struct inflate_state *state, uint8_t *start){
  return decode_huffman_code_block_stateless_aarch64(state, start);
}
#endif
