/*
** Tensors with dimensions of stride 0: tensor/broadcast.h, and the passes that count each of their elements as often as it occurs. A
** dense tensor of the same elements has the same statistics, histogram and distances.
*/
#include "histograms.h"
#include "tensors.h"

#include <math.h>
#include "tensor/broadcast.h"
#include "tensor/compare.h"
#include "tensor/histogram.h"
#include "tensor/stats.h"

#define ROUNDS 400
#define BINS 5

/* --- Tensors --- */

typedef struct subject {
  recipe recipe;
  opened opened;
  zt_tensor tensor;
} subject;

/* A tensor whose component has these stored bytes, and `stored` elements. */
static void open_stored(subject *s, const zt_dtype *d, blob bytes, uint64_t stored, const char *row){
  const bool own = strcmp(d->name, d->storage)==0;
  s->recipe = (recipe){ .format = "dense", .rank = 1, .shape = { stored } };
  add_part(&s->recipe, "data", d->storage, own ? NULL : d->name, bytes);
  open_recipe(&s->opened, &s->recipe, NULL, row);
}

static void close_subject(subject *s){
  zt_tensor_close(&s->tensor);
  close_opened(&s->opened);
  clear_recipe(&s->recipe);
}

/* One of this shape, whose strides reach all elements in the bytes. */
static void open_strided(subject *s, const zt_dtype *d, blob bytes, const zt_object *shape, const uint64_t *strides, const char *row){
  zt_object *o = &s->opened.object;
  uint64_t stored = 1;
  for(uint32_t k=0; k<shape->rank; k++) stored += (shape->shape[k]-1)*strides[k];
  open_stored(s, d, bytes, stored, row);
  o->rank = shape->rank;
  o->has_strides = true;
  memcpy(o->shape, shape->shape, sizeof(o->shape));
  memcpy(o->strides, strides, sizeof(o->strides));
  assert_true(zt_object_count(o));
  open_tensor(&s->opened, &s->tensor, row);
}

/* The same elements side by side. */
static void open_dense(subject *s, subject *from, const char *row){
  const zt_dtype *d = from->tensor.dtype;
  const zt_object *o = &from->opened.object;
  const size_t bytes = (size_t)o->elements*d->width;
  zt_error err = ZT_ERROR_NONE;
  uint8_t *elements = malloc(bytes);
  blob b = { 0 };
  zt_tensor_read(&from->tensor, 0, (size_t)o->elements, elements, &err);
  assert_succeeded(&err, row);
  if( zt_big_endian() ) zt_swap_bytes(elements, bytes, d->unit);
  put(&b, elements, bytes);
  free(elements);
  open_stored(s, d, b, o->elements, row);
  s->opened.object.rank = o->rank;
  memcpy(s->opened.object.shape, o->shape, sizeof(o->shape));
  open_tensor(&s->opened, &s->tensor, row);
}

/* Elements of any bits, or small numbers and some NaN and infinities. */
static blob random_elements(const zt_dtype *d, uint64_t stored, bool bits, uint64_t *seed){
  static const double odd[] = { (double)NAN, HUGE_VAL, -HUGE_VAL, 0 };
  const bool parts = d->class==ZT_COMPLEX;
  blob b = { 0 };
  if( bits || !(d->class==ZT_FLOAT || parts) ){
    for(uint64_t i=0; i<stored*d->width; i++) put_byte(&b, (uint8_t)random_below(seed, d->class==ZT_BOOL ? 2 : 256));
    return b;
  }
  for(uint64_t i=0; i<(parts ? 2*stored : stored); i++){
    const size_t k = random_below(seed, 3*COUNT(odd));
    const double x = k<COUNT(odd) && d->unit>1 ? odd[k] : ldexp(1, (int)random_below(seed, 3));
    put_real(&b, parts ? d->storage : d->name, x);
  }
  return b;
}

static void random_shape(zt_object *out, uint64_t *seed){
  *out = (zt_object){ .rank = (uint32_t)random_below(seed, 6) };
  for(uint32_t k=0; k<out->rank; k++) out->shape[k] = 1+random_below(seed, 4);
}

/* Half of the dimensions have stride 0, and some of the others overlap. */
static void random_strides(const zt_object *shape, uint64_t *strides, uint64_t *seed){
  uint64_t span = 1;
  for(uint32_t k=shape->rank; k-->0; ){
    const size_t way = random_below(seed, 8);
    strides[k] = way<4 ? 0 : way<7 ? span : 1;
    span += (shape->shape[k]-1)*strides[k];
  }
}

static void open_random(subject *s, const zt_dtype *d, const zt_object *shape, uint64_t *seed, const char *row){
  uint64_t strides[ZT_MAX_RANK] = { 0 }, stored = 1;
  random_strides(shape, strides, seed);
  for(uint32_t k=0; k<shape->rank; k++) stored += (shape->shape[k]-1)*strides[k];
  open_strided(s, d, random_elements(d, stored, random_below(seed, 2), seed), shape, strides, row);
}

/* --- Results --- */

/* Equal, or within 2e-12 of it or of what is summed up. */
static void check_close(double x, double want, double summed, const char *what, const char *row){
  if( x==want || (isnan(x) && isnan(want)) || isinf(summed) ) return;
  check( fabs(x-want)<=2e-12*fmax(fabs(want), summed) || fabs(x-want)<=0x1p-1073, "%s: %s is %.17g, expected %.17g", row, what, x, want );
}

static zt_stats stats_of(subject *s, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_stats out;
  zt_stats_compute(&s->tensor, &out, &err);
  assert_succeeded(&err, row);
  return out;
}

static void check_stats(subject *s, subject *dense, const char *row){
  const zt_stats x = stats_of(s, row), y = stats_of(dense, row);
  const bool whole = s->tensor.dtype->class!=ZT_FLOAT, wide = whole || s->tensor.dtype->wide==ZT_F64;
  check( x.elements==y.elements && x.zeros==y.zeros && x.nans==y.nans && x.infs==y.infs && x.finite==y.finite, "%s: %llu, %llu, %llu, %llu, %llu", row,
         (unsigned long long)x.elements, (unsigned long long)x.zeros, (unsigned long long)x.nans, (unsigned long long)x.infs, (unsigned long long)x.finite );
  if( y.finite==0 ) return;
  check( whole ? x.min.u==y.min.u && x.max.u==y.max.u : x.min.real==y.min.real && x.max.real==y.max.real, "%s: min or max", row );
  check( !wide || x.mean==y.mean, "%s: mean %.17g, expected %.17g", row, x.mean, y.mean );
  check( !whole || (x.std==y.std && x.l2==y.l2), "%s: std %.17g, l2 %.17g", row, x.std, x.l2 );
  check_close(x.mean, y.mean, y.l2/sqrt((double)y.finite), "mean", row);
  check_close(x.std, y.std, 0, "std", row);
  check_close(x.l2, y.l2, 0, "l2", row);
}

static zt_comparison compare(subject *s, subject *other, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_comparison out;
  zt_compare(&s->tensor, &other->tensor, &out, &err);
  assert_succeeded(&err, row);
  return out;
}

static void check_comparison(const zt_comparison *x, const zt_comparison *y, const char *row){
  check( x->elements==y->elements && x->equal==y->equal && x->nans==y->nans && x->pairs==y->pairs, "%s: %llu, %llu, %llu, %llu", row,
         (unsigned long long)x->elements, (unsigned long long)x->equal, (unsigned long long)x->nans, (unsigned long long)x->pairs );
  if( y->pairs==0 ) return;
  check( x->max_abs==y->max_abs, "%s: max_abs %.17g, expected %.17g", row, x->max_abs, y->max_abs );
  check_close(x->mean_abs, y->mean_abs, 0, "mean_abs", row);
  check_close(x->rmse, y->rmse, 0, "rmse", row);
  check_close(x->l2, y->l2, 0, "l2", row);
  check_close(x->other_l2, y->other_l2, 0, "other_l2", row);
  check_close(x->dot, y->dot, y->l2*y->other_l2, "dot", row);
  check( x->has_cosine==y->has_cosine, "%s: a cosine", row );
  if( y->has_cosine ) check_close(x->cosine, y->cosine, 1, "cosine", row);
}

/* --- Tests --- */

/* The types of zTensor 1.2. */
static const zt_dtype *random_dtype(uint64_t *seed){
  const zt_dtype *d;
  do d = zt_dtype_get((zt_dtype_id)random_below(seed, ZT_DTYPE_COUNT)); while( zt_dtype_is_packed(d) || d->id==ZT_DTYPE_f8_e8m0 );
  return d;
}

static const zt_dtype *random_number(uint64_t *seed){
  const zt_dtype *d;
  do d = random_dtype(seed); while( d->class==ZT_COMPLEX );
  return d;
}

/* Each element of the tensor is that of its indices, of which those of repeated dimensions are 0. */
static void check_once(subject *s, const zt_broadcast *b, const char *row){
  const zt_object *whole = &s->opened.object, *once = b->once->object;
  const unsigned width = s->tensor.dtype->width;
  zt_error err = ZT_ERROR_NONE;
  check( once->elements*b->times==whole->elements, "%s: %llu times", row, (unsigned long long)b->times );
  for(uint64_t i=0; i<whole->elements; i++){
    uint64_t rest = i, at = 0, step = 1, x[2] = { 0 }, y[2] = { 0 };
    for(uint32_t k=whole->rank; k-->0; rest/=whole->shape[k], step*=once->shape[k]) at += rest%whole->shape[k]%once->shape[k]*step;
    zt_tensor_read(&s->tensor, i, 1, x, &err);
    assert_succeeded(&err, row);
    zt_tensor_read(b->once, at, 1, y, &err);
    assert_succeeded(&err, row);
    check( memcmp(x, y, width)==0, "%s: element %llu", row, (unsigned long long)i );
  }
}

TEST(test_each_element_once){
  uint64_t seed = 3;
  for(int round=0; round<ROUNDS; round++){
    const zt_dtype *d = random_dtype(&seed);
    zt_error err = ZT_ERROR_NONE;
    zt_object shape;
    zt_broadcast b;
    uint64_t times = 1;
    subject s, other;
    random_shape(&shape, &seed);
    open_random(&s, d, &shape, &seed, d->name);
    open_random(&other, d, &shape, &seed, d->name);
    for(int both=0; both<2; both++, times=1){
      for(uint32_t k=0; k<shape.rank; k++){
        if( s.opened.object.strides[k]==0 && !(both && other.opened.object.strides[k]) ) times *= shape.shape[k];
      }
      zt_broadcast_open(&s.tensor, both ? &other.tensor : NULL, &b, &err);
      assert_succeeded(&err, d->name);
      check( b.times==times && (b.once==&s.tensor)==(times==1), "%s: %llu times", d->name, (unsigned long long)b.times );
      check_once(&s, &b, d->name);
      zt_broadcast_close(&b);
    }
    close_subject(&s);
    close_subject(&other);
  }
}

TEST(test_what_a_dense_tensor_of_these_elements_has){
  uint64_t seed = 11;
  for(int round=0; round<ROUNDS; round++){
    const zt_dtype *d = random_number(&seed), *e = random_number(&seed);
    char row[100];
    zt_object shape;
    subject one, two, dense[2];
    zt_comparison x, y;
    random_shape(&shape, &seed);
    snprintf(row, sizeof(row), "round %d, %s and %s", round, d->name, e->name);
    open_random(&one, d, &shape, &seed, row);
    open_random(&two, e, &shape, &seed, row);
    open_dense(&dense[0], &one, row);
    open_dense(&dense[1], &two, row);
    check_stats(&one, &dense[0], row);
    check_histograms(&one.tensor, &dense[0].tensor, BINS, row);
    x = compare(&one, &two, row);
    y = compare(&dense[0], &dense[1], row);
    check_comparison(&x, &y, row);
    x = compare(&one, &dense[1], row);   /* Dimensions repeat on one side alone */
    check_comparison(&x, &y, row);
    x = compare(&one, &one, row);
    y = compare(&dense[0], &dense[0], row);
    check_comparison(&x, &y, row);
    close_subject(&one);
    close_subject(&two);
    close_subject(&dense[0]);
    close_subject(&dense[1]);
  }
}

TEST(test_an_empty_tensor){
  const zt_object shape = { .rank = 3, .shape = { (uint64_t)1<<40, 0, 5 } };
  const uint64_t strides[ZT_MAX_RANK] = { 0, 1, 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_broadcast b;
  zt_stats stats;
  subject s;
  open_stored(&s, named("f32"), (blob){ 0 }, 0, "empty");
  s.opened.object.rank = shape.rank;
  s.opened.object.has_strides = true;
  memcpy(s.opened.object.shape, shape.shape, sizeof(shape.shape));
  memcpy(s.opened.object.strides, strides, sizeof(strides));
  open_tensor(&s.opened, &s.tensor, "empty");
  assert_int_equal(zt_broadcast_open(&s.tensor, NULL, &b, &err), SQLITE_OK);
  assert_true(b.once==&s.tensor && b.times==1);
  zt_broadcast_close(&b);
  stats = stats_of(&s, "empty");
  assert_true(stats.elements==0 && stats.finite==0 && stats.zeros==0);
  close_subject(&s);
}

#define HALF ((uint64_t)1<<62)   /* How often each of three elements is there */

/* 3*2^62 elements, which no pass takes one by one. */
static void open_huge(subject *s, const char *dtype, const double values[3]){
  const zt_object shape = { .rank = 3, .shape = { (uint64_t)1<<31, 3, (uint64_t)1<<31 } };
  const uint64_t strides[ZT_MAX_RANK] = { 0, 1, 0 };
  blob b = { 0 };
  for(int i=0; i<3; i++) put_real(&b, dtype, values[i]);
  open_strided(s, named(dtype), b, &shape, strides, dtype);
  assert_true(s->tensor.object->elements==3*HALF);
}

TEST(test_counts_of_as_many_as_64_bits_hold){
  subject s;
  zt_stats x;
  open_huge(&s, "i64", (double[]){ -0x1p63, 0, 4096 });
  x = stats_of(&s, "i64");
  assert_true(x.elements==3*HALF && x.finite==3*HALF && x.zeros==HALF && x.nans==0 && x.infs==0);
  assert_true(x.min.i==INT64_MIN && x.max.i==4096 && x.l2==0x1p94);
  assert_true(x.mean==(-0x1p63+4096)/3);
  close_subject(&s);
  open_huge(&s, "f16", (double[]){ -HUGE_VAL, HUGE_VAL, 0 });
  x = stats_of(&s, "f16");
  assert_true(x.elements==3*HALF && x.infs==2*HALF && x.nans==0 && x.finite==HALF && x.zeros==HALF);
  assert_true(x.mean==0 && x.std==0 && x.l2==0 && x.min.real==0 && x.max.real==0);
  close_subject(&s);
}

/* Squares that f64 does not hold, and the least number, whose squares add up. */
TEST(test_extreme_numbers){
  subject s;
  zt_stats x;
  open_huge(&s, "f64", (double[]){ 0x1p-1074, 0x1p-1074, 0x1p-1074 });
  x = stats_of(&s, "f64");
  check_close(x.l2, sqrt(3)*0x1p-1043, 0, "l2", "tiny");
  assert_true(x.mean==0x1p-1074 && x.std==0);
  close_subject(&s);
  open_huge(&s, "f64", (double[]){ 0x1p900, -0x1p900, 0 });
  x = stats_of(&s, "f64");
  check_close(x.l2, sqrt(2)*0x1p931, 0, "l2", "huge");
  check_close(x.std, sqrt(2.0/3)*0x1p900, 0, "std", "huge");
  assert_true(x.mean==0 && x.zeros==HALF);
  close_subject(&s);
}

TEST(test_a_histogram_and_distances_of_as_many){
  static const double some[3] = { (double)NAN, 0, 3 };
  zt_error err = ZT_ERROR_NONE;
  zt_histogram h;
  zt_comparison c;
  subject s, other;
  open_huge(&s, "f64", some);
  open_huge(&other, "f32", (double[]){ 1, 2, 3 });
  zt_histogram_compute(&s.tensor, 2, &h, &err);
  assert_succeeded(&err, "histogram");
  assert_true(h.bins==2 && h.counts[0]==HALF && h.counts[1]==HALF);
  zt_histogram_clear(&h);
  c = compare(&s, &other, "f64 and f32");
  assert_true(c.elements==3*HALF && c.nans==HALF && c.pairs==2*HALF && c.equal==HALF);
  assert_true(c.max_abs==2 && c.mean_abs==1 && c.l2==3*0x1p31 && c.dot==9*0x1p62);
  check_close(c.rmse, sqrt(2), 0, "rmse", "f64 and f32");
  check_close(c.other_l2, sqrt(13)*0x1p31, 0, "other_l2", "f64 and f32");
  check_close(c.cosine, 3/sqrt(13), 0, "cosine", "f64 and f32");
  close_subject(&s);
  close_subject(&other);
}

int main(void){
  return run_all("broadcast", NULL, NULL);
}
