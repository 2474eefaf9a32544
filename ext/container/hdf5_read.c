/* HDF5: bytes at addresses, fields, checksums, sets of addresses. See hdf5.h. */
#include "container/hdf5.h"

#include "core/grow.h"

#define READ_PAGE ((size_t)16 << 10)   /* Bytes read at once: headers lie close together */
#define READ_PAGES 64                  /* A power of two */
#define READ_PIECE ((size_t)4 << 20)   /* Bytes of a block between checks for an interrupt */
#define READ_SET_MIN 256               /* Slots of the first table; a power of two */

struct zt_hdf5_page {
  uint64_t number;                     /* Counted from 1; 0: none */
  uint8_t bytes[READ_PAGE];
};

/* --- Fields --- */

zt_hdf5_in zt_hdf5_in_of(const zt_hdf5 *h, zt_span bytes){
  return (zt_hdf5_in){ bytes.p, bytes.p+bytes.n, h->offset_size, h->length_size, false };
}

zt_span zt_hdf5_take_span(zt_hdf5_in *in, uint64_t n){
  zt_span span = { in->p, (size_t)n };
  if( in->cut || n>(uint64_t)(in->end-in->p) ){
    in->cut = true;
    return (zt_span){ in->p, 0 };
  }
  in->p += n;
  return span;
}

void zt_hdf5_skip(zt_hdf5_in *in, uint64_t n){
  zt_hdf5_take_span(in, n);
}

uint64_t zt_hdf5_take(zt_hdf5_in *in, unsigned n){
  const zt_span span = zt_hdf5_take_span(in, n);
  uint64_t u = 0;
  for(size_t i=span.n; i-->0; ) u = u<<8 | span.p[i];
  return u;
}

/* n bytes, of which all bits are set where there is no value. */
static uint64_t read_take_defined(zt_hdf5_in *in, unsigned n){
  const uint64_t u = zt_hdf5_take(in, n);
  return n<8 && u==((uint64_t)1<<8*n)-1 ? ZT_HDF5_NONE : u;
}

uint64_t zt_hdf5_take_address(zt_hdf5_in *in){
  return read_take_defined(in, in->offset_size);
}

uint64_t zt_hdf5_take_length(zt_hdf5_in *in){
  return zt_hdf5_take(in, in->length_size);
}

uint64_t zt_hdf5_take_most(zt_hdf5_in *in){
  return read_take_defined(in, in->length_size);
}

unsigned zt_hdf5_width(uint64_t most){
  unsigned n = 1;
  while( n<8 && most>>(8*n) ) n++;
  return n;
}

unsigned zt_hdf5_log2(uint64_t n){
  unsigned log = 0;
  while( n>>=1 ) log++;
  return log;
}

/* --- Bytes --- */

/* HD3 */
static int read_fail_range(zt_hdf5 *h, uint64_t address, uint64_t n){
  return zt_break(h->err, "HD3", "%llu bytes at address %llu go beyond the end of the file",
                  (unsigned long long)n, (unsigned long long)address);
}

/* HD3, and HD16: a small file does not make much work. */
static int read_check(zt_hdf5 *h, uint64_t address, uint64_t n){
  if( !zt_claim(h->size, address, n) ) return read_fail_range(h, address, n);
  if( n>h->work ){
    return zt_break(h->err, "HD16", "the metadata lead to the same bytes again and again");
  }
  h->work -= n;
  return SQLITE_OK;
}

/* The part of a page from a position on; NULL after a failure. */
static const uint8_t *read_page(zt_hdf5 *h, uint64_t at){
  const uint64_t number = at/READ_PAGE, all = h->base+h->size;
  zt_hdf5_page *page;
  size_t n = READ_PAGE;
  if( !h->pages ){
    h->pages = sqlite3_malloc64(READ_PAGES*sizeof(*h->pages));
    if( !h->pages ){
      zt_fail_nomem(h->err);
      return NULL;
    }
    for(size_t i=0; i<READ_PAGES; i++) h->pages[i].number = 0;
  }
  page = &h->pages[number%READ_PAGES];
  if( page->number!=number+1 ){
    if( n>all-number*READ_PAGE ) n = (size_t)(all-number*READ_PAGE);
    page->number = 0;
    if( zt_interrupt_check(h->b->interrupt, h->err)
     || zt_source_read(h->b->source, number*READ_PAGE, page->bytes, n, h->err) ) return NULL;
    page->number = number+1;
  }
  return page->bytes+at%READ_PAGE;
}

static int read_pages(zt_hdf5 *h, uint64_t at, uint8_t *to, size_t n){
  while( n>0 ){
    const uint8_t *from = read_page(h, at);
    size_t piece = READ_PAGE-(size_t)(at%READ_PAGE);
    if( !from ) return h->err->rc;
    if( piece>n ) piece = n;
    memcpy(to, from, piece);
    at += piece;
    to += piece;
    n -= piece;
  }
  return SQLITE_OK;
}

int zt_hdf5_copy(zt_hdf5 *h, uint64_t address, void *to, size_t n){
  const zt_span image = zt_source_image(h->b->source);
  uint8_t *p = to;
  if( read_check(h, address, n) ) return h->err->rc;
  if( image.p ) memcpy(to, image.p+h->base+address, n);
  if( image.p || n<=READ_PAGE ) return image.p ? SQLITE_OK : read_pages(h, h->base+address, to, n);
  for(size_t done=0; done<n; done+=READ_PIECE){
    const size_t piece = n-done<READ_PIECE ? n-done : READ_PIECE;
    if( zt_interrupt_check(h->b->interrupt, h->err)
     || zt_source_read(h->b->source, h->base+address+done, p+done, piece, h->err) ) break;
  }
  return h->err->rc;
}

static uint8_t *read_room(zt_hdf5 *h, uint64_t n, zt_hdf5_block *out){
  uint8_t *p = zt_grow(out->p, &out->room, out->n+n, 1, h->err);
  if( p ) out->p = p;
  return p ? p+out->n : NULL;
}

int zt_hdf5_append(zt_hdf5 *h, uint64_t address, uint64_t n, zt_hdf5_block *out){
  uint8_t *to;
  if( n>h->size || !zt_claim(h->size, address, n) ) return read_check(h, address, n);
  to = read_room(h, n, out);
  if( !to || zt_hdf5_copy(h, address, to, (size_t)n) ) return h->err->rc;
  out->n += (size_t)n;
  return SQLITE_OK;
}

int zt_hdf5_put(zt_hdf5 *h, const void *p, size_t n, zt_hdf5_block *out){
  uint8_t *to = read_room(h, n, out);
  if( !to ) return h->err->rc;
  if( n ) memcpy(to, p, n);
  out->n += n;
  return SQLITE_OK;
}

void zt_hdf5_block_clear(zt_hdf5_block *block){
  sqlite3_free(block->p);
  *block = (zt_hdf5_block){ NULL, 0, 0 };
}

/* --- Checksums: lookup3 by Bob Jenkins, which takes 12 bytes at a time --- */

static uint32_t read_sum_turn(uint32_t x, unsigned by){
  return x<<by | x>>(32-by);
}

typedef struct read_sum_state {
  uint32_t a, b, c;
} read_sum_state;

static void read_sum_mix(read_sum_state *s){
  s->a -= s->c; s->a ^= read_sum_turn(s->c, 4);  s->c += s->b;
  s->b -= s->a; s->b ^= read_sum_turn(s->a, 6);  s->a += s->c;
  s->c -= s->b; s->c ^= read_sum_turn(s->b, 8);  s->b += s->a;
  s->a -= s->c; s->a ^= read_sum_turn(s->c, 16); s->c += s->b;
  s->b -= s->a; s->b ^= read_sum_turn(s->a, 19); s->a += s->c;
  s->c -= s->b; s->c ^= read_sum_turn(s->b, 4);  s->b += s->a;
}

static void read_sum_end(read_sum_state *s){
  s->c ^= s->b; s->c -= read_sum_turn(s->b, 14);
  s->a ^= s->c; s->a -= read_sum_turn(s->c, 11);
  s->b ^= s->a; s->b -= read_sum_turn(s->a, 25);
  s->c ^= s->b; s->c -= read_sum_turn(s->b, 16);
  s->a ^= s->c; s->a -= read_sum_turn(s->c, 4);
  s->b ^= s->a; s->b -= read_sum_turn(s->a, 14);
  s->c ^= s->b; s->c -= read_sum_turn(s->b, 24);
}

uint32_t zt_hdf5_sum(const uint8_t *p, size_t n){
  const uint32_t start = 0xdeadbeefu+(uint32_t)n;
  read_sum_state s = { start, start, start };
  uint8_t last[12] = { 0 };
  if( n==0 ) return start;
  for(; n>12; n-=12, p+=12){
    s.a += zt_le32(p);
    s.b += zt_le32(p+4);
    s.c += zt_le32(p+8);
    read_sum_mix(&s);
  }
  memcpy(last, p, n);
  s.a += zt_le32(last);
  s.b += zt_le32(last+4);
  s.c += zt_le32(last+8);
  read_sum_end(&s);
  return s.c;
}

int zt_hdf5_check_sum(zt_hdf5 *h, const uint8_t *p, size_t n, uint64_t address){
  if( n>=4 && (ZT_TRUST_CHECKSUMS || zt_hdf5_sum(p, n-4)==zt_le32(p+n-4)) ) return SQLITE_OK;
  return zt_break(h->err, "HD2", "the checksum of the %llu bytes at address %llu is wrong",
                  (unsigned long long)n, (unsigned long long)address);
}

int zt_hdf5_check_head(zt_hdf5 *h, const uint8_t *p, const char *signature, unsigned version,
                       uint64_t address, const char *rule){
  if( memcmp(p, signature, 4)!=0 ){
    return zt_break(h->err, rule, "no '%s' at address %llu", signature,
                    (unsigned long long)address);
  }
  if( p[4]<=version ) return SQLITE_OK;
  return zt_break(h->err, rule, "'%s' of version %llu at address %llu", signature,
                  (unsigned long long)p[4], (unsigned long long)address);
}

int zt_hdf5_check_room(zt_hdf5 *h, uint64_t address, uint64_t n, unsigned most, uint64_t bytes,
                       const char *rule){
  if( most==0 ) return SQLITE_OK;
  if( n>most ){
    return zt_break(h->err, rule, "a node of %llu entries at address %llu, which has room for %u",
                    (unsigned long long)n, (unsigned long long)address, most);
  }
  return zt_claim(h->size, address, bytes) ? SQLITE_OK : read_fail_range(h, address, bytes);
}

/* --- Sets of addresses --- */

static size_t read_set_slot(const zt_hdf5_set *set, uint64_t key){
  size_t i = (size_t)((key*0x9e3779b97f4a7c15u)>>20) & (set->room-1);
  while( set->a[i] && set->a[i]!=key ) i = (i+1) & (set->room-1);
  return i;
}

static int read_set_grow(zt_hdf5 *h, zt_hdf5_set *set){
  const zt_hdf5_set old = *set;
  const size_t room = old.room ? 2*old.room : READ_SET_MIN;
  uint64_t *a = sqlite3_malloc64(room*sizeof(*a));
  if( !a ) return zt_fail_nomem(h->err);
  memset(a, 0, room*sizeof(*a));
  set->a = a;
  set->room = room;
  for(size_t i=0; i<old.room; i++) if( old.a[i] ) a[read_set_slot(set, old.a[i])] = old.a[i];
  sqlite3_free(old.a);
  return SQLITE_OK;
}

int zt_hdf5_add(zt_hdf5 *h, zt_hdf5_set *set, uint64_t address, bool *seen){
  size_t i;
  if( 2*set->n>=set->room && read_set_grow(h, set) ) return h->err->rc;
  i = read_set_slot(set, address+1);
  *seen = set->a[i]!=0;
  set->n += !*seen;
  set->a[i] = address+1;
  return SQLITE_OK;
}

int zt_hdf5_enter(zt_hdf5 *h, uint64_t address){
  bool seen = false;
  if( address>=h->size ){
    return zt_break(h->err, "HD3", "address %llu is beyond the end of the file",
                    (unsigned long long)address);
  }
  if( zt_interrupt_check(h->b->interrupt, h->err)
   || zt_hdf5_add(h, &h->nodes, address, &seen) ) return h->err->rc;
  if( !seen ) return SQLITE_OK;
  return zt_break(h->err, "HD7", "two ways lead to the node or block at address %llu",
                  (unsigned long long)address);
}

void zt_hdf5_clear(zt_hdf5 *h){
  sqlite3_free(h->pages);
  sqlite3_free(h->objects.a);
  sqlite3_free(h->nodes.a);
  sqlite3_free(h->links);
  sqlite3_free(h->collection.at);
  for(size_t i=0; i<h->nUnpacked; i++) sqlite3_free(h->unpacked[i].p);
  sqlite3_free(h->unpacked);
  zt_hdf5_block_clear(&h->collection.bytes);
  zt_hdf5_block_clear(&h->names);
  zt_hdf5_block_clear(&h->records);
  zt_cbor_out_clear(&h->manifest);
}
