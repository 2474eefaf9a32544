/*
** The layout sparse_coo: values with their coordinates, in any order (zTensor's specification,
** section 3). `coords` has the indices of all values in dimension 0, then in dimension 1, and so
** on. `indices` instead has each value's flat position, or its index in each dimension (ONNX).
**
**   K1  coords, or indices, has one entry for each dimension and value; flat positions are as many
**       as values
**   K2  every coordinate is less than its dimension, every position less than the elements
**   K3  coords, or indices, are integers
** The joined form is one blob that has, for each value, its indices as u64 and then the value:
**   K4  the length is a whole number of these
** PyTorch may store the last dimensions whole: coordinates cover the other dimensions, and each
** coordinate has a block of values in row-major order, which K1 counts as one. Coordinates and
** values may lie at strides; then K1 counts from the first to the last one.
*/
#include "core/host.h"
#include "tensor/layout.h"
#include "tensor/strided.h"

#define COO_RECORDS ((size_t)64 << 10)   /* Bytes of records read at once; a record is smaller */
#define COO_GATHERED ((uint64_t)8 << 20) /* Coordinates that one reader gathers at once */
#define COO_APART 4096                   /* Elements that are read at once for coordinates apart */

typedef struct coo {
  zt_array values;
  uint64_t entry;                  /* The next stored element */

  /* Layouts with coords: one reader for each dimension; or if memory is too short for these, one
  ** reader of all dimensions, which gathers n coordinates of each from number `from` on */
  zt_array coords[ZT_MAX_RANK];
  uint64_t n;                      /* Of each dimension */
  uint64_t step;                   /* From one dimension's coordinates to the next dimension's */
  uint64_t each;                   /* From one coordinate to the next */
  uint64_t *apart;                 /* COO_APART elements, of which some are coordinates; owned, NULL
                                   ** if each is 1 */
  uint32_t rank;                   /* Dimensions with coordinates */
  uint64_t whole;                  /* Values of each coordinate */
  zt_array all;
  uint64_t *gathered;              /* `room` for each dimension; owned */
  uint64_t from, room;
  size_t nGathered;

  zt_object view;                  /* Values at strides: their shape and strides, */
  zt_tensor viewed;                /* the tensor of that shape, */
  zt_strided *strided;             /* and its reader; NULL: they have no strides */

  zt_array indices;                /* Layouts with indices */
  uint32_t columns;                /* Indices of each value; 0: a scalar's */
  zt_array records;                /* Joined: the blob */
  uint64_t record;                 /* Bytes of a record; 0: not joined */
  void *window;                    /* COO_RECORDS bytes of indices or records */
} coo;

static int coo_open_blob(zt_tensor *t, coo *s, zt_error *err){
  zt_component blob = { 0 };
  zt_payload payload = zt_tensor_payload(t, &blob);
  uint64_t length;
  if( zt_tensor_component(t, "data", NULL, &blob, err)
   || zt_array_dtype(&payload, &t->dtype, err) ) return err->rc;
  if( zt_array_measure(&payload, &length, err) ) return err->rc;
  s->record = 8*(uint64_t)t->object->rank + t->dtype->width;
  if( length%s->record ){
    err->component = blob.role;
    return zt_break(err, "K4", "%llu bytes are no whole number of values of %s with %u indices",
                    length, t->dtype->name, t->object->rank);
  }
  t->stored = length/s->record;
  s->window = sqlite3_malloc64(COO_RECORDS);
  if( !s->window ) return zt_fail_nomem(err);
  return zt_array_open_part(&payload, zt_dtype_get(ZT_DTYPE_u8), 0, length, &s->records, err);
}

/* Elements from the first coordinate to the last one of n in `rank` dimensions; UINT64_MAX: too
** many. */
static uint64_t coo_span(const coo *s, uint32_t rank, uint64_t n){
  uint64_t across, along, span;
  if( rank==0 || n==0 ) return 0;
  return zt_mul64(rank-1, s->step, &across) && zt_mul64(n-1, s->each, &along)
      && zt_add64(across, along, &span) && zt_add64(span, 1, &span) ? span : UINT64_MAX;
}

/* Set rank and whole. Returns the number of coordinates that the values make. */
static uint64_t coo_set_whole(const zt_tensor *t, coo *s){
  const zt_object *o = t->object;
  s->rank = o->rank-o->whole;
  s->whole = 1;
  for(uint32_t d=s->rank; d<o->rank; d++){
    if( !zt_mul64(s->whole, o->shape[d], &s->whole) ) s->whole = 0;
  }
  return s->whole ? s->values.length/s->whole : 0;
}

static int coo_open_coords(zt_tensor *t, coo *s, const zt_component *component,
                           const zt_dtype *dtype, uint64_t n, zt_error *err){
  zt_payload payload = zt_tensor_payload(t, component);
  payload.side_by_side = n ? s->rank : 1;
  for(uint32_t d=0; d<s->rank; d++){
    if( zt_array_open_part(&payload, dtype, d*s->step*dtype->width, coo_span(s, 1, n),
                           &s->coords[d], err) ) return err->rc;
  }
  return SQLITE_OK;
}

/* Set what the object's strides tell, and the reader of values (K1). */
static int coo_set_strides(zt_tensor *t, coo *s, zt_error *err){
  const uint64_t *strides = t->object->strides;
  zt_object *v = &s->view;
  uint64_t needed;
  s->n = strides[ZT_COO_COORDINATES];
  s->step = strides[ZT_COO_BY_DIMENSION];
  s->each = strides[ZT_COO_BY_COORDINATE];
  v->rank = 1+t->object->whole;
  v->shape[0] = s->n;
  memcpy(v->shape+1, t->object->shape+s->rank, t->object->whole*sizeof(*v->shape));
  memcpy(v->strides, strides+ZT_COO_VALUES, v->rank*sizeof(*v->strides));
  v->has_strides = true;
  if( !zt_object_count(v) || zt_strided_measure(v, &needed, err) || needed!=s->values.length ){
    if( err->rc ) return err->rc;
    return zt_break(err, "K1", "there are %llu values for %llu coordinates with strides",
                    s->values.length, s->n);
  }
  t->stored = v->elements;
  s->viewed = *t;
  s->viewed.object = v;
  if( t->stored>0 && !(s->strided = zt_strided_new(&s->viewed, &s->values, err)) ) return err->rc;
  if( s->each==1 ) return SQLITE_OK;
  s->apart = sqlite3_malloc64(COO_APART*sizeof(*s->apart));
  return s->apart ? SQLITE_OK : zt_fail_nomem(err);
}

/* PyTorch's format has another name for the coordinates. */
static const char *coo_role(const zt_tensor *t){
  return zt_text_is(t->object->format, "torch._rebuild_sparse_tensor") ? "indices" : "coords";
}

static int coo_open_components(zt_tensor *t, coo *s, zt_error *err){
  zt_component component = { 0 };
  zt_payload payload = zt_tensor_payload(t, &component);
  zt_array all = { 0 };
  uint64_t length;
  const zt_dtype *dtype;
  if( zt_tensor_values(t, &s->values, err) ) return err->rc;
  t->dtype = s->values.dtype;
  if( zt_tensor_component(t, coo_role(t), NULL, &component, err)
   || zt_array_open(&payload, &all, err) ){
    zt_array_close(&all);
    return err->rc;
  }
  dtype = all.dtype;
  length = all.length;
  zt_array_close(&all);
  if( dtype->class!=ZT_INT && dtype->class!=ZT_UINT ){
    return zt_break(err, "K3", "coords are integers, not %s", dtype->name);
  }
  if( t->object->rank && !t->object->has_strides && !t->object->whole ){
    zt_array_trim(&s->values, length/t->object->rank);
  }
  s->step = s->n = coo_set_whole(t, s);
  s->each = 1;
  t->stored = s->values.length;
  if( t->object->has_strides && coo_set_strides(t, s, err) ) return err->rc;
  if( coo_span(s, s->rank, s->n)!=length || (!t->object->has_strides && s->n*s->whole!=t->stored) ){
    return zt_break(err, "K1", "coords has %llu entries for %llu values in %u dimensions", length,
                    s->n, s->rank);
  }
  return coo_open_coords(t, s, &component, dtype, s->n, err);
}

static int coo_open_indices(zt_tensor *t, coo *s, zt_error *err){
  uint64_t needed;
  if( zt_tensor_values(t, &s->values, err) ) return err->rc;
  t->dtype = s->values.dtype;
  if( zt_tensor_array(t, "indices", &s->indices, err) ) return err->rc;
  if( s->indices.dtype->class!=ZT_INT && s->indices.dtype->class!=ZT_UINT ){
    return zt_break(err, "K3", "indices are integers, not %s", s->indices.dtype->name);
  }
  s->columns = t->object->layout==ZT_LAYOUT_COO_ROWS ? t->object->rank : 1;
  if( s->columns ) zt_array_trim(&s->values, s->indices.length/s->columns);
  t->stored = s->values.length;
  if( !zt_mul64(s->columns, t->stored, &needed) || needed!=s->indices.length ){
    return zt_break(err, "K1", "indices has %llu entries for %llu values with %u each",
                    s->indices.length, t->stored, s->columns);
  }
  s->window = sqlite3_malloc64(COO_RECORDS);
  return s->window ? SQLITE_OK : zt_fail_nomem(err);
}

static int coo_open(zt_tensor *t, zt_error *err){
  coo *s = t->state = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  memset(s, 0, sizeof(*s));
  switch( t->object->layout ){
    case ZT_LAYOUT_COO_JOINED: return coo_open_blob(t, s, err);
    case ZT_LAYOUT_COO_LINEAR: case ZT_LAYOUT_COO_ROWS: return coo_open_indices(t, s, err);
    default: return coo_open_components(t, s, err);
  }
}

static void coo_close(zt_tensor *t){
  coo *s = t->state;
  zt_array_close(&s->values);
  zt_array_close(&s->records);
  zt_array_close(&s->indices);
  zt_array_close(&s->all);
  for(uint32_t d=0; d<ZT_MAX_RANK; d++) zt_array_close(&s->coords[d]);
  zt_strided_free(s->strided);
  sqlite3_free(s->apart);
  sqlite3_free(s->gathered);
  sqlite3_free(s->window);
}

static int coo_seek(zt_tensor *t, uint64_t first, uint64_t n, zt_error *err){
  coo *s = t->state;
  (void)first;
  (void)n;
  s->entry = 0;
  if( t->stored>0 ) return SQLITE_OK;
  if( s->record ) return zt_array_check_empty(&s->records, err);
  if( s->indices.stream ) zt_array_check_empty(&s->indices, err);
  else if( s->rank ) zt_array_check_empty(&s->coords[0], err);   /* All read the same bytes */
  return err->rc ? err->rc : zt_array_check_empty(&s->values, err);
}

/* Add a coordinate in dimension d to a cell's position. False if it is too large. */
ZT_INLINE bool coo_place(const zt_tensor *t, uint32_t d, uint64_t coordinate, uint64_t *cell){
  *cell = *cell*t->object->shape[d] + coordinate;
  return coordinate<t->object->shape[d];
}

static int coo_fail_coordinate(const zt_tensor *t, uint32_t d, uint64_t entry, uint64_t coordinate,
                               zt_error *err){
  return zt_break(err, "K2", "coordinate %llu of value %llu in dimension %u, which has %llu",
                  coordinate, entry, d, t->object->shape[d]);
}

static int coo_next_records(zt_tensor *t, coo *s, zt_entries *out, zt_error *err){
  unsigned rank = t->object->rank, width = t->dtype->width;
  if( out->n>COO_RECORDS/s->record ) out->n = COO_RECORDS/(size_t)s->record;
  if( zt_array_read(&s->records, s->entry*s->record, out->n*(size_t)s->record, s->window, err) ){
    return err->rc;
  }
  for(size_t i=0; i<out->n; i++){
    uint8_t *record = (uint8_t*)s->window + i*s->record;
    out->cell[i] = 0;
    for(uint32_t d=0; d<rank; d++){
      uint64_t coordinate = zt_le64(record+8*(size_t)d);
      if( !coo_place(t, d, coordinate, &out->cell[i]) ){
        return coo_fail_coordinate(t, d, s->entry+i, coordinate, err);
      }
    }
    memcpy(out->value.bytes+i*width, record+8*(size_t)rank, width);
  }
  if( zt_big_endian() ) zt_swap_bytes(&out->value, out->n*width, t->dtype->unit);
  return SQLITE_OK;
}

/* Compute the cells of rows of coordinates (K2). */
static int coo_place_rows(const zt_tensor *t, const coo *s, zt_entries *out, zt_error *err){
  const uint64_t *row = s->window;
  for(size_t i=0; i<out->n; i++, row+=s->columns){
    out->cell[i] = 0;
    for(uint32_t d=0; d<s->columns; d++){
      if( !coo_place(t, d, row[d], &out->cell[i]) ){
        return coo_fail_coordinate(t, d, s->entry+i, row[d], err);
      }
    }
  }
  return SQLITE_OK;
}

/* Positions are cells (K2). */
static int coo_place_positions(const zt_tensor *t, const coo *s, zt_entries *out, zt_error *err){
  const uint64_t *position = s->window;
  memcpy(out->cell, position, out->n*sizeof(*position));
  for(size_t i=0; i<out->n; i++){
    if( position[i]<t->object->elements ) continue;
    return zt_break(err, "K2", "index %llu of value %llu, and there are %llu elements", position[i],
                    s->entry+i, t->object->elements);
  }
  return SQLITE_OK;
}

static int coo_next_indices(zt_tensor *t, coo *s, zt_entries *out, zt_error *err){
  const size_t room = COO_RECORDS/sizeof(uint64_t)/(s->columns ? s->columns : 1);
  if( out->n>room ) out->n = room;
  if( zt_array_read_indices(&s->indices, s->entry*s->columns, out->n*s->columns, s->window, err) ){
    return err->rc;
  }
  if( t->object->layout==ZT_LAYOUT_COO_ROWS ? coo_place_rows(t, s, out, err)
    : coo_place_positions(t, s, out, err) ) return err->rc;
  return zt_array_read(&s->values, s->entry, out->n, &out->value, err);
}

/* One reader for each dimension would take too much memory. Use a single reader, which goes through
** all dimensions once for each COO_GATHERED coordinates. */
static int coo_use_one_reader(zt_tensor *t, coo *s, zt_error *err){
  zt_component component = { 0 };
  zt_payload payload = zt_tensor_payload(t, &component);
  const uint64_t n = s->n;
  uint64_t *gathered;
  zt_error_clear(err);
  err->component.z = NULL;
  if( zt_tensor_component(t, coo_role(t), NULL, &component, err) ) return err->rc;
  if( zt_array_open_part(&payload, s->coords[0].dtype, 0, coo_span(s, s->rank, n), &s->all, err) ){
    return err->rc;
  }
  s->room = n<COO_GATHERED/s->rank ? n : COO_GATHERED/s->rank;
  gathered = sqlite3_malloc64(s->room*s->rank*sizeof(*gathered));
  if( !gathered ){
    zt_array_close(&s->all);
    return zt_fail_nomem(err);
  }
  zt_os_advise_large(gathered, (size_t)s->room*s->rank*sizeof(*gathered));
  for(uint32_t d=0; d<s->rank; d++) zt_array_close(&s->coords[d]);
  s->gathered = gathered;
  return SQLITE_OK;
}

/* Read n coordinates of one dimension, whose first one is element `first` of the array. */
static int coo_read_apart(const coo *s, zt_array *a, uint64_t first, size_t n, uint64_t *to,
                          zt_error *err){
  const uint64_t each = s->each;
  if( each==1 ) return zt_array_read_indices(a, first, n, to, err);
  while( n>0 ){
    const size_t most = each<COO_APART ? each ? (size_t)((COO_APART-1)/each)+1 : n : 1;
    const size_t m = n<most ? n : most;
    const int rc = zt_array_read_indices(a, first, (size_t)((m-1)*each)+1, s->apart, err);
    if( rc ) return rc;
    for(size_t i=0; i<m; i++) to[i] = s->apart[i*each];
    first += m*each;
    to += m;
    n -= m;
  }
  return SQLITE_OK;
}

/* Gather the coordinates from number i on, as many as there is room for. */
static int coo_gather(coo *s, uint64_t i, zt_error *err){
  uint64_t remaining = s->n-i;
  size_t n = (size_t)(remaining<s->room ? remaining : s->room);
  s->nGathered = 0;
  for(uint32_t d=0; d<s->rank; d++){
    if( coo_read_apart(s, &s->all, d*s->step+i*s->each, n, s->gathered+d*s->room, err) ){
      return err->rc;
    }
  }
  s->from = i;
  s->nGathered = n;
  return SQLITE_OK;
}

static int coo_read_dimension(coo *s, uint32_t d, uint64_t i, size_t n, uint64_t *to,
                              zt_error *err){
  if( !s->gathered ) return coo_read_apart(s, &s->coords[d], i*s->each, n, to, err);
  memcpy(to, s->gathered+d*s->room+(i-s->from), n*sizeof(*to));
  return SQLITE_OK;
}

/* Compute the cells of n coordinates, within the dimensions that have coordinates. */
static int coo_read_cells(zt_tensor *t, coo *s, uint64_t i, size_t n, uint64_t *cell,
                          zt_error *err){
  uint64_t coordinate[ZT_ENTRIES];
  memset(cell, 0, n*sizeof(*cell));
  for(uint32_t d=0; d<s->rank; d++){
    if( coo_read_dimension(s, d, i, n, coordinate, err) ) return err->rc;
    for(size_t k=0; k<n; k++){
      if( !coo_place(t, d, coordinate[k], &cell[k]) ){
        return coo_fail_coordinate(t, d, i+k, coordinate[k], err);
      }
    }
  }
  return SQLITE_OK;
}

/* The same for gathered coordinates. *n decreases if fewer were gathered. */
static int coo_read_gathered_cells(zt_tensor *t, coo *s, uint64_t i, size_t *n, uint64_t *cell,
                                   zt_error *err){
  uint64_t there;
  if( (i<s->from || i-s->from>=s->nGathered) && coo_gather(s, i, err) ) return err->rc;
  there = s->from+s->nGathered-i;
  if( *n>there ) *n = (size_t)there;
  return coo_read_cells(t, s, i, *n, cell, err);
}

/* Replace the cells of n coordinates from number i on by those of out's values, or of fewer values
** if there are too few coordinates. It runs backwards, so that no cell is overwritten before it is
** read. */
static void coo_spread(const coo *s, uint64_t i, size_t n, zt_entries *out){
  const uint64_t there = (i+n)*s->whole-s->entry;
  if( out->n>there ) out->n = (size_t)there;
  for(size_t k=out->n; k-->0 && s->whole>1; ){
    const uint64_t number = s->entry+k;
    out->cell[k] = out->cell[number/s->whole-i]*s->whole+number%s->whole;
  }
}

static int coo_next_components(zt_tensor *t, coo *s, zt_entries *out, zt_error *err){
  const uint64_t i = s->entry/s->whole;
  size_t n = (size_t)((s->entry+out->n-1)/s->whole-i)+1;
  if( !s->gathered && coo_read_cells(t, s, i, n, out->cell, err)==SQLITE_TOOBIG && s->rank>1 ){
    coo_use_one_reader(t, s, err);
  }
  if( s->gathered ) coo_read_gathered_cells(t, s, i, &n, out->cell, err);
  if( err->rc ) return err->rc;
  coo_spread(s, i, n, out);
  return s->strided ? zt_strided_read(s->strided, s->entry, out->n, out->value.bytes, err)
       : zt_array_read(&s->values, s->entry, out->n, &out->value, err);
}

static int coo_next(zt_tensor *t, zt_entries *out, zt_error *err){
  coo *s = t->state;
  uint64_t remaining = t->stored-s->entry;
  out->n = remaining<ZT_ENTRIES ? (size_t)remaining : ZT_ENTRIES;
  out->first = s->entry;
  if( out->n==0 ) return SQLITE_OK;
  if( s->record ? coo_next_records(t, s, out, err)
    : s->indices.stream ? coo_next_indices(t, s, out, err)
    : coo_next_components(t, s, out, err) ) return err->rc;
  s->entry += out->n;
  return SQLITE_OK;
}

const zt_layout zt_layout_coo = {
  .open = coo_open, .close = coo_close, .seek = coo_seek, .next = coo_next
};
