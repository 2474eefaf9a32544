/*
** HDF5: messages that are somewhere else. See hdf5.h, and hdf5.c for the grammar.
**
**   shared := version u8, kind u8, u8[6] (version 1), place
**   place  := address of a committed datatype's header | ID in a heap (version 3, kind 1)
**
** The superblock's extension leads to the table of shared messages: "SMTB", then for each of its
** indexes version u8, kind u8, types of messages u16, least size u32, u16, u16, count u16, the
** addresses of the index and of the heap; and a checksum. A message's heap is that of the index
** whose types have its own.
*/
#include "container/hdf5.h"

#define SHARED_INDEXES 8             /* At most */
#define SHARED_TABLE 15              /* The message in the extension */
#define SHARED_IN_HEAP 1
#define SHARED_ID 8                  /* Bytes of an ID */

static int shared_fail(zt_hdf5 *h, const char *fault){
  return zt_break(h->err, "HD17", "%s", fault);
}

/* Find the table. */
static int shared_locate(zt_hdf5 *h, zt_hdf5_header *room, uint64_t *address, unsigned *n){
  const zt_hdf5_message *m = NULL;
  zt_hdf5_in in;
  if( h->extension!=ZT_HDF5_NONE ){
    if( zt_hdf5_header_read(h, h->extension, room) ) return h->err->rc;
    m = zt_hdf5_find(room, SHARED_TABLE);
  }
  if( !m ) return shared_fail(h, "a shared message, and the file has no table of them");
  in = zt_hdf5_in_of(h, zt_hdf5_data(room, m));
  zt_hdf5_skip(&in, 1);
  *address = zt_hdf5_take_address(&in);
  *n = (unsigned)zt_hdf5_take(&in, 1);
  if( !in.cut && *n>0 && *n<=SHARED_INDEXES ) return SQLITE_OK;
  return shared_fail(h, "a table of shared messages of unknown form");
}

/* Open the heap of messages of that type, unless it is open. */
static int shared_open(zt_hdf5 *h, unsigned type, zt_hdf5_header *room){
  uint8_t bytes[4+SHARED_INDEXES*(14+2*8)+4];
  uint64_t address = 0;
  unsigned n = 0;
  zt_hdf5_in in;
  size_t size;
  if( h->shared_type==type ) return SQLITE_OK;
  if( shared_locate(h, room, &address, &n) ) return h->err->rc;
  size = 4+n*(size_t)(14+2*h->offset_size)+4;
  if( zt_hdf5_copy(h, address, bytes, size) ) return h->err->rc;
  if( memcmp(bytes, "SMTB", 4)!=0 ) return shared_fail(h, "no table of shared messages");
  if( zt_hdf5_check_sum(h, bytes, size, address) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ bytes+4, size-8 });
  for(unsigned i=0; i<n; i++){
    unsigned types;
    uint64_t heap;
    zt_hdf5_skip(&in, 2);
    types = (unsigned)zt_hdf5_take(&in, 2);
    zt_hdf5_skip(&in, 10);
    zt_hdf5_skip(&in, h->offset_size);
    heap = zt_hdf5_take_address(&in);
    if( !(types>>type & 1) ) continue;
    if( zt_hdf5_heap_open(h, heap, &h->shared) ) return h->err->rc;
    if( h->shared.id_length!=SHARED_ID ) return shared_fail(h, "a heap of IDs of another length");
    h->shared_type = type;
    return SQLITE_OK;
  }
  return shared_fail(h, "a shared message of a type that no index has");
}

int zt_hdf5_in_heap(zt_hdf5 *h, unsigned type, const uint8_t *id, zt_hdf5_room *room,
                    zt_span *out){
  if( shared_open(h, type, &room->header) ) return h->err->rc;
  if( zt_hdf5_heap_read(h, &h->shared, id, &room->bytes) ) return h->err->rc;
  *out = (zt_span){ room->bytes.p, room->bytes.n };
  return SQLITE_OK;
}

int zt_hdf5_shared(zt_hdf5 *h, unsigned type, zt_span bytes, zt_hdf5_room *room, zt_span *out){
  zt_hdf5_in in = zt_hdf5_in_of(h, bytes);
  const unsigned version = (unsigned)zt_hdf5_take(&in, 1), kind = (unsigned)zt_hdf5_take(&in, 1);
  const zt_hdf5_message *m;
  uint64_t address;
  if( version==1 ) zt_hdf5_skip(&in, 6);
  if( version==3 && kind==SHARED_IN_HEAP ){
    const zt_span id = zt_hdf5_take_span(&in, SHARED_ID);
    return in.cut ? shared_fail(h, "a shared message that is cut short")
         : zt_hdf5_in_heap(h, type, id.p, room, out);
  }
  address = zt_hdf5_take_address(&in);
  if( in.cut || version<1 || version>3 ) return shared_fail(h, "a shared message of unknown form");
  if( zt_hdf5_header_read(h, address, &room->header) ) return h->err->rc;
  m = zt_hdf5_find(&room->header, type);
  if( !m || (m->flags & ZT_HDF5_SHARED) ){
    return shared_fail(h, "a shared message leads to none of its type");
  }
  *out = zt_hdf5_data(&room->header, m);
  return SQLITE_OK;
}

int zt_hdf5_message_data(zt_hdf5 *h, const zt_hdf5_header *header, const zt_hdf5_message *m,
                         zt_hdf5_room *room, zt_span *out){
  *out = zt_hdf5_data(header, m);
  return m->flags & ZT_HDF5_SHARED ? zt_hdf5_shared(h, m->type, *out, room, out) : SQLITE_OK;
}

void zt_hdf5_room_clear(zt_hdf5_room *room){
  zt_hdf5_header_clear(&room->header);
  zt_hdf5_block_clear(&room->bytes);
}
