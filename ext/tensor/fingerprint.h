/*
** Fingerprints: digests of tensors, and of files, that are equal for equal tensors whatever holds
** them: any container, layout, encoding, byte order or shard. Interface to code in fingerprint.c.
**
** A tensor's is the XXH3-128 (seed 0) of
**
**   u64     bytes of its type's name
**   text    that name, as container/dtype.h has it: f32, f8_e4m3fn, bool
**   u64     its rank
**   u64     each dimension, the outermost first
**   bytes   its elements in row-major order, little-endian, what zt_assemble() gives of them in
**           their own type: packed ones two or four to a byte, the first in the lowest bits, the
**           spare bits of the last byte 0
**
** The type is that of the values. It is f32 where they are computed: a quantized tensor has the
** fingerprint of its values as a dense f32. Cells that are not stored are 0, values of one cell add
** up. Elements count by their bits: -0 is another value than 0, and a NaN or a true bool of other
** bits is another one.
**
** A file's is the XXH3-128 of these, for each object, in ascending order of their names' bytes,
** which no two have in common:
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

/* The bytes that a fingerprint's text tells. False: it is none. */
bool zt_fingerprint_parse(zt_text text, uint8_t out[ZT_DIGEST_XXH3_128_BYTES]);

/* That of a file that had all of these tensors, which are sorted by their names here. Fails if two
** have one name. */
int zt_fingerprint_join(zt_fingerprint_named *a, size_t n, const zt_interrupt *interrupt,
                        zt_fingerprint *out, zt_error *err);

/* That of object i. err's place should be the file and the object. What goes wrong is why there are
** no values. Takes less than a MB, beside what decoding and sorting take. */
int zt_fingerprint_object(zt_source *source, const zt_container *c, uint32_t i, zt_budget *budget,
                          zt_fingerprint *out, zt_error *err);

/* That of a file. err's place should be the file; of several objects without values, the first by
** name is told. If the budget bounds what is decoded, that is of all objects together; else they
** are read by as many threads as it has. */
int zt_fingerprint_file(zt_source *source, const zt_container *c, zt_budget *budget,
                        zt_fingerprint *out, zt_error *err);

#endif
