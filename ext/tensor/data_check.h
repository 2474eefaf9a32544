/* Checks of the bytes that a row brings for a component. Interface to code in data_check.c. */
#ifndef ZT_TENSOR_DATA_CHECK_H
#define ZT_TENSOR_DATA_CHECK_H

#include "container/draft.h"
#include "container/dtype.h"

/* Fail unless the bytes are those of the component with that role of an object: as many as layout,
** shape and type demand; bools 0 or 1; spare bits of packed elements 0; indices within the shape,
** indptr from 0 on and never falling, both of the types that the format's ZT_RULE_ bits allow. What
** only several components show is left to the reader of the file (layout.h). */
int zt_data_check(const zt_draft_object *object, zt_text role, const zt_dtype *dtype,
                  zt_span bytes, unsigned rules, zt_error *err);

#endif
