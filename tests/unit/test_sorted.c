/*
** Stored elements in the order of their cells: tensor/sorted.h. qsort() over all of them gives the
** expected order.
*/
#include "stored.h"

#include "tensor/sorted.h"

#define ROOM ((uint64_t)1 << 19)   /* Stored elements that are sorted at once */
#define MANY 1300000               /* More than that, twice over */
#define GOLDEN 0x9E3779B97F4A7C15u

/* --- The reference --- */

typedef struct numbered {
  uint64_t cell, number;
} numbered;

static int by_cell_and_number(const void *a, const void *b){
  const numbered *x = a, *y = b;
  if( x->cell!=y->cell ) return x->cell<y->cell ? -1 : 1;
  return (x->number>y->number) - (x->number<y->number);
}

/* Those in the range, in order. */
static numbered *reference_of(const stored *s, uint64_t first, uint64_t n, uint64_t *count){
  numbered *a = malloc((size_t)(s->n+1)*sizeof(*a));
  assert_non_null(a);
  *count = 0;
  for(uint64_t i=0; i<s->n; i++){
    uint64_t cell, value;
    s->make(i, &cell, &value);
    if( cell-first<n ) a[(*count)++] = (numbered){ cell, i };
  }
  qsort(a, (size_t)*count, sizeof(*a), by_cell_and_number);
  return a;
}

/* The value that was stored, as an element of the type. */
static uint64_t value_of(const zt_entries *e, size_t i, unsigned width){
  uint64_t value = 0;
  memcpy(&value, e->value.u8+i*width, width);
  return zt_big_endian() ? value >> (64-8*width) : value;
}

/* Go through the elements of a range and compare each one. */
static void check_sorted(stored *s, zt_tensor *t, uint64_t first, uint64_t n, const char *row){
  static zt_entries e;
  zt_error err = ZT_ERROR_NONE;
  unsigned width = s->dtype->width;
  uint64_t count, k = 0;
  numbered *want = reference_of(s, first, n, &count);
  zt_sorted *sorted;
  s->passes = 0;
  zt_sorted_open(t, first, n, ZT_REPEATS_KEPT, &e, &sorted, &err);
  assert_succeeded(&err, row);
  check( e.n==0, "%s: %zu before the first", row, e.n );
  do{
    assert_int_equal(zt_sorted_next(sorted, &err), SQLITE_OK);
    check( e.n<=ZT_ENTRIES, "%s: %zu at once", row, e.n );
    for(size_t i=0; i<e.n; i++){
      uint64_t number = zt_sorted_number(sorted, i), cell, value;
      if( e.cell[i]-first>=n ) continue;
      check( k<count && e.cell[i]==want[k].cell && number==want[k].number,
             "%s: %llu is element %llu, of cell %llu", row, (unsigned long long)k,
             (unsigned long long)number, (unsigned long long)e.cell[i] );
      s->make(number, &cell, &value);
      if( width<8 ) value &= ((uint64_t)1 << 8*width)-1;
      check( value_of(&e, i, width)==value, "%s: value of element %llu", row,
             (unsigned long long)number );
      k++;
    }
  }while( e.n );
  check( k==count, "%s: %llu of %llu", row, (unsigned long long)k, (unsigned long long)count );
  assert_int_equal(zt_sorted_next(sorted, &err), SQLITE_OK);   /* The end stays the end */
  check( e.n==0, "%s: %zu behind the last", row, e.n );
  zt_sorted_close(sorted);
  free(want);
}

/* --- Many --- */

static void make_ascending(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = i*1000;
  *value = i;
}
static void make_repeated(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = i/3;
  *value = i;
}
static void make_descending(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = ((uint64_t)1<<60)-i*1000;
  *value = i;
}
static void make_scattered(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = (i*GOLDEN)>>2;
  *value = i;
}
static void make_last_out_of_order(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = i==MANY-1 ? 0 : i+1;
  *value = i;
}
static void make_pairs(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = ((i<MANY/2 ? i : MANY-1-i)*GOLDEN)>>2;
  *value = i;
}
/* One cell has more than there is room for; a few are before it and behind it */
static void make_one_cell(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = i%100000==99999 ? i%3 : 1;
  *value = i;
}
static void make_few(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = (i*7919)%1009;
  *value = i;
}

TEST(test_any_number_in_bounded_memory){
  static const struct {
    const char *what;
    void (*make)(uint64_t i, uint64_t *cell, uint64_t *value);
    uint64_t n;
    unsigned passes;
  } rows[] = {
    { "ascending", make_ascending, MANY, 2 }, { "ascending, with repeats", make_repeated, MANY, 2 },
    { "descending", make_descending, MANY, 8 }, { "scattered", make_scattered, MANY, 8 },
    { "the last out of order", make_last_out_of_order, MANY, 8 },
    { "each cell twice", make_pairs, MANY, 8 },
    { "most in one cell", make_one_cell, MANY, 8 }, { "few cells", make_few, MANY, 8 },
    { "as many as there is room for", make_scattered, ROOM, 2 },
    { "one less", make_scattered, ROOM-1, 2 }, { "one more", make_scattered, ROOM+1, 4 },
    { "two", make_descending, 2, 2 }, { "one", make_descending, 1, 2 },
    { "none", make_descending, 0, 2 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    stored s = { .dtype = named("u32"), .n = rows[i].n, .piece = i%2 ? ZT_ENTRIES : 1000,
                 .make = rows[i].make };
    zt_object object;
    zt_tensor t = stored_tensor(&s, &object, (uint64_t)1<<63);
    sqlite3_int64 before = sqlite3_memory_used(), most;
    sqlite3_memory_highwater(1);
    check_sorted(&s, &t, 0, object.elements, rows[i].what);
    most = sqlite3_memory_highwater(0)-before;
    check( s.passes<=rows[i].passes, "%s: %u passes", rows[i].what, s.passes );
    check( most<((sqlite3_int64)24<<20), "%s: %lld bytes", rows[i].what, (long long)most );
    check( sqlite3_memory_used()==before, "%s", rows[i].what );
  }
}

/* --- Ranges, types and pieces --- */

/* Not at all in order; some cells have many */
static void make_mixed(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = i%7 ? i*7919%3001 : 500+i%5;
  *value = i*GOLDEN;
}
/* The range's own are in order, and those around it are not */
static void make_sorted_inside(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = i%2 ? 1000+i/4 : 3000-i;
  *value = i;
}

TEST(test_a_range_of_cells){
  static const struct { uint64_t first, n; } ranges[] = {
    { 0, 3001 }, { 0, 1 }, { 500, 1 }, { 500, 5 }, { 1000, 400 }, { 1000, 2001 }, { 3000, 1 },
    { 1, 2999 }, { 7, 0 },
  };
  static const char *const dtypes[] = { "u8", "u16", "u32", "u64" };
  for(size_t i=0; i<COUNT(ranges); i++){
    for(size_t d=0; d<COUNT(dtypes); d++){
      for(size_t piece=1; piece<=ZT_ENTRIES; piece = piece*3+1){
        for(int inside=0; inside<2; inside++){
          stored s = { .dtype = named(dtypes[d]), .n = inside ? 1600 : 9001, .piece = piece,
                       .make = inside ? make_sorted_inside : make_mixed };
          char row[100];
          zt_object object;
          zt_tensor t = stored_tensor(&s, &object, 3001);
          snprintf(row, sizeof(row), "%llu+%llu of %s, %zu, %d",
                   (unsigned long long)ranges[i].first, (unsigned long long)ranges[i].n, dtypes[d],
                   piece, inside);
          check_sorted(&s, &t, ranges[i].first, ranges[i].n, row);
        }
      }
    }
  }
}

TEST(test_what_is_sorted_within_the_range_is_not_sorted_again){
  stored s = { .dtype = named("u8"), .n = 1600, .piece = 100, .make = make_sorted_inside };
  zt_object object;
  zt_tensor t = stored_tensor(&s, &object, 3001);
  sqlite3_int64 before = sqlite3_memory_used();
  sqlite3_memory_highwater(1);
  check_sorted(&s, &t, 1000, 300, "inside");
  assert_true(sqlite3_memory_highwater(0)-before<1000);
}

/* --- Failures --- */

/* A coordinate too large at one place, in a COO vector that is in order or not. */
static recipe broken_coo(size_t n, size_t at, bool ascending){
  recipe r = { .format = "sparse_coo", .rank = 1, .shape = { n } };
  blob values = { 0 }, coords = { 0 };
  put_repeated(&values, 1, n);
  for(size_t i=0; i<n; i++){
    put_bits(&coords, i==at ? n+5 : ascending ? i : n-1-i, 4);
  }
  add_part(&r, "values", "u8", NULL, values);
  add_part(&r, "coords", "u32", NULL, coords);
  return r;
}

TEST(test_a_fault_shows_before_the_first){
  static const size_t places[] = { 0, 1, 4095, 4096, 9999 };
  for(size_t i=0; i<COUNT(places); i++){
    for(int ascending=0; ascending<2; ascending++){
      static zt_entries e;
      recipe r = broken_coo(10000, places[i], ascending);
      zt_error err = ZT_ERROR_NONE;
      zt_sorted *sorted;
      zt_tensor t;
      opened o;
      char row[100];
      snprintf(row, sizeof(row), "coordinate 10005 of value %zu in dimension 0, which has 10000",
               places[i]);
      open_recipe(&o, &r, NULL, row);
      open_tensor(&o, &t, row);
      zt_sorted_open(&t, 0, 10000, ZT_REPEATS_KEPT, &e, &sorted, &err);
      if( !err.rc ) zt_sorted_next(sorted, &err);
      assert_failed(&err, row, row);
      zt_sorted_close(sorted);
      zt_tensor_close(&t);
      close_opened(&o);
      clear_recipe(&r);
    }
  }
}

static bool rewritten;

static void make_rewritten(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = rewritten ? MANY-i : i;
  *value = i;
}

/* Elements in order are not sorted, so that their order must still be the one that was seen. */
TEST(test_indices_that_are_written_to_meanwhile){
  static zt_entries e;
  stored s = { .dtype = named("u8"), .n = MANY, .piece = ZT_ENTRIES, .make = make_rewritten };
  zt_error err = ZT_ERROR_NONE;
  zt_sorted *sorted;
  zt_object object;
  zt_tensor t = stored_tensor(&s, &object, 2*MANY);
  zt_sorted_open(&t, 0, object.elements, ZT_REPEATS_KEPT, &e, &sorted, &err);
  assert_int_equal(zt_sorted_next(sorted, &err), SQLITE_OK);
  rewritten = true;
  while( zt_sorted_next(sorted, &err)==SQLITE_OK && e.n ) ;
  rewritten = false;
  assert_failed(&err, "its indices were written to while they were read", "rewritten");
  zt_sorted_close(sorted);
}

TEST(test_every_pass_can_be_interrupted){
  for(int stop=0; stop<=4; stop++){
    static zt_entries e;
    stored s = { .dtype = named("u8"), .n = MANY, .piece = ZT_ENTRIES,
                 .make = make_last_out_of_order };
    caller c = { 0, stop };
    zt_budget budget = { .interrupt = { caller_stops, &c } };
    zt_error err = ZT_ERROR_NONE;
    zt_sorted *sorted;
    zt_object object;
    zt_tensor t = stored_tensor(&s, &object, 2*MANY);
    t.budget = &budget;
    zt_sorted_open(&t, 0, object.elements, ZT_REPEATS_KEPT, &e, &sorted, &err);
    while( !err.rc && zt_sorted_next(sorted, &err)==SQLITE_OK && e.n ) ;
    assert_int_equal(err.rc, stop ? SQLITE_INTERRUPT : SQLITE_OK);
    if( stop ) assert_int_equal(c.asked, stop);
    else assert_true(c.asked>=4);
    zt_error_clear(&err);
    zt_sorted_close(sorted);
  }
}

int main(void){
  return run_all("sorted", NULL, NULL);
}
