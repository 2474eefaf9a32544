/*
** Supplies: where the bytes of a draft's components come from. A supply is decided from metadata
** when a row comes, and read when the file is written, in pieces of bounded memory. Interface to
** code in supply.c.
**
** A tensor keeps its layout and its types unless a row asks for others. Its bytes become row-major
** and little-endian. Stored elements of sparse layouts become those of sparse_csr or sparse_coo.
** The rules of the target's format (ZT_RULE_ bits) hold for what becomes of the values: those of
** stored elements do not hold where they become dense. The digests that the source has are checked.
*/
#ifndef ZT_TENSOR_SUPPLY_H
#define ZT_TENSOR_SUPPLY_H

#include "container/draft.h"
#include "core/output.h"
#include "tensor/ahead.h"
#include "tensor/payload.h"

typedef enum zt_supply_kind {
  ZT_SUPPLY_BYTES,         /* Bytes of a row, which wait in the spool */
  ZT_SUPPLY_ELEMENTS,      /* All elements, in their dense form */
  ZT_SUPPLY_VALUES,        /* Stored elements of a sparse tensor, in their order */
  ZT_SUPPLY_COORDS,        /* Their indices in dimension 0, then in dimension 1 ... */
  ZT_SUPPLY_INDICES,       /* Their columns */
  ZT_SUPPLY_INDPTR,        /* The number of those before each row, and of all */
  ZT_SUPPLY_CONTENT,       /* A component's decoded bytes */
  ZT_SUPPLY_STORED         /* A component's stored bytes, as they are in a file that is updated */
} zt_supply_kind;

typedef struct zt_supply {
  zt_supply_kind kind;
  bool bare;               /* The object's attributes do not come along */
  uint32_t source;         /* The caller's number of the file */
  uint32_t object;         /* Its index there */
  uint32_t component;      /* The component with these bytes; UINT32_MAX: several */
  const zt_dtype *as;      /* Type of the elements or indices; NULL: bytes as they are */
  uint64_t offset, length; /* ZT_SUPPLY_BYTES: in the spool; ZT_SUPPLY_STORED: in the file */
} zt_supply;

/* A file that is open for reading. Borrowed. */
typedef struct zt_supply_file {
  const zt_container *container;
  zt_source *source;
} zt_supply_file;

typedef struct zt_supplies {
  zt_supply *a;            /* Owned: zt_supplies_clear() */
  uint32_t n, capacity;
  zt_output *spool;        /* Borrowed; NULL while no row has bytes */
  /* Open the file of that number, which is valid until the next call. */
  int (*open)(void *context, uint32_t source, zt_supply_file *out, zt_error *err);
  void *context;
  uint32_t reading;        /* 1 and the number of the file that was read last; 0: none was */
  zt_ahead ahead;          /* Of that file */
  uint32_t kept;           /* 1 and the number of the file that is updated, of kept objects; 0: none
                           ** is, or not known yet */
} zt_supplies;

void zt_supplies_clear(zt_supplies *s);

/* Forget all supplies, and keep their memory. */
void zt_supplies_empty(zt_supplies *s);

/* An object of an open file that a draft is to have. */
typedef struct zt_supply_request {
  zt_supply_file file;
  uint32_t source;         /* The caller's number of it */
  uint32_t object;         /* Index there */
  zt_text name;            /* In the draft */
  const zt_dtype *as;      /* Type that its elements get; NULL: their own */
  bool dense;              /* A sparse or quantized tensor becomes dense */
  zt_encoder_keeps keeps;  /* The target is the file, and the object stays in it as it is stored,
                           ** whether or not it is understood, if this says that it can; or NULL */
  bool bare;               /* The object's attributes do not come along */
  unsigned rules;          /* ZT_RULE_ bits of the target's format */
  zt_codec_id codec;
  int level;
  unsigned digest;         /* A ZT_DIGEST_ bit; 0: none */
  zt_budget *budget;
} zt_supply_request;

/* Add an object with its components and their supplies. Fails as zt_tensor_open() does, and if the
** elements cannot become that type. */
int zt_supplies_add_object(zt_supplies *s, const zt_supply_request *request, zt_draft *draft,
                           uint32_t *object, zt_error *err);

/* Add a supply. */
int zt_supplies_add(zt_supplies *s, const zt_supply *supply, uint32_t *number, zt_error *err);

/* Fail if the file that was read last has changed since it was opened. zt_supply_read() does it
** when it goes on to another file; the caller does it at the end. */
int zt_supplies_unchanged(zt_supplies *s, zt_error *err);

/* Give a supply's bytes to `take`, in pieces. `take` ends it by a failure in err. */
int zt_supply_read(zt_supplies *s, uint32_t number, unsigned rules, zt_budget *budget,
                   void (*take)(void *context, zt_span bytes), void *context, zt_error *err);

#endif
