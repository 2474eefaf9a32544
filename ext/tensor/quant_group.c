/*
** The layout zt.quant_group/1: groups of packed integer codes with a scale and usually a zero (the
** registry's profile of that name). The attributes select one of many schemes. All of them are
** needed, and unknown values are refused.
**
**   `data` has the codes, `bits` bits each, in row-major order: packing.per_word codes fill a word
**   of packing.word, the first one in its lowest bits (lsb_first) or its highest (msb_first).
**   `scales` has an entry for each `group_size` codes along `axis`, in row-major order of the shape
**   that has the number of groups on that axis; group_size 0: an entry for each code.
**   zero_point.form defines zero: none, 0; implied, zero_point.value; tensor, an entry of `zeros`
**   for each scale, of any number type (zero_point.packing plain) or packed like the codes
**   (same_as_data). value = (code - zero) * scale, computed in f32.
**
** Codes are unsigned, except that codes of 8 bits in i8 are signed.
**
**   U1  bits (2, 3, 4, 5, 6 or 8), group_size, axis, packing, scale_form and zero_point are present
**       and known
**   U2  packing.word is u8, u16, u32 or u64, and data has that type or the signed one; per_word
**       codes fill a word exactly, which codes of 3, 5 and 6 bits never do
**   U3  axis is a dimension, which is a multiple of group_size; codes, and packed zeros, are a
**       whole number of words
**   U4  data has as many words as the codes need
**   U5  scales and zeros have an entry for each group; scales are floats (f32_factors), f16 or bf16
**       (f16_factors) or f8_e8m0 (e8m0_exponent); zeros are integers or floats, or if packed, words
**       as data has
**   U6  there is no other component: zeros only where zero_point.form is tensor
*/
#include "core/host.h"
#include "tensor/quantized_groups.h"

enum {
  QUANT_GROUP_BITS, QUANT_GROUP_GROUP_SIZE, QUANT_GROUP_AXIS, QUANT_GROUP_WORD, QUANT_GROUP_ORDER,
  QUANT_GROUP_PER_WORD, QUANT_GROUP_SCALE_FORM, QUANT_GROUP_ZERO_FORM, QUANT_GROUP_ZERO_VALUE,
  QUANT_GROUP_ZERO_PACKING, QUANT_GROUP_SETTINGS
};

static const zt_setting quant_group_setting_table[QUANT_GROUP_SETTINGS] = {
  [QUANT_GROUP_BITS] = { .name = "bits", .type = ZT_SETTING_UINT },
  [QUANT_GROUP_GROUP_SIZE] = { .name = "group_size", .type = ZT_SETTING_UINT },
  [QUANT_GROUP_AXIS] = { .name = "axis", .type = ZT_SETTING_UINT },
  [QUANT_GROUP_WORD] = { .map = "packing", .name = "word", .type = ZT_SETTING_TEXT },
  [QUANT_GROUP_ORDER] = { .map = "packing", .name = "order", .type = ZT_SETTING_TEXT },
  [QUANT_GROUP_PER_WORD] = { .map = "packing", .name = "per_word", .type = ZT_SETTING_UINT },
  [QUANT_GROUP_SCALE_FORM] = { .name = "scale_form", .type = ZT_SETTING_TEXT },
  [QUANT_GROUP_ZERO_FORM] = { .map = "zero_point", .name = "form", .type = ZT_SETTING_TEXT },
  [QUANT_GROUP_ZERO_VALUE] = { .map = "zero_point", .name = "value", .type = ZT_SETTING_INT,
                               .optional = true },
  [QUANT_GROUP_ZERO_PACKING] = { .map = "zero_point", .name = "packing", .type = ZT_SETTING_TEXT,
                                 .optional = true },
};

/* Find the setting's text among the words, which end in NULL. */
static int quant_group_choose(const zt_setting *s, const char *rule, const char *const *words,
                              int *out, zt_error *err){
  for(*out=0; words[*out]; (*out)++){
    if( zt_text_equal(s->text, (zt_text){ words[*out], strlen(words[*out]) }) ) return SQLITE_OK;
  }
  return zt_break(err, rule, "%s%s%s '%.*s' is not known", s->map ? s->map : "", s->map ? "." : "",
                  s->name, zt_shown(s->text), s->text.z);
}

enum { QUANT_GROUP_F32_FACTORS, QUANT_GROUP_F16_FACTORS, QUANT_GROUP_E8M0_EXPONENT };
enum { QUANT_GROUP_NO_ZERO, QUANT_GROUP_IMPLIED, QUANT_GROUP_TENSOR };
enum { QUANT_GROUP_PLAIN, QUANT_GROUP_SAME_AS_DATA };

typedef struct quant_group_settings {
  zt_setting a[QUANT_GROUP_SETTINGS];
  int scale_form, zero_form, zero_packing;
} quant_group_settings;

/* zero_point.value is needed for implied, zero_point.packing for tensor. */
static int quant_group_check_zero(quant_group_settings *s, zt_error *err){
  static const char *const forms[] = {
    [QUANT_GROUP_NO_ZERO] = "none", [QUANT_GROUP_IMPLIED] = "implied",
    [QUANT_GROUP_TENSOR] = "tensor", NULL
  };
  static const char *const packings[] = {
    [QUANT_GROUP_PLAIN] = "plain", [QUANT_GROUP_SAME_AS_DATA] = "same_as_data", NULL
  };
  const struct { int setting, form; } rows[] = { { QUANT_GROUP_ZERO_VALUE, QUANT_GROUP_IMPLIED },
                                                 { QUANT_GROUP_ZERO_PACKING, QUANT_GROUP_TENSOR } };
  if( quant_group_choose(&s->a[QUANT_GROUP_ZERO_FORM], "U1", forms, &s->zero_form, err) ){
    return err->rc;
  }
  for(size_t i=0; i<2; i++){
    bool needed = s->zero_form==rows[i].form;
    const zt_setting *a = &s->a[rows[i].setting];
    if( a->there!=needed ){
      return zt_break(err, "U1", "zero_point.form '%s' %s zero_point.%s", forms[s->zero_form],
                      needed ? "needs" : "has no", a->name);
    }
  }
  return s->zero_form==QUANT_GROUP_TENSOR
       ? quant_group_choose(&s->a[QUANT_GROUP_ZERO_PACKING], "U1", packings, &s->zero_packing, err)
       : SQLITE_OK;
}

static int quant_group_read_settings(const zt_tensor *t, quant_group_settings *s, zt_error *err){
  static const char *const forms[] = {
    [QUANT_GROUP_F32_FACTORS] = "f32_factors", [QUANT_GROUP_F16_FACTORS] = "f16_factors",
    [QUANT_GROUP_E8M0_EXPONENT] = "e8m0_exponent", NULL
  };
  uint64_t bits;
  memcpy(s->a, quant_group_setting_table, sizeof(quant_group_setting_table));
  if( zt_settings_read(t, "U1", s->a, QUANT_GROUP_SETTINGS, err) ) return err->rc;
  bits = s->a[QUANT_GROUP_BITS].u;
  if( bits<2 || bits==7 || bits>8 ){
    return zt_break(err, "U1", "bits is %llu, not 2, 3, 4, 5, 6 or 8", bits);
  }
  return quant_group_choose(&s->a[QUANT_GROUP_SCALE_FORM], "U1", forms, &s->scale_form, err)
       ? err->rc : quant_group_check_zero(s, err);
}

/* Set how words contain codes, and check data's type. */
static int quant_group_check_packing(const zt_tensor *t, const quant_group_settings *s,
                                     zt_codes *codes, zt_error *err){
  static const char *const words[] = { "u8", "u16", "u32", "u64", NULL };
  static const char *const orders[] = { "lsb_first", "msb_first", NULL };
  const zt_dtype *d;
  uint64_t bits = s->a[QUANT_GROUP_BITS].u, n = s->a[QUANT_GROUP_PER_WORD].u;
  int word, order;
  if( quant_group_choose(&s->a[QUANT_GROUP_WORD], "U2", words, &word, err)
   || quant_group_choose(&s->a[QUANT_GROUP_ORDER], "U2", orders, &order, err) ) return err->rc;
  *codes = (zt_codes){ .bits = (unsigned)bits, .width = 1u<<word, .high_first = order==1 };
  if( n>64 || n*bits!=8*(uint64_t)codes->width ){
    return zt_break(err, "U2", "%llu codes of %llu bits do not fill a word of %s", n, bits,
                    words[word]);
  }
  if( zt_tensor_dtype(t, "data", &d, err) ) return err->rc;
  if( (d->class!=ZT_INT && d->class!=ZT_UINT) || d->width!=codes->width ){
    return zt_break(err, "U2", "data is of %s, and packing.word is %s", d->name, words[word]);
  }
  codes->is_signed = n==1 && d->class==ZT_INT;
  return SQLITE_OK;
}

static int quant_group_open_codes(const zt_tensor *t, const char *role, const char *rule,
                                  uint64_t n, zt_codes *out, zt_error *err){
  uint64_t per_word = 8*(uint64_t)out->width/out->bits;
  zt_array words;
  if( n%per_word ){
    return zt_break(err, "U3", "%llu codes of %s are no whole number of words of %llu", n, role,
                    per_word);
  }
  if( zt_tensor_array_of(t, role, n/per_word, rule, &words, err) ) zt_array_close(&words);
  else zt_codes_take(out, &words);
  return err->rc;
}

static int quant_group_open_scales(const zt_tensor *t, const quant_group_settings *s,
                                   zt_group_entries *out, zt_error *err){
  const zt_dtype *d;
  bool ok;
  if( zt_tensor_dtype(t, "scales", &d, err) ) return err->rc;
  if( s->scale_form==QUANT_GROUP_F32_FACTORS ) ok = d->class==ZT_FLOAT;
  else if( s->scale_form==QUANT_GROUP_F16_FACTORS ){
    ok = d->id==ZT_DTYPE_f16 || d->id==ZT_DTYPE_bf16;
  }else{
    ok = d->id==ZT_DTYPE_f8_e8m0;
  }
  if( !ok ){
    return zt_break(err, "U5", "scales of %s are no %.*s", d->name,
                    zt_shown(s->a[QUANT_GROUP_SCALE_FORM].text),
                    s->a[QUANT_GROUP_SCALE_FORM].text.z);
  }
  return zt_tensor_array_of(t, "scales", out->length, "U5", &out->plain, err);
}

static int quant_group_open_zeros(const zt_tensor *t, const quant_group_settings *s,
                                  zt_group_entries *out, zt_error *err){
  const zt_dtype *d, *word;
  if( zt_tensor_dtype(t, "zeros", &d, err) || zt_tensor_dtype(t, "data", &word, err) ){
    return err->rc;
  }
  if( s->zero_packing==QUANT_GROUP_SAME_AS_DATA ){
    if( d!=word ){
      return zt_break(err, "U5", "zeros of %s are not packed as data of %s", d->name, word->name);
    }
    return quant_group_open_codes(t, "zeros", "U5", out->length, &out->codes, err);
  }
  if( d->class==ZT_COMPLEX || d->class==ZT_BOOL ){
    return zt_break(err, "U5", "zeros are of %s", d->name);
  }
  return zt_tensor_array_of(t, "zeros", out->length, "U5", &out->plain, err);
}

static int quant_group_open_parts(const zt_tensor *t, const quant_group_settings *s, zt_affine *a,
                                  zt_error *err){
  const char *const roles[] = {
    "data", "scales", s->zero_form==QUANT_GROUP_TENSOR ? "zeros" : NULL, NULL
  };
  uint64_t group = s->a[QUANT_GROUP_GROUP_SIZE].u;
  if( quant_group_check_packing(t, s, &a->codes, err) ) return err->rc;
  if( zt_group_entries_place(&a->scales, t, "U3", s->a[QUANT_GROUP_AXIS].u, group ? group : 1,
                             err) ) return err->rc;
  a->zeros = a->scales;
  a->zeros.codes = a->codes;
  if( quant_group_open_codes(t, "data", "U4", t->object->elements, &a->codes, err)
   || quant_group_open_scales(t, s, &a->scales, err) ) return err->rc;
  a->has_zeros = s->zero_form==QUANT_GROUP_TENSOR;
  if( a->has_zeros && quant_group_open_zeros(t, s, &a->zeros, err) ) return err->rc;
  return zt_groups_check_roles(t, "U6", roles, err);
}

static float quant_group_implied(const zt_setting *value){
  return value->negative ? -(float)(value->u<UINT64_MAX ? value->u+1 : value->u) : (float)value->u;
}

static int quant_group_open(zt_tensor *t, zt_error *err){
  zt_affine *a = t->state = sqlite3_malloc64(sizeof(*a));
  quant_group_settings s = { 0 };
  if( !a ) return zt_fail_nomem(err);
  memset(a, 0, sizeof(*a));
  t->dtype = zt_dtype_get(ZT_DTYPE_f32);
  if( quant_group_read_settings(t, &s, err) || quant_group_open_parts(t, &s, a, err) ){
    return err->rc;
  }
  a->zero = quant_group_implied(&s.a[QUANT_GROUP_ZERO_VALUE]);
  return SQLITE_OK;
}

static void quant_group_close(zt_tensor *t){
  zt_affine_close(t->state);
}

static int quant_group_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  return zt_affine_read(t->state, first, n, out, err);
}

const zt_layout zt_layout_quant_group = {
  .open = quant_group_open, .close = quant_group_close, .read = quant_group_read
};
