/* Bytes of a file around small components. See ahead.h. */
#include "tensor/ahead.h"

#include "core/host.h"
#include "core/window.h"
#include "tensor/tensor.h"

#define AHEAD_SMALL ((uint64_t)16 << 10)   /* Bytes of a small component, at most, */
#define AHEAD_GAP ((uint64_t)4 << 10)      /* and between two that lie side by side */
#define AHEAD_BYTES ((uint64_t)64 << 10)   /* That are read at once */

void zt_ahead_clear(zt_ahead *a){
  zt_window_free(a->p);
  *a = (zt_ahead){ .p = NULL };
}

void zt_ahead_leave(zt_ahead *a){
  a->n = 0;
  a->at = a->next = 0;
}

/* Read from an offset on. False: that failed. The bytes may be none that are asked for, so that
** this is no failure: the component is then read alone. */
static bool ahead_fill(zt_ahead *a, zt_source *source, uint64_t offset){
  const uint64_t left = zt_source_size(source)-offset;
  const size_t n = (size_t)(left<AHEAD_BYTES ? left : AHEAD_BYTES);
  zt_error failed = ZT_ERROR_NONE;
  a->n = 0;
  if( !a->p ) a->p = zt_window_new(AHEAD_BYTES);
  if( !a->p ) return false;
  if( zt_source_read(source, offset, a->p, n, &failed)==SQLITE_OK
   && zt_source_unchanged(source, &failed)==SQLITE_OK ){
    a->at = offset;
    a->n = n;
  }
  zt_error_clear(&failed);
  return a->n>0;
}

bool zt_ahead_has(zt_ahead *a, zt_source *source, const zt_component *c, zt_source *out){
  const bool follows = c->offset>=a->next && c->offset-a->next<AHEAD_GAP;
  if( c->length==0 || c->length>AHEAD_SMALL || !zt_tensor_is_plain(c)
   || !zt_source_identity(source)
   || !zt_claim(zt_source_size(source), c->offset, c->length) ) return false;
  a->next = c->offset+c->length;
  if( (c->offset<a->at || !zt_claim(a->n, c->offset-a->at, c->length))
   && !(follows && ahead_fill(a, source, c->offset)) ) return false;
  *out = zt_source_with(source, a->at, (zt_span){ a->p, a->n });
  return true;
}
