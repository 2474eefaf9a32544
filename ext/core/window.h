/*
** A buffer for pieces of a file. It begins at a page: processors take three to ten times as long to
** copy to memory that begins 1 to 31 bytes behind the place of the file's bytes in their page, as
** memory from an allocator often does.
*/
#ifndef ZT_CORE_WINDOW_H
#define ZT_CORE_WINDOW_H

#include <stddef.h>

/* Returns n bytes; NULL if memory is short. */
void *zt_window_new(size_t n);
void zt_window_free(void *window);   /* NULL is allowed */

#endif
