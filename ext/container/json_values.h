/* Steps through the values of a manifest in JSON, for drivers. A value's position counts from the
** start of the kept bytes, which begin with the JSON. */
#ifndef ZT_CONTAINER_JSON_VALUES_H
#define ZT_CONTAINER_JSON_VALUES_H

#include "container/driver.h"
#include "core/json_read.h"

/* Read from a position of the manifest, which was checked. */
void zt_json_values_decode(const zt_container *c, size_t at, zt_error *unused,
                           zt_json_reader *out);

/* The steps (driver.h). */
extern const zt_steps zt_json_values_steps;

#endif
