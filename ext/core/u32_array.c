/* A growing array of 32-bit numbers. See u32_array.h. */
#include "core/u32_array.h"

#include <assert.h>
#include "core/host.h"
#include "core/os.h"

static bool u32_array_resize(zt_u32_array *p, uint32_t capacity){
  uint32_t *a = sqlite3_realloc64(p->a, (uint64_t)capacity*sizeof(*a));
  if( !a ) return false;
  p->a = a;
  p->capacity = capacity;
  return true;
}

void zt_u32_array_reserve(zt_u32_array *p, uint64_t n){
  if( n<=p->capacity || n>UINT32_MAX || !u32_array_resize(p, (uint32_t)n) ) return;
  zt_os_advise_large(p->a, (size_t)n*sizeof(*p->a));
}

int zt_u32_array_grow(zt_u32_array *p, zt_error *err){
  uint32_t capacity = p->capacity<8 ? 8 : p->capacity + p->capacity/2;
  return u32_array_resize(p, capacity) ? 0 : zt_fail_nomem(err);
}

bool zt_u32_array_room(zt_u32_array *p, uint32_t n){
  if( n>p->capacity-p->n ) zt_u32_array_reserve(p, (uint64_t)p->n+n);
  return n<=p->capacity-p->n;
}

void zt_u32_array_append(zt_u32_array *p, const uint32_t *a, uint32_t n){
  assert( n<=p->capacity-p->n );
  memcpy(p->a+p->n, a, n*sizeof(*a));
  p->n += n;
}

void zt_u32_array_trim(zt_u32_array *p){
  if( p->n>0 && p->n<p->capacity ) u32_array_resize(p, p->n);   /* A failure changes nothing */
}

void zt_u32_array_clear(zt_u32_array *p){
  sqlite3_free(p->a);
  *p = (zt_u32_array){ 0 };
}
