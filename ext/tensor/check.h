/*
** What is wrong with a file, finding by finding: zt_check. Interface to code in check.c.
**
** Findings are errors (the tensor cannot be read or interpreted: the rules of the decoders), or
** warnings: what a specification forbids or advises against without making the file unreadable, and
** what has bitten people:
**   W1   the version is one that is known
**   W2   bytes that belong to no component are zero
**   W3   components share all of their bytes, or none
**   W4   no more bytes in one place belong to no component than alignment needs
**   W5   a component has a digest
**   W6   its algorithm is known
**   W7   and its digits are as many as that has: else an error
**   W8   and the bytes have that digest, stored or decoded: else an error
**   W9   a boolean is 0 or 1
**   W10  stored elements stand in ascending order of their cells
**   W11  no two of them are in one cell
**   W12  index components are u64
**   W13  what is compressed has an uncompressed_length
** Which of them hold of a file, its driver says (ZT_RULE_ bits). Formats, dtypes, logical types and
** encodings that are merely not known here (L1, L2, L5, E1) are a warning, too. That a tensor has
** no values, as text has none, is a note (L11): nothing is wrong. rule.c names the specification
** of each.
*/
#ifndef ZT_TENSOR_CHECK_H
#define ZT_TENSOR_CHECK_H

#include "tensor/payload.h"

/* A file being checked. */
typedef struct zt_check zt_check;

/* Begin to check a file that was opened; all is borrowed until zt_check_close(). `full` reads every
** byte of it, else only what the manifest says is checked. Memory: 32 bytes a component, at first
** 64, and bounded windows. *out is NULL on failure. */
int zt_check_open(zt_source *source, const zt_container *c, bool full, const zt_budget *budget,
                  const char *path, zt_check **out, zt_error *err);
void zt_check_close(zt_check *check);

/* Go on to the next finding: its rule (rule.h), its place, which is borrowed from the container,
** and what is wrong. False at the end, and on a failure that is none of the file (memory,
** interrupt), which is in err. The caller clears *finding. */
bool zt_check_next(zt_check *check, zt_error *finding, zt_error *err);

#endif
