/*
** Supplies. See supply.h.
*/
#include "tensor/supply.h"

#include <assert.h>
#include "core/host.h"
#include "core/window.h"
#include "tensor/assemble.h"
#include "tensor/content.h"
#include "tensor/ggml.h"
#include "tensor/sorted.h"

#define SUPPLY_LEAST 16u
#define SUPPLY_SEVERAL UINT32_MAX
#define SUPPLY_INDICES ((size_t)8192)   /* Indices that are given at once */

void zt_supplies_clear(zt_supplies *s){
  sqlite3_free(s->a);
  zt_ahead_clear(&s->ahead);
  s->a = NULL;
  s->n = s->capacity = 0;
}

void zt_supplies_empty(zt_supplies *s){
  zt_ahead_leave(&s->ahead);
  *s = (zt_supplies){
    .a = s->a, .capacity = s->capacity, .open = s->open, .context = s->context, .ahead = s->ahead
  };
}

int zt_supplies_add(zt_supplies *s, const zt_supply *supply, uint32_t *number, zt_error *err){
  if( s->n==s->capacity ){
    const uint32_t capacity = s->capacity ? 2*s->capacity : SUPPLY_LEAST;
    zt_supply *a = s->n<UINT32_MAX/2 ? sqlite3_realloc64(s->a, capacity*sizeof(*a)) : NULL;
    if( !a ) return zt_fail_nomem(err);
    s->a = a;
    s->capacity = capacity;
  }
  s->a[s->n] = *supply;
  *number = s->n++;
  return SQLITE_OK;
}

static zt_payload supply_payload(zt_supply_file file, const zt_object *object,
                                 const zt_component *component, zt_budget *budget){
  return (zt_payload){
    .source = file.source, .object = object, .component = component, .budget = budget
  };
}

/* --- Adding an object --- */

/* An object being added. */
typedef struct supply_adding {
  zt_supplies *supplies;
  const zt_supply_request *request;
  zt_draft *draft;
  uint32_t number;         /* Of the object in the draft */
  zt_error *err;
} supply_adding;

/* Add a component that is encoded anew: its role, element and length. */
static int supply_add_component(const supply_adding *a, zt_draft_component c, zt_supply supply){
  const zt_supply_request *r = a->request;
  supply.source = r->source;
  supply.object = r->object;
  supply.bare = r->bare;
  c.codec = r->codec;
  c.level = r->level;
  c.digest = r->digest;
  if( zt_supplies_add(a->supplies, &supply, &c.supply, a->err) ) return a->err->rc;
  return zt_draft_add_component(a->draft, a->number, &c, a->err);
}

/* The number of a component of that role; SUPPLY_SEVERAL: the object has none. */
static uint32_t supply_component_of(const zt_container *c, uint32_t object, const char *role){
  zt_component component;
  const uint32_t end = zt_container_first(c, object+1);
  for(uint32_t k=zt_container_first(c, object); k<end; k++){
    zt_container_component(c, object, k, ZT_COMPONENT_ROLE, &component);
    if( zt_text_equal(component.role, zt_text_of(role)) ) return k;
  }
  return SUPPLY_SEVERAL;
}

static int supply_fail_size(uint64_t n, const zt_dtype *dtype, zt_error *err){
  return zt_fail(err, SQLITE_TOOBIG, "%llu elements of %s are more than 2^64 bytes", n,
                 dtype->name);
}

/* Add a component of n elements that the source's component of that role has. */
static int supply_add_elements(const supply_adding *a, const char *role, const char *from,
                               zt_supply_kind kind, const zt_dtype *as, uint64_t n){
  const zt_supply supply = {
    .kind = kind, .as = as,
    .component = supply_component_of(a->request->file.container, a->request->object, from)
  };
  zt_draft_component c = { .role = zt_text_of(role), .element = as };
  if( !zt_dtype_size(as, n, &c.decoded_length) ) return supply_fail_size(n, as, a->err);
  return supply_add_component(a, c, supply);
}

/* The type of indices: u64, but for 4 bytes where the source has them and the target may. */
static const zt_dtype *supply_index_type(const supply_adding *a, const char *role){
  const zt_supply_request *r = a->request;
  zt_component component;
  const bool narrow = !(r->rules & ZT_RULE_U64_INDICES)
    && zt_component_find(r->file.container, r->object, zt_text_of(role), &component)
    && component.element && component.element->id==ZT_DTYPE_u32;
  return zt_dtype_get(narrow ? ZT_DTYPE_u32 : ZT_DTYPE_u64);
}

static int supply_add_coo(const supply_adding *a, const zt_tensor *t, const zt_dtype *as){
  uint64_t n;
  if( !zt_mul64(t->stored, t->object->rank, &n) ){
    return supply_fail_size(t->stored, as, a->err);
  }
  if( supply_add_elements(a, "values", "values", ZT_SUPPLY_VALUES, as, t->stored) ){
    return a->err->rc;
  }
  return supply_add_elements(a, "coords", "coords", ZT_SUPPLY_COORDS,
                             supply_index_type(a, "coords"), n);
}

static int supply_add_csr(const supply_adding *a, const zt_tensor *t, const zt_dtype *as){
  const zt_dtype *index = supply_index_type(a, "indices");
  if( supply_add_elements(a, "values", "values", ZT_SUPPLY_VALUES, as, t->stored)
   || supply_add_elements(a, "indices", "indices", ZT_SUPPLY_INDICES, index, t->stored) ){
    return a->err->rc;
  }
  return supply_add_elements(a, "indptr", "indptr", ZT_SUPPLY_INDPTR, index,
                             t->object->shape[0]+1);
}

/* Add every component with its decoded bytes. */
static int supply_add_contents(const supply_adding *a, const zt_object *object){
  const zt_supply_request *r = a->request;
  const uint32_t end = zt_container_first(r->file.container, object->index+1);
  for(uint32_t k=zt_container_first(r->file.container, object->index); k<end; k++){
    zt_component component;
    const zt_payload payload = supply_payload(r->file, object, &component, r->budget);
    zt_supply supply = { .kind = ZT_SUPPLY_CONTENT, .component = k };
    zt_draft_component c = { .level = 0 };
    zt_container_component(r->file.container, object->index, k, ZT_COMPONENT_ALL, &component);
    c.role = a->err->component = component.role;
    supply.as = component.element;
    if( zt_array_dtype(&payload, &c.element, a->err)
     || zt_array_measure(&payload, &c.decoded_length, a->err)
     || supply_add_component(a, c, supply) ) return a->err->rc;
    a->err->component.z = NULL;
  }
  return SQLITE_OK;
}

/* Add an object of a known layout to the draft. */
static int supply_add_named(supply_adding *a, const zt_object *object, zt_layout_id layout){
  const zt_draft_object added = {
    .name = a->request->name, .layout = layout, .format = ZT_TEXT(""),
    .blocks = layout==ZT_LAYOUT_GGML ? object->blocks : NULL,
    .rank = object->rank, .shape = object->shape
  };
  return zt_draft_add_object(a->draft, &added, &a->number, a->err);
}

static int supply_add_dense(supply_adding *a, const zt_tensor *t, const zt_dtype *as){
  const zt_container *c = a->request->file.container;
  const uint32_t first = zt_container_first(c, t->object->index);
  const bool several = zt_container_first(c, t->object->index+1)-first!=1;
  const zt_supply supply = {
    .kind = ZT_SUPPLY_ELEMENTS, .as = as, .component = several ? SUPPLY_SEVERAL : first
  };
  zt_draft_component data = { .role = ZT_TEXT("data"), .element = as };
  if( supply_add_named(a, t->object, ZT_LAYOUT_DENSE) ) return a->err->rc;
  if( !zt_dtype_size(as, t->object->elements, &data.decoded_length) ){
    return supply_fail_size(t->object->elements, as, a->err);
  }
  return supply_add_component(a, data, supply);
}

/* True if the layout, which is not quantized, has a component of that role. Coordinates have one of
** two names. Values have one component or, if they are `split`, two. */
static bool supply_has_role(zt_layout_id layout, zt_text role, const char *coords, bool split){
  if( layout!=ZT_LAYOUT_CSR && layout!=ZT_LAYOUT_COO && layout!=ZT_LAYOUT_COO_LINEAR
   && layout!=ZT_LAYOUT_COO_ROWS ) return zt_text_is(role, "data");
  return (split ? zt_text_is(role, "real") || zt_text_is(role, "imag") : zt_text_is(role, "values"))
      || zt_text_equal(role, zt_text_of(coords))
      || (layout==ZT_LAYOUT_CSR && zt_text_is(role, "indptr"));
}

/* Fail if the object has a component besides those of its layout: the new one would lack it. */
static int supply_check_roles(const supply_adding *a, const zt_object *o){
  const zt_container *c = a->request->file.container;
  const uint32_t end = zt_container_first(c, o->index+1);
  const bool named = supply_component_of(c, o->index, "coords")!=SUPPLY_SEVERAL;
  const bool split = supply_component_of(c, o->index, "values")==SUPPLY_SEVERAL;
  for(uint32_t k=zt_container_first(c, o->index); k<end; k++){
    zt_component extra;
    zt_container_component(c, o->index, k, ZT_COMPONENT_ROLE, &extra);
    if( supply_has_role(o->layout, extra.role,
                        named && o->layout!=ZT_LAYOUT_CSR ? "coords" : "indices", split) ){
      continue;
    }
    return zt_fail(a->err, SQLITE_ERROR, "its layout has no component '%.*s', which the new one"
                   " would lack; format='dense' of zt_writer leaves it out", zt_shown(extra.role),
                   extra.role.z);
  }
  return SQLITE_OK;
}

/* Add an object whose values are open. */
static int supply_add_tensor(supply_adding *a, const zt_tensor *t){
  const zt_supply_request *r = a->request;
  const zt_dtype *as = r->as ? r->as : t->dtype;
  if( !zt_convertible(t->dtype, as) ){
    return zt_fail(a->err, SQLITE_ERROR, "%s is complex and cannot become %s", t->dtype->name,
                   as->name);
  }
  if( r->dense ) return supply_add_dense(a, t, as);
  if( zt_tensor_is_sparse(t) && zt_blank_number(t->dtype)!=zt_blank_number(as) ){
    return zt_fail(a->err, SQLITE_ERROR, "cells without a stored element are another number in %s"
                   " than in %s; format='dense' of zt_writer converts them", as->name,
                   t->dtype->name);
  }
  switch( t->object->layout ){
    case ZT_LAYOUT_DENSE:
      return supply_check_roles(a, t->object) ? a->err->rc : supply_add_dense(a, t, as);
    case ZT_LAYOUT_COMPLEX_PARTS: case ZT_LAYOUT_SLICES: return supply_add_dense(a, t, as);
    case ZT_LAYOUT_CSR: case ZT_LAYOUT_CSR_JOINED:
      return supply_check_roles(a, t->object) || supply_add_named(a, t->object, ZT_LAYOUT_CSR)
           ? a->err->rc : supply_add_csr(a, t, as);
    case ZT_LAYOUT_COO: case ZT_LAYOUT_COO_JOINED: case ZT_LAYOUT_COO_LINEAR:
    case ZT_LAYOUT_COO_ROWS:
      return supply_check_roles(a, t->object) || supply_add_named(a, t->object, ZT_LAYOUT_COO)
           ? a->err->rc : supply_add_coo(a, t, as);
    case ZT_LAYOUT_CSC: case ZT_LAYOUT_BSR: case ZT_LAYOUT_BSC:
      return zt_fail(a->err, SQLITE_ERROR, "no format holds '%.*s'; format='dense' of zt_writer"
                     " writes it dense", zt_shown(t->object->format), t->object->format.z);
    default:   /* Quantized */
      if( r->as ) return supply_add_dense(a, t, as);
      return supply_add_named(a, t->object, t->object->layout) ? a->err->rc
           : supply_add_contents(a, t->object);
  }
}

/* --- Keeping stored bytes --- */

static bool supply_can_keep(const zt_supply_request *r, const zt_object *o){
  const uint32_t end = zt_container_first(r->file.container, o->index+1);
  if( !r->keeps ) return false;
  for(uint32_t k=zt_container_first(r->file.container, o->index); k<end; k++){
    zt_component c;
    zt_container_component(r->file.container, o->index, k, ZT_COMPONENT_ALL, &c);
    if( !r->keeps(r->file.container, o->index, &c) ) return false;
  }
  return true;
}

/* Bytes that a kept component decodes to, if its metadata tell. */
static uint64_t supply_stored_length(const zt_object *object, const zt_component *c){
  uint64_t length = 0;
  if( c->has_decoded_length ) return c->decoded_length;
  return zt_payload_length(object, c, &length)==ZT_LENGTH_KNOWN ? length : ZT_DRAFT_UNKNOWN;
}

static int supply_add_stored_component(supply_adding *a, const zt_object *object, uint32_t k){
  const zt_supply_request *r = a->request;
  zt_supply supply = {
    .kind = ZT_SUPPLY_STORED, .bare = r->bare, .source = r->source, .object = r->object,
    .component = k
  };
  zt_draft_component c = { .level = 0 };
  zt_component component;
  zt_container_component(r->file.container, object->index, k, ZT_COMPONENT_ALL, &component);
  c.role = component.role;
  c.element = component.element;
  c.codec = component.codec;
  c.elsewhere = component.shard.z!=NULL;
  c.decoded_length = supply_stored_length(object, &component);
  r->keeps(r->file.container, object->index, &component);
  supply.offset = component.offset;
  supply.length = component.length;
  return zt_supplies_add(a->supplies, &supply, &c.supply, a->err)
      || zt_draft_add_component(a->draft, a->number, &c, a->err) ? a->err->rc : SQLITE_OK;
}

/* Add an object as it is stored. */
static int supply_add_stored(supply_adding *a, const zt_object *object){
  const zt_supply_request *r = a->request;
  const uint32_t end = zt_container_first(r->file.container, object->index+1);
  const zt_draft_object added = {
    .name = r->name, .layout = object->layout, .blocks = object->blocks, .rank = object->rank,
    .shape = object->shape, .kept = object->index+1,
    .kept_name = zt_text_equal(r->name, object->name),
    .format = object->layout==ZT_LAYOUT_UNKNOWN ? object->format : ZT_TEXT("")
  };
  if( a->supplies->kept && a->supplies->kept!=r->source+1 ){
    return zt_fail(a->err, SQLITE_ERROR, "the file has changed since its row was inserted");
  }
  a->supplies->kept = r->source+1;
  if( zt_draft_add_object(a->draft, &added, &a->number, a->err) ) return a->err->rc;
  for(uint32_t k=zt_container_first(r->file.container, object->index); k<end; k++){
    if( supply_add_stored_component(a, object, k) ) return a->err->rc;
  }
  return SQLITE_OK;
}

/* True if the object's blocks are copied as they are, even if nothing defines their elements. The
** order of bytes in a big-endian file's blocks is not known, so that those are opened, and fail. */
static bool supply_is_opaque(const zt_supply_request *r, const zt_object *object){
  const zt_container *file = r->file.container;
  const uint32_t first = zt_container_first(file, object->index);
  zt_component c;
  if( object->layout!=ZT_LAYOUT_GGML || r->as || r->dense ) return false;
  if( first==zt_container_first(file, object->index+1) ) return false;
  zt_container_component(file, object->index, first, ZT_COMPONENT_ALL, &c);
  return !zt_text_is(c.byte_order, "big");
}

/* Open the tensor. The place of a failure is the source. */
static int supply_open_tensor(const zt_supply_request *r, zt_object *from, zt_tensor *t,
                              zt_error *err){
  const zt_error place = *err;
  err->path = zt_source_name(r->file.source);
  err->object = from->name;
  zt_tensor_open(r->file.source, r->file.container, from, r->budget, t, err);
  err->path = place.path;
  err->object = place.object;
  return err->rc;
}

/* Fail unless the blocks of a type whose elements have no definition are those of the shape. */
static int supply_check_inner(const zt_supply_request *r, const zt_object *o, zt_error *err){
  const uint32_t first = zt_container_first(r->file.container, o->index);
  zt_component c;
  const zt_payload payload = supply_payload(r->file, o, &c, r->budget);
  uint64_t bytes = 0, length = 0;
  if( zt_container_first(r->file.container, o->index+1)!=first+1 || o->rank==0
   || o->shape[o->rank-1]%o->blocks->elements
   || !zt_mul64(o->elements/o->blocks->elements, o->blocks->bytes, &bytes) ){
    return zt_fail(err, SQLITE_ERROR, "its source is no whole number of blocks of %s",
                   o->blocks->name.z);
  }
  zt_container_component(r->file.container, o->index, first, ZT_COMPONENT_ALL, &c);
  if( zt_array_measure(&payload, &length, err) ) return err->rc;
  if( length==bytes ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "its source has %llu bytes where blocks of %s need %llu",
                 length, o->blocks->name.z, bytes);
}

/* Fail unless the blocks of a source are sound. */
static int supply_check_blocks(const zt_supply_request *r, zt_object *from, zt_error *err){
  zt_tensor t;
  if( !zt_ggml_decoder_of(from->blocks) ) return supply_check_inner(r, from, err);
  supply_open_tensor(r, from, &t, err);
  zt_tensor_close(&t);
  return err->rc;
}

int zt_supplies_add_object(zt_supplies *s, const zt_supply_request *request, zt_draft *draft,
                           uint32_t *object, zt_error *err){
  supply_adding a = { .supplies = s, .request = request, .draft = draft, .err = err };
  zt_object from;
  zt_tensor t;
  zt_container_object(request->file.container, request->object, &from);
  if( supply_can_keep(request, &from) ){
    supply_add_stored(&a, &from);
  }else if( supply_is_opaque(request, &from) ){
    if( supply_check_blocks(request, &from, err)==SQLITE_OK
     && supply_add_named(&a, &from, ZT_LAYOUT_GGML)==SQLITE_OK ){
      supply_add_contents(&a, &from);
    }
  }else{
    if( supply_open_tensor(request, &from, &t, err)==SQLITE_OK ) supply_add_tensor(&a, &t);
    zt_tensor_close(&t);
  }
  *object = a.number;
  return err->rc;
}

/* --- Reading --- */

/* A supply being read. */
typedef struct supply_reading {
  const zt_supply *supply;
  zt_supply_file file;
  const zt_object *object;
  zt_component component;  /* Unless there are several */
  zt_source ahead;         /* The file with bytes that are in memory */
  zt_budget *budget;
  void (*take)(void *context, zt_span bytes);
  void *context;
  zt_digest *digest;       /* Of the pieces; NULL: none */
  unsigned own;            /* ZT_RULE_ bits of the source, without the target's */
  bool sort;               /* Stored elements are to ascend, and the source need not have them so */
  zt_error *err;
} supply_reading;

static void supply_take(void *context, zt_span bytes){
  supply_reading *r = context;
  if( r->digest ) zt_digest_update(r->digest, bytes);
  r->take(r->context, bytes);
}

/* Elements or indices on their way out: n of a type wait in a window. */
typedef struct supply_window {
  supply_reading *reading;
  const zt_dtype *dtype;
  zt_sorted *sorted;       /* Owned; NULL: stored elements come in their order */
  uint8_t *p;              /* Owned */
  size_t n;
} supply_window;

static int supply_window_open(supply_window *w, supply_reading *r){
  *w = (supply_window){ .reading = r, .dtype = r->supply->as };
  w->p = sqlite3_malloc64(SUPPLY_INDICES*w->dtype->width);
  return w->p ? SQLITE_OK : zt_fail_nomem(r->err);
}

static void supply_window_flush(supply_window *w){
  uint64_t bytes = 0;
  zt_dtype_size(w->dtype, w->n, &bytes);
  if( zt_dtype_is_packed(w->dtype) ) zt_pack(w->dtype, w->p, w->p, w->n);
  else if( zt_big_endian() ) zt_swap_bytes(w->p, (size_t)bytes, w->dtype->unit);
  if( w->n && !w->reading->err->rc ) supply_take(w->reading, (zt_span){ w->p, (size_t)bytes });
  w->n = 0;
}

static void supply_window_put(supply_window *w, uint64_t index){
  const uint32_t narrow = (uint32_t)index;
  if( w->dtype->width==sizeof(narrow) ) memcpy(w->p+w->n*sizeof(narrow), &narrow, sizeof(narrow));
  else memcpy(w->p+w->n*sizeof(index), &index, sizeof(index));
  if( ++w->n==SUPPLY_INDICES ) supply_window_flush(w);
}

/* Put in stored elements, converted. */
static void supply_put_values(supply_window *w, const zt_tensor *t, const zt_entries *entries){
  for(size_t done=0; done<entries->n && !w->reading->err->rc; ){
    const size_t room = SUPPLY_INDICES-w->n, rest = entries->n-done;
    const size_t n = rest<room ? rest : room;
    const size_t got = zt_convert(t->dtype, entries->value.bytes+done*t->dtype->width, w->dtype,
                                  w->p+w->n*w->dtype->width, n);
    w->n += got;
    done += got;
    if( got<n ){
      zt_fail(w->reading->err, SQLITE_ERROR, "stored element %llu is no value of %s",
              w->sorted ? zt_sorted_number(w->sorted, done) : entries->first+done,
              w->dtype->name);
    }else if( w->n==SUPPLY_INDICES ){
      supply_window_flush(w);
    }
  }
}

/* Put in the indices of stored elements in a dimension whose next element is `stride` cells on. */
static void supply_put_coords(supply_window *w, const zt_entries *entries, uint64_t stride,
                              uint64_t length){
  for(size_t i=0; i<entries->n; i++) supply_window_put(w, entries->cell[i]/stride%length);
}

/* Put in, for each row up to that of an element, the number of those before the row. `before` come
** before the entries; *row is the next row. */
static void supply_put_indptr(supply_window *w, const zt_entries *entries, uint64_t before,
                              uint64_t columns, uint64_t *row){
  for(size_t i=0; i<entries->n; i++){
    for(; *row<=entries->cell[i]/columns; ++*row) supply_window_put(w, before+i);
  }
}

/* Begin to go through the stored elements, and read the next of them. */
static int supply_seek_entries(supply_window *w, zt_tensor *t, zt_entries *entries){
  zt_error *err = w->reading->err;
  const uint64_t n = t->object->elements;
  if( !w->reading->sort ) return t->layout->seek(t, 0, n, err);
  return zt_sorted_open(t, 0, n, ZT_REPEATS_KEPT, entries, &w->sorted, err);
}

static int supply_next_entries(supply_window *w, zt_tensor *t, zt_entries *entries){
  return w->sorted ? zt_sorted_next(w->sorted, w->reading->err)
       : t->layout->next(t, entries, w->reading->err);
}

/* Go through the stored elements once: for coordinates, in dimension d. */
static int supply_read_entries(supply_window *w, zt_tensor *t, zt_entries *entries, uint32_t d){
  const zt_object *o = t->object;
  zt_error *err = w->reading->err;
  uint64_t stride = 1, row = 0, before = 0;
  for(uint32_t i=d+1; i<o->rank; i++) stride *= o->shape[i];
  if( supply_seek_entries(w, t, entries) ) return err->rc;
  for(;; before+=entries->n){
    if( supply_next_entries(w, t, entries) || entries->n==0 ) break;
    switch( w->reading->supply->kind ){
      case ZT_SUPPLY_VALUES: supply_put_values(w, t, entries); break;
      case ZT_SUPPLY_INDICES: supply_put_coords(w, entries, 1, o->shape[1]); break;
      case ZT_SUPPLY_COORDS: supply_put_coords(w, entries, stride, o->shape[d]); break;
      default: supply_put_indptr(w, entries, before, o->shape[1], &row); break;
    }
    if( err->rc || zt_tensor_poll(t, entries->n, err) ) break;
  }
  if( w->reading->supply->kind==ZT_SUPPLY_INDPTR && !err->rc ){
    for(; row<=o->shape[0] && !err->rc; row++) supply_window_put(w, t->stored);
  }
  return err->rc;
}

static int supply_read_sparse(supply_reading *r, zt_tensor *t){
  const uint32_t times = r->supply->kind==ZT_SUPPLY_COORDS ? t->object->rank : 1;
  zt_entries *entries = sqlite3_malloc64(sizeof(*entries));
  supply_window w = { .p = NULL };
  if( !entries ) zt_fail_nomem(r->err);
  if( !r->err->rc && supply_window_open(&w, r)==SQLITE_OK ){
    for(uint32_t d=0; d<times && !r->err->rc; d++) supply_read_entries(&w, t, entries, d);
    supply_window_flush(&w);
  }
  zt_sorted_close(w.sorted);
  sqlite3_free(w.p);
  sqlite3_free(entries);
  return r->err->rc;
}

/* No two stored elements lie in one cell where the target wants that, and where they are converted,
** which might change their sum. Values are the first that are read. */
static int supply_check_cells(supply_reading *r, zt_tensor *t){
  const bool unique = (r->object->rules & ZT_RULE_CELLS_UNIQUE)!=0;
  zt_order order;
  if( r->supply->kind!=ZT_SUPPLY_VALUES || (!unique && r->supply->as==t->dtype) ) return SQLITE_OK;
  if( zt_sparse_order(t, &order, r->err)==SQLITE_OK ){
    if( order.repeated==0 ) return SQLITE_OK;
  }else if( (r->own & ZT_RULE_CELLS_UNIQUE) || !r->err->rule || strcmp(r->err->rule, "L10")!=0 ){
    return r->err->rc;
  }
  zt_error_clear(r->err);
  return zt_fail(r->err, SQLITE_ERROR, "two stored elements lie in one cell; format='dense' of"
                 " zt_writer adds them");
}

static int supply_read_tensor(supply_reading *r){
  zt_tensor t;
  if( zt_tensor_open(r->file.source, r->file.container, r->object, r->budget, &t,
                     r->err)==SQLITE_OK ){
    if( r->supply->kind==ZT_SUPPLY_ELEMENTS ){
      zt_assemble_pieces(&t, r->supply->as, supply_take, r, r->err);
    }else if( supply_check_cells(r, &t)==SQLITE_OK ){
      supply_read_sparse(r, &t);
    }
  }
  zt_tensor_close(&t);
  return r->err->rc;
}

/* Give a component's bytes: as they are, or for a type of several bytes in little-endian order. */
static int supply_read_content(supply_reading *r, const zt_payload *p){
  const zt_dtype *dtype = zt_dtype_get(ZT_DTYPE_u8);
  zt_array array = { 0 };
  uint64_t length = 0;
  size_t n = ZT_STREAM_PIECE;
  uint8_t *window = NULL;
  if( zt_array_measure(p, &length, r->err)
   || zt_array_open_part(p, dtype, 0, length, &array, r->err) ) goto end;
  if( r->supply->as->unit==1 ) array.big = 0;
  if( length<n ) n = (size_t)length+1;
  window = zt_window_new(n);
  if( !window ) zt_fail_nomem(r->err);
  if( !r->err->rc && length==0 ) zt_array_check_empty(&array, r->err);
  for(uint64_t at=0; at<length && !r->err->rc; at+=n){
    const size_t some = length-at<n ? (size_t)(length-at) : n;
    if( zt_array_read(&array, at, some, window, r->err) ) break;
    supply_take(r, (zt_span){ window, some });
    zt_interrupt_check(&r->budget->interrupt, r->err);
  }
end:
  zt_array_close(&array);
  zt_window_free(window);
  return r->err->rc;
}

/* --- Digests of the source --- */

/* True if the digest of a component covers its stored bytes. */
static bool supply_is_digested_as_stored(const zt_component *c){
  return c->codec==ZT_CODEC_RAW || !(c->rules & ZT_RULE_DIGEST_OF_DECODED);
}

/* True if the pieces of a supply are the bytes that the component's digest covers. */
static bool supply_is_digested(const supply_reading *r, const zt_component *c){
  const zt_object *o = r->object;
  const bool whole = c->codec==ZT_CODEC_RAW || (c->rules & ZT_RULE_DIGEST_OF_DECODED);
  const bool same = r->supply->kind==ZT_SUPPLY_CONTENT
    || (r->supply->kind==ZT_SUPPLY_ELEMENTS && o->layout==ZT_LAYOUT_DENSE && !o->has_strides
     && !o->conjugate && !o->negate && c->element==r->supply->as);
  if( r->supply->kind==ZT_SUPPLY_STORED ) return supply_is_digested_as_stored(c);
  if( r->supply->component==SUPPLY_SEVERAL && !zt_text_is(c->role, "data") ) return false;
  return whole && same && c->skip==0 && c->behind==0 && zt_text_is(c->byte_order, "little");
}

static int supply_fail_digest(const zt_component *c, zt_error *err){
  err->component = c->role;
  return zt_fail(err, SQLITE_ERROR, "its bytes do not have its digest");
}

/* Check a component's digest in a pass of its own. */
static int supply_check_digest(const supply_reading *r, const zt_payload *p){
  const char *status = NULL;
  if( zt_content_digest(p, &status, r->err) || !status ) return r->err->rc;
  return strcmp(status, "mismatch")==0 ? supply_fail_digest(p->component, r->err) : SQLITE_OK;
}

/* Begin to compute the digest of a component's bytes as they go by, or check it at once. */
static int supply_begin_digest(supply_reading *r, const zt_component *c){
  const zt_payload p = supply_payload(r->file, r->object, c, r->budget);
  if( !c->digest.z ) return SQLITE_OK;
  if( r->supply->kind==ZT_SUPPLY_STORED && !supply_is_digested_as_stored(c)
   && c->codec==ZT_CODEC_UNKNOWN ) return SQLITE_OK;   /* No one can check it */
  if( !supply_is_digested(r, c) ) return supply_check_digest(r, &p);
  zt_digest_open(c->digest, c->digests, &r->digest, r->err);
  return r->err->rc;
}

static int supply_begin_digests(supply_reading *r){
  const zt_container *c = r->file.container;
  const uint32_t end = zt_container_first(c, r->object->index+1);
  zt_component component;
  if( r->supply->component!=SUPPLY_SEVERAL ) return supply_begin_digest(r, &r->component);
  for(uint32_t k=zt_container_first(c, r->object->index); k<end && !r->err->rc; k++){
    zt_container_component(c, r->object->index, k, ZT_COMPONENT_ALL, &component);
    supply_begin_digest(r, &component);
  }
  return r->err->rc;
}

/* --- Reading any supply --- */

/* Give a range of the spool, or of the file if spool is NULL. */
static int supply_read_window(supply_reading *r, zt_output *spool){
  const zt_supply *supply = r->supply;
  const size_t n = supply->length<ZT_OUTPUT_WINDOW ? (size_t)supply->length : ZT_OUTPUT_WINDOW;
  uint8_t *window = zt_window_new(n+1);
  if( !window ) return zt_fail_nomem(r->err);
  for(uint64_t at=0; at<supply->length && !r->err->rc; at+=n){
    const size_t some = supply->length-at<n ? (size_t)(supply->length-at) : n;
    if( spool ? zt_output_read(spool, supply->offset+at, window, some, r->err)
      : zt_source_read(r->file.source, supply->offset+at, window, some, r->err) ) break;
    supply_take(r, (zt_span){ window, some });
    zt_interrupt_check(&r->budget->interrupt, r->err);
  }
  zt_window_free(window);
  return r->err->rc;
}

static int supply_read_file(supply_reading *r){
  const zt_payload p = supply_payload(r->file, r->object, &r->component, r->budget);
  if( supply_begin_digests(r) ) return r->err->rc;
  switch( r->supply->kind ){
    case ZT_SUPPLY_STORED: supply_read_window(r, NULL); break;
    case ZT_SUPPLY_CONTENT: supply_read_content(r, &p); break;
    default: supply_read_tensor(r); break;
  }
  if( !r->err->rc && r->digest && !zt_digest_matches(r->digest) ){
    supply_fail_digest(&r->component, r->err);
  }
  return r->err->rc;
}

int zt_supplies_unchanged(zt_supplies *s, zt_error *err){
  const zt_error place = *err;
  zt_supply_file file;
  if( s->reading==0 || s->open(s->context, s->reading-1, &file, err) ) return err->rc;
  s->reading = 0;
  zt_ahead_leave(&s->ahead);
  err->path = zt_source_name(file.source);
  err->object.z = err->component.z = NULL;
  if( zt_source_unchanged(file.source, err)==SQLITE_OK ) *err = place;
  return err->rc;
}

/* Rules of the target that hold for what is read: those that the bytes of this supply could break.
** Elements have no cells, bytes of other types no spare bits, and columns are sorted. */
static unsigned supply_rules(const zt_supply *supply, unsigned rules){
  unsigned held = 0;
  if( supply->kind!=ZT_SUPPLY_ELEMENTS ) held |= ZT_RULE_CELLS_UNIQUE;
  if( supply->as && (supply->as->class==ZT_BOOL || zt_dtype_is_packed(supply->as)) ){
    held |= ZT_RULE_CANONICAL_VALUES;
  }
  return rules & held;
}

/* True if the target's rules want columns to ascend, and those of the source do not. */
static bool supply_is_unsorted(const zt_object *o, unsigned rules){
  return (o->layout==ZT_LAYOUT_CSR || o->layout==ZT_LAYOUT_CSR_JOINED) && (rules & ZT_RULE_ORDER)
      && !(o->rules & ZT_RULE_ORDER);
}

int zt_supply_read(zt_supplies *s, uint32_t number, unsigned rules, zt_budget *budget,
                   void (*take)(void *context, zt_span bytes), void *context, zt_error *err){
  const zt_supply *supply = &s->a[number];
  const zt_error place = *err;
  zt_object object;
  supply_reading r = {
    .supply = supply, .object = &object, .budget = budget, .take = take, .context = context,
    .err = err
  };
  if( supply->kind==ZT_SUPPLY_BYTES ) return supply_read_window(&r, s->spool);
  if( s->reading && s->reading!=supply->source+1 && zt_supplies_unchanged(s, err) ){
    return err->rc;
  }
  if( s->open(s->context, supply->source, &r.file, err) ) return err->rc;
  s->reading = supply->source+1;
  zt_container_object(r.file.container, supply->object, &object);
  r.own = object.rules;
  r.sort = supply_is_unsorted(&object, rules);
  object.rules |= supply_rules(supply, rules);
  err->path = zt_source_name(r.file.source);
  err->object = object.name;
  err->component.z = NULL;
  if( supply->component!=SUPPLY_SEVERAL ){
    zt_container_component(r.file.container, supply->object, supply->component, ZT_COMPONENT_ALL,
                           &r.component);
    if( zt_ahead_has(&s->ahead, r.file.source, &r.component, &r.ahead) ) r.file.source = &r.ahead;
  }
  supply_read_file(&r);
  zt_digest_close(r.digest);
  if( !err->rc ) *err = place;
  return err->rc;
}
