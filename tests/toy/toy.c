/*
** TOY: vectors of float32 behind a table of their names. No program writes such files:
** tests/sql/test_toy.py adds the format to a copy of the sources, which shows how little it takes.
**
**   file   := "TOY\n" count:u8 vector{count} data
**   vector := length:u8 name offset:u32 elements:u32      ; little-endian; offset counts from the
**                                                         ; file's first byte
**   TY1  the table is all there
**   TY2  a name is UTF-8 without U+0000
**   TY3  no two vectors have the same name
**   TY4  a vector's bytes lie behind the table, within the file
**
** The number of an object, and of its component, is where its vector begins in the table.
*/
#include "container/builder.h"
#include "container/dtype.h"
#include "core/host.h"
#include "core/utf8.h"

#define TOY_HEAD 5                                 /* Bytes before the first vector */
#define TOY_TABLE_MAX (TOY_HEAD + 255*(1+255+8))

static const zt_rule toy_rules[] = {
  ZT_ERROR("TY1", "toy-table", "the table is all there (TOY)", ZT_SPEC_SENSE),
  ZT_ERROR("TY2", "toy-name", "a name is UTF-8 without U+0000 (TOY)", ZT_SPEC_SENSE),
  ZT_ERROR("TY3", "toy-duplicate", "no two vectors have the same name (TOY)", ZT_SPEC_SENSE),
  ZT_ERROR("TY4", "toy-range", "vectors lie behind the table, within the file (TOY)",
           ZT_SPEC_SENSE),
  ZT_RULES_END
};

/* A vector of the table. */
typedef struct toy_vector {
  zt_text name;
  uint32_t offset, elements;
  size_t behind;                                   /* Where the next one begins */
} toy_vector;

static zt_probe toy_probe(const zt_head_tail *ends, zt_error *err){
  (void)err;
  return ends->head.n>=4 && memcmp(ends->head.p, "TOY\n", 4)==0 ? ZT_PROBE_YES : ZT_PROBE_NO;
}

/* Read the vector at a position; false: it goes beyond the bytes (TY1). */
static bool toy_read(zt_span table, size_t at, toy_vector *out){
  const uint8_t *p = table.p+at;
  if( !zt_claim(table.n, at, 1) || !zt_claim(table.n, at, 1u+*p+8) ) return false;
  out->name = (zt_text){ (const char*)p+1, *p };
  out->offset = zt_le32(p+1+*p);
  out->elements = zt_le32(p+1+*p+4);
  out->behind = at+1+*p+8;
  return true;
}

/* Check and add the vector at a position. */
static int toy_add(zt_builder *b, size_t at, const toy_vector *v){
  bool duplicate = false;
  if( !zt_utf8_valid((const uint8_t*)v->name.z, v->name.n) || zt_has_nul(v->name.z, v->name.n) ){
    return zt_break(b->err, "TY2", "the name at byte %llu is not UTF-8, or has U+0000 in it",
                    (unsigned long long)at+1);
  }
  b->err->object = v->name;
  if( zt_builder_object(b, v->name, at, &duplicate) ) return b->err->rc;
  if( duplicate ) return zt_break(b->err, "TY3", "two vectors have this name");
  b->err->object.z = NULL;
  return zt_builder_component(b, at);
}

/* TY4, when it is known where the table ends. */
static int toy_check_ranges(const zt_builder *b, size_t end){
  const zt_container *c = b->container;
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    toy_vector v;
    toy_read(zt_container_kept(c), c->objects.a[i], &v);
    if( v.offset>=end && zt_claim(c->file_size, v.offset, 4*(uint64_t)v.elements) ) continue;
    b->err->object = v.name;
    return zt_break(b->err, "TY4", "offset %u and %u elements do not lie between %llu and %llu",
                    v.offset, v.elements, (unsigned long long)end,
                    (unsigned long long)c->file_size);
  }
  return SQLITE_OK;
}

static int toy_fail_cut(zt_builder *b){
  return zt_break(b->err, "TY1", "the file ends within the table");
}

static int toy_open(zt_builder *b, const zt_head_tail *ends){
  zt_container *c = b->container;
  size_t at = TOY_HEAD;
  if( zt_builder_read(b, 0, ends->size<TOY_TABLE_MAX ? ends->size : TOY_TABLE_MAX) ){
    return b->err->rc;
  }
  if( c->kept.n<TOY_HEAD ) return toy_fail_cut(b);
  for(unsigned i=0, n=c->kept.p[TOY_HEAD-1]; i<n; i++){
    toy_vector v;
    if( !toy_read(zt_container_kept(c), at, &v) ) return toy_fail_cut(b);
    if( toy_add(b, at, &v) ) return b->err->rc;
    at = v.behind;
  }
  zt_builder_cut(b, at);
  c->begin = at;
  return toy_check_ranges(b, at);
}

static void toy_object(const zt_container *c, uint32_t i, zt_object *out){
  toy_vector v;
  toy_read(zt_container_kept(c), c->objects.a[i], &v);
  out->format = ZT_TEXT("dense");
  out->layout = ZT_LAYOUT_DENSE;
  out->rank = 1;
  out->shape[0] = v.elements;
  zt_object_count(out);
}

static void toy_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                          zt_component *out){
  toy_vector v;
  (void)k;
  (void)want;
  toy_read(zt_container_kept(c), c->objects.a[i], &v);
  out->role = ZT_TEXT("data");
  out->dtype = ZT_TEXT("f32");
  zt_dtype_decide(out);
  out->offset = v.offset;
  out->length = 4*(uint64_t)v.elements;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         all
**   known by     `TOY`
**   version      NULL
**   manifest     none
**   attributes   none
**   objects      in the table's order
**   of objects   none
**   components   one, `data`: raw
*/
const zt_driver zt_driver_toy = {
  .name = "toy", .format = "toy", .files = "*.toy", .rules = { toy_rules }, .probe = toy_probe,
  .open = toy_open, .object = toy_object, .component = toy_component
};
