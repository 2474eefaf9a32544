/* Checks that encoders share. See encoder_checks.h. */
#include "container/encoder_checks.h"

#include "core/host.h"
#include "core/utf8.h"

/* Fails over a name. Its place in messages is that of objects and components, not of attributes. */
static int encoder_fail_name(const char *format, const char *kind, zt_text name, const char *rule,
                             zt_error *err){
  if( strcmp(kind, "attribute")!=0 ){
    return zt_fail(err, SQLITE_ERROR, "%s names %s; rename the %s", format, rule, kind);
  }
  return zt_fail(err, SQLITE_ERROR, "%s names %s; rename the attribute '%.*s'", format, rule,
                 zt_shown(name), name.z);
}

int zt_encoder_check_name(const char *format, const char *kind, zt_text name, uint64_t most,
                          zt_error *err){
  if( name.n>most ){
    return zt_fail(err, SQLITE_ERROR,
                   "%s names have at most %llu bytes: this %s's has %llu; rename it", format,
                   (unsigned long long)most, kind, (unsigned long long)name.n);
  }
  if( zt_has_nul(name.z, name.n) ){
    return encoder_fail_name(format, kind, name, "cannot hold U+0000", err);
  }
  if( !zt_utf8_valid((const uint8_t*)name.z, name.n) ){
    return encoder_fail_name(format, kind, name, "are UTF-8", err);
  }
  return SQLITE_OK;
}

/* --- Types --- */

static unsigned encoder_bits(const zt_dtype *dtype){
  return dtype->class==ZT_BOOL ? 1 : 8*dtype->bytes/dtype->elements;
}

/* True if the type has every value of another one. */
static bool encoder_covers(const zt_dtype *dtype, const zt_dtype *other){
  const unsigned bits = encoder_bits(dtype), needed = encoder_bits(other);
  if( dtype->class==ZT_FLOAT || other->class==ZT_FLOAT ) return dtype->class==other->class;
  if( dtype->class==ZT_COMPLEX || other->class==ZT_COMPLEX ) return dtype->class==other->class;
  if( other->class==ZT_INT ) return dtype->class==ZT_INT && bits>=needed;
  return dtype->class==ZT_INT ? bits>needed : bits>=needed;
}

/* The type to convert to: the narrowest that the format has, and that has all values, or most (u64
** as i64, complex128 as complex64). NULL: there is none. */
static const zt_dtype *encoder_cure(const zt_dtype *element, zt_encoder_holds holds){
  static const zt_dtype_id ids[] = {
    ZT_DTYPE_u8, ZT_DTYPE_i8, ZT_DTYPE_i16, ZT_DTYPE_i32, ZT_DTYPE_i64, ZT_DTYPE_f32,
    ZT_DTYPE_complex64
  };
  for(size_t i=0; i<sizeof(ids)/sizeof(*ids); i++){
    const zt_dtype *dtype = zt_dtype_get(ids[i]);
    if( holds(ids[i]) && encoder_covers(dtype, element) ) return dtype;
  }
  return element->class==ZT_UINT ? zt_dtype_get(ZT_DTYPE_i64) : NULL;
}

int zt_encoder_check_dtype(const char *format, const zt_dtype *element, zt_encoder_holds holds,
                           zt_error *err){
  const zt_dtype *cure;
  if( !element ){
    return zt_fail(err, SQLITE_ERROR, "%s cannot hold bytes without a type; leave it out", format);
  }
  if( holds(element->id) ) return SQLITE_OK;
  cure = encoder_cure(element, holds);
  if( cure ){
    return zt_fail(err, SQLITE_ERROR, "%s cannot hold %s; give dtype '%s'", format, element->name,
                   cure->name);
  }
  return zt_fail(err, SQLITE_ERROR, "%s cannot hold %s, nor other complex numbers; leave it out",
                 format, element->name);
}

/* --- Layouts --- */

static const char *const encoder_layouts[ZT_LAYOUT_COUNT] = {
  [ZT_LAYOUT_CSR] = "sparse_csr", [ZT_LAYOUT_COO] = "sparse_coo", [ZT_LAYOUT_CSC] = "sparse_csc",
  [ZT_LAYOUT_BSR] = "sparse_bsr", [ZT_LAYOUT_BSC] = "sparse_bsc",
  [ZT_LAYOUT_QUANTIZED_GROUP] = "quantized_group", [ZT_LAYOUT_MX] = "zt.mx/1",
  [ZT_LAYOUT_QUANT_GROUP] = "zt.quant_group/1"
};

int zt_encoder_fail_layout(const char *format, const zt_draft_object *object, zt_error *err){
  const char *name = encoder_layouts[object->layout];
  if( object->layout==ZT_LAYOUT_GGML ){
    return zt_fail(err, SQLITE_ERROR, "%s cannot hold blocks of %s; give dtype 'f32'", format,
                   object->blocks->name.z);
  }
  if( object->layout==ZT_LAYOUT_UNKNOWN ){
    return zt_fail(err, SQLITE_ERROR, "%s cannot hold a layout that is not known; leave it out",
                   format);
  }
  return zt_fail(err, SQLITE_ERROR, "%s cannot hold %s; format='dense' of zt_writer writes it"
                 " dense", format, name ? name : "this layout");
}

int zt_encoder_check_dense(const char *format, const zt_draft *draft, uint32_t number,
                           zt_encoder_holds holds, zt_error *err){
  zt_draft_object object;
  zt_draft_component component;
  zt_draft_object_get(draft, number, &object);
  if( object.layout!=ZT_LAYOUT_DENSE ) return zt_encoder_fail_layout(format, &object, err);
  for(uint32_t at=0; (at = zt_draft_next_component(draft, number, at, &component))!=0; ){
    if( !zt_text_is(component.role, "data") ){
      return zt_fail(err, SQLITE_ERROR,
                     "a dense tensor has the component 'data' alone, and no '%.*s'",
                     zt_shown(component.role), component.role.z);
    }
    if( zt_encoder_check_dtype(format, component.element, holds, err) ) return err->rc;
  }
  return SQLITE_OK;
}

int zt_encoder_fail_attribute(const char *format, zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "%s cannot hold attributes of an object; drop='attributes'"
                 " leaves them out", format);
}
