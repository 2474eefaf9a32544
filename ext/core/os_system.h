/* What os.c and the file of the system, os_posix.c or os_windows.c, tell each other. */
#ifndef ZT_CORE_OS_SYSTEM_H
#define ZT_CORE_OS_SYSTEM_H

#include "core/os.h"

#define ZT_SECOND ((int64_t)1000000000)

/* Record that something of this kind is no file to open. Returns -1. */
zt_file zt_os_refuse(zt_kind kind, zt_error *err);

/* Record that the user has no home directory. Returns NULL. */
char *zt_os_homeless(zt_error *err);

/* The time, and the longest tick of the clock that file times come from. False if there is
** no clock. */
bool zt_os_now(int64_t *now, int64_t *tick);

#endif
