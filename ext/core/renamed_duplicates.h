/*
** Distinct names for things that are named alike: name, name#2, name#3 ... in their order. A number
** that is a name of its own already is passed over. Interface to code in renamed_duplicates.c.
*/
#ifndef ZT_CORE_RENAMED_DUPLICATES_H
#define ZT_CORE_RENAMED_DUPLICATES_H

#include "core/keys.h"
#include "core/u32_array.h"

/* All zeros: no name was asked for yet. */
typedef struct zt_renamed {
  zt_u32_array given;   /* Of each key as far as one was asked for: how many got a number */
  char *z;              /* Room for a name with its number; owned */
  size_t room;
} zt_renamed;

/* A name for one more thing that is named as one of keys is: what is not among them. It is valid
** until the next call. Returns SQLITE_OK or SQLITE_NOMEM (recorded in err). */
int zt_renamed_name(zt_renamed *d, const zt_keys *keys, const uint8_t *bytes, zt_text name,
                    zt_text *out, zt_error *err);

void zt_renamed_clear(zt_renamed *d);

#endif
