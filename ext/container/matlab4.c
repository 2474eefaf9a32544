/*
** MATLAB files of level 4 (MAT-File Format), which have no mark: matrices one behind the other.
**
**   file   := matrix*
**   matrix := type rows columns i32 length name real imag?   ; i32 each; the third: 1 if complex
**   type   := 1000 * order + 10 * number + kind
**   order  := 0 little-endian | 1 big-endian | 2 to 4, VAX and Cray
**   number := 0 f64 | 1 f32 | 2 i32 | 3 i16 | 4 u16 | 5 u8
**   kind   := 0 numbers | 1 text, of the numbers of its characters | 2 sparse
**   name   := u8* 0                       ; `length` bytes
**
** The header has the byte order of the numbers. Matrices are column-major. A sparse one is stored
** as a matrix of three columns, or of four if it is complex: a row for each value, with the numbers
** of its row and column from 1 on, and a last row with those of all rows and columns.
**
**   ML11 a matrix lies within the file, and has a name that ends in 0
**   ML12 numbers are little-endian or big-endian, and of a known type; so is the kind
**   ML13 rows and columns of a sparse matrix are integers from 1 on
** and ML5 and ML9 of matlab.c. A sparse matrix whose shape is none has the shape that is stored.
*/
#include "container/manifest.h"
#include "container/matlab.h"

#include "core/host.h"

#define MATLAB4_HEADER 20
#define MATLAB4_NAME 64      /* Bytes of a first name, at most, for the probe */
#define MATLAB4_PIECE 512    /* Numbers that are read at once */
#define MATLAB4_POLL 0x3FFu  /* Matrices between two checks for an interrupt */

enum { MATLAB4_NUMBERS, MATLAB4_TEXT, MATLAB4_SPARSE };

/* The class and the type in level 5 of each type of numbers, and its bytes. */
static const struct { uint32_t class, type; unsigned width; } matlab4_numbers[] = {
  { ZT_MATLAB_DOUBLE, 9, 8 }, { 7, 7, 4 }, { 12, 5, 4 }, { 10, 3, 2 }, { 11, 4, 2 }, { 9, 2, 1 }
};

typedef struct matlab4_matrix {
  uint32_t order, number, kind, complex;
  uint32_t rows, columns;
  uint32_t name;             /* Its bytes */
  uint64_t at;               /* Position of the header */
  uint64_t data, each;       /* Position of the numbers, and bytes of one part */
} matlab4_matrix;

/* Set the fields of a header. False if it is none, or of another byte order. */
static bool matlab4_parse(const uint8_t *p, bool big, matlab4_matrix *out){
  uint32_t u[5], type;
  for(size_t i=0; i<5; i++) u[i] = big ? (uint32_t)zt_be(p+4*i, 4) : zt_le32(p+4*i);
  type = u[0];
  *out = (matlab4_matrix){
    .order = type/1000, .number = type/10%10, .kind = type%10, .rows = u[1], .columns = u[2],
    .complex = u[3], .name = u[4]
  };
  return out->order<=4 && (out->order==1)==big && type/100%10==0 && out->number<=5
      && out->kind<=MATLAB4_SPARSE && out->rows<=INT32_MAX && out->columns<=INT32_MAX
      && out->complex<=1 && out->name>0 && out->name<=INT32_MAX;
}

/* --- Probe --- */

static bool matlab4_is_letter(uint8_t ch){
  return (ch>='a' && ch<='z') || (ch>='A' && ch<='Z');
}

static bool matlab4_is_name(const uint8_t *p, size_t n){
  for(size_t i=0; i+1<n; i++){
    if( !matlab4_is_letter(p[i]) && (i==0 || (p[i]!='_' && (p[i]<'0' || p[i]>'9'))) ) return false;
  }
  return n>1 && p[n-1]==0;
}

/* The first matrix has a header without a doubt, and a name as MATLAB gives them. */
static zt_probe matlab4_probe(const zt_head_tail *input, zt_error *err){
  uint8_t bytes[MATLAB4_HEADER+MATLAB4_NAME] = { 0 };
  matlab4_matrix m;
  bool big;
  if( input->size<MATLAB4_HEADER+2 || input->head.n<16 ) return ZT_PROBE_NO;
  memcpy(bytes, input->head.p, 16);
  big = bytes[0]==0 && bytes[1]==0 && (bytes[2] || bytes[3]);
  if( big ) bytes[19] = 2;   /* The length of the name is not there yet */
  else bytes[16] = 2;
  if( !matlab4_parse(bytes, big, &m) ) return ZT_PROBE_NO;
  if( zt_source_read(input->source, 0, bytes, MATLAB4_HEADER, err)
   || !matlab4_parse(bytes, big, &m) || m.name>MATLAB4_NAME
   || m.name>input->size-MATLAB4_HEADER
   || zt_source_read(input->source, MATLAB4_HEADER, bytes, m.name, err) ) return ZT_PROBE_NO;
  return matlab4_is_name(bytes, m.name) ? ZT_PROBE_PERHAPS : ZT_PROBE_NO;
}

/* --- Matrices --- */

static bool matlab4_fail(zt_matlab_scan *s, uint64_t at, const char *what){
  zt_break(s->err, "ML11", "byte %llu: %s", at, what);
  return false;
}

/* Read a header and the name (ML11, ML12). */
static bool matlab4_read_header(zt_matlab_scan *s, uint64_t size, matlab4_matrix *m){
  const uint64_t at = s->in.at;
  uint8_t bytes[MATLAB4_HEADER];
  char *name;
  bool ok;
  if( size-at<MATLAB4_HEADER ) return matlab4_fail(s, at, "no header of a matrix has room here");
  if( !zt_matlab_take(&s->in, bytes, MATLAB4_HEADER) ) return false;
  if( !matlab4_parse(bytes, false, m) && !matlab4_parse(bytes, true, m) ){
    zt_break(s->err, "ML12", "byte %llu: no header of a matrix of a known type", at);
    return false;
  }
  if( m->order>1 ){
    zt_break(s->err, "ML12", "byte %llu: numbers of %s, which are not read", at,
             m->order<4 ? "VAX" : "Cray");
    return false;
  }
  m->at = at;
  m->data = s->in.at+m->name;
  if( m->name>size-s->in.at ) return matlab4_fail(s, at, "its name goes beyond the file");
  if( !zt_matlab_may_keep(s, m->name) ) return false;
  name = sqlite3_malloc64(m->name);
  if( !name ) return zt_fail_nomem(s->err), false;
  s->path.n = 0;
  ok = zt_matlab_take(&s->in, name, m->name);
  if( ok && name[m->name-1] ) ok = matlab4_fail(s, at, "its name does not end in 0");
  ok = ok && zt_matlab_push(s, name, m->name-1);
  sqlite3_free(name);
  return ok;
}

/* Check that the numbers are in the file. */
static bool matlab4_measure(zt_matlab_scan *s, uint64_t size, matlab4_matrix *m){
  const uint64_t width = matlab4_numbers[m->number].width, parts = 1+m->complex;
  m->each = (uint64_t)m->rows*m->columns;   /* At most 2^62 */
  if( m->each<=(size-m->data)/parts/width ){
    m->each *= width;
    return true;
  }
  zt_break(s->err, "ML11", "byte %llu: %u x %u numbers of %u bytes go beyond the file", m->at,
           m->rows, m->columns, (unsigned)(width*parts));
  return false;
}

static zt_matlab_part matlab4_part(const matlab4_matrix *m, uint32_t role, uint64_t offset,
                                   uint64_t bytes){
  zt_matlab_part part;
  memset(&part, 0, sizeof(part));   /* Its padding is kept, too */
  part.role = role;
  part.type = matlab4_numbers[m->number].type;
  part.offset = offset;
  part.length = part.size = bytes;
  part.big = m->order==1;
  return part;
}

static zt_matlab_head matlab4_head(const matlab4_matrix *m){
  return (zt_matlab_head){
    .class = matlab4_numbers[m->number].class, .complex = m->complex, .shaped = true, .rank = 2,
    .shape = { m->rows, m->columns }, .count = (uint64_t)m->rows*m->columns
  };
}

static bool matlab4_add_numbers(zt_matlab_scan *s, const matlab4_matrix *m){
  const zt_matlab_head head = matlab4_head(m);
  const zt_matlab_part parts[2] = {
    matlab4_part(m, m->complex ? ZT_MATLAB_ROLE_REAL : ZT_MATLAB_ROLE_DATA, m->data, m->each),
    matlab4_part(m, ZT_MATLAB_ROLE_IMAG, m->data+m->each, m->each)
  };
  return zt_matlab_add(s, &head, parts, 1+m->complex);
}

/* A number as an unsigned integer; UINT64_MAX if it is none below 2^53. */
static uint64_t matlab4_integer(const zt_matlab_scan *s, const matlab4_matrix *m,
                                const uint8_t *p){
  const unsigned width = matlab4_numbers[m->number].width;
  const uint64_t u = zt_matlab_number(&s->in, p, width);
  const uint32_t half = (uint32_t)u;
  double d;
  float f;
  if( m->number>=2 ) return m->number<=3 && u>>(8*width-1) ? UINT64_MAX : u;
  memcpy(&f, &half, sizeof(f));
  memcpy(&d, &u, sizeof(d));
  if( m->number==1 ) d = f;
  return d>=0 && d<9007199254740992.0 && (double)(uint64_t)d==d ? (uint64_t)d : UINT64_MAX;
}

/* Read n numbers from there on, and give each to `take`. False after a failure. */
static bool matlab4_each(zt_matlab_scan *s, const matlab4_matrix *m, uint64_t at, uint64_t n,
                         void (*take)(void *context, uint64_t i, uint64_t u), void *context){
  const unsigned width = matlab4_numbers[m->number].width;
  uint8_t bytes[MATLAB4_PIECE*8];
  zt_matlab_return(&s->in, at);
  for(uint64_t i=0; i<n; ){
    const size_t piece = n-i<MATLAB4_PIECE ? (size_t)(n-i) : MATLAB4_PIECE;
    if( zt_interrupt_check(s->in.interrupt, s->err)
     || !zt_matlab_take(&s->in, bytes, piece*width) ) return false;
    for(size_t k=0; k<piece; k++, i++) take(context, i, matlab4_integer(s, m, bytes+k*width));
  }
  return true;
}

typedef struct matlab4_units {
  uint32_t *units;
  bool sound;
} matlab4_units;

static void matlab4_take_unit(void *context, uint64_t i, uint64_t u){
  matlab4_units *t = context;
  t->sound = t->sound && u<=UINT32_MAX;
  t->units[i] = (uint32_t)u;
}

/* A text is an attribute. If a number of it is no character's, it is a matrix of numbers. */
static bool matlab4_add_text(zt_matlab_scan *s, const matlab4_matrix *m){
  const zt_matlab_head head = matlab4_head(m);
  matlab4_units t = { .sound = !m->complex };
  bool ok;
  if( !zt_matlab_may_keep(s, 5*head.count) ) return false;
  t.units = sqlite3_malloc64(4*head.count+4);
  if( !t.units ) return zt_fail_nomem(s->err), false;
  ok = matlab4_each(s, m, m->data, head.count, matlab4_take_unit, &t);
  if( ok ){
    ok = t.sound ? zt_matlab_add_units(s, &head, (zt_span){ (const uint8_t*)"", 0 }, t.units,
                                       (size_t)head.count)
       : matlab4_add_numbers(s, m);
  }
  sqlite3_free(t.units);
  return ok;
}

/* Coordinates being read: rows, their number, columns, and theirs. */
typedef struct matlab4_coords {
  uint8_t *at;
  uint64_t n;                /* Values */
  uint64_t shape[2];
  bool sound;
} matlab4_coords;

static void matlab4_take_coord(void *context, uint64_t i, uint64_t u){
  matlab4_coords *c = context;
  const uint64_t d = i/(c->n+1), k = i%(c->n+1);
  uint8_t *p = c->at+(d*c->n+k)*8;
  if( k==c->n ){
    c->shape[d] = u;
    return;
  }
  c->sound = c->sound && u>0 && u<UINT64_MAX;
  for(int byte=0; byte<8; byte++) p[byte] = (uint8_t)((u-1)>>8*byte);
}

/* Keep the coordinates. */
static bool matlab4_read_coords(zt_matlab_scan *s, const matlab4_matrix *m, matlab4_coords *c,
                                zt_matlab_part *part){
  const uint64_t width = matlab4_numbers[m->number].width;
  uint32_t at;
  if( !zt_matlab_may_keep(s, 16*c->n) ) return false;
  c->at = sqlite3_malloc64(16*c->n+8);
  if( !c->at ) return zt_fail_nomem(s->err), false;
  if( matlab4_each(s, m, m->data, 2*(c->n+1), matlab4_take_coord, c)
   && !zt_builder_keep(s->b, c->at, (size_t)(16*c->n), &at) ){
    *part = matlab4_part(m, ZT_MATLAB_ROLE_COORDS, m->data, (2*c->n+1)*width);
    part->kept = c->sound ? at : UINT32_MAX;
    part->size = 16*c->n;
    part->type = 13;
  }
  sqlite3_free(c->at);
  return !s->err->rc;
}

static bool matlab4_add_sparse(zt_matlab_scan *s, const matlab4_matrix *m){
  matlab4_coords c = { .n = m->rows-1ull, .sound = true };
  const uint64_t column = m->rows*(uint64_t)matlab4_numbers[m->number].width;
  const uint64_t bytes = c.n*matlab4_numbers[m->number].width;
  const bool complex = m->columns==4;
  zt_matlab_head head = matlab4_head(m);
  zt_matlab_part parts[3];
  if( m->rows==0 || (m->columns!=3 && !complex) || m->complex ) return matlab4_add_numbers(s, m);
  if( !matlab4_read_coords(s, m, &c, parts) ) return false;
  head.class = ZT_MATLAB_SPARSE;
  head.triplets = true;
  head.complex = complex;
  head.shaped = c.shape[0]<=INT32_MAX && c.shape[1]<=INT32_MAX;
  memcpy(head.shape, c.shape, sizeof(c.shape));
  parts[1] = matlab4_part(m, complex ? ZT_MATLAB_ROLE_REAL : ZT_MATLAB_ROLE_VALUES,
                          m->data+2*column, bytes);
  parts[2] = matlab4_part(m, ZT_MATLAB_ROLE_IMAG, m->data+3*column, bytes);
  return zt_matlab_add(s, &head, parts, 2+complex);
}

static bool matlab4_matrices(zt_matlab_scan *s, uint64_t size){
  while( s->in.at<size ){
    matlab4_matrix m;
    bool ok;
    if( (s->steps++ & MATLAB4_POLL)==0 && zt_interrupt_check(s->in.interrupt, s->err) ){
      return false;
    }
    if( !matlab4_read_header(s, size, &m) || !matlab4_measure(s, size, &m) ) return false;
    s->in.big = m.order==1;
    ok = m.kind==MATLAB4_TEXT ? matlab4_add_text(s, &m)
       : m.kind==MATLAB4_SPARSE ? matlab4_add_sparse(s, &m) : matlab4_add_numbers(s, &m);
    if( !ok ) return false;
    zt_matlab_return(&s->in, m.data+m.each*(1+m.complex));
  }
  return true;
}

static int matlab4_open(zt_builder *b, const zt_head_tail *input){
  zt_matlab_scan *s = zt_matlab_scan_new(b, input->size);
  if( !s ) return b->err->rc;
  b->container->version = ZT_TEXT("4");
  if( matlab4_matrices(s, input->size) ) zt_matlab_keep_values(s, (zt_text){ NULL, 0 });
  zt_matlab_scan_free(s);
  return b->err->rc;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   known by     a first matrix whose header and name are as level 4 has them
**   version      `4`
**   components   as in level 5, but a sparse matrix has `coords`, whose encoding is
**                `matlab.triplets`, and `values`, or `real` and `imag`
*/
const zt_driver zt_driver_matlab4 = {
  .name = "matlab4",
  .format = "matlab",
  .rules = { zt_rules_matlab },
  .probe = matlab4_probe,
  .open = matlab4_open,
  .object = zt_matlab_object,
  .component = zt_matlab_component,
  .steps = &zt_manifest_steps,
};
