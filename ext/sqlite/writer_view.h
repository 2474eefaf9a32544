/*
** The rows that a file has, for a SELECT outside of a transaction with mode update: those with
** which a transaction would begin. They are in temp of a connection of their own, so that the
** statement writes nothing to the user's database, and nothing is left of it.
** Interface to code in writer_view.c.
*/
#ifndef ZT_SQLITE_WRITER_VIEW_H
#define ZT_SQLITE_WRITER_VIEW_H

#include "sqlite/writer.h"

/* The rows of the target as it is now. While a cursor has those of the same file in the same state,
** it is these: a subquery that begins again for each row does not read the file again. */
int zt_writer_view_open(zt_writer *w, zt_writer_view **out, zt_error *err);

zt_writer_rows *zt_writer_view_rows(const zt_writer_view *v);
void zt_writer_view_close(zt_writer_view *v);

#endif
