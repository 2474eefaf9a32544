/* Attributes of a MATLAB file: text, and what stands for values that are no arrays of numbers. See
** matlab.h. */
#include "container/matlab.h"

#include "core/host.h"
#include "core/utf8.h"

enum { MATLAB_UTF8 = 16, MATLAB_UTF16, MATLAB_UTF32 };

/* A char matrix: its bytes, and its units, which are code points, or halves of surrogate pairs. */
typedef struct matlab_text {
  uint8_t *bytes;
  size_t n;
  uint32_t *units;
  size_t nUnits;
  bool sound;              /* They are the file's text */
} matlab_text;

static bool matlab_put_path(zt_matlab_scan *s){
  if( !zt_matlab_may_keep(s, s->path.n+16) ) return false;
  zt_cbor_put_text(&s->values, (zt_text){ (const char*)s->path.p, s->path.n });
  return !s->err->rc;
}

bool zt_matlab_add_opaque(zt_matlab_scan *s, const char *what, size_t n){
  if( !matlab_put_path(s) ) return false;
  zt_cbor_put_head(&s->values, ZT_CBOR_MAP, 1);
  zt_cbor_put_text(&s->values, ZT_TEXT("$opaque"));
  zt_cbor_put_name(&s->values, (zt_span){ (const uint8_t*)what, n });
  return !s->err->rc;
}

bool zt_matlab_add_empty(zt_matlab_scan *s, zt_cbor_type type){
  if( !matlab_put_path(s) ) return false;
  zt_cbor_put_head(&s->values, type, 0);
  return !s->err->rc;
}

/* Bytes of a stored unit of text; 0: it is no text. */
static unsigned matlab_unit(uint32_t type){
  switch( type ){
    case MATLAB_UTF8: return 1;
    case MATLAB_UTF16: return 2;
    case MATLAB_UTF32: return 4;
    default: return type<=4 ? zt_matlab_width(type) : 0;   /* Integers of up to 16 bits */
  }
}

/* The code points of UTF-8, whose validity was checked. */
static void matlab_read_utf8(matlab_text *t){
  for(size_t i=0; i<t->n; t->nUnits++){
    const uint8_t lead = t->bytes[i++];
    const unsigned more = lead<0x80 ? 0 : lead<0xE0 ? 1 : lead<0xF0 ? 2 : 3;
    uint32_t u = more==0 ? lead : lead & (0x3Fu>>more);
    for(unsigned k=0; k<more; k++) u = u<<6 | (t->bytes[i++] & 0x3F);
    t->units[t->nUnits] = u;
  }
}

/* Decode the text's units. */
static void matlab_read_units(const zt_matlab_scan *s, uint32_t type, matlab_text *t){
  const unsigned width = matlab_unit(type);
  t->sound = width && t->n%width==0;
  if( type==MATLAB_UTF8 ){
    t->sound = zt_utf8_valid(t->bytes, t->n);
    if( t->sound ) matlab_read_utf8(t);
    return;
  }
  for(size_t i=0; t->sound && i<t->n; i+=width){
    t->units[t->nUnits++] = (uint32_t)zt_matlab_number(&s->in, t->bytes+i, width);
  }
}

static bool matlab_is_surrogate(uint32_t u){ return u>=0xD800 && u<0xE000; }

/* Append n units that are `step` apart as text. False if they are none. */
static bool matlab_put_units(const uint32_t *units, size_t n, size_t step, zt_cbor_out *text){
  zt_cbor_out_reset(text);
  for(size_t i=0; i<n; i++){
    uint8_t utf8[4];
    uint32_t u = units[i*step];
    if( u>=0xD800 && u<0xDC00 && i+1<n && units[(i+1)*step]>=0xDC00 && units[(i+1)*step]<0xE000 ){
      u = 0x10000+((u & 0x3FF)<<10)+(units[++i*step] & 0x3FF);
    }else if( matlab_is_surrogate(u) || u>0x10FFFF ){
      return false;
    }
    zt_cbor_put_items(text, (zt_span){ utf8, zt_utf8_put(utf8, u) });
  }
  return true;
}

/* Append the texts of a column-major array, whose characters are along its last dimension: one as a
** text, several as an array of rows, or as arrays of arrays. False if they are no text. */
static bool matlab_put_rows(zt_matlab_scan *s, const zt_matlab_head *m, const uint32_t *units,
                            size_t n){
  uint32_t outer = m->shaped && m->rank>1 ? m->rank-1 : 0;
  const size_t begun = s->values.n;
  uint64_t at[ZT_MAX_RANK] = { 0 }, rows = 1;
  zt_cbor_out text = { .err = s->err };
  bool ok;
  for(uint32_t d=0; d<outer; d++) rows *= m->shape[d];
  if( rows==0 ){
    outer = 0;
    rows = 1;
  }
  ok = rows==1 || m->count==n;   /* Whose divisor is rows */
  if( rows>1 && n==0 && ok ) zt_cbor_put_head(&s->values, ZT_CBOR_ARRAY, 0);
  for(uint64_t row=0; ok && !s->err->rc && row<rows && (rows==1 || n); row++){
    uint64_t first = 0;
    for(uint32_t d=outer; d-->0; ) first = first*m->shape[d]+at[d];
    /* An array begins where all that is within it does */
    for(uint32_t d=0; d<outer && rows>1; d++){
      bool begins = true;
      for(uint32_t k=d; k<outer; k++) begins = begins && at[k]==0;
      if( begins ) zt_cbor_put_head(&s->values, ZT_CBOR_ARRAY, m->shape[d]);
    }
    ok = matlab_put_units(units+first, n/(size_t)rows, (size_t)rows, &text);
    if( ok ) zt_cbor_put_text(&s->values, (zt_text){ text.p ? (const char*)text.p : "", text.n });
    for(uint32_t d=outer; d-->0 && ++at[d]==m->shape[d]; ) at[d] = 0;
  }
  if( !ok ) s->values.n = begun;
  zt_cbor_out_clear(&text);
  return ok;
}

bool zt_matlab_add_units(zt_matlab_scan *s, const zt_matlab_head *m, zt_span bytes,
                         const uint32_t *units, size_t n){
  if( !matlab_put_path(s) ) return false;
  /* What is no text is shown as bytes */
  if( !units || !matlab_put_rows(s, m, units, n) ) zt_cbor_put_bytes(&s->values, bytes);
  return !s->err->rc;
}

static bool matlab_put_text(zt_matlab_scan *s, const zt_matlab_head *m, const zt_matlab_tag *tag,
                            matlab_text *t){
  t->n = (size_t)tag->size;
  t->bytes = sqlite3_malloc64(tag->size+1);
  t->units = sqlite3_malloc64(4*tag->size+4);
  if( !t->bytes || !t->units ) return !zt_fail_nomem(s->err);
  if( !zt_matlab_take(&s->in, t->bytes, t->n) ) return false;
  matlab_read_units(s, tag->type, t);
  if( (!t->sound && !zt_matlab_note(s, "ML14", "has a text that is none"))
   || (t->sound && (!m->shaped || t->nUnits<m->count)
       && !zt_matlab_note(s, "ML14", "has a text shorter than its dimensions")) ) return false;
  return zt_matlab_add_units(s, m, (zt_span){ t->bytes, t->n }, t->sound ? t->units : NULL,
                             t->nUnits);
}

bool zt_matlab_add_text(zt_matlab_scan *s, const zt_matlab_head *m){
  zt_matlab_tag tag = { .type = MATLAB_UTF8 };
  matlab_text t = { .sound = false };
  bool ok;
  if( m->end-s->in.at>=8 && !zt_matlab_next(&s->in, m->end, &tag) ) return false;
  /* A byte becomes up to two of UTF-8; each row has its own head, and those of dimensions */
  if( !zt_matlab_may_keep(s, (m->shaped && m->rank>2 ? 3+(uint64_t)m->rank : 5)*tag.size) ){
    return false;
  }
  ok = matlab_put_text(s, m, &tag, &t);
  sqlite3_free(t.bytes);
  sqlite3_free(t.units);
  return ok;
}
