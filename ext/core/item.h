/*
** Equality and hash of CBOR items by value, however they are encoded: 0x00 and 0x1800 are the same;
** 0, "0" and h'30' are three. The items were checked before. Interface to code in item.c.
*/
#ifndef ZT_CORE_ITEM_H
#define ZT_CORE_ITEM_H

#include "core/cbor.h"

/* The hash of the next item. */
uint64_t zt_item_hash(zt_cbor *c, uint64_t seed);

/* The same of a text, which need not be an item. */
uint64_t zt_item_hash_text(zt_text text, uint64_t seed);

/* True if the next items of a and b are equal. Reads no further than the first difference. */
bool zt_item_equal(zt_cbor *a, zt_cbor *b);

/* True if the items at two positions of some bytes are. */
bool zt_item_equal_at(zt_span bytes, size_t a, size_t b);

#endif
