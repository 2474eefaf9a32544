/*
** GGUF, versions 2 and 3 (docs/gguf.md of ggml).
**
**   file     := "GGUF" version tensors keys metadata infos padding data
**                                     ; GG1: the first four are present
**   version  := u32                   ; GG2: 2 or 3, in the byte order of all numbers
**   tensors  := u64   keys := u64     ; GG3: the file has room for so many
**   metadata := (key type value){keys}   ; GG10: no key twice
**   key      := text                  ; GG9: UTF-8, as are tensors' names, which have no U+0000
**   text     := u64 bytes             ; GG4: no length or count goes beyond the file's end
**   type     := u32                   ; GG6: one of those below
**   value    := a number | bool | text | array
**   bool     := u8                    ; GG7: 0 or 1
**   array    := type u64 value*       ; GG8: nested at most ZT_GGUF_DEPTH_MAX deep
**   infos    := (name:text rank:u32 dimension:u64{rank} type:u32 offset:u64){tensors}
**                                     ; GG11: no name twice; GG12: at most ZT_MAX_RANK dimensions;
**                                     ; GG13: their product fits 64 bits, unless one is 0
**   padding  := 0x00*                 ; to a multiple of general.alignment, a u32, by default 32
**                                     ; GG14: it is a multiple of 8, or a power of two
**   data     := bytes                 ; offsets count from here. GG15: they are multiples of the
**                                     ; alignment; GG16: tensors lie within the file
**
**   GG5  metadata and infos take at most ZT_MAX_MANIFEST bytes
**   GG17 ggml itself reads the file. It is read here if it breaks no other rule, because gguf.md
**        allows it, or gguf-py reads it
**
** Each file of a split model is read by itself. Metadata and infos are kept as they are in the
** file. They are read in pieces, because only a walk shows where they end. Dimensions are stored
** innermost first. Blocks and bf16 of big-endian files have no values, because no field tells
** whether the numbers in them were swapped: gguf-py leaves both as they are, and its converter of
** byte orders swaps them.
*/
#include "container/gguf.h"

#include "container/dtype.h"
#include "core/utf8.h"

#define GGUF_ALIGNMENT 32                    /* The default */
#define GGUF_PIECE ((uint64_t)64 << 10)      /* Bytes of the first read; later ones double them, */
#define GGUF_PIECE_MAX ((uint64_t)8 << 20)   /* in pieces up to this */
#define GGUF_POLL_STEPS 0xFFFF               /* Steps between checks for an interrupt, less 1 */
#define GGUF_RESERVE_MAX 65536               /* Maximum tensors to reserve room for */

/* Minimum bytes of a key with its value, and of a tensor's info. */
#define GGUF_KEY_MIN 13
#define GGUF_INFO_MIN 24

#define GGUF_SPEC(type) "docs/gguf.md of ggml, " type

static const zt_rule gguf_rules[] = {
  ZT_ERROR("GG1", "gguf-header", "the header has 24 bytes (GGUF)", GGUF_SPEC("gguf_header_t")),
  ZT_UNSUPPORTED("GG2", "gguf-version", "the version is 2 or 3 (GGUF)",
                 GGUF_SPEC("gguf_header_t")),
  ZT_ERROR("GG3", "gguf-length", "no length and no count extends beyond the file's end (GGUF)",
           GGUF_SPEC("gguf_file_t")),
  ZT_SAME("GG4", "gguf-length"),
  ZT_ERROR("GG5", "gguf-size", "keys and tensor infos take at most 1 GiB (GGUF)", ZT_SPEC_OURS),
  ZT_ERROR("GG6", "gguf-value-type", "a value is of one of 13 types (GGUF)",
           GGUF_SPEC("gguf_metadata_value_type")),
  ZT_ERROR("GG7", "gguf-bool", "a bool is 0 or 1 (GGUF)", GGUF_SPEC("gguf_metadata_value_type")),
  ZT_ERROR("GG8", "gguf-depth", "arrays are nested at most 64 deep (GGUF)", ZT_SPEC_OURS),
  ZT_ERROR("GG9", "gguf-name", "keys and names are UTF-8, names without U+0000 (GGUF)",
           GGUF_SPEC("gguf_string_t")),
  ZT_ERROR("GG10", "gguf-duplicate-key", "no key occurs twice (GGUF)", ZT_SPEC_SENSE),
  ZT_ERROR("GG11", "gguf-duplicate-tensor", "tensors have different names (GGUF)", ZT_SPEC_SENSE),
  ZT_ERROR("GG12", "gguf-dimensions", "a tensor has at most 64 dimensions (GGUF)", ZT_SPEC_OURS),
  ZT_ERROR("GG13", "gguf-elements", "the product of dimensions fits 64 bits (GGUF)", ZT_SPEC_OURS),
  ZT_ERROR("GG14", "gguf-alignment",
           "general.alignment is a u32, and a multiple of 8 or a power of two (GGUF)",
           GGUF_SPEC("general.alignment")),
  ZT_ERROR("GG15", "gguf-offset", "tensors' offsets are multiples of general.alignment (GGUF)",
           GGUF_SPEC("gguf_tensor_info_t")),
  ZT_ERROR("GG16", "gguf-range", "tensors' bytes lie within the file (GGUF)",
           GGUF_SPEC("gguf_tensor_info_t")),
  ZT_WARNING("GG17", "gguf-ggml",
             "ggml reads the file: names below 64 bytes, at most 4 dimensions, of which only the"
             " last one is 0, tensors one behind the other, an alignment that is a power of two, no"
             " empty key, no arrays in arrays (GGUF)",
             "ggml, gguf_init_from_file"),
  ZT_RULES_END
};

/* Names of the formats of ggml's blocks. */
#define GGUF_FORMAT(name, ...) ZT_TEXT_INIT("gguf." #name),
static const zt_text gguf_formats[] = {
  ZT_GGML_BLOCK_TYPES(GGUF_FORMAT) ZT_GGML_INNER_TYPES(GGUF_FORMAT)
};
#undef GGUF_FORMAT

/* --- Tensors --- */

/* Dimension i of a tensor; the first is the innermost. */
static uint64_t gguf_dimension(const zt_container *c, const zt_gguf_info *info, uint32_t i){
  return zt_gguf_u64(zt_gguf_of(c)->big, c->kept.p+info->dimensions+4+8*(size_t)i);
}

/* Set rank, shape and elements; false if 64 bits do not hold the elements. */
static bool gguf_set_shape(const zt_container *c, const zt_gguf_info *info, zt_object *out){
  out->rank = info->rank;
  for(uint32_t i=0; i<info->rank; i++) out->shape[info->rank-1-i] = gguf_dimension(c, info, i);
  return zt_object_count(out);
}

/* The bytes of a tensor; false beyond 64 bits. *known is false if the type is unknown, or a row is
** not a whole number of blocks. */
static bool gguf_length(const zt_container *c, const zt_gguf_info *info, uint64_t elements,
                        bool *known, uint64_t *out){
  const zt_ggml_type *type = info->type;
  *out = 0;
  *known = type!=NULL;
  if( !type || elements==0 ) return true;
  if( type->id==ZT_GGML_PLAIN ){
    return zt_dtype_size(zt_dtype_storage(type->name), elements, out);
  }
  *known = info->rank>0 && gguf_dimension(c, info, 0)%type->elements==0;
  return !*known || zt_mul64(elements/type->elements, type->bytes, out);
}

/* --- Scanning the metadata --- */

typedef struct gguf_reader {
  zt_builder *b;
  zt_keys keys;
  bool big;
  const uint8_t *p;    /* The kept bytes, */
  size_t n;            /* and their number */
  size_t at;           /* Position of the next byte to scan */
  uint64_t total;      /* Bytes from the metadata to the file's end */
  size_t nested;       /* Position of the first key that has arrays in an array, */
  size_t nested_n;     /* and its bytes; SIZE_MAX: there is none */
  bool empty;          /* A key is empty */
} gguf_reader;

static ZT_COLD bool gguf_fail(gguf_reader *r, const char *rule, size_t at, const char *fault){
  zt_break(r->b->err, rule, "byte %llu: %s", (uint64_t)(ZT_GGUF_HEADER+at), fault);
  return false;
}

/* The file ends within the item at the reader's position. */
static ZT_COLD bool gguf_fail_end(gguf_reader *r, const char *what){
  zt_break(r->b->err, "GG4", "byte %llu: %s goes beyond the file's end",
           (uint64_t)(ZT_GGUF_HEADER+r->at), what);
  return false;
}

static ZT_COLD bool gguf_fail_size(gguf_reader *r){
  return gguf_fail(r, "GG5", r->at, "keys and tensor infos take more than 1 GiB");
}

/* Read more, until there are n bytes at the reader's position. */
static ZT_COLD bool gguf_read(gguf_reader *r, uint64_t n){
  zt_container *c = r->b->container;
  uint64_t least = n-(r->n-r->at), piece = r->n<GGUF_PIECE ? GGUF_PIECE : r->n;
  assert( n<=r->total-r->at );
  if( n>ZT_MAX_MANIFEST-r->at ) return gguf_fail_size(r);
  if( piece>GGUF_PIECE_MAX ) piece = GGUF_PIECE_MAX;
  if( piece<least ) piece = least;
  if( piece>r->total-r->n ) piece = r->total-r->n;
  if( piece>ZT_MAX_MANIFEST-r->n ) piece = ZT_MAX_MANIFEST-r->n;
  if( zt_builder_read(r->b, ZT_GGUF_HEADER+r->n, piece) ) return false;
  r->p = c->kept.p;
  r->n += (size_t)piece;
  return true;
}

/* Make n bytes available at the reader's position. */
ZT_INLINE bool gguf_have(gguf_reader *r, uint64_t n, const char *what){
  if( n<=r->n-r->at ) return true;
  return n<=r->total-r->at ? gguf_read(r, n) : gguf_fail_end(r, what);
}

ZT_INLINE bool gguf_poll(const zt_builder *b, uint64_t step){
  return (step & GGUF_POLL_STEPS)!=GGUF_POLL_STEPS || !zt_interrupt_check(b->interrupt, b->err);
}

ZT_INLINE bool gguf_scan_text(gguf_reader *r){
  uint64_t n;
  if( !gguf_have(r, 8, "a length") ) return false;
  n = zt_gguf_u64(r->big, r->p+r->at);
  if( n>r->total-r->at-8 ) return gguf_fail_end(r, "a text");
  if( !gguf_have(r, 8+n, "a text") ) return false;
  r->at += 8+(size_t)n;
  return true;
}

static bool gguf_check_bools(gguf_reader *r, uint64_t n){
  uint8_t all = 0;
  for(uint64_t i=0; i<n; i++) all |= r->p[r->at+i];
  return all<=1 || gguf_fail(r, "GG7", r->at, "a bool that is neither 0 nor 1");
}

/* Scan n values of fixed width. */
static bool gguf_scan_numbers(gguf_reader *r, uint32_t type, uint64_t n){
  uint64_t bytes = n*zt_gguf_types[type].width;   /* Cannot overflow: the file has room for n */
  if( !gguf_have(r, bytes, "a value") ) return false;
  if( type==ZT_GGUF_BOOL && !gguf_check_bools(r, n) ) return false;
  r->at += (size_t)bytes;
  return true;
}

/* The next type. */
static bool gguf_scan_type(gguf_reader *r, uint32_t *out){
  if( !gguf_have(r, 4, "a value's type") ) return false;
  *out = zt_gguf_u32(r->big, r->p+r->at);
  if( *out>=ZT_GGUF_TYPES ){
    return !zt_break(r->b->err, "GG6", "byte %llu: value type %u is not known",
                     (uint64_t)(ZT_GGUF_HEADER+r->at), *out);
  }
  r->at += 4;
  return true;
}

/* The type and number of an array's elements, for which the file has room. */
static bool gguf_scan_count(gguf_reader *r, uint32_t *type, uint64_t *n){
  if( !gguf_scan_type(r, type) || !gguf_have(r, 8, "an array's length") ) return false;
  *n = zt_gguf_u64(r->big, r->p+r->at);
  if( *n>(r->total-r->at-8)/zt_gguf_types[*type].width ) return gguf_fail_end(r, "an array");
  if( *n>(ZT_MAX_MANIFEST-r->at)/zt_gguf_types[*type].width ) return gguf_fail_size(r);
  r->at += 8;
  return true;
}

static bool gguf_scan_value(gguf_reader *r, uint32_t type, int depth){
  uint32_t inner;
  uint64_t n;
  if( type==ZT_GGUF_TEXT ) return gguf_scan_text(r);
  if( type!=ZT_GGUF_ARRAY ) return gguf_scan_numbers(r, type, 1);
  if( depth==ZT_GGUF_DEPTH_MAX ){
    return !zt_break(r->b->err, "GG8", "byte %llu: arrays are nested more than %d deep",
                     (uint64_t)(ZT_GGUF_HEADER+r->at), ZT_GGUF_DEPTH_MAX);
  }
  if( !gguf_scan_count(r, &inner, &n) ) return false;
  if( inner!=ZT_GGUF_TEXT && inner!=ZT_GGUF_ARRAY ) return gguf_scan_numbers(r, inner, n);
  for(; n>0; n--){
    if( !gguf_poll(r->b, n) ) return false;
    if( inner==ZT_GGUF_TEXT ? !gguf_scan_text(r) : !gguf_scan_value(r, inner, depth+1) ){
      return false;
    }
  }
  return true;
}

/* Read general.alignment, whose type is at a position. */
static bool gguf_set_alignment(gguf_reader *r, size_t at){
  zt_gguf_state *s = r->b->container->state;
  uint32_t type = zt_gguf_u32(r->big, r->p+at), n;
  if( type!=ZT_GGUF_U32 ){
    return !zt_break(r->b->err, "GG14", "general.alignment is of type %.*s, not u32",
                     (int)zt_gguf_types[type].name.n, zt_gguf_types[type].name.z);
  }
  n = zt_gguf_u32(r->big, r->p+at+4);
  if( n==0 || (n%8!=0 && (n & (n-1))!=0) ){
    return !zt_break(r->b->err, "GG14",
                     "general.alignment is %u, neither a multiple of 8 nor a power of two", n);
  }
  s->alignment = n;
  return true;
}

/* Scan a key. *out is valid until the next read. */
static bool gguf_scan_key(gguf_reader *r, zt_text *out){
  size_t at = r->at+8;
  bool duplicate;
  if( !gguf_scan_text(r) ) return false;
  *out = (zt_text){ (const char*)r->p+at, r->at-at };
  if( !zt_utf8_valid(r->p+at, out->n) ) return gguf_fail(r, "GG9", at, "a key is not UTF-8");
  if( zt_keys_add(&r->keys, r->p, (zt_key){ (uint32_t)at, (uint32_t)out->n }, &duplicate,
                  r->b->err) ) return false;
  if( duplicate ) zt_break(r->b->err, "GG10", "key '%.*s' stands twice", zt_shown(*out), out->z);
  return !duplicate;
}

static bool gguf_scan_keys(gguf_reader *r, uint64_t n){
  for(uint64_t i=0; i<n; i++){
    zt_text key;
    uint32_t type;
    size_t at;
    bool alignment;
    if( !gguf_poll(r->b, i) || !gguf_scan_key(r, &key) ) return false;
    alignment = zt_text_is(key, "general.alignment");
    r->empty |= key.n==0;
    at = r->at;
    if( !gguf_scan_type(r, &type) || !gguf_scan_value(r, type, 0) ) return false;
    if( alignment && !gguf_set_alignment(r, at) ) return false;
    if( type==ZT_GGUF_ARRAY && r->nested_n==SIZE_MAX
     && zt_gguf_u32(r->big, r->p+at+4)==ZT_GGUF_ARRAY ){
      r->nested = at-key.n;
      r->nested_n = key.n;
    }
  }
  return true;
}

/* Scan a tensor's info. */
static bool gguf_scan_info_bytes(gguf_reader *r){
  uint32_t rank;
  if( !gguf_scan_text(r) || !gguf_have(r, 4, "a tensor's number of dimensions") ) return false;
  rank = zt_gguf_u32(r->big, r->p+r->at);
  if( rank>ZT_MAX_RANK ){
    return !zt_break(r->b->err, "GG12", "byte %llu: a tensor of %u dimensions, %d are the most",
                     (uint64_t)(ZT_GGUF_HEADER+r->at), rank, ZT_MAX_RANK);
  }
  if( !gguf_have(r, 4+8*(uint64_t)rank+12, "a tensor's info") ) return false;
  r->at += 4+8*(size_t)rank+12;
  return true;
}

/* Add a tensor. Its bytes are checked later, when the data's offset is known. */
static int gguf_add(zt_builder *b, size_t at){
  const zt_container *c = b->container;
  uint64_t alignment = zt_gguf_of(c)->alignment;
  zt_object object;
  zt_gguf_info info;
  bool duplicate;
  zt_gguf_read_info(c, at, &info);
  if( !zt_utf8_without_nul(info.name) ){
    return zt_break(b->err, "GG9", "byte %llu: a tensor's name is not UTF-8, or has U+0000 in it",
                    (uint64_t)(ZT_GGUF_HEADER+8)+at);
  }
  b->err->object = info.name;
  if( zt_builder_object(b, info.name, at, &duplicate) ) return b->err->rc;
  if( duplicate ) return zt_break(b->err, "GG11", "two tensors have this name");
  if( !gguf_set_shape(c, &info, &object) ){
    return zt_break(b->err, "GG13", "the product of its dimensions does not fit 64 bits");
  }
  if( info.offset%alignment!=0 ){
    return zt_break(b->err, "GG15", "offset %llu is not a multiple of %llu", info.offset,
                    alignment);
  }
  b->err->object.z = NULL;
  return zt_builder_component(b, at);
}

static bool gguf_scan_infos(gguf_reader *r, uint64_t n){
  const uint64_t room = n<GGUF_RESERVE_MAX ? n : GGUF_RESERVE_MAX;
  zt_builder_reserve(r->b, room, room);
  for(uint64_t i=0; i<n; i++){
    size_t at = r->at;
    if( !gguf_poll(r->b, i) || !gguf_scan_info_bytes(r) || gguf_add(r->b, at) ) return false;
  }
  return true;
}

/* --- Opening --- */

static int gguf_note(zt_builder *b, uint32_t object, const char *format, ...){
  char fault[128];
  va_list arguments;
  va_start(arguments, format);
  sqlite3_vsnprintf(sizeof(fault), fault, format, arguments);
  va_end(arguments);
  return zt_builder_note(b, object, "GG17", fault);
}

/* GG17, for a tensor. */
static int gguf_note_tensor(zt_builder *b, uint32_t object, const zt_gguf_info *info,
                            const uint64_t *shape){
  if( info->name.n>ZT_GGUF_NAME_MAX
   && gguf_note(b, object, "its name has %llu bytes, and ggml reads at most %d",
                (uint64_t)info->name.n, ZT_GGUF_NAME_MAX) ) return b->err->rc;
  if( info->rank>ZT_GGUF_RANK_MAX
   && gguf_note(b, object, "it has %u dimensions, and ggml reads at most %d", info->rank,
                ZT_GGUF_RANK_MAX) ) return b->err->rc;
  for(uint32_t k=0; k+1<info->rank; k++){
    if( shape[k]==0 ){
      return gguf_note(b, object, "dimension %u is 0, and ggml reads this of the last one only", k);
    }
  }
  return SQLITE_OK;
}

/* GG17, for where a tensor is: behind the one that is listed before it, whose bytes end at *end of
** the data. UINT64_MAX: that is not known. */
static int gguf_note_place(zt_builder *b, uint32_t object, const zt_gguf_info *info,
                           bool known, uint64_t length, uint64_t *end){
  const uint64_t alignment = zt_gguf_of(b->container)->alignment, before = *end;
  *end = known ? info->offset+length : UINT64_MAX;
  if( before==UINT64_MAX || info->offset==(before+alignment-1)/alignment*alignment ){
    return SQLITE_OK;
  }
  return gguf_note(b, object, "it is at offset %llu of the data, and ggml reads it at %llu only",
                   info->offset, (before+alignment-1)/alignment*alignment);
}

/* GG17, for the keys. */
static int gguf_note_keys(const gguf_reader *r){
  const zt_gguf_state *s = r->b->container->state;
  if( s->alignment & (s->alignment-1) ){
    zt_builder_note_file(r->b, "GG17", "general.alignment is %llu, and ggml reads powers of two",
                         s->alignment);
  }
  if( r->empty && !r->b->err->rc ){
    zt_builder_note_file(r->b, "GG17", "a key is empty, and ggml does not read this");
  }
  if( r->nested_n!=SIZE_MAX && !r->b->err->rc ){
    const zt_text key = { (const char*)r->b->container->kept.p+r->nested, r->nested_n };
    zt_builder_note_file(r->b, "GG17", "key '%.*s' has arrays in an array, and ggml does not read"
                         " this", zt_shown(key), key.z);
  }
  return r->b->err->rc;
}

/* Check that all tensors' bytes are in the file, and note GG17. */
static int gguf_check_ranges(zt_builder *b){
  const zt_container *c = b->container;
  const zt_gguf_state *s = zt_gguf_of(c);
  uint64_t data = s->data, length, offset, end = 0;
  uint64_t last = c->objects.n ? data : c->manifest_offset+c->manifest_length;
  zt_object object;
  zt_gguf_info info;
  bool known, all = true;
  for(uint32_t i=0; i<c->objects.n; i++){
    if( !gguf_poll(b, i) ) return b->err->rc;
    zt_gguf_read_info(c, c->objects.a[i], &info);
    b->err->object = info.name;
    gguf_set_shape(c, &info, &object);
    if( !gguf_length(c, &info, object.elements, &known, &length) ){
      return zt_break(b->err, "GG16", "shape and type make more than 2^64 bytes");
    }
    if( !zt_add64(data, info.offset, &offset) || !zt_claim(c->file_size, offset, length) ){
      return zt_break(b->err, "GG16", "%llu bytes at offset %llu of the data, which begins at "
                      "%llu, go beyond the file's end", length, info.offset, data);
    }
    b->err->object.z = NULL;
    all = all && known;
    if( offset+length>last ) last = offset+length;
    if( gguf_note_tensor(b, i, &info, object.shape)
     || gguf_note_place(b, i, &info, known, length, &end) ) return b->err->rc;
  }
  if( all ) b->container->own_end = last;
  return SQLITE_OK;
}

static zt_probe gguf_probe(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt_head_is(input, "GGUF", 4) ? ZT_PROBE_YES : ZT_PROBE_NO;
}

static int gguf_read_header(zt_builder *b, const zt_head_tail *input, zt_gguf_state *s){
  uint8_t header[ZT_GGUF_HEADER];
  uint64_t remaining;
  uint32_t version;
  if( input->size<ZT_GGUF_HEADER ){
    return zt_break(b->err, "GG1", "the file has %llu bytes, a GGUF header has %d",
                    input->size, ZT_GGUF_HEADER);
  }
  if( zt_source_read(b->source, 0, header, ZT_GGUF_HEADER, b->err) ) return b->err->rc;
  version = zt_gguf_u32(false, header+4);
  s->big = (version & 0xFFFF)==0;
  version = zt_gguf_u32(s->big, header+4);
  if( version!=2 && version!=3 ){
    return zt_break(b->err, "GG2", "GGUF version %u cannot be read, 2 and 3 can", version);
  }
  b->container->version = version==2 ? ZT_TEXT("2") : ZT_TEXT("3");
  s->tensors = zt_gguf_u64(s->big, header+8);
  s->keys = zt_gguf_u64(s->big, header+16);
  remaining = input->size-ZT_GGUF_HEADER;
  if( s->tensors>remaining/GGUF_INFO_MIN || s->keys>remaining/GGUF_KEY_MIN ){
    return zt_break(b->err, "GG3", "%llu keys and %llu tensors are more than the file has room for",
                    s->keys, s->tensors);
  }
  if( s->tensors>ZT_MAX_MANIFEST/GGUF_INFO_MIN || s->keys>ZT_MAX_MANIFEST/GGUF_KEY_MIN ){
    return zt_break(b->err, "GG5", "%llu keys and %llu tensors take more than 1 GiB",
                    s->keys, s->tensors);
  }
  return SQLITE_OK;
}

/* Set the container's own fields. */
static void gguf_set_container(zt_container *c){
  const zt_gguf_state *s = c->state;
  c->rules = ZT_RULE_PADDING_ZERO;
  c->begin = ZT_GGUF_HEADER;
  c->gap = s->alignment;
  c->attributes = (zt_value){
    .type = ZT_VALUE_MAP, .kind = ZT_GGUF_KEYS, .count = s->keys, .at = 16
  };
  c->manifest = (zt_value){ .type = ZT_VALUE_MAP, .kind = ZT_GGUF_MANIFEST, .count = 2 };
}

static int gguf_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  gguf_reader r = { .b = b, .nested_n = SIZE_MAX, .keys = { .interrupt = b->interrupt } };
  zt_gguf_state *s = sqlite3_malloc64(sizeof(*s));
  uint64_t end;
  if( !s ) return zt_fail_nomem(b->err);
  *s = (zt_gguf_state){ .alignment = GGUF_ALIGNMENT };
  c->state = s;
  c->state_size = sizeof(*s);
  if( gguf_read_header(b, input, s) ) return b->err->rc;
  r.big = s->big;
  r.total = input->size-ZT_GGUF_HEADER;
  if( !gguf_scan_keys(&r, s->keys) ) goto end;
  s->infos = r.at;
  if( !gguf_scan_infos(&r, s->tensors) ) goto end;
  zt_builder_cut(b, r.at);
  end = ZT_GGUF_HEADER+r.at;
  s->data = end + (s->alignment - end%s->alignment)%s->alignment;
  if( gguf_check_ranges(b) || gguf_note_keys(&r) ) goto end;
  gguf_set_container(c);
end:
  zt_keys_clear(&r.keys);
  return b->err->rc;
}

static void gguf_close(zt_container *c){
  sqlite3_free(c->state);
}

/* --- Decoding --- */

/* True if the elements are numbers whose byte order is known. */
static bool gguf_is_dense(const zt_container *c, const zt_ggml_type *type){
  if( !type || type->id!=ZT_GGML_PLAIN ) return false;
  return !zt_gguf_of(c)->big || !zt_text_is(type->name, "bf16");
}

static void gguf_object(const zt_container *c, uint32_t i, zt_object *out){
  size_t at = c->objects.a[i];
  zt_gguf_info info;
  zt_gguf_read_info(c, at, &info);
  out->layout = ZT_LAYOUT_UNKNOWN;
  if( !info.type ){
    out->format = ZT_TEXT("gguf.unknown");
  }else if( gguf_is_dense(c, info.type) ){
    out->format = ZT_TEXT("dense");
    out->layout = ZT_LAYOUT_DENSE;
  }else if( info.type->id==ZT_GGML_PLAIN ){
    out->format = ZT_TEXT("gguf.bf16");
    out->fault_rule = "GB5";
    out->fault = "the order of the bytes in a big-endian file's bf16 is not known";
  }else{
    out->format = gguf_formats[info.type->id];
    out->layout = ZT_LAYOUT_GGML;
    out->blocks = info.type;
  }
  gguf_set_shape(c, &info, out);
  out->attributes = (zt_value){
    .type = ZT_VALUE_MAP, .kind = ZT_GGUF_OBJECT, .count = 2, .at = ZT_GGUF_HEADER+at+2
  };
}

/* Component i belongs to object i. */
static void gguf_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                           zt_component *out){
  const zt_gguf_state *s = c->state;
  zt_object object;
  zt_gguf_info info;
  bool known, dense;
  (void)k;
  (void)want;
  zt_gguf_read_info(c, c->objects.a[i], &info);
  dense = gguf_is_dense(c, info.type);
  out->role = ZT_TEXT("data");
  out->dtype = dense ? info.type->name : ZT_TEXT("u8");
  zt_dtype_decide(out);
  if( s->big ) out->byte_order = ZT_TEXT("big");
  out->offset = s->data+info.offset;
  gguf_set_shape(c, &info, &object);
  gguf_length(c, &info, object.elements, &known, &out->length);
  out->unsized = !known;
  out->mixed = !dense;
}

/*
** Texts for ext/REFERENCE.md's tables of formats:
**
**   read         versions 2 and 3, both byte orders
**   known by     `GGUF`
**   version      `2`, `3`
**   manifest     keys and tensor infos
**   attributes   each key, with its stored type
**   objects      in the order of the tensor infos; `shape` outermost first
**   of objects   `ggml_type`, the type's number; `ne`, the dimensions as stored, innermost first
**   components   one, `data`: raw; `byte_order` may be `big`
*/
const zt_driver zt_driver_gguf = {
  .name = "gguf", .format = "gguf", .files = "*.gguf", .rules = { gguf_rules },
  .probe = gguf_probe, .open = gguf_open, .object = gguf_object, .component = gguf_component,
  .steps = &zt_gguf_steps, .close = gguf_close
};
