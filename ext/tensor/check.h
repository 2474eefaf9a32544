/*
** The findings about a file: zt_check. Interface to code in check.c.
**
** A finding is an error (a rule of the decoders is broken: the tensor cannot be read or
** interpreted) or a warning: a specification forbids it or advises against it, but the file stays
** readable, or it is known to cause trouble:
**   W1   the version is one that is known
**   W2   bytes that belong to no component are zero
**   W3   components share all of their bytes, or none
**   W4   no more bytes in one place belong to no component than alignment needs
**   W5   a component has a digest
**   W6   its algorithm is known; where the driver knows all that there may be, else an error
**   W7   and its digits are as many as that has: else an error
**   W8   and the bytes have that digest, stored or decoded: else an error
**   W9   a boolean is 0 or 1
**   W10  stored elements stand in ascending order of their cells
**   W11  no two of them are in one cell
**   W12  index components are u64
**   W13  what is compressed has an uncompressed_length
** The driver says which of them apply to a file (ZT_RULE_ bits). Unknown formats, dtypes, logical
** types and encodings (L1, L2, L5, E1) are warnings too. A tensor without values, such as text, is
** a note (L11): nothing is wrong. rule.c names the specification of each rule.
*/
#ifndef ZT_TENSOR_CHECK_H
#define ZT_TENSOR_CHECK_H

#include "tensor/payload.h"

typedef struct zt_check zt_check;

/* Begin to check an open file; everything is borrowed until zt_check_close(). `full` reads every
** byte; otherwise only the manifest is checked. This takes 32 bytes a component, at first 64, and
** bounded windows. *out is NULL on failure. */
int zt_check_open(zt_source *source, const zt_container *c, bool full, const zt_budget *budget,
                  const char *path, zt_check **out, zt_error *err);
void zt_check_close(zt_check *check);

/* Return the next finding: its rule (rule.h), its place (borrowed from the container) and its
** message. False at the end, and if memory is short or an interrupt came, which err records. The
** caller clears *finding. */
bool zt_check_next(zt_check *check, zt_error *finding, zt_error *err);

#endif
