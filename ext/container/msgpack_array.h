/* msgpack of flax and msgpack-numpy: msgpack.c walks the tree and has the grammar, msgpack_array.c
** makes objects of its arrays. */
#ifndef ZT_CONTAINER_MSGPACK_ARRAY_H
#define ZT_CONTAINER_MSGPACK_ARRAY_H

#include "container/builder.h"
#include "core/cbor_write.h"
#include "core/msgpack_read.h"
#include "core/renamed_duplicates.h"

#define ZT_SPEC_MSGPACK "msgpack, specification"
#define ZT_SPEC_FLAX "flax, serialization"
#define ZT_MSGPACK_ND "nd"                               /* The mark of msgpack-numpy */
#define ZT_MSGPACK_CHUNKED "__msgpack_chunked_array__"   /* The first key of an array in chunks */

typedef struct zt_msgpack_state {
  size_t items;            /* Position of the objects' items */
} zt_msgpack_state;

typedef struct zt_msgpack_scan {
  zt_builder *b;
  zt_error *err;
  zt_pages in;
  zt_cbor_out items;       /* A map for each object: name, shape, attributes */
  zt_cbor_out path;        /* Bytes, not CBOR: the keys on the way */
  zt_renamed repeats;      /* Duplicate names of arrays */
  uint64_t kept;           /* Bytes kept of other values */
  uint64_t most;           /* Bytes that may be kept */
  bool marked, more;       /* MP10 was noted: a mark that is not the first key; further keys */
} zt_msgpack_scan;

/* True if n more bytes may be kept (MP9). */
bool zt_msgpack_may_keep(zt_msgpack_scan *s, uint64_t n);

/* Append bytes of the file as they are. */
bool zt_msgpack_push(zt_msgpack_scan *s, zt_msgpack_range bytes, zt_cbor_out *out);

/* True for a text, or bytes. */
static inline bool zt_msgpack_is_string(const zt_msgpack_item *item){
  return item->type==ZT_MSGPACK_TEXT || item->type==ZT_MSGPACK_BYTES;
}

/* True for a text, or bytes, with those few bytes. */
bool zt_msgpack_is_key(zt_pages *p, const zt_msgpack_item *item, const char *text);

static inline zt_text zt_msgpack_path(const zt_msgpack_scan *s){
  return (zt_text){ s->path.n ? (const char*)s->path.p : "", s->path.n };
}

/* Fails because something ends that has more items (MP2), unless a failure is recorded. */
bool zt_msgpack_fail_end(zt_msgpack_scan *s, uint64_t at);

/* Notes MP10 unless it was noted. text has %llu for the position. */
bool zt_msgpack_note_mark(zt_msgpack_scan *s, bool *noted, const char *text, uint64_t at);

/* Between these, faults of the file that the pages meet are of one value, and no failure. They may
** be nested. */
typedef struct zt_msgpack_trial {
  zt_error error, *outer;
} zt_msgpack_trial;
void zt_msgpack_try(zt_pages *p, zt_msgpack_trial *trial);
void zt_msgpack_tried(zt_pages *p, zt_msgpack_trial *trial);

/* Append the value of a scalar of numpy (extension 3). False if it is not one that is known; then
** nothing was appended. */
bool zt_msgpack_put_scalar(zt_msgpack_scan *s, zt_msgpack_range in, zt_cbor_out *out);

/* Add an array (extension 1) as an object named by the path. */
bool zt_msgpack_add_array(zt_msgpack_scan *s, zt_msgpack_range in);

/* True if a map, whose head was read, is an array in chunks: its first key says so. */
bool zt_msgpack_is_chunked(zt_msgpack_scan *s, zt_msgpack_range in, const zt_msgpack_item *map);

/* Add that array as an object named by the path, and move behind it. The map is depth levels
** deep. */
bool zt_msgpack_add_chunked(zt_msgpack_scan *s, zt_msgpack_range *in, const zt_msgpack_item *map,
                            int depth);

/* Add a map whose head was read as an object named by the path, and move behind it, if it is an
** array of msgpack-numpy. Else returns false, moves nowhere, and fails only as other functions
** do. */
bool zt_msgpack_add_numpy(zt_msgpack_scan *s, zt_msgpack_range *in, const zt_msgpack_item *map,
                          int depth);

/* Add bytes that are a file with tensors as an object without values, named by the path. */
bool zt_msgpack_add_file(zt_msgpack_scan *s, zt_msgpack_range bytes);

/* Decode, for the driver. */
void zt_msgpack_object(const zt_container *c, uint32_t i, zt_object *out);
void zt_msgpack_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                          zt_component *out);

#endif
