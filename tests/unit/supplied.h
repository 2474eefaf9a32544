/*
** Objects of open files that become a draft's (tensor/supply.h), and the bytes that their supplies give.
*/
#ifndef ZT_TESTS_UNIT_SUPPLIED_H
#define ZT_TESTS_UNIT_SUPPLIED_H

#include "tensors.h"

#include "container/encoder_kept.h"
#include "tensor/supply.h"

#define SUPPLIED_FILES 2
#define ALL_RULES (ZT_RULE_CELLS_UNIQUE | ZT_RULE_ORDER | ZT_RULE_CANONICAL_VALUES | ZT_RULE_U64_INDICES)
#define SUPPLIED_ENOUGH ((uint64_t)1<<30)

typedef struct supplied {
  opened files[SUPPLIED_FILES];
  uint32_t n;              /* Files */
  int opens, fails_at;     /* Calls of open(), and the one that fails; 0: none does */
  zt_supplies supplies;
  zt_draft *draft;
  zt_budget budget;
} supplied;

static inline int supplied_open(void *context, uint32_t source, zt_supply_file *out, zt_error *err){
  supplied *s = context;
  assert_true(source<s->n);
  if( ++s->opens==s->fails_at ) return zt_fail(err, SQLITE_ERROR, "cannot open it");
  *out = (zt_supply_file){ s->files[source].container, s->files[source].source };
  return SQLITE_OK;
}

static inline void supplied_begin(supplied *s){
  zt_error err = ZT_ERROR_NONE;
  *s = (supplied){ .draft = zt_draft_new(&err), .budget = { .result = SUPPLIED_ENOUGH, .decode = (uint64_t)1<<40 } };
  s->supplies = (zt_supplies){ .open = supplied_open, .context = s };
  assert_non_null(s->draft);
}

/* Open a file, from its path or of a recipe in memory. */
static inline void supplied_path(supplied *s, const char *path){
  assert_true(s->n<SUPPLIED_FILES);
  open_path(&s->files[s->n++], path);
}

static inline void supplied_recipe(supplied *s, recipe *r){
  assert_true(s->n<SUPPLIED_FILES);
  open_recipe(&s->files[s->n++], r, NULL, r->format);
  clear_recipe(r);
}

static inline void supplied_end(supplied *s){
  zt_supplies_clear(&s->supplies);
  zt_draft_free(s->draft);
  zt_output_close(s->supplies.spool);
  for(uint32_t i=0; i<s->n; i++) close_opened(&s->files[i]);
}

/* A request for an object of the last file. */
static inline zt_supply_request supplied_number(supplied *s, uint32_t object){
  const opened *o = &s->files[s->n-1];
  zt_object from;
  zt_container_object(o->container, object, &from);
  return (zt_supply_request){
    .file = { o->container, o->source }, .source = s->n-1, .object = object, .name = from.name, .codec = ZT_CODEC_RAW,
    .budget = &s->budget
  };
}

static inline zt_supply_request supplied_request(supplied *s, const char *object){
  const int64_t found = zt_container_find(s->files[s->n-1].container, zt_text_of(object));
  check( found>=0, "%s", object );
  return supplied_number(s, (uint32_t)found);
}

/* For a request of an object that stays in its file as it is stored. */
static inline zt_encoder_keeps supplied_keeps(const zt_supply_request *q){
  const zt_encoder *e = zt_encoder_of(q->file.container);
  return e ? e->keeps : zt_encoder_keeps_all;
}

/* Begin with the file of a recipe alone, and request its object. */
static inline zt_supply_request supplied_alone(supplied *s, recipe *r){
  supplied_begin(s);
  supplied_recipe(s, r);
  return supplied_request(s, "x");
}

/* Add it; returns its number. */
static inline uint32_t supplied_add(supplied *s, const zt_supply_request *request){
  zt_error err = ZT_ERROR_NONE;
  uint32_t number = UINT32_MAX;
  zt_supplies_add_object(&s->supplies, request, s->draft, &number, &err);
  assert_succeeded(&err, request->name.z);
  assert_true(number<zt_draft_objects(s->draft));
  return number;
}

/* --- Bytes --- */

typedef struct supplied_pieces {
  blob bytes;
  size_t n, longest;
} supplied_pieces;

static inline void supplied_take(void *context, zt_span bytes){
  supplied_pieces *p = context;
  put(&p->bytes, bytes.p, bytes.n);
  p->n++;
  if( bytes.n>p->longest ) p->longest = bytes.n;
}

static inline int supplied_read(supplied *s, uint32_t supply, unsigned rules, supplied_pieces *out, zt_error *err){
  *out = (supplied_pieces){ .n = 0 };
  return zt_supply_read(&s->supplies, supply, rules, &s->budget, supplied_take, out, err);
}

/* The component with that role of an object of the draft. */
static inline zt_draft_component supplied_component(const supplied *s, uint32_t object, const char *role){
  zt_draft_component c;
  for(uint32_t at=0; (at = zt_draft_next_component(s->draft, object, at, &c))!=0; ){
    if( zt_text_equal(c.role, zt_text_of(role)) ) return c;
  }
  fail_msg("no component '%s'", role);
  return c;
}

static inline size_t supplied_components(const supplied *s, uint32_t object){
  zt_draft_component c;
  size_t n = 0;
  for(uint32_t at=0; (at = zt_draft_next_component(s->draft, object, at, &c))!=0; ) n++;
  return n;
}

/* A component's type and bytes. Frees them. */
static inline void supplied_check(supplied *s, uint32_t object, const char *role, const char *dtype, blob expected, unsigned rules){
  const zt_draft_component c = supplied_component(s, object, role);
  zt_error err = ZT_ERROR_NONE;
  supplied_pieces got;
  check( c.element==named(dtype), "%s: %s", role, c.element ? c.element->name : "no type" );
  check( c.decoded_length==expected.n, "%s: %llu bytes", role, (unsigned long long)c.decoded_length );
  supplied_read(s, c.supply, rules, &got, &err);
  assert_succeeded(&err, role);
  check( err.path==NULL && err.object.z==NULL && err.component.z==NULL, "%s: the place stays", role );
  check( same_blob(got.bytes, expected), "%s: %zu bytes, not %zu, or others", role, got.bytes.n, expected.n );
  free(got.bytes.p);
  free(expected.p);
}

/* --- Failures --- */

/* An object that cannot be added. */
static inline void supplied_refuse(supplied *s, const zt_supply_request *request, int rc, const char *message){
  zt_error err = { .path = "x.zt", .object = request->name };
  uint32_t number;
  check( zt_supplies_add_object(&s->supplies, request, s->draft, &number, &err)==rc, "%.*s: %d, %s",
         (int)request->name.n, request->name.z, err.rc, err.message ? err.message : "no message" );
  check( err.message && strcmp(err.message, message)==0, "%s", err.message );
  zt_error_clear(&err);
}

/* A component that cannot be read. */
static inline void supplied_fail(supplied *s, uint32_t object, const char *role, unsigned rules, int rc, const char *message){
  zt_error err = { .path = "x.zt" };
  supplied_pieces got;
  check( supplied_read(s, supplied_component(s, object, role).supply, rules, &got, &err)==rc, "%d, %s", err.rc,
         err.message ? err.message : "no message" );
  if( message ) check( err.message && strcmp(err.message, message)==0, "%s", err.message );
  else assert_null(err.message);
  free(got.bytes.p);
  zt_error_clear(&err);
}

#endif
