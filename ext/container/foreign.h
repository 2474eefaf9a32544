/* Formats that are recognized but not read. Interface to code in foreign.c. */
#ifndef ZT_CONTAINER_FOREIGN_H
#define ZT_CONTAINER_FOREIGN_H

#include "container/driver.h"

/* Record the failure of a file that no driver claims: T2 if its bytes tell the format for certain,
** else T1. */
int zt_foreign_fail(const zt_head_tail *input, zt_error *err);

#endif
