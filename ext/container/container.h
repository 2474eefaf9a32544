/*
** The one model of a tensor file, whatever its format: a container has objects (tensors), an object
** has components (stored byte ranges). Interface to code in container.c; the file formats
** themselves are drivers (driver.h).
**
** Opening reads the metadata, checks all of it once and keeps its bytes; an object or component is
** decoded from them when somebody stands on it. What is decoded is borrowed from the container and
** lives as long as it does. After a successful open, decoding cannot fail.
**
** Texts are what is shown: names in the model's words (dtypes in zTensor 1.2's short ones, layouts
** by theirs), or as they are stored where the model has none. What they mean is decided by the
** driver and stands beside them: a layout, a codec, a type; 0 or NULL where the meaning is not
** known, even if another format uses that very word. Which rules hold of a file is its driver's
** decision, too.
*/
#ifndef ZT_CONTAINER_CONTAINER_H
#define ZT_CONTAINER_CONTAINER_H

#include "container/ggml_types.h"
#include "container/value.h"
#include "core/interrupt.h"
#include "core/source.h"

#define ZT_MAX_RANK 64
#define ZT_MAX_MANIFEST ((uint64_t)1 << 30)   /* zTensor 1.1.0 part IV, 1.2.0 section 5; taken for
                                              ** whatever has no bound of its own */

typedef struct zt_dtype zt_dtype;   /* dtype.h */

/* How components together make a tensor. Code is in tensor/, one row of layout.c each. */
typedef enum zt_layout_id {
  ZT_LAYOUT_UNKNOWN, ZT_LAYOUT_DENSE, ZT_LAYOUT_CSR, ZT_LAYOUT_COO,
  ZT_LAYOUT_CSC,                /* Compressed columns instead of rows */
  ZT_LAYOUT_BSR, ZT_LAYOUT_BSC, /* Compressed rows, or columns, of blocks */
  ZT_LAYOUT_CSR_JOINED, ZT_LAYOUT_COO_JOINED,   /* All in one component, `data` */
  ZT_LAYOUT_QUANTIZED_GROUP, ZT_LAYOUT_MX, ZT_LAYOUT_QUANT_GROUP,
  ZT_LAYOUT_COO_LINEAR, ZT_LAYOUT_COO_ROWS,   /* `indices`: flat positions; a row of coordinates
                                             ** for each value */
  ZT_LAYOUT_GGML,   /* Blocks of ggml: of the type `blocks` */
  ZT_LAYOUT_COUNT
} zt_layout_id;

/* How stored bytes become decoded ones. Code is in tensor/, one row of encoding.c each. */
typedef enum zt_codec_id {
  ZT_CODEC_UNKNOWN, ZT_CODEC_RAW, ZT_CODEC_ZSTD, ZT_CODEC_SEEKABLE, ZT_CODEC_DEFLATE,
  ZT_CODEC_PROTOBUF_VARINT,     /* Numbers as varints, one after the other */
  ZT_CODEC_PROTOBUF_UNPACKED,   /* Numbers in a field of a message that comes more than once */
  ZT_CODEC_KEPT,                /* The container keeps them: in the file they have another form */
  ZT_CODEC_COUNT
} zt_codec_id;

/* What holds of a file beyond what makes it readable. */
enum {
  ZT_RULE_CELLS_UNIQUE = 0x01,      /* No two stored elements lie in one cell: else it has
                                    ** no values */
  ZT_RULE_ORDER = 0x02,             /* Which order stored elements have is said: columns ascend
                                    ** within a row, coordinates have none */
  ZT_RULE_CANONICAL_VALUES = 0x04,  /* A bool is 0 or 1, and spare bits are 0: else the bytes have
                                    ** no values */
  ZT_RULE_DIGEST_OF_DECODED = 0x08, /* Digests are over the decoded bytes, not the stored ones */
  ZT_RULE_PADDING_ZERO = 0x10,      /* Bytes that belong to no component are zero */
  ZT_RULE_U64_INDICES = 0x20,       /* Index components are u64 */
  ZT_RULE_DECODED_LENGTH = 0x40,    /* What is encoded states its decoded length */
  ZT_RULE_NO_GAP = 0x80,            /* Every byte belongs to a component, or to the manifest */
  ZT_RULE_VIEWS = 0x100             /* Components may share some of their bytes */
};

typedef struct zt_object {
  uint32_t index;                 /* Place in the file's order */
  zt_text name;
  zt_text format;                 /* dense, sparse_csr, sparse_coo, quantized_group, or as stored */
  zt_layout_id layout;
  const zt_ggml_type *blocks;     /* Of ZT_LAYOUT_GGML alone; else NULL */
  unsigned rules;                 /* ZT_RULE_ bits of the file */
  uint32_t rank;                  /* 0 to ZT_MAX_RANK */
  uint64_t shape[ZT_MAX_RANK];    /* The first rank are set */
  bool unshaped;                  /* Nothing tells rank, shape and elements, which are as of a
                                  ** scalar; the layout is not known, either */
  zt_text type;                   /* Its logical type, where no component has it; z NULL: one has,
                                  ** or nothing tells */
  const char *why_unknown;        /* Static: why the layout is not known; NULL: no meaning of the
                                  ** format is */
  const char *no_values;          /* Why it has none that anybody could have, which is no fault of
                                  ** the file; static, or borrowed. NULL: it should have some. The
                                  ** layout is not known then */
  uint64_t elements;              /* Product of the shape, 1 for a scalar */
  bool has_strides;               /* Elements are not row-major one after the other: */
  uint64_t strides[ZT_MAX_RANK];  /* Elements from one index of a dimension to the next; the first
                                  ** rank are set if there are any */
  uint64_t block[2];              /* Rows and columns of a block; 1 and 1 but for ZT_LAYOUT_BSR and
                                  ** ZT_LAYOUT_BSC */
  uint32_t whole;                 /* Of ZT_LAYOUT_COO: so many last dimensions are stored whole with
                                  ** each coordinate */
  bool conjugate, negate;         /* Of ZT_LAYOUT_DENSE: values are the conjugates, or the
                                  ** negatives, of the elements, which are complex numbers, or
                                  ** numbers whose sign is a bit of its own, or integers */
  zt_value attributes;            /* A map; ZT_VALUE_NULL: none */
} zt_object;

/* Set the elements of an object whose rank and shape are set. False where 64 bits do not hold
** their number; an empty tensor has 0 whatever its other dimensions are. */
bool zt_object_count(zt_object *object);

/* What may be wanted of a component. */
enum {
  ZT_COMPONENT_ROLE = 0x01, ZT_COMPONENT_DTYPE = 0x02, ZT_COMPONENT_TYPE = 0x04,
  ZT_COMPONENT_OFFSET = 0x08, ZT_COMPONENT_LENGTH = 0x10, ZT_COMPONENT_DECODED = 0x20,
  ZT_COMPONENT_ENCODING = 0x40, ZT_COMPONENT_DIGEST = 0x80, ZT_COMPONENT_BYTE_ORDER = 0x100,
  ZT_COMPONENT_SHARD = 0x200,
  ZT_COMPONENT_ELEMENT = 0x400,   /* What dtype and type mean */
  ZT_COMPONENT_ALL = 0x7FF
};

typedef struct zt_component {
  zt_text role;                   /* data, values, indptr, ... */
  zt_text dtype;                  /* Storage type */
  zt_text type;                   /* Logical type; z NULL: the same as dtype */
  const zt_dtype *storage;        /* What dtype means; NULL: that is not known */
  const zt_dtype *element;        /* What type and dtype together mean; NULL: that is not known, */
  bool misplaced;                 /* or the type is known, and does not stand on that dtype */
  zt_text encoding;               /* raw, zstd, or as stored */
  zt_codec_id codec;              /* What that means; set with it */
  zt_text byte_order;             /* As stored; `little` where the file does not say */
  bool mixed;                     /* Numbers of several widths are in them, whatever dtype says */
  unsigned rules;                 /* ZT_RULE_ bits of the file */
  uint64_t offset, length;        /* Where the stored bytes are: within the file, or what the
                                  ** shard's size should be, checked */
  bool unsized;                   /* How many they are nothing tells: length is 0, and nobody can
                                  ** read them */
  bool scattered;                 /* They are in several places, or nobody knows where, so that
                                  ** there is no offset to show. Unsized as well, and without a
                                  ** fault: they are somewhere in the bytes from offset on, and the
                                  ** encoding finds them */
  uint32_t field;                 /* For the encoding: the number of the field that has them */
  const uint8_t *kept;            /* For ZT_CODEC_KEPT: the decoded_length bytes; borrowed */
  uint64_t skip, behind;          /* How many decoded bytes in front, and behind, are none of its
                                  ** own: a digest covers them, too */
  uint64_t least;                 /* How many its own should be at least, where no layout tells */
  const char *fault_rule, *fault; /* The number of the rule that is broken, and why nobody can read
                                  ** its bytes; NULL: they can be read */
  zt_text shard;                  /* The shard that has them; z NULL: this file */
  bool external;                  /* If so, a path below the file's directory, of any file */
  bool to_end;                    /* They end with that file. Unsized as well, until it is opened */
  uint64_t shard_size;            /* What the manifest says of the shard's size; of an external one
                                  ** nothing */
  bool has_decoded_length;        /* The manifest states the length after decoding: */
  uint64_t decoded_length;        /* of its own bytes alone */
  zt_text digest;                 /* As stored; z NULL: none */
  unsigned digests;               /* Algorithms that it may name, ZT_DIGEST_ bits
                                  ** (core/digest.h) */
} zt_component;

/* Read and check the metadata of a source. *out is NULL on failure, which says what is wrong in
** err's place. The source is not kept, and neither is whom to ask whether to go on, which may be
** NULL. A container counts its references; it starts with one. */
int zt_container_open(zt_source *source, const zt_interrupt *interrupt, zt_container **out,
                      zt_error *err);
zt_container *zt_container_ref(zt_container *c);

/* What the next file of a collection may be like: how many bytes at its beginning, or at its end,
** are metadata, which are then read at once; and how many bytes, objects and components are
** to keep. */
typedef struct zt_container_guess {
  uint32_t head, tail;            /* Up to ZT_GUESS_MAX; 0: nobody knows */
  uint32_t kept, objects, components;   /* 0: nobody knows, or they take much memory */
} zt_container_guess;
#define ZT_GUESS_MAX 16384u

/* As this one is: up to the metadata's end if they begin in the first 16 bytes, or from their
** beginning on if they end in the last 48; 0 where they are longer than that, or in pieces. */
zt_container_guess zt_container_like(const zt_container *c);

/* The same as zt_container_open(), in the memory of one that has been emptied: it is used, or
** freed. emptied may be NULL. */
int zt_container_open_in(zt_container *emptied, zt_source *source, zt_container_guess guess,
                         const zt_interrupt *interrupt, zt_container **out, zt_error *err);

/* Give a reference back. Nobody else had one, and there is little memory: that is kept for
** zt_container_open_in() or zt_container_close(). Else NULL. */
#define ZT_CONTAINER_EMPTIED_MAX ((size_t)64 << 10)
zt_container *zt_container_empty(zt_container *c);

/* A new one as if it had been emptied. NULL: there is no memory, or guess.kept is 0. */
zt_container *zt_container_prepare(zt_container_guess guess);

/* False if its object is named by the path it was opened by, and would have another name by this
** path. */
bool zt_container_fits(const zt_container *c, const char *path);

void zt_container_close(zt_container *c);   /* Give up one reference */
bool zt_container_is_shared(const zt_container *c);   /* There is more than one */

/* True if a directory as source stands for the files of that name (in driver.c). */
bool zt_container_files(const char *name);

const char *zt_container_format(const zt_container *c);      /* "ztensor", ... */
zt_text zt_container_version(const zt_container *c);         /* z NULL: it has none */
unsigned zt_container_rules(const zt_container *c);          /* ZT_RULE_ bits */
bool zt_container_is_newer(const zt_container *c);           /* Its version is none that is known,
                                                             ** though it can be read */
zt_value zt_container_attributes(const zt_container *c);     /* A map; ZT_VALUE_NULL: none */
zt_value zt_container_manifest(const zt_container *c);       /* All metadata; ZT_VALUE_NULL: there
                                                             ** is none */
uint64_t zt_container_manifest_offset(const zt_container *c);/* Where it lies in the file, */
uint64_t zt_container_manifest_length(const zt_container *c);/* and the bytes that it takes there;
                                                             ** 0: there is none */
uint64_t zt_container_begin(const zt_container *c);          /* Blobs and manifest lie between */
uint64_t zt_container_end(const zt_container *c);            /* these two places of the file */
uint64_t zt_container_gap(const zt_container *c);            /* Most bytes between blobs that
                                                             ** alignment explains */
const zt_identity *zt_container_identity(const zt_container *c);  /* NULL for an image */
size_t zt_container_memory(const zt_container *c);           /* Bytes that it holds, for a
                                                             ** cache's accounts */
uint64_t zt_container_number(const zt_container *c);         /* A hash of all that it keeps, to
                                                             ** tell it from others */

uint32_t zt_container_objects(const zt_container *c);        /* How many */

/* The index of the object of that name, -1 if there is none. */
int64_t zt_container_find(const zt_container *c, zt_text name);

/* The name of object i alone, which costs less than the whole. */
zt_text zt_container_name(const zt_container *c, uint32_t i);

/* The indices of all objects in ascending order of their names' bytes, in memory from
** sqlite3_malloc64(). NULL on failure: SQLITE_NOMEM or SQLITE_INTERRUPT (recorded in err). */
uint32_t *zt_container_by_name(const zt_container *c, const zt_interrupt *interrupt, zt_error *err);

/* Decode object i. */
void zt_container_object(const zt_container *c, uint32_t i, zt_object *out);

/* Components are numbered throughout the file, those of one object in the manifest's order one
** after the other: object i has those from zt_container_first(c, i) up to, not with,
** zt_container_first(c, i+1). */
uint32_t zt_container_components(const zt_container *c);     /* How many in all */
uint32_t zt_container_first(const zt_container *c, uint32_t object);

/* Decode of component k of the object what is wanted, ZT_COMPONENT_ bits; the rest of *out may or
** may not be set. */
void zt_container_component(const zt_container *c, uint32_t object, uint32_t k, unsigned want,
                            zt_component *out);

/* Decode all of the component with that role; false if there is none. */
bool zt_component_find(const zt_container *c, uint32_t object, zt_text role, zt_component *out);

/* Decode all of the component that holds an object's values: data, values or packed_weight; false
** if there is none. */
bool zt_component_values(const zt_container *c, uint32_t object, zt_component *out);

/* Another file that has the bytes of components. */
typedef struct zt_shard {
  zt_text name;
  bool external;                  /* It is a path, and nothing is known of the file */
  uint64_t size;
  zt_text digest;                 /* Of the whole file */
  unsigned digests;               /* Algorithms that it may name, ZT_DIGEST_ bits */
} zt_shard;
uint32_t zt_container_shards(const zt_container *c);         /* How many */
void zt_container_shard(const zt_container *c, uint32_t i, zt_shard *out);
bool zt_container_shard_find(const zt_container *c, zt_text name, zt_shard *out);
/* Its index plus 1; 0 if name.z is NULL */
uint32_t zt_container_shard_number(const zt_container *c, zt_text name);

#endif
