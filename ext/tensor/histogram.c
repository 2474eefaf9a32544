/* The distribution of values. See histogram.h. */
#include "tensor/histogram.h"

#include <math.h>
#include "core/host.h"
#include "tensor/broadcast.h"
#include "tensor/convert.h"
#include "tensor/ranges.h"
#include "tensor/stats.h"

#define HISTOGRAM_BLOCK 4096
#define HISTOGRAM_WHOLE 0x1p53   /* f64 holds all integers below */
#define HISTOGRAM_NEAR 4         /* Neighbours of the computed bin that are tried one by one */

/* A test counts the accesses to edges. */
#ifndef ZT_HISTOGRAM_EDGE
# define ZT_HISTOGRAM_EDGE(h, i) ((h)->edges[i])
#endif

static double histogram_real(zt_scalar s){
  return s.class==ZT_FLOAT ? s.real : s.class==ZT_INT ? (double)s.i : (double)s.u;
}

/* Compute the edges from both ends, because their distance may overflow f64. Rounding lets them
** neither fall nor exceed the last one. */
static void histogram_set_edges(zt_histogram *h, double low, double high){
  for(uint32_t i=0; i<=h->bins; i++){
    double part = (double)i/(double)h->bins;
    double edge = i==0 ? low : i==h->bins ? high : fmin(low*(1-part)+high*part, high);
    h->edges[i] = i && edge<h->edges[i-1] ? h->edges[i-1] : edge;
  }
}

/* Return the bin of a value: the last one that does not begin above it. Usually it is near bin i.
** If f64 has few numbers between the ends, many edges are equal, and it may be far away. */
static uint32_t histogram_find(const zt_histogram *h, double value, uint32_t i){
  uint32_t from = 0, last = h->bins-1, to = last;
  for(int k=0; k<HISTOGRAM_NEAR; k++){
    if( i>0 && value<ZT_HISTOGRAM_EDGE(h, i) ) to = --i;
    else if( i<last && value>=ZT_HISTOGRAM_EDGE(h, i+1) ) from = ++i;
    else return i;
  }
  while( from<to ){
    const uint32_t middle = from+(to-from+1)/2;
    if( value<ZT_HISTOGRAM_EDGE(h, middle) ) to = middle-1;
    else from = middle;
  }
  return from;
}

/* Return the bin of a value. The edges decide; the computed bin is only the start of the search.
** `unit` scales values so that f64 holds the distance of the ends. */
static uint32_t histogram_bin(const zt_histogram *h, double value, double unit, double width){
  double place = (value*unit - h->edges[0]*unit)/width*(double)h->bins;
  uint32_t last = h->bins-1;
  return histogram_find(h, value, place>0 ? place<(double)last ? (uint32_t)place : last : 0);
}

/* Return the distance of edge i to the least integer: i/bins of the range, rounded up. */
static uint64_t histogram_whole_edge(const zt_histogram *h, uint32_t i){
  const uint64_t each = h->range/h->bins, more = h->range%h->bins;
  return i*each + (i*more + h->bins-1)/h->bins;
}

/* The same as histogram_bin(), for an integer that is `more` above the least one. */
static uint32_t histogram_whole_bin(const zt_histogram *h, uint64_t more){
  const double place = (double)more/(double)h->range*(double)h->bins;
  const uint32_t last = h->bins-1;
  uint32_t i = place<(double)last ? (uint32_t)place : last;
  while( i>0 && more<histogram_whole_edge(h, i) ) i--;
  while( i<last && more>=histogram_whole_edge(h, i+1) ) i++;
  return i;
}

typedef struct histogram_part {
  const zt_histogram *of;
  const zt_dtype *dtype;
  uint64_t elements;         /* That were taken, whether or not they are finite */
  ZT_NUMBERS(HISTOGRAM_BLOCK) block;
  uint64_t counts[];
} histogram_part;

static void histogram_take_block(histogram_part *part, size_t n){
  const zt_histogram *h = part->of;
  const double low = h->edges[0], high = h->edges[h->bins], unit = isfinite(high-low) ? 1 : 0.25;
  const double width = high*unit-low*unit;
  for(size_t i=0; i<n; i++){
    if( !isfinite(part->block.f64[i]) ) continue;
    part->counts[histogram_bin(h, part->block.f64[i], unit, width)]++;
  }
}

static void histogram_take_whole(histogram_part *part, size_t n){
  const zt_histogram *h = part->of;
  for(size_t i=0; i<n; i++){
    part->counts[histogram_whole_bin(h, part->block.u64[i]-h->least.u)]++;
  }
}

typedef struct histogram_whole {
  zt_histogram *of;
  const zt_dtype *dtype;
} histogram_whole;

static size_t histogram_part_size(const zt_histogram *h){
  return sizeof(histogram_part)+h->bins*sizeof(*h->counts);
}

static void histogram_begin(void *context, void *memory, uint64_t first){
  (void)first;
  const histogram_whole *whole = context;
  histogram_part *part = memory;
  part->of = whole->of;
  part->dtype = whole->dtype;
  part->elements = 0;
  memset(part->counts, 0, part->of->bins*sizeof(*part->counts));
}

static void histogram_take_values(void *memory, const void *values, size_t n){
  histogram_part *part = memory;
  const uint8_t *from = values;
  part->elements += n;
  for(size_t i=0; i<n; i+=HISTOGRAM_BLOCK){
    const size_t m = n-i<HISTOGRAM_BLOCK ? n-i : HISTOGRAM_BLOCK;
    const zt_dtype_id id = !part->of->whole ? ZT_DTYPE_f64
                         : part->of->least.class==ZT_INT ? ZT_DTYPE_i64 : ZT_DTYPE_u64;
    zt_convert(part->dtype, from+i*part->dtype->width, zt_dtype_get(id), &part->block, m);
    if( part->of->whole ) histogram_take_whole(part, m);
    else histogram_take_block(part, m);
  }
}

static int histogram_take(void *part, const void *const elements[2], size_t n, zt_error *err){
  histogram_take_values(part, elements[0], n);
  return err->rc;
}

/* Take k cells without a stored element. */
static void histogram_take_blank(histogram_part *part, uint64_t k){
  const zt_histogram *h = part->of;
  if( k==0 ) return;
  part->counts[h->whole ? histogram_whole_bin(h, 0-h->least.u)
               : histogram_find(h, zt_blank_number(part->dtype), 0)] += k;
}

static void histogram_merge(void *context, void *memory){
  zt_histogram *h = ((histogram_whole*)context)->of;
  const histogram_part *part = memory;
  for(uint32_t i=0; i<h->bins; i++) h->counts[i] += part->counts[i];
}

/* Take the stored elements, and then the cells without one. */
static int histogram_take_sparse(histogram_whole *whole, zt_tensor *t, zt_error *err){
  histogram_part *part = sqlite3_malloc64(histogram_part_size(whole->of));
  if( !part ) return zt_fail_nomem(err);
  histogram_begin(whole, part, 0);
  if( zt_sparse_cells(t, histogram_take_values, part, err)==SQLITE_OK ){
    histogram_take_blank(part, t->object->elements-part->elements);
    histogram_merge(whole, part);
  }
  sqlite3_free(part);
  return err->rc;
}

static int histogram_take_tensor(histogram_whole *whole, zt_tensor *t, zt_error *err){
  const zt_ranges ranges = {
    .t = { t }, .n = t->object->elements, .window = zt_tensor_window(t), .context = whole,
    .begin = histogram_begin, .size = histogram_part_size(whole->of), .take = histogram_take,
    .merge = histogram_merge
  };
  return zt_tensor_is_sparse(t) ? histogram_take_sparse(whole, t, err) : zt_ranges_go(&ranges, err);
}

static int histogram_count(zt_tensor *t, zt_histogram *h, zt_error *err){
  histogram_whole whole = { h, t->dtype };
  zt_broadcast b;
  if( zt_broadcast_open(t, NULL, &b, err)==SQLITE_OK ) histogram_take_tensor(&whole, b.once, err);
  for(uint32_t i=0; i<h->bins; i++) h->counts[i] *= b.times;
  zt_broadcast_close(&b);
  return err->rc;
}

/* True if f64 may not distinguish the integer from its neighbours. */
static bool histogram_is_beyond(zt_scalar s){
  return s.class!=ZT_FLOAT && fabs(histogram_real(s))>=HISTOGRAM_WHOLE;
}

int zt_histogram_compute(zt_tensor *t, uint32_t bins, zt_histogram *out, zt_error *err){
  zt_stats stats;
  double low, high;
  *out = (zt_histogram){ 0 };
  if( zt_stats_compute(t, &stats, err) || stats.finite==0 ) return err->rc;
  low = histogram_real(stats.min);
  high = histogram_real(stats.max);
  out->whole = histogram_is_beyond(stats.min) || histogram_is_beyond(stats.max);
  out->least = stats.min;
  out->range = stats.max.u-stats.min.u;
  if( out->whole ? out->range==0 : low==high ) bins = 1;
  out->edges = sqlite3_malloc64(((uint64_t)bins+1)*sizeof(*out->edges));
  out->counts = sqlite3_malloc64(bins*sizeof(*out->counts));
  if( !out->edges || !out->counts ) return zt_fail_nomem(err);
  memset(out->counts, 0, bins*sizeof(*out->counts));
  out->bins = bins;
  histogram_set_edges(out, low, high);
  if( bins==1 ) out->counts[0] = stats.finite;
  else histogram_count(t, out, err);
  return err->rc;
}

zt_scalar zt_histogram_edge(const zt_histogram *h, uint32_t i){
  zt_scalar edge = h->least;
  if( !h->whole ) return (zt_scalar){ .class = ZT_FLOAT, .real = h->edges[i] };
  edge.u += histogram_whole_edge(h, i);
  edge.i = (int64_t)edge.u;
  return edge;
}

void zt_histogram_clear(zt_histogram *h){
  sqlite3_free(h->edges);
  sqlite3_free(h->counts);
  *h = (zt_histogram){ 0 };
}
