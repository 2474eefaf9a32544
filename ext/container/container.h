/*
** The one model of a tensor file, whatever its generation: a container has objects (tensors), an
** object has components (stored byte ranges). Interface to code in container.c; the file formats
** themselves are drivers (driver.h).
**
** Opening reads the manifest, checks all of it once and keeps its bytes; an object or component is
** decoded from them when somebody stands on it. What is decoded is borrowed from the container and
** lives as long as it does. After a successful open, decoding cannot fail.
**
** Vocabulary is normalised: dtypes have the short names of zTensor 1.2 section 2, formats the names
** of its section 3. What a generation does not define stays as it is stored, and `foreign` tells
** that it is not to be interpreted even if another generation uses that very name.
*/
#ifndef ZT_CONTAINER_CONTAINER_H
#define ZT_CONTAINER_CONTAINER_H

#include "core/cbor.h"
#include "core/source.h"

#define ZT_CONTAINER_FILES "*.zt"   /* Names of the files that a directory as source stands for */
#define ZT_MAX_RANK 64
#define ZT_MAX_MANIFEST ((uint64_t)1 << 30)   /* 1.1.0 part IV, 1.2.0 section 5; taken for 0.1 and
                                              ** 1.0 as well */

typedef struct zt_container zt_container;

/* Free-form fields of a file or an object. */
typedef struct zt_attributes {
  size_t at;                      /* Position of a CBOR map in the manifest; 0: none */
  int depth;                      /* Levels open around it */
  bool (*is_field)(zt_text key);  /* Tells the keys of that map that are no attributes (0.1 has both
                                  ** in one map); NULL: none */
} zt_attributes;

typedef struct zt_object {
  uint32_t index;                 /* Place in the manifest's order */
  zt_text name;
  const char *format_prefix;      /* "", or what the format's name begins with that is not
                                  ** stored ("sparse_") */
  zt_text format;                 /* dense, sparse_csr, sparse_coo, quantized_group, or as stored */
  bool foreign;                   /* The format is no word of this generation */
  bool strict;                    /* Sparse elements must ascend (CSR), and be alone in their cells
                                  ** (zTensor 2) */
  bool one_blob;                  /* A sparse object whose arrays stand one after the other in one
                                  ** component, data (0.1) */
  uint32_t rank;                  /* 0 to ZT_MAX_RANK */
  uint64_t shape[ZT_MAX_RANK];    /* The first rank are set */
  uint64_t elements;              /* Product of the shape, 1 for a scalar */
  zt_attributes attributes;
  zt_text dtype;                  /* 1.0 has it here, as stored, and not in components; z
                                  ** NULL elsewhere */
} zt_object;

/* What may be wanted of a component. */
enum {
  ZT_COMPONENT_ROLE = 0x01, ZT_COMPONENT_DTYPE = 0x02, ZT_COMPONENT_TYPE = 0x04,
  ZT_COMPONENT_OFFSET = 0x08, ZT_COMPONENT_LENGTH = 0x10, ZT_COMPONENT_DECODED = 0x20,
  ZT_COMPONENT_ENCODING = 0x40, ZT_COMPONENT_DIGEST = 0x80, ZT_COMPONENT_BYTE_ORDER = 0x100,
  ZT_COMPONENT_SHARD = 0x200, ZT_COMPONENT_ALL = 0x3FF
};

typedef struct zt_component {
  zt_text role;                   /* data, values, indptr, ... */
  zt_text dtype;                  /* Storage type */
  zt_text type;                   /* Logical type; z NULL: the same as dtype */
  bool foreign;                   /* The dtype or type is no word of this generation */
  bool strict;                    /* A bool is 0 or 1, and spare bits are 0: else the bytes have no
                                  ** values (zTensor 2) */
  zt_text encoding;               /* raw, zstd, or as stored */
  zt_text byte_order;             /* As stored; `little` where the file does not say (0.1
                                  ** alone can) */
  uint64_t offset, length;        /* Where the stored bytes are: within the file, or what the
                                  ** shard's size should be, checked */
  zt_text shard;                  /* The shard that has them; z NULL: this file */
  uint64_t shard_size;            /* What the manifest says of the shard's size */
  bool has_decoded_length;        /* The manifest states the length after decoding (1.2's
                                  ** uncompressed_length): */
  uint64_t decoded_length;
  zt_text digest;                 /* As stored; z NULL: none */
  bool digest_is_of_decoded;      /* It is over the decoded bytes (zTensor 2), not the
                                  ** stored ones */
} zt_component;

/* Read and check the manifest of a source. *out is NULL on failure, which says what is wrong in
** err's place. The source is not kept, and neither is whom to ask whether to go on, which may be
** NULL. A container counts its references; it starts with one. */
int zt_container_open(zt_source *source, const zt_interrupt *interrupt, zt_container **out,
                      zt_error *err);
zt_container *zt_container_ref(zt_container *c);
void zt_container_close(zt_container *c);   /* Give up one reference */
bool zt_container_is_shared(const zt_container *c);   /* There is more than one */

const char *zt_container_format(const zt_container *c);      /* "ztensor" */
zt_text zt_container_version(const zt_container *c);         /* 0.1.0, what the manifest says,
                                                             ** or 2 */
zt_attributes zt_container_attributes(const zt_container *c);

/* What the file's specification demands beyond what makes it readable. */
enum {
  ZT_DEMANDS_ZERO_PADDING = 0x1, ZT_DEMANDS_U64_INDICES = 0x2, ZT_DEMANDS_DECODED_LENGTH = 0x4
};
unsigned zt_container_demands(const zt_container *c);
uint64_t zt_container_gap(const zt_container *c);            /* Most bytes between blobs that
                                                             ** alignment explains */
bool zt_container_is_newer(const zt_container *c);           /* Its version is none that is known,
                                                             ** though it can be read */
zt_span zt_container_manifest(const zt_container *c);        /* The CBOR bytes, strings in
                                                             ** chunks joined */
uint64_t zt_container_manifest_offset(const zt_container *c);/* Where it lies in the file, */
uint64_t zt_container_manifest_length(const zt_container *c);/* and the bytes that it takes there;
                                                             ** 0: there is none */
uint64_t zt_container_footer_offset(const zt_container *c);  /* Blobs and manifest lie before it */
uint64_t zt_container_file_size(const zt_container *c);
const zt_identity *zt_container_identity(const zt_container *c);  /* NULL for an image */
size_t zt_container_memory(const zt_container *c);           /* Bytes that it holds, for a
                                                             ** cache's accounts */

uint32_t zt_container_objects(const zt_container *c);        /* How many */

/* The index of the object of that name, -1 if there is none. */
int64_t zt_container_find(const zt_container *c, zt_text name);

/* The name of object i alone, which costs less than the whole. */
zt_text zt_container_name(const zt_container *c, uint32_t i);

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

/* Fail unless the source has the magic number and footer of that generation. Reads its two ends. */
int zt_container_check_format(zt_source *source, const char *generation, zt_error *err);

/* A sibling file that has the bytes of components (zTensor 2): shard n of model.zt
** is model-n.zt. */
typedef struct zt_shard {
  zt_text name;
  uint64_t size;
  zt_text digest;                 /* Of the whole file */
} zt_shard;
uint32_t zt_container_shards(const zt_container *c);         /* How many */
void zt_container_shard(const zt_container *c, uint32_t i, zt_shard *out);
bool zt_container_shard_find(const zt_container *c, zt_text name, zt_shard *out);
/* Its index plus 1; 0 if name.z is NULL */
uint32_t zt_container_shard_number(const zt_container *c, zt_text name);

/* A walk over attributes, in the manifest's order. */
typedef struct zt_attribute_walk {
  zt_attributes attributes;
  zt_error err;                   /* Stays unused: the manifest was checked */
  zt_cbor cbor;
  zt_cbor_level level;
} zt_attribute_walk;
void zt_attributes_begin(const zt_container *c, const zt_attributes *a, zt_attribute_walk *it);

/* True if another attribute follows. Its key and then its value are next in it->cbor, and are the
** caller's to read. */
bool zt_attributes_next(zt_attribute_walk *it);

#endif
