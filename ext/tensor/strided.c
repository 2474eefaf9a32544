/*
** Elements at strides. See strided.h.
**
** Stored elements are read in boxes: a range of indices in each dimension. The dimensions with
** small strides form runs, which are read at once, including a few unneeded elements. The other
** dimensions give the starts of runs. Short runs near each other are read through a window. In
** memory, runs are consecutive, and the box has its own strides there. Copying from a box is local
** on both sides: tiles of the two dimensions that are contiguous on either side are halved until
** they fit the nearest cache.
**
** Windows are read in row-major order, and a box covers as many consecutive ones as memory allows.
** A whole tensor is copied in storage order, so that its bytes are decoded once, unless dimensions
** overlap: then the stream goes back.
*/
#include "tensor/strided.h"

#include <assert.h>
#include "core/host.h"

#define STRIDED_FEW 1024                      /* Reads up to this size are no windows of a scan */
#define STRIDED_GAPS 4                        /* Elements of a run for each needed one, at most */
#define STRIDED_WINDOW ((size_t)64 << 10)     /* Bytes */
#define STRIDED_NEAR 8192                     /* Bytes between runs that are read through it */
#define STRIDED_LEAF 1024                     /* Elements that are copied without halving */

/* A range of indices in each dimension, and its elements' places in memory. */
typedef struct strided_box {
  uint64_t begin[ZT_MAX_RANK], count[ZT_MAX_RANK];
  uint64_t place[ZT_MAX_RANK];                /* Strides in memory */
  uint64_t most;                              /* Elements allowed in memory */
  uint64_t run;                               /* Elements read at once */
  uint64_t total;                             /* Elements in memory; UINT64_MAX: too many */
  uint32_t apart;                             /* The first dimension, in the order of strides, that
                                              ** is not within a run */
} strided_box;

struct zt_strided {
  zt_tensor *tensor;
  zt_array *data;
  const zt_object *object;
  unsigned width;                             /* Bytes of an element in memory */
  uint32_t order[ZT_MAX_RANK];                /* Dimensions, those of small strides first */
  uint64_t row_major[ZT_MAX_RANK];            /* Strides of the dense form */
  strided_box box;                            /* The box in memory */
  uint64_t first, n;                          /* Its elements of the dense form; n is 0: none */
  uint8_t *memory;
  uint64_t capacity;                          /* Bytes */
  uint8_t *window;                            /* NULL until needed */
  uint64_t window_at, window_n;               /* Its stored elements */
};

int zt_strided_measure(const zt_object *object, uint64_t *out, zt_error *err){
  *out = object->elements;
  if( !object->has_strides || object->elements==0 ) return SQLITE_OK;
  *out = 1;
  for(uint32_t d=0; d<object->rank; d++){
    uint64_t n;
    if( !zt_mul64(object->shape[d]-1, object->strides[d], &n) || !zt_add64(*out, n, out) ){
      return zt_break(err, "D1", "the strides lead beyond 2^64 elements");
    }
  }
  return SQLITE_OK;
}

zt_strided *zt_strided_new(zt_tensor *t, zt_array *data, zt_error *err){
  zt_strided *s = sqlite3_malloc64(sizeof(*s));
  const zt_object *object = t->object;
  uint64_t n = 1;
  if( !s ){
    zt_fail_nomem(err);
    return NULL;
  }
  *s = (zt_strided){ .tensor = t, .data = data, .object = object, .width = data->dtype->width };
  for(uint32_t d=object->rank; d-->0; n*=object->shape[d]) s->row_major[d] = n;
  for(uint32_t d=0; d<object->rank; d++){
    uint32_t k = d;
    for(; k>0 && object->strides[s->order[k-1]]>object->strides[d]; k--){
      s->order[k] = s->order[k-1];
    }
    s->order[k] = d;
  }
  return s;
}

void zt_strided_free(zt_strided *s){
  if( !s ) return;
  sqlite3_free(s->memory);
  sqlite3_free(s->window);
  sqlite3_free(s);
}

/* --- Boxes --- */

static uint64_t strided_product(uint64_t a, uint64_t b){
  return zt_mul64(a, b, &a) ? a : UINT64_MAX;
}

/* Compute the runs and places of a box from its ranges. Places fit 64 bits, because the strides
** have been measured. */
static void strided_measure(const zt_strided *s, strided_box *b){
  uint64_t wanted = 1, span = 1;
  uint32_t i = 0;
  for(; i<s->object->rank; i++){
    const uint32_t d = s->order[i];
    const uint64_t longer = span+(b->count[d]-1)*s->object->strides[d];
    b->place[d] = s->object->strides[d];
    if( s->object->strides[d]==0 || b->count[d]==1 ) continue;
    if( longer>b->most || longer/STRIDED_GAPS>strided_product(wanted, b->count[d]) ) break;
    wanted = strided_product(wanted, b->count[d]);
    span = longer;
  }
  b->apart = i;
  b->run = b->total = span;
  for(; i<s->object->rank; i++){
    const uint32_t d = s->order[i];
    b->place[d] = b->total;
    b->total = strided_product(b->total, b->count[d]);
  }
}

/* Shorten dimension d of a box until it fits memory, down to one index. */
static void strided_shorten(const zt_strided *s, strided_box *b, uint32_t d){
  for(;;){
    strided_measure(s, b);
    if( b->total<=b->most || b->count[d]==1 ) return;
    b->count[d] = (b->count[d]+1)/2;
  }
}

static void strided_indices(const zt_strided *s, uint64_t position, uint64_t *out){
  for(uint32_t d=s->object->rank; d-->0; position/=s->object->shape[d]){
    out[d] = position%s->object->shape[d];
  }
}

/* Choose a box of consecutive elements of the dense form from `first` on: at least one, at most
** `wanted`. Returns their number. */
static uint64_t strided_choose(const zt_strided *s, uint64_t first, uint64_t wanted,
                               strided_box *b){
  const zt_object *object = s->object;
  b->most = ZT_STRIDED_KEPT/s->width;
  strided_indices(s, first, b->begin);
  for(uint32_t d=0; d<object->rank; d++){
    const uint64_t each = s->row_major[d], fit = wanted/each>0 ? wanted/each : 1;
    bool whole = true;   /* Faster dimensions start at index 0 */
    for(uint32_t k=0; k<object->rank; k++){
      b->count[k] = k<d ? 1 : k==d ? object->shape[d]-b->begin[d] : object->shape[k];
      whole &= k<=d || b->begin[k]==0;
    }
    if( !whole ) continue;
    if( b->count[d]>fit ) b->count[d] = fit;
    strided_shorten(s, b, d);
    if( (b->total<=b->most && each<=wanted) || d+1==object->rank ) return b->count[d]*each;
  }
  strided_measure(s, b);   /* A scalar */
  return 1;
}

static int strided_need(zt_strided *s, uint64_t bytes, zt_error *err){
  uint8_t *p;
  if( bytes<=s->capacity ) return SQLITE_OK;
  p = sqlite3_malloc64(bytes);
  if( !p ) return zt_fail_nomem(err);
  sqlite3_free(s->memory);
  s->memory = p;
  s->capacity = bytes;
  return SQLITE_OK;
}

/* Read n stored elements through the window. If requests ascend, reads of the stream do too. */
static int strided_fetch(zt_strided *s, uint64_t at, uint64_t n, uint8_t *out, zt_error *err){
  const uint64_t room = STRIDED_WINDOW/s->width;
  if( !s->window && (s->window = sqlite3_malloc64(STRIDED_WINDOW))==NULL ){
    return zt_fail_nomem(err);
  }
  while( n>0 ){
    uint64_t skip, m;
    if( at<s->window_at || at-s->window_at>=s->window_n ){
      m = s->data->length-at<room ? s->data->length-at : room;
      s->window_n = 0;
      if( zt_array_read(s->data, at, (size_t)m, s->window, err) ) return err->rc;
      s->window_at = at;
      s->window_n = m;
    }
    skip = at-s->window_at;
    m = s->window_n-skip<n ? s->window_n-skip : n;
    memcpy(out, s->window+skip*s->width, (size_t)m*s->width);
    at += m;
    out += m*s->width;
    n -= m;
  }
  return SQLITE_OK;
}

static bool strided_is_near(const zt_strided *s, const strided_box *b){
  return b->apart<s->object->rank && s->object->strides[s->order[b->apart]]<=STRIDED_NEAR/s->width;
}

/* Read a box into memory, from its first stored element to its last. */
static int strided_load(zt_strided *s, const strided_box *b, zt_error *err){
  const uint64_t *strides = s->object->strides;
  const bool near = strided_is_near(s, b);
  uint64_t index[ZT_MAX_RANK] = { 0 }, at = 0, to = 0;
  if( strided_need(s, b->total*s->width, err) ) return err->rc;
  for(uint32_t d=0; d<s->object->rank; d++) at += b->begin[d]*strides[d];
  for(;;){
    uint32_t i = b->apart;
    uint8_t *out = s->memory+to*s->width;
    if( near ? strided_fetch(s, at, b->run, out, err)
             : zt_array_read(s->data, at, (size_t)b->run, out, err) ) return err->rc;
    if( zt_tensor_poll(s->tensor, b->run, err) ) return err->rc;
    for(; i<s->object->rank; i++){
      const uint32_t d = s->order[i];
      at += strides[d];
      to += b->place[d];
      if( ++index[d]<b->count[d] ) break;
      at -= index[d]*strides[d];
      to -= index[d]*b->place[d];
      index[d] = 0;
    }
    if( i==s->object->rank ) return SQLITE_OK;
  }
}

/* --- Copying --- */

typedef struct strided_copy {
  uint32_t rank;                              /* Dimensions with several indices */
  size_t n[ZT_MAX_RANK], from[ZT_MAX_RANK], to[ZT_MAX_RANK];   /* Strides in bytes */
  size_t width;                               /* Bytes copied at once */
  uint32_t near;                              /* The dimension of the smallest stride in memory */
} strided_copy;

static void strided_copy_line(const strided_copy *c, const uint8_t *p, uint8_t *out){
  const size_t n = c->n[c->rank-1], from = c->from[c->rank-1], to = c->to[c->rank-1];
#define STRIDED_COPY(width) \
  for(size_t i=0; i<n; i++) memcpy(out+i*to, p+i*from, width)
  switch( c->width ){
    case 1:  STRIDED_COPY(1); break;
    case 2:  STRIDED_COPY(2); break;
    case 4:  STRIDED_COPY(4); break;
    case 8:  STRIDED_COPY(8); break;
    default: STRIDED_COPY(c->width); break;
  }
#undef STRIDED_COPY
}

static void strided_copy_leaf(const strided_copy *c, uint32_t d, const uint8_t *p, uint8_t *out){
  if( d+1>=c->rank ){
    if( c->rank>0 ) strided_copy_line(c, p, out);
    else memcpy(out, p, c->width);
    return;
  }
  for(size_t i=0; i<c->n[d]; i++) strided_copy_leaf(c, d+1, p+i*c->from[d], out+i*c->to[d]);
}

/* Return the dimension to halve: the longest, first among those that are contiguous on no side. */
static uint32_t strided_longest(const strided_copy *c){
  uint32_t other = c->rank, longest = c->rank-1;
  for(uint32_t d=0; d<c->rank; d++){
    const bool tile = d==c->near || d+1==c->rank;
    if( !tile && c->n[d]>1 && (other==c->rank || c->n[d]>c->n[other]) ) other = d;
    if( tile && c->n[d]>c->n[longest] ) longest = d;
  }
  return other<c->rank ? other : longest;
}

static void strided_copy_halves(strided_copy *c, const uint8_t *p, uint8_t *out){
  uint32_t longest;
  uint64_t all = 1;
  size_t n, half;
  for(uint32_t d=0; d<c->rank; d++) all = strided_product(all, c->n[d]);
  if( all<=STRIDED_LEAF ){
    strided_copy_leaf(c, 0, p, out);
    return;
  }
  longest = strided_longest(c);
  n = c->n[longest];
  half = n/2;
  c->n[longest] = half;
  strided_copy_halves(c, p, out);
  c->n[longest] = n-half;
  strided_copy_halves(c, p+half*c->from[longest], out+half*c->to[longest]);
  c->n[longest] = n;
}

/* Copy a box from memory; `to` has strides of the result in elements. Elements that are contiguous
** on both sides are copied as one. */
static void strided_copy_box(const zt_strided *s, const uint64_t *count, const uint64_t *to,
                             const uint8_t *p, uint8_t *out){
  strided_copy c = { .width = s->width };
  for(uint32_t d=0; d<s->object->rank; d++){
    if( count[d]==1 ) continue;
    c.n[c.rank] = (size_t)count[d];
    c.from[c.rank] = (size_t)s->box.place[d]*s->width;
    c.to[c.rank++] = (size_t)to[d]*s->width;
  }
  while( c.rank>0 && c.from[c.rank-1]==c.width && c.to[c.rank-1]==c.width ){
    c.width *= c.n[--c.rank];
  }
  for(uint32_t d=1; d<c.rank; d++){
    if( c.from[d]>0 && (c.from[c.near]==0 || c.from[d]<c.from[c.near]) ) c.near = d;
  }
  strided_copy_halves(&c, p, out);
}

/* Copy n consecutive elements of the box in memory, from position `first` within dimensions d and
** later: the rest of one index, whole indices, and the beginning of another. */
static void strided_copy_range(const zt_strided *s, uint32_t d, const uint8_t *p, uint64_t first,
                               uint64_t n, uint8_t *out){
  uint64_t count[ZT_MAX_RANK], each, index, offset, whole;
  while( n>0 ){
    if( d>=s->object->rank ){
      memcpy(out, p, s->width);
      return;
    }
    each = s->row_major[d];
    index = first/each;
    offset = first%each;
    whole = offset==0 ? n/each : 0;
    if( whole>0 ){
      for(uint32_t k=0; k<s->object->rank; k++){
        count[k] = k<d ? 1 : k==d ? whole : s->object->shape[k];
      }
      strided_copy_box(s, count, s->row_major, p+index*s->box.place[d]*s->width, out);
      whole *= each;
    }else{
      whole = each-offset<n ? each-offset : n;
      strided_copy_range(s, d+1, p+index*s->box.place[d]*s->width, offset, whole, out);
    }
    first += whole;
    out += whole*s->width;
    n -= whole;
  }
}

/* --- Reading --- */

/* Read the whole tensor in storage order: in boxes of all indices of the dimensions with small
** strides. */
static int strided_read_all(zt_strided *s, uint8_t *out, zt_error *err){
  const uint32_t rank = s->object->rank;
  strided_box *b = &s->box;
  uint64_t to;
  uint32_t i = 0, split = rank;
  memset(b->begin, 0, sizeof(b->begin));
  memcpy(b->count, s->object->shape, sizeof(b->count));
  s->n = 0;
  b->most = ZT_STRIDED_KEPT/s->width;
  strided_measure(s, b);
  while( split>0 && b->total>b->most ) strided_shorten(s, b, s->order[--split]);
  for(;;){
    uint64_t step[ZT_MAX_RANK];
    memcpy(step, b->count, sizeof(step));
    for(i=split; i<rank; i++){   /* The last box of a dimension is shorter */
      const uint32_t d = s->order[i];
      if( b->count[d]>s->object->shape[d]-b->begin[d] ){
        b->count[d] = s->object->shape[d]-b->begin[d];
      }
    }
    strided_measure(s, b);
    if( strided_load(s, b, err) ) return err->rc;
    to = 0;
    for(uint32_t d=0; d<rank; d++) to += b->begin[d]*s->row_major[d];
    strided_copy_box(s, b->count, s->row_major, s->memory, out+to*s->width);
    memcpy(b->count, step, sizeof(step));
    for(i=split; i<rank; i++){
      const uint32_t d = s->order[i];
      b->begin[d] += b->count[d];
      if( b->begin[d]<s->object->shape[d] ) break;
      b->begin[d] = 0;
    }
    if( i==rank ) return SQLITE_OK;
  }
}

int zt_strided_read(zt_strided *s, uint64_t first, uint64_t n, uint8_t *out, zt_error *err){
  assert( n>0 );
  if( n==s->object->elements && n>STRIDED_FEW ) return strided_read_all(s, out, err);
  while( n>0 ){
    uint64_t piece;
    if( first<s->first || first-s->first>=s->n ){
      s->n = 0;
      piece = strided_choose(s, first, n<STRIDED_FEW ? n : UINT64_MAX, &s->box);
      if( strided_load(s, &s->box, err) ) return err->rc;
      s->first = first;
      s->n = piece;
    }
    piece = s->first+s->n-first;
    if( piece>n ) piece = n;
    strided_copy_range(s, 0, s->memory, first-s->first, piece, out);
    if( zt_tensor_poll(s->tensor, piece, err) ) return err->rc;
    first += piece;
    out += piece*s->width;
    n -= piece;
  }
  return SQLITE_OK;
}
