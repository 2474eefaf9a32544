/*
** The arguments of CREATE VIRTUAL TABLE temp.NAME USING zt_writer(path, ...). Interface to code in
** writer_arguments.c.
**
**   format     by default by the path's end
**   mode       create, replace, update
**   order      name, row
**   align      a power of two, of formats that align
**   encoding, level, digest   of rows that name none
**   drop       attributes: of objects, where the format cannot hold them
**   sync       full, off
*/
#ifndef ZT_SQLITE_WRITER_ARGUMENTS_H
#define ZT_SQLITE_WRITER_ARGUMENTS_H

#include "container/encoder.h"

typedef struct zt_writer_arguments {
  char *path;                    /* Owned */
  const zt_encoder *encoder;
  zt_output_mode mode;
  zt_encoder_options options;
  bool drop_attributes;
  bool sync;
} zt_writer_arguments;

/* Read the arguments, as SQLite passes them. An unknown one, and one that the format has no use
** for, is an error. *out always needs zt_writer_arguments_clear(). */
int zt_writer_arguments_read(int n, const char *const *arguments, zt_writer_arguments *out,
                             zt_error *err);
void zt_writer_arguments_clear(zt_writer_arguments *a);

#endif
