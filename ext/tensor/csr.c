/*
** The layout sparse_csr: compressed rows (zTensor's specification, section 3). Of a matrix with R
** rows and C columns, `indptr` has R+1 entries: the values from indptr[r] to indptr[r+1] are those
** of row r, and `indices` has their columns.
**
**   P1  there are two dimensions
**   P2  indptr has R+1 entries, begins with 0, never falls and ends with the number of values
**   P3  there are as many indices as values
**   P4  every index is less than C
**   P5  indices and indptr are integers
**   P7  where the file's rules say so, columns ascend within a row
** Joined, the three stand in one blob: indptr u64[R+1], indices u64[n], values[n]; its length
** tells n:
**   P6  the length leaves whole entries behind indptr
*/
#include "core/host.h"
#include "tensor/layout.h"

#define CSR_POINTERS 4096   /* Entries of indptr that are read at once */

typedef struct csr {
  zt_array values, indices, indptr;
  uint64_t rows, columns;
  bool checked;                    /* indptr is as it must be */
  uint64_t entry, end;             /* The next stored element, and where to stop */
  uint64_t row;                    /* Of the next stored element, or before it */
  uint64_t begun;                  /* The first element of the row that was read */
  uint64_t column;                 /* Of the last element */
  uint64_t first;                  /* Row of the first of the pointers that are loaded */
  size_t loaded;                   /* How many are */
  uint64_t pointers[CSR_POINTERS];
} csr;

static bool csr_is_integer(const zt_dtype *dtype){
  return dtype->class==ZT_INT || dtype->class==ZT_UINT;
}

/* The three arrays in one blob. */
static int csr_open_blob(zt_tensor *t, csr *s, zt_error *err){
  const zt_dtype *u64 = zt_dtype_get(ZT_DTYPE_u64);
  zt_component blob;
  zt_payload payload = zt_tensor_payload(t, &blob);
  uint64_t length, pointers, entries, n;
  if( zt_tensor_component(t, "data", NULL, &blob, err)
   || zt_array_dtype(&payload, &t->dtype, err) ) return err->rc;
  if( zt_array_measure(&payload, &length, err) ) return err->rc;
  if( !zt_add64(s->rows, 1, &pointers) || !zt_mul64(pointers, 8, &entries) || entries>length
   || (length-entries)%(8+t->dtype->width) ){
    err->component = blob.role;
    return zt_break(err, "P6", "%llu bytes are not indptr of %llu rows, indices and values of %s",
                    length, s->rows, t->dtype->name);
  }
  n = (length-entries)/(8+t->dtype->width);
  payload.side_by_side = 3;
  if( zt_array_open_part(&payload, u64, 0, pointers, &s->indptr, err) ) return err->rc;
  if( zt_array_open_part(&payload, u64, entries, n, &s->indices, err) ) return err->rc;
  return zt_array_open_part(&payload, t->dtype, entries+8*n, n, &s->values, err);
}

static int csr_open_components(zt_tensor *t, csr *s, zt_error *err){
  if( zt_tensor_array(t, "values", &s->values, err)
   || zt_tensor_array(t, "indices", &s->indices, err)
   || zt_tensor_array(t, "indptr", &s->indptr, err) ) return err->rc;
  t->dtype = s->values.dtype;
  zt_array_trim(&s->values, s->indices.length);
  return SQLITE_OK;
}

static int csr_open(zt_tensor *t, zt_error *err){
  csr *s = t->state = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  memset(s, 0, sizeof(*s));
  if( t->object->rank!=2 ){
    return zt_break(err, "P1", "sparse_csr has two dimensions, not %u", t->object->rank);
  }
  s->rows = t->object->shape[0];
  s->columns = t->object->shape[1];
  if( t->object->layout==ZT_LAYOUT_CSR_JOINED ? csr_open_blob(t, s, err)
      : csr_open_components(t, s, err) ){
    return err->rc;
  }
  t->stored = s->values.length;
  if( !csr_is_integer(s->indices.dtype) || !csr_is_integer(s->indptr.dtype) ){
    return zt_break(err, "P5", "indices and indptr are integers, not %s and %s",
                    s->indices.dtype->name, s->indptr.dtype->name);
  }
  if( s->indptr.length==0 || s->indptr.length-1!=s->rows ){
    return zt_break(err, "P2", "indptr of %llu rows has %llu entries", s->rows, s->indptr.length);
  }
  if( s->indices.length!=t->stored ){
    return zt_break(err, "P3", "there are %llu indices and %llu values", s->indices.length,
                    t->stored);
  }
  return SQLITE_OK;
}

static void csr_close(zt_tensor *t){
  csr *s = t->state;
  if( !s ) return;
  zt_array_close(&s->values);
  zt_array_close(&s->indices);
  zt_array_close(&s->indptr);
}

/* Load pointers from that of row `first` on. */
static int csr_load_pointers(csr *s, uint64_t first, zt_error *err){
  uint64_t left = s->indptr.length-first;
  s->first = first;
  s->loaded = left<CSR_POINTERS ? (size_t)left : CSR_POINTERS;
  return zt_array_read_indices(&s->indptr, first, s->loaded, s->pointers, err);
}

/* All pointers were right when they were checked, and these are not: another program has the file
** mapped, which no time of the file shows. */
static int csr_fail_changed(zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "indptr was written to while it was read");
}

/* Load pointers again. They are looked at again, too: where they lead must be there. */
static int csr_reload_pointers(csr *s, uint64_t first, zt_error *err){
  uint64_t last = 0;
  if( first>=s->indptr.length ) return csr_fail_changed(err);
  if( csr_load_pointers(s, first, err) ) return err->rc;
  for(size_t k=0; k<s->loaded; k++){
    if( s->pointers[k]<last || s->pointers[k]>s->values.length ) return csr_fail_changed(err);
    last = s->pointers[k];
  }
  return first==0 && s->pointers[0]!=0 ? csr_fail_changed(err) : SQLITE_OK;
}

/* Pointer i, loading those around it if need be. */
static int csr_pointer(csr *s, uint64_t i, uint64_t *out, zt_error *err){
  if( (i<s->first || i-s->first>=s->loaded) && csr_reload_pointers(s, i, err) ){
    s->loaded = 0;
    return err->rc;
  }
  *out = s->pointers[i-s->first];
  return SQLITE_OK;
}

static int csr_check_pointers(const zt_tensor *t, csr *s, zt_error *err){
  uint64_t last = 0;
  for(uint64_t i=0; i<s->indptr.length; i+=s->loaded){
    if( csr_load_pointers(s, i, err) ) return err->rc;
    if( i==0 && s->pointers[0]!=0 ){
      return zt_break(err, "P2", "indptr begins with %llu, not 0", s->pointers[0]);
    }
    for(size_t k=0; k<s->loaded; k++){
      if( s->pointers[k]<last ){
        return zt_break(err, "P2", "indptr falls at row %llu: from %llu to %llu", i+k, last,
                        s->pointers[k]);
      }
      last = s->pointers[k];
    }
  }
  if( last!=t->stored ){
    return zt_break(err, "P2", "indptr ends with %llu, and there are %llu values", last, t->stored);
  }
  s->checked = true;
  return SQLITE_OK;
}

static int csr_seek(zt_tensor *t, uint64_t first, uint64_t n, zt_error *err){
  csr *s = t->state;
  uint64_t last;
  if( !s->checked && csr_check_pointers(t, s, err) ) return err->rc;
  if( zt_array_check_empty(&s->indices, err) || zt_array_check_empty(&s->values, err) ){
    return err->rc;
  }
  s->row = s->entry = s->begun = 0;
  s->end = t->stored;
  if( n==0 || s->columns==0 ) return SQLITE_OK;
  last = (first+n-1)/s->columns;
  if( last+1<s->rows && csr_pointer(s, last+1, &s->end, err) ) return err->rc;
  s->row = first/s->columns;
  if( csr_pointer(s, s->row, &s->entry, err) ) return err->rc;
  s->begun = s->entry;
  return s->entry>s->end ? csr_fail_changed(err) : SQLITE_OK;
}

/* The columns of out's entries are in cell: make them positions. */
static int csr_place(csr *s, bool ordered, zt_entries *out, zt_error *err){
  for(size_t i=0; i<out->n; ){
    uint64_t end = 0, column, base = s->row*s->columns;
    if( csr_pointer(s, s->row+1, &end, err) ) return err->rc;
    for(; i<out->n && s->entry+i<end; i++){
      column = out->cell[i];
      if( ordered && s->entry+i>s->begun && column<=s->column ){
        return zt_break(err, "P7", "column %llu in row %llu follows column %llu", column, s->row,
                        s->column);
      }
      s->column = column;
      if( column>=s->columns ){
        return zt_break(err, "P4", "column %llu in row %llu, of %llu columns", column, s->row,
                        s->columns);
      }
      out->cell[i] = base+column;
    }
    if( i<out->n ){
      s->row++;
      s->begun = s->entry+i;
    }
  }
  return SQLITE_OK;
}

static int csr_next(zt_tensor *t, zt_entries *out, zt_error *err){
  csr *s = t->state;
  uint64_t left = s->end-s->entry;
  out->n = left<ZT_ENTRIES ? (size_t)left : ZT_ENTRIES;
  out->first = s->entry;
  if( out->n==0 ) return SQLITE_OK;
  if( zt_array_read_indices(&s->indices, s->entry, out->n, out->cell, err)
   || zt_array_read(&s->values, s->entry, out->n, &out->value, err)
   || csr_place(s, (t->object->rules & ZT_RULE_ORDER)!=0, out, err) ) return err->rc;
  s->entry += out->n;
  return SQLITE_OK;
}

const zt_layout zt_layout_csr = {
  .open = csr_open, .close = csr_close, .seek = csr_seek, .next = csr_next
};
