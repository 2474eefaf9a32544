/*
** The opened containers of one connection. The least recently used one is evicted first, and the
** total size is bounded. An entry is used only while the file at the path has the identity (device,
** inode, size, mtime, ctime) that it was read with, and if that was settled then (os.h): a replaced
** or rewritten file is read again. A container in use by a statement is never evicted. Interface to
** code in cache.c.
*/
#ifndef ZT_SQLITE_CACHE_H
#define ZT_SQLITE_CACHE_H

#include "container/container.h"

#define ZT_CACHE_BYTES ((size_t)64 << 20)   /* Between statements; one larger container may stand
                                            ** alone */
#define ZT_CACHE_HELD ((size_t)256 << 20)   /* While a statement runs, which may alternate between
                                            ** large containers */
#define ZT_CACHE_SCAN 4   /* Divisor of ZT_CACHE_BYTES for containers that scans over many files
                          ** opened, and for those requested once. These may fill all of it while a
                          ** statement runs that comes back to files, or only functions run */

typedef struct zt_cache zt_cache;

/* NULL: out of memory. */
zt_cache *zt_cache_new(void);
void zt_cache_free(zt_cache *c);

/* Arguments of zt_container_open_in() for a container that is not cached. */
typedef struct zt_cache_help {
  zt_container *emptied;     /* Memory to reuse, or NULL */
  zt_container_guess guess;
} zt_cache_help;

/* The container of the file at path in this state, with a reference for the caller. scan: the file
** is one of many that a pattern found. NULL: it is not cached; *help is set then, unless help is
** NULL. May run in any thread. */
zt_container *zt_cache_find(zt_cache *c, const char *path, const zt_identity *id, bool scan,
                            zt_cache_help *help);

/* Keep a container that was not cached. If memory is short, it is not kept. */
void zt_cache_keep(zt_cache *c, zt_container *container, bool scan);

/* Allocate memory for a container like the last one, before a file is read, perhaps by another
** thread. Threads that allocate small pieces wait for each other, and for the system. */
void zt_cache_prepare(zt_cache *c);

/* Call these when a table's cursor opens and closes. When the last one closes, the cache shrinks to
** its size between statements. Functions do not learn when their statement ends: the next table
** shrinks the cache. */
void zt_cache_hold(zt_cache *c);
void zt_cache_release(zt_cache *c);

#endif
