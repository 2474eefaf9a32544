/*
** The values in GGUF's metadata. See gguf.h. The place of a value is its first byte in the file.
** Maps and arrays that are made from parts of the file take a place inside a count or a length,
** where no value begins.
*/
#include "container/gguf.h"

#include "core/utf8.h"

const zt_gguf_type zt_gguf_types[ZT_GGUF_TYPES] = {
  { ZT_TEXT_INIT("u8"), 1 }, { ZT_TEXT_INIT("i8"), 1 }, { ZT_TEXT_INIT("u16"), 2 },
  { ZT_TEXT_INIT("i16"), 2 }, { ZT_TEXT_INIT("u32"), 4 }, { ZT_TEXT_INIT("i32"), 4 },
  { ZT_TEXT_INIT("f32"), 4 }, { ZT_TEXT_INIT("bool"), 1 }, { ZT_TEXT_INIT("str"), 8 },
  { ZT_TEXT_INIT("arr"), 12 }, { ZT_TEXT_INIT("u64"), 8 }, { ZT_TEXT_INIT("i64"), 8 },
  { ZT_TEXT_INIT("f64"), 8 }
};

void zt_gguf_read_info(const zt_container *c, size_t at, zt_gguf_info *out){
  bool big = zt_gguf_of(c)->big;
  const uint8_t *p = c->kept.p;
  out->name = (zt_text){ (const char*)p+at+8, (size_t)zt_gguf_u64(big, p+at) };
  out->dimensions = at + 8 + out->name.n;
  out->rank = zt_gguf_u32(big, p+out->dimensions);
  out->number = out->dimensions + 4 + 8*(size_t)out->rank;
  out->type = zt_ggml_type_numbered(zt_gguf_u32(big, p+out->number));
  out->offset = zt_gguf_u64(big, p+out->number+4);
  out->end = out->number + 12;
}

static uint64_t gguf_uint(bool big, const uint8_t *p, unsigned width){
  switch( width ){
    case 1: return p[0];
    case 2: return big ? zt_be(p, 2) : zt_le16(p);
    case 4: return zt_gguf_u32(big, p);
    default: return zt_gguf_u64(big, p);
  }
}

static double gguf_real(uint64_t u, unsigned width){
  double d;
  float f;
  uint32_t bits = (uint32_t)u;
  if( width==4 ){
    memcpy(&f, &bits, sizeof(f));
    return (double)f;
  }
  memcpy(&d, &u, sizeof(d));
  return d;
}

/* The position behind a checked value. */
static size_t gguf_behind(const zt_container *c, uint32_t type, size_t at){
  bool big = zt_gguf_of(c)->big;
  const uint8_t *p = c->kept.p;
  uint32_t inner;
  uint64_t n;
  if( type==ZT_GGUF_TEXT ) return at+8+(size_t)zt_gguf_u64(big, p+at);
  if( type!=ZT_GGUF_ARRAY ) return at+zt_gguf_types[type].width;
  inner = zt_gguf_u32(big, p+at);
  n = zt_gguf_u64(big, p+at+4);
  at += 12;
  if( inner!=ZT_GGUF_TEXT && inner!=ZT_GGUF_ARRAY ) return at+(size_t)n*zt_gguf_types[inner].width;
  while( n-->0 ) at = gguf_behind(c, inner, at);
  return at;
}

/* Text, or bytes if it is not UTF-8. */
static void gguf_set_text(zt_span text, zt_value *out){
  if( zt_utf8_valid(text.p, text.n) ){
    out->type = ZT_VALUE_TEXT;
    out->text = (zt_text){ (const char*)text.p, text.n };
  }else{
    out->type = ZT_VALUE_BYTES;
    out->bytes = text;
  }
}

static void gguf_set_number(uint32_t type, uint64_t u, zt_value *out){
  unsigned width = zt_gguf_types[type].width;
  out->type = ZT_VALUE_INTEGER;
  out->u = u;
  switch( type ){
    case ZT_GGUF_I8: case ZT_GGUF_I16: case ZT_GGUF_I32: case ZT_GGUF_I64:
      out->negative = u>>(8*width-1)!=0;
      if( out->negative ) out->u = ~u & (UINT64_MAX>>(64-8*width));
      break;
    case ZT_GGUF_F32: case ZT_GGUF_F64:
      out->type = ZT_VALUE_REAL;
      out->real = gguf_real(u, width);
      break;
    case ZT_GGUF_BOOL:
      out->type = u ? ZT_VALUE_TRUE : ZT_VALUE_FALSE;
      break;
  }
}

/* Read the value at the walk's position and move behind it, but not behind the head of an array. */
static void gguf_next_value(zt_walk *w, uint32_t type, zt_value *out){
  bool big = zt_gguf_of(w->container)->big;
  const uint8_t *p = w->container->kept.p+w->at;
  out->kind = type;
  out->at = ZT_GGUF_HEADER+w->at;
  if( type==ZT_GGUF_ARRAY ){
    out->type = ZT_VALUE_ARRAY;
    out->depth = zt_gguf_u32(big, p);
    out->count = zt_gguf_u64(big, p+4);
    return;
  }
  if( type==ZT_GGUF_TEXT ) gguf_set_text((zt_span){ p+8, (size_t)zt_gguf_u64(big, p) }, out);
  else gguf_set_number(type, gguf_uint(big, p, zt_gguf_types[type].width), out);
  w->at = gguf_behind(w->container, type, (size_t)w->at);
}

/* Set a map or an array made from parts of the file. */
static void gguf_make(zt_value *out, uint32_t kind, uint64_t at, uint64_t count){
  out->type = kind==ZT_GGUF_INFOS || kind==ZT_GGUF_DIMENSIONS ? ZT_VALUE_ARRAY : ZT_VALUE_MAP;
  out->kind = kind;
  out->at = at;
  out->count = count;
}

/* Set a made key, whose place is the second byte of its value's. */
static void gguf_make_key(zt_value *key, zt_text name, const zt_value *value){
  key->type = ZT_VALUE_TEXT;
  key->text = name;
  key->at = value->at+1;
}

static void gguf_next_of_manifest(zt_walk *w, const zt_level *level, zt_value *key,
                                  zt_value *value){
  const zt_gguf_state *s = w->container->state;
  bool keys = level->remaining==1;
  if( keys ) gguf_make(value, ZT_GGUF_KEYS, 16, s->keys);
  else gguf_make(value, ZT_GGUF_INFOS, 8, s->tensors);
  gguf_make_key(key, keys ? ZT_TEXT("metadata_kv") : ZT_TEXT("tensor_infos"), value);
}

/* Read a part of a tensor's info. The info's own place is the name's first byte. */
static void gguf_next_of_info(zt_walk *w, const zt_level *level, zt_value *key, zt_value *value){
  static const zt_text names[] = {
    ZT_TEXT_INIT("offset"), ZT_TEXT_INIT("type"), ZT_TEXT_INIT("dimensions"), ZT_TEXT_INIT("name")
  };
  switch( level->remaining ){
    case 3:
      gguf_next_value(w, ZT_GGUF_TEXT, value);
      value->at += 4;
      break;
    case 2:
      gguf_make(value, ZT_GGUF_DIMENSIONS, ZT_GGUF_HEADER+w->at,
                zt_gguf_u32(zt_gguf_of(w->container)->big, w->container->kept.p+w->at));
      break;
    default:
      gguf_next_value(w, level->remaining==1 ? ZT_GGUF_U32 : ZT_GGUF_U64, value);
      break;
  }
  gguf_make_key(key, names[level->remaining], value);
}

/* Read an object's attribute; the walk stays at its info. */
static void gguf_next_of_object(zt_walk *w, const zt_level *level, zt_value *key, zt_value *value){
  size_t at = (size_t)w->at;
  zt_gguf_info info;
  zt_gguf_read_info(w->container, at, &info);
  if( level->remaining==1 ){
    w->at = info.number;
    gguf_next_value(w, ZT_GGUF_U32, value);
    w->at = at;
    gguf_make_key(key, ZT_TEXT("ggml_type"), value);
  }else{
    gguf_make(value, ZT_GGUF_DIMENSIONS, ZT_GGUF_HEADER+info.dimensions, info.rank);
    gguf_make_key(key, ZT_TEXT("ne"), value);
  }
}

static bool gguf_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  if( level->remaining==0 ) return false;
  level->remaining--;
  switch( level->kind ){
    case ZT_GGUF_ARRAY:      gguf_next_value(w, level->depth, value); break;
    case ZT_GGUF_DIMENSIONS: gguf_next_value(w, ZT_GGUF_U64, value); break;
    case ZT_GGUF_MANIFEST:   gguf_next_of_manifest(w, level, key, value); break;
    case ZT_GGUF_INFO:       gguf_next_of_info(w, level, key, value); break;
    case ZT_GGUF_OBJECT:     gguf_next_of_object(w, level, key, value); break;
    case ZT_GGUF_INFOS:      gguf_make(value, ZT_GGUF_INFO, ZT_GGUF_HEADER+w->at, 4); break;
    default: {
      uint32_t type;
      gguf_next_value(w, ZT_GGUF_TEXT, key);
      type = zt_gguf_u32(zt_gguf_of(w->container)->big, w->container->kept.p+w->at);
      w->at += 4;
      gguf_next_value(w, type, value);
    }
  }
  return true;
}

static void gguf_enter(zt_walk *w, const zt_value *of, zt_level *level){
  level->kind = of->kind;
  level->depth = of->depth;
  level->remaining = of->count;
  switch( of->kind ){
    case ZT_GGUF_ARRAY:      w->at = of->at-ZT_GGUF_HEADER+12; break;
    case ZT_GGUF_DIMENSIONS: w->at = of->at-ZT_GGUF_HEADER+4; break;
    case ZT_GGUF_INFO:       w->at = of->at-ZT_GGUF_HEADER; break;
    case ZT_GGUF_OBJECT:     w->at = of->at-ZT_GGUF_HEADER-2; break;
    case ZT_GGUF_INFOS:      w->at = zt_gguf_of(w->container)->infos; break;
    default:              w->at = 0; break;
  }
}

static void gguf_skip(zt_walk *w, const zt_value *value){
  size_t at = (size_t)value->at-ZT_GGUF_HEADER;
  zt_gguf_info info;
  switch( value->kind ){
    case ZT_GGUF_ARRAY:      w->at = gguf_behind(w->container, ZT_GGUF_ARRAY, at); break;
    case ZT_GGUF_DIMENSIONS: w->at = at+4+8*(size_t)value->count; break;
    case ZT_GGUF_INFO:
      zt_gguf_read_info(w->container, at, &info);
      w->at = info.end;
      break;
    default: break;   /* The manifest's two members have fixed positions */
  }
}

/* Append to a text. */
static size_t gguf_put(char *z, size_t n, zt_text more){
  memcpy(z+n, more.z, more.n);
  return n+more.n;
}

/* u32, arr[str], arr[arr[f32]]. The first inner array tells the type of the others; arr[arr] alone
** if there is none. */
static zt_text gguf_stored_type(zt_walk *w, const zt_value *value){
  const zt_container *c = w->container;
  bool big = zt_gguf_of(c)->big;
  uint32_t type = value->kind==ZT_GGUF_DIMENSIONS ? ZT_GGUF_U64 : value->depth;
  size_t at = (size_t)value->at-ZT_GGUF_HEADER, n, depth = 1;
  char *z;
  if( value->kind<ZT_GGUF_TYPES && value->kind!=ZT_GGUF_ARRAY ){
    return zt_gguf_types[value->kind].name;
  }
  if( value->kind!=ZT_GGUF_ARRAY && value->kind!=ZT_GGUF_DIMENSIONS ) return (zt_text){ NULL, 0 };
  z = zt_walk_room(w, ZT_WALK_KEY, 5*ZT_GGUF_DEPTH_MAX+8);
  if( !z ) return (zt_text){ NULL, 0 };
  n = gguf_put(z, 0, ZT_TEXT("arr["));
  for(; type==ZT_GGUF_ARRAY && zt_gguf_u64(big, c->kept.p+at+4)>0; depth++){
    at += 12;
    type = zt_gguf_u32(big, c->kept.p+at);
    n = gguf_put(z, n, ZT_TEXT("arr["));
  }
  n = gguf_put(z, n, zt_gguf_types[type].name);
  memset(z+n, ']', depth);
  return (zt_text){ z, n+depth };
}

/* The value of a key with its type, which is in front of it. Files are written little-endian. */
static bool gguf_stored(const zt_container *c, const zt_value *key, const zt_value *value,
                        zt_span *out){
  const size_t at = (size_t)value->at-ZT_GGUF_HEADER;
  (void)key;
  if( zt_gguf_of(c)->big || value->kind>=ZT_GGUF_TYPES ) return false;
  *out = (zt_span){ c->kept.p+at-4, gguf_behind(c, value->kind, at)-at+4 };
  return true;
}

const zt_steps zt_gguf_steps = {
  .enter = gguf_enter, .next = gguf_next, .skip = gguf_skip, .stored_type = gguf_stored_type,
  .stored = gguf_stored
};
