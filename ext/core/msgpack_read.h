/*
** Reader of msgpack. It returns items by position and reads the bytes of texts, byte strings and
** extensions only on request, so an item of a gigabyte costs nothing to skip. Interface to code in
** msgpack_read.c.
**
**   MP1  no item begins with 0xC1
**   MP2  an item lies within the file, or within the extension that it is in; of an array or map,
**        each item of it takes a byte or more
**   MP3  arrays and maps are at most ZT_MSGPACK_DEPTH levels deep
*/
#ifndef ZT_CORE_MSGPACK_READ_H
#define ZT_CORE_MSGPACK_READ_H

#include "core/pages.h"

#define ZT_MSGPACK_DEPTH 64

typedef enum zt_msgpack_type {
  ZT_MSGPACK_NIL, ZT_MSGPACK_FALSE, ZT_MSGPACK_TRUE, ZT_MSGPACK_UINT,
  ZT_MSGPACK_INT,                 /* Negative */
  ZT_MSGPACK_REAL, ZT_MSGPACK_TEXT, ZT_MSGPACK_BYTES, ZT_MSGPACK_ARRAY, ZT_MSGPACK_MAP,
  ZT_MSGPACK_EXT
} zt_msgpack_type;

/* The unread items of the file, or of an extension. */
typedef struct zt_msgpack_range {
  uint64_t at, end;
} zt_msgpack_range;

typedef struct zt_msgpack_item {
  zt_msgpack_type type;
  uint64_t at;                    /* Of its first byte */
  uint64_t n;                     /* An integer, modulo 2^64; the number of an array's items or of
                                  ** a map's pairs, which follow; else the number of bytes */
  double real;
  int ext;                        /* The type of an extension */
  zt_msgpack_range bytes;         /* Of a text, of bytes and of an extension; behind the item */
} zt_msgpack_item;

/* Reads the next item, of an array or map only its head. False at the range's end and after a
** failure. `in` stands behind the item, or at the first one in it. */
bool zt_msgpack_next(zt_pages *p, zt_msgpack_range *in, zt_msgpack_item *out);

/* Skips the items in an array or map whose head was read, depth levels deep. */
bool zt_msgpack_skip(zt_pages *p, zt_msgpack_range *in, const zt_msgpack_item *item, int depth);

/* Fails because of the depth, MP3. */
bool zt_msgpack_fail_depth(zt_pages *p, uint64_t at);

#endif
