/* The header of an npy array, in a file or a member of npz, and the record that both keep of an
** array. Grammar and rule numbers: npy.c. */
#ifndef ZT_CONTAINER_NPY_H
#define ZT_CONTAINER_NPY_H

#include "container/builder.h"
#include "core/cbor_write.h"

#define ZT_NPY_HEAD 12           /* Bytes of the magic number, version and length */
#define ZT_NPY_HEADER_MAX ((size_t)1 << 20)   /* Of the whole header */

extern const zt_rule zt_rules_npy[];

/* A header. Its texts are static. */
typedef struct zt_npy {
  uint32_t length;               /* The header's; the data follow */
  zt_text version;               /* "1.0" ... */
  zt_text dtype, type;           /* The model's; type.z NULL: the same; dtype.z NULL: none
                                 ** (objects) */
  zt_text format;                /* dense, numpy.structured ... */
  bool dense;                    /* The format is dense */
  const char *no_values;         /* Static: why it has none; NULL: it has values */
  bool big, fortran;
  bool sized;                    /* Elements have one size, so bytes is set */
  uint64_t bytes;
  uint32_t rank;
} zt_npy;

/* Set the fields that depend on a type alone: "<f4", "|O", or NULL for a structured one. `bytes` is
** an element's. */
void zt_npy_describe(zt_text descr, zt_npy *out);

/* Set the fields of a component that depend on a type alone. */
void zt_npy_set_type(const zt_npy *npy, zt_component *out);

/* True if bytes begin like a header. */
bool zt_npy_probe(zt_span head);

/* The length of the header that begins with at least ZT_NPY_HEAD bytes, which zt_npy_probe() knows;
** 0 on failure (NY1, NY2). */
size_t zt_npy_length(zt_span head, zt_error *err);

/* Read a whole header. Sets *out and shape (ZT_MAX_RANK), and appends descr as CBOR. */
int zt_npy_read(zt_span header, zt_npy *out, uint64_t *shape, zt_cbor_out *descr, zt_error *err);

/* Append an array's attributes, and its entry in a manifest. */
void zt_npy_put_attributes(const zt_npy *npy, zt_span descr, zt_cbor_out *out);
void zt_npy_put_header(const zt_npy *npy, zt_span descr, const uint64_t *shape, zt_cbor_out *out);

/* A kept array, followed by its shape. */
typedef struct zt_npy_record {
  zt_npy npy;
  bool unread;                   /* Its header cannot be read: npy is not set */
  bool foreign;                  /* Its bytes can be read, and are no array: values fail */
  uint32_t name, name_length;    /* In the kept bytes */
  uint32_t attributes;           /* A map in the kept bytes; 0: none */
  uint64_t offset, length;       /* The stored range, */
  bool unsized;                  /* if it is known */
  uint64_t skip, behind;         /* Decoded bytes before and after the array */
  uint64_t decoded;              /* The array's decoded bytes */
  zt_text encoding;              /* Static; z NULL: in the kept bytes, at */
  uint32_t encoding_at;
  zt_codec_id codec;
  uint32_t digest;               /* A text in the kept bytes; 0: none */
  const char *fault_rule;        /* Static */
  uint32_t fault;                /* NUL-terminated in the kept bytes; 0: none */
} zt_npy_record;

/* Keep a record, and add its object and component. *duplicate is true if the name exists. */
int zt_npy_add(zt_builder *b, const zt_npy_record *r, const uint64_t *shape, bool *duplicate);

/* Decode the record of object i, for drivers. */
void zt_npy_object(const zt_container *c, uint32_t i, zt_object *out);
void zt_npy_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                      zt_component *out);

#endif
