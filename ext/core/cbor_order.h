/*
** Arrays and maps of deterministic CBOR (RFC 8949 section 4.2.1) whose items come in any order, and
** whose number is known at their end. Scalars are written with core/cbor_write.h. Interface to code
** in cbor_order.c.
**
** A caller opens an array or map, writes the items and closes it:
**
**   array := open { item, then its bytes } close
**   map   := open { key, then its bytes, value, then its bytes } close
**
** Closing sorts the pairs bytewise by their encoded keys. Failures go to out->err and are sticky:
** SQLITE_ERROR for a key that occurs twice and for more than ZT_CBOR_MAX_DEPTH levels,
** SQLITE_NOMEM, SQLITE_INTERRUPT. After a failure the bytes in `out` have no meaning.
*/
#ifndef ZT_CORE_CBOR_ORDER_H
#define ZT_CORE_CBOR_ORDER_H

#include "core/cbor_write.h"

/* A pair of an open map. */
typedef struct zt_cbor_pair {
  size_t at;         /* Of its first byte in out */
  size_t key, n;     /* Lengths of the key and of the pair, in bytes */
} zt_cbor_pair;

typedef struct zt_cbor_order {
  zt_cbor_out *out;                /* Borrowed, like interrupt */
  const zt_interrupt *interrupt;   /* May be NULL */
  zt_cbor_pair *pairs;             /* Owned: those of all open maps, of the innermost one last */
  size_t n, room;
  int depth;                       /* Open arrays and maps */
} zt_cbor_order;

/* An open array or map. */
typedef struct zt_cbor_opened {
  bool map;
  size_t at;         /* Of its first item in out */
  size_t first;      /* Its first pair */
  uint64_t items;    /* Of an array */
} zt_cbor_opened;

/* Starts without an open array or map; ends in zt_cbor_order_clear(). */
void zt_cbor_order_init(zt_cbor_order *o, zt_cbor_out *out, const zt_interrupt *interrupt);
void zt_cbor_order_clear(zt_cbor_order *o);

/* False after a failure. */
bool zt_cbor_order_open(zt_cbor_order *o, bool map, zt_cbor_opened *opened);
bool zt_cbor_order_item(zt_cbor_order *o, zt_cbor_opened *opened);
bool zt_cbor_order_key(zt_cbor_order *o);
bool zt_cbor_order_value(zt_cbor_order *o);
bool zt_cbor_order_close(zt_cbor_order *o, const zt_cbor_opened *opened);

#endif
