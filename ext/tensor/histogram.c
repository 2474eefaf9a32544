/* How values are spread. See histogram.h. */
#include "tensor/histogram.h"

#include <math.h>
#include "core/host.h"
#include "tensor/convert.h"
#include "tensor/ranges.h"
#include "tensor/stats.h"

#define HISTOGRAM_BLOCK 4096
#define HISTOGRAM_NEAR 4      /* Bins beside the one that is computed which are tried one by one */

/* A test counts how many edges are looked at. */
#ifndef ZT_HISTOGRAM_EDGE
# define ZT_HISTOGRAM_EDGE(h, i) ((h)->edges[i])
#endif

static double histogram_real(zt_scalar s){
  return s.class==ZT_FLOAT ? s.real : s.class==ZT_INT ? (double)s.i : (double)s.u;
}

/* Edges by the two ends: their distance may be beyond f64. */
static void histogram_set_edges(zt_histogram *h, double low, double high){
  for(uint32_t i=0; i<=h->bins; i++){
    double part = (double)i/(double)h->bins;
    double edge = i==0 ? low : i==h->bins ? high : low*(1-part)+high*part;
    h->edges[i] = i && edge<h->edges[i-1] ? h->edges[i-1] : edge;
  }
}

/* The bin of a value: the last one that does not begin above it. Most often it is near bin i; where
** the two ends are so close that f64 has few numbers between them, many edges are equal, and it may
** be thousands of bins away. */
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

/* The edges decide: what is computed is a place to begin at. Values are taken in units in which f64
** holds the distance of the two ends. */
static uint32_t histogram_bin(const zt_histogram *h, double value, double unit, double width){
  double place = (value*unit - h->edges[0]*unit)/width*(double)h->bins;
  uint32_t last = h->bins-1;
  return histogram_find(h, value, place>0 ? place<(double)last ? (uint32_t)place : last : 0);
}

/* The counts of a range of elements. */
typedef struct histogram_part {
  const zt_histogram *of;
  const zt_dtype *dtype;
  double block[HISTOGRAM_BLOCK];
  uint64_t counts[];
} histogram_part;

static void histogram_take_block(histogram_part *part, size_t n){
  const zt_histogram *h = part->of;
  const double low = h->edges[0], high = h->edges[h->bins], unit = isfinite(high-low) ? 1 : 0.25;
  const double width = high*unit-low*unit;
  for(size_t i=0; i<n; i++){
    if( !isfinite(part->block[i]) ) continue;
    part->counts[histogram_bin(h, part->block[i], unit, width)]++;
  }
}

typedef struct histogram_whole {
  zt_histogram *of;
  const zt_dtype *dtype;
} histogram_whole;

static void histogram_begin(void *context, void *memory){
  const histogram_whole *whole = context;
  histogram_part *part = memory;
  part->of = whole->of;
  part->dtype = whole->dtype;
  memset(part->counts, 0, part->of->bins*sizeof(*part->counts));
}

static void histogram_take(void *memory, const void *const elements[2], size_t n){
  histogram_part *part = memory;
  const uint8_t *from = elements[0];
  for(size_t i=0; i<n; i+=HISTOGRAM_BLOCK){
    const size_t m = n-i<HISTOGRAM_BLOCK ? n-i : HISTOGRAM_BLOCK;
    zt_convert(part->dtype, from+i*part->dtype->width, zt_dtype_get(ZT_DTYPE_f64), part->block, m);
    histogram_take_block(part, m);
  }
}

static void histogram_merge(void *context, void *memory){
  zt_histogram *h = ((histogram_whole*)context)->of;
  const histogram_part *part = memory;
  for(uint32_t i=0; i<h->bins; i++) h->counts[i] += part->counts[i];
}

static int histogram_count(zt_tensor *t, zt_histogram *h, zt_error *err){
  histogram_whole whole = { h, t->dtype };
  const zt_ranges ranges = {
    .t = { t }, .window = zt_tensor_window(t), .context = &whole, .begin = histogram_begin,
    .size = sizeof(histogram_part)+h->bins*sizeof(*h->counts), .take = histogram_take,
    .merge = histogram_merge
  };
  return zt_ranges_go(&ranges, err);
}

int zt_histogram_compute(zt_tensor *t, uint32_t bins, zt_histogram *out, zt_error *err){
  zt_stats stats;
  double low, high;
  *out = (zt_histogram){ 0 };
  if( zt_stats_compute(t, &stats, err) || stats.finite==0 ) return err->rc;
  low = histogram_real(stats.min);
  high = histogram_real(stats.max);
  if( low==high ) bins = 1;
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

void zt_histogram_clear(zt_histogram *h){
  sqlite3_free(h->edges);
  sqlite3_free(h->counts);
  *h = (zt_histogram){ 0 };
}
