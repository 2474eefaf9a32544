/*
** HDF5: hdf5.c is the driver, and has the grammar and the rules. Interface between its files.
**
**   hdf5_read.c        bytes at addresses, fields, checksums, sets of addresses
**   hdf5_header.c      object headers: their messages, in one piece
**   hdf5_shared.c      messages that are somewhere else: committed datatypes, shared messages
**   hdf5_btree2.c      B-trees of version 2
**   hdf5_heap.c        fractal heaps and global heaps
**   hdf5_group.c       links of a group, in symbol tables, messages and fractal heaps
**   hdf5_type.c        datatypes: their meaning as elements
**   hdf5_element.c     elements as attributes' values
**   hdf5_attribute.c   attributes of an object, in messages and fractal heaps
**   hdf5_index.c      the places of chunks, by six kinds of index
**   hdf5_dataset.c     a dataset: its space, type, layout, filters and fill value
**
** Functions that return int return SQLite result codes and record failures in h->err.
*/
#ifndef ZT_CONTAINER_HDF5_H
#define ZT_CONTAINER_HDF5_H

#include "container/builder.h"
#include "container/chunks.h"
#include "core/cbor_write.h"

#define ZT_HDF5_NONE UINT64_MAX   /* The undefined address */
#define ZT_HDF5_RANK 32           /* Dimensions, at most */
#define ZT_HDF5_NESTED 16         /* Datatypes in each other, at most */

/* Bytes that are read; owned. All zeros at first. */
typedef struct zt_hdf5_block {
  uint8_t *p;
  size_t n, room;
} zt_hdf5_block;

/* Addresses that were met. All zeros at first. */
typedef struct zt_hdf5_set {
  uint64_t *a;                    /* Slots; 0: empty, else an address plus 1; owned */
  size_t n, room;
} zt_hdf5_set;

typedef struct zt_hdf5_link {
  uint32_t name, length;          /* In zt_hdf5.names */
  uint64_t address;               /* Of the object's header */
} zt_hdf5_link;

/* A block of a heap that was compressed. */
typedef struct zt_hdf5_unpacked {
  uint64_t address, n;
  uint8_t *p;                     /* Owned */
} zt_hdf5_unpacked;

/* A fractal heap. */
typedef struct zt_hdf5_heap {
  uint64_t address;
  unsigned id_length;             /* Bytes of an ID, 1 to 64 */
  unsigned offset_width, length_width;   /* Of the fields of managed IDs */
  unsigned bits;                  /* Of the heap's size */
  bool sums;                      /* Direct blocks have checksums */
  uint64_t width, start, largest; /* Blocks of a row, and bytes of the first and largest direct
                                  ** one */
  uint64_t root;
  unsigned rows;                  /* Of the root; 0: it is a direct block */
  bool packed;                    /* Direct blocks are compressed by deflate */
  uint64_t root_stored;           /* Of a packed direct root: stored bytes, and whether it is not */
  bool root_plain;                /* compressed */
  uint64_t huge;                  /* B-tree of huge objects */
} zt_hdf5_heap;

typedef struct zt_hdf5_page zt_hdf5_page;

/* The heap collection that was read last. */
typedef struct zt_hdf5_collection {
  zt_hdf5_block bytes;
  uint64_t address;
  uint32_t *at;                   /* Position of each object plus 1; 0: none; owned */
} zt_hdf5_collection;

typedef struct zt_hdf5 {
  zt_builder *b;
  zt_error *err;
  uint64_t base;                  /* Where addresses count from: the superblock's position */
  uint64_t size;                  /* Bytes from there to the end of the source */
  unsigned offset_size, length_size;   /* Bytes of addresses and of lengths */
  unsigned symbols, children, chunks;   /* Entries that nodes of symbols, and of B-trees of groups
                                        ** and of chunks, have room for; 0: not known */
  uint64_t root;                  /* Address of the root group's header */
  uint64_t extension;             /* Of the superblock's extension; ZT_HDF5_NONE: none */
  unsigned shared_type;           /* Messages of that type are */
  zt_hdf5_heap shared;            /* in this heap; 0: it is not open */
  uint8_t version;                /* Of the superblock */
  uint64_t work;                  /* Bytes that may still be read, the sum of all reads */
  uint64_t most;                  /* Kept bytes, at most */
  zt_hdf5_page *pages;            /* Parts of the file; owned */
  zt_hdf5_set objects, nodes;     /* Headers of objects; nodes and blocks of trees and heaps */
  zt_hdf5_collection collection;
  zt_hdf5_unpacked *unpacked;     /* By address; owned */
  size_t nUnpacked, roomUnpacked;
  uint64_t unpacked_bytes;        /* Of all of them */
  zt_hdf5_block names;            /* Names of links that are still to be visited */
  zt_hdf5_link *links;            /* Owned */
  size_t nLink, roomLink;
  zt_cbor_out manifest;           /* A key and a map for each dataset */
  zt_hdf5_block records;          /* A zt_hdf5_dataset each, and its shape */
  uint32_t nDataset;
} zt_hdf5;

/* --- hdf5_read.c --- */

/* Fields, one after the other. Behind the end they are 0, and cut is set. */
typedef struct zt_hdf5_in {
  const uint8_t *p, *end;
  unsigned offset_size, length_size;
  bool cut;
} zt_hdf5_in;

zt_hdf5_in zt_hdf5_in_of(const zt_hdf5 *h, zt_span bytes);
uint64_t zt_hdf5_take(zt_hdf5_in *in, unsigned n);   /* n is 0 to 8 */
zt_span zt_hdf5_take_span(zt_hdf5_in *in, uint64_t n);
void zt_hdf5_skip(zt_hdf5_in *in, uint64_t n);
uint64_t zt_hdf5_take_address(zt_hdf5_in *in);       /* ZT_HDF5_NONE: undefined */
uint64_t zt_hdf5_take_length(zt_hdf5_in *in);
uint64_t zt_hdf5_take_most(zt_hdf5_in *in);          /* ZT_HDF5_NONE: undefined, or unlimited */

/* Bytes that a number up to `most` takes in B-trees and heaps. */
unsigned zt_hdf5_width(uint64_t most);

/* The logarithm to base 2, rounded down; 0 of 0. */
unsigned zt_hdf5_log2(uint64_t n);

/* Copy n bytes at an address (HD3). */
int zt_hdf5_copy(zt_hdf5 *h, uint64_t address, void *to, size_t n);

/* Append n bytes at an address to a block. */
int zt_hdf5_append(zt_hdf5 *h, uint64_t address, uint64_t n, zt_hdf5_block *out);

/* Replace a block's bytes. */
static inline int zt_hdf5_read(zt_hdf5 *h, uint64_t address, uint64_t n, zt_hdf5_block *out){
  out->n = 0;
  return zt_hdf5_append(h, address, n, out);
}
int zt_hdf5_put(zt_hdf5 *h, const void *p, size_t n, zt_hdf5_block *out);
void zt_hdf5_block_clear(zt_hdf5_block *block);

/* Fail unless the last 4 of n bytes are the checksum of the others (HD2). */
int zt_hdf5_check_sum(zt_hdf5 *h, const uint8_t *p, size_t n, uint64_t address);
uint32_t zt_hdf5_sum(const uint8_t *p, size_t n);

/* Fail unless bytes begin with a signature and a version of at most that. */
int zt_hdf5_check_head(zt_hdf5 *h, const uint8_t *p, const char *signature, unsigned version,
                       uint64_t address, const char *rule);

/* Fail unless a node of n entries has room for them (the rule), and lies in the file (HD3), where
** it has that many bytes. most: the entries that it has room for; 0: not known. */
int zt_hdf5_check_room(zt_hdf5 *h, uint64_t address, uint64_t n, unsigned most, uint64_t bytes,
                       const char *rule);

/* Add an address. *seen: it is there already. */
int zt_hdf5_add(zt_hdf5 *h, zt_hdf5_set *set, uint64_t address, bool *seen);

/* Add a node's or a block's address to h->nodes; fail if it is there already (HD7). */
int zt_hdf5_enter(zt_hdf5 *h, uint64_t address);

void zt_hdf5_clear(zt_hdf5 *h);

/* --- hdf5_header.c --- */

enum {
  ZT_HDF5_SPACE = 1, ZT_HDF5_LINK_INFO = 2, ZT_HDF5_TYPE = 3, ZT_HDF5_OLD_FILL = 4,
  ZT_HDF5_FILL = 5, ZT_HDF5_LINK = 6, ZT_HDF5_EXTERNAL = 7, ZT_HDF5_LAYOUT = 8,
  ZT_HDF5_GROUP_INFO = 10, ZT_HDF5_FILTERS = 11, ZT_HDF5_ATTRIBUTE = 12,
  ZT_HDF5_CONTINUATION = 16, ZT_HDF5_SYMBOLS = 17, ZT_HDF5_ATTRIBUTE_INFO = 21
};
#define ZT_HDF5_SHARED 0x02       /* Flag: the message is somewhere else */

typedef struct zt_hdf5_message {
  uint32_t at, n;                 /* In the header's bytes */
  uint64_t address;               /* Of its data */
  uint16_t type;
  uint8_t flags;
} zt_hdf5_message;

/* All messages of an object. All zeros at first, and reused. */
typedef struct zt_hdf5_header {
  zt_hdf5_block bytes;
  zt_hdf5_message *a;             /* Owned */
  size_t n, room;
} zt_hdf5_header;

int zt_hdf5_header_read(zt_hdf5 *h, uint64_t address, zt_hdf5_header *out);
void zt_hdf5_header_clear(zt_hdf5_header *header);

/* The first message of a type; NULL: none. */
const zt_hdf5_message *zt_hdf5_find(const zt_hdf5_header *header, unsigned type);
static inline zt_span zt_hdf5_data(const zt_hdf5_header *header, const zt_hdf5_message *m){
  return (zt_span){ header->bytes.p+m->at, m->n };
}

/* --- hdf5_shared.c --- */

/* Memory of a message that is somewhere else. All zeros at first. */
typedef struct zt_hdf5_room {
  zt_hdf5_header header;
  zt_hdf5_block bytes;
} zt_hdf5_room;
void zt_hdf5_room_clear(zt_hdf5_room *room);

/* Set *out to a message's bytes, in the header or in `room`. */
int zt_hdf5_message_data(zt_hdf5 *h, const zt_hdf5_header *header, const zt_hdf5_message *m,
                         zt_hdf5_room *room, zt_span *out);

/* The same of the bytes that tell where a message of that type is; and of an ID of 8 bytes in the
** heap of those messages. */
int zt_hdf5_shared(zt_hdf5 *h, unsigned type, zt_span bytes, zt_hdf5_room *room, zt_span *out);
int zt_hdf5_in_heap(zt_hdf5 *h, unsigned type, const uint8_t *id, zt_hdf5_room *room,
                    zt_span *out);

/* --- hdf5_btree2.c --- */

/* Visit all records of a tree of that type, or of that type plus 1. `take` ends it by a failure in
** h->err. */
typedef struct zt_hdf5_record {
  const uint8_t *p;
  unsigned n;                     /* Bytes */
  unsigned type;                  /* Of the tree */
} zt_hdf5_record;
typedef void zt_hdf5_take_record(zt_hdf5 *h, void *context, const zt_hdf5_record *record);
int zt_hdf5_btree2(zt_hdf5 *h, uint64_t address, unsigned type, zt_hdf5_take_record *take,
                   void *context);

/* --- hdf5_heap.c --- */

int zt_hdf5_heap_open(zt_hdf5 *h, uint64_t address, zt_hdf5_heap *out);

/* Read the object of an ID of id_length bytes. */
int zt_hdf5_heap_read(zt_hdf5 *h, const zt_hdf5_heap *heap, const uint8_t *id, zt_hdf5_block *out);

/* Borrow an object of a global heap until the next call. */
int zt_hdf5_global(zt_hdf5 *h, uint64_t address, uint32_t index, zt_span *out);

/* --- hdf5_group.c --- */

/* True if the messages are a group's. */
bool zt_hdf5_is_group(const zt_hdf5_header *header);

/* Append a group's hard links to h->links, sorted by name, and their names to h->names. */
int zt_hdf5_links(zt_hdf5 *h, const zt_hdf5_header *header);

/* --- hdf5_type.c --- */

enum {
  ZT_HDF5_INTEGER = 0, ZT_HDF5_FLOAT = 1, ZT_HDF5_TIME = 2, ZT_HDF5_TEXT = 3, ZT_HDF5_BITS = 4,
  ZT_HDF5_OPAQUE = 5, ZT_HDF5_COMPOUND = 6, ZT_HDF5_REFERENCE = 7, ZT_HDF5_ENUM = 8,
  ZT_HDF5_VLEN = 9, ZT_HDF5_ARRAY = 10, ZT_HDF5_COMPLEX = 11
};

typedef enum zt_hdf5_float {
  ZT_HDF5_FLOAT_OTHER, ZT_HDF5_F16, ZT_HDF5_BF16, ZT_HDF5_F32, ZT_HDF5_F64, ZT_HDF5_F8_E5M2
} zt_hdf5_float;

/* A datatype. Spans lie in its bytes. */
typedef struct zt_hdf5_type {
  unsigned class, version, bits;
  uint32_t size;                  /* Bytes of an element, not 0 */
  bool big;                       /* Numbers are big-endian */
  unsigned offset, precision;     /* Of integers and bit fields, in bits */
  bool is_signed;
  zt_hdf5_float real;
  uint32_t members;               /* Of compounds and enums */
  zt_span inner;                  /* Members, or from the base type on */
  zt_span names, values;          /* Of an enum */
  bool boolean;                   /* An enum of FALSE and TRUE in a byte */
  uint32_t rank, elements;        /* Of an array; elements in all */
  uint32_t shape[ZT_HDF5_RANK];
} zt_hdf5_type;

/* Read a datatype of at most `depth` levels (HD11). */
int zt_hdf5_type_read(zt_hdf5 *h, zt_hdf5_in *in, int depth, zt_hdf5_type *out);

/* The next name of a member of a compound or an enum; padded: to 8 bytes, in versions 1 and 2. */
zt_text zt_hdf5_member_name(zt_hdf5_in *in, bool padded);

/* The next member of a compound. */
typedef struct zt_hdf5_member {
  zt_text name;
  uint32_t offset;
  bool array;                     /* Of version 1, an array of its type */
  zt_hdf5_type type;
} zt_hdf5_member;
int zt_hdf5_member_read(zt_hdf5 *h, zt_hdf5_in *in, const zt_hdf5_type *of, int depth,
                        zt_hdf5_member *out);

/* The model's word for a number's type; z NULL: it has none. A complex type has *type, too. */
typedef struct zt_hdf5_meaning {
  const char *dtype, *type;       /* type NULL: the same */
  const char *format;
  const char *no_values;          /* NULL: it has values */
  uint64_t big;                   /* A bool; behind it are no bytes that nothing sets */
} zt_hdf5_meaning;
int zt_hdf5_type_meaning(zt_hdf5 *h, const zt_hdf5_type *type, zt_hdf5_meaning *out);

/* --- hdf5_element.c --- */

/* Append the elements of an array of that rank and shape as CBOR. */
int zt_hdf5_value(zt_hdf5 *h, const zt_hdf5_type *type, zt_span data, uint32_t rank,
                  const uint64_t *shape, zt_cbor_out *out);

/* Append the members of an enum as a map of their values. False after a failure. */
bool zt_hdf5_enum_put(zt_hdf5 *h, const zt_hdf5_type *type, zt_cbor_out *out);

/* --- hdf5_attribute.c --- */

/* A dataspace. */
typedef struct zt_hdf5_space {
  uint32_t rank;
  bool null;                      /* No elements and no shape */
  uint64_t shape[ZT_HDF5_RANK], most[ZT_HDF5_RANK];   /* most: UINT64_MAX if unlimited */
} zt_hdf5_space;
int zt_hdf5_space_read(zt_hdf5 *h, zt_span message, zt_hdf5_space *out);

/* Append the keys and values of an object's attributes, sorted by name, each key behind `prefix`.
** *n is their number. Faults are noted of the dataset of that index, or of the file. */
int zt_hdf5_attributes(zt_hdf5 *h, const zt_hdf5_header *header, zt_text prefix, uint32_t dataset,
                       zt_cbor_out *out, uint32_t *n);

/* --- hdf5_index.c --- */

/* The fields of a layout message for chunks. */
typedef struct zt_hdf5_index {
  unsigned kind;                  /* 0: B-tree of version 1; else as in the message */
  uint64_t address;
  uint64_t size;                  /* Of a single filtered chunk; else 0 */
  uint32_t skipped;
  bool filtered;
  bool plain_edges;               /* Chunks that are not all in the array are not filtered */
} zt_hdf5_index;

/* The places of chunks, in order, and the sum of their stored bytes. */
typedef struct zt_hdf5_places {
  zt_chunk *a;                    /* Owned */
  size_t n, room;
  uint64_t bytes;
} zt_hdf5_places;
int zt_hdf5_chunks(zt_hdf5 *h, const zt_hdf5_index *index, zt_chunks *chunks,
                   const zt_hdf5_space *space, zt_hdf5_places *out);

/* --- hdf5_dataset.c --- */

/* A dataset, followed by its shape. Positions are in the kept bytes; those of name and attributes
** are in zt_hdf5.manifest until that is kept. */
typedef struct zt_hdf5_dataset {
  uint32_t rank;
  uint32_t name, name_length;
  uint32_t attributes;            /* A map */
  uint32_t encoding, encoding_length;
  uint32_t chunks, chunks_length;
  uint32_t fault;                 /* NUL-terminated; 0: none */
  zt_hdf5_meaning meaning;        /* Static texts */
  const char *rule;
  zt_codec_id codec;
  bool null, unsized, scattered, has_decoded, unshaped;
  uint64_t offset, length, decoded;
} zt_hdf5_dataset;

/* Append a dataset of that name to the manifest and the records. */
int zt_hdf5_dataset_add(zt_hdf5 *h, const zt_hdf5_header *header, zt_text name);

/* Add all records as objects, when the manifest is kept from `base` on. */
int zt_hdf5_datasets_keep(zt_hdf5 *h, uint32_t base);

#endif
