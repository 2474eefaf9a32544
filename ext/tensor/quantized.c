/*
** The layout quantized_group: groups of packed integer codes with a scale and a zero point
** (zTensor's specification, section 3). The specification does not define the packing and meaning
** of codes. Only the following convention is interpreted; other objects fail with an error that
** says why:
**
**   `packed_weight` (or `data`) has words of WORD with N codes of `bits` bits each, along the last
**   dimension, the first in the lowest bits. `group_size` codes along the last dimension are a
**   group. `scales` and `zeros` have one entry for each group, in row-major order.
**   value = (code - zero) * scale, computed in f32.
**
**   Q1  the attributes have bits (1 to 8), group_size (from 1) and packing ("N_per_WORD")
**   Q2  WORD is an integer type, N * bits its bits, and packed_weight has it
**   Q3  the last dimension is a multiple of N and of group_size
**   Q4  packed_weight has as many words as the codes need
**   Q5  scales and zeros have an entry for each group; scales is of a float type, zeros is not
**       complex
*/
#include "core/host.h"
#include "tensor/quantized_groups.h"

typedef struct quantized {
  zt_array words;
  uint64_t bits, group, per_word;  /* Bits of a code; codes of a group, of a word */
  zt_affine affine;
} quantized;

/* Read the attributes (Q1). *packing is borrowed. */
static int quantized_read_attributes(const zt_tensor *t, quantized *s, zt_text *packing,
                                     zt_error *err){
  zt_setting a[] = {
    { .name = "bits", .type = ZT_SETTING_UINT },
    { .name = "group_size", .type = ZT_SETTING_UINT },
    { .name = "packing", .type = ZT_SETTING_TEXT }
  };
  if( zt_settings_read(t, "Q1", a, sizeof(a)/sizeof(*a), err) ) return err->rc;
  if( a[0].u<1 || a[0].u>8 ) return zt_break(err, "Q1", "bits is %llu, not 1 to 8", a[0].u);
  if( a[1].u<1 ) return zt_break(err, "Q1", "group_size is 0");
  s->bits = a[0].u;
  s->group = a[1].u;
  *packing = a[2].text;
  return SQLITE_OK;
}

/* Parse "N_per_WORD", and compare it with the component's type. */
static int quantized_read_packing(quantized *s, zt_text packing, zt_error *err){
  const zt_dtype *word = NULL;
  uint64_t n = 0;
  size_t i = 0;
  for(; i<packing.n && i<3 && packing.z[i]>='0' && packing.z[i]<='9'; i++){
    n = n*10 + (uint64_t)(packing.z[i]-'0');
  }
  if( i>0 && packing.n-i>5 && memcmp(packing.z+i, "_per_", 5)==0 ){
    word = zt_dtype_storage((zt_text){ packing.z+i+5, packing.n-i-5 });
  }
  if( !word || (word->class!=ZT_INT && word->class!=ZT_UINT)
   || n*s->bits!=8*(uint64_t)word->width ){
    return zt_break(err, "Q2", "packing '%.*s' does not fill words with codes of %llu bits",
                    zt_shown(packing), packing.z, s->bits);
  }
  if( word!=s->words.dtype ){
    return zt_break(err, "Q2", "packing '%.*s' has words of %s, %.*s has %s", zt_shown(packing),
                    packing.z, word->name, (int)s->words.role.n, s->words.role.z,
                    s->words.dtype->name);
  }
  s->per_word = n;
  return SQLITE_OK;
}

static int quantized_check_sizes(const zt_tensor *t, const quantized *s, zt_error *err){
  const zt_array *scales = &s->affine.scales.plain, *zeros = &s->affine.zeros.plain;
  uint64_t elements = t->object->elements, groups = elements/s->group;
  uint64_t last = t->object->rank ? t->object->shape[t->object->rank-1] : 1;
  if( last%s->per_word || last%s->group ){
    return zt_break(err, "Q3",
                    "the last dimension, %llu, is no multiple of %llu codes in a word and %llu in"
                    " a group", last, s->per_word, s->group);
  }
  if( s->words.length!=elements/s->per_word ){
    return zt_break(err, "Q4", "%llu codes are %llu words, and there are %llu", elements,
                    elements/s->per_word, s->words.length);
  }
  if( scales->length!=groups || zeros->length!=groups ){
    return zt_break(err, "Q5", "there are %llu groups, %llu scales and %llu zeros", groups,
                    scales->length, zeros->length);
  }
  if( scales->dtype->class!=ZT_FLOAT || zeros->dtype->class==ZT_COMPLEX ){
    return zt_break(err, "Q5", "scales of %s and zeros of %s", scales->dtype->name,
                    zeros->dtype->name);
  }
  return SQLITE_OK;
}

static void quantized_prepare(quantized *s){
  zt_affine *a = &s->affine;
  a->codes.bits = (unsigned)s->bits;
  a->has_zeros = true;
  a->scales.length = a->zeros.length = a->scales.plain.length;
  a->scales.size = a->zeros.size = s->group;
  a->scales.inner = a->zeros.inner = 1;
  zt_codes_take(&a->codes, &s->words);
}

static int quantized_open(zt_tensor *t, zt_error *err){
  quantized *s = t->state = sqlite3_malloc64(sizeof(*s));
  zt_component words;
  zt_payload payload = zt_tensor_payload(t, &words);
  zt_text packing = { NULL, 0 };
  if( !s ) return zt_fail_nomem(err);
  memset(s, 0, sizeof(*s));
  t->dtype = zt_dtype_get(ZT_DTYPE_f32);
  if( quantized_read_attributes(t, s, &packing, err) ) return err->rc;
  if( zt_tensor_component(t, "packed_weight", "data", &words, err)
   || zt_array_open(&payload, &s->words, err) ) return err->rc;
  if( quantized_read_packing(s, packing, err)
   || zt_tensor_array(t, "scales", &s->affine.scales.plain, err) ) return err->rc;
  if( zt_tensor_array(t, "zeros", &s->affine.zeros.plain, err)
   || quantized_check_sizes(t, s, err) ) return err->rc;
  quantized_prepare(s);
  return SQLITE_OK;
}

static void quantized_close(zt_tensor *t){
  quantized *s = t->state;
  zt_array_close(&s->words);
  zt_affine_close(&s->affine);
}

static int quantized_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  return zt_affine_read(&((quantized*)t->state)->affine, first, n, out, err);
}

const zt_layout zt_layout_quantized = {
  .open = quantized_open, .close = quantized_close, .read = quantized_read
};
