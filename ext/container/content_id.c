/*
** A model's content digest. See content_id.h. A manifest of zTensor 2 is in deterministic encoding,
** so its items are copied, and only the maps around them are encoded.
*/
#include "container/content_id.h"

#include "container/manifest.h"

extern const zt_driver zt_driver_zt2;

/* The key of a map, and the encoded value; p NULL: absent. */
typedef struct content_id_item {
  const char *key;
  zt_span value;
} content_id_item;
#define CONTENT_ID_ITEMS 3   /* Of a part, and of an object beside its parts */

/* Pass over the next item. */
static zt_span content_id_take(zt_cbor *c){
  const uint8_t *at = c->p;
  zt_cbor_skip(c);
  return (zt_span){ at, (size_t)(c->p-at) };
}

/* Read the next item, a map, and take the values of those keys. Unknown keys may be of any type. */
static void content_id_take_items(zt_cbor *c, content_id_item *items){
  zt_cbor_level level;
  zt_cbor_open(c, ZT_CBOR_MAP, &level);
  while( zt_cbor_more(c, &level) ){
    zt_text key = { NULL, 0 };
    zt_span value;
    if( zt_cbor_peek(c)==ZT_CBOR_TEXT ) zt_cbor_text(c, &key);
    else zt_cbor_skip(c);
    value = content_id_take(c);
    for(size_t i=0; i<CONTENT_ID_ITEMS; i++){
      if( zt_text_equal(key, (zt_text){ items[i].key, strlen(items[i].key) }) ){
        items[i].value = value;
      }
    }
  }
}

static void content_id_put_head(zt_digest *d, zt_cbor_type type, uint64_t n){
  uint8_t head[ZT_CBOR_HEAD];
  zt_digest_update(d, (zt_span){ head, zt_cbor_write_head(head, type, n) });
}

static void content_id_put_text(zt_digest *d, const char *text){
  content_id_put_head(d, ZT_CBOR_TEXT, strlen(text));
  zt_digest_update(d, (zt_span){ (const uint8_t*)text, strlen(text) });
}

static void content_id_put_map(zt_digest *d, const content_id_item *items, uint64_t others){
  for(size_t i=0; i<CONTENT_ID_ITEMS; i++) others += items[i].value.p!=NULL;
  content_id_put_head(d, ZT_CBOR_MAP, others);
}

/* Write the items that are present; they come in the order of their encoded keys. */
static void content_id_put_items(zt_digest *d, const content_id_item *items){
  for(size_t i=0; i<CONTENT_ID_ITEMS; i++){
    if( !items[i].value.p ) continue;
    content_id_put_text(d, items[i].key);
    zt_digest_update(d, items[i].value);
  }
}

/* Write the parts of an object; false if one has no digest. */
static bool content_id_put_parts(const zt_container *c, uint32_t object, zt_digest *d,
                                 zt_error *err){
  uint32_t first = zt_container_first(c, object), end = zt_container_first(c, object+1);
  content_id_put_text(d, "parts");
  content_id_put_head(d, ZT_CBOR_MAP, end-first);
  for(uint32_t k=first; k<end; k++){
    content_id_item items[] = { { "type", { 0 } }, { "dtype", { 0 } }, { "digest", { 0 } } };
    zt_cbor cbor = zt_manifest_decoder(c, c->components.a[k], 4, err);
    zt_digest_update(d, content_id_take(&cbor));
    content_id_take_items(&cbor, items);
    if( !items[2].value.p ) return false;
    content_id_put_map(d, items, 0);
    content_id_put_items(d, items);
  }
  return true;
}

static bool content_id_put_object(const zt_container *c, uint32_t i, zt_digest *d, zt_error *err){
  content_id_item items[] = { { "shape", { 0 } }, { "layout", { 0 } }, { "attributes", { 0 } } };
  zt_cbor cbor = zt_manifest_decoder(c, c->objects.a[i], 2, err);
  zt_digest_update(d, content_id_take(&cbor));
  content_id_take_items(&cbor, items);
  content_id_put_map(d, items, 1);
  if( !content_id_put_parts(c, i, d, err) ) return false;
  content_id_put_items(d, items);
  return true;
}

int zt_content_id(const zt_container *c, char out[ZT_DIGEST_TEXT], bool *known, zt_error *err){
  zt_error unused = ZT_ERROR_NONE;
  zt_digest *d;
  *known = c->driver==&zt_driver_zt2 && c->manifest_length>0;   /* A data shard has no manifest */
  if( !*known ) return SQLITE_OK;
  zt_digest_new(ZT_TEXT("sha256"), &d, err);
  if( !d ) return err->rc;
  content_id_put_head(d, ZT_CBOR_ARRAY, 2);
  content_id_put_text(d, "zt.content/1");
  content_id_put_head(d, ZT_CBOR_MAP, zt_container_objects(c));
  for(uint32_t i=0; i<zt_container_objects(c) && *known; i++){
    *known = content_id_put_object(c, i, d, &unused);
  }
  assert( !unused.rc );
  zt_digest_text(d, out);
  zt_digest_close(d);
  return SQLITE_OK;
}
