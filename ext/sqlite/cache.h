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

#define ZT_CACHE_BYTES ((size_t)64 << 20)   /* Between statements; one larger container may
                                            ** stand alone */
#define ZT_CACHE_HELD ((size_t)256 << 20)   /* While a statement runs, which may go to and fro
                                            ** between large ones */
#define ZT_CACHE_SCAN 4   /* What scans over many files come by has one part in so many of it, and
                          ** so has what was asked for once, which has all of it while a
                          ** statement runs */

typedef struct zt_cache zt_cache;

/* NULL: out of memory. */
zt_cache *zt_cache_new(void);
void zt_cache_free(zt_cache *c);

/* What a container that is not there is opened with (zt_container_open_in()). */
typedef struct zt_cache_help {
  zt_container *emptied;     /* Memory to open it in, or NULL */
  zt_container_guess guess;
} zt_cache_help;

/* The container of the file at path, in this state, with a reference for the caller; scan: the file
** is one of many that a pattern found. NULL if there is none: *help is set then, which may be
** NULL. In any thread. */
zt_container *zt_cache_find(zt_cache *c, const char *path, const zt_identity *id, bool scan,
                            zt_cache_help *help);

/* Keep a container that was not there. Without memory for that it is just not kept. */
void zt_cache_keep(zt_cache *c, zt_container *container, bool scan);

/* A file is about to be read, perhaps by another thread: have memory for a container like the last
** one. Threads that each ask for small pieces wait for each other, and for the system. */
void zt_cache_prepare(zt_cache *c);

/* A table's cursor is open, or not any more: when the last one closes, the cache shrinks to what it
** holds between statements. Functions, which nobody tells when their statement ends, leave that to
** the next table. */
void zt_cache_hold(zt_cache *c);
void zt_cache_release(zt_cache *c);

#endif
