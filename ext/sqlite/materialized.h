/*
** Rows of a table as they were when it was scanned, in bounded memory: their rowids and the values
** of some of their columns, each value once. Interface to code in materialized.c.
*/
#ifndef ZT_SQLITE_MATERIALIZED_H
#define ZT_SQLITE_MATERIALIZED_H

#include "sqlite/value.h"

#define ZT_MATERIALIZED_BYTES ((uint64_t)64 << 20)   /* Most bytes of the rows of one table of
                                                     ** a join */

typedef struct zt_materialized zt_materialized;

/* For rows with so many values, and with `extra` bytes each of who asks. NULL: there is
** no memory. */
zt_materialized *zt_materialized_new(int values, size_t extra);
void zt_materialized_free(zt_materialized *m);

/* Add a row: SQLITE_NOMEM if there is no memory, SQLITE_FULL if more is needed than is allowed. */
int zt_materialized_add(zt_materialized *m, sqlite3_int64 rowid, sqlite3_value **value);

uint32_t zt_materialized_count(const zt_materialized *m);

sqlite3_int64 zt_materialized_rowid(const zt_materialized *m, uint32_t row);

/* The bytes of who asked for them, zeroed, aligned as a pointer is. Valid until `m` is freed. */
void *zt_materialized_extra(const zt_materialized *m, uint32_t row);

/* Give value i of a row, with the subtype that it had. */
void zt_materialized_result(const zt_materialized *m, uint32_t row, int i, sqlite3_context *ctx);

/* Memory beside the rows that counts as theirs: false if that is more than is allowed. */
bool zt_materialized_charge(zt_materialized *m, uint64_t bytes);

#endif
