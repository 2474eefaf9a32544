/*
** Drafts. See draft.h.
**
** Objects, components and attributes stand in three arrays. An object's components, and its
** attributes, are linked by index, because they are added in any order. Texts are positions in one
** buffer that grows.
*/
#include "container/draft.h"

#include <assert.h>
#include "core/host.h"
#include "core/keys.h"
#include "core/sort.h"

#define DRAFT_LEAST 16u                     /* Rows, and numbers, that are allocated at first */
#define DRAFT_BYTES_LEAST ((size_t)4096)
#define DRAFT_BYTES_MAX ((size_t)UINT32_MAX)

/* A text in the buffer. */
typedef struct draft_text {
  uint32_t at, n;
} draft_text;

/* A list of rows by index plus 1; 0: its end. */
typedef struct draft_list {
  uint32_t first, last;
} draft_list;

typedef struct draft_object {
  draft_text format;
  const zt_ggml_type *blocks;
  uint32_t shape;            /* Index in the array of shapes */
  uint32_t kept;
  uint8_t rank, layout;
  bool kept_name;
  draft_list components, attributes;
} draft_object;

typedef struct draft_component {
  draft_text role, digest_text;
  const zt_dtype *element;
  uint64_t decoded_length, offset, length;
  uint32_t supply, next;
  uint8_t codec, level, digest;
  bool elsewhere;
} draft_component;

typedef struct draft_attribute {
  draft_text key, value, stored_type;
  uint32_t next;
  bool stored, kept_key;
} draft_attribute;

/* A buffer of texts. Owned. */
typedef struct draft_bytes {
  uint8_t *p;
  size_t n, capacity;
} draft_bytes;

/* Rows of one size. */
typedef struct draft_array {
  void *a;
  uint32_t n, capacity;
} draft_array;

struct zt_draft {
  draft_array objects, components, attributes, shapes;
  draft_list file;           /* Attributes of the file */
  zt_keys names;             /* Of the objects */
  zt_keys keys;              /* Of all attributes: the object's number, in 4 bytes, and the key */
  draft_bytes bytes;         /* All texts but digests */
  draft_bytes digests;       /* These come when names are in use */
};

zt_draft *zt_draft_new(zt_error *err){
  zt_draft *d = sqlite3_malloc64(sizeof(*d));
  if( d ) *d = (zt_draft){ 0 };
  else zt_fail_nomem(err);
  return d;
}

void zt_draft_free(zt_draft *d){
  if( !d ) return;
  zt_keys_clear(&d->names);
  zt_keys_clear(&d->keys);
  sqlite3_free(d->objects.a);
  sqlite3_free(d->components.a);
  sqlite3_free(d->attributes.a);
  sqlite3_free(d->shapes.a);
  sqlite3_free(d->bytes.p);
  sqlite3_free(d->digests.p);
  sqlite3_free(d);
}

zt_draft *zt_draft_reuse(zt_draft *d){
  if( d && (d->attributes.n>DRAFT_LEAST || d->bytes.n>DRAFT_BYTES_LEAST) ){
    zt_draft_free(d);
    d = NULL;
  }
  if( !d ) return NULL;
  zt_keys_empty(&d->names);
  zt_keys_empty(&d->keys);
  d->objects.n = d->components.n = d->attributes.n = d->shapes.n = 0;
  d->bytes.n = d->digests.n = 0;
  d->file = (draft_list){ 0, 0 };
  return d;
}

/* --- Memory --- */

/* Make room for n more rows of that size. There is memory even if n is 0. */
static int draft_reserve(draft_array *array, uint32_t n, size_t size, zt_error *err){
  uint64_t capacity = array->capacity ? array->capacity : DRAFT_LEAST;
  void *p;
  if( array->a && n<=array->capacity-array->n ) return SQLITE_OK;
  if( n>=UINT32_MAX-array->n ) return zt_fail(err, SQLITE_TOOBIG, "too many rows");
  while( capacity<(uint64_t)array->n+n ) capacity += capacity/2;
  if( capacity>UINT32_MAX ) capacity = UINT32_MAX;
  p = sqlite3_realloc64(array->a, capacity*size);
  if( !p ) return zt_fail_nomem(err);
  array->a = p;
  array->capacity = (uint32_t)capacity;
  return SQLITE_OK;
}

static int draft_reserve_bytes(draft_bytes *b, size_t n, zt_error *err){
  size_t capacity = b->capacity ? b->capacity : DRAFT_BYTES_LEAST;
  uint8_t *p;
  if( n>DRAFT_BYTES_MAX-b->n ) return zt_fail(err, SQLITE_TOOBIG, "too much metadata");
  if( b->p && n<=b->capacity-b->n ) return SQLITE_OK;
  while( capacity-b->n<n ) capacity += capacity/2;
  p = sqlite3_realloc64(b->p, capacity);
  if( !p ) return zt_fail_nomem(err);
  b->p = p;
  b->capacity = capacity;
  return SQLITE_OK;
}

/* Copy bytes into a buffer, which has room for them. */
static draft_text draft_put(draft_bytes *b, const void *p, size_t n){
  draft_text out = { (uint32_t)b->n, (uint32_t)n };
  assert( n<=b->capacity-b->n );
  if( n ) memcpy(b->p+b->n, p, n);
  b->n += n;
  return out;
}

static zt_text draft_get(const draft_bytes *b, draft_text text){
  return b->p ? (zt_text){ (const char*)b->p+text.at, text.n } : (zt_text){ "", 0 };
}

static draft_object *draft_objects(const zt_draft *d){ return d->objects.a; }
static draft_component *draft_components(const zt_draft *d){ return d->components.a; }
static draft_attribute *draft_attributes(const zt_draft *d){ return d->attributes.a; }

/* --- Adding --- */

int zt_draft_add_object(zt_draft *d, const zt_draft_object *object, uint32_t *number,
                        zt_error *err){
  const size_t n = object->name.n+object->format.n;
  draft_object *o;
  draft_text name;
  bool duplicate;
  if( draft_reserve(&d->objects, 1, sizeof(draft_object), err)
   || draft_reserve(&d->shapes, object->rank, sizeof(uint64_t), err)
   || draft_reserve_bytes(&d->bytes, n, err) ) return err->rc;
  name = draft_put(&d->bytes, object->name.z, object->name.n);
  if( zt_keys_add(&d->names, d->bytes.p, (zt_key){ name.at, name.n }, &duplicate, err)
   || duplicate ){
    d->bytes.n -= name.n;
    return err->rc ? err->rc : zt_fail(err, SQLITE_ERROR, "there is an object of this name");
  }
  *number = d->objects.n++;
  o = draft_objects(d)+*number;
  *o = (draft_object){
    .format = draft_put(&d->bytes, object->format.z, object->format.n), .blocks = object->blocks,
    .shape = d->shapes.n, .rank = (uint8_t)object->rank, .layout = (uint8_t)object->layout,
    .kept = object->kept, .kept_name = object->kept_name
  };
  if( object->rank ){
    memcpy((uint64_t*)d->shapes.a+d->shapes.n, object->shape, object->rank*sizeof(uint64_t));
  }
  d->shapes.n += object->rank;
  return SQLITE_OK;
}

/* Append row number `row` to a list, of which *last is the link of the last row. NULL: it is
** empty. */
static void draft_link(draft_list *list, uint32_t *last, uint32_t row){
  if( last ) *last = row+1;
  else list->first = row+1;
  list->last = row+1;
}

int zt_draft_add_component(zt_draft *d, uint32_t object, const zt_draft_component *component,
                           zt_error *err){
  zt_draft_component other;
  draft_list *list = &draft_objects(d)[object].components;
  draft_component *rows;
  uint32_t n = 0;
  for(uint32_t at=0; (at = zt_draft_next_component(d, object, at, &other))!=0; n++){
    if( zt_text_equal(other.role, component->role) ){
      return zt_fail(err, SQLITE_ERROR, "there is a component of this name");
    }
  }
  if( n==ZT_DRAFT_COMPONENTS ){
    return zt_fail(err, SQLITE_TOOBIG, "more than %d components", ZT_DRAFT_COMPONENTS);
  }
  if( draft_reserve(&d->components, 1, sizeof(draft_component), err)
   || draft_reserve_bytes(&d->bytes, component->role.n, err) ) return err->rc;
  rows = draft_components(d);
  rows[d->components.n] = (draft_component){
    .role = draft_put(&d->bytes, component->role.z, component->role.n),
    .element = component->element, .decoded_length = component->decoded_length,
    .supply = component->supply, .codec = (uint8_t)component->codec,
    .level = (uint8_t)component->level, .digest = (uint8_t)component->digest,
    .elsewhere = component->elsewhere
  };
  draft_link(list, list->last ? &rows[list->last-1].next : NULL, d->components.n++);
  return SQLITE_OK;
}

static draft_list *draft_attributes_of(zt_draft *d, uint32_t object){
  return object==ZT_DRAFT_FILE ? &d->file : &draft_objects(d)[object].attributes;
}

int zt_draft_add_attribute(zt_draft *d, uint32_t object, const zt_draft_attribute *attribute,
                           zt_error *err){
  const size_t nKey = sizeof(object)+attribute->key.n;
  draft_list *list = draft_attributes_of(d, object);
  draft_attribute *rows;
  draft_text owner, key;
  bool duplicate;
  if( draft_reserve(&d->attributes, 1, sizeof(draft_attribute), err)
   || draft_reserve_bytes(&d->bytes, nKey+attribute->value.n+attribute->stored_type.n, err) ){
    return err->rc;
  }
  owner = draft_put(&d->bytes, &object, sizeof(object));
  key = draft_put(&d->bytes, attribute->key.z, attribute->key.n);
  if( zt_keys_add(&d->keys, d->bytes.p, (zt_key){ owner.at, (uint32_t)nKey }, &duplicate, err)
   || duplicate ){
    d->bytes.n -= nKey;
    return err->rc ? err->rc : zt_fail(err, SQLITE_ERROR, "there is an attribute '%.*s' already",
                                       zt_shown(attribute->key), attribute->key.z);
  }
  rows = draft_attributes(d);
  rows[d->attributes.n] = (draft_attribute){
    .key = key, .value = draft_put(&d->bytes, attribute->value.p, attribute->value.n),
    .stored_type = draft_put(&d->bytes, attribute->stored_type.z, attribute->stored_type.n),
    .stored = attribute->stored, .kept_key = attribute->kept_key
  };
  draft_link(list, list->last ? &rows[list->last-1].next : NULL, d->attributes.n++);
  return SQLITE_OK;
}

/* --- Reading --- */

uint32_t zt_draft_objects(const zt_draft *d){ return d->objects.n; }

int64_t zt_draft_find(const zt_draft *d, zt_text name){
  return zt_keys_find(&d->names, d->bytes.p, name);
}

zt_text zt_draft_name(const zt_draft *d, uint32_t object){
  return zt_keys_text(&d->names, d->bytes.p, object);
}

uint32_t zt_draft_data(const zt_draft *d, uint32_t object, zt_draft_component *out){
  *out = (zt_draft_component){ 0 };
  return zt_draft_next_component(d, object, 0, out);
}

void zt_draft_object_get(const zt_draft *d, uint32_t object, zt_draft_object *out){
  const draft_object *o = draft_objects(d)+object;
  *out = (zt_draft_object){
    .name = zt_draft_name(d, object), .layout = (zt_layout_id)o->layout,
    .format = draft_get(&d->bytes, o->format), .blocks = o->blocks, .rank = o->rank,
    .shape = (const uint64_t*)d->shapes.a+o->shape, .kept = o->kept, .kept_name = o->kept_name
  };
}

void zt_draft_component_get(const zt_draft *d, uint32_t place, zt_draft_component *out){
  const draft_component *c = draft_components(d)+place-1;
  *out = (zt_draft_component){
    .role = draft_get(&d->bytes, c->role), .element = c->element,
    .decoded_length = c->decoded_length, .codec = (zt_codec_id)c->codec, .level = c->level,
    .digest = c->digest, .supply = c->supply, .offset = c->offset, .length = c->length,
    .elsewhere = c->elsewhere,
    .digest_text = draft_get(&d->digests, c->digest_text)
  };
}

uint32_t zt_draft_next_component(const zt_draft *d, uint32_t object, uint32_t place,
                                 zt_draft_component *out){
  const uint32_t next = place ? draft_components(d)[place-1].next
                              : draft_objects(d)[object].components.first;
  if( next ) zt_draft_component_get(d, next, out);
  return next;
}

uint32_t zt_draft_next_attribute(const zt_draft *d, uint32_t object, uint32_t place,
                                 zt_draft_attribute *out){
  const draft_list *list = object==ZT_DRAFT_FILE ? &d->file : &draft_objects(d)[object].attributes;
  const uint32_t next = place ? draft_attributes(d)[place-1].next : list->first;
  const draft_attribute *a;
  zt_text value;
  if( next==0 ) return 0;
  a = draft_attributes(d)+next-1;
  value = draft_get(&d->bytes, a->value);
  *out = (zt_draft_attribute){
    .key = draft_get(&d->bytes, a->key), .value = { (const uint8_t*)value.z, value.n },
    .stored_type = draft_get(&d->bytes, a->stored_type), .stored = a->stored,
    .kept_key = a->kept_key
  };
  return next;
}

int zt_draft_store(zt_draft *d, uint32_t place, uint64_t offset, uint64_t length, zt_text digest,
                   zt_error *err){
  draft_component *c = draft_components(d)+place-1;
  if( draft_reserve_bytes(&d->digests, digest.n, err) ) return err->rc;
  c->offset = offset;
  c->length = length;
  c->digest_text = draft_put(&d->digests, digest.z, digest.n);
  return SQLITE_OK;
}

/* The searched text stands behind the other texts for a moment. */
bool zt_draft_has_attribute(zt_draft *d, uint32_t object, zt_text key, zt_error *err){
  const size_t n = d->bytes.n;
  bool found;
  if( draft_reserve_bytes(&d->bytes, sizeof(object)+key.n, err) ) return false;
  draft_put(&d->bytes, &object, sizeof(object));
  draft_put(&d->bytes, key.z, key.n);
  found = zt_keys_find(&d->keys, d->bytes.p,
                       (zt_text){ (const char*)d->bytes.p+n, d->bytes.n-n })>=0;
  d->bytes.n = n;
  return found;
}

bool zt_draft_has_attributes(const zt_draft *d, uint32_t object){
  return (object==ZT_DRAFT_FILE ? d->file : draft_objects(d)[object].attributes).first!=0;
}

void zt_draft_move(zt_draft *d, uint32_t place, uint64_t offset){
  draft_components(d)[place-1].offset = offset;
}

/* --- Order --- */

typedef struct draft_order {
  const zt_draft *draft;
  zt_draft_compare compare;
} draft_order;

static int draft_compare(const void *context, const void *x, const void *y){
  const draft_order *order = context;
  return order->compare(order->draft, *(const uint32_t*)x, *(const uint32_t*)y);
}

uint32_t *zt_draft_sort(const zt_draft *d, zt_draft_compare compare, const zt_interrupt *interrupt,
                        zt_error *err){
  const draft_order order = { d, compare };
  const zt_sort_by by = {
    .size = sizeof(uint32_t), .compare = draft_compare, .context = &order, .interrupt = interrupt
  };
  uint32_t *out = sqlite3_malloc64(((uint64_t)d->objects.n+1)*sizeof(*out));
  if( !out ){
    zt_fail_nomem(err);
    return NULL;
  }
  for(uint32_t i=0; i<d->objects.n; i++) out[i] = i;
  if( !compare || zt_sort(out, d->objects.n, &by, err)==SQLITE_OK ) return out;
  sqlite3_free(out);
  return NULL;
}

int zt_draft_compare_names(const zt_draft *d, uint32_t a, uint32_t b){
  return zt_text_compare(zt_draft_name(d, a), zt_draft_name(d, b));
}

typedef struct draft_keys {
  int (*compare)(zt_text, zt_text);
} draft_keys;

static int draft_compare_keys(const void *context, const void *x, const void *y){
  const draft_keys *keys = context;
  return keys->compare(((const zt_draft_attribute*)x)->key, ((const zt_draft_attribute*)y)->key);
}

zt_draft_attribute *zt_draft_sort_attributes(const zt_draft *d, uint32_t object,
                                             int (*compare)(zt_text, zt_text), uint32_t *n,
                                             zt_error *err){
  const draft_keys keys = { compare };
  const zt_sort_by by = {
    .size = sizeof(zt_draft_attribute), .compare = draft_compare_keys, .context = &keys
  };
  zt_draft_attribute *out, one;
  *n = 0;
  for(uint32_t at=0; (at = zt_draft_next_attribute(d, object, at, &one))!=0; ) ++*n;
  out = sqlite3_malloc64(((uint64_t)*n+1)*sizeof(*out));
  if( !out ){
    zt_fail_nomem(err);
    return NULL;
  }
  *n = 0;
  for(uint32_t at=0; (at = zt_draft_next_attribute(d, object, at, &one))!=0; ) out[(*n)++] = one;
  if( !compare || zt_sort(out, *n, &by, err)==SQLITE_OK ) return out;
  sqlite3_free(out);
  return NULL;
}
