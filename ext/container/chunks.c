/* Components made of chunks. See chunks.h. */
#include "container/chunks.h"

#include "container/builder.h"

/* Kept: the head, the fill value, and the places. */
typedef struct chunks_head {
  uint32_t rank, width, filters, fill, computed, stored;
  uint64_t first, bytes;
} chunks_head;

static int chunks_put(zt_builder *b, const void *p, size_t n){
  uint32_t at;
  return zt_builder_keep(b, p, n, &at);
}

int zt_chunks_keep(zt_builder *b, const zt_chunks *chunks, const uint8_t *fill, const zt_chunk *a,
                   uint32_t n, uint32_t *at, uint32_t *size){
  const chunks_head head = {
    .rank = chunks->rank, .width = chunks->width, .filters = chunks->filters,
    .fill = chunks->fill, .computed = chunks->computed, .stored = n, .first = chunks->first,
    .bytes = chunks->bytes
  };
  const size_t dimensions = chunks->rank*sizeof(uint64_t);
  if( zt_builder_keep(b, &head, sizeof(head), at)
   || chunks_put(b, chunks->shape, dimensions) || chunks_put(b, chunks->chunk, dimensions)
   || chunks_put(b, chunks->across, dimensions)
   || chunks_put(b, chunks->filter, chunks->filters*sizeof(*chunks->filter))
   || chunks_put(b, fill, chunks->fill)
   || chunks_put(b, a, (size_t)n*sizeof(*a)) ) return b->err->rc;
  *size = (uint32_t)(b->container->kept.n-*at);
  return SQLITE_OK;
}

static const uint8_t *chunks_take(const uint8_t *p, void *to, size_t n){
  memcpy(to, p, n);
  return p+n;
}

void zt_chunks_count(zt_chunks *c){
  c->n = 1;
  for(uint32_t d=0; d<c->rank; d++){
    c->grid[d] = c->shape[d]/c->chunk[d]+(c->shape[d]%c->chunk[d]>0);
    c->n *= c->grid[d];
  }
}

void zt_chunks_read(zt_span kept, zt_chunks *out){
  chunks_head head;
  const uint8_t *p = chunks_take(kept.p, &head, sizeof(head));
  out->rank = head.rank;
  out->width = head.width;
  out->filters = head.filters;
  out->fill = head.fill;
  out->computed = head.computed!=0;
  out->stored = head.stored;
  out->first = head.first;
  out->bytes = head.bytes;
  p = chunks_take(p, out->shape, head.rank*sizeof(uint64_t));
  p = chunks_take(p, out->chunk, head.rank*sizeof(uint64_t));
  p = chunks_take(p, out->across, head.rank*sizeof(uint64_t));
  p = chunks_take(p, out->filter, head.filters*sizeof(*out->filter));
  out->fill_value = p;
  out->table = p+head.fill;
  zt_chunks_count(out);
}

/* Position of a chunk in the order of the stored grid. */
static uint64_t chunks_position(const zt_chunks *c, uint64_t i){
  uint64_t position = 0, step = 1;
  for(uint32_t d=c->rank; d-->0; ){
    position += i%c->grid[d]*step;
    step *= c->across[d];
    i /= c->grid[d];
  }
  return position;
}

static zt_chunk chunks_entry(const zt_chunks *c, uint64_t k){
  zt_chunk entry;
  memcpy(&entry, c->table+k*sizeof(entry), sizeof(entry));
  return entry;
}

/* The first entry with an index of at least i; c->stored if there is none. */
static uint64_t chunks_search(const zt_chunks *c, uint64_t i){
  uint64_t low = 0, high = c->stored;
  if( i<c->stored && chunks_entry(c, i).index==i ) return i;   /* None before it is absent */
  while( low<high ){
    const uint64_t middle = low+(high-low)/2;
    if( chunks_entry(c, middle).index<i ) low = middle+1;
    else high = middle;
  }
  return low;
}

bool zt_chunks_find(const zt_chunks *c, uint64_t i, zt_chunk *out){
  uint64_t k;
  if( c->computed ){
    *out = (zt_chunk){ i, c->first+chunks_position(c, i)*c->bytes, (uint32_t)c->bytes, 0 };
    return true;
  }
  k = chunks_search(c, i);
  if( k==c->stored ) return false;
  *out = chunks_entry(c, k);
  return out->index==i;
}

bool zt_chunks_next(const zt_chunks *c, uint64_t i, uint64_t *out){
  const uint64_t k = c->computed ? 0 : chunks_search(c, i);
  *out = i;
  if( c->computed ) return i<c->n;
  if( k==c->stored ) return false;
  *out = chunks_entry(c, k).index;
  return true;
}
