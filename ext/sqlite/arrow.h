/*
** The rows of a statement as columns of Apache Arrow: its C data interface and its C stream
** interface (https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html).
** Interface to code in arrow.c.
*/
#ifndef ZT_SQLITE_ARROW_H
#define ZT_SQLITE_ARROW_H

#include "core/host.h"
#include "core/span.h"

/* The interfaces' structures, with their names and members. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_NULLABLE 2
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *schema);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *array);
  void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *stream);
  void (*release)(struct ArrowArrayStream *stream);
  void *private_data;
};
#endif

/* Run a statement to its end, and make *out a stream of its rows, which the statement need not
** outlive. A column is of the one type that its values have: int64, float64, utf8 or binary. A
** column of integers and reals is float64 if that holds each integer. A column without values has
** its declared type, and else the type null.
**
** Every other mixture is an error that names the column, the row and the cure, and so is text that
** is not UTF-8. *message is then from sqlite3_malloc64(), and NULL if out of memory; *out is
** released. */
int zt_arrow_run(sqlite3_stmt *stmt, struct ArrowArrayStream *out, char **message);

#endif
