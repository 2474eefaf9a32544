/*
** Distinct names for things with equal names: name, name#2, name#3 ... in their order. A number is
** skipped if the result is another thing's name. Interface to code in renamed_duplicates.c.
*/
#ifndef ZT_CORE_RENAMED_DUPLICATES_H
#define ZT_CORE_RENAMED_DUPLICATES_H

#include "core/keys.h"
#include "core/u32_array.h"

/* All zeros at first. */
typedef struct zt_renamed {
  zt_u32_array given;   /* For each key so far: how many numbers were given */
  char *z;              /* A name with its number; owned */
  size_t room;
} zt_renamed;

/* Makes a distinct name for one more thing whose name is one of keys. *out is valid until the next
** call. Returns SQLITE_OK or SQLITE_NOMEM (recorded in err). */
int zt_renamed_name(zt_renamed *d, const zt_keys *keys, const uint8_t *bytes, zt_text name,
                    zt_text *out, zt_error *err);

void zt_renamed_clear(zt_renamed *d);

#endif
