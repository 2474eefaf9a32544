/*
** Shared parts of layouts whose elements form groups along an axis, with a scale for each group:
** settings from an object's attributes, codes in words, and entries of groups. Interface to code in
** quantized_groups.c.
*/
#ifndef ZT_TENSOR_QUANTIZED_GROUPS_H
#define ZT_TENSOR_QUANTIZED_GROUPS_H

#include "tensor/layout.h"

#define ZT_GROUPS_CHUNK 4096   /* Elements of one call below, at most */

/* --- Settings --- */

typedef enum zt_setting_type { ZT_SETTING_UINT, ZT_SETTING_INT, ZT_SETTING_TEXT } zt_setting_type;

/* An attribute that a layout needs, and the object's value. */
typedef struct zt_setting {
  const char *map;         /* The attribute that is a map with this key; NULL: no map */
  const char *name;
  zt_setting_type type;
  bool optional;
  bool there;
  uint64_t u;              /* The number; if it is negative, -1 minus the number */
  bool negative;
  zt_text text;            /* Borrowed from the manifest */
} zt_setting;

/* Read all settings. A value of another type, and a missing setting that is not optional, break the
** rule. Other attributes are ignored, but other keys in a map with settings break the rule too. */
int zt_settings_read(const zt_tensor *t, const char *rule, zt_setting *a, size_t n, zt_error *err);

/* Components of other roles break the rule. NULL ends the roles. */
int zt_groups_check_roles(const zt_tensor *t, const char *rule, const char *const *roles,
                          zt_error *err);

/* --- Codes --- */

/* Numbers of few bits that fill words. */
typedef struct zt_codes {
  zt_array bytes;          /* The words, as u8 */
  unsigned bits;           /* 1, 2, 4 or 8 */
  unsigned width;          /* Bytes of a word */
  bool high_first;         /* The first code is in the highest bits of a word, not the lowest */
  bool is_signed;          /* Only with 8 bits */
} zt_codes;

/* Take over an array of words, and set `width`. */
void zt_codes_take(zt_codes *c, zt_array *words);

/* Read the existing codes first to first+n. */
int zt_codes_read(zt_codes *c, uint64_t first, size_t n, float *out, zt_error *err);

/* --- Entries --- */

/* One number for each group: an element or a code. A group has `size` elements along an axis, and
** `inner` is the product of the dimensions after that axis. Entries are in row-major order of the
** shape that has the number of groups on the axis. */
typedef struct zt_group_entries {
  zt_array plain;          /* Not open if entries are codes */
  zt_codes codes;
  uint64_t length;         /* Entries */
  uint64_t size, inner;
  float *window;           /* Entries from number `first` on; owned */
  uint64_t first;
  size_t loaded;
} zt_group_entries;

/* Set length, size and inner for groups of `size` along the axis. A shape that does not fit breaks
** the rule. */
int zt_group_entries_place(zt_group_entries *e, const zt_tensor *t, const char *rule, uint64_t axis,
                           uint64_t size, zt_error *err);

/* Return, for each of the elements first to first+n, its group's entry. */
int zt_group_entries_read(zt_group_entries *e, uint64_t first, size_t n, float *out, zt_error *err);

/* Check the bytes of an array without entries. */
int zt_group_entries_check_empty(zt_group_entries *e, zt_error *err);
void zt_group_entries_close(zt_group_entries *e);

/* --- (code - zero) * scale --- */

typedef struct zt_affine {
  zt_codes codes;
  zt_group_entries scales, zeros;
  bool has_zeros;          /* False: `zero` for all */
  float zero;
  float scale[ZT_GROUPS_CHUNK], shift[ZT_GROUPS_CHUNK];
} zt_affine;

/* Compute elements first to first+n in f32, rounded at each step, as zt_layout.read needs them. */
int zt_affine_read(zt_affine *a, uint64_t first, size_t n, float *out, zt_error *err);
void zt_affine_close(zt_affine *a);

#endif
