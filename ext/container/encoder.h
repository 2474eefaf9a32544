/*
** A format that can be written: the mirror of driver.h. An encoder knows which tensors its format
** can hold, and in which order header, parts and trailer stand. It is beside its format's driver,
** in NAME_encoder.c. A new encoder is one file and one line in encoder.c.
**
** Checks come first: check_object() and check_attribute() when a row comes, check_draft() before
** the first byte. A message says what the format cannot hold and what helps: "npz cannot hold bf16;
** give dtype 'f32'". After that only the system and the sources can fail.
*/
#ifndef ZT_CONTAINER_ENCODER_H
#define ZT_CONTAINER_ENCODER_H

#include "container/draft.h"
#include "container/driver.h"
#include "core/output.h"

#define ZT_ENCODER_ALIGN_MOST ((uint64_t)1 << 30)

/* A user's choices for a file. */
typedef struct zt_encoder_options {
  uint64_t align;          /* Of parts, in bytes: a power of two */
  bool align_given;        /* A user said so: what else states another one, contradicts */
  zt_codec_id codec;
  int level;
  unsigned digest;         /* A ZT_DIGEST_ bit; 0: none */
  bool by_row;             /* Objects stand as they were added */
} zt_encoder_options;

/* Where a part's stored bytes are, and what they are. */
typedef struct zt_stored {
  uint64_t offset, length;
  uint64_t xxh3;           /* Of the stored bytes; set if the run asks for it, */
  uint32_t crc32;          /* and so is that of the decoded bytes, the prefix with them */
} zt_stored;

/* A file being written. The encoder appends what is its own, and calls part() where the bytes of
** each component are to stand. */
typedef struct zt_encoder_run {
  zt_draft *draft;
  const zt_encoder_options *options;
  const zt_container *kept;   /* The file that is updated, of the draft's kept objects; or NULL */
  const uint32_t *order;   /* The numbers of all objects in the file's order */
  zt_output *output;
  const zt_interrupt *interrupt;
  bool xxh3, crc32;        /* The encoder wants these fields of zt_stored */
  zt_span prefix;          /* Bytes that the next part begins with, as if they were the first of the
                           ** component's decoded bytes. The encoder resets it */

  /* Append the bytes of a component, which the draft has at that place, encoded and checked. Sets
  ** the component's offset, length and digest in the draft. A failure names object and role. */
  int (*part)(struct zt_encoder_run *run, uint32_t object, uint32_t place, zt_stored *out,
              zt_error *err);
  void *context;           /* part's own */
} zt_encoder_run;

/* Append zeros up to the next multiple of `align`. */
static inline int zt_encoder_align(zt_encoder_run *run, zt_error *err){
  const uint64_t align = run->options->align, size = zt_output_size(run->output);
  return zt_output_append_zeros(run->output, (align-size%align)%align, err);
}

typedef struct zt_encoder {
  const char *name;        /* As the argument `format` has it: "ztensor-2" */
  const zt_driver *driver; /* Which reads the format, */
  const char *version;     /* the beginning of its versions that are this format; NULL: all */
  const char *suffix;      /* Targets that end so have this format by default; NULL: none have */
  zt_encoder_options defaults;
  uint64_t least_align;    /* 0: the format has no use for `align` */
  unsigned codecs;         /* Those that may be chosen: bits 1<<ZT_CODEC_ */
  unsigned digests;        /* Those that may be chosen: ZT_DIGEST_ bits */
  bool object_attributes;  /* Objects may have attributes */
  unsigned rules;          /* ZT_RULE_ bits that values must obey (container.h) */

  /* For objects of a file that the encoder's driver reads. */
  zt_encoder_keeps keeps;

  /* True if the metadata say of an object of such a file what no row shows, and a kept object alone
  ** keeps. *field: its name there; z NULL: it has none. NULL: there is no such thing. */
  bool (*says_more)(const zt_container *c, uint32_t object, zt_text *field);

  /* Fail unless the format can hold the object with its components, as far as it has them yet. Of a
  ** kept object, its name is in question alone. */
  int (*check_object)(const zt_draft *draft, uint32_t object, zt_error *err);

  /* Fail unless the format can hold the attribute, of the file or of an object. */
  int (*check_attribute)(const zt_draft_attribute *attribute, bool of_object, zt_error *err);

  /* Fail unless the format can hold the whole draft. NULL: that follows from the others. */
  int (*check_draft)(const zt_draft *draft, zt_error *err);

  /* Add the attributes that the format needs of an object, once all of its rows are known. NULL:
  ** none. */
  int (*complete)(zt_draft *draft, uint32_t object, zt_error *err);

  zt_draft_compare compare;   /* The order of objects unless they stand as they were added */
  int (*write)(zt_encoder_run *run, zt_error *err);
} zt_encoder;

/* All encoders, ended by NULL. */
extern const zt_encoder *const zt_encoders[];

/* The encoder of a container's format and version; NULL: they cannot be written. */
const zt_encoder *zt_encoder_of(const zt_container *c);

/* The encoder of that name; the one whose suffix the path has. NULL: there is none. */
const zt_encoder *zt_encoder_named(zt_text name);
const zt_encoder *zt_encoder_for(const char *path);

#endif
