/*
** Partitioned variables of TensorFlow checkpoints (tensor_slice.proto). The variable's entry lists
** its slices, and each slice is an entry of its own, whose key is made of the variable's name and
** the slice's place (tensorflow's OrderedCode):
**
**   key    := 0x00 text 0x00 0x01 number(rank) ( signed(start) signed(length) ){rank}
**   text   := name, with 0x00 0xFF for 0x00, and 0xFF 0x00 for 0xFF
**   number := u8 n, n bytes, big-endian, without leading zeros
**   signed := two's complement, big-endian, in 1 to 10 bytes: the first bits, as many as bytes, are
**             the opposite of the sign, and one bit of the sign follows
**
** The fields that are read:
**
**   BundleEntryProto   7 slices
**   TensorSliceProto   1 extent
**   Extent             1 start, 2 length; without it all of the dimension, `-1` in the key
**
** Slices are put together if they have all elements of the variable once (TB6). The bounds of all
** slices cut the variable into cells, at most PARTITION_CELLS; each slice has some of them.
*/
#include "container/tensorflow.h"

#include "core/grow.h"
#include "core/protobuf.h"
#include "core/sort.h"

#define PARTITION_CELLS ((uint64_t)1 << 20)
#define PARTITION_SIGNED 10          /* Bytes of a number in a key, at most */

const char *const zt_tensorflow_slices_faults[] = {
  [ZT_SLICES_SOUND] = NULL,
  [ZT_SLICES_SHAPE] = "it has slices, and a shape that has none",
  [ZT_SLICES_PLACE] = "a slice has no elements, does not lie in it, or has another rank",
  [ZT_SLICES_ABSENT] = "a slice is not in the index",
  [ZT_SLICES_OTHER] = "a slice has another type, or another shape than its place",
  [ZT_SLICES_TWICE] = "its slices overlap",
  [ZT_SLICES_MISSING] = "its slices do not have all of its elements",
  [ZT_SLICES_CELLS] = "its slices cut it into more than 2^20 cells"
};

/* One variable. */
typedef struct partition_of {
  zt_tensorflow_slices *s;
  zt_builder *b;
  zt_span name;
  const zt_tensorflow_entry *entry;
  size_t records;          /* Bytes of records before the variable's */
  uint32_t n;              /* Its slices so far */
  uint8_t fault;
} partition_of;

typedef struct partition_extent {
  int64_t start, length;   /* length -1: all */
} partition_extent;

/* --- Records --- */

static int partition_put(zt_tensorflow_slices *s, const void *p, size_t n, zt_error *err){
  uint8_t *grown = zt_grow(s->p, &s->room, (uint64_t)s->n+n, 1, err);
  if( !grown ) return err->rc;
  s->p = grown;
  memcpy(s->p+s->n, p, n);
  s->n += n;
  return SQLITE_OK;
}

void zt_tensorflow_slices_clear(zt_tensorflow_slices *s){
  zt_u32_array_clear(&s->keys);
  sqlite3_free(s->p);
}

size_t zt_tensorflow_slice_at(const uint8_t *at, uint32_t rank, zt_tensorflow_slice *out,
                              zt_text *role, zt_span *box){
  memcpy(out, at, sizeof(*out));
  *role = (zt_text){ (const char*)at+sizeof(*out), out->role };
  *box = (zt_span){ at+sizeof(*out)+out->role, 2*sizeof(uint64_t)*rank };
  return sizeof(*out)+out->role+box->n;
}

/* First index, and number of indices, of a box in a dimension. */
static void partition_box(zt_span box, uint32_t d, uint64_t *first, uint64_t *n){
  const uint8_t *at = box.p+2*sizeof(uint64_t)*d;
  *first = zt_load64(at);
  *n = zt_load64(at+sizeof(uint64_t));
}

/* --- Keys --- */

static size_t partition_put_signed(int64_t i, uint8_t *out){
  const uint64_t u = i<0 ? ~(uint64_t)i : (uint64_t)i;
  uint8_t bytes[PARTITION_SIGNED];
  unsigned bits = 0, n;
  while( bits<63 && u>>bits ) bits++;
  n = bits/7+1;
  for(unsigned k=0; k<PARTITION_SIGNED; k++){
    bytes[k] = (uint8_t)(k<2 ? (i<0 ? 0xFF : 0) : (uint64_t)i>>8*(PARTITION_SIGNED-1-k));
  }
  memcpy(out, bytes+PARTITION_SIGNED-n, n);
  out[0] = (uint8_t)(out[0] ^ (n<8 ? 0xFF00u>>n : 0xFF));
  if( n>8 ) out[1] = (uint8_t)(out[1] ^ 0xFF00u>>(n-8));
  return n;
}

/* Append the key of a slice to the records. */
static int partition_put_key(const partition_of *o, const partition_extent *extents){
  static const uint8_t begin[1] = { 0 }, end[2] = { 0, 1 };   /* A name (TB2) needs no escape */
  const uint8_t rank[2] = { 1, (uint8_t)o->entry->rank };
  uint8_t number[PARTITION_SIGNED];
  if( partition_put(o->s, begin, sizeof(begin), o->b->err)
   || partition_put(o->s, o->name.p, o->name.n, o->b->err)
   || partition_put(o->s, end, sizeof(end), o->b->err) ) return o->b->err->rc;
  partition_put(o->s, rank, sizeof(rank), o->b->err);
  for(uint32_t d=0; d<o->entry->rank && !o->b->err->rc; d++){
    const size_t n = partition_put_signed(extents[d].start, number);
    if( partition_put(o->s, number, n, o->b->err) ) break;
    partition_put(o->s, number, partition_put_signed(extents[d].length, number), o->b->err);
  }
  return o->b->err->rc;
}

static int partition_compare(zt_span a, zt_span b){
  return zt_text_compare((zt_text){ (const char*)a.p, a.n }, (zt_text){ (const char*)b.p, b.n });
}

/* The item of a key; false if there is none. */
static bool partition_find(const partition_of *o, zt_span key, uint32_t *out){
  zt_tensorflow_item item;
  uint32_t low = 0, high = o->s->keys.n;
  while( low<high ){
    const uint32_t middle = low+(high-low)/2;
    int order;
    *out = o->s->keys.a[middle];
    zt_tensorflow_item_at(o->b->container, *out, &item);
    order = partition_compare(item.key, key);
    if( order==0 ) return true;
    if( order<0 ) low = middle+1;
    else high = middle;
  }
  return false;
}

/* --- One slice --- */

/* Read an extent; false after a failure. */
static bool partition_read_extent(zt_protobuf *in, zt_message m, partition_extent *out){
  zt_wire_field f;
  *out = (partition_extent){ 0, -1 };
  while( zt_protobuf_next(in, &m, &f) ){
    if( f.type!=ZT_WIRE_VARINT ) continue;
    if( f.number==1 ) out->start = (int64_t)f.value;
    else if( f.number==2 ) out->length = (int64_t)f.value;
  }
  return !in->err->rc;
}

/* Set a dimension's range in the box. False if it is empty, or not in the variable. */
static bool partition_resolve(const zt_tensorflow_entry *of, size_t d, partition_extent e,
                              uint64_t *box){
  if( e.start<0 || e.start>of->shape[d] ) return false;
  if( e.length==-1 && e.start>0 ) return false;
  box[0] = (uint64_t)e.start;
  box[1] = e.length==-1 ? (uint64_t)of->shape[d] : (uint64_t)e.length;
  return box[1]>0 && e.length>=-1 && box[1]<=(uint64_t)(of->shape[d]-e.start);
}

/* Append the role: `start,length`, or `-` for all, of each dimension, as tensorflow writes it. */
static int partition_put_role(const partition_of *o, size_t rank,
                              const partition_extent *extents){
  for(size_t d=0; d<rank; d++){
    char text[48];
    if( extents[d].length==-1 ) sqlite3_snprintf(sizeof(text), text, "%s-", d ? ":" : "");
    else sqlite3_snprintf(sizeof(text), text, "%s%lld,%lld", d ? ":" : "",
                          (sqlite3_int64)extents[d].start, (sqlite3_int64)extents[d].length);
    if( partition_put(o->s, text, strlen(text), o->b->err) ) return o->b->err->rc;
  }
  return SQLITE_OK;
}

/* Returns whether the slice's own entry has the variable's type, and the shape of its place. */
static bool partition_fits(const partition_of *o, const zt_tensorflow_entry *e, size_t rank,
                           const uint64_t *box){
  if( e->type!=o->entry->type || e->rank!=rank || e->slices ) return false;
  for(size_t d=0; d<rank; d++) if( (uint64_t)e->shape[d]!=box[2*d+1] ) return false;
  return true;
}

/* Add a slice of the variable's rank. */
static int partition_add(partition_of *o, size_t rank, const partition_extent *extents,
                         const uint64_t *box){
  const size_t at = o->s->n;
  zt_tensorflow_slice slice = { .item = 0 };
  zt_tensorflow_item item;
  zt_tensorflow_entry e;
  if( partition_put_key(o, extents) ) return o->b->err->rc;
  if( !partition_find(o, (zt_span){ o->s->p+at, o->s->n-at }, &slice.item) ){
    o->fault = ZT_SLICES_ABSENT;
    return SQLITE_OK;
  }
  zt_tensorflow_entry_at(o->b->container, slice.item, &item, &e);
  if( o->n==o->s->keys.n ) o->fault = ZT_SLICES_TWICE;   /* It has more than there are */
  else if( !partition_fits(o, &e, rank, box) ) o->fault = ZT_SLICES_OTHER;
  slice.shard = (uint32_t)e.shard;
  o->s->n = at;
  if( partition_put(o->s, &slice, sizeof(slice), o->b->err)
   || partition_put_role(o, rank, extents) ){
    return o->b->err->rc;
  }
  slice.role = (uint32_t)(o->s->n-at-sizeof(slice));
  memcpy(o->s->p+at, &slice, sizeof(slice));
  o->n++;
  return partition_put(o->s, box, 2*sizeof(*box)*rank, o->b->err);
}

static void partition_read(partition_of *o, zt_protobuf *in, zt_message m){
  partition_extent extents[ZT_MAX_RANK];
  uint64_t box[2*ZT_MAX_RANK];
  size_t rank = 0;
  zt_wire_field f;
  while( !o->fault && zt_protobuf_next(in, &m, &f) ){
    if( f.number!=1 || f.type!=ZT_WIRE_BYTES ) continue;
    if( rank<o->entry->rank && !partition_read_extent(in, f.bytes, &extents[rank]) ) return;
    if( rank==o->entry->rank
     || !partition_resolve(o->entry, rank, extents[rank], box+2*rank) ) o->fault = ZT_SLICES_PLACE;
    rank++;
  }
  if( in->err->rc || o->fault ) return;
  if( rank<o->entry->rank ) o->fault = ZT_SLICES_PLACE;
  else partition_add(o, rank, extents, box);
}

/* --- All slices of a variable: TB6 --- */

/* The bounds of slices in the dimensions that they cut, and the cells between them. */
typedef struct partition_grid {
  uint64_t *bounds;        /* Of one dimension after the other, sorted; owned */
  uint32_t rank;           /* Dimensions that are cut, */
  uint32_t d[ZT_MAX_RANK];         /* which they are, */
  uint64_t first[ZT_MAX_RANK];     /* where their bounds begin, */
  uint64_t cells[ZT_MAX_RANK];     /* and the cells along them */
  uint64_t all;            /* Cells */
  uint8_t *taken;          /* A byte for each; owned */
} partition_grid;

static int partition_by_number(const void *unused, const void *x, const void *y){
  const uint64_t a = zt_load64(x), b = zt_load64(y);
  (void)unused;
  return (a>b)-(a<b);
}

/* Set the bounds of a dimension at `a`, which has room for two of each slice. Returns the number of
** cells between them; 0 after a failure. */
static uint64_t partition_cut(const partition_of *o, uint32_t d, uint64_t *a){
  const zt_sort_by by = { sizeof(*a), partition_by_number, NULL, o->b->interrupt };
  uint64_t n = 0, cells = 0;
  size_t at = o->records;
  for(uint32_t i=0; i<o->n; i++){
    zt_tensorflow_slice slice;
    zt_text role;
    zt_span box;
    at += zt_tensorflow_slice_at(o->s->p+at, o->entry->rank, &slice, &role, &box);
    partition_box(box, d, &a[n], &a[n+1]);
    a[n+1] += a[n];
    n += 2;
  }
  if( zt_sort(a, (size_t)n, &by, o->b->err) ) return 0;
  for(uint64_t i=1; i<n; i++) if( a[i]!=a[cells] ) a[++cells] = a[i];
  return cells;
}

/* Find the cells. False after a failure or a fault. */
static bool partition_grid_open(partition_of *o, partition_grid *g){
  uint64_t used = 0;
  size_t room = 0;
  g->all = 1;
  for(uint32_t d=0; d<o->entry->rank; d++){
    uint64_t *grown = zt_grow(g->bounds, &room, used+2*(uint64_t)o->n, sizeof(*grown), o->b->err);
    uint64_t cells;
    if( !grown ) return false;
    g->bounds = grown;
    cells = partition_cut(o, d, grown+used);
    if( cells==0 ) return false;
    if( grown[used]>0 || grown[used+cells]<(uint64_t)o->entry->shape[d] ){
      o->fault = ZT_SLICES_MISSING;
    }else if( cells>PARTITION_CELLS/g->all ) o->fault = ZT_SLICES_CELLS;
    if( o->fault ) return false;
    if( cells==1 ) continue;
    g->d[g->rank] = d;
    g->first[g->rank] = used;
    g->cells[g->rank++] = cells;
    g->all *= cells;
    used += cells+1;
  }
  g->taken = sqlite3_malloc64(g->all);
  if( !g->taken ) return zt_fail_nomem(o->b->err), false;
  memset(g->taken, 0, (size_t)g->all);
  return true;
}

/* The place of a bound. */
static uint64_t partition_bound(const partition_grid *g, uint32_t k, uint64_t bound){
  const uint64_t *a = g->bounds+g->first[k];
  uint64_t low = 0, high = g->cells[k];
  while( low<high ){
    const uint64_t middle = low+(high-low)/2;
    if( a[middle]<bound ) low = middle+1;
    else high = middle;
  }
  return low;
}

/* Take the cells of a box. Returns their number; 0 if one is taken. */
static uint64_t partition_take(const partition_grid *g, zt_span box){
  uint64_t low[ZT_MAX_RANK], high[ZT_MAX_RANK], at[ZT_MAX_RANK], n = 0;
  uint32_t k = 0;
  for(uint32_t i=0; i<g->rank; i++){
    uint64_t first, count;
    partition_box(box, g->d[i], &first, &count);
    low[i] = at[i] = partition_bound(g, i, first);
    high[i] = partition_bound(g, i, first+count);
  }
  do{
    uint64_t cell = 0;
    for(uint32_t i=0; i<g->rank; i++) cell = cell*g->cells[i]+at[i];
    if( g->taken[cell] ) return 0;
    g->taken[cell] = 1;
    n++;
    for(k=g->rank; k>0 && ++at[k-1]==high[k-1]; k--) at[k-1] = low[k-1];
  }while( k>0 );
  return n;
}

static void partition_check_cover(partition_of *o){
  partition_grid g = { .rank = 0 };
  uint64_t taken = 0;
  size_t at = o->records;
  bool sound = partition_grid_open(o, &g);
  for(uint32_t i=0; i<o->n && sound; i++){
    zt_tensorflow_slice slice;
    zt_text role;
    zt_span box;
    uint64_t n;
    at += zt_tensorflow_slice_at(o->s->p+at, o->entry->rank, &slice, &role, &box);
    n = partition_take(&g, box);
    taken += n;
    if( n==0 ) o->fault = ZT_SLICES_TWICE;
    sound = n>0 && zt_interrupt_check(o->b->interrupt, o->b->err)==SQLITE_OK;
  }
  if( sound && taken<g.all ) o->fault = ZT_SLICES_MISSING;
  sqlite3_free(g.bounds);
  sqlite3_free(g.taken);
}

static bool partition_has_shape(const zt_tensorflow_entry *e){
  for(uint32_t d=0; d<e->rank; d++) if( e->shape[d]<=0 ) return false;
  return e->rank>0;
}

int zt_tensorflow_slices_add(zt_tensorflow_slices *s, zt_builder *b, zt_span name, zt_span value,
                             const zt_tensorflow_entry *of, uint8_t *fault){
  partition_of o = { .s = s, .b = b, .name = name, .entry = of, .records = s->n };
  zt_message all = { 0, value.n };
  zt_protobuf in;
  zt_wire_field f;
  if( !partition_has_shape(of) ) o.fault = ZT_SLICES_SHAPE;
  zt_protobuf_open_bytes(value, b->interrupt, &in, b->err);
  while( !o.fault && zt_protobuf_next(&in, &all, &f) ){
    if( f.number==7 && f.type==ZT_WIRE_BYTES ) partition_read(&o, &in, f.bytes);
  }
  zt_protobuf_close(&in);
  if( !o.fault && !b->err->rc ) partition_check_cover(&o);
  if( o.fault ) s->n = o.records;
  else s->found += o.n;
  s->faulty = s->faulty || o.fault;
  *fault = o.fault;
  return b->err->rc;
}
