/*
** A tensor file behind another one in the same file, as np.save() writes it into the file that
** torch.save() has just written. It is not read. The container lists it as its last object, of the
** format `file.unread`, without values, whose component `data` has all bytes of it: a BLOB that can
** be read. Interface to code in behind.c.
*/
#ifndef ZT_CONTAINER_BEHIND_H
#define ZT_CONTAINER_BEHIND_H

#include "container/builder.h"

/* Why another file in a file has no values. */
#define ZT_BEHIND_REASON "it is another tensor file in this one, which is not read"

/* Add the object, if a file of a known format begins where the container's own bytes end. */
int zt_behind_add(zt_builder *b);

/* Decode the object, and its component. *out comes with defaults. */
void zt_behind_object(zt_object *out);
void zt_behind_component(const zt_container *c, zt_component *out);

#endif
