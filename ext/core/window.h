/*
** Memory that bytes of a file are read into, piece after piece. It begins at a page: where it
** begins 1 to 31 bytes behind the place in a page that the file's bytes have, as memory from an
** allocator often does, processors take three to ten times as long to copy them.
*/
#ifndef ZT_CORE_WINDOW_H
#define ZT_CORE_WINDOW_H

#include <stddef.h>

/* n bytes. NULL: out of memory. */
void *zt_window_new(size_t n);
void zt_window_free(void *window);   /* NULL: nothing */

#endif
