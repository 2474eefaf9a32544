/* Manifests in CBOR. See manifest.h. */
#include "container/manifest.h"

#include "core/json.h"

/* Bits of arrays and maps. */
enum { MANIFEST_INDEFINITE = 0x1, MANIFEST_IN_KEY = 0x2 };

/* --- Reading --- */

/* The root item as a value. */
static zt_value manifest_root(const zt_container *c){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, 0, 0, &unused);
  zt_value root = ZT_VALUE_NONE;
  zt_cbor_skip_self_described(&cbor);
  root.type = zt_cbor_peek(&cbor)==ZT_CBOR_MAP ? ZT_VALUE_MAP : ZT_VALUE_ARRAY;
  root.at = zt_manifest_position(c, cbor.p);
  return root;
}

int zt_manifest_open(zt_builder *b, uint64_t offset, uint64_t n, zt_manifest_check *check,
                     const void *context){
  zt_container *c = b->container;
  zt_error *err = b->err;
  zt_cbor cbor;
  assert( n<=ZT_MAX_MANIFEST );
  if( n==0 || zt_builder_read(b, offset, n) ) return err->rc;
  for(;;){
    zt_cbor_init(&cbor, c->kept.p, c->kept.n, err);
    zt_cbor_set_interrupt(&cbor, b->interrupt);
    cbor.rewritten = c->kept.n!=c->manifest_length;
    check(b, &cbor, context);
    if( !cbor.chunked || (err->rc && err->rc!=SQLITE_ERROR) ) break;
    zt_error_clear(err);
    err->object.z = err->component.z = NULL;
    c->kept.n = zt_cbor_join(c->kept.p, c->kept.n, b->interrupt, err);
    if( err->rc ) break;
    zt_builder_clear(b);
  }
  if( !err->rc ) c->manifest = manifest_root(c);
  return err->rc;
}

/* --- Values --- */

void zt_manifest_set_map(zt_value *out, size_t at, uint32_t kind){
  *out = (zt_value){ .type = ZT_VALUE_MAP, .at = at, .kind = kind };
}

/* Set the integer of a byte string with tag 2 or 3: u if 64 bits hold it, else bytes. */
static void manifest_set_bignum(zt_value *v, zt_span bytes, bool negative){
  size_t zeros = 0;
  while( zeros<bytes.n && bytes.p[zeros]==0 ) zeros++;
  v->type = ZT_VALUE_INTEGER;
  v->negative = negative;
  if( bytes.n-zeros>8 ) v->bytes = bytes;
  else v->u = zt_be(bytes.p+zeros, (unsigned)(bytes.n-zeros));
}

static void manifest_set_simple(zt_value *v, const zt_cbor_item *item){
  v->real = item->real;
  v->type = item->is_float ? ZT_VALUE_REAL
          : item->n==ZT_CBOR_TRUE ? ZT_VALUE_TRUE
          : item->n==ZT_CBOR_FALSE ? ZT_VALUE_FALSE : ZT_VALUE_NULL;
}

/* Set the value of an item whose head was read; tag is the last one before it, or 0. */
static void manifest_set(zt_value *v, const zt_cbor_item *item, uint64_t tag){
  zt_span bytes = { item->p, (size_t)item->n };
  switch( item->type ){
    case ZT_CBOR_UINT: case ZT_CBOR_NINT:
      v->type = ZT_VALUE_INTEGER;
      v->negative = item->type==ZT_CBOR_NINT;
      v->u = item->n;
      break;
    case ZT_CBOR_BYTES:
      v->type = ZT_VALUE_BYTES;
      if( (tag==2 || tag==3) && bytes.n<=ZT_BIGNUM_MAX ) manifest_set_bignum(v, bytes, tag==3);
      else v->bytes = bytes;
      break;
    case ZT_CBOR_TEXT:
      v->type = ZT_VALUE_TEXT;
      v->text = (zt_text){ (const char*)item->p, bytes.n };
      break;
    case ZT_CBOR_ARRAY: v->type = ZT_VALUE_ARRAY; break;
    case ZT_CBOR_MAP:   v->type = ZT_VALUE_MAP; break;
    default:            manifest_set_simple(v, item); break;
  }
}

/* Read the next item; of an array or map only its head, so that c stands at the first item in
** it. */
static void manifest_read(zt_cbor *c, uint32_t kind, zt_value *out){
  zt_cbor_item item;
  uint64_t tag = 0;
  out->kind = kind;
  out->at = (uint64_t)(c->p - c->base);
  while( zt_cbor_next(c, &item) && item.type==ZT_CBOR_TAG ){
    out->tagged = true;
    out->at = (uint64_t)(c->p - c->base);
    tag = item.n;
  }
  manifest_set(out, &item, tag);
}

void zt_manifest_read(zt_cbor *c, zt_value *out){
  *out = ZT_VALUE_NONE;
  manifest_read(c, 0, out);
}

/* Read the next item, the key of a map, completely. */
static void manifest_read_key(zt_cbor *c, uint32_t kind, zt_value *out){
  const uint8_t *at = c->p;
  zt_cbor_type type = zt_cbor_peek(c);
  if( (kind & MANIFEST_IN_KEY)
   && (type==ZT_CBOR_ARRAY || type==ZT_CBOR_MAP || type==ZT_CBOR_TAG) ){
    zt_cbor_skip(c);
    out->type = ZT_VALUE_BYTES;
    out->at = (uint64_t)(at - c->base);
    out->bytes = (zt_span){ at, (size_t)(c->p-at) };
    return;
  }
  manifest_read(c, MANIFEST_IN_KEY, out);
  if( out->type!=ZT_VALUE_ARRAY && out->type!=ZT_VALUE_MAP ) return;
  c->p = at;
  zt_cbor_skip(c);
}

/* --- Steps --- */

void zt_manifest_enter(zt_walk *w, const zt_value *of, zt_level *level){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(w->container, (size_t)of->at, 0, &unused);
  zt_cbor_level inner = { 0 };
  zt_cbor_open(&cbor, of->type==ZT_VALUE_MAP ? ZT_CBOR_MAP : ZT_CBOR_ARRAY, &inner);
  assert( !unused.rc );
  level->remaining = inner.remaining;
  level->kind = of->kind | (inner.indefinite ? MANIFEST_INDEFINITE : 0);
  w->at = zt_manifest_position(w->container, cbor.p);
}

bool zt_manifest_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(w->container, (size_t)w->at, 0, &unused);
  zt_cbor_level inner = { level->remaining, (level->kind & MANIFEST_INDEFINITE)!=0 };
  const bool more = zt_cbor_more(&cbor, &inner);
  if( more && level->map ) manifest_read_key(&cbor, level->kind, key);
  if( more ) manifest_read(&cbor, level->kind & MANIFEST_IN_KEY, value);
  assert( !unused.rc );
  level->remaining = inner.remaining;
  w->at = zt_manifest_position(w->container, cbor.p);
  return more;
}

void zt_manifest_skip(zt_walk *w, const zt_value *value){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(w->container, (size_t)value->at, 0, &unused);
  zt_cbor_skip(&cbor);
  assert( !unused.rc );
  w->at = zt_manifest_position(w->container, cbor.p);
}

/* A value follows its key, with its tags. */
static bool manifest_stored(const zt_container *c, const zt_value *key, const zt_value *value,
                            zt_span *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, (size_t)key->at, 0, &unused);
  (void)value;
  zt_cbor_skip(&cbor);
  out->p = cbor.p;
  zt_cbor_skip(&cbor);
  out->n = (size_t)(cbor.p-out->p);
  assert( !unused.rc );
  return true;
}

const zt_steps zt_manifest_steps = {
  .enter = zt_manifest_enter, .next = zt_manifest_next, .skip = zt_manifest_skip,
  .stored = manifest_stored, .stored_is_cbor = true
};
