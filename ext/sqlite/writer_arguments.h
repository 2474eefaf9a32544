/*
** The arguments of CREATE VIRTUAL TABLE temp.NAME USING zt_writer(path, ...): of each the default,
** and the values. Interface to code in writer_arguments.c.
**
**   format     by the path's end, or with mode update the file's own; one of the formats below
**   mode       `create`; `create`: a file that is there already is an error. `replace`: it is
**              replaced. `update`: the transaction begins with its rows, and a missing file is an
**              error
**   order      `name`; `name`: objects in the bytewise order of their names, in safetensors by the
**              width of their types before that. `row`: as they were inserted
**   align      the format's; of the parts of a file, in bytes: a power of two, up to 2^30
**   encoding   `raw`; of rows without one
**   level      the format's; of rows without one: 1 to 22 of zstd, 1 to 9 of deflate
**   digest     the format's; of rows without one, or `none`
**   drop       `nothing`; `attributes`: those of objects, where the format cannot hold them, are
**              left out. `nothing`: they are an error
**   sync       `full`; `full`: the file is on the disk when COMMIT returns. `off`: the system
**              writes it later, and a failure of the machine may leave a torn file
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

/* Fail over a file that can be read and not written, so that it cannot be updated. */
int zt_writer_arguments_fail_read_only(zt_error *err);

void zt_writer_arguments_clear(zt_writer_arguments *a);

#endif
