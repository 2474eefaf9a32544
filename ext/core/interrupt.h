/* The check for an interrupt that long loops make every few MB or thousand steps. */
#ifndef ZT_CORE_INTERRUPT_H
#define ZT_CORE_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>
#include "core/error.h"

typedef struct zt_interrupt {
  bool (*interrupted)(void *context);   /* True: stop. NULL: never */
  void *context;                        /* Borrowed */
} zt_interrupt;

/* Fails with SQLITE_INTERRUPT if there is an interrupt. i may be NULL. */
int zt_interrupt_check(const zt_interrupt *i, zt_error *err);

/* Makes this the interrupt of the calling thread until the next call, for reads that wait
** (remote.h). Returns the one before; NULL: none. */
const zt_interrupt *zt_interrupt_enter(const zt_interrupt *i);

/* Returns the interrupt of the calling thread; NULL: none. */
const zt_interrupt *zt_interrupt_current(void);

#endif
