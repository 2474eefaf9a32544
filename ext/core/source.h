/*
** An opened file, or the image of one in memory (a BLOB): size, identity, positioned reads. Files
** are read, never mapped: one that is cut short while it is open is an error here, not a signal
** that ends the host's process. Interface to code in source.c.
*/
#ifndef ZT_CORE_SOURCE_H
#define ZT_CORE_SOURCE_H

#include "core/os.h"
#include "core/pool.h"

/* Public for its size alone: the members are source.c's. */
typedef struct zt_source {
  zt_file file;          /* -1 for an image */
  zt_span image;
  uint64_t size;
  zt_identity id;
  zt_pool *pool;         /* Borrowed; NULL: nobody helps */
  bool shard;            /* Of another file, which is the one that errors are about */
  const char *path;      /* Of a file; "" for an image */
} zt_source;

/* Open the regular file at path; known is as for zt_os_open(). *out is NULL on failure. */
int zt_source_open(const char *path, const zt_stat *known, zt_source **out, zt_error *err);

/* The same in memory of the caller's, who keeps the path, too; and its end, also after
** a failure. */
int zt_source_begin(zt_source *s, const char *path, const zt_stat *known, zt_error *err);
void zt_source_end(zt_source *s);

/* An image in memory, which must stay as it is until the source is closed. */
int zt_source_open_image(zt_span image, zt_source **out, zt_error *err);

void zt_source_close(zt_source *s);

/* Size in bytes when it was opened. */
uint64_t zt_source_size(const zt_source *s);

/* Identity when it was opened; NULL for an image. */
const zt_identity *zt_source_identity(const zt_source *s);

/* The path that it was opened by; NULL for an image. */
const char *zt_source_path(const zt_source *s);

/* The image itself; p is NULL for a file. */
zt_span zt_source_image(const zt_source *s);

/* Threads that may help to read much at once, which live longer than the source; NULL: none. */
void zt_source_set_pool(zt_source *s, zt_pool *pool);
zt_pool *zt_source_pool(const zt_source *s);

/* It is a shard of the file that errors have as their place: say which one, if reading it fails. */
void zt_source_set_shard(zt_source *s);

/* Copy the n bytes at offset into buffer. A failure says which bytes are missing, or what the
** system said. */
int zt_source_read(zt_source *s, uint64_t offset, void *buffer, size_t n, zt_error *err);

/* Fail if the file was written to since it was opened: bytes read meanwhile belong to no one state
** of it. */
int zt_source_unchanged(zt_source *s, zt_error *err);

/* The bytes read break a rule: if the file was written to since it was opened, say that instead.
** Returns the recorded code. */
int zt_source_explain(zt_source *s, zt_error *err);

#endif
