/*
** Tensors whose bytes change while they are open, without a sign: as when another program has the file mapped. Bytes
** that were right may be wrong when they are read again; that is an error, and never the end of the process. Here the bytes of
** an image change.
*/
#include "tensors.h"

#include "tensor/assemble.h"
#include "tensor/sparse.h"

#define ROWS 6000u      /* More than there are pointers in memory at once */
#define COLUMNS 3u

/* A row has one element, in column 1. */
static recipe csr(storing how){
  recipe r = { .format = "sparse_csr", .rank = 2, .shape = { ROWS, COLUMNS } };
  blob values = { 0 }, indices = { 0 }, indptr = { 0 };
  put_repeated(&values, 7, ROWS);
  put_repeated(&indices, 1, ROWS);
  for(uint64_t i=0; i<=ROWS; i++) put_le64(&indptr, i);
  add_part(&r, "indptr", "u64", NULL, indptr)->storing = how;
  add_part(&r, "indices", "u8", NULL, indices)->storing = how;
  add_part(&r, "values", "u8", NULL, values)->storing = how;
  return r;
}

static recipe coo(storing how){
  recipe r = { .format = "sparse_coo", .rank = 2, .shape = { ROWS, COLUMNS } };
  blob values = { 0 }, coords = { 0 };
  put_repeated(&values, 7, ROWS);
  for(uint64_t i=0; i<ROWS; i++) put_le64(&coords, i);
  for(uint64_t i=0; i<ROWS; i++) put_le64(&coords, 1);
  add_part(&r, "coords", "u64", NULL, coords)->storing = how;
  add_part(&r, "values", "u8", NULL, values)->storing = how;
  return r;
}

static void take_nothing(void *context, const void *values, size_t n){
  (void)context;
  (void)values;
  (void)n;
}

/* The questions about an open sparse tensor. */
enum { DENSE, ELEMENT, RANGE, CELLS, ORDER, STORED, WAYS };

/* All stored elements of rows 1 to 5, as zt_elements reads them. */
static int read_stored(zt_tensor *t, zt_error *err){
  zt_entries *e = malloc(sizeof(*e));
  uint64_t most = t->stored;
  e->n = 1;
  t->layout->seek(t, COLUMNS, 5*COLUMNS, err);
  while( !err->rc && e->n && t->layout->next(t, e, err)==SQLITE_OK ){
    check( e->n<=most, "more entries than there are" );
    for(size_t i=0; i<e->n; i++) check( e->cell[i]<t->object->elements, "a cell that there is not" );
    most -= e->n;
  }
  free(e);
  return err->rc;
}

static int ask(zt_tensor *t, int way, zt_error *err){
  static uint8_t out[ROWS*COLUMNS];
  zt_order order;
  switch( way ){
    case DENSE: return zt_tensor_read(t, 0, sizeof(out), out, err);
    case ELEMENT: return zt_tensor_read(t, (uint64_t)ROWS*COLUMNS-2, 1, out, err);
    case RANGE: return zt_tensor_read(t, 4090*COLUMNS, 20*COLUMNS, out, err);
    case CELLS: return zt_sparse_cells(t, take_nothing, NULL, err);
    case ORDER: return zt_sparse_order(t, &order, err);
    default: return read_stored(t, err);
  }
}

/* The changes of indptr, entry by entry. */
static uint64_t changed(int how, uint64_t i, uint64_t *seed){
  switch( how ){
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return ROWS-i;
    case 3: return i<10 ? ROWS+i : i;
    case 4: return i<4096 ? i : 1;
    case 5: return i/2;
    case 6: return i ? i : 1;
    default: return random_below(seed, 2*ROWS);
  }
}

/* indptr was looked at, and then says something else. */
TEST(test_pointers_that_change){
  recipe r = csr(RAW);
  uint64_t seed = 1;
  for(int how=0; how<10; how++){
    for(int way=0; way<WAYS; way++){
      zt_error err = ZT_ERROR_NONE;
      zt_tensor t;
      opened o;
      open_bytes(&o, file_of(&r), "csr");
      open_tensor(&o, &t, "csr");
      assert_int_equal(ask(&t, way, &err), SQLITE_OK);
      for(uint64_t i=0; i<=ROWS; i++){
        uint64_t u = changed(how, i, &seed);
        for(unsigned b=0; b<8; b++) o.bytes.p[64+8*i+b] = (uint8_t)(u >> 8*b);
      }
      if( ask(&t, way, &err) ) assert_failed(&err, "indptr was written to while it was read", "csr");
      else check( way!=DENSE || how==5, "%d, %d: not seen", how, way );
      zt_tensor_close(&t);
      close_opened(&o);
    }
  }
  clear_recipe(&r);
}

/* Pointers that are in memory and others that are read again: a range that ends before it begins. */
TEST(test_pointers_of_which_some_change){
  static uint8_t out[ROWS*COLUMNS];
  recipe r = csr(RAW);
  zt_error err = ZT_ERROR_NONE;
  zt_tensor t;
  opened o;
  open_bytes(&o, file_of(&r), "csr");
  open_tensor(&o, &t, "csr");
  assert_int_equal(ask(&t, RANGE, &err), SQLITE_OK);
  for(uint64_t i=0; i<4090; i++) for(unsigned b=0; b<8; b++) o.bytes.p[64+8*i+b] = (uint8_t)((uint64_t)5000 >> 8*b);
  for(uint64_t i=4090; i<=ROWS; i++) for(unsigned b=0; b<8; b++) o.bytes.p[64+8*i+b] = (uint8_t)((uint64_t)ROWS >> 8*b);
  zt_tensor_read(&t, 100*COLUMNS, 3995*COLUMNS, out, &err);
  assert_failed(&err, "indptr was written to while it was read", "some");
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
}

/* Any byte of what is stored changes, between any two questions. */
TEST(test_bytes_that_change){
  static recipe (*const recipes[])(storing) = { csr, coo };
  static const storing storings[] = { RAW, ZSTD, ZSTD_STATED, ZSTD_WIDE };
  uint64_t seed = 2;
  for(size_t k=0; k<COUNT(recipes)*COUNT(storings); k++){
    recipe r = recipes[k%2](storings[k/2]);
    for(int round=0; round<60; round++){
      zt_error err = ZT_ERROR_NONE;
      zt_tensor t;
      opened o;
      open_bytes(&o, file_of(&r), "bytes");
      open_tensor(&o, &t, "bytes");
      for(int question=0; question<12; question++){
        size_t n = (size_t)zt_container_manifest_offset(o.container), at = 64+random_below(&seed, n-64);
        for(size_t many=1+random_below(&seed, 64); many-->0 && at<n; at++) o.bytes.p[at] = (uint8_t)random64(&seed);
        if( ask(&t, (int)random_below(&seed, WAYS), &err) ) check( err.rc==SQLITE_ERROR || err.rc==SQLITE_TOOBIG, "%s", err.message );
        zt_error_clear(&err);
        err = ZT_ERROR_NONE;
      }
      zt_tensor_close(&t);
      close_opened(&o);
    }
    clear_recipe(&r);
  }
}

int main(void){
  return run_all("changes", NULL, NULL);
}
