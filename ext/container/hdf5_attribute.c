/*
** HDF5: dataspaces and attributes. See hdf5.h, and hdf5.c for the grammar.
**
** An attribute whose value cannot be read is there with {"$opaque": "h5 unreadable"}: it hides no
** tensor, and zt_check finds its fault. `hdf5.unread` stands for all of an object whose names
** cannot be read.
*/
#include "container/hdf5.h"

#include "core/grow.h"
#include "core/sort.h"

enum { ATTRIBUTE_SPACE_MOST = 0x01 };
enum { ATTRIBUTE_SHARED_TYPE = 0x01, ATTRIBUTE_SHARED_SPACE = 0x02 };
#define ATTRIBUTE_HIDDEN 0x02        /* Of a record: it is in the heap of shared messages */
#define ATTRIBUTE_UNREAD "hdf5.unread"
#define ATTRIBUTE_ID 8               /* Bytes of IDs there */

/* --- Dataspaces --- */

int zt_hdf5_space_read(zt_hdf5 *h, zt_span message, zt_hdf5_space *out){
  zt_hdf5_in in = zt_hdf5_in_of(h, message);
  const unsigned version = (unsigned)zt_hdf5_take(&in, 1), rank = (unsigned)zt_hdf5_take(&in, 1);
  const unsigned flags = (unsigned)zt_hdf5_take(&in, 1);
  const unsigned kind = version==2 ? (unsigned)zt_hdf5_take(&in, 1) : 0;
  if( version==1 ) zt_hdf5_skip(&in, 5);
  if( version<1 || version>2 || rank>ZT_HDF5_RANK || kind>2 || (kind==2 && rank>0) ){
    return zt_break(h->err, "HD10", "a dataspace of unknown version, or of more than 32"
                    " dimensions");
  }
  *out = (zt_hdf5_space){ .rank = rank, .null = kind==2 };
  for(unsigned d=0; d<rank; d++) out->shape[d] = out->most[d] = zt_hdf5_take_length(&in);
  for(unsigned d=0; d<rank && (flags & ATTRIBUTE_SPACE_MOST); d++){
    out->most[d] = zt_hdf5_take_most(&in);
  }
  if( in.cut ) return zt_break(h->err, "HD10", "a dataspace that is cut short");
  for(unsigned d=0; d<rank; d++){
    if( out->shape[d]>out->most[d] ){
      return zt_break(h->err, "HD10", "a dataspace that is larger than its largest shape");
    }
  }
  return SQLITE_OK;
}

/* --- Attributes --- */

typedef struct attribute_entry {
  uint32_t name, name_length, value, value_length;   /* In the list's texts and values */
} attribute_entry;

typedef struct attribute_list {
  zt_hdf5 *h;
  zt_hdf5_room message, type, space; /* For those that are somewhere else */
  zt_hdf5_heap heap;
  zt_hdf5_block bytes, texts;
  zt_cbor_out values;
  attribute_entry *a;                /* Owned */
  size_t n, roomA;
  bool unread;                       /* There is one whose name cannot be read */
  zt_text prefix;
  uint32_t dataset;                  /* Whose they are */
} attribute_list;

/* Type, space and data behind an attribute's name. */
static int attribute_read_value(attribute_list *l, zt_span type_bytes, zt_span space_bytes,
                                zt_span data, unsigned shared, zt_cbor_out *out){
  zt_hdf5 *h = l->h;
  zt_hdf5_space space;
  zt_hdf5_type type;
  zt_hdf5_in in;
  if( ((shared & ATTRIBUTE_SHARED_SPACE)
       && zt_hdf5_shared(h, ZT_HDF5_SPACE, space_bytes, &l->space, &space_bytes))
   || ((shared & ATTRIBUTE_SHARED_TYPE)
       && zt_hdf5_shared(h, ZT_HDF5_TYPE, type_bytes, &l->type, &type_bytes))
   || zt_hdf5_space_read(h, space_bytes, &space) ) return h->err->rc;
  in = zt_hdf5_in_of(h, type_bytes);
  if( zt_hdf5_type_read(h, &in, ZT_HDF5_NESTED, &type) ) return h->err->rc;
  if( !space.null ) return zt_hdf5_value(h, &type, data, space.rank, space.shape, out);
  zt_cbor_put_null(out);
  return SQLITE_OK;
}

static void attribute_put_unreadable(attribute_list *l){
  zt_cbor_put_head(&l->values, ZT_CBOR_MAP, 1);
  zt_cbor_put_text(&l->values, ZT_TEXT("$opaque"));
  zt_cbor_put_text(&l->values, ZT_TEXT("h5 unreadable"));
}

/* Note why an attribute cannot be read. Fails with errors that are not of its bytes. */
static int attribute_note(attribute_list *l, zt_text name, zt_error *failed){
  zt_hdf5 *h = l->h;
  char *fault;
  if( !zt_error_is_of_file(failed) || strcmp(failed->rule, "HD16")==0 ){
    *h->err = *failed;
    return h->err->rc;
  }
  fault = sqlite3_mprintf("attribute '%.*s%.*s': %s", zt_shown(l->prefix), l->prefix.z,
                          zt_shown(name), name.z, failed->parts.fault);
  if( !fault ) zt_fail_nomem(h->err);
  else if( zt_builder_note(h->b, l->dataset, failed->rule, fault) ) h->err->rc = h->b->err->rc;
  sqlite3_free(fault);
  zt_error_clear(failed);
  return h->err->rc;
}

/* Append an attribute's value, or that it is unreadable. */
static int attribute_put_value(attribute_list *l, zt_text name, zt_span type, zt_span space,
                               zt_span data, unsigned shared){
  zt_hdf5 *h = l->h;
  const size_t before = l->values.n;
  zt_error failed = { .path = h->err->path }, *err = h->err;
  h->err = &failed;
  attribute_read_value(l, type, space, data, shared, &l->values);
  h->err = err;
  if( !failed.rc ) return l->values.err->rc;
  if( attribute_note(l, name, &failed) ) return err->rc;
  l->values.n = before;
  attribute_put_unreadable(l);
  return l->values.err->rc;
}

/* Append an attribute whose value was put from e->value on. */
static int attribute_add_entry(attribute_list *l, attribute_entry e, zt_span name){
  zt_hdf5 *h = l->h;
  attribute_entry *a;
  e.name = (uint32_t)l->texts.n;
  e.name_length = (uint32_t)name.n;
  e.value_length = (uint32_t)(l->values.n-e.value);
  if( zt_hdf5_put(h, name.p, name.n, &l->texts) ) return h->err->rc;
  if( l->values.n>h->most || l->texts.n>h->most ){
    return zt_break(h->err, "HD16", "the attributes take more memory than the file is worth");
  }
  a = zt_grow(l->a, &l->roomA, l->n+1, sizeof(*a), h->err);
  if( !a ) return h->err->rc;
  l->a = a;
  l->a[l->n++] = e;
  return SQLITE_OK;
}

static int attribute_add(attribute_list *l, zt_span message){
  zt_hdf5 *h = l->h;
  zt_hdf5_in in = zt_hdf5_in_of(h, message);
  const unsigned version = (unsigned)zt_hdf5_take(&in, 1), flags = (unsigned)zt_hdf5_take(&in, 1);
  const unsigned pad = version==1 ? 7 : 0;
  const uint64_t name_length = zt_hdf5_take(&in, 2), type_length = zt_hdf5_take(&in, 2);
  const uint64_t space_length = zt_hdf5_take(&in, 2);
  const attribute_entry e = { .value = (uint32_t)l->values.n };
  zt_span name, type, space, data;
  const uint8_t *end;
  if( version==3 ) zt_hdf5_skip(&in, 1);
  name = zt_hdf5_take_span(&in, (name_length+pad) & ~(uint64_t)pad);
  type = zt_hdf5_take_span(&in, (type_length+pad) & ~(uint64_t)pad);
  space = zt_hdf5_take_span(&in, (space_length+pad) & ~(uint64_t)pad);
  data = zt_hdf5_take_span(&in, (uint64_t)(in.end-in.p));
  if( in.cut || version<1 || version>3 ){
    return zt_break(h->err, "HD4", "an attribute of unknown form");
  }
  end = name.n ? memchr(name.p, 0, name.n) : NULL;
  if( !end || (uint64_t)(end-name.p)+1!=name_length ){
    return zt_break(h->err, "HD4", "an attribute whose name does not end where it should");
  }
  name.n = (size_t)(end-name.p);
  if( attribute_put_value(l, (zt_text){ (const char*)name.p, name.n }, type, space, data,
                          version>1 ? flags : 0) ) return h->err->rc;
  return attribute_add_entry(l, e, name);
}

/* The same of a message or of an ID that leads to it, if `message` is NULL. */
static int attribute_try(attribute_list *l, const zt_hdf5_header *header,
                         const zt_hdf5_message *message, const uint8_t *id){
  zt_hdf5 *h = l->h;
  zt_error failed = { .path = h->err->path }, *err = h->err;
  zt_span bytes;
  h->err = &failed;
  if( (message ? zt_hdf5_message_data(h, header, message, &l->message, &bytes)
       : zt_hdf5_in_heap(h, ZT_HDF5_ATTRIBUTE, id, &l->message, &bytes))==SQLITE_OK ){
    attribute_add(l, bytes);
  }
  h->err = err;
  if( !failed.rc ) return err->rc;
  l->unread = true;
  return attribute_note(l, ZT_TEXT(ATTRIBUTE_UNREAD), &failed);
}

static void attribute_take_record(zt_hdf5 *h, void *context, const zt_hdf5_record *record){
  attribute_list *l = context;
  if( record->n<l->heap.id_length+1 ){
    zt_break(h->err, "HD6", "a record of an attribute that is too short");
    return;
  }
  if( record->p[l->heap.id_length] & ATTRIBUTE_HIDDEN ){
    if( l->heap.id_length!=ATTRIBUTE_ID ) zt_break(h->err, "HD6", "IDs of another length");
    else attribute_try(l, NULL, NULL, record->p);
    return;
  }
  if( zt_hdf5_heap_read(h, &l->heap, record->p, &l->bytes)==SQLITE_OK ){
    const zt_hdf5_header whole = { .bytes = l->bytes };
    const zt_hdf5_message m = { .n = (uint32_t)l->bytes.n, .type = ZT_HDF5_ATTRIBUTE };
    attribute_try(l, &whole, &m, NULL);
  }
}

/* Attributes in a fractal heap, if there is one. */
static int attribute_dense(attribute_list *l, zt_span message){
  zt_hdf5 *h = l->h;
  zt_hdf5_in in = zt_hdf5_in_of(h, message);
  const unsigned version = (unsigned)zt_hdf5_take(&in, 1), flags = (unsigned)zt_hdf5_take(&in, 1);
  uint64_t heap, tree;
  if( flags & 1 ) zt_hdf5_skip(&in, 2);
  heap = zt_hdf5_take_address(&in);
  tree = zt_hdf5_take_address(&in);
  if( in.cut || version!=0 ) return zt_break(h->err, "HD4", "an attribute info of unknown form");
  if( heap==ZT_HDF5_NONE || tree==ZT_HDF5_NONE ) return SQLITE_OK;
  if( zt_hdf5_heap_open(h, heap, &l->heap) ) return h->err->rc;
  return zt_hdf5_btree2(h, tree, 8, attribute_take_record, l);
}

static int attribute_compare(const void *context, const void *x, const void *y){
  const attribute_list *l = context;
  const attribute_entry *a = x, *b = y;
  return zt_text_compare((zt_text){ (const char*)l->texts.p+a->name, a->name_length },
                         (zt_text){ (const char*)l->texts.p+b->name, b->name_length });
}

/* Append the sorted list. */
static int attribute_put_sorted(attribute_list *l, zt_text prefix, zt_cbor_out *out){
  zt_hdf5 *h = l->h;
  const zt_sort_by by = {
    .size = sizeof(*l->a), .compare = attribute_compare, .context = l,
    .interrupt = h->b->interrupt
  };
  if( l->n>1 && zt_sort(l->a, l->n, &by, h->err) ) return h->err->rc;
  for(size_t i=0; i<l->n && !h->err->rc; i++){
    const attribute_entry e = l->a[i];
    l->bytes.n = 0;
    if( zt_hdf5_put(h, prefix.z, prefix.n, &l->bytes)
     || zt_hdf5_put(h, l->texts.p+e.name, e.name_length, &l->bytes) ) break;
    zt_cbor_put_name(out, (zt_span){ l->bytes.p, l->bytes.n });
    zt_cbor_put_items(out, (zt_span){ l->values.p+e.value, e.value_length });
  }
  return h->err->rc;
}

int zt_hdf5_attributes(zt_hdf5 *h, const zt_hdf5_header *header, zt_text prefix, uint32_t dataset,
                       zt_cbor_out *out, uint32_t *n){
  attribute_list l = {
    .h = h, .values = { .err = h->err }, .prefix = prefix, .dataset = dataset
  };
  *n = 0;
  for(size_t i=0; i<header->n && !h->err->rc; i++){
    const zt_hdf5_message *m = &header->a[i];
    if( m->type==ZT_HDF5_ATTRIBUTE_INFO ) attribute_dense(&l, zt_hdf5_data(header, m));
    if( m->type==ZT_HDF5_ATTRIBUTE ) attribute_try(&l, header, m, NULL);
  }
  if( l.unread && !h->err->rc ){
    const attribute_entry e = { .value = (uint32_t)l.values.n };
    attribute_put_unreadable(&l);
    attribute_add_entry(&l, e, (zt_span){ (const uint8_t*)ATTRIBUTE_UNREAD,
                                        sizeof(ATTRIBUTE_UNREAD)-1 });
  }
  if( !h->err->rc ) attribute_put_sorted(&l, prefix, out);
  *n = (uint32_t)l.n;
  zt_hdf5_room_clear(&l.message);
  zt_hdf5_room_clear(&l.type);
  zt_hdf5_room_clear(&l.space);
  zt_hdf5_block_clear(&l.bytes);
  zt_hdf5_block_clear(&l.texts);
  zt_cbor_out_clear(&l.values);
  sqlite3_free(l.a);
  return h->err->rc;
}
