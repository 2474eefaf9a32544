/*
** Digests of a file's rows in zt_objects, zt_components and zt_attributes. Files with equal digests
** have equal rows, with the exceptions below. Interface to code in structure_digest.c.
**
** Digests are sha256 over the rows. Each text is preceded by its length and each number takes eight
** bytes, so only equal rows have equal digests.
*/
#ifndef ZT_SQLITE_STRUCTURE_DIGEST_H
#define ZT_SQLITE_STRUCTURE_DIGEST_H

#include "container/container.h"
#include "core/digest.h"

/* Digest the objects' names, formats, dtypes, types and shapes, in the order of the names. It is
** equal for models of the same kind, whatever their container. A failure is SQLITE_NOMEM,
** SQLITE_INTERRUPT or SQLITE_TOOBIG (recorded), also in the next function. */
int zt_structure_architecture(const zt_container *c, const zt_interrupt *interrupt,
                              char out[ZT_DIGEST_TEXT], zt_error *err);

/* Digest the objects' names, attributes and components in the file's order, without the components'
** digests. Offsets are counted from zt_structure_data_offset(), because longer metadata move all of
** them. */
int zt_structure_layout(const zt_container *c, const zt_interrupt *interrupt,
                        char out[ZT_DIGEST_TEXT], zt_error *err);

/* Find the offset of the first component in the file itself. False if there is none. */
bool zt_structure_data_offset(const zt_container *c, uint64_t *offset);

/* Count the components with a digest. */
uint64_t zt_structure_digests(const zt_container *c);

/* Return the bytes that a component's digest covers: `stored`, its bytes as they are in the file;
** `decoded`; or `member`, a whole decoded member of an archive, which has other bytes, too. */
zt_text zt_structure_digest_of(const zt_component *component);

#endif
