/*
** HDF5: the links of a group. See hdf5.h, and hdf5.c for the grammar.
**
** Only hard links lead to objects of the file. Soft and external links are names of others, which
** are not followed.
*/
#include "container/hdf5.h"

#include "core/grow.h"
#include "core/sort.h"
#include "core/utf8.h"

#define GROUP_LEVEL_MAX 64           /* Levels of a B-tree of version 1 */
#define GROUP_SOFT 2                 /* Type of cache of a soft link */
#define GROUP_FREE_END 1             /* As ZT_HDF5_NONE, ends the list of free space in a heap */

bool zt_hdf5_is_group(const zt_hdf5_header *header){
  static const unsigned types[] = {
    ZT_HDF5_SYMBOLS, ZT_HDF5_LINK_INFO, ZT_HDF5_LINK, ZT_HDF5_GROUP_INFO
  };
  for(size_t i=0; i<sizeof(types)/sizeof(*types); i++){
    if( zt_hdf5_find(header, types[i]) ) return true;
  }
  return false;
}

/* HD8 */
static int group_add(zt_hdf5 *h, zt_text name, uint64_t address){
  zt_hdf5_link *links, link = { (uint32_t)h->names.n, (uint32_t)name.n, address };
  if( name.n==0 || name.n>UINT16_MAX || memchr(name.z, '/', name.n)
   || !zt_utf8_without_nul(name) ){
    return zt_break(h->err, "HD8", "link '%.*s': a name that is empty, longer than 65535 bytes,"
                    " or not UTF-8, or has U+0000 or a slash in it", zt_shown(name), name.z);
  }
  if( h->names.n>UINT32_MAX/2 ) return zt_break(h->err, "HD16", "too many links");
  links = zt_grow(h->links, &h->roomLink, h->nLink+1, sizeof(*links), h->err);
  if( !links ) return h->err->rc;
  h->links = links;
  h->links[h->nLink++] = link;
  return zt_hdf5_put(h, name.z, name.n, &h->names);
}

/* --- Symbol tables --- */

typedef struct group_node {
  uint64_t address;
  int level;                         /* -1: a node of symbols */
  uint64_t before, last;             /* Places of names in the heap, between which its names are */
} group_node;

typedef struct group_walk {
  zt_hdf5 *h;
  group_node *todo;                  /* Owned */
  size_t n, room;
  zt_hdf5_block heap, bytes;
} group_walk;

static int group_fail(zt_hdf5 *h, const char *fault, uint64_t address){
  return zt_break(h->err, "HD5", "%s at address %llu", fault, (unsigned long long)address);
}

static int group_push(group_walk *w, group_node node){
  group_node *todo = zt_grow(w->todo, &w->room, w->n+1, sizeof(*todo), w->h->err);
  if( !todo ) return w->h->err->rc;
  w->todo = todo;
  w->todo[w->n++] = node;
  return SQLITE_OK;
}

/* A name in the local heap, where it ends with a NUL. NULL after a failure. */
static const char *group_name(group_walk *w, uint64_t at){
  const char *name = (const char*)w->heap.p+(at<w->heap.n ? at : 0);
  if( at<w->heap.n && memchr(name, 0, w->heap.n-(size_t)at) ) return name;
  zt_break(w->h->err, "HD5", "a name beyond the end of the local heap");
  return NULL;
}

/* Fail if two keys descend. */
static int group_check_keys(group_walk *w, uint64_t first, uint64_t second, uint64_t address){
  const char *a = group_name(w, first), *b = group_name(w, second);
  if( !a || !b ) return w->h->err->rc;
  if( strcmp(a, b)<=0 ) return SQLITE_OK;
  return group_fail(w->h, "a node's keys beyond those of the node above", address);
}

/* The keys of a node below another are between the two keys that it has there. */
static int group_check_node(group_walk *w, group_node node, uint64_t first, uint64_t n){
  zt_hdf5_in in = zt_hdf5_in_of(w->h, (zt_span){ w->bytes.p, w->bytes.n });
  zt_hdf5_skip(&in, n*(w->h->length_size+w->h->offset_size));
  if( group_check_keys(w, node.before, first, node.address) ) return w->h->err->rc;
  return group_check_keys(w, zt_hdf5_take_length(&in), node.last, node.address);
}

/* A node of the tree: keys and children in turn. */
static int group_tree(group_walk *w, group_node node){
  zt_hdf5 *h = w->h;
  const size_t head = 8+2*h->offset_size;
  uint8_t fixed[8] = { 0 };
  uint64_t n, before;
  zt_hdf5_in in;
  if( zt_hdf5_copy(h, node.address, fixed, 8) ) return h->err->rc;
  if( memcmp(fixed, "TREE", 4)!=0 || fixed[4]!=0 ){
    return group_fail(h, "no node of a group's B-tree", node.address);
  }
  if( fixed[5]>GROUP_LEVEL_MAX || (node.level<=GROUP_LEVEL_MAX && fixed[5]!=node.level) ){
    return group_fail(h, "a wrong level of a B-tree's node", node.address);
  }
  n = zt_le16(fixed+6);
  if( zt_hdf5_read(h, node.address+head, n*(h->length_size+h->offset_size)+h->length_size,
                   &w->bytes)
   || zt_hdf5_check_room(h, node.address, n, h->children,
                         head+h->children*((uint64_t)h->length_size+h->offset_size)+h->length_size,
                         "HD5") ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ w->bytes.p, w->bytes.n });
  before = zt_hdf5_take_length(&in);
  if( node.level<=GROUP_LEVEL_MAX && group_check_node(w, node, before, n) ) return h->err->rc;
  for(uint64_t i=0; i<n && !h->err->rc; i++){
    group_node child = { .level = fixed[5]-1, .before = before };
    child.address = zt_hdf5_take_address(&in);
    child.last = before = zt_hdf5_take_length(&in);
    group_push(w, child);
  }
  return h->err->rc;
}

/* A symbol. Names ascend: *last is the one before. */
static int group_symbol(group_walk *w, zt_hdf5_in *in, const char **last){
  const uint64_t at = zt_hdf5_take_length(in), address = zt_hdf5_take_address(in);
  const unsigned kind = (unsigned)zt_hdf5_take(in, 4);
  const char *name = group_name(w, at);
  uint64_t path;
  zt_hdf5_skip(in, 4);
  path = zt_hdf5_take(in, 4);   /* Of a soft link */
  zt_hdf5_skip(in, 12);
  if( !name || (kind==GROUP_SOFT && !group_name(w, path)) ) return w->h->err->rc;
  if( kind>GROUP_SOFT ) return zt_break(w->h->err, "HD5", "a symbol of unknown kind %u", kind);
  if( strcmp(*last, name)>=0 ){
    return zt_break(w->h->err, "HD5", "name '%s' in a node of symbols behind '%s'", name, *last);
  }
  *last = name;
  if( kind==GROUP_SOFT ) return SQLITE_OK;
  return group_add(w->h, (zt_text){ name, strlen(name) }, address);
}

static int group_symbols(group_walk *w, group_node node){
  zt_hdf5 *h = w->h;
  uint8_t fixed[8] = { 0 };
  const char *last = group_name(w, node.before), *end = last ? group_name(w, node.last) : NULL;
  uint64_t n;
  zt_hdf5_in in;
  if( !end ) return h->err->rc;
  if( zt_hdf5_copy(h, node.address, fixed, 8)
   || zt_hdf5_check_head(h, fixed, "SNOD", 1, node.address, "HD5") ) return h->err->rc;
  if( fixed[4]==0 ) return group_fail(h, "a node of symbols of version 0", node.address);
  n = zt_le16(fixed+6);
  if( zt_hdf5_read(h, node.address+8, n*(h->length_size+h->offset_size+24), &w->bytes)
   || zt_hdf5_check_room(h, node.address, n, h->symbols,
                         8+h->symbols*(h->length_size+h->offset_size+(uint64_t)24), "HD5") ){
    return h->err->rc;
  }
  in = zt_hdf5_in_of(h, (zt_span){ w->bytes.p, w->bytes.n });
  for(uint64_t i=0; i<n && !h->err->rc; i++) group_symbol(w, &in, &last);
  if( !h->err->rc && n>0 && strcmp(last, end)>0 ){
    return zt_break(h->err, "HD5", "name '%s' in a node of symbols up to '%s'", last, end);
  }
  return h->err->rc;
}

/* The free blocks of the heap are in it, and take no more bytes than it has. */
static int group_check_free(group_walk *w, uint64_t at){
  zt_hdf5 *h = w->h;
  uint64_t room = w->heap.n;
  while( at!=GROUP_FREE_END && at!=ZT_HDF5_NONE ){
    zt_hdf5_in in = zt_hdf5_in_of(h, (zt_span){ w->heap.p, w->heap.n });
    uint64_t next, size;
    zt_hdf5_skip(&in, at);
    next = zt_hdf5_take_most(&in);
    size = zt_hdf5_take_length(&in);
    if( in.cut || size==0 || size>room || size>w->heap.n-at ){
      return zt_break(h->err, "HD5", "a broken list of free space in a local heap");
    }
    room -= size;
    at = next;
  }
  return SQLITE_OK;
}

static int group_read_heap(group_walk *w, uint64_t address){
  zt_hdf5 *h = w->h;
  const size_t size = 8+2*h->length_size+h->offset_size;
  uint8_t head[32] = { 0 };
  uint64_t n, free, data;
  zt_hdf5_in in;
  if( zt_hdf5_copy(h, address, head, size)
   || zt_hdf5_check_head(h, head, "HEAP", 0, address, "HD5") ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ head+8, size-8 });
  n = zt_hdf5_take_length(&in);
  free = zt_hdf5_take_most(&in);
  data = zt_hdf5_take_address(&in);
  return zt_hdf5_read(h, data, n, &w->heap) ? h->err->rc : group_check_free(w, free);
}

static int group_old(zt_hdf5 *h, zt_span message){
  group_walk w = { .h = h };
  zt_hdf5_in in = zt_hdf5_in_of(h, message);
  group_node root = { .level = GROUP_LEVEL_MAX+1 };
  uint64_t heap;
  root.address = zt_hdf5_take_address(&in);
  heap = zt_hdf5_take_address(&in);
  if( in.cut ) return zt_break(h->err, "HD5", "a symbol table message that is cut short");
  if( root.address==ZT_HDF5_NONE ) return SQLITE_OK;
  if( group_read_heap(&w, heap)==SQLITE_OK ) group_push(&w, root);
  while( w.n>0 && !h->err->rc ){
    const group_node node = w.todo[--w.n];
    if( zt_hdf5_enter(h, node.address) ) break;
    if( node.level<0 ) group_symbols(&w, node);
    else group_tree(&w, node);
  }
  sqlite3_free(w.todo);
  zt_hdf5_block_clear(&w.heap);
  zt_hdf5_block_clear(&w.bytes);
  return h->err->rc;
}

/* --- Link messages --- */

enum { GROUP_LINK_KIND = 0x08, GROUP_LINK_ORDER = 0x04, GROUP_LINK_CHARSET = 0x10 };

static int group_link(zt_hdf5 *h, zt_span message){
  zt_hdf5_in in = zt_hdf5_in_of(h, message);
  const unsigned version = (unsigned)zt_hdf5_take(&in, 1), flags = (unsigned)zt_hdf5_take(&in, 1);
  unsigned kind = 0;
  zt_span name;
  uint64_t address;
  if( flags & GROUP_LINK_KIND ) kind = (unsigned)zt_hdf5_take(&in, 1);
  if( flags & GROUP_LINK_ORDER ) zt_hdf5_skip(&in, 8);
  if( flags & GROUP_LINK_CHARSET ) zt_hdf5_skip(&in, 1);
  name = zt_hdf5_take_span(&in, zt_hdf5_take(&in, 1u<<(flags & 3)));
  if( in.cut || version!=1 ) return zt_break(h->err, "HD5", "a link message of unknown form");
  if( kind!=0 ) return SQLITE_OK;
  address = zt_hdf5_take_address(&in);
  if( in.cut ) return zt_break(h->err, "HD5", "a link message that is cut short");
  return group_add(h, (zt_text){ (const char*)name.p, name.n }, address);
}

typedef struct group_dense {
  zt_hdf5_heap heap;
  zt_hdf5_block bytes;
} group_dense;

static void group_take_record(zt_hdf5 *h, void *context, const zt_hdf5_record *record){
  group_dense *d = context;
  const unsigned skip = record->type==5 ? 4 : 8;   /* A hash, or the order of creation */
  if( record->n<skip+d->heap.id_length ){
    zt_break(h->err, "HD6", "a record of a link that is too short");
    return;
  }
  if( zt_hdf5_heap_read(h, &d->heap, record->p+skip, &d->bytes)==SQLITE_OK ){
    group_link(h, (zt_span){ d->bytes.p, d->bytes.n });
  }
}

/* Links in a fractal heap, if there is one. */
static int group_dense_links(zt_hdf5 *h, zt_span message){
  group_dense d = { .bytes = { NULL, 0, 0 } };
  zt_hdf5_in in = zt_hdf5_in_of(h, message);
  const unsigned version = (unsigned)zt_hdf5_take(&in, 1), flags = (unsigned)zt_hdf5_take(&in, 1);
  uint64_t heap, tree;
  if( flags & 1 ) zt_hdf5_skip(&in, 8);
  heap = zt_hdf5_take_address(&in);
  tree = zt_hdf5_take_address(&in);
  if( in.cut || version!=0 ) return zt_break(h->err, "HD5", "a link info message of unknown form");
  if( heap==ZT_HDF5_NONE || tree==ZT_HDF5_NONE ) return SQLITE_OK;
  if( zt_hdf5_heap_open(h, heap, &d.heap)==SQLITE_OK ){
    zt_hdf5_btree2(h, tree, 5, group_take_record, &d);
  }
  zt_hdf5_block_clear(&d.bytes);
  return h->err->rc;
}

/* --- All --- */

static int group_compare(const void *context, const void *x, const void *y){
  const zt_hdf5 *h = context;
  const zt_hdf5_link *a = x, *b = y;
  return zt_text_compare((zt_text){ (const char*)h->names.p+a->name, a->length },
                         (zt_text){ (const char*)h->names.p+b->name, b->length });
}

int zt_hdf5_links(zt_hdf5 *h, const zt_hdf5_header *header){
  const size_t first = h->nLink;
  const zt_sort_by by = {
    .size = sizeof(*h->links), .compare = group_compare, .context = h,
    .interrupt = h->b->interrupt
  };
  bool sorted = true;
  for(size_t i=0; i<header->n && !h->err->rc; i++){
    const zt_hdf5_message *m = &header->a[i];
    const zt_span data = zt_hdf5_data(header, m);
    if( m->type==ZT_HDF5_SYMBOLS ) group_old(h, data);
    else if( m->type==ZT_HDF5_LINK ) group_link(h, data);
    else if( m->type==ZT_HDF5_LINK_INFO ) group_dense_links(h, data);
  }
  for(size_t i=first+1; i<h->nLink && sorted; i++){
    sorted = group_compare(h, &h->links[i-1], &h->links[i])<=0;
  }
  if( h->err->rc || sorted ) return h->err->rc;
  return zt_sort(h->links+first, h->nLink-first, &by, h->err);
}
