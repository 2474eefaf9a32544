/*
** Bytes of a file around small components: where these lie side by side, one call of the system
** reads many. Interface to code in ahead.c.
*/
#ifndef ZT_TENSOR_AHEAD_H
#define ZT_TENSOR_AHEAD_H

#include "container/container.h"
#include "core/source.h"

/* Of one file at a time. Empty when it is all zeros. */
typedef struct zt_ahead {
  uint8_t *p;              /* Owned: zt_ahead_clear(); NULL: none yet */
  size_t n;
  uint64_t at;             /* Offset of the bytes in the file */
  uint64_t next;           /* Where the last small component ends */
} zt_ahead;

void zt_ahead_clear(zt_ahead *a);

/* Forget the bytes: another file follows, or this one may be another one. */
void zt_ahead_leave(zt_ahead *a);

/* True if *out is the source with the component's bytes in memory, until the next call: the
** component is small, and lies in bytes that were read or behind the last one. What has changed in
** the file since then shows when zt_source_unchanged() is asked of the source itself at last. */
bool zt_ahead_has(zt_ahead *a, zt_source *source, const zt_component *component, zt_source *out);

#endif
