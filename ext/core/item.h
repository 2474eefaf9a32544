/*
** Equality and hash of CBOR items by value, whatever their encoding: 0x00 and 0x1800 are equal; 0,
** "0" and h'30' differ. The items were checked before. Interface to code in item.c.
*/
#ifndef ZT_CORE_ITEM_H
#define ZT_CORE_ITEM_H

#include "core/cbor.h"

uint64_t zt_item_hash(zt_cbor *c, uint64_t seed);

/* The hash that an item with this text has. */
uint64_t zt_item_hash_text(zt_text text, uint64_t seed);

/* Returns whether the next items are equal. Reads no further than the first difference. */
bool zt_item_equal(zt_cbor *a, zt_cbor *b);

/* Returns whether the items at two positions are equal. */
bool zt_item_equal_at(zt_span bytes, size_t a, size_t b);

#endif
