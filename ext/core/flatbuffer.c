/*
** Flatbuffers. See flatbuffer.h. All numbers are little-endian.
**
**   file   := root:u32 ...                 ; a reference
**   reference                              ; u32: what it leads to begins so many bytes behind its
**                                          ; own first byte. FB3
**   table  := vtable:i32 ...               ; the vtable begins so many bytes before the table. FB1
**   vtable := size:u16 table:u16 field:u16*
**                                          ; both sizes in bytes, of vtable and table; a field's
**                                          ; place in the table, 0 if it is absent. FB2
**   vector := n:u32 element{n}             ; FB3; of tables, whose elements are references: FB4
**
** A text is a vector of bytes.
*/
#include "core/flatbuffer.h"

#include "core/host.h"

#define FLATBUFFER_HEAD 4                      /* Bytes of a vtable before its fields */
#define FLATBUFFER_REFERENCE 4                 /* Bytes of a reference, and of other offsets */
#define FLATBUFFER_POLL 0xFFFF                 /* Tables between two checks for an interrupt */

void zt_flatbuffer_open(zt_source *source, const zt_interrupt *interrupt, zt_flatbuffer *out,
                        zt_error *err){
  *out = (zt_flatbuffer){
    .source = source, .interrupt = interrupt, .err = err, .size = zt_source_size(source),
    .image = zt_source_image(source).p
  };
}

void zt_flatbuffer_close(zt_flatbuffer *f){
  sqlite3_free(f->pages);
  *f = (zt_flatbuffer){ 0 };
}

/* --- Bytes --- */

/* Returns the page of that number, from the source if it is not held. NULL after a failure. */
static const uint8_t *flatbuffer_page(zt_flatbuffer *f, uint64_t number){
  const size_t place = (size_t)(number%ZT_FLATBUFFER_PAGES);
  const uint64_t at = number*ZT_FLATBUFFER_PAGE;
  const size_t n = f->size-at<ZT_FLATBUFFER_PAGE ? (size_t)(f->size-at) : ZT_FLATBUFFER_PAGE;
  uint8_t *page;
  if( !f->pages ){
    const uint64_t all = f->size/ZT_FLATBUFFER_PAGE+1;
    f->pages = sqlite3_malloc64((all<ZT_FLATBUFFER_PAGES ? all : ZT_FLATBUFFER_PAGES)
                                *ZT_FLATBUFFER_PAGE);
    if( !f->pages ){
      zt_fail_nomem(f->err);
      return NULL;
    }
  }
  page = f->pages+place*ZT_FLATBUFFER_PAGE;
  if( f->held[place]==number+1 ) return page;
  f->held[place] = 0;
  if( zt_interrupt_check(f->interrupt, f->err)
   || zt_source_read(f->source, at, page, n, f->err) ) return NULL;
  f->held[place] = number+1;
  return page;
}

bool zt_flatbuffer_read(zt_flatbuffer *f, uint64_t at, size_t n, void *out){
  uint8_t *to = out;
  if( f->err->rc ) return false;
  if( f->image ){
    if( n ) memcpy(to, f->image+at, n);
    return true;
  }
  while( n>0 ){
    const size_t skip = (size_t)(at%ZT_FLATBUFFER_PAGE);
    const size_t piece = n<ZT_FLATBUFFER_PAGE-skip ? n : ZT_FLATBUFFER_PAGE-skip;
    const uint8_t *page = flatbuffer_page(f, at/ZT_FLATBUFFER_PAGE);
    if( !page ) return false;
    memcpy(to, page+skip, piece);
    to += piece;
    at += piece;
    n -= piece;
  }
  return true;
}

uint64_t zt_flatbuffer_number(zt_flatbuffer *f, uint64_t at, unsigned width){
  uint8_t bytes[8] = { 0 };
  return zt_flatbuffer_read(f, at, width, bytes) ? zt_le64(bytes) : 0;
}

/* --- Tables --- */

static bool flatbuffer_fail_table(zt_flatbuffer *f, uint64_t at, const char *what){
  zt_break(f->err, "FB1", "byte %llu: a table's %s", (unsigned long long)at, what);
  return false;
}

/* FB1. Reads the head of the table at a position, which lies within the file. */
static bool flatbuffer_table(zt_flatbuffer *f, uint64_t at, zt_flatbuffer_table *out){
  int64_t back;
  uint64_t head;
  if( (++f->steps & FLATBUFFER_POLL)==0 && zt_interrupt_check(f->interrupt, f->err) ) return false;
  if( !zt_claim(f->size, at, FLATBUFFER_REFERENCE) ){
    return flatbuffer_fail_table(f, at, "head goes beyond the file");
  }
  back = (int32_t)(uint32_t)zt_flatbuffer_number(f, at, FLATBUFFER_REFERENCE);
  if( f->err->rc ) return false;
  out->at = at;
  out->vtable = at-(uint64_t)back;   /* Modulo 2^64: beyond the file if it is negative */
  if( !zt_claim(f->size, out->vtable, FLATBUFFER_HEAD) ){
    return flatbuffer_fail_table(f, at, "vtable does not lie within the file");
  }
  head = zt_flatbuffer_number(f, out->vtable, FLATBUFFER_HEAD);
  out->size = (uint32_t)(head>>16);
  head &= 0xFFFF;
  if( f->err->rc ) return false;
  if( head<FLATBUFFER_HEAD || head%2 || !zt_claim(f->size, out->vtable, head) ){
    return flatbuffer_fail_table(f, at, "vtable does not end within the file, between two entries");
  }
  out->fields = (uint32_t)(head-FLATBUFFER_HEAD)/2;
  if( out->size>=FLATBUFFER_REFERENCE && zt_claim(f->size, at, out->size) ) return true;
  return flatbuffer_fail_table(f, at, "bytes go beyond the file, or end before its head does");
}

bool zt_flatbuffer_field(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                         unsigned width, uint64_t *at){
  uint64_t offset;
  if( f->err->rc || field>=t->fields ) return false;
  offset = zt_flatbuffer_number(f, t->vtable+FLATBUFFER_HEAD+2*(uint64_t)field, 2);
  if( offset==0 ) return false;
  *at = t->at+offset;
  if( offset>=FLATBUFFER_REFERENCE && zt_claim(t->size, offset, width) ) return true;
  zt_break(f->err, "FB2", "byte %llu: field %u does not lie within its table",
           (unsigned long long)t->at, field);
  return false;
}

uint64_t zt_flatbuffer_get(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                           unsigned width){
  uint64_t at;
  return zt_flatbuffer_field(f, t, field, width, &at) ? zt_flatbuffer_number(f, at, width) : 0;
}

/* --- References --- */

/* FB3. Follows the reference at a position to something of at least four bytes. */
static bool flatbuffer_follow(zt_flatbuffer *f, uint64_t at, uint64_t *out){
  *out = at+zt_flatbuffer_number(f, at, FLATBUFFER_REFERENCE);
  if( f->err->rc || zt_claim(f->size, *out, FLATBUFFER_REFERENCE) ) return f->err->rc==SQLITE_OK;
  zt_break(f->err, "FB3", "byte %llu: a reference leads beyond the file", (unsigned long long)at);
  return false;
}

bool zt_flatbuffer_root(zt_flatbuffer *f, zt_flatbuffer_table *out){
  uint64_t at;
  if( !zt_claim(f->size, 0, FLATBUFFER_REFERENCE) ){
    zt_break(f->err, "FB3", "the file ends before its root");
    return false;
  }
  return flatbuffer_follow(f, 0, &at) && flatbuffer_table(f, at, out);
}

bool zt_flatbuffer_child(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                         zt_flatbuffer_table *out){
  uint64_t at;
  *out = (zt_flatbuffer_table){ 0 };
  return zt_flatbuffer_field(f, t, field, FLATBUFFER_REFERENCE, &at)
      && flatbuffer_follow(f, at, &at) && flatbuffer_table(f, at, out);
}

bool zt_flatbuffer_elements_open(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                                 zt_flatbuffer_vector *out){
  uint64_t at;
  *out = (zt_flatbuffer_vector){ 0 };
  if( !zt_flatbuffer_field(f, t, field, FLATBUFFER_REFERENCE, &at)
   || !flatbuffer_follow(f, at, &at) ) return false;
  out->n = (uint32_t)zt_flatbuffer_number(f, at, FLATBUFFER_REFERENCE);
  out->at = at+FLATBUFFER_REFERENCE;
  return !f->err->rc;
}

bool zt_flatbuffer_elements(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                            unsigned width, zt_flatbuffer_vector *out){
  if( !zt_flatbuffer_elements_open(f, t, field, out) ) return false;
  if( zt_claim(f->size, out->at, (uint64_t)out->n*width) ) return true;
  zt_break(f->err, "FB3", "byte %llu: a vector of %u elements goes beyond the file",
           (unsigned long long)out->at, out->n);
  *out = (zt_flatbuffer_vector){ 0 };
  return false;
}

/* FB4 bounds the steps of a reader, where vectors share their bytes. */
bool zt_flatbuffer_tables(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                          zt_flatbuffer_vector *out){
  if( !zt_flatbuffer_elements(f, t, field, FLATBUFFER_REFERENCE, out) ) return false;
  f->listed += (uint64_t)out->n*FLATBUFFER_REFERENCE;
  if( f->listed<=f->size ) return true;
  zt_break(f->err, "FB4", "byte %llu: vectors of tables take more bytes than the file",
           (unsigned long long)out->at);
  *out = (zt_flatbuffer_vector){ 0 };
  return false;
}

bool zt_flatbuffer_item(zt_flatbuffer *f, zt_flatbuffer_vector tables, uint32_t i,
                        zt_flatbuffer_table *out){
  uint64_t at = tables.at+(uint64_t)i*FLATBUFFER_REFERENCE;
  *out = (zt_flatbuffer_table){ 0 };
  return flatbuffer_follow(f, at, &at) && flatbuffer_table(f, at, out);
}
