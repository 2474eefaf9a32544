/*
** What layouts share whose elements stand for numbers in groups along an axis, each group with a
** scale: settings among an object's attributes, codes in words, and the entry of its group for each
** element. Interface to code in quantized_groups.c.
*/
#ifndef ZT_TENSOR_QUANTIZED_GROUPS_H
#define ZT_TENSOR_QUANTIZED_GROUPS_H

#include "tensor/layout.h"

#define ZT_GROUPS_CHUNK 4096   /* The most elements of one call below */

/* --- Settings --- */

typedef enum zt_setting_type { ZT_SETTING_UINT, ZT_SETTING_INT, ZT_SETTING_TEXT } zt_setting_type;

/* An attribute that a layout wants to know, and what the object has. */
typedef struct zt_setting {
  const char *map;         /* The attribute whose value is a map that has this key; NULL: it is an
                           ** attribute itself */
  const char *name;
  zt_setting_type type;
  bool optional;
  bool there;
  uint64_t u;              /* The number; of a negative integer -1 minus it */
  bool negative;
  zt_text text;            /* Borrowed from the manifest */
} zt_setting;

/* Fill in all of them, which break the rule if one has another type, or is missing and not
** optional. Attributes that are not wanted are passed over; keys that are not wanted, in a map that
** has some that are, break the rule, too. */
int zt_settings_read(const zt_tensor *t, const char *rule, zt_setting *a, size_t n, zt_error *err);

/* The object has components of these roles alone (a NULL ends them), or breaks the rule. */
int zt_groups_check_roles(const zt_tensor *t, const char *rule, const char *const *roles,
                          zt_error *err);

/* --- Codes --- */

/* Unsigned numbers of few bits in words that they fill. */
typedef struct zt_codes {
  zt_array bytes;          /* The words, as u8 */
  unsigned bits;           /* 1, 2, 4 or 8 */
  unsigned width;          /* Bytes of a word */
  bool high_first;         /* The first code of a word has its highest bits, not its lowest */
  bool is_signed;          /* With 8 bits alone: they are signed numbers */
} zt_codes;

/* Have the bytes of an array of words, which is closed; sets `width`. */
void zt_codes_take(zt_codes *c, zt_array *words);

/* Codes first to first+n, which exist. */
int zt_codes_read(zt_codes *c, uint64_t first, size_t n, float *out, zt_error *err);

/* --- Entries --- */

/*
** One number for each group: of floats or integers, or codes. Groups are `size` elements along an
** axis behind which the dimensions' product is `inner`; entries are in the row-major order of the
** shape that has groups in that axis.
*/
typedef struct zt_group_entries {
  zt_array plain;          /* Of codes: not open */
  zt_codes codes;
  uint64_t length;         /* Entries */
  uint64_t size, inner;
  float *window;           /* Entries from number `first` on; owned */
  uint64_t first;
  size_t loaded;
} zt_group_entries;

/* Set length, size and inner for groups of `size` along the axis; a shape that has none breaks
** the rule. */
int zt_group_entries_place(zt_group_entries *e, const zt_tensor *t, const char *rule, uint64_t axis,
                           uint64_t size, zt_error *err);

/* The entry of the group of each of the elements first to first+n. */
int zt_group_entries_read(zt_group_entries *e, uint64_t first, size_t n, float *out, zt_error *err);

/* Decode what holds no entry, too. */
int zt_group_entries_check_empty(zt_group_entries *e, zt_error *err);
void zt_group_entries_close(zt_group_entries *e);

/* --- (code - zero) * scale --- */

typedef struct zt_affine {
  zt_codes codes;
  zt_group_entries scales, zeros;
  bool has_zeros;          /* Else each is `zero` */
  float zero;
  float scale[ZT_GROUPS_CHUNK], shift[ZT_GROUPS_CHUNK];
} zt_affine;

/* Elements first to first+n, computed in f32 and rounded at each step, as zt_layout.read
** gives them. */
int zt_affine_read(zt_affine *a, uint64_t first, size_t n, float *out, zt_error *err);
void zt_affine_close(zt_affine *a);

#endif
