/*
** Reader of flatbuffers: tables, their fields and vectors by position. It knows no schema, and
** reads the bytes of a vector only on request, so a vector of a gigabyte costs nothing. Every place
** is checked, because the format's own readers follow any offset. Interface to code in
** flatbuffer.c.
**
**   FB1  a table and its vtable lie within the file
**   FB2  a field lies within its table
**   FB3  what a reference leads to lies within the file
**   FB4  the vectors of tables that were read take no more bytes than the file
*/
#ifndef ZT_CORE_FLATBUFFER_H
#define ZT_CORE_FLATBUFFER_H

#include "core/pages.h"

typedef struct zt_flatbuffer {
  zt_pages pages;
  zt_error *err;                  /* Receives every failure; after one, all fields are absent */
  uint64_t size;                  /* Of the source */
  uint64_t listed;                /* Bytes of all vectors of tables so far */
} zt_flatbuffer;

typedef struct zt_flatbuffer_table {
  uint64_t at, vtable;
  uint32_t size, fields;          /* Bytes of the table, and number of fields in the vtable */
} zt_flatbuffer_table;

typedef struct zt_flatbuffer_vector {
  uint64_t at;                    /* Of the first element */
  uint32_t n;
} zt_flatbuffer_vector;

/* Opens a reader without reading. zt_flatbuffer_close() must follow. */
void zt_flatbuffer_open(zt_source *source, const zt_interrupt *interrupt, zt_flatbuffer *out,
                        zt_error *err);
void zt_flatbuffer_close(zt_flatbuffer *f);

/* Reads the root table. False after a failure. */
bool zt_flatbuffer_root(zt_flatbuffer *f, zt_flatbuffer_table *out);

/* The place of a field of `width` bytes. False if it is absent, and after a failure. */
bool zt_flatbuffer_field(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                         unsigned width, uint64_t *at);

/* A field's number of `width` bytes; 0 if it is absent, and after a failure. */
uint64_t zt_flatbuffer_get(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                           unsigned width);

/* The table, or the vector of elements of `width` bytes, that a field refers to. False if it is
** absent, and after a failure; *out is then empty. The end of an open vector is not checked. */
bool zt_flatbuffer_child(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                         zt_flatbuffer_table *out);
bool zt_flatbuffer_elements(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                            unsigned width, zt_flatbuffer_vector *out);
bool zt_flatbuffer_elements_open(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                                 zt_flatbuffer_vector *out);

/* A vector of tables, and table i of it. */
bool zt_flatbuffer_tables(zt_flatbuffer *f, const zt_flatbuffer_table *t, unsigned field,
                          zt_flatbuffer_vector *out);
bool zt_flatbuffer_item(zt_flatbuffer *f, zt_flatbuffer_vector tables, uint32_t i,
                        zt_flatbuffer_table *out);

#endif
