/* Files in a zip archive. For archive.c and archive_values.c, which has the walks through them. */
#ifndef ZT_CONTAINER_ARCHIVE_H
#define ZT_CONTAINER_ARCHIVE_H

#include "container/driver.h"

/* A member with tensors, or all arrays of numpy together. */
typedef struct zt_archive_member {
  zt_container *inner;         /* Owned; NULL: it is not read, and is an object itself */
  zt_text path;                /* Before the names of its objects and attributes; or the object's
                               ** name. z NULL: nothing stands before them. Owned by the archive */
  uint64_t base;               /* Offset of its bytes in the archive; inner counts from there */
  uint32_t object, component;  /* The archive's first of this member */
  uint32_t file;               /* The archive's first file of other bytes of it, one for each of
                               ** inner's shards */
  /* If it is not read: */
  uint64_t length;             /* Bytes as they are in the archive */
  bool unsized;                /* Neither base nor length is known */
  uint32_t encoding, encoding_length, fault;   /* Positions of texts in the kept bytes */
  const char *fault_rule;      /* Static */
} zt_archive_member;

/* A file that a member names, where its tensors have bytes. */
typedef struct zt_archive_file {
  uint64_t base, length;       /* In the archive */
  const char *fault;           /* Static; NULL: the archive has it, and it can be read */
} zt_archive_file;

typedef struct zt_archive {
  zt_archive_member *a;        /* Owned */
  uint32_t n, capacity;
  char *paths;                 /* Owned */
  zt_archive_file *files;      /* Owned */
  uint32_t n_files;
} zt_archive;

static inline const zt_archive *zt_archive_of(const zt_container *c){
  return c->state;
}

/* A value of member k, as one of the archive. */
zt_value zt_archive_value(uint32_t k, zt_value value);

/* All attributes, or all manifests, of several members. */
zt_value zt_archive_attributes(void);
zt_value zt_archive_manifests(void);

extern const zt_steps zt_archive_steps;

#endif
