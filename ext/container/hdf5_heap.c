/*
** HDF5: fractal heaps, which hold links and attributes, and global heaps, which hold text and
** arrays of variable length. See hdf5.h, and hdf5.c for the grammar.
**
** The blocks of a fractal heap form a table of rows of `width` blocks. Blocks of the first two rows
** have `start` bytes, those of each further row twice as many as of the row before. Up to `largest`
** bytes they hold objects (direct blocks); larger ones are such tables themselves.
**
** A group may have its links compressed (H5Pset_deflate): then each direct block is a zlib stream,
** and its entry in the table has the stored bytes' number, too, and a mask of filters that were not
** applied. Blocks are decoded once, and kept: links are not visited in their order. No file is
** worth more of them than HEAP_UNPACKED blocks of HEAP_UNPACKED_BYTES in all.
*/
#include "container/hdf5.h"

#include "core/grow.h"
#include "core/inflate.h"

#define HEAP_ID_MAX 64
#define HEAP_BLOCK_MAX ((uint64_t)1 << 30)   /* Bytes of a direct block */
#define HEAP_FLAG_SUMS 0x02
#define HEAP_FILTERS 64                           /* Bytes of the filters' message */
#define HEAP_DEFLATE 1                            /* The number of a filter */
#define HEAP_DEFLATE_TIMES 1032                   /* Bytes that a byte of deflate may become */
#define HEAP_UNPACKED 16384
#define HEAP_UNPACKED_BYTES ((uint64_t)64 << 20)
#define HEAP_GLOBAL_OBJECTS 65536                 /* Indices of a collection */
#define HEAP_GLOBAL_HEAD 16   /* Bytes of a collection's and an object's head: padded to 8 */

/* --- Fractal heaps --- */

static int heap_fail(zt_hdf5 *h, const zt_hdf5_heap *heap, const char *fault){
  return zt_break(h->err, "HD6", "%s in the heap at address %llu", fault,
                  (unsigned long long)heap->address);
}

static bool heap_is_power(uint64_t n){
  return n>0 && (n & (n-1))==0;
}

static int heap_check(zt_hdf5 *h, zt_hdf5_heap *out, uint64_t largest_object){
  if( out->id_length<1 || out->id_length>HEAP_ID_MAX ){
    return heap_fail(h, out, "a wrong ID length");
  }
  if( !heap_is_power(out->width) || !heap_is_power(out->start) || !heap_is_power(out->largest)
   || out->largest<out->start || out->largest>HEAP_BLOCK_MAX || out->bits<1 || out->bits>64 ){
    return heap_fail(h, out, "a wrong table of blocks");
  }
  out->offset_width = (out->bits+7)/8;
  out->length_width = zt_hdf5_width(out->largest<largest_object ? out->largest : largest_object);
  return SQLITE_OK;
}

/* HD20 */
static int heap_fail_filters(zt_hdf5 *h, const zt_hdf5_heap *heap){
  return zt_break(h->err, "HD20", "filters, which are not read, in the heap at address %llu",
                  (unsigned long long)heap->address);
}

/* True for a message of the filter deflate alone, of version 1 or 2. */
static bool heap_is_deflated(zt_span filters){
  const size_t at = filters.n>0 && filters.p[0]==1 ? 8 : 2;
  return filters.n>=at+2 && (filters.p[0]==1 || filters.p[0]==2) && filters.p[1]==1
      && zt_le16(filters.p+at)==HEAP_DEFLATE;
}

int zt_hdf5_heap_open(zt_hdf5 *h, uint64_t address, zt_hdf5_heap *out){
  const unsigned offset = h->offset_size, length = h->length_size;
  size_t size = 26+3*offset+12*length;
  unsigned flags, filters;
  uint64_t largest_object;
  uint8_t head[160+HEAP_FILTERS];
  zt_hdf5_in in;
  *out = (zt_hdf5_heap){ .address = address };
  if( zt_hdf5_copy(h, address, head, 9)
   || zt_hdf5_check_head(h, head, "FRHP", 0, address, "HD6") ) return h->err->rc;
  out->id_length = zt_le16(head+5);
  filters = zt_le16(head+7);
  if( filters>HEAP_FILTERS ) return heap_fail_filters(h, out);
  if( filters>0 ) size += length+4+filters;
  if( zt_hdf5_copy(h, address, head, size) || zt_hdf5_check_sum(h, head, size, address) ){
    return h->err->rc;
  }
  in = zt_hdf5_in_of(h, (zt_span){ head+9, size-13 });
  flags = (unsigned)zt_hdf5_take(&in, 1);
  out->sums = (flags & HEAP_FLAG_SUMS)!=0;
  largest_object = zt_hdf5_take(&in, 4);
  zt_hdf5_skip(&in, length);
  out->huge = zt_hdf5_take_address(&in);
  zt_hdf5_skip(&in, length+offset+8*(uint64_t)length);
  out->width = zt_hdf5_take(&in, 2);
  out->start = zt_hdf5_take_length(&in);
  out->largest = zt_hdf5_take_length(&in);
  out->bits = (unsigned)zt_hdf5_take(&in, 2);
  zt_hdf5_skip(&in, 2);
  out->root = zt_hdf5_take_address(&in);
  out->rows = (unsigned)zt_hdf5_take(&in, 2);
  out->packed = filters>0;
  out->root_stored = filters>0 ? zt_hdf5_take_length(&in) : 0;
  out->root_plain = filters>0 && zt_hdf5_take(&in, 4) & 1;
  if( filters>0 && !heap_is_deflated(zt_hdf5_take_span(&in, filters)) ){
    return heap_fail_filters(h, out);
  }
  return heap_check(h, out, largest_object);
}

/* Check the head and the checksum of a direct block. The field counts as 0, and becomes 0. */
static int heap_check_bytes(zt_hdf5 *h, const zt_hdf5_heap *heap, uint64_t address, uint8_t *p,
                            size_t n){
  const size_t at = 5+h->offset_size+heap->offset_width;
  uint32_t sum;
  if( n<5 ) return heap_fail(h, heap, "a small block");
  if( zt_hdf5_check_head(h, p, "FHDB", 0, address, "HD6") || !heap->sums ) return h->err->rc;
  if( n<at+4 ) return heap_fail(h, heap, "a small block");
  sum = zt_le32(p+at);
  memset(p+at, 0, 4);
  if( zt_hdf5_sum(p, n)==sum ) return SQLITE_OK;
  return zt_break(h->err, "HD2", "the checksum of the block at address %llu is wrong",
                  (unsigned long long)address);
}

/* Check a direct block the first time that it is met. */
static int heap_check_direct(zt_hdf5 *h, const zt_hdf5_heap *heap, uint64_t address, uint64_t size,
                             zt_hdf5_block *room){
  bool seen;
  if( zt_hdf5_add(h, &h->nodes, address, &seen) || seen ) return h->err->rc;
  if( zt_hdf5_read(h, address, size, room) ) return h->err->rc;
  return heap_check_bytes(h, heap, address, room->p, room->n);
}

static int heap_check_indirect(zt_hdf5 *h, uint64_t address, uint64_t size, zt_hdf5_block *room){
  bool seen;
  if( zt_hdf5_add(h, &h->nodes, address, &seen) || seen ) return h->err->rc;
  if( zt_hdf5_read(h, address, size, room)
   || zt_hdf5_check_head(h, room->p, "FHIB", 0, address, "HD6") ) return h->err->rc;
  return zt_hdf5_check_sum(h, room->p, room->n, address);
}

/* A block on the way to an object: its table has that many rows; 0: it is direct. */
typedef struct heap_place {
  uint64_t address, size;
  uint64_t offset;         /* Of the object in it */
  unsigned rows;
  uint64_t stored;         /* Of a direct block that is packed: stored bytes, */
  bool plain;              /* which are not compressed */
} heap_place;

/* --- Packed blocks --- */

static int heap_inflate(zt_hdf5 *h, const zt_hdf5_heap *heap, zt_span in, uint8_t *out, size_t n){
  zt_inflate *inflate = zt_inflate_new(h->err);
  size_t got = 0, more = 0, behind;
  uint8_t one;
  if( !inflate ) return h->err->rc;
  zt_inflate_begin(inflate, ZT_INFLATE_ZLIB);
  if( !zt_inflate_next(inflate, &in, out, n, &got, h->err)
   && !zt_inflate_next(inflate, &in, &one, 1, &more, h->err)
   && (got+more!=n || !zt_inflate_ended(inflate, &behind)) ){
    heap_fail(h, heap, "a compressed block that does not become its size");
  }
  zt_inflate_free(inflate);
  return h->err->rc;
}

/* Decode a block into its size of bytes. */
static int heap_unpack(zt_hdf5 *h, const zt_hdf5_heap *heap, const heap_place *place, uint8_t *out){
  zt_hdf5_block stored = { NULL, 0, 0 };
  if( zt_hdf5_read(h, place->address, place->stored, &stored)==SQLITE_OK ){
    if( !place->plain ){
      heap_inflate(h, heap, (zt_span){ stored.p, stored.n }, out, (size_t)place->size);
    }else{
      memcpy(out, stored.p, (size_t)place->size);
    }
    if( !h->err->rc ) heap_check_bytes(h, heap, place->address, out, (size_t)place->size);
  }
  zt_hdf5_block_clear(&stored);
  return h->err->rc;
}

/* The number of unpacked blocks at lower addresses. */
static size_t heap_find(const zt_hdf5 *h, uint64_t address){
  size_t low = 0, high = h->nUnpacked;
  while( low<high ){
    const size_t middle = low+(high-low)/2;
    if( h->unpacked[middle].address<address ) low = middle+1;
    else high = middle;
  }
  return low;
}

/* Find a packed block, or decode it. Its memory is borrowed. */
static int heap_unpacked(zt_hdf5 *h, const zt_hdf5_heap *heap, const heap_place *place,
                         const uint8_t **out){
  const size_t i = heap_find(h, place->address);
  zt_hdf5_unpacked *a, block = { place->address, place->size, NULL };
  if( i<h->nUnpacked && h->unpacked[i].address==place->address ){
    *out = h->unpacked[i].p;
    return h->unpacked[i].n==place->size ? SQLITE_OK : heap_fail(h, heap, "a block of two sizes");
  }
  if( place->plain ? place->stored!=place->size : place->stored<place->size/HEAP_DEFLATE_TIMES ){
    return heap_fail(h, heap, "a compressed block that does not become its size");
  }
  if( h->nUnpacked==HEAP_UNPACKED || place->size>HEAP_UNPACKED_BYTES-h->unpacked_bytes ){
    return zt_break(h->err, "HD20", "more than 64 MiB, or 16384 blocks, of compressed links");
  }
  a = zt_grow(h->unpacked, &h->roomUnpacked, h->nUnpacked+1, sizeof(*a), h->err);
  if( !a ) return h->err->rc;
  h->unpacked = a;
  block.p = sqlite3_malloc64(place->size);
  if( !block.p ) return zt_fail_nomem(h->err);
  if( heap_unpack(h, heap, place, block.p) ){
    sqlite3_free(block.p);
    return h->err->rc;
  }
  memmove(a+i+1, a+i, (h->nUnpacked-i)*sizeof(*a));
  a[i] = block;
  h->nUnpacked++;
  h->unpacked_bytes += place->size;
  *out = block.p;
  return SQLITE_OK;
}

/* --- Managed objects --- */

/* Go from an indirect block to the block in it that has the offset. */
static int heap_descend(zt_hdf5 *h, const zt_hdf5_heap *heap, heap_place *place,
                        zt_hdf5_block *room){
  const uint64_t first_row = heap->start*heap->width;   /* At most 2^46 */
  const unsigned direct = zt_hdf5_log2(heap->largest/heap->start)+2;
  const unsigned row = place->offset<first_row ? 0 : zt_hdf5_log2(place->offset/first_row)+1;
  const uint64_t begin = row ? first_row<<(row-1) : 0, block = heap->start<<(row ? row-1 : 0);
  const uint64_t head = 5+h->offset_size+heap->offset_width;
  /* Bytes of an entry of a direct block, and how many entries such blocks have */
  const unsigned width = h->offset_size+(heap->packed ? h->length_size+4 : 0);
  const uint64_t begins = (place->rows<direct ? place->rows : direct)*heap->width;
  uint64_t column, entry, all = place->rows*heap->width, at;
  uint8_t bytes[20] = { 0 };
  zt_hdf5_in in;
  if( row>=place->rows ) return heap_fail(h, heap, "an object beyond the last row");
  column = (place->offset-begin)/block;
  entry = row*heap->width+column;
  all = begins*width+(all-begins)*h->offset_size;
  at = entry<begins ? entry*width : begins*width+(entry-begins)*h->offset_size;
  if( heap_check_indirect(h, place->address, head+all+4, room)
   || zt_hdf5_copy(h, place->address+head+at, bytes, row<direct ? width : h->offset_size) ){
    return h->err->rc;
  }
  in = zt_hdf5_in_of(h, (zt_span){ bytes, sizeof(bytes) });
  place->address = zt_hdf5_take_address(&in);
  place->stored = row<direct && heap->packed ? zt_hdf5_take_length(&in) : 0;
  place->plain = row<direct && heap->packed && zt_hdf5_take(&in, 4) & 1;
  place->offset = place->offset-begin-column*block;
  place->size = block;
  if( row<direct ){
    place->rows = 0;
  }else if( block<=first_row ){
    return heap_fail(h, heap, "a wrong table of blocks");
  }else{
    place->rows = zt_hdf5_log2(block/first_row)+1;
  }
  return SQLITE_OK;
}

static int heap_read_managed(zt_hdf5 *h, const zt_hdf5_heap *heap, uint64_t offset, uint64_t length,
                             zt_hdf5_block *out){
  heap_place place = {
    heap->root, heap->start, offset, heap->rows, heap->root_stored, heap->root_plain
  };
  zt_hdf5_block room = { NULL, 0, 0 };
  const uint8_t *unpacked = NULL;
  while( place.rows>0 && place.address!=ZT_HDF5_NONE && !h->err->rc ){
    heap_descend(h, heap, &place, &room);
  }
  if( h->err->rc ) goto end;
  if( place.address==ZT_HDF5_NONE ) heap_fail(h, heap, "an object in a block that is absent");
  else if( !zt_claim(place.size, place.offset, length) ){
    heap_fail(h, heap, "an object beyond its block");
  }else if( heap->packed ){
    out->n = 0;
    if( heap_unpacked(h, heap, &place, &unpacked)==SQLITE_OK ){
      zt_hdf5_put(h, unpacked+place.offset, (size_t)length, out);
    }
  }else if( heap_check_direct(h, heap, place.address, place.size, &room)==SQLITE_OK ){
    zt_hdf5_read(h, place.address+place.offset, length, out);
  }
end:
  zt_hdf5_block_clear(&room);
  return h->err->rc;
}

/* --- Huge objects, by ID in a B-tree --- */

typedef struct heap_search {
  uint64_t id, address, length;
  bool found;
} heap_search;

static void heap_take_huge(zt_hdf5 *h, void *context, const zt_hdf5_record *record){
  heap_search *s = context;
  zt_hdf5_in in = zt_hdf5_in_of(h, (zt_span){ record->p, record->n });
  const uint64_t address = zt_hdf5_take_address(&in), length = zt_hdf5_take_length(&in);
  const uint64_t id = zt_hdf5_take_length(&in);
  if( in.cut || id!=s->id ) return;
  s->found = true;
  s->address = address;
  s->length = length;
}

static int heap_read_huge(zt_hdf5 *h, const zt_hdf5_heap *heap, const uint8_t *id,
                          zt_hdf5_block *out){
  const bool direct = heap->id_length>h->offset_size+h->length_size;
  zt_hdf5_in in = zt_hdf5_in_of(h, (zt_span){ id+1, heap->id_length-1 });
  zt_hdf5_set nodes = h->nodes;
  heap_search s = { 0 };
  if( direct ){
    s.address = zt_hdf5_take_address(&in);
    s.length = zt_hdf5_take_length(&in);
    s.found = !in.cut;
  }else{
    s.id = zt_hdf5_take(&in, heap->id_length-1<8 ? heap->id_length-1 : 8);
    h->nodes = (zt_hdf5_set){ NULL, 0, 0 };   /* The tree is searched for each object */
    if( heap->huge!=ZT_HDF5_NONE ) zt_hdf5_btree2(h, heap->huge, 1, heap_take_huge, &s);
    sqlite3_free(h->nodes.a);
    h->nodes = nodes;
  }
  if( h->err->rc ) return h->err->rc;
  if( !s.found ) return heap_fail(h, heap, "an ID that leads to no object");
  return zt_hdf5_read(h, s.address, s.length, out);
}

/* An object in the ID itself. */
static int heap_read_tiny(zt_hdf5 *h, const zt_hdf5_heap *heap, const uint8_t *id,
                          zt_hdf5_block *out){
  const bool extended = heap->id_length>17;
  const size_t head = extended ? 2 : 1;
  const size_t n = extended ? ((size_t)(id[0] & 15)<<8 | id[1])+1 : (size_t)(id[0] & 15)+1;
  out->n = 0;
  if( n>heap->id_length-head ) return heap_fail(h, heap, "an ID that is too short");
  return zt_hdf5_put(h, id+head, n, out);
}

int zt_hdf5_heap_read(zt_hdf5 *h, const zt_hdf5_heap *heap, const uint8_t *id, zt_hdf5_block *out){
  zt_hdf5_in in = zt_hdf5_in_of(h, (zt_span){ id+1, heap->id_length-1 });
  uint64_t offset, length;
  switch( id[0]>>4 & 3 ){
    case 0:
      offset = zt_hdf5_take(&in, heap->offset_width);
      length = zt_hdf5_take(&in, heap->length_width);
      if( in.cut ) return heap_fail(h, heap, "an ID that is too short");
      return heap_read_managed(h, heap, offset, length, out);
    case 1: return heap->packed ? heap_fail_filters(h, heap) : heap_read_huge(h, heap, id, out);
    case 2: return heap_read_tiny(h, heap, id, out);
    default: return heap_fail(h, heap, "an ID of unknown kind");
  }
}

/* --- Global heaps --- */

static int heap_global_fail(zt_hdf5 *h, uint64_t address){
  return zt_break(h->err, "HD9", "the global heap at address %llu is broken",
                  (unsigned long long)address);
}

/* Note the places of all objects. An index of 0 is the free space at the end. */
static int heap_global_index(zt_hdf5 *h, zt_hdf5_collection *c){
  const size_t head = HEAP_GLOBAL_HEAD;
  size_t at = head;
  memset(c->at, 0, HEAP_GLOBAL_OBJECTS*sizeof(*c->at));
  while( c->bytes.n-at>=head ){
    zt_hdf5_in in = zt_hdf5_in_of(h, (zt_span){ c->bytes.p+at, c->bytes.n-at });
    const uint64_t index = zt_hdf5_take(&in, 2);
    uint64_t size;
    zt_hdf5_skip(&in, 6);
    size = zt_hdf5_take_length(&in);
    if( index==0 ) return SQLITE_OK;
    if( size>c->bytes.n-at-head ) return heap_global_fail(h, c->address);
    c->at[index] = (uint32_t)at+1;
    at += head+(size_t)size;
    at = at%8 && c->bytes.n-at>=8 ? at+(8-at%8) : at;
  }
  return SQLITE_OK;
}

static int heap_global_read(zt_hdf5 *h, uint64_t address){
  zt_hdf5_collection *c = &h->collection;
  uint8_t head[HEAP_GLOBAL_HEAD] = { 0 };
  uint64_t size;
  zt_hdf5_in in;
  c->address = ZT_HDF5_NONE;
  if( !c->at && (c->at = sqlite3_malloc64(HEAP_GLOBAL_OBJECTS*sizeof(*c->at)))==NULL ){
    return zt_fail_nomem(h->err);
  }
  if( zt_hdf5_copy(h, address, head, sizeof(head))
   || zt_hdf5_check_head(h, head, "GCOL", 1, address, "HD9") ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ head+8, sizeof(head)-8 });
  size = zt_hdf5_take_length(&in);
  if( size<HEAP_GLOBAL_HEAD || size>INT32_MAX ) return heap_global_fail(h, address);
  if( zt_hdf5_read(h, address, size, &c->bytes) || heap_global_index(h, c) ) return h->err->rc;
  c->address = address;
  return SQLITE_OK;
}

int zt_hdf5_global(zt_hdf5 *h, uint64_t address, uint32_t index, zt_span *out){
  zt_hdf5_collection *c = &h->collection;
  uint64_t size;
  zt_hdf5_in in;
  if( (!c->at || c->address!=address) && heap_global_read(h, address) ) return h->err->rc;
  if( index==0 || index>=HEAP_GLOBAL_OBJECTS || c->at[index]==0 ){
    return zt_break(h->err, "HD9", "the global heap at address %llu has no object %llu",
                    (unsigned long long)address, (unsigned long long)index);
  }
  in = zt_hdf5_in_of(h, (zt_span){ c->bytes.p+c->at[index]-1, c->bytes.n-(c->at[index]-1) });
  zt_hdf5_skip(&in, 8);
  size = zt_hdf5_take_length(&in);
  zt_hdf5_skip(&in, HEAP_GLOBAL_HEAD-8-h->length_size);
  *out = zt_hdf5_take_span(&in, size);
  return SQLITE_OK;
}
