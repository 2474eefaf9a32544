/*
** An open file, a remote one, or the image of a file in memory (a BLOB): size, identity, positioned
** reads. Files
** are never mapped: if an open file is truncated, that is an error here and not a signal that ends
** the host's process. Interface to code in source.c.
*/
#ifndef ZT_CORE_SOURCE_H
#define ZT_CORE_SOURCE_H

#include <stdatomic.h>
#include "core/os.h"
#include "core/pool.h"
#include "core/remote_file.h"

/* State that a reader of a source leaves for later ones, which would have to read what it has read
** once more. It begins with this. */
typedef struct zt_resumable {
  void (*free)(struct zt_resumable *state);
} zt_resumable;
#define ZT_RESUMABLES 16   /* Most that are left at a time */

/* Private, but for its size. */
typedef struct zt_source zt_source;
struct zt_source {
  zt_source *outer;      /* Of a range; borrowed. NULL: not a range */
  uint64_t base;         /* The range's offset in it */
  zt_file file;          /* -1 for an image and a range */
  zt_span image;
  zt_span ahead;         /* Bytes of a file that are in memory; n 0: none */
  uint64_t ahead_at;     /* Their offset */
  zt_remote_file *remote;   /* Of a remote file; owned */
  uint64_t size;
  zt_identity id;
  zt_pool *pool;         /* Borrowed; NULL: no threads */
  _Atomic(zt_resumable*) states[ZT_RESUMABLES];   /* Owned; NULL: none */
  bool shard;            /* A shard: errors name it, and another file as their place */
  const char *path;      /* Of a file; of a range its name; "" for an image */
};

/* Opens the regular file at path; known is as for zt_os_open(). *out is NULL after a failure. */
int zt_source_open(const char *path, const zt_stat *known, zt_source **out, zt_error *err);

/* Does the same in the caller's memory, without a copy of the path. zt_source_end() must follow,
** even after a failure. */
int zt_source_begin(zt_source *s, const char *path, const zt_stat *known, zt_error *err);
void zt_source_end(zt_source *s);

/* The same for a remote file; known and ask are as for zt_remote_file_open(). */
int zt_source_begin_remote(zt_source *s, zt_remote *remote, const char *path,
                           const zt_remote_state *known, zt_remote_ask ask, zt_error *err);
int zt_source_open_remote(zt_remote *remote, const char *path, const zt_remote_state *known,
                          zt_remote_ask ask, zt_source **out, zt_error *err);

/* Opens another file by its path, a remote one only if `beside` is remote. */
int zt_source_open_beside(const zt_source *beside, const char *path, zt_source **out,
                          zt_error *err);

/* Opens an image in memory, which must not change until the source is closed. */
int zt_source_open_image(zt_span image, zt_source **out, zt_error *err);

/* Opens n bytes of another source, from an offset on, as a source of its own: a file in an archive,
** and its name. The other source has these bytes and must outlive it. Like an image, it has no
** path, and no files beside it. */
int zt_source_open_range(zt_source *outer, uint64_t offset, uint64_t n, zt_text name,
                         zt_source **out, zt_error *err);

/* Takes a file that is open for reading, even after a failure. */
int zt_source_open_file(zt_file file, const char *path, zt_source **out, zt_error *err);

void zt_source_close(zt_source *s);

/* The size in bytes when it was opened. */
static inline uint64_t zt_source_size(const zt_source *s){
  return s->size;
}

/* Whether it is a range of another source. */
static inline bool zt_source_is_range(const zt_source *s){
  return s->outer!=NULL;
}

/* The identity when it was opened; NULL for an image and a range. */
static inline const zt_identity *zt_source_identity(const zt_source *s){
  return s->file>=0 || s->remote ? &s->id : NULL;
}

/* Returns whether it is a remote file. */
static inline bool zt_source_is_remote(const zt_source *s){
  return s->remote!=NULL;
}

/* The entity tag of a remote file; NULL if it has none, or is not remote. */
const char *zt_source_etag(const zt_source *s);

/* Returns whether any later change of the file will show in its identity. */
bool zt_source_settled(const zt_source *s);

/* The path that it was opened by; NULL for an image and a range. */
static inline const char *zt_source_path(const zt_source *s){
  return zt_source_identity(s) ? s->path : NULL;
}

/* The path that gives its objects a name: that of a URL is percent-decoded and without its query,
** that of a range is its name. NULL for an image. */
const char *zt_source_plain_path(const zt_source *s);

/* Returns the path of a file beside it, from sqlite3_malloc64(): its path up to the last name's
** start or, with stem, up to the dot of its extension, and then the name, which is percent-encoded
** in a URL of a web server. NULL if memory is short. Not for an image. */
char *zt_source_beside(const zt_source *s, bool stem, zt_text name);

/* Its name in messages. */
static inline const char *zt_source_name(const zt_source *s){
  if( s->outer ) s = s->outer;   /* No range is of a range */
  return zt_source_identity(s) ? s->path : "<blob>";
}

/* The image; p is NULL for a file and its ranges. */
static inline zt_span zt_source_image(const zt_source *s){
  return s->image;
}

/* Threads for large reads, which must outlive the source; NULL: none. */
static inline void zt_source_set_pool(zt_source *s, zt_pool *pool){
  s->pool = pool;
}
static inline zt_pool *zt_source_pool(const zt_source *s){
  return s->pool;
}

/* Makes read errors name this file as a shard of the file that is their place. */
static inline void zt_source_set_shard(zt_source *s){
  s->shard = true;
}

/* The same file, of which some bytes were read already: all of them were there at once, as the
** caller asked zt_source_unchanged() of the file itself. Not to be closed; everything is
** borrowed. */
zt_source zt_source_with(const zt_source *s, uint64_t offset, zt_span bytes);

/* Copies n bytes at offset into buffer. A failure names the missing bytes, or has the system's
** reason. */
int zt_source_read(zt_source *s, uint64_t offset, void *buffer, size_t n, zt_error *err);

/* Leaves a state, which the source then owns. It must not need its reader's memory. */
void zt_source_leave_state(zt_source *s, zt_resumable *state);

/* Takes the state of the highest rank, which the caller then owns. NULL: there is none. Both may be
** called by several threads at a time. */
zt_resumable *zt_source_take_state(zt_source *s, const void *context,
                                   uint64_t (*rank)(const void *context,
                                                    const zt_resumable *state));

/* Announces that n bytes at the offset will be read, in this order: those of a remote file are
** asked for ahead. */
static inline void zt_source_expect(zt_source *s, uint64_t offset, uint64_t n){
  if( s->remote ) zt_remote_file_expect(s->remote, offset, n);
}

/* Fails if the file was written to since it was opened: the bytes read may belong to several states
** of it. Each read of a remote file has checked that. */
int zt_source_unchanged(zt_source *s, zt_error *err);

/* Counts the bytes that an open remote file keeps as read ahead, if it was opened ahead of the
** scan. False: they are too many, and the caller closes it. */
static inline bool zt_source_hold_ahead(zt_source *s){
  return !s->remote || zt_remote_file_hold_ahead(s->remote);
}

/* Replaces the failure of a rule by that of zt_source_unchanged(), if there is one. Returns the
** recorded code. */
int zt_source_explain(zt_source *s, zt_error *err);

#endif
