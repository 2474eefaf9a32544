/* The rows that a file has when a transaction with mode update begins. Interface to code in
** writer_load.c. */
#ifndef ZT_SQLITE_WRITER_LOAD_H
#define ZT_SQLITE_WRITER_LOAD_H

#include "sqlite/writer.h"

/* Store a row for each object and attribute of the target, unless the transaction has them. */
int zt_writer_load(zt_writer *w, zt_error *err);

#endif
