/* The walk through attributes and manifest of a TensorFlow checkpoint's index. See tensorflow.h. */
#include "container/tensorflow.h"

#include "core/utf8.h"

void zt_tensorflow_set_map(zt_value *out, size_t at, uint32_t kind, uint64_t count){
  *out = (zt_value){ .type = ZT_VALUE_MAP, .kind = kind, .count = count, .at = at+1 };
}

static void tensorflow_set_text(zt_value *out, zt_text text, uint64_t at){
  *out = (zt_value){ .type = ZT_VALUE_TEXT, .text = text, .at = at };
}

static void tensorflow_set_int(zt_value *out, int64_t i, uint64_t at){
  *out = (zt_value){ .type = ZT_VALUE_INTEGER, .negative = i<0, .at = at };
  out->u = i<0 ? (uint64_t)(-1-i) : (uint64_t)i;
}

static void tensorflow_enter(zt_walk *w, const zt_value *of, zt_level *level){
  const zt_tensorflow_state *state = w->container->state;
  level->kind = of->kind;
  level->remaining = of->count;
  w->at = of->kind==ZT_TENSORFLOW_ENTRIES ? state->items : of->at-1;
}

static void tensorflow_next_of_header(const zt_walk *w, const zt_level *level, zt_value *key,
                                      zt_value *value){
  const zt_tensorflow_state *state = w->container->state;
  if( level->remaining==1 ){
    tensorflow_set_text(key, ZT_TEXT("num_shards"), 0);
    tensorflow_set_int(value, state->shards, 0);
    return;
  }
  tensorflow_set_text(key, ZT_TEXT("endianness"), 1);
  if( state->endianness==0 ) tensorflow_set_text(value, ZT_TEXT("LITTLE"), 1);
  else if( state->endianness==1 ) tensorflow_set_text(value, ZT_TEXT("BIG"), 1);
  else tensorflow_set_int(value, state->endianness, 1);
}

static void tensorflow_next_of_manifest(const zt_walk *w, const zt_level *level, zt_value *key,
                                        zt_value *value){
  const zt_tensorflow_state *state = w->container->state;
  if( level->remaining==1 ){
    tensorflow_set_text(key, ZT_TEXT("header"), 0);
    zt_tensorflow_set_map(value, 0, ZT_TENSORFLOW_HEADER, 2);
  }else{
    tensorflow_set_text(key, ZT_TEXT("entries"), 1);
    *value = (zt_value){
      .type = ZT_VALUE_ARRAY, .kind = ZT_TENSORFLOW_ENTRIES, .count = state->n, .at = state->items+1
    };
  }
}

static void tensorflow_set_shape(const zt_tensorflow_entry *e, uint64_t at, zt_value *out){
  *out = (zt_value){ .type = ZT_VALUE_NULL, .at = at+1 };
  if( !e->ranked ) return;
  out->type = ZT_VALUE_ARRAY;
  out->kind = ZT_TENSORFLOW_SHAPE;
  out->count = out->depth = e->rank;
}

/* The key of an entry: bytes if it is a slice's, and not text. */
static void tensorflow_set_key(zt_span key, uint64_t at, zt_value *out){
  if( zt_utf8_valid(key.p, key.n) && key.p[0] ){
    tensorflow_set_text(out, (zt_text){ (const char*)key.p, key.n }, at);
  }else{
    *out = (zt_value){ .type = ZT_VALUE_BYTES, .bytes = key, .at = at };
  }
}

static void tensorflow_next_of_entry(const zt_walk *w, const zt_level *level, zt_value *key,
                                     zt_value *value){
  static const zt_text names[] = {
    ZT_TEXT_INIT("digest"), ZT_TEXT_INIT("size"), ZT_TEXT_INIT("offset"), ZT_TEXT_INIT("shard_id"),
    ZT_TEXT_INIT("shape"), ZT_TEXT_INIT("attributes"), ZT_TEXT_INIT("key")
  };
  const uint64_t at = w->at+2+level->remaining;
  zt_tensorflow_item item;
  zt_tensorflow_entry e;
  zt_tensorflow_entry_at(w->container, (size_t)w->at, &item, &e);
  tensorflow_set_text(key, names[level->remaining], at);
  switch( level->remaining ){
    case 6: tensorflow_set_key(item.key, at, value); break;
    case 5:
      zt_tensorflow_set_map(value, (size_t)w->at, ZT_TENSORFLOW_OBJECT, 1+(e.slices>0));
      break;
    case 4: tensorflow_set_shape(&e, w->at, value); break;
    case 3: tensorflow_set_int(value, e.shard, at); break;
    case 2: tensorflow_set_int(value, e.offset, at); break;
    case 1: tensorflow_set_int(value, e.size, at); break;
    default:
      if( item.digest.z ) tensorflow_set_text(value, item.digest, at);
      else *value = (zt_value){ .type = ZT_VALUE_NULL, .at = at };
      break;
  }
}

/* An item of the shape, or an attribute of the object; the walk stays at the item. */
static void tensorflow_next_of_item(const zt_walk *w, const zt_level *level, zt_value *key,
                                    zt_value *value){
  const uint64_t at = w->at+10+level->remaining;
  zt_tensorflow_item item;
  zt_tensorflow_entry e;
  zt_tensorflow_entry_at(w->container, (size_t)w->at, &item, &e);
  if( level->kind==ZT_TENSORFLOW_SHAPE ){
    tensorflow_set_int(value, e.shape[e.rank-1-level->remaining], at);
  }else if( level->remaining==0 && e.slices ){
    tensorflow_set_text(key, ZT_TEXT("slices"), at);
    tensorflow_set_int(value, e.slices, at);
  }else{
    tensorflow_set_text(key, ZT_TEXT("tensor_type"), at);
    tensorflow_set_int(value, e.type, at);
  }
}

/* The position of an item behind this one. */
static uint64_t tensorflow_behind(const zt_walk *w, uint64_t at){
  zt_tensorflow_item item;
  zt_tensorflow_item_at(w->container, (size_t)at, &item);
  return item.end;
}

static bool tensorflow_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  if( level->remaining==0 ){
    if( level->kind==ZT_TENSORFLOW_ENTRY ) w->at = tensorflow_behind(w, w->at);
    return false;
  }
  level->remaining--;
  switch( level->kind ){
    case ZT_TENSORFLOW_HEADER: tensorflow_next_of_header(w, level, key, value); break;
    case ZT_TENSORFLOW_MANIFEST: tensorflow_next_of_manifest(w, level, key, value); break;
    case ZT_TENSORFLOW_ENTRIES:
      zt_tensorflow_set_map(value, (size_t)w->at, ZT_TENSORFLOW_ENTRY, 7);
      break;
    case ZT_TENSORFLOW_ENTRY: tensorflow_next_of_entry(w, level, key, value); break;
    default: tensorflow_next_of_item(w, level, key, value); break;
  }
  return true;
}

static void tensorflow_skip(zt_walk *w, const zt_value *value){
  w->at = value->kind==ZT_TENSORFLOW_ENTRY ? tensorflow_behind(w, value->at-1) : value->at-1;
}

const zt_steps zt_tensorflow_steps = {
  .enter = tensorflow_enter, .next = tensorflow_next, .skip = tensorflow_skip
};
