/*
** The layouts of ggml's blocks: gguf.q4_k and the like, and gguf.q4_k/1. `data` has the blocks in
** row-major order. A row of the last dimension is a whole number of blocks. Elements are f32
** (ggml.h).
**
**   GB1  the elements of such a block are defined
**   GB2  the last dimension is a multiple of a block's elements
**   GB3  elems_per_block and block_bytes, where they are stated, are those of the type
**   GB4  data is of u8
**   GB5  the byte order within blocks is known: it is little-endian, but in big-endian files it
**        depends on the writer, as does that of bf16 in GGUF (container/gguf.c)
**   GB6  data has as many bytes as the shape needs
**   GB7  there is no other component
*/
#include "core/host.h"
#include "tensor/ggml.h"
#include "tensor/quantized_groups.h"

#define GGML_BYTES ((size_t)32 << 10)   /* Bytes of blocks read at once */
#define GGML_ELEMENTS 256               /* Elements of the largest block */

typedef struct ggml_state {
  const zt_ggml_type *type;
  zt_ggml_decoder *decode;
  zt_array data;
  float one[GGML_ELEMENTS];   /* The elements of a block that is read in part */
  uint8_t bytes[GGML_BYTES];
} ggml_state;

enum { GGML_PER_BLOCK, GGML_BLOCK_BYTES, GGML_SETTINGS };

static int ggml_check_settings(const zt_tensor *t, const zt_ggml_type *type, zt_error *err){
  zt_setting a[GGML_SETTINGS] = {
    [GGML_PER_BLOCK] = { .name = "elems_per_block", .type = ZT_SETTING_UINT, .optional = true },
    [GGML_BLOCK_BYTES] = { .name = "block_bytes", .type = ZT_SETTING_UINT, .optional = true },
  };
  const unsigned known[GGML_SETTINGS] = { type->elements, type->bytes };
  if( zt_settings_read(t, "GB3", a, GGML_SETTINGS, err) ) return err->rc;
  for(int i=0; i<GGML_SETTINGS; i++){
    if( !a[i].there || a[i].u==known[i] ) continue;
    return zt_break(err, "GB3", "%s is %llu, and that of %s is %u", a[i].name, a[i].u,
                    type->name.z, known[i]);
  }
  return SQLITE_OK;
}

static int ggml_check_data(zt_tensor *t, zt_error *err){
  zt_component component;
  const zt_dtype *dtype;
  if( zt_tensor_dtype(t, "data", &dtype, err)
   || zt_tensor_component(t, "data", NULL, &component, err) ) return err->rc;
  if( dtype->id!=ZT_DTYPE_u8 ) return zt_break(err, "GB4", "data is of u8, not %s", dtype->name);
  if( zt_text_is(component.byte_order, "big") ){
    return zt_break(err, "GB5",
                    "the order of the bytes in a big-endian file's blocks is not known");
  }
  t->anywhere = zt_tensor_is_plain(&component);
  return SQLITE_OK;
}

/* Return the bytes of all blocks (GB1, GB2). */
static int ggml_measure(const zt_tensor *t, const ggml_state *s, uint64_t *out, zt_error *err){
  const zt_object *o = t->object;
  const zt_ggml_type *type = s->type;
  if( !s->decode ){
    return zt_break(err, "GB1", "no specification defines the elements of %s", type->name.z);
  }
  if( o->rank==0 ) return zt_break(err, "GB2", "a scalar is no block of %s", type->name.z);
  if( o->shape[o->rank-1]%type->elements ){
    return zt_break(err, "GB2", "the last dimension, of %llu, is no multiple of %u",
                    o->shape[o->rank-1], type->elements);
  }
  if( !zt_mul64(o->elements/type->elements, type->bytes, out) ){
    return zt_break(err, "GB6", "%llu elements of %s are more than 2^64 bytes", o->elements,
                    type->name.z);
  }
  return SQLITE_OK;
}

static int ggml_open(zt_tensor *t, zt_error *err){
  static const char *const roles[] = { "data", NULL };
  uint64_t bytes = 0;
  ggml_state *s = t->state = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  s->data = (zt_array){ 0 };
  s->type = t->object->blocks;
  s->decode = zt_ggml_decoder_of(s->type);
  t->dtype = zt_dtype_get(ZT_DTYPE_f32);
  if( ggml_measure(t, s, &bytes, err) || ggml_check_settings(t, s->type, err)
   || ggml_check_data(t, err) ) return err->rc;
  if( zt_tensor_array_of(t, "data", bytes, "GB6", &s->data, err) ) return err->rc;
  return zt_groups_check_roles(t, "GB7", roles, err);
}

static void ggml_close(zt_tensor *t){
  zt_array_close(&((ggml_state*)t->state)->data);
}

static int ggml_read_blocks(ggml_state *s, uint64_t first, size_t n, float *out, zt_error *err){
  if( zt_array_read(&s->data, first*s->type->bytes, n*s->type->bytes, s->bytes, err)==SQLITE_OK ){
    s->decode(s->bytes, out, n);
  }
  return err->rc;
}

static int ggml_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  ggml_state *s = t->state;
  const size_t elements = s->type->elements, most = GGML_BYTES/s->type->bytes;
  float *to = out;
  if( n==0 ) return zt_array_check_empty(&s->data, err);
  for(size_t m; n>0; first+=m, to+=m, n-=m){
    size_t skip = (size_t)(first%elements), blocks = n/elements;
    if( skip==0 && blocks>0 ){
      if( blocks>most ) blocks = most;
      m = blocks*elements;
      if( ggml_read_blocks(s, first/elements, blocks, to, err) ) return err->rc;
    }else{
      m = n<elements-skip ? n : elements-skip;
      if( ggml_read_blocks(s, first/elements, 1, s->one, err) ) return err->rc;
      memcpy(to, s->one+skip, m*sizeof(*to));
    }
  }
  return SQLITE_OK;
}

const zt_layout zt_layout_ggml = { .open = ggml_open, .close = ggml_close, .read = ggml_read };
