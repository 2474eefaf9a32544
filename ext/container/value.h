/*
** Values of a file besides its tensors: attributes, and the whole manifest. A value is pulled,
** never built: a walk goes through an array or map in steps that the file's driver makes
** (driver.h). Interface to code in value.c.
**
** A walk is a position in the kept bytes that moves forward through an array or map, and through
** those in it that the caller enters; the driver skips the others. Values are borrowed from the
** container; texts that had to be unescaped are borrowed from the walk until its next step.
**
** In JSON, bytes are lowercase hexadecimal text; NaN is null; infinities are 9.0e+999 and
** -9.0e+999; tags are dropped; non-text keys are the text of their JSON form, bytes without quotes.
*/
#ifndef ZT_CONTAINER_VALUE_H
#define ZT_CONTAINER_VALUE_H

#include "core/error.h"
#include "core/host.h"
#include "core/interrupt.h"

typedef struct zt_container zt_container;

typedef enum zt_value_type {
  ZT_VALUE_NULL, ZT_VALUE_FALSE, ZT_VALUE_TRUE, ZT_VALUE_INTEGER, ZT_VALUE_REAL, ZT_VALUE_TEXT,
  ZT_VALUE_BYTES, ZT_VALUE_ARRAY, ZT_VALUE_MAP
} zt_value_type;

typedef struct zt_value {
  zt_value_type type;
  bool negative;       /* Of an integer: -1 minus u, or minus bytes */
  bool tagged;         /* Has a tag, which is not shown; two keys may differ in that alone */
  uint64_t u;          /* Of an integer */
  double real;
  zt_text text;
  zt_span bytes;       /* Bytes; or an integer beyond 64 bits, big-endian, of at most ZT_BIGNUM_MAX
                       ** bytes; else p is NULL */
  /* The driver's own fields of arrays and maps, and `at` of all values: the place, which no other
  ** value of the file has. */
  uint64_t at, count;
  uint32_t kind, depth;
} zt_value;

#define ZT_VALUE_NONE ((zt_value){ 0 })

/* A position in an array or map during a walk. */
typedef struct zt_level {
  bool map;
  bool over;           /* At its end */
  /* The driver's own: */
  uint64_t remaining;  /* Items still to come */
  uint32_t kind, depth;
} zt_level;

enum { ZT_WALK_KEY, ZT_WALK_VALUE, ZT_WALK_TEXTS };

typedef struct zt_walk {
  const zt_container *container;
  zt_error *err;       /* Receives failures: of memory alone, since the file was checked */
  uint64_t at;         /* The driver's own: position of the next item */
  const zt_interrupt *interrupt;   /* Borrowed; may be NULL */
  uint64_t steps;      /* Values that became JSON */
  bool pending;        /* last is an array or map that was not entered */
  zt_value last;
  struct {
    char *z;           /* Owned; NULL before the first unescaped text */
    size_t n;
  } scratch[ZT_WALK_TEXTS];
} zt_walk;

/* Begin to walk through an array or map; other values have no items. *out always needs
** zt_walk_end(). */
void zt_walk_begin(const zt_container *c, const zt_value *of, zt_walk *out, zt_level *level,
                   zt_error *err);
void zt_walk_end(zt_walk *w);

/* The next item; in an array *key is ZT_VALUE_NONE. False at the end and after a failure. */
bool zt_walk_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value);

/* Begin to walk through the array or map that the last step gave. At its end, the outer level
** continues behind it. */
void zt_walk_enter(zt_walk *w, zt_level *level);

/* For drivers: n bytes for an unescaped text of the current step; which is a ZT_WALK_. NULL if
** memory is short (recorded). */
char *zt_walk_room(zt_walk *w, int which, size_t n);

/* A value's type in the format's own words, borrowed from the container or the walk; z NULL: none.
** Any walk through the same container will do. */
zt_text zt_walk_stored_type(zt_walk *w, const zt_value *value);

/* True for that text, or for an integer of 64 bits, without tags. */
bool zt_value_is_text(const zt_value *v, const char *text);
static inline bool zt_value_is_int(const zt_value *v){
  return v->type==ZT_VALUE_INTEGER && !v->tagged && !v->bytes.p;
}
static inline bool zt_value_is_uint(const zt_value *v){ return zt_value_is_int(v) && !v->negative; }

/* Append a value as JSON text, and check for an interrupt between its values. A failure (of memory,
** or SQLITE_INTERRUPT) is recorded in err or *out. */
int zt_value_json(const zt_container *c, const zt_value *value, const zt_interrupt *interrupt,
                  sqlite3_str *out, zt_error *err);

/* Append a key as text: the name of the JSON member without quotes. */
int zt_value_name(const zt_container *c, const zt_value *key, const zt_interrupt *interrupt,
                  sqlite3_str *out, zt_error *err);

/* Append an integer of any size in decimal. */
void zt_value_integer(const zt_value *value, sqlite3_str *out);

#endif
