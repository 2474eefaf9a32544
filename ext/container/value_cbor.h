/*
** Values as deterministic CBOR (RFC 8949 section 4.2.1), as a draft has them. Interface to code in
** value_cbor.c.
**
** Integers and floats have their shortest form, NaN is f97e00, the keys of maps are sorted bytewise
** by their encoding, and no length is indefinite. Undefined and unassigned simple values are null,
** as in every walk.
*/
#ifndef ZT_CONTAINER_VALUE_CBOR_H
#define ZT_CONTAINER_VALUE_CBOR_H

#include "container/container.h"
#include "core/cbor_write.h"

/* Append a value of any format. out->err is err. A failure is recorded: SQLITE_ERROR for a tag, an
** integer beyond 64 bits, a key that occurs twice, and more than ZT_CBOR_MAX_DEPTH levels. After a
** failure `out` is as before. */
int zt_value_cbor(const zt_container *c, const zt_value *value, const zt_interrupt *interrupt,
                  zt_cbor_out *out, zt_error *err);

#endif
