/* CBOR items as the values of a container that consists of them. */
#ifndef ZT_TESTS_UNIT_ITEMS_H
#define ZT_TESTS_UNIT_ITEMS_H

#include <assert.h>
#include <stdlib.h>
#include "container/manifest.h"

static const zt_driver items_driver = { .name = "items", .steps = &zt_manifest_steps };

/* A container that has a head, and bytes behind it; its root is what the head begins. Ends in free(c.kept.p). */
static inline zt_container items_behind(uint8_t head, const uint8_t *p, size_t n, zt_value *root){
  zt_container c = { .driver = &items_driver };
  c.kept.p = malloc(n+2);
  c.kept.n = n+1;
  assert(c.kept.p);
  c.kept.p[0] = head;
  if( n ) memcpy(c.kept.p+1, p, n);
  *root = (zt_value){ .type = head>>5==ZT_CBOR_MAP ? ZT_VALUE_MAP : ZT_VALUE_ARRAY };
  return c;
}

/* The next item, which was checked, as JSON. */
static inline void json_item(sqlite3_str *out, zt_cbor *c){
  const uint8_t *at = c->p;
  zt_container items;
  zt_value root, key, value;
  zt_level level;
  zt_walk w;
  zt_cbor_skip(c);
  items = items_behind(0x81, at, (size_t)(c->p-at), &root);
  zt_walk_begin(&items, &root, &w, &level, c->err);
  if( zt_walk_next(&w, &level, &key, &value) ) zt_value_json(&items, &value, NULL, out, c->err);
  zt_walk_end(&w);
  free(items.kept.p);
}

/* The next item as the name of a JSON member, not quoted. */
static inline void json_key(sqlite3_str *out, zt_cbor *c){
  const uint8_t *at = c->p;
  zt_container items;
  zt_value root, key, value;
  zt_level level;
  zt_walk w;
  zt_cbor_skip(c);
  items = items_behind(0xBF, at, (size_t)(c->p-at), &root);
  items.kept.p[items.kept.n++] = 0x00;   /* The value; no break is needed */
  zt_walk_begin(&items, &root, &w, &level, c->err);
  if( zt_walk_next(&w, &level, &key, &value) ) zt_value_name(&items, &key, NULL, out, c->err);
  zt_walk_end(&w);
  free(items.kept.p);
}

#endif
