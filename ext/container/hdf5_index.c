/*
** HDF5: the places of chunks. See hdf5.h, and hdf5.c for the grammar.
**
** B-trees state each chunk's coordinates. Arrays have an entry for each chunk of the largest shape
** (maxshape), in row-major order; in an extensible array the unlimited dimension comes first.
*/
#include "container/hdf5.h"

#include "core/grow.h"
#include "core/sort.h"

#define INDEX_LEVELS 64             /* Of a B-tree of version 1 */
#define INDEX_ARRAY_BITS 63         /* Of the number of an array's entries */
#define INDEX_KEY(rank) (8+8*((size_t)(rank)+1))   /* Bytes of a B-tree's key */
#define INDEX_HEAD 6                /* Signature, version and client of an array's blocks */
enum { INDEX_TREE, INDEX_SINGLE, INDEX_IMPLICIT, INDEX_FIXED, INDEX_EXTENSIBLE, INDEX_TREE2 };

typedef struct index_reader {
  zt_hdf5 *h;
  const zt_hdf5_index *index;
  zt_chunks *chunks;
  zt_hdf5_places *out;
  uint32_t order[ZT_CHUNKS_RANK];    /* Dimensions of an array's entries, outermost first */
  unsigned entry;                    /* Bytes of an array's entry */
  zt_hdf5_block bytes;
} index_reader;

static int index_fail(zt_hdf5 *h, const char *fault, uint64_t address){
  return zt_break(h->err, "HD14", "%s at address %llu", fault, (unsigned long long)address);
}

/* --- Places --- */

/* Add the place of the chunk at these coordinates in the grid. One beyond the array is ignored: the
** array may have been larger. libhdf5 leaves the place of a lone chunk whose bytes were freed. */
static int index_add(index_reader *r, const uint64_t *at, uint64_t address, uint64_t size,
                      uint32_t skipped){
  zt_hdf5 *h = r->h;
  zt_hdf5_places *out = r->out;
  zt_chunk place = { .offset = h->base+address, .length = (uint32_t)size, .skipped = skipped };
  zt_chunk *a;
  if( address==ZT_HDF5_NONE ) return SQLITE_OK;
  for(uint32_t d=0; d<r->chunks->rank; d++){
    const uint64_t chunk = r->chunks->chunk[d];
    if( at[d]>=r->chunks->grid[d] ) return SQLITE_OK;
    place.index = place.index*r->chunks->grid[d]+at[d];
    if( r->index->plain_edges && r->chunks->shape[d]-at[d]*chunk<chunk ){
      place.skipped = UINT32_MAX;
    }
  }
  if( size>UINT32_MAX ) return index_fail(h, "a chunk of more than 4 GiB", address);
  if( !zt_claim(h->size, address, size) ){
    return zt_break(h->err, "HD14", "a chunk of %llu bytes at address %llu goes beyond the end of"
                    " the file", (unsigned long long)size, (unsigned long long)address);
  }
  a = zt_grow(out->a, &out->room, out->n+1, sizeof(*a), h->err);
  if( !a ) return h->err->rc;
  out->a = a;
  out->a[out->n++] = place;
  out->bytes += size;   /* Places whose sum would be more are too many to keep */
  return SQLITE_OK;
}

/* The same for an entry of an array. */
static int index_add_entry(index_reader *r, uint64_t position, zt_hdf5_in *in){
  const zt_chunks *c = r->chunks;
  uint64_t at[ZT_CHUNKS_RANK];
  const uint64_t address = zt_hdf5_take_address(in);
  uint64_t size = c->bytes;
  uint32_t skipped = 0;
  if( r->index->filtered ){
    size = zt_hdf5_take(in, r->entry-r->h->offset_size-4);
    skipped = (uint32_t)zt_hdf5_take(in, 4);
  }
  if( address==ZT_HDF5_NONE ) return SQLITE_OK;
  for(uint32_t k=c->rank; k-->1; ){
    at[r->order[k]] = position%c->across[r->order[k]];
    position /= c->across[r->order[k]];
  }
  at[r->order[0]] = position;
  return index_add(r, at, address, size, skipped);
}

static int index_compare(const void *context, const void *x, const void *y){
  const zt_chunk *a = x, *b = y;
  (void)context;
  return (a->index>b->index)-(a->index<b->index);
}

/* Sort the places, and fail if a chunk has two. */
static int index_sort(index_reader *r){
  zt_hdf5_places *out = r->out;
  const zt_sort_by by = {
    .size = sizeof(*out->a), .compare = index_compare, .interrupt = r->h->b->interrupt
  };
  bool ascend = true;
  for(size_t i=1; i<out->n && ascend; i++) ascend = out->a[i-1].index<out->a[i].index;
  if( ascend ) return SQLITE_OK;
  if( zt_sort(out->a, out->n, &by, r->h->err) ) return r->h->err->rc;
  for(size_t i=1; i<out->n; i++){
    if( out->a[i-1].index==out->a[i].index ){
      return zt_break(r->h->err, "HD14", "chunk %llu has two places",
                      (unsigned long long)out->a[i].index);
    }
  }
  return SQLITE_OK;
}

/* --- B-trees of version 1 --- */

typedef struct index_node {
  uint64_t address;
  unsigned level;                    /* INDEX_LEVELS: any, the root's */
  size_t bounds;                     /* Place of the keys before and behind it, in the node above;
                                     ** of the root there are none */
} index_node;

typedef struct index_todo {
  index_node *a;                    /* Owned */
  size_t n, room;
  zt_hdf5_block bounds;             /* Coordinates, two by two; those of the last node are last */
} index_todo;

static int index_push(index_reader *r, index_todo *todo, index_node node){
  index_node *a = zt_grow(todo->a, &todo->room, todo->n+1, sizeof(*a), r->h->err);
  if( !a ) return r->h->err->rc;
  todo->a = a;
  todo->a[todo->n++] = node;
  return SQLITE_OK;
}

/* A key: what is stored of a chunk, and its coordinates. The one behind those of the dimensions is
** a byte's in an element: 0 but in a last key. */
typedef struct index_key {
  uint64_t at[ZT_CHUNKS_RANK+1];
  uint64_t size;
  uint32_t skipped;
} index_key;

static int index_take_key(index_reader *r, zt_hdf5_in *in, index_key *out){
  const zt_chunks *c = r->chunks;
  bool whole = true;
  out->size = zt_hdf5_take(in, 4);
  out->skipped = (uint32_t)zt_hdf5_take(in, 4);
  for(uint32_t d=0; d<c->rank; d++){
    out->at[d] = zt_hdf5_take(in, 8);
    whole = whole && out->at[d]%c->chunk[d]==0;
    out->at[d] /= c->chunk[d];
  }
  out->at[c->rank] = zt_hdf5_take(in, 8);
  return whole && (out->at[c->rank]==0 || out->at[c->rank]==c->width) ? SQLITE_OK
       : zt_break(r->h->err, "HD14", "a chunk that does not begin in the grid");
}

/* Compare coordinates, row by row: less than 0 if a is before b. */
static int index_order(const index_reader *r, const uint64_t *a, const uint64_t *b){
  uint32_t d = 0;
  while( d<r->chunks->rank && a[d]==b[d] ) d++;
  return a[d]==b[d] ? 0 : a[d]<b[d] ? -1 : 1;
}

/* Push a child between two keys. */
static int index_push_child(index_reader *r, index_todo *todo, index_node child,
                            const index_key *before, const index_key *behind){
  const size_t n = (r->chunks->rank+1)*sizeof(uint64_t);
  child.bounds = todo->bounds.n;
  if( zt_hdf5_put(r->h, before->at, n, &todo->bounds)
   || zt_hdf5_put(r->h, behind->at, n, &todo->bounds) ) return r->h->err->rc;
  return index_push(r, todo, child);
}

/* The keys of a node's chunks are between its bounds, which are dropped. A search from node to
** node finds no other chunk. */
static int index_check_bounds(index_reader *r, index_todo *todo, index_node node,
                              const index_key *first, const index_key *last){
  const size_t n = (r->chunks->rank+1)*sizeof(uint64_t);
  uint64_t before[ZT_CHUNKS_RANK+1] = { 0 }, behind[ZT_CHUNKS_RANK+1] = { 0 };
  if( node.level==INDEX_LEVELS ) return SQLITE_OK;
  memcpy(before, todo->bounds.p+node.bounds, n);
  memcpy(behind, todo->bounds.p+node.bounds+n, n);
  todo->bounds.n = node.bounds;
  /* The key behind all chunks is that of the last one, but in its elements */
  if( index_order(r, before, first->at)<=0 && index_order(r, last->at, behind)<0 ){
    return SQLITE_OK;
  }
  return index_fail(r->h, "keys beyond those of the node above", node.address);
}

/* The keys and children of a node in turn. Keys ascend; the last one is behind all chunks. */
static int index_node_entries(index_reader *r, index_todo *todo, index_node node, unsigned level,
                              uint64_t n){
  zt_hdf5_in in = zt_hdf5_in_of(r->h, (zt_span){ r->bytes.p, r->bytes.n }), last = in;
  const uint64_t entry = (r->bytes.n-INDEX_KEY(r->chunks->rank))/(n ? n : 1);
  index_key key = { .size = 0 }, next = { .size = 0 };
  if( n==0 || index_take_key(r, &in, &key) ) return r->h->err->rc;
  zt_hdf5_skip(&last, (n-1)*entry);
  if( index_take_key(r, &last, &next) || index_check_bounds(r, todo, node, &key, &next) ){
    return r->h->err->rc;
  }
  for(uint64_t i=0; i<n && !r->h->err->rc; i++, key=next){
    const uint64_t child = zt_hdf5_take_address(&in);
    if( index_take_key(r, &in, &next) ) break;
    if( index_order(r, key.at, next.at)>=0 || key.at[r->chunks->rank]!=0 ){
      return index_fail(r->h, "keys that do not ascend in the node", node.address);
    }
    if( level==0 ) index_add(r, key.at, child, key.size, key.skipped);
    else index_push_child(r, todo, (index_node){ .address = child, .level = level-1 }, &key, &next);
  }
  return r->h->err->rc;
}

static int index_node_read(index_reader *r, index_todo *todo, index_node node){
  zt_hdf5 *h = r->h;
  const size_t key = INDEX_KEY(r->chunks->rank), before = 8+2*h->offset_size;
  uint8_t head[8] = { 0 };
  unsigned level;
  uint64_t n;
  if( zt_hdf5_enter(h, node.address) || zt_hdf5_copy(h, node.address, head, 8) ) return h->err->rc;
  level = head[5];
  n = zt_le16(head+6);
  if( memcmp(head, "TREE", 4)!=0 || head[4]!=1 || level>=INDEX_LEVELS
   || (node.level!=INDEX_LEVELS && level!=node.level) ){
    return index_fail(h, "no node of a B-tree of chunks", node.address);
  }
  if( zt_hdf5_read(h, node.address+before, n*(key+h->offset_size)+key, &r->bytes)
   || zt_hdf5_check_room(h, node.address, n, h->chunks,
                         before+h->chunks*(uint64_t)(key+h->offset_size)+key, "HD14") ){
    return h->err->rc;
  }
  return index_node_entries(r, todo, node, level, n);
}

static int index_tree(index_reader *r){
  index_todo todo = { .a = NULL };
  index_push(r, &todo, (index_node){ .address = r->index->address, .level = INDEX_LEVELS });
  while( todo.n>0 && !r->h->err->rc ) index_node_read(r, &todo, todo.a[--todo.n]);
  sqlite3_free(todo.a);
  zt_hdf5_block_clear(&todo.bounds);
  return r->h->err->rc;
}

/* --- B-trees of version 2 --- */

static void index_take_record(zt_hdf5 *h, void *context, const zt_hdf5_record *record){
  index_reader *r = context;
  zt_hdf5_in in = zt_hdf5_in_of(h, (zt_span){ record->p, record->n });
  const unsigned fixed = h->offset_size+8*r->chunks->rank;
  const uint64_t address = zt_hdf5_take_address(&in);
  uint64_t at[ZT_CHUNKS_RANK], size = r->chunks->bytes;
  uint32_t skipped = 0;
  if( r->index->filtered!=(record->type==11) || record->n<fixed
   || (r->index->filtered && (record->n<fixed+5 || record->n>fixed+12)) ){
    index_fail(h, "a B-tree with records of another kind", r->index->address);
    return;
  }
  if( r->index->filtered ){
    size = zt_hdf5_take(&in, record->n-fixed-4);
    skipped = (uint32_t)zt_hdf5_take(&in, 4);
  }
  for(uint32_t d=0; d<r->chunks->rank; d++) at[d] = zt_hdf5_take(&in, 8);
  index_add(r, at, address, size, skipped);
}

/* --- Arrays --- */

/* The bytes of n entries at an address, and a checksum. */
static int index_page(index_reader *r, uint64_t address, uint64_t position, uint64_t n){
  zt_hdf5 *h = r->h;
  zt_hdf5_in in;
  uint64_t bytes;
  if( !zt_mul64(n, r->entry, &bytes) || bytes>h->size ) bytes = h->size;
  if( zt_hdf5_read(h, address, bytes+4, &r->bytes)
   || zt_hdf5_check_sum(h, r->bytes.p, r->bytes.n, address) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ r->bytes.p, r->bytes.n-4 });
  for(uint64_t i=0; i<n && !h->err->rc; i++) index_add_entry(r, position+i, &in);
  return h->err->rc;
}

/* The head of an array's block. Its checksum is checked if `whole` bytes are all of it. */
static int index_block(index_reader *r, const char *signature, uint64_t address, uint64_t whole){
  zt_hdf5 *h = r->h;
  if( whole>h->size ) return index_fail(h, "a block of more bytes than the file", address);
  if( zt_hdf5_enter(h, address) || zt_hdf5_read(h, address, whole, &r->bytes)
   || zt_hdf5_check_head(h, r->bytes.p, signature, 0, address, "HD14") ) return h->err->rc;
  return zt_hdf5_check_sum(h, r->bytes.p, r->bytes.n, address);
}

/* Check an entry's bytes: an address; of a filtered chunk also a size and a mask. */
static int index_check_entry(index_reader *r, unsigned bytes){
  const unsigned address = r->h->offset_size;
  r->entry = bytes;
  if( r->index->filtered ? bytes>=address+5 && bytes<=address+12 : bytes==address ){
    return SQLITE_OK;
  }
  return index_fail(r->h, "an array with entries of another size", r->index->address);
}

static bool index_bit(const uint8_t *bits, uint64_t i){
  return bits[i/8]>>(7-i%8) & 1;
}

/* n entries in pages, from an address on. Bit first+i of the bitmap tells whether page i was ever
** written. */
typedef struct index_paged {
  const uint8_t *bits;
  uint64_t first;
  unsigned page_bits;
} index_paged;

static int index_pages(index_reader *r, const index_paged *p, uint64_t address,
                        uint64_t position, uint64_t n){
  const uint64_t page = (uint64_t)1<<p->page_bits, pages = n/page+(n%page>0);
  for(uint64_t i=0; i<pages && !r->h->err->rc; i++){
    const uint64_t m = n-i*page<page ? n-i*page : page;
    if( !index_bit(p->bits, p->first+i) ) continue;
    index_page(r, address+i*(page*r->entry+4), position+i*page, m);
  }
  return r->h->err->rc;
}

static int index_fixed(index_reader *r){
  zt_hdf5 *h = r->h;
  const uint64_t at = r->index->address;
  const unsigned size = INDEX_HEAD+2+h->length_size+h->offset_size+4;
  const unsigned head = INDEX_HEAD+h->offset_size;
  uint64_t n, block, page, pages, whole;
  unsigned bits;
  zt_hdf5_block copy = { NULL, 0, 0 };
  zt_hdf5_in in;
  if( index_block(r, "FAHD", at, size) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ r->bytes.p+INDEX_HEAD, r->bytes.n-INDEX_HEAD-4 });
  if( index_check_entry(r, (unsigned)zt_hdf5_take(&in, 1)) ) return h->err->rc;
  bits = (unsigned)zt_hdf5_take(&in, 1);
  n = zt_hdf5_take_length(&in);
  block = zt_hdf5_take_address(&in);
  if( block==ZT_HDF5_NONE || n==0 ) return SQLITE_OK;
  if( n>h->size ) return index_fail(h, "an array of more entries than the file has bytes", at);
  page = bits<INDEX_ARRAY_BITS ? (uint64_t)1<<bits : UINT64_MAX;
  if( n<=page ){
    whole = head+n*r->entry+4;
    if( index_block(r, "FADB", block, whole) ) return h->err->rc;
    in = zt_hdf5_in_of(h, (zt_span){ r->bytes.p+head, r->bytes.n-head-4 });
    for(uint64_t i=0; i<n && !h->err->rc; i++) index_add_entry(r, i, &in);
    return h->err->rc;
  }
  pages = n/page+(n%page>0);
  whole = head+(pages+7)/8+4;
  if( index_block(r, "FADB", block, whole)==SQLITE_OK
   && zt_hdf5_put(h, r->bytes.p, r->bytes.n, &copy)==SQLITE_OK ){   /* Pages overwrite r->bytes */
    const index_paged paged = { copy.p+head, 0, bits };
    index_pages(r, &paged, block+whole, 0, n);
  }
  zt_hdf5_block_clear(&copy);
  return h->err->rc;
}

/* --- Extensible arrays --- */

typedef struct index_array {
  unsigned bits;                     /* Of the number of entries */
  unsigned page_bits;
  uint64_t first;                    /* Entries of the index block */
  uint64_t least;                    /* Entries of the smallest data block */
  unsigned direct;                   /* Super blocks without a block of their own */
  unsigned blocks;                   /* Super blocks in all */
} index_array;

/* A data block with n entries from `position` on. `paged` is NULL if it has no pages. */
static int index_data_block(index_reader *r, const index_array *a, uint64_t address,
                             uint64_t position, uint64_t n, const index_paged *paged){
  zt_hdf5 *h = r->h;
  const size_t head = INDEX_HEAD+h->offset_size+(a->bits+7)/8;
  zt_hdf5_in in;
  if( address==ZT_HDF5_NONE ) return SQLITE_OK;
  if( paged ){
    if( index_block(r, "EADB", address, head+4) ) return h->err->rc;
    return index_pages(r, paged, address+head+4, position, n);
  }
  if( n>h->size || index_block(r, "EADB", address, head+n*r->entry+4) ){
    return index_fail(h, "a block of more entries than the file has bytes", address);
  }
  in = zt_hdf5_in_of(h, (zt_span){ r->bytes.p+head, r->bytes.n-head-4 });
  for(uint64_t i=0; i<n && !h->err->rc; i++) index_add_entry(r, position+i, &in);
  return h->err->rc;
}

/* The data blocks of super block u, at addresses in `in`. `bits` are those of their pages; NULL:
** they have none. */
static int index_data_blocks(index_reader *r, const index_array *a, unsigned u, zt_hdf5_in *in,
                              const uint8_t *bits){
  const uint64_t count = (uint64_t)1<<(u/2), n = a->least<<((u+1)/2);
  /* Entries of the super blocks before: least * (2^u - 1) */
  uint64_t position = a->first+a->least*(((uint64_t)1<<u)-1);
  for(uint64_t i=0; i<count && !r->h->err->rc; i++, position+=n){
    const index_paged paged = { bits, i*(n>>a->page_bits), a->page_bits };
    const uint64_t address = zt_hdf5_take_address(in);
    index_data_block(r, a, address, position, n, bits ? &paged : NULL);
  }
  return r->h->err->rc;
}

static int index_super_block(index_reader *r, const index_array *a, unsigned u,
                              uint64_t address){
  zt_hdf5 *h = r->h;
  const size_t head = INDEX_HEAD+h->offset_size+(a->bits+7)/8;
  const uint64_t count = (uint64_t)1<<(u/2), n = a->least<<((u+1)/2);
  const uint64_t page = (uint64_t)1<<a->page_bits;
  const bool paged = n>page;
  const uint64_t bytes = paged ? (n/page+7)/8 : 0;
  zt_hdf5_block copy = { NULL, 0, 0 };
  zt_hdf5_in in;
  uint64_t all;
  if( address==ZT_HDF5_NONE ) return SQLITE_OK;
  if( !zt_mul64(count, bytes+h->offset_size, &all) || all>h->size ){
    return index_fail(h, "a block of more bytes than the file", address);
  }
  if( index_block(r, "EASB", address, head+all+4)
   || zt_hdf5_put(h, r->bytes.p, r->bytes.n, &copy) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ copy.p+head+count*bytes, (size_t)(count*h->offset_size) });
  index_data_blocks(r, a, u, &in, paged ? copy.p+head : NULL);
  zt_hdf5_block_clear(&copy);
  return h->err->rc;
}

static int index_index_block(index_reader *r, const index_array *a, uint64_t address){
  zt_hdf5 *h = r->h;
  const size_t head = INDEX_HEAD+h->offset_size;
  const uint64_t pointers = 2*(((uint64_t)1<<(a->direct/2))-1)+(a->blocks-a->direct);
  const uint64_t size = head+a->first*r->entry+pointers*h->offset_size+4;
  zt_hdf5_block copy = { NULL, 0, 0 };
  zt_hdf5_in in;
  if( index_block(r, "EAIB", address, size)
   || zt_hdf5_put(h, r->bytes.p, r->bytes.n, &copy) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ copy.p+head, copy.n-head-4 });
  for(uint64_t i=0; i<a->first && !h->err->rc; i++) index_add_entry(r, i, &in);
  for(unsigned u=0; u<a->direct && !h->err->rc; u++) index_data_blocks(r, a, u, &in, NULL);
  for(unsigned u=a->direct; u<a->blocks && !h->err->rc; u++){
    index_super_block(r, a, u, zt_hdf5_take_address(&in));
  }
  zt_hdf5_block_clear(&copy);
  return h->err->rc;
}

static int index_extensible(index_reader *r){
  zt_hdf5 *h = r->h;
  const uint64_t at = r->index->address;
  const unsigned size = INDEX_HEAD+6+6*h->length_size+h->offset_size+4;
  index_array a = { 0 };
  uint64_t pointers, block;
  unsigned log;
  zt_hdf5_in in;
  if( index_block(r, "EAHD", at, size) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ r->bytes.p+INDEX_HEAD, r->bytes.n-INDEX_HEAD-4 });
  if( index_check_entry(r, (unsigned)zt_hdf5_take(&in, 1)) ) return h->err->rc;
  a.bits = (unsigned)zt_hdf5_take(&in, 1);
  a.first = zt_hdf5_take(&in, 1);
  a.least = zt_hdf5_take(&in, 1);
  pointers = zt_hdf5_take(&in, 1);
  a.page_bits = (unsigned)zt_hdf5_take(&in, 1);
  zt_hdf5_skip(&in, 6*(uint64_t)h->length_size);
  block = zt_hdf5_take_address(&in);
  log = zt_hdf5_log2(a.least);
  if( a.bits<1 || a.bits>INDEX_ARRAY_BITS || a.least==0 || a.least!=(uint64_t)1<<log || log>a.bits
   || pointers==0 || pointers!=(uint64_t)1<<zt_hdf5_log2(pointers)
   || a.page_bits>=INDEX_ARRAY_BITS ){
    return index_fail(h, "an extensible array of a wrong form", at);
  }
  a.direct = 2*zt_hdf5_log2(pointers);
  a.blocks = 1+a.bits-log;
  if( a.direct>a.blocks ) return index_fail(h, "an extensible array of a wrong form", at);
  return block==ZT_HDF5_NONE ? SQLITE_OK : index_index_block(r, &a, block);
}

/* --- All --- */

/* The grid of the largest shape. An unlimited dimension is the first of an extensible array. */
static void index_across(index_reader *r, const zt_hdf5_space *space){
  zt_chunks *c = r->chunks;
  uint32_t first = 0;
  for(uint32_t d=0; d<c->rank; d++){
    const uint64_t most = space->most[d];
    if( most==UINT64_MAX ) first = d;
    c->across[d] = most==UINT64_MAX ? c->grid[d] : most/c->chunk[d]+(most%c->chunk[d]>0);
    if( c->across[d]==0 ) c->across[d] = 1;   /* It divides */
  }
  if( r->index->kind!=INDEX_EXTENSIBLE ) first = 0;
  r->order[0] = first;
  for(uint32_t d=0, k=1; d<c->rank; d++) if( d!=first ) r->order[k++] = d;
}

/* Chunks one behind the other. */
static int index_implicit(index_reader *r){
  zt_chunks *c = r->chunks;
  uint64_t bytes = c->bytes;
  for(uint32_t d=0; d<c->rank; d++){
    if( !zt_mul64(bytes, c->across[d], &bytes) ) bytes = UINT64_MAX;
  }
  if( r->index->filtered || !zt_claim(r->h->size, r->index->address, bytes) ){
    return zt_break(r->h->err, "HD14", "chunks beyond the end of the file");
  }
  c->computed = true;
  c->first = r->h->base+r->index->address;
  r->out->bytes = c->n*c->bytes;
  return SQLITE_OK;
}

static int index_single(index_reader *r){
  const uint64_t at[ZT_CHUNKS_RANK] = { 0 };
  const uint64_t size = r->index->filtered ? r->index->size : r->chunks->bytes;
  return index_add(r, at, r->index->address, size, r->index->skipped);
}

int zt_hdf5_chunks(zt_hdf5 *h, const zt_hdf5_index *index, zt_chunks *chunks,
                   const zt_hdf5_space *space, zt_hdf5_places *out){
  index_reader r = { .h = h, .index = index, .chunks = chunks, .out = out };
  index_across(&r, space);
  if( index->address==ZT_HDF5_NONE ) return SQLITE_OK;
  switch( index->kind ){
    case INDEX_TREE: index_tree(&r); break;
    case INDEX_SINGLE: index_single(&r); break;
    case INDEX_IMPLICIT: index_implicit(&r); break;
    case INDEX_FIXED: index_fixed(&r); break;
    case INDEX_EXTENSIBLE: index_extensible(&r); break;
    case INDEX_TREE2: zt_hdf5_btree2(h, index->address, 10, index_take_record, &r); break;
    default: zt_break(h->err, "HD14", "an unknown kind of index of chunks"); break;
  }
  if( !h->err->rc ) index_sort(&r);
  zt_hdf5_block_clear(&r.bytes);
  return h->err->rc;
}
