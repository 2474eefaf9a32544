/* Writing npy arrays, in a file or a member of npz: what both encoders share. Interface to code in
** npy_encoder.c. */
#ifndef ZT_CONTAINER_NPY_ENCODER_H
#define ZT_CONTAINER_NPY_ENCODER_H

#include "container/encoder.h"

/* Fail unless numpy has the object's layout and type. `format` is npy or npz. */
int zt_npy_check_object(const char *format, const zt_draft *draft, uint32_t object, zt_error *err);

/* Fail: the format has no attributes. */
int zt_npy_fail_attribute(const char *format, const zt_draft_attribute *attribute, bool of_object,
                          zt_error *err);

/* Append an array: its header and its elements, which are one part. *decoded is their length. kept:
** the header in front of the bytes of a kept object. */
int zt_npy_write_array(zt_encoder_run *run, uint32_t object, zt_span kept, zt_stored *out,
                       uint64_t *decoded, zt_error *err);

#endif
