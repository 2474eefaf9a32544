/* Paths and errors of Windows, for os_windows.c and os_write_windows.c. Code in os_windows.c. */
#ifndef ZT_CORE_OS_WIDE_H
#define ZT_CORE_OS_WIDE_H

#ifdef _WIN32
#ifndef _WIN32_WINNT
# define _WIN32_WINNT 0x0601
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#define ZT_OS_SHORT_PATH (MAX_PATH-12)   /* UTF-16 units of a path that every function accepts
                                         ** unchanged */

/* A path in UTF-16. */
typedef struct zt_os_wide {
  wchar_t *z;                        /* Owned, or `brief` */
  wchar_t brief[ZT_OS_SHORT_PATH];
} zt_os_wide;

/* Converts a path and appends suffix. Returns 0 or the errno value. zt_os_wide_clear() must follow,
** even after a failure. */
int zt_os_widen(zt_os_wide *w, const char *path, const wchar_t *suffix);
void zt_os_wide_clear(zt_os_wide *w);

int zt_os_errno_of(DWORD error);
#endif
#endif
