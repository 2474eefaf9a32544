/* Stored bytes in the order of the file. See blobs.h. */
#include "container/blobs.h"

#include <stdlib.h>
#include "core/host.h"

/* By offset, length, and component: no two are equal. */
static int compare(const void *a, const void *b){
  const zt_blob *x = a, *y = b;
  if( x->offset!=y->offset ) return x->offset<y->offset ? -1 : 1;
  if( x->length!=y->length ) return x->length<y->length ? -1 : 1;
  return x->component<y->component ? -1 : 1;
}

int zt_blobs_sort(const zt_container *c, zt_blobs *out, zt_error *err){
  bool sorted = true;
  *out = (zt_blobs){ .a = sqlite3_malloc64(((uint64_t)zt_container_components(c)+1)*sizeof(*out->a)) };
  if( !out->a ) return zt_fail_nomem(err);
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    for(uint32_t k=zt_container_first(c, i); k<zt_container_first(c, i+1); k++){
      zt_component component;
      zt_container_component(c, i, k, ZT_COMPONENT_OFFSET|ZT_COMPONENT_LENGTH, &component);
      if( component.length==0 ) continue;
      out->a[out->n] = (zt_blob){ component.offset, component.length, i, k };
      if( out->n && compare(&out->a[out->n-1], &out->a[out->n])>0 ) sorted = false;
      out->n++;
    }
  }
  if( !sorted ) qsort(out->a, out->n, sizeof(*out->a), compare);
  return SQLITE_OK;
}

void zt_blobs_clear(zt_blobs *b){
  sqlite3_free(b->a);
  *b = (zt_blobs){ NULL, 0 };
}
