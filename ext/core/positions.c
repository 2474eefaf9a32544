/* A growing array of 32-bit numbers. See positions.h. */
#include "core/positions.h"

#include <assert.h>
#include "core/host.h"
#include "core/os.h"

static bool positions_resize(zt_positions *p, uint32_t capacity){
  uint32_t *a = sqlite3_realloc64(p->a, (uint64_t)capacity*sizeof(*a));
  if( !a ) return false;
  p->a = a;
  p->capacity = capacity;
  return true;
}

void zt_positions_reserve(zt_positions *p, uint64_t n){
  if( n<=p->capacity || n>UINT32_MAX || !positions_resize(p, (uint32_t)n) ) return;
  zt_os_advise_large(p->a, (size_t)n*sizeof(*p->a));
}

int zt_positions_grow(zt_positions *p, zt_error *err){
  uint32_t capacity = p->capacity<8 ? 8 : p->capacity + p->capacity/2;
  return positions_resize(p, capacity) ? 0 : zt_fail_nomem(err);
}

bool zt_positions_room(zt_positions *p, uint32_t n){
  if( n>p->capacity-p->n ) zt_positions_reserve(p, (uint64_t)p->n+n);
  return n<=p->capacity-p->n;
}

void zt_positions_append(zt_positions *p, const uint32_t *a, uint32_t n){
  assert( n<=p->capacity-p->n );
  memcpy(p->a+p->n, a, n*sizeof(*a));
  p->n += n;
}

void zt_positions_trim(zt_positions *p){
  if( p->n>0 && p->n<p->capacity ) positions_resize(p, p->n);   /* Without effect if that fails */
}

void zt_positions_clear(zt_positions *p){
  sqlite3_free(p->a);
  *p = (zt_positions){ 0 };
}
