/* Whom a long loop asks, every few MB or thousand steps, whether it shall go on. */
#ifndef ZT_CORE_INTERRUPT_H
#define ZT_CORE_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>
#include "core/error.h"

typedef struct zt_interrupt {
  bool (*asked)(void *context);   /* True: stop. NULL: nobody asks */
  void *context;                  /* Borrowed */
} zt_interrupt;

/* Fail with SQLITE_INTERRUPT if the loop shall stop. */
int zt_interrupt_check(const zt_interrupt *i, zt_error *err);

#endif
