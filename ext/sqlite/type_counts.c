/* The tensors of a file, counted by their types. See type_counts.h. */
#include "sqlite/type_counts.h"

#include "core/grow.h"
#include "core/json.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define TYPE_COUNTS_POLL 1024    /* Objects, or types, between checks for an interrupt */
#define TYPE_COUNTS_SLOTS 16     /* At first */
#define TYPE_COUNTS_PART ((uint64_t)1000000000 * 1000000000)

/* A sum of numbers of 64 bits, in decimal: high * TYPE_COUNTS_PART + low. */
typedef struct type_counts_sum {
  uint64_t high, low;
} type_counts_sum;

/* Tensors with the same key count together. Texts are borrowed from the container. */
typedef struct type_counts_key {
  zt_text format;
  zt_types types;
  bool has_bits;
  uint64_t bits;
} type_counts_key;

typedef struct type_counts_entry {
  type_counts_key key;
  uint64_t hash;
  uint64_t objects;
  type_counts_sum elements, stored;
} type_counts_entry;

typedef struct type_counts {
  const zt_container *container;
  const zt_interrupt *interrupt;
  zt_error *err;
  type_counts_entry *a;          /* In the order of their first tensors; owned */
  size_t n, room;
  uint32_t *slots;               /* Hash table: index into a plus 1; 0 is empty. NULL at first.
                                 ** Owned */
  size_t mask;                   /* Number of slots - 1 */
  uint64_t seed;
} type_counts;

/* --- Sums --- */

static void type_counts_add(type_counts_sum *sum, uint64_t u){
  sum->high += u/TYPE_COUNTS_PART;
  sum->low += u%TYPE_COUNTS_PART;
  if( sum->low<TYPE_COUNTS_PART ) return;
  sum->low -= TYPE_COUNTS_PART;
  sum->high++;
}

/* A number, or above INT64_MAX a text, as in the columns of the same names. */
static void type_counts_put_sum(sqlite3_str *out, const type_counts_sum *sum){
  const uint64_t high = INT64_MAX/TYPE_COUNTS_PART, low = INT64_MAX%TYPE_COUNTS_PART;
  const bool fits = sum->high<high || (sum->high==high && sum->low<=low);
  if( !fits ) sqlite3_str_append(out, "\"", 1);
  if( sum->high ) sqlite3_str_appendf(out, "%llu%018llu", sum->high, sum->low);
  else zt_json_uint(out, sum->low);
  if( !fits ) sqlite3_str_append(out, "\"", 1);
}

/* --- Keys --- */

static bool type_counts_has_codes(zt_layout_id layout){
  return layout==ZT_LAYOUT_QUANTIZED_GROUP || layout==ZT_LAYOUT_QUANT_GROUP
      || layout==ZT_LAYOUT_UNKNOWN;
}

/* As in JSON, tags do not count. */
static bool type_counts_read_bits(const type_counts *t, const zt_object *object, uint64_t *bits){
  bool found = false;
  zt_value key, value;
  zt_level level;
  zt_walk w;
  zt_walk_begin(t->container, &object->attributes, &w, &level, t->err);
  while( zt_walk_next(&w, &level, &key, &value) ){
    if( !zt_value_is_text(&key, "bits") ) continue;
    found = value.type==ZT_VALUE_INTEGER && !value.bytes.p && !value.negative;
    *bits = value.u;
    break;
  }
  zt_walk_end(&w);
  return found;
}

static type_counts_key type_counts_key_of(const type_counts *t, const zt_object *object){
  type_counts_key key = { .format = object->format,
                          .types = zt_object_types(t->container, object) };
  if( object->attributes.type!=ZT_VALUE_NULL && type_counts_has_codes(object->layout) ){
    key.has_bits = type_counts_read_bits(t, object, &key.bits);
  }
  return key;
}

static bool type_counts_same_text(zt_text a, zt_text b){
  return a.z && b.z ? zt_text_equal(a, b) : a.z==b.z;
}

static bool type_counts_same(const type_counts_key *a, const type_counts_key *b){
  return a->has_bits==b->has_bits && (!a->has_bits || a->bits==b->bits)
      && type_counts_same_text(a->format, b->format)
      && type_counts_same_text(a->types.dtype, b->types.dtype)
      && type_counts_same_text(a->types.type, b->types.type);
}

static uint64_t type_counts_hash_text(zt_text text, uint64_t seed){
  return text.z ? XXH3_64bits_withSeed(text.z, text.n, seed) : ~seed;
}

static uint64_t type_counts_hash(const type_counts *t, const type_counts_key *key){
  uint64_t hash = key->has_bits ? t->seed+key->bits : ~t->seed;
  hash = type_counts_hash_text(key->format, hash);
  hash = type_counts_hash_text(key->types.dtype, hash);
  return type_counts_hash_text(key->types.type, hash);
}

/* --- The hash table --- */

static void type_counts_put_slot(type_counts *t, size_t i){
  size_t s = (size_t)t->a[i].hash & t->mask;
  while( t->slots[s] ) s = (s+1) & t->mask;
  t->slots[s] = (uint32_t)i+1;
}

/* Make a table that is at most half full with one more entry. */
static int type_counts_rehash(type_counts *t){
  size_t n = t->slots ? 2*(t->mask+1) : TYPE_COUNTS_SLOTS;
  uint32_t *slots = sqlite3_malloc64(n*sizeof(*slots));
  if( !slots ) return zt_fail_nomem(t->err);
  sqlite3_free(t->slots);
  t->slots = slots;
  t->mask = n-1;
  memset(slots, 0, n*sizeof(*slots));
  for(size_t i=0; i<t->n; i++) type_counts_put_slot(t, i);
  return SQLITE_OK;
}

static type_counts_entry *type_counts_append(type_counts *t, const type_counts_key *key,
                                             uint64_t hash){
  type_counts_entry *a = zt_grow(t->a, &t->room, (uint64_t)t->n+1, sizeof(*a), t->err);
  if( !a ) return NULL;
  t->a = a;
  if( 2*(t->n+1)>t->mask && type_counts_rehash(t) ) return NULL;
  t->a[t->n] = (type_counts_entry){ .key = *key, .hash = hash };
  type_counts_put_slot(t, t->n);
  return &t->a[t->n++];
}

/* The entry of a key, which may be new. NULL if memory is short (recorded). */
static type_counts_entry *type_counts_entry_of(type_counts *t, const type_counts_key *key){
  const uint64_t hash = type_counts_hash(t, key);
  for(size_t s=(size_t)hash & t->mask; t->slots && t->slots[s]; s=(s+1) & t->mask){
    type_counts_entry *e = &t->a[t->slots[s]-1];
    if( e->hash==hash && type_counts_same(&e->key, key) ) return e;
  }
  return type_counts_append(t, key, hash);
}

/* --- Counting --- */

/* Add an object to the totals of its type and of the file. The tensors of most files have few types
** in runs, which need no hash: `last` is the entry of the object before. */
static int type_counts_add_object(type_counts *t, uint32_t i, type_counts_entry **last,
                                  zt_totals *totals){
  zt_totals own = ZT_TOTALS_NONE;
  type_counts_key key;
  zt_object object;
  zt_container_object(t->container, i, &object);
  key = type_counts_key_of(t, &object);
  if( t->err->rc ) return t->err->rc;
  if( !*last || !type_counts_same(&(*last)->key, &key) ) *last = type_counts_entry_of(t, &key);
  if( !*last ) return t->err->rc;
  zt_totals_add(&own, t->container, &object);
  (*last)->objects++;
  if( !object.unshaped ) type_counts_add(&(*last)->elements, object.elements);
  if( own.stored_known ) type_counts_add(&(*last)->stored, own.stored);
  zt_totals_join(totals, &own);
  return SQLITE_OK;
}

static int type_counts_gather(type_counts *t, zt_totals *totals){
  type_counts_entry *last = NULL;
  *totals = ZT_TOTALS_NONE;
  for(uint32_t i=0; i<zt_container_objects(t->container); i++){
    if( type_counts_add_object(t, i, &last, totals) ) return t->err->rc;
    if( (i+1)%TYPE_COUNTS_POLL==0 && zt_interrupt_check(t->interrupt, t->err) ) return t->err->rc;
  }
  return SQLITE_OK;
}

/* --- Writing --- */

static void type_counts_put_text(sqlite3_str *out, const char *before, zt_text text){
  sqlite3_str_appendall(out, before);
  if( text.z ) zt_json_text(out, text);
  else sqlite3_str_append(out, "null", 4);
}

static void type_counts_put(sqlite3_str *out, const type_counts_entry *e){
  type_counts_sum bits = { 0, 0 };
  type_counts_put_text(out, "{\"format\":", e->key.format);
  type_counts_put_text(out, ",\"dtype\":", e->key.types.dtype);
  type_counts_put_text(out, ",\"type\":", e->key.types.type);
  if( e->key.has_bits ){
    type_counts_add(&bits, e->key.bits);
    sqlite3_str_appendall(out, ",\"bits\":");
    type_counts_put_sum(out, &bits);
  }
  sqlite3_str_appendall(out, ",\"objects\":");
  zt_json_uint(out, e->objects);
  sqlite3_str_appendall(out, ",\"elements\":");
  type_counts_put_sum(out, &e->elements);
  sqlite3_str_appendall(out, ",\"stored_bytes\":");
  type_counts_put_sum(out, &e->stored);
  sqlite3_str_append(out, "}", 1);
}

static int type_counts_write(const type_counts *t, sqlite3_str *out){
  sqlite3_str_append(out, "[", 1);
  for(size_t i=0; i<t->n; i++){
    if( i>0 ) sqlite3_str_append(out, ",", 1);
    type_counts_put(out, &t->a[i]);
    if( sqlite3_str_errcode(out) ) break;
    if( (i+1)%TYPE_COUNTS_POLL==0 && zt_interrupt_check(t->interrupt, t->err) ) break;
  }
  sqlite3_str_append(out, "]", 1);
  return t->err->rc;
}

int zt_type_counts(const zt_container *c, const zt_interrupt *interrupt, sqlite3_str *out,
                   zt_totals *totals, zt_error *err){
  type_counts t = { .container = c, .interrupt = interrupt, .err = err };
  sqlite3_randomness(sizeof(t.seed), &t.seed);
  if( type_counts_gather(&t, totals)==SQLITE_OK ) type_counts_write(&t, out);
  sqlite3_free(t.slots);
  sqlite3_free(t.a);
  return err->rc;
}
