/*
** MATLAB files of level 5 (MAT-File Format), in either byte order. Numbers have the file's.
**
**   file    := text[116] u64 u16 mark element*   ; the u64 is the place of a subsystem's data, or
**                                         ; spaces; 0x0100; `IM`, or in a big-endian file `MI`. ML1
**   element := u32 u32 byte* padding?     ; type, size, data padded to 8. A matrix and a compressed
**                                         ; element are not padded. ML2
**            | u32 byte[4]                ; upper half: size from 1 to 4; lower half: type
**
** The elements of a file are matrices (type 14), or compressed (15): a zlib stream of one matrix,
** ML3, ML4. A matrix has parts, which are elements:
**
**   matrix  := nothing                    ; size 0: empty
**            | flags dims name content    ; u32 u32; i32*; text
**   flags   := class | 0x200 logical | 0x400 global | 0x800 complex
**   content := matrix*                    ; class 1, a cell array: column-major. ML7
**            | length names matrix*       ; 2, struct: i32, names of that many bytes, and for each
**                                         ; struct a matrix for each name. ML7, ML8
**            | class length names matrix* ; 3, object: the name of its class, then as a struct
**            | text                       ; 4, char
**            | rows columns real imag?    ; 5, sparse: indices of rows, starts of columns, values
**            | real imag?                 ; 6 double, 7 single, 8 to 15 integers: i8 u8 i16 ... u64
**            | matrix                     ; 16, function
**   opaque  := flags text text text matrix   ; 17: variable, system, class
**
** Numbers may be stored as another type than their class's, which encodings convert. The types of
** parts are 1 i8, 2 u8, 3 i16, 4 u16, 5 i32, 6 u32, 7 f32, 9 f64, 12 i64, 13 u64, and 16 to 18,
** UTF-8, UTF-16 and UTF-32.
**
**   ML1  the header is complete, of version 0x0100 and of a known byte order
**   ML2  an element lies within what it is in
**   ML3  elements have the types that belong in their places
**   ML4  a compressed element is a zlib stream that holds its matrix, and nothing else. The
**        checksum of one array is checked where its numbers are read
**   ML5  names are UTF-8, and without U+0000
**   ML6  matrices are nested at most MATLAB_DEPTH_MAX deep
**   ML7  a matrix has room for its cells or fields
**   ML8  the length of a field's name is positive, and divides the length of all
**   ML9  paths, texts and records take at most MATLAB_SPARE plus MATLAB_TIMES the file's size
**   ML10 a part has whole numbers
**   ML14 a matrix is of one of these classes, and the numbers of a text are its characters: else it
**        is an attribute, with a note
**   ML15 nothing follows a matrix's last part, cell or field within it: a note
**
** Arrays of numbers are objects, in the order of the file. Texts are attributes; so are empty
** structs and cells, functions and objects of classes. Functions and opaque objects are not
** entered.
*/
#include "container/matlab.h"

#include "container/manifest.h"
#include "core/host.h"

#define MATLAB_HEADER 128
#define MATLAB_TEXT 116
#define MATLAB_DEPTH_MAX 64
#define MATLAB_POLL 0x3FFu              /* Matrices between two checks for an interrupt */
#define MATLAB_SPARE ((uint64_t)1 << 20)
#define MATLAB_TIMES 32
#define MATLAB_SPEC(section) "MAT-File Format, level 5, " section
#define MATLAB_SPEC_4 "MAT-File Format, level 4"

const zt_rule zt_rules_matlab[] = {
  ZT_ERROR("ML1", "matlab-header",
           "the header is complete, of version 0x0100 and of a known byte order (MATLAB)",
           MATLAB_SPEC("header")),
  ZT_ERROR("ML2", "matlab-element", "an element lies within what it is in (MATLAB)",
           MATLAB_SPEC("data element")),
  ZT_ERROR("ML3", "matlab-type", "elements have the types that belong in their places (MATLAB)",
           MATLAB_SPEC("array")),
  ZT_ERROR("ML4", "matlab-zlib",
           "a compressed element is a zlib stream that holds its matrix (MATLAB)",
           MATLAB_SPEC("compressed data element")),
  ZT_ERROR("ML5", "matlab-name", "names are UTF-8, and without U+0000 (MATLAB)", ZT_SPEC_SENSE),
  ZT_ERROR("ML6", "matlab-depth", "matrices are nested at most 64 deep (MATLAB)", ZT_SPEC_OURS),
  ZT_ERROR("ML7", "matlab-count", "a matrix has room for its cells or fields (MATLAB)",
           MATLAB_SPEC("cell array, structure")),
  ZT_ERROR("ML8", "matlab-fields",
           "the length of a field's name is positive, and divides that of all names (MATLAB)",
           MATLAB_SPEC("structure")),
  ZT_ERROR("ML9", "matlab-size",
           "paths, texts and records take at most 1 MiB plus 32 times the file's size (MATLAB)",
           ZT_SPEC_OURS),
  ZT_ERROR("ML10", "matlab-numbers", "a part has whole numbers (MATLAB)", MATLAB_SPEC("array")),
  ZT_ERROR("ML11", "matlab-level-4", "a matrix lies within the file, and has a name (MATLAB 4)",
           MATLAB_SPEC_4),
  ZT_ERROR("ML12", "matlab-level-4-type",
           "numbers are little-endian or big-endian, and of known types (MATLAB 4)",
           MATLAB_SPEC_4),
  ZT_ERROR("ML13", "matlab-triplets",
           "rows and columns of a sparse matrix are integers from 1 on (MATLAB 4)",
           MATLAB_SPEC_4),
  ZT_WARNING("ML14", "matlab-class",
             "a matrix is of a known class, and a text is as long as its dimensions say (MATLAB)",
             MATLAB_SPEC("array")),
  ZT_WARNING("ML15", "matlab-behind",
             "nothing follows a matrix's last part, cell or field within it (MATLAB)",
             MATLAB_SPEC("array")),
  ZT_RULES_END
};

enum { MATLAB_INT8 = 1, MATLAB_UINT8 = 2, MATLAB_INT32 = 5, MATLAB_UINT32 = 6 };

/* --- Heads of matrices --- */

static bool matlab_fail_type(zt_matlab_scan *s, const zt_matlab_tag *tag, const char *what){
  zt_break(s->err, "ML3", "byte %llu: an element of type %u and %llu bytes in the place of %s",
           tag->data, tag->type, tag->size, what);
  return false;
}

/* Read dimensions; those that make no shape leave `shaped` false. */
static bool matlab_read_dims(zt_matlab_scan *s, const zt_matlab_tag *tag, zt_matlab_head *m){
  zt_object object = { .rank = 0 };
  uint8_t bytes[4];
  if( (tag->type!=MATLAB_INT32 && tag->type!=MATLAB_UINT32) || tag->size%4 ){
    return matlab_fail_type(s, tag, "the dimensions");
  }
  m->shaped = tag->size/4<=ZT_MAX_RANK;
  m->rank = m->shaped ? (uint32_t)(tag->size/4) : 0;
  for(uint32_t d=0; d<m->rank; d++){
    if( !zt_matlab_take(&s->in, bytes, 4) ) return false;
    m->shape[d] = zt_matlab_number(&s->in, bytes, 4);
    m->shaped = m->shaped && m->shape[d]<=INT32_MAX;
  }
  object.rank = m->rank;
  memcpy(object.shape, m->shape, m->rank*sizeof(*m->shape));
  m->shaped = m->shaped && zt_object_count(&object);
  m->count = m->shaped ? object.elements : 0;
  return zt_matlab_pass(&s->in, tag->next);
}

bool zt_matlab_push(zt_matlab_scan *s, const char *z, size_t n){
  if( !zt_utf8_without_nul((zt_text){ z, n }) ){
    zt_break(s->err, "ML5", "byte %llu: a name is not UTF-8, or has U+0000 in it", s->in.at);
    return false;
  }
  zt_cbor_put_items(&s->path, (zt_span){ (const uint8_t*)z, n });
  return !s->err->rc;
}

/* Read the next element, a text of one byte a character, into memory of the caller, who frees it.
** NULL after a failure. */
static char *matlab_read_text(zt_matlab_scan *s, uint64_t end, const char *what, size_t *n){
  zt_matlab_tag tag;
  char *z;
  if( !zt_matlab_next(&s->in, end, &tag) ) return NULL;
  if( zt_matlab_width(tag.type)!=1 && tag.type!=16 ){
    matlab_fail_type(s, &tag, what);
    return NULL;
  }
  if( !zt_matlab_may_keep(s, tag.size) ) return NULL;
  z = sqlite3_malloc64(tag.size+1);
  if( !z ){
    zt_fail_nomem(s->err);
    return NULL;
  }
  *n = (size_t)tag.size;
  if( zt_matlab_take(&s->in, z, *n) && zt_matlab_pass(&s->in, tag.next) ) return z;
  sqlite3_free(z);
  return NULL;
}

/* Read the name of a matrix. That of a variable begins the path; others are not used. */
static bool matlab_read_name(zt_matlab_scan *s, uint64_t end, bool variable){
  size_t n = 0;
  char *z = matlab_read_text(s, end, "a name", &n);
  const bool ok = z && (!variable || zt_matlab_push(s, z, n));
  sqlite3_free(z);
  return ok;
}

static bool matlab_read_flags(zt_matlab_scan *s, zt_matlab_head *m){
  zt_matlab_tag tag;
  uint8_t bytes[8];
  uint32_t flags;
  if( !zt_matlab_next(&s->in, m->end, &tag) ) return false;
  if( tag.type!=MATLAB_UINT32 || tag.size!=8 ){
    return matlab_fail_type(s, &tag, "the flags of a matrix");
  }
  if( !zt_matlab_take(&s->in, bytes, 8) ) return false;
  flags = (uint32_t)zt_matlab_number(&s->in, bytes, 4);
  m->class = flags & 0xFF;
  m->logical = (flags & 0x200)!=0;
  m->global = (flags & 0x400)!=0;
  m->complex = (flags & 0x800)!=0;
  return true;
}

static bool matlab_read_head(zt_matlab_scan *s, bool variable, zt_matlab_head *m){
  zt_matlab_tag tag;
  if( !matlab_read_flags(s, m) ) return false;
  if( m->class==ZT_MATLAB_OPAQUE ) return matlab_read_name(s, m->end, variable);
  return zt_matlab_next(&s->in, m->end, &tag) && matlab_read_dims(s, &tag, m)
      && matlab_read_name(s, m->end, variable);
}

/* --- Arrays of numbers --- */

static void matlab_set_part(const zt_matlab_scan *s, const zt_matlab_tag *tag, uint32_t role,
                            zt_matlab_part *out){
  memset(out, 0, sizeof(*out));   /* Its padding is kept, too */
  out->role = role;
  out->type = tag->type;
  out->size = tag->size;
  out->packed = s->in.packed;
  out->big = s->in.big;
  if( !s->in.packed ){
    out->offset = tag->data;
    out->length = tag->size;
    return;
  }
  out->offset = s->in.offset;
  out->length = s->in.length;
  out->skip = tag->data;
  out->behind = s->packed_end-tag->data-tag->size;
}

/* Leave out of a part what lies behind n numbers. */
static void matlab_cut_part(zt_matlab_part *part, uint64_t n){
  const unsigned width = zt_matlab_width(part->type);
  if( width==0 || n>=part->size/width ) return;
  part->behind += part->size-n*width;
  part->size = n*width;
}

/* Read a part's head, and pass over it if something follows. A part that is not there is empty. */
static bool matlab_read_part(zt_matlab_scan *s, const zt_matlab_head *m, uint32_t role, bool last,
                             zt_matlab_part *out){
  zt_matlab_tag tag = { .type = 9, .data = s->in.at, .next = s->in.at };
  if( m->end-s->in.at>=8 && !zt_matlab_next(&s->in, m->end, &tag) ) return false;
  if( tag.type==ZT_MATLAB_MATRIX || tag.type==ZT_MATLAB_COMPRESSED ){
    return matlab_fail_type(s, &tag, "numbers");
  }
  matlab_set_part(s, &tag, role, out);
  s->parts_end = tag.next;
  return last || zt_matlab_pass(&s->in, tag.next);
}

static bool matlab_numeric(zt_matlab_scan *s, const zt_matlab_head *m){
  zt_matlab_part parts[ZT_MATLAB_PARTS];
  if( !m->complex ){
    return matlab_read_part(s, m, ZT_MATLAB_ROLE_DATA, true, parts)
        && zt_matlab_add(s, m, parts, 1);
  }
  return matlab_read_part(s, m, ZT_MATLAB_ROLE_REAL, false, parts)
      && matlab_read_part(s, m, ZT_MATLAB_ROLE_IMAG, true, parts+1)
      && zt_matlab_add(s, m, parts, 2);
}

/* Read the starts of columns. The last one is the number of values: room for more may be stored.
** *n is UINT64_MAX if it is not known. */
static bool matlab_read_columns(zt_matlab_scan *s, const zt_matlab_head *m, zt_matlab_part *out,
                                uint64_t *n){
  zt_matlab_tag tag = { .type = 9, .data = s->in.at, .next = s->in.at };
  uint8_t bytes[8];
  unsigned width;
  *n = UINT64_MAX;
  if( m->end-s->in.at>=8 && !zt_matlab_next(&s->in, m->end, &tag) ) return false;
  matlab_set_part(s, &tag, ZT_MATLAB_ROLE_INDPTR, out);
  width = zt_matlab_width(tag.type);
  if( tag.type!=7 && tag.type!=9 && width && tag.size && tag.size%width==0 ){
    if( !zt_matlab_pass(&s->in, tag.data+tag.size-width)
     || !zt_matlab_take(&s->in, bytes, width) ) return false;
    *n = zt_matlab_number(&s->in, bytes, width);
  }
  return zt_matlab_pass(&s->in, tag.next);
}

/* MATLAB writes logical values as a byte each, and their head states doubles. n: as many are used;
** rows: the indices, which have the same spare places. */
static void matlab_set_logical(zt_matlab_part *values, const zt_matlab_part *rows, uint64_t n){
  const unsigned width = zt_matlab_width(rows->type);
  const bool bytes = values->size==n || (width>0 && values->size==rows->size/width);
  if( bytes && zt_matlab_width(values->type)>1 ) values->type = MATLAB_UINT8;
}

static bool matlab_sparse(zt_matlab_scan *s, const zt_matlab_head *m){
  zt_matlab_part parts[ZT_MATLAB_PARTS];
  const uint32_t values = m->complex ? ZT_MATLAB_ROLE_REAL : ZT_MATLAB_ROLE_VALUES;
  uint64_t n;
  if( !matlab_read_part(s, m, ZT_MATLAB_ROLE_INDICES, false, parts)
   || !matlab_read_columns(s, m, parts+1, &n)
   || !matlab_read_part(s, m, values, !m->complex, parts+2) ) return false;
  if( m->complex && !matlab_read_part(s, m, ZT_MATLAB_ROLE_IMAG, true, parts+3) ) return false;
  if( m->logical && !m->complex ) matlab_set_logical(parts+2, parts, n);
  matlab_cut_part(parts, n);
  matlab_cut_part(parts+2, n);
  if( m->complex ) matlab_cut_part(parts+3, n);
  return zt_matlab_add(s, m, parts, 3+m->complex);
}

/* --- Cells and structs --- */

static bool matlab_matrix(zt_matlab_scan *s, const zt_matlab_tag *tag, bool variable, int depth);

/* Read the next matrix, at the path of the current one with `name` behind it. */
static bool matlab_child(zt_matlab_scan *s, const zt_matlab_head *m, const char *name, size_t n,
                         int depth){
  const size_t path = s->path.n;
  zt_matlab_tag tag;
  if( !zt_matlab_next(&s->in, m->end, &tag) ) return false;
  if( tag.type!=ZT_MATLAB_MATRIX ) return matlab_fail_type(s, &tag, "a matrix");
  if( !zt_matlab_push(s, ".", 1) || !zt_matlab_push(s, name, n)
   || !matlab_matrix(s, &tag, false, depth+1) ) return false;
  s->path.n = path;
  return true;
}

/* ML7 */
static bool matlab_check_count(zt_matlab_scan *s, const zt_matlab_head *m, uint64_t each){
  uint64_t n;
  if( m->shaped && zt_mul64(m->count, each, &n) && n<=(m->end-s->in.at)/8 ) return true;
  zt_break(s->err, "ML7", "byte %llu: a matrix of %llu x %llu cells or fields has %llu bytes",
           s->in.at, m->count, each, m->end-s->in.at);
  return false;
}

static bool matlab_cell(zt_matlab_scan *s, const zt_matlab_head *m, int depth){
  if( !matlab_check_count(s, m, 1) ) return false;
  if( m->count==0 ) return zt_matlab_add_empty(s, ZT_CBOR_ARRAY);
  for(uint64_t i=0; i<m->count; i++){
    char name[24];
    sqlite3_snprintf(sizeof(name), name, "%llu", i);
    if( !matlab_child(s, m, name, strlen(name), depth) ) return false;
  }
  return true;
}

/* Read the length of a name, and all names, which the caller frees (ML8). */
static char *matlab_read_fields(zt_matlab_scan *s, const zt_matlab_head *m, uint64_t *length,
                                size_t *n){
  zt_matlab_tag tag;
  uint8_t bytes[4];
  char *names;
  if( !zt_matlab_next(&s->in, m->end, &tag) ) return NULL;
  if( tag.type!=MATLAB_INT32 || tag.size!=4 ){
    matlab_fail_type(s, &tag, "the length of fields' names");
    return NULL;
  }
  if( !zt_matlab_take(&s->in, bytes, 4) || !zt_matlab_pass(&s->in, tag.next) ) return NULL;
  *length = zt_matlab_number(&s->in, bytes, 4);
  names = matlab_read_text(s, m->end, "fields' names", n);
  if( !names || (*length>0 && *length<=INT32_MAX && *n%*length==0) ) return names;
  zt_break(s->err, "ML8", "byte %llu: fields' names of %llu bytes each are %llu bytes", s->in.at,
           *length, (uint64_t)*n);
  sqlite3_free(names);
  return NULL;
}

static bool matlab_struct(zt_matlab_scan *s, const zt_matlab_head *m, int depth){
  const size_t path = s->path.n;
  uint64_t length, fields;
  size_t n = 0;
  char *names = matlab_read_fields(s, m, &length, &n);
  bool ok;
  if( !names ) return false;
  fields = n/length;
  ok = matlab_check_count(s, m, fields);
  if( ok && (m->count==0 || fields==0) ) ok = zt_matlab_add_empty(s, ZT_CBOR_MAP);
  for(uint64_t i=0; ok && fields && i<m->count; i++){
    if( m->count>1 ){
      char number[24];
      sqlite3_snprintf(sizeof(number), number, ".%llu", i);
      ok = zt_matlab_push(s, number, strlen(number));
    }
    for(uint64_t k=0; ok && k<fields; k++){
      const char *name = names+k*length, *end = memchr(name, 0, (size_t)length);
      ok = matlab_child(s, m, name, end ? (size_t)(end-name) : (size_t)length, depth);
    }
    s->path.n = path;
  }
  sqlite3_free(names);
  return ok;
}

/* An object's class is an attribute at its path, and its fields are below it. */
static bool matlab_object(zt_matlab_scan *s, const zt_matlab_head *m, int depth){
  size_t n = 0;
  char *class = matlab_read_text(s, m->end, "the name of a class", &n);
  const bool ok = class && zt_matlab_add_opaque(s, class, n) && matlab_struct(s, m, depth);
  sqlite3_free(class);
  return ok;
}

/* The name of the variable was read. */
static bool matlab_opaque(zt_matlab_scan *s, const zt_matlab_head *m){
  size_t n = 0;
  char *system = matlab_read_text(s, m->end, "the name of a system", &n);
  char *class = system ? matlab_read_text(s, m->end, "the name of a class", &n) : NULL;
  const bool ok = class && zt_matlab_add_opaque(s, class, n);
  sqlite3_free(system);
  sqlite3_free(class);
  return ok;
}

static bool matlab_is_array(const zt_matlab_head *m){
  return m->class>=ZT_MATLAB_SPARSE && m->class<=ZT_MATLAB_UINT64;
}

static bool matlab_content(zt_matlab_scan *s, const zt_matlab_head *m, int depth){
  char unknown[24];
  switch( m->class ){
    case ZT_MATLAB_CELL:     return matlab_cell(s, m, depth);
    case ZT_MATLAB_STRUCT:   return matlab_struct(s, m, depth);
    case ZT_MATLAB_OBJECT:   return matlab_object(s, m, depth);
    case ZT_MATLAB_CHAR:     return zt_matlab_add_text(s, m);
    case ZT_MATLAB_SPARSE:   return matlab_sparse(s, m);
    case ZT_MATLAB_FUNCTION: return zt_matlab_add_opaque(s, "function", 8);
    case ZT_MATLAB_OPAQUE:   return matlab_opaque(s, m);
    default:
      if( matlab_is_array(m) ) return matlab_numeric(s, m);
      sqlite3_snprintf(sizeof(unknown), unknown, "class %u", m->class);
      return zt_matlab_note(s, "ML14", "is of an unknown class")
          && zt_matlab_add_opaque(s, unknown, strlen(unknown));
  }
}

/* ML15: what follows may be cells, fields or a part that the dimensions or flags deny. */
static bool matlab_check_behind(zt_matlab_scan *s, const zt_matlab_head *m){
  const bool nested = m->class>=ZT_MATLAB_CELL && m->class<=ZT_MATLAB_OBJECT;
  const uint64_t at = nested ? s->in.at : s->parts_end;
  if( !(nested || matlab_is_array(m)) || m->end<at+8 ) return true;
  return zt_matlab_note(s, "ML15", "has more in it than its dimensions and flags tell");
}

/* Read a matrix behind its tag. A variable's path is its name. */
static bool matlab_matrix(zt_matlab_scan *s, const zt_matlab_tag *tag, bool variable, int depth){
  zt_matlab_head m = { .end = tag->data+tag->size };
  if( depth>MATLAB_DEPTH_MAX ){
    zt_break(s->err, "ML6", "byte %llu: matrices are nested more than %d deep", tag->data,
             MATLAB_DEPTH_MAX);
    return false;
  }
  if( (s->steps++ & MATLAB_POLL)==0 && zt_interrupt_check(s->in.interrupt, s->err) ) return false;
  if( tag->size==0 ){
    const zt_matlab_tag nothing = { .type = 9, .data = tag->data };
    zt_matlab_part part;
    m.class = ZT_MATLAB_DOUBLE;
    m.shaped = true;
    m.rank = 2;
    matlab_set_part(s, &nothing, ZT_MATLAB_ROLE_DATA, &part);
    return zt_matlab_add(s, &m, &part, 1);
  }
  if( !matlab_read_head(s, variable, &m) || !matlab_content(s, &m, depth)
   || !matlab_check_behind(s, &m) ) return false;
  /* The numbers of a variable are decoded where they are asked for */
  return (variable && matlab_is_array(&m)) || zt_matlab_pass(&s->in, m.end);
}

/* --- Opening --- */

static bool matlab_compressed(zt_matlab_scan *s, const zt_matlab_tag *tag){
  zt_matlab_tag inner;
  if( !zt_matlab_unpack(&s->in, tag->data, tag->size)
   || !zt_matlab_next(&s->in, UINT64_MAX, &inner) ) return false;
  if( inner.type!=ZT_MATLAB_MATRIX ) return matlab_fail_type(s, &inner, "a compressed matrix");
  s->packed_end = inner.next;
  return matlab_matrix(s, &inner, true, 1) && (s->in.at<inner.next || zt_matlab_end(&s->in));
}

static bool matlab_elements(zt_matlab_scan *s){
  const uint64_t end = zt_source_size(s->in.source);
  zt_matlab_tag tag;
  s->in.at = MATLAB_HEADER;
  while( s->in.at<end ){
    if( !zt_matlab_next(&s->in, end, &tag) ) return false;
    s->path.n = 0;
    if( tag.type==ZT_MATLAB_COMPRESSED ){
      if( !matlab_compressed(s, &tag) ) return false;
    }else if( tag.type!=ZT_MATLAB_MATRIX ){
      return matlab_fail_type(s, &tag, "a variable");
    }else if( !matlab_matrix(s, &tag, true, 1) ){
      return false;
    }
    zt_matlab_return(&s->in, tag.next);
  }
  return true;
}

/* The byte order of a header: 'I' little, 'M' big; 0 if it has none, or another version. */
static char matlab_order(const uint8_t *header){
  const uint8_t *p = header+MATLAB_HEADER-4;
  if( memcmp(p, "\x00\x01IM", 4)==0 ) return 'I';
  return memcmp(p, "\x01\x00MI", 4)==0 ? 'M' : 0;
}

static int matlab_read_header(zt_matlab_scan *s, uint8_t *header){
  const uint64_t size = zt_source_size(s->in.source);
  if( size<MATLAB_HEADER ){
    return zt_break(s->err, "ML1", "the file has %llu bytes, a header has %d", size, MATLAB_HEADER);
  }
  if( zt_source_read(s->in.source, 0, header, MATLAB_HEADER, s->err) ) return s->err->rc;
  if( !matlab_order(header) ){
    return zt_break(s->err, "ML1", "its version and byte order are %02x%02x%02x%02x, not 0001494d"
                    " or 01004d49", header[124], header[125], header[126], header[127]);
  }
  s->in.big = matlab_order(header)=='M';
  return SQLITE_OK;
}

void zt_matlab_keep_values(zt_matlab_scan *s, zt_text description){
  zt_container *c = s->b->container;
  zt_cbor_out o = { .err = s->err };
  size_t n;
  uint32_t at = 0;
  zt_cbor_put_head(&o, ZT_CBOR_MAP, description.z!=NULL);
  if( description.z ){
    zt_cbor_put_text(&o, ZT_TEXT("description"));
    zt_cbor_put_name(&o, (zt_span){ (const uint8_t*)description.z, description.n });
  }
  n = o.n;
  zt_cbor_put_items(&o, (zt_span){ (const uint8_t*)"\xbf", 1 });
  zt_cbor_put_items(&o, (zt_span){ s->values.p, s->values.n });
  zt_cbor_put_items(&o, (zt_span){ (const uint8_t*)"\xff", 1 });
  if( !s->err->rc && !zt_builder_keep(s->b, o.p, o.n, &at) ){
    zt_manifest_set_map(&c->manifest, at, 0);
    zt_manifest_set_map(&c->attributes, at+n, 0);
  }
  zt_cbor_out_clear(&o);
}

zt_matlab_scan *zt_matlab_scan_new(zt_builder *b, uint64_t size){
  const uint64_t most = MATLAB_SPARE+MATLAB_TIMES*(size<ZT_MAX_MANIFEST ? size : ZT_MAX_MANIFEST);
  zt_matlab_scan *s = sqlite3_malloc64(sizeof(*s));
  if( !s ){
    zt_fail_nomem(b->err);
    return NULL;
  }
  *s = (zt_matlab_scan){
    .b = b, .err = b->err, .path = { .err = b->err }, .values = { .err = b->err },
    .in = { .source = b->source, .interrupt = b->interrupt, .err = b->err },
    .most = most<ZT_MAX_MANIFEST ? most : ZT_MAX_MANIFEST
  };
  b->container->rules = ZT_RULE_VIEWS|ZT_RULE_SPLIT_VALUES;
  return s;
}

void zt_matlab_scan_free(zt_matlab_scan *s){
  zt_matlab_close(&s->in);
  zt_cbor_out_clear(&s->path);
  zt_cbor_out_clear(&s->values);
  zt_renamed_clear(&s->repeats);
  sqlite3_free(s);
}

static int matlab_open(zt_builder *b, const zt_head_tail *input){
  zt_matlab_scan *s = zt_matlab_scan_new(b, input->size);
  uint8_t header[MATLAB_HEADER] = { 0 };
  size_t n = MATLAB_TEXT;
  if( !s ) return b->err->rc;
  b->container->version = ZT_TEXT("5");
  b->container->begin = MATLAB_HEADER;
  if( matlab_read_header(s, header)==SQLITE_OK && matlab_elements(s) ){
    while( n>0 && (header[n-1]==' ' || header[n-1]==0) ) n--;
    zt_matlab_keep_values(s, (zt_text){ (const char*)header, n });
  }
  zt_matlab_scan_free(s);
  return b->err->rc;
}

static zt_probe matlab_probe(const zt_head_tail *input, zt_error *err){
  uint8_t header[MATLAB_HEADER];
  if( zt_head_is(input, "MATLAB 5.0 MAT-f", 16) ) return ZT_PROBE_YES;
  /* Other programs begin with another text */
  for(size_t i=0; i<input->head.n; i++) if( input->head.p[i]<' ' ) return ZT_PROBE_NO;
  if( input->size<MATLAB_HEADER
   || zt_source_read(input->source, 0, header, MATLAB_HEADER, err) ) return ZT_PROBE_NO;
  return matlab_order(header) ? ZT_PROBE_YES : ZT_PROBE_NO;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         level 5 (`-v6`, `-v7`), both byte orders; level 4 (`-v4`); level 7.3 is HDF5
**   known by     a header of 128 bytes of text that ends in 0x0100 and `IM`, or `MI`
**   version      `5`
**   manifest     the header's text
**   attributes   texts, by their dotted path: of one row a text, of several an array; empty structs
**                and cells; functions and objects of classes are opaque
**   objects      arrays of numbers, by their dotted path, in the order of the file
**   of objects   `class`, MATLAB's; `global`
**   components   one, `data`; complex: `real` and `imag`. Sparse: `indices`, `indptr`, `values`.
**                Compressed elements are `zlib`. Numbers stored as another type than their
**                class's are `matlab.uint8` and so on; `byte_order` may be `big`
*/
const zt_driver zt_driver_matlab = {
  .name = "matlab",
  .format = "matlab",
  .files = "*.mat",
  .rules = { zt_rules_matlab },
  .probe = matlab_probe,
  .open = matlab_open,
  .object = zt_matlab_object,
  .component = zt_matlab_component,
  .steps = &zt_manifest_steps,
};
