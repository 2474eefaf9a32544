/*
** Parallel checks of the objects of a CBOR manifest: other threads check later objects while the
** calling thread checks from the beginning.
**
** The beginning of an object is a guess: behind an object that looks like the first one. The
** calling thread verifies the guess. If it reaches the exact byte where a segment begins, it takes
** over that segment's objects; otherwise it checks those bytes itself. Faults are never taken over:
** the calling thread finds them again, in their place. So a container, or the message about a
** broken file, does not depend on the guess. Interface to code in segments.c.
*/
#ifndef ZT_CONTAINER_SEGMENTS_H
#define ZT_CONTAINER_SEGMENTS_H

#include "container/builder.h"
#include "core/cbor.h"

typedef struct zt_segments zt_segments;

/* Check the next object, at whose name cbor stands, and add it, zt_builder_object() first; its
** number is the position of its map. The result depends only on these bytes and on the container's
** earlier settings. False after a failure. */
typedef bool zt_segments_check(zt_cbor *cbor, zt_builder *b);

/* Start with the bytes behind the first object, at which cbor stands, in a definite map. cbor does
** not move. NULL: the manifest is too small, or threads or memory are missing. SQLITE_INTERRUPT may
** be recorded in cbor->err. */
zt_segments *zt_segments_begin(const zt_cbor *cbor, zt_builder *b, zt_segments_check *check);

/* If a segment begins where cbor stands, before an object that *remaining more follow, add its
** objects, move cbor behind them, and reduce *remaining by all but one. *duplicate: the name before
** cbor already exists. False: nothing was added; SQLITE_NOMEM or SQLITE_INTERRUPT may be recorded
** in cbor->err. */
bool zt_segments_take(zt_segments *s, zt_cbor *cbor, zt_builder *b, uint64_t *remaining,
                      bool *duplicate);

/* Abandon the threads' work. s may be NULL. */
void zt_segments_end(zt_segments *s);

#endif
