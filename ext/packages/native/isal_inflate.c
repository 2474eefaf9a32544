/*
** What ISA-L's inflate calls in those of its files that are for compressing, too: those would bring
** the compressor along. zlib, which is linked as well, computes the checksum of its format.
*/
#include <igzip_lib.h>
#include <string.h>
#include <zlib.h>

#define ISAL_ADLER_BASE 65521u   /* RFC 1950, section 8.2 */

int decode_huffman_code_block_stateless(struct inflate_state *state, uint8_t *start);
int decode_huffman_code_block_stateless_aarch64(struct inflate_state *state, uint8_t *start);
uint32_t isal_adler32_bam1(uint32_t sum, const unsigned char *p, uint64_t n);

void isal_gzip_header_init(struct isal_gzip_header *head){
  memset(head, 0, sizeof(*head));
  head->os = 255;   /* Unknown: RFC 1952, section 2.3.1 */
}

void isal_zlib_header_init(struct isal_zlib_header *head){
  memset(head, 0, sizeof(*head));
}

/* Adler-32 whose lower half is one less, modulo the base: so it begins with 0 as a CRC does. */
uint32_t isal_adler32_bam1(uint32_t sum, const unsigned char *p, uint64_t n){
  uint32_t low = (sum & 0xffff)+1;
  uLong adler = (sum & 0xffff0000) | (low==ISAL_ADLER_BASE ? 0 : low);
  adler = adler32_z(adler, p, (z_size_t)n);
  low = (uint32_t)adler & 0xffff;
  return ((uint32_t)adler & 0xffff0000) | (low ? low-1 : ISAL_ADLER_BASE-1);
}

#ifdef __aarch64__
int decode_huffman_code_block_stateless(struct inflate_state *state, uint8_t *start){
  return decode_huffman_code_block_stateless_aarch64(state, start);
}
#endif
