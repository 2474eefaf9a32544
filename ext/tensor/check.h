/*
** What is wrong with a file, finding by finding: zt_check. Interface to code in check.c.
**
** Findings are errors (the tensor cannot be read or interpreted: the rules of the decoders), or
** warnings: what a specification forbids or advises against without making the file unreadable, and
** what has bitten people:
**   W1   the version is one that is known                                       (1.2.0,
**        version policy)
**   W2   bytes that belong to no component are zero                             (1.1.0 part I,
**        1.2.0 section 4)
**   W3   components share all of their bytes, or none
**   W4   no more bytes in one place belong to no component than alignment needs (1.2.0 section 4)
**   W5   a component has a digest
**   W6   its algorithm is known                                                 (1.2.0 section 1)
**   W7   and its digits are as many as that has: else an error                  (1.2.0 section 1)
**   W8   and the bytes have that digest, stored or decoded: else an error       (1.2.0 section
**        1; 2)
**   W9   a boolean is 0 or 1                                                    (1.2.0 section 2)
**   W10  stored elements stand in ascending order of their cells
**   W11  no two of them are in one cell
**   W12  index components are u64                                               (1.2.0 section 3)
**   W13  what is compressed has an uncompressed_length                          (1.2.0 section 1)
** Which of them a file's generation demands, its driver says (zt_container_demands). Unknown
** logical types (L5) are a warning, too.
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
