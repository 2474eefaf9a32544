/*
** Arrays of numpy, versions 1.0, 2.0 and 3.0 (numpy.lib.format).
**
**   file    := array+ trailing        ; one, unless numpy.save() is called again; NY10: several end
**                                     ; with their file
**   array   := "\x93NUMPY" major minor length header data   ; NY1: major is 1, 2 or 3, minor 0
**   length  := u16 | u32              ; the header's; u16 in version 1.0. NY2: the header and the
**                                     ; bytes before it have at most ZT_NPY_HEADER_MAX, all present
**   header  := "{" (key ":" value ","?)* "}" space*   ; Latin-1, UTF-8 from 3.0 on (NY3)
**
** The header is a Python literal with this grammar, which is never evaluated (NY4):
**
**   value   := text | integer | "True" | "False" | "(" values ")" | "[" values "]"
**   values  := (value ("," value)* ","?)?    ; (value) without a comma is the value
**   text    := "u"? '"' character* '"', or in single quotes; escapes are Python's except \N
**   integer := digit+ "L"?                   ; L as in Python 2
**
**   NY5  the keys are descr, fortran_order and shape, each once
**   NY6  shape is a tuple of at most ZT_MAX_RANK integers
**   NY7  the product of the dimensions, and the bytes of all elements, fit 64 bits
**   NY8  fortran_order is True or False
**   NY9  descr is a type's text, or a list of fields: a name, or a tuple of title and name; a
**        descr; and perhaps a subarray's shape. Fields are nested at most NPY_DEPTH_MAX deep
**
** Other bytes after the data are ignored, as in numpy. An array of unknown type is listed with all
** bytes to the file's end. Other types without values have a known size. Objects are pickles, whose
** bytes are never interpreted.
*/
#include "container/npy.h"

#include <assert.h>
#include "container/dtype.h"
#include "container/manifest.h"
#include "container/npy_types.h"
#include "core/digest.h"
#include "core/host.h"
#include "core/renamed_duplicates.h"
#include "core/utf8.h"

#define NPY_MAGIC "\x93NUMPY"
#define NPY_WINDOW ((size_t)512)  /* Bytes that are read at once; most headers have fewer */
#define NPY_POLL 0xFFFu           /* Arrays between checks for an interrupt, less 1 */
#define NPY_DEPTH_MAX 24          /* Each level takes two of ZT_CBOR_MAX_DEPTH */
#define NPY_SPEC(section) "numpy.lib.format, " section

const zt_rule zt_rules_npy[] = {
  ZT_ERROR("NY1", "npy-version", "an array begins with its magic number, of version 1 to 3 (npy)",
           NPY_SPEC("Format Version 1.0")),
  ZT_ERROR("NY2", "npy-length", "a header is complete, and has at most 1 MiB (npy)",
           NPY_SPEC("Format Version 1.0")),
  ZT_ERROR("NY3", "npy-utf8", "a header of version 3.0 is UTF-8 (npy)",
           NPY_SPEC("Format Version 3.0")),
  ZT_ERROR("NY4", "npy-header", "a header is a dict of literals (npy)",
           NPY_SPEC("Format Version 1.0")),
  ZT_ERROR("NY5", "npy-keys",
           "a header has the keys descr, fortran_order and shape, each once (npy)",
           NPY_SPEC("Format Version 1.0")),
  ZT_ERROR("NY6", "npy-shape", "a shape is a tuple of at most 64 integers (npy)",
           NPY_SPEC("Format Version 1.0")),
  ZT_ERROR("NY7", "npy-elements", "elements and their bytes fit 64 bits (npy)", ZT_SPEC_OURS),
  ZT_ERROR("NY8", "npy-order", "fortran_order is True or False (npy)",
           NPY_SPEC("Format Version 1.0")),
  ZT_ERROR("NY9", "npy-descr", "descr is a type, or fields nested at most 24 deep (npy)",
           NPY_SPEC("Format Version 1.0")),
  ZT_WARNING("NY10", "npy-behind", "the last of several arrays ends its file (npy)",
             ZT_SPEC_SENSE),
  ZT_RULES_END
};

/* --- The literal --- */

typedef struct npy_reader {
  const uint8_t *base, *p, *end;
  bool utf8;
  char *scratch;                  /* Room for any text, unescaped */
  zt_text text;                   /* The last text, in scratch */
  zt_error *err;
} npy_reader;

static bool npy_break(npy_reader *r, const char *rule, const char *fault){
  zt_break(r->err, rule, "byte %llu of the header: %s", (unsigned long long)(r->p-r->base), fault);
  return false;
}

static bool npy_fail(npy_reader *r, const char *fault){
  return npy_break(r, "NY4", fault);
}

static void npy_skip_space(npy_reader *r){
  while( r->p<r->end && (*r->p==' ' || (*r->p>='\t' && *r->p<='\r' && *r->p!='\v')) ) r->p++;
}

/* The next character after spaces; 0 at the end. */
static char npy_peek(npy_reader *r){
  npy_skip_space(r);
  return (char)(r->p<r->end ? *r->p : 0);
}

/* Skip a character, which is not 0, if it is next. */
static bool npy_take(npy_reader *r, char ch){
  if( npy_peek(r)!=ch ) return false;
  r->p++;
  return true;
}

static bool npy_expect(npy_reader *r, char ch, const char *fault){
  return npy_take(r, ch) || npy_fail(r, fault);
}

/* Read that many hexadecimal digits of an escape. */
static bool npy_scan_hex(npy_reader *r, unsigned digits, uint32_t *out){
  *out = 0;
  for(; digits>0; digits--){
    int digit = r->p<r->end ? zt_hex_digit((char)*r->p) : -1;
    if( digit<0 ) return npy_fail(r, "an escape that ends early");
    *out = *out<<4 | (uint32_t)digit;
    r->p++;
  }
  return true;
}

/* Read an escape after its backslash. */
static bool npy_scan_escape(npy_reader *r, uint32_t *out){
  static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
  char ch = (char)(r->p<r->end ? *r->p++ : 0);
  const char *found = ch ? strchr(from, ch) : NULL;
  if( found ){
    *out = (uint32_t)(unsigned char)to[found-from];
  }else if( ch>='0' && ch<='7' ){
    *out = (uint32_t)(ch-'0');
    for(int i=0; i<2 && r->p<r->end && *r->p>='0' && *r->p<='7'; i++) *out = *out*8+(*r->p++-'0');
  }else if( ch=='x' || ch=='u' || ch=='U' ){
    if( !npy_scan_hex(r, ch=='x' ? 2 : ch=='u' ? 4 : 8, out) ) return false;
  }else{
    return npy_fail(r, "an escape that is not known");
  }
  if( *out>0x10FFFF || (*out>=0xD800 && *out<0xE000) || *out==0 ){
    return npy_fail(r, "an escaped character that is not valid");
  }
  return true;
}

/* Read a text into r->text. */
static bool npy_scan_text(npy_reader *r){
  char *to = r->scratch;
  uint8_t quote;
  if( npy_peek(r)=='u' || npy_peek(r)=='U' ) r->p++;
  if( r->p==r->end || (*r->p!='\'' && *r->p!='"') ) return npy_fail(r, "a text was expected");
  quote = *r->p++;
  for(;;){
    uint32_t u;
    if( r->p==r->end || *r->p=='\n' || *r->p=='\r' || *r->p=='\0' ){
      return npy_fail(r, "a text that does not end");
    }
    u = *r->p++;
    if( u==quote ) break;
    if( u=='\\' && !npy_scan_escape(r, &u) ) return false;
    /* A byte of UTF-8 stays as it is */
    if( r->utf8 && u>=0x80 && r->p[-1]==u ) *to++ = (char)u;
    else to += zt_utf8_put((uint8_t*)to, u);
  }
  r->text = (zt_text){ r->scratch, (size_t)(to-r->scratch) };
  return true;
}

static bool npy_scan_integer(npy_reader *r, uint64_t *out){
  const uint8_t *first;
  uint8_t ch = (uint8_t)npy_peek(r);
  *out = 0;
  first = r->p;
  if( ch=='-' ) return npy_fail(r, "a negative number");
  for(; r->p<r->end && *r->p>='0' && *r->p<='9'; r->p++){
    if( !zt_mul64(*out, 10, out) || !zt_add64(*out, (uint64_t)(*r->p-'0'), out) ){
      return npy_fail(r, "a number beyond 64 bits");
    }
  }
  if( r->p==first ) return npy_fail(r, "a number was expected");
  if( *first=='0' && r->p-first>1 ) return npy_fail(r, "a number that begins with 0");
  if( !r->utf8 && r->p<r->end && *r->p=='L' ) r->p++;   /* Python 2 wrote no version 3.0 */
  return true;
}

static bool npy_scan_bool(npy_reader *r, bool *out){
  size_t remaining;
  npy_skip_space(r);
  remaining = (size_t)(r->end-r->p);
  *out = remaining>=4 && memcmp(r->p, "True", 4)==0;
  if( !*out && (remaining<5 || memcmp(r->p, "False", 5)!=0) ){
    return npy_break(r, "NY8", "fortran_order is neither True nor False");
  }
  r->p += *out ? 4 : 5;
  return true;
}

/* NY6 */
static bool npy_scan_shape(npy_reader *r, uint64_t *shape, uint32_t *rank){
  bool comma = true;
  *rank = 0;
  if( npy_peek(r)!='(' ) return npy_break(r, "NY6", "a shape that is not a tuple");
  r->p++;
  while( npy_peek(r)!=')' ){
    if( !comma ) return npy_fail(r, "a comma was expected");
    if( *rank==ZT_MAX_RANK ){
      zt_break(r->err, "NY6", "more than %d dimensions", ZT_MAX_RANK);
      return false;
    }
    if( !npy_scan_integer(r, &shape[(*rank)++]) ) return false;
    comma = npy_take(r, ',');
  }
  r->p++;
  return *rank!=1 || comma || npy_break(r, "NY6", "a shape that is not a tuple, but a number");
}

/* --- descr --- */

/* Begin an array of indefinite length. */
static void npy_put_begin(zt_cbor_out *o){
  zt_cbor_put_items(o, (zt_span){ (const uint8_t*)"\x9f", 1 });
}

static void npy_put_end(zt_cbor_out *o){
  zt_cbor_put_items(o, (zt_span){ (const uint8_t*)"\xff", 1 });
}

static bool npy_fail_size(npy_reader *r){
  zt_break(r->err, "NY7", "the bytes of an element do not fit 64 bits");
  return false;
}

/* A subarray's shape, which may be a number. */
static bool npy_scan_subshape(npy_reader *r, zt_npy_descr *d, zt_cbor_out *out){
  uint64_t shape[ZT_MAX_RANK];
  uint32_t rank = 1;
  bool tuple = npy_peek(r)=='(';
  if( tuple ? !npy_scan_shape(r, shape, &rank) : !npy_scan_integer(r, shape) ) return false;
  if( tuple ) npy_put_begin(out);
  for(uint32_t i=0; i<rank; i++){
    zt_cbor_put_uint(out, shape[i]);
    if( d->sized && !zt_mul64(d->bytes, shape[i], &d->bytes) ) return npy_fail_size(r);
  }
  if( tuple ) npy_put_end(out);
  return true;
}

static bool npy_copy_text(npy_reader *r, zt_cbor_out *out){
  if( !npy_scan_text(r) ) return false;
  zt_cbor_put_text(out, r->text);
  return true;
}

/* A field's name, or a tuple of title and name. */
static bool npy_scan_name(npy_reader *r, zt_cbor_out *out){
  if( !npy_take(r, '(') ) return npy_copy_text(r, out);
  npy_put_begin(out);
  if( !npy_copy_text(r, out) || !npy_expect(r, ',', "a comma was expected")
   || !npy_copy_text(r, out) ) return false;
  npy_take(r, ',');
  npy_put_end(out);
  return npy_expect(r, ')', "a name that does not end");
}

static bool npy_scan_descr(npy_reader *r, int depth, zt_npy_descr *d, zt_cbor_out *out);

/* NY9: "(name, descr)" or "(name, descr, shape)"; a subarray has no name. */
static bool npy_scan_field(npy_reader *r, int depth, bool named, zt_npy_descr *d, zt_cbor_out *out){
  if( !npy_take(r, '(') ) return npy_break(r, "NY9", "a field that is not a tuple");
  npy_put_begin(out);
  if( named && (!npy_scan_name(r, out) || !npy_expect(r, ',', "a comma was expected")) ){
    return false;
  }
  if( !npy_scan_descr(r, depth+1, d, out) ) return false;
  if( npy_take(r, ',') && npy_peek(r)!=')' ){
    if( !npy_scan_subshape(r, d, out) ) return false;
    npy_take(r, ',');
  }
  npy_put_end(out);
  return npy_expect(r, ')', "a field that does not end");
}

/* The fields of a structured type, which has a size if all fields have one, and is unknown if one
** of them is. */
static bool npy_scan_fields(npy_reader *r, int depth, zt_npy_descr *d, zt_cbor_out *out){
  bool comma = true;
  *d = (zt_npy_descr){ .type = &zt_npy_structured, .sized = true };
  npy_put_begin(out);
  while( npy_peek(r)!=']' ){
    zt_npy_descr field;
    if( !comma ) return npy_fail(r, "a comma was expected");
    if( !npy_scan_field(r, depth, true, &field, out) ) return false;
    if( field.type==&zt_npy_unknown ) d->type = field.type;
    d->sized &= field.sized;
    if( d->sized && !zt_add64(d->bytes, field.bytes, &d->bytes) ) return npy_fail_size(r);
    comma = npy_take(r, ',');
  }
  r->p++;
  npy_put_end(out);
  return true;
}

static bool npy_scan_descr(npy_reader *r, int depth, zt_npy_descr *d, zt_cbor_out *out){
  if( depth>NPY_DEPTH_MAX ) return npy_break(r, "NY9", "fields are nested too deep");
  switch( npy_peek(r) ){
    case '[':
      r->p++;
      return npy_scan_fields(r, depth, d, out);
    case '(':
      return npy_scan_field(r, depth, false, d, out);
    case '\'': case '"': case 'u': case 'U':
      if( !npy_copy_text(r, out) ) return false;
      *d = zt_npy_type_of(r->text);
      return true;
    default:
      return npy_break(r, "NY9", "a type that is neither text nor a list of fields");
  }
}

/* --- The header --- */

bool zt_npy_probe(zt_span head){
  return head.n>=8 && memcmp(head.p, NPY_MAGIC, 6)==0;
}

/* NY1 and NY2 */
size_t zt_npy_length(zt_span head, zt_error *err){
  uint64_t length;
  assert( head.n>=ZT_NPY_HEAD && zt_npy_probe(head) );
  if( head.p[6]<1 || head.p[6]>3 || head.p[7]!=0 ){
    zt_break(err, "NY1", "npy version %u.%u cannot be read, 1.0, 2.0 and 3.0 can", head.p[6],
             head.p[7]);
    return 0;
  }
  length = head.p[6]==1 ? 10+(uint64_t)zt_le16(head.p+8) : 12+(uint64_t)zt_le32(head.p+8);
  if( length<ZT_NPY_HEAD ){
    zt_break(err, "NY2", "a header of %llu bytes, which has no room for a dict",
             (unsigned long long)length);
    return 0;
  }
  if( length>ZT_NPY_HEADER_MAX ){
    zt_break(err, "NY2", "a header of %llu bytes; %llu are the most", (unsigned long long)length,
             (unsigned long long)ZT_NPY_HEADER_MAX);
    return 0;
  }
  return (size_t)length;
}

/* Read the value of the key r->text. *have gets the key's bit. */
static bool npy_scan_value(npy_reader *r, zt_npy *npy, zt_npy_descr *d, uint64_t *shape,
                           zt_cbor_out *descr, unsigned *have){
  static const zt_text keys[] = {
    ZT_TEXT_INIT("descr"), ZT_TEXT_INIT("fortran_order"), ZT_TEXT_INIT("shape")
  };
  unsigned key = 0;
  while( key<3 && !zt_text_equal(r->text, keys[key]) ) key++;
  if( key==3 || (*have & 1u<<key) ){
    zt_break(r->err, "NY5", "key '%.*s' of the header %s", zt_shown(r->text), r->text.z,
             key==3 ? "is not descr, fortran_order or shape" : "stands twice");
    return false;
  }
  *have |= 1u<<key;
  if( !npy_expect(r, ':', "a colon was expected") ) return false;
  if( key==0 ) return npy_scan_descr(r, 0, d, descr);
  return key==1 ? npy_scan_bool(r, &npy->fortran) : npy_scan_shape(r, shape, &npy->rank);
}

static bool npy_scan_dict(npy_reader *r, zt_npy *npy, zt_npy_descr *d, uint64_t *shape,
                          zt_cbor_out *descr){
  unsigned have = 0;
  bool comma = true;
  if( !npy_expect(r, '{', "a dict was expected") ) return false;
  while( npy_peek(r)!='}' ){
    if( !comma ) return npy_fail(r, "a comma was expected");
    if( !npy_scan_text(r) || !npy_scan_value(r, npy, d, shape, descr, &have) ) return false;
    comma = npy_take(r, ',');
  }
  r->p++;
  if( have!=7 ){
    zt_break(r->err, "NY5", "the header has no key '%s'",
             !(have & 1) ? "descr" : !(have & 2) ? "fortran_order" : "shape");
    return false;
  }
  npy_skip_space(r);
  return r->p==r->end || npy_fail(r, "something follows behind the dict");
}

/* NY7 */
static int npy_measure(zt_npy *npy, const zt_npy_descr *d, const uint64_t *shape, zt_error *err){
  zt_object object = { .rank = npy->rank };
  memcpy(object.shape, shape, npy->rank*sizeof(*shape));
  if( !zt_object_count(&object)
   || (d->sized && !zt_mul64(object.elements, d->bytes, &npy->bytes)) ){
    return zt_break(err, "NY7", "the number of elements, or of their bytes, does not fit 64 bits");
  }
  return SQLITE_OK;
}

/* Set the fields that depend on the type alone. */
static void npy_set_type(const zt_npy_descr *d, zt_npy *out){
  out->sized = d->sized;
  out->big = d->big;
  out->dtype = d->sized ? d->type->dtype : (zt_text){ NULL, 0 };
  out->type = d->type->type;
  out->format = d->type->format;
  out->no_values = d->type->no_values;
  out->dense = zt_text_is(out->format, "dense");
}

void zt_npy_describe(zt_text descr, zt_npy *out){
  const zt_npy_descr d = descr.z ? zt_npy_type_of(descr)
                       : (zt_npy_descr){ .type = &zt_npy_structured };
  *out = (zt_npy){ .bytes = d.bytes };
  npy_set_type(&d, out);
}

int zt_npy_read(zt_span header, zt_npy *out, uint64_t *shape, zt_cbor_out *descr, zt_error *err){
  static const zt_text versions[] = {
    ZT_TEXT_INIT("1.0"), ZT_TEXT_INIT("2.0"), ZT_TEXT_INIT("3.0")
  };
  const size_t at = header.p[6]==1 ? 10 : 12;
  npy_reader r = { header.p, header.p+at, header.p+header.n, header.p[6]==3, NULL, { NULL, 0 },
                   err };
  zt_npy_descr d = { .type = &zt_npy_unknown };
  *out = (zt_npy){ .length = (uint32_t)header.n, .version = versions[header.p[6]-1] };
  if( r.utf8 && !zt_utf8_valid(r.p, (size_t)(r.end-r.p)) ){
    return zt_break(err, "NY3", "the header is not UTF-8");
  }
  r.scratch = sqlite3_malloc64(2*(uint64_t)header.n);   /* A byte of Latin-1 becomes two */
  if( !r.scratch ) return zt_fail_nomem(err);
  if( npy_scan_dict(&r, out, &d, shape, descr) && npy_measure(out, &d, shape, err)==SQLITE_OK ){
    npy_set_type(&d, out);
  }
  sqlite3_free(r.scratch);
  return err->rc;
}

static void npy_put_type(const zt_npy *npy, zt_span descr, zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_MAP, 3);
  zt_cbor_put_text(out, ZT_TEXT("descr"));
  zt_cbor_put_items(out, descr);
  zt_cbor_put_text(out, ZT_TEXT("fortran_order"));
  zt_cbor_put_bool(out, npy->fortran);
}

void zt_npy_put_attributes(const zt_npy *npy, zt_span descr, zt_cbor_out *out){
  npy_put_type(npy, descr, out);
  zt_cbor_put_text(out, ZT_TEXT("npy_version"));
  zt_cbor_put_text(out, npy->version);
}

void zt_npy_put_header(const zt_npy *npy, zt_span descr, const uint64_t *shape, zt_cbor_out *out){
  npy_put_type(npy, descr, out);
  zt_cbor_put_text(out, ZT_TEXT("shape"));
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, npy->rank);
  for(uint32_t i=0; i<npy->rank; i++) zt_cbor_put_uint(out, shape[i]);
}

/* --- Records --- */

int zt_npy_add(zt_builder *b, const zt_npy_record *r, const uint64_t *shape, bool *duplicate){
  zt_text name;
  uint32_t at, behind;
  if( zt_builder_keep(b, r, sizeof(*r), &at)
   || zt_builder_keep(b, shape, r->npy.rank*sizeof(*shape), &behind) ) return b->err->rc;
  name = (zt_text){ (const char*)b->container->kept.p+r->name, r->name_length };
  if( zt_builder_object(b, name, at, duplicate) || *duplicate ) return b->err->rc;
  return zt_builder_component(b, at);
}

static zt_npy_record npy_record_of(const zt_container *c, uint32_t i){
  zt_npy_record r;
  memcpy(&r, c->kept.p+c->objects.a[i], sizeof(r));
  return r;
}

void zt_npy_object(const zt_container *c, uint32_t i, zt_object *out){
  zt_npy_record r = npy_record_of(c, i);
  out->rank = 0;
  out->elements = 1;
  out->format = (zt_text){ NULL, 0 };
  out->unshaped = r.unread;
  if( r.foreign ){
    out->fault_rule = r.fault_rule;
    out->fault = (const char*)c->kept.p+r.fault;
  }
  if( r.unread ) return;
  out->format = r.npy.format;
  out->layout = r.npy.dense ? ZT_LAYOUT_DENSE : ZT_LAYOUT_UNKNOWN;
  out->no_values = r.npy.no_values;
  out->rank = r.npy.rank;
  memcpy(out->shape, c->kept.p+c->objects.a[i]+sizeof(r), r.npy.rank*sizeof(*out->shape));
  zt_object_count(out);
  if( r.npy.fortran ) zt_object_set_column_major(out);
  zt_manifest_set_map(&out->attributes, r.attributes, 0);
}

void zt_npy_set_type(const zt_npy *npy, zt_component *out){
  out->dtype = npy->dtype;
  out->type = npy->type;
  zt_dtype_decide(out);
  if( npy->big ) out->byte_order = ZT_TEXT("big");
  out->mixed = !npy->dense;
  if( !npy->dense && npy->sized ) out->least = npy->bytes;
}

void zt_npy_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                      zt_component *out){
  zt_npy_record r = npy_record_of(c, i);
  (void)k;
  (void)want;
  out->role = ZT_TEXT("data");
  zt_npy_set_type(&r.npy, out);
  out->offset = r.offset;
  out->length = r.length;
  out->unsized = out->scattered = r.unsized;   /* It was not found */
  out->skip = r.skip;
  out->behind = r.behind;
  out->encoding = r.encoding;
  if( !r.encoding.z ) out->encoding.z = (const char*)c->kept.p+r.encoding_at;
  out->codec = r.codec;
  out->has_decoded_length = r.codec!=ZT_CODEC_RAW && (!r.unread || r.foreign);
  out->decoded_length = r.decoded;
  if( r.digest ){
    out->digest = (zt_text){ (const char*)c->kept.p+r.digest, sizeof("crc32:00000000")-1 };
    out->digests = ZT_DIGEST_CRC32;
  }
  if( r.fault && !r.foreign ){
    out->fault_rule = r.fault_rule;
    out->fault = (const char*)c->kept.p+r.fault;
  }
}

/* --- Files --- */

static zt_probe npy_probe(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt_npy_probe(input->head) ? ZT_PROBE_YES : ZT_PROBE_NO;
}

/* The arrays of a file, while it is opened. */
typedef struct npy_file {
  zt_builder *b;
  zt_text stem;
  zt_renamed names;
  zt_cbor_out descr, attributes, headers;   /* An array's; all arrays' headers */
  uint64_t at;                   /* Where the next array may begin */
  uint32_t n;                    /* Arrays so far */
} npy_file;

/* NY2: the length of the header, of which the head is there; 0 on failure. */
static size_t npy_measure_header(const npy_file *f, zt_span head){
  const uint64_t there = f->b->container->file_size-f->at;
  size_t length;
  if( head.n<ZT_NPY_HEAD ){
    zt_break(f->b->err, "NY2", "the file ends within the header");
    return 0;
  }
  length = zt_npy_length(head, f->b->err);
  if( length<=there ) return length;
  zt_break(f->b->err, "NY2", "the header has %llu bytes, the file %llu",
           (unsigned long long)length, (unsigned long long)there);
  return 0;
}

static void npy_place(const npy_file *f, zt_npy_record *r){
  const uint64_t there = f->b->container->file_size-f->at-r->npy.length;
  r->offset = f->at+r->npy.length;
  r->length = r->npy.sized && r->npy.bytes<there ? r->npy.bytes : there;
  r->decoded = r->length;
  r->encoding = ZT_TEXT("raw");
  r->codec = ZT_CODEC_RAW;
}

/* The stem, or with a number behind it. */
static int npy_keep_name(npy_file *f, zt_npy_record *r){
  const zt_container *c = f->b->container;
  zt_text name = f->stem;
  if( f->n>0 && zt_renamed_name(&f->names, &c->names, c->kept.p, name, &name, f->b->err) ){
    return f->b->err->rc;
  }
  r->name_length = (uint32_t)name.n;
  return zt_builder_keep(f->b, name.z, name.n, &r->name);
}

/* Add the array with that header. */
static int npy_add(npy_file *f, zt_span header){
  zt_builder *b = f->b;
  zt_container *c = b->container;
  zt_npy_record r = { 0 };
  uint64_t shape[ZT_MAX_RANK];
  zt_span descr;
  bool duplicate;
  zt_cbor_out_reset(&f->descr);
  zt_cbor_out_reset(&f->attributes);
  if( zt_npy_read(header, &r.npy, shape, &f->descr, b->err) ) return b->err->rc;
  npy_place(f, &r);
  descr = (zt_span){ f->descr.p, f->descr.n };
  zt_npy_put_attributes(&r.npy, descr, &f->attributes);
  zt_npy_put_header(&r.npy, descr, shape, &f->headers);
  if( b->err->rc || zt_builder_keep(b, f->attributes.p, f->attributes.n, &r.attributes)
   || npy_keep_name(f, &r) || zt_npy_add(b, &r, shape, &duplicate) ) return b->err->rc;
  if( f->n++==0 ){
    c->version = r.npy.version;
    c->stem = (zt_key){ r.name, r.name_length };
  }
  f->at = r.offset+r.length;
  return SQLITE_OK;
}

/* The first array's header becomes the first kept bytes. */
static int npy_add_first(npy_file *f, zt_span head){
  const size_t length = npy_measure_header(f, head);
  if( length==0 || zt_builder_read(f->b, 0, length) ) return f->b->err->rc;
  return npy_add(f, zt_container_kept(f->b->container));
}

/* numpy.save() may be called several times with one file. *is: another array follows. */
static int npy_add_next(npy_file *f, bool *is){
  zt_error *err = f->b->err;
  const uint64_t there = f->b->container->file_size-f->at;
  uint8_t window[NPY_WINDOW], *header = window;
  size_t n = there<sizeof(window) ? (size_t)there : sizeof(window), length;
  *is = false;
  if( zt_source_read(f->b->source, f->at, window, n, err) ) return err->rc;
  if( !zt_npy_probe((zt_span){ window, n }) ) return SQLITE_OK;
  *is = true;
  length = npy_measure_header(f, (zt_span){ window, n });
  if( length>n ){
    header = sqlite3_malloc64(length);
    if( !header ) return zt_fail_nomem(err);
    zt_source_read(f->b->source, f->at, header, length, err);
  }
  if( length>0 && !err->rc ) npy_add(f, (zt_span){ header, length });
  if( header!=window ) sqlite3_free(header);
  return err->rc;
}

/* NY10: as a gap behind a single array. */
static int npy_note_behind(const npy_file *f){
  const uint64_t behind = f->b->container->file_size-f->at;
  if( behind==0 ) return SQLITE_OK;
  return zt_builder_note_file(f->b, "NY10", "%llu bytes follow behind the last array", behind);
}

/* The manifest is the header, or an array of all headers. */
static int npy_keep_manifest(const npy_file *f){
  zt_builder *b = f->b;
  zt_cbor_out head = { .err = b->err };
  uint32_t at, headers;
  zt_cbor cbor;
  if( f->n>1 ) zt_cbor_put_head(&head, ZT_CBOR_ARRAY, f->n);
  if( !b->err->rc && zt_builder_keep(b, head.p, head.n, &at)==SQLITE_OK
   && zt_builder_keep(b, f->headers.p, f->headers.n, &headers)==SQLITE_OK ){
    cbor = zt_manifest_decoder(b->container, at, 0, b->err);
    zt_manifest_read(&cbor, &b->container->manifest);
  }
  zt_cbor_out_clear(&head);
  return b->err->rc;
}

/* Add all arrays. */
static int npy_read_all(npy_file *f, zt_span head){
  zt_error *err = f->b->err;
  bool another = true;
  if( npy_add_first(f, head) ) return err->rc;
  while( another && f->b->container->file_size>f->at ){
    if( (f->n & NPY_POLL)==0 && zt_interrupt_check(f->b->interrupt, err) ) return err->rc;
    if( npy_add_next(f, &another) ) return err->rc;
  }
  f->b->container->own_end = f->at;
  if( f->n==1 ) return SQLITE_OK;
  f->b->container->gap = UINT64_MAX;   /* Headers */
  return npy_note_behind(f);
}

static int npy_open(zt_builder *b, const zt_head_tail *input){
  npy_file f = {
    .b = b, .stem = zt_container_stem(zt_source_plain_path(input->source)),
    .descr = { .err = b->err }, .attributes = { .err = b->err }, .headers = { .err = b->err }
  };
  b->container->named_by_path = true;
  if( npy_read_all(&f, input->head)==SQLITE_OK ) npy_keep_manifest(&f);
  zt_renamed_clear(&f.names);
  zt_cbor_out_clear(&f.descr);
  zt_cbor_out_clear(&f.attributes);
  zt_cbor_out_clear(&f.headers);
  return b->err->rc;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         versions 1.0 to 3.0
**   known by     `\x93NUMPY`
**   version      `1.0` ...
**   manifest     the header's dict; of several arrays an array
**   attributes   none
**   objects      one, the file's stem; in a BLOB `data`; of several arrays the next ones with `#2`
**                ...
**   of objects   `descr`, `fortran_order`, `npy_version`
**   components   one, `data`: raw
*/
const zt_driver zt_driver_npy = {
  .name = "npy",
  .format = "npy",
  .files = "*.npy *.eqx",
  .rules = { zt_rules_npy },
  .probe = npy_probe,
  .open = npy_open,
  .object = zt_npy_object,
  .component = zt_npy_component,
  .steps = &zt_manifest_steps,
};
