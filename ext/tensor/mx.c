/*
** The layout zt.mx/1: elements of few bits in blocks that share a power of two (the registry's
** profile of that name; the OCP Microscaling Formats specification defines the elements).
**
**   `data` has the elements in row-major order. `scales` has a power of two for each `block_size`
**   elements along `axis` (by default the last one), in row-major order of the shape that has the
**   number of blocks on that axis. value = 2^(scale-127) * element, rounded to f32 once; a scale of
**   255 is NaN. An i8 element has 6 fractional bits, as in MXINT8: it is i8/64.
**
**   V1  block_size is present and at least 2; scale_form is e8m0_exponent or absent, as in the
**       profile's first text
**   V2  axis is a dimension, which is a multiple of block_size
**   V3  data is of f4_e2m1, f8_e4m3fn, f8_e5m2 or i8, scales of f8_e8m0
**   V4  data has as many elements as the shape, scales one for each block
**   V5  there is no other component
*/
#include <math.h>
#include "core/host.h"
#include "core/vector.h"
#include "tensor/quantized_groups.h"

/* From this scale on, no product is subnormal: the least element but 0 is 2^-16, in f8_e5m2. */
#define MX_LEAST_SCALE 0x1p-110f

typedef struct mx {
  zt_array data;
  zt_group_entries scales;
  float scale[ZT_GROUPS_CHUNK];
} mx;

enum { MX_BLOCK_SIZE, MX_AXIS, MX_SCALE_FORM, MX_SETTINGS };

static int mx_read_settings(const zt_tensor *t, mx *s, zt_error *err){
  zt_setting a[MX_SETTINGS] = {
    [MX_BLOCK_SIZE] = { .name = "block_size", .type = ZT_SETTING_UINT },
    [MX_AXIS] = { .name = "axis", .type = ZT_SETTING_UINT, .optional = true },
    [MX_SCALE_FORM] = { .name = "scale_form", .type = ZT_SETTING_TEXT, .optional = true },
  };
  const zt_text form = ZT_TEXT("e8m0_exponent");
  if( zt_settings_read(t, "V1", a, MX_SETTINGS, err) ) return err->rc;
  if( a[MX_BLOCK_SIZE].u<2 ){
    return zt_break(err, "V1", "block_size is %llu, not 2 or more", a[MX_BLOCK_SIZE].u);
  }
  if( a[MX_SCALE_FORM].there && !zt_text_equal(a[MX_SCALE_FORM].text, form) ){
    return zt_break(err, "V1", "scale_form is '%.*s', not e8m0_exponent",
                    zt_shown(a[MX_SCALE_FORM].text), a[MX_SCALE_FORM].text.z);
  }
  if( !a[MX_AXIS].there ) a[MX_AXIS].u = t->object->rank ? t->object->rank-1 : 0;
  return zt_group_entries_place(&s->scales, t, "V2", a[MX_AXIS].u, a[MX_BLOCK_SIZE].u, err);
}

static int mx_check_types(const zt_tensor *t, zt_error *err){
  const zt_dtype *data, *scales;
  if( zt_tensor_dtype(t, "data", &data, err) || zt_tensor_dtype(t, "scales", &scales, err) ){
    return err->rc;
  }
  if( data->id!=ZT_DTYPE_f4_e2m1 && data->id!=ZT_DTYPE_f8_e4m3fn && data->id!=ZT_DTYPE_f8_e5m2
   && data->id!=ZT_DTYPE_i8 ){
    return zt_break(err, "V3", "data is of f4_e2m1, f8_e4m3fn, f8_e5m2 or i8, not %s", data->name);
  }
  if( scales->id!=ZT_DTYPE_f8_e8m0 ){
    return zt_break(err, "V3", "scales are of f8_e8m0, not %s", scales->name);
  }
  return SQLITE_OK;
}

static int mx_open(zt_tensor *t, zt_error *err){
  static const char *const roles[] = { "data", "scales", NULL };
  mx *s = t->state = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  memset(s, 0, sizeof(*s));
  t->dtype = zt_dtype_get(ZT_DTYPE_f32);
  if( mx_read_settings(t, s, err) || mx_check_types(t, err) ) return err->rc;
  if( zt_tensor_array_of(t, "data", t->object->elements, "V4", &s->data, err) ) return err->rc;
  if( zt_tensor_array_of(t, "scales", s->scales.length, "V4", &s->scales.plain, err) ){
    return err->rc;
  }
  return zt_groups_check_roles(t, "V5", roles, err);
}

static void mx_close(zt_tensor *t){
  mx *s = t->state;
  zt_array_close(&s->data);
  zt_group_entries_close(&s->scales);
}

/* Return the product. No step has a subnormal operand or result, because the host may have set its
** processor to flush subnormals to zero. The product is exact as a double. */
static float mx_multiply(float element, float scale){
  uint32_t bits;
  double product;
  float out;
  memcpy(&bits, &scale, sizeof(bits));
  if( bits>>23==0xFF ) return (float)NAN;
  /* 2^-127 is the scale whose exponent is 0 */
  product = (double)element * ldexp(1, (int)(bits>>23)-127);
  if( isnan(product) ) return (float)NAN;
  if( fabs(product)>=0x1p-126 ) return (float)product;
  bits = (uint32_t)lrint(fabs(product)*0x1p149) | (signbit(product) ? 0x80000000u : 0);
  memcpy(&out, &bits, sizeof(out));
  return out;
}

ZT_VECTOR static bool mx_is_small(const float *scales, size_t n){
  int small = 0;
  for(size_t i=0; i<n; i++) small |= scales[i]<MX_LEAST_SCALE;
  return small!=0;
}

/* values *= scales, none of which is small. Powers of two multiply exactly, or to infinity. */
ZT_VECTOR static void mx_multiply_all(float *restrict values, const float *restrict scales,
                                      float unit, size_t n){
  for(size_t i=0; i<n; i++){
    float value = values[i]*unit*scales[i];
    /* Machines differ in the NaN that they compute */
    values[i] = isnan(value) ? (float)NAN : value;
  }
}

static int mx_read_chunk(mx *s, uint64_t first, size_t n, float *out, zt_error *err){
  uint8_t elements[ZT_GROUPS_CHUNK];
  float unit = s->data.dtype->id==ZT_DTYPE_i8 ? 0x1p-6f : 1;
  if( zt_array_read(&s->data, first, n, elements, err)
   || zt_group_entries_read(&s->scales, first, n, s->scale, err) ) return err->rc;
  zt_convert(s->data.dtype, elements, zt_dtype_get(ZT_DTYPE_f32), out, n);
  if( mx_is_small(s->scale, n) ){
    for(size_t i=0; i<n; i++) out[i] = mx_multiply(out[i]*unit, s->scale[i]);
  }else{
    mx_multiply_all(out, s->scale, unit, n);
  }
  return SQLITE_OK;
}

static int mx_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  mx *s = t->state;
  if( n==0 ){
    return zt_array_check_empty(&s->data, err) ? err->rc
         : zt_group_entries_check_empty(&s->scales, err);
  }
  for(size_t i=0, m; i<n; i+=m){
    m = n-i<ZT_GROUPS_CHUNK ? n-i : ZT_GROUPS_CHUNK;
    if( mx_read_chunk(s, first+i, m, (float*)out+i, err) ) return err->rc;
  }
  return SQLITE_OK;
}

const zt_layout zt_layout_mx = {
  .open = mx_open, .close = mx_close, .read = mx_read
};
