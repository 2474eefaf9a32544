/* How values are spread. See histogram.h. */
#include "tensor/histogram.h"

#include <math.h>
#include "core/host.h"
#include "tensor/convert.h"
#include "tensor/stats.h"

#define HISTOGRAM_BLOCK 4096

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

/* The edges decide: what is computed is a place to begin at. Values are taken in units in which f64
** holds the distance of the two ends. */
static uint32_t histogram_bin(const zt_histogram *h, double value, double unit, double width){
  double place = (value*unit - h->edges[0]*unit)/width*(double)h->bins;
  uint32_t last = h->bins-1, i = place>0 ? place<(double)last ? (uint32_t)place : last : 0;
  while( i>0 && value<h->edges[i] ) i--;
  while( i<last && value>=h->edges[i+1] ) i++;
  return i;
}

static void histogram_take(zt_histogram *h, const double *values, size_t n){
  const double low = h->edges[0], high = h->edges[h->bins], unit = isfinite(high-low) ? 1 : 0.25;
  const double width = high*unit-low*unit;
  for(size_t i=0; i<n; i++){
    if( isfinite(values[i]) ) h->counts[histogram_bin(h, values[i], unit, width)]++;
  }
}

static int histogram_count(zt_tensor *t, zt_histogram *h, zt_error *err){
  uint64_t elements = t->object->elements, window = zt_tensor_window(t);
  uint8_t *buffer = sqlite3_malloc64(window*t->dtype->width);
  double *values = sqlite3_malloc64(HISTOGRAM_BLOCK*sizeof(*values));
  if( !buffer || !values ){
    zt_fail_nomem(err);
    goto end;
  }
  for(uint64_t done=0; done<elements && !err->rc; done+=window){
    size_t n = elements-done<window ? (size_t)(elements-done) : (size_t)window;
    if( zt_tensor_read(t, done, n, buffer, err) || zt_tensor_poll(t, n, err) ) break;
    for(size_t i=0; i<n; i+=HISTOGRAM_BLOCK){
      size_t m = n-i<HISTOGRAM_BLOCK ? n-i : HISTOGRAM_BLOCK;
      zt_convert(t->dtype, buffer+i*t->dtype->width, zt_dtype_get(ZT_DTYPE_f64), values, m);
      histogram_take(h, values, m);
    }
  }
end:
  sqlite3_free(values);
  sqlite3_free(buffer);
  return err->rc;
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
