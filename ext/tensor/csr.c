/*
** The layout sparse_csr: compressed rows (zTensor's specification, section 3). For a matrix with R
** rows and C columns, `indptr` has R+1 entries: row r has the values from indptr[r] to indptr[r+1],
** and `indices` has their columns.
**
**   P1  there are two dimensions
**   P2  indptr has R+1 entries, begins with 0, never falls and ends with the number of values
**   P3  there are as many indices as values
**   P4  every index is less than C
**   P5  indices and indptr are integers
**   P7  where the file's rules say so, columns ascend within a row
** The joined form is one blob: indptr u64[R+1], indices u64[n], values[n]. Its length determines n:
**   P6  the length leaves whole entries behind indptr
** PyTorch has three more layouts. CSC compresses columns, and `indices` has rows. In BSR and BSC,
** an index stands for a block, whose values are row-major; R and C count blocks:
**   P8  the blocks fill the matrix
**
** Below, a line is a row of CSR, a column of CSC, or a row or column of blocks. A block's place is
** its index in the line.
*/
#include "core/host.h"
#include "tensor/layout.h"

#define CSR_POINTERS 4096   /* Entries of indptr read at once */

typedef struct csr {
  zt_array values, indices, indptr;
  uint64_t lines, places;          /* Lines, and blocks of a full line */
  bool columns;                    /* Lines are columns */
  uint64_t area;                   /* Elements of a block */
  bool checked;                    /* indptr obeys P2 */
  uint64_t entry, end;             /* The next stored element, and the one after the last */
  uint64_t line;                   /* The line of the next stored block, or an earlier line */
  uint64_t begun;                  /* The first block read in that line */
  uint64_t place;                  /* The last block's */
  uint64_t first;                  /* The line of the first loaded pointer */
  size_t loaded;
  uint64_t pointers[CSR_POINTERS];
} csr;

static bool csr_is_integer(const zt_dtype *dtype){
  return dtype->class==ZT_INT || dtype->class==ZT_UINT;
}

static int csr_open_blob(zt_tensor *t, csr *s, zt_error *err){
  const zt_dtype *u64 = zt_dtype_get(ZT_DTYPE_u64);
  zt_component blob;
  zt_payload payload = zt_tensor_payload(t, &blob);
  uint64_t length, pointers, entries, n;
  if( zt_tensor_component(t, "data", NULL, &blob, err)
   || zt_array_dtype(&payload, &t->dtype, err) ) return err->rc;
  if( zt_array_measure(&payload, &length, err) ) return err->rc;
  if( !zt_add64(s->lines, 1, &pointers) || !zt_mul64(pointers, 8, &entries) || entries>length
   || (length-entries)%(8+t->dtype->width) ){
    err->component = blob.role;
    return zt_break(err, "P6", "%llu bytes are not indptr of %llu rows, indices and values of %s",
                    length, s->lines, t->dtype->name);
  }
  n = (length-entries)/(8+t->dtype->width);
  payload.side_by_side = 3;
  if( zt_array_open_part(&payload, u64, 0, pointers, &s->indptr, err) ) return err->rc;
  if( zt_array_open_part(&payload, u64, entries, n, &s->indices, err) ) return err->rc;
  return zt_array_open_part(&payload, t->dtype, entries+8*n, n, &s->values, err);
}

static int csr_open_components(zt_tensor *t, csr *s, zt_error *err){
  if( zt_tensor_values(t, &s->values, err)
   || zt_tensor_array(t, "indices", &s->indices, err)
   || zt_tensor_array(t, "indptr", &s->indptr, err) ) return err->rc;
  t->dtype = s->values.dtype;
  if( s->area==1 ) zt_array_trim(&s->values, s->indices.length);
  return SQLITE_OK;
}

/* Divide the shape into lines and blocks (P1, P8). */
static int csr_set_lines(const zt_tensor *t, csr *s, zt_error *err){
  const zt_object *o = t->object;
  const uint64_t *block = o->block;
  if( o->rank!=2 ){
    return zt_break(err, "P1", "%.*s has two dimensions, not %u", zt_shown(o->format), o->format.z,
                    o->rank);
  }
  if( block[0]==0 || block[1]==0 || o->shape[0]%block[0] || o->shape[1]%block[1]
   || !zt_mul64(block[0], block[1], &s->area) ){
    return zt_break(err, "P8", "blocks of %llu x %llu do not fill %llu x %llu", block[0], block[1],
                    o->shape[0], o->shape[1]);
  }
  s->columns = o->layout==ZT_LAYOUT_CSC || o->layout==ZT_LAYOUT_BSC;
  s->lines = o->shape[s->columns]/block[s->columns];
  s->places = o->shape[!s->columns]/block[!s->columns];
  return SQLITE_OK;
}

/* Check that the three arrays fit each other (P2, P3, P5). */
static int csr_check_lengths(const zt_tensor *t, const csr *s, zt_error *err){
  uint64_t values = 0;
  if( !csr_is_integer(s->indices.dtype) || !csr_is_integer(s->indptr.dtype) ){
    return zt_break(err, "P5", "indices and indptr are integers, not %s and %s",
                    s->indices.dtype->name, s->indptr.dtype->name);
  }
  if( s->indptr.length==0 || s->indptr.length-1!=s->lines ){
    return zt_break(err, "P2", "indptr of %llu %s has %llu entries", s->lines,
                    s->columns ? "columns" : "rows", s->indptr.length);
  }
  if( zt_mul64(s->indices.length, s->area, &values) && values==t->stored ) return SQLITE_OK;
  if( s->area>1 ){
    return zt_break(err, "P3", "there are %llu indices of blocks of %llu, and %llu values",
                    s->indices.length, s->area, t->stored);
  }
  return zt_break(err, "P3", "there are %llu indices and %llu values", s->indices.length,
                  t->stored);
}

static int csr_open(zt_tensor *t, zt_error *err){
  csr *s = t->state = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  memset(s, 0, sizeof(*s));
  if( csr_set_lines(t, s, err) ) return err->rc;
  if( t->object->layout==ZT_LAYOUT_CSR_JOINED ? csr_open_blob(t, s, err)
      : csr_open_components(t, s, err) ){
    return err->rc;
  }
  t->stored = s->values.length;
  return csr_check_lengths(t, s, err);
}

static void csr_close(zt_tensor *t){
  csr *s = t->state;
  zt_array_close(&s->values);
  zt_array_close(&s->indices);
  zt_array_close(&s->indptr);
}

static int csr_load_pointers(csr *s, uint64_t first, zt_error *err){
  uint64_t remaining = s->indptr.length-first;
  s->first = first;
  s->loaded = remaining<CSR_POINTERS ? (size_t)remaining : CSR_POINTERS;
  return zt_array_read_indices(&s->indptr, first, s->loaded, s->pointers, err);
}

/* Pointers were valid when checked, but are invalid now: another program writes through a mapping
** of the file, which its times do not show. */
static int csr_fail_changed(zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "indptr was written to while it was read");
}

/* Load pointers again, and check again that they stay within the indices. */
static int csr_reload_pointers(csr *s, uint64_t first, zt_error *err){
  uint64_t last = 0;
  if( first>=s->indptr.length ) return csr_fail_changed(err);
  if( csr_load_pointers(s, first, err) ) return err->rc;
  for(size_t k=0; k<s->loaded; k++){
    if( s->pointers[k]<last || s->pointers[k]>s->indices.length ) return csr_fail_changed(err);
    last = s->pointers[k];
  }
  return first==0 && s->pointers[0]!=0 ? csr_fail_changed(err) : SQLITE_OK;
}

/* Return pointer i, which is loaded if needed. */
static int csr_pointer(csr *s, uint64_t i, uint64_t *out, zt_error *err){
  if( (i<s->first || i-s->first>=s->loaded) && csr_reload_pointers(s, i, err) ){
    s->loaded = 0;
    return err->rc;
  }
  *out = s->pointers[i-s->first];
  return SQLITE_OK;
}

static int csr_check_pointers(csr *s, zt_error *err){
  uint64_t last = 0;
  for(uint64_t i=0; i<s->indptr.length; i+=s->loaded){
    if( csr_load_pointers(s, i, err) ) return err->rc;
    if( i==0 && s->pointers[0]!=0 ){
      return zt_break(err, "P2", "indptr begins with %llu, not 0", s->pointers[0]);
    }
    for(size_t k=0; k<s->loaded; k++){
      if( s->pointers[k]<last ){
        return zt_break(err, "P2", "indptr falls at %s %llu: from %llu to %llu",
                        s->columns ? "column" : "row", i+k, last, s->pointers[k]);
      }
      last = s->pointers[k];
    }
  }
  if( last!=s->indices.length ){
    return zt_break(err, "P2", "indptr ends with %llu, and there are %llu %s", last,
                    s->indices.length, s->area>1 ? "blocks" : "values");
  }
  s->checked = true;
  return SQLITE_OK;
}

/* Set the range of stored elements to that of lines `first` to `last`. */
static int csr_seek_lines(csr *s, uint64_t first, uint64_t last, zt_error *err){
  uint64_t block = 0, end = s->indices.length;
  if( last+1<s->lines && csr_pointer(s, last+1, &end, err) ) return err->rc;
  if( csr_pointer(s, first, &block, err) ) return err->rc;
  if( block>end ) return csr_fail_changed(err);
  s->line = first;
  s->begun = block;
  s->entry = block*s->area;
  s->end = end*s->area;
  return SQLITE_OK;
}

static int csr_seek(zt_tensor *t, uint64_t first, uint64_t n, zt_error *err){
  csr *s = t->state;
  const uint64_t columns = t->object->shape[1], height = t->object->block[0];
  if( !s->checked && csr_check_pointers(s, err) ) return err->rc;
  if( zt_array_check_empty(&s->indices, err) || zt_array_check_empty(&s->values, err) ){
    return err->rc;
  }
  s->line = s->entry = s->begun = 0;
  s->end = t->stored;
  /* Columns have elements in all rows */
  if( n==0 || columns==0 || s->columns ) return SQLITE_OK;
  return csr_seek_lines(s, first/columns/height, (first+n-1)/columns/height, err);
}

/* Check the place of block number i in the current line (P4, P7). */
static int csr_check_place(const csr *s, bool ordered, uint64_t i, uint64_t place, zt_error *err){
  const char *line = s->columns ? "column" : "row", *what = s->columns ? "row" : "column";
  if( ordered && i>s->begun && place<=s->place ){
    return zt_break(err, "P7", "%s %llu in %s %llu follows %s %llu", what, place, line, s->line,
                    what, s->place);
  }
  if( place>=s->places ){
    return zt_break(err, "P4", "%s %llu in %s %llu, of %llu %ss", what, place, line, s->line,
                    s->places, what);
  }
  return SQLITE_OK;
}

/* Replace the places of n blocks from number i on by the positions of their first elements. */
static int csr_place(const zt_tensor *t, csr *s, uint64_t i, size_t n, uint64_t *cell,
                     zt_error *err){
  const bool ordered = (t->object->rules & ZT_RULE_ORDER)!=0;
  const uint64_t row = t->object->block[0]*t->object->shape[1], column = t->object->block[1];
  const uint64_t line = s->columns ? column : row, place = s->columns ? row : column;
  for(size_t k=0; k<n; ){
    uint64_t end = 0, base = s->line*line;
    if( csr_pointer(s, s->line+1, &end, err) ) return err->rc;
    for(; k<n && i+k<end; k++){
      if( (ordered || cell[k]>=s->places) && csr_check_place(s, ordered, i+k, cell[k], err) ){
        return err->rc;
      }
      s->place = cell[k];
      cell[k] = base+cell[k]*place;
    }
    if( k<n ){
      s->line++;
      s->begun = i+k;
    }
  }
  return SQLITE_OK;
}

/* Replace the positions of blocks from number i on by those of out's elements. It runs backwards,
** so that no position is overwritten before it is read. */
static void csr_spread(const zt_tensor *t, const csr *s, uint64_t i, zt_entries *out){
  const uint64_t width = t->object->block[1], columns = t->object->shape[1];
  for(size_t k=out->n; k-->0; ){
    const uint64_t number = s->entry+k, within = number%s->area;
    out->cell[k] = out->cell[number/s->area-i]+within/width*columns+within%width;
  }
}

static int csr_next(zt_tensor *t, zt_entries *out, zt_error *err){
  csr *s = t->state;
  const uint64_t remaining = s->end-s->entry, i = s->entry/s->area;
  uint64_t n;
  out->n = remaining<ZT_ENTRIES ? (size_t)remaining : ZT_ENTRIES;
  out->first = s->entry;
  if( out->n==0 ) return SQLITE_OK;
  n = (s->entry+out->n-1)/s->area-i+1;
  if( zt_array_read_indices(&s->indices, i, (size_t)n, out->cell, err)
   || zt_array_read(&s->values, s->entry, out->n, &out->value, err)
   || csr_place(t, s, i, (size_t)n, out->cell, err) ) return err->rc;
  if( s->area>1 ) csr_spread(t, s, i, out);
  s->entry += out->n;
  return SQLITE_OK;
}

const zt_layout zt_layout_csr = {
  .open = csr_open, .close = csr_close, .seek = csr_seek, .next = csr_next
};
