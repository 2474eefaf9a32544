/*
** Many objects of a manifest in CBOR, checked side by side: others check those further on, while
** who checks the manifest comes from the beginning.
**
** Where an object begins is a guess: behind one that looks like the first. Who comes from the
** beginning finds out whether it was right: it takes over what was found if it comes to the very
** byte where the others began, and else checks those bytes itself. What is wrong with an object is
** never taken over: it is found again, in its place. So a container, and what is said of a broken
** one, do not depend on the guess. Interface to code in segments.c.
*/
#ifndef ZT_CONTAINER_SEGMENTS_H
#define ZT_CONTAINER_SEGMENTS_H

#include "container/builder.h"
#include "core/cbor.h"

typedef struct zt_segments zt_segments;

/* Check the next object, at whose name cbor stands, and add it, by zt_builder_object() first: its
** number is where its map is. It depends on nothing but these bytes and what was set of the
** container before. False after a failure. */
typedef bool zt_segments_check(zt_cbor *cbor, zt_builder *b);

/* Begin with what follows the first of the objects, at which cbor stands, in a definite map. NULL:
** it is not worth it, there are no threads, or there is no memory. cbor stays where it is. */
zt_segments *zt_segments_begin(const zt_cbor *cbor, zt_builder *b, zt_segments_check *check);

/* If others began where cbor stands now, before an object that *left more follow, add what they
** found, and reduce *left by all but one. *duplicate: the name behind which cbor stands then was
** there before. False: nothing was added; what went wrong, SQLITE_NOMEM and SQLITE_INTERRUPT, is
** in cbor->err. */
bool zt_segments_take(zt_segments *s, zt_cbor *cbor, zt_builder *b, uint64_t *remaining,
                      bool *duplicate);

/* End them. NULL is accepted. */
void zt_segments_end(zt_segments *s);

#endif
