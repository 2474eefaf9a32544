/* Containers, and decoding from their kept bytes. See container.h. */
#include "container/behind.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/sort.h"
#include "core/utf8.h"

/* Read n bytes of a source, or copy them from the builder's prefetched bytes. b may be NULL. */
static int container_read(zt_source *source, const zt_builder *b, uint64_t offset, uint8_t *p,
                          size_t n, zt_error *err){
  if( !b || n==0 || offset<b->prefetched || !zt_claim(b->nPrefetched, offset-b->prefetched, n) ){
    return zt_source_read(source, offset, p, n, err);
  }
  memcpy(p, b->container->kept.p+(offset-b->prefetched), n);
  return SQLITE_OK;
}

int zt_head_tail_read(zt_source *source, const zt_builder *b, zt_head_tail_buffer *buffer,
                      zt_head_tail *out, zt_error *err){
  const uint64_t size = zt_source_size(source);
  const size_t nHead = size<ZT_HEAD_SIZE ? (size_t)size : ZT_HEAD_SIZE;
  size_t nTail = size<ZT_TAIL_SIZE ? (size_t)size : ZT_TAIL_SIZE;
  buffer->zip = NULL;
  if( container_read(source, b, 0, buffer->head, nHead, err) ) return err->rc;
  if( zt_source_is_remote(source) && !zt_driver_wants_tail((zt_span){ buffer->head, nHead }) ){
    nTail = 0;
  }
  if( container_read(source, b, size-nTail, buffer->tail, nTail, err) ) return err->rc;
  *out = (zt_head_tail){
    .source = source, .size = size, .head = { buffer->head, nHead },
    .tail = { buffer->tail, nTail }, .interrupt = b ? b->interrupt : NULL, .zip = &buffer->zip
  };
  return SQLITE_OK;
}

int zt_tail_read(zt_source *source, zt_head_tail_buffer *buffer, zt_head_tail *out, zt_error *err){
  const size_t n = out->size<ZT_TAIL_SIZE ? (size_t)out->size : ZT_TAIL_SIZE;
  if( out->tail.n==n || zt_source_read(source, out->size-n, buffer->tail, n, err) ) return err->rc;
  out->tail.n = n;
  return SQLITE_OK;
}

zt_container_guess zt_container_like(const zt_container *c){
  const uint64_t end = c->manifest_offset+c->manifest_length;
  const uint64_t tail = c->file_size-c->manifest_offset;
  zt_container_guess guess = { 0 };
  if( zt_container_memory(c)<=ZT_CONTAINER_EMPTIED_MAX ){
    /* Prefetched bytes may begin before the metadata or end behind them */
    guess.kept = (uint32_t)(c->kept.n+ZT_HEAD_SIZE+ZT_TAIL_SIZE);
    guess.objects = c->objects.n;
    guess.components = c->components.n;
  }
  if( !c->from_file ) return guess;
  if( c->manifest_offset<=ZT_HEAD_SIZE && end<=ZT_GUESS_MAX ) guess.head = (uint32_t)end;
  else if( c->file_size-end<=ZT_TAIL_SIZE && tail<=ZT_GUESS_MAX ) guess.tail = (uint32_t)tail;
  return guess;
}

zt_container *zt_container_new(void){
  zt_container *c = sqlite3_malloc64(sizeof(*c));
  if( c ) *c = (zt_container){ .references = 1 };
  return c;
}

int zt_driver_check(const zt_driver *driver, zt_source *source, zt_error *err){
  zt_head_tail_buffer buffer;
  zt_head_tail input = { 0 };
  if( zt_head_tail_read(source, NULL, &buffer, &input, err) ) return err->rc;
  if( driver->probe(&input, err)==ZT_PROBE_YES ) return driver->check_head_tail(&input, err);
  return err->rc ? err->rc
       : zt_break(err, "T1", "not a file of zTensor %s: another magic number", driver->name);
}

zt_text zt_container_stem(const char *path){
  const char *name = path ? zt_path_name(path) : "data", *dot = strrchr(name, '.');
  size_t n = dot && dot>name ? (size_t)(dot-name) : strlen(name);
  return zt_utf8_valid((const uint8_t*)name, n) ? (zt_text){ name, n } : ZT_TEXT("data");
}

bool zt_container_fits(const zt_container *c, const char *path){
  const zt_text stem = { (const char*)c->kept.p+c->stem.at, c->stem.n };
  return !c->named_by_path || zt_path_is_url(path)   /* The identity of a URL stands for its path */
      || zt_text_equal(stem, zt_container_stem(path));
}

zt_container *zt_container_ref(zt_container *c){
  c->references++;
  return c;
}

void zt_container_close(zt_container *c){
  if( !c || --c->references>0 ) return;
  if( c->driver && c->driver->close ) c->driver->close(c);
  zt_builder_clear(&(zt_builder){ .container = c });
  sqlite3_free(c->etag);
  sqlite3_free(c->kept.p);
  sqlite3_free(c);
}

zt_container *zt_container_empty(zt_container *c){
  if( zt_container_is_shared(c) || zt_container_memory(c)>ZT_CONTAINER_EMPTIED_MAX ){
    zt_container_close(c);
    return NULL;
  }
  if( c->driver->close ) c->driver->close(c);
  zt_keys_empty(&c->names);
  c->objects.n = c->first.n = c->components.n = 0;
  sqlite3_free(c->etag);
  c->kept.n = 0;
  zt_keys_clear(&c->shard_names);
  zt_u32_array_clear(&c->shards);
  zt_u32_array_clear(&c->notes);
  *c = (zt_container){
    .references = 1, .kept = c->kept, .names = c->names, .objects = c->objects, .first = c->first,
    .components = c->components
  };
  return c;
}

zt_container *zt_container_prepare(zt_container_guess guess){
  zt_container *c = guess.kept ? zt_container_new() : NULL;
  zt_builder b = { .container = c };
  if( !c ) return NULL;
  /* Leave room for similar files */
  zt_builder_reserve_kept(&b, guess.kept+guess.kept/8);
  zt_builder_reserve(&b, guess.objects, guess.components);
  return c;
}

bool zt_container_is_shared(const zt_container *c){ return c->references>1; }
const char *zt_container_format(const zt_container *c){ return c->format; }
zt_text zt_container_version(const zt_container *c){ return c->version; }
unsigned zt_container_rules(const zt_container *c){ return c->rules; }
bool zt_container_is_newer(const zt_container *c){ return c->newer; }
bool zt_container_has_own_attributes(const zt_container *c){ return c->own_attributes; }
zt_value zt_container_attributes(const zt_container *c){ return c->attributes; }
zt_value zt_container_manifest(const zt_container *c){ return c->manifest; }
uint64_t zt_container_manifest_offset(const zt_container *c){ return c->manifest_offset; }
uint64_t zt_container_manifest_length(const zt_container *c){ return c->manifest_length; }
uint64_t zt_container_begin(const zt_container *c){ return c->begin; }
uint64_t zt_container_end(const zt_container *c){ return c->end; }
uint64_t zt_container_gap(const zt_container *c){ return c->gap; }
const zt_identity *zt_container_identity(const zt_container *c){
  return c->is_file ? &c->identity : NULL;
}
const char *zt_container_etag(const zt_container *c){ return c->etag; }
uint32_t zt_container_objects(const zt_container *c){ return c->objects.n; }
uint32_t zt_container_components(const zt_container *c){ return c->components.n; }
int64_t zt_container_find(const zt_container *c, zt_text name){
  return zt_keys_find(&c->names, c->kept.p, name);
}
zt_text zt_container_name(const zt_container *c, uint32_t i){
  return zt_keys_text(&c->names, c->kept.p, i);
}

static int container_compare_names(const void *context, const void *x, const void *y){
  const zt_container *c = context;
  return zt_text_compare(zt_container_name(c, *(const uint32_t*)x),
                         zt_container_name(c, *(const uint32_t*)y));
}

uint32_t *zt_container_by_name(const zt_container *c, const zt_interrupt *interrupt, zt_error *err){
  const zt_sort_by by = {
    .size = sizeof(uint32_t), .compare = container_compare_names, .context = c,
    .interrupt = interrupt
  };
  uint32_t *a = sqlite3_malloc64(((uint64_t)c->objects.n+1)*sizeof(*a));
  if( !a ){
    zt_fail_nomem(err);
    return NULL;
  }
  for(uint32_t i=0; i<c->objects.n; i++) a[i] = i;
  if( zt_sort(a, c->objects.n, &by, err)==SQLITE_OK ) return a;
  sqlite3_free(a);
  return NULL;
}

size_t zt_container_memory(const zt_container *c){
  return sizeof(*c) + c->kept.capacity + c->state_size
       + zt_keys_memory(&c->names) + zt_keys_memory(&c->shard_names)
       + ((size_t)c->objects.capacity + c->first.capacity + c->components.capacity
          + c->shards.capacity + c->notes.capacity)*sizeof(uint32_t);
}

const char *zt_container_member_rule(const zt_container *c){ return c->member_rule; }

zt_text zt_container_unlisted(const zt_container *c){
  if( c->unlisted.n==0 ) return (zt_text){ NULL, 0 };
  return (zt_text){ (const char*)c->kept.p+c->unlisted.at, c->unlisted.n };
}
uint32_t zt_container_notes(const zt_container *c){ return c->notes.n; }

void zt_container_note(const zt_container *c, uint32_t i, zt_note *out){
  memcpy(out, c->kept.p+c->notes.a[i], sizeof(*out));
  out->fault = (const char*)c->kept.p+c->notes.a[i]+sizeof(*out);
}

uint64_t zt_container_number(const zt_container *c){
  return XXH3_64bits_withSeed(c->kept.p, c->kept.n, c->file_size);
}

bool zt_object_count(zt_object *object){
  bool empty = false, fits = true;
  object->elements = 1;
  for(uint32_t i=0; i<object->rank; i++){
    if( object->shape[i]==0 ) empty = true;
    else if( !zt_mul64(object->elements, object->shape[i], &object->elements) ) fits = false;
  }
  if( empty ) object->elements = 0;
  return fits || empty;
}

/* They equal row-major ones unless two dimensions exceed 1. */
void zt_object_set_column_major(zt_object *object){
  uint64_t stride = 1, long_ones = 0;
  if( object->elements==0 ) return;
  for(uint32_t d=0; d<object->rank; d++){
    object->strides[d] = stride;
    stride *= object->shape[d];
    long_ones += object->shape[d]>1;
  }
  object->has_strides = long_ones>1;
}

void zt_container_object(const zt_container *c, uint32_t i, zt_object *out){
  assert( i<c->objects.n );
  out->index = i;
  out->name = zt_container_name(c, i);
  out->layout = ZT_LAYOUT_UNKNOWN;
  out->blocks = NULL;
  out->unshaped = false;
  out->dtype.z = out->type.z = NULL;
  out->fault_rule = out->fault = NULL;
  out->why_unknown = NULL;
  out->no_values = NULL;
  out->rules = c->rules;
  out->has_strides = out->conjugate = out->negate = out->by_columns = false;
  out->block[0] = out->block[1] = 1;
  out->whole = 0;
  out->attributes = ZT_VALUE_NONE;
  if( i+1==c->behind ) zt_behind_object(out);
  else c->driver->object(c, i, out);
}

uint32_t zt_container_first(const zt_container *c, uint32_t object){
  if( object<c->single ) return object;
  return object-c->single<c->first.n ? c->first.a[object-c->single] : c->components.n;
}

void zt_container_component(const zt_container *c, uint32_t object, uint32_t k, unsigned want,
                            zt_component *out){
  assert( k>=zt_container_first(c, object) && k<zt_container_first(c, object+1) );
  out->type.z = out->digest.z = out->shard.z = NULL;
  out->storage = out->element = NULL;
  out->misplaced = out->has_decoded_length = out->unsized = out->scattered = out->mixed = false;
  out->external = out->beside = out->to_end = false;
  out->field = out->pieces = 0;
  out->encoding = ZT_TEXT("raw");
  out->codec = ZT_CODEC_RAW;
  out->byte_order = ZT_TEXT("little");
  out->rules = c->rules;
  out->skip = out->behind = out->number_skip = out->number_behind = out->least = out->base = 0;
  out->fault_rule = out->fault = out->why_unknown = NULL;
  out->box.p = NULL;
  out->digests = 0;
  if( object+1==c->behind ) zt_behind_component(c, out);
  else c->driver->component(c, object, k, want, out);
}

uint32_t zt_container_shards(const zt_container *c){ return c->shards.n; }

void zt_container_shard(const zt_container *c, uint32_t i, zt_shard *out){
  assert( i<c->shards.n );
  out->name = zt_keys_text(&c->shard_names, c->kept.p, i);
  out->external = false;
  c->driver->shard(c, i, out);
}

uint32_t zt_container_shard_number(const zt_container *c, zt_text name){
  return name.z ? (uint32_t)(zt_keys_find(&c->shard_names, c->kept.p, name)+1) : 0;
}

bool zt_container_shard_find(const zt_container *c, zt_text name, zt_shard *out){
  int64_t i = zt_keys_find(&c->shard_names, c->kept.p, name);
  if( i>=0 ) zt_container_shard(c, (uint32_t)i, out);
  return i>=0;
}

static bool container_find_role(const zt_container *c, uint32_t object, zt_text role, unsigned want,
                                zt_component *out){
  for(uint32_t k=zt_container_first(c, object), end=zt_container_first(c, object+1); k<end; k++){
    zt_container_component(c, object, k, ZT_COMPONENT_ROLE, out);
    if( !zt_text_equal(out->role, role) ) continue;
    zt_container_component(c, object, k, want, out);
    return true;
  }
  return false;
}

bool zt_component_find(const zt_container *c, uint32_t object, zt_text role, zt_component *out){
  return container_find_role(c, object, role, ZT_COMPONENT_ALL, out);
}

uint64_t zt_component_behind(const zt_component *c, uint64_t size){
  return c->most<size-c->offset ? c->most : size-c->offset;
}

/* The component that has the values of a layout, where it is not `data`. Components that a format
** does not know may have any name. */
static const zt_text container_role[ZT_LAYOUT_COUNT] = {
  [ZT_LAYOUT_CSR] = ZT_TEXT_INIT("values"),
  [ZT_LAYOUT_COO] = ZT_TEXT_INIT("values"), [ZT_LAYOUT_CSC] = ZT_TEXT_INIT("values"),
  [ZT_LAYOUT_BSR] = ZT_TEXT_INIT("values"), [ZT_LAYOUT_BSC] = ZT_TEXT_INIT("values"),
  [ZT_LAYOUT_QUANTIZED_GROUP] = ZT_TEXT_INIT("packed_weight"),
  [ZT_LAYOUT_COO_LINEAR] = ZT_TEXT_INIT("values"), [ZT_LAYOUT_COO_ROWS] = ZT_TEXT_INIT("values"),
  [ZT_LAYOUT_COMPLEX_PARTS] = ZT_TEXT_INIT("real")
};

/* The components of which the first one that is there is taken otherwise. */
static const zt_text container_roles[] = {
  ZT_TEXT_INIT("data"), ZT_TEXT_INIT("values"), ZT_TEXT_INIT("packed_weight"),
  ZT_TEXT_INIT("real")
};

/* The one of several components that has values, or the first slice. */
ZT_ASIDE static bool container_find_values(const zt_container *c, const zt_object *object,
                                           unsigned want, zt_component *out){
  const zt_text role = container_role[object->layout];
  const uint32_t i = object->index, first = zt_container_first(c, i);
  if( role.z && container_find_role(c, i, role, want, out) ) return true;
  for(size_t k=0; k<sizeof(container_roles)/sizeof(*container_roles); k++){
    if( container_find_role(c, i, container_roles[k], want, out) ) return true;
  }
  if( first==zt_container_first(c, i+1) ) return false;
  zt_container_component(c, i, first, ZT_COMPONENT_ALL, out);
  return out->box.p!=NULL;
}

bool zt_component_values(const zt_container *c, const zt_object *object, unsigned want,
                         zt_component *out){
  const uint32_t first = zt_container_first(c, object->index);
  want |= ZT_COMPONENT_ROLE;
  if( first+1==zt_container_first(c, object->index+1) ){   /* As usual: it is decoded once */
    zt_container_component(c, object->index, first, want, out);
    if( zt_text_is(out->role, "data") ) return true;
  }
  return container_find_values(c, object, want, out);
}
