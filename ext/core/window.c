/* A buffer for pieces of a file. See window.h. */
#include "core/window.h"

#include <stdint.h>
#include "core/host.h"

#define WINDOW_PAGE ((uintptr_t)4096)
#define WINDOW_LEAST ((size_t)4*4096)   /* Smaller buffers begin at a multiple of WINDOW_ALIGN */
#define WINDOW_ALIGN ((uintptr_t)16)

/* The address from the allocator lies right before the first byte. */
void *zt_window_new(size_t n){
  const uintptr_t align = n<WINDOW_LEAST ? WINDOW_ALIGN : WINDOW_PAGE;
  void **base = n<=SIZE_MAX-WINDOW_PAGE ? sqlite3_malloc64(n+align) : NULL, **window;
  if( !base ) return NULL;
  window = (void**)(((uintptr_t)base + align) & ~(align-1));
  window[-1] = base;
  return window;
}

void zt_window_free(void *window){
  if( window ) sqlite3_free(((void**)window)[-1]);
}
