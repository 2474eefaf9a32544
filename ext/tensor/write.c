/* Writing files. See write.h. */
#include "tensor/write.h"

#include <assert.h>
#include "container/dtype.h"
#include "core/host.h"
#include "tensor/layout.h"
#include "tensor/part.h"

/* --- Checks --- */

static int write_check_attributes(const zt_write *w, uint32_t object, zt_error *err){
  zt_draft_attribute a;
  for(uint32_t at=0; (at = zt_draft_next_attribute(w->draft, object, at, &a))!=0; ){
    if( w->encoder->check_attribute(&a, object!=ZT_DRAFT_FILE, err) ) return err->rc;
  }
  return SQLITE_OK;
}

/* A shape that overflows 64 bits cannot be read. Nor can libraries read one with a 0 whose other
** dimensions overflow: they compute strides before they look at the number of elements. */
static int write_check_shape(const zt_write *w, uint32_t number, const zt_draft_object *o,
                             zt_error *err){
  uint64_t n = 1, bytes = 0;
  bool empty = false, fits = true;
  zt_draft_component c;
  for(uint32_t i=0; i<o->rank; i++){
    empty |= o->shape[i]==0;
    if( o->shape[i] && !zt_mul64(n, o->shape[i], &n) ) fits = false;
  }
  if( !fits && !empty ){
    return zt_fail(err, SQLITE_ERROR, "the shape has 2^64 elements or more");
  }
  zt_draft_data(w->draft, number, &c);
  if( !empty || (fits && n<=INT64_MAX && (!c.element || (zt_dtype_size(c.element, n, &bytes)
                                                         && bytes<=INT64_MAX))) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "the shape overflows: its dimensions besides 0 make more than"
                 " 2^63 bytes");
}

int zt_write_check_object(const zt_write *w, uint32_t object, zt_error *err){
  zt_draft_object o;
  zt_draft_object_get(w->draft, object, &o);
  err->object = o.name;
  if( !o.kept && write_check_shape(w, object, &o, err) ) return err->rc;
  if( (!o.kept_name && w->encoder->check_object(w->draft, object, err))
   || write_check_attributes(w, object, err) ) return err->rc;
  if( w->encoder->complete && !o.kept ) w->encoder->complete(w->draft, object, err);
  err->component.z = NULL;
  return err->rc;
}

/* Find the component of a role whose type is known. */
static bool write_find(const zt_draft *d, uint32_t object, const char *role,
                       zt_draft_component *out){
  for(uint32_t at=0; (at = zt_draft_next_component(d, object, at, out))!=0; ){
    if( zt_text_equal(out->role, zt_text_of(role)) && out->element ) return true;
  }
  return false;
}

/* The number of elements of a component, with the spare ones of its last byte. */
static uint64_t write_elements(const zt_draft_component *c){
  return c->decoded_length/c->element->bytes*c->element->elements;
}

/* The components of a sparse object are there, and fit each other. */
static int write_check_sparse(const zt_draft *d, uint32_t number, zt_error *err){
  zt_draft_object o;
  zt_draft_component values, indptr, places;
  uint64_t n, bytes = 0;
  bool csr;
  zt_draft_object_get(d, number, &o);
  csr = o.layout==ZT_LAYOUT_CSR;
  if( o.kept || (!csr && o.layout!=ZT_LAYOUT_COO) ) return SQLITE_OK;
  err->object = o.name;
  if( !write_find(d, number, "values", &values)
   || (csr && !write_find(d, number, "indptr", &indptr))
   || !write_find(d, number, csr ? "indices" : "coords", &places) ){
    return zt_fail(err, SQLITE_ERROR, "a component is missing: %s", csr
                   ? "sparse_csr has values, indices and indptr"
                   : "sparse_coo has values and coords");
  }
  n = write_elements(&places)/(csr || o.rank==0 ? 1 : o.rank);
  if( !csr && o.rank==0 && n==0 ) return SQLITE_OK;   /* A scalar's values have no coordinates */
  if( zt_dtype_size(values.element, n, &bytes) && bytes==values.decoded_length ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "%llu values have %llu places",
                 (unsigned long long)write_elements(&values), (unsigned long long)n);
}

int zt_write_check(const zt_write *w, zt_error *err){
  const uint32_t n = zt_draft_objects(w->draft);
  for(uint32_t i=0; i<n && !err->rc; i++){
    if( write_check_sparse(w->draft, i, err)==SQLITE_OK ) zt_write_check_object(w, i, err);
  }
  if( err->rc ) return err->rc;
  err->object.z = NULL;
  write_check_attributes(w, ZT_DRAFT_FILE, err);
  if( !err->rc && w->encoder->check_draft ) w->encoder->check_draft(w->draft, err);
  return err->rc;
}

uint64_t zt_write_size(const zt_draft *draft){
  const uint32_t n = zt_draft_objects(draft);
  uint64_t size = 0;
  for(uint32_t i=0; i<n; i++){
    zt_draft_component c;
    for(uint32_t at=0; (at = zt_draft_next_component(draft, i, at, &c))!=0; ){
      if( !zt_add64(size, c.decoded_length, &size) ) return UINT64_MAX;
    }
  }
  return size;
}

/* --- Parts --- */

/* The context of the encoder's run. */
typedef struct write_run {
  const zt_write *write;
  zt_part_room *room;
} write_run;

/* A part of the run, and where its failures go. */
typedef struct write_part {
  zt_part *part;
  zt_error *err;
} write_part;

static void write_take(void *context, zt_span bytes){
  const write_part *p = context;
  if( !p->err->rc ) zt_part_take(p->part, bytes, p->err);
}

/* The supply had another length than metadata said: its file is another one. */
static int write_fail_length(uint64_t expected, uint64_t got, zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "the source has %llu bytes, and its metadata said %llu",
                 (unsigned long long)got, (unsigned long long)expected);
}

static int write_one(zt_encoder_run *run, uint32_t object, uint32_t place, zt_stored *out,
                     zt_error *err){
  const write_run *r = run->context;
  const zt_write *w = r->write;
  zt_draft_component c;
  char text[ZT_DIGEST_TEXT];
  uint64_t decoded = 0;
  bool stored;
  write_part p = { .err = err };
  zt_part_options options;
  zt_draft_component_get(run->draft, place, &c);
  err->object = zt_draft_name(run->draft, object);
  err->component = c.role;
  stored = w->supplies->a[c.supply].kind==ZT_SUPPLY_STORED;
  options = (zt_part_options){
    .codec = stored ? ZT_CODEC_RAW : c.codec, .level = c.level,
    .digest = stored ? 0 : c.digest, .crc32 = run->crc32, .xxh3 = run->xxh3,
    .digest_of_decoded = (w->encoder->rules & ZT_RULE_DIGEST_OF_DECODED)!=0
  };
  if( zt_part_open(&options, r->room, run->output, w->budget, &p.part, err)==SQLITE_OK
   && zt_part_take(p.part, run->prefix, err)==SQLITE_OK
   && zt_supply_read(w->supplies, c.supply, w->encoder->rules, w->budget, write_take, &p,
                     err)==SQLITE_OK
   && zt_part_finish(p.part, out, text, &decoded, err)==SQLITE_OK ){
    decoded -= run->prefix.n;
    if( !stored && decoded!=c.decoded_length ) write_fail_length(c.decoded_length, decoded, err);
    else zt_draft_store(run->draft, place, out->offset, out->length, zt_text_of(text), err);
  }
  zt_part_close(p.part);
  err->object.z = err->component.z = NULL;
  return err->rc;
}

/* --- Reading back --- */

/* Where an object's first component comes from; NULL: it has none. */
static const zt_supply *write_first_supply(const zt_write *w, uint32_t object){
  zt_draft_component c;
  return zt_draft_next_component(w->draft, object, 0, &c) ? &w->supplies->a[c.supply] : NULL;
}

/* True for a sparse object whose components came by value. */
static bool write_is_sparse_by_value(const zt_write *w, uint32_t object){
  const zt_supply *supply = write_first_supply(w, object);
  zt_draft_object o;
  zt_draft_object_get(w->draft, object, &o);
  return (o.layout==ZT_LAYOUT_CSR || o.layout==ZT_LAYOUT_COO)
      && supply && supply->kind==ZT_SUPPLY_BYTES;
}

/* True for a quantized object of a file, whose attributes rows may have changed. Without components
** it has no values in either file. */
static bool write_is_quantized(const zt_write *w, uint32_t object){
  const zt_supply *supply = write_first_supply(w, object);
  zt_draft_object o;
  zt_draft_object_get(w->draft, object, &o);
  return w->encoder->object_attributes && zt_layout_is_quantized(o.layout)
      && supply && supply->kind!=ZT_SUPPLY_BYTES;
}

/* True for a failure that is not memory's or an interrupt. */
static bool write_is_fault(const zt_error *e){
  return e->rc && e->rc!=SQLITE_NOMEM && e->rc!=SQLITE_INTERRUPT;
}

/* True for an object whose source could not be read either, which stays as it is: one that is kept
** by an update, or blocks whose elements are not defined. False also after a failure. */
static bool write_was_unreadable(const zt_write *w, uint32_t number, zt_error *err){
  zt_supplies *s = w->supplies;
  const zt_supply *supply = write_first_supply(w, number);
  zt_error reason = ZT_ERROR_NONE;
  zt_supply_file file;
  zt_object object;
  zt_tensor t;
  bool unreadable;
  assert( supply );   /* As write_is_quantized() demands */
  if( s->open(s->context, supply->source, &file, err) ) return false;
  zt_container_object(file.container, supply->object, &object);
  zt_tensor_open(file.source, file.container, &object, w->budget, &t, &reason);
  zt_tensor_close(&t);
  unreadable = write_is_fault(&reason);
  if( reason.rc && !unreadable ) *err = reason;
  else zt_error_clear(&reason);
  return unreadable;
}

static int write_verify_sparse(const zt_write *w, const zt_container *c, zt_object *object,
                               zt_source *source, zt_error *err){
  zt_tensor t;
  zt_order order;
  object->rules |= w->encoder->rules & (ZT_RULE_ORDER | ZT_RULE_CELLS_UNIQUE);
  if( zt_tensor_open(source, c, object, w->budget, &t, err)==SQLITE_OK ){
    zt_sparse_order(&t, &order, err);
  }
  zt_tensor_close(&t);
  return err->rc;
}

static int write_verify_quantized(const zt_write *w, uint32_t number, const zt_container *c,
                                  const zt_object *object, zt_source *source, zt_error *err){
  zt_error fault = *err;   /* Its place */
  zt_tensor t;
  zt_tensor_open(source, c, object, w->budget, &t, &fault);
  zt_tensor_close(&t);
  if( write_is_fault(&fault) && (write_was_unreadable(w, number, err) || err->rc) ){
    zt_error_clear(&fault);
  }
  if( fault.rc ) *err = fault;
  return err->rc;
}

static int write_verify_object(const zt_write *w, uint32_t number, zt_source *source,
                               const zt_container *c, zt_error *err){
  const int64_t i = zt_container_find(c, zt_draft_name(w->draft, number));
  zt_object object;
  zt_container_object(c, (uint32_t)i, &object);
  err->object = zt_draft_name(w->draft, number);
  return write_is_quantized(w, number)
       ? write_verify_quantized(w, number, c, &object, source, err)
       : write_verify_sparse(w, c, &object, source, err);
}

static int write_verify(const zt_write *w, zt_output *output, zt_error *err){
  const uint32_t n = zt_draft_objects(w->draft);
  zt_container *c = NULL;
  zt_source *source = NULL;
  for(uint32_t i=0; i<n && !err->rc; i++){
    if( !write_is_sparse_by_value(w, i) && !write_is_quantized(w, i) ) continue;
    if( c || (zt_output_source(output, &source, err)==SQLITE_OK
           && zt_container_open(source, &w->budget->interrupt, &c, err)==SQLITE_OK) ){
      write_verify_object(w, i, source, c, err);
    }
  }
  zt_container_close(c);
  zt_source_close(source);
  if( !err->rc ) err->object.z = NULL;
  return err->rc;
}

/* The file of the kept objects, which the caller closes. NULL: there is none, or a failure. */
static zt_container *write_kept(const zt_write *w, zt_error *err){
  zt_supplies *s = w->supplies;
  zt_supply_file file;
  if( s->kept==0 || s->open(s->context, s->kept-1, &file, err) ) return NULL;
  return zt_container_ref((zt_container*)file.container);
}

int zt_write_to(const zt_write *w, zt_output *output, zt_error *err){
  const zt_interrupt *interrupt = &w->budget->interrupt;
  zt_container *kept = write_kept(w, err);
  uint32_t *order = zt_draft_sort(w->draft, w->options.by_row ? NULL : w->encoder->compare,
                                  interrupt, err);
  write_run r = { .write = w, .room = order ? zt_part_room_new(err) : NULL };
  zt_encoder_run run = {
    .draft = w->draft, .options = &w->options, .kept = kept, .order = order, .output = output,
    .interrupt = interrupt, .part = write_one, .context = &r
  };
  if( order && r.room && !err->rc && w->encoder->write(&run, err)==SQLITE_OK
   && zt_supplies_unchanged(w->supplies, err)==SQLITE_OK ) write_verify(w, output, err);
  zt_part_room_free(r.room);
  sqlite3_free(order);
  zt_container_close(kept);
  return err->rc;
}
