/*
** What zt_objects, zt_components and zt_attributes say of a file, as digests: who has the rows of
** one file has those of every other with the same. Interface to code in structure_digest.c.
**
** Digests are sha256 over the rows, each text with its length before it and each number in eight
** bytes, so that nothing but equal rows makes equal digests.
*/
#ifndef ZT_SQLITE_STRUCTURE_DIGEST_H
#define ZT_SQLITE_STRUCTURE_DIGEST_H

#include "container/container.h"
#include "core/digest.h"

/* Of its objects' names, formats, dtypes, types and shapes, in the names' order: equal for models
** of one kind, whatever they are stored in. A failure is SQLITE_NOMEM, SQLITE_INTERRUPT or
** SQLITE_TOOBIG (recorded), as below. */
int zt_structure_architecture(const zt_container *c, const zt_interrupt *interrupt,
                              char out[ZT_DIGEST_TEXT], zt_error *err);

/* Of all else but what follows, in the file's order: its objects' attributes and components. Left
** out are digests; and offsets are counted from zt_structure_data_offset(), which metadata of
** another length move. */
int zt_structure_layout(const zt_container *c, const zt_interrupt *interrupt,
                        char out[ZT_DIGEST_TEXT], zt_error *err);

/* Where the first component begins that is in the file itself; false if there is none. */
bool zt_structure_data_offset(const zt_container *c, uint64_t *offset);

/* How many components have a digest. */
uint64_t zt_structure_digests(const zt_container *c);

/* What a component's digest covers: `stored`, its bytes as they are in the file; `decoded`; or
** `member`, decoded ones that are not all its own: a whole member of an archive. */
zt_text zt_structure_digest_of(const zt_component *component);

#endif
