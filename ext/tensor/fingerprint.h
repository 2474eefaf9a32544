/*
** Fingerprints are digests of tensors and of files. Equal tensors have equal fingerprints in any
** container, layout, encoding, byte order or shard. Interface to code in fingerprint.c.
**
** A tensor's fingerprint is the XXH3-128 (seed 0) of
**
**   u64     bytes of its type's name
**   text    that name, as in container/dtype.h: f32, f8_e4m3fn, bool
**   u64     its rank
**   u64     each dimension, the outermost first
**   bytes   its elements in row-major order and in their own type, as zt_assemble() returns them:
**           little-endian; packed ones two or four to a byte, the first in the lowest bits, the
**           spare bits of the last byte 0
**
** The type is that of the values. Computed values are f32: a quantized tensor has the fingerprint
** of its values as a dense f32. Cells without a stored element are 0, and values of one cell add
** up. Elements are compared by their bits: -0 differs from 0, and so do NaNs and true bools of
** different bits.
**
** A file's fingerprint is the XXH3-128 of the following, for each object in ascending bytewise
** order of the names, which are unique:
**
**   u64     bytes of its name
**   text    its name
**   bytes   the 16 of its fingerprint, as its digits are read from left to right
**
** A u64 is little-endian.
*/
#ifndef ZT_TENSOR_FINGERPRINT_H
#define ZT_TENSOR_FINGERPRINT_H

#include "core/digest.h"
#include "tensor/payload.h"

typedef struct zt_fingerprint {
  uint8_t bytes[ZT_DIGEST_XXH3_128_BYTES];
  char text[ZT_DIGEST_TEXT];       /* "xxh3-128:..." */
} zt_fingerprint;

/* A tensor's name, borrowed, and the bytes of its fingerprint. */
typedef struct zt_fingerprint_named {
  zt_text name;
  uint8_t bytes[ZT_DIGEST_XXH3_128_BYTES];
} zt_fingerprint_named;

/* Parse a fingerprint's text. False if it is no fingerprint. */
bool zt_fingerprint_parse(zt_text text, uint8_t out[ZT_DIGEST_XXH3_128_BYTES]);

/* Return the fingerprint of a file with all of these tensors, which are sorted by name in place.
** Duplicate names are an error. */
int zt_fingerprint_join(zt_fingerprint_named *a, size_t n, const zt_interrupt *interrupt,
                        zt_fingerprint *out, zt_error *err);

/* Return the fingerprint of object i. err's place should be the file and the object. Errors are
** those of reading the values. This takes less than a MB, besides decoding and sorting. */
int zt_fingerprint_object(zt_source *source, const zt_container *c, uint32_t i, zt_budget *budget,
                          zt_fingerprint *out, zt_error *err);

/* Return the fingerprint of a file. err's place should be the file. If several objects fail, the
** error is that of the first by name. A bound on decoded bytes covers all objects together; without
** one, the budget's threads read them. */
int zt_fingerprint_file(zt_source *source, const zt_container *c, zt_budget *budget,
                        zt_fingerprint *out, zt_error *err);

#endif
