/* Checks that the encoders of several formats share. A message says what the format cannot hold and
** what helps. Errors are SQLITE_ERROR. Interface to code in encoder_checks.c. */
#ifndef ZT_CONTAINER_ENCODER_CHECKS_H
#define ZT_CONTAINER_ENCODER_CHECKS_H

#include "container/dtype.h"
#include "container/draft.h"

/* True if a format has the type. */
typedef bool (*zt_encoder_holds)(zt_dtype_id id);

/* Fail unless the name of a `kind` ("object") is UTF-8 without U+0000, of at most so many bytes. */
int zt_encoder_check_name(const char *format, const char *kind, zt_text name, uint64_t most,
                          zt_error *err);

/* Fail unless the format has the type; NULL: bytes without a type. */
int zt_encoder_check_dtype(const char *format, const zt_dtype *element, zt_encoder_holds holds,
                           zt_error *err);

/* Fail unless the object is dense and the format has its type, as far as it has components yet. */
int zt_encoder_check_dense(const char *format, const zt_draft *draft, uint32_t object,
                           zt_encoder_holds holds, zt_error *err);

/* Fail: the format has no such layout, or no attributes of objects. */
int zt_encoder_fail_layout(const char *format, const zt_draft_object *object, zt_error *err);
int zt_encoder_fail_attribute(const char *format, zt_error *err);

#endif
