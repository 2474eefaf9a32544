/* A tensor as bytes or text for a result. See assemble.h. */
#include "tensor/assemble.h"

#include <assert.h>
#include <math.h>
#include "core/copy.h"
#include "core/json.h"
#include "core/window.h"
#include "tensor/ranges.h"

#define ASSEMBLE_TEXT_WORK 64   /* Elements converted in the time that one takes to write */
#define ASSEMBLE_TEXT_PART (64 << 10)   /* Characters moved to the result at once */
/* Bytes of a result that is larger than the caches near a processor, and of its blocks, which fit
** the nearest. */
#define ASSEMBLE_LARGE ((uint64_t)8 << 20)
#define ASSEMBLE_BLOCK ((size_t)32 << 10)

static int assemble_check_types(const zt_tensor *t, const zt_dtype *as, zt_error *err){
  if( zt_convertible(t->dtype, as) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "%s is complex and cannot become %s", t->dtype->name, as->name);
}

int zt_assemble_check(const zt_tensor *t, const zt_dtype *as, uint64_t n, zt_error *err){
  uint64_t bytes;
  if( assemble_check_types(t, as, err) ) return err->rc;
  if( !zt_dtype_size(as, n, &bytes) ) bytes = UINT64_MAX;
  if( bytes<=t->budget->result ) return SQLITE_OK;
  return zt_fail(err, SQLITE_TOOBIG,
                 "%llu elements of %s are more than the limit of %llu bytes on a result", n,
                 as->name, t->budget->result);
}

/* The element at a flat position has no value in the type `as`. */
static int assemble_fail_element(const zt_tensor *t, const zt_dtype *as, uint64_t position,
                                 const void *element, zt_error *err){
  zt_scalar value = zt_scalar_of(t->dtype, element);
  sqlite3_str *text = sqlite3_str_new(NULL);
  char *z;
  sqlite3_str_appendall(text, "element ");
  zt_json_coords(text, t->object, position);
  sqlite3_str_appendall(text, " is ");
  if( value.class==ZT_FLOAT && isnan(value.real) ) sqlite3_str_appendall(text, "NaN");
  else if( value.class==ZT_FLOAT && isinf(value.real) ){
    sqlite3_str_appendall(text, value.real<0 ? "-infinity" : "infinity");
  }else{
    zt_json_scalar(text, value);
  }
  z = sqlite3_str_finish(text);
  if( z ) zt_fail(err, SQLITE_ERROR, "%s, which %s does not have", z, as->name);
  else zt_fail_nomem(err);
  sqlite3_free(z);
  return err->rc;
}

/* Convert n elements to bytes of a result. The first one is at `position`. `scratch` has room for n
** elements of the type. */
static int assemble_convert(const zt_tensor *t, const zt_dtype *as, const uint8_t *from,
                            uint64_t position, size_t n, uint8_t *out, uint8_t *scratch,
                            zt_error *err){
  void *to = zt_dtype_is_packed(as) ? scratch : out;
  size_t done = zt_convert(t->dtype, from, as, to, n);
  if( done<n ){
    return assemble_fail_element(t, as, position+done, from+done*t->dtype->width, err);
  }
  if( zt_dtype_is_packed(as) ) zt_pack(as, to, out, n);
  else if( zt_big_endian() ) zt_swap_bytes(out, n*as->width, as->unit);
  return SQLITE_OK;
}

/* The same past the caches, block by block. `scratch` has room for a block. */
static int assemble_convert_large(const zt_tensor *t, const zt_dtype *as, const uint8_t *from,
                                  uint64_t position, size_t n, uint8_t *out, uint8_t *scratch,
                                  zt_error *err){
  const size_t block = ASSEMBLE_BLOCK/as->width;
  for(size_t i=0, m; i<n; i+=m){
    m = n-i<block ? n-i : block;
    if( assemble_convert(t, as, from+i*t->dtype->width, position+i, m, scratch, NULL, err) ) break;
    zt_copy_past_caches(out+i*as->width, scratch, m*as->width);
  }
  return err->rc;
}

/* --- A result, which several threads fill --- */

typedef struct assemble_result {
  const zt_tensor *tensor;
  const zt_dtype *as;
  uint64_t first;          /* Position of the result's first element */
  uint8_t *out;
  bool large;              /* It goes past the caches */
} assemble_result;

/* A range on its way into the result. */
typedef struct assemble_range {
  const assemble_result *of;
  uint64_t done;           /* Elements before the next one, from the result's first one on */
  uint8_t scratch[];       /* Room for a window's elements, if their bytes are packed, or for a
                           ** block of a large result */
} assemble_range;

static void assemble_begin(void *context, void *part, uint64_t first){
  assemble_range *range = part;
  range->of = context;
  range->done = first;
}

static int assemble_take(void *part, const void *const elements[2], size_t n, zt_error *err){
  assemble_range *range = part;
  const assemble_result *r = range->of;
  uint64_t offset = 0;
  zt_dtype_size(r->as, range->done, &offset);
  (r->large ? assemble_convert_large : assemble_convert)(
    r->tensor, r->as, elements[0], r->first+range->done, n, r->out+offset, range->scratch, err);
  range->done += n;
  return err->rc;
}

/* Elements that are not converted are read into their place. */
static void *assemble_place(void *context, uint64_t first){
  const assemble_result *r = context;
  return r->out + first*r->as->width;
}

static int assemble_take_placed(void *part, const void *const elements[2], size_t n,
                                zt_error *err){
  const assemble_result *r = ((const assemble_range*)part)->of;
  if( zt_big_endian() ) zt_swap_bytes((void*)elements[0], n*r->as->width, r->as->unit);
  return err->rc;
}

static void assemble_merge(void *context, void *part){
  (void)context;
  (void)part;
}

/* zt_dtype_is_packed() types take the way of conversions, which packs. */
static bool assemble_is_plain(const zt_tensor *t, const zt_dtype *as){
  return as==t->dtype && !zt_dtype_is_packed(as);
}

/* A window's size is a multiple of a byte's packed elements. */
static int assemble_ranges(zt_tensor *t, const zt_dtype *as, uint64_t first, uint64_t n,
                           uint8_t *out, zt_error *err){
  const bool packed = zt_dtype_is_packed(as), plain = assemble_is_plain(t, as);
  assemble_result result = { t, as, first, out, !packed && !plain && n>=ASSEMBLE_LARGE/as->width };
  zt_ranges r = {
    .t = { t }, .first = first, .n = n, .window = zt_tensor_window(t) & ~(uint64_t)15,
    .context = &result, .begin = assemble_begin, .place = plain ? assemble_place : NULL,
    .take = plain ? assemble_take_placed : assemble_take, .merge = assemble_merge
  };
  if( r.window>n ) r.window = n;
  r.size = sizeof(assemble_range)
         + (packed ? (size_t)r.window : result.large ? ASSEMBLE_BLOCK : 0);
  return zt_ranges_go(&r, err);
}

/* Read elements that are not converted with one call: the bytes of a file, which are read by
** several threads then, and sparse tensors. */
static int assemble_read_plain(zt_tensor *t, uint64_t first, uint64_t n, zt_buffer *out,
                               zt_error *err){
  if( zt_tensor_is_sparse(t) ) zt_sparse_fill(t, first, (size_t)n, out->p, err);
  else zt_tensor_read(t, first, (size_t)n, out->p, err);
  if( !err->rc && zt_big_endian() ) zt_swap_bytes(out->p, (size_t)out->n, t->dtype->unit);
  return err->rc;
}

/* Fill `out`, whose bytes are all 0 if the tensor is sparse and plain. */
static int assemble_fill(zt_tensor *t, const zt_dtype *as, uint64_t first, uint64_t n,
                         zt_buffer *out, zt_error *err){
  if( t->object->elements==0 ) return zt_tensor_read(t, 0, 0, NULL, err);
  if( n==0 ) return SQLITE_OK;
  return assemble_is_plain(t, as)
      && (zt_tensor_is_sparse(t) || t->object->layout==ZT_LAYOUT_DENSE)
       ? assemble_read_plain(t, first, n, out, err)
       : assemble_ranges(t, as, first, n, out->p, err);
}

int zt_assemble(zt_tensor *t, const zt_dtype *as, uint64_t first, uint64_t n, zt_buffer *out,
                zt_error *err){
  bool zeros = assemble_is_plain(t, as) && zt_tensor_is_sparse(t);
  uint64_t bytes = 0;
  *out = (zt_buffer){ NULL, 0 };
  if( zt_assemble_check(t, as, n, err) ) return err->rc;
  zt_dtype_size(as, n, &bytes);
  if( (zeros ? zt_buffer_new_zeros : zt_buffer_new)(t->budget, bytes, out, err) ) return err->rc;
  if( assemble_fill(t, as, first, n, out, err) ) zt_buffer_clear(out);
  return err->rc;
}

int zt_assemble_into(zt_tensor *t, const zt_dtype *as, uint64_t first, uint64_t n, zt_buffer *out,
                     zt_error *err){
  uint64_t bytes;
  if( assemble_check_types(t, as, err) ) return err->rc;
  if( !zt_dtype_size(as, n, &bytes) || bytes!=out->n ){
    return zt_fail(err, SQLITE_ERROR, "%llu elements of %s are not the %llu bytes of the caller's"
                   " array: the file has changed", n, as->name, out->n);
  }
  if( bytes && assemble_is_plain(t, as) && zt_tensor_is_sparse(t) ){
    memset(out->p, 0, (size_t)bytes);
  }
  return assemble_fill(t, as, first, n, out, err);
}

/* --- Pieces --- */

typedef struct assemble_pieces {
  const zt_tensor *tensor;
  const zt_dtype *as;
  void (*take)(void *context, zt_span bytes);
  void *context;
  uint64_t position;       /* Of the next element */
  uint8_t *out, *scratch;  /* Room for a converted window; NULL: nothing is converted */
  zt_error *err;
} assemble_pieces;

/* Turn elements into bytes of a result, in place unless they are converted, and give them to the
** caller. */
static void assemble_take_piece(void *context, void *elements, size_t n){
  assemble_pieces *p = context;
  uint8_t *out = p->out ? p->out : elements;
  uint64_t bytes = 0;
  if( p->err->rc ) return;
  zt_dtype_size(p->as, n, &bytes);
  if( p->out ){
    if( assemble_convert(p->tensor, p->as, elements, p->position, n, out, p->scratch, p->err) ){
      return;
    }
  }else if( zt_dtype_is_packed(p->as) ){
    zt_pack(p->as, elements, out, n);
  }else if( zt_big_endian() ){
    zt_swap_bytes(out, (size_t)bytes, p->as->unit);
  }
  p->position += n;
  p->take(p->context, (zt_span){ out, (size_t)bytes });
}

static int assemble_read_pieces(zt_tensor *t, void *window, size_t n, assemble_pieces *p,
                                zt_error *err){
  const uint64_t elements = t->object->elements;
  for(uint64_t first=0; first<elements && !err->rc; first+=n){
    const size_t m = elements-first<n ? (size_t)(elements-first) : n;
    if( zt_tensor_read(t, first, m, window, err) ) break;
    assemble_take_piece(p, window, m);
    zt_tensor_poll(t, m, err);
  }
  return err->rc;
}

int zt_assemble_pieces(zt_tensor *t, const zt_dtype *as,
                       void (*take)(void *context, zt_span bytes), void *context, zt_error *err){
  const bool convert = as!=t->dtype;
  assemble_pieces p = { .tensor = t, .as = as, .take = take, .context = context, .err = err };
  uint64_t n = ZT_STREAM_PIECE/t->dtype->width;
  void *window;
  if( assemble_check_types(t, as, err) ) return err->rc;
  if( t->object->elements==0 ) return zt_tensor_read(t, 0, 0, NULL, err);
  zt_tensor_expect(t);
  if( n>t->object->elements ) n = t->object->elements;
  window = zt_window_new((size_t)(n*t->dtype->width));
  if( convert ) p.out = zt_window_new((size_t)(n*as->width));
  if( convert && zt_dtype_is_packed(as) ) p.scratch = sqlite3_malloc64(n);
  if( !window || (convert && !p.out) || (convert && zt_dtype_is_packed(as) && !p.scratch) ){
    zt_fail_nomem(err);
  }else if( !zt_tensor_is_sparse(t) ){
    assemble_read_pieces(t, window, (size_t)n, &p, err);
  }else{
    zt_sparse_windows(t, window, (size_t)n, assemble_take_piece, &p, err);
  }
  zt_window_free(window);
  zt_window_free(p.out);
  sqlite3_free(p.scratch);
  return err->rc;
}

/* --- Slices --- */

zt_slice zt_slice_all(const zt_object *object){
  return (zt_slice){ 0, object->rank ? object->shape[0] : 1, 0, object->elements };
}

int zt_slice_of(const zt_object *object, uint64_t row, uint64_t rows, zt_slice *out, zt_error *err){
  uint64_t all, each;
  if( object->rank==0 ){
    return zt_fail(err, SQLITE_ERROR, "a scalar has no first dimension to slice");
  }
  all = object->shape[0];
  each = all ? object->elements/all : 0;
  if( row>all ) row = all;
  if( rows>all-row ) rows = all-row;
  *out = (zt_slice){ row, rows, row*each, rows*each };
  return SQLITE_OK;
}

/* --- Text --- */

void zt_json_scalar(sqlite3_str *out, zt_scalar value){
  switch( value.class ){
    case ZT_FLOAT: zt_json_real(out, value.real); break;
    case ZT_INT:   sqlite3_str_appendf(out, "%lld", value.i); break;
    case ZT_UINT:  zt_json_uint(out, value.u); break;
    case ZT_BOOL:  sqlite3_str_appendall(out, value.u ? "true" : "false"); break;
    case ZT_COMPLEX:
      sqlite3_str_append(out, "[", 1);
      zt_json_real(out, value.real);
      sqlite3_str_append(out, ",", 1);
      zt_json_real(out, value.imag);
      sqlite3_str_append(out, "]", 1);
      break;
  }
}

void zt_json_coords(sqlite3_str *out, const zt_object *object, uint64_t position){
  uint64_t index[ZT_MAX_RANK];
  for(uint32_t d=object->rank; d-->0; position /= object->shape[d]){
    index[d] = position%object->shape[d];
  }
  sqlite3_str_append(out, "[", 1);
  for(uint32_t d=0; d<object->rank; d++){
    if( d>0 ) sqlite3_str_append(out, ",", 1);
    zt_json_uint(out, index[d]);
  }
  sqlite3_str_append(out, "]", 1);
}

typedef struct assemble_writer {
  zt_tensor *tensor;
  const zt_dtype *as;
  const zt_slice *slice;
  sqlite3_str *part;       /* The text that follows the result's */
  zt_buffer *out;
  uint64_t capacity;       /* Room of the result */
  zt_error *err;
  uint64_t done;           /* Written elements of the slice */
  uint64_t window;         /* Elements read at once */
  uint8_t *elements;
} assemble_writer;

static void assemble_write_converted(assemble_writer *w, const uint8_t *element){
  const zt_tensor *t = w->tensor;
  uint64_t converted[ZT_ELEMENT_MAX/8];
  if( w->as==t->dtype ) zt_json_scalar(w->part, zt_scalar_of(w->as, element));
  else if( !zt_convert(t->dtype, element, w->as, converted, 1) ){
    assemble_fail_element(t, w->as, w->slice->first+w->done, element, w->err);
  }else{
    zt_json_scalar(w->part, zt_scalar_of(w->as, converted));
  }
}

static int assemble_fail_json(const zt_tensor *t, zt_error *err){
  return zt_fail(err, SQLITE_TOOBIG, "its text is more than the limit of %llu bytes on a result",
                 t->budget->result);
}

/* Move the part to the result. */
static int assemble_move_part(assemble_writer *w){
  const uint64_t limit = w->tensor->budget->result, n = (uint64_t)sqlite3_str_length(w->part);
  uint64_t all = w->out->n + n;
  if( w->err->rc ) return w->err->rc;
  if( sqlite3_str_errcode(w->part) ) return zt_fail_nomem(w->err);
  if( all>limit ) return assemble_fail_json(w->tensor, w->err);
  if( all>w->capacity ){
    const uint64_t capacity = all<=limit/2 ? 2*all : limit;
    if( zt_buffer_reserve(w->out, capacity, w->err) ) return w->err->rc;
    w->capacity = capacity;
  }
  memcpy(w->out->p + w->out->n, sqlite3_str_value(w->part), (size_t)n);
  w->out->n = all;
  sqlite3_str_reset(w->part);
  return SQLITE_OK;
}

/* Return true if the text goes on. An sqlite3_str with all of it would be slow: one that has half
** of its limit grows by each append alone, and may be copied each time. */
static bool assemble_goes_on(assemble_writer *w){
  if( sqlite3_str_errcode(w->part) || sqlite3_str_length(w->part)>=ASSEMBLE_TEXT_PART ){
    assemble_move_part(w);
  }
  return !w->err->rc;
}

static void assemble_write_element(assemble_writer *w){
  uint64_t i = w->done%w->window, remaining = w->slice->n-w->done;
  if( i==0 ){
    size_t n = remaining<w->window ? (size_t)remaining : (size_t)w->window;
    if( zt_tensor_read(w->tensor, w->slice->first+w->done, n, w->elements, w->err) ) return;
  }
  assemble_write_converted(w, w->elements + i*w->tensor->dtype->width);
  w->done++;
  zt_tensor_poll(w->tensor, ASSEMBLE_TEXT_WORK, w->err);
}

/* Write the next part of the slice, from dimension d on. */
static void assemble_write_dimension(assemble_writer *w, uint32_t d){
  const zt_object *object = w->tensor->object;
  uint64_t n;
  if( d==object->rank ){
    assemble_write_element(w);
    return;
  }
  n = d==0 ? w->slice->rows : object->shape[d];
  sqlite3_str_append(w->part, "[", 1);
  for(uint64_t i=0; i<n && assemble_goes_on(w); i++){
    if( i>0 ) sqlite3_str_append(w->part, ",", 1);
    assemble_write_dimension(w, d+1);
    if( object->elements==0 ) zt_tensor_poll(w->tensor, ASSEMBLE_TEXT_WORK, w->err);
  }
  sqlite3_str_append(w->part, "]", 1);
}

/* Return the fewest characters of an element with its separator. */
static uint64_t assemble_least_text(zt_class class){
  switch( class ){
    case ZT_FLOAT:   return sizeof("0.0,")-1;
    case ZT_BOOL:    return sizeof("true,")-1;
    case ZT_COMPLEX: return sizeof("[0.0,0.0],")-1;
    default:         return sizeof("0,")-1;
  }
}

/* True if the text may be within the limit, by the number of elements, or of empty brackets. */
static bool assemble_may_fit(const zt_tensor *t, const zt_dtype *as, const zt_slice *slice){
  const zt_object *object = t->object;
  uint64_t pairs = slice->rows;
  if( object->elements ) return slice->n <= t->budget->result/assemble_least_text(as->class);
  for(uint32_t d=1; pairs && d<object->rank && object->shape[d]; d++){
    if( !zt_mul64(pairs, object->shape[d], &pairs) ) return false;
  }
  return pairs <= t->budget->result/(sizeof("[],")-1);
}

int zt_assemble_json(zt_tensor *t, const zt_dtype *as, const zt_slice *slice, zt_buffer *out,
                     zt_error *err){
  assemble_writer w = { .tensor = t, .as = as, .slice = slice, .out = out, .err = err,
               .window = zt_tensor_window(t) };
  *out = (zt_buffer){ NULL, 0 };
  if( assemble_check_types(t, as, err) ) return err->rc;
  if( !assemble_may_fit(t, as, slice) ) return assemble_fail_json(t, err);
  if( w.window>slice->n ) w.window = slice->n+1;
  assert( w.window>0 );
  w.elements = sqlite3_malloc64(w.window*t->dtype->width);
  if( !w.elements ) return zt_fail_nomem(err);
  w.part = sqlite3_str_new(NULL);
  if( t->object->elements==0 ) zt_tensor_read(t, 0, 0, w.elements, err);
  if( !err->rc ) assemble_write_dimension(&w, 0);
  assemble_move_part(&w);
  sqlite3_free(sqlite3_str_finish(w.part));
  sqlite3_free(w.elements);
  if( err->rc ) zt_buffer_clear(out);
  return err->rc;
}
