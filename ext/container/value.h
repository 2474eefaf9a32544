/*
** What a file says beside its tensors: attributes, and the manifest as a whole. A value is pulled,
** never built: who wants what is in an array or a map walks it, and the file's driver makes the
** steps (driver.h). Interface to code in value.c.
**
** A walk is one position in the kept bytes that moves forward through an array or a map, and
** through those in it that are entered; what is not entered is passed over, which is the driver's
** to do cheaply. What a step gives is borrowed: from the container; a text that had to be
** unescaped from the walk, until its next step.
**
** How values become JSON: bytes as lowercase hexadecimal text; NaN as null; infinities as 9.0e+999
** and -9.0e+999; tags dropped; keys that are not text as the text of their JSON form, bytes without
** its quotes.
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
  bool negative;       /* Of an integer: it is -1 minus u, or minus bytes */
  bool tagged;         /* Something is put on it that is not shown; two keys may differ in
                       ** that alone */
  uint64_t u;          /* Of an integer */
  double real;
  zt_text text;
  zt_span bytes;       /* Bytes; of an integer that 64 bits do not hold all of it, big-endian (at
                       ** most ZT_BIGNUM_MAX); p is NULL for other integers */
  /* The driver's own, meaningful in arrays and maps, and of `at` in all: where it is. No two values
  ** of a file are in one place. */
  uint64_t at, count;
  uint32_t kind, depth;
} zt_value;

#define ZT_VALUE_NONE ((zt_value){ 0 })

/* An array or map that is being walked. */
typedef struct zt_level {
  bool map;
  bool over;           /* There is nothing more in it */
  /* The driver's own: */
  uint64_t remaining;  /* How much is still to come */
  uint32_t kind, depth;
} zt_level;

enum { ZT_WALK_KEY, ZT_WALK_VALUE, ZT_WALK_TEXTS };

typedef struct zt_walk {
  const zt_container *container;
  zt_error *err;       /* Where failures go: of memory alone, since the file was checked */
  uint64_t at;         /* The driver's own: what comes next */
  const zt_interrupt *interrupt;   /* Borrowed; NULL: nobody is asked, */
  uint64_t steps;      /* after so many values that became JSON */
  bool pending;        /* The last value is an array or a map, and was not entered: */
  zt_value last;
  struct {
    char *z;           /* Owned; NULL until a text has to be unescaped */
    size_t n;
  } scratch[ZT_WALK_TEXTS];
} zt_walk;

/* Begin to walk what is in an array or a map; in any other value there is nothing. *out needs
** zt_walk_end() in any case. */
void zt_walk_begin(const zt_container *c, const zt_value *of, zt_walk *out, zt_level *level,
                   zt_error *err);
void zt_walk_end(zt_walk *w);

/* The next thing in it; of an array, *key is ZT_VALUE_NONE. False at the end, and after
** a failure. */
bool zt_walk_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value);

/* Begin to walk what is in the array or map that the last step gave as value. Once that came to its
** end, the outer level goes on behind it. */
void zt_walk_enter(zt_walk *w, zt_level *level);

/* For drivers: room for n bytes of an unescaped text of the current step, which = ZT_WALK_. NULL if
** memory is short (recorded). */
char *zt_walk_room(zt_walk *w, int which, size_t n);

/* A value's type in the format's own words, borrowed from the container or the walk; z NULL where
** there are none. Any walk will do that was begun on the same container. */
zt_text zt_walk_stored_type(zt_walk *w, const zt_value *value);

/* True if it is that text, or a number of 64 bits, and not tagged. */
bool zt_value_is_text(const zt_value *v, const char *text);
static inline bool zt_value_is_int(const zt_value *v){
  return v->type==ZT_VALUE_INTEGER && !v->tagged && !v->bytes.p;
}
static inline bool zt_value_is_uint(const zt_value *v){ return zt_value_is_int(v) && !v->negative; }

/* Append a value as JSON text, asking between those in it whether to go on. A failure (of memory,
** or SQLITE_INTERRUPT) is recorded in err, or in *out. */
int zt_value_json(const zt_container *c, const zt_value *value, const zt_interrupt *interrupt,
                  sqlite3_str *out, zt_error *err);

/* Append a key as text: the name of the JSON member, without quotes around it. */
int zt_value_name(const zt_container *c, const zt_value *key, const zt_interrupt *interrupt,
                  sqlite3_str *out, zt_error *err);

/* Append an integer of any size, in decimal. */
void zt_value_integer(const zt_value *value, sqlite3_str *out);

#endif
