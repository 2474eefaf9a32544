/*
** Writing npy as numpy.save does: version 1.0, row-major, little-endian.
**
**   file   := "\x93NUMPY" 1 0 length:u16le header elements
**   header := {'descr': TEXT, 'fortran_order': False, 'shape': (N, ...), }, then spaces up to the
**             width that a first dimension of 21 digits takes, then one or more spaces and "\n" up
**             to a multiple of 64 bytes of the file
*/
#include "container/npy_encoder.h"

#include "container/encoder_checks.h"
#include "container/encoder_kept.h"
#include "core/host.h"

#define NPY_BEFORE 10             /* Bytes in front of the header's text */
#define NPY_ALIGN 64
#define NPY_GROWTH 21             /* Digits that the first dimension has room for */
#define NPY_HEADER 2048           /* Exceeds the longest, of 64 dimensions with 20 digits */

static bool npy_holds(zt_dtype_id id){ return zt_dtype_numpy(id).n>0; }

int zt_npy_check_object(const char *format, const zt_draft *draft, uint32_t object, zt_error *err){
  zt_draft_object o;
  zt_draft_object_get(draft, object, &o);
  if( o.kept ) return SQLITE_OK;
  return zt_encoder_check_dense(format, draft, object, npy_holds, err);
}

int zt_npy_fail_attribute(const char *format, const zt_draft_attribute *attribute, bool of_object,
                          zt_error *err){
  if( of_object ) return zt_encoder_fail_attribute(format, err);
  return zt_fail(err, SQLITE_ERROR, "%s cannot hold attributes; leave '%.*s' out", format,
                 zt_shown(attribute->key), attribute->key.z);
}

/* Append formatted text at *n. */
#define NPY_PUT(out, n, ...) do{ \
    sqlite3_snprintf(NPY_HEADER-(int)*(n), (char*)(out)+*(n), __VA_ARGS__); \
    *(n) += strlen((char*)(out)+*(n)); \
  }while( 0 )

static void npy_put_shape(const zt_draft_object *object, uint8_t out[NPY_HEADER], size_t *n){
  size_t before, digits = NPY_GROWTH;
  for(uint32_t i=0; i<object->rank; i++){
    before = *n;
    NPY_PUT(out, n, "%s%llu", i ? ", " : "", (unsigned long long)object->shape[i]);
    if( i==0 ) digits = *n-before;
  }
  NPY_PUT(out, n, "%s), }%*s", object->rank==1 ? "," : "", (int)(NPY_GROWTH-digits), "");
}

/* Write the header of an object, and return its length. */
static size_t npy_put_header(const zt_draft *draft, uint32_t number, uint8_t out[NPY_HEADER]){
  zt_draft_object object;
  zt_draft_component data;
  size_t n = NPY_BEFORE, spaces;
  zt_draft_object_get(draft, number, &object);
  zt_draft_data(draft, number, &data);
  NPY_PUT(out, &n, "{'descr': '%s', 'fortran_order': False, 'shape': (",
          zt_dtype_numpy(data.element->id).z);
  npy_put_shape(&object, out, &n);
  spaces = NPY_ALIGN-(n+1)%NPY_ALIGN;
  memset(out+n, ' ', spaces);
  n += spaces;
  out[n++] = '\n';
  memcpy(out, "\x93NUMPY\x01\x00", 8);   /* NOLINT: bytes, and no text */
  zt_put_le(out+8, n-NPY_BEFORE, 2);
  return n;
}

int zt_npy_write_array(zt_encoder_run *run, uint32_t object, zt_span kept, zt_stored *out,
                       uint64_t *decoded, zt_error *err){
  uint8_t header[NPY_HEADER];
  zt_draft_component data;
  const uint32_t place = zt_draft_data(run->draft, object, &data);
  zt_draft_object o;
  zt_draft_object_get(run->draft, object, &o);
  run->prefix = o.kept ? kept : (zt_span){ header, npy_put_header(run->draft, object, header) };
  *decoded = run->prefix.n+data.decoded_length;
  run->part(run, object, place, out, err);
  run->prefix = (zt_span){ NULL, 0 };
  return err->rc;
}

/* --- npy --- */

static int npy_check_object(const zt_draft *draft, uint32_t object, zt_error *err){
  return zt_npy_check_object("npy", draft, object, err);
}

static int npy_check_attribute(const zt_draft_attribute *attribute, bool of_object,
                               zt_error *err){
  return zt_npy_fail_attribute("npy", attribute, of_object, err);
}

static int npy_check_draft(const zt_draft *draft, zt_error *err){
  const uint32_t n = zt_draft_objects(draft);
  if( n==1 ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "npy holds one tensor, and there are %u; npz holds any number",
                 n);
}

static int npy_write(zt_encoder_run *run, zt_error *err){
  zt_span header = { NULL, 0 };
  zt_component data;
  zt_stored stored;
  uint64_t decoded;
  if( run->kept ){   /* Its elements follow the header, which is kept */
    zt_container_component(run->kept, 0, 0, ZT_COMPONENT_OFFSET, &data);
    header = (zt_span){ run->kept->kept.p, (size_t)data.offset };
  }
  return zt_npy_write_array(run, run->order[0], header, &stored, &decoded, err);
}

extern const zt_driver zt_driver_npy;

const zt_encoder zt_encoder_npy = {
  .name = "npy", .driver = &zt_driver_npy, .suffix = ".npy",
  .defaults = { .codec = ZT_CODEC_RAW }, .codecs = 1u<<ZT_CODEC_RAW,
  .rules = ZT_RULE_CANONICAL_VALUES,
  .keeps = zt_encoder_keeps_all,
  .check_object = npy_check_object, .check_attribute = npy_check_attribute,
  .check_draft = npy_check_draft, .compare = zt_draft_compare_names, .write = npy_write
};
