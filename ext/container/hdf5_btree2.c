/*
** HDF5: B-trees of version 2, whose nodes hold records of one size. See hdf5.h, and hdf5.c for the
** grammar.
**
** Records are visited level by level, not in their order. Each node is visited once.
*/
#include "container/hdf5.h"

#include "core/grow.h"

#define BTREE2_DEPTH 32               /* Levels, at most */
#define BTREE2_HEAD 6                 /* Bytes of signature, version and type */
#define BTREE2_FIXED 10               /* These, and the checksum */

typedef struct btree2_node {
  uint64_t address, records;
  unsigned level;                    /* 0: a leaf */
} btree2_node;

typedef struct btree2_walk {
  zt_hdf5 *h;
  unsigned type, record;             /* Of records: type and bytes */
  uint32_t node_size;
  unsigned width;                    /* Bytes of the number of a child's records */
  uint64_t most[BTREE2_DEPTH+1];      /* Records of a node of each level */
  unsigned all_width[BTREE2_DEPTH+1]; /* Bytes of the number of records below, of each level */
  btree2_node *todo;                  /* Owned */
  size_t n, room;
  zt_hdf5_block bytes;
  zt_hdf5_take_record *take;
  void *context;
} btree2_walk;

static int btree2_fail(zt_hdf5 *h, const char *fault, uint64_t address){
  return zt_break(h->err, "HD6", "%s in the B-tree at address %llu", fault,
                  (unsigned long long)address);
}

static int btree2_push(btree2_walk *w, btree2_node node){
  btree2_node *todo = zt_grow(w->todo, &w->room, w->n+1, sizeof(*todo), w->h->err);
  if( !todo ) return w->h->err->rc;
  w->todo = todo;
  w->todo[w->n++] = node;
  return SQLITE_OK;
}

/* Compute how many records nodes hold, which the widths of fields depend on. */
static int btree2_measure(btree2_walk *w, unsigned depth, uint64_t address){
  uint64_t all;
  if( depth>BTREE2_DEPTH || w->record==0 || w->node_size<BTREE2_FIXED+w->record ){
    return btree2_fail(w->h, "a wrong size or depth", address);
  }
  w->most[0] = all = (w->node_size-BTREE2_FIXED)/w->record;
  w->width = zt_hdf5_width(all);
  w->all_width[0] = 0;
  for(unsigned level=1; level<=depth; level++){
    const unsigned child = w->h->offset_size+w->width+w->all_width[level-1];
    if( w->node_size<BTREE2_FIXED+child ) return btree2_fail(w->h, "a small node", address);
    w->most[level] = (w->node_size-BTREE2_FIXED-child)/(w->record+child);
    if( !zt_mul64(w->most[level]+1, all, &all) || !zt_add64(all, w->most[level], &all) ){
      return btree2_fail(w->h, "too many levels", address);
    }
    w->all_width[level] = zt_hdf5_width(all);
  }
  return SQLITE_OK;
}

static int btree2_visit(btree2_walk *w, btree2_node node){
  zt_hdf5 *h = w->h;
  const bool leaf = node.level==0;
  const unsigned child = leaf ? 0 : h->offset_size+w->width+w->all_width[node.level-1];
  uint64_t size;
  zt_hdf5_in in;
  if( node.records>w->most[node.level] ){
    return btree2_fail(h, "a node with more records than it has room for", node.address);
  }
  size = BTREE2_FIXED+node.records*w->record+(leaf ? 0 : (node.records+1)*child);
  if( zt_hdf5_enter(h, node.address) || zt_hdf5_read(h, node.address, size, &w->bytes)
   || zt_hdf5_check_head(h, w->bytes.p, leaf ? "BTLF" : "BTIN", 0, node.address, "HD6")
   || zt_hdf5_check_sum(h, w->bytes.p, w->bytes.n, node.address) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ w->bytes.p+BTREE2_HEAD, w->bytes.n-BTREE2_FIXED });
  for(uint64_t i=0; i<node.records && !h->err->rc; i++){
    const zt_hdf5_record record = { zt_hdf5_take_span(&in, w->record).p, w->record, w->type };
    w->take(h, w->context, &record);
  }
  for(uint64_t i=0; !leaf && i<=node.records && !h->err->rc; i++){
    btree2_node below = { .level = node.level-1 };
    below.address = zt_hdf5_take_address(&in);
    below.records = zt_hdf5_take(&in, w->width);
    zt_hdf5_skip(&in, w->all_width[node.level-1]);
    btree2_push(w, below);
  }
  return h->err->rc;
}

int zt_hdf5_btree2(zt_hdf5 *h, uint64_t address, unsigned type, zt_hdf5_take_record *take,
                   void *context){
  const size_t size = 16+h->offset_size+2+h->length_size+4;
  btree2_walk w = { .h = h, .take = take, .context = context };
  uint8_t head[64];
  btree2_node root = { 0 };
  zt_hdf5_in in;
  unsigned depth;
  if( zt_hdf5_copy(h, address, head, size)
   || zt_hdf5_check_head(h, head, "BTHD", 0, address, "HD6")
   || zt_hdf5_check_sum(h, head, size, address) ) return h->err->rc;
  in = zt_hdf5_in_of(h, (zt_span){ head+5, size-9 });
  w.type = (unsigned)zt_hdf5_take(&in, 1);
  w.node_size = (uint32_t)zt_hdf5_take(&in, 4);
  w.record = (unsigned)zt_hdf5_take(&in, 2);
  depth = (unsigned)zt_hdf5_take(&in, 2);
  zt_hdf5_skip(&in, 2);
  root.address = zt_hdf5_take_address(&in);
  root.records = zt_hdf5_take(&in, 2);
  root.level = depth;
  if( w.type!=type && w.type!=type+1 ) return btree2_fail(h, "records of another type", address);
  if( root.address==ZT_HDF5_NONE ) return SQLITE_OK;
  if( btree2_measure(&w, depth, address)==SQLITE_OK ) btree2_push(&w, root);
  while( w.n>0 && !h->err->rc ) btree2_visit(&w, w.todo[--w.n]);
  sqlite3_free(w.todo);
  zt_hdf5_block_clear(&w.bytes);
  return h->err->rc;
}
