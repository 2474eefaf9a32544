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

/* --- Interrupts and failures --- */

typedef enum pass { COMPARED, ORDER, HISTOGRAM, PIECES, CONVERTED, PASSES } pass;

static void take_no_piece(void *context, zt_span bytes){
  *(uint64_t*)context += bytes.n;
}

static int go_through(subject *s, pass p, zt_error *err){
  zt_comparison c;
  zt_order order;
  zt_histogram h;
  zt_buffer out;
  uint64_t bytes = 0;
  switch( p ){
    case COMPARED: return zt_compare(&s[0].tensor, &s[1].tensor, &c, err);
    case ORDER: return zt_sparse_order(&s[0].tensor, &order, err);
    case HISTOGRAM:
      zt_histogram_compute(&s[0].tensor, 3, &h, err);
      zt_histogram_clear(&h);
      return err->rc;
    case PIECES: return zt_assemble_pieces(&s[0].tensor, s[0].tensor.dtype, take_no_piece, &bytes, err);
    default:
      zt_assemble(&s[0].tensor, named("i16"), 0, s[0].opened.object.elements, &out, err);
      zt_buffer_clear(&out);
      return err->rc;
  }
}

/* Every pass over many stored elements asks whether to go on, and ends there. */
TEST(test_interrupts){
  enum { MANY = 1200000, SHAPE = 12000000 };
  for(int descending=0; descending<2; descending++){
    subject s[2];
    for(int k=0; k<2; k++){
      blob values = { 0 }, coords = { 0 };
      for(uint64_t i=0; i<(k ? MANY/12 : MANY); i++) put_bits(&coords, 9*(descending ? MANY-1-i : i), 4);
      put_repeated(&values, 1, k ? MANY/12 : MANY);
      s[k].recipe = (recipe){ .format = "sparse_coo", .rank = 1, .shape = { SHAPE } };
      add_part(&s[k].recipe, "values", "u8", NULL, values);
      add_part(&s[k].recipe, "coords", "u32", NULL, coords);
      open_subject(&s[k], "many");
    }
    for(int p=0; p<PASSES; p++){
      int most = 0;
      for(int stop=0; stop<=most; stop += stop<5 ? 1 : 1+most/5){
        caller c = { .stop_at = stop };
        zt_error err = ZT_ERROR_NONE;
        for(int k=0; k<2; k++){
          s[k].opened.budget.interrupt = (zt_interrupt){ .context = NULL };
          zt_tensor_close(&s[k].tensor);
          open_tensor(&s[k].opened, &s[k].tensor, "anew");   /* What it has read since the last question counts */
          s[k].opened.budget.interrupt = (zt_interrupt){ caller_stops, &c };
        }
        go_through(s, (pass)p, &err);
        check( err.rc==(stop ? SQLITE_INTERRUPT : SQLITE_OK), "pass %d, stop %d of %d: %d", p, stop, most, err.rc );
        if( stop ) assert_int_equal(c.asked, stop);
        else most = c.asked;
        zt_error_clear(&err);
      }
      check( most>0, "pass %d never asked", p );
    }
    for(int k=0; k<2; k++) close_subject(&s[k]);
  }
}

/* Where all cells are stored, none is left. */
TEST(test_sparse_tensors_without_an_empty_cell){
  subject s, dense;
  blob values = { 0 }, coords = { 0 };
  memset(want, 0, sizeof(want));
  for(unsigned i=0; i<CELLS; i++){
    put_byte(&values, i%7);
    put_bits(&coords, i, 4);
    want[0][i] = i%7;
  }
  s.recipe = (recipe){ .format = "sparse_coo", .rank = 1, .shape = { CELLS } };
  add_part(&s.recipe, "values", "u8", NULL, values);
  add_part(&s.recipe, "coords", "u32", NULL, coords);
  open_subject(&s, "all");
  open_dense(&dense, "u8", want[0]);
  check_histograms(&s.tensor, &dense.tensor, BINS, "all");
  close_subject(&s);
  close_subject(&dense);
}

/* The sum of squares that one f64 holds for a block: beyond it, numbers are taken one by one. */
TEST(test_squares_at_the_limit_of_a_block){
  double x = sqrt(4*4096*1e144*1e144), y;
  zt_error err = ZT_ERROR_NONE;
  zt_comparison c;
  subject s[2];
  while( x*x>4*4096*1e144*1e144 ) x = nextafter(x, 0);
  for(y=x; y*y<=4*4096*1e144*1e144; ) y = nextafter(y, HUGE_VAL);
  for(int k=0; k<2; k++){
    blob data = { 0 };
    put_real(&data, "f64", k ? y : x);
    s[k].recipe = (recipe){ .format = "dense", .rank = 1, .shape = { 1 } };
    add_part(&s[k].recipe, "data", "f64", NULL, data);
    open_subject(&s[k], "limit");
  }
  zt_compare(&s[0].tensor, &s[1].tensor, &c, &err);
  assert_succeeded(&err, "limit");
  assert_true(c.l2==x && c.other_l2==y && c.max_abs==y-x);
  close_subject(&s[0]);
  close_subject(&s[1]);
}

int main(void){
  return run_all("sparse", NULL, NULL);
}
