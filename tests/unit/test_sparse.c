/*
** Passes over sparse tensors that take stored elements alone: pairs of two tensors (tensor/sparse.h), their distance, and a histogram.
** Dense tensors of the same values have the same.
*/
#include "histograms.h"
#include "tensors.h"

#include <math.h>
#include "tensor/compare.h"
#include "tensor/histogram.h"

#define CELLS 60000
#define STORED 6000      /* More than a piece, fewer than an eighth of the cells of both together */
#define BINS 7

typedef struct subject {
  recipe recipe;
  opened opened;
  zt_tensor tensor;
} subject;

static void open_subject(subject *s, const char *row){
  open_recipe(&s->opened, &s->recipe, NULL, row);
  open_tensor(&s->opened, &s->tensor, row);
}

static void close_subject(subject *s){
  zt_tensor_close(&s->tensor);
  close_opened(&s->opened);
  clear_recipe(&s->recipe);
}

/* Values of n random cells, some of which are 0, and of which few come twice; in ascending order or not. */
static void open_sparse(subject *s, const char *dtype, size_t n, bool ascending, double *want, uint64_t *seed){
  blob values = { 0 }, coords = { 0 };
  uint64_t cell = 0;
  for(size_t i=0; i<n; i++){
    const double x = (double)random_below(seed, 4);
    cell = ascending ? cell+1+random_below(seed, CELLS/n-1) : random_below(seed, CELLS);
    want[cell] += x;
    put_real(&values, dtype, x);
    put_bits(&coords, cell, 4);
  }
  s->recipe = (recipe){ .format = "sparse_coo", .rank = 1, .shape = { CELLS } };
  add_part(&s->recipe, "values", dtype, NULL, values);
  add_part(&s->recipe, "coords", "u32", NULL, coords);
  open_subject(s, dtype);
}

static void open_dense(subject *s, const char *dtype, const double *values){
  blob data = { 0 };
  for(size_t i=0; i<CELLS; i++) put_real(&data, dtype, values[i]);
  s->recipe = (recipe){ .format = "dense", .rank = 1, .shape = { CELLS } };
  add_part(&s->recipe, "data", dtype, NULL, data);
  open_subject(s, dtype);
}

static double want[2][CELLS];

/* --- Pairs --- */

typedef struct taken {
  size_t n, pieces;
  double sum[2], dot;
} taken;

/* Of f64 and u8. */
static int take_pairs(void *context, const void *const elements[2], size_t n, zt_error *err){
  taken *t = context;
  const double *p = elements[0];
  const uint8_t *q = elements[1];
  check( n>0 && n<=ZT_ENTRIES, "%zu pairs", n );
  for(size_t i=0; i<n; i++){
    t->sum[0] += p[i];
    t->sum[1] += q[i];
    t->dot += p[i]*q[i];
  }
  t->n += n;
  t->pieces++;
  return err->rc;
}

static int fail_pairs(void *context, const void *const elements[2], size_t n, zt_error *err){
  (void)elements;
  (void)n;
  ++*(int*)context;
  return zt_fail(err, SQLITE_ERROR, "enough");
}

TEST(test_pairs){
  static const size_t stored[][2] = { { STORED, STORED }, { STORED, 1 }, { 1, STORED }, { 0, STORED }, { 0, 0 } };
  uint64_t seed = 21;
  for(size_t i=0; i<COUNT(stored); i++){
    for(int ascending=0; ascending<4; ascending++){
      zt_error err = ZT_ERROR_NONE;
      taken got = { 0 }, sums = { 0 };
      subject s[2];
      memset(want, 0, sizeof(want));
      open_sparse(&s[0], "f64", stored[i][0], ascending&1, want[0], &seed);
      open_sparse(&s[1], "u8", stored[i][1], ascending&2, want[1], &seed);
      for(size_t k=0; k<CELLS; k++){
        sums.sum[0] += want[0][k];
        sums.sum[1] += want[1][k];
        sums.dot += want[0][k]*want[1][k];
      }
      zt_sparse_pairs((zt_tensor *const[2]){ &s[0].tensor, &s[1].tensor }, take_pairs, &got, &err);
      assert_succeeded(&err, "pairs");
      check( got.sum[0]==sums.sum[0] && got.sum[1]==sums.sum[1] && got.dot==sums.dot, "row %zu: %g, %g, %g", i, got.sum[0], got.sum[1], got.dot );
      check( got.n<=stored[i][0]+stored[i][1] && got.pieces==(got.n+ZT_ENTRIES-1)/ZT_ENTRIES, "row %zu: %zu pairs", i, got.n );
      close_subject(&s[0]);
      close_subject(&s[1]);
    }
  }
}

TEST(test_whoever_takes_pairs_may_end_it){
  uint64_t seed = 22;
  int calls = 0;
  zt_error err = ZT_ERROR_NONE;
  subject s[2];
  open_sparse(&s[0], "f64", STORED, true, want[0], &seed);
  open_sparse(&s[1], "u8", STORED, true, want[1], &seed);
  assert_int_equal(zt_sparse_pairs((zt_tensor *const[2]){ &s[0].tensor, &s[1].tensor }, fail_pairs, &calls, &err), SQLITE_ERROR);
  assert_int_equal(calls, 1);
  zt_error_clear(&err);
  close_subject(&s[0]);
  close_subject(&s[1]);
}

/* --- Results --- */

static void check_comparison(subject *s, subject *dense, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_comparison x, y;
  zt_compare(&s[0].tensor, &s[1].tensor, &x, &err);
  assert_succeeded(&err, row);
  zt_compare(&dense[0].tensor, &dense[1].tensor, &y, &err);
  assert_succeeded(&err, row);
  /* Sums of small integers are exact */
  check( x.elements==CELLS && x.pairs==CELLS && x.equal==y.equal && x.nans==0, "%s: %llu of %llu", row, (unsigned long long)x.equal, (unsigned long long)x.pairs );
  check( x.max_abs==y.max_abs && x.mean_abs==y.mean_abs && x.rmse==y.rmse, "%s: %g, %g, %g", row, x.max_abs, x.mean_abs, x.rmse );
  check( x.l2==y.l2 && x.other_l2==y.other_l2 && x.dot==y.dot && x.has_cosine==y.has_cosine, "%s: %g, %g, %g", row, x.l2, x.other_l2, x.dot );
  if( y.has_cosine ) check( x.cosine==y.cosine, "%s: %.17g", row, x.cosine );
}

TEST(test_what_dense_tensors_of_these_values_have){
  static const char *const dtypes[] = { "f64", "f32", "f16", "i64", "u64", "i8", "u8" };
  static const size_t stored[][2] = { { STORED/2, STORED/2 }, { STORED/2, 3 }, { 0, 100 }, { 0, 0 }, { STORED, STORED } };
  uint64_t seed = 23;
  for(size_t d=0; d<COUNT(dtypes); d++){
    for(size_t i=0; i<COUNT(stored); i++){
      const char *other = dtypes[random_below(&seed, COUNT(dtypes))];
      char row[100];
      subject s[2], dense[2];
      snprintf(row, sizeof(row), "row %zu, %s and %s", i, dtypes[d], other);
      memset(want, 0, sizeof(want));
      open_sparse(&s[0], dtypes[d], stored[i][0], d%2, want[0], &seed);
      open_sparse(&s[1], other, stored[i][1], i%2, want[1], &seed);
      open_dense(&dense[0], dtypes[d], want[0]);
      open_dense(&dense[1], other, want[1]);
      check_comparison(s, dense, row);
      check_histograms(&s[0].tensor, &dense[0].tensor, BINS, row);
      check_histograms(&s[1].tensor, &dense[1].tensor, BINS, row);
      for(int k=0; k<2; k++){
        close_subject(&s[k]);
        close_subject(&dense[k]);
      }
    }
  }
}

/* Zeros between numbers of either sign, and integers that f64 does not hold. */
TEST(test_the_bin_of_what_is_not_stored){
  static const struct { const char *dtype; double low, high; uint32_t zeros; } rows[] = {
    { "f64", -3, 1, 5 }, { "f64", 2, 7, 0 }, { "f64", -7, -2, 6 }, { "i64", -0x1p62, 0x1p62, 3 }, { "i64", -0x1p62, 1, 6 }, { "u64", 1, 0x1p63, 0 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    subject s = { .recipe = { .format = "sparse_coo", .rank = 1, .shape = { (uint64_t)1<<60 } } };
    zt_error err = ZT_ERROR_NONE;
    blob values = { 0 }, coords = { 0 };
    zt_histogram h;
    put_real(&values, rows[i].dtype, rows[i].low);
    put_real(&values, rows[i].dtype, rows[i].high);
    put_bits(&coords, 5, 8);
    put_bits(&coords, (uint64_t)1<<59, 8);
    add_part(&s.recipe, "values", rows[i].dtype, NULL, values);
    add_part(&s.recipe, "coords", "u64", NULL, coords);
    open_subject(&s, rows[i].dtype);
    zt_histogram_compute(&s.tensor, BINS, &h, &err);
    assert_succeeded(&err, rows[i].dtype);
    for(uint32_t k=0; k<BINS; k++){
      check( (h.counts[k]>=((uint64_t)1<<60)-2)==(k==rows[i].zeros), "row %zu: %llu in bin %u", i, (unsigned long long)h.counts[k], k );
    }
    zt_histogram_clear(&h);
    close_subject(&s);
  }
}

TEST(test_distances_of_as_many_as_64_bits_hold){
  subject s[2];
  zt_error err = ZT_ERROR_NONE;
  zt_comparison c;
  for(int k=0; k<2; k++){
    blob values = { 0 }, coords = { 0 };
    s[k].recipe = (recipe){ .format = "sparse_coo", .rank = 1, .shape = { (uint64_t)1<<63 } };
    put_real(&values, "f32", 3);
    put_real(&values, "f32", k ? (double)NAN : 4);
    put_bits(&coords, 7, 8);
    put_bits(&coords, ((uint64_t)1<<63)-1-(uint64_t)k, 8);
    add_part(&s[k].recipe, "values", "f32", NULL, values);
    add_part(&s[k].recipe, "coords", "u64", NULL, coords);
    open_subject(&s[k], "huge");
  }
  zt_compare(&s[0].tensor, &s[1].tensor, &c, &err);
  assert_succeeded(&err, "huge");
  assert_true(c.elements==(uint64_t)1<<63 && c.nans==1 && c.pairs==c.elements-1 && c.equal==c.pairs-1);
  assert_true(c.max_abs==4 && c.l2==5 && c.other_l2==3 && c.dot==9 && c.mean_abs==4*0x1p-63);
  close_subject(&s[0]);
  close_subject(&s[1]);
}

int main(void){
  return run_all("sparse", NULL, NULL);
}
