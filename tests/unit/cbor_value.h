/* CBOR of any encoding as a value of the model, for tests of code that takes such values. */
#ifndef ZT_TESTS_UNIT_CBOR_VALUE_H
#define ZT_TESTS_UNIT_CBOR_VALUE_H

#include "test.h"

#include "container/manifest.h"

static const zt_driver cbor_driver = { .name = "cbor", .format = "cbor", .steps = &zt_manifest_steps };

static inline int keep_cbor(zt_container *c, zt_span item, zt_error *err){
  zt_cbor cbor;
  c->driver = &cbor_driver;
  c->kept.p = sqlite3_malloc64(item.n+1);   /* 0 bytes would give NULL */
  if( !c->kept.p ) return zt_fail_nomem(err);
  if( item.n ) memcpy(c->kept.p, item.p, item.n);
  c->kept.n = item.n;
  c->kept.capacity = item.n+1;
  zt_cbor_init(&cbor, c->kept.p, c->kept.n, err);
  zt_cbor_skip(&cbor);
  if( zt_cbor_finish(&cbor) && cbor.chunked ) c->kept.n = zt_cbor_join(c->kept.p, c->kept.n, NULL, err);
  return err->rc;
}

/* The value belongs to the container, which has nothing else and ends in zt_container_close(). NULL: there is no memory, or the bytes
** are not one item (recorded in err). */
static inline zt_container *value_of_cbor(zt_span cbor, zt_value *out, zt_error *err){
  zt_container *c = zt_container_new();
  zt_cbor at;
  *out = ZT_VALUE_NONE;
  if( !c ) zt_fail_nomem(err);
  else if( keep_cbor(c, cbor, err)==SQLITE_OK ){
    at = zt_manifest_decoder(c, 0, 0, err);
    zt_manifest_read(&at, out);
    return c;
  }
  zt_container_close(c);
  return NULL;
}

#endif
