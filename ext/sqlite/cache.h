/*
** Opened containers of one connection, least recently used first out, bounded by the bytes they
** hold. An entry is used again only while the file at the path has the identity (device, inode,
** size, mtime, ctime) that it was read with, and had settled then (os.h): a file that was replaced
** or rewritten is read anew. What a statement uses stays, whatever it uses next. Interface to code
** in cache.c.
*/
#ifndef ZT_SQLITE_CACHE_H
#define ZT_SQLITE_CACHE_H

#include "container/container.h"
#include "core/pool.h"

#define ZT_CACHE_BYTES ((size_t)64 << 20)   /* Between statements; one larger container may
                                            ** stand alone */
#define ZT_CACHE_HELD ((size_t)256 << 20)   /* While a statement runs, which may go to and fro
                                            ** between large ones */
#define ZT_CACHE_SCAN 4   /* What scans over many files come by has one part in so many of it, and
                          ** so has what was asked for once, which has all of it while a
                          ** statement runs */

typedef struct zt_cache zt_cache;

/* interrupt is whom the reading of a manifest asks whether to go on. NULL: out of memory. */
zt_cache *zt_cache_new(zt_interrupt interrupt);
zt_interrupt zt_cache_interrupt(const zt_cache *c);

/* Threads that help to read what is opened from here on; NULL: none. Borrowed, and there as long as
** any source that was opened meanwhile. */
void zt_cache_set_pool(zt_cache *c, zt_pool *pool);
void zt_cache_free(zt_cache *c);

/* What opening a file gave. */
typedef struct zt_opened {
  zt_container *container;   /* With a reference */
  zt_source *source;         /* Owned; NULL: it was not wanted */
  bool worth;                /* The cache does not have it, and may */
} zt_opened;

/* The container at path, from the cache or read now, with a reference for the caller. state is what
** zt_os_stat() said of the path just now, of which only the kind need be known (size and times 0),
** or NULL if nobody asked; scan: it is one of many that a pattern found. If source is not NULL,
** *source is the opened file, for reading components, which the caller closes: it has the
** container's identity. Both are NULL on failure. */
int zt_cache_open(zt_cache *c, const char *path, const zt_stat *state, bool scan,
                  zt_container **out, zt_source **source, zt_error *err);

/* The same in two parts: the first may be done in any thread, and asks whom it is told whether to
** go on; the second is for the thread that runs the statement. */
int zt_cache_read(zt_cache *c, const char *path, const zt_stat *state, bool scan, bool source,
                  const zt_interrupt *interrupt, zt_opened *out, zt_error *err);
void zt_cache_keep(zt_cache *c, const zt_opened *opened, bool scan);

/* A file is about to be read, perhaps by another thread: have memory for a container like the last
** one. Threads that each ask for small pieces wait for each other, and for the system. */
void zt_cache_prepare(zt_cache *c);

/* A table's cursor is open, or not any more: when the last one closes, the cache shrinks to what it
** holds between statements. Functions, which nobody tells when their statement ends, leave that to
** the next table. */
void zt_cache_hold(zt_cache *c);
void zt_cache_release(zt_cache *c);

#endif
