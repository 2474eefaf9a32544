/*
** The key of an automatic index (automatic_index.h): the columns that a plan pins, and how they are
** compared. xBestIndex passes it to xFilter as idxStr, which EXPLAIN QUERY PLAN shows:
**
**   automatic index (size=?, type IS ? NOCASE) covering (path, size, type)
**
** Interface to code in key_columns.c.
*/
#ifndef ZT_SQLITE_KEY_COLUMNS_H
#define ZT_SQLITE_KEY_COLUMNS_H

#include "sqlite/scan.h"

#define ZT_KEY_COLUMNS 8   /* Maximum number of columns of a key; SQLite compares all others */

/* The known collations. A key has no columns with other collations. */
typedef enum zt_collation {
  ZT_COLLATION_BINARY, ZT_COLLATION_NOCASE, ZT_COLLATION_RTRIM
} zt_collation;

typedef struct zt_key_column {
  int column;              /* The table's number */
  bool is;                 /* Compared by IS: NULL equals NULL */
  zt_collation collation;
} zt_key_column;

typedef struct zt_key_columns {
  int n;
  zt_key_column a[ZT_KEY_COLUMNS];
  uint64_t covering;       /* Bit i: column i is used */
} zt_key_columns;

/* The columns of the table that are used, from SQLite's colUsed. */
uint64_t zt_key_columns_used(const zt_table *table, sqlite3_uint64 used);

/* Add the column of constraint i to the key, if an index can tell which rows satisfy it. */
bool zt_key_columns_take(zt_key_columns *keys, const zt_table *table, sqlite3_index_info *info,
                         int i);

/* True if the key's collations are SQLite's own. */
bool zt_key_columns_have_own_collations(const zt_key_columns *keys, sqlite3 *db);

/* The key as text, from sqlite3_malloc64(); NULL if out of memory. And back: the text is that of a
** key of this table. */
char *zt_key_columns_write(const zt_key_columns *keys, const zt_table *table);
zt_key_columns zt_key_columns_read(const char *z, const zt_table *table);

#endif
