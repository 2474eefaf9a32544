/* Columns that several tables share. Interface to code in describe.c. */
#ifndef ZT_SQLITE_DESCRIBE_H
#define ZT_SQLITE_DESCRIBE_H

#include "core/interrupt.h"
#include "sqlite/value.h"

/* Sums over components. */
typedef struct zt_totals {
  uint64_t stored, decoded;    /* Bytes */
  bool stored_known;           /* False if the sum exceeds 64 bits */
  bool decoded_known;          /* Likewise, or if a component's length is unknown */
} zt_totals;

#define ZT_TOTALS_NONE ((zt_totals){ 0, 0, true, true })

/* Add an object's components, or other totals. */
void zt_totals_add(zt_totals *t, const zt_container *c, const zt_object *object);
void zt_totals_join(zt_totals *t, const zt_totals *other);

/* An object's storage and logical type; z is NULL if it has none. Borrowed from the container. */
typedef struct zt_types {
  zt_text dtype, type;
} zt_types;

zt_types zt_object_types(const zt_container *c, const zt_object *object);

void zt_result_shape(sqlite3_context *ctx, const zt_object *object);   /* JSON array */

/* A value from a file as JSON text; attributes as a JSON object, `{}` if there are none. */
void zt_result_value(sqlite3_context *ctx, const zt_container *c, const zt_value *value,
                     zt_interrupt interrupt);
void zt_result_attributes(sqlite3_context *ctx, const zt_container *c, const zt_value *attributes,
                          zt_interrupt interrupt);

/* A component's type, or its dtype if the file states no type. */
void zt_result_type(sqlite3_context *ctx, const zt_component *component);

#endif
