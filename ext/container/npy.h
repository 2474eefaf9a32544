/*
** The header of an npy array, which a file of its own and a member of an npz have alike, and the
** record by which both remember an array. Interface to code in npy.c; the grammar, and the numbers
** of its rules, are there.
*/
#ifndef ZT_CONTAINER_NPY_H
#define ZT_CONTAINER_NPY_H

#include "container/builder.h"
#include "core/cbor_write.h"

#define ZT_NPY_HEAD 12           /* Bytes that tell how long a header is: magic number, version,
                                 ** length */
#define ZT_NPY_HEADER_MAX ((size_t)1 << 20)   /* Of the whole header */

extern const zt_rule zt_rules_npy[];

/* What a header says. Its texts are static. */
typedef struct zt_npy {
  uint32_t length;               /* Of the header: the data follows */
  zt_text version;               /* "1.0" ... */
  zt_text dtype, type;           /* In the model's words; type.z NULL: the same. dtype.z NULL: of no
                                 ** use (objects) */
  zt_text format;                /* dense, numpy.structured ... */
  bool dense;                    /* It is the first of them */
  const char *no_values;         /* Why it has none, static (container.h); NULL: it has */
  bool big, fortran;
  bool sized;                    /* All elements have as many bytes, so that it is known how many
                                 ** there are in all: */
  uint64_t bytes;
  uint32_t rank;
} zt_npy;

/* Set what a type alone says, "<f4" or "|O" or, NULL, that of a structured array: of `bytes` those
** of an element. */
void zt_npy_describe(zt_text descr, zt_npy *out);

/* True if bytes begin as a header does. */
bool zt_npy_probe(zt_span head);

/* The length of the header that begins with these bytes, at least ZT_NPY_HEAD of them, as far as it
** is known to be one: 0 if it is none, or longer than ZT_NPY_HEADER_MAX (recorded). */
size_t zt_npy_length(zt_span head, zt_error *err);

/* Read a header, which is all of the span. Sets *out, and the first rank of shape, which has room
** for ZT_MAX_RANK; appends the dtype as it stands there (`descr`), as CBOR, to *descr. */
int zt_npy_read(zt_span header, zt_npy *out, uint64_t *shape, zt_cbor_out *descr, zt_error *err);

/* Append what an array shows of its header: as its attributes, and in a manifest. */
void zt_npy_put_attributes(const zt_npy *npy, zt_span descr, zt_cbor_out *out);
void zt_npy_put_header(const zt_npy *npy, zt_span descr, const uint64_t *shape, zt_cbor_out *out);

/* An array as it is kept: this, and behind it the shape. */
typedef struct zt_npy_record {
  zt_npy npy;
  bool unread;                   /* There is no header that could be read: only what follows
                                 ** counts */
  uint32_t name, name_length;    /* In the kept bytes */
  uint32_t attributes;           /* A map in the kept bytes; 0: there are none */
  uint64_t offset, length;       /* Where it is stored, */
  bool unsized;                  /* as far as that is known */
  uint64_t skip, behind;         /* Decoded bytes before and after its own */
  uint64_t decoded;              /* Its own */
  zt_text encoding;              /* Static, or in the kept bytes from `at` on if z is NULL */
  uint32_t encoding_at;
  zt_codec_id codec;
  uint32_t digest;               /* Its text in the kept bytes; 0: there is none */
  const char *fault_rule;        /* Static */
  uint32_t fault;                /* In the kept bytes, ended by a NUL; 0: there is none */
} zt_npy_record;

/* Keep a record, and add its object with its one component. *duplicate: there is such a name. */
int zt_npy_add(zt_builder *b, const zt_npy_record *r, const uint64_t *shape, bool *duplicate);

/* For drivers: decode from the record of object i. */
void zt_npy_object(const zt_container *c, uint32_t i, zt_object *out);
void zt_npy_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                      zt_component *out);

#endif
