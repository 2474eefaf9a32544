/* Readers of CBOR maps with known keys, and rules that generations share. See schema.h. */
#include "container/schema.h"

#include "container/dtype.h"

#define SCHEMA_HEADER 8       /* Bytes before the data area */
#define SCHEMA_SIZE_FIELD 8   /* Bytes of the manifest's size */
#define SCHEMA_ALIGNMENT 64

const zt_rule zt_rules_schema[] = {
  ZT_ERROR("M1", "footer", "header, manifest size and footer fit the file", ZT_SPEC_ZTENSOR_1("4")),
  ZT_ERROR("M2", "manifest-size", "the manifest has 1 byte to 1 GiB, and fits the file",
           ZT_SPEC_ZTENSOR_1("5")),
  ZT_ERROR("S1", "field-name", "keys of the manifest's own maps are text", ZT_SPEC_ZTENSOR_1("1")),
  ZT_ERROR("S2", "duplicate-field", "no key of a map occurs twice", ZT_SPEC_CBOR("3.7")),
  ZT_ERROR("S3", "missing-field", "required fields are present", ZT_SPEC_ZTENSOR_1("1")),
  ZT_ERROR("S6", "field-type", "a field has its specified type", ZT_SPEC_ZTENSOR_1("1")),
  ZT_ERROR("H1", "shape", "a shape has at most 64 unsigned integers", ZT_SPEC_ZTENSOR_1("1")),
  ZT_ERROR("H2", "shape-overflow", "the product of the dimensions fits 64 bits", ZT_SPEC_OURS),
  ZT_ERROR("R1", "alignment", "offsets are multiples of 64", ZT_SPEC_ZTENSOR_1("4")),
  ZT_ERROR("R2", "range",
           "components lie between header and manifest, in zTensor 2 between header and footer",
           ZT_SPEC_ZTENSOR_1("5")),
  ZT_SAME("R3", "range"),
  ZT_RULES_END
};

static bool schema_is_field(const zt_field *field, zt_text key){
  return field->n==key.n && zt_equal(field->name, key.z, key.n);
}

/* The index of the field of that name; -1 if there is none. The search begins at the expected
** field. */
static int schema_find(const zt_fields *f, zt_text key){
  for(int i=f->expected; i<f->schema->n; i++){
    if( schema_is_field(&f->schema->fields[i], key) ) return i;
  }
  for(int i=0; i<f->expected; i++) if( schema_is_field(&f->schema->fields[i], key) ) return i;
  return -1;
}

/* S2: read the whole map again, to compare the unknown keys. */
static void schema_check_unknown(zt_fields *f){
  zt_cbor again = *f->c;
  again.p = f->start;
  if( !zt_cbor_skip_unique(&again, "S2", f->schema->what) ) f->c->p = f->c->end;
}

/* S3: name the first missing field. */
static void schema_fail_missing(zt_fields *f, uint32_t missing){
  int i = 0;
  while( !(missing>>i & 1) ) i++;
  zt_cbor_fail(f->c, "S3", "%s has no '%s'", f->schema->what, f->schema->fields[i].name);
}

/* G3: check the key that was just read, at `at`. It follows the last known field unless an unknown
** key came before. */
static bool schema_check_order(zt_fields *f, const uint8_t *at){
  zt_span key = { at, (size_t)(f->c->p-at) }, last = f->last;
  uint8_t buffer[ZT_FIELD_MAX+1];
  if( !last.p && f->expected>0 ){
    const zt_field *field = &f->schema->fields[f->expected-1];
    buffer[0] = field->head;
    memcpy(buffer+1, field->name, field->n);
    last = (zt_span){ buffer, 1u+field->n };
  }
  f->last = key;
  if( !last.p || zt_cbor_ascends(last.p, last.n, key.p, key.n) ) return true;
  f->c->p = at;
  return zt_cbor_fail(f->c, "G3", "a map's keys do not ascend");
}

int zt_fields_next_slow(zt_fields *f){
  zt_cbor *c = f->c;
  while( zt_cbor_more(c, &f->level) ){
    const uint8_t *at = c->p;
    bool is_text = zt_cbor_peek(c)==ZT_CBOR_TEXT;
    zt_text key;
    int i;
    if( !is_text && !c->strict && !c->trusted ){
      zt_cbor_fail_type(c, "S1", "a text key");
      return -1;
    }
    if( !(is_text ? zt_cbor_text(c, &key) : zt_cbor_skip(c))
     || (c->strict && !schema_check_order(f, at)) ) return -1;
    i = is_text ? schema_find(f, key) : -1;
    if( i<0 ){
      f->unknown++;
      zt_cbor_skip(c);   /* S5 */
      continue;
    }
    if( f->seen>>i & 1 ){
      c->p = at;
      zt_cbor_fail(c, "S2", "'%s' stands twice in %s", f->schema->fields[i].name, f->schema->what);
      return -1;
    }
    f->seen |= 1u<<i;
    f->expected = i+1;
    if( !(f->schema->fields[i].flags & ZT_NULLABLE) || !zt_cbor_null(c) ){
      return f->schema->fields[i].id;
    }
    f->nulls |= 1u<<i;   /* S4 */
  }
  if( c->err->rc || c->trusted ) return -1;
  if( f->unknown>1 && !c->strict ) schema_check_unknown(f);
  if( f->schema->required & ~(f->seen & ~f->nulls) ){
    schema_fail_missing(f, f->schema->required & ~(f->seen & ~f->nulls));
  }
  return -1;
}

/* S6. */
bool zt_fields_fail(zt_fields *f, const char *type){
  char *expected = sqlite3_mprintf("%s for '%s'", type, f->schema->fields[f->expected-1].name);
  if( expected ) zt_cbor_fail_type(f->c, "S6", expected);
  else zt_fail_nomem(f->c->err);
  sqlite3_free(expected);
  return false;
}

bool zt_schema_has(const zt_schema *schema, zt_text name){
  for(int i=0; i<schema->n; i++) if( schema_is_field(&schema->fields[i], name) ) return true;
  return false;
}

bool zt_schema_name_slow(zt_cbor *c, zt_text *out){
  const uint8_t *at = c->p;
  *out = ZT_TEXT("");
  if( zt_cbor_peek(c)!=ZT_CBOR_TEXT ) return zt_cbor_fail_type(c, "S1", "text");
  if( !zt_cbor_text(c, out) ) return false;
  if( c->trusted || !zt_has_nul(out->z, out->n) ) return true;
  c->p = at;
  return zt_cbor_fail(c, "N1", "a name with U+0000 in it");
}

static bool schema_read_dimensions(zt_cbor *c, zt_cbor_level *level, zt_object *out){
  for(out->rank=0; zt_cbor_more(c, level); out->rank++){
    if( out->rank==ZT_MAX_RANK ){
      return zt_cbor_fail(c, "H1", "a shape of more than %d dimensions", ZT_MAX_RANK);
    }
    if( zt_cbor_peek(c)!=ZT_CBOR_UINT ){
      return zt_cbor_fail_type(c, "H1", "an unsigned integer in 'shape'");
    }
    if( !zt_cbor_uint(c, &out->shape[out->rank]) ) return false;
  }
  return c->err->rc==SQLITE_OK;
}

bool zt_schema_shape(zt_cbor *c, zt_object *out){
  const uint8_t *at = c->p;
  zt_cbor_level level;
  if( !zt_schema_enter(c, ZT_CBOR_ARRAY, "H1", "an array for 'shape'", &level)
   || !schema_read_dimensions(c, &level, out) ) return false;
  if( zt_object_count(out) ) return true;
  c->p = at;
  return zt_cbor_fail(c, "H2", "the product of the shape is beyond 64 bits");
}

/* Pass over an unsigned integer in its shortest form, of which 9 bytes may be read. NULL: something
** else stands there. */
static const uint8_t *schema_pass_uint(const uint8_t *p, uint64_t *out){
  unsigned width;
  p = zt_cbor_pass_uint(p, out, &width);
  return p && (width==0 || zt_cbor_is_shortest(*out, width)) ? p : NULL;
}

/* Read a blob as writers encode it. False: it is encoded otherwise, and nothing was read. */
static bool schema_blob_usual(zt_cbor *c, zt_component *out){
  const uint8_t *p = c->p;
  uint64_t offset, length;
  if( c->end-p<1+2*ZT_CBOR_HEAD || *p!=(ZT_CBOR_ARRAY<<5 | 2)
   || c->depth>=c->max_depth ) return false;
  p = schema_pass_uint(p+1, &offset);
  if( p ) p = schema_pass_uint(p, &length);
  if( !p ) return false;
  out->offset = offset;
  out->length = length;
  c->p = p;
  return true;
}

bool zt_schema_blob(zt_cbor *c, zt_component *out){
  zt_cbor_level level;
  const uint8_t *at = c->p;
  if( schema_blob_usual(c, out) ) return true;
  if( !zt_schema_enter(c, ZT_CBOR_ARRAY, "S6", "an array for 'blob'", &level) ) return false;
  if( level.remaining!=2 ){
    c->p = at;
    return zt_cbor_fail(c, "S6", "a blob of %llu numbers, not offset and length", level.remaining);
  }
  for(int i=0; i<2; i++){
    if( !zt_cbor_more(c, &level) ) return false;
    if( zt_cbor_peek(c)!=ZT_CBOR_UINT ){
      return zt_cbor_fail_type(c, "S6", "an unsigned integer in 'blob'");
    }
    if( !zt_cbor_uint(c, i ? &out->length : &out->offset) ) return false;
  }
  return !zt_cbor_more(c, &level) && c->err->rc==SQLITE_OK;
}

bool zt_schema_range(zt_cbor *c, const zt_container *container, uint64_t offset, uint64_t length){
  uint64_t end = container->manifest_offset;
  if( offset%SCHEMA_ALIGNMENT ){
    return zt_cbor_fail(c, "R1", "offset %llu is not a multiple of %d", offset, SCHEMA_ALIGNMENT);
  }
  if( offset<SCHEMA_HEADER && length>0 ){
    return zt_cbor_fail(c, "R2", "offset %llu lies in the header", offset);
  }
  if( !zt_claim(end, offset, length) ){
    return zt_cbor_fail(c, "R3", "offset %llu + length %llu lies beyond the data area's end, %llu",
                        offset, length, end);
  }
  return true;
}

int zt_schema_locate(const zt_head_tail *input, unsigned magic, zt_extent *out, zt_error *err){
  /* Without a magic number at the end, the last bytes of a truncated file are taken for the size */
  const char *cut = magic ? "" : "; is the file cut short?";
  uint64_t room, length;
  unsigned footer = SCHEMA_SIZE_FIELD+magic;
  if( input->size<SCHEMA_HEADER+footer || input->tail.n<footer ){
    return zt_break(err, "M1", "%llu bytes are too few for a header and a footer", input->size);
  }
  room = input->size-SCHEMA_HEADER-footer;
  length = zt_le64(input->tail.p+input->tail.n-footer);
  if( length==0 ) return zt_break(err, "M2", "the manifest has 0 bytes");
  if( length>ZT_MAX_MANIFEST ){
    return zt_break(err, "M2", "the manifest's size, %llu, is more than %llu%s", length,
                    ZT_MAX_MANIFEST, cut);
  }
  if( length>room ){
    return zt_break(err, "M2",
                    "the manifest's size, %llu, is more than the %llu bytes between header and"
                    " footer%s", length, room, cut);
  }
  *out = (zt_extent){ SCHEMA_HEADER+room-length, length };
  return SQLITE_OK;
}

int zt_schema_open(zt_builder *b, const zt_head_tail *input, unsigned magic,
                   zt_manifest_check *check){
  zt_container *c = b->container;
  zt_extent extent = { 0, 0 };
  if( zt_schema_locate(input, magic, &extent, b->err) ) return b->err->rc;
  c->begin = SCHEMA_HEADER;
  c->end = input->size-SCHEMA_SIZE_FIELD-magic;
  c->gap = SCHEMA_ALIGNMENT;
  return zt_manifest_open(b, extent.offset, extent.length, check, NULL);
}

bool zt_schema_is_foreign(zt_text type){
  return zt_text_is(type, "i4") || zt_text_is(type, "u4") || zt_text_is(type, "i2")
      || zt_text_is(type, "u2");
}

void zt_schema_long_dtype(zt_text name, zt_component *out){
  const zt_dtype *d = zt_dtype_long(name);
  if( d && strcmp(d->name, d->storage)!=0 ) d = NULL;
  out->dtype = d ? (zt_text){ d->name, strlen(d->name) } : name;
  out->storage = out->element = d;
}

void zt_schema_set_codec(zt_component *out){
  out->codec = zt_text_is(out->encoding, "raw") ? ZT_CODEC_RAW
             : zt_text_is(out->encoding, "zstd") ? ZT_CODEC_ZSTD : ZT_CODEC_UNKNOWN;
}
