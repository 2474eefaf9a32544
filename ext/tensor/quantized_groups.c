/* Quantized elements in groups. See quantized_groups.h. */
#include "tensor/quantized_groups.h"

#include <assert.h>
#include <math.h>
#include "core/host.h"
#include "core/vector.h"

#define GROUPS_WINDOW ((uint64_t)64 << 10)   /* Entries kept, at most */
#define GROUPS_PREFETCH 256                  /* Entries read at once, at least */

/* --- Settings --- */

static int groups_fail_setting(const zt_setting *s, const char *rule, zt_error *err){
  static const char *const names[] = {
    [ZT_SETTING_UINT] = "an unsigned integer", [ZT_SETTING_INT] = "an integer",
    [ZT_SETTING_TEXT] = "text"
  };
  return zt_break(err, rule, "the attribute '%s%s%s' must be %s", s->map ? s->map : "",
                  s->map ? "." : "", s->name, names[s->type]);
}

static int groups_read_setting(const zt_value *v, const char *rule, zt_setting *s, zt_error *err){
  bool fits = s->type==ZT_SETTING_TEXT ? v->type==ZT_VALUE_TEXT && !v->tagged
            : s->type==ZT_SETTING_INT ? zt_value_is_int(v) : zt_value_is_uint(v);
  if( !fits ) return groups_fail_setting(s, rule, err);
  s->there = true;
  s->u = v->u;
  s->negative = v->negative;
  s->text = v->text;
  return SQLITE_OK;
}

static bool groups_is(zt_text text, const char *name){
  return zt_text_equal(text, (zt_text){ name, strlen(name) });
}

static bool groups_same_map(const char *a, const char *b){
  return a && b ? strcmp(a, b)==0 : a==b;
}

static zt_setting *groups_find(zt_setting *a, size_t n, const char *map, const zt_value *key){
  for(size_t i=0; i<n; i++){
    if( groups_same_map(a[i].map, map) && zt_value_is_text(key, a[i].name) ) return &a[i];
  }
  return NULL;
}

/* The walk's last value is an attribute's, some keys of which are settings. */
static int groups_read_map(zt_walk *w, const zt_value *of, const char *rule, const char *map,
                           zt_setting *a, size_t n, zt_error *err){
  zt_value key, value;
  zt_level level;
  if( of->type!=ZT_VALUE_MAP || of->tagged ){
    return zt_break(err, rule, "the attribute '%s' must be a map", map);
  }
  zt_walk_enter(w, &level);
  while( !err->rc && zt_walk_next(w, &level, &key, &value) ){
    zt_setting *s = groups_find(a, n, map, &key);
    if( s ) groups_read_setting(&value, rule, s, err);
    else{
      zt_text name = key.type==ZT_VALUE_TEXT && !key.tagged ? key.text : ZT_TEXT("");
      zt_break(err, rule, "the attribute '%s' has a key '%.*s' whose meaning is not known", map,
               zt_shown(name), name.z);
    }
  }
  return err->rc;
}

static int groups_read_attribute(zt_walk *w, const zt_value *key, const zt_value *value,
                                 const char *rule, zt_setting *a, size_t n, zt_error *err){
  zt_setting *s = groups_find(a, n, NULL, key);
  if( s ) return groups_read_setting(value, rule, s, err);
  for(size_t i=0; i<n; i++){
    if( a[i].map && zt_value_is_text(key, a[i].map) ){
      return groups_read_map(w, value, rule, a[i].map, a, n, err);
    }
  }
  return SQLITE_OK;
}

int zt_settings_read(const zt_tensor *t, const char *rule, zt_setting *a, size_t n, zt_error *err){
  zt_value key, value;
  zt_level level;
  zt_walk w;
  zt_walk_begin(t->container, &t->object->attributes, &w, &level, err);
  while( !err->rc && zt_walk_next(&w, &level, &key, &value) ){
    groups_read_attribute(&w, &key, &value, rule, a, n, err);
  }
  zt_walk_end(&w);
  if( err->rc ) return err->rc;
  for(size_t i=0; i<n; i++){
    if( a[i].there || a[i].optional ) continue;
    return zt_break(err, rule, "%.*s needs the attribute '%s%s%s'", zt_shown(t->object->format),
                    t->object->format.z, a[i].map ? a[i].map : "", a[i].map ? "." : "", a[i].name);
  }
  return SQLITE_OK;
}

int zt_groups_check_roles(const zt_tensor *t, const char *rule, const char *const *roles,
                          zt_error *err){
  uint32_t object = t->object->index, end = zt_container_first(t->container, object+1);
  for(uint32_t k=zt_container_first(t->container, object); k<end; k++){
    zt_component c;
    size_t i = 0;
    zt_container_component(t->container, object, k, ZT_COMPONENT_ROLE, &c);
    while( roles[i] && !groups_is(c.role, roles[i]) ) i++;
    if( roles[i] ) continue;
    return zt_break(err, rule, "a component '%.*s' is none of this %.*s", zt_shown(c.role),
                    c.role.z, zt_shown(t->object->format), t->object->format.z);
  }
  return SQLITE_OK;
}

/* --- Codes --- */

void zt_codes_take(zt_codes *c, zt_array *words){
  c->width = words->dtype->width;
  c->bytes = *words;
  c->bytes.length *= c->width;
  c->bytes.dtype = zt_dtype_get(ZT_DTYPE_u8);
  words->stream = NULL;
}

/* Unpack the codes of n bytes to a byte each. Codes do not cross bytes. If the first code is the
** lowest, words of any width have their bytes in order, because files are little-endian. */
#define GROUPS_UNPACK(name, bits, shift) \
  ZT_VECTOR static void name(const uint8_t *restrict p, uint8_t *restrict out, size_t n){ \
    for(size_t i=0; i<n; i++){ \
      for(unsigned k=0; k<8/(bits); k++) out[8/(bits)*i+k] = p[i] >> (shift) & ((1u<<(bits))-1); \
    } \
  }
GROUPS_UNPACK(groups_unpack1_low, 1, k)
GROUPS_UNPACK(groups_unpack2_low, 2, 2*k)
GROUPS_UNPACK(groups_unpack4_low, 4, 4*k)
GROUPS_UNPACK(groups_unpack1_high, 1, 7-k)
GROUPS_UNPACK(groups_unpack2_high, 2, 6-2*k)
GROUPS_UNPACK(groups_unpack4_high, 4, 4-4*k)

static void groups_unpack(const zt_codes *c, const uint8_t *p, uint8_t *out, size_t n){
  switch( c->bits ){
    case 1: (c->high_first ? groups_unpack1_high : groups_unpack1_low)(p, out, n); break;
    case 2: (c->high_first ? groups_unpack2_high : groups_unpack2_low)(p, out, n); break;
    case 4: (c->high_first ? groups_unpack4_high : groups_unpack4_low)(p, out, n); break;
    default: memcpy(out, p, n);
  }
}

/* `sign` is 0, or the sign bit. */
ZT_VECTOR static void groups_to_floats(const uint8_t *restrict codes, int sign, float *restrict out,
                                       size_t n){
  for(size_t i=0; i<n; i++) out[i] = (float)((codes[i] ^ sign) - sign);
}

int zt_codes_read(zt_codes *c, uint64_t first, size_t n, float *out, zt_error *err){
  /* With room for whole words at both ends */
  uint8_t bytes[ZT_GROUPS_CHUNK+16], codes[ZT_GROUPS_CHUNK+128];
  unsigned per_word = 8*c->width/c->bits;
  uint64_t at = first/per_word*c->width;
  size_t end = n ? (size_t)(((first+n-1)/per_word+1)*c->width-at) : 0;
  assert( n<=ZT_GROUPS_CHUNK );
  if( zt_array_read(&c->bytes, at, end, bytes, err) ) return err->rc;
  if( c->high_first ) zt_swap_bytes(bytes, end, c->width);
  groups_unpack(c, bytes, codes, end);
  groups_to_floats(codes+first%per_word, c->is_signed ? 0x80 : 0, out, n);
  return SQLITE_OK;
}

/* --- Entries --- */

int zt_group_entries_place(zt_group_entries *e, const zt_tensor *t, const char *rule, uint64_t axis,
                           uint64_t size, zt_error *err){
  const zt_object *object = t->object;
  if( axis>=object->rank ){
    return zt_break(err, rule, "axis %llu of %u dimensions", axis, object->rank);
  }
  if( object->shape[axis]%size ){
    return zt_break(err, rule, "dimension %llu, of %llu, is no multiple of %llu", axis,
                    object->shape[axis], size);
  }
  e->length = object->elements/size;
  e->size = size;
  e->inner = 1;
  /* This may wrap if there are no elements; then nothing is read */
  for(uint32_t d=(uint32_t)axis+1; d<object->rank; d++) e->inner *= object->shape[d];
  return SQLITE_OK;
}

static int groups_read_entries(zt_group_entries *e, uint64_t first, size_t n, float *out,
                               zt_error *err){
  const zt_dtype *f32 = zt_dtype_get(ZT_DTYPE_f32);
  ZT_NUMBERS(GROUPS_PREFETCH) raw;
  for(size_t i=0, m; i<n; i+=m){
    m = n-i<GROUPS_PREFETCH ? n-i : GROUPS_PREFETCH;
    if( !e->plain.stream ){
      if( zt_codes_read(&e->codes, first+i, m, out+i, err) ) return err->rc;
    }else{
      if( zt_array_read(&e->plain, first+i, m, &raw, err) ) return err->rc;
      zt_convert(e->plain.dtype, &raw, f32, out+i, m);
    }
  }
  return SQLITE_OK;
}

/* Load entries first to first+n, at most GROUPS_WINDOW, into the window, and some more, which are
** likely to be needed next. */
static int groups_load(zt_group_entries *e, uint64_t first, uint64_t n, zt_error *err){
  uint64_t remaining = e->length-first;
  if( n<GROUPS_PREFETCH ) n = remaining<GROUPS_PREFETCH ? remaining : GROUPS_PREFETCH;
  if( !e->window ){
    e->window = sqlite3_malloc64((e->length<GROUPS_WINDOW ? e->length
                                  : GROUPS_WINDOW)*sizeof(*e->window));
    if( !e->window ) return zt_fail_nomem(err);
  }
  e->loaded = 0;
  if( groups_read_entries(e, first, (size_t)n, e->window, err) ) return err->rc;
  e->first = first;
  e->loaded = (size_t)n;
  return SQLITE_OK;
}

static bool groups_has(const zt_group_entries *e, uint64_t first, uint64_t n){
  return first>=e->first && first-e->first<=e->loaded && n<=e->loaded-(size_t)(first-e->first);
}

/* Groups along the last axis are consecutive. */
static int groups_read_runs(zt_group_entries *e, uint64_t first, size_t n, float *out,
                            zt_error *err){
  uint64_t entry = first/e->size, entries = (first+n-1)/e->size+1-entry,
           remaining = (entry+1)*e->size-first;
  if( !groups_has(e, entry, entries) && groups_load(e, entry, entries, err) ) return err->rc;
  for(size_t i=0; i<n; entry++, remaining=e->size){
    size_t end = remaining<n-i ? i+(size_t)remaining : n;
    float value = e->window[entry-e->first];
    while( i<end ) out[i++] = value;
  }
  return SQLITE_OK;
}

/* Groups along another axis: `inner` consecutive elements belong to as many groups, and the next
** `size`-1 lines to the same ones. A line of entries is read once, unless it exceeds the window. */
static int groups_read_lines(zt_group_entries *e, uint64_t first, size_t n, float *out,
                             zt_error *err){
  for(size_t i=0; i<n; ){
    uint64_t at = (first+i)%e->inner, line = (first+i)/e->inner/e->size*e->inner,
             remaining = e->inner-at;
    size_t m = remaining<n-i ? (size_t)remaining : n-i;
    if( !groups_has(e, line+at, m) ){
      bool fits = e->inner<=GROUPS_WINDOW;
      if( groups_load(e, fits ? line : line+at,
                      fits ? e->inner : remaining<GROUPS_WINDOW ? remaining : GROUPS_WINDOW,
                      err) ) return err->rc;
    }
    memcpy(out+i, e->window+(line+at-e->first), m*sizeof(*out));
    i += m;
  }
  return SQLITE_OK;
}

int zt_group_entries_read(zt_group_entries *e, uint64_t first, size_t n, float *out, zt_error *err){
  assert( n>0 && n<=ZT_GROUPS_CHUNK );
  return e->inner==1 ? groups_read_runs(e, first, n, out, err)
       : groups_read_lines(e, first, n, out, err);
}

int zt_group_entries_check_empty(zt_group_entries *e, zt_error *err){
  return zt_array_check_empty(e->plain.stream ? &e->plain : &e->codes.bytes, err);
}

void zt_group_entries_close(zt_group_entries *e){
  zt_array_close(&e->plain);
  zt_array_close(&e->codes.bytes);
  sqlite3_free(e->window);
  e->window = NULL;
}

/* --- (code - zero) * scale --- */

ZT_VECTOR static void groups_compute(float *restrict codes, const float *restrict zeros,
                                     const float *restrict scales, size_t n){
  for(size_t i=0; i<n; i++){
    float shifted = codes[i] - zeros[i];      /* Each assignment rounds to f32 */
    float value = shifted * scales[i];        /* on machines that compute in f64 */
    /* Machines differ in the NaN that they compute */
    codes[i] = isnan(value) ? (float)NAN : value;
  }
}

static int groups_read_chunk(zt_affine *a, uint64_t first, size_t n, float *out, zt_error *err){
  if( zt_codes_read(&a->codes, first, n, out, err)
   || zt_group_entries_read(&a->scales, first, n, a->scale, err) ) return err->rc;
  if( a->has_zeros && zt_group_entries_read(&a->zeros, first, n, a->shift, err) ) return err->rc;
  for(size_t i=0; !a->has_zeros && i<n; i++) a->shift[i] = a->zero;
  groups_compute(out, a->shift, a->scale, n);
  return SQLITE_OK;
}

/* Check the bytes of a tensor without elements. */
static int groups_check_empty(zt_affine *a, zt_error *err){
  if( zt_array_check_empty(&a->codes.bytes, err) || zt_group_entries_check_empty(&a->scales, err) ){
    return err->rc;
  }
  return a->has_zeros ? zt_group_entries_check_empty(&a->zeros, err) : SQLITE_OK;
}

int zt_affine_read(zt_affine *a, uint64_t first, size_t n, float *out, zt_error *err){
  if( n==0 ) return groups_check_empty(a, err);
  for(size_t i=0, m; i<n; i+=m){
    m = n-i<ZT_GROUPS_CHUNK ? n-i : ZT_GROUPS_CHUNK;
    if( groups_read_chunk(a, first+i, m, out+i, err) ) return err->rc;
  }
  return SQLITE_OK;
}

void zt_affine_close(zt_affine *a){
  zt_array_close(&a->codes.bytes);
  zt_group_entries_close(&a->scales);
  zt_group_entries_close(&a->zeros);
}
