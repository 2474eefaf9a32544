/* Interface between os.c and os_posix.c or os_windows.c. */
#ifndef ZT_CORE_OS_SYSTEM_H
#define ZT_CORE_OS_SYSTEM_H

#include "core/os.h"

#define ZT_SECOND ((int64_t)1000000000)

/* Opens any file for reading without waiting for it. Returns -1 with the errno value in
** *error_number after a failure. */
zt_file zt_os_open_any(const char *path, int *error_number);

/* Reads up to n bytes in one call. Returns 0 at the end of the file; -1 with the errno value in
** *error_number after a failure. */
int64_t zt_os_read_once(zt_file file, uint64_t offset, void *buffer, size_t n, int *error_number);

/* Records that the user has no home directory. Returns NULL. */
char *zt_os_homeless(zt_error *err);

/* Returns the time, and the longest tick of the clock of file times. False without a clock. */
bool zt_os_now(int64_t *now, int64_t *tick);

#endif
