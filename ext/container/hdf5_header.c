/*
** HDF5: object headers. See hdf5.h, and hdf5.c for the grammar.
**
** The messages of all blocks are put into one piece. A header's blocks do not overlap, so they are
** no more bytes than the file has.
*/
#include "container/hdf5.h"

#include "core/grow.h"

#define HEADER_BLOCKS 1024           /* Continuations of one header, at most */
#define HEADER_TIMES 0x20            /* Flags of version 2 */
#define HEADER_PHASES 0x10
#define HEADER_ORDER 0x04
#define HEADER_NEVER_SHARED 0x04     /* Flags of a message */
#define HEADER_REFUSE_UNKNOWN 0x08   /* A writer that does not know it leaves the file, */
#define HEADER_MARK_UNKNOWN 0x10     /* or sets the next flag */
#define HEADER_WAS_UNKNOWN 0x20

/* A block. The first one is where the header is. */
typedef struct header_block {
  uint64_t address, length;
} header_block;

typedef struct header_reader {
  zt_hdf5 *h;
  zt_hdf5_header *out;
  uint8_t version;
  uint8_t flags;                     /* Of version 2 */
  uint64_t most;                     /* Messages that may follow (version 1) */
  uint64_t bytes;                    /* Of all blocks so far */
  uint32_t nBlock;
  header_block *block;               /* HEADER_BLOCKS */
} header_reader;

static int header_fail(header_reader *r, const char *fault){
  return zt_break(r->h->err, "HD4", "%s", fault);
}

/* Note the block that a continuation leads to. */
static int header_continue(header_reader *r, zt_span data){
  zt_hdf5_in in = zt_hdf5_in_of(r->h, data);
  header_block next;
  next.address = zt_hdf5_take_address(&in);
  next.length = zt_hdf5_take_length(&in);
  if( in.cut || next.length==0 ) return header_fail(r, "a continuation that is cut short");
  for(uint32_t i=0; i<r->nBlock; i++){
    if( r->block[i].address==next.address ){
      return zt_break(r->h->err, "HD7", "two ways lead to the block at address %llu",
                      (unsigned long long)next.address);
    }
  }
  if( r->nBlock==HEADER_BLOCKS ) return header_fail(r, "a header of more than 1024 blocks");
  r->block[r->nBlock++] = next;
  return SQLITE_OK;
}

static int header_add(header_reader *r, zt_hdf5_message m){
  zt_hdf5_header *out = r->out;
  zt_hdf5_message *a;
  if( m.type==ZT_HDF5_CONTINUATION ) return header_continue(r, zt_hdf5_data(out, &m));
  if( m.type==0 ) return SQLITE_OK;
  a = zt_grow(out->a, &out->room, out->n+1, sizeof(*a), r->h->err);
  if( !a ) return r->h->err->rc;
  out->a = a;
  out->a[out->n++] = m;
  return SQLITE_OK;
}

/* True for flags that a message cannot have together. */
static bool header_contradicts(uint8_t flags){
  const bool was_unknown = (flags & HEADER_WAS_UNKNOWN)!=0;
  return ((flags & ZT_HDF5_SHARED) && (flags & HEADER_NEVER_SHARED))
      || (was_unknown && ((flags & HEADER_REFUSE_UNKNOWN) || !(flags & HEADER_MARK_UNKNOWN)));
}

/* Read the messages between two positions of the header's bytes; the first is at `address`. A
** shorter rest than a message's head is a gap. */
static int header_messages(header_reader *r, size_t from, size_t to, uint64_t address){
  const bool old = r->version==1;
  const size_t head = old ? 8 : r->flags & HEADER_ORDER ? 6 : 4;
  size_t at = from;
  while( to-at>=head ){
    const uint8_t *p = r->out->bytes.p+at;
    zt_hdf5_message m = {
      .type = (uint16_t)(old ? zt_le16(p) : p[0]), .n = old ? zt_le16(p+2) : zt_le16(p+1),
      .flags = old ? p[4] : p[3], .at = (uint32_t)(at+head), .address = address+(at-from)+head
    };
    if( m.n>to-at-head ) return header_fail(r, "a message that goes beyond its block");
    /* As in libhdf5, fewer messages than the header states are allowed */
    if( old && r->most--==0 ) return header_fail(r, "more messages than the header states");
    if( header_contradicts(m.flags) ) return header_fail(r, "flags that exclude each other");
    if( old && m.n%8 ) return header_fail(r, "a message of a length that is no multiple of 8");
    at += head+m.n;
    if( header_add(r, m) ) return r->h->err->rc;
  }
  return SQLITE_OK;
}

/* Append n bytes at an address; all blocks together are no more than the file. *from is their
** position. */
static int header_append(header_reader *r, uint64_t address, uint64_t n, size_t *from){
  *from = r->out->bytes.n;
  if( n>r->h->size-r->bytes || r->out->bytes.n+n>INT32_MAX ){
    return header_fail(r, "a header of more bytes than the file");
  }
  r->bytes += n;
  return zt_hdf5_append(r->h, address, n, &r->out->bytes);
}

static int header_begin_old(header_reader *r, uint64_t address, const uint8_t *head){
  size_t from;
  const uint32_t n = zt_le32(head+8);
  r->most = zt_le16(head+2);
  if( r->most==0 ) return header_fail(r, "a header of no messages");
  if( header_append(r, address+16, n, &from) ) return r->h->err->rc;
  return header_messages(r, from, r->out->bytes.n, address+16);
}

/* The first block of version 2: fields, messages, and a checksum of all. */
static int header_begin_new(header_reader *r, uint64_t address, const uint8_t *head){
  const unsigned width = 1u<<(head[5] & 3);
  unsigned fixed = 6;
  uint8_t size[8] = { 0 };
  size_t from;
  uint64_t n;
  r->flags = head[5];
  if( r->flags & HEADER_TIMES ) fixed += 16;
  if( r->flags & HEADER_PHASES ) fixed += 4;
  if( zt_hdf5_copy(r->h, address+fixed, size, width) ) return r->h->err->rc;
  n = zt_le64(size);
  if( n>r->h->size ) return header_fail(r, "a block of more bytes than the file");
  fixed += width;
  if( header_append(r, address, fixed+n+4, &from)
   || zt_hdf5_check_sum(r->h, r->out->bytes.p+from, (size_t)(fixed+n+4), address) ){
    return r->h->err->rc;
  }
  return header_messages(r, from+fixed, r->out->bytes.n-4, address+fixed);
}

static int header_block_read(header_reader *r, header_block block){
  size_t from;
  if( header_append(r, block.address, block.length, &from) ) return r->h->err->rc;
  if( r->version==1 ) return header_messages(r, from, r->out->bytes.n, block.address);
  if( block.length<8 ) return header_fail(r, "a continuation of less than 8 bytes");
  if( memcmp(r->out->bytes.p+from, "OCHK", 4)!=0 ){
    return header_fail(r, "a continuation without its signature");
  }
  if( zt_hdf5_check_sum(r->h, r->out->bytes.p+from, (size_t)block.length, block.address) ){
    return r->h->err->rc;
  }
  return header_messages(r, from+4, r->out->bytes.n-4, block.address+4);
}

int zt_hdf5_header_read(zt_hdf5 *h, uint64_t address, zt_hdf5_header *out){
  uint8_t head[16] = { 0 };
  header_block block[HEADER_BLOCKS];   /* Beside r, which is zeroed for each header */
  header_reader r = { .h = h, .out = out, .nBlock = 1, .block = block };
  out->bytes.n = 0;
  out->n = 0;
  if( zt_hdf5_copy(h, address, head, 12) ) return h->err->rc;
  if( memcmp(head, "OHDR", 4)==0 ){
    r.version = 2;
    r.block[0].address = address;
    if( head[4]!=2 ) return header_fail(&r, "a header of unknown version");
    header_begin_new(&r, address, head);
  }else if( head[0]==1 ){
    r.version = 1;
    r.block[0].address = address+16;
    header_begin_old(&r, address, head);
  }else{
    return zt_break(h->err, "HD4", "no object header at address %llu",
                    (unsigned long long)address);
  }
  for(uint32_t i=1; i<r.nBlock && !h->err->rc; i++) header_block_read(&r, r.block[i]);
  return h->err->rc;
}

void zt_hdf5_header_clear(zt_hdf5_header *header){
  zt_hdf5_block_clear(&header->bytes);
  sqlite3_free(header->a);
  *header = (zt_hdf5_header){ .n = 0 };
}

const zt_hdf5_message *zt_hdf5_find(const zt_hdf5_header *header, unsigned type){
  for(size_t i=0; i<header->n; i++) if( header->a[i].type==type ) return &header->a[i];
  return NULL;
}
