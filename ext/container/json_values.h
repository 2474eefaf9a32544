/*
** The steps through the values of a manifest that is JSON, for drivers. A value's place is its
** position in the kept bytes, which begin with that JSON. Interface to code in json_values.c.
*/
#ifndef ZT_CONTAINER_JSON_VALUES_H
#define ZT_CONTAINER_JSON_VALUES_H

#include "container/driver.h"
#include "core/json_read.h"

/* Decode from the manifest, which was checked, at a position. */
void zt_json_values_decode(const zt_container *c, size_t at, zt_error *unused,
                           zt_json_reader *out);

/* The steps (driver.h). */
extern const zt_steps zt_json_values_steps;

#endif
