/*
** Rows of a table as they were when it was scanned, in bounded memory: their rowids and the values
** of some columns, each text and BLOB once. Interface to code in materialized.c.
*/
#ifndef ZT_SQLITE_MATERIALIZED_H
#define ZT_SQLITE_MATERIALIZED_H

#include "sqlite/value.h"

#define ZT_MATERIALIZED_BYTES ((uint64_t)64 << 20)   /* Maximum size of the rows of one table of a
                                                     ** join */

typedef struct zt_materialized zt_materialized;

/* For rows with this number of values, and `extra` bytes each for the caller. NULL: out of
** memory. */
zt_materialized *zt_materialized_new(int values, size_t extra);
void zt_materialized_free(zt_materialized *m);

/* Add a row. SQLITE_NOMEM: out of memory; SQLITE_FULL: the rows exceed the limit. */
int zt_materialized_add(zt_materialized *m, sqlite3_int64 rowid, sqlite3_value **value);

uint32_t zt_materialized_count(const zt_materialized *m);

sqlite3_int64 zt_materialized_rowid(const zt_materialized *m, uint32_t row);

/* The caller's bytes, zeroed and aligned like a pointer. Valid until `m` is freed. */
void *zt_materialized_extra(const zt_materialized *m, uint32_t row);

/* Set the result to value i of a row, with its subtype. */
void zt_materialized_result(const zt_materialized *m, uint32_t row, int i, sqlite3_context *ctx);

/* The text that value i of a row is; z is NULL if it is none. Valid until `m` is freed. */
zt_text zt_materialized_text(const zt_materialized *m, uint32_t row, int i);

/* Count memory beside the rows as theirs. False if it exceeds the limit. */
bool zt_materialized_charge(zt_materialized *m, uint64_t bytes);

#endif
