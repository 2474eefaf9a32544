/*
** The one model of a tensor file, whatever its format: a container has objects (tensors), and an
** object has components (stored byte ranges). Interface to code in container.c and opening.c; the
** file formats are drivers (driver.h).
**
** Opening reads the metadata, checks all of it once and keeps its bytes. An object or component is
** decoded from them on demand. Decoded texts are borrowed from the container and live as long as it
** does. After a successful open, decoding cannot fail.
**
** Texts are shown to users: names in the model's words (dtypes in zTensor 1.2's short form), or as
** stored where the model has no word. The driver decides their meaning, which stands beside them as
** a layout, a codec or a type; 0 or NULL means unknown, even if another format uses the same word.
** The driver also decides which rules apply to a file.
*/
#ifndef ZT_CONTAINER_CONTAINER_H
#define ZT_CONTAINER_CONTAINER_H

#include "container/ggml_types.h"
#include "container/value.h"
#include "core/interrupt.h"
#include "core/source.h"

#define ZT_MAX_RANK 64
#define ZT_MAX_MANIFEST ((uint64_t)1 << 30)   /* zTensor 1.1.0 part IV, 1.2.0 section 5; also for
                                              ** formats without a bound of their own */

typedef struct zt_dtype zt_dtype;   /* dtype.h */

/* How components make a tensor. Code is in tensor/, a row of layout.c each. */
typedef enum zt_layout_id {
  ZT_LAYOUT_UNKNOWN, ZT_LAYOUT_DENSE, ZT_LAYOUT_CSR, ZT_LAYOUT_COO,
  ZT_LAYOUT_CSC,                /* Compressed columns instead of rows */
  ZT_LAYOUT_BSR, ZT_LAYOUT_BSC, /* Compressed rows, or columns, of blocks */
  ZT_LAYOUT_CSR_JOINED, ZT_LAYOUT_COO_JOINED,   /* All in one component, `data` */
  ZT_LAYOUT_QUANTIZED_GROUP, ZT_LAYOUT_MX, ZT_LAYOUT_QUANT_GROUP,
  ZT_LAYOUT_COO_LINEAR, ZT_LAYOUT_COO_ROWS,   /* Flat indices; a row of coordinates per value */
  ZT_LAYOUT_GGML,   /* ggml's blocks, of the type `blocks` */
  ZT_LAYOUT_COMPLEX_PARTS,   /* Dense, but `real` and `imag` are components of their own */
  ZT_LAYOUT_SLICES,          /* A part of the array in each component, its `box` */
  ZT_LAYOUT_COUNT
} zt_layout_id;

/* True for a layout whose values are computed from its components by what its attributes say. */
static inline bool zt_layout_is_quantized(zt_layout_id id){
  return id==ZT_LAYOUT_QUANTIZED_GROUP || id==ZT_LAYOUT_MX || id==ZT_LAYOUT_QUANT_GROUP
      || id==ZT_LAYOUT_GGML;
}

/* How stored bytes are decoded. Code is in tensor/, a row of encoding.c each. */
typedef enum zt_codec_id {
  ZT_CODEC_UNKNOWN, ZT_CODEC_RAW, ZT_CODEC_ZSTD, ZT_CODEC_SEEKABLE, ZT_CODEC_DEFLATE,
  ZT_CODEC_PROTOBUF_VARINT,     /* Varints, one after the other */
  ZT_CODEC_PROTOBUF_UNPACKED,   /* A field that occurs once for each number */
  ZT_CODEC_ZLIB, ZT_CODEC_GZIP, /* Deflate with a header and a checksum */
  ZT_CODEC_KEPT,                /* The container keeps the decoded bytes */
  ZT_CODEC_PIECES,              /* They lie as they are in several places, which it keeps */
  ZT_CODEC_NUMBERS,             /* Numbers of another type than the component's */
  ZT_CODEC_CHUNKED,             /* Chunks of a grid, each filtered (container/chunks.h) */
  ZT_CODEC_UNDECODED,           /* No code here decodes it, but its decoded length is known */
  ZT_CODEC_COUNT
} zt_codec_id;

/* Rules of a file beyond those that make it readable. */
enum {
  ZT_RULE_CELLS_UNIQUE = 0x01,      /* No two elements share a cell, or there are no values */
  ZT_RULE_ORDER = 0x02,             /* Columns ascend within a row; coordinates have no order */
  ZT_RULE_CANONICAL_VALUES = 0x04,  /* A bool is 0 or 1, spare bits are 0; else no values */
  ZT_RULE_DIGEST_OF_DECODED = 0x08, /* Digests cover decoded bytes, not stored ones */
  ZT_RULE_PADDING_ZERO = 0x10,      /* Bytes outside of components are zero */
  ZT_RULE_U64_INDICES = 0x20,       /* Index components are u64 */
  ZT_RULE_DECODED_LENGTH = 0x40,    /* Encoded components state their decoded length */
  ZT_RULE_NO_GAP = 0x80,            /* Every byte belongs to a component or the manifest */
  ZT_RULE_VIEWS = 0x100,            /* Components may share some of their bytes */
  ZT_RULE_ANY_ALIGNMENT = 0x200,    /* No limit on the bytes that align a component */
  ZT_RULE_DIGESTS_KNOWN = 0x400,    /* Digests have no other algorithms than those known here */
  ZT_RULE_SPLIT_VALUES = 0x800      /* Complex values of sparse tensors are `real` and `imag` */
};

/* Strides of an object of ZT_LAYOUT_COO. Values have one for the coordinates, and one for each
** dimension that is stored whole. */
enum {
  ZT_COO_COORDINATES,           /* No stride: how many there are, for each dimension */
  ZT_COO_BY_DIMENSION, ZT_COO_BY_COORDINATE,   /* Of `coords`, or `indices` */
  ZT_COO_VALUES                 /* The first one of `values` */
};

typedef struct zt_object {
  uint32_t index;                 /* Index in the file's order */
  zt_text name;
  zt_text format;                 /* dense, sparse_csr, sparse_coo, quantized_group, or as stored */
  zt_layout_id layout;
  const zt_ggml_type *blocks;     /* For ZT_LAYOUT_GGML; else NULL */
  unsigned rules;                 /* ZT_RULE_ bits of the file */
  uint32_t rank;                  /* 0 to ZT_MAX_RANK */
  uint64_t shape[ZT_MAX_RANK];    /* The first rank are set */
  bool unshaped;                  /* Shape and layout are unknown; rank and shape are a scalar's */
  zt_text dtype, type;            /* Storage and logical type if no component has them; else z
                                  ** NULL */
  const char *why_unknown;        /* Static: why the layout is unknown; NULL: it has no meaning */
  const char *no_values;          /* Why a sound tensor, of unknown layout, has no values; static or
                                  ** borrowed. NULL: it should have some */
  const char *fault_rule, *fault; /* The broken rule, and why a known layout has no values; or
                                  ** NULL */
  uint64_t elements;              /* Product of the shape, 1 for a scalar */
  bool has_strides;               /* False: elements are row-major and contiguous */
  uint64_t strides[ZT_MAX_RANK];  /* In elements; the first rank are set if has_strides. For
                                  ** ZT_LAYOUT_COO: ZT_COO_ numbers */
  uint64_t block[2];              /* Rows and columns of a block (ZT_LAYOUT_BSR, _BSC); else 1 */
  uint32_t whole;                 /* ZT_LAYOUT_COO: last dimensions that are stored whole */
  bool by_columns;                /* ZT_LAYOUT_COO of a matrix: the format's order is column by
                                  ** column */
  bool conjugate, negate;         /* ZT_LAYOUT_DENSE: values are conjugates or negatives of the
                                  ** elements: complex, integer, or with a sign bit */
  zt_value attributes;            /* A map; ZT_VALUE_NULL: none */
} zt_object;

/* Set the elements of an object whose rank and shape are set. False if 64 bits do not hold their
** number; an empty tensor has 0 whatever its other dimensions are. */
bool zt_object_count(zt_object *object);

/* A piece of a component's bytes: its offset in the file, and its end in the component. */
typedef struct zt_piece {
  uint64_t offset, end;
} zt_piece;
/* Set the strides of column-major elements, unless they are row-major ones too. Shape and elements
** are set. */
void zt_object_set_column_major(zt_object *object);

/* Fields that a caller wants of a component. */
enum {
  ZT_COMPONENT_ROLE = 0x01, ZT_COMPONENT_DTYPE = 0x02, ZT_COMPONENT_TYPE = 0x04,
  ZT_COMPONENT_OFFSET = 0x08, ZT_COMPONENT_LENGTH = 0x10, ZT_COMPONENT_DECODED = 0x20,
  ZT_COMPONENT_ENCODING = 0x40, ZT_COMPONENT_DIGEST = 0x80, ZT_COMPONENT_BYTE_ORDER = 0x100,
  ZT_COMPONENT_SHARD = 0x200,
  ZT_COMPONENT_ELEMENT = 0x400,   /* Meaning of dtype and type */
  ZT_COMPONENT_ALL = 0x7FF
};

typedef struct zt_component {
  zt_text role;                   /* data, values, indptr, ... */
  zt_text dtype;                  /* Storage type */
  zt_text type;                   /* Logical type; z NULL: the same as dtype */
  const zt_dtype *storage;        /* Meaning of dtype; NULL: unknown */
  const zt_dtype *element;        /* Meaning of type and dtype together; NULL: unknown, */
  bool misplaced;                 /* or the type is known but not stored as that dtype */
  const char *why_unknown;        /* Static: why the type is unknown; NULL: it has no meaning */
  zt_text encoding;               /* raw, zstd, or as stored */
  zt_codec_id codec;              /* Meaning of encoding; set with it */
  zt_text byte_order;             /* As stored; `little` if the file does not say */
  bool mixed;                     /* Its numbers have several widths, whatever dtype says */
  unsigned rules;                 /* ZT_RULE_ bits of the file */
  uint64_t offset, length;        /* Of the stored bytes, checked against the (stated) file size */
  uint64_t base;                  /* Offset of an archive's member, else 0. It is part of offset;
                                  ** places in bytes that a driver keeps are without it */
  bool unsized;                   /* Of unknown length: length is 0, and they cannot be read */
  bool scattered;                 /* They are in several or unknown places, without an offset to
                                  ** show. If also unsized and without fault, they are behind
                                  ** offset, and the encoding finds them */
  uint32_t field;                 /* For the encoding: number of the field with the bytes */
  const uint8_t *kept;            /* For ZT_CODEC_KEPT: decoded_length bytes; for ZT_CODEC_PIECES:
                                  ** zt_piece in order, unaligned; borrowed */
  uint32_t pieces;                /* Their number */
  zt_span chunks;                 /* For ZT_CODEC_CHUNKED: for zt_chunks_read(); borrowed */
  zt_span box;                    /* For ZT_LAYOUT_SLICES: first index and number of indices of
                                  ** each dimension, u64 each, unaligned; borrowed */
  uint64_t skip, behind;          /* Decoded bytes in front and behind that only the digest
                                  ** covers */
  /* For ZT_CODEC_NUMBERS, which has no bytes to skip of its own: */
  const zt_dtype *number;         /* Type of the stored numbers */
  bool number_big;                /* They are big-endian */
  zt_codec_id number_codec;       /* ZT_CODEC_RAW or _ZLIB: how they are encoded, with bytes to
                                  ** skip there */
  uint64_t number_skip, number_behind;
  uint64_t least;                 /* Minimum of its own decoded bytes if no layout tells */
  const char *fault_rule, *fault; /* The broken rule, and why its bytes cannot be read; or NULL */
  zt_text shard;                  /* The shard with the bytes; z NULL: this file */
  bool external;                  /* The shard is a path of any file below this file's directory, */
  bool beside;                    /* or of one beside it, whose name this file does not choose */
  bool to_end;                    /* They end with that file, or after `most` bytes; unsized until
                                  ** that is opened */
  uint64_t most;                  /* For to_end: bytes that shape and dtype need, or UINT64_MAX */
  uint64_t shard_size;            /* The shard's size in the manifest; not set for external ones */
  bool has_decoded_length;        /* The manifest states decoded_length, */
  uint64_t decoded_length;        /* the decoded bytes of this component alone */
  zt_text digest;                 /* As stored; z NULL: none */
  unsigned digests;               /* Permitted algorithms, ZT_DIGEST_ bits (core/digest.h) */
} zt_component;

/* Read and check the metadata of a source. On failure, *out is NULL and err has the message.
** Neither the source nor the interrupt, which may be NULL, is kept. A container counts its
** references and starts with one. */
int zt_container_open(zt_source *source, const zt_interrupt *interrupt, zt_container **out,
                      zt_error *err);
zt_container *zt_container_ref(zt_container *c);

/* Guess about the next file of a collection: the length of its metadata, at the beginning or at the
** end, to read them at once; and how many bytes, objects and components it keeps. */
typedef struct zt_container_guess {
  uint32_t head, tail;            /* Up to ZT_GUESS_MAX; 0: unknown */
  uint32_t kept, objects, components;   /* 0: unknown, or too much memory */
} zt_container_guess;
#define ZT_GUESS_MAX 16384u

/* A guess from this container. head: up to the metadata's end if they begin in the first 16 bytes;
** tail: from their beginning on if they end in the last 48; 0 if they are longer than ZT_GUESS_MAX
** or in pieces. */
zt_container_guess zt_container_like(const zt_container *c);

/* As zt_container_open(), in the memory of an emptied container, which is used or freed. emptied
** may be NULL. */
int zt_container_open_in(zt_container *emptied, zt_source *source, zt_container_guess guess,
                         const zt_interrupt *interrupt, zt_container **out, zt_error *err);

/* Release a reference. If it was the last one and the container is small, return its memory for
** zt_container_open_in() or zt_container_close(); else NULL. */
#define ZT_CONTAINER_EMPTIED_MAX ((size_t)64 << 10)
zt_container *zt_container_empty(zt_container *c);

/* A new container as if emptied. NULL: out of memory, or guess.kept is 0. */
zt_container *zt_container_prepare(zt_container_guess guess);

/* False if the object or shards take names from the path of opening, and this path would give
** others. */
bool zt_container_fits(const zt_container *c, const char *path);

void zt_container_close(zt_container *c);   /* Releases a reference */
bool zt_container_is_shared(const zt_container *c);   /* There is more than one */

/* True if a directory source includes files of that name (in driver.c). */
bool zt_container_files(const char *name);

const char *zt_container_format(const zt_container *c);      /* "ztensor", ... */
zt_text zt_container_version(const zt_container *c);         /* z NULL: it has none */
unsigned zt_container_rules(const zt_container *c);          /* ZT_RULE_ bits */
bool zt_container_is_newer(const zt_container *c);           /* Readable, of unknown version */
bool zt_container_has_own_attributes(const zt_container *c); /* Of objects: a user stored them */
zt_value zt_container_attributes(const zt_container *c);     /* A map; ZT_VALUE_NULL: none */
zt_value zt_container_manifest(const zt_container *c);       /* All metadata; ZT_VALUE_NULL: none */
uint64_t zt_container_manifest_offset(const zt_container *c);/* Its offset in the file */
uint64_t zt_container_manifest_length(const zt_container *c);/* Its bytes in the file; 0: none */
uint64_t zt_container_begin(const zt_container *c);          /* Blobs and manifest lie between */
uint64_t zt_container_end(const zt_container *c);            /* these two offsets */
uint64_t zt_container_gap(const zt_container *c);            /* Maximum padding between blobs */
const zt_identity *zt_container_identity(const zt_container *c);  /* NULL for an image */
const char *zt_container_etag(const zt_container *c);        /* Of a remote file; NULL: none */
size_t zt_container_memory(const zt_container *c);           /* In bytes, for the cache */
uint64_t zt_container_number(const zt_container *c);         /* A hash of all kept bytes */

uint32_t zt_container_objects(const zt_container *c);

/* The index of the object of that name, -1 if there is none. */
int64_t zt_container_find(const zt_container *c, zt_text name);

/* The name of object i alone, which is cheaper than the object. */
zt_text zt_container_name(const zt_container *c, uint32_t i);

/* The indices of all objects, sorted bytewise by name, in memory from sqlite3_malloc64(). NULL on
** failure: SQLITE_NOMEM or SQLITE_INTERRUPT (recorded in err). */
uint32_t *zt_container_by_name(const zt_container *c, const zt_interrupt *interrupt, zt_error *err);

void zt_container_object(const zt_container *c, uint32_t i, zt_object *out);

/* Components are numbered throughout the file. Those of one object are contiguous and in the
** manifest's order: object i has zt_container_first(c, i) to zt_container_first(c, i+1)-1. */
uint32_t zt_container_components(const zt_container *c);     /* In all */
uint32_t zt_container_first(const zt_container *c, uint32_t object);

/* Decode the wanted fields (ZT_COMPONENT_ bits) of component k of the object; other fields of *out
** may or may not be set. */
void zt_container_component(const zt_container *c, uint32_t object, uint32_t k, unsigned want,
                            zt_component *out);

/* Decode the whole component with that role; false if there is none. */
bool zt_component_find(const zt_container *c, uint32_t object, zt_text role, zt_component *out);

/* The length of a component that is `to_end`, in a file of that size, which has its offset. */
uint64_t zt_component_behind(const zt_component *c, uint64_t size);

/* Decode the wanted fields of the component with an object's values, which its layout tells: data,
** values, packed_weight, real or the first slice; false if there is none. */
bool zt_component_values(const zt_container *c, const zt_object *object, unsigned want,
                         zt_component *out);

/* The rule that a member of the file, a zip archive, breaks without its CRC-32. NULL: it is none,
** or its components have these digests. */
const char *zt_container_member_rule(const zt_container *c);

/* The things in the file that are neither objects nor attributes, in words for messages; n 0: there
** are none. They are known of formats that can be written, but for a manifest's fields, which are
** its encoder's matter. */
zt_text zt_container_unlisted(const zt_container *c);

/* The fault of something that is neither an object nor a component, and hides none, such as an
** attribute. */
typedef struct zt_note {
  uint32_t object;                /* Whose it is; ZT_NOTE_OF_FILE: none's */
  const char *rule, *fault;
} zt_note;
#define ZT_NOTE_OF_FILE UINT32_MAX
#define ZT_NOTES_MAX 64           /* Further ones are not kept */
uint32_t zt_container_notes(const zt_container *c);
void zt_container_note(const zt_container *c, uint32_t i, zt_note *out);

/* Another file with bytes of components. */
typedef struct zt_shard {
  zt_text name;
  bool external;                  /* The name is a path, and size and digest are unknown */
  uint64_t size;
  zt_text digest;                 /* Of the whole file */
  unsigned digests;               /* Permitted algorithms, ZT_DIGEST_ bits */
} zt_shard;
uint32_t zt_container_shards(const zt_container *c);
void zt_container_shard(const zt_container *c, uint32_t i, zt_shard *out);
bool zt_container_shard_find(const zt_container *c, zt_text name, zt_shard *out);
/* Its index plus 1; 0 if name.z is NULL. */
uint32_t zt_container_shard_number(const zt_container *c, zt_text name);

#endif
