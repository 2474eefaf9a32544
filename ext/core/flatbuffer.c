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

void zt_flatbuffer_open(zt_source *source, const zt_interrupt *interrupt, zt_flatbuffer *out,
                        zt_error *err){
  *out = (zt_flatbuffer){ .err = err, .size = zt_source_size(source) };
  zt_pages_open(source, interrupt, &out->pages, err);
}

void zt_flatbuffer_close(zt_flatbuffer *f){
  zt_pages_close(&f->pages);
  *f = (zt_flatbuffer){ 0 };
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
  if( !zt_claim(f->size, at, FLATBUFFER_REFERENCE) ){
    return flatbuffer_fail_table(f, at, "head goes beyond the file");
  }
  back = (int32_t)(uint32_t)zt_pages_number(&f->pages, at, FLATBUFFER_REFERENCE);
  if( f->err->rc ) return false;
  out->at = at;
  out->vtable = at-(uint64_t)back;   /* Modulo 2^64: beyond the file if it is negative */
  if( !zt_claim(f->size, out->vtable, FLATBUFFER_HEAD) ){
    return flatbuffer_fail_table(f, at, "vtable does not lie within the file");
  }
  head = zt_pages_number(&f->pages, out->vtable, FLATBUFFER_HEAD);
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
  offset = zt_pages_number(&f->pages, t->vtable+FLATBUFFER_HEAD+2*(uint64_t)field, 2);
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
  return zt_flatbuffer_field(f, t, field, width, &at) ? zt_pages_number(&f->pages, at, width) : 0;
}

/* --- References --- */

/* FB3. Follows the reference at a position to something of at least four bytes. */
static bool flatbuffer_follow(zt_flatbuffer *f, uint64_t at, uint64_t *out){
  *out = at+zt_pages_number(&f->pages, at, FLATBUFFER_REFERENCE);
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
  out->n = (uint32_t)zt_pages_number(&f->pages, at, FLATBUFFER_REFERENCE);
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
