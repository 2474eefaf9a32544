/*
** The header of an npy array, which a file of its own and a member of an npz have alike. Interface
** to code in npy.c; the grammar, and the numbers of its rules, are there.
*/
#ifndef ZT_CONTAINER_NPY_H
#define ZT_CONTAINER_NPY_H

#include "container/driver.h"
#include "core/cbor_write.h"

#define ZT_NPY_HEAD 12           /* Bytes that tell how long a header is: magic number, version,
                                 ** length */
#define ZT_NPY_HEADER_MAX ((size_t)1 << 20)   /* Of the whole header */

/* What a header says. Texts are borrowed from its bytes. */
typedef struct zt_npy {
  size_t length;                 /* Of the header: the data follows */
  zt_text version;               /* Static: "1.0" ... */
  zt_text dtype, type;           /* In the model's words; type.z NULL: the same. dtype.z NULL: of no
                                 ** use (objects) */
  zt_text format;                /* Static: dense, numpy.structured ... */
  bool dense;                    /* It is the first of them */
  bool big, fortran;
  bool shaped;                   /* The shape fits rank and 64 bits: object has it */
  uint64_t itemsize;             /* Bytes of an element; 0: of no fixed size */
  uint64_t bytes;                /* Of all elements; UINT64_MAX: more than 64 bits hold, or of no
                                 ** fixed size */
} zt_npy;

/* True if bytes begin as a header does. */
bool zt_npy_probe(zt_span head);

/* The length of the header that begins with these ZT_NPY_HEAD bytes, 0 if it is none, or longer
** than ZT_NPY_HEADER_MAX. */
size_t zt_npy_length(const uint8_t *head);

/* Read a header, which is all of the span. Sets *out, rank and shape and strides of *object
** (strides: of Fortran order alone), and appends the attributes, a map, to *attributes unless that
** is NULL. */
int zt_npy_read(zt_span header, zt_npy *out, zt_object *object, zt_cbor_out *attributes,
                zt_error *err);

#endif
