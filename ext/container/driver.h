/*
** What a file format gives the model, and the table of formats. A new format is one file that
** defines a driver, and one line in driver.c. Interface to code in driver.c, and between
** container.c and the drivers.
**
**   T1  the file begins with the magic number of a format
*/
#ifndef ZT_CONTAINER_DRIVER_H
#define ZT_CONTAINER_DRIVER_H

#include "container/container.h"
#include "core/keys.h"

/* The two ends of a file, from which its format and the place of its manifest follow. */
typedef struct zt_ends {
  uint64_t size;       /* Of the file */
  zt_span head;        /* The first 8 bytes, fewer if the file has fewer */
  zt_span tail;        /* The last bytes, at least 48 of them unless the file has fewer */
} zt_ends;

/* Where a manifest lies. */
typedef struct zt_extent {
  uint64_t offset, length;   /* 0 and 0: there is none */
  uint64_t hash;             /* zTensor 2 */
} zt_extent;

typedef struct zt_driver {
  const char *name;    /* Generation, for messages and tests */
  const char *format;  /* The file format's name, as zt_files.container shows it */

  /* True if the file is of this format. Looks at the magic numbers alone; at most one driver says
  ** yes to any file. */
  bool (*probe)(const zt_ends *ends);

  /* Where the manifest is: within the file, at most ZT_MAX_MANIFEST bytes, or a failure. */
  int (*locate)(const zt_ends *ends, zt_extent *out, zt_error *err);

  /* Check the whole manifest and index its objects. cbor stands at the first byte of c->manifest,
  ** and shards, names, first and components are empty, also when it is called again after
  ** zt_cbor_join(). Failures are in cbor->err. */
  int (*walk)(zt_container *c, zt_cbor *cbor);

  /* Decode object i, but for its index. *out has the defaults of what a file need not say. */
  void (*object)(const zt_container *c, uint32_t i, zt_object *out);

  /* Decode component k, which is one of object i. *out has the defaults of what a file need
  ** not say. */
  void (*component)(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                    zt_component *out);

  /* Decode shard i. NULL: the format has none. */
  void (*shard)(const zt_container *c, uint32_t i, zt_shard *out);

  unsigned footer;     /* Bytes of the footer */
  unsigned gap;        /* Most bytes between blobs that alignment explains */
} zt_driver;

struct zt_container {
  const zt_driver *driver;
  int references;
  uint8_t *manifest;         /* Owned; nManifest bytes */
  size_t nManifest;
  zt_extent extent;          /* Where it lies in the file; up to 1.2, blobs end before it */
  uint64_t file_size;
  bool is_file;
  zt_identity identity;      /* If it is a file */
  zt_text version;
  unsigned demands;          /* ZT_DEMANDS_ bits; set by walk, like the two around it */
  bool newer;
  zt_attributes attributes;
  zt_keys shards;            /* Their names, in the manifest's order */
  zt_keys names;             /* The objects' names, in the manifest's order */
  zt_positions first;        /* Of each object: the number of its first component */
  zt_positions components;   /* Of each component: the position from which the driver decodes it */
  struct {                   /* 1.0: what components take from their tensor, of the one asked
                             ** for last */
    bool valid, sparse;
    uint32_t object;
    zt_text dtype;           /* As stored */
  } last;
};

/* The driver that claims the file, NULL if none does. */
const zt_driver *zt_driver_for(const zt_ends *ends);

/* All drivers, ended by NULL, for tests. */
extern const zt_driver *const zt_drivers[];

/* Decode from the manifest, which was checked, at a position depth levels deep. */
void zt_container_decode(const zt_container *c, size_t at, int depth, zt_cbor *out);

/* Position of a byte of the manifest. */
static inline size_t zt_container_position(const zt_container *c, const uint8_t *p){
  return (size_t)(p - c->manifest);
}

#endif
