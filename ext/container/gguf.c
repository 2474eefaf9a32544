/*
** GGUF, versions 2 and 3 (docs/gguf.md of ggml).
**
**   file     := "GGUF" version tensors keys metadata infos padding data
**                                     ; GG1: the first four are there
**   version  := u32                   ; GG2: 2 or 3, in the byte order of all numbers
**   tensors  := u64   keys := u64     ; GG3: how many, and the file has room for as many
**   metadata := (key type value){keys}   ; GG10: no key twice
**   key      := text                  ; GG9: UTF-8, as are tensors' names, which have no U+0000
**   text     := u64 bytes             ; GG4: no length or count goes beyond the file's end
**   type     := u32                   ; GG6: one of those below
**   value    := a number | bool | text | array
**   bool     := u8                    ; GG7: 0 or 1
**   array    := type u64 value*       ; GG8: nested at most GGUF_DEPTH_MAX deep
**   infos    := (name:text rank:u32 dimension:u64{rank} type:u32 offset:u64){tensors}
**                                     ; GG11: no name twice; GG12: at most ZT_MAX_RANK dimensions;
**                                     ; GG13: their product fits 64 bits, unless one is 0
**   padding  := 0x00*                 ; to a multiple of general.alignment, a u32, else of 32
**                                     ; GG14: it is a multiple of 8, or a power of two
**   data     := bytes                 ; offsets count from here. GG15: they are multiples of the
**                                     ; alignment; GG16: tensors lie within the file
**
**   GG5  metadata and infos take at most ZT_MAX_MANIFEST bytes
**
** A file of several is read by itself. Metadata and infos are kept as they are in the file; nobody
** knows where they end before they are walked, so they are read piece by piece. Dimensions come
** innermost first. Blocks of big-endian files have no values: nothing tells whether the numbers in
** them were swapped, too.
*/
#include <assert.h>
#include "container/driver.h"
#include "container/dtype.h"
#include "container/ggml_types.h"
#include "core/host.h"
#include "core/utf8.h"

#define GGUF_HEADER 24                       /* Bytes up to the metadata */
#define GGUF_ALIGNMENT 32                    /* Where the file does not say */
#define GGUF_DEPTH_MAX 64
#define GGUF_PIECE ((uint64_t)64 << 10)      /* Bytes that are read at first: then as many as there
                                             ** are already, */
#define GGUF_PIECE_MAX ((uint64_t)8 << 20)   /* up to this */
#define GGUF_POLL_STEPS 0xFFFF               /* Steps between two questions whether to go
                                             ** on, less 1 */

#define GGUF_AHEAD 65536                      /* Tensors that room is made for at once */

/* The least bytes of a key with its value, and of a tensor's info. */
#define GGUF_KEY_MIN 13
#define GGUF_INFO_MIN 24

/* Types of values. Those from GGUF_MANIFEST on are no words of the format: maps and arrays that are
** made of its parts. */
enum {
  GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32, GGUF_BOOL, GGUF_TEXT,
  GGUF_ARRAY, GGUF_U64, GGUF_I64, GGUF_F64, GGUF_TYPES,
  GGUF_MANIFEST,     /* Map: metadata_kv, tensor_infos */
  GGUF_KEYS,         /* Map: all metadata */
  GGUF_INFOS,        /* Array of GGUF_INFO */
  GGUF_INFO,         /* Map: name, dimensions, type, offset */
  GGUF_DIMENSIONS,   /* Array of u64 */
  GGUF_OBJECT        /* Map: ggml_type, ne */
};

/* Their names, and bytes: of texts and arrays those that even an empty one has. */
static const struct { zt_text name; unsigned width; } gguf_types[GGUF_TYPES] = {
  { ZT_TEXT_INIT("u8"), 1 }, { ZT_TEXT_INIT("i8"), 1 }, { ZT_TEXT_INIT("u16"), 2 },
  { ZT_TEXT_INIT("i16"), 2 }, { ZT_TEXT_INIT("u32"), 4 }, { ZT_TEXT_INIT("i32"), 4 },
  { ZT_TEXT_INIT("f32"), 4 }, { ZT_TEXT_INIT("bool"), 1 }, { ZT_TEXT_INIT("str"), 8 },
  { ZT_TEXT_INIT("arr"), 12 }, { ZT_TEXT_INIT("u64"), 8 }, { ZT_TEXT_INIT("i64"), 8 },
  { ZT_TEXT_INIT("f64"), 8 }
};

/* Names of the formats of ggml's blocks. */
#define GGUF_FORMAT(name, ...) ZT_TEXT_INIT("gguf." #name),
static const zt_text gguf_formats[] = {
  ZT_GGML_BLOCK_TYPES(GGUF_FORMAT) ZT_GGML_INNER_TYPES(GGUF_FORMAT)
};
#undef GGUF_FORMAT

/* What a container of GGUF remembers besides. */
typedef struct gguf_state {
  bool big;            /* Numbers are big-endian */
  uint64_t keys, tensors;
  size_t infos;        /* Position of the first one */
  uint64_t data;       /* Where in the file offsets count from */
  uint64_t alignment;
} gguf_state;

/* --- Numbers, and what else the metadata consists of --- */

ZT_INLINE uint32_t gguf_u32(bool big, const uint8_t *p){
  return big ? (uint32_t)zt_be(p, 4) : zt_le32(p);
}

ZT_INLINE uint64_t gguf_u64(bool big, const uint8_t *p){
  return big ? zt_be64(p) : zt_le64(p);
}

/* A number of `width` bytes. */
static uint64_t gguf_uint(bool big, const uint8_t *p, unsigned width){
  switch( width ){
    case 1: return p[0];
    case 2: return big ? zt_be(p, 2) : zt_le16(p);
    case 4: return gguf_u32(big, p);
    default: return gguf_u64(big, p);
  }
}

static double gguf_real(uint64_t u, unsigned width){
  double d;
  float f;
  uint32_t bits = (uint32_t)u;
  if( width==4 ){
    memcpy(&f, &bits, sizeof(f));
    return (double)f;
  }
  memcpy(&d, &u, sizeof(d));
  return d;
}

/* A tensor's info, which was checked. */
typedef struct gguf_info {
  zt_text name;
  uint32_t rank;
  size_t dimensions;   /* Position of the rank, behind which they are */
  size_t number;       /* Position of ggml's type */
  const zt_ggml_type *type;   /* NULL: it is not known */
  uint64_t offset;
  size_t end;          /* Position behind it */
} gguf_info;

static const gguf_state *gguf_of(const zt_container *c){
  return c->state;
}

static void gguf_read_info(const zt_container *c, size_t at, gguf_info *out){
  bool big = gguf_of(c)->big;
  const uint8_t *p = c->kept.p;
  out->name = (zt_text){ (const char*)p+at+8, (size_t)gguf_u64(big, p+at) };
  out->dimensions = at + 8 + out->name.n;
  out->rank = gguf_u32(big, p+out->dimensions);
  out->number = out->dimensions + 4 + 8*(size_t)out->rank;
  out->type = zt_ggml_type_numbered(gguf_u32(big, p+out->number));
  out->offset = gguf_u64(big, p+out->number+4);
  out->end = out->number + 12;
}

/* Dimension i of a tensor, the innermost being the first. */
static uint64_t gguf_dimension(const zt_container *c, const gguf_info *info, uint32_t i){
  return gguf_u64(gguf_of(c)->big, c->kept.p+info->dimensions+4+8*(size_t)i);
}

/* Set rank, shape and elements; false if these are beyond 64 bits. */
static bool gguf_set_shape(const zt_container *c, const gguf_info *info, zt_object *out){
  out->rank = info->rank;
  for(uint32_t i=0; i<info->rank; i++) out->shape[info->rank-1-i] = gguf_dimension(c, info, i);
  return zt_object_count(out);
}

/* How many bytes a tensor has; false beyond 64 bits. *known: that can be told: its type is known,
** and its rows are whole blocks. */
static bool gguf_length(const zt_container *c, const gguf_info *info, uint64_t elements,
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

/* --- The walk through what is being read --- */

typedef struct gguf_reader {
  zt_builder *b;
  zt_keys keys;
  bool big;
  const uint8_t *p;    /* The kept bytes, */
  size_t n;            /* as many as were read */
  size_t at;           /* Position of what comes next */
  uint64_t total;      /* Bytes from the metadata up to the file's end */
} gguf_reader;

/* The file is too short for what begins at the reader's position. */
static ZT_COLD bool gguf_fail_end(gguf_reader *r, const char *what){
  zt_break(r->b->err, "GG4", "byte %llu: %s goes beyond the file's end",
           (unsigned long long)(GGUF_HEADER+r->at), what);
  return false;
}

/* What begins at the reader's position is too long. */
static ZT_COLD bool gguf_fail_size(gguf_reader *r){
  zt_break(r->b->err, "GG5", "byte %llu: keys and tensor infos take more than 1 GiB",
           (unsigned long long)(GGUF_HEADER+r->at));
  return false;
}

/* Read on until there are n bytes at the reader's position. */
static ZT_COLD bool gguf_read(gguf_reader *r, uint64_t n){
  zt_container *c = r->b->container;
  uint64_t least = n-(r->n-r->at), piece = r->n<GGUF_PIECE ? GGUF_PIECE : r->n;
  assert( n<=r->total-r->at );
  if( n>ZT_MAX_MANIFEST-r->at ) return gguf_fail_size(r);
  if( piece>GGUF_PIECE_MAX ) piece = GGUF_PIECE_MAX;
  if( piece<least ) piece = least;
  if( piece>r->total-r->n ) piece = r->total-r->n;
  if( piece>ZT_MAX_MANIFEST-r->n ) piece = ZT_MAX_MANIFEST-r->n;
  if( zt_builder_read(r->b, GGUF_HEADER+r->n, piece) ) return false;
  r->p = c->kept.p;
  r->n += (size_t)piece;
  return true;
}

/* Have n bytes at the reader's position. */
ZT_INLINE bool gguf_have(gguf_reader *r, uint64_t n, const char *what){
  if( n<=r->n-r->at ) return true;
  return n<=r->total-r->at ? gguf_read(r, n) : gguf_fail_end(r, what);
}

/* Every many steps. */
ZT_INLINE bool gguf_poll(const zt_builder *b, uint64_t step){
  return (step & GGUF_POLL_STEPS)!=GGUF_POLL_STEPS || !zt_interrupt_check(b->interrupt, b->err);
}

ZT_INLINE bool gguf_scan_text(gguf_reader *r){
  uint64_t n;
  if( !gguf_have(r, 8, "a length") ) return false;
  n = gguf_u64(r->big, r->p+r->at);
  if( n>r->total-r->at-8 ) return gguf_fail_end(r, "a text");
  if( !gguf_have(r, 8+n, "a text") ) return false;
  r->at += 8+(size_t)n;
  return true;
}

static bool gguf_check_bools(gguf_reader *r, uint64_t n){
  uint8_t all = 0;
  for(uint64_t i=0; i<n; i++) all |= r->p[r->at+i];
  if( all<=1 ) return true;
  zt_break(r->b->err, "GG7", "byte %llu: a bool that is neither 0 nor 1",
           (unsigned long long)(GGUF_HEADER+r->at));
  return false;
}

/* n values of a type that has a width. */
static bool gguf_scan_numbers(gguf_reader *r, uint32_t type, uint64_t n){
  uint64_t bytes = n*gguf_types[type].width;   /* Fits: there is room for n */
  if( !gguf_have(r, bytes, "a value") ) return false;
  if( type==GGUF_BOOL && !gguf_check_bools(r, n) ) return false;
  r->at += (size_t)bytes;
  return true;
}

/* The type that comes next. */
static bool gguf_scan_type(gguf_reader *r, uint32_t *out){
  if( !gguf_have(r, 4, "a value's type") ) return false;
  *out = gguf_u32(r->big, r->p+r->at);
  if( *out<GGUF_TYPES ){
    r->at += 4;
    return true;
  }
  zt_break(r->b->err, "GG6", "byte %llu: value type %u is not known",
           (unsigned long long)(GGUF_HEADER+r->at), (unsigned)*out);
  return false;
}

/* The type and number of an array's elements, which the file has room for. */
static bool gguf_scan_count(gguf_reader *r, uint32_t *type, uint64_t *n){
  if( !gguf_scan_type(r, type) || !gguf_have(r, 8, "an array's length") ) return false;
  *n = gguf_u64(r->big, r->p+r->at);
  if( *n>(r->total-r->at-8)/gguf_types[*type].width ) return gguf_fail_end(r, "an array");
  if( *n>(ZT_MAX_MANIFEST-r->at)/gguf_types[*type].width ) return gguf_fail_size(r);
  r->at += 8;
  return true;
}

static bool gguf_scan_value(gguf_reader *r, uint32_t type, int depth){
  uint32_t inner;
  uint64_t n;
  if( type==GGUF_TEXT ) return gguf_scan_text(r);
  if( type!=GGUF_ARRAY ) return gguf_scan_numbers(r, type, 1);
  if( depth==GGUF_DEPTH_MAX ){
    zt_break(r->b->err, "GG8", "byte %llu: arrays are nested more than %d deep",
             (unsigned long long)(GGUF_HEADER+r->at), GGUF_DEPTH_MAX);
    return false;
  }
  if( !gguf_scan_count(r, &inner, &n) ) return false;
  if( inner!=GGUF_TEXT && inner!=GGUF_ARRAY ) return gguf_scan_numbers(r, inner, n);
  for(; n>0; n--){
    if( !gguf_poll(r->b, n) ) return false;
    if( inner==GGUF_TEXT ? !gguf_scan_text(r) : !gguf_scan_value(r, inner, depth+1) ) return false;
  }
  return true;
}

/* The value of general.alignment, whose type is at a position. */
static bool gguf_set_alignment(gguf_reader *r, size_t at){
  gguf_state *s = r->b->container->state;
  uint32_t type = gguf_u32(r->big, r->p+at), n;
  if( type!=GGUF_U32 ){
    zt_break(r->b->err, "GG14", "general.alignment is of type %.*s, not u32",
             (int)gguf_types[type].name.n, gguf_types[type].name.z);
    return false;
  }
  n = gguf_u32(r->big, r->p+at+4);
  if( n==0 || (n%8!=0 && (n & (n-1))!=0) ){
    zt_break(r->b->err, "GG14",
             "general.alignment is %u, neither a multiple of 8 nor a power of two", (unsigned)n);
    return false;
  }
  s->alignment = n;
  return true;
}

/* A key of which there is no other. *out is valid until more is read. */
static bool gguf_scan_key(gguf_reader *r, zt_text *out){
  size_t at = r->at+8;
  bool duplicate;
  if( !gguf_scan_text(r) ) return false;
  *out = (zt_text){ (const char*)r->p+at, r->at-at };
  if( !zt_utf8_valid(r->p+at, out->n) ){
    zt_break(r->b->err, "GG9", "byte %llu: a key is not UTF-8",
             (unsigned long long)(GGUF_HEADER+at));
    return false;
  }
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
    at = r->at;
    if( !gguf_scan_type(r, &type) || !gguf_scan_value(r, type, 0) ) return false;
    if( alignment && !gguf_set_alignment(r, at) ) return false;
  }
  return true;
}

/* The bytes of a tensor's info. */
static bool gguf_scan_info_bytes(gguf_reader *r){
  uint32_t rank;
  if( !gguf_scan_text(r) || !gguf_have(r, 4, "a tensor's number of dimensions") ) return false;
  rank = gguf_u32(r->big, r->p+r->at);
  if( rank>ZT_MAX_RANK ){
    zt_break(r->b->err, "GG12", "byte %llu: a tensor of %u dimensions, %d are the most",
             (unsigned long long)(GGUF_HEADER+r->at), (unsigned)rank, ZT_MAX_RANK);
    return false;
  }
  if( !gguf_have(r, 4+8*(uint64_t)rank+12, "a tensor's info") ) return false;
  r->at += 4+8*(size_t)rank+12;
  return true;
}

/* Add a tensor. Whether its bytes are there is seen when all infos are. */
static int gguf_add(zt_builder *b, size_t at){
  const zt_container *c = b->container;
  uint64_t alignment = gguf_of(c)->alignment;
  zt_object object;
  gguf_info info;
  bool duplicate;
  gguf_read_info(c, at, &info);
  if( !zt_utf8_valid((const uint8_t*)info.name.z, info.name.n)
   || zt_has_nul(info.name.z, info.name.n) ){
    return zt_break(b->err, "GG9", "byte %llu: a tensor's name is not UTF-8, or has U+0000 in it",
                    (unsigned long long)(GGUF_HEADER+8)+at);
  }
  b->err->object = info.name;
  if( zt_builder_object(b, info.name, at, &duplicate) ) return b->err->rc;
  if( duplicate ) return zt_break(b->err, "GG11", "two tensors have this name");
  if( !gguf_set_shape(c, &info, &object) ){
    return zt_break(b->err, "GG13", "the product of its dimensions does not fit 64 bits");
  }
  if( info.offset%alignment!=0 ){
    return zt_break(b->err, "GG15", "offset %llu is not a multiple of %llu",
                    (unsigned long long)info.offset, (unsigned long long)alignment);
  }
  b->err->object.z = NULL;
  return zt_builder_component(b, at);
}

static bool gguf_scan_infos(gguf_reader *r, uint64_t n){
  zt_builder_reserve(r->b, n<GGUF_AHEAD ? n : GGUF_AHEAD, n<GGUF_AHEAD ? n : GGUF_AHEAD);
  for(uint64_t i=0; i<n; i++){
    size_t at = r->at;
    if( !gguf_poll(r->b, i) || !gguf_scan_info_bytes(r) || gguf_add(r->b, at) ) return false;
  }
  return true;
}

/* --- Opening --- */

/* Fail unless all tensors' bytes are in the file. */
static int gguf_check_ranges(zt_builder *b){
  const zt_container *c = b->container;
  uint64_t data = gguf_of(c)->data, length, offset;
  zt_object object;
  gguf_info info;
  bool known;
  for(uint32_t i=0; i<c->objects.n; i++){
    if( !gguf_poll(b, i) ) return b->err->rc;
    gguf_read_info(c, c->objects.a[i], &info);
    b->err->object = info.name;
    gguf_set_shape(c, &info, &object);
    if( !gguf_length(c, &info, object.elements, &known, &length) ){
      return zt_break(b->err, "GG16", "shape and type make more than 2^64 bytes");
    }
    if( !zt_add64(data, info.offset, &offset) || !zt_claim(c->file_size, offset, length) ){
      return zt_break(b->err, "GG16", "%llu bytes at offset %llu of the data, which begins at "
                      "%llu, go beyond the file's end", (unsigned long long)length,
                      (unsigned long long)info.offset, (unsigned long long)data);
    }
    b->err->object.z = NULL;
  }
  return SQLITE_OK;
}

static zt_probe gguf_probe(const zt_ends *ends, zt_error *err){
  (void)err;
  return ends->head.n>=4 && memcmp(ends->head.p, "GGUF", 4)==0 ? ZT_PROBE_YES : ZT_PROBE_NO;
}

static int gguf_read_header(zt_builder *b, const zt_ends *ends, gguf_state *s){
  uint8_t header[GGUF_HEADER];
  uint64_t left;
  uint32_t version;
  if( ends->size<GGUF_HEADER ){
    return zt_break(b->err, "GG1", "the file has %llu bytes, a GGUF header has %d",
                    (unsigned long long)ends->size, GGUF_HEADER);
  }
  if( zt_source_read(b->source, 0, header, GGUF_HEADER, b->err) ) return b->err->rc;
  version = gguf_u32(false, header+4);
  s->big = (version & 0xFFFF)==0;
  version = gguf_u32(s->big, header+4);
  if( version!=2 && version!=3 ){
    return zt_break(b->err, "GG2", "GGUF version %u cannot be read, 2 and 3 can",
                    (unsigned)version);
  }
  b->container->version = version==2 ? ZT_TEXT("2") : ZT_TEXT("3");
  s->tensors = gguf_u64(s->big, header+8);
  s->keys = gguf_u64(s->big, header+16);
  left = ends->size-GGUF_HEADER;
  if( s->tensors>left/GGUF_INFO_MIN || s->keys>left/GGUF_KEY_MIN ){
    return zt_break(b->err, "GG3", "%llu keys and %llu tensors are more than the file has room for",
                    (unsigned long long)s->keys, (unsigned long long)s->tensors);
  }
  if( s->tensors>ZT_MAX_MANIFEST/GGUF_INFO_MIN || s->keys>ZT_MAX_MANIFEST/GGUF_KEY_MIN ){
    return zt_break(b->err, "GG5", "%llu keys and %llu tensors take more than 1 GiB",
                    (unsigned long long)s->keys, (unsigned long long)s->tensors);
  }
  return SQLITE_OK;
}

/* What a container has without having been asked. */
static void gguf_set_container(zt_container *c){
  const gguf_state *s = c->state;
  c->rules = ZT_RULE_PADDING_ZERO;
  c->begin = GGUF_HEADER;
  c->gap = s->alignment;
  c->attributes = (zt_value){
    .type = ZT_VALUE_MAP, .kind = GGUF_KEYS, .count = s->keys, .at = 16
  };
  c->manifest = (zt_value){ .type = ZT_VALUE_MAP, .kind = GGUF_MANIFEST, .count = 2 };
}

static int gguf_open(zt_builder *b, const zt_ends *ends){
  zt_container *c = b->container;
  gguf_reader r = { .b = b, .keys = { .interrupt = b->interrupt } };
  gguf_state *s = sqlite3_malloc64(sizeof(*s));
  uint64_t end;
  if( !s ) return zt_fail_nomem(b->err);
  *s = (gguf_state){ .alignment = GGUF_ALIGNMENT };
  c->state = s;
  c->state_size = sizeof(*s);
  if( gguf_read_header(b, ends, s) ) return b->err->rc;
  r.big = s->big;
  r.total = ends->size-GGUF_HEADER;
  if( !gguf_scan_keys(&r, s->keys) ) goto end;
  s->infos = r.at;
  if( !gguf_scan_infos(&r, s->tensors) ) goto end;
  zt_builder_cut(b, r.at);
  end = GGUF_HEADER+r.at;
  s->data = end + (s->alignment - end%s->alignment)%s->alignment;
  gguf_check_ranges(b);
  gguf_set_container(c);
end:
  zt_keys_clear(&r.keys);
  return b->err->rc;
}

static void gguf_close(zt_container *c){
  sqlite3_free(c->state);
}

/* --- Decoding --- */

static void gguf_object(const zt_container *c, uint32_t i, zt_object *out){
  size_t at = c->objects.a[i];
  gguf_info info;
  gguf_read_info(c, at, &info);
  out->layout = ZT_LAYOUT_UNKNOWN;
  if( !info.type ){
    out->format = ZT_TEXT("gguf.unknown");
  }else if( info.type->id==ZT_GGML_PLAIN ){
    out->format = ZT_TEXT("dense");
    out->layout = ZT_LAYOUT_DENSE;
  }else{
    out->format = gguf_formats[info.type->id];
    out->layout = ZT_LAYOUT_GGML;
    out->blocks = info.type;
  }
  gguf_set_shape(c, &info, out);
  out->attributes = (zt_value){
    .type = ZT_VALUE_MAP, .kind = GGUF_OBJECT, .count = 2, .at = GGUF_HEADER+at+2
  };
}

/* Component i is that of object i. */
static void gguf_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                           zt_component *out){
  const gguf_state *s = c->state;
  zt_object object;
  gguf_info info;
  bool known;
  (void)k;
  (void)want;
  gguf_read_info(c, c->objects.a[i], &info);
  out->role = ZT_TEXT("data");
  out->dtype = info.type && info.type->id==ZT_GGML_PLAIN ? info.type->name : ZT_TEXT("u8");
  zt_dtype_decide(out);
  if( s->big ) out->byte_order = ZT_TEXT("big");
  out->offset = s->data+info.offset;
  gguf_set_shape(c, &info, &object);
  gguf_length(c, &info, object.elements, &known, &out->length);
  out->unsized = !known;
  out->mixed = !info.type || info.type->id!=ZT_GGML_PLAIN;
}

/* --- Values. Each is in the place of its first byte in the file; what is made of parts of the file
** has one to itself in the bytes of a count or a length: none of them is a value --- */

/* The position behind a value, which was checked. */
static size_t gguf_behind(const zt_container *c, uint32_t type, size_t at){
  bool big = gguf_of(c)->big;
  const uint8_t *p = c->kept.p;
  uint32_t inner;
  uint64_t n;
  if( type==GGUF_TEXT ) return at+8+(size_t)gguf_u64(big, p+at);
  if( type!=GGUF_ARRAY ) return at+gguf_types[type].width;
  inner = gguf_u32(big, p+at);
  n = gguf_u64(big, p+at+4);
  at += 12;
  if( inner!=GGUF_TEXT && inner!=GGUF_ARRAY ) return at+(size_t)n*gguf_types[inner].width;
  while( n-->0 ) at = gguf_behind(c, inner, at);
  return at;
}

/* A text; bytes, if it is not UTF-8. */
static void gguf_set_text(zt_span text, zt_value *out){
  if( zt_utf8_valid(text.p, text.n) ){
    out->type = ZT_VALUE_TEXT;
    out->text = (zt_text){ (const char*)text.p, text.n };
  }else{
    out->type = ZT_VALUE_BYTES;
    out->bytes = text;
  }
}

static void gguf_set_number(uint32_t type, uint64_t u, zt_value *out){
  unsigned width = gguf_types[type].width;
  out->type = ZT_VALUE_INTEGER;
  out->u = u;
  switch( type ){
    case GGUF_I8: case GGUF_I16: case GGUF_I32: case GGUF_I64:
      out->negative = u>>(8*width-1)!=0;
      if( out->negative ) out->u = ~u & (UINT64_MAX>>(64-8*width));
      break;
    case GGUF_F32: case GGUF_F64:
      out->type = ZT_VALUE_REAL;
      out->real = gguf_real(u, width);
      break;
    case GGUF_BOOL:
      out->type = u ? ZT_VALUE_TRUE : ZT_VALUE_FALSE;
      break;
  }
}

/* The value at the walk's position, which goes behind it unless it is an array. */
static void gguf_next_value(zt_walk *w, uint32_t type, zt_value *out){
  bool big = gguf_of(w->container)->big;
  const uint8_t *p = w->container->kept.p+w->at;
  out->kind = type;
  out->at = GGUF_HEADER+w->at;
  if( type==GGUF_ARRAY ){
    out->type = ZT_VALUE_ARRAY;
    out->depth = gguf_u32(big, p);
    out->count = gguf_u64(big, p+4);
    return;
  }
  if( type==GGUF_TEXT ) gguf_set_text((zt_span){ p+8, (size_t)gguf_u64(big, p) }, out);
  else gguf_set_number(type, gguf_uint(big, p, gguf_types[type].width), out);
  w->at = gguf_behind(w->container, type, (size_t)w->at);
}

/* A map or an array that is made of parts of the file. */
static void gguf_make(zt_value *out, uint32_t kind, uint64_t at, uint64_t count){
  out->type = kind==GGUF_INFOS || kind==GGUF_DIMENSIONS ? ZT_VALUE_ARRAY : ZT_VALUE_MAP;
  out->kind = kind;
  out->at = at;
  out->count = count;
}

/* The name of a member that is made, in the second byte of its value. */
static void gguf_make_key(zt_value *key, zt_text name, const zt_value *value){
  key->type = ZT_VALUE_TEXT;
  key->text = name;
  key->at = value->at+1;
}

static void gguf_next_of_manifest(zt_walk *w, const zt_level *level, zt_value *key,
                                  zt_value *value){
  const gguf_state *s = w->container->state;
  bool keys = level->left==1;
  if( keys ) gguf_make(value, GGUF_KEYS, 16, s->keys);
  else gguf_make(value, GGUF_INFOS, 8, s->tensors);
  gguf_make_key(key, keys ? ZT_TEXT("metadata_kv") : ZT_TEXT("tensor_infos"), value);
}

/* A part of a tensor's info. The info itself is in the place of the name's first byte. */
static void gguf_next_of_info(zt_walk *w, const zt_level *level, zt_value *key, zt_value *value){
  static const zt_text names[] = {
    ZT_TEXT_INIT("offset"), ZT_TEXT_INIT("type"), ZT_TEXT_INIT("dimensions"), ZT_TEXT_INIT("name")
  };
  switch( level->left ){
    case 3:
      gguf_next_value(w, GGUF_TEXT, value);
      value->at += 4;
      break;
    case 2:
      gguf_make(value, GGUF_DIMENSIONS, GGUF_HEADER+w->at,
                gguf_u32(gguf_of(w->container)->big, w->container->kept.p+w->at));
      break;
    default:
      gguf_next_value(w, level->left==1 ? GGUF_U32 : GGUF_U64, value);
      break;
  }
  gguf_make_key(key, names[level->left], value);
}

/* An object's attributes; the walk stands at its info. */
static void gguf_next_of_object(zt_walk *w, const zt_level *level, zt_value *key, zt_value *value){
  size_t at = (size_t)w->at;
  gguf_info info;
  gguf_read_info(w->container, at, &info);
  if( level->left==1 ){
    w->at = info.number;
    gguf_next_value(w, GGUF_U32, value);
    w->at = at;
    gguf_make_key(key, ZT_TEXT("ggml_type"), value);
  }else{
    gguf_make(value, GGUF_DIMENSIONS, GGUF_HEADER+info.dimensions, info.rank);
    gguf_make_key(key, ZT_TEXT("ne"), value);
  }
}

static bool gguf_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  if( level->left==0 ) return false;
  level->left--;
  switch( level->kind ){
    case GGUF_ARRAY:      gguf_next_value(w, level->depth, value); break;
    case GGUF_DIMENSIONS: gguf_next_value(w, GGUF_U64, value); break;
    case GGUF_MANIFEST:   gguf_next_of_manifest(w, level, key, value); break;
    case GGUF_INFO:       gguf_next_of_info(w, level, key, value); break;
    case GGUF_OBJECT:     gguf_next_of_object(w, level, key, value); break;
    case GGUF_INFOS:      gguf_make(value, GGUF_INFO, GGUF_HEADER+w->at, 4); break;
    default: {
      uint32_t type;
      gguf_next_value(w, GGUF_TEXT, key);
      type = gguf_u32(gguf_of(w->container)->big, w->container->kept.p+w->at);
      w->at += 4;
      gguf_next_value(w, type, value);
    }
  }
  return true;
}

static void gguf_enter(zt_walk *w, const zt_value *of, zt_level *level){
  level->kind = of->kind;
  level->depth = of->depth;
  level->left = of->count;
  switch( of->kind ){
    case GGUF_ARRAY:      w->at = of->at-GGUF_HEADER+12; break;
    case GGUF_DIMENSIONS: w->at = of->at-GGUF_HEADER+4; break;
    case GGUF_INFO:       w->at = of->at-GGUF_HEADER; break;
    case GGUF_OBJECT:     w->at = of->at-GGUF_HEADER-2; break;
    case GGUF_INFOS:      w->at = gguf_of(w->container)->infos; break;
    default:              w->at = 0; break;
  }
}

static void gguf_skip(zt_walk *w, const zt_value *value){
  size_t at = (size_t)value->at-GGUF_HEADER;
  gguf_info info;
  switch( value->kind ){
    case GGUF_ARRAY:      w->at = gguf_behind(w->container, GGUF_ARRAY, at); break;
    case GGUF_DIMENSIONS: w->at = at+4+8*(size_t)value->count; break;
    case GGUF_INFO:
      gguf_read_info(w->container, at, &info);
      w->at = info.end;
      break;
    default: break;   /* Both parts of the manifest are found by themselves */
  }
}

/* Append to a text in the making. */
static size_t gguf_put(char *z, size_t n, zt_text more){
  memcpy(z+n, more.z, more.n);
  return n+more.n;
}

/* u32, arr[str], arr[arr[f32]]: what an array of arrays consists of is told by the first of
** them, and by arr[arr] alone if there is none. */
static zt_text gguf_stored_type(zt_walk *w, const zt_value *value){
  const zt_container *c = w->container;
  bool big = gguf_of(c)->big;
  uint32_t type = value->kind==GGUF_DIMENSIONS ? GGUF_U64 : value->depth;
  size_t at = (size_t)value->at-GGUF_HEADER, n, depth = 1;
  char *z;
  if( value->kind<GGUF_TYPES && value->kind!=GGUF_ARRAY ) return gguf_types[value->kind].name;
  if( value->kind!=GGUF_ARRAY && value->kind!=GGUF_DIMENSIONS ) return (zt_text){ NULL, 0 };
  z = zt_walk_room(w, ZT_WALK_KEY, 5*GGUF_DEPTH_MAX+8);
  if( !z ) return (zt_text){ NULL, 0 };
  n = gguf_put(z, 0, ZT_TEXT("arr["));
  for(; type==GGUF_ARRAY && gguf_u64(big, c->kept.p+at+4)>0; depth++){
    at += 12;
    type = gguf_u32(big, c->kept.p+at);
    n = gguf_put(z, n, ZT_TEXT("arr["));
  }
  n = gguf_put(z, n, gguf_types[type].name);
  memset(z+n, ']', depth);
  return (zt_text){ z, n+depth };
}

static const zt_steps gguf_steps = { gguf_enter, gguf_next, gguf_skip, gguf_stored_type };

const zt_driver zt_driver_gguf = {
  .name = "gguf",
  .format = "gguf",
  .probe = gguf_probe,
  .open = gguf_open,
  .object = gguf_object,
  .component = gguf_component,
  .steps = &gguf_steps,
  .close = gguf_close,
};
